"""Intervals of a proportion, and what the overlap of two of them is worth."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from demele.core.arrays import Floats
from demele.core.kinds import checked_level, checked_number
from demele.core.proportions import normal_quantile


def overlap_level(z: float, *, deviation_ratio: float = 1.0, correlation: float = 0.0) -> float:
    """Level at which two intervals that just touch differ: stricter than the level of each.

    Parameters
    ----------
    z : float > 0
        Quantile that both intervals are made with, such as 1.96.
    deviation_ratio : float > 0
        Ratio of the standard deviations of the two estimates.
    correlation : float in (-1, 1)
        Correlation of the two estimates.

    Returns
    -------
    float
        In (0, 1): 1 - 2 Phi(-z (1 + rho) / sqrt(1 - 2 gamma rho + rho^2)).

    Raises
    ------
    InputError
        If the ratio is not positive, or the correlation not between -1 and 1.

    Notes
    -----
    Source: Knol et al. 2011; Benjelloun, eq. 6.34.

    Examples
    --------
    >>> round(overlap_level(1.96), 4)
    0.9944
    """
    from scipy.special import ndtr

    quantile = checked_number(z, "z", "a number", inside=lambda given: given == given)
    return float(1 - 2 * ndtr(-quantile * _overlap_factor(deviation_ratio, correlation)))


def overlap_quantile(level: float, *, deviation_ratio: float = 1.0, correlation: float = 0.0) -> float:
    """Return the quantile with which two intervals that just touch differ at a given level.

    Parameters
    ----------
    level : float in (0, 1)
        Wanted level of the comparison.
    deviation_ratio, correlation : float
        As in :func:`overlap_level`.

    Returns
    -------
    float
        Positive; 1.96 for each interval of two would be stricter than 95%.

    Raises
    ------
    InputError
        If a number is out of its range.

    Examples
    --------
    >>> round(overlap_quantile(0.95), 4)
    1.3859
    """
    factor = _overlap_factor(deviation_ratio, correlation)
    return normal_quantile((1 + checked_level(level)) / 2) / factor


def overlap_gap(first: ArrayLike, second: ArrayLike, n: int, *, wrong: ArrayLike = 0, level: float = 0.95) -> Floats:
    """Gap of successes above which the score intervals of two proportions of ``n`` do not overlap.

    Parameters
    ----------
    first, second : array-like
        Successes, in [0, n].
    n : int
        Trials of either.
    wrong : array-like of int
        Each of the two numbers of successes may be off by so much: the gap is then large enough for all of them.
    level : float in (0, 1)
        Level of the two intervals.

    Returns
    -------
    array
        Positive. Without a number that is off, the intervals overlap if and only if second - first is not above it.

    Raises
    ------
    InputError
        If the level is not between 0 and 1.

    Notes
    -----
    The lower end of k2 of n is above the upper end of k1 of n if and only if k2 - k1 > z (s(k1) + s(k2)), where
    s(k)^2 = k (n - k) / n + z^2 / 4: both ends have the same denominator n + z^2, and their centres the same shift.

    Examples
    --------
    >>> [float(overlap_gap(9000, 9300, 12_000, wrong=wrong).round(1)) for wrong in (0, 600)]
    [182.7, 194.3]
    """
    off = np.asarray(wrong, dtype=np.float64)
    reaches = [overlap_reach(hits - off, hits + off, n, level=level) for hits in map(np.asarray, (first, second))]
    return reaches[0] + reaches[1]


def overlap_reach(low: ArrayLike, high: ArrayLike, trials: ArrayLike, *, level: float = 0.95) -> Floats:
    """Return what one score interval adds to :func:`overlap_gap`, at most, if its successes are within limits.

    Parameters
    ----------
    low, high : array-like
        Limits of the successes; need not be whole.
    trials : array-like
        NaN where there is no trial.
    level : float in (0, 1)

    Returns
    -------
    array
        z s(k), largest at the k nearest to half of the trials.

    Raises
    ------
    InputError
        If the level is not between 0 and 1.

    Examples
    --------
    >>> overlap_reach([9000, 8400], [9000, 9600], 12_000).round(1)
    array([93. , 98.4])
    """
    z = normal_quantile((1 + checked_level(level)) / 2)
    n = np.asarray(trials, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        k = np.clip(n / 2, low, high)
        return np.asarray(z * np.sqrt(k * (n - k) / n + z * z / 4))


def _overlap_factor(deviation_ratio: float, correlation: float) -> float:
    checked_number(deviation_ratio, "deviation_ratio", "a positive number", inside=lambda ratio: 0 < ratio < math.inf)
    checked_number(correlation, "correlation", "a number between -1 and 1", inside=lambda share: -1 < share < 1)
    spread = math.sqrt(1 - 2 * correlation * deviation_ratio + deviation_ratio**2)
    return (1 + deviation_ratio) / spread


# Bounds of a sum of rare amounts >= 0 over many rows, from a random sample of the rows --------------------------------


@dataclass(frozen=True, slots=True)
class SampledSum:
    """What a sample shows of sums of amounts >= 0; arrays of the same shape.

    Attributes
    ----------
    total : array
        Sum of w a over the sampled rows, with a the amount of a row and w = 1 / its probability to be drawn.
    variance : array
        Sum of w (w - 1) a^2: of the total, if rows are drawn independently.
    squares : array
        Sum of w a^2: estimates the sum of the squared amounts of all rows.
    """

    total: Floats
    variance: Floats
    squares: Floats

    @classmethod
    def of(cls, amounts: ArrayLike, weights: ArrayLike, *, spare: float = 1.0) -> "SampledSum":
        """Sum over the last axis: amounts of shape (..., k), weights of shape (k,).

        ``spare`` enlarges the variance, where numbers were fitted to the same sample.
        """
        a, w = np.asarray(amounts, dtype=np.float64), np.asarray(weights, dtype=np.float64)
        squared = a**2
        return cls(a @ w, spare * (squared @ (w * (w - 1))), squared @ w)


def upper_bound(seen: SampledSum, weight: ArrayLike, amount: ArrayLike, tail: ArrayLike) -> Floats:
    """Upper bound of a sum of rare amounts, allowing for those that the sample did not meet.

    Parameters
    ----------
    weight, amount : arrays
        Guard: one row that was not drawn and has an amount >= 0, with the weight >= 1 that it would have been drawn
        with. A weight of 1 is that of rows that are drawn surely: then nothing is unseen.
    tail : float or array in (0, 0.5]
        Error of the bound.

    Returns
    -------
    array
        At least the total.

    Notes
    -----
    Of m rows with an amount, x are drawn, each with probability p: x is binomial, and so is the bound. With y, v, q the
    total, variance and squares, each with the guard's w y + w L, v + w (w - 1) L^2, q + w L^2:

        size = q / y,  p = 1 / (1 + v / (y size)),  a = y p / size,  bound = size (a - 1 + b),  I_p(a, b) = 1 - tail

    with I the regularised incomplete beta function. For equal weights 1/p and equal amounts, a = x + 1 and the bound is
    that of Clopper and Pearson (1934) for m, given x and p. For p -> 0 it is the gamma bound of Fay and Feuer (1997),
    which takes x for a Poisson count: with equal weights that fails up to 20% of the time where 2.5% are allowed.

    Examples
    --------
    No error met where every row was drawn with probability 0.7; three met:

    >>> weights = np.full(3, 1 / 0.7)
    >>> upper_bound(SampledSum.of([[0, 0, 0], [1, 1, 1]], weights), 1 / 0.7, 1.0, 0.025).round(2)
    array([3.06, 9.01])
    """
    from scipy.special import btdtria

    # What is drawn surely leaves nothing unseen.
    weight, amount = np.asarray(weight), np.where(np.asarray(weight) > 1, amount, 0.0)
    y = seen.total + weight * amount
    v = seen.variance + weight * (weight - 1) * amount**2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = (seen.squares + weight * amount**2) / y
        odds = v / (y * size)
        a = y / size / (1 + odds)
        # I_p(a, b) = 1 - tail is I_(1 - p)(b, a) = tail, which keeps small tails; 1 - p = odds / (1 + odds).
        b = btdtria(tail, a, odds / (1 + odds))
        high = size * (a - 1 + b)
    known = (amount <= 0) & (seen.variance <= 0)
    return np.where(known, seen.total, np.maximum(high, seen.total))


def lower_bound(seen: SampledSum, tail: ArrayLike) -> Floats:
    """Lower bound of a sum of rare amounts.

    Parameters
    ----------
    tail : float or array in (0, 0.5]
        Error of the bound.

    Returns
    -------
    array
        At most the total. 0 where none was met.

    Notes
    -----
    Source: Fay and Feuer 1997: the quantile of the gamma distribution with mean y and variance v. The sum of the
    amounts met, without weights, is a lower bound too, and a certain one: callers that know it take the larger.

    Examples
    --------
    >>> lower_bound(SampledSum.of([[0, 0, 0], [1, 1, 1]], np.full(3, 2.0)), 0.025).round(2)
    array([0. , 2.2])
    """
    from scipy.special import gammaincinv

    y, v = seen.total, seen.variance
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(y > 0, v / y * gammaincinv(y * y / v, tail), 0.0)
    return np.where(v <= 0, y, low)
