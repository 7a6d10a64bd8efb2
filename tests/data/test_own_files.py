"""Images of one's own: archives, sets that were saved, folders of pictures."""

import pickle
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele.core.errors import DemeleWarning, FormatError, InputError, OutputError
from demele.data import (
    ArrayImages,
    FactorSpace,
    ImageSet,
    array_images,
    open_images,
    room,
    save_images,
    sprites,
    squares,
)
from demele.data.array_images import MappedArray
from demele.data.loaders.published import Images, StoredImages, convert
from demele.runtime.work import progress
from tests.refusals import refuses
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
        ({"images": PIXELS, "factors": WIDTHS[:7]}, "one row of factors per image, got 12 and 7"),
        ({"images": PIXELS, "factors": PIXELS}, "bad.npz::factors: expected shape (n, n_factors)"),
        ({"images": PIXELS, "factors": WIDTHS, "factor_names": ["x", "y"]}, "factor_names: expected 1 different texts"),
        ({"images": PIXELS, "shape": ["a", "b", "\ud800"] * 4}, "bad.npz::shape: holds invalid text: 0xd800 is not"),
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
        refuses(FormatError, re.escape(name), open_images, tmp_path / name)
    refuses(InputError, r"there is no .*nowhere\.npz", open_images, tmp_path / "nowhere.npz")
    refuses(InputError, r"there is no room; demele\.data\.room\(\) draws the set of that name", open_images, "room")


def test_a_member_that_declares_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "liar.npz", "w") as archive:
        header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1000000, 64, 64), }"
        archive.writestr("images.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\0" * 64)
    refuses(FormatError, "declares 4,096,000,000 bytes of data and holds 64", open_images, tmp_path / "liar.npz")


def test_packed_images_may_not_fill_the_memory(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "zeros.npz", images=np.zeros((100, 64, 64), np.uint8))
    assert len(open_images(tmp_path / "zeros.npz")) == 100
    refuses(FormatError, "declare 400 KiB of data, more than the", open_images, tmp_path / "zeros.npz", max_size=1000)


def test_objects_in_a_file_are_not_run(tmp_path: Path) -> None:
    objects = np.empty(12, dtype=object)
    np.savez(tmp_path / "objects.npz", images=PIXELS, shape=objects)
    refuses(FormatError, "holds Python objects, which are not loaded because", open_images, tmp_path / "objects.npz")
    np.savez(tmp_path / "images.npz", images=objects)
    refuses(FormatError, "holds Python objects", open_images, tmp_path / "images.npz")


# Saved sets are opened again as they were, by demele and by NumPy, and a failure leaves no file ----------------------


SETS = [
    sprites(16, (3, 2, 4, 2, 2)),
    room(8, (2, 3, 2, 2, 4, 2)),
    squares(8, 4),
    room(8, (2, 3, 1, 1, 1, 2)).resized(5),
]


@pytest.mark.parametrize("images", SETS, ids=repr)
def test_a_set_is_opened_as_it_was_saved(images: ImageSet, tmp_path: Path) -> None:
    opened = open_images(save_images(images, tmp_path / "set.npz"))
    rows = np.arange(len(images))
    assert_exact(opened.images(rows), images.images(rows))
    pd.testing.assert_frame_equal(opened.factors(), images.factors())
    assert opened.space == images.space
    assert opened.complete
    assert (opened.name, opened.provenance, opened.licence) == (images.name, images.provenance, images.licence)


def test_parts_and_sets_that_are_no_grid_are_saved_too(tmp_path: Path) -> None:
    part = SETS[0].subset([5, 90, 5])
    opened = open_images(save_images(part, tmp_path / "part.npz"))
    assert not opened.complete
    assert_exact(opened.positions(), part.positions())
    loose = ArrayImages(np.zeros((3, 2, 2), np.uint8), {"width": [0.5, 1.5, 2.25], "kind": ["a", "b", "a"]})
    back = open_images(save_images(loose, tmp_path / "loose.npz"))
    assert back.space is None
    pd.testing.assert_frame_equal(back.factors(), loose.factors())


