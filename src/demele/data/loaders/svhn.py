"""SVHN, cropped digits: numbers of houses in files of MATLAB 5, one for each part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError, quoted
from demele.data.loaders.matlab_files import Variable, numbers_of, read_numbers, variables
from demele.data.loaders.planes import PlaneStore, from_planes
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
from demele.data.loaders.stores import Pixels, Shape, Store, joined
from demele.data.loaders.tar_files import listed
from demele.data.mapped import MappedArray

#: The digit 0 has this label.
_ZERO = 10


def read_svhn(request: Request) -> Opened:
    """Read the labels, and find the images."""
    splits = tuple(request.options["split"].split("+"))
    files = tuple(_file(request, split, len(splits)) for split in splits)
    stores, labels = [], []
    for split, path in zip(splits, files, strict=True):
        held = variables(path, request.published.title)
        n = request.published.splits[split]
        stores.append(_images(request, path, held, n))
        labels.append(_digits(request, path, held, n))
    digits = {request.grid.factors[0].name: np.concatenate(labels)}
    return Opened(joined(stores), files, request.grid.space(), places=places_of_labels(request.grid, digits))


def _file(request: Request, split: str, splits: int) -> Path:
    """Return the file of a part: in the folder that was given, or the file itself unless it is another part's."""
    name = _name(split)
    if request.path.is_dir():
        path = request.path / name
        if not path.exists():
            raise request.no_file(path)
        return path
    if splits > 1:
        raise InputError("path", f"{request.path} is one file, and two were asked for; give the folder that holds them")
    other = next((one for one in request.published.splits if _name(one) == request.path.name and one != split), None)
    if other is not None:
        raise InputError("split", f"{request.path} is the part {quoted(other)}, and {quoted(split)} was asked for")
    return request.path


def _name(split: str) -> str:
    return f"{split}_32x32.mat"


def _images(request: Request, path: Path, held: dict[str, Variable], n: int) -> Store:
    """Return the images: ``X``, (height, width, channels, n), the first index fastest."""
    pixels = request.grid.pixels
    found = _variable(request, path, held, "X")
    request.expect(f"{path}::X", Description(found.kind, found.shape), Description("uint8", (*pixels, n)))
    if found.stored != np.uint8:
        raise FormatError(f"{path}::X", f"expected bytes, found {found.stored}")
    if found.packed:
        return PackedPlanes(found, pixels)
    rows = MappedArray(path, found.place + found.begins, (n, int(np.prod(pixels))), np.dtype(np.uint8))
    return PlaneStore(str(path), rows, pixels, columns_first=True)


def _digits(request: Request, path: Path, held: dict[str, Variable], n: int) -> NDArray[np.int64]:
    """Return the digits: ``y``, (n, 1), where 10 is the digit 0."""
    found = _variable(request, path, held, "y")
    request.expect(f"{path}::y", Description("numbers", found.shape), Description("numbers", (n, 1)))
    labels = read_numbers(found).ravel()
    wrong = np.flatnonzero(~np.isin(labels, np.arange(1, _ZERO + 1)))
    if wrong.size:
        raise FormatError(
            f"{path}::y",
            f"expected labels from 1 to {_ZERO}, which is the digit 0; found {labels[wrong[0]]} at row {wrong[0]}",
        )
    return labels.astype(np.int64) % _ZERO


def _variable(request: Request, path: Path, held: dict[str, Variable], name: str) -> Variable:
    if name not in held:
        request.note(f"{path}::{name}", "nothing", "an array", "missing")
        raise FormatError(
            path, f"expected a variable {quoted(name)}, found {listed(held)}; format 2, the cropped digits, is read"
        )
    return held[name]


class PackedPlanes(Store):
    """Images of a variable that zlib packed: read from front to back, each time anew."""

    def __init__(self, variable: Variable, shape: Shape) -> None:
        super().__init__(str(variable.path), variable.shape[-1], shape)
        self._variable = variable

    def blocks(self) -> Iterator[tuple[int, Pixels]]:
        """Yield all images; see :meth:`Store.blocks`.

        Raises
        ------
        FormatError
            If the file is damaged: what was packed carries a checksum.
        """
        each = int(np.prod(self.shape))
        with numbers_of(self._variable) as take:
            for start in range(0, self.n, self.per_block):
                count = min(self.per_block, self.n - start)
                stored = np.frombuffer(take(count * each), np.uint8).reshape(count, each)
                yield start, from_planes(stored, self.shape, columns_first=True)


SVHN = PublishedSet(
    name="svhn",
    title="SVHN",
    publisher="Y. Netzer et al., Stanford University",
    download="train_32x32.mat, test_32x32.mat and extra_32x32.mat (182,040,794, 64,275,384 and 1,329,278,602 bytes), "
    "at http://ufldl.stanford.edu/housenumbers",
    licence="for non-commercial use",
    provenance="SVHN: Y. Netzer, T. Wang, A. Coates, A. Bissacco, B. Wu and A. Y. Ng, Reading digits in natural images "
    "with unsupervised feature learning, NeurIPS workshop 2011",
    read=read_svhn,
    grids={"": Grid((Factor("digit", 10, tuple(range(10)), "categorical"),), (32, 32, 3))},
    splits={"train": 73_257, "test": 26_032, "extra": 531_131},
    files=(
        PublishedFile(
            _name("train"),
            size=182_040_794,
            sha256="435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
            md5="e26dedcc434d2e4c54c9b2d4a06d8373",
        ),
        PublishedFile(
            _name("test"),
            size=64_275_384,
            sha256="cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
            md5="eb5a983be6a315427106f1b164d9cef3",
        ),
        PublishedFile(
            _name("extra"),
            size=1_329_278_602,
            sha256="a133a4beb38a00fcdda90c9489e0c04f900b660ce8a316a5e854838379a71eb3",
            md5="a93ce644f1a588dc4d68dda5feec44a7",
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
