"""What a metric's mathematics returns, before names and provenance are added."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.results import Note

__all__ = ["Native", "mean_of_defined"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """Values of one metric; leading axes, where there are any, are resamples."""

    value: Array
    per_factor: Array | None = None
    per_code: Array | None = None
    matrix: Array | None = None
    matrix_of: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


def mean_of_defined(values: Array) -> Array:
    """Mean along the last axis over the values that are defined; NaN where none is."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=-1)
    total = np.where(defined, values, 0.0).sum(axis=-1)
    result: Array = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return result
