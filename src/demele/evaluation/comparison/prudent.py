"""The prudent comparisons: intervals are shifted by the bias of a bad case before their overlap is looked at.

Both claims are prudent: "candidate better" in the case that is bad for the candidate, "baseline better" in the case
that is bad for the baseline.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.core.results import Note
from demele.core.sentences import setting
from demele.evaluation.comparison.bounded import misfit_notes
from demele.evaluation.comparison.table_difference import own_ends
from demele.evaluation.intervals import score_interval
from demele.evaluation.measures.average_bounds import average_bounds
from demele.evaluation.measures.bias_bounds import bias_bounds, observed_measure
from demele.evaluation.question import Outcomes, Question, Sides, as_value, mirror, pair_counts
from demele.noise.budget import NoiseBudget, noise_budget
from demele.noise.transition import TransitionCounts, TransitionMatrix

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

#: Share of instances given away by hard-rows when none is asked for: the one of the source's experiments.
DEFAULT_PRUDENCE = 0.1


def prudent_v1(question: Question) -> Outcomes:
    """Shift the baseline's interval by its smallest bias, the candidate's by its largest; look for overlap.

    Notes
    -----
    Source: Benjelloun, section 6.5.4 (``prudente-v1``). The bias of accuracy is in [-nu, nu]; the others are bounded by
    :func:`demele.evaluation.measures.bias_bounds.bias_bounds`, which uses all that is known of the noise. An interval
    is shifted by the opposite of the bias and keeps its width (eq. 6.30); it may then leave [0, 1]. Of means over
    classes (macro F1, balanced accuracy) the bias is bounded by
    :func:`demele.evaluation.measures.average_bounds.average_bounds`, and the interval is linearised.

    With a transition the bounds fail with probability ``question.tail`` at most, beside the error of the intervals.
    """
    data = question.data
    noise: float | TransitionMatrix | TransitionCounts = question.noise  # type: ignore[assignment]  # demanded
    budget = noise_budget(noise, data.labels, data.k, tail=question.tail)
    lowest, highest = (np.full(len(data.predictions), math.nan) for _ in range(2))
    for model in np.unique(np.concatenate([question.baseline, question.candidate])):
        confusion = np.bincount(data.labels.astype(np.intp) * data.k + data.predictions[model], minlength=data.k**2)
        if question.of_table:
            lowest[model], highest[model] = _mean_bias(question.measure, confusion.reshape(data.k, data.k), budget)
            continue
        low, high = bias_bounds(question.measure, confusion.reshape(data.k, data.k), budget)
        of = () if question.of is None else question.of
        lowest[model], highest[model] = low[of], high[of]

    def bad_case(asked: Question) -> _Biases:
        return _Biases(lowest[asked.baseline], highest[asked.candidate])

    return _prudent(
        question,
        bad_case(question),
        bad_case(mirror(question)),
        kind="bias-union",
        assumptions=tuple(budget.assumptions),
        notes=misfit_notes(budget),
        details={"wrong_labels_at_most": int(budget.wrong)},
    )


def _mean_bias(measure: str, confusion: Counts, budget: NoiseBudget) -> tuple[float, float]:
    """Bound the bias of a mean over classes: macro F1, or the balanced accuracy, which is the macro recall."""
    behind = {"macro-f1": "f1", "balanced-accuracy": "recall"}[measure]
    lowest, highest = average_bounds(behind, "macro", confusion, budget)
    observed = float(np.mean(observed_measure(behind, confusion)))
    return observed - highest, observed - lowest


def prudent_v2(question: Question) -> Outcomes:
    """Suppose that the baseline is right on the hardest instances on which the two disagree.

    Everywhere else the label is supposed to be right. The bias of both measures is exact under that hypothesis; the
    intervals are shifted by it and keep their width (eq. 6.30), then their overlap is looked at.

    Raises
    ------
    InputError
        If no difficulty is given, unless none or all of the instances are hard: two classifiers alone rank no instance.

    Notes
    -----
    Source: Benjelloun, section 6.5.4 (``prudente-v2``). A prudence of 0 is the classic comparison. The share is
    rounded down to whole instances; among instances of equal difficulty the first come first.

    Cost: that of counting pairs on the hardest instances.
    """
    prudence = DEFAULT_PRUDENCE if question.prudence is None else question.prudence
    rows, notes = hardest(question.difficulty, prudence, question.data.n)
    return _prudent(
        question,
        _hypothetical_biases(question, rows),
        _hypothetical_biases(mirror(question), rows),
        kind="shifted",
        assumptions=(
            f"Every label is right outside the {rows.size} hardest instances, and where the two classifiers agree.",
        ),
        notes=notes,
        details={"prudence": prudence, "hardest": int(rows.size)},
    )


def hardest(difficulty: Floats | None, prudence: float, n: int) -> tuple[NDArray[np.intp], tuple[Note, ...]]:
    """Return the rows of the hardest share of the instances, in order of rows, and what to say about the choice.

    Raises
    ------
    InputError
        If a part of the instances is asked for without their difficulty.
    """
    size = math.floor(prudence * n + 1e-9)
    if size in (0, n):
        return np.arange(size), ()
    if difficulty is None:
        raise InputError(
            "difficulty",
            f"method 'hard-rows' needs it to tell the hardest {prudence:.1%} of the instances; give one "
            "number per instance, larger is harder, such as how many of several classifiers contradict the label; "
            f"or {setting(prudence=1)}, for all instances, or {setting(prudence=0)}, which is 'overlap'",
        )
    order = np.argsort(-difficulty, kind="stable")
    at_the_limit = difficulty[order[size - 1]]
    if difficulty[order[size]] < at_the_limit:
        return np.sort(order[:size]), ()
    tied = int(np.count_nonzero(difficulty == at_the_limit))
    message = (
        f"{tied} instances are as difficult as the last of the {size} hardest; those of them that come first were taken"
    )
    return np.sort(order[:size]), (Note(code="difficulty-ties", message=message, subject=("difficulty",)),)


def hypothetical_sides(question: Question, rows: NDArray[np.intp]) -> tuple[Sides, Sides]:
    """Return the proportions of both if the baseline is right on these rows wherever the two disagree."""
    hard = question.data.take(rows)
    first, second = question.sides()
    if question.measure == "accuracy":
        counts = pair_counts(hard, question.baseline, question.candidate)
        return (
            Sides(first.successes + counts.won + counts.neither, first.trials),
            Sides(second.successes - counts.won, second.trials),
        )
    of = question.of
    used, positions = np.unique(np.concatenate([question.baseline, question.candidate]), return_inverse=True)
    pairs = positions[: question.n_pairs], positions[question.n_pairs :]
    says = hard.predictions[used] == of
    labelled = hard.labels == of
    # On the hard rows where the two disagree: one says the class and the other does not, with and without the label.
    alone, alone_right = _alone(says)[pairs], _alone(says & labelled)[pairs]
    other_right = _alone(says & labelled)[pairs[::-1]]
    labelled_there = pair_counts(hard.take(labelled), question.baseline, question.candidate).disagreements
    first_right = first.successes - alone_right + alone
    second_right = second.successes - other_right
    labelled_now = np.count_nonzero(question.data.labels == of) - labelled_there + alone
    predicted = np.count_nonzero(question.data.predictions == of, axis=1)
    found = [
        Sides(right, _trials(question.measure, right, predicted[models].astype(np.float64), labelled_now))
        for right, models in ((first_right, question.baseline), (second_right, question.candidate))
    ]
    return found[0], found[1]


@dataclass(frozen=True, slots=True)
class _Biases:
    """Observed less correct measure in one case, per pair."""

    baseline: Floats
    candidate: Floats


def _hypothetical_biases(question: Question, rows: NDArray[np.intp]) -> _Biases:
    supposed = hypothetical_sides(question, rows)
    found = [
        as_value(observed.proportion, question.measure) - as_value(correct.proportion, question.measure)
        for observed, correct in zip(question.sides(), supposed, strict=True)
    ]
    return _Biases(found[0], found[1])


def _prudent(
    question: Question,
    forward: _Biases,
    backward: _Biases,
    *,
    kind: str,
    assumptions: tuple[str, ...],
    notes: tuple[Note, ...],
    details: dict[str, object],
) -> Outcomes:
    """Shift, then compare: ``forward`` is bad for the candidate, ``backward`` (roles exchanged) for the other."""
    first, second = _intervals(question)
    against_candidate = _shifted(first, forward.baseline), _shifted(second, forward.candidate)
    against_baseline = _shifted(first, backward.candidate), _shifted(second, backward.baseline)
    low = against_candidate[1][0] - against_candidate[0][1]
    high = against_baseline[1][1] - against_baseline[0][0]
    values = question.observed()
    return Outcomes(
        candidate=low > 0,
        baseline=high < 0,
        difference=values[1] - values[0],
        low=low,
        high=high,
        method=f"overlap of shifted {'linearised' if question.of_table else 'score'} intervals",
        kind=kind,
        baseline_interval=(against_baseline[0][0], against_candidate[0][1]),
        candidate_interval=(against_candidate[1][0], against_baseline[1][1]),
        assumptions=assumptions,
        notes=notes,
        details={
            **details,
            "baseline_if_bad_for_candidate": np.stack(against_candidate[0], axis=1),
            "candidate_if_bad_for_candidate": np.stack(against_candidate[1], axis=1),
        },
    )


def _intervals(question: Question) -> list[tuple[Floats, Floats]]:
    """Return the intervals of both on the given labels, pair by pair."""
    if not question.of_table:
        return [_apparent(side, question) for side in question.sides()]
    models = np.unique(np.concatenate([question.baseline, question.candidate]))
    own = np.zeros((len(question.data.predictions), 2))
    own[models] = [own_ends(question, int(model)) for model in models]
    return [(own[role, 0], own[role, 1]) for role in (question.baseline, question.candidate)]


def _apparent(side: Sides, question: Question) -> tuple[Floats, Floats]:
    low, high = score_interval(side.successes, side.trials, level=question.level)
    return as_value(low, question.measure), as_value(high, question.measure)


def _shifted(interval: tuple[Floats, Floats], bias: Floats) -> tuple[Floats, Floats]:
    return interval[0] - bias, interval[1] - bias


def _alone(flags: NDArray[np.bool_]) -> Floats:
    """Per ordered pair of models, the number of rows flagged for the first and not for the second."""
    exact: NDArray[np.floating] = flags.astype(np.float32 if flags.shape[1] < 1 << 24 else np.float64)
    both: Floats = (exact @ exact.T).astype(np.float64)
    alone: Floats = np.diag(both)[:, None] - both
    return alone


def _trials(measure: str, right: Floats, predicted: Floats, labelled: Floats) -> Floats:
    return {"precision": predicted, "recall": labelled, "f1": predicted + labelled - right}[measure]
