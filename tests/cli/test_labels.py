"""``demele labels corrupt`` and ``clean`` do as the library does, and what they write is read back."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele import classifiers, labels
from demele.files.named import read_table
from tests.cli.conftest import WORDS, Program
from tests.tolerances import ROUNDING, assert_close, assert_exact


def _made(demele: Program, *arguments: object) -> Any:
    return demele.json("labels", *arguments)


def _wrong(version: dict[str, Any]) -> int:
    counts = np.array(version["counts"]["counts"])
    return int(counts.sum() - np.trace(counts))


@pytest.fixture
def features_folder(labels_folder: Path, judged: pd.DataFrame) -> Path:
    """The columns of classes with two features beside them that tell the true classes apart."""
    rng = np.random.default_rng(5)
    true = judged["true"].to_numpy()
    table = judged.assign(x=true % 2 + rng.normal(0, 0.3, 600), y=true // 2 + rng.normal(0, 0.3, 600))
    table.to_csv(labels_folder / "described.csv", index=False)
    np.save(labels_folder / "features.npy", table[["x", "y"]].to_numpy())
    shares = np.full((600, 4), 0.02)
    shares[np.arange(600), true] = 0.94
    np.save(labels_folder / "probabilities.npy", shares)
    pd.DataFrame(shares, columns=["a", "b", "c", "d"]).to_csv(labels_folder / "probabilities.csv", index=False)
    return labels_folder


# Making ----------------------------------------------------------------------------------------------------------


def test_uniform_noise_is_that_of_the_library(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    run = demele("labels", "corrupt", "data.csv::true", "--noise", 0.05, "--seed", 4, "-o", "noisy.csv")
    assert (run.status, run.err) == (0, "demele: noisy.csv written\n")
    made = labels.add_noise(judged["true"], 0.05, seed=4)
    frame = pd.read_csv("noisy.csv")
    assert list(frame) == ["label", "true", "mislabelled"]
    assert_exact(frame, made.to_frame())
    content = json.loads(run.out)
    version = content
    assert (version["wanted"], version["rate"], _wrong(version)) == (0.05, 0.05, 30)
    assert_exact(version["counts"]["counts"], made.counts.counts)
    assert content["noise"] == "uniform"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "npz"])
def test_several_rates_are_nested_in_every_kind_of_file(suffix: str, demele: Program, labels_folder: Path) -> None:
    path = f"noisy.{suffix}"
    content = _made(demele, "corrupt", "names.csv::true", "--noise", "0.05,0.2", "-o", path, "--quiet")
    assert [_wrong(version) for version in [content, *content["others"]]] == [30, 120]
    few, many, true = (
        np.asarray(read_table(f"{path}::{name}", warn=print)).ravel() for name in ("label_0.05", "label_0.2", "true")
    )
    wrong = few != true
    assert (int(wrong.sum()), int((many != true).sum())) == (30, 120)
    assert_exact(few[wrong], many[wrong])
    assert set(few) == set(WORDS)
    flags = np.asarray(read_table(f"{path}::mislabelled_0.05", warn=print)).ravel()
    assert_exact(flags.astype(bool), wrong)


def test_noise_per_class(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    run = demele("labels", "corrupt", "data.csv::true", "--noise", 0.1, "--symmetric", "--seed", 2, "--format", "csv")
    matrix = labels.symmetric_transition(4, 0.1)
    expected = labels.add_noise(judged["true"], matrix, seed=2)
    assert_exact(pd.read_csv(io.StringIO(run.out)), expected.to_frame())
    # row true: 0 is taken for 1 in half of the cases, the others are always right
    table = np.eye(4)
    table[0] = [0.5, 0.5, 0, 0]
    pd.DataFrame(table).to_csv("mistaken.csv", index=False)
    version = _made(demele, "corrupt", "true.npy", "--noise", "mistaken.csv")
    size = int((judged["true"] == 0).sum())
    assert version["counts"]["counts"][0] == [size - size // 2, size // 2, 0, 0]
    assert _wrong(version) == size // 2


def test_annotators_are_trained_and_kept(demele: Program, features_folder: Path, judged: pd.DataFrame) -> None:
    asked = ("corrupt", "described.csv::true", "--noise", "0.05", "--seed", 1)
    run = demele.done(
        *("labels", *asked, "--features", "described.csv::x,y", "--annotators", 9, "--jobs", 1),
        *("-o", "x.annotations.csv", "--format", "json"),
    )
    assert run.err.splitlines()[-1] == "demele: x.annotations.csv written"
    content = json.loads(run.out)
    table = pd.read_csv("described.csv")[["x", "y"]]
    expected = labels.artificial_annotators(table, judged["true"], n_annotators=9, seed=1)
    assert content["annotators"]["errors"] == expected.errors.tolist()
    assert [note["code"] for note in content["annotators"]["notes"]] == [note.code for note in expected.notes]
    again = _made(demele, *asked, "--annotations", "x.annotations.csv")
    assert {**again, "annotators": None} == {**content, "annotators": None}


def test_the_predictions_of_a_model(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    content = _made(demele, "corrupt", "data.csv::true", "--noise", "0.1,0.3", "--predictions", "data.csv::old,new")
    assert [version["source"] for version in [content, *content["others"]]] == ["new", "old"]
    errors = [float((judged[name] != judged["true"]).mean()) for name in ("new", "old")]
    assert_close([version["rate"] for version in [content, *content["others"]]], errors, ROUNDING)
    alone = _made(demele, "corrupt", "data.csv::true", "--predictions", "new.npy")
    assert alone["rate"] == errors[0]


# Estimating ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (None, {}),
        ("knn", {"k": 7, "scaling": "none"}),
        ("voting", {"folds": 3, "rule": "consensus"}),
        ("entropy", {"folds": 3, "threshold": 0.2, "kind": "features"}),
        ("confident", {"folds": 3, "rule": "both", "kind": "features"}),
    ],
)
def test_suspects_of_the_library(
    method: Any, options: dict[str, Any], demele: Program, features_folder: Path, judged: pd.DataFrame
) -> None:
    if method == "confident":
        pytest.importorskip("cleanlab")
    asked = [part for name, value in options.items() if name != "kind" for part in (f"--{name}", value)]
    asked += [] if method is None else ["--method", method]
    content = _made(demele, "clean", "data.csv::label", "features.npy", *asked, "--seed", 2)
    given = {} if method is None else {"method": method}
    found = labels.clean(judged["label"], np.load("features.npy"), seed=2, **given, **options)
    rows = np.flatnonzero(found.suspect)
    assert sorted(row["row"] for row in content["suspects"]) == rows.tolist()
    assert {row["row"]: row["suggested"] for row in content["suspects"]} == dict(
        zip(rows.tolist(), found.suggested[rows].tolist(), strict=True)
    )
    scores = [row["score"] for row in content["suspects"]]
    if found.score is None:
        assert set(scores) == {None}
    else:
        assert scores == sorted(found.score[rows].tolist(), reverse=True)
    assert content["cleaning"]["signature"] == str(found.signature)
    assert content["harm"] == json.loads(json.dumps(labels.cleaning_harm(found, judged["label"]).to_dict()))
    assert "true" in content["harm"]


def test_labels_after_the_cleaning(demele: Program, features_folder: Path, judged: pd.DataFrame) -> None:
    found = labels.clean(WORDS[judged["label"]], np.load("features.npy"), method="knn")
    base = ("labels", "clean", "names.csv::label", "features.npy", "--method", "knn")
    run = demele(*base, "--relabel", "-o", "after.csv", "-o", "after.suspects.csv")
    assert run.err == "demele: after.csv written\ndemele: after.suspects.csv written\n"
    after = pd.read_csv("after.csv")
    assert_exact(after["row"], np.arange(600))
    assert_exact(after["label"], found.applied(WORDS[judged["label"]]).labels)
    # demele compare reads the suspects, and relabels as the library does
    compared = demele(
        *("compare", "names.csv::old", "names.csv::new", "names.csv::label"),
        *("--method", "cleaned", "--cleaning", "after.suspects.csv"),
    )
    assert compared.status == 0, compared.err
    columns = [pd.Series(WORDS[judged[name]], name=name) for name in ("old", "new", "label")]
    expected = classifiers.compare(*columns, method=classifiers.Cleaned(found))
    assert json.loads(compared.out) == expected.to_dict()
    demele(*base, "--drop", "-o", "kept.npz", "-o", "flags.suspects.csv", "--quiet")
    kept = np.load("kept.npz")
    assert_exact(kept["row"], np.flatnonzero(~found.suspect))
    assert_exact(kept["label"], WORDS[judged["label"]][~found.suspect].astype(str))
    assert list(pd.read_csv("flags.suspects.csv")) == ["suspect"]


def test_a_file_that_a_missing_package_writes_is_refused_before_the_computing(
    demele: Program, labels_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    demele.refused("--noise: expected a share", "labels", "corrupt", "true.npy", "--noise", "1.5")
    demele.refused("demele[parquet]", "labels", "corrupt", "true.npy", "--noise", "0.05", "-o", "noisy.parquet")
    assert not Path("noisy.parquet").exists()


def test_probabilities_and_their_classes(demele: Program, features_folder: Path, judged: pd.DataFrame) -> None:
    asked = ("clean", "data.csv::label", "--method", "entropy")
    found = labels.clean(judged["label"], np.load("probabilities.npy"), method="entropy", kind="probabilities")
    content = _made(demele, *asked, "--probabilities", "probabilities.npy", "--threshold", 0.3)
    assert sorted(row["row"] for row in content["suspects"]) == np.flatnonzero(found.suspect).tolist()
    named = _made(demele, *asked, "--probabilities", "probabilities.csv")
    assert named["suspects"] == content["suspects"]
    # columns are the classes in their order: in another order, most labels are taken for wrong
    turned = _made(demele, *asked, "--probabilities", "probabilities.csv", "--classes", "3,2,1,0")
    assert len(turned["suspects"]) > 500 > len(content["suspects"])
