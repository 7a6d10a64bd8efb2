"""Tables of every library as columns of arrays: arrays, frames, tensors, sparse matrices, lists."""

import importlib
import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from demele.core.arrays import Array, Counts, Floats, pd
from demele.core.errors import (
    DemeleWarning,
    InputError,
    InputTypeError,
    NotEnoughData,
    plural,
    quoted,
    shortened,
    warn_user,
)
from demele.core.reading import most_unpacked, size_text
from demele.core.written_numbers import number_hint

#: What the columns of answers of annotators may be called.
COLUMN_NAMES = {
    "items": ("item", "items", "task", "unit", "instance", "question", "example"),
    "annotators": ("annotator", "annotators", "worker", "rater", "performer", "coder", "user"),
    "answers": ("answer", "answers", "label", "labels", "response", "annotation", "rating", "class"),
}

# Sparse matrices that are what they say -------------------------------------------------------------------------------


def checked_structure(matrix: Any, argument: str) -> Any:
    """Return a sparse matrix whose positions all lie within its shape; lists and dictionaries become arrays.

    Parameters
    ----------
    matrix : SciPy sparse matrix or array
    argument : str
        What messages call it.

    Raises
    ------
    InputError
        If a position lies outside, or the starts of rows or columns do not ascend to the number of positions.
    """
    if matrix.format in ("lil", "dok"):
        matrix = matrix.tocsr()
    compressed = matrix.format in ("csr", "csc", "bsr")
    if compressed:
        parts: tuple[Any, ...] = (matrix.data, matrix.indices, matrix.indptr)
    elif matrix.format == "coo":
        parts = (matrix.data, getattr(matrix, "coords", None) or (matrix.row, matrix.col))
    else:
        parts = (matrix.data, matrix.offsets)
    damaged = "a sparse matrix that was damaged, or made by hand"
    if compressed and (np.diff(matrix.indptr) < 0).any():
        raise InputError(argument, f"{damaged}: the index pointers do not ascend")
    try:
        own = type(matrix)(parts, shape=matrix.shape)  # a check may change what it checks: not the caller's
        if compressed:
            own.check_format(full_check=True)
    except ValueError as error:
        raise InputError(argument, f"{damaged}: {error}") from error
    return own


def _pandas_of(data: Any, argument: str) -> Any:
    """Return an object of xarray as one of pandas; a ``DataArray`` without names of columns as the array that it is.

    A ``DataArray`` of one dimension has its own name, one of two the labels of its second. A ``Dataset`` has a variable
    of one dimension, the same for all, for each column.

    Raises
    ------
    InputError, InputTypeError
        If a ``Dataset`` is no table, or it is another object of xarray.
    """
    if hasattr(data, "data_vars"):
        columns = {str(name): np.asarray(one.values) for name, one in data.data_vars.items()}
        if len({one.dims for one in data.data_vars.values()}) != 1 or any(one.ndim != 1 for one in columns.values()):
            held = ", ".join(columns) or "no variable"
            raise InputError(
                argument,
                f"expected a Dataset whose variables are columns along one dimension, got {held}",
                "pick variables of one dimension, or give one DataArray (n_samples, n_columns)",
            )
        return pd.DataFrame(columns)
    if not hasattr(data, "coords") or not hasattr(data, "values"):
        raise InputTypeError(
            argument, f"expected a DataArray or a Dataset of xarray, got {type(data).__name__}; take its .values"
        )
    values = np.asarray(data.values)
    if len(data.dims) == 1 and data.name is not None:
        return pd.Series(values, name=str(data.name))
    if len(data.dims) != 2 or data.dims[1] not in data.coords:
        return values
    return pd.DataFrame(values, columns=list(map(str, np.asarray(data.coords[data.dims[1]].values).tolist())))


#: Sparse codes of more entries or columns than this are made dense with a warning.
MANY_DENSE_ENTRIES = 20_000_000
MANY_DENSE_CODES = 200

