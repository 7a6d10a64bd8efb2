"""A bounded score per row: judged outputs, rubrics, partial credit, means over epochs, preferences.

Each row has two scores in [low, high]: the *given* one, by a judge, a metric or a label, known for all rows; and the
*true* one, which a careful human would give, known for the audited rows. A right or wrong class is the case of 0 and 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.core.arrays import Flags, Floats, Rows
from demele.core.columns import numbered_rows
from demele.core.errors import InputError, NotEnoughData
from demele.core.kinds import checked_number
from demele.core.seeds import rng_for
from demele.core.table_columns import number_column, optional_numbers
from demele.noise.audit import Audit
from demele.noise.transition import digest, set_fields


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
        top = checked_number(
            high, "high", f"a finite number above low={bottom:g}", inside=lambda end: bottom < end < np.inf
        )
        scores = read_scores(given, "given", bottom, top)
        n = scores.size
        if reach is None:
            down, up = scores - bottom, top - scores
        else:
            if not isinstance(reach, tuple | list) or len(reach) != 2:
                raise InputError("reach", "expected two columns: how far a score may fall, and how far it may rise")
            down, up = (number_column(column, "reach", n, "row") for column in reach)
            down, up = np.minimum(down, scores - bottom), np.minimum(up, top - scores)
        weights = None
        if weight is not None:
            weights = number_column(weight, "weight", n, "row")
            if weights.sum() <= 0:
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
        )

    def __repr__(self) -> str:
        return f"RowScores(n={self.n}, low={self.low:g}, high={self.high:g}, digest={digest(self.given)!r})"

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
        missing = np.isnan(self.given)
        return np.asarray(~missing.reshape(-1, self.n).any(axis=0))

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
        found: Floats = weight / weight.sum()
        return found

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
        return changed(
            self,
            given=self.given[candidate] - self.given[baseline],
            low=-self.width,
            high=self.width,
            down=self.down[candidate] + self.up[baseline],
            up=self.up[candidate] + self.down[baseline],
        )

    def take(self, rows: Any) -> "RowScores":
        """Return some rows (indices or a mask)."""
        fields = ("given", "down", "up", "task", "group", "weight")
        held: dict[str, Any] = {name: getattr(self, name) for name in fields}
        parts: dict[str, Any] = {name: None if column is None else column[..., rows] for name, column in held.items()}
        for name in ("task", "group"):
            if parts[name] is not None:
                parts[name] = np.unique(parts[name], return_inverse=True)[1].astype(np.intp)
        return changed(self, **parts)


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
                raise InputError(
                    "scores", f"two systems have another `{name}` per row; give the same rows in the same order"
                )
    together = {name: np.array([getattr(one, name) for one in systems]) for name in ("given", "down", "up")}
    return changed(first, **together)


def changed(scores: RowScores, **values: Any) -> RowScores:
    """Return scores with other columns, which are not checked."""
    changed: RowScores = object.__new__(RowScores)
    set_fields(changed, **{**{name: getattr(scores, name) for name in RowScores.__slots__}, **values})
    return changed


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


def judged_rows(
    audit: Audit, scores: RowScores, names: Sequence[str] | None = None
) -> tuple[Rows, Floats, Floats | None]:
    """Return rows, true scores and inclusion where both the row's given score and its true score are known.

    ``names`` are those of systems that are stacked; without them, the audit is of one system. Inclusion is None for a
    uniform audit.

    Raises
    ------
    InputError, NotEnoughData
        If rows do not exist, true scores are on another scale, or fewer than 2 rows are left.
    """
    if audit.design == "selective":
        message = (
            "its rows were chosen for a reason (design 'selective'); draw rows at random, or give `noise` as a bound"
        )
        raise InputError("audit", message)
    if names is None and len(audit.scores) != 1:
        raise InputError("audit", f"has true scores of {len(audit.scores)} systems; take one with audit.of(name)")
    if audit.rows.max() >= scores.n:
        raise InputError("audit", f"names row {audit.rows.max()}; {scores.n} rows are counted from 0")
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
