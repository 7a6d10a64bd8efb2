"""The laws of states, for every registered metric: batches and merges in any order are one call on all rows."""

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demele
from demele.core.errors import NotEnoughData
from tests.contract.cases import CHEAP, GROUPS, small
from tests.tolerances import ROUNDING, assert_close, assert_exact

pytestmark = [
    pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning"),
    pytest.mark.filterwarnings("ignore::demele.errors.AmbiguousKindWarning"),
]

CODES, FACTORS, STDS = small()
FRAME = demele.bins.BinEdges.of(CODES, FACTORS)
#: All continuous, so that SAP is summed.
CONTINUOUS = FACTORS[["size"]].assign(first=CODES["first"] ** 2, noise=CODES["noise"])
#: Three streams of rows, of other lengths each.
PARTS = (np.arange(0, 70), np.arange(70, 75), np.arange(75, 160))
COUNTED = demele.counted_metrics()

METRICS = {**GROUPS, "summed": ["sap", "irs"]}
#: Groups that sum floats under a frame: in another order they are equal to rounding, all others to the bit.
SUMMED = ("irs", "mcc", "mcc_weak", "r2_affine", "omes", "summed")

#: Every metric is in one group; what is counted with a frame is sampled without one.
CASES = [pytest.param(name, True, id=f"{name}-frame") for name in METRICS]
CASES += [pytest.param(name, False, id=name) for name in GROUPS if name in COUNTED or name == "irs"]
all_states = pytest.mark.parametrize(("group", "framed"), CASES)


def table(group: str) -> pd.DataFrame:
    return CONTINUOUS if group == "summed" else FACTORS


def empty(group: str, framed: bool, stream: str | int = 0) -> demele.Accumulator:
    frame = (demele.bins.BinEdges.of(CODES, CONTINUOUS) if group == "summed" else FRAME) if framed else None
    return demele.Accumulator(METRICS[group], frame=frame, stream=stream, options=CHEAP)


def fed(accumulator: demele.Accumulator, rows: Any, batch: int = 40) -> demele.Accumulator:
    factors = CONTINUOUS if accumulator.metrics == ("sap", "irs") else FACTORS
    for start in range(0, len(rows), batch):
        own = rows[start : start + batch]
        accumulator = accumulator.update(CODES.iloc[own], factors.iloc[own], STDS[own])
    return accumulator


def parts(group: str, framed: bool) -> list[demele.Accumulator]:
    return [fed(empty(group, framed, stream), rows) for stream, rows in enumerate(PARTS)]


def numbers(evaluation: Any) -> list[float]:
    """Every number of everything that is computed."""
    if isinstance(evaluation, demele.Accumulator):
        metrics = evaluation.metrics
        evaluation = evaluation.compute()
        assert tuple(score.metric for score in evaluation) == metrics
    found: list[float] = []
    for score in evaluation:
        found += [score.n, score.value, *score.native.values()]
        if score.matrix is not None:
            found += [float(one) for one in score.matrix.to_numpy().ravel()]
    return found


def whole(group: str, rows: Any) -> list[float]:
    factors = table(group)
    kinds = dict.fromkeys(factors, "continuous") if group == "summed" else FRAME.kinds
    return numbers(
        demele.evaluate(
            demele.Codes(CODES.iloc[rows], std=STDS[rows]),
            demele.Factors(factors.iloc[rows], kinds=kinds),
            METRICS[group],
            options=CHEAP,
        )
    )


def assert_equal(group: str, framed: bool, actual: list[float], expected: list[float]) -> None:
    """Same bits; to rounding where floats are summed."""
    if framed and group in SUMMED:
        assert_close(actual, expected, ROUNDING)
    else:
        assert_exact(actual, expected)


def held(accumulator: demele.Accumulator) -> dict[str, Any]:
    """What an accumulator holds, in full."""
    state: dict[str, Any] = {"n": accumulator.n, "columns": accumulator._held.columns}
    state["sums"] = {}
    for key, own in accumulator._held.states.items():
        within = state if key[0] == "table" else state["sums"]
        within[repr(key)] = {name: one.tolist() for name, one in own.settled().arrays.items()}
    if accumulator._held.sample is not None:
        sample = accumulator._held.sample
        state["streams"] = sample.streams
        state["rows"] = [column.tolist() for column in sample.rows()] if sample.parts else []
    return state


