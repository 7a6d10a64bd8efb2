"""The expectation of information by chance: against scikit-learn, against permutations; and who is beyond chance."""

import numpy as np
import pytest
from numpy.typing import NDArray

from demele.estimation import information
from demele.estimation.counts import JointCounts
from demele.estimation.independence import dependence_of_counts
from demele.estimation.information import (
    MOST_SUMMED,
    ROWS_PER_CELL,
    beyond_chance,
    expected_information,
    information_by_chance,
    information_table,
    mutual_information,
)
from tests.tolerances import ROUNDING, assert_close, assert_exact, assert_mean

Array = NDArray[np.float64]


def crossed(codes: NDArray[np.int_], factor: NDArray[np.int_], shape: tuple[int, int]) -> Array:
    table = np.zeros(shape)
    np.add.at(table, (codes, factor), 1.0)
    return table


def random_table(rng: np.random.Generator) -> Array:
    """From 5 to 5000 rows in cells of any shape, some of whose rows and columns are empty."""
    n, shape = int(np.exp(rng.uniform(np.log(5), np.log(5000)))), tuple(int(size) for size in rng.integers(2, 14, 2))
    codes = rng.integers(0, shape[0], n) * rng.integers(0, 2, n)
    return crossed(codes, (shape[1] * rng.random(n) ** 2).astype(int), (shape[0] + 1, shape[1] + 1))


def test_the_expectation_is_that_of_scikit_learn() -> None:
    cluster = pytest.importorskip("sklearn.metrics.cluster")
    rng = np.random.default_rng(0)
    found, expected = [], []
    for _ in range(200):
        table = random_table(rng)
        used = table[table.any(axis=1)][:, table.any(axis=0)].astype(np.int64)
        found.append(float(expected_information(table)))
        expected.append(cluster.expected_mutual_information(used, used.sum()) if min(used.shape) > 1 else 0.0)
    assert max(expected) > 0.5
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_tables_together_and_in_small_pieces_are_as_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    sizes = [[40, 40], [300, 7]]  # different numbers of rows, as where annotations are missing
    tables = np.array([[crossed(rng.integers(0, 4, n), rng.integers(0, 3, n), (4, 3)) for n in line] for line in sizes])
    alone = [[float(expected_information(table)) for table in line] for line in tables]
    assert_close(expected_information(tables), alone, ROUNDING)
    monkeypatch.setattr(information, "TERMS", 7)
    assert_close(expected_information(tables), alone, ROUNDING)


def test_nothing_is_expected_of_a_column_of_one_value_or_of_no_rows() -> None:
    tables = np.array([[[3.0, 4.0], [0.0, 0.0]], [[3.0, 0.0], [5.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])
    assert_exact(expected_information(tables), [0.0, 0.0, 0.0])


def test_permuted_rows_have_the_expected_information_on_average() -> None:
    rng = np.random.default_rng(2)
    codes, factor = rng.integers(0, 6, 60), rng.integers(0, 4, 60)
    tables = np.array([crossed(codes, rng.permutation(factor), (6, 4)) for _ in range(2000)])
    assert_mean(mutual_information(tables) - expected_information(tables[0]), 0.0)


def counted(rng: np.random.Generator, n: int, values: int) -> JointCounts:
    """Ten codes of noise in ten bins, against four factors."""
    codes, factors = rng.integers(0, 10, (10, n)), rng.integers(0, values, (4, n))
    tables = tuple(np.array([crossed(code, factor, (10, values)) for code in codes]) for factor in factors)
    return JointCounts(tables, {}, np.full(10, 10))


@pytest.mark.parametrize(("n", "values"), [(50, 3), (100, 10), (200, 10), (1000, 2)])
def test_few_codes_of_noise_are_beyond_chance(n: int, values: int) -> None:
    """Without the scale of the statistic, a third of them are at 100 rows and ten values."""
    rng = np.random.default_rng(3)
    found = [beyond_chance(information_table(counted(rng, n, values))).any(axis=-1).mean() for _ in range(40)]
    assert np.mean(found) <= 0.03


# Whether a code tells anything of a factor, read off counts ----------------------------------------------------------


def counts_of(*tables: NDArray[np.float64]) -> JointCounts:
    """Joint counts of one factor with several codes."""
    stacked = np.stack(tables)
    return JointCounts((stacked,), {}, np.full(len(tables), stacked.shape[1]))


def independent(n: float) -> NDArray[np.float64]:
    """Counts that are products of lopsided margins."""
    return n * np.outer([0.7, 0.2, 0.1], [0.5, 0.3, 0.2])


def test_codes_whose_counts_are_products_of_their_margins_tell_nothing() -> None:
    found = dependence_of_counts(counts_of(independent(1000), independent(1000)[::-1]))
    assert not found.detected
    assert found.p > 0.9


def test_each_code_is_held_against_its_own_mean() -> None:
    weak = independent(1000) + np.array([[30.0, -30.0, 0.0], [-30.0, 30.0, 0.0], [0.0, 0.0, 0.0]])
    alone = dependence_of_counts(counts_of(weak))
    beside = dependence_of_counts(counts_of(weak, independent(1000)[::-1]))
    assert 0 < alone.p < 0.4
    assert_close(beside.p, 2 * alone.p, ROUNDING)  # of twice as many pairs


@pytest.mark.parametrize(
    ("n", "shape", "near"), [(1600, (10, 8), 0.01), (2000, (10, 40), 0.02), (9000, (20, 20), 0.01)]
)
def test_where_sums_take_long_the_expansion_is_near_them(n: int, shape: tuple[int, int], near: float) -> None:
    rng = np.random.default_rng(0)
    table = crossed(rng.integers(0, shape[0], n), rng.integers(0, shape[1], n), shape)[None]
    exact = float(expected_information(table)[0])
    found = float(information_by_chance(table, 0.01, MOST_SUMMED)[0][0])
    assert found != exact
    assert abs(found / exact - 1) < near
    few = float(information_by_chance(table, 0.01, 1)[0][0])
    assert (few == exact) == (n < ROWS_PER_CELL * shape[0] * shape[1])
