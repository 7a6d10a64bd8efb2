"""One classifier on labels that may be wrong: what its measures look like, and what they may really be."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from demele.classifiers.audit_plausibility import audit_notes
from demele.classifiers.measures.audit_interval import AuditInference, audited_ends, unseen_notes
from demele.classifiers.measures.bias import (
    average_bounds,
    correct_bounds,
    observed_measure,
    worst_case_interval,
)
from demele.classifiers.measures.confusion import (
    Average,
    ConfusionCounts,
    always_predicting,
    class_notes,
    confusion_counts,
    refuse_many_classes,
    tells_nothing,
)
from demele.classifiers.measures.documents import assessment_document
from demele.classifiers.of_scores import also_of_scores
from demele.classifiers.question import Noise, as_value, classes_of, coded_like, expert_words, read_knowledge, trials_of
from demele.classifiers.results import Estimate
from demele.classifiers.row_groups import (
    Groups,
    alike_share,
    class_shares,
    effective_share,
    ends_at,
    group_notes,
    read_groups,
    refuse_whole_groups,
    row_counts,
)
from demele.classifiers.table_measures import Table
from demele.core.arrays import Counts, Floats
from demele.core.errors import InputError, InputTypeError, UnknownNameError, quoted
from demele.core.kinds import Classes, Confidence, Data, Rate, checked
from demele.core.labelled import ALL_CORRECT, Labelled, read_labelled, shown
from demele.core.proportions import proportion, score_interval
from demele.core.result import Result
from demele.core.signature import Signature
from demele.core.table_columns import check_same_order
from demele.core.uncertainty import Interval, Note
from demele.noise.audit import UNLIKELY, AuditData, CodedAudit
from demele.noise.budget import NoiseBudget, noise_budget
from demele.noise.transition import digest

if TYPE_CHECKING:
    import pandas as pd

Ends = tuple[Floats, Floats]
CLASS_MEASURES = ("precision", "recall", "f1")
#: Values at which the width of an interval is looked at, between two bounds.
STEPS = 33
#: Classes with fewer labelled instances are named: their recall and F1 say little.
SMALL_CLASS = 20
#: What is assumed first, instead of instances, where rows come in groups.
_GROUPS_DRAWN = "The groups, with their rows, are a random sample of those that the classifier is for."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Assessment(Result):
    """Every measure of one classifier, with its interval and the bias that wrong labels may cause.

    ``assessment["accuracy"]`` and ``assessment["precision", "cat"]`` are single estimates; averages are asked for as
    ``assessment["f1", "macro"]`` (a class of that name comes first).

    Attributes
    ----------
    estimates : tuple of Estimate
        Accuracy, error, then precision, recall and F1 of each class, then the averages.
    n : int
        Number of instances.
    classes : tuple
    level : float
        Nominal coverage of every interval, each by itself.
    confusion : ConfusionCounts
        Against the given labels.
    assumptions : tuple of str
        What must hold for the corrected intervals to keep their level, in sentences.
    notes : tuple of Note
    signature : Signature
    """

    _kind = "assessment"

    estimates: tuple[Estimate, ...]
    n: int
    classes: tuple[int | str, ...]
    level: float
    confusion: ConfusionCounts
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature

    def __getitem__(self, key: object) -> Estimate:
        measure, of = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        for estimate in self.estimates:
            if estimate.measure == measure and estimate.of == of:
                return estimate
        measures = list(dict.fromkeys(estimate.measure for estimate in self.estimates))
        over = list(dict.fromkeys(estimate.of for estimate in self.estimates if estimate.of is not None))
        raise UnknownNameError(
            f"{key!r} is not among the estimates: measures {', '.join(measures)}; precision, recall and f1 are of one "
            f"of {shown(over, 12)}, such as ['f1', {(over or ['cat'])[0]!r}]"
        )

    def __iter__(self) -> Any:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def to_frame(self) -> "pd.DataFrame":
        """One row per estimate, in a fixed order of columns."""
        import pandas as pd

        return pd.DataFrame([estimate.row() for estimate in self.estimates])

    document = assessment_document


def separated(noise: Any, audit: Any, true_labels: object) -> tuple[Any, Any]:
    """Check that what is noise does not overlap; return the noise and the audit."""
    noise, audit = read_knowledge(noise, audit)
    if true_labels is not None and (noise is not None or audit is not None):
        other = "noise" if noise is not None else "audit"
        raise InputError(
            ("true_labels", other), f"true labels of every row say all about the noise; leave out `{other}`"
        )
    selective = audit is not None and audit.design == "selective"
    if selective and noise is None:
        raise InputError(
            "audit",
            "its rows were chosen for a reason (`design='selective'`), so it does not represent other rows; "
            "give `noise=` as well, to bound these, or "
            "an audit of rows drawn at random (`draw_audit()`)",
        )
    if audit is not None and noise is not None and not selective and not isinstance(noise, float):
        raise InputError(
            ("noise", "audit"),
            "with a random audit, only a limit of the noise rate can be used, got a transition; leave one of them out",
        )
    return noise, audit


class _Assessed:
    """A classifier on labels that are taken as right: its estimates.

    What is known of the labels is a subclass, which says how far the correct measures on these rows may be from the
    observed ones, and which intervals follow.
    """

    assumptions: tuple[str, ...] = (
        "The instances are a random sample of those that the classifier is for.",
        ALL_CORRECT,
    )
    notes: tuple[Note, ...] = ()
    kind: str | None = None
    method = "score"
    #: Level of the observed interval that is moved by the bias.
    inner: float = math.nan
    audit: CodedAudit | None = None

    def __init__(self, data: Labelled, level: float, groups: Groups | None) -> None:
        self.data, self.level, self.groups = data, level, groups
        self.table = ConfusionCounts(table_of(data), data.vocabulary.classes)
        self.cut: list[tuple[str, Any]] = []

    def true_ends(self, measure: str) -> Ends | None:
        """Return the least and largest correct value on these rows: shape () for accuracy, else (n_classes,)."""
        return None

    def average_bias(self, measure: str, average: Any) -> tuple[float, float] | None:
        """Return bounds of observed minus correct for an average over classes."""
        return None

    def bias(self, measure: str) -> Ends | None:
        """Return bounds of observed minus correct."""
        ends = self.true_ends(measure)
        if ends is None:
            return None
        value = np.asarray(observed_measure(measure, self.table.counts))
        return value - ends[1], value - ends[0]

    def corrected(self, measure: str) -> Ends | None:
        """Return the interval of the correct measure: the observed one, moved by the bias."""
        bias = self.bias(measure)
        return None if bias is None else _moved(self.observed(measure, self.inner), bias)

    def corrected_mean(self, measure: str, bias: tuple[float, float] | None) -> Any:
        """Return the same of a macro average."""
        return None if bias is None else _moved(self.mean_of(self.observed(measure, self.inner)), bias)

    def mean_of(self, ends: Ends) -> tuple[float, float]:
        """Return the mean of the ends of the classes with a label and a value."""
        known = ~np.isnan(ends[0]) & (self.table.support > 0)
        if not known.any():
            return math.nan, math.nan
        return float(ends[0][known].mean()), float(ends[1][known].mean())

    def counted(self, measure: str) -> tuple[Floats, Floats]:
        """Return successes and trials of the proportion behind a measure."""
        if measure == "accuracy":
            return np.array([float(self.table.right.sum())]), np.array([float(self.data.n)])
        right = self.table.right.astype(float)
        return right, trials_of(measure, right, self.table.predicted, self.table.support).astype(float)

    def observed(self, measure: str, level: float) -> Ends:
        """Return the score intervals of a measure."""
        share: Floats | float = 1.0
        if self.groups is not None:
            share = class_shares(self.data, measure, self.groups, level=level)
        low, high = ends_at(*self.counted(measure), share, level=level)
        return as_value(low, measure), as_value(high, measure)

    def estimates(self, measure: str) -> list[Estimate]:
        """Return the estimate of accuracy, or one for each class."""
        names: tuple[Any, ...] = (None,) if measure == "accuracy" else self.table.classes
        hits, trials = self.counted(measure)
        values = np.atleast_1d(observed_measure(measure, self.table.counts))

        def each(ends: Any) -> list[Any]:
            return [None] * len(names) if ends is None else list(zip(*np.atleast_1d(*ends), strict=True))

        observed, bias, moved = self.observed(measure, self.level), self.bias(measure), self.corrected(measure)
        columns = zip(names, values, each(observed), each(bias), each(moved), hits, trials, strict=True)
        return [self._estimate(measure, *column) for column in columns]

    def averaged(self, measure: str, average: Any) -> Estimate:
        """Return the average over classes; micro averages and the weighted recall are the accuracy."""
        if average == "micro" or (average == "weighted" and measure == "recall"):
            return replace(self.estimates("accuracy")[0], measure=measure, of=average)
        value, bias = self.table.averaged(measure, average), self.average_bias(measure, average)
        bias = None if bias is None or math.isnan(bias[0]) else bias
        if average == "weighted":
            return self._estimate(measure, average, value, None, bias, None)
        observed, moved = self.mean_of(self.observed(measure, self.level)), self.corrected_mean(measure, bias)
        return self._estimate(measure, average, value, observed, bias, moved, method="mean of score intervals")

    def _estimate(
        self,
        measure: str,
        of: Any,
        value: float,
        observed: Any,
        bias: Any,
        moved: Any,
        hits: float = math.nan,
        trials: float = math.nan,
        method: str | None = None,
    ) -> Estimate:
        def interval(ends: Any, method: str, kind: str) -> Interval | None:
            if ends is None or np.isnan(ends[0]):
                return None
            return Interval(low=float(ends[0]), high=float(ends[1]), level=self.level, method=method, kind=kind)

        if moved is not None:
            if moved[0] < 0 or moved[1] > 1:
                self.cut.append((measure, of))
            moved = max(moved[0], 0.0), min(moved[1], 1.0)
        return Estimate(
            measure=measure,
            of=of,
            value=float(value),
            successes=float(hits),
            trials=float(trials),
            interval=interval(observed, method or "score", "sampling"),
            bias=None if bias is None or np.isnan(bias[0]) else (float(bias[0]), float(bias[1])),
            corrected=interval(moved, method or self.method, str(self.kind)),
        )


class _TrueLabels(_Assessed):
    """The true labels of every instance: the bias is exact."""

    kind = "shifted"

    def __init__(self, data: Labelled, level: float, groups: Groups | None, true_labels: object) -> None:
        super().__init__(data, level, groups)
        known = data.relabelled(coded_like(true_labels, data, "true_labels"))
        self.correct = ConfusionCounts(table_of(known), data.vocabulary.classes, "true")
        self.inner = level
        self.assumptions = (
            self.assumptions[0],
            "The true labels are true.",
            "The bias is that of these instances, taken as a constant; the shifted interval keeps the width of the "
            "observed one.",
        )
        wrong = 1 - float(proportion(np.count_nonzero(known.labels == data.labels), data.n))
        message = f"{wrong:.2%} of the given labels are wrong; with true labels for every row, a classifier "
        message += "is best assessed against these directly: pass them as `labels`"
        self.notes = (Note(code="true-labels", message=message),)

    def true_ends(self, measure: str) -> Ends:
        value = observed_measure(measure, self.correct.counts)
        return value, value

    def average_bias(self, measure: str, average: Any) -> tuple[float, float]:
        value = self.table.averaged(measure, average) - self.correct.averaged(measure, average)
        return value, value


class _Bounded(_Assessed):
    """At most so many labels are wrong: the bias is bounded."""

    kind = "bias-union"

    def __init__(
        self, data: Labelled, level: float, groups: Groups | None, noise: Any, audit: CodedAudit | None
    ) -> None:
        super().__init__(data, level, groups)
        self.believed, self.unsure = self.table.counts, self.table.counts
        self.audit = audit
        tail = (1 - level) / 2
        self.budget: NoiseBudget = noise_budget(noise, data.labels, data.k, tail=tail)
        self.inner = level if self.budget.level is None else 1 - tail
        known = tuple(f"{text[:1].upper()}{text[1:].removesuffix('.')}." for text in self.budget.assumptions)
        if self.budget.level is not None:
            known += (
                f"The numbers of wrong labels hold with a confidence of {1 - tail:.4g}: the error of {1 - level:.4g} "
                f"is shared evenly between them and the sampling of instances (score intervals at {1 - tail:.4g}).",
            )
        message = f"at most {self.budget.wrong} of {data.n} labels are assumed to be wrong"
        notes = [Note(code="wrong-labels", message=message)]
        if self.budget.out_of_domain:
            message = "the given noise contradicts these labels; its limits are as wide as safety needs"
            notes.append(Note(code="out-of-domain", message=message, severity="warning"))
        if audit is not None:
            known += (f"The expert is right on the {audit.k} audited rows.",)
            notes.append(self._prove(data, audit))
        if groups is not None:
            message = (
                "rows of a group count as one, since wrong labels may hide their correlation; precision, recall and "
                "F1 have no corrected interval then"
            )
            notes.append(Note(code="groups-as-rows", message=message))
        self.assumptions, self.notes = (self.assumptions[0], *known), tuple(notes)

    def _prove(self, data: Labelled, audit: CodedAudit) -> Note:
        """Take what the expert saw for certain, and leave the rest of the budget to the other rows."""
        given, seen = data.labels[audit.rows], audit.labels
        found = confusion_counts(seen, given, data.k)
        np.fill_diagonal(found, 0)
        if found.sum() > self.budget.wrong:
            raise InputError(
                "noise",
                f"allows {self.budget.wrong} wrong labels of {data.n}, but the audit shows {found.sum()}; "
                "give a larger rate",
            )
        labels = data.labels.copy()
        labels[audit.rows] = seen
        known = data.relabelled(labels)
        self.believed = table_of(known)
        self.unsure = self.believed - table_of(known.take(audit.rows))
        self.budget = replace(
            self.budget,
            wrong=self.budget.wrong - int(found.sum()),
            wrong_given=np.maximum(self.budget.wrong_given - found.sum(axis=0), 0),
            wrong_true=np.maximum(self.budget.wrong_true - found.sum(axis=1), 0),
            joint=np.maximum(self.budget.joint - found, 0),
        )
        message = (
            f"the {audit.k} audited rows were chosen for a reason: they prove {found.sum()} wrong labels, but do not "
            f"represent the other {data.n - audit.k} rows; at most {self.budget.wrong} of these are assumed wrong"
        )
        return Note(code="selective-audit", message=message, severity="warning")

    def true_ends(self, measure: str) -> Ends:
        return correct_bounds(measure, self.believed, self.budget, unsure=self.unsure)

    def average_bias(self, measure: str, average: Any) -> tuple[float, float]:
        low, high = average_bounds(measure, average, self.believed, self.budget, unsure=self.unsure)
        value = self.table.averaged(measure, average)
        return value - high, value - low

    def worst(self, measure: str) -> Ends:
        """Return the union of the score intervals on every true labels that are possible."""
        if self.groups is None:
            return worst_case_interval(measure, self.believed, self.budget, level=self.inner, unsure=self.unsure)
        if measure != "accuracy":
            return np.full(self.data.k, np.nan), np.full(self.data.k, np.nan)
        trials = self.data.n * alike_share(self.groups, level=self.inner)
        low, high = (score_interval(end * trials, trials, level=self.inner) for end in self.true_ends(measure))
        return low[0], high[1]

    def corrected(self, measure: str) -> Any:
        return _joined(super().corrected(measure), self.worst(measure))

    def corrected_mean(self, measure: str, bias: tuple[float, float] | None) -> Any:
        if bias is None:
            return None
        down = up = math.nan
        trials = self.counted(measure)[1]
        low, high = (end / (2 - end) if measure == "f1" else end for end in self.true_ends(measure))
        # Of the proportion behind the measure: the widest score intervals anywhere between the bounds.
        between = low + np.linspace(0, 1, STEPS)[:, None] * (high - low)
        value = as_value(between, measure)
        below, above = (as_value(end, measure) for end in score_interval(between * trials, trials, level=self.inner))
        known = (self.table.support > 0) & (trials > 0) & ~np.isnan(value[0])
        if self.groups is None and known.any():
            down, up = (float(part[:, known].max(axis=0).mean()) for part in (value - below, above - value))
        mean = self.table.averaged(measure, "macro")
        return _joined(super().corrected_mean(measure, bias), (mean - bias[1] - down, mean - bias[0] + up))


class _Audited(_Assessed):
    """Expert labels of a random sample of rows: the correct measures are estimated."""

    kind = "design"
    method = "audit"

    def __init__(
        self,
        data: Labelled,
        level: float,
        groups: Groups | None,
        audit: CodedAudit,
        rate: float | None,
        expert_error: float,
    ) -> None:
        super().__init__(data, level, groups)
        self.expert_error = expert_error
        self.audit: CodedAudit = audit
        self.found: dict[tuple[str, str], Ends] = {}
        wrong = int(np.count_nonzero(data.labels[audit.rows] != audit.labels))
        most = None if rate is None else int(np.floor(rate * data.n + 1e-9))
        self.limits = None if rate is None else _Bounded(data, level, groups, rate, None)
        if most is not None and wrong > most:
            raise InputError(
                "noise",
                f"allows {most} wrong labels of {data.n}, but the audit shows {wrong}; give a larger rate, "
                "or leave it out",
            )
        drawn = {
            "uniform": "uniformly at random, without replacement",
            "weighted": "at random, with the probabilities supplied",
            "stratified": "at random, some among all rows and others among a part of them,",
        }[audit.design]
        self.assumptions = (
            self.assumptions[0],
            f"The {audit.k} audited rows were drawn {drawn}, independent of the expert's answers.",
            expert_words(expert_error),
            *audit.assumed(data.labels),
            *(() if most is None else (f"At most {most} of the {data.n} labels are wrong.",)),
        )
        notes = [*audit.notes(data.labels), *audit_notes(data, audit)]
        if rate is not None and most is not None and audit.design == "uniform":
            from scipy.stats import hypergeom

            chance = float(hypergeom.sf(wrong - 1, data.n, most, audit.k))
            if chance < UNLIKELY:
                message = (
                    f"the audit found {wrong} wrong labels of {audit.k}; if at most a share of {rate:g} were wrong, so "
                    f"many would be found with probability {chance:.2g}: the rate seems too small, and the intervals "
                    "with it"
                )
                notes.append(Note(code="rate-contradicted", message=message, subject=("noise",), severity="warning"))
        if groups is None:
            support = self.table.support
            rarest = np.flatnonzero(support)[support[support > 0].argmin()]
            notes += unseen_notes(data, audit, int(rarest), level, "population")
        if expert_error:
            message = (
                "where the expert may be wrong, precision, recall and F1 of a class have no corrected interval: all "
                "of these errors may be of that class"
            )
            notes.append(Note(code="expert-error", message=message))
        self.notes = tuple(notes)

    def true_ends(self, measure: str) -> Ends:
        return self._ends(measure, "test_set")

    def average_bias(self, measure: str, average: Any) -> tuple[float, float] | None:
        bias = self.bias(measure)
        return None if bias is None or average != "macro" else self.mean_of(bias)

    def corrected(self, measure: str) -> Ends:
        return self._ends(measure, "population")

    def corrected_mean(self, measure: str, bias: tuple[float, float] | None) -> Any:
        return self.mean_of(self.corrected(measure))

    def _ends(self, measure: str, inference: AuditInference) -> Ends:
        if (measure, inference) not in self.found:
            known: dict[str, Any] = {"inference": inference, "groups": self.groups}
            low = high = np.full(self.data.k, np.nan)
            if measure == "accuracy" or not self.expert_error:
                _, low, high = audited_ends(self.data, self.audit, measure, self.level, **known)
            if self.limits is not None:  # no further than so few wrong labels allow
                worst = self.limits.worst(measure) if inference == "population" else self.limits.true_ends(measure)
                some = np.isfinite(low)
                low, high = np.fmax(low, np.where(some, worst[0], low)), np.fmin(high, np.where(some, worst[1], high))
            ends = low, high
            if measure == "accuracy" and self.expert_error:
                ends = np.clip(low - self.expert_error, 0, 1), np.clip(high + self.expert_error, 0, 1)
            self.found[measure, inference] = ends
        return self.found[measure, inference]


def table_of(data: Labelled) -> Counts:
    """Count the first model's predictions against the labels."""
    table: Counts = confusion_counts(data.labels, data.predictions[0], data.k)
    return table


