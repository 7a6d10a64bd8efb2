"""Joint counts under fixed edges, which add up in any order to the same bits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Counts, Floats
from demele.core.errors import FormatError, IncompatibleState
from demele.estimation.cells import CellMoments, CellSums, standardised
from demele.estimation.counts import BinnedRows, JointCounts, PackedRows, factor_bins
from demele.estimation.discretise import Binning, ColumnBins, cut
from demele.estimation.irs import CellExtremes, summarise_extremes
from demele.estimation.linear_recovery import CodeMoments
from demele.streaming.frame import BinEdges, Binned, Rows
from demele.streaming.sums import (
    Arrays,
    MomentState,
    ProductState,
    Scale,
    Sums,
    centred_columns,
    check_arrays,
    shares,
    squares,
)

if TYPE_CHECKING:
    from demele.estimation.discretise import Binning


# States of sums in cells ----------------------------------------------------------------------------------------------
#
# As the other states of sums, equal in any order to rounding. That of combinations grows with those that occur: eight
# bytes for each, and sixteen for each of them and each code.
#

#: Deviations of a code, as a share of its largest value in the unit of the frame, that are rounding of its means.
ROUNDING = 1e-14


@dataclass(frozen=True, slots=True)
class FactorLevels:
    """What the values of factors are counted as.

    Attributes
    ----------
    bins : tuple of ColumnBins or None
        Of each continuous factor, fixed; None for a categorical one.
    sizes : tuple of int
        Number of levels of each factor.
    """

    bins: tuple[ColumnBins | None, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, frame: BinEdges, rule: "Binning") -> Self:
        """Return the levels under a rule.

        Raises
        ------
        InputError
            If the rule looks at values that the frame has not seen.
        """
        if rule in frame.exact or rule.needs_values:
            bins = frame.bins(rule).factors
        else:  # of factors only: nothing is counted by the bins of codes
            _, factors = frame.described(2, [2] * len(frame.columns))
            bins = tuple(factor_bins(factor, rule) for factor in factors.columns)
        sizes = tuple(
            len(column.levels) if own is None else own.n_bins for column, own in zip(frame.columns, bins, strict=True)
        )
        return cls(bins, sizes)

    def read(self, rows: Rows) -> tuple[NDArray[np.intp], int]:
        """Return levels (n, n_factors), -1 where not annotated, and how many values were moved into the ranges."""
        labels = np.empty((rows.n, len(self.bins)), dtype=np.intp, order="F")
        clipped = 0
        for index, (values, own) in enumerate(zip(rows.factors, self.bins, strict=True)):
            labels[:, index] = values if own is None else cut(values, own)
            if rows.unclipped is not None and own is not None:
                raw = rows.unclipped.factors[index]
                clipped += int(((raw != values) & ~np.isnan(raw)).sum())
        labels[labels >= np.array(self.sizes)] = -1
        return labels, clipped


@dataclass(frozen=True, slots=True, eq=False)
class ExtremeState(Sums):
    """Number, sum and extremes of every code at every value of every factor, for the crossed form of IRS.

    Attributes
    ----------
    codes : Scale
    levels : FactorLevels
    cells : CellExtremes
        About the middles of the frame's ranges, in the unit of ``codes``.
    mean, square : arrays of shape (n_codes,)
        Of the codes over all rows: mean, and sum of squares about it.
    clipped : int
        Values of factors that were moved to the ends of the ranges.
    """

    codes: Scale
    levels: FactorLevels
    cells: CellExtremes
    mean: Floats
    square: Floats
    clipped: int = 0

    @classmethod
    def empty(cls, frame: BinEdges, rule: "Binning") -> Self:
        """Return the state of no rows.

        Raises
        ------
        InputError
            If the rule looks at values that the frame has not seen.
        """
        levels = FactorLevels.of(frame, rule)
        d = len(frame.codes)
        zeros = np.zeros(d)
        return cls(Scale.of(frame.low, frame.high), levels, CellExtremes.empty(d, levels.sizes), zeros, zeros)

    @property
    def n(self) -> int:
        """Rows."""
        return self.cells.moments.n

    @property
    def annotated(self) -> Counts:
        """Rows annotated for each factor."""
        return np.array([count.sum() for count in self._counts()], dtype=np.int64)

    @property
    def varying(self) -> list[int]:
        """Factors that fall into more than one bin."""
        return [index for index, count in enumerate(self._counts()) if (count > 0).sum() > 1]

    def _counts(self) -> list[Counts]:
        return np.split(self.cells.count, self.cells.offsets[1:-1])

    def update(self, rows: Rows) -> "ExtremeState":
        """Add a batch; codes outside the ranges count as they are, factors in the first or last bin."""
        if rows.n == 0:
            return self
        labels, clipped = self.levels.read(rows)
        scaled = self.codes.scaled((rows.unclipped or rows).codes)
        mean, centred = centred_columns(scaled)
        cells = summarise_extremes(scaled, labels, self.levels.sizes, reference=np.zeros(len(self.mean)))
        return self.merge(replace(self, cells=cells, mean=mean, square=squares(centred), clipped=clipped))

    def merge(self, other: object) -> "ExtremeState":
        """Return the extremes of the rows of both.

        Raises
        ------
        IncompatibleState
            If they count other bins, or from other references.
        """
        if not isinstance(other, ExtremeState) or self.levels != other.levels or not self.codes.same(other.codes):
            raise IncompatibleState("the two have other bins or references: give both the same frame and the same bins")
        share, both = shares(np.array(self.n), np.array(other.n))
        step = other.mean - self.mean
        return replace(
            self,
            cells=self.cells.merge(other.cells),
            mean=self.mean + share * step,
            square=self.square + other.square + both * step**2,
            clipped=self.clipped + other.clipped,
        )

    def of_varying(self, factors: Sequence[int] | None = None) -> CellExtremes:
        """Return the extremes for the factors that vary, or these, with the moments of all codes about their means."""
        active = self.varying if factors is None else list(factors)
        cells, moments = self.cells, self.cells.moments
        ranges = [np.arange(cells.offsets[i], cells.offsets[i + 1]) for i in active]
        columns = np.concatenate(ranges)
        # spreads from squares about the mean, not about a reference that may be far from it
        about_mean = CodeMoments(
            moments.n,
            self.mean,
            np.zeros_like(self.mean),
            self.square,
            moments.low - self.mean,
            moments.high - self.mean,
        )
        return CellExtremes(
            np.concatenate(([0], np.cumsum([len(one) for one in ranges], dtype=np.intp))),
            cells.count[columns],
            cells.total[:, columns],
            cells.low[:, columns],
            cells.high[:, columns],
            about_mean,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a state holds besides frame and bins, by name."""
        cells, moments = self.cells, self.cells.moments
        return {
            "n": np.array(self.n, dtype=np.int64),
            "clipped": np.array(self.clipped, dtype=np.int64),
            "mean": self.mean,
            "square": self.square,
            **{name: getattr(cells, name) for name in ("count", "total", "low", "high")},
            **{f"code_{name}": getattr(moments, name) for name in ("total", "squares", "low", "high")},
        }

    def restored(self, arrays: Arrays) -> "ExtremeState":
        """Return the state that held these arrays.

        Raises
        ------
        FormatError
            If they are not those of such a state.
        """
        check_arrays(self.arrays(), arrays, at_least_zero=("n", "clipped", "square", "count", "code_squares"))
        n = int(arrays["n"])
        offsets = self.cells.offsets
        counts = [part.sum() for part in np.split(arrays["count"], offsets[1:-1])]
        occupied = arrays["count"] > 0
        ordered = (arrays["low"] <= arrays["high"])[:, occupied].all()
        if max(counts) > n or not ordered or (n and not (arrays["code_low"] <= arrays["code_high"]).all()):
            raise FormatError("accumulator", "the extremes of this state contradict one another")
        zeros = np.zeros(len(self.mean))
        totals, squares, low, high = (arrays[f"code_{name}"] for name in ("total", "squares", "low", "high"))
        moments = CodeMoments(n, zeros, totals, squares, low, high)
        cells = CellExtremes(offsets, arrays["count"], arrays["total"], arrays["low"], arrays["high"], moments)
        clipped = int(arrays["clipped"])
        return replace(self, cells=cells, mean=arrays["mean"], square=arrays["square"], clipped=clipped)


