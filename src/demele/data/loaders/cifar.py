"""CIFAR-10 and CIFAR-100: small photographs of classes of things, as rows of bytes or in pickles that are not run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.reading import parsing, read_whole, regular_file
from demele.data.loaders.cifar_names import CIFAR10_NAMES, COARSE_NAMES, FINE_NAMES
from demele.data.loaders.inert_pickles import ByteArray, Taken, Text, take_apart
from demele.data.loaders.planes import PlaneStore
from demele.data.loaders.published import (
    Description,
    Factor,
    Grid,
    Opened,
    PublishedFile,
    PublishedSet,
    Request,
    places_of_labels,
)
from demele.data.loaders.stores import joined
from demele.data.loaders.tar_files import listed, members_named
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


@dataclass(frozen=True, slots=True)
class _Part:
    """Images and labels of one file; labels by factor."""

    store: PlaneStore
    labels: Mapping[str, NDArray[np.int64]]


# What there is -------------------------------------------------------------------------------------------------------


def read_cifar(request: Request, releases: Sequence[Release]) -> Opened:
    """Find the files in one of their formats, and read the labels."""
    split = request.options["split"]
    splits = tuple(request.published.splits) if split == "both" else (split,)
    release, held, files = _found(request, releases, splits)
    grid = _named(request, release, held)
    parts = []
    for one in splits:
        rows = request.published.splits[one] // len(release.files[one])
        for name in release.files[one]:
            what = _what(request, name, held[name])
            read = _pickled if release.pickled else _plain
            parts.append(read(request, release, what, held[name], rows))
            _check_labels(what, parts[-1].labels, grid)
    labels = {factor.name: np.concatenate([part.labels[factor.name] for part in parts]) for factor in grid.factors}
    return Opened(joined([part.store for part in parts]), files, grid.space(), places=places_of_labels(grid, labels))


def _found(
    request: Request, releases: Sequence[Release], splits: Sequence[str]
) -> tuple[Release, dict[str, Held], tuple[Path, ...]]:
    """Return the format of somebody's copy, its files by name, and those by which it is recognised."""
    path = request.path
    if not path.is_dir():
        return _in_archive(request, path, releases, splits)
    for release in releases:
        wanted = [name for one in splits for name in release.files[one]]
        for folder in (path, path / release.folder):
            if any((folder / name).exists() for name in wanted):
                missing = [name for name in wanted if not (folder / name).exists()]
                if missing:
                    raise request.no_file(folder / missing[0])
                names = [name for name in release.every_file if (folder / name).exists()]
                held: dict[str, Held] = {name: folder / name for name in names}
                return release, held, tuple(folder / name for name in wanted)
    archives = [path / release.archive for release in releases if (path / release.archive).exists()]
    if archives:
        return _in_archive(request, archives[0], releases, splits)
    raise request.no_file(path / releases[0].files[splits[0]][0])


def _in_archive(
    request: Request, path: Path, releases: Sequence[Release], splits: Sequence[str]
) -> tuple[Release, dict[str, Held], tuple[Path, ...]]:
    wanted = {release.archive: [name for one in splits for name in release.files[one]] for release in releases}
    names = {name for names in wanted.values() for name in names}
    names |= {file for release in releases for file, _ in release.names.values()}
    sizes = request.published.splits.values()
    held, every = members_named(path, names, max(sizes) * _ROW + _REST, sum(sizes) * _ROW + 2 * _REST)
    for release in releases:
        found = [name for name in wanted[release.archive] if name in held]
        if len(found) == len(wanted[release.archive]):
            return release, dict(held), (path,)
        if found:
            missing = next(name for name in wanted[release.archive] if name not in held)
            request.note(f"{path}::{missing}", "nothing", "a file", "missing")
            raise FormatError(path, f"expected a file {quoted(missing)} in it, found {listed(every)}")
    expected = " or ".join(quoted(wanted[release.archive][0]) for release in releases)
    request.note(path, listed(every), expected, "differs")
    raise FormatError(
        path, f"expected files such as {expected} in it, found {listed(every)}; is it {request.published.title}?"
    )


def _what(request: Request, name: str, held: Held) -> str:
    """Return a file as messages name it."""
    return str(held) if isinstance(held, Path) else f"{request.path}::{name}"


# Rows of bytes -------------------------------------------------------------------------------------------------------


def _plain(request: Request, release: Release, what: str, held: Held, n: int) -> _Part:
    """Look at a file of rows: a byte for each label, then the image."""
    skipped, pixels = len(release.labels), request.grid.pixels
    row = skipped + int(np.prod(pixels))
    found = regular_file(held) if isinstance(held, Path) else len(held)
    request.expect(
        what,
        f"{found:,} bytes",
        f"{n * row:,} bytes",
        remedy=f"{n:,} rows of {row:,} bytes, of which {skipped} for labels, were published; copy it again",
    )
    if isinstance(held, Path):
        rows: MappedArray | NDArray[np.uint8] = MappedArray(held, 0, (n, row), np.dtype(np.uint8))
    else:
        rows = np.frombuffer(held, np.uint8).reshape(n, row)
    labels = {name: rows[:][:, place].astype(np.int64) for place, name in enumerate(release.labels)}
    return _Part(PlaneStore(what, rows, pixels, skipped=skipped), labels)


