"""A method's outcome for one pair, presented as a decision."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from demele.core.labelled import Labelled
from demele.core.results import Interval, Note
from demele.core.sentences import in_code
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.evaluation.comparison.audit_estimate import UNDIRECTED, undirected_interval
from demele.evaluation.comparison.bounded import BY_OVERLAP, breakdown
from demele.evaluation.comparison.decision import Breakdown, Decision, ExpertBreakdown
from demele.evaluation.comparison.grouped import GroupedPairs
from demele.evaluation.comparison.methods import MethodSpec
from demele.evaluation.comparison.prospect import prospect
from demele.evaluation.comparison.prudent import DEFAULT_PRUDENCE
from demele.evaluation.comparison.sequential_plan import signs
from demele.evaluation.comparison.table_difference import own_ends, table_notes
from demele.evaluation.expert_errors import allowed_rows, largest_allowance
from demele.evaluation.measures.audit_interval import unseen_notes
from demele.evaluation.measures.audit_plausibility import audit_notes
from demele.evaluation.measures.largest_class import class_notes, largest_class_notes, unpredicted_notes
from demele.evaluation.question import Outcomes, Question, as_value
from demele.evaluation.results import OF_POSITIVE, Estimate, Verdict
from demele.evaluation.row_groups import effective_rows, group_notes
from demele.evaluation.table_measures import lowest_value, table_value
from demele.noise.square_tables import digest

#: Methods that judge by other labels than the given ones (an audit of these would change nothing), or that do not read
#: an audit as a whole (the prospect is of audits of a fixed size).
_NO_PROSPECT = ("true-labels", "cleaned", "agreement", "audit", "sequential")


#: Methods that look at an audit.
_AUDITED = ("audit", "sequential")


@dataclass(frozen=True)
class AskedPair:
    """One pair, and what a method says of it: the parts of a decision that are made when they are read."""

    spec: MethodSpec
    question: Question
    outcomes: Outcomes

    @property
    def verdict(self) -> Verdict:
        """Which is shown to be better, if any."""
        return (
            "candidate" if self.outcomes.candidate[0] else "baseline" if self.outcomes.baseline[0] else "inconclusive"
        )

    def details(self) -> dict[str, Any]:
        """Return the disagreements, what an audit would show of them, and what the method has to say."""
        spec, question, data = self.spec, self.question, self.question.data
        groups = question.clusters
        details = {
            name: values[0] if isinstance(values, np.ndarray) and values.shape[:1] == (1,) else values
            for name, values in self.outcomes.details.items()
            if name != "expert_breakdown"
        }
        models = int(question.baseline[0]), int(question.candidate[0])
        if question.measure == "accuracy":
            counts = question.counts()
            details = {
                "label_says_baseline": int(counts.lost[0]),
                "label_says_candidate": int(counts.won[0]),
                "label_says_neither": int(counts.neither[0]),
                "by_class": _by_class(data, *models),
                **details,
            }
            if question.audit is not None and spec.name in _AUDITED and question.audit.design != "selective":
                details["wrong_labels_estimated"] = question.audit.wrong_labels(data.labels)
            if spec.name not in _NO_PROSPECT and groups is None:
                details["prospect"] = prospect(question)
        if groups is not None:
            worth = effective_rows(data, question.measure, question.of, models, groups)
            details |= {"groups": groups.count, "effective_rows": worth}
        return details

    def breakdown(self) -> Breakdown | None:
        """Return how many wrong labels a verdict on accuracy holds up to."""
        spec, question = self.spec, self.question
        unknown = question.clusters is not None and spec.name in BY_OVERLAP
        if self.verdict == "inconclusive" or question.measure != "accuracy" or unknown:
            return None
        return Breakdown(labels=int(breakdown(question, spec.name, outcomes=self.outcomes)[0]), n=question.data.n)

    def expert_breakdown(self) -> ExpertBreakdown | None:
        """Return how many of the expert's labels may be wrong, wherever they are, while the verdict stands."""
        spec, question, outcomes, verdict = self.spec, self.question, self.outcomes, self.verdict
        known = outcomes.details.get("expert_breakdown")
        if known is not None:
            return known if isinstance(known, ExpertBreakdown) else None
        audit = question.audit
        if verdict == "inconclusive" or spec.name not in _AUDITED or question.measure != "accuracy" or audit is None:
            return None
        # The proved verdict takes the expert for right.
        random = question.expert_error and question.expert_errors == "random"
        if question.exact or audit.design == "selective" or random:
            return None
        one = replace(question, true_labels=None)
        disagreements = one.counts().disagreements
        d, n = int(disagreements[0]), question.data.n
        most = max((d - 1) // 2, 0)

        def stands(wrong: int) -> bool:
            asked = spec(replace(one, expert_error=wrong / d, expert_errors="adversarial"))
            return bool((asked.candidate if verdict == "candidate" else asked.baseline)[0])

        if spec.name == "audit" and question.inference != "overlap":
            # The claim is that the interval, without what the expert may have wrong, lies beyond that: no need to ask.
            low = float(outcomes.low[0] if verdict == "candidate" else -outcomes.high[0])
            spare = low * n + int(allowed_rows(one, disagreements)[0])

            def stands(wrong: int) -> bool:
                return 2 * wrong < spare - 1e-6

        return ExpertBreakdown(labels=largest_allowance(stands, most), disagreements=d)


def decision(spec: MethodSpec, question: Question, outcomes: Outcomes, *, measure: str) -> Decision:
    """Present what a method says of a question about one pair."""
    asked, data = AskedPair(spec, question, outcomes), question.data
    models = (int(question.baseline[0]), int(question.candidate[0]))
    widest = 1.0 - lowest_value(measure)
    low, high = max(float(outcomes.low[0]), -widest), min(float(outcomes.high[0]), widest)
    difference = float(outcomes.difference[0])
    if measure == "error":
        difference, low, high = -difference, -high, -low
    interval = Interval(low=low, high=high, level=question.level, method=outcomes.method, kind=outcomes.kind)
    return Decision(
        verdict=asked.verdict,
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
        estimate_interval=_estimate_interval(question, *models, measure, interval),
        assumptions=outcomes.assumptions,
        p_value=math.nan if outcomes.p_value is None else float(outcomes.p_value[0]),
        notes=(*outcomes.notes, *remarks(spec, question), *_open_audit(spec, question, asked.verdict)),
        signature=signature(spec, question, measure),
        asked=asked,
    )


def remarks(spec: MethodSpec, question: Question) -> tuple[Note, ...]:
    """Say what the audit found, if it can be a random one; what is not looked at; who is no better than a constant."""
    audit = question.audit
    found: tuple[Note, ...] = ()
    if audit is not None and spec.name in _AUDITED:
        found = (*audit.notes(question.data.labels), *audit_notes(question.data, audit))
        if question.measure in ("recall", "f1") and spec.name == "audit":
            inference: Any = "test_set" if question.inference == "test_set" else "population"
            found += unseen_notes(question.data, audit, int(question.of or 0), question.level, inference)
    by_noise = ("worst-case-overlap", "worst-case", "sequential")
    uses = {
        "noise": (*by_noise, "audit") if audit is not None and audit.design == "selective" else by_noise,
        "audit": _AUDITED,
        "difficulty": ("hard-rows",),
        "prudence": ("hard-rows",),
        "suspects": ("cleaned",),
        "reference": ("agreement",),
        "true_labels": ("true-labels",),
    }
    told = {name: {"suspects": "cleaning"}.get(name, name) for name in uses}
    compared = sorted({*question.baseline.tolist(), *question.candidate.tolist()})
    alone = question.data
    if len(compared) < len(alone.names):
        names = tuple(alone.names[model] for model in compared)
        alone = replace(alone, predictions=alone.predictions[compared], names=names)
    # Where a third classifier stands for the labels, agreement with it is what is asked, not accuracy.
    weak: tuple[Note, ...] = ()
    if question.of_table:
        weak = table_notes(replace(question, data=alone))
    elif question.measure == "accuracy" and spec.name != "agreement":
        weak = largest_class_notes(alone, level=question.level, groups=question.clusters)
    unused = (
        Note(
            code="unused",
            message=f"method {spec.name!r} does not use {told[name]}; the verdict would be the same without it",
            subject=(told[name],),
            severity="warning",
        )
        for name, methods in uses.items()
        if getattr(question, name) is not None and spec.name not in methods
    )
    unpredicted = (*class_notes(alone), *unpredicted_notes(alone)) if spec.name != "agreement" else ()
    return (*found, *_group_notes(question), *weak, *unpredicted, *unused)


def _group_notes(question: Question) -> tuple[Note, ...]:
    """Say what groups there are, and what the rows are worth for the one pair that is asked about."""
    groups = question.clusters
    if groups is None:
        return group_notes(question.groups, used=False)
    worth = None
    if question.n_pairs == 1:
        pair = int(question.baseline[0]), int(question.candidate[0])
        worth = effective_rows(question.data, question.measure, question.of, pair, groups)
    largest = float(GroupedPairs.asked(question, groups).largest.max())
    return group_notes(groups, used=True, apart=worth, largest=largest)


def _estimate_interval(
    question: Question, baseline: int, candidate: int, measure: str, verdict: Interval
) -> Interval | None:
    """Return the interval for wrong labels that side with neither classifier, if it was asked for."""
    audit, data = question.audit, question.data
    if question.errors != "undirected" or audit is None:
        return None
    first, second = data.predictions[baseline], data.predictions[candidate]
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


def _open_audit(spec: MethodSpec, question: Question, verdict: Verdict) -> tuple[Note, ...]:
    """Say of an open verdict what a uniform audit cannot show, and what a weighted one can."""
    audit = question.audit
    if spec.name != "audit" or verdict != "inconclusive" or audit is None or audit.design != "uniform":
        return ()
    if audit.k >= audit.n or question.measure != "accuracy":
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
        f"({in_code('demele.labels.draw_audit with disagreement=', otherwise='demele audit --disagreement')})"
    )
    return (Note(code="weighted-audit", message=message),)


