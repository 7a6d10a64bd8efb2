"""A narrower interval from a uniform audit, for who believes that wrong labels side with neither classifier."""

import numpy as np
from numpy.typing import NDArray

from demele.core.proportions import normal_quantile
from demele.evaluation.rare_sums import SampledSum, lower_bound

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]

#: Rows that half a guard stands for: between a wrong label of 1 row and one of 2.
HALF_GUARD = 1.5
#: Name of the interval in results.
UNDIRECTED = "audit, half a guard, if wrong labels take no side"


def undirected_interval(
    given: Signs, audited: Signs, truth: Signs, *, level: float = 0.95, sampled: bool = True, unseen: int | None = None
) -> tuple[float, float, float]:
    """Interval of the difference of two accuracies, if wrong labels do not side with one of the two classifiers.

    Parameters
    ----------
    given : array of shape (n,)
        s(given label) of every row, with s(l) = [candidate says l] - [baseline says l].
    audited, truth : arrays of shape (k,)
        s(given label) and s(true label) of the rows of a uniform audit.
    level : float in (0, 1)
    sampled : bool
        Whether the target is new instances; else it is these rows with true labels.
    unseen : int, optional
        Number of rows that were not audited and on which the two disagree. What these cannot change is certain, and
        the interval reaches no further, but for the sampling of new instances.

    Returns
    -------
    difference, low, high : float
        Within [-1, 1].

    Notes
    -----
    With w = n / k and r = s(true) - s(given), the losses are y = sum w max(-r, 0), of variance
    v = sum w (w - 1) max(-r, 0)^2, and likewise the gains. The upper bound of the losses is the gamma bound (Fay and
    Feuer 1997) of y + .75 w and v + (1.5 w)^2 / 2: half a guard of size 1.5. The lower bound of the gains is that of
    y and v. New instances add the variance of a mean of s(true). All are combined in quadrature.

    *Why only half a guard.* The verdict must hold for every pattern of wrong labels, and the audit says little of those
    that it did not meet. This interval assumes that they are as likely for the candidate as against it. Where all wrong
    labels repeat one classifier's errors, it misses on one side with a probability of up to exp(-1.88) = 15%, so it
    never decides a verdict.

    Examples
    --------
    >>> given = np.repeat(np.array([1, 0, -1], np.int8), [300, 4500, 200])
    >>> seen = np.zeros(100, np.int8)
    >>> [round(end, 4) for end in undirected_interval(given, seen, seen)]
    [0.02, -0.0187, 0.0587]
    """
    from scipy.special import gammaincinv

    n, k = given.size, audited.size
    weight, tail = n / k, (1 - level) / 2
    change = (truth - audited).astype(np.float64)
    sums = [SampledSum.of(np.maximum(side * change, 0), np.full(k, weight)) for side in (-1, 1)]
    certain = [np.maximum(side * change, 0).sum() for side in (-1, 1)]
    guard = HALF_GUARD * weight if k < n else 0.0
    above, below = [], []
    for one, least in zip(sums, certain, strict=True):
        y, v = float(one.total) + guard / 2, float(one.variance) + guard**2 / 2
        above.append(float(v / y * gammaincinv(y * y / v, 1 - tail)) - float(one.total) if v > 0 else 0.0)
        below.append(float(one.total - np.maximum(lower_bound(one, tail), least)))
    totals = [float(one.total) for one in sums]
    if unseen is not None:
        led = float(given.sum(dtype=np.int64)) - float(audited.sum(dtype=np.int64))
        for side, room in enumerate((unseen + led, unseen - led)):  # a row can lose s(given) + 1, and gain 1 - s(given)
            limited = float(np.clip(totals[side], certain[side], certain[side] + room))
            above[side] = min(totals[side] + above[side], float(certain[side]) + room) - limited
            below[side] = max(limited - (totals[side] - below[side]), 0.0)
            above[side], totals[side] = max(above[side], 0.0), limited
    difference = float(given.sum(dtype=np.int64)) + totals[1] - totals[0]
    beyond = 0.0
    if sampled:
        apart = np.count_nonzero(given) + weight * float(np.abs(truth).sum() - np.abs(audited).sum())
        beyond = normal_quantile(1 - tail) * np.sqrt(max(apart - difference**2 / n, 0.0))
    low = difference - np.sqrt(above[0] ** 2 + below[1] ** 2 + beyond**2)
    high = difference + np.sqrt(above[1] ** 2 + below[0] ** 2 + beyond**2)
    return difference / n, max(float(low) / n, -1.0), min(float(high) / n, 1.0)
