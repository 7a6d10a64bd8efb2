"""States of rows that add up: sums of values, and joint counts under fixed edges, which add up to the same bits.

Moments are for SAP of continuous factors, products for MCC of classes, weak MCC and affine R2, extremes for IRS and
cells for total effects.

Sums of floats round, so that batches and merges in another order agree to rounding, not to the bit. Digits are kept:
values are counted from the middle of the frame's range, in units of about half of it (a power of two, which does not
round), and squares are taken about the mean of the rows themselves (Chan, Golub and LeVeque 1983). Codes far from 0
cost none; data that are a small part of their frame's range cost as many as a mean in the unit of the frame does.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Array, Counts, Flags, Floats
from demele.core.errors import FormatError, IncompatibleState
from demele.estimation.cells import CellMoments, CellSums, standardised
from demele.estimation.counts import BinnedRows, Binning, JointCounts, PackedRows, cut, factor_bins
from demele.estimation.irs import CellExtremes, summarise_extremes
from demele.estimation.linear_recovery import CodeMoments, CrossProducts
from demele.streaming.frame import BinEdges, Binned, Rows

Arrays = Mapping[str, Array]
#: Deviations of a code, as a share of its largest value in the unit of the frame, that are rounding of its means.
ROUNDING = 1e-14
#: Arrays of states that hold numbers of rows, or sums of squares.
_AT_LEAST_ZERO = {"n", "clipped", "annotated", "count", "square", "code_square", "factor_square", "code_squares"}


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """Where columns are counted from, and in which unit: (value - reference) 2^-exponent; all of shape (n_columns,)."""

    reference: Floats
    exponent: NDArray[np.intp]

    @classmethod
    def of(cls, frame: BinEdges, ends: Sequence[tuple[float, float]] = ()) -> Self:
        """Count codes, and columns with other ranges, from the middle of these, in units of about half of them."""
        low, high = np.array([*zip(frame.low, frame.high, strict=True), *ends]).T
        half = high / 2 - low / 2
        return cls(low / 2 + high / 2, np.where(half > 0, np.frexp(half)[1], 0).astype(np.intp))

    def scaled(self, values: Array) -> Floats:
        """Return values, (n, n_columns), in this unit."""
        # scaled before they are subtracted: the difference of values near the largest floats would overflow
        found: Floats = np.ldexp(np.asarray(values, dtype=np.float64), -self.exponent)
        found -= np.ldexp(self.reference, -self.exponent)
        return found


def centred_columns(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the means of columns, the columns about them, and their sums of squares."""
    mean = values.mean(axis=0)
    centred = values - mean
    rest = centred.mean(axis=0)  # what rounding left
    centred = centred - rest
    return mean + rest, centred, np.einsum("ij,ij->j", centred, centred)


def shares(mine: Array, theirs: Array) -> tuple[Floats, Floats]:
    """Return the second's share of the rows, and the number that a squared difference of means counts for."""
    share = np.divide(theirs, mine + theirs, out=np.zeros(np.shape(mine)), where=theirs > 0)
    return share, mine * share


def _means(mine: Arrays, theirs: Arrays, number: str, prefix: str = "") -> dict[str, Array]:
    """Return means of the rows of both, and their squares about them."""
    mean, square = f"{prefix}mean", f"{prefix}square"
    share, both = shares(mine[number], theirs[number])
    step = theirs[mean] - mine[mean]
    return {mean: mine[mean] + share * step, square: mine[square] + theirs[square] + both * step**2}


def check_arrays(expected: Arrays, given: Arrays) -> None:
    """Refuse arrays with other names, types or shapes, with numbers that are not finite, or counts below 0."""
    fits = given.keys() == expected.keys() and all(
        given[name].shape == one.shape and given[name].dtype == one.dtype for name, one in expected.items()
    )
    if not fits:
        raise FormatError("accumulator", "the sums of this state do not have the columns of its frame")
    for name, one in given.items():
        extreme = name.endswith(("low", "high"))  # infinite where there are no rows
        impossible = (np.isnan(one) if extreme else ~np.isfinite(one)).any()
        if impossible or ((name in _AT_LEAST_ZERO or name.startswith(("table", "pair"))) and (one < 0).any()):
            raise FormatError("accumulator", f"the sums of this state hold impossible numbers ({name})")


