"""Standard input in place of files; and the program as a module."""

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from tests.cli.conftest import Program

ASKED = ("--metrics", "mig_sup", "--format", "json")


@pytest.fixture
def sent(folder: Path, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The table on standard input as CSV, and in a file."""
    table.to_csv(folder / "table.csv", index=False)
    stream = io.BytesIO((folder / "table.csv").read_bytes())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream))
    return folder


def _values(text: str) -> tuple[float, list[float]]:
    (score,) = json.loads(text)["scores"]
    return score["value"], score["per_factor"] or score["per_code"]


def test_columns_of_standard_input_are_those_of_the_file(demele: Program, sent: Path) -> None:
    found = demele("score", "-::z1,z2", "-::shape", "--input-format", "csv", *ASKED)
    assert found.status == 0, found.err
    expected = demele("score", "table.csv::z1,z2", "table.csv::shape", *ASKED)
    assert _values(found.out) == _values(expected.out)
    assert json.loads(found.out)["name"] == "stdin"


def test_one_file_may_be_standard_input(demele: Program, sent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(Path("codes.npy").read_bytes())))
    found = demele("score", "-", "table.csv::shape", "--input-format", "npy", *ASKED)
    assert found.status == 0, found.err
    expected = demele("score", "codes.npy", "table.csv::shape", *ASKED)
    assert _values(found.out) == _values(expected.out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-", "table.csv::shape"), "say what standard input is, with --input-format csv|"),
        (("table.csv::z1", "table.csv::shape", "--input-format", "csv"), "give - instead of a file"),
        (("-", "table.csv::shape", "--input-format", "xlsx"), "--input-format: expected one of csv"),
        (("-", "table.csv::shape", "--input-format", "npy"), "not a NumPy file"),
        (("-::z9", "table.csv::shape", "--input-format", "csv"), "stdin.csv: holds no column called 'z9'"),
    ],
)
def test_standard_input_that_cannot_be_read(arguments: tuple[str, ...], said: str, demele: Program, sent: Path) -> None:
    run = demele("score", *arguments)
    assert run.status == 2
    assert said in run.err
    assert run.err.count("\n") == 1
