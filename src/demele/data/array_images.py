"""Images that an array holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError
from demele.data.images import ImageSet, digest_of
from demele.data.space import FactorSpace

if TYPE_CHECKING:
    import pandas as pd


class ArrayImages(ImageSet):
    """Images that an array holds, in memory or mapped to a file.

    Parameters
    ----------
    images : array of uint8 of shape (n, height, width) or (n, height, width, channels)
        Not copied.
    space : FactorSpace, optional
        The grid of the factors. Without ``factors``, row r of the images is row r of the space.
    factors : DataFrame of shape (n, n_factors), optional
        The factors of each image: with a space, values of it; without, any.
    name, provenance, licence : str, optional
    digest : str, optional
        By default it is made from the shape, the factors, and 64 images spread over the set.

    Raises
    ------
    InputError, InputTypeError

    Examples
    --------
    >>> from demele.data import ArrayImages, FactorSpace
    >>> images = ArrayImages(np.arange(6, dtype=np.uint8).reshape(6, 1, 1), space=FactorSpace({"x": 3, "y": 2}))
    >>> images
    ImageSet(images: 6 images of 1 x 1 x 1; 3 x x 2 y)
    >>> images.images(images.index([[2, 1]])).ravel().tolist()
    [5]
    """

    def __init__(
        self,
        images: NDArray[np.uint8],
        *,
        space: FactorSpace | None = None,
        factors: pd.DataFrame | None = None,
        name: str = "images",
        provenance: str = "",
        licence: str = "",
        digest: str | None = None,
    ) -> None:
        self._array = _four_axes(images)
        n = len(self._array)
        expected = len(factors) if factors is not None else n if space is None else len(space)
        if expected != n:
            rows_of = "the factors" if factors is not None else "the space"
            raise InputError("images", f"expected {expected}, one per row of {rows_of}, got {n}")
        places, table = None, None
        if space is None:
            table = _no_factors(n) if factors is None else factors.reset_index(drop=True)
        elif factors is not None:
            places = space.rows(factors)
        super().__init__(
            name=name,
            shape=self._array.shape[1:],
            space=space,
            places=places,
            table=table,
            digest=digest or "",
            provenance=provenance,
            licence=licence,
        )
        self.digest = digest or self._digest()

    def _draw(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        return np.asarray(self._array[rows])

    def _digest(self) -> str:
        spread = np.unique(np.linspace(0, len(self) - 1, 64).astype(np.int64))
        factors = [np.asarray(column) for _, column in self._table.items()] if self._table is not None else []
        named = [] if self._table is None else list(self._table)
        values = [column if column.dtype.kind in "iufb" else column.astype(str) for column in factors]
        grid = "" if self.space is None else self.space.to_json()
        places = np.empty(0) if self._places is None else self._places
        return digest_of(self._array.shape, grid, places, named, *values, self._array[spread])


def _four_axes(images: object) -> NDArray[np.uint8]:
    if not isinstance(images, np.ndarray):
        raise InputTypeError("images", f"expected an array, got {type(images).__name__}; use numpy.asarray")
    if images.dtype != np.uint8:
        raise InputTypeError("images", f"expected uint8, from 0 to 255, got {images.dtype}")
    array = images[..., None] if images.ndim == 3 else images
    if array.ndim != 4 or 0 in array.shape:
        raise InputError(
            "images", f"expected shape (n, height, width) or (n, height, width, channels), got {images.shape}"
        )
    return array


def _no_factors(n: int) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(index=pd.RangeIndex(n))
