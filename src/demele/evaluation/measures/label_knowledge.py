"""What is known of the labels of a test set, and what follows of it for every measure of a classifier."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError
from demele.core.labelled import ALL_CORRECT, Labelled
from demele.core.proportions import score_interval
from demele.core.results import Note
from demele.core.sentences import arg, in_code, setting
from demele.evaluation.expert_errors import ExpertErrors, expert_words, moved_ends
from demele.evaluation.measures.audit_cells import AuditInference
from demele.evaluation.measures.audit_interval import audited_ends, unseen_notes
from demele.evaluation.measures.audit_plausibility import audit_notes
from demele.evaluation.measures.average_bounds import average_bounds
from demele.evaluation.measures.bias import BiasCounts, accuracy_bias, f1_bias, precision_bias, recall_bias
from demele.evaluation.measures.bias_bounds import correct_bounds
from demele.evaluation.measures.confusion import ConfusionCounts, confusion_counts
from demele.evaluation.measures.correction import worst_case_interval
from demele.evaluation.question import as_value, coded_like, read_knowledge, trials_of
from demele.evaluation.row_groups import (
    Groups,
    alike_share,
    refuse_whole_groups,
)
from demele.noise.audit import UNLIKELY, Audit, CodedAudit
from demele.noise.budget import NoiseBudget, noise_budget

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

#: Values at which the width of an interval is looked at, between two bounds.
STEPS = 33
#: What a message calls what is known of the noise, for who did not make the object.
_NOISE_WORDS = {
    "TransitionMatrix": "transition probabilities",
    "TransitionCounts": "transition counts",
    "float": "a rate",
}


def separated(noise: Any, audit: Any, true_labels: object) -> tuple[Any, Any]:
    """Check that what is noise does not overlap; return the noise and the audit."""
    noise, audit = read_knowledge(noise, audit)
    if true_labels is not None and (noise is not None or audit is not None):
        other = "noise" if noise is not None else "audit"
        raise InputError(
            ("true_labels", other), f"true labels of every row say all about the noise; leave out {arg(other)}"
        )
    selective = audit is not None and audit.design == "selective"
    if selective and noise is None:
        raise InputError(
            "audit",
            f"its rows were chosen for a reason ({setting(design='selective')}), so it does not represent other rows; "
            f"give {arg('noise', code='noise=')} as well, {in_code('a rate that', otherwise='which')} bounds these, or "
            f"an audit of rows drawn at random ({in_code('demele.labels.draw_audit', otherwise='demele audit draw')})",
        )
    if audit is not None and noise is not None and not selective and not isinstance(noise, float):
        raise InputError(
            ("noise", "audit"),
            "with a random audit, only a limit of the noise rate can be used, got "
            f"{in_code(type(noise).__name__, otherwise=_NOISE_WORDS[type(noise).__name__])}; leave one of them out",
        )
    return noise, audit


def knowledge_of(
    data: Labelled,
    table: ConfusionCounts,
    noise: Any,
    audit: Audit | None,
    true_labels: object,
    level: float,
    errs: tuple[float, ExpertErrors] = (0.0, "adversarial"),
    groups: Groups | None = None,
) -> "LabelKnowledge":
    """Return the knowledge from the given labels and the other arguments."""
    if errs[0] and (audit is None or audit.design == "selective"):
        raise InputError(
            "expert_error",
            f"says how often the expert of a random audit is wrong; give {setting(audit=...)}, expert labels of rows "
            "drawn at random, or drop it",
        )
    if true_labels is not None:
        return _TrueLabels(data, table, true_labels, level)
    coded = None if audit is None else audit.coded(data.vocabulary, data.n)
    if coded is not None and coded.design != "selective":
        if groups is not None:
            refuse_whole_groups(groups, coded)
        return _Audited(data, table, coded, level, noise, errs, groups)
    return LabelKnowledge() if noise is None else _Bounded(data, table, noise, coded, level, groups)


class LabelKnowledge:
    """What is known of the labels: it corrects measures. This one knows nothing, and believes every label."""

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

    def bias(self, measure: str) -> tuple[Floats, Floats] | None:
        """Bounds of observed minus correct: shape () for accuracy, else (n_classes,)."""
        return None

    def average_bias(self, measure: str, average: str) -> tuple[float, float] | None:
        """Bounds for an average over classes."""
        return None

    def worst(self, measure: str) -> tuple[Floats, Floats] | None:
        """Return the union of the score intervals on every true labels that are possible."""
        return None

    def average_worst(self, measure: str) -> tuple[float, float] | None:
        """Return about the same for a macro average."""
        return None

    def direct(self, measure: str) -> tuple[Floats, Floats] | None:
        """Return the interval of the correct measure, where it does not come from the observed one."""
        return None


class _TrueLabels(LabelKnowledge):
    """The true labels of every instance: the bias is exact."""

    kind = "shifted"

    def __init__(self, data: Labelled, table: ConfusionCounts, true_labels: object, level: float) -> None:
        truth = coded_like(true_labels, data, "true_labels")
        if truth is None:
            raise InputTypeError("true_labels", "expected the true classes, got None")
        self.counts = BiasCounts.from_rows(data.predictions[0], data.labels, truth, data.k)
        self.observed = table
        self.correct = ConfusionCounts(table_of(data.relabelled(truth)), data.vocabulary.classes, "true")
        self.inner = level
        self.assumptions = (
            LabelKnowledge.assumptions[0],
            "The true labels are true.",
            "The bias is that of these instances, taken as a constant; the shifted interval keeps the width of the "
            "observed one.",
        )
        message = f"{self.counts.rate:.2%} of the given labels are wrong; with true labels for every row, a classifier "
        call = in_code("assess(predictions, true_labels)", otherwise="demele assess PREDICTIONS TRUE_LABELS")
        message += f"is best assessed against these directly: {call}"
        self.notes = (Note(code="true-labels", message=message),)

    def bias(self, measure: str) -> tuple[Floats, Floats]:
        if measure == "accuracy":
            _, f_n, f_r = self.counts.overall_indicators
            value = np.asarray(accuracy_bias(self.counts.rate, f_n, f_r))
        else:
            value = {"precision": precision_bias, "recall": recall_bias, "f1": f1_bias}[measure](self.counts)
        return value, value

    def average_bias(self, measure: str, average: Any) -> tuple[float, float]:
        value = self.observed.averaged(measure, average) - self.correct.averaged(measure, average)
        return value, value


class _Bounded(LabelKnowledge):
    """At most so many labels are wrong: the bias is bounded."""

    kind = "bias-union"

    def __init__(
        self,
        data: Labelled,
        table: ConfusionCounts,
        noise: Any,
        audit: CodedAudit | None,
        level: float,
        groups: Groups | None,
    ) -> None:
        self.groups = groups
        self.observed, self.believed, self.unsure = table, table.counts, table.counts
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
        notes = [
            Note(
                code="wrong-labels",
                message=f"at most {self.budget.wrong} of {data.n} labels are assumed to be wrong",
            )
        ]
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
        self.assumptions = (LabelKnowledge.assumptions[0], *known)
        self.notes = tuple(notes)

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

    def bias(self, measure: str) -> tuple[Floats, Floats]:
        lowest, highest = correct_bounds(measure, self.believed, self.budget, unsure=self.unsure)
        value = np.asarray(self.observed.accuracy if measure == "accuracy" else self.observed.measure(measure))
        return value - highest, value - lowest

    def average_bias(self, measure: str, average: Any) -> tuple[float, float]:
        low, high = average_bounds(measure, average, self.believed, self.budget, unsure=self.unsure)
        value = self.observed.averaged(measure, average)
        return value - high, value - low

    def worst(self, measure: str) -> tuple[Floats, Floats]:
        if self.groups is not None:
            if measure != "accuracy":
                return np.full(len(self.believed), np.nan), np.full(len(self.believed), np.nan)
            share = alike_share(self.groups, level=self.inner)
            low, high = correct_bounds("accuracy", self.believed, self.budget, unsure=self.unsure)
            trials = self.believed.sum() * share
            ends = (score_interval(end * trials, trials, level=self.inner) for end in (low, high))
            return next(ends)[0], next(ends)[1]
        return worst_case_interval(measure, self.believed, self.budget, level=self.inner, unsure=self.unsure)

    def average_worst(self, measure: str) -> tuple[float, float]:
        if self.groups is not None:
            return math.nan, math.nan
        low, high = average_bounds(measure, "macro", self.believed, self.budget, unsure=self.unsure)
        ends = correct_bounds(measure, self.believed, self.budget, unsure=self.unsure)
        down, up = _widest(measure, self.observed, ends, self.inner)
        return low - down, high + up


class _Audited(LabelKnowledge):
    """Expert labels of a random sample of rows: the correct measures are estimated."""

    kind = "design"
    method = "audit"

    def __init__(
        self,
        data: Labelled,
        table: ConfusionCounts,
        audit: CodedAudit,
        level: float,
        rate: float | None,
        errs: tuple[float, ExpertErrors],
        groups: Groups | None,
    ) -> None:
        self.errs, self.groups = errs, groups
        self.data, self.table, self.level = data, table, level
        self.found: dict[tuple[str, str], tuple[Floats, Floats]] = {}
        self.audit: CodedAudit = audit
        wrong = int(np.count_nonzero(data.labels[audit.rows] != audit.labels))
        self.most = None if rate is None else int(np.floor(rate * data.n + 1e-9))
        if self.most is not None and wrong > self.most:
            raise InputError(
                "noise",
                f"allows {self.most} wrong labels of {data.n}, but the audit shows {wrong}; give a larger rate, "
                "or leave it out",
            )
        drawn = {
            "uniform": "uniformly at random, without replacement",
            "weighted": "at random, with the probabilities supplied",
            "stratified": "at random, some among all rows and others among a part of them,",
        }[audit.design]
        self.assumptions = (
            LabelKnowledge.assumptions[0],
            f"The {audit.k} audited rows were drawn {drawn}, independent of the expert's answers.",
            expert_words(*errs) or "The expert is right on all of them.",
            *audit.assumed(data.labels),
            *(() if self.most is None else (f"At most {self.most} of the {data.n} labels are wrong.",)),
        )
        rarest = np.flatnonzero(table.support)[table.support[table.support > 0].argmin()]
        self.notes = (
            *audit.notes(data.labels),
            *audit_notes(data, audit),
            *self._contradiction(wrong, rate),
            *(unseen_notes(data, audit, int(rarest), level, "population") if groups is None else ()),
        )
        if errs[0]:
            message = (
                "where the expert may be wrong, precision, recall and F1 of a class have no corrected interval: all "
            )
            self.notes += (Note(code="expert-error", message=message + "of these errors may be of that class"),)

    def _contradiction(self, wrong: int, rate: float | None) -> tuple[Note, ...]:
        """Warn of a rate under which a uniform audit would hardly have found so many wrong labels."""
        from scipy.stats import hypergeom

        if rate is None or self.most is None or self.audit.design != "uniform":
            return ()
        chance = float(hypergeom.sf(wrong - 1, self.data.n, self.most, self.audit.k))
        if chance >= UNLIKELY:
            return ()
        message = (
            f"the audit found {wrong} wrong labels of {self.audit.k}; if at most a share of {rate:g} were wrong, so "
            f"many would be found with probability {chance:.2g}: the rate seems too small, and the intervals with it"
        )
        return (Note(code="rate-contradicted", message=message, subject=("noise",), severity="warning"),)

    def bias(self, measure: str) -> tuple[Floats, Floats]:
        value = np.asarray(self.table.accuracy if measure == "accuracy" else self.table.measure(measure))
        low, high = self._ends(measure, "test_set")
        return value - high, value - low

    def average_bias(self, measure: str, average: Any) -> tuple[float, float] | None:
        # Over the classes that have an observed value and an interval: a class whose labels the audit all changes has
        # no interval of its recall, one without a label has no observed recall.
        return mean_of_ends(self.bias(measure), self.table) if average == "macro" else None

    def direct(self, measure: str) -> tuple[Floats, Floats]:
        return self._ends(measure, "population")

    def _ends(self, measure: str, inference: AuditInference) -> tuple[Floats, Floats]:
        if (measure, inference) not in self.found:
            known: dict[str, Any] = {"inference": inference, "wrong": self.most, "groups": self.groups}
            if measure != "accuracy" and self.errs[0]:
                ends = np.full(self.data.k, np.nan), np.full(self.data.k, np.nan)
            else:
                ends = audited_ends(self.data, self.audit, measure, self.level, **known)[1:]
            if measure == "accuracy":
                ends = moved_ends(ends, *self.errs, k=self.data.k)
            self.found[measure, inference] = ends
        return self.found[measure, inference]


def table_of(data: Labelled) -> Counts:
    """Count the first model's predictions against the labels."""
    table: Counts = confusion_counts(data.labels, data.predictions[0], data.k)
    return table


