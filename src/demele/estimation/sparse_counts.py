"""Joint counts and moments of sparse codes with factors, from the non-zeros only.

A code that is zero in most rows has one bin for zero and others for its non-zeros. Only non-zeros are looked at: what
is left of a factor's level, after the rows in which the code is not zero, are the rows in which it is. Codes are worked
on in blocks of columns, whose size is bounded; a dense array of all rows and codes is never made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.columns import Factor, Factors, SparseCodes
from demele.core.errors import InputError
from demele.estimation.counts import JointCounts, bin_factor, factor_bins
from demele.estimation.discretise import Binning, ColumnBins, cut
from demele.estimation.moments import smallest_unsigned

#: Cells of the tables of one block, and non-zeros in it: a few times 16 MiB.
MAX_CELLS = 2_000_000
MAX_NONZEROS = 2_000_000
#: Cells of the tables of a single code.
MAX_CELLS_OF_CODE = 50_000_000
#: A variance of at most this share of the mean square is that of a constant, as for dense codes.
FLAT = 1e-24


@dataclass(frozen=True, slots=True)
class Active:
    """One bin for all non-zeros: a code is active in a row, or it is not."""

    @property
    def needs_values(self) -> bool:
        """No value matters."""
        return False

    def column_bins(self, values: NDArray[np.float64], low: float, high: float) -> ColumnBins:
        """Return the one bin."""
        return ColumnBins(np.array([low, high]), regular=True)


@dataclass(frozen=True, slots=True)
class FactorLevels:
    """A factor as level numbers of the smallest type; a missing annotation is one level more than there are."""

    labels: NDArray[Any]
    n_levels: int
    complete: bool
    #: Rows of each level.
    totals: NDArray[np.float64]

    @property
    def width(self) -> int:
        """Numbers that occur among the labels."""
        return self.n_levels + (not self.complete)


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring codes, from ``first`` up to ``last``, and the number of bins to which their tables are padded."""

    first: int
    last: int
    width: int


def factor_levels(factors: Factors, binning: Binning) -> list[FactorLevels]:
    """Return the level of each row, of every factor; continuous factors are cut into bins."""
    found = []
    for factor in factors.columns:
        own_bins = factor_bins(factor, binning)
        n_levels = len(factor.levels) if own_bins is None else own_bins.n_bins
        labels = bin_factor(factor, own_bins).astype(smallest_unsigned(n_levels))
        totals = np.bincount(labels, minlength=n_levels)[:n_levels].astype(np.float64)
        found.append(FactorLevels(labels, n_levels, factor.complete, totals))
    return found


def nonzero_bins(codes: SparseCodes, binning: Binning) -> list[ColumnBins | None]:
    """Return the bins of the non-zeros of every code; None for a code that has none."""
    found: list[ColumnBins | None] = []
    empty = np.empty(0)
    for code, filled in enumerate(codes.n_nonzeros):
        if not filled:
            found.append(None)
            continue
        values = codes.column(code)[1] if binning.needs_values else empty
        try:
            found.append(binning.column_bins(values, float(codes.low[code]), float(codes.high[code])))
        except InputError as error:
            raise InputError("codes", f"non-zeros of {codes.names[code]!r}: {error}") from error
    return found


def number_of_bins(codes: SparseCodes, bins: Sequence[ColumnBins | None]) -> NDArray[np.intp]:
    """Return how many bins each code has: those of its non-zeros, and one for zero where it is zero in some row."""
    of_nonzeros = np.array([0 if own is None else own.n_bins for own in bins], dtype=np.intp)
    return of_nonzeros + (codes.n_nonzeros < codes.n)


def blocks(
    codes: SparseCodes,
    bins: Sequence[ColumnBins | None],
    levels: Sequence[FactorLevels],
    *,
    max_cells: int = MAX_CELLS,
    max_nonzeros: int = MAX_NONZEROS,
) -> list[Block]:
    """Split the codes into blocks of bounded size; where they end depends on the data only.

    Raises
    ------
    InputError
        If the tables of a single code are too large.
    """
    per_bin = sum(factor.width for factor in levels)
    widths = [1 if own is None else own.n_bins for own in bins]
    widest = int(np.argmax(widths))
    if (widths[widest] + 1) * per_bin > MAX_CELLS_OF_CODE:
        raise InputError(
            "factors",
            f"{widths[widest] + 1:,} bins of code {codes.names[widest]!r} and {per_bin:,} values of the "
            f"factors make tables too large (at most {MAX_CELLS_OF_CODE:,} cells for a code); use fewer bins, or "
            "leave out the factor with most values",
        )
    found: list[Block] = []
    first, width, held = 0, 0, 0
    for code, (own, filled) in enumerate(zip(widths, codes.n_nonzeros, strict=True)):
        wider = max(width, own)
        too_large = (code + 1 - first) * (wider + 1) * per_bin > max_cells or held + int(filled) > max_nonzeros
        if code > first and too_large:
            found.append(Block(first, code, width))
            first, wider, held = code, own, 0
        width, held = wider, held + int(filled)
    found.append(Block(first, codes.d, width))
    return found


