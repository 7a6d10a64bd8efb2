"""Sets of rendered scenes, folders of pictures that are numbered: Falcor3D, Isaac3D, 3DIdent and Causal3DIdent."""

from __future__ import annotations

import math
import os
import re
from functools import partial
from pathlib import Path

import numpy as np

from demele.core.array_files import mapped_array
from demele.core.errors import FormatError, InputError, listed
from demele.data.loaders.published import Factor, PublishedSet, Read, Request, one_grid, ranks_of
from demele.data.loaders.stored_images import Images, joined
from demele.data.pixels import PictureArray, looked_at

#: Pictures by which a copy is recognised.
_SAMPLED = 64


def numbered_pictures(request: Request, folder: Path, n: int, digits: int) -> tuple[Images, tuple[Path, ...]]:
    """Return the pictures of a folder, in colour, and some files by which the copy is recognised.

    Parameters
    ----------
    request : Request
    folder : Path
    n, digits : int
        Number of pictures; their names are numbers of so many digits, filled with zeros.

    Raises
    ------
    FormatError
        If some are missing, or there are others: the first three names, and how many.
    InputError
        If there is no such folder.
    """
    if not folder.is_dir():
        raise InputError("path", f"expected a folder of {n:,} pictures, found no folder {folder}")
    names = [f"{number:0{digits}}.png" for number in range(n)]
    held, expected = {name for name in os.listdir(folder) if name.endswith(".png")}, set(names)
    for wrong, said in ((expected - held, "missing"), (held - expected, "too many")):
        if wrong:
            raise FormatError(
                f"{folder}: expected {n:,} pictures, {names[0]} to {names[-1]}; {len(wrong):,} are {said}: "
                f"{listed(sorted(wrong))}"
            )
    request.note(folder, f"{n:,} pictures", f"{n:,} pictures", "fits")
    first = looked_at(folder / names[0])
    rows = PictureArray(folder, names, first._replace(channels=3))
    files = tuple(folder / names[number] for number in np.unique(np.linspace(0, n - 1, _SAMPLED).astype(int)))
    return Images(str(folder), n, (first.height, first.width, 3), rows), files


# Falcor3D and Isaac3D: pictures in the order of the grid --------------------------------------------------------------

_LABELS = ("train-rec.labels", "labels.npy")


def _read(request: Request) -> Read:
    """Check that all pictures are there, and that labels next to them have the same order."""
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
    grids=one_grid(
        (1024, 1024, 3),
        _spread("lighting_intensity", 5),
        _spread("lighting_x", 6),
        _spread("lighting_y", 6),
        _spread("lighting_z", 6),
        _spread("camera_x", 6),
        _spread("camera_y", 6),
        _spread("camera_z", 6),
    ),
)
ISAAC3D = PublishedSet(
    name="isaac3d",
    title="Isaac3D",
    publisher="NVIDIA",
    download=f"190 GB, or 13 GB at 128 x 128 pixels, at {_ADDRESS}",
    licence="CC BY 4.0",
    provenance=f"Isaac3D: {_PROVENANCE}",
    read=_read,
    grids=one_grid(
        (512, 512, 3),
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
    notes=(
        "The published README gives strides that contradict its own sizes; the order here is that of the published "
        "program, which agrees with them.",
    ),
)

# 3DIdent and Causal3DIdent: factors take any value, and so are no grid ------------------------------------------------

FACTORS = (
    *("position_x", "position_y", "position_z"),
    *("rotation_alpha", "rotation_beta", "rotation_gamma", "spotlight_angle"),
    *("object_hue", "spotlight_hue", "background_hue"),
)


def _read_latents(request: Request, several: bool) -> Read:
    """Read the factors of a folder of pictures, or of one for each shape of the object, one behind the other."""
    import pandas as pd

    if not request.path.is_dir():
        raise request.no_file(request.path)
    found = [re.fullmatch(r"raw_latents_(\d{1,3})\.npy", path.name) for path in request.path.iterdir()]
    shapes = sorted(int(one[1]) for one in found if one) or [0]
    images, tables, files = [], [], []
    for ending in [f"_{shape}" for shape in shapes] if several else [""]:
        path = request.file(f"raw_latents{ending}.npy")
        factors = mapped_array(path)
        n = factors.shape[0] if factors.ndim == 2 else 0
        told = f"its columns are {', '.join(FACTORS)}"
        request.expect_array(path, factors.dtype, factors.shape, "floats", (n, len(FACTORS)), told)
        if not n or not np.isfinite(factors).all():
            raise FormatError(path, f"expected finite factors of at least 1 picture, found {n} rows, or gaps")
        digits = max(1, math.ceil(math.log10(n)))
        pictures, some = numbered_pictures(request, request.path / f"images{ending}", n, digits)
        images.append(pictures)
        tables.append(pd.DataFrame(np.asarray(factors, dtype=np.float64), columns=list(FACTORS)))
        if several:
            tables[-1].insert(0, "object_shape", int(ending[1:]))
        files += [path, *some]
    if len({one.shape for one in images}) > 1:
        raise FormatError(request.path, f"expected pictures of one size, found {sorted({s.shape[:2] for s in images})}")
    table = pd.concat(tables, ignore_index=True)
    if several:
        table["object_shape"] = pd.Categorical(table["object_shape"])
    return Read(images=joined(images), files=tuple(files), table=table)


IDENT3D = PublishedSet(
    name="3dident",
    title="3DIdent",
    publisher="R. S. Zimmermann et al.",
    download="a folder for training and one for test, at https://zenodo.org/record/4502485",
    licence="as the page of the download says",
    provenance="3DIdent: R. S. Zimmermann et al., Contrastive learning inverts the data generating process, ICML 2021",
    read=partial(_read_latents, several=False),
    notes=("Factors take any value: there are no positions and no pairs.",),
)
CAUSAL3DIDENT = PublishedSet(
    name="causal3dident",
    title="Causal3DIdent",
    publisher="J. von Kuegelgen, Y. Sharma et al.",
    download="a folder for training and one for test, at https://zenodo.org/record/4784282",
    licence="as the page of the download says",
    provenance="Causal3DIdent: J. von Kuegelgen et al., Self-supervised learning with data augmentations provably "
    "isolates content from style, NeurIPS 2021",
    read=partial(_read_latents, several=True),
    notes=("Factors take any value and depend on each other: there are no positions and no pairs.",),
)
