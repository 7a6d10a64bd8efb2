"""Counting many rows under fixed bins: a block at a time through the caches, tables of pairs only at the end."""

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.estimation.counts import JointCounts, packed_columns, pair_marginals
from demele.estimation.discretise import EDGE_TOLERANCE, ColumnBins, cut
from demele.estimation.moments import smallest_unsigned
from demele.streaming.frame import Binned

#: Cells of the columns of one pack, so that two packs together are numbered by 16 bits.
CELLS_PER_PACK = 256
#: Rows binned and counted at a time: what is made of them stays in a core's cache.
ROWS_PER_BLOCK = 1 << 15

#: What a pass says that meets other values than the one before.
CHANGED = "codes and factors: values changed between two passes; rows must be the same whenever they are read"

#: Whole counts of packs of codes with packs of factors, and of packs of factors with each other.
Cells = tuple[NDArray[np.int64], ...]


class RowCounter:
    """Joint counts of all codes and factors, filled by :meth:`add`.

    Parameters
    ----------
    binned : Binned
        The bins of all columns.
    incomplete : sequence of bool
        Which factors have missing annotations.
    """

    def __init__(self, binned: Binned, incomplete: Sequence[bool]) -> None:
        self._binned = binned
        self._incomplete = tuple(bool(gaps) for gaps in incomplete)
        code_bins = binned.code_bins
        levels = np.array(binned.n_levels, dtype=np.intp)
        factor_sizes = levels + np.array(incomplete, dtype=np.intp)  # one more bin where annotations are missing
        self._sizes = code_bins, factor_sizes
        self._packs = packed_columns(code_bins, CELLS_PER_PACK), packed_columns(factor_sizes, CELLS_PER_PACK)
        shapes = [
            [tuple(int(sizes[column]) for column in pack) for pack in packs]
            for sizes, packs in zip(self._sizes, self._packs, strict=True)
        ]
        self._shapes = shapes
        of_codes, of_factors = ([int(np.prod(shape)) for shape in own] for own in shapes)
        self._pairs = [(a, b) for a in range(len(of_codes)) for b in range(len(of_factors))]
        self._factor_pairs = list(combinations_with_replacement(range(len(of_factors)), 2))
        self._widths = of_codes, of_factors
        self._cells = [np.zeros(of_codes[a] * of_factors[b], dtype=np.int64) for a, b in self._pairs] + [
            np.zeros(of_factors[a] * (1 if a == b else of_factors[b]), dtype=np.int64) for a, b in self._factor_pairs
        ]
        largest = max(cells.size for cells in self._cells)
        self._rows = int(np.clip(4 * largest, ROWS_PER_BLOCK, 1 << 20))  # large tables are not added to for few rows
        self._kind = smallest_unsigned(int(max(code_bins.max(), factor_sizes.max())))
        self._buffer = np.empty(self._rows)

    @property
    def cells(self) -> Cells:
        """Counts so far, which add up with those of other counters of the same bins."""
        return tuple(self._cells)

    def add(self, codes: Sequence[NDArray[Any]], factors: Sequence[NDArray[Any]]) -> None:
        """Count rows.

        Parameters
        ----------
        codes : sequence of arrays of shape (n,)
            Finite numbers within the ranges of the bins.
        factors : sequence of arrays of shape (n,)
            Values of continuous factors (NaN: not annotated), level numbers of categorical ones (one more than there
            are: not annotated).

        Raises
        ------
        InputError
            If a code leaves the range of its bins.
        """
        for start in range(0, len(codes[0]), self._rows):
            rows = slice(start, start + self._rows)
            binned_codes = [
                self._binned_values(column[rows], bins) for column, bins in zip(codes, self._binned.codes, strict=True)
            ]
            binned_factors = [
                column[rows]
                if bins is None
                else cut(column[rows], bins)
                if gaps
                else self._binned_values(column[rows], bins)
                for column, bins, gaps in zip(factors, self._binned.factors, self._incomplete, strict=True)
            ]
            self._count(
                [self._packed(binned_codes, 0, index) for index in range(len(self._packs[0]))],
                [self._packed(binned_factors, 1, index) for index in range(len(self._packs[1]))],
            )

    def _count(self, codes: list[NDArray[Any]], factors: list[NDArray[Any]]) -> None:
        of_codes, of_factors = self._widths
        for cells, (a, b) in zip(self._cells, self._pairs, strict=False):
            cells += np.bincount(_joined(codes[a], factors[b], of_codes[a], of_factors[b]), minlength=cells.size)
        for cells, (a, b) in zip(self._cells[len(self._pairs) :], self._factor_pairs, strict=True):
            index = factors[a] if a == b else _joined(factors[a], factors[b], of_factors[a], of_factors[b])
            cells += np.bincount(index, minlength=cells.size)

    def _binned_values(self, values: NDArray[Any], bins: ColumnBins) -> NDArray[Any]:
        """Do what ``cut`` does, in buffers and whole numbers of few bytes."""
        low, high = bins.edges[0], bins.edges[-1]
        if not (values.min() >= low and values.max() <= high):
            raise InputError(CHANGED)
        n_bins = bins.n_bins
        if n_bins == 1:
            return np.zeros(len(values), dtype=self._kind)
        if not bins.regular:
            return np.searchsorted(bins.edges[1:-1], np.asarray(values, np.float64), side="right").astype(self._kind)
        position = self._buffer[: len(values)]
        np.subtract(values, low, out=position, dtype=np.float64)
        position /= high - low
        position += EDGE_TOLERANCE
        position *= n_bins
        index = position.astype(self._kind)
        np.minimum(index, n_bins - 1, out=index)
        return index

    def _packed(self, columns: list[NDArray[Any]], side: int, pack: int) -> NDArray[Any]:
        """Return one whole number per row for the columns of a pack."""
        group = self._packs[side][pack]
        kind = smallest_unsigned(self._widths[side][pack])
        index = columns[group[0]].astype(kind, copy=False)
        for column in group[1:]:
            index = index * kind.type(self._sizes[side][column])
            index += columns[column].astype(kind, copy=False)
        return index

    def joint_counts(self, cells: Cells) -> JointCounts:
        """Return the tables of all pairs of columns."""
        code_bins, levels = self._sizes[0], self._binned.n_levels
        tables = [np.zeros((len(code_bins), int(code_bins.max()), bins)) for bins in levels]
        of_codes, of_factors = (
            [*zip(map(tuple, packs), shapes, strict=True)]
            for packs, shapes in zip(self._packs, self._shapes, strict=True)
        )
        for counted, (a, b) in zip(cells, self._pairs, strict=False):
            for code, factor, table in pair_marginals(counted, of_codes[a], of_factors[b]):
                tables[factor][code, : table.shape[0]] = table[:, : levels[factor]]
        found: dict[tuple[int, int], NDArray[np.float64]] = {}
        for counted, (a, b) in zip(cells[len(self._pairs) :], self._factor_pairs, strict=True):
            if a == b:
                found |= _within(counted, of_factors[a])
                continue
            found |= {(i, k): table for i, k, table in pair_marginals(counted, of_factors[a], of_factors[b])}
        factor_tables = {(i, k): table[: levels[i], : levels[k]] for (i, k), table in found.items()}
        return JointCounts(tuple(tables), factor_tables, code_bins)


def _within(
    counted: NDArray[np.int64], pack: tuple[tuple[int, ...], tuple[int, ...]]
) -> dict[tuple[int, int], NDArray[np.float64]]:
    """Return the tables of pairs of the columns of one pack."""
    columns, shape = pack
    cells = counted.reshape(shape)
    axes = range(cells.ndim)
    found = {}
    for a, i in enumerate(columns):
        found[i, i] = np.diag(cells.sum(axis=tuple(axis for axis in axes if axis != a)).astype(np.float64))
        for b in range(a + 1, len(columns)):
            table = cells.sum(axis=tuple(axis for axis in axes if axis not in (a, b)))
            found[i, columns[b]] = table.astype(np.float64)
    return found


def _joined(first: NDArray[Any], second: NDArray[Any], width: int, other: int) -> NDArray[Any]:
    kind = smallest_unsigned(width * other)
    index: NDArray[Any] = first.astype(kind) * kind.type(other)
    index += second
    return index
