"""Validated columns: codes, also sparse ones, factors, blocks of rows; and the rule for classes or a quantity."""

import importlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from demele.core.arrays import Array, Flags, Floats, Integers, Rows, pd
from demele.core.errors import DemeleWarning, InputError, InputTypeError, NotEnoughData, plural, quoted, warn_user
from demele.core.table_columns import (
    as_column,
    check_distinct,
    checked_structure,
    circle_period,
    items_of,
)

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

    values: Array
    names: tuple[str, ...]
    low: Floats
    high: Floats

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def d(self) -> int:
        """Number of codes."""
        return int(self.values.shape[1])

    @property
    def constant(self) -> Flags:
        """Which codes take one value only."""
        return np.asarray(self.low == self.high)

    def dense(self) -> Floats:
        """All rows as float64, contiguous."""
        return np.ascontiguousarray(self.values, dtype=np.float64)

    def take(self, rows: Rows) -> "Codes":
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
    values: Array
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
    def coordinates(self) -> Array:
        """Return what predictors and correlations see: values (n,), of a cyclic factor cosine and sine (n, 2)."""
        if not self.cyclic:
            return self.values
        angles = 2 * np.pi * self.values / self.high
        return np.column_stack([np.cos(angles), np.sin(angles)])

    def annotated(self) -> Flags:
        """Which rows are annotated."""
        if self.complete:
            return np.ones(len(self.values), dtype=bool)
        return self.values >= 0 if self.categorical else ~np.isnan(self.values)

    def take(self, rows: Rows) -> "Factor":
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

    def take(self, rows: Rows) -> "Factors":
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


def whole_number_doubt(name: str, kind: Kind, n_levels: int, n_annotated: int, *, of_floats: bool) -> str | None:
    """Say how a column of whole numbers was read, where it may be otherwise."""
    quantity = n_levels > MAX_LEVELS_OF_WHOLE_FLOATS and of_floats
    repeated = n_levels <= MANY_LEVELS and n_annotated >= ROWS_PER_STORED_LABEL * n_levels
    if n_levels <= FEW_LEVELS or quantity or repeated:
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


def not_finite(argument: str, wrong: Sequence[str], rows: Array, remedy: str) -> InputError:
    """Return the error of columns that hold NaN or infinite values, the first of them in these rows."""
    more = f"{plural(len(wrong) - 1, 'other column', 'other columns')}: {', '.join(map(quoted, wrong[1:6]))}"
    others = f" (and {more})" if len(wrong) > 1 else ""
    values = plural(len(rows), "non-finite value", "non-finite values")
    what = f"{values} (NaN or infinite) in column {quoted(wrong[0])}{others}, first at row {min(rows)}"
    return InputError(argument, what, remedy)


def refuse_wide(argument: str, names: Sequence[str], low: Any, high: Any) -> None:
    """Refuse columns whose range is beyond the largest float.

    Raises
    ------
    InputError
    """
    with np.errstate(over="ignore", invalid="ignore"):
        wide = np.flatnonzero(np.isinf(np.subtract(high, low, dtype=np.float64)))
    if wide.size:
        raise InputError(
            argument, f"the range of column {quoted(names[wide[0]])} exceeds the largest float; rescale it"
        )


