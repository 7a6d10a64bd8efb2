"""States of sums of values: moments for SAP of continuous factors, products for MCC of classes, weak MCC and affine R2.

Those of sums in cells, for IRS and total effects, stand in :mod:`demele.streaming.states`.

Sums of floats round, so that batches and merges in another order agree to rounding, not to the bit. Digits are kept:
values are counted from the middle of the frame's range, in units of about half of it (a power of two, which does not
round), and squares are taken about the mean of the rows themselves (Chan, Golub and LeVeque 1983). Codes far from 0
cost none; data that are a small part of their frame's range cost as many as a mean in the unit of the frame does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Counts, Floats
from demele.core.errors import FormatError, IncompatibleState
from demele.estimation.linear_recovery import CrossProducts
from demele.streaming.frame import BinEdges, Rows

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """Where columns are counted from, and in which unit: (value - reference) 2^-exponent; all of shape (n_columns,)."""

    reference: Floats
    exponent: NDArray[np.intp]

    @classmethod
    def of(cls, low: Floats, high: Floats) -> Self:
        """Count from the middle of ranges, in units of about half of them."""
        half = high / 2 - low / 2
        exponent = np.where(half > 0, np.frexp(half)[1], 0).astype(np.intp)
        return cls(low / 2 + high / 2, exponent)

    def scaled(self, values: NDArray[Any]) -> Floats:
        """Return values, (n, n_columns), in this unit."""
        # scaled before they are subtracted: the difference of values near the largest floats would overflow
        found: Floats = np.ldexp(np.asarray(values, dtype=np.float64), -self.exponent)
        found -= np.ldexp(self.reference, -self.exponent)
        return found

    def same(self, other: "Scale") -> bool:
        """Whether two are equal."""
        return np.array_equal(self.reference, other.reference) and np.array_equal(self.exponent, other.exponent)


def centred_columns(values: Floats) -> tuple[Floats, Floats]:
    """Return the means of columns, and the columns about them."""
    mean = values.mean(axis=0)
    centred = values - mean
    rest = centred.mean(axis=0)  # what rounding left
    return mean + rest, centred - rest


def squares(centred: Floats) -> Floats:
    """Return the sums of squares of columns."""
    found: Floats = np.einsum("ij,ij->j", centred, centred)
    return found


def shares(mine: NDArray[Any], theirs: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return the second's share of the rows, and the number that a squared difference of means counts for."""
    share = np.divide(theirs, mine + theirs, out=np.zeros(mine.shape), where=theirs > 0)
    return share, mine * share


def check_arrays(expected: Arrays, given: Arrays, *, at_least_zero: tuple[str, ...]) -> None:
    """Refuse arrays with other names, types or shapes, with numbers that are not finite, or counts below 0."""
    fits = given.keys() == expected.keys() and all(
        given[name].shape == one.shape and given[name].dtype == one.dtype for name, one in expected.items()
    )
    if not fits:
        raise FormatError("accumulator", "the sums of this state do not have the columns of its frame")
    for name, one in given.items():
        extreme = name.endswith(("low", "high"))  # infinite where there are no rows
        if not (np.isnan(one) if extreme else ~np.isfinite(one)).any() and (
            name not in at_least_zero or (one >= 0).all()
        ):
            continue
        raise FormatError("accumulator", f"the sums of this state hold impossible numbers ({name})")


class Sums:
    """What states of sums share: no rows wait to be added, and unless a class counts them, none was clipped."""

    __slots__ = ()
    clipped: int = 0

    def settled(self) -> Self:
        """Return the state: nothing waits."""
        return self


