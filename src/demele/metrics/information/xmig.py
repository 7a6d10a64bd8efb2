"""Dependency-blind mutual information gap."""

import numpy as np
from numpy.typing import NDArray

from demele.estimation.information import InformationTable
from demele.metrics.information._common import MATRIX, ratio
from demele.metrics.native import Native, mean_of_defined

__all__ = ["score"]


def score(table: InformationTable, reg_dim: NDArray[np.intp]) -> Native:
    """XMIG_i = [I(v_i; z_j) - max over codes outside reg_dim of I(v_i; z_k)] / H(v_i)."""
    information = table.information
    d, m = information.shape[-2:]
    first = information[..., reg_dim, np.arange(m)]
    outside = np.setdiff1d(np.arange(d), reg_dim)
    second = information[..., outside, :].max(axis=-2)
    gaps = ratio(first - second, table.factor_entropy)
    return Native(value=mean_of_defined(gaps), per_factor=gaps, matrix=information, matrix_of=MATRIX)
