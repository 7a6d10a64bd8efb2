"""What is shown: a characterisation as plain things, and two of them together."""

import functools
from typing import Any

from demele import bench

SMALL: dict[str, Any] = {"seeds": 2, "n_rows": 100}


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
