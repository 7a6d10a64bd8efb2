"""A grid of factors counts rows as an array does, goes to values and back, and refuses what is no grid."""

import itertools
import json
import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import demele
from demele.core.errors import FormatError, InputError, InputTypeError
from demele.data import FactorSpace, Sample, Symmetry
from tests.refusals import refuses
from tests.tolerances import assert_exact

SPACE = FactorSpace(
    {"shape": ["square", "ellipse", "heart"], "hue": [0.0, 0.25, 0.5, 0.75], "x": 2},
    period={"hue": 1},
    symmetric=[("hue", "shape", "square", 0.25)],
)


def test_a_grid_says_what_it_holds() -> None:
    assert SPACE.names == ("shape", "hue", "x")
    assert SPACE.sizes == (3, 4, 2)
    assert SPACE.values == (("square", "ellipse", "heart"), (0.0, 0.25, 0.5, 0.75), (0, 1))
    assert SPACE.kinds == ("categorical", "continuous", "categorical")
    assert SPACE.period == (None, 1.0, None)
    assert SPACE.symmetric == (Symmetry("hue", "shape", "square", 0.25),)
    assert repr(SPACE) == "FactorSpace(24 rows: 3 shape × 4 hue × 2 x)"
    assert SPACE.to_frame()["values"].tolist() == [3, 4, 2]
    assert len(SPACE) == 24


def test_the_last_factor_changes_fastest() -> None:
    by_hand = list(itertools.product(range(3), range(4), range(2)))
    assert_exact(SPACE.positions(np.arange(24)), by_hand)
    assert_exact(SPACE.index(by_hand), range(24))
    assert_exact(SPACE.positions([23, 0, 9]), [[2, 3, 1], [0, 0, 0], [1, 0, 1]])


def test_values_are_found_again() -> None:
    table = SPACE.factors([23, 0, 9])
    assert table["shape"].tolist() == ["heart", "square", "ellipse"]
    assert list(table["shape"].cat.categories) == ["square", "ellipse", "heart"]
    assert table["hue"].tolist() == [0.75, 0.0, 0.0]
    assert table["x"].tolist() == [1, 0, 1]
    assert_exact(SPACE.rows(table), [23, 0, 9])
    assert_exact(SPACE.rows(SPACE.factors()), range(24))
    assert_exact(SPACE.rows({"hue": [0.5], "x": [1], "shape": ["heart"], "more": [3]}), [21])
    assert SPACE.factors([]).shape == (0, 3)
    assert SPACE.positions([]).shape == (0, 3)


def test_metrics_read_its_factors_as_it_says() -> None:
    factors = pd.concat([SPACE.factors()] * 20, ignore_index=True)
    found = demele.evaluate(SPACE.positions(SPACE.rows(factors)).astype(float), factors, ["mig"])
    said = dict(zip(SPACE.names, SPACE.kinds, strict=True)) | {"hue": "cyclic:1"}  # the space knows its period
    assert {one.name: one.kind for one in found.factors} == said


def test_a_grid_is_written_and_read() -> None:
    assert FactorSpace.from_json(SPACE.to_json()) == SPACE
    assert json.loads(SPACE.to_json())["period"] == {"hue": 1.0}
    third = FactorSpace({"v": np.array([0.1, 0.2], dtype=np.float32), "w": np.arange(3)})
    back = FactorSpace.from_json(third.to_json())
    assert back == third
    assert back.kinds == ("continuous", "categorical")
    assert hash(back) == hash(third)
    assert pickle.loads(pickle.dumps(SPACE)) == SPACE
    assert FactorSpace({"v": [1, 2]}) != FactorSpace({"v": [2, 1]})


@pytest.mark.parametrize("text", ["", "[]", "{", "{}", '{"kind": "factor space"}', "[" * 100_000])
def test_other_texts_are_refused(text: str) -> None:
    refuses(FormatError, "factor space", FactorSpace.from_json, text)


