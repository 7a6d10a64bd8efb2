"""Numbers that a user gave as options: read, or refused with what was expected and what came."""

from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.labelled import plain_text

#: Whole numbers of more bits are beyond the largest float.
LARGEST_EXPONENT = 1023


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, of Python or of NumPy; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a real number that a float can be, of Python or of NumPy; True and False are none."""
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return real and not (isinstance(value, int) and value.bit_length() > LARGEST_EXPONENT)


def checked_whole(value: Any, argument: str, expected: str, *, inside: Callable[[int], bool]) -> int:
    """Return a whole number, or say what was ``expected``.

    Examples
    --------
    >>> checked_whole(np.int64(3), "n", "a number of rows, 1 or more", inside=lambda n: n >= 1)
    3
    """
    if not is_whole(value) or not inside(value):
        kind = InputError if is_whole(value) else InputTypeError
        raise kind(argument, f"expected {expected}, got {plain_text(value)}")
    return int(value)


def checked_number(value: Any, argument: str, expected: str, *, inside: Callable[[float], bool]) -> float:
    """Return a number, or say what was ``expected``."""
    if not is_number(value) or not inside(value):
        kind = InputError if is_number(value) else InputTypeError
        raise kind(argument, f"expected {expected}, got {plain_text(value)}")
    return float(value)


def checked_flag(value: Any, argument: str) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputTypeError(argument, f"expected True or False, got {quoted(value)}")
    return bool(value)


def checked_count(value: Any, argument: str, least: int) -> int:
    """Return a whole number of at least ``least``."""
    return checked_whole(value, argument, f"a whole number >= {least}", inside=lambda count: least <= count < 1 << 63)


def checked_share(value: Any, argument: str, low: float, high: float, ends: str = "(]") -> float:
    """Return a number between two; ``ends`` says with brackets which of these it can be."""

    def inside(share: float) -> bool:
        return low <= share <= high and (ends[0] == "[" or share > low) and (ends[1] == "]" or share < high)

    return checked_number(value, argument, f"a number in {ends[0]}{low:g}, {high:g}{ends[1]}", inside=inside)


def checked_size(value: Any, argument: str, *, zero: bool = False) -> float:
    """Return a finite number above 0, or with ``zero`` also 0."""
    expected = "a finite number >= 0" if zero else "a finite number above 0"
    return checked_number(value, argument, expected, inside=lambda size: 0 <= size < np.inf and (zero or size > 0))


def checked_rate(value: Any, argument: str, of: str = "the rows") -> float:
    """Return a share in [0, 1]; a percentage is refused with the share that it is."""
    if not is_number(value) or not 0 <= value <= 1:
        percent = f"; for {value:g}% write {value / 100:g}" if is_number(value) and 1 < value <= 100 else ""
        kind = InputError if is_number(value) else InputTypeError
        raise kind(argument, f"expected a share of {of} in [0, 1], got {plain_text(value)}{percent}")
    return float(value)


def checked_pair(value: Any, argument: str, expected: str, *, inside: Callable[[float], bool]) -> tuple[float, float]:
    """Return two numbers, or say what each was ``expected`` to be."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InputTypeError(argument, f"expected two numbers, got {plain_text(value)}")
    first, second = (checked_number(one, argument, expected, inside=inside) for one in value)
    return first, second


def checked_seed(value: Any, argument: str = "seed") -> int:
    """Return a random seed: a whole number >= 0, however large."""
    return checked_whole(value, argument, "a whole number >= 0", inside=lambda seed: seed >= 0)


def checked_jobs(value: Any, argument: str = "n_jobs") -> int:
    """Return a number of processes, -1 for all processors."""
    expected = "a number of processes, -1 for all processors"
    return checked_whole(value, argument, expected, inside=lambda n: n == -1 or n > 0)


def checked_level(value: Any, argument: str = "level") -> float:
    """Return a nominal level, strictly between 0 and 1."""
    return checked_number(value, argument, "a number between 0 and 1, such as 0.95", inside=lambda one: 0 < one < 1)


def checked_confidence(value: Any, argument: str = "level") -> float:
    """Return the level of a verdict or an assessment: one below 0.5 is the error that was meant."""
    level = checked_level(value, argument)
    if level < 0.5:
        expected = "a confidence from 0.5 to below 1, such as 0.95"
        raise InputError(argument, f"expected {expected}, got {value}; did you mean {1 - level:g}?")
    return level
