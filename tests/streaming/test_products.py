"""MCC, weak MCC and affine R2 from products: of every row, equal to one call on all rows to rounding."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import demele
from demele.streaming.frame import BinEdges
from tests.streaming.feeding import QUIET, fed, numbers
from tests.tolerances import ROUNDING, SOLVER, assert_close

pytestmark = QUIET

Array = np.ndarray[Any, np.dtype[np.float64]]
N = 2_000
RNG = np.random.default_rng(11)
SHAPE = RNG.choice(["disc", "heart", "square"], N, p=[0.6, 0.3, 0.1])
SIZE, PLACE = RNG.random(N), RNG.standard_normal(N)
MIXED = pd.DataFrame({"shape": SHAPE, "size": SIZE, "lit": RNG.random(N) < 0.2})
NUMBERS = pd.DataFrame({"size": SIZE, "place": PLACE})
CODES: Array = np.column_stack(
    [
        (SHAPE == "heart") + 0.3 * RNG.standard_normal(N),
        1e6 + SIZE + 0.2 * PLACE + 0.1 * RNG.standard_normal(N),
        1e-5 * PLACE,
        np.full(N, 3.0),
        2e3 * (SHAPE == "disc") + RNG.standard_normal(N),
    ]
)
METRICS = ["mcc", "mcc_weak", "r2_affine"]


# Products -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factors", [MIXED, NUMBERS], ids=["classes and numbers", "numbers"])
@pytest.mark.parametrize("cuts", [1, 7, 300])
def test_products_are_of_every_row_however_they_come(factors: pd.DataFrame, cuts: int) -> None:
    accumulator = fed(METRICS, BinEdges.of(CODES, factors), CODES, factors, cuts)
    assert "summed: mcc, mcc_weak, r2_affine" in repr(accumulator)
    evaluation = accumulator.compute()
    assert [score.n for score in evaluation] == [N, N, N]
    assert_close(numbers(evaluation), numbers(demele.evaluate(CODES, factors, METRICS)), SOLVER)
    assert not [note for score in evaluation for note in score.notes if note.code == "sampled"]


def test_classes_by_hand() -> None:
    codes = np.array([[0.0], [2.0], [4.0], [6.0]])
    frame = BinEdges.fixed([(-9, 9)], {"shape": ["a", "b", "never"]})
    score = demele.Accumulator("mcc", frame=frame)
    for code, shape in zip(codes, ["a", "a", "b", "b"], strict=True):
        score = score.update(code[None], np.array([[shape]]))
    # means 1 and 5 about 3: 2 * 4 + 2 * 4 of 20
    assert_close(score.compute().value, np.sqrt(16 / 20), ROUNDING)


def test_products_of_copies_have_one_direction() -> None:
    copies = np.column_stack([SIZE, 3 * SIZE - 1, -SIZE])
    found = fed(["r2_affine"], BinEdges.of(copies, NUMBERS), copies, NUMBERS).compute()["r2_affine"]
    assert_close(found.per_factor, [1.0, np.corrcoef(SIZE, PLACE)[0, 1] ** 2], SOLVER)


def test_rows_that_lack_an_annotation_are_sampled() -> None:
    factors = NUMBERS.copy()
    factors.iloc[5, 0] = np.nan
    frame = BinEdges.of(CODES, factors, missing="omit")
    accumulator = demele.Accumulator(["mcc", "r2_affine"], frame=frame).update(CODES, factors)
    # means and cross products have rows of their own for each factor; products of all columns have not
    assert f"summed: mcc, {N} rows kept" in repr(accumulator)
    assert_close(
        accumulator.compute()["r2_affine"].value,
        demele.metrics.r2_affine(CODES, demele.Factors(factors, missing="omit")).value,
        SOLVER,
    )
