"""Macro F1, balanced accuracy and Matthews correlation: by hand, beside scikit-learn, and their derivatives."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, matthews_corrcoef

from demele.classifiers.table_measures import TABLE_MEASURES, Table, table_value
from tests.classifiers.comparison.cases import random_question
from tests.tolerances import ROUNDING, assert_close

THEIRS: dict[str, Any] = {
    "macro-f1": lambda labels, said: f1_score(labels, said, average="macro"),
    "balanced-accuracy": balanced_accuracy_score,
    "matthews": matthews_corrcoef,
}


def table_of(cells: Any) -> Table:
    cells = np.asarray(cells, dtype=float)
    return Table(np.diag(cells), cells.sum(axis=1), cells.sum(axis=0))


def test_as_scikit_learn() -> None:
    for k in [2, 3, 7]:
        for measure in TABLE_MEASURES:
            data = random_question(np.random.default_rng(k), n=120, k=k, models=4).data
            expected = [THEIRS[measure](data.labels, row) for row in data.predictions]
            assert_close(table_value(data, measure), expected, ROUNDING)


def test_matthews_is_not_defined_where_one_class_is_all_that_is_predicted() -> None:
    table = table_of([[3, 0], [2, 0]])
    assert np.isnan(table.value("matthews"))
    assert_close(table.slopes("matthews").same, [0, 0], ROUNDING)


@pytest.mark.parametrize("measure", TABLE_MEASURES)
def test_slopes_are_derivatives_by_every_cell(measure: str) -> None:
    cells = np.array([[31.0, 4, 2], [3, 12, 5], [1, 2, 7]])
    slopes = table_of(cells).slopes(measure)
    step = 1e-4
    for t, p in np.ndindex(cells.shape):
        moved = np.zeros_like(cells)
        moved[t, p] = step
        numeric = (table_of(cells + moved).value(measure) - table_of(cells - moved).value(measure)) / (2 * step)
        assert abs(float(slopes.at(t, p)) - float(numeric)) < 1e-8


def test_a_class_that_is_never_predicted_counts_as_0() -> None:
    labels, said = [0, 0, 1, 1, 2], [0, 0, 1, 0, 1]
    cells = np.zeros((3, 3))
    np.add.at(cells, (labels, said), 1)
    for measure, theirs in THEIRS.items():
        assert_close(table_of(cells).value(measure), theirs(labels, said), ROUNDING)
