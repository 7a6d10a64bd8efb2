"""Images that are drawn by formulas: one white shape on black, three squares, and what such sets share.

The factors are those of dSprites (Matthey et al. 2017), and nothing is taken from it: an image is a count of points
inside a shape that a formula gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.errors import InputError, quoted
from demele.core.kinds import checked_name, checked_number, checked_whole, is_whole
from demele.core.table_columns import items_of
from demele.data.images import ImageSet, digest_of
from demele.data.space import FactorSpace

# What procedural sets share: how many values each factor takes, and the values along a line ---------------------------

#: Sides of images, in pixels: below, shapes cannot be told apart; above, an image takes more than a million pixels.
SMALLEST, LARGEST = 8, 1024
LICENCE = "made by a formula: free to use for anything"


def checked_size(size: object) -> int:
    """Return the side of an image, if it is one that can be drawn.

    Raises
    ------
    InputError
    """
    expected = f"a number of pixels from {SMALLEST} to {LARGEST}"
    return checked_whole(size, "size", expected, inside=lambda pixels: SMALLEST <= pixels <= LARGEST)


def checked_counts(counts: object, limits: Mapping[str, int | None]) -> tuple[int, ...]:
    """Return how many values each factor takes.

    Parameters
    ----------
    counts : object
        What the user gave.
    limits : mapping of str to int or None
        The factors, in order, with the largest number of values where there is one.

    Raises
    ------
    InputError, InputTypeError
        Naming the factor.
    """
    names = ", ".join(limits)
    counts = items_of(counts, "counts", f"a number of values for each of {names}")
    if len(counts) != len(limits):
        raise InputError("counts", f"expected {len(limits)} numbers of values, of {names}; got {len(counts)}")
    for (name, most), count in zip(limits.items(), counts, strict=True):
        if not is_whole(count) or count < 1 or (most is not None and count > most):
            bounds = "1 or more" if most is None else f"1 to {most}"
            raise InputError("counts", f"expected {bounds} for factor {name!r}, got {quoted(count)}")
    checked = tuple(int(count) for count in counts)
    if max(checked) == 1:
        raise InputError("counts", "expected at least one factor with 2 or more values: nothing varies")
    return checked


def line(low: float, high: float, count: int) -> NDArray[np.float64]:
    """Return ``count`` evenly spaced values from ``low`` to ``high``, both included; the middle alone for one."""
    if count == 1:
        return np.array([(low + high) / 2])
    return np.asarray(low + np.arange(count) * ((high - low) / (count - 1)))


def varied(values: Mapping[str, Sequence[Any] | NDArray[Any]]) -> dict[str, Any]:
    """Return the factors that take more than one value: the others are none."""
    return {name: held for name, held in values.items() if len(held) > 1}


Orientation = Literal["quarter", "full"]

SHAPES: Final = ("square", "ellipse", "heart")
#: After how many quarter turns a shape looks the same.
QUARTERS: Final = {"square": 1, "ellipse": 2, "heart": 4}
#: Changes whenever an image does.
VERSION: Final = 1
#: Points computed at a time, so that they fit in a processor's cache.
_POINTS: Final = 1 << 16


def sprites(
    size: int = 32,
    counts: tuple[int, int, int, int, int] = (3, 6, 8, 12, 12),
    *,
    orientation: Orientation = "quarter",
    supersample: int = 4,
    radius: float = 0.22,
) -> ImageSet:
    r"""Return every image of one shape that differs in kind, scale, orientation and place; no file is needed.

    Parameters
    ----------
    size : int
        Height and width in pixels, 8 to 1024.
    counts : (int, int, int, int, int)
        How many values shape (at most 3: square, ellipse, heart), scale, orientation, x and y take. A factor with one
        value is none: the shape is then a square, the scale 0.75, the angle 0, the place the middle.
    orientation : {"quarter", "full"}
        Angles from 0 to 90 degrees, or to 360, the end excluded. A quarter turn changes no square and a half turn no
        ellipse: only ``"quarter"`` can make all images different.
    supersample : int
        Points along the side of a pixel, 1 to 16: it has ``supersample ** 2`` + 1 levels of grey.
    radius : float
        Largest radius of a sprite, as a share of the size; at most 1/2 - 1/size.

    Returns
    -------
    ImageSet
        Images of (size, size, 1), the product of the counts many: 20 736 by default. They are drawn when they are asked
        for: of 32 x 32 pixels, 10 000 to 40 000 per second. Factors: ``shape``; ``scale``, from 0.5 to 1;
        ``orientation`` in degrees, clockwise; ``x`` and ``y`` of the centre, from the left and from the top, as shares
        of the size.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError

    Notes
    -----
    In the frame of a sprite, u to the right and v down, with :math:`p = (u + v)/\sqrt 2, q = (v - u)/\sqrt 2`:

    - square: :math:`|u|, |v| \le 1/\sqrt 2`, of area 2;
    - ellipse: :math:`u^2 + 4 v^2 \le 1`, of area :math:`\pi/2`;
    - heart: :math:`|p|, |q| \le 1/2`, or :math:`p^2 + (q + 1/2)^2 \le 1/4`, or :math:`(p + 1/2)^2 + q^2 \le 1/4`, of
      area :math:`(4 + \pi)/4`.

    This is turned, scaled by scale x radius x size pixels, and moved. The centre stays radius x size + 1 pixels away
    from the border. A pixel with k of its :math:`S^2` points inside is :math:`\lfloor 255 k / S^2 + 1/2 \rfloor`.

    Areas are right on average, and within 3 % in 99 of 100 images. The border of a small upright square falls between
    points: at 32 x 32 pixels its area is up to 9 % off, with ``supersample=16`` 2.5 %.

    All 20 736 default images of 32 x 32 pixels differ. At 16 x 16 pixels, 20 732 do: in four places the smallest square
    looks the same at 33.75 and at 56.25 degrees. With ``supersample=16`` all differ.

    Examples
    --------
    >>> import demele
    >>> images = demele.data.sprites()
    >>> images
    ImageSet(sprites: 20736 images of 32 x 32 x 1; 3 shape × 6 scale × 8 orientation × 12 x × 12 y)
    >>> images.factors([0])
        shape  scale  orientation        x        y
    0  square    0.5          0.0  0.25125  0.25125
    >>> int(images.images([0]).max())
    255
    """
    return _Sprites(size, counts, orientation, supersample, radius)


class _Sprites(ImageSet):
    """The set that :func:`sprites` returns."""

    def __init__(self, size: int, counts: object, orientation: str, supersample: int, radius: float) -> None:
        self._size = size = checked_size(size)
        self._counts = checked_counts(counts, {"shape": 3, "scale": None, "orientation": None, "x": None, "y": None})
        checked_name(orientation, "orientation", get_args(Orientation))
        whole = f"a number of points along a pixel from 1 to {16}"
        self._supersample = checked_whole(supersample, "supersample", whole, inside=lambda points: 1 <= points <= 16)
        most = 0.5 - 1 / size
        share = f"a share of the size above 0 and at most {most:g}"
        radius = checked_number(radius, "radius", share, inside=lambda share: 0 < share <= most)
        self._radius = radius * size
        self._turns = 1 if orientation == "quarter" else 4
        shapes, scales, angles, columns, rows = self._counts
        margin = self._radius + 1
        self._scales = line(0.5, 1.0, scales)
        self._columns, self._rows = line(margin, size - margin, columns), line(margin, size - margin, rows)
        values: dict[str, tuple[str, ...] | Floats] = {
            "shape": SHAPES[:shapes],
            "scale": self._scales,
            "orientation": np.asarray(np.arange(angles) * (90.0 * self._turns / angles)),
            "x": self._columns / size,
            "y": self._rows / size,
        }
        super().__init__(
            name="sprites",
            shape=(size, size, 1),
            space=_space(varied(values)),
            digest=digest_of("sprites", VERSION, size, self._counts, orientation, self._supersample, radius),
            provenance=f"White shapes on black, {size} x {size} pixels, drawn by demele.data.sprites.",
            licence=LICENCE,
        )

    def _draw(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        shape, scale, angle, column, row = np.unravel_index(rows, self._counts)
        size, half, points = self._size, int(np.ceil(self._radius)), self._supersample
        box = 2 * half + 1
        images = np.zeros((len(rows), size, size, 1), dtype=np.uint8)
        total = points**2
        grey = ((255 * np.arange(total + 1) + total // 2) // total).astype(np.uint8)  # by points inside a pixel
        block = max(1, _POINTS // (box * points) ** 2)
        for kind in np.unique(shape):
            drawn = np.flatnonzero(shape == kind)
            for start in range(0, len(drawn), block):
                part = drawn[start : start + block]
                x, y = self._columns[column[part]], self._rows[row[part]]
                left, top = np.floor(x).astype(int) - half, np.floor(y).astype(int) - half
                cosine, sine = _cosine_and_sine(angle[part] * self._turns, self._counts[2], kind=SHAPES[kind])
                radii = self._scales[scale[part]] * self._radius
                inside = _inside(SHAPES[kind], x - left, y - top, cosine / radii, sine / radii, box, points)
                of_rows = reduce(np.add, [inside[:, index::points].view(np.uint8) for index in range(points)])
                counts = [of_rows[:, :, index::points].astype(np.uint16) for index in range(points)]
                boxes = grey[reduce(np.add, counts)]
                for image, i, j, square in zip(part, top, left, boxes, strict=True):
                    images[image, i : i + box, j : j + box, 0] = square
        return images


def _space(values: dict[str, Any]) -> FactorSpace:
    if "orientation" not in values:
        return FactorSpace(values)
    periods = {shape: 90.0 * QUARTERS[shape] for shape in values.get("shape", ())}
    return FactorSpace(
        values,
        period={"orientation": 360.0},
        symmetric=[("orientation", "shape", shape, period) for shape, period in periods.items() if period < 360],
    )


def _cosine_and_sine(quarters: NDArray[np.int64], parts: int, *, kind: str) -> tuple[Floats, Floats]:
    """Cosine and sine of quarters / parts quarter turns, those of whole quarter turns exact.

    A heart is two half discs on a square that stands on its corner: its axes are turned by half a quarter more.
    """
    whole, rest = np.divmod(2 * quarters + (parts if kind == "heart" else 0), 2 * parts)
    cosine, sine = np.cos(np.pi / 2 * (rest / (2 * parts))), np.sin(np.pi / 2 * (rest / (2 * parts)))
    turned = np.choose(whole % 4, [cosine, -sine, -cosine, sine]), np.choose(whole % 4, [sine, cosine, -sine, -cosine])
    return turned[0], turned[1]


def _inside(kind: str, x: Floats, y: Floats, cosine: Floats, sine: Floats, box: int, points: int) -> NDArray[np.bool_]:
    """Which points of a box around each sprite are inside: (n, box x points, box x points), rows first.

    Parameters
    ----------
    kind : str
    x, y : arrays of shape (n,)
        Centres, from the left upper corner of the box, in pixels.
    cosine, sine : arrays of shape (n,)
        Of the angle, divided by the radius.
    box, points : int
        Pixels along the box, points along a pixel.
    """
    place = (np.arange(box * points) + 0.5) / points
    right, down = place - x[:, None], place - y[:, None]
    u = (cosine[:, None] * right)[:, None, :] + (sine[:, None] * down)[:, :, None]
    v = (cosine[:, None] * down)[:, :, None] - (sine[:, None] * right)[:, None, :]
    if kind == "square":
        found = np.maximum(np.abs(u, out=u), np.abs(v, out=v), out=u) <= np.sqrt(0.5)
    elif kind == "ellipse":
        found = np.square(u, out=u) + 4 * np.square(v, out=v) <= 1
    else:  # u and v are p and q
        found = np.maximum(np.abs(u), np.abs(v)) <= 0.5
        found |= u**2 + (v + 0.5) ** 2 <= 0.25
        found |= (u + 0.5) ** 2 + v**2 <= 0.25
    return np.asarray(found)


# Three squares, one per colour, on places that do not overlap ---------------------------------------------------------


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
            digest=digest_of("squares", 1, size, square),  # the 1 changes whenever an image does
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
