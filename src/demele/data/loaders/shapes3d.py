"""Shapes3D: an object in a room, in HDF5."""

from __future__ import annotations

from demele.data.loaders.archives import hdf5_images, hdf5_numbers
from demele.data.loaders.published import Factor, PublishedFile, PublishedSet, Read, Request, one_grid, ranks_of


def _read(request: Request) -> Read:
    """Read the labels, which are values: positions are their ranks."""
    path, grid = request.file("3dshapes.h5"), request.grid
    images = hdf5_images(request, path, "images", (grid.n, *grid.pixels))
    labels = hdf5_numbers(request, path, "labels", (grid.n, len(grid.factors)))
    source = f"{path}::labels"
    positions, values = ranks_of(labels.astype(float), grid.factors, source)
    return Read(images=images, files=(path,), positions=positions, labelled=source, values=values)


SHAPES3D = PublishedSet(
    name="shapes3d",
    title="Shapes3D",
    publisher="DeepMind",
    download="3dshapes.h5, 267,573,662 bytes, at https://github.com/google-deepmind/3d-shapes",
    licence="Apache 2.0, according to copies of it",
    provenance="3D Shapes: C. Burgess and H. Kim, 2018",
    read=_read,
    grids=one_grid(
        (64, 64, 3),
        Factor("floor_hue", 10, period=1.0),
        Factor("wall_hue", 10, period=1.0),
        Factor("object_hue", 10, period=1.0),
        Factor("scale", 8),
        Factor("shape", 4, kind="categorical"),
        Factor("orientation", 15),
    ),
    files=(
        PublishedFile("3dshapes.h5", 267_573_662, "0a0f6ed98baff276a50f3a081a7434d788da63cb135a98189b2a5b5769be1785"),
    ),
    notes=("Labels in the file are values: positions are their ranks. The scale is listed as in the file.",),
)
