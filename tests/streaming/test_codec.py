"""Frames and settings as plain values."""

import json
from typing import Any

import numpy as np
import pytest

import demele
from demele.streaming.settings import plain_setting, setting_of
from tests.tolerances import assert_exact

RNG = np.random.default_rng(0)
CODES = RNG.normal(size=(200, 3)) / 3
SHAPES = RNG.choice(["disc", "square", "7"], 200)
SIZES = RNG.random(200)
DIGITS = RNG.integers(0, 5, 200)


def tables() -> tuple[Any, Any]:
    import pandas as pd

    return (
        pd.DataFrame(CODES, columns=["a", "b", "c"]),
        pd.DataFrame({"shape": SHAPES, "size": SIZES, "digit": DIGITS, "whole": DIGITS.astype(float)}),
    )


FRAMES = {
    "of arrays": demele.bins.BinEdges.of(CODES, SIZES),
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


def test_a_frame_that_came_back_counts_and_merges_alike() -> None:
    codes, factors = tables()
    frame = FRAMES["with edges"]
    again = demele.bins.BinEdges.from_dict(frame.to_dict())
    parts = [demele.Accumulator("mig", frame=one, bins=demele.bins.EqualFrequency(5)) for one in (frame, again)]
    merged = parts[0].update(codes[:90], factors[:90]).merge(parts[1].update(codes[90:], factors[90:]))
    assert merged.compute().value == demele.metrics.mig(codes, factors, bins=demele.bins.EqualFrequency(5)).value
    halves = [demele.bins.BinEdges.of(codes[rows], factors[rows]) for rows in (slice(0, 90), slice(90, 200))]
    restored = [demele.bins.BinEdges.from_dict(half.to_dict()) for half in halves]
    assert restored[0].merge(restored[1]) == halves[0].merge(halves[1]) == FRAMES["of tables"]


def changed(**parts: Any) -> dict[str, Any]:
    return {**FRAMES["stated"].to_dict(), **parts}


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
        (
            changed(factors=[{"name": "v", "kind": "ordinal", "low": 0, "high": 1}]),
            "'continuous' or 'categorical', got",
        ),
        (
            changed(factors=[{"name": "v", "kind": "continuous", "low": 2, "high": 1}]),
            "a finite range, .*of factor 'v'",
        ),
        (changed(factors=[{"name": "v", "kind": "categorical", "levels": []}]), "or a level, of factor 'v'"),
        (changed(missing="drop"), "missing is 'raise' or 'omit', got 'drop'"),
        (
            changed(exact=[{"bins": {"rule": "EqualFrequency", "bins": 3}, "codes": [], "factors": []}]),
            "expected edges under EqualFrequency.* of 1 codes and 2 factors, got 0 and 0",
        ),
        (changed(exact=[{"bins": {"rule": "os.system"}, "codes": [], "factors": []}]), "unknown option os.system"),
    ]
    for plain, message in plain_cases:
        with pytest.raises(demele.errors.InputError, match=message):
            demele.bins.BinEdges.from_dict(plain)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (demele.bins.EqualWidth(7), {"rule": "EqualWidth", "bins": 7}),
        (demele.bins.Edges((0, 0.5, 1)), {"rule": "Edges", "edges": [0.0, 0.5, 1.0]}),
        (demele.bins.Adaptive(), {"rule": "Adaptive", "most": 256}),
        ({"mig": {"bins": demele.bins.EqualFrequency(3)}}, {"mig": {"bins": {"rule": "EqualFrequency", "bins": 3}}}),
        (None, None),
        ("knn", "knn"),
    ],
)
def test_settings_come_back_equal(value: object, plain: object) -> None:
    assert plain_setting(value, "options") == plain
    assert setting_of(json.loads(json.dumps(plain))) == value


def test_what_has_no_plain_form_is_refused_with_its_name() -> None:
    with pytest.raises(demele.errors.InputTypeError, match=r"options: expected numbers, .* got object"):
        plain_setting({"mig": object()}, "options")
