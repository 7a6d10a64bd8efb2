"""Proportions and their intervals; and several claims at once, with one error shared by all."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from demele.core.arrays import Flags, Floats
from demele.core.errors import InputError
from demele.core.kinds import checked_level
from demele.core.table_columns import real_numbers


def proportion(part: Any, whole: Any) -> Floats:
    """Divide counts; NaN where there is nothing to divide by.

    Examples
    --------
    >>> proportion([1, 0], [4, 0])
    array([0.25,  nan])
    """
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, np.nan)


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution."""
    from scipy.special import ndtri

    return float(ndtri(probability))


def _counts(successes: ArrayLike, trials: ArrayLike) -> tuple[Floats, Floats]:
    hits, n = real_numbers(successes, "successes"), real_numbers(trials, "trials")
    try:
        hits, n = np.broadcast_arrays(hits, n)
    except ValueError:
        raise InputError("trials", f"expected the shape of the successes, {hits.shape}, got {n.shape}") from None
    return hits, n


def score_interval(successes: ArrayLike, trials: ArrayLike, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """Wilson's score interval of a proportion.

    Parameters
    ----------
    successes, trials : array-like of the same shape
        Counts; successes need not be whole. Where there is no trial, both ends are NaN.
    level : float in (0, 1)
        Nominal coverage.

    Returns
    -------
    low, high : arrays
        Within [0, 1].

    Raises
    ------
    InputError
        If the level is not between 0 and 1.

    Notes
    -----
    Source: Wilson 1927; Benjelloun, chapter 2. With e = successes / n and z the quantile of (1 + level) / 2:
    (e + z^2 / 2n -+ z sqrt(e/n - e^2/n + z^2 / 4n^2)) / (1 + z^2 / n).

    Examples
    --------
    >>> low, high = score_interval([8, 80], [10, 100])
    >>> low.round(2), high.round(2)
    (array([0.49, 0.71]), array([0.94, 0.87]))
    """
    z = normal_quantile((1 + checked_level(level)) / 2)
    hits, n = _counts(successes, trials)
    with np.errstate(divide="ignore", invalid="ignore"):
        e = hits / n
        centre = e + z * z / (2 * n)
        half = z * np.sqrt(np.maximum(e * (1 - e), 0) / n + z * z / (4 * n * n))
        low, high = (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)
    # At no success, and at no failure, the end is exact; rounding would leave it a hair outside.
    return np.where(hits <= 0, np.where(n > 0, 0.0, np.nan), low), np.where(
        hits >= n, np.where(n > 0, 1.0, np.nan), high
    )


def exact_interval(successes: ArrayLike, trials: ArrayLike, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """Clopper and Pearson's interval of a proportion: covers at least its level, whatever the proportion.

    Parameters
    ----------
    successes, trials : array-like of whole numbers, of the same shape
    level : float in (0, 1)

    Returns
    -------
    low, high : arrays
        Within [0, 1]; NaN where there is no trial.

    Raises
    ------
    InputError
        If the level is not between 0 and 1.

    Notes
    -----
    Source: Clopper and Pearson 1934, through the quantiles of the beta distribution.

    Examples
    --------
    >>> low, high = exact_interval(0, 100)
    >>> float(low), round(float(high), 4)
    (0.0, 0.0362)
    """
    tail = (1 - checked_level(level)) / 2
    return exact_low(successes, trials, tail), exact_high(successes, trials, tail)


def exact_low(successes: ArrayLike, trials: ArrayLike, tail: float) -> Floats:
    """Lower end of :func:`exact_interval`, which errs with probability ``tail`` at most."""
    from scipy.special import betaincinv

    hits, n = _counts(successes, trials)
    with np.errstate(invalid="ignore"):
        low = np.where(hits <= 0, 0.0, betaincinv(np.maximum(hits, 1), np.maximum(n - hits + 1, 1), tail))
    return np.where(n > 0, low, np.nan)


def exact_high(successes: ArrayLike, trials: ArrayLike, tail: float) -> Floats:
    """Upper end of :func:`exact_interval`, which errs with probability ``tail`` at most."""
    from scipy.special import betaincinv

    hits, n = _counts(successes, trials)
    with np.errstate(invalid="ignore"):
        high = np.where(hits >= n, 1.0, betaincinv(hits + 1, np.maximum(n - hits, 1), 1 - tail))
    return np.where(n > 0, high, np.nan)


# Several claims at once, with one error shared by all -----------------------------------------------------------------


def adjusted(p_values: Floats, method: Literal["holm", "bh"] = "holm") -> Floats:
    """Return p-values adjusted for their number: a claim is rejected where its own is at most the error.

    ``"holm"`` keeps the probability of any wrong rejection (Holm 1979), ``"bh"`` the expected share of wrong ones
    (Benjamini and Hochberg 1995). NaN is never rejected, but counted.

    Examples
    --------
    >>> adjusted(np.array([0.001, 0.012, 0.03, 0.2, 0.045]))
    array([0.005, 0.048, 0.09 , 0.2  , 0.09 ])
    """
    p = np.where(np.isnan(p_values), 1.0, p_values)
    if method == "bh":
        from scipy.stats import false_discovery_control

        return np.asarray(false_discovery_control(p))
    order = np.argsort(p)
    found = np.empty(p.size)
    found[order] = np.minimum(np.maximum.accumulate(p[order] * (p.size - np.arange(p.size))), 1.0)
    return found


def holm(p_values: Floats, error: float) -> Flags:
    """Reject hypotheses such that any true one is rejected with probability ``error`` at most (Holm 1979).

    Examples
    --------
    >>> holm(np.array([0.04, 0.01, 0.03, 0.015]), 0.05).tolist()
    [False, True, False, True]
    """
    # The hair's breadth lets a p-value that was computed from the level count as equal to it.
    return np.asarray(adjusted(p_values) <= error * (1 + 1e-9))
