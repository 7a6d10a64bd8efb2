"""The scores of a model in training, drawn against its epochs: a picture for print."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.core.errors import InputError, UnknownNameError, quoted
from demele.core.names import suggestion
from demele.core.outputs import write_whole
from demele.report.print_figures import (
    DASHES,
    FORMATS,
    LINES,
    MARKS,
    WIDTH,
    figure_bytes,
    new_figures,
    plain_text,
)

__all__ = ["write_score_curve"]


def write_score_curve(content: Mapping[str, Any], path: Path, *, metrics: Sequence[str] | None = None) -> Path:
    """Write a picture of scores over a training.

    Parameters
    ----------
    content : mapping
        What :meth:`demele.ScoreCurve.to_dict` returns.
    path : Path
        ``.png``, ``.svg`` or ``.pdf``. The same content gives the same bytes.
    metrics : sequence of str, optional
        Which; all by default.

    Returns
    -------
    Path

    Raises
    ------
    InputError, UnknownNameError
    MissingExtraError
        Without matplotlib: the extra ``pictures`` brings it.
    """
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMATS:
        raise InputError("path", f"expected a name that ends in .{', .'.join(FORMATS)}, got {quoted(path.name)}")
    shown = list(content["metrics"] if metrics is None else metrics)
    for name in shown:
        if name not in content["metrics"]:
            raise UnknownNameError(
                "metrics", f"{quoted(name)} was not scored in this training{suggestion(name, content['metrics'])}"
            )
    with new_figures() as new_figure:
        drawn = figure_bytes(_figure(content, shown, new_figure), form)
    return write_whole(path, drawn)


def _figure(content: Mapping[str, Any], shown: Sequence[str], new_figure: Any) -> Any:
    legend_rows = -(-len(shown) // 4)
    figure = new_figure(figsize=(WIDTH, 2.8 + 0.17 * legend_rows), layout="constrained")
    ax = figure.subplots()
    places = [point[content["unit"]] for point in content["points"]]
    for number, name in enumerate(shown):
        found = [point["scores"].get(name) for point in content["points"]]
        colour, style = LINES[number % len(LINES)], number // len(LINES)
        values = [float("nan") if one is None or one["value"] is None else one["value"] for one in found]
        ax.plot(
            places,
            values,
            color=colour,
            linestyle=DASHES[style % 4],
            marker=MARKS[style % 4],
            markersize=3,
            linewidth=1.2,
            label=plain_text(name),
        )
        ends = [None if one is None else one["interval"] for one in found]
        if any(ends):
            nan = float("nan")
            low, high = ([nan if end is None else end[side] for end in ends] for side in (0, 1))
            ax.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)
    ax.set_xlabel(content["unit"])
    ax.set_ylabel("score")
    ax.grid(axis="y", color="#dfe3e8", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    if shown:
        figure.legend(loc="outside lower center", ncols=4, frameon=False, handlelength=3.2)
    return figure
