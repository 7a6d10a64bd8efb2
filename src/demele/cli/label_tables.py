"""Verdicts on classifiers for eyes. What is shown are the plain dictionaries of the results."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.cli.tables import clipped, console_for, plain_table, trimmed
from demele.report.labels_sentences import (
    as_text,
    assessment_headline,
    bears_sentence,
    decision_headline,
    estimate_sentence,
    expert_sentence,
    prospect_sentence,
    ranking_headline,
)
from demele.report.labels_words import digits_for, points, points_range, span_of

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["assessment_table", "decision_table", "ranking_table"]

Content = Mapping[str, Any]
Words = Callable[[str], str]

#: Signs of the page as they are typed: every terminal has these, and a number that is copied is one to programs.
_TYPED = {ord("\N{MINUS SIGN}"): "-", ord("\N{EN DASH}"): "-"}
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
    console, text = console_for(output)
    _headline(console, assessment_headline(content))
    console.print(
        f"{name}: {content['n']:,} rows, {len(content['classes'])} classes, level {content['level']:g}; percent",
        style="dim",
        markup=False,
    )
    console.print()
    whole, by_class = _parted(content)
    digits = _digits(item["interval"] for item in whole)
    bounded = any(item["bias"] is not None for item in whole)
    corrected = any(item["corrected"] is not None for item in whole)
    heads = [
        *("measure", "apparent", "interval"),
        *(["bias"] if bounded else []),
        *(["on right labels"] if corrected else []),
    ]
    table = plain_table(*heads, numbers=len(heads) - 1)
    for item in whole:
        cells = [_what(item), _percent(item["value"], digits), _span(item["interval"], digits)]
        cells += [_bias(item["bias"], digits)] if bounded else []
        cells += [_span(item["corrected"], digits)] if corrected else []
        table.add_row(*map(_plain, cells))
    console.print(table)
    if bounded:
        _indented(console, "bias: apparent minus right, in points; a range if it is only bounded", style="dim")
    if by_class:
        _classes(console, by_class, corrected=corrected)
    _footnotes(console, content, words)
    return trimmed(text)


def _parted(content: Content) -> tuple[list[Content], dict[Any, dict[str, Content]]]:
    """Return what is of all classes, and the rest by class. A class may be called "macro" too: it comes first."""
    whole: list[Content] = []
    by_class: dict[Any, dict[str, Content]] = {}
    for item in content["estimates"]:
        own = by_class.setdefault(item["of"], {}) if item["of"] in content["classes"] else None
        if own is None or item["measure"] in own:
            whole.append(item)
        else:
            own[item["measure"]] = item
    return whole, by_class


def _classes(console: "Console", by_class: Mapping[Any, Mapping[str, Content]], *, corrected: bool) -> None:
    scored = [(items["f1"]["value"], of) for of, items in by_class.items()]
    order = [of for _, of in sorted(scored, key=lambda pair: (pair[0] is not None, pair[0] or 0.0))]
    kind = "corrected" if corrected else "interval"
    console.print()
    table = plain_table("class", "labelled", "precision", "recall", "F1", numbers=4)
    for of in order[:_MOST_CLASSES]:
        items = by_class[of]
        cells = [clipped(str(of), 12), f"{items['recall']['trials'] or 0:,.0f}"]
        cells += [f"{_percent(items[m]['value'], 1)} {_span(items[m][kind], 1)}".rstrip() for m in _CLASS_MEASURES]
        table.add_row(*map(_plain, cells))
    console.print(table)
    kinds = {items[m][kind]["kind"] for items in by_class.values() for m in _CLASS_MEASURES if items[m][kind]}
    told = f"in brackets: on right labels, {_KINDS.get(min(kinds, default=''), 'corrected')}" if corrected else ""
    hidden = len(order) - _MOST_CLASSES
    if hidden > 0:
        told += f"{'; ' if told else ''}the {_MOST_CLASSES} classes of least F1, {hidden:,} more with --format csv"
    if told:
        _indented(console, told, style="dim")


def decision_table(content: Content, *, output: Path | None = None, words: Words = str) -> str:
    """Write a decision: the verdict in a sentence, the two estimates, what it rests on."""
    console, text = console_for(output)
    _headline(console, decision_headline(content))
    sides = [content[side] for side in ("established", "candidate")]
    digits = _digits([*(item["interval"] for item in sides), content["interval"]])
    corrected = any(item["corrected"] is not None for item in sides)
    heads = [_what(sides[0]), "apparent", "interval", *(["on right labels"] if corrected else [])]
    table = plain_table(*heads, numbers=len(heads) - 1)
    for role, name, item in zip(("established", "candidate"), content["names"], sides, strict=True):
        told = clipped(str(name), 28)
        cells = [f"{told} ({role})" if name != role else told, _percent(item["value"], digits)]
        cells += [_span(item["interval"], digits), *([_span(item["corrected"], digits)] if corrected else [])]
        table.add_row(*map(_plain, cells))
    console.print(table)
    console.print()
    difference = "undefined"
    if content["difference"] is not None:
        span = _span(content["interval"], digits, sign=True)
        difference = f"{_percent(content['difference'], digits, sign=True)} {span}".rstrip() + " points"
    _indented(console, f"difference: {difference}, candidate minus established")
    if estimate_sentence(content):
        _indented(console, estimate_sentence(content))
    details = content["details"]
    if "label_says_candidate" in details:
        counts = [details[f"label_says_{who}"] for who in ("candidate", "established", "neither")]
        _indented(
            console,
            f"they disagree on {sum(counts):,} of {content['n']:,} rows: the label agrees with "
            f"{content['names'][1]} on {counts[0]:,}, with {content['names'][0]} on {counts[1]:,}, "
            f"with neither on {counts[2]:,}",
        )
    for sentence in (bears_sentence(content), expert_sentence(content)):
        if sentence:
            _indented(console, _text(sentence))
    if content["verdict"] == "undecided" and prospect_sentence(content):
        _indented(console, f"a random audit (demele audit): {_text(prospect_sentence(content))}")
    # The p-value is of the one claim; beside the verdict on the other it would only confuse.
    has_p = content["p_value"] is not None and content["verdict"] != "established"
    p_value = f", p = {content['p_value']:.3g} one-sided" if has_p else ""
    _indented(console, f"method {content['method']}, level {content['level']:g}{p_value}", style="dim")
    _footnotes(console, content, words)
    return trimmed(text)


def ranking_table(content: Content, *, output: Path | None = None, words: Words = str) -> str:
    """Write a ranking: each model with the ranks that the labels leave open."""
    console, text = console_for(output)
    if content["title"] is not None:
        _indented(console, content["title"], style="dim")
    _headline(console, ranking_headline(content))
    shown = content["models"]
    won, held = (_won(content[kind]) for kind in ("pairs", "reference"))
    digits = _digits(model["interval"] for model in shown)
    led = all(model.get("lead") is not None for model in shown)
    heads = ["model", "ranks", "apparent", "interval", *(["lead"] if led else []), "beats"]
    table = plain_table(*heads, *(["truly"] if held is not None else []), numbers=6)
    for model in shown:
        best, worst, name = model["best_rank"], model["worst_rank"], model["name"]
        cells = [clipped(str(name), 26), str(best) if best == worst else f"{best}-{worst}"]
        cells += [_percent(model["value"], digits), _span(model["interval"], digits)]
        cells += [f"{100 * model['lead']:+.2f}"] if led else []
        cells += [str(counts.get(name, 0)) for counts in (won, held) if counts is not None]
        table.add_row(*map(_plain, cells))
    console.print(table)
    console.print()
    told = f"apparent: {_what(shown[0])} against the given labels; "
    told += "lead: mean estimated difference to the others, in points, by which they are sorted; " if led else ""
    told += "beats: how many others it is shown to be better than"
    told += "; truly: the same, decided on the true labels" if held is not None else ""
    _indented(console, told, style="dim")
    shared = "each by itself" if content["correction"] == "none" else f"all verdicts together ({content['correction']})"
    _indented(console, f"method {content['method']}, level {content['level']:g} for {shared}", style="dim")
    _footnotes(console, content, words)
    return trimmed(text)


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


def _headline(console: "Console", html: str) -> None:
    """Print the sentence that the HTML page begins with."""
    _indented(console, _text(html), style="bold", indent="")
    console.print()


def _text(html: str) -> str:
    """Return a sentence as plain text, with minus signs as tables have them."""
    return as_text(html).replace("\N{MINUS SIGN}", "-")


def _indented(console: "Console", text: str, *, style: str = "", indent: str = "  ") -> None:
    for line in textwrap.wrap(text, console.width, subsequent_indent=indent, break_on_hyphens=False):
        console.print(line, style=style, markup=False)


def _footnotes(console: "Console", content: Content, words: Words) -> None:
    """Print what the result assumes, and what its reader must know."""
    lines = [f"assumes: {item}" for item in content["assumptions"]] + [
        f"note: {item['message']}" for item in content["notes"]
    ]
    if lines:
        console.print()
    for line in lines:
        _indented(console, words(line))


def _what(item: Content) -> str:
    measure = "F1" if item["measure"] == "f1" else item["measure"]
    return measure if item["of"] is None else f"{measure} {item['of']}"


def _digits(intervals: Any) -> int:
    """Return how many decimals of a percent are worth showing, for the narrowest of some intervals."""
    return min(2, max((digits_for(span_of(interval)) for interval in intervals), default=1))


def _percent(value: float | None, digits: int, *, sign: bool = False) -> str:
    return points(value, digits, sign=sign).translate(_TYPED)


def _span(interval: Content | None, digits: int, *, sign: bool = False) -> str:
    return points_range(span_of(interval), digits, sign=sign).translate(_TYPED)


def _bias(bias: Sequence[float | None] | None, digits: int) -> str:
    if bias is None or bias[0] is None:
        return ""
    low, high = bias
    return _percent(low, digits, sign=True) if low == high else _span({"low": low, "high": high}, digits, sign=True)


def _plain(text: str) -> Any:
    from rich.text import Text

    return Text(text)
