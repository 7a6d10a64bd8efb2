"""Scores of codes alone, UDR, WSEPIN and WSEP: values by hand, published definitions, what is left out and said."""

import json
import math
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from numpy.typing import NDArray
from scipy.stats import spearmanr

import demele
from demele.metrics.standalone.unsupervised import log_densities, relative_strength
from tests.oracles import posteriors as oracle
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

#: Two uncorrelated signs, and a mixture of them with correlation 0.6.
SIGNS = np.array([(a, b) for a in (-1.0, 1.0) for b in (-1.0, 1.0)] * 50)
CORRELATED = np.column_stack([SIGNS[:, 0], 0.6 * SIGNS[:, 0] + 0.8 * SIGNS[:, 1]])


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
        (SIGNS, {"bins": True}, "bins: expected a number"),
        (SIGNS * np.nan, {}, "non-finite"),
    ],
)
def test_what_cannot_be_scored_is_refused(codes: Any, options: dict[str, Any], message: str) -> None:
    refuses(demele.errors.InputError, message, demele.probes.unsupervised_scores, codes, **options)


# UDR -----------------------------------------------------------------------------------------------------------------


#: Eight rows, three columns of signs that are not correlated.
CUBE = np.array([(a, b, c) for a in (-1.0, 1.0) for b in (-1.0, 1.0) for c in (-1.0, 1.0)])
MIXED = np.column_stack([CUBE[:, 0] + CUBE[:, 1], CUBE[:, 0] - CUBE[:, 1], CUBE[:, 2]])


@pytest.mark.parametrize(
    ("similarity", "expected"),
    [
        ([[1, 0], [0, 1]], 1.0),
        ([[0, 0.9], [0.9, 0]], 0.9),
        ([[0.8, 0.2], [0.0, 0.0]], ((0.8 + 0.2) / 2 + 0.64 / 2) / 2),  # a row of zeros counts as 0
        ([[0.6, 0.3, 0.1]], ((0.6 + 0.3 + 0.1) / 3 + 0.36) / 2),
    ],
)
def test_relative_strength_by_hand(similarity: Any, expected: float) -> None:
    assert_close(relative_strength(np.array(similarity, dtype=float)), expected, ROUNDING)


def test_order_sign_and_scale_of_codes_do_not_matter() -> None:
    models = [CUBE, -3.0 * CUBE[:, [2, 0, 1]], CUBE * [1.0, -1.0, 1e-3]]
    assert_close(demele.probes.udr(models, similarity="spearman").scores, [1, 1, 1], ROUNDING)
    assert_close(demele.probes.udr(models).scores, [0.9, 0.9, 0.9], SOLVER)  # the Lasso takes 0.1 off each weight


def test_mixed_codes_by_hand() -> None:
    """Two of three codes are a rotation by 45 degrees: the weights are 1/sqrt(2) - 0.1, twice."""
    weight = np.sqrt(0.5) - 0.1
    expected = (2 * weight / 2 + 0.9) / 3
    assert_close(demele.probes.udr([CUBE, MIXED]).scores, [expected, expected], SOLVER)


def test_spearman_is_that_of_scipy_with_ties() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, (60, 2)).astype(float), rng.normal(size=(60, 3))
    second[:, 0] += first[:, 1]
    ranks = np.array([[abs(spearmanr(a, b).statistic) for b in second.T] for a in first.T])
    found = demele.probes.udr([first, second], similarity="spearman")
    assert_close(found.pairs[0, 1], relative_strength(ranks), SOLVER)
    assert_close(found.pairs[1, 0], found.pairs[0, 1], ROUNDING)


def test_a_score_is_the_median_of_the_pairs_in_its_column() -> None:
    rng = np.random.default_rng(1)
    base = rng.normal(size=(300, 3))
    models = [base, base + rng.normal(size=base.shape), base @ rng.normal(size=(3, 3)), base**3]
    found = demele.probes.udr(models)
    assert np.isnan(np.diag(found.pairs)).all()
    assert_exact(found.scores, [np.median(np.delete(found.pairs[:, j], j)) for j in range(4)])
    assert abs(found.pairs[0, 2] - found.pairs[2, 0]) > 1e-6, "the Lasso has a direction"


def test_codes_without_divergence_are_left_out() -> None:
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(8, 1))
    models = {"one": np.hstack([CUBE, noise]), "other": np.hstack([noise[::-1], CUBE])}
    gated = demele.probes.udr(models, similarity="spearman", kl={"one": [1, 1, 1, 0.01], "other": [0, 1, 1, 1]})
    assert_close(gated.scores, [1, 1], ROUNDING)
    assert gated.informative == (("z1", "z2", "z3"), ("z2", "z3", "z4"))
    assert [note.code for note in gated.notes] == ["few-models"]
    free = demele.probes.udr(models, similarity="spearman")
    assert (free.scores < 0.95).all()
    assert "no-gate" in {note.code for note in free.notes}


def test_divergences_follow_from_deviations() -> None:
    codes = np.column_stack([CUBE[:, :2], np.zeros(8) + 0.1 * CUBE[:, 2]])
    deviations = np.full(codes.shape, 0.5)
    deviations[:, 2] = 1.0  # divergence 0.5 * 0.01 = 0.005 nats
    found = demele.probes.udr([codes, CUBE], codes_std=[deviations, deviations * 0 + 0.5])
    assert found.informative[0] == ("z1", "z2")
    lower = demele.probes.udr([codes, CUBE], codes_std=[deviations, deviations * 0 + 0.5], threshold=0.0049)
    assert len(lower.informative[0]) == 3


