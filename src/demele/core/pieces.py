"""The two ways up, by name: from a metric's function to the engine, and from the engine to passes over large data.

Both stand on the metrics. Nothing else in demele reaches a module above its own: a test says so.
"""

import importlib
from typing import Any

#: Rows that metrics which cannot be counted are computed on, unless told otherwise.
SAMPLE = 100_000
#: What scores one metric: its function ``scored``.
ENGINE = "demele.metrics.run"
#: What scores data that are read a piece at a time.
IN_PIECES = "demele.scoring.pieces:scores_in_pieces"


def in_pieces(*arguments: Any, **options: Any) -> Any:
    """Return the scores of data that are read a piece at a time, or None for data in memory."""
    module, _, function = IN_PIECES.partition(":")
    return getattr(importlib.import_module(module), function)(*arguments, **options)
