"""What the information-based metrics share."""

import numpy as np
from numpy.typing import NDArray

from demele.metrics.native import Array

MATRIX = "mutual information (nats)"
#: Informations that differ by less (nats) are equal but for rounding: which of them is met first must not matter.
TIE = 1e-12


def ratio(numerator: Array, denominator: Array) -> Array:
    """Divide, NaN where the denominator vanishes."""
    safe = np.where(denominator > 1e-12, denominator, np.nan)
    result: Array = numerator / safe
    return result


def best_other(information: Array, own: NDArray[np.intp]) -> tuple[Array, NDArray[np.bool_]]:
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
