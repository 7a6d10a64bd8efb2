"""What users give as arrays, lists and numbers of any kind: read as what is needed, or refused by their argument."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.sentences import plural
from demele.core.table_columns import from_tensor

#: The smallest float that stands for two whole numbers.
AMBIGUOUS = 2.0**53
#: More items than this, as a view of one number can have, are no list of anything.
MOST_ITEMS = 100_000_000


def refuse_large_floats(values: NDArray[Any], argument: str, column: str | None = None) -> None:
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


def real_numbers(given: Any, argument: str, expected: str = "real numbers") -> NDArray[np.float64]:
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


def whole_array(given: Any, argument: str, *, dimensions: int) -> NDArray[np.int64]:
    """Return whole numbers that a user gave as an array of so many dimensions, or refuse them."""
    array = plain_array(given, argument, "whole numbers")
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise InputTypeError(argument, f"expected whole numbers, got {array.dtype}")
    if array.ndim != dimensions:
        raise InputError(argument, f"expected {dimensions} dimensions, got shape {array.shape}")
    return array.astype(np.int64)


def plain_array(given: Any, argument: str, expected: str) -> NDArray[Any]:
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


def levels_of_floats(distinct: NDArray[Any], name: str) -> tuple[str, ...]:
    """Return floats as names of classes, whole ones without a point.

    Raises
    ------
    InputError
        If one may stand for several whole numbers.
    """
    refuse_large_floats(distinct, "factors", name)
    return tuple(str(int(value)) if float(value).is_integer() else str(value) for value in distinct)
