"""Passes over rows that do not fit into memory: what each does with a piece of them, and how the pieces add up."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.core.inputs import Kind, read_factor
from demele.core.table_columns import as_column, real_column
from demele.estimation.discretise import Binning
from demele.outofcore.counting import CHANGED, Cells, RowCounter
from demele.outofcore.first_pass import Names, Seen, look, merged
from demele.outofcore.tables import Span, Table, spans
from demele.runtime.progress import Report
from demele.runtime.work import completed
from demele.streaming.frame import Column, Frame, Rows
from demele.streaming.sample import SampledRows, joined_rows, row_keys
from demele.streaming.states import Key, Sums, empty_sums

#: The stream whose row numbers are those of the whole, so that a sample does not depend on how rows are cut.
STREAM = "rows"


class Piece(Protocol):
    """Successive rows, a block at a time."""

    def blocks(self) -> Iterator[tuple[list[Any], list[Any]]]:
        """Yield the columns of codes and factors of successive rows."""
        ...


@dataclass(frozen=True, slots=True)
class Tally:
    """What a second pass found: counts under each rule, a sample, and sums."""

    n: int
    cells: tuple[Cells, ...]
    sampled: tuple[SampledRows, ...]
    sums: tuple[Sums, ...] = ()


@dataclass(frozen=True, slots=True)
class Instructions:
    """What a second pass must know: how columns are read, what is counted, which rows are kept, what is summed.

    ``below`` is the limit of keys: None keeps every row, 0 none. ``ordered`` factors are kept as level numbers.
    ``summed`` are states, and the rules of their bins.
    """

    frame: Frame
    incomplete: tuple[bool, ...]
    rules: tuple[Binning, ...]
    seed: int
    below: int | None
    ordered: tuple[bool, ...]
    summed: tuple[Key, ...] = ()


# What is done with one piece ------------------------------------------------------------------------------------------


def first_look(piece: Piece, names: tuple[Names, Names], kinds: dict[str, Kind]) -> Seen:
    """Return what is to be seen of one piece."""
    parts = [look(codes, factors, names, kinds) for codes, factors in piece.blocks()]
    if not parts:
        empty = [[np.empty(0) for _ in own] for own in names]
        return look(empty[0], empty[1], names, kinds)
    return merged(parts, names[1])


def counted(piece: Piece, offset: int, n: int, wanted: Instructions) -> Tally:
    """Count one piece, and keep rows of it; ``offset`` is the number of its first row, ``n`` how many it has."""
    frame = wanted.frame
    counters = [RowCounter(frame.bins(rule), wanted.incomplete) for rule in wanted.rules]
    sums = [empty_sums(key, frame) for key in wanted.summed]
    readers = [_LevelReader.of(column.levels) if column.kind == "categorical" else None for column in frame.columns]
    sampled: list[SampledRows] = []
    seen = 0
    for codes, factors in piece.blocks():
        rows = len(codes[0])
        numbers = np.arange(offset + seen, offset + seen + rows, dtype=np.int64)
        seen += rows
        values = [real_column(column, name, "codes") for column, name in zip(codes, frame.codes, strict=True)]
        levels: list[NDArray[Any]] = []
        if counters or sums or any(wanted.ordered):
            levels = [
                _read(about, column, reader)
                for about, column, reader in zip(frame.columns, factors, readers, strict=True)
            ]
        for counter in counters:
            counter.add(values, levels)
        if sums:
            batch = Rows(np.column_stack(values), tuple(levels), 0)
            sums = [state.update(batch) for state in sums]
        raw = [
            levels[i] if own else column for i, (column, own) in enumerate(zip(factors, wanted.ordered, strict=True))
        ]
        sampled += _kept([*values, *raw], numbers, wanted)
    if seen != n:
        raise InputError(("codes", "factors"), f"{n} rows in the first pass over a part, {seen} in the next one")
    kept = (joined_rows(sampled),) if sampled else ()
    return Tally(seen, tuple(counter.cells for counter in counters), kept, tuple(sums))


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
    """Add up what was found of successive pieces."""
    cells = parts[0].cells
    for part in parts[1:]:
        cells = tuple(
            tuple(mine + theirs for mine, theirs in zip(a, b, strict=True))
            for a, b in zip(cells, part.cells, strict=True)
        )
    sampled = [one for part in parts for one in part.sampled]
    kept = (joined_rows(sampled),) if sampled else ()
    return Tally(sum(part.n for part in parts), cells, kept, joined_sums([part.sums for part in parts]))


def joined_sums(parts: Sequence[tuple[Sums, ...]]) -> tuple[Sums, ...]:
    """Add up sums of successive pieces, in their order: floats round."""
    found = parts[0]
    for part in parts[1:]:
        found = tuple(mine.merge(theirs) for mine, theirs in zip(found, part, strict=True))
    return found


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
        if isinstance(column, np.ndarray) and column.dtype.kind in "fiub":
            return column.astype(np.float64, copy=False)
        return np.asarray(read_factor(column, about.name, "continuous").values, dtype=np.float64)
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
        self._n_jobs = n_jobs

    def look(self, kinds: dict[str, Kind], report: Report | None) -> Seen:
        """Make the first pass."""
        work = partial(_looked, names=self.names, kinds=kinds)
        found = dict(self._all(work, report, "first pass"))
        return merged([found[index] for index in range(len(self._spans))], self.names[1])

    def tally(self, wanted: Instructions, report: Report | None, label: str) -> Tally:
        """Make a further pass."""
        total: Tally | None = None
        sums: dict[int, tuple[Sums, ...]] = {}
        for index, found in self._all(partial(_tallied, wanted=wanted), report, label):
            sums[index] = found.sums  # which round, and so are added up in order; whole numbers in any
            tally = replace(found, sums=())
            total = tally if total is None else joined_tallies([total, tally])
        if total is None:
            raise ValueError("there is at least one span")
        return replace(total, sums=joined_sums([sums[index] for index in sorted(sums)]))

    def _all(self, work: Callable[[Any], Any], report: Report | None, label: str) -> Iterator[tuple[int, Any]]:
        rows, done = self._spans[-1].stop, 0
        n_jobs = 1 if len(self._spans) == 1 else self._n_jobs
        for index, result in completed(work, enumerate(self._spans), n_jobs=n_jobs):
            yield index, result
            done += self._spans[index].stop - self._spans[index].start
            if report is not None:
                report(done, rows, f"{label}, {done:,} rows")


def _looked(item: tuple[int, Span], names: tuple[Names, Names], kinds: dict[str, Kind]) -> tuple[int, Seen]:
    return item[0], first_look(item[1], names, kinds)


def _tallied(item: tuple[int, Span], wanted: Instructions) -> tuple[int, Tally]:
    index, span = item
    return index, counted(span, span.start, span.stop - span.start, wanted)
