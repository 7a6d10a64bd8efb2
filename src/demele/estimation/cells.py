"""Codes summed over cells, the combinations of levels of several factors, in states that add up.

Factors arrive as integer bins from 0; -1 marks a row that is not annotated.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Array, Counts, Flags, Floats, Integers, Rows, pd
from demele.estimation.counts import ColumnBins
from demele.estimation.linear_recovery import CodeMoments, chunks, code_rows

#: A table with one slot for every possible cell is used up to this many slots whatever the number of rows.
_SMALL_TABLE = 1 << 12


@dataclass(frozen=True, slots=True)
class Partition:
    """Items put together by the combination of their levels."""

    group: Rows  # of each item
    example: Rows  # an item of each group

    @property
    def n(self) -> int:
        """Number of groups."""
        return len(self.example)

    def sum(self, values: Floats | Integers) -> Floats:
        """Sum what is given for each item over every group."""
        sums = np.bincount(self.group, weights=values.astype(np.float64, copy=False), minlength=self.n)
        return np.asarray(sums, dtype=np.float64)

    @classmethod
    def of(cls, columns: Sequence[Integers], sizes: Sequence[int], n_items: int) -> Self:
        """Partition in linear time: columns are packed into one integer, which is looked up or hashed."""
        key, span = packed(columns, sizes, n_items)
        if span <= max(_SMALL_TABLE, n_items):
            seen = np.zeros(span, dtype=np.bool_)
            seen[key] = True
            n_groups = int(np.count_nonzero(seen))
            group = (np.cumsum(seen) - 1)[key]
        else:
            group, distinct = pd.factorize(key)  # from 0, in order of appearance, in linear time
            n_groups = len(distinct)
        example = np.zeros(n_groups, dtype=np.intp)
        example[group] = np.arange(n_items)
        return cls(group, example)


def packed(columns: Sequence[Integers], sizes: Sequence[int], n_items: int) -> tuple[Counts, int]:
    """Mixed-radix number of each combination of levels, and how many such numbers there are."""
    key = np.zeros(n_items, dtype=np.int64)
    span = 1
    for column, size in zip(columns, sizes, strict=True):
        if span * size >= 1 << 63:
            key, distinct = pd.factorize(key)
            span = len(distinct)
        key *= size
        key += column
        span *= size
    return key, span


@dataclass(frozen=True, slots=True)
class FactorCells:
    """Number of rows and sum of every code for every combination of factor levels that occurs.

    All that the general form needs, for any choice of codes, factors of interest and nuisance factors.

    Attributes
    ----------
    sizes : tuple of int
        Number of possible levels of each factor.
    levels : ndarray of int, shape (n_factors, n_cells)
        The combination of each cell.
    count : ndarray of int, shape (n_cells,)
        Rows, at least 1.
    total : ndarray, shape (n_codes, n_cells)
        Sums of z - reference.
    moments : CodeMoments
        The codes over all rows; it holds the reference.
    """

    sizes: tuple[int, ...]
    levels: NDArray[np.unsignedinteger[Any]]
    count: Counts
    total: Floats
    moments: CodeMoments

    def partition(self, factors: Sequence[int]) -> Partition:
        """Put the cells together that agree on some factors."""
        own = [self.levels[i] for i in factors], [self.sizes[i] for i in factors]
        return Partition.of(*own, self.levels.shape[1])


def summarise_cells(codes: Array, columns: Sequence[Integers], sizes: Sequence[int]) -> FactorCells:
    """Return the :class:`FactorCells` of codes (n_samples, n_codes) and factor columns, each (n_samples,).

    Levels are integers from 0 to size - 1, all annotated. Cost: O(N (d + M)), two passes; no sort. If few combinations
    are possible they are counted in a table, chunk by chunk; otherwise the packed combinations are hashed at once,
    which takes 16 bytes per row and about 40 per distinct combination, besides the summary itself.
    """
    n_rows, n_codes = codes.shape
    sizes = tuple(map(int, sizes))  # Python's integers: products may be beyond 64 bits
    span = prod(sizes)
    tabulated = span <= max(_SMALL_TABLE, n_rows // 8)
    cells = None if tabulated else Partition.of(columns, sizes, n_rows)
    n_slots = span if cells is None else cells.n
    count = np.zeros(n_slots, dtype=np.int64)
    total = np.zeros((n_codes, n_slots))
    moments = CodeMoments.empty(n_codes)
    for rows in chunks(n_rows):
        lines = code_rows(codes, rows)
        part, centred = CodeMoments.of_rows(lines, moments.reference if moments.n else lines.mean(axis=1))
        moments = moments.merge(part)
        if cells is None:
            slot, _ = packed([column[rows] for column in columns], sizes, rows.stop - rows.start)
        else:
            slot = cells.group[rows]
        if len(count) > len(slot):  # few rows for a large table
            np.add.at(count, slot, 1)
            for line, value in zip(total, centred, strict=True):
                np.add.at(line, slot, value)
        else:
            count += np.bincount(slot, minlength=len(count))
            for line, value in zip(total, centred, strict=True):
                line += np.bincount(slot, weights=value, minlength=len(count))
    decoded: Iterable[Integers]
    if cells is None:
        observed = np.flatnonzero(count)
        count, total = count[observed], total[:, observed]
        decoded = np.unravel_index(observed, sizes) if sizes else ()
    else:
        decoded = (column[cells.example] for column in columns)
    levels = np.empty((len(sizes), len(count)), dtype=np.min_scalar_type(max([1, *sizes]) - 1))
    for line, level in zip(levels, decoded, strict=True):
        line[:] = level
    return FactorCells(sizes, levels, count, total, moments)


# Number of rows, mean and squares of every code in every combination of factor levels, in states that add up ----------
#
# What total effects of factors on codes are computed from, of rows that come in parts. Squares are taken about the mean
# of each cell, so that adding up parts costs no digits (Chan, Golub and LeVeque 1983).


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
    count: Counts
    mean: Floats
    square: Floats

    @classmethod
    def empty(cls, n_codes: int, sizes: Sequence[int]) -> Self:
        """Return the moments of no rows, the identity of :meth:`merge`."""
        levels = np.zeros((len(sizes), 0), dtype=np.min_scalar_type(max([1, *sizes]) - 1))
        return cls(tuple(map(int, sizes)), levels, np.zeros(0, np.int64), *(np.zeros((n_codes, 0)) for _ in range(2)))

    @classmethod
    def of_rows(cls, codes: Floats, columns: Sequence[Integers], sizes: Sequence[int]) -> Self:
        """Return the moments of codes (n_samples, n_codes) at factor levels, each (n_samples,): integers from 0."""
        levels = np.array(columns, dtype=np.min_scalar_type(max([1, *sizes]) - 1))
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

    @property
    def _by_cell(self) -> tuple[Array, ...]:
        """The arrays, whose last axis are the cells."""
        return self.levels, self.count, self.mean, self.square

    def merge(self, other: Self) -> Self:
        """Return the moments of the rows of both; order and grouping matter to rounding and to the order of cells."""
        if self.sizes != other.sizes:
            raise ValueError("the two have other factor levels; fix the bins before the first batch")
        arrays = (np.concatenate(two, axis=-1) for two in zip(self._by_cell, other._by_cell, strict=True))
        return type(self)(self.sizes, *arrays).over(range(len(self.sizes)))

    def where(self, cells: Flags) -> Self:
        """Return the moments of some cells."""
        return type(self)(self.sizes, *(one[..., cells] for one in self._by_cell))


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
    squares: Floats


def standardised(moments: CellMoments, constant: Flags) -> tuple[FactorCells, Floats]:
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


# Total effects of factors on codes ------------------------------------------------------------------------------------
#
# .. math:: T_{ij} = E[\mathrm{Var}(z_j | v_{-i})] / \mathrm{Var}(z_j)
#
# the total-effect (Sobol) index of factor i on code j (Homma & Saltelli 1996), from sums of the codes in the cells of
# the other factors. Factors arrive as integer levels from 0.


@dataclass(frozen=True, slots=True)
class TotalEffects:
    """Total effects, and the number of rows that they use.

    Attributes
    ----------
    effect : array of shape (n_codes, n_factors)
        NaN for constant codes, and for a factor that no two rows differ in alone.
    cells : array of int of shape (n_factors,)
        Cells of the other factors that hold two rows or more.
    rows : array of int of shape (n_factors,)
        Rows in these cells; a row alone in its cell tells nothing of the effect.
    n : int
        Rows in all.
    """

    effect: Floats
    cells: Rows
    rows: Rows
    n: int


def is_grid(cells: FactorCells) -> bool:
    """Whether all combinations of the levels that occur are there, equally often: rows of a design, not a sample."""
    occurring = [len(np.unique(line)) for line in cells.levels]
    return len(cells.count) == int(np.prod(occurring)) and bool((cells.count == cells.count[0]).all())


def total_effects(cells: FactorCells, *, unbiased: bool) -> TotalEffects:
    """Return the total effects of all factors on all codes.

    Parameters
    ----------
    cells : FactorCells
        With codes that have a mean near 0 in their unit: squares are taken about the reference.
    unbiased : bool
        Whether variances within cells have divisor n - 1. Of rows drawn at random, those with divisor n are too small
        by the share of cells among the rows; of a complete grid of K levels they are exact, and the others too large,
        by K / (K - 1).

    Returns
    -------
    TotalEffects
        With effects in [0, 1], but for the unbiased ones, which may be larger.

    Examples
    --------
    >>> grid = np.array([(a, b) for a in range(4) for b in range(4)])
    >>> codes = np.column_stack([grid[:, 0], grid.sum(axis=1)])
    >>> total_effects(summarise_cells(codes, list(grid.T), [4, 4]), unbiased=False).effect
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    moments, m = cells.moments, len(cells.sizes)
    all_squares = moments.squares - moments.total**2 / moments.n
    effect = np.full((len(moments.total), m), np.nan)
    n_cells, n_rows = np.zeros(m, dtype=np.intp), np.zeros(m, dtype=np.intp)
    for i in range(m):
        others = cells.partition([k for k in range(m) if k != i])
        count = others.sum(cells.count)
        means = np.stack([others.sum(line) for line in cells.total]) / count
        within = moments.squares - (count * means**2).sum(axis=1)
        shared = count >= 2
        n_cells[i], n_rows[i] = shared.sum(), count[shared].sum()
        freedom = n_rows[i] - (n_cells[i] if unbiased else 0)
        if freedom > 0:
            with np.errstate(divide="ignore", invalid="ignore"):
                effect[:, i] = np.maximum(within, 0.0) / freedom / (all_squares / moments.n)
    effect[moments.constant] = np.nan
    # a code that does not vary in the cells leaves the rounding of its squares
    effect[effect < 1e-12] = 0.0
    return TotalEffects(effect, n_cells, n_rows, moments.n)


