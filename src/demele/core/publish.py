"""The one way up: what stands at the bottom calls what stands on it by name, when asked.

Results call the pages that they are published on; a metric's own function calls the passes over data that do not fit
into memory, which stand on the metrics.
"""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from demele.core.errors import InputTypeError
from demele.core.reading import path_of

#: What can be published, and the function that writes it: its arguments are the content, the path, and options.
PAGES = {
    "study": "demele.report.study:write_study",
}


def publish(page: str, content: Any, path: str | Path, **options: Any) -> Any:
    """Write a result, given as plain values, as one of :data:`PAGES`, and return where it is.

    Nothing else in demele reaches a room above its own: a test says so.
    """
    title = options.get("title")
    if not isinstance(title, str | None):
        raise InputTypeError("title", f"expected a text, got {type(title).__name__}")
    return _found(PAGES[page])(content, path_of(path), **options)


#: What shows results in a notebook, and says them in words.
CARD = "demele.report.cards:card"
WORDS = "demele.report.said:sentences_of"


def card(text: str, frame: Any = None) -> str:
    """Return a result as HTML for a notebook, with its rows if it has any: at most a screen of it."""
    return str(_found(CARD)(text, frame))


def words(kind: str, content: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is said of a result, a sentence each."""
    said: tuple[str, ...] = _found(WORDS)(kind, content)
    return said


#: What scores data that are read a piece at a time.
IN_PIECES = "demele.scoring.pieces:scores_in_pieces"


def in_pieces(*arguments: Any, **options: Any) -> Any:
    """Return the scores of data that are read a piece at a time, or None for data in memory."""
    return _found(IN_PIECES)(*arguments, **options)


def _found(home: str) -> Callable[..., Any]:
    module, _, function = home.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found
