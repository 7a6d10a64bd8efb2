"""A set of images as an archive of NumPy, a few MB at a time: what :func:`demele.data.open_images` maps again."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from demele.core.errors import InputError, quoted
from demele.core.outputs import check_room, writing_whole
from demele.core.reading import path_of
from demele.data.images import ImageSet
from demele.data.own_files import TEXTS
from demele.data.pixels import BLOCK
from demele.runtime.progress import Report, reporting

if TYPE_CHECKING:
    import pandas as pd


def save_images(images: ImageSet, path: str | Path, *, replace: bool = True, progress: bool | Report = False) -> Path:
    """Write a set of images with its factors to an ``.npz``, a few MB at a time.

    Parameters
    ----------
    images : ImageSet
    path : str or Path
        Ends in ``.npz``. The file takes as many bytes as the images have pixels, channels counted: they are not
        compressed, so that :func:`demele.data.open_images` maps them.
    replace : bool
        False never replaces a file.
    progress : bool or callable(done, total, label)
        Show a progress bar on anything that takes over a second.

    Returns
    -------
    Path
        The file. Its arrays: ``images`` (n, height, width, channels) of uint8; one of n values for each factor; texts
        ``name``, ``provenance``, ``licence`` and, of a grid, ``space``: its values, periods and symmetries as JSON.

    Raises
    ------
    InputError
        If the name does not end in ``.npz``, or a factor cannot be saved under its own name.
    OutputError
        If the file cannot be written; one that was there is untouched.

    Examples
    --------
    >>> import tempfile
    >>> import demele
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = demele.data.save_images(demele.data.sprites(16, (3, 2, 4, 2, 2)), f"{folder}/sprites.npz")
    ...     demele.data.open_images(path)
    ImageSet(sprites: 96 images of 16 x 16 x 1; 3 shape × 2 scale × 4 orientation × 2 x × 2 y)
    """
    path = path_of(path)
    if path.suffix != ".npz":
        raise InputError("path", f"expected a file that ends in .npz, got {quoted(str(path))}")
    columns = {str(name): _plain_column(name, column) for name, column in images.factors().items()}
    texts = {name: getattr(images, name) for name in ("name", "provenance", "licence")}
    if images.space is not None:
        texts["space"] = images.space.to_json()
    check_room(path, len(images) * int(np.prod(images.shape)))
    with (
        reporting(progress) as report,
        writing_whole(path, replace=replace) as whole,
        zipfile.ZipFile(cast("IO[bytes]", whole), "w") as archive,
    ):
        n, shape = len(images), images.shape
        with _member(archive, "images") as member:
            npy.write_array_header_1_0(member, {"descr": "|u1", "fortran_order": False, "shape": (n, *shape)})
            per_block = max(1, BLOCK // int(np.prod(shape)))
            for start in range(0, n, per_block):
                rows = np.arange(start, min(start + per_block, n))
                member.write(images.images(rows).data.cast("B"))
                if report is not None:
                    report(int(rows[-1]) + 1, n, f"images of {images.name}")
        for name, held in {**columns, **{name: np.array(text) for name, text in texts.items()}}.items():
            with _member(archive, name) as member:
                npy.write_array(member, held, allow_pickle=False)
    return path


@contextmanager
def _member(archive: zipfile.ZipFile, name: str) -> Iterator[IO[bytes]]:
    # the date of an entry is that of a new ZipInfo, 1980: the same set gives the same bytes
    with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
        yield member


def _plain_column(name: Any, column: pd.Series[Any]) -> NDArray[Any]:
    """Return the values of a factor as numbers or texts."""
    if str(name) in ("images", "factors", "factor_names", *TEXTS):
        raise InputError("images", f"the file has its own array {quoted(name)}; rename the factor of that name")
    values = column.to_numpy()
    if values.dtype.kind == "O":
        if column.isna().any():
            raise InputError("images", f"factor {quoted(name)} lacks values; leave those rows out with subset")
        values = values.astype(np.str_)
    return np.asarray(values)
