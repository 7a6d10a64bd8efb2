"""Accumulators fed in parts, the numbers of what they compute, and their bytes with an array forged."""

from typing import Any

import numpy as np
import pytest

import demele
from demele.streaming.accumulator import opened, written

QUIET = [
    pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning"),
    pytest.mark.filterwarnings("ignore::demele.errors.AmbiguousKindWarning"),
]


def fed(
    metrics: Any, frame: demele.bins.BinEdges, codes: Any, factors: Any, cuts: int = 7, **keywords: Any
) -> demele.Accumulator:
    """Batches go to three accumulators in turn, which are merged from the last to the first."""
    parts = [demele.Accumulator(metrics, frame=frame, bound=50, stream=index, **keywords) for index in range(3)]
    for index, rows in enumerate(np.array_split(np.arange(len(codes)), cuts)):
        parts[index % 3] = parts[index % 3].update(codes[rows], getattr(factors, "iloc", factors)[rows])
    return parts[2].merge(parts[1]).merge(parts[0])


def numbers(scores: Any) -> list[float]:
    """Return all numbers of a score or of several."""
    found: list[float] = []
    for score in [scores] if isinstance(scores, demele.Score) else scores:
        found += [score.n, score.value, *score.native.values()]
        found += [] if score.matrix is None else score.matrix.to_numpy().ravel().tolist()
        found += score.details.get("canonical_correlations", [])
        found += score.details["adjusted"]["per_factor"] if "adjusted" in score.details else []
        found += [float(one) for one in score.details.get("usable_rows", {}).values()]
    return found


def forged(data: bytes, state: int, name: str, change: Any) -> bytes:
    """Change one array of the sums, with a checksum that is right."""
    about, arrays = opened(data)
    del about["arrays"]
    at = about["states"][state][name]
    arrays[at] = np.asarray(change(arrays[at]))
    return written(about, arrays)


def first(value: float) -> Any:
    """Return what puts a number into the first place of an array."""

    def change(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        values.flat[0] = value
        return values

    return change
