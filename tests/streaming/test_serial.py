"""Accumulators as bytes: they come back equal, and bytes that do not fit are refused."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demele
from demele.streaming.accumulator import MAGIC, checksum, state_to_bytes, with_state
from demele.streaming.frame import plain_setting
from tests.refusals import refuses
from tests.tolerances import assert_exact

RNG = np.random.default_rng(0)
FACTORS = np.column_stack([RNG.random(300), RNG.random(300), RNG.integers(0, 4, 300)])
CODES = np.column_stack([FACTORS + 0.1 * RNG.random((300, 3)), RNG.random(300)])
KINDS = ["continuous", "continuous", "categorical"]
FRAME = demele.bins.BinEdges.of(CODES, FACTORS, kinds=KINDS, bins=[demele.bins.EqualFrequency(7)])
STATES: dict[str, dict[str, Any]] = {
    "counted": {"metrics": "mig", "frame": FRAME},
    "counted and sampled": {"metrics": ["mig", "dlig", "sap"], "frame": FRAME, "outside": "clip"},
    "two rules": {
        "metrics": ["mig", "modularity"],
        "frame": FRAME,
        "options": {"mig": {"bins": demele.bins.EqualFrequency(7)}, "modularity": {"bins": [0.0, 0.3, 5.0]}},
    },
    "sampled": {"metrics": ["sap", "rmig"], "kinds": tuple(KINDS), "seed": 3},
    "beyond the bound": {"metrics": ["sap"], "kinds": dict(zip(("v1", "v2", "v3"), KINDS, strict=True)), "bound": 50},
    "codes of factors": {"metrics": ["dmig"], "frame": FRAME, "reg_dim": np.array([2, 1, 0])},
}


def filled(name: str, *, stream: str = "a", n: int = 300) -> demele.Accumulator:
    found = demele.Accumulator(**STATES[name], stream=stream)
    for start in range(0, n, 77):
        stop = min(start + 77, n)
        found = found.update(CODES[start:stop], FACTORS[start:stop], np.full((stop - start, 4), 0.1))
    return found


def same(first: demele.Accumulator, second: demele.Accumulator) -> None:
    """Same values to the bit, said the same way."""
    assert (repr(first), first.n, first.frame) == (repr(second), second.n, second.frame)
    one, other = first.compute(), second.compute()
    one, other = ((found,) if isinstance(found, demele.Score) else tuple(found) for found in (one, other))
    assert [_told(score) for score in one] == [_told(score) for score in other]


def _told(score: demele.Score) -> dict[str, Any]:
    return {**score.to_dict(), "seconds": None}


@pytest.mark.parametrize("name", STATES)
@pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
def test_an_accumulator_comes_back_equal_and_goes_on(name: str) -> None:
    first = filled(name)
    second = demele.Accumulator.from_bytes(first.to_bytes())
    same(first, second)
    same(with_state(first.reset(), state_to_bytes(first)), first)
    assert second.to_bytes() == first.to_bytes()
    more = (CODES[:40], FACTORS[:40], np.full((40, 4), 0.1))
    same(first.update(*more), second.update(*more))
    other = filled(name, stream="b", n=100)
    same(first.merge(other), second.merge(other))
    same(other.merge(first), other.merge(second))


@pytest.mark.parametrize("name", STATES)
def test_an_empty_one_is_the_identity_still(name: str) -> None:
    empty = demele.Accumulator(**STATES[name])
    again = demele.Accumulator.from_bytes(empty.to_bytes())
    assert again.n == 0
    assert with_state(filled(name), state_to_bytes(empty)).n == 0
    assert again.merge(filled(name)).n == 300
    refuses(demele.errors.NotEnoughData, "no rows yet", again.compute)


def test_text_and_missing_annotations_and_names() -> None:
    import pandas as pd

    shapes = np.array(["disc", "square", None, "disc"] * 50, dtype=object)
    factors = pd.DataFrame({"shape": shapes, "size": FACTORS[:200, 0]})
    codes = pd.DataFrame(CODES[:200], columns=list("abcd"))
    first = demele.Accumulator(["sap"], missing="omit").update(codes, factors)
    second = demele.Accumulator.from_bytes(first.to_bytes())
    same(first, second)
    assert second.compute()["sap"].factor_names == ("shape", "size")
    assert second.update(codes, factors).n == 400


@settings(max_examples=40)
@given(at=st.integers(0, 10**6), bit=st.integers(0, 7), cut=st.booleans())
def test_damage_is_always_found(at: int, bit: int, cut: bool) -> None:
    data = bytearray(WHOLE)
    at %= len(data)
    if cut:
        del data[at:]
    else:
        data[at] ^= 1 << bit
    refuses(demele.errors.FormatError, "accumulator: ", demele.Accumulator.from_bytes, bytes(data))


WHOLE = filled("counted and sampled", n=80).to_bytes()
STATE = state_to_bytes(filled("counted and sampled", n=80))


def forged(data: bytes, change: Any) -> bytes:
    """Change the header, with a checksum that is right."""
    body = data[len(MAGIC) + 16 :]
    end = 8 + int.from_bytes(body[:8], "little")
    header = json.loads(body[8:end])
    change(header)
    text = json.dumps(header).encode()
    body = len(text).to_bytes(8, "little") + text + body[end:]
    return MAGIC + checksum(body) + body


FORGERIES = {
    "no columns": lambda header: header.update(columns=None),
    "no counts": lambda header: header.update(states=[]),
    "no sample": lambda header: header.update(sample=None),
    "fewer rows than a stream has": lambda header: header["sample"]["streams"][0].__setitem__(1, 5),
    "rows of no stream": lambda header: header["sample"]["streams"].clear(),
    "too few columns": lambda header: header["sample"]["rows"]["columns"].pop(),
    "a column of another length": lambda header: header["sample"]["rows"].update(
        columns=[header["states"][0]["annotated"], *header["sample"]["rows"]["columns"][1:]]
    ),
    "tables of other bins": lambda header: header["states"][0].update({"table 0": header["states"][0]["table 2"]}),
    "a table too few": lambda header: header["states"][0].pop("table 1"),
    "pairs of factors that are not there": lambda header: header["states"][0].update({"pair 7 7": 0}),
    "an array that is not there": lambda header: header["states"][0].update(annotated=999),
    "objects in memory": lambda header: header["arrays"][0].update(dtype="|O"),
    "structures in memory": lambda header: header["arrays"][0].update(dtype="f4,f4"),
    "a shape that does not fit": lambda header: header["arrays"][0].update(shape=[10**12]),
    "sizes that do not add up": lambda header: header["arrays"][0].update(size=16),
    "nothing": lambda header: header.clear(),
}


def test_forged_states_are_refused() -> None:
    for name in FORGERIES:
        with pytest.raises(demele.errors.FormatError, match="accumulator: "):
            demele.Accumulator.from_bytes(forged(WHOLE, FORGERIES[name]))
        with pytest.raises(demele.errors.FormatError, match="accumulator: "):
            with_state(filled("counted and sampled"), forged(STATE, FORGERIES[name]))


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header["settings"].pop("seed"),
        lambda header: header["settings"].update(seed=-1),
        lambda header: header["settings"].update(bins={"rule": ["Popen", {"dict": []}]}),
        lambda header: header["settings"].update(bins={"code": "1"}),
        lambda header: header["settings"].update(reg_dim={"array": ["|O", [1], ["x"], False]}),
        lambda header: header.update(frame={}),
        lambda header: header.update(frame=None),
    ],
)
def test_forged_settings_are_refused(change: Any) -> None:
    refuses(demele.errors.FormatError, "accumulator: ", demele.Accumulator.from_bytes, forged(WHOLE, change))


@pytest.mark.parametrize("data", [b"", b"PK", b"x" * 500, MAGIC])
def test_other_bytes_are_refused(data: bytes) -> None:
    refuses(demele.errors.FormatError, "accumulator: ", demele.Accumulator.from_bytes, data)


def test_the_state_of_other_settings_is_refused() -> None:
    state = state_to_bytes(filled("counted"))
    for keywords, message in (
        ({"seed": 1}, r"differ in seed \(1 here, 0 there\)"),
        ({"metrics": "dmig"}, "differ in metrics"),
        ({"frame": demele.bins.BinEdges.of(2 * CODES, FACTORS, kinds=KINDS)}, "their frames"),
        ({"frame": demele.bins.BinEdges.of(CODES, FACTORS, kinds=KINDS)}, "their frames"),  # no edges from values
    ):
        with pytest.raises(demele.errors.IncompatibleState, match=message):
            with_state(demele.Accumulator(**(STATES["counted"] | keywords)), state)


def test_what_is_not_bytes_is_refused() -> None:
    refuses(demele.errors.InputTypeError, "expected bytes, got list", demele.Accumulator.from_bytes, [1, 2])


# Frames and settings as plain values ---------------------------------------------------------------------------------


CODEC_RNG = np.random.default_rng(0)
CODEC_CODES = CODEC_RNG.normal(size=(200, 3)) / 3
SHAPES = CODEC_RNG.choice(["disc", "square", "7"], 200)
SIZES = CODEC_RNG.random(200)
DIGITS = CODEC_RNG.integers(0, 5, 200)


def tables() -> tuple[Any, Any]:
    import pandas as pd

    return (
        pd.DataFrame(CODEC_CODES, columns=["a", "b", "c"]),
        pd.DataFrame({"shape": SHAPES, "size": SIZES, "digit": DIGITS, "whole": DIGITS.astype(float)}),
    )


FRAMES = {
    "of arrays": demele.bins.BinEdges.of(CODEC_CODES, SIZES),
    "of tables": demele.bins.BinEdges.of(*tables()),
    "with edges": demele.bins.BinEdges.of(*tables(), bins=[demele.bins.EqualFrequency(5), demele.bins.Adaptive(8)]),
    "with kinds": demele.bins.BinEdges.of(*tables(), kinds={"digit": "continuous"}, missing="omit"),
    "stated": demele.bins.BinEdges.fixed({"z": (-1, 0.1)}, {"digit": list(range(10)), "size": (0.0, 1.0)}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_comes_back_to_the_bit_through_json(name: str) -> None:
    frame = FRAMES[name]
    again = demele.bins.BinEdges.from_dict(json.loads(json.dumps(frame.to_dict())))
    assert again == frame
    assert_exact(again.low, frame.low)
    assert repr(again.columns) == repr(frame.columns)  # also what equality does not look at
    assert again.to_dict() == frame.to_dict()


def changed(**parts: Any) -> dict[str, Any]:
    return {**FRAMES["stated"].to_dict(), **parts}


def factor(**parts: Any) -> dict[str, Any]:
    return changed(factors=[{"name": "v", **parts}])


def edges(**rule: Any) -> dict[str, Any]:
    return changed(exact=[{"bins": rule, "codes": [], "factors": []}])


def test_what_is_no_frame_is_refused() -> None:
    plain_cases: Any = [
        (3, "frame: expected the mapping that BinEdges.to_dict returns, got int"),
        ({}, "frame: .*it lacks 'codes'"),
        (changed(codes={"names": ["z"], "low": [0]}), "it lacks 'high'"),
        (changed(codes={"names": ["z"], "low": [0], "high": ["x"]}), "frame: expected the mapping"),
        (changed(codes={"names": ["z", "y"], "low": [0], "high": [1]}), "one low and one high for each of 2 codes"),
        (changed(codes={"names": ["z"], "low": [2], "high": [1]}), "with low not above high"),
        (changed(codes={"names": ["z"], "low": [0], "high": [float("nan")]}), "finite ranges"),
        (changed(factors=[]), "a factor, got 0 factors"),
        (factor(kind="ordinal", low=0, high=1), "'continuous' or 'categorical', got"),
        (factor(kind="continuous", low=2, high=1), "a finite range, .*of factor 'v'"),
        (factor(kind="categorical", levels=[]), "or a level, of factor 'v'"),
        (changed(missing="drop"), "missing is 'raise' or 'omit', got 'drop'"),
        (edges(rule="EqualFrequency", bins=3), "edges under EqualFrequency.* of 1 codes and 2 factors, got 0 and 0"),
        (edges(rule="os.system"), "unknown option os.system"),
    ]
    for plain, message in plain_cases:
        refuses(demele.errors.InputError, message, demele.bins.BinEdges.from_dict, plain)


def test_what_has_no_plain_form_is_refused_with_its_name() -> None:
    refuses(demele.errors.InputTypeError, r"options: expected numbers", plain_setting, {"mig": object()}, "options")
