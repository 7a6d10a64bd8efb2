"""``demele vae``: trained, stopped, gone on with, encoded, scored."""

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.models import load
from demele.models.vae.train import Training
from tests.cli.conftest import Program, replaced

SMALL = ("vae", "train", "--preset", "ci", "--latents", 3, "--output", "run")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_model_is_trained_and_its_codes_are_scored(demele: Program, folder: Path) -> None:
    found = demele(*SMALL, "--steps", 30, "--objective", "beta_tcvae", "--beta", 2)
    assert found.status == 0
    assert found.err == "demele: model kept in run; demele vae encode run --output codes.npz\n"
    run = json.loads(found.out)
    assert (run["status"], run["steps"], list(run["active"])) == ("done", 30, ["z1", "z2", "z3"])
    assert demele("vae", "encode", "run", "--output", "codes.npz", "--quiet").err == ""
    with np.load("codes.npz") as held:
        arrays = dict(held)
    names = ["shape", "scale", "orientation", "x", "y"]
    assert list(arrays) == ["codes", "codes_std", "factor_names", "factors", *names]
    assert list(arrays["factor_names"]) == names
    assert (arrays["codes"].shape, arrays["codes"].dtype) == ((1296, 3), np.float32)
    assert arrays["factors"].shape == (1296, 5)
    assert set(arrays["shape"]) == {"square", "ellipse", "heart"}
    sample = load("run").encode(load_images())
    np.testing.assert_array_equal(arrays["codes"], sample.codes.to_numpy(np.float32))
    scored = demele("score", "codes.npz::codes", "codes.npz::shape,scale", "--metrics", "mig", "--format", "json")
    assert json.loads(scored.out)["scores"][0]["metric"] == "mig"


def load_images() -> Any:
    from demele.models import preset

    return preset("ci").images()


def test_tables_and_histories_are_printed(demele: Program) -> None:
    table = demele(*SMALL, "--steps", 3, "--format", "table").out
    assert table.startswith("The training is done after 3 steps: 0 of 3 codes are active")
    assert "1 warning: --explain" in table
    assert "bernoulli likelihood" in table
    explained = demele(*SMALL, "--steps", 3, "--format", "table", "--explain").out
    assert "warning: Every code collapsed to the prior" in explained
    assert "The normalised beta is 0.047." in explained
    history = demele(*SMALL, "--steps", 3, "--format", "csv").out.splitlines()  # returns at once
    assert history[0].startswith("step,loss,reconstruction,kl,kl_z1,kl_z2,kl_z3,total_correlation,penalty")
    assert [line.partition(",")[0] for line in history[1:]] == ["0", "1", "2"]


