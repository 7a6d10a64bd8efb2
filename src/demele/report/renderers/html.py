"""Documents as pages: one file that opens from disk and asks nothing of any network."""

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from demele.core.outputs import write_whole
from demele.report.document import (
    Block,
    Cell,
    Choice,
    Document,
    Figure,
    Heat,
    Images,
    Matrix,
    Notice,
    Pill,
    Rows,
    Table,
)
from demele.report.renderers.drawings import drawing
from demele.report.renderers.elements import MOST_PLAIN, Html, h, packed, pill_of, slug
from demele.report.renderers.tables import depths_of, table_of, with_subject
from demele.report.words import (
    is_minor,
    is_missing,
    is_number,
    plain,
    range_of,
    sentence_of,
    share_of,
    uncited,
    written,
)

_ASSETS = Path(__file__).parents[1] / "assets"


# The page -------------------------------------------------------------------------------------------------------------


def page(document: Document, data: str = "{}") -> str:
    """Return a document as a page; ``data`` is the JSON that it offers to download."""
    sections = [("Verdict", _verdict(document))]
    sections += [(section.title, h("", map(block, section.shown))) for section in document.sections]
    sections += [("Notes", _notes(document.notes))] * bool(document.notes)
    sections += [("Method", h("p", uncited(document.methods)))] * bool(document.methods)
    sections += [("Reproduce", h("", map(_signature, document.signatures)))] * bool(document.signatures)
    kind = document.kind if document.kind != document.title else ""
    style, script = _asset("document.css"), _asset("document.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {
        "policy": f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "title": escape(plain(document.title)),
        "heading": h("", h("p", kind, class_="kind") if kind else None, h("h1", document.title)),
        "scope": h("p", (h("span", part) for part in document.scope), class_="scope") if document.scope else "",
        "contents": h("ol", (h("li", h("a", title, href=f"#{slug(title)}")) for title, _ in sections)),
        "sections": h("", (_section(title, inside) for title, inside in sections)),
        "version": escape(f"demele {document.version}".strip()),
        "data": packed(data, "result-json"),
    }
    # In one pass: what is put in is never searched for places.
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], _asset("document.html"))


def write_page(document: Document, path: str | Path, data: str = "{}") -> Path:
    """Write a document as a page, and return where it is."""
    return write_whole(path, page(document, data))


def _asset(file: str) -> str:
    return (_ASSETS / file).read_text(encoding="utf-8")


def _section(title: str, inside: Html) -> Html:
    """Return a section; a caption that is the same as its title is not shown twice."""
    inside = Html(inside.replace(h("figcaption", title), h("figcaption", title, class_="hidden")))
    return h("section", h("h2", title, id=f"{slug(title)}-title"), inside, id=slug(title))


def _verdict(document: Document) -> Html:
    steps = [
        h("li", text, " ", h("code", command, class_="command") if command else None) for text, command in document.next
    ]
    assumed = [h("li", sentence_of(text)) for text in document.assumptions]
    return h(
        "",
        h("p", document.headline, class_=f"headline {document.tone}".strip()),
        None if document.figure is None else block(document.figure),
        (h("p", text) for text in document.sentences),
        h("div", h("h3", "Next step"), h("ul", steps), class_="next") if steps else None,
        h("div", h("h3", "Assumptions"), h("ul", assumed), class_="assumed") if assumed else None,
    )


def _notes(notes: Sequence[Notice]) -> Html:
    order = ("fragile", "warning", "info")
    return h("ul", map(_note, sorted(notes, key=lambda note: order.index(note.severity))), class_="notes")


def _note(note: Notice) -> Html:
    pill = Pill("note", "none") if note.severity == "info" else Pill(note.severity, "open")
    return h("li", pill_of(pill), h("span", with_subject(note)))


def _signature(pair: tuple[str, str]) -> Html:
    label, text = pair
    return h("div", h("h3", label) if label else None, h("code", text), class_="signature")


# Blocks ---------------------------------------------------------------------------------------------------------------


def block(one: Block) -> Html:
    """Return a block of a document as HTML."""
    if isinstance(one, str):
        return h("p", one)
    if isinstance(one, Table):
        return _captioned(one.caption, table(one), kind="table")
    if isinstance(one, Choice) and len(one.of) == 1:
        return h("", (map(block, blocks) for blocks in one.of.values()))
    if isinstance(one, Choice):
        panels = (h("div", h("h4", title), map(block, blocks), class_="panel") for title, blocks in one.of.items())
        return h("div", panels, class_="choice", data_label=one.label)
    return _figure(one)


def _figure(one: Figure) -> Html:
    if isinstance(one, Heat):
        return _heat(one)
    if isinstance(one, Matrix):
        return _matrix(one)
    if isinstance(one, Images):
        return _images(one)
    values = h("details", h("summary", "As a table"), table(table_of(one)), class_="values")
    return _captioned(one.caption, drawing(one), values, kind=type(one).__name__.lower())


def _captioned(caption: str, *inside: Html | None, kind: str) -> Html:
    return h("figure", h("figcaption", caption), inside, class_=kind)


