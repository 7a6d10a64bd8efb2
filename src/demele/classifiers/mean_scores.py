"""Means of row scores and of their differences: with given scores that are right, partly wrong, or audited."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from demele.classifiers.audit_plausibility import audit_alarms
from demele.classifiers.intervals import exact_mean_ends
from demele.classifiers.pooled_strata import (
    TINY,
    PooledStrata,
    pooled_strata,
    prediction_powered,
    smallest_tail,
    strata_of,
)
from demele.classifiers.question import FEW_GROUPS, LEAST_GROUPS, MOST
from demele.classifiers.row_scores import AuditedRows, RowScores, judged_rows, stacked
from demele.core.arrays import Flags, Floats, Rows
from demele.core.errors import InputError, NotEnoughData
from demele.core.kinds import Level, Rate, checked, checked_level, checked_number
from demele.core.proportions import holm, normal_quantile, score_interval
from demele.core.result import Interval, Note
from demele.noise.audit import Audit, unclear_notes
from demele.noise.transition import changed

ONE_GROUP = "expected at least 2 rows or groups in each task, got 1"
#: Of fewer audited rows, a note says so; of fewer in a task, strata are pooled over tasks.
FEW_AUDITED = 20
#: A larger share of rows without a score is worth a warning.
MANY_UNSCORED = 0.05
#: Rows of uneven weights that are worth a smaller share of the audited rows are named.
UNEVEN = 0.7


@dataclass(frozen=True, slots=True)
class Stratum:
    """Rows of similar given scores: their range, how many there are and were audited, and their mean true score."""

    least: float
    most: float
    rows: int
    audited: int
    mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanScore:
    """The mean score of a system, or a mean difference, with its interval; of several, numbers are arrays.

    Attributes
    ----------
    value, low, high, level : float
    method : str
        How the interval was made.
    kind : str
        What it covers: ``"sampling"`` (other rows), ``"design"`` (an audit), ``"identified"`` (wrong scores).
    given : float
        The mean given score.
    tested : float or None
        The p-value by the interval: one-sided, for "the mean is not above the gate", or two-sided, for "it is the
        gate"; None without a gate.
    statistic, sides : float, int
        Student's t, if the p-value is of this.
    asymptotic_low, asymptotic_high : float or None
        Interval of PPI++, which needs many labels.
    strata : tuple of Stratum
    audited : int
        Rows with true scores from which a difference comes.
    error, degrees : float
        Standard error, and the degrees of freedom of its quantile; NaN where the interval is another.
    notes : tuple of Note
    """

    value: Any
    low: Any
    high: Any
    level: float
    method: Any
    kind: str = "sampling"
    given: Any
    tested: Any = None
    statistic: Any = None
    sides: int = 1
    asymptotic_low: Any = None
    asymptotic_high: Any = None
    strata: tuple[Stratum, ...] = ()
    audited: Any = 0
    error: Any = np.nan
    degrees: Any = np.nan
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, np.generic):
                object.__setattr__(self, one.name, value.item())

    @property
    def interval(self) -> Interval:
        """The interval as that of other results."""
        return Interval(low=self.low, high=self.high, level=self.level, method=self.method, kind=self.kind)

    @property
    def asymptotic(self) -> Interval | None:
        """The interval of PPI++."""
        if self.asymptotic_low is None:
            return None
        ends = {"low": self.asymptotic_low, "high": self.asymptotic_high}
        return Interval(**ends, level=self.level, method="PPI++ (asymptotic)", kind="design")

    @property
    def p_value(self) -> Any:
        """The p-value; None without a gate."""
        from scipy.special import stdtr

        if self.statistic is None:
            return self.tested
        return np.minimum(self.sides * stdtr(self.degrees, -self.statistic), 1.0)

    def significant(self, error: float) -> Flags:
        """Return which of several means are shown not to be at the gate, by Holm's procedure on two-sided p-values."""
        from scipy.special import stdtr, stdtrit

        if self.statistic is None or np.ndim(self.degrees):
            return holm(self.p_value, error)
        # Only p-values near the limits decide: larger statistics count in any case, smaller ones in none.
        t, limits = self.statistic, error / 2 / np.array([max(self.statistic.size, 1), 1 - 1e-6])
        strict, loose = -stdtrit(self.degrees, limits)
        p_values, middle = np.where(t >= strict, 0.0, 1.0), (t >= loose) & (t < strict)
        p_values[middle] = 2 * stdtr(self.degrees, -t[middle])
        return holm(p_values, error)

    def parts(self) -> "list[MeanScore]":
        """Return the means of several systems, or differences, one by one."""
        held = {one.name: getattr(self, one.name) for one in fields(self)}
        arrays = {name: value.tolist() for name, value in held.items() if isinstance(value, np.ndarray)}
        return [MeanScore(**held | dict(zip(arrays, row, strict=True))) for row in zip(*arrays.values(), strict=True)]

    @staticmethod
    def joined(parts: "Sequence[MeanScore]") -> "MeanScore":
        """Put means of several together; a number that some lack is NaN for these."""
        if len({part.statistic is None for part in parts}) > 1:
            parts = [replace(part, tested=part.p_value, statistic=None) for part in parts]
        held = [{one.name: getattr(part, one.name) for one in fields(part)} for part in parts]
        arrays = [name for name in held[0] if any(isinstance(one[name], np.ndarray) for one in held)]
        sides = [
            (np.size(one["value"]), {name: np.nan if one[name] is None else one[name] for name in arrays})
            for one in held
        ]
        together = {name: np.concatenate([np.broadcast_to(side[name], n) for n, side in sides]) for name in arrays}
        return MeanScore(**held[0] | together)