@all_states
def test_empty_is_the_identity_on_both_sides(group: str, framed: bool) -> None:
    one = fed(empty(group, framed), PARTS[0])
    left, right = empty(group, framed, 7).merge(one), one.merge(empty(group, framed, 7))
    assert held(left) == held(right) == held(one)
    both = empty(group, framed).merge(empty(group, framed))
    assert both.n == 0
    assert held(both) == held(empty(group, framed))


@all_states
def test_merge_is_associative_and_commutative(group: str, framed: bool) -> None:
    found = []
    for a, b, c in itertools.permutations(parts(group, framed)):
        found += [held(a.merge(b).merge(c)), held(a.merge(b.merge(c)))]
    sums = [state.pop("sums") for state in found]
    for state, own in zip(found[1:], sums[1:], strict=True):
        assert state == found[0]
        assert own.keys() == sums[0].keys()
        for metric, arrays in own.items():
            for name, values in arrays.items():
                assert_close(values, sums[0][metric][name], ROUNDING)
    a, b, c = parts(group, framed)
    expected = numbers(a.merge(b).merge(c))
    assert_equal(group, framed, numbers(c.merge(b.merge(a))), expected)
    # streams come back in their order, so that this is one call on all rows
    assert_equal(group, framed, expected, whole(group, np.arange(160)))


@all_states
def test_no_argument_changes(group: str, framed: bool) -> None:
    a, b, _ = parts(group, framed)
    before = [held(a), held(b)], [pickle.dumps(a), pickle.dumps(b)]
    merged = a.merge(b)
    fed(merged, PARTS[2]).compute()
    fed(a, PARTS[2])
    b.reset()
    assert [held(a), held(b)] == before[0]
    assert [pickle.dumps(a), pickle.dumps(b)] == before[1]
    assert merged.n == 75


@all_states
def test_compute_twice_is_compute_once(group: str, framed: bool) -> None:
    accumulator = fed(empty(group, framed), np.arange(160))
    first = numbers(accumulator)
    assert_exact(numbers(accumulator), first)
    assert_exact(numbers(fed(accumulator, np.arange(0))), first)


@all_states
def test_update_after_merge_goes_on_with_its_own_stream(group: str, framed: bool) -> None:
    a, b, _ = parts(group, framed)
    grown = fed(a.merge(b), PARTS[2])
    assert grown.n == 160
    assert_equal(group, framed, numbers(grown), whole(group, np.concatenate([PARTS[0], PARTS[2], PARTS[1]])))
    assert_equal(group, framed, numbers(grown), numbers(fed(a, PARTS[2]).merge(b)))


COPIES: dict[str, Callable[[demele.Accumulator], demele.Accumulator]] = {
    "pickle": lambda state: pickle.loads(pickle.dumps(state)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.mark.parametrize("how", COPIES)
@all_states
def test_copies_go_on_alone(group: str, framed: bool, how: str) -> None:
    one = fed(empty(group, framed), PARTS[0])
    other = COPIES[how](one)
    assert held(other) == held(one)
    assert held(fed(other, PARTS[2])) == held(fed(one, PARTS[2]))
    assert one.n == other.n == 70
    assert held(other.merge(empty(group, framed))) == held(one)
    assert other.metrics == one.metrics


@all_states
def test_reset_is_empty(group: str, framed: bool) -> None:
    a, b, _ = parts(group, framed)
    assert held(a.reset()) == held(empty(group, framed))
    with pytest.raises(NotEnoughData, match="no rows yet"):
        a.reset().compute()
    assert held(a.reset().merge(b)) == held(b)
    assert held(fed(a.reset(), PARTS[0])) == held(a)


@all_states
def test_a_batch_written_over_later_stays_what_it_was(group: str, framed: bool) -> None:
    own = CONTINUOUS if group == "summed" else FACTORS[["light"]]
    codes, factors, stds = CODES.to_numpy(copy=True), own.to_numpy(copy=True), STDS.copy()
    frame = demele.bins.BinEdges.of(codes, factors) if framed else None
    accumulator = demele.Accumulator(METRICS[group], frame=frame, options=CHEAP).update(codes, factors, stds)
    before = held(accumulator)
    codes[:], factors[:], stds[:] = 0.0, 0, 1.0
    assert held(accumulator) == before


# Any batches, any streams, any order ----------------------------------------------------------------------------------

INFORMATION = list(COUNTED)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    """Draw batches by stream, by their sizes, and the order in which the streams are merged."""
    streams = draw(st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=5), min_size=1, max_size=12))
    return streams, list(draw(st.permutations(range(len(streams)))))


