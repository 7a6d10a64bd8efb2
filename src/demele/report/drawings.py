"""Results drawn with matplotlib, in the shapes that their pages have: heat map, intervals, difference, ranks."""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from demele.core.errors import InputTypeError, NotEnoughData, UnknownNameError
from demele.core.extras import require
from demele.core.names import checked_name, suggestion
from demele.report.print_figures import LINES, plain_text
from demele.report.said import sentences_of
from demele.report.scores_figures import scale_of
from demele.report.words import number, span_of

__all__ = ["draw"]

Item = Mapping[str, Any]

_APPARENT, _CORRECTED, _CHANCE = LINES[0], LINES[2], LINES[1]
_GAP = "#b8bec6"
#: Cells hold numbers up to so many rows and columns.
_MOST_NUMBERED = (40, 16)
_MOST_ROWS = 60
_PURPOSE = "plot()"


def draw(kind: str, content: Item, *, ax: Any = None, **options: Any) -> Any:
    """Draw a result.

    Parameters
    ----------
    kind : {"evaluation", "score"}
    content : mapping
        What the result's ``to_dict()`` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; in a figure of its own if None.
    **options
        Of the kind: ``show``, which of its pictures, and what that takes.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingExtraError
        Without matplotlib: the extra ``pictures`` brings it.
    InputError, NotEnoughData
        For a picture that this kind does not have, or of which there is nothing to draw.
    """
    axes = require("matplotlib.axes", purpose=_PURPOSE).Axes
    if ax is not None and not isinstance(ax, axes):
        raise InputTypeError("ax", f"expected axes of matplotlib, got {type(ax).__name__}")
    return _KINDS[kind](content, ax, **options)


# Where to draw --------------------------------------------------------------------------------------------------------


def _place(ax: Any, width: float, height: float) -> Any:
    """Return the axes given, or those of a new figure, which notebooks show."""
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", purpose=_PURPOSE)
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def _chosen(show: str | None, pictures: Sequence[str]) -> str:
    if show is None:
        return pictures[0]
    return str(checked_name(show, "show", pictures))


def _title(ax: Any, text: str) -> None:
    ax.set_title("\n".join(textwrap.wrap(plain_text(text, 300), 72)), fontsize="medium", loc="left")


