"""Published sets of images on grids of factors."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from demele.core.array_files import mapped_array
from demele.core.arrays import pd
from demele.core.errors import FormatError, InputError, listed, quoted
from demele.core.reading import read_whole
from demele.data.array_images import PictureArray, looked_at
from demele.data.images import spread
from demele.data.loaders import published, readers

# Cars3D: cars from all sides, a file of MATLAB 5 for each -------------------------------------------------------------


def _read_cars3d(request: published.Request) -> published.Read:
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
    files = [request.file(f"{name}.mat", folder=folder) for name in names]
    shape = (*grid.pixels, azimuths, elevations)
    cars_alone = []
    for path in files:
        held = readers.matlab_variable(request, path, "im", "uint8", shape)
        pictures = replace(held, shape=(elevations * azimuths, *held.shape[2:]))
        cars_alone.append(pictures.images(grid.pixels, readers.MATLAB_PIXELS))
    car, elevation, azimuth = np.indices((cars, elevations, azimuths)).reshape(3, -1)  # as the files hold them
    return published.Read(
        images=replace(published.joined(cars_alone), what=str(folder)),
        files=(listing, *files),
        positions=np.stack([elevation, azimuth, car], axis=1),
        values={"car": names},
    )


CARS3D = published.PublishedSet(
    name="cars3d",
    title="Cars3D",
    publisher="S. Reed",
    download="nips2015-analogy-data.tar.gz at http://www.scottreed.info (folder data/cars)",
    licence="none stated",
    provenance="Cars3D: S. Reed, Y. Zhang, Y. Zhang and H. Lee, Deep visual analogy-making, NeurIPS 2015",
    read=_read_cars3d,
    grids=published.one_grid(
        (128, 128, 3),
        published.Factor("elevation", 4, tuple(range(4))),
        published.Factor("azimuth", 24, tuple(15 * step for step in range(24)), period=360.0),
        published.Factor("car", 183, kind="categorical"),
    ),
    notes=(
        "Cars are numbered by list.txt. Published code takes the order of the folder, and its numbers differ between "
        "machines.",
        "Elevations are numbered, since the file does not say their degrees; 24 azimuths go once around.",
    ),
)


# Shapes3D: an object in a room, in HDF5 -------------------------------------------------------------------------------


def _read_shapes3d(request: published.Request) -> published.Read:
    """Read the labels, which are values: positions are their ranks."""
    path, grid = request.file("3dshapes.h5"), request.grid
    images = readers.hdf5_images(request, path, "images", (grid.n, *grid.pixels))
    labels = readers.hdf5_numbers(request, path, "labels", (grid.n, len(grid.factors)))
    source = f"{path}::labels"
    positions, values = published.ranks_of(labels.astype(float), grid.factors, source)
    return published.Read(images=images, files=(path,), positions=positions, labelled=source, values=values)


SHAPES3D = published.PublishedSet(
    name="shapes3d",
    title="Shapes3D",
    publisher="DeepMind",
    download="3dshapes.h5, 267,573,662 bytes, at https://github.com/google-deepmind/3d-shapes",
    licence="Apache 2.0, according to copies of it",
    provenance="3D Shapes: C. Burgess and H. Kim, 2018",
    read=_read_shapes3d,
    grids=published.one_grid(
        (64, 64, 3),
        published.Factor("floor_hue", 10, period=1.0),
        published.Factor("wall_hue", 10, period=1.0),
        published.Factor("object_hue", 10, period=1.0),
        published.Factor("scale", 8),
        published.Factor("shape", 4, kind="categorical"),
        published.Factor("orientation", 15),
    ),
    files=(
        published.PublishedFile(
            "3dshapes.h5", 267_573_662, "0a0f6ed98baff276a50f3a081a7434d788da63cb135a98189b2a5b5769be1785"
        ),
    ),
    notes=("Labels in the file are values: positions are their ranks. The scale is listed as in the file.",),
)


# MPI3D ----------------------------------------------------------------------------------------------------------------

_ADDRESS = "https://storage.googleapis.com/disentanglement_dataset"


def _read_mpi3d(request: published.Request) -> published.Read:
    """Find the images; their order is the label."""
    if request.variant is None:
        known = ", ".join(f"{name!r} ({one.n:,} images)" for name, one in request.published.grids.items())
        raise InputError("variant", f"expected one of {known}")
    path = request.file(f"mpi3d_{request.variant.removesuffix('2019')}.npz")
    grid = request.grid
    return published.Read(images=readers.npz_images(request, path, "images", (grid.n, *grid.pixels)), files=(path,))


def _grid(colours: tuple[str, ...], shapes: tuple[str, ...]) -> published.Grid:
    return published.Grid(
        (
            published.Factor("colour", len(colours), colours, "categorical"),
            published.Factor("shape", len(shapes), shapes, "categorical"),
            published.Factor("size", 2, ("small", "large"), "categorical"),
            published.Factor("camera_height", 3, ("top", "centre", "bottom"), "categorical"),
            published.Factor("background", 3, ("purple", "sea green", "salmon"), "categorical"),
            published.Factor("horizontal_axis", 40, tuple(range(40))),
            published.Factor("vertical_axis", 40, tuple(range(40))),
        ),
        (64, 64, 3),
    )


_SIX = _grid(
    ("white", "green", "red", "blue", "brown", "olive"),
    ("cone", "cube", "cylinder", "hexagonal", "pyramid", "sphere"),
)
_FOUR = _grid(("green", "red", "blue", "brown"), ("cone", "cube", "hexagonal prism", "sphere"))
_COMPLEX = _grid(("yellow", "green", "olive", "red"), ("coffee-cup", "tennis-ball", "croissant", "beer-cup"))

MPI3D = published.PublishedSet(
    name="mpi3d",
    title="MPI3D",
    publisher="the Max Planck Institute for Intelligent Systems",
    download=f"mpi3d_toy.npz and others of 5.7 or 12.7 GB once unpacked, at {_ADDRESS}",
    licence="CC BY 4.0",
    provenance="MPI3D: M. W. Gondal et al., NeurIPS 2019 (arXiv:1906.03292)",
    read=_read_mpi3d,
    grids={
        **dict.fromkeys(("toy", "realistic", "real"), _SIX),
        "complex": _COMPLEX,
        "toy2019": _FOUR,
        "realistic2019": _FOUR,
    },
    files=(
        published.PublishedFile("mpi3d_toy.npz", digest="55889cb7c7dfc655d6e0277beee88868"),
        published.PublishedFile("mpi3d_realistic.npz", digest="59a6225b88b635365f70c91b3e52f70f"),
        published.PublishedFile("mpi3d_real.npz", digest="0f33f609918fb5c97996692f91129802"),
    ),
    notes=(
        "The file holds no labels: its order is the label. Three releases have 1,036,800 images, three others 460,800, "
        "with other colours and shapes; variant= says which one a file is.",
    ),
)


# dSprites: white shapes on black, in an archive of NumPy or in HDF5 ---------------------------------------------------

_NPZ = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
_HDF5 = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.hdf5"


def _read_dsprites(request: published.Request) -> published.Read:
    """Read the labels; the first column, the colour, is constant and so no factor."""
    path, grid = request.file(_NPZ, _HDF5), request.grid
    with path.open("rb") as file:
        start = file.read(len(readers.SIGNATURE))
    if start.startswith(b"PK"):
        read_images, read_numbers, latents = readers.npz_images, readers.npz_numbers, "latents_"
    elif start == readers.SIGNATURE:
        read_images, read_numbers, latents = readers.hdf5_images, readers.hdf5_numbers, "latents/"
    else:
        raise FormatError(path, "expected an archive of NumPy or HDF5, and it begins as neither", "copy it again")
    images = read_images(request, path, "imgs", (grid.n, *grid.pixels[:2]), partial(_white, what=f"{path}::imgs"))
    classes, values = (
        read_numbers(request, path, f"{latents}{one}", (grid.n, 1 + len(grid.factors))) for one in ("classes", "values")
    )
    if classes[:, 0].any():
        raise FormatError(path, "expected one colour, found several; is it another set?")
    positions = classes[:, 1:].astype(np.int64)
    published.check_positions(path, positions, grid.factors)
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
    return published.Read(images=images, files=(path,), positions=positions, values=found, first_only=first_only)


def _white(rows: published.Pixels, what: str) -> published.Pixels:
    """Return pixels from shares of white, which must be 0 or 1."""
    if rows.max(initial=0) > 1:
        raise FormatError(f"{what}: expected pixels from 0 to 1, got {rows.max()}")
    return rows * np.uint8(255)


DSPRITES = published.PublishedSet(
    name="dsprites",
    title="dSprites",
    publisher="DeepMind",
    download=f"{_NPZ}, or .hdf5 of 28,024,106 bytes, at https://github.com/google-deepmind/dsprites-dataset",
    licence="Apache 2.0",
    provenance="dSprites: L. Matthey, I. Higgins, D. Hassabis and A. Lerchner, 2017",
    read=_read_dsprites,
    grids=published.one_grid(
        (64, 64, 1),
        published.Factor("shape", 3, ("square", "ellipse", "heart"), "categorical"),
        published.Factor("scale", 6),
        published.Factor("orientation", 40, period=2 * math.pi),
        published.Factor("x", 32),
        published.Factor("y", 32),
        symmetric=(
            ("orientation", "shape", "square", math.pi / 2),
            ("orientation", "shape", "ellipse", math.pi),
        ),
    ),
    files=(
        published.PublishedFile(_NPZ, digest="7da33b31b13a06f4b04a70402ce90c2e"),
        published.PublishedFile(_HDF5, 28_024_106, "729fa22e884c9c500e1f17415d580746b4c5894fbbb780a1319bbcfa39a745bb"),
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


# SmallNORB ------------------------------------------------------------------------------------------------------------

_STEMS: Mapping[str, str] = {
    "training": "smallnorb-5x46789x9x18x6x2x96x96-training-{}.mat",
    "testing": "smallnorb-5x01235x9x18x6x2x96x96-testing-{}.mat",
}
#: Which of ten toys of each category are in each half.
INSTANCES: Mapping[str, tuple[int, ...]] = {"training": (4, 6, 7, 8, 9), "testing": (0, 1, 2, 3, 5)}
_CAMERAS = 2
#: The column of the azimuth, which is stored as 0, 2, ..., 34.
_AZIMUTH = 3


def _read_smallnorb(request: published.Request) -> published.Read:
    """Read the labels of one half or of both: the files are in no order of the grid."""
    grid, asked = request.grid, request.options["split"]
    splits = tuple(_STEMS) if asked == "both" else (asked,)
    toys = {one: INSTANCES[one][: grid.factors[1].size // len(INSTANCES)] for one in splits}
    held = tuple(sorted(toy for one in splits for toy in toys[one]))
    n = grid.n // len(INSTANCES)
    images, labels, files = [], [], []
    for one in splits:
        names = [_STEMS[one].format(part) for part in ("dat", "cat", "info")]
        paths = [request.file(name, f"{name}.gz", folder=request.path) for name in names]
        dat, cat, info = matrices = [readers.matrix(path) for path in paths]
        shapes = ((n, _CAMERAS, *grid.pixels[:2]), (n,), (n, len(grid.factors) - 1))
        for one_of_them, kind, shape in zip(matrices, ("uint8", "int32", "int32"), shapes, strict=True):
            request.expect_array(one_of_them.path, one_of_them.dtype, one_of_them.shape, kind, shape)
        images.append(dat.images(grid.pixels, partial(np.take, indices=request.options["camera"], axis=1)))
        labels.append(np.column_stack([cat.whole(), info.whole()]).astype(np.int64))
        others = labels[-1][~np.isin(labels[-1][:, 1], toys[one]), 1]
        if others.size:
            raise FormatError(info.path, f"expected toys {toys[one]} of {one!r}, found {others[0]}; is it another?")
        files += paths
    positions = np.concatenate(labels)
    if (positions[:, _AZIMUTH] % 2).any():
        raise FormatError(request.path, "expected azimuths 0, 2, ..., found odd ones")
    positions[:, _AZIMUTH] //= 2
    positions[:, 1] = np.searchsorted(held, positions[:, 1])
    hidden = ("instance",) if request.options["instance"] == "hidden" else ()
    return published.Read(
        images=published.joined(images),
        files=tuple(files),
        positions=positions,
        labelled=request.path,
        values={"instance": held},
        hidden=hidden,
    )


_SHA256 = {
    ("training", "dat"): "5ffd6272a07d32695ee1082a26a41a93a37aab8c28da047f8c34ed348d214873",
    ("training", "cat"): "2784e542c1922060691090952b6cd6278879a216c90f81476f0f00256d42cdaa",
    ("training", "info"): "de7eb932ebe7a4ee16217fead60660d0eb3d23632c2f4d1c51f88c501c17bf32",
    ("testing", "dat"): "cf7104eed3e51174d2f65b66d1e5878b9da233b886f161b0d88f4510ba2c7474",
    ("testing", "cat"): "ecaf6d5bb8c3bc5eab9cf0258f6d2198dd474e016e374836fc097f2e5ff509ff",
    ("testing", "info"): "16adf314226327ee006d1a44db8cfef52773c06c829951d5653a9f6f310248a2",
}

SMALLNORB = published.PublishedSet(
    name="smallnorb",
    title="SmallNORB",
    publisher="New York University",
    download="six files of 900 MB once unpacked, at https://cs.nyu.edu/~ylclab/data/norb-v1.0-small",
    licence="for research; may not be sold",
    provenance="SmallNORB: Y. LeCun, F. J. Huang and L. Bottou, CVPR 2004",
    read=_read_smallnorb,
    grids=published.one_grid(
        (96, 96, 1),
        published.Factor("category", 5, ("animal", "human", "airplane", "truck", "car"), "categorical"),
        published.Factor("instance", 10, kind="categorical"),
        published.Factor("elevation", 9, tuple(range(30, 75, 5))),
        published.Factor("azimuth", 18, tuple(range(0, 360, 20)), period=360.0),
        published.Factor("lighting", 6, tuple(range(6)), "categorical"),
    ),
    files=tuple(
        published.PublishedFile(f"{_STEMS[split].format(part)}.gz", digest=digest)
        for (split, part), digest in _SHA256.items()
    ),
    options={"split": ("both", "training", "testing"), "camera": (0, 1), "instance": ("hidden", "factor")},
    notes=(
        "Ten toys of each category are ten images of every combination of factors. instance='factor' tells them apart.",
        "Two cameras took each picture; camera=1 is the other one.",
    ),
)


# Sets of rendered scenes, folders of pictures that are numbered -------------------------------------------------------


def numbered_pictures(
    request: published.Request, folder: Path, n: int, digits: int
) -> tuple[published.Images, tuple[Path, ...]]:
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
    files = tuple(folder / names[number] for number in spread(n))
    return published.Images(str(folder), n, (first.height, first.width, 3), rows), files


# Falcor3D and Isaac3D: pictures in the order of the grid --------------------------------------------------------------

_LABELS = ("train-rec.labels", "labels.npy")


def _read_rendered(request: published.Request) -> published.Read:
    """Check that all pictures are there, and that labels next to them have the same order."""
    folder = request.path / "images" if (request.path / "images").is_dir() else request.path
    grid = request.grid
    images, files = numbered_pictures(request, folder, grid.n, digits=6)
    beside = [place / one for place in (request.path, folder.parent) for one in _LABELS if (place / one).is_file()]
    for path in beside[:1]:
        labels = mapped_array(path)
        request.expect_array(path, labels.dtype, labels.shape, "numbers", (grid.n, len(grid.factors)))
        positions, _ = published.ranks_of(np.asarray(labels, dtype=float), grid.factors, path)
        if (np.ravel_multi_index(tuple(positions.T), grid.sizes) != np.arange(grid.n)).any():
            raise FormatError(path, "expected labels in the order of the pictures' numbers, found another order")
    return published.Read(images=images, files=files)


def _even_factors(**sizes: int) -> list[published.Factor]:
    """Return factors whose values are spread evenly over [0, 1]."""
    return [published.Factor(name, size, tuple(np.linspace(0.0, 1.0, size).tolist())) for name, size in sizes.items()]


_NVLABS = "https://github.com/NVlabs/High-res-disentanglement-datasets"
_PROVENANCE = "W. Nie et al., Semi-supervised StyleGAN for disentanglement learning, ICML 2020"

FALCOR3D = published.PublishedSet(
    name="falcor3d",
    title="Falcor3D",
    publisher="NVIDIA",
    download=f"98 GB, or 3.7 GB at 128 x 128 pixels, at {_NVLABS}",
    licence="CC BY 4.0",
    provenance=f"Falcor3D: {_PROVENANCE}",
    read=_read_rendered,
    grids=published.one_grid(
        (1024, 1024, 3),
        *_even_factors(
            lighting_intensity=5, lighting_x=6, lighting_y=6, lighting_z=6, camera_x=6, camera_y=6, camera_z=6
        ),
    ),
)
ISAAC3D = published.PublishedSet(
    name="isaac3d",
    title="Isaac3D",
    publisher="NVIDIA",
    download=f"190 GB, or 13 GB at 128 x 128 pixels, at {_NVLABS}",
    licence="CC BY 4.0",
    provenance=f"Isaac3D: {_PROVENANCE}",
    read=_read_rendered,
    grids=published.one_grid(
        (512, 512, 3),
        published.Factor("object_shape", 3, tuple(range(3)), "categorical"),
        *_even_factors(robot_x=8, robot_y=5, camera_height=4, object_scale=4, lighting_intensity=4, lighting_y=6),
        published.Factor("object_colour", 4, tuple(range(4)), "categorical"),
        published.Factor("wall_colour", 4, tuple(range(4)), "categorical"),
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


def _read_latents(request: published.Request, several: bool) -> published.Read:
    """Read the factors of a folder of pictures, or of one for each shape of the object, one behind the other."""
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
    return published.Read(images=published.joined(images), files=tuple(files), table=table)


IDENT3D = published.PublishedSet(
    name="3dident",
    title="3DIdent",
    publisher="R. S. Zimmermann et al.",
    download="a folder for training and one for test, at https://zenodo.org/record/4502485",
    licence="as the page of the download says",
    provenance="3DIdent: R. S. Zimmermann et al., Contrastive learning inverts the data generating process, ICML 2021",
    read=partial(_read_latents, several=False),
    notes=("Factors take any value: there are no positions and no pairs.",),
)
CAUSAL3DIDENT = published.PublishedSet(
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

#: All of them, in the order in which they are listed.
SETS = (DSPRITES, SHAPES3D, MPI3D, CARS3D, SMALLNORB, FALCOR3D, ISAAC3D, IDENT3D, CAUSAL3DIDENT)
