"""DCIMIG (3CharM)."""

import numpy as np

from demele.estimation.gaps import top_two
from demele.estimation.information import InformationTable
from demele.metrics.information._common import MATRIX, ratio
from demele.metrics.native import Native

__all__ = ["score"]


def score(table: InformationTable) -> Native:
    """Sum over factors of the largest gap among the codes whose best factor it is, over the sum of entropies."""
    information = table.information
    first, second = top_two(information, axis=-1)
    gaps = first - second  # (..., d)
    best_factor = information.argmax(axis=-1)
    m = information.shape[-1]
    held = np.where(best_factor[..., None] == np.arange(m), gaps[..., None], 0.0).max(axis=-2)
    value = held.sum(axis=-1) / table.factor_entropy.sum(axis=-1)
    return Native(value=value, per_factor=ratio(held, table.factor_entropy), matrix=information, matrix_of=MATRIX)
