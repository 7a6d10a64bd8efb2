"""A cleaning with the labels that it cleans: what is suspected, what it costs, and the labels afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.core.kinds import Classes, Data
from demele.core.labelled import read_labels
from demele.core.result import Result, plain
from demele.labels.cleaned.cleaning import Cleaning
from demele.labels.cleaned.filters import Method, clean
from demele.labels.cleaned.harm import Harm, cleaning_harm
from demele.report.document import Document
from demele.report.listing import table_of_frame

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CleanedSet(Result):
    """Labels and their cleaning; see :func:`clean_labels`.

    Attributes
    ----------
    cleaning : Cleaning
    harm : Harm
    labels : array of shape (n,)
        The given labels.
    after : {"drop", "relabel"} or None
        What becomes of suspects in :meth:`to_frame`; without it, the frame lists the suspects.
    """

    _kind = "cleaned labels"
    _files: ClassVar[Mapping[str, str]] = {".suspects.csv": "flags_frame"}

    cleaning: Cleaning
    harm: Harm
    labels: NDArray[Any] = field(metadata={"json": False})
    after: Literal["drop", "relabel"] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything, and the suspects, the most suspicious first."""
        return {**Result.to_dict(self), "suspects": plain(self.suspects_frame())}

    def document(self) -> Document:
        """Return the suspects, the most suspicious first, and what the cleaning costs each class."""
        listed, _ = table_of_frame("Suspected labels", self.suspects_frame())
        harm = self.harm.document()
        made = self.cleaning.document()
        return replace(
            made,
            headline=f"{made.headline} {harm.headline}",
            sentences=[*made.sentences, *harm.sentences],
            table=listed,
            below=[*made.below, *(table for table in (harm.table,) if table is not None)],
            sections=[*made.sections, *harm.sections],
            methods=[*made.methods, *harm.methods],
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return the labels after the cleaning: row and label; or the suspects, if nothing is to become of them."""
        import pandas as pd

        if self.after is None:
            return self.suspects_frame()
        after = self.cleaning.applied(self.labels)
        return pd.DataFrame({"row": after.rows, "label": after.labels})

    def suspects_frame(self) -> "pd.DataFrame":
        """Return the suspects, most suspicious first: row, given, suggested, score."""
        import pandas as pd

        found = self.cleaning
        rows = found.worst(self.labels.size).index[: found.n_suspects].to_numpy()
        score = np.full(rows.size, np.nan) if found.score is None else found.score[rows]
        suggested = np.full(rows.size, None) if found.suggested is None else found.suggested[rows]
        return pd.DataFrame({"row": rows, "given": self.labels[rows], "suggested": suggested, "score": score})

    def flags_frame(self) -> "pd.DataFrame":
        """Return a flag per row, and the suggested labels: what a comparison with the method cleaned reads."""
        import pandas as pd

        columns: dict[str, Any] = {"suspect": self.cleaning.suspect.astype(np.int64)}
        if self.cleaning.suggested is not None:
            columns["suggested"] = self.cleaning.suggested
        return pd.DataFrame(columns)


def clean_labels(
    labels: object,
    features: object = None,
    *,
    method: Method = "confident",
    relabel: bool = False,
    drop: bool = False,
    probabilities: Data = None,
    kind: Literal["features", "probabilities"] | None = None,
    folds: int | None = None,
    k: int | None = None,
    scaling: Literal["standard", "none"] | None = None,
    rule: str | None = None,
    rounds: int | None = None,
    threshold: float | None = None,
    classes: Classes = None,
    true_labels: Data = None,
    level: float = 0.95,
    seed: int = 0,
    n_jobs: int | None = 1,
) -> CleanedSet:
    """Find labels that are likely to be wrong, and report what a cleaning costs each class.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Given labels.
    features : array-like of shape (n, d), optional
        Features, unless probabilities are given.
    method : str
        Method. See :func:`demele.labels.clean`, as for all options that are not explained here.
    relabel : bool
        Replace suspects by their suggested labels.
    drop : bool
        Leave suspects out.
    probabilities : array-like of shape (n, n_classes), optional
        Predicted probabilities of the classes, instead of features. From models that were not trained on the row.
    kind : {"features", "probabilities"}, optional
        What the features are, for entropy and confident (default: by their values).
    folds : int, optional
        Parts of the rows, each judged by the others (default: 5).
    k : int, optional
        Neighbours of the method knn (default: 5).
    scaling : {"standard", "none"}, optional
        Scaling of the features, for knn (default: standard).
    rule : str, optional
        Rule of the methods voting, partitioning and confident.
    rounds : int, optional
        Largest number of rounds of the method partitioning (default: 10).
    threshold : float, optional
        Threshold of the method entropy, in (0, 1].
    classes : sequence, optional
        All classes, in the order of the probabilities (default: sorted).
    true_labels : array-like of shape (n,), optional
        True labels, to count the suspects that are wrong.
    level : float
        Confidence of the intervals.
    seed : int
        Random seed.
    n_jobs : int or None
        Processes, -1 for all processors.

    Returns
    -------
    CleanedSet

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    if (features is None) == (probabilities is None):
        got = "neither" if features is None else "both"
        raise InputError("features", f"expected features or probabilities, got {got}")
    if drop and relabel:
        raise InputError(("drop", "relabel"), "expected one of them")
    table = probabilities if features is None else features
    options: dict[str, Any] = {
        "folds": folds, "k": k, "scaling": scaling, "rule": rule, "rounds": rounds, "threshold": threshold,
        "kind": "probabilities" if features is None else kind, "classes": classes,
    }  # fmt: skip
    found = clean(labels, table, method=method, seed=seed, n_jobs=n_jobs, **options)
    found = found.dropping() if drop else found
    harm = cleaning_harm(found, labels, true_labels, level=level)
    after: Literal["drop", "relabel"] | None = "drop" if drop else "relabel" if relabel else None
    return CleanedSet(found, harm, read_labels(labels, "labels"), after)
