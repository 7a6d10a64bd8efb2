"""The only tolerances that tests may use."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

#: To rounding: another order of the same floating-point operations.
ROUNDING: dict[str, float] = {"rtol": 1e-12, "atol": 1e-13}
#: To rounding in single precision, as networks compute.
SINGLE: dict[str, float] = {"rtol": 1e-5, "atol": 1e-6}
#: Ten times what iterative solvers are asked for.
SOLVER: dict[str, float] = {"rtol": 1e-5, "atol": 1e-6}
#: How far scores under a published protocol may be from what the published code gives on the same rows.
PUBLISHED: dict[str, float] = {"rtol": 0.0, "atol": 0.01}
#: The same for importances of boosted trees, where ties between codes are broken at random.
PUBLISHED_TREES: dict[str, float] = {"rtol": 0.0, "atol": 0.02}
#: The same for Latte's scores, and where its order of ties decides.
LATTE: dict[str, float] = {"rtol": 0.0, "atol": 1e-6}
PUBLISHED_TIES: dict[str, float] = {"rtol": 0.0, "atol": 0.005}
#: Probability with which events at the largest rate allowed would fail a test (seeds are fixed: always or never).
CHANCE = 0.01


def assert_exact(actual: ArrayLike, expected: ArrayLike) -> None:
    """Same bits (NaN equals NaN)."""
    np.testing.assert_array_equal(np.asarray(actual), np.asarray(expected))


def assert_close(actual: ArrayLike, expected: ArrayLike, tolerance: dict[str, float]) -> None:
    """Equal within one of the named tolerances (NaN equals NaN)."""
    np.testing.assert_allclose(
        np.asarray(actual, float), np.asarray(expected, float), rtol=tolerance["rtol"], atol=tolerance["atol"]
    )


def assert_mean(values: Any, expected: float) -> None:
    """Mean of independent values within five standard errors of what it should be."""
    values = np.asarray(values, float)
    error = values.std(ddof=1) / np.sqrt(len(values))
    assert abs(values.mean() - expected) <= 5 * error + 1e-12, (values.mean(), expected, error)


def assert_at_most(actual: ArrayLike, bound: ArrayLike, tolerance: dict[str, float]) -> None:
    """Nowhere above a bound by more than one of the named tolerances (NaN is)."""
    actual, bound = np.broadcast_arrays(np.asarray(actual, float), np.asarray(bound, float))
    beyond = ~(actual <= bound + tolerance["atol"] + tolerance["rtol"] * np.abs(bound))
    assert not beyond.any(), (actual[beyond][:3], bound[beyond][:3])


def assert_rate_at_most(events: float, trials: int, rate: float) -> None:
    """Events are not more than independent trials at this rate give, by the exact binomial tail.

    Trials that have a share of an event each vary less, so that the same limit holds for the sum of shares.
    """
    from scipy.stats import binom

    limit = binom.isf(CHANCE, trials, rate)
    assert events <= limit, (events, limit, trials, rate)
