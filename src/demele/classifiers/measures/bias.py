"""The bias of measures under wrong labels: exact where true labels are known, bounded by a noise budget, corrected."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from demele.classifiers.measures.confusion import class_measure, confusion_counts, refuse_many_classes
from demele.classifiers.question import as_value, coded_like, trials_of
from demele.classifiers.results import NamedEstimate, NamedEstimates
from demele.core.arrays import Counts, Flags, Floats, pd
from demele.core.errors import InputError, OutOfDomainWarning, warn_user
from demele.core.kinds import Count, Level, Rate, checked
from demele.core.labelled import Indices, read_labelled, shown
from demele.core.proportions import proportion, score_interval
from demele.core.result import Interval, Note, TableResult
from demele.core.signature import Signature
from demele.core.table_columns import check_same_order
from demele.noise.budget import NoiseBudget
from demele.report.words import count, written


def indicator_counts(predictions: Indices, labels: Indices, true_labels: Indices, k: int) -> tuple[Counts, Counts]:
    """Return what the indicators F_c, F_n and F_r of each class are shares of: hits and instances, of shape (3, k).

    * F_c: of the instances labelled k rightly, those predicted k.
    * F_n: of the instances labelled k wrongly, those predicted k as well.
    * F_r: of the instances truly k with another label, those predicted k.
    """
    clean = labels == true_labels
    asked = ((labels, clean), (labels, ~clean), (true_labels, ~clean))
    hits = [np.bincount(of[rows & (predictions == of)], minlength=k) for of, rows in asked]
    return np.array(hits), np.array([np.bincount(of[rows], minlength=k) for of, rows in asked])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Bias(TableResult):
    """The exact bias (observed minus corrected) of each measure on one test set, and the effect of the noise.

    Attributes
    ----------
    n : int
        Number of instances.
    classes : tuple
        In the order of every array.
    rate : float
        Share of wrong labels, nu.
    f_c, f_n, f_r : float
        How often the prediction is the truth where the label is right; the label where it is wrong; the truth where
        the label is wrong. NaN without such an instance.
    accuracy : float
        Bias of accuracy, in [-nu, nu]; that of the error has the other sign.
    per_class : DataFrame
        Row per class; columns ``F_c``, ``F_n``, ``F_r``, ``precision``, ``recall``, ``f1`` (the last three are
        biases) and the counts ``predicted``, ``labelled``, ``true``. NaN where not defined; a note says why.
    notes : tuple of Note
        What is not defined, for which classes, and why.
    """

    _kind, _figure = "bias", "f1"
    _forms = dict.fromkeys(("F_c", "F_n", "F_r"), "percent") | dict.fromkeys(("precision", "recall", "f1"), "points.2")

    n: int
    classes: tuple[int | str, ...]
    rate: float
    f_c: float
    f_n: float
    f_r: float
    accuracy: float
    per_class: "pd.DataFrame"
    notes: tuple[Note, ...]
    signature: Signature

    def headline(self) -> str:
        """Return the bias of the accuracy, and the number of wrong labels."""
        wrong = f"with {written(self.rate, 'percent.2')} of {count(self.n, 'label')} wrong"
        if self.rate == 0:
            return f"No label of {self.n:,} is wrong, so the observed accuracy is that on true labels."
        if self.accuracy == 0:
            return f"The observed accuracy equals that on true labels, {wrong}."
        by = written(abs(self.accuracy), "points.2").lstrip("+")
        side = "above" if self.accuracy > 0 else "below"
        return f"The observed accuracy is {by} pp {side} that on true labels, {wrong}."

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per class, as ``per_class``."""
        return self.per_class


