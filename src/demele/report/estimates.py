"""Measures with their intervals as pages show them: on one axis, in tables, in grids of classes or classifiers."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from demele.report.page import Cell, Html, Page, data_element, embedded, h, table, tool
from demele.report.sentences import bias_words
from demele.report.words import DASH, Span, digits_for, named, percent, percent_range, points, span_of

__all__ = ["axis", "difference_chart", "grid", "interval_chart", "interval_table", "labels_page", "strip"]

Item = Mapping[str, Any]
#: A row of a chart or table: name, colour, estimate.
Row = tuple[object, int, Item]


def labels_page(
    data: Item,
    *,
    kind: str,
    title: str,
    sections: Sequence[tuple[str, str, Html]],
    scripts: Sequence[str],
    csv: str = "",
    styles: Sequence[str] = (),
) -> Page:
    """Make the page of one result about labels; ``csv`` names the list that can be downloaded as a table."""
    return Page(
        kind=kind,
        title=title,
        sections=sections,
        style="labels",
        styles=("labels.css", *styles),
        scripts=("labels.js", *scripts),
        tools=h(
            "", tool("Data (JSON)", "download-json"), tool("Data (CSV)", "download-csv", data_list=csv) if csv else ""
        ),
        data=data_element(embedded(data)),
        version=data.get("demele"),
    )


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


def decimals(ticks: Sequence[float]) -> int:
    """Return how many decimals of a percent tell ticks apart."""
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 0.01
    return 0 if step > 0.0099 else 1 if step > 0.00099 else 2 if step > 0.000099 else 3


def _at(value: float, ends: tuple[float, float]) -> str:
    return f"{min(max(100 * (value - ends[0]) / (ends[1] - ends[0]), 0.0), 100.0):.2f}%"


def _bar(span: Span, ends: tuple[float, float], kind: str) -> Html:
    low, high = span
    if low is None or high is None:
        return h("")
    width = float(_at(high, ends)[:-1]) - float(_at(low, ends)[:-1])
    return h("i", class_=kind, style=f"left:{_at(low, ends)};width:{width:.2f}%")


def _tick(value: float | None, ends: tuple[float, float], kind: str) -> Html:
    return h("") if value is None else h("i", class_=kind, style=f"left:{_at(value, ends)}")


def strip(span: Span, value: float | None, ends: tuple[float, float], kind: str, *, rule: float | None = None) -> Html:
    """Draw an interval, and a value on it, in a cell of a table whose numbers stand beside it; a rule, such as at 0."""
    drawn = h("span", _bar(span, ends, kind), _tick(rule, ends, "rule"), _tick(value, ends, "at"), class_="strip-of")
    return h("td", drawn, class_="place", aria_hidden="true")


def interval_chart(rows: Sequence[Row]) -> Html:
    """Draw observed and corrected intervals of estimates on one axis; the table beside it holds the numbers."""
    every: list[float | None] = []
    for _, _, item in rows:
        every += [item.get("value"), *span_of(item.get("interval")), *span_of(item.get("corrected"))]
    lowest = -1.0 if any(item.get("measure") == "matthews" for _, _, item in rows) else 0.0
    low, high, ticks = axis(every, within=(lowest, 1.0))
    ends = (low, high)
    rules = [_tick(tick, ends, "tick") for tick in ticks]
    drawn = []
    for name, colour, item in rows:
        lines = [
            (
                "observed",
                h("", _bar(span_of(item.get("interval")), ends, "observed"), _tick(item.get("value"), ends, "at")),
            )
        ]
        if item.get("corrected"):
            lines.append(("on right labels", _bar(span_of(item["corrected"]), ends, "corrected")))
        tracks = [[h("span", what, class_="what"), h("span", rules, inner, class_="track")] for what, inner in lines]
        drawn.append(h("div", h("b", name), h("div", tracks, class_="lines"), class_=f"model c{colour % 8}"))
    every_other = 1 if len(ticks) <= 7 else 2
    labels = [
        h("span", percent(tick, decimals(ticks)), style=f"left:{_at(tick, ends)}") for tick in ticks[::every_other]
    ]
    scale = h("div", h("div", h("span"), h("span", labels, class_="scale"), class_="lines"), class_="model")
    return h("div", drawn, scale, class_="intervals", aria_hidden="true")


def difference_chart(value: float | None, span: Span, ahead: tuple[object, object]) -> Html:
    """Draw a difference and its interval against 0, in points; numbers and verdict stand in the text beside it.

    Parameters
    ----------
    value : float or None
    span : (low, high)
        Nothing is drawn without it.
    ahead : two names
        Who is better left and right of 0.
    """
    if value is None or None in span:
        return h("")
    far = max(map(abs, (value, span[0] or 0.0, span[1] or 0.0)))
    low, high, ticks = axis([value, *span, -far / 5, far / 5])  # 0 does not stand at an edge
    ends = (low, high)
    rules = [_tick(tick, ends, "zero" if abs(tick) < 1e-12 else "tick") for tick in ticks]
    drawn = h("span", rules, _bar(span, ends, "corrected"), _tick(value, ends, "at"), class_="track")
    every_other = 1 if len(ticks) <= 7 else 2
    zero = next((place for place, tick in enumerate(ticks) if abs(tick) < 1e-12), 0)
    labels = [
        h("span", points(tick, decimals(ticks), sign=True), style=f"left:{_at(tick, ends)}")
        for tick in ticks[zero % every_other :: every_other]
    ]
    left, right = ahead
    sides = h(
        "div",
        h("span", "\N{LEFTWARDS ARROW} ", left, " is better"),
        h("span", "difference, in points"),
        h("span", right, " is better \N{RIGHTWARDS ARROW}"),
        class_="sides",
    )
    scale = h("span", labels, class_="scale")
    return h("div", sides, h("div", drawn, scale, class_="lines"), class_="against-zero model c1", aria_hidden="true")


def interval_table(rows: Sequence[Row], caption: object, head: str) -> Html:
    """Write estimates as a table: value, its interval, bias, corrected interval."""
    biased = any(item.get("bias") is not None for _, _, item in rows)
    corrected = any(item.get("corrected") is not None for _, _, item in rows)
    digits = max((digits_for(span_of(item.get("interval"))) for _, _, item in rows), default=1)
    heads = [
        (head, "text"),
        ("Observed", "number"),
        ("Interval", "number"),
        ("Bias, points", "number") if biased else None,
        ("On right labels", "number") if corrected else None,
    ]
    lines = []
    for name, _, item in rows:
        own, right = span_of(item.get("interval")), span_of(item.get("corrected"))
        lines.append(
            [
                name,
                Cell(percent(item.get("value"), digits), item.get("value")),
                Cell(percent_range(own, digits) or DASH, own[0]),
                Cell(bias_words(item.get("bias"))) if biased else None,
                Cell(percent_range(right, digits) or DASH, right[0]) if corrected else None,
            ]
        )
    return table(caption, heads, lines)


def grid(
    caption: str, names: Sequence[object], rows: Sequence[object], *, kind: str, few: int, **attributes: object
) -> Html:
    """Write a square table of classes or models, one row of cells each; among many, numbers stand above the columns."""
    many = len(names) > few
    heads, lines = [], []
    for place, (name, cells) in enumerate(zip(names, rows, strict=True), start=1):
        told = place if place % 5 == 0 or place == 1 else ""
        heads.append(
            h("th", told, scope="col", aria_label=name)
            if many
            else h("th", h("span", named(name), class_="upright"), scope="col")
        )
        number = f"{place} " if many else ""
        lines.append(h("tr", h("th", number, named(name), scope="row", title=name), cells))
    whole = h(
        "table",
        h("caption", caption, class_="hidden"),
        h("thead", h("tr", h("td"), heads)),
        h("tbody", lines),
        class_=f"grid {kind}{' many' if many else ''}",
        id="grid",
        style=f"--cell:{min(1.1, 36 / len(names)):.2f}rem" if many else None,
        **attributes,
    )
    return h("", h("div", whole, class_="scroll"), h("p", class_="grid-says", id="grid-says", role="status"))