def correlation_effects(codes: Floats, labels: Rows, n_levels: list[int]) -> TotalEffects:
    r"""Return 1 - |r|, r being the correlation of a code's values over pairs of rows that differ in one factor alone.

    Published stand-in for the total effect. A code that is a factor of K levels has
    :math:`r = -1 / (K - 1)`, since no pair has equal values, so that its effect is :math:`1 - 1 / (K - 1)` and not 1.

    Parameters
    ----------
    codes : array of shape (n_samples, n_codes)
    labels : array of int of shape (n_samples, n_factors)
        Levels from 0.
    n_levels : list of int

    Notes
    -----
    Of all pairs, not of drawn ones: sums over pairs of a cell of the other factors are those of all its rows less those
    of each level.
    """
    d = codes.shape[1]
    cells = summarise_cells(np.hstack([codes, codes**2]), list(labels.T), n_levels)
    # sums about the reference of the summary, moved back to the codes as they are
    sums = cells.total + cells.moments.reference[:, None] * cells.count
    return correlations_of_sums(cells, sums[:d], sums[d:])


def correlations_of_sums(cells: FactorCells, first: Floats, second: Floats) -> TotalEffects:
    """Return what :func:`correlation_effects` does, from sums of codes and of their squares in cells.

    Parameters
    ----------
    cells : FactorCells
        Source of levels, counts and constant codes.
    first, second : arrays of shape (n_codes, n_cells)
        Sums of the codes, in their unit and with a mean near 0, and of their squares.
    """
    m, d = len(cells.sizes), len(first)
    effect = np.full((d, m), np.nan)
    n_cells, n_rows = (np.zeros(m, dtype=np.intp) for _ in range(2))
    for i in range(m):
        others = cells.partition([k for k in range(m) if k != i])
        whole = others.sum(cells.count)
        partners = whole[others.group] - cells.count  # of each row of a combination
        pairs = float((cells.count * partners).sum())
        shared = others.sum(partners) > 0
        n_cells[i], n_rows[i] = shared.sum(), whole[shared].sum()
        if not pairs:
            continue
        mean = (first * partners).sum(axis=1) / pairs
        square = (second * partners).sum(axis=1) / pairs - mean**2
        of_cells = np.stack([others.sum(line) for line in first])
        product = ((of_cells**2).sum(axis=1) - (first**2).sum(axis=1)) / pairs - mean**2
        with np.errstate(divide="ignore", invalid="ignore"):
            # a code that is the same in all pairs correlates with itself
            effect[:, i] = np.where(square > 1e-12, 1.0 - np.abs(product / square), 0.0)
    effect[cells.moments.constant[:d]] = np.nan
    return TotalEffects(np.clip(effect, 0.0, 1.0), n_cells, n_rows, int(cells.count.sum()))
