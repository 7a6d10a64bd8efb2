"""OMES from sums in cells: of every row, equal to one call on all rows to rounding, however the rows come."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demele
from demele.core.errors import NotEnoughData
from demele.streaming.frame import BinEdges
from tests.oracles import effects as oracle
from tests.refusals import refuses
from tests.streaming.feeding import QUIET, fed, numbers
from tests.tolerances import ROUNDING, assert_close

pytestmark = QUIET

Array = np.ndarray[Any, np.dtype[np.float64]]
N = 2000
RNG = np.random.default_rng(6)
LEVELS = RNG.integers(0, (3, 4, 2), (N, 3))
FACTORS: Array = np.column_stack([LEVELS[:, :2], RNG.random(N)])
KINDS = ("categorical", "categorical", "continuous")
CODES: Array = np.column_stack([FACTORS @ [1.0, 0.2, 0.0], FACTORS[:, 1] ** 2 - FACTORS[:, 2], RNG.standard_normal(N)])
OPTIONS: list[dict[str, Any]] = [
    {},
    {"effect": "published"},
    {"variance": "plug-in", "pooling": "max"},
    {"variance": "unbiased", "bins": 3, "overlap_weight": 0.2},
]


def framed(codes: Array, factors: Array, **keywords: Any) -> BinEdges:
    return BinEdges.of(codes, factors, kinds=list(KINDS), **keywords)


def of_rows(codes: Array, factors: Array, missing: Any = "raise", **keywords: Any) -> Any:
    return demele.metrics.omes(codes, demele.Factors(factors, kinds=list(KINDS), missing=missing), **keywords)


def test_of_every_row_however_they_come() -> None:
    for cuts in [1, 7, 300]:
        for options in OPTIONS:
            accumulator = fed("omes", framed(CODES, FACTORS), CODES, FACTORS, cuts, options={"omes": options})
            assert repr(accumulator) == f"Accumulator(omes; n={N}, counted: nothing, summed: omes)"
            found, expected = accumulator.compute(), of_rows(CODES, FACTORS, **options)
            assert_close(numbers(found), numbers(expected), ROUNDING)
            assert [note.message for note in found.notes if note.code != "unprobed"] == [
                note.message for note in expected.notes if note.code != "noise"
            ]


def test_the_definition_in_loops() -> None:
    found = fed(
        "omes", framed(CODES, FACTORS), CODES, FACTORS, options={"omes": {"variance": "plug-in", "bins": 2}}
    ).compute()
    labels = np.column_stack([LEVELS[:, :2], FACTORS[:, 2] >= (FACTORS[:, 2].min() + FACTORS[:, 2].max()) / 2])
    expected = oracle.total_effects(CODES.tolist(), labels.astype(int).tolist(), unbiased=False)
    assert_close(found.matrix.to_numpy(), expected, ROUNDING)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.lists(st.integers(0, 300), max_size=6),
    offset=st.sampled_from([0.0, 1e6, -(2.0**20)]),
    unit=st.sampled_from([1.0, 2.0**-60, 2.0**80]),
)
def test_any_cut_in_any_order_is_one_call(seed: int, cuts: list[int], offset: float, unit: float) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.permutation(300)
    codes = (np.round(CODES[:300] * 2**10) / 2**10 + offset) * unit
    factors = FACTORS[:300]
    frame = framed(codes, factors)
    parts = np.split(rows, sorted(cuts))
    total = demele.Accumulator("omes", frame=frame)
    for index in rng.permutation(len(parts)):
        part = demele.Accumulator("omes", frame=frame, stream=int(index) + 1)
        total = part.update(codes[parts[index]], factors[parts[index]]).merge(total)
    expected = of_rows((codes / unit - offset), factors)
    assert_close(numbers(total.compute()), numbers(expected), ROUNDING)


def test_rows_without_an_annotation_are_left_out() -> None:
    factors = FACTORS.copy()
    factors[RNG.random(N) < 0.3, 0] = np.nan
    factors[:900, 2] = np.nan
    accumulator = fed("omes", framed(CODES, factors, missing="omit"), CODES, factors)
    expected = of_rows(CODES, factors, missing="omit")
    found = accumulator.compute()
    assert_close(numbers(found), numbers(expected), ROUNDING)
    complete = ~np.isnan(factors).any(axis=1)
    assert_close(found.value, of_rows(CODES[complete], factors[complete]).value, ROUNDING)
    (state,) = accumulator._held.states.values()
    assert state.annotated.tolist() == (~np.isnan(factors)).sum(axis=0).tolist()


@pytest.mark.parametrize("value", [0.1, 1e9 + 0.1])
def test_constant_codes_have_no_effect(value: float) -> None:
    codes = np.column_stack([CODES, np.full(N, value)])
    found = fed("omes", framed(codes, FACTORS), codes, FACTORS).compute()
    assert np.isnan(found.matrix.to_numpy()[3]).all()
    assert_close(numbers(found), numbers(of_rows(codes, FACTORS)), ROUNDING)


def test_rows_that_never_agree_are_refused_as_in_memory() -> None:
    codes, factors = CODES[:6], np.column_stack([np.arange(6.0)] * 3)
    kinds = ["categorical"] * 3
    frame = BinEdges.of(codes, factors, kinds=kinds)
    accumulator = demele.Accumulator("omes", frame=frame).update(codes, factors)
    refuses(NotEnoughData, "no two rows agree on all factors but 'v1'", accumulator.compute)
    apart = np.where(np.eye(3)[np.arange(6) % 3] > 0, np.nan, factors)
    frame = BinEdges.of(codes, apart, kinds=kinds, missing="omit")
    with pytest.raises(NotEnoughData, match="no row is annotated for all factors"):
        demele.Accumulator("omes", frame=frame).update(codes, apart).compute()


def test_edges_that_need_values_need_a_frame_that_knows_them() -> None:
    rule = demele.bins.EqualFrequency(4)
    assert not demele.Accumulator("omes", frame=framed(CODES, FACTORS), bins=rule)._held.states
    exact = framed(CODES, FACTORS, bins=rule)
    assert_close(
        numbers(fed("omes", exact, CODES, FACTORS, bins=rule).compute()),
        numbers(of_rows(CODES, FACTORS, bins=rule)),
        ROUNDING,
    )


# States ---------------------------------------------------------------------------------------------------------------


def test_values_outside_a_frame() -> None:
    frame = BinEdges.fixed([(-0.5, 0.5)] * 3, {"a": [0, 1, 2], "b": [0, 1, 2, 3], "c": (0.2, 0.8)})
    found = fed("omes", frame, CODES, FACTORS, outside="clip").compute()
    moved = int(((FACTORS[:, 2] < 0.2) | (FACTORS[:, 2] > 0.8)).sum())
    assert [note.message.split(" values")[0] for note in found.notes if note.code == "clipped"] == [f"{moved:,}"]
    bins = np.minimum((np.clip(FACTORS[:, 2], 0.2, 0.8) - 0.2) / 0.6 * 5, 4).astype(int)
    expected = demele.metrics.omes(
        CODES, demele.Factors(np.column_stack([FACTORS[:, :2], bins]), kinds="categorical"), variance="unbiased"
    )
    assert_close(found.matrix.to_numpy(), expected.matrix.to_numpy(), ROUNDING)
