"""CIFAR-10 and CIFAR-100: small photographs of classes of things, as rows of bytes or in pickles that are not run."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, listed, quoted
from demele.core.reading import parsing, read_whole, regular_file
from demele.data.loaders.archives import tar_members
from demele.data.loaders.pickles import load_plain
from demele.data.loaders.published import (
    Factor,
    PublishedFile,
    PublishedSet,
    Read,
    Request,
    check_positions,
    one_grid,
)
from demele.data.loaders.stored_images import Images, Pixels, Shape, joined
from demele.data.mapped import MappedArray

#: What a row may take at most, in any format: its name, and pixels that were written as text take twice their bytes.
_ROW = 8192
_REST = 1 << 20
#: Opcodes of a row: labels and the name of its picture, each with what keeps it.
_OPCODES = 16
#: Bytes of a file with names of classes.
_LARGEST_NAMES = 1 << 16


@dataclass(frozen=True, slots=True)
class Release:
    """One of the formats in which a set was published.

    Attributes
    ----------
    folder, archive : str
    files : mapping of str to tuple of str
        Of each split.
    names : str
        The file with names of classes; ``{}`` is the factor's.
    pickled : bool
        Otherwise files are rows of bytes: labels from the last factor to the first, then the image.
    """

    folder: str
    archive: str
    files: Mapping[str, tuple[str, ...]]
    names: str
    pickled: bool


@dataclass(frozen=True, slots=True)
class _Copy:
    """Somebody's copy of a release: where its files are, as messages name it, and those that it has."""

    release: Release
    where: str
    held: Mapping[str, Path | bytes]
    files: tuple[Path, ...]

    def content(self, name: str, most: int) -> bytes:
        """Return the content of a file, if it has no more than so many bytes."""
        held = self.held[name]
        size = regular_file(held) if isinstance(held, Path) else len(held)
        if size > most:
            raise FormatError(self.where + name, f"expected at most {most:,} bytes, found {size:,}")
        return read_whole(held) if isinstance(held, Path) else held


def _read(request: Request, releases: Sequence[Release]) -> Read:
    """Find the files in one of their formats, and read the labels."""
    split, factors = request.options["split"], request.grid.factors
    splits = tuple(request.published.splits) if split == "both" else (split,)
    copy = _found(request, releases, splits)
    values = {factor.name: names for factor in factors if (names := _names(copy, factor)) is not None}
    images, labels = [], []
    for one in splits:
        n = request.published.splits[one] // len(copy.release.files[one])
        for name in copy.release.files[one]:
            part, own = (_pickled if copy.release.pickled else _plain)(request, copy, name, n)
            check_positions(copy.where + name, own, factors)
            images.append(part)
            labels.append(own)
    return Read(images=joined(images), files=copy.files, positions=np.concatenate(labels), values=values, repeats=True)


def _found(request: Request, releases: Sequence[Release], splits: Sequence[str]) -> _Copy:
    """Return the format of somebody's copy, and its files."""
    path, prefixes = request.path, [_prefix(factor.name) for factor in request.grid.factors]
    wanted = {one.folder: [name for split in splits for name in one.files[split]] for one in releases}
    every = {one.folder: {*wanted[one.folder], *map(one.names.format, prefixes)} for one in releases}
    if path.is_dir():
        for release in releases:
            for folder in (path, path / release.folder):
                if any((folder / name).exists() for name in wanted[release.folder]):
                    files = tuple(request.file(name, folder=folder) for name in wanted[release.folder])
                    held = {name: folder / name for name in every[release.folder] if (folder / name).exists()}
                    return _Copy(release, f"{folder}{os.sep}", held, files)
        archives = [one.archive for one in releases if (path / one.archive).exists()]
        path = request.file(*archives or wanted[releases[0].folder])
    sizes, names = request.published.splits.values(), set().union(*every.values())
    content, there = tar_members(path, names, max(sizes) * _ROW + _REST, sum(sizes) * _ROW + 2 * _REST)
    for release in releases:
        missing = [name for name in wanted[release.folder] if name not in content]
        if not missing:
            return _Copy(release, f"{path}::", content, (path,))
        if len(missing) < len(wanted[release.folder]):
            raise request.lacks(path, missing[0], there)
    raise request.lacks(path, wanted[releases[0].folder][0], there)


def _prefix(factor: str) -> str:
    """Return what names of labels begin with; of CIFAR-10, which has one factor, with nothing."""
    return "" if factor == "class" else f"{factor}_"


