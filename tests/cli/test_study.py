"""``demele study`` from its arguments to what it leaves behind."""

import io
import json
from pathlib import Path

import pandas as pd
import pytest

from demele import studies
from tests.cli.conftest import Program
from tests.report.sample_agreement import sample_study

TINY = (
    *("--preset", "ci", "--betas", "0.1,100", "--latents", "2", "--steps", 10, "--rows", 100),
    *("--metrics", "mig,sap,irs"),
)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a packed study in it."""
    monkeypatch.chdir(tmp_path)
    return sample_study().save(tmp_path / "study.jsonl")


def test_a_study_is_run_kept_and_shown(demele: Program, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    folder = tmp_path / "study"
    run = demele("study", "run", *TINY, "--store", folder, "--quiet")
    assert (run.status, run.err) == (0, "")
    content = json.loads(run.out)
    assert [model["status"] for model in content["models"]] == ["done", "done"]
    assert content == studies.load(folder).to_dict()
    again = demele("study", "run", *TINY, "--store", folder, "--format", "csv", "--report", tmp_path / "page.html")
    assert list(pd.read_csv(io.StringIO(again.out))["beta"]) == [0.1, 100]
    assert f"kept in {folder}" in again.err
    assert "Agreement of metrics about models of" in (tmp_path / "page.html").read_text(encoding="utf-8")
    refused = demele("study", "run", *TINY, "--seed", 1, "--store", folder)
    assert refused.status == 2
    assert "was made with --seed = 0" in refused.err


def test_a_plan_says_what_it_would_take(demele: Program) -> None:
    pytest.importorskip("torch")
    found = json.loads(demele("study", "plan", *TINY, "--seeds", 2).out)
    assert (found["models"], found["scores"]) == (4, 4 * 6 * 3)
    assert found["training_seconds"] > 0
    text = demele("study", "plan", *TINY, "--format", "table").out
    assert text.startswith("2 models to train and 36 scores to compute: ")


def test_stored_studies_are_shown(demele: Program, stored: Path) -> None:
    run = demele("study", "show", stored, "--format", "table")
    assert "9 models, 3 collapsed" in run.out
    models = pd.read_csv(io.StringIO(demele("study", "show", stored, "--format", "csv").out))
    assert len(models) == 9
    pairs = pd.read_csv(io.StringIO(demele("study", "show", stored, "--format", "csv", "--pairs").out))
    assert len(pairs) == 4 * 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("show",), "--demo shows the one"),
        (("show", "nothing"), "cannot read nothing"),
        (("show", "study.jsonl", "--demo"), "STUDY: study.jsonl and --demo exclude each other"),
        (("run", "--store", "x", "--preset", "embeded"), ", got 'embeded'; did you mean 'embedded'"),
        (("run", "--store", "x", "--betas", "a"), "expected numbers, separated by commas"),
        (("run", "--store", "x", "--size", 16), "--size: is of --data"),
        (("run", "--store", "no/such/folder"), "cannot make a folder"),
        (("run",), "--store"),
        (("plan", "--metrics", "mig,sop"), "--metrics: unknown metric 'sop'"),
    ],
)
def test_mistakes_are_told_in_one_line(
    demele: Program, stored: Path, arguments: tuple[object, ...], words: str
) -> None:
    run = demele("study", *arguments)
    assert (run.status, run.out, run.err.count("\n")) == (2, "", 1)
    assert words in run.err
    assert not Path("x").exists()


def test_who_asks_for_the_page_gets_a_summary_beside_it(demele: Program, stored: Path, tmp_path: Path) -> None:
    run = demele("study", "show", stored, "--report", tmp_path / "page.html")
    assert "9 models, 3 collapsed" in run.out
    assert run.out == demele("study", "show", stored, "--format", "table").out
    json.loads(demele("study", "show", stored, "--report", tmp_path / "page.html", "--force", "--format", "json").out)
    output = tmp_path / "study.json"
    assert demele("study", "show", stored, "--report", tmp_path / "other.html", "--output", output).out == ""
    json.loads(output.read_text(encoding="utf-8"))


def test_a_study_beside_the_demonstration_is_refused_by_its_own_name(demele: Program, stored: Path) -> None:
    run = demele("study", "show", stored, "--demo")
    assert run.status == 2
    assert f"STUDY: {stored} and --demo exclude each other" in run.err
