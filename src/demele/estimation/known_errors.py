"""Accuracies and areas under ROC curves against true classes, from annotations whose errors are known.

All depend on one assumption: given the true class, errors do not depend on predictions. The rows of a transition are
true classes, its columns given classes.
"""

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats, Integers


def accuracy_without_errors(predicted: Integers, given: Integers, transition: Floats) -> float:
    """Return the share of rows whose true class is predicted.

    Parameters
    ----------
    predicted, given : arrays of int of shape (n,)
        Classes 0 ... K - 1.
    transition : array of shape (K, K)

    Returns
    -------
    float
        May leave [0, 1] by chance.

    Examples
    --------
    Of classes that are predicted perfectly, and annotated wrong as often as the transition says:

    >>> predicted, given = np.array([0] * 10 + [1] * 10), np.array([0] * 9 + [1] + [1] * 8 + [0] * 2)
    >>> round(accuracy_without_errors(predicted, given, np.array([[0.9, 0.1], [0.2, 0.8]])), 12)
    1.0
    """
    k = len(transition)
    cells = predicted.astype(np.intp) * k + given
    table = np.bincount(cells, minlength=k * k).reshape(k, k) / given.size
    return float(np.trace(table @ np.linalg.inv(transition)))


def areas_without_errors(scores: Floats, given: Integers, transition: Floats) -> Floats:
    """Return the area under the ROC curve of each true class against all others.

    Parameters
    ----------
    scores : array of shape (K, n)
        Of class k for each row, as a classifier gives it.
    given : array of int of shape (n,)
        Annotations 0 ... K - 1.
    transition : array of shape (K, K)

    Returns
    -------
    array of shape (K,)
        NaN for all, where a class was never given; NaN for a class that is estimated not to occur.

    Notes
    -----
    For the score of one class let A_w[a, b] be the probability that it is larger for a row given a than for one given
    b, ties half. With C[w, v] = P(v | w), A_w = C A_v C', so that A_v = C^-1 A_w C^-T; the area of class k is the
    mean of A_v[k, b] over other classes b by their shares.

    Examples
    --------
    >>> areas_without_errors(np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 2.0]]), np.array([0, 0, 1]), np.eye(2)).tolist()
    [1.0, 1.0]
    """
    k = len(transition)
    sizes = np.bincount(given, minlength=k)
    if not sizes.all():
        return np.full(k, np.nan)
    shares = sizes / sizes.sum()
    margin = shares @ np.linalg.inv(transition)
    undo = np.linalg.inv((margin[:, None] * transition / shares).T)  # of C[w, v] = m_v T[v, w] / P(w)
    found = np.full(k, np.nan)
    for own in range(k):
        others = np.arange(k) != own
        if margin[own] <= 0 or margin[others].sum() <= 0:
            continue
        pairs = undo @ _larger(scores[own], given, sizes) @ undo.T
        found[own] = (margin[others] @ pairs[own, others]) / margin[others].sum()
    return found


def _larger(score: Floats, given: Integers, sizes: NDArray[np.intp]) -> Floats:
    """Return how likely a row of one class has a larger score than a row of another, ties half; 1/2 on the diagonal."""
    k = sizes.size
    order = np.argsort(given, kind="stable")
    ends = np.cumsum(sizes)
    found = np.full((k, k), 0.5)
    by_class = [np.sort(part) for part in np.split(score[order], ends[:-1])]
    for a in range(k):
        for b in range(a):
            below = np.searchsorted(by_class[b], by_class[a], side="left")
            up_to = np.searchsorted(by_class[b], by_class[a], side="right")
            found[a, b] = (below + up_to).sum() / (2 * sizes[a] * sizes[b])
            found[b, a] = 1 - found[a, b]
    return found
