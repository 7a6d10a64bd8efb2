"""Columns cut into bins, and the joint counts of all codes with all factors, from one pass over the rows.

There is one rule to cut columns for all metrics of a run, computed once per column. To count, several columns are
packed into one integer per row, so that one ``bincount`` fills several tables at once; the tables of pairs are its
marginals. With 10 bins, two codes and two factors make 10 000 cells and four tables.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import prod
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from demele.core.columns import CHUNK, Codes, Factor, Factors
from demele.core.errors import InputError, quoted
from demele.core.table_columns import real_numbers

#: Values within this share of the column's range below an edge count as on it, so that rounding in the unit of a
#: column cannot move them to another bin.
EDGE_TOLERANCE = 1e-10
#: More bins than this are a mistake: tables of pairs grow with their square.
MAX_BINS = 10_000


@dataclass(frozen=True, slots=True)
class ColumnBins:
    """The bins of one column: ``n_bins`` bins between frozen ``edges``, the last one closed.

    ``regular`` bins have equal width, so that a value's bin is a multiplication rather than a search.
    """

    edges: NDArray[np.float64]
    regular: bool

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnBins) and np.array_equal(self.edges, other.edges)

    @property
    def n_bins(self) -> int:
        """Number of bins, at least 1."""
        return max(len(self.edges) - 1, 1)


class Binning(Protocol):
    """A rule that turns a column into bins."""

    def column_bins(self, values: NDArray[np.float64], low: float, high: float) -> ColumnBins:
        """Return the bins of a column of finite values, whose extremes are known."""
        ...

    @property
    def needs_values(self) -> bool:
        """Whether the rule looks at the values, or only at their extremes."""
        ...


@dataclass(frozen=True, slots=True)
class EqualWidth:
    """Bins of equal width between the smallest and the largest value: the choice of the published studies.

    One outlier widens all bins and empties most of them: a score under this rule says so when it happens.
    """

    needs_values: ClassVar[bool] = False
    bins: int = 10

    def __post_init__(self) -> None:
        _check_count(self.bins)

    def column_bins(self, values: NDArray[np.float64], low: float, high: float) -> ColumnBins:
        """Return ``bins`` equal parts of [low, high]; a constant column has one bin."""
        if low == high:
            return ColumnBins(np.array([low, high]), regular=True)
        return ColumnBins(np.linspace(low, high, self.bins + 1), regular=True)


@dataclass(frozen=True, slots=True)
class EqualFrequency:
    """Bins that hold equally many values, equal values never being split.

    Edges lie at quantiles that are values of the column, so ties stay together: a column of 60% zeros has one bin for
    them. Fewer bins than asked for remain when ties are many.
    """

    needs_values: ClassVar[bool] = True
    bins: int = 10

    def __post_init__(self) -> None:
        _check_count(self.bins)

    def column_bins(self, values: NDArray[np.float64], low: float, high: float) -> ColumnBins:
        """Return edges at the distinct lower quantiles of the values."""
        if low == high or values.min() == values.max():
            return ColumnBins(np.array([low, high]), regular=False)
        # Order statistics at exact integer positions: a column repeated whole has the same edges.
        at = len(values) * np.arange(1, self.bins) // self.bins
        inner = np.unique(np.partition(values, at)[at])
        # A value that holds a bin's share or more (60% zeros) is a bin of its own: the next value starts another.
        candidates = np.union1d(inner, [low])
        heavy = [tie for tie in candidates if tie < values.max() and (values == tie).sum() * self.bins >= len(values)]
        inner = np.union1d(inner[inner > low], [values[values > tie].min() for tie in heavy])
        if not inner.size:
            inner = np.array([values[values > low].min()])
        return ColumnBins(np.concatenate([[low], inner, [max(high, np.nextafter(inner[-1], np.inf))]]), regular=False)


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Equal-frequency bins whose number follows the number of rows: 2 n^(1/3), at least 2 and at most ``most``.

    The cube root balances the bias of wide bins, which falls with their number, against that of sparse tables, which
    grows with it (the rate of Freedman & Diaconis 1981 for histograms).
    """

    needs_values: ClassVar[bool] = True
    most: int = 256

    def __post_init__(self) -> None:
        _check_count(self.most)

    def column_bins(self, values: NDArray[np.float64], low: float, high: float) -> ColumnBins:
        """Return equal-frequency bins, as many as the rows support."""
        return self.of_rows(len(values)).column_bins(values, low, high)

    def of_rows(self, n: int) -> EqualFrequency:
        """Return as many equal-frequency bins as n rows support."""
        return EqualFrequency(int(np.clip(round(2 * n ** (1 / 3)), 2, self.most)))


