"""The one way up: what stands at the bottom calls what stands on it by name, when asked.

Results call the pages that they are published on; a metric's own function calls the passes over data that do not fit
into memory, which stand on the metrics.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.core.errors import InputTypeError
from demele.core.reading import path_of

#: What can be published, and the function that writes it: its arguments are the content, the path, and options.
PAGES = {
    "evaluation": "demele.report.scores:write_report",
    "audit forecast": "demele.report.forecast:write_forecast",
    "perturbation test": "demele.report.explanations:write_perturbation_test",
    "score curve": "demele.report.score_curve:write_score_curve",
    "examination": "demele.report.examination:write_examination",
    "model": "demele.studies.examine:model_page",
    "agreement": "demele.report.agreement:write_agreement",
    "study": "demele.report.study:write_study",
    "pictures of a model": "demele.report.examination_print:write_examination_pictures",
}


def publish(page: str, content: Any, path: str | Path, **options: Any) -> Any:
    """Write a result, given as plain values, as one of :data:`PAGES`, and return where it is.

    Nothing else in demele reaches a room above its own: a test says so.
    """
    title = options.get("title")
    if not isinstance(title, str | None):
        raise InputTypeError("title", f"expected a text, got {type(title).__name__}")
    return _found(PAGES[page])(content, path_of(path), **options)


#: What writes results for a paper: its argument is a list of what their ``to_dict()`` returns.
FOR_PAPERS = {
    "latex": "demele.report.paper:latex",
    "markdown": "demele.report.paper:markdown",
    "methods": "demele.report.methods:methods_paragraph",
}


def for_paper(what: str, contents: Sequence[Mapping[str, Any]], **options: Any) -> str:
    """Return the text for a paper, one of :data:`FOR_PAPERS`, of one result or of several evaluations."""
    text: str = _found(FOR_PAPERS[what])(contents, **options)
    return text


#: What shows results in a notebook, says them in words, and draws them: by their kind.
CARD = "demele.report.cards:card"
WORDS = "demele.report.said:sentences_of"
DRAWING = "demele.report.drawings:draw"


def card(kind: str, *contents: Any) -> str:
    """Return a result as HTML for a notebook: at most a screen of it."""
    shown = _found(CARD)(kind, *contents)
    return str(shown)


def words(kind: str, content: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is said of a result, a sentence each."""
    said: tuple[str, ...] = _found(WORDS)(kind, content)
    return said


def drawing(kind: str, content: Mapping[str, Any], **options: Any) -> Any:
    """Return the axes on which a result is drawn."""
    return _found(DRAWING)(kind, content, **options)


#: What scores data that are read a piece at a time.
IN_PIECES = "demele.scoring.pieces:scores_in_pieces"


def in_pieces(*arguments: Any, **options: Any) -> Any:
    """Return the scores of data that are read a piece at a time, or None for data in memory."""
    return _found(IN_PIECES)(*arguments, **options)


def _found(home: str) -> Callable[..., Any]:
    module, _, function = home.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found
