"""Ten glyphs of a few strokes, turned, moved and stretched among clutter: small networks do not saturate on them."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_whole
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.kinds import Count, CountOrNone, Seed, between, checked
from demele.data.images import ImageSet, digest_of
from demele.data.procedural.clutter_scene import GLYPHS, LEVELS, bases, drawn, whole
from demele.data.procedural.grids import LICENCE
from demele.data.space import FactorSpace

SIZES: Final = (16, 32)
#: Changes whenever an image does.
VERSION: Final = 1
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
            digest=digest_of("clutter", VERSION, self._size, self._level, self._seed, self._first, n),
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

    def mistaken(self, rate: float, kind: str) -> NDArray[np.int64]:
        """Return the classes of all rows, some of them wrong: see :func:`clutter_labels`."""
        stored = np.arange(len(self)) if self._stored is None else self._stored
        labels = (self._first + stored) % len(GLYPHS)
        base = bases(self._seed, self._first + stored)
        chance = whole(base, 40, 0, 2**31 - 1)
        others = whole(base, 41, 1, len(GLYPHS) - 1)
        contrast, radius = LEVELS[self._level].contrast, LEVELS[self._level].radius
        visible = whole(base, 5, *contrast) * whole(base, 1, *radius)
        given = labels.copy()
        for glyph in range(len(GLYPHS)):
            rows = np.flatnonzero(labels == glyph)
            flips = int(rate * len(rows) + 1e-9)  # 0.29 x 100 is 29
            if kind == "visibility":
                rows = rows[np.argsort(visible[rows], kind="stable")][: 2 * flips]
                rows = np.sort(rows)
            wrong = rows[np.argsort(chance[rows], kind="stable")][:flips]
            given[wrong] = PARTNERS[glyph] if kind == "visibility" else (glyph + others[wrong]) % len(GLYPHS)
        return given


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
    return images.mistaken(rate, kind)
