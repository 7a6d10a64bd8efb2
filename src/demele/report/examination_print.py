"""Pictures for print of a trained model: information, traversals, reconstructions, samples, responses."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.extras import require
from demele.report.examination_pictures import GAP, enlargement, strip
from demele.report.examination_view import ModelView
from demele.report.page import of_kind
from demele.report.print_figures import (
    LINES,
    PURPOSE,
    WIDTH,
    checked_formats,
    figure_bytes,
    new_figures,
    plain_text,
    write_figures,
)
from demele.report.words import count, number, percent

__all__ = ["write_examination_pictures"]

Item = Mapping[str, Any]
#: What fits on paper: codes of traversals, codes and factors of responses, factors with numbers in their cells.
_MOST_ROWS, _MOST_CURVES, _MOST_FACTORS, _MOST_NUMBERS = 12, 8, 8, 11
#: Grey between images: seen beside black ones and white ones.
_BETWEEN = 200
_SOFT, _SMALL = "#6b7480", 6.5


def write_examination_pictures(
    content: Item, folder: Path, formats: tuple[str, ...] = ("png", "svg")
) -> tuple[Path, ...]:
    """Write what there is of a trained model as pictures.

    Parameters
    ----------
    content : mapping
        What ``Examination.to_content()`` returns.
    folder : Path
        Made if it does not exist. Pictures of the same names in it are replaced.
    formats : tuple of str
        Some of "png", "svg", "pdf".

    Returns
    -------
    tuple of Path
        The files: ``information``, ``traversals``, ``reconstructions``, ``samples``, ``responses``, those of them that
        there is something for. The same content gives the same bytes.

    Raises
    ------
    InputError
        For other formats, or another dictionary: before anything is written.
    MissingExtraError
        Without matplotlib: the extra ``pictures`` brings it.
    """
    asked = checked_formats(formats)
    view = ModelView(of_kind({key: value for key, value in content.items() if key != "pictures"}, "examination"))
    pictures = content.get("pictures") or {}
    drawn: dict[str, bytes] = {}
    with new_figures() as new_figure:
        for name, draw in _FIGURES.items():
            figure = draw(view, pictures, new_figure)
            if figure is not None:
                drawn |= {f"{name}.{form}": figure_bytes(figure, form) for form in asked}
    return write_figures(drawn, folder)


# Numbers --------------------------------------------------------------------------------------------------------------


def _information(view: ModelView, pictures: Item, new_figure: Callable[..., Any]) -> Any:
    """Draw how much each code tells of each factor, codes in use first."""
    values = view.data["information"]
    if values is None or not view.factors:
        return None
    rows = view.matrix_order(values)
    names = [plain_text(name, 16) for name in view.factors]
    is_wide = len(names) > _MOST_NUMBERS
    is_turned = is_wide or max(map(len, names)) > 11
    size = (min(WIDTH, 1.7 + 0.62 * len(names)), 0.75 + 0.4 * is_turned + 0.22 * len(rows))
    figure = new_figure(figsize=size, layout="constrained")
    between = "\n" if size[0] < 3 else " "
    figure.suptitle(f"Information: share of{between}the factor's entropy", fontsize=8)
    ax = figure.subplots()
    shares = np.array([[np.nan if value is None else value for value in values[j]] for j in rows])
    picture = ax.imshow(shares, cmap=_shades(), vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    ax.set_xticks(range(len(names)), names)
    for label in ax.get_xticklabels() if is_turned else ():
        label.set(rotation=40, ha="right", rotation_mode="anchor")
    _name_rows(ax, view, rows)
    if is_wide:
        figure.colorbar(picture, ax=ax, shrink=0.8, aspect=30)
    else:
        _write_shares(ax, shares)
    return figure


def _shades() -> Any:
    """Return the colours of shares: from white to the blue of the page, grey where nothing is known."""
    colours = require("matplotlib.colors", purpose=PURPOSE)
    return colours.LinearSegmentedColormap.from_list("share", ["#ffffff", LINES[0]]).with_extremes(bad="#e4e7eb")


def _name_rows(ax: Any, view: ModelView, codes: Sequence[int]) -> None:
    """Write the names of codes beside their rows, those not in use in grey."""
    idle = [not view.data["codes"][j]["active"] for j in codes]
    told = [f"{plain_text(view.names[j], 16)}{' (not in use)' * left}" for j, left in zip(codes, idle, strict=True)]
    ax.set_yticks(range(len(codes)), told)
    for label, left in zip(ax.get_yticklabels(), idle, strict=True):
        label.set_color(_SOFT if left else "black")
    ax.tick_params(length=0)
    ax.spines[:].set_color("#c3c9d0")


def _write_shares(ax: Any, shares: NDArray[np.float64]) -> None:
    for row, line in enumerate(shares):
        for column, share in enumerate(line):
            told = "\u2013" if np.isnan(share) else f"{share:.2f}".removeprefix("0") if share >= 0.005 else ""
            colour = "white" if share > 0.9 else "black"
            ax.text(column, row, told, ha="center", va="center", fontsize=7, color=colour)


def _responses(view: ModelView, pictures: Item, new_figure: Callable[..., Any]) -> Any:
    """Draw the mean of each code in use along each factor, and the range that the other factors cause."""
    sweeps, values, active = view.data["sweeps"][:_MOST_FACTORS], view.data["information"], view.active
    codes = (active if values is None else [j for j in view.matrix_order(values) if j in active])[:_MOST_CURVES]
    if not sweeps or not codes:
        return None
    words = ["Mean of each code along each factor,", "range that the other factors cause,", "share of its entropy in %"]
    is_narrow = len(sweeps) < 4
    size = (min(WIDTH, 1.0 + 1.25 * len(sweeps)), 0.9 + 0.25 * is_narrow + 0.62 * len(codes))
    figure = new_figure(figsize=size, layout="constrained")
    figure.suptitle(("\n" if is_narrow else " ").join(words), fontsize=8)
    panels = figure.subplots(len(codes), len(sweeps), sharex="col", sharey="row", squeeze=False)
    for line, j in zip(panels, codes, strict=True):
        for ax, sweep in zip(line, sweeps, strict=True):
            _response(ax, sweep, j, view.shares(sweep["factor"])[j])
        low, high = view.ends(j)
        margin = 0.08 * ((high - low) or 1.0)
        line[0].set_ylim(low - margin, high + margin)
        line[0].set_yticks([low, high], [number(low, 1), number(high, 1)])
        line[0].set_ylabel(plain_text(view.names[j], 9), rotation=0, ha="right", va="center")
    for ax, sweep in zip(panels[-1], sweeps, strict=True):
        ax.set_xlabel(plain_text(sweep["factor"], 14))
    return figure


def _response(ax: Any, sweep: Item, code: int, share: float | None) -> None:
    mean, low, high = ([row[code] for row in sweep[key]] for key in ("mean", "low", "high"))
    places = range(len(mean))
    ax.fill_between(places, low, high, color=LINES[0], alpha=0.22, linewidth=0)
    ax.plot(places, mean, color=LINES[0], linewidth=1.2)
    ends = [plain_text(sweep["values"][0], 8), plain_text(sweep["values"][-1], 8)]
    ax.set_xticks([0, len(mean) - 1] if len(mean) > 1 else [0], ends[: len(mean)])
    for label, side in zip(ax.get_xticklabels(), ("left", "right"), strict=False):
        label.set_ha(side)
    ax.tick_params(labelsize=_SMALL, length=2, pad=1.5)
    ax.spines[["top", "right"]].set_visible(False)
    if share is not None:
        ax.set_title(percent(share, 0), loc="right", fontsize=_SMALL, color=_SOFT, pad=1.5)


# Images ---------------------------------------------------------------------------------------------------------------


def _traversals(view: ModelView, pictures: Item, new_figure: Callable[..., Any]) -> Any:
    """Draw a row of images per code, those in use by K, all others held at one image."""
    moved, told = pictures.get("traversals"), view.data["traversals"]
    codes = (view.active or view.order)[:_MOST_ROWS]
    if moved is None or not codes:
        return None
    rows = [_enlarged(moved[0, j]) for j in codes]
    title = "Each code from its 2.5 % to its 97.5 % quantile, others held" if told["values"] else "Each code moved"
    left = len(view.active) - len(codes)
    title += f"; {count(left, 'further code')} in use left out" if left > 0 else ""
    title += "" if view.active else "; no code is in use"
    figure, ax = _mosaic(new_figure, rows, title)
    ax.set_yticks(_centres(rows), [_about(view, j) for j in codes])
    if told["values"]:
        right = ax.secondary_yaxis("right")
        spans = [f"{number(told['values'][j][0], 1)} to {number(told['values'][j][-1], 1)}" for j in codes]
        right.set_yticks(_centres(rows), spans)
        _bare(right)
    return figure


def _about(view: ModelView, j: int) -> str:
    code = view.data["codes"][j]
    parts = [f"K {number(code['kl'], 2)}"] if code["kl"] is not None else []
    parts += [f"{plain_text(code['best_factor'], 12)} {percent(code['information'], 0)}"] if code["best_factor"] else []
    return "\n".join([plain_text(view.names[j], 16), *parts])


def _reconstructions(view: ModelView, pictures: Item, new_figure: Callable[..., Any]) -> Any:
    """Draw images, what the decoder makes of them and the difference: at random, and the worst."""
    originals, made, found = pictures.get("originals"), pictures.get("made"), view.data["reconstructions"]
    if originals is None or made is None:
        return None
    differences = np.abs(originals.astype(np.int16) - made).astype(np.uint8)
    originals, made, differences = map(_enlarged, (originals, made, differences))
    _, tall, wide, _ = originals.shape
    n = found["n_random"]
    parts = [slice(0, n), slice(n, None)]
    titles = ["At random", f"The worst of {found['tried']:,}"]
    errors = [[number(error, 4) for error in found["errors"][part]] for part in parts]
    across = max(len(originals[part]) for part in parts)
    size = (0.8 + 0.62 * across, 0.9 + 6 * 0.62 * tall / wide)
    figure = new_figure(figsize=size, layout="constrained")
    for ax, part, title, told in zip(figure.subplots(2, 1), parts, titles, errors, strict=True):
        rows = [originals[part], made[part], differences[part]]
        _show(ax, strip(rows, grey=_BETWEEN))
        ax.set_title(title)
        ax.set_yticks(_centres(rows), ["image", "decoded", "difference"])
        ax.set_xticks([place * (wide + GAP) + (wide - 1) / 2 for place in range(len(told))], told)
        _bare(ax)
    figure.supxlabel("mean squared error, black to white being 1", fontsize=8)
    return figure


def _samples(view: ModelView, pictures: Item, new_figure: Callable[..., Any]) -> Any:
    """Draw what the decoder makes of codes that are drawn from the prior."""
    samples = pictures.get("samples")
    if samples is None:
        return None
    half, samples = -(-len(samples) // 2), _enlarged(samples)
    return _mosaic(new_figure, [samples[:half], samples[half:]], "Decoded codes that are drawn from the prior")[0]


def _mosaic(new_figure: Callable[..., Any], rows: Sequence[NDArray[np.uint8]], title: str) -> tuple[Any, Any]:
    """Return a figure that shows rows of images, and its axes."""
    across, tall, wide, _ = rows[0].shape
    size = (min(WIDTH, 1.6 + 0.6 * across), 0.5 + 0.6 * len(rows) * tall / wide)
    figure = new_figure(figsize=size, layout="constrained")
    ax = figure.subplots()
    ax.set_title(title)
    _show(ax, strip(rows, grey=_BETWEEN))
    figure.get_layout_engine().set(w_pad=0.1)
    ax.set_xticks([])
    ax.set_yticks([])
    _bare(ax)
    return figure, ax


def _enlarged(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return small images with each pixel as a square of several, so that the gaps between them are thin."""
    factor = enlargement(images.shape[2])
    return images.repeat(factor, axis=1).repeat(factor, axis=2)


def _show(ax: Any, picture: NDArray[np.uint8]) -> None:
    shown = picture[..., 0] if picture.shape[2] == 1 else picture[..., :3]
    ax.imshow(shown, cmap="gray", vmin=0, vmax=255, interpolation="nearest")


def _centres(rows: Sequence[NDArray[np.uint8]]) -> list[float]:
    """Return the middle of each row of images, in pixels of the picture."""
    tall = rows[0].shape[1]
    return [row * (tall + GAP) + (tall - 1) / 2 for row in range(len(rows))]


def _bare(ax: Any) -> None:
    ax.tick_params(length=0, labelsize=7)
    ax.spines[:].set_visible(False)


_FIGURES: Mapping[str, Callable[[ModelView, Item, Callable[..., Any]], Any]] = {
    "information": _information,
    "traversals": _traversals,
    "reconstructions": _reconstructions,
    "samples": _samples,
    "responses": _responses,
}
