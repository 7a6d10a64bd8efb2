"""Published sets: images in the order of their files, what is known of a set, and what its reader found in a copy."""

from __future__ import annotations

import hashlib
import io
import json
import math
import struct
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.lib import format as npy

from demele.core.array_files import read_header
from demele.core.arrays import Bytes, Counts, Floats, pd
from demele.core.columns import Kind
from demele.core.errors import FormatError, InputError, listed, quoted
from demele.core.outputs import check_room, writing_whole
from demele.core.reading import check_nesting, parsing, regular_file
from demele.core.version import __version__
from demele.data.array_images import BLOCK, MappedArray, StoredArray
from demele.data.images import ImageSet
from demele.data.space import FactorSpace
from demele.runtime.work import Report

Shape = tuple[int, int, int]
Pixels = Bytes

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
    rows: Bytes | StoredArray | None = None
    decode: Callable[[Pixels], Pixels] | None = None
    stream: Callable[[int], Iterator[Pixels]] | None = None

    def take(self, rows: Counts) -> Pixels:
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

    def __getitem__(self, rows: slice | Counts) -> Pixels:
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

    def __init__(self, images: Images, *, order: Counts | None = None, **about: Any) -> None:
        super().__init__(shape=images.shape, **about)
        self.stored, self._stored = images, order

    def _draw(self, rows: Counts) -> Pixels:
        return self.stored.take(rows)

    def in_order_of_files(self) -> Iterator[tuple[Counts, Pixels]]:
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


# What is known of a published set, what its reader found in somebody's copy of it, and the grid of both ---------------

Verdict = Literal["fits", "differs", "missing", "damaged", "not published"]


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor of a set of images.

    Attributes
    ----------
    name : str
    size : int
        Number of its values; 0 where it takes any.
    values : tuple of int, float or str, or None
        None where the file says them.
    kind : {"categorical", "continuous"}
    period : float or None
        Difference after which its values begin again.
    """

    name: str
    size: int
    values: tuple[int | float | str, ...] | None = None
    kind: Kind = "continuous"
    period: float | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """Factors and size of the images, as a variant of a set was published.

    Attributes
    ----------
    factors : tuple of Factor
        The last one changes fastest.
    pixels : (int, int, int)
        Height, width, channels.
    symmetric : tuple of (factor, other, value, period)
        As :class:`demele.data.FactorSpace` takes it, where the factor is cyclic.
    """

    factors: tuple[Factor, ...]
    pixels: Shape
    symmetric: tuple[tuple[str, str, object, float], ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each factor."""
        return tuple(factor.size for factor in self.factors)

    @property
    def n(self) -> int:
        """Number of images: one for each combination."""
        return math.prod(self.sizes)

    def space(self) -> FactorSpace:
        """Return the factors, whose values are all known, as a space."""
        # a circle of which both ends are there is not told as one: they are two values, and the same
        values = {one.name: list(one.values or ()) for one in self.factors}
        period = {
            one.name: one.period
            for one in self.factors
            if one.period is not None
            and one.period > max(map(float, values[one.name])) - min(map(float, values[one.name]))
        }
        return FactorSpace(
            values,
            kinds={one.name: one.kind for one in self.factors},
            period=period,
            symmetric=[one for one in self.symmetric if one[0] in period and one[2] in values[one[1]]],
        )


def one_grid(pixels: Shape, *factors: Factor, symmetric: Any = ()) -> Mapping[str, Grid]:
    """Return the grid of a set that has one variant."""
    return {"": Grid(factors, pixels, symmetric)}


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file as it was published: its name, its bytes and its digest, SHA-256 or MD5, as far as they are known."""

    name: str
    size: int | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of what was looked at: a file, or a part of one."""

    file: str
    found: str
    expected: str
    verdict: Verdict


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Read:
    """What a reader found: images in the order of the file, and the positions of their factors.

    Attributes
    ----------
    images : Images
    files : tuple of Path
        By which the copy is recognised; of many pictures some.
    positions : array of int64 of shape (n, n_factors) or None
        None: the images stand in the order of the grid.
    labelled : object
        The file that positions are from, for messages.
    values : mapping of str to sequence
        Of the factors whose values, and how many they are, the file says.
    repeats : bool
        Combinations occur as often as they like: a set of classes, in the order of its files.
    hidden : tuple of str
        Factors without published values; their images repeat a combination.
    first_only : mapping of str to int
        Number of first values to use, for factors that do not use all.
    table : DataFrame or None
        The factors of a set that is no grid; then nothing else is said of them.
    """

    images: Images
    files: tuple[Path, ...]
    positions: Counts | None = None
    labelled: object = None
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    repeats: bool = False
    hidden: tuple[str, ...] = ()
    first_only: Mapping[str, int] = field(default_factory=dict)
    table: pd.DataFrame | None = None


