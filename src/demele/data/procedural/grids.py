"""Images that are drawn by formulas on grids of factors: a white shape, three squares, an object in a room.

The factors of the first are those of dSprites (Matthey et al. 2017), of the last those of Shapes3D (Burgess and Kim
2018), and nothing is taken from either.
"""

from __future__ import annotations

import colorsys
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Array, Bytes, Counts, Flags, Floats
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


def line(low: float, high: float, count: int) -> Floats:
    """Return ``count`` evenly spaced values from ``low`` to ``high``, both included; the middle alone for one."""
    if count == 1:
        return np.array([(low + high) / 2])
    return np.asarray(low + np.arange(count) * ((high - low) / (count - 1)))


def varied(values: Mapping[str, Sequence[Any] | Array]) -> dict[str, Any]:
    """Return the factors that take more than one value: the others are none."""
    return {name: held for name, held in values.items() if len(held) > 1}


Orientation = Literal["quarter", "full"]

SHAPES: Final = ("square", "ellipse", "heart")
#: After how many quarter turns a shape looks the same.
QUARTERS: Final = {"square": 1, "ellipse": 2, "heart": 4}
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
            # the 1 changes whenever an image does
            digest=digest_of("sprites", 1, size, self._counts, orientation, self._supersample, radius),
            provenance=f"White shapes on black, {size} x {size} pixels, drawn by demele.data.sprites.",
            licence=LICENCE,
        )

    def _draw(self, rows: Counts) -> Bytes:
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


def _cosine_and_sine(quarters: Counts, parts: int, *, kind: str) -> tuple[Floats, Floats]:
    """Cosine and sine of quarters / parts quarter turns, those of whole quarter turns exact.

    A heart is two half discs on a square that stands on its corner: its axes are turned by half a quarter more.
    """
    whole, rest = np.divmod(2 * quarters + (parts if kind == "heart" else 0), 2 * parts)
    cosine, sine = np.cos(np.pi / 2 * (rest / (2 * parts))), np.sin(np.pi / 2 * (rest / (2 * parts)))
    turned = np.choose(whole % 4, [cosine, -sine, -cosine, sine]), np.choose(whole % 4, [sine, cosine, -sine, -cosine])
    return turned[0], turned[1]


def _inside(kind: str, x: Floats, y: Floats, cosine: Floats, sine: Floats, box: int, points: int) -> Flags:
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

    def _draw(self, rows: Counts) -> Bytes:
        n, places = len(rows), self._places_along
        where = np.stack(np.unravel_index(rows, (places,) * 6), axis=-1)
        images = np.zeros((n, places, self._square, places, self._square, 3), dtype=np.uint8)
        for channel in range(3):
            x, y = where[:, 2 * channel], where[:, 2 * channel + 1]
            images[np.arange(n), y, :, x, :, channel] = 255
        return images.reshape(n, self._size, self._size, 3)


# A coloured object in the corner of a coloured room, seen from an angle -----------------------------------------------
#
# Light does not mix colours, so an image is linear in the three of them: what is computed once is how much of each a
# pixel shows. Surfaces are met in closed form. Points and directions are arrays of shape (3, n): x, y, z of each ray.


#: Regions of the picture, in the order of the weights.
FLOOR, WALLS, OBJECT = 0, 1, 2

WALL: Final = -2.5  # x of one wall and y of the other; the floor is z = 0
UNIT: Final = 0.62  # size of an object of scale 1
DISTANCE, HEIGHT, AIM = 4.2, 2.1, 0.75  # of the camera from the axis and above the floor; it looks at this height
HALF_WIDTH: Final = 0.34  # of the image plane at distance 1
AHEAD: Final = 45.0  # degrees from the x axis to the camera at azimuth 0: it looks into the corner
RAYS: Final = 2  # along the side of a pixel
DARKEST, LIT = 0.45, 0.55  # shade of what faces away from the light, and what facing it adds
LIGHT: Final = np.array([0.35, 0.6, 0.72])


class Hit(NamedTuple):
    """Where rays meet a surface.

    Attributes
    ----------
    distance : array of shape (n,)
        In lengths of the direction; infinite where a ray does not meet it.
    normal : array of shape (3, n)
        Of length 1; anything where a ray does not meet it.
    """

    distance: Floats
    normal: Floats


