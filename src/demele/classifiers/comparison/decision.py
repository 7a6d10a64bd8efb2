"""What a comparison of two classifiers returns."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from demele.classifiers.audit_plausibility import audit_notes
from demele.classifiers.audited_cells import Cells
from demele.classifiers.comparison.documents import decision_document
from demele.classifiers.comparison.grouped import GroupedPairs, group_counts, grouped_breakdown
from demele.classifiers.comparison.methods import MethodSpec
from demele.classifiers.comparison.overlap import cleaned_data
from demele.classifiers.comparison.table_difference import own_ends, table_notes
from demele.classifiers.comparison.worst_case import mcnemar_p
from demele.classifiers.expert_errors import allowed_rows, largest_allowance
from demele.classifiers.measures.audit_interval import unseen_notes
from demele.classifiers.measures.largest_class import class_notes, largest_class_notes, unpredicted_notes
from demele.classifiers.question import Outcomes, Question, as_value
from demele.classifiers.results import Estimate, Verdict
from demele.classifiers.row_groups import effective_rows, group_notes
from demele.classifiers.table_measures import lowest_value, table_value
from demele.core.arrays import Counts
from demele.core.proportions import score_interval
from demele.core.result import Result, plain
from demele.core.results import Interval, Note
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.noise.budget import noise_budget
from demele.noise.transition import digest

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
        random = question.expert_error and question.expert_errors == "random"
        if question.exact or audit.design == "selective" or random:
            return None
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
            if question.audit is not None and spec.needs == "audit" and question.audit.design != "selective":
                details["wrong_labels_estimated"] = question.audit.wrong_labels(data.labels)
            # Others judge by other labels, so that an audit of the given ones changes nothing, or have an audit.
            others = (question.true_labels, question.suspects, question.reference, question.clusters)
            if spec.needs != "audit" and all(one is None for one in others):
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

    document = decision_document


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


# Parts of a decision and of a ranking: estimates, notes and the signature ---------------------------------------------


#: Data of a method, and the fields of a question that hold them.
_FIELDS = {
    "difficulty": ("difficulty",),
    "cleaning": ("suspects", "suggested"),
    "reference": ("reference",),
    "true_labels": ("true_labels",),
}


def comparison_notes(spec: MethodSpec, question: Question) -> tuple[Note, ...]:
    """Return notes on the audit, the groups, weak classifiers, classes, and options that the method does not use."""
    audit, data = question.audit, question.data
    notes: tuple[Note, ...] = ()
    if audit is not None and spec.needs == "audit":
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
        "(`draw_audit(disagreement=)`)"
    )
    return (Note(code="weighted-audit", message=message),)


def signature(spec: MethodSpec, question: Question, measure: str) -> Signature:
    """Return everything but the data that changes a decision; arrays that a method looks at by their digest."""
    arguments: dict[str, object] = {"method": spec.name, "measure": measure}
    if question.of is not None:
        arguments["of"] = question.class_of(measure)
    arguments |= {"level": question.level, "inference": question.inference}
    given = {name: getattr(question, name) for name in ("noise", "audit")}
    arguments |= {name: value for name, value in given.items() if value is not None}
    if spec.name == "hard-rows":
        arguments["prudence"] = question.prudence
    if question.exact:
        arguments["exact"] = True
    if question.expert_error:
        arguments |= {"expert_error": question.expert_error, "expert_errors": question.expert_errors}
    if question.seed:
        arguments["seed"] = question.seed
    context = {"n": str(question.data.n)}
    if question.clusters is not None:
        context["groups"] = digest(question.clusters.codes)
    for option, fields in _FIELDS.items():
        if getattr(question, fields[0]) is not None:
            context[option] = digest(*(getattr(question, field) for field in fields))
    if question.exact and question.audit is not None and question.audit.least is not None:
        context["least_probability"] = f"{question.audit.least:.6g}"
    # All models of a ranking vote on the true classes, so a pair alone is another question.
    if spec.name == "audit" and question.of_table:
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
    from scipy.stats import binom

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
    counts = question.counts()
    if method.by_overlap or question.inference == "overlap":
        # Largest m at which the intervals of candidate - m and baseline + m of n are apart, by bisection.
        n = question.data.n
        baseline, candidate = (side.successes.astype(np.int64) for side in question.sides())
        trials, found = np.full(baseline.size, float(n)), np.full(baseline.size, -1, dtype=np.int64)
        falls = np.maximum(candidate - baseline, 0) // 2 + 1  # the counts have then met
        while (falls - found > 1).any():
            middle = (found + falls) // 2
            low, _ = score_interval(np.maximum(candidate - middle, 0), trials, level=question.level)
            _, high = score_interval(np.minimum(baseline + middle, n), trials, level=question.level)
            found, falls = np.where(low > high, middle, found), np.where(low > high, falls, middle)
    elif question.clusters is not None:
        sums = (group_counts(question, question.clusters, pair) for pair in range(question.n_pairs))
        found = np.array([grouped_breakdown(one, question.clusters, question.tail) for one in sums], dtype=np.int64)
    elif question.inference == "test_set":
        gap = counts.won - counts.lost
        found = np.where(gap > 0, (gap + 1) // 2 - 1, -1)
    else:
        size = counts.lost + counts.won
        # By symmetry, from the lower tail: the quantile of the upper one is of 1 - tail, where small tails are lost.
        least = size - binom.ppf(question.tail, size, 0.5).astype(np.int64) + 1
        # That quantile is one short of the count wanted where a tail probability equals the level.
        least = np.where(mcnemar_p(size - least + 1, least - 1) <= question.tail, least - 1, least)
        found = np.asarray(np.maximum(counts.won - least, -1), dtype=np.int64)
    return found if outcomes is None else np.where(outcomes.candidate | outcomes.baseline, found, -1)


# What an audit would buy: the comparison that expert labels of so many rows would allow, before they are asked for ----


def prospect(
    question: Question, pair: int = 0, sizes: Sequence[int] = (50, 100, 200, 500, 1000)
) -> tuple[dict[str, Any], ...]:
    """Say what a uniform audit would make of the comparison of two accuracies.

    Parameters
    ----------
    question : Question
        On accuracy; for other measures nothing is returned.
    pair : int
        Which of its pairs.
    sizes : sequence of int
        Numbers of audited rows; those above the number of rows are left out.

    Returns
    -------
    tuple of dict
        Per size: ``labels``; ``half_width`` of the interval of the difference if every audited label is confirmed;
        ``certified_if_clean``: whether a claim would then be made; ``certified_if_rate``: whether one would be made if
        the audit finds the errors to be expected at the noise supplied, None if none was.

    Notes
    -----
    The interval of an audit that meets errors as often as they occur, in whole rows. At a rate of noise, wrong labels
    are assumed to be equally likely on all rows, with any other class as the true one. A matrix or counts give the
    largest rate that they allow.
    """
    if question.measure != "accuracy":
        return ()
    data, tail = question.data, question.tail
    n, k = data.n, data.k
    counts = question.counts()
    lost, won, neither = (float(values[pair]) for values in (counts.lost, counts.won, counts.neither))
    if lost > won:  # the claim that is near
        lost, won = won, lost
    sides = question.sides()
    # A wrong label is truly of one certain other class with this probability.
    other = 1 / max(k - 1, 1)
    rates = [0.0] if (rate := _rate(question)) is None else [0.0, rate]
    rows = []
    for size in sizes:
        if size > n:
            continue
        found = []
        for share in rates:
            # By what the label says, -1, 0 or 1: how likely each of these is truly.
            truly = np.array(
                [
                    [1 - share, share * (1 - other), share * other],
                    [share * other, 1 - 2 * share * other, share * other],
                    [share * other, share * (1 - other), 1 - share],
                ]
            )
            rows_of = np.array([lost, neither, won])
            counts = np.rint(rows_of[:, None] * size / n * truly)
            cells = Cells(rows_of, np.stack([counts, counts, counts]), np.arange(3), n, size)
            fit = cells.fit(np.tile(np.arange(-1.0, 2.0), (3, 1)), population=question.inference == "population")
            fit = replace(fit, step=1 / n if question.inference == "population" else 0.0)
            distance = float(fit.distance(tail, below=True))
            needed = 0.0
            if question.inference == "overlap":
                ends = [score_interval(s.successes[pair], s.trials[pair], level=question.level) for s in sides]
                needed = sum(float(high - low) / 2 for low, high in ends)
            found.append((distance, float(fit.value) - distance > needed))
        rows.append(
            {
                "labels": int(size),
                "certified_if_clean": found[0][1],
                "half_width": found[0][0],
                "certified_if_rate": found[1][1] if len(found) > 1 else None,
            }
        )
    return tuple(rows)


def _rate(question: Question) -> float | None:
    """Return the share of wrong labels supplied, or the largest that what was supplied allows."""
    if question.noise is None:
        return None
    if isinstance(question.noise, float | int):
        return float(question.noise)

    budget = noise_budget(question.noise, question.data.labels, question.data.k, tail=question.tail)
    return budget.wrong / question.data.n
