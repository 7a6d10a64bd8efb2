"""Files of MATLAB 5: where their variables lie and what they are, without reading their numbers.

SciPy reads a variable whole, in two copies. The numbers of large ones are streamed from here instead, or mapped where
they were not packed.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.reading import parsing, regular_file

_HDF5 = b"\x89HDF"
#: Bytes before the first variable; the last four say the version and the order of bytes.
_HEADER = 128
#: Kinds of what stands in a file: a variable, and one that zlib packed.
_MATRIX, PACKED = 14, 15
#: Bytes of a variable before its numbers: flags, sizes, name.
_BEGINNING = 4096
_CLASSES: Mapping[int, str] = {
    6: "double", 7: "single", 8: "int8", 9: "uint8", 10: "int16", 11: "uint16", 12: "int32", 13: "uint32", 14: "int64",
    15: "uint64",
}  # fmt: skip
#: Types that numbers are stored as, which can be smaller than those of their class.
_STORED: Mapping[int, str] = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}


class Stream(Protocol):
    """What bytes are read from."""

    def read(self, size: int) -> bytes:
        """Return the next bytes, fewer at the end."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An array in a file of MATLAB 5.

    Attributes
    ----------
    path : Path
    name : str
    kind : str
        Its class, such as ``"uint8"``.
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


def byte_order(path: Path, title: str) -> str:
    """Return ``"<"`` or ``">"`` if a file is one of MATLAB 5, and whole.

    Parameters
    ----------
    path : Path
    title : str
        Of the set that was published so, for the message.

    Raises
    ------
    FormatError
    """
    size = regular_file(path)
    with path.open("rb") as file:
        header = file.read(_HEADER)
    if header.startswith(_HDF5) or header[124:128] in (b"\x00\x02IM", b"\x02\x00MI"):
        raise FormatError(
            f"{path}: a file of MATLAB 7.3, which is HDF5; {title} was published in MATLAB 5: save it with -v6 or -v7"
        )
    order = {b"IM": "<", b"MI": ">"}.get(header[126:128])
    if len(header) < _HEADER or order is None:
        raise FormatError(f"{path}: not a file of MATLAB 5: it does not begin as one")
    end = max((place + length for _, place, length in _elements(path, size, order)), default=_HEADER)
    if end > size:
        raise FormatError(f"{path}: cut off: expected at least {end:,} bytes, found {size:,}; copy it again")
    return order


def _elements(path: Path, size: int, order: str) -> Iterator[tuple[int, int, int]]:
    """Follow the lengths of what stands in a file to its end: kind, place after the tag, and length."""
    place = _HEADER
    with path.open("rb") as file:
        while place < size:
            file.seek(place)
            tag = file.read(8)
            kind, length = struct.unpack(f"{order}II", tag) if len(tag) == 8 else (0, size)
            yield kind, place + 8, length
            place += 8 + length


def variables(path: Path, title: str) -> dict[str, Variable]:
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
    order = byte_order(path, title)
    found: dict[str, Variable] = {}
    for kind, place, length in _elements(path, regular_file(path), order):
        if kind not in (_MATRIX, PACKED):
            continue
        with parsing(f"{path}: damaged or cut off; copy it again"), path.open("rb") as file:
            file.seek(place)
            stream = _Inflating(path, file, length) if kind == PACKED else file
            beginning = stream.read(min(length, _BEGINNING) if kind == _MATRIX else _BEGINNING)
            one = _variable(path, beginning, order, place, length, packed=kind == PACKED)
        if one is not None:
            if one.name in found:
                raise FormatError(f"{path}: holds two variables {quoted(one.name)}")
            found[one.name] = one
    return found


