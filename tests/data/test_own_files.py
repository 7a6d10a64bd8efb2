"""Files of one's own are opened as they were saved, mapped where they can be; what is wrong is told with the file."""

import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.core.errors import FormatError, InputError
from demele.data import FactorSpace, open_images
from demele.data.loaders.converted import convert
from demele.data.loaders.stored_images import Images, StoredImages
from demele.data.mapped import MappedArray
from tests.tolerances import assert_exact

PIXELS: Any = np.random.default_rng(0).integers(0, 256, (12, 6, 4, 3), dtype=np.uint8)
SHAPES = ["dot", "bar"] * 6
WIDTHS = np.repeat([0.5, 1.5, 2.5], 4)
SIDES = np.array([0, 0, 1, 1] * 3)
SPACE = FactorSpace({"shape": ["bar", "dot"], "width": [0.5, 1.5, 2.5], "side": 2})


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "mine.npz"
    np.savez(path, images=PIXELS, shape=SHAPES, width=WIDTHS, side=SIDES)
    return path


# Archives -------------------------------------------------------------------------------------------------------------


def test_an_archive_is_opened_in_its_order(saved: Path) -> None:
    images = open_images(saved)
    assert repr(images).startswith("ImageSet(mine.npz: 12 images of 6 x 4 x 3; ")
    assert images.space == SPACE
    assert images.complete
    assert_exact(images.images(np.arange(12)), PIXELS)
    assert images.factors()["shape"].tolist() == SHAPES
    assert_exact(images.factors()["width"], WIDTHS)
    assert images.provenance == "The images of mine.npz."


def test_images_that_are_stored_are_mapped_and_those_that_are_packed_loaded(saved: Path, tmp_path: Path) -> None:
    mapped: Any = open_images(saved)
    assert isinstance(mapped._array, MappedArray)
    packed = tmp_path / "packed.npz"
    np.savez_compressed(packed, images=PIXELS, shape=SHAPES, width=WIDTHS, side=SIDES)
    loaded: Any = open_images(packed)
    assert isinstance(loaded._array, np.ndarray)
    assert_exact(loaded.images([3, 1]), mapped.images([3, 1]))
    assert loaded.digest == mapped.digest
    sent = pickle.dumps(mapped)
    assert len(sent) < 4000
    assert_exact(pickle.loads(sent).images([5]), PIXELS[[5]])


def test_a_table_of_factors_is_read_with_and_without_names(tmp_path: Path) -> None:
    table = np.stack([WIDTHS, SIDES], axis=1)
    np.savez(tmp_path / "plain.npz", images=PIXELS / 255, factors=table, codes=np.zeros((12, 7)))
    images = open_images(tmp_path / "plain.npz")
    assert_exact(images.images([7]), PIXELS[[7]])
    assert_exact(images.factors().astype(float), table)
    assert images.factors().dtypes.astype(str).tolist() == ["float64", "category"]
    np.savez(tmp_path / "named.npz", images=PIXELS, factors=table, factor_names=["width", "side"])
    assert list(open_images(tmp_path / "named.npz").factors()) == ["width", "side"]
    fields = np.array(list(zip(SHAPES, WIDTHS, strict=True)), dtype=[("shape", "U3"), ("width", "f8")])
    np.savez(tmp_path / "fields.npz", images=PIXELS, factors=fields)
    assert open_images(tmp_path / "fields.npz").factors()["shape"].tolist() == SHAPES


def test_a_space_that_a_file_names_says_what_its_values_do_not(tmp_path: Path) -> None:
    space = FactorSpace({"hue": [0.0, 0.25, 0.5, 0.75], "x": [0.0, 0.5, 1.0]}, period={"hue": 1})
    values = space.factors()
    np.savez(
        tmp_path / "made.npz",
        images=PIXELS[:5],
        **{name: values[name].to_numpy()[:5] for name in values},  # type: ignore[arg-type]
        space=space.to_json(),
        name="mine",
        licence="CC0",
        provenance="By hand.",
    )
    images = open_images(tmp_path / "made.npz")
    assert images.space == space
    assert not images.complete
    assert_exact(images.positions(), space.positions(np.arange(5)))
    assert (images.name, images.licence, images.provenance) == ("mine", "CC0", "By hand.")


def test_images_without_factors_are_a_set_too(tmp_path: Path) -> None:
    np.save(tmp_path / "images.npy", PIXELS)
    images = open_images(str(tmp_path / "images.npy"))
    assert_exact(images.images([11, 0]), PIXELS[[11, 0]])
    assert images.factors().shape == (12, 0)
    np.save(tmp_path / "other.npy", np.asfortranarray(PIXELS[..., 0] > 128))
    mapped: Any = open_images(tmp_path / "other.npy", factors={"shape": SHAPES})
    assert isinstance(mapped._array, MappedArray)
    assert_exact(mapped.images([3])[0, ..., 0], np.where(PIXELS[3, ..., 0] > 128, 255, 0))


