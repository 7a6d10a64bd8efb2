"""Bounds under a share of wrong annotations: closed forms, and no relabelling leaves them."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demele.estimation.annotation_errors import (
    BOUNDS,
    GAP,
    BinnedCodes,
    InformationBounds,
    attained_share,
    entropy_range,
    gap_bounds,
    information_bounds,
    label_slopes,
    least_information,
    most_information,
    table_of,
)
from demele.estimation.information import InformationTable, entropy, mutual_information
from demele.metrics.information.entropies import dcimig
from demele.metrics.information.gaps import mig, mig_sup
from tests.tolerances import ROUNDING, assert_close

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
PERFECT = np.diag([0.5, 0.5])[None]
#: What is above a certified bound by rounding alone.
EDGE = 1e-9


def h(p: float) -> float:
    return -p * math.log(p) - (1 - p) * math.log(1 - p)


@pytest.mark.parametrize(("share", "least"), [(0.01, 0.637146), (0.05, 0.494632), (0.1, 0.368064)])
def test_two_values_and_a_perfect_code(share: float, least: float) -> None:
    assert abs(math.log(2) - h(share) - least) < 1e-6
    found = float(least_information(PERFECT, share)[0])
    assert found <= math.log(2) - h(share) + EDGE
    assert found > math.log(2) - h(share) - GAP
    most = float(most_information(PERFECT, share)[0])
    assert math.log(2) - EDGE <= most <= math.log(2) + 1e-4


def test_entropies_are_exact() -> None:
    assert_close(entropy_range(np.array([0.3, 0.7]), 0.1), [h(0.2), h(0.4)], ROUNDING)
    assert_close([h(0.2), h(0.4)], [0.500402, 0.673012], {"rtol": 0, "atol": 1e-6})
    assert_close(entropy_range(np.array([9.0, 1.0]), 0.2), [0.0, h(0.3)], ROUNDING)
    # the top is cut from 0.6 to 0.5, the bottom filled from 0.1 to 0.2; the rarest goes to the commonest
    low, high = entropy_range(np.array([0.1, 0.6, 0.3]), 0.1)
    assert_close(low, h(0.3), ROUNDING)
    assert_close(high, -sum(p * math.log(p) for p in (0.2, 0.5, 0.3)), ROUNDING)
    assert_close(entropy_range(np.array([0.1, 0.6, 0.3]), 0.5)[1], math.log(3), ROUNDING)


def tables(seed: int, n: int, k: int, d: int = 4, m: int = 3) -> tuple[Ints, Ints]:
    """Codes that hold a factor each with noise, the last none; five bins."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, k, (m, n))
    known = rng.random((d, n)) < np.linspace(0.9, 0.0, d)[:, None]
    codes = np.where(known, factors[np.arange(d) % m] % 5, rng.integers(0, 5, (d, n)))
    return codes, factors


def crossed(codes: Ints, factor: Ints, k: int) -> Floats:
    """Counts (..., codes, bins, values) of values of shape (..., n)."""
    values = np.eye(k)[factor]
    found: Floats = np.einsum("dnb,...nk->...dbk", np.eye(5)[codes], values)
    return found


@pytest.mark.parametrize("share", [0.0, 0.02, 0.1])
def test_bounds_lie_around_the_value_and_widen(share: float) -> None:
    codes, factors = tables(0, 400, 4)
    counts = [crossed(codes, factor, 4) for factor in factors]
    value = np.stack([mutual_information(table) for table in counts], axis=-1)
    bounds, wider = (information_bounds(counts, [one] * 3) for one in (share, share + 0.03))
    assert (bounds.low <= value + EDGE).all()
    assert (bounds.high >= value - EDGE).all()
    assert (wider.low <= bounds.low).all()
    assert (wider.high >= bounds.high - EDGE).all()
    assert wider.low[0, 0] < bounds.low[0, 0] - GAP
    assert wider.high[3, 0] > bounds.high[3, 0] + GAP
    if share == 0:
        assert_close(np.stack([bounds.low, bounds.high]), np.stack([value, value]), {"rtol": 0, "atol": 1e-4})
        assert_close(bounds.entropy_low, bounds.entropy_high, ROUNDING)


def scores(counts: list[Floats]) -> dict[str, Floats]:
    information = np.stack([mutual_information(table) for table in counts], axis=-1)
    heights = np.stack([entropy(table[..., 0, :, :].sum(axis=-2)) for table in counts], axis=-1)
    table = InformationTable(information, heights)
    return {one.__name__: one.formula(table).value for one in (mig, mig_sup, dcimig)}


