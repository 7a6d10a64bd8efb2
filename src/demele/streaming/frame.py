"""What is fixed before the first batch: columns, their kinds, levels and ranges, and so the edges of every bin."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import pd
from demele.core.errors import IncompatibleState, InputError, InputTypeError, quoted, shortened
from demele.core.inputs import Codes, Factor, Factors, Missing, given_kinds, read_codes, read_factor, read_factors
from demele.core.kinds import checked
from demele.core.reading import parsing
from demele.core.signature import OptionText
from demele.core.table_columns import as_column, check_same_rows, items_of, other_lengths, split_columns, whole_numbers
from demele.estimation.counts import (
    Adaptive,
    Binning,
    ColumnBins,
    Edges,
    EqualFrequency,
    EqualWidth,
    check_size,
    column_bins,
    cut,
)
from demele.metrics.options import as_binning, restored

# What accumulators compute, and with which settings; settings as plain values, such as JSON holds ---------------------

#: The key that marks a binning rule among other mappings.
RULE = "rule"


@dataclass(frozen=True, slots=True)
class Settings:
    """What is computed, and from which state; the same for accumulators that merge."""

    names: tuple[str, ...]
    single: bool
    protocol: str
    options: tuple[tuple[str, Any], ...]
    seed: int
    bound: int
    outside: str
    missing: Missing
    kinds: Any
    reg_dim: Any
    bins: Any


def comparable(settings: Settings) -> tuple[str, ...]:
    """Return settings as texts that are equal for equal settings only."""
    return tuple(repr(_listed(getattr(settings, name))) for name in Settings.__slots__)


def difference(mine: tuple[str, ...], theirs: tuple[str, ...]) -> str:
    """Say in which settings two differ, of what :func:`comparable` returns."""
    return ", ".join(
        f"{'metrics' if name == 'names' else name} ({own[:80]} here, {other[:80]} there)"
        for name, own, other in zip(Settings.__slots__, mine, theirs, strict=False)
        if own != other
    )


def _listed(value: Any) -> Any:
    """Return arrays and tuples within settings as lists: the text of a long array leaves out its middle."""
    if isinstance(value, Mapping):
        return {key: _listed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_listed(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def plain_setting(value: object, argument: str) -> Any:
    """Return a setting as numbers, strings, lists and dicts; binning rules by their name.

    Parameters
    ----------
    value : object
    argument : str
        What it was given as, for the message.

    Returns
    -------
    None, bool, int, float, str, list or dict

    Raises
    ------
    InputTypeError
        For anything that has no such form, as a rule of your own.

    Examples
    --------
    >>> plain_setting((1, 2), "reg_dim")
    [1, 2]
    >>> plain_setting({"mig": {"bins": EqualFrequency(5)}}, "options")
    {'mig': {'bins': {'rule': 'EqualFrequency', 'bins': 5}}}
    """
    if isinstance(value, EqualWidth | EqualFrequency | Adaptive | Edges):
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return {RULE: type(value).__name__, **{name: plain_setting(own, argument) for name, own in fields.items()}}
    if isinstance(value, np.ndarray | np.generic):
        return plain_setting(value.tolist(), argument)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain_setting(own, argument) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [plain_setting(own, argument) for own in value]
    raise InputTypeError(
        argument,
        f"expected numbers, strings, lists, mappings and the binning rules of demele, which a "
        f"configuration can hold, got {type(value).__name__}",
    )


def setting_of(plain: object) -> Any:
    """Return the setting that :func:`plain_setting` wrote.

    Parameters
    ----------
    plain : object

    Returns
    -------
    object
        Rules are rules again; tuples and arrays stay the lists that they became.

    Raises
    ------
    InputError
        For a rule that there is none of.

    Examples
    --------
    >>> setting_of(plain_setting(EqualFrequency(5), "bins"))
    EqualFrequency(bins=5)

    Examples
    --------
    >>> setting_of({"rule": "EqualWidth", "bins": 20})
    EqualWidth(bins=20)
    """
    if isinstance(plain, Mapping):
        if RULE in plain:
            arguments = tuple((str(key), setting_of(own)) for key, own in plain.items() if key != RULE)
            return restored(OptionText(str(plain[RULE]), arguments))
        return {key: setting_of(own) for key, own in plain.items()}
    return [setting_of(own) for own in plain] if isinstance(plain, list | tuple) else plain


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch in the coding of a frame.

    ``codes`` (n, d); ``factors``, one array per factor: floats (NaN: not annotated), or level numbers (-1).
    ``clipped`` counts values outside the ranges that were moved to their ends; ``unclipped`` are the rows before.
    """

    codes: NDArray[Any]
    factors: tuple[NDArray[Any], ...]
    clipped: int
    unclipped: "Rows | None" = None

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
        kind = np.min_scalar_type(most)
        codes = np.empty((len(self.codes), rows.n), dtype=kind)
        for index, bins in enumerate(self.codes):
            codes[index] = cut(rows.codes[:, index], bins, kind)
        factors = np.empty((len(self.factors), rows.n), dtype=kind)
        for index, (values, own) in enumerate(zip(rows.factors, self.factors, strict=True)):
            levels = self.n_levels[index]
            factors[index] = np.where(values < 0, levels, values) if own is None else cut(values, own, kind)
        return codes, factors


