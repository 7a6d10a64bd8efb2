"""Means of row scores and of their differences: with given scores that are right, partly wrong, or audited."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from demele.classifiers.betting import enough, exact_mean_ends, score_wealth
from demele.classifiers.expert_errors import ExpertErrors
from demele.classifiers.intervals import drawn_p_value, place_p_value
from demele.classifiers.pooled_strata import PooledStrata, pooled_strata, prediction_powered, smallest_tail, strata_of
from demele.classifiers.row_groups import FEW_GROUPS, LEAST_GROUPS, MOST
from demele.classifiers.row_scores import RowScores, ScoreAudit, read_scores
from demele.core.arrays import Floats, Rows
from demele.core.checked_numbers import checked_level, checked_number
from demele.core.errors import InputError, NotEnoughData
from demele.core.kinds import Level, Rate, checked
from demele.core.names import checked_name
from demele.core.proportions import normal_quantile, score_interval
from demele.core.results import Interval, Note
from demele.core.row_blocks import numbered_rows
from demele.core.table_columns import as_column

#: Of fewer audited rows, a note says so; of fewer in a task, strata are pooled over tasks.
FEW_AUDITED = 20
#: A larger share of rows without a score is worth a warning.
MANY_UNSCORED = 0.05
#: Rows of uneven weights that are worth a smaller share of the audited rows are named.
UNEVEN = 0.7
#: Error of all checks of a random draw together, and of one claim.
ALARM = 0.001


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
    """The mean score of a system, or a mean difference, with its interval.

    Attributes
    ----------
    value, low, high, level : float
    method : str
        How the interval was made.
    kind : str
        What it covers: ``"sampling"`` (other rows), ``"design"`` (an audit), ``"identified"`` (wrong scores).
    given : float
        The mean given score.
    p_value : float or None
        One-sided, for "the mean is not above the gate"; None without a gate.
    expert_breakdown : float or None
        Largest share of wrong true scores with which the mean would still be shown to be above the gate.
    asymptotic : Interval or None
        Of PPI++, which needs many labels.
    strata : tuple of Stratum
    slope : float
        Of true on given scores within strata.
    degrees : float
        Degrees of freedom of the quantile; infinite for a normal one.
    notes : tuple of Note
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    kind: str = "sampling"
    given: float = float("nan")
    p_value: float | None = None
    expert_breakdown: float | None = None
    asymptotic: Interval | None = None
    strata: tuple[Stratum, ...] = ()
    slope: float = 0.0
    error: float = float("nan")
    degrees: float = float("inf")
    notes: tuple[Note, ...] = ()

    @property
    def interval(self) -> Interval:
        """The interval as that of other results."""
        return Interval(low=self.low, high=self.high, level=self.level, method=self.method, kind=self.kind)


# The given scores are taken as right ----------------------------------------------------------------------------------


def trusted_mean(scores: RowScores, *, level: float = 0.95, gate: float | None = None) -> MeanScore:
    """Mean of the given scores, taken as right, with the sampling of rows, of groups or of rows in tasks.

    Parameters
    ----------
    scores : RowScores
        Of one system, or the difference of two.
    level : float
    gate : float, optional
        What the mean should exceed.

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
    >>> round(mean.value, 6), round(mean.low, 6), round(mean.high, 6)
    (0.666667, 0.384682, 0.948652)
    """
    tail = (1 - checked_level(level)) / 2
    notes = _unscored(scores)
    held = scores.take(scores.scored)
    value, variance, degrees = _sampled(held, held.given)
    notes += _group_notes(held)
    error = float(np.sqrt(variance))
    binary = bool(np.isin(held.given, (held.low, held.high)).all()) and (held.low, held.high) != (-held.high, held.high)
    from scipy.special import stdtr

    if binary and held.group is None and held.task is None and held.weight is None:
        hits = float(np.count_nonzero(held.given == held.high))
        ends = [held.low + held.width * float(end) for end in score_interval(hits, held.n, level=level)]
        method = "score"
    else:
        reach = _quantile(tail, degrees) * error
        ends, method = [value - reach, value + reach], "t" if held.group is None else "t of groups"
    p_value = None
    if gate is not None:
        excess = value - _gate(scores, gate)
        p_value = float(stdtr(degrees, -excess / error)) if error > 0 else float(excess <= 0)
    return MeanScore(
        value=value,
        low=max(ends[0], scores.low),
        high=min(ends[1], scores.high),
        level=level,
        method=method,
        given=value,
        p_value=p_value,
        error=error,
        degrees=degrees,
        notes=notes,
    )


