"""Modularity and compactness of an importance matrix (Eastwood and Williams 2018, section 2)."""

import numpy as np
from numpy.typing import ArrayLike

from demele.core.arrays import Floats
from demele.core.errors import InputError
from demele.core.table_columns import real_numbers


def concentration(shares: Floats, axis: int) -> Floats:
    """Return 1 - entropy of the shares along an axis, in units of its largest; a single entry is concentrated."""
    size = shares.shape[axis]
    if size <= 1:
        return np.ones(shares.sum(axis=axis).shape)
    terms = shares * np.log(np.where(shares > 0, shares, 1.0))
    return np.asarray(np.clip(1.0 + terms.sum(axis=axis) / np.log(size), 0.0, 1.0))


def modularity_of_codes(importance: Floats) -> tuple[Floats, Floats]:
    """Return D_j = 1 + sum_i p_ij log_M p_ij of each code (NaN where it has no importance) and the weights rho_j."""
    totals = importance.sum(axis=-1)
    used = totals > 0
    shares = importance / np.where(used, totals, 1.0)[..., None]
    grand = totals.sum(axis=-1, keepdims=True)
    return np.where(used, concentration(shares, axis=-1), np.nan), totals / np.where(grand > 0, grand, 1.0)


def compactness_of_factors(importance: Floats) -> Floats:
    """Return C_i = 1 + sum_j p_ij log_d p_ij of each factor; 0 for a factor that no code predicts."""
    totals = importance.sum(axis=-2)
    shares = importance / np.where(totals > 0, totals, 1.0)[..., None, :]
    return np.where(totals > 0, concentration(shares, axis=-2), 0.0)


def mean_compactness(importance: Floats, factor_weights: str) -> float:
    """Mean of compactness over factors, with equal weights or their sums of importances; 0 if none has any."""
    per_factor, totals = compactness_of_factors(importance), importance.sum(axis=0)
    if factor_weights == "uniform":
        return float(per_factor.mean())
    grand = float(totals.sum())
    return float(per_factor @ totals) / grand if grand > 0 else 0.0


def dci_modularity(importance: ArrayLike) -> float:
    """Modularity ("disentanglement") of an importance matrix (Eastwood & Williams 2018, section 2).

    Parameters
    ----------
    importance : array-like of shape (n_codes, n_factors), >= 0

    Returns
    -------
    float
        In [0, 1], best 1: every code is important for one factor. Codes weigh by their share of the importance; 0 for
        a matrix of zeros.

    Examples
    --------
    >>> from demele.metrics import dci_modularity
    >>> dci_modularity([[1, 0], [0, 1], [0, 0]])
    1.0
    >>> dci_modularity([[3, 0], [1, 1]])
    0.6
    """
    per_code, weights = modularity_of_codes(checked_table(importance, "importance"))
    return min(float(np.nansum(per_code * weights)), 1.0)  # rounding cannot lift it above 1


def dci_compactness(importance: ArrayLike) -> float:
    """Compactness ("completeness") of an importance matrix (Eastwood & Williams 2018, section 2).

    Parameters
    ----------
    importance : array-like of shape (n_codes, n_factors), >= 0

    Returns
    -------
    float
        In [0, 1], best 1: every factor is held by one code. A factor that no code predicts counts as 0.

    Examples
    --------
    >>> from demele.metrics import dci_compactness
    >>> dci_compactness([[1, 0], [0, 1], [0, 0]])
    1.0
    """
    return float(compactness_of_factors(checked_table(importance, "importance")).mean())


def checked_table(given: ArrayLike, argument: str) -> Floats:
    """Return finite numbers of codes and factors, none below 0.

    Raises
    ------
    InputError, InputTypeError
    """
    matrix = real_numbers(given, argument)
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(argument, f"expected a matrix (n_codes, n_factors), got shape {matrix.shape}")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        row = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1) | (matrix < 0).any(axis=1))[0])
        raise InputError(argument, f"expected finite values of at least 0, got others, first in row {row}")
    return matrix
