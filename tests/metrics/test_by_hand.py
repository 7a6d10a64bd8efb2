"""Metrics of predictors and interventions on codes for which their number can be worked out on paper."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import demele
from demele.core.errors import InputError
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
    found = demele.metrics.dci(GRID[:, :2], demele.Factors(factors, kinds="categorical"), model=model)  # type: ignore[arg-type]
    assert_close(found.modularity.value, (2 * (1 - TWO_OF_THREE) + 1) / 3, tolerance)


@pytest.mark.worked("dci_forest_compactness", "dci_lasso_compactness", "dci_boosting_compactness")
@pytest.mark.parametrize(
    ("model", "tolerance"), [("forest", PUBLISHED_TREES), ("lasso", SOLVER), ("boosting", PUBLISHED)]
)
def test_dci_compactness_of_a_factor_that_two_codes_hold(model: str, tolerance: dict[str, float]) -> None:
    """Two of three codes hold the first factor equally, 1 - log_3 2; one holds the second."""
    factors = np.column_stack([FIRST + SECOND, THIRD])
    found = demele.metrics.dci(GRID, demele.Factors(factors, kinds="continuous"), model=model)  # type: ignore[arg-type]
    assert_close(found.compactness.value, (1 - TWO_OF_THREE + 1) / 2, tolerance)


@pytest.mark.worked("dci_forest_explicitness", "dci_lasso_explicitness", "dci_boosting_explicitness")
@pytest.mark.parametrize("model", ["forest", "lasso", "boosting"])
def test_dci_explicitness_of_a_factor_that_no_code_holds(model: str) -> None:
    """The codes tell one factor without an error, and nothing of the other: as many rows of either value wherever."""
    factors = np.column_stack([FIRST, THIRD])
    found = demele.metrics.dci(GRID[:, :2], demele.Factors(factors, kinds="categorical"), model=model)  # type: ignore[arg-type]
    assert_close(found.explicitness.value, 0.5, SOLVER)


@pytest.mark.worked("explicitness")
def test_explicitness_of_a_code_that_tells_one_class_of_three() -> None:
    """AUC of the class that it tells: 1. Of the others: half of the rest is below and half is tied, 1/2 + 1/4."""
    classes = np.repeat([0, 1, 2], 40)
    code = (classes > 0).astype(float)[:, None]
    score = demele.metrics.explicitness(code, classes, score_on="training")
    assert_close(score.value, (1 + 0.5 + 0.5) / 3, ROUNDING)
    rare = demele.metrics.explicitness(np.vstack([code, [[0.5]]]), np.append(classes, 3))
    (said,) = [note.message for note in rare.notes if note.code == "value-without-auc"]
    assert said.startswith("1 of 4 values of factor 'v1' is too rare")


@pytest.mark.worked("sap")
def test_sap_of_a_code_beside_one_that_holds_half() -> None:
    """Squared correlations with the factor: 1, and 1/2 for its sum with something as varied and unrelated."""
    score = demele.metrics.sap(np.column_stack([FIRST, FIRST + SECOND]), demele.Factors(FIRST, kinds="continuous"))
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


# What Explicitness fits ----------------------------------------------------------------------------------------------


# Interventional robustness with medians of cells in place of means ---------------------------------------------------


def test_medians_by_hand() -> None:
    """Cells (0, 0): 0, 0, 9; (0, 1): 1, 1, 1; (1, 0): 4, 4, 4; (1, 1): 5, 5, 5. Medians are 0, 1, 4, 5.

    As in the paper's form for means: within a shape the light moves them by 0.5 from their mean, overall by 2.5.
    """
    factors = pd.DataFrame({"shape": np.repeat([0, 1], 6), "light": np.tile(np.repeat([0, 1], 3), 2)})
    codes = np.array([0.0, 9.0, 0.0, 1, 1, 1, 4, 4, 4, 5, 5, 5])[:, None]
    order = np.random.default_rng(0).permutation(12)
    known = demele.Factors(factors.iloc[order], kinds="categorical")
    score = demele.metrics.interventional_robustness(
        codes[order], known, factors_of_interest=["shape"], centre="median"
    )
    assert score.value == pytest.approx(0.8)


def test_medians_of_single_rows_are_means() -> None:
    rng = np.random.default_rng(0)
    factors = np.array([(a, b, c) for a in range(3) for b in range(4) for c in range(2)])[rng.permutation(24)[:20]]
    codes = rng.normal(size=(20, 2))
    asked: dict[str, Any] = {"factors_of_interest": [0], "nuisance": [1]}
    known = demele.Factors(factors, kinds="categorical")
    first, second = (
        demele.metrics.interventional_robustness(codes, known, centre=c, **asked) for c in ("mean", "median")
    )
    assert first.value == pytest.approx(second.value, abs=1e-12)


def test_other_centres_are_refused() -> None:
    with pytest.raises(InputError, match="centre"):
        demele.metrics.interventional_robustness(np.eye(4), np.eye(4)[:, :2], centre="mode")  # type: ignore[arg-type]


# A gap below 0 says why ----------------------------------------------------------------------------------------------


FACTORS = np.random.default_rng(0).random((400, 2))


@pytest.mark.parametrize("metric", [demele.metrics.dmig, demele.metrics.mig])
def test_a_score_below_0_says_that_another_code_informs_more(metric: object) -> None:
    assert callable(metric)
    swapped = metric(FACTORS[:, ::-1], FACTORS, reg_dim=[0, 1])
    assert swapped.value < 0
    (note,) = [note for note in swapped.notes if note.code == "below-zero"]
    assert note.message.startswith("below 0: for 2 of 2 factors another code informs more")
    right = metric(FACTORS[:, ::-1], FACTORS, reg_dim=[1, 0])
    assert right.value > 0
    assert not [note for note in right.notes if note.code == "below-zero"]


def test_where_the_order_was_assumed_that_note_says_it() -> None:
    swapped = demele.metrics.dmig(FACTORS[:, ::-1], FACTORS)
    assert [note.code for note in swapped.notes if note.severity == "warning"] == ["assumed-reg-dim"]