def test_the_same_set_gives_the_same_bytes_however_it_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = save_images(SETS[0], tmp_path / "first.npz").read_bytes()
    seen: list[tuple[float, float]] = []
    monkeypatch.setattr(array_images, "BLOCK", 1000)
    with progress(lambda done, total, _: seen.append((done, total))):
        second = save_images(SETS[0], tmp_path / "second.npz")
    assert second.read_bytes() == first
    assert seen[0] == (3, 96)
    assert seen[-1] == (96, 96)


def test_what_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    pixels = np.zeros((4, 2, 2), np.uint8)
    refuses(InputError, r"expected a file that ends in \.npz, got", save_images, SETS[0], tmp_path / "set.npy")
    with pytest.raises(InputError, match="the file has its own array 'images'"):
        save_images(ArrayImages(pixels, {"images": [1.5, 2.5, 3.5, 4.5]}), tmp_path / "set.npz")
    gap = ArrayImages(pixels, {"kind": np.array(["a", "b", None, "a"], dtype=object)})
    refuses(InputError, "factor 'kind' lacks values", save_images, gap, tmp_path / "set.npz")
    (tmp_path / "there.npz").write_text("mine")
    refuses(OutputError, "a file of that name was made", save_images, SETS[2], tmp_path / "there.npz", replace=False)
    assert (tmp_path / "there.npz").read_text() == "mine"


# A folder of pictures is a set of images in the order of their names, or of the table beside them --------------------


Image: Any = pytest.importorskip("PIL.Image")


def write_pictures(folder: Path, names: list[str], pixels: Any = PIXELS, mode: str | None = None) -> None:
    folder.mkdir(exist_ok=True)
    for name, one in zip(names, pixels, strict=False):
        picture = Image.fromarray(one)
        (picture if mode is None else picture.convert(mode)).save(folder / name)


def test_pictures_are_counted_as_their_names_are(tmp_path: Path) -> None:
    names = [f"{number}.png" for number in (10, 2, 1, 11, 3, 4, 5, 6, 7, 8, 9, 12)]
    write_pictures(tmp_path / "folder", names)
    images = open_images(tmp_path / "folder")
    assert repr(images) == "ImageSet(folder: 12 images of 6 x 4 x 3; no factors)"
    assert_exact(images.images([0, 1, 9, 10]), PIXELS[[2, 1, 0, 3]])
    assert_exact(pickle.loads(pickle.dumps(images)).images([9]), PIXELS[[0]])


def test_a_table_beside_pictures_names_them_or_counts_them(tmp_path: Path) -> None:
    names = [f"{number:02}.png" for number in range(12)]
    folder = tmp_path / "folder"
    write_pictures(folder, names)
    pd.DataFrame({"shape": SHAPES, "width": WIDTHS, "side": SIDES}).to_csv(folder / "factors.csv", index=False)
    images = open_images(folder)
    assert images.space == SPACE
    assert_exact(images.images([7]), PIXELS[[7]])
    order = np.random.default_rng(1).permutation(12)
    table = pd.DataFrame({"file": names, "shape": SHAPES, "width": WIDTHS}).iloc[order]
    table.to_csv(folder / "factors.csv", index=False)
    shuffled = open_images(folder)
    assert_exact(shuffled.images(np.arange(12)), PIXELS[order])
    assert_exact(shuffled.factors()["width"], WIDTHS[order])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("shape,x\n0,0,0\n1,1,1\n0,2,2\n1,3,3\n", "line 2: expected 2 fields as in the first, got 3"),
        ("shape,x\n0,0\n1\n0,2\n1,3\n", "line 3: expected 2 fields as in the first, got 1"),
        ("shape,x\n0,0\n1,1\n\n0,2\n1,3\n", "line 4: expected 2 fields, got a blank line"),
        ("x,x\n0,0\n1,1\n0,2\n1,3\n", "more than one column called 'x'"),
        ("dot,0.5\nbar,1.5\ndot,2.5\nbar,3.5\n", "expected 4 lines, one per picture, found 3"),
        ("File,x\n3.png,0\n1.png,1\n2.png,2\n0.png,3\n", "column 'File' names the pictures; call it file"),
        ("file ,x\n3.png,0\n1.png,1\n2.png,2\n0.png,3\n", "column 'file ' names the pictures; call it file"),
    ],
)
def test_a_table_that_could_shift_is_refused(text: str, told: str, tmp_path: Path) -> None:
    write_pictures(tmp_path / "folder", [f"{number}.png" for number in range(4)])
    (tmp_path / "folder" / "factors.csv").write_text(text)
    with pytest.raises(FormatError) as caught:
        open_images(tmp_path / "folder")
    assert told in str(caught.value)
    assert "factors.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told", "names"),
    [
        (",a,b\n0,0,0\n1,1,1\n2,0,2\n3,1,4\n", "first column has no name and numbers the rows", ["a", "b"]),
        ("0,0.5\n1,1.5\n0,2.5\n1,3.5\n", "has no line of names", ["v1", "v2"]),
        ("a,b\nNA,0.5\nEU,1\nEU,2\nUS,3\n", "column 'a': 1 missing values (empty cells, or NA", ["a", "b"]),
    ],
)
def test_what_is_guessed_of_a_table_is_told(text: str, told: str, names: list[str], tmp_path: Path) -> None:
    write_pictures(tmp_path / "folder", [f"{number}.png" for number in range(4)])
    (tmp_path / "folder" / "factors.csv").write_text(text)
    with pytest.warns(DemeleWarning) as caught:
        images = open_images(tmp_path / "folder")
    assert told in str(caught[0].message)
    assert list(images.factors()) == names


