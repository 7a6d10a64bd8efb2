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
from demele.data.pictures import listed, looked_at, read_pictures


class PictureArray(StoredArray):
    """Pictures of one size: grey ones have one channel, others three.

    Parameters
    ----------
    folder : Path
    names : sequence of str
        One file per row.

    Raises
    ------
    FormatError
        If a file is no PNG of 8 bits, or they are not all of one size and kind of colour.
    MissingExtraError
        If Pillow is not installed.
    """

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        require("PIL.Image", purpose="a folder of pictures")
        self._folder, self._names = folder.absolute(), tuple(names)
        found = [looked_at(folder / name) for name in names]
        others = [f"{quoted(name)} ({one})" for name, one in zip(names, found, strict=True) if one != found[0]]
        if others:
            raise FormatError(
                f"{folder}: expected pictures of {found[0]}, as {quoted(names[0])} is; {len(others):,} are others: "
                f"{listed(others, quote=False)}"
            )
        self._picture = (found[0].height, found[0].width, found[0].channels)
        self.shape, self.dtype = (len(names), *self._picture), np.dtype(np.uint8)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> NDArray[np.uint8]:
        """Read some pictures."""
        names = self._names[rows] if isinstance(rows, slice) else [self._names[row] for row in rows]
        return read_pictures(self._folder, names, self._picture)


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
