"""Unique information: known numbers, the definition in loops, rare combinations, boosted trees."""

from functools import partial

import numpy as np
import pytest

import demele
from tests.metrics.grid import CODES, FIRST, GRID, SECOND, scored
from tests.oracles import information as oracle
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close

pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
ON_GRID = dict(zip(CODES, (1, 0, 0, 1 / 2, 3 / 4, 0, 0), strict=True))


score = partial(scored, "unique_information")


@pytest.mark.worked("unique_information")
@pytest.mark.parametrize("name", CODES)
def test_codes_on_a_grid(name: str) -> None:
    found = score(CODES[name], GRID)
    assert found.details["joint"] == "cells"
    assert_close(found.value, ON_GRID[name], ROUNDING)


def by_definition(codes: list[list[int]], factor: list[int]) -> float:
    def told(columns: list[list[int]]) -> float:
        cells = list(zip(*columns, strict=True)) if columns else [()] * len(factor)
        pairs = list(zip(cells, factor, strict=True))
        return oracle.entropy(cells) + oracle.entropy(factor) - oracle.entropy(pairs)

    excess = [told([code]) - told([other for other in codes if other is not code]) for code in codes]
    return max(*excess, 0.0) / oracle.entropy(factor)


@pytest.mark.oracle("unique_information")
def test_slow_definition() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (400, 3))
    codes = np.column_stack([factors[:, 0] // 2, factors[:, 1] + factors[:, 2] // 2, factors[:, 2] % 3])
    expected = [by_definition(codes.T.tolist(), column) for column in factors.T.tolist()]
    assert min(expected) > 0.02
    assert_close(list(score(codes, factors).native.values()), expected, ROUNDING)
    known = np.arange(400) % 3 > 0
    holes = np.where(known[:, None] | (np.arange(3) != 1), factors, np.nan)
    omitted = score(codes, demele.Factors(holes, kinds="categorical", missing="omit")).native["v2"]
    assert_close(omitted, by_definition(codes[known].T.tolist(), factors[known, 1].tolist()), ROUNDING)


def test_a_mixture_that_replaces_a_code_is_seen_where_mig_sees_nothing() -> None:
    """The two other codes give the first one back; neither does alone."""
    parity = np.column_stack([FIRST, SECOND, (FIRST + SECOND) % 4])
    assert_close(demele.metrics.mig(parity, demele.Factors(GRID, kinds="categorical")).value, 1.0, ROUNDING)
    assert_close(score(parity, GRID).value, 0.0, ROUNDING)


def test_rare_combinations_do_not_make_perfect_codes_dispensable() -> None:
    """Counted in cells that hold a row each, any codes tell all of a factor: nothing would be unique."""
    rng = np.random.default_rng(1)
    factors = rng.integers(0, 3, (300, 2)).astype(float)
    codes = np.column_stack([factors, rng.random((300, 3))])
    refuses(demele.errors.NotEnoughData, "any code could be spared", score, codes, factors, joint="cells")
    found = score(codes, factors)
    assert found.details == {"joint": "boosting", "code": [0, 1]}
    assert found.value > 0.9
    assert any(note.code == "estimate" for note in found.notes)


def test_boosted_trees_agree_with_cells_and_give_noise_nothing() -> None:
    for name in ("coarse", "rotated"):
        assert abs(score(CODES[name], GRID, joint="boosting").value - ON_GRID[name]) < 0.02
    rng = np.random.default_rng(2)
    assert score(rng.random((300, 4)), rng.integers(0, 3, (300, 2))).value < 0.02


def test_few_rows_for_the_combinations_are_told_and_adjusted() -> None:
    rng = np.random.default_rng(3)
    factors = rng.integers(0, 6, (400, 2)).astype(float)
    codes = np.column_stack([factors, rng.integers(0, 9, 400)])
    plain, adjusted = score(codes, factors), score(codes, factors, joint="adjusted")
    assert plain.value < 0.9 < adjusted.value
    assert [note.severity for note in plain.notes if note.code == "few-rows"] == ["fragile"]
    assert f"{adjusted.value:.3f} instead of {plain.value:.3f}" in str(plain.notes)
