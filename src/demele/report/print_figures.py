"""Figures for print: one look, the same bytes for the same content, whatever a user has set."""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from demele.core.errors import InputError, OutputError, quoted
from demele.core.extras import require
from demele.core.outputs import write_whole

__all__ = [
    "DASHES",
    "FORMATS",
    "LINES",
    "MARKS",
    "PURPOSE",
    "WIDTH",
    "checked_formats",
    "figure_bytes",
    "new_figures",
    "plain_text",
    "write_figures",
]

#: What can be written, each with the metadata that would make the same picture differ from day to day.
FORMATS: Mapping[str, Mapping[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
WIDTH = 7.0  # inches: the text of an A4 page; with texts of 8 points it can stand in one column of two as well
#: As the page on a light ground: told apart with any colour vision, and by marks and dashes beside.
LINES = ("#0072b2", "#c2500a", "#007f5f", "#a8578a", "#8a6d00", "#3a8fc4", "#5b5fc7", "#6b7480")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
MARKS = ("o", "s", "^", "D")
PURPOSE = "a picture for print"
_SETTINGS = {
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "svg.hashsalt": "demele",
}


@contextmanager
def new_figures() -> Iterator[Any]:
    """Yield the class of figures; within, settings are ours, and afterwards again the user's.

    Raises
    ------
    MissingExtraError
        Without matplotlib: the extra ``pictures`` brings it.
    """
    figure_module = require("matplotlib.figure", purpose=PURPOSE)
    matplotlib = require("matplotlib", purpose=PURPOSE)
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # the same picture whatever a user has set
        matplotlib.rcParams.update(_SETTINGS)
        yield figure_module.Figure


def figure_bytes(figure: Any, form: str) -> bytes:
    """Return a figure as a file of one of :data:`FORMATS`."""
    held = io.BytesIO()
    figure.savefig(held, format=form, dpi=200, metadata=dict(FORMATS[form]))
    return held.getvalue()


def plain_text(text: str, most: int = 60) -> str:
    """Return a name as matplotlib should draw it: as it is, never as mathematics, and on one line."""
    line = " ".join(text.split())
    line = line if len(line) <= most else line[: most - 1] + "\u2026"
    return line.replace("$", r"\$")


def checked_formats(formats: Any) -> tuple[str, ...]:
    """Return formats that were asked for, each once.

    Raises
    ------
    InputError
        If one is none of :data:`FORMATS`, or there is none.
    """
    listed = (formats,) if isinstance(formats, str) else tuple(formats)
    for form in listed:
        if form not in FORMATS:
            raise InputError("formats", f"expected some of {', '.join(FORMATS)}, got {quoted(form)}")
    if not listed:
        raise InputError("formats", f"expected at least one of {', '.join(FORMATS)}, got none")
    return tuple(dict.fromkeys(listed))


def write_figures(drawn: Mapping[str, bytes], folder: Path) -> tuple[Path, ...]:
    """Write files that are already made, by name; each appears whole or not at all.

    Raises
    ------
    OutputError
        If the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    return tuple(write_whole(folder / name, content) for name, content in drawn.items())