#: Where angles begin and end, in degrees and in radians.
CIRCLES = ((0.0, 360.0), (-180.0, 180.0), (0.0, 2 * np.pi), (-np.pi, np.pi))
#: Share of an angle's circle at each of its ends, and the least share of the rows that lies there.
END, ROWS_AT_END = 0.02, 0.005


def whole_numbers(column: Array) -> Floats | None:
    """Return the different annotated values of a column; None where one is no whole number."""
    for part in (column[:1000], column):
        known = np.asarray(part, dtype=np.float64)
        known = known[~np.isnan(known)]
        if (known % 1).any():
            return None
    return np.unique(known)


def circle_period(values: Array, low: float, high: float) -> float | None:
    """Return the period of the circle that values seem to go round, in degrees or radians; None if of none."""
    for start, end in CIRCLES:
        near = END * (end - start)
        if start * (1 + 1e-10) <= low < start + near and end - near < high <= end * (1 + 1e-10):
            rows = ROWS_AT_END * (~np.isnan(values)).sum()
            if min((values < start + near).sum(), (values > end - near).sum()) >= rows:
                return end - start
    return None


def _indexes(*given: Any) -> list[Any]:
    """Return the indexes of those that are of pandas."""
    return [data.index for data in given if type(data).__module__.startswith("pandas") and hasattr(data, "index")]


def check_same_order(first: object, second: object, names: tuple[str, str]) -> None:
    """Refuse pandas objects whose indexes hold the same labels in another order: rows are paired by position."""
    indexes = _indexes(first, second)
    if len(indexes) < 2 or indexes[0].equals(indexes[1]) or not all(one.is_unique for one in indexes):
        return
    if len(indexes[0].difference(indexes[1])) == 0:
        raise InputError(
            names,
            "their indexes hold the same labels in another order, and rows are paired by position; align them with "
            f"{names[1]}.loc[{names[0]}.index], or drop the indexes with reset_index(drop=True)",
        )


def check_rows(
    first: object,
    second: object,
    names: tuple[str, str],
    sizes: tuple[int, int],
    remedy: str = "row r of both must be the same instance",
) -> None:
    """Refuse columns of different lengths, and pandas objects that hold the same labels in another order."""
    if sizes[0] != sizes[1]:
        raise InputError(names, f"expected the same number of rows, got {sizes[0]} and {sizes[1]}; {remedy}")
    check_same_order(first, second, names)


def number_column(
    values: object,
    argument: str,
    n: int,
    per: str,
    expected: str = "finite numbers >= 0",
    *,
    inside: Any = None,
    names: Sequence[object] | None = None,
) -> Floats:
    """Return ``n`` numbers, one per row, annotator or so; ``inside`` says of an array which are as expected."""
    array = as_column(values, argument)
    if array.dtype.kind not in "biuf":
        raise InputTypeError(argument, f"expected {n} numbers, one per {per}, got values of type {array.dtype}")
    if array.shape != (n,):
        raise InputError(argument, f"expected {n} numbers, one per {per}, got shape {array.shape}")
    array = array.astype(np.float64)
    odd = np.flatnonzero(~(np.isfinite(array) & (array >= 0) if inside is None else inside(array)))
    if odd.size:
        place, others = odd[0], plural(odd.size, "other", "others")
        name = place if names is None else repr(names[place])
        raise InputError(argument, f"expected {expected}, got {others}, first {array[place]:g} of {per} {name}")
    return array


def optional_numbers(values: object, argument: str, what: str) -> Floats:
    """Return one number, such as a score, per row; missing ones, NaN or None, are NaN."""
    column = as_column(values, argument)
    if column.dtype == object:
        column = np.where(np.array([value is None for value in column], dtype=np.bool_), np.nan, column)
        try:
            column = column.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(argument, f"expected numbers, or None where a row has no {what}") from error
    if column.ndim != 1 or not column.size:
        raise NotEnoughData(argument, f"expected a {what} per row, got shape {column.shape}")
    return number_column(column, argument, column.size, "row", "numbers", inside=lambda found: ~np.isinf(found))


