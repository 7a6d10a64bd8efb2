"""The page about one classifier: its measures as the labels show them, and on right labels."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.report.estimates import grid, interval_chart, interval_table, labels_page
from demele.report.page import Cell, Html, facts, h, lead, notes, of_kind, paragraph, signature, table
from demele.report.sentences import KINDS, assessment_headline, bias_words, by_class, estimate_words, find_estimate
from demele.report.words import (
    DASH,
    Text,
    digits_for,
    joined,
    level_text,
    link,
    named,
    percent,
    percent_range,
    points,
    span_of,
)

__all__ = ["write_assessment"]

Item = Mapping[str, Any]

_MEASURES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
#: With more classes than this, numbers stand above the columns of the matrix, and its cells hold no numbers.
_FEW = 15
#: Rows of the table of classes that are shown before the rest is asked for.
_FIRST = 20
_MEANINGS = {
    "Accuracy": "right of all instances",
    "Precision": "right of those predicted as the class",
    "Recall": "right of those that are of the class",
    "F1": "harmonic mean of precision and recall",
    "Macro average": "mean over classes, each counting the same",
    "Weighted average": "mean over classes, by their number of labels",
}


def write_assessment(assessment: Item, path: Path, title: str | None = None) -> Path:
    """Write what ``Assessment.to_dict()`` returns as one HTML file.

    The page needs no script to be read. A script orders, searches and folds tables, tells about cells of the confusion
    matrix and offers downloads.

    Raises
    ------
    InputError
        If the dictionary is not that of an assessment.
    """
    data = of_kind(assessment, "assessment")
    sections = [
        ("verdict", "In short", _verdict(data)),
        ("whole", "As a whole", _whole(data)),
        ("classes", "Class by class", _classes(data)),
        ("confusion", "What is taken for what", _confusion(data)),
        ("notes", "Notes", notes(data.get("notes") or ())),
        ("expert", "For experts", _expert(data)),
    ]
    return labels_page(
        data,
        kind="One classifier on labels that may be wrong",
        title=title or "How good is this classifier?",
        sections=sections,
        scripts=("assessment.js",),
        csv="estimates",
    ).write(path)


# In short -------------------------------------------------------------------------------------------------------------


def _verdict(data: Item) -> Html:
    accuracy = find_estimate(data, "accuracy")
    if accuracy is None:
        return lead(assessment_headline(data), [])
    own, right = span_of(accuracy.get("interval")), span_of(accuracy.get("corrected"))
    level = level_text(data["level"])
    if right[0] is None:
        sentences = [
            f"Other instances, with labels of the same quality, could have given {percent_range(own, digits_for(own))} "
            f"(level {level}).",
            "Nothing is known here of how many labels are wrong, so this is agreement with the labels; accuracy on "
            "right labels may be higher or lower.",
        ]
    else:
        kind = KINDS.get(str(accuracy["corrected"].get("kind")), "corrected")
        sentences = [f"Level {level}, {kind}.", _bias_sentence(accuracy.get("bias"))]
    sentences.append(_weakest(data))
    return lead(assessment_headline(data), sentences, assumptions=data.get("assumptions") or ())


def _bias_sentence(bias: Sequence[float | None] | None) -> str:
    low, high = (None, None) if bias is None else bias
    if low is None or high is None:
        return ""
    if low == high == 0:
        return "Label errors neither flatter nor harm it."
    if low == high:
        return f"Label errors make it look {points(abs(low))} points {'better' if low > 0 else 'worse'} than it is."
    flatter = [f"up to {points(high)} points better"] if high > 0 else []
    harm = [f"up to {points(-low)} points worse"] if low < 0 else []
    return f"Label errors may make it look {' or '.join(flatter + harm)} than it is."


def _weakest(data: Item) -> Text:
    _, found = by_class(data)
    values = [(item["f1"]["value"], name) for name, item in found.items() if "f1" in item]
    scored = sorted((pair for pair in values if pair[0] is not None), key=lambda pair: pair[0])
    if len(scored) < 4:
        return Text()
    shown = joined((Text(named(name), f" ({percent(value)})") for value, name in scored[:3]), last=", ")
    return Text("Lowest ", link("#classes", "F1"), f" of {len(scored):,} classes: ", shown, ".")


# As a whole -----------------------------------------------------------------------------------------------------------


def _whole(data: Item) -> Html:
    every, _ = by_class(data)
    rows = []
    for item in sorted(every, key=lambda one: one.get("of") is not None):
        name = str(estimate_words(item))
        rows.append((name[:1].upper() + name[1:], 0, item))
    known = [row for row in rows[:1] if row[0] == "Accuracy" and row[2].get("value") is not None]
    return h(
        "",
        paragraph(
            "Observed: against the given labels; the interval is what other instances with labels of the same quality "
            "could have given."
        ),
        interval_chart(known) if known else "",
        interval_table(rows, "Measures as a whole", "Measure") if rows else "",
    )


# Class by class -------------------------------------------------------------------------------------------------------


def _classes(data: Item) -> Html:
    _, found = by_class(data)
    if not found:
        return h("")
    measures = [measure for measure in _MEASURES if any(measure in item for item in found.values())]
    corrected = any(one.get("corrected") for item in found.values() for one in item.values())
    worst = "f1" if "f1" in measures else measures[0]

    def rank(item: Mapping[str, Item]) -> float:
        value = item[worst].get("value") if worst in item else None
        return -math.inf if value is None else float(value)

    rows = [
        [
            named(name),
            *(_trials(item, measure) for measure in ("recall", "precision")),
            *(_score(item.get(measure), "corrected" if corrected else "interval") for measure in measures),
        ]
        for name, item in sorted(found.items(), key=lambda pair: rank(pair[1]))
    ]
    heads: list[tuple[object, str] | None] = [("Class", "text"), ("Labelled", "number"), ("Predicted", "number")]
    heads += [(_MEASURES[measure], "number") for measure in measures]
    after = "on right labels" if corrected else "on other instances with labels of the same quality"
    more = f" The {_FIRST} weakest of {len(rows):,} classes come first." if len(rows) > _FIRST else ""
    return h(
        "",
        paragraph(
            f"Each measure against the given labels, and below it the interval {after}. A dash: no instance is "
            f"predicted, or labelled, as the class.{more}"
        ),
        table("Measures of each class, weakest F1 first", heads, rows, kind="classes", first=_FIRST, noun="classes"),
    )


def _trials(item: Mapping[str, Item], measure: str) -> Cell:
    trials = item[measure].get("trials") if measure in item else None
    return Cell(DASH if trials is None else f"{trials:,.0f}", trials)


def _score(item: Item | None, key: str) -> Cell:
    if item is None or item.get("value") is None:
        return Cell(DASH)
    low, high = span = span_of(item.get(key))
    value, digits = item["value"], digits_for(span)
    if low is None or high is None:
        return Cell(percent(value, digits), value)
    band = h("i", class_="band", style=f"--v:{100 * value:.1f}%;--l:{100 * low:.1f}%;--w:{100 * (high - low):.1f}%")
    shown = h("", percent(value, digits), band)
    return Cell(shown, value, below=percent_range(span, digits), kind="number score")


# Confusion ------------------------------------------------------------------------------------------------------------


def _confusion(data: Item) -> Html:
    found = data.get("confusion")
    if not found:
        k = len(data.get("classes") or ())
        return paragraph(f"There are {k:,} classes: too many for a matrix on a page.") if k > 50 else h("")
    names, counts = found["classes"], found["counts"]
    said = "truly" if found.get("rows") == "true" else "labelled"
    rows = [
        [_heat(value, value / (sum(row) or 1), i == j) for j, value in enumerate(row)] for i, row in enumerate(counts)
    ]
    return h(
        "",
        paragraph(
            f"Rows: the class that an instance is {said}. Columns: the class predicted. The darker, the larger the "
            "share of the row: ",
            *(h("span", "the same", class_="badge right"), " on the diagonal, "),
            *(h("span", "another", class_="badge wrong"), " beside it."),
        ),
        grid(f"Confusion matrix: rows {said}, columns predicted", names, rows, kind="heat", few=_FEW, data_said=said),
        _mistakes(names, counts, said),
    )


def _heat(value: int, share: float, right: bool) -> Html:
    # Roots of shares, so that rare mistakes can be seen beside the diagonal.
    ink = math.sqrt(share)
    kinds = " ".join(name for name, wanted in (("right", right), ("strong", ink > 0.6)) if wanted)
    text = f"{value / 1000:.0f}k" if value >= 10_000 else value or ""
    return h("td", text, class_=kinds, style=f"--h:{ink:.2f}" if value else None)


def _mistakes(names: Sequence[Any], counts: Sequence[Sequence[int]], said: str) -> Html:
    wrong = [(value, i, j) for i, row in enumerate(counts) for j, value in enumerate(row) if i != j and value]
    if not wrong:
        return h("")
    columns = [sum(row[j] for row in counts) for j in range(len(names))]
    rows = []
    for value, i, j in sorted(wrong, reverse=True)[:10]:
        shares = [value / sum(counts[i]), value / columns[j]]
        sizes = [Cell(f"{value:,}", value), *(Cell(percent(share), share) for share in shares)]
        rows.append([named(names[i]), Cell(named(names[j]), kind="text"), *sizes])
    heads: list[tuple[object, str] | None] = [(said.capitalize(), "text"), ("Predicted", "text")]
    heads += [(text, "number") for text in ("How many", f"of those {said}", "of those predicted")]
    return h("", h("h3", "Most frequent disagreements"), table("Most frequent disagreements", heads, rows))


def _expert(data: Item) -> Html:
    accuracy = find_estimate(data, "accuracy") or {}
    interval, right = accuracy.get("interval") or {}, accuracy.get("corrected") or {}
    bias = accuracy.get("bias")
    rows = [
        ("Instances", f"{data['n']:,}"),
        ("Classes", f"{len(data.get('classes') or ()):,}"),
        ("Level", f"{level_text(data['level'])}, of each interval by itself"),
        ("Interval", str(interval.get("method") or "")),
        ("Corrected", ", ".join(str(right[key]) for key in ("method", "kind") if right.get(key))),
        ("Bias of accuracy", f"{bias_words(bias)} points (observed minus correct)" if bias else ""),
        *_MEANINGS.items(),
    ]
    return h("", facts(rows), signature(data.get("signature")))
