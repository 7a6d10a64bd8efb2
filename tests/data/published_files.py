"""Tiny files in the layouts that sets of images are published in: the same keys, types, axes, names and packing.

Each writer returns the path that a user would give, the set with its sizes made small, and the images in the order of
its grid, as the layout defines them.
"""

import csv
import gzip
import io
import pickle
import struct
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import pytest
import scipy.io
from numpy.typing import NDArray
from PIL import Image

from demele.core.errors import FormatError, InputError
from demele.data import ImageSet
from demele.data.loaders import loading
from demele.data.loaders.grid_sets import INSTANCES
from demele.data.loaders.loading import PUBLISHED, load
from demele.data.loaders.published import Grid, PublishedSet, open_converted
from tests.data.labelled_bytes import Python2Pickle, planes, rows_of_bytes, tar_gz

Pixels = NDArray[np.uint8]
SIDE = 8


class Written(NamedTuple):
    """What a writer made."""

    path: Path
    published: PublishedSet
    images: Pixels


def every(images: ImageSet) -> Pixels:
    """All images of a set."""
    return images.images(np.arange(len(images)))


def refused(made: Written, match: str, kind: type[InputError] = FormatError, **asked: Any) -> str:
    """What is said of a set that cannot be used: when it is opened, or when all its images are read."""
    with pytest.raises(kind, match=match) as caught:
        every(load(made.published, made.path, **asked))
    assert type(caught.value) is kind
    return str(caught.value)


def small(name: str, sizes: tuple[int, ...], side: int = SIDE) -> PublishedSet:
    """A published set with smaller factors and images, whose digests are not known."""
    published = PUBLISHED[name]

    def shrunk(grid: Grid) -> Grid:
        factors = tuple(
            replace(factor, size=size, values=None if factor.values is None else factor.values[:size])
            for factor, size in zip(grid.factors, sizes, strict=True)
        )
        return replace(grid, factors=factors, pixels=(side, side, grid.pixels[2]))

    return replace(published, grids={variant: shrunk(grid) for variant, grid in published.grids.items()}, files=())


def converted(published: PublishedSet, path: Path, output: Path, *, size: int | None = None, **asked: Any) -> ImageSet:
    """Convert a set, of the variant and options that are asked for."""
    variant = asked.pop("variant", None)
    loading.check_files(published, path, variant=variant, options=asked, image_size=size).save(output)
    return open_converted(output)[0]


def drawn(n: int, channels: int, side: int = SIDE, seed: int = 0) -> Pixels:
    """Different images of noise."""
    return np.random.default_rng(seed).integers(0, 256, (n, side, side, channels), dtype=np.uint8)


