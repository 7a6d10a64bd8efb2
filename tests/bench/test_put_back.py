"""Defects of the review's code that are put back in experiments do what was seen of them there."""

import numpy as np
import pytest

import demele
from benchmarks import put_back
from demele import metrics
from demele.core.arrays import rng_for
from demele.errors import FragileScoreWarning
from demele.metrics import dci_compactness
from tests.tolerances import PUBLISHED, ROUNDING, assert_close


def test_a_code_of_one_bit_of_ten_levels_has_a_mig_of_one_by_its_own_entropy() -> None:
    rng = np.random.default_rng(0)
    factors = rng.random((20_000, 4))
    codes = np.floor(2 * factors)
    # Seen of the review's code: 0.9998; by the entropy of the factor it is log 2 / log 10.
    assert put_back.gaps_by_code_entropy(codes, factors) > 0.998
    assert put_back.gaps_by_code_entropy(codes, factors, sup=True) > 0.998
    assert_close(
        demele.metrics.mig(codes, demele.Factors(factors, kinds="continuous")).value, np.log(2) / np.log(10), PUBLISHED
    )


def test_a_code_that_does_not_vary_tells_nothing() -> None:
    factors = np.random.default_rng(0).random((2000, 2))
    codes = np.column_stack([factors, np.full(2000, 3.0)])
    assert put_back.gaps_by_code_entropy(codes, factors) > 0.9
    assert put_back.gaps_by_code_entropy(codes, factors, sup=True) == pytest.approx(2 / 3, abs=0.05)


@pytest.mark.parametrize(("place", "expected"), [(0, 0.0), (1, 1.0), (4, 1.0)])
def test_modularity_ends_at_the_first_code_without_importance(place: int, expected: float) -> None:
    importance = np.insert(np.eye(4), place, 0.0, axis=0)
    assert_close(put_back.until_dead(importance), expected, ROUNDING)


def test_explicitness_takes_every_factor_for_uniform() -> None:
    level = np.array([[0.0], [1.0], [2.0]])
    assert_close(put_back.in_sample_explicitness(level / 2, level), 1.0, ROUNDING)
    # 0, .5 and 1 about their mean: mean squared error 1/6, worse than the 1/12 that is taken for the variance
    assert_close(put_back.in_sample_explicitness(np.full((3, 1), 0.5), level), 0.0, ROUNDING)
    near = np.array([[0.1], [0.5], [0.9]])
    assert_close(put_back.in_sample_explicitness(near, level), 1 - 12 * 0.02 / 3, ROUNDING)


def test_lassos_predict_what_is_a_line() -> None:
    factors = np.random.default_rng(1).random((300, 2))
    weights, predicted = put_back.lasso_fits(factors * [3, 5] + 1, factors)
    assert (weights[[0, 1], [0, 1]] > 0.9).all()
    assert_close(predicted, put_back.columns_in_unit(factors), {"rtol": 0, "atol": 0.01})
    assert (put_back.columns_in_unit(np.array([[2.0, 1.0], [2.0, 3.0]])) == [[0, 0], [0, 1]]).all()


def test_compactness_weighs_factors_alike() -> None:
    assert_close(dci_compactness(np.array([[1.0, 1.0], [0.0, 1.0]])), 0.5, ROUNDING)
    assert_close(dci_compactness(np.array([[9.0, 0.0], [0.0, 0.0]])), 0.5, ROUNDING)


@pytest.mark.filterwarnings(f"ignore::{FragileScoreWarning.__module__}.{FragileScoreWarning.__name__}")
def test_ten_bins_have_the_faults_that_the_review_describes() -> None:
    """Section 3.3.1: no full score of a perfect code, no robustness at 60% noise, more than 0 for noise alone."""
    found: dict[tuple[float, int], list[float]] = {}
    for seed in range(3):
        rng = rng_for(seed, "review bins")
        factors, noise = rng.random((20_000, 8)), rng.random((20_000, 8))
        for share, bins in ((0.0, 3), (0.0, 10), (0.6, 10), (1.0, 3), (1.0, 10)):
            codes = (1 - share) * factors + share * noise
            found.setdefault((share, bins), []).append(metrics.z_max_variance(codes, factors, bins=bins).value)
    value = {place: float(np.mean(values)) for place, values in found.items()}
    assert value[0.0, 3] > 0.95
    assert value[0.0, 10] < 0.9
    assert value[0.6, 10] < 0.3
    assert abs(value[1.0, 3]) < 0.03
    assert value[1.0, 10] > 0.03
