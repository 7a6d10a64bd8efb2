"""Files of MATLAB 5: where their variables lie and what they are, without reading their numbers.

SciPy reads a variable whole, in two copies, and takes what a file declares. Numbers are streamed from here instead, or
mapped where they were not packed.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.reading import parsing, regular_file
from demele.data.loaders.published import Request

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
        Of the set that was published so, for messages.

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
