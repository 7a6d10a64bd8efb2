"""Folders of pictures with numbers for names."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from demele.core.errors import FormatError, InputError
from demele.data.loaders.published import Request
from demele.data.loaders.stored_images import Images
from demele.data.picture_folders import PictureArray
from demele.data.pictures import listed, looked_at

#: Pictures by which a copy is recognised.
_SAMPLED = 64


def numbered_pictures(request: Request, folder: Path, n: int, digits: int) -> tuple[Images, tuple[Path, ...]]:
    """Return the pictures of a folder, in colour, and some files by which the copy is recognised.

    Parameters
    ----------
    request : Request
    folder : Path
    n, digits : int
        Number of pictures; their names are numbers of so many digits, filled with zeros.

    Raises
    ------
    FormatError
        If some are missing, or there are others: the first three names, and how many.
    InputError
        If there is no such folder.
    """
    if not folder.is_dir():
        raise InputError("path", f"expected a folder of {n:,} pictures, found no folder {folder}")
    names = [f"{number:0{digits}}.png" for number in range(n)]
    held, expected = {name for name in os.listdir(folder) if name.endswith(".png")}, set(names)
    for wrong, said in ((expected - held, "missing"), (held - expected, "too many")):
        if wrong:
            raise FormatError(
                f"{folder}: expected {n:,} pictures, {names[0]} to {names[-1]}; {len(wrong):,} are {said}: "
                f"{listed(sorted(wrong))}"
            )
    request.note(folder, f"{n:,} pictures", f"{n:,} pictures", "fits")
    first = looked_at(folder / names[0])
    rows = PictureArray(folder, names, first._replace(channels=3))
    files = tuple(folder / names[number] for number in np.unique(np.linspace(0, n - 1, _SAMPLED).astype(int)))
    return Images(str(folder), n, (first.height, first.width, 3), rows), files
