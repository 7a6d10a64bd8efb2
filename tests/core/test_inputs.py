"""What comes in at the door: kinds of columns, names, missing annotations, and arrays of every library."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import sparse

import demele
from demele.core.columns import FEW_LEVELS, MAX_LEVELS_OF_WHOLE_FLOATS, ROWS_PER_STORED_LABEL, Factor
from demele.core.inputs import read_codes, read_factors
from tests.refusals import refuses
from tests.tolerances import assert_exact

pytestmark = [
    pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning"),
    pytest.mark.filterwarnings("ignore::demele.errors.AmbiguousKindWarning"),
]

CODES = np.random.default_rng(0).standard_normal((30, 3))


def one(column: Any, **keywords: Any) -> Factor:
    """Read a single factor."""
    return read_factors(column, **keywords).columns[0]


def levels_by_row(factor: Factor) -> list[str | None]:
    """The name of each row's level; None where the annotation is missing."""
    return [factor.levels[value] if value >= 0 else None for value in factor.values]


# Kinds -------------------------------------------------------------------------------------------------------------

CATEGORICAL: dict[str, tuple[Any, list[str]]] = {
    "strings": (np.array(["b", "a", "b"]), ["a", "b"]),
    "object strings": (np.array(["b", "a", "b"], dtype=object), ["a", "b"]),
    "bytes": (np.array([b"b", b"a", b"b"]), ["b'a'", "b'b'"]),
    "booleans": (np.array([True, False, True]), ["False", "True"]),
    "integers": (np.array([7, -1, 7]), ["-1", "7"]),
    "int8": (np.array([-128, 127, 5], dtype=np.int8), ["-128", "5", "127"]),
    "uint64 beyond int64": (np.array([2**63, 2**63 + 7, 2**63], dtype=np.uint64), [str(2**63), str(2**63 + 7)]),
    "integers far apart": (np.array([0, 10**12, -(10**12)]), [str(-(10**12)), "0", str(10**12)]),
    "whole floats": (np.array([0.0, 2.0, -1.0]), ["-1", "0", "2"]),
    "whole float32": (np.array([3.0, 2.0], dtype=np.float32), ["2", "3"]),
    "negative zero is zero": (np.array([0.0, -0.0, 1.0]), ["0", "1"]),
    "object integers": (np.array([3, 1, 2], dtype=object), ["1", "2", "3"]),
    "object booleans": (np.array([True, False], dtype=object), ["False", "True"]),
    "words and numbers": (np.array(["a", 1, 2], dtype=object), ["1", "2", "a"]),
    "a list of words": (["b", "a", "b"], ["a", "b"]),
    "a list of rows": ([["b"], ["a"]], ["a", "b"]),
    "pandas categorical": (
        pd.Series(pd.Categorical(["low", "high"], categories=["low", "unused", "high"])),
        ["low", "high"],
    ),
    "pandas strings": (pd.Series(["b", "a"], dtype="string"), ["a", "b"]),
    "pandas booleans": (pd.Series([True, False], dtype="boolean"), ["False", "True"]),
    "pandas integers": (pd.Series([3, 1], dtype="Int16"), ["1", "3"]),
    "pandas unsigned": (pd.Series([3, 1], dtype="UInt8"), ["1", "3"]),
    "pandas whole floats": (pd.Series([3.0, 1.0], dtype="Float64"), ["1", "3"]),
    "pandas sparse": (pd.Series(pd.arrays.SparseArray([0, 1, 0])), ["0", "1"]),
    "polars strings": (pl.Series("s", ["b", "a"]), ["a", "b"]),
    "polars categorical": (pl.Series("s", ["b", "a"], dtype=pl.Categorical), ["a", "b"]),
    "polars integers": (pl.Series("s", [3, 1], dtype=pl.UInt8), ["1", "3"]),
    "polars booleans": (pl.Series("s", [True, False]), ["False", "True"]),
}

CONTINUOUS: dict[str, Any] = {
    "floats": np.array([0.5, 2.0, 1.0]),
    "float16": np.array([0.5, 2.0], dtype=np.float16),
    "float32": np.array([0.5, 2.0], dtype=np.float32),
    "big-endian": np.array([0.5, 2.0], dtype=">f8"),
    "many whole floats": np.arange(MAX_LEVELS_OF_WHOLE_FLOATS + 1, dtype=float),
    "object floats": np.array([0.5, 2, 1.0], dtype=object),
    "a list": [0.5, 2.0],
    "pandas nullable": pd.Series([0.5, 2.0], dtype="Float32"),
    "pandas sparse": pd.Series(pd.arrays.SparseArray([0.0, 0.5, 0.0])),
    "polars": pl.Series("s", [0.5, 2.0]),
    "polars float32": pl.Series("s", [0.5, 2.0], dtype=pl.Float32),
}