def _moved(ends: Any, bias: Any) -> tuple[Any, Any]:
    """Return the union of an interval moved by minus every bias between two bounds (Benjelloun, eq. 6.30)."""
    return ends[0] - bias[1], ends[1] - bias[0]


def _joined(first: Any, second: Any) -> Any:
    """Join two pairs of ends; NaN of either is kept."""
    return np.minimum(first[0], second[0]), np.maximum(first[1], second[1])


@also_of_scores
@checked
def assess(
    predictions: object,
    labels: object,
    *,
    noise: Noise = None,
    audit: AuditData = None,
    true_labels: Data = None,
    level: Confidence = 0.95,
    classes: Classes = None,
    per_class: bool = True,
    average: str | Sequence[str] = ("macro", "weighted"),
    expert_error: Rate = 0.0,
    groups: Data = None,
) -> Assessment:
    """Measure a classifier on labels that may be wrong, with corrected measures.

    ``assess(scores, audit=..., ...)`` of :class:`demele.classifiers.RowScores`, or of several by name, without labels,
    takes the options of :func:`demele.classifiers.judge.judge` and returns a :class:`demele.classifiers.Judgement`.

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
        Share of all rows on which the expert may be wrong, in the worst case. With a random audit, the corrected
        interval of the accuracy reaches so much further both ways. Precision, recall and F1 then have none: all these
        errors may be of one class.
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
    * Random audit: see :func:`demele.classifiers.stats.audit_interval`, kind ``"design"``; the bias is then bounded by
      the interval for these instances.

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
    names = (average,) if isinstance(average, str) else average
    if not np.iterable(names):
        raise InputTypeError("average", f"expected names such as ('macro', 'weighted'), got {quoted(average)}")
    known = get_args(Average)
    wrong = [name for name in names if name not in known]
    if wrong:
        raise UnknownNameError("average", f"expected some of {', '.join(known)}, got {wrong[0]!r}")
    averages = tuple(dict.fromkeys(names))
    rate, expert = separated(noise, audit, true_labels)
    data = read_labelled({"predictions": predictions}, labels, classes=classes_of(rate, expert, classes))
    refuse_many_classes(data)
    if rate is not None and not isinstance(rate, float):
        rate = rate.ordered(data.vocabulary.classes)
    together = read_groups(groups, data.n)
    clusters = None if together is None or together.single else together
    if expert_error and (expert is None or expert.design == "selective"):
        raise InputError(
            "expert_error",
            "says how often the expert of a random audit is wrong; give `audit=`, expert labels of rows "
            "drawn at random, or drop it",
        )
    coded = None if expert is None else expert.coded(data.vocabulary, data.n)
    if true_labels is not None:
        found: _Assessed = _TrueLabels(data, level, clusters, true_labels)
    elif coded is not None and coded.design != "selective":
        if clusters is not None:
            refuse_whole_groups(clusters, coded)
        found = _Audited(data, level, clusters, coded, rate, expert_error)
    elif rate is not None:
        found = _Bounded(data, level, clusters, rate, coded)
    else:
        found = _Assessed(data, level, clusters)
    check_same_order(true_labels, labels, ("true_labels", "labels"))
    check_same_order(groups, labels, ("groups", "labels"))
    table, first_notes = found.table, None
    if data.k > 1 and np.count_nonzero(table.support) == 1 and expert is None and true_labels is None:
        per_class, averages = False, ()  # as in a log of correct and wrong answers
        name = table.classes[int(table.support.argmax())]
        message = f"all labels are {name!r}, so only the accuracy is given: recall would be the same, precision 100%"
        first_notes = [Note(code="one-class", message=message, subject=(str(name),))]
    (accuracy,) = found.estimates("accuracy")
    estimates = [accuracy, turned(accuracy)]
    if per_class:
        columns = [found.estimates(measure) for measure in CLASS_MEASURES]
        estimates += [column[k] for k in range(data.k) for column in columns]
    estimates += [found.averaged(measure, name) for name in averages for measure in CLASS_MEASURES]
    apart = None
    if clusters is not None:
        apart = data.n * effective_share(*row_counts(data, "accuracy", None, 0), clusters, level=0.95)
    known_of = {"noise": rate, "audit": found.audit}
    arguments: dict[str, object] = {"level": level} | {key: one for key, one in known_of.items() if one is not None}
    arguments |= {"expert_error": expert_error} if expert_error else {}
    arguments |= {"per_class": per_class, "average": averages}
    met = {} if true_labels is None else {"bias": "from true labels"}
    if clusters is not None:
        met["groups"] = digest(clusters.codes)
    return Assessment(
        estimates=tuple(estimates),
        n=data.n,
        classes=data.vocabulary.classes,
        level=level,
        confusion=table,
        assumptions=found.assumptions if clusters is None else (_GROUPS_DRAWN, *found.assumptions[1:]),
        notes=(
            *(first_notes or _notes(table, estimates)),
            *class_notes(data),
            *found.notes,
            *_cut_notes(found.cut, estimates),
            *group_notes(together, used=clusters is not None, apart=apart),
        ),
        signature=Signature.of("assess", arguments, n=data.n, classes=data.k, **met),
    )


def turned(accuracy: Estimate) -> Estimate:
    """Return the error of an accuracy."""

    def other(interval: Interval | None) -> Interval | None:
        return None if interval is None else replace(interval, low=1 - interval.high, high=1 - interval.low)

    return replace(
        accuracy,
        measure="error",
        value=1 - accuracy.value,
        successes=accuracy.trials - accuracy.successes,
        interval=other(accuracy.interval),
        bias=None if accuracy.bias is None else (-accuracy.bias[1], -accuracy.bias[0]),
        corrected=other(accuracy.corrected),
    )


def _cut_notes(cut: list[tuple[str, Any]], estimates: list[Estimate]) -> list[Note]:
    """Say which intervals were cut at 0 or 1, and which say nothing."""
    notes = []
    if cut:
        names = tuple(dict.fromkeys(_named(measure, of) for measure, of in cut))
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
    for measure, why in (("precision", "never predicted"), ("recall", "no row has this label")):
        missing = tuple(str(name) for name in table.undefined(measure))
        if missing and of_classes:
            averages = "averages of all measures" if measure == "recall" else "its averages"
            message = f"the {measure} of {shown(missing)} is not defined ({why}); {averages} leave out such classes"
            notes.append(Note(code="undefined", message=message, subject=missing))
    interval = estimates[0].interval
    name, share, message = always_predicting(table.support, table.classes)
    cells = Table(*(np.asarray(part, dtype=np.float64) for part in (table.right, table.support, table.predicted)))
    weak = interval is not None and n_classes > 1 and interval.low <= share
    if interval is not None and weak and tells_nothing(cells, table.n, interval.level):
        message += ": this classifier is not shown to do better"
        notes.append(Note(code="largest-class", message=message, subject=(str(name),), severity="warning"))
    return notes


def _named(measure: str, of: object) -> str:
    return measure if of is None else f"{measure} of {of!r}"
