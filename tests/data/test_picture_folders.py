"""A folder of pictures is a set of images in the order of their names, or of the table beside them."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele.core.errors import DemeleWarning, FormatError
from demele.data import FactorSpace, open_images
from tests.tolerances import assert_exact

Image: Any = pytest.importorskip("PIL.Image")

PIXELS: Any = np.random.default_rng(0).integers(0, 256, (12, 6, 4, 3), dtype=np.uint8)
SHAPES = ["dot", "bar"] * 6
WIDTHS = np.repeat([0.5, 1.5, 2.5], 4)
SIDES = np.array([0, 0, 1, 1] * 3)
SPACE = FactorSpace({"shape": ["bar", "dot"], "width": [0.5, 1.5, 2.5], "side": 2})


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
