"""Frames: read as an evaluation reads, of parts as of the whole; samples and counts add up; other rows are refused."""

import copy
import pickle
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demele
from demele import bins
from demele.bins import BinEdges
from demele.core.errors import IncompatibleState, InputError, InputTypeError, NotEnoughData
from demele.core.inputs import read_pair
from demele.estimation.counts import column_bins
from demele.streaming.sample import SampleState, read_batch, row_keys
from demele.streaming.states import WAITING, CountState, empty_state, key_of
from tests.contract.cases import small
from tests.refusals import refuses
from tests.tolerances import assert_exact, assert_mean

CODES, FACTORS, _ = small()
FRAME = BinEdges.of(CODES, FACTORS)
EDGES = BinEdges.fixed({"z1": (-1, 1), "z2": (0, 10)}, {"kind": ["a", "b", "c"], "size": (0.0, 1.0)})

#: Factors of every kind, whose kinds parts of a few rows would often find to be others.
RNG = np.random.default_rng(5)
N = 1200
COLUMNS: dict[str, Any] = {
    "few integers": RNG.integers(0, 3, N),
    "many integers": RNG.integers(0, 100, N),
    "all different integers": RNG.permutation(N),
    "huge integers": RNG.integers(0, 20, N) * 10**12,
    "stored labels": RNG.integers(0, 60, N).astype(np.float32),
    "whole floats that measure": RNG.integers(0, 200, N).astype(float),
    "real numbers": RNG.random(N),
    "whole at first": np.where(np.arange(N) < 1150, RNG.integers(0, 3, N), RNG.random(N)),
    "booleans": RNG.random(N) < 0.5,
    "words": np.array(["cat", "bird", "dog"])[RNG.integers(0, 3, N)],
    "numbers as words": RNG.integers(7, 12, N).astype(str),
    "sorted integers": np.arange(N) // 100,
    "sorted, many": np.arange(N) // 10,
}


def framed(factors: Any, **keywords: Any) -> BinEdges:
    return BinEdges.of(np.arange(len(factors), dtype=float)[:, None], factors, **keywords)


# Of data -------------------------------------------------------------------------------------------------------------


def test_a_frame_of_data_is_what_an_evaluation_reads() -> None:
    codes, factors = read_pair(CODES, FACTORS)
    assert FRAME.codes == codes.names
    assert FRAME.factors == factors.names
    assert_exact(FRAME.low, codes.low)
    assert_exact(FRAME.high, codes.high)
    for column, factor in zip(FRAME.columns, factors.columns, strict=True):
        assert (column.name, column.kind, column.levels) == (factor.name, factor.kind, factor.levels)
        assert (column.low, column.high) == (factor.low, factor.high)
    assert FRAME.kinds == {"size": "continuous", "shape": "categorical", "light": "categorical"}


@pytest.mark.parametrize("rule", [bins.EqualWidth(7), bins.EqualFrequency(5), bins.Adaptive()], ids=repr)
def test_bins_are_those_of_an_evaluation(rule: Any) -> None:
    frame = BinEdges.of(CODES, FACTORS, bins=rule)
    of_codes, of_factors = column_bins(*read_pair(CODES, FACTORS), rule)
    binned = frame.bins(rule)
    for mine, theirs in zip((*binned.codes, *binned.factors), (*of_codes, *of_factors), strict=True):
        assert (mine is None) == (theirs is None)
        if mine is not None and theirs is not None:
            assert_exact(mine.edges, theirs.edges)
            assert mine.regular == theirs.regular


def test_bins_may_be_a_number_edges_or_several_rules() -> None:
    assert BinEdges.of(CODES, FACTORS, bins=5).bins(bins.EqualWidth(5)).n_levels == (5, 3, 2)
    rules = [bins.EqualFrequency(3), bins.EqualFrequency(4)]
    frame = BinEdges.of(CODES, FACTORS, bins=rules)
    assert [frame.bins(rule).n_levels[0] for rule in rules] == [3, 4]
    edges = bins.Edges((-9.0, 0.5, 9.0))
    assert BinEdges.of(CODES, FACTORS, bins=edges).bins(edges).n_levels[0] == 2


