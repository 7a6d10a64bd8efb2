"""Matrices of SmallNORB and of MNIST: a small header, then plain numbers; as they are or packed by gzip."""

from __future__ import annotations

import gzip
import math
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.reading import check_unpacked, parsing, regular_file
from demele.data.loaders.stored_images import Images, Pixels, read_rows
from demele.data.mapped import MappedArray

#: What the first four bytes of a matrix of SmallNORB say, little-endian.
MATRIX_TYPES = {0x1E3D4C55: "u1", 0x1E3D4C54: "<i4", 0x1E3D4C56: "<i2", 0x1E3D4C51: "<f4", 0x1E3D4C53: "<f8"}
PACKED_MATRIX = 0x1E3D4C52
_GZIP = b"\x1f\x8b"
_MOST_AXES = 8


@dataclass(frozen=True, slots=True)
class MatrixFile:
    """What the header of a matrix says.

    Attributes
    ----------
    path : Path
    dtype : numpy.dtype
    shape : tuple of int
    begins : int
        Bytes of the header, before the numbers.
    packed : bool
        By gzip.
    """

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begins: int
    packed: bool

    @property
    def size(self) -> int:
        """Bytes of the numbers."""
        return math.prod(self.shape) * self.dtype.itemsize


def matrix_header(path: Path) -> MatrixFile:
    """Read the header of a matrix of SmallNORB.

    Raises
    ------
    FormatError
        If it is none, or holds more or less than its header says.
    """
    with _opened(path) as (file, packed):
        magic, axes = struct.unpack("<Ii", _bytes(path, file, 8))
        if magic == PACKED_MATRIX:
            raise FormatError(f"{path}: a packed matrix, which is not read; SmallNORB was published unpacked")
        if magic not in MATRIX_TYPES:
            matlab = struct.pack("<I", magic) in (b"MATL", b"\x89HDF")
            hint = ", as MATLAB writes it; SmallNORB's files are none" * matlab
            raise FormatError(f"{path}: not a matrix of SmallNORB: it begins with 0x{magic:08x}{hint}")
        if not 1 <= axes <= _MOST_AXES:
            raise FormatError(f"{path}: damaged: it declares {axes} axes")
        stored = max(3, axes)
        sizes = struct.unpack(f"<{stored}i", _bytes(path, file, 4 * stored))
    return _whole(MatrixFile(path, np.dtype(MATRIX_TYPES[magic]), sizes[:axes], 8 + 4 * stored, packed))


def idx_header(path: Path) -> MatrixFile:
    """Read the header of an idx file of bytes, as MNIST is published in.

    Raises
    ------
    FormatError
        If it is none, or holds more or less than its header says.
    """
    with _opened(path) as (file, packed):
        zero, kind, axes = struct.unpack(">HBB", _bytes(path, file, 4))
        if zero or kind != 8 or not 1 <= axes <= _MOST_AXES:
            raise FormatError(f"{path}: not an idx file of bytes: it begins with 0x{zero:04x}{kind:02x}{axes:02x}")
        sizes = struct.unpack(f">{axes}I", _bytes(path, file, 4 * axes))
    return _whole(MatrixFile(path, np.dtype(np.uint8), sizes, 4 + 4 * axes, packed))


def read_matrix(held: MatrixFile) -> NDArray[Any]:
    """Return the numbers of a matrix, whole.

    Raises
    ------
    FormatError
        If it is damaged, or declares more than a file may.
    """
    check_unpacked(held.path, held.size, stored=regular_file(held.path))
    (content,) = _rows(held, (1, held.size), 1)
    return content.view(held.dtype).reshape(held.shape)


def matrix_images(held: MatrixFile, decode: Callable[[Pixels], Pixels] | None = None) -> Images:
    """Return the images of a matrix of bytes: mapped to its file, or read from front to back where gzip packed it.

    Parameters
    ----------
    held : MatrixFile
        Its last two axes are height and width.
    decode : callable, optional
        Makes images of its rows.
    """
    what, n, shape = str(held.path), held.shape[0], (held.shape[-2], held.shape[-1], 1)
    if held.packed:
        return Images(what, n, shape, decode=decode, stream=partial(_rows, held, held.shape))
    return Images(what, n, shape, MappedArray(held.path, held.begins, held.shape, held.dtype), decode)


def _rows(held: MatrixFile, shape: tuple[int, ...], many: int) -> Iterator[Pixels]:
    """Yield the bytes of a matrix as rows, to its end."""
    with _opened(held.path) as (file, _):
        _bytes(held.path, file, held.begins)
        yield from read_rows(held.path, file.read, shape, many)
        with parsing(f"{held.path}: damaged or cut off; copy it again"):  # gzip compares its checksum at the end
            if file.read(1):
                raise FormatError(f"{held.path}: damaged: it holds more than the {held.size:,} bytes that it declares")


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO | gzip.GzipFile, bool]]:
    regular_file(path)
    with path.open("rb") as plain:
        packed = plain.read(2) == _GZIP
        plain.seek(0)
        if not packed:
            yield plain, False
            return
        with gzip.GzipFile(fileobj=plain, mode="rb") as file:
            yield file, True


def _bytes(path: Path, file: BinaryIO | gzip.GzipFile, size: int) -> bytes:
    with parsing(f"{path}: damaged or cut off; copy it again"):
        held = file.read(size)
    if len(held) != size:
        raise FormatError(f"{path}: cut off: {size:,} bytes were expected where it holds {len(held):,}; copy it again")
    return held


def _whole(held: MatrixFile) -> MatrixFile:
    """Compare a file with what its header declares; of a packed one, what its last bytes say of its length."""
    if min(held.shape) < 1:
        raise FormatError(f"{held.path}: damaged: it declares shape {quoted(held.shape)}")
    expected, found = held.begins + held.size, regular_file(held.path)
    where = f"for shape {held.shape}, found"
    if held.packed:
        with held.path.open("rb") as file:
            file.seek(-4, 2)
            (found,) = struct.unpack("<I", file.read(4))
        where = "once unpacked, its end says"
    if found != (expected % 2**32 if held.packed else expected):
        raise FormatError(
            f"{held.path}: damaged or cut off: expected {expected:,} bytes {where} {found:,}; copy it again"
        )
    return held
