"""Largest and second largest, ratios and means of what is defined: edge cases decided once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def top_two(values: NDArray[Any], axis: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest and the second largest value along an axis.

    With a single entry there is no rival: the second largest is 0. Ties give a gap of 0.

    Examples
    --------
    >>> first, second = top_two(np.array([[3.0, 1.0], [1.0, 1.0]]), axis=0)
    >>> (first - second).tolist()
    [2.0, 0.0]
    """
    if values.shape[axis] == 1:
        first = np.take(values, 0, axis=axis)
        return first, np.zeros_like(first)
    ordered = np.partition(values, (-2, -1), axis=axis)
    return np.take(ordered, -1, axis=axis), np.take(ordered, -2, axis=axis)


#: Informations that differ by less (nats) are equal but for rounding: which of them is met first must not matter.
TIE = 1e-12


def ratio(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide, NaN where the denominator vanishes."""
    safe = np.where(denominator > 1e-12, denominator, np.nan)
    result: NDArray[np.float64] = numerator / safe
    return result


def best_other(
    information: NDArray[np.float64], own: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """For each factor, the largest information among the codes that are not its own, and which codes have it.

    With a single code there is no other: 0, and no code has it.
    """
    d, m = information.shape[-2:]
    if d == 1:
        return np.zeros((*information.shape[:-2], m)), np.zeros(information.shape, dtype=bool)
    others = information.copy()
    others[..., own, np.arange(m)] = -np.inf
    largest = others.max(axis=-2)
    return largest, others >= largest[..., None, :] - TIE


def mean_of_defined(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean along the last axis over the values that are defined; NaN where none is."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=-1)
    total = np.where(defined, values, 0.0).sum(axis=-1)
    result: NDArray[np.float64] = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return result
