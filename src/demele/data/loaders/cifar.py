"""CIFAR-10 and CIFAR-100: small photographs of classes of things, as rows of bytes or in pickles that are not run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.reading import parsing, read_whole, regular_file
from demele.data.loaders.archives import tar_members
from demele.data.loaders.pickles import load_plain
from demele.data.loaders.published import (
    Factor,
    Grid,
    PublishedFile,
    PublishedSet,
    Read,
    Request,
    check_positions,
    listed,
)
from demele.data.loaders.stored_images import Images, from_planes, joined
from demele.data.mapped import MappedArray

#: What a row may take at most, in any format: its name, and pixels that were written as text take twice their bytes.
_ROW = 8192
_REST = 1 << 20
#: Opcodes of a row: labels and the name of its picture, each with what keeps it.
_OPCODES = 16
#: Bytes of a file with names of classes.
_LARGEST_NAMES = 1 << 16

Held = Path | bytes


@dataclass(frozen=True, slots=True)
class Release:
    """One of the formats in which a set was published.

    Attributes
    ----------
    folder, archive : str
    files : mapping of str to tuple of str
        Of each split.
    pickled : bool
    names : mapping of str to (file, key)
        Where the classes of a factor have names; the key is that of a pickle.
    labels : mapping of str to str
        The key of each factor's labels in a pickle; of rows of bytes the factors in the order of their bytes.
    """

    folder: str
    archive: str
    files: Mapping[str, tuple[str, ...]]
    pickled: bool
    names: Mapping[str, tuple[str, str]]
    labels: Mapping[str, str]

    @property
    def every_file(self) -> tuple[str, ...]:
        """Names of all files, those with names of classes too."""
        return (*(name for files in self.files.values() for name in files), *{file for file, _ in self.names.values()})


def _read(request: Request, releases: Sequence[Release]) -> Read:
    """Find the files in one of their formats, and read the labels."""
    split, factors = request.options["split"], request.grid.factors
    splits = tuple(request.published.splits) if split == "both" else (split,)
    release, held, files = _found(request, releases, splits)
    values = {}
    for factor in factors:
        file, key = release.names[factor.name]
        if file in held:
            values[factor.name] = _names(_what(request, file, held[file]), held[file], key if release.pickled else None)
            many, different = len(values[factor.name]), len(set(values[factor.name]))
            if not many == different == factor.size:
                raise FormatError(
                    _what(request, file, held[file]),
                    f"expected {factor.size} different names of {factor.name}, found {many}, {different} of them "
                    "different",
                )
    images, labels = [], []
    for one in splits:
        n = request.published.splits[one] // len(release.files[one])
        for name in release.files[one]:
            what = _what(request, name, held[name])
            part, own = (_pickled if release.pickled else _plain)(request, release, what, held[name], n)
            images.append(part)
            labels.append(np.column_stack([own[factor.name] for factor in factors]))
            check_positions(what, labels[-1], factors)
    return Read(images=joined(images), files=files, positions=np.concatenate(labels), values=values, repeats=True)


def _found(
    request: Request, releases: Sequence[Release], splits: Sequence[str]
) -> tuple[Release, dict[str, Held], tuple[Path, ...]]:
    """Return the format of somebody's copy, its files by name, and those by which it is recognised."""
    path = request.path
    if path.is_dir():
        for release in releases:
            wanted = [name for one in splits for name in release.files[one]]
            for folder in (path, path / release.folder):
                if any((folder / name).exists() for name in wanted):
                    files = tuple(request.file(name, folder=folder) for name in wanted)
                    return (
                        release,
                        {name: folder / name for name in release.every_file if (folder / name).exists()},
                        files,
                    )
        path = request.file(
            *[one.archive for one in releases if (path / one.archive).exists()] or [releases[0].files[splits[0]][0]]
        )
    sizes = request.published.splits.values()
    names = {name for release in releases for one in splits for name in release.files[one]}
    names |= {file for release in releases for file, _ in release.names.values()}
    held, every = tar_members(path, names, max(sizes) * _ROW + _REST, sum(sizes) * _ROW + 2 * _REST)
    for release in releases:
        wanted = [name for one in splits for name in release.files[one]]
        missing = [name for name in wanted if name not in held]
        if not missing:
            return release, dict(held), (path,)
        if len(missing) < len(wanted):
            raise request.lacks(path, missing[0], every)
    raise request.lacks(path, releases[0].files[splits[0]][0], every)


