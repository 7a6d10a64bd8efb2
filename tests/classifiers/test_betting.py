"""Betting without replacement: exact on small populations, at its level on the boundary of the hypothesis."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from demele.classifiers.intervals import FRACTIONS, Draws, sampling_gap, stakes
from tests.tolerances import ROUNDING, assert_close, assert_exact

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
    """Over all orders, the mean wealth after each draw is 1 if the sum is the threshold, and below if it is less."""
    drawn, mass = np.array(scores, float), np.array(weights, float)
    for slack, same in ((0, True), (1, False)):
        mean = np.zeros(drawn.size)
        for probability, order in _orders(drawn, mass):
            draws = Draws(drawn[order], mass[order], drawn.size, float(mass.sum()), loss, gain)
            mean += probability * np.exp(draws.log_wealth(float(drawn.sum()) + slack))
        if same:
            assert_close(mean, np.ones(drawn.size), ROUNDING)
        else:
            assert (mean < 1).all()


def test_level_over_all_orders_exactly() -> None:
    """Even someone who stops at the best moment errs with probability alpha at most."""
    for alpha in [0.5, 0.2, 0.05]:
        for scores, weights, loss, gain in SMALL:
            drawn, mass = np.array(scores, float), np.array(weights, float)
            error = 0.0
            for probability, order in _orders(drawn, mass):
                draws = Draws(drawn[order], mass[order], drawn.size, float(mass.sum()), loss, gain)
                error += probability * float(draws.log_wealth(float(drawn.sum())).max() >= -np.log(alpha))
            assert error <= alpha


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
    ended = Draws(np.zeros(needed), np.ones(needed), size, float(size), 2.0, 2.0)
    assert ended.expected(threshold, 0.001) == 0
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
