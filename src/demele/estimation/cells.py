r"""Interventional robustness: how far codes move when factors other than the one of interest change.

Two estimators of the same idea (Suter et al., 2019, "Robustly disentangled causal mechanisms"), each in two steps, so
that data may come whole, in chunks, or from several machines:

=================  ==============================  =========================================
form               summary (states add up)         scores from the summary
=================  ==============================  =========================================
crossed (sec. 5.2) :func:`summarise_extremes`      :func:`crossed_from_extremes`
general (sec. 5.1) :func:`summarise_cells`         :func:`general_irs_from_cells`
=================  ==============================  =========================================

:func:`crossed_deviations` and :func:`general_irs` do both steps. A *value* is one level of one factor; a *cell* is one
combination of levels of several factors. Factors arrive as integer bins from 0; -1 marks a row that is not annotated.

Sums are taken about a reference value (the mean of the first rows seen), so that a code far from 0 loses no digits.
Squares are summed too: codes whose spread is beyond 1e150, or below 1e-150, must be rescaled first.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData

__all__ = [
    "CellExtremes",
    "CodeMoments",
    "CrossedIRS",
    "DependencyPicture",
    "FactorCells",
    "GeneralIRS",
    "crossed_deviations",
    "crossed_from_extremes",
    "dependency_picture",
    "disentanglement_scores",
    "domain_shift_robustness",
    "general_irs",
    "general_irs_from_cells",
    "irs_score",
    "summarise_cells",
    "summarise_extremes",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]

#: Rows handled at a time: their codes stay in the processor's cache, and a file larger than the memory can be read.
_CHUNK = 1 << 13
#: A table with one slot for every possible cell is used up to this many slots whatever the number of rows.
_SMALL_TABLE = 1 << 12
#: Cell means that differ by less than this many standard deviations differ by rounding only.
_ROUNDING = 1e-10


def _chunks(n_rows: int) -> Iterator[slice]:
    for start in range(0, n_rows, _CHUNK):
        yield slice(start, min(start + _CHUNK, n_rows))


def _code_rows(codes: NDArray[Any], rows: slice) -> FloatArray:
    """Rows of codes with one contiguous line per code, shape (n_codes, n)."""
    return np.ascontiguousarray(codes[rows].T, dtype=np.float64)


def _smallest_unsigned(largest: int) -> np.dtype[Any]:
    return np.min_scalar_type(max(largest, 0))


def _divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Quotient that is NaN, without a warning, where the denominator is 0."""
    out = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


