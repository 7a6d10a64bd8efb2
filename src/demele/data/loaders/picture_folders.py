"""Folders of pictures with numbers for names."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError, quoted
from demele.core.extras import require
from demele.core.reading import parsing, regular_file
from demele.data.loaders.stores import Pixels, RandomStore, Shape

_PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
#: Names that a message lists.
_LISTED = 3
#: Pixels of one side of a picture, more than any of the published ones has.
_LONGEST = 4096


def checked_names(folder: Path, n: int, name: Callable[[int], str]) -> None:
    """Look whether a folder holds the pictures that it should, by their names.

    Parameters
    ----------
    folder : Path
    n : int
        Number of pictures.
    name : callable
        Name of the file of a picture.

    Raises
    ------
    FormatError
        If some are missing, or there are others: the first three names, and how many.
    InputError
        If there is no such folder.
    """
    if not folder.is_dir():
        raise InputError("path", f"expected a folder of {n:,} pictures, found no folder {folder}")
    suffix = Path(name(0)).suffix
    held = {entry for entry in _entries(folder) if entry.endswith(suffix)}
    expected = {name(number) for number in range(n)}
    for wrong, said in ((expected - held, "missing"), (held - expected, "too many")):
        if wrong:
            raise FormatError(
                f"{folder}: expected {n:,} pictures, {name(0)} to {name(n - 1)}; {len(wrong):,} are {said}: "
                f"{_listed(wrong)}"
            )


def _entries(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        yield from (entry.name for entry in entries)


def _listed(names: set[str]) -> str:
    first = sorted(names)[:_LISTED]
    return ", ".join(map(quoted, first)) + (", ..." if len(names) > _LISTED else "")


def picture_shape(path: Path) -> tuple[int, int]:
    """Return height and width of a PNG, from its first bytes.

    Raises
    ------
    FormatError
    """
    regular_file(path)
    with path.open("rb") as file:
        return _declared(path, file)


def _declared(path: Path, file: IO[bytes]) -> tuple[int, int]:
    header = file.read(24)
    if len(header) < 24 or not header.startswith(_PNG):
        raise FormatError(f"{path}: not a PNG that can be read; copy it again")
    width, height = struct.unpack(">II", header[16:])
    if not 1 <= width <= _LONGEST or not 1 <= height <= _LONGEST:
        raise FormatError(f"{path}: expected at most {_LONGEST} x {_LONGEST} pixels, got {height} x {width}")
    return height, width


class PictureStore(RandomStore):
    """Pictures in colour, each a file of its own.

    Parameters
    ----------
    folder : Path
    n : int
    shape : (int, int, int)
        Of every picture; colours only, whatever a file says of transparency.
    name : callable
        Name of the file of a picture, below the folder; a function of a module, for other processes.
    """

    def __init__(self, folder: Path, n: int, shape: Shape, name: Callable[[int], str]) -> None:
        require("PIL.Image", purpose=f"reading {name(0)}")
        super().__init__(str(folder), n, shape)
        self._folder, self._name = folder.absolute(), name

    def _taken(self, rows: NDArray[np.int64]) -> Pixels:
        found = np.empty((len(rows), *self.shape), dtype=np.uint8)
        unread: list[tuple[str, str]] = []
        for place, row in enumerate(rows.tolist()):
            path = self._folder / self._name(row)
            try:
                found[place] = self._picture(path)
            except (FormatError, FileNotFoundError) as error:
                unread.append((self._name(row), str(error)))
        if unread:
            names = _listed({name for name, _ in unread})
            raise FormatError(
                f"{self._folder}: {len(unread):,} of {len(rows):,} pictures cannot be read: {names}; {unread[0][1]}"
            )
        return found

    def _picture(self, path: Path) -> Pixels:
        decoded = require("PIL.Image", purpose=f"reading {path.name}").open
        regular_file(path)
        with path.open("rb") as file:
            shape = _declared(path, file)
            if shape != self.shape[:2]:
                expected = " x ".join(map(str, self.shape[:2]))
                raise FormatError(f"{path}: expected {expected} pixels, got {shape[0]} x {shape[1]}")
            file.seek(0)
            with parsing(f"{path}: not a PNG that can be read; copy it again"):
                pixels: Pixels = np.asarray(decoded(file, formats=["PNG"]).convert("RGB"))
        return pixels
