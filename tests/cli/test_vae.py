"""``demele lab vae``: trained, stopped, gone on with, encoded, scored."""

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.data import squares
from demele.lab import load_vae, preset
from demele.models.vae.train import Training
from tests.cli.conftest import Program, mistakes, replaced

SMALL = ("lab", "vae", "train", "--preset", "ci", "--latents", 3, "--checkpoint", "run")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_model_is_trained_and_its_codes_are_scored(demele: Program, folder: Path) -> None:
    found = demele.done(*SMALL, "--steps", 30, "--objective", "beta_tcvae", "--beta", 2)
    assert found.err == "demele: results are kept in run; a run that asks for more adds to them\n"
    run = json.loads(found.out)
    assert (run["status"], run["steps"], list(run["active"])) == ("done", 30, ["z1", "z2", "z3"])
    assert demele("lab", "vae", "encode", "run", "-o", "codes.npz", "--quiet").err == ""
    with np.load("codes.npz") as held:
        arrays = dict(held)
    names = ["shape", "scale", "orientation", "x", "y"]
    assert list(arrays) == ["codes", "codes_std", "factor_names", "factors", *names]
    assert list(arrays["factor_names"]) == names
    assert (arrays["codes"].shape, arrays["codes"].dtype) == ((1296, 3), np.float32)
    assert arrays["factors"].shape == (1296, 5)
    assert set(arrays["shape"]) == {"square", "ellipse", "heart"}
    sample = load_vae("run").encode(preset("ci").images())
    np.testing.assert_array_equal(arrays["codes"], sample.codes.to_numpy(np.float32))
    scored = demele("score", "codes.npz::codes", "codes.npz::shape,scale", "--metrics", "mig", "--format", "json")
    assert json.loads(scored.out)["scores"][0]["metric"] == "mig"


def test_an_interrupted_training_is_kept_and_goes_on(demele: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    advance = Training.advance

    def interrupted(self: Training) -> Any:
        if self.done == 5:
            signal.raise_signal(signal.SIGINT)
        return advance(self)

    with monkeypatch.context() as patched:
        patched.setattr(Training, "advance", interrupted)
        found = demele(*SMALL, "--steps", 9)
    assert (found.status, found.out) == (130, "")
    assert "what was finished is in run; the same command continues where it stopped" in found.err
    kept = load_vae("run").run
    assert (kept.status, kept.steps) == ("interrupted", 6)
    assert repr(kept) == "Run(The training was interrupted after 6 steps, before anything was measured)"
    assert not kept.collapsed
    report = demele("lab", "vae", "report", "run", "-o", "half.html", "--quiet", "--explain", "--format", "table")
    first = "warning: The training is unfinished (interrupted): these are the weights after step 6"
    assert first in " ".join(report.out.split())
    page = Path("half.html").read_text(encoding="utf-8")
    assert "The training is unfinished (interrupted)" in page
    assert "0 of 3 codes in use" not in page
    assert demele.json(*SMALL, "--steps", 9)["steps"] == 9


def test_images_of_ones_own(demele: Program, folder: Path) -> None:
    pixels = np.zeros((64, 20, 20), dtype=np.uint8)
    pixels[np.arange(64), np.arange(64) % 16] = 255
    np.savez("mine.npz", images=pixels, height=np.arange(64) % 16)
    train = "lab vae train mine.npz --image-size 16 --network mlp --steps 2 --checkpoint run"
    assert demele(*train.split()).status == 0
    told = "IMAGES: the model was trained on mine.npz, which no name stands for; give its file or folder"
    demele.refused(told, "lab", "vae", "encode", "run", "-o", "codes.npz")
    demele.refused("IMAGES: the model was trained on mine.npz", "lab", "vae", "report", "run", "-o", "page.html")
    assert demele("lab", "vae", "encode", "run", "mine.npz", "--image-size", 16, "-o", "codes.npz").status == 0
    with np.load("codes.npz") as held:
        np.testing.assert_array_equal(held["height"], np.arange(64) % 16)
    assert "network 'conv16' takes images of" in demele("lab", "vae", "train", "mine.npz", "--checkpoint", "new").err
    assert not (folder / "new").exists()


@mistakes("""
--objective dip_vae_i --beta 2 | --beta: it is an option of beta_vae, beta_tcvae, ada_gvae
--preset print | preset 'print' is for images in files
""")
def test_mistakes_are_one_line(words: list[str], message: str, demele: Program, folder: Path) -> None:
    demele.refused(message, *replaced(SMALL, *words))
    assert not list(folder.iterdir())


def test_a_page_on_codes_from_elsewhere(demele: Program, folder: Path) -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (200, 2))
    np.savez("codes.npz", codes=factors + 0.1 * rng.normal(size=(200, 2)), factors=factors)
    found = demele("lab", "vae", "report", "codes.npz", "-o", "vae.html", "--quiet", "--format", "table")
    assert (found.status, found.err) == (0, "")
    assert found.out.startswith("2 of 2 factors have a code of their own.")
    assert "2 of 2 factors have a code of their own." in Path("vae.html").read_text(encoding="utf-8")
    call = ("lab", "vae", "report", "codes.npz", "-o", "vae.html", "--force", "--quiet")
    data = demele.json(*call, "--format", "json")
    assert (data["kind"], [one["code"] for one in data["codes"]]) == ("examination", ["z1", "z2"])
    assert [one["status"] for one in data["verdict"]["factors"]] == ["one code"] * 2
    rows = demele(*call, "--format", "csv").out.splitlines()
    assert [row.split(",")[0] for row in rows] == ["code", "z1", "z2"]


_SQUARES = ("lab", "vae", "train", "squares", "--image-size", 16, "--network", "mlp", "--latents", 3)


def test_a_training_that_diverged_is_told_wherever_it_is_shown(demele: Program) -> None:
    found = demele.done(*_SQUARES, "--checkpoint", "run", "--lr", 1000, "--steps", 200, "--format", "table")
    assert "lower --lr, or bound the log-variances, such as with --logvar-bounds=-10,10" in found.err
    assert "its figures are those of the last finite" in found.out
    assert "yes" not in found.out.split()
    told = "RUN: its training diverged: the loss or its gradient was not finite at step"
    demele.refused(told, "lab", "vae", "report", "run", "-o", "page.html", "--quiet")


def test_log_variances_are_bounded_from_the_command_line(demele: Program) -> None:
    demele.done(*_SQUARES, "--checkpoint", "run", "--steps", 3, "--logvar-bounds=-0.5,0.25")
    std = load_vae("run").encode(squares(size=16)).codes_std
    assert np.exp(-0.25) - 1e-6 <= std.to_numpy().min() <= std.to_numpy().max() <= np.exp(0.125) + 1e-6
    assert (
        "expected LOW,HIGH, such as -10,10, got '10'"
        in demele(*_SQUARES, "--checkpoint", "run", "--logvar-bounds", "10").err
    )


def test_an_archive_without_codes_is_told_in_words(demele: Program, folder: Path) -> None:
    np.savez("other.npz", z=np.zeros((10, 2)))
    demele.refused("expected an array 'codes', found z", "lab", "vae", "report", "other.npz", "-o", "page.html")
    demele.refused("missing.npz", "lab", "vae", "report", "missing.npz", "-o", "page.html")
    assert not (folder / "page.html").exists()
