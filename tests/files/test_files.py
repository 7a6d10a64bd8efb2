"""Files are read by what they are; sizes that they declare are checked first; what cannot be read is refused."""

import gzip
import os
import pickle
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from demele import bench
from demele.cli.representations import read_or_scan
from demele.core.errors import FormatError, InputError, UnknownNameError
from demele.core.reading import LARGEST_UNPACKED, bytes_of, unpacking_at_most
from demele.core.table_columns import checked_structure
from demele.files.named import read_sparse, read_table
from demele.files.table_files import decimal_comma
from tests.cli.conftest import Program
from tests.fuzz import makers
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

pytestmark = pytest.mark.usefixtures("folder")


def read(text: str) -> Any:
    return read_table(text, warn=lambda _: None)


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


def test_several_arrays_of_an_archive_are_columns(table: pd.DataFrame) -> None:
    found = read("run.npz::size,shape")
    assert list(found.columns) == ["size", "shape"]
    assert_exact(found["shape"], table["shape"])


def test_json_holds_rows_or_columns(table: pd.DataFrame) -> None:
    table.to_json("records.json", orient="records", double_precision=15)
    assert_close(_values(read("records.json::z2,z1")), table[["z2", "z1"]].to_numpy(), ROUNDING)
    Path("columns.json").write_text('{"a": [1, 2], "b": ["x", "y"]}', encoding="utf-8")
    assert list(read("columns.json")["b"]) == ["x", "y"]
    Path("rows.json").write_text("[[1, 2], [3, 4], [5, 6]]", encoding="utf-8")
    assert_exact(_values(read("rows.json")), [[1, 2], [3, 4], [5, 6]])


def test_row_numbers_are_no_column(warned: list[str]) -> None:
    found: Any = read_table("indexed.csv", warn=warned.append)
    assert list(found.columns) == ["z1", "z2", "z3", "shape", "size"]
    assert warned == [
        "indexed.csv: the first column has no name and numbers the rows; it was left out, rows are paired by position"
    ]


def test_numbers_in_the_first_line_are_data(folder: Path, warned: list[str]) -> None:
    Path("bare.csv").write_text("1.5,2\n2.5,3\n", encoding="utf-8")
    assert_exact(_values(read_table("bare.csv", warn=warned.append)), [[1.5, 2.0], [2.5, 3.0]])
    assert warned == ["bare.csv: has no line of names; columns are called by their position, from 1"]
    assert_exact(_values(read_table("bare.csv::2", warn=warned.append)), [[2], [3]])


def test_other_delimiters_and_marks() -> None:
    Path("semi.csv").write_text('\ufeff"größe, cm";b\n1,5;2\n', encoding="utf-8")
    assert list(read("semi.csv").columns) == ["größe, cm", "b"]


def test_blank_lines_around_a_table_and_quoted_fields_are_no_mistake() -> None:
    Path("around.csv").write_text('\n\na,b\n"x, ""y""\n\nz",1\nw,\n"",3\n\n \n', encoding="utf-8")
    found = read("around.csv")
    assert found["a"][0].startswith('x, "y"')
    assert_exact(found["b"].isna(), [False, True, False])
    Path("one.csv").write_text('a\n1\n""\n3\n', encoding="utf-8")
    assert_exact(_values(read("one.csv")), [[1.0], [np.nan], [3.0]])
    Path("tabs.tsv").write_text("a\tb\n1\t2\n\t\n", encoding="utf-8")
    assert _values(read("tabs.tsv")).shape == (2, 2)


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
        ("labels.csv", b"0\n1\n2\n", "0 may be a name or a value"),  # a column that starts with zero is not guessed
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
def test_what_cannot_be_read_is_named(name: str, content: bytes, message: str) -> None:
    Path(name).write_bytes(content)
    refuses(FormatError, f"^{name}: .*{message}", read, name)


def test_unknown_names_list_what_there_is() -> None:
    refuses(UnknownNameError, r"run\.npz: holds no array called", read, "run.npz::cods")
    refuses(UnknownNameError, r"no column called 'q'; it holds z1", read, "data.csv::z1,q")
    refuses(UnknownNameError, "one array without a name", read, "codes.npy::codes")
    refuses(InputError, r"run\.npz: holds arrays codes, shape, size", read, "run.npz")
    refuses(InputError, r"columns of equal length, got codes", read, "run.npz::codes,size")
    refuses(InputError, "expected a name after '::'", read, "data.csv::")


