"""What a linear map of all codes together knows of factors: explained shares and canonical correlations."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.estimation.univariate import unit_vectors, variance_shares

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


# What a linear map of all codes knows of factors, from sums of products -----------------------------------------------
#
# The rows are no longer there: only their number, and the products of all columns about their means. Of a categorical
# factor the columns are the indicators of its classes.

#: Least share of the largest eigenvalue of the codes' correlations from which a direction counts: what is below is the
#: rounding of the products.
LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class CrossProducts:
    """Sums of products about means, over the same rows for all columns.

    Attributes
    ----------
    n : int
        Rows.
    codes : array of shape (n_codes, n_codes)
    varies : array of bool of shape (n_codes,)
        Codes that take more than one value; the others count as 0.
    factors : array of shape (n_columns, n_columns)
        Of the columns of all factors, factor by factor.
    with_codes : array of shape (n_codes, n_columns)
    classes : tuple of int
        Columns of each factor that are indicators of classes; 0 for one column of numbers.
    rows : array of shape (n_columns,)
        Rows of each class; of numbers all.
    """

    n: int
    codes: Floats
    varies: NDArray[np.bool_]
    factors: Floats
    with_codes: Floats
    classes: tuple[int, ...]
    rows: Floats

    @cached_property
    def lengths(self) -> Floats:
        """Lengths of the centred codes, 1 where they do not vary."""
        return np.sqrt(np.where(self.varies, np.diag(self.codes), 1.0))

    @cached_property
    def columns(self) -> list[slice]:
        """Columns of each factor."""
        ends = np.cumsum([max(own, 1) for own in self.classes])
        return [slice(int(end) - max(own, 1), int(end)) for own, end in zip(self.classes, ends, strict=True)]

    @cached_property
    def directions(self) -> Floats:
        """Weights of the codes in units of their lengths, (n_codes, rank): their sums are orthonormal."""
        unit = np.where(self.varies, 1.0 / self.lengths, 0.0)
        return _whitening(unit[:, None] * self.codes * unit)

    @cached_property
    def with_directions(self) -> Floats:
        """Products of the orthonormal directions with the columns of the factors, (rank, n_columns)."""
        unit = np.where(self.varies, 1.0 / self.lengths, 0.0)
        return self.directions.T @ (unit[:, None] * self.with_codes)

    def association(self) -> Floats:
        r"""Return absolute correlations, of categorical factors correlation ratios, (n_codes, n_factors).

        .. math:: \eta_{ij}^2 = \frac{\sum_k n_k (\bar z_{jk} - \bar z_j)^2}{\sum_n (z_{nj} - \bar z_j)^2}
        """
        found = np.zeros((len(self.codes), len(self.classes)))
        for index, own in enumerate(self.columns):
            scale = self.rows[own] if self.classes[index] else np.diag(self.factors)[own]
            squares = np.divide(
                self.with_codes[:, own] ** 2, scale, out=np.zeros((len(found), len(scale))), where=scale > 0
            )
            found[:, index] = np.sqrt(squares.sum(axis=1)) / self.lengths
        found[~self.varies] = 0.0
        return np.minimum(found, 1.0)

    def explained(self) -> Floats:
        """Return the share of each factor's variance that least squares on the codes explain, (n_factors,)."""
        total = np.array([np.trace(self.factors[own, own]) for own in self.columns])
        told = np.array([np.square(self.with_directions[:, own]).sum() for own in self.columns])
        share: Floats = np.divide(told, total, out=np.full(len(total), np.nan), where=total > 0)
        return np.minimum(share, 1.0)

    def canonical(self) -> Floats:
        """Return the canonical correlations of codes and factors that are all numbers, largest first."""
        lengths = np.sqrt(np.diag(self.factors))
        turned = _whitening(self.factors / np.outer(lengths, lengths))
        products: Floats = self.with_directions / lengths @ turned
        found: Floats = np.asarray(np.linalg.svd(products, compute_uv=False), dtype=np.float64)
        return np.minimum(found, 1.0)

    def first_canonical(self) -> Floats:
        """Return the first canonical correlation of the codes with each factor, (n_factors,)."""
        found = np.sqrt(self.explained())
        for index, own in enumerate(self.columns):
            if self.classes[index]:
                held = self.rows[own] > 0
                sums = self.with_directions[:, own][:, held] / np.sqrt(self.rows[own][held])
                found[index] = min(float(np.linalg.norm(sums, 2)), 1.0) if sums.size else 0.0
        return found


def _whitening(correlations: Floats) -> Floats:
    """Return weights (n_columns, rank) that make columns with these correlations orthonormal."""
    squares, vectors = np.linalg.eigh(correlations)
    kept = squares > LEAST * squares.max(initial=0.0)
    return np.asarray(vectors[:, kept] / np.sqrt(squares[kept]))
