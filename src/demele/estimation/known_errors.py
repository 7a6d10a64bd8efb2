"""Accuracies, areas under ROC curves and informations of true classes, from annotations whose errors are known.

All depend on one assumption: given the true class, errors do not depend on predictions. The rows of a transition are
true classes, its columns given classes.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats, Integers
from demele.estimation.counts import JointCounts
from demele.estimation.information import InformationTable, entropy, mutual_information


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


# Information of codes and true values, from tables of codes and noisy annotations whose errors are known --------------
#
# If errors do not depend on the codes given the true value, the table of codes and annotations is the one of codes and
# true values times the transition T (rows true values, columns given ones). Undoing it leaves cells that are negative
# by chance. They are kept: x ln|x| is odd, so the noise of an empty cell cancels, where clipping would keep its
# positive half as information.

#: Added to the diagonal of counted transitions, so that a class that was never counted is right.
NEVER_COUNTED = 0.001


def without_errors(table: Floats, transition: Floats) -> Floats:
    """Undo the errors of annotations in a table of codes and annotations.

    Parameters
    ----------
    table : array of shape (..., n_rows, K)
        Counts or probabilities; columns are given values.
    transition : array of shape (..., K, K)
        Probabilities; rows are true values, columns given ones.

    Returns
    -------
    array of shape (..., n_rows, K)
        Columns are true values. Cells may be negative by chance.

    Examples
    --------
    >>> given = np.array([[0.28, 0.12], [0.12, 0.48]])
    >>> ((7 * without_errors(given, np.array([[0.9, 0.1], [0.2, 0.8]]))).round(6) + 0.0).tolist()
    [[2.0, 0.8], [0.0, 4.2]]
    """
    return table @ np.linalg.inv(transition)


def signed_table(counts: JointCounts, transitions: Sequence[Floats | None]) -> InformationTable:
    """Return all informations and entropies that metrics need, of true values instead of given ones.

    Parameters
    ----------
    counts : JointCounts
        Of codes and given values; columns are the classes of the transitions. Leading axes are resamples.
    transitions : sequence of arrays of shape (K, K) or (..., K, K), or None
        One per factor, undone with signs whatever it is; None for a factor that is right.

    Returns
    -------
    InformationTable
        Without tests of independence, and without informations between factors.
    """
    information, heights, joint = [], [], []
    for table, transition in zip(counts.tables, transitions, strict=True):
        of_code = entropy(table.sum(axis=-1))
        undone = table if transition is None else without_errors(table, transition[..., None, :, :])
        own, height = mutual_information(undone), entropy(undone[..., 0, :, :].sum(axis=-2))
        information.append(own)
        heights.append(height)
        joint.append(of_code + height[..., None] - own)
    return InformationTable(
        np.stack(information, axis=-1),
        np.stack(heights, axis=-1),
        np.stack(joint, axis=-1),
        None,
        counts.code_bins,
    )


def counted_transition(counts: Floats) -> Floats:
    """Return the transition of counts (..., K, K), rows true values; a class that was never counted is right."""
    filled = counts + NEVER_COUNTED * np.eye(counts.shape[-1])
    return np.asarray(filled / filled.sum(axis=-1, keepdims=True))


def audited_transition(counts: Floats, given: Floats) -> Floats:
    r"""Return the transition of partly audited rows; a class that was never counted has no errors.

    Audited rows tell which true values stand behind a given one, and all rows how often it is given:

    .. math:: T_{vw} \propto n_w \, c_{vw} / \textstyle\sum_u c_{uw}

    With a random audit, and without the codes, this is the estimate of greatest likelihood. It errs less than that of
    the audited rows alone, and undone by it no margin of true values is negative.

    Parameters
    ----------
    counts : array of shape (..., K, K)
        Of the audited rows, drawn at random from all; rows true values, columns given ones.
    given : array of shape (..., K)
        How often each value is given in all rows.

    Examples
    --------
    >>> audited_transition(np.array([[8.0, 0.0], [2.0, 10.0]]), np.array([300.0, 100.0])).round(3).tolist()
    [[1.0, 0.0], [0.375, 0.625]]
    """
    right = NEVER_COUNTED * np.eye(counts.shape[-1])
    filled = counts + right
    joint = filled / filled.sum(axis=-2, keepdims=True) * given[..., None, :] + right
    return np.asarray(joint / joint.sum(axis=-1, keepdims=True))