def region_weights(size: int, shape: str, scale: float, azimuth: float, *, shaded: bool = True) -> Floats:
    """Return how much of each region every pixel shows.

    Parameters
    ----------
    size : int
        Height and width in pixels.
    shape : {"ball", "box", "cylinder", "capsule"}
    scale : float
    azimuth : float
        Degrees that the camera has gone around the object, from where it looks straight into the corner.
    shaded : bool
        False leaves out the light: the weights are the shares of the pixel, and sum to 1.

    Returns
    -------
    array of shape (3, size, size)
        For floor, walls and object the mean over the rays of a pixel of the shade of what they hit, 0 where that is
        another region.
    """
    start, directions = camera_rays(size, azimuth)
    floor, *walls = room_hits(start, directions)
    hits = [floor, *walls, OBJECTS[shape](start, directions, UNIT * scale)]
    regions = np.array([FLOOR, WALLS, WALLS, OBJECT])[np.stack([hit.distance for hit in hits]).argmin(axis=0)]
    facing = (_nearest(*hits).normal * (LIGHT / np.linalg.norm(LIGHT))[:, None]).sum(axis=0)
    shade = DARKEST + LIT * np.maximum(facing, 0.0) if shaded else 1.0
    weights = np.where(np.arange(3)[:, None] == regions, shade, 0.0)
    return np.asarray(weights.reshape(3, size, RAYS, size, RAYS).mean(axis=(2, 4)))


def camera_rays(size: int, azimuth: float) -> tuple[Floats, Floats]:
    """Return where all rays start, (3, 1), and their directions, (3, n): row by row of the picture, from the top."""
    angle = np.radians(AHEAD + azimuth)
    start = np.array([DISTANCE * np.cos(angle), DISTANCE * np.sin(angle), HEIGHT])
    forward = np.array([0.0, 0.0, AIM]) - start
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    along = HALF_WIDTH * ((np.arange(size * RAYS) + 0.5) * 2 / (size * RAYS) - 1)
    across = forward[:, None, None] + right[:, None, None] * along - up[:, None, None] * along[:, None]
    return start[:, None], across.reshape(3, -1)


def room_hits(start: Floats, directions: Floats) -> tuple[Hit, Hit, Hit]:
    """Return where rays from inside the room meet the floor and the two walls, all without ends.

    The room lies on one side of each of them, so that a ray leaves it where it meets the first.
    """

    def plane(axis: int, place: float) -> Hit:
        with np.errstate(divide="ignore"):
            distance = (place - start[axis]) / directions[axis]
        normal = np.zeros_like(directions)
        normal[axis] = 1.0
        return Hit(np.where(directions[axis] < 0, distance, np.inf), normal)

    return plane(2, 0.0), plane(0, WALL), plane(1, WALL)


# Objects, of a size, standing on the floor over the origin ------------------------------------------------------------


def ball(start: Floats, directions: Floats, size: float) -> Hit:
    """Return where rays meet a ball of radius ``size``."""
    return _sphere(start, directions, height=size, radius=size)


def box(start: Floats, directions: Floats, size: float) -> Hit:
    """Return where rays meet a cube of half side 0.8 ``size``, its sides along the walls."""
    half = 0.8 * size
    middle = np.array([0.0, 0.0, half])[:, None]
    with np.errstate(divide="ignore"):
        ends = (middle + np.array([[[-half]], [[half]]]) - start) / directions
    enters, leaves = ends.min(axis=0), ends.max(axis=0)
    distance, axis = enters.max(axis=0), enters.argmax(axis=0)
    normal = np.where(np.arange(3)[:, None] == axis, -np.sign(directions), 0.0)
    return Hit(np.where(distance <= leaves.min(axis=0), distance, np.inf), normal)


def cylinder(start: Floats, directions: Floats, size: float) -> Hit:
    """Return where rays meet an upright cylinder of radius 0.8 ``size`` and height 1.8 ``size``."""
    radius, height = 0.8 * size, 1.8 * size
    side = _upright_side(start, directions, radius=radius, low=0.0, high=height)
    with np.errstate(divide="ignore"):
        to_top = (height - start[2]) / directions[2]
    place = start + to_top * directions
    on_top = (directions[2] < 0) & (place[0] ** 2 + place[1] ** 2 <= radius**2)
    upward = np.zeros_like(directions)
    upward[2] = 1.0
    return _nearest(side, Hit(np.where(on_top, to_top, np.inf), upward))


