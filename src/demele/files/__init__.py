"""Readers and writers of files: tables, arrays, labels, transitions, cleanings, audits, logs of language models."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demele.files.prediction_sets import PredictionSet, read_predictions

_HOME = "demele.files.prediction_sets"

__all__ = ["PredictionSet", "read_predictions"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module(_HOME), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
