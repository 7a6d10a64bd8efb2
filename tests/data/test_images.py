"""A set of images counts rows as its grid does, in parts and in another size too, and refuses others."""

import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demele.core.errors import InputError, InputTypeError, UnknownNameError
from demele.data import ArrayImages, FactorSpace
from demele.data.images import resampled
from tests.refusals import refuses
from tests.tolerances import assert_exact, assert_mean

SPACE = FactorSpace({"shape": ["square", "heart"], "x": [0.0, 0.5, 1.0], "hue": [0.0, 0.25, 0.5, 0.75]})
PIXELS: Any = np.random.default_rng(0).integers(0, 256, (24, 6, 4, 3), dtype=np.uint8)
IMAGES: Any = ArrayImages(PIXELS, space=SPACE, name="small")
PART: Any = IMAGES.subset([3])
TABLE = pd.DataFrame({"class": pd.Categorical(list("abcab")), "width": [0.5, 1.5, 2.5, 2.5, 0.25]})


def test_rows_come_in_the_order_asked_for() -> None:
    rows = [5, 0, 23, 5]
    assert_exact(IMAGES.images(rows), PIXELS[rows])
    assert IMAGES.images(np.array(rows, dtype=np.uint16)).dtype == np.uint8
    assert IMAGES.images([]).shape == (0, 6, 4, 3)
    assert IMAGES.factors(rows)["hue"].tolist() == [0.25, 0.0, 0.75, 0.25]
    assert IMAGES.factors(rows)["shape"].tolist() == ["square", "square", "heart", "square"]
    assert_exact(IMAGES.positions(rows), [[0, 1, 1], [0, 0, 0], [1, 2, 3], [0, 1, 1]])
    assert IMAGES.factors().shape == (24, 3)
    assert_exact(IMAGES.positions(), SPACE.positions(np.arange(24)))


