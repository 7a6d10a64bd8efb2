"""Numbers, names and marks as the page writes them; everything returned is safe in HTML."""

import math
import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

__all__ = [
    "DASH",
    "anchor",
    "best_sign",
    "bracket",
    "count",
    "dot",
    "ends",
    "fragile_sign",
    "gap_mark",
    "list_of",
    "mark",
    "named",
    "number",
]

DASH = "–"


def number(value: float | None, digits: int = 3) -> str:
    """Round a number for the eye; what is undefined is a dash."""
    if value is None or math.isnan(value):
        return DASH
    text = f"{value:.{digits}f}" if abs(value) < 1e4 else f"{value:.4g}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def bracket(interval: Mapping[str, Any] | None) -> str:
    """Write an interval as ``[low, high]``, or nothing."""
    return "" if interval is None else ends(interval["low"], interval["high"])


def ends(low: float | None, high: float | None) -> str:
    """Write two ends as ``[low, high]``, or nothing."""
    return "" if low is None or high is None else f"[{number(low)}, {number(high)}]"


def count(how_many: int, noun: str) -> str:
    """Write a number of things: ``1 score``, ``2 scores``."""
    return f"{how_many:,} {noun}" + ("" if how_many == 1 else "s")


def list_of(names: Iterable[str]) -> str:
    """Write the first names of a list, for a sentence."""
    names = list(names)
    shown = ", ".join(named(name) for name in names[:6])
    return shown + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def named(name: object) -> str:
    """Write a name that a user chose: never markup, and isolated where it is written from right to left."""
    return f"<bdi>{escape(str(name))}</bdi>"


def dot(index: int) -> str:
    """Draw the colour of a representation."""
    return f'<i class="dot c{index % 8}" aria-hidden="true"></i>'


def mark(sign: str, kind: str, text: str) -> str:
    """Write a sign that tells its reason to the mouse and to the keyboard."""
    return f'<button type="button" class="mark {kind}" title="{escape(text)}">{sign}</button>'


def fragile_sign() -> str:
    """Write the sign of fragile scores where the words beside it say so."""
    return '<span class="mark fragile" aria-hidden="true">!</span>'


def best_sign(clear: bool) -> str:
    """Write the sign of the best score of a row."""
    sign, text = ("▲", "best of the row") if clear else ("△", "best of the row, but the intervals overlap")
    return f'<span class="best" role="img" aria-label="{text}" title="{text}">{sign}</span>'


def gap_mark(reason: str) -> str:
    """Write a dash with its reason."""
    return f'<span class="line"><span class="value">{DASH}</span>{mark("?", "gap_mark", f"No number: {reason}")}</span>'


def anchor(kind: str, name: str) -> str:
    """Return an identifier that is safe in an attribute and in an address, and still readable."""
    return f"{kind}-" + re.sub(r"[^a-z0-9_-]", lambda sign: f".{ord(sign.group()):x}", name.lower())
