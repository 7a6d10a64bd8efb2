"""Dependency-aware mutual information gap."""

import numpy as np
from numpy.typing import NDArray

from demele.estimation.information import InformationTable
from demele.metrics.information._common import MATRIX, best_other, ratio
from demele.metrics.native import Native, mean_of_defined

__all__ = ["score"]


def score(table: InformationTable, reg_dim: NDArray[np.intp]) -> Native:
    """DMIG_i = [I(v_i; z_j) - I(v_i; z_k)] / H(v_i | v_l): z_j the factor's code, z_k the best other, v_l its factor."""
    if table.factor_information is None:
        raise ValueError("DMIG needs informations between factors")
    information = table.information
    d, m = information.shape[-2:]
    first = information[..., reg_dim, np.arange(m)]
    second, other = best_other(information, reg_dim)
    # the factor that each code regularises: the first one named for it, or none; index -1 (no other code) is none too
    regularised = np.full(d + 1, -1)
    for factor in range(m - 1, -1, -1):
        regularised[reg_dim[factor]] = factor
    rival = regularised[other]
    between = np.take_along_axis(table.factor_information, np.maximum(rival, 0)[..., None], axis=-1)[..., 0]
    conditional = table.factor_entropy - np.where(rival >= 0, between, 0.0)
    gaps = ratio(first - second, conditional)
    return Native(value=mean_of_defined(gaps), per_factor=gaps, matrix=information, matrix_of=MATRIX)