# Pickles -------------------------------------------------------------------------------------------------------------


def _pickled(request: Request, release: Release, what: str, held: Held, n: int) -> _Part:
    """Look at a pickle with ``data``, (n, pixels) of uint8, and a list of labels for each factor."""
    taken = _taken_apart(what, held, n)
    missing = [key for key in ("data", *release.labels.values()) if key not in taken.held]
    if missing:
        raise FormatError(
            what, f"expected {quoted(missing[0])} in it, found {listed(taken.held)}; is it {request.published.title}?"
        )
    pixels, data = request.grid.pixels, taken.held["data"]
    expected = Description("uint8", (n, int(np.prod(pixels))))
    found = Description("uint8", data.shape) if isinstance(data, ByteArray) else type(data).__name__
    request.expect(f"{what}::data", found, expected)
    labels = {name: _listed_labels(f"{what}::{key}", taken.held[key], n) for name, key in release.labels.items()}
    return _Part(PlaneStore(what, _rows(taken, data, held), pixels), labels)


def _taken_apart(what: str, held: Held, n: int) -> Taken:
    if isinstance(held, Path):
        size = regular_file(held)
        if size > n * _ROW + _REST:
            raise FormatError(what, f"expected at most {n * _ROW + _REST:,} bytes, found {size:,}")
        with parsing(f"{what}: not a pickle that can be read"):
            content = np.memmap(held, np.uint8, "r").data if size else memoryview(b"")
    else:
        content = memoryview(held)
    return take_apart(what, content, n * _OPCODES + _REST)


def _rows(taken: Taken, data: ByteArray, held: Held) -> MappedArray | NDArray[np.uint8]:
    """Return the images of a pickle: mapped where its bytes stand in a file as they are."""
    if isinstance(held, Path) and data.text is not None and data.text.encoding == "latin-1":
        return MappedArray(held, data.text.start, data.shape, np.dtype(np.uint8), columns_first=data.columns_first)
    return taken.array(data)


def _listed_labels(what: str, held: Any, n: int) -> NDArray[np.int64]:
    if not isinstance(held, list) or not all(type(one) is int for one in held):
        raise FormatError(what, "expected a list of whole numbers, found something else")
    if len(held) != n:
        raise FormatError(what, f"expected {n:,} labels, found {len(held):,}")
    with parsing(f"{what}: labels that are none"):
        return np.array(held, dtype=np.int64)


# Labels and their names ----------------------------------------------------------------------------------------------


def _check_labels(what: str, labels: Mapping[str, NDArray[np.int64]], grid: Grid) -> None:
    for factor in grid.factors:
        own = labels[factor.name]
        wrong = np.flatnonzero((own < 0) | (own >= factor.size))
        if wrong.size:
            raise FormatError(
                what,
                f"expected labels of {factor.name} from 0 to {factor.size - 1}, found {own[wrong[0]]} at row "
                f"{wrong[0]}",
            )


def _named(request: Request, release: Release, held: Mapping[str, Held]) -> Grid:
    """Return the grid with the names of classes that lie beside the images, or where none do the published ones."""
    factors = []
    for factor in request.grid.factors:
        file, key = release.names[factor.name]
        if file in held:
            what = _what(request, file, held[file])
            names = _pickled_names(what, held[file], key) if release.pickled else _plain_names(what, held[file])
            if len(names) != factor.size or len(set(names)) != len(names):
                raise FormatError(
                    what,
                    f"expected {factor.size} different names of {factor.name}, found {len(names)}, "
                    f"{len(set(names))} of them different",
                )
            factor = replace(factor, values=names)
        factors.append(factor)
    return replace(request.grid, factors=tuple(factors))


def _plain_names(what: str, held: Held) -> tuple[str, ...]:
    if isinstance(held, Path) and regular_file(held) > _LARGEST_NAMES:
        raise FormatError(what, f"expected at most {_LARGEST_NAMES:,} bytes of names")
    content = read_whole(held) if isinstance(held, Path) else held
    with parsing(f"{what}: names that are no text in UTF-8"):
        return tuple(line.strip() for line in content.decode("utf-8").splitlines() if line.strip())


def _pickled_names(what: str, held: Held, key: str) -> tuple[str, ...]:
    taken = _taken_apart(what, held, 0)
    names = taken.held.get(key)
    if not isinstance(names, list) or not all(isinstance(one, Text) for one in names):
        raise FormatError(what, f"expected a list of names under {quoted(key)}, found {listed(taken.held)}")
    with parsing(f"{what}: names that are no text"):
        return tuple(map(taken.text, names))


# The sets ------------------------------------------------------------------------------------------------------------

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
_NO_PICKLE = "Pickles of the Python version are taken apart without being run; images of the binary version are mapped."

CIFAR10 = PublishedSet(
    name="cifar10",
    title="CIFAR-10",
    publisher="A. Krizhevsky, University of Toronto",
    download=f"cifar-10-binary.tar.gz (170,052,171 bytes) or cifar-10-python.tar.gz, at {_PAGE}",
    licence="none stated",
    provenance="CIFAR-10: A. Krizhevsky, Learning multiple layers of features from tiny images, 2009",
    read=partial(read_cifar, releases=_CIFAR10),
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
    read=partial(read_cifar, releases=_CIFAR100),
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
