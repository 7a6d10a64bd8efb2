"""Codes sorted once, for every tree that is grown on them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


#: Just below the largest block that can raise the thresholds of glibc's allocator.
HELD_BYTES = 31 << 20


def hold_freed_memory() -> None:
    """Let the allocator keep the arrays of one level for the next.

    glibc gives large freed blocks back to the system, until it has seen a still larger one freed. Without this, the
    arrays of every level are mapped again, which takes as long as the work on them. The block is never touched, so it
    costs nothing.
    """
    np.empty(HELD_BYTES, dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Presorted:
    """Rows sorted along every code.

    Attributes
    ----------
    order : (n_codes, n_rows) intp
        The rows, by increasing code.
    rank : (n_codes, n_rows) intp
        Dense rank of every row along every code; equal codes share a rank.
    tied : bool
        Whether any code takes a value twice.
    """

    order: Ints
    rank: Ints
    tied: bool

    @property
    def n_codes(self) -> int:
        """Number of codes."""
        return len(self.order)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.order.shape[1])

    def subset(self, rows: Ints) -> "Presorted":
        """Return the same for some rows, renumbered from 0; ranks keep the meaning they had. Sorts nothing."""
        number = np.full(self.n_rows, -1)
        number[rows] = np.arange(len(rows))
        order = number.take(self.order.reshape(-1))
        kept = order.take(np.flatnonzero(order >= 0)).reshape(self.n_codes, -1)
        return Presorted(kept, self.rank.take(rows, axis=1), self.tied)


def presort(codes: Floats) -> Presorted:
    """Sort the rows along every code: once, for all factors and trees.

    Parameters
    ----------
    codes : (n_rows, n_codes) float64

    Notes
    -----
    Cost: O(n_codes * n_rows * log n_rows).

    Examples
    --------
    >>> presort(np.array([[0.5], [0.1], [0.5]])).rank
    array([[1, 0, 1]])
    """
    columns = np.ascontiguousarray(codes.T)
    order = np.argsort(columns, axis=1, kind="stable")
    ordered = np.take_along_axis(columns, order, axis=1)
    steps = np.zeros(order.shape, dtype=np.intp)
    steps[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.cumsum(steps, axis=1), axis=1)
    return Presorted(order, rank, tied=not bool(steps[:, 1:].all()))
