"""Text that remembers which parts of it are names or matter, and numbers as every page and table writes them."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from demele.core.sentences import plural

__all__ = [
    "DASH",
    "Mark",
    "Span",
    "Text",
    "brackets",
    "code",
    "count",
    "digits_for",
    "duration",
    "em",
    "fine",
    "fine_brackets",
    "first_names",
    "joined",
    "level_text",
    "link",
    "named",
    "number",
    "of_sentence",
    "percent",
    "percent_range",
    "plural",
    "points",
    "points_range",
    "probability",
    "rate_text",
    "share",
    "span_of",
    "spread",
    "strong",
    "whole",
]

DASH = "–"
#: Two ends, either of which may be unknown.
Span = tuple[float | None, float | None]


class Mark:
    """A part of a text that is more than text: "name", "strong", "em", "code" or "link", and where it leads."""

    __slots__ = ("inside", "kind", "target")

    def __init__(self, kind: str, inside: object, target: str = "") -> None:
        self.kind, self.inside, self.target = kind, Text(inside), target


class Text(str):
    """A sentence as plain text, which remembers its marks. A page escapes it and shows them; a terminal prints it.

    Examples
    --------
    >>> text = Text("Keep ", named("<b>"), ": it is ", strong("better"), ".")
    >>> print(text)
    Keep <b>: it is better.
    >>> [piece if isinstance(piece, str) else piece.kind for piece in text.pieces]
    ['Keep ', 'name', ': it is ', 'strong', '.']
    """

    pieces: tuple[str | Mark, ...]

    def __new__(cls, *parts: object) -> "Text":
        """Put texts, marks and whatever else has words side by side."""
        pieces: list[str | Mark] = []
        for part in parts:
            pieces += part.pieces if isinstance(part, Text) else [part if isinstance(part, Mark) else str(part)]
        made = super().__new__(cls, "".join(piece if isinstance(piece, str) else piece.inside for piece in pieces))
        made.pieces = tuple(pieces)
        return made


def named(name: object) -> Text:
    """Return a name that a user chose; a page isolates it, for it may be written from right to left."""
    return Text(Mark("name", str(name)))


def strong(*parts: object) -> Text:
    """Return a text that matters."""
    return Text(Mark("strong", Text(*parts)))


def em(*parts: object) -> Text:
    """Return a term of which the text speaks."""
    return Text(Mark("em", Text(*parts)))


def code(*parts: object) -> Text:
    """Return what is typed as it stands."""
    return Text(Mark("code", Text(*parts)))


def link(target: str, *parts: object) -> Text:
    """Return a text that leads to a place, such as ``"#notes"``."""
    return Text(Mark("link", Text(*parts), target))


# Lists ----------------------------------------------------------------------------------------------------------------


def joined(parts: Iterable[object], last: str = " and ", between: str = ", ") -> Text:
    """Join words for a sentence.

    Examples
    --------
    >>> print(joined(["a", "b", "c"]))
    a, b and c
    """
    listed = list(parts)
    joints = [*([between] * (len(listed) - 2)), last][: len(listed) - 1] if listed else []
    return Text(*(piece for pair in zip(listed, [*joints, ""], strict=True) for piece in pair))


def first_names(names: Iterable[object], most: int = 6) -> Text:
    """Return the first names of a list, for a sentence."""
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return Text(joined((named(name) for name in listed[:most]), last=", "), more)


def count(how_many: int, noun: str) -> str:
    """Write a number of things: ``1 score``, ``2 scores``."""
    return plural(how_many, noun, f"{noun}s")


def of_sentence(text: str) -> str:
    """Return a text as a sentence: a capital first, a full stop last."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if not text or text[-1] in ".!?" else ".")


# Numbers --------------------------------------------------------------------------------------------------------------


def _signed(text: str) -> str:
    """Write a minus sign, but none before a zero."""
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def number(value: float | None, digits: int = 3) -> str:
    """Round a number for the eye; what is undefined is a dash.

    Examples
    --------
    >>> number(0.12345), number(-0.0001), number(None), number(123456.0)
    ('0.123', '0.000', '–', '1.235e+05')
    """
    if value is None or math.isnan(value):
        return DASH
    return _signed(f"{value:.{digits}f}" if abs(value) < 1e4 else f"{value:.4g}")


def whole(value: float | None) -> str:
    """Write a whole number with its thousands; a dash for none."""
    return DASH if value is None else f"{value:,}"


def brackets(interval: Mapping[str, Any] | Span | None) -> str:
    """Write an interval as ``[low, high]``, or nothing."""
    low, high = interval if isinstance(interval, tuple | list) else span_of(interval)
    return "" if low is None or high is None else f"[{number(low)}, {number(high)}]"


def adjusted_text(score: Mapping[str, Any]) -> str:
    """Write what a score of few rows is with the information adjusted for chance; nothing where that hardly differs."""
    found = score.get("details", {}).get("adjusted_for_chance")
    return "" if found is None else f"adjusted {number(found['value'])} {brackets(found)}".strip()


