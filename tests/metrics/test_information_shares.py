"""InfoMEC, gated modularity, MED, minimality and sufficiency: known numbers, independent definitions, traps, noise."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele.metrics.information.information_shares import best_codes, split_tables
from tests.metrics.grid import CODES, FIRST, GRID, SECOND, scored, value
from tests.oracles import information as oracle
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact, assert_rate_at_most

Array = NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
#: H of the sum of two of four values, and the share of log 4 that it tells of each.
SUM = -sum(k / 16 * math.log(k / 16) for k in (1, 2, 3, 4, 3, 2, 1))
TOLD = SUM / math.log(4) - 1
OF_SUM = (1 / (1 + TOLD) - 1 / 3) * 3 / 2
ON_GRID = {
    "infom": (1, 1, 0, 1, 1, 2 / 3, math.nan),
    "infoc": (1, 1 / 3, 0, math.nan, 1, OF_SUM, math.nan),
    "infoe": (1, 1, 1, 0.5, 0.75, 1, 0),
    "med_modularity": (1, 1, 0, 1, 1, 0.753114, math.nan),
    "med_compactness": (1, 0.5, 0, 1, 1, 0.491278, math.nan),
    "minimality": (1, 1, 0.246886, 1, 1, 0.748962, math.nan),
    "sufficiency": (1, 1, 0.327820, 0.5, 0.75, 1, 0),
}
LIMIT: dict[str, Any] = {"penalty": 1e8, "score_on": "training", "encoding": "one-hot"}


@pytest.mark.worked("infom", "infoc", "infoe", "med_modularity", "med_compactness", "minimality", "sufficiency")
@pytest.mark.parametrize("name", ON_GRID)
def test_codes_on_a_grid(name: str) -> None:
    options = LIMIT if name == "infoe" else None
    found = [value(name, codes, GRID, options=options, kinds="categorical") for codes in CODES.values()]
    assert round(OF_SUM, 6) == 0.629672
    if not name.startswith("info"):
        found = [round(one, 6) for one in found]
    assert_close(found, ON_GRID[name], SOLVER if name == "infoe" else ROUNDING)


def by_definition(codes: Array, factors: Array) -> tuple[list[float], list[float]]:
    labels = [column.astype(int).tolist() for column in codes.T]
    values = [column.astype(int).tolist() for column in factors.T]
    heights = oracle.entropies(values)
    shares = [
        [one / high for one, high in zip(row, heights, strict=True)]
        for row in oracle.information_matrix(labels, values)
    ]
    m, d = len(values), len(labels)
    modular = [(max(row) / sum(row) - 1 / m) / (1 - 1 / m) for row in shares]
    columns = list(zip(*shares, strict=True))
    return modular, [(max(column) / sum(column) - 1 / d) / (1 - 1 / d) for column in columns]


@pytest.mark.oracle("infom", "infoc")
@pytest.mark.parametrize("active", ["informative", "range"])
def test_slow_definition(active: Any) -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (300, 3)).astype(float)
    codes = np.column_stack(
        [factors[:, 0] + factors[:, 1], factors[:, 1] // 2, factors[:, 2] - factors[:, 0], factors[:, 2]]
    )
    codes = codes - codes.min(axis=0)
    modular, compact = by_definition(codes, factors)
    m, c = (
        score(codes, demele.Factors(factors, kinds="categorical"), active=active)
        for score in (demele.metrics.infom, demele.metrics.infoc)
    )
    assert m.per_code is not None
    assert c.per_factor is not None
    assert_close(m.per_code, modular, ROUNDING)
    assert_close(c.per_factor, compact, ROUNDING)


@pytest.mark.oracle("infoe")
@pytest.mark.parametrize("balanced", [True, False])
def test_scikit_learns_regression_has_the_same_loss(balanced: bool) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(1)
    rare = (rng.random(400) < 0.15).astype(int) + (rng.random(400) < 0.4)
    codes = rare[:, None] + rng.standard_normal((400, 3))
    weight = "balanced" if balanced else None
    fit = linear.LogisticRegression(C=10.0, class_weight=weight, tol=1e-10, max_iter=5000)
    scaled = (codes - codes.mean(axis=0)) / codes.std(axis=0)
    likely = fit.fit(scaled, rare).predict_proba(scaled)[np.arange(400), rare]
    nothing = math.log(3) if balanced else oracle.entropy(rare.tolist())
    options = {"penalty": 10.0, "class_weight": weight, "score_on": "training"}
    found = value("infoe", codes, rare, options=options, kinds="categorical")
    assert_close(found, 1 + np.log(likely).mean() / nothing, SOLVER)


# The gate -------------------------------------------------------------------------------------------------------------


def noisy(seed: int, n: int) -> tuple[Array, Array]:
    """Ten codes, of which eight hold a factor with 30 % noise and two hold nothing."""
    rng = np.random.default_rng(seed)
    factors, noise = rng.random((n, 8)), rng.random((n, 10))
    return np.column_stack([0.7 * factors + 0.3 * noise[:, :8], noise[:, 8:]]), factors


def test_the_gated_score_is_the_mean_over_codes_that_are_alive() -> None:
    codes, factors = noisy(0, 300)
    gated = demele.metrics.modularity(codes, factors, gate=True)
    every = demele.metrics.modularity(codes, factors, correction="adjusted")
    assert gated.per_code is not None
    assert_exact(np.isnan(gated.per_code), [False] * 8 + [True] * 2)
    assert_close(gated.value, every.per_code[:8].mean(), ROUNDING)
    assert gated.matrix_values is not None
    assert every.matrix_values is not None
    assert_exact(gated.matrix_values, every.matrix_values)
    assert {note.subject for note in gated.notes if note.code == "undefined-value"} == {("z9", "z10")}


# Codes that pass by little --------------------------------------------------------------------------------------------


def two_by_two(agree: int) -> tuple[Array, Array]:
    """One binary code of 100 rows, 50 of each value, that agrees with the first of two factors on so many of each."""
    first = np.repeat([0.0, 1.0, 1.0, 0.0], [agree, 50 - agree, agree, 50 - agree])
    return np.repeat([0.0, 1.0], 50)[:, None], np.column_stack([first, np.arange(100) % 2])


def test_a_code_that_passes_at_the_level_of_the_gate_alone_is_noted() -> None:
    """2 n I = 4 (33 log 1.32 + 17 log 0.68) = 10.4 has p = 0.0012, times two pairs 0.0025; that of 40 of 50 is 38.5."""
    names = ["infom", "med_modularity", "modularity"]
    for agree, noted in ((33, True), (40, False)):
        codes, factors = two_by_two(agree)
        found = demele.evaluate(
            codes, demele.Factors(factors, kinds="categorical"), names, options={"modularity": {"gate": True}}
        )
        for name in names:
            assert found[name].value == found[name].value
            assert ("barely-beyond-chance" in {note.code for note in found[name].notes}) is noted
    published = demele.metrics.infom(codes, demele.Factors(factors, kinds="categorical"), active="range")
    assert "barely-beyond-chance" not in {note.code for note in published.notes}


@pytest.mark.parametrize("n", [300, 1_000])
def test_noise_passes_the_gate_as_often_as_its_level_says_and_is_noted(n: int) -> None:
    passed = unnoted = 0
    for seed in range(150):
        rng = np.random.default_rng([n, seed])
        codes, factors = rng.integers(0, 4, (n, 3)).astype(float), rng.integers(0, 4, (n, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = demele.metrics.infom(codes, demele.Factors(factors, kinds="categorical"))
        if found.value == found.value:
            passed += 1
            unnoted += "barely-beyond-chance" not in {note.code for note in found.notes}
    assert passed > 0
    assert_rate_at_most(passed, 150, 0.05)
    assert_rate_at_most(unnoted, 150, 0.001)


# MED, minimality and sufficiency --------------------------------------------------------------------------------------


def entropic(shares: list[float], n: int) -> float:
    total = sum(shares)
    return 1 + sum(one / total * math.log(one / total) for one in shares if one > 0) / math.log(n)


@pytest.mark.oracle("med_modularity", "med_compactness", "minimality", "sufficiency")
def test_shares_of_information_by_a_slow_definition() -> None:
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
    for name in ("med_compactness", "infoc"):
        score = scored(name, codes, factors)
        assert score.per_factor is not None
        assert_exact(np.isnan(score.per_factor), [False, True, False])
        assert any(note.code == "undefined-value" and len(note.subject) == 1 for note in score.notes)
    assert value("med_modularity", codes, factors, options={"active": "all"}, kinds="categorical") < 0.95


def drawn_anew(share: float, column: Array, rng: np.random.Generator) -> Array:
    """A code of one factor, some of its values drawn anew."""
    return np.where(rng.random(len(column)) < share, rng.integers(0, 4, len(column)), column)


def test_the_best_codes_are_chosen_on_other_rows_than_those_that_are_scored() -> None:
    """Among 400 codes that tell of both factors alike, the most modular ones by luck are not modular."""
    rng = np.random.default_rng(3)
    mixed = np.column_stack([drawn_anew(0.5, FIRST + SECOND, rng) for _ in range(300)])
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
    codes = np.column_stack([rng.random((400, 30)), GRID, GRID.sum(axis=1), drawn_anew(0.4, FIRST, rng)])
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
