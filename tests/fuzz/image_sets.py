"""Hostile files of image sets: tiny ones of published layouts, damaged, exchanged or left out; and converted ones."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from demele.data.loaders.loading import load
from demele.data.loaders.published import PublishedSet
from tests.data import published_files as files
from tests.data.published_files import LAYOUTS

#: Layouts whose images are converted first; what is damaged is what was written.
CONVERTED = ("dsprites", "smallnorb", "3dident")
_FOLDER = "set"


@cache
def good(layout: str, converted: bool = False) -> tuple[dict[str, bytes], PublishedSet, str]:
    """The files of a layout below one folder, the set, and the path that is opened."""
    write, how, asked = LAYOUTS[layout]
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held) / _FOLDER
        folder.mkdir()
        made = write(folder, **how)
        path = made.path
        if converted:
            path = Path(held) / "converted" / "images.npy"
            path.parent.mkdir()
            files.converted(made.published, made.path, path, **asked)
            folder = path.parent
        found = {str(one.relative_to(held)): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}
        return found, made.published, str(path.relative_to(held))


def read(layout: str, converted: bool) -> None:
    """Read all of a set that lies in the working directory, and convert it."""
    _, published, path = good(layout, converted)
    asked = LAYOUTS[layout][2]
    images = load(published, Path(path), **asked)
    images.images(np.arange(len(images)))
    images.factors()
    if not converted:
        again = files.converted(published, Path(path), Path("again.npy"), **asked)
        again.images([0, len(again) - 1])
        load(published, Path(path), size=4, cache="kept.npy", **asked)
