"""Archives of NumPy and of tar, and HDF5: what a file declares is compared before its numbers are read.

HDF5 is read by whole chunks, since a chunk is decompressed as a whole for the least of its images.
"""

from __future__ import annotations

import gzip
import math
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.extras import require
from demele.core.npy_files import (
    ArrayHeader,
    members_of,
    opened_archive,
    opened_member,
    read_member,
)
from demele.core.reading import parsing, regular_file, size_text
from demele.data.loaders.published import Request
from demele.data.loaders.stored_images import BLOCK, Images, Pixels, read_rows
from demele.data.mapped import MappedArray, StoredArray, mapped_member

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


def npz_numbers(request: Request, path: Path, name: str, shape: Sequence[int]) -> NDArray[Any]:
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
            raise FormatError(
                path, "expected a .tar.gz, and it does not begin as one; name the folder if it is unpacked"
            )
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
#: Bytes of the images that share chunks, up to which single images are worth to be read.
_FEW = 1 << 20
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


def hdf5_numbers(request: Request, path: Path, name: str, shape: Sequence[int]) -> NDArray[Any]:
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
    chunked = _Chunked(path, name, shape, slab)
    few = slab * size <= _FEW
    return Images(what, n, (height, width, channels), chunked if few else None, decode, chunked.stream)


class _Chunked(StoredArray):
    """Images of a data set in chunks; ``slab`` of them share one."""

    def __init__(self, path: Path, name: str, shape: Sequence[int], slab: int) -> None:
        self._path, self._name, self._slab = path.absolute(), name, slab
        self.shape, self.dtype = tuple(shape), np.dtype(np.uint8)
        self._open: Any = None

    def __getstate__(self) -> Mapping[str, Any]:
        """Send the name of the file to another process, and not the open one."""
        return {**self.__dict__, "_open": None}

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Pixels:
        """Read some images, each slab once."""
        if isinstance(rows, slice):
            if self._open is None:
                self._open = require("h5py", purpose=f"reading {self._path.name}").File(self._path, "r")
            with parsing(f"{self._path}::{self._name}: damaged or cut off at image {rows.start:,}; copy it again"):
                return np.asarray(self._open[self._name][rows])
        found = np.empty((len(rows), *self.shape[1:]), dtype=np.uint8)
        slabs = rows // self._slab
        for slab in np.unique(slabs).tolist():
            own = np.flatnonzero(slabs == slab)
            start = slab * self._slab
            found[own] = self[start : start + self._slab][rows[own] - start]
        return found

    def stream(self, many: int) -> Iterator[Pixels]:
        """Yield all images, in order."""
        step = max(self._slab, many // self._slab * self._slab)
        for start in range(0, len(self), step):
            held = self[start : start + step]
            for first in range(0, len(held), many):
                yield held[first : first + many].copy()
            del held  # before the next ones are read: two slabs would take twice the memory
