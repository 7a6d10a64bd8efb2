"""Readers of the files of published sets: archives, HDF5, MATLAB, meshes of numbers, tar files and pickles."""

from __future__ import annotations

import gzip
import io
import math
import pickle
import pickletools
import struct
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np

from demele.core.array_files import (
    ArrayHeader,
    members_of,
    opened_archive,
    opened_member,
    read_member,
)
from demele.core.arrays import Array, Bytes
from demele.core.errors import FormatError, quoted
from demele.core.lazy import require
from demele.core.reading import check_unpacked, parsing, regular_file, size_text
from demele.data.array_images import BLOCK, MappedArray, mapped_member
from demele.data.loaders.published import Images, Pixels, Request, Shape, read_rows

# Archives of NumPy and of tar, and HDF5 -------------------------------------------------------------------------------
#
# HDF5 is read by whole chunks, since a chunk is decompressed as a whole for the least of its images.

# Archives of NumPy and of tar -----------------------------------------------------------------------------------------

GZIP = b"\x1f\x8b"
#: Members of tar that are files; and what has a size and no bytes.
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)
_EMPTY = (tarfile.DIRTYPE, tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE)
_PART = 1 << 20


def npz_member(request: Request, path: Path, name: str) -> tuple[zipfile.ZipInfo, ArrayHeader]:
    """Return where a member stands, and what its header says.

    Raises
    ------
    FormatError
        If there is no such member, listing those that there are, or it is no array.
    """
    with opened_archive(path) as archive:
        members = members_of(archive)
        if name not in members:
            raise request.lacks(path, name, members)
        with opened_member(archive, members[name]) as (header, _):
            return members[name], header


def npz_images(
    request: Request,
    path: Path,
    name: str,
    shape: Sequence[int],
    decode: Callable[[Pixels], Pixels] | None = None,
) -> Images:
    """Return the images of a member, (n, H, W) or (n, H, W, C) of uint8: mapped where its bytes stand as they are.

    Raises
    ------
    FormatError
        If it is another array, or deflated with the images across each other.
    """
    info, header = npz_member(request, path, name)
    what, (n, height, width, channels) = f"{path}::{name}", (*shape, 1)[:4]
    request.expect_array(what, header.dtype, header.shape, "uint8", shape)
    rows = mapped_member(path, info, header)
    if rows is not None:
        return Images(what, n, (height, width, channels), rows, decode)
    if header.columns_first:
        raise FormatError(
            f"{what}: its images are deflated, with the first axis fastest, and cannot be read one after the other; "
            "save it again with numpy.ascontiguousarray"
        )
    return Images(what, n, (height, width, channels), decode=decode, stream=partial(_inflated, path, name))


def _inflated(path: Path, name: str, many: int) -> Iterator[Pixels]:
    with opened_archive(path) as archive, opened_member(archive, members_of(archive)[name]) as (header, file):
        # with the last byte the checksum is compared
        yield from read_rows(f"{path}::{name}", file.read, header.shape, many)


def npz_numbers(request: Request, path: Path, name: str, shape: Sequence[int]) -> Array:
    """Return a member of numbers, whole, if it has the shape expected.

    Raises
    ------
    FormatError
    """
    info, header = npz_member(request, path, name)
    request.expect_array(f"{path}::{name}", header.dtype, header.shape, "numbers", shape)
    with opened_archive(path) as archive:
        return np.ascontiguousarray(read_member(archive, info))


