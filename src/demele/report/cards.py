"""Results in a notebook: at most a screen of HTML each, with no script and no style but that of its own elements.

Colours are those of the text around, more or less of it, so that a card can be read on a dark ground as well.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from demele.report.page import Html, h
from demele.report.paper_beside import beside_cells, beside_heads, beside_words
from demele.report.said import sentences_of
from demele.report.words import (
    adjusted_text,
    brackets,
    named,
    number,
    span_of,
)

__all__ = ["card"]

Item = Mapping[str, Any]
Ends = tuple[float, float]

#: What fits on a screen: sentences, rows of a table, columns of one.
_SENTENCES, _ROWS, _COLUMNS = 8, 12, 8
#: Scores of an evaluation are all that there are of demele's own.
_SCORES = 30
_WIDE, _HIGH = 170, 14
_LONG = 60
_BLUE = "#2a7fbf"


def card(kind: str, *contents: Any) -> Html:
    """Return a result as HTML for a notebook.

    Parameters
    ----------
    kind : str
        One that has a card of its own, such as ``"evaluation"``, or ``"table"``.
    *contents : object
        What the result's ``to_dict()`` returns; for a table, its words and the frame.

    Returns
    -------
    Html
        One element. What users named is escaped.
    """
    if kind == "table":
        words, frame = contents
        return _whole(words.splitlines(), "" if frame is None else _frame(frame))
    (content,) = contents
    return _whole(sentences_of(kind, content), _CARDS[kind](content))


# Parts ----------------------------------------------------------------------------------------------------------------


def _whole(sentences: Sequence[str], *parts: object) -> Html:
    headline, *others = sentences
    items = [h("li", sentence) for sentence in others[:_SENTENCES]]
    items += [h("li", f"and {len(others) - _SENTENCES} more sentences")] if len(others) > _SENTENCES else []
    return h(
        "div",
        h("p", headline, style="font-weight:600;margin:0 0 .5em"),
        h("ul", items, style="margin:0 0 .6em;padding-left:1.3em") if items else "",
        parts,
        style="max-width:62em;line-height:1.4;font-size:13px",
        class_="demele-card",
    )


def _table(heads: Sequence[object], rows: Sequence[Sequence[object]], *, of: int | None = None) -> Html:
    """Write a table; the first column names its rows, ``of`` says how many rows there are in all."""
    left, right = "text-align:left;padding:1px 10px 1px 0", "text-align:right;padding:1px 10px 1px 0"
    head = h("tr", [h("th", name, scope="col", style=right if place else left) for place, name in enumerate(heads)])
    lines = []
    for name, *cells in rows:
        first = h("th", _short(name), scope="row", style=f"{left};font-weight:400")
        lines.append(h("tr", first, [h("td", cell, style=right) for cell in cells]))
    whole = h("table", h("thead", head), h("tbody", lines), style="border-collapse:collapse;font-size:12px")
    hidden = 0 if of is None else of - len(rows)
    more = h("p", f"and {hidden:,} more rows", style="margin:.2em 0 0;opacity:.7;font-size:12px") if hidden > 0 else ""
    return h("div", whole, more, style="overflow-x:auto")


def _short(name: object) -> object:
    return name if isinstance(name, Html) or len(str(name)) <= _LONG else f"{str(name)[: _LONG - 1]}…"


def _strip(ends: Ends, *, value: float | None = None, span: Sequence[float | None] = (), rule: float | None = None,
           bar: bool = False, told: str = "") -> Html:  # fmt: skip
    """Draw a value, its interval and a rule, such as chance, on an axis; the numbers stand beside it."""
    low, high = ends

    def at(place: float) -> float:
        return round(_WIDE * (min(max(place, low), high) - low) / ((high - low) or 1.0), 1)

    def box(start: float, end: float, top: float, height: float, **look: object) -> Html:
        return h("rect", x=start, y=top, width=round(max(end - start, 1.2), 1), height=height, **look)

    parts = [box(0, _WIDE, 3, 8, fill="currentColor", fill_opacity="0.08")]
    if bar and value is not None:
        start, end = sorted((at(0.0), at(value)))
        parts.append(box(start, end, 3, 8, fill=_BLUE, fill_opacity="0.55"))
    if len(span) == 2 and span[0] is not None and span[1] is not None:
        thin = {"top": 6, "height": 2} if bar else {"top": 4, "height": 6}
        look = {"fill": "currentColor"} if bar else {"fill": _BLUE, "fill_opacity": "0.55"}
        parts.append(box(at(span[0]), at(span[1]), **thin, **look))  # type: ignore[arg-type]
    if rule is not None:
        parts.append(box(at(rule), at(rule), 0, _HIGH, fill="#c8540a"))
    if value is not None and not bar:
        parts.append(h("circle", cx=at(value), cy=_HIGH / 2, r=3, fill="currentColor"))
    return h("svg", h("title", told) if told else "", parts, width=_WIDE, height=_HIGH, role="img",
             viewBox=f"0 0 {_WIDE} {_HIGH}", style="vertical-align:middle")  # fmt: skip


def _frame(frame: Any) -> Html:
    names = [str(name) for name in frame.columns[:_COLUMNS]]
    names += ["…"] if len(frame.columns) > _COLUMNS else []
    rows = [
        [_cell(index), *map(_cell, values[:_COLUMNS]), *([""] if len(values) > _COLUMNS else [])]
        for index, values in zip(frame.index[:_ROWS], frame.head(_ROWS).itertuples(index=False, name=None), strict=True)
    ]
    return _table(["", *names], rows, of=len(frame))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return number(value)
    text = str(value)
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


def _ends(values: Iterable[float | None], *fixed: float) -> Ends:
    known = [value for value in values if value is not None]
    return min([*known, *fixed], default=0.0), max([*known, *fixed], default=1.0)


# Representations ------------------------------------------------------------------------------------------------------


def _score_row(score: Item, ends: Ends, beside: Iterable[str]) -> list[object]:
    chance = (score["chance"] or {}).get("mean")
    mark = h("strong", " !", title="fragile: see its notes") if score["fragile"] else ""
    strip = _strip(ends, value=score["value"], span=span_of(score["interval"]), rule=chance, bar=True)
    value = h("", number(score["value"]), mark)
    cells = ["" if chance is None else number(chance), *beside_cells(score, beside)]
    return [score["metric"], strip, value, f"{brackets(score['interval'])} {adjusted_text(score)}".strip(), *cells]


def _scores(scores: Sequence[Item]) -> Html:
    ends = _ends((score["value"] for score in scores), 0.0, 1.0)
    shown = scores[:_SCORES]
    beside = beside_heads(shown)
    heads = ["metric", "", "value", "interval", "chance", *(head.lower() for kind in beside.values() for head in kind)]
    fragile = any(score["fragile"] for score in shown)
    said = "! fragile: hangs on one setting, or is what noise scores; the notes say why. " if fragile else ""
    said += "Orange: chance." if any(score["chance"] for score in shown) else ""
    said += "".join(f" {text}." for text in beside_words(shown))
    foot = h("p", said, style="margin:.2em 0 0;opacity:.7;font-size:12px") if said else ""
    return h("", _table(heads, [_score_row(score, ends, beside) for score in shown], of=len(scores)), foot)


def _evaluation(content: Item) -> Html:
    left_out = [gap["metric"] for gap in content["left_out"]]
    gaps = h("p", f"No number: {', '.join(left_out)}.", style="margin:.3em 0 0") if left_out else ""
    return h("", _scores(content["scores"]), gaps)


def _score(content: Item) -> Html:
    native = content["native"]
    if not native:
        return _scores([content])
    intervals = content["native_intervals"] or {}
    ends = _ends(native.values(), 0.0, 1.0)
    rows: list[list[object]] = []
    for name, value in list(native.items())[:_ROWS]:
        pair = intervals.get(name) or ()
        shown = brackets((pair[0], pair[1])) if pair else ""
        rows.append([named(name), _strip(ends, value=value, span=pair, bar=True), number(value), shown])
    table = _table([content["native_unit"].removeprefix("per "), "", "value", "interval"], rows, of=len(native))
    return h("", _scores([content]), table) if beside_heads([content]) else table


# Classifiers ----------------------------------------------------------------------------------------------------------


_CARDS: Mapping[str, Callable[[Item], Html]] = {
    "evaluation": _evaluation,
    "score": _score,
}
