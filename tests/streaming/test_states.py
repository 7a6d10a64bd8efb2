"""Bounded samples: uniform, blind to values, the same rows whatever the batches and merges; counts by hand."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demele
from demele.core.errors import IncompatibleState
from demele.streaming.sample import SampleState, read_batch, row_keys
from demele.streaming.states import WAITING, CountState, empty_state, key_of
from tests.refusals import refuses
from tests.tolerances import assert_exact, assert_mean


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