def test_categorical_columns_are_recognised() -> None:
    for name in CATEGORICAL:
        column, levels = CATEGORICAL[name]
        factor = one(column)
        assert factor.kind == "categorical"
        assert list(factor.levels) == levels
        values = [str(value) for value in column]
        if not any(word in name for word in ("float", "zero", "rows", "bytes")):
            assert levels_by_row(factor) == values


def test_continuous_columns_are_recognised() -> None:
    for name in CONTINUOUS:
        factor = one(CONTINUOUS[name])
        assert factor.kind == "continuous"
        assert_exact(np.asarray(factor.values, float), np.asarray(CONTINUOUS[name], float))
        assert (factor.low, factor.high) == (min(CONTINUOUS[name]), max(CONTINUOUS[name]))


def test_as_many_whole_floats_as_labels_can_be_are_labels() -> None:
    column = np.repeat(np.arange(MAX_LEVELS_OF_WHOLE_FLOATS, dtype=float), ROWS_PER_STORED_LABEL)
    assert one(column).kind == "categorical"
    assert one(column[1:]).kind == "continuous"  # one row too few for so many labels
    assert one(np.arange(FEW_LEVELS, dtype=float)).kind == "categorical"
    assert one(np.arange(FEW_LEVELS + 1, dtype=float)).kind == "continuous"
    assert one(np.append(column, 0.5)).kind == "continuous"


def test_one_fraction_beyond_the_first_rows_is_seen() -> None:
    column = np.zeros(5000)
    column[4321] = 0.5
    assert one(column).kind == "continuous"


def test_kinds_can_be_given() -> None:
    table = pd.DataFrame({"age": [30, 40, 50], "dose": [0.1, 0.2, 0.1]})
    assert [column.kind for column in read_factors(table).columns] == ["categorical", "continuous"]
    given = read_factors(table, kinds={"age": "continuous"})
    assert [column.kind for column in given.columns] == ["continuous", "continuous"]
    assert (given.columns[0].low, given.columns[0].high) == (30, 50)
    given = read_factors(table, kinds=["continuous", "categorical"])
    assert [column.kind for column in given.columns] == ["continuous", "categorical"]
    assert given.columns[1].levels == ("0.1", "0.2")
    assert {column.kind for column in read_factors(table, kinds="categorical").columns} == {"categorical"}
    assert one(np.array([True, False]), kinds="continuous").high == 1


