"""The door: arrays, frames and tensors come in, frozen validated columns go out. Below it, everything is trusted."""

import importlib
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import DemeleWarning, InputError, InputTypeError, NotEnoughData, quoted, shortened, warn_user
from demele.core.sentences import give, setting
from demele.core.sparse_structure import checked_structure
from demele.core.written_numbers import number_hint, refuse_names_of_rows, refuse_written_numbers

Kind = Literal["continuous", "categorical"]
Missing = Literal["raise", "omit"]

#: Whole numbers with at most so many distinct values are classes, whatever their type.
FEW_LEVELS = 10
#: More distinct whole floats are classes only up to this many, and with at least so many rows each: stored labels.
MAX_LEVELS_OF_WHOLE_FLOATS = 256
ROWS_PER_STORED_LABEL = 10
#: Whole numbers with more distinct values are asked about however often they repeat: ages, years, counts.
MANY_LEVELS = 40
#: Integers are classes, unless most of them occur once: then they count or measure something.
ROWS_PER_INTEGER_LABEL = 2
#: Rows validated at a time, so that memory-mapped input is never copied whole.
CHUNK = 1 << 18
#: Sparse codes are made dense up to this many entries.
MAX_DENSE_ENTRIES = 500_000_000
#: Sparse codes of more entries than this are made dense with a warning.
MANY_DENSE_ENTRIES = 20_000_000


@dataclass(frozen=True, slots=True)
class Codes:
    """Validated codes: finite real numbers of shape (n_samples, n_codes), with names and extremes."""

    values: NDArray[Any]
    names: tuple[str, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def d(self) -> int:
        """Number of codes."""
        return int(self.values.shape[1])

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Which codes take one value only."""
        flat: NDArray[np.bool_] = self.low == self.high
        return flat

    def dense(self) -> NDArray[np.float64]:
        """All rows as float64, contiguous."""
        return np.ascontiguousarray(self.values, dtype=np.float64)

    def take(self, rows: NDArray[np.intp]) -> "Codes":
        """Return some rows, in the given order."""
        values = np.asarray(self.values[rows])
        return Codes(values, self.names, values.min(axis=0).astype(float), values.max(axis=0).astype(float))


@dataclass(frozen=True, slots=True)
class Factor:
    """One validated factor.

    Continuous: ``values`` are floats with NaN where the annotation is missing.
    Categorical: ``values`` are indices into ``levels``, -1 where the annotation is missing.
    """

    name: str
    kind: Kind
    values: NDArray[Any]
    levels: tuple[str, ...]
    low: float
    high: float
    n_annotated: int

    @property
    def categorical(self) -> bool:
        """Whether the values are classes."""
        return self.kind == "categorical"

    @property
    def complete(self) -> bool:
        """Whether every row is annotated."""
        return self.n_annotated == len(self.values)

    @property
    def constant(self) -> bool:
        """Whether the annotated rows hold one value only."""
        if self.categorical:
            return len(self.levels) <= 1
        return self.low == self.high

    def annotated(self) -> NDArray[np.bool_]:
        """Which rows are annotated."""
        if self.complete:
            return np.ones(len(self.values), dtype=bool)
        known: NDArray[np.bool_] = self.values >= 0 if self.categorical else ~np.isnan(self.values)
        return known

    def take(self, rows: NDArray[np.intp]) -> "Factor":
        """Return some rows, in the given order; levels that no longer occur are dropped."""
        values = np.asarray(self.values[rows])
        if self.categorical:
            used = np.bincount(values[values >= 0], minlength=len(self.levels)) > 0
            index = np.append(np.cumsum(used) - 1, -1)
            levels = tuple(level for level, keep in zip(self.levels, used, strict=True) if keep)
            return Factor(self.name, self.kind, index[values], levels, 0.0, len(levels) - 1.0, int((values >= 0).sum()))
        known = values[~np.isnan(values)]
        low, high = (float(known.min()), float(known.max())) if known.size else (np.nan, np.nan)
        return Factor(self.name, self.kind, values, (), low, high, int(known.size))


@dataclass(frozen=True, slots=True)
class Factors:
    """Validated factors, column by column."""

    columns: tuple[Factor, ...]
    missing: Missing = "raise"
    ambiguous: tuple[str, ...] = field(default=())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the factors."""
        return tuple(column.name for column in self.columns)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.columns[0].values)

    @property
    def m(self) -> int:
        """Number of factors."""
        return len(self.columns)

    @property
    def complete(self) -> bool:
        """Whether every factor is annotated on every row."""
        return all(column.complete for column in self.columns)

    def take(self, rows: NDArray[np.intp]) -> "Factors":
        """Return some rows, in the given order."""
        return Factors(tuple(column.take(rows) for column in self.columns), self.missing, self.ambiguous)


