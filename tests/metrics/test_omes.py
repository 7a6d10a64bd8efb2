"""OMES: known numbers, the definition in loops, the defect of the published effect, noise, few rows."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from tests.metrics.grid import CODES, GRID, scored
from tests.oracles import effects as oracle
from tests.tolerances import ROUNDING, assert_close

Array = NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
#: By weighted and by largest codes, and the effects on the first code.
ON_GRID = {
    "factors": (1, 1, (1, 0)),
    "copies": (7 / 8, 7 / 8, (1, 0)),
    "rotated": (1 / 4, 1 / 4, (1 / 2, 1 / 2)),
    "one": (1 / 2, 1 / 2, (1, 0)),
    "coarse": (1, 1, (1, 0)),
    "sum beside": (25 / 36, 11 / 12, (1, 0)),
    "constant": (math.nan, math.nan, (math.nan, math.nan)),
}


score = partial(scored, "omes")


@pytest.mark.worked("omes")
@pytest.mark.parametrize("name", ON_GRID)
def test_codes_on_a_grid(name: str) -> None:
    weighted, largest, of_first = ON_GRID[name]
    found = score(CODES[name], GRID)
    assert_close(found.value, weighted, ROUNDING)
    assert_close(score(CODES[name], GRID, pooling="max").value, largest, ROUNDING)
    assert_close(found.matrix.to_numpy()[0], of_first, ROUNDING)


def test_each_penalty_by_itself() -> None:
    """Copies overlap in nothing, and encode each factor twice of four times."""
    assert_close(score(CODES["copies"], GRID, overlap_weight=1.0).value, 1.0, ROUNDING)
    assert_close(score(CODES["copies"], GRID, overlap_weight=0.0).value, 0.75, ROUNDING)
    one = score(CODES["one"], GRID)
    assert_close([one.native["v1"], one.native["v2"]], [1.0, 0.0], ROUNDING)


def sampled(n: int = 60) -> tuple[Array, NDArray[np.intp]]:
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 3, (n, 3))
    noise = rng.standard_normal((n, 3))
    codes = np.column_stack([levels[:, 0] ** 2 + noise[:, 0], levels[:, 1] - levels[:, 2], levels[:, 2] * noise[:, 1]])
    return codes.astype(float), levels


@pytest.mark.oracle("omes")
@pytest.mark.parametrize("pooling", ["weighted", "max"])
@pytest.mark.parametrize("effect", ["plug-in", "unbiased", "published"])
def test_slow_definition(effect: str, pooling: Any) -> None:
    codes, levels = sampled()
    rows, own = codes.tolist(), levels.tolist()
    options: dict[str, Any] = {"effect": "published"} if effect == "published" else {"variance": effect}
    if effect == "published":
        matrix = oracle.correlation_effects(rows, own)
    else:
        matrix = oracle.total_effects(rows, own, unbiased=effect == "unbiased")
    found = score(codes, levels, pooling=pooling, overlap_weight=0.3, **options)
    assert found.matrix is not None
    assert_close(found.matrix, matrix, ROUNDING)
    usable = [[min(one, 1.0) for one in line] for line in matrix]
    assert_close(list(found.native.values()), oracle.omes(usable, 0.3, largest=pooling == "max"), ROUNDING)


@pytest.mark.parametrize(("k", "value"), [(2, 16 / 81), (3, 77 / 162), (4, 16 / 27)])
def test_the_published_effect_of_few_values_is_small(k: int, value: float) -> None:
    """No pair has equal values: a perfect code of k values has the effect 1 - 1 / (k - 1), and 0 for two."""
    grid = np.array([(a, b, c) for a in range(k) for b in range(k) for c in range(4)], dtype=float)
    published = score(grid, grid, effect="published")
    assert published.matrix is not None
    assert_close(np.diag(published.matrix), [1 - 1 / (k - 1), 1 - 1 / (k - 1), 2 / 3], ROUNDING)
    assert_close(published.value, value, ROUNDING)
    assert_close(score(grid, grid).value, 1.0, ROUNDING)


def test_factors_that_never_vary_alone_are_refused_and_few_rows_told() -> None:
    codes, levels = sampled()
    with pytest.raises(demele.errors.NotEnoughData, match="agree on all factors but 'v1'"):
        score(codes, np.column_stack([levels[:, 0], np.arange(60) // 2, np.arange(60) % 2]))
    notes = {note.code: note for note in score(codes[:30], levels[:30]).notes}
    assert notes["usable-rows"].severity == "fragile"
    full = score(*sampled(400))
    assert {note.code: note.severity for note in full.notes}["usable-rows"] == "info"
    assert full.details["usable_rows"] == {"v1": 1.0, "v2": 1.0, "v3": 1.0}
