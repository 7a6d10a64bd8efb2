"""The usual comparison: do the two intervals overlap? On the given labels, or on true ones as a reference."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demele.core.labelled import ALL_CORRECT, Indices
from demele.evaluation.comparison.table_difference import linearised
from demele.evaluation.question import Outcomes, Question, as_value
from demele.evaluation.row_groups import effective_share, row_counts

Floats = NDArray[np.float64]


def classic(question: Question) -> Outcomes:
    """Compare the score intervals of both on the given labels (Benjelloun, section 6.5.4)."""
    return overlap(question, assumptions=(ALL_CORRECT,))


def reference(question: Question) -> Outcomes:
    """Do the same on the true labels: what the comparison would say without label noise."""
    truth: Indices = question.true_labels  # type: ignore[assignment]  # demanded by the catalogue of methods
    asked = replace(question, data=question.data.relabelled(truth))
    return overlap(asked, assumptions=("The true labels are true.",), argument="true_labels")


def overlap(
    question: Question, *, assumptions: tuple[str, ...], kind: str = "sampling", argument: str = "labels"
) -> Outcomes:
    """Decide by the overlap of two score intervals, as they are; a measure of all classes by the difference itself."""
    if question.of_table:
        return linearised(question, assumptions=assumptions, kind=kind, argument=argument)
    ends = [as_value(end, question.measure) for end in question.score_ends]
    first, second = question.observed()
    baseline, candidate = ((ends[0][models], ends[1][models]) for models in (question.baseline, question.candidate))
    return Outcomes(
        candidate=candidate[0] > baseline[1],
        baseline=baseline[0] > candidate[1],
        difference=second - first,
        # The interval of the difference reaches from end to opposite end.
        low=candidate[0] - baseline[1],
        high=candidate[1] - baseline[0],
        method="overlap of score intervals",
        kind=kind,
        baseline_interval=baseline,
        candidate_interval=candidate,
        assumptions=assumptions,
    )


def model_shares(question: Question, models: NDArray[np.intp], level: float) -> Floats:
    """Return what share of the trials of each model counts, where rows come in groups."""
    share = np.ones(len(question.data.predictions))
    if question.clusters is not None:
        for model in np.unique(models):
            counted = row_counts(question.data, question.measure, question.of, int(model))
            share[model] = effective_share(*counted, question.clusters, level=level)
    return share[models]
