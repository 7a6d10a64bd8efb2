"""What scores of one representation say: their documents."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from demele.core.lookup_documents import (
    data_facts,
    factors_table,
    glossary,
    method_of,
    notes_of,
    signatures_of,
    title_of,
)
from demele.core.methods_documents import methods_of, methods_of_score
from demele.core.result import notices
from demele.core.verdict_documents import (
    MOST_CODES,
    notes_on_map,
    of_codes,
    order_of,
    share_map,
    verdict_method,
    verdict_strips,
    verdict_table,
    whole,
)
from demele.report.document import (
    NOTHING,
    Block,
    Cell,
    Choice,
    Document,
    Heat,
    Line,
    Lines,
    Mark,
    Pill,
    Rows,
    Section,
    Strip,
    Strips,
    Table,
)
from demele.report.written import count, ends, joined, marks_of, name, rate, written

if TYPE_CHECKING:
    from demele.core.results import Dependency, Evaluation, Score
    from demele.core.verdict import RepresentationVerdict

_PROPERTIES = ("Modularity", "Compactness", "Explicitness", "Holistic", "Other")
_NEXT = ("Add intervals and chance levels:", "demele score CODES FACTORS --bootstrap 50 --permutations 20")
#: What matrices of information hold; the verdict shows the same as shares of entropy.
_INFORMATION = "mutual information (nats)"
_MOST_LEVELS, _MOST_RESPONSES = 12, 2


def evaluation_document(result: "Evaluation") -> Document:
    """Say what the codes hold, and what they score."""
    scores, verdict = result.scores, result.verdict
    first, *others = [_values(scores)] if verdict is None else whole(verdict)
    known = any(score.interval or score.chance for score in scores)
    return Document(
        kind="Disentanglement scores",
        title=f"Scores of {name(result.name)}",
        headline=first,
        sentences=[*others, *([] if verdict is None else [*of_codes(verdict), verdict.first_look])],
        figure=score_strips(scores) if verdict is None else verdict_strips(verdict),
        table=scores_table(scores),
        beside=[] if verdict is None else [verdict_table(verdict)],
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
            Section("Code-factor matrix", matrix_blocks(scores, verdict, _rows(result))),
            values_section(scores),
            _sensitivity(result.dependency),
            aligned_section(scores),
            corrected_section(scores),
            Section("Data", [data_facts(result), factors_table(result)]),
            glossary(scores),
        ],
        assumptions=assumptions_of(scores),
        notes=notes_of([result]),
        method=[*([] if verdict is None else verdict_method(verdict)), *method_of(scores)],
        methods=methods_of([result]),
        signatures=signatures_of(scores),
        version=result.version,
    )


def score_document(score: "Score") -> Document:
    """Say what one metric scores."""
    values = native_strips(score)
    natives = [*zip(*score._native(), strict=True)] if score.native else []
    spans = score.native_intervals or (None,) * len(natives)
    rows = [(name(one), value, ends(span)) for (one, value), span in zip(natives, spans, strict=False)]
    unit = score.native_unit.removeprefix("per ").capitalize()
    columns = {unit: "text", "Value": "number", "Interval": "number"}
    return Document(
        kind="Score",
        title=title_of(score),
        headline=_values([score]),
        sentences=[one.headline() for one in (score.corrected, score.alignment) if one is not None],
        figure=values or score_strips([score]),
        table=scores_table([score]),
        beside=[_classes(score)] if "classes" in score.details else [],
        scope=[count(score.n, "row"), score.protocol or ""],
        sections=[
            Section("Scores", [scores_table([score])]),
            Section("Code-factor matrix", matrix_blocks([score], None, None)),
            Section("Values per factor and code", [values, Table("Values", columns, rows) if rows else None]),
            Section("Classes", [_classes(score)]) if "classes" in score.details else NOTHING,
            aligned_section([score]),
            corrected_section([score]),
            glossary([score]),
        ],
        method=method_of([score]),
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
    return "Holistic" if len(claimed) > 1 else only if only in _PROPERTIES else "Other"


def scores_table(scores: Sequence["Score"]) -> Table:
    """Return a row for each score, by property, with the columns that at least one score has."""
    levels = [rate(level) for level in sorted({one.interval.level for one in scores if one.interval is not None})]
    wanted: dict[str, tuple[str, bool]] = {
        f"{'/'.join(levels)} interval": ("number", bool(levels)),
        "SD": ("number?", any(one.spread for one in scores)),
        "Chance": ("number", any(one.chance for one in scores)),
        "p": ("p?", any(one.chance for one in scores)),
        "Adjusted": ("number", any(_adjusted(one) for one in scores)),
        "Adjusted interval": ("number?", any(_adjusted(one) for one in scores)),
        "Corrected": ("number", any(one.corrected for one in scores)),
        "Corrected interval": ("number?", any(one.corrected for one in scores)),
        "Aligned": ("number", any(one.alignment for one in scores)),
        "Gap": ("number", any(one.alignment for one in scores)),
        "Note": ("text", any(one.fragile for one in scores)),
    }
    rows = []
    for one in sorted(scores, key=lambda one: _PROPERTIES.index(property_of(one))):
        cells: list[Cell] = [
            ends(one.interval),
            None if one.spread is None else one.spread.std,
            None if one.chance is None else one.chance.mean,
            None if one.chance is None else one.chance.p_value,
            *(_adjusted(one) or (None, None)),
            None if one.corrected is None else one.corrected.value,
            None if one.corrected is None else ends(one.corrected.interval),
            None if one.alignment is None else one.alignment.aligned,
            None if one.alignment is None else one.alignment.gap,
            Pill("fragile", "open") if one.fragile else "",
        ]
        shown = [cell for cell, (_, known) in zip(cells, wanted.values(), strict=True) if known]
        rows.append((property_of(one), title_of(one), one.value, *shown))
    columns = {"Property": "text", "Metric": "text", "Value": "number"}
    columns |= {title: form for title, (form, known) in wanted.items() if known}
    return Table("Scores", columns, rows)


def _adjusted(score: "Score") -> tuple[float, tuple[float, float]] | None:
    """Return the value adjusted for chance and its interval, of a score of few rows."""
    few = score.details.get("adjusted_for_chance")
    return few and (few["value"], (few["low"], few["high"]))


def score_strips(scores: Sequence["Score"]) -> Strips:
    """Draw scores with their intervals and chance levels."""
    strips = [
        Strip(
            title_of(one),
            [
                *marks_of(None if math.isnan(one.value) else one.value, ends(one.interval)),
                *([] if one.chance is None or math.isnan(one.chance.mean) else [Mark("tick", one.chance.mean)]),
            ],
            written(one.value),
            Pill("fragile", "open") if one.fragile else None,
        )
        for one in scores
    ]
    known = [one.value for one in scores if math.isfinite(one.value)]
    return Strips("Scores", strips, axis="Score; tick: chance level", ends=(min([0.0, *known]), max([1.0, *known])))


def native_strips(score: "Score") -> Strips | None:
    """Draw the values that a score is a mean of."""
    names, values = score._native()
    spans = score.native_intervals or (None,) * len(names)
    strips = [
        Strip(name(one), marks_of(None if math.isnan(value) else value, ends(span)), written(value))
        for one, value, span in zip(names, values, spans, strict=True)
    ]
    known = [value for value in values if math.isfinite(value)]
    limits = (min([0.0, *known]), max([1.0, *known]))
    return Strips(f"{title_of(score)} {score.native_unit}", strips[:MOST_CODES], ends=limits) if strips else None


def values_section(scores: Sequence["Score"]) -> Section:
    """Return the values that each metric averages."""
    panels = {title_of(one): [strips] for one in scores if (strips := native_strips(one))}
    return Section("Values per factor and code", [Choice("Metric", panels)]) if panels else NOTHING


def value_tables(scores: Sequence["Score"], most: int = 5) -> list[Table]:
    """Return values per factor, then per code, of a few metrics in each table."""
    tables = []
    for unit in ("per factor", "per code"):
        own = [one for one in scores if one.native_unit == unit]
        for start in range(0, len(own), most):
            part = own[start : start + most]
            columns = {unit.removeprefix("per ").capitalize(): "text", **{title_of(one): "number" for one in part}}
            names = dict.fromkeys(key for one in part for key in one.native)
            rows = [(name(key), *(one.native.get(key) for one in part)) for key in names]
            tables.append(Table(f"Values {unit}", columns, rows, first=len(rows)))
    return tables


def _classes(score: "Score") -> Table:
    """Return the table of a metric that looks at each class."""
    found = score.details["classes"]
    titles = [str(key).replace("_", " ").capitalize() for key in (found[0] if found else ())]
    numbers = [any(isinstance(row[key], float | int) for row in found) for key in (found[0] if found else ())]
    columns = {title: "number" if number else "text" for title, number in zip(titles, numbers, strict=True)}
    return Table("Classes", columns, [[_cell(cell) for cell in row.values()] for row in found])


def _cell(cell: object) -> Cell:
    if isinstance(cell, tuple):
        return ", ".join(written(one) if isinstance(one, float) else name(one) for one in cell)
    return cell if isinstance(cell, float | int) or cell is None else name(cell)


# Matrices -------------------------------------------------------------------------------------------------------------


def _rows(result: "Evaluation") -> Rows | None:
    return None if result.rows is None else result.rows.columns()


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
        both = bool(np.nanmin(values, initial=0.0) < -1e-9)
        heat = Heat(
            caption,
            [name(one.code_names[j]) for j in order],
            list(map(name, one.factor_names)),
            values[order].tolist(),
            axes=("code", "factor"),
            scale="both ways" if both else "all",
        )
        panels[caption] = [heat]
    notes: list[Block] = [] if verdict is None or shares is None else [*notes_on_map(verdict)]
    if len(panels) < 2:
        return [*(block for blocks in panels.values() for block in blocks), *notes]
    return [Choice("Quantity", panels), *notes]


def _sensitivity(pictures: Sequence["Dependency"]) -> Section:
    """Draw, for each factor, the codes that respond to it most, with the range that other factors cause."""
    by_factor: dict[str, list[Dependency]] = {}
    for one in sorted(pictures, key=lambda one: -one.score if one.score == one.score else 1.0):
        by_factor.setdefault(one.factor, []).append(one)
    order = dict.fromkeys(one.factor for one in pictures)
    panels = {name(factor): [_response(one) for one in by_factor[factor][:_MOST_RESPONSES]] for factor in order}
    says = (
        "The line is the mean of the code at each value of the factor; the band is the range that other factors cause. "
        "The two codes with the largest scores are shown."
    )
    return Section("Sensitivity to other factors", [says, Choice("Factor", panels)]) if panels else NOTHING


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
    if not found:
        return NOTHING
    strips = [
        Strip(title, [Mark("dot", one.raw), Mark("dot", one.aligned, None, 1)], f"gap {written(one.gap)}")
        for title, one in found
    ]
    columns = {
        "Metric": "text",
        "Codes as they are": "number",
        "Turned": "number",
        "Gap": "number",
        "Interval of the gap": "number",
        "Chance": "number?",
        "How codes were turned": "text?",
    }
    rows = [
        (
            title,
            one.raw,
            one.aligned,
            one.gap,
            ends(one.interval),
            None if one.chance is None else one.chance.mean,
            " and ".join(dict.fromkeys(half.candidate for half in one.halves)),
        )
        for title, one in found
    ]
    readings: dict[str, list[str]] = {}
    for title, one in sorted(found, key=lambda pair: pair[1].reading == "any axes"):
        readings.setdefault(one.headline(), []).append(title)
    said = [f"{joined(titles)}: {reading}" for reading, titles in readings.items()]
    says = "Axes are found on one half of the rows, and both scores are computed on the other half. "
    series = {0: "codes as they are", 1: "codes turned towards the factors"}
    figure = Strips("Aligned scores", strips, axis="Score", series=series)
    return Section("Aligned scores", [*said, figure, Table("Raw and aligned scores", columns, rows, says)])


def corrected_section(scores: Sequence["Score"]) -> Section:
    """Return scores on the annotations as given, and corrected for wrong ones."""
    found = [(one, one.corrected) for one in scores if one.corrected is not None]
    if not found:
        return NOTHING
    audited = any(own.audited_alone is not None for _, own in found)
    columns = {"Metric": "text", "As given": "number", "Corrected": "number", "Interval": "number"}
    columns |= {"Audited rows alone": "number"} if audited else {}
    rows = [
        (
            title_of(one),
            one.value,
            own.value,
            ends(own.interval),
            *([own.audited_alone] if audited else []),
            own.method,
        )
        for one, own in found
    ]
    strips = [
        Strip(
            title_of(one),
            [*marks_of(None if math.isnan(own.value) else own.value, ends(own.interval), 1), Mark("dot", one.value)],
            written(own.value) if own.value == own.value else written(ends(own.interval)),
        )
        for one, own in found
    ]
    figure = Strips("Corrected scores", strips, axis="Score", series={0: "annotations as given", 1: "corrected"})
    return Section("Corrected scores", [figure, Table("Given and corrected", {**columns, "Method": "text"}, rows)])


def assumptions_of(scores: Iterable["Score"]) -> tuple[str, ...]:
    """Return what corrected scores assume, each once."""
    return tuple(dict.fromkeys(text for one in scores if one.corrected for text in one.corrected.assumptions))
