"""Row scores of problems with several samples, and of predicted probabilities."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from demele.classifiers.probabilities import Loss, losses
from demele.classifiers.row_scores import RowScores, read_scores
from demele.core.arrays import Counts, Floats
from demele.core.columns import numbered_rows
from demele.core.errors import InputError
from demele.core.kinds import Classes, Count, CountOrNone, Data, checked
from demele.core.labelled import read_labels, vocabulary
from demele.core.lazy import pd
from demele.core.table_columns import as_column, whole_array


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


@checked
def label_set_scores(
    predictions: Data,
    labels: Data,
    *,
    score: Literal["jaccard", "f1", "hamming", "exact"] = "jaccard",
    wrong: Count = 1,
) -> RowScores:
    """Return a score of each row that may have several labels at once (multi-label classification).

    Parameters
    ----------
    predictions, labels : array-like of bool of shape (n, n_labels)
        Whether each label was predicted, and given.
    score : {"jaccard", "f1", "hamming", "exact"}
        Common labels by all that occur; by the mean number of both; share of labels that agree; 1 if all do.
    wrong : int, default 1
        Labels of a row that may be wrong, at most: how far its true score may lie.

    Returns
    -------
    RowScores
        For ``assess``, ``compare`` and ``rank``. A row without any label, predicted or given, has the score 1.

    Raises
    ------
    InputError, InputTypeError

    Examples
    --------
    >>> found = label_set_scores([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]])
    >>> found.given, found.down, found.up
    (array([0.5, 1. ]), array([0.5, 1. ]), array([0.5, 0. ]))
    """
    predicted, given = (
        whole_array(values, name, dimensions=2) for values, name in ((predictions, "predictions"), (labels, "labels"))
    )
    if predicted.shape != given.shape or not np.isin([predicted, given], (0, 1)).all():
        raise InputError("predictions", "expected 0 and 1 for each row and label, as many as in `labels`")
    k, both, alone = given.shape[1], (predicted & given).sum(axis=1), predicted.sum(axis=1)

    def scored(common: Any, of_labels: Any) -> Floats:
        """Return scores from the number of common labels, and of given ones."""
        either = alone + of_labels - common
        if score in ("hamming", "exact"):
            agree = 1 - (either - common) / k
            return np.asarray(agree if score == "hamming" else agree == 1, dtype=np.float64)
        of = either if score == "jaccard" else (alone + of_labels) / 2
        return np.asarray(np.where(of > 0, common / np.where(of > 0, of, 1), 1.0))

    value = scored(both, given.sum(axis=1))
    low, high = value, value
    for hits in range(wrong + 1):  # of the wrong labels, so many are predicted ones, and the others are none
        rest = wrong - hits
        lost, added = np.minimum(hits, both), np.minimum(rest, k - alone - (given.sum(axis=1) - both))
        low = np.minimum(low, scored(both - lost, given.sum(axis=1) - lost + added))
        found, dropped = np.minimum(hits, alone - both), np.minimum(rest, given.sum(axis=1) - both)
        high = np.maximum(high, scored(both + found, given.sum(axis=1) + found - dropped))
    return RowScores(value, reach=(value - low, high - value))


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


def item_means(
    values: object, item: object, *, low: float = 0, high: float = 1
) -> tuple[RowScores, tuple[Any, ...], "EpochSpread"]:
    """Average repeated scores of each item: epochs are no rows.

    Parameters
    ----------
    values : array-like of shape (n,)
        A score per item and epoch.
    item : array-like of shape (n,)
        Item of each.
    low, high : float

    Returns
    -------
    RowScores
        One row per item, in order of appearance.
    tuple
        The items.
    EpochSpread
        Variances within and between items.

    Examples
    --------
    >>> scores, items, spread = item_means([1, 1, 0, 1, 0, 0, 0, 1], ["a"] * 4 + ["b"] * 4)
    >>> scores.given, items, round(spread.within, 4)
    (array([0.75, 0.25]), ('a', 'b'), 0.25)
    """
    read = read_scores(values, "values", low, high)
    codes, _ = numbered_rows(item, "item", read.size, "values")
    grouped = pd.Series(read).groupby(codes)
    repeats, means, within = grouped.count().to_numpy(), grouped.mean().to_numpy(), float(grouped.var().mean())
    scored = repeats > 0
    between = float("nan")
    if scored.sum() > 1:
        between = max(float(means[scored].var(ddof=1)) - within * float((1 / repeats[scored]).mean()), 0.0)
    column = as_column(item, "item")
    names = tuple(column[row] for row in np.unique(codes, return_index=True)[1].tolist())
    return RowScores(means, low, high), names, EpochSpread(within, between, int(scored.sum()))


@dataclass(frozen=True, slots=True)
class EpochSpread:
    """Variance of scores within items and between them, and the number of items."""

    within: float
    between: float
    items: int

    @property
    def correlation(self) -> float:
        """Correlation of two epochs of an item."""
        return self.between / (self.between + self.within)

    def error(self, epochs: float) -> float:
        """Return the standard error of the mean with so many epochs of each item."""
        return float(np.sqrt((self.between + self.within / epochs) / self.items))
