"""A coloured object in the corner of a coloured room, seen from an angle.

The factors are those of Shapes3D (Burgess and Kim 2018), and nothing is taken from it. Light does not mix colours, so
an image is linear in the three of them: what is computed once is how much of each a pixel shows.
"""

from __future__ import annotations

import colorsys
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.data.images import ImageSet, digest_of
from demele.data.procedural.sprites import LICENCE, checked_counts, checked_size, line, varied
from demele.data.space import FactorSpace

# Rays into a room -----------------------------------------------------------------------------------------------------
#
# Every surface is met in closed form. Points and directions are arrays of shape (3, n): x, y, z of each ray.


#: Regions of the picture, in the order of the weights.
FLOOR, WALLS, OBJECT = 0, 1, 2
SHAPES: Final = ("ball", "box", "cylinder", "capsule")

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
    return Hit(distance, (away + _finite(distance) * directions) / radius)


def _upright_side(start: Floats, directions: Floats, *, radius: float, low: float, high: float) -> Hit:
    distance = _first_hit(start[:2], directions[:2], radius)
    place = start + _finite(distance) * directions
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


def _finite(distance: Floats) -> Floats:
    return np.where(np.isfinite(distance), distance, 0.0)


FACTORS: Final = ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "azimuth")
#: Changes whenever an image does.
VERSION: Final = 1

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
        values: dict[str, tuple[str, ...] | NDArray[np.float64]] = {
            **{name: np.arange(n) / n for name, n in zip(FACTORS, (floors, walls, objects), strict=False)},
            "scale": self._scales,
            "shape": SHAPES[:shapes],
            "azimuth": self._azimuths,
        }
        held = varied(values)
        period = {name: 360.0 if name == "azimuth" else 1.0 for name in held if name not in ("scale", "shape")}
        self._colours = [_colours(n) for n in self._counts[:3]]
        self._size = size
        self._weights: dict[int, NDArray[np.float32]] = {}  # of the regions, by scale, shape and azimuth
        super().__init__(
            name="room",
            shape=(size, size, 3),
            space=FactorSpace(held, period=period),
            digest=digest_of("room", VERSION, size, self._counts),
            provenance=f"A coloured object in a coloured room, {size} x {size} pixels, drawn by demele.data.room.",
            licence=LICENCE,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Pickle no weights: another process computes those that it needs."""
        return {**self.__dict__, "_weights": {}}

    def _draw(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        floor, wall, thing, *of_geometry = np.unravel_index(rows, self._counts)
        geometry = np.ravel_multi_index(tuple(of_geometry), self._counts[3:])
        for lacking in set(geometry.tolist()) - self._weights.keys():
            scale, shape, azimuth = np.unravel_index(lacking, self._counts[3:])
            placed = float(self._scales[scale]), float(self._azimuths[azimuth])
            weights = region_weights(self._size, SHAPES[shape], *placed).reshape(3, -1)
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


def _colours(hues: int) -> NDArray[np.float32]:
    """Return red, green and blue of evenly spaced hues, from 0 to 255: (hues, 3)."""
    mixed = [colorsys.hsv_to_rgb(hue / hues, SATURATION, VALUE) for hue in range(hues)]
    return (255 * np.array(mixed)).astype(np.float32)
