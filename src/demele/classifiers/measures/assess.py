"""One classifier on labels that may be wrong: what its measures look like, and what they may really be."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, get_args

import numpy as np

from demele.classifiers import question
from demele.classifiers.audit_plausibility import audit_notes
from demele.classifiers.measures import confusion
from demele.classifiers.measures.audit_interval import AuditInference, audited_ends, unseen_notes
from demele.classifiers.measures.bias import (
    average_bounds,
    correct_bounds,
    observed_measure,
    worst_case_interval,
)
from demele.classifiers.measures.confusion import OF_CLASSES, Average, ConfusionCounts, largest_class_notes
from demele.classifiers.of_scores import also_of_scores
from demele.classifiers.question import Noise, as_value, classes_of, coded_like, expert_words, read_knowledge, trials_of
from demele.classifiers.results import Estimate, estimate_columns, estimate_strips, measure_of, rests_on
from demele.core.arrays import Counts, Floats, pd
from demele.core.errors import InputError, InputTypeError, UnknownNameError, quoted
from demele.core.kinds import Classes, Confidence, Data, Rate, checked, checked_name
from demele.core.labelled import ALL_CORRECT, Labelled, read_labelled, shown
from demele.core.proportions import proportion, score_interval
from demele.core.result import Interval, Note, Result, about
from demele.core.signature import Signature
from demele.core.table_columns import check_same_order
from demele.noise.audit import UNLIKELY, AuditData, CodedAudit
from demele.noise.budget import NoiseBudget, noise_budget
from demele.noise.transition import digest
from demele.report.document import Cell, Document, Section, Table
from demele.report.listing import Column, listed
from demele.report.words import count, digits_for, ends, is_missing, joined, name, rate, title_of, written

Ends = tuple[Floats, Floats]
UNKNOWN: Ends = (np.asarray(math.nan),) * 2
#: Values at which the width of an interval is looked at, between two bounds.
STEPS = 33
#: Classes with fewer labelled instances are named: their recall and F1 say little.
SMALL_CLASS = 20
#: What is assumed first, of instances, or of groups of them.
_ROWS_DRAWN = "The instances are a random sample of those that the classifier is for."
_GROUPS_DRAWN = "The groups, with their rows, are a random sample of those that the classifier is for."


#: Classes of least F1 in the table of all measures.
_MOST_CLASSES = 20


def assessment_document(result: "Assessment") -> Document:
    """Say how accurate a classifier is on the given labels and on true ones, as a whole and class by class."""
    whole, classes = split(result)
    ordered = sorted(whole, key=lambda one: one.of is not None)
    titled = [(title_of(f"{one.of or ''} {measure_of(one.measure)}".strip()), one) for one in ordered]
    weakest = sorted(classes, key=lambda of: np.nan_to_num(classes[of]["f1"].value, nan=-math.inf))
    shown = [of for of in classes if of in weakest[:_MOST_CLASSES]]
    table = _measures_table(titled + [(f"F1, {name(of)}", classes[of]["f1"]) for of in shown], result.level)
    known = [of for of in weakest if not is_missing(classes[of]["f1"].value)][:3]
    least = joined(f"\u201c{name(of)}\u201d {written(classes[of]['f1'].value, 'percent')}" for of in known)
    corrected = any(one.corrected is not None for own in classes.values() for one in own.values())
    columns = {"Class": "text", "Labelled": "count", "Predicted": "count"}
    for title in OF_CLASSES.values():
        columns |= {title: "percent", f"{title}, {'true labels' if corrected else 'interval'}": "percent"}
    rows = []
    for of in weakest:
        own = [classes[of][measure] for measure in OF_CLASSES]
        cells = [cell for one in own for cell in (one.value, ends(one.corrected if corrected else one.interval))]
        rows.append((name(of), own[1].trials, own[0].trials, *cells))
    methods = sorted({one.interval.method for one in result.estimates if one.interval is not None})
    cited = " [@wilson1927probable]" if "score" in methods else ""
    scope = [count(result.n, "row"), count(len(result.classes), "class", "classes"), f"level {rate(result.level)}"]
    strips = [(title, one) for title, one in titled if not is_missing(one.value) and one.measure != "error"]
    return Document(
        kind="Assessment of a classifier",
        headline=_assessment_headline(result),
        sentences=[_bias_says(whole), f"Lowest F1 by class: {least}." if len(classes) > 1 and known else ""],
        figure=estimate_strips(strips, "Measures"),
        table=table,
        scope=scope,
        sections=[
            Section("Measures", [_measures_table(titled, result.level)]),
            Section("Classes", [Table("Classes, least F1 first", columns, rows)]),
            confusion.confusion_section(result.confusion),
        ],
        methods=[
            f"A classifier was assessed on {', '.join(scope[:2])} with demele [@demele].",
            f"Intervals have level {rate(result.level)}, each by itself ({joined(methods)}{cited}). Macro averages are",
            "means over classes, weighted ones are weighted by the labels of each class.",
            *rests_on(result),
        ],
        **about(result),
    )


def split(result: "Assessment") -> "tuple[list[Estimate], dict[Any, dict[str, Estimate]]]":
    """Return the estimates of all classes, and the others by class and measure; a class may be called "macro" too."""
    whole: list[Estimate] = []
    found: dict[Any, dict[str, Estimate]] = {of: {} for of in result.classes}
    for one in result.estimates:
        own = found.get(one.of) if one.of is not None else None
        if own is None or one.measure in own:
            whole.append(one)
        else:
            own[one.measure] = one
    return whole, {of: own for of, own in found.items() if own}


def _assessment_headline(result: "Assessment") -> str:
    one = result["accuracy"]
    digits = digits_for([ends(one.interval)])
    observed = f"{written(one.value, f'percent.{digits}')} {written(ends(one.interval), f'percent.{digits}')}"
    if one.corrected is None:
        return f"The observed accuracy is {observed} on {count(result.n, 'row')}."
    right = ends(one.corrected)
    span = written(right, f"percent.{digits_for([right])}")
    return f"The accuracy on true labels is in {span}; observed: {observed}."


def _bias_says(whole: Sequence[Estimate]) -> str:
    """Say by how much label errors change the accuracy."""
    bias = next(one.bias for one in whole if one.measure == "accuracy")
    if bias is None:
        return "Nothing is known of the label errors, so the accuracy on true labels may be higher or lower."
    low, high = bias
    if low == high:
        side = "above" if low > 0 else "below"
        return f"The observed accuracy is {_pp(low)} pp {side} that on true labels." if low else ""
    ends = f"at most {_pp(max(high, 0.0))} pp too high and at most {_pp(min(low, 0.0))} pp too low"
    return f"Label errors make the observed accuracy {ends}."


def _pp(share: float) -> str:
    return written(abs(share), "points").lstrip("+")


def _measures_table(rows: Sequence[tuple[str, Estimate]], level: float) -> Table:
    estimate: Callable[[tuple[str, Estimate]], Estimate] = itemgetter(1)

    def bias(row: tuple[str, Estimate]) -> Cell:
        ends = row[1].bias
        return ends[0] if ends is not None and ends[0] == ends[1] else ends

    columns: list[Column[tuple[str, Estimate]]] = [
        ("Measure", "text", itemgetter(0)),
        *estimate_columns([one for _, one in rows], level, estimate),
        ("Bias (pp)", "points?", bias),
    ]
    return listed("Measures", rows, columns, "Bias: observed minus true labels, a range where it is bounded.")


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
        told = f"measures {', '.join(measures)}; of {shown(over, 12)}, such as ['f1', {(over or ['cat'])[0]!r}]"
        raise UnknownNameError(f"{key!r} is not among the estimates: {told}")

    def __iter__(self) -> Any:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def to_frame(self) -> "pd.DataFrame":
        """One row per estimate, in a fixed order of columns."""
        return pd.DataFrame([estimate.row() for estimate in self.estimates])

    document = assessment_document


def separated(noise: Any, audit: Any, true_labels: object) -> tuple[Any, Any]:
    """Check that what is noise does not overlap; return the noise and the audit."""
    noise, audit = read_knowledge(noise, audit)
    if true_labels is not None and (noise is not None or audit is not None):
        other = "noise" if noise is not None else "audit"
        raise InputError(("true_labels", other), f"true labels of every row say all; leave out `{other}`")
    selective = audit is not None and audit.design == "selective"
    if selective and noise is None:
        message = "its rows were chosen for a reason (`design='selective'`), so it does not represent other rows"
        raise InputError("audit", message, "give `noise=` as well, or an audit of rows drawn at random, `draw_audit()`")
    if audit is not None and noise is not None and not selective and not isinstance(noise, float):
        raise InputError(("noise", "audit"), "with a random audit, the noise can only be a rate; leave one of them out")
    return noise, audit


class _Assessed:
    """A classifier on labels that are taken as right: its estimates.

    What is known of the labels is a subclass, which says how far the correct measures on these rows may be from the
    observed ones, and which intervals follow. What is not known is NaN.
    """

    assumptions: tuple[str, ...] = (_ROWS_DRAWN, ALL_CORRECT)
    notes: tuple[Note, ...] = ()
    kind, method = "", "score"
    audit: CodedAudit | None = None

    def __init__(self, data: Labelled, level: float, groups: question.Groups | None) -> None:
        self.data, self.level, self.groups = data, level, groups
        #: Level of the observed interval that is moved by the bias.
        self.inner = level
        self.table = ConfusionCounts(table_of(data), data.vocabulary.classes)
        self.cut: list[tuple[str, Any]] = []
        self._ends: dict[str, tuple[Ends, Ends, Ends]] = {}

    def true_ends(self, measure: str) -> Ends:
        """Return the least and largest correct value on these rows: shape () for accuracy, else (n_classes,)."""
        return UNKNOWN

    def average_bias(self, measure: str, average: Any) -> Ends:
        """Return bounds of observed minus correct for an average over classes."""
        return UNKNOWN

    def corrected(self, measure: str, bias: Ends) -> Ends:
        """Return the interval of the correct measure: the observed one, moved by the bias."""
        return _moved(self.observed(measure, self.inner), bias)

    def corrected_mean(self, measure: str, bias: Ends) -> Ends:
        """Return the same of a macro average."""
        return _moved(self.mean_of(self.observed(measure, self.inner)), bias)

    def ends(self, measure: str) -> tuple[Ends, Ends, Ends]:
        """Return the observed interval of a measure, the bounds of its bias, and the interval of the correct one."""
        if measure not in self._ends:
            value, (low, high) = observed_measure(measure, self.table.counts), self.true_ends(measure)
            bias = np.asarray(value - high), np.asarray(value - low)
            self._ends[measure] = self.observed(measure, self.level), bias, self.corrected(measure, bias)
        return self._ends[measure]

    def mean_of(self, ends: Ends) -> Ends:
        """Return the mean of the ends of the classes with a label and a value."""
        known = ~np.isnan(ends[0]) & (self.table.support > 0)
        return (ends[0][known].mean(), ends[1][known].mean()) if known.any() else UNKNOWN

    def counted(self, measure: str) -> Ends:
        """Return successes and trials of the proportion behind a measure."""
        right = self.table.right.astype(float)
        if measure == "accuracy":
            return np.array([right.sum()]), np.array([float(self.data.n)])
        return right, trials_of(measure, right, self.table.predicted, self.table.support).astype(float)

    def observed(self, measure: str, level: float) -> Ends:
        """Return the score intervals of a measure."""
        classes: Any = [None] if measure == "accuracy" else range(self.data.k)
        share: Floats | float = 1.0
        if self.groups is not None:
            share = question.effective_shares(self.data, measure, classes, self.groups, level=level)
        low, high = question.ends_at(*self.counted(measure), share, level=level)
        return as_value(low, measure), as_value(high, measure)

    def estimates(self, measure: str) -> list[Estimate]:
        """Return the estimate of accuracy, or one for each class."""
        names: tuple[Any, ...] = (None,) if measure == "accuracy" else self.table.classes
        ends = [end for pair in self.ends(measure) for end in pair]
        columns = observed_measure(measure, self.table.counts), *ends, *self.counted(measure)
        rows = zip(*(np.broadcast_to(column, len(names)).tolist() for column in columns), strict=True)
        return [self._estimate(measure, name, row) for name, row in zip(names, rows, strict=True)]

    def averaged(self, measure: str, average: Any) -> Estimate:
        """Return the average over classes; micro averages and the weighted recall are the accuracy."""
        if average == "micro" or (average == "weighted" and measure == "recall"):
            return replace(self.estimates("accuracy")[0], measure=measure, of=average)
        value, bias = self.table.averaged(measure, average), self.average_bias(measure, average)
        observed = moved = UNKNOWN
        if average == "macro":
            observed, moved = self.mean_of(self.ends(measure)[0]), self.corrected_mean(measure, bias)
        numbers = (value, *observed, *bias, *moved, math.nan, math.nan)
        return self._estimate(measure, average, numbers, "mean of score intervals")

    def _estimate(self, measure: str, of: Any, numbers: Sequence[Any], method: str = "") -> Estimate:
        """Return an estimate of a value, the ends of its observed interval, bias and correct interval, and counts."""
        value, low, high, least_bias, most_bias, least, most, hits, trials = map(float, numbers)

        def interval(low: float, high: float, method: str, kind: str) -> Interval | None:
            return None if math.isnan(low) else Interval(low=low, high=high, level=self.level, method=method, kind=kind)

        if least < 0 or most > 1:
            self.cut.append((measure, of))
        return Estimate(
            measure=measure,
            of=of,
            value=value,
            successes=hits,
            trials=trials,
            interval=interval(low, high, method or "score", "sampling"),
            bias=None if math.isnan(least_bias) else (least_bias, most_bias),
            corrected=interval(max(least, 0.0), min(most, 1.0), method or self.method, self.kind),
        )


class _TrueLabels(_Assessed):
    """The true labels of every instance: the bias is exact."""

    kind = "shifted"

    def __init__(self, data: Labelled, level: float, groups: question.Groups | None, true_labels: object) -> None:
        super().__init__(data, level, groups)
        known = data.relabelled(coded_like(true_labels, data, "true_labels"))
        self.correct = ConfusionCounts(table_of(known), data.vocabulary.classes, "true")
        same = "The bias is that of these instances, a constant; the shifted interval keeps the observed width."
        self.assumptions = (_ROWS_DRAWN, "The true labels are true.", same)
        wrong = 1 - float(proportion(np.count_nonzero(known.labels == data.labels), data.n))
        message = f"{wrong:.2%} of the given labels are wrong; with true labels for every row, a classifier "
        message += "is best assessed against these directly: pass them as `labels`"
        self.notes = (Note(code="true-labels", message=message),)

    def true_ends(self, measure: str) -> Ends:
        return (observed_measure(measure, self.correct.counts),) * 2

    def average_bias(self, measure: str, average: Any) -> Ends:
        return (np.asarray(self.table.averaged(measure, average) - self.correct.averaged(measure, average)),) * 2


class _Bounded(_Assessed):
    """At most so many labels are wrong: the bias is bounded."""

    kind = "bias-union"

    def __init__(
        self, data: Labelled, level: float, groups: question.Groups | None, noise: Any, audit: CodedAudit | None
    ) -> None:
        super().__init__(data, level, groups)
        self.believed, self.unsure = self.table.counts, self.table.counts
        self.audit = audit
        tail = (1 - level) / 2
        self.budget: NoiseBudget = noise_budget(noise, data.labels, data.k, tail=tail)
        known = tuple(f"{text[:1].upper()}{text[1:].removesuffix('.')}." for text in self.budget.assumptions)
        if self.budget.level is not None:
            self.inner = 1 - tail
            known += (f"These limits and the score intervals share the error: each holds at {1 - tail:.4g}.",)
        notes = [Note(code="wrong-labels", message=f"at most {self.budget.wrong} of {data.n} labels are assumed wrong")]
        if self.budget.out_of_domain:
            message = "the given noise contradicts these labels; its limits are as wide as safety needs"
            notes.append(Note(code="out-of-domain", message=message, severity="warning"))
        if audit is not None:
            known += (f"The expert is right on the {audit.k} audited rows.",)
            notes.append(self._prove(data, audit))
        if groups is not None:
            message = "rows of a group count as one here; precision, recall and F1 have no corrected interval"
            notes.append(Note(code="groups-as-rows", message=message))
        self.assumptions, self.notes = (_ROWS_DRAWN, *known), tuple(notes)

    def _prove(self, data: Labelled, audit: CodedAudit) -> Note:
        """Take what the expert saw for certain, and leave the rest of the budget to the other rows."""
        found, budget = confusion.confusion_counts(audit.labels, data.labels[audit.rows], data.k), self.budget
        np.fill_diagonal(found, 0)
        if found.sum() > budget.wrong:
            raise InputError("noise", f"allows {budget.wrong} wrong labels, the audit shows {found.sum()}; allow more")
        labels = data.labels.copy()
        labels[audit.rows] = audit.labels
        known = data.relabelled(labels)
        self.believed = table_of(known)
        self.unsure = self.believed - table_of(known.take(audit.rows))
        self.budget = replace(
            budget,
            wrong=budget.wrong - int(found.sum()),
            wrong_given=np.maximum(budget.wrong_given - found.sum(axis=0), 0),
            wrong_true=np.maximum(budget.wrong_true - found.sum(axis=1), 0),
            joint=np.maximum(budget.joint - found, 0),
        )
        message = f"the {audit.k} audited rows prove {found.sum()} wrong labels, but do not represent the other rows; "
        message += f"at most {self.budget.wrong} of the other {data.n - audit.k} are assumed wrong"
        return Note(code="selective-audit", message=message, severity="warning")

    def true_ends(self, measure: str) -> Ends:
        return correct_bounds(measure, self.believed, self.budget, unsure=self.unsure)

    def average_bias(self, measure: str, average: Any) -> Ends:
        low, high = average_bounds(measure, average, self.believed, self.budget, unsure=self.unsure)
        value = self.table.averaged(measure, average)
        return np.asarray(value - high), np.asarray(value - low)

    def worst(self, measure: str) -> Ends:
        """Return the union of the score intervals on every true labels that are possible."""
        if self.groups is None:
            return worst_case_interval(measure, self.believed, self.budget, level=self.inner, unsure=self.unsure)
        if measure != "accuracy":
            return UNKNOWN
        trials = self.data.n * question.alike_share(self.groups, level=self.inner)
        low, high = (score_interval(end * trials, trials, level=self.inner) for end in self.true_ends(measure))
        return low[0], high[1]

    def corrected(self, measure: str, bias: Ends) -> Ends:
        return _joined(super().corrected(measure, bias), self.worst(measure))

    def corrected_mean(self, measure: str, bias: Ends) -> Ends:
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

    kind, method = "design", "audit"

    def __init__(
        self,
        data: Labelled,
        level: float,
        groups: question.Groups | None,
        audit: CodedAudit,
        rate: float | None,
        expert_error: float,
    ) -> None:
        super().__init__(data, level, groups)
        self.audit: CodedAudit = audit
        self.expert_error = expert_error
        wrong = int(np.count_nonzero(data.labels[audit.rows] != audit.labels))
        drawn = {
            "uniform": "uniformly at random, without replacement",
            "weighted": "at random, with the probabilities supplied",
            "stratified": "at random, some among all rows and others among a part of them,",
        }[audit.design]
        self.assumptions = (
            _ROWS_DRAWN,
            f"The {audit.k} audited rows were drawn {drawn}, independent of the expert's answers.",
            expert_words(expert_error),
            *audit.assumed(data.labels),
        )
        notes = [*audit.notes(data.labels), *audit_notes(data, audit)]
        self.limits = None
        if rate is not None:
            self.limits, most = _Bounded(data, level, groups, rate, None), int(np.floor(rate * data.n + 1e-9))
            self.assumptions += (f"At most {most} of the {data.n} labels are wrong.",)
            if wrong > most:
                raise InputError("noise", f"allows {most} wrong labels, the audit shows {wrong}; raise the rate")
            from scipy.stats import hypergeom

            chance = float(hypergeom.sf(wrong - 1, data.n, most, audit.k))
            if chance < UNLIKELY and audit.design == "uniform":
                message = f"at a rate of {rate:g}, {wrong} wrong labels of {audit.k} are found with probability "
                message += f"{chance:.2g}: the rate seems too small, and the intervals with it"
                notes.append(Note(code="rate-contradicted", message=message, subject=("noise",), severity="warning"))
        if groups is None:
            support = self.table.support
            rarest = np.flatnonzero(support)[support[support > 0].argmin()]
            notes += unseen_notes(data, audit, int(rarest), level, "population")
        if expert_error:
            message = "precision, recall and F1 have no corrected interval: the expert's errors may all be of one class"
            notes.append(Note(code="expert-error", message=message))
        self.notes = tuple(notes)

    def true_ends(self, measure: str, inference: AuditInference = "test_set") -> Ends:
        if measure != "accuracy" and self.expert_error:
            return UNKNOWN
        _, low, high = audited_ends(self.data, self.audit, measure, self.level, inference=inference, groups=self.groups)
        if self.limits is not None:  # no further than so few wrong labels allow
            worst = self.limits.worst(measure) if inference == "population" else self.limits.true_ends(measure)
            some = np.isfinite(low)
            low, high = np.fmax(low, np.where(some, worst[0], low)), np.fmin(high, np.where(some, worst[1], high))
        if self.expert_error:
            low, high = np.clip(low - self.expert_error, 0, 1), np.clip(high + self.expert_error, 0, 1)
        return low, high

    def average_bias(self, measure: str, average: Any) -> Ends:
        return self.mean_of(self.ends(measure)[1]) if average == "macro" else UNKNOWN

    def corrected(self, measure: str, bias: Ends) -> Ends:
        return self.true_ends(measure, "population")

    def corrected_mean(self, measure: str, bias: Ends) -> Ends:
        return self.mean_of(self.ends(measure)[2])


def table_of(data: Labelled) -> Counts:
    """Count the first model's predictions against the labels."""
    table: Counts = confusion.confusion_counts(data.labels, data.predictions[0], data.k)
    return table