def _plain(request: Request, copy: _Copy, name: str, n: int) -> tuple[Images, NDArray[np.int64]]:
    """Look at a file of rows: a byte for each label, then the image."""
    what, held, skipped, pixels = copy.where + name, copy.held[name], len(request.grid.factors), request.grid.pixels
    row = skipped + math.prod(pixels)
    found = regular_file(held) if isinstance(held, Path) else len(held)
    remedy = f"{n:,} rows of {row:,} bytes, with {skipped} for labels, were published; copy it again"
    request.expect(what, f"{found:,} bytes", f"{n * row:,} bytes", remedy=remedy)
    if isinstance(held, Path):
        rows: Any = MappedArray(held, 0, (n, row), np.dtype(np.uint8))
    else:
        rows = np.frombuffer(held, np.uint8).reshape(n, row)
    labels = rows[:][:, :skipped][:, ::-1].astype(np.int64)
    return Images(what, n, pixels, rows, partial(from_planes, shape=pixels, skipped=skipped)), labels


def from_planes(rows: Pixels, shape: Shape, skipped: int = 0) -> Pixels:
    """Return images of rows that hold a plane for each channel, behind some bytes that are skipped.

    Examples
    --------
    >>> found = from_planes(np.arange(8, dtype=np.uint8)[None], (2, 2, 2))
    >>> found[0, 0].tolist(), found[0, 1].tolist()
    ([[0, 4], [1, 5]], [[2, 6], [3, 7]])
    """
    height, width, channels = shape
    return rows[:, skipped:].reshape(len(rows), channels, height, width).transpose(0, 2, 3, 1)


def _pickled(request: Request, copy: _Copy, name: str, n: int) -> tuple[Images, NDArray[np.int64]]:
    """Look at a pickle with ``data``, (n, pixels) of uint8, and a list of labels for each factor."""
    what, pixels = copy.where + name, request.grid.pixels
    taken = load_plain(what, copy.content(name, n * _ROW + _REST), n * _OPCODES + _REST)
    keys = [f"{_prefix(factor.name)}labels" for factor in request.grid.factors]
    for key in ("data", *keys):
        if key not in taken:
            raise request.lacks(what, key, taken)
    data = taken["data"]
    if not isinstance(data, np.ndarray):
        raise FormatError(f"{what}::data", f"expected an array, found {type(data).__name__}")
    request.expect_array(f"{what}::data", data.dtype, data.shape, "uint8", (n, math.prod(pixels)))
    for key in keys:
        if not isinstance(taken[key], list) or not all(type(one) is int for one in taken[key]):
            raise FormatError(f"{what}::{key}", "expected a list of whole numbers, found something else")
        if len(taken[key]) != n:
            raise FormatError(f"{what}::{key}", f"expected {n:,} labels, found {len(taken[key]):,}")
    with parsing(f"{what}: labels that are none"):
        labels = np.array([taken[key] for key in keys], dtype=np.int64).T
    return Images(what, n, pixels, data, partial(from_planes, shape=pixels)), labels


def _names(copy: _Copy, factor: Factor) -> tuple[str, ...] | None:
    """Return the names of classes from a file next to the images: lines of text, or a list in a pickle."""
    name = copy.release.names.format(_prefix(factor.name))
    what, key = copy.where + name, f"{_prefix(factor.name)}label_names"
    if name not in copy.held:
        return None
    content = copy.content(name, _REST if copy.release.pickled else _LARGEST_NAMES)
    if copy.release.pickled:
        taken = load_plain(what, content, _REST)
        held = taken.get(key)
        if not isinstance(held, list) or not all(isinstance(one, bytes | str) for one in held):
            raise FormatError(what, f"expected a list of names under {quoted(key)}, found {listed(taken, 12)}")
        names = tuple(one.decode("latin-1") if isinstance(one, bytes) else one for one in held)
    else:
        with parsing(f"{what}: names that are no text in UTF-8"):
            names = tuple(line.strip() for line in content.decode("utf-8").splitlines() if line.strip())
    if not len(names) == len(set(names)) == factor.size:
        raise FormatError(
            what,
            f"expected {factor.size} different names of {factor.name}, found {len(names)}, {len(set(names))} of them "
            "different",
        )
    return names


# The sets ------------------------------------------------------------------------------------------------------------

