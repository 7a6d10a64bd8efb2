"""Images that an array holds, in memory or in a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, quoted
from demele.data.factor_tables import factor_table, grid_of
from demele.data.images import ImageSet, digest_of
from demele.data.mapped import StoredArray
from demele.data.pixels import as_uint8, check_type, check_values, checked_shape
from demele.data.space import FactorSpace


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
