"""``demele noise`` makes, estimates and cleans as the library does, and reads back what it writes."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele import evaluation, labels
from demele.core.proportions import exact_interval, score_interval
from demele.data import crowd_set
from demele.files.named import read_table
from tests.cli.conftest import WORDS, Program
from tests.tolerances import ROUNDING, assert_close, assert_exact


def _json(demele: Program, *arguments: object) -> dict[str, Any]:
    run = demele("noise", *arguments, "--format", "json")
    assert run.status == 0, run.err
    content: dict[str, Any] = json.loads(run.out)
    return content


def _wrong(version: dict[str, Any]) -> int:
    counts = np.array(version["counts"]["counts"])
    return int(counts.sum() - np.trace(counts))


@pytest.fixture
def crowd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Nine annotators about 120 items of two classes, each answering most of them; files of every kind."""
    rng = np.random.default_rng(3)
    true = rng.integers(0, 2, 120)
    rows = []
    for annotator in range(9):
        right = rng.random(120) < (0.95 if annotator < 4 else 0.6)
        answered = rng.random(120) < 0.8
        for item in np.flatnonzero(answered):
            said = true[item] if right[item] else 1 - true[item]
            rows.append((f"i{item:03}", f"a{annotator}", ("no", "yes")[said]))
    long = pd.DataFrame(rows, columns=["task", "worker", "label"])
    long.to_csv(tmp_path / "crowd.csv", index=False)
    long.to_parquet(tmp_path / "crowd.parquet")
    long.rename(columns={"task": "q", "worker": "who", "label": "what"}).to_csv(tmp_path / "odd.csv", index=False)
    long.assign(item=long["task"]).to_csv(tmp_path / "twice.csv", index=False)
    wide = long.pivot(index="task", columns="worker", values="label")
    wide.to_csv(tmp_path / "wide.csv", index=False)
    names = [f"i{item:03}" for item in range(120)]
    gold = pd.DataFrame({"item": names, "label": np.array(["no", "yes"])[true]})
    gold.to_csv(tmp_path / "gold.csv", index=False)
    gold.head(50).to_csv(tmp_path / "some.csv", index=False)
    gold.assign(item=[f"z{item}" for item in range(120)]).to_csv(tmp_path / "strangers.csv", index=False)
    gold.assign(label="maybe").to_csv(tmp_path / "maybe.csv", index=False)
    pd.concat([gold, gold.head(1)]).to_csv(tmp_path / "again.csv", index=False)
    gold[["label"]].to_csv(tmp_path / "column.csv", index=False)
    gold[["label"]].head(7).to_csv(tmp_path / "short.csv", index=False)
    features = pd.DataFrame({"item": names, "one": 20 * true + 1, "two": 20 * (1 - true) + 1})
    features.to_csv(tmp_path / "counts.csv", index=False)
    features.head(100).to_csv(tmp_path / "lacking.csv", index=False)
    features.drop(columns="item").to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return long


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
    run = demele("noise", "add", "data.csv::true", "--noise-rate", 0.05, "--seed", 4, "--output", "noisy.csv")
    assert (run.status, run.err) == (0, "demele: labels written to noisy.csv\n")
    made = labels.add_uniform_noise(judged["true"], 0.05, seed=4)
    frame = pd.read_csv("noisy.csv")
    assert list(frame) == ["label", "true", "mislabelled"]
    assert_exact(frame, made.to_frame())
    content = json.loads(run.out)
    (version,) = content["versions"]
    assert (version["wanted"], version["rate"], _wrong(version)) == (0.05, 0.05, 30)
    assert_exact(version["counts"]["counts"], made.counts.counts)
    assert (content["noise"], content["exact"], content["nested"], content["n"]) == ("uniform", True, False, 600)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "json", "npz"])