def mean_of_ends(ends: tuple[Floats, Floats], table: ConfusionCounts) -> tuple[float, float]:
    """Average both ends over the classes that have a label and an interval.

    The standard deviation of a mean is at most the mean of the standard deviations, however the classes hang together.
    """
    known = ~np.isnan(ends[0]) & (table.support > 0)
    if not known.any():
        return math.nan, math.nan
    return float(ends[0][known].mean()), float(ends[1][known].mean())


def _widest(measure: str, table: ConfusionCounts, ends: tuple[Floats, Floats], level: float) -> tuple[float, float]:
    """Mean over classes of the largest distance of both ends of a score interval, for any value within its bounds."""
    trials = trials_of(measure, table.right, table.predicted, table.support)
    low, high = (end / (2 - end) if measure == "f1" else end for end in ends)  # of the proportion behind it
    proportion = low + np.linspace(0, 1, STEPS)[:, None] * (high - low)
    value = as_value(proportion, measure)
    below, above = (as_value(end, measure) for end in score_interval(proportion * trials, trials, level=level))
    known = (table.support > 0) & (trials > 0) & ~np.isnan(value[0])
    if not known.any():
        return math.nan, math.nan
    return float((value - below)[:, known].max(axis=0).mean()), float((above - value)[:, known].max(axis=0).mean())
