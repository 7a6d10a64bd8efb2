"""Expert labels one at a time: stop as soon as they show which classifier is better, whatever the label noise."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.errors import InputError, InputTypeError
from demele.core.inputs import as_column
from demele.core.labelled import Indices, Labelled, read_labelled, read_labels
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.evaluation.comparison.base import Outcomes, PairCounts, Question, Target, pair_counts
from demele.evaluation.comparison.betting import Draws, Stakes, enough, sampling_gap, stakes
from demele.evaluation.intervals import checked_level, normal_quantile
from demele.evaluation.results import Decision

if TYPE_CHECKING:
    from demele.labels.audit import CodedAudit
    from demele.labels.transition import TransitionCounts, TransitionMatrix

__all__ = ["SequentialComparison", "sequential", "sequential_many"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Signs = NDArray[np.int8]

#: A claim is given up once the bet against it has multiplied its money by this much.
GIVE_UP = 20.0
#: Share of the error that goes to the limit of the number of wrong labels, where that is estimated.
NOISE_SHARE = 0.05
#: How far the doubt of an instance tilts how soon it is asked: shares between 0.7 and 0.7 + 0.3 doubt / mean doubt.
TILT = 0.3


# What must be exceeded.


@dataclass(frozen=True, slots=True)
class Terms:
    """What one claim must show, for every pair, and the error it has for that.

    ``gap``: the claim is that one classifier is right on more than so many instances more. ``bet``: error of the bet.
    ``spent``: error that went elsewhere (to sampling, or to the limit of the number of wrong labels); the two sum to
    the error of the claim.
    """

    gap: Floats
    bet: float
    spent: float


def terms(question: Question, disagreements: NDArray[np.int64]) -> Terms:
    """Return the gap that a claim must show for its target.

    ``"sample"``: 0. ``"population"``: what sampling shows with half the error if the claim is false (the bet has the
    other half). ``"overlap"``: two score intervals of proportions k1 and k2 of n do not overlap if and only if
    k2 - k1 > z (s(k1) + s(k2)), s(k)^2 = k (n - k) / n + z^2 / 4. The true k are within the number of wrong labels of
    the apparent ones; s is taken at its largest there. That number is limited by the noise if it is known, else by the
    audit itself, else not at all.
    """
    tail = question.tail
    if question.target == "sample":
        return Terms(np.zeros(question.n_pairs), tail, 0.0)
    if question.target == "population":
        return Terms(sampling_gap(disagreements, tail / 2).astype(np.float64), tail / 2, tail / 2)
    wrong, spent = wrong_labels(question, NOISE_SHARE * tail)
    first, second = question.sides()
    gap = overlap_gap(first.successes, second.successes, question.data.n, wrong, question.level)
    return Terms(gap, tail - spent, spent)


def overlap_gap(first: ArrayLike, second: ArrayLike, n: int, wrong: int, level: float) -> Floats:
    """Gap of right predictions above which two score intervals cannot overlap on right labels.

    Parameters
    ----------
    first, second : array-like
        Predictions that the given labels call right, of ``n``.
    wrong : int
        At most so many labels are wrong.
    level : float
        Of the two intervals.

    Examples
    --------
    >>> [float(overlap_gap(9000, 9300, 12_000, wrong, 0.95).round(1)) for wrong in (0, 600)]
    [182.7, 194.3]
    """
    z = normal_quantile((1 + level) / 2)
    # s is largest at n / 2, and falls on both sides.
    nearest = [np.clip(n / 2, *(np.asarray(hits, np.float64) + d for d in (-wrong, wrong))) for hits in (first, second)]
    spreads = [np.sqrt(np.maximum(k * (n - k), 0) / n + z * z / 4) for k in nearest]
    return np.asarray(z * (spreads[0] + spreads[1]))


def wrong_labels(question: Question, error: float) -> tuple[int, float]:
    """Return how many labels can be wrong at most, and the error spent on saying so."""
    n = question.data.n
    if question.noise is not None:
        from demele.labels.budget import noise_budget

        budget = noise_budget(question.noise, question.data.labels, question.data.k, tail=error)
        return int(budget.wrong), 0.0 if budget.level is None else error
    if question.audit is None:
        return n, 0.0
    audit = question.audit
    correct = -(audit.labels != question.data.labels[audit.rows]).astype(np.float64)
    return -1 - Draws(correct, np.ones(correct.size), n, float(n), loss=1.0, gain=0.0).exceeds(error), error


# A fixed random audit, read in its order.


def sequential(question: Question) -> Outcomes:
    """Read the labels of a uniform audit in their order, and stop where they decide a pair.

    Parameters
    ----------
    question : Question
        On accuracy; ``audit`` is a uniform random sample of all rows, in the order in which they were drawn.

    Returns
    -------
    Outcomes
        Each claim errs with probability ``question.tail`` at most, whatever the label noise, however long the audit was
        and whatever made it stop. The interval is of the difference on these instances with right labels; for the
        population it is widened by what sampling may add. ``details``: ``labels_used`` (audited rows that the pair had
        to know, up to the decision), ``stopped_at`` (of all audited rows), ``wealth`` and ``wealth_of_established``
        (largest so far, of the bet on each claim), ``expected_labels`` (how many more of such rows the claim nearer to
        its end would need), ``required_gap``.

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
            f"audit: method 'sequential' needs a uniform random sample of all rows, got {got}; with a weighted one use "
            "method 'audited', or ask rows one at a time with SequentialComparison"
        )
    audit, notes = _in_order(audit, question.seed)
    question = replace(question, audit=audit)
    counts = question.counts()
    asked = terms(question, counts.disagreements)
    n, size = question.data.n, question.n_pairs
    given, truth = question.data.labels[audit.rows], audit.labels
    predictions = question.data.predictions[:, audit.rows]
    figures = np.zeros((size, len(_FIGURES)))
    for pair in range(size):
        first, second = predictions[question.established[pair]], predictions[question.candidate[pair]]
        before = _sign(first, second, given)
        figures[pair] = _read(
            first != second,
            before,
            _sign(first, second, truth) - before,
            _of(counts, pair),
            float(asked.gap[pair]),
            asked.bet,
        )
    result = dict(zip(_FIGURES, figures.T, strict=True))
    beyond = asked.gap if question.target == "population" else 0.0
    shown = [result[name] >= enough(asked.bet) for name in ("log_wealth", "log_wealth_of_established")]
    with np.errstate(over="ignore"):
        wealths = {name: np.exp(result[f"log_{name}"]) for name in ("wealth", "wealth_of_established")}
    return Outcomes(
        candidate=shown[0] & ~shown[1],
        established=shown[1] & ~shown[0],
        difference=result["difference"] / n,
        # By chance, rarely, the two limits may cross: then both are doubtful, and the interval holds both.
        low=(np.minimum(result["low"], result["high"]) - beyond) / n,
        high=(np.maximum(result["low"], result["high"]) + beyond) / n,
        method="betting, without replacement",
        kind="design",
        notes=notes,
        p_value=np.minimum(1.0, np.exp(-result["log_wealth"]) + asked.spent),
        assumptions=(
            "The audit is a uniform random sample of all rows, in the order drawn.",
            "Expert labels are right.",
        ),
        details={
            **{name: result[name].astype(np.int64) for name in ("labels_used", "stopped_at", "drawn_from")},
            **wealths,
            "expected_labels": result["expected_labels"],
            "required_gap": asked.gap,
        },
    )


