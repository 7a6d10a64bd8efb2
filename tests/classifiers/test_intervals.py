"""Overlap of two intervals, bounds of rare sums, bets: SciPy, coverage and error levels counted in full, slow loops."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import beta, binom, gamma

from benchmarks.audit_scan import BOUNDS, worst_error
from demele.classifiers.intervals import (
    FRACTIONS,
    Draws,
    SampledSum,
    lower_bound,
    overlap_gap,
    overlap_level,
    overlap_quantile,
    sampling_gap,
    stakes,
    upper_bound,
)
from demele.core.errors import InputError
from demele.core.kinds import checked_level
from demele.core.proportions import exact_interval, normal_quantile, score_interval
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_at_most, assert_close, assert_exact

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


# Mistakes ----------------------------------------------------------------------------------------------------------


def test_levels_are_between_0_and_1() -> None:
    for level in [0, 1, 95, -0.5, math.nan, True, "0.95", None, [0.95]]:
        refuses(InputError, r"level: expected a number between 0 and 1, such as 0\.95, got", checked_level, level)
        refuses(InputError, "level", score_interval, 1, 2, level=level)


def test_overlap_needs_possible_numbers() -> None:
    refuses(InputError, "deviation_ratio: expected a positive number, got 0", overlap_level, 1.96, deviation_ratio=0)
    refuses(InputError, "correlation: expected a number between -1 and 1, got 1", overlap_quantile, 0.95, correlation=1)


# Bounds of sums of rare amounts ---------------------------------------------------------------------------------------


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
        assert_at_most(binom.cdf(x, np.ceil(high + 1e-6), p), tail, ROUNDING)


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


# Betting without replacement ------------------------------------------------------------------------------------------


Floats = NDArray[np.float64]


def log_wealth(scores: object, total: int, threshold: float) -> Floats:
    """Evidence against "scores in [-2, 2] of a population sum to at most the threshold", drawn with equal weights."""
    drawn = np.asarray(scores, dtype=np.float64)
    return Draws(drawn, np.ones(drawn.shape[-1]), total, float(total), 2.0, 2.0).log_wealth(threshold)


def _slow_wealth(
    scores: list[float], weights: list[float], total_weight: float, threshold: float, loss: float
) -> float:
    """Play each share by itself, draw after draw; the stakes must stay open."""
    wealth = 0.0
    for share in FRACTIONS:
        money, done, left = share / sum(FRACTIONS), 0.0, total_weight
        for score, weight in zip(scores, weights, strict=True):
            shown = done + score * left / weight
            money *= 1 + share * (shown - threshold) / (threshold - done + loss * left)
            done += score
            left -= weight
        wealth += money
    return wealth


@settings(max_examples=60)
@given(st.lists(st.sampled_from([-2, -1, 0, 1, 2]), min_size=1, max_size=12), st.integers(0, 30), st.integers(0, 12))
def test_agrees_with_a_slow_loop(scores: list[int], more: int, above: int) -> None:
    total = len(scores) + 20 + more
    threshold = -2.0 * total + 4 * len(scores) + above + 1  # the stakes stay open
    threshold = min(threshold, 2.0 * total - 4 * len(scores) - 1)
    slow = _slow_wealth([float(r) for r in scores], [1.0] * len(scores), total, threshold, 2.0)
    assert_close(np.exp(log_wealth(scores, total, threshold)[-1]), slow, ROUNDING)


def _orders(scores: Floats, weights: Floats) -> list[tuple[float, list[int]]]:
    """All orders of a small population with their probabilities under weighted drawing without replacement."""
    found = []
    for order in itertools.permutations(range(scores.size)):
        probability, left = 1.0, float(weights.sum())
        for item in order:
            probability *= weights[item] / left
            left -= weights[item]
        found.append((probability, list(order)))
    return found


SMALL = [
    ([-2, 0, 0, -1, 0, 1], [1, 1, 1, 1, 1, 1], 2.0, 2.0),
    ([-2, -2, 0, 0, 0, 0], [2, 2, 2, 2, 2, 2], 1.0, 1.0),
    ([-2, 0, 0, -1, 1, 0], [2, 2, 2, 1, 1, 1], 1.0, 1.0),
    ([-2, 2, 0, -1, 0, 1], [2, 2, 2, 1, 1, 1], 1.0, 1.0),
    ([-1, 2, 0, -1, 0], [1.7, 2.2, 1.7, 0.9, 0.8], 2.0, 2.0),
]


@pytest.mark.parametrize(("scores", "weights", "loss", "gain"), SMALL)
def test_fair_on_the_boundary_exactly(scores: list[int], weights: list[float], loss: float, gain: float) -> None:
    """Over all orders, the mean wealth after each draw is 1 if the sum is the threshold, and below if it is less.

    Even someone who stops at the best moment errs with probability alpha at most.
    """
    drawn, mass, alphas = np.array(scores, float), np.array(weights, float), np.array([0.5, 0.2, 0.05])
    for slack, same in ((0, True), (1, False)):
        mean, error = np.zeros(drawn.size), np.zeros(3)
        for probability, order in _orders(drawn, mass):
            draws = Draws(drawn[order], mass[order], drawn.size, float(mass.sum()), loss, gain)
            wealth = np.exp(draws.log_wealth(float(drawn.sum()) + slack))
            mean += probability * wealth
            error += probability * (wealth.max() >= alphas**-1)
        assert (error <= alphas).all()
        if same:
            assert_close(mean, np.ones(drawn.size), ROUNDING)
        else:
            assert (mean < 1).all()


@given(st.lists(st.integers(-2, 2), min_size=1, max_size=15), st.integers(-5, 5), st.randoms())
def test_all_draws_refute_what_is_false_and_nothing_else(scores: list[int], shift: int, random: object) -> None:
    random.shuffle(scores)  # type: ignore[attr-defined]
    evidence = log_wealth(scores, len(scores), sum(scores) + shift)
    assert bool(np.isinf(evidence[-1])) == (shift < 0)
    assert shift < 0 or not np.isinf(evidence).any()
    assert not np.isnan(evidence).any()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60))
def test_leaving_out_what_can_only_gain_is_safe(rows: list[tuple[int, int, int]]) -> None:
    """If the claim is false, the scores left in sum to at most the threshold, for any true labels."""
    first, second, given, truth = np.array([(*row, (7 * i) % 4) for i, row in enumerate(rows)]).T
    apart = first != second
    before = ((second == given).astype(int) - (first == given))[apart]
    after = ((second == truth).astype(int) - (first == truth))[apart]
    lost, won, neither = (int((before == sign).sum()) for sign in (-1, 1, 0))
    for tau in (-3.5, 0.0, 2.0, 2.5):
        at_stake = stakes(lost, won, neither, tau)
        left_in = before >= 0 if at_stake.reduced else np.ones(before.size, bool)
        assert at_stake.size == left_in.sum()
        shown = (after - before)[left_in].sum() > at_stake.threshold
        assert after.sum() > tau or not shown
        if not at_stake.reduced:
            assert shown == (after.sum() > tau)


def test_largest_sum_excluded_is_found_by_bisection() -> None:
    rng = np.random.default_rng(3)
    scores, weights = rng.choice([-2.0, 0.0, 0.0, 0.0, 2.0], 60), np.full(60, 2.0)
    draws = Draws(scores, weights, 200, 400.0, 1.0, 1.0)
    for alpha in (0.05, 0.001):
        shown = [t for t in range(-401, 401) if draws.log_wealth(t).max() >= -np.log(alpha)]  # nothing ruled out here
        assert draws.exceeds(alpha) == max(shown)
    assert Draws(np.zeros(0), np.zeros(0), 10, 20.0, 1.0, 1.0).exceeds(0.05) == -21  # nothing beyond what must be


@pytest.mark.parametrize(("size", "threshold"), [(100, -40), (350, -160), (5000, -700)])
def test_expected_labels_come_true_without_errors(size: int, threshold: int) -> None:
    start = Draws(np.zeros(0), np.zeros(0), size, float(size), 2.0, 2.0)
    needed = int(np.argmax(log_wealth(np.zeros(size), size, threshold) >= np.log(1000))) + 1
    assert start.expected(threshold, 0.001) == needed
    half = Draws(np.zeros(needed // 2), np.ones(needed // 2), size, float(size), 2.0, 2.0)
    assert half.expected(threshold, 0.001) == needed - needed // 2
    assert Draws(np.zeros(needed), np.ones(needed), size, float(size), 2.0, 2.0).expected(threshold, 0.001) == 0
    # Every label without an error multiplies the wealth by at most 1 / (1 - gap / capacity).
    assert np.log(1000) / -np.log1p(threshold / (2 * size)) <= needed + 1


@pytest.mark.parametrize("tail", [0.025, 0.001])
def test_sampling_gap_is_the_least_that_holds(tail: float) -> None:
    def beyond(d: int, minus: float, plus: float, t: int) -> float:
        law = np.ones(1)
        for _ in range(d):
            law = np.convolve(law, [minus, 1 - minus - plus, plus])
        return float(law[d + t + 1 :].sum()) if t >= -d else 1.0

    for d in (0, 1, 2, 7, 20, 41):
        t = int(sampling_gap(d, tail))
        for minus, plus in ((0.5, 0.5), (0.4, 0.4), (0.1, 0.1), (0.6, 0.4), (0.5, 0.3)):
            assert beyond(d, minus, plus, t) <= tail * (1 + 1e-9)
        if t > 0:  # one less would not do, for one of the two numbers of steps that the sum may have
            assert max(beyond(d, 0.5, 0.5, t - 1), beyond(d - 1, 0.5, 0.5, t - 1)) > tail
    # One instance may surely be neither's: both numbers of steps must be covered, at every size.
    for d in range(1, 60):
        t = int(sampling_gap(d, tail))
        assert max(beyond(d, 0.5, 0.5, t), beyond(d - 1, 0.5, 0.5, t)) <= tail * (1 + 1e-9)
    assert_exact(sampling_gap([7, 20], tail), [int(sampling_gap(7, tail)), int(sampling_gap(20, tail))])
