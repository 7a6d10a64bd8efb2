"""``demele score A B FACTORS``: several representations of the same rows, and how stable their order is."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import demele as library
from demele import Factors, compare_representations
from demele.core.errors import InputError
from tests.cli.conftest import Program, mistakes
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close

PAIR = ("old.npy", "new.npy", "factors.csv", "--metrics", "mig,irs")


@pytest.fixture
def several(folder: Path) -> Path:
    """Codes of one representation that is better than another, runs of two models, and what goes wrong."""
    rng = np.random.default_rng(0)
    factors = rng.random((300, 2))
    pd.DataFrame(factors, columns=["shape", "size"]).to_csv(folder / "factors.csv", index=False)

    def held(noise: float) -> np.ndarray:
        return np.asarray(factors + noise * rng.normal(size=(300, 2)))

    np.save(folder / "old.npy", held(0.3))
    np.save(folder / "new.npy", held(0.05))
    np.save(folder / "wide.npy", np.column_stack([held(0.05), rng.random(300)]))
    for model, noise in (("b1", 0.05), ("b4", 0.3)):
        (folder / model).mkdir()
        for seed in range(3):
            np.save(folder / model / f"run{seed}.npy", held(noise))
    return folder


def test_primary_metrics_and_noisy_factors_are_those_of_the_library(demele: Program, several: Path) -> None:
    asked = ("--bootstrap", "20", "--primary", "mig", "--factor-noise", "shape=0.01", "--format", "json")
    run = demele.done("score", *PAIR[:3], "--metrics", "mig,dcimig", *asked)
    codes = {name: np.load(f"{name}.npy") for name in ("old", "new")}
    factors = pd.read_csv("factors.csv")
    found = compare_representations(
        codes, Factors(factors, noise={"shape": 0.01}), ["mig", "dcimig"], n_bootstrap=20, primary="mig"
    )
    rows = json.loads(run.out)["differences"]
    assert [row["exploratory"] for row in rows] == [False, True]
    assert_close([row["interval"]["low"] for row in rows], list(found.to_frame()["low"]), ROUNDING)


def test_codes_of_several_columns_are_those_of_all_representations(demele: Program, several: Path) -> None:
    asked = ("--metrics", "mcc", "--code-groups", "both=0,1", "--names", "a,b")
    run = demele.done("score", "wide.npy", "new.npy", "factors.csv", *asked)
    assert [own["code_names"] for own in json.loads(run.out)["evaluations"]] == [["both", "z3"], ["both"]]


def test_groups_are_models_of_several_runs(demele: Program, several: Path) -> None:
    groups = ("--runs", "b1=b1/*.npy", "--runs", "b4=b4/*.npy")
    content = demele.json("score", *groups, "factors.csv", "--metrics", "mig", "--format", "json")
    assert content["models"]["b4"] == ["b4/run0", "b4/run1", "b4/run2"]
    (row,) = content["differences"]
    assert (row["first"], row["second"], row["better"]) == ("b1", "b4", "b1")
    assert row["interval"]["method"] == "Welch's t over runs"
    run = demele("score", "old.npy", *groups, "factors.csv", "--metrics", "mig", "--format", "table", "--explain")
    assert "a model with one run gives no variance over runs" in " ".join(run.out.split())
    paired = demele("score", *groups, "factors.csv", "--metrics", "mig", "--paired-runs", "--format", "json")
    assert "paired by seed" in json.loads(paired.out)["differences"][0]["interval"]["method"]


@mistakes("""
factors.csv | or [CODES...] FACTORS --runs NAME=FILES or CODES --unsupervised, got 1 file
--runs b1 factors.csv | --runs: expected NAME=..., such as 'beta4=
--runs b1=no*.npy factors.csv | --runs: b1: no file matches no*.npy
old.npy new.npy factors.csv --names a,a | --names: expected 2 different names
""")
def test_mistakes_are_one_line(words: list[str], message: str, demele: Program, several: Path) -> None:
    demele.refused(message, "score", *words)


def test_names_of_files() -> None:
    from demele.cli.representations import names_of

    assert names_of(["beta0.5.npy", "x/beta4.csv"]) == ["beta0.5", "beta4"]
    assert names_of(["a/run/z.npy", "b/run/z.npy"]) == ["a/run/z", "b/run/z"]
    assert names_of(["z.npy", "z.csv"]) == ["z.npy", "z.csv"]
    assert names_of(["z.npy", "y.npy"], ["old, bad", "new"]) == ["old, bad", "new"]
    refuses(InputError, "given twice", names_of, ["z.npy", "z.npy"])


# ``demele score --stability`` ----------------------------------------------------------------------------------------


BOTH = ("score", "codes.npy", "blurred.npy", "factors.csv::shape", "--stability")


@pytest.fixture
def blurred(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Beside the codes, others that hold less of the factors."""
    monkeypatch.setattr("demele.scoring.several.PRECISION", 0.01)
    codes = np.load("codes.npy")
    np.save("blurred.npy", codes + 0.5 * np.random.default_rng(1).normal(size=codes.shape))
    return folder


def test_options_are_passed_on(demele: Program, blurred: Path) -> None:
    run = demele(
        *BOTH, "--metrics", "dcimig", "--bins", "4", "--kinds", "categorical", "--names", "new,old", "-o", "b.json"
    )
    assert "demele: b.json written" in run.err
    found = json.loads(Path("b.json").read_text(encoding="utf-8"))
    direct = library.metrics.dcimig(
        np.load("blurred.npy"), Factors(pd.read_csv("factors.csv")[["shape"]], kinds="categorical"), bins=4
    )
    assert (found["ahead"], found["behind"], found["metric"]) == ("new", "old", "dcimig")
    assert found["value_behind"] == pytest.approx(direct.value)


@mistakes("""
codes.npy factors.csv | --stability: expected CODES CODES FACTORS
codes.npy blurred.npy factors.csv::shape --metrics sap | expected one of mig, mig_sup, dcimig, got 'sap'
codes.npy blurred.npy factors.csv::shape --bootstrap 5 | --bootstrap: is for one representation or several
""")
def test_mistakes_are_one_line_of_breakdown(words: list[str], message: str, demele: Program, blurred: Path) -> None:
    demele.refused(message, "score", *words, "--stability")