def test_reading_gives_the_coding_of_an_evaluation() -> None:
    codes, factors = read_pair(CODES, FACTORS)
    rows = read_batch(FRAME, CODES, FACTORS)
    assert rows.n == 160
    assert rows.clipped == 0
    assert_exact(rows.codes, codes.values)
    for values, factor in zip(rows.factors, factors.columns, strict=True):
        assert_exact(values, factor.values)


SOURCES: dict[str, Any] = {
    "pandas": lambda table: table,
    "polars": lambda table: pl.from_pandas(table),
    "other order": lambda table: table[table.columns[::-1]],
    "arrays": lambda table: table.to_numpy(),
    "objects": lambda table: table.astype(object),
    "nullable": lambda table: table.convert_dtypes(),
}


@pytest.mark.parametrize("source", SOURCES)
def test_batches_of_any_source_read_alike(source: str) -> None:
    expected = read_batch(FRAME, CODES, FACTORS)
    found = read_batch(FRAME, SOURCES[source](CODES), SOURCES[source](FACTORS))
    assert_exact(found.codes, expected.codes)
    for mine, theirs in zip(found.factors, expected.factors, strict=True):
        assert_exact(mine, theirs)


def test_a_frame_of_arrays_takes_columns_with_names_as_they_stand() -> None:
    factors = FACTORS[["size", "light"]]
    frame = BinEdges.of(CODES.to_numpy(), factors.to_numpy())
    assert frame.codes == ("z1", "z2", "z3", "z4")
    assert_exact(read_batch(frame, CODES, factors).codes, CODES)


# Of parts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COLUMNS)
def test_the_frame_of_parts_is_that_of_all_rows(name: str) -> None:
    codes, factors = RNG.random((N, 1)), pd.DataFrame({"v": COLUMNS[name]})
    whole = BinEdges.of(codes, factors)
    clear = name in ("real numbers", "booleans", "words", "numbers as words")  # whatever part is seen
    for kinds in (whole.kinds, None) if clear else (whole.kinds,):
        for n_parts in (2, 60):
            split = np.array_split(np.arange(N), n_parts)
            parts = [BinEdges.of(codes[rows], factors.iloc[rows], kinds=kinds) for rows in split]
            assert reduce(BinEdges.merge, parts) == whole


def test_parts_of_other_kinds_ask_for_kinds() -> None:
    words, numbers = framed(np.array(["a", "b"])), framed(np.array([0.5, 1.5]))
    refuses(IncompatibleState, r"'v1' is categorical in one part and continuous.*kinds=\{'v1'", words.merge, numbers)
    with pytest.raises(IncompatibleState, match="kinds="):
        framed(np.array([1, 2]), kinds="categorical").merge(framed(np.array([1, 2]), kinds="continuous"))
    whole = framed(np.array([1, 2]))  # classes here, perhaps a quantity in all rows
    refuses(IncompatibleState, r"'v1' holds whole numbers.*kinds=\{'v1'", whole.merge, whole)


def test_frames_of_other_columns_do_not_merge() -> None:
    refuses(IncompatibleState, "other columns", FRAME.merge, BinEdges.of(CODES.iloc[:, :3], FACTORS))
    refuses(IncompatibleState, "other columns", FRAME.merge, BinEdges.of(CODES, FACTORS.iloc[:, :2]))
    with pytest.raises(IncompatibleState, match=r"edges from values \(bins=\.\.\.\)"):
        FRAME.merge(BinEdges.of(CODES, FACTORS, bins=bins.EqualFrequency(4)))


# As a value ----------------------------------------------------------------------------------------------------------


