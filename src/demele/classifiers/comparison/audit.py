"""Comparison by a random audit: given labels of all rows, an expert's labels of a sample, one estimate for every pair.

What the labels say of a pair is corrected by what the sample shows of their errors. The correction is a difference
estimator: a guess of the true class of every row, from the given label and the votes of all models, plus the sampled
errors of that guess, each over the probability with which its row was drawn. However bad the guess, the sum is right on
average; a good guess makes it sharp. Errors of labels are rare, and a sample that meets none would look certain to a
normal interval. So the two directions, errors against a claim and for it, get bounds of their own, which allow for one
more error of the weight that unseen errors have.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.classifiers.betting import FRACTIONS, enough, unseen_losses
from demele.classifiers.comparison.audit_effects import (
    CELLS_AT_ONCE,
    Drawn,
    Effects,
    Sampling,
    claims_of,
    effects_of,
    few_in_class_notes,
    margins,
)
from demele.classifiers.comparison.grouped import GroupedPairs, degrees_of, design_effect
from demele.classifiers.comparison.sequential_plan import terms
from demele.classifiers.comparison.table_difference import undefined_notes
from demele.classifiers.comparison.worst_case import worst_case
from demele.classifiers.expert_errors import allowed_rows, expert_assumption, kept_share, with_expert_errors
from demele.classifiers.intervals import SampledSum, lower_bound, overlap_reach
from demele.classifiers.measures.audit_interval import audited_estimate
from demele.classifiers.question import Outcomes, PairCounts, Question
from demele.classifiers.row_groups import student_share
from demele.core.arrays import Counts, Floats, Rows
from demele.core.errors import InputError
from demele.core.proportions import normal_quantile
from demele.core.results import Note
from demele.noise.audit import CodedAudit
from demele.noise.budget import noise_budget

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
    sides = [_seen(question, audit, counts, theta, least, mirrored=flag) for flag in (False, True)]
    shown, logs, ends = [], [], []
    drawn = "The audited rows are a simple random sample of all rows."
    if audit.design != "uniform":
        drawn = (
            "The audited rows were drawn at random with the probabilities supplied, independently or a fixed number of "
            f"them as draw_audit draws; no row on which the two disagree had a probability below {least:.4g}."
        )
    for side in sides:
        log = product_bet(side.gap - threshold, side.losses, side.growth, theta)
        log = np.where(side.least > threshold, np.inf, log)
        shown.append((log >= enough(bet)) & (side.most > threshold))
        logs.append(np.where(side.most > threshold, log, 0.0))
        # The largest whole number that the true gap exceeds, with an error of ``bet``; by bisection.
        surely, open_ = side.least - 1, side.most + 1
        while (open_ - surely > 1).any():
            middle = np.floor((surely + open_) / 2)
            wealth = product_bet(side.gap - middle, side.losses, side.growth, theta)
            inside = (wealth >= enough(bet)) & (open_ - surely > 1)
            moved = (wealth < enough(bet)) & (open_ - surely > 1)
            surely, open_ = np.where(inside, middle, surely), np.where(moved, middle, open_)
        ends.append(np.maximum(surely + 1, side.least))
    n = question.data.n
    low, high = asked.spread(ends[0], -ends[1], counts.disagreements, n)
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
        assumptions=(drawn, *estimated.assumptions[1:]),
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


class _Side(NamedTuple):
    """One claim on every pair: gap on the given labels, losses met, their growth, limits of the true gap."""

    gap: Floats
    losses: Counts
    growth: Floats
    least: Floats
    most: Floats


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
    most = gap + change + 2 * (counts.lost - lost_rows) + rest
    return _Side(gap, losses, growth, gap + change - 2 * (counts.won - won) - rest, most)


# Comparison by a random audit: given labels of all rows, labels by an expert of a sample, one estimate for every pair


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
    Guess: P(true class = c) proportional to (votes for c + 1/2)^a exp(b [label = c]), a and b fitted to the audited
    rows; a model votes with the squared log-odds of agreeing with the given labels. Accuracy of a model: mean guess of
    its predictions, plus the sum over the audit of ([right] - guess) / (n pi). The difference of two models is the
    difference of these. Precision, recall, F1: the same for the linearised ratio.

    The sum of the terms against a claim gets the binomial upper bound of
    :func:`demele.classifiers.intervals.upper_bound`, which counts one term more. For a uniform audit, that is the
    largest possible one; for a weighted audit, the mean over the audited rows that could have had one, weighted by how
    uncertain they leave the sum. The terms for a claim get the gamma lower bound. No sum is taken to be less than its
    terms met, or more than these and the largest possible ones of the rows that were not audited: an audit of all
    disagreements knows the difference. Both distances, and that of the sampling of the test set for the population, are
    combined in quadrature. An end that no claim depends on allows at least for the losses that the exact limit leaves
    open. The intervals of the two measures, from a uniform or stratified audit, are those of
    :func:`demele.classifiers.assess`. A weighted audit is drawn by the disagreement of all compared classifiers, and
    the votes of all sharpen these intervals too; :func:`demele.classifiers.assess` sees one classifier, and its
    interval is wider.

    No theorem covers the whole; its level was measured by simulation. With ``question.exact``, verdict, interval and
    p-value are those of :func:`demele.classifiers.comparison.audit.product_bet`, which has a theorem.

    Cost: O(models n) for the guess, O(pairs k) for an audit of k rows.
    """
    audit: CodedAudit = question.audit  # type: ignore[assignment]  # demanded by METHODS
    if audit.design == "selective":
        return _selective(question, audit)
    known = audit.k == question.data.n and not question.expert_error
    if known and question.inference == "population" and question.measure == "accuracy":
        return _of_every_row(question, audit)
    models, positions = np.unique(np.concatenate([question.baseline, question.candidate]), return_inverse=True)
    first, second = positions[: question.n_pairs], positions[question.n_pairs :]
    effects, drawn, n = effects_of(question, audit, models), Drawn.of(audit), question.data.n
    sampling = _sampling(question, effects, first, second)
    claims = claims_of(effects, drawn, first, second, sampling)
    # Counting is expensive for many models, and needed only where the expert may be wrong.
    disagreements = question.counts().disagreements if question.expert_error else np.zeros(first.size, np.int64)
    needed = np.zeros(first.size)
    if question.inference == "overlap":
        # Share of each model in the distance at which score intervals part, at its largest within its interval: exact
        # for accuracies (see :func:`~demele.classifiers.intervals.overlap_gap`). Two precisions have different trials,
        # so their centres shift unequally towards 1/2. That is ignored: each gets the share for equal trials.
        e = question.expert_error if question.expert_errors == "adversarial" else 0.0
        low, high = margins(effects, drawn, level=question.level, sampled=False)
        low, high = np.maximum(low - e, 0) * effects.trials, np.minimum(high + e, 1) * effects.trials
        with np.errstate(divide="ignore", invalid="ignore"):
            half = overlap_reach(low, high, effects.trials, level=question.level) / effects.trials
        half = np.where(np.isfinite(half), half, 0.0)
        needed = (half[first] + half[second]) * kept_share(question)
    needed = needed + allowed_rows(question, disagreements) / n
    difference = effects.value[second] - effects.value[first]
    for side, claim in ((-1, claims[0].against), (1, claims[0].favour)):  # what is certain, is not estimated
        difference = difference + side * (claim.total - claim.sampled.total)
    below, above = (claim.distance(question.tail) for claim in claims)
    better = difference - below > needed + ROUNDING, -difference - above > needed + ROUNDING
    if sampling is not None and question.measure == "accuracy":
        below = np.where(better[0], below, _careful(question, below, difference, sampling))
        above = np.where(better[1], above, _careful(question, above, -difference, sampling))
    low, high = difference - below, difference + above
    if audit.within is not None and sampling is None and question.measure == "accuracy":
        # Where few rows are left, the difference is a whole number of rows, and the guess of their classes is none.
        low, high = np.floor(low * n + ROUNDING * n) / n, np.ceil(high * n - ROUNDING * n) / n
    ends = _model_ends(question, audit, models, effects, drawn)
    table_notes: tuple[Note, ...] = ()
    if question.of_table:
        every = np.full(len(question.data.predictions), np.nan)
        every[models] = effects.value
        table_notes = *few_in_class_notes(question, audit), *undefined_notes(question, every)
    few = Note(
        code="few-audited",
        message=f"only {audit.k} labels were audited; fewer than {FEW_LABELS} decide hardly anything",
        severity="warning",
    )
    estimated = Outcomes(
        candidate=better[0],
        baseline=better[1],
        difference=difference,
        low=np.clip(low, effects.lowest - 1.0, 1.0 - effects.lowest),
        high=np.clip(high, effects.lowest - 1.0, 1.0 - effects.lowest),
        method="audit, binomial bounds in quadrature",
        kind="design" if sampling is None else "sampling",
        p_value=claims[0].p_value(difference - needed - ROUNDING),
        baseline_interval=(ends[0][first], ends[1][first]),
        candidate_interval=(ends[0][second], ends[1][second]),
        assumptions=(
            _DRAWN[audit.design],
            *audit.assumed(question.data.labels),
            expert_assumption(question, "The expert's labels are right."),
        ),
        notes=(*((few,) if audit.k < FEW_LABELS else ()), *table_notes),
        details={"audited": audit.k, "difference_needed": needed},
    )
    proven = proved(question, audit, estimated) if question.exact else estimated
    return with_expert_errors(question, proven, disagreements)