def tar_members(path: Path, names: Collection[str], most: int, total: int) -> tuple[dict[str, bytes], list[str]]:
    """Return the content of some files of a ``.tar.gz``, whatever folder they are in, and the names of all its files.

    It is read in one pass, and nothing is written to disk. Headers are read one at a time, and the extensions of tar
    are gone over: ``tarfile`` takes them whole into memory, and they can declare anything.

    Parameters
    ----------
    path : Path
    names : collection of str
    most : int
        Bytes that each of them may have.
    total : int
        Bytes that the archive may have once it is unpacked.

    Returns
    -------
    dict of str to bytes, list of str

    Raises
    ------
    FormatError
        If it is no such archive, is damaged, or holds a file twice or one that is too large.
    """
    regular_file(path)
    found: dict[str, bytes] = {}
    every: list[str] = []
    left = total
    with path.open("rb") as plain:
        if plain.read(2) != GZIP:
            raise FormatError(path, "expected a .tar.gz; name the folder if it is unpacked")
        plain.seek(0)
        with (
            parsing(f"{path}: damaged or cut off; copy it again"),
            gzip.GzipFile(fileobj=plain, mode="rb") as unpacked,
        ):

            def read(size: int) -> bytes:
                nonlocal left
                content = unpacked.read(size)
                left -= len(content)
                if left < 0:
                    raise FormatError(path, f"unpacks to more than the {size_text(total)} that its files may take")
                return content

            def exactly(size: int) -> bytes:
                content = read(size)
                if len(content) != size:
                    raise ValueError("it ends within a file")
                return content

            while (header := exactly(tarfile.BLOCKSIZE)) != bytes(tarfile.BLOCKSIZE):
                member = tarfile.TarInfo.frombuf(header, "utf-8", "replace")
                name, size = PurePosixPath(member.name).name, 0 if member.type in _EMPTY else member.size
                if size < 0:
                    raise ValueError("a file of less than no bytes")
                rest = size + -size % tarfile.BLOCKSIZE
                every += [name] * (member.type in _FILES)
                if member.type in _FILES and name in names:
                    if name in found:
                        raise FormatError(path, f"holds {quoted(name)} twice")
                    if size > most:
                        raise FormatError(f"{path}::{name}", f"expected at most {most:,} bytes, found {size:,}")
                    found[name], rest = exactly(size), rest - size
                while rest:
                    rest -= len(exactly(min(rest, _PART)))
            while read(_PART):  # with the last byte gzip compares its checksum
                pass
    return found, every


# HDF5 -----------------------------------------------------------------------------------------------------------------

SIGNATURE = b"\x89HDF\r\n\x1a\n"
#: Bytes that must be read at once, because the images that share chunks cannot be read apart.
_MOST = 256 << 20


@contextmanager
def _data_set(request: Request, path: Path, name: str) -> Iterator[Any]:
    """Open a data set whose values stand in this very file: links and layouts can lead to others.

    Raises
    ------
    FormatError
        If the file is none, or there is no such data set, listing those that there are.
    MissingExtraError
        If h5py is not installed.
    """
    h5py = require("h5py", purpose=f"reading {path.name}")
    regular_file(path)
    with parsing(f"{path}: not an HDF5 file that can be read; copy it again"):
        file = h5py.File(path, "r")
    with file, parsing(f"{path}::{name}: not a data set that can be read; copy it again"):
        ways = accumulate(name.split("/"), "{}/{}".format)
        here = all(isinstance(file.get(way, getlink=True), h5py.HardLink) for way in ways)
        found = file[name] if here else None
        if not isinstance(found, h5py.Dataset):
            held: list[str] = []
            file.visititems(lambda known, one: held.append(known) if isinstance(one, h5py.Dataset) else None)
            raise request.lacks(path, name, sorted(held))
        if found.external is not None or found.is_virtual:
            raise FormatError(f"{path}::{name}: its values are in another file; copy them into this one")
        yield found


def hdf5_numbers(request: Request, path: Path, name: str, shape: Sequence[int]) -> Array:
    """Return a data set of numbers, whole, if it has the shape expected.

    Raises
    ------
    FormatError
    """
    with _data_set(request, path, name) as held:
        request.expect_array(f"{path}::{name}", held.dtype, held.shape, "numbers", shape)
        return np.asarray(held[...])


