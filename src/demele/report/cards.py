"""Results in a notebook: at most a screen of HTML each, with no script and no style but that of its own elements.

Colours are those of the text around, more or less of it, so that a card can be read on a dark ground as well.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from demele.report.page import Html, h
from demele.report.words import (
    number,
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


def card(words: str, frame: Any = None) -> Html:
    """Return a result as HTML for a notebook.

    Parameters
    ----------
    words : str
        What is said of it, a line each.
    frame : DataFrame, optional
        Its rows.

    Returns
    -------
    Html
        One element. What users named is escaped.
    """
    return _whole(words.splitlines(), "" if frame is None else _frame(frame))


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
