"""Files of HDF5: read by whole chunks, since a chunk is decompressed as a whole for the least of its images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.extras import require
from demele.core.reading import check_unpacked, parsing, regular_file, size_text
from demele.data.loaders.published import Description, Request
from demele.data.loaders.stores import BLOCK, MappedStore, Pixels, RandomStore, Store

SIGNATURE = b"\x89HDF\r\n\x1a\n"
#: Bytes of the images that share chunks, up to which single images are worth to be read.
_FEW = 1 << 20
#: Bytes that must be read at once, because the images that share chunks cannot be read apart.
_MOST = 256 << 20


@contextmanager
def opened_hdf5(path: Path) -> Iterator[Any]:
    """Open a file.

    Raises
    ------
    FormatError
        If it is none, or is cut off.
    MissingExtraError
        If h5py is not installed.
    """
    h5py = require("h5py", purpose=f"reading {path.name}")
    regular_file(path)
    with parsing(f"{path}: not an HDF5 file that can be read; copy it again"):
        file = h5py.File(path, "r")
    with file:
        yield file


def dataset_of(file: Any, path: Path, name: str) -> Any:
    """Return a data set of an open file: one whose values stand in this very file.

    Raises
    ------
    FormatError
        If there is none of that name, listing those that there are.
    """
    h5py = require("h5py", purpose=f"reading {path.name}")
    with parsing(f"{path}::{name}: not a data set that can be read; copy it again"):
        found = None
        if _leads_there(file, name, h5py):
            found = file.get(name)
        if not isinstance(found, h5py.Dataset):
            held = ", ".join(map(quoted, sorted(_names(file, h5py))[:12])) or "nothing"
            raise FormatError(f"{path}: expected a data set {quoted(name)}, found {held}")
        if found.external is not None or found.is_virtual:
            raise FormatError(f"{path}::{name}: its values are in another file; copy them into this one")
    return found


def _leads_there(file: Any, name: str, h5py: Any) -> bool:
    """Whether a name is reached without a link to another file."""
    parts = name.split("/")
    for last in range(1, len(parts) + 1):
        link = file.get("/".join(parts[:last]), getlink=True)
        if not isinstance(link, h5py.HardLink):
            return False
    return True


def _names(group: Any, h5py: Any, before: str = "") -> Iterator[str]:
    for name in group:
        if isinstance(group.get(name, getlink=True), h5py.HardLink):
            held = group[name]
            if isinstance(held, h5py.Group) and not before:
                yield from _names(held, h5py, f"{name}/")
            else:
                yield f"{before}{name}"


def read_table(file: Any, path: Path, name: str) -> NDArray[Any]:
    """Return a data set of numbers, whole.

    Raises
    ------
    FormatError
        If it is not there, holds no numbers, or declares more than a file may.
    """
    held = dataset_of(file, path, name)
    with parsing(f"{path}::{name}: not a data set that can be read; copy it again"):
        if held.dtype.kind not in "iuf":
            raise FormatError(f"{path}::{name}: expected numbers, found {held.dtype}")
        check_unpacked(f"{path}::{name}", int(held.nbytes), stored=path.stat().st_size)
        return np.asarray(held[...])


class ChunkedStore(Store):
    """Images of a data set whose chunks hold so many that they are read from front to back only."""

    def __init__(self, path: Path, name: str, axes: Sequence[int], slab: int, *, scale: int = 1) -> None:
        n, height, width, channels = tuple(axes) if len(axes) == 4 else (*axes, 1)
        super().__init__(f"{path}::{name}", n, (height, width, channels), scale)
        self._path, self._name, self._slab = path.absolute(), name, slab
        self._open: Any = None

    def __getstate__(self) -> Mapping[str, Any]:
        """Send the name of the file to another process, and not the open one."""
        return {**self.__dict__, "_open": None}

    def blocks(self) -> Iterator[tuple[int, Pixels]]:
        """Yield all images; see :meth:`Store.blocks`.

        Raises
        ------
        FormatError
            If the file is damaged.
        """
        step = max(self._slab, self.per_block // self._slab * self._slab)
        for start in range(0, self.n, step):
            held = self._slice(start, min(start + step, self.n))
            for first in range(0, len(held), self.per_block):
                yield start + first, self._scaled(held[first : first + self.per_block].copy())
            del held  # before the next ones are read: two slabs would take twice the memory

    def _slice(self, start: int, stop: int) -> Pixels:
        if self._open is None:
            self._open = require("h5py", purpose=f"reading {self._path.name}").File(self._path, "r")
        with parsing(f"{self.what}: damaged or cut off at image {start:,}; copy it again"):
            held: Pixels = self._open[self._name][start:stop]
        return held.reshape(len(held), *self.shape)


class SlicedStore(ChunkedStore, RandomStore):
    """Images of a data set whose chunks hold few each."""

    def _taken(self, rows: NDArray[np.int64]) -> Pixels:
        found = np.empty((len(rows), *self.shape), dtype=np.uint8)
        slabs = rows // self._slab
        for slab in np.unique(slabs):
            own = np.flatnonzero(slabs == slab)
            start = int(slab) * self._slab
            held = self._slice(start, min(start + self._slab, self.n))
            found[own] = held[rows[own] - start]
        return found


def hdf5_store(file: Any, path: Path, name: str, axes: Sequence[int], *, scale: int = 1) -> Store:
    """Return the images of a data set whose shape and type were looked at.

    Raises
    ------
    FormatError
        If images cannot be read a few at a time.
    """
    held = dataset_of(file, path, name)
    with parsing(f"{path}::{name}: not a data set that can be read; copy it again"):
        chunks, offset = held.chunks, held.id.get_offset()
    size = int(np.prod(axes[1:]))
    if chunks is None and offset is not None:
        if offset + int(np.prod(axes)) > path.stat().st_size:
            raise FormatError(f"{path}::{name}: damaged or cut off; copy it again")
        return MappedStore(path, offset, axes, scale=scale)
    slab = min(int(chunks[0]) if chunks else max(1, BLOCK // size), axes[0])
    if max(slab * size, int(np.prod(chunks or (1,)))) > _MOST:
        raise FormatError(
            f"{path}::{name}: {slab:,} images share chunks and must be read together, which takes "
            f"{size_text(slab * size)}; save it again in smaller chunks"
        )
    kind = SlicedStore if slab * size <= _FEW else ChunkedStore
    return kind(path, name, axes, slab, scale=scale)


def hdf5_images(request: Request, path: Path, name: str, shapes: Sequence[tuple[int, ...]], *, scale: int = 1) -> Store:
    """Return the images of a data set, if it is uint8 and has one of the shapes expected.

    Raises
    ------
    FormatError
        If there is no such data set, listing those that there are, or it is another.
    """
    with opened_hdf5(path) as file:
        held = dataset_of(file, path, name)
        found = Description(str(held.dtype), tuple(held.shape))
        expected = [Description("uint8", shape) for shape in shapes]
        request.expect(f"{path}::{name}", found, found if found in expected else expected[0])
        return hdf5_store(file, path, name, found.shape, scale=scale)


def hdf5_numbers(request: Request, path: Path, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a data set of numbers, whole, if it has the shape expected.

    Raises
    ------
    FormatError
    """
    with opened_hdf5(path) as file:
        held = dataset_of(file, path, name)
        kind = str(held.dtype)
        expected = Description(kind if held.dtype.kind in "iuf" else "numbers", shape)
        request.expect(f"{path}::{name}", Description(kind, tuple(held.shape)), expected)
        return read_table(file, path, name)