def storage(column: Any) -> str:
    """Return "i" for integers, "f" for other numbers, "" for classes that are no numbers, "?" if all are missing."""
    if str(getattr(column, "dtype", "")) == "category":
        return ""
    values = as_column(column, "factors")
    if values.dtype.kind != "O":
        return {"i": "i", "u": "i", "f": "f"}.get(values.dtype.kind, "")

    for value in values:
        if not (value is None or value is pd.NA or value != value):
            number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
            return "f" if number else ""
    return "?"


@dataclass(frozen=True, slots=True)
class Column:
    """One factor: continuous between ``low`` and ``high``, or categorical with ``levels``.

    ``whole``: its kind was found from whole numbers; other rows may give another kind. The levels of ``text`` are
    in the order of the alphabet, those of numbers in theirs.
    """

    name: str
    kind: str
    low: float
    high: float
    levels: tuple[str, ...] = ()
    whole: bool = field(default=False, compare=False)
    text: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, factor: Factor, column: Any, *, detected: bool) -> "Column":
        """Describe a factor that was read from a column."""
        numbers = bool(storage(column))
        whole = detected and numbers and (factor.categorical or whole_numbers(factor.values) is not None)
        return cls(factor.name, factor.kind, factor.low, factor.high, factor.levels, whole, not numbers)

    def merge(self, other: "Column") -> "Column":
        """Return the column of the rows of both.

        Raises
        ------
        IncompatibleState
            If it is not known which kind one pass over all rows would find.
        """
        if self.kind != other.kind or self.whole or other.whole:
            found = f"is {self.kind} in one part and {other.kind} in the other"
            if self.kind == other.kind:
                found = "holds whole numbers, which all rows may show to be of another kind"
            raise IncompatibleState(
                f"factor {self.name!r} {found}; say which it is: make both frames with kinds={{{self.name!r}: ...}}"
            )
        text = self.text or other.text
        if self.kind == "continuous":
            return Column(self.name, self.kind, min(self.low, other.low), max(self.high, other.high), text=text)
        levels = self.levels if self.levels == other.levels else _sorted({*self.levels, *other.levels}, text=text)
        return Column(self.name, self.kind, 0.0, len(levels) - 1.0, levels, text=text)

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain values."""
        ends = {"low": float(self.low), "high": float(self.high)}
        return {**dataclasses.asdict(self), **ends, "levels": list(self.levels)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Column":
        """Return the column that :meth:`to_dict` wrote."""
        kind, levels = str(plain["kind"]), tuple(str(level) for level in plain.get("levels", ()))
        ends = (0.0, len(levels) - 1.0) if kind == "categorical" else (float(plain["low"]), float(plain["high"]))
        flags = (bool(plain.get(name, False)) for name in ("whole", "text"))
        return cls(str(plain["name"]), kind, *ends, levels, *flags)


def _sorted(levels: set[str], *, text: bool) -> tuple[str, ...]:
    """Sort levels as one pass over all rows would: numbers by value, other classes by name."""
    if text:
        return tuple(sorted(levels))
    try:
        return tuple(sorted(levels, key=float))
    except ValueError:
        return tuple(sorted(levels))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BinEdges:
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
    >>> frame = BinEdges.fixed(code_ranges=[(-4, 4)] * 3, factors={"shape": ["disc", "square"], "size": (0.0, 1.0)})
    >>> frame
    BinEdges(3 codes, 2 factors: 'shape' (2 levels), 'size' [0, 1])
    """

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

    @classmethod
    def of(
        cls, codes: object, factors: object, *, kinds: object = None, missing: Missing = "raise", bins: object = None
    ) -> "BinEdges":
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
        BinEdges

        Raises
        ------
        InputError, InputTypeError, NotEnoughData

        Examples
        --------
        >>> BinEdges.of([[0.0], [2.5]], [[0.1], [0.7]])
        BinEdges(1 codes, 1 factors: 'v1' [0.1, 0.7])
        """
        table, own = read_codes(codes), read_factors(factors, kinds=kinds, missing=missing)
        if table.n != own.n:
            raise other_lengths((table.n, table.d), (own.n, own.m))
        check_same_rows(codes, factors)
        rules: Sequence[object] = [] if bins is None else [bins]
        if isinstance(bins, list | tuple) and all(hasattr(rule, "needs_values") for rule in bins):
            rules = bins
        exact = {}
        for rule in map(as_binning, rules):
            of_codes, of_factors = column_bins(table, own, rule)
            exact[rule] = (tuple(of_codes), tuple(of_factors))
        given = given_kinds(kinds, own.names)
        raw, _ = split_columns(factors, "factors", default="v")
        columns = tuple(
            Column.of(factor, raw[:, index] if isinstance(raw, np.ndarray) else raw[index], detected=name not in given)
            for index, (name, factor) in enumerate(zip(own.names, own.columns, strict=True))
        )
        return cls(table.names, table.low.copy(), table.high.copy(), columns, missing, exact)

    @classmethod
    @checked
    def fixed(cls, code_ranges: object, factors: object, *, missing: Missing = "raise") -> "BinEdges":
        """State the ranges of codes and the levels or ranges of factors.

        Parameters
        ----------
        code_ranges : sequence of (low, high), or mapping of name to (low, high)
        factors : mapping of name to (low, high) for a continuous factor, or to a list of levels for a categorical one
            A tuple of two numbers is a range; a list, and a tuple of anything else, are levels.
        missing : {"raise", "omit"}

        Returns
        -------
        BinEdges

        Raises
        ------
        InputError, InputTypeError

        Examples
        --------
        >>> BinEdges.fixed({"z": (-1, 1)}, {"digit": list(range(10))})
        BinEdges(1 codes, 1 factors: 'digit' (10 levels))
        """
        items = named_items(code_ranges, "code_ranges", "z")
        low, high = np.empty(len(items)), np.empty(len(items))
        for index, (name, ends) in enumerate(items):
            low[index], high[index] = range_of(ends, f"code_ranges: {name!r}")
        columns = []
        for name, about in named_items(factors, "factors", "v"):
            if (
                isinstance(about, tuple)
                and len(about) == 2
                and all(isinstance(end, int | float | np.number) and not isinstance(end, bool) for end in about)
            ):
                columns.append(Column(name, "continuous", *range_of(about, f"factors: {name!r}")))
                continue
            stated = items_of(about, "factors", f"(low, high) or a list of levels of {quoted(name)}")
            levels = read_factor(np.array([*stated, None], dtype=object)[:-1], name, "categorical").levels
            if len(levels) < len(stated) or not stated:
                raise InputError(
                    "factors",
                    f"{name!r}: expected different levels, none of them missing, got {len(stated)}, but "
                    f"only {len(levels)} differ",
                )
            text = any(isinstance(level, str | bool | np.bool_) for level in stated)
            columns.append(Column(name, "categorical", 0.0, len(levels) - 1.0, levels, text=text))
        return cls(tuple(name for name, _ in items), low, high, tuple(columns), missing)

    def __repr__(self) -> str:
        told = ", ".join(
            f"{one.name!r} ({len(one.levels)} levels)"
            if one.kind == "categorical"
            else f"{one.name!r} [{one.low:g}, {one.high:g}]"
            for one in self.columns[:8]
        )
        more = ", ..." if len(self.columns) > 8 else ""
        return f"BinEdges({len(self.codes)} codes, {len(self.columns)} factors: {told}{more})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BinEdges):
            return NotImplemented
        return (
            self.codes == other.codes
            and self.columns == other.columns
            and self.missing == other.missing
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.high, other.high)
            and self.exact == other.exact
        )

    def __hash__(self) -> int:
        return hash((self.codes, self.columns, self.low.tobytes(), self.high.tobytes()))

    def merge(self, other: "BinEdges") -> "BinEdges":
        """Return the frame that holds the rows of both: of a first pass in parts.

        Parts do not know of each other what whole numbers are: make their frames with ``kinds=``.

        Raises
        ------
        IncompatibleState
            If the columns or kinds differ, the kind of whole numbers was not given, or one has edges that looked at
            values: those of parts do not add up.
        """
        if not isinstance(other, BinEdges):
            raise InputTypeError("other", f"expected a BinEdges, got {type(other).__name__}")
        if self.codes != other.codes or self.factors != other.factors:
            raise IncompatibleState(
                f"the two frames have other columns: codes {self.codes[:4]} and {other.codes[:4]}, factors "
                f"{self.factors[:4]} and {other.factors[:4]}"
            )
        if self.exact or other.exact:
            raise IncompatibleState("frames with edges from values (bins=...) cannot be merged; make one from all rows")
        columns = tuple(mine.merge(theirs) for mine, theirs in zip(self.columns, other.columns, strict=True))
        missing: Missing = "omit" if "omit" in (self.missing, other.missing) else "raise"
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return BinEdges(self.codes, low, high, columns, missing)

    def bins(self, rule: Binning) -> Binned:
        """Return the bins of every column under a rule.

        Raises
        ------
        InputError
            If the rule looks at values that this frame has not seen.
        """
        codes, factors = self.described(2, [2] * len(self.columns))
        if rule in self.exact:
            of_codes, of_factors = self.exact[rule]
        elif rule.needs_values:
            raise InputError(
                "bins", f"{rule!r} looks at the values; make the frame with BinEdges.of(codes, factors, bins={rule!r})"
            )
        else:
            found, own = column_bins(codes, factors, rule)
            of_codes, of_factors = tuple(found), tuple(own)
        check_size(codes, factors, of_codes, of_factors)
        sizes = zip(self.columns, of_factors, strict=True)
        return Binned(of_codes, of_factors, tuple(len(one.levels) if own is None else own.n_bins for one, own in sizes))

    def described(self, n: int, n_annotated: list[int]) -> tuple[Codes, Factors]:
        """Return columns of n rows without the rows: what results say of the data."""
        ghost = np.broadcast_to(np.float64(0.0), (n, len(self.codes)))
        column = np.broadcast_to(np.float64(0.0), (n,))
        level = np.broadcast_to(np.intp(0), (n,))
        factors = tuple(
            Factor(one.name, one.kind, level if one.levels else column, one.levels, one.low, one.high, known)
            for one, known in zip(self.columns, n_annotated, strict=True)
        )
        return Codes(ghost, self.codes, self.low, self.high), Factors(factors, self.missing, declared=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the frame as plain values that JSON holds, to the bit.

        Returns
        -------
        dict
            For :meth:`from_dict`.

        Raises
        ------
        InputTypeError
            If it holds edges under a rule of your own.
        """
        return {
            "codes": {"names": list(self.codes), "low": self.low.tolist(), "high": self.high.tolist()},
            "factors": [column.to_dict() for column in self.columns],
            "missing": self.missing,
            "exact": [
                {
                    "bins": plain_setting(rule, "bins"),
                    "codes": [_plain_bins(bins) for bins in codes],
                    "factors": [_plain_bins(bins) for bins in factors],
                }
                for rule, (codes, factors) in self.exact.items()
            ],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "BinEdges":
        """Return the frame from the plain values of :meth:`to_dict`.

        Parameters
        ----------
        plain : mapping

        Returns
        -------
        BinEdges

        Raises
        ------
        InputError, InputTypeError
            If it is not such a mapping.

        Examples
        --------
        >>> frame = BinEdges.fixed([(-1, 1)], {"size": (0.0, 1.0)})
        >>> BinEdges.from_dict(frame.to_dict()) == frame
        True
        """
        if not isinstance(plain, Mapping):
            raise InputTypeError(
                "frame", f"expected the mapping that BinEdges.to_dict returns, got {type(plain).__name__}"
            )
        with parsing("frame: expected the mapping that BinEdges.to_dict returns"):
            try:
                codes = plain["codes"]
                found = cls(
                    codes=tuple(str(name) for name in codes["names"]),
                    low=np.array(codes["low"], dtype=np.float64),
                    high=np.array(codes["high"], dtype=np.float64),
                    columns=tuple(Column.from_dict(one) for one in plain["factors"]),
                    missing=plain["missing"],
                    exact={
                        setting_of(one["bins"]): (
                            tuple(_bins_of(bins) for bins in one["codes"]),
                            tuple(None if bins is None else _bins_of(bins) for bins in one["factors"]),
                        )
                        for one in plain["exact"]
                    },
                )
            except KeyError as error:
                lacking = shortened(str(error))
                raise InputError(
                    "frame", f"expected the mapping that BinEdges.to_dict returns; it lacks {lacking}"
                ) from error
            found._check()
            return found

    def _check(self) -> None:
        """Refuse ranges, kinds and edges that contradict one another."""
        d, m = len(self.codes), len(self.columns)
        if not (self.low.shape == self.high.shape == (d,)) or not d or not m:
            raise InputError(
                "frame", f"expected one low and one high for each of {d} codes, and a factor, got {m} factors"
            )
        if not np.isfinite([self.low, self.high]).all() or (self.low > self.high).any():
            raise InputError("frame", "expected finite ranges of the codes, with low not above high")
        for column in self.columns:
            if column.kind not in ("continuous", "categorical"):
                raise InputError(
                    "frame", f"factor {quoted(column.name)} is 'continuous' or 'categorical', got {quoted(column.kind)}"
                )
            if not (np.isfinite([column.low, column.high]).all() and column.low <= column.high):
                raise InputError("frame", f"expected a finite range, or a level, of factor {quoted(column.name)}")
        if self.missing not in ("raise", "omit"):
            raise InputError("frame", f"missing is 'raise' or 'omit', got {quoted(self.missing)}")
        for rule, (codes, factors) in self.exact.items():
            if (len(codes), len(factors)) != (d, m):
                raise InputError(
                    "frame",
                    f"expected edges under {quoted(rule)} of {d} codes and {m} factors, got {len(codes)} and "
                    f"{len(factors)}",
                )

    def restored(self, factors: tuple[NDArray[Any], ...]) -> Any:
        """Return factors in the coding of this frame as a data frame with their classes.

        Parameters
        ----------
        factors : tuple of arrays
            As in :class:`Rows`.

        Returns
        -------
        pandas.DataFrame
        """
        return pd.DataFrame(
            {
                about.name: pd.Categorical.from_codes(
                    values.astype(np.intp), categories=pd.Index(about.levels, dtype=object)
                )
                if about.kind == "categorical"
                else values
                for about, values in zip(self.columns, factors, strict=True)
            }
        )

    def digest(self) -> str:
        """Return a short text that is the same for equal frames only."""
        found = blake2b(digest_size=6)
        for part in (self.codes, self.columns, self.missing, self.low.tolist(), self.high.tolist()):
            found.update(repr(part).encode() + b"\x1f")
        for rule in sorted(self.exact, key=repr):
            found.update(repr(rule).encode() + b"\x1f")
            for one in (*self.exact[rule][0], *self.exact[rule][1]):
                found.update(b"none" if one is None else one.edges.tobytes())
        return found.hexdigest()


def _plain_bins(bins: ColumnBins | None) -> dict[str, Any] | None:
    return None if bins is None else {"edges": bins.edges.tolist(), "regular": bins.regular}


def _bins_of(plain: Mapping[str, Any]) -> ColumnBins:
    return ColumnBins(np.array(plain["edges"], dtype=np.float64), regular=bool(plain["regular"]))


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
