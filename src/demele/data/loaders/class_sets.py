"""Published sets of images with classes: CIFAR, SVHN, Morpho-MNIST and Pascal VOC."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from demele.core.arrays import Bytes, Counts, Floats, pd
from demele.core.errors import FormatError, listed
from demele.core.lazy import require
from demele.core.reading import opened, parsing, read_whole, regular_file
from demele.data.array_images import MappedArray, StoredArray
from demele.data.images import spread
from demele.data.loaders import published
from demele.data.loaders.readers import MATLAB_PIXELS, idx_bytes, load_plain, matlab_variable, tar_members

# CIFAR-10 and CIFAR-100 -----------------------------------------------------------------------------------------------

#: What a row may take at most, in any format: its name, and pixels that were written as text take twice their bytes.
_ROW = 8192
_REST = 1 << 20
#: Opcodes of a row: labels and the name of its picture, each with what keeps it.
_OPCODES = 16


@dataclass(frozen=True, slots=True)
class Release:
    """One of the formats in which a set was published.

    Attributes
    ----------
    folder, archive : str
    files : mapping of str to tuple of str
        Of each split.
    pickled : bool
        Otherwise files are rows of bytes: labels from the last factor to the first, then the image.
    """

    folder: str
    archive: str
    files: Mapping[str, tuple[str, ...]]
    pickled: bool


def _read_cifar(request: published.Request, releases: Sequence[Release]) -> published.Read:
    """Find the files in one of their formats, and read the labels."""
    split, factors = request.options["split"], request.grid.factors
    splits = tuple(request.published.splits) if split == "both" else (split,)
    release, where, held, files = _found(request, releases, splits)
    images, labels = [], []
    for one in splits:
        n = request.published.splits[one] // len(release.files[one])
        for name in release.files[one]:
            read = _pickled if release.pickled else _plain
            part, own = read(request, where + name, held[name], n)
            published.check_positions(where + name, own, factors)
            images.append(part)
            labels.append(own)
    return published.Read(images=published.joined(images), files=files, positions=np.concatenate(labels), repeats=True)


def _found(
    request: published.Request, releases: Sequence[Release], splits: Sequence[str]
) -> tuple[Release, str, Mapping[str, Path | bytes], tuple[Path, ...]]:
    """Return the format of somebody's copy, what messages write before its names, its contents, and its files."""
    path = request.path
    wanted = {one.folder: [name for split in splits for name in one.files[split]] for one in releases}
    if path.is_dir():
        for release in releases:
            for folder in (path, path / release.folder):
                if any((folder / name).exists() for name in wanted[release.folder]):
                    held = {name: request.file(name, folder=folder) for name in wanted[release.folder]}
                    return release, f"{folder}{os.sep}", held, tuple(held.values())
        archives = [one.archive for one in releases if (path / one.archive).exists()]
        path = request.file(*archives or wanted[releases[0].folder])
    sizes, names = request.published.splits.values(), set().union(*wanted.values())
    content, there = tar_members(path, names, max(sizes) * _ROW + _REST, sum(sizes) * _ROW + 2 * _REST)
    for release in releases:
        missing = [name for name in wanted[release.folder] if name not in content]
        if not missing:
            return release, f"{path}::", content, (path,)
        if len(missing) < len(wanted[release.folder]):
            raise request.lacks(path, missing[0], there)
    raise request.lacks(path, wanted[releases[0].folder][0], there)


def _plain(request: published.Request, what: str, held: Path | bytes, n: int) -> tuple[published.Images, Counts]:
    """Look at a file of rows: a byte for each label, then the image."""
    skipped, pixels = len(request.grid.factors), request.grid.pixels
    row = skipped + math.prod(pixels)
    found = regular_file(held) if isinstance(held, Path) else len(held)
    remedy = f"{n:,} rows of {row:,} bytes, with {skipped} for labels, were published; copy it again"
    request.expect(what, f"{found:,} bytes", f"{n * row:,} bytes", remedy=remedy)
    if isinstance(held, Path):
        rows: Any = MappedArray(held, 0, (n, row), np.dtype(np.uint8))
    else:
        rows = np.frombuffer(held, np.uint8).reshape(n, row)
    labels = rows[:][:, :skipped][:, ::-1].astype(np.int64)
    return published.Images(what, n, pixels, rows, partial(from_planes, shape=pixels, skipped=skipped)), labels


