"""A folder of pictures as an array: each file is one image, read when it is asked for."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.extras import require
from demele.core.reading import parsing, regular_file
from demele.data.mapped import StoredArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
_HEADER = struct.Struct(">IIBB")  # width, height, bits of a channel, kinds of colour
_GREY = (0, 4)  # without and with a mask
_LONGEST = 8192
_LISTED = 3


class Picture(NamedTuple):
    """What the first bytes of a picture say."""

    height: int
    width: int
    channels: int

    def __str__(self) -> str:
        return f"{self.height} x {self.width} in {'grey' if self.channels == 1 else 'colours'}"


class PictureArray(StoredArray):
    """Pictures of one size: grey ones have one channel, others three; what they say of transparency is left out.

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
        found = [_looked_at(folder / name) for name in names]
        others = [f"{quoted(name)} ({one})" for name, one in zip(names, found, strict=True) if one != found[0]]
        if others:
            raise FormatError(
                f"{folder}: expected pictures of {found[0]}, as {quoted(names[0])} is; {len(others):,} are others: "
                f"{listed(others, quote=False)}"
            )
        self.shape, self.dtype = (len(names), *found[0]), np.dtype(np.uint8)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> NDArray[np.uint8]:
        """Read some pictures.

        Raises
        ------
        FormatError
            With the first three that cannot be read, and how many.
        """
        names = self._names[rows] if isinstance(rows, slice) else [self._names[row] for row in rows]
        pixels = np.empty((len(names), *self.shape[1:]), dtype=np.uint8)
        unread, first = [], ""
        for place, name in enumerate(names):
            try:
                pixels[place] = self._read(self._folder / name)
            except (FormatError, OSError) as error:
                unread.append(name)
                first = first or str(error)
        if unread:
            raise FormatError(f"{self._folder}: {len(unread):,} pictures cannot be read: {listed(unread)}; {first}")
        return pixels

    def _read(self, path: Path) -> NDArray[np.uint8]:
        decoded = require("PIL.Image", purpose=f"reading {path.name}").open
        if _looked_at(path) != self.shape[1:]:
            raise FormatError(f"{path}: has changed since the folder was opened; open it again")
        with parsing(f"{path}: not a PNG that can be read; copy it again"), path.open("rb") as file:
            picture = decoded(file, formats=["PNG"]).convert("L" if self.shape[3] == 1 else "RGB")
            return np.asarray(picture, dtype=np.uint8).reshape(self.shape[1:])


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


def listed(names: Iterable[str], *, quote: bool = True) -> str:
    """Return the first three names for a message."""
    names = list(names)
    shown = [quoted(name) if quote else name for name in names[:_LISTED]]
    return ", ".join(shown) + (", ..." if len(names) > _LISTED else "")


def _looked_at(path: Path) -> Picture:
    regular_file(path)
    with path.open("rb") as file:
        header = file.read(len(_SIGNATURE) + _HEADER.size)
    if len(header) < len(_SIGNATURE) + _HEADER.size or not header.startswith(_SIGNATURE):
        raise FormatError(f"{path}: not a PNG that can be read; copy it again")
    width, height, bits, kind = _HEADER.unpack(header[len(_SIGNATURE) :])
    if not 1 <= width <= _LONGEST or not 1 <= height <= _LONGEST:
        raise FormatError(f"{path}: expected at most {_LONGEST} x {_LONGEST} pixels, got {height} x {width}")
    if bits > 8:
        raise FormatError(f"{path}: its channels have {bits} bits; save it with 8")
    return Picture(height, width, 1 if kind in _GREY else 3)
