"""InfoM, InfoC, InfoE and gated modularity: known numbers, an independent definition, traps, noise."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from tests.metrics.grid import CODES, FIRST, GRID, SECOND, value
from tests.oracles import information as oracle
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
}
LIMIT: dict[str, Any] = {"penalty": 1e8, "score_on": "training", "encoding": "one-hot"}


@pytest.mark.worked("infom", "infoc", "infoe")
@pytest.mark.parametrize("name", ON_GRID)
def test_codes_on_a_grid(name: str) -> None:
    options = LIMIT if name == "infoe" else None
    found = [value(name, codes, GRID, options=options, kinds="categorical") for codes in CODES.values()]
    assert round(OF_SUM, 6) == 0.629672
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


def test_a_factor_that_no_code_tells_is_left_out_and_named() -> None:
    other = np.tile(np.repeat([0, 1], 16), 13)[:400].astype(float)
    factors = np.column_stack([FIRST, other, SECOND])
    score = demele.metrics.infoc(GRID, demele.Factors(factors, kinds="categorical"))
    assert score.per_factor is not None
    assert_exact(np.isnan(score.per_factor), [False, True, False])
    assert any("'factor_1'" in note.message or len(note.subject) == 1 for note in score.notes)
    assert_close(score.value, 1.0, ROUNDING)


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