@dataclass(frozen=True, slots=True)
class Edges:
    """Explicit edges, the same for every continuous column; a value outside them is an error.

    Parameters
    ----------
    edges : sequence of float
        Increasing; b + 1 edges make b bins, the last one closed.
    """

    needs_values: ClassVar[bool] = False
    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        edges = real_numbers(self.edges, "bins", "increasing edges")
        if edges.ndim != 1 or len(edges) < 2 or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
            raise InputError("bins", f"expected at least 2 increasing finite edges, got {quoted(self.edges)}")
        object.__setattr__(self, "edges", tuple(float(edge) for edge in edges))

    def column_bins(self, values: NDArray[np.float64], low: float, high: float) -> ColumnBins:
        """Return the given edges.

        Raises
        ------
        InputError
            If a value lies outside them.
        """
        if low < self.edges[0] or high > self.edges[-1]:
            raise InputError(
                "bins",
                f"values from {low:g} to {high:g} do not lie within the edges "
                f"{self.edges[0]:g} to {self.edges[-1]:g}; widen the edges",
            )
        return ColumnBins(np.asarray(self.edges), regular=False)


def cut(values: NDArray[np.floating], bins: ColumnBins, kind: Any = np.intp) -> NDArray[Any]:
    """Return the bin of each value, from 0; NaN (a missing annotation) gets the index ``n_bins``.

    Parameters
    ----------
    values : array of shape (n,)
        Those beyond the outer edges, as true values may be where annotations never go so far, are of the outer bins.
    kind : type of whole numbers
        Which holds ``n_bins``.

    Examples
    --------
    >>> cut(np.array([0.0, 0.24, 0.5, 1.0]), EqualWidth(4).column_bins(np.empty(0), 0.0, 1.0)).tolist()
    [0, 0, 2, 3]
    >>> cut(np.array([-3.0, 1e300]), EqualWidth(4).column_bins(np.empty(0), 0.0, 1.0)).tolist()
    [0, 3]
    """
    n_bins, incomplete = bins.n_bins, True
    values = np.asarray(values, dtype=np.float64)
    if n_bins == 1:
        index = np.zeros(len(values), dtype=kind)
    elif bins.regular:
        low, high = bins.edges[0], bins.edges[-1]
        position = values - low
        position /= high - low
        position += EDGE_TOLERANCE
        position *= n_bins
        np.clip(position, 0, n_bins - 1, out=position)
        incomplete = bool(np.isnan(position.sum()))  # read once where nothing is missing
        with np.errstate(invalid="ignore"):
            index = position.astype(kind)
    else:
        index = np.searchsorted(bins.edges[1:-1], values, side="right").astype(kind, copy=False)
    if incomplete:
        index[np.isnan(values)] = n_bins
    return index


def _check_count(bins: object) -> None:
    if not isinstance(bins, int | np.integer) or isinstance(bins, bool) or not 2 <= bins <= MAX_BINS:
        raise InputError("bins", f"expected a whole number from 2 to {MAX_BINS}, got {quoted(bins)}")


# Joint counts ---------------------------------------------------------------------------------------------------------

#: Cells of one packed table: small enough to stay in a core's cache.
MAX_CELLS = 1 << 17
#: Columns of one packed table: arrays have at most 32 dimensions in NumPy 1, and two tables are counted together.
MOST_PACKED = 15
#: Entries of all tables together, 8 bytes each.
MAX_ENTRIES = 200_000_000


