"""Numbers and verdicts as the page of a characterisation writes them; everything returned is safe in HTML."""

from collections.abc import Iterable
from html import escape
from typing import Any

from demele.report.bench_view import STATUSES
from demele.report.words import DASH, number

__all__ = [
    "badge",
    "duration",
    "fine",
    "fine_ends",
    "flag",
    "joined",
    "label_of",
    "plural",
    "printed_words",
    "status_key",
]

#: What the marks of a printed table mean.
_PRINTED = {
    "y": ("✓", "yes"),
    "x": ("✗", "no"),
    "x*": ("✗*", "no, because of discretisation"),
    "-": ("–", "not measured"),
    "n/a": ("n/a", "not applicable"),
    "": ("", "left empty"),
}


def status_key(status: str) -> str:
    """Return the class of a status."""
    return status.replace(" ", "-") if status in STATUSES else "undecided"


def badge(status: str) -> str:
    """Write a status as a coloured sign and a word.

    Examples
    --------
    >>> badge("holds")
    '<span class="badge holds"><span aria-hidden="true">✓</span> holds</span>'
    """
    sign = STATUSES.get(status, ("?", ""))[0]
    return f'<span class="badge {status_key(status)}"><span aria-hidden="true">{sign}</span> {escape(status)}</span>'


def fine(value: float | None) -> str:
    """Round to three digits after the point, or to two that count where those would be zeros.

    Examples
    --------
    >>> fine(0.1234), fine(0.00042), fine(-0.5), fine(0.0), fine(None)
    ('0.123', '0.00042', '−0.500', '0', '–')
    """
    if value is not None and value == 0:
        return "0"
    if value is None or abs(value) >= 0.01:
        return number(value)
    return f"{value:.2g}".replace("-", "−")


def fine_ends(low: float | None, high: float | None) -> str:
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


def plural(how_many: int, one: str, many: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> plural(1, "criterion", "criteria"), plural(1200, "row", "rows")
    ('1 criterion', '1,200 rows')
    """
    return f"{how_many:,} {one if how_many == 1 else many}"


def joined(parts: Iterable[str]) -> str:
    """Join words for a sentence.

    Examples
    --------
    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = list(parts) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def flag(value: bool | None, yes: str, no: str, unknown: str) -> str:
    """Say yes, no or not known."""
    return unknown if value is None else yes if value else no


def printed_words(printed: str | None) -> tuple[str, str]:
    """Return sign and meaning of a printed verdict."""
    sign, words = _PRINTED.get(printed or "", (str(printed), str(printed)))
    return escape(sign), escape(words)


def label_of(scenario: Any, position: int) -> str:
    """Return what a severity is called, not escaped."""
    labels = scenario.get("labels") or []
    if position < len(labels):
        return str(labels[position])
    severities = scenario.get("severities") or []
    return f"{severities[position]:g}" if position < len(severities) else str(position + 1)
