"""The picture of a forecast of audits: the share that settles the comparison against the rows that are labelled."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from demele.report.page import Html, h
from demele.report.words import percent

__all__ = ["DESIGNS", "settled_figure"]

Item = Mapping[str, Any]

#: Designs in the order of the key, and what they are called.
DESIGNS = {"weighted": "weighted audit", "uniform": "uniform audit", "sequential": "one label at a time"}
#: The figure: its size, and the room for numbers around it.
_WIDE, _TALL, _LEFT, _BELOW, _ABOVE, _RIGHT = 360, 220, 46, 36, 10, 14
#: Share from which a size is said to be enough.
_ENOUGH = 0.8


def settled_figure(title: object, curves: Mapping[str, Sequence[Item]], enough: bool) -> Html:
    """Draw a curve for each design, with two standard errors of the simulation up and down.

    Parameters
    ----------
    title : object
    curves : mapping of design to sequence of mapping
        With ``rows``, ``settled`` and ``error``, by rows.
    enough : bool
        Whether to draw the share from which a size is enough.
    """
    rows = sorted({one["rows"] for points in curves.values() for one in points})
    drawn = [_rule(_ENOUGH, "enough")] if enough else []
    for place, (design, points) in enumerate(curves.items()):
        moved = (place - 1) * 2.5  # whiskers of three designs stand beside each other
        at = [(_x(one["rows"], rows) + moved, one) for one in points]
        whiskers = [
            h(
                "line",
                x1=f"{x:.1f}",
                x2=f"{x:.1f}",
                y1=f"{_y(max(one['settled'] - 2 * one['error'], 0)):.1f}",
                y2=f"{_y(min(one['settled'] + 2 * one['error'], 1)):.1f}",
                class_=f"whisker {design}",
            )
            for x, one in at
        ]
        line = " ".join(f"{x:.1f},{_y(one['settled']):.1f}" for x, one in at)
        dots = [
            h("circle", class_=f"dot-of {design}", cx=f"{x:.1f}", cy=f"{_y(one['settled']):.1f}", r=3) for x, one in at
        ]
        drawn += [*whiskers, h("polyline", class_=f"curve {design}", points=line), *dots]
    told = "; ".join(f"{DESIGNS[design]}: {_in_words(points)}" for design, points in curves.items())
    picture = h(
        "svg",
        _axes(rows),
        drawn,
        viewBox=f"0 0 {_WIDE} {_TALL}",
        role="img",
        aria_label=f"Share of simulated audits that settle it, by rows labelled. {told}",
    )
    return h("figure", h("figcaption", h("strong", title)), picture)


def _in_words(points: Sequence[Item]) -> str:
    return ", ".join(f"{percent(one['settled'], 0)} at {one['rows']:,}" for one in points)


def _x(rows: int, every: Sequence[int]) -> float:
    """Place a size on a logarithmic axis."""
    low, high = math.log(every[0]), math.log(every[-1])
    share = 0.5 if high <= low else (math.log(rows) - low) / (high - low)
    return _LEFT + 8 + (_WIDE - _LEFT - _RIGHT - 16) * share


def _y(share: float) -> float:
    return _TALL - _BELOW - (_TALL - _BELOW - _ABOVE) * share


def _rule(share: float, kind: str) -> Html:
    y = f"{_y(share):.1f}"
    return h("line", class_=kind, x1=_LEFT, x2=_WIDE - _RIGHT, y1=y, y2=y)


def _axes(rows: Sequence[int]) -> Html:
    shares = (0, 0.25, 0.5, 0.75, 1)
    lines = [
        h(
            "",
            _rule(share, "grid"),
            h("text", percent(share, 0), x=_LEFT - 6, y=f"{_y(share) + 4:.1f}", text_anchor="end"),
        )
        for share in shares
    ]
    marks, free = [], -math.inf
    for size in rows:
        x, told = _x(size, rows), f"{size:,}"
        half = 3.4 * len(told)
        if x - half > free:  # numbers that would touch are left out
            marks.append(h("text", told, x=f"{x:.1f}", y=_TALL - _BELOW + 15, text_anchor="middle"))
            free = x + half + 4
    middle = f"{(_LEFT + _WIDE - _RIGHT) / 2:.1f}"
    foot = h("text", "rows that the expert labels", x=middle, y=_TALL - 5, text_anchor="middle")
    return h("g", lines, marks, foot, class_="axes")
