"""Bounds of sums of rare amounts: against Clopper and Pearson, Fay and Feuer, printed values, exact error levels."""

import numpy as np
import pytest
from scipy.stats import beta, binom, gamma

from benchmarks.audit_scan import BOUNDS, worst_error
from demele.classifiers.intervals import SampledSum, lower_bound, upper_bound
from tests.tolerances import ROUNDING, SOLVER, assert_at_most, assert_close, assert_exact

TAIL = 0.025


def counted(x: object, weight: float, amount: float = 1.0) -> tuple[SampledSum, float, float]:
    """So many events met, all with the same weight and amount."""
    count = np.asarray(x, float)
    seen = SampledSum(count * weight * amount, count * weight * (weight - 1) * amount**2, count * weight * amount**2)
    return seen, weight, amount


@pytest.mark.parametrize("tail", [0.025, 1e-4])
def test_equal_weights_give_clopper_and_pearson(tail: float) -> None:
    """At the bound m, a binomial count of m is at most x with probability ``tail``, at real m too."""
    x = np.arange(12.0)
    for p in (0.05, 0.3, 0.8):
        high = upper_bound(*counted(x, 1 / p, amount=2.0), tail) / 2
        assert_close(beta.sf(p, x + 1, high - x), tail, SOLVER)
        whole = np.ceil(high + 1e-6)
        assert_at_most(binom.cdf(x, whole, p), tail, ROUNDING)


def test_rare_draws_give_fay_and_feuer() -> None:
    """Where rows are seldom drawn, counts are Poisson: the gamma bound of (y + w, v + w^2)."""
    rng = np.random.default_rng(0)
    weights = 1e7 * (1 + rng.random(5))
    seen, most = SampledSum.of(rng.random((4, 5)), weights), weights.max()
    y, v = seen.total + most, seen.variance + most**2
    assert_close(upper_bound(seen, most, 1.0, TAIL), v / y * gamma.ppf(1 - TAIL, y * y / v), SOLVER)


def test_what_is_drawn_surely_is_known() -> None:
    seen = SampledSum.of([[0.0, 0.0], [1.0, 2.0]], np.ones(2))
    assert_exact(upper_bound(seen, 1.0, 2.0, TAIL), [0, 3])
    assert_exact(lower_bound(seen, TAIL), [0, 3])


def test_lower_bound_of_counts_is_garwoods() -> None:
    counts = np.array([0.0, 1.0, 7.0])
    low = lower_bound(SampledSum(3 * counts, 9 * counts, 3 * counts), 0.01)
    assert_close(low[1:], 3 * gamma.ppf(0.01, counts[1:]), SOLVER)
    assert low[0] == 0


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.8, 0.95])
def test_exact_error_levels(p: float) -> None:
    """No simulation: the binomial bound never errs more than it may, the gamma bounds before it did."""
    assert_at_most(worst_error(BOUNDS["binomial"], p, TAIL, most=120), TAIL, SOLVER)
    assert worst_error(BOUNDS["gamma, guard w - 1"], p, TAIL, most=120) > TAIL
    assert_at_most(worst_error(BOUNDS["product bet"], p, TAIL, most=120), TAIL, SOLVER)
