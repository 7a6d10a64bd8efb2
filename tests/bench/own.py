"""A scenario of a user's own: two codes that are each a share of their factor and, by the severity, noise; metrics."""

import math
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


def half(codes: object, factors: object) -> float:
    return 0.5


def correlation(codes: Any, factors: Any) -> float:
    return float(np.corrcoef(codes[:, 0], factors[:, 0])[0, 1])


def sometimes(codes: Any, factors: Any) -> float:
    """Raise, or return what is no number, depending on the draw."""
    share = float(codes[0, 0])
    if share < 0.3:
        raise ValueError("too low")
    return math.nan if share < 0.6 else share
