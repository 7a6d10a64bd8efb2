"""``demele bench agreement`` from its arguments to what it leaves behind."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from demele import bench
from tests.cli.conftest import Program, mistakes


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """36 models in ``scores.csv``, the same against permuted factors in ``null.csv``."""
    rng = np.random.default_rng(0)
    quality = rng.normal(size=36)
    table = pd.DataFrame({"mig": quality, "sap": quality + rng.normal(size=36), "irs": rng.normal(size=36)})
    table = table.assign(d=np.repeat([2, 4, 8], 12), dead=[False] * 34 + [True] * 2)
    table.to_csv(tmp_path / "scores.csv", index=False)
    table.assign(mig=rng.normal(size=36)).to_csv(tmp_path / "null.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return table


def test_what_is_printed_is_what_the_library_finds(demele: Program, scores: pd.DataFrame) -> None:
    words = "bench agreement scores.csv --collapsed dead --within d --null null.csv --draws 200"
    run = demele.done(*words.split())
    null = pd.read_csv("null.csv")
    expected = bench.agreement(scores, collapsed="dead", within="d", null=null, draws=200)
    assert json.loads(run.out) == json.loads(expected.to_json())


@mistakes("""
scores.csv --halves null.csv | --halves: expected two tables
scores.csv --draws 5 | --draws: expected a whole number >= 100
""")
def test_mistakes_are_told_in_one_line(demele: Program, scores: pd.DataFrame, words: list[str], message: str) -> None:
    demele.refused(message, "bench", "agreement", *words)


def test_one_cell_that_is_no_number_is_told_alone(demele: Program, scores: pd.DataFrame) -> None:
    texts = scores[["mig", "sap"]].round(2).astype(str)
    texts.loc[3, "sap"] = "x"
    texts.to_csv("scores.csv", index=False)
    told = "expected real numbers in column 'sap', got 1 other value, first 'x' at row 3"
    demele.refused(told, "bench", "agreement", "scores.csv")
    texts.loc[5, "sap"] = "y"
    texts.to_csv("scores.csv", index=False)
    assert "got 2 other values, first 'x' at row 3" in demele("bench", "agreement", "scores.csv").err


def test_the_only_column_of_texts_names_the_models(demele: Program, scores: pd.DataFrame) -> None:
    named = scores[["mig", "sap"]].assign(model=[f"m{row}" for row in range(36)])
    named.to_csv("scores.csv", index=False)
    run = demele.done("bench", "agreement", "scores.csv")
    assert json.loads(run.out)["configurations"][:2] == ["m0", "m1"]
    assert run.out == demele("bench", "agreement", "scores.csv", "--configuration", "model").out
    named.assign(model=["a", "b"] * 18).to_csv("scores.csv", index=False)  # of seeds, or of something else: ask
    demele.refused("if they name the models, pass --configuration model", "bench", "agreement", "scores.csv")