def _check(consistent: object) -> None:
    if not consistent:
        raise FormatError("accumulator", "the sums of this state contradict one another")


@dataclass(frozen=True, slots=True, eq=False)
class Sums(ABC):
    """Sums of rows that add up: arrays by name, ``n`` among them, those of codes in the unit of a scale.

    Attributes
    ----------
    frame : BinEdges
    rule : Binning or None
        What factors are cut by; None where their values are summed as they are.
    scale : Scale
        Of codes, then columns of factors.
    arrays : mapping of str to array
        What bytes hold of the state.
    bins : Binned
        Of the factors under the rule.
    """

    frame: BinEdges
    rule: Binning | None
    scale: Scale
    arrays: Arrays
    bins: Binned = field(default=Binned((), (), ()))

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.arrays["n"])

    @property
    def clipped(self) -> int:
        """Values of factors that were moved to the ends of the ranges."""
        return int(self.arrays.get("clipped", 0))

    def settled(self) -> Self:
        """Return the state: nothing waits."""
        return self

    def update(self, rows: Rows) -> Self:
        """Add a batch; codes, and values that are summed as they are, count as they are outside the ranges."""
        return replace(self, arrays=self._added(self._of_rows(rows))) if rows.n else self

    def merge(self, other: object) -> Self:
        """Return the sums of the rows of both.

        Raises
        ------
        IncompatibleState
            If they count other bins, or from other references.
        """
        if type(other) is not type(self) or self.frame != other.frame or self.rule != other.rule:
            raise IncompatibleState(
                "the two have other bins or other references: give both the same frame and the same bins"
            )
        mine, theirs = self.settled(), other.settled()
        return replace(mine, arrays=mine._added(theirs.arrays))

    def restored(self, arrays: Arrays) -> Self:
        """Return the state that held these arrays.

        Raises
        ------
        FormatError
            If they are not those of such a state.
        """
        check_arrays(self.arrays, arrays)
        of_codes = "code_" if "code_low" in arrays else ""  # extremes that are there from the first row on
        if arrays["n"] and f"{of_codes}low" in arrays:
            _check((arrays[f"{of_codes}low"] <= arrays[f"{of_codes}high"]).all())
        self._check_sums(arrays)
        return replace(self, arrays=dict(arrays))

    @abstractmethod
    def _check_sums(self, arrays: Arrays) -> None:
        """Refuse sums that contradict one another."""

    @abstractmethod
    def _of_rows(self, rows: Rows) -> Arrays:
        """Return the sums of a batch alone."""

    def _added(self, theirs: Arrays) -> dict[str, Array]:
        """Return numbers and extremes of the rows of both."""
        found = {}
        for name, own in self.arrays.items():
            if name.endswith("low"):
                found[name] = np.minimum(own, theirs[name])
            elif name.endswith("high"):
                found[name] = np.maximum(own, theirs[name])
            else:
                found[name] = own + theirs[name]
        return found

    def _labels(self, rows: Rows) -> tuple[NDArray[np.intp], Array]:
        """Return levels (n, n_factors), -1 where not annotated, and how many values were moved into the ranges."""
        labels = np.empty((rows.n, len(self.bins.factors)), dtype=np.intp, order="F")
        clipped = 0
        for index, (values, own) in enumerate(zip(rows.factors, self.bins.factors, strict=True)):
            labels[:, index] = values if own is None else cut(values, own)
            if rows.unclipped is not None and own is not None:
                raw = rows.unclipped.factors[index]
                clipped += int(((raw != values) & ~np.isnan(raw)).sum())
        labels[labels >= np.array(self.bins.n_levels)] = -1
        return labels, np.array(clipped, dtype=np.int64)


def _no_rows(d: int) -> dict[str, Array]:
    """Return the number and the extremes of no rows of d columns."""
    return {"n": np.array(0, dtype=np.int64), "low": np.full(d, np.inf), "high": np.full(d, -np.inf)}


