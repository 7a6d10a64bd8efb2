"""Tables that are read a piece at a time: mapped arrays, and folders of Parquet files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.array_files import decoded, facts_of, parsing_parquet, text_columns
from demele.core.errors import (
    FormatError,
    InputError,
    InputTypeError,
    NotEnoughData,
    UnknownNameError,
    quoted,
    shortened,
)
from demele.core.lazy import require
from demele.core.reading import by_number, path_of
from demele.core.table_columns import items_of, other_lengths, split_columns

#: Rows of one piece of work, unless files are cut otherwise.
ROWS_PER_SPAN = 1 << 21
#: Rows read at a time.
ROWS_PER_READ = 1 << 17
#: Bytes that a column is read ahead, so that one row group may be larger than memory.
BYTES_AHEAD = 1 << 20


@dataclass(frozen=True, slots=True)
class ArrayTable:
    """Columns of arrays, mapped or in memory."""

    columns: NDArray[Any] | list[Any]
    names: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.columns) if isinstance(self.columns, np.ndarray) else len(self.columns[0])

    def batches(self, start: int, stop: int) -> Iterator[list[Any]]:
        """Yield the columns of successive rows."""
        for first in range(start, stop, ROWS_PER_READ):
            rows = slice(first, min(first + ROWS_PER_READ, stop))
            if isinstance(self.columns, np.ndarray):
                part = np.asarray(self.columns[rows])
                yield [part[:, index] for index in range(part.shape[1])]
            else:
                yield [some(column, rows.start, rows.stop) for column in self.columns]


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """Some columns of one or several Parquet files, whose rows follow each other; made by :func:`scan_parquet`.

    Attributes
    ----------
    files : tuple of str
    groups : tuple of tuples
        Rows of each row group of each file.
    names : tuple of str
        Names of the columns.
    """

    files: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"ParquetTable({self.n:,} rows of {', '.join(self.names)} in {len(self.files)} files)"

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(map(sum, self.groups))

    @property
    def cuts(self) -> tuple[int, ...]:
        """First rows of the row groups, and the end."""
        sizes = [rows for groups in self.groups for rows in groups]
        return (0, *(int(row) for row in np.cumsum(sizes)))

    def batches(self, start: int, stop: int) -> Iterator[list[Any]]:
        """Yield the columns of successive rows."""
        row = 0
        for path, sizes in zip(self.files, self.groups, strict=True):
            ends = row + np.cumsum(sizes, dtype=np.int64)
            first = row
            row = int(ends[-1]) if len(sizes) else row
            wanted = [index for index, end in enumerate(ends) if end > start and end - sizes[index] < stop]
            if row <= start or first >= stop or not wanted:
                continue
            at = int(ends[wanted[0]]) - sizes[wanted[0]]
            yield from self._rows(Path(path), wanted, start - at, stop - at)

    def _rows(self, path: Path, groups: list[int], start: int, stop: int) -> Iterator[list[Any]]:
        """Yield the columns of some rows of one file, counted from the first of these groups."""
        parquet = require("pyarrow.parquet", purpose="reading Parquet files")
        at = 0
        with parsing_parquet(path):
            with parquet.ParquetFile(path) as about:
                text = text_columns(about.schema_arrow, self.names)
            with parquet.ParquetFile(path, buffer_size=BYTES_AHEAD, pre_buffer=False, read_dictionary=text) as file:
                for batch in file.iter_batches(ROWS_PER_READ, row_groups=groups, columns=list(self.names)):
                    low, high = max(start - at, 0), min(stop - at, batch.num_rows)
                    at += batch.num_rows
                    if low < high:
                        part = {name: batch.column(name).slice(low, high - low) for name in self.names}
                        part.update({name: decoded(part[name], str(path)) for name in text})
                        yield [_column(part[name]) for name in self.names]


Table = ArrayTable | ParquetTable


def scan_parquet(path: str | Path, columns: Sequence[str] | str | None = None) -> ParquetTable:
    """Name columns of Parquet files without loading them, to be given to :func:`demele.evaluate`.

    Only the ends of the files are read now: which columns and how many rows they hold. Rows are read a piece at a time
    when they are scored.

    Parameters
    ----------
    path : str or Path
        A file, or a folder: all its files called ``*.parquet``, also in folders within it, in the order of their names
        with numbers by value (``part.2`` before ``part.10``). The rows of the files follow each other.
    columns : sequence of str, optional
        Names of the columns, in the order wanted; None: all, without the index of a frame of pandas.

    Returns
    -------
    ParquetTable

    Raises
    ------
    FormatError
        If there is no Parquet file, or one that cannot be read.
    UnknownNameError
        If a file does not have one of the columns.
    InputError
        If there is no such file or folder.
    MissingExtraError
        Without pyarrow.

    Examples
    --------
    >>> import tempfile, numpy as np, pandas as pd, demele
    >>> rows = pd.DataFrame(np.random.default_rng(0).random((1000, 2)), columns=["z", "v"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows[:600].to_parquet(f"{folder}/0.parquet")
    ...     rows[600:].to_parquet(f"{folder}/1.parquet")
    ...     codes, factors = (demele.scan_parquet(folder, name) for name in ("z", "v"))
    ...     score = demele.metrics.jemmig(codes, factors)
    >>> score.value == demele.metrics.jemmig(rows[["z"]], rows[["v"]]).value
    True
    """
    require("pyarrow", purpose="scan_parquet")
    path = path_of(path)
    if path.is_dir():
        files = sorted(
            (file for file in path.rglob("*.parquet") if not file.name.startswith((".", "_")) and file.is_file()),
            key=lambda file: by_number(str(file.relative_to(path))),
        )
        if not files:
            raise FormatError(f"{path}: holds no file called *.parquet")
    elif path.exists():
        files = [path]
    else:
        raise InputError(f"{path}: there is no such file or folder")
    if isinstance(columns, str):
        columns = [columns]
    names = None if columns is None else tuple(map(str, items_of(columns, "columns", "names of columns")))
    if names is not None and not names:
        raise InputError("columns", "expected at least one name, got none")
    if names is not None and len(set(names)) < len(names):
        raise InputError("columns", f"expected distinct names, got {', '.join(map(repr, names))}")
    facts = [facts_of(file, "scan_parquet") for file in files]
    if names is None:  # without the index of a frame of pandas
        names = tuple(name for name in facts[0].names if name not in facts[0].index)
    for file, own in zip(files, facts, strict=True):
        for name in names:
            if name not in own.names:
                near = get_close_matches(name, own.names, n=3, cutoff=0.6)
                shown = ", ".join(shortened(one, 40) for one in own.names[:12])
                hint = f"did you mean {' or '.join(map(quoted, near))}?" if near else f"it holds {shown}"
                raise UnknownNameError(f"{file}: holds no column called {quoted(name)}; {hint}")
    return ParquetTable(tuple(map(str, files)), tuple(own.groups for own in facts), names)


def table_of(data: object, argument: str) -> Table:
    """Return what is given as a table that is read a piece at a time.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    if isinstance(data, ParquetTable):
        table: Table = data
    else:
        columns, names = split_columns(data, argument, default="z" if argument == "codes" else "v")
        if not names:
            raise NotEnoughData(argument, "expected at least 1 column, got none")
        table = ArrayTable(columns, names)
    if table.n == 0:
        raise NotEnoughData(argument, "expected at least 2 rows, got none")
    return table


@dataclass(frozen=True, slots=True)
class Span:
    """Successive rows of two tables: one piece of work."""

    codes: Table
    factors: Table
    start: int
    stop: int

    def blocks(self) -> Iterator[tuple[list[Any], list[Any]]]:
        """Yield the columns of codes and factors of the same rows, whatever the lengths of their batches."""
        codes, factors = (table.batches(self.start, self.stop) for table in (self.codes, self.factors))
        left: list[Any] = []
        right: list[Any] = []
        while True:
            left = left if left and len(left[0]) else next(codes, [])
            right = right if right and len(right[0]) else next(factors, [])
            if not left or not right:
                break
            n = min(len(left[0]), len(right[0]))
            if n:
                yield [some(column, 0, n) for column in left], [some(column, 0, n) for column in right]
            left = [some(column, n, len(column)) for column in left]
            right = [some(column, n, len(column)) for column in right]
        if (left and len(left[0])) or (right and len(right[0])):
            raise InputError(("codes", "factors"), "the files changed while they were read: one ended before the other")


def spans(codes: Table, factors: Table) -> list[Span]:
    """Cut the rows of two tables into pieces of work, by what the tables are and nothing else.

    Files are cut where both have a row group that begins, so that no row group is read twice.
    """
    if codes.n != factors.n:
        raise other_lengths((codes.n, len(codes.names)), (factors.n, len(factors.names)))
    own = [set(table.cuts) for table in (codes, factors) if isinstance(table, ParquetTable)]
    allowed = sorted(set.intersection(*own)) if own else [*range(0, codes.n, ROWS_PER_SPAN), codes.n]
    found, start = [], 0
    for cut in allowed[1:]:
        if cut > start and (cut - start >= ROWS_PER_SPAN or cut == codes.n):
            found.append(Span(codes, factors, start, cut))
            start = cut
    return found


def some(column: Any, start: int, stop: int) -> Any:
    """Return successive rows of a column, by position whatever its labels."""
    return column.iloc[start:stop] if hasattr(column, "iloc") else column[start:stop]


def _column(values: Any) -> Any:
    """Return a column of Parquet as an array of numbers, or as pandas reads it."""
    kind = str(values.type)
    if values.null_count == 0 and (kind.startswith(("int", "uint")) or kind in ("float", "double", "halffloat")):
        return values.to_numpy()
    if kind.startswith(("list", "large_list", "fixed_size_list", "struct", "map")):
        raise InputTypeError("columns", f"expected numbers or classes, got a column of type {kind}; split it first")
    return values.to_pandas()
