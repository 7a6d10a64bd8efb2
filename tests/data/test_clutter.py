"""Glyphs among clutter: the bits that were published of them, scenes worked out by hand, and exact shares of noise."""

import zlib
from typing import Any

import numpy as np
import pytest

from demele.core.errors import InputError, InputTypeError, UnknownNameError
from demele.data import clutter, clutter_labels, squares
from demele.data.procedural.clutter import COSINES, LEVELS, bases, drawn
from tests.refusals import refuses
from tests.tolerances import assert_exact


def checksum(array: Any) -> int:
    return zlib.crc32(np.ascontiguousarray(array).tobytes())


# Published bits -------------------------------------------------------------------------------------------------------


def test_draws_are_those_that_were_published() -> None:
    assert [hex(int(one)) for one in bases(1, np.arange(3))] == [
        *("0xdce423fc82c0d5b8", "0xdec1469c8d51e97b", "0x81a5c1377856b73")
    ]
    assert checksum(COSINES.astype("<i4")) == 165089821


@pytest.mark.parametrize(
    ("level", "size", "n", "published"),
    [
        *((0, 16, 1000, 988599954), (1, 16, 1000, 1411790302), (2, 16, 1000, 1557998686), (3, 16, 1000, 417660500)),
        *((4, 16, 1000, 2687898519), (2, 32, 500, 3769211612), (3, 32, 500, 2757193207)),
    ],
)
def test_images_are_those_that_were_published(level: int, size: int, n: int, published: int) -> None:
    assert checksum(clutter(n, size=size, level=level).images(np.arange(n))) == published


def test_a_stream_goes_on_where_a_set_ends() -> None:
    whole, rest = clutter(40, level=2), clutter(25, level=2, first=15)
    assert_exact(whole.images(np.arange(15, 40)), rest.images(np.arange(25)))
    assert_exact(whole.positions()[15:], rest.positions())
    assert not np.array_equal(whole.images([3]), clutter(40, level=2, seed=2).images([3]))


# Scenes by hand -------------------------------------------------------------------------------------------------------


def test_glyphs_are_as_large_as_was_published() -> None:
    """Mean pixels that differ from the ground, without clutter."""
    level = LEVELS[3]._replace(background=0, distractors=0, hole=0, noise=0)
    index = np.arange(2000)
    images = np.concatenate([drawn(bases(1, part), part % 10, level, 16) for part in np.split(index, 50)])
    changed = (images != 128).sum(axis=(1, 2))
    found = [round(float(changed[index % 10 == glyph].mean()), 1) for glyph in range(10)]
    assert found == [41.2, 48.6, 50.7, 45.1, 67.2, 68.5, 57.5, 65.7, 65.0, 67.2]


# Labels ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "rate", "rows", "labels"),
    [
        ("uniform", 0.1, [28, 32, 48, 49], [9, 9, 4, 2]),
        ("uniform", 0.2, [7, 15, 20, 22], [0, 2, 7, 6]),
        ("visibility", 0.1, [15, 20, 27, 38], [4, 3, 8, 7]),
        ("visibility", 0.2, [7, 15, 20, 27], [8, 4, 3, 8]),
    ],
)
def test_wrong_labels_are_those_that_were_published(kind: Any, rate: float, rows: list[int], labels: list[int]) -> None:
    images = clutter(4000)
    true, given = images.positions()[:, 0], clutter_labels(images, rate, kind)
    wrong = np.flatnonzero(true != given)
    assert_exact(wrong[:4], rows)
    assert_exact(given[wrong[:4]], labels)
    assert_exact(np.bincount(true[wrong], minlength=10), [round(400 * rate)] * 10)


def test_shares_are_cut_off_in_each_class() -> None:
    images = clutter(1003)
    true = images.positions()[:, 0]
    wrong = true[clutter_labels(images, 0.29) != true]
    assert_exact(np.bincount(wrong, minlength=10), [29] * 10)
    assert_exact(clutter_labels(images, 0), true)
    part = np.arange(500, 900)
    subset = images.subset(part)
    assert_exact(np.bincount(true[part][clutter_labels(subset, 0.5) != true[part]], minlength=10), [20] * 10)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"level": 5}, "level: expected a difficulty from 0 to 4, got 5"),
        ({"first": 2**62}, "first: expected at most"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given: dict[str, Any], message: str) -> None:
    refuses(InputError, message, clutter, **given)


def test_labels_of_other_sets_are_refused() -> None:
    refuses(InputTypeError, r"images: expected a set of demele.data.clutter", clutter_labels, squares(8, 4), 0.1)
    refuses(InputError, r"rate: expected a number in \[0, 0\.5\], got 0\.6", clutter_labels, clutter(10), 0.6)
    refuses(UnknownNameError, "did you mean 'uniform'", clutter_labels, clutter(10), 0.1, "uniforme")
