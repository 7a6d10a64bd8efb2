"""A bounded score per row: judged outputs, rubrics, partial credit, means over epochs, preferences.

Each row has two scores in [low, high]: the *given* one, by a judge, a metric or a label, known for all rows; and the
*true* one, which a careful human would give, known for the audited rows. A right or wrong class is the case of 0 and 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from demele.core.arrays import Counts, Flags, Floats, Rows, pd, rng_for
from demele.core.columns import numbered_rows
from demele.core.errors import InputError, NotEnoughData
from demele.core.kinds import Count, CountOrNone, Data, checked, checked_name, checked_number
from demele.core.table_columns import as_column, number_column, optional_numbers, whole_array
from demele.noise.audit import Audit, refuse_beyond
from demele.noise.transition import changed, digest, set_fields

#: Rows that were audited, their true scores of shape (..., k), and their probabilities to be drawn.
AuditedRows = tuple[Rows, Floats, Floats | None]


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class RowScores:
    """The score of each row of one system, as given, on a bounded scale.

    Parameters
    ----------
    given : array-like of shape (n,)
        Given scores; NaN or None where a row has none.
    low, high : float
        Ends of the scale.
    reach : (array-like, array-like), optional
        How far the true score of each row may lie below and above the given one (default: as far as the scale goes).
    task : array-like of shape (n,), optional
        Task of each row. Tasks count the same in the mean, unless ``weight`` says otherwise.
    group : array-like of shape (n,), optional
        Group of each row, such as its document, where rows of a group are similar.
    weight : array-like of shape (n,), optional
        What each row counts in the mean.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If a score lies outside the scale, or a column has another length.

    Examples
    --------
    >>> ratings = RowScores([4, 5, 2, 5], low=1, high=5)
    >>> ratings.n, ratings.mean
    (4, 4.0)
    """

    checked_by_kind = True

    given: Floats
    low: float
    high: float
    down: Floats
    up: Floats
    task: Rows | None
    group: Rows | None
    weight: Floats | None
    verdicts: tuple[Floats, Floats] | None

    def __init__(
        self,
        given: object,
        low: float = 0,
        high: float = 1,
        reach: tuple[object, object] | None = None,
        task: object = None,
        group: object = None,
        weight: object = None,
    ) -> None:
        bottom = checked_number(low, "low", "a finite number", inside=np.isfinite)
        top = checked_number(high, "high", f"a finite number > low={bottom:g}", inside=lambda x: bottom < x < np.inf)
        scores = read_scores(given, "given", bottom, top)
        n = scores.size
        down, up = scores - bottom, top - scores
        if reach is not None:
            if not isinstance(reach, tuple | list) or len(reach) != 2:
                raise InputError("reach", "expected two columns: how far a score may fall, and how far it may rise")
            fall, rise = (number_column(column, "reach", n, "row") for column in reach)
            down, up = np.minimum(fall, down), np.minimum(rise, up)
        weights = None if weight is None else number_column(weight, "weight", n, "row")
        if weights is not None and weights.sum() <= 0:
            raise InputError("weight", "expected some weight above 0, got none")
        tasks, groups = (
            None if column is None else numbered_rows(column, name, n, "given")[0]
            for name, column in (("task", task), ("group", group))
        )
        set_fields(
            self,
            given=scores,
            low=bottom,
            high=top,
            down=down,
            up=up,
            task=tasks,
            group=groups,
            weight=weights,
            verdicts=None,
        )

    def __repr__(self) -> str:
        return f"RowScores(n={self.n}, low={self.low:g}, high={self.high:g}, digest={digest(*self.digested())!r})"

    def digested(self) -> tuple[object, ...]:
        """Return all that changes a number, for a digest: the scores, and each argument that is not its default."""
        names = [name for name in ("task", "group", "weight") if getattr(self, name) is not None]
        if (self.low, self.high) != (0, 1):
            names += ["low", "high"]
        whole = self.given - self.low, self.high - self.given
        if not np.array_equal((self.down, self.up), whole, equal_nan=True):
            names += ["down", "up"]
        return (self.given, *(part for name in names for part in (name, getattr(self, name))))

    @property
    def n(self) -> int:
        """Number of rows, also of those without a score."""
        return int(self.given.shape[-1])

    @property
    def width(self) -> float:
        """Length of the scale."""
        return self.high - self.low

    @property
    def scored(self) -> Flags:
        """Which rows have a score; of several systems, a score of each."""
        return np.asarray(~np.isnan(self.given).reshape(-1, self.n).any(axis=0))

    @property
    def mean(self) -> float:
        """Mean given score, weighted; tasks count the same unless the weights say otherwise."""
        scored = self.scored
        if self.weight is None and self.task is None:
            return float(self.given[scored].mean())
        return float(self.shares()[scored] @ self.given[scored])

    def shares(self) -> Floats:
        """Return what each row counts in the mean: 0 without a score, 1 in all."""
        scored = self.scored
        weight = scored.astype(np.float64) if self.weight is None else np.where(scored, self.weight, 0.0)
        if self.weight is None and self.task is not None:
            weight = weight / np.maximum(np.bincount(self.task, weight), 1)[self.task]
        return np.asarray(weight / weight.sum())

    def minus(self, baseline: "RowScores") -> "RowScores":
        """Return the difference of each row from the baseline's, on a scale of twice the length.

        A wrong row may be wrong for both systems, and in opposite directions.

        Raises
        ------
        InputError
            If the two have other rows, another scale, or other tasks, groups or weights.

        Examples
        --------
        >>> RowScores([1, 0, 1]).minus(RowScores([1, 1, 0])).given
        array([ 0., -1.,  1.])
        """
        return stacked([baseline, self]).apart(1, 0)

    def apart(self, candidate: Any, baseline: Any) -> "RowScores":
        """Return differences of systems that are stacked, by their places."""
        (down, other_down), (up, other_up) = ((side[candidate], side[baseline]) for side in (self.down, self.up))
        return changed(
            self,
            given=self.given[candidate] - self.given[baseline],
            low=-self.width,
            high=self.width,
            down=down + other_up,
            up=up + other_down,
            verdicts=(np.stack([down, other_up], axis=-2), np.stack([up, other_down], axis=-2)),
        )

    def take(self, rows: Any) -> "RowScores":
        """Return some rows (indices or a mask)."""
        fields = ("given", "down", "up", "task", "group", "weight")
        held: dict[str, Any] = {name: getattr(self, name) for name in fields}
        parts: dict[str, Any] = {name: None if column is None else column[..., rows] for name, column in held.items()}
        for name in ("task", "group"):
            if parts[name] is not None:
                parts[name] = np.unique(parts[name], return_inverse=True)[1].astype(np.intp)
        if self.verdicts is not None:
            parts["verdicts"] = tuple(side[..., rows] for side in self.verdicts)
        return changed(self, **parts)

    def reaches(self, unit: str) -> tuple[Floats, Floats]:
        """Return how far each wrong row, or verdict, moves a row down and up; a difference has two verdicts per row."""
        checked_name(unit, "unit", ("row", "verdict"))
        if unit == "row" or self.verdicts is None:
            return self.down, self.up
        down, up = (side.reshape(*side.shape[:-2], -1) for side in self.verdicts)
        return down, up


def stacked(systems: Sequence[RowScores]) -> RowScores:
    """Put the scores of systems on the same rows together; arrays are of shape (n_systems, n) then.

    Raises
    ------
    InputError
        If two have other rows, another scale, or other tasks, groups or weights.
    """
    first = systems[0]
    for one in systems[1:]:
        if (one.n, one.low, one.high) != (first.n, first.low, first.high):
            spans = (f"{each.n} rows in [{each.low:g}, {each.high:g}]" for each in (one, first))
            raise InputError("scores", f"two systems have {' and '.join(spans)}; give the same rows on the same scale")
        for name in ("task", "group", "weight"):
            own, other = getattr(one, name), getattr(first, name)
            if (own is None) != (other is None) or (own is not None and not np.array_equal(own, other)):
                raise InputError("scores", f"two systems differ in `{name}`; give the same rows in the same order")
    together = {name: np.array([getattr(one, name) for one in systems]) for name in ("given", "down", "up")}
    return changed(first, **together)


def read_scores(values: object, argument: str, low: float, high: float) -> Floats:
    """Read scores; missing ones are NaN."""
    scores = optional_numbers(values, argument, "score")
    odd = np.flatnonzero((scores < low) | (scores > high))
    if odd.size:
        others = f", and {odd.size - 1} more" if odd.size > 1 else ""
        raise InputError(
            argument,
            f"row {odd[0]} is {scores[odd[0]]:g}{others}, outside the scale [{low:g}, {high:g}]",
            "give the ends of the scale with `low` and `high`",
        )
    return scores


def human_scores(columns: Mapping[str, object], seed: int = 0) -> Audit:
    """Return the audit of columns with a score per row of the data, NaN where nobody judged.

    Columns do not say in which order rows were drawn: it is drawn by the seed.

    Examples
    --------
    >>> sorted(human_scores({"A": [1, np.nan, 0], "B": [np.nan, np.nan, 1]}).rows.tolist())
    [0, 2]
    """
    read = {name: optional_numbers(values, "audit", "score") for name, values in columns.items()}
    judged = np.flatnonzero(~np.all([np.isnan(one) for one in read.values()], axis=0))
    rows = rng_for(seed, "order of human scores").permutation(judged)
    return Audit(rows, {name: one[rows] for name, one in read.items()}, design="uniform")


def judged_rows(audit: Audit, scores: RowScores, names: Sequence[str] | None = None) -> AuditedRows:
    """Return rows, true scores and inclusion where both the row's given score and its true score are known.

    ``names`` are those of systems that are stacked; without them, the audit is of one system. Inclusion is None for a
    uniform audit.

    Raises
    ------
    InputError, NotEnoughData
        If rows do not exist, true scores are on another scale, or fewer than 2 rows are left.
    """
    if audit.design == "selective":
        message = "its rows were chosen for a reason (design 'selective'); draw rows at random, or give `noise`"
        raise InputError("audit", message)
    if names is None and len(audit.scores) != 1:
        raise InputError("audit", f"has true scores of {len(audit.scores)} systems; take one with audit.of(name)")
    refuse_beyond(audit.rows, scores.n)
    columns = list(audit.scores.values()) if names is None else [audit.scores_of(name) for name in names]
    true = columns[0] if names is None else np.array(columns)
    known = ~np.isnan(columns).any(axis=0) & scores.scored[audit.rows]
    beyond = np.argwhere(known & ((true < scores.low) | (true > scores.high)))
    if beyond.size:
        place = tuple(beyond[0])
        where = f"true scores reach {true[place]:g} (row {audit.rows[place[-1]]})"
        scale = f"given ones are in [{scores.low:g}, {scores.high:g}]"
        raise InputError("audit", f"{where}, {scale}", "give both on the same scale")
    if known.sum() < 2:
        raise NotEnoughData("audit", f"expected at least 2 rows with a given and a true score, got {known.sum()}")
    inclusion = None if audit.design == "uniform" else audit.inclusion(scores.n)[0][known]
    return audit.rows[known], true[..., known], inclusion


# Row scores of samples, of sets of labels and of epochs ---------------------------------------------------------------


@checked
def pass_at_k(correct: Data, samples: Data, k: Count, *, wrong: CountOrNone = 0) -> RowScores:
    """Return pass@k of each problem: the probability that one of ``k`` of its samples is correct.

    Parameters
    ----------
    correct, samples : array-like of int of shape (n,)
        Correct samples of each problem, and all of them. A problem with fewer than ``k`` samples has no score.
    k : int
    wrong : int
        Verdicts on samples of each problem that may be wrong: how far its true score may lie.

    Returns
    -------
    RowScores

    Raises
    ------
    InputError, InputTypeError

    Notes
    -----
    Source: Chen et al. 2021: 1 - C(n - c, k) / C(n, k), which is unbiased. Sensitivity and specificity of a judge of
    samples do not identify it: errors enter through C(n - c, k). Audit whole problems.

    Examples
    --------
    >>> pass_at_k([2, 3, 1], [5, 10, 2], 3).given.round(4)
    array([0.9   , 0.7083,    nan])
    """
    c, n = whole_array(correct, "correct", dimensions=1), whole_array(samples, "samples", dimensions=1)
    if c.shape != n.shape or ((c < 0) | (c > n)).any():
        raise InputError("correct", "expected numbers between 0 and those of `samples`, one per problem")

    def passing(found: Counts) -> Floats:
        # The product of (n - c - i) / (n - i) over i < k.
        left = (n - np.clip(found, 0, n))[:, None] - np.arange(k)
        of = np.maximum(n[:, None] - np.arange(k), 1)
        return np.asarray(np.where(n < k, np.nan, 1 - np.prod(np.maximum(left, 0) / of, axis=1)))

    given = passing(c)
    reach = np.nan_to_num(given - passing(c - wrong)), np.nan_to_num(passing(c + wrong) - given)
    return RowScores(given, reach=reach)


@checked
def label_set_scores(
    predictions: Data,
    labels: Data,
    *,
    score: Literal["jaccard", "f1", "hamming", "exact"] = "jaccard",
    wrong: Count = 1,
) -> RowScores:
    """Return a score of each row that may have several labels at once (multi-label classification).

    Parameters
    ----------
    predictions, labels : array-like of bool of shape (n, n_labels)
        Whether each label was predicted, and given.
    score : {"jaccard", "f1", "hamming", "exact"}
        Common labels by all that occur; by the mean number of both; share of labels that agree; 1 if all do.
    wrong : int, default 1
        Labels of a row that may be wrong, at most: how far its true score may lie.

    Returns
    -------
    RowScores
        For ``assess``, ``compare`` and ``rank``. A row without any label, predicted or given, has the score 1.

    Raises
    ------
    InputError, InputTypeError

    Examples
    --------
    >>> found = label_set_scores([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]])
    >>> found.given, found.down, found.up
    (array([0.5, 1. ]), array([0.5, 1. ]), array([0.5, 0. ]))
    """
    predicted = whole_array(predictions, "predictions", dimensions=2)
    given = whole_array(labels, "labels", dimensions=2)
    if predicted.shape != given.shape or not np.isin([predicted, given], (0, 1)).all():
        raise InputError("predictions", "expected 0 and 1 for each row and label, as many as in `labels`")
    k, both, alone = given.shape[1], (predicted & given).sum(axis=1), predicted.sum(axis=1)

    def scored(common: Any, of_labels: Any) -> Floats:
        """Return scores from the number of common labels, and of given ones."""
        either = alone + of_labels - common
        if score in ("hamming", "exact"):
            agree = 1 - (either - common) / k
            return np.asarray(agree if score == "hamming" else agree == 1, dtype=np.float64)
        of = either if score == "jaccard" else (alone + of_labels) / 2
        return np.asarray(np.where(of > 0, common / np.where(of > 0, of, 1), 1.0))

    value = scored(both, given.sum(axis=1))
    low, high = value, value
    for hits in range(wrong + 1):  # of the wrong labels, so many are predicted ones, and the others are none
        rest = wrong - hits
        lost, added = np.minimum(hits, both), np.minimum(rest, k - alone - (given.sum(axis=1) - both))
        low = np.minimum(low, scored(both - lost, given.sum(axis=1) - lost + added))
        found, dropped = np.minimum(hits, alone - both), np.minimum(rest, given.sum(axis=1) - both)
        high = np.maximum(high, scored(both + found, given.sum(axis=1) + found - dropped))
    return RowScores(value, reach=(value - low, high - value))


def item_means(
    values: object, item: object, *, low: float = 0, high: float = 1
) -> tuple[RowScores, tuple[Any, ...], "EpochSpread"]:
    """Average repeated scores of each item: epochs are no rows.

    Parameters
    ----------
    values : array-like of shape (n,)
        A score per item and epoch.
    item : array-like of shape (n,)
        Item of each.
    low, high : float

    Returns
    -------
    RowScores
        One row per item, in order of appearance.
    tuple
        The items.
    EpochSpread
        Variances within and between items.

    Examples
    --------
    >>> scores, items, spread = item_means([1, 1, 0, 1, 0, 0, 0, 1], ["a"] * 4 + ["b"] * 4)
    >>> scores.given, items, round(spread.within, 4)
    (array([0.75, 0.25]), ('a', 'b'), 0.25)
    """
    read = read_scores(values, "values", low, high)
    codes, _ = numbered_rows(item, "item", read.size, "values")
    grouped = pd.Series(read).groupby(codes)
    repeats, means, within = grouped.count().to_numpy(), grouped.mean().to_numpy(), float(grouped.var().mean())
    scored = repeats > 0
    between = float("nan")
    if scored.sum() > 1:
        between = max(float(means[scored].var(ddof=1)) - within * float((1 / repeats[scored]).mean()), 0.0)
    names = tuple(as_column(item, "item")[np.unique(codes, return_index=True)[1]])
    return RowScores(means, low, high), names, EpochSpread(within, between, int(scored.sum()))


@dataclass(frozen=True, slots=True)
class EpochSpread:
    """Variance of scores within items and between them, and the number of items."""

    within: float
    between: float
    items: int

    @property
    def correlation(self) -> float:
        """Correlation of two epochs of an item."""
        return self.between / (self.between + self.within)

    def error(self, epochs: float) -> float:
        """Return the standard error of the mean with so many epochs of each item."""
        return float(np.sqrt((self.between + self.within / epochs) / self.items))