def test_frames_are_values() -> None:
    again = BinEdges.of(CODES, FACTORS)
    others = [
        BinEdges.of(CODES * 2, FACTORS),
        BinEdges.of(CODES.rename(columns={"first": "other"}), FACTORS),
        BinEdges.of(CODES, FACTORS, kinds={"light": "continuous"}),
        BinEdges.of(CODES, FACTORS, missing="omit"),
        BinEdges.of(CODES, FACTORS, bins=bins.EqualFrequency(4)),
        BinEdges.of(CODES, FACTORS, bins=bins.EqualFrequency(5)),
    ]
    assert again == FRAME
    assert hash(again) == hash(FRAME)
    assert again.digest() == FRAME.digest()
    assert len({frame.digest() for frame in [FRAME, *others]}) == 7
    assert all(frame != FRAME for frame in others)
    assert FRAME != "frame"
    for other in (pickle.loads(pickle.dumps(FRAME)), copy.deepcopy(FRAME)):
        assert other == FRAME
        assert hash(other) == hash(FRAME)


BAD_FIXED: dict[str, tuple[Any, Any, str]] = {
    "no codes": ([], {"v": (0.0, 1.0)}, "code_ranges: expected at least one"),
    "codes of a word": ("z", {"v": (0.0, 1.0)}, "code_ranges: expected a sequence or a mapping"),
    "codes without end": ([(0, 1, 2)], {"v": (0.0, 1.0)}, r"code_ranges: 'z1': expected \(low, high\)"),
    "codes the wrong way": ({"a": (1, 0)}, {"v": (0.0, 1.0)}, "code_ranges: 'a': expected finite low < high"),
    "codes without bound": ([(0, np.inf)], {"v": (0.0, 1.0)}, "finite low < high"),
    "no factors": ([(0, 1)], {}, "factors: expected at least one"),
    "factor the wrong way": ([(0, 1)], {"v": (1.0, 0.0)}, "factors: 'v': expected finite low < high"),
    "factor of a word": ([(0, 1)], {"v": "abc"}, r"expected \(low, high\) or a list of levels of 'v'"),
    "factor without levels": ([(0, 1)], {"v": []}, "'v': expected different levels.*got 0"),
    "level twice": ([(0, 1)], {"v": [1, 2, 1]}, "'v': expected different levels.*got 3, but only 2"),
    "missing level": ([(0, 1)], {"v": ["a", None]}, "'v': expected different levels.*got 2, but only 1"),
}


def test_what_cannot_be_stated() -> None:
    for case in BAD_FIXED:
        ranges, factors, words = BAD_FIXED[case]
        refuses(InputError, words, BinEdges.fixed, ranges, factors)


def test_what_no_frame_is_made_of() -> None:
    refuses(InputError, "codes and factors: expected the same number of", BinEdges.of, CODES, FACTORS[:9])
    with pytest.raises(InputError, match="1 missing annotation in column 'size'"):
        BinEdges.of(CODES, FACTORS.assign(size=[np.nan, *range(159)]))
    refuses(NotEnoughData, "at least 2 rows, got none", BinEdges.of, CODES[:0], FACTORS[:0])
    refuses(InputError, "missing: expected 'raise' or 'omit'", BinEdges.of, CODES, FACTORS, missing="drop")
    with pytest.raises(InputError, match="missing: expected 'raise' or 'omit', got 'drop'"):
        BinEdges.fixed([(0, 1)], [(0.0, 1.0)], missing="drop")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="kinds: unknown factor 'shpe'"):
        BinEdges.of(CODES, FACTORS, kinds={"shpe": "categorical"})
    refuses(InputTypeError, "bins: expected a number", lambda: BinEdges.of(CODES, FACTORS, bins=object()))
    refuses(InputError, "same labels in another order", BinEdges.of, CODES, FACTORS[::-1])


def test_edges_that_look_at_values_need_them() -> None:
    refuses(InputError, r"EqualFrequency\(bins=5\) looks at the", lambda: FRAME.bins(bins.EqualFrequency(5)))
    refuses(InputError, "do not lie within the edges", FRAME.bins, bins.Edges((0.0, 0.1)))


# Batches that do not fit ----------------------------------------------------------------------------------------------

GOOD_CODES = pd.DataFrame({"z1": [0.0, 0.5, 1.0], "z2": [1.0, 2.0, 10.0]})
GOOD_FACTORS = pd.DataFrame({"kind": ["a", "c", "a"], "size": [0.0, 0.25, 1.0]})


def codes_with(**columns: Any) -> pd.DataFrame:
    return GOOD_CODES.assign(**columns)


