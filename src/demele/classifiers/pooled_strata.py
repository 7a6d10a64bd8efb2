"""The interval of a mean score from an audit: strata by the given score, pooled by the side on which rows can err.

A sum of what is missing to the best score is a sum over few events, so its law is skewed: that of a count. Strata with
a high mean are added up by what is missing to the top, the others by what is above the bottom. A beta distribution is
fitted to each of the two sums, with half a row more that stands for the event that the audit has not met.

All scores are on [0, 1] here. Arrays are of shape (..., n_strata): leading axes are separate problems, such as pairs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.core.arrays import Floats, Rows

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


@dataclass(frozen=True, slots=True)
class StratumSums:
    """What an audit shows of strata of rows.

    Attributes
    ----------
    share : array
        Share of all rows (or of their weight) in each stratum; 0 where there is none.
    given : array
        Mean given score of all rows of the stratum.
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
    """

    share: Floats
    given: Floats
    audited: Floats
    effective: Floats
    mean: Floats
    squares: Floats
    centre: Floats
    spread: Floats
    least: Floats
    most: Floats

    def mirrored(self) -> "StratumSums":
        """Return those of 1 - score."""
        return StratumSums(
            self.share,
            1 - self.given,
            self.audited,
            self.effective,
            1 - self.mean,
            self.squares,
            1 - self.centre,
            self.spread,
            1 - self.most,
            1 - self.least,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledStrata:
    """The mean true score of all rows, as an audit shows it.

    Attributes
    ----------
    sums : StratumSums
    between : array
        Variance of the predicted true scores over rows, divided by the number of rows: the sampling of the rows. 0 if
        the result is about these rows alone.
    left : array
        Share of each stratum that was not audited, if the result is about these rows alone; else 1.
    effect : array
        Design effect of rows in groups; 1 for rows apart.
    groups : int or None
        Number of groups, if rows come in groups.
    slope : float
        Of true on given scores within strata.
    """

    sums: StratumSums
    between: Floats
    left: Floats
    effect: Floats
    groups: int | None = None
    slope: float = 0.0

    @property
    def value(self) -> Floats:
        """The estimate; within [0, 1] unless a slope takes it beyond."""
        return np.asarray((self.sums.share * self.sums.mean).sum(axis=-1))

    @property
    def upper(self) -> Any:
        """Whether a stratum is added up by what is missing to the top."""
        sums = self.sums
        likely = self._likely
        middle = (sums.share * likely).sum(axis=-1, keepdims=True) > 0.5
        return np.where(sums.audited < FEW_IN_STRATUM, middle, likely > 0.5)

    @property
    def _likely(self) -> Floats:
        sums = self.sums
        likely = np.clip((sums.effective * sums.mean + 0.5) / (sums.effective + 1), 0, 1)
        return np.where(sums.audited > 0, likely, 0.5)

    def distances(self, tail: Any) -> tuple[Floats, Floats]:
        """How far the true mean may lie below and above the estimate, at an error of ``tail`` on each side."""
        from scipy.special import ndtri, stdtrit

        sums, upper, likely = self.sums, self.upper, self._likely
        tail = np.asarray(tail, dtype=np.float64)
        top_low, top_high = _reaches(sums.mirrored(), upper, 1 - likely, self.left, tail)
        low, high = _reaches(sums, ~upper, likely, self.left, tail)
        z = -ndtri(tail)
        sampling = z**2 * self.between
        used = np.count_nonzero(sums.share > 0, axis=-1)
        degrees = np.maximum(sums.audited.sum(axis=-1) - used, 1)
        wider = -stdtrit(degrees, tail) / z * np.sqrt(self.effect)
        if self.groups is not None:
            wider = wider * -stdtrit(self.groups - 1, tail) / z
        return np.sqrt(top_high**2 + low**2 + sampling) * wider, np.sqrt(top_low**2 + high**2 + sampling) * wider

    def ends(self, tail: Any, moved: float = 0.0) -> tuple[Floats, Floats]:
        """Return the interval, both of whose ends move out by ``moved``."""
        below, above = self.distances(tail)
        return np.clip(self.value - below - moved, 0, 1), np.clip(self.value + above + moved, 0, 1)

    def p_value(self, gate: Any, moved: float = 0.0) -> float:
        """Smallest error at which the mean is shown to be above the gate; 1 if the estimate is not above it."""
        return smallest_tail(lambda tail: self.distances(tail)[0], self.value - moved - gate)


def smallest_tail(distance: Callable[[float], Any], excess: Any) -> float:
    """Return the error at which a distance, which grows as the error falls, is the excess; 1 where there is none."""
    from scipy.optimize import brentq
    from scipy.special import ndtr

    if excess <= 0:
        return 1.0

    def short(z: float) -> float:
        """By how much the distance at a normal quantile exceeds the excess."""
        return float(distance(float(ndtr(-z)))) - float(excess)

    z = NEAREST if short(NEAREST) >= 0 else FARTHEST if short(FARTHEST) < 0 else brentq(short, NEAREST, FARTHEST)
    return float(ndtr(-z))


def _reaches(sums: StratumSums, inside: Any, likely: Floats, left: Floats, tail: Floats) -> tuple[Floats, Floats]:
    """How far the sum of shares times means of some strata may lie below and above its estimate."""
    share = np.where(inside, sums.share, 0.0)
    size = share.sum(axis=-1)
    several = np.count_nonzero(share > 0, axis=-1, keepdims=True) >= 2
    room = _shares(share * (1 - likely), share)
    less = _shares(share * likely, share)
    nothing = ~(((sums.most > TINY) | (sums.least < -TINY)) & (share > 0) & (sums.audited > 0)).any(axis=-1)
    centre = (share * sums.mean).sum(axis=-1)

    def end(more: float, fewer: Any, probability: Floats) -> Floats:
        """Quantile of the beta distribution, with half rows of these masses at the two ends."""
        fewer = np.asarray(fewer)[..., None]
        rows = sums.effective + more * room + fewer * less
        known = sums.audited > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (sums.effective * sums.mean + more * room) / rows
            squared = sums.spread + sums.squares * (sums.centre - mean) ** 2
            squared += more * room * (1 - mean) ** 2 + fewer * less * mean**2
            variance = squared / rows / np.where(several, np.maximum(rows - 1, 1), rows + 1)
        mean = np.where(known, mean, 0.5)
        variance = np.where(known, variance, 1 / 12) * left
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = np.where(size > 0, (share * mean).sum(axis=-1) / size, 0.0)
            spread = np.where(size > 0, (share**2 * variance).sum(axis=-1) / size**2, 0.0)
        return np.asarray(size * beta_quantile(whole, spread, probability))

    low = end(0.5, np.full(size.shape, 0.5), tail)
    high = np.where(nothing, end(1.0, np.zeros(size.shape), 1 - tail), end(0.5, np.full(size.shape, 0.5), 1 - tail))
    return np.maximum(centre - low, 0), np.maximum(high - centre, 0)


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
    strata: Rows | None = None,
) -> PooledStrata:
    """Fit strata to the given scores of all rows, and to the true scores of the audited ones.

    Parameters
    ----------
    given : array of shape (n,)
        Given scores in [0, 1].
    rows, true : arrays of shape (k,)
        Audited rows and their true scores in [0, 1].
    inclusion : array of shape (k,), optional
        Probability that each was to be drawn (default: the same for all).
    weight : array of shape (n,), optional
        What each row counts in the mean (default: the same for all).
    population : bool
        Whether the result is about new rows; else about these.
    groups : array of shape (n,), optional
        Group of each row, from 0.
    strata : array of shape (n,), optional
        Stratum of each row, from 0 (default: :func:`strata_of`).

    Notes
    -----
    Source: the interval was chosen by simulation of 144 worlds; Fay and Feuer 1997 for the pooling of strata.
    """
    n, k = given.size, rows.size
    stratum = strata_of(given, k) if strata is None else strata
    count = int(stratum.max()) + 1
    own = np.full(n, 1 / n) if weight is None else weight / weight.sum()
    size_of = np.bincount(stratum, minlength=count)
    here = stratum[rows]
    drawn = np.ones(k) if inclusion is None else 1 / inclusion
    if weight is not None:
        drawn = drawn * own[rows] * n

    def total(values: Floats, among: Rows = here) -> Floats:
        return np.bincount(among, values, minlength=count).astype(np.float64)

    share = size_of / n if weight is None else total(own, stratum)
    mean_given = total(own * given, stratum) / total(own, stratum)
    audited, sums = total(np.ones(k)), total(drawn)
    divisor = np.where(audited > 0, sums, 1.0)
    scores = given[rows]
    mean_scores, mean_true = total(drawn * scores) / divisor, total(drawn * true) / divisor
    moved = scores - mean_scores[here]
    size = float(drawn @ moved**2)
    slope = float(np.clip(drawn @ (moved * (true - mean_true[here])) / size, 0, 1)) if size >= TINY else 0.0
    x = true - slope * (scores - mean_given[here])
    mean = np.where(audited > 0, mean_true - slope * (mean_scores - mean_given), mean_given)
    unseen = np.where(audited > 0, total(drawn**2) / divisor, 1.0)
    squared = (drawn / unseen[here]) ** 2
    squares = total(squared)
    centre = total(squared * x) / np.where(audited > 0, squares, 1.0)
    least, most = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(least, here, x)
    np.maximum.at(most, here, x)
    value = float(share @ mean)
    within = float(own @ given**2 - share @ mean_given**2)
    between = max(float(share @ (mean - value) ** 2) + slope**2 * within, 0.0) * float(own @ own)
    effect, n_groups = 1.0, None
    if groups is not None and population:
        error = mean[stratum] + slope * (given - mean_given[stratum]) - value
        if weight is not None:
            error = error * own * n
        np.add.at(error, rows, (share * n / divisor)[here] * drawn * (x - mean[here]))
        n_groups = int(groups.max()) + 1
        summed, alone = np.bincount(groups, error, minlength=n_groups), float(error @ error)
        effect = max(1.0, n_groups / (n_groups - 1) * float(summed @ summed) / alone) if alone > 0 else 1.0
    return PooledStrata(
        sums=StratumSums(
            share,
            mean_given,
            audited,
            sums / unseen,
            mean,
            squares,
            centre,
            total(squared * (x - centre[here]) ** 2),
            least,
            most,
        ),
        between=np.asarray(between if population else 0.0),
        left=np.ones(count) if population else 1 - audited / size_of,
        effect=np.asarray(effect),
        groups=n_groups,
        slope=slope,
    )


def prediction_powered(
    given: Floats, rows: Rows, true: Floats, *, tail: float = 0.025
) -> tuple[float, float, float, float]:
    """Return the estimate, both ends and the coefficient of PPI++ for a uniform draw; scores on any scale.

    Notes
    -----
    Source: Angelopoulos, Duchi and Zrnic 2023, with the plug-in coefficient, cut to [0, 1]; as ``ppi_py`` has it: the
    covariance has the divisor k, the variance of the given scores N - 1, the variances of the interval k and N - k. It
    is asymptotic: with few labels and rare errors it covers far less than its level.

    Examples
    --------
    >>> given, true = np.tile([1.0, 1, 0, 1], 5), np.tile([1.0, 0, 0, 1], 2)
    >>> [round(number, 4) for number in prediction_powered(given, np.arange(8), true)]
    [0.5, 0.19, 0.81, 0.38]
    """
    from scipy.special import ndtri

    k, others = rows.size, given.size - rows.size
    f, u = given[rows], np.delete(given, rows)
    if others == 0:
        value, variance, coefficient = float(true.mean()), float(true.var()) / k, 0.0
    else:
        spread = float(given.var(ddof=1)) * (1 + k / others)
        covariance = float(np.cov(true, f, ddof=0)[0, 1])
        coefficient = float(np.clip(covariance / spread, 0, 1)) if spread > 0 else 0.0
        value = coefficient * float(u.mean()) + float((true - coefficient * f).mean())
        variance = coefficient**2 * float(u.var()) / others + float((true - coefficient * f).var()) / k
    reach = -float(ndtri(tail)) * math.sqrt(variance)
    return value, value - reach, value + reach, coefficient