def _bins_of_factors(frame: BinEdges, rule: Binning) -> Binned:
    """Return the bins of factors only: nothing is counted by the bins of codes.

    Raises
    ------
    InputError
        If the rule looks at values that the frame has not seen.
    """
    if rule in frame.exact or rule.needs_values:
        return replace(frame.bins(rule), codes=())
    _, factors = frame.described(2, [2] * len(frame.columns))
    bins = tuple(factor_bins(factor, rule) for factor in factors.columns)
    sizes = zip(frame.columns, bins, strict=True)
    return Binned((), bins, tuple(len(column.levels) if own is None else own.n_bins for column, own in sizes))


class MomentState(Sums):
    """Means, and sums of squares and of cross products about them, of codes and continuous factors.

    Each factor has its own rows, those it is annotated on: ``count``, (n_factors,). ``code_mean``, ``code_square`` and
    ``cross``, (n_codes, n_factors), are of these. Extremes are in the unit of the columns.
    """

    __slots__ = ()

    @classmethod
    def empty(cls, frame: BinEdges) -> Self:
        """Return the state of no rows, for a frame whose factors are all continuous."""
        d, m = len(frame.codes), len(frame.columns)
        of_factors = {f"factor_{name}": one for name, one in _no_rows(m).items() if name != "n"}
        arrays = {
            **_no_rows(d),
            "count": np.zeros(m, dtype=np.int64),
            **of_factors,
            **{name: np.zeros(d) for name in ("mean", "square")},
            **{name: np.zeros((d, m)) for name in ("code_mean", "code_square", "cross")},
            **{name: np.zeros(m) for name in ("factor_mean", "factor_square")},
        }
        return cls(frame, None, Scale.of(frame, [(column.low, column.high) for column in frame.columns]), arrays)

    @property
    def annotated(self) -> Counts:
        """Rows annotated for each factor."""
        return self.arrays["count"]

    @property
    def varying(self) -> list[int]:
        """Factors with more than one value."""
        return np.flatnonzero(self.arrays["factor_low"] < self.arrays["factor_high"]).tolist()

    def _of_rows(self, rows: Rows) -> Arrays:
        rows = rows.unclipped or rows
        values = np.column_stack([np.asarray(column, dtype=np.float64) for column in rows.factors])
        known = ~np.isnan(values)
        both = self.scale.scaled(np.hstack([rows.codes, values]))
        d = rows.codes.shape[1]
        scaled, own = both[:, :d], both[:, d:]
        part = dict(type(self).empty(self.frame).arrays)
        count = known.sum(axis=0)
        part["n"], part["count"] = np.array(rows.n, dtype=np.int64), count.astype(np.int64)
        part["low"] = np.asarray(rows.codes.min(axis=0), dtype=np.float64)
        part["high"] = np.asarray(rows.codes.max(axis=0), dtype=np.float64)
        part["factor_low"] = np.where(known, values, np.inf).min(axis=0)
        part["factor_high"] = np.where(known, values, -np.inf).max(axis=0)
        part["mean"], centred, part["square"] = centred_columns(scaled)
        complete = count == rows.n
        if complete.any():
            part["code_mean"][:, complete] = part["mean"][:, None]
            part["code_square"][:, complete] = part["square"][:, None]
            means, of_factors, squares = centred_columns(own[:, complete])
            part["factor_mean"][complete], part["factor_square"][complete] = means, squares
            part["cross"][:, complete] = centred.T @ of_factors
        for index in np.flatnonzero(~complete & (count > 0)):
            here = known[:, index]
            part["code_mean"][:, index], of_codes, part["code_square"][:, index] = centred_columns(scaled[here])
            means, of_factor, squares = centred_columns(own[here, index : index + 1])
            part["factor_mean"][index], part["factor_square"][index] = means[0], squares[0]
            part["cross"][:, index] = of_codes.T @ of_factor[:, 0]
        return part

    def _added(self, theirs: Arrays) -> dict[str, Array]:
        mine = self.arrays
        _, both = shares(mine["count"], theirs["count"])
        moved, factor_moved = (theirs[name] - mine[name] for name in ("code_mean", "factor_mean"))
        found = super()._added(theirs) | _means(mine, theirs, "n")
        found |= _means(mine, theirs, "count", "code_") | _means(mine, theirs, "count", "factor_")
        return found | {"cross": mine["cross"] + theirs["cross"] + both * moved * factor_moved}

    def of_varying(self, factors: Sequence[int] | None = None) -> "MomentState":
        """Return the moments of the factors that vary, or of these."""
        active = self.varying if factors is None else list(factors)
        d = len(self.arrays["mean"])
        of_factors = ("count", "code_mean", "code_square", "cross")
        arrays = {
            name: one[..., active] if name in of_factors or name.startswith("factor_") else one
            for name, one in self.arrays.items()
        }
        kept = [*range(d), *(d + index for index in active)]
        return replace(self, arrays=arrays, scale=Scale(self.scale.reference[kept], self.scale.exponent[kept]))

    def code_variances(self) -> Floats:
        """Return the variances of the codes over all rows, in their own unit."""
        square = self.arrays["square"]
        return np.ldexp(square / max(self.n, 1), 2 * self.scale.exponent[: len(square)])

    def squared_correlations(self, *, threshold: float = 1e-24) -> Floats:
        """Return what :func:`demele.estimation.univariate.squared_correlations` does, for all factors.

        Parameters
        ----------
        threshold : float
            A variable counts as constant if its variance is at most this share of its mean square: of codes about
            their mean over all rows, of factors about 0.

        Returns
        -------
        array of shape (n_codes, n_factors)
            0 for a constant code, NaN for a constant factor.
        """
        own, d = self.arrays, len(self.arrays["mean"])
        away = own["code_mean"] - own["mean"][:, None]
        code_varies = own["code_square"] > threshold * (own["code_square"] + own["count"] * away**2)
        constant = ~(own["low"] < own["high"])
        code_varies[constant] = False
        middle = own["factor_mean"] + np.ldexp(self.scale.reference[d:], -self.scale.exponent[d:])
        factor_varies = own["factor_square"] > threshold * (own["factor_square"] + own["count"] * middle**2)
        lengths = np.sqrt(np.where(code_varies, own["code_square"], 1.0))
        lengths *= np.sqrt(np.where(factor_varies, own["factor_square"], 1.0))
        # Rounding can leave a perfect correlation a bit above 1.
        squares = np.minimum(np.square(own["cross"] / lengths), 1.0)
        found: Floats = np.where(factor_varies, np.where(code_varies, squares, 0.0), np.nan)
        found[constant] = 0.0
        return found

    def _check_sums(self, arrays: Arrays) -> None:
        _check((arrays["count"] <= arrays["n"]).all())


