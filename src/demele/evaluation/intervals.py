"""Intervals of a proportion, and what the overlap of two of them is worth."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.checked_numbers import checked_level, checked_number
from demele.core.errors import InputError
from demele.core.proportions import normal_quantile

Floats = NDArray[np.float64]


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


def checked_confidence(level: Any) -> float:
    """Return the level of a verdict or an assessment: one below 0.5 is the error that was meant.

    Raises
    ------
    InputError
        If it is not a number from 0.5 to below 1.
    """
    if checked_level(level) < 0.5:
        raise InputError(
            "level",
            f"expected a confidence from 0.5 to below 1, such as 0.95, got {level}; did you mean {1 - level:g}?",
        )
    return float(level)


def _overlap_factor(deviation_ratio: float, correlation: float) -> float:
    checked_number(deviation_ratio, "deviation_ratio", "a positive number", inside=lambda ratio: 0 < ratio < math.inf)
    checked_number(correlation, "correlation", "a number between -1 and 1", inside=lambda share: -1 < share < 1)
    spread = math.sqrt(1 - 2 * correlation * deviation_ratio + deviation_ratio**2)
    return (1 + deviation_ratio) / spread
