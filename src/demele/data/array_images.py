"""Images that an array holds, in memory or in a file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.columns import Factor
from demele.core.errors import (
    AmbiguousKindWarning,
    FormatError,
    InputError,
    InputTypeError,
    UndefinedFactorWarning,
    quoted,
    warn_user,
)
from demele.core.inputs import is_text, read_factors
from demele.core.reading import check_characters
from demele.core.table_columns import split_columns
from demele.data.images import ImageSet, digest_of
from demele.data.pixels import StoredArray, as_uint8, check_type, check_values, checked_shape
from demele.data.space import FactorSpace

if TYPE_CHECKING:
    import pandas as pd


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
    import pandas as pd

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
        raise InputError(
            ("images", "factors"), f"expected one row of factors per image, got {n} images and {read.n} rows"
        )
    for doubt in read.ambiguous:
        warn_user(doubt, AmbiguousKindWarning)
    constant = [column.name for column in read.columns if column.constant]
    if constant:
        told = ", ".join(map(quoted, constant))
        warn_user(f"factors: {told} do not vary, and are left out", UndefinedFactorWarning)
    varied = [column for column in read.columns if not column.constant]
    return pd.DataFrame({one.name: _column(one, parts[one.name]) for one in varied}, index=pd.RangeIndex(n))


def columns_of(path: Path, table: NDArray[Any], names: NDArray[Any] | None = None) -> dict[str, NDArray[Any]]:
    """Return the columns of the factors of a file, by name: of a structured array, or a table and another array.

    Raises
    ------
    FormatError
        If it is no table, or names are not one different text for each column.
    """
    if table.dtype.names is not None:
        for name in table.dtype.names:
            check_characters(f"{path}::factors", table[name])
        return {name: table[name] for name in table.dtype.names}
    columns = table[:, None] if table.ndim == 1 else table
    if columns.ndim != 2:
        raise FormatError(f"{path}::factors", f"expected shape (n, n_factors), found {table.shape}")
    n = columns.shape[1]
    if names is None:
        return {f"v{number}": column for number, column in enumerate(columns.T, start=1)}
    if names.dtype.kind != "U" or names.shape != (n,) or len(set(names.tolist())) < n:
        raise FormatError(f"{path}::factor_names", f"expected {n} different texts, found {names.dtype} {names.shape}")
    return dict(zip(names.tolist(), columns.T, strict=True))


def grid_of(table: pd.DataFrame) -> tuple[FactorSpace, NDArray[np.int64]] | None:
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
    import pandas as pd

    if not factor.categorical:
        return np.asarray(factor.values, dtype=np.float64)
    levels = list(factor.levels) if is_text(given) else _numbers(factor.levels)
    return pd.Categorical.from_codes(np.asarray(factor.values), categories=pd.Index(levels))


def _numbers(levels: Sequence[str]) -> list[Any]:
    try:
        return [int(level) for level in levels]  # as a float, one beyond 2^53 would be its neighbour
    except ValueError:  # some have a point
        pass
    try:
        values = [float(level) for level in levels]
    except ValueError:  # truth values
        return list(levels)
    return [int(value) for value in values] if all(value.is_integer() for value in values) else values


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
        images: NDArray[Any] | StoredArray,
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
        check_type(images.dtype)
        n, height, width, channels = checked_shape(images.shape)
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
        spread = np.unique(np.linspace(0, n - 1, 64).astype(np.int64))
        columns = [] if self._table is None else [np.asarray(column) for _, column in self._table.items()]
        named = [] if self._table is None else list(self._table)
        values = [column if column.dtype.kind in "iufb" else column.astype(str) for column in columns]
        grid = "" if space is None else space.to_json().rstrip("\n")
        rows = np.empty(0) if self._places is None else self._places
        self.digest = digest_of(self._array.shape, grid, rows, named, *values, self._array[spread])

    def _draw(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        return as_uint8(self._array[rows]).reshape(len(rows), *self._shape_drawn)


def _places(space: FactorSpace, factors: object, n: int) -> NDArray[np.int64] | None:
    """Return the row of the space of each image."""
    if factors is None:
        if n != len(space):
            raise InputError("images", f"expected {len(space)}, one per row of the space, got {n}")
        return None
    places = space.rows(factors)  # type: ignore[arg-type]
    if len(places) != n:
        raise InputError(
            ("images", "factors"), f"expected one row of factors per image, got {n} images and {len(places)} rows"
        )
    return places
