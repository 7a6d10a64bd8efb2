"""What the pages about labels share: intervals on one axis, tables, assumptions, notes, signature, the page itself."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from demele.core.errors import InputError
from demele.core.outputs import write_whole
from demele.report.labels_words import (
    Span,
    digits_for,
    measure_of,
    of_sentence,
    percent,
    percent_range,
    points,
    points_range,
    span_of,
)
from demele.report.page import assembled, embedded, template
from demele.report.words import DASH, named

__all__ = [
    "KINDS",
    "Item",
    "assumptions",
    "axis",
    "bar",
    "bias_words",
    "cell",
    "checked",
    "estimate_words",
    "facts",
    "grid",
    "interval_chart",
    "interval_table",
    "lead",
    "notes",
    "signature",
    "table",
    "write",
]

Item = Mapping[str, Any]

#: What a corrected interval covers, by its kind.
KINDS: Mapping[str, str] = {
    "sampling": "covering what other instances could have given",
    "worst-case": "with every pattern of wrong labels within the noise supplied covered",
    "shifted": "shifted by the bias, which is known",
    "bias-union": "with every bias within its bounds covered",
    "design": "corrected by an audit, a random sample of expert labels",
}


def checked(data: Any, kind: str) -> Item:
    """Return the dictionary of a result.

    Raises
    ------
    InputError
        If it is not one of this kind.
    """
    got = data.get("kind") if isinstance(data, Mapping) else type(data).__name__
    if got != kind:
        raise InputError(
            "data", f"expected the dictionary of one {kind}, as its to_dict() returns it, got kind {got!r}"
        )
    found: Item = data
    return found


def write(
    data: Item,
    path: Path,
    *,
    kind: str,
    title: str,
    sections: Sequence[tuple[str, str, str]],
    scripts: Sequence[str],
    csv: str | None = None,
) -> Path:
    """Put one page together and write it; no part of it comes from outside, and no script but its own may run."""
    button = "" if csv is None else f'<button type="button" class="download-csv" data-list="{csv}">Data (CSV)</button>'
    version = data.get("demele")
    page = assembled(
        "labels.html",
        title=title,
        sections=sections,
        styles=("report.css", "labels.css"),
        scripts={"errors_js": template("errors.js"), "labels_js": "".join(map(template, ("common.js", *scripts)))},
        parts={
            "kind": kind,
            "csv": button,
            "version": escape(f"demele {version}" if version else "demele"),
            "data": embedded(data),
        },
    )
    # The title may hold what UTF-8 cannot; names were freed of it before, so that those of page and data agree.
    return write_whole(path, page.encode("utf-8", "replace"))


def lead(headline: str, sentences: Sequence[str], *, tone: str = "") -> str:
    """Write what is to be known first."""
    rest = "".join(f"<p>{sentence}</p>" for sentence in sentences if sentence)
    return f'<div class="lead"><p class="headline {tone}">{headline}</p>{rest}</div>'


def assumptions(sentences: Sequence[Any], before: str) -> str:
    """Write what must hold, one sentence each."""
    if not sentences:
        return ""
    items = "".join(f"<li>{escape(of_sentence(str(sentence)))}</li>" for sentence in sentences)
    return f'<p>{before}</p><ul class="assumptions">{items}</ul>'


def notes(items: Sequence[Item]) -> str:
    """Write what was left out and why, warnings first."""
    order = {"fragile": 0, "warning": 1}
    ranked = sorted(items, key=lambda note: order.get(str(note.get("severity")), 2))
    rows = []
    for note in ranked:
        shown = [str(name) for name in note.get("subject") or ()]
        if any(name in str(note.get("message")) for name in shown):
            shown = []  # the message names them itself
        more = f" and {len(shown) - 12} more" if len(shown) > 12 else ""
        about = f'<span class="about">{", ".join(map(named, shown[:12]))}{more}</span>' if shown else ""
        tone = "warned" if note.get("severity") in order else "to-know"
        rows.append(f'<li>{about}<span class="{tone}">{escape(of_sentence(str(note.get("message", ""))))}</span></li>')
    return f'<ul class="notes">{"".join(rows)}</ul>' if rows else ""


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Write names and values, the values being HTML."""
    rows = "\n".join(f"<dt>{escape(name)}</dt>\n<dd>{value}</dd>" for name, value in pairs if value)
    return f'<dl class="facts">{rows}\n</dl>'


