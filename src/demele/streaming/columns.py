"""One factor of a frame, and what is remembered of parts of the rows to detect kinds as one pass over all does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.columns import Factor, Missing, WholeNumbers
from demele.core.errors import IncompatibleState, InputError, quoted
from demele.core.given_arrays import items_of
from demele.core.table_columns import as_column
from demele.estimation.discretise import Binning, ColumnBins

#: Names that columns of arrays are given.
_DEFAULTS = {"codes": "z", "factors": "v", "codes_std": "z"}


def storage(column: Any) -> str:
    """Return "i" for integers, "f" for other numbers, "" for classes that are no numbers, "?" if all are missing."""
    if str(getattr(column, "dtype", "")) == "category":
        return ""
    values = as_column(column, "factors")
    if values.dtype.kind != "O":
        return {"i": "i", "u": "i", "f": "f"}.get(values.dtype.kind, "")
    import pandas as pd

    for value in values:
        if not (value is None or value is pd.NA or value != value):
            number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
            return "f" if number else ""
    return "?"


@dataclass(frozen=True, slots=True)
class Column:
    """One factor: continuous between ``low`` and ``high``, or categorical with ``levels``.

    ``seen`` is the evidence for its kind; None if the kind was given, or is clear. The levels of ``text`` are
    in the order of the alphabet, those of numbers in theirs.
    """

    name: str
    kind: str
    low: float
    high: float
    levels: tuple[str, ...] = ()
    seen: WholeNumbers | None = field(default=None, compare=False)
    text: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, factor: Factor, column: Any, *, detected: bool) -> "Column":
        """Describe a factor that was read from a column."""
        stored = storage(column)
        seen = WholeNumbers.of(factor, integer=stored == "i") if detected and stored else None
        return cls(factor.name, factor.kind, factor.low, factor.high, factor.levels, seen, not stored)

    def merge(self, other: "Column") -> "Column":
        """Return the column of the rows of both.

        Raises
        ------
        IncompatibleState
            If their kinds differ, and it cannot be said how one pass over all rows would read the column.
        """
        if self.seen is not None and other.seen is not None:
            return self._detected(other, self.seen.merge(other.seen))
        if self.kind != other.kind:
            raise IncompatibleState(
                f"factor {self.name!r} is {self.kind} in one part and {other.kind} in the other; say which it is: "
                f"make both frames with kinds={{{self.name!r}: ...}}"
            )
        if self.kind == "continuous":
            return Column(self.name, self.kind, min(self.low, other.low), max(self.high, other.high))
        text = self.text or other.text
        levels = self.levels if self.levels == other.levels else _sorted({*self.levels, *other.levels}, text=text)
        return Column(self.name, self.kind, 0.0, len(levels) - 1.0, levels, None, text)

    def _detected(self, other: "Column", seen: WholeNumbers) -> "Column":
        if seen.categorical and seen.values is not None:
            levels = tuple(str(value) for value in seen.values)
            return Column(self.name, "categorical", 0.0, len(levels) - 1.0, levels, seen)
        reach = [*self._reach(), *other._reach()]
        return Column(self.name, "continuous", min(reach), max(reach), (), seen)

    def _reach(self) -> tuple[float, float]:
        """Smallest and largest number."""
        if self.kind == "categorical" and self.seen is not None and self.seen.values:
            return float(self.seen.values[0]), float(self.seen.values[-1])
        return self.low, self.high


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Columns:
    """All columns of a frame: names and ranges of codes, factors, gaps, and edges that looked at values."""

    codes: tuple[str, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    columns: tuple[Column, ...]
    missing: Missing = "raise"
    exact: Mapping[Binning, tuple[tuple[ColumnBins, ...], tuple[ColumnBins | None, ...]]] = field(default_factory=dict)

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factors."""
        return tuple(one.name for one in self.columns)

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each factor."""
        return {one.name: one.kind for one in self.columns}


def merged_columns(first: tuple[Column, ...], second: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the columns of the rows of both."""
    return tuple(mine.merge(theirs) for mine, theirs in zip(first, second, strict=True))


def _sorted(levels: set[str], *, text: bool) -> tuple[str, ...]:
    """Sort levels as one pass over all rows would: numbers by value, other classes by name."""
    if text:
        return tuple(sorted(levels))
    try:
        return tuple(sorted(levels, key=float))
    except ValueError:
        return tuple(sorted(levels))


def column_order(
    names: tuple[str, ...], expected: tuple[str, ...], argument: str, *, named: bool, where: str
) -> list[int] | None:
    """Return where each expected column stands in a batch, or None if they stand in order.

    Columns with names may come in any order; where one of the two sides was an array, which has no names, columns are
    taken as they stand.

    Raises
    ------
    InputError
        Saying which column is missing, or is one too many; ``where`` says who expects the others.
    """
    if names == expected:
        return None
    if len(names) == len(expected):
        if named and set(names) == set(expected):
            return [names.index(name) for name in expected]
        if not named or all(name == f"{_DEFAULTS[argument]}{index + 1}" for index, name in enumerate(expected)):
            return None
    told = [f"got {len(names)}"]
    if named:
        told += [f"{name!r} is missing" for name in expected if name not in names][:1]
        told += [f"{name!r} is not among them" for name in names if name not in expected][:1]
    listed = ", ".join(map(repr, expected[:6])) + (", ..." if len(expected) > 6 else "")
    raise InputError(argument, f"expected the {len(expected)} columns {where}, {listed}; {', '.join(told)}")


# What is stated ---------------------------------------------------------------------------------------------------


def named_items(given: Any, argument: str, default: str) -> list[tuple[str, Any]]:
    """Return the pairs of a mapping, or the items of a sequence with names made up."""
    if isinstance(given, Mapping):
        items = [(str(name), value) for name, value in given.items()]
    else:
        held = items_of(given, argument, "a sequence or a mapping of names")
        items = [(f"{default}{index + 1}", value) for index, value in enumerate(held)]
    if not items:
        raise InputError(argument, "expected at least one, got none")
    return items


def range_of(ends: Any, what: str) -> tuple[float, float]:
    """Return a range of finite numbers."""
    try:
        low, high = (float(end) for end in ends)
    except (TypeError, ValueError) as error:
        raise InputError(what, f"expected (low, high), got {quoted(ends)}") from error
    if not (np.isfinite(low) and np.isfinite(high) and low < high and np.isfinite(high - low)):
        raise InputError(what, f"expected finite low < high, got {quoted(ends)}")
    return low, high