def _rows(ax: Any, names: Sequence[str]) -> None:
    """Name rows from the top down, with nothing around them."""
    ax.set_yticks(range(len(names)), [plain_text(name, 28) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.grid(axis="x", alpha=0.35, linewidth=0.6)
    ax.set_axisbelow(True)


def _span(ax: Any, row: float, item: Item | None, colour: str, *, label: str | None = None, width: float = 2.0,
          times: float = 1.0) -> None:  # fmt: skip
    low, high = span_of(item)
    if low is not None and high is not None:
        ax.plot(
            [times * low, times * high], [row, row], color=colour, linewidth=width, solid_capstyle="butt", label=label
        )


def _legend(ax: Any) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if labels:  # at the lower corner, and below the names of ticks and axis, however high the axes are
        look = {"ncols": 3, "frameon": False, "fontsize": "small"}
        ax.legend(handles, labels, loc="upper left", bbox_to_anchor=(0, 0), borderaxespad=4, **look)


# Representations ------------------------------------------------------------------------------------------------------


def _evaluation(
    content: Item, ax: Any, *, show: str | None = None, metric: str | None = None, minus_chance: bool = False
) -> Any:
    if _chosen(show, ("scores", "matrix")) == "scores":
        return _scores(content, ax)
    scores = [score for score in content["scores"] if metric is None or score["metric"] == metric]
    if not scores and metric is not None:
        known = [score["metric"] for score in content["scores"]]
        raise UnknownNameError("metric", f"{metric!r} is not among the scores{suggestion(str(metric), known)}")
    found = next((score for score in scores if score["matrix"] is not None), None)
    if found is None:
        raise NotEnoughData("metric", "none of these scores has a matrix of codes and factors to draw")
    ways = content.get("matrix_chance") or ()
    chance = next((one for one in ways if found["metric"] in one["metrics"]), None)
    if minus_chance and chance is None:
        raise NotEnoughData("minus_chance", f"what chance gives is not known of the matrix of {found['metric']}")
    return _matrix(found, ax, chance, minus=minus_chance)


def _scores(content: Item, ax: Any) -> Any:
    scores = [score for score in content["scores"] if score["value"] is not None]
    if not scores:
        raise NotEnoughData("no score has a value to draw")
    ax = _place(ax, 6.4, 1.2 + 0.3 * len(scores))
    _rows(ax, [score["metric"] + (" (fragile)" if score["fragile"] else "") for score in scores])
    known = range(len(scores))
    ax.barh(known, [score["value"] for score in scores], height=0.6, color=_APPARENT, alpha=0.45)
    shown: set[str] = set()
    for row, score in enumerate(scores):
        if score["interval"] is not None:
            label = None if "interval" in shown else f"{score['interval']['level']:.0%} interval"
            _span(ax, row, score["interval"], "black", label=label, width=1.6)
            shown.add("interval")
        chance = (score["chance"] or {}).get("mean")
        if chance is not None:
            label = None if "chance" in shown else "chance"
            ax.plot([chance, chance], [row - 0.4, row + 0.4], color=_CHANCE, linewidth=2, label=label)
            shown.add("chance")
    low, high = ax.get_xlim()
    ax.set_xlim(min(0.0, low), max(1.0, high))
    _title(ax, f"{content['name']}: {sentences_of('evaluation', content)[0]}")
    _legend(ax)
    return ax


def _score(content: Item, ax: Any, *, show: str | None = None) -> Any:
    there = [name for name in ("matrix", "native") if content[name]]
    if not there:
        raise NotEnoughData(f"{content['metric']} is one number, with no values per factor or code to draw")
    return _native(content, ax) if _chosen(show, there) == "native" else _matrix(content, ax)


def _matrix(score: Item, ax: Any, chance: Item | None = None, *, minus: bool = False) -> Any:
    matrix = score["matrix"]
    values = np.array(matrix["values"], dtype=float)
    rows, columns = values.shape
    unlit = np.zeros(values.shape, dtype=bool)
    if chance is not None:
        unlit = values <= np.array(chance["limit"], dtype=float)
        values = values - np.array(chance["expected"], dtype=float) if minus else values
    ax = _place(ax, max(4.0, 1.8 + 0.55 * columns), max(2.4, 1.3 + 0.3 * min(rows, _MOST_ROWS)))
    scale = scale_of([value for row in matrix["values"] for value in row if value is not None], what=matrix["what"])
    colours = require("matplotlib", purpose=_PURPOSE).colormaps["PuOr" if scale["both_ways"] else "viridis"]
    patches = require("matplotlib.patches", purpose=_PURPOSE)
    drawn = ax.imshow(
        values, cmap=colours.with_extremes(bad=_GAP), vmin=scale["low"], vmax=scale["high"], aspect="auto"
    )
    ax.set_xticks(range(columns), [plain_text(str(name), 20) for name in matrix["columns"]], rotation=35, ha="right")
    step = max(1, math.ceil(rows / _MOST_ROWS))
    ax.set_yticks(range(0, rows, step), [plain_text(str(name), 20) for name in matrix["rows"][::step]])
    ax.set(xlabel="factor", ylabel="code")
    if rows <= _MOST_NUMBERED[0] and columns <= _MOST_NUMBERED[1]:
        for i, row in enumerate(values):
            for j, value in enumerate(row):
                ground = colours(drawn.norm(0.0 if unlit[i, j] else value))
                ink = "black" if sum(ground[:3]) > 1.5 or math.isnan(value) else "white"
                ax.text(j, i, number(value, 2), ha="center", va="center", fontsize="x-small", color=ink)
    for i, j in np.argwhere(unlit):
        ax.add_patch(patches.Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=colours(drawn.norm(0.0)), linewidth=0))
        ax.plot([j - 0.42, j - 0.14], [i + 0.42, i - 0.42], color="white", linewidth=0.8, scalex=False, scaley=False)
    what = plain_text(matrix["what"] or "value", 60) + (" minus chance" if minus else "")
    ax.figure.colorbar(drawn, ax=ax, label=what)
    if unlit.any():
        ax.set_xlabel("factor\nstruck: no more than codes of noise tell")
    _title(ax, sentences_of("score", score)[0])
    return ax


def _native(score: Item, ax: Any) -> Any:
    known = [(name, value) for name, value in score["native"].items() if value is not None]
    if not known:
        raise NotEnoughData(f"no value of {score['metric']} is defined")
    ax = _place(ax, 5.6, 1.2 + 0.3 * len(known))
    _rows(ax, [str(name) for name, _ in known])
    ax.barh(range(len(known)), [value for _, value in known], height=0.6, color=_APPARENT, alpha=0.45)
    for row, (name, _) in enumerate(known):
        low, high = (score["native_intervals"] or {}).get(name) or (None, None)
        _span(ax, row, {"low": low, "high": high}, "black", width=1.6)
    ax.set_xlabel(f"{score['metric']}, {score['native_unit']}")
    _title(ax, sentences_of("score", score)[0])
    return ax


# Classifiers ----------------------------------------------------------------------------------------------------------


_KINDS: Mapping[str, Callable[..., Any]] = {
    "evaluation": _evaluation,
    "score": _score,
}