def capsule(start: Floats, directions: Floats, size: float) -> Hit:
    """Return where rays meet an upright capsule of radius 0.6 ``size`` with centres at 0.6 and 1.7 ``size``."""
    radius, low, high = 0.6 * size, 0.6 * size, 1.7 * size
    side = _upright_side(start, directions, radius=radius, low=low, high=high)
    ends = [_sphere(start, directions, height=height, radius=radius) for height in (low, high)]
    return _nearest(side, *ends)


OBJECTS: Final = {"ball": ball, "box": box, "cylinder": cylinder, "capsule": capsule}


def _sphere(start: Floats, directions: Floats, *, height: float, radius: float) -> Hit:
    away = start - np.array([0.0, 0.0, height])[:, None]
    distance = _first_hit(away, directions, radius)
    return Hit(distance, (away + np.where(np.isfinite(distance), distance, 0.0) * directions) / radius)


def _upright_side(start: Floats, directions: Floats, *, radius: float, low: float, high: float) -> Hit:
    distance = _first_hit(start[:2], directions[:2], radius)
    place = start + np.where(np.isfinite(distance), distance, 0.0) * directions
    normal = np.stack([place[0] / radius, place[1] / radius, np.zeros(place.shape[1])])
    return Hit(np.where((place[2] >= low) & (place[2] <= high), distance, np.inf), normal)


def _first_hit(away: Floats, directions: Floats, radius: float) -> Floats:
    """Return the smaller t > 0 with away + t directions as long as the radius; infinite where there is none."""
    square, half_linear = (directions**2).sum(axis=0), (away * directions).sum(axis=0)
    constant = (away**2).sum(axis=0) - radius**2
    inside = half_linear**2 - square * constant
    with np.errstate(divide="ignore", invalid="ignore"):
        root = (-half_linear - np.sqrt(np.maximum(inside, 0.0))) / square
    return np.where((inside >= 0) & (root > 0), root, np.inf)


def _nearest(*hits: Hit) -> Hit:
    distances = np.stack([hit.distance for hit in hits])
    first = distances.argmin(axis=0)[None]
    normals = np.stack([hit.normal for hit in hits])
    return Hit(np.take_along_axis(distances, first, axis=0)[0], np.take_along_axis(normals, first[None], axis=0)[0])


FACTORS: Final = ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "azimuth")

TURN: Final = 30.0  # degrees that the azimuth goes to either side
SATURATION, VALUE = 0.75, 1.0  # of every colour

#: Images mixed at a time, so that their sums fit in a processor's cache.
_BLOCK: Final = 16


def room(size: int = 32, counts: tuple[int, int, int, int, int, int] = (6, 6, 6, 4, 4, 6)) -> ImageSet:
    r"""Return every image of a coloured object in a coloured room; no file is needed.

    Parameters
    ----------
    size : int
        Height and width in pixels, 8 to 1024.
    counts : (int, int, int, int, int, int)
        How many values floor hue, wall hue, object hue, scale, shape (at most 4: ball, box, cylinder, capsule) and
        azimuth take. A factor with one value is none: a hue is then red, the scale 1, the shape a ball, the azimuth 0.
        ``(10, 10, 10, 8, 4, 15)`` are those of Shapes3D.

    Returns
    -------
    ImageSet
        Images of (size, size, 3), red, green, blue; the product of the counts many: 20 736 by default. Factors:
        ``floor_hue``, ``wall_hue``, ``object_hue`` in [0, 1), cyclic; ``scale``, from 0.75 to 1.25; ``shape``;
        ``azimuth`` of the camera in degrees, from -30 to 30.

    Raises
    ------
    InputError, InputTypeError

    Notes
    -----
    With :math:`W_r` the mean over the 2 x 2 rays of a pixel of the shade of what they hit, where that is region r,

    .. math:: \text{image} = \operatorname{round}\Bigl(255 \sum_r W_r(\text{scale}, \text{shape}, \text{azimuth})\,
        \text{colour}_r\Bigr), \quad \text{colour} = \text{HSV}(\text{hue}, 0.75, 1).

    The world has z up, the floor at z = 0, walls at x = -2.5 and y = -2.5, and the object on the origin. With
    :math:`r = 0.62` x scale: a ball of radius r; a box of half side 0.8 r; a cylinder of radius 0.8 r and height 1.8 r;
    a capsule of radius 0.6 r with centres at 0.6 r and 1.7 r. The camera is at (4.2 cos a, 4.2 sin a, 2.1), a being 45
    degrees + azimuth, and looks at (0, 0, 0.75); its image plane is 0.68 wide at distance 1. Shade is
    0.45 + 0.55 max(0, N.L) with the normal N and the light L along (0.35, 0.6, 0.72). There are no shadows. The corner
    of the room shows the azimuth behind round objects too.

    The weights of each scale, shape and azimuth are computed when they are first needed, in 3 ms at 64 x 64 pixels, and
    kept: 48 KB each. From then on some 30 000 images are drawn per second, 90 000 of 32 x 32 pixels.

    Examples
    --------
    >>> import demele
    >>> images = demele.data.room(64, (10, 10, 10, 8, 4, 15))
    >>> len(images), images.shape
    (480000, (64, 64, 3))
    >>> images.factors([479999])
       floor_hue  wall_hue  object_hue  scale    shape  azimuth
    0        0.9       0.9         0.9   1.25  capsule     30.0
    >>> images.images([479999])[0, 0, 0].tolist()  # a wall, in the light from the side
    [199, 50, 139]
    """
    return _Room(size, counts)


