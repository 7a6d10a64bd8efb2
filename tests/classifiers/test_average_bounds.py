"""Bounds of averages: every assignment of true labels to small sets lies within, and what is said to be sharp is."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demele.classifiers.measures.bias import average_bounds
from demele.classifiers.measures.confusion import ConfusionCounts
from tests.classifiers.test_bias import budget_of, table_of, truths_within
from tests.tolerances import ROUNDING, assert_at_most, assert_close

Array = NDArray[Any]
MEASURES, AVERAGES = ("precision", "recall", "f1"), ("macro", "weighted", "micro")


def averages(measure: str, average: Any, predictions: Array, truths: Array, k: int, labels: Array) -> Array:
    """Of true labels; a macro average is over the classes that a given label has."""
    tables = [ConfusionCounts(table_of(truth, predictions, k), tuple(range(k)), "true") for truth in truths]
    if average != "macro":
        return np.array([table.averaged(measure, average) for table in tables])
    values = np.array([table.measure(measure) for table in tables])[:, np.unique(labels)]
    known = np.isfinite(values)
    found: Array = np.where(known, values, 0).sum(axis=1) / np.where(known.any(axis=1), known.sum(axis=1), np.nan)
    return found


def check(labels: Array, predictions: Array, k: int, budget: Any, *, rate: bool) -> None:
    table = table_of(labels, predictions, k)
    truths = truths_within(budget, labels, k)
    truths = truths[np.random.default_rng(0).permutation(len(truths))[:400]] if not rate else truths
    for measure in MEASURES:
        for average in AVERAGES:
            values = averages(measure, average, predictions, truths, k, labels)
            known = values[~np.isnan(values)]
            low, high = average_bounds(measure, average, table, budget)
            if known.size:
                assert_at_most([0, low, known.max(), high], [low, known.min(), high, 1], ROUNDING)
            if rate and (average == "micro" or (measure, average) in (("recall", "weighted"), ("precision", "macro"))):
                assert_close([low, high], [known.min(), known.max()], ROUNDING)


@pytest.mark.parametrize(("k", "n", "times"), [(2, 6, 25), (3, 5, 25)])
def test_a_rate_shared_by_all_classes(k: int, n: int, times: int) -> None:
    rng = np.random.default_rng([k, n])
    for _ in range(times):
        labels = rng.integers(0, k, n)
        predictions = np.where(rng.random(n) < 0.6, labels, rng.integers(0, k, n))
        check(labels, predictions, k, budget_of(int(rng.integers(0, 4)), k), rate=True)


def test_limits_by_class() -> None:
    rng = np.random.default_rng(5)
    for _ in range(25):
        labels, predictions = rng.integers(0, 3, 7), rng.integers(0, 3, 7)
        limits = rng.integers(0, 3, (3, 3)) * (1 - np.eye(3, dtype=int))
        wrong, sides = int(rng.integers(0, 5)), {name: rng.integers(0, 3, 3) for name in ("given", "true")}
        budget = budget_of(wrong, 3, **sides, joint=limits)
        check(labels, predictions, 3, budget, rate=False)


def test_nothing_to_average() -> None:
    table = np.array([[0, 5, 0], [0, 5, 0], [0, 0, 0]])
    low, high = average_bounds("precision", "macro", table, budget_of(0, 3))
    assert_close([low, high], [0.5, 0.5], ROUNDING)  # only class 1 is predicted
    assert np.isnan(average_bounds("recall", "macro", np.zeros((2, 2), dtype=int), budget_of(0, 2))).all()
