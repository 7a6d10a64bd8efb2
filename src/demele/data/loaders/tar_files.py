"""Members of a ``.tar.gz``, read in one pass; nothing is written to disk.

Headers are read one at a time, and the extensions of tar are gone over: ``tarfile`` takes them whole into memory, and
they can declare anything.
"""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

from demele.core.errors import FormatError, quoted
from demele.core.reading import parsing, regular_file, size_text

GZIP = b"\x1f\x8b"
_REST = 1 << 20
_LISTED = 12
#: Files of an archive; and what has a size and no bytes.
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)
_EMPTY = (tarfile.DIRTYPE, tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE)
_END = bytes(tarfile.BLOCKSIZE)


class _Limited:
    """What gzip unpacks, refused once it is more than a file may hold."""

    def __init__(self, path: Path, most: int, file: gzip.GzipFile) -> None:
        self._path, self._most, self._file = path, most, file
        self._taken = 0

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        held = self._file.read(size)
        self._taken += len(held)
        if self._taken > self._most:
            raise FormatError(self._path, f"unpacks to more than the {size_text(self._most)} that its files may take")
        return held

    def exactly(self, size: int) -> bytes:
        """Return so many bytes."""
        held = self.read(size)
        if len(held) != size:
            raise ValueError("it ends within a file")
        return held

    def skip(self, size: int) -> None:
        """Go over some bytes, a few at a time."""
        while size:
            size -= len(self.exactly(min(size, _REST)))


def members_named(path: Path, names: Collection[str], most: int, total: int) -> tuple[dict[str, bytes], list[str]]:
    """Return the content of some files of an archive, whatever folder they are in, and the names of its first files.

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
    with path.open("rb") as plain:
        if plain.read(len(GZIP)) != GZIP:
            raise FormatError(
                path, "expected a .tar.gz, and it does not begin as one; name the folder if it is unpacked"
            )
        plain.seek(0)
        with (
            parsing(f"{path}: damaged or cut off; copy it again"),
            gzip.GzipFile(fileobj=plain, mode="rb") as unpacked,
        ):
            limited = _Limited(path, total, unpacked)
            for member in _members(limited):
                name = PurePosixPath(member.name).name
                wanted = name in names and member.type in _FILES
                if member.type in _FILES and len(every) < _LISTED:
                    every.append(name)
                if wanted:
                    _check_member(path, name, member.size, most, found)
                    found[name] = limited.exactly(member.size)
                    limited.skip(-member.size % tarfile.BLOCKSIZE)
                elif member.type not in _EMPTY:
                    limited.skip(member.size + -member.size % tarfile.BLOCKSIZE)
            while limited.read(_REST):  # with the last byte gzip compares its checksum
                pass
    return found, every


def _members(file: _Limited) -> Iterator[tarfile.TarInfo]:
    """Yield the headers of an archive; who takes one reads what belongs to it, or goes over it."""
    while (header := file.exactly(tarfile.BLOCKSIZE)) != _END:
        member = tarfile.TarInfo.frombuf(header, "utf-8", "replace")
        if member.size < 0:
            raise ValueError("a file of less than no bytes")
        yield member


def _check_member(path: Path, name: str, size: int, most: int, found: Collection[str]) -> None:
    if name in found:
        raise FormatError(path, f"holds {quoted(name)} twice")
    if size > most:
        raise FormatError(f"{path}::{name}", f"expected at most {most:,} bytes, found {size:,}")


def listed(names: Collection[str]) -> str:
    """Return names of files for a message."""
    return ", ".join(map(quoted, list(names)[:_LISTED])) or "nothing"
