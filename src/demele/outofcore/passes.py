"""Passes over rows that do not fit into memory: what each does with a piece of them, and how the pieces add up.

A piece is a span of tables, worked on here or in several processes, or a partition of Dask collections, worked on by
the active scheduler.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.columns import (
    MAX_LEVELS_OF_WHOLE_FLOATS,
    are_classes,
    unique_class_doubt,
    whole_number_doubt,
)
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.inputs import Kind, as_numbers, is_text, read_factor
from demele.core.table_columns import as_column, levels_of_floats, real_column, series_to_numpy
from demele.core.written_numbers import refuse_names_of_rows, refuse_written_numbers
from demele.outofcore.tables import ArrayTable, Span, Table, spans
from demele.runtime.work import Report, mapped, ordered, paired_partitions, reduced
from demele.streaming.frame import BinEdges, Column, Rows
from demele.streaming.sample import SampledRows, joined_rows, row_keys
from demele.streaming.states import Key, State, empty_state

# What a first pass over the rows finds of each column, in parts that add up -------------------------------------------
#
# The kinds of factors are those that reading all rows at once would find.

#: Distinct numbers that are kept where a column may hold classes, and where it was said to.
MOST_DETECTED = MAX_LEVELS_OF_WHOLE_FLOATS + 1
MOST_CLASSES = 1_000_000
#: Below this, floats hold every whole number, and so do the integers of a machine.
LARGEST_WHOLE = 1 << 53


Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SeenFactor:
    """One factor.

    ``form`` is "whole" or "real" for numbers, "classes" for classes in the order of their names, "ordered" for those
    of a categorical type, "none" before the first annotation. ``integer``: whether all rows were stored as integers.
    ``distinct`` holds the different numbers (None: more than are kept), ``levels`` the classes, ``order`` all classes
    of a categorical type. ``text``: whether some classes are text.
    """

    form: str
    integer: bool
    low: float
    high: float
    n_annotated: int
    first_missing: int
    distinct: NDArray[Any] | None
    levels: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    n_infinite: int = 0
    first_infinite: int = -1
    text: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of successive rows, by parts.

    Attributes
    ----------
    sizes : tuple of int
        Rows of each part.
    low, high, n_bad, first_bad : arrays of shape (n_codes,)
        Extremes of finite codes, how many values are not finite, and the first row of those (-1: none).
    factors : tuple of SeenFactor
    """

    sizes: tuple[int, ...]
    low: Floats
    high: Floats
    n_bad: NDArray[np.intp]
    first_bad: NDArray[np.intp]
    factors: tuple[SeenFactor, ...]

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(self.sizes)


def look(codes: Sequence[Any], factors: Sequence[Any], names: tuple[Names, Names], kinds: dict[str, Kind]) -> Seen:
    """Return what there is to see of a block of rows: columns of codes and of factors."""
    n, d = len(codes[0]), len(codes)
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    n_bad, first_bad = np.zeros(d, dtype=np.intp), np.full(d, -1)
    for at, (column, name) in enumerate(zip(codes, names[0], strict=True)):
        values = real_column(column, name, "codes")
        ends = (values.min(), values.max()) if n else (np.inf, -np.inf)
        if not n or np.isfinite(ends).all():
            low[at], high[at] = ends
        else:
            finite = np.isfinite(values)
            n_bad[at], first_bad[at] = np.count_nonzero(~finite), np.argmin(finite)
    seen = (_factor(column, name, kinds.get(name)) for column, name in zip(factors, names[1], strict=True))
    return Seen((n,), low, high, n_bad, first_bad, tuple(seen))


def merged(parts: Sequence[Seen], names: Names) -> Seen:
    """Return what was seen of successive parts, in their order; ``names`` are those of the factors."""
    found = parts[0]
    for part in parts[1:]:
        n, pairs = found.n, zip(found.factors, part.factors, names, strict=True)
        found = Seen(
            found.sizes + part.sizes,
            np.minimum(found.low, part.low),
            np.maximum(found.high, part.high),
            found.n_bad + part.n_bad,
            _first(found.first_bad, part.first_bad, n),
            tuple(_merged(a, b, name, n) for a, b, name in pairs),
        )
    return found


def _first(mine: Any, theirs: Any, offset: int) -> Any:
    return np.where((mine >= 0) | (theirs < 0), mine, theirs + offset)


# Factors --------------------------------------------------------------------------------------------------------------


