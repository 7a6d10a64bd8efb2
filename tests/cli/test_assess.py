"""``demele assess`` from its arguments to what it leaves behind."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele import classifiers
from demele.labels import Audit, estimate_transition
from tests.cli.conftest import WORDS, Program
from tests.tolerances import ROUNDING, assert_close

PLAIN = ("data.csv::old", "data.csv::label")


def _assess(judged: pd.DataFrame, **known: Any) -> Any:
    return classifiers.assess(judged["old"], judged["label"], **known)


def test_the_numbers_of_the_library(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    run = demele("assess", *PLAIN)
    assert (run.status, run.err) == (0, "")
    assert json.loads(run.out) == _assess(judged).to_dict()
    hits = int((judged["old"] == judged["label"]).sum())
    accuracy = json.loads(run.out)["estimates"][0]
    assert (accuracy["measure"], accuracy["successes"], accuracy["trials"]) == ("accuracy", hits, 600)


@pytest.mark.parametrize("kind", ["data.tsv::{}", "data.parquet::{}", "data.json::{}", "data.npz::{}", "{}.npy"])
def test_every_kind_of_file_says_the_same(kind: str, demele: Program, labels_folder: Path) -> None:
    run = demele("assess", kind.format("old"), kind.format("label"), "--noise", 0.05)
    assert run.out == demele("assess", *PLAIN, "--noise", 0.05).out


def test_classes_that_labels_do_not_have(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    judged["old"] = judged["old"].where(judged.index % 10 != 0, -1)
    judged.to_csv("silent.csv", index=False)
    refused = demele("assess", "silent.csv::old", "silent.csv::label", "--classes", "0,1,2,3")
    assert (refused.status, refused.err.startswith("demele: error: PREDICTIONS: 60 of 600 values")) == (2, True)
    assert "--classes=-1,0,1,2,3" in refused.err
    found = json.loads(demele("assess", "silent.csv::old", "silent.csv::label").out)
    assert found["classes"] == [-1, 0, 1, 2, 3]
    assert "class-not-labelled" in [note["code"] for note in found["notes"]]
    run = demele("assess", "silent.csv::old", "silent.csv::label", "--classes", "-1,0,1,2,3")
    assert json.loads(run.out) == _assess(judged, classes=[-1, 0, 1, 2, 3]).to_dict()


def test_knowledge_of_the_noise_reaches_the_library(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    rows = np.random.default_rng(1).permutation(600)[:80]
    counts = estimate_transition(judged["true"][rows], judged["label"][rows], classes=[0, 1, 2, 3])
    counts.to_frame().to_csv("counts.csv")
    counts.to_matrix().to_frame().to_csv("matrix.csv")
    answers = judged["true"].to_numpy()[rows]
    pd.DataFrame({"row": rows, "true_label": answers}).to_csv("audit.csv", index=False)
    for options, known in (
        (("--noise", 0.07, "--level", 0.9), {"noise": 0.07, "level": 0.9}),
        (("--noise", "counts.csv"), {"noise": counts}),
        (("--noise", "matrix.csv"), {"noise": counts.to_matrix()}),
        (("--audit", "audit.csv", "--audit-design", "uniform"), {"audit": Audit(rows, answers, design="uniform")}),
        (
            ("--audit", "audit.csv", "--audit-design", "selective", "--noise", 0.2),
            {"audit": Audit(rows, answers, design="selective"), "noise": 0.2},
        ),
        (("--true-labels", "data.csv::true"), {"true_labels": judged["true"]}),
    ):
        found = json.loads(demele("assess", *PLAIN, *options).out)
        expected = _assess(judged, **known).to_dict()
        ends = [
            [(item["corrected"] or {}).get(end) for item in content["estimates"] for end in ("low", "high")]
            for content in (found, expected)
        ]
        assert_close(np.array(ends[0], float), np.array(ends[1], float), ROUNDING)  # probabilities went through text
        assert np.isfinite(np.array(ends[0], float)).sum() > 20, options
        assert found["assumptions"] == expected["assumptions"]


@pytest.fixture
def mistakes(labels_folder: Path, judged: pd.DataFrame) -> Path:
    """Files with something wrong in each."""

    np.save("probabilities.npy", np.full((600, 4), 0.25))
    np.save("empty.npy", np.array([], dtype=np.int64))
    pd.DataFrame(np.eye(4)).to_csv("matrix.csv", index_label="true")
    pd.DataFrame(np.eye(4), index=WORDS, columns=WORDS).to_csv("words.csv", index_label="true")
    pd.DataFrame({"row": [1], "true_label": [1]}).to_csv("how.csv", index=False)
    pd.DataFrame({"row": [1], "true_label": [1], "design": "selective"}).to_csv("chosen.csv", index=False)
    return labels_folder


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("data.csv::old",), "expected PREDICTIONS LABELS, got data.csv::old alone"),
        (("none.npy", "label.npy"), "none.npy: No such file"),
        (("probabilities.npy", "label.npy"), "probabilities.npy: expected one column of classes, got 4 columns"),
        (("old.npy", "empty.npy"), "empty.npy: has no rows"),
        ((*PLAIN, "--noise", "5"), "got 5.0; for 5% write 0.05"),
        ((*PLAIN, "--noise", "words.csv"), "words.csv: its classes cat, dog, owl, yak lack 4 that LABELS has"),
        ((*PLAIN, "--noise", "words.csv", "--noise", "0"), "--noise: is given twice"),
        ((*PLAIN, "--audit", "chosen.csv"), "give --noise RATE|FILE as well, to bound these, or an audit of rows"),
        (
            (*PLAIN, "--audit", "how.csv", "--audit-design", "uniform", "--noise", "matrix.csv"),
            "--noise and --audit: with a random audit, only a limit of the noise rate can be used",
        ),
        ((*PLAIN, "--audit-design", "uniform"), "--audit-design and --audit-key: are for --audit"),
        ((*PLAIN, "--true-labels", "true.npy", "--noise", "0.1"), "--true-labels and --noise: true labels of"),
    ],
)
def test_a_mistake_is_one_clear_line(arguments: tuple[str, ...], message: str, demele: Program, mistakes: Path) -> None:
    run = demele("assess", *arguments)
    assert run.status == 2
    assert run.out == ""
    assert run.err.startswith("demele: error: ")
    assert run.err.count("\n") == 1
    assert message in run.err
    for word in ("noise=", "audit=", "classes=[", "true_labels", "argmax(axis=1)" * (".npy" not in run.err), "Audit("):
        assert not word or word not in run.err
