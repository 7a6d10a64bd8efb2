"""Nearest-neighbour mutual information: worked by hand, against a loop over all pairs, and its laws."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from demele.core.errors import NotEnoughData
from demele.estimation.knn import (
    knn_factor_information,
    knn_information_matrix,
    ksg_information,
    ross_information,
    tie_fraction,
)
from tests.oracles import knn as oracle
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

#: Multiples of 0.1: their differences tie in the mind, and differ or not in the last bit.
tenths = st.integers(-30, 30).map(lambda i: i * 0.1)


def test_ross_leaves_out_labels_that_occur_once() -> None:
    # As above; 3.5 would be closer to 3 and 4 than their neighbours if it counted.
    codes = np.array([[9.0], [1.0], [3.5], [3.0], [4.0], [0.0]])
    labels = np.array([1, 0, 4, 1, 0, 0])
    assert_close(ross_information(codes, labels, n_neighbors=1), [1 / 60], ROUNDING)
    assert np.isnan(ross_information(codes, np.arange(6))).all()


def test_ksg_by_hand() -> None:
    # k = 1, points (0, 0), (1, 3), (3, 1), (7, 8). Distance to the nearest; strictly closer along x; along y:
    # (0, 0): 3; 0, 1 -> 2; 0, 1 -> 2.   (1, 3): 2; 1, 0 -> 2; 3 -> 1.
    # (3, 1): 2; 3 -> 1; 1, 0 -> 2.      (7, 8): 6; 7, 3 -> 2; 8, 3 -> 2.
    # I = h3 + h0 - (h1 + h1 + h0 + h1) / 4 - (h1 + h0 + h1 + h1) / 4 = 11/6 - 3/4 - 3/4 = 1/3.
    x, y = np.array([[0.0, 1.0, 3.0, 7.0], [0.0, 3.0, 1.0, 8.0]])
    assert_close(ksg_information(x, y, n_neighbors=1), 1 / 3, ROUNDING)


@settings(max_examples=150)
@given(st.lists(st.tuples(tenths, st.integers(0, 3)), min_size=2, max_size=40), st.integers(1, 4))
def test_ross_agrees_with_all_pairs(rows: list[tuple[float, int]], k: int) -> None:
    code, labels = map(list, zip(*rows, strict=True))
    actual = ross_information(np.array(code)[:, None], np.array(labels), n_neighbors=k, distances="direct")
    assert_close(actual, [oracle.ross(code, labels, k)], ROUNDING)


@settings(max_examples=100)
@given(st.lists(st.tuples(tenths, tenths), min_size=5, max_size=40), st.integers(1, 4))
def test_ksg_agrees_with_all_pairs(rows: list[tuple[float, float]], k: int) -> None:
    x, y = map(list, zip(*rows, strict=True))
    assert_close(ksg_information(np.array(x), np.array(y), n_neighbors=k), oracle.ksg(x, y, k), ROUNDING)


def test_atoms_are_counted_and_found_by_tie_fraction() -> None:
    # All equal: every neighbour is at distance 0, every sample on the spot. I = psi(6) + psi(1) - psi(3) - psi(6).
    codes = np.full((6, 1), 2.5)
    labels = np.array([0, 0, 0, 1, 1, 1])
    assert_close(ross_information(codes, labels, n_neighbors=1), [-1.5], ROUNDING)
    assert_exact(tie_fraction(codes[:, 0]), 1.0)
    assert_exact(tie_fraction(np.array([3.0, 1.0, 1.0, 1.0, 2.0])), 0.6)
    assert_exact(tie_fraction(np.array([3.0, 1.0])), 0.0)


def test_ksg_needs_more_samples_than_neighbours() -> None:
    x = np.arange(4.0)
    assert np.isfinite(ksg_information(x, x[::-1], n_neighbors=3))
    refuses(NotEnoughData, "at least 5 samples, got 4", ksg_information, x, x, n_neighbors=4)


def test_matrices_are_clipped_and_keep_nan() -> None:
    rng = np.random.default_rng(7)
    codes = rng.normal(size=(40, 6))
    factors = [(True, np.arange(40)), (True, rng.integers(0, 2, 40)), (False, rng.normal(size=40))]
    matrix = knn_information_matrix(codes, factors, jitter_seed=0)
    assert np.isnan(matrix[:, 0]).all()
    assert (matrix[:, 1:] >= 0).all()
    assert (matrix[:, 1:] == 0).any()
    refuses(NotEnoughData, "n_neighbors=40", knn_information_matrix, codes, factors, n_neighbors=40, jitter_seed=0)


def test_the_entropy_of_a_continuous_factor_only_tells_the_sample_size() -> None:
    rng = np.random.default_rng(6)
    for n_samples in (300, 3000):
        for values in (rng.uniform(size=n_samples), rng.normal(size=n_samples) * 1e-3):
            matrix = knn_factor_information([(False, values)], jitter_seed=0)
            assert_close(matrix, [[digamma(n_samples) - digamma(4)]], SOLVER)


def test_atoms_need_the_noise() -> None:
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1], 500)
    spiked = np.maximum(rng.normal(size=1000), 0) * labels  # three quarters zero; tells much of the label
    with_noise = knn_information_matrix(spiked[:, None], [(True, labels)], jitter_seed=0)
    # Zero: 500 of label 0, about 250 of label 1; positive: label 1. H(v) - H(v | z) = 0.693 - 0.75 * 0.637.
    assert 0.15 < with_noise[0, 0] < 0.28
