"""Differences of scores with intervals: of two representations on the same rows, and of two models over their runs."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Difference", "resampled_difference", "run_difference", "student"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference, the ends of its interval and the p-value against 0; NaN, with the reason, where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    reason: str = ""


def student(values: Floats, level: float = 0.95) -> tuple[float, float, float]:
    """Return the ends of Student's interval of a mean, and the p-value of its test against 0.

    Examples
    --------
    >>> low, high, p = student(np.array([1.0, 2.0, 3.0]))
    >>> round(low, 3), round(high, 3), round(p, 4)
    (-0.484, 4.484, 0.0742)
    """
    if len(values) < 2:
        return math.nan, math.nan, math.nan
    mean, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))
    if error == 0:
        return mean, mean, 1.0 if mean == 0 else 0.0
    return _by_t(mean, error, len(values) - 1, level)


def resampled_difference(first: float, second: float, firsts: Floats, seconds: Floats, level: float) -> Difference:
    """Return how much larger the second of two scores is, by their values on the same resamples of the rows.

    Parameters
    ----------
    first, second : float
        The scores on all rows.
    firsts, seconds : arrays of shape (n_resamples,)
        The scores on resamples: place k of both is of the same rows. NaN where one could not be computed.
    level : float in (0, 1)

    Returns
    -------
    Difference
        ``second - first``. What rows have in common moves both scores alike and leaves their difference: its error is
        the standard deviation of the paired differences over the resamples (whose spread is made to be that of the
        whole), and Student's quantile of as many resamples, less one, takes account of how few they are. The centre is
        the difference on all rows, so that a bias that both share is not added again.

    Examples
    --------
    >>> rows = np.array([-0.2, 0.1, 0.0, 0.1])  # what the resamples do to both
    >>> found = resampled_difference(0.4, 0.5, 0.4 + rows, 0.5 + rows + [0.01, -0.01, 0.0, 0.0], 0.95)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.1, 0.074, 0.126)
    """
    value = second - first
    differences = seconds - firsts
    known = differences[np.isfinite(differences)]
    if known.size < 2:
        return Difference(value, reason="fewer than 2 resamples have a value of both")
    error = float(known.std(ddof=1))
    if error <= 1e-12:
        return Difference(value, reason="all resamples give the same difference, which says nothing of its error")
    return Difference(value, *_by_t(value, error, known.size - 1, level))


def run_difference(firsts: Floats, seconds: Floats, level: float, *, paired: bool = False) -> Difference:
    """Return how much larger the mean score of the second of two models is, by their training runs.

    Parameters
    ----------
    firsts, seconds : arrays of shape (n_runs,)
        A score of each run. Paired: place k of both has the same seed.
    level : float in (0, 1)
    paired : bool
        Student's test of the paired differences; otherwise Welch's, which does not assume that both models vary alike.

    Examples
    --------
    >>> found = run_difference(np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.6, 0.8]), 0.95)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3), round(found.p_value, 4)
    (0.4, -0.016, 0.816, 0.0548)
    """
    value = float(seconds.mean() - firsts.mean())
    if min(firsts.size, seconds.size) < 2:
        return Difference(value, reason="a model of one run says nothing of what other runs would give")
    if paired:
        own = seconds - firsts
        if float(own.std()) <= 1e-12:
            return Difference(value, reason="the difference is the same with every seed")
        return Difference(value, *student(own, level))
    parts = [float(each.var(ddof=1)) / each.size for each in (firsts, seconds)]
    error = math.sqrt(sum(parts))
    if error <= 1e-12:
        return Difference(value, reason="all runs of both models score the same")
    degrees = sum(parts) ** 2 / sum(
        part**2 / (each.size - 1) for part, each in zip(parts, (firsts, seconds), strict=True)
    )
    return Difference(value, *_by_t(value, error, degrees, level))


def _by_t(value: float, error: float, degrees: float, level: float) -> tuple[float, float, float]:
    from scipy.special import stdtr, stdtrit

    half = float(stdtrit(degrees, (1 + level) / 2)) * error
    return value - half, value + half, float(2 * stdtr(degrees, -abs(value) / error))
