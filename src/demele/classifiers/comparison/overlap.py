"""The usual comparison: do the two intervals overlap? On the given labels, on cleaned ones, or on the true ones."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from demele.classifiers.comparison.table_difference import linearised, model_ends
from demele.classifiers.comparison.worst_case import misfit_notes
from demele.classifiers.measures.bias import average_bounds, correct_bounds, observed_measure
from demele.classifiers.measures.confusion import confusion_counts
from demele.classifiers.question import Outcomes, Question, Sides, as_value, sides
from demele.core.arrays import Flags, Floats, Rows
from demele.core.errors import InputError, NotEnoughData
from demele.core.labelled import ALL_CORRECT, Labelled
from demele.core.uncertainty import Note
from demele.noise.budget import noise_budget

#: Values of the baseline and of the candidate, one per pair each.
Pair = tuple[Floats, Floats]


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
    suspects: Flags = question.suspects  # type: ignore[assignment]  # demanded by METHODS
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


# Overlap of intervals if the baseline is right on the hardest rows on which the two classifiers disagree --------------


def hard_rows(question: Question) -> Outcomes:
    """Suppose that the baseline is right on the hardest rows on which the two disagree.

    Everywhere else the label is supposed to be right. The bias of both measures is exact under that hypothesis; the
    intervals are shifted by it and keep their width (eq. 6.30), then their overlap is looked at.

    Raises
    ------
    InputError
        If no difficulty is given, unless none or all of the rows are hard: two classifiers alone rank no row.

    Notes
    -----
    Source: Benjelloun, section 6.5.4 (``prudente-v2``). A prudence of 0 is the overlap of the usual intervals. The
    share is rounded down to whole rows; among rows of equal difficulty the first come first.

    Cost: that of counting pairs on the hardest rows.
    """
    rows, notes = hardest(question.difficulty, question.prudence, question.data.n)

    def biases(asked: Question) -> Pair:
        supposed = zip(asked.sides(), hypothetical_sides(asked, rows), strict=True)
        first, second = (
            as_value(observed.proportion, asked.measure) - as_value(correct.proportion, asked.measure)
            for observed, correct in supposed
        )
        return first, second

    return shifted_overlap(
        question,
        biases(question),
        biases(replace(question, baseline=question.candidate, candidate=question.baseline))[::-1],
        kind="shifted",
        assumptions=(
            f"Every label is right outside the {rows.size} hardest instances, and where the two classifiers agree.",
        ),
        notes=notes,
        details={"prudence": question.prudence, "hardest": int(rows.size)},
    )


def hardest(difficulty: Floats | None, prudence: float, n: int) -> tuple[Rows, tuple[Note, ...]]:
    """Return the rows of the hardest share, in order of rows, and a note on ties.

    Raises
    ------
    InputError
        If a part of the rows is asked for without their difficulty.
    """
    size = math.floor(prudence * n + 1e-9)
    if size in (0, n):
        return np.arange(size), ()
    if difficulty is None:
        message = f"needed to find the hardest {prudence:.1%} of the rows; give a number per row, larger is harder"
        raise InputError("difficulty", message)
    order = np.argsort(-difficulty, kind="stable")
    at_the_limit = difficulty[order[size - 1]]
    if difficulty[order[size]] < at_the_limit:
        return np.sort(order[:size]), ()
    tied = int(np.count_nonzero(difficulty == at_the_limit))
    message = (
        f"{tied} instances are as difficult as the last of the {size} hardest; those of them that come first were taken"
    )
    return np.sort(order[:size]), (Note(code="difficulty-ties", message=message, subject=("difficulty",)),)


def hypothetical_sides(question: Question, rows: Rows) -> tuple[Sides, Sides]:
    """Return the proportions of both if the baseline is correct on all of these rows where the two disagree."""
    data = question.data
    if question.measure == "accuracy":
        first, second = question.sides()
        counts = replace(question, data=data.take(rows)).counts()
        return (
            Sides(first.successes + counts.won + counts.neither, first.trials),
            Sides(second.successes - counts.won, second.trials),
        )
    hard, found = np.isin(np.arange(data.n), rows), []
    for models in np.stack([question.baseline, question.candidate], axis=1):
        said = data.predictions[models]
        labels = np.where(hard & (said[0] != said[1]), said[0], data.labels)
        supposed = sides(replace(data, predictions=said, labels=labels), question.measure, question.of)
        found.append([supposed.successes, supposed.trials])
    first, second = (Sides(*side) for side in np.transpose(found, (2, 1, 0)))
    return first, second


# Overlap of intervals at the worst bias that the label noise allows ---------------------------------------------------


def worst_case_overlap(question: Question) -> Outcomes:
    """Shift the baseline's interval by its smallest bias, the candidate's by its largest; look for overlap.

    Notes
    -----
    Source: Benjelloun, section 6.5.4 (``prudente-v1``). The bias of accuracy is in [-nu, nu]; the others are bounded by
    :func:`demele.classifiers.measures.bias.correct_bounds`, which uses all that is known of the noise. Intervals
    are shifted by the opposite of the bias and keep their width (eq. 6.30); they may then leave [0, 1]. Of means over
    classes (macro F1, balanced accuracy) the bias is bounded by
    :func:`demele.classifiers.measures.bias.average_bounds`, and the interval is linearised.

    With a transition the bounds fail with probability ``question.tail`` at most, in addition to the error of the
    intervals.
    """
    data, measure = question.data, question.measure
    budget = noise_budget(question.noise, data.labels, data.k, tail=question.tail)  # type: ignore[arg-type]  # demanded
    lowest, highest = (np.full(len(data.predictions), math.nan) for _ in range(2))
    for model in np.unique(np.concatenate([question.baseline, question.candidate])):
        confusion = confusion_counts(data.labels, data.predictions[model], data.k)
        of: Any = () if question.of is None else question.of
        behind = {"macro-f1": "f1", "balanced-accuracy": "recall"}.get(measure, measure)  # macro recall
        value = observed_measure(behind, confusion)
        observed = float(np.mean(value) if question.of_table else value[of])
        if question.of_table:
            low, high = average_bounds(behind, "macro", confusion, budget)
        else:
            low, high = (end[of] for end in correct_bounds(behind, confusion, budget))
        lowest[model], highest[model] = observed - high, observed - low
    return shifted_overlap(
        question,
        (lowest[question.baseline], highest[question.candidate]),
        (highest[question.baseline], lowest[question.candidate]),
        kind="bias-union",
        assumptions=tuple(budget.assumptions),
        notes=misfit_notes(budget),
        details={"wrong_labels_at_most": int(budget.wrong)},
    )
