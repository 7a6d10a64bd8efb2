"""Which metrics of a characterisation were measured with fewer seeds, of fewer rows, than the others."""

from collections.abc import Iterable, Mapping
from typing import Any

Content = Mapping[str, Any]


def by_fewer(metrics: Iterable[Content]) -> dict[str, list[Content]]:
    """Return those metrics of a characterisation's content that have fewer, by how many.

    Examples
    --------
    >>> slow = {"name": "tmex", "fewer": {"text": "5 seeds of 5,000 rows"}}
    >>> by_fewer([{"name": "mig", "fewer": None}, slow]) == {"5 seeds of 5,000 rows": [slow]}
    True
    """
    found: dict[str, list[Content]] = {}
    for item in metrics:
        if item.get("fewer"):
            found.setdefault(item["fewer"]["text"], []).append(item)
    return found
