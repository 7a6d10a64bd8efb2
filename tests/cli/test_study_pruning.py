"""``demele lab study pruning``: the stored study in every format, a run from nothing, and what is refused."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from demele import lab
from demele.studies.pruning import planning
from demele.studies.pruning.configurations import Times
from demele.studies.pruning.pictures import ClutterSource
from tests.cli.conftest import Program
from tests.studies.pruned import WAYS


def test_the_stored_study_is_shown_in_every_format(demele: Program, tmp_path: Path) -> None:
    text = demele("demo", "pruning", "--format", "table")
    assert (text.status, text.err) == (0, "")
    assert text.out.startswith("Of 11 published claims")
    assert len(text.out.splitlines()) <= 22
    explained = demele("demo", "pruning", "--format", "table", "--explain").out
    assert "half of the links" in explained
    assert json.loads(demele("demo", "pruning").out)["kind"] == "pruning study"
    rows = {
        "differences": len(lab.pruning_demo().differences()),
        "decisions": len(lab.pruning_demo().decisions_frame()),
        "ranks": 15 * 3 * 23,
    }
    files = {name: tmp_path / f"pruning.{name}.csv" for name in rows}
    table = demele("demo", "pruning", "--format", "csv", *(word for file in files.values() for word in ("-o", file)))
    assert len(pd.read_csv(io.StringIO(table.out))) == 345
    assert {name: len(pd.read_csv(file)) for name, file in files.items()} == rows
    page = demele("demo", "pruning", "-o", tmp_path / "page.html", "--format", "table")
    assert page.out.startswith("Of ")
    assert "Pruning under label noise" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_study_is_run_kept_and_gone_on_with(demele: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="fabrics need PyTorch: pip install 'demele[torch]'")
    source = ClutterSource(level=0, size=16, n=100, held=20, test=40)
    small = replace(
        planning._USUAL["ci"], source=source, configurations=WAYS[:1], times=Times(early=1, every=1, late=4)
    )
    monkeypatch.setattr(planning, "_USUAL", {**planning._USUAL, "ci": small})
    folder = tmp_path / "study"
    command = ("lab", "study", "pruning", "run", "--preset", "ci", "--store", folder)
    run = demele(*command, "--quiet")
    assert (run.status, run.err) == (0, "")
    assert [one["status"] for key, one in json.loads(run.out)["records"] if key[0] == "fabric"] == ["done", "done"]
    more = demele(*command, "--noises", "uniform:0.2", "--format", "csv")
    assert f"kept in {folder}" in more.err
    assert (
        list(pd.read_csv(io.StringIO(more.out), keep_default_na=False)["noise"]) == ["none"] * 2 + ["uniform 20%"] * 2
    )
    shown = demele("lab", "study", "pruning", "show", folder, "--format", "table").out
    assert shown.startswith("No published claim can be tested yet.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("show",), "expected STUDY, got 0 files"),
        (("show", "nothing-here"), "nothing-here"),
        (("show", "--demo", "x"), "write demele demo"),
        (("show", "x", "--list", "ranks"), "--list has a new name; write -o NAME.differences.csv"),
        (("run", "--store", "none/there"), "--store: cannot make none/there"),
        (("run", "--preset", "cii", "--store", "x"), "did you mean"),
        (("run", "--preset", "print", "--store", "x"), "needs images"),
        (("run", "--noises", "uniform", "--store", "x"), "uniform:RATE"),
        (("run", "--noises", "uniform:0.9", "--store", "x"), "--noises: expected a number in (0, 0.5]"),
        (("run", "--seeds", "0", "--store", "x"), "seeds"),
    ],
)
def test_what_is_refused_leaves_nothing(
    demele: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run = demele("lab", "study", "pruning", *arguments)
    assert run.status == 2
    assert words in run.err
    assert len(run.err.strip().splitlines()) <= 2
    assert list(tmp_path.iterdir()) == []