@dataclass(slots=True)
class Request:
    """What a reader is asked for, and what it has seen so far.

    Attributes
    ----------
    published : PublishedSet
    path : Path
    variant : str or None
    check : {"shape", "digest"}
    options : mapping of str to value
        Each option of the set, checked.
    seen : list of Finding
    """

    published: PublishedSet
    path: Path
    variant: str | None
    check: str
    options: Mapping[str, Any]
    seen: list[Finding] = field(default_factory=list)

    @property
    def grid(self) -> Grid:
        """The grid of the variant; without factors where they are no grid."""
        return self.published.grids.get(self.variant or "", Grid((), (1, 1, 1)))

    @property
    def origin(self) -> dict[str, Any]:
        """What a converted set was made from: its name, variant and options."""
        return {"name": self.published.name, "variant": self.variant, **self.options}

    def expect(self, file: object, found: str, expected: str, *, remedy: str | None = None) -> None:
        """Note what a file holds, and refuse it where that is not what was published.

        Raises
        ------
        FormatError
        """
        self.note(file, found, expected, "fits" if found == expected else "differs")
        if found != expected:
            raise FormatError(file, f"expected {expected}, found {found}", remedy)

    def expect_array(
        self, file: object, dtype: object, shape: Sequence[int], kind: str, wanted: Sequence[int], remedy: str = ""
    ) -> None:
        """Compare the type and the shape that a file declares with those that were published.

        Parameters
        ----------
        file : object
        dtype, shape
            What is declared.
        kind : str
            Name of a type, ``"floats"``, or ``"numbers"``: whole ones or floats.
        wanted : sequence of int
        """
        found = np.dtype(dtype)  # type: ignore[call-overload]
        kinds = {"numbers": "iuf", "floats": "f"}
        fits = found.kind in kinds[kind] if kind in kinds else found.name == kind
        expected = f"{found if fits else kind} {tuple(wanted)}"
        self.expect(file, f"{found} {tuple(shape)}", expected, remedy=remedy or None)

    def note(self, file: object, found: str, expected: str, verdict: Verdict) -> None:
        """Note what a file holds."""
        self.seen.append(Finding(str(file), found, expected, verdict))

    def no_file(self, path: Path) -> InputError:
        """Return the error of a file that is not there: where it comes from, and how large it is."""
        one = self.published
        self.note(path, "nothing", "a file", "missing")
        return InputError("path", f"there is no {path}; {one.title} is published by {one.publisher}: {one.download}")

    def lacks(self, path: object, name: str, held: Collection[str]) -> FormatError:
        """Return the error of what a file does not hold, with the first of what it does."""
        self.note(f"{path}::{name}", "nothing", "a part of it", "missing")
        return FormatError(
            path, f"expected {quoted(name)} in it, found {listed(held, 12)}; is it a file of {self.published.title}?"
        )

    def file(self, *names: str, folder: Path | None = None) -> Path:
        """Return a file: as it was given, or in a folder under the first of its names that is there.

        Parameters
        ----------
        *names : str
        folder : Path, optional
            Where it must be; by default the path that was given, which may be the file itself.

        Raises
        ------
        InputError
            If it is not there.
        """
        path = self.path
        if folder is not None or path.is_dir():
            folder = folder or path
            path = next((folder / name for name in names if (folder / name).exists()), folder / names[0])
        if not path.exists():
            raise self.no_file(path)
        regular_file(path)
        return path


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSet:
    """A published set of images: what it holds, where it is from, how it is read.

    Attributes
    ----------
    name, title : str
        As :func:`demele.data.load` takes it; as it is called.
    publisher, download : str
        Who published it; file, size and address.
    licence, provenance : str
    grids : mapping of str to Grid
        By variant; "" is the only one. Empty where the factors are no grid.
    splits : mapping of str to int
        Number of images of each part of a set whose combinations repeat; empty where each occurs once.
    read : callable
    files : tuple of PublishedFile
        Whose digests are known.
    options : mapping of str to tuple
        Values of each option that only this set has, the default first.
    notes : tuple of str
        What to know before results are read.
    binary : bool
        Every pixel is black or white.
    """

    name: str
    title: str
    publisher: str
    download: str
    licence: str
    provenance: str
    read: Callable[[Request], Read]
    grids: Mapping[str, Grid] = field(default_factory=dict)
    splits: Mapping[str, int] = field(default_factory=dict)
    files: tuple[PublishedFile, ...] = ()
    options: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    binary: bool = False

    def count(self, variant: str) -> int | None:
        """Return how many images are read unless a part is asked for; None where the files say it."""
        if self.splits:
            return self.splits[self.options["split"][0]]
        return self.grids[variant].n or None

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the variants; none if there is one only."""
        return tuple(name for name in self.grids if name)


# Positions -----------------------------------------------------------------------------------------------------------


def placed(grid: Grid, read: Read) -> dict[str, Any]:
    """Return the factors of a set, and which row of it each image is; rows have the order of the grid.

    Returns
    -------
    dict of str to object
        What :class:`StoredImages` takes: ``table``, or ``space`` with ``places`` and ``order``.

    Raises
    ------
    FormatError
        If a position is none of its factor, or a combination is missing or occurs more than once.
    """
    if read.table is not None:
        return {"table": read.table}
    factors = tuple(
        replace(one, values=tuple(read.values[one.name]), size=len(read.values[one.name]))
        if one.name in read.values
        else one
        for one in grid.factors
    )
    grid, order = replace(grid, factors=factors), None
    if read.positions is not None:
        check_positions(read.labelled or read.files[0], read.positions, factors)
        rows = np.ravel_multi_index(tuple(read.positions.T), grid.sizes).astype(np.int64)
        if read.repeats:
            return {"space": grid.space(), "places": rows}
        order = order_of(rows, grid, read.labelled or read.files[0])
    kept = np.arange(grid.n).reshape(grid.sizes)
    for axis, one in enumerate(grid.factors):
        kept = kept.take(np.arange(read.first_only.get(one.name, one.size)), axis=axis)
    shown = [axis for axis, one in enumerate(grid.factors) if one.name not in read.hidden]
    sizes = tuple(kept.shape[axis] for axis in shown)
    places = None
    if read.hidden:
        at = np.indices(kept.shape)[shown].reshape(len(shown), -1)
        places = np.asarray(np.ravel_multi_index(tuple(at), sizes), dtype=np.int64)
    if read.first_only:
        order = kept.ravel() if order is None else order[kept.ravel()]
    left = tuple(
        replace(factors[axis], size=size, values=(factors[axis].values or ())[:size])
        for axis, size in zip(shown, sizes, strict=True)
    )
    return {"space": replace(grid, factors=left).space(), "places": places, "order": order}


def check_positions(file: object, positions: Counts, factors: Sequence[Factor]) -> None:
    """Refuse positions that are not from 0 to the size of their factor.

    Raises
    ------
    FormatError
        Naming the factor, with the first one.
    """
    for factor, own in zip(factors, positions.T, strict=True):
        wrong = np.flatnonzero((own < 0) | (own >= factor.size))
        if wrong.size:
            found = f"found {own[wrong[0]]} at row {wrong[0]}"
            raise FormatError(file, f"expected labels of {factor.name} from 0 to {factor.size - 1}, {found}")


def order_of(rows: Counts, grid: Grid, file: object) -> Counts | None:
    """Return for each combination of a grid the image that has it; None if they stand in the order of the grid.

    Parameters
    ----------
    rows : array of int64 of shape (n,)
        For each image its combination.
    grid : Grid
    file : object
        For the message.

    Raises
    ------
    FormatError
        If a combination is missing, or occurs more than once.

    Examples
    --------
    >>> order_of(np.array([1, 2, 0, 3]), Grid((Factor("x", 2), Factor("y", 2)), (1, 1, 1)), "labels")
    array([2, 0, 1, 3])
    """
    counts = np.bincount(rows, minlength=grid.n)
    wrong = np.flatnonzero(counts != 1)
    if wrong.size:
        at = np.unravel_index(int(wrong[0]), grid.sizes)
        where = ", ".join(f"{one.name} {int(place)}" for one, place in zip(grid.factors, at, strict=True))
        raise FormatError(
            file,
            f"expected every combination of the factors once; {wrong.size:,} are not, the first at {where} "
            f"{int(counts[wrong[0]])} times",
        )
    return None if (rows == np.arange(grid.n)).all() else np.argsort(rows, kind="stable")


def ranks_of(values: Floats, factors: Sequence[Factor], file: object) -> tuple[Counts, dict[str, tuple[float, ...]]]:
    """Return positions of values, their ranks among the different ones of each column, whose number must fit; and them.

    Raises
    ------
    FormatError
        Naming the factor.
    """
    positions = np.empty(values.shape, dtype=np.int64)
    found: dict[str, tuple[float, ...]] = {}
    for column, factor in enumerate(factors):
        held, ranks = np.unique(values[:, column], return_inverse=True)
        if len(held) != factor.size or not np.isfinite(held).all():
            raise FormatError(
                file, f"expected {factor.size} values of {factor.name} in column {column}, found {len(held)}"
            )
        positions[:, column] = ranks.ravel()
        # the number of a class is a name, not a quantity
        whole = factor.kind == "categorical" and (held == held.round()).all()
        found[factor.name] = tuple(held.astype(int).tolist() if whole else held.tolist())
    return positions, found