def from_planes(rows: published.Pixels, shape: published.Shape, skipped: int = 0) -> published.Pixels:
    """Return images of rows that hold a plane for each channel, behind some bytes that are skipped.

    Examples
    --------
    >>> found = from_planes(np.arange(8, dtype=np.uint8)[None], (2, 2, 2))
    >>> found[0, 0].tolist(), found[0, 1].tolist()
    ([[0, 4], [1, 5]], [[2, 6], [3, 7]])
    """
    height, width, channels = shape
    return rows[:, skipped:].reshape(len(rows), channels, height, width).transpose(0, 2, 3, 1)


def _pickled(request: published.Request, what: str, held: Path | bytes, n: int) -> tuple[published.Images, Counts]:
    """Look at a pickle with ``data``, (n, pixels) of uint8, and a list of labels for each factor."""
    pixels, most = request.grid.pixels, n * _ROW + _REST
    size = regular_file(held) if isinstance(held, Path) else len(held)
    if size > most:
        raise FormatError(what, f"expected at most {most:,} bytes, found {size:,}")
    taken = load_plain(what, read_whole(held) if isinstance(held, Path) else held, n * _OPCODES + _REST)
    keys = ["labels" if factor.name == "class" else f"{factor.name}_labels" for factor in request.grid.factors]
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
    return published.Images(what, n, pixels, data, partial(from_planes, shape=pixels)), labels


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
    Release("cifar-10-batches-bin", "cifar-10-binary.tar.gz", _PLAIN, pickled=False),
    Release(
        "cifar-10-batches-py",
        "cifar-10-python.tar.gz",
        {"train": _BATCHES, "test": ("test_batch",)},
        pickled=True,
    ),
)
_CIFAR100 = (
    Release(
        "cifar-100-binary",
        "cifar-100-binary.tar.gz",
        {"train": ("train.bin",), "test": ("test.bin",)},
        pickled=False,
    ),
    Release("cifar-100-python", "cifar-100-python.tar.gz", {"train": ("train",), "test": ("test",)}, pickled=True),
)
_PAGE = "https://www.cs.toronto.edu/~kriz/cifar.html"
_SPLITS: Mapping[str, tuple[Any, ...]] = {"split": ("train", "test", "both")}
_PIXELS = (32, 32, 3)
_NO_PICKLE = "Pickles of the Python version are loaded without being run; images of the binary version are mapped."

