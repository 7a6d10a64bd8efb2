"""Several claims at once, with one error shared by all."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["adjusted", "holm"]


def adjusted(p_values: NDArray[np.float64], method: Literal["holm", "bh"] = "holm") -> NDArray[np.float64]:
    """Return p-values adjusted for their number: a claim is rejected where its own is at most the error.

    ``"holm"`` keeps the probability of any wrong rejection (Holm 1979), ``"bh"`` the expected share of wrong ones
    (Benjamini and Hochberg 1995). NaN is never rejected, but counted.

    Examples
    --------
    >>> adjusted(np.array([0.001, 0.012, 0.03, 0.2, 0.045]))
    array([0.005, 0.048, 0.09 , 0.2  , 0.09 ])
    """
    p = np.where(np.isnan(p_values), 1.0, p_values)
    if method == "bh":
        from scipy.stats import false_discovery_control

        return np.asarray(false_discovery_control(p))
    order = np.argsort(p)
    found = np.empty(p.size)
    found[order] = np.minimum(np.maximum.accumulate(p[order] * (p.size - np.arange(p.size))), 1.0)
    return found


def holm(p_values: NDArray[np.float64], error: float) -> NDArray[np.bool_]:
    """Reject hypotheses such that any true one is rejected with probability ``error`` at most (Holm 1979).

    Examples
    --------
    >>> holm(np.array([0.04, 0.01, 0.03, 0.015]), 0.05).tolist()
    [False, True, False, True]
    """
    # The hair's breadth lets a p-value that was computed from the level count as equal to it.
    return np.asarray(adjusted(p_values) <= error * (1 + 1e-9))
