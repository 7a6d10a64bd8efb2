"""One classifier on labels that may be wrong: what its measures look like, and what they may really be."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_flag
from demele.core.errors import InputTypeError, UnknownNameError, quoted
from demele.core.kinds import Classes, Data
from demele.core.labelled import Labelled, read_labelled, shown
from demele.core.results import Interval, Note
from demele.core.signature import Signature
from demele.core.table_columns import check_same_order
from demele.core.version import __version__
from demele.evaluation.expert_errors import ExpertErrors, read_expert_error
from demele.evaluation.intervals import checked_confidence
from demele.evaluation.measures.assessment import Assessment
from demele.evaluation.measures.confusion import Average, ConfusionCounts, refuse_many_classes
from demele.evaluation.measures.correction import union_interval
from demele.evaluation.measures.label_knowledge import (
    LabelKnowledge,
    knowledge_of,
    mean_of_ends,
    separated,
    table_of,
)
from demele.evaluation.measures.largest_class import always_predicting, class_notes, tells_nothing
from demele.evaluation.question import Noise, as_value, classes_of, trials_of
from demele.evaluation.results import Estimate
from demele.evaluation.row_groups import (
    Groups,
    class_shares,
    effective_share,
    ends_at,
    group_notes,
    read_groups,
    row_counts,
)
from demele.evaluation.table_measures import Table
from demele.noise.audit import AuditData
from demele.noise.square_tables import digest

Floats = NDArray[np.float64]

CLASS_MEASURES = ("precision", "recall", "f1")
#: Classes with fewer labelled instances are named: their recall and F1 say little.
SMALL_CLASS = 20
#: What is assumed first, instead of instances, where rows come in groups.
_GROUPS_DRAWN = "The groups, with their rows, are a random sample of those that the classifier is for."


def assess(
    predictions: object,
    labels: object,
    *,
    noise: Noise = None,
    audit: AuditData = None,
    true_labels: Data = None,
    level: float = 0.95,
    classes: Classes = None,
    per_class: bool = True,
    average: str | Sequence[str] = ("macro", "weighted"),
    expert_error: float = 0.0,
    expert_errors: ExpertErrors = "adversarial",
    groups: Data = None,
) -> Assessment:
    """Measure a classifier on labels that may be wrong, with corrected measures.

    Parameters
    ----------
    predictions : array-like of shape (n,)
        Predicted classes.
    labels : array-like of shape (n,)
        Given labels.
    noise : float, TransitionMatrix, TransitionCounts or Audit, optional
        Largest share of wrong labels, or a noise transition matrix. A matrix has a row per true class and a column per
        given class: probabilities, or counts of a random sample. The bias is then bounded.
    audit : Audit, optional
        Expert labels of some rows. Of rows drawn at random, they estimate the correct measures, and with a rate as
        ``noise`` more sharply. Of rows chosen for a
        reason (``design="selective"``), they prove what they show and nothing more: give ``noise`` as well, to bound
        the other rows.
    true_labels : array-like of shape (n,), optional
        True labels of all rows. The bias is then exact.
    level : float in (0, 1)
        Confidence of each interval.
    classes : sequence, optional
        All classes (default: those of the noise, else of the labels).
    per_class : bool
        Whether to give precision, recall and F1 of each class.
    average : str or sequence of {"macro", "weighted", "micro"}
        Averages of precision, recall and F1. Over the classes that have a label; ``()`` for none.
    expert_error : float in [0, 1]
        Share of all rows on which the expert may be wrong. With a random audit, the corrected interval of the
        accuracy reaches so much further both ways. Precision, recall and F1 then have none: all these errors may be of
        one class.
    expert_errors : {"adversarial", "random"}
        Where the expert errs: in the worst case, or at random. Random errors do not depend on the predictions, and take
        any other class with the same probability: the accuracy A then shows as A (1 - e K / (K - 1)) + e / (K - 1), and
        its interval is turned back.
    groups : array-like of shape (n,), optional
        Rows that belong together, such as the patient of each image. Numbers or names, at least 10 of them. Intervals
        are then about new groups, with their rows. With one row per group nothing changes.

    Returns
    -------
    Assessment
        Of each measure: the observed value, its score interval, the bias (exact or bounded) and the interval of the
        correct measure. Without knowledge of the noise the last two are None. If all labels are of one class, as in a
        log of right and wrong answers, only accuracy and error are given.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        For anything that cannot be used; nothing is guessed.

    Warns
    -----
    OutOfDomainWarning
        If a transition matrix or counts contradict the labels; a note says it too.

    Notes
    -----
    Source: Benjelloun, chapters 2 and 6. Intervals are Wilson's, of right instances among all (accuracy), those
    predicted (precision) or labelled as the class (recall), or either (the Jaccard index J, with F1 = 2 J / (1 + J)).

    * True labels: the interval shifted by minus the bias (eq. 6.30), kind ``"shifted"``.
    * Noise: the union of the shifted intervals over the bounds of the bias, joined with the score intervals on every
      true labels that are possible, kind ``"bias-union"``. The second part keeps the level however the wrong labels are
      chosen; the first alone keeps the width of the observed measure, which is too narrow for a classifier that repeats
      wrong labels. A rate is taken as a fact about these instances. A matrix or counts bound the wrong labels only with
      some confidence: half of 1 - level is spent on that, and the score interval inside is at 1 - (1 - level) / 2.
    * Random audit: see :func:`demele.evaluation.audit_interval`, kind ``"design"``; the bias is then bounded by the
      interval for these instances.

    A correct measure lies in [0, 1]: parts of an interval outside are cut off, and a note says it. The interval of a
    macro average is the average of the ends, which covers more than its level; a weighted precision or F1 gets none,
    because its weights vary with the sample too. With a random audit, the bias of a macro average is that of the
    classes with an observed value and an interval. The micro averages and the weighted recall are the accuracy.

    Cost: O(n + n_classes^2).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 10, 2000)
    >>> predictions = np.where(rng.random(2000) < 0.9, labels, (labels + 1) % 10)
    >>> found = assess(predictions, labels, noise=0.02)
    >>> accuracy = found["accuracy"]
    >>> print(accuracy.value, accuracy.interval, accuracy.corrected)
    0.9015 [0.888, 0.914] [0.867, 0.934]
    >>> round(accuracy.bias[0], 4), round(accuracy.bias[1], 4)
    (-0.02, 0.02)
    """
    level, averages = checked_confidence(level), _averages(average)
    checked_flag(per_class, "per_class")
    rate, expert = separated(noise, audit, true_labels)
    data = read_labelled({"predictions": predictions}, labels, classes=classes_of(rate, expert, classes))
    refuse_many_classes(data)
    if rate is not None and not isinstance(rate, float):
        rate = rate.ordered(data.vocabulary.classes)
    together = read_groups(groups, data.n)
    clusters = None if together is None or together.single else together
    table = ConfusionCounts(table_of(data), data.vocabulary.classes)
    errs = read_expert_error(expert_error, expert_errors, k=data.k)
    knowledge = knowledge_of(data, table, rate, expert, true_labels, level, errs, clusters)
    check_same_order(true_labels, labels, ("true_labels", "labels"))
    check_same_order(groups, labels, ("groups", "labels"))
    one_class = data.k > 1 and np.count_nonzero(table.support) == 1 and expert is None and true_labels is None
    first_notes: Sequence[Note] = ()
    if one_class:  # as in a log of correct and wrong answers
        per_class, averages = False, ()
        name = table.classes[int(table.support.argmax())]
        message = f"all labels are {name!r}, so only the accuracy is given: recall would be the same, precision 100%"
        first_notes = (Note(code="one-class", message=message, subject=(str(name),)),)
    every = _Estimates(data, table, knowledge, level, clusters)
    estimates = [every.accuracy, every.error]
    if per_class:
        columns = [every.of_classes(measure) for measure in CLASS_MEASURES]
        estimates += [column[k] for k in range(data.k) for column in columns]
    estimates += [every.averaged(measure, name) for name in averages for measure in CLASS_MEASURES]
    # What rows in groups are worth for the accuracy on the given labels.
    apart = None
    if clusters is not None:
        apart = data.n * effective_share(*row_counts(data, "accuracy", None, 0), clusters, level=0.95)
    arguments: dict[str, object] = {"level": level}
    if rate is not None:
        arguments["noise"] = rate
    if knowledge.audit is not None:
        arguments["audit"] = knowledge.audit
    if errs[0]:
        arguments |= {"expert_error": errs[0], "expert_errors": errs[1]}
    arguments |= {"per_class": per_class, "average": averages}
    context = {"n": str(data.n), "classes": str(data.k), "demele": __version__}
    if true_labels is not None:
        context["bias"] = "from true labels"
    if clusters is not None:
        context["groups"] = digest(clusters.codes)
    return Assessment(
        estimates=tuple(estimates),
        n=data.n,
        classes=data.vocabulary.classes,
        level=level,
        confusion=table,
        assumptions=knowledge.assumptions if clusters is None else (_GROUPS_DRAWN, *knowledge.assumptions[1:]),
        notes=(
            *(first_notes if one_class else _notes(table, estimates)),
            *class_notes(data),
            *knowledge.notes,
            *every.notes(estimates),
            *group_notes(together, used=clusters is not None, apart=apart),
        ),
        signature=Signature("assess", arguments, context),
    )


# ---------------------------------------------------------------------------------------------------------- estimates


class _Estimates:
    """Turns counts and knowledge into estimates."""

    def __init__(
        self,
        data: Labelled,
        table: ConfusionCounts,
        knowledge: LabelKnowledge,
        level: float,
        groups: Groups | None,
    ) -> None:
        self.data, self.groups = data, groups
        self.classes, self.table, self.knowledge, self.level = data.vocabulary.classes, table, knowledge, level
        self.cut: list[tuple[str, Any]] = []
        self.ends: dict[str, tuple[tuple[Floats, Floats], tuple[Floats, Floats] | None]] = {}
        right = np.asarray(float(table.right.sum()))
        self.accuracy = self._several("accuracy", right[None], np.array([float(data.n)]), np.array([table.accuracy]))[0]
        self.error = _mirrored(self.accuracy)

    def of_classes(self, measure: str) -> list[Estimate]:
        """One estimate per class."""
        return self._several(measure, *self._counts(measure), self.table.measure(measure))

    def averaged(self, measure: str, average: Any) -> Estimate:
        """One average over classes."""
        if average == "micro" or (average == "weighted" and measure == "recall"):
            return replace(self.accuracy, measure=measure, of=average)
        value, bias = self.table.averaged(measure, average), self.knowledge.average_bias(measure, average)
        bias = None if bias is None or math.isnan(bias[0]) else bias
        if average == "weighted":
            return Estimate(measure=measure, of=average, value=value, bias=bias)
        if measure not in self.ends:
            self.of_classes(measure)
        observed, corrected = self.ends[measure]
        low, high = mean_of_ends(observed, self.table)
        interval = self._interval(low, high, "mean of score intervals", "sampling")
        moved = None
        if corrected is not None and self.knowledge.direct(measure) is not None:
            moved = mean_of_ends(corrected, self.table)
        elif bias is not None:
            inner = mean_of_ends(self._ends(measure, *self._counts(measure), self.knowledge.inner), self.table)
            joined = _joined(union_interval(*inner, *bias), self.knowledge.average_worst(measure))
            moved = float(joined[0]), float(joined[1])
        return Estimate(
            measure=measure,
            of=average,
            value=value,
            interval=interval,
            bias=bias,
            corrected=None if moved is None else self._corrected(*moved, (measure, average), "mean of score intervals"),
        )

    def notes(self, estimates: list[Estimate]) -> list[Note]:
        """Say what was cut off, and of what nothing is known any more."""
        notes = []
        if self.cut:
            names = tuple(dict.fromkeys(_named(measure, of) for measure, of in self.cut))
            message = (
                f"a measure lies between 0 and 1: what reaches beyond was cut off {len(names)} corrected intervals, "
                f"{shown(names)}"
            )
            notes.append(Note(code="cut", message=message, subject=names))
        empty = tuple(
            _named(estimate.measure, estimate.of)
            for estimate in estimates
            if estimate.corrected is not None and estimate.corrected.low <= 0 and estimate.corrected.high >= 1
        )
        if empty:
            message = f"nothing is known of {len(empty)} of {len(estimates)} correct measures, {shown(empty)}: "
            message += "so much noise could explain any value; an audit of some rows would narrow them"
            notes.append(Note(code="nothing-known", message=message, subject=empty, severity="warning"))
        return notes

    def _counts(self, measure: str) -> tuple[Floats, Floats]:
        """Successes and trials of each class."""
        right = self.table.right.astype(float)
        return right, trials_of(measure, right, self.table.predicted, self.table.support).astype(float)

    def _ends(self, measure: str, right: Floats, trials: Floats, level: float) -> tuple[Floats, Floats]:
        """Score intervals, of rows in groups at their effective number."""
        share: Floats | float = 1.0
        if self.groups is not None:
            share = class_shares(self.data, measure, self.groups, level=level)
        low, high = ends_at(right, trials, share, level=level)
        return as_value(low, measure), as_value(high, measure)

    def _several(self, measure: str, right: Floats, trials: Floats, values: Floats) -> list[Estimate]:
        names: tuple[Any, ...] = (None,) if measure == "accuracy" else self.classes
        observed = self._ends(measure, right, trials, self.level)
        direct, bias = self.knowledge.direct(measure), self.knowledge.bias(measure)
        bias = None if bias is None else (np.atleast_1d(bias[0]), np.atleast_1d(bias[1]))
        moved: tuple[Floats, Floats] | None = None
        if direct is not None:
            moved = np.atleast_1d(direct[0]), np.atleast_1d(direct[1])
        elif bias is not None:
            inner = self._ends(measure, right, trials, self.knowledge.inner)
            moved = _joined(union_interval(inner[0], inner[1], bias[0], bias[1]), self.knowledge.worst(measure))
        self.ends[measure] = (observed[0], observed[1]), moved
        return [
            Estimate(
                measure=measure,
                of=name,
                value=float(values[i]),
                successes=float(right[i]),
                trials=float(trials[i]),
                interval=self._interval(observed[0][i], observed[1][i], "score", "sampling"),
                bias=None if bias is None or np.isnan(bias[0][i]) else (float(bias[0][i]), float(bias[1][i])),
                corrected=None
                if moved is None
                else self._corrected(moved[0][i], moved[1][i], (measure, name), self.knowledge.method),
            )
            for i, name in enumerate(names)
        ]

    def _interval(self, low: Any, high: Any, method: str, kind: str) -> Interval | None:
        if np.isnan(low):
            return None
        return Interval(low=float(low), high=float(high), level=self.level, method=method, kind=kind)

    def _corrected(self, low: Any, high: Any, what: tuple[str, Any], method: str) -> Interval | None:
        if np.isnan(low):
            return None
        if low < 0 or high > 1:
            self.cut.append(what)
        return self._interval(max(low, 0.0), min(high, 1.0), method, str(self.knowledge.kind))


def _mirrored(accuracy: Estimate) -> Estimate:
    """Return the error, one minus the accuracy."""

    def turned(interval: Interval | None) -> Interval | None:
        return None if interval is None else replace(interval, low=1 - interval.high, high=1 - interval.low)

    return Estimate(
        measure="error",
        of=None,
        value=1 - accuracy.value,
        successes=accuracy.trials - accuracy.successes,
        trials=accuracy.trials,
        interval=turned(accuracy.interval),
        bias=None if accuracy.bias is None else (-accuracy.bias[1], -accuracy.bias[0]),
        corrected=turned(accuracy.corrected),
    )


def _joined(first: Any, second: Any) -> tuple[Floats, Floats]:
    """Return the union of two intervals; NaN where the first is."""
    if second is None:
        return first[0], first[1]
    return np.minimum(first[0], second[0]), np.maximum(first[1], second[1])


def _notes(table: ConfusionCounts, estimates: list[Estimate]) -> list[Note]:
    notes = []
    n_classes = len(table.classes)
    of_classes = len(estimates) > 2  # more than accuracy and error
    small = tuple(str(table.classes[k]) for k in np.flatnonzero((table.support > 0) & (table.support < SMALL_CLASS)))
    if small and of_classes:
        message = (
            f"{len(small)} of {n_classes} classes have fewer than {SMALL_CLASS} labelled instances, {shown(small)}: "
            "their recall and f1 say little"
        )
        notes.append(Note(code="small-classes", message=message, subject=small))
    for measure, why in (("precision", "never predicted"), ("recall", "without a label")):
        missing = tuple(str(name) for name in table.undefined(measure))
        if missing and of_classes:
            message = (
                f"the {measure} of {len(missing)} of {n_classes} classes is not defined, {shown(missing)}: {why}; "
                f"averages{' of all measures' * (measure == 'recall')} leave them out"
            )
            notes.append(Note(code="undefined", message=message, subject=missing))
    interval = estimates[0].interval
    name, share, message = always_predicting(table.support, table.classes)
    cells = Table(*(np.asarray(part, dtype=np.float64) for part in (table.right, table.support, table.predicted)))
    weak = interval is not None and n_classes > 1 and interval.low <= share
    if interval is not None and weak and tells_nothing(cells, table.n, interval.level):
        message += ": this classifier is not shown to do better"
        notes.append(Note(code="largest-class", message=message, subject=(str(name),), severity="warning"))
    return notes


def _averages(average: Any) -> tuple[str, ...]:
    names = (average,) if isinstance(average, str) else average
    if not np.iterable(names):
        raise InputTypeError("average", f"expected names such as ('macro', 'weighted'), got {quoted(average)}")
    known = get_args(Average)
    wrong = [name for name in names if name not in known]
    if wrong:
        raise UnknownNameError("average", f"expected some of {', '.join(known)}, got {wrong[0]!r}")
    return tuple(dict.fromkeys(names))


def _named(measure: str, of: object) -> str:
    return measure if of is None else f"{measure} of {of!r}"