# The door for sparse codes --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SparseCodes:
    """Validated sparse codes of shape (n_samples, n_codes): the non-zeros of each column, in the order of the rows.

    Attributes
    ----------
    n : int
        Rows.
    names : tuple of str
        Names of the codes.
    values : ndarray of shape (n_nonzeros,)
        Finite, none of them 0.
    rows : ndarray of shape (n_nonzeros,)
        The row of each.
    starts : ndarray of shape (n_codes + 1,)
        Column j has the non-zeros ``starts[j]`` to ``starts[j + 1]``.
    low, high : ndarray of shape (n_codes,)
        Smallest and largest non-zero of each code; 0 where there is none.
    """

    n: int
    names: tuple[str, ...]
    values: Array
    rows: Integers
    starts: Integers
    low: Floats
    high: Floats

    @property
    def d(self) -> int:
        """Number of codes."""
        return len(self.names)

    @property
    def n_nonzeros(self) -> Integers:
        """Number of non-zeros of each code."""
        return np.diff(self.starts)

    @property
    def activity(self) -> Floats:
        """Share of the rows in which each code is not zero."""
        return self.n_nonzeros / self.n

    @property
    def constant(self) -> Flags:
        """Which codes take one value only: no non-zero at all, or the same one in every row."""
        filled = self.n_nonzeros
        return np.asarray((filled == 0) | ((filled == self.n) & (self.low == self.high)))

    def column(self, code: int) -> tuple[Integers, Floats]:
        """Return the rows and the values of one code's non-zeros."""
        own = slice(int(self.starts[code]), int(self.starts[code + 1]))
        return self.rows[own], self.values[own].astype(np.float64)

    @property
    def matrix(self) -> Any:
        """The codes as compressed columns of SciPy, not copied."""
        sparse = importlib.import_module("scipy.sparse")
        return sparse.csc_array((self.values, self.rows, self.starts), shape=(self.n, self.d))

    def take_codes(self, chosen: Rows) -> "SparseCodes":
        """Return some codes."""
        some, names = self.matrix[:, chosen], tuple(self.names[code] for code in chosen)
        return SparseCodes(self.n, names, some.data, some.indices, some.indptr, self.low[chosen], self.high[chosen])

    def dense(self, chosen: Rows, rows: Rows) -> Codes:
        """Return some codes on some (increasing) rows as dense codes."""
        values = self.matrix[:, chosen][rows].toarray().astype(np.float64)
        return Codes(values, tuple(self.names[code] for code in chosen), values.min(axis=0), values.max(axis=0))


def read_sparse_codes(codes: object, code_names: Sequence[str] | None = None) -> SparseCodes:
    """Validate sparse codes.

    Parameters
    ----------
    codes : SciPy sparse matrix or array of shape (n_samples, n_codes)
        Any format; real, finite. Entries that stand twice are added up and stored zeros are zeros, as in ``toarray``.
        The matrix itself is not changed.
    code_names : sequence of str, optional
        One name per column, all different; ``z1``, ``z2``, ... by default.
    """
    if not importlib.import_module("scipy.sparse").issparse(codes):
        raise InputTypeError(
            "codes", f"expected a SciPy sparse matrix or array, got {type(codes).__name__}; {_remedy(codes)}"
        )
    matrix: Any = codes
    if matrix.ndim != 2:
        raise InputError("codes", f"expected 2 dimensions (n_samples, n_codes), got shape {tuple(matrix.shape)}")
    n, d = (int(size) for size in matrix.shape)
    if d < 1:
        raise NotEnoughData("codes", "expected at least 1 column, got none")
    if n < 2:
        raise NotEnoughData("codes", f"expected at least 2 rows, got {n or 'none'}")
    kind = matrix.dtype.kind
    if kind not in "biuf":
        what = "complex numbers" if kind == "c" else str(matrix.dtype)
        raise InputTypeError("codes", f"expected real numbers, got {what}")
    matrix = checked_structure(matrix, "codes")
    names = _names(code_names, d)
    columns = _canonical(matrix)
    values = columns.data.astype(np.uint8) if kind == "b" else columns.data
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        of_bad = np.searchsorted(columns.indptr, bad, side="right") - 1
        wrong = [names[code] for code in np.unique(of_bad)]
        raise not_finite("codes", wrong, columns.indices[bad[of_bad == of_bad[0]]], "drop or impute them")
    filled = np.flatnonzero(np.diff(columns.indptr))
    low, high = np.zeros(d), np.zeros(d)
    if len(filled):
        low[filled] = np.minimum.reduceat(values, columns.indptr[filled])
        high[filled] = np.maximum.reduceat(values, columns.indptr[filled])
    refuse_wide("codes", names, np.minimum(low, 0.0), np.maximum(high, 0.0))
    return SparseCodes(n, names, values, columns.indices, columns.indptr, low, high)


def _remedy(codes: Any) -> str:
    """Say how to make a SciPy matrix of what was given."""
    if str(getattr(codes, "layout", "")).startswith("torch.sparse"):
        return (
            "convert it: t = codes.detach().cpu().to_sparse_coo().coalesce(); "
            "scipy.sparse.coo_array((t.values().numpy(), t.indices().numpy()), shape=tuple(t.shape))"
        )
    kinds = getattr(codes, "dtypes", None)
    if kinds is not None and hasattr(codes, "columns") and all(str(kind).startswith("Sparse") for kind in kinds):
        return "convert it: codes.sparse.to_coo(), with code_names=[str(name) for name in codes.columns]"
    return "dense codes are scored by demele.evaluate, or made sparse with scipy.sparse.csc_array(codes)"


