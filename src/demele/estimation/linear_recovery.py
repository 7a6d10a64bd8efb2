"""Linear maps: correlations of codes with factors, moments that add up, explained shares, canonical correlations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from demele.core.arrays import Array, Flags, Floats, Integers, Rows
from demele.core.inputs import Factor
from demele.estimation.univariate import unit_vectors, variance_shares

#: Least share of the largest squared length from which lengths are read off the columns' products, as exact as need be.
WELL_SPREAD = 1e-4
#: Variables of a variance below this share of their mean square are constant, to rounding.
CONSTANT = 1e-24


@dataclass(frozen=True, slots=True)
class Basis:
    """Orthonormal vectors that span centred columns, and the way to them.

    Attributes
    ----------
    unit : array of shape (n_samples, n_columns)
        The columns, centred and of length 1; 0 where they are constant.
    turned : array of shape (n_columns, rank)
        The vectors are ``unit @ turned``.
    columns : array of shape (n_samples, n_columns)
    """

    unit: Floats
    turned: Floats
    columns: Floats

    @classmethod
    def of(cls, columns: Floats) -> "Basis":
        """Find the basis of columns (n_samples, n_columns); what is constant or a copy, to rounding, adds nothing."""
        unit, _ = unit_vectors(columns, CONSTANT)
        squares, vectors = np.linalg.eigh(unit.T @ unit)
        if squares.size and squares[0] > WELL_SPREAD * squares[-1]:
            return cls(unit, vectors / np.sqrt(squares), columns)
        _, lengths, right = np.linalg.svd(np.linalg.qr(unit, mode="r"), full_matrices=False)
        kept = lengths > lengths.max(initial=0.0) * max(columns.shape) * np.finfo(float).eps
        return cls(unit, right[kept].T / lengths[kept], columns)

    @property
    def rank(self) -> int:
        """Number of directions that vary."""
        return int(self.turned.shape[1])

    @property
    def directions(self) -> Floats:
        """Weights of the columns, each in its own unit, (n_columns, rank): the vectors are sums of centred columns."""
        lengths = np.linalg.norm(self.columns - self.columns.mean(axis=0), axis=0)
        varies = (lengths > 0) & self.unit.any(axis=0)
        return self.turned / np.where(varies, lengths, np.inf)[:, None]

    def with_columns(self, columns: Floats) -> Floats:
        """Return the products of the vectors with other columns (n_samples, k): (rank, k)."""
        return self.turned.T @ (self.unit.T @ columns)

    def with_classes(self, labels: Rows, n_classes: int) -> Floats:
        """Return the sums of the vectors over the rows of each class: (rank, n_classes)."""
        return self.turned.T @ _class_sums(self.unit, labels, n_classes)


def explained_share(basis: Basis, values: Array, n_classes: int = 0) -> float:
    r"""Return the share of a factor's variance that least squares on the codes explain, :math:`R^2`.

    Parameters
    ----------
    basis : Basis
        Of the codes.
    values : array of shape (n_samples,), or (n_samples, 2) of a cyclic factor
        Numbers, whose share is that of the sum of their variances; or classes 0 ... ``n_classes`` - 1: the indicators
        of the classes are then predicted together, and the share is that of the sum of their variances.
    n_classes : int
        0 for numbers.

    Examples
    --------
    >>> basis = Basis.of(np.array([[0.0], [1.0], [2.0], [3.0]]))
    >>> round(explained_share(basis, np.array([0, 1, 2, 3]), 4), 6)
    0.333333
    """
    if not n_classes:
        columns = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
        unit, varies = unit_vectors(columns, CONSTANT)
        shares = [float(np.square(line).sum()) for line in basis.with_columns(unit).T]
        return min(float(variance_shares(columns) @ shares), 1.0) if varies.any() else float("nan")
    labels = values.astype(np.intp)
    rows = np.bincount(labels, minlength=n_classes).astype(np.float64)
    total = len(labels) - (rows**2).sum() / len(labels)
    return (
        float(min(np.square(basis.with_classes(labels, n_classes)).sum() / total, 1.0)) if total > 0 else float("nan")
    )


def canonical(first: Basis, second: Basis) -> tuple[Floats, Floats, Floats]:
    """Return canonical correlations, largest first, and the directions of both sides, one in each column.

    Examples
    --------
    >>> codes = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 5.0]])
    >>> canonical(Basis.of(codes), Basis.of(codes @ [[1.0, 1.0], [1.0, -1.0]]))[0].round(6).tolist()
    [1.0, 1.0]
    """
    left, lengths, right = np.linalg.svd(first.with_columns(second.unit) @ second.turned, full_matrices=False)
    return np.minimum(lengths, 1.0), first.directions @ left, second.directions @ right.T


def largest_with_classes(basis: Basis, labels: Array, n_classes: int) -> float:
    r"""Return the first canonical correlation with the indicators of classes 0 ... ``n_classes`` - 1.

    The indicators span the means of the classes: the correlations are the singular values of the sums of the vectors
    in each class, divided by :math:`\sqrt{n_k}`. The vectors are centred, so that the mean of all rows adds nothing.

    Examples
    --------
    >>> basis = Basis.of(np.array([[0.0], [2.0], [2.0], [4.0]]))
    >>> round(largest_with_classes(basis, np.array([0, 0, 1, 1]), 2), 6)
    0.707107
    """
    labels = labels.astype(np.intp)
    rows = np.bincount(labels, minlength=n_classes)
    if not basis.rank:
        return 0.0
    sums = basis.with_classes(labels, n_classes) / np.sqrt(np.maximum(rows, 1))
    return min(float(np.linalg.norm(sums, 2)), 1.0)


def correlation_of_pairs(first: Floats, second: Floats) -> Floats:
    """Return the signed correlation of each column of one with that of the other; 0 where one is constant."""
    (a, a_varies), (b, b_varies) = (unit_vectors(columns, CONSTANT) for columns in (first, second))
    return np.where(a_varies & b_varies, np.clip(np.einsum("ij,ij->j", a, b), -1.0, 1.0), 0.0)


# What a linear map of all codes knows of factors, from sums of products -----------------------------------------------
#
# The rows are no longer there: only their number, and the products of all columns about their means. Of a categorical
# factor the columns are the indicators of its classes.

#: Least share of the largest eigenvalue of the codes' correlations from which a direction counts: what is below is the
#: rounding of the products.
LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class CrossProducts:
    """Sums of products about means, over the same rows for all columns.

    Attributes
    ----------
    n : int
        Rows.
    codes : array of shape (n_codes, n_codes)
    varies : array of bool of shape (n_codes,)
        Codes that take more than one value; the others count as 0.
    factors : array of shape (n_columns, n_columns)
        Of the columns of all factors, factor by factor.
    with_codes : array of shape (n_codes, n_columns)
    classes : tuple of int
        Columns of each factor that are indicators of classes; 0 for one column of numbers.
    rows : array of shape (n_columns,)
        Rows of each class; of numbers all.
    """

    n: int
    codes: Floats
    varies: Flags
    factors: Floats
    with_codes: Floats
    classes: tuple[int, ...]
    rows: Floats

    @cached_property
    def lengths(self) -> Floats:
        """Lengths of the centred codes, 1 where they do not vary."""
        return np.sqrt(np.where(self.varies, np.diag(self.codes), 1.0))

    @cached_property
    def columns(self) -> list[slice]:
        """Columns of each factor."""
        ends = np.cumsum([max(own, 1) for own in self.classes])
        return [slice(int(end) - max(own, 1), int(end)) for own, end in zip(self.classes, ends, strict=True)]

    @cached_property
    def directions(self) -> Floats:
        """Weights of the codes in units of their lengths, (n_codes, rank): their sums are orthonormal."""
        unit = np.where(self.varies, 1.0 / self.lengths, 0.0)
        return _whitening(unit[:, None] * self.codes * unit)

    @cached_property
    def with_directions(self) -> Floats:
        """Products of the orthonormal directions with the columns of the factors, (rank, n_columns)."""
        unit = np.where(self.varies, 1.0 / self.lengths, 0.0)
        return self.directions.T @ (unit[:, None] * self.with_codes)

    def association(self) -> Floats:
        r"""Return absolute correlations, of categorical factors correlation ratios, (n_codes, n_factors).

        .. math:: \eta_{ij}^2 = \frac{\sum_k n_k (\bar z_{jk} - \bar z_j)^2}{\sum_n (z_{nj} - \bar z_j)^2}
        """
        found = np.zeros((len(self.codes), len(self.classes)))
        for index, own in enumerate(self.columns):
            scale = self.rows[own] if self.classes[index] else np.diag(self.factors)[own]
            squares = np.divide(
                self.with_codes[:, own] ** 2, scale, out=np.zeros((len(found), len(scale))), where=scale > 0
            )
            found[:, index] = np.sqrt(squares.sum(axis=1)) / self.lengths
        found[~self.varies] = 0.0
        return np.minimum(found, 1.0)

    def explained(self) -> Floats:
        """Return the share of each factor's variance that least squares on the codes explain, (n_factors,)."""
        total = np.array([np.trace(self.factors[own, own]) for own in self.columns])
        told = np.array([np.square(self.with_directions[:, own]).sum() for own in self.columns])
        share: Floats = np.divide(told, total, out=np.full(len(total), np.nan), where=total > 0)
        return np.minimum(share, 1.0)

    def canonical(self) -> Floats:
        """Return the canonical correlations of codes and factors that are all numbers, largest first."""
        lengths = np.sqrt(np.diag(self.factors))
        turned = _whitening(self.factors / np.outer(lengths, lengths))
        products: Floats = self.with_directions / lengths @ turned
        found: Floats = np.asarray(np.linalg.svd(products, compute_uv=False), dtype=np.float64)
        return np.minimum(found, 1.0)

    def first_canonical(self) -> Floats:
        """Return the first canonical correlation of the codes with each factor, (n_factors,)."""
        found = np.sqrt(self.explained())
        for index, own in enumerate(self.columns):
            if self.classes[index]:
                held = self.rows[own] > 0
                sums = self.with_directions[:, own][:, held] / np.sqrt(self.rows[own][held])
                found[index] = min(float(np.linalg.norm(sums, 2)), 1.0) if sums.size else 0.0
        return found


