"""The breakdown point of a verdict on accuracy: the number of wrong labels that it holds up to in the worst case."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demele.core.proportions import score_interval
from demele.evaluation.comparison.grouped import group_counts, grouped_breakdown
from demele.evaluation.comparison.methods import MethodSpec
from demele.evaluation.comparison.overlap import cleaned_data
from demele.evaluation.comparison.worst_case import mcnemar_p
from demele.evaluation.question import Outcomes, PairCounts, Question

Counts = NDArray[np.int64]


def breakdown(question: Question, method: MethodSpec, *, outcomes: Outcomes | None = None) -> Counts:
    """Return the largest number of wrong labels that each verdict holds up to in the worst case.

    Parameters
    ----------
    question : Question
        On accuracy.
    method : MethodSpec
        Says what "stands" means, for the labels that the method used (those left or replaced by a cleaning, the true
        ones). For methods by overlap, and for the inference ``"overlap"``: the two score intervals would stay apart on
        every set of true labels. For the inference ``"test_set"``: the difference keeps its sign. For the inference
        ``"population"``: McNemar's exact test at ``question.tail`` would still reject, or the paired test of groups. It
        looks at the labels alone, without the audit or the noise that a method also used.
    outcomes : Outcomes, optional
        What the method said: only the claim that it makes is then followed. Otherwise the one that holds without noise.

    Returns
    -------
    array of int64, shape (n_pairs,)
        -1 where the claim does not hold even if every label is right, for ``"agreement"``, which uses no label, and
        where the intervals of groups overlap: their width on other labels is not known.

    Notes
    -----
    With a = lost and b = won, and m wrong labels, the least favourable true labels count a + m against b - m as long
    as the claim has a chance (m < b), so for the population m = b - c, where c is the least c with
    P(Bin(a + b, 1/2) >= c) <= tail; for the sample m = ceil((b - a) / 2) - 1; for overlap the largest m such that the
    interval of h2 - m of n is above that of h1 + m of n. All are exact: with one wrong label more, some true labels
    undo the claim.
    """
    if method.name == "agreement" or (question.clusters is not None and method.by_overlap):
        return np.full(question.n_pairs, -1)
    if method.name == "true-labels" and question.true_labels is not None:
        question = replace(question, data=question.data.relabelled(question.true_labels))
    elif method.name == "cleaned":
        question = replace(question, data=cleaned_data(question))
    # Only one claim of a pair can hold: the one that was made, else that of the model with more labels.
    counts = question.counts()
    turned = counts.lost > counts.won if outcomes is None else outcomes.baseline
    question = replace(
        question,
        baseline=np.where(turned, question.candidate, question.baseline),
        candidate=np.where(turned, question.baseline, question.candidate),
    )
    counts = question.counts()
    if method.by_overlap or question.inference == "overlap":
        found = _overlap_breakdown(question)
    elif question.clusters is not None:
        sums = (group_counts(question, question.clusters, pair) for pair in range(question.n_pairs))
        found = np.array([grouped_breakdown(one, question.clusters, question.tail) for one in sums], dtype=np.int64)
    elif question.inference == "test_set":
        gap = counts.won - counts.lost
        found = np.where(gap > 0, (gap + 1) // 2 - 1, -1)
    else:
        found = _test_breakdown(counts, question.tail)
    return found if outcomes is None else np.where(outcomes.candidate | outcomes.baseline, found, -1)


def _test_breakdown(counts: PairCounts, tail: float) -> Counts:
    from scipy.stats import binom

    size = counts.lost + counts.won
    # By symmetry, from the lower tail: the quantile of the upper one is that of 1 - tail, where small tails are lost.
    least = size - binom.ppf(tail, size, 0.5).astype(np.int64) + 1
    # That quantile is one short of the count wanted where a tail probability equals the level.
    least = np.where(mcnemar_p(size - least + 1, least - 1) <= tail, least - 1, least)
    return np.asarray(np.maximum(counts.won - least, -1), dtype=np.int64)


def _overlap_breakdown(question: Question) -> Counts:
    """Largest m at which the intervals of candidate - m and baseline + m of n are apart, by bisection."""
    n = question.data.n
    baseline, candidate = (side.successes.astype(np.int64) for side in question.sides())
    trials, stands = np.full(baseline.size, float(n)), np.full(baseline.size, -1, dtype=np.int64)
    falls = np.maximum(candidate - baseline, 0) // 2 + 1  # the counts have then met
    while (falls - stands > 1).any():
        middle = (stands + falls) // 2
        low, _ = score_interval(np.maximum(candidate - middle, 0), trials, level=question.level)
        _, high = score_interval(np.minimum(baseline + middle, n), trials, level=question.level)
        stands, falls = np.where(low > high, middle, stands), np.where(low > high, falls, middle)
    return stands
