"""Comparison by a random audit: given labels of all rows, an expert's labels of a sample, one estimate for every pair.

What each row adds to a difference is a row score: it is guessed by the given label, and known of the audited rows. Rows
are strata by the guess; where both models predict the same, accuracies cannot differ. Differences of measures of one
class are linearised. Measures of all classes have a difference estimator of their own, by a guess of the true classes.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from demele.classifiers.comparison.sequential_plan import terms
from demele.classifiers.comparison.table_difference import CELLS_AT_ONCE, AuditedDifference, audited_tables
from demele.classifiers.comparison.worst_case import GroupedPairs, worst_case
from demele.classifiers.intervals import FRACTIONS, largest, overlap_reach, summed
from demele.classifiers.measures.audit_interval import PREDICTED, audited_ends, class_cells, ratio_parts
from demele.classifiers.pooled_strata import TINY, Cells, gathered, smallest_tail
from demele.classifiers.question import Outcomes, Question, allowed_rows, expert_words, with_expert_errors
from demele.classifiers.table_measures import lowest_value
from demele.core.arrays import Counts, Floats
from demele.core.errors import InputError
from demele.core.result import Note
from demele.noise.audit import CodedAudit
from demele.noise.budget import noise_budget

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
    return summed(theta * (gap - losses)[..., None] + growth)


def proved(question: Question, audit: CodedAudit, estimated: Outcomes) -> Outcomes:
    """Decide every pair by the product bet; the estimates stay those of the audited comparison.

    Raises
    ------
    InputError
        If the least probability of the rows on which the two disagree is not known, or an audited one had a smaller.
    """
    counts, n = question.counts(), question.data.n
    asked = terms(question)
    enough, threshold = -math.log(asked.bet), np.floor(asked.gap)
    least = audit.k / audit.n if audit.design == "uniform" else audit.least
    if least is None:
        message = "a weighted audit needs its least_probability; draw_audit keeps it, or Audit(..., least_probability=)"
        raise InputError("exact", message)
    theta = -FRACTIONS * np.log1p(-min(least, _SURELY)) / 2
    losses, growth, change, met = _met(question, audit, theta, least)
    # The first of each array is for "the candidate is better", the second for the contrary.
    gap, moved = (np.stack([lead, -lead]).astype(np.float64) for lead in (counts.won - counts.lost, change))
    unseen = np.stack([counts.won, counts.lost]) - met[[0, 2]]
    rest = counts.neither - met[1]
    surely_least, most = gap + moved - 2 * unseen - rest, gap + moved + 2 * unseen[::-1] + rest
    log = product_bet(gap - threshold, losses, growth, theta)
    log = np.where(surely_least > threshold, np.inf, log)
    shown = (log >= enough) & (most > threshold)
    logs = np.where(most > threshold, log, 0.0)
    # The largest whole number that the true gap exceeds, with an error of ``bet``; by bisection.
    surely = largest(lambda sum_: product_bet(gap - sum_, losses, growth, theta) >= enough, surely_least - 1, most + 1)
    ends = np.maximum(surely + 1, surely_least)
    low, high = asked.spread(ends[0], -ends[1])
    with np.errstate(over="ignore"):
        details = {
            **estimated.details,
            "difference_needed": asked.gap / n,
            "wealth": np.exp(logs[0]),
            "wealth_of_baseline": np.exp(logs[1]),
            "least_probability": least,
        }
    drawn = _DRAWN["uniform"]
    if audit.design != "uniform":
        drawn = (
            "The audited rows were drawn at random with the probabilities supplied, independently or a fixed number of "
            f"them as draw_audit draws; no row on which the two disagree had a probability below {least:.4g}."
        )
    return replace(
        estimated,
        candidate=shown[0] & ~shown[1],
        baseline=shown[1] & ~shown[0],
        low=np.maximum(low / n, -1.0),
        high=np.minimum(high / n, 1.0),
        method="audit, product bet",
        p_value=np.minimum(1.0, np.exp(-np.maximum(logs[0], 0.0)) + asked.spent),
        assumptions=(drawn, *estimated.assumptions[1:]),
        details=details,
    )


def _met(question: Question, audit: CodedAudit, theta: Floats, least: float) -> tuple[Counts, Floats, Counts, Counts]:
    """Return what audited rows take from the lead of each side, its growth, the change, and rows by the given label.

    Shapes (2, pairs), (2, pairs, 19), (pairs,) and (3, pairs): with the candidate, with neither, with the baseline.
    """
    data = question.data
    # Rows on which all agree may have had less; nothing is bet on them.
    inclusion = np.clip(audit.inclusion, min(least, _SURELY), _SURELY)
    # Logarithm of a_i, if the label of an audited row takes 1 or 2 from the lead; shape (k, 19).
    grown = [np.log1p(-(1 - inclusion[:, None]) * np.exp(r * theta)) - np.log(inclusion[:, None]) for r in (1, 2)]
    given, at = data.labels[audit.rows], data.predictions[:, audit.rows]
    parts = []
    size = max(1, CELLS_AT_ONCE // audit.k)
    for start in range(0, question.n_pairs, size):
        one, other = (at[models[start : start + size]] for models in (question.baseline, question.candidate))
        apart = one != other
        odd = apart & (audit.inclusion < least * (1 - 1e-9))
        if odd.any():
            place = int(np.flatnonzero(odd.any(axis=0))[0])
            chance = f"{audit.inclusion[place]:.4g}, below the least_probability of {least:.4g}"
            message = f"row {audit.rows[place]}, a disagreement, was drawn with probability {chance}; give the least"
            raise InputError("exact", message)
        before = (other == given).astype(np.int64) - (one == given)
        change = (other == audit.labels).astype(np.int64) - (one == audit.labels) - before
        losses = np.stack([np.maximum(side * change, 0).sum(axis=1) for side in (-1, 1)])
        growth = np.stack([(change == -side) @ grown[0] + (change == -2 * side) @ grown[1] for side in (1, -1)])
        met = np.stack([np.count_nonzero(apart & (before == sign), axis=1) for sign in (1, 0, -1)])
        parts.append((losses, growth, change.sum(axis=1)[None], met))
    losses, growth, change, met = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    return losses, growth, change[0], met


# Estimates from strata ------------------------------------------------------------------------------------------------


_DRAWN = {
    "uniform": "The audited rows are a simple random sample of all rows.",
    "weighted": "The audited rows were drawn at random with the probabilities supplied, and errors do not hide among "
    "the rows that were least likely to be drawn.",
    "stratified": "The audited rows are a simple random sample of all rows and one of a part of them, which was not "
    "chosen by what the expert said.",
}
#: A smaller audit says hardly anything.
FEW_LABELS = 20
#: A difference of less is rounding: where all disagreements are audited, nothing else may be left.
ROUNDING = 1e-12


def by_audit(question: Question) -> Outcomes:
    """Decide every pair by one random audit.

    Parameters
    ----------
    question : Question
        With an audit of design ``"uniform"`` or ``"weighted"``, for any measure and inference. With a ``"selective"``
        one and the noise supplied: the worst-case comparison, for accuracy.

    Returns
    -------
    Outcomes
        ``"population"`` adds the sampling error of the test set; ``"test_set"`` does not; ``"overlap"`` requires the
        distance at which the two score intervals on true labels would not overlap.

    Raises
    ------
    InputError
        For a selective audit without knowledge of the noise.

    Notes
    -----
    The interval is that of :class:`demele.classifiers.pooled_strata.PooledStrata`. Accuracies: strata are the rows on
    which the two disagree, by what the label says of them, with the true differences -1, 0 and 1. Precision, recall and
    F1 of a class: strata by who predicts it and whether it is the label; a row adds its part of the linearised ratio,
    and the distances of the two groups of strata are added, because the slopes come from the same audit. For the
    population, the distance of the sampling of rows is larger by one row, and an end that no claim depends on allows at
    least for the losses that the exact limit leaves open. The intervals of the two measures are those of
    :func:`demele.classifiers.assess`.

    Measures of all classes: see :mod:`demele.classifiers.comparison.table_difference`.

    No theorem covers the whole; its level was measured by simulation. With ``question.exact``, verdict, interval and
    p-value are those of :func:`demele.classifiers.comparison.audit.product_bet`, which has a theorem.

    Cost: O(pairs n).
    """
    audit: CodedAudit = question.audit  # type: ignore[assignment]  # demanded by METHODS
    if audit.design == "selective":
        return _selective(question, audit)
    whole = audit.k == question.data.n and not question.expert_error
    if whole and question.inference == "population" and question.measure == "accuracy":  # nothing is estimated
        labels = np.empty_like(question.data.labels)
        labels[audit.rows] = audit.labels
        return replace(
            worst_case(replace(question, data=replace(question.data, labels=labels), noise=0.0)),
            method="exact paired interval",
            kind="sampling",
            assumptions=("The expert's labels are right.",),
            details={"audited": audit.k, "difference_needed": np.zeros(question.n_pairs)},
        )
    models, positions = np.unique(np.concatenate([question.baseline, question.candidate]), return_inverse=True)
    first, second = positions[: question.n_pairs], positions[question.n_pairs :]
    n, population, lowest = question.data.n, question.inference == "population", lowest_value(question.measure)
    # Counting is expensive for many models, and needed only where the expert may be wrong.
    disagreements = question.counts().disagreements if question.expert_error else np.zeros(first.size, np.int64)
    if question.of_table:
        found, ends = audited_tables(question, audit, models)
    else:
        known: dict[str, Any] = {
            "inference": "population" if population else "test_set",
            "groups": question.clusters,
        }
        every = [
            audited_ends(question.data, audit, question.measure, question.level, model=int(model), **known)[1:]
            for model in models
        ]
        found, own = _difference(question, audit), np.array(every).reshape(models.size, 2, -1)[..., question.of or 0]
        ends = own[:, 0], own[:, 1]
    needed = np.zeros(first.size)
    if question.inference == "overlap":
        # Share of each model in the distance at which score intervals part, at its largest within its interval: exact
        # for accuracies (see :func:`~demele.classifiers.intervals.overlap_gap`). Two precisions have different trials,
        # so their centres shift unequally towards 1/2. That is ignored: each gets the share for equal trials.
        trials = np.full(models.size, float(n))
        if question.measure != "accuracy":  # rows predicted as the class, truly of it, or both
            for place, model in enumerate(models):
                cells = class_cells(question.data, audit, int(model))
                below = ratio_parts(question.measure, np.tile(PREDICTED, cells.given.size // 4))[1]
                share = cells.fit(np.broadcast_to(below, cells.seen.shape[1:]), population=False).value
                trials[place] = n * share[question.of or 0]
        e = question.expert_error
        low, high = np.maximum(ends[0] - e, 0) * trials, np.minimum(ends[1] + e, 1) * trials
        with np.errstate(divide="ignore", invalid="ignore"):
            half = overlap_reach(low, high, trials, level=question.level) / trials
        half = np.where(np.isfinite(half), half, 0.0)
        needed = half[first] + half[second]
    needed = needed + allowed_rows(question, disagreements) / n
    below, above = (found.distance(question.tail, below=side) for side in (True, False))
    better = found.value - below > needed + ROUNDING, -found.value - above > needed + ROUNDING
    if population and question.measure == "accuracy":
        # The variance of few disagreements is not informative: with none of 2,000 rows, up to 3.7 are still possible.
        for side, distance, shown in ((1, below, better[0]), (-1, above, better[1])):
            exact = GroupedPairs.asked(question).unseen(side * found.value * n, question.tail) / n
            rest = np.maximum(distance**2 - found.sampled**2, 0)
            distance[~shown] = np.sqrt(rest + np.maximum(found.sampled, exact) ** 2)[~shown]
    few = Note(
        code="few-audited",
        message=f"only {audit.k} labels were audited; fewer than {FEW_LABELS} decide hardly anything",
        severity="warning",
    )
    estimated = Outcomes(
        candidate=better[0],
        baseline=better[1],
        difference=found.value,
        low=np.clip(found.value - below, lowest - 1.0, 1.0 - lowest),
        high=np.clip(found.value + above, lowest - 1.0, 1.0 - lowest),
        method="audit, binomial bounds in quadrature" if question.of_table else "audit, pooled strata",
        kind="sampling" if population else "design",
        p_value=smallest_tail(lambda tail: found.distance(tail, below=True), found.value - needed - ROUNDING),
        baseline_interval=(ends[0][first], ends[1][first]),
        candidate_interval=(ends[0][second], ends[1][second]),
        assumptions=(
            _DRAWN[audit.design],
            *audit.assumed(question.data.labels),
            expert_words(question.expert_error),
        ),
        notes=(*((few,) if audit.k < FEW_LABELS else ()), *found.notes),
        details={"audited": audit.k, "difference_needed": needed},
    )
    proven = proved(question, audit, estimated) if question.exact else estimated
    return with_expert_errors(question, proven, disagreements)


def _difference(question: Question, audit: CodedAudit) -> AuditedDifference:
    """Estimate the difference of two accuracies, or of a measure of one class, of every pair."""
    n, population = question.data.n, question.inference == "population"
    parts, size = [], max(1, CELLS_AT_ONCE // n)
    for start in range(0, question.n_pairs, size):
        some = slice(start, start + size)
        parts.append(_cells(question, audit, question.baseline[some], question.candidate[some]))
    seen = np.concatenate([part.seen for part in parts], axis=1)
    cells = replace(parts[0], size=np.concatenate([part.size for part in parts]), seen=seen)
    if question.measure == "accuracy":
        value = np.zeros(question.n_pairs)
        adds = np.broadcast_to(np.arange(-1.0, 2.0), cells.seen.shape[1:])
    else:
        values, parted = [], []  # of T / U of both, and what a row adds to it near there; NaN and 0 where U is 0
        for bit in (4, 2):
            says = ((np.arange(cells.given.size) & bit) > 0).astype(np.float64)
            above, below = (np.broadcast_to(part, cells.seen.shape[1:]) for part in ratio_parts(question.measure, says))
            t, u = (cells.fit(part, population=False).value[:, None, None] for part in (above, below))
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(u > TINY, t / u, np.nan)
                parted.append(np.where(u > TINY, (above - ratio * below) / u, 0.0))
            values.append(np.ravel(ratio))
        value, adds = values[1] - values[0], parted[1] - parted[0]
    fit = cells.fit(adds, population=population)
    fit = replace(fit, step=1 / n if population else 0.0, added=question.measure != "accuracy")
    if question.clusters is not None:
        fits = []
        for pair in range(question.n_pairs):
            own = _cells(question, audit, question.baseline[pair], question.candidate[pair])
            fits.append(own.grouped(own.fit(adds[pair], population=True), adds[pair], audit, question.clusters))
        fit = replace(fit, effect=np.array([one.effect for one in fits]), groups=np.array([one.groups for one in fits]))
    return AuditedDifference(value + fit.value, fit.distance, fit.sampled(question.tail) * np.sqrt(fit.effect))


def _cells(question: Question, audit: CodedAudit, first: Any, second: Any) -> Cells:
    """Count the rows of pairs by what can move the difference, and the audited ones by what they add to it."""
    data = question.data
    one, other, given, truth = data.predictions[first], data.predictions[second], data.labels, audit.labels
    if question.measure == "accuracy":
        said = 1 + (other == given).astype(np.intp) - (one == given)
        right = 1 + (other[..., audit.rows] == truth).astype(np.intp) - (one[..., audit.rows] == truth)
        return gathered(np.where(one == other, -1, said), right, [0, 1, 2], 3, audit)
    of = question.of
    cell = 4 * (one == of).astype(np.intp) + 2 * (other == of) + (given == of)
    true = np.broadcast_to((truth == of).astype(np.intp), (*cell.shape[:-1], audit.k))
    cells = gathered(cell, true, 4 * [0, 1], 2, audit)
    return replace(cells, kind=np.isin(np.arange(cells.given.size) % 8, (2, 3, 4, 5)).astype(np.intp))


def _selective(question: Question, audit: CodedAudit) -> Outcomes:
    """Correct the audited labels, and bound the errors that are left."""
    data = question.data
    if question.noise is None or question.measure != "accuracy":
        bound = ", or give `noise=`, a rate of wrong labels" * (question.measure == "accuracy")
        message = f"its rows were chosen for a reason (design 'selective'); draw rows at random (`draw_audit()`){bound}"
        raise InputError("audit", message)
    # Limits that hold with a certain confidence only take half of the error, and the p-value counts it.
    spent = 0.0 if isinstance(question.noise, float | int) else question.tail / 2
    tail = question.tail - spent
    budget = noise_budget(question.noise, data.labels, data.k, tail=question.tail / 2)
    found = int(np.count_nonzero(data.labels[audit.rows] != audit.labels))
    if found > budget.wrong:
        message = f"the noise supplied allows {budget.wrong} wrong labels of {data.n}, but the audit found {found}"
        raise InputError(("noise", "audit"), message)
    labels = data.labels.copy()
    labels[audit.rows] = audit.labels
    left = budget.wrong - found
    asked = replace(question, data=data.relabelled(labels), noise=left / data.n, level=1 - 2 * tail, audit=None)
    outcomes = worst_case(asked)
    p_value: Floats = outcomes.p_value  # type: ignore[assignment]  # the bounded comparison gives one
    return replace(
        outcomes,
        p_value=np.minimum(p_value + spent, 1.0),
        assumptions=(
            *budget.assumptions,
            f"The expert's labels are right: {found} of {audit.k} given ones were wrong, so at most {left} others are.",
            *outcomes.assumptions[1:],
        ),
        details={**outcomes.details, "audited": audit.k, "wrong_labels_left_at_most": left},
    )