def read_pair(
    codes: object,
    factors: object,
    *,
    kinds: object = None,
    missing: Missing = "raise",
) -> tuple[Codes, Factors]:
    """Validate codes and factors together.

    Raises
    ------
    InputError
        Naming the argument, the column, how many values are wrong and the first row.
    """
    checked_codes = read_codes(codes)
    checked_factors = read_factors(factors, kinds=kinds, missing=missing)
    if checked_codes.n != checked_factors.n:
        turned = checked_codes.d == checked_factors.n or checked_factors.m == checked_codes.n
        raise InputError(
            ("codes", "factors"),
            f"expected the same number of rows, got {checked_codes.n} rows of codes and "
            f"{checked_factors.n} rows of factors; "
            + ("is one of them transposed?" if turned else "row r of both must describe the same sample"),
        )
    check_same_order(codes, factors, ("codes", "factors"))
    check_pair(checked_codes, checked_factors)
    return checked_codes, checked_factors


def check_pair(codes: Codes, factors: Factors) -> None:
    """Refuse a single row, and factors of which none varies."""
    if codes.n < 2:
        raise NotEnoughData("codes", "expected at least 2 rows, got 1; one sample says nothing about a representation")
    if all(column.constant for column in factors.columns):
        names = ", ".join(repr(name) for name in factors.names)
        raise NotEnoughData(
            "factors",
            f"every factor is constant ({names}); nothing varies that codes could represent: "
            "give at least one factor with two values",
        )


def check_same_order(first: object, second: object, names: tuple[str, str]) -> None:
    """Refuse pandas objects whose indexes hold the same labels in another order: rows are paired by position."""
    a, b = (
        getattr(data, "index", None) if type(data).__module__.startswith("pandas") else None for data in (first, second)
    )
    if a is None or b is None or a.equals(b) or not a.is_unique or not b.is_unique:
        return
    if len(a.difference(b)) == 0:
        raise InputError(
            f"{names[0]} and {names[1]}: their indexes hold the same labels in another order, and rows are paired by "
            f"position; align them with {names[1]}.loc[{names[0]}.index], or drop the indexes with "
            "reset_index(drop=True)"
        )


def read_codes(codes: object, argument: str = "codes") -> Codes:
    """Validate codes: a two-dimensional table of finite real numbers.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes)
        NumPy array (any real dtype, memory-mapped too), list of lists, pandas or polars frame, PyTorch tensor,
        SciPy sparse matrix.
    argument : str
        What messages call it.
    """
    columns, names = split_columns(codes, argument, default="z")
    if not names:
        raise NotEnoughData(argument, "expected at least 1 column, got none")
    if (len(columns) if isinstance(columns, np.ndarray) else len(columns[0])) == 0:
        raise NotEnoughData(argument, "expected at least 2 rows, got none")
    if isinstance(columns, np.ndarray):
        values = _real_matrix(columns, names, argument)
    else:
        values = np.column_stack(
            [real_column(column, name, argument) for column, name in zip(columns, names, strict=True)]
        )
    low, high = _extremes(values)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        _raise_non_finite(values, names, argument)
    wide = _too_wide(low, high)
    if wide.any():
        name = names[int(np.flatnonzero(wide)[0])]
        raise InputError(argument, f"the range of column {quoted(name)} exceeds the largest float; rescale it")
    return Codes(values, names, low, high)


