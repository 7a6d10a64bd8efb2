"""Archives in which sets are published, of NumPy and of tar: headers are looked at before anything is read."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.npy_files import (
    ArrayHeader,
    members_of,
    opened_archive,
    opened_member,
    place_of_member,
    read_member,
)
from demele.core.reading import parsing, regular_file, size_text
from demele.data.loaders.published import Request
from demele.data.loaders.stored_images import Images, Pixels, read_rows
from demele.data.mapped import MappedArray

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
    place = place_of_member(path, info)
    if place is not None:
        begins = place + info.file_size - header.size
        rows = MappedArray(path, begins, header.shape, header.dtype, columns_first=header.columns_first)
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
        if plain.read(2) != b"\x1f\x8b":
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
