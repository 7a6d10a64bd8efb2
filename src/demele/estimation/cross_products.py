"""What a linear map of all codes knows of factors, from sums of products: correlations, shares, canonical correlations.

The rows are no longer there: only their number, and the products of all columns about their means. Of a categorical
factor the columns are the indicators of its classes.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

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