def _whitening(correlations: Floats) -> Floats:
    """Return weights (n_columns, rank) that make columns with these correlations orthonormal."""
    squares, vectors = np.linalg.eigh(correlations)
    kept = squares > LEAST * squares.max(initial=0.0)
    return np.asarray(vectors[:, kept] / np.sqrt(squares[kept]))


# What the forms of interventional robustness share --------------------------------------------------------------------

#: Rows handled at a time: their codes stay in the processor's cache, and a file larger than the memory can be read.
CHUNK = 1 << 13
#: Cell means that differ by less than this many standard deviations differ by rounding only.
ROUNDING = 1e-10


def chunks(n_rows: int) -> Iterator[slice]:
    """Yield slices that together are all rows."""
    for start in range(0, n_rows, CHUNK):
        yield slice(start, min(start + CHUNK, n_rows))


def code_rows(codes: Array, rows: slice) -> Floats:
    """Return rows of codes with one contiguous line per code, shape (n_codes, n)."""
    return np.ascontiguousarray(codes[rows].T, dtype=np.float64)


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotient, NaN, without a warning, where the denominator is 0."""
    out = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


@dataclass(frozen=True, slots=True)
class CodeMoments:
    """Sums and extremes of each code over all rows of a summary; all arrays have shape (n_codes,).

    Attributes
    ----------
    n : int
        Rows.
    reference : ndarray
        The value about which sums are taken; fixed by the first rows, any value inside the data will do.
    total, squares : ndarray
        Sums of z - reference and of its square.
    low, high : ndarray
        Smallest and largest z - reference; inf and -inf if there are no rows.
    """

    n: int
    reference: Floats
    total: Floats
    squares: Floats
    low: Floats
    high: Floats

    @classmethod
    def empty(cls, n_codes: int) -> Self:
        """Return the summary of no rows, the identity of :meth:`merge`."""
        zeros = np.zeros(n_codes)
        return cls(0, zeros, zeros, zeros, np.full(n_codes, np.inf), np.full(n_codes, -np.inf))

    @classmethod
    def of_rows(cls, rows: Floats, reference: Floats) -> tuple[Self, Floats]:
        """Summarise rows (n_codes, n); also return them centred on the reference."""
        centred = rows - reference[:, np.newaxis]
        squares = np.einsum("ij,ij->i", centred, centred)
        extremes = centred.min(axis=1), centred.max(axis=1)
        return cls(rows.shape[1], reference, centred.sum(axis=1), squares, *extremes), centred

    def merge(self, other: Self) -> Self:
        """Return the summary of the rows of both, about the same reference."""
        if not self.n or not other.n:
            return self if self.n else other
        return type(self)(
            self.n + other.n,
            self.reference,
            self.total + other.total,
            self.squares + other.squares,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @property
    def constant(self) -> Flags:
        """Codes with a single value."""
        return ~(self.low < self.high)

    @property
    def deviation(self) -> Floats:
        """Standard deviation (divisor n) of each code; exactly 0 for a constant one, NaN if there are no rows."""
        if not self.n:
            return np.full(len(self.total), np.nan)
        variance = self.squares / self.n - (self.total / self.n) ** 2
        return np.where(self.constant, 0.0, np.sqrt(np.maximum(variance, 0.0)))


@dataclass(frozen=True, slots=True)
class ValueOrder:
    """Rows put together by value: the values that occur, their rows, and the order that puts equal values side by side.

    Rows without a value (-1) are left out of ``order``.
    """

    present: Rows
    count: Rows
    order: Rows

    @classmethod
    def of(cls, bins: Integers, size: int) -> Self:
        """Sort the rows by value, in linear time."""
        # Small unsigned integers are sorted by radix, in linear time; -1 becomes 0 and comes first.
        keys = (bins + 1).astype(np.min_scalar_type(size))
        count = np.bincount(keys, minlength=size + 1)
        order = np.argsort(keys, kind="stable")[count[0] :]
        present = np.flatnonzero(count[1:])
        return cls(present, count[1:][present], order)

    @property
    def starts(self) -> Rows:
        """Where each present value begins in ``order``."""
        return np.cumsum(self.count) - self.count

    def reduce(self, operation: np.ufunc, ordered: Floats) -> Floats:
        """Reduce the last axis of values that stand in ``order`` to one number per present value."""
        return operation.reduceat(ordered, self.starts, axis=-1)

    def parts(self, ordered: Floats) -> Iterator[Floats]:
        """Yield the stretch of the last axis that belongs to each present value."""
        for start, n in zip(self.starts, self.count, strict=True):
            yield ordered[..., start : start + n]


def largest_distance(total: Floats, count: Any, low: Floats, high: Floats) -> Floats:
    """Distance from the mean to the farther extreme; exactly 0 where the extremes are equal."""
    mean = np.clip(total / count, low, high)  # rounding may put a mean outside its own extremes
    return np.asarray(np.maximum(high - mean, mean - low))


# Correlations of single codes with factors, of values or of ranks, and the best one-to-one pairs of the two -----------


def mid_ranks(columns: Array) -> Floats:
    """Return the rank of each value in its column, from 1; tied values have the mean of their ranks.

    Parameters
    ----------
    columns : array of shape (n_samples, n_columns)

    Returns
    -------
    array of the same shape

    Examples
    --------
    >>> mid_ranks(np.array([[30.0], [10.0], [10.0]]))[:, 0].tolist()
    [3.0, 1.5, 1.5]
    """
    n, d = columns.shape
    ranks = np.empty((d, n))
    counting = np.arange(1.0, n + 1.0)
    for own, column in zip(ranks, columns.T, strict=True):
        order, ordered = _sorted(column)
        new = ordered[1:] != ordered[:-1]
        if new.all():
            own[order] = counting
        else:
            starts = np.flatnonzero(np.concatenate([[True], new]))
            sizes = np.diff(np.append(starts, n))
            own[order] = np.repeat(starts + (sizes + 1) / 2, sizes)
    return ranks.T


def _sorted(column: Array) -> tuple[Rows, Array]:
    """Return an order of the rows in which the values of a column do not fall, of equal values any, and these values.

    The bits of floats, read as integers, are in the order of the floats. Their last bits, which hardly ever decide,
    make room for the number of the row: whole numbers are then sorted, several times as fast as rows by their value.
    """
    if column.dtype == np.float64:
        column = np.ascontiguousarray(column)
        bits = column.view(np.int64)
        rows_in = (1 << max(len(column) - 1, 0).bit_length()) - 1
        keys = bits >> 63
        keys &= np.iinfo(np.int64).max  # larger magnitudes of negative numbers come first
        keys ^= bits
        keys &= ~rows_in
        keys |= np.arange(len(column))
        keys.sort()
        keys &= rows_in
        ordered = column[keys]
        if (ordered[1:] >= ordered[:-1]).all():
            return keys, ordered
    order = np.argsort(column)
    return order, column[order]


def _unit(columns: Floats, *, ranks: bool) -> Floats:
    """Bring columns, or their mid-ranks, to mean 0 and length 1; constant ones to 0."""
    return unit_vectors(mid_ranks(columns) if ranks else columns, CONSTANT)[0]


def _class_sums(vectors: Floats, labels: Rows, n_classes: int) -> Floats:
    """Return the sums of vectors (n_samples, k) over the rows of each class: (k, n_classes)."""
    return np.stack([np.bincount(labels, weights=own, minlength=n_classes) for own in vectors.T])


def _class_means(vectors: Floats, factor: Factor, known: Flags) -> tuple[Floats, Floats]:
    """Return the means of vectors of annotated rows in each class, (k, n_classes), and the rows of each class."""
    labels, n_classes = factor.values[known].astype(np.intp), len(factor.levels)
    rows = np.bincount(labels, minlength=n_classes).astype(np.float64)
    return _class_sums(vectors, labels, n_classes) / np.maximum(rows, 1.0), rows


def association(codes: Floats, factors: Sequence[Factor], *, ranks: bool = False) -> Floats:
    r"""Return how each code goes with each factor, (n_codes, n_factors).

    The correlation with a continuous factor, signed, the correlation ratio with a categorical one, and the multiple
    correlation with the cosine and the sine of a cyclic one (Mardia 1976; not of their ranks), each on the
    rows where the factor is annotated; 0 for a code or a factor that is constant there. The correlation ratio

    .. math:: \eta_j = \sqrt{\sum_k n_k (\bar z_{jk} - \bar z_j)^2 / \sum (z_j - \bar z_j)^2}

    is the largest absolute correlation over all ways to give the classes numbers.

    Parameters
    ----------
    codes : array of shape (n_samples, n_codes)
    factors : sequence of Factor
    ranks : bool
        Whether mid-ranks are used instead of the values.
    """
    matrix = np.zeros((codes.shape[1], len(factors)))
    whole = _unit(codes, ranks=ranks) if any(factor.annotated().all() for factor in factors) else None
    numbers = [index for index, one in enumerate(factors) if one.kind == "continuous" and one.annotated().all()]
    if whole is not None and numbers:
        values = np.column_stack([np.asarray(factors[index].values, dtype=np.float64) for index in numbers])
        matrix[:, numbers] = np.clip(whole.T @ _unit(values, ranks=ranks), -1.0, 1.0)
    for index, factor in enumerate(factors):
        if index in numbers:
            continue
        known = factor.annotated()
        if known.sum() < 2:
            continue
        own = whole if whole is not None and known.all() else _unit(codes[known], ranks=ranks)
        if factor.categorical:
            means, rows = _class_means(own, factor, known)
            matrix[:, index] = np.sqrt(np.minimum(means**2 @ rows, 1.0))
        elif factor.cyclic:
            basis = Basis.of(factor.coordinates[known])
            matrix[:, index] = np.minimum(np.linalg.norm(basis.with_columns(own), axis=0), 1.0)
        else:
            values = np.asarray(factor.values[known], dtype=np.float64)[:, None]
            matrix[:, index] = np.clip(own.T @ _unit(values, ranks=ranks), -1.0, 1.0)[:, 0]
    return matrix


def matched(association_of: Floats) -> Rows:
    """Return the code of each factor in the one-to-one pairs of the largest sum, -1 for a factor without a code.

    Parameters
    ----------
    association_of : array of shape (n_codes, n_factors), >= 0

    Examples
    --------
    >>> matched(np.array([[0.9, 0.8], [0.7, 0.1]])).tolist()
    [1, 0]
    """
    from scipy.optimize import linear_sum_assignment

    codes, factors = linear_sum_assignment(association_of, maximize=True)
    found = np.full(association_of.shape[1], -1, dtype=np.intp)
    found[factors] = codes
    return found


def carried_over(
    train: Floats, test: Floats, factor_train: Factor, factor_test: Factor, sign: float, *, ranks: bool = False
) -> float:
    """Return the signed correlation on test rows of one code with a factor, as the training rows relate the two.

    A continuous factor keeps the sign of its correlation in training; classes are numbered by the means of the code in
    training, and cosine and sine of a cyclic factor are weighted as they fit it best there. 0 where the test rows
    leave one of the two constant.

    Parameters
    ----------
    train, test : arrays of shape (n_train, 1) and (n_test, 1)
        The code.
    factor_train, factor_test : Factor
        On the same rows.
    sign : float
        Sign of the correlation in training.
    ranks : bool
    """
    known, here = factor_train.annotated(), factor_test.annotated()
    if known.sum() < 2 or here.sum() < 2:
        return 0.0
    seen = _unit(train[known], ranks=ranks)
    if factor_test.cyclic:
        basis = Basis.of(factor_train.coordinates[known])
        values = factor_test.coordinates[here] @ (basis.directions @ basis.with_columns(seen))
    elif factor_test.categorical:
        values = _class_means(seen, factor_train, known)[0].T[factor_test.values[here].astype(np.intp)]
    else:
        values = np.asarray(factor_test.values[here], dtype=np.float64)[:, None]
    of_numbers = not (factor_test.cyclic or factor_test.categorical)
    found = _unit(test[here], ranks=ranks).T @ _unit(values, ranks=ranks and of_numbers)
    return float(np.clip(found, -1.0, 1.0)[0, 0] * (np.sign(sign) if of_numbers else 1.0))
