"""What the Z metrics draw: the right pairs, groups and batches with the right chances, and what follows from them."""

import itertools
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from demele.estimation.groups import (
    _distinct_positions,
    majority_vote_accuracy,
    z_diff_accuracy,
    z_diff_points,
    z_votes,
)
from tests.oracles import groups as oracle
from tests.tolerances import ROUNDING, assert_close, assert_exact, assert_mean

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Groups of 4, 3 and 2 rows, a lone row and an unannotated one; a second factor of two values.
of_others = partial(z_votes, hold="others")  # Z-max variance
UNEVEN = np.array([0, 1, 0, 2, 1, 0, 3, 2, 1, 0, -1])
HALVES = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0])


def vote_accuracy(votes: tuple[Any, ...], d: int, M: int) -> float:
    half = len(votes[0]) // 2
    return majority_vote_accuracy((votes[0][:half], votes[1][:half]), (votes[0][half:], votes[1][half:]), d, M)


def diff_accuracy(points: Floats, factors: npt.NDArray[np.intp]) -> float:
    half = len(points) // 2
    return z_diff_accuracy(points[:half], factors[:half], points[half:], factors[half:])


def uniform_factors(seed: int, n: int, M: int, n_bins: int) -> tuple[Floats, Ints]:
    v = np.random.default_rng(seed).random((n, M))
    return v, np.minimum((n_bins * v).astype(int), n_bins - 1)


def test_factors_are_drawn_uniformly_and_units_of_the_codes_do_not_matter() -> None:
    codes, bins = uniform_factors(0, 400, 4, 2)
    for draw in (z_diff_points, z_votes, of_others):
        drawn, factors = draw(codes, bins, batch_size=3, rng=np.random.default_rng(1))
        for i in range(4):
            assert_mean(factors == i, 1 / 4)
        scaled = draw(codes * [3e-7, 1, -1, 1e200], bins, batch_size=3, rng=np.random.default_rng(1))
        assert_close(scaled[0], drawn, ROUNDING)
        assert_exact(scaled[1], factors)


def test_every_pair_has_its_chance() -> None:
    # |2^a - 2^b| names the pair {a, b}. Rows 6 (alone) and 10 (not annotated) are in no pair of factor 0.
    codes = np.exp2(np.arange(float(len(UNEVEN))))[:, None]
    bins = np.column_stack([UNEVEN, HALVES])
    points, factors = z_diff_points(codes, bins, n_points=20000, batch_size=1, rng=np.random.default_rng(2))
    drawn = np.rint(points[:, 0] * codes.std())
    for i in range(2):
        chances = oracle.pair_probabilities(bins[:, i].tolist())
        assert_close(sum(chances.values()), 1.0, ROUNDING)
        sizes = {2**b - 2**a: chance for (a, b), chance in chances.items()}
        assert set(drawn[factors == i].tolist()) == set(sizes)
        for size, chance in sizes.items():
            assert_mean(drawn[factors == i] == size, chance)


def test_pairs_share_the_value_and_are_distinct() -> None:
    # The factors themselves as codes: a point of factor i is 0 in code i. The row number as code: never 0.
    _, bins = uniform_factors(3, 500, 3, 5)
    codes = np.column_stack([bins, np.arange(500)]).astype(float)
    points, factors = z_diff_points(codes, bins, n_points=3000, batch_size=1, rng=np.random.default_rng(3))
    assert_exact(points[np.arange(3000), factors], np.zeros(3000))
    assert (points[:, 3] > 0).all()


def test_points_have_the_expected_mean() -> None:
    rng = np.random.default_rng(4)
    bins = np.column_stack([UNEVEN, HALVES])
    codes = rng.standard_normal((len(bins), 3))
    points, factors = z_diff_points(codes, bins, n_points=2000, batch_size=10, rng=rng)
    for i in range(2):
        expected = oracle.expected_difference(codes, bins[:, i].tolist())
        for j in range(3):
            assert_mean(points[factors == i, j], expected[j])


