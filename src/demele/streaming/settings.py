"""What accumulators compute, and with which settings: the same for those that merge."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.core.inputs import Missing


@dataclass(frozen=True, slots=True)
class Settings:
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


def comparable(settings: Settings) -> tuple[str, ...]:
    """Return settings as texts that are equal for equal settings only."""
    return tuple(repr(_plain(getattr(settings, name))) for name in Settings.__slots__)


def difference(first: Settings, second: Settings) -> str:
    """Say in which settings two differ."""
    differs = [mine != theirs for mine, theirs in zip(comparable(first), comparable(second), strict=True)]
    names = [name for name, other in zip(Settings.__slots__, differs, strict=True) if other]
    shown = {"names": "metrics"}
    return ", ".join(
        f"{shown.get(name, name)} ({getattr(first, name)!r} and {getattr(second, name)!r})" for name in names
    )


def _plain(value: Any) -> Any:
    """Return arrays within settings as lists: the text of a long array leaves out its middle."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = [_plain(item) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