CIFAR10 = published.PublishedSet(
    name="cifar10",
    title="CIFAR-10",
    publisher="A. Krizhevsky, University of Toronto",
    download=f"cifar-10-binary.tar.gz (170,052,171 bytes) or cifar-10-python.tar.gz, at {_PAGE}",
    licence="none stated",
    provenance="CIFAR-10: A. Krizhevsky, Learning multiple layers of features from tiny images, 2009",
    read=partial(_read_cifar, releases=_CIFAR10),
    grids=published.one_grid(
        _PIXELS,
        published.Factor("class", 10, tuple(_CLASSES.split()), "categorical"),
    ),
    splits={"train": 50_000, "test": 10_000},
    files=(
        published.PublishedFile(
            "cifar-10-binary.tar.gz", 170_052_171, "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
        ),
        published.PublishedFile("cifar-10-python.tar.gz", digest="c58f30108f718f92721af3b95e74349a"),
        published.PublishedFile("data_batch_1", digest="c99cafc152244af753f735de768cd75f"),
        published.PublishedFile("data_batch_2", digest="d4bba439e000b95fd0a9bffe97cbabec"),
        published.PublishedFile("data_batch_3", digest="54ebc095f3ab1f0389bbae665268c751"),
        published.PublishedFile("data_batch_4", digest="634d18415352ddfa80567beed471001a"),
        published.PublishedFile("data_batch_5", digest="482c414d41f54cd18b22e5b47cb7c3cb"),
        published.PublishedFile("test_batch", digest="40351d587109b95175f43aff81a1287e"),
    ),
    options=_SPLITS,
    notes=(
        "images.positions()[:, 0] are the classes as numbers. split='test' has 10,000 images more.",
        _NO_PICKLE,
        "Some of its labels are wrong: demele.data.load_example('label_errors_cifar10') has those of the test half.",
    ),
)
CIFAR100 = published.PublishedSet(
    name="cifar100",
    title="CIFAR-100",
    publisher="A. Krizhevsky, University of Toronto",
    download=f"cifar-100-binary.tar.gz (168,513,733 bytes) or cifar-100-python.tar.gz (169,001,437), at {_PAGE}",
    licence="none stated",
    provenance="CIFAR-100: A. Krizhevsky, Learning multiple layers of features from tiny images, 2009",
    read=partial(_read_cifar, releases=_CIFAR100),
    grids=published.one_grid(
        _PIXELS,
        published.Factor("fine", 100, tuple(_FINE.split()), "categorical"),
        published.Factor("coarse", 20, tuple(_COARSE.split()), "categorical"),
    ),
    splits={"train": 50_000, "test": 10_000},
    files=(
        published.PublishedFile("cifar-100-binary.tar.gz", 168_513_733, "03b5dce01913d631647c71ecec9e9cb8"),
        published.PublishedFile("cifar-100-python.tar.gz", 169_001_437, "eb9058c3a382ffc7106e4002c42a8d85"),
        published.PublishedFile("train", digest="16019d7e3df5f24257cddd939b257f8d"),
        published.PublishedFile("test", digest="f0ef6b0ae62326f3e7ffdfab6717acfc"),
    ),
    options=_SPLITS,
    notes=(
        "images.positions() has the 100 fine classes in column 0 and the 20 coarse ones in column 1; a fine class lies "
        "within one coarse class. split='test' has 10,000 images more.",
        _NO_PICKLE,
        "Some of its labels are wrong: demele.data.load_example('label_errors_cifar100') has those of the test half.",
    ),
)


# SVHN, cropped digits: numbers of houses in files of MATLAB 5, one for each part --------------------------------------

#: The digit 0 has this label.
_ZERO = 10


def _read_svhn(request: published.Request) -> published.Read:
    """Read the labels, and find the images: ``X``, (height, width, channels, n), the first index fastest."""
    splits, pixels = request.options["split"].split("+"), request.grid.pixels
    files = [request.file(f"{split}_32x32.mat") for split in splits]
    images, labels = [], []
    for split, path in zip(splits, files, strict=True):
        n = request.published.splits[split]
        x = matlab_variable(request, path, "X", "uint8", (*pixels, n))
        images.append(x.images(pixels, MATLAB_PIXELS))
        digits = matlab_variable(request, path, "y", "numbers", (n, 1)).whole().ravel()
        wrong = np.flatnonzero(~np.isin(digits, np.arange(1, _ZERO + 1)))
        if wrong.size:
            raise FormatError(f"{path}::y", f"expected labels 1 to {_ZERO}, found {digits[wrong[0]]} at row {wrong[0]}")
        labels.append(digits.astype(np.int64) % _ZERO)
    positions = np.concatenate(labels)[:, None]
    return published.Read(images=published.joined(images), files=tuple(files), positions=positions, repeats=True)