@dataclass(frozen=True, slots=True, eq=False)
class CellState(Sums):
    """Rows, means and squares of every code in every combination of levels of the factors.

    Attributes
    ----------
    codes : Scale
    names : tuple of str
        The factors.
    levels : FactorLevels
    cells : CellMoments
        Of levels with one more for each factor: rows that are not annotated for it.
    low, high : arrays of shape (n_codes,)
        Extremes of the codes, in the unit of ``codes``; inf and -inf before the first rows.
    clipped : int
        Values of factors that were moved to the ends of the ranges.
    """

    codes: Scale
    names: tuple[str, ...]
    levels: FactorLevels
    cells: CellMoments
    low: Floats
    high: Floats
    clipped: int = 0

    @classmethod
    def empty(cls, frame: BinEdges, rule: "Binning") -> Self:
        """Return the state of no rows.

        Raises
        ------
        InputError
            If the rule looks at values that the frame has not seen.
        """
        levels = FactorLevels.of(frame, rule)
        d = len(frame.codes)
        cells = CellMoments.empty(d, [size + 1 for size in levels.sizes])
        ends = np.full(d, np.inf)
        return cls(Scale.of(frame.low, frame.high), frame.factors, levels, cells, ends, -ends)

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.cells.count.sum())

    @property
    def _known(self) -> NDArray[np.bool_]:
        """Which cells, (n_factors, n_cells), are of rows that are annotated."""
        return np.asarray(self.cells.levels < np.array(self.levels.sizes)[:, None])

    @property
    def annotated(self) -> Counts:
        """Rows annotated for each factor."""
        return np.asarray(self._known @ self.cells.count, dtype=np.int64)

    @property
    def varying(self) -> list[int]:
        """Factors that fall into more than one bin."""
        pairs = enumerate(zip(self.cells.levels, self._known, strict=True))
        return [index for index, (line, known) in pairs if len(np.unique(line[known])) > 1]

    def update(self, rows: Rows) -> "CellState":
        """Add a batch; codes outside the ranges count as they are, factors in the first or last bin."""
        if rows.n == 0:
            return self
        labels, clipped = self.levels.read(rows)
        columns = [np.where(line < 0, size, line) for line, size in zip(labels.T, self.levels.sizes, strict=True)]
        scaled = self.codes.scaled((rows.unclipped or rows).codes)
        part = replace(
            self,
            cells=CellMoments.of_rows(scaled, columns, self.cells.sizes),
            low=scaled.min(axis=0),
            high=scaled.max(axis=0),
            clipped=clipped,
        )
        return self.merge(part)

    def merge(self, other: object) -> "CellState":
        """Return the sums of the rows of both.

        Raises
        ------
        IncompatibleState
            If they count other bins, or from other references.
        """
        if not isinstance(other, CellState) or self.levels != other.levels or not self.codes.same(other.codes):
            raise IncompatibleState("the two have other bins or references: give both the same frame and the same bins")
        return replace(
            self,
            cells=self.cells.merge(other.cells),
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            clipped=self.clipped + other.clipped,
        )

    def of_varying(self, factors: Sequence[int] | None = None) -> CellSums:
        """Return the sums in the cells of the factors that vary, or of these, over rows annotated for all of them."""
        active = self.varying if factors is None else list(factors)
        cells = self.cells.where(np.all(self._known[active], axis=0)).over(active)
        # annotated rows may share one value of a code that others do not: their squares are then rounding of its mean
        reach = np.maximum(np.abs(self.low), np.abs(self.high))
        spread = np.sqrt(cells.square.sum(axis=1) / max(int(cells.count.sum()), 1))
        means = np.ptp(cells.mean, axis=1) if cells.count.size else np.zeros(len(reach))
        constant = ~(self.low < self.high) | (np.maximum(spread, means) <= ROUNDING * reach)
        bins = tuple(self.levels.bins[index] for index in active)
        return CellSums(tuple(self.names[index] for index in active), bins, *standardised(cells, constant))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a state holds besides frame and bins, by name."""
        cells = {name: getattr(self.cells, name) for name in ("levels", "count", "mean", "square")}
        return {"clipped": np.array(self.clipped, dtype=np.int64), "low": self.low, "high": self.high, **cells}

    def restored(self, arrays: Arrays) -> "CellState":
        """Return the state that held these arrays.

        Raises
        ------
        FormatError
            If they are not those of such a state.
        """
        n_cells = arrays["count"].size if "count" in arrays else 0
        cells = self.cells
        expected = self.arrays() | {
            "levels": np.empty((len(cells.sizes), n_cells), dtype=cells.levels.dtype),
            "count": np.empty(n_cells, dtype=np.int64),
            **{name: np.empty((len(self.low), n_cells)) for name in ("mean", "square")},
        }
        check_arrays(expected, arrays, at_least_zero=("clipped", "count", "square"))
        levels, count = arrays["levels"], arrays["count"]
        distinct = np.unique(levels, axis=1).shape[1] == n_cells if n_cells else True
        within = (levels < np.array(cells.sizes)[:, None]).all()
        ordered = not n_cells or (arrays["low"] <= arrays["high"]).all()
        if not (within and distinct and ordered and (count > 0).all()):
            raise FormatError("accumulator", "the cells of this state contradict one another")
        kept = CellMoments(cells.sizes, levels, count, arrays["mean"], arrays["square"])
        return replace(self, cells=kept, low=arrays["low"], high=arrays["high"], clipped=int(arrays["clipped"]))


#: Binned rows kept uncounted: counting many at once costs less than counting each batch.
BUFFERED = 1 << 16
#: Batches that wait side by side: longer lists cost more to add to than a batch of few rows does to bin.
WAITING = 256


@dataclass(frozen=True, slots=True, eq=False)
class CountState:
    """Joint counts of all codes and factors, whole numbers: batches add up in any order to the same bits.

    Attributes
    ----------
    binned : Binned
        The bins, fixed.
    counted : JointCounts
        Of the rows that were counted; the others wait in ``waiting``.
    n : int
        Rows, counted or waiting.
    annotated : array of int of shape (n_factors,)
        Rows annotated for each factor.
    clipped : int
        Values that were moved to the ends of the ranges.
    """

    binned: Binned
    counted: JointCounts
    annotated: Counts
    waiting: tuple[tuple[NDArray[Any], NDArray[Any]], ...] = ()
    n: int = 0
    n_waiting: int = 0
    clipped: int = 0

    @classmethod
    def empty(cls, binned: Binned) -> Self:
        """Return the state of no rows."""
        sizes, code_bins = binned.n_levels, binned.code_bins
        tables = tuple(np.zeros((len(code_bins), int(code_bins.max()), size)) for size in sizes)
        pairs = {(i, k): np.zeros((sizes[i], sizes[k])) for i, k in combinations_with_replacement(range(len(sizes)), 2)}
        return cls(binned, JointCounts(tables, pairs, code_bins), np.zeros(len(sizes), dtype=np.int64))

    @property
    def varying(self) -> list[int]:
        """Factors that fall into more than one bin, of the rows that were counted."""
        return [index for index, table in enumerate(self.counted.tables) if (table[0].sum(axis=0) > 0).sum() > 1]

    def update(self, rows: Rows) -> "CountState":
        """Add a batch."""
        if rows.n == 0:
            return self
        part = self.binned.cut(rows)
        sizes = np.array(self.binned.n_levels)[:, None]
        annotated = self.annotated + np.count_nonzero(part[1] < sizes, axis=1)
        waiting = (*self.waiting, part)
        if len(waiting) > WAITING:
            waiting = (_side_by_side(waiting),)
        grown = replace(
            self,
            waiting=waiting,
            n=self.n + rows.n,
            n_waiting=self.n_waiting + rows.n,
            annotated=annotated,
            clipped=self.clipped + rows.clipped,
        )
        return grown.settled() if grown.n_waiting >= BUFFERED else grown

    def settled(self) -> "CountState":
        """Return the same state with all rows counted."""
        if not self.waiting:
            return self
        codes, factors = _side_by_side(self.waiting)
        sizes = np.array(self.binned.n_levels, dtype=np.intp)
        rows = BinnedRows(codes, factors, self.binned.code_bins, sizes, self.annotated < self.n)
        counted = self.counted.merge(PackedRows(rows, factor_pairs=True).count())
        return replace(self, counted=counted, waiting=(), n_waiting=0)

    def merge(self, other: object) -> "CountState":
        """Return the counts of both.

        Raises
        ------
        IncompatibleState
            If they count other bins.
        """
        if not isinstance(other, CountState) or self.binned != other.binned:
            raise IncompatibleState("the two count other bins: give both the same frame and the same bins")
        if other.n == 0 or self.n == 0:
            return self if other.n == 0 else other
        mine, theirs = self.settled(), other.settled()
        return replace(
            mine,
            counted=mine.counted.merge(theirs.counted),
            n=mine.n + theirs.n,
            annotated=mine.annotated + theirs.annotated,
            clipped=mine.clipped + theirs.clipped,
        )

    def of_varying(self, factors: Sequence[int] | None = None) -> JointCounts:
        """Return the counts of some factors; of those that vary, if none are given."""
        counts, active = self.settled().counted, self.varying if factors is None else list(factors)
        pairs = {
            (active.index(i), active.index(k)): table
            for (i, k), table in counts.factor_tables.items()
            if i in active and k in active
        }
        return JointCounts(tuple(counts.tables[index] for index in active), pairs, counts.code_bins)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a state holds besides its bins, by name."""
        own = self.settled()
        return {
            **{name: np.array(getattr(own, name), dtype=np.int64) for name in ("n", "clipped", "annotated")},
            **{f"table {index}": table for index, table in enumerate(own.counted.tables)},
            **{f"pair {i} {k}": table for (i, k), table in own.counted.factor_tables.items()},
        }

    def restored(self, arrays: Arrays) -> "CountState":
        """Return the state that held these arrays.

        Raises
        ------
        FormatError
            If they are not those of such a state.
        """
        check_arrays(self.arrays(), arrays, at_least_zero=tuple(arrays))
        tables = tuple(arrays[f"table {index}"] for index in range(len(self.binned.n_levels)))
        pairs = {(i, k): arrays[f"pair {i} {k}"] for i, k in self.counted.factor_tables}
        counted = replace(self.counted, tables=tables, factor_tables=pairs)
        n, clipped = int(arrays["n"]), int(arrays["clipped"])
        return replace(self, counted=counted, annotated=arrays["annotated"], n=n, clipped=clipped)


def _side_by_side(parts: tuple[tuple[NDArray[Any], NDArray[Any]], ...]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Join the binned columns of successive batches."""
    return np.concatenate([part[0] for part in parts], axis=1), np.concatenate([part[1] for part in parts], axis=1)


#: What a state is kept by: what it holds, and the rule of its bins (None where values are summed as they are).
Key = tuple[str, Binning | None]
State = CountState | MomentState | ProductState | ExtremeState | CellState


def key_of(state: str, options: Mapping[str, Any]) -> Key:
    """Return the key of the state that a metric with these options reads."""
    return state, None if state in ("moments", "products") else options["bins"]


def empty_state(key: Key, frame: BinEdges) -> State:
    """Return the state of no rows under a frame."""
    state, rule = key
    if rule is None:
        return MomentState.empty(frame) if state == "moments" else ProductState.empty(frame)
    if state == "table":
        return CountState.empty(frame.bins(rule))
    return ExtremeState.empty(frame, rule) if state == "extremes" else CellState.empty(frame, rule)
