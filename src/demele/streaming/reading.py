"""From a batch as it comes to rows in the coding of a frame, refused where the frame does not know it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.core.factor_columns import read_factor
from demele.core.inputs import Codes, read_codes
from demele.core.table_columns import check_same_order, split_columns
from demele.streaming.columns import Column, Columns, column_order
from demele.streaming.rows import Rows, n_rows

#: Of codes and of factors.
OTHER_ROWS = (
    "codes and factors: expected the same number of rows, got {} rows of codes and {} rows of factors; row r of both "
    "must describe the same sample"
)


def read_batch(frame: Columns, codes: object, factors: object, outside: str) -> Rows:
    """Return a batch in the coding of a frame: see :meth:`demele.Frame.read`."""
    table, names = split_columns(codes, "codes", default="z")
    columns, own = split_columns(factors, "factors", default="v")
    in_codes = _order(table, names, frame.codes, "codes")
    in_factors = _order(columns, own, frame.factors, "factors") or range(len(frame.columns))
    n, rows = n_rows(table), n_rows(columns)
    if rows != n:
        raise InputError(OTHER_ROWS.format(n, rows))
    if n == 0:
        return Rows(np.empty((0, len(frame.codes))), tuple(np.empty(0) for _ in frame.columns), 0)
    check_same_order(codes, factors, ("codes", "factors"))
    read = read_codes(table if isinstance(table, np.ndarray) else codes)
    if in_codes is not None:
        read = Codes(read.values[:, in_codes], frame.codes, read.low[in_codes], read.high[in_codes])
    values = tuple(
        _factor(columns[:, index] if isinstance(columns, np.ndarray) else columns[index], about, frame.missing)
        for index, about in zip(in_factors, frame.columns, strict=True)
    )
    return _within(frame, read, values, clip=outside == "clip")


def _order(
    table: NDArray[Any] | list[Any], names: tuple[str, ...], expected: tuple[str, ...], argument: str
) -> list[int] | None:
    named = not isinstance(table, np.ndarray)
    return column_order(names, expected, argument, named=named, where="of the frame")


def _within(frame: Columns, read: Codes, factors: tuple[NDArray[Any], ...], *, clip: bool) -> Rows:
    """Refuse, or clip, what lies outside the ranges of a frame."""
    matrix, clipped = read.values, 0
    beyond = (read.low < frame.low) | (read.high > frame.high)
    if beyond.any():
        off = (matrix < frame.low) | (matrix > frame.high)
        if not clip:
            column = int(np.flatnonzero(beyond)[0])
            reach = float(frame.low[column]), float(frame.high[column])
            raise _outside("codes", frame.codes[column], matrix[:, column], off[:, column], int(off.sum()), *reach)
        clipped += int(off.sum())
        matrix = np.clip(matrix, frame.low, frame.high)
    inside = []
    for values, about in zip(factors, frame.columns, strict=True):
        if about.kind == "continuous":
            exact = np.asarray(values, dtype=np.float64)
            off = (exact < about.low) | (exact > about.high)
            if off.any():
                if not clip:
                    raise _outside("factors", about.name, values, off, int(off.sum()), about.low, about.high)
                clipped += int(off.sum())
                values = np.clip(exact, about.low, about.high)
        inside.append(values)
    if not clipped:
        return Rows(matrix, factors, 0)
    return Rows(matrix, tuple(inside), clipped, Rows(read.values, factors, 0))


def _outside(
    argument: str, name: str, values: NDArray[Any], off: NDArray[np.bool_], count: int, low: float, high: float
) -> InputError:
    row = int(np.flatnonzero(off)[0])
    return InputError(
        argument,
        f"{count} values of this batch lie outside the frame's ranges, first {values[row]:g} in column "
        f"{name!r} at row {row}, outside [{low:g}, {high:g}]; make the frame wider, or pass outside='clip' to count "
        "them in the first or last bin",
    )


def _factor(column: Any, about: Column, missing: str) -> NDArray[Any]:
    """Return a factor's values: level numbers (-1: not annotated), or floats (NaN)."""
    if about.kind == "categorical":
        return _levels(column, about, missing)
    if isinstance(column, np.ndarray) and column.dtype.kind in "fiub":
        values = column if column.dtype.kind == "f" else column.astype(np.float64)
    else:
        values = np.asarray(read_factor(column, about.name, "continuous").values)
    known = np.isfinite(values)
    if not known.all():
        infinite = np.flatnonzero(np.isinf(values))
        if infinite.size:
            raise InputError(
                "factors",
                f"{infinite.size} infinite values in column {about.name!r}, first at row {infinite[0]} of "
                "this batch; drop or mark them missing",
            )
        _check_missing(~known, about.name, missing)
    return values


def _levels(column: Any, about: Column, missing: str) -> NDArray[Any]:
    factor = read_factor(column, about.name, "categorical")
    if not factor.complete:
        _check_missing(np.asarray(factor.values) < 0, about.name, missing)
    if factor.levels == about.levels:
        return np.asarray(factor.values)
    place = {level: index for index, level in enumerate(about.levels)}
    unknown = [level for level in factor.levels if level not in place]
    if unknown:
        row = int(np.flatnonzero(factor.values == factor.levels.index(unknown[0]))[0])
        raise InputError(
            "factors",
            f"column {about.name!r} of this batch holds {len(unknown)} classes that the frame does not "
            f"have, first {unknown[0]!r} at row {row}; make the frame with all classes",
        )
    table = np.array([*(place[level] for level in factor.levels), -1], dtype=np.intp)
    return np.asarray(table[factor.values])


def _check_missing(unknown: NDArray[np.bool_], name: str, missing: str) -> None:
    if missing == "raise":
        raise InputError(
            "factors",
            f"{int(unknown.sum())} missing annotations in column {name!r}, first at row "
            f"{int(np.flatnonzero(unknown)[0])} of this batch; drop those rows, or make the frame with missing='omit'",
        )
