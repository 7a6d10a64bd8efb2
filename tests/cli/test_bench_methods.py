"""``demele bench methods`` from its arguments to what it leaves behind."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele import bench
from demele.bench.comparisons import compared
from demele.runtime.sweep import Sweep
from tests.cli.conftest import WORDS, Program, mistakes, never

_MINE = """\
import numpy as np
from next_to_it import margin


def bolder(baseline, candidate, labels):
    print("chatter")
    return bool((candidate == labels).mean() > (baseline == labels).mean() + margin)


def asker(baseline, candidate, labels, *, known):
    rows = np.arange(40)
    truth = known.expert(rows)
    return "candidate" if (candidate[rows] == truth).sum() > (baseline[rows] == truth).sum() + 4 else "inconclusive"


def overlap(baseline, candidate, labels):
    return "inconclusive"


def lonely(labels):
    return "candidate"


def failing(baseline, candidate, labels):
    raise ValueError("too little\\nto tell")


def odd(baseline, candidate, labels):
    return "perhaps"


data = [1, 2]
"""
#: A run of classifiers that are there: small enough for a test.
GIVEN = ("bench", "methods", "data.csv::true", "--predictions", "data.csv::old,new,twin")
#: The whole experiment, as small as it gets.
TINY = ("--classifiers", 4, "--candidates", 8, "--annotators", 12, "--folds", 3)


@pytest.fixture
def own(fresh_workers: None, labels_folder: Path, judged: pd.DataFrame) -> Path:
    """A working directory with predictions, features, and files of functions."""
    (labels_folder / "mine.py").write_text(_MINE, encoding="utf-8")
    (labels_folder / "next_to_it.py").write_text("margin = 0.0\n", encoding="utf-8")
    (labels_folder / "broken.py").write_text("x = (\n", encoding="utf-8")
    (labels_folder / "there.html").write_text("precious", encoding="utf-8")
    rng = np.random.default_rng(5)
    true = judged["true"].to_numpy()[:150]
    table = pd.DataFrame({"x": true % 2 + rng.normal(0, 0.3, 150), "y": true // 2 + rng.normal(0, 0.3, 150)})
    table.assign(animal=WORDS[true]).to_csv(labels_folder / "described.csv", index=False)
    return labels_folder


def _models(judged: pd.DataFrame) -> dict[str, Any]:
    return {name: judged[name] for name in ("old", "new", "twin")}


def _as_json(found: bench.MethodComparison) -> Any:
    return json.loads(json.dumps(found.to_dict()))


# What is computed ------------------------------------------------------------------------------------------------


def test_the_numbers_of_the_library(demele: Program, own: Path, judged: pd.DataFrame) -> None:
    methods = ["overlap", "hard-rows(prudence=0.2)", "cleaned(s=0.6, e=0.1, c=0.5)", "audit(labels=100)"]
    run = demele(
        *(*GIVEN, "--noise", "0.05,0.1", "--methods", ",".join(methods), "--measures", "accuracy,recall:2"),
        *("--level", 0.9, "--seed", 3, "--title", "Mine", "--annotations", "data.csv::old,new,label"),
    )
    assert run.status == 0, run.err
    expected = bench.check_methods(
        *(_models(judged), judged["true"], [0.05, 0.1], methods),
        annotations={name: judged[name] for name in ("old", "new", "label")},
        measures=["accuracy", ("recall", 2)],
        level=0.9,
        seed=3,
        title="Mine",
    )
    assert json.loads(run.out) == _as_json(expected)


def test_the_whole_experiment_on_your_data(demele: Program, own: Path) -> None:
    run = demele.done(
        *("bench", "methods", "described.csv::animal", "--features", "described.csv", *TINY),
        *("--noise", "0.05", "--methods", "overlap,worst-case", "--measures", "accuracy,recall:dog", "--seed", 1),
    )
    assert "column animal was left out of the features: it is given as described.csv::animal" in run.err
    table = pd.read_csv("described.csv")
    expected = bench.noise_experiment(
        *(table[["x", "y"]], table["animal"]),
        noise=[0.05],
        methods=["overlap", "worst-case"],
        measures=["accuracy", ("recall", "dog")],
        n_classifiers=4,
        n_candidates=8,
        n_annotators=12,
        folds=3,
        seed=1,
    )
    assert json.loads(run.out) == _as_json(expected)


# Functions of files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_method_of_a_file(jobs: int, demele: Program, own: Path, judged: pd.DataFrame) -> None:
    names = "overlap,mine.py::bolder,mine.py::asker,mine.py::overlap"
    run = demele.done(*GIVEN, "--noise", "0.05", "--methods", names, "--jobs", jobs)
    content = json.loads(run.out)  # what the function prints is not among the results
    assert list(content["contenders"]) == ["overlap", "bolder", "asker", "overlap 2"]
    assert content["contenders"]["asker"] == ["asker", "its parameters"]
    tallies = {one["method"]: one for one in content["tallies"]}
    assert tallies["asker"]["labels_asked"] == 40
    # more right answers than the other: of two models, always the one or the other
    assert tallies["bolder"]["inconclusive"] == 50
    assert tallies["bolder"]["type_2"] == 0
    assert tallies["overlap 2"]["type_2"] == 100
    if jobs == 1:
        assert "chatter" in run.err


# Mistakes --------------------------------------------------------------------------------------------------------

MODELS = ("true.npy", "--predictions", "data.csv::old,new,twin")


@mistakes("""
true.npy --predictions none.csv | none.csv: No such file or directory
true.npy --predictions data.csv::old,nwe | holds no column called 'nwe'; did you mean 'new'?
--predictions data.csv::old,new | expected no file or LABELS --predictions FILE or
true.npy | or LABELS --features FILE or --label-set NAME, got 1 file
true.npy --label-set mmlu_redux | --label-set NAME, got 1 file
--label-set mmlu | --label-set: expected one of mmlu_redux
--label-set mmlu_redux --features f.npy | got 0 files with --features and --label-set
true.npy --features described.csv::x,y | --features and LABELS: expected the same number of rows
true.npy --features described.csv | described.csv: expected columns of numbers, got words in animal
MODELS --features described.csv::x | got 1 file with --features and --predictions
MODELS --classes 0,1 | LABELS:
MODELS --classifiers 3 | --classifiers: is for the whole experiment
MODELS --kind uniform --annotations data.csv::old,new | --annotations: only --kind feature uses them
MODELS --noise 5 | --noise: expected a share of the labels in [0, 1], got 5.0; for 5% write 0.05
MODELS --noise , | --noise: expected items separated by commas
MODELS --noise 0.9 --annotations data.csv::old,new | --noise: 0.9 of 600 instances would be 540 wrong labels
MODELS --at 0.3 | --at: expected one of the noise rates 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, got 0.3
MODELS --quick --at 0.2 | --at: expected one of the noise rates 0.05, 0.1, got 0.2
MODELS --methods , | --methods: expected names, separated by commas
MODELS --methods audit(labels=1) | --methods, audit(labels=1): labels: expected a whole number >= 2, got 1
MODELS --methods none.py::f | --methods: none.py: no such file
MODELS --methods mine.txt::f | --methods: mine.txt: expected a Python file, called .py
MODELS --methods mine.py::asker,bolder | a function of mine.py is written mine.py::bolder
MODELS --methods mine.py::boldr | mine.py has no function called 'boldr'; did you mean 'bolder'
MODELS --methods mine.py::data | mine.py::data is no function (baseline, candidate, labels)
MODELS --methods mine.py::lonely | --methods: 'lonely' cannot be called with (baseline, candidate
MODELS --methods broken.py::f | --methods: broken.py, line 1: '(' was never closed
MODELS --measures precision | in a command precision:CLASS, with CLASS one of 0
MODELS --measures precision: | --measures: expected a class after the colon
MODELS --methods mine.py::asker -o mine.py --force | mine.py: its suffix says nothing
MODELS --store there.html | --store: there.html is not a store of rows
""")
def test_a_mistake_is_one_clear_line_before_any_computing(
    words: list[str], message: str, demele: Program, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sweep, "run", never)
    monkeypatch.setattr(compared, "artificial_annotators", never)
    given = (*MODELS, *words[1:]) if words[0] == "MODELS" else words
    demele.refused(message, "bench", "methods", *given, "--quiet")
    assert (own / "there.html").read_text(encoding="utf-8") == "precious"