def _in_order(audit: "CodedAudit", seed: int) -> tuple["CodedAudit", tuple[Note, ...]]:
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


_FIGURES = (
    "log_wealth",
    "log_wealth_of_established",
    "labels_used",
    "stopped_at",
    "drawn_from",
    "expected_labels",
    "difference",
    "low",
    "high",
)


def _read(
    apart: NDArray[np.bool_], before: Signs, scores: Signs, counts: tuple[int, int, int], gap: float, bet: float
) -> tuple[float, ...]:
    """Read the audited rows of one pair: ``apart`` says where the two disagree, ``before`` is s(given)."""
    lost, won, neither = counts
    forward = _uniform(apart, before, scores, stakes(lost, won, neither, gap))
    backward = _uniform(apart, -before, -scores, stakes(won, lost, neither, gap))
    wealths = [claim.draws.log_wealth(claim.stakes.threshold) for claim in (forward, backward)]
    used, stopped = int(apart.sum()), apart.size
    for claim, wealth in zip((forward, backward), wealths, strict=True):
        reached = np.flatnonzero(wealth >= enough(bet))
        if reached.size:
            used, stopped = int(reached[0]) + 1, int(claim.positions[reached[0]]) + 1
    leading = forward if won >= lost else backward
    every = Stakes(lost + won + neither, 0, False)
    estimate = _uniform(apart, before, scores, every).draws.estimate()
    return (
        *(claim.draws.evidence(claim.stakes.threshold) for claim in (forward, backward)),
        used,
        stopped,
        leading.stakes.size,
        leading.draws.expected(leading.stakes.threshold, bet),
        won - lost + estimate,
        won - lost + forward.draws.exceeds(bet) + 1,
        won - lost - backward.draws.exceeds(bet) - 1,
    )


