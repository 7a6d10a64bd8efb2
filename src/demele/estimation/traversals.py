"""How attributes of what a decoder makes change along a traversal of a code: first and second differences."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def slopes(codes: Floats, attributes: Floats) -> Floats:
    """Return differences of attributes over differences of codes, step by step: (..., n_points - 1).

    Examples
    --------
    >>> slopes(np.array([0.0, 2.0, 4.0]), np.array([0.0, 1.0, 4.0])).tolist()
    [0.5, 1.5]
    """
    return np.diff(attributes, axis=-1) / np.diff(codes, axis=-1)


def lehmer_mean(values: Floats, power: float) -> Floats:
    r"""Return :math:`\sum x^p / \sum x^{p-1}` along the last axis, 0 where all are 0: a mean that leans to the largest.

    Parameters
    ----------
    values : array of shape (..., n), >= 0
    power : float above 1
        1 is the mean, infinity the largest.

    Examples
    --------
    >>> lehmer_mean(np.array([[1.0, 3.0], [0.0, 0.0]]), 2.0).round(6).tolist()
    [2.5, 0.0]
    """
    largest = values.max(axis=-1, keepdims=True)
    relative = values / np.where(largest > 0, largest, 1.0)  # powers of large values would overflow
    weights = relative ** (power - 1.0)
    total = weights.sum(axis=-1)
    return np.asarray(largest[..., 0] * (relative * weights).sum(axis=-1) / np.where(total > 0, total, 1.0))


def smoothness_values(
    codes: Floats, attributes: Floats, *, power: float | None = 2.0, share: float | None = None
) -> Floats:
    r"""Return 1 minus how sharply slopes bend, against their range: (...), 1 for a straight line.

    :math:`1 - \mathcal{C}|D_2| \, / \, (\mathcal{R} D_1 / \delta)`, where :math:`D_1` are the slopes, :math:`D_2`
    theirs, and :math:`\delta` is the step.

    Parameters
    ----------
    codes : array of shape (..., n_points)
        In equal steps.
    attributes : array of shape (..., n_points)
    power : float above 1, or None
        C is the Lehmer mean of this power, or the largest.
    share : float, optional
        R is the range of the central share of the slopes; of all of them by default.

    Examples
    --------
    >>> steps = np.arange(16.0)
    >>> smoothness_values(steps, np.array([steps, steps**2])).round(6).tolist()
    [1.0, 0.928571]
    """
    first = slopes(codes, attributes)
    between = 0.5 * (codes[..., :-1] + codes[..., 1:])
    bends = np.abs(slopes(between, first))
    sharpest = bends.max(axis=-1) if power is None else lehmer_mean(bends, power)
    if share is None:
        spread = np.ptp(first, axis=-1)
    else:
        low, high = np.quantile(first, [0.5 - 0.5 * share, 0.5 + 0.5 * share], axis=-1)
        spread = high - low
    step = np.abs(codes[..., 1] - codes[..., 0])
    rough = sharpest * step / np.where(spread > 0, spread, np.nan)
    # Slopes of a straight line differ by rounding, and bends of rounding are as sharp as their range.
    by_rounding = 16 * np.finfo(float).eps * (np.abs(attributes).max(axis=-1) / step + np.abs(first).max(axis=-1))
    return np.where(np.ptp(first, axis=-1) > by_rounding, 1.0 - rough, 1.0)


def monotonicity_values(codes: Floats, attributes: Floats, *, threshold: float = 1e-3) -> Floats:
    """Return the mean sign of the slopes that are not nearly flat: from -1 to 1, NaN where all are flat.

    Parameters
    ----------
    codes, attributes : array of shape (..., n_points)
    threshold : float, at least 0
        Slopes up to it, in units of the attribute for a unit of the code, are flat.

    Examples
    --------
    >>> steps = np.arange(4.0)
    >>> monotonicity_values(steps, np.array([steps, -2 * steps, 0 * steps, [0.0, 1.0, 2.0, 1.0]])).round(6).tolist()
    [1.0, -1.0, nan, 0.333333]
    """
    first = slopes(codes, attributes)
    signs = np.where(np.abs(first) > threshold, np.sign(first), 0.0)
    steep = (signs != 0).sum(axis=-1)
    return np.asarray(signs.sum(axis=-1) / np.where(steep > 0, steep, np.nan))
