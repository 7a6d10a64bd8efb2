"""Modularity score of Ridgeway & Mozer."""

import numpy as np
from numpy.typing import ArrayLike

from demele.core.errors import NotEnoughData
from demele.estimation.information import InformationTable
from demele.metrics.information._common import MATRIX
from demele.metrics.native import Native

__all__ = ["DEAD_CODE", "modularity_from_information", "score"]

#: A code whose largest information is below this (nats) informs on nothing and scores 0, as in Latte.
DEAD_CODE = 1e-12


def score(table: InformationTable) -> Native:
    """Modularity_j = 1 - sum_{i != i*} I(v_i; z_j)^2 / [(M - 1) I(v_i*; z_j)^2]."""
    information = table.information
    m = information.shape[-1]
    largest = information.max(axis=-1)
    alive = largest > DEAD_CODE
    relative = information / np.where(alive, largest, 1.0)[..., None]
    others = np.maximum((relative**2).sum(axis=-1) - 1.0, 0.0)
    per_code = np.where(alive, 1.0 - others / (m - 1), 0.0)
    return Native(value=per_code.mean(axis=-1), per_code=per_code, matrix=information, matrix_of=MATRIX)


def modularity_from_information(information: ArrayLike) -> float:
    """Modularity score of a given matrix (Ridgeway & Mozer 2018, section 3).

    Parameters
    ----------
    information : array-like of shape (n_codes, n_factors), >= 0
        Mutual informations; at least two factors.

    Returns
    -------
    float
        In [0, 1], best 1. A code without information scores 0.

    Raises
    ------
    NotEnoughData
        For a single factor.

    Examples
    --------
    >>> from demele.metrics import modularity_from_information
    >>> modularity_from_information([[1.0, 0.0], [0.5, 1.0]])
    0.875
    """
    matrix = np.asarray(information, dtype=float)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise NotEnoughData("information", f"expected a matrix with at least 2 factors (columns), got {matrix.shape}")
    return float(score(InformationTable(matrix, np.ones(matrix.shape[1]))).value)
