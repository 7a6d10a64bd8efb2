"""A proven comparison by a random audit: one bet on all wrong labels that it met, whatever the pattern of the others.

In plain words: suppose that the candidate is not better. Then enough of the labels that speak for it are wrong, and
each of them had a known probability to be drawn. Money is put on "few of them were drawn": it grows by what the labels
say of the gap, and falls, for every wrong label that is met, by a factor that makes the bet fair. Many wrong labels
that all stayed out of the audit are too unlikely for the money to grow large.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.evaluation.comparison.audit_effects import CELLS_AT_ONCE
from demele.evaluation.comparison.betting import FRACTIONS, enough
from demele.evaluation.comparison.sequential_plan import terms
from demele.evaluation.question import Outcomes, PairCounts, Question
from demele.noise.audit import CodedAudit

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_MONEY: Floats = FRACTIONS / FRACTIONS.sum()
#: A row that is drawn surely leaves nothing to bet on; its probability is taken to be a little less.
_SURELY = 1 - 1e-12


def product_bet(gap: Floats, losses: Counts, growth: Floats, theta: Floats) -> Floats:
    """Logarithm of the wealth against "the true gap is at most 0".

    Parameters
    ----------
    gap : array of shape (...,)
        Right predictions that the candidate leads by on the given labels, less what the claim must exceed.
    losses : array of shape (...,)
        Sum over the audited rows of the loss of that lead by their true labels, >= 0.
    growth : array of shape (..., 19)
        Sum over the audited rows of ln a_i, for each theta.
    theta : array of shape (19,)

    Returns
    -------
    array of shape (...,)

    Notes
    -----
    For rows drawn with known probabilities pi_i, r_i = s(true) - s(given) <= 0 (gains count as 0) and theta > 0 with
    (1 - pi_i) exp(2 theta) < 1 for every row on which the two disagree:

        E = exp(theta (g + sum_seen r_i)) prod_seen a_i,   a_i = (1 - (1 - pi_i) exp(-theta r_i)) / pi_i

    If the true gap g + sum_all r_i is at most 0, E is at most the product over all rows of f_i, which is
    exp(-theta r_i) for a row that was not drawn and a_i for one that was: each of mean 1, and falling in the draw of
    its row. Draws of a fixed number of rows (simple random, Pareto, Sampford) are negatively associated (Braenden and
    Jonasson 2012), so the mean of the product is at most 1, and E reaches 1 / alpha with probability alpha at most
    (Markov). Thetas are mixed: f theta_max for f = .05, ..., .95 with money proportional to f, and
    theta_max = -ln(1 - least pi) / 2.
    """
    logs = theta * (gap - losses)[..., None] + growth + np.log(_MONEY)
    top = logs.max(axis=-1)
    with np.errstate(under="ignore"):
        found: Floats = top + np.log(np.exp(logs - top[..., None]).sum(axis=-1))
    return found


def proved(question: Question, audit: CodedAudit, estimated: Outcomes) -> Outcomes:
    """Decide every pair by the product bet; the estimates stay those of the audited comparison.

    Raises
    ------
    InputError
        If the least probability of the rows on which the two disagree is not known, or an audited one had a smaller.
    """
    counts = question.counts()
    asked = terms(question, counts.disagreements)
    bet, threshold = asked.bet, np.floor(asked.gap)
    least = _least(audit)
    theta = -FRACTIONS * np.log1p(-min(least, _SURELY)) / 2
    first, second = (_seen(question, audit, counts, theta, least, mirrored=flag) for flag in (False, True))
    sides = [first, second]
    shown, logs, ends = [], [], []
    for side in sides:
        log = product_bet(side.gap - threshold, side.losses, side.growth, theta)
        log = np.where(side.least > threshold, np.inf, log)
        shown.append((log >= enough(bet)) & (side.most > threshold))
        logs.append(np.where(side.most > threshold, log, 0.0))
        ends.append(np.maximum(_exceeded(side, theta, bet) + 1, side.least))
    low, high = ends[0], -ends[1]
    n = question.data.n
    # By chance, rarely, the two limits may cross: then both are doubtful, and the interval holds both.
    low, high = asked.spread(np.minimum(low, high), np.maximum(low, high), counts.disagreements, n)
    with np.errstate(over="ignore"):
        details = {
            **estimated.details,
            "difference_needed": asked.gap / n,
            "wealth": np.exp(logs[0]),
            "wealth_of_baseline": np.exp(logs[1]),
            "least_probability": least,
        }
    return replace(
        estimated,
        candidate=shown[0] & ~shown[1],
        baseline=shown[1] & ~shown[0],
        low=np.maximum(low / n, -1.0),
        high=np.minimum(high / n, 1.0),
        method="audit, product bet",
        p_value=np.minimum(1.0, np.exp(-np.maximum(logs[0], 0.0)) + asked.spent),
        assumptions=(_drawn_as(audit, least), *estimated.assumptions[1:]),
        details=details,
    )


def _least(audit: CodedAudit) -> float:
    """Return the least probability with which a row that matters was to be drawn."""
    if audit.design == "uniform":
        return audit.k / audit.n
    if audit.least is None:
        raise InputError(
            "exact",
            "a weighted audit needs its least_probability, the least with which a row was to be drawn on which "
            "the compared classifiers disagree; draw_audit keeps it, and Audit(..., least_probability=) takes it",
        )
    return audit.least


def _drawn_as(audit: CodedAudit, least: float) -> str:
    """Return the assumption on the draw, instead of that of the measured comparison."""
    if audit.design == "uniform":
        return "The audited rows are a simple random sample of all rows."
    return (
        "The audited rows were drawn at random with the probabilities supplied, independently or a fixed number of "
        f"them as draw_audit draws; no row on which the two disagree had a probability below {least:.4g}."
    )


class _Side:
    """One claim on every pair: gap on the given labels, losses met, their growth, limits of the true gap."""

    __slots__ = ("gap", "growth", "least", "losses", "most")

    def __init__(self, gap: Floats, losses: Counts, growth: Floats, least: Floats, most: Floats) -> None:
        self.gap, self.losses, self.growth, self.least, self.most = gap, losses, growth, least, most


def _seen(
    question: Question, audit: CodedAudit, counts: PairCounts, theta: Floats, least: float, *, mirrored: bool
) -> _Side:
    """Gather what the audit shows against "the second is better", or with ``mirrored`` against the contrary."""
    data = question.data
    first, second = question.baseline, question.candidate
    if mirrored:
        first, second, counts = second, first, counts.mirror()
    # Rows on which all agree may have had less; nothing is bet on them.
    inclusion = np.clip(audit.inclusion, min(least, _SURELY), _SURELY)
    # Logarithm of a_i, if the label of an audited row takes 1 or 2 from the lead; shape (k, 19).
    grown = [np.log1p(-(1 - inclusion[:, None]) * np.exp(r * theta)) - np.log(inclusion[:, None]) for r in (1, 2)]
    given, at = data.labels[audit.rows], data.predictions[:, audit.rows]
    parts = []
    size = max(1, CELLS_AT_ONCE // audit.k)
    for start in range(0, first.size, size):
        one, other = at[first[start : start + size]], at[second[start : start + size]]
        apart = one != other
        odd = apart & (audit.inclusion < least * (1 - 1e-9))
        if odd.any():
            place = int(np.flatnonzero(odd.any(axis=0))[0])
            raise InputError(
                "exact",
                f"row {int(audit.rows[place])} was to be drawn with probability {audit.inclusion[place]:.4g}, "
                f"and two of the classifiers disagree there; least_probability says that no such row had less than "
                f"{least:.4g}. It fits the classifiers whose disagreement was used; give the least of these",
            )
        before = (other == given).astype(np.int64) - (one == given)
        change = (other == audit.labels).astype(np.int64) - (one == audit.labels) - before
        lost = [change == -r for r in (1, 2)]
        growth = lost[0] @ grown[0] + lost[1] @ grown[1]
        met = [np.count_nonzero(apart & (before == sign), axis=1) for sign in (1, 0, -1)]
        parts.append((lost[0].sum(axis=1) + 2 * lost[1].sum(axis=1), growth, change.sum(axis=1), *met))
    losses, growth, change, won, neither, lost_rows = (np.concatenate(part) for part in zip(*parts, strict=True))
    gap = (counts.won - counts.lost).astype(np.float64)
    rest = counts.neither - neither
    return _Side(
        gap,
        losses,
        growth,
        gap + change - 2 * (counts.won - won) - rest,
        gap + change + 2 * (counts.lost - lost_rows) + rest,
    )


def _exceeded(side: _Side, theta: Floats, alpha: float) -> Floats:
    """Return the largest whole number that the true gap exceeds, with an error of alpha; by bisection."""
    surely, open_ = side.least - 1, side.most + 1
    while (open_ - surely > 1).any():
        middle = np.floor((surely + open_) / 2)
        wealth = product_bet(side.gap - middle, side.losses, side.growth, theta)
        inside = (wealth >= enough(alpha)) & (open_ - surely > 1)
        moved = (wealth < enough(alpha)) & (open_ - surely > 1)
        surely, open_ = np.where(inside, middle, surely), np.where(moved, middle, open_)
    return surely
