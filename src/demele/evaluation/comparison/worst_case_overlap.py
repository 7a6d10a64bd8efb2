"""Overlap of intervals at the worst bias that the label noise allows."""

import math

import numpy as np

from demele.evaluation.comparison.overlap import shifted_overlap
from demele.evaluation.comparison.worst_case import misfit_notes
from demele.evaluation.measures.average_bounds import average_bounds
from demele.evaluation.measures.bias_bounds import bias_bounds, observed_measure
from demele.evaluation.measures.confusion import confusion_counts
from demele.evaluation.question import Outcomes, Question
from demele.noise.budget import noise_budget


def worst_case_overlap(question: Question) -> Outcomes:
    """Shift the baseline's interval by its smallest bias, the candidate's by its largest; look for overlap.

    Notes
    -----
    Source: Benjelloun, section 6.5.4 (``prudente-v1``). The bias of accuracy is in [-nu, nu]; the others are bounded by
    :func:`demele.evaluation.measures.bias_bounds.bias_bounds`, which uses all that is known of the noise. An interval
    is shifted by the opposite of the bias and keeps its width (eq. 6.30); it may then leave [0, 1]. Of means over
    classes (macro F1, balanced accuracy) the bias is bounded by
    :func:`demele.evaluation.measures.average_bounds.average_bounds`, and the interval is linearised.

    With a transition the bounds fail with probability ``question.tail`` at most, in addition to the error of the
    intervals.
    """
    data, measure = question.data, question.measure
    budget = noise_budget(question.noise, data.labels, data.k, tail=question.tail)  # type: ignore[arg-type]  # demanded
    lowest, highest = (np.full(len(data.predictions), math.nan) for _ in range(2))
    for model in np.unique(np.concatenate([question.baseline, question.candidate])):
        confusion = confusion_counts(data.labels, data.predictions[model], data.k)
        if question.of_table:  # the balanced accuracy is the macro recall
            behind = {"macro-f1": "f1", "balanced-accuracy": "recall"}[measure]
            low, high = average_bounds(behind, "macro", confusion, budget)
            observed = float(np.mean(observed_measure(behind, confusion)))
            lowest[model], highest[model] = observed - high, observed - low
        else:
            of = () if question.of is None else question.of
            lowest[model], highest[model] = (end[of] for end in bias_bounds(measure, confusion, budget))
    return shifted_overlap(
        question,
        (lowest[question.baseline], highest[question.candidate]),
        (highest[question.baseline], lowest[question.candidate]),
        kind="bias-union",
        assumptions=tuple(budget.assumptions),
        notes=misfit_notes(budget),
        details={"wrong_labels_at_most": int(budget.wrong)},
    )
