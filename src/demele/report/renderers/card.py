"""Documents as cards of a notebook: sentences and the first rows of the table, without a script or a style sheet."""

from demele.report.document import Cell, Document, Table
from demele.report.renderers.elements import Html, h
from demele.report.renderers.tables import shown_tables
from demele.report.words import is_minor, is_number, written

_MOST_SENTENCES, _MOST_ROWS, _MOST_COLUMNS = 4, 12, 7
_LINE, _SOFT = "margin:.2em 0", "opacity:.7;font-size:90%"
_CELL = "padding:.15em .9em .15em 0;border:0;background:none;text-align:"


def card(document: Document) -> str:
    """Return a document as HTML that takes the colours of what is around it."""
    scope = h("p", " · ".join(document.scope), style=f"{_LINE};{_SOFT}") if document.scope else None
    sentences = (h("p", text, style=_LINE) for text in document.sentences[:_MOST_SENTENCES])
    headline = h("p", document.headline, style=f"{_LINE};font-weight:600")
    return h("div", headline, scope, sentences, map(_table, shown_tables(document)[:1]))


def _table(table: Table) -> Html:
    titles, forms = list(table.columns), list(table.columns.values())
    places = sorted(sorted(range(len(forms)), key=lambda place: is_minor(forms[place]))[:_MOST_COLUMNS])

    def cell(tag: str, content: Cell, place: int) -> Html:
        side = "right" if is_number(forms[place]) else "left"
        return h(tag, written(content, forms[place]), style=f"{_CELL}{side};font-variant-numeric:tabular-nums")

    head = h("tr", (cell("th", titles[place], place) for place in places))
    rows = (h("tr", (cell("td", row[place], place) for place in places)) for row in table.rows[:_MOST_ROWS])
    more = len(table.rows) - _MOST_ROWS
    left_out = h("p", f"and {more:,} more rows", style=f"{_LINE};{_SOFT}") if more > 0 else None
    return h("", h("table", head, rows, style="border-collapse:collapse;margin:.4em 0"), left_out)
