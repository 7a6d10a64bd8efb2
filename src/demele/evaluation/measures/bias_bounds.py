"""The most that wrong labels can do to accuracy, precision, recall and F1: bounds of the bias, of correct measures."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demele.core.proportions import proportion
from demele.evaluation.measures.confusion import class_measure
from demele.noise.budget import NoiseBudget

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def observed_measure(measure: str, confusion: Counts) -> Floats:
    """Return a measure from counts: shape () for accuracy, else (n_classes,); NaN where not defined.

    Parameters
    ----------
    measure : {"accuracy", "precision", "recall", "f1"}
    confusion : array of shape (n_classes, n_classes)
        Rows: labels. Columns: predictions.
    """
    right, predicted, labelled = np.diag(confusion), confusion.sum(axis=0), confusion.sum(axis=1)
    if measure == "accuracy":
        return proportion(right.sum(), confusion.sum())
    return class_measure(measure, right, predicted, labelled)


def bias_bounds(
    measure: str, confusion: Counts, budget: NoiseBudget, *, unsure: Counts | None = None
) -> tuple[Floats, Floats]:
    """Bound the bias (observed minus correct) of a measure when at most so many labels are wrong.

    Parameters
    ----------
    measure, confusion, budget, unsure
        As in :func:`correct_bounds`.

    Returns
    -------
    low, high : arrays
        Shape () for accuracy, else (n_classes,). NaN where the observed measure is not defined.

    Notes
    -----
    Never wider than Benjelloun's bounds (section 6.5.4), which let the indicators F of the formulas take any value in
    [0, 1]: accuracy [-nu, nu], precision [-P(N, C) / P(P), P(N, A) / P(P)]. These use that no more labels can be wrong
    among the instances predicted k than there are. As sharp as :func:`correct_bounds`.

    Examples
    --------
    >>> from demele.noise.budget import noise_budget
    >>> table = np.array([[45, 5], [2, 48]])
    >>> low, high = bias_bounds("accuracy", table, noise_budget(0.1, np.repeat([0, 1], 50), 2, tail=0.025))
    >>> round(float(low), 4), round(float(high), 4)
    (-0.07, 0.1)
    """
    observed = observed_measure(measure, confusion)
    lowest, highest = correct_bounds(measure, confusion, budget, unsure=unsure)
    return observed - highest, observed - lowest


def correct_bounds(
    measure: str, confusion: Counts, budget: NoiseBudget, *, unsure: Counts | None = None
) -> tuple[Floats, Floats]:
    """Return the lowest and the highest value that a measure can have on the true labels of these instances.

    Parameters
    ----------
    measure : {"accuracy", "precision", "recall", "f1"}
    confusion : int array of shape (n_classes, n_classes)
        Rows: labels. Columns: predictions.
    budget : NoiseBudget
        Limits of the number of wrong labels: in all, by given label, by true class, and by both.
    unsure : int array of the same shape, optional
        The part of the confusion that may be wrong, if the other labels are known to be correct; all by default.

    Returns
    -------
    lowest, highest : arrays
        Shape () for accuracy, else (n_classes,), in [0, 1]. NaN for a class for which the measure is defined under no
        labels within the budget. Labels for which it is not defined (a class loses its last instance) do not count.

    Notes
    -----
    For a class k, only four moves of an instance count: out of the labels k (predicted k, or not), and into the true
    class k (predicted k, or not). At most M moves help a bound, and the value is monotone along the mixtures of two
    kinds, so that one of the two corners is the extreme: a closed form.

    Precision, recall and F1 of a class: sharp; some labels within the budget attain both bounds. Accuracy: sharp when
    the budget is a rate, or when its limits by pair of classes imply its other limits; else only safe, since limits by
    given label and by true class together make a flow problem whose easy cuts are taken. Cost: O(n_classes^2).
    """
    doubt = confusion if unsure is None else unsure
    moves = Moves.within(budget, doubt)
    right, predicted, labelled = np.diag(confusion), confusion.sum(axis=0), confusion.sum(axis=1)
    if measure == "accuracy":
        n = confusion.sum()
        return proportion(right.sum() - moves.all_lost, n), proportion(right.sum() + moves.all_won, n)
    if measure == "precision":
        return proportion(right - moves.hits_out, predicted), proportion(right + moves.hits_in, predicted)
    observed = class_measure(measure, right, predicted, labelled)
    lowest = highest = observed
    for first in (0, 1):
        # Lower: lose hits, gain misses. Upper: gain hits, lose misses. First as many of one kind as there can be.
        hits, misses = corner(moves.hits_out, moves.misses_in, moves.wrong, first)
        lowest = np.fmin(lowest, class_measure(measure, right - hits, predicted, labelled - hits + misses))
        hits, misses = corner(moves.hits_in, moves.misses_out, moves.wrong, first)
        highest = np.fmax(highest, class_measure(measure, right + hits, predicted, labelled + hits - misses))
    # A class without a label: if it can only gain hits its recall is 1 wherever it is defined, if only misses, 0.
    return np.where(np.isnan(lowest), highest, lowest), np.where(np.isnan(highest), lowest, highest)


@dataclass(frozen=True, slots=True)
class Moves:
    """How many instances can change sides at most, for each class: its labels' hits and misses, out and in."""

    wrong: int
    out: Counts  # labelled k, truly another
    hits_out: Counts  # labelled k, predicted k, truly another
    misses_out: Counts  # labelled k, predicted another, truly another
    hits_in: Counts  # labelled another, predicted k, truly k
    misses_in: Counts  # labelled another, predicted another, truly k
    all_lost: int
    all_won: int

    @classmethod
    def within(cls, budget: NoiseBudget, doubt: Counts) -> "Moves":
        """Find them from the confusion of the instances whose labels may be wrong."""
        right, labelled = np.diag(doubt), doubt.sum(axis=1)
        # limit[k, j]: labelled k, truly j.
        limit = np.minimum(budget.joint.T, budget.wrong_given[:, None])
        np.minimum(limit, budget.wrong_true[None, :], out=limit)
        np.fill_diagonal(limit, 0)
        out = np.minimum(np.minimum(budget.wrong_given, limit.sum(axis=1)), budget.wrong)
        into = np.minimum(budget.wrong_true, budget.wrong)
        recovered = np.minimum(limit, doubt)  # those predicted as their true class j
        others = np.minimum(limit, labelled[:, None] - doubt)  # those predicted as something else
        lost = np.minimum(right, out)
        lost_to = np.minimum(budget.wrong_true, np.minimum(limit, right[:, None]).sum(axis=0))
        won_from = np.minimum(budget.wrong_given, recovered.sum(axis=1))
        won = np.minimum(into, recovered.sum(axis=0))
        return cls(
            wrong=int(budget.wrong),
            out=np.minimum(labelled, out),
            hits_out=lost,
            misses_out=np.minimum(labelled - right, out),
            hits_in=won,
            misses_in=np.minimum(into, others.sum(axis=0)),
            all_lost=int(min(budget.wrong, lost.sum(), lost_to.sum())),
            all_won=int(min(budget.wrong, won.sum(), won_from.sum())),
        )


def corner(hits: Counts, misses: Counts, wrong: int, first: int) -> tuple[Counts, Counts]:
    """Spend the budget on one kind first, and the remainder on the other."""
    if first == 0:
        most = np.minimum(hits, wrong)
        return most, np.minimum(misses, wrong - most)
    most = np.minimum(misses, wrong)
    return np.minimum(hits, wrong - most), most