@dataclass(frozen=True, slots=True)
class _Claim:
    """One claim on a pair: what it must exceed, the draws so far, and where each stands among all rows read."""

    stakes: Stakes
    draws: Draws
    positions: Rows


def _uniform(apart: NDArray[np.bool_], before: Signs, scores: Signs, at_stake: Stakes) -> _Claim:
    positions = np.flatnonzero(apart & (before >= 0) if at_stake.reduced else apart)
    size = float(at_stake.size)
    # With label = established left out, an instance gains 1 at most: its label is with neither.
    gain = 1.0 if at_stake.reduced else 2.0
    drawn = scores[positions].astype(np.float64)
    return _Claim(at_stake, Draws(drawn, np.ones(drawn.size), at_stake.size, size, loss=2.0, gain=gain), positions)


def _sign(first: Indices, second: Indices, labels: Indices) -> Signs:
    """s(l) = [second says l] - [first says l], where the two disagree or not."""
    signs: Signs = (second == labels).astype(np.int8) - (first == labels).astype(np.int8)
    return signs


def _of(counts: PairCounts, pair: int) -> tuple[int, int, int]:
    return int(counts.lost[pair]), int(counts.won[pair]), int(counts.neither[pair])


# Rows asked one at a time.


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
        Of the claims "candidate better" and "established better"; None where the rows asked cannot show it.
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
    first: Indices, second: Indices, labels: Indices, gap: float, clocks: Floats, doubt: Floats | None = None
) -> Plan:
    """Say which rows to ask of a pair, and in which order.

    Parameters
    ----------
    first, second, labels : arrays of shape (n,)
        Predictions of the established and of the candidate, given labels.
    gap : float
        What either claim must exceed.
    clocks : array of shape (n,)
        Independent standard exponential draws. The rows in the order of clock / weight are drawn without replacement,
        each with a probability proportional to its weight among those left. Several pairs may share the clocks, and
        with them many of the rows.
    doubt : array of shape (n,), optional
        Where labels are more likely to be wrong.

    Returns
    -------
    Plan

    Notes
    -----
    *Weights.* What is shown per draw is capped by the most that a row could lose per unit of its weight. With weights
    2 (label with one of the two) and 1 (with neither) all rows can lose as much per unit, and none is asked for less
    than it may reveal: labels without any error certify after about ln(1/alpha) / -ln(1 - g / (2 won + neither)) draws,
    against ln(1/alpha) / -ln(1 - g / (2 won + 2 neither)) uniform ones.

    *Doubt* makes errors turn up sooner, but lowers what the other rows show; it is worth it only where errors decide,
    that is where the rows asked are not reduced.
    """
    apart = np.flatnonzero(first != second)
    before = _sign(first[apart], second[apart], labels[apart])
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
    elif doubt is not None and apart.size and doubt[apart].mean() > 0:
        weights = weights * (1 - TILT + TILT * doubt[apart] / doubt[apart].mean())
    rows, before, weights = apart[kept], before[kept], weights[kept]
    order = np.lexsort((rows, clocks[rows] / weights))
    rows, before, weights = rows[order], before[order], weights[order]
    # Label with the candidate: the score is in {-2, -1, 0}; with the established: {0, 1, 2}; with neither: {-1, 0, 1}.
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


