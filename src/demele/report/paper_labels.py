"""Verdicts on classifiers as tables for a paper; shares in percent, with as many digits as pages show."""

from collections.abc import Iterable, Mapping
from typing import Any

from demele.report.paper_table import Footnotes, PaperRow, PaperTable
from demele.report.sentences import (
    assessment_headline,
    bears_sentence,
    bias_words,
    by_class,
    decision_headline,
    expert_sentence,
    ranking_headline,
)
from demele.report.words import DASH, digits_for, level_text, measure_word, points, points_range, span_of

__all__ = ["assessment_paper", "decision_paper", "ranking_paper"]

Content = Mapping[str, Any]
#: Classes in a table, those of least F1 first.
MOST_CLASSES = 20


def decision_paper(content: Content) -> PaperTable:
    """Two classifiers, and their difference."""
    sides = [content[role] for role in ("baseline", "candidate")]
    digits = _digits([*(item["interval"] for item in sides), content["interval"]])
    corrected = any(item["corrected"] is not None for item in sides)
    rows = []
    for name, item in zip(content["names"], sides, strict=True):
        cells = [_with_span(item["value"], item["interval"], digits)]
        rows.append(PaperRow(str(name), (*cells, *([_span(item["corrected"], digits)] if corrected else []))))
    difference = _with_span(content["difference"], content["interval"], digits, sign=True)
    rows.append(PaperRow("Difference", (*([""] if corrected else []), difference)))
    told = (decision_headline(content), bears_sentence(content), expert_sentence(content))
    caption = f"{_head(_what(sides[0]))} on {content['n']:,} rows, in percent. "
    caption += " ".join(str(sentence) for sentence in told if sentence)
    caption += f" Method {content['method']}, level {level_text(content['level'])}; difference: {content['names'][1]} "
    caption += f"minus {content['names'][0]}."
    heads = ("Classifier", "On the given labels", *(["On right labels"] if corrected else []))
    return _made("-".join(map(str, content["names"])), caption, heads, [("", rows)], content)


def ranking_paper(content: Content) -> PaperTable:
    """Models, best estimate first, each with the ranks that are left open."""
    models = content["models"]
    digits = _digits(model["interval"] for model in models)
    led = all(model.get("lead") is not None for model in models)
    won = [pair["candidate"] for pair in content["pairs"] if pair["verdict"] == "candidate"]
    rows = []
    for model in models:
        best, worst = model["best_rank"], model["worst_rank"]
        cells = [str(best) if best == worst else f"{best}–{worst}"]
        cells.append(_with_span(model["value"], model["interval"], digits))
        cells += [points(model["lead"], 2, sign=True)] if led else []
        rows.append(PaperRow(str(model["name"]), (*cells, str(won.count(model["name"])))))
    shared = "for each by itself" if content["correction"] == "none" else f"for all together ({content['correction']})"
    caption = f"{ranking_headline(content)} {_head(_what(models[0]))} on the given labels of {content['n']:,} rows, "
    caption += f"in percent; method {content['method']}, level {level_text(content['level'])} {shared}. "
    caption += "Lead: mean estimated difference to the others, in points. " if led else ""
    caption += "Beats: how many others a model is shown to be better than."
    heads = ("Model", "Ranks", _head(_what(models[0])), *(["Lead"] if led else []), "Beats")
    return _made("ranking", caption, heads, [("", rows)], content)


def assessment_paper(content: Content) -> PaperTable:
    """Measures of all classes, then class by class."""
    every, found = by_class(content)
    items = [*every, *(item for own in found.values() for item in own.values())]
    bounded = any(item["bias"] is not None for item in items)
    corrected = any(item["corrected"] is not None for item in items)
    digits = _digits(item["interval"] for item in every)

    def row(head: str, item: Content) -> PaperRow:
        cells = [_with_span(item["value"], item["interval"], digits)]
        cells += [bias_words(item["bias"])] if bounded else []
        return PaperRow(head, (*cells, *([_span(item["corrected"], digits)] if corrected else [])))

    groups = [("All classes", [row(_head(_what(item)), item) for item in every])]
    order = sorted(found, key=lambda of: (found[of]["f1"]["value"] is not None, found[of]["f1"]["value"] or 0.0))
    groups += [
        (f"Class {of}", [row(_head(_word(item)), item) for item in found[of].values()]) for of in order[:MOST_CLASSES]
    ]
    heads = (
        "Measure",
        "On the given labels",
        *(["Bias"] if bounded else []),
        *(["On right labels"] if corrected else []),
    )
    headline = assessment_headline(content).removeprefix("It ")
    caption = f"The classifier {headline} In percent; brackets: {level_text(content['level'])} intervals."
    caption += " Bias: measure on the given labels minus measure on right ones, in points." if bounded else ""
    hidden = len(order) - MOST_CLASSES
    caption += f" Classes of least F1 first; {hidden:,} more are not shown." if hidden > 0 else ""
    return _made("assessment", caption, heads, groups, content)


def _made(
    name: str,
    caption: str,
    heads: tuple[str, ...],
    groups: Iterable[tuple[str, list[PaperRow]]],
    content: Content,
) -> PaperTable:
    notes = Footnotes()
    for item in content["assumptions"]:
        notes.add(f"Assumes: {item}", marked=False)
    for note in content["notes"]:
        if note["severity"] != "info":
            notes.add(note["message"], marked=False)
    return PaperTable(
        name=name,
        caption=caption,
        heads=heads,
        groups=tuple((heading, tuple(rows)) for heading, rows in groups),
        notes=notes.all,
        comments=(f"Made by demele {content.get('demele') or '?'}.", str(content["signature"])),
    )


def _head(text: str) -> str:
    return text[:1].upper() + text[1:]


def _word(item: Content) -> str:
    return measure_word(str(item["measure"]))


def _what(item: Content) -> str:
    return _word(item) if item["of"] is None else f"{_word(item)} {item['of']}"


def _digits(intervals: Iterable[Content | None]) -> int:
    return min(2, max((digits_for(span_of(interval)) for interval in intervals), default=1))


def _span(interval: Content | None, digits: int, *, sign: bool = False) -> str:
    return points_range(span_of(interval), digits, sign=sign) or DASH


def _with_span(value: float | None, interval: Content | None, digits: int, *, sign: bool = False) -> str:
    return f"{points(value, digits, sign=sign)} {points_range(span_of(interval), digits, sign=sign)}".strip()
