"""What corrected scores by a judge say: their document."""

import math
from itertools import combinations
from typing import TYPE_CHECKING

from demele.classifiers.results import MOST_MODELS, rank_text
from demele.core.result import about
from demele.report.document import Document, Mark, Pill, Section, Strip, Strips, Table, Tone
from demele.report.listing import listed
from demele.report.words import count, digits_for, ends, joined, name, rate, sentence_of, written

if TYPE_CHECKING:
    from demele.classifiers.judge import Judged, Judgement

_TONES: dict[str, Tone] = {"above": "good", "below": "bad", "inconclusive": "open"}
#: What follows a difference, by its format.
_PP = {"points.1": " pp", "number": ""}


def judged_document(result: "Judgement") -> Document:
    """Say how good the judge is, and what each system scores after correction."""
    (form, _), pairs = _forms(result), result.differences if len(result.systems) <= MOST_MODELS else ()
    verdicts = {one.verdict for one in (result.systems if result.gate is not None else pairs)} - {""}
    systems, differences = _systems(result), [_differences(result)] if pairs else []
    # How many wrong rows undo what the judge's scores say.
    moved = [(one, f"the lead in {name(one.name)} is gone") for one in pairs]
    if result.gate is not None:
        for one in result.systems:
            moves = "falls" if one.judge > result.gate else "rises"
            moved.append((one, f"{name(one.name)} {moves} to the gate"))
    parts = [
        f"{what} if {count(one.breakdown, 'row')} ({written(one.breakdown / result.n, 'percent')}) were misjudged"
        for one, what in moved
        if one.breakdown
    ]
    overruled, known = "", [one.quality for one in result.systems if one.quality is not None]
    if known:
        wrong, seen = sum(one.wrong for one in known), sum(one.audited for one in known)
        share = written(wrong / seen, "percent")
        overruled = f"Humans overruled the judge in {wrong} of {seen} scores ({share})."
    slices = listed(
        "Slices",
        [(name(system), row) for system, found in result.slices.items() for row in found.rows],
        [
            ("System", "text", lambda one: one[0] if len(result.slices) > 1 else ""),
            ("Slice", "text", lambda one: name(one[1].name)),
            ("Rows", "count", lambda one: one[1].n),
            ("Judge", form, lambda one: one[1].value),
            ("Corrected", form, lambda one: one[1].corrected_value),
            (f"{rate(result.level)} interval", form, lambda one: one[1].corrected),
            ("p (Holm)", "p", lambda one: one[1].p_value),
        ],
        note="p is two-sided, for a difference of the slice from the other rows.",
    )
    strata = listed(
        "Strata of given scores",
        [(name(one.name), part) for one in result.systems for part in one.strata],
        [
            ("System", "text", lambda row: row[0]),
            ("From", "number.2", lambda row: row[1].least),
            ("To", "number.2", lambda row: row[1].most),
            ("Rows", "count", lambda row: row[1].rows),
            ("Audited", "count", lambda row: row[1].audited),
            ("Mean human score", "number.3", lambda row: row[1].mean if row[1].audited else None),
        ],
    )
    strips = []
    for one in result.systems:
        marks = [Mark("tick", one.judge, series=1)]
        if one.corrected is not None:
            marks = [Mark("span", one.corrected.low, one.corrected.high), Mark("dot", one.value), *marks]
        strips.append(Strip(name(one.name), marks, written(one.value if one.corrected else one.judge, form)))
    series = {} if result.noise is None else {0: "interval"}
    series = {0: "corrected by human scores"} if result.audited else series
    methods = (
        f"Scores of {count(result.n, 'row')} by a judge were corrected with human scores of "
        f"{count(result.audited, 'row')} by pooled strata, at a level of {rate(result.level)}, with demele [@demele]."
    )
    passed = {one.name: 1 - one.quality.specificity_value for one in result.systems if one.quality is not None}
    passed = {system: share for system, share in passed.items() if share == share}
    lenient = joined(f"{written(part, 'percent.0')} of the failures of {name(who)}" for who, part in passed.items())
    lenient = f"The judge passes {lenient}; correct each system by its own human scores." if len(passed) > 1 else ""
    return Document(
        kind="Scores by a judge",
        headline=_headline(result),
        tone="" if not verdicts else "open" if len(verdicts) > 1 else _TONES[verdicts.pop()],
        sentences=[
            f"By the judge's scores alone, {joined(parts)}." if parts else "",
            overruled,
            lenient,
        ],
        figure=Strips("Mean scores", strips, form, series=series | {1: "by the judge"}, zero=result.gate),
        table=systems,
        below=[*differences, *([slices] if result.slices else [])],
        scope=[
            count(result.n, "row"),
            count(len(result.systems), "system"),
            f"{count(result.audited, 'row')} with human scores" if result.audited else "no human scores",
        ],
        next=[(step, "") for step in [_next(result)] if step],
        sections=[
            Section("Systems", [systems, *differences]),
            Section("Slices", [slices] if result.slices else []),
            Section("Strata", [strata] if result.audited else []),
        ],
        methods=[methods] if result.audited else [],
        **about(result),
    )


def _forms(result: "Judgement") -> tuple[str, str]:
    """Return the formats of a mean and of a difference: percentages on a scale from 0 to 1."""
    if result.scale != (0.0, 1.0):
        return "number", "number"
    return f"percent.{digits_for(ends(one.corrected) for one in result.systems)}", "points.1"


