"""Classifiers scored on labels that may be wrong: measures with their bias, and comparisons with their assumptions.

>>> from demele import classifiers
>>> labels = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 50
>>> always_one = [1] * 500
>>> print(classifiers.assess(always_one, labels, noise=0.05)["accuracy"].corrected)
[0.506, 0.692]
"""

from typing import TYPE_CHECKING

from demele.core.lazy import lazily

if TYPE_CHECKING:
    from demele.classifiers import planning as planning
    from demele.classifiers import stats as stats
    from demele.classifiers.comparison.audit_forecast import AuditForecast as AuditForecast
    from demele.classifiers.comparison.audit_forecast import plan_audit as plan_audit
    from demele.classifiers.comparison.compare import Ranking as Ranking
    from demele.classifiers.comparison.compare import TaskRanks as TaskRanks
    from demele.classifiers.comparison.compare import compare as compare
    from demele.classifiers.comparison.compare import rank as rank
    from demele.classifiers.comparison.compare import task_ranks as task_ranks
    from demele.classifiers.comparison.decision import Breakdown as Breakdown
    from demele.classifiers.comparison.decision import Decision as Decision
    from demele.classifiers.comparison.decision import ExpertBreakdown as ExpertBreakdown
    from demele.classifiers.comparison.methods import Agreement as Agreement
    from demele.classifiers.comparison.methods import Audited as Audited
    from demele.classifiers.comparison.methods import Cleaned as Cleaned
    from demele.classifiers.comparison.methods import HardRows as HardRows
    from demele.classifiers.comparison.methods import Sequential as Sequential
    from demele.classifiers.comparison.methods import TrueLabels as TrueLabels
    from demele.classifiers.comparison.methods import method_names as method_names
    from demele.classifiers.comparison.sequential import SequentialComparison as SequentialComparison
    from demele.classifiers.judge import Judgement as Judgement
    from demele.classifiers.judge_bias import annotator_effect as annotator_effect
    from demele.classifiers.judge_bias import judge_errors as judge_errors
    from demele.classifiers.judge_bias import position_bias as position_bias
    from demele.classifiers.judge_bias import slices as slices
    from demele.classifiers.measures.assess import Assessment as Assessment
    from demele.classifiers.measures.assess import assess as assess
    from demele.classifiers.probabilities import auc as auc
    from demele.classifiers.probabilities import calibration_error as calibration_error
    from demele.classifiers.probabilities import loss_scores as loss_scores
    from demele.classifiers.probabilities import probability_loss as probability_loss
    from demele.classifiers.results import Estimate as Estimate
    from demele.classifiers.results import NamedEstimate as NamedEstimate
    from demele.classifiers.results import NamedEstimates as NamedEstimates
    from demele.classifiers.row_scores import RowScores as RowScores
    from demele.classifiers.row_scores import label_set_scores as label_set_scores
    from demele.classifiers.row_scores import pass_at_k as pass_at_k

__getattr__, __dir__, __all__ = lazily(__name__)