# The given scores are taken as right ----------------------------------------------------------------------------------


def trusted_mean(
    scores: RowScores,
    *,
    level: float = 0.95,
    gate: float | None = None,
    pairs: tuple[Rows, Rows] | None = None,
    two_sided: bool = False,
    moved: float = 0.0,
) -> MeanScore:
    """Mean of the given scores, taken as right, with the sampling of rows, of groups or of rows in tasks.

    Parameters
    ----------
    scores : RowScores
        Of one system, of several that are stacked, or their differences.
    level : float
    gate : float, optional
        What the mean should exceed.
    pairs : (array, array), optional
        Baselines and candidates among stacked systems, whose differences are asked for: from one product of matrices.
    two_sided : bool
        Of the p-value.
    moved : float
        How far the mean may lie beyond what sampling explains.

    Returns
    -------
    MeanScore

    Notes
    -----
    se = sd / sqrt(n), Student's t with n - 1. Of G groups: V = G/(G-1) sum_g (sum_{i in g} (s_i - m))^2 / n^2, G - 1
    degrees. Of tasks: sum a_j^2 V_j, Welch-Satterthwaite degrees. Scores 0 and 1 of rows apart have the score interval.

    Examples
    --------
    >>> mean = trusted_mean(RowScores([1, 0, 1, 1, 0, 1, 0.5, 1, 0, 1, 1, 0.5]))
    >>> print(f"{mean.value:.6f} [{mean.low:.6f}, {mean.high:.6f}]")
    0.666667 [0.384682, 0.948652]
    """
    from scipy.special import stdtrit

    tail = (1 - checked_level(level)) / 2
    notes = _unscored(scores)
    held = scores.take(scores.scored)
    value, variance, degrees = _sampled(held, held.given, pairs)
    notes += _group_notes(held)
    error = np.sqrt(variance)
    reach = -stdtrit(degrees, tail) * error
    low, high = value - reach, value + reach
    method: Any = "t" if held.group is None else "t of groups"
    bottom, top = (held.low, held.high) if pairs is None else (-held.width, held.width)
    plain = pairs is None and held.group is None and held.task is None and held.weight is None
    if plain and held.low != -held.high:
        binary = ((held.given == held.low) | (held.given == held.high)).all(axis=-1)
        hits = np.count_nonzero(held.given == held.high, axis=-1)
        ends = [held.low + held.width * end for end in score_interval(hits, held.n, level=level)]
        low, high = (np.where(binary, ours, other)[()] for ours, other in zip(ends, (low, high), strict=True))
        method = np.where(binary, "score", method)[()]
    statistic = None
    if gate is not None:
        excess = value - checked_gate(gate, bottom, top)
        excess = (np.abs(excess) if two_sided else excess) - moved
        sure = np.where(excess > TINY, np.inf, 0.0 if two_sided else -np.inf)
        statistic = np.where(error > 0, excess / np.where(error > 0, error, 1.0), sure)[()]
    return MeanScore(
        value=value,
        low=np.maximum(low - moved, bottom),
        high=np.minimum(high + moved, top),
        level=level,
        method=method,
        given=value,
        statistic=statistic,
        sides=2 if two_sided else 1,
        error=error,
        degrees=degrees,
        notes=notes,
    )