@pytest.mark.parametrize(("mode", "channels"), [("L", 1), ("LA", 1), ("RGB", 3), ("RGBA", 3), ("P", 3), ("1", 1)])
def test_grey_pictures_have_one_channel_and_others_three(mode: str, channels: int, tmp_path: Path) -> None:
    write_pictures(tmp_path / "folder", ["a.png", "b.png"], mode=mode)
    images = open_images(tmp_path / "folder")
    assert images.shape == (6, 4, channels)
    expected = Image.open(tmp_path / "folder" / "b.png").convert("L" if channels == 1 else "RGB")
    assert_exact(images.images([1])[0], np.asarray(expected).reshape(6, 4, channels))


def test_folders_that_hold_something_else_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folder"

    def refused(told: str) -> None:
        with pytest.raises(FormatError) as caught:
            open_images(folder)
        assert told in str(caught.value)
        assert str(folder) in str(caught.value)

    folder.mkdir()
    refused("expected pictures, files that end in .png; found nothing")
    (folder / "notes.txt").write_text("none")
    refused("found 'notes.txt'")
    names = [f"{number:02}.png" for number in range(12)]
    write_pictures(folder, names)
    (folder / "factors.csv").write_text("x\n1\n2\n")
    refused("expected 12 lines, one per picture, found 2")
    table = pd.DataFrame({"file": [*names[:8], "a.png", "b.png", "c.png", "d.png"], "x": WIDTHS})
    table.to_csv(folder / "factors.csv", index=False)
    refused("4 pictures are not in the folder: 'a.png', 'b.png', 'c.png', ...")
    table.iloc[:8].to_csv(folder / "factors.csv", index=False)
    refused("4 pictures are not in factors.csv: '08.png', '09.png', '10.png', ...")
    pd.DataFrame({"file": [*names, "00.png"], "x": range(13)}).to_csv(folder / "factors.csv", index=False)
    refused("names '00.png' more than once")
    (folder / "factors.csv").unlink()
    write_pictures(folder, ["05.png"], PIXELS[:, :3])
    write_pictures(folder, ["07.png"], mode="L")
    refused(
        "expected pictures of 6 x 4 in colours, as '00.png' is; 2 are others: '05.png' (3 x 4 in colours), '07.png'"
    )
    Image.fromarray(np.zeros((6, 4), np.uint16)).save(folder / "05.png")
    refused("05.png: its channels have 16 bits; save it with 8")
    (folder / "05.png").write_bytes(b"GIF89a")
    refused("05.png: not a PNG that can be read; copy it again")
