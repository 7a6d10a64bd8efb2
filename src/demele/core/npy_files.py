"""Files and archives of NumPy: what they declare is held against their size before any of it is read, and never run."""

import math
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.reading import check_characters, parsing, regular_file

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


def mapped_array(path: Path) -> NDArray[Any]:
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
        array: NDArray[Any] = np.load(path, mmap_mode="r" if math.prod(header.shape) else None, allow_pickle=False)
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


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
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
        array: NDArray[Any] = npy.read_array(member, allow_pickle=False)
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
