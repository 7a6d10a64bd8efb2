"""``demele list datasets`` and ``demele lab data``: described, made, checked and converted."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demele as library
from demele.data.loaders.loading import PUBLISHED, load
from demele.data.loaders.published import PublishedFile, PublishedSet, open_converted
from tests.cli.conftest import Program, mistakes
from tests.data import published_files as files
from tests.data.published_files import Written
from tests.tolerances import assert_exact


@pytest.mark.parametrize("name", library.data.image_set_names())
def test_sets_are_described(demele: Program, name: str) -> None:
    found = demele.json("lab", "data", "describe", name)
    assert found["name"] == name
    table = demele("lab", "data", "describe", name, "--format", "table").out
    assert max(map(len, table.splitlines())) <= 80
    assert all(factor["name"] in table for variant in found["variants"] for factor in variant["factors"])


def test_a_set_is_made(demele: Program, tmp_path: Path) -> None:
    path = tmp_path / "sprites.npz"
    run = demele("lab", "data", "make", "sprites", "--image-size", 16, "--counts", "3,2,4,2,2", "-o", path)
    assert (run.status, run.err) == (0, f"demele: {path} written\n")
    assert json.loads(run.out)["variants"][0]["n"] == 96
    opened = library.data.open_images(path)
    assert_exact(opened.images([95]), library.data.sprites(16, (3, 2, 4, 2, 2)).images([95]))
    codes = tmp_path / "codes.npy"
    np.save(codes, np.random.default_rng(0).random((96, 2)))
    demele.done("score", codes, f"{path}::shape,scale", "--metrics", "mig", "--format", "csv")
    again = demele("lab", "data", "make", "sprites", "--counts", "3,2,4,2,2", "-o", path)
    assert (again.status, again.err) == (2, f"demele: error: {path}: exists already; --force replaces it\n")
    forced = demele("lab", "data", "make", "squares", "--image-size", 8, "-o", path, "--force", "--quiet")
    assert (forced.status, forced.err) == (0, "")
    assert library.data.open_images(path).name == "squares"


@mistakes("""
make dsprites -o a.npz | NAME: dsprites is published, and no formula draws it
make room | expected NAME -o FILE.npz, got no -o FILE.npz
make room -o a.npy | expected NAME -o FILE.npz, got no -o FILE.npz
make room --images 2 -o a.npz | --images: room has no such setting
convert mpi3d x | expected NAME PATH -o FILE.npy, got no -o FILE.npy
convert mpi3d x -o x.npy --variant y | --variant: mpi3d has no variant 'y'
convert mpi3d nowhere -o x.npy | PATH: there is no nowhere; MPI3D is published by
check sprites x | got 'sprites'; did you mean 'dsprites'
describe shapes | got 'shapes'; did you mean 'shapes3d'
""")
def test_mistakes_take_one_line(
    demele: Program, words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    demele.refused(message, "lab", "data", *words)
    assert not list(tmp_path.iterdir())


# ``demele lab data check`` and ``convert`` ---------------------------------------------------------------------------


@pytest.fixture
def placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Written]:
    """Writes a set into the working directory, and lets demele know it in its small size."""

    def place(write: Callable[..., Written], **how: Any) -> Written:
        known: tuple[PublishedFile, ...] = how.pop("known", ())
        made = write(tmp_path, **how)
        fields = {name: getattr(made.published, name) for name in PublishedSet.__dataclass_fields__}
        made = made._replace(published=PublishedSet(**fields | {"files": known}))
        monkeypatch.setitem(PUBLISHED, made.published.name, made.published)
        monkeypatch.chdir(tmp_path)
        return made

    return place


# Check ---------------------------------------------------------------------------------------------------------------


def test_files_that_fit(demele: Program, placed: Callable[..., Written]) -> None:
    made = placed(files.write_dsprites)
    run = demele("lab", "data", "check", "dsprites", made.path)
    found = json.loads(run.out)
    assert (run.status, run.err, found["usable"], found["problem"]) == (0, "", True, None)
    assert {one["verdict"] for one in found["files"]} == {"fits"}
    assert [one["file"].rpartition("::")[2] for one in found["files"]] == ["imgs", "latents_classes", "latents_values"]
    table = demele("lab", "data", "check", "dsprites", made.path, "--format", "table").out
    assert re.search(r"64x64.npz::imgs +uint8 .144, 8, 8. +the same +fits$", table, re.MULTILINE)
    assert table.startswith("dsprites can be used.\n")
    assert max(map(len, table.splitlines())) <= 80
    rows = list(
        csv.DictReader(io.StringIO(demele("lab", "data", "check", "dsprites", made.path, "--format", "csv").out))
    )
    assert rows == [{name: one[name] for name in ("file", "found", "expected", "verdict")} for one in found["files"]]


def test_digests_and_sizes(demele: Program, placed: Callable[..., Written]) -> None:
    name = "3dshapes.h5"
    made = placed(files.write_shapes3d, known=(PublishedFile(name, size=7, digest="0" * 64),))
    run = demele.done("lab", "data", "check", "shapes3d", name)
    assert run.err.startswith("demele: warning: 3dshapes.h5: ")
    assert "where the published file has 7" in run.err
    assert json.loads(run.out)["files"][-1]["verdict"] == "not published"
    run = demele("lab", "data", "check", "shapes3d", name, "--check", "digest", "--format", "table")
    assert run.status == 2
    assert run.err.endswith("it is not the published file: copy it again, or leave out --check digest\n")
    placed(lambda folder: made)
    run = demele("lab", "data", "check", "shapes3d", name, "--check", "digest")
    assert "--check: no digest of these files of Shapes3D is known; leave out --check digest" in run.err


# Convert -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [files.write_cars3d, files.write_smallnorb, files.write_3dident])
def test_a_set_is_converted(demele: Program, placed: Callable[..., Written], write: Callable[..., Written]) -> None:
    made = placed(write)
    name = made.published.name
    run = demele(
        "lab", "data", "convert", name, made.path, "--image-size", 4, "--resample", "lanczos", "-o", "images.npy"
    )
    assert (run.status, run.err) == (0, "demele: images.npy written\n")
    assert json.loads(run.out)["usable"]
    expected = load(made.published, made.path, size=4, resample="lanczos")
    opened = library.data.open_images("images.npy")
    assert_exact(opened.images([5, 2]), expected.images([5, 2]))
    assert library.data.load(name, "images.npy").digest == expected.digest
    again = demele("lab", "data", "convert", name, made.path, "-o", "images.npy")
    assert (again.status, again.err) == (2, "demele: error: images.npy: exists already; --force replaces it\n")
    assert demele("lab", "data", "convert", name, made.path, "-o", "images.npy", "--force", "--quiet").err == ""
    assert library.data.open_images("images.npy").shape == made.images.shape[1:]


def test_options_of_a_set(demele: Program, placed: Callable[..., Written]) -> None:
    placed(files.write_smallnorb)
    asked = ("--options", "camera=1", "--options", "instance=factor", "--options", "split=training")
    assert demele("lab", "data", "convert", "smallnorb", ".", *asked, "-o", "norb.npy").status == 0
    kept = {"name": "smallnorb", "split": "training", "camera": 1, "instance": "factor"}
    assert kept.items() <= open_converted(Path("norb.npy"))[1].items()
    for option, told in [
        ("camera=2", "camera: expected one of 0, 1, got '2'"),
        ("colour=1", "colour: smallnorb has no such option; its options are split, camera, instance"),
        ("camera", "--options: expected NAME=..., such as camera=1, got 'camera'"),
    ]:
        demele.refused(told, "lab", "data", "check", "smallnorb", ".", "--options", option)