SVHN = published.PublishedSet(
    name="svhn",
    title="SVHN",
    publisher="Y. Netzer et al., Stanford University",
    download="train_32x32.mat, test_32x32.mat and extra_32x32.mat (182,040,794, 64,275,384 and 1,329,278,602 bytes), "
    "at http://ufldl.stanford.edu/housenumbers",
    licence="for non-commercial use",
    provenance="SVHN: Y. Netzer, T. Wang, A. Coates, A. Bissacco, B. Wu and A. Y. Ng, Reading digits in natural images "
    "with unsupervised feature learning, NeurIPS workshop 2011",
    read=_read_svhn,
    grids=published.one_grid(
        (32, 32, 3),
        published.Factor("digit", 10, tuple(range(10)), "categorical"),
    ),
    splits={"train": 73_257, "test": 26_032, "extra": 531_131},
    files=(
        published.PublishedFile(
            "train_32x32.mat", 182_040_794, "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8"
        ),
        published.PublishedFile(
            "test_32x32.mat", 64_275_384, "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b"
        ),
        published.PublishedFile(
            "extra_32x32.mat", 1_329_278_602, "a133a4beb38a00fcdda90c9489e0c04f900b660ce8a316a5e854838379a71eb3"
        ),
    ),
    options={"split": ("train", "test", "extra", "train+extra")},
    notes=(
        "Format 2, the cropped digits. images.positions()[:, 0] are the digits; the file calls the digit 0 a 10. "
        "split='test' has 26,032 images more, split='extra' 531,131.",
        "Its files can be read from front to back only: the part 'train' takes 215 MiB in memory, and 'extra' asks for "
        "cache= a file.",
    ),
)


# Morpho-MNIST: digits with what was measured of them, in idx files and tables -----------------------------------------

#: Columns of the table after the number of the digit.
MEASURED = ("area", "length", "thickness", "slant", "width", "height")
PERTURBATIONS = ("plain", "thinned", "thickened", "swollen", "fractured")
_DIGITS = 10
_MORPHO_PIXELS = (28, 28)


def _read_morpho(request: published.Request) -> published.Read:
    """Read labels and measures, and find the images; files are plain or packed by gzip."""
    split = request.options["split"]
    images, tables, files = [], [], []
    for one in ("train", "t10k") if split == "both" else (split,):
        path = _morpho_file(request, f"{one}-images-idx3-ubyte")
        held = idx_bytes(path)
        n, pixels = held.shape[0], held.shape[1:] if len(held.shape) == 3 else _MORPHO_PIXELS
        request.expect_array(path, held.dtype, held.shape, "uint8", (n, *pixels))
        images.append(held.images((*pixels, 1)))
        labels, measures = (
            _morpho_file(request, f"{one}-labels-idx1-ubyte"),
            request.file(f"{one}-morpho.csv", folder=request.path),
        )
        columns: dict[str, Any] = {"digit": _morpho_classes(request, labels, n, _DIGITS)}
        columns |= dict(zip(MEASURED, _measures(request, measures, n).T, strict=True))
        files += [path, labels, measures]
        if any(request.path.glob(f"{one}-pert-idx1-ubyte*")):
            files.append(_morpho_file(request, f"{one}-pert-idx1-ubyte"))
            columns["perturbation"] = np.array(PERTURBATIONS)[
                _morpho_classes(request, files[-1], n, len(PERTURBATIONS))
            ]
        tables.append(pd.DataFrame(columns))
    if len({one.shape for one in images}) > 1:
        raise FormatError(request.path, "expected images of one size in both halves, found several")
    table = pd.concat(tables, ignore_index=True)
    table["digit"] = pd.Categorical(table["digit"], categories=range(_DIGITS))
    if "perturbation" in table:
        if table["perturbation"].isna().any():
            raise FormatError(request.path, "expected perturbations of both halves, or of none; found those of one")
        table["perturbation"] = pd.Categorical(table["perturbation"], categories=PERTURBATIONS)
    return published.Read(images=published.joined(images), files=tuple(files), table=table)


def _morpho_file(request: published.Request, name: str) -> Path:
    return request.file(name, f"{name}.gz", folder=request.path)


