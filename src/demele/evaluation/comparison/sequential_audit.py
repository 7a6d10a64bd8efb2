"""Testing by betting on a fixed random audit: its labels are read in the order drawn, up to where they decide."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.core.sentences import arg
from demele.evaluation.comparison.betting import Draws, Stakes, enough, stakes
from demele.evaluation.comparison.sequential_plan import Rows, Signs, signs, terms
from demele.evaluation.expert_errors import expert_assumption, with_expert_errors
from demele.evaluation.question import Outcomes, Question
from demele.noise.audit import CodedAudit


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
    See :func:`demele.evaluation.comparison.betting.stakes` and
    :func:`~demele.evaluation.comparison.betting.log_wealth`. Cost: O(pairs audit).
    """
    audit = question.audit
    if audit is None or audit.design != "uniform":
        got = "none" if audit is None else f"a {audit.design} one"
        raise InputError(
            "audit",
            f"method 'sequential' needs a uniform random sample of all rows, got {got}; with a weighted one use "
            f"method 'audit', or ask rows one at a time with {arg('ask', code='SequentialComparison')}",
        )
    audit, notes = _in_order(audit, question.seed)
    question = replace(question, audit=audit)
    counts = question.counts()
    asked = terms(question, counts.disagreements)
    n = question.data.n
    given, truth = question.data.labels[audit.rows], audit.labels
    predictions = question.data.predictions[:, audit.rows]
    pairs = []
    for pair in range(question.n_pairs):
        first, second = predictions[question.baseline[pair]], predictions[question.candidate[pair]]
        before = signs(first, second, given)
        pairs.append(
            _read(
                first != second,
                before,
                signs(first, second, truth) - before,
                (int(counts.lost[pair]), int(counts.won[pair]), int(counts.neither[pair])),
                float(asked.gap[pair]),
                asked.bet,
            )
        )
    result = {name: np.array([figures[name] for figures in pairs], dtype=np.float64) for name in pairs[0]}
    # By chance, rarely, the two limits may cross: then both are doubtful, and the interval holds both.
    ends = np.minimum(result["low"], result["high"]), np.maximum(result["low"], result["high"])
    low, high = asked.spread(*ends, counts.disagreements, n)
    shown = [result[name] >= enough(asked.bet) for name in ("log_wealth", "log_wealth_of_baseline")]
    with np.errstate(over="ignore"):
        wealths = {name: np.exp(result[f"log_{name}"]) for name in ("wealth", "wealth_of_baseline")}
    outcomes = Outcomes(
        candidate=shown[0] & ~shown[1],
        baseline=shown[1] & ~shown[0],
        difference=result["difference"] / n,
        low=low / n,
        high=high / n,
        method="betting, without replacement",
        kind="sampling" if question.inference == "population" else "design",
        notes=notes,
        p_value=np.minimum(1.0, np.exp(-result["log_wealth"]) + asked.spent),
        assumptions=(
            "The audit is a uniform random sample of all rows, in the order drawn.",
            expert_assumption(question, "Expert labels are right."),
        ),
        details={
            **{name: result[name].astype(np.int64) for name in ("labels_used", "stopped_at", "drawn_from")},
            **wealths,
            "expected_labels": result["expected_labels"],
            "required_gap": asked.gap,
        },
    )
    return with_expert_errors(question, outcomes, counts.disagreements)


def _in_order(audit: CodedAudit, seed: int) -> tuple[CodedAudit, tuple[Note, ...]]:
    """Put an audit whose rows come sorted into a random order: the order in which they were drawn is lost."""
    if audit.k < 10 or not (np.diff(audit.rows) > 0).all():
        return audit, ()
    order = rng_for(seed, "sequential", "order", audit.k).permutation(audit.k)
    message = (
        "the audited rows come sorted, so not in the order in which they were drawn; they are read in a random order, "
        "and the size of the audit must not depend on what it showed"
    )
    shuffled = replace(audit, rows=audit.rows[order], labels=audit.labels[order], inclusion=audit.inclusion[order])
    return shuffled, (Note(code="order-lost", message=message, severity="warning"),)


def _read(
    apart: NDArray[np.bool_], before: Signs, scores: Signs, counts: tuple[int, int, int], gap: float, bet: float
) -> dict[str, float]:
    """Read the audited rows of one pair: ``apart`` says where the two disagree, ``before`` is s(given)."""
    lost, won, neither = counts
    forward = _uniform(apart, before, scores, stakes(lost, won, neither, gap))
    backward = _uniform(apart, -before, -scores, stakes(won, lost, neither, gap))
    used, stopped = int(apart.sum()), apart.size
    for claim in (forward, backward):
        reached = np.flatnonzero(claim.draws.log_wealth(claim.stakes.threshold) >= enough(bet))
        if reached.size:
            used, stopped = int(reached[0]) + 1, int(claim.positions[reached[0]]) + 1
    leading = forward if won >= lost else backward
    every = Stakes(lost + won + neither, 0, False)
    estimate = _uniform(apart, before, scores, every).draws.estimate()
    return {
        "log_wealth": forward.draws.evidence(forward.stakes.threshold),
        "log_wealth_of_baseline": backward.draws.evidence(backward.stakes.threshold),
        "labels_used": used,
        "stopped_at": stopped,
        "drawn_from": leading.stakes.size,
        "expected_labels": leading.draws.expected(leading.stakes.threshold, bet),
        "difference": won - lost + estimate,
        "low": won - lost + forward.draws.exceeds(bet) + 1,
        "high": won - lost - backward.draws.exceeds(bet) - 1,
    }


@dataclass(frozen=True, slots=True)
class _Claim:
    """One claim on a pair: what it must exceed, the draws so far, and where each stands among all rows read."""

    stakes: Stakes
    draws: Draws
    positions: Rows


def _uniform(apart: NDArray[np.bool_], before: Signs, scores: Signs, at_stake: Stakes) -> _Claim:
    positions = np.flatnonzero(apart & (before >= 0) if at_stake.reduced else apart)
    size = float(at_stake.size)
    # With label = baseline left out, an instance gains 1 at most: its label is with neither.
    gain = 1.0 if at_stake.reduced else 2.0
    drawn = scores[positions].astype(np.float64)
    return _Claim(at_stake, Draws(drawn, np.ones(drawn.size), at_stake.size, size, loss=2.0, gain=gain), positions)