def _sampled(scores: RowScores, values: Floats) -> tuple[float, float, float]:
    """Return the mean of values, its variance and the degrees of freedom; of tasks, weighted rows and groups."""
    parts = list(sampling_terms(scores, values))
    variances = [count / (count - 1) * float(terms @ terms) for terms, count in parts]
    variance, squares = sum(variances), sum(v**2 / (count - 1) for v, (_, count) in zip(variances, parts, strict=True))
    degrees = variance**2 / squares if len(parts) > 1 and squares > 0 else float(parts[-1][1] - 1)
    return float(scores.shares() @ values), variance, degrees


def sampling_terms(scores: RowScores, values: Floats) -> Iterator[tuple[Floats, int]]:
    """Yield for each task what each row, or group, adds to the mean of values of shape (..., n), and their number.

    With T terms, the variance of the mean is the sum over tasks of T / (T - 1) times the sum of their squares.
    """
    shares = scores.shares()
    for rows in [np.arange(scores.n)] if scores.task is None else _parts(scores.task):
        own, held = shares[rows], values[..., rows]
        terms = own * (held - (held @ own / own.sum())[..., None])
        count = rows.size
        if scores.group is not None:
            codes = np.unique(scores.group[rows], return_inverse=True)[1]
            count = int(codes.max()) + 1
            sums = [np.bincount(codes, row) for row in terms.reshape(-1, rows.size)]
            terms = np.reshape(sums, (*terms.shape[:-1], count))
        if count < 2:
            raise NotEnoughData("scores", "expected at least 2 rows or groups in each task, got 1")
        yield terms, count


def _parts(codes: Rows) -> list[Rows]:
    return np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])


