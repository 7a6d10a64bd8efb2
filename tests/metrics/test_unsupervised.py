"""Scores of codes alone: values worked by hand, published definitions, what is left out and said."""

import json
import math
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import demele
from demele.metrics.standalone.unsupervised import (
    gaussian_total_correlation,
    gaussian_wasserstein_correlation,
)
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

#: Two uncorrelated signs, and a mixture of them with correlation 0.6.
SIGNS = np.array([(a, b) for a in (-1.0, 1.0) for b in (-1.0, 1.0)] * 50)
CORRELATED = np.column_stack([SIGNS[:, 0], 0.6 * SIGNS[:, 0] + 0.8 * SIGNS[:, 1]])


@pytest.mark.parametrize(("variances", "r"), [((1.0, 1.0), 0.6), ((4.0, 0.25), -0.3), ((2.0, 3.0), 0.0)])
def test_two_codes_by_hand(variances: tuple[float, float], r: float) -> None:
    a, b = variances
    covariance = np.array([[a, r * math.sqrt(a * b)], [r * math.sqrt(a * b), b]])
    expected = 2 * (a + b) - 2 * math.sqrt(a * a + b * b + 2 * a * b * math.sqrt(1 - r * r))
    assert_close(gaussian_wasserstein_correlation(covariance), expected, ROUNDING)
    assert_close(gaussian_total_correlation(np.array([[1, r], [r, 1]])), -0.5 * math.log(1 - r * r), ROUNDING)


def test_a_result_by_hand() -> None:
    found = demele.probes.unsupervised_scores(CORRELATED)
    scale = 200 / 199  # covariances divide by n - 1
    assert_close(found.gaussian_total_correlation, -0.5 * math.log(0.64), ROUNDING)
    assert_close(found.gaussian_wasserstein_correlation, scale * (4 - 2 * math.sqrt(3.6)), ROUNDING)
    assert_close(found.gaussian_wasserstein_correlation_norm, (4 - 2 * math.sqrt(3.6)) / 2, ROUNDING)
    assert_close(found.mutual_info_score, math.log(2), ROUNDING)  # the second has four values, which tell the first
    assert_close(found.information, [[np.nan, math.log(2)], [math.log(2), np.nan]], ROUNDING)
    assert_close(demele.probes.unsupervised_scores(SIGNS).to_frame()["value"], [0, 0, 0, 0], ROUNDING)


def test_published_definitions_of_many_codes() -> None:
    """Wasserstein distance and total correlation by other formulas: matrix square roots, and determinants."""
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5))
    covariance = np.cov(codes.T)
    root = scipy.linalg.sqrtm(covariance)
    inner = scipy.linalg.sqrtm(root @ np.diag(np.diag(covariance)) @ root).real
    found = demele.probes.unsupervised_scores(codes)
    distance = 2 * np.trace(covariance) - 2 * np.trace(inner)
    assert_close(found.gaussian_wasserstein_correlation, distance, SOLVER)
    assert_close(found.gaussian_wasserstein_correlation_norm, distance / np.trace(covariance), SOLVER)
    total = 0.5 * (np.log(np.diag(covariance)).sum() - np.log(np.linalg.det(covariance)))
    assert_close(found.gaussian_total_correlation, total, SOLVER)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_codes_of_any_size_have_scores(scale: float) -> None:
    one, other = demele.probes.unsupervised_scores(CORRELATED), demele.probes.unsupervised_scores(CORRELATED * scale)
    assert_close(other.gaussian_wasserstein_correlation_norm, one.gaussian_wasserstein_correlation_norm, SOLVER)
    assert_close(other.gaussian_total_correlation, one.gaussian_total_correlation, SOLVER)


def test_dead_codes_are_left_out_and_copies_are_said() -> None:
    with_dead = np.column_stack([CORRELATED[:, 0], np.full(200, 7.0), CORRELATED[:, 1]])
    found = demele.probes.unsupervised_scores(with_dead)
    assert_exact(found.mutual_info_score, demele.probes.unsupervised_scores(CORRELATED).mutual_info_score)
    assert np.isnan(found.information[1]).all()
    assert [note.code for note in found.notes] == ["constant-code"]
    copies = demele.probes.unsupervised_scores(np.column_stack([SIGNS, SIGNS.sum(axis=1)]))
    assert math.isinf(copies.gaussian_total_correlation)
    assert [note.code for note in copies.notes] == ["collinear-codes"]
    assert json.loads(copies.to_json())["gaussian_total_correlation"] is None


@pytest.mark.parametrize(
    ("codes", "options", "message"),
    [
        (SIGNS[:, :1], {}, "at least 2 codes that vary, got 1"),
        (SIGNS * 0, {}, "at least 2 codes that vary, got 0"),
        (SIGNS[:1], {}, "at least 2 rows"),
        (SIGNS, {"n_permutations": -1}, "n_permutations: expected a whole number >= 0"),
        (SIGNS, {"bins": True}, "bins: expected a number"),
        (SIGNS * np.nan, {}, "non-finite"),
    ],
)
def test_what_cannot_be_scored_is_refused(codes: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(demele.errors.InputError, match=message):
        demele.probes.unsupervised_scores(codes, **options)