def _what(request: Request, name: str, held: Held) -> str:
    """Return a file as messages name it."""
    return str(held) if isinstance(held, Path) else f"{request.path}::{name}"


def _plain(
    request: Request, release: Release, what: str, held: Held, n: int
) -> tuple[Images, Mapping[str, NDArray[np.int64]]]:
    """Look at a file of rows: a byte for each label, then the image."""
    skipped, pixels = len(release.labels), request.grid.pixels
    row = skipped + math.prod(pixels)
    found = regular_file(held) if isinstance(held, Path) else len(held)
    remedy = f"{n:,} rows of {row:,} bytes, of which {skipped} for labels, were published; copy it again"
    request.expect(what, f"{found:,} bytes", f"{n * row:,} bytes", remedy=remedy)
    rows: Any = MappedArray(held, 0, (n, row), np.dtype(np.uint8)) if isinstance(held, Path) else None
    if isinstance(held, bytes):
        rows = np.frombuffer(held, np.uint8).reshape(n, row)
    labels = {name: rows[:][:, place].astype(np.int64) for place, name in enumerate(release.labels)}
    return Images(what, n, pixels, rows, partial(from_planes, shape=pixels, skipped=skipped)), labels


def _pickled(
    request: Request, release: Release, what: str, held: Held, n: int
) -> tuple[Images, Mapping[str, NDArray[np.int64]]]:
    """Look at a pickle with ``data``, (n, pixels) of uint8, and a list of labels for each factor."""
    taken, pixels = _loaded(what, held, n), request.grid.pixels
    for key in ("data", *release.labels.values()):
        if key not in taken:
            raise request.lacks(what, key, taken)
    data = taken["data"]
    if not isinstance(data, np.ndarray):
        raise FormatError(f"{what}::data", f"expected an array, found {type(data).__name__}")
    request.expect_array(f"{what}::data", data.dtype, data.shape, "uint8", (n, math.prod(pixels)))
    labels = {}
    for name, key in release.labels.items():
        own = taken[key]
        if not isinstance(own, list) or not all(type(one) is int for one in own):
            raise FormatError(f"{what}::{key}", "expected a list of whole numbers, found something else")
        if len(own) != n:
            raise FormatError(f"{what}::{key}", f"expected {n:,} labels, found {len(own):,}")
        with parsing(f"{what}::{key}: labels that are none"):
            labels[name] = np.array(own, dtype=np.int64)
    return Images(what, n, pixels, data, partial(from_planes, shape=pixels)), labels


def _loaded(what: str, held: Held, n: int) -> dict[str, Any]:
    if isinstance(held, Path) and regular_file(held) > n * _ROW + _REST:
        raise FormatError(what, f"expected at most {n * _ROW + _REST:,} bytes, found {regular_file(held):,}")
    return load_plain(what, read_whole(held) if isinstance(held, Path) else held, n * _OPCODES + _REST)


