"""Parquet files: their declarations are checked against their size, and all damages give one error."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demele.core.errors import FormatError, InputTypeError, quoted
from demele.core.extras import require
from demele.core.reading import BYTES_PER_COLUMN, check_unpacked, parsing, regular_file

#: Rows of text that are measured at a time.
_ROWS = 1 << 14
#: Texts and containers in the footer of a file may take so much.
_FOOTER = 64 << 20


@dataclass(frozen=True, slots=True)
class ParquetFacts:
    """What the end of a file says: its columns, their types, its row groups.

    Attributes
    ----------
    path : Path
    size : int
        Bytes of the file.
    schema : pyarrow.Schema
    index : tuple of str
        Columns that are the index of a frame of pandas.
    groups : tuple of int
        Rows of each row group.
    unpacked : mapping of str to int
        Bytes of each column, decompressed but still coded.
    """

    path: Path
    size: int
    schema: Any
    index: tuple[str, ...]
    groups: tuple[int, ...]
    unpacked: dict[str, int]

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema.names)

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(self.groups)


@contextmanager
def parsing_parquet(path: Path | str) -> Iterator[None]:
    """Let what pyarrow raises name the file."""
    with parsing(f"{path}: not a Parquet file that can be read"):
        yield


def facts_of(path: Path, purpose: str) -> ParquetFacts:
    """Read the end of a file.

    Raises
    ------
    FormatError
        If it is no Parquet file, is damaged, or has two columns of one name.
    """
    require("pyarrow", purpose=purpose)
    parquet = require("pyarrow.parquet", purpose=purpose)
    size = regular_file(path)
    with (
        parsing_parquet(path),
        parquet.ParquetFile(path, thrift_string_size_limit=_FOOTER, thrift_container_size_limit=_FOOTER >> 4) as file,
    ):
        about, schema = file.metadata, file.schema_arrow
        check_unpacked(path, about.num_columns * BYTES_PER_COLUMN, stored=size)
        index = tuple(map(str, (schema.pandas_metadata or {}).get("index_columns", [])))
        groups, unpacked = [], dict.fromkeys(schema.names, 0)
        for number in range(about.num_row_groups):
            group = about.row_group(number)
            groups.append(int(group.num_rows))
            for column in range(group.num_columns):
                chunk = group.column(column)
                name = chunk.path_in_schema if chunk.path_in_schema in unpacked else chunk.path_in_schema.split(".")[0]
                unpacked[name] = unpacked.get(name, 0) + int(chunk.total_uncompressed_size)
        if any(rows < 0 for rows in groups) or sum(groups) != about.num_rows or min(unpacked.values(), default=0) < 0:
            raise FormatError(f"{path}: not a Parquet file that can be read (its counts of rows contradict each other)")
    repeated = [name for name in unpacked if schema.names.count(name) > 1] if len(unpacked) < len(schema.names) else []
    if repeated:
        raise FormatError(f"{path}: holds more than one column called {quoted(repeated[0])}; rename them")
    return ParquetFacts(path, size, schema, index, tuple(groups), unpacked)


def text_columns(schema: Any, names: Sequence[str]) -> list[str]:
    """Return the columns of text that are not of a categorical type."""
    kinds = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
    return [name for name in names if str(schema.field(name).type) in kinds]


def check_columns(facts: ParquetFacts, names: Sequence[str]) -> None:
    """Refuse columns that hold lists or records, and those that would take more memory than a file may."""
    import pyarrow

    types, total = pyarrow.types, 0
    text = set(text_columns(facts.schema, names))
    for name in names:
        kind = facts.schema.field(name).type
        if types.is_nested(kind):
            raise InputTypeError(
                f"{facts.path}: column {quoted(name)}: expected numbers or classes, got values of type "
                f"{str(kind)[:60]}; split them into columns first"
            )
        if name in text:
            total += _text_size(facts, name)
        else:
            try:
                width = max(int(kind.bit_width) // 8, 8)
            except ValueError:  # of no fixed width
                width = 8
            total += max(facts.n * width, facts.unpacked.get(name, 0))
        check_unpacked(facts.path, total, stored=facts.size)


def _text_size(facts: ParquetFacts, name: str) -> int:
    """Return the bytes of a column of text: one long text may stand for every row, and take no room in the file."""
    parquet = require("pyarrow.parquet", purpose=f"reading {facts.path}")
    most = facts.n * max(facts.unpacked.get(name, 0), 8)
    if most <= 64 << 20:
        return most
    size = facts.unpacked.get(name, 0) + 8 * facts.n
    check_unpacked(facts.path, size, stored=facts.size)
    total = 8 * facts.n
    with (
        parsing_parquet(facts.path),
        parquet.ParquetFile(facts.path, read_dictionary=[name], pre_buffer=False) as file,
    ):
        for batch in file.iter_batches(_ROWS, columns=[name]):
            total += _bytes_of(batch.column(0))
            check_unpacked(facts.path, total, stored=facts.size)
    return max(total, size)


def _bytes_of(column: Any) -> int:
    import pyarrow.compute as compute

    if not hasattr(column, "dictionary"):
        return int(column.nbytes)
    lengths = compute.binary_length(column.dictionary)
    return int(compute.sum(compute.take(lengths, column.indices.cast("int64"))).as_py() or 0)


def decoded(column: Any, path: str) -> Any:
    """Return a column of text that was read with its dictionary as text, if that takes no more than it may."""
    check_unpacked(path, _bytes_of(column), stored=0)
    return column.dictionary_decode()
