"""Cars3D: cars from all sides, a file of MATLAB 5 for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from demele.core.errors import FormatError, quoted
from demele.core.reading import read_whole
from demele.data.loaders.matrix_files import Variable, matlab_variable, matlab_variables
from demele.data.loaders.published import Factor, PublishedSet, Read, Request, one_grid
from demele.data.loaders.stored_images import Images, Pixels
from demele.data.pictures import listed


def _read(request: Request) -> Read:
    """Find the files in the order of their list, which is the number of the car in every copy of the set."""
    folder = request.path / "cars" if (request.path / "cars").is_dir() else request.path
    grid, path = request.grid, request.file("list.txt", folder=folder)
    elevations, azimuths, cars = grid.sizes
    names = read_whole(path).decode("utf-8", "replace").split()
    expected, differ = f"{cars} different names", len(set(names))
    fits = len(names) == differ == cars
    request.expect(path, expected if fits else f"{len(names)}, {differ} of them different", expected)
    odd = [name for name in names if not re.fullmatch(r"\w[\w.-]*", name)]
    if odd:
        raise FormatError(path, f"expected names of files without their ending, found {quoted(odd[0])}")
    files = [folder / f"{name}.mat" for name in names]
    missing = [path.name for path in files if not path.is_file()]
    if missing:
        request.note(folder, f"{cars - len(missing)} files", f"{cars} files", "missing")
        told = f"expected {cars} files, {len(missing)} of them are missing: {listed(missing, quote=False)}"
        raise FormatError(folder, told, "copy them again")
    shape = (*grid.pixels, azimuths, elevations)
    held = [
        matlab_variable(request, matlab_variables(path, request.published.title), path, "im", "uint8", shape)
        for path in files
    ]
    car, elevation, azimuth = np.indices((cars, elevations, azimuths)).reshape(3, -1)  # as the files hold them
    return Read(
        images=Images(str(folder), grid.n, grid.pixels, stream=partial(_pictures, held)),
        files=(path, *files),
        positions=np.stack([elevation, azimuth, car], axis=1),
        values={"car": names},
    )


def _pictures(held: Sequence[Variable], many: int) -> Iterator[Pixels]:
    """Yield the pictures of each car, by elevation, then azimuth."""
    for one in held:
        pictures = one.numbers().transpose(4, 3, 0, 1, 2)
        yield pictures.reshape(-1, *pictures.shape[2:])


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
