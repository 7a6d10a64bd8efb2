"""Curves and matrices of comparison methods drawn without a script: SVG and small PNG pictures in the page."""

import base64
import struct
import zlib
from collections.abc import Sequence

from demele.report.comparisons_view import ComparisonView, MethodLook
from demele.report.estimates import axis
from demele.report.page import Html, h
from demele.report.words import rate_text, share, spread

__all__ = ["COLOURS", "FIGURES", "curve_picture", "line_key", "matrix_png", "packed_cells"]

#: Colours of the cells, by their number: the diagonal grey, then the source's blue, black, red and white.
COLOURS = ("#9aa3ad", "#2f6db5", "#000000", "#ff5a3c", "#ffffff")
#: The three curves: key of a tally, title, whether its axis starts at zero.
FIGURES = (("type_1", "Type I errors", True), ("type_2", "Type II errors", True), ("agreement", "Agreement", False))
_WIDTH, _HEIGHT = 320.0, 230.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 12.0, 10.0, 36.0


def curve_picture(view: ComparisonView, measure: str, figure: tuple[str, str, bool]) -> Html:
    """Draw one figure of the main methods against the noise rate; a point tells its values."""
    key, title, from_zero = figure
    found = {
        method.name: [
            (rate, row[key], row[f"{key}_se"])
            for rate in view.rates
            if (row := view.tallies.get((measure, rate, method.name))) is not None and row[key] is not None
        ]
        for method in view.main()
    }
    values = [value for points in found.values() for _, value, _ in points]
    low, high, ticks = axis([*values, 0.0] if from_zero else values or [0.0, 100.0], within=(0.0, 100.0))
    if high - low < 1:  # nothing but zeros: an axis of a whole point
        low, high, ticks = (0.0, 1.0, [0.0, 0.5, 1.0]) if from_zero else (99.0, 100.0, [99.0, 99.5, 100.0])

    def across(rate: float) -> float:
        first, last = view.rates[0], view.rates[-1]
        part = 0.5 if last <= first else (rate - first) / (last - first)
        return round(_LEFT + 6 + part * (_WIDTH - _LEFT - _RIGHT - 12), 1)

    def up(value: float) -> float:
        return round(_TOP + (high - value) / (high - low) * (_HEIGHT - _TOP - _BOTTOM), 1)

    parts: list[Html] = []
    for tick in ticks:
        y = up(tick)
        parts.append(h("line", class_="rule", x1=f"{_LEFT:g}", x2=f"{_WIDTH - _RIGHT:g}", y1=y, y2=y))
        parts.append(h("text", f"{tick:g}%", class_="side", x=f"{_LEFT - 6:g}", y=f"{y + 3.5:g}"))
    previous = -99.0
    for rate in view.rates:
        if across(rate) - previous >= 26:
            previous = across(rate)
            parts.append(h("text", rate_text(rate), class_="foot", x=previous, y=f"{_HEIGHT - _BOTTOM + 15:g}"))
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(h("text", "wrong labels", class_="foot", x=f"{middle:g}", y=f"{_HEIGHT - 5:g}"))
    for method in view.main():
        parts.append(_line(method, [(across(rate), up(value)) for rate, value, _ in found[method.name]]))
        for rate, value, error in found[method.name]:
            x, told = across(rate), f"{method.title}, {rate_text(rate)} noise: {share(value)} {spread(error)}".strip()
            if error is not None:
                top, foot = up(min(value + error, high)), up(max(value - error, low))
                parts.append(h("line", class_=f"error c{method.colour}", x1=x, x2=x, y1=top, y2=foot))
            parts.append(_mark(method, x, up(value), h("title", told)))
    words = f"{title} against the noise rate; the values are in the tables"
    box = {"viewBox": f"0 0 {_WIDTH:g} {_HEIGHT:g}"}
    return h("svg", parts, class_="curve", **box, role="img", data_key=key, aria_label=words)


def line_key(method: MethodLook) -> Html:
    """Draw the line and mark of a method, for the legend."""
    drawn = [_line(method, [(1, 6), (33, 6)]), _mark(method, 17, 6)]
    return h("svg", drawn, class_="key-line", viewBox="0 0 34 12", aria_hidden="true")


def _line(method: MethodLook, points: Sequence[tuple[float, float]]) -> Html:
    text = " ".join(f"{x:g},{y:g}" for x, y in points)
    return h("polyline", class_=f"line c{method.colour} v{method.variant % 4}", points=text)


def _mark(method: MethodLook, x: float, y: float, told: object = "") -> Html:
    shape = (
        f"M{x - 3:g},{y:g}a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z",
        f"M{x - 3:g},{y - 3:g}h6v6h-6z",
        f"M{x:g},{y - 4:g}l4,7h-8z",
        f"M{x:g},{y - 4:g}l4,4l-4,4l-4,-4z",
    )[method.variant % 4]
    return h("path", told, class_=f"point c{method.colour}", d=shape)


def matrix_png(rows: Sequence[str]) -> str:
    """Return the address of a picture that has one point for each cell, given rows of digits."""
    lines = b"".join(b"\0" + bytes(int(digit) for digit in row) for row in rows)
    palette = b"".join(bytes.fromhex(colour[1:]) for colour in COLOURS)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    picture = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )
    return "data:image/png;base64," + base64.b64encode(picture).decode()


def packed_cells(cells: str) -> str:
    """Pack the digits of a matrix, four cells a byte, the first in the lowest bits; the diagonal is known anyway.

    Examples
    --------
    >>> list(base64.b64decode(packed_cells("0140")))  # 0, 1 - 1 = 0, 4 - 1 = 3, 0
    [48]
    """
    codes = [max(int(digit) - 1, 0) for digit in cells]
    codes += [0] * (-len(codes) % 4)
    joined = bytes(
        codes[place] | codes[place + 1] << 2 | codes[place + 2] << 4 | codes[place + 3] << 6
        for place in range(0, len(codes), 4)
    )
    return base64.b64encode(joined).decode()
