"""Row scores of problems with several samples, and of predicted probabilities."""

import numpy as np

from demele.classifiers.probabilities import Loss, losses
from demele.classifiers.row_scores import RowScores
from demele.core.arrays import Counts, Floats
from demele.core.errors import InputError
from demele.core.given_arrays import whole_array
from demele.core.kinds import Classes, Count, CountOrNone, Data, checked
from demele.core.labelled import read_labels, vocabulary


@checked
def pass_at_k(correct: Data, samples: Data, k: Count, *, wrong: CountOrNone = 0) -> RowScores:
    """Return pass@k of each problem: the probability that one of ``k`` of its samples is correct.

    Parameters
    ----------
    correct, samples : array-like of int of shape (n,)
        Correct samples of each problem, and all of them. A problem with fewer than ``k`` samples has no score.
    k : int
    wrong : int
        Verdicts on samples of each problem that may be wrong: how far its true score may lie.

    Returns
    -------
    RowScores

    Raises
    ------
    InputError, InputTypeError

    Notes
    -----
    Source: Chen et al. 2021: 1 - C(n - c, k) / C(n, k), which is unbiased. Sensitivity and specificity of a judge of
    samples do not identify it: errors enter through C(n - c, k). Audit whole problems.

    Examples
    --------
    >>> pass_at_k([2, 3, 1], [5, 10, 2], 3).given.round(4)
    array([0.9   , 0.7083,    nan])
    """
    c, n = whole_array(correct, "correct", dimensions=1), whole_array(samples, "samples", dimensions=1)
    if c.shape != n.shape or ((c < 0) | (c > n)).any():
        raise InputError("correct", "expected numbers between 0 and those of `samples`, one per problem")

    def passing(found: Counts) -> Floats:
        # The product of (n - c - i) / (n - i) over i < k.
        left = (n - np.clip(found, 0, n))[:, None] - np.arange(k)
        of = np.maximum(n[:, None] - np.arange(k), 1)
        return np.asarray(np.where(n < k, np.nan, 1 - np.prod(np.maximum(left, 0) / of, axis=1)))

    given = passing(c)
    reach = np.nan_to_num(given - passing(c - wrong)), np.nan_to_num(passing(c + wrong) - given)
    return RowScores(given, reach=reach)


def loss_scores(
    probabilities: Data, labels: Data, *, loss: Loss = "brier", most: float | None = None, classes: Classes = None
) -> RowScores:
    """Return the Brier score or the log loss of each row; its true score follows from another label.

    Parameters
    ----------
    probabilities, labels, loss, most, classes
        As in :func:`demele.classifiers.probability_loss`, of one system. A log loss needs ``most``.

    Returns
    -------
    RowScores
        Lower is better. For an audit, the true scores are those of the same rows with the expert's labels.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Examples
    --------
    >>> scores = loss_scores([0.9, 0.8, 0.3], [1, 0, 0])
    >>> scores.given.round(2), scores.up.round(2)
    (array([0.01, 0.64, 0.09]), array([0.8, 0. , 0.4]))
    """
    if loss == "log" and most is None:
        raise InputError("most", "the log loss has no bound: give the largest loss of a row as `most`")
    given = read_labels(labels, "labels")
    words = vocabulary(given, classes=classes)
    table = losses(probabilities, given.size, len(words), loss, most)
    held = table[np.arange(given.size), words.encode(given, "labels")]
    top = most or (1 if len(words) == 2 else 2)
    return RowScores(held, 0, top, reach=(held - table.min(axis=1), table.max(axis=1) - held))
