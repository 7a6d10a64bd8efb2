"""Accuracies and areas against true classes, from annotations with known errors."""

import numpy as np
import pytest

from demele.estimation.known_errors import accuracy_without_errors, areas_without_errors
from demele.estimation.logistic import rank_auc
from tests.tolerances import ROUNDING, assert_close, assert_mean


def test_accuracy_by_hand() -> None:
    """Of 100 rows 40 are truly of the first class and 60 of the second; 30 and 45 of them are predicted."""
    joint = np.array([[30.0, 15.0], [10.0, 45.0]]) / 100  # rows predicted, columns true
    transition = np.array([[0.9, 0.1], [0.2, 0.8]])
    counts = np.rint(1000 * joint @ transition).astype(int)
    predicted, given = np.repeat(np.arange(4), counts.ravel()) // 2, np.repeat(np.arange(4), counts.ravel()) % 2
    assert_close(accuracy_without_errors(predicted, given, transition), 0.75, ROUNDING)
    assert abs((predicted == given).mean() - 0.75) > 0.05


@pytest.mark.parametrize("k", [2, 4])
def test_without_errors_they_are_the_plain_areas(k: int) -> None:
    rng = np.random.default_rng(k)
    labels = rng.integers(0, k, 300)
    scores = np.round(rng.normal(size=(k, 300)) + (labels == np.arange(k)[:, None]), 1)  # with ties
    assert_close(areas_without_errors(scores, labels, np.eye(k)), rank_auc(scores.T, labels, k), ROUNDING)


def test_areas_of_noisy_annotations_are_those_of_true_classes() -> None:
    rng = np.random.default_rng(0)
    transition = np.array([[0.85, 0.1, 0.05], [0.1, 0.9, 0.0], [0.05, 0.15, 0.8]])
    apart, naive = [], []
    for _ in range(40):
        true = rng.choice(3, 1500, p=[0.5, 0.3, 0.2])
        scores = rng.normal(size=(3, 1500)) + 1.2 * (true == np.arange(3)[:, None])
        given = (transition.cumsum(axis=1)[true] < rng.random(1500)[:, None]).sum(axis=1)
        truth = rank_auc(scores.T, true, 3)
        apart.append((areas_without_errors(scores, given, transition) - truth).mean())
        naive.append((rank_auc(scores.T, given, 3) - truth).mean())
    assert_mean(apart, expected=0.0)
    assert np.mean(naive) < -0.05


def test_a_class_that_was_never_given_is_not_defined() -> None:
    found = areas_without_errors(np.zeros((3, 4)), np.array([0, 1, 1, 0]), np.eye(3))
    assert np.isnan(found).all()
