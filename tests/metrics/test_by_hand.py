"""Metrics of predictors and interventions on codes for which their number can be worked out on paper."""

import math

import numpy as np
import pytest

import demele
from tests.tolerances import PUBLISHED, PUBLISHED_TREES, ROUNDING, SOLVER, assert_close, assert_mean

#: Every combination of three binary columns, 40 times.
GRID = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 40, dtype=float)
FIRST, SECOND, THIRD = GRID.T
#: Of three equal shares, the entropy of two to the base of three: what one of three leaves.
TWO_OF_THREE = math.log(2) / math.log(3)


@pytest.mark.worked("dci_forest_modularity", "dci_lasso_modularity", "dci_boosting_modularity")
@pytest.mark.parametrize(("model", "tolerance"), [("forest", PUBLISHED), ("lasso", SOLVER), ("boosting", SOLVER)])
def test_dci_modularity_of_a_code_that_holds_two_factors(model: str, tolerance: dict[str, float]) -> None:
    """The first code holds two factors equally, 1 - log_3 2, with 2/3 of the importance; the second holds one."""
    factors = np.column_stack([FIRST, FIRST, SECOND])
    found = demele.metrics.dci(GRID[:, :2], factors, model=model, kinds="categorical")  # type: ignore[arg-type]
    assert_close(found.modularity.value, (2 * (1 - TWO_OF_THREE) + 1) / 3, tolerance)


@pytest.mark.worked("dci_forest_compactness", "dci_lasso_compactness", "dci_boosting_compactness")
@pytest.mark.parametrize(
    ("model", "tolerance"), [("forest", PUBLISHED_TREES), ("lasso", SOLVER), ("boosting", PUBLISHED)]
)
def test_dci_compactness_of_a_factor_that_two_codes_hold(model: str, tolerance: dict[str, float]) -> None:
    """Two of three codes hold the first factor equally, 1 - log_3 2; one holds the second."""
    factors = np.column_stack([FIRST + SECOND, THIRD])
    found = demele.metrics.dci(GRID, factors, model=model, kinds="continuous")  # type: ignore[arg-type]
    assert_close(found.compactness.value, (1 - TWO_OF_THREE + 1) / 2, tolerance)


@pytest.mark.worked("dci_forest_explicitness", "dci_lasso_explicitness", "dci_boosting_explicitness")
@pytest.mark.parametrize("model", ["forest", "lasso", "boosting"])
def test_dci_explicitness_of_a_factor_that_no_code_holds(model: str) -> None:
    """The codes tell one factor without an error, and nothing of the other: as many rows of either value wherever."""
    factors = np.column_stack([FIRST, THIRD])
    found = demele.metrics.dci(GRID[:, :2], factors, model=model, kinds="categorical")  # type: ignore[arg-type]
    assert_close(found.explicitness.value, 0.5, SOLVER)


@pytest.mark.worked("explicitness")
def test_explicitness_of_a_code_that_tells_one_class_of_three() -> None:
    """AUC of the class that it tells: 1. Of the others: half of the rest is below and half is tied, 1/2 + 1/4."""
    classes = np.repeat([0, 1, 2], 40)
    code = (classes > 0).astype(float)[:, None]
    score = demele.metrics.explicitness(code, classes, score_on="training")
    assert_close(score.value, (1 + 0.5 + 0.5) / 3, ROUNDING)


@pytest.mark.worked("sap")
def test_sap_of_a_code_beside_one_that_holds_half() -> None:
    """Squared correlations with the factor: 1, and 1/2 for its sum with something as varied and unrelated."""
    score = demele.metrics.sap(np.column_stack([FIRST, FIRST + SECOND]), FIRST, kinds="continuous")
    assert_close(score.value, 0.5, ROUNDING)


@pytest.mark.worked("irs")
def test_irs_of_a_code_that_another_factor_moves() -> None:
    """At a fixed value of the first factor the second moves the first code by 1/4 from its mean, of 3/4 at most.

    Weights are these largest deviations in standard deviations: 3 / sqrt(5) and 1.
    """
    score = demele.metrics.irs(np.column_stack([FIRST + 0.5 * SECOND, SECOND]), GRID[:, :2])
    assert score.per_code is not None
    assert_close(score.per_code, [2 / 3, 1.0], ROUNDING)
    assert_close(score.value, (2 + math.sqrt(5)) / (3 + math.sqrt(5)), ROUNDING)


@pytest.mark.worked("z_diff", "z_min_variance")
@pytest.mark.parametrize("name", ["z_diff", "z_min_variance"])
def test_groups_of_a_factor_that_stands_twice(name: str) -> None:
    """Fixing a factor or its copy gives the same groups: a third of the answers is a guess between two, 2/3 are right.

    Above the 1/3 of guessing, that is 1/2 of what there is to gain.
    """
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, (2, 2000))
    codes, factors = np.column_stack([first, second]).astype(float), np.column_stack([first, second, first])
    options = {"n_train": 300, "n_test": 300, "batch_size": 50}
    values = [getattr(demele.metrics, name)(codes, factors, seed=seed, **options).value for seed in range(12)]
    assert_mean(values, 0.5)


@pytest.mark.worked("z_max_variance")
def test_votes_for_a_factor_that_no_code_holds() -> None:
    """Where only the third factor is left free, no code varies and the vote is for the first: 2/3 are right."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (2000, 3))
    codes = factors[:, :2].astype(float)
    values = [
        demele.metrics.z_max_variance(codes, factors, seed=seed, n_train=300, n_test=300, batch_size=50).value
        for seed in range(12)
    ]
    assert_mean(values, 0.5)