class ProductState(Sums):
    """Means of codes and of the columns of factors, and the products of all about them.

    A categorical factor has a column for each class, 1 in its rows. Every row is annotated for all factors. Extremes
    are in the unit of the scale.
    """

    __slots__ = ()

    @classmethod
    def empty(cls, frame: BinEdges) -> Self:
        """Return the state of no rows."""
        ends = [[(0.0, 0.0)] * len(one.levels) or [(one.low, one.high)] for one in frame.columns]
        scale = Scale.of(frame, [pair for pairs in ends for pair in pairs])
        p = len(scale.reference)
        return cls(frame, None, scale, {**_no_rows(p), "mean": np.zeros(p), "product": np.zeros((p, p))})

    @property
    def annotated(self) -> Counts:
        """Rows annotated for each factor: all."""
        return np.full(len(self.frame.columns), self.n, dtype=np.int64)

    @property
    def varying(self) -> list[int]:
        """Factors with more than one value."""
        varies = self.arrays["low"] < self.arrays["high"]
        return [index for index, own in enumerate(self._columns()) if varies[own].any()]

    def _columns(self) -> list[NDArray[np.intp]]:
        sizes = [max(len(one.levels), 1) for one in self.frame.columns]
        start = len(self.frame.codes)
        return np.split(np.arange(start, start + sum(sizes)), np.cumsum(sizes)[:-1])

    def _of_rows(self, rows: Rows) -> Arrays:
        rows = rows.unclipped or rows
        columns = [np.asarray(rows.codes, dtype=np.float64)]
        for values, about in zip(rows.factors, self.frame.columns, strict=True):
            given, own = np.asarray(values)[:, None], len(about.levels)
            columns.append((given == np.arange(own) if own else given).astype(np.float64))
        scaled = self.scale.scaled(np.hstack(columns))
        mean, centred, _ = centred_columns(scaled)
        return {
            "n": np.array(rows.n, dtype=np.int64),
            "low": scaled.min(axis=0),
            "high": scaled.max(axis=0),
            "mean": mean,
            "product": centred.T @ centred,
        }

    def _added(self, theirs: Arrays) -> dict[str, Array]:
        found, mine = super()._added(theirs), self.arrays
        share, both = shares(mine["n"], theirs["n"])
        step = theirs["mean"] - mine["mean"]
        found["mean"] = mine["mean"] + share * step
        found["product"] = found["product"] + both * np.outer(step, step)
        return found

    def of_varying(self, factors: Sequence[int] | None = None) -> CrossProducts:
        """Return the products of all codes with the factors that vary, or with these."""
        active, d = self.varying if factors is None else list(factors), len(self.frame.codes)
        columns, product = self._columns(), self.arrays["product"]
        own = np.concatenate([columns[index] for index in active])
        classes = tuple(len(self.frame.columns[index].levels) for index in active)
        indicator = np.concatenate([np.full(max(one, 1), one > 0) for one in classes])
        return CrossProducts(
            n=self.n,
            codes=product[:d, :d],
            varies=(self.arrays["low"] < self.arrays["high"])[:d],
            factors=product[np.ix_(own, own)],
            with_codes=product[:d, own],
            classes=classes,
            # the mean of an indicator, which is counted from 0 in units of 1, is the share of its class
            rows=np.where(indicator, np.round(self.arrays["mean"][own] * self.n), float(self.n)),
        )

    def _check_sums(self, arrays: Arrays) -> None:
        product = arrays["product"]
        _check((np.diag(product) >= 0).all() and np.array_equal(product, product.T))


