"""Bounds of a sum of rare amounts >= 0 over many rows, from a random sample of the rows.

Wrong labels are rare. A sample that meets few of them, or none, says little of those that it did not meet, and a normal
interval would be far too sure. Both bounds below are exact where all rows are as likely to be drawn and all amounts are
equal; elsewhere they fit the first moments, and were measured by simulation.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SampledSum:
    """What a sample shows of sums of amounts >= 0; arrays of the same shape.

    Attributes
    ----------
    total : array
        Sum of w a over the sampled rows, with a the amount of a row and w = 1 / its probability to be drawn.
    variance : array
        Sum of w (w - 1) a^2: of the total, if rows are drawn independently.
    squares : array
        Sum of w a^2: estimates the sum of the squared amounts of all rows.
    """

    total: Floats
    variance: Floats
    squares: Floats

    @classmethod
    def of(cls, amounts: ArrayLike, weights: ArrayLike, *, spare: float = 1.0) -> "SampledSum":
        """Sum over the last axis: amounts of shape (..., k), weights of shape (k,).

        ``spare`` enlarges the variance, where numbers were fitted to the same sample.
        """
        a, w = np.asarray(amounts, dtype=np.float64), np.asarray(weights, dtype=np.float64)
        squared = a**2
        return cls(a @ w, spare * (squared @ (w * (w - 1))), squared @ w)


@dataclass(frozen=True, slots=True)
class Guard:
    """One row that was not drawn and has an amount: its weight had it been drawn, and the amount.

    A weight of 1 is that of rows that are drawn surely: then nothing is unseen.
    """

    weight: Floats
    amount: Floats


def upper_bound(seen: SampledSum, guard: Guard, tail: ArrayLike) -> Floats:
    """Upper bound of a sum of rare amounts, allowing for those that the sample did not meet.

    Parameters
    ----------
    guard : Guard
        Of the same shape: weight >= 1 and amount >= 0 of one more row.
    tail : float or array in (0, 0.5]
        Error of the bound.

    Returns
    -------
    array
        At least the total.

    Notes
    -----
    Of m rows with an amount, x are drawn, each with probability p: x is binomial, and so is the bound. With y, v, q the
    total, variance and squares, each with the guard's w y + w L, v + w (w - 1) L^2, q + w L^2:

        size = q / y,  p = 1 / (1 + v / (y size)),  a = y p / size,  bound = size (a - 1 + b),  I_p(a, b) = 1 - tail

    with I the regularised incomplete beta function. For equal weights 1/p and equal amounts, a = x + 1 and the bound is
    that of Clopper and Pearson (1934) for m, given x and p. For p -> 0 it is the gamma bound of Fay and Feuer (1997),
    which takes x for a Poisson count: with equal weights that fails up to 20% of the time where 2.5% are allowed.

    Examples
    --------
    No error met where every row was drawn with probability 0.7; three met:

    >>> guard = Guard(np.full(2, 1 / 0.7), np.ones(2))
    >>> weights = np.full(3, 1 / 0.7)
    >>> upper_bound(SampledSum.of([[0, 0, 0], [1, 1, 1]], weights), guard, 0.025).round(2)
    array([3.06, 9.01])
    """
    from scipy.special import btdtria

    # What is drawn surely leaves nothing unseen.
    weight, amount = guard.weight, np.where(guard.weight > 1, guard.amount, 0.0)
    y = seen.total + weight * amount
    v = seen.variance + weight * (weight - 1) * amount**2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = (seen.squares + weight * amount**2) / y
        odds = v / (y * size)
        a = y / size / (1 + odds)
        # I_p(a, b) = 1 - tail is I_(1 - p)(b, a) = tail, which keeps small tails; 1 - p = odds / (1 + odds).
        b = btdtria(tail, a, odds / (1 + odds))
        high = size * (a - 1 + b)
    known = (amount <= 0) & (seen.variance <= 0)
    return np.where(known, seen.total, np.maximum(high, seen.total))


def lower_bound(seen: SampledSum, tail: ArrayLike) -> Floats:
    """Lower bound of a sum of rare amounts.

    Parameters
    ----------
    tail : float or array in (0, 0.5]
        Error of the bound.

    Returns
    -------
    array
        At most the total. 0 where none was met.

    Notes
    -----
    Source: Fay and Feuer 1997: the quantile of the gamma distribution with mean y and variance v. The sum of the
    amounts met, without weights, is a lower bound too, and a certain one: callers that know it take the larger.

    Examples
    --------
    >>> lower_bound(SampledSum.of([[0, 0, 0], [1, 1, 1]], np.full(3, 2.0)), 0.025).round(2)
    array([0. , 2.2])
    """
    from scipy.special import gammaincinv

    y, v = seen.total, seen.variance
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(y > 0, v / y * gammaincinv(y * y / v, tail), 0.0)
    return np.where(v <= 0, y, low)
