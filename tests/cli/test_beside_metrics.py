"""Scores beside the metrics: the numbers of Python, in every format, and what is refused."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import demele as library
from tests.cli.conftest import Program

QUICK = ("probe", "downstream", "codes.npy", "factors.csv", "--probe", "logistic", "--test", "60", "--quiet")


@pytest.fixture
def models(folder: Path, table: pd.DataFrame) -> list[str]:
    codes = np.load(folder / "codes.npy")
    np.save(folder / "turned.npy", codes @ np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0])
    np.save(folder / "again.npy", -codes[:, [2, 0, 1]])
    np.save(folder / "stds.npy", np.full(codes.shape, 0.1))
    return ["codes.npy", "again.npy", "turned.npy"]


def test_codes_alone(demele: Program, folder: Path) -> None:
    run = demele("score", "codes.npy", "--unsupervised", "--permutations", "3", "--format", "json")
    found = library.probes.unsupervised_scores(np.load("codes.npy"), n_permutations=3)
    assert (run.status, run.err) == (0, "")
    assert json.loads(run.out) == found.to_dict()
    assert (
        "gaussian_total_correlation  " in demele("score", "data.csv::z1,z2", "--unsupervised", "--format", "table").out
    )
    table = pd.read_csv(
        io.StringIO(demele("score", "codes.npy", "--unsupervised", "--bins", "5", "--format", "csv").out),
        dtype={"value": str},
    )
    assert table.columns.tolist() == ["score", "value", "chance"]
    assert (
        float(table["value"][3]) == library.probes.unsupervised_scores(np.load("codes.npy"), bins=5).mutual_info_score
    )


def test_models_are_ranked(demele: Program, models: list[str]) -> None:
    run = demele("probe", "udr", *models, "--similarity", "spearman", "--format", "json", "--quiet")
    found = json.loads(run.out)
    assert found["model_names"] == [Path(model).stem for model in models]
    assert found["scores"][0] > found["scores"][2]
    stds = ("--codes-std", "stds.npy,stds.npy,stds.npy")
    assert "no-gate" not in demele("probe", "udr", *models, *stds, "--format", "json").out


@pytest.mark.parametrize(
    ("options", "kind", "function", "arguments"),
    [
        (("--sizes", "10,100"), "downstream scores", "downstream", {"sizes": (10, 100)}),
        (("--task", "without-best", "--remove", "1"), "reduced downstream scores", "reduced_downstream", {"remove": 1}),
        (
            ("--task", "new-values"),
            "strong downstream scores",
            "strong_downstream",
            {},
        ),
        (("--task", "fairness", "--permutations", "2"), "fairness", "fairness", {"n_permutations": 2}),
    ],
)
@pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
def test_predictions(
    demele: Program, folder: Path, options: tuple[str, ...], kind: str, function: str, arguments: dict[str, object]
) -> None:
    run = demele(*QUICK, *options, "--format", "json")
    assert run.status == 0, run.err
    found = getattr(library.probes, function)(
        np.load("codes.npy"), pd.read_csv("factors.csv"), probe="logistic", n_test=60, **arguments
    )
    assert json.loads(run.out) == json.loads(found.to_json())
    assert json.loads(run.out)["kind"] == kind
    table = pd.read_csv(io.StringIO(demele(*QUICK, *options, "--format", "csv").out))
    assert table.columns[0] == ("target" if kind == "fairness" else "factor")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("score", "data.csv::z1", "--unsupervised"), "at least 2 codes that vary, got 1"),
        (("probe", "udr", "codes.npy", "codes.npy"), "codes.npy: given twice"),
        (
            ("probe", "udr", "codes.npy", "only.npz", "--codes-std", "codes.npy"),
            "--codes-std: expected one array for each of the 2 models, got 1",
        ),
        ((*QUICK, "--sizes", "1"), "--sizes: expected a whole number >= 2, got 1"),
        (
            (*QUICK, "--task", "without-best", "--remove", "3"),
            "--remove: expected fewer than there are codes (3), got 3",
        ),
        ((*QUICK, "--permutations", "3"), "--permutations: is for fairness"),
        ((*QUICK, "--task", "fairness", "--sizes", "10"), "--sizes: is for few-rows"),
    ],
)
def test_mistakes_are_one_line(demele: Program, folder: Path, words: tuple[str, ...], message: str) -> None:
    run = demele(*words)
    assert (run.status, run.out) == (2, "")
    assert message in run.err
