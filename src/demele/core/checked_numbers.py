"""Numbers that a user gave as options: read, or refused with what was expected and what came."""

from collections.abc import Callable
from typing import Any

import numpy as np

from demele.core.errors import InputError
from demele.core.labelled import plain_text


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, of Python or of NumPy; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a number, of Python or of NumPy; True and False are none."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def checked_whole(value: Any, argument: str, expected: str, *, inside: Callable[[int], bool]) -> int:
    """Return a whole number, or say what was ``expected``.

    Examples
    --------
    >>> checked_whole(np.int64(3), "n", "a number of rows, 1 or more", inside=lambda n: n >= 1)
    3
    """
    if not is_whole(value) or not inside(value):
        raise InputError(argument, f"expected {expected}, got {plain_text(value)}")
    return int(value)


def checked_number(value: Any, argument: str, expected: str, *, inside: Callable[[float], bool]) -> float:
    """Return a number, or say what was ``expected``."""
    if not is_number(value) or not inside(value):
        raise InputError(argument, f"expected {expected}, got {plain_text(value)}")
    return float(value)


def checked_count(value: Any, argument: str, least: int) -> int:
    """Return a whole number of at least ``least``."""
    return checked_whole(value, argument, f"a whole number >= {least}", inside=lambda count: count >= least)


def checked_share(value: Any, argument: str, low: float, high: float) -> float:
    """Return a number in (low, high]."""
    return checked_number(value, argument, f"a number in ({low:g}, {high:g}]", inside=lambda share: low < share <= high)


def checked_level(level: Any) -> float:
    """Return a nominal level, strictly between 0 and 1."""
    return checked_number(level, "level", "a number between 0 and 1, such as 0.95", inside=lambda level: 0 < level < 1)