class _Room(ImageSet):
    """The set that :func:`room` returns."""

    def __init__(self, size: int, counts: object) -> None:
        size = checked_size(size)
        self._counts = checked_counts(counts, {name: 4 if name == "shape" else None for name in FACTORS})
        floors, walls, objects, scales, shapes, azimuths = self._counts
        self._scales, self._azimuths = line(0.75, 1.25, scales), line(-TURN, TURN, azimuths)
        values: dict[str, tuple[str, ...] | Floats] = {
            **{name: np.arange(n) / n for name, n in zip(FACTORS, (floors, walls, objects), strict=False)},
            "scale": self._scales,
            "shape": tuple(OBJECTS)[:shapes],
            "azimuth": self._azimuths,
        }
        held = varied(values)
        period = {name: 360.0 if name == "azimuth" else 1.0 for name in held if name not in ("scale", "shape")}
        self._colours = [  # red, green and blue of evenly spaced hues, from 0 to 255: (hues, 3) each
            (255 * np.array([colorsys.hsv_to_rgb(hue / n, SATURATION, VALUE) for hue in range(n)])).astype(np.float32)
            for n in self._counts[:3]
        ]
        self._size = size
        self._weights: dict[int, NDArray[np.float32]] = {}  # of the regions, by scale, shape and azimuth
        super().__init__(
            name="room",
            shape=(size, size, 3),
            space=FactorSpace(held, period=period),
            digest=digest_of("room", 1, size, self._counts),  # the 1 changes whenever an image does
            provenance=f"A coloured object in a coloured room, {size} x {size} pixels, drawn by demele.data.room.",
            licence=LICENCE,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Pickle no weights: another process computes those that it needs."""
        return {**self.__dict__, "_weights": {}}

    def _draw(self, rows: Counts) -> Bytes:
        floor, wall, thing, *of_geometry = np.unravel_index(rows, self._counts)
        geometry = np.ravel_multi_index(tuple(of_geometry), self._counts[3:])
        for lacking in set(geometry.tolist()) - self._weights.keys():
            scale, shape, azimuth = np.unravel_index(lacking, self._counts[3:])
            placed = float(self._scales[scale]), float(self._azimuths[azimuth])
            weights = region_weights(self._size, tuple(OBJECTS)[shape], *placed).reshape(3, -1)
            self._weights[lacking] = weights.astype(np.float32)
        colours = np.stack([held[hue] for held, hue in zip(self._colours, (floor, wall, thing), strict=True)], axis=1)
        images = np.empty((len(rows), self._size**2, 3), dtype=np.uint8)
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            weights, mixed = np.stack([self._weights[one] for one in geometry[part]]), colours[part, :, :, None]
            for channel in range(3):
                sums = weights[:, 0] * mixed[:, 0, channel]
                sums += weights[:, 1] * mixed[:, 1, channel]
                sums += weights[:, 2] * mixed[:, 2, channel]
                images[part, :, channel] = sums + np.float32(0.5)  # cut off where it becomes a whole number
        return images.reshape(len(rows), self._size, self._size, 3)