# ---------------------------------------------------------------------------------------------------------------------
# What every summary knows of each code over all rows
# ---------------------------------------------------------------------------------------------------------------------


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
    reference: FloatArray
    total: FloatArray
    squares: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def empty(cls, n_codes: int) -> Self:
        """Return the summary of no rows, the identity of :meth:`merge`."""
        zeros = np.zeros(n_codes)
        return cls(0, zeros, zeros, zeros, np.full(n_codes, np.inf), np.full(n_codes, -np.inf))

    @classmethod
    def of_rows(cls, rows: FloatArray, reference: FloatArray) -> tuple[Self, FloatArray]:
        """Summarise rows (n_codes, n); also return them centred on the reference."""
        centred = rows - reference[:, np.newaxis]
        squares = np.einsum("ij,ij->i", centred, centred)
        extremes = centred.min(axis=1), centred.max(axis=1)
        return cls(rows.shape[1], reference, centred.sum(axis=1), squares, *extremes), centred

    def rebased(self, reference: FloatArray) -> Self:
        """Return the same summary with sums about another reference."""
        shift = self.reference - reference
        squares = self.squares + shift * (2.0 * self.total + self.n * shift)
        total = self.total + self.n * shift
        return type(self)(self.n, reference, total, squares, self.low + shift, self.high + shift)

    def merge(self, other: Self) -> Self:
        """Return the summary of the rows of both."""
        if not self.n or not other.n:
            return self if self.n else other
        other = other.rebased(self.reference)
        return type(self)(
            self.n + other.n,
            self.reference,
            self.total + other.total,
            self.squares + other.squares,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @property
    def constant(self) -> BoolArray:
        """Codes with a single value."""
        return ~(self.low < self.high)

    @property
    def deviation(self) -> FloatArray:
        """Standard deviation (divisor n) of each code; exactly 0 for a constant one, NaN if there are no rows."""
        if not self.n:
            return np.full(len(self.total), np.nan)
        variance = self.squares / self.n - (self.total / self.n) ** 2
        return np.where(self.constant, 0.0, np.sqrt(np.maximum(variance, 0.0)))


# ---------------------------------------------------------------------------------------------------------------------
# Crossed form
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CellExtremes:
    """Number, sum, smallest and largest of every code for every value of every factor: all that crossed IRS needs.

    The values of factor i stand in the columns ``offsets[i]:offsets[i + 1]``.

    Attributes
    ----------
    offsets : ndarray of int, shape (n_factors + 1,)
        Where the values of each factor start.
    count : ndarray of int, shape (n_values,)
        Rows with that value; rows that are not annotated (bin -1) are counted nowhere.
    total : ndarray, shape (n_codes, n_values)
        Sums of z - reference.
    low, high : ndarray, shape (n_codes, n_values)
        Extremes of z - reference; inf and -inf for a value without rows.
    moments : CodeMoments
        The codes over all rows, annotated or not; it holds the reference.
    """

    offsets: NDArray[np.intp]
    count: NDArray[np.int64]
    total: FloatArray
    low: FloatArray
    high: FloatArray
    moments: CodeMoments

    @classmethod
    def empty(cls, n_codes: int, n_bins: Sequence[int]) -> Self:
        """Return the summary of no rows, the identity of :meth:`merge`."""
        offsets = np.concatenate(([0], np.cumsum(n_bins, dtype=np.intp)))
        shape = (n_codes, int(offsets[-1]))
        return cls(
            offsets,
            np.zeros(shape[1], dtype=np.int64),
            np.zeros(shape),
            np.full(shape, np.inf),
            np.full(shape, -np.inf),
            CodeMoments.empty(n_codes),
        )

    def merge(self, other: Self) -> Self:
        """Return the summary of the rows of both; order and grouping matter to rounding only."""
        if not np.array_equal(self.offsets, other.offsets):
            raise ValueError("the two summaries count different bins; fix the bins before the first batch")
        moments = self.moments.merge(other.moments)
        mine, theirs = self._rebased(moments.reference), other._rebased(moments.reference)
        return type(self)(
            self.offsets,
            self.count + other.count,
            mine[0] + theirs[0],
            np.minimum(mine[1], theirs[1]),
            np.maximum(mine[2], theirs[2]),
            moments,
        )

    def _rebased(self, reference: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        shift = (self.moments.reference - reference)[:, np.newaxis]
        return self.total + shift * self.count, self.low + shift, self.high + shift


@dataclass(frozen=True, slots=True)
class CrossedIRS:
    """Deviations of codes within the values of factors, see :func:`crossed_deviations`.

    Attributes
    ----------
    matrix : ndarray, shape (n_codes, n_factors)
        1 - (mean deviation within the factor's values) / (deviation over all rows), at most 1, best 1. NaN in the row
        of an inactive code and in the column of a factor that no row is annotated for.
    max_deviation : ndarray, shape (n_codes,)
        Largest (or quantile of the) distance of the code from its mean, in standard deviations of that code, hence
        without unit; 0 for an inactive code.
    deviation : ndarray, shape (n_codes,)
        Standard deviation of each code, in its own unit: ``max_deviation * deviation`` is the distance itself.
    inactive : ndarray of bool, shape (n_codes,)
        Codes that do not vary (or not at the chosen quantile).
    n_rows : ndarray of int, shape (n_factors,)
        Rows annotated for each factor.
    n_values : ndarray of int, shape (n_factors,)
        Values of each factor that occur.
    fewest_rows : ndarray of int, shape (n_factors,)
        Rows of the rarest value that occurs (0 if none does). A value with one row has deviation 0, and few rows
        deviate less than many, so scores of small samples are too high: look here before believing one.
    """

    matrix: FloatArray
    max_deviation: FloatArray
    deviation: FloatArray
    inactive: BoolArray
    n_rows: NDArray[np.int64]
    n_values: NDArray[np.int64]
    fewest_rows: NDArray[np.int64]


ValueWeights = Literal["frequency", "uniform"]


def crossed_deviations(
    codes: FloatArray,
    factor_bins: IntArray,
    n_bins: Sequence[int],
    *,
    quantile: float = 1.0,
    value_weights: ValueWeights = "frequency",
) -> CrossedIRS:
    r"""Interventional robustness of each code given each factor, for factors that vary independently of one another.

    .. math::
        \mathrm{zdev}_{ijk} = \max_{n: v_i = k} |z_j - \bar z_{jk}|, \qquad
        R_{ji} = 1 - \frac{\sum_k w_{ik}\, \mathrm{zdev}_{ijk}}{\max_{n: v_i \text{ known}} |z_j - \bar z_j|}

    If knowing factor i fixes code j, whatever the other factors do, R is 1; if it does not help, R is about 0.

    Parameters
    ----------
    codes : ndarray, shape (n_samples, n_codes)
        May be memory-mapped, and of any real type; it is read once, in chunks (``quantile`` 1).
    factor_bins : ndarray of int, shape (n_samples, n_factors)
        Values as integers from 0; -1 where the row is not annotated for the factor.
    n_bins : sequence of int
        Number of possible values of each factor.
    quantile : float in (0, 1], default 1
        The quantile of the distances that stands for the maximum, in the numerator *and* in the denominator; below 1
        outliers matter less, and all samples are needed instead of a summary.
    value_weights : {"frequency", "uniform"}
        Mean over the values that occur: by their share of the annotated rows (source 003: the expectation over the
        factor) or each value alike (the review and public code).

    Returns
    -------
    CrossedIRS

    Notes
    -----
    A factor that is annotated on some rows only is judged on these rows, in the numerator and in the denominator, so
    that missing annotations alone never look like robustness. A constant factor scores 0: it fixes nothing.

    A linear map of a code changes nothing but rounding. Independent noise scores above 0 for few rows, since small
    groups deviate less, and about 0 (a little below included) for many; the copy of a uniform factor that was cut into
    K bins scores about 1 - 1/K, not 1.

    Public code (disentanglement_lib, and the review's) always weighs values alike; the former takes the quantile (0.99
    by default) in the numerator but the maximum in the denominator, which gives noise a score above 0 for any number
    of rows.

    Cost: O(N d M); about 4 ms for N = 20000, d = M = 8. With ``quantile`` < 1: about 30 ms.

    References
    ----------
    Suter, Miladinovic, Schölkopf, Bauer (2019), Robustly disentangled causal mechanisms, section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0.0, 5.0], [0.0, 1.0], [3.0, 2.0], [3.0, 4.0]])
    >>> shape = np.array([[0], [0], [1], [1]])
    >>> crossed_deviations(codes, shape, [2]).matrix
    array([[1.  ],
           [0.25]])
    """
    if quantile < 1.0:
        return _crossed_quantiles(codes, factor_bins, n_bins, quantile, value_weights)
    return crossed_from_extremes(summarise_extremes(codes, factor_bins, n_bins), value_weights=value_weights)


def summarise_extremes(codes: NDArray[Any], factor_bins: IntArray, n_bins: Sequence[int]) -> CellExtremes:
    """Return the :class:`CellExtremes` of codes (n_samples, n_codes) and bins (n_samples, n_factors), in one pass.

    Merging the summaries of parts of the rows gives the summary of all, to rounding. Cost: O(N d M) time, and the
    memory of one chunk of 8192 rows.
    """
    state = CellExtremes.empty(codes.shape[1], n_bins)
    moments = state.moments
    for rows in _chunks(len(codes)):
        lines = _code_rows(codes, rows)
        part, centred = CodeMoments.of_rows(lines, moments.reference if moments.n else lines.mean(axis=1))
        moments = moments.merge(part)
        for i, size in enumerate(n_bins):
            groups = _Groups.of(factor_bins[rows, i], size)
            columns = state.offsets[i] + groups.present
            ordered = centred.take(groups.order, axis=1)
            state.count[columns] += groups.count
            state.total[:, columns] += groups.reduce(np.add, ordered)
            state.low[:, columns] = np.minimum(state.low[:, columns], groups.reduce(np.minimum, ordered))
            state.high[:, columns] = np.maximum(state.high[:, columns], groups.reduce(np.maximum, ordered))
    return replace(state, moments=moments)


@dataclass(frozen=True, slots=True)
class _Groups:
    """Rows put together by value: the values that occur, their rows, and the order that puts equal values side by side.

    Rows without a value (-1) are left out of ``order``.
    """

    present: NDArray[np.intp]
    count: NDArray[np.intp]
    order: NDArray[np.intp]

    @classmethod
    def of(cls, bins: IntArray, size: int) -> Self:
        # Small unsigned integers are sorted by radix, in linear time; -1 becomes 0 and comes first.
        keys = (bins + 1).astype(_smallest_unsigned(size))
        count = np.bincount(keys, minlength=size + 1)
        order = np.argsort(keys, kind="stable")[count[0] :]
        present = np.flatnonzero(count[1:])
        return cls(present, count[1:][present], order)

    @property
    def starts(self) -> NDArray[np.intp]:
        return np.cumsum(self.count) - self.count

    def reduce(self, operation: np.ufunc, ordered: FloatArray) -> FloatArray:
        """Reduce the last axis of values that stand in ``order`` to one number per present value."""
        reduced: FloatArray = operation.reduceat(ordered, self.starts, axis=-1)
        return reduced

    def parts(self, ordered: FloatArray) -> Iterator[FloatArray]:
        """Yield the stretch of the last axis that belongs to each present value."""
        for start, n in zip(self.starts, self.count, strict=True):
            yield ordered[..., start : start + n]


def crossed_from_extremes(extremes: CellExtremes, *, value_weights: ValueWeights = "frequency") -> CrossedIRS:
    """Return what :func:`crossed_deviations` does (with ``quantile`` 1), from the summary; cost free of N."""
    moments = extremes.moments
    n_factors = len(extremes.offsets) - 1
    within = np.full((len(moments.total), n_factors), np.nan)
    overall = within.copy()
    counts = []
    for i in range(n_factors):
        columns = np.arange(extremes.offsets[i], extremes.offsets[i + 1])
        columns = columns[extremes.count[columns] > 0]
        counts.append(extremes.count[columns])
        if not len(columns):
            continue
        total, low, high = extremes.total[:, columns], extremes.low[:, columns], extremes.high[:, columns]
        deviations = _largest_distance(total, counts[i], low, high)
        within[:, i] = _mean_over_values(deviations, counts[i], value_weights)
        overall[:, i] = _largest_distance(total.sum(axis=1), counts[i].sum(), low.min(axis=1), high.max(axis=1))
    if moments.n:
        largest = _largest_distance(moments.total, moments.n, moments.low, moments.high)
    else:
        largest = np.zeros(len(moments.total))
    return _crossed(within, overall, largest, moments, counts)


def _largest_distance(total: FloatArray, count: Any, low: FloatArray, high: FloatArray) -> FloatArray:
    """Distance from the mean to the farther extreme; exactly 0 where the extremes are equal."""
    mean = np.clip(total / count, low, high)  # rounding may put a mean outside its own extremes
    distance: FloatArray = np.maximum(high - mean, mean - low)
    return distance


def _mean_over_values(deviations: FloatArray, count: IntArray, value_weights: ValueWeights) -> FloatArray:
    weights = count / count.sum() if value_weights == "frequency" else np.full(len(count), 1.0 / len(count))
    mean: FloatArray = (deviations * weights).sum(axis=-1)
    return mean


def _crossed(
    within: FloatArray,
    overall: FloatArray,
    largest: FloatArray,
    moments: CodeMoments,
    counts: Sequence[IntArray],
) -> CrossedIRS:
    inactive = moments.constant | ~(largest > 0.0)
    deviation = moments.deviation
    matrix = 1.0 - _divide(within, overall)
    matrix[inactive] = np.nan
    return CrossedIRS(
        matrix=matrix,
        max_deviation=np.divide(largest, deviation, out=np.zeros_like(largest), where=~inactive),
        deviation=deviation,
        inactive=inactive,
        n_rows=np.array([count.sum() for count in counts], dtype=np.int64),
        n_values=np.array([len(count) for count in counts], dtype=np.int64),
        fewest_rows=np.array([count.min() if len(count) else 0 for count in counts], dtype=np.int64),
    )


def _crossed_quantiles(
    codes: FloatArray, factor_bins: IntArray, n_bins: Sequence[int], quantile: float, value_weights: ValueWeights
) -> CrossedIRS:
    """Crossed form with a quantile in place of the maximum: needs every row, and a few copies of the codes."""
    lines = _code_rows(codes, slice(None))
    moments, centred = CodeMoments.of_rows(lines, lines.mean(axis=1))
    largest = _distance_quantile(centred, quantile)
    within = np.full((len(lines), len(n_bins)), np.nan)
    overall = within.copy()
    counts = []
    for i, size in enumerate(n_bins):
        groups = _Groups.of(factor_bins[:, i], size)
        counts.append(groups.count)
        if not len(groups.order):
            continue
        ordered = centred.take(groups.order, axis=1)
        deviations = [_distance_quantile(part, quantile) for part in groups.parts(ordered)]
        within[:, i] = _mean_over_values(np.stack(deviations, axis=1), groups.count, value_weights)
        complete = len(groups.order) == len(codes)
        overall[:, i] = largest if complete else _distance_quantile(ordered, quantile)
    return _crossed(within, overall, largest, moments, counts)


def _distance_quantile(values: FloatArray, quantile: float) -> FloatArray:
    """Quantile, over the last axis, of the distances from the mean."""
    mean = np.clip(values.mean(axis=-1), values.min(axis=-1), values.max(axis=-1))
    distances = np.abs(values - mean[..., np.newaxis])
    noise = 1e-14 * distances.max(axis=-1)  # a value that equals the mean but for rounding is at distance 0
    result: FloatArray = np.quantile(distances, quantile, axis=-1, overwrite_input=True)
    return np.where(result > noise, result, 0.0)


def irs_score(
    matrix: FloatArray, max_deviation: FloatArray, weights: Literal["deviation", "uniform"] = "deviation"
) -> tuple[FloatArray, float]:
    r"""Score of each code, and of all codes, from a matrix of robustness given each factor.

    .. math::
        \mathrm{IRS}_j = \max_i R_{ji}, \qquad \mathrm{IRS} = \sum_j w_j\, \mathrm{IRS}_j \Big/ \sum_j w_j

    Parameters
    ----------
    matrix : ndarray, shape (n_codes, n_factors)
        ``CrossedIRS.matrix``, or the matrix of :func:`disentanglement_scores`; NaN where undefined.
    max_deviation : ndarray, shape (n_codes,)
        ``CrossedIRS.max_deviation``: largest distances from the mean in standard deviations of the code.
    weights : {"deviation", "uniform"}
        w: ``max_deviation`` (source 003), or 1 (the review).

    Returns
    -------
    per_code : ndarray, shape (n_codes,)
        At most 1, best 1; NaN for a code that is undefined given every factor.
    value : float
        Mean over the codes that are defined; NaN if none is.

    Notes
    -----
    In print, and in public code, the weights are largest distances in the codes' own units, so that a useless code
    stretched a hundredfold pulls the score down to its own (two codes, one perfect and one noise: 0.45 becomes 0.009).
    No choice of unit can matter here: weights are counted in standard deviations. What the weight was meant for
    remains, that codes with far-reaching extremes count more; among codes that have the same distribution up to unit
    all weights are equal. Values differ from print as far as the codes' standard deviations differ.

    Examples
    --------
    >>> import numpy as np
    >>> per_code, value = irs_score(np.array([[0.2, 0.9], [0.5, 0.1]]), np.array([3.0, 1.0]))
    >>> per_code, value
    (array([0.9, 0.5]), 0.8)
    """
    per_code = np.where(np.isnan(matrix), -np.inf, matrix).max(axis=1, initial=-np.inf)
    defined = np.isfinite(per_code)
    per_code = np.where(defined, per_code, np.nan)
    weight = max_deviation[defined] if weights == "deviation" else np.ones(int(defined.sum()))
    value = float(_divide(np.asarray((weight * per_code[defined]).sum()), np.asarray(weight.sum())))
    return per_code, value


# ---------------------------------------------------------------------------------------------------------------------
# General form
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Partition:
    """Items put together by the combination of their levels."""

    group: NDArray[np.intp]  # of each item
    example: NDArray[np.intp]  # an item of each group

    @property
    def n(self) -> int:
        return len(self.example)

    def sum(self, values: FloatArray | IntArray) -> FloatArray:
        sums = np.bincount(self.group, weights=values.astype(np.float64, copy=False), minlength=self.n)
        return np.asarray(sums, dtype=np.float64)

    @classmethod
    def of(cls, columns: Sequence[IntArray], sizes: Sequence[int], n_items: int) -> Self:
        """Partition in linear time: columns are packed into one integer, which is looked up or hashed."""
        key, span = _packed(columns, sizes, n_items)
        if span <= max(_SMALL_TABLE, n_items):
            seen = np.zeros(span, dtype=np.bool_)
            seen[key] = True
            n_groups = int(np.count_nonzero(seen))
            group = (np.cumsum(seen) - 1)[key]
        else:
            group, n_groups = _hashed(key)
        example = np.zeros(n_groups, dtype=np.intp)
        example[group] = np.arange(n_items)
        return cls(group, example)


def _packed(columns: Sequence[IntArray], sizes: Sequence[int], n_items: int) -> tuple[NDArray[np.int64], int]:
    """Mixed-radix number of each combination of levels, and how many such numbers there are."""
    key = np.zeros(n_items, dtype=np.int64)
    span = 1
    for column, size in zip(columns, sizes, strict=True):
        if span * size >= 1 << 63:
            key, span = _hashed(key)
        key *= size
        key += column
        span *= size
    return key, span


def _hashed(key: NDArray[np.int64]) -> tuple[NDArray[np.intp], int]:
    """Replace keys by numbers from 0, in order of appearance, in linear time; also return how many there are."""
    import pandas as pd

    number, distinct = pd.factorize(key)
    return number, len(distinct)


@dataclass(frozen=True, slots=True)
class FactorCells:
    """Number of rows and sum of every code for every combination of factor levels that occurs.

    All that the general form needs, for any choice of codes, factors of interest and nuisance factors.

    Attributes
    ----------
    sizes : tuple of int
        Number of possible levels of each factor.
    levels : ndarray of int, shape (n_factors, n_cells)
        The combination of each cell.
    count : ndarray of int, shape (n_cells,)
        Rows, at least 1.
    total : ndarray, shape (n_codes, n_cells)
        Sums of z - reference.
    moments : CodeMoments
        The codes over all rows; it holds the reference.
    """

    sizes: tuple[int, ...]
    levels: NDArray[np.unsignedinteger[Any]]
    count: NDArray[np.int64]
    total: FloatArray
    moments: CodeMoments

    @classmethod
    def empty(cls, n_codes: int, sizes: Sequence[int]) -> Self:
        """Return the summary of no rows, the identity of :meth:`merge`."""
        levels = np.zeros((len(sizes), 0), dtype=_smallest_unsigned(max(sizes, default=1) - 1))
        return cls(
            tuple(map(int, sizes)), levels, np.zeros(0, np.int64), np.zeros((n_codes, 0)), CodeMoments.empty(n_codes)
        )

    def merge(self, other: Self) -> Self:
        """Return the summary of the rows of both; order and grouping matter to rounding and to the order of cells."""
        if self.sizes != other.sizes:
            raise ValueError("the two summaries have other factor levels; fix the bins before the first batch")
        moments = self.moments.merge(other.moments)
        levels = np.concatenate((self.levels, other.levels), axis=1)
        count = np.concatenate((self.count, other.count))
        total = np.concatenate((self._total_about(moments.reference), other._total_about(moments.reference)), axis=1)
        cells = self._partition(levels, range(len(self.sizes)))
        return type(self)(
            self.sizes,
            levels[:, cells.example],
            cells.sum(count).astype(np.int64),
            np.stack([cells.sum(line) for line in total]) if len(total) else np.zeros((0, cells.n)),
            moments,
        )

    def _total_about(self, reference: FloatArray) -> FloatArray:
        return self.total + (self.moments.reference - reference)[:, np.newaxis] * self.count

    def _partition(self, levels: IntArray, factors: Sequence[int]) -> _Partition:
        return _Partition.of([levels[i] for i in factors], [self.sizes[i] for i in factors], levels.shape[1])

    def partition(self, factors: Sequence[int]) -> _Partition:
        """Put the cells together that agree on some factors."""
        return self._partition(self.levels, factors)


def summarise_cells(codes: NDArray[Any], columns: Sequence[IntArray], sizes: Sequence[int]) -> FactorCells:
    """Return the :class:`FactorCells` of codes (n_samples, n_codes) and factor columns, each (n_samples,).

    Levels are integers from 0 to size - 1, all annotated. Cost: O(N (d + M)), two passes; no sort. If few combinations
    are possible they are counted in a table, chunk by chunk; otherwise the packed combinations are hashed at once,
    which takes 16 bytes per row and about 40 per distinct combination, besides the summary itself.
    """
    n_rows, n_codes = codes.shape
    sizes = tuple(map(int, sizes))  # Python's integers: products may be beyond 64 bits
    span = prod(sizes)
    tabulated = span <= max(_SMALL_TABLE, n_rows // 8)
    cells = None if tabulated else _Partition.of(columns, sizes, n_rows)
    n_slots = span if cells is None else cells.n
    count = np.zeros(n_slots, dtype=np.int64)
    total = np.zeros((n_codes, n_slots))
    moments = CodeMoments.empty(n_codes)
    for rows in _chunks(n_rows):
        lines = _code_rows(codes, rows)
        part, centred = CodeMoments.of_rows(lines, moments.reference if moments.n else lines.mean(axis=1))
        moments = moments.merge(part)
        if cells is None:
            slot, _ = _packed([column[rows] for column in columns], sizes, rows.stop - rows.start)
        else:
            slot = cells.group[rows]
        _accumulate(count, total, slot, centred)
    decoded: Iterable[IntArray]
    if cells is None:
        observed = np.flatnonzero(count)
        count, total = count[observed], total[:, observed]
        decoded = np.unravel_index(observed, sizes) if sizes else ()
    else:
        decoded = (column[cells.example] for column in columns)
    levels = np.empty((len(sizes), len(count)), dtype=_smallest_unsigned(max(sizes, default=1) - 1))
    for line, level in zip(levels, decoded, strict=True):
        line[:] = level
    return FactorCells(sizes, levels, count, total, moments)


def _accumulate(
    count: NDArray[np.int64], total: FloatArray, slot: NDArray[np.int64] | NDArray[np.intp], values: FloatArray
) -> None:
    """Add rows to the tables, at a cost that grows with the rows and not with the slots."""
    if len(count) > len(slot):
        np.add.at(count, slot, 1)
        for line, value in zip(total, values, strict=True):
            np.add.at(line, slot, value)
        return
    count += np.bincount(slot, minlength=len(count))
    for line, value in zip(total, values, strict=True):
        line += np.bincount(slot, weights=value, minlength=len(count))


@dataclass(frozen=True, slots=True)
class GeneralIRS:
    r"""Interventional robustness of some codes, see :func:`general_irs`.

    Distances are in standard deviations of the codes. "Situation" is a combination of levels of the factors of
    interest that occurs; "setting", one of the nuisance factors.

    Attributes
    ----------
    value : float
        IRS = 1 - empida / normaliser, at most 1, best 1; NaN if the codes do not depend on the factors at all.
    empida : float
        Mean over situations of the largest disagreement.
    normaliser : float
        The same with no factor of interest and all factors nuisance.
    situations : ndarray of int, shape (n_situations, n_interest)
        Levels of the factors of interest.
    frequency : ndarray, shape (n_situations,)
        Share of the rows.
    mpida : ndarray, shape (n_situations,)
        Largest disagreement, over the settings seen in the situation.
    worst_setting : ndarray of int, shape (n_situations, n_nuisance)
        Where it occurs.
    worst_coverage : ndarray, shape (n_situations,)
        Coverage of the worst setting. *Coverage* is the share of p(rest | situation) whose levels of the rest occur
        in that situation with that setting; below 1 the intervention is extrapolated from the levels that do occur.
    worst_rows : ndarray, shape (n_situations,)
        Rows, in effect, behind the mean at the worst setting: (sum of weights)^2 / (sum of squared weights). If it is
        small, the disagreement may be noise.
    min_coverage, mean_coverage : float
        Over all situations and settings seen together; the mean by their share of the rows.
    settings_seen : float
        Share of the pairs (situation, setting), each of which occurs, that occur together. Settings that were never
        seen in a situation cannot count in its ``mpida``.
    inactive : ndarray of bool, shape (n_codes,)
        Constant codes; they add nothing to any distance.
    n : int
        Rows used, all factors annotated.
    """

    value: float
    empida: float
    normaliser: float
    situations: IntArray
    frequency: FloatArray
    mpida: FloatArray
    worst_setting: IntArray
    worst_coverage: FloatArray
    worst_rows: FloatArray
    min_coverage: float
    mean_coverage: float
    settings_seen: float
    inactive: BoolArray
    n: int


def general_irs(
    codes: NDArray[Any], interest: IntArray, nuisance: IntArray, rest: IntArray, *, norm: float = 2
) -> GeneralIRS:
    r"""Interventional robustness of a set of codes L, with factors that may be confounded.

    .. math::
        \mathrm{PIDA}(g_I, g_J) &= \lVert E[Z_L \mid g_I] - E[Z_L \mid g_I, do(G_J = g_J)] \rVert \\
        \mathrm{EMPIDA}(L \mid I, J) &= E_{g_I} \sup_{g_J} \mathrm{PIDA}(g_I, g_J) \\
        \mathrm{IRS}(L \mid I, J) &= 1 - \frac{\mathrm{EMPIDA}(L \mid I, J)}
                                     {\mathrm{EMPIDA}(L \mid \emptyset, \text{all factors})}

    How far can the nuisance factors J push the codes, once the factors of interest I are known?

    Parameters
    ----------
    codes : ndarray, shape (n_samples, n_codes)
        The codes L only. May be memory-mapped.
    interest, nuisance, rest : ndarray of int, shape (n_samples, any number of factors, 0 included)
        Levels from 0 of the factors I, J and of all others. The rest is what interventions are adjusted for: a factor
        left out of all three cannot be. Rows with a level -1 (not annotated) are left out.
    norm : {1, 2, inf} or other order of a vector norm
        Of differences between means of several codes, each in standard deviations of that code.

    Returns
    -------
    GeneralIRS
        With the coverage of the reweighting, for a note on positivity.

    Raises
    ------
    NotEnoughData
        If no row is annotated for all factors.

    Notes
    -----
    The means are relative frequencies throughout. Under intervention each row of the cell (g_I, g_J) weighs
    p(rest | g_I) / p(rest | g_I, g_J), and weights are divided by their sum, so that levels of the rest which came
    along with g_J by confounding only are put back to their share. If factors are independent all weights are 1, and
    the mean is that of the cell. The supremum is over the g_J that occur with g_I.

    Codes are divided by their standard deviation, for a norm of several codes would mix units otherwise; for one code
    it changes nothing. IRS is at most 1, and may be below 0: a maximum over few rows, or over a skewed cell, may
    exceed the one over all.

    Noise in the codes is averaged within a cell but not removed: with few rows in the cells of all factors both
    disagreements are of noise. Coarser bins help (source 003, section 5.1).

    Cost: O(N (n_codes + n_factors)), whatever the number of combinations. For 10 codes and 5 factors of 5 levels about
    60 ns per row; where nearly every row is a combination of its own, tables outgrow the processor's caches and 10
    million rows take 1 microsecond each.

    References
    ----------
    Suter, Miladinovic, Schölkopf, Bauer (2019), sections 4 and 5.1, equation 6, algorithm 1.

    Examples
    --------
    The code is the rest, and the nuisance factor only comes along with it:

    >>> import numpy as np
    >>> nuisance = np.array([[0], [0], [0], [1], [1], [1]])
    >>> rest = np.array([[0], [0], [1], [0], [1], [1]])
    >>> general_irs(rest.astype(float), np.zeros((6, 0), int), nuisance, rest).value
    1.0
    """
    parts = (interest, nuisance, rest)
    columns = [part[:, i] for part in parts for i in range(part.shape[1])]
    bounds = np.cumsum([part.shape[1] for part in parts])
    cells = _cells_of_complete_rows(codes, columns)
    return general_irs_from_cells(cells, range(bounds[0]), range(bounds[0], bounds[1]), norm=norm)


def _cells_of_complete_rows(codes: NDArray[Any], columns: Sequence[IntArray]) -> FactorCells:
    """Summarise the rows that are annotated for all factors."""
    complete = np.ones(len(codes), dtype=np.bool_)
    for column in columns:
        complete &= column >= 0
    if not complete.any():
        raise NotEnoughData(
            "factors: the general form of interventional robustness needs rows annotated for all factors, "
            f"but none of the {len(codes)} is; leave out the factors that are seldom annotated"
        )
    if not complete.all():
        codes, columns = codes[complete], [column[complete] for column in columns]
    return summarise_cells(codes, columns, [int(column.max()) + 1 for column in columns])


def general_irs_from_cells(
    cells: FactorCells,
    interest: Sequence[int],
    nuisance: Sequence[int],
    *,
    codes: Sequence[int] | None = None,
    norm: float = 2,
) -> GeneralIRS:
    """Return what :func:`general_irs` does, from the summary, for some of its factors and codes.

    Parameters
    ----------
    cells : FactorCells
        Summary of at least one row.
    interest, nuisance : sequence of int
        Numbers of factors; all others are the rest.
    codes : sequence of int, optional
        Numbers of the codes L; all by default.
    norm : float
        As in :func:`general_irs`.
    """
    chosen = range(len(cells.total)) if codes is None else codes
    rest = [i for i in range(len(cells.sizes)) if i not in {*interest, *nuisance}]
    worlds = _Interventions.of(cells, interest, nuisance, rest)
    deviation = cells.moments.deviation
    disagreement = np.zeros(worlds.pairs.n)
    distance = np.zeros(len(cells.count))
    for j in chosen:
        if deviation[j] > 0.0:
            shift = worlds.adjusted_mean(cells, j) - worlds.conditional_mean(cells, j)[worlds.situation_of_pair]
            disagreement = _add_to_norm(disagreement, shift / deviation[j], norm)
            from_mean = cells.total[j] / cells.count - cells.total[j].sum() / cells.moments.n
            distance = _add_to_norm(distance, from_mean / deviation[j], norm)
    disagreement, distance = _finish_norm(disagreement, norm), _finish_norm(distance, norm)

    n_situations = worlds.situations.n
    mpida = np.zeros(n_situations)
    np.maximum.at(mpida, worlds.situation_of_pair, disagreement)
    attained = np.flatnonzero(disagreement == mpida[worlds.situation_of_pair])
    worst = np.zeros(n_situations, dtype=np.intp)
    worst[worlds.situation_of_pair[attained[::-1]]] = attained[::-1]
    frequency = worlds.situation_rows / cells.moments.n
    empida, normaliser = float(frequency @ mpida), float(distance.max())
    settings = cells.partition(nuisance).n
    return GeneralIRS(
        value=1.0 - empida / normaliser if normaliser > _ROUNDING else np.nan,
        empida=empida,
        normaliser=normaliser,
        situations=_levels(cells, interest, worlds.situations.example),
        frequency=frequency,
        mpida=mpida,
        worst_setting=_levels(cells, nuisance, worlds.pairs.example[worst]),
        worst_coverage=worlds.coverage[worst],
        worst_rows=worlds.effective_rows[worst],
        min_coverage=float(worlds.coverage.min()),
        mean_coverage=float(worlds.coverage @ worlds.pairs.sum(cells.count) / cells.moments.n),
        settings_seen=worlds.pairs.n / (n_situations * settings),
        inactive=cells.moments.constant[list(chosen)],
        n=cells.moments.n,
    )


def _levels(cells: FactorCells, factors: Sequence[int], at: NDArray[np.intp]) -> NDArray[np.int64]:
    return np.array([cells.levels[i, at] for i in factors], dtype=np.int64).reshape(len(factors), len(at)).T


def _add_to_norm(sofar: FloatArray, value: FloatArray, norm: float) -> FloatArray:
    """One more coordinate; coordinate by coordinate needs no table of all codes for all cells."""
    if norm == np.inf:
        return np.maximum(sofar, np.abs(value))
    return sofar + np.abs(value) ** norm


def _finish_norm(sofar: FloatArray, norm: float) -> FloatArray:
    return sofar if norm in (1, np.inf) else sofar ** (1.0 / norm)


@dataclass(frozen=True, slots=True)
class _Interventions:
    """What can be said of the codes in each situation (levels of I) once a setting (levels of J) is forced on it."""

    situations: _Partition
    situation_rows: FloatArray
    pairs: _Partition
    situation_of_pair: NDArray[np.intp]
    #: p(rest | situation) of each cell.
    share: FloatArray
    #: Sum of the shares of the cells of each pair.
    coverage: FloatArray
    effective_rows: FloatArray

    @classmethod
    def of(cls, cells: FactorCells, interest: Sequence[int], nuisance: Sequence[int], rest: Sequence[int]) -> Self:
        situations = cells.partition(interest)
        pairs = cells.partition([*interest, *nuisance])
        rows = situations.sum(cells.count)
        if rest:
            natural = cells.partition([*interest, *rest])
            share = natural.sum(cells.count)[natural.group] / rows[situations.group]
        else:
            share = np.ones(len(cells.count))
        coverage = pairs.sum(share)
        return cls(
            situations,
            rows,
            pairs,
            situations.group[pairs.example],
            share,
            coverage,
            coverage**2 / pairs.sum(share**2 / cells.count),
        )

    def adjusted_mean(self, cells: FactorCells, code: int) -> FloatArray:
        """E[z | situation, do(setting)] - reference, of each pair.

        A row of cell (I, J, rest) has the weight n(I, rest) n(I, J) / (n(I) n(I, J, rest)); summed over the rows of
        the cell, and without what is common to the pair, that is the cell's mean weighed by its share.
        """
        return self.pairs.sum(self.share * (cells.total[code] / cells.count)) / self.coverage

    def conditional_mean(self, cells: FactorCells, code: int) -> FloatArray:
        """E[z | situation] - reference, of each situation."""
        return self.situations.sum(cells.total[code]) / self.situation_rows


def domain_shift_robustness(
    codes: NDArray[Any], factor_bins: IntArray, domains: Sequence[int], *, norm: float = 2
) -> GeneralIRS:
    r"""Robustness of a set of codes L when the factors that make the domain change: IRS(L | all but S, S).

    Parameters
    ----------
    codes : ndarray, shape (n_samples, n_codes)
        The codes L only.
    factor_bins : ndarray of int, shape (n_samples, n_factors)
        Levels from 0; rows with a -1 are left out.
    domains : sequence of int
        Numbers of the factors S.
    norm : float
        As in :func:`general_irs`.

    References
    ----------
    Suter et al. (2019), section 4, "Special case: domain shift robustness".

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> code = np.array([[0.0], [1.0], [4.0], [5.0]])
    >>> round(domain_shift_robustness(code, factors, [1]).value, 3)
    0.8
    """
    cells = _cells_of_complete_rows(codes, list(factor_bins.T))
    kept = [i for i in range(factor_bins.shape[1]) if i not in set(domains)]
    return general_irs_from_cells(cells, kept, domains, norm=norm)


def disentanglement_scores(codes: NDArray[Any], factor_bins: IntArray) -> FloatArray:
    r"""Matrix of D_li = IRS({l} | {i}, all factors but i); the disentanglement score of code l is max_i D_li.

    Parameters
    ----------
    codes : ndarray, shape (n_samples, n_codes)
        May be memory-mapped.
    factor_bins : ndarray of int, shape (n_samples, n_factors)
        Levels from 0; rows with a -1 are left out.

    Returns
    -------
    ndarray, shape (n_codes, n_factors)
        At most 1, best 1; NaN for a code that is constant or does not depend on the factors at all. With one factor
        nothing is left to disturb a code: 1.

    Notes
    -----
    No factor is left as rest, so no adjustment is needed, and means of the cells of all factors stand for the
    interventions. With one row in each cell that is the crossed form, with the frequency of the values as weights.
    Cost: O(N (n_codes + n_factors)), then O(n_codes n_factors) per cell.

    References
    ----------
    Suter et al. (2019), equation 7.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> code = np.array([[0.0], [1.0], [4.0], [5.0]])
    >>> disentanglement_scores(code, factors).round(3)
    array([[0.8, 0.2]])
    """
    cells = _cells_of_complete_rows(codes, list(factor_bins.T))
    moments = cells.moments
    empida = np.zeros((len(cells.total), len(cells.sizes)))
    normaliser = np.zeros(len(cells.total))
    for j, line in enumerate(cells.total):
        mean = line / cells.count
        normaliser[j] = _largest_distance(line.sum(), moments.n, mean.min(), mean.max())
    for i, size in enumerate(cells.sizes):
        groups = _Groups.of(cells.levels[i].astype(np.int64), size)
        cell_rows = cells.count[groups.order].astype(np.float64)
        rows = groups.reduce(np.add, cell_rows)
        for j, line in enumerate(cells.total):
            total = line[groups.order]
            mean = total / cell_rows
            low, high = groups.reduce(np.minimum, mean), groups.reduce(np.maximum, mean)
            empida[j, i] = (rows / moments.n) @ _largest_distance(groups.reduce(np.add, total), rows, low, high)
    normaliser[moments.constant | ~(normaliser > _ROUNDING * moments.deviation)] = 0.0
    return 1.0 - _divide(empida, normaliser[:, np.newaxis])


# ---------------------------------------------------------------------------------------------------------------------
# Picture
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DependencyPicture:
    """How one code follows one factor, and how far the other factors push it; all arrays (n_values,).

    In the unit of the code. NaN where a value has no rows.

    Attributes
    ----------
    count : ndarray of int
        Rows with the value.
    mean : ndarray
        Conditional mean of the code.
    low, high : ndarray
        Smallest and largest code within the value.
    lower, upper : ndarray
        Quantiles of the code within the value, see ``quantiles``.
    quantiles : (float, float)
        Which.
    do_low, do_high : ndarray
        Smallest and largest E[z | value, do(all other factors = g)] over the combinations g seen with the value: the
        range that the other factors cause, without the noise within a combination as far as it averages out. Only rows
        annotated for all factors count. The larger distance from the mean is the disagreement (MPIDA) at this value.
    combinations : ndarray of int
        Combinations of the other factors seen with the value. If it comes near ``count``, combinations have about one
        row each, and ``do_low``, ``do_high`` are no more than ``low``, ``high``.
    """

    count: NDArray[np.int64]
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    lower: FloatArray
    upper: FloatArray
    quantiles: tuple[float, float]
    do_low: FloatArray
    do_high: FloatArray
    combinations: NDArray[np.int64]


def dependency_picture(
    codes: NDArray[Any],
    factor_bins: IntArray,
    code: int,
    factor: int,
    n_bins: Sequence[int],
    *,
    quantiles: tuple[float, float] = (0.05, 0.95),
) -> DependencyPicture:
    """Return what a drawing of one code against one factor needs.

    Parameters
    ----------
    codes : ndarray, shape (n_samples, n_codes)
        Only column ``code`` is read.
    factor_bins : ndarray of int, shape (n_samples, n_factors)
        Values from 0; -1 where the row is not annotated.
    code, factor : int
        Columns.
    n_bins : sequence of int
        Number of possible values of each factor.
    quantiles : (float, float), default (0.05, 0.95)
        Of the code within a value.

    Notes
    -----
    A flat band around a moving mean: the code follows this factor and no other. A wide band around a flat mean: it
    follows others. Cost: O(N n_factors).

    References
    ----------
    Suter et al. (2019), section 6, the visualisation of dependency structures.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> code = np.array([[0.0], [1.0], [4.0], [6.0]])
    >>> picture = dependency_picture(code, factors, 0, 0, [2, 2])
    >>> picture.mean, picture.do_low, picture.do_high
    (array([0.5, 5. ]), array([0., 4.]), array([1., 6.]))
    """
    size = n_bins[factor]
    groups = _Groups.of(factor_bins[:, factor], size)
    column = np.asarray(codes[:, code], dtype=np.float64)
    values = column[groups.order]
    count = np.zeros(size, dtype=np.int64)
    count[groups.present] = groups.count
    drawn = np.full((7, size), np.nan)
    for k, part in zip(groups.present, groups.parts(values), strict=True):
        low, high = part.min(), part.max()
        drawn[:5, k] = np.clip(part.mean(), low, high), low, high, *np.quantile(part, quantiles)

    combinations = np.zeros(size, dtype=np.int64)
    complete = (factor_bins >= 0).all(axis=1)
    if complete.any():
        cells = summarise_cells(column[complete, np.newaxis], list(factor_bins[complete].T), n_bins)
        seen = _Groups.of(cells.levels[factor].astype(np.int64), size)
        means = (cells.moments.reference[0] + cells.total[0] / cells.count)[seen.order]
        drawn[5, seen.present] = seen.reduce(np.minimum, means)
        drawn[6, seen.present] = seen.reduce(np.maximum, means)
        combinations[seen.present] = seen.count
    mean, low, high, lower, upper, do_low, do_high = drawn
    return DependencyPicture(count, mean, low, high, lower, upper, quantiles, do_low, do_high, combinations)
