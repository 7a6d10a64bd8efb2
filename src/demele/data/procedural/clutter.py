"""Ten glyphs of a few strokes, turned, moved and stretched among clutter: small networks do not saturate on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.kinds import Count, CountOrNone, Seed, between, checked, checked_whole
from demele.data.images import ImageSet, digest_of
from demele.data.procedural.grids import LICENCE
from demele.data.space import FactorSpace

# Scenes of ten stroke glyphs among clutter, and their pixels ----------------------------------------------------------
#
# Lengths are in units of 1/64 pixel, x to the right and y down; ``//`` and ``>>`` round down; hashing is modulo 2^64.

Whole = NDArray[np.int64]
Words = NDArray[np.uint64]

GLYPHS: Final = ("L", "T", "plus", "Y", "triangle", "square", "U", "Z", "S", "H")
#: Strokes of each glyph, (x0, y0, x1, y1) in quarter radii.
STROKES: Final = (
    ((-2, -4, -2, 4), (-2, 4, 3, 4)),
    ((-4, -4, 4, -4), (0, -4, 0, 4)),
    ((-4, 0, 4, 0), (0, -4, 0, 4)),
    ((0, 0, 0, 4), (0, 0, -3, -4), (0, 0, 3, -4)),
    ((0, -4, 4, 3), (4, 3, -4, 3), (-4, 3, 0, -4)),
    ((-3, -3, 3, -3), (3, -3, 3, 3), (3, 3, -3, 3), (-3, 3, -3, -3)),
    ((-3, -3, -3, 3), (-3, 3, 3, 3), (3, 3, 3, -3)),
    ((-3, -4, 3, -4), (3, -4, -3, 4), (-3, 4, 3, 4)),
    ((3, -4, -3, -4), (-3, -4, 3, 4), (3, 4, -3, 4)),
    ((-3, -4, -3, 4), (3, -4, 3, 4), (-3, 0, 3, 0)),
)

UNIT: Final = 64  # of a pixel
SUBPOINTS: Final = 4  # along the side of a pixel
MIDDLE: Final = 128  # grey
_TURN: Final = 256  # steps of a whole turn
COSINES: Final = np.rint(16384 * np.cos(2 * np.pi * np.arange(_TURN) / _TURN)).astype(np.int64)
SINES: Final = COSINES[(np.arange(_TURN) - _TURN // 4) % _TURN]


class Level(NamedTuple):
    """What a level of difficulty allows; ranges include both ends.

    Attributes
    ----------
    rotation : int
        Steps of 1/256 turn to either side.
    radius : (int, int)
    aspect, jitter : int
        To either side.
    contrast : (int, int)
        In grey levels.
    polarity : bool
        Whether glyphs may be dark.
    distractors : int
        The most.
    hole : int
        Its longest side in pixels, of 16 x 16; 0 for none.
    background : int
        In grey levels to either side.
    noise : int
        Nominal standard deviation in grey levels.
    """

    rotation: int
    radius: tuple[int, int]
    aspect: int
    jitter: int
    contrast: tuple[int, int]
    polarity: bool
    distractors: int
    hole: int
    background: int
    noise: int


LEVELS: Final = (
    Level(0, (300, 360), 0, 0, (90, 110), False, 0, 0, 0, 4),
    Level(12, (256, 352), 24, 16, (70, 110), True, 1, 0, 16, 8),
    Level(32, (240, 352), 40, 28, (56, 108), True, 3, 3, 24, 12),
    Level(128, (256, 352), 40, 28, (64, 112), True, 2, 2, 24, 10),
    Level(128, (240, 352), 48, 32, (56, 108), True, 4, 3, 28, 12),
)


# Draws: functions of a seed, the number of the image and the number of a field ----------------------------------------

_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_NOISE_FIELD: Final = 1 << 20  # of the first pixel
_JITTER_FIELD: Final = 999  # of the first vertex; y comes 128 later


def mixed(words: Words) -> Words:
    """Return words of 64 bits that look random: the finaliser of splitmix64."""
    words = words ^ (words >> np.uint64(30))
    words = words * np.uint64(0xBF58476D1CE4E5B9)
    words = words ^ (words >> np.uint64(27))
    words = words * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def bases(seed: int, index: Whole) -> Words:
    """Return the word that all draws of an image come from: shape (n,)."""
    start = mixed(np.array([seed % 2**64], dtype=np.uint64) + _STEP)
    return mixed(start + index.astype(np.uint64))


def words_of(base: Words, field: Whole | int) -> Words:
    """Return the random words of some fields, with the shape that both broadcast to."""
    place = np.atleast_1d(field).astype(np.uint64) + np.uint64(1)  # arrays overflow in silence, as they must
    return mixed(base + place * _STEP)


def whole(base: Words, field: Whole | int, low: int, high: int) -> Whole:
    """Return draws from ``low`` to ``high``, evenly, of some fields."""
    half, count = words_of(base, field) >> np.uint64(32), np.uint64(high - low + 1)
    return low + ((half * count) >> np.uint64(32)).astype(np.int64)


# Strokes and paint ----------------------------------------------------------------------------------------------------


def covered_points(ends: Sequence[Whole], half_width: Whole, size: int) -> NDArray[np.bool_]:
    """Return which sub-points are inside one stroke in each of n images, ends square.

    Parameters
    ----------
    ends : x0, y0, x1, y1, arrays of shape (n,), in units
    half_width : array of shape (n,)
    size : int

    Returns
    -------
    array of shape (n, size x 4, size x 4), rows first
    """
    x0, y0, x1, y1 = ends
    across, down = x1 - x0, y1 - y0
    squared = across**2 + down**2
    reach = 2 * half_width * _roots(squared)
    places = (2 * np.arange(size * SUBPOINTS) + 1) * (UNIT // SUBPOINTS)  # twice the place of a sub-point
    right = (places - (x0 + x1)[:, None]).astype(np.int32)
    below = (places - (y0 + y1)[:, None]).astype(np.int32)
    dx, dy = across.astype(np.int32)[:, None], down.astype(np.int32)[:, None]
    along = (right * dx)[:, None, :] + (below * dy)[:, :, None]
    inside: NDArray[np.bool_] = np.abs(along, out=along) <= (squared + reach).astype(np.int32)[:, None, None]
    aside = (right * dy)[:, None, :] - (below * dx)[:, :, None]
    inside &= np.abs(aside, out=aside) <= reach.astype(np.int32)[:, None, None]
    return inside


def _roots(squares: Whole) -> Whole:
    """Return whole square roots, rounded down; squares are below 2^52."""
    found = np.sqrt(squares).astype(np.int64)
    found -= found**2 > squares
    return found + ((found + 1) ** 2 <= squares)


def coverage(inside: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return how many of the 16 sub-points of each pixel are inside: (n, size, size)."""
    points = inside.view(np.uint8)
    of_rows = points[:, ::SUBPOINTS].copy()
    for first in range(1, SUBPOINTS):
        of_rows += points[:, first::SUBPOINTS]
    found = of_rows[:, :, ::SUBPOINTS].astype(np.int32)
    for first in range(1, SUBPOINTS):
        found += of_rows[:, :, first::SUBPOINTS]
    return found


