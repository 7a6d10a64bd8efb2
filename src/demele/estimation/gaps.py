"""Largest and second largest, with missing partners defined once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def top_two(values: NDArray[Any], axis: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest and the second largest value along an axis.

    With a single entry there is no rival: the second largest is 0. Ties give a gap of 0.

    Examples
    --------
    >>> import numpy as np
    >>> from demele.estimation.gaps import top_two
    >>> first, second = top_two(np.array([[3.0, 1.0], [1.0, 1.0]]), axis=0)
    >>> (first - second).tolist()
    [2.0, 0.0]
    """
    if values.shape[axis] == 1:
        first = np.take(values, 0, axis=axis)
        return first, np.zeros_like(first)
    ordered = np.partition(values, (-2, -1), axis=axis)
    return np.take(ordered, -1, axis=axis), np.take(ordered, -2, axis=axis)