def _morpho_classes(request: published.Request, path: Path, n: int, most: int) -> Bytes:
    held = idx_bytes(path)
    request.expect_array(path, held.dtype, held.shape, "uint8", (n,))
    values: Bytes = held.whole()
    if values.max() >= most:
        raise FormatError(path, f"expected numbers from 0 to {most - 1}, found {values.max()}")
    return values


def _measures(request: published.Request, path: Path, n: int) -> Floats:
    with opened(path) as file, parsing(f"{path}: not a table of measures that can be read"):
        rows = csv.reader(file)
        names = tuple(next(rows, ()))
        request.expect(path, ", ".join(names), ", ".join(("index", *MEASURED)))
        values = np.array([[float(cell) for cell in row] for row in rows], dtype=np.float64)
    request.expect_array(path, values.dtype, values.shape, "numbers", (n, 1 + len(MEASURED)))
    if (values[:, 0] != np.arange(n)).any():
        raise FormatError(path, "expected index 0, 1, 2, ..., found another order")
    if not np.isfinite(values).all():
        raise FormatError(path, f"found {int((~np.isfinite(values)).sum())} measures that are no finite numbers")
    return values[:, 1:]


MORPHO_MNIST = published.PublishedSet(
    name="morpho_mnist",
    title="Morpho-MNIST",
    publisher="D. C. Castro et al.",
    download="an archive of 13 to 17 MB for each variant, at https://github.com/dccastro/Morpho-MNIST",
    licence="as the page of the download says",
    provenance="Morpho-MNIST: D. C. Castro, J. Tan, B. Kainz, E. Konukoglu and B. Glocker, JMLR 2019",
    read=_read_morpho,
    options={"split": ("train", "t10k", "both")},
    notes=("Factors were measured, not set: they are no grid, and depend on each other and on the digit.",),
)


# PASCAL VOC 2012 ------------------------------------------------------------------------------------------------------

_VOC_CLASSES = (
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog"),
    *("horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor"),
)
_SIDES = ("xmin", "ymin", "xmax", "ymax")
#: Bytes of the largest annotation that is read; the published ones have at most 40,000.
_MOST = 1 << 20


def class_of_picture(objects: Sequence[tuple[str, float]]) -> str | None:
    """Return the class of a picture, or None if it has none.

    It is that of all its objects, or of the largest, if that is at least twice as large as the second largest.

    Parameters
    ----------
    objects : sequence of (class, area of its box)

    Examples
    --------
    >>> class_of_picture([("dog", 10), ("dog", 9)]), class_of_picture([("dog", 10), ("cat", 5)])
    ('dog', 'dog')
    >>> class_of_picture([("dog", 10), ("cat", 6)]) is None
    True
    """
    ranked = sorted(objects, key=lambda one: -one[1])
    if len({name for name, _ in ranked}) > 1 and ranked[0][1] < 2 * ranked[1][1]:
        return None
    return ranked[0][0] if ranked else None


def _objects(path: Path) -> list[tuple[str, float]]:
    """Return class and area of every object of an annotation; parts of persons are none."""
    from xml.etree import ElementTree

    content = read_whole(path)
    if len(content) > _MOST or b"<!" in content:  # no entities: they may unfold to any size
        raise FormatError(path, "expected an annotation of objects: at most 1 MiB of XML without declarations")
    with parsing(f"{path}: not an annotation that can be read; copy it again"):
        found = []
        for one in ElementTree.fromstring(content).iterfind("object"):
            left, top, right, bottom = (float(one.findtext(f"bndbox/{side}", "")) for side in _SIDES)
            found.append((one.findtext("name", ""), (right - left) * (bottom - top)))
            if not found[-1][1] > 0:
                raise ValueError("a box without an area")
    odd = sorted({name for name, _ in found} - set(_VOC_CLASSES))
    if odd:
        raise FormatError(path, f"expected the 20 classes of PASCAL VOC, found {listed(odd)}")
    return found