def _sampling(question: Question, effects: Effects, first: Rows, second: Rows) -> Sampling | None:
    """Return how the sampling of the test set moves each difference: of rows, or of groups with all their rows.

    Of groups, the variance is that of independent rows times the design effect of the guess; degrees of freedom are one
    less than the groups in which the two disagree.
    """
    if question.inference != "population":
        return None
    variance, step = effects.sampling(first, second)
    groups = question.clusters
    if groups is None:
        return Sampling(variance, step)
    design, degrees = np.ones(first.size), np.ones(first.size)
    scale = 1.0 if question.measure != "accuracy" else float(question.data.n) ** 2
    for pair, (one, other) in enumerate(zip(first, second, strict=True)):
        expected, size = effects.terms(int(one), int(other))
        design[pair] = design_effect(expected, size, groups, float(variance[pair]) * scale)
        degrees[pair] = degrees_of(int(np.count_nonzero(groups.sums(size))), question.tail)
    return Sampling(variance * design, step, degrees)


def _model_ends(
    question: Question, audit: CodedAudit, models: Rows, effects: Effects, drawn: Drawn
) -> tuple[Floats, Floats]:
    """Interval of each model's measure, shape (m,) each end: as of an assessment, or by the guess of all models."""
    groups, data, level = question.clusters, question.data, question.level
    if audit.design != "weighted" and not question.of_table:
        inference: Any = "population" if question.inference == "population" else "test_set"
        found = [
            audited_estimate(
                data, audit, question.measure, question.of, level, model=int(model), inference=inference, groups=groups
            )[1]
            for model in models
        ]
        return np.array([one.low for one in found]), np.array([one.high for one in found])
    shares = np.ones(models.size)
    for model in range(models.size):
        if groups is None:
            break
        expected, size = effects.terms(effects.nobody, model)
        variance = float(size @ size)
        if question.measure == "accuracy":
            variance *= float(effects.value[model] * (1 - effects.value[model]))
        shares[model] = student_share(groups.count - 1, level=level) / design_effect(expected, size, groups, variance)
    return margins(effects, drawn, level=level, sampled=question.inference == "population", share=shares)