class ExtremeState(Sums):
    """Number, sum and extremes of every code at every value of every factor, for the crossed form of IRS.

    ``count``, (n_values,), and ``total``, ``low`` and ``high``, (n_codes, n_values), are as in :class:`CellExtremes`,
    about the middles of the frame's ranges; ``code_total``, ``code_squares``, ``code_low`` and ``code_high`` are of all
    rows about the same, ``mean`` and ``square`` about the mean.
    """

    __slots__ = ()

    @classmethod
    def empty(cls, frame: BinEdges, rule: Binning) -> Self:
        """Return the state of no rows.

        Raises
        ------
        InputError
            If the rule looks at values that the frame has not seen.
        """
        bins, scale = _bins_of_factors(frame, rule), Scale.of(frame)
        d = len(frame.codes)
        none = summarise_extremes(np.empty((0, d)), np.empty((0, len(bins.factors)), np.intp), bins.n_levels)
        zeros = {name: np.zeros(d) for name in ("mean", "square")}
        return cls(frame, rule, scale, {**_arrays_of(none), "clipped": np.array(0, dtype=np.int64), **zeros}, bins)

    @property
    def annotated(self) -> Counts:
        """Rows annotated for each factor."""
        return np.array([count.sum() for count in self._counts(self.arrays)], dtype=np.int64)

    @property
    def varying(self) -> list[int]:
        """Factors that fall into more than one bin."""
        return [index for index, count in enumerate(self._counts(self.arrays)) if (count > 0).sum() > 1]

    def _counts(self, arrays: Arrays) -> list[Counts]:
        return np.split(arrays["count"], np.cumsum(self.bins.n_levels)[:-1])

    def _of_rows(self, rows: Rows) -> Arrays:
        labels, clipped = self._labels(rows)
        scaled = self.scale.scaled((rows.unclipped or rows).codes)
        mean, _, square = centred_columns(scaled)
        cells = summarise_extremes(scaled, labels, self.bins.n_levels, reference=np.zeros(len(mean)))
        return {**_arrays_of(cells), "clipped": clipped, "mean": mean, "square": square}

    def _added(self, theirs: Arrays) -> dict[str, Array]:
        return super()._added(theirs) | _means(self.arrays, theirs, "n")

    def of_varying(self, factors: Sequence[int] | None = None) -> CellExtremes:
        """Return the extremes for the factors that vary, or these, with the moments of all codes about their means."""
        active, own = self.varying if factors is None else list(factors), self.arrays
        ends = np.cumsum([0, *self.bins.n_levels])
        ranges = [np.arange(ends[i], ends[i + 1]) for i in active]
        columns = np.concatenate(ranges)
        # spreads from squares about the mean, not about a reference that may be far from it
        low, high = (own[name] - own["mean"] for name in ("code_low", "code_high"))
        about_mean = CodeMoments(self.n, own["mean"], np.zeros_like(own["mean"]), own["square"], low, high)
        offsets = np.concatenate(([0], np.cumsum([len(one) for one in ranges], dtype=np.intp)))
        count, total, low, high = (own[name][..., columns] for name in ("count", "total", "low", "high"))
        return CellExtremes(offsets, count, total, low, high, about_mean)

    def _check_sums(self, arrays: Arrays) -> None:
        occupied = arrays["count"] > 0
        _check((arrays["low"] <= arrays["high"])[:, occupied].all())
        _check(max(count.sum() for count in self._counts(arrays)) <= arrays["n"])


