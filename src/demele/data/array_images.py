"""Images that an array holds, in memory or in a file."""

from __future__ import annotations

import math
import os
import re
import struct
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from demele.core.array_files import ArrayHeader, place_of_member
from demele.core.arrays import Array, Bytes, Counts, pd
from demele.core.columns import Factor
from demele.core.errors import (
    AmbiguousKindWarning,
    FormatError,
    InputError,
    InputTypeError,
    UndefinedFactorWarning,
    listed,
    plural,
    quoted,
    warn_user,
)
from demele.core.inputs import is_text, read_factors
from demele.core.lazy import require
from demele.core.reading import parsing, regular_file
from demele.core.table_columns import split_columns
from demele.data.images import ImageSet, digest_of, spread
from demele.data.space import FactorSpace

# Arrays that lie in files and are read where they are looked at; other processes are sent the place, not the array ----


class StoredArray(ABC):
    """What looks like an array of images, one per row, and reads those that are asked for.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def __getitem__(self, rows: slice | Counts) -> Array:
        """Return some rows, new ones if an array of numbers picks them."""


class MappedArray(StoredArray):
    """Bytes of a file as an array that cannot be written on.

    Parameters
    ----------
    path : Path
    offset : int
        Where the array begins.
    shape : tuple of int
    dtype : numpy.dtype
    columns_first : bool
        The first index changes fastest.
    """

    def __init__(
        self, path: Path, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any], *, columns_first: bool = False
    ) -> None:
        self.shape, self.dtype = shape, dtype
        self._place = Path(path).absolute(), offset, "F" if columns_first else "C"
        self._array: Array | None = None
        self[:0]  # mapped now: a file that takes its name later is another one

    def __getitem__(self, rows: slice | Counts) -> Array:
        """Return some rows: in memory if they are picked by an array of numbers, mapped if by a slice."""
        if self._array is None:
            path, offset, order = self._place
            self._array = np.memmap(path, self.dtype, "r", offset, self.shape, order)  # type: ignore[call-overload]
        return np.asarray(self._array[rows])

    def __getstate__(self) -> dict[str, Any]:
        """Send the place to another process."""
        return {**self.__dict__, "_array": None}


def mapped_member(path: Path, info: zipfile.ZipInfo, header: ArrayHeader) -> MappedArray | None:
    """Return an array of an archive, if its bytes stand there as they are; None if they are packed.

    Raises
    ------
    FormatError
        If the archive holds no such member there.
    """
    place = place_of_member(path, info)
    if place is None:
        return None
    begins = place + info.file_size - header.size
    return MappedArray(path, begins, header.shape, header.dtype, columns_first=header.columns_first)


#: Bytes of images that are looked at together.
BLOCK = 8 << 20
#: Channels of grey, grey with a mask, colours, colours with a mask.
_CHANNELS = (1, 2, 3, 4)


def checked_shape(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, int, int, int]:
    """Return (n, height, width, channels) of an array of images.

    Raises
    ------
    InputTypeError
        For texts, dates, complex numbers, and whole numbers that may have any range.
    InputError
        If it has other axes, channels come first, or there are more than 4 of them.
    """
    if dtype != np.uint8 and dtype.kind not in "bf":
        remedy = None
        if dtype.kind in "iu":
            white = f" by the value of white, such as {np.iinfo(dtype).max}" if dtype.itemsize <= 2 else ""
            remedy = f"save them as uint8 if they are from 0 to 255, or divide them{white}"
        told = f"expected uint8, from 0 to 255, floats from 0 to 1, or True and False; got {dtype}"
        raise InputTypeError("images", told, remedy)
    expected = "expected shape (n, height, width) or (n, height, width, channels)"
    if len(shape) == 2:
        raise InputError("images", f"{expected}, got {shape}", "reshape each row to its height and width")
    if len(shape) not in (3, 4) or 0 in shape:
        raise InputError("images", f"{expected}, at least one image, got {shape}")
    n, height, width, channels = (*shape, 1)[:4]
    if channels not in _CHANNELS:
        remedy = "use images.transpose(0, 1, 3, 2)" if width in _CHANNELS else "leave out channels, or average them"
        if height in _CHANNELS:
            raise InputError(
                "images", f"{expected}, got {shape}: channels come last", "use images.transpose(0, 2, 3, 1)"
            )
        raise InputError("images", f"{expected}, 1 to 4 channels, got {shape}: {channels} channels", remedy)
    return n, height, width, channels


def check_values(images: Array | StoredArray, about: Callable[[int], str]) -> None:
    """Refuse floats outside 0 to 1, and uint8 of 0 and 1 only, which would all be black.

    All floats are looked at, a few MB at a time; of uint8 only as many as it takes to see a 2.

    Parameters
    ----------
    images : array of shape (n, ...)
        Of a type that :func:`checked_shape` lets through; may be mapped to a file.
    about : callable
        Description of an image for the message: its factors.

    Raises
    ------
    InputError
        With the number of values and of images, and the first of them.
    """
    if images.dtype == np.uint8:
        largest = 0
        for _, part in blocks(images):
            largest = max(largest, int(part.max()))
            if largest > 1:
                return
        if largest == 1:
            raise InputError(
                "images",
                "expected uint8 from 0 to 255, got 0 and 1 only: all would be black",
                "multiply them by 255, or save them as True and False",
            )
    if images.dtype.kind != "f":
        return
    n_values, wrong, low, high = 0, [], np.inf, -np.inf
    for start, part in blocks(images):
        outside = ~((part >= 0) & (part <= 1))  # NaN compares false
        if outside.any():
            rows = np.flatnonzero(outside.reshape(len(part), -1).any(axis=1))
            n_values += int(outside.sum())
            wrong += (start + rows).tolist()
        finite = part[np.isfinite(part)]
        low, high = min(low, float(finite.min(initial=0))), max(high, float(finite.max(initial=0)))
    if wrong:
        known = about(wrong[0])
        remedy = "scale them, and leave out images with NaN"
        if low >= 0 and 1 < high <= 255:
            remedy = "divide them by 255"
        elif -1 <= low < 0 and high <= 1:
            remedy = "from -1 to 1 become (images + 1) / 2"
        many = f"{plural(n_values, 'value', 'values')} in {plural(len(wrong), 'image', 'images')}"
        at = f"first in image {wrong[0]}" + (f" ({known})" if known else "")
        raise InputError(
            "images",
            f"expected floats from 0 to 1; {many} {'is' if n_values == 1 else 'are'} not, {at}",
            remedy,
        )


def as_uint8(images: Array) -> Bytes:
    """Return images of checked numbers as uint8: 1.0 and True become 255; halves are rounded up.

    Examples
    --------
    >>> as_uint8(np.array([0.0, 0.5, 1.0])), as_uint8(np.array([False, True]))
    (array([  0, 128, 255], dtype=uint8), array([  0, 255], dtype=uint8))
    """
    if images.dtype == np.uint8:
        return images
    if images.dtype.kind == "b":
        return images.astype(np.uint8) * np.uint8(255)
    return (images.astype(np.float64) * 255 + 0.5).astype(np.uint8)


def blocks(images: Array | StoredArray) -> Iterator[tuple[int, Array]]:
    """Yield an array a few MB at a time, each part with the number of its first row."""
    per_block = max(1, BLOCK // max(1, images[:1].nbytes))
    for start in range(0, len(images), per_block):
        yield start, np.asarray(images[start : start + per_block])


# Pictures in files of PNG ---------------------------------------------------------------------------------------------

_SIGNATURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
_HEADER = struct.Struct(">IIBB")  # width, height, bits of a channel, kind of colour
_GREY = (0, 4)  # without and with a mask
_LONGEST = 8192


class Picture(NamedTuple):
    """What the first bytes of a picture say: one channel of grey, or three of colours; a mask is none."""

    height: int
    width: int
    channels: int

    def __str__(self) -> str:
        return f"{self.height} x {self.width} in {'grey' if self.channels == 1 else 'colours'}"


def looked_at(path: Path) -> Picture:
    """Return what the first bytes of a picture say.

    Raises
    ------
    FormatError
        If it is no PNG of 8 bits, or is larger than any picture of a data set.
    """
    regular_file(path)
    size = len(_SIGNATURE) + _HEADER.size
    with path.open("rb") as file:
        start = file.read(size)
    if len(start) < size or not start.startswith(_SIGNATURE):
        raise FormatError(f"{path}: not a PNG that can be read; copy it again")
    width, height, bits, kind = _HEADER.unpack(start[len(_SIGNATURE) :])
    if not 1 <= width <= _LONGEST or not 1 <= height <= _LONGEST:
        raise FormatError(f"{path}: expected at most {_LONGEST} x {_LONGEST} pixels, got {height} x {width}")
    if bits > 8:
        raise FormatError(f"{path}: its channels have {bits} bits; save it with 8")
    return Picture(height, width, 1 if kind in _GREY else 3)


class PictureArray(StoredArray):
    """Pictures of one size: grey ones have one channel, others three.

    Parameters
    ----------
    folder : Path
    names : sequence of str
        One file per row.
    picture : Picture, optional
        What all of them are, of pictures that were published; others are looked at.

    Raises
    ------
    FormatError
        If a file is no PNG of 8 bits, or they are not all of one size and kind of colour.
    MissingExtraError
        If Pillow is not installed.
    """

    def __init__(self, folder: Path, names: Sequence[str], picture: Picture | None = None) -> None:
        require("PIL.Image", purpose="a folder of pictures")
        self._folder, self._names = folder.absolute(), tuple(names)
        if picture is None:
            found = [looked_at(folder / name) for name in names]
            picture = found[0]
            others = [f"{quoted(name)} ({one})" for name, one in zip(names, found, strict=True) if one != picture]
            if others:
                raise FormatError(
                    f"{folder}: expected pictures of {picture}, as {quoted(names[0])} is; {len(others):,} are others: "
                    f"{', '.join(others[:3])}"
                )
        self.shape, self.dtype = (len(names), *picture), np.dtype(np.uint8)

    def __getitem__(self, rows: slice | Counts) -> Bytes:
        """Read some pictures; what a file says of transparency is left out.

        Raises
        ------
        FormatError, OSError
            Naming the first that cannot be read.
        """
        height, width, channels = self.shape[1:]
        paths = [self._folder / self._names[row] for row in np.arange(len(self))[rows].tolist()]
        pixels = np.empty((len(paths), height, width, channels), dtype=np.uint8)
        decoded = require("PIL.Image", purpose="a folder of pictures").open
        for place, path in enumerate(paths):
            found = looked_at(path)
            if found[:2] != (height, width):
                raise FormatError(f"{path}: expected {height} x {width} pixels, got {found.height} x {found.width}")
            with parsing(f"{path}: not a PNG that can be read; copy it again"), path.open("rb") as file:
                picture = decoded(file, formats=["PNG"]).convert("L" if channels == 1 else "RGB")
                pixels[place] = np.asarray(picture, dtype=np.uint8).reshape(height, width, channels)
        return pixels


def picture_names(folder: Path) -> list[str]:
    """Return the names of the pictures of a folder, in order: numbers in names are counted as numbers.

    Raises
    ------
    FormatError
        If there are none.
    """
    with os.scandir(folder) as entries:
        held = [entry.name for entry in entries]
    names = [name for name in held if name.lower().endswith(".png")]
    if not names:
        raise FormatError(f"{folder}: expected pictures, files that end in .png; found {listed(sorted(held))}")
    return sorted(names, key=in_order)


def in_order(name: str) -> list[tuple[int, str]]:
    """Return by what names are sorted.

    Examples
    --------
    >>> sorted(["10.png", "9.png", "a2.png", "a10.png"], key=in_order)
    ['9.png', '10.png', 'a2.png', 'a10.png']
    """
    parts = re.split(r"([0-9]+)", name)
    return [(int(part), "") if place % 2 else (0, part) for place, part in enumerate(parts)]


# The factors that users bring with their images -----------------------------------------------------------------------


def factor_table(factors: object, n: int, *, kinds: object = None) -> pd.DataFrame:
    """Return factors as a table whose columns say their kind; those that do not vary are left out.

    Parameters
    ----------
    factors : array-like of shape (n, n_factors) or (n,), data frame, mapping of name to column, or None
        Numbers and texts, missing ones too. Columns without names are called v1, v2, ...
    n : int
        Number of images, one per row.
    kinds : None, str, mapping of name to str, or sequence of str
        As in :func:`demele.evaluate`.

    Returns
    -------
    DataFrame of shape (n, n_factors)
        A categorical column for classes, in sorted order or that of its categories; float64 for quantities.

    Raises
    ------
    InputError, InputTypeError
        Naming the column; or if there are more or fewer rows than images.

    Warns
    -----
    UndefinedFactorWarning
        For factors that have one value.
    AmbiguousKindWarning
        For whole numbers that may be classes or quantities.
    """
    if factors is None or (isinstance(factors, Mapping) and not factors):
        return pd.DataFrame(index=pd.RangeIndex(n))
    if isinstance(factors, Mapping):
        lengths = {name: np.shape(column) for name, column in factors.items()}
        if len(set(lengths.values())) > 1 or any(len(shape) != 1 for shape in lengths.values()):
            raise InputError("factors", f"expected one value of each factor per image, got shapes {lengths}")
        factors = pd.DataFrame({str(name): column for name, column in factors.items()})
    columns, names = split_columns(factors, "factors", default="v")
    parts = dict(zip(names, columns.T if isinstance(columns, np.ndarray) else columns, strict=True))
    read = read_factors(factors, kinds=kinds, missing="omit")
    if read.n != n:
        raise InputError(("images", "factors"), f"expected one row of factors per image, got {n} and {read.n}")
    for doubt in read.ambiguous:
        warn_user(doubt, AmbiguousKindWarning)
    constant = [column.name for column in read.columns if column.constant]
    if constant:
        told = ", ".join(map(quoted, constant))
        warn_user(f"factors: {told} do not vary, and are left out", UndefinedFactorWarning)
    varied = [column for column in read.columns if not column.constant]
    return pd.DataFrame({one.name: _column(one, parts[one.name]) for one in varied}, index=pd.RangeIndex(n))


def columns_of(path: Path, table: Array, names: Array | None = None) -> dict[str, Array]:
    """Return the columns of the factors of a file, by name: of a table and another array.

    Raises
    ------
    FormatError
        If it is no table, or names are not one different text for each column.
    """
    columns = table[:, None] if table.ndim == 1 else table
    if columns.ndim != 2:
        raise FormatError(f"{path}::factors", f"expected shape (n, n_factors), found {table.shape}")
    n = columns.shape[1]
    if names is None:
        return {f"v{number}": column for number, column in enumerate(columns.T, start=1)}
    if names.dtype.kind != "U" or names.shape != (n,) or len(set(names.tolist())) < n:
        raise FormatError(f"{path}::factor_names", f"expected {n} different texts, found {names.dtype} {names.shape}")
    return dict(zip(names.tolist(), columns.T, strict=True))


def grid_of(table: pd.DataFrame) -> tuple[FactorSpace, Counts] | None:
    """Return the grid of a table in which every combination of values occurs, and the row of the grid of each row.

    None if a combination or a value is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> space, places = grid_of(pd.DataFrame({"x": [0.5, 0.0, 0.5, 0.0], "y": [0.0, 0.0, 1.0, 1.0]}))
    >>> space, places.tolist()
    (FactorSpace(4 rows: 2 x × 2 y), [2, 0, 3, 1])
    """
    values: dict[str, list[Any]] = {}
    kinds: dict[str, str] = {}
    positions = []
    for name, column in table.items():
        if column.dtype.kind == "f":
            held, place = np.unique(column.to_numpy(), return_inverse=True)
            values[str(name)], place = held.tolist(), np.where(np.isnan(column), -1, place.ravel())
        else:
            column = column.cat.remove_unused_categories()
            values[str(name)], place = column.cat.categories.tolist(), column.cat.codes.to_numpy().astype(np.int64)
        kinds[str(name)] = "continuous" if column.dtype.kind == "f" else "categorical"
        positions.append(place)
        if (place < 0).any() or math.prod(map(len, values.values())) > len(table):
            return None
    if not values:
        return None
    space = FactorSpace(values, kinds=kinds)
    places = space.index(np.stack(positions, axis=-1))
    return (space, places) if np.bincount(places, minlength=len(space)).all() else None


def _column(factor: Factor, given: Any) -> Any:
    """Return a column whose type says the kind; classes that came as numbers stay numbers."""
    if not factor.categorical:
        return np.asarray(factor.values, dtype=np.float64)
    levels = list(factor.levels) if is_text(given) else _numbers(factor.levels)
    return pd.Categorical.from_codes(np.asarray(factor.values), categories=pd.Index(levels))


def _numbers(levels: Sequence[str]) -> list[Any]:
    for number in (int, float):  # as a float, a whole number beyond 2^53 would be its neighbour
        with suppress(ValueError):
            return [number(level) for level in levels]
    return list(levels)  # truth values


class ArrayImages(ImageSet):
    """Images of an array, with the factors of each.

    Row r of the set is image r of the array, whatever the factors are.

    Parameters
    ----------
    images : array of shape (n, height, width) or (n, height, width, channels)
        uint8 from 0 to 255, floats from 0 to 1, or True and False. Not copied; what is no uint8 becomes it when it is
        asked for.
    factors : array-like of shape (n, n_factors), data frame, or mapping of name to column, optional
        The factors of each image. With a ``space`` they are values of it, and by default its values row by row.
        Without one, they are a grid if every combination of their values occurs.
    space : FactorSpace, optional
        The grid of the factors.
    kinds : None, str, mapping of name to str, or sequence of str
        Which factors are "continuous" or "categorical", where no space says it, as in :func:`demele.evaluate`.
    name, provenance, licence : str, optional

    Raises
    ------
    InputError, InputTypeError
        For other shapes and types; for floats outside 0 to 1, with the factors of the first such image; for values
        that the space does not have.

    Warns
    -----
    UndefinedFactorWarning
        For factors that do not vary, which are left out.
    AmbiguousKindWarning
        For whole numbers that may be classes or quantities.

    Examples
    --------
    >>> import numpy as np
    >>> from demele.data import ArrayImages
    >>> pixels = np.linspace(0, 1, 24).reshape(6, 2, 2)
    >>> images = ArrayImages(pixels, {"shape": ["dot", "bar"] * 3, "width": [0.5, 0.5, 1.5, 1.5, 2.5, 2.5]})
    >>> images
    ImageSet(images: 6 images of 2 x 2 x 1; 2 shape × 3 width)
    >>> images.factors(images.index([[1, 2]]))  # values of classes are sorted: the second shape is the dot
      shape  width
    0   dot    2.5
    """

    def __init__(
        self,
        images: Array | StoredArray,
        factors: object = None,
        *,
        space: FactorSpace | None = None,
        kinds: object = None,
        name: str = "images",
        provenance: str = "",
        licence: str = "",
    ) -> None:
        if not isinstance(images, np.ndarray | StoredArray):
            raise InputTypeError("images", f"expected an array, got {type(images).__name__}; use numpy.asarray")
        n, height, width, channels = checked_shape(images.shape, images.dtype)
        self.stored_white = 255 if images.dtype == np.uint8 else 1
        self._array, self._shape_drawn = images, (height, width, channels)
        table = None
        if space is None:
            table = factor_table(factors, n, kinds=kinds)
            found = grid_of(table)
            space, places = found if found is not None else (None, None)
        else:
            places = _places(space, factors, n)
        if places is not None and space is not None and np.array_equal(places, np.arange(len(space))):
            places = None
        super().__init__(
            name=name,
            shape=self._shape_drawn,
            space=space,
            places=places,
            table=table if space is None else None,
            digest="",
            provenance=provenance,
            licence=licence,
        )
        check_values(
            self._array,
            lambda row: ", ".join(f"{one} {quoted(value)}" for one, value in self.factors([row]).iloc[0].items()),
        )
        # of the shape, the factors, and 64 images spread over the set
        columns = [] if self._table is None else [np.asarray(column) for _, column in self._table.items()]
        named = [] if self._table is None else list(self._table)
        values = [column if column.dtype.kind in "iufb" else column.astype(str) for column in columns]
        grid = "" if space is None else space.to_json().rstrip("\n")
        rows = np.empty(0) if self._places is None else self._places
        self.digest = digest_of(self._array.shape, grid, rows, named, *values, self._array[spread(n)])

    def _draw(self, rows: Counts) -> Bytes:
        return as_uint8(self._array[rows]).reshape(len(rows), *self._shape_drawn)


def _places(space: FactorSpace, factors: object, n: int) -> Counts | None:
    """Return the row of the space of each image."""
    if factors is None:
        if n != len(space):
            raise InputError("images", f"expected {len(space)}, one per row of the space, got {n}")
        return None
    places = space.rows(factors)  # type: ignore[arg-type]
    if len(places) != n:
        raise InputError(("images", "factors"), f"expected one row of factors per image, got {n} and {len(places)}")
    return places
