"""Entropies and informations against scikit-learn and SciPy, which compute them in another way."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

import demele
from demele.estimation.information import entropy, mutual_information
from tests.oracles import information as oracle
from tests.tolerances import ROUNDING, assert_close

Labels = NDArray[np.int_]


def labelled(seed: int, n: int = 150) -> tuple[Labels, Labels]:
    """Two dependent columns of labels, 4 and 6 values."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, n)
    return first, (first + rng.integers(0, 3, n)) % 6


def table_of(a: Labels, b: Labels) -> NDArray[np.float64]:
    return np.asarray(contingency_matrix(a, b), dtype=np.float64)


@pytest.mark.parametrize("seed", range(5))
def test_information_is_that_of_scikit_learn(seed: int) -> None:
    a, b = labelled(seed)
    expected = mutual_info_score(a, b)
    assert_close(mutual_information(table_of(a, b)), expected, ROUNDING)
    assert_close(oracle.mutual_information(a.tolist(), b.tolist()), expected, ROUNDING)
    score = demele.metrics.mig(a[:, None], b[:, None], bins=4)
    assert_close(score.matrix.to_numpy()[0, 0], expected, ROUNDING)


def test_entropy_is_that_of_scipy() -> None:
    counts = np.random.default_rng(0).integers(0, 5, (3, 4, 6)).astype(float) + np.eye(4, 6)
    assert_close(entropy(counts), stats.entropy(counts, axis=-1), ROUNDING)
    a, _ = labelled(0)
    assert_close(oracle.entropy(a.tolist()), stats.entropy(np.bincount(a)), ROUNDING)


def test_weights_that_are_no_counts() -> None:
    weights = np.random.default_rng(0).random((4, 5))
    p = weights / weights.sum()
    expected = float((p * np.log(p / np.outer(p.sum(axis=1), p.sum(axis=0)))).sum())
    assert_close(mutual_information(weights), expected, ROUNDING)


@pytest.mark.parametrize("seed", range(3))
def test_miller_madow(seed: int) -> None:
    a, b = labelled(seed, n=40)
    corrected = mutual_information(table_of(a, b), "miller-madow")
    assert_close(corrected, oracle.miller_madow_information(a.tolist(), b.tolist()), ROUNDING)
    # the sum of corrected entropies: H(a) + H(b) - H(a, b), each plus (occupied - 1) / 2n
    parts = [np.bincount(a), np.bincount(b), np.bincount(a * 6 + b)]
    heights = [stats.entropy(part) + ((part > 0).sum() - 1) / (2 * len(a)) for part in parts]
    assert_close(corrected, heights[0] + heights[1] - heights[2], ROUNDING)
    assert_close([entropy(part.astype(float), "miller-madow") for part in parts], heights, ROUNDING)


@pytest.mark.parametrize("seed", range(3))
def test_adjusted_information(seed: int) -> None:
    a, b = labelled(seed, n=60)
    table = table_of(a, b)
    chance = expected_mutual_information(contingency_matrix(a, b, sparse=True), len(a))
    height = stats.entropy(table.sum(axis=0))
    expected = height * (mutual_info_score(a, b) - chance) / (height - chance)
    assert_close(mutual_information(table, "adjusted"), expected, ROUNDING)


def test_adjusted_information_of_a_perfect_code_is_the_entropy() -> None:
    assert_close(mutual_information(np.diag([3.0, 4.0, 5.0]), "adjusted"), stats.entropy([3, 4, 5]), ROUNDING)


@pytest.mark.parametrize("correction", ["miller-madow", "adjusted"])
def test_corrected_information_of_noise_is_zero_on_average(correction: str) -> None:
    rng = np.random.default_rng(0)
    found, plug_in = [], []
    for _ in range(60):
        a, b = rng.integers(0, 5, 200), rng.integers(0, 4, 200)
        found.append(float(mutual_information(table_of(a, b), correction)))  # type: ignore[arg-type]
        plug_in.append(float(mutual_information(table_of(a, b))))
    error = np.std(found, ddof=1) / math.sqrt(60)
    assert abs(np.mean(found)) < 5 * error
    # the plug-in has the bias (rows - 1)(columns - 1) / 2n
    assert abs(np.mean(plug_in) - 4 * 3 / 400) < 5 * error
    assert np.mean(plug_in) > 5 * error