def bias(predictions: object, labels: object, true_labels: object, *, classes: Sequence[object] | None = None) -> Bias:
    """Compute the exact bias of each measure of a classifier by wrong labels, from known true labels.

    Parameters
    ----------
    predictions : array-like of shape (n,)
        Predicted classes.
    labels : array-like of shape (n,)
        Given labels, some of them wrong.
    true_labels : array-like of shape (n,)
        True classes of the same instances.
    classes : sequence, optional
        All classes; by default the sorted classes of the labels.

    Returns
    -------
    Bias
        Observed minus correct measure: positive where the labels flatter the classifier.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        For lengths that differ, missing values, probabilities, unknown classes.

    Notes
    -----
    Source: Benjelloun, eq. 6.9 and 6.17 and section 6.3.3; the indicators F_c, F_n, F_r are defined in section 6.3.1.
    His formulas equal the difference of the two measures, which is what is computed: of accuracy nu (F_n - F_r), of
    precision [P(N, A) F_n - P(N, C) F_r] / P(P), of recall F_n - F_r - P(A, C) (F_n / P(A) - F_r / P(C)) +
    P(A, C) F_c (1 / P(A) - 1 / P(C)), where P is predicted k, A labelled k, C truly k and N wrongly labelled. (Eq. 6.16
    prints P(P | C) with - P(A | C) P(P | not N, C) where its own derivation has a plus.) Cost: O(n + n_classes^2).

    Examples
    --------
    Two of ten labels are wrong; the classifier repeats one of the two errors, and is right about the other.

    >>> true = ["cat"] * 5 + ["dog"] * 5
    >>> given = ["dog"] + ["cat"] * 4 + ["cat"] + ["dog"] * 4
    >>> predicted = ["dog"] + ["cat"] * 4 + ["dog"] * 5
    >>> found = bias(predicted, given, true)
    >>> found
    Bias(The observed accuracy equals that on true labels, with 20.00% of 10 labels wrong)
    >>> bool(found.per_class.loc["cat", "precision"] == 0)
    True
    """
    data = read_labelled({"predictions": predictions}, labels, classes=classes)
    truth = coded_like(true_labels, data, "true_labels")
    check_same_order(true_labels, labels, ("true_labels", "labels"))
    refuse_many_classes(data)
    hits, rows = indicator_counts(data.predictions[0], data.labels, truth, data.k)
    given, true = (confusion_counts(of, data.predictions[0], data.k) for of in (data.labels, truth))
    names = ("accuracy", "precision", "recall", "f1")
    biases = {name: observed_measure(name, given) - observed_measure(name, true) for name in names}
    counts = {"predicted": given.sum(axis=0), "labelled": given.sum(axis=1), "true": true.sum(axis=1)}
    f_c, f_n, f_r = proportion(hits.sum(axis=1), rows.sum(axis=1)).tolist()
    accuracy = float(biases.pop("accuracy"))
    frame = pd.DataFrame(
        {**dict(zip(("F_c", "F_n", "F_r"), proportion(hits, rows), strict=True)), **biases, **counts},
        index=pd.Index(data.vocabulary.classes, name="class"),
    )
    notes = []
    right = int(rows[0].sum())
    if right == data.n:
        notes.append(Note(code="no-wrong-label", message="F_n and F_r are not defined: every label is right"))
    elif right == 0:
        notes.append(Note(code="no-right-label", message="F_c is undefined: every label is wrong", severity="warning"))
    for column, why in _WHY.items():
        missing = [str(name) for name in frame.index[frame[column].isna()]]
        if missing:
            what = column if column.startswith("F_") else f"the bias of {column}"
            message = f"{what} is not defined for {len(missing)} of {len(frame)} classes, {shown(missing)}: {why}"
            notes.append(Note(code="undefined", message=message, subject=tuple(missing)))
    arguments: dict[str, object] = {} if classes is None else {"classes": data.vocabulary.classes}
    return Bias(
        n=data.n,
        classes=data.vocabulary.classes,
        rate=1 - right / data.n,
        f_c=f_c,
        f_n=f_n,
        f_r=f_r,
        accuracy=accuracy,
        per_class=frame,
        notes=tuple(notes),
        signature=Signature.of("bias", arguments, n=data.n),
    )


