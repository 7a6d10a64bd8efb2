"""Files of NumPy and Parquet: what they declare is held against their size before it is read, and never run."""

import math
import struct
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from demele.core.arrays import Array
from demele.core.errors import FormatError, InputTypeError, quoted
from demele.core.lazy import require
from demele.core.reading import BYTES_PER_COLUMN, check_characters, check_unpacked, parsing, regular_file

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
#: The header of a member of a zip, up to the lengths of its name and of what follows it.
_LOCAL = struct.Struct("<4s22xHH")
_ENCRYPTED = 1


@dataclass(frozen=True, slots=True)
class ArrayHeader:
    """What the header of an array says.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
        Never of Python objects.
    columns_first : bool
        The first index changes fastest ("Fortran order").
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    columns_first: bool

    @property
    def size(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * self.dtype.itemsize


def objects_refused(what: object) -> str:
    """Say why a file of Python objects is not read."""
    return (
        f"{what}: holds Python objects, which are not loaded because they can run code; "
        "save plain arrays of numbers or strings"
    )


def read_header(what: object, file: IO[bytes]) -> ArrayHeader:
    """Read the header of an array, and nothing else; the file then stands where the values begin.

    Parameters
    ----------
    what : object
        The file, or the member of an archive, for the messages.
    file : binary file
        Where the array begins.

    Raises
    ------
    FormatError
        If it is none, of a version that is not read, or of Python objects.
    """
    with parsing(f"{what}: not a NumPy file that can be read: damaged or cut off"):
        version = npy.read_magic(file)
        if version not in _HEADERS:
            raise FormatError(f"{what}: format version {version} of NumPy is not read; save a plain array")
        shape, columns_first, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise FormatError(objects_refused(what))
    if any(length < 0 for length in shape) or dtype.itemsize == 0:
        raise FormatError(f"{what}: not a NumPy file that can be read: it declares shape {quoted(shape)} of {dtype}")
    return ArrayHeader(shape, dtype, bool(columns_first))


def mapped_array(path: Path) -> Array:
    """Return the array of an ``.npy`` file, mapped into memory: what is not looked at is not read.

    Raises
    ------
    FormatError
        If the file is none, is cut off, or holds Python objects.
    """
    size = regular_file(path)
    with path.open("rb") as file:
        header = read_header(path, file)
        if header.size != size - file.tell():
            raise FormatError(
                f"{path}: not a NumPy file that can be read: damaged or cut off: it declares {header.size:,} bytes of "
                f"data and holds {size - file.tell():,}"
            )
    with parsing(f"{path}: not a NumPy file that can be read: damaged or cut off"):
        array: Array = np.load(path, mmap_mode="r" if math.prod(header.shape) else None, allow_pickle=False)
        check_characters(path, array)
    return array


@contextmanager
def opened_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive of arrays, an ``.npz``.

    Raises
    ------
    FormatError
        If it is none.
    """
    with parsing(f"{path}: not a NumPy file that can be read: damaged or cut off"):
        archive = zipfile.ZipFile(path)
    with archive:
        yield archive


def members_of(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members of an archive by the names of their arrays.

    Raises
    ------
    FormatError
        If two have the same name.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise FormatError(f"{archive.filename}: holds more than one array called {quoted(name)}; save it again")
        members[name] = info
    return members


@contextmanager
def opened_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[tuple[ArrayHeader, IO[bytes]]]:
    """Open an array of an archive where its values begin, to be read from front to back.

    Raises
    ------
    FormatError
        If it is none, or declares more or less than the archive says that it holds.
    """
    what = f"{archive.filename}::{info.filename.removesuffix('.npy')}"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FormatError(f"{what}: packed in a way that numpy.savez never does; save it again")
    with parsing(f"{what}: not an array that can be read: damaged or cut off"):
        member = archive.open(name=info, mode="r")
    with member:
        with parsing(f"{what}: not an array that can be read: damaged or cut off"):
            header = read_header(what, member)
            rest = info.file_size - member.tell()
            if header.size != rest:
                raise FormatError(f"{what}: damaged: it declares {header.size:,} bytes of data and holds {rest:,}")
        yield header, member


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Array:
    """Return an array of an archive, whole.

    Raises
    ------
    FormatError
        As :func:`opened_member`, and for text that is none.
    """
    what = f"{archive.filename}::{info.filename.removesuffix('.npy')}"
    with opened_member(archive, info):
        pass  # it is what the directory says
    with (
        parsing(f"{what}: not an array that can be read: damaged or cut off"),
        archive.open(name=info, mode="r") as member,
    ):
        array: Array = npy.read_array(member, allow_pickle=False)
        check_characters(what, array)
    return array


def place_of_member(path: Path, info: zipfile.ZipInfo) -> int | None:
    """Return where in an archive a member begins, if its bytes stand there as they are; None if they are packed.

    Raises
    ------
    FormatError
        If the archive holds no such member there.
    """
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & _ENCRYPTED:
        return None
    with path.open("rb") as file:
        file.seek(info.header_offset)
        held = file.read(_LOCAL.size)
        size = file.seek(0, 2)
    what = f"{path}::{info.filename.removesuffix('.npy')}"
    if len(held) < _LOCAL.size or not held.startswith(b"PK\3\4"):
        raise FormatError(f"{what}: not an array that can be read: damaged or cut off")
    # the lengths here count: numpy.savez writes more than the directory at the end repeats
    _, name, extra = _LOCAL.unpack(held)
    start: int = info.header_offset + _LOCAL.size + name + extra
    if start + info.file_size > size or info.compress_size != info.file_size:
        raise FormatError(f"{what}: not an array that can be read: damaged or cut off")
    return start


# Parquet files --------------------------------------------------------------------------------------------------------

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
