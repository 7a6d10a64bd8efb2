"""Numbers, names and lists as every page, table and sentence writes them, and the formats of columns and axes.

A format is a short text: ``text``, ``code``, ``count``, ``number``, ``percent``, ``points`` or ``p``, then ``.digits``,
then ``?`` for a minor column, such as ``"percent.1"`` or ``"points.2?"``.
"""

import math
import re
from collections.abc import Iterable
from typing import Any
from unicodedata import combining, east_asian_width

from demele.report.document import Cell, Pill, Span

MISSING = "–"
FORMAT = re.compile(r"(text|code|count|number|percent|points|p)(?:\.(\d))?(\?)?")
_ISOLATE, _END = "\u2068", "\u2069"
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_NAMED = re.compile(f"{_ISOLATE}([^{_ISOLATE}{_END}]*){_END}")


# Names and lists ------------------------------------------------------------------------------------------------------


def clean(text: object) -> str:
    """Return a text in one line, without signs of control and what UTF-8 cannot store."""
    return _CONTROL.sub(" ", str(text)).encode("utf-8", "replace").decode()


def name(text: object) -> str:
    r"""Return a name that a user chose, isolated: its direction and its signs change no text around it.

    Examples
    --------
    >>> name("a\N{RIGHT-TO-LEFT OVERRIDE}b") == "\N{FIRST STRONG ISOLATE}ab\N{POP DIRECTIONAL ISOLATE}"
    True
    """
    return f"{_ISOLATE}{' '.join(_BIDI.sub('', clean(text)).split())}{_END}"


def names_in(text: str) -> list[str]:
    """Split a text at its names: every second item is one. Other signs of direction are removed.

    Examples
    --------
    >>> names_in(f"Keep {name('old')}.")
    ['Keep ', 'old', '.']
    """
    return [_BIDI.sub("", part) for part in _NAMED.split(clean(text))]


def plain(text: object) -> str:
    """Return a text without the signs around its names, for papers."""
    return _BIDI.sub("", clean(text))


def typed(text: object) -> str:
    """Return a text as terminals and Python strings hold it: with the minus of keyboards.

    Examples
    --------
    >>> typed(f"{name('new')} costs {written(-0.01, 'points')} pp")
    'new costs -1.0 pp'
    """
    return plain(text).replace("−", "-")


def count(how_many: float, noun: str, many: str = "") -> str:
    """Write a number of things.

    Examples
    --------
    >>> count(1, "row"), count(1200, "row"), count(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{written(how_many, 'count')} {noun if how_many == 1 else many or noun + 's'}"


def joined(parts: Iterable[str], last: str = "and", most: int = 6) -> str:
    """Join words for a sentence; of more than ``most`` only the first are named.

    Examples
    --------
    >>> joined(["a", "b", "c"]), joined("abcdefgh", most=3)
    ('a, b and c', 'a, b, c and 5 more')
    """
    listed = list(parts)
    shown = listed if len(listed) <= most else [*listed[:most], f"{len(listed) - most} more"]
    return f" {last} ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)


def sentence_of(text: str) -> str:
    """Return a text as a sentence: a capital first, a full stop last."""
    text = clean(text).strip()
    return text[:1].upper() + text[1:] + ("" if not text or text[-1] in ".!?" else ".")


def uncited(sentences: Iterable[str]) -> str:
    """Return sentences as one text without its citations.

    Examples
    --------
    >>> uncited(["Tau was computed with demele [@demele].", "Level: 95%."])
    'Tau was computed with demele. Level: 95%.'
    """
    return re.sub(r" ?\[@[^\]]*\]", "", " ".join(sentences))


def title_of(column: object) -> str:
    """Return the title of a column of a data frame.

    Examples
    --------
    >>> title_of("p_value"), title_of("per_factor"), title_of("MIG")
    ('p', 'Per factor', 'MIG')
    """
    words = clean(column).replace("_", " ")
    return "p" if words == "p value" else words[:1].upper() + words[1:]


# Numbers --------------------------------------------------------------------------------------------------------------


def written(value: Cell, form: str = "number") -> str:
    """Write a value in a format.

    Examples
    --------
    >>> written(5432, "count"), written(0.82, "percent"), written((0.809, 0.83), "percent"), written(0.0321, "points")
    ('5,432', '82.0%', '[80.9%, 83.0%]', '+3.2')
    >>> written(0.04612), written(-0.00001, "number.3"), written(0.00002, "p"), written(None), written(float("nan"))
    ('0.046', '0.000', '< 0.0001', '–', '–')
    """
    if isinstance(value, Pill):
        return value.text
    if value is None or isinstance(value, str):
        return MISSING if value is None else value
    if isinstance(value, tuple):
        return MISSING if all(map(is_missing, value)) else f"[{', '.join(written(end, form) for end in value)}]"
    found = FORMAT.fullmatch(form)
    if found is None:
        raise ValueError(f"no format: {form!r}")
    kind, digits = found[1], None if found[2] is None else int(found[2])
    if kind in ("text", "code"):
        return str(value)
    if is_missing(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if kind == "p":
        return "< 0.0001" if value < 1e-4 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"
    if kind in ("percent", "points"):
        text = f"{100 * value:{'+' if kind == 'points' else ''},.{1 if digits is None else digits}f}"
        return _signed(text) + "%" * (kind == "percent")
    if kind == "count":
        return _signed(f"{value:,.{digits or 0}f}")
    if digits is None and 0 < abs(value) < 0.001:
        return f"{value:.2g}".replace("-", "−")
    large = abs(value) >= 1e4
    return _signed(
        f"{value:.3g}" if abs(value) >= 1e12 else f"{value:,.{0 if large else 3 if digits is None else digits}f}"
    )


def _signed(text: str) -> str:
    """Write a minus sign, but no sign before a zero."""
    return text.replace("-", "−") if re.search("[1-9]", text) else text.lstrip("+-")


def is_missing(value: object) -> bool:
    """Whether there is no number: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_number(form: str) -> bool:
    """Whether a column of a format holds numbers."""
    return not form.startswith(("text", "code"))


