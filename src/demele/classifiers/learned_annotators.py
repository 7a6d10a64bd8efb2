"""Whether a classifier learned its annotators: the same rows, predicted with and without knowing who labelled them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demele.classifiers.mean_scores import MeanScore, trusted_mean
from demele.classifiers.row_scores import RowScores
from demele.core.errors import InputError, NotEnoughData
from demele.core.kinds import Level, Seed, Several, checked
from demele.core.labelled import read_labels
from demele.core.result import TableResult
from demele.core.seeds import rng_for
from demele.core.table_columns import check_rows
from demele.core.uncertainty import Interval
from demele.report.words import count, ends, written

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AnnotatorEffect(TableResult):
    """How much better a classifier predicts labels by annotators whose other labels it was trained on.

    Attributes
    ----------
    known, unknown : float
        Accuracy where rows of all annotators are in the training, and where those of the row's annotator are not.
    difference : float
    interval : Interval
        Of the difference, by Student's t of annotators.
    n, n_annotators : int
    """

    _kind, _figure = "effect of annotators", "value"
    _forms: ClassVar[dict[str, str]] = {"value": "percent"}

    known: float
    unknown: float
    difference: float
    interval: Interval
    n: int
    n_annotators: int

    def headline(self) -> str:
        """Return the difference, and whether it is significant."""
        points = f"{written(self.difference, 'points')} {written(ends(self.interval), 'points')}"
        shown = self.interval.low > 0
        verdict = "It learned its annotators" if shown else "It is not shown to have learned its annotators"
        rows = f"{count(self.n, 'row')} by {count(self.n_annotators, 'annotator')}"
        where = f"where their other labels are in the training ({rows})"
        return f"{verdict}: accuracy is higher by {points} percentage points {where}."

    def to_frame(self) -> pd.DataFrame:
        """Return both accuracies and their difference."""
        import pandas as pd

        rows = {"annotators known": self.known, "annotators unknown": self.unknown, "difference": self.difference}
        frame = pd.DataFrame({"training": list(rows), "value": list(rows.values())})
        frame["low"], frame["high"] = np.nan, np.nan
        frame.loc[2, ["low", "high"]] = self.interval.low, self.interval.high
        return frame


@checked
def annotator_effect(
    model: Any,
    features: Any,
    labels: object,
    annotators: object,
    *,
    n_folds: Several = 5,
    level: Level = 0.95,
    seed: Seed = 0,
) -> AnnotatorEffect:
    """Test whether a classifier learned its annotators: cross-validation with and without the annotators of each fold.

    Parameters
    ----------
    model : classifier of scikit-learn
        A clone is trained for each fold.
    features : array-like of shape (n, n_features)
    labels, annotators : array-like of shape (n,)
        The label of each row, and who gave it.
    n_folds : int, default 5
    level : float, default 0.95
    seed : int, default 0
        Random seed of the folds.

    Returns
    -------
    AnnotatorEffect

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        For fewer annotators than folds.

    Notes
    -----
    Source: Geva, Goldberg and Berant (2019). Each row is predicted twice: by scikit-learn's ``KFold`` on rows in random
    order, and by its ``GroupKFold``, which keeps all rows of an annotator in one fold. The difference is a mean over
    rows, with annotators as clusters. A model that finds the true classes has a difference near 0, also where
    annotators label rows of different kinds; one that copies habits has a positive one.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> who = np.repeat(np.arange(20), 20)
    >>> habits = rng.integers(0, 2, 20)[who]  # each annotator gives one label; the features show who it is
    >>> found = annotator_effect(DecisionTreeClassifier(random_state=0), np.eye(20)[who], habits, who)
    >>> found.known, bool(found.interval.low > 0)
    (1.0, True)
    """
    from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

    given, who = read_labels(labels, "labels"), read_labels(annotators, "annotators")
    rows = np.asarray(features)
    for column, what in ((given, "labels"), (who, "annotators")):
        check_rows(rows, column, ("features", what), (len(rows), column.size))
    _, codes = np.unique(who.astype(str), return_inverse=True)
    n_annotators = int(codes.max()) + 1
    if n_annotators < n_folds:
        raise NotEnoughData("annotators", f"expected at least one for each of {n_folds} folds, got {n_annotators}")
    if not hasattr(model, "fit") or not hasattr(model, "predict"):
        raise InputError("model", "expected a classifier with fit and predict")
    order = rng_for(seed, "annotator effect").permutation(len(rows))
    x, y, groups = rows[order], given[order], codes[order]
    ways = (list(KFold(n_folds).split(x)), list(GroupKFold(n_folds).split(x, y, groups)))
    known, unknown = ((cross_val_predict(model, x, y, cv=folds) == y).astype(float) for folds in ways)
    found: MeanScore = trusted_mean(RowScores(known - unknown, -1, 1, group=groups), level=level)
    return AnnotatorEffect(
        known=float(known.mean()),
        unknown=float(unknown.mean()),
        difference=float(found.value),
        interval=found.interval,
        n=len(rows),
        n_annotators=n_annotators,
    )
