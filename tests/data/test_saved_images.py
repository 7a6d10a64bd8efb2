"""Saved sets are opened again as they were, by demele and by NumPy, and a failure leaves no file."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from demele.core.errors import InputError, OutputError, UnknownNameError
from demele.data import (
    ArrayImages,
    ImageSet,
    describe,
    open_images,
    room,
    save_images,
    sprites,
    squares,
)
from demele.data import own_files as module
from demele.runtime.progress import progress
from tests.tolerances import assert_exact

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


def test_numpy_reads_a_saved_set(tmp_path: Path) -> None:
    path = save_images(SETS[0], tmp_path / "set.npz")
    with np.load(path) as stored:
        assert set(stored.files) == {
            *("images", "shape", "scale", "orientation", "x", "y", "name", "provenance", "licence", "space")
        }
        assert_exact(stored["images"], SETS[0].images(np.arange(96)))
        assert stored["shape"].tolist() == SETS[0].factors()["shape"].tolist()


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
    monkeypatch.setattr(module, "BLOCK", 1000)
    with progress(lambda done, total, _: seen.append((done, total))):
        second = save_images(SETS[0], tmp_path / "second.npz")
    assert second.read_bytes() == first
    assert seen[0] == (3, 96)
    assert seen[-1] == (96, 96)


def test_what_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    pixels = np.zeros((4, 2, 2), np.uint8)
    with pytest.raises(InputError, match=r"expected a file that ends in \.npz, got"):
        save_images(SETS[0], tmp_path / "set.npy")
    with pytest.raises(InputError, match="the file has its own array 'images'"):
        save_images(ArrayImages(pixels, {"images": [1.5, 2.5, 3.5, 4.5]}), tmp_path / "set.npz")
    gap = ArrayImages(pixels, {"kind": np.array(["a", "b", None, "a"], dtype=object)})
    with pytest.raises(InputError, match="factor 'kind' lacks values"):
        save_images(gap, tmp_path / "set.npz")
    (tmp_path / "there.npz").write_text("mine")
    with pytest.raises(OutputError, match="a file of that name was made meanwhile; it is untouched"):
        save_images(SETS[2], tmp_path / "there.npz", replace=False)
    assert (tmp_path / "there.npz").read_text() == "mine"


def test_a_set_that_the_disk_has_no_room_for_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1000})())
    with pytest.raises(OutputError, match=r"set.npz: it takes 24 KiB, and the disk has 1000 bytes left"):
        save_images(SETS[0], tmp_path / "set.npz")
    assert not os.listdir(tmp_path)


def test_a_failure_leaves_the_file_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "set.npz"
    path.write_text("old")

    class Broken(ArrayImages):
        def images(self, rows: object) -> np.ndarray:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save_images(Broken(np.zeros((4, 2, 2), np.uint8)), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["set.npz"]


# What is known of sets ------------------------------------------------------------------------------------------------


def test_an_unknown_set_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="got 'dsprite'; did you mean 'dsprites'"):
        describe("dsprite")
