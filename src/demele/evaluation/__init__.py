"""Classifiers scored on labels that may be wrong: measures with their bias, and comparisons with their assumptions.

>>> from demele import evaluation
>>> labels = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 50
>>> always_one = [1] * 500
>>> print(evaluation.assess(always_one, labels, noise=0.05)["accuracy"].corrected)
[0.506, 0.692]
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demele.core.proportions import exact_interval as exact_interval
    from demele.core.proportions import score_interval as score_interval
    from demele.evaluation.comparison.audit_forecast import plan_audit as plan_audit
    from demele.evaluation.comparison.compare import compare as compare
    from demele.evaluation.comparison.compare import compare_without_labels as compare_without_labels
    from demele.evaluation.comparison.decision import Breakdown as Breakdown
    from demele.evaluation.comparison.decision import Decision as Decision
    from demele.evaluation.comparison.decision import ExpertBreakdown as ExpertBreakdown
    from demele.evaluation.comparison.forecast_result import AuditForecast as AuditForecast
    from demele.evaluation.comparison.methods import method_names as method_names
    from demele.evaluation.comparison.ranking import Ranking as Ranking
    from demele.evaluation.comparison.ranking import rank as rank
    from demele.evaluation.comparison.sequential import SequentialComparison as SequentialComparison
    from demele.evaluation.explanations.perturbation import perturbation_test as perturbation_test
    from demele.evaluation.explanations.result import PerturbationTest as PerturbationTest
    from demele.evaluation.intervals import overlap_level as overlap_level
    from demele.evaluation.intervals import overlap_quantile as overlap_quantile
    from demele.evaluation.measures.assess import assess as assess
    from demele.evaluation.measures.assessment import Assessment as Assessment
    from demele.evaluation.measures.audit_interval import audit_interval as audit_interval
    from demele.evaluation.measures.bias import Bias as Bias
    from demele.evaluation.measures.bias import bias as bias
    from demele.evaluation.measures.confusion import ConfusionCounts as ConfusionCounts
    from demele.evaluation.measures.confusion import confusion as confusion
    from demele.evaluation.measures.correction import binary_correction as binary_correction
    from demele.evaluation.pseudo import PseudoEvaluation as PseudoEvaluation
    from demele.evaluation.pseudo import pseudo_supervised as pseudo_supervised
    from demele.evaluation.resampled_scores import ResampledScores as ResampledScores
    from demele.evaluation.resampled_scores import TTest as TTest
    from demele.evaluation.resampled_scores import bootstrap_632 as bootstrap_632
    from demele.evaluation.resampled_scores import corrected_t_test as corrected_t_test
    from demele.evaluation.resampled_scores import repeated_scores as repeated_scores
    from demele.evaluation.results import Estimate as Estimate

# Resolved at first use, so that a command imports only what it runs.
_HOMES = {
    "demele.core.proportions": "exact_interval score_interval",
    "demele.evaluation.comparison.audit_forecast": "plan_audit",
    "demele.evaluation.comparison.compare": "compare compare_without_labels",
    "demele.evaluation.comparison.decision": "Breakdown Decision ExpertBreakdown",
    "demele.evaluation.comparison.forecast_result": "AuditForecast",
    "demele.evaluation.comparison.methods": "method_names",
    "demele.evaluation.comparison.ranking": "Ranking rank",
    "demele.evaluation.comparison.sequential": "SequentialComparison",
    "demele.evaluation.explanations.perturbation": "perturbation_test",
    "demele.evaluation.explanations.result": "PerturbationTest",
    "demele.evaluation.intervals": "overlap_level overlap_quantile",
    "demele.evaluation.measures.assess": "assess",
    "demele.evaluation.measures.assessment": "Assessment",
    "demele.evaluation.measures.audit_interval": "audit_interval",
    "demele.evaluation.measures.bias": "Bias bias",
    "demele.evaluation.measures.confusion": "ConfusionCounts confusion",
    "demele.evaluation.measures.correction": "binary_correction",
    "demele.evaluation.pseudo": "PseudoEvaluation pseudo_supervised",
    "demele.evaluation.resampled_scores": "ResampledScores TTest bootstrap_632 corrected_t_test repeated_scores",
    "demele.evaluation.results": "Estimate",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'demele.evaluation' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