def check_same_rows(
    first: object, second: object, names: tuple[str, str] = ("codes", "factors"), *, optional: bool = False
) -> None:
    """Refuse pandas objects whose indexes differ in any label: they were cut or sorted differently.

    Rows are paired by position. What has no index (arrays, tensors, other frames) says nothing and is taken as it is.

    Parameters
    ----------
    first, second : object
        Of the same number of rows.
    names : (str, str)
    optional : bool
        Whether the caller has an option ``ignore_index``, which pairs the rows by position all the same.

    Raises
    ------
    InputError
        Naming the first row at which the labels differ.
    """
    check_same_order(first, second, names)
    indexes = _indexes(first, second)
    if len(indexes) < 2 or len(indexes[0]) != len(indexes[1]) or indexes[0].equals(indexes[1]):
        return

    pairs = enumerate(zip(*indexes, strict=True))  # of other types, labels are the same as texts; NaN is itself
    differing = ((row, one, other) for row, (one, other) in pairs if one != other and str(one) != str(other))
    found = next(differing, None)
    if found is None:  # the same labels, of other types
        return
    row, one, other = found
    raise InputError(
        names,
        f"their indexes hold different labels, first at row {row} ({quoted(one)} and {quoted(other)}), and rows "
        "are paired by position",
        "give the same rows of both; if row r of both is the same sample all the same, drop the indexes"
        + ", or pass `ignore_index=True`" * optional,
    )


def split_columns(data: object, argument: str, default: str) -> tuple[Array | list[Any], tuple[str, ...]]:
    """Return a 2-D array, or a list of columns of their own types, and the names."""
    if data is None:
        raise InputTypeError(argument, "expected a table (n_samples, n_columns), got None")
    if isinstance(data, str | bytes):
        raise InputTypeError(argument, "expected a table of numbers, got a string; load the file first")
    data = from_tensor(_from_sparse(data, argument), argument)
    frame = _from_frame(data, argument)
    if frame is not None:
        return frame
    array = _unmasked(data) if isinstance(data, np.ndarray) else _from_list(data, argument)
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


def as_column(data: object, argument: str) -> Array:
    """Return one column of anything as an array: of numbers, strings or objects (None where a value is missing)."""
    if data is None or isinstance(data, str | bytes | Mapping):
        raise InputTypeError(argument, f"expected one class per instance, got {type(data).__name__}")
    data = from_tensor(data, argument)
    frame = _from_frame(data, argument)
    if frame is not None:
        columns, names = frame
        if len(columns) != 1:
            raise InputError(argument, f"expected one column, got {len(columns)}: {', '.join(map(quoted, names[:6]))}")
        column = columns[0]
        return series_to_numpy(column, keep_kind=True) if hasattr(column, "to_numpy") else np.asarray(column)
    if isinstance(data, list | tuple) and any(value is None or isinstance(value, str) for value in data):
        objects = np.empty(len(data), dtype=object)  # as an array of strings, None and numbers would be text
        objects[:] = data
        return objects
    if not isinstance(data, np.ndarray | list | tuple) and not hasattr(data, "__array__"):
        raise InputTypeError(
            argument, f"expected one class per instance, as an array, list or series, got {type(data).__name__}"
        )
    return _unmasked(data) if isinstance(data, np.ndarray) else _from_list(data, argument)


def _unmasked(array: Array) -> Array:
    """Return an array whose masked values are NaN, or None where integers and strings stay what they are."""
    if not isinstance(array, np.ma.MaskedArray) or not np.ma.getmaskarray(array).any():
        return np.asarray(array)
    filled = np.ma.getdata(array).astype(array.dtype if array.dtype.kind == "f" else object)
    filled[np.ma.getmaskarray(array)] = np.nan if array.dtype.kind == "f" else None
    return filled


