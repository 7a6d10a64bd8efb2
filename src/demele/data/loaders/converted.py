"""A set of images as one ``.npy`` that is mapped; what it holds stands behind the array, where NumPy does not look.

It is written to a temporary file and then renamed: after a kill at any moment there is the old or the new file. Behind
the images: a line of JSON; the factors of a set that is no grid, column by column as float64, or the rows of a space
that images share, as int64; and at the very end the length of both, a checksum of them, and a mark.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from demele.core.errors import FormatError, InputError, quoted
from demele.core.npy_files import read_header
from demele.core.outputs import check_room, writing_whole
from demele.core.reading import check_nesting, parsing, regular_file
from demele.core.version import __version__
from demele.data.loaders.stored_images import Images, StoredImages
from demele.data.mapped import MappedArray
from demele.data.space import FactorSpace
from demele.runtime.progress import Report

_END = struct.Struct("<Q16s16s")
_MARK = b"demele images 2\n"


def convert(
    images: StoredImages, path: Path, made_from: Mapping[str, Any], *, report: Report | None = None
) -> StoredImages:
    """Write the images of a set in its order, in one pass over its files, and return them from there.

    Parameters
    ----------
    images : StoredImages
        Of the size that is asked for.
    path : Path
        Ends in ``.npy``.
    made_from : mapping
        The name of the set, its variant and options; plain values.
    report : callable(done, total, label), optional

    Raises
    ------
    OutputError
        If it cannot be written, or the disk has no room. A file that was there is untouched.
    FormatError
        If a file of the set is damaged.
    """
    n, each = len(images), math.prod(images.shape)
    header, factors = io.BytesIO(), b""
    npy.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (n, *images.shape)})
    start = len(header.getvalue())
    columns: list[Mapping[str, Any]] = []
    if images.space is None:  # the factors, classes by their numbers, whose names the columns say
        for name, column in images.factors().items():
            classes = column.cat.categories.tolist() if hasattr(column, "cat") else None
            columns.append({"name": str(name), "classes": classes})
            factors += (column if classes is None else column.cat.codes).to_numpy("<f8").tobytes()
    else:  # the rows of the space, where they are not all of them in order
        places = images.space.index(images.positions())
        if not np.array_equal(places, np.arange(len(images.space))):
            factors = places.astype("<i8").tobytes()
    facts = {
        "demele": __version__,
        **{name: getattr(images, name) for name in ("name", "digest", "provenance", "licence")},
        "made_from": dict(made_from),
        "space": None if images.space is None else images.space.to_dict(),
        "columns": columns,
    }
    behind = json.dumps(facts, allow_nan=False).encode() + b"\n" + factors
    check_room(path, n * each)
    with writing_whole(path) as whole:
        whole.write(header.getvalue(), at=0)
        written = 0
        for rows, pixels in images.in_order_of_files():
            breaks = np.flatnonzero(np.diff(rows) != 1) + 1  # rows that follow each other are written at once
            for run, held in zip(np.split(rows, breaks), np.split(pixels, breaks), strict=True):
                if run.size:
                    whole.write(np.ascontiguousarray(held).data.cast("B"), at=start + int(run[0]) * each)
            written += len(rows)
            if report is not None:
                report(written, n, f"images of {images.name}")
        whole.write(behind + _END.pack(len(behind), _checksum(behind), _MARK), at=start + n * each)
    return open_converted(path)[0]


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def is_converted(path: Path) -> bool:
    """Whether a file is one of converted images, by its end."""
    with path.open("rb") as file:
        file.seek(max(0, regular_file(path) - len(_MARK)))
        return file.read() == _MARK


def open_converted(path: Path) -> tuple[StoredImages, dict[str, Any]]:
    """Return a set that was converted, whose images are mapped, and what it was made from.

    Raises
    ------
    FormatError
        If the file is damaged, cut off, or was not made so.
    """
    size = regular_file(path)
    with (
        path.open("rb") as file,
        parsing(f"{path}: damaged, cut off, or not made by demele lab data convert; convert the set again"),
    ):
        header = read_header(path, file)
        start = file.tell()
        file.seek(max(0, size - _END.size))
        length, checksum, mark = _END.unpack(file.read())
        if mark != _MARK or size != start + header.size + length + _END.size:
            raise ValueError("its end is not what it should be")
        file.seek(start + header.size)
        behind = file.read(length)
        if _checksum(behind) != checksum:
            raise ValueError("what stands behind the images was changed")
        text, _, factors = behind.partition(b"\n")
        check_nesting(path, text)
        facts = json.loads(text)
        about: dict[str, Any] = {name: str(facts[name]) for name in ("name", "digest", "provenance", "licence")}
        n, *shape = header.shape
        height, width, channels = shape
        if header.dtype != np.uint8 or header.columns_first:
            raise ValueError("it holds no images")
        rows = MappedArray(path, start, header.shape, header.dtype)
        images = Images(str(path), n, (height, width, channels), rows)
        space = table = places = None
        if facts["space"] is None:
            import pandas as pd

            table = pd.DataFrame(index=pd.RangeIndex(n))
            for one, values in zip(facts["columns"], np.frombuffer(factors, "<f8").reshape(-1, n), strict=True):
                classes = one["classes"]
                table[one["name"]] = (
                    values if classes is None else pd.Categorical.from_codes(values.astype(int), pd.Index(classes))
                )
        else:
            space = FactorSpace.from_json(json.dumps(facts["space"]))
            places = np.frombuffer(factors, "<i8").astype(np.int64) if factors else None
            if places is not None and (places.min() < 0 or places.max() >= len(space)):
                raise ValueError("it has rows of a space that there are not")
        return StoredImages(images, space=space, table=table, places=places, **about), dict(facts["made_from"])


def cached(path: Path, digest: str) -> StoredImages | None:
    """Return the converted set that a file holds; None if it is to be made.

    Raises
    ------
    InputError
        If there is another file of that name, or one with other images.
    """
    if path.suffix != ".npy":
        raise InputError("cache", f"expected a file that ends in .npy, got {quoted(str(path))}")
    if not path.exists():
        return None
    try:
        found = open_converted(path)[0]
    except FormatError as error:
        raise InputError(
            "cache", f"{path} was not made by demele, or is damaged", "name another, or delete it"
        ) from error
    if found.digest != digest:
        size = " x ".join(map(str, found.shape))
        raise InputError(
            "cache", f"{path} holds {found.name} of {size} from other files or options", "name another, or delete it"
        )
    return found