def _careful(question: Question, distance: Floats, difference: Floats, sampling: Sampling) -> Floats:
    """Return the distance of an end from the estimate if no claim depends on it: at least that of exact limits.

    The variance of few disagreements is not informative: with none of 2,000 rows, up to 3.7 are still possible.
    """
    n, used = question.data.n, sampling.reach(question.tail)
    if question.clusters is None:
        exact = unseen_losses(np.rint(sampling.variance * n**2), difference * n, n, question.tail) / n
    else:
        exact = GroupedPairs.asked(question, question.clusters).unseen(difference * n, question.tail) / n
    found: Floats = np.sqrt(np.maximum(distance**2 - used**2, 0) + np.maximum(used, exact) ** 2)
    return found


def _of_every_row(question: Question, audit: CodedAudit) -> Outcomes:
    """Decide by the exact test on the expert's labels, where these are of every row: nothing is estimated."""
    labels = np.empty_like(question.data.labels)
    labels[audit.rows] = audit.labels
    found = worst_case(replace(question, data=replace(question.data, labels=labels), noise=0.0))
    return replace(
        found,
        method="exact paired interval",
        kind="sampling",
        assumptions=("The expert's labels are right.",),
        details={"audited": audit.k, "difference_needed": np.zeros(question.n_pairs)},
    )


def _selective(question: Question, audit: CodedAudit) -> Outcomes:
    """Correct the audited labels, and bound the errors that are left."""
    data = question.data
    if question.noise is None or question.measure != "accuracy":
        raise InputError(
            "audit",
            "its rows were chosen for a reason (design 'selective'), so they do not represent the other rows; "
            "draw rows at random (`draw_audit()`)"
            + (
                ", or bound the labels left with `noise=`, a rate of wrong labels"
                if question.measure == "accuracy"
                else ""
            ),
        )
    # Limits that hold with a certain confidence only take half of the error, and the p-value counts it.
    spent = 0.0 if isinstance(question.noise, float | int) else question.tail / 2
    tail = question.tail - spent
    budget = noise_budget(question.noise, data.labels, data.k, tail=question.tail / 2)
    found = int(np.count_nonzero(data.labels[audit.rows] != audit.labels))
    if found > budget.wrong:
        raise InputError(
            ("noise", "audit"),
            f"the noise supplied allows {budget.wrong} wrong labels of {data.n}, but the audit found {found}",
        )
    labels = data.labels.copy()
    labels[audit.rows] = audit.labels
    left = budget.wrong - found
    outcomes = worst_case(
        replace(question, data=data.relabelled(labels), noise=left / data.n, level=1 - 2 * tail, audit=None)
    )
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


