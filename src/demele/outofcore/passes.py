"""Passes over rows that do not fit into memory: what each does with a piece of them, and how the pieces add up.

A piece is a span of tables, worked on here or in several processes, or a partition of Dask collections, worked on by
the active scheduler.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.core.inputs import Kind, read_factor
from demele.core.table_columns import as_column, real_column
from demele.outofcore.first_pass import Names, Seen, look, merged
from demele.outofcore.tables import ROWS_PER_READ, Table, some, spans
from demele.runtime.dask import mapped, paired_partitions, reduced
from demele.runtime.progress import Report
from demele.runtime.work import ordered
from demele.streaming.frame import BinEdges, Column, Rows
from demele.streaming.sample import SampledRows, joined_rows, row_keys
from demele.streaming.states import Key, State, empty_state

CHANGED = "codes and factors: values changed between two passes; rows must be the same whenever they are read"
#: The stream whose row numbers are those of the whole, so that a sample does not depend on how rows are cut.
STREAM = "rows"


class Piece(Protocol):
    """Successive rows, a block at a time."""

    def blocks(self) -> Iterator[tuple[list[Any], list[Any]]]:
        """Yield the columns of codes and factors of successive rows."""
        ...


@dataclass(frozen=True, slots=True)
class Tally:
    """What a further pass found: states, and a sample."""

    n: int
    states: tuple[State, ...]
    sampled: tuple[SampledRows, ...]


@dataclass(frozen=True, slots=True)
class Instructions:
    """What a further pass must know: how columns are read, which states are kept, and which rows.

    ``below`` is the limit of keys: None keeps every row, 0 none. ``ordered`` factors are kept as level numbers.
    """

    frame: BinEdges
    keys: tuple[Key, ...]
    seed: int
    below: int | None
    ordered: tuple[bool, ...]


# What is done with one piece ------------------------------------------------------------------------------------------


def first_look(piece: Piece, names: tuple[Names, Names], kinds: dict[str, Kind]) -> Seen:
    """Return what is to be seen of one piece."""
    parts = [look(codes, factors, names, kinds) for codes, factors in piece.blocks()]
    if not parts:
        empty = [[np.empty(0) for _ in own] for own in names]
        parts = [look(empty[0], empty[1], names, kinds)]
    seen = merged(parts, names[1])
    return replace(seen, sizes=(seen.n,))


def counted(piece: Piece, offset: int, n: int, wanted: Instructions) -> Tally:
    """Count one piece, and keep rows of it; ``offset`` is the number of its first row, ``n`` how many it has."""
    frame = wanted.frame
    states = [empty_state(key, frame) for key in wanted.keys]
    summed = any(key[0] != "table" for key in wanted.keys)
    readers = [_LevelReader.of(column.levels) if column.kind == "categorical" else None for column in frame.columns]
    sampled: list[SampledRows] = []
    seen = 0
    for codes, factors in piece.blocks():
        rows = len(codes[0])
        numbers = np.arange(offset + seen, offset + seen + rows, dtype=np.int64)
        seen += rows
        values = [real_column(column, name, "codes") for column, name in zip(codes, frame.codes, strict=True)]
        levels: list[NDArray[Any]] = []
        if states or any(wanted.ordered):
            levels = [
                _read(about, column, reader)
                for about, column, reader in zip(frame.columns, factors, readers, strict=True)
            ]
        if states:
            for column, low, high in zip(values, frame.low, frame.high, strict=True):
                if not (column.min() >= low and column.max() <= high):
                    raise InputError(CHANGED)
            # counts are read column by column, which is faster if each is in one place; sums row by row
            batch = Rows(np.column_stack(values) if summed else np.stack(values).T, tuple(levels), 0)
            states = [state.update(batch) for state in states]
        raw = [
            levels[i] if own else column for i, (column, own) in enumerate(zip(factors, wanted.ordered, strict=True))
        ]
        sampled += _kept([*values, *raw], numbers, wanted)
    if seen != n:
        raise InputError(("codes", "factors"), f"{n} rows in the first pass over a part, {seen} in the next one")
    return joined_tallies([Tally(seen, tuple(states), tuple(sampled))])


def _kept(columns: list[Any], numbers: NDArray[np.int64], wanted: Instructions) -> list[SampledRows]:
    if wanted.below == 0:
        return []
    keys = row_keys(wanted.seed, STREAM, numbers)
    rows = np.arange(len(keys)) if wanted.below is None else np.flatnonzero(keys < np.uint64(wanted.below))
    if not rows.size:
        return []
    # a column of pandas is taken as its own type before it becomes an array
    picked = tuple(
        as_column(column.iloc[rows], "factors") if hasattr(column, "iloc") else np.asarray(column)[rows]
        for column in columns
    )
    return [SampledRows(keys[rows], np.full(rows.size, STREAM, dtype=object), numbers[rows], picked)]


def joined_tallies(parts: list[Tally]) -> Tally:
    """Add up what was found of successive pieces, in their order: floats round."""
    states = tuple(state.settled() for state in parts[0].states)
    for part in parts[1:]:
        states = tuple(mine.merge(theirs) for mine, theirs in zip(states, part.states, strict=True))
    sampled = [one for part in parts for one in part.sampled]
    return Tally(sum(part.n for part in parts), states, (joined_rows(sampled),) if sampled else ())


@dataclass(frozen=True, slots=True)
class _LevelReader:
    """Level numbers of integers, by a table: wanted levels one by one would cost more than counting them."""

    low: int
    table: NDArray[Any]

    @classmethod
    def of(cls, levels: tuple[str, ...]) -> "_LevelReader | None":
        """Return a table, if the levels are integers close to each other."""
        try:
            values = [int(level) for level in levels]
        except ValueError:
            return None
        low, high = min(values), max(values)
        if high - low >= 1 << 16 or [str(value) for value in values] != list(levels):
            return None
        table = np.full(high - low + 1, -1, dtype=np.int32)
        table[np.array(values) - low] = np.arange(len(values))
        if (table >= 0).all() and len(levels) < 1 << 8:
            return cls(low, table.astype(np.uint8))
        return cls(low, table)

    def read(self, column: NDArray[Any], n_levels: int) -> NDArray[Any]:
        """Return the level number of each value, ``n_levels`` where a float is missing."""
        missing = None
        if column.dtype.kind == "f":
            missing = np.isnan(column)
            if missing.any():
                column = np.where(missing, column.dtype.type(self.low), column)
            if (np.trunc(column) != column).any():
                raise InputError(CHANGED)
        low, high = int(column.min()), int(column.max())
        if low < self.low or high - self.low >= len(self.table):
            raise InputError(CHANGED)
        position = column.astype(np.intp)
        position -= self.low
        found = self.table[position]
        if missing is not None:
            found[missing] = n_levels
        return found


def _read(about: Column, column: Any, reader: _LevelReader | None) -> NDArray[Any]:
    """Return values of a continuous factor, or level numbers, with one more than there are for a missing annotation."""
    if about.kind == "continuous":
        known = isinstance(column, np.ndarray) and column.dtype.kind in "fiub"
        values = np.asarray(column if known else read_factor(column, about.name, "continuous").values, np.float64)
        if (values < about.low).any() or (values > about.high).any():
            raise InputError(CHANGED)
        return values
    if reader is not None and isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return reader.read(column, len(about.levels))
    factor = read_factor(column, about.name, "categorical")
    place = {level: index for index, level in enumerate(about.levels)}
    if not place.keys() >= set(factor.levels):
        raise InputError(CHANGED)
    table = np.array([*(place[level] for level in factor.levels), len(place)], dtype=np.intp)
    return np.asarray(table[factor.values])


# Pieces, and who works on them ----------------------------------------------------------------------------------------


class Passes(Protocol):
    """Who makes passes over all rows, whatever pieces they are read in."""

    names: tuple[Names, Names]

    def look(self, kinds: dict[str, Kind], report: Report | None) -> Seen:
        """Make the first pass."""
        ...

    def tally(self, wanted: Instructions, report: Report | None, label: str) -> Tally:
        """Make a further pass."""
        ...


class Spans:
    """Rows of two tables, worked on here or in several processes."""

    def __init__(self, codes: Table, factors: Table, n_jobs: int) -> None:
        self.names = codes.names, factors.names
        self._spans = spans(codes, factors)
        self._n_jobs = 1 if len(self._spans) == 1 else n_jobs

    def look(self, kinds: dict[str, Kind], report: Report | None) -> Seen:
        """Make the first pass."""
        found = ordered(first_look, ((span, self.names, kinds) for span in self._spans), n_jobs=self._n_jobs)
        return merged(list(self._reported(found, report, "first pass")), self.names[1])

    def tally(self, wanted: Instructions, report: Report | None, label: str) -> Tally:
        """Make a further pass."""
        calls = ((span, span.start, span.stop - span.start, wanted) for span in self._spans)
        found = self._reported(ordered(counted, calls, n_jobs=self._n_jobs), report, label)
        total: Tally = next(found)
        for part in found:
            total = joined_tallies([total, part])
        return total

    def _reported(self, found: Iterator[Any], report: Report | None, label: str) -> Iterator[Any]:
        for span, result in zip(self._spans, found, strict=True):
            yield result
            if report is not None:
                report(span.stop, self._spans[-1].stop, f"{label}, {span.stop:,} rows")


@dataclass(frozen=True, slots=True)
class Partition:
    """One computed partition of two Dask collections."""

    codes: Any
    factors: Any
    index: int

    def blocks(self) -> Iterator[tuple[list[Any], list[Any]]]:
        """Yield the columns of codes and factors of successive rows."""
        codes, factors = _columns(self.codes), _columns(self.factors)
        n, own = len(codes[0]), len(factors[0])
        if n != own:
            raise InputError(
                ("codes", "factors"),
                f"partition {self.index} holds {n} rows of codes and {own} rows of factors; row r "
                "of both must describe the same sample",
            )
        for start in range(0, n, ROWS_PER_READ):
            stop = start + ROWS_PER_READ
            yield [some(column, start, stop) for column in codes], [some(column, start, stop) for column in factors]


def _columns(data: Any) -> list[Any]:
    if hasattr(data, "iloc"):
        return [data.iloc[:, index] for index in range(data.shape[1])]
    return list(np.asarray(data).T)


class Partitions:
    """Rows of two Dask collections, worked on by the active scheduler."""

    def __init__(self, codes: object, factors: object) -> None:
        groups, columns = paired_partitions(codes, factors)
        self._groups = [(*group, index) for index, group in enumerate(groups)]
        self.names = _names(columns[0], "z"), _names(columns[1], "v")
        self._sizes: tuple[int, ...] = ()

    def look(self, kinds: dict[str, Kind], report: Report | None) -> Seen:
        """Make the first pass."""
        if report is not None:
            report(0, 2, f"first pass, {len(self._groups)} partitions")
        parts = mapped(_partition_seen, self._groups, self.names, kinds)
        seen = reduced(parts, partial(merged, names=self.names[1]))
        self._sizes = seen.sizes
        return seen

    def tally(self, wanted: Instructions, report: Report | None, label: str) -> Tally:
        """Make a further pass."""
        if report is not None:
            report(1, 2, f"{label}, {len(self._groups)} partitions")
        offsets = np.concatenate([[0], np.cumsum(self._sizes)]).tolist()
        groups = [
            (*group, offset, size) for group, offset, size in zip(self._groups, offsets, self._sizes, strict=False)
        ]
        return reduced(mapped(_partition_counted, groups, wanted), joined_tallies)


def _names(columns: Names | int, default: str) -> Names:
    return tuple(f"{default}{index + 1}" for index in range(columns)) if isinstance(columns, int) else columns


def _partition_seen(codes: Any, factors: Any, index: int, names: tuple[Names, Names], kinds: dict[str, Kind]) -> Seen:
    return first_look(Partition(codes, factors, index), names, kinds)


def _partition_counted(codes: Any, factors: Any, index: int, offset: int, n: int, wanted: Instructions) -> Tally:
    return counted(Partition(codes, factors, index), offset, n, wanted)
