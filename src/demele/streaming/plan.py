"""What accumulators compute, and with which settings: the same for those that merge."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.core.inputs import Missing

__all__ = ["Plan", "comparable", "difference", "listed"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is computed, and from which state; the same for accumulators that merge."""

    names: tuple[str, ...]
    single: bool
    protocol: str
    options: tuple[tuple[str, Any], ...]
    seed: int
    bound: int
    outside: str
    missing: Missing
    kinds: Any
    reg_dim: Any
    bins: Any


def listed(reg_dim: object) -> object:
    """Return codes in one form, so that settings compare as equal when they are."""
    if isinstance(reg_dim, np.ndarray):
        return reg_dim.tolist()
    return list(reg_dim) if isinstance(reg_dim, tuple) else reg_dim


def comparable(plan: Plan) -> tuple[str, ...]:
    """Return settings as texts that are equal for equal settings only."""
    return tuple(repr(getattr(plan, name)) for name in Plan.__slots__)


def difference(first: Plan, second: Plan) -> str:
    """Say in which settings two differ."""
    names = [name for name in Plan.__slots__ if repr(getattr(first, name)) != repr(getattr(second, name))]
    shown = {"names": "metrics"}
    return ", ".join(
        f"{shown.get(name, name)} ({getattr(first, name)!r} and {getattr(second, name)!r})" for name in names
    )
