"""Intervals of a proportion, overlap, and bounds of rare sums: published values, SciPy, and exact coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import beta, binom, gamma

from benchmarks.audit_scan import BOUNDS, worst_error
from demele.classifiers.intervals import (
    SampledSum,
    lower_bound,
    overlap_gap,
    overlap_level,
    overlap_quantile,
    overlap_reach,
    upper_bound,
)
from demele.core.errors import InputError
from demele.core.kinds import checked_level
from demele.core.proportions import exact_interval, normal_quantile, score_interval
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_at_most, assert_close, assert_exact

counts = st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.sampled_from([0.5, 0.9, 0.95, 0.999])


# The score interval ------------------------------------------------------------------------------------------------


def test_intervals_agree_with_scipy() -> None:
    for level in [0.8, 0.95, 0.999]:
        for n in [1, 2, 17, 200]:
            hits = np.arange(n + 1)
            for function, method, tolerance in (
                (score_interval, "wilson", ROUNDING),
                (exact_interval, "exact", SOLVER),
            ):
                expected = [stats.binomtest(int(k), n).proportion_ci(level, method=method) for k in hits]
                low, high = function(hits, np.full(n + 1, n), level=level)
                assert_close(low, [ends.low for ends in expected], tolerance)
                assert_close(high, [ends.high for ends in expected], tolerance)


@pytest.mark.parametrize("function", [score_interval, exact_interval])
def test_no_trial_no_interval(function: "type[score_interval]") -> None:  # type: ignore[valid-type]
    low, high = function([0, 3], [0, 3])  # type: ignore[misc]
    assert_exact(np.isnan(low), [True, False])
    assert_exact(np.isnan(high), [True, False])
    assert float(high[1]) == 1.0


# Coverage, counted over every outcome ------------------------------------------------------------------------------


def coverage(function: object, n: int, p: np.ndarray, level: float) -> np.ndarray:
    """Probability that the interval holds p, by adding the probabilities of all outcomes."""
    hits = np.arange(n + 1)
    low, high = function(hits, np.full(n + 1, n), level=level)  # type: ignore[operator]
    inside = (low <= p[:, None]) & (p[:, None] <= high)
    total: np.ndarray = (stats.binom.pmf(hits, n, p[:, None]) * inside).sum(axis=1)
    return total


def test_exact_interval_covers_at_least_its_level() -> None:
    for level in [0.8, 0.95, 0.998]:
        for n in [1, 5, 20, 60, 150]:
            low, high = exact_interval(np.arange(n + 1), np.full(n + 1, n), level=level)
            ends = np.concatenate([low, high])
            # Coverage drops just outside the ends: those points are the worst ones.
            worst = np.concatenate([np.linspace(0, 1, 501), ends * (1 - 1e-9), np.minimum(ends * (1 + 1e-9), 1)])
            assert_at_most(level, coverage(exact_interval, n, worst, level).min(), SOLVER)


# Overlap -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("s1", "s2", "gamma"), [(1.0, 1.0, 0.0), (1.0, 3.0, 0.0), (2.0, 0.5, 0.6), (1.0, 1.0, -0.9)])
def test_overlap_level_is_the_chance_of_touching(s1: float, s2: float, gamma: float) -> None:
    """Two normal estimates of the same value: their intervals touch when they are less than z (s1 + s2) apart."""
    z = 1.5
    deviation = math.sqrt(s1**2 + s2**2 - 2 * gamma * s1 * s2)
    expected = stats.norm.cdf(z * (s1 + s2) / deviation) - stats.norm.cdf(-z * (s1 + s2) / deviation)
    assert_close(overlap_level(z, deviation_ratio=s1 / s2, correlation=gamma), expected, ROUNDING)
    assert_close(overlap_level(z, deviation_ratio=s2 / s1, correlation=gamma), expected, ROUNDING)


@given(st.floats(0.05, 0.9999), st.floats(0.1, 10), st.floats(-0.9, 0.9))
def test_overlap_quantile_undoes_overlap_level(level: float, ratio: float, correlation: float) -> None:
    z = overlap_quantile(level, deviation_ratio=ratio, correlation=correlation)
    assert_close(overlap_level(z, deviation_ratio=ratio, correlation=correlation), level, ROUNDING)
    assert z <= normal_quantile((1 + level) / 2)  # overlap is stricter than a test: narrower intervals are enough


@pytest.mark.parametrize("level", [0.9, 0.95, 0.998])
def test_overlap_gap_is_where_score_intervals_part(level: float) -> None:
    n = 60
    first, second = (grid.ravel() for grid in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    (_, high), (low, _) = (score_interval(k, np.full(k.shape, n), level=level) for k in (first, second))
    assert_exact(second - first > overlap_gap(first, second, n, level=level), low > high)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_overlap_gap_is_that_of_the_widest_intervals_in_reach(h1: int, h2: int, wrong: int) -> None:
    """Safe for every number of successes within ``wrong``, and no larger than for some (half of 60 is a whole number).

    Written out: z times the root of k (n - k) / n + z^2 / 4, for each of the two.
    """
    n, z = 60, normal_quantile(0.975)
    near = [np.arange(max(0, h - wrong), min(n, h + wrong) + 1) for h in (h1, h2)]
    expected = sum(float((z * np.sqrt(k * (n - k) / n + z**2 / 4)).max()) for k in near)
    assert_close(overlap_gap(h1, h2, n, wrong=wrong), expected, ROUNDING)
    k1, k2 = (grid.ravel() for grid in np.meshgrid(*near))
    shown = k2 - k1 > overlap_gap(h1, h2, n, wrong=wrong)
    low, high = score_interval(k2, np.full(k2.shape, n))[0], score_interval(k1, np.full(k1.shape, n))[1]
    assert (low > high)[shown].all()


def test_overlap_reach_is_half_a_score_interval_without_its_shift() -> None:
    trials = np.array([16, 100, 0])
    low, high = score_interval([8, 80, 0], trials)
    z = normal_quantile(0.975)
    assert_close(overlap_reach([8, 80, 0], [8, 80, 0], trials), (high - low) / 2 * (trials + z * z), ROUNDING)


# Mistakes ----------------------------------------------------------------------------------------------------------


def test_levels_are_between_0_and_1() -> None:
    for level in [0, 1, 95, -0.5, math.nan, True, "0.95", None, [0.95]]:
        refuses(InputError, r"level: expected a number between 0 and 1, such as 0\.95, got", checked_level, level)
        refuses(InputError, "level", score_interval, 1, 2, level=level)


def test_overlap_needs_possible_numbers() -> None:
    refuses(InputError, "deviation_ratio: expected a positive number, got 0", overlap_level, 1.96, deviation_ratio=0)
    refuses(InputError, "correlation: expected a number between -1 and 1, got 1", overlap_quantile, 0.95, correlation=1)


# Bounds of sums of rare amounts: against Clopper and Pearson, Fay and Feuer, printed values ---------------------------


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