# A narrower interval from a uniform audit, for who believes that wrong labels side with neither classifier ------------


Signs = NDArray[np.int8]

#: Rows that half a guard stands for: between a wrong label of 1 row and one of 2.
HALF_GUARD = 1.5
#: Name of the interval in results.
UNDIRECTED = "audit, half a guard, if wrong labels take no side"


def undirected_interval(
    given: Signs, audited: Signs, truth: Signs, *, level: float = 0.95, sampled: bool = True, unseen: int | None = None
) -> tuple[float, float, float]:
    """Interval of the difference of two accuracies, if wrong labels do not side with one of the two classifiers.

    Parameters
    ----------
    given : array of shape (n,)
        s(given label) of every row, with s(l) = [candidate says l] - [baseline says l].
    audited, truth : arrays of shape (k,)
        s(given label) and s(true label) of the rows of a uniform audit.
    level : float in (0, 1)
    sampled : bool
        Whether the target is new instances; else it is these rows with true labels.
    unseen : int, optional
        Number of rows that were not audited and on which the two disagree. What these cannot change is certain, and
        the interval reaches no further, but for the sampling of new instances.

    Returns
    -------
    difference, low, high : float
        Within [-1, 1].

    Notes
    -----
    With w = n / k and r = s(true) - s(given), the losses are y = sum w max(-r, 0), of variance
    v = sum w (w - 1) max(-r, 0)^2, and likewise the gains. The upper bound of the losses is the gamma bound (Fay and
    Feuer 1997) of y + .75 w and v + (1.5 w)^2 / 2: half a guard of size 1.5. The lower bound of the gains is that of
    y and v. New instances add the variance of a mean of s(true). All are combined in quadrature.

    *Why only half a guard.* The verdict must hold for every pattern of wrong labels, and the audit says little of those
    that it did not meet. This interval assumes that they are as likely for the candidate as against it. Where all wrong
    labels repeat one classifier's errors, it misses on one side with a probability of up to exp(-1.88) = 15%, so it
    never decides a verdict.

    Examples
    --------
    >>> given = np.repeat(np.array([1, 0, -1], np.int8), [300, 4500, 200])
    >>> seen = np.zeros(100, np.int8)
    >>> [round(end, 4) for end in undirected_interval(given, seen, seen)]
    [0.02, -0.0187, 0.0587]
    """
    from scipy.special import gammaincinv

    n, k = given.size, audited.size
    weight, tail = n / k, (1 - level) / 2
    change = (truth - audited).astype(np.float64)
    sums = [SampledSum.of(np.maximum(side * change, 0), np.full(k, weight)) for side in (-1, 1)]
    certain = [np.maximum(side * change, 0).sum() for side in (-1, 1)]
    guard = HALF_GUARD * weight if k < n else 0.0
    above, below = [], []
    for one, least in zip(sums, certain, strict=True):
        y, v = float(one.total) + guard / 2, float(one.variance) + guard**2 / 2
        above.append(float(v / y * gammaincinv(y * y / v, 1 - tail)) - float(one.total) if v > 0 else 0.0)
        below.append(float(one.total - np.maximum(lower_bound(one, tail), least)))
    totals = [float(one.total) for one in sums]
    if unseen is not None:
        led = float(given.sum(dtype=np.int64)) - float(audited.sum(dtype=np.int64))
        for side, room in enumerate((unseen + led, unseen - led)):  # a row can lose s(given) + 1, and gain 1 - s(given)
            limited = float(np.clip(totals[side], certain[side], certain[side] + room))
            above[side] = min(totals[side] + above[side], float(certain[side]) + room) - limited
            below[side] = max(limited - (totals[side] - below[side]), 0.0)
            above[side], totals[side] = max(above[side], 0.0), limited
    difference = float(given.sum(dtype=np.int64)) + totals[1] - totals[0]
    beyond = 0.0
    if sampled:
        apart = np.count_nonzero(given) + weight * float(np.abs(truth).sum() - np.abs(audited).sum())
        beyond = normal_quantile(1 - tail) * np.sqrt(max(apart - difference**2 / n, 0.0))
    low = difference - np.sqrt(above[0] ** 2 + below[1] ** 2 + beyond**2)
    high = difference + np.sqrt(above[1] ** 2 + below[0] ** 2 + beyond**2)
    return difference / n, max(float(low) / n, -1.0), min(float(high) / n, 1.0)