def count_block(
    codes: SparseCodes, bins: Sequence[ColumnBins | None], levels: Sequence[FactorLevels], block: Block
) -> tuple[JointCounts, NDArray[np.float64]]:
    """Count the codes of one block against every factor.

    Parameters
    ----------
    bins : sequence of ColumnBins or None, one per code
    levels : sequence of FactorLevels, one per factor

    Returns
    -------
    (JointCounts, array of shape (codes of the block, 1 + bins))
        The counts of code bins against levels, and those of the code bins alone over all rows. Bin 0 is zero.

    Notes
    -----
    O(non-zeros x n_factors) to count, O(codes x bins x levels) for the tables.
    """
    size, width = block.last - block.first, block.width
    begin = int(codes.starts[block.first])
    rows = codes.rows[begin : int(codes.starts[block.last])]
    cells = np.empty(len(rows), dtype=np.intp)
    for code in range(block.first, block.last):
        own_bins = bins[code]
        if own_bins is not None:
            own = slice(int(codes.starts[code]), int(codes.starts[code + 1]))
            place = slice(own.start - begin, own.stop - begin)
            cells[place] = cut(codes.values[own], own_bins) + (code - block.first) * width
    alone = _with_zero(np.bincount(cells, minlength=size * width).reshape(size, width), np.array(float(codes.n)))
    tables = []
    scaled: dict[int, NDArray[np.intp]] = {}
    for factor in levels:
        if factor.width not in scaled:
            scaled[factor.width] = cells * factor.width
        counts = np.bincount(scaled[factor.width] + factor.labels[rows], minlength=size * width * factor.width)
        counts = counts.reshape(size, width, factor.width)[:, :, : factor.n_levels]
        tables.append(_with_zero(counts, factor.totals))
    n_bins = number_of_bins(codes, bins)[block.first : block.last]
    return JointCounts(tuple(tables), {}, n_bins), alone


def _with_zero(counts: NDArray[np.intp], totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Put the bin of zero in front of those of the non-zeros (axis 1): it holds the rest of each total."""
    whole = np.empty((counts.shape[0], counts.shape[1] + 1, *counts.shape[2:]))
    whole[:, 1:] = counts
    whole[:, 0] = totals - counts.sum(axis=1)
    return whole


def squared_correlation_block(codes: SparseCodes, factors: Sequence[Factor], block: Block) -> NDArray[np.float64]:
    r"""Squared correlation of each code of a block with continuous factors, from sums over the non-zeros.

    .. math:: R^2 = \frac{[\sum (z - \bar z)(v - \bar v)]^2}{\sum (z - \bar z)^2 \sum (v - \bar v)^2}

    over the rows in which the factor is annotated; the zeros enter by their number. The same as
    :func:`demele.estimation.univariate.squared_correlations` of the dense codes, up to rounding.

    Returns
    -------
    array of shape (codes of the block, n_factors)
        In [0, 1]; 0 for a code that is constant on these rows.
    """
    size = block.last - block.first
    filled = codes.n_nonzeros[block.first : block.last]
    own = slice(int(codes.starts[block.first]), int(codes.starts[block.last]))
    rows, column = codes.rows[own], np.repeat(np.arange(size), filled)
    scale = np.maximum(codes.high, -codes.low)[block.first : block.last]
    # as shares of the largest size, so that squares stay within the range of floats
    values = codes.values[own].astype(np.float64) / scale[column]
    # shared by all factors that are annotated on all rows
    moments: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None = None
    found = np.zeros((size, len(factors)))
    for index, factor in enumerate(factors):
        centred, height = _centred(factor)
        weights = None if factor.complete else factor.annotated().astype(np.float64)[rows]
        if moments is None or weights is not None:
            held = np.bincount(column, weights, minlength=size).astype(np.float64)
            mean = np.bincount(column, values if weights is None else values * weights, size) / factor.n_annotated
            deviation = values - mean[column]
            squares = np.square(deviation) if weights is None else np.square(deviation) * weights
            spread = np.bincount(column, squares, size) + (factor.n_annotated - held) * np.square(mean)
            own_moments = mean, deviation, spread
            if weights is None:
                moments = own_moments
        else:
            own_moments = moments
        mean, deviation, spread = own_moments
        at_nonzeros = centred[rows]
        # of the zeros: their codes are all -mean away from the mean. A running sum adds up as bincount does, so that a
        # code without zeros has exactly none.
        at_zeros = np.cumsum(centred)[-1] - np.bincount(column, at_nonzeros, size)
        shared = np.bincount(column, deviation * at_nonzeros, size) - mean * at_zeros
        varies = spread > FLAT * (spread + factor.n_annotated * np.square(mean))
        with np.errstate(divide="ignore", invalid="ignore"):
            found[:, index] = np.where(varies, np.minimum(np.square(shared) / (spread * height), 1.0), 0.0)
    return found


def _centred(factor: Factor) -> tuple[NDArray[np.float64], float]:
    """Return a continuous factor minus its mean, 0 where it is not annotated, in a unit of its own; and its squares."""
    known = factor.annotated()
    values = np.where(known, np.asarray(factor.values, dtype=np.float64), 0.0)
    share = np.where(known, (values - factor.low) / (factor.high - factor.low), 0.0)
    centred = np.where(known, share - share.sum() / factor.n_annotated, 0.0)
    return centred, float(np.square(centred).sum())
