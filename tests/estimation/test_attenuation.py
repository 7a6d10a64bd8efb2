"""Covariances with the true values of a factor: exact identities."""

import numpy as np
from numpy.typing import NDArray

from demele.estimation.attenuation import (
    agreement,
    covariances,
    explained,
    gap,
    moment_difference,
    reliability,
    squared,
)
from tests.tolerances import ROUNDING, assert_close

Floats = NDArray[np.float64]


def drawn() -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(0)
    true = rng.normal(size=500)
    codes = np.column_stack([true + rng.normal(size=500), 0.5 * true + rng.normal(size=500), np.ones(500)])
    return codes, true, 3.0 + 2.0 * true + rng.normal(size=500)


def test_squared_correlations_and_least_squares() -> None:
    codes, true, _ = drawn()
    found = covariances(codes, true)
    expected = [np.corrcoef(codes[:, j], true)[0, 1] ** 2 for j in (0, 1)]
    assert_close(squared(found), [*expected, 0.0], ROUNDING)
    assert_close(gap(found), max(expected) - min(expected), ROUNDING)
    assert_close(gap(covariances(codes[:, :1], true)), expected[0], ROUNDING)
    fitted = np.column_stack([codes[:, :2], np.ones(500)])
    left = true - fitted @ np.linalg.lstsq(fitted, true, rcond=None)[0]
    assert_close(explained(found), 1 - left.var() / true.var(), ROUNDING)


def test_weights_are_repeated_rows() -> None:
    codes, true, _ = drawn()
    weights = np.random.default_rng(1).integers(0, 3, 500)
    repeated = np.repeat(np.arange(500), weights)
    found, expected = covariances(codes, true, weights.astype(float)), covariances(codes[repeated], true[repeated])
    assert_close(found.codes, expected.codes, ROUNDING)
    assert_close(found.cross, expected.cross, ROUNDING)


def test_reliabilities() -> None:
    _, true, given = drawn()
    assert_close(reliability(true, given), np.corrcoef(true, given)[0, 1] ** 2, ROUNDING)
    assert_close(agreement(true, given), np.corrcoef(true, given)[0, 1], ROUNDING)


def test_an_audit_of_all_rows_gives_the_moments_of_the_true_values() -> None:
    codes, true, given = drawn()
    of_true, of_given = covariances(codes, true), covariances(codes, given)
    found = moment_difference(of_given, of_true, of_given)
    assert_close(found.cross, of_true.cross, ROUNDING)
    assert_close(found.variance, of_true.variance, ROUNDING)
