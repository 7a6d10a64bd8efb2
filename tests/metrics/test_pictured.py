"""What an evaluation keeps for pictures, and the information that noise has."""

import itertools
from typing import Any

import numpy as np
import pytest

from demele.estimation.information import (
    MOST_SUMMED,
    ROWS_PER_CELL,
    expected_information,
    information_by_chance,
    mutual_information,
)
from tests.tolerances import ROUNDING, assert_close

RNG = np.random.default_rng(0)


def _table(codes: Any, factor: Any, shape: tuple[int, int]) -> np.ndarray[Any, np.dtype[np.float64]]:
    table = np.zeros(shape)
    np.add.at(table, (codes, factor), 1.0)
    return table


def test_the_expectation_is_the_mean_over_all_orders() -> None:
    codes, factor = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 2, 2])
    every = [
        float(mutual_information(_table(codes, np.array(order), (3, 3)))) for order in itertools.permutations(factor)
    ]
    found = float(expected_information(_table(codes, factor, (3, 3))))
    assert_close(found, float(np.mean(every)), ROUNDING)
    assert 0.1 < found < float(mutual_information(_table(codes, factor, (3, 3))))


@pytest.mark.parametrize(
    ("n", "shape", "near"), [(1600, (10, 8), 0.01), (2000, (10, 40), 0.02), (9000, (20, 20), 0.01)]
)
def test_where_sums_take_long_the_expansion_is_near_them(n: int, shape: tuple[int, int], near: float) -> None:
    table = _table(RNG.integers(0, shape[0], n), RNG.integers(0, shape[1], n), shape)[None]
    exact = float(expected_information(table)[0])
    found = float(information_by_chance(table, 0.01, MOST_SUMMED)[0][0])
    assert found != exact
    assert abs(found / exact - 1) < near
    few = float(information_by_chance(table, 0.01, 1)[0][0])
    assert (few == exact) == (n < ROWS_PER_CELL * shape[0] * shape[1])