def inside(bounds: InformationBounds, counts: list[Floats]) -> None:
    """No table leaves the bounds, nor does any score of them."""
    for index, table in enumerate(counts):
        found, height = mutual_information(table), entropy(table[..., 0, :, :].sum(axis=-2))
        assert (found >= bounds.low[:, index] - EDGE).all()
        assert (found <= bounds.high[:, index] + EDGE).all()
        assert height.min() >= bounds.entropy_low[index] - EDGE
        assert height.max() <= bounds.entropy_high[index] + EDGE
    for name, found in scores(counts).items():
        low, high = BOUNDS[name](bounds)
        assert found.min() >= low - EDGE
        assert found.max() <= high + EDGE


def greedy(codes: Ints, factor: Ints, k: int, number: int, sign: float) -> Ints:
    """Relabel the rows that change the information of the first code most by its slope."""
    table = crossed(codes[:1], factor, k)[0] + 1e-3
    slope = sign * np.log(table / table.sum(axis=0))[codes[0]]
    gain = slope.max(axis=1) - slope[np.arange(factor.size), factor]
    other = factor.copy()
    rows = np.argsort(-gain)[:number]
    other[rows] = slope.argmax(axis=1)[rows]
    return other


@pytest.mark.parametrize("share", [0.01, 0.1])
def test_no_relabelling_of_many_rows_leaves_the_bounds(share: float) -> None:
    rng = np.random.default_rng(5)
    codes, factors = tables(5, 600, 4)
    number = round(share * 600)
    bounds = information_bounds([crossed(codes, factor, 4) for factor in factors], [share] * 3)
    drawn = np.repeat(factors[:, None], 102, axis=1)
    for one in drawn.reshape(-1, 600)[: 3 * 102]:
        rows = rng.choice(600, number, replace=False)
        one[rows] = rng.integers(0, 4, number)
    for index, factor in enumerate(factors):
        drawn[index, -2] = greedy(codes, factor, 4, number, 1.0)
        drawn[index, -1] = greedy(codes, factor, 4, number, -1.0)
    inside(bounds, [crossed(codes, one, 4) for one in drawn])
    reached = mutual_information(crossed(codes[:1], drawn[0], 4))[:, 0]
    room = bounds.high[0, 0] - bounds.low[0, 0]
    assert reached.max() - reached.min() > 0.5 * room, "bounds that nothing comes near say nothing"


def test_gaps_of_intervals_by_hand() -> None:
    low, high = np.array([[0.5], [0.2], [0.0]]), np.array([[0.6], [0.3], [0.25]])
    least, most = gap_bounds(low, high, 0)
    assert_close(least[:, 0], [0.2, -0.4, -0.6], ROUNDING)
    assert_close(most[:, 0], [0.4, -0.2, -0.25], ROUNDING)
    bounds = InformationBounds(low, high, np.array([0.8]), np.array([1.0]))
    assert_close(BOUNDS["mig"](bounds), [0.2, 0.5], ROUNDING)


# Slopes of scores in single annotations, and relabellings that turn an order round -----------------------------------


def score(table: InformationTable, metric: Any = mig) -> Floats:
    return np.asarray(metric.formula(table).value)


def drawn(n: int = 1000) -> tuple[BinnedCodes, BinnedCodes, Ints]:
    """A better and a worse representation of two factors of four values."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (2, n))

    def codes(share: float) -> BinnedCodes:
        known = np.where(rng.random((2, n)) < share, factors, rng.integers(0, 4, (2, n)))
        return BinnedCodes(np.vstack([known, rng.integers(0, 4, n)]), 4)

    return codes(0.9), codes(0.8), factors


def test_slopes_tell_how_the_score_changes_with_one_annotation() -> None:
    codes, _, factors = drawn(4000)
    for formula in (score, partial(score, metric=dcimig)):
        counts = [codes.counts(factor, 4) for factor in factors]
        before = float(formula(table_of(counts)))
        slope = label_slopes(codes, counts, formula)[0]
        for row in range(0, 4000, 400):
            changed = factors[0].copy()
            changed[row] = (changed[row] + 1) % 4
            after = float(formula(table_of([codes.counts(changed, 4), counts[1]])))
            expected = (slope[row, changed[row]] - slope[row, factors[0, row]]) / 4000
            assert abs(after - before - expected) < 0.15 * abs(expected) + 1e-7


def test_the_order_turns_round_at_the_attained_share_and_earlier_than_by_wrong_annotations_at_random() -> None:
    better, worse, factors = drawn()
    found = attained_share(better, worse, factors, [4, 4], score)
    assert 0.005 < found < 0.2
    rng = np.random.default_rng(1)
    noisy = np.where(rng.random(factors.shape) < found, rng.integers(0, 4, factors.shape), factors)
    scores = [float(score(table_of([codes.counts(factor, 4) for factor in noisy]))) for codes in (better, worse)]
    assert scores[0] > scores[1]
    assert attained_share(worse, better, factors, [4, 4], score) == 0.0
    assert np.isnan(attained_share(better, worse, factors, [4, 4], score, most=0.005))
