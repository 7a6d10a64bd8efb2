"""A set of images that lie in files: in the order of its grid, whatever that of the files is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.core.reading import regular_file
from demele.data.images import ImageSet, digest_of
from demele.data.loaders.published import Opened
from demele.data.loaders.stores import BitStore, HeldStore, Pixels, RandomStore, Store
from demele.data.resample import resampled

#: Bytes at both ends of a file by which a copy is recognised.
_ENDS = 1 << 16
#: Bytes of images that are held in memory, where a file can be read from front to back only.
MOST_HELD = 1 << 30


class StoredImages(ImageSet):
    """Images of a store; :func:`demele.data.load` makes them.

    Parameters
    ----------
    opened : Opened
    name, digest, provenance, licence : str
    """

    def __init__(self, opened: Opened, *, name: str, digest: str, provenance: str, licence: str) -> None:
        super().__init__(
            name=name,
            shape=opened.store.shape,
            space=opened.space,
            places=_places(opened),
            table=opened.table,
            digest=digest,
            provenance=provenance,
            licence=licence,
        )
        self._store, self._order = opened.store, opened.order

    def _draw(self, rows: NDArray[np.int64]) -> Pixels:
        if not isinstance(self._store, RandomStore):
            raise InputError(
                f"the images of {self.name} can be read from front to back only; load them with cache= a file"
            )
        return self._store.take(rows if self._order is None else self._order[rows])


def _places(opened: Opened) -> NDArray[np.int64] | None:
    if opened.space is None or opened.places is not None:
        return opened.places
    n = opened.store.n if opened.order is None else len(opened.order)
    if n != len(opened.space):
        raise InputError(f"expected {len(opened.space)} images, one per row of the space, got {n}")
    return None


def recognised(files: Sequence[Path]) -> str:
    """Return a text that differs where files do: from their sizes and their ends, so that large ones take no time."""
    found = hashlib.blake2b(digest_size=16)
    for path in files:
        size = regular_file(path)
        with path.open("rb") as file:
            found.update(f"{size}\x1f".encode())
            found.update(file.read(_ENDS))
            file.seek(max(0, size - _ENDS))
            found.update(file.read(_ENDS))
    return found.hexdigest()


def in_order(opened: Opened, size: tuple[int, int], resample: str) -> Iterator[tuple[NDArray[np.int64], Pixels]]:
    """Yield rows of the set with their images, in the order of the file: one pass, a few MB at a time.

    Parameters
    ----------
    opened : Opened
    size : (int, int)
        Height and width that the images shall have.
    resample : {"area", "lanczos"}
    """
    store: Store = opened.store
    rows = None
    if opened.order is not None:
        rows = np.full(store.n, -1, dtype=np.int64)
        rows[opened.order] = np.arange(len(opened.order))
    for start, images in store.blocks():
        own = np.arange(start, start + len(images)) if rows is None else rows[start : start + len(images)]
        held = images if rows is None else images[own >= 0]
        if held.shape[1:3] != size:
            held = resampled(held, size, resample)  # type: ignore[arg-type]
        yield own if rows is None else own[own >= 0], held


def held_in_memory(opened: Opened, size: tuple[int, int], resample: str, *, packed: bool) -> RandomStore:
    """Return the images of a set in memory, in its order: as bits where they are ``packed``, else as bytes."""
    n = opened.store.n if opened.order is None else len(opened.order)
    shape = (*size, opened.store.shape[2])
    if packed:
        bits = BitStore(opened.store.what, n, shape)
        for rows, images in in_order(opened, size, resample):
            bits.put(rows, images)
        return bits
    held = np.empty((n, *shape), dtype=np.uint8)
    for rows, images in in_order(opened, size, resample):
        held[rows] = images
    return HeldStore(opened.store.what, held)


def identity_of(name: str, variant: str | None, options: dict[str, object], files: Sequence[Path]) -> str:
    """Return the digest of a set at its own size."""
    return digest_of(name, variant or "", sorted(options.items()), recognised(files))