def read_factors(factors: object, *, kinds: object = None, missing: Missing = "raise") -> Factors:
    """Validate factors: columns that are each continuous or categorical, detected or given.

    Parameters
    ----------
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Strings, booleans and pandas categoricals are categorical; so are whole numbers with at most 10 different
        values, and more of them (up to 256) that repeat: integers twice, whole floats 10 times on average. Other
        numbers are continuous. Where it is not clear, ``Factors.ambiguous`` says how a column was read. Refused are
        numbers written as text, with a decimal comma for example, and more than 10 different texts that occur less
        than twice on average: names of rows. ``kinds`` makes classes of both.
    kinds : None, str, mapping of name to str, or sequence of str
        ``"continuous"`` or ``"categorical"``, overriding what is detected.
    missing : {"raise", "omit"}
        What to do with missing annotations (NaN, None).
    """
    if missing not in ("raise", "omit"):
        raise InputError("missing", f"expected 'raise' or 'omit', got {quoted(missing)}")
    columns, names = split_columns(factors, "factors", default="v")
    n_columns = columns.shape[1] if isinstance(columns, np.ndarray) else len(columns)
    if n_columns == 0:
        raise NotEnoughData("factors", "expected at least 1 column, got none")
    n_rows = columns.shape[0] if isinstance(columns, np.ndarray) else len(columns[0])
    if n_rows == 0:
        raise NotEnoughData("factors", "expected at least 2 rows, got none")
    given = given_kinds(kinds, names)
    if isinstance(columns, np.ndarray):
        columns = [columns[:, index] for index in range(n_columns)]
    read = tuple(read_factor(column, name, given.get(name)) for column, name in zip(columns, names, strict=True))
    for factor, column in zip(read, columns, strict=True):
        if factor.name not in given and is_text(column):
            refuse_names_of_rows(len(factor.levels), factor.n_annotated, factor.name, next(iter(factor.levels), None))
        if factor.n_annotated == 0:
            raise NotEnoughData("factors", f"column {quoted(factor.name)} has no annotated row at all; leave it out")
        if _too_wide(factor.low, factor.high).any():
            raise InputError(
                "factors", f"the range of column {quoted(factor.name)} exceeds the largest float; rescale it"
            )
    if missing == "raise" and not all(factor.complete for factor in read):
        _raise_missing(read)
    ambiguous = tuple(
        message
        for factor, column in zip(read, columns, strict=True)
        if factor.name not in given and (message := _ambiguity(factor, column)) is not None
    )
    return Factors(read, missing, ambiguous)


# What the array-likes are -----------------------------------------------------------------------------------------


def split_columns(data: object, argument: str, default: str) -> tuple[NDArray[Any] | list[Any], tuple[str, ...]]:
    """Return a 2-D array, or a list of columns of their own types, and the names."""
    if data is None:
        raise InputTypeError(argument, "expected a table (n_samples, n_columns), got None")
    if isinstance(data, str | bytes):
        raise InputTypeError(argument, "expected a table of numbers, got a string; load the file first")
    data = _from_tensor(_from_sparse(data, argument), argument)
    frame = _from_frame(data, argument)
    if frame is not None:
        return frame
    if isinstance(data, np.ma.MaskedArray):
        if np.issubdtype(data.dtype, np.floating):
            data = np.where(np.ma.getmaskarray(data), np.nan, np.ma.getdata(data))
        elif np.ma.getmaskarray(data).any():  # integers and strings stay what they are, so that they stay classes
            filled = np.ma.getdata(data).astype(object)
            filled[np.ma.getmaskarray(data)] = None
            data = filled
    array = np.asarray(data) if isinstance(data, np.ndarray) else _from_list(data, argument)
    if array.ndim == 1 and argument == "factors":
        array = array[:, None]
    if array.ndim != 2:
        hint = "; reshape one column with .reshape(-1, 1)" if array.ndim == 1 else ""
        raise InputError(
            argument, f"expected 2 dimensions (n_samples, n_columns), got shape {tuple(array.shape)}{hint}"
        )
    if array.dtype.names is not None:
        raise InputTypeError(argument, "structured arrays are not read; pass a data frame instead")
    return array, tuple(f"{default}{index + 1}" for index in range(array.shape[1]))


