"""SVHN, cropped digits: numbers of houses in files of MATLAB 5, one for each part."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from demele.core.errors import FormatError, InputError, quoted
from demele.data.loaders.matrix_files import MATLAB_PIXELS, matlab_variable
from demele.data.loaders.published import Factor, PublishedFile, PublishedSet, Read, Request, one_grid
from demele.data.loaders.stored_images import joined

#: The digit 0 has this label.
_ZERO = 10


def _read(request: Request) -> Read:
    """Read the labels, and find the images: ``X``, (height, width, channels, n), the first index fastest."""
    splits, pixels = request.options["split"].split("+"), request.grid.pixels
    files = [_file(request, split, len(splits)) for split in splits]
    images, labels = [], []
    for split, path in zip(splits, files, strict=True):
        n = request.published.splits[split]
        x = matlab_variable(request, path, "X", "uint8", (*pixels, n))
        images.append(x.images(pixels, MATLAB_PIXELS))
        digits = matlab_variable(request, path, "y", "numbers", (n, 1)).whole().ravel()
        wrong = np.flatnonzero(~np.isin(digits, np.arange(1, _ZERO + 1)))
        if wrong.size:
            raise FormatError(
                f"{path}::y",
                f"expected labels from 1 to {_ZERO}, which is the digit 0; found {digits[wrong[0]]} at row {wrong[0]}",
            )
        labels.append(digits.astype(np.int64) % _ZERO)
    positions = np.concatenate(labels)[:, None]
    return Read(images=joined(images), files=tuple(files), positions=positions, repeats=True)


def _file(request: Request, split: str, splits: int) -> Path:
    """Return the file of a part: in the folder that was given, or the file itself unless it is another part's."""
    if not request.path.is_dir():
        other = [one for one in request.published.splits if _name(one) == request.path.name and one != split]
        if splits > 1:
            raise InputError(
                "path", f"{request.path} is one file, and two were asked for; give the folder that holds them"
            )
        if other:
            raise InputError(
                "split", f"{request.path} is the part {quoted(other[0])}, and {quoted(split)} was asked for"
            )
    return request.file(_name(split))


def _name(split: str) -> str:
    return f"{split}_32x32.mat"


SVHN = PublishedSet(
    name="svhn",
    title="SVHN",
    publisher="Y. Netzer et al., Stanford University",
    download="train_32x32.mat, test_32x32.mat and extra_32x32.mat (182,040,794, 64,275,384 and 1,329,278,602 bytes), "
    "at http://ufldl.stanford.edu/housenumbers",
    licence="for non-commercial use",
    provenance="SVHN: Y. Netzer, T. Wang, A. Coates, A. Bissacco, B. Wu and A. Y. Ng, Reading digits in natural images "
    "with unsupervised feature learning, NeurIPS workshop 2011",
    read=_read,
    grids=one_grid(
        (32, 32, 3),
        Factor("digit", 10, tuple(range(10)), "categorical"),
    ),
    splits={"train": 73_257, "test": 26_032, "extra": 531_131},
    files=(
        PublishedFile(_name("train"), 182_040_794, "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8"),
        PublishedFile(_name("test"), 64_275_384, "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b"),
        PublishedFile(
            _name("extra"), 1_329_278_602, "a133a4beb38a00fcdda90c9489e0c04f900b660ce8a316a5e854838379a71eb3"
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