def _names(given: Sequence[str] | None, d: int) -> tuple[str, ...]:
    if given is None:
        return tuple(f"z{index + 1}" for index in range(d))
    given = items_of(given, "code_names", f"one string for each of the {d} codes")
    if not all(isinstance(name, str) for name in given):
        raise InputTypeError("code_names", f"expected one string for each of the {d} codes, got {quoted(given)}")
    if len(given) != d:
        raise InputError("code_names", f"expected one name for each of the {d} codes, got {len(given)}")
    check_distinct(given, "code_names", "different names")
    return tuple(given)


def _canonical(matrix: Any) -> Any:
    """Return compressed columns with sorted rows, no duplicates and no stored zeros; the caller's stay as they are."""
    if matrix.dtype.itemsize not in (1, 4, 8) and matrix.dtype.kind == "f":  # SciPy computes with neither
        matrix = matrix.astype(np.float32 if matrix.dtype.itemsize == 2 else np.float64)
    columns = matrix.tocsc()
    if columns.has_canonical_format and columns.data.all():
        return columns  # only read from
    if columns is matrix or np.shares_memory(columns.data, matrix.data):
        columns = columns.copy()
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns


# Rows that belong together --------------------------------------------------------------------------------------------

#: Fewer blocks can be put into so few orders that no score would be rare among them: 4 into 24.
LEAST_BLOCKS = 5


def numbered_rows(values: object, argument: str, n: int, rows_of: str) -> tuple[Rows, int]:
    """Return a number from 0, in order of appearance, for what each row belongs to, and how many there are.

    Parameters
    ----------
    values : array-like of shape (n,)
        Rows or names.
    argument : str
        What messages call them.
    n : int
    rows_of : str
        The argument whose rows these are.

    Raises
    ------
    InputError
        If there are not ``n``, or some are missing.
    """
    column = as_column(values, argument)
    if column.shape != (n,):
        raise InputError(argument, f"expected {n}, one per row of `{rows_of}`, got shape {column.shape}")
    try:
        numbers, names = pd.factorize(column)
    except TypeError as error:
        raise InputTypeError(argument, f"expected numbers or names, got {type(column[0]).__name__} at row 0") from error
    missing = np.flatnonzero(numbers < 0)
    if missing.size:
        raise InputError(
            argument,
            f"{missing.size} of {n} rows have none, first row {missing[0]}; give a row that belongs to no other a "
            f"{argument.removesuffix('s')} of its own",
        )
    return numbers.astype(np.intp), len(names)


@dataclass(frozen=True, slots=True, eq=False)
class RowBlocks:
    """Blocks of rows that depend on each other, such as the frames of a video.

    Attributes
    ----------
    count : int
        Blocks.
    rows : array of int of shape (n_samples,)
        The rows, block after block, in their order within each.
    ends : array of int of shape (count,)
        Where each block ends among them.
    """

    count: int
    rows: Rows
    ends: Rows

    def permutation(self, rng: "np.random.Generator") -> Rows:
        """Return an order of the rows in which whole blocks stand in each other's places, each in its own order.

        Blocks of unequal length are laid end to end in their new order, from the first row on.
        """
        blocks = np.split(self.rows, self.ends[:-1])
        order = np.empty_like(self.rows)
        order[self.rows] = np.concatenate([blocks[place] for place in rng.permutation(self.count)])
        return order


def read_blocks(values: object, n: int) -> RowBlocks:
    """Read the block of every row, in the order of the rows of the codes.

    Raises
    ------
    InputError
        If there are not ``n`` of them, or some are missing.
    NotEnoughData
        If there are too few blocks to permute.

    Warns
    -----
    DemeleWarning
        If every row is a block of its own.
    """
    numbers, count = numbered_rows(values, "blocks", n, "codes")
    if count < LEAST_BLOCKS:
        raise NotEnoughData(
            "blocks",
            f"expected at least {LEAST_BLOCKS}, got {count}: so few have too few orders for a "
            "chance level; give shorter blocks, but as long as rows depend on each other",
        )
    if count == n:
        warn_user(
            "blocks: every row is its own block, so blocks have no effect; give each row the number or name of "
            "what it belongs to, such as its video",
            DemeleWarning,
        )
    return RowBlocks(count, np.argsort(numbers, kind="stable"), np.cumsum(np.bincount(numbers)))
