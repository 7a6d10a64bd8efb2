"""Files of HDF5: read by whole chunks, since a chunk is decompressed as a whole for the least of its images."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError
from demele.core.extras import require
from demele.core.reading import parsing, regular_file, size_text
from demele.data.loaders.published import Request
from demele.data.loaders.stored_images import BLOCK, Images, Pixels
from demele.data.mapped import MappedArray, StoredArray

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
