"""Arrays of one's own become a set: floats become uint8, factors a grid where they are one; what is none is refused."""

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demele
from demele.core.errors import InputError, InputTypeError, UndefinedFactorWarning
from demele.data import ArrayImages, FactorSpace
from demele.data.array_images import MappedArray
from tests.refusals import refuses
from tests.tolerances import assert_exact

GREY: Any = np.random.default_rng(0).integers(0, 256, (12, 3, 5), dtype=np.uint8)
SHAPES = ["dot", "bar"] * 6
WIDTHS = np.repeat([0.5, 1.5, 2.5], 4)


# Pixels ---------------------------------------------------------------------------------------------------------------


def test_floats_become_whole_numbers() -> None:
    values = np.array([0.0, 1 / 255, 0.5, 1.0, 0.49 / 255, 0.5 / 255])
    for dtype in (np.float64, np.float32):
        images = ArrayImages(values.astype(dtype).reshape(1, 2, 3))
        assert_exact(images.images([0]).ravel(), [0, 1, 128, 255, 0, 1])
    assert_exact(ArrayImages(GREY / 255).images(np.arange(12))[..., 0], GREY)
    assert_exact(ArrayImages((GREY / np.float32(255)).astype(np.float16)).images([3]).shape, (1, 3, 5, 1))


def test_what_are_no_images_is_refused() -> None:
    for images, error, told in [
        (GREY.astype(np.int64), InputTypeError, "got int64; save them as uint8 if they are from 0 to 255, or divide"),
        (GREY.astype(np.uint16), InputTypeError, "or divide them by the value of white, such as 65535"),
        (GREY.astype(str), InputTypeError, "images: expected uint8, from 0 to 255, floats from 0 to 1, or True and"),
        (GREY.astype(complex), InputTypeError, "True and False; got complex128"),
        (np.maximum(GREY, 2.0), InputError, "180 values in 12 images are not, first in image 0; divide them by 255"),
        (GREY / 127.5 - 1, InputError, "from -1 to 1 become (images + 1) / 2"),
        (GREY.astype(float) * 1e6, InputError, "scale them"),
        (GREY // 128, InputError, "got 0 and 1 only: all would be black; multiply them by 255"),
        (GREY.reshape(12, 15), InputError, "got (12, 15); reshape each row to its height and width"),
        (np.zeros((12, 3, 8, 8), np.uint8), InputError, "channels come last; use images.transpose(0, 2, 3, 1)"),
        (np.zeros((12, 8, 3, 8), np.uint8), InputError, "8 channels; use images.transpose(0, 1, 3, 2)"),
        (np.zeros((12, 8, 8, 5), np.uint8), InputError, "1 to 4 channels, got (12, 8, 8, 5): 5 channels; leave out"),
        (GREY[0, 0], InputError, "images: expected shape (n, height, width) or (n, height, width, channels)"),
    ]:
        refuses(error, re.escape(told), ArrayImages, images)


def test_a_value_that_is_no_share_is_told_with_its_image() -> None:
    images = GREY / 255
    images[7, 1, 2] = np.nan
    images[9, :, 0] = 1.5
    with pytest.raises(InputError) as caught:
        ArrayImages(images, {"shape": SHAPES, "width": WIDTHS})
    assert "4 values in 2 images are not, first in image 7 (shape 'bar', width 1.5)" in str(caught.value)


# Factors --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "factors",
    [
        {"shape": [*SHAPES[:-1], "dot"], "width": np.repeat(np.arange(6) / 4, 2)},  # bar of the last width is missing
        {"x": np.random.default_rng(0).random(12), "y": np.random.default_rng(1).random(12)},
        {"shape": SHAPES, "width": [np.nan, *WIDTHS[1:]]},
    ],
)
def test_factors_that_are_no_grid_are_a_table(factors: Any) -> None:
    images = ArrayImages(GREY, factors)
    assert images.space is None
    assert not images.complete
    table = images.factors([0, 11])
    assert list(table) == list(factors)
    for name, column in factors.items():
        assert_exact(np.asarray(table[name]), np.asarray(column)[[0, 11]])


def test_metrics_read_the_factors_as_they_came() -> None:
    given = pd.DataFrame(
        {"digit": np.arange(60) % 3, "slant": np.random.default_rng(0).random(60), "up": [True, False] * 30}
    )
    images = ArrayImages(np.zeros((60, 2, 2), np.uint8), given)
    codes = np.random.default_rng(1).random((60, 2))
    of_set, of_frame = (demele.evaluate(codes, one, ["mig"]) for one in (images.factors(), given))
    assert of_set["mig"].value == of_frame["mig"].value
    assert [(one.name, one.kind) for one in of_set.factors] == [(one.name, one.kind) for one in of_frame.factors]
    assert images.factors()["digit"].cat.categories.tolist() == [0, 1, 2]


def test_categories_keep_their_order() -> None:
    column = pd.Categorical(SHAPES, categories=["dot", "bar", "unused"])
    space = ArrayImages(GREY, {"shape": column, "width": WIDTHS}).space
    assert space.values[0] == ("dot", "bar")


@pytest.mark.parametrize(
    ("factors", "more", "told"),
    [
        ({"x": np.arange(12.0), "y": np.arange(5.0)}, {}, "expected one value of each factor per image"),
        ({"x": WIDTHS[:5]}, {"space": FactorSpace({"x": [0.5, 1.5]})}, "got 12 and 5"),
    ],
)
def test_factors_that_do_not_fit_are_refused(factors: Any, more: Any, told: str) -> None:
    refuses(InputError, re.escape(told), ArrayImages, GREY, factors, **more)


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_grids_in_any_order_are_found(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(2, 4), min_size=1, max_size=3))
    space = FactorSpace({f"v{index}": np.arange(size) + 0.5 for index, size in enumerate(sizes)})
    order = np.array(data.draw(st.permutations(range(len(space)))))
    images = ArrayImages(np.zeros((len(space), 1, 1), np.uint8), space.factors(order))
    assert images.space == space
    assert_exact(images.index(space.positions(order)), np.arange(len(space)))
    assert_exact(images.positions(), space.positions(order))


# Files ----------------------------------------------------------------------------------------------------------------


def test_an_array_in_a_file_is_read_where_it_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "raw"
    path.write_bytes(b"head" + np.asfortranarray(GREY).tobytes("F"))
    mapped = MappedArray(path, 4, GREY.shape, GREY.dtype, columns_first=True)
    images = ArrayImages(mapped)
    assert_exact(images.images([7, 2])[..., 0], GREY[[7, 2]])
    sent = pickle.dumps(images)
    assert len(sent) < 3000
    assert_exact(pickle.loads(sent).images([1])[0, :, :, 0], GREY[1])
    assert images.digest == ArrayImages(GREY).digest


def test_a_factor_that_does_not_vary_is_left_out() -> None:
    with pytest.warns(UndefinedFactorWarning, match="'colour' do not vary, and are left out"):
        images = ArrayImages(GREY, {"colour": ["white"] * 12, "shape": SHAPES})
    assert list(images.factors()) == ["shape"]
