"""Noise on labels: what experts and transition matrices say of it, how much of it there can be, and how to make some.

>>> from demele import labels
>>> counts = labels.estimate_transition(["cat", "cat", "dog", "dog"], ["cat", "dog", "dog", "dog"])
>>> counts.rate
0.25
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demele.labels.audit import Audit, AuditPlan, CodedAudit, doubt, draw_audit
    from demele.labels.budget import NoiseBudget, noise_budget
    from demele.labels.cleaning import Cleaning, simulated_cleaning
    from demele.labels.noise import NoisyLabels, add_feature_noise
    from demele.labels.transition import TransitionCounts, TransitionMatrix, estimate_transition

# Resolved at first use, so that the room opens as fast as NumPy.
_HOMES = {
    "audit": "Audit AuditPlan CodedAudit doubt draw_audit",
    "budget": "NoiseBudget noise_budget",
    "cleaning": "Cleaning simulated_cleaning",
    "noise": "NoisyLabels add_feature_noise",
    "transition": "TransitionCounts TransitionMatrix estimate_transition",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Audit",
    "AuditPlan",
    "Cleaning",
    "CodedAudit",
    "NoiseBudget",
    "NoisyLabels",
    "TransitionCounts",
    "TransitionMatrix",
    "add_feature_noise",
    "doubt",
    "draw_audit",
    "estimate_transition",
    "noise_budget",
    "simulated_cleaning",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'demele.labels' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"demele.labels.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