def test_several_rates_are_nested_in_every_kind_of_file(suffix: str, demele: Program, labels_folder: Path) -> None:
    path = f"noisy.{suffix}"
    content = _json(demele, "add", "names.csv::true", "--noise-rate", "0.05,0.2,0.05", "--output", path, "--quiet")
    assert content["nested"] is True
    assert [_wrong(version) for version in content["versions"]] == [30, 120]
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
    run = demele("noise", "add", "data.csv::true", "--noise-rate", 0.1, "--symmetric", "--seed", 2, "--format", "csv")
    matrix = labels.symmetric_transition(4, 0.1)
    expected = labels.add_class_noise(judged["true"], matrix, exact=True, seed=2)
    assert_exact(pd.read_csv(io.StringIO(run.out)), expected.to_frame())
    # row true: 0 is taken for 1 in half of the cases, the others are always right
    table = np.eye(4)
    table[0] = [0.5, 0.5, 0, 0]
    pd.DataFrame(table).to_csv("mistaken.csv", index=False)
    (version,) = _json(demele, "add", "true.npy", "--transition", "mistaken.csv")["versions"]
    size = int((judged["true"] == 0).sum())
    assert version["counts"]["counts"][0] == [size - size // 2, size // 2, 0, 0]
    assert _wrong(version) == size // 2


def test_approximate_noise_varies(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    content = _json(demele, "add", "true.npy", "--noise-rate", 0.1, "--approximate", "--kind", "uniform")
    expected = labels.add_uniform_noise(judged["true"], 0.1, exact=False, seed=0)
    assert _wrong(content["versions"][0]) == int(expected.mislabelled.sum()) != 60
    assert content["exact"] is False


def test_noise_of_annotators(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    content = _json(
        demele, "add", "names.csv::true", "--noise-rate", "0.1,0.2", "--annotations", "names.csv::old,new,twin"
    )
    answers = {name: WORDS[judged[name]] for name in ("old", "new", "twin")}
    for version, rate in zip(content["versions"], (0.1, 0.2), strict=True):
        expected = labels.add_feature_noise(WORDS[judged["true"]], answers, rate)
        assert_exact(version["counts"]["counts"], expected.counts.counts)
        assert version["highest_rate"] == expected.highest_rate
    assert (content["noise"], content["exact"]) == ("feature", True)


def test_annotators_are_trained_and_kept(demele: Program, features_folder: Path, judged: pd.DataFrame) -> None:
    asked = ("add", "described.csv::true", "--noise-rate", "0.05", "--seed", 1)
    run = demele(
        *("noise", *asked, "--features", "described.csv::x,y", "--annotators", 9, "--jobs", 1),
        *("--save-annotations", "annotators.csv", "--format", "json"),
    )
    assert run.status == 0, run.err
    assert run.err.splitlines()[-1] == "demele: annotations written to annotators.csv"
    content = json.loads(run.out)
    table = pd.read_csv("described.csv")[["x", "y"]]
    expected = labels.artificial_annotators(table, judged["true"], n_annotators=9, seed=1)
    assert content["annotators"]["errors"] == expected.errors.tolist()
    assert [note["code"] for note in content["annotators"]["notes"]] == [note.code for note in expected.notes]
    again = _json(demele, *asked, "--annotations", "annotators.csv")
    assert again["versions"] == content["versions"]


def test_features_that_hold_the_labels(demele: Program, features_folder: Path) -> None:
    run = demele(
        "noise", "add", "described.csv::true", "--noise-rate", "0.02", "--features", "described.csv", "--annotators", 3
    )
    assert run.status == 0, run.err
    assert "column true was left out of the features: it is given as described.csv::true" in run.err


def test_the_predictions_of_a_model(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    content = _json(demele, "add", "data.csv::true", "--noise-rate", "0.1,0.3", "--predictions", "data.csv::old,new")
    assert [version["source"] for version in content["versions"]] == ["new", "old"]
    errors = [float((judged[name] != judged["true"]).mean()) for name in ("new", "old")]
    assert_close([version["rate"] for version in content["versions"]], errors, ROUNDING)
    assert content["nested"] is False
    alone = _json(demele, "add", "data.csv::true", "--predictions", "new.npy")
    assert alone["versions"][0]["rate"] == errors[0]


def test_more_classes_than_occur(demele: Program, labels_folder: Path) -> None:
    (version,) = _json(demele, "add", "true.npy", "--noise-rate", 0.5, "--classes", "0,1,2,3,4")["versions"]
    assert version["counts"]["classes"] == [0, 1, 2, 3, 4]
    assert sum(row[4] for row in version["counts"]["counts"]) > 0


def test_what_was_made_for_eyes(demele: Program, labels_folder: Path) -> None:
    run = demele("noise", "add", "names.csv::true", "--noise-rate", "0.05,0.1", "--format", "table")
    assert run.err == "demele: the noisy labels are not kept; --output FILE writes them\n"
    assert [line for line in run.out.splitlines() if "labels were made wrong" in line] == [
        "30 of 600 labels were made wrong: 5.0% (asked for: 5.0%).",
        "60 of 600 labels were made wrong: 10.0% (asked for: 10.0%).",
    ]
    assert run.out.count("True class  Instances  Wrong  Share wrong  Mistaken most for") == 2
    asked = ("noise", "add", "true.npy", "--noise-rate", "0.1", "--format", "table", "--explain")
    out = demele(*asked, "--annotations", "data.csv::old,new,twin").out
    assert "These annotators can make at most" in out
    assert "The labels are the predictions of new." in demele(*asked, "--predictions", "data.csv::old,new").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.npy", "--noise-rate", "0.1"), "none.npy: No such file or directory"),
        (("data.csv", "--noise-rate", "0.1"), "data.csv: holds 5 columns"),
        (("data.csv::tru", "--noise-rate", "0.1"), "holds no column called 'tru'; did you mean 'true'?"),
        (("true.npy",), "--noise-rate: expected the share of labels to make wrong, such as --noise-rate 0.05"),
        (
            ("true.npy", "--noise-rate", "5%"),
            "argument --noise-rate: expected a share of the labels, such as 0.05, got '5%'; for 5%",
        ),
        (
            ("true.npy", "--noise-rate", "5"),
            "--noise-rate: expected a share of the instances in [0, 1], got 5.0; for 5% write 0.05",
        ),
        (("true.npy", "--noise-rate", ","), "argument --noise-rate: expected shares of the labels"),
        (("true.npy", "--noise-rate", "-0.1"), "--noise-rate: expected a share of the instances in [0, 1], got -0.1"),
        (
            ("true.npy", "--noise-rate", "0.9", "--annotations", "data.csv::old,new"),
            "are wrong for at least one annotator with legitimacy; the highest reachable rate is 0.3",
        ),
        (
            ("one.npy", "--noise-rate", "0.1"),
            "LABELS: expected at least 2 classes, got only 1; give all classes with --classes",
        ),
        (("one.npy", "--noise-rate", "0.1", "--symmetric"), "--classes: expected at least 2 classes"),
        (("true.npy", "--noise-rate", "0.1", "--classes", "0,1"), "values are not among the 2 classes 0, 1: 2, 3"),
        (("true.npy", "--kind", "class", "--noise-rate", "0.1"), "--kind class: needs --transition or --symmetric"),
        (("true.npy", "--kind", "feature", "--noise-rate", "0.1"), "--kind feature: needs --annotations or --features"),
        (
            ("true.npy", "--kind", "model", "--symmetric", "--noise-rate", "0.1"),
            "--kind model: --symmetric makes noise of the kind class",
        ),
        (("true.npy", "--kind", "other"), "argument --kind: invalid choice: 'other'"),
        (
            ("true.npy", "--symmetric", "--predictions", "old.npy"),
            "--predictions: --symmetric is given too; one of them makes the noise",
        ),
        (
            ("true.npy", "--transition", "t.csv", "--noise-rate", "0.1"),
            "--noise-rate: --transition says how many labels are wrong",
        ),
        (("true.npy", "--transition", "t.csv", "--classes", "0,1"), "--classes: --transition names its classes"),
        (("true.npy", "--transition", "t.csv"), "t.csv: its classes 0, 1 lack 2 that LABELS has: 2, 3"),
        (("true.npy", "--transition", "none.csv"), "none.csv: No such file or directory"),
        (
            ("true.npy", "--predictions", "old.npy", "--approximate"),
            "--approximate: noise of the kind model draws nothing",
        ),
        (("true.npy", "--predictions", "old.npy", "--classes", "0,1"), "--classes: the kind model has its own"),
        (
            ("true.npy", "--predictions", "data.csv::old,new"),
            "--noise-rate: expected the rate wanted, to choose one of 2 models",
        ),
        (
            ("true.npy", "--noise-rate", "0.1", "--annotators", "5"),
            "--annotators: is for annotators that are trained on --features",
        ),
        (
            ("true.npy", "--noise-rate", "0.1", "--jobs", "2"),
            "--jobs: is for annotators that are trained on --features",
        ),
        (("true.npy", "--noise-rate", "0.1", "--save-annotations", "a.csv"), "--save-annotations: is for annotators"),
        (
            ("true.npy", "--noise-rate", "0.1", "--features", "names.csv"),
            "names.csv: expected columns of numbers, got words in old",
        ),
        (("true.npy", "--noise-rate", "0.1", "--features", "short.npy"), "--features and LABELS"),
        (
            ("true.npy", "--noise-rate", "0.1", "--features", "data.csv::old,new", "--annotators", "0"),
            "--annotators: expected a whole number",
        ),
        (
            ("data.csv::true", "--noise-rate", "0.1", "--features", "data.csv::true,old"),
            "data.csv::true,old: true is given among the features and as data.csv::true",
        ),
        (("true.npy", "--noise-rate", "0.1", "--annotations", "short.csv"), "short.csv: column old: 5 missing values"),
        (("true.npy", "--noise-rate", "0.1", "--annotations", "brief.csv"), "expected 600 labels of each annotator"),
        (("true.npy", "--noise-rate", "0.1", "--seed", "-1"), "--seed: expected a whole number from 0, got -1"),
        (("true.npy", "--noise-rate", "0.1", "--output", "true.csv"), "true.csv: exists already; --force replaces it"),
        (
            ("true.npy", "--noise-rate", "0.1", "--output", "true.npy"),
            "true.npy: expected a file called .csv, .tsv, .parquet",
        ),
        (("data.csv::true", "--noise-rate", "0.1", "--output", "data.csv"), "data.csv: it is read by the same command"),
        (("true.npy", "--noise-rate", "0.1", "--output", "no/a.csv"), "there is no folder no; make it first"),
        (("true.npy", "--noise-rate", "0.1", "--output", "a"), "--output: a: expected a file called .csv"),
        (
            ("true.npy", "--noise-rate", "0.1", "--output", "a.csv", "--format", "csv"),
            "--format csv: writes the labels to stdout, and --output to a file",
        ),
        (
            (
                "true.npy",
                "--noise-rate",
                ".1",
                "--features",
                "old.npy",
                "--output",
                "a.csv",
                "--save-annotations",
                "./a.csv",
            ),
            "--save-annotations: the same file as --output; write to another one",
        ),
        (("true.npy", "--rates", "0.1"), "unrecognized arguments: --rates 0.1"),
    ],
)
def test_noise_that_cannot_be_made(
    arguments: tuple[str, ...], message: str, demele: Program, labels_folder: Path, judged: pd.DataFrame
) -> None:
    np.save("one.npy", np.ones(20, dtype=int))
    np.save("short.npy", np.zeros((10, 2)))
    pd.DataFrame(np.eye(2), columns=["0", "1"]).to_csv("t.csv", index=False)
    pd.DataFrame({"old": [1.0] * 595 + [None] * 5, "new": 1}).to_csv("short.csv", index=False)
    judged[["old", "new"]].head(10).to_csv("brief.csv", index=False)
    Path("true.csv").write_text("precious", encoding="utf-8")
    _refused(demele, "add", arguments, message)
    assert Path("true.csv").read_text(encoding="utf-8") == "precious"


def _refused(demele: Program, action: str, arguments: tuple[str, ...], message: str) -> None:
    run = demele("noise", action, *arguments)
    assert (run.status, run.out) == (2, "")
    lines = run.err.splitlines()
    assert lines[-1].startswith("demele: error: ")
    assert all(line.startswith("demele: warning: ") for line in lines[:-1])
    assert message in lines[-1]


def test_a_file_is_replaced_if_asked(demele: Program, labels_folder: Path) -> None:
    Path("noisy.csv").write_text("old", encoding="utf-8")
    assert demele("noise", "add", "true.npy", "--noise-rate", 0.1, "--output", "noisy.csv", "--force").status == 0
    assert len(pd.read_csv("noisy.csv")) == 600


# Estimating ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["crowd.csv", "crowd.parquet"])
def test_labels_of_a_crowd(source: str, demele: Program, crowd: pd.DataFrame) -> None:
    content = _json(demele, "estimate", source)
    expected = labels.consensus(crowd)
    assert [row["label"] for row in content["items"]] == expected.labels.tolist()
    assert_close([row["confidence"] for row in content["items"]], expected.confidence, ROUNDING)
    assert [row["majority"] for row in content["items"]] == expected.majority.tolist()
    assert (content["method"], content["converged"]) == ("blend", True)
    assert any(row["label"] != row["majority"] for row in content["items"])
    assert [row["class"] for row in content["per_class"]] == ["no", "yes"]
    assert [row["items"] for row in content["per_class"]] == [int((expected.labels == c).sum()) for c in ("no", "yes")]


def test_names_of_columns(demele: Program, crowd: pd.DataFrame) -> None:
    expected = _json(demele, "estimate", "crowd.csv")
    assert _json(demele, "estimate", "odd.csv", "--item", "q", "--annotator", "who", "--answer", "what") == expected
    assert _json(demele, "estimate", "twice.csv", "--item", "task") == expected


def test_a_column_per_annotator(demele: Program, crowd: pd.DataFrame) -> None:
    long, wide = _json(demele, "estimate", "crowd.csv"), _json(demele, "estimate", "wide.csv", "--wide")
    for name in ("label", "confidence", "answers"):  # items are sorted in both
        assert [row[name] for row in wide["items"]] == [row[name] for row in long["items"]]
    table = pd.read_csv("wide.csv").map({"no": 0, "yes": 1}.get).fillna(-1).astype(int)
    np.save("wide.npy", table.to_numpy())
    numbers = _json(demele, "estimate", "wide.npy", "--wide", "--no-answer", -1)
    assert [("no", "yes")[row["label"]] for row in numbers["items"]] == [row["label"] for row in long["items"]]
    assert numbers["annotators"][0]["annotator"] == "annotator 1"
    table.assign(Task=sorted(set(crowd["task"]))).to_csv("named.csv", index=False)
    named = _json(demele, "estimate", "named.csv", "--wide", "--no-answer", -1)
    assert [row["item"] for row in named["items"]] == [row["item"] for row in long["items"]]
    assert [row["label"] for row in named["items"]] == [row["label"] for row in numbers["items"]]
    assert len(named["annotators"]) == 9
    table.assign(g=1).to_csv("more.csv", index=False)
    run = demele("noise", "estimate", "more.csv", "--wide", "--no-answer", "-1", "--given", "more.csv::g")
    assert "column g was left out of the annotators: it is --given" in run.err
    assert len(json.loads(run.out)["annotators"]) == 9


@pytest.mark.parametrize("ids", ["numbers", "texts"])
def test_a_column_of_names_among_columns_of_annotators(demele: Program, crowd: pd.DataFrame, ids: str) -> None:
    table = pd.read_csv("wide.csv")
    table["doc"] = [f"q{row:03}" if ids == "texts" else 7 * row + 1000 for row in range(len(table))]
    table.to_csv("doc.csv", index=False)
    run = demele("noise", "estimate", "doc.csv", "--wide")
    assert "column doc holds the names of the items" in run.err
    found = json.loads(run.out)
    expected = _json(demele, "estimate", "wide.csv", "--wide")
    assert found["annotators"] == expected["annotators"]
    assert [row["item"] for row in found["items"]] == table["doc"].tolist()
    assert [row["label"] for row in found["items"]] == [row["label"] for row in expected["items"]]
    asked = demele("noise", "estimate", "doc.csv", "--wide", "--item", "doc")
    assert (asked.out, asked.err) == (run.out, "")


def test_every_method(demele: Program, crowd: pd.DataFrame) -> None:
    majority = _json(demele, "estimate", "crowd.csv", "--method", "majority")
    assert [row["label"] for row in majority["items"]] == labels.majority_vote(crowd).labels.tolist()
    for method in ("blend", "one-coin", "own-prior", "dawid-skene"):
        found = labels.consensus(crowd, method=method)
        content = _json(demele, "estimate", "crowd.csv", "--method", method)
        assert content["method"] == found.method
        assert [row["label"] for row in content["items"]] == found.labels.tolist()
        assert_close([row["confidence"] for row in content["items"]], found.confidence, ROUNDING)
    strong = _json(demele, "estimate", "crowd.csv", "--method", "own-prior", "--strength", 50)
    expected = labels.dawid_skene(crowd, prior="own", strength=50)
    assert strong["log_likelihood"] == expected.log_likelihood
    smooth = _json(demele, "estimate", "crowd.csv", "--method", "dawid-skene", "--smoothing", 0.5)
    assert smooth["log_likelihood"] == labels.dawid_skene(crowd, smoothing=0.5).log_likelihood
    options: dict[str, Any] = {"n_samples": 60, "n_warmup": 20, "n_chains": 2, "level": 0.9, "seed": 7}
    asked = ("--samples", 60, "--warmup", 20, "--chains", 2, "--level", 0.9, "--seed", 7)
    bayesian = _json(demele, "estimate", "crowd.csv", "--method", "bayesian", *asked)
    drawn = labels.bayesian_consensus(crowd, **options)
    assert_close([row["confidence"] for row in bayesian["items"]], drawn.confidence, ROUNDING)
    assert bayesian["intervals"]["proportions"][0]["level"] == 0.9


def test_features_label_what_nobody_answered(demele: Program, crowd: pd.DataFrame) -> None:
    crowd[crowd["task"] > "i019"].to_csv("late.csv", index=False)
    asked = ("--method", "bayesian", "--samples", 40, "--warmup", 20, "--chains", 1)
    content = _json(demele, "estimate", "late.csv", *asked, "--features", "counts.csv", "--gold", "gold.csv")
    items = {row["item"]: row for row in content["items"]}
    assert len(items) == 120
    assert items["i003"]["answers"] == 0
    assert content["gold"]["consensus"]["accuracy"] == 1.0
    assert content["gold"]["n"] == 120
    rows = _json(demele, "estimate", "crowd.csv", *asked, "--features", "rows.csv", "--feature-model", "normal")
    assert rows["method"] == "generative model with normal features"


def test_what_is_held_against_gold(demele: Program, crowd: pd.DataFrame) -> None:
    found = labels.consensus(crowd)
    truth = pd.read_csv("gold.csv")["label"].to_numpy()
    for file in ("gold.csv", "gold.csv::item,label", "column.csv"):
        content = _json(demele, "estimate", "crowd.csv", "--gold", file)["gold"]
        for name, said in (("consensus", found.labels), ("majority", found.majority)):
            right = int((said == truth).sum())
            low, high = score_interval(right, 120)
            assert content[name] == {"right": right, "accuracy": right / 120, "low": float(low), "high": float(high)}
    content = _json(demele, "estimate", "crowd.csv", "--gold", "some.csv", "--level", 0.8)["gold"]
    assert (content["n"], content["level"]) == (50, 0.8)
    assert content["consensus"]["right"] == int((found.labels[:50] == truth[:50]).sum())


def test_items_without_an_answer_are_left_out(demele: Program, crowd: pd.DataFrame) -> None:
    crowd[crowd["task"] > "i019"].to_csv("late.csv", index=False)
    run = demele("noise", "estimate", "late.csv", "--gold", "gold.csv")
    assert json.loads(run.out)["gold"]["n"] == 100
    assert "--gold: 20 of 120 items have no answer and are left out" in run.err


def test_noise_of_given_labels(demele: Program, crowd: pd.DataFrame) -> None:
    found = labels.consensus(crowd)
    given = pd.read_csv("gold.csv")["label"].to_numpy()
    run = demele("noise", "estimate", "crowd.csv", "--given", "gold.csv", "--save-transition", "noise.csv")
    assert run.err.splitlines()[-1] == "demele: transition written to noise.csv"
    content = json.loads(run.out)["given"]
    assert content["wrong_share"] == found.wrong_share(given)
    assert_close(content["transition"]["probabilities"], found.noise(given).probabilities, ROUNDING)
    assert content["unlike_majority"] == float((given != found.majority).mean())
    again = _json(demele, "add", "gold.csv::label", "--transition", "noise.csv")
    shares = [(given == name).mean() for name in ("no", "yes")]
    assert_close(again["versions"][0]["wanted"], found.noise(given).rate(shares), ROUNDING)
    assert again["versions"][0]["counts"]["classes"] == ["no", "yes"]


def test_agreement(demele: Program, crowd: pd.DataFrame) -> None:
    asked = ("--agreement", "--scale", "ordinal", "--level", 0.9, "--seed", 3, "--classes", "yes,no")
    content = _json(demele, "estimate", "crowd.csv", *asked)["agreement"]
    expected = labels.agreement(crowd, scale="ordinal", level=0.9, seed=3, classes=["yes", "no"]).to_dict()
    assert {**content, "signature": ""} == json.loads(json.dumps({**expected, "signature": ""}))


def test_labels_in_a_file(demele: Program, crowd: pd.DataFrame) -> None:
    run = demele("noise", "estimate", "crowd.csv", "--output", "labels.parquet")
    assert "items" not in json.loads(run.out)
    assert run.err == "demele: labels written to labels.parquet\n"
    expected = labels.consensus(crowd).to_frame()
    pd.testing.assert_frame_equal(pd.read_parquet("labels.parquet"), expected, check_dtype=False)
    out = demele("noise", "estimate", "crowd.csv", "--format", "csv").out
    assert list(pd.read_csv(io.StringIO(out))["label"]) == list(expected["label"])


def test_estimates_for_eyes(demele: Program, crowd: pd.DataFrame) -> None:
    asked = ("--gold", "gold.csv", "--given", "gold.csv", "--agreement", "--each-annotator", "--format", "table")
    out = demele("noise", "estimate", "crowd.csv", *asked).out
    for said in (
        "Labels of 120 items have a mean confidence of",
        "of 120 labels taken as true are those of the consensus",
        "of 120 given labels are wrong",
        "9 annotators, the least informative first.",
        "Krippendorff",
    ):
        assert said in " ".join(out.split())
    assert {"consensus", "majority", "a8"} <= {line.split()[0] for line in out.splitlines() if line}
    plain = demele("noise", "estimate", "crowd.csv", "--format", "table", "--explain").out
    assert "Converged after" in plain
    assert "a8" not in plain
    few = (
        "--method",
        "bayesian",
        "--samples",
        4,
        "--warmup",
        0,
        "--chains",
        4,
        "--format",
        "table",
        "--each-annotator",
        "--explain",
    )
    run = demele("noise", "estimate", "crowd.csv", *few)
    assert "NOT converged after" in run.out
    assert "give a higher --warmup and --samples" in run.err
    assert "Accuracy interval" in run.out


def test_whoever_tells_least_stands_first(demele: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 items, 32 are of one class: who always says it is right on 80 %, who mistakes a quarter on 75 %."""
    true = np.array(["a"] * 32 + ["b"] * 8)
    other = np.where(true == "a", "b", "a")
    said = {f"good{place}": true for place in range(3)}
    said |= {"spammer": np.full(40, "a"), "careless": np.where(np.arange(40) % 4 == 0, other, true)}
    rows = [(item, who, answers[item]) for who, answers in said.items() for item in range(40)]
    rows += [(item, "seldom", "a") for item in range(9)]
    pd.DataFrame(rows, columns=["item", "annotator", "answer"]).to_csv(tmp_path / "few.csv", index=False)
    monkeypatch.chdir(tmp_path)
    out = demele("noise", "estimate", "few.csv", "--each-annotator", "--format", "table").out
    listed = out[out.index("Annotator ") :].splitlines()[1:7]
    assert [line.split()[0] for line in listed][:2] == ["spammer", "careless"]
    assert listed[-1].split()[:2] == ["seldom", "9"]
    assert "those with fewer than 10 answers last" in " ".join(out.split())


def test_annotators_as_a_table(demele: Program, crowd: pd.DataFrame) -> None:
    expected = labels.consensus(crowd)
    run = demele("noise", "estimate", "crowd.csv", "--each-annotator", "--format", "csv", "--output", "labels.csv")
    assert run.status == 0
    frame = pd.read_csv(io.StringIO(run.out))
    assert list(frame) == list(expected.annotator_frame())
    assert_exact(frame["answers"].to_numpy(), expected.annotator_frame()["answers"].to_numpy())
    assert list(pd.read_csv("labels.csv")["label"]) == list(expected.to_frame()["label"])


def test_the_demonstration(demele: Program, tmp_path: Path) -> None:
    content = _json(demele, "estimate", "--demo", "--method", "majority")
    crowd = crowd_set("mozafari_1000")
    found = labels.majority_vote(crowd.to_frame())
    right = sum(crowd.gold[int(item)] == label for item, label in zip(found.items, found.labels, strict=True))
    assert content["gold"]["majority"]["right"] == content["gold"]["consensus"]["right"] == right
    assert content["gold"]["n"] == 1000


def test_counts_of_a_sample(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    asked = ("estimate", "--true-labels", "data.csv::true", "--given", "data.csv::label", "--level", 0.9)
    content = _json(demele, *asked, "--save-transition", "noise.csv")
    counts = labels.estimate_transition(judged["true"], judged["label"])
    assert_exact(content["counts"], counts.counts)
    interval = counts.rate_interval(level=0.9)
    assert (content["interval"]["low"], content["interval"]["high"]) == (interval.low, interval.high)
    for row, line in zip(counts.counts, content["per_class"], strict=True):
        size, wrong = int(row.sum()), int(row.sum() - row[line["true"]])
        low, high = exact_interval(wrong, size, level=0.9)
        assert (line["instances"], line["wrong"], line["share_wrong"]) == (size, wrong, wrong / size)
        assert_close([line["low"], line["high"]], [low, high], ROUNDING)
    # the other commands read what was written
    run = demele("assess", "data.csv::old", "data.csv::label", "--noise", "noise.csv")
    assert (run.status, json.loads(run.out)["assumptions"] != []) == (0, True)
    arrays = _json(demele, "estimate", "--true-labels", "data.npz::true", "--given", "data.npz::label", "--level", 0.9)
    assert arrays == content
    out = demele("noise", *asked, "--format", "csv").out
    assert_exact(pd.read_csv(io.StringIO(out)).iloc[:, 1:], counts.counts)
    out = demele("noise", *asked, "--format", "table", "--classes", "0,1,2,3,4", "--explain").out
    assert out.startswith(f"{counts.wrong} of 600 labels are wrong: {counts.rate:.1%}, 90% interval [")
    assert "1 classes have no true instance in the sample" in " ".join(out.split())


def test_an_audit_is_counted_if_it_was_uniform(demele: Program, labels_folder: Path) -> None:
    extra = ("--disagreement", "data.csv::old,new,twin")
    for design, given in (("uniform", ()), ("weighted", extra)):
        demele("audit", "data.csv::label", "--rows", 40, *given, "--output", f"{design}.csv", "--quiet")
        frame = pd.read_csv(f"{design}.csv")
        frame["true_label"] = frame["given_label"]
        frame.to_csv(f"{design}.csv", index=False)
        asked = ("--true-labels", f"{design}.csv::true_label", "--given", f"{design}.csv::given_label")
        run = demele("noise", "estimate", *asked)
        assert run.status == (0 if design == "uniform" else 2)
    assert "the rows of weighted.csv were drawn weighted, not uniformly" in run.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "ANSWERS: expected one of ANSWERS, --true-labels FILE with --given FILE, and --demo"),
        (("crowd.csv", "--demo"), "expected one of them"),
        (("crowd.csv", "--true-labels", "gold.csv", "--given", "gold.csv"), "expected one of them"),
        (("--true-labels", "gold.csv::label"), "--given: expected the labels that were given to the rows of --true"),
        (
            ("--true-labels", "gold.csv::label", "--given", "gold.csv::label", "--gold", "gold.csv"),
            "--gold: is for answers",
        ),
        (
            ("--true-labels", "gold.csv::label", "--given", "column.csv", "--wide"),
            "--wide: is for answers of annotators",
        ),
        (
            ("--true-labels", "gold.csv::label", "--given", "short.csv"),
            "--true-labels and --given: expected the same number of rows",
        ),
        (
            ("--true-labels", "maybe.csv::label", "--given", "maybe.csv::label"),
            "--true-labels and --given: expected at least 2 classes, got only 'maybe'; "
            "give all classes with --classes=A,B",
        ),
        (("--demo", "--given", "gold.csv"), "--given: is for a file of answers, and --demo brings its own"),
        (("none.csv",), "none.csv: No such file or directory"),
        (
            ("gold.csv",),
            "gold.csv: no column of annotators among item, label; name it with --annotator, or give --wide",
        ),
        (("odd.csv",), "odd.csv: no column of items among q, who, what; name it with --item"),
        (("twice.csv",), "several columns that may be the items (task, item)"),
        (("odd.csv", "--item", "task"), "--item: odd.csv has no column called 'task'; it has q, who, what"),
        (
            ("odd.csv", "--item", "q", "--annotator", "q", "--answer", "what"),
            "expected three different columns, got q, q",
        ),
        (("array.npy",), "expected a table with columns item, annotator and answer, got one without names"),
        (("wide.csv", "--wide", "--item", "a99"), "--item: wide.csv has no column called 'a99'; it has a0, a1"),
        (("wide.csv", "--wide", "--answer", "a1"), "--answer: names a column of a long table"),
        (("crowd.csv", "--no-answer", "-1"), "--no-answer: is for --wide"),
        (("again.csv", "--wide"), "again.csv: column item: expected the name of another item in each row"),
        (
            ("array.npy", "--wide", "--no-answer", "x"),
            "--no-answer: the answers are numbers, so expected a number, got 'x'",
        ),
        (("crowd.csv", "--method", "votes"), "argument --method: invalid choice: 'votes'"),
        (("crowd.csv", "--classes", "no,maybe"), "values are not among the 2 classes 'no', 'maybe': 'yes'"),
        (("crowd.csv", "--scale", "ordinal"), "--scale: is for --agreement, which is not asked for"),
        (("crowd.csv", "--agreement", "--scale", "ratio"), "ratio"),
        (
            ("crowd.csv", "--smoothing", "1", "--method", "majority"),
            "--smoothing: is for --method dawid-skene, not majority",
        ),
        (("crowd.csv", "--method", "dawid-skene", "--smoothing", "-1"), "--smoothing: expected"),
        (("crowd.csv", "--method", "own-prior", "--strength", "0"), "--strength: expected a finite number"),
        (("crowd.csv", "--strength", "5"), "--strength: is for --method own-prior, not blend"),
        (("crowd.csv", "--smoothing", "1"), "--smoothing: is for --method dawid-skene, not blend"),
        (("crowd.csv", "--samples", "5"), "--samples: is for --method bayesian, not blend"),
        (("crowd.csv", "--method", "bayesian", "--samples", "1"), "--samples: expected 4 or more, got 1"),
        (
            ("crowd.csv", "--method", "bayesian", "--feature-model", "normal"),
            "--feature-model: says what --features are",
        ),
        (("crowd.csv", "--method", "bayesian", "--features", "lacking.csv"), "has no features of 20 of 120 items"),
        (("crowd.csv", "--method", "bayesian", "--features", "short.csv"), "--features: "),
        (("crowd.csv", "--gold", "strangers.csv"), "strangers.csv: none of its 120 items has an answer, first 'z0'"),
        (("crowd.csv", "--gold", "maybe.csv"), "maybe.csv: none of its classes, such as 'maybe', is among the answers"),
        (("crowd.csv", "--given", "maybe.csv"), "--given: 120 of 120 values are not among the 2 classes"),
        (("crowd.csv", "--gold", "again.csv"), "again.csv: expected each item once, got 'i000' more than once"),
        (("crowd.csv", "--gold", "short.csv"), "short.csv: expected 120 labels, one per item in their order, got 7"),
        (
            ("crowd.csv", "--gold", "counts.csv"),
            "counts.csv: expected a column of items and one of labels, got item, one",
        ),
        (("crowd.csv", "--save-transition", "t.csv"), "--save-transition: needs --given"),
        (
            ("crowd.csv", "--given", "gold.csv", "--save-transition", "t.npz"),
            "--save-transition: writes a table; call it t.csv",
        ),
        (("crowd.csv", "--level", "95"), "--level: expected a number between 0 and 1, such as 0.95, got 95"),
        (("crowd.csv", "--seed", "-1"), "--seed: expected a whole number from 0, got -1"),
        (("crowd.csv", "--output", "gold.csv"), "gold.csv: exists already; --force replaces it"),
        (("crowd.csv", "--output", "crowd.csv", "--force"), "crowd.csv: it is read by the same command"),
        (("crowd.csv", "--output", "labels.npy"), "--output: labels.npy: expected a file called"),
        (("crowd.csv", "--output", "a.csv", "--format", "csv"), "--format csv: writes the labels to stdout"),
        (
            ("crowd.csv", "--given", "gold.csv", "--output", "a.csv", "--save-transition", "a.csv"),
            "--save-transition: the same file as --output",
        ),
    ],
)
def test_what_cannot_be_estimated(
    arguments: tuple[str, ...], message: str, demele: Program, crowd: pd.DataFrame
) -> None:
    np.save("array.npy", np.zeros((5, 2), dtype=int))
    _refused(demele, "estimate", arguments, message)


def test_minus_1_is_told_and_how_to_leave_it_out(demele: Program, crowd: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    np.save("holes.npy", rng.integers(-1, 2, (40, 3)))
    (note,) = (one for one in _json(demele, "estimate", "holes.npy", "--wide")["notes"] if "-1" in one["message"])
    assert note["code"] == "negative-class"
    shown = " ".join(demele("noise", "estimate", "holes.npy", "--wide", "--format", "table", "--explain").out.split())
    assert "give --no-answer -1 (of a table with a column per annotator)" in shown
    assert "-1 is among" not in demele("noise", "estimate", "holes.npy", "--wide", "--no-answer", "-1").out


def test_gold_of_other_classes_is_shown_plainly(demele: Program, crowd: pd.DataFrame) -> None:
    np.save("answers.npy", np.random.default_rng(0).integers(0, 2, (40, 3)))
    np.save("seven.npy", np.full(40, 7))
    arguments = ("answers.npy", "--wide", "--gold", "seven.npy")
    _refused(
        demele, "estimate", arguments, "seven.npy: none of its classes, such as 7, is among the answers, such as 0"
    )


def test_a_missing_answer_is_named(demele: Program, crowd: pd.DataFrame) -> None:
    crowd.assign(label=crowd["label"].where(crowd.index != 3)).to_csv("holes.csv", index=False)
    _refused(demele, "estimate", ("holes.csv",), "holes.csv: column label: 1 missing value, first at row 3")


# Cleaning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (None, {}),
        ("knn", {"k": 7, "scaling": "none"}),
        ("classification", {"folds": 3}),
        ("voting", {"folds": 3, "rule": "consensus"}),
        ("partitioning", {"folds": 3, "rule": "non-objection", "rounds": 2}),
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
    content = _json(demele, "clean", "data.csv::label", "features.npy", *asked, "--seed", 2)
    given = {} if method is None else {"method": method}
    found = labels.clean(judged["label"], np.load("features.npy"), seed=2, **given, **options)
    rows = np.flatnonzero(found.suspect)
    assert found.suggested is not None
    assert sorted(row["row"] for row in content["suspects"]) == rows.tolist()
    assert {row["row"]: row["suggested"] for row in content["suspects"]} == dict(
        zip(rows.tolist(), found.suggested[rows].tolist(), strict=True)
    )
    scores = [row["score"] for row in content["suspects"]]
    if found.score is None:
        assert set(scores) == {None}
    else:
        assert scores == sorted(found.score[rows].tolist(), reverse=True)
    assert content["signature"] == str(found.signature)
    assert content["harm"] == json.loads(json.dumps(labels.cleaning_harm(found, judged["label"]).to_dict()))
    assert "true" in content["harm"]


def test_probabilities_and_their_classes(demele: Program, features_folder: Path, judged: pd.DataFrame) -> None:
    asked = ("clean", "data.csv::label", "--method", "entropy")
    found = labels.clean(judged["label"], np.load("probabilities.npy"), method="entropy", kind="probabilities")
    content = _json(demele, *asked, "--probabilities", "probabilities.npy", "--threshold", 0.3)
    assert sorted(row["row"] for row in content["suspects"]) == np.flatnonzero(found.suspect).tolist()
    named = _json(demele, *asked, "--probabilities", "probabilities.csv")
    assert named["suspects"] == content["suspects"]
    # columns are the classes in their order: in another order, most labels are taken for wrong
    turned = _json(demele, *asked, "--probabilities", "probabilities.csv", "--classes", "3,2,1,0")
    assert len(turned["suspects"]) > 500 > len(content["suspects"])


@pytest.mark.parametrize("written", [np.float64, np.float32, 4])
def test_features_that_are_probabilities_are_read_as_in_the_library(
    written: Any, demele: Program, features_folder: Path, judged: pd.DataFrame
) -> None:
    table = np.load("probabilities.npy")
    table = np.round(table, written) if isinstance(written, int) else table.astype(written)
    np.save("written.npy", table)
    found = labels.clean(judged["label"], table, method="entropy")
    base = ("clean", "data.csv::label", "written.npy", "--method", "entropy")
    content = _json(demele, *base)
    assert content["signature"] == str(found.signature)
    assert sorted(row["row"] for row in content["suspects"]) == np.flatnonzero(found.suspect).tolist()
    trained = labels.clean(judged["label"], table, method="entropy", kind="features")
    content = _json(demele, *base, "--kind", "features")
    assert content["signature"] == str(trained.signature)
    assert sorted(row["row"] for row in content["suspects"]) == np.flatnonzero(trained.suspect).tolist()


def test_harm_with_true_labels(demele: Program, features_folder: Path, judged: pd.DataFrame) -> None:
    asked = ("clean", "data.csv::label", "features.npy", "--method", "knn", "--true-labels", "data.csv::true")
    content = _json(demele, *asked, "--level", 0.9)
    found = labels.clean(judged["label"], np.load("features.npy"), method="knn")
    harm = labels.cleaning_harm(found, judged["label"], judged["true"], level=0.9)
    assert content["harm"] == json.loads(json.dumps(harm.to_dict()))
    wrong = (judged["label"] != judged["true"]).to_numpy()
    assert content["harm"]["overall"]["detected"] == float(found.suspect[wrong].mean())


def test_labels_after_the_cleaning(demele: Program, features_folder: Path, judged: pd.DataFrame) -> None:
    found = labels.clean(WORDS[judged["label"]], np.load("features.npy"), method="knn")
    base = ("noise", "clean", "names.csv::label", "features.npy", "--method", "knn")
    run = demele(*base, "--relabel", "--output", "after.csv", "--suspects", "suspects.csv")
    assert run.err == "demele: labels written to after.csv\ndemele: suspects written to suspects.csv\n"
    after = pd.read_csv("after.csv")
    assert_exact(after["row"], np.arange(600))
    assert_exact(after["label"], found.applied(WORDS[judged["label"]]).labels)
    # demele compare reads the suspects, and relabels as the library does
    compared = demele(
        *("compare", "names.csv::old", "names.csv::new", "names.csv::label"),
        *("--method", "cleaned", "--cleaning", "suspects.csv"),
    )
    assert compared.status == 0, compared.err
    columns = [WORDS[judged[name]] for name in ("old", "new", "label")]
    expected = evaluation.compare(*columns, method="cleaned", cleaning=found, names=("old", "new"))
    assert json.loads(compared.out) == expected.to_dict()
    demele(*base, "--drop", "--output", "kept.npz", "--suspects", "flags.csv", "--quiet")
    kept = np.load("kept.npz")
    assert_exact(kept["row"], np.flatnonzero(~found.suspect))
    assert_exact(kept["label"], WORDS[judged["label"]][~found.suspect].astype(str))
    assert list(pd.read_csv("flags.csv")) == ["suspect"]


def test_suspects_as_a_table(demele: Program, features_folder: Path) -> None:
    alone = ("noise", "clean", "names.csv::label", "described.csv::x,y", "--method", "knn")
    base = (*alone, "--true-labels", "names.csv::true")
    frame = pd.read_csv(io.StringIO(demele(*base, "--format", "csv").out))
    assert list(frame) == ["row", "given", "suggested", "score"]
    out = demele(*base, "--format", "table").out
    assert out.startswith(f"{len(frame)} of 600 labels are suspected: ")
    assert "Of the wrong" in out
    assert f"Not shown: {len(frame) - 20} rows" in out
    assert "Of the wrong" not in demele(*alone, "--format", "table", "--drop").out
    assert "Fisher's exact test" in demele(*base, "--format", "table", "--explain").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("label.npy",), "FEATURES: expected FEATURES, or --probabilities FILE, got neither"),
        (("label.npy", "features.npy", "--probabilities", "probabilities.npy"), "got both"),
        (("label.npy", "none.npy"), "none.npy: No such file or directory"),
        (("none.npy", "features.npy"), "none.npy: No such file or directory"),
        (("data.csv", "features.npy"), "data.csv: holds 5 columns"),
        (("label.npy", "features.npy", "--method", "knm"), "--method: expected one of"),
        (("label.npy", "--probabilities", "probabilities.npy", "--method", "voting"), "use them, got voting"),
        (
            ("label.npy", "--probabilities", "probabilities.npy", "--method", "entropy", "--folds", "3"),
            "--folds: nothing is trained on --probabilities",
        ),
        (("label.npy", "--probabilities", "features.npy", "--method", "entropy"), "--probabilities: "),
        (
            ("label.npy", "--probabilities", "probabilities.npy", "--method", "entropy", "--kind", "features"),
            "--kind: of FEATURES; leave it out",
        ),
        (
            ("label.npy", "features.npy", "--method", "knn", "--kind", "features"),
            "--kind: --method knn does not use it",
        ),
        (
            ("label.npy", "percent.npy", "--method", "entropy"),
            "FEATURES: every row adds up to 100, not to 1; if these are probabilities in percent, divide them by 100; "
            "if these are features, give --kind features",
        ),
        (
            ("label.npy", "probabilities.npy", "--method", "entropy", "--folds", "3"),
            "--folds: nothing is trained, since FEATURES was read as probabilities; "
            "drop --folds, or give --kind features",
        ),
        (
            ("label.npy", "features.npy", "--true-labels", "unjudged.csv"),
            "--true-labels: 1 of 600 values are -1, first at row 0 (counted from 0), and -1 is not among the given "
            "labels; if it marks rows without a true label, leave these rows out of all files",
        ),
        (
            ("label.npy", "--probabilities", "probabilities.npy", "--method", "entropy", "--classes", "0,1,2,3,4"),
            "--probabilities: expected a column of probabilities for each of the 5 classes",
        ),
        (("label.npy", "features.npy", "--classes", "0,1"), "values are not among the 2 classes 0, 1"),
        (
            ("label.npy", "features.npy", "--method", "knn", "--folds", "3"),
            "--folds: --method knn does not use it, only 'classification'",
        ),
        (("label.npy", "features.npy", "--method", "knn", "--k", "0"), "--k: expected a whole number >= 1, got 0"),
        (
            ("label.npy", "features.npy", "--method", "knn", "--k", "600"),
            "--k: expected fewer neighbours than the 600 instances, got 600",
        ),
        (("label.npy", "features.npy", "--method", "voting", "--rule", "most"), "--rule: expected one of 'majority'"),
        (("label.npy", "features.npy", "--method", "entropy", "--threshold", "30"), "--threshold: expected a share"),
        (
            ("label.npy", "features.npy", "--method", "partitioning", "--rounds", "0"),
            "--rounds: expected a whole number",
        ),
        (("label.npy", "short.npy"), "LABELS and FEATURES: expected the same number of rows, got 600 and 10"),
        (("label.npy", "names.csv"), "names.csv: expected columns of numbers, got words"),
        (("label.npy", "holes.npy"), "FEATURES: "),
        (("one.npy", "features.npy"), "LABELS: expected labels of at least 2 classes, got only 1"),
        (
            ("label.npy", "features.npy", "--true-labels", "short.csv"),
            "LABELS and --true-labels: expected the same number of rows",
        ),
        (
            ("label.npy", "features.npy", "--level", "0"),
            "--level: expected a number between 0 and 1, such as 0.95, got 0",
        ),
        (("label.npy", "features.npy", "--seed", "-1"), "--seed: expected a whole number from 0"),
        (("label.npy", "features.npy", "--jobs", "0"), "--jobs: expected a number of processes"),
        (("label.npy", "features.npy", "--output", "new.csv"), "--output: add --relabel to replace the suspects"),
        (("label.npy", "features.npy", "--drop", "--relabel"), "--drop and --relabel: expected one of them"),
        (
            ("label.npy", "features.npy", "--drop", "--output", "data.csv"),
            "data.csv: exists already; --force replaces it",
        ),
        (("label.npy", "features.npy", "--suspects", "a.txt"), "--suspects: a.txt: expected a file called .csv"),
        (
            ("label.npy", "features.npy", "--suspects", "a.csv", "--drop", "--output", "a.csv"),
            "--suspects: the same file as --output; write to another one",
        ),
    ],
)
def test_what_cannot_be_cleaned(
    arguments: tuple[str, ...], message: str, demele: Program, features_folder: Path
) -> None:
    np.save("short.npy", np.zeros((10, 2)))
    np.save("one.npy", np.ones(600, dtype=int))
    np.save("percent.npy", np.load("probabilities.npy") * 100)
    pd.DataFrame({"true": [-1] + [0] * 599}).to_csv("unjudged.csv", index=False)
    pd.DataFrame({"true": [0, 1, 2]}).to_csv("short.csv", index=False)
    holes = np.load("features.npy")
    holes[4, 1] = np.nan
    np.save("holes.npy", holes)
    _refused(demele, "clean", arguments, message)


def test_confident_learning_needs_an_extra(
    demele: Program, features_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "cleanlab"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cleanlab", None)
    run = demele("noise", "clean", "label.npy", "features.npy")
    assert run.status == 2
    assert "demele[cleaning]" in run.err


# Help ------------------------------------------------------------------------------------------------------------


def test_what_agreement_rests_on_is_told_when_asked(demele: Program, crowd: pd.DataFrame) -> None:
    asked = ("noise", "estimate", "crowd.csv", "--agreement", "--format", "table")
    short, long = demele(*asked).out, demele(*asked, "--explain").out
    assert short.splitlines()[-1].endswith(": --explain")
    assert "agreement(scale=" in " ".join(long.split())
    assert "agreement(scale=" not in " ".join(short.split())
