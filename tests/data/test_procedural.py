"""Sets that a formula draws: their factors, pixels that can be worked out by hand, and symmetries to the last bit."""

import pickle
from typing import Any

import numpy as np
import pytest

from demele.core.errors import InputError, InputTypeError, UnknownNameError
from demele.data import ImageSet, Symmetry, room, sprites, squares
from tests.tolerances import ROUNDING, assert_close, assert_exact


def distinct(images: np.ndarray[Any, Any]) -> int:
    return len({image.tobytes() for image in images})


# All sets -------------------------------------------------------------------------------------------------------------

SETS = [
    sprites(16, (3, 3, 4, 6, 6)),
    sprites(12, (2, 2, 3, 3, 1), orientation="full", supersample=3, radius=0.3),
    room(8, (3, 2, 3, 2, 4, 3)),
    squares(8, 4),
]


@pytest.mark.parametrize("images", SETS, ids=repr)
def test_any_batching_gives_the_same_bits(images: ImageSet) -> None:
    rows = np.random.default_rng(1).integers(0, len(images), 60)
    one_by_one = np.concatenate([images.images([row]) for row in rows])
    assert one_by_one.shape == (60, *images.shape)
    assert one_by_one.dtype == np.uint8
    assert_exact(images.images(rows), one_by_one)
    assert_exact(images.images(rows[::-1])[::-1], one_by_one)
    assert_exact(pickle.loads(pickle.dumps(images)).images(rows), one_by_one)
    half = images.resized(images.shape[0] // 2)
    assert_exact(half.images(rows).shape, (60, images.shape[0] // 2, images.shape[0] // 2, images.shape[2]))


# Sprites --------------------------------------------------------------------------------------------------------------


def pixels(images: ImageSet, **positions: int) -> np.ndarray[Any, Any]:
    """The image at some positions, 0 for factors that are not named."""
    assert images.space is not None
    row = images.index([[positions.get(name, 0) for name in images.space.names]])
    return images.images(row)[0, :, :, 0].astype(int)


def test_sprites_have_the_factors_that_they_say() -> None:
    images = sprites()
    assert images.space is not None
    assert images.space.sizes == (3, 6, 8, 12, 12)
    assert images.space.kinds == ("categorical", *["continuous"] * 4)
    assert images.space.values[0] == ("square", "ellipse", "heart")
    assert_close(images.space.values[1], [0.5, 0.6, 0.7, 0.8, 0.9, 1.0], ROUNDING)
    assert_close(images.space.values[2], np.arange(8) * 11.25, ROUNDING)
    assert_close([images.space.values[3][0], images.space.values[3][-1]], [8.04 / 32, 23.96 / 32], ROUNDING)
    assert images.space.period == (None, None, 360.0, None, None)
    assert images.space.symmetric == (
        Symmetry("orientation", "shape", "square", 90.0),
        Symmetry("orientation", "shape", "ellipse", 180.0),
    )
    full = sprites(counts=(2, 1, 8, 1, 1), orientation="full").space
    assert full is not None
    assert full.names == ("shape", "orientation")
    assert full.period == (None, 360.0)
    assert_close(full.values[1], np.arange(8) * 45.0, ROUNDING)


def test_a_square_by_hand() -> None:
    """Its half side is 8 / sqrt 2 = 5.657 pixels: from 10.343 to 21.657, three of four points of pixels 10 and 21."""
    one = sprites(32, (1, 2, 1, 1, 1), radius=0.25)
    expected = np.zeros((32, 32), dtype=int)
    expected[10:22, 10:22] = (255 * 12 + 8) // 16
    expected[11:21, 11:21] = 255
    expected[[10, 10, 21, 21], [10, 21, 10, 21]] = (255 * 9 + 8) // 16
    assert_exact(pixels(one, scale=1), expected)
    assert expected[10, 10] == 143
    assert expected[10, 15] == 191


def test_an_ellipse_is_wide_and_a_heart_stands_on_its_tip() -> None:
    one = sprites(32, (3, 1, 1, 1, 1), radius=0.4)  # scale 0.75: a radius of 9.6 pixels, centred on 16
    ellipse, heart = pixels(one, shape=1) > 0, pixels(one, shape=2) > 0
    assert_exact(np.flatnonzero(ellipse.any(axis=0))[[0, -1]], [6, 25])
    assert_exact(np.flatnonzero(ellipse.any(axis=1))[[0, -1]], [11, 20])
    assert_exact(heart, heart[:, ::-1])
    rows = np.flatnonzero(heart.any(axis=1))
    assert heart[rows[-1]].sum() <= 2  # the tip, at 16 + 9.6 / sqrt 2 = 22.8
    assert rows[-1] == 22
    assert not heart[rows[0], 15:17].any()  # the notch between the lobes


@pytest.mark.parametrize(("size", "supersample", "quantile"), [(32, 4, 0.99), (64, 4, 0.99), (32, 16, 1.0)])
def test_areas_are_those_of_the_formulas(size: int, supersample: int, quantile: float) -> None:
    """Few points along a small upright square count all of its border as inside or as outside: up to 9 % of it."""
    images = sprites(size, supersample=supersample)
    rows = np.random.default_rng(0).integers(0, len(images), 400)
    factors = images.factors(rows)
    area = images.images(rows).reshape(400, -1).sum(axis=1, dtype=float) / 255
    unit = factors["shape"].map({"square": 2.0, "ellipse": np.pi / 2, "heart": (4 + np.pi) / 4}).astype(float)
    error = area / (unit * (factors["scale"] * 0.22 * size) ** 2) - 1
    assert np.quantile(np.abs(error), quantile) < 0.03
    assert abs(error.mean()) < 0.001


def test_turns_that_change_nothing_change_no_bit() -> None:
    images = sprites(32, (3, 2, 8, 1, 1), orientation="full")
    for shape, expected in enumerate((2, 4, 8)):
        found = images.images(images.index([[shape, 1, angle] for angle in range(8)]))
        assert distinct(found) == expected
    assert_exact(pixels(images, shape=0, orientation=1), pixels(images, shape=0, orientation=3))
    assert_exact(pixels(images, shape=1, orientation=1), pixels(images, shape=1, orientation=5))


def test_a_sprite_turns_clockwise() -> None:
    images = sprites(32, (3, 1, 8, 1, 1), orientation="full")
    for shape in range(3):
        turned = np.rot90(pixels(images, shape=shape), k=-1)
        assert_exact(pixels(images, shape=shape, orientation=2), turned)
    upright, leaning = pixels(images, shape=1), pixels(images, shape=1, orientation=1)
    assert upright[16, 10] > 0  # along the row
    assert leaning[18, 18] > leaning[18, 13]  # its right end is lower


def test_a_sprite_moves_as_far_as_its_centre() -> None:
    images = sprites(32, (3, 2, 4, 15, 15), radius=0.25)  # centres from 9 to 23, one pixel apart
    for shape in range(3):
        start = pixels(images, shape=shape, orientation=1, x=2, y=4)
        assert_exact(pixels(images, shape=shape, orientation=1, x=5, y=4), np.roll(start, 3, axis=1))
        assert_exact(pixels(images, shape=shape, orientation=1, x=2, y=7), np.roll(start, 3, axis=0))
    assert images.space is not None
    assert_close(images.space.values[3], np.arange(9, 24) / 32, ROUNDING)


SPRITES: Any = sprites
ROOM: Any = room
SQUARES: Any = squares


def test_what_cannot_be_drawn_is_refused() -> None:
    call_cases: Any = [
        (lambda: SPRITES(7), InputError, "size: expected a number of pixels from 8 to 1024, got 7"),
        (lambda: SPRITES(32.0), InputError, "size: expected a number of pixels"),
        (lambda: SPRITES(counts=(4, 6, 8, 12, 12)), InputError, "counts: expected 1 to 3 for factor 'shape', got 4"),
        (lambda: SPRITES(counts=(3, 6, 0, 12, 12)), InputError, "expected 1 or more for factor 'orientation', got 0"),
        (
            lambda: SPRITES(counts=(3, 6)),
            InputError,
            "expected 5 numbers of values, of shape, scale, orientation, x, y",
        ),
        (lambda: SPRITES(counts=5), InputTypeError, "counts: expected a number of values for each of shape, scale"),
        (lambda: SPRITES(counts=(1, 1, 1, 1, 1)), InputError, "nothing varies"),
        (lambda: SPRITES(orientation="ful"), UnknownNameError, "got 'ful'; did you mean 'full'?"),
        (lambda: SPRITES(radius=0.48), InputError, "radius: expected a share of the size above 0 and at most 0.46875"),
        (lambda: SPRITES(radius=float("nan")), InputError, "radius: expected a share"),
        (lambda: SPRITES(supersample=17), InputError, "supersample: expected a number of points along a pixel"),
        (lambda: ROOM(4), InputError, "size: expected a number of pixels from 8 to 1024, got 4"),
        (lambda: ROOM(counts=(6, 6, 6, 4, 5, 6)), InputError, "counts: expected 1 to 4 for factor 'shape', got 5"),
        (lambda: ROOM(counts="66"), InputTypeError, "of floor_hue, wall_hue, object_hue, scale, shape, azimuth"),
        (lambda: SQUARES(33), InputError, "size: expected a multiple of 4, for four places along each side, got 33"),
        (lambda: SQUARES(32, 7), InputError, "square: expected a side that divides 32 into at least 2 places, got 7"),
        (lambda: SQUARES(32, 32), InputError, "square: expected a side that divides 32 into at least 2 places"),
    ]
    for call, error, told in call_cases:
        with pytest.raises(error) as caught:
            call()
        assert told in str(caught.value)


# Squares --------------------------------------------------------------------------------------------------------------


def test_a_square_that_moves_further_changes_no_more_pixels() -> None:
    images = squares(32, 8)
    assert len(images) == 4096
    assert images.digest == squares().digest
    assert distinct(images.images(np.arange(4096))) == 4096
    start, *moved = (images.images(images.index([[x, 0, 1, 1, 2, 2]]))[0].astype(int) for x in range(4))
    assert_exact([np.abs(image - start).sum() for image in moved], [2 * 64 * 255] * 3)
    assert_exact(start[:8, :8, 0], np.full((8, 8), 255))
    assert_exact(moved[2][:8, 24:, 0], np.full((8, 8), 255))  # x goes to the right
    assert_exact(start.sum(axis=(0, 1)), [64 * 255] * 3)
