"""What is fixed before the first batch: columns, their kinds, levels and ranges, and so the edges of every bin."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import IncompatibleState, InputError, InputTypeError
from demele.core.inputs import Codes, Factor, Factors, Missing, read_factor, read_pair, split_columns
from demele.estimation.counts import column_bins
from demele.estimation.discretise import Binning, ColumnBins, cut
from demele.estimation.moments import smallest_unsigned

__all__ = ["Binned", "Frame", "Rows"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Column:
    """One factor: continuous between ``low`` and ``high``, or categorical with ``levels``."""

    name: str
    kind: str
    low: float
    high: float
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch in the coding of a frame.

    ``codes`` (n, d); ``factors``, one array per factor: floats (NaN: not annotated), or level numbers (-1).
    ``clipped`` counts values outside the ranges that were moved to their ends.
    """

    codes: NDArray[Any]
    factors: tuple[NDArray[Any], ...]
    clipped: int

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.codes)


@dataclass(frozen=True, slots=True)
class Binned:
    """Bins of all columns of a frame under one rule."""

    codes: tuple[ColumnBins, ...]
    factors: tuple[ColumnBins | None, ...]
    n_levels: tuple[int, ...]

    @property
    def code_bins(self) -> NDArray[np.intp]:
        """Number of bins of each code."""
        return np.array([bins.n_bins for bins in self.codes], dtype=np.intp)

    def cut(self, rows: Rows) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the bins of codes (d, n) and factors (M, n); a missing annotation is one bin more than there are."""
        most = max(int(self.code_bins.max()), *self.n_levels)
        kind = smallest_unsigned(most)
        codes = np.empty((len(self.codes), rows.n), dtype=kind)
        for index, bins in enumerate(self.codes):
            codes[index] = cut(rows.codes[:, index], bins)
        factors = np.empty((len(self.factors), rows.n), dtype=kind)
        for index, (values, own) in enumerate(zip(rows.factors, self.factors, strict=True)):
            factors[index] = np.where(values < 0, self.n_levels[index], values) if own is None else cut(values, own)
        return codes, factors


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Frame:
    """Columns of codes and factors with their kinds, levels and ranges: what batches must agree on to be counted.

    Bins cannot move once rows are counted in them. A frame is made from the data by a first pass (:meth:`of`, and
    :meth:`merge` for parts), or stated (:meth:`fixed`) where the ranges are known.

    Attributes
    ----------
    codes : tuple of str
        Names of the codes.
    low, high : arrays of shape (n_codes,)
        Ranges of the codes.
    factors : tuple of str
        Names of the factors.
    missing : {"raise", "omit"}

    Examples
    --------
    >>> import numpy as np
    >>> frame = Frame.fixed(code_ranges=[(-4, 4)] * 3, factors={"shape": ["disc", "square"], "size": (0.0, 1.0)})
    >>> frame
    Frame(3 codes, 2 factors: 'shape' (2 levels), 'size' [0, 1])
    """

    codes: tuple[str, ...]
    low: Floats
    high: Floats
    columns: tuple[Column, ...]
    missing: Missing = "raise"
    exact: Mapping[Binning, tuple[tuple[ColumnBins, ...], tuple[ColumnBins | None, ...]]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, codes: object, factors: object, *, kinds: object = None, missing: Missing = "raise", bins: object = None
    ) -> "Frame":
        """Make a frame from rows: all of them, or those of a first batch that is known to reach the extremes.

        Parameters
        ----------
        codes, factors, kinds, missing
            As in :func:`demele.evaluate`.
        bins : Binning or sequence of them, optional
            Rules that look at the values, such as ``EqualFrequency(10)``: their edges are computed now. Rules that
            need only the ranges, as the default does, need not be named.

        Returns
        -------
        Frame

        Raises
        ------
        InputError, InputTypeError, NotEnoughData

        Examples
        --------
        >>> Frame.of([[0.0], [2.5]], [[0.1], [0.7]])
        Frame(1 codes, 1 factors: 'v1' [0.1, 0.7])
        """
        read_codes, read_factors = read_pair(codes, factors, kinds=kinds, missing=missing)
        rules: list[Any] = list(bins) if isinstance(bins, list | tuple) else [] if bins is None else [bins]
        exact = {}
        for rule in rules:
            if not hasattr(rule, "needs_values"):
                raise InputTypeError(f"bins: expected rules such as EqualFrequency(10), got {rule!r}")
            of_codes, of_factors = column_bins(read_codes, read_factors, rule)
            exact[rule] = (tuple(of_codes), tuple(of_factors))
        return cls(
            read_codes.names,
            read_codes.low.copy(),
            read_codes.high.copy(),
            tuple(Column(one.name, one.kind, one.low, one.high, one.levels) for one in read_factors.columns),
            missing,
            exact,
        )

    @classmethod
    def fixed(cls, code_ranges: object, factors: object, *, missing: Missing = "raise") -> "Frame":
        """State the ranges of codes and the levels or ranges of factors.

        Parameters
        ----------
        code_ranges : sequence of (low, high), or mapping of name to (low, high)
        factors : mapping of name to (low, high) for a continuous factor, or to a list of levels for a categorical one
            A tuple of two numbers is a range; a list, and a tuple of anything else, are levels.
        missing : {"raise", "omit"}

        Returns
        -------
        Frame

        Raises
        ------
        InputError, InputTypeError

        Examples
        --------
        >>> Frame.fixed({"z": (-1, 1)}, {"digit": list(range(10))})
        Frame(1 codes, 1 factors: 'digit' (10 levels))
        """
        items = _named_items(code_ranges, "code_ranges", "z")
        low, high = np.empty(len(items)), np.empty(len(items))
        for index, (name, ends) in enumerate(items):
            low[index], high[index] = _range(ends, f"code_ranges: {name!r}")
        columns = []
        for name, about in _named_items(factors, "factors", "v"):
            if _is_range(about):
                columns.append(Column(name, "continuous", *_range(about, f"factors: {name!r}")))
                continue
            if isinstance(about, str) or not hasattr(about, "__iter__"):
                raise InputError(f"factors: {name!r} is (low, high) or a list of levels, got {about!r}")
            levels = read_factor(np.array(list(about), dtype=object), name, "categorical").levels
            columns.append(Column(name, "categorical", 0.0, len(levels) - 1.0, levels))
        if not columns:
            raise InputError("factors: expected at least one, got none")
        return cls(tuple(name for name, _ in items), low, high, tuple(columns), missing)

    def __repr__(self) -> str:
        told = ", ".join(
            f"{one.name!r} ({len(one.levels)} levels)"
            if one.kind == "categorical"
            else f"{one.name!r} [{one.low:g}, {one.high:g}]"
            for one in self.columns[:8]
        )
        more = ", ..." if len(self.columns) > 8 else ""
        return f"Frame({len(self.codes)} codes, {len(self.columns)} factors: {told}{more})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frame):
            return NotImplemented
        return (
            self.codes == other.codes
            and self.columns == other.columns
            and self.missing == other.missing
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.high, other.high)
            and set(self.exact) == set(other.exact)
            and all(_same_bins(self.exact[rule], other.exact[rule]) for rule in self.exact)
        )

    def __hash__(self) -> int:
        return hash((self.codes, self.columns, self.low.tobytes(), self.high.tobytes()))

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factors."""
        return tuple(one.name for one in self.columns)

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each factor."""
        return {one.name: one.kind for one in self.columns}

    def merge(self, other: "Frame") -> "Frame":
        """Return the frame that holds the rows of both: of a first pass in parts.

        Raises
        ------
        IncompatibleState
            If the columns or kinds differ, or one has edges that looked at values: those of parts do not add up.
        """
        _check_columns(self, other)
        if self.exact or other.exact:
            raise IncompatibleState("frames with edges from values (bins=...) cannot be merged; make one from all rows")
        columns = tuple(_merged(mine, theirs) for mine, theirs in zip(self.columns, other.columns, strict=True))
        missing: Missing = "omit" if "omit" in (self.missing, other.missing) else "raise"
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Frame(self.codes, low, high, columns, missing)

    def bins(self, rule: Binning) -> Binned:
        """Return the bins of every column under a rule.

        Raises
        ------
        InputError
            If the rule looks at values that this frame has not seen.
        """
        n_levels = []
        if rule in self.exact:
            of_codes, of_factors = self.exact[rule]
        elif rule.needs_values:
            raise InputError(
                f"bins: {rule!r} looks at the values; make the frame with Frame.of(codes, factors, bins={rule!r})"
            )
        else:
            codes, factors = self.described(2, [2] * len(self.columns))
            found, own = column_bins(codes, factors, rule)
            of_codes, of_factors = tuple(found), tuple(own)
        for column, bins in zip(self.columns, of_factors, strict=True):
            n_levels.append(len(column.levels) if bins is None else bins.n_bins)
        return Binned(of_codes, of_factors, tuple(n_levels))

    def described(self, n: int, n_annotated: list[int]) -> tuple[Codes, Factors]:
        """Return columns of n rows without the rows: what results say of the data."""
        ghost = np.broadcast_to(np.float64(0.0), (n, len(self.codes)))
        column = np.broadcast_to(np.float64(0.0), (n,))
        level = np.broadcast_to(np.intp(0), (n,))
        factors = tuple(
            Factor(
                one.name,
                one.kind,  # type: ignore[arg-type]
                level if one.kind == "categorical" else column,
                one.levels,
                one.low,
                one.high,
                known,
            )
            for one, known in zip(self.columns, n_annotated, strict=True)
        )
        return Codes(ghost, self.codes, self.low, self.high), Factors(factors, self.missing)

    # Reading a batch --------------------------------------------------------------------------------------------------

    def read(self, codes: object, factors: object, *, outside: str = "raise") -> Rows:
        """Return a batch in the coding of this frame.

        Raises
        ------
        InputError, InputTypeError
            For other columns, values that are not finite, missing annotations (with ``missing="raise"``), levels that
            the frame does not have, and (``outside="raise"``) values outside its ranges.
        """
        table, names = split_columns(codes, "codes", default="z")
        matrix = _matrix(_in_order(table, names, self.codes, "codes"), self.codes)
        columns, own = split_columns(factors, "factors", default="v")
        ordered = _in_order(columns, own, self.factors, "factors")
        n = len(matrix)
        rows = len(ordered[0]) if isinstance(ordered, list) else len(ordered)
        if rows != n:
            raise InputError(
                f"codes and factors: expected the same number of rows, got {n} rows of codes and {rows} rows of "
                "factors; row r of both must describe the same sample"
            )
        if n == 0:
            return Rows(matrix, tuple(np.empty(0) for _ in self.columns), 0)
        matrix, clipped = self._within(matrix, outside)
        read = []
        for index, about in enumerate(self.columns):
            column = ordered[index] if isinstance(ordered, list) else ordered[:, index]
            values, moved = self._factor(column, about, outside)
            clipped += moved
            read.append(values)
        return Rows(matrix, tuple(read), clipped)

    def _within(self, matrix: NDArray[Any], outside: str) -> tuple[NDArray[Any], int]:
        low, high = matrix.min(axis=0), matrix.max(axis=0)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            bad = np.argwhere(~np.isfinite(matrix))
            row, column = (int(index) for index in bad[0])
            raise InputError(
                f"codes: {len(bad)} values are missing or infinite, first in column {self.codes[column]!r} at row "
                f"{row} of this batch; drop those rows"
            )
        beyond = (low < self.low) | (high > self.high)
        if not beyond.any():
            return matrix, 0
        off = (matrix < self.low) | (matrix > self.high)
        if outside != "clip":
            column = int(np.flatnonzero(beyond)[0])
            row = int(np.flatnonzero(off[:, column])[0])
            raise InputError(
                f"codes: {int(off.sum())} values of this batch lie outside the frame's ranges, first "
                f"{matrix[row, column]:g} in column {self.codes[column]!r} at row {row}, outside "
                f"[{self.low[column]:g}, {self.high[column]:g}]; make the frame wider, or pass outside='clip' to count "
                "them in the first or last bin"
            )
        return np.clip(matrix, self.low, self.high), int(off.sum())

    def _factor(self, column: Any, about: Column, outside: str) -> tuple[NDArray[Any], int]:
        if about.kind == "categorical":
            return self._levels(column, about), 0
        if isinstance(column, np.ndarray) and column.dtype.kind in "fiub":
            values = column.astype(np.float64, copy=False)
        else:
            factor = read_factor(column, about.name, "continuous")
            values = np.asarray(factor.values, dtype=np.float64)
        known = np.isfinite(values)
        if not known.all():
            infinite = np.flatnonzero(np.isinf(values))
            if infinite.size:
                raise InputError(
                    f"factors: {infinite.size} infinite values in column {about.name!r}, first at row {infinite[0]} of "
                    "this batch; drop or mark them missing"
                )
            self._check_missing(~known, about.name)
        with np.errstate(invalid="ignore"):
            off = (values < about.low) | (values > about.high)
        if off.any():
            row = int(np.flatnonzero(off)[0])
            if outside != "clip":
                raise InputError(
                    f"factors: {int(off.sum())} values of this batch lie outside the frame's ranges, first "
                    f"{values[row]:g} in column {about.name!r} at row {row}, outside [{about.low:g}, {about.high:g}]; "
                    "make the frame wider, or pass outside='clip'"
                )
            values = np.clip(values, about.low, about.high)
        return values, int(off.sum())

    def _levels(self, column: Any, about: Column) -> NDArray[Any]:
        factor = read_factor(column, about.name, "categorical")
        if factor.n_annotated < len(factor.values):
            self._check_missing(np.asarray(factor.values) < 0, about.name)
        if factor.levels == about.levels:
            return np.asarray(factor.values)
        place = {level: index for index, level in enumerate(about.levels)}
        unknown = [level for level in factor.levels if level not in place]
        if unknown:
            row = int(np.flatnonzero(factor.values == factor.levels.index(unknown[0]))[0])
            raise InputError(
                f"factors: column {about.name!r} of this batch holds {len(unknown)} classes that the frame does not "
                f"have, first {unknown[0]!r} at row {row}; make the frame with all classes"
            )
        table = np.array([*(place[level] for level in factor.levels), -1])
        return np.asarray(table[factor.values])

    def _check_missing(self, missing: NDArray[np.bool_], name: str) -> None:
        if self.missing == "raise":
            raise InputError(
                f"factors: {int(missing.sum())} missing annotations in column {name!r}, first at row "
                f"{int(np.flatnonzero(missing)[0])} of this batch; drop those rows, or make the frame with "
                "missing='omit'"
            )

    def with_missing(self, missing: Missing) -> "Frame":
        """Return the same frame with another answer to missing annotations."""
        return replace(self, missing=missing)


def _in_order(
    table: NDArray[Any] | list[Any], names: tuple[str, ...], expected: tuple[str, ...], argument: str
) -> NDArray[Any] | list[Any]:
    """Return the columns in the order of the frame; named ones may come in any order."""
    if isinstance(table, np.ndarray):
        if table.shape[1] != len(expected):
            raise InputError(f"{argument}: expected {len(expected)} columns, as the frame has, got {table.shape[1]}")
        return table
    if names == expected:
        return table
    if set(names) == set(expected) and len(names) == len(expected):
        return [table[names.index(name)] for name in expected]
    if len(names) == len(expected) and all(
        name == f"{default}{index + 1}" for default in "zv" for index, name in enumerate(expected) if name[0] == default
    ):
        return table  # the frame was made of arrays, which have no names
    lacking = [name for name in expected if name not in names]
    other = [name for name in names if name not in expected]
    raise InputError(
        f"{argument}: expected the columns {', '.join(map(repr, expected[:6]))}"
        f"{', ...' if len(expected) > 6 else ''}; "
        + (f"{lacking[0]!r} is missing" if lacking else "")
        + ("; " if lacking and other else "")
        + (f"{other[0]!r} is not among them" if other else "")
    )


def _matrix(table: NDArray[Any] | list[Any], names: tuple[str, ...]) -> NDArray[Any]:
    if isinstance(table, np.ndarray) and table.dtype.kind in "fiub":
        return table
    columns = [table[:, index] for index in range(table.shape[1])] if isinstance(table, np.ndarray) else table
    if len(columns[0]) == 0:
        return np.empty((0, len(names)))
    return np.column_stack(
        [
            np.asarray(read_factor(column, name, "continuous").values, dtype=np.float64)
            for column, name in zip(columns, names, strict=True)
        ]
    )


def _check_columns(first: Frame, second: Frame) -> None:
    if first.codes != second.codes or first.factors != second.factors or first.kinds != second.kinds:
        raise IncompatibleState(
            f"the two have other columns or kinds: codes {first.codes[:4]} and {second.codes[:4]}, factors "
            f"{first.kinds} and {second.kinds}"
        )


def _merged(mine: Column, theirs: Column) -> Column:
    if mine.kind == "continuous":
        return Column(mine.name, mine.kind, min(mine.low, theirs.low), max(mine.high, theirs.high))
    levels = mine.levels if mine.levels == theirs.levels else _sorted({*mine.levels, *theirs.levels})
    return Column(mine.name, mine.kind, 0.0, len(levels) - 1.0, levels)


def _sorted(levels: set[str]) -> tuple[str, ...]:
    """Sort levels as one pass over all rows would: numbers by value, other classes by name."""
    try:
        return tuple(sorted(levels, key=float))
    except ValueError:
        return tuple(sorted(levels))


def _same_bins(first: Any, second: Any) -> bool:
    pairs = [*zip(first[0], second[0], strict=True), *zip(first[1], second[1], strict=True)]
    return all((a is None) == (b is None) and (a is None or np.array_equal(a.edges, b.edges)) for a, b in pairs)


def _named_items(given: Any, argument: str, default: str) -> list[tuple[str, Any]]:
    if isinstance(given, Mapping):
        return [(str(name), value) for name, value in given.items()]
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise InputTypeError(f"{argument}: expected a sequence or a mapping of names, got {type(given).__name__}")
    items = list(given)
    if not items:
        raise InputError(f"{argument}: expected at least one, got none")
    return [(f"{default}{index + 1}", value) for index, value in enumerate(items)]


def _is_range(about: Any) -> bool:
    return (
        isinstance(about, tuple)
        and len(about) == 2
        and all(isinstance(end, int | float | np.number) and not isinstance(end, bool) for end in about)
    )


def _range(ends: Any, what: str) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in ends)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} expected (low, high), got {ends!r}") from error
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InputError(f"{what} expected finite low < high, got {ends!r}")
    return low, high