def test_a_set_that_was_converted_keeps_its_factors(tmp_path: Path) -> None:
    stored = Images("images", len(PIXELS), PIXELS.shape[1:], PIXELS)
    about: dict[str, Any] = {"name": "converted", "digest": "", "provenance": "", "licence": "CC0"}
    convert(StoredImages(stored, space=SPACE, **about), tmp_path / "images.npy", {})
    images = open_images(tmp_path / "images.npy")
    assert (images.name, images.licence, images.space) == ("converted", "CC0", SPACE)
    assert_exact(images.images([4]), PIXELS[[4]])
    assert list(open_images(tmp_path / "images.npy", factors={"side": SIDES}).factors()) == ["side"]


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({"imgs": PIXELS, "x": WIDTHS}, "found 'imgs', 'x'; demele.data.load reads published sets"),
        ({"pictures": PIXELS}, "expected an array 'images', found 'pictures'; save them as numpy.savez(FILE, images"),
        ({"images": PIXELS.astype(np.int32)}, "bad.npz::images: expected uint8, from 0 to 255, floats from 0 to 1"),
        ({"images": PIXELS.reshape(12, -1)}, "bad.npz::images: expected shape (n, height, width)"),
        ({"images": PIXELS[:0]}, "at least one image, got (0, 6, 4, 3)"),
        ({"images": PIXELS, "x": WIDTHS[:7]}, "bad.npz::x: expected 12 values, one per image, found 7"),
        ({"images": PIXELS, "factors": WIDTHS[:7]}, "one row of factors per image, got 12 images and 7 rows"),
        ({"images": PIXELS, "factors": PIXELS}, "bad.npz::factors: expected shape (n, n_factors)"),
        (
            {"images": PIXELS, "factors": WIDTHS, "factor_names": ["x", "y"]},
            "bad.npz::factor_names: expected 1 different texts, found <U1 (2,)",
        ),
        (
            {"images": PIXELS, "shape": ["a", "b", "\ud800"] * 4},
            "bad.npz::shape: holds invalid text: 0xd800 is not",
        ),
        ({"images": PIXELS, "x": WIDTHS, "space": "no JSON"}, "bad.npz: factor space: expected JSON"),
        ({"images": PIXELS, "x": WIDTHS, "space": SPACE.to_json()}, "expected a column 'shape'"),
    ],
)
def test_archives_that_hold_something_else_are_refused(arrays: Any, told: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(InputError) as caught:
        open_images(tmp_path / "bad.npz")
    assert told in str(caught.value)
    assert "bad.npz" in str(caught.value)


def test_values_that_are_no_pixels_are_told_with_their_factors(tmp_path: Path) -> None:
    images = PIXELS / 255
    images[4, 0, 0, 0] = np.nan
    np.savez(tmp_path / "gap.npz", images=images, shape=SHAPES, width=WIDTHS)
    with pytest.raises(InputError) as caught:
        open_images(tmp_path / "gap.npz")
    assert "gap.npz: `images`: expected floats from 0 to 1; 1 value in 1 image is not, first in image 4" in str(
        caught.value
    )
    assert "(shape 'dot', width 1.5)" in str(caught.value)


def test_files_that_are_cut_off_are_refused(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    np.save(tmp_path / "images.npy", PIXELS)
    array = (tmp_path / "images.npy").read_bytes()
    for name, content in [
        ("half.npz", whole[: len(whole) // 2]),
        ("start.npz", whole[:3]),
        ("half.npy", array[: len(array) // 2]),
        ("longer.npy", array + b"more"),
        ("header.npy", array[:20]),
        ("text.csv", b"a,b\n1,2\n"),
        ("empty.npz", b""),
        ("set.h5", b"\x89HDF\r\n\x1a\n"),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FormatError) as caught:
            open_images(tmp_path / name)
        assert name in str(caught.value)
    with pytest.raises(InputError, match=r"there is no .*nowhere\.npz"):
        open_images(tmp_path / "nowhere.npz")
    with pytest.raises(InputError, match=r"there is no room; demele\.data\.room\(\) draws the set of that name"):
        open_images("room")


def test_a_member_that_declares_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "liar.npz", "w") as archive:
        header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1000000, 64, 64), }"
        archive.writestr("images.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\0" * 64)
    with pytest.raises(FormatError, match="declares 4,096,000,000 bytes of data and holds 64"):
        open_images(tmp_path / "liar.npz")


def test_packed_images_may_not_fill_the_memory(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "zeros.npz", images=np.zeros((100, 64, 64), np.uint8))
    assert len(open_images(tmp_path / "zeros.npz")) == 100
    with pytest.raises(FormatError, match="declare 400 KiB of data, more than the 1000 bytes that are allowed"):
        open_images(tmp_path / "zeros.npz", max_size=1000)


def test_objects_in_a_file_are_not_run(tmp_path: Path) -> None:
    objects = np.empty(12, dtype=object)
    np.savez(tmp_path / "objects.npz", images=PIXELS, shape=objects)
    with pytest.raises(FormatError, match="holds Python objects, which are not loaded because they can run code"):
        open_images(tmp_path / "objects.npz")
    np.savez(tmp_path / "images.npz", images=objects)
    with pytest.raises(FormatError, match="holds Python objects"):
        open_images(tmp_path / "images.npz")
