"""What procedural sets share: how many values each factor takes, and the values along a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_whole, is_whole
from demele.core.errors import InputError, quoted
from demele.core.given_arrays import items_of

#: Sides of images, in pixels: below, shapes cannot be told apart; above, an image takes more than a million pixels.
SMALLEST, LARGEST = 8, 1024
LICENCE = "made by a formula: free to use for anything"


def checked_size(size: object) -> int:
    """Return the side of an image, if it is one that can be drawn.

    Raises
    ------
    InputError
    """
    expected = f"a number of pixels from {SMALLEST} to {LARGEST}"
    return checked_whole(size, "size", expected, inside=lambda pixels: SMALLEST <= pixels <= LARGEST)


def checked_counts(counts: object, limits: Mapping[str, int | None]) -> tuple[int, ...]:
    """Return how many values each factor takes.

    Parameters
    ----------
    counts : object
        What the user gave.
    limits : mapping of str to int or None
        The factors, in order, with the largest number of values where there is one.

    Raises
    ------
    InputError, InputTypeError
        Naming the factor.
    """
    names = ", ".join(limits)
    counts = items_of(counts, "counts", f"a number of values for each of {names}")
    if len(counts) != len(limits):
        raise InputError("counts", f"expected {len(limits)} numbers of values, of {names}; got {len(counts)}")
    for (name, most), count in zip(limits.items(), counts, strict=True):
        if not is_whole(count) or count < 1 or (most is not None and count > most):
            bounds = "1 or more" if most is None else f"1 to {most}"
            raise InputError("counts", f"expected {bounds} for factor {name!r}, got {quoted(count)}")
    checked = tuple(int(count) for count in counts)
    if max(checked) == 1:
        raise InputError("counts", "expected at least one factor with 2 or more values: nothing varies")
    return checked


def line(low: float, high: float, count: int) -> NDArray[np.float64]:
    """Return ``count`` evenly spaced values from ``low`` to ``high``, both included; the middle alone for one."""
    if count == 1:
        return np.array([(low + high) / 2])
    return np.asarray(low + np.arange(count) * ((high - low) / (count - 1)))


def varied(values: Mapping[str, Sequence[Any] | NDArray[Any]]) -> dict[str, Any]:
    """Return the factors that take more than one value: the others are none."""
    return {name: held for name, held in values.items() if len(held) > 1}
