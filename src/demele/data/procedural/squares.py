"""Three squares, one per colour, on places that do not overlap: images whose pixels say nothing of what is near."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_whole
from demele.core.errors import InputError
from demele.data.images import ImageSet, digest_of
from demele.data.procedural.grids import LICENCE, checked_size
from demele.data.space import FactorSpace

FACTORS = ("red_x", "red_y", "green_x", "green_y", "blue_x", "blue_y")
#: Changes whenever an image does.
VERSION = 1


def squares(size: int = 32, square: int | None = None) -> ImageSet:
    """Return every image of a red, a green and a blue square on a grid of places; no file is needed.

    A square that moves by one place changes as many pixels as one that moves by three. A loss on pixels sees no
    neighbours, models that are trained with one find no axes, and metrics should say so. The idea is that of the set
    XYSquares by Michlo, James and Klein (2021).

    Parameters
    ----------
    size : int
        Height and width in pixels, 8 to 1024.
    square : int, optional
        Side of a square, which divides the size into at least two places; by default a quarter of the size.

    Returns
    -------
    ImageSet
        Images of (size, size, 3), (size / square)^6 many: 4096 by default. Factors: ``red_x``, ``red_y``, ``green_x``,
        ``green_y``, ``blue_x``, ``blue_y``, the place from the left and from the top, counted from 0.

    Raises
    ------
    InputError

    Examples
    --------
    >>> import demele
    >>> images = demele.data.squares(8, 4)
    >>> images.images(images.index([[1, 0, 0, 0, 0, 1]]))[0, ::4, ::4].tolist()  # red right, green left, blue below
    [[[0, 255, 0], [255, 0, 0]], [[0, 0, 255], [0, 0, 0]]]
    """
    return _Squares(size, square)


class _Squares(ImageSet):
    """The set that :func:`squares` returns."""

    def __init__(self, size: int, square: int | None) -> None:
        size = checked_size(size)
        if square is None and size % 4:
            raise InputError("size", f"expected a multiple of 4, for four places along each side, got {size}")
        square = size // 4 if square is None else square
        square = checked_whole(
            square,
            "square",
            f"a side that divides {size} into at least 2 places",
            inside=lambda side: 1 <= side <= size // 2 and size % side == 0,
        )
        self._size, self._square, self._places_along = size, square, size // square
        super().__init__(
            name="squares",
            shape=(size, size, 3),
            space=FactorSpace(
                {
                    f"{colour}_{axis}": np.arange(float(size // square))
                    for colour in ("red", "green", "blue")
                    for axis in "xy"
                }
            ),
            digest=digest_of("squares", VERSION, size, square),
            provenance=f"Three squares on a grid, {size} x {size} pixels, drawn by demele.data.squares.",
            licence=LICENCE,
        )

    def _draw(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        n, places = len(rows), self._places_along
        where = np.stack(np.unravel_index(rows, (places,) * 6), axis=-1)
        images = np.zeros((n, places, self._square, places, self._square, 3), dtype=np.uint8)
        for channel in range(3):
            x, y = where[:, 2 * channel], where[:, 2 * channel + 1]
            images[np.arange(n), y, :, x, :, channel] = 255
        return images.reshape(n, self._size, self._size, 3)
