"""Noise on labels: what experts and transition matrices say of it, how much of it there can be, and how to make some.

>>> from demele import labels
>>> counts = labels.estimate_transition(["cat", "cat", "dog", "dog"], ["cat", "dog", "dog", "dog"])
>>> counts.rate
0.25
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demele.labels.cleaned.cleaning import Cleaning, simulated_cleaning
    from demele.labels.cleaned.filters import clean
    from demele.labels.cleaned.harm import Harm, cleaning_harm
    from demele.labels.joined.aggregate import AggregatedLabels, aggregate
    from demele.labels.joined.agreement_coefficients import Agreement, agreement
    from demele.labels.joined.annotations import Annotations
    from demele.labels.joined.consensus_result import Consensus
    from demele.labels.joined.generative import bayesian_consensus
    from demele.labels.joined.item_response import consensus, dawid_skene, one_coin
    from demele.labels.joined.voting import majority_vote
    from demele.labels.made.annotators import ArtificialAnnotators, artificial_annotators
    from demele.labels.made.noise import (
        NoisyLabels,
        add_class_noise,
        add_feature_noise,
        add_model_noise,
        add_uniform_noise,
        asymmetric_transition,
        symmetric_transition,
    )
    from demele.noise.audit import Audit, AuditPlan, CodedAudit, disagreement, draw_audit, join_audits
    from demele.noise.budget import NoiseBudget, noise_budget
    from demele.noise.factor_noise import (
        FactorAudit,
        matrix_of_annotators,
        transition_from_agreement,
    )
    from demele.noise.transition import TransitionCounts, TransitionMatrix, estimate_transition

# Resolved at first use, so that the room opens as fast as NumPy.
_HOMES = {
    "demele.labels.cleaned.cleaning": "Cleaning simulated_cleaning",
    "demele.labels.cleaned.filters": "clean",
    "demele.labels.cleaned.harm": "Harm cleaning_harm",
    "demele.labels.joined.aggregate": "AggregatedLabels aggregate",
    "demele.labels.joined.agreement_coefficients": "Agreement agreement",
    "demele.labels.joined.annotations": "Annotations",
    "demele.labels.joined.consensus_result": "Consensus",
    "demele.labels.joined.generative": "bayesian_consensus",
    "demele.labels.joined.item_response": "consensus dawid_skene one_coin",
    "demele.labels.joined.voting": "majority_vote",
    "demele.labels.made.annotators": "ArtificialAnnotators artificial_annotators",
    "demele.labels.made.noise": (
        "NoisyLabels add_class_noise add_feature_noise add_model_noise add_uniform_noise asymmetric_transition "
        "symmetric_transition"
    ),
    "demele.noise.audit": "Audit AuditPlan CodedAudit disagreement draw_audit join_audits",
    "demele.noise.budget": "NoiseBudget noise_budget",
    "demele.noise.factor_noise": "FactorAudit matrix_of_annotators transition_from_agreement",
    "demele.noise.transition": "TransitionCounts TransitionMatrix estimate_transition",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "AggregatedLabels",
    "Agreement",
    "Annotations",
    "ArtificialAnnotators",
    "Audit",
    "AuditPlan",
    "Cleaning",
    "CodedAudit",
    "Consensus",
    "FactorAudit",
    "Harm",
    "NoiseBudget",
    "NoisyLabels",
    "TransitionCounts",
    "TransitionMatrix",
    "add_class_noise",
    "add_feature_noise",
    "add_model_noise",
    "add_uniform_noise",
    "aggregate",
    "agreement",
    "artificial_annotators",
    "asymmetric_transition",
    "bayesian_consensus",
    "clean",
    "cleaning_harm",
    "consensus",
    "dawid_skene",
    "disagreement",
    "draw_audit",
    "estimate_transition",
    "join_audits",
    "majority_vote",
    "matrix_of_annotators",
    "noise_budget",
    "one_coin",
    "simulated_cleaning",
    "symmetric_transition",
    "transition_from_agreement",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'demele.labels' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
