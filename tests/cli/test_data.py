"""``demele list datasets``, ``demele lab data describe`` and ``make``."""

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
    assert [one["name"] for one in json.loads(demele("list", "datasets").out)["rows"]] == names
    rows = list(csv.DictReader(io.StringIO(demele("list", "datasets", "--format", "csv").out)))
    assert [row["name"] for row in rows] == names
    assert rows[0]["images"] == "20736"
    table = demele("list", "datasets", "--format", "table").out
    assert max(map(len, table.splitlines())) <= 80
    for name in names:
        assert any(line.startswith(f"{name} ") for line in table.splitlines())


@pytest.mark.parametrize("name", library.data.image_set_names())
def test_sets_are_described(demele: Program, name: str) -> None:
    found = json.loads(demele("lab", "data", "describe", name).out)
    assert found["name"] == name
    table = demele("lab", "data", "describe", name, "--format", "table").out
    assert max(map(len, table.splitlines())) <= 80
    assert table.startswith(f"{name}: ")
    factors = list(csv.DictReader(io.StringIO(demele("lab", "data", "describe", name, "--format", "csv").out)))
    assert [row["factor"] for row in factors] == [
        factor["name"] for variant in found["variants"] for factor in variant["factors"]
    ]
    for row in factors:
        assert row["factor"] in table


def test_a_set_is_made(demele: Program, tmp_path: Path) -> None:
    path = tmp_path / "sprites.npz"
    run = demele("lab", "data", "make", "sprites", "--image-size", 16, "--counts", "3,2,4,2,2", "-o", path)
    assert (run.status, run.err) == (0, f"demele: {path} written\n")
    assert json.loads(run.out)["variants"][0]["n"] == 96
    opened = library.data.open_images(path)
    assert_exact(opened.images([95]), library.data.sprites(16, (3, 2, 4, 2, 2)).images([95]))
    codes = tmp_path / "codes.npy"
    np.save(codes, np.random.default_rng(0).random((96, 2)))
    scored = demele("score", codes, f"{path}::shape,scale", "--metrics", "mig", "--format", "csv")
    assert scored.status == 0
    again = demele("lab", "data", "make", "sprites", "--counts", "3,2,4,2,2", "-o", path)
    assert (again.status, again.err) == (2, f"demele: error: {path}: exists already; --force replaces it\n")
    forced = demele("lab", "data", "make", "squares", "--image-size", 8, "-o", path, "--force", "--quiet")
    assert (forced.status, forced.err) == (0, "")
    assert library.data.open_images(path).name == "squares"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("make", "sprits", "-o", "a.npz"),
            "NAME: expected one of sprites, room, squares, clutter, got 'sprits'; did you mean 'sprites'?",
        ),
        (
            ("make", "dsprites", "-o", "a.npz"),
            "NAME: dsprites is published, and no formula draws it",
        ),
        (("make", "room"), "expected NAME -o FILE.npz, got no -o FILE.npz"),
        (("make", "room", "-o", "a.npy"), "expected NAME -o FILE.npz, got no -o FILE.npz"),
        (("make", "room", "-o", "no/a.npz"), "there is no folder no; make it first"),
        (
            ("make", "room", "--image-size", "4", "-o", "a.npz"),
            "--image-size: expected a number of pixels from 8 to 1024",
        ),
        (
            ("make", "room", "--counts", "1,2", "-o", "a.npz"),
            "--counts: expected 6 numbers of values, of floor_hue",
        ),
        (("make", "room", "--counts", "1,b", "-o", "a.npz"), "--counts: expected a whole number, got 'b'"),
        (
            ("make", "squares", "--counts", "1", "-o", "a.npz"),
            "--counts: squares has no such setting; it takes --image-size",
        ),
        (
            ("make", "clutter", "--counts", "10", "-o", "a.npz"),
            "--counts: clutter has no such setting; it takes --image-size and --difficulty and --images",
        ),
        (("make", "clutter", "--image-size", "20", "-o", "a.npz"), "--image-size: expected 16 or 32, got 20"),
        (
            ("make", "clutter", "--difficulty", "5", "-o", "a.npz"),
            "--difficulty: expected a difficulty from 0 to 4, got 5",
        ),
        (("make", "clutter", "--images", "0", "-o", "a.npz"), "--images: expected"),
        (
            ("make", "room", "--difficulty", "2", "-o", "a.npz"),
            "--difficulty: room has no such setting; it takes --image-size and --counts",
        ),
        (("make", "room", "--images", "2", "-o", "a.npz"), "--images: room has no such setting"),
        (("make", "squares", "--image-size", "30", "-o", "a.npz"), "--image-size: expected a multiple of 4"),
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
    run = demele("lab", "data", *words)
    assert (run.status, run.out) == (2, "")
    assert told in run.err
    assert len(run.err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [("describe", "mine.npz"), ("check", "mine.npz", "mine.npz")])
def test_images_of_ones_own_are_told_who_looks_at_them(
    demele: Program, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.npz").write_bytes(b"")
    run = demele("lab", "data", *words)
    assert (run.status, run.err.count("\n")) == (2, 1)
    assert "NAME: mine.npz is no name of a set, but a file or folder" in run.err
    assert "demele.data.open_images('mine.npz')" in run.err
    assert "demele lab vae train mine.npz" in run.err
