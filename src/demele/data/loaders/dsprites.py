"""dSprites: white shapes on black, in an archive of NumPy or in HDF5."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from demele.core.errors import FormatError
from demele.data.loaders.archives import SIGNATURE, hdf5_images, hdf5_numbers, npz_images, npz_numbers
from demele.data.loaders.published import Factor, PublishedFile, PublishedSet, Read, Request, check_positions, one_grid
from demele.data.loaders.stored_images import Pixels

_NPZ = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
_HDF5 = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.hdf5"


def _read(request: Request) -> Read:
    """Read the labels; the first column, the colour, is constant and so no factor."""
    path, grid = request.file(_NPZ, _HDF5), request.grid
    with path.open("rb") as file:
        start = file.read(len(SIGNATURE))
    if start.startswith(b"PK"):
        read_images, read_numbers, latents = npz_images, npz_numbers, "latents_"
    elif start == SIGNATURE:
        read_images, read_numbers, latents = hdf5_images, hdf5_numbers, "latents/"
    else:
        raise FormatError(path, "expected an archive of NumPy or HDF5, and it begins as neither", "copy it again")
    images = read_images(request, path, "imgs", (grid.n, *grid.pixels[:2]), partial(_white, what=f"{path}::imgs"))
    classes, values = (
        read_numbers(request, path, f"{latents}{one}", (grid.n, 1 + len(grid.factors))) for one in ("classes", "values")
    )
    if classes[:, 0].any():
        raise FormatError(path, "expected one colour, found several; is it another set?")
    positions = classes[:, 1:].astype(np.int64)
    check_positions(path, positions, grid.factors)
    found = {}
    for factor, own, given in zip(grid.factors, positions.T, values[:, 1:].T, strict=True):
        by_position = np.full(factor.size, np.nan)
        by_position[own] = given
        if not np.array_equal(by_position[own], given):
            raise FormatError(path, f"expected one value for each position of {factor.name}, found several")
        if factor.values is None:
            found[factor.name] = by_position.tolist()
    # the last orientation repeats the first: 0 and 360 degrees
    first_only = {"orientation": len(found["orientation"]) - 1} if request.options["drop_duplicates"] else {}
    return Read(images=images, files=(path,), positions=positions, values=found, first_only=first_only)


def _white(rows: Pixels, what: str) -> Pixels:
    """Return pixels from shares of white, which must be 0 or 1."""
    if rows.max(initial=0) > 1:
        raise FormatError(f"{what}: expected pixels from 0 to 1, got {rows.max()}")
    return rows * np.uint8(255)


DSPRITES = PublishedSet(
    name="dsprites",
    title="dSprites",
    publisher="DeepMind",
    download=f"{_NPZ}, or .hdf5 of 28,024,106 bytes, at https://github.com/google-deepmind/dsprites-dataset",
    licence="Apache 2.0",
    provenance="dSprites: L. Matthey, I. Higgins, D. Hassabis and A. Lerchner, 2017",
    read=_read,
    grids=one_grid(
        (64, 64, 1),
        Factor("shape", 3, ("square", "ellipse", "heart"), "categorical"),
        Factor("scale", 6),
        Factor("orientation", 40, period=2 * math.pi),
        Factor("x", 32),
        Factor("y", 32),
        symmetric=(
            ("orientation", "shape", "square", math.pi / 2),
            ("orientation", "shape", "ellipse", math.pi),
        ),
    ),
    files=(
        PublishedFile(_NPZ, digest="7da33b31b13a06f4b04a70402ce90c2e"),
        PublishedFile(_HDF5, 28_024_106, "729fa22e884c9c500e1f17415d580746b4c5894fbbb780a1319bbcfa39a745bb"),
    ),
    options={"drop_duplicates": (False, True)},
    notes=(
        "The first and the last orientation are 0 and 360 degrees: 18,432 images occur twice. drop_duplicates=True "
        "leaves one of each, and makes the orientation cyclic.",
        "A square looks the same after 90 degrees, an ellipse after 180: codes cannot hold more of their orientation. "
        "No two of 39 orientations coincide, but neighbours by image are not neighbours by label.",
    ),
    binary=True,
)
