"""Groups of samples that share factor values, and the votes of the Z metrics, where they are determined."""

import re

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demele.core.errors import NotEnoughData
from demele.estimation.groups import (
    ValueGroups,
    complement_groups,
    majority_vote_accuracy,
    z_diff_accuracy,
    z_diff_points,
    z_votes,
)
from tests.oracles import groups as oracle
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def members(groups: ValueGroups) -> list[list[int]]:
    return [part.tolist() for part in np.split(groups.rows, groups.starts[1:])] if len(groups) else []


def small_set(seed: int = 0, n: int = 300, d: int = 3, M: int = 3, n_bins: int = 3) -> tuple[Floats, Ints]:
    rng = np.random.default_rng(seed)
    v = rng.random((n, M))
    return v[:, np.arange(d) % M] + 0.3 * rng.random((n, d)), np.minimum((n_bins * v).astype(int), n_bins - 1)


@given(
    st.integers(1, 4).flatmap(
        lambda m: st.lists(st.lists(st.integers(-1, 2), min_size=m, max_size=m), min_size=1, max_size=25)
    )
)
@settings(max_examples=80)
def test_groups_equal_the_oracle(rows: list[list[int]]) -> None:
    bins = np.array(rows)
    assert [members(ValueGroups.of(column)) for column in bins.T] == [
        oracle.groups_by_value(b.tolist()) for b in bins.T
    ]
    expected = [oracle.groups_by_others(bins, i) for i in range(bins.shape[1])]
    assert [members(groups) for groups in complement_groups(bins)] == expected


def test_more_combinations_than_integers() -> None:
    # 50 factors of 10 values: 10^49 combinations do not fit into 64 bits, but the rows can be told apart.
    rng = np.random.default_rng(0)
    kinds = rng.integers(10, size=(6, 50))
    bins = kinds[rng.integers(6, size=40)]
    bins[::2, 7] = rng.integers(10, size=20)
    bins[5, 3] = -1
    for i, groups in enumerate(complement_groups(bins)):
        assert sorted(members(groups)) == sorted(oracle.groups_by_others(bins, i))


def test_z_diff_points_of_a_single_pair() -> None:
    # Each value of each factor is held by two samples: factor 0 pairs 0 with 4 and 1 with 5, both differ by 4, factor 1
    # pairs 0 with 1 and 4 with 5, both differ by 1. Squared deviations from 2.5: 6.25 + 2.25 + 2.25 + 6.25 = 4 * 4.25.
    codes = np.array([[0.0], [4], [1], [5]])
    bins = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    points, factors = z_diff_points(codes, bins, n_points=60, batch_size=5, rng=np.random.default_rng(0))
    assert_close(points[:, 0], np.where(factors == 0, 4, 1) / np.sqrt(4.25), ROUNDING)


def test_z_diff_accuracy_is_the_share_of_points_named_rightly() -> None:
    # Trained to part 0 from 1 at about 0.5; of six test points two lie on the wrong side. In a tiny unit an
    # unscaled classifier would only see that factor 0 has more points.
    train, factors = np.array([[0.0], [0.05], [0.1], [0.9], [1.0]]), np.array([0, 0, 0, 1, 1])
    test, truth = np.array([[0.0], [0.2], [0.8], [0.9], [0.1], [0.8]]), np.array([0, 0, 1, 0, 1, 1])
    assert_exact(z_diff_accuracy(train, factors, test, truth), 4 / 6)
    assert_exact(z_diff_accuracy(1e-9 * train, factors, 1e-9 * test, truth), 4 / 6)


def test_z_diff_accuracy_counts_factors_never_trained_as_errors() -> None:
    train, factors = np.array([[0.0], [0.1], [0.9], [1.0]]), np.array([0, 0, 2, 2])
    test, truth = np.array([[0.0], [0.5], [0.9], [0.9]]), np.array([0, 1, 2, 3])
    assert_exact(z_diff_accuracy(train, factors, test, truth), 0.5)
    assert_exact(z_diff_accuracy(train, np.zeros(4, int), test, truth), 0.25)


