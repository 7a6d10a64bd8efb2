"""The interventional picture of a code and a factor (Suter et al., 2019)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.estimation.cells import summarise_cells
from demele.estimation.moments import (
    FloatArray,
    IntArray,
    ValueOrder,
)


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
    >>> factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> code = np.array([[0.0], [1.0], [4.0], [6.0]])
    >>> picture = dependency_picture(code, factors, 0, 0, [2, 2])
    >>> picture.mean, picture.do_low, picture.do_high
    (array([0.5, 5. ]), array([0., 4.]), array([1., 6.]))
    """
    size = n_bins[factor]
    groups = ValueOrder.of(factor_bins[:, factor], size)
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
        seen = ValueOrder.of(cells.levels[factor].astype(np.int64), size)
        means = (cells.moments.reference[0] + cells.total[0] / cells.count)[seen.order]
        drawn[5, seen.present] = seen.reduce(np.minimum, means)
        drawn[6, seen.present] = seen.reduce(np.maximum, means)
        combinations[seen.present] = seen.count
    mean, low, high, lower, upper, do_low, do_high = drawn
    return DependencyPicture(count, mean, low, high, lower, upper, quantiles, do_low, do_high, combinations)