def factors_with(**columns: Any) -> pd.DataFrame:
    return GOOD_FACTORS.assign(**columns)


BAD_BATCHES: dict[str, tuple[Any, Any, str]] = {
    "a code less": (GOOD_CODES[["z1"]], GOOD_FACTORS, "codes: expected the 2 columns of the frame, 'z1', 'z2'; got 1"),
    "a factor less": (GOOD_CODES, GOOD_FACTORS[["kind"]], "factors: expected the 2 columns.*'size' is missing"),
    "another factor": (GOOD_CODES, factors_with().set_axis(["kind", "x"], axis=1), "'size' is missing, 'x' is"),
    "a factor more": (GOOD_CODES, factors_with(more=1), "factors: expected the 2 columns .*; got 3, 'more' is not"),
    "other rows": (GOOD_CODES, GOOD_FACTORS[:2], "got 3 rows of codes and 2 rows of factors"),
    "other order of rows": (GOOD_CODES, GOOD_FACTORS[::-1], "same labels in another order"),
    "code of NaN": (codes_with(z2=[1, np.nan, 2]), GOOD_FACTORS, "codes: 1 non-finite .* column 'z2', first at row 1"),
    "code of words": (codes_with(z1=["a", "b", "c"]), GOOD_FACTORS, "codes: expected real numbers in column 'z1'"),
    "code outside": (codes_with(z2=[0, 11, 12]), GOOD_FACTORS, r"codes: 2 values .* first 11 in column 'z2' at row 1"),
    "factor outside": (GOOD_CODES, factors_with(size=[0, 0, 2]), "factors: 1 values .* 2 in column 'size' at row 2"),
    "factor of inf": (GOOD_CODES, factors_with(size=[0, np.inf, 1]), "factors: 1 infinite value in column 'size'"),
    "factor of words": (GOOD_CODES, factors_with(size=["a", "b", "a"]), "'size' .* continuous but holds classes"),
    "missing number": (GOOD_CODES, factors_with(size=[0, None, None]), "factors: 2 missing .* 'size', first at row 1"),
    "missing class": (GOOD_CODES, factors_with(kind=["a", "b", None]), "factors: 1 missing .* 'kind', first at row 2"),
    "unknown class": (GOOD_CODES, factors_with(kind=["a", "x", "y"]), "'kind' .* 2 classes .* first 'x' at row 1"),
    "numbers for classes": (GOOD_CODES, factors_with(kind=[1, 2, 3]), "'kind' .* 3 classes .* first '1' at row 0"),
    "nothing": (None, GOOD_FACTORS, "codes: expected a table"),
    "one dimension": (np.zeros(3), GOOD_FACTORS, "codes: expected 2 dimensions"),
}


def test_batches_that_do_not_fit_are_refused() -> None:
    for case in BAD_BATCHES:
        codes, factors, words = BAD_BATCHES[case]
        refuses(InputError, words, read_batch, EDGES, codes, factors)


def test_empty_batches_are_read_if_their_columns_fit() -> None:
    assert read_batch(EDGES, GOOD_CODES[:0], GOOD_FACTORS[:0]).n == 0
    assert read_batch(EDGES, np.empty((0, 2)), np.empty((0, 2))).n == 0
    refuses(InputError, "expected the 2 columns of the frame", read_batch, EDGES, np.empty((0, 3)), np.empty((0, 2)))


def test_clipping_moves_values_to_the_ends_counts_them_and_keeps_what_they_were() -> None:
    rows = read_batch(EDGES, codes_with(z2=[-1, 11, 5]), factors_with(size=[2, 0.5, np.float64(-0.5)]), outside="clip")
    assert_exact(rows.codes[:, 1], [0, 10, 5])
    assert_exact(rows.factors[1], [1, 0.5, 0])
    assert rows.clipped == 4
    assert_exact(rows.unclipped.codes[:, 1], [-1, 11, 5])
    assert_exact(rows.unclipped.factors[1], [2, 0.5, -0.5])
    refuses(InputError, "1 non-finite", read_batch, EDGES, codes_with(z1=[np.inf, 0, 0]), GOOD_FACTORS, outside="clip")