@pytest.mark.parametrize("other", ["a.npy", "a"])
def test_two_arrays_of_one_name(other: str) -> None:
    with zipfile.ZipFile("twice.npz", "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the name that is written twice
        for name in ("a.npy", other):
            archive.writestr(name, makers.array_bytes(np.arange(5.0)))
    for text in ("twice.npz", "twice.npz::a"):
        refuses(FormatError, r"twice\.npz: holds more than one array called 'a'", read, text)


def test_an_archive_that_unpacks_to_more_than_is_allowed_is_refused_before() -> None:
    with zipfile.ZipFile("bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.npy", "w") as member:
        rows = (LARGEST_UNPACKED >> 3) + (1 << 20)
        member.write(makers.npy_header(f"({rows},)"))
        for _ in range(rows // 1000):
            member.write(bytes(8000))
        member.write(bytes(8 * (rows % 1000)))
    refuses(FormatError, r"declare 520 MiB of data, more than the .* allowed; .* `max_size=\d+", read, "bomb.npz")
    with unpacking_at_most(1 << 31):
        assert read("bomb.npz").shape == (rows, 1)


@pytest.mark.parametrize("text", ["", "0", "-1", "G", "1e9", "nan", "9" * 30])
def test_what_is_no_size_is_refused(text: str) -> None:
    refuses(InputError, "expected a size", bytes_of, text)
    assert [bytes_of(size) for size in ("512", "1k", "1.5 GiB", "2TB")] == [512, 1024, 3 << 29, 2 << 40]


# Sparse matrices -------------------------------------------------------------------------------------------------


def test_positions_outside_a_sparse_matrix_are_refused_before_they_are_used() -> None:
    for position in [-1, 1000, 2**31 - 1]:
        for form in ["csr", "csc", "coo", "bsr"]:
            parts = makers.sparse_parts(form)
            name = "row" if "row" in parts else "coords" if "coords" in parts else "indices"
            parts[name] = parts[name].copy()
            parts[name].reshape(-1)[1] = position
            Path("bad.npz").write_bytes(makers.archive_bytes(parts))
            refuses((FormatError, InputError), r"bad\.npz: .*(indices|index)", read_sparse, "bad.npz")


def test_starts_that_do_not_ascend() -> None:
    matrix = scipy.sparse.csr_array(np.eye(5))
    matrix.indptr[2] = 4  # row 2 would end before it begins
    refuses(InputError, "codes: a sparse matrix .* do not ascend", checked_structure, matrix, "codes")


def test_a_small_file_of_a_hundred_billion_columns() -> None:
    parts = {**makers.sparse_parts("csr"), "shape": np.array([24, 10**11])}
    Path("wide.npz").write_bytes(makers.archive_bytes(parts))
    refuses(FormatError, r"93\.1 TiB of data", read_sparse, "wide.npz")


# Tables ----------------------------------------------------------------------------------------------------------


def test_one_long_text_for_every_row_of_a_parquet_file() -> None:
    pd.DataFrame({"v": ["x" * 10_000] * 100_000}).to_parquet("long.parquet")
    assert Path("long.parquet").stat().st_size < 100_000
    refuses(FormatError, "MiB of data, more than", read, "long.parquet")


def test_hostile_tables_are_told_apart() -> None:
    disagreeing = makers.archive_bytes({"a": makers.npy_header("(100000000000,)") + bytes(80)})
    for name, content, said in [
        ("a.csv", b"a,a\n1,2\n", "more than one column called 'a'"),
        ("a.csv", b"a,b\n1,\x002\n", "line 2 holds a null byte"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16"), "not text in UTF-8; save it as UTF-8"),
        ("a.csv", "a,\xe4\n1,2\n".encode("latin-1"), "not text in UTF-8"),
        ("a.json", b'[{"a": 1, "a": 2}]', "more than one column called 'a'"),
        ("a.json", b"[" * 100_000, "nested too deeply"),
        ("a.json", b"[" + b"9" * 5000 + b"]", "not JSON"),
        ("a.json", b'["\\ud800"]', "not JSON"),
        ("a.json", b"[[[1], 2]]", "rows of different lengths"),
        ("a.npy", makers.npy_header("(2,)", "|O") + bytes(16), "holds Python objects"),
        ("a.npy", makers.npy_header("(" * 500), "damaged or cut off"),
        ("a.npy", makers.npy_header("(100000000000,)") + bytes(80), "declares 800,000,000,000 bytes of data and holds"),
        ("a.npy", makers.npy_header("(10,)") + bytes(800), "it declares 80 bytes of data and holds 800"),
        ("a.npz", disagreeing, "declares 800,000,000,000 bytes of data and holds 80"),
        ("a.parquet", b"PAR1" + bytes(20) + b"PAR1", "not a Parquet file that can be read"),
    ]:
        Path(name).write_bytes(content)
        refuses(FormatError, said, read, name)


def test_what_is_no_file_is_not_opened(demele: Program) -> None:
    os.mkfifo("pipe.csv")
    os.mkfifo("pipe.npz")
    Path("zero.npy").symlink_to("/dev/zero")
    Path("loop.csv").symlink_to("loop.csv")
    for name, said in (
        ("pipe.csv", "expected a file, got a pipe"),
        ("pipe.npz", "expected a file, got a pipe"),
        ("zero.npy", "expected a file, got a device"),
        ("loop.csv", "loop.csv: Too many levels of symbolic links"),
        ("a\0b.csv", "null byte"),
    ):
        run = demele("score", name, "factors.csv")
        assert run.status == 2
        assert said in run.err


def test_a_saved_bench_that_grows_without_end() -> None:
    Path("bomb.json.gz").write_bytes(gzip.compress(bytes(1 << 24)) * 40)
    refuses(FormatError, "max_size=", bench.load, "bomb.json.gz")
    refuses(FormatError, "not a saved characterisation", bench.load, "bomb.json.gz", max_size=1 << 31)


# How numbers are written -----------------------------------------------------------------------------------------


def test_decimal_commas_are_read_when_it_is_said(demele: Program, table: pd.DataFrame) -> None:
    table.to_csv("comma.csv", sep=";", decimal=",", index=False)
    refused = demele("score", "comma.csv::z1,z2", "factors.csv", "--metrics", "mig")
    assert refused.status == 2
    assert "or read the file with --decimal ," in refused.err
    refused = demele("score", "codes.npy", "comma.csv::shape,size", "--metrics", "mig")
    assert "column 'size' holds numbers with a decimal comma" in refused.err
    assert "pass --kinds size=categorical" in refused.err
    options = ("--metrics", "mig", "--quiet", "--format", "csv")
    for_comma = demele("score", "comma.csv::z1,z2", "comma.csv::shape,size", "--decimal", ",", *options)
    plain = demele("score", "data.csv::z1,z2", "data.csv::shape,size", *options)
    assert for_comma.status == 0
    assert for_comma.out.replace("comma", "data") == plain.out
    # a file whose columns are split by commas has a decimal point, whatever the other has
    mixed = demele("score", "data.csv::z1,z2", "comma.csv::shape,size", "--decimal", ",", *options)
    assert mixed.status == 0
    assert mixed.out == plain.out


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["500", "1,234"], False),  # thousands
        (["1,234,567", "1,234"], False),
        (["1,234.5", "1,5"], False),
        (["1,5", "5 %"], False),
        (["1,5", "1 234"], False),
        (["500", "1,5"], True),
        (["0,500", "1,234"], True),  # no thousands begin with 0
    ],
)
def test_decimal_commas_are_advised_only_where_they_can_be_ones(
    values: list[str], said: bool, demele: Program, table: pd.DataFrame
) -> None:
    size = np.resize(values, len(table))
    pd.DataFrame({"z": range(len(size)), "size": size}).to_csv("written.csv", sep=";", index=False)
    refused = demele("score", "codes.npy", "written.csv::size", "--metrics", "mig")
    assert "write them with a decimal point" in refused.err
    assert ("--decimal ," in refused.err) == said
    refused = demele("score", "written.csv::size", "factors.csv", "--metrics", "mig")
    assert refused.status == 2
    assert ("--decimal ," in refused.err) == said


