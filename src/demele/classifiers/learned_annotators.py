"""Whether a classifier learned its annotators: the same rows, predicted with and without knowing who labelled them."""

from typing import Any

import numpy as np

from demele.classifiers.mean_scores import trusted_mean
from demele.classifiers.results import NamedEstimate, NamedEstimates
from demele.classifiers.row_scores import RowScores
from demele.core.arrays import rng_for
from demele.core.errors import InputError, NotEnoughData
from demele.core.kinds import Level, Seed, Several, checked
from demele.core.labelled import read_labels
from demele.core.signature import Signature
from demele.core.table_columns import check_rows
from demele.core.uncertainty import Note


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
) -> NamedEstimates:
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
    NamedEstimates
        The accuracy where rows of all annotators are in the training (``known``), where those of the row's annotator
        are not (``unknown``), and their ``difference``, with Student's interval of annotators and a one-sided p-value.

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
    >>> found["known"].value, bool(found["difference"].interval.low > 0)
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
    found: Any = trusted_mean(RowScores(known - unknown, -1, 1, group=groups), level=level, gate=0.0)
    shown = found.interval.low > 0
    says = "the model learned its annotators" if shown else "the model is not shown to have learned its annotators"
    message = f"{says}: the difference is what their other labels in the training add ({n_annotators} annotators)"
    n = len(rows)
    return NamedEstimates(
        measure="effect of annotators on the accuracy",
        rows=(
            NamedEstimate(name="difference", value=found.value, interval=found.interval, p_value=found.p_value, n=n),
            NamedEstimate(name="known", value=float(known.mean()), n=n),
            NamedEstimate(name="unknown", value=float(unknown.mean()), n=n),
        ),
        level=level,
        assumptions=("The annotators are a random sample of those to come.",),
        notes=(Note(code="learned-annotators", message=message, severity="warning" if shown else "info"),),
        signature=Signature.of("annotator_effect", {"n_folds": n_folds, "level": level, "seed": seed}, n=n),
    )
