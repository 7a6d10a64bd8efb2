"""Falcor3D and Isaac3D: rendered rooms, a folder of pictures that are numbered in the order of the grid."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from demele.core.errors import FormatError
from demele.core.npy_files import mapped_array
from demele.data.loaders.picture_folders import PictureStore, checked_names
from demele.data.loaders.published import (
    Description,
    Factor,
    Grid,
    Opened,
    PublishedSet,
    Request,
    order_of,
    ranks_of,
)
from demele.data.pictures import looked_at

_DIGITS = 6
#: Pictures by which a copy is recognised.
_SAMPLED = 64
_LABELS = ("train-rec.labels", "labels.npy")


@dataclass(frozen=True, slots=True)
class Numbered:
    """Names of pictures: their numbers, filled with zeros."""

    digits: int

    def __call__(self, number: int) -> str:
        """Return the name of a picture."""
        return f"{number:0{self.digits}}.png"


def read_rendered(request: Request) -> Opened:
    """Look whether all pictures are there, and their labels, where these lie beside them, in the same order."""
    folder = request.path / "images" if (request.path / "images").is_dir() else request.path
    if not folder.is_dir():
        raise request.no_file(folder)
    grid, name = request.grid, Numbered(_DIGITS)
    checked_names(folder, grid.n, name)
    request.note(folder, f"{grid.n:,} pictures", f"{grid.n:,} pictures", "fits")
    height, width, _ = looked_at(folder / name(0))
    labels = next(
        (path for place in (request.path, folder.parent) for one in _LABELS if (path := place / one).is_file()), None
    )
    if labels is not None:
        _check_labels(request, labels, grid)
    store = PictureStore(folder, grid.n, (height, width, 3), name)
    return Opened(store, sampled(folder, grid.n, name), grid.space())


def sampled(folder: Path, n: int, name: Numbered) -> tuple[Path, ...]:
    """Return some pictures by which a copy is recognised, spread over the set."""
    return tuple(folder / name(int(number)) for number in np.unique(np.linspace(0, n - 1, _SAMPLED).astype(int)))


def _check_labels(request: Request, path: Path, grid: Grid) -> None:
    """Hold the order of the grid against labels that lie beside the pictures."""
    held = mapped_array(path)
    request.expect(
        path,
        Description("numbers" if held.dtype.kind in "iuf" else str(held.dtype), held.shape),
        Description("numbers", (grid.n, len(grid.factors))),
    )
    positions, _ = ranks_of(np.asarray(held, dtype=float), grid, path)
    if order_of(positions, grid.sizes, [factor.name for factor in grid.factors], path) is not None:
        raise FormatError(path, "expected labels in the order of the pictures' numbers, found another order")


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
    read=read_rendered,
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
    read=read_rendered,
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
