"""States that add up: counts under fixed edges, and bounded samples that do not depend on the order of merging."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import IncompatibleState
from demele.estimation.counts import BinnedRows, JointCounts, PackedRows
from demele.streaming.rows import Binned, Rows

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


@dataclass(frozen=True, slots=True, eq=False)
class SampleState:
    """Rows, at most ``bound`` of them: those with the smallest keys, so that merging in any order keeps the same ones.

    The key of a row is a hash of its stream and its number in it; no row is preferred for its values.

    Attributes
    ----------
    bound : int
    seed : int
    streams : mapping of name to number of rows seen
        As a tuple of pairs, sorted by name.
    parts : tuple of (keys, stream numbers, row numbers, columns)
        Rows as they came; ``columns`` are arrays of equal length. More than ``bound`` rows may wait to be sifted.
    """

    bound: int
    seed: int
    streams: tuple[tuple[str, int], ...] = ()
    parts: tuple["_Part", ...] = ()

    @property
    def n(self) -> int:
        """Rows seen, kept or not."""
        return sum(rows for _, rows in self.streams)

    @property
    def n_kept(self) -> int:
        """Rows that are kept."""
        return min(self.bound, sum(part.keys.size for part in self.parts))

    def update(self, columns: tuple[NDArray[Any], ...], stream: str) -> "SampleState":
        """Add a batch: columns of equal length."""
        n = len(columns[0])
        if n == 0:
            return self
        seen = dict(self.streams)
        start = seen.get(stream, 0)
        seen[stream] = start + n
        grown = replace(self, streams=tuple(sorted(seen.items())))
        numbers = np.arange(start, start + n, dtype=np.int64)
        keys = row_keys(self.seed, stream, numbers)
        if self.parts and self.parts[0].keys.size >= self.bound:  # full: rows with larger keys cannot come in
            near = np.flatnonzero(keys <= self.parts[0].keys.max())
            if not near.size:
                return grown
            keys, numbers, columns = keys[near], numbers[near], tuple(column[near] for column in columns)
        part = _Part(keys, np.full(keys.size, stream, dtype=object), numbers, columns).copied()
        grown = replace(grown, parts=_stacked((*self.parts, part)))
        return grown.sifted() if sum(one.keys.size for one in grown.parts) > 2 * self.bound else grown

    def merge(self, other: "SampleState") -> "SampleState":
        """Return a sample of the rows of both.

        Raises
        ------
        IncompatibleState
            If bounds or seeds differ, or both saw rows of one stream: the same rows would count twice.
        """
        if (self.bound, self.seed) != (other.bound, other.seed):
            raise IncompatibleState(
                f"the two keep other samples: at most {self.bound} rows with seed {self.seed}, and {other.bound} with "
                f"seed {other.seed}"
            )
        shared = {name for name, _ in self.streams} & {name for name, _ in other.streams}
        if shared:
            raise IncompatibleState(
                f"both saw rows of the stream {sorted(shared)[0]!r}: give each accumulator a stream of its own, "
                "such as the number of its process"
            )
        streams = tuple(sorted(self.streams + other.streams))
        return replace(self, streams=streams, parts=self.parts + other.parts).sifted()

    def sifted(self) -> "SampleState":
        """Return the same state with no more rows than its bound."""
        if not self.parts:
            return self
        whole = _joined(self.parts)
        if whole.keys.size > self.bound:
            nearest = np.argpartition(whole.keys, self.bound - 1)[: self.bound]
            whole = whole.take(np.sort(nearest))
        return replace(self, parts=(whole,))

    def rows(self) -> tuple[NDArray[Any], ...]:
        """Return the columns of the rows kept, in the order of stream and number."""
        whole = _joined(self.sifted().parts)
        place = {name: at for at, name in enumerate(sorted((name for name, _ in self.streams), key=_stream_order))}
        streams = np.array([place[name] for name in whole.streams], dtype=np.intp)
        return whole.take(np.lexsort((whole.numbers, streams))).columns


def _stream_order(name: str) -> tuple[bool, int, str]:
    """Sort numbered streams by number: 2 before 10."""
    number = int(name) if name.removeprefix("-").isdecimal() else None
    return number is None, number or 0, name


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    keys: NDArray[np.uint64]
    streams: NDArray[Any]
    numbers: NDArray[np.int64]
    columns: tuple[NDArray[Any], ...]

    def take(self, rows: NDArray[np.intp]) -> "_Part":
        return _Part(
            self.keys[rows], self.streams[rows], self.numbers[rows], tuple(column[rows] for column in self.columns)
        )

    def copied(self) -> "_Part":
        """Return a part that does not change when a caller writes into his batch again."""
        return replace(self, columns=tuple(column.copy() for column in self.columns))


def _stacked(parts: tuple[_Part, ...]) -> tuple[_Part, ...]:
    """Join the last parts while the one before is not much larger, so that few remain however small batches are."""
    stack = list(parts)
    while len(stack) > 1 and stack[-2].keys.size <= 2 * stack[-1].keys.size:
        last = stack.pop()
        stack[-1] = _joined((stack[-1], last))
    return tuple(stack)


def _joined(parts: tuple[_Part, ...]) -> _Part:
    if len(parts) == 1:
        return parts[0]
    return _Part(
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.streams for part in parts]),
        np.concatenate([part.numbers for part in parts]),
        tuple(np.concatenate(columns) for columns in zip(*(part.columns for part in parts), strict=True)),
    )


def row_keys(seed: int, stream: str, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Hash rows to 64 bits: SplitMix64 (Steele, Lea and Flood 2014) from a digest of the stream."""
    start = int.from_bytes(
        hashlib.blake2b(f"{seed}\x1f{stream}".encode(errors="surrogatepass"), digest_size=8).digest(), "big"
    )
    with np.errstate(over="ignore"):
        mixed = np.uint64(start) + (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


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
