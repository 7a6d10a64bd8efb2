"""``demele lab study`` and ``demele lab study pruning`` from their arguments to what they leave behind."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest

from demele import lab
from tests.cli.conftest import Program, mistakes
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
    content = demele.json("lab", "study", "run", *TINY, "--store", folder, "--quiet")
    assert [model["status"] for model in content["models"]] == ["done", "done"]
    assert content == lab.load_study(folder).to_dict()
    again = demele("lab", "study", "run", *TINY, "--store", folder, "--format", "csv", "-o", tmp_path / "page.html")
    assert list(pd.read_csv(io.StringIO(again.out))["beta"]) == [0.1, 100]
    assert f"kept in {folder}" in again.err
    assert "Agreement of metrics about models of" in (tmp_path / "page.html").read_text(encoding="utf-8")
    demele.refused("was made with --seed = 0", "lab", "study", "run", *TINY, "--seed", 1, "--store", folder)


def test_a_plan_says_what_it_would_take(demele: Program) -> None:
    pytest.importorskip("torch")
    found = demele.json("lab", "study", "plan", *TINY, "--seeds", 2)
    assert (found["models"], found["scores"]) == (4, 4 * 6 * 3)
    assert found["training_seconds"] > 0
    text = demele("lab", "study", "plan", *TINY, "--format", "table").out
    assert text.startswith("2 models to train and 36 scores to compute: ")


@mistakes("""
run | --store
plan --metrics mig,sop | --metrics: unknown metric 'sop'
""")
def test_mistakes_are_told_in_one_line(demele: Program, stored: Path, words: list[str], message: str) -> None:
    demele.refused(message, "lab", "study", *words)


# ``demele lab study pruning`` ----------------------------------------------------------------------------------------


def test_stored_studies_are_shown(demele: Program, stored: Path) -> None:
    run = demele("lab", "study", "show", stored, "--format", "table")
    assert "9 models, 3 collapsed" in run.out
    models = pd.read_csv(io.StringIO(demele("lab", "study", "show", stored, "--format", "csv").out))
    assert len(models) == 9
    demele("lab", "study", "show", stored, "-o", "study.pairs.csv")
    pairs = pd.read_csv("study.pairs.csv")
    assert len(pairs) == 4 * 6
