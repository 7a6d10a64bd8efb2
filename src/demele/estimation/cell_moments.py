"""Number of rows, mean and squares of every code in every combination of factor levels, in states that add up.

What total effects of factors on codes are computed from, of rows that come in parts. Squares are taken about the mean
of each cell, so that adding up parts costs no digits (Chan, Golub and LeVeque 1983).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from demele.estimation.cells import FactorCells, Partition
from demele.estimation.discretise import ColumnBins
from demele.estimation.moments import CodeMoments, FloatArray, IntArray, smallest_unsigned


@dataclass(frozen=True, slots=True, eq=False)
class CellMoments:
    """Rows, means and sums of squares about them of every code in every cell that occurs.

    Attributes
    ----------
    sizes : tuple of int
        Number of possible levels of each factor.
    levels : array of int of shape (n_factors, n_cells)
        The combination of each cell.
    count : array of int of shape (n_cells,)
        Rows, at least 1.
    mean, square : arrays of shape (n_codes, n_cells)
    """

    sizes: tuple[int, ...]
    levels: NDArray[np.unsignedinteger[Any]]
    count: NDArray[np.int64]
    mean: FloatArray
    square: FloatArray

    @classmethod
    def empty(cls, n_codes: int, sizes: Sequence[int]) -> Self:
        """Return the moments of no rows, the identity of :meth:`merge`."""
        levels = np.zeros((len(sizes), 0), dtype=smallest_unsigned(max(sizes, default=1) - 1))
        return cls(tuple(map(int, sizes)), levels, np.zeros(0, np.int64), *(np.zeros((n_codes, 0)) for _ in range(2)))

    @classmethod
    def of_rows(cls, codes: FloatArray, columns: Sequence[IntArray], sizes: Sequence[int]) -> Self:
        """Return the moments of codes (n_samples, n_codes) at factor levels, each (n_samples,): integers from 0."""
        levels = np.array(columns, dtype=smallest_unsigned(max(sizes, default=1) - 1))
        of_each = cls(tuple(map(int, sizes)), levels, np.ones(len(codes), np.int64), codes.T, np.zeros(codes.T.shape))
        return of_each.over(range(len(sizes)))

    def over(self, factors: Sequence[int]) -> Self:
        """Put the cells together that agree on some factors, the ones that are kept."""
        sizes = tuple(self.sizes[i] for i in factors)
        levels = self.levels[list(factors)]
        cells = Partition.of(list(levels), sizes, levels.shape[1])
        count = cells.sum(self.count)
        mean, square = np.empty((2, len(self.mean), cells.n))
        for code, (means, squares) in enumerate(zip(self.mean, self.square, strict=True)):
            mean[code] = cells.sum(means * self.count) / count
            away = means - mean[code][cells.group]
            square[code] = cells.sum(squares + self.count * away**2)
        return type(self)(sizes, levels[:, cells.example], count.astype(np.int64), mean, square)

    def merge(self, other: Self) -> Self:
        """Return the moments of the rows of both; order and grouping matter to rounding and to the order of cells."""
        if self.sizes != other.sizes:
            raise ValueError("the two have other factor levels; fix the bins before the first batch")
        both = type(self)(
            self.sizes,
            np.concatenate((self.levels, other.levels), axis=1),
            np.concatenate((self.count, other.count)),
            np.concatenate((self.mean, other.mean), axis=1),
            np.concatenate((self.square, other.square), axis=1),
        )
        return both.over(range(len(self.sizes)))

    def where(self, cells: NDArray[np.bool_]) -> Self:
        """Return the moments of some cells."""
        return type(self)(
            self.sizes, self.levels[:, cells], self.count[cells], self.mean[:, cells], self.square[:, cells]
        )


@dataclass(frozen=True, slots=True, eq=False)
class CellSums:
    """Standardised codes summed in the cells of all factors.

    Attributes
    ----------
    names : tuple of str
        The factors.
    bins : tuple of ColumnBins or None
        Of each continuous factor; None for a categorical one.
    cells : FactorCells
        Sums about the mean of each code, in its standard deviation; NaN for codes that do not vary.
    squares : array of shape (n_codes, n_cells)
        Sums of squares about the same.
    """

    names: tuple[str, ...]
    bins: tuple[ColumnBins | None, ...]
    cells: FactorCells
    squares: FloatArray


def standardised(moments: CellMoments, constant: NDArray[np.bool_]) -> tuple[FactorCells, FloatArray]:
    """Return sums, and sums of squares, of codes about their means in their standard deviation, by cell.

    Parameters
    ----------
    moments : CellMoments
    constant : array of bool of shape (n_codes,)
        Codes that are known not to vary.
    """
    count, n = moments.count, int(moments.count.sum())
    mean = (moments.mean * count).sum(axis=1) / max(n, 1)
    away = moments.mean - mean[:, None]
    squares = moments.square + count * away**2
    variance = squares.sum(axis=1) / max(n, 1)
    varies = ~constant & (variance > 0)
    deviation = np.sqrt(np.where(varies, variance, 1.0))
    total, squares = away * count / deviation[:, None], squares / np.square(deviation)[:, None]
    zeros, ends = np.zeros(len(mean)), np.where(varies, 1.0, 0.0)
    of_all = CodeMoments(n, zeros, zeros, np.where(varies, float(n), 0.0), -ends, ends)
    return FactorCells(moments.sizes, moments.levels, count, total, of_all), squares
