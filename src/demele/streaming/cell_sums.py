"""State of cell sums: rows, means and squares of codes in the cells of all factors, for total effects (OMES).

As the other states of sums, equal in any order to rounding. It grows with the combinations of factor levels that
occur: eight bytes for each, and sixteen for each of them and each code.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, IncompatibleState
from demele.estimation.cell_moments import CellMoments, CellSums, standardised
from demele.streaming.batches import Rows
from demele.streaming.centred import Arrays, Counts, Floats, Scale, check_arrays
from demele.streaming.factor_levels import FactorLevels
from demele.streaming.frame import Frame

if TYPE_CHECKING:
    from demele.estimation.discretise import Binning

#: Deviations of a code, as a share of its largest value in the unit of the frame, that are rounding of its means.
ROUNDING = 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class CellState:
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

    state: ClassVar[str] = "cells"

    codes: Scale
    names: tuple[str, ...]
    levels: FactorLevels
    cells: CellMoments
    low: Floats
    high: Floats
    clipped: int = 0

    @classmethod
    def empty(cls, frame: Frame, rule: "Binning") -> Self:
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

    def merge(self, other: "CellState") -> "CellState":
        """Return the sums of the rows of both.

        Raises
        ------
        IncompatibleState
            If they count other bins, or from other references.
        """
        if not (self.levels.same(other.levels) and self.codes.same(other.codes)):
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