_WHY = {
    "F_c": "no instance of these classes has a right label",
    "F_n": "no instance is wrongly labelled with these classes",
    "F_r": "no instance of these classes has a wrong label",
    "precision": "these classes are never predicted",
    "recall": "these classes have no labelled instance, or no true one",
    "f1": "these classes are never predicted, and have no labelled instance or no true one",
}


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
    moves = Moves(confusion, budget, unsure)
    if measure == "accuracy":
        lost, won = (proportion(moves.right.sum() + sign * total, confusion.sum()) for sign, *_, total in moves.sides)
        return lost, won
    now = observed_measure(measure, confusion)
    lowest, highest = (  # as many of one kind first as there can be
        farthest.reduce([now, *(moves.value(measure, side, moves.wrong, first) for first in (0, 1))])
        for farthest, side in zip((np.fmin, np.fmax), moves.sides, strict=True)
    )
    # A class without a label: if it can only gain hits its recall is 1 wherever it is defined, if only misses, 0.
    return np.where(np.isnan(lowest), highest, lowest), np.where(np.isnan(highest), lowest, highest)


#: Its sign, hits and misses of each class that may change, and hits of all.
Side = tuple[int, Counts, Counts, int]


class Moves:
    """How many instances can change sides at most, for each class.

    ``sides``: of changes that lower a measure (-1) and that raise it (1), the hits of each class that are lost, or won,
    the misses that are won, or lost, and the hits of all classes together.
    """

    def __init__(self, confusion: Counts, budget: NoiseBudget, unsure: Counts | None = None) -> None:
        """Find them from the confusion of the instances whose labels may be wrong."""
        self.right, self.predicted, self.labelled = np.diag(confusion), confusion.sum(axis=0), confusion.sum(axis=1)
        doubt = confusion if unsure is None else unsure
        right, labelled = np.diag(doubt), doubt.sum(axis=1)
        # limit[k, j]: labelled k, truly j.
        limit = np.minimum(budget.joint.T, budget.wrong_given[:, None])
        np.minimum(limit, budget.wrong_true[None, :], out=limit)
        np.fill_diagonal(limit, 0)
        out = np.minimum(np.minimum(budget.wrong_given, limit.sum(axis=1)), budget.wrong)
        into = np.minimum(budget.wrong_true, budget.wrong)
        recovered = np.minimum(limit, doubt)  # those predicted as their true class j
        others = np.minimum(limit, labelled[:, None] - doubt)  # those predicted as something else
        self.wrong, self.out = int(budget.wrong), np.minimum(labelled, out)
        # Labelled k and truly another, or labelled another and truly k: those predicted k, and those predicted another.
        lost, misses_out = np.minimum(right, out), np.minimum(labelled - right, out)
        won, misses_in = np.minimum(into, recovered.sum(axis=0)), np.minimum(into, others.sum(axis=0))
        lost_to = np.minimum(budget.wrong_true, np.minimum(limit, right[:, None]).sum(axis=0))
        won_from = np.minimum(budget.wrong_given, recovered.sum(axis=1))
        self.sides: tuple[Side, Side] = (
            (-1, lost, misses_in, int(min(budget.wrong, lost.sum(), lost_to.sum()))),
            (1, won, misses_out, int(min(budget.wrong, won.sum(), won_from.sum()))),
        )

    def value(self, measure: str, side: Side, wrong: int | Counts, first: int) -> Floats:
        """Return a measure of each class after so many changes of a side, hits (0) or misses (1) first."""
        sign, hits, misses, _ = side
        hit, miss = corner(hits, misses, wrong, first)
        return class_measure(measure, self.right + sign * hit, self.predicted, self.labelled + sign * (hit - miss))


