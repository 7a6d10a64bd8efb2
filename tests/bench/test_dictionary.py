"""What is shown: a characterisation as plain things, and two of them together."""

import functools
import json
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demele import bench
from demele.bench.dictionary import joined
from demele.core.errors import DemeleWarning

Array = NDArray[np.float64]
SMALL: dict[str, Any] = {"seeds": 2, "n_samples": 100}


def draw(rng: np.random.Generator, severity: float, n: int) -> tuple[Any, Any]:
    factors = rng.random((n, 2))
    return (1 - severity) * factors + severity * rng.random((n, 2)), factors


def mine(**given: Any) -> bench.Scenario:
    usual: dict[str, Any] = {
        "name": "mine",
        "title": "Mine",
        "question": "Does it hold?",
        "sweep": "share of noise",
        "severities": (0.0, 0.5),
        "draw": draw,
        "wanted": {"any": (bench.Holds(0.1),), "modularity": (bench.AtLeast(0.5), bench.AtMost(1.0))},
    }
    return bench.Scenario(**{**usual, **given})


def own(codes: Array, factors: Array) -> float:
    return float(codes.mean())


def fails(codes: Array, factors: Array) -> float:
    raise ValueError("never")


def own_and_fails(scenarios: Any) -> bench.Characterisation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DemeleWarning)  # that one of them gives no value
        return bench.characterise([own, fails], scenarios, **SMALL)


@functools.cache
def first() -> dict[str, Any]:
    """Return what is shown of two functions on one scenario of the review and one of their own."""
    return own_and_fails(["mixing", mine()]).to_dict()


@functools.cache
def reference() -> dict[str, Any]:
    """Return what is shown of registered metrics, on more scenarios, with other numbers."""
    metrics = ["mig", "sap", "z_min_variance"]
    found = bench.characterise(metrics, ["mixing", "redundant"], seeds=3, n_samples=150)
    return found.to_dict()


# One ------------------------------------------------------------------------------------------------------------------


def test_every_metric_has_a_curve_in_every_scenario_and_a_verdict_for_every_criterion() -> None:
    told = first()
    names = [item["name"] for item in told["metrics"]]
    scenarios = [item["name"] for item in told["scenarios"]]
    assert (names, scenarios) == (["own", "fails"], ["mixing", "mine"])
    assert [(item["metric"], item["scenario"]) for item in told["curves"]] == [
        (name, scenario) for scenario in scenarios for name in names
    ]
    rows, criteria = ([item["name"] for item in told[what]] for what in ("rows", "criteria"))
    assert [(item["row"], item["criterion"]) for item in told["verdicts"]] == [
        (row, criterion) for row in rows for criterion in criteria
    ]


def test_points_are_those_of_the_curves() -> None:
    found = own_and_fails(mine())
    one, none = found.to_dict()["curves"]
    curve = found.curves["own", "mine"]
    assert one["mean"] == curve.means.tolist()
    assert [(low, high) for low, high in zip(one["low"], one["high"], strict=True)] == [
        curve.interval(place, 0.95) for place in (0, 1)
    ]
    assert (one["n"], one["failed"], one["reasons"], one["declined"]) == ([2, 2], [0, 0], [None, None], None)
    assert none["mean"] == none["low"] == none["high"] == [None, None]
    assert (none["n"], none["failed"]) == ([0, 0], [2, 2])
    assert none["reasons"] == ["fails raised ValueError: never"] * 2


def test_a_curve_that_was_declined_has_no_points() -> None:
    told = bench.characterise(own, ["settings", mine()], **SMALL).to_dict()["curves"]
    declined = next(item for item in told if item["scenario"] == "settings")
    assert declined["declined"] == "has no setting of its own"
    assert [declined[what] for what in ("mean", "low", "high", "n", "failed", "reasons")] == [[]] * 6


def test_scenarios_say_what_they_want() -> None:
    told = first()["scenarios"][1]
    assert told["severities"] == [0.0, 0.5]
    assert told["labels"] == ["0", "0.5"]
    assert sorted((item["property"], item["text"]) for item in told["wanted"]) == [
        ("any", "stays within 0.1 of its first value"),
        ("modularity", "is at least 0.5"),
        ("modularity", "is at most 1"),
    ]


def test_settings_are_told() -> None:
    told = first()
    assert {what: told[what] for what in ("protocol", "n_samples", "level", "seeds", "slow_seeds")} == {
        "protocol": "review2022",
        "n_samples": 100,
        "level": 0.95,
        "seeds": {"mixing": 2, "mine": 2},
        "slow_seeds": {"mixing": 2, "mine": 2},
    }


