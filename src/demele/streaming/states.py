"""Joint counts under fixed edges, which add up in any order to the same bits."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import IncompatibleState
from demele.estimation.counts import BinnedRows, JointCounts, PackedRows
from demele.streaming.batches import Binned, Rows

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
    counted : JointCounts or None
        Of the rows that were counted; the others wait in ``waiting``.
    n : int
        Rows, counted or waiting.
    annotated : array of int of shape (n_factors,)
        Rows annotated for each factor.
    clipped : int
        Values that were moved to the ends of the ranges.
    """

    binned: Binned
    counted: JointCounts | None = None
    waiting: tuple[tuple[NDArray[Any], NDArray[Any]], ...] = ()
    n: int = 0
    n_waiting: int = 0
    annotated: NDArray[np.int64] | None = None
    clipped: int = 0

    def update(self, rows: Rows) -> "CountState":
        """Add a batch."""
        if rows.n == 0:
            return self
        part = self.binned.cut(rows)
        sizes = np.array(self.binned.n_levels)[:, None]
        annotated = np.count_nonzero(part[1] < sizes, axis=1).astype(np.int64)
        if self.annotated is not None:
            annotated = annotated + self.annotated
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
        codes, factors = (columns.astype(np.intp) for columns in _side_by_side(self.waiting))
        sizes = np.array(self.binned.n_levels, dtype=np.intp)
        incomplete = (factors == sizes[:, None]).any(axis=1)
        rows = BinnedRows(codes, factors, self.binned.code_bins, sizes, incomplete)
        part = PackedRows(rows, factor_pairs=True).count()
        counted = part if self.counted is None else self.counted.merge(part)
        return replace(self, counted=counted, waiting=(), n_waiting=0)

    def merge(self, other: "CountState") -> "CountState":
        """Return the counts of both.

        Raises
        ------
        IncompatibleState
            If they count other bins.
        """
        if not same_binned(self.binned, other.binned):
            raise IncompatibleState("the two count other bins: give both the same frame and the same bins")
        if other.n == 0 or self.n == 0:
            return self if other.n == 0 else other
        mine, theirs = self.settled(), other.settled()
        if mine.counted is None or theirs.counted is None or mine.annotated is None or theirs.annotated is None:
            raise ValueError("a settled state with rows has counts")
        return replace(
            mine,
            counted=mine.counted.merge(theirs.counted),
            n=mine.n + theirs.n,
            annotated=mine.annotated + theirs.annotated,
            clipped=mine.clipped + theirs.clipped,
        )


def _side_by_side(parts: tuple[tuple[NDArray[Any], NDArray[Any]], ...]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Join the binned columns of successive batches."""
    return np.concatenate([part[0] for part in parts], axis=1), np.concatenate([part[1] for part in parts], axis=1)


def same_binned(first: Binned, second: Binned) -> bool:
    """Whether two count the same bins."""
    if first is second:
        return True
    mine, theirs = ((*one.codes, *one.factors) for one in (first, second))
    return (
        first.n_levels == second.n_levels
        and len(mine) == len(theirs)
        and all(
            a is b if a is None or b is None else np.array_equal(a.edges, b.edges)
            for a, b in zip(mine, theirs, strict=True)
        )
    )
