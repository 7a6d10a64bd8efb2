"""Two files of --audit, and options that are given twice."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from demele import classifiers
from demele.labels import Audit, join_audits
from tests.cli.conftest import Program

COLUMNS = {
    "assess": ("data.csv::new", "data.csv::label"),
    "compare": ("data.csv::old", "data.csv::new", "data.csv::label"),
}


def _written(name: str, rows: np.ndarray, judged: pd.DataFrame, design: str = "uniform") -> Audit:
    said = judged["true"].to_numpy()[rows]
    pd.DataFrame({"row": rows, "true_label": said, "design": design}).to_csv(name, index=False)
    return Audit(rows, said, design="uniform")


@pytest.mark.parametrize("command", ["assess", "compare"])
def test_two_audits_are_joined(command: str, demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    old, new, label = (judged[name].to_numpy() for name in ("old", "new", "label"))
    apart = np.flatnonzero(new != (label if command == "assess" else old))
    first = _written("first.csv", rng.permutation(600)[:100], judged)
    second = _written("second.csv", rng.permutation(np.setdiff1d(apart, first.rows))[:10], judged)
    run = demele(command, *COLUMNS[command], "--audit", "first.csv", "--audit", "second.csv")
    assert run.status == 0, run.err
    audit = join_audits(first, second, within=apart)
    names = ("new", "label") if command == "assess" else ("old", "new", "label")
    expected = getattr(classifiers, command)(*(judged[name] for name in names), audit=audit)
    assert json.loads(run.out) == json.loads(json.dumps(expected.to_dict()))


def test_a_plan_goes_on_from_one_audit(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    _written("first.csv", np.arange(60, 120), judged)
    _written("second.csv", np.flatnonzero(judged["old"] != judged["new"])[:3], judged)
    audits = ("--audit", "first.csv", "--audit", "second.csv")
    run = demele("audit", "plan", "data.csv::old,new", "data.csv::label", *audits)
    assert (run.status, "give the first of the two" in run.err) == (2, True), run.err