def _factor(column: Any, name: str, given: Kind | None) -> SeenFactor:
    if type(column).__module__.startswith("pandas"):
        if str(column.dtype) == "category":
            found = _classes(column, name, given)
            return replace(found, form="ordered", order=tuple(str(level) for level in column.cat.categories))
        column = series_to_numpy(column, keep_kind=True)
    values = np.asarray(column)
    if values.dtype.kind == "O":
        numbers = as_numbers(values)
        values = values if numbers is None else numbers
    if values.dtype.kind == "b" and given == "continuous":
        values = values.astype(np.uint8)
    if values.dtype.kind not in "fiu":
        return _classes(column, name, given)
    floats, first, known = values.dtype.kind == "f", -1, values
    if floats and len(values) and not np.isfinite([values.min(), values.max()]).all():
        infinite = np.flatnonzero(np.isinf(values))
        if infinite.size:  # refused when all rows were seen, so that the message says how many there are
            seen = SeenFactor("real", False, 0.0, 0.0, len(values), -1, None)
            return replace(seen, n_infinite=infinite.size, first_infinite=int(infinite[0]))
        missing = np.isnan(values)
        first, known = int(np.argmax(missing)), values[~missing]
    if not known.size:
        return SeenFactor("none", not floats, np.inf, -np.inf, 0, first, np.empty(0, values.dtype))
    low, high = known.min().item(), known.max().item()
    whole = not floats or not ((np.trunc(known[:1000]) != known[:1000]).any() or (np.trunc(known) != known).any())
    distinct = None
    if given == "categorical" or (given is None and whole):
        if whole and max(-low, high) < LARGEST_WHOLE and high - low < 1 << 16:  # several times as fast as sorting
            shifted = known.astype(np.intp)
            shifted -= int(low)
            distinct = (np.flatnonzero(np.bincount(shifted)) + int(low)).astype(values.dtype)
        else:
            distinct = np.unique(known)
        if given is None and distinct.size > MOST_DETECTED:  # too many to be classes
            distinct = None
        elif distinct.size > MOST_CLASSES:
            raise InputError(
                "factors",
                f"column {name!r} was declared categorical and holds more than {MOST_CLASSES:,} different values; "
                f"pass `kinds={{{quoted(name)}: 'continuous'}}`, or leave it out",
            )
    form = "whole" if whole else "real"
    return SeenFactor(form, not floats, float(low), float(high), known.size, first, distinct)


def _classes(column: Any, name: str, given: Kind | None) -> SeenFactor:
    factor = read_factor(column, name, given or "categorical")
    missing = np.flatnonzero(np.asarray(factor.values) < 0)
    first = int(missing[0]) if missing.size else -1
    form = "classes" if factor.levels else "none"
    seen = SeenFactor(form, False, np.inf, -np.inf, factor.n_annotated, first, None, factor.levels)
    return _bounded(replace(seen, text=is_text(column)), name)


def _bounded(seen: SeenFactor, name: str) -> SeenFactor:
    """Refuse columns that name their rows: no table holds so many classes, and no memory the classes of all rows."""
    if len(seen.levels) > MOST_CLASSES:
        raise InputError("factors", f"column {name!r} holds more than {MOST_CLASSES:,} different classes; leave it out")
    return seen


def _merged(mine: SeenFactor, theirs: SeenFactor, name: str, offset: int) -> SeenFactor:
    both = replace(
        mine,
        integer=mine.integer and theirs.integer,
        low=min(mine.low, theirs.low),
        high=max(mine.high, theirs.high),
        n_annotated=mine.n_annotated + theirs.n_annotated,
        first_missing=int(_first(mine.first_missing, theirs.first_missing, offset)),
        n_infinite=mine.n_infinite + theirs.n_infinite,
        first_infinite=int(_first(mine.first_infinite, theirs.first_infinite, offset)),
        text=mine.text or theirs.text,
    )
    for one, other in ((mine, theirs), (theirs, mine)):
        if one.form == "none":
            own = {field: getattr(other, field) for field in ("form", "distinct", "levels", "order", "text")}
            return replace(both, **own)
    forms = {mine.form, theirs.form}
    if forms <= {"whole", "real"}:
        distinct = None
        if mine.distinct is not None and theirs.distinct is not None:
            same = np.array_equal(mine.distinct, theirs.distinct)
            distinct = mine.distinct if same else np.union1d(mine.distinct, theirs.distinct)
        return replace(both, form="real" if "real" in forms else "whole", distinct=distinct)
    if not forms <= {"classes", "ordered"}:
        raise InputTypeError(
            "factors", f"column {name!r} holds numbers in some parts and classes in others; make them of one type"
        )
    used = {*mine.levels, *theirs.levels}
    if forms == {"ordered"} and mine.order == theirs.order:
        return replace(both, levels=tuple(level for level in mine.order if level in used))
    levels = mine.levels if mine.levels == theirs.levels else tuple(sorted(used))
    return _bounded(replace(both, form="classes", levels=levels, order=()), name)


