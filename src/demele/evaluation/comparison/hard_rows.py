"""Overlap of intervals if the baseline is right on the hardest rows on which the two classifiers disagree."""

import math

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.core.results import Note
from demele.core.sentences import setting
from demele.evaluation.comparison.overlap import Pair, shifted_overlap
from demele.evaluation.question import Outcomes, Question, Sides, as_value, mirror, pair_counts, trials_of

Floats = NDArray[np.float64]

#: Share of the rows given to the baseline when none is asked for: the one of the source's experiments.
DEFAULT_PRUDENCE = 0.1


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
    prudence = DEFAULT_PRUDENCE if question.prudence is None else question.prudence
    rows, notes = hardest(question.difficulty, prudence, question.data.n)

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
        biases(mirror(question))[::-1],
        kind="shifted",
        assumptions=(
            f"Every label is right outside the {rows.size} hardest instances, and where the two classifiers agree.",
        ),
        notes=notes,
        details={"prudence": prudence, "hardest": int(rows.size)},
    )


def hardest(difficulty: Floats | None, prudence: float, n: int) -> tuple[NDArray[np.intp], tuple[Note, ...]]:
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
        raise InputError(
            "difficulty",
            f"method 'hard-rows' needs it to find the hardest {prudence:.1%} of the instances; give one "
            "number per instance, larger is harder, such as the number of classifiers that contradict the label; "
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
    """Return the proportions of both if the baseline is correct on all of these rows where the two disagree."""
    hard, of = question.data.take(rows), question.of
    first, second = question.sides()
    if question.measure == "accuracy":
        counts = pair_counts(hard, question.baseline, question.candidate)
        return (
            Sides(first.successes + counts.won + counts.neither, first.trials),
            Sides(second.successes - counts.won, second.trials),
        )
    predicted, labelled = hard.predictions == of, hard.labels == of
    # On the hard rows where the two disagree: one says the class and the other does not, with and without the label.
    alone, alone_right = _alone(predicted), _alone(predicted & labelled)
    pairs = question.baseline, question.candidate
    there = pair_counts(hard.take(labelled), *pairs).disagreements
    labelled_now = np.count_nonzero(question.data.labels == of) - there + alone[pairs]
    n_predicted = np.count_nonzero(question.data.predictions == of, axis=1).astype(np.float64)
    right = first.successes - alone_right[pairs] + alone[pairs], second.successes - alone_right[pairs[::-1]]
    found = (
        Sides(hits, trials_of(question.measure, hits, n_predicted[models], labelled_now))
        for hits, models in zip(right, pairs, strict=True)
    )
    return next(found), next(found)


def _alone(flags: NDArray[np.bool_]) -> Floats:
    """Per ordered pair of models, the number of rows flagged for the first and not for the second."""
    exact: NDArray[np.floating] = flags.astype(np.float32 if flags.shape[1] < 1 << 24 else np.float64)
    both = (exact @ exact.T).astype(np.float64)
    return np.asarray(np.diag(both)[:, None] - both)
