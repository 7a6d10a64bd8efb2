"""``demele probe``: the numbers of Python for sparse and dense codes, in every format, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import demele as library
from tests.cli.conftest import Program, mistakes


@pytest.fixture
def dictionary(folder: Path) -> pd.DataFrame:
    """Red has two codes, blue has one; the others fire at random."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 2_000)
    first = rng.random(2_000) < 0.7
    own = [(colour == "red") & first, (colour == "red") & ~first, colour == "blue"]
    others = scipy.sparse.random(2_000, 30, 0.02, random_state=0)
    scipy.sparse.save_npz("sparse.npz", scipy.sparse.hstack([np.column_stack(own) * 1.0, others], format="csr"))
    Path("names.txt").write_text("\n".join(f"f{place}" for place in range(33)), encoding="utf-8")
    np.savez("space.npz", decoder=rng.normal(size=(33, 5)), activations=rng.normal(size=(2_000, 5)))
    factors = pd.DataFrame({"colour": colour})
    factors.to_csv("colours.csv", index=False)
    return factors


@pytest.mark.parametrize(
    ("options", "function", "arguments"),
    [
        (("--top", "1,3", "--permutations", "2"), "sparse_probing", {"top": [1, 3], "n_permutations": 2}),
        (("--ranking", "raw", "--score-on", "training"), "sparse_probing", {"ranking": "raw", "score_on": "training"}),
        (("--task", "splitting", "--jump", "0.1", "--most", "2"), "splitting", {"jump": 0.1, "most": 2}),
        (("--task", "absorption", "--screen", "8", "--rows", "900"), "absorption", {"screen": 8, "n_rows": 900}),
    ],
)
@pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
def test_numbers_are_those_of_python(
    demele: Program, dictionary: pd.DataFrame, options: tuple[str, ...], function: str, arguments: dict[str, object]
) -> None:
    run = demele.done(
        "probe", "sparse", "sparse.npz", "colours.csv", *options, "--code-names", "names.txt", "--format", "json"
    )
    names = Path("names.txt").read_text(encoding="utf-8").split()
    codes = scipy.sparse.load_npz("sparse.npz")
    found = getattr(library.probes, function)(codes, dictionary, code_names=names, **arguments)
    told = json.loads(run.out)
    assert told["value"] == found.value
    assert [row["codes"] for row in told["details"]["classes"]] == [
        list(row["codes"]) for row in found.details["classes"]
    ]


# Scores beside the metrics -------------------------------------------------------------------------------------------


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
        (("--task", "new-values"), "strong downstream scores", "strong_downstream", {}),
        (("--task", "fairness", "--permutations", "2"), "fairness", "fairness", {"n_permutations": 2}),
    ],
)
@pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
def test_predictions(
    demele: Program, folder: Path, options: tuple[str, ...], kind: str, function: str, arguments: dict[str, object]
) -> None:
    run = demele.done(*QUICK, *options, "--format", "json")
    found = getattr(library.probes, function)(
        np.load("codes.npy"), pd.read_csv("factors.csv"), probe="logistic", n_test=60, **arguments
    )
    assert json.loads(run.out) == json.loads(found.to_json())
    assert json.loads(run.out)["kind"] == kind


@mistakes("""
probe sparse sparse.npz colours.csv --jump 0.1 | --jump: is for splitting or absorption
probe sparse sparse.npz colours.csv --task splitting --permutations 3 | --permutations: is for probing
probe sparse codes.npy factors.csv --code-names names.txt | --code-names: is for sparse
score data.csv::z1 --unsupervised | at least 2 codes that vary, got 1
probe udr codes.npy codes.npy | codes.npy: given twice
probe downstream codes.npy factors.csv --permutations 3 | --permutations: is for fairness
probe downstream codes.npy factors.csv --task fairness --sizes 10 | --sizes: is for few-rows
""")
def test_mistakes_are_one_line(demele: Program, dictionary: pd.DataFrame, words: list[str], message: str) -> None:
    demele.refused(message, *words)