def _from_sparse(data: object, argument: str) -> object:
    sparse = sys.modules.get("scipy.sparse")
    if sparse is None or not sparse.issparse(data):
        return data
    matrix = cast(Any, data)
    n_entries = math.prod(int(size) for size in matrix.shape)
    size, most = 8 * n_entries, most_unpacked(8 * matrix.nnz)
    if size > most:
        raise InputError(
            argument,
            f"a sparse matrix of {n_entries:,} entries takes {size_text(size)} as a dense array, more than "
            f"{size_text(most)}; score it with demele.evaluate_sparse, or pass {argument}.toarray()",
        )
    if argument == "codes" and (n_entries > MANY_DENSE_ENTRIES or matrix.shape[-1] > MANY_DENSE_CODES):
        warn_user(
            f"codes: a sparse matrix of {n_entries:,} entries is made dense ({matrix.nnz:,} of them are stored); "
            "demele.evaluate_sparse scores it from its non-zeros, in less memory and time",
            DemeleWarning,
        )
    return checked_structure(matrix, argument).toarray()


def from_tensor(data: object, argument: str) -> object:
    """Bring a PyTorch (or any ``__array__``-less) tensor to NumPy, from any device."""
    if isinstance(data, list | tuple) and data and hasattr(data[0], "detach"):
        return [from_tensor(item, argument) for item in data]
    if hasattr(data, "detach") and hasattr(data, "cpu"):
        tensor: Any = data
        kind = f"{getattr(tensor, 'dtype', '')} on {getattr(tensor, 'device', '')}, {getattr(tensor, 'layout', '')}"
        try:
            tensor = tensor.detach().cpu()
            if str(getattr(tensor, "dtype", "")).startswith(("torch.bfloat16", "torch.float8")):
                tensor = tensor.float()
            if hasattr(tensor, "resolve_conj"):
                tensor = tensor.resolve_conj().resolve_neg()
            return tensor.numpy()
        except (RuntimeError, TypeError) as error:  # of whatever holds no plain numbers in memory
            remedy = "pass one that .numpy() can convert: see .to_dense(), .dequantize(), .to_padded_tensor()"
            raise InputTypeError(argument, f"expected a dense tensor of numbers, got one of {kind}", remedy) from error
    return data


def check_texts(argument: str, texts: Iterable[str]) -> None:
    """Refuse halves of characters, which Python can hold and no file, table or page can.

    Raises
    ------
    InputError
    """
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise InputError(argument, f"a text holds half a character, {half!a}, which no file can store") from error


def check_distinct(items: Iterable[object], argument: str, expected: str, remedy: str | None = None) -> None:
    """Refuse a list that has an item twice.

    Raises
    ------
    InputError
    """
    twice = next((item for item, times in Counter(items).items() if times > 1), None)
    if twice is not None:
        raise InputError(argument, f"expected {expected}, got {quoted(twice)} more than once", remedy)


def check_lengths(first: object, second: object) -> None:
    """Refuse arrays of codes and factors of different lengths before they are copied: one may be a view of billions.

    Raises
    ------
    InputError
    """
    if all(type(data).__module__ == "numpy" for data in (first, second)):
        codes, factors = np.asanyarray(first), np.asanyarray(second)
        if codes.ndim == 2 and factors.ndim in (1, 2) and 0 < len(codes) != len(factors) > 0:
            raise other_lengths(codes.shape, (*factors.shape, 1)[:2])


def other_lengths(codes: tuple[int, ...], factors: tuple[int, ...]) -> InputError:
    """Return the error of codes and factors of different lengths, by their shapes."""
    turned = codes[1] == factors[0] or factors[1] == codes[0]
    return InputError(
        ("codes", "factors"),
        f"expected the same number of rows, got {codes[0]} rows of codes and {factors[0]} rows of factors; "
        + ("is one of them transposed?" if turned else "row r of both must describe the same sample"),
    )


def _from_frame(data: object, argument: str) -> tuple[list[Any], tuple[str, ...]] | None:
    """Split a data frame or series of any library into columns with names."""
    if type(data).__module__.startswith("xarray"):
        data = _pandas_of(data, argument)
    if type(data).__module__.partition(".")[0] in ("numpy", "builtins"):
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
    check_distinct(names, argument, "distinct column names", "rename")
    columns = [_series(series) for series in native.iter_columns()]
    nested = [name for name, column in zip(names, columns, strict=True) if column.ndim != 1]
    if nested:
        raise InputTypeError(argument, f"expected one value per row in column {quoted(nested[0])}, got lists of values")
    return columns, names