def column_of(seen: SeenFactor, name: str, given: Kind | None) -> tuple[Column, str | None]:
    """Return the column that reading all rows at once would find, and what is to be said of its kind."""
    n, of_classes = seen.n_annotated, seen.form in ("classes", "ordered")
    if n == 0:
        raise NotEnoughData("factors", f"column {name!r} has no annotated row at all; leave it out")
    kind: Kind = given or "continuous"
    if given is None and of_classes:
        if seen.text:
            refuse_written_numbers(seen.levels, None, name)
        refuse_names_of_rows(len(seen.levels), n, name, seen.levels[0])
        kind = "categorical"
    elif given is None and seen.form != "real" and seen.distinct is not None:
        kind = "categorical" if are_classes(seen.distinct.size, n, integer=seen.integer) else kind
    n_levels = len(seen.levels) if seen.distinct is None else seen.distinct.size
    doubt = None
    if given is not None:
        doubt = unique_class_doubt(name, kind, n_levels, n)
    elif not seen.text and seen.form == "whole":
        n_levels = MOST_DETECTED if seen.distinct is None else n_levels
        doubt = whole_number_doubt(name, kind, n_levels, n, of_floats=not seen.integer)
        if doubt is not None and seen.distinct is None:
            doubt = doubt.replace(f"holds {n_levels} ", f"holds more than {n_levels - 1} ")
    if kind != "categorical":
        return Column(name, kind, seen.low, seen.high), doubt
    levels = seen.levels  # in the order in which reading all rows at once would put them
    if not of_classes and seen.distinct is not None:
        levels = tuple(map(str, seen.distinct.tolist())) if seen.integer else levels_of_floats(seen.distinct, name)
    return Column(name, kind, 0.0, len(levels) - 1.0, levels), doubt


CHANGED = "codes and factors: values changed between two passes; rows must be the same whenever they are read"
#: The stream whose row numbers are those of the whole, so that a sample does not depend on how rows are cut.
STREAM = "rows"


@dataclass(frozen=True, slots=True)
class Tally:
    """What a further pass found: states, and a sample."""

    states: tuple[State, ...]
    sampled: tuple[SampledRows, ...]


@dataclass(frozen=True, slots=True)
class Instructions:
    """What a further pass must know: how columns are read, which states are kept, and which rows.

    ``below`` is the limit of keys: None keeps every row, 0 none.
    """

    frame: BinEdges
    keys: tuple[Key, ...]
    seed: int
    below: int | None


# What is done with one piece ------------------------------------------------------------------------------------------


def first_look(piece: Span, names: tuple[Names, Names], kinds: dict[str, Kind]) -> Seen:
    """Return what is to be seen of one piece."""
    parts = [look(codes, factors, names, kinds) for codes, factors in piece.blocks()]
    if not parts:
        empty = [[np.empty(0) for _ in own] for own in names]
        parts = [look(empty[0], empty[1], names, kinds)]
    seen = merged(parts, names[1])
    return replace(seen, sizes=(seen.n,))


def counted(piece: Span, offset: int, n: int, wanted: Instructions) -> Tally:
    """Count one piece, and keep rows of it; ``offset`` is the number of its first row, ``n`` how many it has."""
    frame = wanted.frame
    states = [empty_state(key, frame) for key in wanted.keys]
    summed = any(key[0] != "table" for key in wanted.keys)
    readers = [_Reader(column) for column in frame.columns]
    sampled: list[SampledRows] = []
    seen = 0
    for codes, factors in piece.blocks():
        rows = len(codes[0])
        numbers = np.arange(offset + seen, offset + seen + rows, dtype=np.int64)
        seen += rows
        values = [real_column(column, name, "codes") for column, name in zip(codes, frame.codes, strict=True)]
        if states:
            levels = tuple(reader.read(column) for reader, column in zip(readers, factors, strict=True))
            for column, low, high in zip(values, frame.low, frame.high, strict=True):
                if not (column.min() >= low and column.max() <= high):
                    raise InputError(CHANGED)
            # counts are read column by column, which is faster if each is in one place; sums row by row
            batch = Rows(np.column_stack(values) if summed else np.stack(values).T, levels, 0)
            states = [state.update(batch) for state in states]
        keys = row_keys(wanted.seed, STREAM, numbers)
        kept = np.arange(rows) if wanted.below is None else np.flatnonzero(keys < np.uint64(wanted.below))
        if kept.size:
            # a column of pandas is taken as its own type before it becomes an array
            picked = [
                as_column(column.iloc[kept], "factors") if hasattr(column, "iloc") else np.asarray(column)[kept]
                for column in (*values, *factors)
            ]
            for at, reader in enumerate(readers, start=len(values)):
                if reader.about.levels:
                    own = reader.read(picked[at])
                    picked[at] = np.where(own < len(reader.about.levels), own.astype(np.intp), -1)
            streams = np.full(kept.size, STREAM, dtype=object)
            sampled.append(SampledRows(keys[kept], streams, numbers[kept], tuple(picked)))
    if seen != n:
        raise InputError(("codes", "factors"), f"{n} rows in the first pass over a part, {seen} in the next one")
    return joined_tallies([Tally(tuple(states), tuple(sampled))])