def corner(hits: Counts, misses: Counts, wrong: int | Counts, first: int) -> tuple[Counts, Counts]:
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
        As in :func:`demele.classifiers.measures.bias.correct_bounds`.

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
        ends = correct_bounds("accuracy", confusion, budget, unsure=unsure)
        return float(ends[0]), float(ends[1])
    observed = observed_measure(measure, confusion)
    ends = correct_bounds(measure, confusion, budget, unsure=unsure)
    labelled = confusion.sum(axis=1) > 0
    if np.isnan(observed[labelled]).all():
        return float("nan"), float("nan")
    moves = Moves(confusion, budget, unsure)
    if average == "weighted":
        # A weighted mean lies between the least and the largest value.
        low, high = float(np.nanmin(ends[0])), float(np.nanmax(ends[1]))
        if measure == "precision" and (confusion.sum(axis=0) == 0).any():
            return low, high  # instances of a class never predicted have no weight, and may move
        n = int(confusion.sum())
        weights = confusion.sum(axis=1) / n
        drop, rise = _shared_change(measure, observed, moves, ends, weights)
        value = float(weights @ np.nan_to_num(observed))
        moved = moves.wrong / n * (high - low)
        return max(low, value - drop - moved), min(high, value + rise + moved)
    drop, rise = _shared_change(measure, observed, moves, ends, labelled.astype(np.float64))
    defined = ~np.isnan(observed) & labelled
    # Classes that may stop being defined: those that may lose their last instance.
    open_ended = (measure == "recall") | ((measure == "f1") & (confusion.sum(axis=0) == 0))
    leaves = np.asarray(open_ended & labelled & (moves.out >= confusion.sum(axis=1)))
    size = np.sort(confusion.sum(axis=1)[leaves])
    n_leave = int(np.count_nonzero(np.cumsum(size) <= moves.wrong))
    low, high = (
        _highest_mean(most, values, change, defined, leaves, n_leave)
        for most, values, change in ((1 - ends[0], 1 - observed, drop), (ends[1], observed, rise))
    )
    return 1 - low, high


def _shared_change(
    measure: str, observed: Floats, moves: Moves, ends: tuple[Floats, Floats], weights: Floats
) -> tuple[float, float]:
    """Largest fall and rise of the weighted sum of the measure, for a budget shared by all classes."""
    used = np.isfinite(observed)
    changes = []
    for side, end in zip(moves.sides, ends, strict=True):
        sign, hits, misses, total = side
        if measure == "precision":
            slopes = 1 / np.maximum(moves.predicted, 1)
            most = hits / np.maximum(moves.predicted, 1)
        else:
            most, total = np.abs(end - observed), total + moves.wrong
            # The largest change of each class per wrong label that touches it, over any number of them.
            reach = np.minimum(hits + misses, moves.wrong)
            largest, slopes, before = int(reach.max(initial=0)), np.zeros(len(reach)), 0
            powers = GROWTH ** np.arange(np.ceil(np.log(max(largest, 1)) / np.log(GROWTH)) + 2)
            for step in np.unique(np.ceil(powers).astype(np.int64)):
                if before >= largest:
                    break
                for first in (0, 1):
                    # Upper end of the numbers of changes between two steps, over the lower end: never too flat.
                    value = moves.value(measure, side, np.minimum(step, reach), first)
                    rate = sign * (value - observed) / (before + 1)
                    slopes = np.where(before < reach, np.fmax(slopes, rate), slopes)
                before = int(step)
        changes.append(_filled(np.where(used, weights * slopes, 0), np.where(used, weights * most, 0), total))
    return changes[0], changes[1]


def _filled(slopes: Floats, most: Floats, total: int) -> float:
    """Largest sum of min(slope u, most) over classes with a sum of u up to ``total``: the steepest first."""
    order = np.argsort(-slopes, kind="stable")
    room = np.where(slopes > 0, most / np.where(slopes > 0, slopes, 1), 0)[order]
    before = np.cumsum(room) - room
    return float((np.clip(total - before, 0, room) * slopes[order]).sum())


