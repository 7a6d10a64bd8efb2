"""A coloured object in the corner of a coloured room, seen from an angle.

The factors are those of Shapes3D (Burgess and Kim 2018), and nothing is taken from it. Light does not mix colours, so
an image is linear in the three of them: what is computed once is how much of each a pixel shows.
"""

from __future__ import annotations

import colorsys
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from demele.data.images import ImageSet, digest_of
from demele.data.procedural.grids import LICENCE, checked_counts, checked_size, line, varied
from demele.data.procedural.room_geometry import SHAPES, region_weights
from demele.data.space import FactorSpace

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
        self._allocate()
        super().__init__(
            name="room",
            shape=(size, size, 3),
            space=FactorSpace(held, period=period),
            digest=digest_of("room", VERSION, size, self._counts),
            provenance=f"A coloured object in a coloured room, {size} x {size} pixels, drawn by demele.data.room.",
            licence=LICENCE,
        )

    def _allocate(self) -> None:
        """Make room for the weights; the system gives the memory when they are written."""
        geometries = int(np.prod(self._counts[3:]))
        self._weights = np.zeros((geometries, 3, self._size**2), dtype=np.float32)
        self._computed = np.zeros(geometries, dtype=bool)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle no weights: another process computes those that it needs."""
        return {name: held for name, held in self.__dict__.items() if name not in ("_weights", "_computed")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._allocate()

    def _draw(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        floor, wall, thing, *of_geometry = np.unravel_index(rows, self._counts)
        geometry = np.ravel_multi_index(tuple(of_geometry), self._counts[3:])
        for lacking in np.unique(geometry[~self._computed[geometry]]):
            scale, shape, azimuth = np.unravel_index(lacking, self._counts[3:])
            placed = float(self._scales[scale]), float(self._azimuths[azimuth])
            self._weights[lacking] = region_weights(self._size, SHAPES[shape], *placed).reshape(3, -1)
            self._computed[lacking] = True
        colours = np.stack([held[hue] for held, hue in zip(self._colours, (floor, wall, thing), strict=True)], axis=1)
        images = np.empty((len(rows), self._size**2, 3), dtype=np.uint8)
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            weights, mixed = self._weights[geometry[part]], colours[part, :, :, None]
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
