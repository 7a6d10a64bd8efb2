"""Documents as pages: one file that opens from disk and asks nothing of any network."""

import base64
import hashlib
import json
import math
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

from demele.core.outputs import write_whole
from demele.report.document import (
    Block,
    Cell,
    Choice,
    Document,
    Graph,
    Heat,
    Images,
    Lines,
    Mark,
    Matrix,
    Pill,
    Strips,
    Table,
)
from demele.report.renderers.tables import depths_of, ends_of, shown_tables, table_of, with_subject
from demele.report.words import (
    is_minor,
    is_missing,
    is_number,
    names_in,
    plain,
    range_of,
    sentence_of,
    share_of,
    ticks,
    uncited,
    written,
)

# What pages are made of: elements that escape what they hold. Only :func:`h` makes HTML -------------------------------

#: Data of more characters are compressed, and unpacked by the script.
MOST_PLAIN = 200_000
_VOID = frozenset({"br", "img", "input"})
_SHAPES = frozenset({"circle", "line", "path", "polygon", "polyline", "rect"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def h(tag: str, *children: object, **attributes: object) -> Html:
    """Make an element; without a tag, only what would stand in it.

    All but :class:`Html` is escaped, and lists are gone through; names that users chose are isolated. An attribute
    that is None, False or empty is left out, and one that is True has no value; ``class_`` is ``class``.

    Examples
    --------
    >>> h("td", "a < b", class_="number", data_v=0.5)
    '<td class="number" data-v="0.5">a &lt; b</td>'
    """
    inside = "".join(map(_inside, children))
    if not tag:
        return Html(inside)
    own = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(plain(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False and value != ""
    )
    if tag in _VOID:
        return Html(f"<{tag}{own}>")
    return Html(f"<{tag}{own}/>" if tag in _SHAPES and not inside else f"<{tag}{own}>{inside}</{tag}>")


def _inside(child: object) -> str:
    if child is None or isinstance(child, Html):
        return child or ""
    if isinstance(child, Iterable) and not isinstance(child, str):
        return "".join(map(_inside, child))
    parts = names_in(str(child))
    return "".join(f"<bdi>{escape(part)}</bdi>" if index % 2 else escape(part) for index, part in enumerate(parts))


def slug(text: str) -> str:
    """Return a text as a part of an address."""
    return re.sub(r"[^a-z0-9]+", "-", plain(text).lower()).strip("-") or "part"


def pill_of(pill: Pill) -> Html:
    """Return a state as an element."""
    return h("span", pill.text, class_=f"pill {pill.tone}".strip())


def packed(data: str, identity: str) -> Html:
    """Return an element of JSON that cannot end it; a long one is compressed: base64 of zlib."""
    if len(data) > MOST_PLAIN:
        text, kind = base64.b64encode(zlib.compress(data.encode(), 9)).decode(), "application/octet-stream"
    else:
        text, kind = re.sub("[<>&]", lambda sign: f"\\u{ord(sign[0]):04x}", data), "application/json"
    return h("script", Html(text), type=kind, id=identity)


# Figures on an axis as HTML and SVG, all text outside of the SVG ------------------------------------------------------

#: More strips than this are scrolled.
_LONG = 60


def _strips(one: Strips) -> Html:
    low, high = ends_of(one)
    axis = ticks(low, high, one.form)
    places = [share_of(at, low, high) for at, _ in axis]
    step = f"--o:{places[0]}%;--s:{round(places[1] - places[0], 3)}%" if len(places) > 1 else ""
    style = ";".join(filter(None, [step, "" if one.zero is None else f"--z:{share_of(one.zero, low, high)}%"]))
    has_text, has_pill = any(row.text for row in one.rows), any(row.pill for row in one.rows)
    rows = [
        h(
            "div",
            h("span", h("span", strip.name), class_="name"),
            h("span", (_mark(mark, low, high) for mark in strip.marks), class_="track"),
            h("span", strip.text, class_="text") if has_text else None,
            h("span", pill_of(strip.pill) if strip.pill else None, class_="state") if has_pill else None,
        )
        for strip in one.rows
    ]
    left, right, at = *(one.sides or ("", "")), share_of(one.zero or 0.0, low, high)
    ways = h("span", "← ", left, style=f"right:{100 - at}%"), h("span", right, " →", style=f"left:{at}%")
    sides = h("div", h("span", ways, class_="sides")) if one.sides else None
    scale = h("span", (h("span", text, style=f"left:{place}%") for place, (_, text) in zip(places, axis, strict=True)))
    foot = h("div", h("span", scale, h("em", one.axis) if one.axis else None, class_="axis"))
    kind = "plot" + " zero" * (one.zero is not None) + " long" * (len(one.rows) > _LONG)
    body = h("div", sides, rows, foot, class_=kind, style=style, aria_hidden="true")
    return h("", _legend(one.series), body)


def _mark(mark: Mark, low: float, high: float) -> Html | None:
    if mark.at is None or is_missing(mark.at):
        return None
    at = share_of(mark.at, low, high)
    if mark.kind in ("dot", "tick"):
        return h("i", class_=f"{mark.kind} c{mark.series}", style=f"left:{at}%")
    if mark.kind == "span" and is_missing(mark.to):
        return None
    to = share_of(0.0 if mark.to is None or is_missing(mark.to) else mark.to, low, high)
    place = f"left:{min(at, to)}%;width:{round(abs(at - to), 2)}%"
    return h("i", class_=f"{mark.kind} c{mark.series}", style=place)


def _legend(series: Mapping[int, str], kind: str = "dot") -> Html | None:
    items = (h("span", h("i", class_=f"{kind} c{number}"), text) for number, text in series.items())
    return h("p", items, class_="legend", aria_hidden="true") if series else None


def _lines(one: Lines) -> Html:
    every = [end for line in one.lines for part in (line.y, line.low or (), line.high or ()) for end in part]
    low, high = range_of([*every, one.zero])
    left, right = range_of([*(x for line in one.lines for x in line.x), *(x for x, _ in one.at)], room=0.02)

    def path(x: Sequence[float], y: Sequence[float | None], *, dots: bool = False) -> str:
        """Return a path, which is broken where a value is missing, or of dots."""
        found, pen = [], False
        for across, up in zip(x, y, strict=True):
            gone = up is None or is_missing(up)
            if not gone:
                place = f"{share_of(across, left, right)} {100 - share_of(up or 0.0, low, high):.4g}"
                found.append(f"{'L' if pen else 'M'}{place}{'h0' if dots else ''}")
            pen = not gone and not dots
        return "".join(found)

    shapes: list[Html] = []
    for number, line in enumerate(one.lines):
        if line.low is not None and line.high is not None:
            known = [
                (x, a, b)
                for x, a, b in zip(line.x, line.low, line.high, strict=True)
                if not is_missing(a) and not is_missing(b)
            ]
            there, back = [(x, b) for x, _, b in known], [(x, a) for x, a, _ in reversed(known)]
            shapes.append(
                h("path", d=path(*zip(*there, *back, strict=True)) if known else "", class_=f"band c{number % 8}")
            )
        kind = "dots" if line.dots else "line"
        shapes.append(h("path", d=path(line.x, line.y, dots=line.dots), class_=f"{kind} c{number % 8}"))
    flat = None if one.zero is None else 100 - share_of(one.zero, low, high)
    marks = [(share_of(x, left, right), text) for x, text in one.at]
    up = [(100 - share_of(y, low, high), text) for y, text in ticks(low, high, one.y[1], most=5)]
    across = [(share_of(x, left, right), text) for x, text in ticks(left, right, one.x[1])]
    grid = [h("path", d=f"M0 {y:.4g}H100", class_="grid") for y, _ in up]
    grid += [] if flat is None else [h("path", d=f"M0 {flat:.4g}H100", class_="zero")]
    grid += [h("path", d=f"M{x} 0V100", class_="at") for x, _ in marks]
    drawing = h("svg", grid, shapes, viewBox="0 0 100 100", preserveAspectRatio="none")
    unit = 100 if one.x[1].startswith(("percent", "points")) else 1
    legend = {number % 8: line.name for number, line in enumerate(one.lines) if line.name}
    return h(
        "",
        _legend(legend, "stroke") if len(one.lines) > 1 else None,
        h(
            "div",
            h("p", one.y[0], class_="up"),
            h("div", (h("span", text, style=f"top:{y:.4g}%") for y, text in up), class_="ticks"),
            h("div", drawing, (h("span", text, style=f"left:{x}%") for x, text in marks), class_="area"),
            h("div", (h("span", text, style=f"left:{x}%") for x, text in across), class_="axis"),
            h("p", one.x[0], class_="along"),
            class_="chart",
            aria_hidden="true",
            data_from=f"{unit * left:.6g}",
            data_to=f"{unit * right:.6g}",
        ),
    )


def _graph(one: Graph) -> Html:
    left, right = range_of((x for x, _, _ in one.nodes.values()), room=0.12)
    low, high = range_of((y for _, y, _ in one.nodes.values()), room=0.12)
    at = {key: (share_of(x, left, right), share_of(y, low, high)) for key, (x, y, _) in one.nodes.items()}
    most = max((abs(weight) for _, _, weight in one.links if weight is not None), default=1.0) or 1.0
    links = [
        h(
            "path",
            d=f"M{at[a][0]} {at[a][1]}L{at[b][0]} {at[b][1]}",
            class_="removed" if weight is None else "link",
            style=None if weight is None else f"stroke-width:{round(1 + 4 * abs(weight) / most, 2)}",
        )
        for a, b, weight in sorted(one.links, key=lambda link: link[2] is not None)
    ]
    nodes = (
        h("span", h("span", key), title=what, class_="node", style=f"left:{at[key][0]}%;top:{at[key][1]}%")
        for key, (_, _, what) in one.nodes.items()
    )
    drawing = h("svg", links, viewBox="0 0 100 100", preserveAspectRatio="none")
    return h("div", h("div", drawing, nodes, class_="net"), class_="scroll", aria_hidden="true")


_ASSETS = Path(__file__).parents[1] / "assets"


# The page -------------------------------------------------------------------------------------------------------------


def page(document: Document, data: str = "{}") -> str:
    """Return a document as a page; ``data`` is the JSON that it offers to download."""
    sections = [("Verdict", _verdict(document))]
    sections += [(section.title, h("", map(block, section.shown))) for section in document.sections]
    notes = sorted(document.notes, key=lambda note: ("fragile", "warning", "info").index(note.severity))
    pills = {"info": Pill("note", "none"), "warning": Pill("warning", "open"), "fragile": Pill("fragile", "open")}
    items = (h("li", pill_of(pills[note.severity]), h("span", with_subject(note))) for note in notes)
    sections += [("Notes", h("ul", items, class_="notes"))] * bool(notes)
    sections += [("Method", h("p", uncited(document.methods)))] * bool(document.methods)
    signed = [
        h("div", h("h3", label) if label else None, h("code", text), class_="signature")
        for label, text in document.signatures
    ]
    sections += [("Reproduce", h("", signed))] * bool(signed)
    kind = document.kind if document.kind != document.title else ""
    style, script = _asset("document.css"), _asset("document.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    shown = []
    for title, inside in sections:  # a caption that is the same as the title of its section is not shown twice
        whole = Html(inside.replace(h("figcaption", title), h("figcaption", title, class_="hidden")))
        shown.append(h("section", h("h2", title, id=f"{slug(title)}-title"), whole, id=slug(title)))
    parts = {
        "policy": f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "title": escape(plain(document.title)),
        "heading": h("", h("p", kind, class_="kind") if kind else None, h("h1", document.title)),
        "scope": h("p", (h("span", part) for part in document.scope), class_="scope") if document.scope else "",
        "contents": h("ol", (h("li", h("a", title, href=f"#{slug(title)}")) for title, _ in sections)),
        "sections": h("", shown),
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


# Blocks ---------------------------------------------------------------------------------------------------------------


def block(one: Block) -> Html:
    """Return a block of a document as HTML."""
    match one:
        case str():
            return h("p", one)
        case Table():
            return _captioned(one.caption, table(one), kind="table")
        case Choice() if len(one.of) == 1:
            return h("", (map(block, blocks) for blocks in one.of.values()))
        case Choice():
            panels = (h("div", h("h4", title), map(block, blocks), class_="panel") for title, blocks in one.of.items())
            return h("div", panels, class_="choice", data_label=one.label)
        case Heat():
            return _heat(one)
        case Matrix():
            return _matrix(one)
        case Images():
            return _images(one)
        case Strips():
            drawing = _strips(one)
        case Lines():
            drawing = _lines(one)
        case Graph():
            drawing = _graph(one)
    values = h("details", h("summary", "As a table"), table(table_of(one)), class_="values")
    return _captioned(one.caption, drawing, values, kind=type(one).__name__.lower())


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

    def cell(row: int, column: int, depth: float) -> Html:
        kinds = ["ring"] * ((row, column) in one.rings) + ["struck"] * ((row, column) in one.struck)
        kinds += ["down"] * (depth < 0)
        style = None if math.isnan(depth) or "struck" in kinds else f"--v:{abs(round(depth))}"
        return h("td", written(one.values[row][column], one.form), class_=" ".join(kinds), style=style)

    cells = [[cell(i, j, depth) for j, depth in enumerate(row)] for i, row in enumerate(depths)]
    legend = h("p", h("span", h("i", class_="struck"), "chance level"), class_="legend") if one.struck else None
    columns = {}  # each in 256 steps between its ends, as base64 of bytes
    for key, values in one.scatter.columns.items() if one.scatter is not None else ():
        low, high = range_of(values, room=0)
        steps = bytes(0 if is_missing(value) else round(2.55 * share_of(value, low, high)) for value in values)
        columns[plain(key)] = {"low": written(low), "high": written(high), "steps": base64.b64encode(steps).decode()}
    rows = [] if one.scatter is None else [packed(json.dumps(columns), f"rows-{slug(one.caption)}")]
    corner = f"{one.axes[0]} ╲ {one.axes[1]}"
    return _captioned(one.caption, h("", _grid(one, cells, corner), legend, rows), kind="heat")


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


# Documents as cards of a notebook -------------------------------------------------------------------------------------

_MOST_SENTENCES, _MOST_ROWS = 4, 12
_LINE, _SOFT = "margin:.2em 0", "opacity:.7;font-size:90%"


def card(document: Document) -> str:
    """Return a document as HTML that takes the colours of what is around it."""
    scope = h("p", " · ".join(document.scope), style=f"{_LINE};{_SOFT}") if document.scope else None
    sentences = (h("p", text, style=_LINE) for text in document.sentences[:_MOST_SENTENCES])
    headline = h("p", document.headline, style=f"{_LINE};font-weight:600")
    parts = []
    for one in shown_tables(document)[:1]:
        more = len(one.rows) - _MOST_ROWS
        parts = [table(replace(one, rows=one.rows[:_MOST_ROWS]))]
        parts += [h("p", f"and {more:,} more rows", style=f"{_LINE};{_SOFT}")] if more > 0 else []
    return h("div", headline, scope, sentences, parts)
