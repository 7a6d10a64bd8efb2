"""A forecast of audits, looked through once for page and terminal."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["mean_settled", "sizes_needed"]

Item = Mapping[str, Any]

#: A size is enough if this share of the draws is settled.
_ENOUGH = 0.8


def mean_settled(prospects: Iterable[Item]) -> list[dict[str, Any]]:
    """Return the mean share of pairs that are settled at each size, with its standard error; by rows.

    The pairs of one draw share their labels and so are not independent: their errors are added, not averaged in
    quadrature.
    """
    by_rows: dict[int, list[Item]] = {}
    for one in prospects:
        by_rows.setdefault(one["rows"], []).append(one)
    return [
        {
            "rows": rows,
            "settled": sum(one["settled"] for one in own) / len(own),
            "error": sum(one["error"] for one in own) / len(own),
        }
        for rows, own in sorted(by_rows.items())
    ]


def sizes_needed(data: Item) -> Iterator[dict[str, Any]]:
    """Yield, for each pair and assumption, the least size of each design; None where none of those looked at does."""
    least: dict[tuple[str, str, str, str], float] = {}
    for one in data["prospects"]:
        key = (one["world"], one["baseline"], one["candidate"], one["design"])
        if one["settled"] >= _ENOUGH:
            least[key] = min(least.get(key, math.inf), one["rows"])
    for outlook in data["outlooks"]:
        world, baseline, candidate = outlook["world"], outlook["baseline"], outlook["candidate"]
        sizes = {design: least.get((world, baseline, candidate, design)) for design in ("weighted", "uniform")}
        yield {**outlook, **sizes, "sequential": outlook["labels_most"]}
