"""``demele data list``, ``describe`` and ``make``."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import demele as library
from tests.cli.conftest import Program
from tests.tolerances import assert_exact


def test_the_list_has_every_set(demele: Program) -> None:
    names = list(library.data.image_set_names())
    assert [one["name"] for one in json.loads(demele("data", "list").out)] == names
    rows = list(csv.DictReader(io.StringIO(demele("data", "list", "--format", "csv").out)))
    assert [row["name"] for row in rows] == names
    assert rows[0]["images"] == "20736"
    table = demele("data", "list", "--format", "table").out
    assert max(map(len, table.splitlines())) <= 80
    for name in names:
        assert any(line.startswith(f"{name} ") for line in table.splitlines())


@pytest.mark.parametrize("name", library.data.image_set_names())
def test_sets_are_described(demele: Program, name: str) -> None:
    found = json.loads(demele("data", "describe", name).out)
    assert found["name"] == name
    table = demele("data", "describe", name, "--format", "table").out
    assert max(map(len, table.splitlines())) <= 80
    assert table.startswith(f"{name}: ")
    factors = list(csv.DictReader(io.StringIO(demele("data", "describe", name, "--format", "csv").out)))
    assert [row["factor"] for row in factors] == [
        factor["name"] for variant in found["variants"] for factor in variant["factors"]
    ]
    for row in factors:
        assert row["factor"] in table


def test_releases_that_are_alike_are_shown_together(demele: Program) -> None:
    table = demele("data", "describe", "mpi3d", "--format", "table").out
    assert "1,036,800 images of 64 x 64 x 3 (toy, realistic, real)" in " ".join(table.split())
    assert table.count("vertical_axis") == 1
    assert "Factor           toy, realistic, real  complex  toy2019, realistic2019" in table


def test_a_set_is_made(demele: Program, tmp_path: Path) -> None:
    path = tmp_path / "sprites.npz"
    run = demele("data", "make", "sprites", "--size", 16, "--counts", "3,2,4,2,2", "--output", path)
    assert (run.status, run.out) == (0, "")
    assert run.err.startswith(f"demele: 96 images written to {path}, ")
    opened = library.data.open_images(path)
    assert_exact(opened.images([95]), library.data.sprites(16, (3, 2, 4, 2, 2)).images([95]))
    codes = tmp_path / "codes.npy"
    np.save(codes, np.random.default_rng(0).random((96, 2)))
    scored = demele("score", codes, f"{path}::shape,scale", "--metrics", "mig", "--format", "csv")
    assert scored.status == 0
    again = demele("data", "make", "sprites", "--counts", "3,2,4,2,2", "--output", path)
    assert (again.status, again.err) == (2, f"demele: error: {path}: exists already; --force replaces it\n")
    forced = demele("data", "make", "squares", "--size", 8, "--output", path, "--force", "--quiet")
    assert (forced.status, forced.err) == (0, "")
    assert library.data.open_images(path).name == "squares"


def test_clutter_is_made_as_hard_and_as_large_as_is_asked_for(demele: Program, tmp_path: Path) -> None:
    path = tmp_path / "clutter.npz"
    run = demele("data", "make", "clutter", "--size", 32, "--difficulty", 1, "--images", 25, "--output", path)
    assert (run.status, run.out) == (0, "")
    opened, drawn = library.data.open_images(path), library.data.clutter(25, size=32, level=1)
    assert_exact(opened.images(np.arange(25)), drawn.images(np.arange(25)))
    assert_exact(opened.positions(), drawn.positions())
    assert not np.array_equal(opened.images([3]), library.data.clutter(25, size=32).images([3]))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("make", "sprits", "--output", "a.npz"),
            "NAME: no set of that name is drawn: 'sprits'; did you mean 'sprites'?",
        ),
        (
            ("make", "dsprites", "--output", "a.npz"),
            "NAME: dsprites is published, and no formula draws it",
        ),
        (("make", "room"), "--output: expected where to write, such as --output room.npz"),
        (("make", "room", "--output", "a.npy"), "--output: expected a file that ends in .npz, got 'a.npy'"),
        (("make", "room", "--output", "no/a.npz"), "there is no folder no; make it first"),
        (("make", "room", "--size", "4", "--output", "a.npz"), "--size: expected a number of pixels from 8 to 1024"),
        (
            ("make", "room", "--counts", "1,2", "--output", "a.npz"),
            "--counts: expected 6 numbers of values, of floor_hue",
        ),
        (("make", "room", "--counts", "1,b", "--output", "a.npz"), "expected whole numbers, such as 1,10,100"),
        (("make", "squares", "--counts", "1", "--output", "a.npz"), "--counts: squares take as many places as"),
        (
            ("make", "clutter", "--counts", "10", "--output", "a.npz"),
            "--counts: clutter has ten classes; --images says",
        ),
        (("make", "clutter", "--size", "20", "--output", "a.npz"), "--size: expected 16 or 32, got 20"),
        (
            ("make", "clutter", "--difficulty", "5", "--output", "a.npz"),
            "--difficulty: expected a difficulty from 0 to 4, got 5",
        ),
        (("make", "clutter", "--images", "0", "--output", "a.npz"), "--images: expected"),
        (
            ("make", "room", "--difficulty", "2", "--output", "a.npz"),
            "--difficulty: is an option of clutter, and room has none",
        ),
        (("make", "room", "--images", "2", "--output", "a.npz"), "--images: is an option of clutter"),
        (("make", "squares", "--size", "30", "--output", "a.npz"), "--size: expected a multiple of 4"),
        (
            ("describe", "shapes"),
            f"NAME: expected one of {', '.join(library.data.image_set_names())}, got 'shapes'; did you mean 'shapes3d'",
        ),
    ],
)
def test_mistakes_take_one_line(
    demele: Program, words: tuple[str, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = demele("data", *words)
    assert (run.status, run.out) == (2, "")
    assert told in run.err
    assert len(run.err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [("describe", "mine.npz"), ("check", "mine.npz")])
def test_images_of_ones_own_are_told_who_looks_at_them(
    demele: Program, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.npz").write_bytes(b"")
    run = demele("data", *words)
    assert (run.status, run.err.count("\n")) == (2, 1)
    assert "NAME: mine.npz is no name of a set, but a file or folder" in run.err
    assert "demele.data.open_images('mine.npz')" in run.err
    assert "demele vae train mine.npz" in run.err


def test_what_is_to_be_checked_is_needed(demele: Program) -> None:
    run = demele("data", "check", "dsprites")
    assert (run.status, run.out) == (2, "")
    assert "PATH: expected the file or folder of the set, as it was published" in run.err
