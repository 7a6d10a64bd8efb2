"""InfoM, InfoC and InfoE: known numbers, an independent definition, traps, noise."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from tests.metrics.grid import CODES, FIRST, GRID, SECOND, value
from tests.oracles import information as oracle
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

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
