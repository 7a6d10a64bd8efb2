"""A bounded sample of rows that does not depend on the order of merging, and what is said of its scores."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import IncompatibleState
from demele.core.results import Note, Score
from demele.core.signature import Signature
from demele.streaming.batches import Names
from demele.streaming.frame import BinEdges


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
    parts: tuple["SampledRows", ...] = ()

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
        part = SampledRows(keys, np.full(keys.size, stream, dtype=object), numbers, columns).copied()
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
        whole = joined_rows(self.parts)
        if whole.keys.size > self.bound:
            nearest = np.argpartition(whole.keys, self.bound - 1)[: self.bound]
            whole = whole.take(np.sort(nearest))
        return replace(self, parts=(whole,))

    def rows(self) -> tuple[NDArray[Any], ...]:
        """Return the columns of the rows kept, in the order of stream and number."""
        whole = joined_rows(self.sifted().parts)
        place = {name: at for at, name in enumerate(sorted((name for name, _ in self.streams), key=_stream_order))}
        streams = np.array([place[name] for name in whole.streams], dtype=np.intp)
        return whole.take(np.lexsort((whole.numbers, streams))).columns


def _stream_order(name: str) -> tuple[bool, int, str]:
    """Sort numbered streams by number: 2 before 10."""
    number = int(name) if name.removeprefix("-").isdecimal() else None
    return number is None, number or 0, name


@dataclass(frozen=True, slots=True, eq=False)
class SampledRows:
    """Rows that are kept: keys, streams, numbers within these, and columns."""

    keys: NDArray[np.uint64]
    streams: NDArray[Any]
    numbers: NDArray[np.int64]
    columns: tuple[NDArray[Any], ...]

    def take(self, rows: NDArray[np.intp]) -> "SampledRows":
        """Return some of the rows."""
        return SampledRows(
            self.keys[rows], self.streams[rows], self.numbers[rows], tuple(column[rows] for column in self.columns)
        )

    def copied(self) -> "SampledRows":
        """Return a part that does not change when a caller writes into his batch again."""
        return replace(self, columns=tuple(column.copy() for column in self.columns))


def _stacked(parts: tuple[SampledRows, ...]) -> tuple[SampledRows, ...]:
    """Join the last parts while the one before is not much larger, so that few remain however small batches are."""
    stack = list(parts)
    while len(stack) > 1 and stack[-2].keys.size <= 2 * stack[-1].keys.size:
        last = stack.pop()
        stack[-1] = joined_rows((stack[-1], last))
    return tuple(stack)


def joined_rows(parts: Sequence[SampledRows]) -> SampledRows:
    """Return the rows of at least one part, one behind the other."""
    if len(parts) == 1:
        return parts[0]
    return SampledRows(
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


# Scores of a sample ---------------------------------------------------------------------------------------------------


def as_tables(columns: tuple[NDArray[Any], ...], names: Names, frame: BinEdges | None) -> tuple[Any, Any, Any]:
    """Return codes, factors and standard deviations (or None) of the columns of rows that were kept."""
    d, m = len(names[0]), len(names[1])
    own = columns[d : d + m]
    return (
        table_of_columns(columns[:d], names[0], "z"),
        table_of_columns(own, names[1], "v") if frame is None else frame.restored(own),
        np.column_stack(columns[d + m :]) if len(columns) > d + m else None,
    )


def table_of_columns(columns: Sequence[Any], names: tuple[str, ...], default: str) -> Any:
    """Return columns as they came: an array of rows if they have no names, else a frame.

    Solvers that sum in another order, as they do for another layout, give other last bits.
    """
    numeric = all(isinstance(column, np.ndarray) and column.dtype.kind in "fiub" for column in columns)
    if numeric and names == tuple(f"{default}{index + 1}" for index in range(len(columns))):
        return np.column_stack(columns)
    import pandas as pd

    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def of_sample(score: Score, n_kept: int, n: int, how: str, context: Mapping[str, str]) -> Score:
    """Say of how many rows a sampled score is, where it is not of all; ``context`` is what its signature adds."""
    if n_kept == n:
        return score
    note = Note(code="sampled", message=f"of a random sample of {n_kept:,} of {n:,} rows ({how})")
    return with_context(replace(score, notes=(*score.notes, note)), context)


def with_context(score: Score, context: Mapping[str, str]) -> Score:
    """Return a score whose signature says more of where it came from."""
    signature = score.signature
    added = Signature(signature.metric, signature.arguments, {**signature.context, **context})
    return replace(score, signature=added)
