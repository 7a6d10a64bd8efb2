"""Batches as they are read, and a bounded sample of their rows that does not depend on the order of merging."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import pd
from demele.core.errors import IncompatibleState, InputError, NotEnoughData, plural
from demele.core.inputs import Codes, Missing, given_kinds, read_codes, read_factor, read_pair
from demele.core.results import Note, Score
from demele.core.signature import Signature
from demele.core.table_columns import as_column, check_same_rows, other_lengths, split_columns
from demele.metrics.source import InMemory, Subject, checked_std
from demele.streaming.frame import BinEdges, Column, Rows, storage

# Batches as they come, read -------------------------------------------------------------------------------------------

#: Names of codes and of factors.
Names = tuple[tuple[str, ...], tuple[str, ...]]
#: Names that columns of arrays are given.
_DEFAULTS = {"codes": "z", "factors": "v", "codes_std": "z"}


def column_order(
    names: tuple[str, ...], expected: tuple[str, ...], argument: str, *, named: bool, where: str
) -> list[int] | None:
    """Return where each expected column stands in a batch, or None if they stand in order.

    Columns with names may come in any order; where one of the two sides was an array, which has no names, columns are
    taken as they stand.

    Raises
    ------
    InputError
        Saying which column is missing, or is one too many; ``where`` says who expects the others.
    """
    if names == expected:
        return None
    if len(names) == len(expected):
        if named and set(names) == set(expected):
            return [names.index(name) for name in expected]
        if not named or all(name == f"{_DEFAULTS[argument]}{index + 1}" for index, name in enumerate(expected)):
            return None
    told = [f"got {len(names)}"]
    if named:
        told += [f"{name!r} is missing" for name in expected if name not in names][:1]
        told += [f"{name!r} is not among them" for name in names if name not in expected][:1]
    listed = ", ".join(map(repr, expected[:6])) + (", ..." if len(expected) > 6 else "")
    raise InputError(argument, f"expected the {len(expected)} columns {where}, {listed}; {', '.join(told)}")


def n_rows(table: NDArray[Any] | list[Any]) -> int:
    """Return the number of rows of a table that was split into columns."""
    return len(table) if isinstance(table, np.ndarray) else len(table[0]) if table else 0


# In the coding of a frame ---------------------------------------------------------------------------------------------


def _read_columns(
    codes: object, factors: object, expected: Names | None, where: str
) -> tuple[Names, Codes | None, list[Any]]:
    """Return names, codes and the columns of factors, in the expected order; no codes where there are no rows."""
    table, names = split_columns(codes, "codes", default="z")
    raw, own = split_columns(factors, "factors", default="v")
    if expected is None and not (names and own):
        raise NotEnoughData("codes" if not names else "factors", "expected at least 1 column, got none")
    expected = expected or (names, own)
    in_codes = column_order(names, expected[0], "codes", named=not isinstance(table, np.ndarray), where=where)
    in_factors = column_order(own, expected[1], "factors", named=not isinstance(raw, np.ndarray), where=where)
    n, rows = n_rows(table), n_rows(raw)
    if rows != n:
        raise other_lengths((n, len(names)), (rows, len(own)))
    if n == 0:
        return expected, None, []
    check_same_rows(codes, factors)
    read = read_codes(table if isinstance(table, np.ndarray) else codes)
    if in_codes is not None:
        read = Codes(read.values[:, in_codes], expected[0], read.low[in_codes], read.high[in_codes])
    places = in_factors or range(len(expected[1]))
    return expected, read, [raw[:, at] if isinstance(raw, np.ndarray) else raw[at] for at in places]


def read_batch(frame: BinEdges, codes: object, factors: object, outside: str = "raise") -> Rows:
    """Return a batch in the coding of a frame.

    Raises
    ------
    InputError, InputTypeError
        For other columns, values that are not finite, missing annotations (with ``missing="raise"``), levels that
        the frame does not have, and (``outside="raise"``) values outside its ranges.
    """
    _, read, columns = _read_columns(codes, factors, (frame.codes, frame.factors), "of the frame")
    if read is None:
        return Rows(np.empty((0, len(frame.codes))), tuple(np.empty(0) for _ in frame.columns), 0)
    values = tuple(_factor(column, about, frame.missing) for column, about in zip(columns, frame.columns, strict=True))
    return _within(frame, read, values, clip=outside == "clip")


def _within(frame: BinEdges, read: Codes, factors: tuple[NDArray[Any], ...], *, clip: bool) -> Rows:
    """Refuse, or clip, what lies outside the ranges of a frame."""
    matrix, inside = read.values, list(factors)
    outside = []  # argument, name, values, which are outside, how many in all, and the range
    beyond = (read.low < frame.low) | (read.high > frame.high)
    if beyond.any():
        off = (matrix < frame.low) | (matrix > frame.high)
        at = int(np.flatnonzero(beyond)[0])
        ends = float(frame.low[at]), float(frame.high[at])
        outside.append(("codes", frame.codes[at], matrix[:, at], off[:, at], int(off.sum()), *ends))
        matrix = np.clip(matrix, frame.low, frame.high)
    for at, (values, about) in enumerate(zip(factors, frame.columns, strict=True)):
        if about.kind == "continuous":
            exact = np.asarray(values, dtype=np.float64)
            off = (exact < about.low) | (exact > about.high)
            if off.any():
                outside.append(("factors", about.name, exact, off, int(off.sum()), about.low, about.high))
                inside[at] = np.clip(exact, about.low, about.high)
    if not outside:
        return Rows(matrix, factors, 0)
    if not clip:
        argument, name, values, off, count, low, high = outside[0]
        row = int(np.flatnonzero(off)[0])
        raise InputError(
            argument,
            f"{count} values of this batch lie outside the frame's ranges, first {values[row]:g} in column "
            f"{name!r} at row {row}, outside [{low:g}, {high:g}]; make the frame wider, or pass outside='clip' to "
            "count them in the first or last bin",
        )
    return Rows(matrix, tuple(inside), sum(one[4] for one in outside), Rows(read.values, factors, 0))


def _factor(column: Any, about: Column, missing: str) -> NDArray[Any]:
    """Return a factor's values: level numbers (-1: not annotated), or floats (NaN)."""
    if about.kind == "categorical":
        return _levels(column, about, missing)
    if isinstance(column, np.ndarray) and column.dtype.kind in "fiub":
        values = column if column.dtype.kind == "f" else column.astype(np.float64)
    else:
        values = np.asarray(read_factor(column, about.name, "continuous").values)
    known = np.isfinite(values)
    if not known.all():
        infinite = np.flatnonzero(np.isinf(values))
        if infinite.size:
            raise InputError(
                "factors",
                f"{plural(infinite.size, 'infinite value', 'infinite values')} in column {about.name!r}, first at "
                f"row {infinite[0]} of "
                "this batch; drop or mark them missing",
            )
        _check_missing(~known, about.name, missing)
    return values


