"""Signed information: closed forms, and what makes it differ from clipping."""

import numpy as np
import pytest

from demele.estimation.annotation_errors import (
    accuracy_without_errors,
    areas_without_errors,
    audited_transition,
    counted_transition,
    without_errors,
)
from demele.estimation.information import entropy, mutual_information
from demele.estimation.logistic import rank_auc
from tests.tolerances import ROUNDING, assert_close, assert_mean


@pytest.mark.parametrize(
    ("given", "transition", "undone", "information"),
    [
        ([[0.28, 0.12], [0.12, 0.48]], [[0.9, 0.1], [0.2, 0.8]], [[2 / 7, 4 / 35], [0, 0.6]], 0.358962),
        ([[0.10, 0.30], [0.45, 0.15]], [[0.8, 0.2], [0.3, 0.7]], [[-0.04, 0.44], [0.54, 0.06]], 0.632137),
    ],
)
def test_worked_tables(
    given: list[list[float]], transition: list[list[float]], undone: list[list[float]], information: float
) -> None:
    found = without_errors(np.array(given), np.array(transition))
    assert_close(found, np.array(undone), ROUNDING)
    assert abs(float(mutual_information(found)) - information) < 5e-7
    assert_close(entropy(found.sum(axis=0)), entropy(np.array(undone).sum(axis=0)), ROUNDING)


def test_a_class_that_was_never_counted_is_right() -> None:
    found = counted_transition(np.array([[8.0, 2.0], [0.0, 0.0]]))
    assert_close(found[1], np.array([0.0, 1.0]), ROUNDING)
    assert_close(found[0], np.array([8.001, 2.0]) / 10.001, ROUNDING)


def test_audited_rows_share_out_what_all_rows_are_given() -> None:
    """Of 300 given 0, 8 in 10 are 0 and 2 in 10 are 1: 240 and 60; of 100 given 1, all are 1. Row 1 is 60 to 100."""
    found = audited_transition(np.array([[8.0, 0.0], [2.0, 10.0]]), np.array([300.0, 100.0]))
    assert np.abs(found - [[1.0, 0.0], [0.375, 0.625]]).max() < 2e-4  # of the thousandth that stands for the uncounted
    assert_close(found.sum(axis=1), np.ones(2), ROUNDING)


def test_values_without_an_audited_row_are_right() -> None:
    """The value 2 is given, but was never audited; 1 is neither given nor true."""
    counts = np.array([[6.0, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    found = audited_transition(counts, np.array([80.0, 0.0, 20.0]))
    assert np.abs(found - [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]).max() < 1e-3


# Accuracies and areas against true classes, from annotations with known errors ---------------------------------------


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
