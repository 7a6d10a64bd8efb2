"""Correlations of single codes with factors, of values or of ranks, and the best one-to-one pairs of the two."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats, Rows
from demele.core.inputs import Factor
from demele.estimation.linear_recovery import Basis
from demele.estimation.univariate import unit_vectors

#: Variables of a variance below this share of their mean square are constant, to rounding.
CONSTANT = 1e-24


def mid_ranks(columns: NDArray[Any]) -> Floats:
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


def _sorted(column: NDArray[Any]) -> tuple[Rows, NDArray[Any]]:
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


@dataclass(frozen=True, slots=True)
class UnitCodes:
    """Codes as vectors of mean 0 and length 1; those of a constant code are 0."""

    vectors: Floats
    n: int

    @classmethod
    def of(cls, codes: Floats, *, ranks: bool = False) -> "UnitCodes":
        """Bring codes (n_samples, n_codes), or their mid-ranks, to mean 0 and length 1."""
        vectors, _ = unit_vectors(mid_ranks(codes) if ranks else codes, CONSTANT)
        return cls(vectors, len(codes))

    def with_values(self, values: Floats, *, ranks: bool = False) -> Floats:
        """Return the correlations with columns of numbers (n_samples, n_columns): (n_codes, n_columns), signed."""
        columns, _ = unit_vectors(mid_ranks(values) if ranks else values, CONSTANT)
        return np.clip(self.vectors.T @ columns, -1.0, 1.0)

    def class_means(self, labels: Rows, n_classes: int) -> tuple[Floats, Floats]:
        """Return the means of the vectors in each class, (n_codes, n_classes), and the rows of each class."""
        rows = np.bincount(labels, minlength=n_classes).astype(np.float64)
        sums = np.stack([np.bincount(labels, weights=own, minlength=n_classes) for own in self.vectors.T])
        return sums / np.maximum(rows, 1.0), rows

    def with_classes(self, labels: Rows, n_classes: int) -> Floats:
        r"""Return the correlation ratios of all codes with classes 0 ... ``n_classes`` - 1, (n_codes,).

        .. math:: \eta_j = \sqrt{\sum_k n_k (\bar z_{jk} - \bar z_j)^2 / \sum (z_j - \bar z_j)^2}

        It is the largest absolute correlation over all ways to give the classes numbers.

        Examples
        --------
        >>> codes = UnitCodes.of(np.array([[0.0], [2.0], [2.0], [4.0]]))
        >>> codes.with_classes(np.array([0, 0, 1, 1]), 2).round(6).tolist()
        [0.707107]
        """
        means, rows = self.class_means(labels, n_classes)
        return np.sqrt(np.minimum((means**2 @ rows), 1.0))


def association(codes: Floats, factors: Sequence[Factor], *, ranks: bool = False) -> Floats:
    """Return how each code goes with each factor, (n_codes, n_factors).

    The correlation with a continuous factor, signed, the correlation ratio with a categorical one, and the multiple
    correlation with the cosine and the sine of a cyclic one (Mardia 1976; not of their ranks), each on the
    rows where the factor is annotated; 0 for a code or a factor that is constant there.

    Parameters
    ----------
    codes : array of shape (n_samples, n_codes)
    factors : sequence of Factor
    ranks : bool
        Whether mid-ranks are used instead of the values.
    """
    matrix = np.zeros((codes.shape[1], len(factors)))
    whole = UnitCodes.of(codes, ranks=ranks) if any(factor.annotated().all() for factor in factors) else None
    numbers = [index for index, one in enumerate(factors) if one.kind == "continuous" and one.annotated().all()]
    if whole is not None and numbers:
        values = np.column_stack([np.asarray(factors[index].values, dtype=np.float64) for index in numbers])
        matrix[:, numbers] = whole.with_values(values, ranks=ranks)
    for index, factor in enumerate(factors):
        if index in numbers:
            continue
        known = factor.annotated()
        if known.sum() < 2:
            continue
        own = whole if whole is not None and known.all() else UnitCodes.of(codes[known], ranks=ranks)
        values = factor.values[known]
        if factor.categorical:
            matrix[:, index] = own.with_classes(values.astype(np.intp), len(factor.levels))
        elif factor.cyclic:
            basis = Basis.of(factor.coordinates[known])
            matrix[:, index] = np.minimum(np.linalg.norm(basis.with_columns(own.vectors), axis=0), 1.0)
        else:
            matrix[:, index] = own.with_values(np.asarray(values, dtype=np.float64)[:, None], ranks=ranks)[:, 0]
    return matrix


def matched(association_of: Floats) -> NDArray[np.intp]:
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
    own = UnitCodes.of(test[here], ranks=ranks)
    if factor_test.cyclic:
        basis = Basis.of(factor_train.coordinates[known])
        fitted = basis.directions @ basis.with_columns(UnitCodes.of(train[known], ranks=ranks).vectors)
        return float(own.with_values(factor_test.coordinates[here] @ fitted)[0, 0])
    if not factor_test.categorical:
        values = np.asarray(factor_test.values[here], dtype=np.float64)[:, None]
        return float(np.sign(sign) * own.with_values(values, ranks=ranks)[0, 0])
    means, _ = UnitCodes.of(train[known], ranks=ranks).class_means(
        factor_train.values[known].astype(np.intp), len(factor_train.levels)
    )
    return float(own.with_values(means[0][factor_test.values[here].astype(np.intp)][:, None])[0, 0])
