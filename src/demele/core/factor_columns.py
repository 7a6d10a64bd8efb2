"""One column of factors read: what it holds, classes or a quantity, and its levels or extremes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.columns import CHUNK, Factor, Kind, are_classes, whole_number_doubt
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.table_columns import (
    as_float,
    is_missing,
    series_to_numpy,
)
from demele.core.written_numbers import number_hint, refuse_written_numbers


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
    if given is not None or column.dtype.kind not in "iu":
        return factor
    return factor if are_classes(len(factor.levels), factor.n_annotated, integer=True) else _quantity(column, name)


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
        if value is None or is_missing(value):
            result[row] = np.nan
        elif isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
            result[row] = as_float(value)
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
    return "categorical" if are_classes(len(np.unique(known)), len(known), integer=False) else "continuous"


def ambiguity_of(factor: Factor, column: Any) -> str | None:
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
        types = {type(value) for value in series if value is not None and not is_missing(value)}
        if not all(issubclass(kind, str | bool | int | float | np.generic) for kind in types):
            odd = next(kind.__name__ for kind in types if not issubclass(kind, str | bool | int | float | np.generic))
            raise InputTypeError(
                "factors", f"expected numbers or classes in column {quoted(name)}, got values of type {odd}"
            )
        if len(types) > 1:
            series = series.map(lambda value: None if value is None or is_missing(value) else str(value))
    indices, levels = pd.factorize(series, sort=True)
    return np.asarray(indices, dtype=np.intp), tuple(str(level) for level in levels)