def test_batches_are_uniform_subsets() -> None:
    sizes = np.tile([5, 4, 6], 6000)
    positions = np.sort(_distinct_positions(sizes, 3, np.random.default_rng(5)), axis=0).T
    for size in (4, 5, 6):
        drawn = [tuple(row) for row in positions[sizes == size].tolist()]
        subsets = list(itertools.combinations(range(size), 3))
        assert set(drawn) == set(subsets)
        for subset in subsets:
            assert_mean([row == subset for row in drawn], 1 / len(subsets))


@pytest.mark.parametrize("batch_size", [5, 1000])
def test_values_come_as_often_as_samples_hold_them(batch_size: int) -> None:
    # 300 rows with value 0, where code 0 stands still, 100 with value 1, where code 1 does: the vote names the value.
    value = np.repeat([0, 1], [300, 100])
    noise = np.random.default_rng(6).standard_normal(400)
    codes = np.column_stack([noise * value, noise * (1 - value)])
    rng = np.random.default_rng(6)
    code, _ = z_votes(codes, value[:, None], n_votes=3000, batch_size=batch_size, rng=rng)
    assert_mean(code == 1, 1 / 4)
    # The same for Z-max with a second factor that is the value, and a first one that varies freely.
    bins = np.column_stack([np.arange(400) % 7, value])
    code, factor = of_others(codes, bins, n_votes=6000, batch_size=batch_size, rng=rng)
    assert_mean(code[factor == 0] == 0, 1 / 4)


def test_a_perfect_code_is_always_right() -> None:
    v, bins = uniform_factors(7, 3000, 4, 10)
    codes = v[:, [2, 0, 3, 1]] ** 3
    rng = np.random.default_rng(7)
    assert diff_accuracy(*z_diff_points(codes, bins, n_points=600, rng=rng)) == 1.0
    assert vote_accuracy(z_votes(codes, bins, n_votes=400, rng=rng), 4, 4) == 1.0
    levels = np.minimum((3 * v).astype(int), 2)  # Z-max: codes that are a function of the bins stand still exactly
    assert vote_accuracy(of_others(levels[:, [2, 0, 3, 1]] * 1.0, levels, n_votes=400, rng=rng), 4, 4) == 1.0


def test_noise_is_right_by_chance() -> None:
    found: dict[str, list[float]] = {"z_diff": [], "z_min": [], "z_max": []}
    for seed in range(25):
        rng = np.random.default_rng(seed)
        bins, codes = rng.integers(3, size=(1500, 3)), rng.standard_normal((1500, 4))
        found["z_diff"].append(diff_accuracy(*z_diff_points(codes, bins, n_points=300, batch_size=10, rng=rng)))
        found["z_min"].append(vote_accuracy(z_votes(codes, bins, n_votes=300, batch_size=10, rng=rng), 4, 3))
        found["z_max"].append(vote_accuracy(of_others(codes, bins, n_votes=300, batch_size=10, rng=rng), 4, 3))
    for accuracies in found.values():
        assert_mean(accuracies, 1 / 3)


def test_unannotated_rows_are_used_only_where_they_are_annotated() -> None:
    # Code 0 is 0 on annotated rows of factor 0 and 1 elsewhere: a point of factor 0 never sees the difference.
    _, bins = uniform_factors(10, 400, 2, 3)
    missing = np.arange(400) % 4 == 0
    bins[missing, 0] = -1
    codes = np.column_stack([missing, np.arange(400)]).astype(float)
    rng = np.random.default_rng(10)
    points, factors = z_diff_points(codes, bins, n_points=400, batch_size=20, rng=rng)
    assert_exact(points[factors == 0, 0], np.zeros(np.count_nonzero(factors == 0)))
    assert (points[factors == 1, 0] > 0).all()
    code, factor = z_votes(codes, bins, n_votes=400, batch_size=20, rng=rng)
    assert_exact(code[factor == 0], np.zeros(np.count_nonzero(factor == 0)))
    # Z-max for factor 0 needs the annotation of factor 1 only, for factor 1 that of factor 0.
    code, factor = of_others(codes, bins, n_votes=400, batch_size=20, rng=rng)
    assert_exact(code[factor == 1], np.ones(np.count_nonzero(factor == 1)))
    assert set(code[factor == 0].tolist()) == {0, 1}
