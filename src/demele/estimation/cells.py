"""Codes summed over cells, the combinations of levels of several factors, in states that add up.

Factors arrive as integer bins from 0; -1 marks a row that is not annotated.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from demele.estimation.moments import (
    CodeMoments,
    FloatArray,
    IntArray,
    chunks,
    code_rows,
    smallest_unsigned,
)

#: A table with one slot for every possible cell is used up to this many slots whatever the number of rows.
_SMALL_TABLE = 1 << 12


@dataclass(frozen=True, slots=True)
class Partition:
    """Items put together by the combination of their levels."""

    group: NDArray[np.intp]  # of each item
    example: NDArray[np.intp]  # an item of each group

    @property
    def n(self) -> int:
        """Number of groups."""
        return len(self.example)

    def sum(self, values: FloatArray | IntArray) -> FloatArray:
        """Sum what is given for each item over every group."""
        sums = np.bincount(self.group, weights=values.astype(np.float64, copy=False), minlength=self.n)
        return np.asarray(sums, dtype=np.float64)

    @classmethod
    def of(cls, columns: Sequence[IntArray], sizes: Sequence[int], n_items: int) -> Self:
        """Partition in linear time: columns are packed into one integer, which is looked up or hashed."""
        key, span = _packed(columns, sizes, n_items)
        if span <= max(_SMALL_TABLE, n_items):
            seen = np.zeros(span, dtype=np.bool_)
            seen[key] = True
            n_groups = int(np.count_nonzero(seen))
            group = (np.cumsum(seen) - 1)[key]
        else:
            group, n_groups = _hashed(key)
        example = np.zeros(n_groups, dtype=np.intp)
        example[group] = np.arange(n_items)
        return cls(group, example)


def _packed(columns: Sequence[IntArray], sizes: Sequence[int], n_items: int) -> tuple[NDArray[np.int64], int]:
    """Mixed-radix number of each combination of levels, and how many such numbers there are."""
    key = np.zeros(n_items, dtype=np.int64)
    span = 1
    for column, size in zip(columns, sizes, strict=True):
        if span * size >= 1 << 63:
            key, span = _hashed(key)
        key *= size
        key += column
        span *= size
    return key, span


def _hashed(key: NDArray[np.int64]) -> tuple[NDArray[np.intp], int]:
    """Replace keys by numbers from 0, in order of appearance, in linear time; also return how many there are."""
    import pandas as pd

    number, distinct = pd.factorize(key)
    return number, len(distinct)


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
    count: NDArray[np.int64]
    total: FloatArray
    moments: CodeMoments

    @classmethod
    def empty(cls, n_codes: int, sizes: Sequence[int]) -> Self:
        """Return the summary of no rows, the identity of :meth:`merge`."""
        levels = np.zeros((len(sizes), 0), dtype=smallest_unsigned(max(sizes, default=1) - 1))
        return cls(
            tuple(map(int, sizes)), levels, np.zeros(0, np.int64), np.zeros((n_codes, 0)), CodeMoments.empty(n_codes)
        )

    def merge(self, other: Self) -> Self:
        """Return the summary of the rows of both; order and grouping matter to rounding and to the order of cells."""
        if self.sizes != other.sizes:
            raise ValueError("the two summaries have other factor levels; fix the bins before the first batch")
        moments = self.moments.merge(other.moments)
        levels = np.concatenate((self.levels, other.levels), axis=1)
        count = np.concatenate((self.count, other.count))
        total = np.concatenate((self._total_about(moments.reference), other._total_about(moments.reference)), axis=1)
        cells = self._partition(levels, range(len(self.sizes)))
        return type(self)(
            self.sizes,
            levels[:, cells.example],
            cells.sum(count).astype(np.int64),
            np.stack([cells.sum(line) for line in total]) if len(total) else np.zeros((0, cells.n)),
            moments,
        )

    def _total_about(self, reference: FloatArray) -> FloatArray:
        return self.total + (self.moments.reference - reference)[:, np.newaxis] * self.count

    def _partition(self, levels: IntArray, factors: Sequence[int]) -> Partition:
        return Partition.of([levels[i] for i in factors], [self.sizes[i] for i in factors], levels.shape[1])

    def partition(self, factors: Sequence[int]) -> Partition:
        """Put the cells together that agree on some factors."""
        return self._partition(self.levels, factors)


def summarise_cells(codes: NDArray[Any], columns: Sequence[IntArray], sizes: Sequence[int]) -> FactorCells:
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
            slot, _ = _packed([column[rows] for column in columns], sizes, rows.stop - rows.start)
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
    decoded: Iterable[IntArray]
    if cells is None:
        observed = np.flatnonzero(count)
        count, total = count[observed], total[:, observed]
        decoded = np.unravel_index(observed, sizes) if sizes else ()
    else:
        decoded = (column[cells.example] for column in columns)
    levels = np.empty((len(sizes), len(count)), dtype=smallest_unsigned(max(sizes, default=1) - 1))
    for line, level in zip(levels, decoded, strict=True):
        line[:] = level
    return FactorCells(sizes, levels, count, total, moments)
