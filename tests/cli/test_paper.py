"""Tables and paragraphs for papers."""

from pathlib import Path

import pytest

from tests.cli.conftest import Program

SCORE = ("score", "codes.npy", "factors.csv", "--metrics", "mig,modularity", "--quiet")
COMPARE = ("compare", "data.csv::old", "data.csv::new", "data.csv::label", "--noise", "0.05", "--quiet")
RANK = ("compare", "data.csv::old,new,twin", "data.csv::label", "--quiet")
ASSESS = ("assess", "data.csv::old", "data.csv::label", "--quiet")


def test_scores(demele: Program, folder: Path) -> None:
    run = demele(*SCORE, "-o", "table.tex", "-o", "table.md", "-o", "table.methods.md", "-o", "table.methods.tex")
    assert run.status == 0, run.err
    text = Path("table.tex").read_text(encoding="utf-8")
    assert (text.startswith("% MIG: mig("), text.endswith("\\end{table}\n")) == (True, True)
    assert Path("table.md").read_text(encoding="utf-8").startswith("<!--")
    assert "[@chen2018isolating]" in Path("table.methods.md").read_text(encoding="utf-8")
    assert "\\cite{chen2018isolating}" in Path("table.methods.tex").read_text(encoding="utf-8")
    replayed = ("score", "--replay", "mig(bins=EqualWidth(bins=5))", "codes.npy", "factors.csv", "--quiet")
    assert demele(*replayed, "-o", "one.md").status == 0
    assert "| MIG " in Path("one.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("command", "head"), [(COMPARE, "Accuracy"), (RANK, "Rank"), (ASSESS, "Measure")])
def test_verdicts(command: tuple[str, ...], head: str, demele: Program, labels_folder: Path) -> None:
    run = demele(*command, "-o", "table.md", "-o", "table.tex", "-o", "table.methods.txt")
    assert run.status == 0, run.err
    assert f"| {head}" in Path("table.md").read_text(encoding="utf-8")
    assert f"    {head} & " in Path("table.tex").read_text(encoding="utf-8")
    assert "600 rows" in Path("table.methods.txt").read_text(encoding="utf-8")
