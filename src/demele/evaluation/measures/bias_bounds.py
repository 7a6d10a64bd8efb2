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


# How far wrong labels can mislead an average over classes: one budget is shared by all of them ------------------------


#: Numbers of wrong labels at which the gain of a class is looked at grow by this factor.
GROWTH = 1.02


def average_bounds(
    measure: str, average: str, confusion: Counts, budget: NoiseBudget, *, unsure: Counts | None = None
) -> tuple[float, float]:
    """Return limits of an average over classes on the true labels of these instances.

    Parameters
    ----------
    measure : {"precision", "recall", "f1"}
    average : {"macro", "weighted", "micro"}
        Over the classes that have an instance in ``confusion``, where the measure is defined; ``"weighted"`` by their
        true instances.
    confusion, budget, unsure
        As in :func:`demele.evaluation.measures.bias_bounds.correct_bounds`.

    Returns
    -------
    lowest, highest : float
        In [0, 1]; NaN if the measure is not defined for any class.

    Notes
    -----
    Micro averages and the weighted recall are the accuracy: its bounds, sharp with a rate. Macro precision with a rate:
    sharp, each wrong label moves one class by one over its predictions, and the best moves are taken first. The others
    are safe, not sharp: a wrong label leaves one class and enters another, so that all classes together change by at
    most two per wrong label; what a class gains by u changes is taken from above as a line in u up to its own bound,
    and the steepest lines are filled first. Weights move by at most one instance per wrong label. Classes that may lose
    their last instance may leave the average.
    """
    if average == "micro" or (average == "weighted" and measure == "recall"):
        low, high = correct_bounds("accuracy", confusion, budget, unsure=unsure)
        return float(low), float(high)
    observed = observed_measure(measure, confusion)
    ends = correct_bounds(measure, confusion, budget, unsure=unsure)
    labelled = confusion.sum(axis=1) > 0
    if np.isnan(observed[labelled]).all():
        return float("nan"), float("nan")
    moves = Moves.within(budget, confusion if unsure is None else unsure)
    if average == "weighted":
        return _weighted(measure, confusion, moves, observed, ends)
    return _macro(measure, confusion, moves, observed, ends)


def _macro(
    measure: str, confusion: Counts, moves: Moves, observed: Floats, ends: tuple[Floats, Floats]
) -> tuple[float, float]:
    labelled = confusion.sum(axis=1) > 0
    drop, rise = _shared_change(measure, confusion, moves, ends, labelled.astype(np.float64))
    defined = ~np.isnan(observed) & labelled
    leaves = _unsteady(measure, confusion, moves)
    size = np.sort(confusion.sum(axis=1)[leaves])
    n_leave = int(np.count_nonzero(np.cumsum(size) <= moves.wrong))
    low, high = _mean_of_some(1 - ends[0], defined, leaves), _mean_of_some(ends[1], defined, leaves)
    shared_low = _mean_after(1 - observed[defined], 1 - observed[leaves], drop, n_leave)
    shared_high = _mean_after(observed[defined], observed[leaves], rise, n_leave)
    return 1 - min(low, shared_low), min(high, shared_high)


def _weighted(
    measure: str, confusion: Counts, moves: Moves, observed: Floats, ends: tuple[Floats, Floats]
) -> tuple[float, float]:
    # A weighted mean lies between the least and the largest value.
    low, high = float(np.nanmin(ends[0])), float(np.nanmax(ends[1]))
    predicted, labelled, n = confusion.sum(axis=0), confusion.sum(axis=1), int(confusion.sum())
    if measure == "precision" and (predicted == 0).any():
        return low, high  # instances of a class never predicted have no weight, and may move
    weights = labelled / n
    drop, rise = _shared_change(measure, confusion, moves, ends, weights)
    value = float(weights @ np.nan_to_num(observed))
    moved = moves.wrong / n * (high - low)
    return max(low, value - drop - moved), min(high, value + rise + moved)