class _Pictures(StoredArray):
    """Pictures in JPEG, each made square of one size when it is asked for."""

    def __init__(self, files: Sequence[Path], side: int) -> None:
        self._files, self._side = tuple(files), side
        self.shape, self.dtype = (len(files), side, side, 3), np.dtype(np.uint8)

    def __getitem__(self, rows: slice | Counts) -> Bytes:
        """Read some pictures."""
        opened = require("PIL.Image", purpose="PASCAL VOC").open
        found = np.empty((len(np.arange(len(self))[rows]), *self.shape[1:]), dtype=np.uint8)
        for place, row in enumerate(np.arange(len(self))[rows].tolist()):
            path = self._files[row]
            with parsing(f"{path}: not a picture that can be read; copy it again"), path.open("rb") as file:
                picture = opened(file, formats=["JPEG"])
                found[place] = picture.convert("RGB").resize((self._side, self._side), reducing_gap=3.0)
        return found


def _read_voc(request: published.Request) -> published.Read:
    """Read all annotations, and keep the pictures that have a class."""
    require("PIL.Image", purpose="PASCAL VOC")
    inner = request.path / "VOCdevkit" / "VOC2012"
    folder = inner if inner.is_dir() else request.path
    annotations = folder / "Annotations"
    if not annotations.is_dir():
        raise request.no_file(annotations)
    listing = request.file(f"{request.options['split']}.txt", folder=folder / "ImageSets" / "Main")
    names = read_whole(listing).decode("utf-8", "replace").split()
    odd = [name for name in names if not re.fullmatch(r"2\d{3}_\d{6}", name)]
    if odd or not names:
        raise FormatError(listing, f"expected names such as 2007_000027, found {listed(odd) or 'none'}")
    classes = [class_of_picture(_objects(annotations / f"{name}.xml")) for name in names]
    kept = [(name, _VOC_CLASSES.index(one)) for name, one in zip(names, classes, strict=True) if one is not None]
    request.note(listing, f"{len(names):,} pictures", f"{len(names):,} pictures", "fits")
    files = [request.file(f"{name}.jpg", folder=folder / "JPEGImages") for name, _ in kept]
    side = request.options["pixels"]
    if not files:
        raise FormatError(listing, f"expected pictures of one class, found none among {len(names):,}")
    return published.Read(
        images=published.Images(str(folder), len(files), (side, side, 3), _Pictures(files, side)),
        files=(listing, *(files[place] for place in spread(len(files)))),
        positions=np.array([place for _, place in kept], dtype=np.int64)[:, None],
        labelled=annotations,
        repeats=True,
    )


VOC2012 = published.PublishedSet(
    name="voc2012",
    title="PASCAL VOC 2012",
    publisher="M. Everingham et al., University of Oxford",
    download="VOCtrainval_11-May-2012.tar, 1,999,639,040 bytes, unpacked, at "
    "http://host.robots.ox.ac.uk/pascal/VOC/voc2012",
    licence="pictures of flickr, under its terms of use",
    provenance="PASCAL VOC 2012: M. Everingham, L. Van Gool, C. K. I. Williams, J. Winn and A. Zisserman, The PASCAL "
    "Visual Object Classes Challenge 2012",
    read=_read_voc,
    grids=published.one_grid((64, 64, 3), published.Factor("class", 20, _VOC_CLASSES, "categorical")),
    splits={"trainval": 9_340},
    options={"split": ("trainval", "train", "val"), "pixels": (64, 32, 128, 256)},
    notes=(
        "Of each picture one class: that of all its objects, or of the largest box, if it has at least twice the area "
        "of the second largest; others are left out. Pictures are squeezed to pixels= a side.",
    ),
)

#: All of them, in the order in which they are listed.
SETS = (MORPHO_MNIST, CIFAR10, CIFAR100, SVHN, VOC2012)
