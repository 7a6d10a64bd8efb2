"""``demele lab fabric``: trained, stopped, gone on with, pruned, shown; and what is refused, with nothing lost."""

import functools
import json
import signal
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.data import clutter, clutter_labels
from demele.lab import Fabric
from demele.models.fabric.network import FabricFitting
from tests.cli.conftest import Program, mistakes, replaced
from tests.models.test_fabric_pruning import assert_same

DATA = ("--image-size", 4, "--difficulty", 0, "--images", 60, "--held-out", 40, "--judged-on", 20)
SIZE = ("--layers", 2, "--channels", 4, "--batch", 20)
SMALL = ("lab", "fabric", "train", *DATA, *SIZE, "--preset", "ci", "--checkpoint", "run")
LINKS = ("--remove", "links", "--fraction", 0.3)
PRUNE = ("lab", "fabric", "prune", "run", "--batch", 20, "--held-out", 40, "--judged-on", 20, "-o", "pruned.fabric")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@functools.cache
def trained() -> bytes:
    """The file of a fabric that was trained for two epochs, as by SMALL."""
    fabric = Fabric(2, 3, 4, image_channels=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        own: dict[str, Any] = {"epochs": 2, "batch": 20, "milestones": (3, 4), "checkpoint": path}
        fabric.fit(images(), images().positions()[:, 0], **own)
        return path.read_bytes()


@pytest.fixture
def run() -> bytes:
    """That file, as ``run``; its bytes."""
    Path("run").write_bytes(trained())
    return trained()


def images(n: int = 60, first: int = 0) -> Any:
    return clutter(n, level=0, first=first).resized(4)


# Training -------------------------------------------------------------------------------------------------------------


def test_a_fabric_is_trained_as_in_python(demele: Program) -> None:
    found = demele.done(*SMALL, "--epochs", 2, "--milestones", 1)
    assert found.err == ("demele: results are kept in run; a run that asks for more adds to them\n")
    told = json.loads(found.out)
    assert (told["run"]["status"], told["run"]["epochs"], told["spec"]["scales"]) == ("done", 2, 3)
    same = Fabric(2, 3, 4, image_channels=1)
    same.fit(images(), images().positions()[:, 0], epochs=2, batch=20, milestones=(1,))
    assert_same(Fabric.load("run"), same)
    held = images(40, first=2**41)
    (counted,) = told["errors"]
    assert (counted["stage"], counted["error"]) == ("held out", same.error(held, held.positions()[:, 0]))
    assert (counted["images"], counted["interval"]["low"] < counted["error"] < counted["interval"]["high"]) == (
        40,
        True,
    )


@pytest.mark.parametrize("kind", ["uniform", "visibility"])
def test_labels_are_made_wrong_of_the_training_alone(kind: Any, demele: Program) -> None:
    demele(*SMALL, "--epochs", 1, "--label-noise", f"{kind}:0.3")
    noisy = Fabric(2, 3, 4, image_channels=1)
    given = clutter_labels(clutter(60, level=0), 0.3, kind)
    assert (given != images().positions()[:, 0]).sum() == 10
    noisy.fit(images(), given, epochs=1, batch=20, milestones=(3, 4))
    assert_same(Fabric.load("run"), noisy)


def test_the_same_command_goes_on_and_more_epochs_are_added(demele: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    epoch = FabricFitting._epoch

    def interrupted(self: FabricFitting, number: int, stop: Any) -> Any:
        if number == 1:
            signal.raise_signal(signal.SIGINT)
        return epoch(self, number, stop)

    with monkeypatch.context() as patched:
        patched.setattr(FabricFitting, "_epoch", interrupted)
        found = demele(*SMALL, "--epochs", 2)
    assert (found.status, found.out) == (130, "")
    assert "what was finished is in run; the same command continues where it stopped" in found.err
    assert Fabric.load("run").run.status == "interrupted"
    assert demele.json(*SMALL, "--epochs", 2)["run"]["status"] == "done"
    assert [one["epoch"] for one in demele.json(*SMALL, "--epochs", 3)["run"]["history"]] == [1, 2, 3]
    whole = Fabric(2, 3, 4, image_channels=1)
    whole.fit(images(), images().positions()[:, 0], epochs=3, batch=20, milestones=(3, 4))
    assert_same(Fabric.load("run"), whole)


def test_images_of_ones_own_keep_their_parts_apart(demele: Program, folder: Path) -> None:
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (80, 8, 8)).astype(np.uint8)
    np.savez("mine.npz", images=pixels, kind=np.arange(80) % 4)
    np.save("classes.npy", np.array(["cat", "dog"])[np.arange(80) % 2])
    train = ("lab", "fabric", "train", "--data", "mine.npz", *SIZE, "--epochs", 1)
    told = demele.json(*train, "--checkpoint", "a")
    assert (told["spec"]["classes"], told["training"]["n"], told["errors"][0]["images"]) == (4, 64, 8)
    told = demele.json(*train, "--image-labels", "classes.npy", "--checkpoint", "b", "--held-out", 30)
    assert (told["spec"]["classes"], told["training"]["n"], told["errors"][0]["images"]) == (2, 42, 30)
    prune = ("lab", "fabric", "prune", "b", *LINKS, "-o", "c.fabric")
    assert "--fine-tune: which images to train on is not known; --data" in demele(*prune, "--fine-tune", 1).err
    unseen = demele(*prune, "--min-links", 5)
    assert (unseen.status, json.loads(unseen.out)["errors"]) == (0, [])
    assert "no images are known" in unseen.err


# Pruning --------------------------------------------------------------------------------------------------------------


def test_a_pruning_tells_asked_achieved_and_the_errors_on_the_way(demele: Program, run: bytes) -> None:
    found = demele.done(*PRUNE, "--remove", "links", "--fraction", 0.3, "--criterion", "gate", "--fine-tune", 1)
    assert Path("run").read_bytes() == run
    told = json.loads(found.out)
    before, after = Fabric.load("run"), Fabric.load("pruned.fabric")
    assert told["prunings"][-1]["requested"] == round(0.3 * len(before.links))
    assert told["prunings"][-1]["removed"] == len(before.links) - len(after.links) > 0
    assert told["counts"] == after.counts().to_dict()
    assert [item["stage"] for item in told["errors"]] == ["before", "raw", "recalibrated", "fine-tuned"]
    held = images(40, first=2**41)
    ends = {"before": before, "fine-tuned": after}
    for stage, fabric in ends.items():
        error = next(item["error"] for item in told["errors"] if item["stage"] == stage)
        assert error == fabric.error(held, held.positions()[:, 0])
    same = before.copy()
    judged = images(20, first=2**40)
    same.prune("links", 0.3, "gate", judged, judged.positions()[:, 0], batch=20)
    same.recalibrate(images(), batch=20)
    same.fit(images(), images().positions()[:, 0], epochs=3, rate=0.01, batch=20, milestones=())
    assert_same(after, same)


def test_a_fabric_is_shown_as_table_history_picture_and_page(demele: Program, run: bytes) -> None:
    demele(*PRUNE, "--remove", "links", "--fraction", 0.3, "-o", "pruning.html")
    assert Path("pruning.html").stat().st_size > 1000
    found = demele("lab", "fabric", "show", "pruned.fabric", "-o", "page.html", "-o", "structure.svg")
    assert found.err == "demele: page.html written\ndemele: structure.svg written\n"
    assert json.loads(found.out)["whole"]["links"] == 11
    assert Path("structure.svg").read_text().count("stroke-dasharray") == 3  # links that were removed
    assert "<bdi>pruned.fabric</bdi></h1>" in Path("page.html").read_text()
    demele("lab", "fabric", "show", "run", "-o", "run.history.csv")
    assert Path("run.history.csv").read_text(encoding="utf-8").startswith("epoch,rate,loss,error")
    assert "Parameters" in demele("lab", "fabric", "show", "run", "--format", "table").out


# Mistakes -------------------------------------------------------------------------------------------------------------


@mistakes("""
--data sprites | --difficulty: is for --data clutter
--image-size 12 | expected square images with a power of two of pixels a side, got 12 x 12; --image-size 16
--label-noise feature:0.2 | --label-noise: expected 'none', 'uniform:RATE', 'visibility:RATE' or 'resubstitution:RATE'
--label-noise uniform:0.9 | --label-noise: expected a number in (0, 0.5], got 0.9
--label-noise uniform:x | got 'uniform:x'
""")
def test_mistakes_in_a_training_are_one_line(words: Any, message: str, demele: Program, folder: Path) -> None:
    demele.refused(message, *replaced(SMALL, "--epochs", 1, *words))
    assert not list(folder.iterdir())


@mistakes("""
--fraction 1.5 | --fraction: expected a number in (0, 1), got 1.5
--data more.npz --held-out 5 | more.npz: 12 classes, and the fabric knows 10
""")
def test_mistakes_in_a_pruning_lose_nothing(
    words: Any, message: str, demele: Program, run: bytes, folder: Path
) -> None:
    np.savez("more.npz", images=np.zeros((60, 4, 4), np.uint8), kind=np.arange(60) % 12)
    demele.refused(message, *replaced((*PRUNE, "--remove", "links", "--fraction", 0.3), *words))
    assert Path("run").read_bytes() == run  # not touched
    assert sorted(path.name for path in folder.iterdir()) == ["more.npz", "run"]


def test_images_that_are_not_there_or_have_no_class(demele: Program, folder: Path) -> None:
    train = ("lab", "fabric", "train", "--checkpoint", "run", "--data")
    assert "cluter: there is no such file, and no such set" in demele(*train, "cluter").err
    assert "squares: which factor is the class is not clear; --factor says which of" in demele(*train, "squares").err
    assert "--factor: squares has none called 'glyph'" in demele(*train, "squares", "--factor", "glyph").err
    (folder / "few.csv").write_text("label\n0\n1\n")
    few = demele(*train, "clutter", "--image-labels", "few.csv::label", "--images", 60)
    both = demele(*train, "clutter", "--image-labels", "few.csv::label", "--factor", "glyph", "--images", 60)
    assert "--factor: --image-labels gives the classes; leave one of them out" in both.err
    assert "--image-labels: expected a class for each of the 60 images, got 2" in few.err
    assert (
        "--image-labels: say with --images N how many images"
        in demele(*train, "clutter", "--image-labels", "few.csv").err
    )
    assert not Path("run").exists()


def test_a_file_divided_otherwise_than_for_the_training_is_told(demele: Program, folder: Path) -> None:
    names = np.array(["dot", "bar"] * 50)
    pixels = np.random.default_rng(0).integers(0, 256, (100, 4, 4)).astype(np.uint8)
    np.savez(folder / "own.npz", images=pixels, factors=(names == "bar").astype(int)[:, None])
    parts = ("--data", "own.npz", "--batch", 20)
    train = ("lab", "fabric", "train", *parts, "--held-out", 20, "--judged-on", 20, "--layers", 2, "--channels", 4)
    demele(*train, "--preset", "ci", "--epochs", 1, "--checkpoint", "small")
    prune = ("lab", "fabric", "prune", "small", *parts, "--remove", "links", "--fraction", 0.3, "-o")
    same = demele(*prune, "first.fabric", "--held-out", 20, "--judged-on", 20)
    assert (same.status, "not divided" in same.err) == (0, False)
    other = demele.done(*prune, "second.fabric", "--held-out", 50, "--judged-on", 20)
    assert "own.npz is not divided as it was for the training" in " ".join(other.err.split())
    assert "it was trained on own.npz" in demele(*prune[:4], *prune[8:], "third.fabric", "--fine-tune", 1).err


def test_labels_of_another_training_are_told(demele: Program, run: bytes) -> None:
    found = demele(*PRUNE, "--remove", "links", "--fraction", 0.2, "--fine-tune", 1, "--label-noise", "uniform:0.3")
    assert found.status == 0
    assert "these images were trained on with other labels; --label-noise or --image-labels gives them" in found.err
