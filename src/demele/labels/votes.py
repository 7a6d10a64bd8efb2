"""The class with the most votes, whatever the votes weigh: one rule, which does not look at the names of classes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Flags, Floats, Rows
from demele.core.labelled import Indices

#: Sums of votes nearer than this are equal: weights add up in another order for each class.
SAME_SHARE = 1e-12


def leading(votes: NDArray[Any]) -> Flags:
    """Which classes have the most votes of each row, shape (n, K)."""
    return np.asarray(votes >= votes.max(axis=1, keepdims=True) - SAME_SHARE)


def are_tied(votes: NDArray[Any]) -> Flags:
    """In which rows several classes have the most votes, shape (n,)."""
    return np.asarray(np.count_nonzero(leading(votes), axis=1) > 1)


def plurality(votes: NDArray[Any], *tie_breakers: Callable[[Rows], Floats]) -> Indices:
    """Return the class with the most votes in each row, shape (n,).

    Parameters
    ----------
    votes : array of shape (n, K)
    *tie_breakers : functions of m rows that return an array of shape (m, K)
        Of tied classes the one with the largest value is elected. The next function breaks the ties that are left.

    Examples
    --------
    >>> plurality(np.array([[2, 0], [1, 1]]), lambda rows: np.array([[0.2, 0.8]]))
    array([0, 1], dtype=int32)
    """
    level = leading(votes)
    left = np.flatnonzero(np.count_nonzero(level, axis=1) > 1)
    for values in tie_breakers:
        if left.size:
            level[left] &= leading(np.where(level[left], values(left), -np.inf))
            left = left[np.count_nonzero(level[left], axis=1) > 1]
    return np.asarray(level.argmax(axis=1), dtype=np.int32)


def earliest_voter(votes: Indices, k: int) -> Callable[[Rows], Floats]:
    """Return a tie breaker that prefers the class that the earliest voter named.

    Parameters
    ----------
    votes : array of shape (n_voters, n)
        Classes, 0 to K - 1; voters in their order.
    """

    def values(rows: Rows) -> Floats:
        named = np.full((rows.size, k), -np.inf)
        for place in reversed(range(len(votes))):
            named[np.arange(rows.size), votes[place, rows]] = -place
        return named

    return values