_CLASSES = "airplane automobile bird cat deer dog frog horse ship truck"
_FINE = """
    apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can castle
    caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin elephant
    flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree
    motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree plain plate
    poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk skyscraper snail snake spider
    squirrel streetcar sunflower sweet_pepper table tank telephone television tiger tractor train trout tulip turtle
    wardrobe whale willow_tree wolf woman worm
"""
_COARSE = """
    aquatic_mammals fish flowers food_containers fruit_and_vegetables household_electrical_devices household_furniture
    insects large_carnivores large_man-made_outdoor_things large_natural_outdoor_scenes large_omnivores_and_herbivores
    medium_mammals non-insect_invertebrates people reptiles small_mammals trees vehicles_1 vehicles_2
"""
_BATCHES = tuple(f"data_batch_{number}" for number in range(1, 6))
_PLAIN = {"train": tuple(f"{name}.bin" for name in _BATCHES), "test": ("test_batch.bin",)}
_CIFAR10 = (
    Release("cifar-10-batches-bin", "cifar-10-binary.tar.gz", _PLAIN, "{}batches.meta.txt", pickled=False),
    Release(
        "cifar-10-batches-py",
        "cifar-10-python.tar.gz",
        {"train": _BATCHES, "test": ("test_batch",)},
        "{}batches.meta",
        pickled=True,
    ),
)
_CIFAR100 = (
    Release(
        "cifar-100-binary",
        "cifar-100-binary.tar.gz",
        {"train": ("train.bin",), "test": ("test.bin",)},
        "{}label_names.txt",
        pickled=False,
    ),
    Release(
        "cifar-100-python", "cifar-100-python.tar.gz", {"train": ("train",), "test": ("test",)}, "meta", pickled=True
    ),
)
_PAGE = "https://www.cs.toronto.edu/~kriz/cifar.html"
_SPLITS: Mapping[str, tuple[Any, ...]] = {"split": ("train", "test", "both")}
_PIXELS = (32, 32, 3)
_NO_PICKLE = "Pickles of the Python version are loaded without being run; images of the binary version are mapped."

CIFAR10 = PublishedSet(
    name="cifar10",
    title="CIFAR-10",
    publisher="A. Krizhevsky, University of Toronto",
    download=f"cifar-10-binary.tar.gz (170,052,171 bytes) or cifar-10-python.tar.gz, at {_PAGE}",
    licence="none stated",
    provenance="CIFAR-10: A. Krizhevsky, Learning multiple layers of features from tiny images, 2009",
    read=partial(_read, releases=_CIFAR10),
    grids=one_grid(
        _PIXELS,
        Factor("class", 10, tuple(_CLASSES.split()), "categorical"),
    ),
    splits={"train": 50_000, "test": 10_000},
    files=(
        PublishedFile(
            "cifar-10-binary.tar.gz", 170_052_171, "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
        ),
        PublishedFile("cifar-10-python.tar.gz", digest="c58f30108f718f92721af3b95e74349a"),
        PublishedFile("data_batch_1", digest="c99cafc152244af753f735de768cd75f"),
        PublishedFile("data_batch_2", digest="d4bba439e000b95fd0a9bffe97cbabec"),
        PublishedFile("data_batch_3", digest="54ebc095f3ab1f0389bbae665268c751"),
        PublishedFile("data_batch_4", digest="634d18415352ddfa80567beed471001a"),
        PublishedFile("data_batch_5", digest="482c414d41f54cd18b22e5b47cb7c3cb"),
        PublishedFile("test_batch", digest="40351d587109b95175f43aff81a1287e"),
    ),
    options=_SPLITS,
    notes=(
        "images.positions()[:, 0] are the classes as numbers. split='test' has 10,000 images more.",
        _NO_PICKLE,
        "Some of its labels are wrong: demele.data.load_example('label_errors_cifar10') has those of the test half.",
    ),
)
CIFAR100 = PublishedSet(
    name="cifar100",
    title="CIFAR-100",
    publisher="A. Krizhevsky, University of Toronto",
    download=f"cifar-100-binary.tar.gz (168,513,733 bytes) or cifar-100-python.tar.gz (169,001,437), at {_PAGE}",
    licence="none stated",
    provenance="CIFAR-100: A. Krizhevsky, Learning multiple layers of features from tiny images, 2009",
    read=partial(_read, releases=_CIFAR100),
    grids=one_grid(
        _PIXELS,
        Factor("fine", 100, tuple(_FINE.split()), "categorical"),
        Factor("coarse", 20, tuple(_COARSE.split()), "categorical"),
    ),
    splits={"train": 50_000, "test": 10_000},
    files=(
        PublishedFile("cifar-100-binary.tar.gz", 168_513_733, "03b5dce01913d631647c71ecec9e9cb8"),
        PublishedFile("cifar-100-python.tar.gz", 169_001_437, "eb9058c3a382ffc7106e4002c42a8d85"),
        PublishedFile("train", digest="16019d7e3df5f24257cddd939b257f8d"),
        PublishedFile("test", digest="f0ef6b0ae62326f3e7ffdfab6717acfc"),
    ),
    options=_SPLITS,
    notes=(
        "images.positions() has the 100 fine classes in column 0 and the 20 coarse ones in column 1; a fine class lies "
        "within one coarse class. split='test' has 10,000 images more.",
        _NO_PICKLE,
        "Some of its labels are wrong: demele.data.load_example('label_errors_cifar100') has those of the test half.",
    ),
)
