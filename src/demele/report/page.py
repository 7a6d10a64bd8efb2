"""What every page is made of: elements that escape what they hold, tables, and the file, with no script but its own."""

import base64
import hashlib
import json
import math
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from demele.core.errors import InputError
from demele.core.outputs import write_whole
from demele.report.words import Mark, Text, named, of_sentence

__all__ = [
    "Cell",
    "Html",
    "Page",
    "controls",
    "data_element",
    "dot",
    "embedded",
    "facts",
    "h",
    "hidden",
    "identity",
    "lead",
    "notes",
    "of_kind",
    "packed",
    "paragraph",
    "plain",
    "signature",
    "table",
    "tool",
]

Item = Mapping[str, Any]

# Elements -------------------------------------------------------------------------------------------------------------

#: Elements that hold nothing, and so have no end of their own.
_VOID = frozenset({"br", "img", "input"})
_SHAPES = frozenset({"circle", "line", "path", "polygon", "polyline", "rect"})
#: The elements of marks in texts.
_MARKS = {"name": "bdi", "strong": "strong", "em": "em", "code": "code", "link": "a"}


class Html(str):
    """Text that is HTML already: only :func:`h` makes it, which escapes all else."""

    __slots__ = ()


def h(tag: str, *children: object, **attributes: object) -> Html:
    """Make an element; without a tag, only what would stand in it.

    What is no :class:`Html` is escaped; marks of a :class:`~demele.report.words.Text` become elements; lists are gone
    through. An attribute that is None or False is left out, as is an empty class or title, and one that is True has no
    value. ``class_`` is ``class``, and ``data_row`` is ``data-row``.

    Examples
    --------
    >>> h("td", "a < b", class_="number", data_v=0.5)
    '<td class="number" data-v="0.5">a &lt; b</td>'
    """
    inside = "".join(_inside(child) for child in children)
    if not tag:
        return Html(inside)
    own = "".join(
        f" {name.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(str(value))}"')
        for name, value in attributes.items()
        if value is not None and value is not False and not (value == "" and name in ("class_", "title"))
    )
    if tag in _VOID:
        return Html(f"<{tag}{own}>")
    return Html(f"<{tag}{own}/>" if tag in _SHAPES and not inside else f"<{tag}{own}>{inside}</{tag}>")


def _inside(child: object) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, Text):
        return "".join(_marked(piece) if isinstance(piece, Mark) else escape(piece) for piece in child.pieces)
    if isinstance(child, Iterable) and not isinstance(child, str):
        return "".join(map(_inside, child))
    return escape(str(child))


def _marked(mark: Mark) -> Html:
    return h(_MARKS[mark.kind], mark.inside, href=mark.target or None)


def hidden(text: object) -> Html:
    """Write a text for those who hear the page."""
    return h("span", text, class_="hidden")


def dot(colour: int) -> Html:
    """Draw the colour of what is named beside it."""
    return h("i", class_=f"dot c{colour % 8}", aria_hidden="true")


def identity(kind: str, *names: str) -> str:
    """Return an identifier that is safe in an attribute and in an address; different names give different ones.

    Examples
    --------
    >>> identity("evidence", "dci_forest", "noise")
    'evidence-dci_forest-noise'
    >>> identity("card", "my-metric")
    'card-my.2d.metric'
    """
    return "-".join([kind, *(re.sub(r"\W|[^\x00-\x7f]", lambda sign: f".{ord(sign[0]):x}.", name) for name in names)])


# Parts ----------------------------------------------------------------------------------------------------------------


def paragraph(*parts: object, **attributes: object) -> Html:
    """Write a paragraph."""
    return h("p", parts, **attributes)


def lead(headline: object, sentences: Sequence[object], *, tone: str = "", assumptions: Sequence[object] = ()) -> Html:
    """Write what is to be known first, and what must hold."""
    items = [h("li", of_sentence(str(item))) for item in assumptions]
    return h(
        "",
        h(
            "div",
            h("p", headline, class_=f"headline {tone}".strip()),
            [h("p", item) for item in sentences if item],
            class_="lead",
        ),
        items and [h("p", h("strong", "This assumes:")), h("ul", items, class_="assumptions")],
    )


