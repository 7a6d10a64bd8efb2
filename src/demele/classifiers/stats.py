"""Intervals, tests and tables of classifiers on labels that are taken as true.

>>> from demele.classifiers import stats
>>> low, high = stats.score_interval(90, 100)
>>> round(float(low), 3), round(float(high), 3)
(0.826, 0.945)
"""

from typing import TYPE_CHECKING

from demele.core.lazy import lazily

if TYPE_CHECKING:
    from demele.classifiers.intervals import overlap_level as overlap_level
    from demele.classifiers.intervals import overlap_quantile as overlap_quantile
    from demele.classifiers.judge import rogan_gladen as rogan_gladen
    from demele.classifiers.measures.audit_interval import audit_interval as audit_interval
    from demele.classifiers.measures.bias import Bias as Bias
    from demele.classifiers.measures.bias import bias as bias
    from demele.classifiers.measures.bias import binary_correction as binary_correction
    from demele.classifiers.measures.confusion import ConfusionCounts as ConfusionCounts
    from demele.classifiers.measures.confusion import confusion as confusion
    from demele.classifiers.pseudo import PseudoEvaluation as PseudoEvaluation
    from demele.classifiers.pseudo import pseudo_supervised as pseudo_supervised
    from demele.classifiers.resampled_scores import ResampledScores as ResampledScores
    from demele.classifiers.resampled_scores import TTest as TTest
    from demele.classifiers.resampled_scores import bootstrap_632 as bootstrap_632
    from demele.classifiers.resampled_scores import corrected_t_test as corrected_t_test
    from demele.classifiers.resampled_scores import repeated_scores as repeated_scores
    from demele.core.proportions import exact_interval as exact_interval
    from demele.core.proportions import score_interval as score_interval

__getattr__, __dir__, __all__ = lazily(__name__)
