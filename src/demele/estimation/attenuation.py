"""Squared correlations of codes with the true values of a factor, from annotations with errors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Covariances:
    """Second moments of codes and one factor about their means.

    Attributes
    ----------
    codes : array of shape (n_codes, n_codes)
    cross : array of shape (n_codes,)
        Of each code with the factor.
    variance : float
        Of the factor.
    """

    codes: Floats
    cross: Floats
    variance: float

    def plus(self, cross: Floats, variance: float) -> "Covariances":
        """Return the same codes with a factor whose moments differ by these."""
        return Covariances(self.codes, self.cross + cross, self.variance + variance)


def covariances(codes: Floats, values: Floats, weights: Floats | None = None) -> Covariances:
    """Return covariances of codes (n, n_codes) and a factor (n,), of rows by their weights."""
    share = np.full(len(values), 1.0) if weights is None else weights
    share = share / share.sum()
    centred, own = codes - share @ codes, values - share @ values
    weighted = centred * share[:, None]
    return Covariances(weighted.T @ centred, weighted.T @ own, float(share @ own**2))


def reliability(true: Floats, given: Floats, weights: Floats | None = None) -> float:
    """Return the squared correlation of true and given values (n,)."""
    found = covariances(true[:, None], given, weights)
    return float(found.cross[0] ** 2 / (found.codes[0, 0] * found.variance))


def agreement(first: Floats, second: Floats, weights: Floats | None = None) -> float:
    """Return the correlation of two annotations (n,): the reliability of each, if their errors are independent."""
    found = covariances(first[:, None], second, weights)
    return float(found.cross[0] / np.sqrt(found.codes[0, 0] * found.variance))


def squared(found: Covariances) -> Floats:
    """Return the squared correlation of each code with the factor, 0 for codes that do not vary."""
    own = found.codes.diagonal() * found.variance
    return np.where(own > 0, found.cross**2 / np.where(own > 0, own, 1.0), 0.0)


def gap(found: Covariances) -> float:
    """Return the largest squared correlation less the second largest, which is 0 of a single code."""
    ordered = np.sort(np.append(squared(found), 0.0))
    return float(ordered[-1] - ordered[-2])


def explained(found: Covariances) -> float:
    """Return the share of the factor that least squares on all codes explain."""
    scale = np.sqrt(found.codes.diagonal())
    scale = np.where(scale > 0, scale, 1.0)
    inverse = np.linalg.pinv(found.codes / np.outer(scale, scale), hermitian=True, rcond=1e-10)
    cross = found.cross / scale
    return float(cross @ inverse @ cross / found.variance)


def moment_difference(everything: Covariances, audited_true: Covariances, audited_given: Covariances) -> Covariances:
    """Return covariances with the true values: those of all annotations, plus what an audit changes in its own rows.

    Examples
    --------
    Where the audit covers all rows, those of the true values:

    >>> codes, true, given = np.arange(4.0)[:, None], np.array([0.0, 1.0, 2.0, 4.0]), np.array([0.0, 1.0, 1.0, 4.0])
    >>> of_true, of_given = covariances(codes, true), covariances(codes, given)
    >>> bool(np.isclose(moment_difference(of_given, of_true, of_given).variance, of_true.variance))
    True
    """
    return everything.plus(audited_true.cross - audited_given.cross, audited_true.variance - audited_given.variance)
