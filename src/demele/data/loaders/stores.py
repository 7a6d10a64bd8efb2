"""Where stored images lie: mapped to a file, packed in it, or held in memory; all in the order of the file."""

from __future__ import annotations

import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.npy_files import members_of, opened_archive, opened_member, place_of_member
from demele.core.reading import parsing
from demele.data.mapped import MappedArray

Shape = tuple[int, int, int]
Pixels = NDArray[np.uint8]

#: Bytes of images that are read at a time.
BLOCK = 8 << 20


class Store(ABC):
    """Images that can be read from front to back.

    Attributes
    ----------
    n : int
        Number of images.
    shape : (int, int, int)
        Height, width, channels.
    scale : int
        What stored numbers are multiplied by; more than 1 where they are shares of white.
    what : str
        The file, for messages.
    """

    def __init__(self, what: str, n: int, shape: Shape, scale: int = 1) -> None:
        self.what, self.n, self.shape, self.scale = what, n, shape, scale

    @abstractmethod
    def blocks(self) -> Iterator[tuple[int, Pixels]]:
        """Yield all images, in their order, a few MB at a time: the number of the first, and the images."""

    @property
    def per_block(self) -> int:
        """Number of images that are read at a time."""
        return max(1, BLOCK // max(1, int(np.prod(self.shape))))

    def _scaled(self, stored: Pixels) -> Pixels:
        if self.scale == 1:
            return stored
        most = int(stored.max(initial=0))
        if most * self.scale > np.iinfo(np.uint8).max:
            raise FormatError(f"{self.what}: expected pixels from 0 to {255 // self.scale}, got {most}")
        return stored * np.uint8(self.scale)


class RandomStore(Store):
    """Images that can be read in any order."""

    @abstractmethod
    def _taken(self, rows: NDArray[np.int64]) -> Pixels:
        """Return stored numbers of some images, of shape (k, H, W, C)."""

    def take(self, rows: NDArray[np.int64]) -> Pixels:
        """Return some images; rows are trusted."""
        return self._scaled(self._taken(rows))

    def blocks(self) -> Iterator[tuple[int, Pixels]]:
        """Yield all images; see :meth:`Store.blocks`."""
        for start in range(0, self.n, self.per_block):
            yield start, self.take(np.arange(start, min(start + self.per_block, self.n)))


# In a file -----------------------------------------------------------------------------------------------------------


class MappedStore(RandomStore):
    """Images whose bytes stand in a file as they are.

    Parameters
    ----------
    path : Path
    offset : int
        Where they begin.
    axes : tuple of int
        (n, H, W) or (n, H, W, C); with ``layer``, (n, layers, H, W).
    layer : int, optional
        Which of several images of a row is meant.
    columns_first : bool
        The first axis changes fastest.
    scale : int
    """

    def __init__(
        self,
        path: Path,
        offset: int,
        axes: Sequence[int],
        *,
        layer: int | None = None,
        columns_first: bool = False,
        scale: int = 1,
    ) -> None:
        held = tuple(axes) if layer is None else (axes[0], *axes[2:])
        n, height, width, channels = held if len(held) == 4 else (*held, 1)
        super().__init__(str(path), n, (height, width, channels), scale)
        self._array = MappedArray(path, offset, tuple(axes), np.dtype(np.uint8), columns_first=columns_first)
        self._array[:0]  # mapped now: a file that takes its name later is another one
        self._layer = layer

    def _taken(self, rows: NDArray[np.int64]) -> Pixels:
        found = self._array[rows] if self._layer is None else self._array[rows][:, self._layer]
        return np.ascontiguousarray(found).reshape(len(rows), *self.shape)


class PackedMember(Store):
    """Images of a member of an archive that was deflated: read from front to back, each time anew."""

    def __init__(self, path: Path, member: str, axes: Sequence[int], *, scale: int = 1) -> None:
        n, height, width, channels = tuple(axes) if len(axes) == 4 else (*axes, 1)
        super().__init__(f"{path}::{member}", n, (height, width, channels), scale)
        self._path, self._member = path, member

    def blocks(self) -> Iterator[tuple[int, Pixels]]:
        """Yield all images; see :meth:`Store.blocks`.

        Raises
        ------
        FormatError
            If the archive is damaged: what was deflated carries a checksum.
        """
        with (
            opened_archive(self._path) as archive,
            opened_member(archive, members_of(archive)[self._member]) as (_, file),
        ):
            size = int(np.prod(self.shape))
            for start in range(0, self.n, self.per_block):
                count = min(self.per_block, self.n - start)
                with parsing(f"{self.what}: damaged or cut off at image {start:,}; copy it again"):
                    held = file.read(count * size)  # with its last byte the checksum is compared
                    if len(held) != count * size:
                        raise FormatError(f"{self.what}: damaged or cut off at image {start:,}; copy it again")
                yield start, self._scaled(np.frombuffer(held, np.uint8).reshape(count, *self.shape))


def member_store(path: Path, info: zipfile.ZipInfo, axes: Sequence[int], *, columns_first: bool, scale: int) -> Store:
    """Return the images of a member of an archive: mapped where its bytes stand as they are.

    Raises
    ------
    FormatError
        If it is damaged, or deflated with the images across each other.
    """
    name = info.filename.removesuffix(".npy")
    place = place_of_member(path, info)
    if place is None:
        if columns_first:
            raise FormatError(
                f"{path}::{name}: its images are deflated, with the first axis fastest, and cannot be read one after "
                "the other; save it again with numpy.ascontiguousarray"
            )
        return PackedMember(path, name, axes, scale=scale)
    header = info.file_size - int(np.prod(axes))
    return MappedStore(path, place + header, axes, columns_first=columns_first, scale=scale)


# In memory -----------------------------------------------------------------------------------------------------------


class HeldStore(RandomStore):
    """Images in memory."""

    def __init__(self, what: str, images: Pixels, *, scale: int = 1) -> None:
        n, height, width, channels = images.shape
        super().__init__(what, n, (height, width, channels), scale)
        self._images = images

    def _taken(self, rows: NDArray[np.int64]) -> Pixels:
        return self._images[rows]


class BitStore(RandomStore):
    """Images of black and white in memory, eight pixels in a byte.

    Parameters
    ----------
    what : str
    n : int
    shape : (int, int, int)
    """

    def __init__(self, what: str, n: int, shape: Shape) -> None:
        super().__init__(what, n, shape, scale=255)
        self._bits = np.zeros((n, -(-int(np.prod(shape)) // 8)), dtype=np.uint8)

    def put(self, rows: NDArray[np.int64], images: Pixels) -> None:
        """Hold some images of 0 and 255.

        Raises
        ------
        FormatError
            For others.
        """
        if ((images != 0) & (images != self.scale)).any():
            grey = images[(images != 0) & (images != self.scale)]
            raise FormatError(f"{self.what}: expected pixels of 0 and 1, got {quoted(grey.flat[0].item())}")
        self._bits[rows] = np.packbits(images.reshape(len(images), -1), axis=1)

    def _taken(self, rows: NDArray[np.int64]) -> Pixels:
        pixels = np.unpackbits(self._bits[rows], axis=1, count=int(np.prod(self.shape)))
        return pixels.reshape(len(rows), *self.shape)


class JoinedStores(Store):
    """Images of several files, one behind the other."""

    def __init__(self, stores: Sequence[Store]) -> None:
        first = stores[0]
        super().__init__(first.what, sum(store.n for store in stores), first.shape)
        self._stores = tuple(stores)

    def blocks(self) -> Iterator[tuple[int, Pixels]]:
        """Yield all images; see :meth:`Store.blocks`."""
        before = 0
        for store in self._stores:
            yield from ((before + start, images) for start, images in store.blocks())
            before += store.n


class JoinedRandomStores(JoinedStores, RandomStore):
    """The same of files that can be read in any order."""

    _stores: tuple[RandomStore, ...]

    def _taken(self, rows: NDArray[np.int64]) -> Pixels:
        found = np.empty((len(rows), *self.shape), dtype=np.uint8)
        before = 0
        for store in self._stores:
            own = np.flatnonzero((rows >= before) & (rows < before + store.n))
            if own.size:
                found[own] = store.take(rows[own] - before)
            before += store.n
        return found


def joined(stores: Sequence[Store]) -> Store:
    """Return the images of several files as one, which can be read in any order if all can."""
    if len(stores) == 1:
        return stores[0]
    direct = all(isinstance(store, RandomStore) for store in stores)
    return JoinedRandomStores(stores) if direct else JoinedStores(stores)
