"""``demele labels aggregate`` estimates as the library does, and what it writes is read back."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele import labels
from demele.core.proportions import exact_interval, score_interval
from demele.data import load_example
from tests.cli.conftest import Program, mistakes
from tests.tolerances import ROUNDING, assert_close, assert_exact


def _json(demele: Program, *arguments: object) -> Any:
    return demele.json("labels", *arguments, "--format", "json")


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
    long.rename(columns={"task": "q", "worker": "who", "label": "what"}).to_csv(tmp_path / "odd.csv", index=False)
    long.assign(item=long["task"]).to_csv(tmp_path / "twice.csv", index=False)
    wide = long.pivot(index="task", columns="worker", values="label")
    wide.to_csv(tmp_path / "wide.csv", index=False)
    names = [f"i{item:03}" for item in range(120)]
    gold = pd.DataFrame({"item": names, "label": np.array(["no", "yes"])[true]})
    gold.to_csv(tmp_path / "gold.csv", index=False)
    gold.head(50).to_csv(tmp_path / "some.csv", index=False)
    gold.assign(label="maybe").to_csv(tmp_path / "maybe.csv", index=False)
    pd.concat([gold, gold.head(1)]).to_csv(tmp_path / "again.csv", index=False)
    gold[["label"]].to_csv(tmp_path / "column.csv", index=False)
    features = pd.DataFrame({"item": names, "one": 20 * true + 1, "two": 20 * (1 - true) + 1})
    features.to_csv(tmp_path / "counts.csv", index=False)
    features.head(100).to_csv(tmp_path / "lacking.csv", index=False)
    features.drop(columns="item").to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return long


def test_names_of_columns(demele: Program, crowd: pd.DataFrame) -> None:
    expected = _json(demele, "aggregate", "crowd.csv")
    assert _json(demele, "aggregate", "odd.csv", "--item", "q", "--annotator", "who", "--answer", "what") == expected
    assert _json(demele, "aggregate", "twice.csv", "--item", "task") == expected


def test_a_column_per_annotator(demele: Program, crowd: pd.DataFrame) -> None:
    long, wide = _json(demele, "aggregate", "crowd.csv"), _json(demele, "aggregate", "wide.csv", "--wide")
    for name in ("label", "confidence", "answers"):  # items are sorted in both
        assert [row[name] for row in wide["items"]] == [row[name] for row in long["items"]]
    table = pd.read_csv("wide.csv").map({"no": 0, "yes": 1}.get).fillna(-1).astype(int)
    np.save("wide.npy", table.to_numpy())
    numbers = _json(demele, "aggregate", "wide.npy", "--wide", "--no-answer", -1)
    assert [("no", "yes")[row["label"]] for row in numbers["items"]] == [row["label"] for row in long["items"]]
    assert numbers["annotators"][0]["annotator"] == "annotator 1"
    table.assign(Task=sorted(set(crowd["task"]))).to_csv("named.csv", index=False)
    named = _json(demele, "aggregate", "named.csv", "--wide", "--no-answer", -1)
    assert [row["item"] for row in named["items"]] == [row["item"] for row in long["items"]]
    assert [row["label"] for row in named["items"]] == [row["label"] for row in numbers["items"]]
    assert len(named["annotators"]) == 9
    table.assign(g=1).to_csv("more.csv", index=False)
    run = demele("labels", "aggregate", "more.csv", "--wide", "--no-answer", "-1", "--given", "more.csv::g")
    assert "column g was left out of the annotators: it is the labels of given" in run.err
    assert len(json.loads(run.out)["annotators"]) == 9


@pytest.mark.parametrize("ids", ["numbers", "texts"])
def test_a_column_of_names_among_columns_of_annotators(demele: Program, crowd: pd.DataFrame, ids: str) -> None:
    table = pd.read_csv("wide.csv")
    table["doc"] = [f"q{row:03}" if ids == "texts" else 7 * row + 1000 for row in range(len(table))]
    table.to_csv("doc.csv", index=False)
    run = demele("labels", "aggregate", "doc.csv", "--wide")
    assert "column doc holds the names of the items" in run.err
    found = json.loads(run.out)
    expected = _json(demele, "aggregate", "wide.csv", "--wide")
    assert found["annotators"] == expected["annotators"]
    assert [row["item"] for row in found["items"]] == table["doc"].tolist()
    assert [row["label"] for row in found["items"]] == [row["label"] for row in expected["items"]]
    asked = demele("labels", "aggregate", "doc.csv", "--wide", "--item", "doc")
    assert (asked.out, asked.err) == (run.out, "")


def test_every_method(demele: Program, crowd: pd.DataFrame) -> None:
    majority = _json(demele, "aggregate", "crowd.csv", "--method", "majority")
    assert [row["label"] for row in majority["items"]] == labels.majority_vote(crowd).labels.tolist()
    for method in ("blend", "one-coin", "own-prior", "dawid-skene"):
        found = labels.consensus(crowd, method=method)
        content = _json(demele, "aggregate", "crowd.csv", "--method", method)
        assert content["method"] == found.method
        assert [row["label"] for row in content["items"]] == found.labels.tolist()
        assert_close([row["confidence"] for row in content["items"]], found.confidence, ROUNDING)
    strong = _json(demele, "aggregate", "crowd.csv", "--method", "own-prior", "--strength", 50)
    expected = labels.dawid_skene(crowd, prior="own", strength=50)
    assert strong["log_likelihood"] == expected.log_likelihood
    smooth = _json(demele, "aggregate", "crowd.csv", "--method", "dawid-skene", "--smoothing", 0.5)
    assert smooth["log_likelihood"] == labels.dawid_skene(crowd, smoothing=0.5).log_likelihood
    options: dict[str, Any] = {"n_samples": 60, "n_warmup": 20, "n_chains": 2, "level": 0.9, "seed": 7}
    asked = ("--samples", 60, "--warmup", 20, "--chains", 2, "--level", 0.9, "--seed", 7)
    bayesian = _json(demele, "aggregate", "crowd.csv", "--method", "bayesian", *asked)
    drawn = labels.bayesian_consensus(crowd, **options)
    assert_close([row["confidence"] for row in bayesian["items"]], drawn.confidence, ROUNDING)
    assert bayesian["intervals"]["proportions"][0]["level"] == 0.9


def test_features_label_what_nobody_answered(demele: Program, crowd: pd.DataFrame) -> None:
    crowd[crowd["task"] > "i019"].to_csv("late.csv", index=False)
    asked = ("--method", "bayesian", "--samples", 40, "--warmup", 20, "--chains", 1)
    content = _json(demele, "aggregate", "late.csv", *asked, "--features", "counts.csv", "--gold", "gold.csv")
    items = {row["item"]: row for row in content["items"]}
    assert len(items) == 120
    assert items["i003"]["answers"] == 0
    assert content["gold"]["consensus"]["accuracy"] == 1.0
    assert content["gold"]["n"] == 120
    rows = _json(demele, "aggregate", "crowd.csv", *asked, "--features", "rows.csv", "--feature-model", "normal")
    assert rows["method"] == "generative model with normal features"


def test_what_is_held_against_gold(demele: Program, crowd: pd.DataFrame) -> None:
    found = labels.consensus(crowd)
    truth = pd.read_csv("gold.csv")["label"].to_numpy()
    for file in ("gold.csv", "gold.csv::item,label", "column.csv"):
        content = _json(demele, "aggregate", "crowd.csv", "--gold", file)["gold"]
        for name, said in (("consensus", found.labels), ("majority", found.majority)):
            right = int((said == truth).sum())
            low, high = score_interval(right, 120)
            assert (content[name]["right"], content[name]["accuracy"]) == (right, right / 120)
            interval = content[name]["interval"]
            assert (interval["low"], interval["high"], interval["level"]) == (float(low), float(high), 0.95)
    content = _json(demele, "aggregate", "crowd.csv", "--gold", "some.csv", "--level", 0.8)["gold"]
    assert (content["n"], content["consensus"]["interval"]["level"]) == (50, 0.8)
    assert content["consensus"]["right"] == int((found.labels[:50] == truth[:50]).sum())


def test_noise_of_given_labels(demele: Program, crowd: pd.DataFrame) -> None:
    found = labels.consensus(crowd)
    given = pd.read_csv("gold.csv")["label"].to_numpy()
    run = demele("labels", "aggregate", "crowd.csv", "--given", "gold.csv", "-o", "crowd.noise.csv")
    assert run.err.splitlines()[-1] == "demele: crowd.noise.csv written"
    content = json.loads(run.out)["given"]
    assert content["wrong_share"] == found.wrong_share(given)
    assert_close(content["transition"]["probabilities"], found.noise(given).probabilities, ROUNDING)
    assert content["unlike_majority"] == float((given != found.majority).mean())
    again = demele.json("labels", "corrupt", "gold.csv::label", "--noise", "crowd.noise.csv")
    shares = [(given == name).mean() for name in ("no", "yes")]
    assert_close(again["wanted"], found.noise(given).rate(shares), ROUNDING)
    assert again["counts"]["classes"] == ["no", "yes"]


def test_the_demonstration(demele: Program, tmp_path: Path) -> None:
    content = demele.json("demo", "labels")
    crowd = load_example("mozafari_1000")
    found = labels.majority_vote(crowd.to_frame())
    right = sum(crowd.gold[int(item)] == label for item, label in zip(found.items, found.labels, strict=True))
    assert content["gold"]["majority"]["right"] == right
    assert content["gold"]["n"] == 1000


def test_counts_of_a_sample(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    asked = ("aggregate", "--true-labels", "data.csv::true", "--given", "data.csv::label", "--level", 0.9)
    content = _json(demele, *asked, "-o", "noise.csv")
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
    arrays = _json(demele, "aggregate", "--true-labels", "data.npz::true", "--given", "data.npz::label", "--level", 0.9)
    assert arrays == content
    out = demele("labels", *asked, "--format", "csv").out
    assert_exact(pd.read_csv(io.StringIO(out)).iloc[:, 1:], counts.counts)
    out = demele("labels", *asked, "--format", "table", "--classes", "0,1,2,3,4", "--explain").out
    assert out.startswith(f"{counts.wrong} of 600 labels are wrong: {counts.rate:.1%}, 90% interval [")
    assert "1 classes have no true instance in the sample" in " ".join(out.split())


def test_an_audit_is_counted_if_it_was_uniform(demele: Program, labels_folder: Path) -> None:
    extra = ("--disagreement", "data.csv::old,new,twin")
    for design, given in (("uniform", ()), ("weighted", extra)):
        demele("audit", "draw", "data.csv::label", "--size", 40, *given, "-o", f"{design}.csv", "--quiet")
        frame = pd.read_csv(f"{design}.csv")
        frame["true_label"] = frame["given_label"]
        frame.to_csv(f"{design}.csv", index=False)
        asked = ("--true-labels", f"{design}.csv::true_label", "--given", f"{design}.csv::given_label")
        run = demele("labels", "aggregate", *asked)
        assert run.status == (0 if design == "uniform" else 2)
    assert "the rows of weighted.csv were drawn weighted, not uniformly" in run.err


@mistakes("""
--true-labels gold.csv::label | --true-labels FILE --given FILE, got 0 files with --true-labels
 | expected ANSWERS [--given FILE] or --true-labels FILE --given FILE, got 0 files
