"""Images whose colours lie in planes, one behind the other, in files or in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demele.data.loaders.stores import Pixels, RandomStore, Shape
from demele.data.mapped import StoredArray


def from_planes(stored: NDArray[np.uint8], shape: Shape, *, columns_first: bool = False) -> Pixels:
    """Return images of rows that hold a plane for each channel.

    Parameters
    ----------
    stored : array of uint8 of shape (n, channels * height * width)
    shape : (int, int, int)
        Height, width, channels.
    columns_first : bool
        A plane is stored column by column.

    Returns
    -------
    array of uint8 of shape (n, height, width, channels)

    Examples
    --------
    >>> found = from_planes(np.arange(8, dtype=np.uint8)[None], (2, 2, 2))
    >>> found[0, 0].tolist(), found[0, 1].tolist()
    ([[0, 4], [1, 5]], [[2, 6], [3, 7]])
    """
    height, width, channels = shape
    if columns_first:
        planes = stored.reshape(len(stored), channels, width, height).transpose(0, 3, 2, 1)
    else:
        planes = stored.reshape(len(stored), channels, height, width).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(planes)


class PlaneStore(RandomStore):
    """Images in the rows of an array, behind a few bytes of something else.

    Parameters
    ----------
    what : str
        The file, for messages.
    rows : StoredArray or array of uint8 of shape (n, skipped + channels * height * width)
    shape : (int, int, int)
        Height, width, channels.
    skipped : int
        Bytes of a row before the image.
    columns_first : bool
        A plane is stored column by column.
    """

    def __init__(
        self,
        what: str,
        rows: StoredArray | NDArray[np.uint8],
        shape: Shape,
        *,
        skipped: int = 0,
        columns_first: bool = False,
    ) -> None:
        super().__init__(what, len(rows), shape)
        rows[:0]  # mapped now: a file that takes its name later is another one
        self._rows, self._skipped, self._columns_first = rows, skipped, columns_first

    def _taken(self, rows: NDArray[np.int64]) -> Pixels:
        return from_planes(self._rows[rows][:, self._skipped :], self.shape, columns_first=self._columns_first)
