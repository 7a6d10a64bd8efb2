"""The same numbers as scikit-learn's mutual information, and so as Latte's."""

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.utils import check_random_state

from demele.estimation.knn import (
    jittered,
    knn_factor_information,
    knn_information_matrix,
    ross_information,
)
from tests.tolerances import ROUNDING, assert_close

FloatArray = NDArray[np.float64]


def scikit_learn_jitter(codes: NDArray[np.float64], state: int | np.random.RandomState) -> NDArray[np.float64]:
    """Scale columns and add the noise that scikit-learn adds, of the features first, of a continuous target next."""
    return jittered(codes, check_random_state(state).standard_normal(codes.shape))


def theirs(codes: NDArray[Any], factor: tuple[bool, NDArray[Any]], n_neighbors: int, seed: int) -> FloatArray:
    categorical, values = factor
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        estimate = mutual_info_classif if categorical else mutual_info_regression
        result: FloatArray = estimate(codes, values, n_neighbors=n_neighbors, random_state=seed)
    return result


def codes_of(kind: str, rng: np.random.Generator, labels: NDArray[np.int64]) -> FloatArray:
    codes = rng.normal(size=(len(labels), 3)) + labels[:, None] % 10 * [1.0, 0.2, 0.0]
    return {
        "plain": codes,
        "column order": np.asfortranarray(codes),
        "far from zero": codes + 1e5,
        "spiked": np.maximum(codes, 0.0),
        "rounded": np.round(codes, 1),
        "constant": np.full_like(codes, 7.0),
        "heavy tails": np.sinh(3 * codes),
    }[kind]


@pytest.mark.parametrize(
    "kind", ["plain", "column order", "far from zero", "spiked", "rounded", "constant", "heavy tails"]
)
@pytest.mark.parametrize(("n_samples", "n_labels"), [(8, 2), (60, 25), (300, 8), (240, 40)])
def test_information_matrix(kind: str, n_samples: int, n_labels: int) -> None:
    rng = np.random.default_rng([n_samples, n_labels])
    labels = rng.integers(0, n_labels, n_samples)  # many labels: singletons, and labels below and above 2 k + 1
    codes = codes_of(kind, rng, labels)
    target = codes[:, 0] + rng.normal(size=n_samples)
    factors = [(True, labels), (False, target), (True, labels // 2), (False, np.round(target))]
    for n_neighbors, seed in ((3, 0), (2, 11)) if kind in ("plain", "rounded") else ((3, 0),):
        actual = knn_information_matrix(codes, factors, n_neighbors=n_neighbors, jitter_seed=seed)
        expected = np.stack([theirs(codes, factor, n_neighbors, seed) for factor in factors], axis=1)
        assert_close(actual, expected, ROUNDING)
        assert (expected > 0).any() or kind == "constant"


def test_small_labels_round_as_in_scikit_learn_only_where_asked() -> None:
    rng = np.random.default_rng(5)
    labels = np.arange(60) // 4  # four samples a label: distances from the expanded square
    codes = rng.normal(size=(60, 2)) + 1e6
    exact = scikit_learn_jitter(codes, 0)
    assert_close(ross_information(exact, labels).clip(min=0), theirs(codes, (True, labels), 3, 0), ROUNDING)
    assert np.abs(ross_information(exact, labels) - ross_information(exact, labels, distances="direct")).max() > 1e-3


@pytest.mark.parametrize("seed", [0, 42])
def test_factor_information(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 5, 400)
    factors = [
        (True, first),
        (True, (first + rng.integers(0, 2, 400)) % 5),
        (False, first + rng.normal(size=400)),
        (False, rng.exponential(size=400)),
    ]
    expected = [[theirs(feature[:, None], target, 3, seed)[0] for target in factors] for _, feature in factors]
    assert_close(knn_factor_information(factors, jitter_seed=seed), expected, ROUNDING)