@settings(max_examples=25)
@given(histories(), st.integers(4, 60))
def test_any_history_of_the_same_rows_is_one_state(history: tuple[list[list[int]], list[int]], bound: int) -> None:
    streams, order = history
    start, states, taken = 0, [], []
    for number, sizes in enumerate(streams):
        state = demele.Accumulator([*INFORMATION, "sap"], frame=FRAME, stream=number, bound=bound)
        for size in sizes:
            rows = np.arange(start, start + size) % 160
            state = state.update(CODES.iloc[rows], FACTORS.iloc[rows])
            taken.append(rows)
            start += size
        states.append(state)
    merged = states[order[0]]
    for number in order[1:]:
        merged = merged.merge(states[number])
    rows = np.concatenate(taken)
    assert merged.n == rows.size
    if not rows.size:
        return
    at_once = demele.Accumulator(INFORMATION, frame=FRAME).update(CODES.iloc[rows], FACTORS.iloc[rows])
    assert merged._held.states.keys() == at_once._held.states.keys()
    for key, mine in merged._held.states.items():
        expected, found = at_once._held.states[key].settled().arrays, mine.settled().arrays
        assert found.keys() == expected.keys()
        for name, array in found.items():
            assert_exact(array, expected[name])
    sample = merged._held.sample
    kept = sample.rows()
    assert len(kept[0]) == min(bound, rows.size) == sample.n_kept
    if bound >= rows.size:  # all rows, in the order of streams and batches
        assert_exact(np.column_stack(kept[:4]), CODES.to_numpy()[rows])


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 159), min_size=1, max_size=6))
def test_batches_of_any_size_count_to_the_same_bits(seed: int, cuts: list[int]) -> None:
    rows = np.random.default_rng(seed).permutation(160)
    accumulator = demele.Accumulator(INFORMATION, frame=FRAME)
    for own in np.split(rows, sorted(cuts)):
        accumulator = accumulator.update(CODES.iloc[own], FACTORS.iloc[own])
    expected = demele.evaluate(CODES, FACTORS, INFORMATION)
    for score in accumulator.compute():
        assert_exact(score.value, expected[score.metric].value)
        assert_exact(list(score.native.values()), list(expected[score.metric].native.values()))


def test_streams_decide_which_rows_a_sampled_metric_sees_not_the_order_of_merging() -> None:
    def scored(order: list[int], streams: list[int]) -> float:
        states = [
            fed(demele.Accumulator("sap", bound=50, stream=stream, options=CHEAP), rows)
            for stream, rows in zip(streams, PARTS, strict=True)
        ]
        merged = states[order[0]].merge(states[order[1]]).merge(states[order[2]])
        return float(merged.compute().value)

    values = {scored(list(order), [0, 1, 2]) for order in itertools.permutations(range(3))}
    assert len(values) == 1
    assert scored([0, 1, 2], [5, 6, 7]) not in values  # other streams, another sample


def test_frames_of_parts_merge_to_the_frame_of_all_rows() -> None:
    frames = [demele.bins.BinEdges.of(CODES.iloc[rows], FACTORS.iloc[rows], kinds=FRAME.kinds) for rows in PARTS]
    for a, b, c in itertools.permutations(frames):
        assert a.merge(b).merge(c) == a.merge(b.merge(c)) == FRAME
        assert pd.Series(a.merge(b.merge(c)).kinds).equals(pd.Series(FRAME.kinds))