@dataclass(frozen=True, slots=True)
class JointCounts:
    """Counts (or sums of weights) of code bins against factor bins.

    Attributes
    ----------
    tables : tuple of arrays, one per factor, of shape (..., n_codes, code_bins, factor_bins)
        Leading axes are resamples. Rows without an annotation of the factor are not counted in its table.
    factor_tables : mapping of (i, k), i <= k, to arrays (..., bins of i, bins of k)
        Counts of pairs of factors; empty unless asked for.
    code_bins : array of shape (n_codes,)
        Number of bins of each code; tables are padded to the largest.
    """

    tables: tuple[NDArray[np.float64], ...]
    factor_tables: dict[tuple[int, int], NDArray[np.float64]]
    code_bins: NDArray[np.intp]

    @staticmethod
    def stacked(counts: Sequence["JointCounts"]) -> "JointCounts":
        """Return counts under the same bins as one, with an axis more, the first."""
        return JointCounts(
            tuple(np.stack(tables) for tables in zip(*(one.tables for one in counts), strict=True)),
            {pair: np.stack([one.factor_tables[pair] for one in counts]) for pair in counts[0].factor_tables},
            counts[0].code_bins,
        )

    def merge(self, other: "JointCounts") -> "JointCounts":
        """Add the counts of other rows under the same bins."""
        return JointCounts(
            tuple(a + b for a, b in zip(self.tables, other.tables, strict=True)),
            {pair: table + other.factor_tables[pair] for pair, table in self.factor_tables.items()},
            self.code_bins,
        )


@dataclass(frozen=True, slots=True)
class BinnedRows:
    """Rows as bin numbers: ``codes`` (n_codes, n), ``factors`` (n_factors, n); a missing annotation is one bin more."""

    codes: NDArray[np.intp]
    factors: NDArray[np.intp]
    code_bins: NDArray[np.intp]
    factor_bins: NDArray[np.intp]
    incomplete: NDArray[np.bool_]

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])


def column_bins(codes: Codes, factors: Factors, binning: Binning) -> tuple[list[ColumnBins], list[ColumnBins | None]]:
    """Return the frozen bins of every code and of every continuous factor (None for a categorical one)."""
    of_codes = []
    for index, name in enumerate(codes.names):
        values = np.asarray(codes.values[:, index] if binning.needs_values else (), dtype=np.float64)
        of_codes.append(_named(binning, values, float(codes.low[index]), float(codes.high[index]), f"codes: {name!r}"))
    return of_codes, [factor_bins(factor, binning) for factor in factors.columns]


def factor_bins(factor: Factor, binning: Binning) -> ColumnBins | None:
    """Return the bins of a continuous factor; None for a categorical one."""
    if factor.categorical:
        return None
    values = np.asarray(factor.values[factor.annotated()] if binning.needs_values else (), dtype=np.float64)
    return _named(binning, values, factor.low, factor.high, f"factors: {factor.name!r}")


def _named(binning: Binning, values: NDArray[np.float64], low: float, high: float, column: str) -> ColumnBins:
    try:
        return binning.column_bins(values, low, high)
    except InputError as error:
        raise InputError(f"{column}: {error}") from error


def bin_factor(factor: Factor, own_bins: ColumnBins | None, rows: slice = slice(None)) -> NDArray[np.intp]:
    """Return the bin of each row; a missing annotation is one bin more than there are."""
    values = factor.values[rows]
    if own_bins is not None:
        return cut(values, own_bins)
    return values if factor.complete else np.where(values < 0, len(factor.levels), values)


def bin_rows(
    codes: Codes,
    factors: Factors,
    of_codes: Sequence[ColumnBins],
    of_factors: Sequence[ColumnBins | None],
    rows: slice = slice(None),
) -> BinnedRows:
    """Bin some rows of all columns."""
    values = codes.values[rows]
    code_rows = np.empty((codes.d, values.shape[0]), dtype=np.intp)
    for index, bins in enumerate(of_codes):
        code_rows[index] = cut(values[:, index], bins)
    factor_rows = np.empty((factors.m, values.shape[0]), dtype=np.intp)
    n_bins = np.empty(factors.m, dtype=np.intp)
    for index, (factor, own_bins) in enumerate(zip(factors.columns, of_factors, strict=True)):
        n_bins[index] = len(factor.levels) if own_bins is None else own_bins.n_bins
        factor_rows[index] = bin_factor(factor, own_bins, rows)
    incomplete = np.array([not factor.complete for factor in factors.columns])
    return BinnedRows(code_rows, factor_rows, np.array([bins.n_bins for bins in of_codes]), n_bins, incomplete)