def test_missing_annotations_have_a_code_of_their_own() -> None:
    omitting = replace(EDGES, missing="omit")
    rows = read_batch(omitting, GOOD_CODES, factors_with(kind=[None] * 3, size=[np.nan, 0.5, np.nan]))
    assert_exact(rows.factors[0], [-1, -1, -1])
    assert_exact(rows.factors[1], [np.nan, 0.5, np.nan])
    codes, factors = omitting.bins(bins.EqualWidth(4)).cut(rows)
    assert_exact(codes, [[2, 3, 3], [0, 0, 3]])
    assert_exact(factors, [[3, 3, 3], [4, 2, 4]])


def test_tables_that_no_memory_holds_are_refused() -> None:
    frame = BinEdges.fixed([(0, 1)] * 100, {"v": list(range(300_000))})
    refuses(InputError, r"tables of .* entries are too large.*'v' has", lambda: frame.bins(bins.EqualWidth(10)))


def test_kinds_that_were_given_stay() -> None:
    column = np.arange(100) % 4
    parts = [framed(column[rows], kinds="continuous") for rows in (slice(50), slice(50, 100))]
    assert parts[0].merge(parts[1]).kinds == {"v1": "continuous"}
    numbers = [framed(column[rows] + 8.0, kinds="categorical") for rows in (slice(2), slice(2, 4))]
    assert numbers[0].merge(numbers[1]).columns[0].levels == ("8", "9", "10", "11")
    words = [framed(np.array(own)) for own in (["9", "8"], ["10", "8"])]
    assert words[0].merge(words[1]).columns[0].levels == ("10", "8", "9")  # as words are sorted


# Samples and counts ---------------------------------------------------------------------------------------------------


def numbered(start: int, stop: int) -> tuple[Any, ...]:
    return (np.arange(start, stop),)


def sampled(bound: int, n: int, batch: int, stream: str = "0", seed: int = 0) -> SampleState:
    state = SampleState(bound, seed)
    for start in range(0, n, batch):
        state = state.update(numbered(start, min(start + batch, n)), stream)
    return state


def kept(state: SampleState) -> list[int]:
    return [int(row) for row in state.rows()[0]]


# Samples -------------------------------------------------------------------------------------------------------------


def test_of_more_rows_those_with_the_smallest_keys_are_kept() -> None:
    state = sampled(10, 500, 9)
    keys = row_keys(0, "0", np.arange(500))
    assert kept(state) == sorted(int(row) for row in np.argsort(keys)[:10])
    assert (state.n, state.n_kept) == (500, 10)


@settings(max_examples=30)
@given(st.integers(1, 300), st.integers(4, 60), st.integers(1, 50), st.integers(1, 50))
def test_batch_sizes_do_not_matter(n: int, bound: int, batch: int, other: int) -> None:
    assert kept(sampled(bound, n, batch)) == kept(sampled(bound, n, other))


@settings(max_examples=30)
@given(st.integers(1, 300), st.integers(4, 60), st.integers(0, 60))
def test_a_smaller_bound_keeps_a_part_of_what_a_larger_one_keeps(n: int, bound: int, more: int) -> None:
    assert set(kept(sampled(bound, n, 16))) <= set(kept(sampled(bound + more, n, 16)))


def test_each_row_is_kept_as_often_as_any_other() -> None:
    n, bound, trials = 60, 15, 4000
    present = np.zeros((trials, n))
    for seed in range(trials):
        present[seed, kept(sampled(bound, n, 25, seed=seed))] = 1
    assert_exact(present.sum(axis=1), np.full(trials, bound))
    for row in range(n):
        assert_mean(present[:, row], bound / n)
    # two rows at once, as in a draw without replacement
    assert_mean(present[:, 3] * present[:, 40], bound / n * (bound - 1) / (n - 1))


def test_numbered_streams_come_back_by_number_named_ones_by_name() -> None:
    state = SampleState(100, 0)
    for stream in ("10", "b", "2", "-1", "a"):
        state = state.update((np.full(2, stream, dtype=object),), stream)
    assert list(state.rows()[0]) == ["-1", "-1", "2", "2", "10", "10", "a", "a", "b", "b"]