def table(one: Table) -> Html:
    """Return a table; its first column holds the names of its rows."""
    forms = list(one.columns.values())
    kinds = [" ".join(["n"] * is_number(form) + ["minor"] * is_minor(form)) for form in forms]
    heads = (h("th", title, scope="col", class_=kind) for title, kind in zip(one.columns, kinds, strict=True))
    rows = (h("tr", map(_cell, row, forms, kinds, range(len(forms)))) for row in one.rows)
    inside = h("table", h("thead", h("tr", heads)), h("tbody", rows), data_first=one.first, aria_label=one.caption)
    return h("", h("div", inside, class_="scroll"), h("p", one.note, class_="note") if one.note else None)


def _cell(cell: Cell, form: str, kind: str, place: int) -> Html:
    if not place:
        return h("th", written(cell, form), scope="row", class_=kind)
    if isinstance(cell, Pill):
        return h("td", pill_of(cell), class_=kind, data_v=cell.order)
    text: object = h("code", written(cell, form)) if form.startswith("code") else written(cell, form)
    return h("td", text, class_=f"{kind} span".strip() if isinstance(cell, tuple) else kind)


# Matrices -------------------------------------------------------------------------------------------------------------


def _grid(one: Heat | Matrix, cells: Iterable[Iterable[Html]], corner: str) -> Html:
    heads = (h("th", h("span", column), scope="col") for column in one.columns)
    rows = (h("tr", h("th", row, scope="row"), own) for row, own in zip(one.rows, cells, strict=True))
    head = h("thead", h("tr", h("td", corner), heads))
    return h("div", h("table", head, h("tbody", rows), class_="grid", aria_label=one.caption), class_="scroll")


def _heat(one: Heat) -> Html:
    depths = depths_of(one).tolist()
    cells = [[_heat_cell(one, i, j, depth) for j, depth in enumerate(row)] for i, row in enumerate(depths)]
    legend = h("p", h("span", h("i", class_="struck"), "chance level"), class_="legend") if one.struck else None
    rows = [] if one.scatter is None else [packed(_scattered(one.scatter), f"rows-{slug(one.caption)}")]
    corner = f"{one.axes[0]} ╲ {one.axes[1]}"
    return _captioned(one.caption, h("", _grid(one, cells, corner), legend, rows), kind="heat")


def _heat_cell(one: Heat, row: int, column: int, depth: float) -> Html:
    kinds = ["ring"] * ((row, column) in one.rings) + ["struck"] * ((row, column) in one.struck)
    kinds += ["down"] * (depth < 0)
    style = None if math.isnan(depth) or "struck" in kinds else f"--v:{abs(round(depth))}"
    return h("td", written(one.values[row][column], one.form), class_=" ".join(kinds), style=style)


def _scattered(rows: Rows) -> str:
    """Return each column in 256 steps between its ends, as base64 of bytes."""
    columns = {}
    for key, values in rows.columns.items():
        low, high = range_of(values, room=0)
        steps = bytes(0 if is_missing(value) else round(2.55 * share_of(value, low, high)) for value in values)
        columns[plain(key)] = {"low": written(low), "high": written(high), "steps": base64.b64encode(steps).decode()}
    return json.dumps(columns)


def _matrix(one: Matrix) -> Html:
    key = slug(one.caption)

    def cell(row: int, column: int) -> Html:
        pill = one.cells.get((row, column))
        known = (row, column) in one.evidence
        return h("td", pill_of(pill) if pill else None, data_for=f"{key}-{row}-{column}" if known else None)

    grid = _grid(one, ([cell(i, j) for j in range(len(one.columns))] for i in range(len(one.rows))), "")
    pills = {pill.text: pill for pill in one.cells.values()}
    signs = (h("span", pill_of(pills.get(sign, Pill(sign))), meaning) for sign, meaning in one.signs.items())
    return _captioned(
        one.caption, grid, h("p", signs, class_="legend") if one.signs else h(""), _evidence(one, key), kind="matrix"
    )


def _evidence(one: Matrix, key: str) -> Html | None:
    """Return the evidence of all cells, folded; compressed where it is long."""
    found = [
        h("article", h("h4", one.rows[i], ", ", one.columns[j]), map(block, blocks), id=f"{key}-{i}-{j}")
        for (i, j), blocks in sorted(one.evidence.items())
    ]
    if not found:
        return None
    inside = h("", found)
    if len(inside) > MOST_PLAIN:
        return packed(json.dumps(inside), f"evidence-{key}")
    return h("details", h("summary", "Evidence for each cell"), inside, class_="evidence")


def _images(one: Images) -> Html:
    def image(alt: str, png: bytes) -> Html:
        width, height = (int.from_bytes(png[at : at + 4], "big") * one.scale for at in (16, 20))
        source = f"data:image/png;base64,{base64.b64encode(png).decode()}"
        return h("img", src=source, alt=alt, title=alt, width=width, height=height)

    rows = (h("tr", h("th", row, scope="row"), h("td", (image(*one) for one in images))) for row, images in one.rows)
    return _captioned(
        one.caption, h("div", h("table", h("tbody", rows), class_="images"), class_="scroll"), kind="pictures"
    )
