"""Pictures in files of PNG: looked at by their first bytes, and read as uint8, alone or as a folder of them."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, listed, quoted
from demele.core.extras import require
from demele.core.reading import parsing, regular_file
from demele.data.mapped import StoredArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
_HEADER = struct.Struct(">IIBB")  # width, height, bits of a channel, kind of colour
_GREY = (0, 4)  # without and with a mask
_LONGEST = 8192


class Picture(NamedTuple):
    """What the first bytes of a picture say: one channel of grey, or three of colours; a mask is none."""

    height: int
    width: int
    channels: int

    def __str__(self) -> str:
        return f"{self.height} x {self.width} in {'grey' if self.channels == 1 else 'colours'}"


def looked_at(path: Path) -> Picture:
    """Return what the first bytes of a picture say.

    Raises
    ------
    FormatError
        If it is no PNG of 8 bits, or is larger than any picture of a data set.
    """
    regular_file(path)
    size = len(_SIGNATURE) + _HEADER.size
    with path.open("rb") as file:
        start = file.read(size)
    if len(start) < size or not start.startswith(_SIGNATURE):
        raise FormatError(f"{path}: not a PNG that can be read; copy it again")
    width, height, bits, kind = _HEADER.unpack(start[len(_SIGNATURE) :])
    if not 1 <= width <= _LONGEST or not 1 <= height <= _LONGEST:
        raise FormatError(f"{path}: expected at most {_LONGEST} x {_LONGEST} pixels, got {height} x {width}")
    if bits > 8:
        raise FormatError(f"{path}: its channels have {bits} bits; save it with 8")
    return Picture(height, width, 1 if kind in _GREY else 3)


def _read(path: Path, shape: tuple[int, int, int]) -> NDArray[np.uint8]:
    decoded = require("PIL.Image", purpose=f"reading {path.name}").open
    found = looked_at(path)
    if found[:2] != shape[:2]:
        raise FormatError(f"{path}: expected {shape[0]} x {shape[1]} pixels, got {found.height} x {found.width}")
    with parsing(f"{path}: not a PNG that can be read; copy it again"), path.open("rb") as file:
        picture = decoded(file, formats=["PNG"]).convert("L" if shape[2] == 1 else "RGB")
        return np.asarray(picture, dtype=np.uint8).reshape(shape)


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
                    f"{', '.join(others[:3])}"
                )
        self.shape, self.dtype = (len(names), *picture), np.dtype(np.uint8)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> NDArray[np.uint8]:
        """Read some pictures; what a file says of transparency is left out.

        Raises
        ------
        FormatError
            With the first three that cannot be read, how many, and why the first cannot.
        """
        height, width, channels = self.shape[1:]
        names = [self._names[row] for row in np.arange(len(self))[rows].tolist()]
        pixels = np.empty((len(names), height, width, channels), dtype=np.uint8)
        unread, why = [], ""
        for place, name in enumerate(names):
            try:
                pixels[place] = _read(self._folder / name, (height, width, channels))
            except (FormatError, OSError) as error:
                unread.append(name)
                why = why or str(error)
        if unread:
            many = f"{len(unread):,} of {len(names):,} pictures"
            raise FormatError(f"{self._folder}: {many} cannot be read: {listed(unread)}; {why}")
        return pixels


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
        raise FormatError(f"{folder}: expected pictures, files that end in .png; found {listed(sorted(held))}")
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
