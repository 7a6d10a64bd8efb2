"""The door: arrays, frames and tensors come in, frozen validated columns go out. Below it, everything is trusted."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from demele.core.columns import (
    CHUNK,
    Codes,
    Factor,
    Factors,
    Kind,
    Missing,
)
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.factor_columns import ambiguity_of, is_text, read_factor
from demele.core.sentences import setting
from demele.core.table_columns import (
    check_same_order,
    real_column,
    real_matrix,
    split_columns,
)
from demele.core.written_numbers import refuse_names_of_rows

#: The door, and the types that it hands out.
__all__ = [
    "Codes",
    "Factor",
    "Factors",
    "Kind",
    "Missing",
    "check_pair",
    "given_kinds",
    "read_codes",
    "read_factors",
    "read_pair",
]


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
        values = real_matrix(columns, names, argument)
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
        if factor.name not in given and (message := ambiguity_of(factor, column)) is not None
    )
    return Factors(read, missing, ambiguous)


# What the array-likes are -----------------------------------------------------------------------------------------


# Codes -------------------------------------------------------------------------------------------------------------


def _too_wide(low: Any, high: Any) -> NDArray[np.bool_]:
    """Whether a range is beyond the largest float."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.isinf(np.asarray(high, dtype=np.float64) - np.asarray(low, dtype=np.float64))


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
