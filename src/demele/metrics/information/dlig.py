"""Dependency-aware latent information gap."""

import numpy as np
from numpy.typing import NDArray

from demele.estimation.information import InformationTable
from demele.metrics.information._common import MATRIX, TIE, ratio
from demele.metrics.native import Native, mean_of_defined

__all__ = ["score"]


def score(table: InformationTable, reg_dim: NDArray[np.intp]) -> Native:
    """DLIG_i = [I(v_i; z) - I(v_k; z)] / H(v_i | v_k) for the factor's code z, v_k being the best other factor.

    Of several v_k that are equally good, the one with the largest H(v_i | v_k), whatever their order.
    """
    if table.factor_information is None:
        raise ValueError("DLIG needs informations between factors")
    m = table.information.shape[-1]
    of_code = table.information[..., reg_dim, :].copy()  # (..., factor whose code it is, factor)
    own = np.arange(m)
    first = of_code[..., own, own]
    of_code[..., own, own] = -np.inf
    second = of_code.max(axis=-1)
    between = np.where(of_code >= second[..., None] - TIE, table.factor_information, np.inf).min(axis=-1)
    gaps = ratio(first - second, table.factor_entropy - between)
    return Native(value=mean_of_defined(gaps), per_factor=gaps, matrix=table.information, matrix_of=MATRIX)
