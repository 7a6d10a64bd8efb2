"""Sets that are drawn: sprites and the room."""

import pickle
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, UnknownNameError
from demele.data import ImageSet, clutter, room, sprites, squares
from demele.data.procedural.grids import OBJECTS, UNIT, camera_rays, region_weights, room_hits
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact


def distinct(images: np.ndarray[Any, Any]) -> int:
    return len({image.tobytes() for image in images})


# All sets -------------------------------------------------------------------------------------------------------------

SETS = [
    sprites(16, (3, 3, 4, 6, 6)),
    sprites(12, (2, 2, 3, 3, 1), orientation="full", supersample=3, radius=0.3),
    room(8, (3, 2, 3, 2, 4, 3)),
    squares(8, 4),
    clutter(70, level=4).subset(np.arange(70)[::-1]),
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
    row = images.index([[positions.get(name, 0) for name in images.space.names]])
    return images.images(row)[0, :, :, 0].astype(int)


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
        (lambda: SPRITES(counts=(3, 6)), InputError, "5 numbers of values, of shape, scale, orientation, x, y"),
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
        refuses(error, re.escape(told), call)


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


# The room is where its formulas say ----------------------------------------------------------------------------------


Floats = NDArray[Any]
SHAPES = ("ball", "box", "cylinder", "capsule")
LIGHT = np.array([0.35, 0.6, 0.72]) / np.sqrt(0.35**2 + 0.6**2 + 0.72**2)


# Geometry -------------------------------------------------------------------------------------------------------------


def is_inside(shape: str, size: float, x: Floats, y: Floats, z: Floats) -> Floats:
    """Which points are inside an object, from its description in words."""
    around = np.hypot(x, y)
    if shape == "ball":
        return np.asarray(around**2 + (z - size) ** 2 <= size**2)
    if shape == "box":
        return np.asarray((np.abs(x) <= 0.8 * size) & (np.abs(y) <= 0.8 * size) & (z >= 0) & (z <= 1.6 * size))
    if shape == "cylinder":
        return np.asarray((around <= 0.8 * size) & (z >= 0) & (z <= 1.8 * size))
    nearest = np.clip(z, 0.6 * size, 1.7 * size)  # of the line between the two centres
    return np.asarray(around**2 + (z - nearest) ** 2 <= (0.6 * size) ** 2)


def test_rays_meet_objects_where_a_march_does() -> None:
    for scale, azimuth in [(1.25, -30.0), (0.75, 17.0)]:
        for shape in SHAPES:
            start, directions = camera_rays(10, azimuth)
            found = OBJECTS[shape](start, directions, UNIT * scale)
            steps = np.arange(2.5, 7.0, 0.004)[:, None]
            x, y, z = (start[axis] + steps * directions[axis] for axis in range(3))
            inside = is_inside(shape, UNIT * scale, x, y, z)
            met = inside.any(axis=0)
            marched = np.where(met, steps[inside.argmax(axis=0), 0], np.inf)
            both = met & np.isfinite(found.distance)
            assert both.sum() > 20
            assert (met != np.isfinite(found.distance)).sum() <= 4  # rays that graze it
            gap = marched[both] - found.distance[both]
            assert gap.min() >= 0
            assert gap.max() <= 0.0041
            # Normals are of length 1, against the ray, and the way to leave the object
            normal = found.normal[:, both]
            assert_close((normal**2).sum(axis=0), np.ones(both.sum()), ROUNDING)
            assert ((normal * directions[:, both]).sum(axis=0) <= 0).all()
            place = start + found.distance[both] * directions[:, both]
            leaving = is_inside(shape, UNIT * scale, *(place - 1e-4 * normal))
            assert leaving.mean() > 0.9  # not near edges, seen from the side
            assert not is_inside(shape, UNIT * scale, *(place + 1e-4 * normal)).any()


def test_rays_leave_the_room_where_they_should() -> None:
    for azimuth in (-30.0, 0.0, 30.0):
        start, directions = camera_rays(9, azimuth)
        hits = room_hits(start, directions)
        distances = np.stack([hit.distance for hit in hits])
        nearest = distances.min(axis=0)
        assert np.isfinite(nearest).all()
        place = start + nearest * directions
        low = place - np.array([[-2.5], [-2.5], [0.0]])
        assert low.min() >= -1e-12
        assert_close(low.min(axis=0), np.zeros(low.shape[1]), {"rtol": 0, "atol": 1e-12})
        assert len(set(distances.argmin(axis=0).tolist())) == 3  # floor and both walls are seen


def test_the_camera_looks_at_the_object_with_z_up() -> None:
    start, directions = camera_rays(32, 20.0)
    angle = np.radians(65.0)
    assert_close(start.ravel(), [4.2 * np.cos(angle), 4.2 * np.sin(angle), 2.1], ROUNDING)
    grid = directions.reshape(3, 64, 64)
    middle = grid[:, 31:33, 31:33].mean(axis=(1, 2))
    assert_close(np.cross(middle, [0, 0, 0.75] - start.ravel()), np.zeros(3), {"rtol": 0, "atol": 1e-12})
    assert (grid[2, 0] > grid[2, -1]).all()  # the first row of the picture looks up
    assert np.cross(grid[:, 32, 0], grid[:, 32, -1])[2] < 0  # left to right is clockwise, seen from above
    width = np.linalg.norm(grid[:, 0, 0] - grid[:, 0, -1])
    assert_close(width, 0.68 * 63 / 64, ROUNDING)


# Weights and colours --------------------------------------------------------------------------------------------------


def test_shades_of_the_room_by_hand() -> None:
    weights = region_weights(32, "ball", 0.75, 0.0)
    shares = region_weights(32, "ball", 0.75, 0.0, shaded=False)
    floor, walls, _ = (np.unique(np.round(weights[r][shares[r] == 1], 12)) for r in range(3))
    assert_close(floor, [0.45 + 0.55 * LIGHT[2]], ROUNDING)
    assert floor.size == 1
    assert_close([walls.min(), walls.max()], 0.45 + 0.55 * LIGHT[:2], {"rtol": 0, "atol": 1e-11})
    pixels = room(32, (2, 2, 2, 2, 2, 3)).images([1])[0]  # all hues are red; the azimuth is 0
    assert set(np.unique(pixels[shares[0] == 1, 0])) == {216}
    assert {164, 199} <= set(np.unique(pixels[shares[1] == 1, 0]))
    assert set(np.unique(pixels[shares[0] == 1, 1])) == {54}  # a quarter of it


def test_an_image_is_the_rounded_sum_of_its_colours() -> None:
    images = room(16, (4, 3, 5, 2, 4, 3))
    row = images.index([[1, 2, 4, 0, 1, 2]])
    floor, wall, thing = (0.625, 1.0, 0.25), (0.25, 0.25, 1.0), (0.85, 0.25, 1.0)  # hues 1/4, 2/3, 4/5
    weights = region_weights(16, "box", 0.75, 30.0)
    exact = 255 * np.einsum("rij,rc->ijc", weights, [floor, wall, thing])
    assert np.abs(images.images(row)[0] - exact).max() <= 0.5001