def test_an_interrupted_training_is_kept_and_goes_on(demele: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    advance = Training.advance

    def interrupted(self: Training, feed: Any) -> Any:
        if self.step == 5:
            signal.raise_signal(signal.SIGINT)
        return advance(self, feed)

    with monkeypatch.context() as patched:
        patched.setattr(Training, "advance", interrupted)
        found = demele(*SMALL, "--steps", 9)
    assert (found.status, found.out) == (130, "")
    assert "what was finished is in run; the same command continues where it stopped" in found.err
    kept = load("run").run
    assert kept is not None
    assert (kept.status, kept.steps) == ("interrupted", 6)
    assert repr(kept) == "Run(The training was interrupted after 6 steps, before anything was measured)"
    assert not kept.collapsed
    report = demele("vae", "report", "run", "--report", "half.html", "--quiet", "--explain")
    first = "warning: The training is unfinished (interrupted): these are the weights after step 6"
    assert first in " ".join(report.out.split())
    page = Path("half.html").read_text(encoding="utf-8")
    assert "The training is unfinished (interrupted)" in page
    assert "0 of 3 codes in use" not in page
    assert json.loads(demele(*SMALL, "--steps", 9).out)["steps"] == 9


def test_images_of_ones_own(demele: Program, folder: Path) -> None:
    pixels = np.zeros((64, 20, 20), dtype=np.uint8)
    pixels[np.arange(64), np.arange(64) % 16] = 255
    np.savez("mine.npz", images=pixels, height=np.arange(64) % 16)
    train = ("vae", "train", "mine.npz", "--size", 16, "--network", "mlp", "--steps", 2, "--output", "run")
    assert demele(*train).status == 0
    refused = demele("vae", "encode", "run", "--output", "codes.npz")
    assert refused.status == 2
    assert "give its file or folder, as in demele vae encode run mine.npz ..." in refused.err
    refused = demele("vae", "report", "run", "--report", "page.html")
    assert "give its file or folder, as in demele vae report run mine.npz ..." in refused.err
    assert demele("vae", "encode", "run", "mine.npz", "--size", 16, "--output", "codes.npz").status == 0
    with np.load("codes.npz") as held:
        np.testing.assert_array_equal(held["height"], np.arange(64) % 16)
    assert "network 'conv16' takes images of" in demele("vae", "train", "mine.npz", "--output", "new").err
    assert not (folder / "new").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("sprits",), "sprits: there is no such file, and no set of that name; did you mean 'sprites'?"),
        (("--objective", "beta_vea"), ", got 'beta_vea'; did you mean 'beta_vae'"),
        (("--preset", "cl"), ", got 'cl'; did you mean 'ci'?"),
        (("--objective", "dip_vae_i", "--beta", "2"), "--beta: it is an option of beta_vae, beta_tcvae, ada_gvae"),
        (("--beta", "-1"), "--beta: expected a finite number >= 0, got -1"),
        (("--objective", "capacity", "--capacity-steps", "0"), "--capacity-steps: expected a whole number >= 1"),
        (("--batch", "2000"), "--batch: expected at most as many as there are images, 1296, got 2000"),
        (("--likelihood", "gaussian"), "--likelihood: expected a standard deviation, as in 'gaussian:0.1'"),
        (("--preset", "print"), "preset 'print' is for images in files"),
        (("--device", "tpu"), "--device: expected 'auto', 'cpu' or 'cuda', got 'tpu'"),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], message: str, demele: Program, folder: Path) -> None:
    found = demele(*replaced(SMALL, *words))
    assert (found.status, found.out) == (2, "")
    assert message in found.err
    assert found.err.count("\n") == 1
    assert not list(folder.iterdir())


def test_files_are_not_replaced(demele: Program, folder: Path) -> None:
    demele(*SMALL, "--steps", 2)
    assert "run was trained with --beta = 4.0, this call has 3.0" in demele(*SMALL, "--steps", 2, "--beta", 3).err
    (folder / "codes.npz").write_text("mine")
    assert (
        "codes.npz: exists already; --force replaces it" in demele("vae", "encode", "run", "--output", "codes.npz").err
    )
    assert "call it codes.npz, not codes.csv" in demele("vae", "encode", "run", "--output", "codes.csv").err
    assert "run.npz: it is read by the same command" in demele("vae", "encode", "run.npz", "--output", "run.npz").err
    assert demele("vae", "encode", "codes.npz", "--output", "new.npz").status == 2
    assert demele("vae", "encode", "run", "--output", "codes.npz", "--force", "--quiet").err == ""


def test_a_page_on_what_a_model_has_learnt(demele: Program, folder: Path) -> None:
    demele("vae", "train", "squares", "--size", 16, "--network", "mlp", "--latents", 3, "--steps", 5, "--output", "run")
    found = demele("vae", "report", "run", "--report", "vae.html")
    assert found.status == 0, found.err
    assert "codes active, 6 factors" in found.out
    assert found.err.endswith("page written to vae.html\n")
    page = Path("vae.html").read_text(encoding="utf-8")
    assert page.count("<img") >= 10
    again = demele("vae", "report", "run", "--report", "vae.html")
    assert (again.status, "--force" in again.err) == (2, True)


