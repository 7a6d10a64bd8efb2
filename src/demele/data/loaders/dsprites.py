"""dSprites: white shapes on black, in an archive of NumPy or in HDF5."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError
from demele.data.loaders.archives import image_member, number_member
from demele.data.loaders.hdf5_files import SIGNATURE, hdf5_images, hdf5_numbers
from demele.data.loaders.published import (
    Factor,
    Grid,
    Opened,
    PublishedFile,
    PublishedSet,
    Request,
    file_of,
    order_of,
)
from demele.data.loaders.stores import Store

_NPZ = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
_HDF5 = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.hdf5"
#: Names of the three tables in an archive and in HDF5.
_TABLES = {
    "npz": ("imgs", "latents_classes", "latents_values"),
    "hdf5": ("imgs", "latents/classes", "latents/values"),
}
#: The first column of the labels is the colour, of which there is one: no factor.
_COLOUR = 1


def read_dsprites(request: Request) -> Opened:
    """Read the labels, and find the images."""
    path = file_of(request, (_NPZ, _HDF5))
    grid = request.grid
    store, classes, values = _tables(request, path, grid)
    if (classes[:, 0] != 0).any():
        raise FormatError(path, "expected one colour, found several; is it another set?")
    positions = classes[:, _COLOUR:].astype(np.int64)
    for column, factor in enumerate(grid.factors):
        if positions[:, column].min() < 0 or positions[:, column].max() >= factor.size:
            raise FormatError(path, f"expected positions of {factor.name} from 0 to {factor.size - 1}, found others")
    order = order_of(positions, grid.sizes, [factor.name for factor in grid.factors], path)
    found = {
        factor.name: _values_by_position(values[:, column + _COLOUR], positions[:, column], factor, path)
        for column, factor in enumerate(grid.factors)
    }
    if not request.options["drop_duplicates"]:
        return Opened(store, (path,), grid.space(found), order=order)
    return _without_duplicates(Opened(store, (path,), order=order), grid, found)


def _tables(request: Request, path: Path, grid: Grid) -> tuple[Store, NDArray[Any], NDArray[Any]]:
    shapes = [(grid.n, *grid.pixels[:2])]
    labels = (grid.n, len(grid.factors) + _COLOUR)
    with path.open("rb") as file:
        start = file.read(len(SIGNATURE))
    if start.startswith(b"PK"):
        images, classes, values = _TABLES["npz"]
        return (
            image_member(request, path, images, shapes, scale=255),
            number_member(request, path, classes, labels),
            number_member(request, path, values, labels),
        )
    if start == SIGNATURE:
        images, classes, values = _TABLES["hdf5"]
        return (
            hdf5_images(request, path, images, shapes, scale=255),
            hdf5_numbers(request, path, classes, labels),
            hdf5_numbers(request, path, values, labels),
        )
    raise FormatError(path, "expected an archive of NumPy or HDF5, and it begins as neither", "copy it again")


def _values_by_position(
    values: NDArray[Any], positions: NDArray[np.int64], factor: Factor, path: Path
) -> tuple[float, ...]:
    """Return the value that each position stands for."""
    found = np.full(factor.size, np.nan)
    found[positions] = values
    if not np.array_equal(found[positions], values):
        raise FormatError(path, f"expected one value for each position of {factor.name}, found several")
    return tuple(found.tolist())


def _without_duplicates(opened: Opened, grid: Grid, found: dict[str, tuple[float, ...]]) -> Opened:
    """Leave out the last orientation, whose images are those of the first: 0 and 360 degrees."""
    place = next(place for place, factor in enumerate(grid.factors) if factor.name == "orientation")
    size = grid.factors[place].size - 1
    rows = np.arange(grid.n).reshape(grid.sizes).take(np.arange(size), axis=place).ravel()
    factors = (*grid.factors[:place], replace(grid.factors[place], size=size), *grid.factors[place + 1 :])
    values = {**found, "orientation": found["orientation"][:-1]}
    order = rows if opened.order is None else opened.order[rows]
    return replace(opened, space=replace(grid, factors=factors).space(values), order=order)


DSPRITES = PublishedSet(
    name="dsprites",
    title="dSprites",
    publisher="DeepMind",
    download=f"{_NPZ}, or .hdf5 of 28,024,106 bytes, at https://github.com/google-deepmind/dsprites-dataset",
    licence="Apache 2.0",
    provenance="dSprites: L. Matthey, I. Higgins, D. Hassabis and A. Lerchner, 2017",
    read=read_dsprites,
    grids={
        "": Grid(
            (
                Factor("shape", 3, ("square", "ellipse", "heart"), "categorical"),
                Factor("scale", 6),
                Factor("orientation", 40, period=2 * math.pi),
                Factor("x", 32),
                Factor("y", 32),
            ),
            (64, 64, 1),
            symmetric=(
                ("orientation", "shape", "square", math.pi / 2),
                ("orientation", "shape", "ellipse", math.pi),
            ),
        )
    },
    files=(
        PublishedFile(_NPZ, md5="7da33b31b13a06f4b04a70402ce90c2e"),
        PublishedFile(
            _HDF5,
            size=28_024_106,
            sha256="729fa22e884c9c500e1f17415d580746b4c5894fbbb780a1319bbcfa39a745bb",
            md5="b331c4447a651c44bf5e8ae09022e230",
        ),
    ),
    options={"drop_duplicates": (False, True)},
    notes=(
        "The first and the last orientation are 0 and 360 degrees: 18,432 images occur twice. drop_duplicates=True "
        "leaves one of each, and makes the orientation cyclic.",
        "A square looks the same after 90 degrees, an ellipse after 180: codes cannot tell more of their orientation. "
        "No two of 39 orientations coincide, but neighbours by image are not neighbours by label.",
    ),
    binary=True,
)
