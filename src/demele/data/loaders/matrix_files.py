"""Matrices of SmallNORB and of MNIST: a small header, then plain numbers; as they are or packed by gzip."""

from __future__ import annotations

import gzip
import math
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.reading import check_unpacked, parsing, regular_file
from demele.data.loaders.stores import MappedStore, Pixels, Store

#: What the first four bytes of a matrix of SmallNORB say, little-endian.
MATRIX_TYPES: dict[int, np.dtype[Any]] = {
    0x1E3D4C55: np.dtype("u1"),
    0x1E3D4C54: np.dtype("<i4"),
    0x1E3D4C56: np.dtype("<i2"),
    0x1E3D4C51: np.dtype("<f4"),
    0x1E3D4C53: np.dtype("<f8"),
}
PACKED_MATRIX = 0x1E3D4C52
#: The third byte of an idx file, whose numbers are big-endian.
IDX_TYPES: dict[int, np.dtype[Any]] = {
    0x08: np.dtype("u1"),
    0x09: np.dtype("i1"),
    0x0B: np.dtype(">i2"),
    0x0C: np.dtype(">i4"),
    0x0D: np.dtype(">f4"),
    0x0E: np.dtype(">f8"),
}
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
            hint = ", as MATLAB writes it; SmallNORB's files are none" if _is_matlab(magic) else ""
            raise FormatError(f"{path}: not a matrix of SmallNORB: it begins with 0x{magic:08x}{hint}")
        if not 1 <= axes <= _MOST_AXES:
            raise FormatError(f"{path}: damaged: it declares {axes} axes")
        stored = max(3, axes)
        sizes = struct.unpack(f"<{stored}i", _bytes(path, file, 4 * stored))
    found = MatrixFile(path, MATRIX_TYPES[magic], sizes[:axes], 8 + 4 * stored, packed)
    return _whole(found)


def idx_header(path: Path) -> MatrixFile:
    """Read the header of an idx file, as MNIST is published in.

    Raises
    ------
    FormatError
        If it is none, or holds more or less than its header says.
    """
    with _opened(path) as (file, packed):
        zero, kind, axes = struct.unpack(">HBB", _bytes(path, file, 4))
        if zero or kind not in IDX_TYPES or not 1 <= axes <= _MOST_AXES:
            raise FormatError(f"{path}: not an idx file: it begins with 0x{zero:04x}{kind:02x}{axes:02x}")
        sizes = struct.unpack(f">{axes}I", _bytes(path, file, 4 * axes))
    return _whole(MatrixFile(path, IDX_TYPES[kind], sizes, 4 + 4 * axes, packed))


def read_matrix(held: MatrixFile) -> NDArray[Any]:
    """Return the numbers of a matrix, whole.

    Raises
    ------
    FormatError
        If it is damaged, or declares more than a file may.
    """
    check_unpacked(held.path, held.size, stored=held.path.stat().st_size)
    with _opened(held.path) as (file, _):
        _bytes(held.path, file, held.begins)
        content = _bytes(held.path, file, held.size)
        _at_end(held, file)
    return np.frombuffer(content, held.dtype).reshape(held.shape)


def matrix_store(held: MatrixFile, *, layer: int | None = None) -> Store:
    """Return the images of a matrix of bytes: mapped to its file, or read from front to back where gzip packed it.

    Parameters
    ----------
    held : MatrixFile
        Of shape (n, H, W); with ``layer``, (n, layers, H, W).
    layer : int, optional
    """
    if not held.packed:
        return MappedStore(held.path, held.begins, held.shape, layer=layer)
    return PackedMatrix(held, layer)


class PackedMatrix(Store):
    """Images of a matrix that gzip packed."""

    def __init__(self, held: MatrixFile, layer: int | None) -> None:
        super().__init__(str(held.path), held.shape[0], (*held.shape[-2:], 1))  # type: ignore[arg-type]
        self._held, self._layer = held, layer or 0

    def blocks(self) -> Iterator[tuple[int, Pixels]]:
        """Yield all images; see :meth:`Store.blocks`.

        Raises
        ------
        FormatError
            If the file is damaged.
        """
        layers = math.prod(self._held.shape[1:-2])
        with _opened(self._held.path) as (file, _):
            _bytes(self._held.path, file, self._held.begins)
            for start in range(0, self.n, self.per_block):
                count = min(self.per_block, self.n - start)
                content = _bytes(self._held.path, file, count * layers * math.prod(self.shape))
                images = np.frombuffer(content, np.uint8).reshape(count, layers, *self.shape)
                yield start, np.ascontiguousarray(images[:, self._layer])
            _at_end(self._held, file)


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


def _at_end(held: MatrixFile, file: BinaryIO | gzip.GzipFile) -> None:
    with parsing(f"{held.path}: damaged or cut off; copy it again"):  # gzip compares its checksum at the end
        if file.read(1):
            raise FormatError(f"{held.path}: damaged: it holds more than the {held.size:,} bytes that it declares")


def _whole(held: MatrixFile) -> MatrixFile:
    """Hold a file against what its header declares; of a packed one, what its last bytes say of its length."""
    if min(held.shape) < 1:
        raise FormatError(f"{held.path}: damaged: it declares shape {quoted(held.shape)}")
    expected, size = held.begins + held.size, regular_file(held.path)
    if not held.packed and size != expected:
        raise FormatError(
            f"{held.path}: damaged or cut off: expected {expected:,} bytes for shape {held.shape}, found {size:,}; "
            "copy it again"
        )
    if held.packed:
        with held.path.open("rb") as file:
            file.seek(-4, 2)
            (last,) = struct.unpack("<I", file.read(4))
        if last != expected % 2**32:
            raise FormatError(
                f"{held.path}: damaged or cut off: expected {expected:,} bytes once unpacked, its end says {last:,}; "
                "copy it again"
            )
    return held


def _is_matlab(magic: int) -> bool:
    return struct.pack("<I", magic) in (b"MATL", b"\x89HDF")