def test_a_page_on_codes_from_elsewhere(demele: Program, folder: Path) -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (200, 2))
    np.savez("codes.npz", codes=factors + 0.1 * rng.normal(size=(200, 2)), factors=factors)
    found = demele("vae", "report", "codes.npz", "--report", "vae.html", "--quiet")
    assert (found.status, found.err) == (0, "")
    assert found.out.startswith("2 of 2 factors have a code of their own.")
    assert "2 of 2 factors have a code of their own." in Path("vae.html").read_text(encoding="utf-8")
    call = ("vae", "report", "codes.npz", "--report", "vae.html", "--force", "--quiet")
    data = json.loads(demele(*call, "--format", "json").out)
    assert (data["kind"], [one["code"] for one in data["codes"]]) == ("examination", ["z1", "z2"])
    assert [one["status"] for one in data["verdict"]["factors"]] == ["one code"] * 2
    rows = demele(*call, "--format", "csv").out.splitlines()
    assert [row.split(",")[0] for row in rows] == ["code", "z1", "z2"]
    np.savez("other.npz", z=factors)
    wrong = demele("vae", "report", "other.npz", "--report", "other.html")
    assert wrong.status == 2
    assert not Path("other.html").exists()


def test_an_archive_without_codes_is_told_in_words(demele: Program, folder: Path) -> None:
    np.savez("other.npz", z=np.zeros((10, 2)))
    found = demele("vae", "report", "other.npz", "--report", "page.html")
    assert found.status == 2
    assert "expected an array 'codes', found z" in found.err
    found = demele("vae", "report", "missing.npz", "--report", "page.html")
    assert found.status == 2
    assert "missing.npz" in found.err
    assert not (folder / "page.html").exists()


def test_missing_annotations_are_refused_in_the_options_of_the_command(demele: Program) -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 3, (60, 1)).astype(float)
    codes = factors + rng.normal(scale=0.1, size=(60, 1))
    factors[7] = np.nan
    np.savez("part.npz", codes=codes, factors=factors)
    found = demele("vae", "report", "part.npz", "--report", "page.html")
    assert found.status == 2
    assert "--missing omit" in found.err
    found = demele("vae", "report", "part.npz", "--missing", "omit", "--report", "page.html", "--explain")
    assert found.status == 0
    assert "nnotations are missing of 'v1' in 1" in found.out


def test_a_training_that_diverged_is_told_wherever_it_is_shown(demele: Program) -> None:
    call = ("vae", "train", "squares", "--size", 16, "--network", "mlp", "--latents", 3, "--output", "run")
    found = demele(*call, "--rate", 1000, "--steps", 200, "--format", "table")
    assert found.status == 0
    assert "lower --rate, or bound the log-variances with --logvar-bounds=LOW,HIGH" in found.err
    assert "its figures are those of the last finite" in found.out
    assert "yes" not in found.out.split()
    report = demele("vae", "report", "run", "--report", "page.html", "--quiet")
    assert report.status == 2
    assert "RUN: its training diverged: the loss or its gradient was not finite at step" in report.err


def test_log_variances_are_bounded_from_the_command_line(demele: Program) -> None:
    call = ("vae", "train", "squares", "--size", 16, "--network", "mlp", "--latents", 3, "--output", "run")
    found = demele(*call, "--steps", 3, "--logvar-bounds=-0.5,0.25")
    assert found.status == 0
    std = load("run").encode(load_squares()).codes_std
    assert std is not None
    assert np.exp(-0.25) - 1e-6 <= std.to_numpy().min() <= std.to_numpy().max() <= np.exp(0.125) + 1e-6
    assert "expected LOW,HIGH, such as -10,10, got '10'" in demele(*call, "--logvar-bounds", "10").err


def load_squares() -> Any:
    from demele.data import squares

    return squares(size=16)