@given(
    sizes=st.lists(st.integers(2, 5), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
    share=st.sampled_from(["all", "shuffled", "half"]),
)
@settings(max_examples=40)
def test_rows_are_found_again_by_their_positions(sizes: list[int], seed: int, share: str) -> None:
    space = FactorSpace({f"v{index}": size for index, size in enumerate(sizes)})
    whole = ArrayImages(np.zeros((len(space), 1, 1), dtype=np.uint8), space=space)
    order = np.random.default_rng(seed).permutation(len(space))
    found = {"all": whole, "shuffled": whole.subset(order), "half": whole.subset(order[: (len(space) + 1) // 2])}[share]
    rows = np.random.default_rng(seed).integers(0, len(found), 30)
    assert_exact(found.index(found.positions(rows)), rows)
    assert found.complete == (share != "half")


def test_of_rows_that_hold_the_same_the_first_is_found() -> None:
    twice = ArrayImages(PIXELS[[7, 3, 7]], space=SPACE, factors=SPACE.factors([7, 3, 7]))
    assert not twice.complete
    assert_exact(twice.index(SPACE.positions([3, 7, 3])), [1, 0, 1])


# Parts and other sizes ------------------------------------------------------------------------------------------------


def test_images_are_resized_when_they_are_asked_for() -> None:
    small = IMAGES.resized((3, 2))
    assert small.shape == (3, 2, 3)
    assert_exact(small.images([4, 9]), resampled(PIXELS[[4, 9]], (3, 2)))
    assert_exact(small.resized(1).images([4]), resampled(resampled(PIXELS[[4]], (3, 2)), (1, 1)))
    assert_exact(IMAGES.resized(3, "lanczos").images([4]), resampled(PIXELS[[4]], (3, 3), "lanczos"))
    assert_exact(small.subset([9]).images([0]), resampled(PIXELS[[9]], (3, 2)))
    assert IMAGES.resized((6, 4)) is IMAGES
    assert IMAGES.shape == (6, 4, 3)


def test_any_batching_gives_the_same_bits() -> None:
    for images in (IMAGES, IMAGES.resized(3), IMAGES.resized((5, 5), "lanczos"), IMAGES.subset(np.arange(24)[::-1])):
        one_by_one = np.concatenate([images.images([row]) for row in range(24)])
        assert_exact(images.images(np.arange(24)), one_by_one)


def test_digests_tell_sets_apart() -> None:
    changed = PIXELS.copy()
    changed[0, 0, 0, 0] ^= 1
    others = [
        IMAGES,
        ArrayImages(changed, space=SPACE),
        ArrayImages(PIXELS, space=SPACE, factors=SPACE.factors(np.arange(24)[::-1])),
        ArrayImages(PIXELS, space=FactorSpace({"shape": 2, "x": 3, "hue": 4})),
        ArrayImages(PIXELS, factors=SPACE.factors().assign(x=np.arange(24) / 24)),
        ArrayImages(PIXELS, factors=SPACE.factors().assign(x=np.arange(24)[::-1] / 24)),
        ArrayImages(PIXELS),
        IMAGES.subset([1, 2]),
        IMAGES.subset([2, 1]),
        IMAGES.resized(3),
        IMAGES.resized(3, "lanczos"),
    ]
    assert len({images.digest for images in others}) == len(others)
    again = ArrayImages(PIXELS.copy(), space=SPACE)
    assert again.digest == IMAGES.digest
    assert ArrayImages(PIXELS, SPACE.factors()).digest == IMAGES.digest  # the same grid, found
    assert again.subset([1, 2]).digest == IMAGES.subset([1, 2]).digest
    assert pickle.loads(pickle.dumps(IMAGES)).digest == IMAGES.digest


# Pairs ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changed", [1, 2, 3])
def test_pairs_differ_in_so_many_factors(changed: int) -> None:
    first, second = IMAGES.pairs(500, changed=changed, seed=3)
    differ = IMAGES.positions(first) != IMAGES.positions(second)
    assert_exact(differ.sum(axis=1), [changed] * 500)
    for column in differ.T:
        assert_mean(column, changed / 3)


def test_pairs_are_drawn_evenly() -> None:
    first, second = IMAGES.pairs(4000, changed=1, seed=0)
    for row in (0, 11, 23):
        assert_mean(first == row, 1 / 24)
    hue = IMAGES.positions(second)[:, 2] - IMAGES.positions(first)[:, 2]
    assert_mean((hue % 4 == 1)[hue != 0], 1 / 3)  # each other value alike
    assert_mean((hue % 4 == 3)[hue != 0], 1 / 3)


# What is refused ------------------------------------------------------------------------------------------------------


def test_what_is_not_there_is_refused() -> None:
    call_cases: Any = [
        (lambda: IMAGES.images([24]), InputError, "rows: expected 0 to 23, got 24 at row 0"),
        (lambda: IMAGES.images(3), InputError, "rows: expected an array of rows, got 3; write [3] for one image"),
        (lambda: IMAGES.images(slice(0, 3)), InputTypeError, "expected an array of rows, got slice(0, 3, None); use"),
        (lambda: IMAGES.images(None), InputTypeError, "rows: expected an array of rows, got None; use a range"),
        (lambda: IMAGES.images([0.5]), InputTypeError, "rows: expected whole numbers, got float64"),
        (lambda: IMAGES.images([[1]]), InputError, "rows: expected 1 dimensions, got shape (1, 1)"),
        (lambda: IMAGES.images([True, False]), InputTypeError, "use numpy.flatnonzero"),
        (lambda: IMAGES.factors([99]), InputError, "rows: expected 0 to 23, got 99"),
        (lambda: IMAGES.index([[0, 3, 0]]), InputError, "positions, factor 'x': expected 0 to 2, got 3 at row 0"),
        (
            lambda: PART.index(SPACE.positions([3, 22])),
            InputError,
            "image has shape 'heart', x 1.0, hue 0.5, at row 1",
        ),
        (lambda: IMAGES.subset([3, 4]).pairs(5), InputError, "holds 2 rows out of a grid of 24"),
        (lambda: IMAGES.pairs(5, changed=4), InputError, "changed: expected a number of factors from 1 to 3, got 4"),
        (lambda: ArrayImages(PIXELS).pairs(5), InputError, "pairs: factors of images are not a grid"),
        (lambda: ArrayImages(PIXELS).positions([0]), InputError, "positions: factors of images are not a grid"),
        (lambda: IMAGES.subset([]), InputError, "rows: expected at least 1 row, got none"),
        (lambda: IMAGES.resized(0), InputError, "size: expected a number of pixels, or (height, width), got 0"),
        (lambda: IMAGES.resized((3, 2.5)), InputError, "size: expected a number of pixels"),
        (lambda: IMAGES.resized("big"), InputError, "size: expected a number of pixels"),
        (lambda: IMAGES.resized(3, "are"), UnknownNameError, "got 'are'; did you mean 'area'?"),
        (lambda: ArrayImages(PIXELS.tolist()), InputTypeError, "images: expected an array, got list"),
        (lambda: ArrayImages(PIXELS[:5], space=SPACE), InputError, "expected 24, one per row of the space, got 5"),
        (lambda: ArrayImages(PIXELS, factors=TABLE), InputError, "per image, got 24 and 5"),
    ]
    for call, error, told in call_cases:
        refuses(error, re.escape(told), call)
