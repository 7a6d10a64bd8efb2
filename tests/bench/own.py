"""A scenario of a user's own: two codes that are each a share of their factor and, by the severity, of noise."""

from typing import Any

import numpy as np

from demele import bench


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
    }
    return bench.Scenario(**{**usual, **given})