def signature(spec: MethodSpec, question: Question, measure: str) -> Signature:
    """Everything beside the data that changes a decision; arrays that a method looks at by their digest."""
    arguments: dict[str, object] = {"method": spec.name, "measure": measure}
    if question.of is not None:
        arguments["positive" if measure in OF_POSITIVE else "of"] = question.class_of(measure)
    arguments |= {"level": question.level, "inference": question.inference}
    for name in ("noise", "audit", "prudence"):
        if getattr(question, name) is not None:
            arguments[name] = getattr(question, name)
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
    looked_at: dict[str, tuple[str, tuple[object, ...]]] = {
        "hard-rows": ("difficulty", (question.difficulty,)),
        "cleaned": ("cleaning", (question.suspects, question.suggested)),
        "agreement": ("reference", (question.reference,)),
        "true-labels": ("true_labels", (question.true_labels,)),
    }
    met = {"n": str(question.data.n)}
    if question.clusters is not None:
        met["groups"] = digest(question.clusters.codes)
    if spec.name in looked_at:
        name, parts = looked_at[spec.name]
        met[name] = digest(*parts)
    if question.exact and question.audit is not None and question.audit.least is not None:
        met["least_probability"] = f"{question.audit.least:.6g}"
    if spec.name == "audit":  # all models of a ranking vote on the true classes, so a pair alone is another question
        met["models"] = str(len(question.data.predictions))
    return Signature("compare", arguments, {**met, "demele": __version__})


