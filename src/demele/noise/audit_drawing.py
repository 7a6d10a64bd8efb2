"""Rows for an expert to label: drawn at random, more often where models disagree with the label."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_count, checked_share
from demele.core.errors import InputError, NotEnoughData
from demele.core.given_arrays import items_of
from demele.core.labelled import Indices, common_vocabulary, read_labels, read_models
from demele.core.names import renamed
from demele.core.seeds import checked_seed, rng_for
from demele.core.table_columns import number_column
from demele.noise.square_tables import digest

if TYPE_CHECKING:
    import pandas as pd

from demele.noise.audit import Audit, Design, read_rows

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


#: Votes counted at a time, so that memory stays bounded.
CELLS_AT_ONCE = 1 << 23


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AuditPlan:
    """Rows to show to an expert.

    Attributes
    ----------
    rows : array of intp of shape (k,)
        In the order in which they were drawn.
    probabilities : array of shape (k,) or None
        Probability that each was to be drawn; None for a uniform design (k / n for all).
    design : {"uniform", "weighted", "stratified"}
    n : int
        Rows of the test set.
    least_probability : float or None
        For a weighted design: the least such probability of all rows with disagreement, drawn or not. If the
        disagreement is that of a pool, no row on which two models of the pool disagree had a smaller one.
    within : array of intp of shape (m,) or None
        For a stratified design: all rows of the first stratum, drawn or not.
    """

    rows: Rows
    probabilities: Floats | None
    design: Design
    n: int
    least_probability: float | None = None
    within: Rows | None = None

    def __repr__(self) -> str:
        return f"AuditPlan(k={self.rows.size}, n={self.n}, design={self.design!r}, digest={digest(self.rows)!r})"

    def answered(self, labels: object, *, unseen_positives: float = 1.0) -> Audit:
        """Return the audit, given the expert's labels in the order of ``rows``; ``unseen_positives`` as in ``Audit``.

        Raises
        ------
        InputError, InputTypeError, NotEnoughData
            If their number differs, or they are no classes.
        """
        return Audit(
            self.rows,
            labels,
            design=self.design,
            probabilities=self.probabilities,
            least_probability=self.least_probability,
            within=self.within,
            unseen_positives=unseen_positives,
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with columns row and, for a weighted design, probability: a form to fill in."""
        import pandas as pd

        columns: dict[str, Any] = {"row": self.rows}
        if self.probabilities is not None:
            columns["probability"] = self.probabilities
        return pd.DataFrame(columns)


