"""What becomes of a result: plain values, JSON, and a page if it has one."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from demele.core.outputs import write_whole
from demele.core.publish import publish


class Written(ABC):
    """What is written of a result: its ``to_dict``, as JSON."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None)."""

    def to_json(self, path: str | Path | None = None) -> str:
        """Write everything to a JSON file (and return its text)."""
        return as_json(self.to_dict(), path)


class Published(Written):
    """What is also written as a page, of the name ``_page`` among those of :mod:`demele.core.publish`."""

    __slots__ = ()
    _page: ClassVar[str]

    def to_html(self, path: str | Path) -> Path:
        """Write one self-contained, interactive HTML page."""
        written: Path = publish(self._page, self.to_dict(), path)
        return written


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        write_whole(path, text)
    return text


def as_json(data: Mapping[str, Any], path: str | Path | None = None) -> str:
    """Write what a result's ``to_dict`` gives to a JSON file, if one is named, and return its text."""
    text = json.dumps(data, indent=1, allow_nan=False)
    if path is not None:
        write_whole(path, text + "\n")
    return text


def plain(value: Any) -> Any:
    """Turn NumPy values, tuples and NaN into what JSON can hold."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return repr(value)


def floor_percent(part: float) -> str:
    """Write the share of wrong labels that a verdict holds up to, rounded down.

    Examples
    --------
    >>> floor_percent(0.02299), floor_percent(0.0007), floor_percent(0.1299), floor_percent(0)
    ('2.29%', '0.07%', '12.9%', '0%')
    """
    if part <= 0:
        return "0%"
    digits = 1 if part >= 0.1 else 2 if part >= 0.0001 else 4
    # A hair is added for shares such as 0.023, whose hundredfold falls below 2.3 in binary.
    return f"{math.floor(part * 100 * 10**digits + 1e-9) / 10**digits:.{digits}f}%"
