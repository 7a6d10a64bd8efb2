"""The usual comparison: do the two intervals overlap? On the given labels, or on true ones as a reference."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demele.core.labelled import ALL_CORRECT, Indices
from demele.evaluation.comparison.table_difference import linearised
from demele.evaluation.question import Outcomes, Question, Sides, as_value
from demele.evaluation.row_groups import effective_share, ends_at, row_counts

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
    first, second = question.sides()
    intervals = [
        tuple(as_value(end, question.measure) for end in _score_ends(question, side, models))
        for side, models in ((first, question.established), (second, question.candidate))
    ]
    values = [as_value(side.proportion, question.measure) for side in (first, second)]
    return from_intervals(
        values[1] - values[0],
        (intervals[0][0], intervals[0][1]),
        (intervals[1][0], intervals[1][1]),
        assumptions=assumptions,
        kind=kind,
    )


def _score_ends(question: Question, side: Sides, models: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Score intervals of one model per pair; of rows in groups at their effective number."""
    share = 1.0 if question.clusters is None else model_shares(question, models, question.level)
    return ends_at(side.successes, side.trials, share, level=question.level)


def model_shares(question: Question, models: NDArray[np.intp], level: float) -> Floats:
    """Return what share of the trials of each model counts, where rows come in groups."""
    share = np.ones(len(question.data.predictions))
    if question.clusters is not None:
        for model in np.unique(models):
            counted = row_counts(question.data, question.measure, question.of, int(model))
            share[model] = effective_share(*counted, question.clusters, level=level)
    return share[models]


def from_intervals(
    difference: Floats,
    established: tuple[Floats, Floats],
    candidate: tuple[Floats, Floats],
    *,
    assumptions: tuple[str, ...],
    kind: str,
) -> Outcomes:
    """Decide by the overlap of two intervals; the interval of the difference reaches from end to opposite end."""
    return Outcomes(
        candidate=candidate[0] > established[1],
        established=established[0] > candidate[1],
        difference=difference,
        low=candidate[0] - established[1],
        high=candidate[1] - established[0],
        method="overlap of score intervals",
        kind=kind,
        established_interval=established,
        candidate_interval=candidate,
        assumptions=assumptions,
    )
