"""What is shown: a characterisation as plain things, and two of them together."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele import bench

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


@functools.cache
def reference() -> dict[str, Any]:
    """Return what is shown of registered metrics, on more scenarios, with other numbers."""
    metrics = ["mig", "sap", "z_min_variance"]
    found = bench.check_metrics(metrics, ["mixing", "redundant"], seeds=3, n_rows=150)
    return found.to_dict()


# One ------------------------------------------------------------------------------------------------------------------


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


# Two ------------------------------------------------------------------------------------------------------------------