def as_column(data: object, argument: str) -> NDArray[Any]:
    """Return one column of anything as an array: of numbers, strings or objects (None where a value is missing)."""
    if data is None or isinstance(data, str | bytes | Mapping):
        raise InputTypeError(argument, f"expected one class per instance, got {type(data).__name__}")
    data = _from_tensor(data, argument)
    frame = _from_frame(data, argument)
    if frame is not None:
        columns, names = frame
        if len(columns) != 1:
            raise InputError(argument, f"expected one column, got {len(columns)}: {', '.join(map(quoted, names[:6]))}")
        column = columns[0]
        return series_to_numpy(column, keep_kind=True) if hasattr(column, "to_numpy") else np.asarray(column)
    if isinstance(data, np.ma.MaskedArray) and np.ma.getmaskarray(data).any():
        filled = np.ma.getdata(data).astype(object)
        filled[np.ma.getmaskarray(data)] = None
        return filled
    if isinstance(data, list | tuple) and any(value is None or isinstance(value, str) for value in data):
        objects = np.empty(len(data), dtype=object)  # as an array of strings, None and numbers would be text
        objects[:] = data
        return objects
    if not isinstance(data, np.ndarray | list | tuple) and not hasattr(data, "__array__"):
        raise InputTypeError(
            argument, f"expected one class per instance, as an array, list or series, got {type(data).__name__}"
        )
    return np.asarray(data) if isinstance(data, np.ndarray) else _from_list(data, argument)


def _from_sparse(data: object, argument: str) -> object:
    sparse = sys.modules.get("scipy.sparse")
    if sparse is None or not sparse.issparse(data):
        return data
    matrix = cast(Any, data)
    n_entries = math.prod(int(size) for size in matrix.shape)
    if n_entries > MAX_DENSE_ENTRIES:
        raise InputError(
            argument,
            f"a sparse matrix of {n_entries:,} entries is too large to be made dense "
            f"(at most {MAX_DENSE_ENTRIES:,}); score it with demele.evaluate_sparse, or select columns or rows",
        )
    if argument == "codes" and n_entries > MANY_DENSE_ENTRIES:
        warn_user(
            f"codes: a sparse matrix of {n_entries:,} entries is made dense ({matrix.nnz:,} of them are stored); "
            "demele.evaluate_sparse scores it from its non-zeros, with less memory",
            DemeleWarning,
        )
    return checked_structure(matrix, argument).toarray()


def _from_tensor(data: object, argument: str) -> object:
    """Bring a PyTorch (or any ``__array__``-less) tensor to NumPy, from any device."""
    if isinstance(data, list | tuple) and data and hasattr(data[0], "detach"):
        parts = [np.asarray(_from_tensor(item, argument)) for item in data]
        odd = next((index for index, part in enumerate(parts) if part.shape != parts[0].shape), None)
        if odd is not None:
            raise InputError(
                argument, f"expected rows of equal length, row 0 has shape {parts[0].shape} and row {odd} does not"
            )
        return np.stack(parts)
    if hasattr(data, "detach") and hasattr(data, "cpu"):
        tensor = cast(Any, data).detach().cpu()
        if str(getattr(tensor, "dtype", "")) == "torch.bfloat16":
            tensor = tensor.float()
        return tensor.numpy()
    return data


def _from_frame(data: object, argument: str) -> tuple[list[Any], tuple[str, ...]] | None:
    """Split a data frame or series of any library into columns with names."""
    module = type(data).__module__.partition(".")[0]
    if module in ("numpy", "builtins"):
        return None
    narwhals = importlib.import_module("narwhals")
    try:
        native = narwhals.from_native(data, pass_through=True, allow_series=True)
    except narwhals.exceptions.DuplicateError:
        native = None
    if native is data:
        return None
    if isinstance(native, narwhals.LazyFrame):
        native = native.collect()
    if isinstance(native, narwhals.Series):
        return [_series(native)], (str(native.name) if native.name is not None else "column",)
    names = tuple(str(name) for name in (cast(Any, data) if native is None else native).columns)
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(argument, f"expected distinct column names, got {quoted(repeated[0])} more than once; rename")
    return [_series(series) for series in native.iter_columns()], names


def _series(series: Any) -> Any:
    """Return a column as a pandas series, where it is one, or as an array."""
    native = series.to_native()
    if type(native).__module__.startswith("pandas"):
        return native
    if series.dtype.is_integer() and series.null_count():  # as an array they would be floats
        return np.array(series.to_list(), dtype=object)
    return series.to_numpy()


