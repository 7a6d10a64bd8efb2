"""Cells that spreadsheets would take for formulas, and names of columns with commas; the program as a module."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demele.core.errors import InputError, UnknownNameError
from demele.files.named import csv_text, escaped, read_frame, sheet_bytes, split_name
from demele.files.table_files import plain_frame, unescaped
from tests.cli.conftest import Program
from tests.refusals import refuses

SIGNS = "=+-@\t\r"


def test_what_could_be_a_formula_is_a_text() -> None:
    for text in ["=1+1", "+a", "-cat", "@SUM(A1)", "\tx", "\rx", "-1+cmd", "- 1", "-1_0"]:
        assert escaped(text) == "'" + text
        assert unescaped("'" + text) == text


@settings(max_examples=300)
@given(st.text(alphabet="'=+-@\t\ra1.", max_size=6))
def test_every_text_comes_back_and_none_is_a_formula(text: str) -> None:
    written = escaped(text)
    assert unescaped(written) == text
    if written[:1] in tuple(SIGNS):
        float(written)  # nothing but a number


def test_a_frame_as_csv() -> None:
    frame = pd.DataFrame(
        {"=a": ["=1", "b", None], "n": [-0.5, 1.0, np.nan], "k": np.array([1, None, "-x"], dtype=object)}
    )
    rows = list(csv.reader(io.StringIO(csv_text(frame))))
    assert rows == [["'=a", "n", "k"], ["'=1", "-0.5", "1"], ["b", "1.0", ""], ["", "", "'-x"]]
    assert list(frame.columns) == ["=a", "n", "k"]  # what came is not changed
    again = plain_frame(pd.read_csv(io.StringIO(csv_text(frame))))
    assert list(again.columns) == ["=a", "n", "k"]
    assert again["=a"].tolist()[:2] == ["=1", "b"]
    assert again["n"].dtype.kind == "f"
    categories = pd.DataFrame({"c": pd.Categorical(["=x", "y"])})
    assert csv_text(categories, delimiter="\t").splitlines() == ["c", "'=x", "y"]


def test_labels_written_are_read_back(demele: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    labels = np.array(["=cat", "-dog"] * 30)
    pd.DataFrame({"label": labels}).to_csv("labels.csv", index=False)
    run = demele("labels", "corrupt", "labels.csv::label", "--noise", 0.1, "-o", "noisy.csv")
    assert run.status == 0, run.err
    assert "\n=" not in Path("noisy.csv").read_text()
    assert read_frame("noisy.csv::true", print)["true"].tolist() == labels.tolist()


# Names of columns.


@pytest.mark.parametrize("names", ['"a', 'a"', '"a"b', 'a"b"c'])
def test_quotes_that_are_not_closed(names: str) -> None:
    refuses(InputError, "stands between double quotes", split_name, f"data.csv::{names}")


def test_columns_are_picked_by_quoted_names(tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    pd.DataFrame({"score,v2": [1, 2], "my z": [3, 4], "b": [5, 6]}).to_csv(file, index=False)
    assert list(read_frame(f'{file}::"score,v2",my z', print).columns) == ["score,v2", "my z"]
    refuses(UnknownNameError, r"""did you mean .*"score,v2".*\?""", read_frame, f"{file}::score,v2", print)


def test_a_workbook_offers_the_answers_and_shows_its_texts(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    text = "a text of some length to be read"
    rows: list[list[Any]] = [["key", "text", "answer"], ["k1", text, None], ["k2", "short", None]]
    for choices, offered in ((["ant", "unclear"], '"ant,unclear"'), (["a,b"], None), (["x" * 300], None)):
        (tmp_path / "sheet.xlsx").write_bytes(sheet_bytes(rows, Path("sheet.xlsx"), choices={"answer": choices}))
        sheet = openpyxl.load_workbook(tmp_path / "sheet.xlsx").active
        found = sheet.data_validations.dataValidation
        assert [(one.formula1, str(one.sqref)) for one in found] == ([(offered, "C2:C3")] if offered else [])
        assert sheet.column_dimensions["B"].width == len(text) + 2