def _highest_mean(most: Floats, values: Floats, rise: float, defined: Flags, leaves: Flags, n_leave: int) -> float:
    """Largest mean over the classes that stay and any that may leave: by each bound, and by their common rise."""
    stay, maybe = most[defined & ~leaves], np.sort(most[leaves])[::-1]
    gone = np.arange(n_leave + 1)
    numbers = stay.size + np.arange(maybe.size + 1), np.count_nonzero(defined) - gone
    sums = (
        stay.sum() + np.append(0.0, np.cumsum(maybe)),
        # The least of some may leave.
        values[defined].sum() - np.append(0.0, np.cumsum(np.sort(values[leaves])[:n_leave])) + rise,
    )
    both = [np.minimum(total, n)[n > 0] / n[n > 0] for total, n in zip(sums, numbers, strict=True)]
    return min(float(means.max(initial=0.0)) if means.size else float(side) for side, means in enumerate(both))


# From an observed measure to the correct one: intervals moved by a known or bounded bias, the binary closed form ------


#: Mixtures of two kinds of moves are looked at one by one up to this number, and in so many groups beyond.
MIXTURES = 256

#: A corrected accuracy of 0 or 1 may come out beyond it by so much.
ROUNDING_ERROR = 1e-12


def worst_case_interval(
    measure: str, confusion: Counts, budget: NoiseBudget, *, level: float, unsure: Counts | None = None
) -> tuple[Floats, Floats]:
    """Join the score intervals on every true labels that a budget allows.

    Parameters
    ----------
    measure, confusion, budget, unsure
        As in :func:`demele.classifiers.measures.bias.correct_bounds`.
    level : float in (0, 1)
        Level of each score interval.

    Returns
    -------
    low, high : arrays
        Shape () for accuracy, else (n_classes,), in [0, 1]; NaN for a class whose observed measure is not defined; 0
        and 1 for one that may lose its last instance. Covers the correct measure at least as often as a score interval
        on the true labels would, however the wrong labels were chosen, even by one who sees the predictions.

    Notes
    -----
    Both ends of a score interval rise with a success more and fall with a failure more, so that the extreme counts give
    the extreme ends. Accuracy, precision, F1: at one corner. Recall: anywhere between its two corners; all mixtures are
    tried, or the safe ends of groups if there are more than 256.

    Examples
    --------
    >>> from demele.noise.budget import noise_budget
    >>> table = np.array([[45, 5], [2, 48]])
    >>> budget = noise_budget(0.05, np.repeat([0, 1], 50), 2, tail=0.025)
    >>> low, high = worst_case_interval("accuracy", table, budget, level=0.95)
    >>> round(float(low), 3), round(float(high), 3)
    (0.802, 0.994)
    """
    moves = Moves(confusion, budget, unsure)
    right, predicted, labelled = moves.right, moves.predicted, moves.labelled
    if measure == "accuracy":
        low, high = (_end(right.sum() + sign * total, confusion.sum(), sign, level) for sign, *_, total in moves.sides)
        return low, high
    ends, known = [], trials_of(measure, right, predicted, labelled) > 0
    for sign, hits, misses, _ in moves.sides:
        if measure == "recall":
            end = _recall_end(right, labelled - right, hits, misses, moves.wrong, sign, level)
        else:
            hit, miss = corner(hits, misses, moves.wrong, 0)
            # Either: predicted or truly k. A hit lost stays predicted, a hit gained was: only misses change it.
            either = predicted + labelled - right - sign * miss if measure == "f1" else predicted
            end = as_value(_end(right + sign * hit, either, sign, level), measure)
        ends.append(np.where(known, end, np.nan))
    return ends[0], ends[1]


def _recall_end(
    right: Counts, missed: Counts, hits: Counts, misses: Counts, wrong: int, sign: int, level: float
) -> Floats:
    """Lowest (sign -1) or highest (sign 1) end over all mixtures of changed hits and misses, in all as many as help."""
    first, last = corner(hits, misses, wrong, 1)[0], corner(hits, misses, wrong, 0)[0]
    total = np.minimum(hits + misses, wrong)
    steps = np.linspace(0, 1, MIXTURES + 1)[:, None]
    edges = np.floor(first + steps * (last - first + 1)).astype(np.int64)
    least, most = np.minimum(edges[:-1], last), np.minimum(np.maximum(edges[1:] - 1, edges[:-1]), last)
    # Within a group of mixtures: the worst number of changed hits, and the worst of changed misses.
    successes = right + sign * most
    failures = missed - sign * (total - least)
    end = _end(successes, successes + failures, sign, level)
    return np.asarray(end.min(axis=0) if sign < 0 else end.max(axis=0))