def _from_list(data: object, argument: str) -> NDArray[Any]:
    if not isinstance(data, list | tuple) and not hasattr(data, "__array__"):
        raise InputTypeError(
            argument, f"expected an array, data frame or tensor (n_samples, n_columns), got {type(data).__name__}"
        )
    if isinstance(data, list | tuple) and any(isinstance(row, list | tuple) for row in data):
        lengths = [len(row) if isinstance(row, list | tuple | np.ndarray) else -1 for row in data]
        odd = next((index for index, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is not None:
            first, other = (
                f"row {index} {'is one value' if lengths[index] < 0 else f'has {lengths[index]} values'}"
                for index in (0, odd)
            )
            raise InputError(argument, f"expected rows of equal length, got others: {first}, {other}")
        kinds = {type(value) for row in data for value in row}
        if (str in kinds and len(kinds) > 1) or type(None) in kinds:
            return np.array(data, dtype=object)
    try:
        return np.asarray(data)
    except ValueError as error:
        raise InputError(argument, f"expected a rectangular table, got {shortened(str(error))}") from error


# Codes -------------------------------------------------------------------------------------------------------------


def _real_matrix(array: NDArray[Any], names: tuple[str, ...], argument: str) -> NDArray[Any]:
    if array.dtype.kind in "fiu":
        return array
    if array.dtype.kind == "b":
        return array.astype(np.float64)
    return np.column_stack(
        [real_column(array[:, index], name, argument) for index, name in enumerate(names)]
        or [np.empty((array.shape[0], 0))]
    )


def real_column(column: Any, name: str, argument: str) -> NDArray[Any]:
    """One column of real numbers as floats, whatever it came as; missing values become NaN."""
    if hasattr(column, "to_numpy") and hasattr(column, "dtype"):  # a pandas series
        column = series_to_numpy(column, keep_kind=False)
    values: NDArray[Any] = np.asarray(column)
    if values.dtype.kind in "fiu":
        return values
    if values.dtype.kind == "b":
        return values.astype(np.float64)
    if values.dtype.kind == "O":
        result = np.empty(len(values), dtype=np.float64)
        wrong = []
        for row, value in enumerate(values):
            if value is None or _is_missing(value):
                result[row] = np.nan
            elif isinstance(value, int | float | np.number | np.bool_) and not isinstance(value, np.complexfloating):
                result[row] = _as_float(value)
            else:
                wrong.append(row)
        if not wrong:
            return result
        raise InputTypeError(
            argument,
            f"expected real numbers in column {quoted(name)}, got {len(wrong)} other values, "
            f"first {quoted(values[wrong[0]])} at row {wrong[0]}" + number_hint(values[wrong[0]], values),
        )
    what = {"U": "strings", "S": "bytes", "c": "complex numbers", "M": "dates", "m": "time spans"}
    raise InputTypeError(
        argument,
        f"expected real numbers in column {quoted(name)}, got "
        f"{what.get(values.dtype.kind, values.dtype)}, first {quoted(values[0])} at row 0"
        + number_hint(values[0], values),
    )


def series_to_numpy(series: Any, *, keep_kind: bool) -> NDArray[Any]:
    """Return a pandas series as an array.

    Nullable numbers become floats with NaN; with ``keep_kind``, integers and booleans stay so, with None in an object
    array where values are missing.
    """
    kind = getattr(series.dtype, "kind", "O")
    result: NDArray[Any]
    if kind == "M":  # dates with a time zone would be objects
        result = series.to_numpy(dtype="datetime64[ns]")
    elif kind not in "iufb" or isinstance(series.dtype, np.dtype):
        result = series.to_numpy()
    elif kind == "f" or not keep_kind:
        result = series.to_numpy(dtype=np.float64, na_value=np.nan)
    elif series.hasnans:
        result = series.to_numpy(dtype=object, na_value=None)
    else:
        result = series.to_numpy(dtype={"i": np.int64, "u": np.uint64, "b": np.bool_}[kind])
    return result


def _as_float(value: Any) -> float:
    """Return a number as a float; an integer beyond the largest float is infinite, and refused as such."""
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _too_wide(low: Any, high: Any) -> NDArray[np.bool_]:
    """Whether a range is beyond the largest float."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.isinf(np.asarray(high, dtype=np.float64) - np.asarray(low, dtype=np.float64))


def _is_missing(value: object) -> bool:
    """NaN, pandas.NA, NaT: everything that is not equal to itself, or says so."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return type(value).__name__ in ("NAType", "NaTType")


def _extremes(values: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest and largest value of each column; NaN where a column holds one."""
    low = np.full(values.shape[1], np.inf)
    high = np.full(values.shape[1], -np.inf)
    for start in range(0, values.shape[0], CHUNK):
        chunk = values[start : start + CHUNK]
        low = np.minimum(low, chunk.min(axis=0).astype(np.float64))
        high = np.maximum(high, chunk.max(axis=0).astype(np.float64))
    return low, high


def _raise_non_finite(values: NDArray[Any], names: tuple[str, ...], argument: str) -> None:
    bad = ~np.isfinite(np.asarray(values, dtype=np.float64))
    wrong = np.flatnonzero(bad.any(axis=0))
    first = int(wrong[0])
    rows = np.flatnonzero(bad[:, first])
    others = "" if len(wrong) == 1 else f" (and {len(wrong) - 1} other columns: {_listed(names, wrong[1:])})"
    raise InputError(
        argument,
        f"{len(rows)} non-finite values (NaN or infinite) in column {quoted(names[first])}{others}, "
        f"first at row {rows[0]}; drop or impute them",
    )


def _listed(names: tuple[str, ...], indices: NDArray[np.intp]) -> str:
    shown = ", ".join(quoted(names[index]) for index in indices[:5])
    return shown + (", ..." if len(indices) > 5 else "")


# Factors -----------------------------------------------------------------------------------------------------------


def given_kinds(kinds: object, names: tuple[str, ...]) -> dict[str, Kind]:
    """Return the kinds that were given, by factor."""
    if kinds is None:
        return {}
    if isinstance(kinds, str):
        given: dict[str, object] = dict.fromkeys(names, kinds)
    elif isinstance(kinds, Mapping):
        given = {str(name): kind for name, kind in kinds.items()}
        for name in given:
            if name not in names:
                raise InputError(
                    "kinds", f"no factor is called {quoted(name)}; the factors are {', '.join(map(quoted, names))}"
                )
    elif isinstance(kinds, Sequence):
        if len(kinds) != len(names):
            raise InputError("kinds", f"expected one kind for each of the {len(names)} factors, got {len(kinds)}")
        given = dict(zip(names, kinds, strict=True))
    else:
        raise InputTypeError("kinds", f"expected a word, a mapping or a sequence, got {type(kinds).__name__}")
    for name, kind in given.items():
        if kind not in ("continuous", "categorical"):
            raise InputError(
                "kinds", f"expected 'continuous' or 'categorical' for factor {quoted(name)}, got {quoted(kind)}"
            )
    return cast("dict[str, Kind]", given)


def read_factor(column: Any, name: str, given: Kind | None) -> Factor:
    """Validate one column of factors, of a kind that is given or detected."""
    if type(column).__module__.startswith("pandas"):
        if str(column.dtype) == "category":
            return _categorical(column, name, given)
        column = series_to_numpy(column, keep_kind=True)
    column = np.asarray(column)
    if column.dtype.kind == "c":
        raise InputTypeError(
            "factors", f"expected real numbers or classes in column {quoted(name)}, got complex numbers"
        )
    if column.dtype.kind in "Mm":
        raise InputTypeError(
            "factors",
            f"expected numbers or classes in column {quoted(name)}, got dates or time spans; "
            "convert them to a number or to strings",
        )
    if column.dtype.kind == "O":
        numbers = as_numbers(column)
        if numbers is None:
            return _categorical(column, name, given)
        column = numbers
    if column.dtype.kind == "f":
        low, high, n_missing, n_infinite = _float_summary(column)
        if n_infinite:
            row = int(np.flatnonzero(np.isinf(np.asarray(column, dtype=np.float64)))[0])
            raise InputError(
                "factors",
                f"{n_infinite} infinite values in column {quoted(name)}, first at row {row}; drop or mark them missing",
            )
        if (given or _detected(column)) == "categorical":
            return _categorical(column, name, given)
        return Factor(name, "continuous", column, (), low, high, len(column) - n_missing)
    if given == "continuous" and column.dtype.kind in "iub":
        return _quantity(column, name)
    factor = _categorical(column, name, given)
    n_levels = len(factor.levels)
    if given is None and column.dtype.kind in "iu" and n_levels > FEW_LEVELS:
        labels = n_levels <= MAX_LEVELS_OF_WHOLE_FLOATS and factor.n_annotated >= ROWS_PER_INTEGER_LABEL * n_levels
        return factor if labels else _quantity(column, name)
    return factor


def is_text(column: Any) -> bool:
    """Whether a column, also one of a categorical type, holds text."""
    if str(getattr(column, "dtype", "")) == "category":
        column = column.cat.categories
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    if kind != "O":
        return kind in "UT"
    return any(isinstance(value, str) for value in column)


def _quantity(column: NDArray[Any], name: str) -> Factor:
    values = column.astype(np.float64)
    return Factor(name, "continuous", values, (), float(values.min()), float(values.max()), len(values))


def as_numbers(column: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return an object column as floats when it holds numbers and missing values only (booleans are classes)."""
    result = np.empty(len(column), dtype=np.float64)
    for row, value in enumerate(column):
        if value is None or _is_missing(value):
            result[row] = np.nan
        elif isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
            result[row] = _as_float(value)
        else:
            return None
    return result


def _float_summary(column: NDArray[Any]) -> tuple[float, float, int, int]:
    """Smallest and largest annotated value, and how many are missing or infinite."""
    low, high, n_missing, n_infinite = np.inf, -np.inf, 0, 0
    for start in range(0, len(column), CHUNK):
        chunk = np.asarray(column[start : start + CHUNK], dtype=np.float64)
        chunk_low, chunk_high = float(chunk.min()), float(chunk.max())
        if not np.isfinite(chunk_low) or not np.isfinite(chunk_high):  # NaN spreads through min
            n_missing += int(np.isnan(chunk).sum())
            n_infinite += int(np.isinf(chunk).sum())
            known = chunk[np.isfinite(chunk)]
            if not known.size:
                continue
            chunk_low, chunk_high = float(known.min()), float(known.max())
        low, high = min(low, chunk_low), max(high, chunk_high)
    return low, high, n_missing, n_infinite


def _detected(column: NDArray[Any]) -> Kind:
    """Categorical when the floats are whole numbers that repeat as labels do."""
    head = np.asarray(column[:1000], dtype=np.float64)
    if (head[~np.isnan(head)] % 1).any():
        return "continuous"
    known = np.asarray(column, dtype=np.float64)
    known = known[~np.isnan(known)]
    if (known % 1).any():
        return "continuous"
    n_levels = len(np.unique(known))
    if n_levels <= FEW_LEVELS:
        return "categorical"
    repeats = len(known) >= ROWS_PER_STORED_LABEL * n_levels
    return "categorical" if repeats and n_levels <= MAX_LEVELS_OF_WHOLE_FLOATS else "continuous"


def _ambiguity(factor: Factor, column: Any) -> str | None:
    """Say how whole numbers were read that are neither clearly classes nor clearly a quantity."""
    if (
        getattr(np.asarray(column[:1]).dtype, "kind", "O") not in "iuf"
        or str(getattr(column, "dtype", "")) == "category"
    ):
        return None
    if factor.categorical:
        n_levels = len(factor.levels)
    else:
        head = np.asarray(factor.values[:1000], dtype=np.float64)
        if (head[~np.isnan(head)] % 1).any():
            return None
        known = factor.values[factor.annotated()]
        if (known % 1).any():
            return None
        n_levels = len(np.unique(known))
    of_floats = np.asarray(column[:1]).dtype.kind == "f"
    return whole_number_doubt(factor.name, factor.kind, n_levels, factor.n_annotated, of_floats=of_floats)


def whole_number_doubt(name: str, kind: Kind, n_levels: int, n_annotated: int, *, of_floats: bool) -> str | None:
    """Say how a column of whole numbers was read, where it may be otherwise."""
    if n_levels <= FEW_LEVELS:
        return None
    if n_levels > MAX_LEVELS_OF_WHOLE_FLOATS and of_floats:
        return None
    if n_levels <= MANY_LEVELS and n_annotated >= ROWS_PER_STORED_LABEL * n_levels:
        return None
    other, what = ("continuous", "a quantity") if kind == "categorical" else ("categorical", "classes")
    return (
        f"factor {quoted(name)} holds {n_levels} different whole numbers in {n_annotated} rows and was read as "
        f"{kind}; {give(kinds={name: other})} if it holds {what}"
    )


def _categorical(column: Any, name: str, given: Kind | None) -> Factor:
    if given == "continuous":
        raise InputTypeError(
            "factors",
            f"column {quoted(name)} was declared continuous but holds classes such as "
            + quoted(_first(column))
            + number_hint(_first(column), column),
        )
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu" and column.size:
        indices, levels = _integer_levels(column)
    elif isinstance(column, np.ndarray) and column.dtype.kind == "f":
        known = ~np.isnan(column)
        distinct, inverse = np.unique(column[known], return_inverse=True)
        indices = np.full(len(column), -1, dtype=np.intp)
        indices[known] = inverse
        levels = tuple(str(int(value)) if float(value).is_integer() else str(value) for value in distinct)
    else:
        indices, levels = _factorised(column, name)
    if given is None and is_text(column):
        refuse_written_numbers(levels, np.asarray(indices), name)
    return Factor(name, "categorical", indices, levels, 0.0, len(levels) - 1.0, int((indices >= 0).sum()))


def _first(column: Any) -> object:
    return column.iloc[0] if hasattr(column, "iloc") else column[0]


def _integer_levels(column: NDArray[Any]) -> tuple[NDArray[Any], tuple[str, ...]]:
    low, high = int(column.min()), int(column.max())
    if high - low > 4 * len(column) + 1000 or high > np.iinfo(np.int64).max:
        distinct, inverse = np.unique(column, return_inverse=True)
        return inverse, tuple(str(value) for value in distinct)
    shifted = column.astype(np.int64) - low if low or column.dtype != np.int64 else column
    used = np.bincount(shifted, minlength=high - low + 1) > 0
    levels = tuple(str(value + low) for value in np.flatnonzero(used))
    if used.all():
        return shifted, levels
    return (np.cumsum(used) - 1)[shifted], levels


def _factorised(column: Any, name: str) -> tuple[NDArray[Any], tuple[str, ...]]:
    import pandas as pd

    if isinstance(getattr(column, "dtype", None), pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()
        return np.asarray(column.cat.codes, dtype=np.intp), tuple(str(level) for level in column.cat.categories)
    column = np.asarray(column)
    series = pd.Series(column, dtype=object if column.dtype == object else None)
    if series.dtype == object:
        types = {type(value) for value in series if value is not None and not _is_missing(value)}
        if not all(issubclass(kind, str | bool | int | float | np.generic) for kind in types):
            odd = next(kind.__name__ for kind in types if not issubclass(kind, str | bool | int | float | np.generic))
            raise InputTypeError(
                "factors", f"expected numbers or classes in column {quoted(name)}, got values of type {odd}"
            )
        if len(types) > 1:
            series = series.map(lambda value: None if value is None or _is_missing(value) else str(value))
    indices, levels = pd.factorize(series, sort=True)
    return np.asarray(indices, dtype=np.intp), tuple(str(level) for level in levels)


def _raise_missing(columns: tuple[Factor, ...]) -> None:
    incomplete = [factor for factor in columns if not factor.complete]
    first = incomplete[0]
    row = int(np.flatnonzero(~first.annotated())[0])
    others = "" if len(incomplete) == 1 else f" (and in {len(incomplete) - 1} other columns)"
    raise InputError(
        "factors",
        f"{len(first.values) - first.n_annotated} missing annotations in column "
        f"{quoted(first.name)}{others}, first at row {row}; drop those rows, or pass {setting(missing='omit')} to "
        "score each factor on the rows annotated for it",
    )
