"""What scores of one representation say: their documents, and the parts that comparisons of several share."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from demele.core.methods_documents import methods_of, methods_of_score, title_of
from demele.core.result import notices
from demele.core.verdict_documents import (
    MOST_CODES,
    note_on_map,
    order_of,
    share_map,
    verdict_methods,
    verdict_sentences,
    verdict_strips,
    verdict_table,
    words_table,
)
from demele.report.document import (
    Block,
    Choice,
    Document,
    Heat,
    Line,
    Lines,
    Notice,
    Pill,
    Rows,
    Section,
    Strips,
    Table,
)
from demele.report.listing import Column, drawn, listed, table_of_frame
from demele.report.words import count, ends, joined, name, rate, written

if TYPE_CHECKING:
    from demele.core.results import Dependency, Evaluation, Score, ScoresByName
    from demele.core.verdict import RepresentationVerdict

PROPERTIES = ("Modularity", "Compactness", "Explicitness", "Holistic", "Other")
_NEXT = ("Add intervals and chance levels:", "demele score CODES FACTORS --bootstrap 50 --permutations 20")
#: What matrices of information hold; the verdict shows the same as shares of entropy.
_INFORMATION = "mutual information (nats)"
_MOST_LEVELS, _MOST_RESPONSES = 12, 2


def evaluation_document(result: "Evaluation") -> Document:
    """Say what the codes hold, and what they score."""
    scores, verdict = result.scores, result.verdict
    headline, *sentences = [_values(scores)] if verdict is None else verdict_sentences(verdict)
    known = any(score.interval or score.chance for score in scores)
    grouped = verdict is None and any("code_groups" in score.signature.arguments for score in scores)
    rows = None if result.rows is None else result.rows.columns()
    words = [] if verdict is None else [words_table(verdict)]
    return Document(
        kind="Disentanglement scores",
        title=f"Scores of {name(result.name)}",
        headline=headline,
        sentences=[*sentences, "Codes in groups have no verdict: it needs one column for each code." * grouped],
        figure=score_strips(scores) if verdict is None else verdict_strips(verdict),
        table=scores_table(scores),
        below=[] if verdict is None else [verdict_table(verdict)],
        scope=[*scope_of(result), result.protocol],
        next=[] if known else [_NEXT],
        sections=[
            Section("Scores", [score_strips(scores), scores_table(scores)]),
            Section("Code-factor matrix", [*matrix_blocks(scores, verdict, rows), *words]),
            values_section(scores),
            _sensitivity(result.dependency),
            *_adjustments(scores),
            Section("Data", [factors_table(result)]),
            glossary(scores),
        ],
        **about_scores([result], [] if verdict is None else verdict_methods(verdict)),
    )


def score_document(score: "Score") -> Document:
    """Say what one metric scores."""
    values = native_strips(score)
    classes = [table_of_frame("Classes", score.classes_frame())[0]] if "classes" in score.details else []
    return Document(
        kind="Score",
        title=title_of(score),
        headline=_values([score]),
        sentences=[one.headline() for one in (score.corrected, score.alignment) if one is not None],
        figure=values if values.rows else score_strips([score]),
        table=scores_table([score]),
        below=classes,
        scope=[count(score.n, "row"), score.protocol or ""],
        sections=[
            Section("Scores", [scores_table([score])]),
            Section("Code-factor matrix", matrix_blocks([score], None, None)),
            Section("Values per factor and code", [values]),
            Section("Classes", classes),
            *_adjustments([score]),
            glossary([score]),
        ],
        methods=methods_of_score(score),
        assumptions=assumptions_of([score]),
        notes=notices(score.notes),
        signatures=signatures_of([score]),
        version=score.signature.context.get("demele", ""),
    )


def _values(scores: Sequence["Score"]) -> str:
    """Say the first scores in a sentence."""
    said = [f"{title_of(one)} is {_with_interval(one)}" for one in scores]
    return f"{joined(said, most=4)}." if said else "No metric has a score."


def _with_interval(score: "Score") -> str:
    span = "" if score.interval is None else f" {written(ends(score.interval))}"
    worse = "worse than its " if score.chance is not None and score.chance.beats_score else ""
    chance = "" if score.chance is None else f" ({worse}chance level {written(score.chance.mean)})"
    return f"{written(score.value)}{span}{chance}" if score.value == score.value else "undefined"


# Scores ---------------------------------------------------------------------------------------------------------------


def property_of(score: "Score") -> str:
    """Return what the metric claims to measure."""
    claimed = [one.capitalize() for one in score.facts.properties]
    only = claimed[0] if len(claimed) == 1 else ""
    return "Holistic" if len(claimed) > 1 else only if only in PROPERTIES else "Other"


def scores_table(scores: Sequence["Score"]) -> Table:
    """Return a row for each score, by property; below it, what aligned scores say."""
    levels = [rate(level) for level in sorted({one.interval.level for one in scores if one.interval is not None})]
    columns: list[Column[Score]] = [
        ("Property", "text", property_of),
        ("Metric", "text", title_of),
        ("Value", "number", "value"),
        (f"{'/'.join(levels)} interval", "number", "interval"),
        ("SD", "number?", "spread.std"),
        ("Chance", "number", "chance.mean"),
        ("p", "p?", "chance.p_value"),
        ("Adjusted", "number", lambda one: _adjusted(one, "value")),
        ("Adjusted interval", "number?", lambda one: (_adjusted(one, "low"), _adjusted(one, "high"))),
        ("Corrected", "number", "corrected.value"),
        ("Corrected interval", "number?", "corrected.interval"),
        ("Audited rows alone", "number?", "corrected.audited_alone"),
        ("Raw", "number", "alignment.raw"),
        ("Aligned", "number", "alignment.aligned"),
        ("Gap", "number", "alignment.gap"),
        ("Gap interval", "number?", "alignment.interval"),
        ("Gap by chance", "number?", "alignment.chance.mean"),
        ("Note", "text", lambda one: Pill("fragile", "open") if one.fragile else ""),
    ]
    readings = _readings(scores)
    note = " ".join(["Raw and aligned: of held-out halves of the rows.", *readings]) if readings else ""
    return listed("Scores", sorted(scores, key=lambda one: PROPERTIES.index(property_of(one))), columns, note)


def _adjusted(score: "Score", part: str) -> float | None:
    """Return a part of the value adjusted for chance, of a score of few rows."""
    found: float | None = score.details.get("adjusted_for_chance", {}).get(part)
    return found


def _readings(scores: Sequence["Score"]) -> list[str]:
    """Say what raw and aligned scores mean together, for all metrics of the same reading."""
    found = [(title_of(one), one.alignment) for one in scores if one.alignment is not None]
    readings: dict[str, list[str]] = {}
    for title, one in sorted(found, key=lambda pair: pair[1].reading == "any axes"):
        readings.setdefault(one.headline(), []).append(title)
    return [f"{joined(titles)}: {reading}" for reading, titles in readings.items()]


def score_strips(scores: Sequence["Score"]) -> Strips:
    """Draw scores with their intervals and chance levels."""
    return drawn(scores_table(scores), "Value", label="Metric", tick="Chance", axis="Score", ends=(0.0, 1.0))


def native_strips(score: "Score") -> Strips:
    """Draw the values that a score is a mean of."""
    names, values = score._native()
    spans = score.native_intervals or (None,) * len(names)
    rows = [(name(one), value, ends(span)) for one, value, span in zip(names, values, spans, strict=True)]
    table = Table(f"{title_of(score)} {score.native_unit}", {"": "text", "Value": "number", "Interval": "number"}, rows)
    return drawn(table, "Value", ends=(0.0, 1.0), most=MOST_CODES)


def values_section(scores: Sequence["Score"]) -> Section:
    """Return the values that each metric averages."""
    strips = {title_of(one): native_strips(one) for one in scores}
    return Section(
        "Values per factor and code", [Choice("Metric", {key: [one] for key, one in strips.items() if one.rows})]
    )


def _adjustments(scores: Sequence["Score"]) -> list[Section]:
    """Draw scores of turned codes, and scores corrected for wrong annotations; the table of scores has the numbers."""
    turned = scores_table([one for one in scores if one.alignment is not None])
    right = scores_table([one for one in scores if one.corrected is not None])
    axis = "Turned codes − codes as they are"
    gaps = drawn(turned, "Gap", interval="Gap interval", label="Metric", axis=axis, zero=0.0)
    value = "Corrected" if "Corrected" in right.columns else "Corrected interval"
    corrected = drawn(right, value, interval="Corrected interval", label="Metric", tick="Value", axis="Score")
    return [
        Section("Aligned scores", [*_readings(scores), replace(gaps, caption="Aligned scores")]),
        Section("Corrected scores", [replace(corrected, caption="Corrected scores")]),
    ]


# Matrices -------------------------------------------------------------------------------------------------------------


def matrix_blocks(
    scores: Iterable["Score"], verdict: "RepresentationVerdict | None", rows: Rows | None
) -> list[Block | None]:
    """Return the heat maps of codes and factors, by quantity, each once."""
    shares = None if verdict is None else share_map(verdict, rows)
    panels: dict[str, list[Block]] = {} if shares is None else {shares.caption: [shares]}
    seen: set[tuple[str, bytes]] = set()
    for one in scores:
        values, what = one.matrix_values, one.matrix_of or "matrix"
        if values is None or (what == _INFORMATION and shares is not None) or (what, values.tobytes()) in seen:
            continue
        seen.add((what, values.tobytes()))
        order = order_of(values)
        caption = f"{what[:1].upper()}{what[1:]} ({title_of(one)})"
        codes, factors = [name(one.code_names[j]) for j in order], list(map(name, one.factor_names))
        scale: Literal["all", "both ways"] = "both ways" if np.nanmin(values, initial=0.0) < -1e-9 else "all"
        axes = ("code", "factor")
        panels[caption] = [Heat(caption, codes, factors, values[order].tolist(), axes=axes, scale=scale)]
    return [Choice("Quantity", panels), None if verdict is None else note_on_map(verdict)]


def _sensitivity(pictures: Sequence["Dependency"]) -> Section:
    """Draw, for each factor, the codes that respond to it most, with the range that other factors cause."""
    panels: dict[str, list[Block]] = {name(one.factor): [] for one in pictures}
    for one in sorted(pictures, key=lambda one: -one.score if one.score == one.score else 1.0):
        if len(panels[name(one.factor)]) < _MOST_RESPONSES:
            panels[name(one.factor)].append(_response(one))
    says = (
        "The line is the mean of the code at each value of the factor; the band is the range that other factors cause. "
        "The two codes with the largest scores are shown."
    )
    return Section("Sensitivity to other factors", [says, Choice("Factor", panels)])


def _response(one: "Dependency") -> Lines:
    places = places_of(one.levels)
    named = places == list(range(len(one.levels))) and len(places) <= _MOST_LEVELS
    at = [(place, name(level)) for place, level in zip(places, one.levels, strict=True)] if named else []
    line = Line(name(one.code), places, one.mean, one.low, one.high)
    caption = f"{name(one.code)} by {name(one.factor)}"
    return Lines(caption, [line], (name(one.factor), "number"), (name(one.code), "number"), at)


def places_of(levels: Sequence[str]) -> list[float]:
    """Return where the values of a factor stand on an axis: as numbers, or one after another."""
    try:
        return [float(level) for level in levels]
    except ValueError:
        return [float(place) for place in range(len(levels))]


# What is looked up ----------------------------------------------------------------------------------------------------


def scope_of(result: "ScoresByName") -> list[str]:
    """Return the representation, and how many rows, codes and factors it has."""
    sizes = {"row": result.n, "code": len(result.code_names), "factor": len(result.factors)}
    return [name(result.name), *(count(size, noun) for noun, size in sizes.items())]


def factors_table(result: "ScoresByName") -> Table:
    """Return what was read of each factor."""
    columns: list[Column[Any]] = [
        ("Factor", "text", "name"),
        ("Kind", "text", "kind"),
        ("Values", "count", "n_levels"),
        ("Annotated rows", "count", "n_annotated"),
        ("Remark", "text?", lambda one: "constant: left out" if one.constant else ""),
    ]
    return listed("Factors", result.factors, columns)


def glossary(scores: Iterable["Score"]) -> Section:
    """Return what each metric means."""
    known = {one.metric: one for one in scores if one.facts.definition}
    columns: list[Column[Score]] = [
        ("Metric", "text", title_of),
        ("Name", "code", "metric"),
        ("Definition", "text", lambda one: one.facts.definition),
        ("Range", "text", lambda one: " to ".join(map(_end, one.facts.range))),
        ("Best", "number?", "facts.best"),
        ("Source", "text?", lambda one: one.facts.source),
    ]
    return Section("Glossary", [listed("Metrics", known.values(), columns)])


def _end(value: float) -> str:
    return written(value, "number.0" if math.isfinite(value) and value == round(value) else "number")


def about_scores(results: "Sequence[ScoresByName]", more: Sequence[str] = ()) -> dict[str, Any]:
    """Return assumptions, notes, methods, signatures and version of evaluations, for their document."""
    every = [score for one in results for score in one.scores]
    several = [f"{name(one.name)}, " if len(results) > 1 else "" for one in results]
    signed = [
        (who + title, text)
        for who, one in zip(several, results, strict=True)
        for title, text in signatures_of(one.scores)
    ]
    return {
        "assumptions": assumptions_of(every),
        "notes": notes_of(results),
        "methods": [*methods_of(results), *more],
        "signatures": list(dict.fromkeys(signed)),
        "version": results[0].version,
    }


def assumptions_of(scores: Iterable["Score"]) -> tuple[str, ...]:
    """Return what corrected scores assume, each once."""
    return tuple(dict.fromkeys(text for one in scores if one.corrected for text in one.corrected.assumptions))


def notes_of(results: "Sequence[ScoresByName]") -> list[Notice]:
    """Return notes, of whole evaluations and of scores, and why metrics have no score: each text once."""
    found: dict[tuple[str, Any], dict[str, None]] = {}

    def add(text: str, severity: str, *who: str) -> None:
        found.setdefault((text, severity), {}).update(dict.fromkeys(filter(None, who)))

    for result in results:
        own = name(result.name) if len(results) > 1 else ""
        for note in result.notes:
            add(note.message, note.severity, own)
        for score in result.scores:
            for note in (*score.notes, *(score.corrected.notes if score.corrected else ())):
                add(note.message, note.severity, title_of(score), own)
        for gap in result.left_out:
            add(f"no score of {gap.metric}: {gap.reason}", "warning", own)
    order = ("fragile", "warning", "info")
    notes = [Notice(text, severity, tuple(who)) for (text, severity), who in found.items()]
    return sorted(notes, key=lambda note: order.index(note.severity))


def signatures_of(scores: Iterable["Score"]) -> list[tuple[str, str]]:
    """Return the signatures of scores, and of their corrections."""
    pairs = []
    for one in scores:
        pairs.append((title_of(one), str(one.signature)))
        if one.corrected is not None and one.corrected.signature is not None:
            pairs.append((f"{title_of(one)}, corrected", str(one.corrected.signature)))
    return pairs