def _series(series: Any) -> Any:
    """Return a column as a pandas series, where it is one, or as an array."""
    native = series.to_native()
    if type(native).__module__.startswith("pandas"):
        return native
    if series.dtype.is_integer() and series.null_count():  # as an array they would be floats
        return np.array(series.to_list(), dtype=object)
    return series.to_numpy()


def _from_list(data: object, argument: str) -> Array:
    if not isinstance(data, list | tuple) and not hasattr(data, "__array__"):
        remedy = "; of columns by name, pass pandas.DataFrame(columns)" if isinstance(data, Mapping) else ""
        what = f"expected an array, data frame or tensor (n_samples, n_columns), got {type(data).__name__}"
        raise InputTypeError(argument, what + remedy)
    if isinstance(data, list | tuple) and any(isinstance(row, list | tuple | np.ndarray) for row in data):
        lengths = [len(row) if isinstance(row, list | tuple) or getattr(row, "ndim", None) else -1 for row in data]
        odd = next((index for index, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is not None:
            first, other = (
                f"row {index} {'is one value' if lengths[index] < 0 else f'has {lengths[index]} values'}"
                for index in (0, odd)
            )
            raise InputError(argument, f"expected rows of equal length, but {first} and {other}")
        kinds = {type(value) for row in data if isinstance(row, list | tuple) for value in row}
        if (str in kinds and len(kinds) > 1) or type(None) in kinds:
            return np.array(data, dtype=object)
    try:
        return np.asarray(data)
    except ValueError as error:
        raise InputError(argument, f"expected a rectangular table, got {shortened(str(error))}") from error


_REAL = (int, float, np.integer, np.floating, np.bool_)


def real_matrix(array: Array | list[Any], names: tuple[str, ...], argument: str) -> Array:
    """Return a table of real numbers: an array of such of the type that it came with, all else column by column."""
    if isinstance(array, np.ndarray) and array.dtype.kind in "fiub":
        return array.astype(np.float64) if array.dtype.kind == "b" else array
    columns = array.T if isinstance(array, np.ndarray) else array
    return np.column_stack([real_column(column, name, argument) for column, name in zip(columns, names, strict=True)])


def real_column(column: Any, name: str, argument: str) -> Array:
    """One column of real numbers as floats, whatever it came as; missing values become NaN."""
    if hasattr(column, "to_numpy") and hasattr(column, "dtype"):  # a pandas series
        column = series_to_numpy(column, keep_kind=False)
    values: Array = np.asarray(column)
    if values.dtype.kind in "fiub":
        return values.astype(np.float64) if values.dtype.kind == "b" else values
    result = np.full(len(values), np.nan)
    wrong = []
    for row, value in enumerate(values):
        if isinstance(value, int | float | np.integer | np.floating | np.bool_) and not isinstance(
            value, np.timedelta64
        ):
            result[row] = as_float(value)
        elif value is not None and not is_missing(value):
            wrong.append(row)
    if not wrong:
        return result
    hint = number_hint(values[wrong[0]], values)
    odd = [row for row in wrong if not reads_as_number(values[row])]
    if 0 < 2 * len(odd) < len(values) and not number_hint(values[odd[0]], values):  # they made texts of the numbers
        wrong, hint = odd, "; leave the cell empty where there is no number"
    kinds = {"U": "strings", "S": "bytes", "c": "complex numbers", "M": "dates", "m": "time spans"}
    what = kinds.get(values.dtype.kind) or plural(len(wrong), "other value", "other values")
    raise InputTypeError(
        argument,
        f"expected real numbers in column {quoted(name)}, got {what}, first "
        f"{quoted(values[wrong[0]])} at row {wrong[0]}{hint}",
    )


def reads_as_number(value: object) -> bool:
    """Whether a value is a finite number, a text of one, or missing."""
    if value is None or is_missing(value) or isinstance(value, int | float | np.number | np.bool_):
        return True
    try:
        return isinstance(value, str) and np.isfinite(float(value))
    except ValueError:
        return False


def series_to_numpy(series: Any, *, keep_kind: bool) -> Array:
    """Return a pandas series as an array.

    Nullable numbers become floats with NaN; with ``keep_kind``, integers and booleans stay so, with None in an object
    array where values are missing.
    """
    kind = getattr(series.dtype, "kind", "O")
    result: Array
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


def as_float(value: Any) -> float:
    """Return a number as a float; an integer beyond the largest float is infinite, and refused as such."""
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def is_missing(value: object) -> bool:
    """NaN, pandas.NA, NaT: everything that is not equal to itself, or says so."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return type(value).__name__ in ("NAType", "NaTType")


# What users give as arrays, lists and numbers of any kind -------------------------------------------------------------

#: The smallest float that stands for two whole numbers.
AMBIGUOUS = 2.0**53
#: More items than this, as a view of one number can have, are no list of anything.
MOST_ITEMS = 100_000_000


def refuse_large_floats(values: Array, argument: str, column: str | None = None) -> None:
    """Refuse floats that name something, as classes and rows are named, and may stand for several whole numbers each.

    Raises
    ------
    InputError
    """
    large = np.flatnonzero(np.abs(values) >= AMBIGUOUS)
    if large.size:
        where = "" if column is None else f"column {quoted(column)}: "
        what = f"{plural(large.size, 'number', 'numbers')} from 2**53 on cannot be distinguished as floats"
        remedy = "pass them as integers, without gaps, or as strings"
        if column is not None:
            remedy += f"; if they measure something, pass `kinds={{{quoted(column)}: 'continuous'}}`"
        raise InputError(argument, f"{where}{what}, first {values[large[0]]:.0f}", remedy)


def holds_truths(column: Any) -> bool:
    """Whether a column that was read is of True and False."""
    head = getattr(column, "dtype", None)
    if head is None or str(head) == "object":
        return hasattr(column, "__iter__") and isinstance(next(iter(column), None), bool | np.bool_)
    return "bool" in str(head).lower()


def items_of(given: Any, argument: str, expected: str, remedy: str | None = None) -> list[Any]:
    """Return the items of whatever can be gone through; a text is one value.

    Raises
    ------
    InputTypeError
    """
    given = from_tensor(given, argument)
    try:
        if not isinstance(given, str | bytes) and (not isinstance(given, np.ndarray) or given.size <= MOST_ITEMS):
            return list(given)
    except TypeError:  # also of arrays without dimensions, and of sparse matrices
        pass
    raise InputTypeError(argument, f"expected {expected}, got {type(given).__name__}", remedy)


def real_numbers(given: Any, argument: str, expected: str = "real numbers") -> Floats:
    """Return real numbers of any shape as floats; texts are none, nor are complex numbers.

    Raises
    ------
    InputTypeError
    """
    array = plain_array(given, argument, expected)
    try:
        if array.dtype.kind in "biufO":
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputTypeError(argument, f"expected {expected}, got {type(given).__name__}")


def whole_array(given: Any, argument: str, *, dimensions: int) -> Counts:
    """Return whole numbers that a user gave as an array of so many dimensions, or refuse them."""
    array = plain_array(given, argument, "whole numbers")
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise InputTypeError(argument, f"expected whole numbers, got {array.dtype}")
    if array.ndim != dimensions:
        raise InputError(argument, f"expected {dimensions} dimensions, got shape {array.shape}")
    return array.astype(np.int64)


def plain_array(given: Any, argument: str, expected: str) -> Array:
    """Return an array, whatever it holds.

    Raises
    ------
    InputTypeError
        If rows differ in length.
    """
    plain = from_tensor(given, argument)
    try:
        return np.asarray(plain)
    except (TypeError, ValueError) as error:
        raise InputTypeError(argument, f"expected {expected}, got {type(given).__name__}") from error


def levels_of_floats(distinct: Array, name: str) -> tuple[str, ...]:
    """Return floats as names of classes, whole ones without a point.

    Raises
    ------
    InputError
        If one may stand for several whole numbers.
    """
    refuse_large_floats(distinct, "factors", name)
    return tuple(str(int(value)) if float(value).is_integer() else str(value) for value in distinct)