def hdf5_images(
    request: Request,
    path: Path,
    name: str,
    shape: Sequence[int],
    decode: Callable[[Pixels], Pixels] | None = None,
) -> Images:
    """Return the images of a data set, (n, H, W) or (n, H, W, C) of uint8: mapped where its bytes stand as they are.

    Raises
    ------
    FormatError
        If it is another, or its images cannot be read a few at a time.
    """
    with _data_set(request, path, name) as held:
        request.expect_array(f"{path}::{name}", held.dtype, held.shape, "uint8", shape)
        chunks, offset = held.chunks, held.id.get_offset()
    what, size = f"{path}::{name}", math.prod(shape[1:])
    n, height, width, channels = (*shape, 1)[:4]
    if chunks is None and offset is not None:
        if offset + math.prod(shape) > regular_file(path):
            raise FormatError(f"{what}: damaged or cut off; copy it again")
        rows = MappedArray(path, offset, tuple(shape), np.dtype(np.uint8))
        return Images(what, n, (height, width, channels), rows, decode)
    slab = min(chunks[0] if chunks else max(1, BLOCK // size), n)
    if max(slab * size, math.prod(chunks or (1,))) > _MOST:
        raise FormatError(
            f"{what}: {slab:,} images share chunks and must be read together, which takes {size_text(slab * size)}; "
            "save it again in smaller chunks"
        )
    return Images(what, n, (height, width, channels), decode=decode, stream=partial(_chunked, path, name, n, slab))


def _chunked(path: Path, name: str, n: int, slab: int, many: int) -> Iterator[Pixels]:
    """Yield the images of a data set in order; each chunk holds ``slab`` of them."""
    step = max(slab, many // slab * slab)
    with require("h5py", purpose=f"reading {path.name}").File(path, "r") as file:
        for start in range(0, n, step):
            with parsing(f"{path}::{name}: damaged or cut off at image {start:,}; copy it again"):
                held = np.asarray(file[name][start : start + step])
            for first in range(0, len(held), many):
                yield held[first : first + many].copy()
            del held  # before the next ones are read: two slabs would take twice the memory


# Matrices of SmallNORB and of MNIST, and files of MATLAB 5 ------------------------------------------------------------
#
# They lie there as they are, or packed by gzip or zlib. SciPy reads a variable of MATLAB whole, in two copies, and
# takes what a file declares: numbers are streamed from here instead, or mapped where they were not packed.


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

    def whole(self) -> Array:
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
        raise FormatError(f"{held.path}: damaged: expected {expected:,} bytes {where} {found:,}; copy it again")
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
            raise FormatError(f"{path}: a file of MATLAB 7.3; {title} was published in MATLAB 5: save it with -v7")
        order = {b"IM": "<", b"MI": ">"}.get(header[126:128])
        if order is None:
            raise FormatError(f"{path}: not a file of MATLAB 5: it does not begin as one")
        place = _HEADER
        while place < size:
            file.seek(place)
            kind, length = struct.unpack(f"{order}II", file.read(8))
            place += 8
            if place + length > size:
                raise FormatError(f"{path}: cut off: expected {place + length:,} bytes, found {size:,}; copy it again")
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


# Pickles of plain values and arrays of bytes, looked through before they are loaded, and loaded into stand-ins --------
#
# A pickle is a program. One that names nothing but NumPy can still take the memory that a few bytes ask for, hash for
# ever, end the process, or change a function of NumPy. So its opcodes are looked at first, which runs nothing: they
# are those of lists, dictionaries, texts, whole numbers and arrays, and nothing that holds other things, and no long
# text, is used twice. What it names is compared with a short list, and is a stand-in: nothing is imported.

#: What a pickle may name, and as what it is understood.
_NAMES = {
    "numpy.core.multiarray._reconstruct": "empty array",
    "numpy._core.multiarray._reconstruct": "empty array",
    "numpy.core.numeric._frombuffer": "array",
    "numpy._core.numeric._frombuffer": "array",
    "numpy.ndarray": "class",
    "numpy.dtype": "type",
    "_codecs.encode": "bytes",
}
_BYTES = ("u1", "|u1", "B", "uint8")
#: Opcodes of what holds nothing else; of what does; of what is done with both; and what keeps and fetches it.
_VALUES = {
    "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1", "SHORT_BINSTRING", "BINSTRING",
    "SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8",
    "EMPTY_TUPLE", "GLOBAL", "STACK_GLOBAL", "REDUCE",
}  # fmt: skip
_HOLDERS = {"EMPTY_LIST", "EMPTY_DICT", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"}
_ACTIONS = {"PROTO", "FRAME", "MARK", "APPEND", "APPENDS", "SETITEM", "SETITEMS", "BUILD", "STOP"}
_KEEPING, _FETCHING = {"BINPUT", "LONG_BINPUT", "MEMOIZE"}, {"BINGET", "LONG_BINGET"}
_KNOWN = _VALUES | _HOLDERS | _ACTIONS | _KEEPING | _FETCHING
#: Lists, dictionaries and tuples; and characters of a text that may be used twice: a key, the type of an array.
_MOST_HOLDERS, _LONGEST = 256, 200


def load_plain(what: object, content: bytes, most: int) -> dict[str, Any]:
    """Return the dictionary that a pickle holds; nothing that it names is imported or called.

    Parameters
    ----------
    what : object
        The file, for messages.
    content : bytes
        All of it.
    most : int
        Opcodes that it may have: each takes memory.

    Returns
    -------
    dict of str to object
        Values are int, bool, None, tuple, list, dict, str, bytes, and arrays of uint8.

    Raises
    ------
    FormatError
        If it is none, is cut off, names or does anything else, or holds no dictionary.

    Examples
    --------
    >>> load_plain("a file", pickle.dumps({"labels": [6, 9], "of": b"x"}, 4), 100)
    {'labels': [6, 9], 'of': b'x'}
    >>> load_plain("a file", pickle.dumps(print), 100)
    Traceback (most recent call last):
    ...
    demele.core.errors.FormatError: a file: not a pickle as it was published; nothing of it was run (it asks for \
'builtins.print')
    """
    if content[:1] != b"\x80":
        raise FormatError(what, "not a pickle of Python's protocols 2 to 5: it does not begin as one")
    with parsing(f"{what}: not a pickle as it was published; nothing of it was run"):
        with warnings.catch_warnings(action="ignore"):  # of texts of opcodes that are refused
            _look_through(content, most)
        held = _Unpickler(io.BytesIO(content), encoding="bytes").load()
        if not isinstance(held, dict):
            raise ValueError(f"it holds {type(held).__name__}, no dictionary")  # noqa: TRY004 - of the file
        return {
            key.decode("latin-1") if isinstance(key, bytes) else str(key): one.pixels
            if isinstance(one, _Array)
            else one
            for key, one in held.items()
            if isinstance(key, str | bytes)
        }


def _look_through(content: bytes, most: int) -> None:
    """Refuse opcodes of other things than plain values, and what makes much out of little."""
    kept: dict[int, bool] = {}  # whether what is kept under a number may be fetched
    before, long, holders, place = "", False, 0, 0
    argument: Any
    for count, (opcode, argument, at) in enumerate(pickletools.genops(content), start=1):
        name, place = opcode.name, at or 0
        holders += name in _HOLDERS
        if name not in _KNOWN:
            raise ValueError(f"it has the opcode {name}")
        if count > most or holders > _MOST_HOLDERS:
            raise ValueError(f"it has more than {most:,} opcodes, or {_MOST_HOLDERS} lists and tuples")
        if name in _KEEPING:
            number: Any = len(kept) if name == "MEMOIZE" else argument
            if number > count:  # the unpickler has an array of them
                raise ValueError(f"it keeps something under the number {number:,}")
            kept[number] = before in _VALUES and not long
        elif name in _FETCHING and not kept[argument]:
            raise ValueError("it uses a list, a tuple or a long text twice")
        if name != "FRAME":
            before, long = name, isinstance(argument, str | bytes | bytearray) and len(argument) > _LONGEST
    if place != len(content) - 1:
        raise ValueError("it goes on after its end")


class _Unpickler(pickle._Unpickler):
    """The one that is written in Python: the one in C can free a bytearray that crosses a frame while it is in use."""

    def find_class(self, module: str, name: str, /) -> Any:
        whole = f"{module}.{name}"
        if whole not in _NAMES:
            raise ValueError(f"it asks for {quoted(whole)}")
        return _Named(whole)


class _Named(str):
    """Replaces an object that a pickle names: a text without settable attributes."""

    __slots__ = ()

    def __call__(self, *given: Any) -> Any:
        match _NAMES[self], given:
            case "empty array", _:
                return _Array()
            case "array", (content, kind, shape, order):
                return _Array().filled(content, kind, shape, columns_first=order in ("F", b"F"))
            case "type", (str() | bytes() as kind, *_):
                text = kind.decode("latin-1") if isinstance(kind, bytes) else kind
                if text not in _BYTES:
                    raise ValueError(f"it has an array of {quoted(text)}, not of uint8")
                return _Type()
            case "bytes", (str() as text, "latin1" | b"latin1"):
                return text.encode("latin-1")
        raise ValueError(f"it calls {self} with what no published file does")


class _Type:
    """Replaces the type of an array, uint8; its state is the order of bytes, and a byte has none."""

    __slots__ = ()

    def __setstate__(self, _: object) -> None: ...


class _Array:
    """Replaces an array, made of its bytes once these are known and agree with its shape."""

    __slots__ = ("pixels",)
    pixels: Bytes

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, columns_first, content = state
        self.filled(content, kind, shape, columns_first=bool(columns_first))

    def filled(self, content: Any, kind: Any, shape: Any, *, columns_first: bool) -> _Array:
        sides = shape if isinstance(shape, tuple) and all(type(side) is int and side >= 0 for side in shape) else None
        if sides is None or not isinstance(kind, _Type) or not isinstance(content, bytes | bytearray):
            raise ValueError("it has an array of something else than bytes")
        if math.prod(sides) != len(content):
            raise ValueError(f"it has an array of shape {quoted(sides)} with {len(content):,} bytes")
        self.pixels = np.frombuffer(content, np.uint8).reshape(sides, order="F" if columns_first else "C")
        return self