def _end(successes: Counts, trials: Counts, sign: int, level: float) -> Floats:
    """Lower (sign -1) or upper (sign 1) end of a score interval; a class without an instance may have any value."""
    end = score_interval(successes, trials, level=level)[0 if sign < 0 else 1]
    return np.where(trials > 0, end, 0.0 if sign < 0 else 1.0)


@checked
def binary_correction(
    observed: Rate, rate: Rate, *, trials: Count | None = None, level: Level = 0.95
) -> NamedEstimates:
    """Correct the accuracy of a classifier of two classes for label noise that is independent of it.

    Parameters
    ----------
    observed : float in [0, 1]
        Accuracy against the given labels.
    rate : float in [0, 1), not 0.5
        Share of wrong labels. Above 0.5 labels are more often wrong than right, and a classifier that agrees with them
        less is better: the correction then turns the order of classifiers around, and a note says so.
    trials : int, optional
        Number of instances, for an interval.
    level : float in (0, 1)

    Returns
    -------
    NamedEstimates
        One row: its ``corrected_value`` is (observed - rate) / (1 - 2 rate).

    Raises
    ------
    InputError, InputTypeError
        At a rate of 0.5 (labels are then coin flips, and every classifier agrees with half of them) or outside [0, 1).

    Warns
    -----
    OutOfDomainWarning
        If the result lies outside [0, 1]: no correct accuracy explains the observed one at that rate.

    Notes
    -----
    Source: Benjelloun, eq. 6.7 solved for the correct accuracy; Lam and Stork 2003. It needs that the classifier be
    right as often on wrongly as on rightly labelled instances, which fails for a classifier trained on labels of the
    same source. The interval is wider than the score interval by 1 / |1 - 2 rate|; that the rate itself may be
    uncertain is not in it.

    Examples
    --------
    >>> binary_correction(0.82, 0.1, trials=1000)
    NamedEstimates(binary correction: accuracy 0.820; on true labels 0.900 [0.869, 0.928])
    """
    if rate == 1:
        raise InputError("rate", f"expected a rate of wrong labels in [0, 1), got {rate!r}")
    seen, noise = float(observed), float(rate)
    if noise == 0.5:
        message = "at 0.5 the labels of two classes are coin flips: every classifier agrees with half of them"
        raise InputError("rate", message, "have labels checked by an expert instead")
    value = (seen - noise) / (1 - 2 * noise)
    notes = []
    if noise > 0.5:
        message = f"with {noise:.1%} wrong labels, agreeing less with the labels means being right more often"
        notes.append(Note(code="more-wrong-than-right", message=message, severity="warning"))
    if not -ROUNDING_ERROR <= value <= 1 + ROUNDING_ERROR:
        message = f"the corrected accuracy is {value:.4f}, outside [0, 1]: the rate is too high, the noise is not "
        message += "independent of the classifier, or the test set is small"
        notes.append(Note(code="out-of-domain", message=message, severity="warning"))
        warn_user(f"binary_correction: {message}", OutOfDomainWarning)
    interval = None
    if trials is not None:
        both = score_interval(seen * trials, trials, level=level)
        ends = sorted((float(end) - noise) / (1 - 2 * noise) for end in both)
        interval = Interval(low=ends[0], high=ends[1], level=level, method="score", kind="corrected")
    return NamedEstimates(
        measure="binary correction",
        rows=(NamedEstimate(name="accuracy", value=seen, corrected_value=value, corrected=interval, n=trials or 0),),
        level=level,
        assumptions=(
            "There are two classes.",
            f"Exactly {noise:.2%} of the labels are wrong.",
            "The classifier is right as often where the label is wrong as where it is right.",
        ),
        notes=tuple(notes),
        signature=Signature.of("binary_correction", {"observed": seen, "rate": noise, "level": level}),
    )