def joint_counts(
    codes: Codes,
    factors: Factors,
    of_codes: Sequence[ColumnBins],
    of_factors: Sequence[ColumnBins | None],
    *,
    factor_pairs: bool = False,
) -> JointCounts:
    """Count all pairs of columns in one pass, a chunk of rows at a time.

    Cost: O(n (d + M)) to bin and about O(n d M / 4) additions; memory O(chunk (d + M)) beyond the tables.
    """
    check_size(codes, factors, of_codes, of_factors)
    total: JointCounts | None = None
    for start in range(0, codes.n, CHUNK):
        rows = bin_rows(codes, factors, of_codes, of_factors, slice(start, start + CHUNK))
        part = PackedRows(rows, factor_pairs=factor_pairs).count()
        total = part if total is None else total.merge(part)
    if total is None:  # no rows: the door refuses them
        raise ValueError("no rows to count")
    return total


def check_size(
    codes: Codes,
    factors: Factors,
    of_codes: Sequence[ColumnBins],
    of_factors: Sequence[ColumnBins | None],
) -> None:
    """Refuse tables that no memory holds, those of pairs of factors among them: whatever metric asks.

    Raises
    ------
    InputError
        Naming the factor with most values.
    """
    values = [
        len(factor.levels) if bins is None else bins.n_bins
        for factor, bins in zip(factors.columns, of_factors, strict=True)
    ]
    entries = codes.d * max(bins.n_bins for bins in of_codes) * sum(values) + sum(values) ** 2
    if entries > MAX_ENTRIES:
        widest = int(np.argmax(values))
        raise InputError(
            "factors",
            f"tables of {entries:,} entries are too large (at most {MAX_ENTRIES:,}); factor "
            f"{factors.names[widest]!r} has {values[widest]:,} values: use fewer bins, or leave it out",
        )


@dataclass(frozen=True, slots=True)
class _Pack:
    """Columns packed into one integer per row: ``index``, unpacked to axes of ``shape``."""

    columns: tuple[int, ...]
    shape: tuple[int, ...]
    index: NDArray[Any]


class PackedRows:
    """Binned rows packed once, to be counted once or under many weightings of the rows."""

    def __init__(self, rows: BinnedRows, *, factor_pairs: bool) -> None:
        self.rows = rows
        self.factor_pairs = factor_pairs
        factor_sizes = rows.factor_bins + rows.incomplete  # one more bin where annotations are missing
        budget = min(MAX_CELLS, max(1024, rows.n))
        share = int(np.sqrt(budget))
        self.code_packs = _packs(rows.codes, rows.code_bins, share)
        self.factor_packs = _packs(rows.factors, factor_sizes, share)

    def permuted(self, order: NDArray[np.intp]) -> "PackedRows":
        """Return the same codes with the rows of all factors permuted together."""
        found = copy(self)
        found.factor_packs = [replace(pack, index=pack.index[order]) for pack in self.factor_packs]
        return found

    def count(self, weights: NDArray[np.float64] | None = None) -> JointCounts:
        """Count the rows, each with its weight."""
        rows = self.rows
        most = int(rows.code_bins.max())
        tables = [np.zeros((len(rows.code_bins), most, bins)) for bins in rows.factor_bins]
        for code_pack in self.code_packs:
            for factor_pack in self.factor_packs:
                for code, factor, table in _pair_tables(code_pack, factor_pack, weights):
                    tables[factor][code, : table.shape[0]] = table[:, : rows.factor_bins[factor]]
        pairs: dict[tuple[int, int], NDArray[np.float64]] = {}
        for first, second in combinations_with_replacement(self.factor_packs if self.factor_pairs else (), 2):
            for i, k, table in _pair_tables(first, second, weights):
                if i <= k:
                    pairs[i, k] = table[: rows.factor_bins[i], : rows.factor_bins[k]]
        return JointCounts(tuple(tables), pairs, rows.code_bins)


