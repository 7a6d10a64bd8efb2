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


def test_rare_bins_do_not_inflate_what_chance_gives() -> None:
    def bins(values: Any) -> Any:
        return np.clip((values + 4) * 1.25, 0, 9).astype(int)  # equal widths: the outer ones are nearly empty

    table = _table(bins(RNG.normal(size=3000)), bins(RNG.normal(size=3000)), (10, 10))[None]
    exact = float(expected_information(table)[0])
    found = float(information_by_chance(table, 0.01, MOST_SUMMED)[0][0])
    assert exact < 0.9 * 81 / (2 * 2999)
    assert abs(found / exact - 1) < 0.04


def test_codes_of_noise_do_not_pass_their_limit_and_codes_that_tell_do() -> None:
    passed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        levels = rng.integers(0, 40, 500)
        tables = np.array([_table(rng.integers(0, 10, 500), levels, (10, 40)) for _ in range(64)])
        found = mutual_information(tables)
        mean, limit = information_by_chance(tables, 0.01, 64)
        assert found.min() > 0.2, "without the limit, every one of these cells is lit"
        assert abs(found.mean() / mean.mean() - 1) < 0.04
        passed += bool((found > limit).any())
    assert passed <= 2  # 0.2 are expected
    telling = _table(levels // 4, levels, (10, 40))[None]
    _, limit = information_by_chance(telling, 0.01, 64)
    assert mutual_information(telling)[0] > limit[0]
