"""The interval of a mean score from an audit: strata by the given score, pooled by the side on which rows can err.

A sum of what is missing to the best score is a sum over few events, so its law is skewed: that of a count. Strata with
a high mean are added up by what is missing to the top, the others by what is above the bottom. A beta distribution is
fitted to each of the two sums, with half a row more that stands for the event that the audit has not met.

All scores are on [0, 1] here. Arrays are of shape (..., n_strata): leading axes are separate problems, such as pairs.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from demele.classifiers.question import Groups
from demele.core.arrays import Floats, Rows
from demele.noise.audit import CodedAudit

#: Amounts below this are rounding.
TINY = 1e-12
#: Normal quantiles between which a p-value is looked for.
NEAREST, FARTHEST = 1e-6, 8.0
#: A stratum with fewer audited rows stands on the side of most rows.
FEW_IN_STRATUM = 4
#: Audited rows for each stratum, and the least and the largest number of strata.
ROWS_PER_STRATUM, LEAST_STRATA, MOST_STRATA = 15, 3, 5


def strata_of(scores: Floats, k: int) -> Rows:
    """Return the stratum of each row, from 0 on: by its given score, for ``k`` audited rows.

    Each value is a stratum if there are few. Otherwise those that many rows have are, and the other rows are cut in
    the order of their scores at equal counts.

    Examples
    --------
    >>> strata_of(np.array([0.0, 1.0, 1.0, 0.5]), 30)
    array([0, 2, 2, 1])
    """
    most = max(LEAST_STRATA, min(MOST_STRATA, k // ROWS_PER_STRATUM))
    values, codes, counts = np.unique(np.round(scores, 12), return_inverse=True, return_counts=True)
    if values.size <= most:
        return codes.astype(np.intp)
    heavy = np.flatnonzero(counts * most >= scores.size)
    heavy = heavy[np.argsort(-counts[heavy], kind="stable")][: most - 1]
    light = counts.copy()
    light[heavy] = 0
    parts = most - heavy.size
    stratum = parts * (2 * np.cumsum(light) - light) // (2 * light.sum())
    stratum[heavy] = parts + np.arange(heavy.size)
    return np.unique(stratum[codes], return_inverse=True)[1].astype(np.intp)


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledStrata:
    """The mean true score of all rows, as an audit shows it.

    Attributes
    ----------
    share : array
        Share of all rows (or of their weight) in each stratum, times how far their scores can differ; 0 for none.
    audited : array
        Audited rows.
    effective : array
        As many rows as these are worth: as many, unless their weights differ.
    mean : array
        Weighted mean true score of the audited rows, adjusted by the slope; the mean given score without a row.
    squares, centre, spread : arrays
        Sum of (w/g)^2 over the audited rows, the mean of their scores x with these weights, and the sum of
        (w/g)^2 (x - centre)^2, where g is the weight of an unseen row.
    least, most : arrays
        Least and largest x of the audited rows.
    between : array
        Variance of the predicted true scores over rows, divided by the number of rows: the sampling of the rows. 0 if
        the result is about these rows alone.
    left : array
        Share of each stratum that was not audited, if the result is about these rows alone; else 1.
    effect : array
        Design effect of rows in groups; 1 for rows apart.
    groups : int or None
        Number of groups, if rows come in groups.
    known : array
        What scores that are known, and the least scores of the strata, add to the mean.
    step : float
        What one more row may move the mean, if it cannot take every value.
    rows : int, optional
        All audited rows, if others than those of the strata were audited.
    open : bool
        Whether a stratum without an audited row may have any mean, up to both ends.
    whole : bool
        Whether an unseen row counts whole, rather than half: where weights differ, light rows say little of heavy ones.
    added : bool
        Whether the distances of the two groups of strata are added up, and not their squares: both may be wrong for
        one reason.
    """

    share: Floats
    audited: Floats
    effective: Floats
    mean: Floats
    squares: Floats
    centre: Floats
    spread: Floats
    least: Floats
    most: Floats
    between: Floats
    left: Floats
    effect: Floats | float = 1.0
    groups: int | Rows | None = None
    known: Floats | float = 0.0
    step: float = 0.0
    rows: int | None = None
    open: bool = False
    whole: bool = False
    added: bool = False

    @property
    def value(self) -> Floats:
        """The estimate; within [0, 1] unless a slope takes it beyond."""
        return np.asarray((self.share * self.mean).sum(axis=-1) + self.known)

    def distance(self, tail: Any, *, below: bool) -> Floats:
        """How far the true mean may lie below, or above, the estimate, at an error of ``tail``."""
        from scipy.special import ndtri, stdtrit

        tail = np.asarray(tail, dtype=np.float64)
        z = -ndtri(tail)
        likely = np.clip((self.effective * self.mean + 0.5) / (self.effective + 1), 0, 1)
        likely = np.where(self.audited > 0, likely, 0.5)
        # Strata of a high mean are added up by what is missing to the top; those of few rows as most rows are.
        middle = (self.share * (likely - 0.5)).sum(axis=-1, keepdims=True) > 0
        upper = np.where(self.audited < FEW_IN_STRATUM, middle, likely > 0.5)
        mirrored = 1 - self.mean, 1 - self.centre, 1 - self.most, 1 - self.least
        top = self._reach(mirrored, upper, 1 - likely, tail, up=below)
        bottom = self._reach((self.mean, self.centre, self.least, self.most), ~upper, likely, tail, up=not below)
        squared = (top + bottom) ** 2 if self.added else top**2 + bottom**2
        squared = squared + (self.sampled(tail) ** 2 if self.step else z**2 * self.between)
        used = np.count_nonzero(self.share > 0, axis=-1)
        degrees = np.maximum((self.audited.sum(axis=-1) if self.rows is None else self.rows) - used, 1)
        wider = -stdtrit(degrees, tail) / z * np.sqrt(self.effect)
        if self.groups is not None:
            wider = wider * -stdtrit(self.groups - 1, tail) / z
        return np.asarray(np.sqrt(squared) * wider)

    def sampled(self, tail: Any) -> Floats:
        """How far the sampling of the rows alone may move the mean."""
        from scipy.special import ndtri

        return np.asarray(-ndtri(tail) * np.sqrt(self.between) + self.step)

    def _reach(self, scores: tuple[Floats, ...], inside: Any, likely: Floats, tail: Floats, *, up: bool) -> Floats:
        """How far the sum of shares times means of some strata may lie above its estimate, or below."""
        of_audited, centre, least, most = scores
        share = np.where(inside & (self.left > 0), self.share, 0.0)
        size = share.sum(axis=-1)
        several = np.count_nonzero(share > 0, axis=-1, keepdims=True) >= 2
        known = self.audited > 0
        # Half a row at either end; a whole one at the top, if no event was met.
        met = np.asarray((((most > TINY) | (least < -TINY)) & (share > 0) & known).any(axis=-1, keepdims=True))
        whole = np.asarray(up & ~met) | self.whole
        more = np.where(whole, float(up), 0.5) * _shares(share * (1 - likely), share)
        fewer = np.where(whole, float(not up), 0.5) * _shares(share * likely, share)
        rows = self.effective + more + fewer
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (self.effective * of_audited + more) / rows
            squared = self.spread + self.squares * (centre - mean) ** 2
            squared += more * (1 - mean) ** 2 + fewer * mean**2
            variance = squared / rows / np.where(several, np.maximum(rows - 1, 1), rows + 1)
        mean = np.where(known, mean, float(up) if self.open else 0.5)
        variance = np.where(known, variance, 0.0 if self.open else 1 / 12) * self.left
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = np.where(size > 0, (share * mean).sum(axis=-1) / size, 0.0)
            spread = np.where(size > 0, (share**2 * variance).sum(axis=-1) / size**2, 0.0)
        end = size * beta_quantile(middle, spread, 1 - tail if up else tail)
        if self.open and not up:
            end = np.where(met[..., 0], end, 0.0)
        seen = (share * of_audited).sum(axis=-1)
        return np.asarray(np.maximum(end - seen if up else seen - end, 0))

    def ends(self, tail: Any) -> tuple[Floats, Floats]:
        """Return the interval."""
        low, high = self.value - self.distance(tail, below=True), self.value + self.distance(tail, below=False)
        return np.clip(low, 0, 1), np.clip(high, 0, 1)


def smallest_tail(distance: Callable[[Floats], Floats], excess: Any) -> Floats:
    """Return the error at which a distance, which grows as the error falls, is the excess; 1 where there is none.

    Examples
    --------
    >>> from scipy.special import ndtri
    >>> smallest_tail(lambda tail: -ndtri(tail), np.array([1.959964, -1.0])).round(6)
    array([0.025, 1.   ])
    """
    from scipy.special import ndtr

    excess = np.asarray(excess, dtype=np.float64)

    def short(z: Floats) -> Floats:
        """By how much the distance at a normal quantile exceeds the excess."""
        return np.asarray(distance(ndtr(-z)) - excess)

    z = crossing(short, np.full(excess.shape, NEAREST), np.full(excess.shape, FARTHEST))
    return np.where(excess > 0, ndtr(-z), 1.0)


def _shares(weights: Floats, otherwise: Floats) -> Floats:
    """Scale weights to sum to 1; those of ``otherwise`` where all are 0."""
    total = weights.sum(axis=-1, keepdims=True)
    base = otherwise.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(total > 0, weights / total, np.where(base > 0, otherwise / base, 0.0)))


def beta_quantile(mean: Floats, variance: Floats, probability: Floats) -> Floats:
    """Quantile of the beta distribution on [0, 1] with this mean and variance, also where there is none.

    Examples
    --------
    >>> beta_quantile(np.array([0.5, 0.5]), np.array([1 / 12, 0]), np.array([0.25, 0.25])).round(6)
    array([0.25, 0.5 ])
    """
    from scipy.special import betaincinv

    with np.errstate(divide="ignore", invalid="ignore"):
        size = mean * (1 - mean) / variance - 1
    proper = (variance > 1e-18) & (mean > TINY) & (mean < 1 - TINY) & (size > 0)
    a, b = np.where(proper, mean * size, 1.0), np.where(proper, (1 - mean) * size, 1.0)
    inner = betaincinv(a, b, probability)
    end = np.where(mean <= TINY, 0.0, np.where(mean >= 1 - TINY, 1.0, np.where(probability < 0.5, 0.0, 1.0)))
    return np.where(variance <= 1e-18, mean, np.where(proper, inner, end))


def pooled_strata(
    given: Floats,
    rows: Rows,
    true: Floats,
    *,
    inclusion: Floats | None = None,
    weight: Floats | None = None,
    population: bool = True,
    groups: Rows | None = None,
) -> PooledStrata:
    """Fit strata to the given scores of all rows, and to the true scores of the audited ones.

    Parameters
    ----------
    given : array of shape (..., n)
        Given scores in [0, 1]; leading axes are separate problems, which share the rows.
    rows : array of shape (k,)
        Audited rows.
    true : array of shape (..., k)
        Their true scores in [0, 1].
    inclusion : array of shape (k,), optional
        Probability that each was to be drawn (default: the same for all).
    weight : array of shape (n,), optional
        What each row counts in the mean (default: the same for all).
    population : bool
        Whether the result is about new rows; else about these.
    groups : array of shape (n,), optional
        Group of each row, from 0.

    Notes
    -----
    Source: the interval was chosen by simulation of 144 worlds; Fay and Feuer 1997 for the pooling of strata.
    """
    lead, n, k = given.shape[:-1], given.shape[-1], rows.size
    scores, known = given.reshape(-1, n), true.reshape(-1, k)
    own = np.full(n, 1 / n) if weight is None else weight / weight.sum()
    drawn = np.ones(k) if inclusion is None else 1 / inclusion
    if weight is not None:
        drawn = drawn * own[rows] * n
    stratum = np.array([strata_of(one, k) for one in scores])
    count, m = int(stratum.max()) + 1, len(scores)
    cells = stratum + count * np.arange(m)[:, None]
    here = cells[:, rows]

    def total(values: Floats, among: Rows = here) -> Floats:
        summed = np.bincount(among.ravel(), np.broadcast_to(values, among.shape).ravel(), minlength=m * count)
        return summed.reshape(m, count).astype(np.float64)

    def at(values: Floats, among: Rows = here) -> Floats:
        return values.ravel()[among]

    size_of = total(np.ones(n), cells)
    held = size_of if weight is None else total(own, cells)
    share = size_of / n if weight is None else held
    mean_given = total(own * scores, cells) / np.where(held > 0, total(own, cells), 1.0)
    audited, sums = total(np.ones(k)), total(drawn)
    divisor = np.where(audited > 0, sums, 1.0)
    judged = scores[:, rows]
    mean_judged, mean_true = total(drawn * judged) / divisor, total(drawn * known) / divisor
    moved = judged - at(mean_judged)
    size = (drawn * moved**2).sum(axis=1, keepdims=True)
    shared = (drawn * moved * (known - at(mean_true))).sum(axis=1, keepdims=True)
    slope = np.where(size >= TINY, np.clip(shared / np.maximum(size, TINY), 0, 1), 0.0)
    x = known - slope * (judged - at(mean_given))
    mean = np.where(audited > 0, mean_true - slope * (mean_judged - mean_given), mean_given)
    unseen = np.where(audited > 0, total(drawn**2) / divisor, 1.0)
    squared = (drawn / at(unseen)) ** 2
    squares = total(squared)
    centre = total(squared * x) / np.where(audited > 0, squares, 1.0)
    least, most = np.full(m * count, np.inf), np.full(m * count, -np.inf)
    np.minimum.at(least, here, x)
    np.maximum.at(most, here, x)
    value = (share * mean).sum(axis=1, keepdims=True)
    within = (own * scores**2).sum(axis=1, keepdims=True) - (share * mean_given**2).sum(axis=1, keepdims=True)
    between = (share * (mean - value) ** 2).sum(axis=1, keepdims=True) + slope**2 * within
    effect, n_groups = np.ones(m), None
    if groups is not None and population:
        error = at(mean, cells) + slope * (scores - at(mean_given, cells)) - value
        if weight is not None:
            error = error * own * n
        error[:, rows] += at(share * n / divisor) * drawn * (x - at(mean))
        n_groups = int(groups.max()) + 1
        places = groups + n_groups * np.arange(m)[:, None]
        summed = np.bincount(places.ravel(), error.ravel(), minlength=m * n_groups).reshape(m, n_groups)
        together, alone = (summed**2).sum(axis=1), (error**2).sum(axis=1)
        wider = n_groups / (n_groups - 1) * together / np.where(alone > 0, alone, 1.0)
        effect = np.where(alone > 0, np.maximum(wider, 1.0), 1.0)

    parts: dict[str, Any] = {"share": share, "audited": audited, "effective": sums / unseen, "mean": mean}
    parts |= {"squares": squares, "centre": centre, "least": least, "most": most}
    parts["spread"] = total(squared * (x - at(centre)) ** 2)
    left = np.ones((m, count)) if population else 1 - audited / np.maximum(size_of, 1)
    return PooledStrata(
        **{name: part.reshape(*lead, -1) for name, part in parts.items()},
        between=(np.maximum(between, 0.0) * float(own @ own) * population).reshape(lead),
        left=left.reshape(*lead, -1),
        effect=effect.reshape(lead),
        groups=n_groups,
    )


def prediction_powered(given: Floats, rows: Rows, true: Floats, *, tail: float = 0.025) -> tuple[Floats, ...]:
    """Return the estimate and both ends of PPI++ for a uniform draw; scores on any scale.

    Arrays are of shape (..., n) and (..., k), as those of :func:`pooled_strata`.

    Notes
    -----
    Source: Angelopoulos, Duchi and Zrnic 2023, with the plug-in coefficient, cut to [0, 1]; as ``ppi_py`` has it: the
    covariance has the divisor k, the variance of the given scores N - 1, the variances of the interval k and N - k. It
    is asymptotic: with few labels and rare errors it covers far less than its level.

    Examples
    --------
    >>> given, true = np.tile([1.0, 1, 0, 1], 5), np.tile([1.0, 0, 0, 1], 2)
    >>> [round(float(number), 4) for number in prediction_powered(given, np.arange(8), true)]
    [0.5, 0.19, 0.81]
    """
    from scipy.special import ndtri

    k, others = rows.size, given.shape[-1] - rows.size
    f, u = given[..., rows], np.delete(given, rows, axis=-1)
    spread = given.var(axis=-1, ddof=1) * (1 + k / others)
    covariance = ((true - true.mean(axis=-1, keepdims=True)) * (f - f.mean(axis=-1, keepdims=True))).mean(axis=-1)
    coefficient = np.where(spread > 0, np.clip(covariance / np.where(spread > 0, spread, 1.0), 0, 1), 0.0)
    left = true - coefficient[..., None] * f
    value = coefficient * u.mean(axis=-1) + left.mean(axis=-1)
    variance = coefficient**2 * u.var(axis=-1) / others + left.var(axis=-1) / k
    reach = -ndtri(tail) * np.sqrt(variance)
    return value, value - reach, value + reach


# Rows in cells, and what a random audit says of them ------------------------------------------------------------------
#
# Rows with the same predictions and the same given label make a cell. Truly, each has one of a few outcomes, such as
# right or wrong, and each outcome adds a number to a measure. So a cell is a stratum of scores for
# :mod:`demele.classifiers.pooled_strata`, and its scores can differ by as much as its outcomes do.

#: Groups that are taken to have a row in a cell, at least: with fewer, the t quantile would let nothing be shown.
LEAST_MET = 4
#: Steps in which the end of an interval, or a p-value, is looked for.
STEPS = 60


@dataclass(frozen=True, slots=True)
class Cells:
    """Rows in cells, and audited rows by cell and outcome; leading axes are separate problems.

    Attributes
    ----------
    size : array of shape (..., cells)
    seen : array of shape (3, ..., cells, outcomes), or (4, ...)
        Sums of 1, w, w^2 and, if weights are uneven, w^3 over the audited rows; w = 1 / the probability to be drawn.
    given : array of int of shape (cells,)
        Outcome by the given label.
    n, k : int
        All rows, and all audited ones; rows in no cell add nothing to the measure.
    uneven : bool
        Whether weights differ within a cell.
    kind : int, or array of int of shape (cells,)
        Rows of cells of one kind may be as heavy as each other.
    cell, outcome : arrays of int of shape (..., n) and (..., k)
        Cell of every row, or -1, and outcome of every audited row; empty where only counts are known.
    """

    size: Floats
    seen: Floats
    given: Rows
    n: int
    k: int
    uneven: bool = False
    kind: Rows | int = 0
    cell: Rows = field(default_factory=lambda: np.zeros(0, np.intp))
    outcome: Rows = field(default_factory=lambda: np.zeros(0, np.intp))

    def fit(self, values: Floats, *, population: bool) -> PooledStrata:
        """Return the mean over rows of the ``values`` of their outcomes, of shape (..., cells, outcomes).

        Notes
        -----
        Weights that differ leave rows unseen that may be as heavy as those of any cell. So an unseen row weighs g, the
        largest of cells of its kind of the mean of w by w (w - 1), by which rows leave the sum uncertain; it counts
        whole, and 1 - (g + sum w) / (g^2 + sum w^2) is the share left.
        """
        low = values.min(axis=-1)
        width = values.max(axis=-1) - low
        count, weight, square = self.seen[:3]
        share, audited, sums, squares = self.size / self.n, count.sum(-1), weight.sum(-1), square.sum(-1)
        met = audited > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.where(width[..., None] > 0, (values - low[..., None]) / width[..., None], 0.0)
            given = score[..., np.arange(self.given.size), self.given]
            mean = np.where(met, (weight * score).sum(axis=-1) / sums, given)
            centre = np.where(met, (square * score).sum(axis=-1) / squares, 0.0)
            unseen = np.where(met, squares / sums, 1.0)
            drawn = np.where(met, audited / self.size, 0.0)
            if self.uneven:
                spare, cubes = squares - sums, self.seen[3].sum(axis=-1)
                unseen = np.where(spare > TINY, (cubes - squares) / spare, unseen)
                kind = np.broadcast_to(self.kind, self.given.shape)
                unseen = np.where(kind == kind[:, None], unseen[..., None, :], 0.0).max(axis=-1)
                drawn = np.where(met & (drawn < 1), (sums + unseen) / (squares + unseen**2), drawn)
        moved = low + width * mean
        value = (share * moved).sum(axis=-1)
        between = (share * (moved - value[..., None]) ** 2).sum(axis=-1) + (1 - share.sum(axis=-1)) * value**2
        powers = square / unseen[..., None] ** 2
        return PooledStrata(
            share=share * width,
            audited=audited,
            effective=sums / unseen,
            mean=mean,
            squares=powers.sum(axis=-1),
            centre=centre,
            spread=(powers * (score - centre[..., None]) ** 2).sum(axis=-1),
            least=np.where(count > 0, score, np.inf).min(axis=-1),
            most=np.where(count > 0, score, -np.inf).max(axis=-1),
            between=between / self.n if population else np.zeros_like(value),
            left=np.ones_like(drawn) if population else 1 - drawn,
            known=(share * low).sum(axis=-1),
            rows=self.k,
            open=True,
            whole=self.uneven,
        )

    def grouped(self, fit: PooledStrata, values: Floats, audit: CodedAudit, groups: Groups) -> PooledStrata:
        """Return the fit of one problem with the design effect of rows in groups.

        Notes
        -----
        Of a row, e_i is the mean of its cell minus the measure; of an audited row, (N / sum w) w times its own value
        minus that mean is added:
        D = G / (G - 1) sum_g (sum of e_i in g)^2 / sum e_i^2, not below 1.
        """
        low = values.min(axis=-1)
        moved = np.append(low + (values.max(axis=-1) - low) * fit.mean, 0.0)
        error = moved[self.cell] - float((self.size / self.n) @ moved[:-1])
        here = self.cell[audit.rows]
        kept = here >= 0
        scale = np.append(self.size / np.where(self.seen[1].sum(-1) > 0, self.seen[1].sum(-1), 1.0), 0.0)
        news = np.where(kept, values[here, self.outcome] - moved[here], 0.0)
        error[audit.rows] += scale[here] / audit.inclusion * news
        apart = float(error @ error)
        within = groups.sums(error)
        effect = max(1.0, groups.spread() * float(within @ within) / apart) if apart > 0 else 1.0
        met = int(np.count_nonzero(groups.sums(self.cell >= 0)))
        return replace(fit, effect=effect, groups=max(met, LEAST_MET))


def gathered(cell: Rows, outcome: Rows, given: list[int], outcomes: int, audit: CodedAudit) -> Cells:
    """Count rows by cell, of shape (..., n), and audited ones by outcome, (..., k); rows of cell -1 are left out."""
    own, cells, lead = np.array(given), len(given), cell.shape[:-1]
    if audit.within is not None:  # each stratum of the audit has cells of its own
        cell = np.where(cell < 0, cell, cell + cells * ~audit.within)
        own, cells = np.tile(own, 2), 2 * cells
    problems = int(np.prod(lead, dtype=np.int64))
    flat = cell.reshape(problems, -1) + 1 + np.arange(problems)[:, None] * (cells + 1)
    size = np.bincount(flat.ravel(), minlength=problems * (cells + 1)).reshape(*lead, cells + 1)[..., 1:]
    places = (flat[:, audit.rows] * outcomes + outcome.reshape(problems, -1)).ravel()
    weight = np.tile(1 / audit.inclusion, problems)
    seen = [
        np.bincount(places, powers, problems * (cells + 1) * outcomes).reshape(*lead, cells + 1, outcomes)[..., 1:, :]
        for powers in (np.ones_like(weight), weight, weight**2, weight**3)
    ]
    uneven = audit.design == "weighted"
    return Cells(size.astype(np.float64), np.stack(seen), own, audit.n, audit.k, uneven, cell=cell, outcome=outcome)


def crossing(function: Callable[[Floats], Floats], inside: Floats, outside: Floats) -> Floats:
    """Return where a function becomes positive: the inside if it is at once, the outside where it never is.

    By the rule of false position, as Dowell and Jarratt (1971) improved it, for all problems at once.

    Examples
    --------
    >>> crossing(lambda x: x**2 - 2, np.zeros(2), np.array([2.0, 1])).round(6)
    array([1.414214, 1.      ])
    """
    x, other = outside.copy(), inside.copy()
    now, before = function(x), function(other)
    left = (now > 0) & (before < -TINY)
    x = np.where(before >= -TINY, inside, x)
    for _ in range(STEPS):
        if not left.any():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            nearer = np.where(left, x - now * (x - other) / (now - before), x)
        found = function(nearer)
        turned = (found > 0) != (now > 0)
        other, before = np.where(turned, x, other), np.where(turned, now, before / 2)
        left = left & (np.abs(nearer - x) > TINY) & (found != 0)
        x, now = nearer, found
    return x
