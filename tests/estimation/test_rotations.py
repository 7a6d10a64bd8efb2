"""Turning codes towards factors: closed forms of covariances between values, directions and joint diagonalisation."""

import numpy as np
import pytest
from scipy.linalg import polar
from scipy.stats import special_ortho_group

from demele.core.arrays import rng_for
from demele.scoring.alignment import (
    Scatter,
    between_covariance,
    candidates,
    completed,
    joint_diagonaliser,
    polar_factor,
    readouts,
    told,
)


def _rotation(d: int, seed: int = 0) -> np.ndarray:
    return np.atleast_2d(special_ortho_group.rvs(d, random_state=np.random.default_rng(seed)))


def _binned(factors: np.ndarray, bins: int = 10) -> np.ndarray:
    return np.minimum((factors * bins).astype(np.intp), bins - 1)


def test_means_of_noise_have_no_covariance_beyond_chance_on_average() -> None:
    rng = rng_for(0, "between noise")
    draws = [between_covariance(rng.normal(size=(40, 2)), rng.integers(0, 5, 40))[0] for _ in range(800)]
    mean, error = np.mean(draws, axis=0), np.std(draws, axis=0) / np.sqrt(len(draws))
    assert (np.abs(mean) < 3.5 * error).all()  # without the correction: 4 / 40 on the diagonal, 17 errors away
    assert error.max() < 0.003


def test_covariance_between_values_with_rows_left_out_is_that_of_the_other_rows() -> None:
    rng = rng_for(0, "between rows")
    codes, labels = rng.normal(size=(60, 3)), rng.integers(0, 4, 60)
    known = rng.random(60) < 0.7
    expected, values = between_covariance(codes[known], labels[known])
    found, same = between_covariance(codes, np.where(known, labels, -1))
    np.testing.assert_allclose(found, expected, atol=1e-15)
    assert values == same == 4
    means = np.array([codes[labels == k].mean(axis=0) - codes.mean(axis=0) for k in range(4)])
    plain = sum(np.outer(m, m) * (labels == k).mean() for k, m in enumerate(means))
    within = np.cov(codes.T, bias=True) - plain
    np.testing.assert_allclose(between_covariance(codes, labels)[0], plain - within * 3 / 56, atol=1e-14)


def test_readouts_are_the_rows_of_the_inverse_mixing() -> None:
    # codes = v A with independent v: the code that tells v_i apart and nothing else is that of the inverse's column
    levels = np.array(np.meshgrid(*[np.arange(4.0)] * 3)).reshape(3, -1).T
    levels = np.repeat(levels, 3, axis=0)
    mixing = np.array([[1.0, 0.5, 0.2], [0.0, 2.0, 0.3], [0.4, 0.1, 1.5]])
    scatter = Scatter.of(levels @ mixing, levels.astype(np.intp))
    shares, directions = readouts(scatter)
    inverse = np.linalg.inv(mixing)
    inverse /= np.linalg.norm(inverse, axis=0)
    np.testing.assert_allclose(np.abs((directions * inverse).sum(axis=0)), 1.0, atol=1e-9)
    np.testing.assert_allclose(shares, 1.0, atol=2e-5)
    assert told(scatter, shares).tolist() == [0, 1, 2]


def test_more_factors_than_codes_keeps_those_that_are_told_best() -> None:
    levels = np.array(np.meshgrid(*[np.arange(4.0)] * 3)).reshape(3, -1).T.repeat(5, axis=0)
    codes = np.column_stack([levels[:, 0] + 0.3 * levels[:, 1], levels[:, 2]])
    scatter = Scatter.of(codes, levels.astype(np.intp))
    shares, _ = readouts(scatter)
    assert told(scatter, shares).tolist() == [0, 2]


def test_polar_factor() -> None:
    turn = _rotation(5)
    np.testing.assert_allclose(polar_factor(turn), turn, atol=1e-12)
    matrix = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_allclose(polar_factor(matrix), polar(matrix)[0], atol=1e-12)


def test_completed_axes_are_orthonormal_and_begin_with_those_given() -> None:
    rng = np.random.default_rng(0)
    axes, spread = polar_factor(rng.normal(size=(6, 2))), np.cov(rng.normal(size=(50, 6)).T)
    whole = completed(axes, spread)
    np.testing.assert_allclose(whole.T @ whole, np.eye(6), atol=1e-12)
    np.testing.assert_array_equal(whole[:, :2], axes)
    rest = whole[:, 2:].T @ spread @ whole[:, 2:]
    np.testing.assert_allclose(rest, np.diag(rest.diagonal()), atol=1e-12)
    assert (np.diff(rest.diagonal()) <= 0).all()


@pytest.mark.parametrize("d", [2, 5, 8])
def test_joint_diagonalisation_finds_the_rotation_up_to_order_and_sign(d: int) -> None:
    turn, rng = _rotation(d, 3), np.random.default_rng(1)
    matrices = turn @ (np.eye(d) * rng.random((4, 1, d))) @ turn.T
    found = joint_diagonaliser(matrices, np.eye(d))
    agreement = np.abs(found.T @ turn)
    np.testing.assert_allclose(np.sort(agreement, axis=1)[:, -1], 1.0, atol=1e-8)
    np.testing.assert_allclose(np.sort(agreement, axis=1)[:, :-1], 0.0, atol=1e-8)


def test_candidates_turn_mixed_codes_back() -> None:
    rng = rng_for(0, "candidates")
    factors = rng.random((3000, 3))
    turn = _rotation(5, 7)
    codes = np.column_stack([factors, 0.3 * rng.random((3000, 2))]) @ turn
    matrices, scales = candidates(codes, _binned(factors))
    assert list(matrices) == ["identity", "readout", "class means", "joint diagonalisation"]
    for name, matrix in list(matrices.items())[1:]:
        np.testing.assert_allclose(matrix.T @ matrix, np.eye(5), atol=1e-10)
        match = np.abs(turn @ matrix)[:3].max(axis=1)  # which new axis holds each factor
        assert match.min() > 0.999, name
    assert 1.0 <= scales < 1.1


def test_codes_of_noise_and_single_codes_stay_as_they_are() -> None:
    rng = rng_for(0, "unturned")
    factors = rng.random((500, 3))
    for codes in (rng.normal(size=(500, 4)), factors[:, :1], np.column_stack([factors[:, 0], np.ones(500)])):
        matrices, _ = candidates(codes, _binned(factors))
        assert list(matrices) == ["identity"]
        np.testing.assert_array_equal(matrices["identity"], np.eye(codes.shape[1]))


def test_whitening_undoes_a_shear_that_no_rotation_does() -> None:
    rng = rng_for(0, "shear")
    factors = rng.random((4000, 2))
    codes = factors @ np.array([[1.0, 1.0], [0.0, 1.0]])
    found, _ = candidates(codes, _binned(factors), whiten=True)

    def most_mixed(matrix: np.ndarray) -> float:
        correlations = np.abs(np.corrcoef((codes @ matrix).T, factors.T)[:2, 2:])
        return float(np.sort(correlations, axis=1)[:, 0].max())

    assert most_mixed(found["whitened, joint diagonalisation"]) < 0.03
    assert min(most_mixed(found[name]) for name in ("readout", "class means", "joint diagonalisation")) > 0.2
