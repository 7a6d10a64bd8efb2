"""Figures of documents as pictures of matplotlib, in the colours of the pages."""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from demele.core.errors import InputError, InputTypeError, NotEnoughData, failing, quoted
from demele.core.lazy import require
from demele.core.outputs import write_whole
from demele.report.document import INK, Document, Figure, Graph, Heat, Images, Lines, Mark, Matrix, Strips
from demele.report.renderers.html import slug
from demele.report.renderers.tables import depths_of, ends_of, figures_of
from demele.report.words import cut, is_missing, plain, ticks, written

_PURPOSE = "a picture for a paper"
_COLOURS = ("#0072b2", "#c2500a", "#007f5f", "#a8578a", "#8a6d00", "#3a8fc4", "#5b5fc7", "#6b7480", "black")
_REST = "#b4bdc8"
_TONES = {"good": "#e2eefa", "open": "#fcefd9", "bad": "#fbe6e5", "none": "#eaedf1", "": "#ffffff"}
#: What can be written, each with the metadata that would make the same picture differ from day to day.
_METADATA: Mapping[str, Mapping[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
_MOST_ROWS, _MOST_NUMBERS, _LONGEST = 60, 250, 28


def draw(document: Document, figure: int | str = 0, ax: Any = None) -> Any:
    """Draw a figure of a document, by its number or caption, and return the axes.

    Raises
    ------
    MissingExtraError
        Without matplotlib.
    InputError, NotEnoughData
        If there is no such figure, or if the document has none that can be drawn.
    """
    if ax is not None and not isinstance(ax, require("matplotlib.axes", purpose="a picture").Axes):
        raise InputTypeError("ax", f"expected axes of matplotlib, got {type(ax).__name__}")
    known = figures_of(document)
    if not known:
        raise NotEnoughData("figure", "this result has no figure to draw")
    captions = [plain(one.caption) for one in known]
    if isinstance(figure, str) and plain(figure) in captions:
        chosen = known[captions.index(plain(figure))]
    elif isinstance(figure, int) and not isinstance(figure, bool) and 0 <= figure < len(known):
        chosen = known[figure]
    else:
        raise InputError("figure", f"expected a number below {len(known)} or one of {captions}, got {quoted(figure)}")
    if ax is None:
        pyplot = require("matplotlib.pyplot", purpose=_PURPOSE)  # notebooks show its figures
        ax = pyplot.subplots(figsize=_size(chosen), layout="constrained")[1]
    _DRAWN[type(chosen)](ax, chosen)
    ax.set_title(_text(chosen.caption, 80), loc="left", fontsize="medium")
    return ax


def write_pictures(document: Document, folder: str | Path, formats: Sequence[str]) -> tuple[Path, ...]:
    """Write every figure of a document under its caption; the same document gives the same bytes.

    Raises
    ------
    MissingExtraError
        Without matplotlib.
    InputError
        For other formats: before anything is written.
    OutputError
        If the folder cannot be made.
    """
    listed = tuple(formats) if isinstance(formats, Iterable) and not isinstance(formats, str) else (formats,)
    if not listed or not all(isinstance(form, str) and form in _METADATA for form in listed):
        raise InputError("formats", f"expected some of {', '.join(_METADATA)}, got {quoted(formats)}")
    where, drawn = Path(folder), {}
    for place, figure in enumerate(figures_of(document)):
        for form in dict.fromkeys(listed):
            drawn[f"{slug(figure.caption)}.{form}"] = picture(document, form, place)
    with failing(f"cannot make the folder {where}"):
        where.mkdir(parents=True, exist_ok=True)
    return tuple(write_whole(where / file, content) for file, content in drawn.items())


def picture(document: Document, form: str, place: int = 0) -> bytes:
    """Return one figure of a document in a format; the same whatever a user has set."""
    matplotlib = require("matplotlib", purpose=_PURPOSE)
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams["svg.hashsalt"] = "demele"
        sizes = [_size(figure) for figure in figures_of(document)[place : place + 1]]
        made = require("matplotlib.figure", purpose=_PURPOSE).Figure(
            figsize=sizes[0] if sizes else None, layout="constrained"
        )
        draw(document, place, made.subplots())
        held = io.BytesIO()
        made.savefig(held, format=form, dpi=200, metadata=dict(_METADATA[form]))
        return held.getvalue()


def _size(figure: Figure) -> tuple[float, float]:
    rows, columns = len(getattr(figure, "rows", ())), len(getattr(figure, "columns", ()))
    tall = {Lines: 3.6, Graph: 3.6}.get(type(figure), max(1.5, 1.4 + 0.3 * min(rows, _MOST_ROWS)))
    return max(6.0, 1.8 + 0.6 * min(columns, 24)), tall


def _text(text: str, most: int = _LONGEST) -> str:
    """Return a text as matplotlib draws it: no formula."""
    return cut(plain(text), most).replace("$", r"\$")


def _number(value: float | None) -> float:
    return np.nan if value is None or is_missing(value) else float(value)


def _axis(axis: Any, low: float, high: float, form: str, label: str) -> None:
    places = ticks(low, high, form)
    axis.set_ticks([at for at, _ in places], [text for _, text in places])
    axis.set_label_text(_text(label, 80))


def _strips(ax: Any, one: Strips) -> None:
    rows = one.rows[:_MOST_ROWS]
    low, high = ends_of(one)
    for row, strip in enumerate(rows):
        for mark in strip.marks:
            _mark(ax, row, mark, low, high)
    if one.zero is not None:
        ax.axvline(one.zero, color="black", linewidth=0.8, zorder=0)
    ax.set_yticks(range(len(rows)), [_text(strip.name) for strip in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(low, high)
    sides = "" if one.sides is None else f"← {one.sides[0]}   {one.sides[1]} →"
    _axis(ax.xaxis, low, high, one.form, "   ".join(filter(None, [one.axis, sides])))
    ax.spines[["top", "right"]].set_visible(False)
    _legend(ax, one.series)


def _mark(ax: Any, row: int, mark: Mark, low: float, high: float) -> None:
    at, to, colour = _number(mark.at), _number(mark.to), _COLOURS[mark.series]
    if mark.kind == "dot":
        ax.plot([at], [row], "o", color=colour, markersize=5)
    elif mark.kind == "tick":
        ax.plot([at, at], [row - 0.3, row + 0.3], color=colour, linewidth=2)
    elif mark.kind == "span":
        ax.plot(np.clip([at, to], low, high), [row, row], color=colour, linewidth=5, alpha=0.4, solid_capstyle="butt")
    else:
        start = 0.0 if np.isnan(to) else to
        ax.barh([row], [at - start], left=start, height=0.55, color=colour, alpha=0.8)


def _legend(ax: Any, series: Mapping[int, str]) -> None:
    for number, text in series.items():
        ax.plot([], [], color=_COLOURS[number], linewidth=4, label=_text(text))
    if series:
        ax.legend(frameon=False, fontsize="small")


def _lines(ax: Any, one: Lines) -> None:
    for number, line in enumerate(one.lines):
        colour = _COLOURS[number % INK]
        x, y = np.array(line.x, dtype=float), np.array([_number(value) for value in line.y])
        ax.plot(x, y, "o" if line.dots else "-", color=colour, label=_text(line.name))
        if line.low is not None and line.high is not None:
            low, high = (np.array([_number(value) for value in part]) for part in (line.low, line.high))
            ax.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
    for at, text in one.at:
        ax.axvline(at, color="black", linewidth=0.8, linestyle="--")
        ax.annotate(_text(text), (at, 1), xycoords=("data", "axes fraction"), fontsize="small", va="top", rotation=90)
    if one.zero is not None:
        ax.axhline(one.zero, color="black", linewidth=0.8)
    for axis, (label, form) in ((ax.xaxis, one.x), (ax.yaxis, one.y)):
        low, high = axis.get_view_interval()
        _axis(axis, low, high, form, label)
    ax.spines[["top", "right"]].set_visible(False)
    if len(one.lines) > 1:
        ax.legend(frameon=False, fontsize="small")


def _heat(ax: Any, one: Heat) -> None:
    depths, both = depths_of(one), one.scale == "both ways"
    for place in one.struck:
        depths[place] = np.nan
    colours = require("matplotlib", purpose=_PURPOSE).colormaps["PuOr_r" if both else "Blues"]
    ax.imshow(depths, cmap=colours.with_extremes(bad="#f0f0f0"), vmin=-140 * both, vmax=140, aspect="auto")
    _names(ax, one.rows, one.columns)
    ax.set(xlabel=_text(one.axes[1]), ylabel=_text(one.axes[0]))
    for row, values in enumerate(one.values if depths.size <= _MOST_NUMBERS else ()):
        for column, value in enumerate(values):
            ax.text(column, row, written(value, one.form), ha="center", va="center", fontsize="x-small")
    patch = require("matplotlib.patches", purpose=_PURPOSE).Rectangle
    for row, column in one.rings:
        ax.add_patch(patch((column - 0.5, row - 0.5), 1, 1, fill=False, linewidth=1.2))


def _matrix(ax: Any, one: Matrix) -> None:
    patch = require("matplotlib.patches", purpose=_PURPOSE).Rectangle
    for (row, column), pill in one.cells.items():
        ax.add_patch(patch((column - 0.46, row - 0.42), 0.92, 0.84, facecolor=_TONES[pill.tone], edgecolor="#b4bdc8"))
        ax.text(column, row, _text(pill.text, 12), ha="center", va="center", fontsize="x-small")
    _names(ax, one.rows, one.columns)
    ax.set(xlim=(-0.5, len(one.columns) - 0.5), ylim=(len(one.rows) - 0.5, -0.5))


def _names(ax: Any, rows: Sequence[str], columns: Sequence[str]) -> None:
    ax.set_xticks(range(len(columns)), [_text(name, 20) for name in columns], rotation=35, ha="right")
    ax.set_yticks(range(len(rows)), [_text(name, 20) for name in rows])


def _graph(ax: Any, one: Graph) -> None:
    most = max((abs(weight) for _, _, weight in one.links if weight is not None), default=1.0) or 1.0
    for start, end, weight in one.links:
        places = zip(one.nodes[start][:2], one.nodes[end][:2], strict=True)
        if weight is None:
            ax.plot(*places, color=_REST, linewidth=0.8, linestyle=":", zorder=1)
        else:
            ax.plot(*places, color=_COLOURS[0], linewidth=1 + 4 * abs(weight) / most, zorder=1)
    box = {"boxstyle": "round", "facecolor": "white", "edgecolor": _COLOURS[7]}
    for node, (x, y, _) in one.nodes.items():
        ax.text(x, y, _text(node), ha="center", va="center", fontsize="x-small", bbox=box, in_layout=False)
    ax.invert_yaxis()
    ax.set_axis_off()


def _images(ax: Any, one: Images) -> None:
    read = require("matplotlib.image", purpose=_PURPOSE).imread
    top = wide = 0
    middles = []
    for _, images in one.rows[:_MOST_ROWS]:
        left = tall = 0
        for _, png in images:
            pixels = read(io.BytesIO(png))
            height, width = pixels.shape[:2]
            look = {"cmap": "gray", "vmin": 0, "vmax": 1, "interpolation": "nearest"}
            ax.imshow(pixels, extent=(left, left + width, top + height, top), **look)
            left, tall = left + width + 2, max(tall, height)
        middles.append(top + tall / 2)
        top, wide = top + tall + 2, max(wide, left)
    ax.set(xlim=(0, max(wide, 1)), ylim=(max(top, 1), 0), xticks=[])
    ax.set_yticks(middles, [_text(row) for row, _ in one.rows[:_MOST_ROWS]])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


_DRAWN: Mapping[type, Callable[[Any, Any], None]] = {
    Strips: _strips,
    Lines: _lines,
    Heat: _heat,
    Matrix: _matrix,
    Graph: _graph,
    Images: _images,
}
