"""States of sums in cells: extremes by factor value for the crossed form of IRS, combinations of levels for OMES.

As the other states of sums, equal in any order to rounding. That of combinations grows with those that occur: eight
bytes for each, and sixteen for each of them and each code.

The general forms of IRS are no metrics of an accumulator; their state,
:class:`demele.estimation.cells.FactorCells`, merges too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, IncompatibleState
from demele.estimation.cells import CellMoments, CellSums, standardised
from demele.estimation.counts import factor_bins
from demele.estimation.discretise import ColumnBins, cut
from demele.estimation.irs import CellExtremes, summarise_extremes
from demele.estimation.moments import CodeMoments
from demele.streaming.frame import BinEdges, Rows
from demele.streaming.sums import Arrays, Counts, Floats, Scale, Sums, centred_columns, check_arrays, shares, squares

if TYPE_CHECKING:
    from demele.estimation.discretise import Binning

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

    def cleared(self) -> Self:
        """Return the state of no rows, the identity of :meth:`merge`."""
        d = len(self.mean)
        zeros = np.zeros(d)
        return replace(self, cells=CellExtremes.empty(d, self.levels.sizes), mean=zeros, square=zeros, clipped=0)

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

    def cleared(self) -> Self:
        """Return the state of no rows, the identity of :meth:`merge`."""
        ends = np.full(len(self.low), np.inf)
        return replace(self, cells=CellMoments.empty(len(ends), self.cells.sizes), low=ends, high=-ends, clipped=0)

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
