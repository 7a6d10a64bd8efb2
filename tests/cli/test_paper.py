"""``--format latex | markdown`` and ``--methods``."""

from pathlib import Path

import pytest

from tests.cli.conftest import Program

SCORE = ("score", "codes.npy", "factors.csv", "--metrics", "mig,modularity", "--quiet")
COMPARE = ("compare", "data.csv::old", "data.csv::new", "data.csv::label", "--noise", "0.05", "--quiet")
RANK = ("compare", "data.csv::old,new,twin", "data.csv::label", "--quiet")
ASSESS = ("assess", "data.csv::old", "data.csv::label", "--quiet")


def test_scores(demele: Program, folder: Path) -> None:
    run = demele(*SCORE, "--format", "latex", "--methods", "methods.md")
    assert run.status == 0, run.err
    assert run.out.startswith("% MIG: mig(")
    assert run.out.endswith("\\end{table}\n")
    assert "[@chen2018isolating]" in Path("methods.md").read_text(encoding="utf-8")
    assert demele(*SCORE, "--output", "table.tex").status == 0
    assert Path("table.tex").read_text(encoding="utf-8") == run.out
    assert demele(*SCORE, "--output", "table.md", "--methods", "methods.tex").status == 0
    assert Path("table.md").read_text(encoding="utf-8").startswith("<!--")
    assert "\\cite{chen2018isolating}" in Path("methods.tex").read_text(encoding="utf-8")


def test_a_replayed_score_and_the_same_file_twice(demele: Program, folder: Path) -> None:
    replayed = ("score", "--replay", "mig(bins=EqualWidth(bins=5))", "codes.npy", "factors.csv", "--quiet")
    run = demele(*replayed, "--format", "markdown")
    assert "| MIG " in run.out
    assert demele(*SCORE, "--output", "same.tex", "--methods", "same.tex").status == 2


@pytest.mark.parametrize(("command", "head"), [(COMPARE, "Accuracy"), (RANK, "Rank"), (ASSESS, "Measure")])
def test_verdicts(command: tuple[str, ...], head: str, demele: Program, labels_folder: Path) -> None:
    run = demele(*command, "-o", "table.md", "-o", "table.tex", "-o", "table.methods.txt")
    assert run.status == 0, run.err
    assert f"| {head}" in Path("table.md").read_text(encoding="utf-8")
    assert f"    {head} & " in Path("table.tex").read_text(encoding="utf-8")
    assert "600 rows" in Path("table.methods.txt").read_text(encoding="utf-8")


def test_other_commands_have_no_tables_for_papers(demele: Program) -> None:
    run = demele("metrics", "--format", "latex")
    assert run.status == 2
    assert "invalid choice: 'latex'" in run.err
