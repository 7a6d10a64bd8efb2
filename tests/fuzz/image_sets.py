"""Hostile files of image sets: tiny ones of published layouts, damaged, exchanged or left out; and converted ones."""

import io
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

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


def hostile_arrays(content: bytes, rng: np.random.Generator) -> bytes:
    """Return an archive in which one array is of another type or shape."""
    with np.load(io.BytesIO(content)) as archive:
        arrays = {name: archive[name] for name in archive.files if name != "metadata"}
    name = list(arrays)[int(rng.integers(0, len(arrays)))]
    held = arrays[name]
    choices: list[Any] = [
        held[:1], held[:0], held.astype(np.float16), held.astype(bool), held.astype(complex), held.T, held.ravel(),
        np.zeros((), np.uint8), held.astype("U3"), held.astype(">i8"), held[..., None], np.zeros((0, 64, 64), np.uint8),
        held.astype("M8[s]"), held.view(np.int8) if held.dtype == np.uint8 else held[::-1],
    ]  # fmt: skip
    arrays[name] = choices[int(rng.integers(0, len(choices)))]
    return files.npz_bytes(arrays, packed=bool(rng.random() < 0.5))
