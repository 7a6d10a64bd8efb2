"""Factorisation and D_LSBD: known numbers, the published search, ellipses, noise, refusals."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from tests.metrics.grid import CODES as ON_GRID
from tests.metrics.grid import FIRST, GRID, SECOND
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close

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
