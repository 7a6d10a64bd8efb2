"""What a linear map of all codes together knows of factors: explained shares and canonical correlations."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.estimation.univariate import unit_vectors, variance_shares

Floats = NDArray[np.float64]


#: Least share of the largest squared length from which lengths are read off the columns' products, as exact as need be.
WELL_SPREAD = 1e-4


@dataclass(frozen=True, slots=True)
class Basis:
    """Orthonormal vectors that span centred columns, and the way to them.

    Attributes
    ----------
    unit : array of shape (n_samples, n_columns)
        The columns, centred and of length 1; 0 where they are constant.
    turned : array of shape (n_columns, rank)
        The vectors are ``unit @ turned``.
    columns : array of shape (n_samples, n_columns)
    """

    unit: Floats
    turned: Floats
    columns: Floats

    @classmethod
    def of(cls, columns: Floats) -> "Basis":
        """Find the basis of columns (n_samples, n_columns); what is constant or a copy, to rounding, adds nothing."""
        unit, _ = unit_vectors(columns, 1e-24)
        squares, vectors = np.linalg.eigh(unit.T @ unit)
        if squares.size and squares[0] > WELL_SPREAD * squares[-1]:
            return cls(unit, vectors / np.sqrt(squares), columns)
        _, lengths, right = np.linalg.svd(np.linalg.qr(unit, mode="r"), full_matrices=False)
        kept = lengths > lengths.max(initial=0.0) * max(columns.shape) * np.finfo(float).eps
        return cls(unit, right[kept].T / lengths[kept], columns)

    @property
    def rank(self) -> int:
        """Number of directions that vary."""
        return int(self.turned.shape[1])

    @property
    def directions(self) -> Floats:
        """Weights of the columns, each in its own unit, (n_columns, rank): the vectors are sums of centred columns."""
        lengths = np.linalg.norm(self.columns - self.columns.mean(axis=0), axis=0)
        varies = (lengths > 0) & self.unit.any(axis=0)
        return self.turned / np.where(varies, lengths, np.inf)[:, None]

    def with_columns(self, columns: Floats) -> Floats:
        """Return the products of the vectors with other columns (n_samples, k): (rank, k)."""
        return self.turned.T @ (self.unit.T @ columns)

    def with_classes(self, labels: NDArray[np.intp], n_classes: int) -> Floats:
        """Return the sums of the vectors over the rows of each class: (rank, n_classes)."""
        sums = np.stack([np.bincount(labels, weights=own, minlength=n_classes) for own in self.unit.T])
        return self.turned.T @ sums


def explained_share(basis: Basis, values: NDArray[Any], n_classes: int = 0) -> float:
    r"""Return the share of a factor's variance that least squares on the codes explain, :math:`R^2`.

    Parameters
    ----------
    basis : Basis
        Of the codes.
    values : array of shape (n_samples,), or (n_samples, 2) of a cyclic factor
        Numbers, whose share is that of the sum of their variances; or classes 0 ... ``n_classes`` - 1: the indicators
        of the classes are then predicted together, and the share is that of the sum of their variances.
    n_classes : int
        0 for numbers.

    Examples
    --------
    >>> basis = Basis.of(np.array([[0.0], [1.0], [2.0], [3.0]]))
    >>> round(explained_share(basis, np.array([0, 1, 2, 3]), 4), 6)
    0.333333
    """
    if not n_classes:
        columns = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
        unit, varies = unit_vectors(columns, 1e-24)
        shares = [float(np.square(line).sum()) for line in basis.with_columns(unit).T]
        return min(float(variance_shares(columns) @ shares), 1.0) if varies.any() else float("nan")
    labels = values.astype(np.intp)
    rows = np.bincount(labels, minlength=n_classes).astype(np.float64)
    total = len(labels) - (rows**2).sum() / len(labels)
    return (
        float(min(np.square(basis.with_classes(labels, n_classes)).sum() / total, 1.0)) if total > 0 else float("nan")
    )


def canonical_correlations(first: Basis, second: Basis) -> Floats:
    """Return canonical correlations, largest first.

    Examples
    --------
    >>> codes = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 5.0]])
    >>> canonical_correlations(Basis.of(codes), Basis.of(codes @ [[1.0, 1.0], [1.0, -1.0]])).round(6).tolist()
    [1.0, 1.0]
    """
    found = np.linalg.svd(first.with_columns(second.unit) @ second.turned, compute_uv=False)
    return np.minimum(np.asarray(found, dtype=np.float64), 1.0)


def canonical(first: Basis, second: Basis) -> tuple[Floats, Floats, Floats]:
    """Return canonical correlations, largest first, and the directions of both sides, one in each column.

    Examples
    --------
    >>> codes = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 5.0]])
    >>> canonical(Basis.of(codes), Basis.of(codes @ [[1.0, 1.0], [1.0, -1.0]]))[0].round(6).tolist()
    [1.0, 1.0]
    """
    left, lengths, right = np.linalg.svd(first.with_columns(second.unit) @ second.turned, full_matrices=False)
    return np.minimum(lengths, 1.0), first.directions @ left, second.directions @ right.T


def largest_with_classes(basis: Basis, labels: NDArray[Any], n_classes: int) -> float:
    r"""Return the first canonical correlation with the indicators of classes 0 ... ``n_classes`` - 1.

    The indicators span the means of the classes: the correlations are the singular values of the sums of the vectors
    in each class, divided by :math:`\sqrt{n_k}`. The vectors are centred, so that the mean of all rows adds nothing.

    Examples
    --------
    >>> basis = Basis.of(np.array([[0.0], [2.0], [2.0], [4.0]]))
    >>> round(largest_with_classes(basis, np.array([0, 0, 1, 1]), 2), 6)
    0.707107
    """
    labels = labels.astype(np.intp)
    rows = np.bincount(labels, minlength=n_classes)
    if not basis.rank:
        return 0.0
    sums = basis.with_classes(labels, n_classes) / np.sqrt(np.maximum(rows, 1))
    return min(float(np.linalg.norm(sums, 2)), 1.0)


def correlation_of_pairs(first: Floats, second: Floats) -> Floats:
    """Return the signed correlation of each column of one with that of the other; 0 where one is constant."""
    (a, a_varies), (b, b_varies) = (unit_vectors(columns, 1e-24) for columns in (first, second))
    return np.where(a_varies & b_varies, np.clip(np.einsum("ij,ij->j", a, b), -1.0, 1.0), 0.0)
