"""What pages are made of: elements that escape what they hold. Only :func:`h` makes HTML."""

import base64
import re
import zlib
from collections.abc import Iterable
from html import escape

from demele.report.document import Pill
from demele.report.words import names_in, plain

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