def _quantile(tail: float, degrees: float) -> float:
    from scipy.special import stdtrit

    return normal_quantile(1 - tail) if np.isinf(degrees) else -float(stdtrit(degrees, tail))


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
    codes, count = numbered_rows(item, "item", read.size, "values")
    kept = ~np.isnan(read)
    repeats = np.bincount(codes[kept], minlength=count)
    with np.errstate(invalid="ignore"):
        means = np.bincount(codes[kept], read[kept], minlength=count) / repeats
    squares = np.bincount(codes[kept], (read[kept] - means[codes[kept]]) ** 2, minlength=count)
    several = repeats > 1
    within = float((squares[several] / (repeats[several] - 1)).mean()) if several.any() else float("nan")
    scored = repeats > 0
    between = (
        max(float(means[scored].var(ddof=1)) - within * float((1 / repeats[scored]).mean()), 0.0)
        if scored.sum() > 1
        else float("nan")
    )
    column = as_column(item, "item")
    names = tuple(column[row] for row in np.unique(codes, return_index=True)[1].tolist())
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
    held = scores.take(scores.scored)
    shares = held.shares()
    ends = []
    for sign, moved in zip((-1, 1), held.reaches(unit), strict=True):
        count = int(rate * moved.size + 1e-9)
        worth = moved * np.tile(shares, moved.size // held.n)
        rows = np.argsort(-worth, kind="stable")[:count]
        change = np.bincount(rows % held.n, moved[rows], minlength=held.n)
        pattern = held.given + sign * change
        value, variance, degrees = _sampled(held, pattern)
        sampling = _quantile((1 - level) / 2, degrees) * np.sqrt(variance) if inference == "population" else 0.0
        ends.append(value + sign * sampling)
    return MeanScore(
        value=held.mean,
        low=max(ends[0], scores.low),
        high=min(ends[1], scores.high),
        level=level,
        method="bounded",
        kind="identified",
        given=held.mean,
        notes=_unscored(scores),
    )


def breakdown(scores: RowScores, *, gate: float = 0.0, unit: Literal["row", "verdict"] = "row") -> int | None:
    """Return the least number of wrong rows that takes the mean from its side of the gate to it; a tie is no lead.

    Parameters
    ----------
    scores : RowScores
        The difference of two systems; or one system, with a gate.
    gate : float
    unit : {"row", "verdict"}

    Returns
    -------
    int or None
        None if no number does.

    Examples
    --------
    >>> first, second = RowScores([1, 1, 1, 1, 0, 1, 1, 0, 1, 1]), RowScores([1, 0, 1, 0, 0, 1, 0, 0, 1, 1])
    >>> breakdown(first.minus(second)), breakdown(first.minus(second), unit="verdict")
    (2, 3)
    """
    held = scores.take(scores.scored)
    lead = held.mean - _gate(scores, gate)
    moved = held.reaches(unit)[0 if lead > 0 else 1]
    worth = -np.sort(-moved * np.tile(held.shares(), moved.size // held.n))
    enough = np.flatnonzero(np.cumsum(worth) >= abs(lead) - 1e-12)
    return 0 if abs(lead) <= 1e-12 else int(enough[0]) + 1 if enough.size else None


# True scores of a random sample of rows -------------------------------------------------------------------------------


@checked
def audited_mean(
    scores: RowScores,
    audit: ScoreAudit,
    *,
    level: Level = 0.95,
    inference: Literal["population", "test_set"] = "population",
    gate: float | None = None,
    exact: bool = False,
    expert_error: Rate = 0.0,
    expert_errors: ExpertErrors = "adversarial",
) -> MeanScore:
    """Mean true score, from the given scores of all rows and the true ones of a random sample of them.

    Parameters
    ----------
    scores : RowScores
        Of one system, or the difference of two.
    audit : ScoreAudit
        True scores, or true differences.
    level : float
    inference : {"population", "test_set"}
        The mean of new rows, or of these.
    gate : float, optional
        What the mean should exceed; asks for the p-value.
    exact : bool
        Whether the interval is proved for any number of labels, about these rows; it is 1.4 to 2.1 times as wide.
    expert_error : float
        Largest share of true scores that are wrong.
    expert_errors : {"adversarial", "random"}
        Wrong anywhere; or at random, each other level equally often, whatever the given score.

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
    >>> mean = audited_mean(RowScores(given), ScoreAudit(rows, [1] * 84 + [0] * 6 + [1] * 4 + [0] * 6), gate=0.8)
    >>> round(mean.value, 6), round(mean.low, 6), round(mean.high, 6), round(mean.p_value, 6)
    (0.88, 0.814841, 0.926612, 0.009399)
    """
    tail = (1 - level) / 2
    held, rows, true, inclusion = _scored(scores, audit)
    notes = _unscored(scores) + audit_alarms(scores, audit)
    population = inference == "population"
    if rows.size < FEW_AUDITED:
        notes += (Note(code="few-audited", message=f"only {rows.size} rows were audited", severity="warning"),)
    if rows.size == held.n:
        return replace(_all_audited(held, rows, true, level, population, gate, expert_error), notes=notes)
    unit, answers = (_on_unit(values, held) for values in (held.given, true))
    groups = held.group if population else None
    if groups is not None:
        notes += _group_notes(held)
    fits, weights = _fits(held, unit, rows, answers, inclusion, population, groups)
    if len(fits) == 1 and held.task is not None:
        message = (
            f"some task has fewer than {FEW_AUDITED} audited rows, so rows of all tasks are pooled by their scores"
        )
        notes += (Note(code="few-per-task", message=message),)
    value = float(sum(a * float(fit.value) for a, fit in zip(weights, fits, strict=True)))

    def reach(side: int, error: Any) -> Floats:
        """Distance of all tasks, on the scale [0, 1]."""
        squared = [(a * fit.distances(error)[side]) ** 2 for a, fit in zip(weights, fits, strict=True)]
        return np.asarray(np.sqrt(np.sum(squared, axis=0)))

    if exact:
        if inclusion is not None or held.task is not None or held.weight is not None or population:
            raise InputError(
                "exact",
                "is proved for rows that were drawn uniformly, one after the other, and about these rows",
                "use `inference='test_set'` without tasks and weights",
            )
        ends = exact_mean_ends(unit, rows, answers, tail)
    else:
        ends = value - float(reach(0, tail)), value + float(reach(1, tail))
    centre, kept = _random_errors(held, np.concatenate([unit, answers]), expert_error, expert_errors)
    moved = 0.0 if kept < 1 else expert_error
    p_value = room = None
    if gate is not None:
        limit = centre + kept * (_on_unit(_gate(scores, gate), held) - centre)
        room = max(ends[0] - limit, 0.0) if kept == 1 else None
        if not exact:
            p_value = smallest_tail(lambda error: reach(0, error), value - moved - limit)
    low, high = (float(np.clip(centre + (end - centre) / kept, 0, 1)) for end in (ends[0] - moved, ends[1] + moved))
    estimate = float(np.clip(centre + (value - centre) / kept, 0, 1))
    strata = _strata(fits, held, rows, unit) if len(fits) == 1 else ()
    notes += _audited_notes(fits, strata, held, rows, true, inclusion)
    asymptotic = None
    if inclusion is None and held.weight is None and held.task is None:
        _, bottom, top, _ = prediction_powered(held.given, rows, true, tail=tail)
        asymptotic = Interval(low=bottom, high=top, level=level, method="PPI++ (asymptotic)", kind="design")
    return MeanScore(
        value=held.low + held.width * estimate,
        low=held.low + held.width * low,
        high=held.low + held.width * high,
        level=level,
        method="betting" if exact else "pooled strata",
        kind="design",
        given=held.mean,
        p_value=p_value,
        expert_breakdown=room,
        asymptotic=asymptotic,
        strata=strata,
        slope=fits[0].slope,
        notes=notes,
    )


def known_mean(
    scores: RowScores,
    audit: ScoreAudit | None,
    *,
    rate: float | None,
    level: float,
    inference: Literal["population", "test_set"] = "population",
    gate: float | None = None,
    **audited: Any,
) -> MeanScore:
    """Return the mean by what is known of the scores: an audit, the largest share of wrong ones, or that all are right.

    ``audited``: further arguments of :func:`audited_mean`.
    """
    if audit is not None:
        return audited_mean(scores, audit, level=level, inference=inference, gate=gate, **audited)
    if rate:
        return bounded_mean(scores, rate, level=level, inference=inference)
    return trusted_mean(scores, level=level, gate=gate)


def _scored(scores: RowScores, audit: ScoreAudit) -> tuple[RowScores, Rows, Floats, Floats | None]:
    """Return the rows with a given score, and which of these were audited, their true scores and probabilities."""
    rows, true, inclusion = audit.judged(scores)
    scored = np.flatnonzero(scores.scored)
    return scores.take(scored), np.searchsorted(scored, rows), true, inclusion


def _on_unit(values: Any, scores: RowScores) -> Any:
    """Return scores, or a gate, on the scale from 0 to 1."""
    return (values - scores.low) / scores.width


def _all_audited(
    held: RowScores, rows: Rows, true: Floats, level: float, population: bool, gate: float | None, share: float
) -> MeanScore:
    """Return the mean of true scores of all rows."""
    whole = np.empty(held.n)
    whole[rows] = true
    moved = share * held.width
    beyond = None if gate is None else min(_gate(held, gate) + moved, held.high)
    found = trusted_mean(held.with_given(whole), level=level, gate=beyond)
    if not population:
        sure = None if beyond is None else float(found.value <= beyond)
        found = replace(found, low=found.value, high=found.value, p_value=sure)
    low, high = max(found.low - moved, held.low), min(found.high + moved, held.high)
    return replace(found, low=low, high=high, method="all rows audited", kind="design", given=held.mean)


def _fits(
    held: RowScores,
    unit: Floats,
    rows: Rows,
    true: Floats,
    inclusion: Floats | None,
    population: bool,
    groups: Rows | None,
) -> tuple[list[PooledStrata], Floats]:
    """Fit each task with enough audited rows, else all rows together; and what each fit counts."""
    shares = held.shares()
    weighted = held.weight is not None
    if held.task is not None and np.bincount(held.task[rows], minlength=held.task.max() + 1).min() >= FEW_AUDITED:
        fits = []
        for own in _parts(held.task):
            here = np.flatnonzero(np.isin(rows, own))
            fits.append(
                pooled_strata(
                    unit[own],
                    np.searchsorted(own, rows[here]),
                    true[here],
                    inclusion=None if inclusion is None else inclusion[here],
                    weight=shares[own] if weighted else None,
                    population=population,
                    groups=None if groups is None else np.unique(groups[own], return_inverse=True)[1],
                )
            )
        return fits, np.bincount(held.task, shares).astype(np.float64)
    weight = shares if weighted or held.task is not None else None
    fit = pooled_strata(unit, rows, true, inclusion=inclusion, weight=weight, population=population, groups=groups)
    return [fit], np.ones(1)


def _strata(fits: list[PooledStrata], held: RowScores, rows: Rows, unit: Floats) -> tuple[Stratum, ...]:
    codes, sums = strata_of(unit, rows.size), fits[0].sums
    parts = [held.given[own] for own in _parts(codes)]
    return tuple(
        Stratum(float(own.min()), float(own.max()), own.size, int(k), held.low + held.width * float(mean))
        for own, k, mean in sorted(zip(parts, sums.audited, sums.mean, strict=True), key=lambda one: one[0].min())
    )


def _random_errors(scores: RowScores, values: Floats, share: float, errors: ExpertErrors) -> tuple[float, float]:
    """Return the mean of the levels and what random errors leave of the distance from it; (0, 1) for other errors."""
    checked_name(errors, "expert_errors", ("adversarial", "random"))
    if errors == "adversarial":
        return 0.0, 1.0
    if scores.verdicts is not None:
        raise InputError("expert_errors", "'random' is for the mean of one system; use 'adversarial' for a difference")
    levels = np.unique(np.round(values, 12))
    kept = 1 - share * levels.size / (levels.size - 1)
    if kept <= 0:
        raise InputError(
            "expert_error",
            f"humans who are wrong so often at random are no better than a guess among {levels.size} levels",
        )
    return float(levels.mean()), kept


@dataclass(frozen=True, slots=True)
class SequentialMean:
    """What labels that came one at a time show of a mean score.

    Attributes
    ----------
    verdict : {"above", "below", "inconclusive"}
        Where the mean is shown to be, seen from the gate.
    labels : int or None
        Labels after which that was shown first.
    above, below : arrays of shape (k,)
        Evidence for either after each label: shown once it reaches ``needed``.
    needed : float
    """

    verdict: Literal["above", "below", "inconclusive"]
    labels: int | None
    above: Floats
    below: Floats
    needed: float


def sequential_mean(
    scores: RowScores,
    audit: ScoreAudit,
    *,
    gate: float,
    level: float = 0.95,
    inference: Literal["population", "test_set"] = "test_set",
) -> SequentialMean:
    """Decide on which side of a gate a mean true score lies, with labels in the order drawn; stop whenever you like.

    Parameters
    ----------
    scores : RowScores
        Of one system, or the difference of two.
    audit : ScoreAudit
        True scores in the order in which the rows were drawn, uniformly without replacement.
    gate : float
    level : float
        Each side errs with probability (1 - level) / 2 at most, however many labels come.
    inference : {"test_set", "population"}
        The mean of these rows, or of new ones: the gate is then moved by the largest sampling error, at half the error.

    Returns
    -------
    SequentialMean

    Notes
    -----
    Evidence is the logarithm of the wealth of bets (:func:`demele.classifiers.betting.score_wealth`): Ville 1939.

    Examples
    --------
    >>> found = sequential_mean(RowScores([1] * 200), ScoreAudit(list(range(60)), [1] * 60), gate=0.9)
    >>> found.verdict, found.labels
    ('above', 42)
    """
    tail = (1 - checked_level(level)) / 2
    checked_name(inference, "inference", ("population", "test_set"))
    held, rows, true, inclusion = _scored(scores, audit)
    if inclusion is not None or scores.weight is not None or scores.task is not None:
        raise InputError("audit", "labels one at a time are for rows drawn uniformly, without tasks and weights")
    shift, error = 0.0, tail
    if inference == "population":
        error = tail / 2
        shift = normal_quantile(1 - error) / (2 * float(np.sqrt(held.n)))
    at = _on_unit(_gate(scores, gate), held)
    unit, answers = (_on_unit(values, held) for values in (held.given, true))
    above = score_wealth(unit, rows, answers, at + shift)
    below = score_wealth(1 - unit, rows, 1 - answers, 1 - at + shift)
    needed = enough(error)
    first = {side: np.flatnonzero(wealth >= needed) for side, wealth in (("above", above), ("below", below))}
    shown = {side: int(places[0]) + 1 for side, places in first.items() if places.size}
    if not shown:
        return SequentialMean("inconclusive", None, above, below, needed)
    side = min(shown, key=lambda one: shown[one])
    return SequentialMean("above" if side == "above" else "below", shown[side], above, below, needed)


# Notes ----------------------------------------------------------------------------------------------------------------


def _gate(scores: RowScores, gate: Any) -> float:
    return checked_number(
        gate,
        "gate",
        f"a number in [{scores.low:g}, {scores.high:g}]",
        inside=lambda value: scores.low <= value <= scores.high,
    )


def _unscored(scores: RowScores) -> tuple[Note, ...]:
    missing = scores.n - int(np.count_nonzero(scores.scored))
    if missing == scores.n:
        raise NotEnoughData("scores", "no row has a score")
    if not missing:
        return ()
    message = f"{missing} of {scores.n} rows ({missing / scores.n:.1%}) have no given score and are left out"
    many = missing > MANY_UNSCORED * scores.n
    if many:
        message += "; scores are rarely missing at random"
    return (Note(code="unscored", message=message, severity="warning" if many else "info"),)


def _group_notes(scores: RowScores) -> tuple[Note, ...]:
    if scores.group is None:
        return ()
    sizes = np.bincount(scores.group)
    if sizes.size < LEAST_GROUPS:
        raise NotEnoughData(
            "group", f"expected at least {LEAST_GROUPS} groups, got {sizes.size}: so few do not represent new groups"
        )
    notes = []
    if sizes.size < FEW_GROUPS:
        notes.append(Note(code="few-groups", message=f"only {sizes.size} groups", severity="warning"))
    if sizes.max() > MOST * scores.n:
        message = f"one group holds {sizes.max()} of {scores.n} rows"
        notes.append(Note(code="one-group", message=message, severity="warning"))
    return tuple(notes)


def _audited_notes(
    fits: list[PooledStrata],
    strata: tuple[Stratum, ...],
    held: RowScores,
    rows: Rows,
    true: Floats,
    inclusion: Floats | None,
) -> tuple[Note, ...]:
    notes = []
    if held.given.min() == held.given.max():
        message = "all given scores are the same, so only the audited rows tell anything"
        notes.append(Note(code="judge-constant", message=message))
    empty = sum(float(fit.sums.share[fit.sums.audited == 0].sum()) for fit in fits) / len(fits)
    if empty > 0:
        message = f"no row was audited in strata with {empty:.1%} of the rows; their given scores stand for them"
        notes.append(Note(code="stratum-unaudited", message=message, severity="warning"))
    if inclusion is not None and sum(float(fit.sums.effective.sum()) for fit in fits) < UNEVEN * rows.size:
        message = (
            "weights of the audited rows differ much, so the interval may cover less; use `exact` on a uniform draw"
        )
        notes.append(Note(code="weights-uneven", message=message, severity="warning"))
    if np.array_equal(true, held.given[rows]) and inclusion is None:
        rest = 1 - 0.025 ** (1 / rows.size)
        message = f"no audited score is wrong; {rows.size} rows leave {rest:.1%} of wrong scores open, to either side"
        notes.append(Note(code="judge-nearly-perfect", message=message))
    return tuple(notes)


def audit_alarms(scores: RowScores, audit: ScoreAudit) -> tuple[Note, ...]:
    """Say whether an audit that is declared uniform looks like one: by given score, place, task and group.

    The true scores are never looked at. A choice by what neither the scores nor the order shows is not seen.

    Examples
    --------
    >>> given = [0] * 215 + [1] * 985
    >>> len(audit_alarms(RowScores(given), ScoreAudit([*range(40), *range(215, 295)], [1] * 120)))
    1
    """
    if audit.inclusion is not None or audit.selective:
        return ()
    scored = np.flatnonzero(scores.scored)
    held, rows = scores.take(scored), np.searchsorted(scored, audit.rows[scores.scored[audit.rows]])
    n, k = held.n, rows.size
    found = [(place_p_value(rows, n), f"their mean row number is {rows.mean():.1f}, {(n - 1) / 2:.1f} expected", True)]
    columns = {"given score": strata_of(held.given, k), "task": held.task, "group": held.group}
    for name, codes in columns.items():
        if codes is None:
            continue
        sizes, drawn = np.bincount(codes), np.bincount(codes[rows], minlength=int(codes.max()) + 1)
        which = np.arange(sizes.size) if name == "given score" else np.array([sizes.argmax()])
        for code, p in zip(which, drawn_p_value(sizes[which], drawn[which], n, k).tolist(), strict=True):
            words = f"{drawn[code]} of {k} audited rows are of one {name}, {sizes[code] * k / n:.3g} expected"
            found.append((p, words, name != "given score"))
    p, words, harmful = min(found, key=lambda one: one[0])
    if p * len(found) > ALARM:
        return ()
    effect = "the estimate may be wrong" if harmful else "the estimate allows for this"
    message = f"the audited rows do not look like a uniform draw: {words} (p = {p:.1e}); {effect}"
    return (Note(code="audit-not-uniform", message=message, severity="warning"),)
