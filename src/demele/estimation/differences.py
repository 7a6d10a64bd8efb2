"""Differences of scores with intervals: of two representations on the same rows, and of two models over their runs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from demele.core.arrays import Floats

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference, the ends of its interval and the p-value against 0; NaN, with the reason, where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    reason: str = ""


def interval_within(value: float, half: float, bounds: Range) -> Range:
    """Return the ends of an interval of a value that cannot leave a range.

    Parameters
    ----------
    value, half : float
        The estimate and half the width that its interval would have without a range.
    bounds : tuple of float
        Smallest and largest value that the definition allows; infinite where it allows any.

    Notes
    -----
    The interval is symmetric on the scale of log odds, on which the range has no ends; the delta method carries the
    width there. An estimate at an end of the range, or beyond it, keeps the plain interval.

    Examples
    --------
    >>> [round(end, 3) for end in interval_within(0.95, 0.1, (0.0, 1.0))]
    [0.698, 0.994]
    """
    low, high = bounds
    width = high - low
    if not (math.isfinite(width) and low < value < high):
        return value - half, value + half
    from scipy.special import expit, logit

    share = (value - low) / width
    reach = half / (width * share * (1 - share))
    first, second = low + width * expit(logit(share) + np.array([-reach, reach]))
    return float(first), float(second)


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
    half, p_value = _by_t(mean, error, len(values) - 1, level)
    return mean - half, mean + half, p_value


def run_difference(
    firsts: Floats, seconds: Floats, level: float, *, paired: bool = False, rows: Floats | None = None
) -> Difference:
    """Return how much larger the mean score of the second of two models is, by their training runs.

    Parameters
    ----------
    firsts, seconds : arrays of shape (n_runs,)
        A score of each run. Paired: place k of both has the same seed.
    level : float in (0, 1)
    paired : bool
        Student's test of the paired differences; otherwise Welch's, which does not assume equal variances.
    rows : array of shape (n_resamples,), optional
        The difference of both means on resamples of the rows; the interval is then over runs and rows.

    Examples
    --------
    >>> found = run_difference(np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.6, 0.8]), 0.95)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3), round(found.p_value, 4)
    (0.4, -0.016, 0.816, 0.0548)
    """
    value = float(seconds.mean() - firsts.mean())
    if min(firsts.size, seconds.size) < 2:
        return Difference(value, reason="a model with one run gives no variance over runs")
    return over_runs(value, [seconds - firsts] if paired else [firsts, seconds], level, rows)


def over_runs(
    value: float, samples: Sequence[Floats], level: float, rows: Floats | None = None, bounds: Range | None = None
) -> Difference:
    """Return the interval of a sum of means over independent runs, and over the rows that all of them are scored on.

    The variances of the means and, over ``rows``, of the resamples add up; their degrees of freedom are those of
    Welch (1947) and Satterthwaite. What a run and the rows do together is in both, which errs on the safe side.

    Parameters
    ----------
    value : float
    samples : sequence of arrays of shape (n_runs,)
        Of at least two runs each; none where the interval is over rows alone.
    level : float in (0, 1)
    rows : array of shape (n_resamples,), optional
        The value on resamples of the rows, NaN where one could not be computed.
    bounds : tuple of float, optional
        The range that the value cannot leave; see :func:`interval_within`.
    """
    parts = [(float(each.var(ddof=1)) / each.size, each.size - 1) for each in samples]
    if rows is not None:
        known = rows[np.isfinite(rows)]
        if known.size < 2:
            return Difference(value, reason="fewer than 2 resamples have a value of both")
        parts.append((float(known.var(ddof=1)), known.size - 1))
    error = math.sqrt(sum(part for part, _ in parts))
    if error <= 1e-12:
        return Difference(value, reason="all runs, or resamples, give the same difference")
    degrees = parts[0][1] if len(parts) == 1 else error**4 / sum(part**2 / own for part, own in parts)
    half, p_value = _by_t(value, error, degrees, level)
    return Difference(value, *interval_within(value, half, bounds or (-math.inf, math.inf)), p_value)


def _by_t(value: float, error: float, degrees: float, level: float) -> tuple[float, float]:
    """Return half the width of Student's interval, and the p-value of its test against 0."""
    from scipy.special import stdtr, stdtrit

    return float(stdtrit(degrees, (1 + level) / 2)) * error, float(2 * stdtr(degrees, -abs(value) / error))
