"""Cars3D: cars from all sides, a file of MATLAB 5 for each."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from demele.core.errors import FormatError, quoted
from demele.core.reading import read_whole
from demele.data.loaders.mesh_files import MeshStore, check_mesh
from demele.data.loaders.published import Factor, Grid, Opened, PublishedSet, Request

_LISTED = 3


def read_cars3d(request: Request) -> Opened:
    """Find the files in the order of their list, which is the number of the car in every copy of the set."""
    folder = request.path / "cars" if (request.path / "cars").is_dir() else request.path
    if not folder.is_dir():
        raise request.no_file(folder)
    grid = request.grid
    elevations, azimuths, cars = grid.sizes
    names = _names(request, folder, cars)
    files = tuple(folder / f"{name}.mat" for name in names)
    missing = [path.name for path in files if not path.is_file()]
    if missing:
        request.note(folder, f"{cars - len(missing)} files", f"{cars} files", "missing")
        told = ", ".join(missing[:_LISTED]) + (", ..." if len(missing) > _LISTED else "")
        raise FormatError(
            folder, f"expected {cars} files, {len(missing)} of them are missing: {told}", "copy them again"
        )
    for path in files:
        check_mesh(path, (*grid.pixels, azimuths, elevations))
    request.note(folder, f"{len(files)} files with 'im'", f"{cars} files with 'im'", "fits")
    named = replace(grid.factors[-1], values=names)
    store = MeshStore(files, grid.pixels, azimuths, elevations)
    by_car = np.arange(grid.n).reshape(cars, elevations, azimuths)  # as the files hold them
    order = np.ascontiguousarray(by_car.transpose(1, 2, 0)).ravel()
    space = replace(grid, factors=(*grid.factors[:-1], named)).space()
    return Opened(store, (folder / "list.txt", *files), space, order=order)


def _names(request: Request, folder: Path, n: int) -> tuple[str, ...]:
    """Return the names of the files in the order of the list."""
    path = folder / "list.txt"
    if not path.is_file():
        raise request.no_file(path)
    names = tuple(read_whole(path).decode("utf-8", "replace").split())
    if len(set(names)) != n or len(names) != n:
        request.note(path, f"{len(names)} names", f"{n} names", "differs")
        raise FormatError(
            path, f"expected {n} different names, found {len(names)}, {len(set(names))} of them different"
        )
    odd = [name for name in names if not re.fullmatch(r"\w[\w.-]*", name)]
    if odd:
        raise FormatError(path, f"expected names of files without their ending, found {quoted(odd[0])}")
    return names


CARS3D = PublishedSet(
    name="cars3d",
    title="Cars3D",
    publisher="S. Reed",
    download="nips2015-analogy-data.tar.gz at http://www.scottreed.info, of which the folder data/cars",
    licence="none stated",
    provenance="Cars3D: S. Reed, Y. Zhang, Y. Zhang and H. Lee, Deep visual analogy-making, NeurIPS 2015",
    read=read_cars3d,
    grids={
        "": Grid(
            (
                Factor("elevation", 4, tuple(range(4))),
                Factor("azimuth", 24, tuple(15 * step for step in range(24)), period=360.0),
                Factor("car", 183, kind="categorical"),
            ),
            (128, 128, 3),
        )
    },
    notes=(
        "Cars are numbered by list.txt. Published code takes the order of the folder, and its numbers differ between "
        "machines.",
        "Elevations are numbered, since the file does not say their degrees; 24 azimuths go once around.",
    ),
)
