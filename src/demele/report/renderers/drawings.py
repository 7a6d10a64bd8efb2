"""Figures on an axis as HTML and SVG, all text outside of the SVG."""

from collections.abc import Mapping, Sequence

from demele.report.document import Graph, Lines, Mark, Strip, Strips
from demele.report.renderers.elements import Html, h, pill_of
from demele.report.words import is_missing, range_of, share_of, ticks

#: More strips than this are scrolled.
_LONG = 60


def _strips(one: Strips) -> Html:
    marks = [mark for strip in one.rows for mark in strip.marks]
    bars = [0.0] if any(mark.kind == "bar" for mark in marks) else []
    zero = [] if one.zero is None else [one.zero]
    low, high = one.ends or range_of([*bars, *zero, *(end for mark in marks for end in (mark.at, mark.to))])
    axis = ticks(low, high, one.form)
    places = [share_of(at, low, high) for at, _ in axis]
    step = f"--o:{places[0]}%;--s:{round(places[1] - places[0], 3)}%" if len(places) > 1 else ""
    style = ";".join(filter(None, [step, "" if one.zero is None else f"--z:{share_of(one.zero, low, high)}%"]))
    has_text, has_pill = any(row.text for row in one.rows), any(row.pill for row in one.rows)
    rows = (_strip(strip, low, high, has_text, has_pill) for strip in one.rows)
    sides = h("div", h("span", _sides(one, low, high), class_="sides")) if one.sides else None
    scale = h("span", (h("span", text, style=f"left:{place}%") for place, (_, text) in zip(places, axis, strict=True)))
    foot = h("div", h("span", scale, h("em", one.axis) if one.axis else None, class_="axis"))
    kind = "plot" + " zero" * (one.zero is not None) + " long" * (len(one.rows) > _LONG)
    body = h("div", sides, rows, foot, class_=kind, style=style, aria_hidden="true")
    return h("", _legend(one.series), body)


def _strip(strip: Strip, low: float, high: float, has_text: bool, has_pill: bool) -> Html:
    return h(
        "div",
        h("span", h("span", strip.name), class_="name"),
        h("span", (_mark(mark, low, high) for mark in strip.marks), class_="track"),
        h("span", strip.text, class_="text") if has_text else None,
        h("span", pill_of(strip.pill) if strip.pill else None, class_="state") if has_pill else None,
    )


def _mark(mark: Mark, low: float, high: float) -> Html | None:
    if mark.at is None or is_missing(mark.at):
        return None
    at = share_of(mark.at, low, high)
    if mark.kind in ("dot", "tick"):
        return h("i", class_=f"{mark.kind} c{mark.series}", style=f"left:{at}%")
    if mark.kind == "span" and is_missing(mark.to):
        return None
    to = share_of(0.0 if mark.to is None or is_missing(mark.to) else mark.to, low, high)
    place = f"left:{min(at, to)}%;width:{round(abs(at - to), 2)}%"
    return h("i", class_=f"{mark.kind} c{mark.series}", style=place)


def _sides(one: Strips, low: float, high: float) -> list[Html]:
    left, right = one.sides or ("", "")
    place = share_of(one.zero or 0.0, low, high)
    return [h("span", "← ", left, style=f"right:{100 - place}%"), h("span", right, " →", style=f"left:{place}%")]


def _legend(series: Mapping[int, str], kind: str = "dot") -> Html | None:
    items = (h("span", h("i", class_=f"{kind} c{number}"), text) for number, text in series.items())
    return h("p", items, class_="legend", aria_hidden="true") if series else None


