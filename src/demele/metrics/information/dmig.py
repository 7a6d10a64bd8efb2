"""Dependency-aware mutual information gap."""

import numpy as np
from numpy.typing import NDArray

from demele.estimation.information import InformationTable
from demele.metrics.information._common import MATRIX, best_other, ratio
from demele.metrics.native import Native, mean_of_defined

__all__ = ["score"]


def score(table: InformationTable, reg_dim: NDArray[np.intp]) -> Native:
    """DMIG_i = [I(v_i; z_j) - I(v_i; z_k)] / H(v_i | v_l): z_j the factor's code, z_k the best other, v_l its factor.

    Where several z_k or v_l are equally good, the one with the largest H(v_i | v_l), whatever their order.
    """
    if table.factor_information is None:
        raise ValueError("DMIG needs informations between factors")
    information = table.information
    d, m = information.shape[-2:]
    first = information[..., reg_dim, np.arange(m)]
    second, rivals = best_other(information, reg_dim)
    # what each code's factor tells of every factor, in that factor's unit; 0 for a code that regularises none
    regularises = reg_dim[None, :] == np.arange(d)[:, None]  # (d, m)
    told = np.swapaxes(table.factor_information, -1, -2)[..., None, :, :]  # (..., 1, factor that tells, factor)
    shared = np.where(regularises[:, :, None], told, np.inf).min(axis=-2)
    shared = np.where(np.isposinf(shared), 0.0, shared)
    least = np.where(rivals, shared, np.inf).min(axis=-2)
    gaps = ratio(first - second, table.factor_entropy - np.where(np.isposinf(least), 0.0, least))
    return Native(value=mean_of_defined(gaps), per_factor=gaps, matrix=information, matrix_of=MATRIX)