def test_many_levels_are_reported_as_ambiguous() -> None:
    numbers = np.arange(200)  # each once: a quantity; 40 values, 5 rows each: classes, but who knows
    assert [column.kind for column in read_factors(np.column_stack([numbers, numbers % 40])).columns] == [
        "continuous",
        "categorical",
    ]
    (told,) = read_factors(numbers).ambiguous
    assert "'v1'" in told
    assert "read as continuous" in told
    (told,) = read_factors(numbers % 40).ambiguous
    assert "kinds={'v1': 'continuous'}" in told
    assert read_factors(numbers // 2, kinds="categorical").ambiguous == ()
    assert "its own class" in read_factors(numbers, kinds="categorical").ambiguous[0]
    assert read_factors(numbers % 10).ambiguous == ()
    assert read_factors(np.repeat(numbers[:40], 10)).ambiguous == ()
    assert read_factors(np.repeat(numbers[:41], 10)).ambiguous != ()  # an age in years repeats, and is a quantity
    counts = np.random.default_rng(0).integers(0, 1000, 5000)
    assert [read_factors(column).columns[0].kind for column in (counts, counts.astype(float))] == ["continuous"] * 2
    assert read_factors(counts).ambiguous != ()
    assert read_factors([str(number % 100) for number in numbers]).ambiguous == ()


# Missing annotations -------------------------------------------------------------------------------------------------

MISSING: dict[str, Any] = {
    "None among words": np.array(["b", None, "a"], dtype=object),
    "NaN among words": np.array(["b", np.nan, "a"], dtype=object),
    "pandas.NA among words": pd.Series(["b", None, "a"], dtype="string"),
    "pandas categorical": pd.Series(pd.Categorical(["b", None, "a"])),
    "polars words": pl.Series("s", ["b", None, "a"]),
    "masked words": np.ma.masked_array(np.array(["b", "?", "a"]), mask=[False, True, False]),
}
MISSING_NUMBERS: dict[str, Any] = {
    "NaN": np.array([1.0, np.nan, 0.0]),
    "float32": np.array([1.0, np.nan, 0.0], dtype=np.float32),
    "None": np.array([1, None, 0], dtype=object),
    "a list with None": [1, None, 0],
    "pandas.NA": pd.Series([1, None, 0], dtype="Int64"),
    "polars": pl.Series("s", [1, None, 0]),
    "masked": np.ma.masked_array([1, 999, 0], mask=[False, True, False]),
    "masked floats": np.ma.masked_array([1.0, 999.0, 0.0], mask=[False, True, False]),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_words_are_left_out(name: str) -> None:
    factor = one(MISSING[name], missing="omit")
    assert levels_by_row(factor) == ["b", None, "a"]
    assert factor.n_annotated == 2
    assert_exact(factor.annotated(), [True, False, True])
    refuses(demele.errors.InputError, r"1 missing annotation .* first at row 1", one, MISSING[name])


def test_missing_annotations_are_refused_in_words_of_the_caller() -> None:
    codes, gaps = np.eye(8)[:, :2], np.array([[np.nan, *range(7)]]).T
    words = r"pass `demele\.Factors\(factors, missing='omit'\)` to score"
    refuses(demele.errors.InputError, words, demele.evaluate, codes, gaps, ["mig"])
    refuses(
        demele.errors.InputError,
        "or pass `missing='omit'` to score",
        demele.evaluate_sparse,
        sparse.csc_array(codes),
        gaps,
    )


def test_missing_numbers_are_left_out() -> None:
    for name in MISSING_NUMBERS:
        factor = one(MISSING_NUMBERS[name], missing="omit")
        assert factor.levels == ("0", "1")
        assert factor.values.tolist() == [1, -1, 0]
        refuses(demele.errors.InputError, r"1 missing annotation .* first at row 1", one, MISSING_NUMBERS[name])


def test_missing_continuous_values_stay_nan() -> None:
    factor = one(np.array([0.5, np.nan, 0.25]), missing="omit")
    assert (factor.low, factor.high, factor.n_annotated) == (0.25, 0.5, 2)
    assert_exact(factor.values, [0.5, np.nan, 0.25])


@pytest.mark.parametrize("library", ["numpy", "pandas", "polars", "masked"])
def test_one_missing_integer_does_not_change_the_kind(library: str) -> None:
    values = list(range(100)) * 10
    columns: dict[str, Any] = {
        "numpy": np.array([*values, None], dtype=object),
        "pandas": pd.Series([*values, None], dtype="Int64"),
        "polars": pl.Series("s", [*values, None]),
        "masked": np.ma.masked_array([*values, 0], mask=[False] * 1000 + [True]),
    }
    factor = one(columns[library], missing="omit")
    assert factor.kind == "categorical"
    assert len(factor.levels) == 100


def test_minus_one_is_a_level() -> None:
    factor = one(np.array([-1, 0, 1, -1]))
    assert factor.levels == ("-1", "0", "1")
    assert factor.complete
    assert one(np.array([-1, 0, 1], dtype=object)).complete
    assert one(pd.Series([-1, 0, 1], dtype="Int64")).levels == ("-1", "0", "1")
    assert one(np.array([-1.0, 0.5])).low == -1


# Constant, take ------------------------------------------------------------------------------------------------------


def test_constant_columns() -> None:
    assert one(np.array([3, 3])).constant
    assert one(np.array([0.5, 0.5])).constant
    assert one(np.array([0.5, np.nan, 0.5]), missing="omit").constant
    assert not one(np.array(["a", "b"])).constant
    assert_exact(read_codes(np.array([[1.0, 2.0], [1.0, 3.0]])).constant, [True, False])


# Arrays of every library ---------------------------------------------------------------------------------------------


class Tensor:
    """A tensor on a device: nothing works before detach and cpu."""

    def __init__(self, array: NDArray[Any], where: str = "cuda", dtype: str = "torch.float32") -> None:
        self._array, self._where, self.dtype = array, where, dtype

    def detach(self) -> "Tensor":
        return Tensor(self._array, self._where + ", detached", self.dtype)

    def cpu(self) -> "Tensor":
        return Tensor(self._array, self._where.replace("cuda", "cpu"), self.dtype)

    def float(self) -> "Tensor":
        return Tensor(self._array, self._where, "torch.float32")

    def numpy(self) -> NDArray[Any]:
        if self._where != "cpu, detached":
            raise RuntimeError("detach and move it first")
        if self.dtype == "torch.bfloat16":
            raise TypeError("NumPy has no bfloat16")
        return self._array

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        raise RuntimeError("must not be asked")


class Array:
    """An array of a library that only knows ``__array__``."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[np.float64]:
        return CODES


def as_matrix(array: NDArray[Any]) -> Any:
    """Return the old matrix class, without the warning that it is old."""
    matrix: Any = array.view(np.matrix)
    return matrix


LIKE_CODES: dict[str, Any] = {
    "array": CODES,
    "Fortran order": np.asfortranarray(CODES),
    "every second row of more": np.repeat(CODES, 2, axis=0)[::2],
    "big-endian": CODES.astype(">f8"),
    "read-only": CODES.view(),
    "list of lists": CODES.tolist(),
    "tuple of tuples": tuple(map(tuple, CODES.tolist())),
    "list of arrays": list(CODES),
    "objects": CODES.astype(object),
    "matrix": as_matrix(CODES),
    "masked array without a mask": np.ma.masked_array(CODES),
    "pandas": pd.DataFrame(CODES, columns=["z1", "z2", "z3"]),
    "pandas nullable": pd.DataFrame(CODES, columns=["z1", "z2", "z3"]).convert_dtypes(),
    "polars": pl.DataFrame(CODES, schema=["z1", "z2", "z3"]),
    "polars lazy": pl.LazyFrame(CODES, schema=["z1", "z2", "z3"]),
    "arrow": pl.DataFrame(CODES, schema=["z1", "z2", "z3"]).to_arrow(),
    "sparse matrix": sparse.csr_matrix(CODES),
    "sparse array": sparse.coo_array(CODES),
    "tensor": Tensor(CODES),
    "list of tensors": [Tensor(row) for row in CODES],
    "bfloat16 tensor": Tensor(CODES, dtype="torch.bfloat16"),
    "another library": Array(),
}
LIKE_CODES["read-only"].setflags(write=False)


def test_codes_of_every_library() -> None:
    for name in LIKE_CODES:
        codes = read_codes(LIKE_CODES[name])
        assert type(codes.values) is np.ndarray
        assert_exact(codes.values, CODES)
        assert codes.names == ("z1", "z2", "z3")
        assert_exact(codes.low, CODES.min(axis=0))
        assert_exact(codes.high, CODES.max(axis=0))


def test_large_sparse_codes_are_made_dense_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demele.core.table_columns.MANY_DENSE_ENTRIES", CODES.size - 1)
    factor = np.arange(len(CODES)) % 2
    with pytest.warns(demele.errors.DemeleWarning, match=r"entries is made dense .*demele\.evaluate_sparse") as caught:
        found = demele.evaluate(sparse.csr_array(CODES), factor, "mig")
    assert sum("made dense" in str(one.message) for one in caught) == 1
    assert caught[0].filename == __file__
    with pytest.warns(demele.errors.FragileScoreWarning, match="no code is seen to tell anything"):
        assert_exact(found["mig"].value, demele.evaluate(CODES, factor, "mig")["mig"].value)
    monkeypatch.setattr("demele.core.table_columns.MANY_DENSE_ENTRIES", CODES.size)
    read_codes(sparse.csr_array(CODES))  # no warning: they are errors here


def test_sparse_codes_that_would_fill_the_memory_are_refused() -> None:
    held = (np.ones(8), (np.arange(8), np.arange(8)))
    wide: Any = sparse.csr_array(held, shape=(8, 9_000_000))  # 576 MB as a dense array
    told = (
        r"a sparse matrix of 72,000,000 entries takes 549 MiB as a dense array, more than 512 MiB; "
        r"score it with demele\.evaluate_sparse, or pass codes\.toarray\(\)"
    )
    refuses(demele.errors.InputError, told, demele.evaluate, wide, np.arange(8) % 2, "mig")
    refuses(demele.errors.InputError, "takes 549 MiB as a dense", demele.metrics.mig, wide.tolil(), np.arange(8) % 2)


def test_memory_mapped_input(tmp_path: Path) -> None:
    factors = np.random.default_rng(1).random((30, 2))
    mapped = []
    for name, array in (("codes", CODES), ("factors", factors)):
        np.save(tmp_path / f"{name}.npy", array)
        mapped.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    assert_exact(demele.metrics.irs(*mapped, bins=2).value, demele.metrics.irs(CODES, factors, bins=2).value)


def test_input_is_not_changed() -> None:
    codes, factors = CODES.copy(), np.random.default_rng(1).random((30, 2))
    before = factors.copy()
    demele.evaluate(codes, factors, ["mig", "irs", "sap", "explicitness"], bins=2, n_bootstrap=2, n_permutations=2)
    assert_exact(codes, CODES)
    assert_exact(factors, before)