def sequential_many(
    labels: Indices,
    predictions: Indices,
    pairs: Rows,
    true_labels: Indices,
    *,
    alpha: float,
    target: Target = "overlap",
    level: float = 0.95,
    cap: int = 1000,
    wrong: int | None = None,
    doubt: Floats | None = None,
    start: Literal["always", "shown"] = "always",
    seed: int = 0,
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Simulate sequential comparisons of many ordered pairs, with true labels as the expert's answers.

    Parameters
    ----------
    labels, true_labels : arrays of shape (n,)
    predictions : array of shape (n_models, n)
    pairs : array of shape (n_pairs, 2)
        Established, candidate.
    alpha : float
        Error allowed to "candidate better".
    target : {"population", "sample", "overlap"}
        With ``"population"``, half of alpha each for the bet and for sampling.
    level : float
        For ``"overlap"``: of the two intervals.
    cap : int
        Labels asked of one pair, at most.
    wrong : int, optional
        For ``"overlap"``: at most so many labels are wrong; None knows nothing of it.
    doubt : array of shape (n,), optional
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
    from demele.core.labelled import Vocabulary

    n = labels.size
    classes = Vocabulary(tuple(range(int(max(labels.max(), predictions.max(), true_labels.max())) + 1)))
    data = Labelled(labels, predictions, tuple(str(j) for j in range(len(predictions))), classes)
    question = Question(data=data, established=pairs[:, 0], candidate=pairs[:, 1], level=level, target=target)
    counts = pair_counts(data, question.established, question.candidate)
    if target == "overlap":
        first, second = question.sides()
        gaps = overlap_gap(first.successes, second.successes, n, n if wrong is None else wrong, level)
    else:
        asked = terms(replace(question, level=1 - 2 * alpha), counts.disagreements)
        gaps, alpha = asked.gap, asked.bet
    small = predictions.astype(np.min_scalar_type(len(classes)))
    given, truth = labels.astype(small.dtype), true_labels.astype(small.dtype)
    clocks = rng_for(seed, "sequential", n).exponential(size=n)
    certified, used = np.zeros(len(pairs), dtype=bool), np.zeros(len(pairs), dtype=np.int64)
    promising = counts.won - counts.lost > np.floor(gaps)
    for index in np.flatnonzero(promising | (start == "always")):
        first, second = small[pairs[index, 0]], small[pairs[index, 1]]
        certified[index], used[index] = _simulated(
            plan(first, second, given, float(gaps[index]), clocks, doubt), first, second, truth, alpha, cap
        )
    return certified, used


def _simulated(made: Plan, first: Indices, second: Indices, truth: Indices, alpha: float, cap: int) -> tuple[bool, int]:
    claim = made.forward
    if claim is None or not made.rows.size:
        return False, 0
    rows = made.rows[:cap]
    scores = _sign(first[rows], second[rows], truth[rows]) - made.before[: rows.size]
    # Most pairs are decided early: the whole path is computed only for the others.
    for read in sorted({min(128, rows.size), rows.size}):
        draws = made.draws(scores[:read])
        shown = np.flatnonzero(draws.log_wealth(claim.threshold) >= enough(alpha))
        hopeless = np.flatnonzero(draws.mirrored().log_wealth(-claim.threshold) >= np.log(GIVE_UP))
        if shown.size or hopeless.size:
            ends = [int(found[0]) + 1 if found.size else read + 1 for found in (shown, hopeless)]
            return ends[0] <= ends[1], min(ends)
    return False, int(rows.size)


class SequentialComparison:
    """Compare two classifiers by asking an expert for one label at a time: the ones that decide most, and no more.

    Parameters
    ----------
    established, candidate : array-like of shape (n,)
        Their predicted classes on the same instances.
    labels : array-like of shape (n,)
        The given labels, some of which may be wrong.
    level : float in (0, 1)
        Two-sided: each claim is made wrongly with probability (1 - level) / 2 at most, whatever the label noise and
        whenever one stops.
    target : {"population", "sample", "overlap"}
        As in :func:`demele.evaluation.compare`.
    noise : float, TransitionMatrix or TransitionCounts, optional
        For ``"overlap"``: what is known of the noise. It limits how wide the intervals on right labels may be; without
        it they are taken as wide as can be.
    doubt : array-like of shape (n,), optional
        Numbers >= 0, larger where a label is more likely wrong, such as :func:`demele.labels.doubt` of a pool of other
        models. Errors then turn up sooner in close comparisons; no promise rests on it.
    classes : sequence, optional
        All classes; by default those of the labels.
    names : tuple of str
    cap : int, optional
        Labels to ask for at most.
    seed : int >= 0
        Of the random order of the rows: the same arguments give the same order. Choose it before looking at labels.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Rows on which the two agree are never asked. Where the given labels show a clear gap, neither are those whose label
    is with the trailing classifier: their errors could only help the claim. The others are drawn without replacement,
    twice as often if the label is with one of the two as if it is with neither, which is what a label can change.

    *What counts.* Answers may come in any order, and for any rows that are to be asked; evidence is counted in the
    order drawn, up to the first row without an answer. So answers that come easily cannot weigh more than those that
    are missing. The promise covers every moment of that order, hence any reason to stop.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 10, 2000)
    >>> old, new = (np.where(rng.random(2000) < p, truth, (truth + 1) % 10) for p in (0.80, 0.90))
    >>> labels = np.where(rng.random(2000) < 0.05, (truth + 2) % 10, truth)
    >>> comparison = SequentialComparison(old, new, labels, level=0.95)
    >>> while not comparison.done:
    ...     rows = comparison.ask(5)
    ...     comparison.tell(rows, truth[rows])
    >>> comparison.decision().verdict, comparison.labels_used
    ('candidate', 25)
    """

    def __init__(
        self,
        established: object,
        candidate: object,
        labels: object,
        *,
        level: float = 0.95,
        target: Target = "population",
        noise: "float | TransitionMatrix | TransitionCounts | None" = None,
        doubt: object = None,
        classes: Sequence[object] | None = None,
        names: tuple[str, str] = ("established", "candidate"),
        cap: int | None = None,
        seed: int = 0,
    ) -> None:
        from demele.evaluation.comparison.asking import classes_of, read_noise
        from demele.evaluation.comparison.compare import _names

        if target not in get_args(Target):
            raise InputError(f"target: expected one of {', '.join(get_args(Target))}, got {target!r}")
        first, second = _names(names)
        known = read_noise(noise)
        data = read_labelled({first: established, second: candidate}, labels, classes=classes_of(known, None, classes))
        self.cap = None if cap is None else _whole(cap, "cap", least=1)
        self.seed = _whole(seed, "seed", least=0)
        self._question = Question(
            data=data,
            established=np.array([0]),
            candidate=np.array([1]),
            level=checked_level(level),
            target=target,
            noise=known,
            seed=self.seed,
        )
        self._doubt = None if doubt is None else _read_doubt(doubt, data.n)
        self._counts = self._question.counts()
        self._terms = terms(self._question, self._counts.disagreements)
        clocks = rng_for(self.seed, "sequential", data.n).exponential(size=data.n)
        self._plan = plan(
            data.predictions[0], data.predictions[1], data.labels, float(self._terms.gap[0]), clocks, self._doubt
        )
        self._position = np.full(data.n, -1, dtype=np.intp)
        self._position[self._plan.rows] = np.arange(self._plan.rows.size)
        #: Class index that the expert gave at each position of the order; -1 where there is none yet.
        self._answers = np.full(self._plan.rows.size, -1, dtype=np.int32)

    # What to ask, what was answered.

    def ask(self, k: int = 1) -> Rows:
        """Return the next rows to label, at most ``k``: those first in the order that have no answer yet.

        Asking again without an answer returns the same rows. Empty once :attr:`done`.
        """
        k = _whole(k, "k", least=1)
        if self.done:
            return np.zeros(0, dtype=np.intp)
        waiting = np.flatnonzero(self._answers[: self._limit] < 0)[:k]
        return self._plan.rows[waiting]

    def tell(self, rows: object, labels: object) -> None:
        """Take the expert's labels of some rows, in any order.

        Parameters
        ----------
        rows : int or array-like of int of shape (k,)
            Rows that :meth:`ask` returned, now or when the same comparison was made before.
        labels : class or array-like of shape (k,)
            Right labels of these rows.

        Raises
        ------
        InputError, InputTypeError
            If a row is none of those to ask, a label is no class, or a row is answered twice in different ways. Nothing
            is taken then.
        """
        asked = np.atleast_1d(as_column([rows] if np.isscalar(rows) else rows, "rows"))
        if asked.size == 0:
            return
        if asked.dtype.kind not in "iu" or asked.ndim != 1:
            raise InputTypeError(f"rows: expected row numbers, got {asked.dtype} of shape {asked.shape}")
        said = read_labels([labels] if np.isscalar(labels) else labels, "labels")
        if said.size != asked.size:
            raise InputError(f"labels: expected {asked.size}, one per row, got {said.size}")
        n = self._question.data.n
        outside = np.flatnonzero((asked < 0) | (asked >= n))
        if outside.size:
            raise InputError(f"rows: {outside.size} do not exist, first {asked[outside[0]]}; rows are 0 to {n - 1}")
        positions = self._position[asked]
        idle = np.flatnonzero(positions < 0)
        if idle.size:
            raise InputError(
                f"rows: {idle.size} of {asked.size} are never asked, first {asked[idle[0]]}: the two classifiers agree "
                "there, or its label cannot hurt the claim; label the rows that ask() returns"
            )
        codes = self._question.data.vocabulary.encode(said, "labels")
        answers = self._answers.copy()
        for position, row, code in zip(positions, asked, codes, strict=True):
            if answers[position] not in (-1, code):
                before, now = (self._question.data.vocabulary.classes[k] for k in (answers[position], code))
                raise InputError(
                    f"labels: row {row} was answered {before!r} before, now {now!r}; an answer cannot be changed"
                )
            answers[position] = code
        self._answers = answers

    # What the answers show.

    @property
    def labels_used(self) -> int:
        """Answers that count: those before the first row of the order without one."""
        missing = np.flatnonzero(self._answers < 0)
        return int(missing[0]) if missing.size else int(self._answers.size)

    @property
    def wealth(self) -> dict[str, float]:
        """Largest wealth so far of the bet on each claim, 1 at the start; a claim is shown at 1 / its error."""
        with np.errstate(over="ignore"):
            return {claim: float(np.exp(log)) for claim, log in self._log_wealths().items()}

    @property
    def done(self) -> bool:
        """Whether nothing more is to be asked: decided, given up, ``cap`` reached, or no row left."""
        if self.labels_used >= self._limit:
            return True
        if any(log >= enough(self._terms.bet) for log in self._log_wealths().values()):
            return True
        return all(log >= np.log(GIVE_UP) for log in self._log_wealths(against=True).values())

    @property
    def expected_labels(self) -> float:
        """How many more labels it will take, if errors go on as seen so far; infinite if that would show nothing."""
        draws = self._draws()
        needed = [
            claim.expected(at_stake.threshold, self._terms.bet) for claim, at_stake in self._claims(draws).values()
        ]
        return min(needed, default=float("inf"))

    def decision(self) -> Decision:
        """Return what the answers so far show; undecided until a claim is shown."""
        from demele.evaluation.comparison.compare import decision
        from demele.evaluation.comparison.methods import METHODS

        return decision(
            METHODS["sequential"], self._question, self._outcomes(), 0, measure="accuracy", data=self._question.data
        )

    # Keeping it.

    def to_dict(self) -> dict[str, Any]:
        """Answers and settings, as plain values that JSON can hold; :meth:`resume` takes them back."""
        answered = np.flatnonzero(self._answers >= 0)
        classes = self._question.data.vocabulary.classes
        return {
            "kind": "sequential comparison",
            "digest": self._digest(),
            "level": self._question.level,
            "target": self._question.target,
            "seed": self.seed,
            "cap": self.cap,
            "rows": self._plan.rows[answered].tolist(),
            "labels": [classes[code] for code in self._answers[answered]],
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Take back the answers of :meth:`to_dict`, from the same comparison made before.

        Raises
        ------
        InputError
            If they come from other data or settings.
        """
        if state.get("digest") != self._digest():
            raise InputError(
                "state: comes from other predictions, labels or settings (level, target, noise, doubt, seed); "
                "make the comparison from the same ones"
            )
        if state["rows"]:
            self.tell(np.asarray(state["rows"]), state["labels"])

    def __repr__(self) -> str:
        first, second = self._question.data.names
        return (
            f"SequentialComparison({second!r} with {first!r}, {self.labels_used} of {self._plan.rows.size} labels, "
            f"done={self.done})"
        )

    @property
    def _limit(self) -> int:
        return int(self._plan.rows.size if self.cap is None else min(self.cap, self._plan.rows.size))

    def _draws(self) -> Draws:
        k = self.labels_used
        first, second = (predicted[self._plan.rows[:k]] for predicted in self._question.data.predictions)
        return self._plan.draws(_sign(first, second, self._answers[:k]) - self._plan.before[:k])

    def _claims(self, draws: Draws) -> dict[str, tuple[Draws, Stakes]]:
        claims = {}
        if self._plan.forward is not None:
            claims["candidate"] = (draws, self._plan.forward)
        if self._plan.backward is not None:
            claims["established"] = (draws.mirrored(), self._plan.backward)
        return claims

    def _log_wealths(self, *, against: bool = False) -> dict[str, float]:
        """Largest so far of the bet on each claim, or of the bet against it."""
        found = {}
        for name, (draws, at_stake) in self._claims(self._draws()).items():
            player, threshold = (draws.mirrored(), -at_stake.threshold) if against else (draws, at_stake.threshold)
            found[name] = player.evidence(threshold)
        return found

    def _outcomes(self) -> Outcomes:
        wealth, logs = self.wealth, self._log_wealths()
        lost, won, _ = _of(self._counts, 0)
        draws, bet, target = self._draws(), self._terms.bet, self._question.target
        low, high = won - lost + draws.exceeds(bet) + 1, won - lost - draws.mirrored().exceeds(bet) - 1
        # What was left out can only have moved the gap one way, by 2 per label.
        if self._plan.backward is None:
            high += 2 * lost
        if self._plan.forward is None:
            low -= 2 * won
        gap = float(self._terms.gap[0])
        beyond = gap if target == "population" else 0.0
        n = self._question.data.n
        reduced = self._plan.forward is None or self._plan.backward is None
        notes: tuple[Note, ...] = ()
        if reduced:
            trailing = self._question.data.names[0 if self._plan.backward is None else 1]
            notes = (
                Note(
                    code="one-sided",
                    message=f"labels that agree with {trailing!r} are not asked and counted as right: their errors "
                    "could only widen the difference",
                    severity="info",
                ),
            )
        used = self.labels_used
        shown = [claim for claim, log in logs.items() if log >= enough(bet)]
        return Outcomes(
            candidate=np.array([shown == ["candidate"]]),
            established=np.array([shown == ["established"]]),
            difference=np.array([(won - lost + draws.estimate()) / n]),
            # By chance, rarely, the two limits may cross: then both are doubtful, and the interval holds both.
            low=np.array([(min(low, high) - beyond) / n]),
            high=np.array([(max(low, high) + beyond) / n]),
            method="betting, without replacement",
            kind="design",
            p_value=np.array([min(1.0, np.exp(-logs.get("candidate", 0.0)) + self._terms.spent)]),
            assumptions=("Expert labels are right.", "The seed was chosen before any expert label was known."),
            notes=notes,
            details={
                "labels_used": used,
                "labels_answered": int(np.count_nonzero(self._answers >= 0)),
                "drawn_from": int(self._plan.rows.size),
                "wealth": wealth.get("candidate", 1.0),
                "wealth_of_established": wealth.get("established", 1.0),
                "wealth_needed": 1 / bet,
                "expected_labels": self.expected_labels,
                "required_gap": gap,
                "done": self.done,
            },
        )

    def _digest(self) -> str:
        data = self._question.data
        key = hashlib.blake2b(digest_size=12)
        for part in (data.labels, data.predictions, self._plan.rows.astype(np.int64), self._plan.weights):
            key.update(np.ascontiguousarray(part).tobytes())
        key.update(
            repr((data.vocabulary.classes, self._question.level, self._question.target, self._terms.gap)).encode()
        )
        return key.hexdigest()


def _whole(value: Any, argument: str, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{argument}: expected a whole number of at least {least}, got {value!r}")
    return int(value)


def _read_doubt(values: object, n: int) -> Floats:
    array = as_column(values, "doubt")
    if array.shape != (n,) or array.dtype.kind not in "biuf":
        raise InputError(f"doubt: expected {n} numbers, one per row, got shape {array.shape} of type {array.dtype}")
    array = array.astype(np.float64)
    odd = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if odd.size:
        raise InputError(f"doubt: expected finite numbers >= 0, got {odd.size} others, first at row {odd[0]}")
    return array
