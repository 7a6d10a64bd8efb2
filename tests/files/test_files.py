"""Files are read by what they are; what cannot be read is refused in words that help."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele.core.errors import FormatError, InputError, UnknownNameError
from demele.files.named import read_table
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact


def _values(table: Any) -> Any:
    return table.to_numpy() if isinstance(table, pd.DataFrame) else np.asarray(table)


@pytest.mark.parametrize(
    "name",
    ["codes.npy", "run.npz::codes", "only.npz", "data.csv::z1,z2,z3", "data.tsv::z1,z2,z3", "data.parquet::z1,z2,z3"],
)
def test_the_same_codes_from_every_kind_of_file(
    name: str, folder: Path, table: pd.DataFrame, warned: list[str]
) -> None:
    np.savez("only.npz", codes=table[["z1", "z2", "z3"]].to_numpy())
    table.to_csv("data.tsv", index=False, sep="\t")
    table.to_parquet("data.parquet")
    read = read_table(name, warn=warned.append)
    assert_close(_values(read), table[["z1", "z2", "z3"]].to_numpy(), ROUNDING)
    assert warned == []


def test_several_arrays_of_an_archive_are_columns(folder: Path, table: pd.DataFrame, warned: list[str]) -> None:
    read = read_table("run.npz::size,shape", warn=warned.append)
    assert isinstance(read, pd.DataFrame)
    assert list(read.columns) == ["size", "shape"]
    assert_exact(read["shape"], table["shape"])


def test_json_holds_rows_or_columns(folder: Path, table: pd.DataFrame, warned: list[str]) -> None:
    table.to_json("records.json", orient="records", double_precision=15)
    records = read_table("records.json::z2,z1", warn=warned.append)
    assert_close(_values(records), table[["z2", "z1"]].to_numpy(), ROUNDING)
    Path("columns.json").write_text('{"a": [1, 2], "b": ["x", "y"]}', encoding="utf-8")
    columns = read_table("columns.json", warn=warned.append)
    assert isinstance(columns, pd.DataFrame)
    assert list(columns["b"]) == ["x", "y"]
    Path("rows.json").write_text("[[1, 2], [3, 4], [5, 6]]", encoding="utf-8")
    assert_exact(_values(read_table("rows.json", warn=warned.append)), [[1, 2], [3, 4], [5, 6]])


def test_row_numbers_are_no_column(folder: Path, warned: list[str]) -> None:
    read = read_table("indexed.csv", warn=warned.append)
    assert isinstance(read, pd.DataFrame)
    assert list(read.columns) == ["z1", "z2", "z3", "shape", "size"]
    assert warned == [
        "indexed.csv: the first column has no name and numbers the rows; it was left out, rows are paired by position"
    ]


def test_numbers_in_the_first_line_are_data(folder: Path, warned: list[str]) -> None:
    Path("bare.csv").write_text("1.5,2\n2.5,3\n", encoding="utf-8")
    assert_exact(_values(read_table("bare.csv", warn=warned.append)), [[1.5, 2.0], [2.5, 3.0]])
    assert warned == ["bare.csv: has no line of names; columns are called by their position, from 1"]
    assert_exact(_values(read_table("bare.csv::2", warn=warned.append)), [[2], [3]])


def test_a_column_that_starts_with_zero_is_not_guessed(folder: Path, warned: list[str]) -> None:
    Path("labels.csv").write_text("0\n1\n2\n", encoding="utf-8")
    refuses(FormatError, "may be a name or a value", read_table, "labels.csv", warn=warned.append)


def test_other_delimiters_and_marks(folder: Path, warned: list[str]) -> None:
    Path("semi.csv").write_text('\ufeff"größe, cm";b\n1,5;2\n', encoding="utf-8")
    read = read_table("semi.csv", warn=warned.append)
    assert isinstance(read, pd.DataFrame)
    assert list(read.columns) == ["größe, cm", "b"]


def test_blank_lines_around_a_table_and_quoted_fields_are_no_mistake(folder: Path, warned: list[str]) -> None:
    Path("around.csv").write_text('\n\na,b\n"x, ""y""\n\nz",1\nw,\n"",3\n\n \n', encoding="utf-8")
    read = read_table("around.csv", warn=warned.append)
    assert isinstance(read, pd.DataFrame)
    assert read["a"][0].startswith('x, "y"')
    assert_exact(read["b"].isna(), [False, True, False])
    Path("one.csv").write_text('a\n1\n""\n3\n', encoding="utf-8")
    assert_exact(_values(read_table("one.csv", warn=warned.append)), [[1.0], [np.nan], [3.0]])
    Path("tabs.tsv").write_text("a\tb\n1\t2\n\t\n", encoding="utf-8")
    assert _values(read_table("tabs.tsv", warn=warned.append)).shape == (2, 2)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("junk.npy", b"hello", "it does not start as one"),
        ("cut.npy", b"\x93NUMPY\x01\x00", "damaged or cut off"),
        ("empty.npy", b"", "it does not start as one"),
        ("bad.npz", b"PK123", "damaged or cut off"),
        ("pickled.npy", pickle.dumps([1]), "Python objects, which are not loaded"),
        ("empty.csv", b"", "is empty"),
        ("blank.csv", b"\n\n", "is empty"),
        ("header.csv", b"a,b\n", "has no rows or no columns"),
        ("latin.csv", b"na\xefve\n1\n", "not text in UTF-8"),
        ("long.csv", b"a,b\n1,2\n1,2,3\n", "line 3: expected 2 fields as in the first, got 3"),
        ("short.csv", b"a;b;c\r\n1;2;3\r\n4;5\r\n6;7;8\r\n", "line 3: expected 3 fields as in the first, got 2"),
        ("index.csv", b"a,b\n0,1,2\n1,3,4\n", "line 2: expected 2 fields as in the first, got 3"),
        ("quoted.csv", b'a,b\n"x,\ny",2\n"z",2,3\n', "line 4: expected 2 fields as in the first, got 3"),
        ("comma.csv", b"a\n1,5\n", "line 2: expected 1 field as in the first, got 2"),
        ("gap.csv", b"a\n1\n \n\n2\n", "line 3: expected 1 field, got a blank line; write nan for a missing value"),
        ("gap.tsv", b"\na\tb\n1\t2\n\n3\t4\n", "line 4: expected 2 fields, got a blank line"),
        ("wrong.json", b"{", "not JSON"),
        ("word.json", b'"word"', "expected a list of rows, or columns by name, got str"),
        ("ragged.json", b"[[1, 2], [3]]", "rows of different lengths"),
        ("columns.json", b'{"a": [1], "b": [1, 2]}', "columns of different lengths"),
        ("wrong.parquet", b"nothing", "not a Parquet file"),
        ("codes.xyz", b"", "expected .npy"),
        ("codes", b"", "got no suffix"),
    ],
)
def test_what_cannot_be_read_is_named(name: str, content: bytes, message: str, folder: Path, warned: list[str]) -> None:
    Path(name).write_bytes(content)
    with pytest.raises(FormatError, match=message) as raised:
        read_table(name, warn=warned.append)
    assert str(raised.value).startswith(f"{name}: ")


def test_unknown_names_list_what_there_is(folder: Path, warned: list[str]) -> None:
    refuses(UnknownNameError, r"run\.npz: holds no array called", read_table, "run.npz::cods", warn=warned.append)
    refuses(UnknownNameError, r"no column called 'q'; it holds z1", read_table, "data.csv::z1,q", warn=warned.append)
    refuses(UnknownNameError, "one array without a name", read_table, "codes.npy::codes", warn=warned.append)
    refuses(InputError, r"run\.npz: holds arrays codes, shape, size", read_table, "run.npz", warn=warned.append)
    refuses(InputError, r"columns of equal length, got codes", read_table, "run.npz::codes,size", warn=warned.append)
    refuses(InputError, "expected a name after '::'", read_table, "data.csv::", warn=warned.append)
