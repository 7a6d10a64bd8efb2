"""The usual comparison: do the two intervals overlap? On the given labels, on cleaned ones, or on the true ones."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData
from demele.core.labelled import ALL_CORRECT, Labelled
from demele.core.results import Note
from demele.evaluation.comparison.table_difference import linearised, model_ends
from demele.evaluation.question import Outcomes, Question

#: Values of the baseline and of the candidate, one per pair each.
Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


def overlap(question: Question, *, assumptions: tuple[str, ...] = (ALL_CORRECT,), argument: str = "labels") -> Outcomes:
    """Compare the score intervals of both on the given labels (Benjelloun, section 6.5.4).

    A measure of all classes has no score interval: its difference is linearised.
    """
    if question.of_table:
        return linearised(question, assumptions=assumptions, argument=argument)
    low, high = model_ends(question)
    first, second = question.observed()
    baseline, candidate = ((low[models], high[models]) for models in (question.baseline, question.candidate))
    return Outcomes(
        candidate=candidate[0] > baseline[1],
        baseline=baseline[0] > candidate[1],
        difference=second - first,
        # The interval of the difference reaches from end to opposite end.
        low=candidate[0] - baseline[1],
        high=candidate[1] - baseline[0],
        method="overlap of score intervals",
        baseline_interval=baseline,
        candidate_interval=candidate,
        assumptions=assumptions,
    )


def true_labels(question: Question) -> Outcomes:
    """Do the same on the true labels: the result without label noise."""
    data = question.data.relabelled(question.true_labels)  # type: ignore[arg-type]  # demanded by METHODS
    return overlap(replace(question, data=data), assumptions=("The true labels are true.",), argument="true_labels")


def cleaned(question: Question) -> Outcomes:
    """Do the same on cleaned labels (Benjelloun, section 6.5.4).

    Suspected labels are replaced by those suggested, or left out where none is suggested.

    Raises
    ------
    NotEnoughData
        If every label is suspected and none suggested.
    """
    data = cleaned_data(question)
    assumptions = ("Every label is right after the cleaning.",)
    outcomes = overlap(replace(question, data=data), assumptions=assumptions, argument="cleaning")
    suspected = int(question.suspects.sum()) if question.suspects is not None else 0
    done = "relabelled" if question.suggested is not None else "left out"
    return replace(outcomes, details={"suspected": suspected, "used": data.n, "cleaning": done})


def cleaned_data(question: Question) -> Labelled:
    """Return the data with suspected labels replaced, or without their rows.

    Raises
    ------
    NotEnoughData
        If no row is left.
    """
    suspects = question.suspects
    if suspects is None:  # demanded by METHODS
        return question.data
    if question.suggested is not None:
        return question.data.relabelled(np.where(suspects, question.suggested, question.data.labels))
    if suspects.all():
        raise NotEnoughData(
            "cleaning", f"all {suspects.size} labels are suspected and none is suggested: no row is left"
        )
    return question.data.take(~suspects)


def shifted_overlap(
    question: Question,
    forward: Pair,
    backward: Pair,
    *,
    kind: str,
    assumptions: tuple[str, ...],
    notes: tuple[Note, ...],
    details: dict[str, object],
) -> Outcomes:
    """Shift the intervals of both by minus their bias, then look for overlap.

    ``forward``: observed minus true measure of the baseline and of the candidate in the case that is worst for the
    candidate; ``backward``: in the case that is worst for the baseline.
    """
    low, high = model_ends(question)
    roles = question.baseline, question.candidate
    first, second, first_back, second_back = (
        (low[models] - bias, high[models] - bias)
        for models, bias in zip((*roles, *roles), (*forward, *backward), strict=True)
    )
    least, most = second[0] - first[1], second_back[1] - first_back[0]
    values = question.observed()
    return Outcomes(
        candidate=least > 0,
        baseline=most < 0,
        difference=values[1] - values[0],
        low=least,
        high=most,
        method=f"overlap of shifted {'linearised' if question.of_table else 'score'} intervals",
        kind=kind,
        baseline_interval=(first_back[0], first[1]),
        candidate_interval=(second[0], second_back[1]),
        assumptions=assumptions,
        notes=notes,
        details={
            **details,
            "baseline_if_bad_for_candidate": np.stack(first, axis=1),
            "candidate_if_bad_for_candidate": np.stack(second, axis=1),
        },
    )
