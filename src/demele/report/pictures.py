"""Pictures for print of comparison methods: coloured matrices (figure 6.6 of the source) and curves (figure 6.7)."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.core.extras import require
from demele.core.reading import path_of
from demele.report.comparisons_drawn import COLOURS, FIGURES
from demele.report.comparisons_view import CELLS, ComparisonView, MethodLook, cells_of, comparison_view, slugs
from demele.report.print_figures import (
    DASHES,
    FORMATS,
    LINES,
    MARKS,
    PURPOSE,
    WIDTH,
    checked_formats,
    figure_bytes,
    new_figures,
    plain_text,
    write_figures,
)
from demele.report.words import rate_text, share

__all__ = ["FORMATS", "write_pictures"]

_PER_ROW = 4
_MOST_COLUMNS = 6


def write_pictures(
    content: Mapping[str, Any], folder: Path, formats: tuple[str, ...] = ("png", "svg")
) -> tuple[Path, ...]:
    """Write matrices and curves as pictures.

    Parameters
    ----------
    content : mapping
        What ``MethodComparison.to_dict()`` returns.
    folder : Path
        Made if it does not exist. Pictures of the same names in it are replaced.
    formats : tuple of str
        Some of "png", "svg", "pdf".

    Returns
    -------
    tuple of Path
        The files: ``matrices-<rate>`` (the main methods at one rate), ``matrices-overlap-worst-case`` (methods
        worst-case-overlap at all rates, if both were measured) and ``curves`` (errors and agreement against the rate).
        With several measures, the others' files carry their name at the end. The same content gives the same bytes.

    Raises
    ------
    InputError
        For other formats, or another dictionary: before anything is written.
    MissingExtraError
        Without matplotlib: the extra ``pictures`` brings it.
    """
    asked = checked_formats(formats)
    view = comparison_view(content)
    drawn: dict[str, bytes] = {}
    with new_figures() as new_figure:
        for name, figure in _figures(view, new_figure).items():
            for form in asked:
                drawn[f"{name}.{form}"] = figure_bytes(figure, form)
    return write_figures(drawn, path_of(folder, "folder"))


def _figures(view: ComparisonView, new_figure: Callable[..., Any]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    ends = slugs(view.measures)
    for place, measure in enumerate(view.measures):
        end = "" if place == 0 else f"-{ends[measure]}"
        for rate in view.rates:
            grid = [
                (method, rate, method.title) for method in view.main() if (measure, rate, method.name) in view.matrices
            ]
            if grid:
                rows = [grid[at : at + _PER_ROW] for at in range(0, len(grid), _PER_ROW)]
                title = _title(view, measure, f"{rate_text(rate)} wrong labels")
                figures[f"matrices-{rate!r}{end}"] = _matrices(view, measure, rows, title, new_figure)
        both = [view.methods[name] for name in ("overlap", "worst-case-overlap") if name in view.methods]
        if len(both) == 2:
            rates = [
                rate for rate in view.rates if all((measure, rate, method.name) in view.matrices for method in both)
            ]
            rates = _spread(rates)
            rows = [[(method, rate, f"{method.title}, {rate_text(rate)}") for rate in rates] for method in both]
            if rates:
                title = _title(view, measure, "at each share of wrong labels")
                figures[f"matrices-overlap-worst-case{end}"] = _matrices(view, measure, rows, title, new_figure)
        figures[f"curves{end}"] = _curves(view, measure, new_figure)
    return figures


def _spread(rates: Sequence[float]) -> list[float]:
    """Return at most so many rates as stand beside each other, the first and the last among them."""
    if len(rates) <= _MOST_COLUMNS:
        return list(rates)
    step = (len(rates) - 1) / (_MOST_COLUMNS - 1)
    return [rates[round(step * place)] for place in range(_MOST_COLUMNS)]


def _title(view: ComparisonView, measure: str, what: str) -> str:
    against = "" if view.reference == "overlap" else f"; reference: {view.reference}"
    return f"{view.m:,} classifiers, {plain_text(measure)}, {what}{against}"


# Matrices -------------------------------------------------------------------------------------------------------------


def _matrices(
    view: ComparisonView,
    measure: str,
    rows: Sequence[Sequence[tuple[MethodLook, float, str]]],
    title: str,
    new_figure: Callable[..., Any],
) -> Any:
    """Draw rows of matrices, classifiers from the least accurate (top, left) to the most accurate."""
    colours = require("matplotlib.colors", purpose=PURPOSE)
    patches = require("matplotlib.patches", purpose=PURPOSE)
    across = max(map(len, rows))
    height = 0.85 + len(rows) * (WIDTH / max(across, 3) + 0.45)
    figure = new_figure(figsize=(WIDTH, height), layout="constrained")
    figure.suptitle(f"{title}\nrow: baseline, column: candidate, by accuracy", fontsize=8)
    places = figure.subplots(len(rows), across, squeeze=False)
    palette = colours.ListedColormap(COLOURS)
    for line, axes in zip(rows, places, strict=True):
        for place, ax in enumerate(axes):
            if place >= len(line):
                ax.set_axis_off()
                continue
            method, rate, words = line[place]
            digits = cells_of(view, (measure, rate, method.name), view.by_accuracy)
            ax.imshow(
                [[int(digit) for digit in row] for row in digits],
                cmap=palette,
                vmin=-0.5,
                vmax=4.5,
                interpolation="nearest",
            )
            ax.set_xticks([])
            ax.set_yticks([])
            errors = view.tallies.get((measure, rate, method.name)) or {}
            below = f"I {share(errors.get('type_1'))}, II {share(errors.get('type_2'))}"
            ax.set_title(_broken(words), fontsize=8 if across < 5 else 7)
            ax.set_xlabel(below, fontsize=7.5 if across < 5 else 6.5)
    key = [
        patches.Patch(facecolor=COLOURS[number], edgecolor="#55606d", linewidth=0.6, label=CELLS[number][1])
        for number in range(1, len(CELLS))
    ]
    figure.legend(handles=key, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _broken(words: str) -> str:
    """Break the title of a small picture before its options, and shorten it if it must be."""
    name, bracket, options = words.partition(" (")
    if not bracket or len(words) <= 20:
        return plain_text(words, 26)
    return f"{plain_text(name, 26)}\n{plain_text(f'({options}', 30)}"


# Curves ---------------------------------------------------------------------------------------------------------------


def _curves(view: ComparisonView, measure: str, new_figure: Callable[..., Any]) -> Any:
    shown = view.main()
    legend_rows = -(-len(shown) // 3)
    figure = new_figure(figsize=(WIDTH, 2.5 + 0.17 * legend_rows), layout="constrained")
    figure.suptitle(_title(view, measure, "with one standard error"), fontsize=8)
    panels = figure.subplots(1, len(FIGURES))
    lines: list[Any] = []
    for (key, title, from_zero), ax in zip(FIGURES, panels, strict=True):
        lines = []
        for method in shown:
            rows = [view.tallies.get((measure, rate, method.name)) for rate in view.rates]
            values = [float("nan") if row is None or row[key] is None else row[key] for row in rows]
            errors = [0.0 if row is None or row[f"{key}_se"] is None else row[f"{key}_se"] for row in rows]
            lines.append(
                ax.errorbar(
                    [100 * rate for rate in view.rates],
                    values,
                    yerr=errors,
                    color=LINES[method.colour],
                    linestyle=DASHES[method.variant % 4],
                    marker=MARKS[method.variant % 4],
                    markersize=3,
                    linewidth=1.2,
                    elinewidth=0.7,
                    label=plain_text(method.title),
                )
            )
        ax.set_title(title)
        ax.set_xlabel("wrong labels, %")
        ax.set_ylabel("pairs, %" if key == FIGURES[0][0] else None)
        ax.grid(axis="y", color="#dfe3e8", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        if from_zero:
            top = max(1.0, ax.get_ylim()[1])
            ax.set_ylim(-0.02 * top, top)  # marks at zero stay whole
    if shown:
        figure.legend(handles=lines, loc="outside lower center", ncols=3, frameon=False, handlelength=3.2)
    return figure