def _arrays_of(cells: CellExtremes) -> dict[str, Array]:
    own = {name: getattr(cells, name) for name in ("count", "total", "low", "high")}
    of_codes = {f"code_{name}": getattr(cells.moments, name) for name in ("total", "squares", "low", "high")}
    return {"n": np.array(cells.moments.n, dtype=np.int64), **own, **of_codes}


class CellState(Sums):
    """Rows, means and squares of every code in every combination of levels of the factors.

    ``levels``, ``count``, ``mean`` and ``square`` are as in :class:`CellMoments`, of levels with one more for each
    factor: rows that are not annotated for it. Extremes of the codes are in the unit of the scale. The state grows with
    the combinations that occur: eight bytes for each, and sixteen for each of them and each code.
    """

    __slots__ = ()

    @classmethod
    def empty(cls, frame: BinEdges, rule: Binning) -> Self:
        """Return the state of no rows.

        Raises
        ------
        InputError
            If the rule looks at values that the frame has not seen.
        """
        bins, d = _bins_of_factors(frame, rule), len(frame.codes)
        cells = CellMoments.empty(d, [size + 1 for size in bins.n_levels])
        arrays = {**_no_rows(d), "clipped": np.array(0, dtype=np.int64)}
        return cls(frame, rule, Scale.of(frame), arrays | _arrays_of_cells(cells), bins)

    @property
    def annotated(self) -> Counts:
        """Rows annotated for each factor."""
        return np.asarray(self._known() @ self.arrays["count"], dtype=np.int64)

    @property
    def varying(self) -> list[int]:
        """Factors that fall into more than one bin."""
        pairs = enumerate(zip(self.arrays["levels"], self._known(), strict=True))
        return [index for index, (line, known) in pairs if len(np.unique(line[known])) > 1]

    def _known(self) -> Flags:
        """Return which cells, (n_factors, n_cells), are of rows that are annotated."""
        return np.asarray(self.arrays["levels"] < np.array(self.bins.n_levels)[:, None])

    def _cells(self, arrays: Arrays) -> CellMoments:
        sizes = tuple(size + 1 for size in self.bins.n_levels)
        return CellMoments(sizes, *(arrays[name] for name in ("levels", "count", "mean", "square")))

    def _of_rows(self, rows: Rows) -> Arrays:
        labels, clipped = self._labels(rows)
        columns = [np.where(line < 0, size, line) for line, size in zip(labels.T, self.bins.n_levels, strict=True)]
        scaled = self.scale.scaled((rows.unclipped or rows).codes)
        cells = CellMoments.of_rows(scaled, columns, [size + 1 for size in self.bins.n_levels])
        n = np.array(rows.n, dtype=np.int64)
        ends = {"low": scaled.min(axis=0), "high": scaled.max(axis=0)}
        return {"n": n, "clipped": clipped, **ends, **_arrays_of_cells(cells)}

    def _added(self, theirs: Arrays) -> dict[str, Array]:
        mine = {name: one for name, one in self.arrays.items() if name in ("n", "clipped", "low", "high")}
        ends = super(CellState, replace(self, arrays=mine))._added(theirs)
        return ends | _arrays_of_cells(self._cells(self.arrays).merge(self._cells(theirs)))

    def of_varying(self, factors: Sequence[int] | None = None) -> CellSums:
        """Return the sums in the cells of the factors that vary, or of these, over rows annotated for all of them."""
        active, low, high = self.varying if factors is None else list(factors), self.arrays["low"], self.arrays["high"]
        cells = self._cells(self.arrays).where(np.all(self._known()[active], axis=0)).over(active)
        # annotated rows may share one value of a code that others do not: their squares are then rounding of its mean
        reach = np.maximum(np.abs(low), np.abs(high))
        spread = np.sqrt(cells.square.sum(axis=1) / max(int(cells.count.sum()), 1))
        means = np.ptp(cells.mean, axis=1) if cells.count.size else np.zeros(len(reach))
        constant = ~(low < high) | (np.maximum(spread, means) <= ROUNDING * reach)
        names = tuple(self.frame.factors[index] for index in active)
        return CellSums(names, tuple(self.bins.factors[index] for index in active), *standardised(cells, constant))

    def restored(self, arrays: Arrays) -> Self:
        """Return the state that held these arrays: as many cells as there are.

        Raises
        ------
        FormatError
            If they are not those of such a state.
        """
        sized = {
            name: np.empty((*own.shape[:-1], arrays["count"].size if "count" in arrays else 0), dtype=own.dtype)
            for name, own in _arrays_of_cells(self._cells(self.arrays)).items()
        }
        return super(CellState, replace(self, arrays={**self.arrays, **sized})).restored(arrays)

    def _check_sums(self, arrays: Arrays) -> None:
        levels, count = arrays["levels"], arrays["count"]
        _check((levels < np.array(self.bins.n_levels)[:, None] + 1).all() and (count > 0).all())
        _check(count.sum() == arrays["n"] and np.unique(levels, axis=1).shape[1] == count.size)