def _moved(ends: Ends, bias: Ends) -> Ends:
    """Return the union of an interval moved by minus every bias between two bounds (Benjelloun, eq. 6.30)."""
    return ends[0] - bias[1], ends[1] - bias[0]


def _joined(first: Ends, second: Ends) -> Ends:
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
        Share of all rows on which the expert may be wrong. The worst case is assumed. With a random audit, the
        corrected interval of the accuracy reaches so much further both ways. Precision, recall and F1 then have none:
        all these errors may be of one class.
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
    averages = tuple(dict.fromkeys(checked_name(name, "average", get_args(Average)) for name in names))
    rate, expert = separated(noise, audit, true_labels)
    data = read_labelled({"predictions": predictions}, labels, classes=classes_of(rate, classes))
    confusion.refuse_many_classes(data)
    if rate is not None and not isinstance(rate, float):
        rate = rate.ordered(data.vocabulary.classes)
    together = question.read_groups(groups, data.n)
    clusters = None if together is None or together.single else together
    if expert_error and (expert is None or expert.design == "selective"):
        raise InputError("expert_error", "is of a random audit; give `audit=`, expert labels of rows drawn at random")
    coded = None if expert is None else expert.coded(data.vocabulary, data.n)
    if true_labels is not None:
        found: _Assessed = _TrueLabels(data, level, clusters, true_labels)
    elif coded is not None and coded.design != "selective":
        if clusters is not None:
            question.refuse_whole_groups(clusters, coded)
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
    estimates = [accuracy, error_of(accuracy)]
    if per_class:
        columns = [found.estimates(measure) for measure in OF_CLASSES]
        estimates += [column[k] for k in range(data.k) for column in columns]
    estimates += [found.averaged(measure, name) for name in averages for measure in OF_CLASSES]
    apart, met = None, {} if true_labels is None else {"bias": "from true labels"}
    if clusters is not None:
        apart = data.n * question.effective_shares(data, "accuracy", [None], clusters, level=0.95)[0]
        met["groups"] = digest(clusters.codes)
    given = {"noise": rate, "audit": found.audit, "expert_error": expert_error or None}
    arguments: dict[str, object] = {"level": level} | {key: one for key, one in given.items() if one is not None}
    arguments |= {"per_class": per_class, "average": averages}
    return Assessment(
        estimates=tuple(estimates),
        n=data.n,
        classes=data.vocabulary.classes,
        level=level,
        confusion=table,
        assumptions=found.assumptions if clusters is None else (_GROUPS_DRAWN, *found.assumptions[1:]),
        notes=(
            *(first_notes or [*_notes(table, estimates), *largest_class_notes(data, level=level, groups=clusters)]),
            *confusion.class_notes(data),
            *found.notes,
            *_cut_notes(found.cut, estimates),
            *question.group_notes(together, used=clusters is not None, apart=apart),
        ),
        signature=Signature.of("assess", arguments, n=data.n, classes=data.k, **met),
    )


