"""Noise on labels: what experts and transition matrices say of it, how much of it there can be, and how to make some.

>>> from demele import labels
>>> counts = labels.estimate_transition(["cat", "cat", "dog", "dog"], ["cat", "dog", "dog", "dog"])
>>> counts.rate
0.25
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demele.labels.agreement_coefficients import Agreement, agreement
    from demele.labels.annotations import Annotations
    from demele.labels.annotators import ArtificialAnnotators, artificial_annotators
    from demele.labels.audit import Audit, AuditPlan, CodedAudit, doubt, draw_audit
    from demele.labels.blend import consensus
    from demele.labels.budget import NoiseBudget, noise_budget
    from demele.labels.class_noise import (
        add_class_noise,
        add_uniform_noise,
        asymmetric_transition,
        symmetric_transition,
    )
    from demele.labels.cleaning import Cleaning, simulated_cleaning
    from demele.labels.consensus_result import Consensus
    from demele.labels.filters import clean
    from demele.labels.generative import bayesian_consensus
    from demele.labels.harm import Harm, cleaning_harm
    from demele.labels.item_response import dawid_skene, one_coin
    from demele.labels.noise import NoisyLabels, add_feature_noise, add_model_noise
    from demele.labels.transition import TransitionCounts, TransitionMatrix, estimate_transition
    from demele.labels.voting import majority_vote

# Resolved at first use, so that the room opens as fast as NumPy.
_HOMES = {
    "agreement_coefficients": "Agreement agreement",
    "annotations": "Annotations",
    "annotators": "ArtificialAnnotators artificial_annotators",
    "audit": "Audit AuditPlan CodedAudit doubt draw_audit",
    "budget": "NoiseBudget noise_budget",
    "class_noise": "add_class_noise add_uniform_noise asymmetric_transition symmetric_transition",
    "cleaning": "Cleaning simulated_cleaning",
    "blend": "consensus",
    "consensus_result": "Consensus",
    "item_response": "dawid_skene one_coin",
    "filters": "clean",
    "generative": "bayesian_consensus",
    "harm": "Harm cleaning_harm",
    "noise": "NoisyLabels add_feature_noise add_model_noise",
    "transition": "TransitionCounts TransitionMatrix estimate_transition",
    "voting": "majority_vote",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Agreement",
    "Annotations",
    "ArtificialAnnotators",
    "Audit",
    "AuditPlan",
    "Cleaning",
    "CodedAudit",
    "Consensus",
    "Harm",
    "NoiseBudget",
    "NoisyLabels",
    "TransitionCounts",
    "TransitionMatrix",
    "add_class_noise",
    "add_feature_noise",
    "add_model_noise",
    "add_uniform_noise",
    "agreement",
    "artificial_annotators",
    "asymmetric_transition",
    "bayesian_consensus",
    "clean",
    "cleaning_harm",
    "consensus",
    "dawid_skene",
    "doubt",
    "draw_audit",
    "estimate_transition",
    "majority_vote",
    "noise_budget",
    "one_coin",
    "simulated_cleaning",
    "symmetric_transition",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'demele.labels' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"demele.labels.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