def _lines(one: Lines) -> Html:
    every = [end for line in one.lines for part in (line.y, line.low or (), line.high or ()) for end in part]
    low, high = range_of([*every, *([] if one.zero is None else [one.zero])])
    left, right = range_of([*(x for line in one.lines for x in line.x), *(x for x, _ in one.at)], room=0.02)

    def path(x: Sequence[float], y: Sequence[float | None]) -> str:
        """Return a path, which is broken where a value is missing."""
        found, pen = [], False
        for across, up in zip(x, y, strict=True):
            gone = up is None or is_missing(up)
            if not gone:
                place = f"{share_of(across, left, right)} {100 - share_of(up or 0.0, low, high):.4g}"
                found.append(f"{'L' if pen else 'M'}{place}")
            pen = not gone
        return "".join(found)

    shapes: list[Html] = []
    for number, line in enumerate(one.lines):
        if line.low is not None and line.high is not None:
            known = [
                (x, a, b)
                for x, a, b in zip(line.x, line.low, line.high, strict=True)
                if not is_missing(a) and not is_missing(b)
            ]
            there, back = [(x, b) for x, _, b in known], [(x, a) for x, a, _ in reversed(known)]
            shapes.append(
                h("path", d=path(*zip(*there, *back, strict=True)) if known else "", class_=f"band c{number % 8}")
            )
        shapes.append(h("path", d=path(line.x, line.y), class_=f"line c{number % 8}"))
    flat = None if one.zero is None else 100 - share_of(one.zero, low, high)
    marks = [(share_of(x, left, right), text) for x, text in one.at]
    up = [(100 - share_of(y, low, high), text) for y, text in ticks(low, high, one.y[1], most=5)]
    across = [(share_of(x, left, right), text) for x, text in ticks(left, right, one.x[1])]
    grid = [h("path", d=f"M0 {y:.4g}H100", class_="grid") for y, _ in up]
    grid += [] if flat is None else [h("path", d=f"M0 {flat:.4g}H100", class_="zero")]
    grid += [h("path", d=f"M{x} 0V100", class_="at") for x, _ in marks]
    drawing = h("svg", grid, shapes, viewBox="0 0 100 100", preserveAspectRatio="none")
    unit = 100 if one.x[1].startswith(("percent", "points")) else 1
    legend = {number % 8: line.name for number, line in enumerate(one.lines) if line.name}
    return h(
        "",
        _legend(legend, "stroke") if len(one.lines) > 1 else None,
        h(
            "div",
            h("p", one.y[0], class_="up"),
            h("div", (h("span", text, style=f"top:{y:.4g}%") for y, text in up), class_="ticks"),
            h("div", drawing, (h("span", text, style=f"left:{x}%") for x, text in marks), class_="area"),
            h("div", (h("span", text, style=f"left:{x}%") for x, text in across), class_="axis"),
            h("p", one.x[0], class_="along"),
            class_="chart",
            aria_hidden="true",
            data_from=f"{unit * left:.6g}",
            data_to=f"{unit * right:.6g}",
        ),
    )


def _graph(one: Graph) -> Html:
    left, right = range_of((x for x, _, _ in one.nodes.values()), room=0.12)
    low, high = range_of((y for _, y, _ in one.nodes.values()), room=0.12)
    at = {key: (share_of(x, left, right), share_of(y, low, high)) for key, (x, y, _) in one.nodes.items()}
    most = max((abs(weight) for _, _, weight in one.links if weight is not None), default=1.0) or 1.0
    links = [
        h(
            "path",
            d=f"M{at[a][0]} {at[a][1]}L{at[b][0]} {at[b][1]}",
            class_="removed" if weight is None else "link",
            style=None if weight is None else f"stroke-width:{round(1 + 4 * abs(weight) / most, 2)}",
        )
        for a, b, weight in sorted(one.links, key=lambda link: link[2] is not None)
    ]
    nodes = (
        h("span", h("span", key), title=what, class_="node", style=f"left:{at[key][0]}%;top:{at[key][1]}%")
        for key, (_, _, what) in one.nodes.items()
    )
    drawing = h("svg", links, viewBox="0 0 100 100", preserveAspectRatio="none")
    return h("div", h("div", drawing, nodes, class_="net"), class_="scroll", aria_hidden="true")


def drawing(one: Strips | Lines | Graph) -> Html:
    """Return a figure without its caption."""
    if isinstance(one, Strips):
        return _strips(one)
    if isinstance(one, Lines):
        return _lines(one)
    return _graph(one)
