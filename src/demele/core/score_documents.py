"""What scores of one representation say: their documents."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from demele.core.lookup_documents import factors_table, glossary, notes_of, signatures_of, title_of
from demele.core.methods_documents import methods_of, methods_of_score
from demele.core.result import notices
from demele.core.verdict_documents import (
    MOST_CODES,
    notes_on_map,
    of_codes,
    order_of,
    share_map,
    verdict_methods,
    verdict_strips,
    verdict_table,
    whole,
)
from demele.report.document import Block, Cell, Choice, Document, Heat, Line, Lines, Pill, Rows, Section, Strips, Table
from demele.report.listing import Column, drawn, listed
from demele.report.words import count, ends, joined, name, rate, written

if TYPE_CHECKING:
    from demele.core.results import Dependency, Evaluation, Score
    from demele.core.verdict import RepresentationVerdict

PROPERTIES = ("Modularity", "Compactness", "Explicitness", "Holistic", "Other")
_NEXT = ("Add intervals and chance levels:", "demele score CODES FACTORS --bootstrap 50 --permutations 20")
#: What matrices of information hold; the verdict shows the same as shares of entropy.
_INFORMATION = "mutual information (nats)"
_MOST_LEVELS, _MOST_RESPONSES = 12, 2


def evaluation_document(result: "Evaluation") -> Document:
    """Say what the codes hold, and what they score."""
    scores, verdict = result.scores, result.verdict
    first, *others = [_values(scores)] if verdict is None else whole(verdict)
    known = any(score.interval or score.chance for score in scores)
    grouped = verdict is None and any("code_groups" in score.signature.arguments for score in scores)
    return Document(
        kind="Disentanglement scores",
        title=f"Scores of {name(result.name)}",
        headline=first,
        sentences=[
            *others,
            *([] if verdict is None else [*of_codes(verdict), verdict.first_look]),
            "Codes in groups have no verdict: it needs one column for each code." * grouped,
        ],
        figure=score_strips(scores) if verdict is None else verdict_strips(verdict),
        table=scores_table(scores),
        below=[] if verdict is None else [verdict_table(verdict)],
        scope=[
            name(result.name),
            count(result.n, "row"),
            count(len(result.code_names), "code"),
            count(len(result.factors), "factor"),
            result.protocol,
        ],
        next=[] if known else [_NEXT],
        sections=[
            Section("Scores", [score_strips(scores), scores_table(scores)]),
            Section(
                "Code-factor matrix",
                matrix_blocks(scores, verdict, None if result.rows is None else result.rows.columns()),
            ),
            values_section(scores),
            _sensitivity(result.dependency),
            aligned_section(scores),
            corrected_section(scores),
            Section("Data", [factors_table(result)]),
            glossary(scores),
        ],
        assumptions=assumptions_of(scores),
        notes=notes_of([result]),
        methods=[*methods_of([result]), *([] if verdict is None else verdict_methods(verdict))],
        signatures=signatures_of(scores),
        version=result.version,
    )


def score_document(score: "Score") -> Document:
    """Say what one metric scores."""
    values = native_strips(score)
    classes = _classes(score)
    return Document(
        kind="Score",
        title=title_of(score),
        headline=_values([score]),
        sentences=[one.headline() for one in (score.corrected, score.alignment) if one is not None],
        figure=values if values.rows else score_strips([score]),
        table=scores_table([score]),
        below=[classes],
        scope=[count(score.n, "row"), score.protocol or ""],
        sections=[
            Section("Scores", [scores_table([score])]),
            Section("Code-factor matrix", matrix_blocks([score], None, None)),
            Section("Values per factor and code", [values]),
            Section("Classes", [classes]),
            aligned_section([score]),
            corrected_section([score]),
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
    """Return a row for each score, by property."""
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
        ("Raw", "number", "alignment.raw"),
        ("Aligned", "number", "alignment.aligned"),
        ("Gap", "number", "alignment.gap"),
        ("Note", "text", lambda one: Pill("fragile", "open") if one.fragile else ""),
    ]
    note = "Raw and aligned: of held-out halves of the rows." if any(one.alignment for one in scores) else ""
    return listed("Scores", sorted(scores, key=lambda one: PROPERTIES.index(property_of(one))), columns, note)


def _adjusted(score: "Score", part: str) -> float | None:
    """Return a part of the value adjusted for chance, of a score of few rows."""
    found: float | None = score.details.get("adjusted_for_chance", {}).get(part)
    return found


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
    panels = {title: [one] for title, one in strips.items() if one.rows}
    return Section("Values per factor and code", [Choice("Metric", panels)])


def _classes(score: "Score") -> Table:
    """Return the table of a metric that looks at each class."""
    found = score.details.get("classes", ())
    rows = [list(map(_cell, row.values())) for row in found]
    titles = [str(key).replace("_", " ").capitalize() for key in (found[0] if found else ())]
    numbers = [any(isinstance(cell, float | int) for cell in cells) for cells in zip(*rows, strict=True)]
    columns = {title: "number" if number else "text" for title, number in zip(titles, numbers, strict=True)}
    return Table("Classes", columns, rows)


def _cell(cell: object) -> Cell:
    if isinstance(cell, tuple):
        return ", ".join(written(one) if isinstance(one, float) else name(one) for one in cell)
    return cell if isinstance(cell, float | int) or cell is None else name(cell)


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
    return [Choice("Quantity", panels), *([] if verdict is None or shares is None else notes_on_map(verdict))]


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
    try:
        places = [float(level) for level in one.levels]
    except ValueError:
        places = [float(place) for place in range(len(one.levels))]
    named = places == list(range(len(one.levels))) and len(places) <= _MOST_LEVELS
    at = [(place, name(level)) for place, level in zip(places, one.levels, strict=True)] if named else []
    line = Line(name(one.code), places, one.mean, one.low, one.high)
    caption = f"{name(one.code)} by {name(one.factor)}"
    return Lines(caption, [line], (name(one.factor), "number"), (name(one.code), "number"), at)


# Aligned and corrected ------------------------------------------------------------------------------------------------


def aligned_section(scores: Sequence["Score"]) -> Section:
    """Return scores of the codes as they are and of turned codes."""
    found = [(title_of(one), one.alignment) for one in scores if one.alignment is not None]
    readings: dict[str, list[str]] = {}
    for title, one in sorted(found, key=lambda pair: pair[1].reading == "any axes"):
        readings.setdefault(one.headline(), []).append(title)
    table = listed(
        "Raw and aligned scores",
        [score for score in scores if score.alignment is not None],
        [
            ("Metric", "text", title_of),
            ("Codes as they are", "number", "alignment.raw"),
            ("Turned", "number", "alignment.aligned"),
            ("Gap", "number", "alignment.gap"),
            ("Interval of the gap", "number", "alignment.interval"),
            ("Chance", "number?", "alignment.chance.mean"),
        ],
        "Axes are found on one half of the rows, and both scores are computed on the other half.",
    )
    said = [f"{joined(titles)}: {reading}" for reading, titles in readings.items()]
    gaps = drawn(table, "Gap", caption="Aligned scores", axis="Turned codes − codes as they are", zero=0.0)
    return Section("Aligned scores", [*said, gaps, table])


def corrected_section(scores: Sequence["Score"]) -> Section:
    """Return scores on the annotations as given, and corrected for wrong ones."""
    table = listed(
        "Given and corrected",
        [one for one in scores if one.corrected is not None],
        [
            ("Metric", "text", title_of),
            ("As given", "number", "value"),
            ("Corrected", "number", "corrected.value"),
            ("Interval", "number", "corrected.interval"),
            ("Audited rows alone", "number", "corrected.audited_alone"),
            ("Method", "text", "corrected.method"),
        ],
    )
    value = "Corrected" if "Corrected" in table.columns else "Interval"
    return Section("Corrected scores", [drawn(table, value, tick="As given", axis="Score"), table])


def assumptions_of(scores: Iterable["Score"]) -> tuple[str, ...]:
    """Return what corrected scores assume, each once."""
    return tuple(dict.fromkeys(text for one in scores if one.corrected for text in one.corrected.assumptions))
