"""Cars3D: cars from all sides, a file of MATLAB 5 for each."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from demele.core.errors import FormatError, listed, quoted
from demele.core.reading import read_whole
from demele.data.loaders.matrix_files import MATLAB_PIXELS, matlab_variable
from demele.data.loaders.published import Factor, PublishedSet, Read, Request, one_grid
from demele.data.loaders.stored_images import joined


def _read(request: Request) -> Read:
    """Find the files in the order of their list, which is the number of the car in every copy of the set."""
    folder = request.path / "cars" if (request.path / "cars").is_dir() else request.path
    grid, listing = request.grid, request.file("list.txt", folder=folder)
    elevations, azimuths, cars = grid.sizes
    names = read_whole(listing).decode("utf-8", "replace").split()
    expected, differ = f"{cars} different names", len(set(names))
    fits = len(names) == differ == cars
    request.expect(listing, expected if fits else f"{len(names)}, {differ} of them different", expected)
    odd = [name for name in names if not re.fullmatch(r"\w[\w.-]*", name)]
    if odd:
        raise FormatError(listing, f"expected names of files without their ending, found {quoted(odd[0])}")
    files = [folder / f"{name}.mat" for name in names]
    missing = [path.name for path in files if not path.is_file()]
    if missing:
        request.note(folder, f"{cars - len(missing)} files", f"{cars} files", "missing")
        told = f"expected {cars} files, {len(missing)} of them are missing: {listed(missing)}"
        raise FormatError(folder, told, "copy them again")
    shape = (*grid.pixels, azimuths, elevations)
    cars_alone = []
    for path in files:
        held = matlab_variable(request, path, "im", "uint8", shape)
        pictures = replace(held, shape=(elevations * azimuths, *held.shape[2:]))
        cars_alone.append(pictures.images(grid.pixels, MATLAB_PIXELS))
    car, elevation, azimuth = np.indices((cars, elevations, azimuths)).reshape(3, -1)  # as the files hold them
    return Read(
        images=replace(joined(cars_alone), what=str(folder)),
        files=(listing, *files),
        positions=np.stack([elevation, azimuth, car], axis=1),
        values={"car": names},
    )


CARS3D = PublishedSet(
    name="cars3d",
    title="Cars3D",
    publisher="S. Reed",
    download="nips2015-analogy-data.tar.gz at http://www.scottreed.info (folder data/cars)",
    licence="none stated",
    provenance="Cars3D: S. Reed, Y. Zhang, Y. Zhang and H. Lee, Deep visual analogy-making, NeurIPS 2015",
    read=_read,
    grids=one_grid(
        (128, 128, 3),
        Factor("elevation", 4, tuple(range(4))),
        Factor("azimuth", 24, tuple(15 * step for step in range(24)), period=360.0),
        Factor("car", 183, kind="categorical"),
    ),
    notes=(
        "Cars are numbered by list.txt. Published code takes the order of the folder, and its numbers differ between "
        "machines.",
        "Elevations are numbered, since the file does not say their degrees; 24 azimuths go once around.",
    ),
)
