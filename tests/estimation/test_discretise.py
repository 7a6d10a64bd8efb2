"""Cutting columns: what each rule does with ties, spikes, outliers, edges, units and missing values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import demele
from demele.bins import Adaptive, Binning, Edges, EqualFrequency, EqualWidth
from demele.estimation.counts import cut
from demele.metrics.options import as_binning
from tests.oracles import information as oracle
from tests.refusals import refuses
from tests.tolerances import assert_exact

Floats = NDArray[np.float64]


def labels(values: object, rule: Binning) -> list[int]:
    """Cut one column."""
    column = np.asarray(values, dtype=np.float64)
    known = column[~np.isnan(column)]
    return [int(index) for index in cut(column, rule.column_bins(known, float(known.min()), float(known.max())))]


def n_bins(values: object, rule: Binning) -> int:
    column = np.asarray(values, dtype=np.float64)
    return rule.column_bins(column, float(column.min()), float(column.max())).n_bins


RULES: dict[str, Binning] = {
    "equal width": EqualWidth(5),
    "equal frequency": EqualFrequency(5),
    "adaptive": Adaptive(),
    "edges": Edges((-10.0, 0.0, 0.5, 1.0, 20.0)),
}


# Equal width ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", [2, 3, 7, 10, 20, 64])
def test_values_on_a_grid_keep_their_bins_in_any_unit(bins: int) -> None:
    # k/bins lies on the lower edge of bin k; in floats, a scaled and shifted grid may fall a rounding below it
    grid = np.arange(bins + 1) / bins
    expected = [*range(bins), bins - 1]
    for scale in (1.0, 0.1, 3.0, 1e-3, 1e3, 7e-9, 1e12, np.pi):
        for shift in (0.0, 1.0, -0.3, 1e3):
            assert labels(grid * scale + shift * scale, EqualWidth(bins)) == expected, (scale, shift)


def test_equal_width_agrees_with_oracle() -> None:
    column = np.random.default_rng(0).standard_normal(500)
    assert labels(column, EqualWidth(10)) == oracle.equal_width(column.tolist(), 10)


# Equal frequency -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "bins"), [(1000, 10), (100, 4), (20, 20), (12, 3)])
def test_distinct_values_are_shared_out_equally(n: int, bins: int) -> None:
    counts = np.bincount(labels(np.random.default_rng(0).permutation(n), EqualFrequency(bins)))
    assert len(counts) == bins
    assert counts.max() - counts.min() <= 1


# Adaptive ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "bins", "most"), [(8, 4, 256), (1000, 20, 256), (27, 6, 256), (2, 2, 256), (1000, 7, 7)])
def test_adaptive_bins_grow_with_the_cube_root_of_the_rows(n: int, bins: int, most: int) -> None:
    assert n_bins(np.random.default_rng(0).permutation(n), Adaptive(most)) == bins


# Given edges ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outside", [-0.001, 5.001])
def test_values_outside_the_edges_are_refused(outside: float) -> None:
    refuses(demele.errors.InputError, "widen the edges", labels, [0.5, outside], Edges((0.0, 5.0)))


# All rules -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RULES)
def test_missing_values_get_the_number_after_the_last_bin(name: str) -> None:
    column = np.random.default_rng(0).random(50)
    column[[3, 7]] = np.nan
    found = np.array(labels(column, RULES[name]))
    last = n_bins(column[~np.isnan(column)], RULES[name])
    assert set(np.flatnonzero(found == last)) == {3, 7}
    assert found.max() == last


@pytest.mark.parametrize(
    ("column", "rule", "expected"),
    [
        ([3.0, 1.0, 7.0, 5.0] * 5, EqualFrequency(10), [1, 0, 3, 2] * 5),  # fewer values than bins
        ([0.0, 0.5, 1.0, 3.9, 4.0, 5.0], Edges((0.0, 1.0, 4.0, 5.0)), [0, 0, 1, 1, 2, 2]),  # the last bin is closed
        *(([2.0] * 3, rule, [0] * 3) for rule in (EqualWidth(5), EqualFrequency(5), Adaptive())),
    ],
)
def test_columns_by_hand(column: list[float], rule: Binning, expected: list[int]) -> None:
    assert labels(column, rule) == expected
    assert n_bins(column, rule) == max(expected) + 1


columns = st.lists(st.integers(-20, 20), min_size=2, max_size=60).filter(lambda column: len(set(column)) > 1)


@pytest.mark.parametrize("name", ["equal width", "equal frequency", "adaptive"])
@given(column=columns, scale=st.sampled_from([1e-3, 0.1, 3.0, 1000.0]), shift=st.integers(-5, 5))
@settings(max_examples=60)
def test_laws_of_every_rule(name: str, column: list[int], scale: float, shift: int) -> None:
    rule = RULES[name]
    values = np.array(column, dtype=np.float64)
    found = np.array(labels(values, rule))
    # bins are numbers from 0; equal values share one; larger values are never in a lower one; no bin is invented
    order = np.argsort(values, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    assert all(len(set(found[values == value])) == 1 for value in set(column))
    assert found.min() >= 0
    assert found.max() < n_bins(values, rule)
    assert len(set(found)) >= 2
    # an increasing affine map and another order of the rows change nothing
    assert_exact(labels(values * scale + shift * scale, rule), found)
    assert_exact(labels(values[::-1], rule)[::-1], found)
    # a whole copy of the rows changes nothing, unless the number of bins follows the number of rows
    if name != "adaptive":
        assert_exact(np.array(labels(np.tile(values, 2), rule))[: len(values)], found)


def test_bad_numbers_of_bins_are_refused() -> None:
    for bins in (1, 0, -3, 2.5, True, "10", None):
        for make in (EqualWidth, EqualFrequency, Adaptive):
            refuses(demele.errors.InputError, "bins", make, bins)


# Words ---------------------------------------------------------------------------------------------------------------


def test_bins_may_be_given_as_words() -> None:
    for given_bins, rule in [
        (7, EqualWidth(7)),
        (np.int64(7), EqualWidth(7)),
        ("7", EqualWidth(7)),
        ("equal-width:7", EqualWidth(7)),
        ("equal-width", EqualWidth(10)),
        ("equal-frequency:4", EqualFrequency(4)),
        ("quantile:4", EqualFrequency(4)),
        ("adaptive", Adaptive()),
        ([0, 1, 2.5], Edges((0.0, 1.0, 2.5))),
        (np.array([0, 1]), Edges((0.0, 1.0))),
        (Adaptive(most=9), Adaptive(most=9)),
    ]:
        assert as_binning(given_bins) == rule


def test_a_rule_of_the_user() -> None:
    class Sign:
        needs_values = False

        def column_bins(self, values: Floats, low: float, high: float) -> object:
            return Edges((-100.0, 0.0, 100.0)).column_bins(values, low, high)

        def __repr__(self) -> str:
            return "Sign()"

    codes = np.array([[-3.0], [-0.1], [0.1], [5.0]] * 20)
    score = demele.metrics.mig(codes, np.array([0, 0, 1, 1] * 20)[:, None], bins=Sign())  # type: ignore[arg-type]
    assert score.value == pytest.approx(1.0)


@pytest.mark.parametrize("rule", [EqualWidth(4), EqualFrequency(4), Edges((0.0, 0.25, 0.5, 0.75, 1.0))])
def test_values_beyond_the_edges_are_of_the_outer_bins(rule: Binning) -> None:
    known = np.linspace(0.0, 1.0, 9)
    bins = rule.column_bins(known, 0.0, 1.0)
    assert cut(np.array([-0.1, -1e300, np.nan, 1.1, 1e300]), bins).tolist() == [0, 0, 4, 3, 3]
