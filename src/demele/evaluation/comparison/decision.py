"""What a comparison of two classifiers returns."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from demele.core.result import Result, plain
from demele.core.results import Interval, Note
from demele.core.signature import Signature
from demele.evaluation.comparison.audit_estimate import UNDIRECTED, undirected_interval
from demele.evaluation.comparison.breakdown import breakdown
from demele.evaluation.comparison.documents import decision_document
from demele.evaluation.comparison.methods import MethodSpec
from demele.evaluation.comparison.prospect import prospect
from demele.evaluation.comparison.result_parts import comparison_notes, estimate, signature, weighted_audit_note
from demele.evaluation.comparison.sequential_plan import signs
from demele.evaluation.expert_errors import allowed_rows, largest_allowance
from demele.evaluation.question import Outcomes, Question
from demele.evaluation.results import Estimate, Verdict
from demele.evaluation.row_groups import effective_rows
from demele.evaluation.table_measures import lowest_value
from demele.report.document import Document

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class AskedPairs:
    """Pairs of classifiers, and the outcomes of a method."""

    spec: MethodSpec
    question: Question
    outcomes: Outcomes
    correction: Literal["holm", "bonferroni", "none"] = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """The breakdown point of a verdict: the largest number of wrong labels that it holds up to in the worst case.

    ``labels`` is -1 if the verdict does not stand even when every label is right (it then depends on more than the
    labels, such as an audit).
    """

    labels: int
    n: int

    @property
    def rate(self) -> float:
        """The same as a share of all labels; NaN if there is none."""
        return self.labels / self.n if self.labels >= 0 else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertBreakdown:
    """The number of wrong expert labels on disagreements that the verdict holds up to, in the worst case.

    Attributes
    ----------
    labels : int
        Of the labels that the expert would give to all disagreements.
    disagreements : int
        Rows on which the two disagree.
    """

    labels: int
    disagreements: int

    @property
    def rate(self) -> float:
        """The same as a share of the disagreements: the largest ``expert_error`` that leaves the verdict."""
        return self.labels / self.disagreements


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Decision(Result):
    """The result of a comparison, with its assumptions.

    Attributes
    ----------
    verdict : {"baseline", "candidate", "inconclusive"}
        Which is shown to be better, if any.
    difference : float
        Candidate minus baseline, in the unit of the measure (for ``"error"``, more is worse), as the method
        estimates it.
    interval : Interval
        Interval of that difference; its kind and method say how it was made.
    baseline, candidate : Estimate
        Each by itself, before and after correction.
    breakdown : Breakdown or None
        For a verdict on accuracy: the number of wrong labels that it holds up to in the worst case. For an audited or
        sequential verdict: the same number without the audit, if the given labels support the verdict.
    expert_breakdown : ExpertBreakdown or None
        For a verdict on accuracy that depends on an expert: how many of the expert's labels may be wrong.
    inference : {"population", "test_set", "overlap"}
        What "better" means: on new instances, on these with true labels, or beyond the overlap of intervals on those.
    others : tuple of Decision
        On the further measures that were asked for, each at its own level.
    p_value : float
        For "the candidate is not better"; NaN where the method gives none.
    estimate_interval : Interval or None
        With ``errors="undirected"``: of the same difference, if wrong labels do not side with one of the two. It
        decides nothing.
    assumptions : tuple of str
        What must hold for the verdict to keep its level, in sentences.
    """

    _kind = "decision"

    verdict: Verdict
    difference: float
    interval: Interval
    baseline: Estimate
    candidate: Estimate
    method: str
    measure: str
    of: int | str | None
    inference: str
    level: float
    n: int
    names: tuple[str, str]
    assumptions: tuple[str, ...]
    others: "tuple[Decision, ...]" = ()
    p_value: float = math.nan
    estimate_interval: Interval | None = None
    notes: tuple[Note, ...] = ()
    signature: Signature
    asked: AskedPairs = field(metadata={"json": False})

    @cached_property
    def breakdown(self) -> Breakdown | None:
        """How many wrong labels the verdict holds up to."""
        spec, question = self.asked.spec, self.asked.question
        unknown = question.clusters is not None and spec.by_overlap
        if self.verdict == "inconclusive" or question.measure != "accuracy" or unknown:
            return None
        return Breakdown(labels=int(breakdown(question, spec, outcomes=self.asked.outcomes)[0]), n=self.n)

    @cached_property
    def expert_breakdown(self) -> ExpertBreakdown | None:
        """How many wrong labels of the expert the verdict holds up to, in the worst case."""
        spec, question, outcomes = self.asked.spec, self.asked.question, self.asked.outcomes
        known = outcomes.details.get("expert_breakdown")
        if known is not None:
            return known if isinstance(known, ExpertBreakdown) else None
        audit, verdict = question.audit, self.verdict
        if verdict == "inconclusive" or "audit" not in spec.uses or question.measure != "accuracy" or audit is None:
            return None
        # The proved verdict takes the expert for right.
        random = question.expert_error and question.expert_errors == "random"
        if question.exact or audit.design == "selective" or random:
            return None
        question = replace(question, true_labels=None)
        disagreements = question.counts().disagreements
        d = int(disagreements[0])
        # The claim is that the interval, without what the expert may have wrong, lies beyond that.
        low = float(outcomes.low[0] if verdict == "candidate" else -outcomes.high[0])
        spare = low * self.n + int(allowed_rows(question, disagreements)[0])

        def stands(wrong: int) -> bool:
            if spec.name == "audit" and question.inference != "overlap":
                return 2 * wrong < spare - 1e-6
            found = spec(replace(question, expert_error=wrong / d, expert_errors="adversarial"))
            return bool((found.candidate if verdict == "candidate" else found.baseline)[0])

        return ExpertBreakdown(labels=largest_allowance(stands, max((d - 1) // 2, 0)), disagreements=d)

    @cached_property
    def details(self) -> Mapping[str, Any]:
        """Disagreements by class, the comparison that an audit would allow, and quantities of the method."""
        spec, question, data = self.asked.spec, self.asked.question, self.asked.question.data
        details = {
            name: values[0] if isinstance(values, np.ndarray) and values.shape[:1] == (1,) else values
            for name, values in self.asked.outcomes.details.items()
            if name != "expert_breakdown"
        }
        pair = int(question.baseline[0]), int(question.candidate[0])
        if question.measure == "accuracy":
            counts = question.counts()
            details = {
                "label_says_baseline": int(counts.lost[0]),
                "label_says_candidate": int(counts.won[0]),
                "label_says_neither": int(counts.neither[0]),
                "by_class": _by_class(question),
                **details,
            }
            if question.audit is not None and "audit" in spec.uses and question.audit.design != "selective":
                details["wrong_labels_estimated"] = question.audit.wrong_labels(data.labels)
            # Others judge by other labels, so that an audit of the given ones changes nothing, or have an audit.
            if not {"true_labels", "cleaning", "reference", "audit"} & set(spec.needs) and question.clusters is None:
                details["prospect"] = prospect(question)
        if question.clusters is not None:
            worth = effective_rows(data, question.measure, question.of, pair, question.clusters)
            details |= {"groups": question.clusters.count, "effective_rows": worth}
        return details

    @property
    def choice(self) -> Literal["baseline", "candidate"]:
        """The classifier to use: the baseline, unless the candidate is significantly better."""
        return "candidate" if self.verdict == "candidate" else "baseline"

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None)."""
        parts = {key: plain(getattr(self, key)) for key in ("breakdown", "expert_breakdown", "details")}
        return {**super().to_dict(), **parts}

    def to_frame(self) -> "pd.DataFrame":
        """Return one row for each measure."""
        import pandas as pd

        rows = [
            {
                "baseline": one.names[0],
                "candidate": one.names[1],
                "measure": one.measure,
                "of": one.of,
                "verdict": one.verdict,
                "choice": one.choice,
                "difference": one.difference,
                "low": one.interval.low,
                "high": one.interval.high,
                "inference": one.inference,
                "level": one.level,
                "p_value": one.p_value,
                "breakdown_rate": math.nan if one.breakdown is None else one.breakdown.rate,
                "method": one.method,
                "n": one.n,
            }
            for one in (self, *self.others)
        ]
        return pd.DataFrame(rows)

    def document(self) -> Document:
        """Return the document: figures, tables and sentences."""
        return decision_document(self)