def is_minor(form: str) -> bool:
    """Whether a column may be left out where there is no room."""
    return form.endswith("?")


def digits_for(spans: Iterable[Span | None]) -> int:
    """Return how many decimals of a percentage are worth showing: 1, 2 or 3 by the narrowest interval.

    Examples
    --------
    >>> digits_for([(0.019, 0.044)]), digits_for([(0.9121, 0.9178), (0.8, 0.9)]), digits_for([])
    (1, 2, 1)
    """
    widths = [high - low for low, high in filter(None, spans) if low is not None and high is not None and high > low]
    narrowest = 100 * min(widths, default=1.0)
    return 1 if narrowest >= 1 else 2 if narrowest >= 0.1 else 3


def at_most(share: float) -> str:
    """Write the share that a result holds up to, rounded down.

    Examples
    --------
    >>> at_most(0.02299), at_most(0.0007), at_most(0.1299), at_most(0)
    ('2.29%', '0.07%', '12.9%', '0%')
    """
    if share <= 0:
        return "0%"
    digits = 1 if share >= 0.1 else 2 if share >= 0.0001 else 4
    # A hair is added for shares such as 0.023, whose hundredfold falls below 2.3 in binary.
    return f"{math.floor(share * 100 * 10**digits + 1e-9) / 10**digits:.{digits}f}%"


def rate(share: float) -> str:
    """Write a level or a rate as it was given, without needless decimals.

    Examples
    --------
    >>> rate(0.95), rate(0.125), rate(0.0004)
    ('95%', '12.5%', '0.04%')
    """
    return f"{100 * share:.6g}%"


def ends(interval: Any) -> Span | None:
    """Return the ends ``low`` and ``high`` of an interval as a cell."""
    return None if interval is None else (interval.low, interval.high)


# Marks and axes -------------------------------------------------------------------------------------------------------


def range_of(values: Iterable[float | None], *, room: float = 0.04) -> tuple[float, float]:
    """Return the ends of an axis with some room around all finite values.

    Examples
    --------
    >>> range_of([0.0, 1.0, None], room=0.1), range_of([])
    ((-0.1, 1.1), (0.0, 1.0))
    """
    known = [float(value) for value in values if value is not None and math.isfinite(value)]
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    pad = (high - low) * room if high > low else abs(high) * 0.1 or 0.5
    return low - pad, high + pad


def ticks(low: float, high: float, form: str = "number", most: int = 6) -> list[tuple[float, str]]:
    """Return round numbers between two, at most so many, each with its text.

    Examples
    --------
    >>> ticks(0.71, 0.93, "percent")
    [(0.75, '75%'), (0.8, '80%'), (0.85, '85%'), (0.9, '90%')]
    """
    kind = form.rstrip("?").partition(".")[0]
    scale = 100.0 if kind in ("percent", "points") else 1.0
    start, stop = low * scale, high * scale
    power = 10.0 ** math.floor(math.log10((stop - start) / most)) if stop > start else 1.0
    step = next(size for unit in (1, 2, 5, 10, 20) if (stop - start) / (size := unit * power) <= most)
    step = max(step, 1.0) if kind == "count" else step
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    form = f"{'number' if kind in ('p', 'text', 'code') else kind}.{min(digits, 9)}"
    found = range(math.ceil(start / step - 1e-9), math.floor(stop / step + 1e-9) + 1)
    places = [round(index * step, digits) / scale for index in found]
    return [(place, written(place, form)) for place in places]


def share_of(value: float, low: float, high: float) -> float:
    """Return where a value lies between two ends, from 0 to 100; outside of them, at the end."""
    return round(min(100.0, max(0.0, 100 * (value - low) / (high - low))), 2)


def width_of(text: str) -> int:
    """Return how many columns of a terminal a text takes: wide signs take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(sign) else 1 + (east_asian_width(sign) in "WF") for sign in text)


def cut(text: str, most: int) -> str:
    """Return a text that takes at most so many columns, cut in its middle.

    Examples
    --------
    >>> cut("gpt_4o_2024_05_13", 12), cut("short", 12)
    ('gpt_4o…05_13', 'short')
    """
    if width_of(text) <= most:
        return text
    head, tail = "", ""
    while width_of(head) < most // 2:
        head += text[len(head)]
    while width_of(tail) < most - most // 2 - 1:
        tail = text[-len(tail) - 1] + tail
    head = head if width_of(head) <= most // 2 else head[:-1]
    return f"{head}…{tail if width_of(head + tail) < most else tail[1:]}"