@pytest.mark.parametrize(
    ("values", "ambiguous"),
    [
        (["500", "1,234"], True),
        (["1,234", "1,234,567"], True),
        (["1,234", "5,678"], False),  # decimals of one length
        (["2", "1,234", "1,23"], False),
        (["0,123", "1"], False),
        (["500", "600"], False),
        (["", "1,234"], False),
    ],
)
def test_commas_that_could_separate_thousands_are_not_read_as_decimal(values: list[str], ambiguous: bool) -> None:
    pd.DataFrame({"z": range(len(values)), "size": values}).to_csv("written.csv", sep=";", index=False)
    with decimal_comma(True):
        if not ambiguous:
            assert read("written.csv::size").shape == (len(values), 1)
            return
        for text in ("written.csv", "written.csv::size"):
            refuses(FormatError, r"written\.csv: column 'size': the commas, such as in '1,234', may", read, text)
        assert read("written.csv::z").shape == (len(values), 1)


def test_the_option_lifts_the_limit(demele: Program) -> None:
    np.savez_compressed("zeros.npz", codes=np.zeros((200, 500)))
    size = Path("zeros.npz").stat().st_size
    run = demele("score", "zeros.npz", "factors.csv", "--max-size", str(size))
    assert run.status == 2
    assert "that are allowed; if it is meant to be so large, pass --max-size 1048576" in run.err
    assert "allowed" not in demele("score", "zeros.npz", "factors.csv", "--metrics", "mig", "--max-size", "1M").err
    assert "expected a size such as 500M or 8G" in demele("score", "a", "b", "--max-size", "much").err


def test_nested_columns_of_parquet_are_named() -> None:
    pd.DataFrame({"a": [[1, 2], [3]], "b": [1, 2]}).to_parquet("nested.parquet")
    refuses(InputError, r"column 'a': expected numbers or classes, got values of type list", read, "nested.parquet")
    assert np.asarray(read_or_scan("nested.parquet::b", warn=lambda _: None)).shape == (2, 1)
