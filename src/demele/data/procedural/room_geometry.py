"""Rays into a room: where each meets the floor, the walls and the object, and how bright it is there.

Every surface is met in closed form. Points and directions are arrays of shape (3, n): x, y, z of each ray.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

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
    distances = np.stack([hit.distance for hit in hits])
    nearest = distances.argmin(axis=0)
    shades = np.stack([_shade(hit.normal) if shaded else np.ones(directions.shape[1]) for hit in hits])
    regions = np.array([FLOOR, WALLS, WALLS, OBJECT])[nearest]
    shade = np.take_along_axis(shades, nearest[None], axis=0)[0]
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
    distance = _first_root(
        (directions**2).sum(axis=0), (away * directions).sum(axis=0), (away**2).sum(axis=0) - radius**2
    )
    return Hit(distance, (away + _finite(distance) * directions) / radius)


def _upright_side(start: Floats, directions: Floats, *, radius: float, low: float, high: float) -> Hit:
    flat = directions[:2]
    distance = _first_root(
        (flat**2).sum(axis=0), (start[:2] * flat).sum(axis=0), (start[:2] ** 2).sum(axis=0) - radius**2
    )
    place = start + _finite(distance) * directions
    normal = np.stack([place[0] / radius, place[1] / radius, np.zeros(place.shape[1])])
    return Hit(np.where((place[2] >= low) & (place[2] <= high), distance, np.inf), normal)


def _first_root(square: Floats, half_linear: Floats, constant: Floats) -> Floats:
    """Return the smaller t with square t^2 + 2 half_linear t + constant = 0; infinite where there is none."""
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


def _shade(normal: Floats) -> Floats:
    facing = (normal * (LIGHT / np.linalg.norm(LIGHT))[:, None]).sum(axis=0)
    found: Floats = DARKEST + LIT * np.maximum(facing, 0.0)
    return found
