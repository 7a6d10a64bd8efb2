"""Shapes3D: an object in a room, in HDF5."""

from __future__ import annotations

from dataclasses import replace

from demele.data.loaders.hdf5_files import hdf5_images, hdf5_numbers
from demele.data.loaders.published import (
    Factor,
    Grid,
    Opened,
    PublishedFile,
    PublishedSet,
    Request,
    file_of,
    order_of,
    ranks_of,
)


def read_shapes3d(request: Request) -> Opened:
    """Read the labels, which are values and not positions, and find the images."""
    path = file_of(request, ("3dshapes.h5",))
    grid = request.grid
    store = hdf5_images(request, path, "images", [(grid.n, *grid.pixels)])
    labels = hdf5_numbers(request, path, "labels", (grid.n, len(grid.factors))).astype(float)
    positions, values = ranks_of(labels, grid, f"{path}::labels")
    order = order_of(positions, grid.sizes, [factor.name for factor in grid.factors], f"{path}::labels")
    # the shape is a class: its value is a number, not a quantity
    factors = tuple(
        replace(factor, values=tuple(int(value) if value == int(value) else value for value in values[factor.name]))
        if factor.kind == "categorical"
        else factor
        for factor in grid.factors
    )
    return Opened(store, (path,), replace(grid, factors=factors).space(values), order=order)


SHAPES3D = PublishedSet(
    name="shapes3d",
    title="Shapes3D",
    publisher="DeepMind",
    download="3dshapes.h5, 267,573,662 bytes, at https://github.com/google-deepmind/3d-shapes",
    licence="Apache 2.0, according to copies of it",
    provenance="3D Shapes: C. Burgess and H. Kim, 2018",
    read=read_shapes3d,
    grids={
        "": Grid(
            (
                Factor("floor_hue", 10, period=1.0),
                Factor("wall_hue", 10, period=1.0),
                Factor("object_hue", 10, period=1.0),
                Factor("scale", 8),
                Factor("shape", 4, kind="categorical"),
                Factor("orientation", 15),
            ),
            (64, 64, 3),
        )
    },
    files=(
        PublishedFile(
            "3dshapes.h5",
            size=267_573_662,
            sha256="0a0f6ed98baff276a50f3a081a7434d788da63cb135a98189b2a5b5769be1785",
            md5="099a2078d58cec4daad0702c55d06868",
        ),
    ),
    notes=("Labels in the file are values: positions are their ranks. The scale is told as the file has it.",),
)
