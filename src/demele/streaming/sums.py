"""States of sums: moments for SAP of continuous factors, extremes by factor value for the crossed form of IRS.

That of total effects stands in :mod:`demele.streaming.cell_sums`.

Sums of floats round, so that batches and merges in another order agree to rounding, not to the bit. Digits are kept:
values are counted from the middle of the frame's range, in units of about half of it (a power of two, which does not
round), and squares are taken about the mean of the rows themselves (Chan, Golub and LeVeque 1983). Codes far from 0
cost none; data that are a small part of their frame's range cost as many as a mean in the unit of the frame does.

The general forms of IRS are no metrics of an accumulator; their state,
:class:`demele.estimation.cells.FactorCells`, merges too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, IncompatibleState
from demele.estimation.extremes import CellExtremes, summarise_extremes
from demele.estimation.moments import CodeMoments
from demele.streaming.batches import Rows
from demele.streaming.cell_sums import CellState
from demele.streaming.centred import Arrays, Counts, Floats, Scale, centred_columns, check_arrays, shares, squares
from demele.streaming.factor_levels import FactorLevels
from demele.streaming.frame import Frame
from demele.streaming.products import ProductState

if TYPE_CHECKING:
    from demele.estimation.discretise import Binning


@dataclass(frozen=True, slots=True, eq=False)
class MomentState:
    """Means, and sums of squares and of cross products about them, of codes and continuous factors.

    Each factor has its own rows, those it is annotated on. Means and squares are in the unit of a :class:`Scale`.

    Attributes
    ----------
    codes, factors : Scale
    n : int
        Rows.
    count : array of int of shape (n_factors,)
        Rows annotated for each factor.
    mean, square : arrays of shape (n_codes,)
        Of the codes over all rows.
    low, high : arrays of shape (n_codes,)
        Extremes of the codes, in their own unit; inf and -inf before the first rows.
    code_mean, code_square, cross : arrays of shape (n_codes, n_factors)
        Of the codes, and of code and factor, over the rows that are annotated for the factor.
    factor_mean, factor_square, factor_low, factor_high : arrays of shape (n_factors,)
    """

    state: ClassVar[str] = "moments"

    codes: Scale
    factors: Scale
    n: int
    count: Counts
    mean: Floats
    square: Floats
    low: Floats
    high: Floats
    code_mean: Floats
    code_square: Floats
    cross: Floats
    factor_mean: Floats
    factor_square: Floats
    factor_low: Floats
    factor_high: Floats

    @classmethod
    def empty(cls, frame: Frame) -> Self:
        """Return the state of no rows, for a frame whose factors are all continuous."""
        ends = np.array([(column.low, column.high) for column in frame.columns])
        return cls._without_rows(Scale.of(frame.low, frame.high), Scale.of(ends[:, 0], ends[:, 1]))

    @classmethod
    def _without_rows(cls, codes: Scale, factors: Scale) -> Self:
        d, m = len(codes.reference), len(factors.reference)
        return cls(
            codes=codes,
            factors=factors,
            n=0,
            count=np.zeros(m, dtype=np.int64),
            **{name: np.zeros(d) for name in ("mean", "square")},
            **{name: np.zeros((d, m)) for name in ("code_mean", "code_square", "cross")},
            **{name: np.zeros(m) for name in ("factor_mean", "factor_square")},
            low=np.full(d, np.inf),
            high=np.full(d, -np.inf),
            factor_low=np.full(m, np.inf),
            factor_high=np.full(m, -np.inf),
        )

    def cleared(self) -> Self:
        """Return the state of no rows, the identity of :meth:`merge`."""
        return self._without_rows(self.codes, self.factors)

    @property
    def clipped(self) -> int:
        """Values that were moved: none, moments take them as they are."""
        return 0

    @property
    def annotated(self) -> Counts:
        """Rows annotated for each factor."""
        return self.count

    @property
    def varying(self) -> list[int]:
        """Factors with more than one value."""
        return [int(index) for index in np.flatnonzero(self.factor_low < self.factor_high)]

    def update(self, rows: Rows) -> "MomentState":
        """Add a batch; values outside the ranges count as they are."""
        rows = rows.unclipped or rows
        if rows.n == 0:
            return self
        values = np.column_stack([np.asarray(column, dtype=np.float64) for column in rows.factors])
        known = ~np.isnan(values)
        count = known.sum(axis=0)
        scaled, own = self.codes.scaled(rows.codes), self.factors.scaled(values)
        mean, centred = centred_columns(scaled)
        square = squares(centred)
        d, m = self.cross.shape
        code_mean, code_square, cross = np.zeros((d, m)), np.zeros((d, m)), np.zeros((d, m))
        factor_mean, factor_square = np.zeros(m), np.zeros(m)
        complete = count == rows.n
        if complete.any():
            code_mean[:, complete], code_square[:, complete] = mean[:, None], square[:, None]
            factor_mean[complete], values_centred = centred_columns(own[:, complete])
            factor_square[complete] = squares(values_centred)
            cross[:, complete] = centred.T @ values_centred
        for index in np.flatnonzero(~complete & (count > 0)):
            here = known[:, index]
            code_mean[:, index], of_codes = centred_columns(scaled[here])
            (factor_mean[index],), of_factor = centred_columns(own[here, index : index + 1])
            code_square[:, index], factor_square[index] = squares(of_codes), squares(of_factor)[0]
            cross[:, index] = of_codes.T @ of_factor[:, 0]
        part = replace(
            self,
            n=rows.n,
            count=count.astype(np.int64),
            mean=mean,
            square=square,
            low=np.asarray(rows.codes.min(axis=0), dtype=np.float64),
            high=np.asarray(rows.codes.max(axis=0), dtype=np.float64),
            code_mean=code_mean,
            code_square=code_square,
            cross=cross,
            factor_mean=factor_mean,
            factor_square=factor_square,
            factor_low=np.where(known, values, np.inf).min(axis=0),
            factor_high=np.where(known, values, -np.inf).max(axis=0),
        )
        return self.merge(part)

    def merge(self, other: "MomentState") -> "MomentState":
        """Return the moments of the rows of both.

        Raises
        ------
        IncompatibleState
            If they count from other references.
        """
        if not (self.codes.same(other.codes) and self.factors.same(other.factors)):
            raise IncompatibleState("the two sum about other references: give both the same frame")
        share, both = shares(np.array(self.n), np.array(other.n))
        own_share, own_both = shares(self.count, other.count)
        moved, factor_moved = other.code_mean - self.code_mean, other.factor_mean - self.factor_mean
        step = other.mean - self.mean
        return replace(
            self,
            n=self.n + other.n,
            count=self.count + other.count,
            mean=self.mean + share * step,
            square=self.square + other.square + both * step**2,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            code_mean=self.code_mean + own_share * moved,
            code_square=self.code_square + other.code_square + own_both * moved**2,
            cross=self.cross + other.cross + own_both * moved * factor_moved,
            factor_mean=self.factor_mean + own_share * factor_moved,
            factor_square=self.factor_square + other.factor_square + own_both * factor_moved**2,
            factor_low=np.minimum(self.factor_low, other.factor_low),
            factor_high=np.maximum(self.factor_high, other.factor_high),
        )

    def of_varying(self, factors: Sequence[int] | None = None) -> "MomentState":
        """Return the moments of the factors that vary, or of these."""
        active = self.varying if factors is None else list(factors)
        names = "count code_mean code_square cross factor_mean factor_square factor_low factor_high"
        own = {name: getattr(self, name)[..., active] for name in names.split()}
        scale = Scale(self.factors.reference[active], self.factors.exponent[active])
        return replace(self, factors=scale, **own)

    def code_variances(self) -> Floats:
        """Return the variances of the codes over all rows, in their own unit."""
        return np.ldexp(self.square / max(self.n, 1), 2 * self.codes.exponent)

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
        away = self.code_mean - self.mean[:, None]
        code_varies = self.code_square > threshold * (self.code_square + self.count * away**2)
        constant = ~(self.low < self.high)
        code_varies[constant] = False
        middle = self.factor_mean + np.ldexp(self.factors.reference, -self.factors.exponent)
        factor_varies = self.factor_square > threshold * (self.factor_square + self.count * middle**2)
        lengths = np.sqrt(np.where(code_varies, self.code_square, 1.0))
        lengths *= np.sqrt(np.where(factor_varies, self.factor_square, 1.0))
        # Rounding can leave a perfect correlation a bit above 1.
        squares = np.minimum(np.square(self.cross / lengths), 1.0)
        found: Floats = np.where(factor_varies, np.where(code_varies, squares, 0.0), np.nan)
        found[constant] = 0.0
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a state holds besides its frame, by name."""
        found = {one.name: getattr(self, one.name) for one in fields(self)[3:]}
        return {"n": np.array(self.n, dtype=np.int64), **found}

    def restored(self, arrays: Arrays) -> "MomentState":
        """Return the state that held these arrays.

        Raises
        ------
        FormatError
            If they are not those of such a state.
        """
        check_arrays(self.arrays(), arrays, at_least_zero=("n", "count", "square", "code_square", "factor_square"))
        given: dict[str, Any] = dict(arrays)
        n = int(given.pop("n"))
        if (given["count"] > n).any() or (n and not (given["low"] <= given["high"]).all()):
            raise FormatError("accumulator", "the moments of this state contradict one another")
        return replace(self, n=n, **given)


