"""Factorisation, D_LSBD, smoothness and monotonicity: known numbers, the published search, rounding, refusals."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele.metrics.standalone.geometry import lehmer_mean
from tests.metrics.grid import CODES as ON_GRID
from tests.metrics.grid import FIRST, GRID, SECOND
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

Array = NDArray[np.float64]
NAN = math.nan
CODES = {**ON_GRID, "oblique": np.column_stack([FIRST, FIRST + SECOND])}
EXPECTED = ((1, 1), (1, 1), (1, 1), (1, NAN), (1, 1), (3 / 4, 3 / 4), (NAN, NAN), (1 / 2, 1 / 2))
#: Two angles of twelve values.
TURNS = np.array(list(itertools.product(range(12), repeat=2)))
ANGLES = TURNS * np.pi / 6


def score(codes: Any, factors: Any, **options: Any) -> demele.metrics.SubspaceScores:
    return demele.metrics.subspace_scores(codes, factors, kinds="categorical", **options)


def circles(*angles: Array) -> Array:
    return np.column_stack([turn(angle) for angle in angles for turn in (np.cos, np.sin)])


def test_factorisation_of_codes_on_a_grid() -> None:
    for codes, expected in zip(CODES.values(), EXPECTED, strict=True):
        assert_close(list(score(codes, GRID).per_factor.values()), expected, ROUNDING)


def test_axes_do_not_matter_but_units_do() -> None:
    oblique = CODES["oblique"]
    turned = oblique @ np.array([[0.6, -0.8], [0.8, 0.6]])
    assert_close(score(turned, GRID).factorisation, 1 / 2, ROUNDING)
    assert abs(score(oblique * np.array([1.0, 10.0]), GRID).factorisation - 1 / 2) > 0.1


A, B = ANGLES.T
TURNED = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
ON_CIRCLES = {
    "circles": (circles(A, B), 0.0, (1, 1)),
    "twice": (circles(2 * A, 2 * B), 0.0, (2, 2)),
    "rotated": (circles(A, B) @ TURNED, 0.0, (1, 1)),
    # 1 - 1/144 where nothing is turned back: the published divisors
    "sum and difference": (circles(A + B, A - B), 143 / 144, None),
    "second lost": (circles(A), 143 / 288, None),
}


@pytest.mark.parametrize("name", ON_CIRCLES)
def test_d_lsbd_of_known_codes(name: str) -> None:
    codes, expected, frequencies = ON_CIRCLES[name]
    found = score(codes, TURNS, cyclic=[0, "v2"])
    assert_close(found.d_lsbd, expected, ROUNDING)
    if frequencies is not None:
        assert tuple(abs(one.frequency) for one in found.turns.values()) == frequencies


def published(codes: Array) -> float:
    """All pairs of frequencies from -3 to 3 tried together, with rotation matrices, on the whole grid."""
    best = math.inf
    z = codes.reshape(12, 12, -1)
    for frequencies in itertools.product(range(-3, 4), repeat=2):
        spreads = []
        for axis, k in enumerate(frequencies):
            centred = (z - z.mean(axis=axis, keepdims=True)).reshape(144, -1)
            values, axes = np.linalg.eigh(np.cov(centred, rowvar=False))
            plane = centred @ axes[:, [-1, -2]] / np.sqrt(2 * values[[-1, -2]])
            turned = []
            for point, angle in zip(plane, ANGLES[:, axis], strict=True):
                cos, sin = math.cos(-k * angle), math.sin(-k * angle)
                turned.append((cos * point[0] - sin * point[1], sin * point[0] + cos * point[1]))
            spread = np.array(turned) - np.mean(turned, axis=0)
            spreads.append(float((spread**2).sum(axis=1).mean()))
        best = min(best, sum(spreads) / 2)
    return best


def test_the_published_search_finds_the_same() -> None:
    rng = np.random.default_rng(1)
    codes = circles(A, B) @ TURNED + 0.3 * rng.standard_normal((144, 4)) + 0.5 * circles(A + 2 * B, B)
    found = score(codes, TURNS, cyclic=["v1", "v2"])
    assert 0.05 < found.d_lsbd < 0.9
    assert abs(found.d_lsbd - published(codes)) < 1e-9


def test_rows_are_averaged_and_an_ellipse_is_told() -> None:
    codes = circles(A, B) * np.array([10.0, 1, 1, 1])
    several = np.repeat(codes, 3, axis=0) + np.tile([[-0.1], [0.0], [0.1]], (144, 1))
    found = score(several, np.repeat(TURNS, 3, axis=0), cyclic=["v1", "v2"])
    assert_close(found.d_lsbd, 0.0, ROUNDING)
    assert abs(found.turns["v1"].ratio - 100) < 1e-6
    assert {note.code: note.subject for note in found.notes}["ellipse"] == ("v1",)


def test_refusals() -> None:
    refuses(demele.errors.UnknownNameError, "v3", score, GRID, GRID, cyclic=["v3"])
    refuses(demele.errors.InputTypeError, "cyclic", score, GRID, GRID, cyclic="v1")
    refuses(demele.errors.NotEnoughData, "two that vary", score, GRID, GRID[:, :1])
    with pytest.raises(demele.errors.NotEnoughData, match="agree on all factors but"):
        score(GRID[:16], np.column_stack([np.arange(16), np.arange(16) % 2]))
    with pytest.raises(demele.errors.NotEnoughData, match="never goes through"):
        score(GRID, np.column_stack([FIRST // 2, SECOND]), cyclic=["v1"])
    refuses(demele.DemeleError, "subspace_scores", demele.evaluate, GRID, GRID, ["d_lsbd"])


# Along traversals -----------------------------------------------------------------------------------------------------

STEPS = np.arange(16.0)
#: Eight traversals of three codes, all alike.
Z = np.tile(STEPS, (8, 3, 1))
SCALES = np.array([1.0, -2.0, 0.0])[:, None]


@pytest.mark.parametrize(
    ("exponent", "options", "expected"),
    [
        (1, {}, 1),
        (2, {}, 1 - 1 / 14),
        (3, {}, 1 - 36540 / 630**2),
        (2, {"power": None}, 1 - 1 / 14),
        (3, {"power": None}, 1 - 84 / 630),
        (2, {"share": 1.0}, 1 - 1 / 14),
    ],
)
def test_powers_by_hand(exponent: int, options: dict[str, Any], expected: float) -> None:
    found = demele.metrics.interpolatability(Z, Z**exponent * SCALES, **options)
    assert_close(found.to_frame()["smoothness"], [expected, expected, 1], ROUNDING)
    assert_close(found.to_frame()["monotonicity"], [1, -1, np.nan], ROUNDING)
    assert [note.code for note in found.notes] == ["monotonicity-undefined"]


def test_the_central_share_of_the_slopes() -> None:
    """Slopes of squares at steps of 0.1, times 10, are 1, 3, ... 29: the central 80% of them range over 22.4."""
    found = demele.metrics.interpolatability(0.1 * Z, 10 * (0.1 * Z) ** 2, share=0.8, power=None)
    assert_close(found.smoothness, np.full((8, 3), 1 - 2 / 22.4), SOLVER)


def test_steps_and_units_do_not_matter() -> None:
    wave = np.sin(Z / 3)
    one = demele.metrics.interpolatability(Z, wave).smoothness
    assert_close(demele.metrics.interpolatability(0.1 * Z - 5, 1e-9 * wave).smoothness, one, SOLVER)
    assert 0.5 < one[0, 0] < 0.95


@pytest.mark.parametrize("step", [0.1, 1 / 3, 1e-5])
def test_a_straight_line_is_smooth_in_spite_of_rounding(step: float) -> None:
    found = demele.metrics.interpolatability(step * Z, 7 + 3 * step * Z, threshold=0)
    assert_close(found.smoothness, np.ones((8, 3)), ROUNDING)


def test_one_code_and_codes_that_are_named() -> None:
    codes = np.stack([STEPS, 2 * STEPS, -STEPS])[None]
    found = demele.metrics.interpolatability(codes, STEPS[None, None] ** 3, reg_dim=[2], names=["size"])
    assert found.to_frame().loc["size", "monotonicity"] == -1
    assert found.sentence == "Mean smoothness is 0.908 and mean monotonicity -1.000 over 1 attribute."
    assert str(found).splitlines()[-1].split() == ["size", "0.908", "-1.000"]


def test_one_axis_is_one_traversal_of_one_code() -> None:
    one, two = (
        demele.metrics.interpolatability(STEPS, STEPS**2),
        demele.metrics.interpolatability(STEPS[None], STEPS[None] ** 2),
    )
    assert one.smoothness.shape == (1, 1)
    assert_exact(one.smoothness, two.smoothness)
    assert_exact(one.monotonicity, two.monotonicity)
    assert_exact(demele.metrics.interpolatability(STEPS, STEPS[None, None] ** 2).smoothness, two.smoothness)


def test_flat_slopes_are_not_counted() -> None:
    attribute = np.array([[0.0, 1.0, 1.0005, 2.0, 1.0]])
    found = demele.metrics.interpolatability(np.arange(5.0)[None], attribute)
    assert_close(found.monotonicity, [[1 / 3]], ROUNDING)
    assert_close(
        demele.metrics.interpolatability(np.arange(5.0)[None], attribute, threshold=0).monotonicity, [[0.5]], ROUNDING
    )


def test_lehmer_means_lean_to_the_largest_and_do_not_overflow() -> None:
    assert_close(lehmer_mean(np.array([1.0, 2.0, 3.0]), 2.0), 14 / 6, ROUNDING)
    assert_close(lehmer_mean(np.array([1e200, 2e200]), 3.0), 9 / 5 * 1e200, ROUNDING)


def test_what_is_no_traversal_is_refused() -> None:
    codes_cases: Any = [
        (Z, Z[:4], {}, "same traversals and points, got 8 of 16 points and 4 of 16"),
        (Z[..., :2], Z[..., :2], {}, "at least 3 points on each traversal, got 2"),
        (Z * 0, Z, {}, "steps other than 0.* attribute 0 on traversal 0"),
        (Z**2, Z, {}, "all of one size.* attribute 0 on traversal 0"),
        (Z[:, :1], Z, {}, r"attributes: expected a code for each, got 3 and 1 code along .*; pass `reg_dim=\[...\]"),
        (Z, Z, {"reg_dim": [0, 1]}, "a code for each of the 3 attributes, got 2"),
        (Z, Z, {"reg_dim": [0, 1, 3]}, "indices from 0 to 2, got 3"),
        (Z, Z, {"power": 1.0}, "power: expected a number above 1"),
        (Z, Z, {"share": 1.2}, "share: expected"),
        (Z, Z, {"threshold": -1}, "threshold: expected"),
        (Z, Z, {"names": ["a"]}, "names: expected a name for each of the 3"),
        (Z, np.full(Z.shape, np.nan), {}, "not finite, first on traversal 0"),
        (np.float64(3), STEPS, {}, r"codes: expected an array of shape \(traversals, columns, points\).* got \(\)"),
        (np.zeros((8, 0, 16)), Z, {}, r"codes: .* with at least 1 of each, got \(8, 0, 16\)"),
        (STEPS, Z[0], {}, r"shape \(16,\) and \(3, 16\); give both as \(traversals, columns, points\)"),
    ]
    for codes, attributes, options, message in codes_cases:
        refuses(demele.errors.InputError, message, demele.metrics.interpolatability, codes, attributes, **options)
