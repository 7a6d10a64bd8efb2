"""Evaluations of rows that do not fit into memory: passes over them, how pieces add up, and what is known in the end.

A piece is a span of tables, worked on here or in several processes, or a partition of Dask collections, worked on by
the active scheduler.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from demele.core.errors import (
    InputError,
    InputTypeError,
    NotEnoughData,
    UndefinedFactorWarning,
    in_backticks,
    plural,
    quoted,
)
from demele.core.given_data import Codes, Factors
from demele.core.inputs import Kind, as_numbers, check_pair, given_kinds, is_text, read_factor
from demele.core.lazy import Later
from demele.core.results import Evaluation, LeftOut, Note, Score
from demele.core.table_columns import as_column, levels_of_floats, real_column, series_to_numpy
from demele.core.written_numbers import refuse_names_of_rows, refuse_written_numbers
from demele.estimation.counts import Adaptive, Binning, ColumnBins
from demele.metrics.guards import unprobed_notes
from demele.metrics.metric import SUMMED, Guards, Metric
from demele.metrics.options import Run
from demele.metrics.request import Request, applies
from demele.metrics.run import Found, evaluation
from demele.metrics.source import Subject
from demele.outofcore.tables import ArrayTable, Span, Table, spans, table_of
from demele.runtime import work
from demele.streaming.frame import BinEdges, Column, Rows
from demele.streaming.sample import SampledRows, SampleState, in_memory, of_sample, row_keys, with_context
from demele.streaming.source import AllRows
from demele.streaming.states import Key, State, empty_state, key_of

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
    """What a further pass found: states, and rows with small keys."""

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
    return Tally(tuple(state.settled() for state in states), tuple(sampled))


def joined_tallies(parts: list[Tally]) -> Tally:
    """Add up what was found of successive pieces, in their order: floats round."""
    of_state = zip(*(part.states for part in parts), strict=True)
    states = tuple(reduce(lambda mine, theirs: mine.merge(theirs), own) for own in of_state)
    return Tally(states, tuple(one for part in parts for one in part.sampled))


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

    def look(self, kinds: dict[str, Kind], report: work.Report | None) -> Seen:
        """Make the first pass."""
        found = work.ordered(first_look, ((span, self.names, kinds) for span in self._spans), n_jobs=self._n_jobs)
        return merged(list(self._reported(found, report, "first pass")), self.names[1])

    def tally(self, wanted: Instructions, report: work.Report | None, label: str) -> Tally:
        """Make a further pass."""
        calls = ((span, span.start, span.stop - span.start, wanted) for span in self._spans)
        found = self._reported(work.ordered(counted, calls, n_jobs=self._n_jobs), report, label)
        total: Tally = reduce(lambda mine, theirs: joined_tallies([mine, theirs]), found)
        return total

    def _reported(self, found: Iterator[Any], report: work.Report | None, label: str) -> Iterator[Any]:
        for span, result in zip(self._spans, found, strict=True):
            yield result
            if report is not None:
                report(span.stop, self._spans[-1].stop, f"{label}, {span.stop:,} rows")


class Partitions:
    """Rows of two Dask collections, worked on by the active scheduler."""

    def __init__(self, codes: object, factors: object) -> None:
        groups, columns = work.paired_partitions(codes, factors)
        self._groups = [(*group, index) for index, group in enumerate(groups)]
        names = [
            tuple(f"{default}{at + 1}" for at in range(own)) if isinstance(own, int) else own
            for own, default in zip(columns, "zv", strict=True)
        ]
        self.names = names[0], names[1]
        self._sizes: tuple[int, ...] = ()

    def look(self, kinds: dict[str, Kind], report: work.Report | None) -> Seen:
        """Make the first pass."""
        if report is not None:
            report(0, 2, f"first pass, {len(self._groups)} partitions")
        parts = work.mapped(partial(_of_partition, first_look), self._groups, self.names, kinds)
        seen = work.reduced(parts, partial(merged, names=self.names[1]))
        self._sizes = seen.sizes
        return seen

    def tally(self, wanted: Instructions, report: work.Report | None, label: str) -> Tally:
        """Make a further pass."""
        if report is not None:
            report(1, 2, f"{label}, {len(self._groups)} partitions")
        offsets = np.concatenate([[0], np.cumsum(self._sizes)]).tolist()
        groups = [
            (*group, offset, size) for group, offset, size in zip(self._groups, offsets, self._sizes, strict=False)
        ]
        return work.reduced(work.mapped(partial(_of_partition, counted), groups, wanted), joined_tallies)


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


# All rows, as a source ------------------------------------------------------------------------------------------------


class WholeRows(AllRows):
    """All rows that do not fit into memory: what a first pass found; after :meth:`read`, counts and a sample of them.

    Parameters
    ----------
    passes : Passes
    seen : Seen
        What the first pass found.
    frame : BinEdges
    subject : Subject
    sample : int
        Rows that are kept at most.
    seed : int
    """

    name = "data read a piece at a time"

    def __init__(self, passes: Passes, seen: Seen, frame: BinEdges, subject: Subject, sample: int, seed: int) -> None:
        self.seen, self.frame, self.sample, self.seed = seen, frame, sample, seed
        self._passes, self._subject, self.active = passes, subject, subject.active
        self.held: dict[Key, State] = {}

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.seen.n

    @property
    def all_kept(self) -> bool:
        """Whether the sample holds every row."""
        return self.n <= self.sample

    @property
    def complete(self) -> bool:
        """Whether all rows are annotated for all factors."""
        return all(one.n_annotated == self.n for one in self.seen.factors)

    def read(self, keys: Sequence[Key], report: work.Report | None) -> SampleState:
        """Count all rows and sum them up in these states, and return a sample of them.

        Where a rule looks at values, a pass for the sample alone goes before.
        """
        rules = [rule for state, rule in keys if state == "table" and rule is not None]
        none, kept = SampleState(self.sample, self.seed, ((STREAM, self.n),)), None
        looking = [rule for rule in rules if rule.needs_values]
        if looking:
            kept = replace(none, parts=self._tally([], "sampling", report, sampling=True).sampled).sifted()
            columns = kept.rows()
            self.frame = replace(self.frame, exact={rule: _edges(rule, self, columns) for rule in looking})
        for rule in rules:
            self.frame.bins(rule)  # refuses tables that no memory holds
        if keys or kept is None:
            tally = self._tally(keys, "counting", report, sampling=kept is None)
            self.held = dict(zip(keys, tally.states, strict=True))
            annotated = [one.n_annotated for one in self.seen.factors]
            if any(state.annotated.tolist() != annotated for state in self.held.values()):
                raise InputError(CHANGED)
            kept = kept or replace(none, parts=tally.sampled).sifted()
        return kept

    def _tally(self, keys: Sequence[Key], label: str, report: work.Report | None, *, sampling: bool) -> Tally:
        below: int | None = 0
        if sampling:
            # somewhat more rows than wanted have keys below the limit; the smallest are kept
            enough = self.sample + 8 * self.sample**0.5 + 32
            below = None if self.all_kept else min(int(enough / self.n * 2**64), 2**64 - 1)
        return self._passes.tally(Instructions(self.frame, tuple(keys), self.seed, below), report, label)

    def state_for(self, metric: Metric, options: Mapping[str, Any]) -> str | None:
        """Return the state of a metric that counts every row, or sums over more rows than the sample holds."""
        state = super().state_for(metric, options)
        return None if state in SUMMED and self.all_kept else state

    def subject(self, state: str, options: Mapping[str, Any] | None = None) -> Subject:
        """Return the columns as the first pass found them; say where edges are quantiles, and name their rows."""
        if state != "table" or options is None or not options["bins"].needs_values or self.all_kept:
            return self._subject
        message = f"the edges of the bins are quantiles of a random sample of {self.sample:,} of {self.n:,} rows"
        note = Note(code="edges-of-sample", message=message)
        return replace(self._subject, notes=(*self._subject.notes, note))

    def drawn(self) -> dict[str, str]:
        """Return what a signature says of the sample: replayed, the same rows are drawn."""
        return {"sample": str(self.sample), "sample_of": str(self.n), "sample_seed": str(self.seed)}


def whole_rows(given: Codes, known: Factors, *, seed: int, n_jobs: int, report: work.Report | None) -> WholeRows:
    """Make the first pass: find columns, kinds, levels and ranges, and refuse what is refused in memory."""
    if work.is_collection(given.values) or work.is_collection(known.values):
        passes: Passes = Partitions(given.values, known.values)
    else:
        passes = Spans(table_of(given.values, "codes"), table_of(known.values, "factors"), n_jobs)
    names, own = passes.names
    kinds = given_kinds(known.kinds, own)
    seen = passes.look(kinds, report)
    if seen.n == 0:
        raise NotEnoughData("codes", "expected at least 2 rows, got none")
    for name, n_bad, first, low, high in zip(names, seen.n_bad, seen.first_bad, seen.low, seen.high, strict=True):
        if n_bad:
            raise InputError(
                "codes",
                f"{plural(int(n_bad), 'non-finite value', 'non-finite values')} (NaN or infinite) in column "
                f"{name!r}, first at row {first}; drop or impute them",
            )
        _refuse_wide(low, high, f"codes: the range of column {name!r}")
    columns, doubts = [], []
    for name, factor in zip(own, seen.factors, strict=True):
        if factor.n_infinite:
            raise InputError(
                "factors",
                f"{plural(factor.n_infinite, 'infinite value', 'infinite values')} in column {name!r}, first at row "
                f"{factor.first_infinite}; drop or mark them missing",
            )
        _refuse_wide(factor.low, factor.high, f"factors: the range of column {name!r}")
        column, doubt = column_of(factor, name, kinds.get(name))
        columns.append(column)
        doubts += [] if doubt is None else [doubt]
    if known.missing == "raise":
        gaps = [(name, one) for name, one in zip(own, seen.factors, strict=True) if one.n_annotated < seen.n]
        if gaps:
            name, factor = gaps[0]
            others = "" if len(gaps) == 1 else f" (and in {plural(len(gaps) - 1, 'other column', 'other columns')})"
            raise InputError(
                "factors",
                f"{plural(seen.n - factor.n_annotated, 'missing annotation', 'missing annotations')} in column "
                f"{name!r}{others}, first at row {factor.first_missing}; drop those rows, or pass "
                "`demele.Factors(factors, missing='omit')` to score each factor on the rows annotated for it",
            )
    frame = BinEdges(tuple(names), seen.low, seen.high, tuple(columns), known.missing)
    codes, factors = frame.described(seen.n, [one.n_annotated for one in seen.factors])
    factors = replace(factors, ambiguous=tuple(doubts), declared=known.kinds is not None)
    check_pair(codes.n, codes.d, factors)
    return WholeRows(passes, seen, frame, Subject.of(codes, factors), int(given.sample), seed)


def _refuse_wide(low: float, high: float, what: str) -> None:
    with np.errstate(over="ignore"):
        if high > low and np.isinf(np.float64(high) - np.float64(low)):
            raise InputError(f"{what} exceeds the largest float; rescale it")


def _edges(
    rule: Binning, rows: WholeRows, columns: Sequence[NDArray[Any]]
) -> tuple[tuple[ColumnBins, ...], tuple[ColumnBins | None, ...]]:
    """Return edges at quantiles of the sample, between the extremes of all rows."""
    frame, d = rows.frame, len(rows.frame.codes)
    edges: list[ColumnBins | None] = []
    ends = [
        *((float(low), float(high), rows.n) for low, high in zip(frame.low, frame.high, strict=True)),
        *((one.low, one.high, seen.n_annotated) for one, seen in zip(frame.columns, rows.seen.factors, strict=True)),
    ]
    for at, (column, (low, high, n)) in enumerate(zip(columns, ends, strict=True)):
        if at >= d and frame.columns[at - d].kind == "categorical":
            edges.append(None)
            continue
        values = np.asarray(column, dtype=np.float64)
        values = values[~np.isnan(values)]
        if not rows.all_kept:
            values = np.concatenate([values, [low, high]])  # a sample need not hold the extremes
        own = rule.of_rows(n) if isinstance(rule, Adaptive) else rule
        edges.append(own.column_bins(values, low, high))
    return tuple(one for one in edges[:d] if one is not None), tuple(edges[d:])


# Evaluations of rows that do not fit into memory ----------------------------------------------------------------------
#
# One pass finds the kinds, levels and extremes, a second one counts all pairs of columns under fixed edges and keeps a
# sample. Whole numbers add up in any order, so that metrics of histograms have the bits that they have in memory,
# however the rows are cut and counted. Metrics that sum (moments, extremes, sums in cells) are of all rows too, equal
# to rounding, where the sample does not hold every row. The other metrics are computed on a random sample of bounded
# size: the rows with the smallest keys, hashed from their number among all rows.
#
# Quantiles as edges of bins come from the sample too. Sketches of quantiles that merge, as KLL and t-digest, are no
# more exact at this size (a quantile of 100 000 rows is off by 0.16% of the rows in standard error) and depend on the
# order of merging or on draws that cannot be seeded.

#: Notes on how few rows there are: of a sample they say nothing of all rows.
OF_ROWS = ("few-rows", "many-codes")


def evaluation_in_pieces(
    asked: Sequence[Request], codes: Codes, factors: Factors, run: Run, *, protocol: str, named: bool
) -> Evaluation:
    """Score rows that are read a piece at a time.

    Parameters
    ----------
    asked : sequence of Request
    codes, factors
        Of Dask collections, tables of :func:`demele.scan_parquet`, or arrays.
    run : Run
        Dask collections are worked on by the active scheduler, whatever its ``n_jobs``.
    protocol : str
    named : bool
        Whether a metric that does not apply is an error.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        Also for all that needs all rows at once.
    """
    for argument, value, why in (
        ("n_bootstrap", run.n_bootstrap or None, "resamples are drawn from all rows"),
        ("n_permutations", run.n_permutations or None, "all rows are permuted"),
        ("std", codes.std, "standard deviations are spread over all rows"),
        ("groups", codes.groups, "groups are of columns in memory"),
        ("reduce", codes.reduce, "groups are of columns in memory"),
        ("align", codes.align, "codes are rotated in memory"),
        ("noise", factors.noise, "scores are corrected from all rows"),
        ("blocks", factors.blocks, "blocks of all rows are permuted"),
    ):
        if value is not None:
            raise InputError(
                argument,
                f"{why}, which rows read a piece at a time do not allow; leave it out, or pass a sample of the rows as "
                "an array",
            )
    with work.reporting() as report:
        rows = whole_rows(codes, factors, seed=run.seed, n_jobs=run.n_jobs, report=report)
        subject = rows.subject("rows")
        left_out: list[LeftOut] = []
        for one in list(asked):
            try:
                applies(one, subject)
            except NotEnoughData as error:
                if named:
                    raise
                left_out.append(LeftOut(metric=one.name, reason=error.said(in_backticks)))
                asked = [other for other in asked if other is not one]
        if not asked:
            raise NotEnoughData("metrics", f"none applies; {left_out[0].metric}: {left_out[0].reason}")
        states = {one.name: rows.state_for(one.metric, one.options) for one in asked}
        counted = [one for one in asked if states[one.name] is not None]
        read = dict.fromkeys(key_of(state, one.options) for one in counted if (state := states[one.name]) is not None)
        kept = rows.read(list(read), report)
        whole = Found(rows, run, named=named).compute(counted)
        asked = [one for one in asked if one.name not in whole.refused]
        left_out += whole.left_out
        scores = {score.metric: score for score in whole.scores(protocol, warn=False)}
        # Every metric is computed on the sample: that also shows what makes scores of all rows fragile.
        about, reason, frame = None, "", rows.frame
        quiet = warnings.catch_warnings(action="ignore", category=UndefinedFactorWarning)  # all rows were told of
        with work.reported_to(report), quiet:
            try:
                data = in_memory(kept, (frame.codes, frame.factors), frame, kinds=frame.kinds, missing=frame.missing)
                about = evaluation(asked, data, run, protocol=protocol, name="codes", named=True)
            except NotEnoughData as error:
                reason = f"on a random sample of {kept.n_kept:,} rows: {error}"
    if about is None and named and len(counted) < len(asked):
        raise NotEnoughData(reason)
    drawn = {} if about is None else {score.metric: score for score in about}
    reasons = {} if about is None else {one.metric: one.reason for one in about.left_out}
    for one in asked:
        own = drawn.get(one.name)
        if one.name in scores:
            scores[one.name] = _examined(scores[one.name], own, rows, one.metric.guards)
        elif own is not None:
            scores[one.name] = of_sample(own, kept, f"sample={rows.sample}", rows.drawn())
        else:
            left_out.append(LeftOut(metric=one.name, reason=reasons.get(one.name, reason)))
    drawn_later = Later() if about is None else about.later
    pictured = None if about is None or about.rows is None else replace(about.rows, n=rows.n)
    return subject.evaluation(
        (scores[one.name] for one in asked if one.name in scores),
        protocol,
        name=codes.name,
        left_out=tuple(left_out),
        dependency=() if about is None else about.dependency,
        later=Later({"verdict": lambda: drawn_later["verdict"]}, rows=pictured),
    )


def _examined(score: Score, in_sample: Score | None, rows: WholeRows, guards: Guards) -> Score:
    """Add what makes a score fragile; how few rows there are is no matter of the sample."""
    if in_sample is None:
        d = len(score.code_names)
        found = unprobed_notes(guards, score.value, score.n, d, kept="counts", chance=False)
        return replace(score, notes=(*score.notes, *found))
    told_of_all = {(note.code, note.subject) for note in score.notes}
    found = tuple(note for note in in_sample.notes if (note.code, note.subject) not in told_of_all)
    heard = OF_ROWS if rows.all_kept else ()
    fragile = [
        note for note in found if note.code in heard or (note.severity == "fragile" and note.code not in OF_ROWS)
    ]
    told = "" if rows.all_kept else f" (seen in a random sample of {rows.sample:,} rows)"
    if any(note.code == "edges-of-sample" for note in score.notes):
        score = with_context(score, rows.drawn())
    return replace(score, notes=(*score.notes, *(replace(note, message=f"{note.message}{told}") for note in fragile)))
