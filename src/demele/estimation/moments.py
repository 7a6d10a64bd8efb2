"""What the forms of interventional robustness share: sums and extremes of codes, rows put together by value."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Flags, Floats, Integers

#: Rows handled at a time: their codes stay in the processor's cache, and a file larger than the memory can be read.
CHUNK = 1 << 13
#: Cell means that differ by less than this many standard deviations differ by rounding only.
ROUNDING = 1e-10


def chunks(n_rows: int) -> Iterator[slice]:
    """Yield slices that together are all rows."""
    for start in range(0, n_rows, CHUNK):
        yield slice(start, min(start + CHUNK, n_rows))


def code_rows(codes: NDArray[Any], rows: slice) -> Floats:
    """Return rows of codes with one contiguous line per code, shape (n_codes, n)."""
    return np.ascontiguousarray(codes[rows].T, dtype=np.float64)


def smallest_unsigned(largest: int) -> np.dtype[Any]:
    """Return the smallest type of unsigned integers that holds a number."""
    return np.min_scalar_type(max(largest, 0))


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotient, NaN, without a warning, where the denominator is 0."""
    out = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


@dataclass(frozen=True, slots=True)
class CodeMoments:
    """Sums and extremes of each code over all rows of a summary; all arrays have shape (n_codes,).

    Attributes
    ----------
    n : int
        Rows.
    reference : ndarray
        The value about which sums are taken; fixed by the first rows, any value inside the data will do.
    total, squares : ndarray
        Sums of z - reference and of its square.
    low, high : ndarray
        Smallest and largest z - reference; inf and -inf if there are no rows.
    """

    n: int
    reference: Floats
    total: Floats
    squares: Floats
    low: Floats
    high: Floats

    @classmethod
    def empty(cls, n_codes: int) -> Self:
        """Return the summary of no rows, the identity of :meth:`merge`."""
        zeros = np.zeros(n_codes)
        return cls(0, zeros, zeros, zeros, np.full(n_codes, np.inf), np.full(n_codes, -np.inf))

    @classmethod
    def of_rows(cls, rows: Floats, reference: Floats) -> tuple[Self, Floats]:
        """Summarise rows (n_codes, n); also return them centred on the reference."""
        centred = rows - reference[:, np.newaxis]
        squares = np.einsum("ij,ij->i", centred, centred)
        extremes = centred.min(axis=1), centred.max(axis=1)
        return cls(rows.shape[1], reference, centred.sum(axis=1), squares, *extremes), centred

    def rebased(self, reference: Floats) -> Self:
        """Return the same summary with sums about another reference."""
        shift = self.reference - reference
        squares = self.squares + shift * (2.0 * self.total + self.n * shift)
        total = self.total + self.n * shift
        return type(self)(self.n, reference, total, squares, self.low + shift, self.high + shift)

    def merge(self, other: Self) -> Self:
        """Return the summary of the rows of both."""
        if not self.n or not other.n:
            return self if self.n else other
        other = other.rebased(self.reference)
        return type(self)(
            self.n + other.n,
            self.reference,
            self.total + other.total,
            self.squares + other.squares,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @property
    def constant(self) -> Flags:
        """Codes with a single value."""
        return ~(self.low < self.high)

    @property
    def deviation(self) -> Floats:
        """Standard deviation (divisor n) of each code; exactly 0 for a constant one, NaN if there are no rows."""
        if not self.n:
            return np.full(len(self.total), np.nan)
        variance = self.squares / self.n - (self.total / self.n) ** 2
        return np.where(self.constant, 0.0, np.sqrt(np.maximum(variance, 0.0)))


@dataclass(frozen=True, slots=True)
class ValueOrder:
    """Rows put together by value: the values that occur, their rows, and the order that puts equal values side by side.

    Rows without a value (-1) are left out of ``order``.
    """

    present: NDArray[np.intp]
    count: NDArray[np.intp]
    order: NDArray[np.intp]

    @classmethod
    def of(cls, bins: Integers, size: int) -> Self:
        """Sort the rows by value, in linear time."""
        # Small unsigned integers are sorted by radix, in linear time; -1 becomes 0 and comes first.
        keys = (bins + 1).astype(smallest_unsigned(size))
        count = np.bincount(keys, minlength=size + 1)
        order = np.argsort(keys, kind="stable")[count[0] :]
        present = np.flatnonzero(count[1:])
        return cls(present, count[1:][present], order)

    @property
    def starts(self) -> NDArray[np.intp]:
        """Where each present value begins in ``order``."""
        return np.cumsum(self.count) - self.count

    def reduce(self, operation: np.ufunc, ordered: Floats) -> Floats:
        """Reduce the last axis of values that stand in ``order`` to one number per present value."""
        return operation.reduceat(ordered, self.starts, axis=-1)

    def parts(self, ordered: Floats) -> Iterator[Floats]:
        """Yield the stretch of the last axis that belongs to each present value."""
        for start, n in zip(self.starts, self.count, strict=True):
            yield ordered[..., start : start + n]


def largest_distance(total: Floats, count: Any, low: Floats, high: Floats) -> Floats:
    """Distance from the mean to the farther extreme; exactly 0 where the extremes are equal."""
    mean = np.clip(total / count, low, high)  # rounding may put a mean outside its own extremes
    return np.asarray(np.maximum(high - mean, mean - low))