def error_of(accuracy: Estimate) -> Estimate:
    """Return the error of an accuracy."""
    both: dict[str, Any] = {"interval": accuracy.interval, "corrected": accuracy.corrected}
    return replace(
        accuracy,
        measure="error",
        value=1 - accuracy.value,
        successes=accuracy.trials - accuracy.successes,
        bias=None if accuracy.bias is None else (-accuracy.bias[1], -accuracy.bias[0]),
        **{key: one and replace(one, low=1 - one.high, high=1 - one.low) for key, one in both.items()},
    )


def _cut_notes(cut: list[tuple[str, Any]], estimates: list[Estimate]) -> list[Note]:
    """Say which intervals were cut at 0 or 1, and which say nothing."""
    notes = []
    if cut:
        names = tuple(dict.fromkeys(_named(measure, of) for measure, of in cut))
        message = f"corrected measures lie between 0 and 1: {len(names)} intervals were cut off there, {shown(names)}"
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
        message = f"{len(small)} of {n_classes} classes have fewer than {SMALL_CLASS} labelled rows: {shown(small)}"
        notes.append(Note(code="small-classes", message=message, subject=small))
    for measure, why in (("precision", "never predicted"), ("recall", "no row has this label")):
        missing = tuple(str(name) for name in table.undefined(measure))
        if missing and of_classes:
            averages = "averages of all measures" if measure == "recall" else "its averages"
            message = f"the {measure} of {shown(missing)} is not defined ({why}); {averages} leave out such classes"
            notes.append(Note(code="undefined", message=message, subject=missing))
    return notes


def _named(measure: str, of: object) -> str:
    return measure if of is None else f"{measure} of {of!r}"
