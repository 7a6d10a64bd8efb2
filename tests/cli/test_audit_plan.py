"""``demele audit plan``, and the formats of ``demele audit``."""

import io
import json
from pathlib import Path

import pandas as pd

from demele import classifiers
from demele.labels import draw_audit
from tests.cli.conftest import Program

FILES = ("data.csv::old,new", "data.csv::label")
QUICK = ("--sizes", "50,200", "--wrong", "0.05", "--draws", 3)


def test_the_forecast_of_the_library(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    run = demele("audit", "plan", *FILES, *QUICK, "--quiet")
    assert (run.status, run.err) == (0, "")
    expected = classifiers.plan_audit(judged[["old", "new"]], judged["label"], sizes=(50, 200), wrong=0.05, draws=3)
    assert json.loads(run.out) == expected.to_dict()
    run = demele("audit", "plan", *FILES, *QUICK, "--quiet", "--format", "csv")
    assert list(pd.read_csv(io.StringIO(run.out))) == list(expected.to_frame())


def test_a_measure_of_one_class_and_groups(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    pd.DataFrame({"site": [row // 6 for row in range(600)]}).to_csv("sites.csv", index=False)
    run = demele("audit", "plan", *FILES, *QUICK, "--measure", "f1", "--of", "1", "--groups", "sites.csv", "--quiet")
    assert (run.status, run.err) == (0, "")
    expected = classifiers.plan_audit(
        judged[["old", "new"]],
        judged["label"],
        sizes=(50, 200),
        wrong=0.05,
        measure="f1",
        of=1,
        groups=[row // 6 for row in range(600)],
        draws=3,
    )
    assert json.loads(run.out) == expected.to_dict()


def test_the_table_and_the_page_say_the_same_sentence(demele: Program, labels_folder: Path) -> None:
    run = demele("audit", "plan", *FILES, *QUICK, "--format", "table", "-o", "plan.html")
    assert run.status == 0, run.err
    assert "plan.html written" in run.err
    page = Path("plan.html").read_text()
    first = " ".join(run.out.split("\nold and new")[0].split())
    assert first.startswith("A weighted audit ")
    assert first in page
    for design in ("weighted audit", "uniform audit", "one label at a time"):
        assert design in page
    assert page.count("<svg") == 2  # an assumption each


def test_how_many_more_rows(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    plan = draw_audit(600, 20, seed=1)
    rows = pd.DataFrame({"row": plan.rows, "true_label": judged["true"][plan.rows], "design": "uniform"})
    rows.to_csv("audit.csv", index=False)
    run = demele("audit", "plan", *FILES, "--audit", "audit.csv", "--draws", 3, "--format", "table")
    assert run.status == 0, run.err
    assert "more rows settle it" in " ".join(run.out.split())
    run = demele("audit", "plan", *FILES, "--audit", "audit.csv", "--wrong", "0.1")
    assert (run.status, "--wrong" in run.err) == (2, True)


def test_rows_for_experts_in_other_formats_are_read_back(
    demele: Program, labels_folder: Path, judged: pd.DataFrame
) -> None:
    run = demele("audit", "draw", "data.csv::label", "--size", 30, "-o", "audit.json")
    plan = draw_audit(600, 30)
    rows = json.loads(Path("audit.json").read_text())
    assert [row["row"] for row in rows] == plan.rows.tolist()
    assert {row["true_label"] for row in rows} == {None}
    for row in rows:
        row["true_label"] = int(judged["true"][row["row"]])
    Path("audit.json").write_text(json.dumps(rows))
    run = demele("assess", "data.csv::old", "data.csv::label", "--audit", "audit.json")
    assert run.status == 0, run.err
    expected = classifiers.assess(judged["old"], judged["label"], audit=plan.answered(judged["true"][plan.rows]))
    assert json.loads(run.out) == expected.to_dict()