def _levels(column: Any, about: Column, missing: str) -> NDArray[Any]:
    factor = read_factor(column, about.name, "categorical")
    if not factor.complete:
        _check_missing(np.asarray(factor.values) < 0, about.name, missing)
    if factor.levels == about.levels:
        return np.asarray(factor.values)
    place = {level: index for index, level in enumerate(about.levels)}
    unknown = [level for level in factor.levels if level not in place]
    if unknown:
        row = int(np.flatnonzero(factor.values == factor.levels.index(unknown[0]))[0])
        raise InputError(
            "factors",
            f"column {about.name!r} of this batch holds {len(unknown)} classes that the frame does not "
            f"have, first {unknown[0]!r} at row {row}; make the frame with all classes",
        )
    table = np.array([*(place[level] for level in factor.levels), -1], dtype=np.intp)
    return np.asarray(table[factor.values])


def _check_missing(
    unknown: NDArray[np.bool_], name: str, missing: str, remedy: str = "make the frame with missing='omit'"
) -> None:
    if missing == "raise":
        raise InputError(
            "factors",
            f"{plural(int(unknown.sum()), 'missing annotation', 'missing annotations')} in column {name!r}, first "
            f"at row {int(np.flatnonzero(unknown)[0])} of this batch; drop those rows, or {remedy}",
        )


# Without a frame ------------------------------------------------------------------------------------------------------