def fine(value: float | None) -> str:
    """Round to three digits after the point, or to two that count where those would be zeros.

    Examples
    --------
    >>> fine(0.1234), fine(0.00042), fine(-0.5), fine(0.0), fine(None)
    ('0.123', '0.00042', '−0.500', '0', '–')
    """
    if value is None or abs(value) >= 0.01:
        return number(value)
    return f"{value:.2g}".replace("-", "−") if value else "0"


def fine_brackets(low: float | None, high: float | None) -> str:
    """Write an interval; an end that is not known is an open one."""
    if low is None and high is None:
        return DASH
    return f"[{'−∞' if low is None else fine(low)}, {'∞' if high is None else fine(high)}]"


def duration(seconds: float | None) -> str:
    """Write a time in a unit that suits it.

    Examples
    --------
    >>> duration(0.0114), duration(2.5), duration(754.0)
    ('11 ms', '2.5 s', '12.6 min')
    """
    if seconds is None:
        return DASH
    if seconds < 0.001:
        return f"{seconds * 1000:.2g} ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms" if seconds >= 0.01 else f"{seconds * 1000:.1f} ms"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def probability(value: float | None) -> str:
    """Write a p-value.

    Examples
    --------
    >>> probability(0.03217), probability(0.00002), probability(None)
    ('0.032', '< 0.0001', '–')
    """
    if value is None or math.isnan(value):
        return DASH
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


# Shares and their differences -----------------------------------------------------------------------------------------


def span_of(interval: Mapping[str, Any] | None) -> Span:
    """Return the ends of an interval that may be missing."""
    return (None, None) if interval is None else (interval.get("low"), interval.get("high"))


def digits_for(span: Span) -> int:
    """Return how many decimals of a percent are worth showing: as many as the width of an interval lets one trust.

    Examples
    --------
    >>> digits_for((0.019, 0.044)), digits_for((0.9121, 0.9178)), digits_for((None, None))
    (1, 2, 1)
    """
    low, high = span
    width = 1.0 if low is None or high is None or high <= low else 100 * (high - low)
    return 1 if width >= 1 else 2 if width >= 0.1 else 3


def measure_word(measure: str) -> str:
    """Write the name of a measure of classifiers.

    Examples
    --------
    >>> measure_word("macro-f1"), measure_word("recall")
    ('macro F1', 'recall')
    """
    words = {
        "f1": "F1",
        "macro-f1": "macro F1",
        "balanced-accuracy": "balanced accuracy",
        "matthews": "Matthews correlation",
    }
    return words.get(measure, measure)


def percent(value: float | None, digits: int = 1) -> str:
    """Write a share as percent.

    Examples
    --------
    >>> percent(0.9123), percent(None)
    ('91.2%', '–')
    """
    return DASH if value is None or math.isnan(value) else _signed(f"{100 * value:.{digits}f}") + "%"


def percent_range(span: Span, digits: int = 1) -> str:
    """Write an interval of shares, such as ``[88.0%, 94.4%]``; nothing if an end is missing."""
    return "" if None in span else f"[{percent(span[0], digits)}, {percent(span[1], digits)}]"


def level_text(level: float) -> str:
    """Write a level as it was given, without needless decimals.

    Examples
    --------
    >>> level_text(0.95), level_text(1 - 0.95 / 2), level_text(0.999)
    ('95%', '52.5%', '99.9%')
    """
    return f"{100 * level:.10g}%"


def rate_text(rate: float) -> str:
    """Write a noise rate.

    Examples
    --------
    >>> rate_text(0.05), rate_text(0.125), rate_text(0.0004)
    ('5%', '12.5%', '0.04%')
    """
    return f"{100 * rate:.6g}%"


def points(value: float | None, digits: int = 1, *, sign: bool = False) -> str:
    """Write a difference of shares in percentage points, without the word.

    Examples
    --------
    >>> points(0.031), points(-0.004, sign=True), points(0.004, sign=True)
    ('3.1', '−0.4', '+0.4')
    """
    if value is None or math.isnan(value):
        return DASH
    text = _signed(f"{100 * value:.{digits}f}")
    return f"+{text}" if sign and float(text.replace("−", "-")) > 0 else text


def points_range(span: Span, digits: int = 1, *, sign: bool = False) -> str:
    """Write an interval of differences in points; nothing if an end is missing."""
    return "" if None in span else f"[{points(span[0], digits, sign=sign)}, {points(span[1], digits, sign=sign)}]"


def share(percentage: float | None) -> str:
    """Write a share that is given in percent.

    Examples
    --------
    >>> share(1.625), share(None)
    ('1.62%', '–')
    """
    return DASH if percentage is None else f"{number(percentage, 2)}%"


def spread(error: float | None) -> str:
    """Write a standard error in points, or nothing."""
    return "" if error is None else f"± {number(error, 2)}"