def painted(canvas: NDArray[np.int32], level: Whole, covered: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return pixels with paint of a grey level over the share of each that is covered: (n, size, size)."""
    most = SUBPOINTS**2
    return (canvas * (most - covered) + level.astype(np.int32)[:, None, None] * covered + most // 2) // most


# The parts of a scene, each for n images at once ----------------------------------------------------------------------


def glyph_vertices(base: Words, level: Level, size: int, points: Whole) -> tuple[Whole, Whole]:
    """Return where points of the glyphs are, turned, stretched, moved and jittered.

    Parameters
    ----------
    base : array of shape (n,)
    points : array of int64 of shape (n, k, 2)
        x and y in quarter radii.

    Returns
    -------
    x, y : arrays of int64 of shape (n, k)
    """
    scale, width = size // 16, UNIT * size
    turn = whole(base, 0, -level.rotation, level.rotation) % _TURN
    radius = (whole(base, 1, *level.radius) * scale)[:, None]
    aspect = whole(base, 2, -level.aspect, level.aspect)[:, None]
    margin = radius[:, 0] + 32 * scale
    centres = [margin + ((width - 2 * margin) * whole(base, field, 0, 1023)) // 1023 for field in (3, 4)]
    x, y = points[..., 0] * (256 + aspect), points[..., 1] * (256 - aspect)
    cosine, sine = COSINES[turn][:, None], SINES[turn][:, None]
    unit = 1 << 24  # of radius x quarter radii x stretching x cosine
    turned = (x * cosine - y * sine, x * sine + y * cosine)
    key = 9 * (points[..., 0] + 4) + points[..., 1] + 4  # shared vertices move together
    most = level.jitter * scale
    moved = [whole(base[:, None], _JITTER_FIELD + 128 * axis + key, -most, most) for axis in (0, 1)]
    found = [
        centre[:, None] + (radius * place + unit // 2) // unit + jitter
        for centre, place, jitter in zip(centres, turned, moved, strict=True)
    ]
    return found[0], found[1]


def _holes(base: Words, level: Level, size: int) -> NDArray[np.bool_]:
    """Return which pixels are in the hole of each image: (n, size, size)."""
    pixels = np.arange(size)
    flags = []
    for long, place in ((8, 10), (9, 11)):
        length = whole(base, long, 1, level.hole) * (size // 16)
        first = (whole(base, place, 0, 1023) * (size - length + 1)) >> 10
        flags.append((pixels >= first[:, None]) & (pixels < (first + length)[:, None]))
    columns, rows = flags
    return rows[:, :, None] & columns[:, None, :]


def background(base: Words, level: Level, size: int) -> NDArray[np.int32]:
    """Return the smooth ground: a grid of 5 x 5 grey levels between which pixels lie, (n, size, size)."""
    grid = MIDDLE + np.zeros((len(base), 5, 5), dtype=np.int64)
    if level.background:
        grid += whole(base[:, None, None], 20 + np.arange(25).reshape(5, 5), -level.background, level.background)
    step, weight = size // 4, size // 2
    pixels = np.arange(size)
    cell, after = pixels // step, 2 * (pixels % step) + 1
    before = weight - after
    down: Whole = grid[:, cell] * before[:, None] + grid[:, cell + 1] * after[:, None]
    across: Whole = down[:, :, cell] * before + down[:, :, cell + 1] * after
    return (across // weight**2).astype(np.int32)


def with_distractors(canvas: NDArray[np.int32], base: Words, level: Level, size: int) -> NDArray[np.int32]:
    """Return pixels with short thin strokes over them, as many in each image as it has drawn."""
    scale, width = size // 16, UNIT * size
    wanted = whole(base, 12, 0, level.distractors)
    for number in range(level.distractors):
        rows = np.flatnonzero(wanted > number)
        own, field = base[rows], 60 + 8 * number
        direction, half = whole(own, field, 0, _TURN - 1), whole(own, field + 1, 64, 160) * scale
        x, y = whole(own, field + 2, 0, width - 1), whole(own, field + 3, 0, width - 1)
        across, down = (half * COSINES[direction]) >> 14, (half * SINES[direction]) >> 14
        contrast = whole(own, field + 5, *level.contrast)
        grey = MIDDLE + np.where(whole(own, field + 4, 0, 1) == 1, -contrast, contrast)
        ends, half_width = (x - across, y - down, x + across, y + down), whole(own, field + 6, 28, 44) * scale
        canvas[rows] = painted(canvas[rows], grey, coverage(covered_points(ends, half_width, size)))
    return canvas


def noise(base: Words, level: Level, size: int) -> NDArray[np.int32]:
    """Return nearly normal noise, the sum of four bytes of a word for each pixel: (n, size, size)."""
    words = words_of(base[:, None], _NOISE_FIELD - 1 + np.arange(size * size))
    low = words.astype("<u8").view(np.uint8).reshape(len(base), size * size, 8)[..., :4]
    sums: NDArray[np.int32] = low.sum(axis=2, dtype=np.int32) - 510
    found: NDArray[np.int32] = (sums * level.noise + 74) // 148
    return found.reshape(len(base), size, size)


def drawn(base: Words, kinds: Whole, level: Level, size: int) -> NDArray[np.uint8]:
    """Return the images of some glyphs: (n, size, size)."""
    canvas = with_distractors(background(base, level, size), base, level, size)
    # How much of each pixel the strokes of the glyphs cover, outside of their holes: (n, size, size)
    inside = np.zeros((len(base), size * SUBPOINTS, size * SUBPOINTS), dtype=bool)
    half_width = whole(base, 7, 38, 56) * (size // 16)
    for number in range(max(map(len, STROKES))):
        rows = np.flatnonzero([len(STROKES[kind]) > number for kind in kinds])
        if rows.size:
            points = np.array([STROKES[kind][number] for kind in kinds[rows]], dtype=np.int64).reshape(-1, 2, 2)
            x, y = glyph_vertices(base[rows], level, size, points)
            inside[rows] |= covered_points((x[:, 0], y[:, 0], x[:, 1], y[:, 1]), half_width[rows], size)
    covered = coverage(inside)
    if level.hole:
        covered[_holes(base, level, size)] = 0
    contrast = whole(base, 5, *level.contrast)
    dark = level.polarity & (whole(base, 6, 0, 1) == 1)
    canvas = painted(canvas, MIDDLE + np.where(dark, -contrast, contrast), covered)
    canvas += noise(base, level, size)
    return np.clip(canvas, 0, 255).astype(np.uint8)


SIZES: Final = (16, 32)
#: The class that each is taken for where mistakes depend on the image: L and Y, T and plus, ...
PARTNERS: Final = (3, 2, 1, 0, 5, 4, 9, 8, 7, 6)

#: Images drawn at a time, so that their points fit in a processor's cache.
_BLOCK: Final = 32
#: The last image of a stream has this number.
_MOST: Final = 2**62


def clutter(n: int = 10_000, *, size: int = 16, level: int = 3, seed: int = 1, first: int = 0) -> ImageSet:
    r"""Return images of ten stroke glyphs among clutter, with their classes; no file is needed.

    Glyphs differ in how straight strokes meet: L, T, plus, Y, triangle, square, U, Z, S (a mirrored Z) and H; none is
    another one turned. Made to be classified: with the default level, 16 x 16 pixels and 8000 images, a linear
    classifier is wrong in 88 to 89 % of new images, a perceptron with a hidden layer of 256 in 54 %, a small
    convolutional fabric in about 5.5 %.

    Parameters
    ----------
    n : int
        Images.
    size : {16, 32}
        Height and width in pixels.
    level : {0, 1, 2, 3, 4}
        Difficulty. 0 has upright glyphs on an even ground; then come rotation, stretching, clutter and holes. The same
        row at two levels is the same scene, harder.
    seed : int
        Each is a stream of images that never ends.
    first : int
        Where in the stream the set begins: sets that do not overlap have no image in common.

    Returns
    -------
    ImageSet
        Grey images of (size, size, 1). Its one factor, ``glyph``, is the class; ``images.positions()[:, 0]`` gives the
        classes as numbers. Image i of a stream is of class i modulo 10, so that classes are as balanced as they can be.

    Raises
    ------
    InputError

    Notes
    -----
    Arithmetic of whole numbers on a generator that counts, so an image is the same on every machine and in every set.
    The strokes of a glyph are painted over those of up to four distractors, over a smooth ground; noise comes last. A
    machine draws 5,000 to 9,000 images of 16 x 16 pixels per second.

    Networks learn from (pixel - 128) / 64.

    Examples
    --------
    >>> import demele
    >>> images = demele.data.clutter(1000)
    >>> images
    ImageSet(clutter: 1000 images of 16 x 16 x 1; repeats of 10 glyph)
    >>> images.images([0])[0, 0, :6, 0].tolist()
    [124, 124, 120, 113, 109, 129]
    >>> images.positions([0, 1, 999])[:, 0].tolist()
    [0, 1, 9]
    """
    return Clutter(n, size=size, level=level, seed=seed, first=first)


class Clutter(ImageSet):
    """The set that :func:`clutter` returns."""

    @checked
    def __init__(self, n: Count, *, size: int, level: int, seed: Seed, first: CountOrNone) -> None:
        self._size = checked_whole(size, "size", "16 or 32", inside=lambda side: side in SIZES)
        expected = f"a difficulty from 0 to {len(LEVELS) - 1}"
        self._level = checked_whole(level, "level", expected, inside=lambda one: 0 <= one < len(LEVELS))
        self._seed, self._first = seed, first
        if self._first + n > _MOST:
            raise InputError("first", f"expected at most {_MOST - n} for {n} images, got {first}")
        super().__init__(
            name="clutter",
            shape=(self._size, self._size, 1),
            space=FactorSpace({"glyph": GLYPHS}),
            places=(self._first + np.arange(n)) % len(GLYPHS),
            # the 1 changes whenever an image does
            digest=digest_of("clutter", 1, self._size, self._level, self._seed, self._first, n),
            provenance=f"Glyphs among clutter, level {self._level}, {self._size} x {self._size} pixels, drawn by "
            "demele.data.clutter.",
            licence=LICENCE,
        )

    def _draw(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        images = np.empty((len(rows), self._size, self._size), dtype=np.uint8)
        for start in range(0, len(rows), _BLOCK):
            index = self._first + rows[start : start + _BLOCK]
            base = bases(self._seed, index)
            images[start : start + _BLOCK] = drawn(base, index % len(GLYPHS), LEVELS[self._level], self._size)
        return images[..., None]


@checked
def clutter_labels(
    images: ImageSet, rate: Annotated[float, between(0, 0.5)], kind: Literal["uniform", "visibility"] = "uniform"
) -> NDArray[np.int64]:
    """Return the classes of a set of clutter, an exact share of them wrong in every class.

    Parameters
    ----------
    images : ImageSet
        Of :func:`clutter`, or a subset of one.
    rate : float
        Share of wrong labels, from 0 to 0.5; of c images of a class, ``floor(rate * c)`` are wrong.
    kind : {"uniform", "visibility"}
        ``"uniform"``: any image, any other class. ``"visibility"``: among the 2 ``rate`` c images of each class that
        are hardest to see (contrast times radius), half are labelled as the most similar class: L for Y, T for
        plus, triangle for square, U for H, Z for S, and the other way round.

    Returns
    -------
    array of int64 of shape (n,)
        Classes as numbers from 0 to 9.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError

    Notes
    -----
    Which labels are wrong follows from the images: no seed is asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from demele.data import clutter, clutter_labels
    >>> images = clutter(4000)
    >>> given, true = clutter_labels(images, 0.1), images.positions()[:, 0]
    >>> np.flatnonzero(given != true)[:4].tolist(), int((given != true).sum())
    ([28, 32, 48, 49], 400)
    """
    if not isinstance(images, Clutter):
        raise InputTypeError("images", f"expected a set of demele.data.clutter, got {quoted(images)}")
    # the numbers of the images in their stream
    index = images._first + (np.arange(len(images)) if images._stored is None else images._stored)
    labels, level, base = index % len(GLYPHS), LEVELS[images._level], bases(images._seed, index)
    chance, others = whole(base, 40, 0, 2**31 - 1), whole(base, 41, 1, len(GLYPHS) - 1)
    visible = whole(base, 5, *level.contrast) * whole(base, 1, *level.radius)
    given = labels.copy()
    for glyph in range(len(GLYPHS)):
        rows = np.flatnonzero(labels == glyph)
        flips = int(rate * len(rows) + 1e-9)  # 0.29 x 100 is 29
        if kind == "visibility":
            rows = np.sort(rows[np.argsort(visible[rows], kind="stable")][: 2 * flips])
        wrong = rows[np.argsort(chance[rows], kind="stable")][:flips]
        given[wrong] = PARTNERS[glyph] if kind == "visibility" else (glyph + others[wrong]) % len(GLYPHS)
    return given
