"""Parts of a decision and of a ranking: estimates, notes and the signature."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from demele.core.results import Interval, Note
from demele.core.sentences import in_code
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.evaluation.comparison.grouped import GroupedPairs
from demele.evaluation.comparison.hard_rows import DEFAULT_PRUDENCE
from demele.evaluation.comparison.methods import MethodSpec
from demele.evaluation.comparison.table_difference import own_ends, table_notes
from demele.evaluation.expert_errors import allowed_rows
from demele.evaluation.measures.audit_interval import unseen_notes
from demele.evaluation.measures.audit_plausibility import audit_notes
from demele.evaluation.measures.largest_class import class_notes, largest_class_notes, unpredicted_notes
from demele.evaluation.question import Outcomes, Question, as_value
from demele.evaluation.results import OF_POSITIVE, Estimate
from demele.evaluation.row_groups import effective_rows, group_notes
from demele.evaluation.table_measures import table_value
from demele.noise.square_tables import digest

#: Options of a comparison and the fields of a question that hold them.
_FIELDS = {
    "noise": ("noise",),
    "audit": ("audit",),
    "difficulty": ("difficulty",),
    "prudence": ("prudence",),
    "cleaning": ("suspects", "suggested"),
    "reference": ("reference",),
    "true_labels": ("true_labels",),
}


def comparison_notes(spec: MethodSpec, question: Question) -> tuple[Note, ...]:
    """Return notes on the audit, the groups, weak classifiers, classes, and options that the method does not use."""
    audit, data = question.audit, question.data
    notes: tuple[Note, ...] = ()
    if audit is not None and "audit" in spec.uses:
        notes = (*audit.notes(data.labels), *audit_notes(data, audit))
        if question.measure in ("recall", "f1") and spec.name == "audit":
            inference: Any = "test_set" if question.inference == "test_set" else "population"
            notes += unseen_notes(data, audit, int(question.of or 0), question.level, inference)
    notes += _group_notes(question)
    compared = sorted({*question.baseline.tolist(), *question.candidate.tolist()})
    if len(compared) < len(data.names):
        names = tuple(data.names[model] for model in compared)
        data = replace(data, predictions=data.predictions[compared], names=names)
    if question.of_table:
        notes += table_notes(replace(question, data=data))
    # Where a third classifier stands for the labels, agreement with it is compared, not accuracy.
    elif question.measure == "accuracy" and spec.name != "agreement":
        notes += largest_class_notes(data, level=question.level, groups=question.clusters)
    if spec.name != "agreement":
        notes += (*class_notes(data), *unpredicted_notes(data))
    selective = spec.name == "audit" and audit is not None and audit.design == "selective"
    used = {*spec.uses, *(("noise",) if selective else ())}
    for option, fields in _FIELDS.items():
        if getattr(question, fields[0]) is not None and option not in used:
            message = f"method {spec.name!r} does not use {option}; the verdict would be the same without it"
            notes += (Note(code="unused", message=message, subject=(option,), severity="warning"),)
    return notes


def _group_notes(question: Question) -> tuple[Note, ...]:
    """Return notes on the groups, and the number of independent rows that they are worth for a single pair."""
    groups = question.clusters
    if groups is None:
        return group_notes(question.groups, used=False)
    worth = None
    if question.n_pairs == 1:
        pair = int(question.baseline[0]), int(question.candidate[0])
        worth = effective_rows(question.data, question.measure, question.of, pair, groups)
    largest = float(GroupedPairs.asked(question, groups).largest.max())
    return group_notes(groups, used=True, apart=worth, largest=largest)


def weighted_audit_note(spec: MethodSpec, question: Question) -> tuple[Note, ...]:
    """Say of an inconclusive verdict what a uniform audit cannot show, and what a weighted one can."""
    audit = question.audit
    if spec.name != "audit" or question.measure != "accuracy" or audit is None:
        return ()
    if audit.design != "uniform" or audit.k >= audit.n:
        return ()
    if question.expert_error and question.expert_errors == "adversarial":
        counts = question.counts()
        leads = np.abs(counts.won[0] - counts.lost[0])
        if leads <= allowed_rows(question, counts.disagreements)[0]:  # no audit shows what the expert may have wrong
            return ()
    least = 2 * (1 - question.tail ** (1 / audit.k))
    message = (
        f"a uniform audit of {audit.k} rows cannot rule out wrong labels that it did not meet: even with none met, the "
        f"difference may be {100 * least:.1f} points smaller than the labels say. A weighted audit of as many rows "
        "leaves less open: draw rows more often where classifiers disagree "
        f"({in_code('demele.labels.draw_audit with disagreement=', otherwise='demele audit draw --disagreement')})"
    )
    return (Note(code="weighted-audit", message=message),)


def signature(spec: MethodSpec, question: Question, measure: str) -> Signature:
    """Return everything but the data that changes a decision; arrays that a method looks at by their digest."""
    arguments: dict[str, object] = {"method": spec.name, "measure": measure}
    if question.of is not None:
        arguments["positive" if measure in OF_POSITIVE else "of"] = question.class_of(measure)
    arguments |= {"level": question.level, "inference": question.inference}
    given = {name: getattr(question, name) for name in ("noise", "audit", "prudence")}
    arguments |= {name: value for name, value in given.items() if value is not None}
    if spec.name == "hard-rows":
        arguments.setdefault("prudence", DEFAULT_PRUDENCE)
    if question.exact:
        arguments["exact"] = True
    if question.errors != "any":
        arguments["errors"] = question.errors
    if question.expert_error:
        arguments |= {"expert_error": question.expert_error, "expert_errors": question.expert_errors}
    if question.seed:
        arguments["seed"] = question.seed
    context = {"n": str(question.data.n)}
    if question.clusters is not None:
        context["groups"] = digest(question.clusters.codes)
    for option in ("difficulty", "cleaning", "reference", "true_labels"):
        if option in spec.uses:
            context[option] = digest(*(getattr(question, field) for field in _FIELDS[option]))
    if question.exact and question.audit is not None and question.audit.least is not None:
        context["least_probability"] = f"{question.audit.least:.6g}"
    if spec.name == "audit":  # all models of a ranking vote on the true classes, so a pair alone is another question
        context["models"] = str(len(question.data.predictions))
    return Signature("compare", arguments, {**context, "demele": __version__})


def estimate(
    question: Question, model: int, ends: tuple[Any, Any] | None, pair: int, outcomes: Outcomes, measure: str
) -> Estimate:
    """Return the measure of one classifier: observed, and as a method corrects it."""
    level, interval, corrected = question.level, None, None
    if ends is not None and (math.isfinite(ends[0][pair]) or not question.of_table):
        low, high = float(ends[0][pair]), float(ends[1][pair])
        if measure == "error":
            low, high = 1 - high, 1 - low
        if not question.of_table:
            low, high = max(low, 0.0), min(high, 1.0)
        corrected = Interval(low=low, high=high, level=level, method=outcomes.method, kind=outcomes.kind)
    if question.of_table:  # intervals are left out where the measure is not defined
        low, high = own_ends(question, model)
        if math.isfinite(low):
            method = "linearised" if question.clusters is None else "linearised, of groups"
            interval = Interval(low=low, high=high, level=level, method=method)
        value = float(table_value(question.data, measure)[model])
        return Estimate(measure=measure, of=None, value=value, interval=interval, corrected=corrected)
    every = question.proportions
    parts = (every.proportion, *question.score_ends)
    value, low, high = (float(as_value(part[model], question.measure)) for part in parts)
    hits = float(every.successes[model])
    if measure == "error":
        value, hits, low, high = 1 - value, question.data.n - hits, 1 - high, 1 - low
    return Estimate(
        measure=measure,
        of=question.class_of(measure),
        value=value,
        successes=hits,
        trials=float(every.trials[model]),
        interval=Interval(low=low, high=high, level=level, method="score"),
        corrected=corrected,
    )
