"""``demele assess`` from its arguments to what it leaves behind."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele import classifiers
from demele.labels import Audit, estimate_transition
from tests.cli.conftest import Program, mistakes
from tests.tolerances import ROUNDING, assert_close

PLAIN = ("data.csv::old", "data.csv::label")


def _assess(judged: pd.DataFrame, **known: Any) -> Any:
    return classifiers.assess(judged["old"], judged["label"], **known)


@pytest.mark.parametrize("kind", ["data.tsv::{}", "data.parquet::{}", "data.json::{}", "data.npz::{}", "{}.npy"])
def test_every_kind_of_file_says_the_same(kind: str, demele: Program, labels_folder: Path) -> None:
    run = demele("assess", kind.format("old"), kind.format("label"), "--noise", 0.05)
    assert run.out == demele("assess", *PLAIN, "--noise", 0.05).out


def test_knowledge_of_the_noise_reaches_the_library(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    rows = np.random.default_rng(1).permutation(600)[:80]
    counts = estimate_transition(judged["true"][rows], judged["label"][rows], classes=[0, 1, 2, 3])
    counts.to_frame().to_csv("counts.csv")
    counts.to_matrix().to_frame().to_csv("matrix.csv")
    answers = judged["true"].to_numpy()[rows]
    pd.DataFrame({"row": rows, "true_label": answers}).to_csv("audit.csv", index=False)
    chosen = Audit(rows, answers, design="selective")
    for words, known in (
        ("--noise 0.07 --level 0.9", {"noise": 0.07, "level": 0.9}),
        ("--noise counts.csv", {"noise": counts}),
        ("--noise matrix.csv", {"noise": counts.to_matrix()}),
        ("--audit audit.csv --audit-design uniform", {"audit": Audit(rows, answers, design="uniform")}),
        ("--audit audit.csv --audit-design selective --noise 0.2", {"audit": chosen, "noise": 0.2}),
        ("--true-labels data.csv::true", {"true_labels": judged["true"]}),
    ):
        found = demele.json("assess", *PLAIN, *words.split())
        expected = _assess(judged, **known).to_dict()
        ends = [
            [(item["corrected"] or {}).get(end) for item in content["estimates"] for end in ("low", "high")]
            for content in (found, expected)
        ]
        assert_close(np.array(ends[0], float), np.array(ends[1], float), ROUNDING)  # probabilities went through text
        assert np.isfinite(np.array(ends[0], float)).sum() > 20, words
        assert found["assumptions"] == expected["assumptions"]


@pytest.fixture
def wrong_files(labels_folder: Path, judged: pd.DataFrame) -> Path:
    """Files with something wrong in each."""
    np.save("empty.npy", np.array([], dtype=np.int64))
    pd.DataFrame({"row": [1], "true_label": [1], "design": "selective"}).to_csv("chosen.csv", index=False)
    return labels_folder


@mistakes("""
old.npy empty.npy | empty.npy: has no rows
data.csv::old data.csv::label --audit chosen.csv | give --noise RATE|FILE as well, or an audit of rows
data.csv::old data.csv::label --audit-design uniform | --audit-design and --audit-key: are for --audit
""")
def test_a_mistake_is_one_clear_line(words: list[str], message: str, demele: Program, wrong_files: Path) -> None:
    demele.refused(message, "assess", *words)
    run = demele("assess", *words)
    for word in ("noise=", "audit=", "classes=[", "true_labels", "argmax(axis=1)" * (".npy" not in run.err), "Audit("):
        assert not word or word not in run.err
