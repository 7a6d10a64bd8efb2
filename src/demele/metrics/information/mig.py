"""Mutual information gap."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.estimation.gaps import top_two
from demele.estimation.information import InformationTable
from demele.metrics.information._common import MATRIX, best_other, ratio
from demele.metrics.native import Native, mean_of_defined

__all__ = ["mig_from_information", "score"]


def score(table: InformationTable, reg_dim: NDArray[np.intp] | None = None) -> Native:
    """MIG_i = [I(v_i; z_*) - I(v_i; z_o)] / H(v_i); with ``reg_dim``, z_* is the code named for the factor."""
    information = table.information
    if reg_dim is None:
        first, second = top_two(information, axis=-2)
    else:
        first = information[..., reg_dim, np.arange(information.shape[-1])]
        second, _ = best_other(information, reg_dim)
    gaps = ratio(first - second, table.factor_entropy)
    return Native(value=mean_of_defined(gaps), per_factor=gaps, matrix=information, matrix_of=MATRIX)


def mig_from_information(information: ArrayLike, entropy: ArrayLike) -> float:
    """Mutual information gap of a given matrix (Chen et al. 2018, eq. 6).

    Parameters
    ----------
    information : array-like of shape (n_codes, n_factors), nats
    entropy : array-like of shape (n_factors,), nats
        Entropies of the factors.

    Returns
    -------
    float
        At most 1, which is best.

    Examples
    --------
    >>> from demele.metrics import mig_from_information
    >>> mig_from_information([[0.6, 0.0], [0.2, 0.5]], [1.0, 0.5])
    0.7
    """
    table = InformationTable(np.asarray(information, dtype=float), np.asarray(entropy, dtype=float))
    return float(score(table).value)