def _variable(path: Path, beginning: bytes, order: str, place: int, length: int, *, packed: bool) -> Variable | None:
    """Read what a variable says of itself: flags, sizes, name, and the type of its numbers."""
    at = 8 if packed else 0  # what is packed has a tag of its own
    at, flags = _element(beginning, at, order)
    (told,) = struct.unpack(f"{order}I", flags[:4])
    if told & 0xFF not in _CLASSES or told & 0x800:  # another class, or complex numbers
        return None
    at, sizes = _element(beginning, at, order)
    shape = struct.unpack(f"{order}{len(sizes) // 4}i", sizes)
    at, name = _element(beginning, at, order)
    stored, begins, length_of_numbers = _tag(beginning, at, order)
    if stored not in _STORED or min(shape, default=0) < 0:
        raise FormatError(f"{path}: damaged; copy it again")
    dtype = np.dtype(f"{order}{_STORED[stored]}")
    one = Variable(path, name.decode("latin-1"), _CLASSES[told & 0xFF], shape, dtype, place, length, begins, packed)
    if length_of_numbers != one.size or (not packed and begins + one.size > length):
        raise FormatError(
            f"{path}: damaged: {quoted(one.name)} of shape {shape} declares {length_of_numbers:,} bytes; copy it again"
        )
    return one


def _tag(content: bytes, at: int, order: str) -> tuple[int, int, int]:
    """Return the type of what stands at a place, where its bytes begin and how many they are; few lie in the tag."""
    (kind,) = struct.unpack_from(f"{order}I", content, at)
    if kind >> 16:
        return kind & 0xFFFF, at + 4, kind >> 16
    (length,) = struct.unpack_from(f"{order}I", content, at + 4)
    return kind, at + 8, length


def _element(content: bytes, at: int, order: str) -> tuple[int, bytes]:
    """Return where what follows a place's element begins, and the bytes of the element."""
    _, begins, length = _tag(content, at, order)
    held = content[begins : begins + length]
    if len(held) != length:
        raise ValueError("it ends before its numbers")
    after = at + 8 if begins == at + 4 else begins + -(-length // 8) * 8
    return after, held


# Numbers -------------------------------------------------------------------------------------------------------------


class _Inflating:
    """What zlib packed within a file, unpacked no further than it is read."""

    def __init__(self, path: Path, file: BinaryIO, length: int) -> None:
        self._path, self._file, self._left = path, file, length
        self._inflated = zlib.decompressobj()

    def read(self, size: int) -> bytes:
        """Return the next bytes, fewer at the end."""
        found = bytearray()
        while len(found) < size and not self._inflated.eof:
            packed = self._inflated.unconsumed_tail
            if not packed:
                packed = self._file.read(min(self._left, 1 << 16))
                self._left -= len(packed)
            if not packed:
                break
            found += self._inflated.decompress(packed, size - len(found))
        return bytes(found)

    def finish(self, most: int) -> None:
        """Read to the end, where zlib compares its checksum.

        Raises
        ------
        FormatError
            If more than ``most`` bytes are left, or it was cut off.
        """
        self.read(most)
        if self.read(1) or not self._inflated.eof:
            raise FormatError(f"{self._path}: damaged or cut off: a variable does not end where it says; copy it again")


@contextmanager
def numbers_of(variable: Variable) -> Iterator[Callable[[int], bytes]]:
    """Yield what reads the numbers of a variable, so many bytes at a time; where all were read it is held to its end.

    Raises
    ------
    FormatError
        If it is damaged or cut off.
    """
    path = variable.path
    with path.open("rb") as file:
        file.seek(variable.place)
        stream: Any = _Inflating(path, file, variable.length) if variable.packed else file
        left = variable.begins + variable.size

        def take(size: int) -> bytes:
            nonlocal left
            with parsing(f"{path}: damaged or cut off; copy it again"):
                held: bytes = stream.read(size)
                if len(held) != size:
                    raise FormatError(f"{path}: damaged or cut off; copy it again")
                left -= size
                if not left and isinstance(stream, _Inflating):
                    stream.finish(_BEGINNING)
            return held

        take(variable.begins)
        yield take


def read_numbers(variable: Variable) -> NDArray[Any]:
    """Return the numbers of a small variable, whole.

    Raises
    ------
    FormatError
        If it is damaged or cut off.
    """
    with numbers_of(variable) as take:
        content = take(variable.size)
    return np.frombuffer(content, variable.stored).reshape(variable.shape, order="F")
