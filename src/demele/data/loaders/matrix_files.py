"""Matrices of SmallNORB and of MNIST, and files of MATLAB 5: a header of a few bytes, then plain numbers.

They lie there as they are, or packed by gzip or zlib. SciPy reads a variable of MATLAB whole, in two copies, and takes
what a file declares: numbers are streamed from here instead, or mapped where they were not packed.
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib
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
from demele.data.loaders.archives import GZIP
from demele.data.loaders.published import Request
from demele.data.loaders.stored_images import Images, Pixels, read_rows
from demele.data.mapped import MappedArray

# Matrices of SmallNORB and of MNIST -----------------------------------------------------------------------------------

#: What the first four bytes of a matrix of SmallNORB say, little-endian.
MATRIX_TYPES = {0x1E3D4C55: "u1", 0x1E3D4C54: "<i4", 0x1E3D4C56: "<i2", 0x1E3D4C51: "<f4", 0x1E3D4C53: "<f8"}
PACKED_MATRIX = 0x1E3D4C52
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
        packed = plain.read(2) == GZIP
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


# MATLAB 5 -------------------------------------------------------------------------------------------------------------

#: Bytes before the first variable; the last four say the version and the order of bytes.
_HEADER = 128
#: Kinds of what stands in a file: a variable, and one that zlib packed.
_MATRIX, _PACKED = 14, 15
#: Bytes of a variable before its numbers: flags, sizes, name.
_BEGINNING = 4096
#: Classes of arrays of numbers, from 6 on; and types that they are stored as, which can be smaller.
_CLASSES = ("float64", "float32", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}


@dataclass(frozen=True, slots=True)
class Variable:
    """An array in a file of MATLAB 5.

    Attributes
    ----------
    path : Path
    name : str
    kind : str
        The type of its class, such as ``"uint8"``.
    shape : tuple of int
        The first index changes fastest.
    stored : numpy.dtype
        What its numbers are stored as.
    place, length : int
        Where it begins in the file, after its tag, and its bytes there.
    begins : int
        Bytes of it before the numbers, once unpacked.
    packed : bool
        By zlib.
    """

    path: Path
    name: str
    kind: str
    shape: tuple[int, ...]
    stored: np.dtype[Any]
    place: int
    length: int
    begins: int
    packed: bool

    @property
    def size(self) -> int:
        """Bytes of the numbers."""
        return math.prod(self.shape) * self.stored.itemsize

    def numbers(self) -> NDArray[Any]:
        """Return the numbers, whole.

        Raises
        ------
        FormatError
            If the file is damaged or cut off.
        """
        with self.opened() as read, parsing(f"{self.path}: damaged or cut off; copy it again"):
            content = read(self.size)
            return np.frombuffer(content, self.stored).reshape(self.shape, order="F")

    @contextmanager
    def opened(self) -> Iterator[Callable[[int], bytes]]:
        """Yield a function that reads so many bytes of the numbers; at the end zlib has compared its checksum.

        Raises
        ------
        FormatError
            If the variable does not end where it should.
        """
        with self.path.open("rb") as file:
            file.seek(self.place)
            read = _inflating(file, self.length) if self.packed else file.read
            with parsing(f"{self.path}: damaged or cut off; copy it again"):
                read(self.begins)
            yield read
            if self.packed:
                with parsing(f"{self.path}: damaged or cut off; copy it again"):
                    read(_BEGINNING)  # what fills it up
                    if read(1):
                        raise FormatError(f"{self.path}: a variable does not end where it says; copy it again")


def matlab_variable(
    request: Request, variables: dict[str, Variable], path: Path, name: str, kind: str, shape: tuple[int, ...]
) -> Variable:
    """Return a variable, if it is there and has the type and the shape expected.

    Raises
    ------
    FormatError
    """
    if name not in variables:
        raise request.lacks(path, name, variables)
    found = variables[name]
    request.expect_array(f"{path}::{name}", found.kind, found.shape, kind, shape)
    if kind == "uint8" and found.stored != np.uint8:
        raise FormatError(f"{path}::{name}", f"expected bytes, found {found.stored}")
    return found


def matlab_variables(path: Path, title: str) -> dict[str, Variable]:
    """Return the arrays of numbers of a file by name; what else there is, is left out.

    Parameters
    ----------
    path : Path
    title : str
        Title of the set that was published so, for messages.

    Raises
    ------
    FormatError
        If it is no file of MATLAB 5, is cut off or damaged.
    """
    size = regular_file(path)
    found: dict[str, Variable] = {}
    with path.open("rb") as file, parsing(f"{path}: damaged or cut off; copy it again"):
        header = file.read(_HEADER)
        if header.startswith(b"\x89HDF") or header[124:128] in (b"\x00\x02IM", b"\x02\x00MI"):
            raise FormatError(
                f"{path}: a file of MATLAB 7.3, which is HDF5; {title} was published in MATLAB 5: save it with -v6 or "
                "-v7"
            )
        order = {b"IM": "<", b"MI": ">"}.get(header[126:128])
        if order is None:
            raise FormatError(f"{path}: not a file of MATLAB 5: it does not begin as one")
        place = _HEADER
        while place < size:
            file.seek(place)
            kind, length = struct.unpack(f"{order}II", file.read(8))
            place += 8
            if place + length > size:
                raise FormatError(
                    f"{path}: cut off: expected at least {place + length:,} bytes, found {size:,}; copy it again"
                )
            if kind in (_MATRIX, _PACKED):
                read = _inflating(file, length) if kind == _PACKED else file.read
                beginning = read(min(length, _BEGINNING) if kind == _MATRIX else _BEGINNING)
                one = _described(path, beginning, order, place, length, packed=kind == _PACKED)
                if one is not None and one.name in found:
                    raise FormatError(f"{path}: holds two variables {quoted(one.name)}")
                found |= {} if one is None else {one.name: one}
            place += length
    return found


def _described(path: Path, content: bytes, order: str, place: int, length: int, *, packed: bool) -> Variable | None:
    """Read what a variable says of itself: flags, sizes, name, and the type of its numbers; None for other classes."""

    def tag(at: int) -> tuple[int, int, int]:
        """Return the type of what stands there, where its bytes begin, and how many they are: few lie in the tag."""
        (kind,) = struct.unpack_from(f"{order}I", content, at)
        if kind >> 16:
            return kind & 0xFFFF, at + 4, kind >> 16
        return kind, at + 8, struct.unpack_from(f"{order}I", content, at + 4)[0]

    at = 8 if packed else 0  # what is packed has a tag of its own
    parts = []
    for _ in ("flags", "sizes", "name"):
        _, begins, many = tag(at)
        parts.append(content[begins : begins + many])
        if len(parts[-1]) != many:
            raise ValueError("it ends before its numbers")
        at = at + 8 if begins == at + 4 else begins + -(-many // 8) * 8
    (flags,) = struct.unpack(f"{order}I", parts[0][:4])
    if not 6 <= flags & 0xFF < 6 + len(_CLASSES) or flags & 0x800:  # another class, or complex numbers
        return None
    shape = struct.unpack(f"{order}{len(parts[1]) // 4}i", parts[1])
    kind, begins, many = tag(at)
    if kind not in _STORED or min(shape, default=0) < 0:
        raise ValueError("numbers of no type or shape")
    stored, name = np.dtype(f"{order}{_STORED[kind]}"), parts[2].decode("latin-1")
    one = Variable(path, name, _CLASSES[(flags & 0xFF) - 6], shape, stored, place, length, begins, packed)
    if many != one.size or (not packed and begins + many > length):
        raise FormatError(f"{path}: damaged: {quoted(name)} of shape {shape} declares {many:,} bytes; copy it again")
    return one


def _inflating(file: Any, length: int) -> Callable[[int], bytes]:
    """Return a function that unpacks so many bytes, and no more, of the next ``length`` bytes of a file."""
    inflated, left = zlib.decompressobj(), length

    def read(size: int) -> bytes:
        nonlocal left
        found = bytearray()
        while len(found) < size and not inflated.eof:
            packed = inflated.unconsumed_tail or file.read(min(left, 1 << 16))
            left -= 0 if inflated.unconsumed_tail else len(packed)
            if not packed:
                raise ValueError("it ends before its numbers")
            found += inflated.decompress(packed, size - len(found))
        return bytes(found)

    return read
