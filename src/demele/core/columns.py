"""Validated columns: codes and factors, and the one rule by which numbers are classes or a quantity."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, NotEnoughData, quoted
from demele.core.table_columns import circle_period, whole_numbers

#: "continuous", "categorical", or "cyclic:PERIOD" with a number, such as "cyclic:360".
Kind = str


#: Values within this share of the period below its end are at its beginning.
SEAM = 1e-10


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
        return np.asarray(self.low == self.high)

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
    Cyclic: the same, from 0 to the period, which are ``low`` and ``high`` whatever values there are.
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
        if self.cyclic:
            return bool(np.nanmin(self.values) == np.nanmax(self.values))
        return self.low == self.high

    @property
    def cyclic(self) -> bool:
        """Whether the values are positions on a circle."""
        return self.kind.startswith("cyclic:")

    def on_circle(self, period: float) -> "Factor":
        """Return a quantity as positions on a circle of some period."""
        values = np.mod(np.asarray(self.values, dtype=np.float64), period)
        values[values >= period * (1 - SEAM)] = 0.0
        return Factor(self.name, f"cyclic:{period:.17g}", values, (), 0.0, period, self.n_annotated)

    @property
    def coordinates(self) -> NDArray[Any]:
        """Return what predictors and correlations see: values (n,), of a cyclic factor cosine and sine (n, 2)."""
        if not self.cyclic:
            return self.values
        angles = 2 * np.pi * self.values / self.high
        return np.column_stack([np.cos(angles), np.sin(angles)])

    def annotated(self) -> NDArray[np.bool_]:
        """Which rows are annotated."""
        if self.complete:
            return np.ones(len(self.values), dtype=bool)
        return self.values >= 0 if self.categorical else ~np.isnan(self.values)

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
        if self.cyclic:
            low, high = self.low, self.high
        return Factor(self.name, self.kind, values, (), low, high, int(known.size))


@dataclass(frozen=True, slots=True)
class Factors:
    """Validated factors, column by column; ``declared``: whether their kinds were given."""

    columns: tuple[Factor, ...]
    missing: Missing = "raise"
    ambiguous: tuple[str, ...] = field(default=())
    declared: bool = False

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
    def reading(self) -> dict[str, object]:
        """How they were read, as signatures say it: where it is not the default."""
        said: dict[str, object] = {} if self.missing == "raise" else {"missing": self.missing}
        if self.declared or any(column.cyclic for column in self.columns):
            said["kinds"] = {column.name: column.kind for column in self.columns}
        return said

    @property
    def complete(self) -> bool:
        """Whether every factor is annotated on every row."""
        return all(column.complete for column in self.columns)

    def take(self, rows: NDArray[np.intp]) -> "Factors":
        """Return some rows, in the given order."""
        return Factors(tuple(column.take(rows) for column in self.columns), self.missing, self.ambiguous)


def are_classes(n_levels: int, n_annotated: int, *, integer: bool) -> bool:
    """Whether whole numbers of so many different values in so many rows are classes: the rule for every reader.

    ``integer``: they were stored as integers, not as floats.
    """
    rows_per_label = ROWS_PER_INTEGER_LABEL if integer else ROWS_PER_STORED_LABEL
    if n_levels <= FEW_LEVELS:
        return True
    return n_levels <= MAX_LEVELS_OF_WHOLE_FLOATS and n_annotated >= rows_per_label * n_levels


@dataclass(frozen=True, slots=True)
class WholeNumbers:
    """What the kind of a numeric column is detected from, if it was not given.

    Attributes
    ----------
    values : tuple of int, or None
        The different values; None if one is no whole number, or if they are so many that they measure something:
        continuous, whatever other rows hold.
    n : int
        Annotated rows.
    integer : bool
        Whether they were stored as integers.
    """

    values: tuple[int, ...] | None
    n: int
    integer: bool

    @classmethod
    def of(cls, factor: Factor, *, integer: bool) -> "WholeNumbers":
        """Return what a numeric column says of its kind."""
        if factor.categorical:
            return cls(tuple(int(level) for level in factor.levels), factor.n_annotated, integer)
        distinct = whole_numbers(factor.values)
        few = distinct is not None and 0 < distinct.size <= MAX_LEVELS_OF_WHOLE_FLOATS
        values = tuple(int(value) for value in distinct) if distinct is not None and few else None
        return cls(values, factor.n_annotated, integer)

    def merge(self, other: "WholeNumbers") -> "WholeNumbers":
        """Return what the rows of both say."""
        values = None
        if self.values is not None and other.values is not None:
            together = sorted({*self.values, *other.values})
            values = tuple(together) if len(together) <= MAX_LEVELS_OF_WHOLE_FLOATS else None
        return WholeNumbers(values, self.n + other.n, self.integer and other.integer)

    @property
    def categorical(self) -> bool:
        """Whether :func:`demele.evaluate` reads such a column as classes."""
        return self.values is not None and are_classes(len(self.values), self.n, integer=self.integer)


def whole_number_doubt(name: str, kind: Kind, n_levels: int, n_annotated: int, *, of_floats: bool) -> str | None:
    """Say how a column of whole numbers was read, where it may be otherwise."""
    if n_levels <= FEW_LEVELS:
        return None
    if n_levels > MAX_LEVELS_OF_WHOLE_FLOATS and of_floats:
        return None
    if n_levels <= MANY_LEVELS and n_annotated >= ROWS_PER_STORED_LABEL * n_levels:
        return None
    other, what = ("continuous", "a quantity") if kind == "categorical" else ("categorical", "classes")
    if n_levels == n_annotated:
        what += ", or leave it out if it numbers the rows"
    return (
        f"factor {quoted(name)} holds {n_levels} different whole numbers in {n_annotated} rows and was read as "
        f"{kind}; pass `kinds={{{quoted(name)}: {other!r}}}` if it holds {what}"
    )


def is_cyclic(kind: object) -> bool:
    """Whether a word is "cyclic", or "cyclic:" and a number above 0."""
    return re.fullmatch(r"cyclic(:(?=.*[1-9])\d{1,15}(\.\d*)?)?", str(kind)) is not None


def cyclic(factor: Factor, kind: Kind) -> Factor:
    """Return a quantity as a cyclic factor; of the kind "cyclic" alone, by the circle that it goes round.

    Raises
    ------
    InputError
        If it goes round none.
    """
    period = (
        circle_period(factor.values, factor.low, factor.high) if kind == "cyclic" else float(kind.partition(":")[2])
    )
    if period is None:
        raise InputError(
            "kinds",
            f"values of factor {quoted(factor.name)} from {factor.low:g} to {factor.high:g} span neither 360 nor 2 pi; "
            f"say after how much they begin again: pass `kinds={{{quoted(factor.name)}: 'cyclic:PERIOD'}}`",
        )
    return factor.on_circle(period)


def refuse_cyclic(factors: Iterable[Factor], what: str) -> None:
    """Refuse cyclic factors where numbers have two ends.

    Raises
    ------
    NotEnoughData
    """
    for factor in factors:
        if factor.cyclic:
            remedy = f"leave it out, or pass `kinds={{{quoted(factor.name)}: 'continuous'}}`"
            problem = f"does not know cyclic factors such as {quoted(factor.name)}"
            raise NotEnoughData("factors", f"{what} {problem}; {remedy}")


def unique_class_doubt(name: str, kind: Kind, n_levels: int, n_annotated: int) -> str | None:
    """Return a message for a factor that was declared categorical and has one row per class."""
    if kind != "categorical" or n_levels != n_annotated or n_levels <= FEW_LEVELS:
        return None
    return (
        f"factor {quoted(name)} was declared categorical, but each of its {n_annotated} rows has its own class, like "
        "an identifier: no metric can distinguish a code from noise with it; leave it out"
    )