@renamed(doubt="disagreement")
def draw_audit(
    n: int, size: int, *, disagreement: object = None, floor: float = 0.4, within: object = None, seed: int = 0
) -> AuditPlan:
    """Draw rows for an expert to label.

    Parameters
    ----------
    n : int
        Rows of the test set.
    size : int in 1..n
        Rows to draw.
    disagreement : array-like of shape (n,), optional
        Numbers >= 0, larger where a label is worth more, such as :func:`disagreement`. Without them every row is as
        likely (design ``"uniform"``). With them (design ``"weighted"``), the probability of a row is proportional to
        floor + (1 - floor) disagreement / mean(disagreement), and 1 where that would exceed 1.
    floor : float in (0, 1]
        What a row without disagreement keeps, relative to the mean; 1 ignores the disagreement.
    within : array-like of int of shape (m,), optional
        Draw half of the rows among these, or all of these if they are fewer, and the others among the other rows
        (design ``"stratified"``). For a rare class: all rows that the given label, a model or a reader calls so.
    seed : int >= 0

    Returns
    -------
    AuditPlan
        Exactly ``size`` distinct rows. With the same seed, a larger uniform audit begins with the rows of a smaller.

    Raises
    ------
    InputError, InputTypeError
        If there are fewer than ``size`` rows, the disagreement is not n finite numbers >= 0, or one of both strata is
        empty.

    Notes
    -----
    Source: Rosen 1997, Pareto order sampling: the ``size`` rows with the smallest [u / (1 - u)] / [p / (1 - p)], u
    uniform. The inclusion probabilities are p up to a difference that vanishes as the sample grows (below 0.001 from
    about 20 rows on).

    Examples
    --------
    >>> plan = draw_audit(1000, 3, seed=1)
    >>> plan.answered(["cat", "dog", "cat"]).design
    'uniform'
    """
    n, size = checked_count(n, "n", 1), checked_count(size, "size", 1)
    if size > n:
        raise InputError("size", f"expected at most {n} rows, as many as there are, got {size}")
    seed = checked_seed(seed)
    if within is not None:
        among = read_rows(within, "within")
        rest = np.setdiff1d(np.arange(n), among)
        if disagreement is not None or rest.size + among.size != n or not rest.size or size < 2:
            raise InputError(
                "within", f"expected some rows of 0 to {n - 1}, not all; a size of 2 or more, and no disagreement"
            )
        k = min(max(size // 2, size - rest.size), among.size, size - 1)
        rng = rng_for(seed, "draw_audit", "stratified", n)
        rows = np.concatenate([rng.permutation(among)[:k], rng.permutation(rest)[: size - k]])
        return AuditPlan(rows.astype(np.intp), None, "stratified", n, within=among)
    if disagreement is None:
        rows = rng_for(seed, "draw_audit", "uniform", n).permutation(n)[:size]
        return AuditPlan(rows.astype(np.intp), None, "uniform", n)
    checked_share(floor, "floor", 0, 1)
    doubts = read_disagreement(disagreement, n)
    mean = doubts.mean() or 1.0
    chances = inclusion_probabilities(floor + (1 - floor) * doubts / mean, size)
    draws = rng_for(seed, "draw_audit", "weighted", n).random(n)
    with np.errstate(divide="ignore"):
        ranks = np.where(chances >= 1, 0.0, draws / (1 - draws) * (1 / chances - 1))
    first = np.argpartition(ranks, size - 1)[:size] if size < n else np.arange(n)
    rows = first[np.lexsort((first, ranks[first]))].astype(np.intp)
    doubtful = doubts > 0
    least = float(chances[doubtful].min() if doubtful.any() else chances.min())
    return AuditPlan(rows, chances[rows], "weighted", n, least)


def inclusion_probabilities(weights: Floats, size: int) -> Floats:
    """Return probabilities proportional to weights > 0 that sum to ``size``, none above 1; shape (n,).

    Rows that would exceed 1 are drawn surely, and the others share the rest, until none exceeds 1.
    """
    chances = np.ones(weights.size)
    order = np.argsort(weights, kind="stable")[::-1]
    sorted_weights = weights[order]
    rest = np.cumsum(sorted_weights[::-1])[::-1]
    # With the `sure` largest weights drawn surely, the next one must not exceed 1; the least such number is the answer.
    sure = np.arange(min(size, weights.size))
    scale = (size - sure) / rest[: sure.size]
    fits = scale * sorted_weights[: sure.size] <= 1
    if fits.any():
        start = int(np.argmax(fits))
        others = order[start:]
        chances[others] = np.minimum(scale[start] * weights[others], 1.0)
    return chances


def disagreement(predictions: object, labels: object = None) -> Floats:
    """Measure the disagreement of a pool of models on each instance, where expert labels are most useful.

    Parameters
    ----------
    predictions : array-like of shape (n_models, n), mapping of name to predictions, or data frame
        Predicted classes; a data frame has a column per model.
    labels : array-like of shape (n,), optional
        Given labels, which count as one more model.

    Returns
    -------
    array of shape (n,)
        Square of the entropy of the predictions, in squared nats: 0 where all agree.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Time O(n_models n), memory bounded. For two models: (log 2)^2 where they disagree, 0 elsewhere.

    Examples
    --------
    >>> disagreement([["cat", "dog", "cat"], ["cat", "cat", "cat"]]).round(4)
    array([0.    , 0.4805, 0.    ])
    """
    votes, k = _read_pool(predictions, labels)
    n_voters, n = votes.shape
    result = np.empty(n)
    step = max(1, CELLS_AT_ONCE // max(k, n_voters))
    for start in range(0, n, step):
        part = votes[:, start : start + step].astype(np.int64)
        width = part.shape[1]
        counts = np.bincount((part + np.arange(width) * k).ravel(), minlength=width * k).reshape(width, k)
        shares = counts / n_voters
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(counts > 0, -shares * np.log(shares), 0.0)
        result[start : start + step] = terms.sum(axis=1) ** 2
    return result


def read_disagreement(values: object, n: int) -> Floats:
    """Check numbers that say where labels are worth most, one per row.

    Parameters
    ----------
    values : array-like of shape (n,)
        Finite numbers >= 0, in any unit.
    n : int
        Rows of the test set.

    Returns
    -------
    array of float64 of shape (n,)

    Raises
    ------
    InputError
        If there are not n of them, or some are missing, infinite or negative.

    Examples
    --------
    >>> read_disagreement([0, 2, 1], 3)
    array([0., 2., 1.])
    """
    return number_column(values, "disagreement", n, "row")


def _read_pool(predictions: object, labels: object) -> tuple[Indices, int]:
    if isinstance(predictions, Mapping) or hasattr(predictions, "columns"):
        rows = [read_labels(values, name) for name, values in read_models(predictions).items()]
    else:
        models = items_of(predictions, "predictions", "shape (n_models, n)")
        rows = [read_labels(values, f"predictions, model {index}") for index, values in enumerate(models)]
        if len(rows) < 2 and labels is None:
            raise NotEnoughData(
                "predictions",
                f"expected at least 2 models, shape (n_models, n), got {len(rows)}; one model cannot disagree",
            )
    if labels is not None:
        rows.append(read_labels(labels, "labels"))
    n = rows[0].size
    for index, row in enumerate(rows):
        if row.size != n:
            what = "labels" if labels is not None and index == len(rows) - 1 else f"model {index}"
            raise InputError(
                "predictions",
                f"expected shape (n_models, n), the same n for all, got {n} rows for model 0 and "
                f"{row.size} for {what}"
                + ("; pass predictions.T" if what == "labels" and len(rows) - 1 == row.size else ""),
            )
    words = common_vocabulary(rows)
    return np.stack([words.encode(row, f"predictions, model {index}") for index, row in enumerate(rows)]), len(words)