--true-labels maybe.csv::label --given maybe.csv::label | got only 'maybe'; give all classes with --classes A,B
twice.csv | several columns that may be the items (task, item)
odd.csv --item task | --item: odd.csv has no column called 'task'; it has q, who, what
odd.csv --item q --annotator q --answer what | expected three different columns, got q, q
array.npy | expected columns item, annotator and answer
wide.csv --wide --item a99 | --item: wide.csv has no column called 'a99'; it has a0, a1
wide.csv --wide --answer a1 | --answer: names a column of a long table
crowd.csv --no-answer -1 | --no-answer: is for --wide
again.csv --wide | again.csv: column of items: expected another name for each of 121 items
array.npy --wide --no-answer x | --no-answer: the answers are numbers, so expected a number, got 'x'
crowd.csv --scale ordinal | --scale: is for --agreement, which is not asked for
crowd.csv --samples 5 | --samples: is for --method bayesian, not blend
crowd.csv --method bayesian --feature-model normal | --feature-model: says what --features are
crowd.csv --method bayesian --features lacking.csv | has no features of 20 items
numbered.csv --gold column.csv | sorted as text, i0, i1, i10, ...; pick the column of items too
crowd.csv --gold again.csv | again.csv: expected each item once, got 'i000' more than once
crowd.csv --gold counts.csv | counts.csv: expected a column of items and one of labels, got item, one
crowd.csv -o t.noise.csv | t.noise.csv: needs --given
""")
def test_what_cannot_be_estimated(words: list[str], message: str, demele: Program, crowd: pd.DataFrame) -> None:
    np.save("array.npy", np.zeros((5, 2), dtype=int))
    numbered = crowd["task"].str.replace(r"i0*(?=\d)", "i", regex=True)
    crowd.assign(task=numbered).to_csv("numbered.csv", index=False)
    demele.refused(message, "labels", "aggregate", *words)
