"""One self-contained HTML page about one classifier: its measures as the labels show them, and on right labels."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from demele.report.bench_view import plain
from demele.report.labels_parts import (
    KINDS,
    Item,
    assumptions,
    bias_words,
    cell,
    checked,
    estimate_words,
    facts,
    grid,
    interval_chart,
    interval_table,
    lead,
    notes,
    signature,
    table,
    write,
)
from demele.report.labels_sentences import assessment_headline, find_estimate
from demele.report.labels_words import digits_for, level_text, percent, percent_range, points, span_of
from demele.report.words import DASH, named

__all__ = ["write_assessment"]

_MEASURES = ("precision", "recall", "f1")
#: With more classes than this, numbers stand above the columns of the matrix, and its cells hold no numbers.
_FEW = 15
#: Rows of the table of classes that are shown before the rest is asked for.
_FIRST = 20
_AVERAGES = ("macro", "micro", "weighted")
_MEANINGS = {
    "Accuracy": "right of all instances",
    "Precision": "right of those predicted as the class",
    "Recall": "right of those that are of the class",
    "F1": "harmonic mean of precision and recall",
    "Macro average": "mean over classes, each counting the same",
    "Weighted average": "mean over classes, by their number of labels",
}


def write_assessment(assessment: Mapping[str, Any], path: Path, title: str | None = None) -> Path:
    """Write one HTML file about one classifier on labels that may be wrong.

    Parameters
    ----------
    assessment : mapping
        What ``Assessment.to_dict()`` returns.
    path : Path
        The file; replaced if it exists.
    title : str, optional
        Heading of the page.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the dictionary is not that of an assessment.

    Notes
    -----
    The page needs no script to be read. A script orders, searches and folds tables, tells about cells of the confusion
    matrix and offers downloads; a content security policy forbids it any request.
    """
    data = checked(plain(assessment), "assessment")
    sections = [
        ("verdict", "In short", _verdict(data)),
        ("whole", "As a whole", _whole(data)),
        ("classes", "Class by class", _classes(data)),
        ("confusion", "What is taken for what", _confusion(data)),
        ("notes", "Notes", notes(data.get("notes") or ())),
        ("expert", "For experts", _expert(data)),
    ]
    return write(
        data,
        Path(path),
        kind="One classifier on labels that may be wrong",
        title=title or "How good is this classifier?",
        sections=sections,
        scripts=("labels.js", "assessment.js"),
        csv="estimates",
    )


def _by_class(data: Item) -> dict[Any, dict[str, Item]]:
    """Return the estimates of each class, by measure, in the order of the classes."""
    found: dict[Any, dict[str, Item]] = {}
    for item in data["estimates"]:
        if item.get("of") is not None and not _is_average(data, item):
            found.setdefault(item["of"], {})[item["measure"]] = item
    return found


def _is_average(data: Item, item: Item) -> bool:
    """Whether an estimate is a mean over classes. A class may be called "macro" too: classes come first."""
    of = item.get("of")
    if of not in _AVERAGES or of not in (data.get("classes") or ()):
        return of in _AVERAGES
    alike = (other for other in data["estimates"] if (other["measure"], other.get("of")) == (item["measure"], of))
    return next(alike) is not item


# In short -------------------------------------------------------------------------------------------------------------


def _verdict(data: Item) -> str:
    accuracy = find_estimate(data, "accuracy")
    if accuracy is None:
        return lead(assessment_headline(data), [])
    own = span_of(accuracy.get("interval"))
    right = span_of(accuracy.get("corrected"))
    digits = digits_for(own)
    level = level_text(data["level"])
    if right[0] is None:
        sentences = [
            f"Other instances, with labels of the same quality, could have given {percent_range(own, digits)} "
            f"(level {level}).",
            "Nothing is known here of how many labels are wrong, so this is agreement with the labels; accuracy on "
            "right labels may be higher or lower.",
        ]
    else:
        sentences = [
            f"Level {level}, {escape(KINDS.get(str(accuracy['corrected'].get('kind')), 'corrected'))}.",
            _bias_sentence(accuracy.get("bias")),
        ]
    sentences.append(_weakest(data))
    return lead(assessment_headline(data), sentences) + assumptions(
        data.get("assumptions") or (), "<strong>This assumes:</strong>"
    )


def _bias_sentence(bias: Sequence[float | None] | None) -> str:
    low, high = (None, None) if bias is None else bias
    if low is None or high is None:
        return ""
    if low == high:
        if low == 0:
            return "Label errors neither flatter nor harm it."
        better = "better" if low > 0 else "worse"
        return f"Label errors make it look {points(abs(low))} points {better} than it is."
    flatter = f"up to {points(high)} points better" if high > 0 else ""
    harm = f"up to {points(-low)} points worse" if low < 0 else ""
    return f"Label errors may make it look {' or '.join(part for part in (flatter, harm) if part)} than it is."


def _weakest(data: Item) -> str:
    scored = [
        (item["f1"]["value"], name)
        for name, item in _by_class(data).items()
        if "f1" in item and item["f1"].get("value") is not None
    ]
    if len(scored) < 4:
        return ""
    scored.sort(key=lambda pair: pair[0])
    shown = ", ".join(f"{named(name)} ({percent(value)})" for value, name in scored[:3])
    return f'Lowest <a href="#classes">F1</a> of {len(scored):,} classes: {shown}.'


# As a whole -----------------------------------------------------------------------------------------------------------


def _whole(data: Item) -> str:
    accuracy = find_estimate(data, "accuracy")
    rows = [
        (estimate_words(item).capitalize(), 0, item)
        for item in (accuracy, find_estimate(data, "error"))
        if item is not None
    ]
    averages = [
        (_capital(estimate_words(item, average=True)), 0, item) for item in data["estimates"] if _is_average(data, item)
    ]
    chart = (
        interval_chart([("Accuracy", 0, accuracy)])
        if accuracy is not None and accuracy.get("value") is not None
        else ""
    )
    words = (
        "<p>Apparent: against the given labels; the interval is what other instances with labels of the same quality "
        "could have given.</p>"
    )
    return (
        words
        + chart
        + (interval_table([*rows, *averages], "Measures as a whole", "Measure") if rows or averages else "")
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# Class by class -------------------------------------------------------------------------------------------------------


def _classes(data: Item) -> str:
    found = _by_class(data)
    if not found:
        return ""
    measures = [measure for measure in _MEASURES if any(measure in item for item in found.values())]
    corrected = any(one.get("corrected") for item in found.values() for one in item.values())
    key = "corrected" if corrected else "interval"
    worst = "f1" if "f1" in measures else measures[0]

    def rank(item: Mapping[str, Item]) -> float:
        value = item[worst].get("value") if worst in item else None
        return -math.inf if value is None else float(value)

    rows = []
    for name, item in sorted(found.items(), key=lambda pair: rank(pair[1])):
        cells = [_trials(item, "recall"), _trials(item, "precision")]
        cells += [_score(item.get(measure), key) for measure in measures]
        rows.append(f'<tr><th scope="row">{named(name)}</th>{"".join(cells)}</tr>')
    titles = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
    heads = [("Class", "text"), ("Labelled", "number"), ("Predicted", "number")]
    heads += [(titles[measure], "number") for measure in measures]
    after = "on right labels" if corrected else "on other instances with labels of the same quality"
    more = f" The {_FIRST} weakest of {len(rows):,} classes come first." if len(rows) > _FIRST else ""
    return (
        f"<p>Each measure against the given labels, and below it the interval {after}. A dash: no instance is "
        f"predicted, or labelled, as the class.{more}</p>"
        + table("Measures of each class, weakest F1 first", heads, rows, kind="classes", first=_FIRST, noun="classes")
    )


def _trials(item: Mapping[str, Item], measure: str) -> str:
    trials = item[measure].get("trials") if measure in item else None
    return cell(DASH if trials is None else f"{trials:,.0f}", trials)


def _score(item: Item | None, key: str) -> str:
    if item is None or item.get("value") is None:
        return cell(DASH)
    low, high = span = span_of(item.get(key))
    value = item["value"]
    digits = digits_for(span)
    if low is None or high is None:
        return cell(percent(value, digits), value)
    band = f"--v:{100 * value:.1f}%;--l:{100 * low:.1f}%;--w:{100 * (high - low):.1f}%"
    return cell(
        f'{percent(value, digits)}<i class="band" style="{band}"></i>'
        f'<span class="interval below">{percent_range(span, digits)}</span>',
        value,
        kind="number score",
    )


# Confusion ------------------------------------------------------------------------------------------------------------


def _confusion(data: Item) -> str:
    found = data.get("confusion")
    if not found:
        k = len(data.get("classes") or ())
        return f"<p>There are {k:,} classes: too many for a matrix on a page.</p>" if k > 50 else ""
    names, counts = found["classes"], found["counts"]
    said = "truly" if found.get("rows") == "true" else "labelled"
    rows = []
    for i, row in enumerate(counts):
        total = sum(row)
        rows.append("".join(_heat(value, value / total if total else 0.0, i == j) for j, value in enumerate(row)))
    mistakes = _mistakes(names, counts, said)
    return (
        f"<p>Rows: the class that an instance is {said}. Columns: the class predicted. The darker, the larger the "
        'share of the row: <span class="badge right">the same</span> on the diagonal, '
        '<span class="badge wrong">another</span> beside it.</p>'
        + grid(
            f"Confusion matrix: rows {said}, columns predicted",
            [str(name) for name in names],
            rows,
            kind="heat",
            few=_FEW,
            attributes=f' data-said="{said}"',
        )
        + f'<p class="grid-says" id="grid-says" role="status"></p>{mistakes}'
    )


def _heat(value: int, share: float, right: bool) -> str:
    # Roots of shares, so that rare mistakes can be seen beside the diagonal.
    ink = math.sqrt(share)
    kinds = " ".join(name for name, wanted in (("right", right), ("strong", ink > 0.6)) if wanted)
    own = f' class="{kinds}"' if kinds else ""
    style = f' style="--h:{ink:.2f}"' if value else ""
    return f"<td{own}{style}>{value or ''}</td>" if value < 10_000 else f"<td{own}{style}>{value / 1000:.0f}k</td>"


def _mistakes(names: Sequence[Any], counts: Sequence[Sequence[int]], said: str) -> str:
    found = sorted(
        ((value, i, j) for i, row in enumerate(counts) for j, value in enumerate(row) if i != j and value), reverse=True
    )
    if not found:
        return ""
    columns = [sum(row[j] for row in counts) for j in range(len(names))]
    rows = [
        f'<tr><th scope="row">{named(names[i])}</th>{cell(named(names[j]), kind="text")}{cell(f"{value:,}", value)}'
        f"{cell(percent(value / sum(counts[i])), value / sum(counts[i]))}"
        f"{cell(percent(value / columns[j]), value / columns[j])}</tr>"
        for value, i, j in found[:10]
    ]
    heads = [
        (said.capitalize(), "text"),
        ("Predicted", "text"),
        ("How many", "number"),
        (f"of those {said}", "number"),
        ("of those predicted", "number"),
    ]
    return "<h3>Most frequent disagreements</h3>" + table("Most frequent disagreements", heads, rows)


# For experts ----------------------------------------------------------------------------------------------------------


def _expert(data: Item) -> str:
    accuracy = find_estimate(data, "accuracy") or {}
    interval, right = accuracy.get("interval") or {}, accuracy.get("corrected") or {}
    rows = [
        ("Instances", f"{data['n']:,}"),
        ("Classes", f"{len(data.get('classes') or ()):,}"),
        ("Level", f"{level_text(data['level'])}, of each interval by itself"),
        ("Interval", escape(str(interval.get("method") or ""))),
        (
            "Corrected",
            escape(", ".join(str(right[key]) for key in ("method", "kind") if right.get(key))),
        ),
        (
            "Bias of accuracy",
            f"{bias_words(accuracy.get('bias'))} points (apparent minus correct)" if accuracy.get("bias") else "",
        ),
        *((name, escape(meaning)) for name, meaning in _MEANINGS.items()),
    ]
    return facts(rows) + signature(data.get("signature"))
