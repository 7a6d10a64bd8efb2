"""Sequential comparisons: what a claim must show, and which rows are asked for that, in which order."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputTypeError
from demele.core.labelled import Indices
from demele.core.results import Note
from demele.core.table_columns import as_column
from demele.evaluation.comparison.betting import Draws, Stakes, sampling_gap, stakes, unseen_losses
from demele.evaluation.comparison.grouped import GroupedPairs
from demele.evaluation.expert_errors import allowed_rows, kept_share
from demele.evaluation.intervals import overlap_gap
from demele.evaluation.question import Question
from demele.noise.budget import noise_budget

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Signs = NDArray[np.int8]

#: A claim is given up once the bet against it has multiplied its money by this much.
GIVE_UP = 20.0
#: Share of the error that goes to the limit of the number of wrong labels, where that is estimated.
NOISE_SHARE = 0.05
#: How far the disagreement of an instance tilts how soon it is asked: shares between 0.7 and 0.7 + 0.3 disagreement /
#: mean disagreement.
TILT = 0.3


@dataclass(frozen=True, slots=True)
class Terms:
    """What one claim must show, for every pair, and the error it has for that.

    ``gap``: the claim is that one classifier is right on more than so many instances more. ``bet``: error of the bet.
    ``spent``: error that went elsewhere (to sampling, or to the limit of the number of wrong labels); the two sum to
    the error of the claim. ``sampling``: what chance may add to the gap in a test set if the claim is false.
    ``population``: whether it adds anything. ``grouped``: how the disagreements lie in groups, if rows come in these.
    """

    gap: Floats
    bet: float
    spent: float
    sampling: Floats
    population: bool = False
    grouped: GroupedPairs | None = None

    def spread(self, low: Floats, high: Floats, disagreements: NDArray[np.int64], n: int) -> tuple[Floats, Floats]:
        """Return the limits of the gap of the population, from those of the gap on these rows; shape (pairs,).

        The sampling error under a false claim is too small if disagreements are rare: a test set without a disagreement
        shows no gap, but a gap of 3.7 instances is possible. So an end without a claim reaches at least as far as the
        exact limit of the losses.
        """
        if not self.population:
            return low, high
        ends = []
        for end in (low, -high):
            today = end - self.sampling
            unseen = (
                unseen_losses(disagreements, end, n, self.spent)
                if self.grouped is None
                else self.grouped.unseen(end, self.spent)
            )
            careful = np.minimum(today, end - unseen)
            ends.append(np.where(today > 0, today, careful))
        return ends[0], -ends[1]


def terms(question: Question, disagreements: NDArray[np.int64]) -> Terms:
    """Return the gap that a claim must show for its inference.

    ``"test_set"``: 0. ``"population"``: what sampling shows with half the error if the claim is false (the bet has the
    other half). ``"overlap"``: that of two score intervals, at its largest within the number of wrong labels; that is
    limited by the noise if it is known, else by the audit itself, else not at all. Where the expert may be wrong, the
    gap is larger by what that can hide.
    """
    tail, none = question.tail, np.zeros(question.n_pairs)
    allowed = allowed_rows(question, disagreements).astype(np.float64)
    if question.inference == "test_set":
        return Terms(none + allowed, tail, 0.0, none)
    if question.inference == "population":
        grouped = None if question.clusters is None else GroupedPairs.asked(question, question.clusters)
        chance = (
            sampling_gap(disagreements, tail / 2).astype(np.float64)
            if grouped is None
            else grouped.sampling_gap(tail / 2)
        )
        return Terms(chance + allowed, tail / 2, tail / 2, chance, population=True, grouped=grouped)
    wrong, spent = wrong_labels(question, NOISE_SHARE * tail)
    first, second = question.sides()
    gap = overlap_gap(first.successes, second.successes, question.data.n, wrong=wrong, level=question.level)
    return Terms(gap * kept_share(question) + allowed, tail - spent, spent, none)


def wrong_labels(question: Question, error: float) -> tuple[int, float]:
    """Return how many labels can be wrong at most, and the error spent on saying so."""
    n = question.data.n
    if question.noise is not None:
        budget = noise_budget(question.noise, question.data.labels, question.data.k, tail=error)
        return int(budget.wrong), 0.0 if budget.level is None else error
    if question.audit is None or question.audit.design != "uniform":  # the bet below needs draws all alike
        return n, 0.0
    audit = question.audit
    correct = -(audit.labels != question.data.labels[audit.rows]).astype(np.float64)
    found = -1 - Draws(correct, np.ones(correct.size), n, float(n), loss=1.0, gain=0.0).exceeds(error)
    return min(n, found + int(np.floor(question.expert_error * n + 1e-9))), error


@dataclass(frozen=True, slots=True)
class Plan:
    """Which rows of one pair are asked, in which order, and what they can show.

    Attributes
    ----------
    rows : array of shape (size,)
        All rows that help, in the order drawn: each next one with a probability proportional to its weight.
    before : array
        s(given) of each of them.
    weights : array
        How much the label of each can change the gap: 2 if it is with either classifier, 1 if with neither.
    forward, backward : Stakes or None
        Of the claims "candidate better" and "baseline better"; None where the rows asked cannot show it.
    """

    rows: Rows
    before: Signs
    weights: Floats
    total_weight: float
    loss: float
    gain: float
    forward: Stakes | None
    backward: Stakes | None

    def draws(self, scores: Signs) -> Draws:
        """Return the first draws of this order, given their scores."""
        k = scores.size
        return Draws(
            scores.astype(np.float64), self.weights[:k], self.rows.size, self.total_weight, self.loss, self.gain
        )


def plan(
    first: Indices, second: Indices, labels: Indices, gap: float, clocks: Floats, disagreement: Floats | None = None
) -> Plan:
    """Say which rows to ask of a pair, and in which order.

    Parameters
    ----------
    first, second, labels : arrays of shape (n,)
        Predictions of the baseline and of the candidate, given labels.
    gap : float
        What either claim must exceed.
    clocks : array of shape (n,)
        Independent standard exponential draws. The rows in the order of clock / weight are drawn without replacement,
        each with a probability proportional to its weight among those left. Several pairs may share the clocks, and
        with them many of the rows.
    disagreement : array of shape (n,), optional
        Where labels are more likely to be wrong.

    Notes
    -----
    *Weights.* What is shown per draw is capped by the most that a row could lose per unit of its weight. With weights
    2 (label with one of the two) and 1 (with neither) all rows can lose as much per unit, and none is asked for less
    than it may reveal: labels without any error certify after about ln(1/alpha) / -ln(1 - g / (2 won + neither)) draws,
    against ln(1/alpha) / -ln(1 - g / (2 won + 2 neither)) uniform ones.

    *Disagreement* makes errors appear earlier, but lowers the evidence of the other rows. It helps only if errors
    decide, that is, if the rows asked are not reduced.
    """
    apart = np.flatnonzero(first != second)
    before = signs(first[apart], second[apart], labels[apart])
    won, lost = int(np.count_nonzero(before > 0)), int(np.count_nonzero(before < 0))
    neither = apart.size - won - lost
    forward: Stakes | None = stakes(lost, won, neither, gap)
    backward: Stakes | None = stakes(won, lost, neither, gap)
    kept = np.ones(apart.size, dtype=bool)
    weights = np.where(before == 0, 1.0, 2.0)
    if forward is not None and forward.reduced:
        backward, kept = None, before >= 0
    elif backward is not None and backward.reduced:
        forward, kept = None, before <= 0
    elif disagreement is not None and apart.size and disagreement[apart].mean() > 0:
        weights = weights * (1 - TILT + TILT * disagreement[apart] / disagreement[apart].mean())
    rows, before, weights = apart[kept], before[kept], weights[kept]
    order = np.lexsort((rows, clocks[rows] / weights))
    rows, before, weights = rows[order], before[order], weights[order]
    # Label with the candidate: the score is in {-2, -1, 0}; with the baseline: {0, 1, 2}; with neither: {-1, 0, 1}.
    losses = np.where(before > 0, 2.0, np.where(before == 0, 1.0, 0.0)) / weights
    gains = np.where(before < 0, 2.0, np.where(before == 0, 1.0, 0.0)) / weights
    return Plan(
        rows.astype(np.intp),
        before,
        weights,
        float(weights.sum()),
        float(losses.max(initial=0.0)),
        float(gains.max(initial=0.0)),
        forward,
        backward,
    )


def signs(first: Indices, second: Indices, labels: Indices) -> Signs:
    """s(l) = [second says l] - [first says l], where the two disagree or not."""
    found: Signs = (second == labels).astype(np.int8) - (first == labels).astype(np.int8)
    return found


def unclear_note(unclear: int, answered: int) -> tuple[Note, ...]:
    """Say how many rows the expert could not label, if there are any."""
    if not unclear:
        return ()
    message = f"{unclear} of {answered} rows were unclear to the expert; they count for neither classifier"
    return (Note(code="audit-unclear", message=message, severity="warning"),)


def read_rows(rows: object) -> Rows:
    """Read the numbers of some rows, or of one.

    Raises
    ------
    InputTypeError
        If they are no whole numbers.
    """
    asked = np.atleast_1d(as_column([rows] if np.isscalar(rows) else rows, "rows"))
    if asked.size and (asked.dtype.kind not in "iu" or asked.ndim != 1):
        raise InputTypeError("rows", f"expected row numbers, got {asked.dtype} of shape {asked.shape}")
    return asked.astype(np.intp)
