"""What a linear map of all codes together knows of factors: explained shares and canonical correlations."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.estimation.univariate import unit_vectors

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Basis:
    """Orthonormal columns that span centred columns, and the way to them.

    Attributes
    ----------
    vectors : array of shape (n_samples, rank)
    mean : array of shape (n_columns,)
    directions : array of shape (n_columns, rank)
        ``vectors`` is (columns - mean) @ directions.
    """

    vectors: Floats
    mean: Floats
    directions: Floats

    @classmethod
    def of(cls, columns: Floats) -> "Basis":
        """Find the basis of columns (n_samples, n_columns); what is constant or a copy, to rounding, adds nothing."""
        n, d = columns.shape
        mean = columns.mean(axis=0)
        unit, varies = unit_vectors(columns, 1e-24)
        unit = np.where(varies, unit, 0.0)
        upper = np.linalg.qr(unit, mode="r")
        _, lengths, right = np.linalg.svd(upper, full_matrices=False)
        kept = lengths > lengths.max(initial=0.0) * max(n, d) * np.finfo(float).eps
        turned = right[kept].T / lengths[kept]
        scale = np.linalg.norm(columns - mean, axis=0)
        return cls(unit @ turned, mean, turned / np.where(varies & (scale > 0), scale, np.inf)[:, None])

    @property
    def rank(self) -> int:
        """Number of directions that vary."""
        return int(self.vectors.shape[1])


def explained_share(basis: Basis, values: NDArray[Any], n_classes: int = 0) -> float:
    r"""Return the share of a factor's variance that least squares on the codes explain, :math:`R^2`.

    Parameters
    ----------
    basis : Basis
        Of the codes.
    values : array of shape (n_samples,)
        Numbers, or classes 0 ... ``n_classes`` - 1: the indicators of the classes are then predicted together, and
        the share is that of the sum of their variances.
    n_classes : int
        0 for numbers.

    Examples
    --------
    >>> basis = Basis.of(np.array([[0.0], [1.0], [2.0], [3.0]]))
    >>> round(explained_share(basis, np.array([0, 1, 2, 3]), 4), 6)
    0.333333
    """
    if not n_classes:
        unit, varies = unit_vectors(np.asarray(values, dtype=np.float64)[:, None], 1e-24)
        return float(min(np.square(basis.vectors.T @ unit[:, 0]).sum(), 1.0)) if varies[0] else float("nan")
    labels = values.astype(np.intp)
    rows = np.bincount(labels, minlength=n_classes).astype(np.float64)
    total = len(labels) - (rows**2).sum() / len(labels)
    sums = [np.bincount(labels, weights=own, minlength=n_classes) for own in basis.vectors.T]
    return float(min(np.square(sums).sum() / total, 1.0)) if total > 0 else float("nan")


def canonical(first: Basis, second: Basis) -> tuple[Floats, Floats, Floats]:
    """Return canonical correlations, largest first, and the directions of both sides, one in each column.

    Examples
    --------
    >>> codes = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 5.0]])
    >>> canonical(Basis.of(codes), Basis.of(codes @ [[1.0, 1.0], [1.0, -1.0]]))[0].round(6).tolist()
    [1.0, 1.0]
    """
    left, lengths, right = np.linalg.svd(first.vectors.T @ second.vectors, full_matrices=False)
    return np.minimum(lengths, 1.0), first.directions @ left, second.directions @ right.T


def correlation_of_pairs(first: Floats, second: Floats) -> Floats:
    """Return the signed correlation of each column of one with that of the other; 0 where one is constant."""
    (a, a_varies), (b, b_varies) = (unit_vectors(columns, 1e-24) for columns in (first, second))
    found: Floats = np.where(a_varies & b_varies, np.clip(np.einsum("ij,ij->j", a, b), -1.0, 1.0), 0.0)
    return found