def read_rows(
    codes: object,
    factors: object,
    *,
    names: Names | None,
    before: tuple[NDArray[Any], ...],
    kinds: object,
    missing: Missing,
) -> tuple[Names, list[NDArray[Any]], int]:
    """Read a batch without a frame: names, columns of codes and then of factors, and the number of rows.

    ``names`` and ``before`` are the columns of the batches before, if there were any.

    Raises
    ------
    InputError, InputTypeError
    """
    own, read, raw = _read_columns(codes, factors, names, "of the batches before")
    if read is None:
        return own, [], 0
    n, columns = read.n, [read.values[:, at] for at in range(read.d)]
    given = given_kinds(kinds, own[1])
    for index, (given_column, name) in enumerate(zip(raw, own[1], strict=True)):
        column = as_column(given_column, "factors")
        factor = read_factor(column, name, given.get(name))
        if not factor.complete:
            _check_missing(~factor.annotated(), name, missing, "pass `Accumulator(missing='omit')`")
        if before and mixed(before[index], column):
            told = ("numbers", "text") if storage(column) else ("text", "numbers")
            raise InputError("factors", f"column {name!r} holds {told[0]} in this batch, and held {told[1]} before")
        columns.append(column)
    return own, columns, n


def read_deviations(codes_std: object, names: tuple[str, ...], n: int) -> list[NDArray[Any]]:
    """Read the standard deviations of n rows of codes, as columns in their order.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    if codes_std is None:
        raise NotEnoughData("codes_std", "rmig needs the standard deviations of the codes; pass `codes_std=`")
    table, own = split_columns(codes_std, "codes_std", default="z")
    if (n_rows(table), len(own)) != (n, len(names)):
        raise InputError(
            "codes_std", f"expected the shape of codes, ({n}, {len(names)}), got ({n_rows(table)}, {len(own)})"
        )
    order = column_order(own, names, "codes_std", named=not isinstance(table, np.ndarray), where="of codes")
    read = read_codes(table if isinstance(table, np.ndarray) else codes_std, "codes_std")
    values = checked_std(read.values, read, "codes_std")
    return [values[:, at] for at in order or range(len(names))]


def mixed(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Whether joining two columns would turn the numbers of one into text."""
    kinds = [column.dtype.kind for column in (first, second)]
    if all(kind in "fiub" for kind in kinds) or all(kind in "US" for kind in kinds):
        return False
    own = {"text" if not stored else "numbers" for stored in map(storage, (first, second)) if stored != "?"}
    return len(own) > 1


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
        # copied: a part must not change when a caller writes into his batch again
        columns, names = tuple(column.copy() for column in columns), np.full(keys.size, stream, dtype=object)
        stack = [*self.parts, SampledRows(keys, names, numbers, columns)]
        while len(stack) > 1 and stack[-2].keys.size <= 2 * stack[-1].keys.size:
            last = stack.pop()
            stack[-1] = joined_rows((stack[-1], last))
        grown = replace(grown, parts=tuple(stack))
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


def in_memory(
    sample: SampleState, names: Names, frame: BinEdges | None, *, kinds: object, missing: Missing
) -> InMemory:
    """Return the rows that were kept as a source: codes, factors and, if there are any, standard deviations."""
    columns, d, m = sample.rows(), len(names[0]), len(names[1])
    own = columns[d : d + m]
    codes = table_of_columns(columns[:d], names[0], "z")
    factors = table_of_columns(own, names[1], "v") if frame is None else frame.restored(own)
    std = np.column_stack(columns[d + m :]) if len(columns) > d + m else None
    return InMemory(Subject.of(*read_pair(codes, factors, kinds=kinds, missing=missing)), std)


def table_of_columns(columns: Sequence[Any], names: tuple[str, ...], default: str) -> Any:
    """Return columns as they came: an array of rows if they have no names, else a frame.

    Solvers that sum in another order, as they do for another layout, give other last bits.
    """
    numeric = all(isinstance(column, np.ndarray) and column.dtype.kind in "fiub" for column in columns)
    if numeric and names == tuple(f"{default}{index + 1}" for index in range(len(columns))):
        return np.column_stack(columns)

    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def of_sample(score: Score, sample: SampleState, how: str, context: Mapping[str, str]) -> Score:
    """Say of how many rows a sampled score is, where it is not of all; ``context`` is what its signature adds."""
    if sample.n_kept == sample.n:
        return score
    note = Note(code="sampled", message=f"of a random sample of {sample.n_kept:,} of {sample.n:,} rows ({how})")
    return with_context(replace(score, notes=(*score.notes, note)), context)


def with_context(score: Score, context: Mapping[str, str]) -> Score:
    """Return a score whose signature says more of where it came from."""
    signature = score.signature
    added = Signature(signature.metric, signature.arguments, {**signature.context, **context})
    return replace(score, signature=added)
