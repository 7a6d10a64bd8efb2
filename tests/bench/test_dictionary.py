"""What is shown: a characterisation as plain things, and two of them together."""

import functools
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele import bench
from demele.core.errors import DemeleWarning
from demele.report.words import name

Array = NDArray[np.float64]
SMALL: dict[str, Any] = {"seeds": 2, "n_rows": 100}


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
        return bench.check_metrics([own, fails], scenarios, **SMALL)


@functools.cache
def reference() -> dict[str, Any]:
    """Return what is shown of registered metrics, on more scenarios, with other numbers."""
    metrics = ["mig", "sap", "z_min_variance"]
    found = bench.check_metrics(metrics, ["mixing", "redundant"], seeds=3, n_rows=150)
    return found.to_dict()


# One ------------------------------------------------------------------------------------------------------------------


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


def test_printed_cells_are_compared_under_the_protocol_of_the_review_only() -> None:
    told = reference()
    cells = [item for item in told["verdicts"] if item["printed"] is not None]
    assert {item["row"] for item in cells} == {"mig", "sap", "z_min_variance"}
    assert told["agreement"]["cells"] == len(cells)
    assert told["agreement"]["agree"] == sum(item["agrees"] for item in cells)
    assert {item["metric"] for item in told["printed_scores"]} == {"mig", "sap", "z_min_variance"}
    other = bench.check_metrics("mig", "redundant", protocol="latte", **SMALL).to_dict()
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


def test_the_stored_reference_is_shown_under_other_metrics_and_not_in_their_data() -> None:
    alone = own_and_fails(["mixing", mine()])
    both = alone.compared_with(bench.reference())
    assert both.to_dict() == alone.to_dict()
    table = both.document().table
    assert table is not None
    assert [row[0] for row in table.rows[:2]] == [name("own"), name("fails")]
    assert all(str(row[0]).endswith(" (stored)") for row in table.rows[2:])
    assert len(table.rows) > 30