def estimate(
    question: Question, model: int, ends: tuple[Any, Any] | None, pair: int, outcomes: Outcomes, measure: str
) -> Estimate:
    """Present the measure of one classifier: observed, and as a method corrects it."""
    if question.of_table:
        return _table_estimate(question, model, ends, pair, outcomes)
    every = question.proportions
    parts = (every.proportion, *question.score_ends)
    value, *observed = (float(as_value(part[model], question.measure)) for part in parts)
    hits = float(every.successes[model])
    corrected = None if ends is None else (float(ends[0][pair]), float(ends[1][pair]))
    if measure == "error":
        value, hits, observed = 1 - value, question.data.n - hits, [1 - observed[1], 1 - observed[0]]
        corrected = None if corrected is None else (1 - corrected[1], 1 - corrected[0])
    return Estimate(
        measure=measure,
        of=question.class_of(measure),
        value=value,
        successes=hits,
        trials=float(every.trials[model]),
        interval=Interval(low=observed[0], high=observed[1], level=question.level, method="score"),
        corrected=None
        if corrected is None
        else Interval(
            low=max(corrected[0], 0.0),
            high=min(corrected[1], 1.0),
            level=question.level,
            method=outcomes.method,
            kind=outcomes.kind,
        ),
    )


def _table_estimate(
    question: Question, model: int, ends: tuple[Any, Any] | None, pair: int, outcomes: Outcomes
) -> Estimate:
    """Present a measure of all classes; intervals are left out where it is not defined."""
    low, high = own_ends(question, model)
    level = question.level
    interval = corrected = None
    if math.isfinite(low):
        method = "linearised" if question.clusters is None else "linearised, of groups"
        interval = Interval(low=low, high=high, level=level, method=method)
    if ends is not None and math.isfinite(ends[0][pair]):
        low, high = float(ends[0][pair]), float(ends[1][pair])
        corrected = Interval(low=low, high=high, level=level, method=outcomes.method, kind=outcomes.kind)
    value = float(table_value(question.data, question.measure)[model])
    return Estimate(measure=question.measure, of=None, value=value, interval=interval, corrected=corrected)


def _by_class(data: Labelled, baseline: int, candidate: int) -> tuple[dict[str, Any], ...]:
    """Count the disagreements by given label; classes without one are left out."""
    first, second = data.predictions[baseline], data.predictions[candidate]
    apart = np.flatnonzero(first != second)
    labels, kinds = data.labels[apart], np.full(apart.size, 2)
    kinds[first[apart] == labels] = 0
    kinds[second[apart] == labels] = 1
    table = np.bincount(3 * labels + kinds, minlength=3 * data.k).reshape(-1, 3)
    return tuple(
        {"class": data.vocabulary.classes[k], "lost": int(lost), "won": int(won), "neither": int(neither)}
        for k, (lost, won, neither) in enumerate(table)
        if lost + won + neither
    )