def _packs(columns: NDArray[np.intp], sizes: NDArray[np.intp], budget: int) -> list[_Pack]:
    """Pack neighbours while their cells stay within the budget, and the columns of two packs within NumPy's axes."""
    groups: list[list[int]] = [[]]
    for column in range(len(sizes)):
        full = len(groups[-1]) == MOST_PACKED  # columns of one bin take no cells
        if full or (groups[-1] and np.prod(sizes[[*groups[-1], column]]) > budget):
            groups.append([])
        groups[-1].append(column)
    packs = []
    for group in groups:
        shape = tuple(int(sizes[column]) for column in group)
        kind = np.min_scalar_type(prod(shape))  # narrow numbers are read and multiplied faster
        index = columns[group[0]].astype(kind)
        for column in group[1:]:
            index *= kind.type(sizes[column])
            index += columns[column].astype(kind, copy=False)
        packs.append(_Pack(tuple(group), shape, index))
    return packs


def _pair_tables(
    first: _Pack, second: _Pack, weights: NDArray[np.float64] | None
) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
    """Count two packs against each other and yield the table of each pair of their columns."""
    sizes = prod(first.shape), prod(second.shape)
    kind = np.min_scalar_type(prod(sizes))
    index = first.index.astype(kind)
    index *= kind.type(sizes[1])
    index += second.index
    cells = np.bincount(index, weights, minlength=prod(sizes)).reshape(first.shape + second.shape)
    for a, column_a in enumerate(first.columns):
        partial = cells.sum(axis=tuple(axis for axis in range(len(first.columns)) if axis != a))
        for b, column_b in enumerate(second.columns):
            others = tuple(axis for axis in range(1, partial.ndim) if axis != b + 1)
            yield column_a, column_b, partial.sum(axis=others).astype(np.float64)


def soft_joint_counts(
    codes: Codes,
    codes_std: NDArray[np.float64],
    factors: Factors,
    of_codes: Sequence[ColumnBins],
    of_factors: Sequence[ColumnBins | None],
) -> JointCounts:
    """Count with rows spread over the bins of a stochastic code, by the Gaussian mass of each bin.

    Each row's mass within the outermost edges counts as in its bins, the tails as in the first and the last bin, so
    that every row weighs 1. A standard deviation of 0 puts the row into its bin.
    """
    most = max(bins.n_bins for bins in of_codes)
    rows = bin_rows(codes, factors, of_codes, of_factors)
    tables = [np.zeros((codes.d, most, bins)) for bins in rows.factor_bins]
    for code, bins in enumerate(of_codes):
        mass = bin_masses(np.asarray(codes.values[:, code], dtype=np.float64), codes_std[:, code], bins)
        for factor, table in enumerate(tables):
            # one cell for each bin of the code and level of the factor; a last level takes what is not annotated
            levels = table.shape[2] + 1
            cell = np.arange(bins.n_bins)[None, :] * levels + rows.factors[factor][:, None]
            count = np.bincount(cell.ravel(), mass.ravel(), minlength=bins.n_bins * levels)
            table[code, : bins.n_bins] = count.reshape(bins.n_bins, levels)[:, :-1]
    return JointCounts(tuple(tables), {}, rows.code_bins)


def bin_masses(mean: NDArray[np.float64], std: NDArray[np.float64], bins: ColumnBins) -> NDArray[np.float64]:
    """Return the mass of N(mean, std) of each row in each bin, (n, n_bins): each row's add up to 1.

    The tails beyond the outermost edges count as in the first and the last bin. A standard deviation of 0 puts the row
    into its bin.
    """
    from scipy.special import ndtr

    inner = bins.edges[1:-1] if bins.n_bins > 1 else np.empty(0)
    below = np.ones((len(mean), bins.n_bins + 1))
    below[:, 0] = 0.0
    sure = std == 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        below[:, 1:-1] = ndtr((inner[None, :] - mean[:, None]) / std[:, None])
    below[sure, 1:-1] = cut(mean[sure], bins)[:, None] < np.arange(1, bins.n_bins)[None, :]
    return np.diff(below, axis=1)