def positions_of(sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """Every combination, the last factor fastest."""
    return np.stack(np.unravel_index(np.arange(int(np.prod(sizes))), sizes), axis=-1).astype(np.int64)


# dSprites -----------------------------------------------------------------------------------------------------------

DSPRITES = (3, 2, 4, 2, 3)


def dsprites_arrays(order: NDArray[np.int64] | None = None) -> tuple[PublishedSet, Pixels, dict[str, Any]]:
    """The arrays of dSprites; ``order`` shuffles its rows."""
    published = small("dsprites", DSPRITES)
    positions = positions_of(DSPRITES)
    images = (drawn(len(positions), 1) % 2).astype(np.uint8)
    images = images.reshape(*DSPRITES, SIDE, SIDE)
    images[:, :, -1] = images[:, :, 0]  # 0 and 360 degrees
    images = images.reshape(-1, SIDE, SIDE)
    ranges = [np.linspace(*ends) for ends in ((1, 3, 3), (0.5, 1, 2), (0, 2 * np.pi, 4), (0, 1, 2), (0, 1, 3))]
    values = np.stack([held[positions[:, column]] for column, held in enumerate(ranges)], axis=1)
    rows = np.arange(len(positions)) if order is None else order
    arrays = {
        "imgs": images[rows],
        "latents_classes": np.insert(positions, 0, 0, axis=1)[rows],
        "latents_values": np.insert(values, 0, 1.0, axis=1)[rows],
    }
    return published, (255 * images)[..., None], arrays


def npz_bytes(arrays: Mapping[str, Any], *, packed: bool) -> bytes:
    """An archive as numpy.savez writes it; a value that is bytes is a member as it is."""
    held = io.BytesIO()
    plain = {name: array for name, array in arrays.items() if not isinstance(array, bytes)}
    (np.savez_compressed if packed else np.savez)(held, **plain)
    with zipfile.ZipFile(held, "a") as archive:
        for name in arrays.keys() - plain.keys():
            archive.writestr(f"{name}.npy", arrays[name])
    return held.getvalue()


def pickled_metadata() -> bytes:
    """A member with a pickle that leaves a trace where it is loaded."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|O", "fortran_order": False, "shape": ()})
    return header.getvalue() + pickle.dumps(_Trap())


class _Trap:
    def __reduce__(self) -> tuple[Any, ...]:
        return (_sprung, ())


def _sprung() -> None:
    raise AssertionError("a pickle was loaded")


def write_dsprites(folder: Path, *, packed: bool = True, order: NDArray[np.int64] | None = None) -> Written:
    published, images, arrays = dsprites_arrays(order)
    path = folder / "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
    path.write_bytes(npz_bytes({"metadata": pickled_metadata(), **arrays}, packed=packed))
    return Written(path, published, images)


def write_dsprites_hdf5(folder: Path, *, chunks: bool = True) -> Written:
    published, images, arrays = dsprites_arrays()
    path = folder / "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.hdf5"
    options: dict[str, Any] = {"chunks": (36, 2, 4), "compression": "gzip"} if chunks else {}
    with h5py.File(path, "w") as file:
        file.create_dataset("imgs", data=arrays["imgs"], **options)
        file.create_dataset("latents/classes", data=arrays["latents_classes"])
        file.create_dataset("latents/values", data=arrays["latents_values"])
    return Written(path, published, images)


# Shapes3D, MPI3D ----------------------------------------------------------------------------------------------------

SHAPES3D = (2, 3, 2, 2, 2, 3)


def write_shapes3d(
    folder: Path, *, chunks: tuple[int, ...] | None = (7, SIDE, SIDE, 3), scale: float = 0.75
) -> Written:
    positions = positions_of(SHAPES3D)
    images = drawn(len(positions), 3)
    ranges = [[0.0, 0.1], [0.0, 0.1, 0.2], [0.0, 0.1], [scale, 1.25], [0.0, 1.0], [-30.0, 0.0, 30.0]]
    values = np.stack([np.array(held)[positions[:, column]] for column, held in enumerate(ranges)], axis=1)
    path = folder / "3dshapes.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("images", data=images, chunks=chunks, compression="gzip" if chunks else None)
        file.create_dataset("labels", data=values)
    return Written(path, small("shapes3d", SHAPES3D), images)


MPI3D = (2, 2, 2, 2, 1 + 1, 3, 2)


def write_mpi3d(folder: Path, *, packed: bool = False, variant: str = "toy") -> Written:
    published = small("mpi3d", MPI3D)
    images = drawn(int(np.prod(MPI3D)), 3)
    path = folder / f"mpi3d_{variant.removesuffix('2019')}.npz"
    path.write_bytes(npz_bytes({"images": images}, packed=packed))
    return Written(path, published, images)


# Cars3D, SmallNORB --------------------------------------------------------------------------------------------------

CARS3D = (2, 3, 4)


def write_cars3d(folder: Path) -> Written:
    """Files whose list is not in alphabetical order."""
    published = small("cars3d", CARS3D)
    elevations, azimuths, cars = CARS3D
    images = drawn(elevations * azimuths * cars, 3)
    grid = images.reshape(elevations, azimuths, cars, SIDE, SIDE, 3)
    names = [f"car_{number:03d}_mesh" for number in (3, 1, 4, 2)]
    (folder / "cars").mkdir()
    for car, name in enumerate(names):
        im = grid[:, :, car].transpose(2, 3, 4, 1, 0)  # (H, W, C, azimuth, elevation)
        mask = np.zeros((SIDE, SIDE, azimuths, elevations), dtype=np.uint8)
        scipy.io.savemat(folder / "cars" / f"{name}.mat", {"im": im, "mask": mask}, do_compression=True)
    (folder / "cars" / "list.txt").write_text("".join(f"{name}\n" for name in names))
    return Written(folder / "cars", published, images)


SMALLNORB = (2, 4, 2, 3, 2)
MAGIC = {"u1": 0x1E3D4C55, "i4": 0x1E3D4C54, "i2": 0x1E3D4C56, "f4": 0x1E3D4C51, "f8": 0x1E3D4C53}


def matrix_bytes(array: NDArray[Any]) -> bytes:
    """A matrix as SmallNORB has them."""
    sizes = [*array.shape, *[1] * (3 - array.ndim)]
    header = struct.pack(f"<Ii{len(sizes)}i", MAGIC[array.dtype.str[1:]], array.ndim, *sizes)
    return header + array.astype(array.dtype.newbyteorder("<")).tobytes()


def write_smallnorb(folder: Path, *, packed: bool = True) -> Written:
    """Both halves in a shuffled order; the images returned are those of camera 0, in the order of all five factors."""
    published = small("smallnorb", SMALLNORB)
    positions = positions_of(SMALLNORB)
    both = drawn(len(positions), 2)  # the channel is the camera
    instances = sorted((*INSTANCES["training"][:2], *INSTANCES["testing"][:2]))
    for split, stem in (("training", "5x46789x9x18x6x2x96x96-training"), ("testing", "5x01235x9x18x6x2x96x96-testing")):
        instance = np.array(instances)[positions[:, 1]]
        own = np.flatnonzero(np.isin(instance, INSTANCES[split]))
        own = np.random.default_rng(len(split)).permutation(own)
        info = np.stack([instance, positions[:, 2], 2 * positions[:, 3], positions[:, 4]], axis=1)[own]
        parts = {
            "dat": both[own].transpose(0, 3, 1, 2),
            "cat": positions[own, 0].astype(np.int32),
            "info": info.astype(np.int32),
        }
        for part, array in parts.items():
            content = matrix_bytes(np.ascontiguousarray(array))
            name = f"smallnorb-{stem}-{part}.mat"
            (folder / (name + ".gz" if packed else name)).write_bytes(gzip.compress(content) if packed else content)
    return Written(folder, published, both[..., :1])


# Folders of pictures, Morpho-MNIST ----------------------------------------------------------------------------------

RENDERED = {"falcor3d": (2, 2, 1 + 1, 2, 2, 3, 2), "isaac3d": (2, 2, 2, 2, 2, 2, 2, 2, 3)}


def write_pictures(folder: Path, images: Pixels, digits: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, image in enumerate(images):
        Image.fromarray(image).save(folder / f"{number:0{digits}}.png")


def write_rendered(folder: Path, name: str = "falcor3d") -> Written:
    sizes = RENDERED[name]
    published = small(name, sizes)
    images = drawn(int(np.prod(sizes)), 3)
    write_pictures(folder / "images", images, 6)
    labels = positions_of(sizes) / (np.array(sizes) - 1)
    with (folder / ("train-rec.labels" if name == "falcor3d" else "labels.npy")).open("wb") as file:
        np.save(file, labels)
    return Written(folder, published, images)


def write_3dident(folder: Path, n: int = 12, columns: int = 10) -> Written:
    images = drawn(n, 3)
    write_pictures(folder / "images", images, 2)
    np.save(folder / "raw_latents.npy", np.random.default_rng(1).uniform(-1, 1, (n, columns)).astype(np.float32))
    return Written(folder, PUBLISHED["3dident"], images)


def write_causal3dident(folder: Path, n: int = 5) -> Written:
    images = drawn(3 * n, 3)
    for place, shape in enumerate((0, 2, 6)):
        write_pictures(folder / f"images_{shape}", images[place * n : place * n + n], 1)
        latents = np.random.default_rng(shape).uniform(-1, 1, (n, 10)).astype(np.float32)
        np.save(folder / f"raw_latents_{shape}.npy", latents)
    return Written(folder, PUBLISHED["causal3dident"], images)


def idx_bytes(array: NDArray[np.uint8]) -> bytes:
    """An idx file of bytes, as MNIST is published in."""
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def write_morpho_mnist(folder: Path, *, perturbed: bool = True, n: Mapping[str, int] | None = None) -> Written:
    images = []
    for seed, (split, count) in enumerate((n or {"train": 11, "t10k": 4}).items()):
        held = drawn(count, 1, seed=seed)
        images.append(held)
        rng = np.random.default_rng(seed)
        (folder / f"{split}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx_bytes(held[..., 0])))
        labels = rng.integers(0, 10, count, dtype=np.uint8)
        (folder / f"{split}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx_bytes(labels)))
        if perturbed:
            kinds = rng.integers(0, 3, count, dtype=np.uint8)
            (folder / f"{split}-pert-idx1-ubyte.gz").write_bytes(gzip.compress(idx_bytes(kinds)))
        with (folder / f"{split}-morpho.csv").open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["index", "area", "length", "thickness", "slant", "width", "height"])
            table.writerows([row, *map(float, rng.random(6))] for row in range(count))
    return Written(folder, PUBLISHED["morpho_mnist"], np.concatenate(images))


# CIFAR, SVHN --------------------------------------------------------------------------------------------------------

CIFAR_SPLITS = {"train": 20, "test": 4}
SVHN_SPLITS = {"train": 7, "test": 5, "extra": 6}


def labelled(name: str, splits: Mapping[str, int]) -> PublishedSet:
    """A set of few small images, with all its classes."""
    published = small(name, PUBLISHED[name].grids[""].sizes)
    return replace(published, splits=dict(splits))


def cifar_labels(name: str, n: int, seed: int = 0) -> dict[str, NDArray[np.int64]]:
    """Classes that a file has, by the name of their factor; the last ones are among them."""
    rng = np.random.default_rng(seed)
    fine = rng.integers(0, 10 if name == "cifar10" else 100, n)
    return {"class": fine % 10} if name == "cifar10" else {"fine": np.append(fine[1:], 99), "coarse": fine % 20}


def cifar_file(name: str, kind: str, images: Pixels, labels: Mapping[str, NDArray[np.int64]]) -> bytes:
    """One file: rows of bytes, or a pickle of Python 2 or of a protocol of this Python."""
    if kind == "binary":
        return rows_of_bytes(images, *[labels[one] for one in ("coarse", "fine", "class") if one in labels])
    keys = {"class": "labels", "fine": "fine_labels", "coarse": "coarse_labels"}
    held = {
        "batch_label": "training batch 1 of 5",
        **{keys[one]: own.tolist() for one, own in labels.items()},
        "data": planes(images),
        "filenames": [f"picture_s_{row:06}.png" for row in range(len(images))],
    }
    if kind == "python":
        return Python2Pickle().dumps(held)
    return pickle.dumps(held, protocol=int(kind.removeprefix("protocol ")))


def write_cifar(folder: Path, name: str = "cifar10", kind: str = "binary", *, packed: bool = False) -> Written:
    """Batches of CIFAR-10, or the two files of CIFAR-100."""
    images, ending = drawn(sum(CIFAR_SPLITS.values()), 3), ".bin" if kind == "binary" else ""
    batches = {f"data_batch_{number}": 4 for number in range(1, 6)} | {"test_batch": 4}
    files, begins = {}, 0
    for stem, n in (batches if name == "cifar10" else CIFAR_SPLITS).items():
        labels = cifar_labels(name, n, seed=begins)
        files[f"{stem}{ending}"] = cifar_file(name, kind, images[begins : begins + n], labels)
        begins += n
    inner = {"cifar10": "cifar-10-batches-bin", "cifar100": "cifar-100-binary"}[name]
    if packed:
        path = folder / "cifar.tar.gz"
        path.write_bytes(tar_gz(files, inner))
    else:
        path = folder
        for file, content in files.items():
            (folder / file).write_bytes(content)
    return Written(path, labelled(name, CIFAR_SPLITS), images)


def write_svhn(folder: Path, *, packed: bool = True) -> Written:
    """Parts whose images are (height, width, channels, n), with the digit 0 as 10; those of train and extra."""
    held = {}
    for seed, (split, n) in enumerate(SVHN_SPLITS.items()):
        held[split] = drawn(n, 3, seed=seed)
        y = (np.arange(n, dtype=np.uint8) + seed) % 10 + 1
        arrays = {"X": held[split].transpose(1, 2, 3, 0), "y": y[:, None]}
        scipy.io.savemat(folder / f"{split}_32x32.mat", arrays, do_compression=packed)
    return Written(folder, labelled("svhn", SVHN_SPLITS), np.concatenate([held["train"], held["extra"]]))


# PASCAL VOC ----------------------------------------------------------------------------------------------------------

#: Objects of each picture, a class and the corners of its box; pictures 1, 3 and 4 have one class.
VOC_PICTURES: dict[str, list[tuple[str, tuple[int, int, int, int]]]] = {
    "2007_000001": [("dog", (0, 0, 4, 4)), ("dog", (1, 1, 5, 5))],
    "2007_000002": [("dog", (0, 0, 4, 4)), ("cat", (0, 0, 3, 3))],
    "2008_000003": [("cat", (0, 0, 2, 2)), ("bird", (0, 0, 4, 2))],
    "2008_000004": [("person", (2, 2, 9, 9))],
}


def write_voc(folder: Path) -> Written:
    """Four pictures of unlike sizes, each of one colour, which JPEG keeps."""
    root = folder / "VOCdevkit" / "VOC2012"
    for part in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (root / part).mkdir(parents=True, exist_ok=True)
    images = []
    for number, (name, objects) in enumerate(VOC_PICTURES.items()):
        boxes = [
            f"<object><name>{one}</name><bndbox><xmin>{a}</xmin><ymin>{b}</ymin><xmax>{c}</xmax><ymax>{d}</ymax></bndbox>"
            f"<part><name>head</name><bndbox><xmin>1</xmin></bndbox></part></object>"
            for one, (a, b, c, d) in objects
        ]
        (root / "Annotations" / f"{name}.xml").write_text(f"<annotation>{''.join(boxes)}</annotation>")
        grey = 40 * (number + 1)
        Image.new("RGB", (30 + number, 20), (grey, grey, grey)).save(root / "JPEGImages" / f"{name}.jpg")
        images.append(np.full((64, 64, 3), grey, np.uint8))
    (root / "ImageSets" / "Main" / "trainval.txt").write_text("\n".join(VOC_PICTURES) + "\n")
    return Written(folder, PUBLISHED["voc2012"], np.stack([images[0], images[2], images[3]]))


# All of them ---------------------------------------------------------------------------------------------------------

#: Each layout: what writes it, how, and what it is asked for so that all its images are in the set.
LAYOUTS: dict[str, tuple[Callable[..., Written], dict[str, Any], dict[str, Any]]] = {
    "dsprites": (write_dsprites, {}, {}),
    "dsprites, stored": (write_dsprites, {"packed": False}, {}),
    "dsprites, hdf5": (write_dsprites_hdf5, {}, {}),
    "dsprites, hdf5 in one piece": (write_dsprites_hdf5, {"chunks": False}, {}),
    "shapes3d": (write_shapes3d, {}, {}),
    "shapes3d, in one piece": (write_shapes3d, {"chunks": None}, {}),
    "mpi3d": (write_mpi3d, {}, {"variant": "toy"}),
    "mpi3d, deflated": (write_mpi3d, {"packed": True}, {"variant": "complex"}),
    "cars3d": (write_cars3d, {}, {}),
    "smallnorb": (write_smallnorb, {}, {}),
    "smallnorb, plain": (write_smallnorb, {"packed": False}, {"instance": "factor"}),
    "falcor3d": (write_rendered, {}, {}),
    "isaac3d": (write_rendered, {"name": "isaac3d"}, {}),
    "3dident": (write_3dident, {}, {}),
    "causal3dident": (write_causal3dident, {}, {}),
    "morpho_mnist": (write_morpho_mnist, {}, {"split": "both"}),
    "cifar10": (write_cifar, {}, {"split": "both"}),
    "cifar10, packed": (write_cifar, {"packed": True}, {"split": "both"}),
    "cifar10, python": (write_cifar, {"kind": "python"}, {"split": "both"}),
    "cifar10, python, packed": (write_cifar, {"kind": "python", "packed": True}, {"split": "both"}),
    "cifar100": (write_cifar, {"name": "cifar100"}, {"split": "both"}),
    "cifar100, protocol 4": (write_cifar, {"name": "cifar100", "kind": "protocol 4"}, {"split": "both"}),
    "svhn": (write_svhn, {}, {"split": "train+extra"}),
    "svhn, not packed": (write_svhn, {"packed": False}, {"split": "train+extra"}),
    "voc2012": (write_voc, {}, {}),
}
