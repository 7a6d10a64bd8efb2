"""Metrics of representations: one object with the facts and the mathematics of each, and one engine for all."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demele.metrics.importances import dci_compactness, dci_modularity
    from demele.metrics.information.entropies import modularity_from_information
    from demele.metrics.information.gaps import mig_from_information

_HOMES = {
    "dci_compactness": "demele.metrics.importances",
    "dci_modularity": "demele.metrics.importances",
    "mig_from_information": "demele.metrics.information.gaps",
    "modularity_from_information": "demele.metrics.information.entropies",
}

__all__ = ["dci_compactness", "dci_modularity", "mig_from_information", "modularity_from_information"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'demele.metrics' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
