"""What is fixed before the first batch: columns, their kinds, levels and ranges, and so the edges of every bin."""

from collections.abc import Mapping
from dataclasses import fields, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import IncompatibleState, InputError, InputTypeError, quoted
from demele.core.given_arrays import items_of
from demele.core.inputs import Codes, Factor, Factors, Missing, given_kinds, read_codes, read_factor, read_factors
from demele.core.names import checked_name
from demele.core.table_columns import check_same_rows, split_columns
from demele.estimation.counts import check_size, column_bins
from demele.estimation.discretise import Binning
from demele.metrics.options import as_binning
from demele.streaming.batches import OTHER_ROWS, Binned, Rows, read_batch
from demele.streaming.codec import columns_from_dict, frame_as_dict
from demele.streaming.columns import Column, Columns, merged_columns, named_items, range_of

Floats = NDArray[np.float64]


class Frame(Columns):
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

    __slots__ = ()

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
        table, own = read_codes(codes), read_factors(factors, kinds=kinds, missing=missing)
        if table.n != own.n:
            raise InputError(OTHER_ROWS.format(table.n, own.n))
        check_same_rows(codes, factors)
        exact = {}
        for rule in _rules(bins):
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
        items = named_items(code_ranges, "code_ranges", "z")
        low, high = np.empty(len(items)), np.empty(len(items))
        for index, (name, ends) in enumerate(items):
            low[index], high[index] = range_of(ends, f"code_ranges: {name!r}")
        columns = []
        for name, about in named_items(factors, "factors", "v"):
            if _is_range(about):
                columns.append(Column(name, "continuous", *range_of(about, f"factors: {name!r}")))
                continue
            levels = items_of(about, "factors", f"(low, high) or a list of levels of {quoted(name)}")
            columns.append(_stated_levels(name, levels))
        checked_name(missing, "missing", ("raise", "omit"))
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
        columns = merged_columns(self.columns, other.columns)
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
        codes, factors = self.described(2, [2] * len(self.columns))
        if rule in self.exact:
            of_codes, of_factors = self.exact[rule]
        elif rule.needs_values:
            raise InputError(
                "bins", f"{rule!r} looks at the values; make the frame with Frame.of(codes, factors, bins={rule!r})"
            )
        else:
            found, own = column_bins(codes, factors, rule)
            of_codes, of_factors = tuple(found), tuple(own)
        for column, bins in zip(self.columns, of_factors, strict=True):
            n_levels.append(len(column.levels) if bins is None else bins.n_bins)
        check_size(codes, factors, of_codes, of_factors)
        return Binned(of_codes, of_factors, tuple(n_levels))

    def described(self, n: int, n_annotated: list[int]) -> tuple[Codes, Factors]:
        """Return columns of n rows without the rows: what results say of the data."""
        ghost = np.broadcast_to(np.float64(0.0), (n, len(self.codes)))
        column = np.broadcast_to(np.float64(0.0), (n,))
        level = np.broadcast_to(np.intp(0), (n,))
        factors = tuple(
            Factor(
                one.name,
                one.kind,
                level if one.kind == "categorical" else column,
                one.levels,
                one.low,
                one.high,
                known,
            )
            for one, known in zip(self.columns, n_annotated, strict=True)
        )
        return Codes(ghost, self.codes, self.low, self.high), Factors(factors, self.missing)

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
        return frame_as_dict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Frame":
        """Return the frame from the plain values of :meth:`to_dict`.

        Parameters
        ----------
        plain : mapping

        Returns
        -------
        Frame

        Raises
        ------
        InputError, InputTypeError
            If it is not such a mapping.

        Examples
        --------
        >>> frame = Frame.fixed([(-1, 1)], {"size": (0.0, 1.0)})
        >>> Frame.from_dict(frame.to_dict()) == frame
        True
        """
        read = columns_from_dict(plain)
        return cls(**{one.name: getattr(read, one.name) for one in fields(read)})

    # Reading a batch --------------------------------------------------------------------------------------------------

    def read(self, codes: object, factors: object, *, outside: str = "raise") -> Rows:
        """Return a batch in the coding of this frame.

        Raises
        ------
        InputError, InputTypeError
            For other columns, values that are not finite, missing annotations (with ``missing="raise"``), levels that
            the frame does not have, and (``outside="raise"``) values outside its ranges.
        """
        return read_batch(self, codes, factors, outside)

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
        import pandas as pd

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

    def with_missing(self, missing: Missing) -> "Frame":
        """Return the same frame with another answer to missing annotations."""
        return replace(self, missing=missing)


def _rules(bins: object) -> list[Any]:
    """Return binning rules: one, or several in a list."""
    if bins is None:
        return []
    if isinstance(bins, list | tuple) and all(hasattr(rule, "needs_values") for rule in bins):
        return [as_binning(rule) for rule in bins]
    return [as_binning(bins)]


def _stated_levels(name: str, about: list[Any]) -> Column:
    factor = read_factor(np.array([*about, None], dtype=object)[:-1], name, "categorical")
    if len(factor.levels) < len(about) or not about:
        raise InputError(
            "factors",
            f"{name!r}: expected different levels, none of them missing, got {len(about)}, but "
            f"only {len(factor.levels)} differ",
        )
    text = any(isinstance(level, str | bool | np.bool_) for level in about)
    return Column(name, "categorical", 0.0, len(factor.levels) - 1.0, factor.levels, None, text)


def _check_columns(first: Frame, second: Frame) -> None:
    if not isinstance(second, Frame):
        raise InputTypeError("other", f"expected a Frame, got {type(second).__name__}")
    if first.codes != second.codes or first.factors != second.factors:
        raise IncompatibleState(
            f"the two frames have other columns: codes {first.codes[:4]} and {second.codes[:4]}, factors "
            f"{first.factors[:4]} and {second.factors[:4]}"
        )


def _same_bins(first: Any, second: Any) -> bool:
    pairs = [*zip(first[0], second[0], strict=True), *zip(first[1], second[1], strict=True)]
    return all((a is None) == (b is None) and (a is None or np.array_equal(a.edges, b.edges)) for a, b in pairs)


def _is_range(about: Any) -> bool:
    return (
        isinstance(about, tuple)
        and len(about) == 2
        and all(isinstance(end, int | float | np.number) and not isinstance(end, bool) for end in about)
    )
