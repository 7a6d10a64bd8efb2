"""What a comparison of two classifiers returns."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from demele.classifiers.audit_plausibility import audit_notes
from demele.classifiers.comparison.documents import decision_document
from demele.classifiers.comparison.methods import MethodSpec, cleaned_data
from demele.classifiers.comparison.table_difference import own_ends, table_notes
from demele.classifiers.comparison.worst_case import GroupedPairs, group_counts, mcnemar_p, paired_test
from demele.classifiers.intervals import largest
from demele.classifiers.measures.audit_interval import unseen_notes
from demele.classifiers.measures.confusion import class_notes, largest_class_notes, unpredicted_notes
from demele.classifiers.question import Groups, Outcomes, Question, allowed_rows, as_value, group_notes, row_counts
from demele.classifiers.results import Estimate, Verdict
from demele.classifiers.table_measures import TABLE_MEASURES, lowest_value, row_effects, table_value
from demele.core.arrays import Counts, Flags, Floats, pd
from demele.core.proportions import proportion, score_interval
from demele.core.result import Interval, Note, Result, plain
from demele.core.signature import Signature
from demele.noise.transition import digest


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
        if verdict == "inconclusive" or spec.needs != "audit" or question.measure != "accuracy" or audit is None:
            return None
        # The proved verdict takes the expert for right.
        if question.exact or audit.design == "selective":
            return None
        disagreements = question.counts().disagreements
        d = int(disagreements[0])
        # The claim is that the interval, without what the expert may have wrong, lies beyond that.
        low = float(outcomes.low[0] if verdict == "candidate" else -outcomes.high[0])
        spare = low * self.n + int(allowed_rows(question, disagreements)[0])

        def stands(wrong: Any) -> Any:
            if spec.name == "audit" and question.inference != "overlap":
                return 2 * wrong < spare - 1e-6
            found = spec(replace(question, expert_error=wrong / d))
            return bool((found.candidate if verdict == "candidate" else found.baseline)[0])

        return ExpertBreakdown(labels=int(largest(stands, 0, (d + 1) // 2)), disagreements=d)

    @cached_property
    def details(self) -> Mapping[str, Any]:
        """Disagreements by class, and quantities of the method."""
        spec, question, data = self.asked.spec, self.asked.question, self.asked.question.data
        details = {
            name: values[0] if isinstance(values, np.ndarray) and values.shape[:1] == (1,) else values
            for name, values in self.asked.outcomes.details.items()
            if name != "expert_breakdown"
        }
        if question.measure == "accuracy":
            first, second = data.predictions[question.baseline[0]], data.predictions[question.candidate[0]]
            apart = np.flatnonzero(first != second)
            labels = data.labels[apart]
            kinds = np.select([first[apart] == labels, second[apart] == labels], [0, 1], 2)
            table = np.bincount(3 * labels + kinds, minlength=3 * data.k).reshape(-1, 3)
            said = zip(("baseline", "candidate", "neither"), table.sum(axis=0).tolist(), strict=True)
            by_class = tuple(
                {"class": data.vocabulary.classes[k]} | dict(zip(("lost", "won", "neither"), row.tolist(), strict=True))
                for k, row in enumerate(table)
                if row.any()
            )
            details = {**{f"label_says_{who}": n for who, n in said}, "by_class": by_class, **details}
            if question.audit is not None and spec.needs == "audit" and question.audit.design != "selective":
                details["wrong_labels_estimated"] = question.audit.wrong_labels(data.labels)
        if question.clusters is not None:
            worth = effective_rows(question, question.clusters)
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
        return pd.concat([pair_frame(one.asked, one.measure) for one in (self, *self.others)], ignore_index=True)

    document = decision_document


def decision(spec: MethodSpec, question: Question, outcomes: Outcomes, *, measure: str) -> Decision:
    """Return the decision on a question about one pair."""
    verdict: Verdict = "candidate" if outcomes.candidate[0] else "baseline" if outcomes.baseline[0] else "inconclusive"
    data, roles = question.data, (int(question.baseline[0]), int(question.candidate[0]))
    difference, low, high = (float(part[0]) for part in shown_difference(outcomes, measure))
    baseline, candidate = (
        estimate(question, model, measure, outcomes, None if ends is None else (ends[0][0], ends[1][0]), question.level)
        for model, ends in zip(roles, (outcomes.baseline_interval, outcomes.candidate_interval), strict=True)
    )
    notes, audit = outcomes.notes + comparison_notes(spec, question), question.audit
    partial = audit is not None and spec.name == "audit" and audit.design == "uniform" and audit.k < audit.n
    if partial and audit is not None and verdict == "inconclusive" and question.measure == "accuracy":
        counts = question.counts()
        # Not where no audit shows what the expert may have wrong.
        if not question.expert_error or abs(counts.gap[0]) > allowed_rows(question, counts.disagreements)[0]:
            least = 2 * (1 - question.tail ** (1 / audit.k))
            message = f"a uniform audit of {audit.k} rows leaves {100 * least:.1f} points open even if it meets no"
            message += " wrong label; draw more rows where classifiers disagree (`draw_audit(disagreement=)`)"
            notes += (Note(code="weighted-audit", message=message),)
    return Decision(
        verdict=verdict,
        difference=difference,
        interval=Interval(low=low, high=high, level=question.level, method=outcomes.method, kind=outcomes.kind),
        baseline=baseline,
        candidate=candidate,
        method=spec.name,
        measure=measure,
        of=question.class_of(measure),
        inference=question.inference,
        level=question.level,
        n=data.n,
        names=(data.names[roles[0]], data.names[roles[1]]),
        assumptions=outcomes.assumptions,
        p_value=math.nan if outcomes.p_value is None else float(outcomes.p_value[0]),
        notes=notes,
        signature=signature(spec, question, measure),
        asked=AskedPairs(spec, question, outcomes),
    )


# Parts of a decision and of a ranking: estimates, notes and the signature ---------------------------------------------


def comparison_notes(spec: MethodSpec, question: Question) -> tuple[Note, ...]:
    """Return notes on the audit, the groups, weak classifiers, classes, and options that the method does not use."""
    audit, data = question.audit, question.data
    notes: tuple[Note, ...] = ()
    if audit is not None and spec.needs == "audit":
        notes = (*audit.notes(data.labels), *audit_notes(data, audit))
        if question.measure in ("recall", "f1") and spec.name == "audit":
            inference: Any = "test_set" if question.inference == "test_set" else "population"
            notes += unseen_notes(data, audit, int(question.of or 0), question.level, inference)
    groups = question.clusters
    if groups is None:
        notes += group_notes(question.groups, used=False)
    else:  # with the number of independent rows that they are worth, for a single pair
        worth = effective_rows(question, groups) if question.n_pairs == 1 else None
        largest = float(GroupedPairs.asked(question).largest.max())
        notes += group_notes(groups, used=True, apart=worth, largest=largest)
    compared = sorted({*question.baseline.tolist(), *question.candidate.tolist()})
    if len(compared) < len(data.names):
        names = tuple(data.names[model] for model in compared)
        data = replace(data, predictions=data.predictions[compared], names=names)
    if question.of_table:
        notes += table_notes(replace(question, data=data))
    # Where a third classifier stands for the labels, agreement with it is compared, not accuracy.
    elif question.measure == "accuracy" and spec.name != "agreement":
        notes += largest_class_notes(data, level=question.level, groups=groups)
    if spec.name != "agreement":
        notes += (*class_notes(data), *unpredicted_notes(data))
    selective = spec.name == "audit" and audit is not None and audit.design == "selective"
    used = {spec.needs, "noise" if selective or spec.name == "sequential" else ""}
    for option in ("noise", "audit"):
        if getattr(question, option) is not None and option not in used:
            message = f"method {spec.name!r} does not use {option}; the verdict would be the same without it"
            if option == "noise" and audit is not None and isinstance(question.noise, float):
                found = audit.wrong_labels(data.labels) / data.n
                refuted = f"; the audit estimates {found:.1%} wrong labels, more than the {question.noise:.1%} supplied"
                message += refuted * bool(found > question.noise)
            notes += (Note(code="unused", message=message, subject=(option,), severity="warning"),)
    return notes


def effective_rows(question: Question, groups: Groups) -> float:
    """Return how many rows apart would say as much of the difference of the first pair, by the given labels.

    The number of rows over the design effect of what each row adds to the difference, linearised; NaN where nothing
    differs.
    """
    data, measure = question.data, question.measure
    effect = np.zeros(data.n)
    for sign, model in ((-1, int(question.baseline[0])), (1, int(question.candidate[0]))):
        if measure in TABLE_MEASURES:
            effect += sign * row_effects(data, measure, model)
            continue
        hits, trials = row_counts(data, measure, question.of, model)
        total = float(np.sum(trials))
        if total:
            effect += sign * (hits - float(np.sum(hits)) / total * trials) / total
    apart = float(effect @ effect)
    between = groups.spread() * float((groups.sums(effect) ** 2).sum())
    return data.n / max(between / apart, 1.0) if apart > 0 else float("nan")


def signature(spec: MethodSpec, question: Question, measure: str) -> Signature:
    """Return everything but the data that changes a decision; arrays that a method looks at by their digest."""

    def digest_of(*arrays: Any) -> str | None:
        return None if arrays[0] is None else digest(*arrays)

    audit, clusters = question.audit, question.clusters
    arguments = {
        "method": spec.name,
        "measure": measure,
        "of": question.class_of(measure),
        "level": question.level,
        "inference": question.inference,
        "noise": question.noise,
        "audit": audit,
        "prudence": question.prudence if spec.name == "hard-rows" else None,
        "exact": question.exact or None,
        "expert_error": question.expert_error or None,
        "seed": question.seed or None,
    }
    met = {
        "groups": None if clusters is None else digest(clusters.codes),
        "difficulty": digest_of(question.difficulty),
        "cleaning": digest_of(question.suspects, question.suggested),
        "reference": digest_of(question.reference),
        "true_labels": digest_of(question.true_labels),
        "least_probability": f"{audit.least:.6g}" if question.exact and audit is not None and audit.least else None,
        # All models of a ranking vote on the true classes, so a pair alone is another question.
        "models": len(question.data.predictions) if spec.name == "audit" and question.of_table else None,
    }
    known, found = ({key: one for key, one in part.items() if one is not None} for part in (arguments, met))
    return Signature.of("compare", known, n=question.data.n, **found)


def estimate(question: Question, model: int, measure: str, outcomes: Outcomes, ends: Any, level: float) -> Estimate:
    """Return the measure of one classifier: observed, and on true labels, as a method makes their ends, if it does."""
    if question.of_table:  # intervals are left out where the measure is not defined
        value, (low, high) = float(table_value(question.data, measure)[model]), own_ends(question, model)
        method, hits, trials = "linearised" + ", of groups" * (question.clusters is not None), math.nan, math.nan
    else:
        hits, trials = (float(every[model]) for every in question.proportions)
        parts = (proportion(hits, trials), *(end[model] for end in question.score_ends))
        value, low, high = (float(as_value(part, question.measure)) for part in parts)
        method = "score"
    if measure == "error":
        value, hits, low, high = 1 - value, question.data.n - hits, 1 - high, 1 - low
    true = None
    if ends is not None and not math.isnan(ends[0]):
        least, most = (float(end) for end in ends)
        if measure == "error":
            least, most = 1 - most, 1 - least
        if not question.of_table:
            least, most = max(least, 0.0), min(most, 1.0)
        true = Interval(low=least, high=most, level=level, method=outcomes.method, kind=outcomes.kind)
    return Estimate(
        measure=measure,
        of=question.class_of(measure),
        value=value,
        successes=hits,
        trials=trials,
        interval=None if math.isnan(low) else Interval(low=low, high=high, level=question.level, method=method),
        corrected=true,
    )


def pair_frame(asked: AskedPairs, measure: str) -> "pd.DataFrame":
    """Return a row for each pair: its verdict, its difference, and what the labels of the disagreements say."""
    question, outcomes, data = asked.question, asked.outcomes, asked.question.data
    names = np.array(data.names, dtype=object)
    verdict = np.where(outcomes.candidate, "candidate", np.where(outcomes.baseline, "baseline", "inconclusive"))
    difference, low, high = shown_difference(outcomes, measure)
    counts, holds = question.counts(), np.full(question.n_pairs, math.nan)
    if question.measure == "accuracy":
        labels = np.asarray(breakdown(question, asked.spec, outcomes=outcomes), dtype=np.float64)
        holds = np.where((verdict == "inconclusive") | (labels < 0), math.nan, labels / data.n)
    return pd.DataFrame(
        {
            "baseline": names[question.baseline],
            "candidate": names[question.candidate],
            "measure": measure,
            "of": question.class_of(measure),
            "verdict": verdict.astype(object),
            "choice": np.where(outcomes.candidate, "candidate", "baseline").astype(object),
            "difference": difference,
            "low": low,
            "high": high,
            "inference": question.inference,
            "level": question.level,
            "p_value": math.nan if outcomes.p_value is None else outcomes.p_value,
            "breakdown_rate": holds,
            "method": asked.spec.name,
            "n": data.n,
            "lost": counts.lost,
            "won": counts.won,
            "neither": counts.neither,
        }
    )


def shown_difference(outcomes: Outcomes, measure: str) -> tuple[Floats, Floats, Floats]:
    """Return the interval of each difference, within what the measure allows; of the error with the other sign."""
    widest = 1.0 - lowest_value(measure)
    low, high = np.maximum(outcomes.low, -widest), np.minimum(outcomes.high, widest)
    difference = outcomes.difference
    return (-difference, -high, -low) if measure == "error" else (difference, low, high)


# The breakdown point of a verdict on accuracy: the number of wrong labels that it holds up to in the worst case -------


def breakdown(question: Question, method: MethodSpec, *, outcomes: Outcomes | None = None) -> Counts:
    """Return the largest number of wrong labels that each verdict holds up to in the worst case.

    Parameters
    ----------
    question : Question
        On accuracy.
    method : MethodSpec
        Says what "stands" means, for the labels that the method used (those left or replaced by a cleaning, the true
        ones). For methods by overlap, and for the inference ``"overlap"``: the two score intervals would stay apart on
        every set of true labels. For the inference ``"test_set"``: the difference keeps its sign. For the inference
        ``"population"``: McNemar's exact test at ``question.tail`` would still reject, or the paired test of groups. It
        looks at the labels alone, without the audit or the noise that a method also used.
    outcomes : Outcomes, optional
        What the method said: only the claim that it makes is then followed. Otherwise the one that holds without noise.

    Returns
    -------
    array of int64, shape (n_pairs,)
        -1 where the claim does not hold even if every label is right, for ``"agreement"``, which uses no label, and
        where the intervals of groups overlap: their width on other labels is not known.

    Notes
    -----
    With a = lost and b = won, and m wrong labels, the least favourable true labels count a + m against b - m as long
    as the claim has a chance (m < b), so for the population m = b - c, where c is the least c with
    P(Bin(a + b, 1/2) >= c) <= tail; for the sample m = ceil((b - a) / 2) - 1; for overlap the largest m such that the
    interval of h2 - m of n is above that of h1 + m of n. All are exact: with one wrong label more, some true labels
    undo the claim.
    """
    if method.name == "agreement" or (question.clusters is not None and method.by_overlap):
        return np.full(question.n_pairs, -1)
    if method.name == "true-labels" and question.true_labels is not None:
        question = replace(question, data=question.data.relabelled(question.true_labels))
    elif method.name == "cleaned":
        question = replace(question, data=cleaned_data(question))
    # Only one claim of a pair can hold: the one that was made, else that of the model with more labels.
    counts = question.counts()
    turned = counts.lost > counts.won if outcomes is None else outcomes.baseline
    question = replace(
        question,
        baseline=np.where(turned, question.candidate, question.baseline),
        candidate=np.where(turned, question.baseline, question.candidate),
    )
    counts, groups = question.counts(), question.clusters
    (baseline, candidate), trials = question.successes(), np.full(question.n_pairs, float(question.data.n))
    sums = [] if groups is None else [group_counts(question, groups, pair) for pair in range(question.n_pairs)]

    def stands(wrong: Counts) -> Flags:
        """Whether the claims hold on the least favourable true labels."""
        if method.by_overlap or question.inference == "overlap":
            low, _ = score_interval(np.maximum(candidate - wrong, 0), trials, level=question.level)
            _, high = score_interval(np.minimum(baseline + wrong, trials), trials, level=question.level)
            return np.asarray(low > high)
        if question.inference == "test_set":
            return np.asarray(counts.gap > 2 * wrong)
        if groups is None:
            return np.asarray(mcnemar_p(counts.lost + wrong, counts.won - wrong) <= question.tail)
        tests = zip(sums, (2 * wrong).tolist(), strict=True)
        return np.array([paired_test(one, drop, groups, question.tail)[0] > 0 for one, drop in tests])

    # Where all labels with the candidate are wrong, no claim holds.
    found: Counts = largest(stands, np.full(question.n_pairs, -1), counts.won + 1)
    return found if outcomes is None else np.where(outcomes.candidate | outcomes.baseline, found, -1)
