"""Sums of rows: SAP, IRS, MCC, affine R2 and OMES of every row, equal to one call on all rows to rounding."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demele
from demele.core.columns import Missing
from demele.core.errors import FormatError, NotEnoughData
from demele.streaming.frame import BinEdges
from demele.streaming.states import MomentState
from tests.given import accumulated_metrics
from tests.oracles import effects as oracle
from tests.refusals import refuses
from tests.streaming.feeding import QUIET, fed, first, forged, numbers
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

pytestmark = QUIET

Array = np.ndarray[Any, np.dtype[np.float64]]
N = 3000
RNG = np.random.default_rng(4)
FACTORS: Array = RNG.random((N, 3)) * [1.0, 5.0, 0.01]
#: Of a few binary digits, so that adding a large whole number does not round them.
CODES: Array = np.round(
    np.column_stack([FACTORS @ RNG.random((3, 2)), FACTORS[:, 2] * 100 + FACTORS[:, 0], RNG.standard_normal(N)]) * 2**16
)
CODES /= 2**16
METRICS = ["sap", "irs"]
KINDS = "continuous"


def evaluated(codes: Array, factors: Array, *, missing: Missing = "raise", **keywords: Any) -> list[float]:
    known = demele.Factors(factors, kinds=[KINDS] * factors.shape[1], missing=missing)
    return numbers(demele.evaluate(codes, known, METRICS, **keywords))


def framed(codes: Array, factors: Array, **keywords: Any) -> BinEdges:
    return BinEdges.of(codes, factors, kinds=[KINDS] * factors.shape[1], **keywords)


# Equality with all rows -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cuts", [1, 2, 7, 400])
def test_of_every_row_however_they_come(cuts: int) -> None:
    accumulator = fed(METRICS, framed(CODES, FACTORS), CODES, FACTORS, cuts)
    assert accumulator.n == N  # 60 times what the sample of other metrics would keep
    assert repr(accumulator) == f"Accumulator(sap, irs; n={N}, counted: nothing, summed: sap, irs)"
    evaluation = accumulator.compute()
    assert_close(numbers(evaluation), evaluated(CODES, FACTORS), ROUNDING)
    assert not [note for score in evaluation for note in score.notes if note.code == "sampled"]


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    cuts=st.lists(st.integers(0, 120), max_size=6),
    offset=st.sampled_from([0.0, 1e8, -1e9, 2.0**36]),
    unit=st.sampled_from([1.0, 2.0**-40, 2.0**300]),
)
def test_any_cut_in_any_order_is_one_call(seed: int, cuts: list[int], offset: float, unit: float) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.permutation(N)[:120]
    codes, factors = (CODES[rows] + np.round(offset)) * unit, FACTORS[rows]
    frame = framed(codes, factors)
    parts = [
        demele.Accumulator(METRICS, frame=frame).update(codes[own], factors[own])
        for own in np.split(np.arange(120), sorted(cuts))
    ]
    total = parts.pop(int(rng.integers(len(parts))))
    while parts:
        other = parts.pop(int(rng.integers(len(parts))))
        total = total.merge(other) if rng.integers(2) else other.merge(total)
    assert_close(numbers(total.compute()), evaluated(CODES[rows], factors), ROUNDING)


# Digits ---------------------------------------------------------------------------------------------------------------


def test_a_frame_much_wider_than_the_data_costs_few_digits() -> None:
    far = CODES + 1e8
    frame = BinEdges.fixed([(-1e9, 1e9)] * 4, dict.fromkeys(("v1", "v2", "v3"), (-100.0, 200.0)))
    matrix = fed(METRICS, frame, far, FACTORS).compute()["sap"].matrix.to_numpy()
    assert_close(matrix, np.corrcoef(CODES.T, FACTORS.T)[:4, 4:] ** 2, SOLVER)


@pytest.mark.parametrize("unit", [2.0**700, 2.0**-700])
def test_units_change_no_bit(unit: float) -> None:
    codes, factors = CODES * unit, FACTORS * unit
    found = numbers(fed(METRICS, framed(codes, factors), codes, factors).compute())
    assert_exact(found, numbers(fed(METRICS, framed(CODES, FACTORS), CODES, FACTORS).compute()))


# Missing annotations, and columns that do not vary --------------------------------------------------------------------


def test_every_factor_has_the_rows_it_is_annotated_on() -> None:
    factors = FACTORS.copy()
    factors[RNG.random(N) < 0.3, 0] = np.nan
    factors[:900, 1] = np.nan  # none in the first batches
    frame = framed(CODES, factors, missing="omit")
    evaluation = fed(METRICS, frame, CODES, factors).compute()
    assert_close(numbers(evaluation), evaluated(CODES, factors, missing="omit"), ROUNDING)
    known = ~np.isnan(factors[:, 0])
    expected = [np.corrcoef(code[known], factors[known, 0])[0, 1] ** 2 for code in CODES.T]
    assert_close(evaluation["sap"].matrix.to_numpy()[:, 0], expected, ROUNDING)
    assert [factor.n_annotated for factor in evaluation.factors] == [int(known.sum()), N - 900, N]


def test_constant_codes_tell_nothing() -> None:
    codes = np.column_stack([CODES, np.full(N, 0.1)])
    evaluation = fed(METRICS, framed(codes, FACTORS), codes, FACTORS).compute()
    assert_exact(evaluation["sap"].matrix.to_numpy()[4], [0.0] * 3)
    assert np.isnan(evaluation["irs"].matrix.to_numpy()[4]).all()
    assert_close(numbers(evaluation), evaluated(codes, FACTORS), ROUNDING)
    assert [note.subject for note in evaluation.notes if note.code == "constant-code"] == [("z5",)]


def test_a_value_needs_a_factor_that_varies() -> None:
    frame = framed(CODES, FACTORS)
    one = demele.Accumulator(METRICS, frame=frame).update(CODES[:1], FACTORS[:1])
    refuses(NotEnoughData, r"none of them varies in the 1 rows so far: 'v1', 'v2', 'v3'", one.compute)
    refuses(NotEnoughData, "no rows yet", one.reset().compute)


# What is summed, and what is not --------------------------------------------------------------------------------------


def summed(metrics: Any, **keywords: Any) -> list[str]:
    return [state for state, _ in demele.Accumulator(metrics, **keywords)._held.states if state != "table"]


def test_a_frame_with_continuous_factors_is_needed() -> None:
    frame = framed(CODES, FACTORS)
    mixed = BinEdges.fixed([(-1, 1)], {"shape": ["disc", "square"], "size": (0.0, 1.0)})
    assert accumulated_metrics(frame) == (*METRICS, "mcc", "mcc_weak", "r2_affine", "omes")
    assert accumulated_metrics(mixed) == ("irs", "mcc", "mcc_weak", "r2_affine", "omes")
    assert summed(METRICS, frame=frame) == ["moments", "extremes"]
    assert summed(METRICS, frame=mixed) == ["extremes"]
    assert summed(METRICS) == []
    assert not set(accumulated_metrics(frame)) & set(demele.counted_metrics())
    sampled = demele.Accumulator("irs", bound=50).update(CODES, FACTORS).compute()
    assert [note.message for note in sampled.notes if note.code == "sampled"] == [
        "of a random sample of 50 of 3,000 rows (bound=50)"
    ]


def test_quantiles_and_unknown_edges_need_rows() -> None:
    rule = demele.bins.EqualFrequency(10)
    plain, exact = framed(CODES, FACTORS), framed(CODES, FACTORS, bins=rule)
    assert summed("irs", frame=plain, options={"irs": {"quantile": 0.99}}) == []
    assert summed("irs", frame=plain, bins=rule) == []
    assert summed("irs", frame=exact, bins=rule) == ["extremes"]
    found = numbers(fed(METRICS, exact, CODES, FACTORS, bins=rule).compute())
    assert_close(found, evaluated(CODES, FACTORS, bins=rule), ROUNDING)


@pytest.mark.parametrize("options", [{"weights": "uniform"}, {"value_weights": "uniform"}, {"bins": 4}])
def test_options_of_irs(options: dict[str, Any]) -> None:
    found = numbers(fed(METRICS, framed(CODES, FACTORS), CODES, FACTORS, options={"irs": options}).compute())
    assert_close(found, evaluated(CODES, FACTORS, options={"irs": options}), ROUNDING)
    assert found != numbers(fed(METRICS, framed(CODES, FACTORS), CODES, FACTORS).compute())


# States ---------------------------------------------------------------------------------------------------------------


FORGED: list[tuple[str, str, Any, str]] = [
    ("sap", "mean", first(np.nan), r"impossible numbers \(mean\)"),
    ("sap", "cross", first(np.inf), r"impossible numbers \(cross\)"),
    ("sap", "square", first(-1.0), r"impossible numbers \(square\)"),
    ("sap", "factor_low", first(np.nan), r"impossible numbers \(factor_low\)"),
    ("sap", "count", first(N + 1), "contradict one another"),
    ("sap", "low", first(1e9), "contradict one another"),
    ("sap", "cross", lambda values: values[:, :1], "do not have the columns of its frame"),
    ("sap", "mean", lambda values: values.astype(np.float32), "do not have the columns of its frame"),
    ("sap", "n", lambda values: values + 1, "of different numbers of rows"),
    ("irs", "count", first(-1), r"impossible numbers \(count\)"),
    ("irs", "count", first(N + 1), "contradict one another"),
    ("irs", "low", first(1e9), "contradict one another"),
    ("irs", "code_high", first(-1e9), "contradict one another"),
    ("irs", "total", lambda values: values[:, :5], "do not have the columns of its frame"),
    ("irs", "clipped", lambda values: values - 1, r"impossible numbers \(clipped\)"),
    ("omes", "square", first(-1.0), r"impossible numbers \(square\)"),
    ("omes", "count", first(0), "contradict one another"),
    ("omes", "levels", first(99), "contradict one another"),
    ("omes", "levels", lambda values: values[:, [1, *range(1, values.shape[1])]], "contradict one another"),
    ("omes", "mean", lambda values: values[:, 1:], "do not have the columns of its frame"),
    ("omes", "levels", lambda values: values.astype(np.int64), "do not have the columns of its frame"),
    ("r2_affine", "product", lambda values: values + np.triu(np.ones_like(values), 1), "contradict one another"),
    ("r2_affine", "product", lambda values: values - 2 * np.diag(np.diag(values)), "contradict one another"),
    ("mig", "annotated", lambda values: values - 1, "contradict one another"),
]


def test_bytes_bring_back_all_sums_and_forged_ones_are_refused() -> None:
    metrics = ["sap", "irs", "omes", "r2_affine", "mig"]
    whole = fed(metrics, framed(CODES, FACTORS), CODES, FACTORS)
    data = whole.to_bytes()
    back = demele.Accumulator.from_bytes(data)
    for one, other in ((back, whole), (back.update(CODES[:9], FACTORS[:9]), whole.update(CODES[:9], FACTORS[:9]))):
        assert_exact(numbers(one.compute()), numbers(other.compute()))
    for metric, name, change, message in FORGED:
        with pytest.raises(FormatError, match=f"accumulator: .*{message}"):
            demele.Accumulator.from_bytes(forged(data, metrics.index(metric), name, change))


def test_variances_of_codes() -> None:
    far = CODES * 0.125 + 1e6
    state = fed(METRICS, framed(far, FACTORS), far, FACTORS)._held.states["moments", None]
    assert isinstance(state, MomentState)
    assert_close(state.code_variances(), (CODES * 0.125).var(axis=0), ROUNDING)


def test_what_is_constant_in_every_batch_may_vary_over_all() -> None:
    factors = np.repeat(np.arange(10.0), 30)[:, None]
    codes = np.column_stack([factors, RNG.random(300)])
    found = numbers(fed(METRICS, framed(codes, factors), codes, factors, 10).compute())
    assert_close(found, evaluated(codes, factors), ROUNDING)
    assert found[2] > 0.9


# Products: MCC, weak MCC and affine R2 --------------------------------------------------------------------------------


DRAWS = np.random.default_rng(11)
SHAPE = DRAWS.choice(["disc", "heart", "square"], N, p=[0.6, 0.3, 0.1])
SIZE, PLACE = DRAWS.random(N), DRAWS.standard_normal(N)
MIXED = pd.DataFrame({"shape": SHAPE, "size": SIZE, "lit": DRAWS.random(N) < 0.2})
NUMBERS = pd.DataFrame({"size": SIZE, "place": PLACE})
SHAPED: Array = np.column_stack(
    [
        (SHAPE == "heart") + 0.3 * DRAWS.standard_normal(N),
        1e6 + SIZE + 0.2 * PLACE + 0.1 * DRAWS.standard_normal(N),
        1e-5 * PLACE,
        np.full(N, 3.0),
        2e3 * (SHAPE == "disc") + DRAWS.standard_normal(N),
    ]
)
PRODUCTS = ["mcc", "mcc_weak", "r2_affine"]


# Products -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factors", [MIXED, NUMBERS], ids=["classes and numbers", "numbers"])
@pytest.mark.parametrize("cuts", [1, 7, 300])
def test_products_are_of_every_row_however_they_come(factors: pd.DataFrame, cuts: int) -> None:
    accumulator = fed(PRODUCTS, BinEdges.of(SHAPED, factors), SHAPED, factors, cuts)
    assert "summed: mcc, mcc_weak, r2_affine" in repr(accumulator)
    evaluation = accumulator.compute()
    assert [score.n for score in evaluation] == [N, N, N]
    assert_close(numbers(evaluation), numbers(demele.evaluate(SHAPED, factors, PRODUCTS)), SOLVER)
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
    frame = BinEdges.of(SHAPED, factors, missing="omit")
    accumulator = demele.Accumulator(["mcc", "r2_affine"], frame=frame).update(SHAPED, factors)
    # means and cross products have rows of their own for each factor; products of all columns have not
    assert f"summed: mcc, {N} rows kept" in repr(accumulator)
    assert_close(
        accumulator.compute()["r2_affine"].value,
        demele.metrics.r2_affine(SHAPED, demele.Factors(factors, missing="omit")).value,
        SOLVER,
    )


# Sums in cells: OMES --------------------------------------------------------------------------------------------------


N_CELLS = 2000
LOTS = np.random.default_rng(6)
LEVELS = LOTS.integers(0, (3, 4, 2), (N_CELLS, 3))
GRID: Array = np.column_stack([LEVELS[:, :2], LOTS.random(N_CELLS)])
GRID_KINDS = ("categorical", "categorical", "continuous")
MADE: Array = np.column_stack([GRID @ [1.0, 0.2, 0.0], GRID[:, 1] ** 2 - GRID[:, 2], LOTS.standard_normal(N_CELLS)])
OPTIONS: list[dict[str, Any]] = [
    {},
    {"effect": "published"},
    {"variance": "plug-in", "pooling": "max"},
    {"variance": "unbiased", "bins": 3, "overlap_weight": 0.2},
]


def grid_frame(codes: Array, factors: Array, **keywords: Any) -> BinEdges:
    return BinEdges.of(codes, factors, kinds=list(GRID_KINDS), **keywords)


def of_rows(codes: Array, factors: Array, missing: Any = "raise", **keywords: Any) -> Any:
    return demele.metrics.omes(codes, demele.Factors(factors, kinds=list(GRID_KINDS), missing=missing), **keywords)


def test_cells_are_of_every_row_however_they_come() -> None:
    for cuts in [1, 7, 300]:
        for options in OPTIONS:
            accumulator = fed("omes", grid_frame(MADE, GRID), MADE, GRID, cuts, options={"omes": options})
            assert repr(accumulator) == f"Accumulator(omes; n={N_CELLS}, counted: nothing, summed: omes)"
            found, expected = accumulator.compute(), of_rows(MADE, GRID, **options)
            assert_close(numbers(found), numbers(expected), ROUNDING)
            assert [note.message for note in found.notes if note.code != "unprobed"] == [
                note.message for note in expected.notes if note.code != "noise"
            ]


def test_the_definition_in_loops() -> None:
    found = fed(
        "omes", grid_frame(MADE, GRID), MADE, GRID, options={"omes": {"variance": "plug-in", "bins": 2}}
    ).compute()
    labels = np.column_stack([LEVELS[:, :2], GRID[:, 2] >= (GRID[:, 2].min() + GRID[:, 2].max()) / 2])
    expected = oracle.total_effects(MADE.tolist(), labels.astype(int).tolist(), unbiased=False)
    assert_close(found.matrix.to_numpy(), expected, ROUNDING)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.lists(st.integers(0, 300), max_size=6),
    offset=st.sampled_from([0.0, 1e6, -(2.0**20)]),
    unit=st.sampled_from([1.0, 2.0**-60, 2.0**80]),
)
def test_cells_of_any_cut_in_any_order_are_one_call(seed: int, cuts: list[int], offset: float, unit: float) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.permutation(300)
    codes = (np.round(MADE[:300] * 2**10) / 2**10 + offset) * unit
    factors = GRID[:300]
    frame = grid_frame(codes, factors)
    parts = np.split(rows, sorted(cuts))
    total = demele.Accumulator("omes", frame=frame)
    for index in rng.permutation(len(parts)):
        part = demele.Accumulator("omes", frame=frame, stream=int(index) + 1)
        total = part.update(codes[parts[index]], factors[parts[index]]).merge(total)
    expected = of_rows((codes / unit - offset), factors)
    assert_close(numbers(total.compute()), numbers(expected), ROUNDING)


def test_rows_without_an_annotation_are_left_out() -> None:
    factors = GRID.copy()
    factors[LOTS.random(N_CELLS) < 0.3, 0] = np.nan
    factors[:900, 2] = np.nan
    accumulator = fed("omes", grid_frame(MADE, factors, missing="omit"), MADE, factors)
    expected = of_rows(MADE, factors, missing="omit")
    found = accumulator.compute()
    assert_close(numbers(found), numbers(expected), ROUNDING)
    complete = ~np.isnan(factors).any(axis=1)
    assert_close(found.value, of_rows(MADE[complete], factors[complete]).value, ROUNDING)
    (state,) = accumulator._held.states.values()
    assert state.annotated.tolist() == (~np.isnan(factors)).sum(axis=0).tolist()


@pytest.mark.parametrize("value", [0.1, 1e9 + 0.1])
def test_constant_codes_have_no_effect(value: float) -> None:
    codes = np.column_stack([MADE, np.full(N_CELLS, value)])
    found = fed("omes", grid_frame(codes, GRID), codes, GRID).compute()
    assert np.isnan(found.matrix.to_numpy()[3]).all()
    assert_close(numbers(found), numbers(of_rows(codes, GRID)), ROUNDING)


def test_rows_that_never_agree_are_refused_as_in_memory() -> None:
    codes, factors = MADE[:6], np.column_stack([np.arange(6.0)] * 3)
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
    assert not demele.Accumulator("omes", frame=grid_frame(MADE, GRID), bins=rule)._held.states
    exact = grid_frame(MADE, GRID, bins=rule)
    assert_close(
        numbers(fed("omes", exact, MADE, GRID, bins=rule).compute()),
        numbers(of_rows(MADE, GRID, bins=rule)),
        ROUNDING,
    )


# States ---------------------------------------------------------------------------------------------------------------


def test_values_outside_a_frame() -> None:
    frame = BinEdges.fixed([(-0.5, 0.5)] * 3, {"a": [0, 1, 2], "b": [0, 1, 2, 3], "c": (0.2, 0.8)})
    found = fed("omes", frame, MADE, GRID, outside="clip").compute()
    moved = int(((GRID[:, 2] < 0.2) | (GRID[:, 2] > 0.8)).sum())
    assert [note.message.split(" values")[0] for note in found.notes if note.code == "clipped"] == [f"{moved:,}"]
    bins = np.minimum((np.clip(GRID[:, 2], 0.2, 0.8) - 0.2) / 0.6 * 5, 4).astype(int)
    expected = demele.metrics.omes(
        MADE, demele.Factors(np.column_stack([GRID[:, :2], bins]), kinds="categorical"), variance="unbiased"
    )
    assert_close(found.matrix.to_numpy(), expected.matrix.to_numpy(), ROUNDING)