def _sampled(scores: RowScores, values: Floats, pairs: tuple[Rows, Rows] | None = None) -> tuple[Any, Any, Any]:
    """Return means of values of shape (..., n), or of differences of pairs, their variances and degrees of freedom.

    Of tasks, weighted rows and groups.
    """
    parts, shares = [], scores.shares()
    for rows in [np.arange(scores.n)] if scores.task is None else _parts(scores.task):
        own, held, count = shares[rows], values[..., rows], rows.size
        # What each row, or group, adds to the mean.
        terms = own * (held - (held @ own / own.sum())[..., None])
        if scores.group is not None:
            codes = np.unique(scores.group[rows], return_inverse=True)[1]
            count = int(codes.max()) + 1
            sums = [np.bincount(codes, row) for row in terms.reshape(-1, rows.size)]
            terms = np.reshape(sums, (*terms.shape[:-1], count))
        if count < 2:
            raise NotEnoughData("scores", ONE_GROUP)
        if pairs is None:
            squares = np.einsum("...i,...i->...", terms, terms)
        else:
            first, second = pairs
            products = terms @ terms.T
            alone = products.diagonal()[first] + products.diagonal()[second]
            squares = alone - 2 * products[first, second]
            squares = np.where(squares > TINY * alone, squares, 0.0)  # beyond it, rounding
        parts.append((count / (count - 1) * squares, count - 1))
    variance = np.sum([one for one, _ in parts], axis=0)
    squares = np.sum([one**2 / count for one, count in parts], axis=0)
    degrees: Any = float(parts[-1][1])
    if len(parts) > 1:
        degrees = np.where(squares > 0, variance**2 / np.where(squares > 0, squares, 1.0), degrees)[()]
    means = values @ shares
    return means if pairs is None else means[pairs[1]] - means[pairs[0]], variance, degrees


def _parts(codes: Rows) -> list[Rows]:
    return np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])


# At most a share of the rows is wrong ---------------------------------------------------------------------------------