def test_printed_cells_are_compared_under_the_protocol_of_the_review_only() -> None:
    told = reference()
    cells = [item for item in told["verdicts"] if item["printed"] is not None]
    assert {item["row"] for item in cells} == {"mig", "sap", "z_min_variance"}
    assert told["agreement"]["cells"] == len(cells)
    assert told["agreement"]["agree"] == sum(item["agrees"] for item in cells)
    assert {item["metric"] for item in told["printed_scores"]} == {"mig", "sap", "z_min_variance"}
    other = bench.characterise("mig", "redundant", protocol="latte", **SMALL).to_dict()
    assert {item["printed"] for item in other["verdicts"]} == {item["agrees"] for item in other["verdicts"]} == {None}
    assert (other["agreement"], other["printed_scores"]) == (None, [])


def test_printed_scores_are_beside_the_means_of_the_redundant_scenario() -> None:
    told = reference()
    (curve,) = (item for item in told["curves"] if (item["metric"], item["scenario"]) == ("mig", "redundant"))
    lines = [item for item in told["printed_scores"] if item["metric"] == "mig"]
    assert [item["severity"] for item in lines] == [1.0, 2.0, 3.0]
    assert [item["printed"] for item in lines] == [0.0, 0.0, 0.0]
    for place, line in enumerate(lines):
        assert [line[what] for what in ("ours", "low", "high", "n")] == [
            curve[what][place] for what in ("mean", "low", "high", "n")
        ]
        assert line["difference"] == line["ours"] - line["printed"]


# Two ------------------------------------------------------------------------------------------------------------------


def test_rows_of_the_second_are_under_the_first_and_marked() -> None:
    told = joined(first(), reference())
    assert [(item["name"], item.get("beside", False)) for item in told["rows"]] == [
        ("own", False),
        ("fails", False),
        ("mig", True),
        ("sap", True),
        ("z_min_variance", True),
    ]
    assert [item["name"] for item in told["metrics"] if item.get("beside")] == ["mig", "sap", "z_min_variance"]
    assert told["beside"] == {
        what: reference()[what] for what in ("demele", "protocol", "n_samples", "seeds", "slow_seeds")
    }


def test_only_what_the_first_asked_is_shown_of_the_second() -> None:
    told = joined(first(), reference())
    assert told["scenarios"] == first()["scenarios"]
    assert told["criteria"] == first()["criteria"]
    added = told["curves"][len(first()["curves"]) :]
    assert [(item["metric"], item["scenario"]) for item in added] == [
        (name, "mixing") for name in ("mig", "sap", "z_min_variance")
    ]
    assert added == [item for item in reference()["curves"] if item["scenario"] == "mixing"]
    asked = {item["name"] for item in first()["criteria"]}
    verdicts = told["verdicts"][len(first()["verdicts"]) :]
    assert verdicts == [item for item in reference()["verdicts"] if item["criterion"] in asked]
    assert {item["criterion"] for item in reference()["verdicts"]} - asked  # the second was asked more
    for what in ("curves", "verdicts", "metrics", "rows"):
        assert told[what][: len(first()[what])] == first()[what]


def test_neither_is_changed() -> None:
    before = json.dumps([first(), reference()])
    joined(first(), reference())
    assert json.dumps([first(), reference()]) == before


def test_a_metric_that_both_have_is_shown_once() -> None:
    both = bench.characterise(["mig", own], "mixing", **SMALL).to_dict()
    told = joined(both, reference())
    assert [item["name"] for item in told["rows"]] == ["own", "mig", "sap", "z_min_variance"]
    names = [item["name"] for item in told["metrics"]]
    assert sorted(names) == ["mig", "own", "sap", "z_min_variance"]
    cells = [(item["row"], item["criterion"]) for item in told["verdicts"]]
    assert len(cells) == len(set(cells))
    lines = [(item["metric"], item["scenario"]) for item in told["curves"]]
    assert len(lines) == len(set(lines)) == 4


def test_a_scenario_of_other_severities_is_not_shown_of_the_second() -> None:
    other = bench.characterise("mig", mine(severities=(0.0, 0.25)), **SMALL).to_dict()
    told = joined(first(), other)
    assert [item["metric"] for item in told["curves"]] == [item["metric"] for item in first()["curves"]]
    assert [item["name"] for item in told["rows"]] == ["own", "fails", "mig"]


@pytest.mark.parametrize("which", ["first", "joined"])
def test_everything_is_plain_and_no_number_is_missing_without_a_word(which: str) -> None:
    told = first() if which == "first" else joined(first(), reference())
    text = json.dumps(told, allow_nan=False)
    assert json.loads(text) == told


def test_the_stored_reference_can_be_set_beside() -> None:
    stored = bench.reference()
    few = {item.name for item in stored.candidates if item.name in ("mig", "sap")}
    told = joined(bench.characterise(own, "mixing", **SMALL).to_dict(), stored.to_dict())
    assert few <= {item["name"] for item in told["rows"] if item.get("beside")}
    assert {item["scenario"] for item in told["curves"]} == {"mixing"}
    assert {item["criterion"] for item in told["verdicts"]} <= {item["name"] for item in told["criteria"]}
    assert told["beside"]["n_samples"] == 20_000
    json.dumps(told, allow_nan=False)
