"""Documents as cards of a notebook: sentences and the first rows of the table, without a script or a style sheet."""

from demele.report.document import Cell, Document
from demele.report.renderers.elements import Html, h
from demele.report.renderers.tables import main_table
from demele.report.words import is_minor, is_number, written

_MOST_SENTENCES, _MOST_ROWS, _MOST_COLUMNS = 5, 12, 7
_CELL = "padding:.15em .9em .15em 0;border:0;background:none;text-align:"


def card(document: Document) -> str:
    """Return a document as HTML that takes the colours of what is around it."""
    first, *others = (document.headline, *document.sentences)[:_MOST_SENTENCES]
    scope = h("p", " · ".join(document.scope), style="margin:.2em 0;opacity:.7;font-size:90%")
    return h(
        "div",
        h("p", first, style="margin:.2em 0;font-weight:600"),
        scope if document.scope else None,
        (h("p", text, style="margin:.2em 0") for text in others),
        _table(document),
    )


def _table(document: Document) -> Html | None:
    table = main_table(document)
    if table is None or not table.rows:
        return None
    titles, forms = list(table.columns), list(table.columns.values())
    places = sorted(sorted(range(len(forms)), key=lambda place: is_minor(forms[place]))[:_MOST_COLUMNS])

    def cell(tag: str, content: Cell, place: int) -> Html:
        side = "right" if is_number(forms[place]) else "left"
        return h(tag, written(content, forms[place]), style=f"{_CELL}{side};font-variant-numeric:tabular-nums")

    head = h("tr", (cell("th", titles[place], place) for place in places))
    rows = (h("tr", (cell("td", row[place], place) for place in places)) for row in table.rows[:_MOST_ROWS])
    more = len(table.rows) - _MOST_ROWS
    left_out = h("p", f"and {more:,} more rows", style="margin:.2em 0;opacity:.7;font-size:90%") if more > 0 else None
    return h("", h("table", head, rows, style="border-collapse:collapse;margin:.4em 0"), left_out)
