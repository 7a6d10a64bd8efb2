"""How many can be marked, given how many marked ones a random sample holds."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.arrays import Counts, Floats


def hypergeometric_limit(size: ArrayLike, drawn: ArrayLike, seen: ArrayLike, error: float | NDArray[Any]) -> Counts:
    """Return the largest number of marked ones that a uniform random sample does not contradict.

    Parameters
    ----------
    size, drawn, seen : int arrays
        ``drawn`` of ``size`` elements were drawn without replacement, and ``seen`` of them were marked; arrays
        broadcast.
    error : float or array in (0, 1)
        Probability with which the true number may exceed the limit, at most.

    Returns
    -------
    int array of the common shape
        The largest number W with P(Hypergeometric(size, W, drawn) <= seen) > error, found by bisection.

    Examples
    --------
    Ten of a hundred labels were checked, and all were right: 24 or fewer of the hundred are wrong.

    >>> int(hypergeometric_limit(100, 10, 0, 0.05))
    24
    """
    from scipy.stats import hypergeom

    arrays = np.broadcast_arrays(size, drawn, seen, error)
    # The same case often comes many times: pairs of classes that no mistake was seen between.
    cases, back = np.unique(np.stack([np.ravel(x).astype(np.float64) for x in arrays]), axis=1, return_inverse=True)
    sizes, samples, marked = cases[:3].astype(np.int64)
    low, high = marked.copy(), sizes - (samples - marked)  # what is possible at all
    while (low < high).any():
        middle = (low + high + 1) // 2
        possible = hypergeom.cdf(marked, np.maximum(sizes, 1), middle, samples) > cases[3]
        wide = low < high
        low, high = np.where(wide & possible, middle, low), np.where(wide & ~possible, middle - 1, high)
    limits: Counts = low[np.reshape(back, -1)].reshape(arrays[0].shape)
    return limits


def proportion_limits(hits: Counts, n: int | Counts, error: float) -> tuple[Floats, Floats]:
    """Return one-sided exact limits of proportions, each failing with probability ``error`` at most."""
    from scipy.stats import beta

    low = np.where(hits > 0, beta.ppf(error, np.maximum(hits, 1), n - hits + 1), 0.0)
    high = np.where(hits < n, beta.isf(error, hits + 1, np.maximum(n - hits, 1)), 1.0)
    return low, high