def test_what_is_no_grid_is_refused() -> None:
    values_cases: Any = [
        ([1, 2], {}, "values: expected a mapping of names to values, got list"),
        ({}, {}, "values: expected at least 1 factor, got none"),
        ({1: [0, 1]}, {}, "values: expected a name for each factor, got 1"),
        ({"v": 1}, {}, "expected at least 2 values of 'v', got 1; leave it out"),
        ({"v": -3}, {}, "expected at least 2 values of 'v', got 0"),
        ({"v": 10**30}, {}, "expected at most 1000000 values of factor 'v'"),
        ({"v": "red"}, {}, "expected values of factor 'v' or their number, got 'red'"),
        ({"v": True}, {}, "expected values of factor 'v' or their number, got True"),
        ({"v": None}, {}, "expected values of factor 'v' or their number, got None"),
        ({"v": ["a", 1]}, {}, "factor 'v' mixes texts and numbers"),
        ({"v": [0, None]}, {}, "expected texts or numbers for factor 'v', got None"),
        ({"v": [0.0, float("nan")]}, {}, "expected finite numbers below 2^63 for 'v', got nan"),
        ({"v": [0, 10**400]}, {}, "expected finite numbers below 2^63 for 'v', got a whole number"),
        ({"v": ["a", "\ud800"]}, {}, "factor 'v' holds invalid text: '\\ud800'"),
        ({"\ud800": ["a", "b"]}, {}, "holds invalid text: '\\ud800'"),
        ({"v": 2}, {"period": {"v": 10**400}}, "period: expected a number above 0 for factor 'v', got a whole number"),
        ({"v": [0, 1, 0.0]}, {}, "factor 'v' holds 0 twice"),
        ({f"v{index}": 1000 for index in range(7)}, {}, "expected below 2^63 rows"),
        ({"v": ["a", "b"]}, {"kinds": "continuous"}, "continuous factor 'v' holds 'a'"),
        ({"v": 2}, {"kinds": "cyclic"}, "expected 'continuous' or 'categorical' for factor 'v', got 'cyclic'"),
        ({"v": 2}, {"period": 4}, "period: expected a mapping of names to numbers, got int"),
        ({"v": 2}, {"period": {"w": 4}}, "period: unknown factor 'w'; known are 'v'"),
        ({"v": 2}, {"period": {"v": 0}}, "period: expected a number above 0 for factor 'v', got 0"),
        ({"v": 2}, {"period": {"v": "day"}}, "period: expected a number above 0 for factor 'v', got 'day'"),
        ({"v": ["a", "b"]}, {"period": {"v": 2}}, "period: factor 'v' holds 'a'; only numbers begin again"),
        ({"v": [0, 180, 360]}, {"period": {"v": 360}}, "are 360 apart, and begin again after 360"),
        ({"v": 2}, {"symmetric": 5}, "symmetric: expected (factor, other, value, period) each, got 5"),
        ({"v": 2}, {"symmetric": ["vvvv"]}, "symmetric: expected (factor, other, value, period), got 'vvvv'"),
        ({"v": 2, "w": 2}, {"symmetric": [("v", "w", 0, 1)]}, "symmetric: factor 'v' is not cyclic"),
        ({"v": 2, "w": 2}, {"period": {"v": 2}, "symmetric": [("v", "w", 5, 1)]}, "factor 'w' has no value 5"),
    ]
    for values, more, told in values_cases:
        refuses(InputError, re.escape(told), FactorSpace, values, **more)


def test_what_is_not_on_the_grid_is_refused() -> None:
    heart, pair = {"shape": ["heart"], "x": [0]}, {"hue": [0.0, 0.0], "x": [0, 1]}
    call_cases: Any = [
        (lambda: SPACE.positions([24]), "rows: expected 0 to 23, got 24 at row 0"),
        (lambda: SPACE.positions([0, -1]), "rows: expected 0 to 23, got -1 at row 1"),
        (lambda: SPACE.positions([0.5]), "rows: expected whole numbers, got float64"),
        (lambda: SPACE.positions([[1]]), "rows: expected 1 dimensions, got shape (1, 1)"),
        (lambda: SPACE.index([[0, 0, 0], [0, 4, 0]]), "positions, factor 'hue': expected 0 to 3, got 4 at row 1"),
        (lambda: SPACE.index([[0, 0]]), "positions: expected 3 columns, one per factor, got 2"),
        (lambda: SPACE.rows(heart), "factors: expected a column 'hue', got 'shape', 'x'"),
        (
            lambda: SPACE.rows(heart | {"hue": [0.3]}),
            "0.3 at row 0 is no value of factor 'hue'; its values are 0.0",
        ),
        (lambda: SPACE.rows(pair | {"shape": ["heart", None]}), "None at row 1 is no value of factor 'shape'"),
        (lambda: SPACE.rows(heart | {"hue": [0.0, 0.0]}), "factors: expected one value of each factor per row"),
    ]
    for call, told in call_cases:
        refuses(InputError, re.escape(told), call)


# Samples --------------------------------------------------------------------------------------------------------------


def sample(**changed: Any) -> Sample:
    rows = [0, 5, 23]
    fields: dict[str, Any] = {
        "codes": pd.DataFrame({"z1": [0.1, 0.2, 0.3]}),
        "factors": SPACE.factors(rows),
        "provenance": "Made for a test.",
        "images": np.zeros((3, 4, 5, 1), dtype=np.uint8),
        "space": SPACE,
    }
    return Sample(**fields | changed)


def test_what_does_not_go_together_is_refused() -> None:
    changed_cases: Any = [
        ({"codes": pd.DataFrame({"z1": [0.1]})}, InputError, "expected the same number of rows, got 1 and 3"),
        ({"images": [[1]]}, InputTypeError, "images: expected an array (numpy.asarray), got list"),
        ({"images": np.zeros((3, 2, 2, 1), dtype=np.int64)}, InputTypeError, "expected uint8 or floats, got int64"),
        ({"images": np.zeros((3, 2, 2))}, InputError, "got (3, 2, 2); grey ones have one channel"),
        ({"images": np.zeros((3, 0, 2, 1))}, InputError, "expected (n, height, width, channels)"),
        ({"images": np.zeros((2, 2, 2, 1))}, InputError, "images: expected 3, one per row of the codes, got 2"),
        ({"space": 5}, InputTypeError, "space: expected a FactorSpace, got int"),
        ({"factors": SPACE.factors([0, 1, 2]).drop(columns="x")}, InputError, "factors: expected a column 'x'"),
        ({"factors": SPACE.factors([0, 1, 2]).assign(hue=0.1)}, InputError, "0.1 at row 0 is no value of factor 'hue'"),
    ]
    for changed, error, told in changed_cases:
        refuses(error, re.escape(told), sample, **changed)


def test_a_sample_holds_images_and_their_grid() -> None:
    found = sample()
    assert repr(found) == "Sample(3 rows, 1 codes, 3 factors, images of 4 x 5 x 1; Made for a test.)"
    assert found.images is not None
    assert found.space == SPACE
    assert sample(images=np.zeros((3, 2, 2, 3), dtype=np.float32), space=None).space is None
    assert sample(factors=SPACE.factors([0, 1, 2]).assign(more=[1.5, 2.5, 3.5])).factors.shape == (3, 4)