@pytest.mark.parametrize("seed", range(3))
def test_votes_of_whole_groups_equal_the_oracle(seed: int) -> None:
    # A batch larger than every group uses each group whole: its vote is then known.
    codes, bins = small_set(seed, n=60)
    code, factor = z_votes(codes, bins, n_votes=300, batch_size=61, rng=np.random.default_rng(seed))
    for i in range(3):
        groups = oracle.groups_by_value(bins[:, i].tolist())
        possible = {int(np.argmin(oracle.relative_variances(codes, rows))) for rows in groups}
        assert set(code[factor == i].tolist()) == possible
    code, factor = z_votes(codes, bins, hold="others", n_votes=600, batch_size=61, rng=np.random.default_rng(seed))
    for i in range(3):
        groups = oracle.groups_by_others(bins, i)
        possible = {int(np.argmax(oracle.relative_variances(codes, rows))) for rows in groups}
        assert set(code[factor == i].tolist()) == possible


def test_constant_and_inactive_codes_never_win() -> None:
    codes, bins = small_set(d=4)
    codes = np.column_stack([np.full(len(codes), 2.5), codes])
    inactive = np.array([False, True, False, False, False])
    for hold in ("one", "others"):
        free = z_votes(codes, bins, hold=hold, n_votes=100, batch_size=20, rng=np.random.default_rng(0))[0]
        assert set(free.tolist()) & {1, 4}  # both hold factor 0
        assert 0 not in free
        rng = np.random.default_rng(0)
        bound = z_votes(codes, bins, hold=hold, n_votes=100, batch_size=20, rng=rng, inactive_codes=inactive)[0]
        assert not set(bound.tolist()) & {0, 1}


@pytest.mark.parametrize("batch_size", [20, 1000])
def test_equal_codes_in_other_units_are_ties_for_the_first(batch_size: int) -> None:
    codes, bins = small_set(d=1, M=1)
    copies = np.column_stack([codes, codes / 3e5, 7 * codes + 1])
    code, _ = z_votes(copies, bins, n_votes=80, batch_size=batch_size, rng=np.random.default_rng(0))
    assert_exact(code, np.zeros(80))
    levels = np.column_stack([bins, bins / 3e5, 7 * bins + 0.1]).astype(float)  # variance 0 in every group
    code, _ = z_votes(levels, bins, n_votes=80, batch_size=batch_size, rng=np.random.default_rng(0))
    assert_exact(code, np.zeros(80))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=30),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=30),
)
@settings(max_examples=80)
def test_majority_vote_equals_the_oracle(train: list[tuple[int, int]], test: list[tuple[int, int]]) -> None:
    arrays = [(np.array([c for c, _ in votes]), np.array([f for _, f in votes])) for votes in (train, test)]
    accuracy = majority_vote_accuracy(arrays[0], arrays[1], d=4, M=3)
    assert_close(accuracy, oracle.majority_vote_accuracy(train, test, 3), ROUNDING)


def test_no_group_is_an_error_that_names_the_factor() -> None:
    codes = np.arange(6.0)[:, None]
    bins = np.array([[0, 0], [0, 1], [1, 2], [1, 3], [2, 4], [2, 5]])
    message = "factors: no two samples share a value of factor 1; use fewer bins or more samples"
    for draw in (z_diff_points, z_votes):
        refuses(NotEnoughData, re.escape(message), draw, codes, bins, rng=np.random.default_rng(0))
    message = r"no two samples agree on all factors but factor 'hue', in 6 samples; .*2 or 3"
    named = {"rng": np.random.default_rng(0), "factor_names": ["hue", "size"]}
    refuses(NotEnoughData, message, z_votes, codes, bins, hold="others", **named)