def signature(text: Any) -> str:
    """Write everything beside the data that changes the result, to be copied."""
    if not text:
        return ""
    return (
        "<h3>Signature</h3><p>Everything beside the data that changes this result, written as a call.</p>"
        f'<div class="signature"><code>{escape(str(text))}</code>'
        '<button type="button" class="copy" hidden>Copy</button></div>'
    )


def cell(text: str, value: float | str | None = None, *, kind: str = "number") -> str:
    """Write a cell of a table; ``value`` is what the table is sorted by, if the text will not do."""
    own = "" if value is None else f' data-v="{escape(str(value))}"'
    return f'<td class="{kind}"{own}>{text}</td>'


def table(
    caption: str,
    heads: Sequence[tuple[str, str]],
    rows: Sequence[str],
    *,
    kind: str = "",
    first: int | None = None,
    noun: str = "rows",
) -> str:
    """Write a table that can be sorted; heads are (text, "text" or "number").

    ``first`` folds what comes after so many rows until it is asked for, with a field to search.
    """
    head = "".join(f'<th scope="col" class="{align}">{text}</th>' for text, align in heads)
    folded = first is not None and len(rows) > first
    controls = (
        f'<div class="controls" hidden><label>Find <input type="search" class="find"></label>'
        f'<button type="button" class="more">Show all {len(rows):,} {noun}</button>'
        '<span class="found" role="status"></span></div>'
        if folded
        else ""
    )
    own = f' data-first="{first}" data-noun="{noun}"' if folded else ""
    return (
        f'{controls}<div class="scroll"><table class="sortable {kind}"{own}><caption class="hidden">{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def grid(caption: str, names: Sequence[str], rows: Sequence[str], *, kind: str, few: int, attributes: str = "") -> str:
    """Write a square table of classes or models, one row of cells each; among many, numbers stand above the columns."""
    many = len(names) > few
    heads, lines = [], []
    for place, (name, cells) in enumerate(zip(names, rows, strict=True), start=1):
        label = escape(name)
        told = str(place) if place % 5 == 0 or place == 1 else ""
        heads.append(
            f'<th scope="col" aria-label="{label}">{told}</th>'
            if many
            else f'<th scope="col"><span class="upright">{named(name)}</span></th>'
        )
        number = f"{place} " if many else ""
        lines.append(f'<tr><th scope="row" title="{label}">{number}{named(name)}</th>{cells}</tr>')
    size = f' style="--cell:{min(1.1, 36 / len(names)):.2f}rem"' if many else ""
    return (
        f'<div class="scroll"><table class="grid {kind}{" many" if many else ""}" id="grid"{size}{attributes}><caption '
        f'class="hidden">{caption}</caption><thead><tr><td></td>{"".join(heads)}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


# Intervals ------------------------------------------------------------------------------------------------------------


def axis(
    values: Sequence[float | None], *, within: tuple[float, float] | None = None, steps: int = 4
) -> tuple[float, float, list[float]]:
    """Return an axis that holds some values: its ends, and round ticks, about ``steps`` of them.

    Examples
    --------
    >>> low, high, ticks = axis([0.713, 0.782])
    >>> low, high, [round(tick, 3) for tick in ticks]
    (0.7, 0.8, [0.7, 0.72, 0.74, 0.76, 0.78, 0.8])
    """
    present = [value for value in values if value is not None]
    low, high = (min(present), max(present)) if present else (0.0, 1.0)
    if high - low < 1e-9:
        low, high = low - 0.005, high + 0.005
    rough = (high - low) / steps
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if within is not None:
        first, last = max(first, math.ceil(within[0] / step - 1e-9)), min(last, math.floor(within[1] / step + 1e-9))
    ticks = [round(position * step, 12) for position in range(first, last + 1)]
    return min(ticks[0], low), max(ticks[-1], high), ticks


def bar(span: Span, ends: tuple[float, float], kind: str) -> str:
    """Draw one interval on an axis; nothing if an end is missing."""
    low, high = span
    if low is None or high is None:
        return ""
    start, stop = _at(low, ends), _at(high, ends)
    return f'<i class="{kind}" style="left:{start:.2f}%;width:{stop - start:.2f}%"></i>'


def _at(value: float, ends: tuple[float, float]) -> float:
    return min(max(100 * (value - ends[0]) / (ends[1] - ends[0]), 0.0), 100.0)


def interval_chart(rows: Sequence[tuple[str, int, Item]], *, correct: str = "on right labels") -> str:
    """Draw apparent and corrected intervals of estimates on one axis; the table beside it holds the numbers.

    Parameters
    ----------
    rows : sequence of (name as HTML, colour, estimate)
    """
    every: list[float | None] = []
    for _, _, item in rows:
        every += [
            item.get("value"),
            *span_of(item.get("interval")),
            *span_of(item.get("corrected")),
        ]
    low, high, ticks = axis(every, within=(0.0, 1.0))
    ends = (low, high)
    digits = 0 if len(ticks) < 2 or ticks[1] - ticks[0] > 0.0099 else 1 if ticks[1] - ticks[0] > 0.00099 else 2
    grid = "".join(f'<i class="tick" style="left:{_at(tick, ends):.2f}%"></i>' for tick in ticks)
    drawn = []
    for name, colour, item in rows:
        value = item.get("value")
        dot = "" if value is None else f'<i class="at" style="left:{_at(value, ends):.2f}%"></i>'
        lines = [("apparent", f"{bar(span_of(item.get('interval')), ends, 'apparent')}{dot}")]
        if item.get("corrected"):
            lines.append((correct, bar(span_of(item["corrected"]), ends, "corrected")))
        tracks = "".join(
            f'<span class="what">{what}</span><span class="track">{grid}{inner}</span>' for what, inner in lines
        )
        drawn.append(f'<div class="model c{colour % 8}"><b>{name}</b><div class="lines">{tracks}</div></div>')
    labels = "".join(
        f'<span style="left:{_at(tick, ends):.2f}%">{percent(tick, digits)}</span>'
        for tick in ticks[:: _every(len(ticks))]
    )
    scale = f'<div class="model"><div class="lines"><span></span><span class="scale">{labels}</span></div></div>'
    return f'<div class="intervals" aria-hidden="true">{"".join(drawn)}{scale}</div>'


def _every(n: int) -> int:
    return 1 if n <= 7 else 2


def interval_table(rows: Sequence[tuple[str, int, Item]], caption: str, head: str) -> str:
    """Write estimates as a table: value, its interval, bias, corrected interval."""
    biased = any(item.get("bias") is not None for _, _, item in rows)
    corrected = any(item.get("corrected") is not None for _, _, item in rows)
    heads = [(head, "text"), ("Apparent", "number"), ("Interval", "number")]
    heads += [("Bias, points", "number")] if biased else []
    heads += [("On right labels", "number")] if corrected else []
    digits = max((digits_for(span_of(item.get("interval"))) for _, _, item in rows), default=1)
    lines = []
    for name, _, item in rows:
        own = span_of(item.get("interval"))
        right = span_of(item.get("corrected"))
        cells = [
            cell(percent(item.get("value"), digits), item.get("value")),
            cell(percent_range(own, digits) or DASH, own[0]),
        ]
        if biased:
            cells.append(cell(bias_words(item.get("bias"))))
        if corrected:
            cells.append(cell(percent_range(right, digits) or DASH, right[0]))
        lines.append(f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>')
    return table(caption, heads, lines)


def bias_words(bias: Sequence[float | None] | None) -> str:
    """Write a bias, or its bounds, in points."""
    if bias is None or bias[0] is None or bias[1] is None:
        return DASH
    low, high = bias
    return points(low, sign=True) if low == high else points_range((low, high), sign=True)


def estimate_words(item: Item, *, average: bool = False) -> str:
    """Name what an estimate is of."""
    if average:
        return f"{measure_of(str(item['measure']))}, {escape(str(item['of']))} average"
    return measure_of(str(item["measure"]), item.get("of"))
