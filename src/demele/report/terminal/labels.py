"""Verdicts on classifiers in a terminal, in the sentences of their pages."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.report.said import digits_of, sentences_of, typed_percent, typed_span
from demele.report.sentences import by_class
from demele.report.terminal.sheet import Sheet, Words, clipped
from demele.report.words import measure_word

__all__ = ["assessment_table", "decision_table", "ranking_table"]

Content = Mapping[str, Any]

#: Classes of an assessment shown in a table, worst first.
_MOST_CLASSES = 20
_CLASS_MEASURES = ("precision", "recall", "f1")
#: What was left open can be said in a word for each kind of interval.
_KINDS = {
    "shifted": "bias known",
    "bias-union": "worst case of the noise allowed",
    "worst-case": "worst case of the noise allowed",
    "design": "from the audit",
}


def assessment_table(content: Content, *, name: str, output: Path | None = None, words: Words = str) -> str:
    """Write an assessment: what holds for all classes, then class by class, worst F1 first."""
    sheet = Sheet(output)
    _headline(sheet, sentences_of("assessment", content)[0])
    sheet.line(
        f"{name}: {content['n']:,} rows, {len(content['classes'])} classes, level {content['level']:g}; percent", "dim"
    )
    sheet.blank()
    every, found = by_class(content)
    digits = digits_of(item["interval"] for item in every)
    bounded = any(item["bias"] is not None for item in every)
    corrected = any(item["corrected"] is not None for item in every)
    heads = ["measure", "observed", "interval"]
    heads += [head for head, there in (("bias", bounded), ("on right labels", corrected)) if there]
    rows = []
    for item in every:
        cells = [_what(item), *_estimate(item, digits)]
        cells += [_bias(item["bias"], digits)] if bounded else []
        rows.append([*cells, *([typed_span(item["corrected"], digits)] if corrected else [])])
    sheet.table(heads, rows, numbers=len(heads) - 1)
    if bounded:
        sheet.wrapped("bias: observed minus right, in points; a range if it is only bounded", "dim")
    if found:
        _classes(sheet, found, corrected=corrected)
    _footnotes(sheet, content, words)
    return sheet.text()


def _classes(sheet: Sheet, found: Mapping[Any, Mapping[str, Content]], *, corrected: bool) -> None:
    scored = [(items["f1"]["value"], of) for of, items in found.items()]
    order = [of for _, of in sorted(scored, key=lambda pair: (pair[0] is not None, pair[0] or 0.0))]
    kind = "corrected" if corrected else "interval"
    sheet.blank()
    rows = []
    for of in order[:_MOST_CLASSES]:
        items = found[of]
        cells = [clipped(of, 12), f"{items['recall']['trials'] or 0:,.0f}"]
        cells += [
            f"{typed_percent(items[m]['value'], 1)} {typed_span(items[m][kind], 1)}".rstrip() for m in _CLASS_MEASURES
        ]
        rows.append(cells)
    sheet.table(["class", "labelled", "precision", "recall", "F1"], rows, numbers=4)
    kinds = {items[m][kind]["kind"] for items in found.values() for m in _CLASS_MEASURES if items[m][kind]}
    told = [f"in brackets: on right labels, {_KINDS.get(min(kinds, default=''), 'corrected')}"] if corrected else []
    hidden = len(order) - _MOST_CLASSES
    if hidden > 0:
        told.append(f"the {_MOST_CLASSES} classes of least F1, {hidden:,} more with --format csv")
    if told:
        sheet.wrapped("; ".join(told), "dim")


def decision_table(content: Content, *, output: Path | None = None, words: Words = str) -> str:
    """Write a decision: the verdict in a sentence, the two estimates, what it rests on."""
    sheet = Sheet(output)
    headline, *sentences = sentences_of("decision", content)
    _headline(sheet, headline)
    roles = ("baseline", "candidate")
    sides = [content[role] for role in roles]
    digits = digits_of([*(item["interval"] for item in sides), content["interval"]])
    corrected = any(item["corrected"] is not None for item in sides)
    rows = []
    for role, name, item in zip(roles, content["names"], sides, strict=True):
        told = clipped(name, 28)
        cells = [f"{told} ({role})" if name != role else told, *_estimate(item, digits)]
        rows.append([*cells, *([typed_span(item["corrected"], digits)] if corrected else [])])
    heads = [_what(sides[0]), "observed", "interval", *(["on right labels"] if corrected else [])]
    sheet.table(heads, rows, numbers=len(heads) - 1)
    sheet.blank()
    for sentence in sentences:
        sheet.wrapped(sentence)
    # The p-value is of the one claim; beside the verdict on the other it would only confuse.
    has_p = content["p_value"] is not None and content["verdict"] != "baseline"
    p_value = f", p = {content['p_value']:.3g} one-sided" if has_p else ""
    sheet.wrapped(f"method {content['method']}, level {content['level']:g}{p_value}", "dim")
    _footnotes(sheet, content, words)
    return sheet.text()


def ranking_table(content: Content, *, output: Path | None = None, words: Words = str) -> str:
    """Write a ranking: each model with the ranks that the labels leave open."""
    sheet = Sheet(output)
    if content["title"] is not None:
        sheet.wrapped(content["title"], "dim")
    _headline(sheet, sentences_of("ranking", content)[0])
    shown = content["models"]
    won, held = (_won(content[kind]) for kind in ("pairs", "reference"))
    digits = digits_of(model["interval"] for model in shown)
    led = all(model.get("lead") is not None for model in shown)
    rows = []
    for model in shown:
        best, worst = model["best_rank"], model["worst_rank"]
        cells = [clipped(model["name"], 26), str(best) if best == worst else f"{best}-{worst}"]
        cells += [*_estimate(model, digits), *([f"{100 * model['lead']:+.2f}"] if led else [])]
        rows.append([*cells, *(str(counts.get(model["name"], 0)) for counts in (won, held) if counts is not None)])
    heads = ["model", "ranks", "observed", "interval", *(["lead"] if led else []), "beats"]
    sheet.table([*heads, *(["truly"] if held is not None else [])], rows, numbers=6)
    sheet.blank()
    told = [f"observed: {_what(shown[0])} against the given labels"]
    told += ["lead: mean estimated difference to the others, in points, by which they are sorted"] if led else []
    told += ["beats: how many others it is shown to be better than"]
    told += ["truly: the same, decided on the true labels"] if held is not None else []
    sheet.wrapped("; ".join(told), "dim")
    shared = "each by itself" if content["correction"] == "none" else f"all verdicts together ({content['correction']})"
    sheet.wrapped(f"method {content['method']}, level {content['level']:g} for {shared}", "dim")
    _footnotes(sheet, content, words)
    return sheet.text()


def _won(pairs: Sequence[Content] | None) -> dict[str, int] | None:
    """Return how many others each model is shown to be better than."""
    if pairs is None:
        return None
    counts: dict[str, int] = {}
    for pair in pairs:
        if pair["verdict"] == "candidate":
            counts[pair["candidate"]] = counts.get(pair["candidate"], 0) + 1
    return counts


# Parts -----------------------------------------------------------------------------------------------------------


def _headline(sheet: Sheet, sentence: str) -> None:
    """Print the sentence that the HTML page begins with."""
    sheet.wrapped(sentence, "bold", indent="")
    sheet.blank()


def _footnotes(sheet: Sheet, content: Content, words: Words) -> None:
    """Print what the result assumes, and what its reader must know."""
    lines = [f"assumes: {words(item)}" for item in content["assumptions"]]
    lines += [f"note: {words(item['message'])}" for item in content["notes"]]
    if lines:
        sheet.blank()
    for line in lines:
        sheet.wrapped(line)


def _what(item: Content) -> str:
    measure = measure_word(str(item["measure"]))
    return measure if item["of"] is None else f"{measure} {item['of']}"


def _estimate(item: Content, digits: int) -> list[str]:
    return [typed_percent(item["value"], digits), typed_span(item["interval"], digits)]


def _bias(bias: Sequence[float | None] | None, digits: int) -> str:
    if bias is None or bias[0] is None:
        return ""
    low, high = bias
    return (
        typed_percent(low, digits, sign=True)
        if low == high
        else typed_span({"low": low, "high": high}, digits, sign=True)
    )