def _shared_change(
    measure: str, confusion: Counts, moves: Moves, ends: tuple[Floats, Floats], weights: Floats
) -> tuple[float, float]:
    """Largest fall and rise of the weighted sum of the measure, for a budget shared by all classes."""
    right, predicted, labelled = np.diag(confusion), confusion.sum(axis=0), confusion.sum(axis=1)
    observed = class_measure(measure, right, predicted, labelled)
    used = np.isfinite(observed)
    changes = []
    for sign, hits, misses, all_hits in (
        (-1, moves.hits_out, moves.misses_in, moves.all_lost),
        (1, moves.hits_in, moves.misses_out, moves.all_won),
    ):
        if measure == "precision":
            most = hits / np.maximum(predicted, 1)
            lines, total = 1 / np.maximum(predicted, 1), all_hits
        else:
            most = np.abs(ends[0 if sign < 0 else 1] - observed)
            lines = _steepest(measure, sign, (right, predicted, labelled), hits, misses, moves.wrong)
            total = all_hits + moves.wrong
        changes.append(_filled(np.where(used, weights * lines, 0), np.where(used, weights * most, 0), total))
    return changes[0], changes[1]


def _steepest(
    measure: str, sign: int, counts: tuple[Counts, Counts, Counts], hits: Counts, misses: Counts, wrong: int
) -> Floats:
    """Largest change of each class per wrong label that touches it, over any number of them."""
    right, predicted, labelled = counts
    observed = class_measure(measure, right, predicted, labelled)
    most = np.minimum(hits + misses, wrong)
    largest = int(most.max(initial=0))
    steps = np.unique(
        np.ceil(GROWTH ** np.arange(np.ceil(np.log(max(largest, 1)) / np.log(GROWTH)) + 2)).astype(np.int64)
    )
    slope = np.zeros(len(right))
    before = 0
    for step in steps:
        if before >= largest:
            break
        reached = np.minimum(step, most)
        for first in (0, 1):
            # Upper end of the numbers of changes between two steps, over the lower end: never too flat.
            hit, miss = corner(hits, misses, reached, first)
            value = class_measure(measure, right + sign * hit, predicted, labelled + sign * (hit - miss))
            rate = sign * (value - observed) / (before + 1)
            slope = np.where(before < most, np.fmax(slope, rate), slope)
        before = int(step)
    return slope


def _filled(slopes: Floats, most: Floats, total: int) -> float:
    """Largest sum of min(slope u, most) over classes with a sum of u up to ``total``: the steepest first."""
    order = np.argsort(-slopes, kind="stable")
    room = np.where(slopes > 0, most / np.where(slopes > 0, slopes, 1), 0)[order]
    before = np.cumsum(room) - room
    return float((np.clip(total - before, 0, room) * slopes[order]).sum())


def _unsteady(measure: str, confusion: Counts, moves: Moves) -> NDArray[np.bool_]:
    """Which classes may stop being defined."""
    predicted, labelled = confusion.sum(axis=0), confusion.sum(axis=1)
    open_ended = (measure == "recall") | ((measure == "f1") & (predicted == 0))
    found: NDArray[np.bool_] = open_ended & (labelled > 0) & (moves.out >= labelled)
    return found


def _mean_of_some(highest: Floats, defined: NDArray[np.bool_], leaves: NDArray[np.bool_]) -> float:
    """Largest mean of upper bounds, over the classes that stay and any of those that may leave."""
    stay, maybe = highest[defined & ~leaves], np.sort(highest[leaves])[::-1]
    sums = stay.sum() + np.concatenate([[0.0], np.cumsum(maybe)])
    numbers = stay.size + np.arange(maybe.size + 1)
    return float((sums[numbers > 0] / numbers[numbers > 0]).max(initial=0.0))


def _mean_after(values: Floats, leaving: Floats, rise: float, n_leave: int) -> float:
    """Largest mean when values rise together by ``rise``, and the least of some may leave."""
    gone = np.arange(n_leave + 1)
    sums = values.sum() - np.concatenate([[0.0], np.cumsum(np.sort(leaving)[:n_leave])]) + rise
    numbers = values.size - gone
    sums = np.minimum(sums, numbers)
    return float((sums[numbers > 0] / numbers[numbers > 0]).max(initial=0.0)) if (numbers > 0).any() else 1.0