def test_samples_with_another_bound_seed_or_the_same_stream_do_not_merge() -> None:
    state = sampled(10, 20, 20)
    for other, words in (
        (sampled(11, 5, 5, "1"), "at most 10 rows with seed 0, and 11"),
        (sampled(10, 5, 5, "1", seed=3), "with seed 3"),
        (sampled(10, 5, 5, "0"), "both saw rows of the stream '0'.*stream of its own"),
    ):
        refuses(IncompatibleState, words, state.merge, other)
    assert state.merge(SampleState(10, 0)).n == 20


# Counts --------------------------------------------------------------------------------------------------------------


def test_counts_by_hand() -> None:
    frame = demele.bins.BinEdges.fixed([(0.0, 4.0)], {"kind": ["a", "b"], "size": (0.0, 1.0)}, missing="omit")
    state = CountState.empty(frame, demele.bins.EqualWidth(2))
    codes = np.array([[0.0], [1.9], [2.0], [4.0]])
    factors = pd.DataFrame({"kind": ["a", "b", "b", None], "size": [0.0, 0.5, np.nan, 1.0]})
    state = state.update(read_batch(frame, codes, factors)).settled()
    assert state.annotated is not None
    kind, size = state.counted.tables
    assert_exact(kind, [[[1, 1], [0, 1]]])
    assert_exact(size, [[[1, 1], [0, 1]]])
    assert_exact(state.counted.factor_tables[0, 1], [[1, 0], [0, 1]])
    assert_exact(state.counted.factor_tables[1, 1], [[1, 0], [0, 2]])
    assert_exact(state.annotated, [3, 3])
    assert state.n == 4


def test_rows_wait_to_be_counted_together_and_nobody_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    codes, factors = rng.random((300, 2)), rng.random((300, 2))
    frame = demele.bins.BinEdges.of(codes, factors)
    tables = []
    for buffered in (1, 64, 10_000):
        monkeypatch.setattr("demele.streaming.states.BUFFERED", buffered)
        state = CountState.empty(frame, demele.bins.EqualWidth(4))
        for start in range(0, 300, 30):
            state = state.update(read_batch(frame, codes[start : start + 30], factors[start : start + 30]))
            assert state.n_waiting < max(buffered, 31)
        settled = state.settled()
        tables.append(settled.counted.tables)
    assert_exact(tables[0], tables[1])
    assert_exact(tables[0], tables[2])


def test_batches_of_one_row_do_not_make_a_long_list() -> None:
    rng = np.random.default_rng(0)
    codes, factors = rng.random((700, 2)), rng.random((700, 2))
    frame = demele.bins.BinEdges.of(codes, factors)
    empty = CountState.empty(frame, demele.bins.EqualWidth(4))
    state = empty
    for row in range(700):
        state = state.update(read_batch(frame, codes[row : row + 1], factors[row : row + 1]))
        assert len(state.waiting) <= WAITING
    one, whole = state.settled(), empty.update(read_batch(frame, codes, factors)).settled()
    assert_exact(one.counted.tables, whole.counted.tables)
    assert (one.n, one.n_waiting) == (700, 0)


@pytest.mark.parametrize("kind", ["table", "extremes", "cells", "moments", "products"])
def test_states_of_other_frames_bins_or_kinds_do_not_merge(kind: str) -> None:
    frame, fixed = demele.bins.BinEdges.fixed([(0, 1)], {"a": (0.0, 1.0)}), demele.bins.BinEdges.fixed
    own = empty_state(key_of(kind, {"bins": demele.bins.EqualWidth(4)}), frame)
    others = [(kind, one, 4) for one in (fixed([(0, 2)], {"a": (0.0, 1.0)}), fixed([(0, 1)], {"a": (0.0, 2.0)}))]
    others += [("products" if kind == "moments" else "moments", frame, 4)]
    others += [(kind, frame, 5)] if kind in ("table", "extremes", "cells") else []
    for name, other, n_bins in others:
        state = empty_state(key_of(name, {"bins": demele.bins.EqualWidth(n_bins)}), other)
        refuses(IncompatibleState, "give both the same frame and the same bins", own.merge, state)
