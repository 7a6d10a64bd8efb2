"""A number as a bar, with its interval and what chance gives."""

from collections.abc import Mapping
from typing import Any

from demele.report.page import Html, h

__all__ = ["strip"]


def strip(score: Mapping[str, Any], scale: tuple[float, float], index: int) -> Html:
    """Value as a bar from 0, interval as a line, chance as a tick; a picture of numbers that stand beside it."""
    low, high = scale

    def at(value: float) -> float:
        return round(100 * (min(max(value, low), high) - low) / (high - low), 2)

    def box(kind: str, start: float, end: float, top: object, height: object) -> Html:
        return h("rect", class_=kind, x=start, y=top, width=round(end - start, 2), height=height)

    start, end = sorted((at(0.0), at(score["value"])))
    parts = [box("track", 0, 100, 2, 6), box("bar", start, end, 2, 6)]
    interval, chance = score["interval"], score["chance"]
    if interval is not None and interval["low"] is not None and interval["high"] is not None:
        parts.append(box("range", at(interval["low"]), at(interval["high"]), 4.25, 1.5))
    if chance is not None and chance["mean"] is not None:
        parts.append(box("chance", at(chance["mean"]), at(chance["mean"]) + 0.8, 0, 10))
    frame = {"viewBox": "0 0 100 10", "preserveAspectRatio": "none"}
    return h("svg", parts, class_=f"strip c{index % 8}", **frame, aria_hidden="true")
