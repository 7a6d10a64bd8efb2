"""``demele audit``: rows for experts, drawn as the library draws them, that the other commands read back."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from demele import evaluation
from demele.labels import disagreement, draw_audit
from tests.cli.conftest import WORDS, Program
from tests.tolerances import assert_exact


def test_the_rows_of_the_library(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    run = demele("audit", "data.csv::label", "--rows", 30, "--seed", 4)
    assert (run.status, run.err) == (0, "")
    frame = pd.read_csv(io.StringIO(run.out))
    assert list(frame) == ["draw", "row", "given_label", "true_label", "design"]
    plan = draw_audit(600, 30, seed=4)
    assert_exact(frame["row"], plan.rows)
    assert_exact(frame["draw"], np.arange(1, 31))
    assert_exact(frame["given_label"], judged["label"][plan.rows])
    assert frame["true_label"].isna().all()
    assert set(frame["design"]) == {"uniform"}


def test_rows_in_doubt_are_drawn_more_often(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    run = demele("audit", "label.npy", "--rows", 30, "--disagreement", "data.csv::old,new,twin")
    frame = pd.read_csv(io.StringIO(run.out), converters={"probability": float})
    plan = draw_audit(600, 30, disagreement=disagreement(judged[["old", "new", "twin"]]))
    assert_exact(frame["row"], plan.rows)
    assert plan.probabilities is not None
    assert_exact(frame["probability"], plan.probabilities)
    assert set(frame["design"]) == {"weighted"}


@pytest.mark.parametrize("design", ["uniform", "weighted"])
@pytest.mark.parametrize("source", ["data.csv", "names.csv"])
def test_what_an_expert_fills_in_is_read_back(
    design: str, source: str, demele: Program, labels_folder: Path, judged: pd.DataFrame
) -> None:
    extra = ("--disagreement", f"{source}::old,new,twin") if design == "weighted" else ()
    run = demele("audit", f"{source}::label", "--rows", 200, *extra, "--output", "audit.csv")
    assert (run.status, run.out) == (0, "")
    assert run.err == "demele: 200 rows written to audit.csv; fill in its column true_label\n"
    frame = pd.read_csv("audit.csv", converters={"probability": float})
    true = judged["true"].to_numpy() if source == "data.csv" else WORDS[judged["true"]]
    frame["true_label"] = true[frame["row"]]
    frame.sort_values("row").to_csv("audit.csv", index=False)

    plan = draw_audit(600, 200, disagreement=disagreement(judged[["old", "new", "twin"]]) if extra else None)
    data = judged if source == "data.csv" else pd.DataFrame({name: WORDS[judged[name]] for name in judged})
    audit = plan.answered(true[plan.rows])
    found = json.loads(demele("assess", f"{source}::old", f"{source}::label", "--audit", "audit.csv").out)
    assert found == evaluation.assess(data["old"], data["label"], audit=audit).to_dict()
    found = json.loads(
        demele("compare", f"{source}::old", f"{source}::new", f"{source}::label", "--audit", "audit.csv").out
    )
    expected = evaluation.compare(data["old"], data["new"], data["label"], audit=audit, names=("old", "new"))
    assert found == expected.to_dict()
    assert found["method"] == "audit"


def test_a_larger_draw_begins_with_a_smaller_one(demele: Program, labels_folder: Path) -> None:
    small, large = (pd.read_csv(io.StringIO(demele("audit", "label.npy", "--rows", size).out)) for size in (20, 50))
    assert_exact(large["row"][:20], small["row"])


def test_nothing_is_replaced_by_accident(demele: Program, labels_folder: Path) -> None:
    Path("audit.csv").write_text("answers of a week", encoding="utf-8")
    run = demele("audit", "label.npy", "--rows", 5, "--output", "audit.csv")
    assert run.status == 2
    assert "audit.csv: exists already; --force replaces it" in run.err
    assert Path("audit.csv").read_text(encoding="utf-8") == "answers of a week"
    assert demele("audit", "label.npy", "--rows", 5, "--output", "audit.csv", "--force", "--quiet").err == ""
    assert len(pd.read_csv("audit.csv")) == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("label.npy",), "--rows: expected how many rows the expert should label"),
        (("label.npy", "--rows", "0"), "--rows: expected a whole number >= 1, got 0"),
        (("label.npy", "--rows", "601"), "--rows: expected at most 600 rows, as many as there are, got 601"),
        (("label.npy", "--rows", "x"), "argument --rows: invalid int value: 'x'"),
        (("label.npy", "--rows", "5", "--seed", "-1"), "--seed: expected a whole number from 0, got -1"),
        (
            ("label.npy", "--rows", "5", "--disagreement", "old.npy"),
            "--disagreement: expected the predictions of at least 2 models",
        ),
        (
            ("label.npy", "--rows", "5", "--disagreement", "short.csv"),
            "short.csv: expected 600 rows, as many as LABELS, got 10",
        ),
        (("data.csv", "--rows", "5"), "data.csv: holds 5 columns"),
        (("label.npy", "--rows", "5", "--output", "label.npy"), "label.npy: it is read by the same command"),
    ],
)
def test_a_mistake_is_one_clear_line(
    arguments: tuple[str, ...], message: str, demele: Program, labels_folder: Path, judged: pd.DataFrame
) -> None:
    judged[["old", "new"]].head(10).to_csv("short.csv", index=False)
    run = demele("audit", *arguments)
    assert (run.status, run.out) == (2, "")
    assert run.err.startswith("demele: error: ")
    assert run.err.count("\n") == 1
    assert message in run.err
