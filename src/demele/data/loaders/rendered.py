"""Falcor3D and Isaac3D: rendered rooms, a folder of pictures that are numbered in the order of the grid."""

from __future__ import annotations

import numpy as np

from demele.core.errors import FormatError
from demele.core.npy_files import mapped_array
from demele.data.loaders.picture_folders import numbered_pictures
from demele.data.loaders.published import Factor, Grid, PublishedSet, Read, Request, ranks_of

_LABELS = ("train-rec.labels", "labels.npy")


def _read(request: Request) -> Read:
    """Look whether all pictures are there, and their labels, where these lie beside them, in the same order."""
    folder = request.path / "images" if (request.path / "images").is_dir() else request.path
    if not folder.is_dir():
        raise request.no_file(folder)
    grid = request.grid
    images, files = numbered_pictures(request, folder, grid.n, digits=6)
    beside = [place / one for place in (request.path, folder.parent) for one in _LABELS if (place / one).is_file()]
    for path in beside[:1]:
        labels = mapped_array(path)
        request.expect_array(path, labels.dtype, labels.shape, "numbers", (grid.n, len(grid.factors)))
        positions, _ = ranks_of(np.asarray(labels, dtype=float), grid.factors, path)
        if (np.ravel_multi_index(tuple(positions.T), grid.sizes) != np.arange(grid.n)).any():
            raise FormatError(path, "expected labels in the order of the pictures' numbers, found another order")
    return Read(images=images, files=files)


def _spread(name: str, size: int) -> Factor:
    """Return a factor whose values are spread evenly over [0, 1]."""
    return Factor(name, size, tuple(np.linspace(0.0, 1.0, size).tolist()))


def _classes(name: str, size: int) -> Factor:
    return Factor(name, size, tuple(range(size)), "categorical")


_ADDRESS = "https://github.com/NVlabs/High-res-disentanglement-datasets"
_PROVENANCE = "W. Nie et al., Semi-supervised StyleGAN for disentanglement learning, ICML 2020"

FALCOR3D = PublishedSet(
    name="falcor3d",
    title="Falcor3D",
    publisher="NVIDIA",
    download=f"98 GB, or 3.7 GB at 128 x 128 pixels, at {_ADDRESS}",
    licence="CC BY 4.0",
    provenance=f"Falcor3D: {_PROVENANCE}",
    read=_read,
    grids={
        "": Grid(
            (
                _spread("lighting_intensity", 5),
                _spread("lighting_x", 6),
                _spread("lighting_y", 6),
                _spread("lighting_z", 6),
                _spread("camera_x", 6),
                _spread("camera_y", 6),
                _spread("camera_z", 6),
            ),
            (1024, 1024, 3),
        )
    },
)
ISAAC3D = PublishedSet(
    name="isaac3d",
    title="Isaac3D",
    publisher="NVIDIA",
    download=f"190 GB, or 13 GB at 128 x 128 pixels, at {_ADDRESS}",
    licence="CC BY 4.0",
    provenance=f"Isaac3D: {_PROVENANCE}",
    read=_read,
    grids={
        "": Grid(
            (
                _classes("object_shape", 3),
                _spread("robot_x", 8),
                _spread("robot_y", 5),
                _spread("camera_height", 4),
                _spread("object_scale", 4),
                _spread("lighting_intensity", 4),
                _spread("lighting_y", 6),
                _classes("object_colour", 4),
                _classes("wall_colour", 4),
            ),
            (512, 512, 3),
        )
    },
    notes=(
        "The published README gives strides that contradict its own sizes; the order here is that of the published "
        "program, which agrees with them.",
    ),
)
