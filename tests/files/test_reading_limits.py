"""What a file declares is held against its size before memory is taken; what is no file is not opened."""

import gzip
import os
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
from demele.core.errors import FormatError, InputError
from demele.core.reading import LARGEST_UNPACKED, bytes_of, unpacking_at_most
from demele.core.table_columns import checked_structure
from demele.files.named import read_sparse, read_table
from demele.files.table_files import decimal_comma
from tests.cli.conftest import Program
from tests.fuzz import makers
from tests.refusals import refuses

pytestmark = pytest.mark.usefixtures("folder")


def read(text: str) -> Any:
    return read_table(text, warn=lambda _: None)


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