def decision(spec: MethodSpec, question: Question, outcomes: Outcomes, *, measure: str) -> Decision:
    """Return the decision on a question about one pair."""
    verdict: Verdict = "candidate" if outcomes.candidate[0] else "baseline" if outcomes.baseline[0] else "inconclusive"
    models, data = (int(question.baseline[0]), int(question.candidate[0])), question.data
    widest = 1.0 - lowest_value(measure)
    low, high = max(float(outcomes.low[0]), -widest), min(float(outcomes.high[0]), widest)
    difference = float(outcomes.difference[0])
    if measure == "error":
        difference, low, high = -difference, -high, -low
    interval = Interval(low=low, high=high, level=question.level, method=outcomes.method, kind=outcomes.kind)
    return Decision(
        verdict=verdict,
        difference=difference,
        interval=interval,
        baseline=estimate(question, models[0], outcomes.baseline_interval, 0, outcomes, measure),
        candidate=estimate(question, models[1], outcomes.candidate_interval, 0, outcomes, measure),
        method=spec.name,
        measure=measure,
        of=question.class_of(measure),
        inference=question.inference,
        level=question.level,
        n=data.n,
        names=(data.names[models[0]], data.names[models[1]]),
        estimate_interval=_undirected(question, measure, interval),
        assumptions=outcomes.assumptions,
        p_value=math.nan if outcomes.p_value is None else float(outcomes.p_value[0]),
        notes=(
            *outcomes.notes,
            *comparison_notes(spec, question),
            *(weighted_audit_note(spec, question) if verdict == "inconclusive" else ()),
        ),
        signature=signature(spec, question, measure),
        asked=AskedPairs(spec, question, outcomes),
    )