@dataclass(frozen=True, slots=True, eq=False)
class ExtremeState:
    """Number, sum and extremes of every code at every value of every factor, for the crossed form of IRS.

    Attributes
    ----------
    codes : Scale
    levels : FactorLevels
    cells : CellExtremes
        About the middles of the frame's ranges, in the unit of ``codes``.
    mean, square : arrays of shape (n_codes,)
        Of the codes over all rows: mean, and sum of squares about it.
    clipped : int
        Values of factors that were moved to the ends of the ranges.
    """

    state: ClassVar[str] = "extremes"

    codes: Scale
    levels: FactorLevels
    cells: CellExtremes
    mean: Floats
    square: Floats
    clipped: int = 0

    @classmethod
    def empty(cls, frame: Frame, rule: "Binning") -> Self:
        """Return the state of no rows.

        Raises
        ------
        InputError
            If the rule looks at values that the frame has not seen.
        """
        levels = FactorLevels.of(frame, rule)
        d = len(frame.codes)
        zeros = np.zeros(d)
        return cls(Scale.of(frame.low, frame.high), levels, CellExtremes.empty(d, levels.sizes), zeros, zeros)

    def cleared(self) -> Self:
        """Return the state of no rows, the identity of :meth:`merge`."""
        d = len(self.mean)
        zeros = np.zeros(d)
        return replace(self, cells=CellExtremes.empty(d, self.levels.sizes), mean=zeros, square=zeros, clipped=0)

    @property
    def n(self) -> int:
        """Rows."""
        return self.cells.moments.n

    @property
    def annotated(self) -> Counts:
        """Rows annotated for each factor."""
        return np.array([count.sum() for count in self._counts()], dtype=np.int64)

    @property
    def varying(self) -> list[int]:
        """Factors that fall into more than one bin."""
        return [index for index, count in enumerate(self._counts()) if (count > 0).sum() > 1]

    def _counts(self) -> list[Counts]:
        return np.split(self.cells.count, self.cells.offsets[1:-1])

    def update(self, rows: Rows) -> "ExtremeState":
        """Add a batch; codes outside the ranges count as they are, factors in the first or last bin."""
        if rows.n == 0:
            return self
        labels, clipped = self.levels.read(rows)
        scaled = self.codes.scaled((rows.unclipped or rows).codes)
        mean, centred = centred_columns(scaled)
        cells = summarise_extremes(scaled, labels, self.levels.sizes, reference=np.zeros(len(self.mean)))
        return self.merge(replace(self, cells=cells, mean=mean, square=squares(centred), clipped=clipped))

    def merge(self, other: "ExtremeState") -> "ExtremeState":
        """Return the extremes of the rows of both.

        Raises
        ------
        IncompatibleState
            If they count other bins, or from other references.
        """
        if not (self.levels.same(other.levels) and self.codes.same(other.codes)):
            raise IncompatibleState("the two have other bins or references: give both the same frame and the same bins")
        share, both = shares(np.array(self.n), np.array(other.n))
        step = other.mean - self.mean
        return replace(
            self,
            cells=self.cells.merge(other.cells),
            mean=self.mean + share * step,
            square=self.square + other.square + both * step**2,
            clipped=self.clipped + other.clipped,
        )

    def of_varying(self, factors: Sequence[int] | None = None) -> CellExtremes:
        """Return the extremes for the factors that vary, or these, with the moments of all codes about their means."""
        active = self.varying if factors is None else list(factors)
        cells, moments = self.cells, self.cells.moments
        ranges = [np.arange(cells.offsets[i], cells.offsets[i + 1]) for i in active]
        columns = np.concatenate(ranges)
        # spreads from squares about the mean, not about a reference that may be far from it
        about_mean = CodeMoments(
            moments.n,
            self.mean,
            np.zeros_like(self.mean),
            self.square,
            moments.low - self.mean,
            moments.high - self.mean,
        )
        return CellExtremes(
            np.concatenate(([0], np.cumsum([len(one) for one in ranges], dtype=np.intp))),
            cells.count[columns],
            cells.total[:, columns],
            cells.low[:, columns],
            cells.high[:, columns],
            about_mean,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a state holds besides frame and bins, by name."""
        cells, moments = self.cells, self.cells.moments
        return {
            "n": np.array(self.n, dtype=np.int64),
            "clipped": np.array(self.clipped, dtype=np.int64),
            "mean": self.mean,
            "square": self.square,
            **{name: getattr(cells, name) for name in ("count", "total", "low", "high")},
            **{f"code_{name}": getattr(moments, name) for name in ("total", "squares", "low", "high")},
        }

    def restored(self, arrays: Arrays) -> "ExtremeState":
        """Return the state that held these arrays.

        Raises
        ------
        FormatError
            If they are not those of such a state.
        """
        check_arrays(self.arrays(), arrays, at_least_zero=("n", "clipped", "square", "count", "code_squares"))
        n = int(arrays["n"])
        offsets = self.cells.offsets
        counts = [part.sum() for part in np.split(arrays["count"], offsets[1:-1])]
        occupied = arrays["count"] > 0
        ordered = (arrays["low"] <= arrays["high"])[:, occupied].all()
        if max(counts) > n or not ordered or (n and not (arrays["code_low"] <= arrays["code_high"]).all()):
            raise FormatError("accumulator", "the extremes of this state contradict one another")
        zeros = np.zeros(len(self.mean))
        totals, squares, low, high = (arrays[f"code_{name}"] for name in ("total", "squares", "low", "high"))
        moments = CodeMoments(n, zeros, totals, squares, low, high)
        cells = CellExtremes(offsets, arrays["count"], arrays["total"], arrays["low"], arrays["high"], moments)
        clipped = int(arrays["clipped"])
        return replace(self, cells=cells, mean=arrays["mean"], square=arrays["square"], clipped=clipped)


Sums = MomentState | ExtremeState | CellState | ProductState


def merged(mine: Sums, theirs: Sums) -> Sums:
    """Return the sums of the rows of both.

    Raises
    ------
    IncompatibleState
        If they are other sums.
    """
    if isinstance(mine, MomentState) and isinstance(theirs, MomentState):
        return mine.merge(theirs)
    if isinstance(mine, ExtremeState) and isinstance(theirs, ExtremeState):
        return mine.merge(theirs)
    if isinstance(mine, CellState) and isinstance(theirs, CellState):
        return mine.merge(theirs)
    if isinstance(mine, ProductState) and isinstance(theirs, ProductState):
        return mine.merge(theirs)
    raise IncompatibleState(f"one holds {type(mine).__name__}, the other {type(theirs).__name__}")
