"""``demele audit``: rows for experts, drawn as the library draws them, that the other commands read back."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from demele import classifiers
from demele.labels import disagreement, draw_audit
from tests.cli.conftest import WORDS, Program
from tests.tolerances import assert_exact


def test_the_rows_of_the_library(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    run = demele("audit", "draw", "data.csv::label", "--size", 30, "--seed", 4, "--format", "csv")
    assert (run.status, run.err) == (0, "")
    frame = pd.read_csv(io.StringIO(run.out))
    assert list(frame) == ["draw", "row", "given_label", "true_label", "design"]
    plan = draw_audit(600, 30, seed=4)
    assert_exact(frame["row"], plan.rows)
    assert_exact(frame["draw"], np.arange(1, 31))
    assert_exact(frame["given_label"], judged["label"][plan.rows])
    assert frame["true_label"].isna().all()
    assert set(frame["design"]) == {"uniform"}


@pytest.mark.parametrize("design", ["uniform", "weighted"])
@pytest.mark.parametrize("source", ["data.csv", "names.csv"])
def test_what_an_expert_fills_in_is_read_back(
    design: str, source: str, demele: Program, labels_folder: Path, judged: pd.DataFrame
) -> None:
    extra = ("--disagreement", f"{source}::old,new,twin") if design == "weighted" else ()
    run = demele("audit", "draw", f"{source}::label", "--size", 200, *extra, "-o", "audit.csv")
    assert (run.status, run.err) == (0, "demele: audit.csv written\n")
    frame = pd.read_csv("audit.csv", converters={"probability": float})
    true = judged["true"].to_numpy() if source == "data.csv" else WORDS[judged["true"]]
    frame["true_label"] = true[frame["row"]]
    frame.sort_values("row").to_csv("audit.csv", index=False)

    plan = draw_audit(600, 200, disagreement=disagreement(judged[["old", "new", "twin"]]) if extra else None)
    data = judged if source == "data.csv" else pd.DataFrame({name: WORDS[judged[name]] for name in judged})
    audit = plan.answered(true[plan.rows])
    found = json.loads(demele("assess", f"{source}::old", f"{source}::label", "--audit", "audit.csv").out)
    assert found == classifiers.assess(data["old"], data["label"], audit=audit).to_dict()
    found = json.loads(
        demele("compare", f"{source}::old", f"{source}::new", f"{source}::label", "--audit", "audit.csv").out
    )
    expected = classifiers.compare(data["old"], data["new"], data["label"], audit=audit)
    assert found == expected.to_dict()
    assert found["method"] == "audit"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("label.npy",), "expected LABELS --size N or LOG... --size N, got no --size (see demele audit draw -h)"),
        (("label.npy", "--size", "601"), "--size: expected at most 600 rows, as many as there are, got 601"),
        (
            ("label.npy", "--size", "5", "--disagreement", "old.npy"),
            "--disagreement: expected the predictions of at least",
        ),
        (("label.npy", "--size", "5", "--disagreement", "short.csv"), "--disagreement: expected 600 rows, as many as"),
        (("data.csv", "--size", "5"), "data.csv: holds 5 columns"),
        (("label.npy", "--size", "5", "-o", "rows.xlsx"), "rows.xlsx: expected a file called .csv, .tsv or .json"),
    ],
)
def test_a_mistake_is_one_clear_line(
    arguments: tuple[str, ...], message: str, demele: Program, labels_folder: Path, judged: pd.DataFrame
) -> None:
    judged[["old", "new"]].head(10).to_csv("short.csv", index=False)
    run = demele("audit", "draw", *arguments)
    assert (run.status, run.out) == (2, "")
    assert message in run.err
