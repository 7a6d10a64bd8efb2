"""The door: arrays, frames and tensors come in, frozen validated columns go out. Below it, everything is trusted."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from demele.core import given_data, table_columns
from demele.core.arrays import Array, Floats, pd
from demele.core.columns import (
    CHUNK,
    are_classes,
    cyclic,
    is_cyclic,
    not_finite,
    refuse_wide,
    unique_class_doubt,
    whole_number_doubt,
)
from demele.core.columns import Codes as Codes
from demele.core.columns import Factor as Factor
from demele.core.columns import Factors as Factors
from demele.core.columns import Kind as Kind
from demele.core.columns import Missing as Missing
from demele.core.columns import refuse_cyclic as refuse_cyclic
from demele.core.errors import InputError, InputTypeError, NotEnoughData, plural, quoted
from demele.core.kinds import checked_flag
from demele.core.written_numbers import number_hint, refuse_names_of_rows, refuse_written_numbers

#: How functions that take ``missing`` omit rows without annotations.
OMITTING = "missing='omit'"


def read_pair(
    codes: object,
    factors: object,
    *,
    kinds: object = None,
    missing: Missing = "raise",
    ignore_index: object = None,
) -> tuple[Codes, Factors]:
    """Validate codes and factors together.

    Parameters
    ----------
    codes, factors, kinds, missing
        As :func:`read_codes` and :func:`read_factors` take them.
    ignore_index : bool, optional
        Pair the rows by position whatever the labels of pandas indexes; None where the caller has no such option.

    Raises
    ------
    InputError
        Naming the argument, the column, how many values are wrong and the first row.
    """
    if not isinstance(ignore_index, bool | None):
        checked_flag(ignore_index, "ignore_index")
    table_columns.check_lengths(codes, factors)
    checked_codes = read_codes(codes, missing=missing)
    omitting = OMITTING if ignore_index is None else f"demele.Factors(factors, {OMITTING})"
    checked_factors = read_factors(factors, kinds=kinds, missing=missing, omitting=omitting)
    check_pair(checked_codes.n, checked_codes.d, checked_factors)
    if not ignore_index:
        table_columns.check_same_rows(codes, factors, optional=ignore_index is not None)
    return checked_codes, checked_factors


def read_given(codes: object, factors: object) -> tuple[Codes, Factors]:
    """Validate codes and factors, each plain or with what is special about its columns."""
    given, known = given_data.Codes.of(codes), given_data.Factors.of(factors)
    return read_pair(
        given.values, known.values, kinds=known.kinds, missing=known.missing, ignore_index=known.ignore_index
    )


def check_pair(n: int, d: int, factors: Factors) -> None:
    """Refuse factors of other rows than n rows of d codes, a single row, and factors that are all constant."""
    if n != factors.n:
        raise table_columns.other_lengths((n, d), (factors.n, factors.m))
    if n < 2:
        raise NotEnoughData("codes", "expected at least 2 rows, got 1")
    if all(column.constant for column in factors.columns):
        names = ", ".join(repr(name) for name in factors.names)
        raise NotEnoughData(
            "factors",
            f"every factor is constant ({names}); nothing varies that codes could represent: "
            "give at least one factor with two values",
        )


def read_codes(codes: object, argument: str = "codes", *, missing: Missing = "raise") -> Codes:
    """Validate codes: a two-dimensional table of finite real numbers.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes)
        NumPy array (any real dtype, memory-mapped too), list of lists, pandas or polars frame, PyTorch tensor,
        SciPy sparse matrix.
    argument, missing : str
        What messages call it; and what is asked of missing annotations of factors, which cannot be asked of codes.
    """
    columns, names = table_columns.split_columns(codes, argument, default="z")
    if not names:
        raise NotEnoughData(argument, "expected at least 1 column, got none")
    if (len(columns) if isinstance(columns, np.ndarray) else len(columns[0])) == 0:
        raise NotEnoughData(argument, "expected at least 2 rows, got none")
    values = table_columns.real_matrix(columns, names, argument)
    # smallest and largest value of each column; NaN where a column holds one
    low = np.full(values.shape[1], np.inf)
    high = np.full(values.shape[1], -np.inf)
    for start in range(0, values.shape[0], CHUNK):
        chunk = values[start : start + CHUNK]
        low = np.minimum(low, chunk.min(axis=0).astype(np.float64))
        high = np.maximum(high, chunk.max(axis=0).astype(np.float64))
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        bad = ~np.isfinite(np.asarray(values, dtype=np.float64))
        wrong = np.flatnonzero(bad.any(axis=0))
        of_both = "drop those rows of both, or impute: `missing='omit'` is for factors"
        remedy = of_both if missing == "omit" else "drop or impute them"
        raise not_finite(argument, [names[index] for index in wrong], np.flatnonzero(bad[:, wrong[0]]), remedy)
    refuse_wide(argument, names, low, high)
    return Codes(values, names, low, high)


def read_factors(
    factors: object, *, kinds: object = None, missing: Missing = "raise", omitting: str = OMITTING
) -> Factors:
    """Validate factors: columns that are each continuous or categorical, detected or given.

    Parameters
    ----------
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Strings, booleans and pandas categoricals are categorical; so are whole numbers with at most 10 different
        values, and more of them (up to 256) that repeat: integers twice, whole floats 10 times on average. Other
        numbers are continuous. Where it is not clear, ``Factors.ambiguous`` says how a column was read. Refused are
        numbers written as text, with a decimal comma for example, and more than 10 different texts or categories that
        occur less than twice on average: names of rows. ``kinds`` makes classes of both.
    kinds : None, str, mapping of name to str, or sequence of str
        ``"continuous"``, ``"categorical"``, or ``"cyclic:360"`` of an angle in degrees, overriding what is detected.
        ``"cyclic"`` alone where the values span 360 or 2 pi. Without ``kinds``, columns of numbers are cyclic that
        ``factors.attrs["periods"]`` of a frame names, as those of image sets do.
    missing : {"raise", "omit"}
        What to do with missing annotations (NaN, None).
    omitting : str
        How the message says to omit them.
    """
    if not isinstance(missing, str) or missing not in ("raise", "omit"):
        raise InputError("missing", f"expected 'raise' or 'omit', got {quoted(missing)}")
    columns, names = table_columns.split_columns(factors, "factors", default="v")
    columns = list(columns.T) if isinstance(columns, np.ndarray) else columns
    if not columns:
        raise NotEnoughData("factors", "expected at least 1 column, got none")
    if not len(columns[0]):
        raise NotEnoughData("factors", "expected at least 2 rows, got none")
    given = given_kinds(kinds, names, circles=True)
    periods = getattr(factors, "attrs", {}).get("periods", {})
    read, doubts = [], []
    for column, name in zip(columns, names, strict=True):
        kind = given.get(name)
        factor = read_factor(column, name, kind)
        span, period = factor.high - factor.low, periods.get(name, 0.0)
        if kind is None and factor.kind == "continuous" and span <= period < 2 * span:
            factor = factor.on_circle(period)
        if kind is None and factor.categorical:
            refuse_names_of_rows(len(factor.levels), factor.n_annotated, name, next(iter(factor.levels), None))
        if factor.n_annotated == 0:
            raise NotEnoughData("factors", f"column {quoted(name)} has no annotated row at all; leave it out")
        read.append(factor)
        doubts.append(doubt_of(factor, column, kind))
    refuse_wide("factors", names, [factor.low for factor in read], [factor.high for factor in read])
    incomplete = [factor for factor in read if not factor.complete]
    if missing == "raise" and incomplete:
        first = incomplete[0]
        row = int(np.flatnonzero(~first.annotated())[0])
        more = plural(len(incomplete) - 1, "other column", "other columns")
        others = "" if len(incomplete) == 1 else f" (and in {more})"
        raise InputError(
            "factors",
            f"{plural(len(first.values) - first.n_annotated, 'missing annotation', 'missing annotations')} in column "
            f"{quoted(first.name)}{others}, first at row {row}; drop those rows, or pass `{omitting}` to "
            "score each factor on the rows annotated for it",
        )
    return Factors(tuple(read), missing, tuple(filter(None, doubts)), kinds is not None)


# Factors -----------------------------------------------------------------------------------------------------------


def given_kinds(kinds: object, names: tuple[str, ...], *, circles: bool = False) -> dict[str, Kind]:
    """Return the kinds that were given, by factor; ``circles``: whether cyclic ones are known here."""
    if kinds is None:
        return {}
    if isinstance(kinds, str):
        given: dict[str, object] = dict.fromkeys(names, kinds)
    elif isinstance(kinds, Mapping):
        given = {str(name): kind for name, kind in kinds.items()}
        for name in given:
            if name not in names:
                raise InputError(
                    "kinds", f"unknown factor {quoted(name)}; the factors are {', '.join(map(quoted, names))}"
                )
    elif isinstance(kinds, Sequence):
        if len(kinds) != len(names):
            raise InputError("kinds", f"expected one kind for each of the {len(names)} factors, got {len(kinds)}")
        given = dict(zip(names, kinds, strict=True))
    else:
        raise InputTypeError("kinds", f"expected a word, a mapping or a sequence, got {type(kinds).__name__}")
    for name, kind in given.items():
        if kind in ("continuous", "categorical") or (circles and is_cyclic(kind)):
            continue
        wanted = "'continuous' or 'categorical'" + (", or 'cyclic:PERIOD' such as 'cyclic:360'," if circles else "")
        elsewhere = "; cyclic factors are scored from rows in memory only" if is_cyclic(kind) else ""
        raise InputError("kinds", f"expected {wanted} for factor {quoted(name)}, got {quoted(kind)}{elsewhere}")
    return cast("dict[str, Kind]", given)


# One column of factors: classes or a quantity, its levels or extremes -------------------------------------------------


def read_factor(column: Any, name: str, given: Kind | None) -> Factor:
    """Validate one column of factors, of a kind that is given or detected."""
    if given is not None and is_cyclic(given):
        return cyclic(read_factor(column, name, "continuous"), given)
    if type(column).__module__.startswith("pandas"):
        if str(column.dtype) == "category":
            return _categorical(column, name, given)
        column = table_columns.series_to_numpy(column, keep_kind=True)
    column = np.asarray(column)
    odd = {"c": "complex numbers", "M": "dates", "m": "time spans"}.get(column.dtype.kind)
    if odd is not None:
        what = f"expected real numbers or classes in column {quoted(name)}, got {odd}"
        raise InputTypeError("factors", what, "convert them to a number or to strings")
    if column.dtype.kind == "O":
        numbers = as_numbers(column)
        if numbers is None:
            return _categorical(column, name, given)
        column = numbers
    if column.dtype.kind == "f":
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
        if n_infinite:
            row = int(np.flatnonzero(np.isinf(np.asarray(column, dtype=np.float64)))[0])
            values = plural(n_infinite, "infinite value", "infinite values")
            what = f"{values} in column {quoted(name)}, first at row {row}"
            raise InputError("factors", what, "drop or mark them missing")
        whole = table_columns.whole_numbers(column) if given is None else None
        few = whole is not None and are_classes(len(whole), len(column) - n_missing, integer=False)
        if few or given == "categorical":
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


def _quantity(column: Array, name: str) -> Factor:
    values = column.astype(np.float64)
    return Factor(name, "continuous", values, (), float(values.min()), float(values.max()), len(values))


def as_numbers(column: Array) -> Floats | None:
    """Return an object column as floats when it holds numbers and missing values only (booleans are classes)."""
    result = np.empty(len(column), dtype=np.float64)
    for row, value in enumerate(column):
        if value is None or table_columns.is_missing(value):
            result[row] = np.nan
        elif isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
            result[row] = table_columns.as_float(value)
        else:
            return None
    return result


def doubt_of(factor: Factor, column: Any, given: Kind | None) -> str | None:
    """Say how a column was read that may be otherwise: an angle as a quantity, whole numbers as classes or not."""
    if given is not None:
        return unique_class_doubt(factor.name, given, len(factor.levels), factor.n_annotated)
    period = (
        table_columns.circle_period(factor.values, factor.low, factor.high) if factor.kind == "continuous" else None
    )
    if period is not None:
        name = quoted(factor.name)
        return (
            f"factor {name} spans {factor.low:.3g} to {factor.high:.3g}, as angles do, and was read as a quantity "
            f"with two ends; if it is an angle, pass `kinds={{{name}: 'cyclic:{period:.17g}'}}`"
        )
    if factor.cyclic:
        return None
    stored = np.asarray(column[:1]).dtype.kind
    whole = factor.levels if factor.categorical else table_columns.whole_numbers(factor.values)
    if stored not in "iuf" or str(getattr(column, "dtype", "")) == "category" or whole is None:
        return None
    n_levels = len(whole)
    return whole_number_doubt(factor.name, factor.kind, n_levels, factor.n_annotated, of_floats=stored == "f")


def _categorical(column: Any, name: str, given: Kind | None) -> Factor:
    if given == "continuous":
        raise InputTypeError(
            "factors",
            f"column {quoted(name)} was declared continuous but holds classes such as "
            + quoted(_first(column))
            + number_hint(_first(column), column),
        )
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu" and column.size:
        low, high = int(column.min()), int(column.max())
        if high - low > 4 * len(column) + 1000 or high > np.iinfo(np.int64).max:
            distinct, indices = np.unique(column, return_inverse=True)
            levels = tuple(str(value) for value in distinct)
        else:
            indices = column.astype(np.int64) - low if low or column.dtype != np.int64 else column
            used = np.bincount(indices, minlength=high - low + 1) > 0
            levels = tuple(str(value + low) for value in np.flatnonzero(used))
            indices = indices if used.all() else (np.cumsum(used) - 1)[indices]
    elif isinstance(column, np.ndarray) and column.dtype.kind == "f":
        known = ~np.isnan(column)
        distinct, inverse = np.unique(column[known], return_inverse=True)
        indices = np.full(len(column), -1, dtype=np.intp)
        indices[known] = inverse
        levels = table_columns.levels_of_floats(distinct, name)
    else:
        indices, levels = _factorised(column, name)
    if given is None and is_text(column):
        refuse_written_numbers(levels, np.asarray(indices), name)
    return Factor(name, "categorical", indices, levels, 0.0, len(levels) - 1.0, int((indices >= 0).sum()))


def _first(column: Any) -> object:
    return column.iloc[0] if hasattr(column, "iloc") else column[0]


def _factorised(column: Any, name: str) -> tuple[Array, tuple[str, ...]]:

    if isinstance(getattr(column, "dtype", None), pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()
        return np.asarray(column.cat.codes, dtype=np.intp), tuple(str(level) for level in column.cat.categories)
    column = np.asarray(column)
    if column.dtype.kind in "UO":
        table_columns.check_texts("factors", [value for value in column.tolist() if isinstance(value, str)])
    series = pd.Series(column, dtype=object if column.dtype == object else None)
    if series.dtype == object:
        types = {type(value) for value in series if value is not None and not table_columns.is_missing(value)}
        if not all(issubclass(kind, str | bool | int | float | np.generic) for kind in types):
            odd = next(kind.__name__ for kind in types if not issubclass(kind, str | bool | int | float | np.generic))
            raise InputTypeError(
                "factors", f"expected numbers or classes in column {quoted(name)}, got values of type {odd}"
            )
        if len(types) > 1:
            series = series.map(lambda value: None if value is None or table_columns.is_missing(value) else str(value))
    indices, found = pd.factorize(series, sort=True)
    levels = tuple(str(level) for level in found)
    table_columns.check_texts("factors", (name, *levels))
    return np.asarray(indices, dtype=np.intp), levels