@dataclass(frozen=True, slots=True, eq=False)
class MomentState(Sums):
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
    def empty(cls, frame: BinEdges) -> Self:
        """Return the state of no rows, for a frame whose factors are all continuous."""
        ends = np.array([(column.low, column.high) for column in frame.columns])
        d, m = len(frame.codes), len(ends)
        return cls(
            codes=Scale.of(frame.low, frame.high),
            factors=Scale.of(ends[:, 0], ends[:, 1]),
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

    def merge(self, other: object) -> "MomentState":
        """Return the moments of the rows of both.

        Raises
        ------
        IncompatibleState
            If they count from other references.
        """
        if (
            not isinstance(other, MomentState)
            or not self.codes.same(other.codes)
            or not self.factors.same(other.factors)
        ):
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
class ProductState(Sums):
    """Means of codes and of the columns of factors, and the products of all about them.

    A categorical factor has a column for each class, 1 in its rows. Every row is annotated for all factors.

    Attributes
    ----------
    scale : Scale
        Of codes, then columns of factors.
    n_codes : int
    classes : tuple of int
        Classes of each factor; 0 for numbers.
    n : int
        Rows.
    mean : array of shape (n_columns,)
    product : array of shape (n_columns, n_columns)
    low, high : arrays of shape (n_columns,)
        Extremes, in the unit of ``scale``.
    """

    scale: Scale
    n_codes: int
    classes: tuple[int, ...]
    n: int
    mean: Floats
    product: Floats
    low: Floats
    high: Floats

    @classmethod
    def empty(cls, frame: BinEdges) -> Self:
        """Return the state of no rows."""
        classes = tuple(len(one.levels) if one.kind == "categorical" else 0 for one in frame.columns)
        ends = [[(0.0, 0.0)] * own or [(one.low, one.high)] for one, own in zip(frame.columns, classes, strict=True)]
        low, high = np.array([pair for pairs in ends for pair in pairs]).T
        scale = Scale.of(np.concatenate([frame.low, low]), np.concatenate([frame.high, high]))
        p = len(scale.reference)
        return cls(
            scale, len(frame.codes), classes, 0, np.zeros(p), np.zeros((p, p)), np.full(p, np.inf), np.full(p, -np.inf)
        )

    @property
    def annotated(self) -> Counts:
        """Rows annotated for each factor: all."""
        return np.full(len(self.classes), self.n, dtype=np.int64)

    @property
    def varying(self) -> list[int]:
        """Factors with more than one value."""
        return [index for index, own in enumerate(self._columns()) if (self.low[own] < self.high[own]).any()]

    def _columns(self) -> list[slice]:
        ends = self.n_codes + np.cumsum([max(own, 1) for own in self.classes])
        return [slice(int(end) - max(own, 1), int(end)) for own, end in zip(self.classes, ends, strict=True)]

    def update(self, rows: Rows) -> "ProductState":
        """Add a batch; values outside the ranges count as they are."""
        rows = rows.unclipped or rows
        if rows.n == 0:
            return self
        columns = [np.asarray(rows.codes, dtype=np.float64)]
        for values, own in zip(rows.factors, self.classes, strict=True):
            given = np.asarray(values)
            columns.append((given[:, None] == np.arange(own) if own else given[:, None]).astype(np.float64))
        scaled = self.scale.scaled(np.hstack(columns))
        mean, centred = centred_columns(scaled)
        product = centred.T @ centred
        part = replace(self, n=rows.n, mean=mean, product=product, low=scaled.min(axis=0), high=scaled.max(axis=0))
        return self.merge(part)

    def merge(self, other: object) -> "ProductState":
        """Return the products of the rows of both.

        Raises
        ------
        IncompatibleState
            If they count from other references, or other classes.
        """
        if not isinstance(other, ProductState) or not self.scale.same(other.scale) or self.classes != other.classes:
            raise IncompatibleState("the two sum about other references: give both the same frame")
        share, both = shares(np.array(self.n), np.array(other.n))
        step = other.mean - self.mean
        return replace(
            self,
            n=self.n + other.n,
            mean=self.mean + share * step,
            product=self.product + other.product + both * np.outer(step, step),
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
        )

    def of_varying(self, factors: Sequence[int] | None = None) -> CrossProducts:
        """Return the products of all codes with the factors that vary, or with these."""
        active, d = self.varying if factors is None else list(factors), self.n_codes
        columns = self._columns()
        own = np.concatenate([np.arange(columns[index].start, columns[index].stop) for index in active])
        classes = tuple(self.classes[index] for index in active)
        indicator = np.concatenate([np.full(max(one, 1), one > 0) for one in classes])
        return CrossProducts(
            n=self.n,
            codes=self.product[:d, :d],
            varies=self.low[:d] < self.high[:d],
            factors=self.product[np.ix_(own, own)],
            with_codes=self.product[:d, own],
            classes=classes,
            # the mean of an indicator, which is counted from 0 in units of 1, is the share of its class
            rows=np.where(indicator, np.round(self.mean[own] * self.n), float(self.n)),
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a state holds besides its frame, by name."""
        held = {name: getattr(self, name) for name in ("mean", "product", "low", "high")}
        return {"n": np.array(self.n, dtype=np.int64), **held}

    def restored(self, arrays: Arrays) -> "ProductState":
        """Return the state that held these arrays.

        Raises
        ------
        FormatError
            If they are not those of such a state.
        """
        check_arrays(self.arrays(), arrays, at_least_zero=("n",))
        n, product = int(arrays["n"]), arrays["product"]
        ordered = not n or (arrays["low"] <= arrays["high"]).all()
        if not ordered or (np.diag(product) < 0).any() or not np.array_equal(product, product.T):
            raise FormatError("accumulator", "the products of this state contradict one another")
        return replace(self, n=n, mean=arrays["mean"], product=product, low=arrays["low"], high=arrays["high"])
