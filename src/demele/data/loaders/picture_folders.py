"""Folders of pictures with numbers for names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError
from demele.core.extras import require
from demele.data.loaders.stores import Pixels, RandomStore, Shape
from demele.data.pictures import listed, read_pictures


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
                f"{listed(sorted(wrong))}"
            )


def _entries(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        yield from (entry.name for entry in entries)


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
        return read_pictures(self._folder, [self._name(row) for row in rows.tolist()], self.shape)
