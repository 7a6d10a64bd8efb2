r"""Whether codes depend on a factor given the others: the projected covariance measure, with additive regressions.

Half of the rows say in which direction the mean of a code follows the factor beyond the others; on the other half, the
covariance of that direction and the code is tested, once the other factors are regressed out of both (Lundborg, Kim,
Shah & Samworth 2024, without their weights).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from demele.core.inputs import Factor

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Quantiles at which splines have their knots.
KNOTS = (0.25, 0.5, 0.75)
#: Share of a code's variance, below which nothing is left of it.
NOTHING = 1e-10


def factor_columns(factor: Factor, basis: str) -> Floats:
    """Return the columns (n, k) by which regressions see a factor: indicators of classes, or a line or cubic spline.

    Rows are all annotated.
    """
    if factor.categorical:
        return np.asarray((factor.values[:, None] == np.arange(1, len(factor.levels))).astype(np.float64))
    values = (np.asarray(factor.values, dtype=np.float64) - factor.low) / (factor.high - factor.low)
    if basis == "linear":
        return values[:, None]
    powers = [values, values**2, values**3]
    return np.column_stack([*powers, *(np.maximum(values - knot, 0.0) ** 3 for knot in np.quantile(values, KNOTS))])


def _fitted(columns: Floats, targets: Floats) -> Floats:
    """Return the coefficients of least squares, the intercept first."""
    design = np.column_stack([np.ones(len(columns)), columns])
    return np.linalg.lstsq(design, targets, rcond=1e-11)[0].astype(np.float64, copy=False)


def _at(columns: Floats, coefficients: Floats) -> Floats:
    return np.asarray(coefficients[0] + columns @ coefficients[1:])


def projected_covariances(codes: Floats, columns: Sequence[Floats], train: Ints, test: Ints) -> Floats:
    r"""Return the statistic of each code and factor, (n_codes, n_factors): standard normal for independent ones.

    Parameters
    ----------
    codes : array of shape (n_samples, n_codes)
        Standardised.
    columns : sequence of arrays of shape (n_samples, k_i)
        Of each factor, as regressions see it.
    train, test : arrays of int
        Rows that choose the direction, and rows that test it.

    Notes
    -----
    Where nothing is left of a code or its direction once the others are regressed out, but for rounding, the statistic
    would be 0 / 0; it is -inf, which no test rejects.
    """
    whole = np.hstack(columns)
    full = _at(whole[test], _fitted(whole[train], codes[train]))
    found = np.full((codes.shape[1], len(columns)), -np.inf)
    for i in range(len(columns)):
        others = np.hstack([np.empty((len(codes), 0)), *(one for k, one in enumerate(columns) if k != i)])
        direction = full - _at(others[test], _fitted(others[train], codes[train]))
        both = np.hstack([direction, codes[test]])
        left = both - _at(others[test], _fitted(others[test], both))
        direction, rest = np.hsplit(left, 2)
        product = direction * rest
        some = (np.square(direction).mean(axis=0) > NOTHING) & (np.square(rest).mean(axis=0) > NOTHING)
        spread = product.std(axis=0)
        some &= spread > 0
        found[some, i] = np.sqrt(len(test)) * product[:, some].mean(axis=0) / spread[some]
    return found


def averaged_covariances(codes: Floats, columns: Sequence[Floats], halves: Sequence[tuple[Ints, Ints]]) -> Floats:
    """Return the mean of the statistics over several partitions of the rows.

    Each is standard normal for independent ones, and so their mean varies by no more: its p-values are too large.
    """
    statistics = np.stack([projected_covariances(codes, columns, *half) for half in halves])
    # nothing left in some half says that there is nothing
    return np.asarray(statistics.mean(axis=0))
