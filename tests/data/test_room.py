"""The room is where its formulas say: rays against a slow march, shades by hand, and mixing of colours to the bit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.data import room
from demele.data.procedural.room import (
    OBJECT,
    OBJECTS,
    UNIT,
    camera_rays,
    region_weights,
    room_hits,
)
from tests.tolerances import ROUNDING, assert_close, assert_exact

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
            assert (
                is_inside(shape, UNIT * scale, *(place - 1e-4 * normal)).mean() > 0.9
            )  # not near edges, seen from the side
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


def test_shares_of_the_regions_sum_to_one() -> None:
    covered = []
    for shape in SHAPES:
        for scale in (0.75, 1.0, 1.25):
            for azimuth in (-30.0, -6.0, 30.0):
                shares = region_weights(32, shape, scale, azimuth, shaded=False)
                assert_exact(shares.sum(axis=0), np.ones((32, 32)))
                assert set(np.unique(shares)) <= {0.0, 0.25, 0.5, 0.75, 1.0}
                covered.append(shares[OBJECT].mean())
    assert min(covered) > 0.055
    assert max(covered) < 0.285
    assert 0.12 < np.mean(covered) < 0.16


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


def test_a_box_shows_three_sides_and_is_lit_as_the_room() -> None:
    weights = region_weights(32, "box", 1.25, 10.0)
    shares = region_weights(32, "box", 1.25, 10.0, shaded=False)
    found = np.unique(np.round(weights[OBJECT][shares[OBJECT] == 1], 12))
    assert set(np.round(0.45 + 0.55 * LIGHT, 12)) <= set(found)


def test_an_image_is_the_rounded_sum_of_its_colours() -> None:
    images = room(16, (4, 3, 5, 2, 4, 3))
    row = images.index([[1, 2, 4, 0, 1, 2]])
    floor, wall, thing = (0.625, 1.0, 0.25), (0.25, 0.25, 1.0), (0.85, 0.25, 1.0)  # hues 1/4, 2/3, 4/5
    weights = region_weights(16, "box", 0.75, 30.0)
    exact = 255 * np.einsum("rij,rc->ijc", weights, [floor, wall, thing])
    assert np.abs(images.images(row)[0] - exact).max() <= 0.5001
