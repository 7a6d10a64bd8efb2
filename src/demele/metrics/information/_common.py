"""What the information-based metrics share."""

import numpy as np
from numpy.typing import NDArray

from demele.metrics.native import Array

MATRIX = "mutual information (nats)"


def ratio(numerator: Array, denominator: Array) -> Array:
    """Divide, NaN where the denominator vanishes."""
    safe = np.where(denominator > 1e-12, denominator, np.nan)
    result: Array = numerator / safe
    return result


def best_other(information: Array, own: NDArray[np.intp]) -> tuple[Array, NDArray[np.intp]]:
    """For each factor, the largest information among the codes that are not its own, and which code that is.

    With a single code there is no other: 0, and index -1.
    """
    d, m = information.shape[-2:]
    if d == 1:
        shape = (*information.shape[:-2], m)
        return np.zeros(shape), np.full(shape, -1)
    others = information.copy()
    others[..., own, np.arange(m)] = -np.inf
    return others.max(axis=-2), others.argmax(axis=-2)
