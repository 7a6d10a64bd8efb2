"""Sequential comparisons: what a claim must show, and which rows are asked for that, in which order."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.classifiers.comparison.worst_case import GroupedPairs
from demele.classifiers.intervals import Draws, Stakes, overlap_gap, stakes
from demele.classifiers.question import (
    Inference,
    Outcomes,
    PairCounts,
    Question,
    allowed_rows,
    expert_words,
    with_expert_errors,
)
from demele.core.arrays import Counts, Flags, Floats, Rows, rng_for
from demele.core.errors import InputError
from demele.core.labelled import Indices, Labelled, Vocabulary
from demele.core.result import Note
from demele.noise.budget import noise_budget

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
    ``grouped``: how the disagreements lie in groups, for a population.
    """

    gap: Floats
    bet: float
    spent: float
    sampling: Floats
    grouped: GroupedPairs | None = None

    def spread(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the limits of the gap of the population, from those of the gap on these rows; shape (pairs,).

        The sampling error under a false claim is too small if disagreements are rare: a test set without a disagreement
        shows no gap, but a gap of 3.7 instances is possible. So an end without a claim reaches at least as far as the
        exact limit of the losses.
        """
        # By chance, rarely, the two limits may cross: then both are doubtful, and the interval holds both.
        low, high = np.minimum(low, high), np.maximum(low, high)
        if self.grouped is None:
            return low, high
        ends = np.stack([low, -high])
        today = ends - self.sampling
        ends = np.where(today > 0, today, np.minimum(today, ends - self.grouped.unseen(ends, self.spent)))
        return ends[0], -ends[1]


def terms(question: Question) -> Terms:
    """Return the gap that a claim must show for its inference.

    ``"test_set"``: 0. ``"population"``: what sampling shows with half the error if the claim is false (the bet has the
    other half). ``"overlap"``: that of two score intervals, at its largest within the number of wrong labels; that is
    limited by the noise if it is known, else by the audit itself, else not at all. Where the expert may be wrong, the
    gap is larger by what that can hide.
    """
    tail, none = question.tail, np.zeros(question.n_pairs)
    allowed = allowed_rows(question, question.counts().disagreements).astype(np.float64)
    if question.inference == "test_set":
        return Terms(none + allowed, tail, 0.0, none)
    if question.inference == "population":
        grouped = GroupedPairs.asked(question)
        chance = grouped.sampling_gap(tail / 2)
        return Terms(chance + allowed, tail / 2, tail / 2, chance, grouped)
    # How many labels may be wrong: by the noise, or by what a uniform audit shows of them; else all.
    n, error, audit = question.data.n, NOISE_SHARE * tail, question.audit
    wrong, spent = n, 0.0
    if question.noise is not None:
        budget = noise_budget(question.noise, question.data.labels, question.data.k, tail=error)
        wrong, spent = int(budget.wrong), 0.0 if budget.level is None else error
    elif audit is not None and audit.design == "uniform":  # the bet needs draws all alike
        correct = -(audit.labels != question.data.labels[audit.rows]).astype(np.float64)
        found = -1 - Draws(correct, np.ones(correct.size), n, float(n), loss=1.0, gain=0.0).exceeds(error)
        wrong, spent = min(n, found + int(np.floor(question.expert_error * n + 1e-9))), error
    gap = overlap_gap(*question.successes(), n, wrong=wrong, level=question.level)
    return Terms(gap + allowed, tail - spent, spent, none)


class Plan:
    """Which rows of one pair are asked, in which order, and what they can show.

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

    Notes
    -----
    *Weights.* What is shown per draw is capped by the most that a row could lose per unit of its weight. With weights
    2 (label with one of the two) and 1 (with neither) all rows can lose as much per unit, and none is asked for less
    than it may reveal: labels without any error certify after about ln(1/alpha) / -ln(1 - g / (2 won + neither)) draws,
    against ln(1/alpha) / -ln(1 - g / (2 won + 2 neither)) uniform ones.

    *Disagreement* makes errors appear earlier, but lowers the evidence of the other rows. It helps only if errors
    decide, that is, if the rows asked are not reduced.
    """

    def __init__(
        self,
        first: Indices,
        second: Indices,
        labels: Indices,
        gap: float,
        clocks: Floats,
        disagreement: Floats | None = None,
    ) -> None:
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
        before, weights = before[order], weights[order]
        # Label with the candidate: the score is in {-2, -1, 0}; with the baseline: {0, 1, 2}; with neither: {-1, 0, 1}.
        losses, gains = (1.0 + before) / weights, (1.0 - before) / weights
        self.rows, self.before, self.weights = rows[order].astype(np.intp), before, weights
        self.total_weight = float(weights.sum())
        self.loss, self.gain = float(losses.max(initial=0.0)), float(gains.max(initial=0.0))
        self.forward, self.backward = forward, backward

    def draws(self, scores: Signs) -> Draws:
        """Return the first draws of this order, given their scores."""
        k = scores.size
        return Draws(scores.astype(float), self.weights[:k], self.rows.size, self.total_weight, self.loss, self.gain)


def signs(first: Indices, second: Indices, labels: Indices) -> Signs:
    """s(l) = [second says l] - [first says l], where the two disagree or not."""
    return np.asarray((second == labels).astype(np.int8) - (first == labels).astype(np.int8))


# Testing by betting on a fixed random audit: its labels are read in the order drawn, up to where they decide ----------


def bet_outcomes(
    question: Question,
    asked: Terms,
    counts: PairCounts,
    log_wealths: Sequence[Floats],
    ends: tuple[Floats, Floats, Floats],
    assumptions: tuple[str, ...],
    notes: tuple[Note, ...],
    details: dict[str, Any],
) -> Outcomes:
    """Decide by the wealths of two bets, on "candidate better" and on "baseline better".

    ``ends`` are the difference of the numbers right and the ends of its interval on these rows, in rows.
    """
    n = question.data.n
    low, high = asked.spread(*ends[1:])
    shown = [log >= -math.log(asked.bet) for log in log_wealths]
    outcomes = Outcomes(
        candidate=shown[0] & ~shown[1],
        baseline=shown[1] & ~shown[0],
        difference=ends[0] / n,
        low=low / n,
        high=high / n,
        method="betting, without replacement",
        kind="sampling" if question.inference == "population" else "design",
        notes=notes,
        p_value=np.minimum(1.0, np.exp(-log_wealths[0]) + asked.spent),
        assumptions=assumptions,
        details=details | {"required_gap": asked.gap},
    )
    return with_expert_errors(question, outcomes, counts.disagreements)


def sequential(question: Question) -> Outcomes:
    """Read the labels of a uniform audit in their order, and stop where they decide a pair.

    Parameters
    ----------
    question : Question
        On accuracy; ``audit`` is a uniform random sample of all rows, in the order in which they were drawn.

    Returns
    -------
    Outcomes
        Each claim errs with probability ``question.tail`` at most, for any label noise, any length of the audit and any
        reason to stop. The interval covers the difference on these instances with true labels; for the population,
        sampling error widens it. ``details``: ``labels_used`` (audited rows that the pair had to know, up to the
        decision), ``stopped_at`` (of all audited rows), ``wealth`` and ``wealth_of_baseline`` (largest so far, of the
        bet on each claim), ``expected_labels`` (how many more of such rows the claim nearer to its end would need),
        ``required_gap``.

    Raises
    ------
    InputError
        If the audit is not a uniform random sample: the bet would no longer be fair.

    Notes
    -----
    Only rows on which the two disagree, and whose label can hurt the claim, count; the others are skipped. That keeps
    the bet fair, since a random order of all rows is a random order of any subset, and the subset is chosen by given
    labels and predictions alone. An audit whose rows come sorted is read in a random order.
    See :func:`demele.classifiers.intervals.stakes` and
    :func:`~demele.classifiers.intervals.log_wealth`. Cost: O(pairs audit).
    """
    audit = question.audit
    if audit is None or audit.design != "uniform":
        got = "none" if audit is None else f"a {audit.design} one"
        message = f"'sequential' needs a uniform random sample of all rows, got {got}; for a weighted one use 'audit'"
        raise InputError("audit", message)
    notes: tuple[Note, ...] = ()
    if audit.k >= 10 and (np.diff(audit.rows) > 0).all():  # the order in which they were drawn is lost
        order = rng_for(question.seed, "sequential", "order", audit.k).permutation(audit.k)
        message = "the audited rows come sorted, not in the order drawn; they are read in a random order"
        notes = (Note(code="order-lost", message=message, severity="warning"),)
        audit = replace(audit, rows=audit.rows[order], labels=audit.labels[order], inclusion=audit.inclusion[order])
        question = replace(question, audit=audit)
    counts = question.counts()
    asked = terms(question)
    given, truth = question.data.labels[audit.rows], audit.labels
    predictions = question.data.predictions[:, audit.rows]
    pairs = []
    for pair in range(question.n_pairs):
        first, second = predictions[question.baseline[pair]], predictions[question.candidate[pair]]
        before = signs(first, second, given)
        apart, scores = first != second, signs(first, second, truth) - before
        lost, won, neither = (int(part[pair]) for part in (counts.lost, counts.won, counts.neither))
        forward = _drawn(apart, before, scores, lost, won, neither, float(asked.gap[pair]))
        backward = _drawn(apart, -before, -scores, won, lost, neither, float(asked.gap[pair]))
        used, stopped = int(apart.sum()), apart.size
        for at_stake, draws, positions in (forward, backward):
            reached = np.flatnonzero(draws.log_wealth(at_stake.threshold) >= -math.log(asked.bet))
            if reached.size:
                used, stopped = int(reached[0]) + 1, int(positions[reached[0]]) + 1
        at_stake, draws, _ = forward if won >= lost else backward
        pairs.append(
            {
                "log_wealth": forward[1].evidence(forward[0].threshold),
                "log_wealth_of_baseline": backward[1].evidence(backward[0].threshold),
                "labels_used": used,
                "stopped_at": stopped,
                "drawn_from": at_stake.size,
                "expected_labels": draws.expected(at_stake.threshold, asked.bet),
                "difference": won - lost + _equal_draws(scores[apart], lost + won + neither, 2.0).estimate(),
                "low": won - lost + forward[1].exceeds(asked.bet) + 1,
                "high": won - lost - backward[1].exceeds(asked.bet) - 1,
            }
        )
    result = {name: np.array([figures[name] for figures in pairs], dtype=np.float64) for name in pairs[0]}
    logs = [result.pop(f"log_{name}") for name in ("wealth", "wealth_of_baseline")]
    ends = result.pop("difference"), result.pop("low"), result.pop("high")
    with np.errstate(over="ignore"):
        wealths = dict(zip(("wealth", "wealth_of_baseline"), np.exp(logs), strict=True))
    details = {name: figures if name == "expected_labels" else figures.astype(int) for name, figures in result.items()}
    assumptions = (
        "The audit is a uniform random sample of all rows, in the order drawn.",
        expert_words(question.expert_error),
    )
    return bet_outcomes(question, asked, counts, logs, ends, assumptions, notes, details | wealths)


def _drawn(
    apart: Flags, before: Signs, scores: Signs, lost: int, won: int, neither: int, gap: float
) -> tuple[Stakes, Draws, Rows]:
    """Return what one claim on a pair must exceed, its draws so far, and where each stands among all rows read."""
    at_stake = stakes(lost, won, neither, gap)
    positions = np.flatnonzero(apart & (before >= 0) if at_stake.reduced else apart)
    # With label = baseline left out, an instance gains 1 at most: its label is with neither.
    gain = 1.0 if at_stake.reduced else 2.0
    return at_stake, _equal_draws(scores[positions], at_stake.size, gain), positions


def _equal_draws(scores: Signs, size: int, gain: float) -> Draws:
    return Draws(scores.astype(np.float64), np.ones(scores.size), size, float(size), loss=2.0, gain=gain)


# Simulated sequential comparisons of many pairs, with true labels in the place of an expert ---------------------------


def sequential_many(
    labels: Indices,
    predictions: Indices,
    pairs: Rows,
    true_labels: Indices,
    *,
    alpha: float,
    inference: Inference = "overlap",
    level: float = 0.95,
    cap: int = 1000,
    wrong: int | None = None,
    start: Literal["always", "shown"] = "always",
    seed: int = 0,
) -> tuple[Flags, Counts]:
    """Simulate sequential comparisons of many ordered pairs, with true labels as the expert's answers.

    Parameters
    ----------
    labels, true_labels : arrays of shape (n,)
    predictions : array of shape (n_models, n)
    pairs : array of shape (n_pairs, 2)
        Baseline, candidate.
    alpha : float
        Error allowed to "candidate better".
    inference : {"population", "test_set", "overlap"}
        With ``"population"``, half of alpha each for the bet and for sampling.
    level : float
        For ``"overlap"``: of the two intervals.
    cap : int
        Labels asked of one pair, at most.
    wrong : int, optional
        For ``"overlap"``: at most so many labels are wrong; None knows nothing of it.
    start : {"always", "shown"}
        ``"shown"``: nothing is asked of a pair whose labels, were all of them right, would not show the claim. That
        saves two fifths of the labels at 5% noise and finds a little less; at 20% much less. Nothing is ever asked of a
        pair whose labels clearly show the contrary (the rows asked would be chosen for that claim).
    seed : int
        All pairs share one random order of the rows.

    Returns
    -------
    certified : array of bool, labels_used : array of int64, of shape (n_pairs,)

    Notes
    -----
    Cost: about 1 ms per pair at n = 12 000.
    """
    n = labels.size
    classes = Vocabulary(tuple(range(int(max(labels.max(), predictions.max(), true_labels.max())) + 1)))
    data = Labelled(labels, predictions, tuple(str(j) for j in range(len(predictions))), classes)
    question = Question(data=data, baseline=pairs[:, 0], candidate=pairs[:, 1], level=level, inference=inference)
    counts = question.counts()
    if inference == "overlap":
        gaps = overlap_gap(*question.successes(), n, wrong=n if wrong is None else wrong, level=level)
    else:
        asked = terms(replace(question, level=1 - 2 * alpha))
        gaps, alpha = asked.gap, asked.bet
    small = predictions.astype(np.min_scalar_type(len(classes)))
    given, truth = labels.astype(small.dtype), true_labels.astype(small.dtype)
    clocks = rng_for(seed, "sequential", n).exponential(size=n)
    certified, used = np.zeros(len(pairs), dtype=bool), np.zeros(len(pairs), dtype=np.int64)
    promising = counts.won - counts.lost > np.floor(gaps)
    for index in np.flatnonzero(promising | (start == "always")):
        first, second = small[pairs[index, 0]], small[pairs[index, 1]]
        made = Plan(first, second, given, float(gaps[index]), clocks)
        if made.forward is None or not made.rows.size:
            continue
        rows = made.rows[:cap]
        used[index], claim = rows.size, made.forward.threshold
        scores = signs(first[rows], second[rows], truth[rows]) - made.before[: rows.size]
        # Most pairs are decided early: the whole path is computed only for the others.
        for read in sorted({min(128, rows.size), rows.size}):
            draws = made.draws(scores[:read])
            shown = np.flatnonzero(draws.log_wealth(claim) >= -math.log(alpha))
            hopeless = np.flatnonzero(draws.mirrored().log_wealth(-claim) >= np.log(GIVE_UP))
            if shown.size or hopeless.size:
                ends = [int(found[0]) + 1 if found.size else read + 1 for found in (shown, hopeless)]
                certified[index], used[index] = ends[0] <= ends[1], min(ends)
                break
    return certified, used
