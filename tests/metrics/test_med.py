"""MED, minimality and sufficiency: known numbers, an independent definition, traps, noise."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele.metrics.information.information_shares import best_codes, split_tables
from tests.metrics.grid import CODES, FIRST, GRID, SECOND, scored, value
from tests.oracles import information as oracle
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

Array = NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
ON_GRID = {
    "med_modularity": (1, 1, 0, 1, 1, 0.753114, math.nan),
    "med_compactness": (1, 0.5, 0, 1, 1, 0.491278, math.nan),
    "minimality": (1, 1, 0.246886, 1, 1, 0.748962, math.nan),
    "sufficiency": (1, 1, 0.327820, 0.5, 0.75, 1, 0),
}


@pytest.mark.worked("med_modularity", "med_compactness", "minimality", "sufficiency")
@pytest.mark.parametrize("name", ON_GRID)
def test_codes_on_a_grid(name: str) -> None:
    found = [round(value(name, codes, GRID, kinds="categorical"), 6) for codes in CODES.values()]
    assert_close(found, ON_GRID[name], ROUNDING)


def entropic(shares: list[float], n: int) -> float:
    total = sum(shares)
    return 1 + sum(one / total * math.log(one / total) for one in shares if one > 0) / math.log(n)


@pytest.mark.oracle("med_modularity", "med_compactness", "minimality", "sufficiency")
def test_slow_definition() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (300, 3)).astype(float)
    codes = np.column_stack([factors[:, 0] + factors[:, 1], factors[:, 1] // 2, factors[:, 2], factors[:, 2] % 2])
    labels, values = ([column.astype(int).tolist() for column in table.T] for table in (codes, factors))
    information = oracle.information_matrix(labels, values)  # a row for each code
    sums = [sum(column) for column in zip(*information, strict=True)]
    shares = [[one / whole for one, whole in zip(row, sums, strict=True)] for row in information]
    weights = [sum(row) / sum(map(sum, shares)) for row in shares]
    expected = {
        "med_modularity": sum(weight * entropic(row, 3) for weight, row in zip(weights, shares, strict=True)),
        "med_compactness": sum(entropic(list(column), 4) for column in zip(*shares, strict=True)) / 3,
        "minimality": np.mean(
            [max(row) / high for row, high in zip(information, oracle.entropies(labels), strict=True)]
        ),
        "sufficiency": np.mean(
            [max(c) / h for c, h in zip(zip(*information, strict=True), oracle.entropies(values), strict=True)]
        ),
    }
    for name, wanted in expected.items():
        options = {"active": "all"} if name.startswith("med") else None
        assert_close(value(name, codes, factors, options=options, kinds="categorical"), wanted, ROUNDING)


# Traps ----------------------------------------------------------------------------------------------------------------


def test_a_factor_that_no_code_tells_is_left_out_and_named() -> None:
    """Its shares are of noise, and add up to 1 as those of the others do."""
    other = np.random.default_rng(0).integers(0, 4, 400)
    codes = np.column_stack([GRID, GRID[:, 0] // 2])
    factors = np.column_stack([FIRST, other, SECOND])
    for name in ("med_modularity", "med_compactness"):
        with_it, without = (value(name, codes, one, kinds="categorical") for one in (factors, factors[:, [0, 2]]))
        assert_close(with_it, without, ROUNDING)
    score = demele.metrics.med_compactness(codes, demele.Factors(factors, kinds="categorical"))
    assert score.per_factor is not None
    assert_exact(np.isnan(score.per_factor), [False, True, False])
    assert any(note.code == "undefined-value" and len(note.subject) == 1 for note in score.notes)
    assert value("med_modularity", codes, factors, options={"active": "all"}, kinds="categorical") < 0.95


def noisy(share: float, column: Array, rng: np.random.Generator) -> Array:
    """A code of one factor, some of its values drawn anew."""
    return np.where(rng.random(len(column)) < share, rng.integers(0, 4, len(column)), column)


def test_the_best_codes_are_chosen_on_other_rows_than_those_that_are_scored() -> None:
    """Among 400 codes that tell of both factors alike, the most modular ones by luck are not modular."""
    rng = np.random.default_rng(3)
    mixed = np.column_stack([noisy(0.5, FIRST + SECOND, rng) for _ in range(300)])
    split = value("med_modularity", mixed, GRID, options={"top_k": 1}, kinds="categorical")
    table = split_tables(rows_of(mixed, GRID), bins=demele.bins.EqualWidth(10))[0]
    best = best_codes(table, 1, "informative")
    same_rows = value("med_modularity", mixed[:, best], GRID, kinds="categorical")
    assert len(best) == 2
    assert split < 0.6 * same_rows


def rows_of(codes: Array, factors: Array, std: Array | None = None) -> Any:
    from demele.core.inputs import read_pair
    from demele.metrics.source import InMemory, Subject

    return InMemory(Subject.of(*read_pair(codes, factors, kinds="categorical")), std).rows()


def test_the_best_codes_of_many() -> None:
    rng = np.random.default_rng(4)
    codes = np.column_stack([rng.random((400, 30)), GRID, GRID.sum(axis=1), noisy(0.4, FIRST, rng)])
    for name in ("med_modularity", "med_compactness"):
        score = scored(name, codes, GRID, top_k=1)
        assert score.details["kept"] == [[30, 31], [30, 31]]
        assert score.value > 0.9
        assert score.value > value(name, codes, GRID, kinds="categorical") + 0.02
    assert math.isnan(value("med_compactness", CODES["one"], GRID, options={"top_k": 1}, kinds="categorical"))


def test_choosing_codes_wants_counts() -> None:
    refuses(demele.errors.InputError, "counts", demele.metrics.med_modularity, GRID, GRID, top_k=1, estimator="knn")


def test_a_constant_code_is_left_out_of_minimality() -> None:
    score = demele.metrics.minimality(CODES["one"], demele.Factors(GRID, kinds="categorical"))
    assert score.per_code is not None
    assert_exact(np.isnan(score.per_code), [False, True])


def test_a_stochastic_code_tells_of_its_input_what_its_channel_lets_through() -> None:
    """Means N(0, 1 - s^2), deviation s: I(x; z) = -log s, whatever the bins; a sure code tells its entropy."""
    rng = np.random.default_rng(6)
    means, factor = rng.standard_normal((6000, 1)) * math.sqrt(0.75), rng.integers(0, 4, 6000)
    factor = np.where(rng.random(6000) < 0.5, np.digitize(means[:, 0], [-0.5, 0, 0.5]), factor)
    std = np.full_like(means, 0.5)
    for bins, tolerance in ((20, 0.05), (60, 0.02)):
        score = scored("minimality", demele.Codes(means, std=std), factor, bins=bins, relative_to="channel")
        held = float(score.matrix.to_numpy()[0, 0] / score.value)
        assert abs(held + math.log(0.5)) < tolerance
    known = demele.Factors(GRID, kinds="categorical")
    sure = demele.metrics.minimality(demele.Codes(GRID, std=0 * GRID), known, relative_to="channel")
    assert_close(float(sure.value), value("minimality", GRID, GRID, kinds="categorical"), ROUNDING)
    with pytest.raises(demele.errors.NotEnoughData, match=r"Codes\(std=\)"):
        demele.metrics.minimality(GRID, known, relative_to="channel")
