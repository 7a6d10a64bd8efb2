"""Images that lie in files, in the order of the files; and sets of them, in the order of their grids."""

from __future__ import annotations

import hashlib
import io
import json
import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from demele.core.array_files import read_header
from demele.core.errors import FormatError, InputError, quoted
from demele.core.lazy import pd
from demele.core.outputs import check_room, writing_whole
from demele.core.reading import check_nesting, parsing, regular_file
from demele.core.version import __version__
from demele.data.array_images import MappedArray, StoredArray
from demele.data.images import ImageSet
from demele.data.space import FactorSpace
from demele.runtime.work import Report

Shape = tuple[int, int, int]
Pixels = NDArray[np.uint8]

#: Bytes of images that are read at a time.
BLOCK = 8 << 20
#: Bytes of images that are held in memory, where a file can be read from front to back only.
MOST_HELD = 1 << 30
#: Bytes at both ends of a file by which a copy is recognised.
_ENDS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """Images of files: an array or the map of a file, read in any order, or a stream from front to back.

    All of it can be sent to another process: functions are those of modules, arrays say where they lie.

    Attributes
    ----------
    what : str
        The file, for messages.
    n : int
        Number of images.
    shape : (int, int, int)
        Height, width, channels.
    rows : array of uint8 of shape (n, ...) or None
        A row for each image; None where there is only the stream.
    decode : callable, optional
        Makes the pixels of some rows; by default rows are pixels.
    stream : callable, optional
        Given how many rows are wanted at a time, it yields all of them, in order.
    """

    what: str
    n: int
    shape: Shape
    rows: NDArray[np.uint8] | StoredArray | None = None
    decode: Callable[[Pixels], Pixels] | None = None
    stream: Callable[[int], Iterator[Pixels]] | None = None

    def take(self, rows: NDArray[np.int64]) -> Pixels:
        """Return some images; rows are trusted."""
        if self.rows is None:
            raise InputError(f"{self.what} can be read from front to back only; load it with cache= a file")
        return self._decoded(self.rows[rows])

    def blocks(self) -> Iterator[tuple[int, Pixels]]:
        """Yield all images, in their order, a few MB at a time: the number of the first, and the images.

        Raises
        ------
        FormatError
            If the file is damaged, or holds more or fewer images than it should.
        """
        many = max(1, BLOCK // max(1, math.prod(self.shape)))
        start = 0
        held: Any = self.rows
        parts = (np.asarray(held[first : first + many]) for first in range(0, self.n, many))
        for rows in self.stream(many) if self.stream is not None else parts:
            yield start, self._decoded(rows)
            start += len(rows)
        if start != self.n:
            raise FormatError(self.what, f"expected {self.n:,} images, found {start:,}")

    def _decoded(self, rows: Pixels) -> Pixels:
        images = rows if self.decode is None else self.decode(rows)
        return np.ascontiguousarray(images).reshape(len(rows), *self.shape)


def read_rows(what: object, read: Callable[[int], bytes], shape: Sequence[int], many: int) -> Iterator[Pixels]:
    """Yield the rows of an array of bytes from front to back, so many at a time.

    Raises
    ------
    FormatError
        If it ends before its last row, or cannot be unpacked.
    """
    for start in range(0, shape[0], many):
        rows = (min(many, shape[0] - start), *shape[1:])
        with parsing(f"{what}: damaged or cut off at row {start:,}; copy it again"):
            content = read(math.prod(rows))
            if len(content) != math.prod(rows):
                raise FormatError(f"{what}: damaged or cut off at row {start:,}; copy it again")
        yield np.frombuffer(content, np.uint8).reshape(rows)


def joined(parts: Sequence[Images]) -> Images:
    """Return the images of several files as one, which can be read in any order if all can."""
    if len(parts) == 1:
        return parts[0]
    rows = None if any(part.rows is None for part in parts) else _JoinedRows(parts)
    n = sum(part.n for part in parts)
    return Images(parts[0].what, n, parts[0].shape, rows, stream=partial(_one_behind_the_other, parts))


def _one_behind_the_other(parts: Sequence[Images], many: int) -> Iterator[Pixels]:
    for part in parts:
        yield from (images for _, images in part.blocks())


class _JoinedRows(StoredArray):
    """Images of several files, read in any order."""

    def __init__(self, parts: Sequence[Images]) -> None:
        self._parts, self.dtype = tuple(parts), np.dtype(np.uint8)
        self._ends = np.cumsum([part.n for part in parts])
        self.shape = (int(self._ends[-1]), *parts[0].shape)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Pixels:
        """Return some images."""
        wanted = np.arange(len(self))[rows]
        found = np.empty((len(wanted), *self.shape[1:]), dtype=np.uint8)
        owners = np.searchsorted(self._ends, wanted, side="right")
        for owner in np.unique(owners):
            part, own = self._parts[owner], owners == owner
            found[own] = part.take(wanted[own] - (self._ends[owner] - part.n))
        return found


# Sets ----------------------------------------------------------------------------------------------------------------


def _unpacked(bits: Pixels, pixels: int) -> Pixels:
    return np.unpackbits(bits, axis=1, count=pixels) * np.uint8(255)


class StoredImages(ImageSet):
    """Images that lie in files; :func:`demele.data.load` makes them.

    Parameters
    ----------
    images : Images
        In the order of the files.
    order : array of int64, optional
        For each row of the set its number among the images; by default the same.
    **about
        What every :class:`demele.data.ImageSet` takes, the shape left out.

    Attributes
    ----------
    stored : Images
    """

    def __init__(self, images: Images, *, order: NDArray[np.int64] | None = None, **about: Any) -> None:
        super().__init__(shape=images.shape, **about)
        self.stored, self._stored = images, order

    def _draw(self, rows: NDArray[np.int64]) -> Pixels:
        return self.stored.take(rows)

    def in_order_of_files(self) -> Iterator[tuple[NDArray[np.int64], Pixels]]:
        """Yield rows of the set with their images, in the order of the files: one pass, a few MB at a time."""
        rows = np.full(self.stored.n, -1, dtype=np.int64)
        rows[slice(None) if self._stored is None else self._stored] = np.arange(len(self))
        for start, images in self.stored.blocks():
            own = rows[start : start + len(images)]
            held = own >= 0
            yield own[held], self._resized(images if held.all() else images[held])

    def in_memory(self, *, packed: bool) -> StoredImages:
        """Return the set with its images in memory: as bits where they are ``packed``, else as bytes."""
        pixels = math.prod(self.shape)
        held = np.empty((len(self), -(-pixels // 8)) if packed else (len(self), *self.shape), dtype=np.uint8)
        for rows, images in self.in_order_of_files():
            held[rows] = np.packbits(images.reshape(len(images), -1), axis=1) if packed else images
        decode = partial(_unpacked, pixels=pixels) if packed else None
        other = self._copy()
        other.stored, other._stored = Images(self.stored.what, len(self), self.shape, held, decode), None
        other._resizings = ()
        return other


def recognised(files: Sequence[Path]) -> str:
    """Return a text that differs where files do: from their sizes and their ends, so that large ones take no time."""
    found = hashlib.blake2b(digest_size=16)
    for path in files:
        size = regular_file(path)
        with path.open("rb") as file:
            found.update(f"{size}\x1f".encode())
            found.update(file.read(_ENDS))
            file.seek(max(0, size - _ENDS))
            found.update(file.read(_ENDS))
    return found.hexdigest()


# A set of images as one ``.npy`` that is mapped; what it holds stands behind the array, where NumPy does not look -----
#
# It is written to a temporary file and then renamed: after a kill at any moment there is the old or the new file.
# Behind the images: a line of JSON; the factors of a set that is no grid, column by column as float64, or the rows of
# a space that images share, as int64; and at the very end the length of both, a checksum of them, and a mark.

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
        raise InputError("cache", f"{path} was not made by demele", "name another, or delete it") from error
    if found.digest != digest:
        size = " x ".join(map(str, found.shape))
        raise InputError("cache", f"{path} holds {found.name} of {size} from other files", "name another, or delete it")
    return found