def notes(items: Sequence[Item]) -> Html:
    """Write what was left out and why, warnings first."""
    order = {"fragile": 0, "warning": 1}
    rows = []
    for note in sorted(items, key=lambda item: order.get(str(item.get("severity")), 2)):
        message = str(note.get("message", ""))
        shown = [str(name) for name in note.get("subject") or ()]
        if any(name in message for name in shown):
            shown = []  # the message names them itself
        more = f" and {len(shown) - 12} more" if len(shown) > 12 else ""
        names = [piece for name in shown[:12] for piece in (", ", named(name))][1:]
        tone = "warned" if note.get("severity") in order else "to-know"
        rows.append(
            h("li", shown and h("span", names, more, class_="about"), h("span", of_sentence(message), class_=tone))
        )
    return h("ul", rows, class_="notes") if rows else h("")


def facts(pairs: Iterable[tuple[object, object]]) -> Html:
    """Write names and values; those without a value are left out."""
    return h("dl", ([h("dt", name), "\n", h("dd", value), "\n"] for name, value in pairs if value), class_="facts")


def signature(text: object) -> Html:
    """Write everything beside the data that changes the result, to be copied."""
    if not text:
        return h("")
    copy = h("button", "Copy", type="button", class_="copy", hidden=True)
    return h(
        "",
        h("h3", "Signature"),
        h("p", "Everything beside the data that changes this result, written as a call."),
        h("div", h("code", text), copy, class_="signature"),
    )