def joined_tallies(parts: list[Tally]) -> Tally:
    """Add up what was found of successive pieces, in their order: floats round."""
    states = tuple(state.settled() for state in parts[0].states)
    for part in parts[1:]:
        states = tuple(mine.merge(theirs) for mine, theirs in zip(states, part.states, strict=True))
    sampled = [one for part in parts for one in part.sampled]
    return Tally(states, (joined_rows(sampled),) if sampled else ())


class _Reader:
    """Values of a continuous factor, or level numbers, with one more than there are for a missing annotation."""

    def __init__(self, about: Column) -> None:
        self.about = about
        self.table: NDArray[Any] | None = None
        values = [int(level) for level in about.levels if re.fullmatch(r"-?\d{1,18}", level)]
        close = bool(values) and max(values) - min(values) < 1 << 16
        if close and [str(value) for value in values] == list(about.levels):
            # integers by a table: wanted levels one by one would cost more than counting them
            self.low = min(values)
            self.table = np.full(max(values) - self.low + 1, -1, dtype=np.int32)
            self.table[np.array(values) - self.low] = np.arange(len(values))
            if (self.table >= 0).all() and len(values) < 1 << 8:
                self.table = self.table.astype(np.uint8)

    def read(self, column: Any) -> NDArray[Any]:
        """Return the values of some rows."""
        about, kind = self.about, column.dtype.kind if isinstance(column, np.ndarray) else ""
        if about.kind == "continuous":
            known = kind and kind in "fiub"
            values = np.asarray(column if known else read_factor(column, about.name, "continuous").values, np.float64)
            if (values < about.low).any() or (values > about.high).any():
                raise InputError(CHANGED)
            return values
        if self.table is None or not kind or kind not in "iuf":
            factor = read_factor(column, about.name, "categorical")
            place = {level: index for index, level in enumerate(about.levels)}
            if not place.keys() >= set(factor.levels):
                raise InputError(CHANGED)
            table = np.array([*(place[level] for level in factor.levels), len(place)], dtype=np.intp)
            return np.asarray(table[factor.values])
        missing = np.isnan(column) if kind == "f" else None
        if missing is not None:
            column = np.where(missing, column.dtype.type(self.low), column) if missing.any() else column
            if (np.trunc(column) != column).any():
                raise InputError(CHANGED)
        if int(column.min()) < self.low or int(column.max()) - self.low >= len(self.table):
            raise InputError(CHANGED)
        position = column.astype(np.intp)
        position -= self.low
        found: NDArray[Any] = self.table[position]
        if missing is not None:
            found[missing] = len(about.levels)
        return found


# Pieces, and who works on them ----------------------------------------------------------------------------------------


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
        total: Tally = reduce(lambda mine, theirs: joined_tallies([mine, theirs]), found)
        return total

    def _reported(self, found: Iterator[Any], report: Report | None, label: str) -> Iterator[Any]:
        for span, result in zip(self._spans, found, strict=True):
            yield result
            if report is not None:
                report(span.stop, self._spans[-1].stop, f"{label}, {span.stop:,} rows")


class Partitions:
    """Rows of two Dask collections, worked on by the active scheduler."""

    def __init__(self, codes: object, factors: object) -> None:
        groups, columns = paired_partitions(codes, factors)
        self._groups = [(*group, index) for index, group in enumerate(groups)]
        names = [
            tuple(f"{default}{at + 1}" for at in range(own)) if isinstance(own, int) else own
            for own, default in zip(columns, "zv", strict=True)
        ]
        self.names = names[0], names[1]
        self._sizes: tuple[int, ...] = ()

    def look(self, kinds: dict[str, Kind], report: Report | None) -> Seen:
        """Make the first pass."""
        if report is not None:
            report(0, 2, f"first pass, {len(self._groups)} partitions")
        parts = mapped(partial(_of_partition, first_look), self._groups, self.names, kinds)
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
        return reduced(mapped(partial(_of_partition, counted), groups, wanted), joined_tallies)


def _of_partition(function: Callable[..., Any], codes: Any, factors: Any, index: int, *arguments: Any) -> Any:
    tables = [
        ArrayTable([data.iloc[:, at] for at in range(data.shape[1])] if hasattr(data, "iloc") else np.asarray(data), ())
        for data in (codes, factors)
    ]
    n, own = (table.n for table in tables)
    if n != own:
        raise InputError(
            ("codes", "factors"),
            f"partition {index} holds {n} rows of codes and {own} rows of factors; row r of both must describe the "
            "same sample",
        )
    return function(Span(tables[0], tables[1], 0, n), *arguments)


Passes = Spans | Partitions
