"""Noise on labels: what experts and transition matrices say of it, how much of it there can be, and how to make some.

>>> from demele import labels
>>> counts = labels.estimate_transition(["cat", "cat", "dog", "dog"], ["cat", "dog", "dog", "dog"])
>>> counts.rate
0.25
"""

from typing import TYPE_CHECKING

from demele.core.lazy import lazily

if TYPE_CHECKING:
    from demele.labels.cleaned.cleaning import Cleaning as Cleaning
    from demele.labels.cleaned.cleaning import simulated_cleaning as simulated_cleaning
    from demele.labels.cleaned.filters import clean as clean
    from demele.labels.cleaned.harm import Harm as Harm
    from demele.labels.cleaned.harm import cleaning_harm as cleaning_harm
    from demele.labels.joined.agreement_coefficients import Agreement as Agreement
    from demele.labels.joined.agreement_coefficients import annotator_agreement as annotator_agreement
    from demele.labels.joined.annotations import Annotations as Annotations
    from demele.labels.joined.crowds import AggregatedLabels as AggregatedLabels
    from demele.labels.joined.crowds import AskingSavings as AskingSavings
    from demele.labels.joined.crowds import ErrorStructure as ErrorStructure
    from demele.labels.joined.crowds import NextAnswers as NextAnswers
    from demele.labels.joined.crowds import aggregate as aggregate
    from demele.labels.joined.crowds import error_structure as error_structure
    from demele.labels.joined.crowds import next_answers as next_answers
    from demele.labels.joined.crowds import simulated_asking as simulated_asking
    from demele.labels.joined.crowds import split_annotators as split_annotators
    from demele.labels.joined.generative import bayesian_consensus as bayesian_consensus
    from demele.labels.joined.item_response import consensus as consensus
    from demele.labels.joined.item_response import dawid_skene as dawid_skene
    from demele.labels.joined.item_response import one_coin as one_coin
    from demele.labels.joined.voting import Consensus as Consensus
    from demele.labels.joined.voting import majority_vote as majority_vote
    from demele.labels.made.annotators import ArtificialAnnotators as ArtificialAnnotators
    from demele.labels.made.annotators import artificial_annotators as artificial_annotators
    from demele.labels.made.noise import NoisyLabels as NoisyLabels
    from demele.labels.made.noise import add_noise as add_noise
    from demele.labels.made.noise import asymmetric_transition as asymmetric_transition
    from demele.labels.made.noise import symmetric_transition as symmetric_transition
    from demele.noise.audit import Audit as Audit
    from demele.noise.audit import AuditPlan as AuditPlan
    from demele.noise.audit import CodedAudit as CodedAudit
    from demele.noise.audit import disagreement as disagreement
    from demele.noise.audit import draw_audit as draw_audit
    from demele.noise.audit import join_audits as join_audits
    from demele.noise.budget import NoiseBudget as NoiseBudget
    from demele.noise.budget import noise_budget as noise_budget
    from demele.noise.transition import TransitionCounts as TransitionCounts
    from demele.noise.transition import TransitionMatrix as TransitionMatrix
    from demele.noise.transition import estimate_transition as estimate_transition
    from demele.noise.transition import matrix_of_annotators as matrix_of_annotators
    from demele.noise.transition import transition_from_agreement as transition_from_agreement

__getattr__, __dir__, __all__ = lazily(__name__)