def _undirected(question: Question, measure: str, verdict: Interval) -> Interval | None:
    """Return the interval for wrong labels that side with neither classifier, if it was asked for."""
    audit, data = question.audit, question.data
    if question.errors != "undirected" or audit is None:
        return None
    first, second = data.predictions[question.baseline[0]], data.predictions[question.candidate[0]]
    given = signs(first, second, data.labels)
    truth = signs(first[audit.rows], second[audit.rows], audit.labels)
    sampled = question.inference != "test_set"
    unseen = int(np.count_nonzero(first != second) - np.count_nonzero(first[audit.rows] != second[audit.rows]))
    _, low, high = undirected_interval(
        given, given[audit.rows], truth, level=question.level, sampled=sampled, unseen=unseen
    )
    if measure == "error":
        low, high = -high, -low
    if high - low > verdict.high - verdict.low:  # it assumes more, so it need not say less
        low, high = verdict.low, verdict.high
    kind = "sampling" if sampled else "design"
    return Interval(low=low, high=high, level=question.level, method=UNDIRECTED, kind=kind)


def _by_class(question: Question) -> tuple[dict[str, Any], ...]:
    """Count the disagreements by given label; classes without one are left out."""
    data = question.data
    first, second = data.predictions[question.baseline[0]], data.predictions[question.candidate[0]]
    apart = np.flatnonzero(first != second)
    labels = data.labels[apart]
    kinds = np.select([second[apart] == labels, first[apart] == labels], [1, 0], 2)
    table = np.bincount(3 * labels + kinds, minlength=3 * data.k).reshape(-1, 3)
    return tuple(
        {"class": data.vocabulary.classes[k], "lost": int(lost), "won": int(won), "neither": int(neither)}
        for k, (lost, won, neither) in enumerate(table)
        if lost + won + neither
    )