def controls(*parts: object, kind: str = "controls", **attributes: object) -> Html:
    """Write what needs the script, which shows it."""
    return h("div", parts, class_=kind, hidden=True, **attributes)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: what stands there, what it is sorted by, a smaller line below, its classes, what is drawn."""

    text: object
    value: float | str | None = None
    below: object = ""
    kind: str = "number"
    told: str = ""

    def html(self) -> Html:
        """Return the element."""
        below = h("span", self.below, class_="interval below") if self.below else ""
        return h("td", self.text, below, class_=self.kind, data_v=self.value, title=self.told)


def table(
    caption: object,
    heads: Sequence[tuple[object, str] | None],
    rows: Iterable[Sequence[Any]],
    *,
    kind: str = "",
    first: int | None = None,
    noun: str = "rows",
    sortable: bool = True,
) -> Html:
    """Write a table.

    Parameters
    ----------
    caption : object
        Its name for those who hear the page.
    heads : sequence of (title, classes)
        The classes are "text" or "number", with "drawn" where there is nothing to sort by; None is left out.
    rows : iterable of sequence
        The name of each, then its cells: :class:`Cell`, finished elements, or texts; None is left out. A name may be a
        finished element too.
    kind : str
        Further classes.
    first : int, optional
        Folds what comes after so many rows until it is asked for, with a field to search.
    noun : str
        What the rows are.
    sortable : bool
        Whether a script lets it be sorted.
    """
    aligned = [head for head in heads if head is not None]
    body = [_row(row, [align for _, align in aligned]) for row in rows]
    folded = first is not None and len(body) > first
    find = controls(
        h("label", "Find ", h("input", type="search", class_="find")),
        h("button", f"Show all {len(body):,} {noun}", type="button", class_="more"),
        h("span", class_="found", role="status"),
    )
    whole = h(
        "table",
        h("caption", caption, class_="hidden"),
        h("thead", h("tr", [h("th", title, scope="col", class_=align) for title, align in aligned])),
        h("tbody", body),
        class_=f"{'sortable' if sortable else 'text'} {kind}".strip(),
        data_first=first if folded else None,
        data_noun=noun if folded else None,
    )
    return h("", find if folded else "", h("div", whole, class_="scroll"))


def _row(row: Sequence[Any], kinds: Sequence[str]) -> Html:
    name, *cells = row
    shown = [cell for cell in cells if cell is not None]
    drawn = [
        cell.html() if isinstance(cell, Cell) else cell if _is_cell(cell) else h("td", cell, class_=kind)
        for cell, kind in zip(shown, kinds[1:], strict=True)
    ]
    return h("tr", name if isinstance(name, Html) and name.startswith("<th") else h("th", name, scope="row"), drawn)


def _is_cell(cell: object) -> bool:
    return isinstance(cell, Html) and cell.startswith("<td")


# The page -------------------------------------------------------------------------------------------------------------


def template(name: str) -> str:
    """Read a file of the templates."""
    return (files("demele.report") / "templates" / name).read_text(encoding="utf-8")


def embedded(data: object) -> str:
    r"""Write JSON that cannot end the script element that holds it.

    Examples
    --------
    >>> embedded({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def packed(data: object) -> str:
    """Write JSON compressed, as base64 of what zlib makes of it: a fifth of its size, for a script to unpack."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def policy(scripts: Iterable[str]) -> str:
    """No request to anywhere, no script but these."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    own = "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed}; {own}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One self-contained file: opens from disk, asks nothing of any network.

    Attributes
    ----------
    kind : str
        What it is about, above the heading.
    title : str
        The heading.
    sections : sequence of (key, name, body)
        Those without a body are left out.
    style : str
        Class of the body.
    styles, scripts : sequence of str
        Templates beside those of every page.
    tools : sequence of (class, words, further attributes)
        Buttons beside the heading, between those of the theme and of printing.
    data : str
        What the script reads, embedded or packed.
    more : Html
        Further data.
    version : object
        The version of demele that computed what is shown.
    """

    kind: str
    title: str
    sections: Sequence[tuple[str, str, Html]]
    style: str
    styles: Sequence[str]
    scripts: Sequence[str]
    tools: Html
    data: Html
    version: object
    more: str = ""

    def write(self, path: Path) -> Path:
        """Write the file; one of that name is replaced."""
        # The title may hold what UTF-8 cannot, such as the lone surrogates of undecodable file names.
        return write_whole(path, self.text().encode("utf-8", "replace"))

    def text(self) -> str:
        """Return the file."""
        errors = template("errors.js")
        script = "".join(map(template, ("common.js", *self.scripts)))
        shown = [item for item in self.sections if item[2]]
        parts = {
            "policy": policy((errors, script)),
            "css": "".join(template(style) for style in ("report.css", *self.styles)),
            "errors": errors,
            "title": escape(self.title),
            "style": self.style,
            "kind": escape(self.kind),
            "tools": self.tools,
            "navigation": "\n".join(h("li", h("a", name, href=f"#{key}")) for key, name, _ in shown),
            "sections": "\n".join(
                h(
                    "section",
                    "\n",
                    h("h2", name, id=f"{key}-title"),
                    "\n",
                    body,
                    "\n",
                    id=key,
                    aria_labelledby=f"{key}-title",
                )
                for key, name, body in shown
            ),
            "version": escape(f"demele {self.version}" if self.version else "demele"),
            "more": self.more,
            "data": self.data,
            "script": script,
        }
        # In one pass: what is put in is never searched for places.
        return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template("page.html"))


def tool(words: str, kind: str, **attributes: object) -> Html:
    """Write a button beside the heading."""
    return h("button", words, type="button", class_=kind, **attributes)


def data_element(content: str, identity: str = "data", *, compressed: bool = False) -> Html:
    """Write data for the script."""
    kind = "application/octet-stream" if compressed else "application/json"
    return Html(f'<script type="{kind}" id="{identity}">{content}</script>')


def of_kind(data: Any, kind: str) -> Item:
    """Return the dictionary of a result as pages can hold it.

    Raises
    ------
    InputError
        If it is not one of this kind.
    """
    got = data.get("kind") if isinstance(data, Mapping) else type(data).__name__
    if got != kind:
        expected = f"expected the dictionary of one {kind}, as its to_dict() returns it, got kind {got!r}"
        raise InputError("data", expected)
    found: Item = plain(data)
    return found


def plain(value: Any) -> Any:
    """Copy nested mappings and lists; a number that JSON cannot hold becomes None, a sign that UTF-8 cannot, "?".

    Examples
    --------
    >>> plain({"mean": (0.5, float("nan"))})
    {'mean': [0.5, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return None if isinstance(value, float) and not math.isfinite(value) else value
