"""Smoothness and monotonicity along traversals: closed forms, rounding, what is undefined, what is refused."""

from typing import Any

import numpy as np
import pytest

import demele
from demele.metrics.standalone.geometry import lehmer_mean
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

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