def _names(what: str, held: Held, key: str | None) -> tuple[str, ...]:
    """Return the names of classes: lines of text, or a list in a pickle under a key."""
    if key is None:
        if isinstance(held, Path) and regular_file(held) > _LARGEST_NAMES:
            raise FormatError(what, f"expected at most {_LARGEST_NAMES:,} bytes of names")
        content = read_whole(held) if isinstance(held, Path) else held
        with parsing(f"{what}: names that are no text in UTF-8"):
            return tuple(line.strip() for line in content.decode("utf-8").splitlines() if line.strip())
    taken = _loaded(what, held, 0)
    names = taken.get(key)
    if not isinstance(names, list) or not all(isinstance(one, bytes | str) for one in names):
        raise FormatError(what, f"expected a list of names under {quoted(key)}, found {listed(taken)}")
    return tuple(one.decode("latin-1") if isinstance(one, bytes) else one for one in names)


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
CIFAR10_NAMES = tuple(_CLASSES.split())
FINE_NAMES = tuple(_FINE.split())
COARSE_NAMES = tuple(_COARSE.split())
_BATCHES = tuple(f"data_batch_{number}" for number in range(1, 6))
_CIFAR10 = (
    Release(
        "cifar-10-batches-bin",
        "cifar-10-binary.tar.gz",
        {"train": tuple(f"{name}.bin" for name in _BATCHES), "test": ("test_batch.bin",)},
        pickled=False,
        names={"class": ("batches.meta.txt", "")},
        labels={"class": ""},
    ),
    Release(
        "cifar-10-batches-py",
        "cifar-10-python.tar.gz",
        {"train": _BATCHES, "test": ("test_batch",)},
        pickled=True,
        names={"class": ("batches.meta", "label_names")},
        labels={"class": "labels"},
    ),
)
_CIFAR100 = (
    Release(
        "cifar-100-binary",
        "cifar-100-binary.tar.gz",
        {"train": ("train.bin",), "test": ("test.bin",)},
        pickled=False,
        names={"fine": ("fine_label_names.txt", ""), "coarse": ("coarse_label_names.txt", "")},
        labels={"coarse": "", "fine": ""},
    ),
    Release(
        "cifar-100-python",
        "cifar-100-python.tar.gz",
        {"train": ("train",), "test": ("test",)},
        pickled=True,
        names={"fine": ("meta", "fine_label_names"), "coarse": ("meta", "coarse_label_names")},
        labels={"fine": "fine_labels", "coarse": "coarse_labels"},
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
    grids={"": Grid((Factor("class", 10, CIFAR10_NAMES, "categorical"),), _PIXELS)},
    splits={"train": 50_000, "test": 10_000},
    files=(
        PublishedFile(
            "cifar-10-binary.tar.gz",
            size=170_052_171,
            sha256="c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
            md5="c32a1d4ab5d03f1284b67883e8d87530",
        ),
        PublishedFile("cifar-10-python.tar.gz", md5="c58f30108f718f92721af3b95e74349a"),
        PublishedFile("data_batch_1", md5="c99cafc152244af753f735de768cd75f"),
        PublishedFile("data_batch_2", md5="d4bba439e000b95fd0a9bffe97cbabec"),
        PublishedFile("data_batch_3", md5="54ebc095f3ab1f0389bbae665268c751"),
        PublishedFile("data_batch_4", md5="634d18415352ddfa80567beed471001a"),
        PublishedFile("data_batch_5", md5="482c414d41f54cd18b22e5b47cb7c3cb"),
        PublishedFile("test_batch", md5="40351d587109b95175f43aff81a1287e"),
    ),
    options=_SPLITS,
    notes=(
        "images.positions()[:, 0] are the classes as numbers. split='test' has 10,000 images more.",
        _NO_PICKLE,
        "Some of its labels are wrong: demele.data.label_set('label_errors_cifar10') has those of the test half.",
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
    grids={
        "": Grid(
            (Factor("fine", 100, FINE_NAMES, "categorical"), Factor("coarse", 20, COARSE_NAMES, "categorical")),
            _PIXELS,
        )
    },
    splits={"train": 50_000, "test": 10_000},
    files=(
        PublishedFile("cifar-100-binary.tar.gz", size=168_513_733, md5="03b5dce01913d631647c71ecec9e9cb8"),
        PublishedFile("cifar-100-python.tar.gz", size=169_001_437, md5="eb9058c3a382ffc7106e4002c42a8d85"),
        PublishedFile("train", md5="16019d7e3df5f24257cddd939b257f8d"),
        PublishedFile("test", md5="f0ef6b0ae62326f3e7ffdfab6717acfc"),
    ),
    options=_SPLITS,
    notes=(
        "images.positions() has the 100 fine classes in column 0 and the 20 coarse ones in column 1; a fine class lies "
        "within one coarse class. split='test' has 10,000 images more.",
        _NO_PICKLE,
        "Some of its labels are wrong: demele.data.label_set('label_errors_cifar100') has those of the test half.",
    ),
)
