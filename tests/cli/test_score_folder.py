"""``demele score`` of folders of Parquet files, and of files that are read a piece at a time."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import demele as library
from demele.scoring import evaluate as pieces
from tests.cli.conftest import Program

pytest.importorskip("pyarrow")
METRICS = ("--metrics", "mig,modularity,irs")


@pytest.fixture
def parts(folder: Path, table: pd.DataFrame) -> Path:
    """Write the table as a folder of two files."""
    (folder / "run").mkdir()
    table[:70].to_parquet(folder / "run" / "part.0.parquet")
    table[70:].to_parquet(folder / "run" / "part.1.parquet", row_group_size=40)
    return folder / "run"


@pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
def test_a_folder_is_scored_as_one_table(demele: Program, parts: Path, table: pd.DataFrame) -> None:
    expected = library.evaluate(table[["z1", "z2", "z3"]], table[["shape", "size"]], ["mig", "modularity", "irs"])
    run = demele.done("score", "run::z1,z2,z3", "run/::shape,size", *METRICS, "--quiet")
    assert run.err == ""
    found = json.loads(run.out)
    assert [score["value"] for score in found["scores"]] == [score.value for score in expected]
    assert (found["name"], found["n"]) == ("run", len(table))


@pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
def test_large_files_are_read_a_piece_at_a_time(
    demele: Program, folder: Path, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = table[["z1", "z2", "z3"]].to_numpy()
    np.save(folder / "large.npy", codes)
    table.to_parquet(folder / "large.parquet")
    monkeypatch.setattr(pieces, "LARGEST_MAPPED", 100)
    for file in ("large.npy", "large.parquet::z1,z2,z3"):
        run = demele("score", file, "large.parquet::size", "--metrics", "jemmig,mcc_rank", "--sample", 50, "--quiet")
        scores = {score["metric"]: score for score in json.loads(run.out)["scores"]}
        assert scores["jemmig"]["value"] == library.metrics.jemmig(codes, table[["size"]]).value
        assert scores["mcc_rank"]["n"] == 50


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("run::z1,z9", "run::shape"), "holds no column called 'z9'"), (("run::z1,z2", "data.csv::size"), "")],
)
def test_mistakes(demele: Program, parts: Path, arguments: tuple[object, ...], message: str) -> None:
    (parts.parent / "empty").mkdir()
    (parts.parent / "short.csv").write_text("size\n1.5\n2.5\n")
    run = demele("score", *arguments, "--metrics", "mig", "--quiet")
    assert run.status == (2 if message else 0)
    assert message in run.err
    assert "Traceback" not in run.err
