"""PASCAL VOC 2012: pictures of one object, or of one that is at least twice as large as any of another class."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, listed
from demele.core.extras import require
from demele.core.reading import parsing, read_whole
from demele.data.loaders.published import Factor, PublishedSet, Read, Request, one_grid
from demele.data.loaders.stored_images import Images
from demele.data.mapped import StoredArray

_CLASSES = (
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog"),
    *("horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor"),
)
_SIDES = ("xmin", "ymin", "xmax", "ymax")
#: Bytes of the largest annotation that is read; the published ones have at most 40,000.
_MOST = 1 << 20
#: Pictures by which a copy is recognised.
_SAMPLED = 64


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
    odd = sorted({name for name, _ in found} - set(_CLASSES))
    if odd:
        raise FormatError(path, f"expected the 20 classes of PASCAL VOC, found {listed(odd)}")
    return found


class _Pictures(StoredArray):
    """Pictures in JPEG, each made square of one size when it is asked for."""

    def __init__(self, files: Sequence[Path], side: int) -> None:
        self._files, self._side = tuple(files), side
        self.shape, self.dtype = (len(files), side, side, 3), np.dtype(np.uint8)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> NDArray[np.uint8]:
        """Read some pictures."""
        opened = require("PIL.Image", purpose="PASCAL VOC").open
        found = np.empty((len(np.arange(len(self))[rows]), *self.shape[1:]), dtype=np.uint8)
        for place, row in enumerate(np.arange(len(self))[rows].tolist()):
            path = self._files[row]
            with parsing(f"{path}: not a picture that can be read; copy it again"), path.open("rb") as file:
                picture = opened(file, formats=["JPEG"])
                found[place] = picture.convert("RGB").resize((self._side, self._side), reducing_gap=3.0)
        return found


def _read(request: Request) -> Read:
    """Read all annotations, and keep the pictures that have a class."""
    require("PIL.Image", purpose="PASCAL VOC")
    inner = request.path / "VOCdevkit" / "VOC2012"
    folder = inner if inner.is_dir() else request.path
    annotations = folder / "Annotations"
    if not annotations.is_dir():
        raise request.no_file(annotations)
    listing = folder / "ImageSets" / "Main" / f"{request.options['split']}.txt"
    if not listing.is_file():
        raise request.no_file(listing)
    names = read_whole(listing).decode("utf-8", "replace").split()
    odd = [name for name in names if not re.fullmatch(r"2\d{3}_\d{6}", name)]
    if odd or not names:
        raise FormatError(listing, f"expected names such as 2007_000027, found {listed(odd) or 'none'}")
    classes = [class_of_picture(_objects(annotations / f"{name}.xml")) for name in names]
    kept = [(name, _CLASSES.index(one)) for name, one in zip(names, classes, strict=True) if one is not None]
    request.note(listing, f"{len(names):,} pictures", f"{len(names):,} pictures", "fits")
    files = [folder / "JPEGImages" / f"{name}.jpg" for name, _ in kept]
    missing = [one.name for one in files if not one.is_file()]
    if missing:
        raise FormatError(folder / "JPEGImages", f"{len(missing):,} pictures are missing: {listed(missing)}")
    side = request.options["pixels"]
    if not files:
        raise FormatError(listing, f"expected pictures of one class, found none among {len(names):,}")
    sampled = np.unique(np.linspace(0, len(files) - 1, _SAMPLED).astype(int))
    return Read(
        images=Images(str(folder), len(files), (side, side, 3), _Pictures(files, side)),
        files=(listing, *(files[place] for place in sampled)),
        positions=np.array([place for _, place in kept], dtype=np.int64)[:, None],
        labelled=annotations,
        repeats=True,
    )


VOC2012 = PublishedSet(
    name="voc2012",
    title="PASCAL VOC 2012",
    publisher="M. Everingham et al., University of Oxford",
    download="VOCtrainval_11-May-2012.tar, 1,999,639,040 bytes, unpacked, at "
    "http://host.robots.ox.ac.uk/pascal/VOC/voc2012",
    licence="pictures of flickr, under its terms of use",
    provenance="PASCAL VOC 2012: M. Everingham, L. Van Gool, C. K. I. Williams, J. Winn and A. Zisserman, The PASCAL "
    "Visual Object Classes Challenge 2012",
    read=_read,
    grids=one_grid((64, 64, 3), Factor("class", 20, _CLASSES, "categorical")),
    splits={"trainval": 9_340},
    options={"split": ("trainval", "train", "val"), "pixels": (64, 32, 128, 256)},
    notes=(
        "Of each picture one class: that of all its objects, or of the largest box, if it has at least twice the area "
        "of the second largest; others are left out. Pictures are squeezed to pixels= a side.",
    ),
)
