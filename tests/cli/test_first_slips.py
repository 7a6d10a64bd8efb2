"""What goes wrong in a first hour is told where it is, with the remedy."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import Program

N = 60


@pytest.fixture
def files(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, N)
    factors = pd.DataFrame({"id": np.arange(N), "shape": labels, "size": rng.random(N)})
    factors.to_csv(folder / "factors.csv", index=False)
    codes = factors[["shape", "size"]].to_numpy() + 0.1 * rng.normal(size=(N, 2))
    named = pd.DataFrame(codes, columns=["z1", "z2"])
    named.assign(frame=np.arange(N) + 1).to_csv(folder / "codes.csv", index=False)
    named.assign(z1=np.where(np.arange(N) == 9, np.nan, named["z1"])).to_csv(folder / "gap.csv", index=False)
    one, two = (np.where(rng.random(N) < share, labels, (labels + 1) % 3) for share in (0.9, 0.6))
    pd.DataFrame(
        {
            "text": [f"sentence {row}" for row in range(N)],
            "label": np.where(np.arange(N) == 3, 7, labels),
            "one": one,
            "two": two,
        }
    ).to_csv(folder / "rows.csv", index=False)
    return folder


def test_columns_that_number_the_rows_are_no_codes_and_no_factors(demele: Program, files: Path) -> None:
    run = demele("score", "codes.csv", "factors.csv", "--metrics", "mig", "--format", "csv")
    assert run.status == 0, run.err
    assert "codes=2, factors=2" in run.out
    assert "codes.csv: column frame numbers the rows (1, 2, ...); it was left out" in run.err
    assert "factors.csv: column id numbers the rows (0, 1, ...)" in run.err
    asked = demele("score", "codes.csv::z1,z2,frame", "factors.csv::shape,size", "--metrics", "mig", "--format", "csv")
    assert "codes=3, factors=2" in asked.out
    assert "left out" not in asked.err


def test_rows_are_said_to_be_counted_from_0(demele: Program, files: Path) -> None:
    run = demele("score", "gap.csv", "factors.csv", "--metrics", "mig")
    assert "in column 'z1', first at row 9 (counted from 0); drop or impute them" in run.err


def test_texts_are_no_labels(demele: Program, files: Path) -> None:
    message = "rows.csv::text: each of its 60 rows holds another text, first 'sentence 0'; labels are classes"
    assert message in demele("compare", "rows.csv::one", "rows.csv::two", "rows.csv::text").err
    assert message in demele("compare", "rows.csv::one,two", "rows.csv::text").err
    assert message in demele("assess", "rows.csv::one", "rows.csv::text").err


def test_a_class_that_no_classifier_predicts_is_noted(demele: Program, files: Path) -> None:
    run = demele("compare", "rows.csv::one", "rows.csv::two", "rows.csv::label", "--format", "table")
    message = "hold 1 class that no classifier predicts, 7: 1 of 60 rows"
    assert f"labels {message}" in " ".join(run.err.split())
    assert "1 warning: --explain" in run.out
    explained = demele("compare", "rows.csv::one", "rows.csv::two", "rows.csv::label", "--format", "table", "--explain")
    assert f"Labels {message}" in " ".join(explained.out.split())
    ranked = demele("compare", "rows.csv::one,two", "rows.csv::one", "--format", "table")
    assert "no classifier predicts" not in ranked.out + ranked.err