def test_models_without_informative_codes_have_no_value() -> None:
    found = demele.probes.udr([CUBE, CUBE, CUBE * 0], similarity="spearman")
    assert_close(found.scores, [1, 1, np.nan], ROUNDING)
    assert found.best() == "model 0"
    assert "no-informative-code" in {note.code for note in found.notes}
    assert found.to_frame()["informative_codes"].tolist() == [3, 3, 0]
    with pytest.raises(demele.errors.NotEnoughData, match="no model has a score"):
        demele.probes.udr([CUBE * 0, CUBE * 0]).best()


def test_what_cannot_be_compared_is_refused() -> None:
    codes_cases: Any = [
        ([CUBE], {}, "at least 2 models, got 1"),
        (CUBE, {}, "several models in a list, got ndarray"),
        ([CUBE, CUBE[:4]], {}, "same samples .* model 0: 8, model 1: 4"),
        ([CUBE, CUBE], {"similarity": "pearson"}, "similarity: expected 'lasso' or 'spearman'"),
        ([CUBE, CUBE], {"threshold": -1}, "threshold"),
        ([CUBE, CUBE], {"kl": [[1, 1, 1]]}, "kl: expected one array for each of the 2 models, got 1"),
        ([CUBE, CUBE], {"kl": [[1, 1, 1], [1, 1]]}, "kl: expected 3 values for model 1"),
        ({"a": CUBE, "b": CUBE}, {"kl": {"a": [1, 1, 1]}}, "nothing came for 'b'"),
        ([CUBE, CUBE], {"codes_std": [CUBE, CUBE]}, "codes_std of model 0: expected standard deviations above 0"),
        ([CUBE, CUBE], {"kl": [], "codes_std": []}, "codes_std and kl: expected one of the two"),
        ([CUBE, CUBE * np.inf], {}, "codes of model 1: .*non-finite"),
    ]
    for codes, options, message in codes_cases:
        with np.errstate(invalid="ignore"), pytest.raises(demele.errors.InputError, match=message):
            demele.probes.udr(codes, **options)


# Stochastic codes -----------------------------------------------------------------------------------------------------

Array = NDArray[np.float64]


def independent(n: int, d: int, deviation: float, seed: int = 0) -> tuple[Array, Array]:
    """Codes whose means and noise together have variance 1."""
    means = np.random.default_rng(seed).normal(scale=math.sqrt(1 - deviation**2), size=(n, d))
    return means, np.full((n, d), deviation)


def test_independent_codes_tell_what_single_ones_do() -> None:
    found = demele.metrics.stochastic_scores(*independent(2000, 2, 0.5), n_draws=3000)
    assert abs(found.wsepin - math.log(2)) < 5 * found.error + 0.02
    assert found.windin == found.wsepin
    assert abs(found.wsep) < 0.02
    assert found.notes == ()
    assert_close(found.weights.sum(), 1.0, ROUNDING)


def test_densities_in_loops() -> None:
    rng = np.random.default_rng(1)
    means, deviations, drawn = rng.standard_normal((12, 3)), 0.2 + rng.random((12, 3)), rng.standard_normal((5, 3))
    whole, each, others = log_densities(means, deviations, drawn)
    for row, z in enumerate(drawn.tolist()):
        expected = oracle.log_densities(z, means.tolist(), deviations.tolist())
        assert_close(whole[row], expected[0], ROUNDING)
        assert_close(each[row], expected[1], ROUNDING)
        assert_close(others[row], expected[2], ROUNDING)


@pytest.mark.parametrize(("d", "at_most"), [(4, 1.0), (8, 0.01)])
def test_sharp_codes_on_few_rows_say_that_the_rows_are_the_limit(d: int, at_most: float) -> None:
    """Their WSEPIN is 2.30; the row finds itself among 1000."""
    found = demele.metrics.stochastic_scores(*independent(1000, d, 0.1), n_draws=300)
    assert found.wsepin < at_most
    assert found.total <= math.log(1000)
    (note,) = found.notes
    assert (note.code, note.severity) == ("limit-of-rows", "fragile")


def test_densities_of_many_codes_are_not_floored() -> None:
    """Of 40 codes at once a density is far below 1e-8, which public code takes for all smaller ones."""
    means, deviations = independent(300, 40, 0.98)
    found = demele.metrics.stochastic_scores(means, deviations, n_draws=500)
    assert abs(found.total + 40 * math.log(0.98)) < 0.3


def test_codes_without_noise_and_wrong_shapes_are_refused() -> None:
    means, deviations = independent(20, 2, 0.5)
    sharp = deviations.copy()
    sharp[3, 1] = 0
    refuses(demele.errors.InputError, "column .z2., first at row 3", demele.metrics.stochastic_scores, means, sharp)
    refuses(demele.errors.InputError, "shape", demele.metrics.stochastic_scores, means, deviations[:, :1])
    with pytest.raises(demele.errors.NotEnoughData):
        demele.metrics.stochastic_scores(means[:1], deviations[:1])
    refuses(demele.DemeleError, "stochastic_scores", demele.evaluate, means, means, ["wsepin"])


def test_noise_tells_nothing_and_dead_codes_weigh_nothing() -> None:
    means, deviations = independent(1500, 2, 0.5)
    with_dead = demele.metrics.stochastic_scores(
        np.column_stack([means, np.zeros(1500)]), np.column_stack([deviations, np.ones(1500)]), n_draws=2000
    )
    assert abs(with_dead.information[2]) < 1e-9
    assert with_dead.weights[2] < 1e-9
    nothing = demele.metrics.stochastic_scores(np.zeros((50, 2)), np.ones((50, 2)))
    assert abs(nothing.total) < 1e-9
