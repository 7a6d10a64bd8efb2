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
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.reading import check_unpacked, parsing, regular_file
from demele.data.loaders.archives import GZIP
from demele.data.loaders.published import Request
from demele.data.loaders.stored_images import Images, Pixels, Shape, read_rows
from demele.data.mapped import MappedArray


@dataclass(frozen=True, slots=True)
class Numbers:
    """An array in a file.

    Attributes
    ----------
    path : Path
    dtype : numpy.dtype
    shape : tuple of int
        The last index changes fastest.
    begins : int
        Bytes before the numbers, once unpacked.
    packed : {"", "gzip", "zlib"}
    place, length : int
        Where it stands in the file; only zlib needs to know how long it is.
    """

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begins: int
    packed: Literal["", "gzip", "zlib"]
    place: int = 0
    length: int = 0

    @property
    def size(self) -> int:
        """Bytes of the numbers."""
        return math.prod(self.shape) * self.dtype.itemsize

    def whole(self) -> NDArray[Any]:
        """Return the numbers.

        Raises
        ------
        FormatError
            If the file is damaged, or declares more than it may.
        """
        check_unpacked(self.path, self.size, stored=regular_file(self.path))
        (content,) = self._rows((1, self.size), 1)
        return content.view(self.dtype).reshape(self.shape)

    def images(self, shape: Shape, decode: Callable[[Pixels], Pixels] | None = None) -> Images:
        """Return an image for each row of bytes: mapped to the file, or read from front to back where it is packed.

        Parameters
        ----------
        shape : (int, int, int)
        decode : callable, optional
            Makes images of rows.
        """
        if self.packed:
            return Images(str(self.path), self.shape[0], shape, decode=decode, stream=partial(self._rows, self.shape))
        rows = MappedArray(self.path, self.place + self.begins, self.shape, self.dtype)
        return Images(str(self.path), self.shape[0], shape, rows, decode)

    def _rows(self, shape: tuple[int, ...], many: int) -> Iterator[Pixels]:
        """Yield the bytes as rows, to the end, where what packed them compares its checksum."""
        damaged = f"{self.path}: damaged or cut off; copy it again"
        regular_file(self.path)
        with self.path.open("rb") as file:
            file.seek(self.place)
            read: Callable[[int], bytes] = file.read
            if self.packed:
                read = gzip.GzipFile(fileobj=file).read if self.packed == "gzip" else _inflating(file, self.length)
            with parsing(damaged):
                read(self.begins)
            yield from read_rows(self.path, read, shape, many)
            if self.packed:
                filled = -self.size % 8 if self.packed == "zlib" else 0
                with parsing(damaged):
                    if len(read(filled + 1)) > filled:
                        raise FormatError(f"{self.path}: damaged: it holds more than the {self.size:,} bytes declared")


# Matrices of SmallNORB and of MNIST -----------------------------------------------------------------------------------

#: What the first four bytes of a matrix of SmallNORB say, little-endian.
MATRIX_TYPES = {0x1E3D4C55: "u1", 0x1E3D4C54: "<i4", 0x1E3D4C56: "<i2", 0x1E3D4C51: "<f4", 0x1E3D4C53: "<f8"}
PACKED_MATRIX = 0x1E3D4C52
_MOST_AXES = 8


def matrix(path: Path) -> Numbers:
    """Look at a matrix of SmallNORB.

    Raises
    ------
    FormatError
        If it is none, or holds more or less than its header says.
    """
    content, packed = _beginning(path)
    with parsing(f"{path}: damaged or cut off; copy it again"):
        magic, axes = struct.unpack_from("<Ii", content)
        if magic == PACKED_MATRIX:
            raise FormatError(f"{path}: a packed matrix, which is not read; SmallNORB was published unpacked")
        if magic not in MATRIX_TYPES:
            matlab = struct.pack("<I", magic) in (b"MATL", b"\x89HDF")
            hint = ", as MATLAB writes it; SmallNORB's files are none" * matlab
            raise FormatError(f"{path}: not a matrix of SmallNORB: it begins with 0x{magic:08x}{hint}")
        if not 1 <= axes <= _MOST_AXES:
            raise FormatError(f"{path}: damaged: it declares {axes} axes")
        sizes = struct.unpack_from(f"<{max(3, axes)}i", content, 8)
    return _complete(Numbers(path, np.dtype(MATRIX_TYPES[magic]), sizes[:axes], 8 + 4 * len(sizes), packed))