@checked
def bounded_mean(
    scores: RowScores,
    rate: Rate,
    *,
    level: Level = 0.95,
    inference: Literal["population", "test_set"] = "test_set",
    unit: Literal["row", "verdict"] = "row",
) -> MeanScore:
    """Bound the mean true score where at most a share of the given scores is wrong; no human is needed.

    Parameters
    ----------
    scores : RowScores
        Of one system, or the difference of two.
    rate : float
        Largest share of wrong rows, or of wrong verdicts: a difference has two verdicts per row.
    level : float
        Of the sampling of rows.
    inference : {"test_set", "population"}
        The mean of these rows, or of new ones.
    unit : {"row", "verdict"}
        What ``rate`` is a share of.

    Returns
    -------
    MeanScore
        ``kind`` is ``"identified"``: nothing inside the interval can be ruled out.

    Examples
    --------
    >>> bound = bounded_mean(RowScores([1, 1, 1, 0.75, 0.5, 1, 0.25, 1, 0.5, 1]), 0.2)
    >>> round(bound.low, 6), round(bound.high, 6)
    (0.6, 0.925)
    """
    from scipy.special import stdtrit

    held = scores.take(scores.scored)
    shares, ends = held.shares(), []
    for sign, moved in zip((-1, 1), held.reaches(unit), strict=True):
        count = int(rate * moved.shape[-1] + 1e-9)
        worth = moved * np.tile(shares, moved.shape[-1] // held.n)
        wrong = np.zeros(moved.shape, dtype=np.bool_)
        np.put_along_axis(wrong, np.argsort(-worth, axis=-1, kind="stable")[..., :count], True, axis=-1)
        change = np.where(wrong, moved, 0.0).reshape(*moved.shape[:-1], -1, held.n).sum(axis=-2)
        value, variance, degrees = _sampled(held, held.given + sign * change)
        sampling = -stdtrit(degrees, (1 - level) / 2) * np.sqrt(variance) if inference == "population" else 0.0
        ends.append(value + sign * sampling)
    value = held.given @ shares
    return MeanScore(
        value=value,
        low=np.maximum(ends[0], scores.low),
        high=np.minimum(ends[1], scores.high),
        level=level,
        method="bounded",
        kind="identified",
        given=value,
        notes=_unscored(scores),
    )


def breakdown(scores: RowScores, *, gate: float = 0.0, unit: Literal["row", "verdict"] = "row") -> Any:
    """Return the least number of wrong rows, or verdicts, that takes the mean to the gate; a tie is no lead.

    Parameters
    ----------
    scores : RowScores
        The difference of two systems; or one system, with a gate; or several of either.
    gate : float
    unit : {"row", "verdict"}

    Returns
    -------
    int, or array of int
        0 if no number does, or none is needed.

    Examples
    --------
    >>> first, second = RowScores([1, 1, 1, 1, 0, 1, 1, 0, 1, 1]), RowScores([1, 0, 1, 0, 0, 1, 0, 0, 1, 1])
    >>> print(breakdown(first.minus(second)), breakdown(first.minus(second), unit="verdict"))
    2 3
    """
    held = scores.take(scores.scored)
    shares = held.shares()
    lead = held.given @ shares - checked_gate(gate, scores.low, scores.high)
    down, up = held.reaches(unit)
    moved = np.where((lead > 0)[..., None], down, up)
    worth = -np.sort(-moved * np.tile(shares, moved.shape[-1] // held.n), axis=-1)
    needed = np.count_nonzero(np.cumsum(worth, axis=-1) < np.abs(lead)[..., None] - TINY, axis=-1) + 1
    return np.where((np.abs(lead) <= TINY) | (needed > moved.shape[-1]), 0, needed)[()]


# True scores of a random sample of rows -------------------------------------------------------------------------------


def audited_mean(scores: RowScores, audit: Audit, known: "Knowledge", *, level: float, gate: float | None) -> MeanScore:
    """Mean true score, from the given scores of all rows and the true ones of a random sample of them.

    Parameters
    ----------
    scores : RowScores
        Of one system, or the difference of two.
    audit : Audit
        True scores, or true differences.
    known : Knowledge
    level : float
    gate : float, optional
        What the mean should exceed; asks for the p-value.

    Returns
    -------
    MeanScore

    Notes
    -----
    Without ``exact``, :func:`demele.classifiers.pooled_strata.pooled_strata`: measured to cover 94% or more of 95% from
    30 labels on. Of tasks with 20 labels or more each, the distances are added in quadrature.

    Examples
    --------
    >>> given = [1] * 1800 + [0] * 200
    >>> rows = [*range(90), *range(1800, 1810)]
    >>> audit = Audit(rows, [1] * 84 + [0] * 6 + [1] * 4 + [0] * 6, design="uniform")
    >>> mean = audited_mean(RowScores(given), audit, Knowledge(audit), level=0.95, gate=0.8)
    >>> print(f"{mean.value:.6f} [{mean.low:.6f}, {mean.high:.6f}], p = {mean.p_value:.6f}")
    0.880000 [0.814841, 0.926612], p = 0.009399
    """
    held, rows, true, inclusion = scored_rows(scores, audit)
    notes = _unscored(scores) + audit_alarms(scores, audit) + unclear_notes(audit.k, audit.unclear)
    if rows.size < FEW_AUDITED:
        notes += (Note(code="few-audited", message=f"only {rows.size} rows were audited", severity="warning"),)
    found, fits = audited_means(held, (rows, true, inclusion), known, level=level, gate=gate)
    if not fits:
        return replace(found, notes=notes)
    if known.inference == "population":
        notes += _group_notes(held)
    if len(fits) == 1 and held.task is not None:
        message = f"some task has fewer than {FEW_AUDITED} audited rows: rows of all tasks are pooled by their scores"
        notes += (Note(code="few-per-task", message=message),)
    strata: tuple[Stratum, ...] = ()
    if len(fits) == 1:
        parts = [held.given[own] for own in _parts(strata_of(_on_unit(held.given, held), rows.size))]
        own_strata = (
            Stratum(float(own.min()), float(own.max()), own.size, int(k), held.low + held.width * float(mean))
            for own, k, mean in zip(parts, fits[0].audited, fits[0].mean, strict=True)
        )
        strata = tuple(sorted(own_strata, key=lambda one: one.least))
    if held.given.min() == held.given.max():
        notes += (Note(code="judge-constant", message="all given scores are the same: audited rows alone tell"),)
    empty = sum(float(fit.share[fit.audited == 0].sum()) for fit in fits) / len(fits)
    if empty > 0:
        message = f"no row was audited in strata with {empty:.1%} of the rows; their given scores stand for them"
        notes += (Note(code="stratum-unaudited", message=message, severity="warning"),)
    if inclusion is not None and sum(float(fit.effective.sum()) for fit in fits) < UNEVEN * rows.size:
        message = "weights of audited rows differ much, so the interval may cover less; use `exact` on a uniform draw"
        notes += (Note(code="weights-uneven", message=message, severity="warning"),)
    if np.array_equal(true, held.given[rows]) and inclusion is None:
        rest = 1 - 0.025 ** (1 / rows.size)
        message = f"no audited score is wrong; {rows.size} rows leave {rest:.1%} of wrong scores open, to either side"
        notes += (Note(code="judge-nearly-perfect", message=message),)
    return replace(found, strata=strata, notes=notes)


def audited_means(
    held: RowScores,
    audit: AuditedRows,
    known: "Knowledge",
    *,
    level: float,
    gate: float | None,
    two_sided: bool = False,
) -> tuple[MeanScore, list[PooledStrata]]:
    """Return means of rows that have given scores, of shape (..., n), and the fits to strata that they come from."""
    (rows, true, inclusion), tail, population = audit, (1 - level) / 2, known.inference == "population"
    limit = None if gate is None else checked_gate(gate, held.low, held.high)
    if rows.size == held.n:
        whole = np.empty(held.given.shape)
        whole[..., rows] = true
        moved = known.expert_error * held.width
        right = changed(held, given=whole, down=np.zeros(whole.shape), up=np.zeros(whole.shape), verdicts=None)
        found = trusted_mean(right, level=level, gate=gate, two_sided=two_sided, moved=moved)
        if not population:  # nothing is left to chance
            low, high = np.maximum(found.value - moved, held.low), np.minimum(found.value + moved, held.high)
            sure = None if limit is None else np.where(found.statistic > 0, np.inf, -np.inf)[()]
            found = replace(found, low=low, high=high, statistic=sure)
        return replace(found, method="all rows audited", kind="design", given=held.given @ held.shares()), []
    unit, answers = (_on_unit(values, held) for values in (held.given, true))
    task, weighted, own = held.task, held.weight is not None, [np.arange(held.n)]
    weights = np.ones(1)
    if task is not None and np.bincount(task[rows], minlength=task.max() + 1).min() >= FEW_AUDITED:
        own, weights = _parts(task), np.bincount(task, held.shares()).astype(np.float64)
    else:  # all rows together
        weighted = weighted or task is not None
    fits = [fitted(held, part, audit, weighted=weighted, population=population) for part in own]
    value = np.sum([a * fit.value for a, fit in zip(weights, fits, strict=True)], axis=0)

    def reach(error: Any, *, below: bool) -> Floats:
        """Distance of all tasks, on the scale [0, 1]."""
        squared = [(a * fit.distance(error, below=below)) ** 2 for a, fit in zip(weights, fits, strict=True)]
        return np.asarray(np.sqrt(np.sum(squared, axis=0)))

    if known.exact:
        if inclusion is not None or any(one is not None for one in (held.task, held.weight, held.group)):
            raise InputError("exact", "is proved for rows that were drawn uniformly, without tasks, weights and groups")
        error, shift = sampling_error(tail, held.n, known.inference)
        proved = [
            exact_mean_ends(one, rows, answer, error)
            for one, answer in zip(unit.reshape(-1, held.n), answers.reshape(-1, rows.size), strict=True)
        ]
        shifts = np.array([-shift, shift])[(...,) + (None,) * np.ndim(value)]
        ends = np.reshape(proved, (*np.shape(value), 2)).T + shifts
    else:
        ends = value - reach(tail, below=True), value + reach(tail, below=False)
    moved = known.expert_error
    p_value = None
    if limit is not None and not known.exact:
        lead = value - _on_unit(limit, held)
        away, above = (np.abs(lead), lead > 0) if two_sided else (lead, True)
        p_value = smallest_tail(
            lambda error: np.where(above, reach(error, below=True), reach(error, below=False)), away - moved
        ) * (2 if two_sided else 1)
    low, high = (np.clip(end, 0, 1) for end in (ends[0] - moved, ends[1] + moved))
    bottom = top = None
    if inclusion is None and held.weight is None and held.task is None:
        _, bottom, top = prediction_powered(held.given, rows, true, tail=tail)
    return MeanScore(
        value=held.low + held.width * np.clip(value, 0, 1),
        low=held.low + held.width * low,
        high=held.low + held.width * high,
        level=level,
        method="betting" if known.exact else "pooled strata",
        kind="design",
        given=held.given @ held.shares(),
        tested=None if p_value is None else np.minimum(p_value, 1.0),
        asymptotic_low=bottom,
        asymptotic_high=top,
    ), fits


def scored_rows(scores: RowScores, audit: Audit, names: Sequence[str] | None = None) -> Any:
    """Return the rows with a given score, and which of these were audited, their true scores and probabilities."""
    rows, true, inclusion = judged_rows(audit, scores, names)
    scored = np.flatnonzero(scores.scored)
    return scores.take(scored), np.searchsorted(scored, rows), true, inclusion


def _on_unit(values: Any, scores: RowScores) -> Any:
    """Return scores, or a gate, on the scale from 0 to 1."""
    return (values - scores.low) / scores.width


def fitted(held: RowScores, own: Rows, audit: AuditedRows, *, weighted: bool, population: bool = True) -> PooledStrata:
    """Fit strata to some rows on the scale [0, 1], with the true scores and probabilities of those audited."""
    rows, true, inclusion = audit
    here = np.flatnonzero(np.isin(rows, own))
    groups = None if held.group is None or not population else np.unique(held.group[own], return_inverse=True)[1]
    if groups is not None and not groups.any():
        raise NotEnoughData("scores", ONE_GROUP)
    return pooled_strata(
        _on_unit(held.given[..., own], held),
        np.searchsorted(own, rows[here]),
        _on_unit(true[..., here], held),
        inclusion=None if inclusion is None else inclusion[here],
        weight=held.shares()[own] if weighted else None,
        population=population,
        groups=groups,
    )


def sampling_error(tail: float, n: int, inference: str) -> tuple[float, float]:
    """Return the error that a proof about ``n`` rows has left, and the largest sampling error of their mean in [0, 1].

    For new rows, half of the error is that of sampling.
    """
    if inference == "test_set":
        return tail, 0.0
    return tail / 2, normal_quantile(1 - tail / 2) / (2 * float(np.sqrt(n)))


# Notes ----------------------------------------------------------------------------------------------------------------


def checked_gate(gate: Any, low: float, high: float) -> float:
    """Check that a gate lies on the scale of the scores."""
    return checked_number(gate, "gate", f"a number in [{low:g}, {high:g}]", inside=lambda value: low <= value <= high)


def _unscored(scores: RowScores) -> tuple[Note, ...]:
    missing = scores.n - int(np.count_nonzero(scores.scored))
    if missing == scores.n:
        raise NotEnoughData("scores", "no row has a score")
    if not missing:
        return ()
    message = f"{missing} of {scores.n} rows ({missing / scores.n:.1%}) have no given score and are left out"
    if missing <= MANY_UNSCORED * scores.n:
        return (Note(code="unscored", message=message),)
    message += "; scores are rarely missing at random"
    return (Note(code="unscored", message=message, severity="warning"),)


def _group_notes(scores: RowScores) -> tuple[Note, ...]:
    if scores.group is None:
        return ()
    sizes = np.bincount(scores.group)
    if sizes.size < LEAST_GROUPS:
        raise NotEnoughData("group", f"expected {LEAST_GROUPS} groups, to represent new ones, got {sizes.size}")
    notes = []
    if sizes.size < FEW_GROUPS:
        notes.append(Note(code="few-groups", message=f"only {sizes.size} groups", severity="warning"))
    if sizes.max() > MOST * scores.n:
        share = f"one group holds {sizes.max()} of {scores.n} rows"
        notes.append(Note(code="one-group", message=share, severity="warning"))
    return tuple(notes)


# What is known of given scores of rows, and the means of systems and of their differences that follow -----------------

#: Scores of rows of pairs that are held at once.
MOST_CELLS = 1 << 21


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of given scores: true scores of some rows, the largest share of wrong ones, or that all are right.

    Attributes
    ----------
    audit : Audit or None
    rate : float or None
    inference : {"population", "test_set"}
        The mean of new rows, or of these.
    exact : bool
        Whether the interval is proved for any number of labels, and for stopping at any; it is 1.4 to 2.1 times as
        wide. About new rows, it is wider by the largest sampling error.
    expert_error : float
        Largest share of true scores that are wrong, in the worst case.
    """

    audit: Audit | None = None
    rate: float | None = None
    inference: Literal["population", "test_set"] = "population"
    exact: bool = False
    expert_error: float = 0.0

    @property
    def any(self) -> bool:
        """Whether anything is known."""
        return self.audit is not None or self.rate is not None

    def means(self, systems: Mapping[str, RowScores], *, level: float, gate: float | None) -> list[MeanScore]:
        """Return the mean of each system."""
        if self.audit is None:
            every = _together(systems)
            parts = list(systems.values()) if every is None else [every]
            found = [
                bounded_mean(one, self.rate, level=level, inference=self.inference)
                if self.rate
                else trusted_mean(one, level=level, gate=gate)
                for one in parts
            ]
            return found if every is None else found[0].parts()
        means: list[MeanScore] = []

        for name, one in systems.items():
            try:
                means.append(audited_mean(one, self.audit.of(name), self, level=level, gate=gate))
            except NotEnoughData as error:
                raise NotEnoughData("audit", f"{name}: {error.problem}", error.remedy) from error
        return means

    def differences(self, systems: Mapping[str, RowScores], pairs: tuple[Rows, Rows], *, level: float) -> MeanScore:
        """Return the differences of pairs, each on the rows that both have, NaN without any; p-values are two-sided."""
        found = list[MeanScore]()
        for every, names, (baseline, candidate) in self.blocks(systems, pairs):
            if self.audit is not None:
                try:
                    held, rows, true, inclusion = scored_rows(every, self.audit, names)
                except NotEnoughData:  # fewer than 2 rows have human scores of both
                    k = np.count_nonzero(~np.isnan([self.audit.scores_of(name) for name in names]).any(axis=0))
                    none, method = np.full(baseline.shape, np.nan), "betting" if self.exact else "pooled strata"
                    one = trusted_mean(every, level=level, pairs=(baseline, candidate))
                    tested = None if self.exact else np.ones(baseline.shape)
                    one = replace(one, value=none, low=none, high=none, method=method, kind="design", tested=tested)
                else:
                    known, k = (rows, true[candidate] - true[baseline], inclusion), rows.size
                    apart = held.apart(candidate, baseline)
                    one = audited_means(apart, known, self, level=level, gate=0.0, two_sided=True)[0]
                one = replace(one, audited=np.full(baseline.shape, k))
            elif self.rate:
                one = bounded_mean(every.apart(candidate, baseline), self.rate, level=level, inference=self.inference)
            else:
                one = trusted_mean(every, level=level, gate=0.0, pairs=(baseline, candidate), two_sided=True)
            found.append(one)
        return MeanScore.joined(found)

    def blocks(
        self, systems: Mapping[str, RowScores], pairs: tuple[Rows, Rows]
    ) -> Iterator[tuple[RowScores, tuple[str, ...], tuple[Rows, Rows]]]:
        """Yield systems that are stacked, with their names and pairs of them, as many at once as memory should hold."""
        names, held, every = tuple(systems), list(systems.values()), _together(systems)
        judged = np.isnan([] if self.audit is None else [self.audit.scores_of(name) for name in names])
        if every is not None and (judged == judged[:1]).all():
            step = max(1, MOST_CELLS // every.n if self.audit is not None or self.rate else pairs[0].size)
            for start in range(0, pairs[0].size, step):
                yield every, names, (pairs[0][start : start + step], pairs[1][start : start + step])
            return
        for i, j in zip(*(side.tolist() for side in pairs), strict=True):
            yield stacked([held[i], held[j]]), (names[i], names[j]), (np.array([0]), np.array([1]))


def _together(systems: Mapping[str, RowScores]) -> RowScores | None:
    """Stack systems; None if they have scores of different rows."""
    every = stacked(list(systems.values()))
    missing = np.isnan(every.given)
    return every if (missing == missing[0]).all() else None