def _headline(result: "Judgement") -> str:
    """Answer the gate, or which of two systems is better, or give the scores."""
    (form, gap_form), parts, after = _forms(result), [], "if all scores are right"
    if result.audited:
        after = f"after {count(result.audited, 'human score')}"
    elif result.noise:
        after = f"with up to {rate(result.noise)} wrong scores"
    for one in result.systems:
        known = one.corrected is not None
        span = f" {written(ends(one.corrected), form)}" if known else ""
        parts.append(f"{name(one.name)} {written(one.value if known else one.judge, form)}{span}")
    scores = joined(parts)
    if not result.audited and result.noise is None:
        return f"By the judge alone: {scores}. No human scores say how often it errs."
    if result.gate is not None:
        above = [name(one.name) for one in result.systems if one.verdict == "above"]
        gate = written(result.gate, form)
        if len(above) == len(result.systems):
            return f"Above {gate}: {scores}."
        below = joined(name(one.name) for one in result.systems if one.verdict == "below")
        return f"Not all shown to be above {gate}: {scores}{f'; below it: {below}' if below else ''}."
    if len(result.systems) == 2:
        (one,) = result.differences
        if result.compared < result.audited:
            if one.corrected is None:
                few = "only 1 row" if result.compared else "no row"
                return f"{scores}, {after}. No difference can be given: {few} has human scores for both systems."
            after += f", only {result.compared} of them of rows scored for both"
        gap = f"{written(one.value, gap_form)}{_PP[gap_form]} {written(ends(one.corrected), gap_form)}"
        if one.verdict == "inconclusive":
            return f"Inconclusive {after}: {name(one.name)} is {gap}."
        better, worse = result.systems[::-1] if one.verdict == "above" else result.systems
        return f"{name(better.name)} is better than {name(worse.name)} {after}: {name(one.name)} is {gap}."
    after = sentence_of(after).rstrip(".")
    if len(result.systems) == 1:
        return f"{after}: {scores}."
    first, of = [name(one.name) for one in result.systems if one.best_rank == 1], len(result.systems)
    if len(first) == 1:
        return f"{after}, {first[0]} is the best of {of} systems."
    return f"{after}, {f'any of {of} systems' if len(first) == of else joined(first, 'or', most=4)} may be the best."


def _systems(result: "Judgement") -> Table:
    form, _ = _forms(result)
    binary = any(one.quality is not None and one.quality.j == one.quality.j for one in result.systems)
    error = "" if binary or not result.audited else "Mean error of the judge"
    gate = "" if result.gate is None else f"Gate {written(result.gate, form)}"
    several = len(result.systems) > 2 and not math.isnan(result.systems[0].value)
    return listed(
        "Systems",
        result.systems,
        [
            ("System", "text", "name"),
            ("Rank", "text", lambda one: rank_text(one.best_rank, one.worst_rank) if several else None),
            ("Judge", form, "judge"),
            ("Corrected", form, "value"),
            (f"{rate(result.level)} interval", form, "corrected"),
            ("Sensitivity", "percent.1?", "quality.sensitivity_value"),
            ("Specificity", "percent.1?", "quality.specificity_value"),
            ("J", "number.2", "quality.j"),
            ("Agreement", "percent.1?", "quality.agreement"),
            ("Kappa" if binary else "Kappa (quadratic)", "number.2?", "quality.kappa"),
            ("PPI++ (asymptotic)", f"{form}?", "asymptotic"),
            (error, "number.2", lambda one: one.judge - one.value if error else None),
            (gate, "text", lambda one: Pill(one.verdict, _TONES[one.verdict]) if gate and one.verdict else None),
        ],
        note="J = sensitivity + specificity - 1: 0 for a judge that tells nothing" if binary else "",
    )


def _differences(result: "Judgement") -> Table:
    (_, form), m, shared = _forms(result), len(result.systems), ""
    if m > 2 and not math.isnan(result.systems[0].value):
        verdicts = f"Verdicts on {count(m * (m - 1) // 2, 'pair')} share an error of {rate(1 - result.level)} (Holm)"
        shared = f"{verdicts}; each interval is by itself"
    better = {
        one.name: {"above": f"{name(candidate.name)} better", "below": f"{name(baseline.name)} better"}
        for one, (baseline, candidate) in zip(result.differences, combinations(result.systems, 2), strict=True)
    }

    def verdict(one: "Judged") -> Pill | None:
        """Name the better system."""
        return Pill(better[one.name].get(one.verdict, one.verdict), _TONES[one.verdict]) if one.verdict else None

    return listed(
        "Differences",
        result.differences,
        [
            (f"Difference{_PP[form] and ' (pp)'}", "text", "name"),
            ("Judge", form, "judge"),
            ("Corrected", form, "value"),
            (f"{rate(result.level)} interval", form, "corrected"),
            ("PPI++ (asymptotic)", f"{form}?", "asymptotic"),
            ("Verdict", "text", verdict),
            ("Wrong rows that undo it", "count", "breakdown"),
        ],
        note=shared,
    )


def _next(result: "Judgement") -> str:
    """Say how many rows to score for a verdict."""
    rows = count(result.next_labels, "row")
    if not result.audited:
        return "" if result.noise is not None else f"Draw {rows} at random and score them by hand"
    if result.compared < 2:
        return "Score the same rows for all systems"
    if not result.next_labels:
        return ""
    if result.next_labels > result.n:
        told = f"If the estimates are right, human scores of all {result.n:,} rows do not decide"
        return f"{told}; larger differences are possible, which more human scores can show"
    same = " for all systems" if result.gate is None and result.compared < result.audited else ""
    more = f"score {count(result.next_labels - result.compared, 'more row')} at random{same}"
    return f"About {rows} with human scores, of {result.n:,}, would decide if the estimates stay; {more}"
