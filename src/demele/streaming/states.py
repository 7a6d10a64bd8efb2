"""Joint counts under fixed edges, which add up in any order to the same bits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import IncompatibleState
from demele.estimation.counts import BinnedRows, JointCounts, PackedRows
from demele.estimation.discretise import Binning
from demele.streaming.cell_sums import CellState, ExtremeState
from demele.streaming.frame import BinEdges, Binned, Rows
from demele.streaming.sums import Arrays, Counts, MomentState, ProductState, check_arrays

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

    def cleared(self) -> Self:
        """Return the state of no rows, the identity of :meth:`merge`."""
        return self.empty(self.binned)

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
        return replace(self.cleared(), counted=counted, annotated=arrays["annotated"], n=n, clipped=clipped)


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
