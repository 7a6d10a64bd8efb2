"""A study of pruning in a terminal: what ``PruningStudy.to_dict()`` returns."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demele.report.pruning_view import (
    PruningView,
    answer_words,
    difference_words,
    headline,
    mean_of,
    pruning_view,
    summary,
    with_error,
)
from demele.report.terminal.sheet import Sheet, Words, clipped
from demele.report.words import percent

__all__ = ["pruning_text"]

Content = Mapping[str, Any]

_WIDTH = 110


def pruning_text(content: Content, *, output: Path | None = None, words: Words = str) -> str:
    """Write which claims hold, and the errors of all fabrics.

    Parameters
    ----------
    content : mapping
        What ``PruningStudy.to_dict()`` returns.
    output : Path, optional
        File that the text is for; a terminal's colours are then left out.
    words : callable, optional
        Says a message in the words of the reader.
    """
    sheet, view = Sheet(output, width=_WIDTH), pruning_view(content)
    sheet.wrapped(words(headline(view)), "bold")
    for text in summary(view):
        if text:
            sheet.wrapped(text)
    _claims(sheet, view)
    _fabrics(sheet, view)
    return sheet.text()


def _claims(sheet: Sheet, view: PruningView) -> None:
    sheet.blank()
    rows = []
    for name, claim in view.claims.items():
        own = view.overall(name)
        rows.append([clipped(claim["title"], 66), difference_words(own), str(answer_words(claim, own))])
    sheet.table(["points, all labels together", "difference", "which is"], rows, numbers=1)


def _fabrics(sheet: Sheet, view: PruningView) -> None:
    sheet.blank()
    rows = []
    for name in view.configurations:
        own = {noise: _done(view, noise, name) for noise in view.noises}
        some = next((fabrics for fabrics in own.values() if fabrics), [])
        links, work = mean_of(some, "links"), mean_of(some, "training_share")
        cells = [with_error(fabrics, "error") for fabrics in own.values()]
        rows.append([name, "" if links is None else f"{links:.0f}", percent(work, 0), *cells])
    heads = ["error in %, mean ± standard error", "links", "work", *(f"labels {noise}" for noise in view.noises)]
    sheet.table(heads, rows, numbers=2 + len(view.noises))


def _done(view: PruningView, noise: str, name: str) -> list[Any]:
    return [one for one in view.fabrics.get((noise, name), []) if one["status"] == "done"]
