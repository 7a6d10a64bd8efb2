"""Several claims at once, with one error shared by all."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["holm"]


def holm(p_values: NDArray[np.float64], error: float) -> NDArray[np.bool_]:
    """Reject hypotheses such that any true one is rejected with probability ``error`` at most (Holm 1979).

    The k-th smallest of m p-values (from 0) is held against error / (m - k); the first that is larger stops. NaN is
    never rejected, but counted.

    Examples
    --------
    >>> holm(np.array([0.04, 0.01, 0.03, 0.015]), 0.05).tolist()
    [False, True, False, True]
    """
    p = np.where(np.isnan(p_values), 1.0, p_values)
    order = np.argsort(p, kind="stable")
    # The hair's breadth lets a p-value that was computed from the level count as equal to it.
    small = p[order] <= error / (p.size - np.arange(p.size)) * (1 + 1e-9)
    rejected = np.zeros(p.size, dtype=np.bool_)
    rejected[order] = np.logical_and.accumulate(small)
    return rejected