def idx_bytes(path: Path) -> Numbers:
    """Look at an idx file of bytes, as MNIST is published in.

    Raises
    ------
    FormatError
        If it is none, or holds more or less than its header says.
    """
    content, packed = _beginning(path)
    with parsing(f"{path}: damaged or cut off; copy it again"):
        zero, kind, axes = struct.unpack_from(">HBB", content)
        if zero or kind != 8 or not 1 <= axes <= _MOST_AXES:
            raise FormatError(f"{path}: not an idx file of bytes: it begins with 0x{zero:04x}{kind:02x}{axes:02x}")
        sizes = struct.unpack_from(f">{axes}I", content, 4)
    return _complete(Numbers(path, np.dtype(np.uint8), sizes, 4 + 4 * axes, packed))


def _beginning(path: Path) -> tuple[bytes, Literal["", "gzip"]]:
    """Return the longest header that a matrix may have, and whether gzip packed it."""
    regular_file(path)
    with path.open("rb") as file, parsing(f"{path}: damaged or cut off; copy it again"):
        packed: Literal["", "gzip"] = "gzip" if file.read(2) == GZIP else ""
        file.seek(0)
        return (gzip.GzipFile(fileobj=file) if packed else file).read(8 + 4 * _MOST_AXES), packed


def _complete(held: Numbers) -> Numbers:
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
#: The first and the last class of arrays of numbers; and types that they are stored as, which can be smaller.
_CLASSES = (6, 15)
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
#: Makes pictures of arrays of MATLAB, which go through rows, columns, channels, pictures, the first one fastest.
MATLAB_PIXELS = partial(np.transpose, axes=(0, 3, 2, 1))


def matlab_variable(request: Request, path: Path, name: str, kind: str, shape: tuple[int, ...]) -> Numbers:
    """Look at a variable that must be there with the type and the shape expected, the first index fastest.

    Raises
    ------
    FormatError
    """
    variables = matlab_variables(path, request.published.title)
    if name not in variables:
        raise request.lacks(path, name, variables)
    found = variables[name]
    request.expect_array(f"{path}::{name}", found.dtype, found.shape[::-1], kind, shape)
    return found


def matlab_variables(path: Path, title: str) -> dict[str, Numbers]:
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
    found: dict[str, Numbers] = {}
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
                if one.keys() & found:
                    raise FormatError(f"{path}: holds two variables {quoted(next(iter(one)))}")
                found |= one
            place += length
    return found


def _described(path: Path, content: bytes, order: str, place: int, length: int, *, packed: bool) -> dict[str, Numbers]:
    """Return a variable by its name, from its flags, sizes and the type of its numbers; nothing if it holds others."""

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
    if not _CLASSES[0] <= flags & 0xFF <= _CLASSES[1] or flags & 0x800:  # another class, or complex numbers
        return {}
    shape = struct.unpack(f"{order}{len(parts[1]) // 4}i", parts[1])
    kind, begins, many = tag(at)
    if kind not in _STORED or min(shape, default=0) < 0:
        raise ValueError("numbers of no type or shape")
    name, dtype = parts[2].decode("latin-1"), np.dtype(f"{order}{_STORED[kind]}")
    one = Numbers(path, dtype, shape[::-1], begins, "zlib" if packed else "", place, length)
    if many != one.size or (not packed and begins + many > length):
        raise FormatError(f"{path}: damaged: {quoted(name)} of shape {shape} declares {many:,} bytes; copy it again")
    return {name: one}


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