def _arrays_of_cells(cells: CellMoments) -> dict[str, Array]:
    return {name: getattr(cells, name) for name in ("levels", "count", "mean", "square")}


#: Binned rows kept uncounted: counting many at once costs less than counting each batch.
BUFFERED = 1 << 16
#: Batches that wait side by side: longer lists cost more to add to than a batch of few rows does to bin.
WAITING = 256


@dataclass(frozen=True, eq=False)
class CountState(Sums):
    """Joint counts of all codes and factors, whole numbers: batches add up in any order to the same bits.

    Attributes
    ----------
    waiting : tuple of (bins of codes, bins of factors)
        Of rows that are in no table yet.
    n_waiting : int
        How many these are.
    """

    waiting: tuple[tuple[Array, Array], ...] = ()
    n_waiting: int = 0

    @classmethod
    def empty(cls, frame: BinEdges, rule: Binning) -> Self:
        """Return the state of no rows."""
        bins, zero = frame.bins(rule), np.array(0, dtype=np.int64)
        sizes, slots = bins.n_levels, (len(frame.codes), int(bins.code_bins.max()))
        arrays = {"n": zero, "clipped": zero, "annotated": np.zeros(len(sizes), dtype=np.int64)}
        tables = {f"table {index}": np.zeros((*slots, size)) for index, size in enumerate(sizes)}
        places = combinations_with_replacement(range(len(sizes)), 2)
        pairs = {f"pair {i} {k}": np.zeros((sizes[i], sizes[k])) for i, k in places}
        return cls(frame, rule, Scale.of(frame), {**arrays, **tables, **pairs}, bins)

    @property
    def annotated(self) -> Counts:
        """Rows annotated for each factor."""
        return self.settled().arrays["annotated"]

    @property
    def varying(self) -> list[int]:
        """Factors with more than one level or bin."""
        return [index for index, table in enumerate(self.counted.tables) if (table[0].sum(axis=0) > 0).sum() > 1]

    @property
    def counted(self) -> JointCounts:
        """The counts of all rows and factors."""
        return self.of_varying(range(len(self.bins.factors)))

    def update(self, rows: Rows) -> Self:
        """Add a batch: its rows wait to be counted."""
        if rows.n == 0:
            return self
        waiting = (*self.waiting, self.bins.cut(rows))
        if len(waiting) > WAITING:
            waiting = (_side_by_side(waiting),)
        numbers = {"n": self.arrays["n"] + rows.n, "clipped": self.arrays["clipped"] + rows.clipped}
        arrays, n_waiting = {**self.arrays, **numbers}, self.n_waiting + rows.n
        grown = replace(self, arrays=arrays, waiting=waiting, n_waiting=n_waiting)
        return grown.settled() if n_waiting >= BUFFERED else grown

    def settled(self) -> Self:
        """Count the rows that wait."""
        if not self.waiting:
            return self
        zero = np.array(0, dtype=np.int64)  # of what is added when the rows come
        counted = self._added({"n": zero, "clipped": zero, **self._tables(*_side_by_side(self.waiting))})
        return replace(self, arrays=counted, waiting=(), n_waiting=0)

    def of_varying(self, factors: Sequence[int] | None = None) -> JointCounts:
        """Return the counts of the factors that vary, or of these."""
        own, active = self.settled().arrays, self.varying if factors is None else list(factors)
        pairs = combinations_with_replacement(range(len(active)), 2)
        return JointCounts(
            tuple(own[f"table {index}"] for index in active),
            {(i, k): own[f"pair {active[i]} {active[k]}"] for i, k in pairs},
            self.bins.code_bins,
        )

    def _of_rows(self, rows: Rows) -> Arrays:
        numbers = {name: np.array(one, dtype=np.int64) for name, one in (("n", rows.n), ("clipped", rows.clipped))}
        return {**numbers, **self._tables(*self.bins.cut(rows))}

    def _tables(self, codes: Array, factors: Array) -> dict[str, Array]:
        """Count rows by their bins, (n_codes, n) and (n_factors, n)."""
        sizes = np.array(self.bins.n_levels, dtype=np.intp)
        annotated = np.count_nonzero(factors < sizes[:, None], axis=1)
        rows = BinnedRows(codes, factors, self.bins.code_bins, sizes, annotated < codes.shape[1])
        found = PackedRows(rows, factor_pairs=True).count()
        tables = {f"table {index}": table for index, table in enumerate(found.tables)}
        pairs = {f"pair {i} {k}": table for (i, k), table in found.factor_tables.items()}
        return {"annotated": annotated.astype(np.int64), **tables, **pairs}

    def _check_sums(self, arrays: Arrays) -> None:
        sums = [arrays[f"table {index}"][0].sum() for index in range(len(self.bins.factors))]
        _check(np.array_equal(sums, arrays["annotated"]) and (arrays["annotated"] <= arrays["n"]).all())


def _side_by_side(parts: tuple[tuple[Array, Array], ...]) -> tuple[Array, Array]:
    """Return bins of codes and of factors of several batches as those of one."""
    return np.concatenate([part[0] for part in parts], axis=1), np.concatenate([part[1] for part in parts], axis=1)


#: What a state is kept by: what it holds, and the rule of its bins (None where values are summed as they are).
Key = tuple[str, Binning | None]
State = CountState | MomentState | ProductState | ExtremeState | CellState


def key_of(state: str, options: Mapping[str, Any]) -> Key:
    """Return the key of the state that a metric with these options reads."""
    return state, None if state in ("moments", "products") else options["bins"]


def empty_state(key: Key, frame: BinEdges) -> State:
    """Return the state of no rows under a frame."""
    state, rule = key
    if rule is None:
        return MomentState.empty(frame) if state == "moments" else ProductState.empty(frame)
    if state == "table":
        return CountState.empty(frame, rule)
    return ExtremeState.empty(frame, rule) if state == "extremes" else CellState.empty(frame, rule)
