"""A folder of pictures as an array: each file is one image, read when it is asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.extras import require
from demele.data.mapped import StoredArray
from demele.data.pictures import Picture, listed, looked_at, read_pictures


class PictureArray(StoredArray):
    """Pictures of one size: grey ones have one channel, others three.

    Parameters
    ----------
    folder : Path
    names : sequence of str
        One file per row.
    picture : Picture, optional
        What all of them are, of pictures that were published; others are looked at.

    Raises
    ------
    FormatError
        If a file is no PNG of 8 bits, or they are not all of one size and kind of colour.
    MissingExtraError
        If Pillow is not installed.
    """

    def __init__(self, folder: Path, names: Sequence[str], picture: Picture | None = None) -> None:
        require("PIL.Image", purpose="a folder of pictures")
        self._folder, self._names = folder.absolute(), tuple(names)
        if picture is None:
            found = [looked_at(folder / name) for name in names]
            picture = found[0]
            others = [f"{quoted(name)} ({one})" for name, one in zip(names, found, strict=True) if one != picture]
            if others:
                raise FormatError(
                    f"{folder}: expected pictures of {picture}, as {quoted(names[0])} is; {len(others):,} are others: "
                    f"{listed(others, quote=False)}"
                )
        self.shape, self.dtype = (len(names), *picture), np.dtype(np.uint8)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> NDArray[np.uint8]:
        """Read some pictures."""
        height, width, channels = self.shape[1:]
        names = [self._names[row] for row in np.arange(len(self))[rows].tolist()]
        return read_pictures(self._folder, names, (height, width, channels))


def picture_names(folder: Path) -> list[str]:
    """Return the names of the pictures of a folder, in order: numbers in names are counted as numbers.

    Raises
    ------
    FormatError
        If there are none.
    """
    with os.scandir(folder) as entries:
        held = [entry.name for entry in entries]
    names = [name for name in held if name.lower().endswith(".png")]
    if not names:
        found = listed(sorted(held)) if held else "nothing"
        raise FormatError(f"{folder}: expected pictures, files that end in .png; found {found}")
    return sorted(names, key=in_order)


def in_order(name: str) -> list[tuple[int, str]]:
    """Return by what names are sorted.

    Examples
    --------
    >>> sorted(["10.png", "9.png", "a2.png", "a10.png"], key=in_order)
    ['9.png', '10.png', 'a2.png', 'a10.png']
    """
    parts = re.split(r"([0-9]+)", name)
    return [(int(part), "") if place % 2 else (0, part) for place, part in enumerate(parts)]
