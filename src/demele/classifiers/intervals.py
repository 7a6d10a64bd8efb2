"""Intervals and bets behind comparisons: overlap of two intervals, bounds of rare sums, draws without replacement."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from demele.core.arrays import Counts, Floats, Rows
from demele.core.kinds import checked_level, checked_number
from demele.core.proportions import exact_interval, normal_quantile


def overlap_level(z: float, *, deviation_ratio: float = 1.0, correlation: float = 0.0) -> float:
    """Level at which two intervals that just touch differ: stricter than the level of each.

    Parameters
    ----------
    z : float > 0
        Quantile that both intervals are made with, such as 1.96.
    deviation_ratio : float > 0
        Ratio of the standard deviations of the two estimates.
    correlation : float in (-1, 1)
        Correlation of the two estimates.

    Returns
    -------
    float
        In (0, 1): 1 - 2 Phi(-z (1 + rho) / sqrt(1 - 2 gamma rho + rho^2)).

    Raises
    ------
    InputError
        If the ratio is not positive, or the correlation not between -1 and 1.

    Notes
    -----
    Source: Knol et al. 2011; Benjelloun, eq. 6.34.

    Examples
    --------
    >>> round(overlap_level(1.96), 4)
    0.9944
    """
    from scipy.special import ndtr

    quantile = checked_number(z, "z", "a number", inside=lambda given: given == given)
    return float(1 - 2 * ndtr(-quantile * _overlap_factor(deviation_ratio, correlation)))


def overlap_quantile(level: float, *, deviation_ratio: float = 1.0, correlation: float = 0.0) -> float:
    """Return the quantile with which two intervals that just touch differ at a given level.

    Parameters
    ----------
    level : float in (0, 1)
        Wanted level of the comparison.
    deviation_ratio, correlation : float
        As in :func:`overlap_level`.

    Returns
    -------
    float
        Positive; 1.96 for each interval of two would be stricter than 95%.

    Raises
    ------
    InputError
        If a number is out of its range.

    Examples
    --------
    >>> round(overlap_quantile(0.95), 4)
    1.3859
    """
    return normal_quantile((1 + checked_level(level)) / 2) / _overlap_factor(deviation_ratio, correlation)


def overlap_gap(first: ArrayLike, second: ArrayLike, n: int, *, wrong: ArrayLike = 0, level: float = 0.95) -> Floats:
    """Gap of successes above which the score intervals of two proportions of ``n`` do not overlap.

    Parameters
    ----------
    first, second : array-like
        Successes, in [0, n].
    n : int
        Trials of either.
    wrong : array-like of int
        Each of the two numbers of successes may be off by so much: the gap is then large enough for all of them.
    level : float in (0, 1)
        Level of the two intervals.

    Returns
    -------
    array
        Positive. Without a number that is off, the intervals overlap if and only if second - first is not above it.

    Raises
    ------
    InputError
        If the level is not between 0 and 1.

    Notes
    -----
    The lower end of k2 of n is above the upper end of k1 of n if and only if k2 - k1 > z (s(k1) + s(k2)), where
    s(k)^2 = k (n - k) / n + z^2 / 4: both ends have the same denominator n + z^2, and their centres the same shift.

    Examples
    --------
    >>> [float(overlap_gap(9000, 9300, 12_000, wrong=wrong).round(1)) for wrong in (0, 600)]
    [182.7, 194.3]
    """
    off = np.asarray(wrong, dtype=np.float64)
    reaches = [overlap_reach(hits - off, hits + off, n, level=level) for hits in map(np.asarray, (first, second))]
    return reaches[0] + reaches[1]


def overlap_reach(low: ArrayLike, high: ArrayLike, trials: ArrayLike, *, level: float = 0.95) -> Floats:
    """Return what one score interval adds to :func:`overlap_gap`, at most, if its successes are within limits.

    Parameters
    ----------
    low, high : array-like
        Limits of the successes; need not be whole.
    trials : array-like
        NaN where there is no trial.
    level : float in (0, 1)

    Returns
    -------
    array
        z s(k), largest at the k nearest to half of the trials.

    Raises
    ------
    InputError
        If the level is not between 0 and 1.

    Examples
    --------
    >>> overlap_reach([9000, 8400], [9000, 9600], 12_000).round(1)
    array([93. , 98.4])
    """
    z = normal_quantile((1 + checked_level(level)) / 2)
    n = np.asarray(trials, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        k = np.clip(n / 2, low, high)
        return np.asarray(z * np.sqrt(k * (n - k) / n + z * z / 4))


def _overlap_factor(deviation_ratio: float, correlation: float) -> float:
    checked_number(deviation_ratio, "deviation_ratio", "a positive number", inside=lambda ratio: 0 < ratio < math.inf)
    checked_number(correlation, "correlation", "a number between -1 and 1", inside=lambda share: -1 < share < 1)
    return (1 + deviation_ratio) / math.sqrt(1 - 2 * correlation * deviation_ratio + deviation_ratio**2)


# Bounds of a sum of rare amounts >= 0 over many rows, from a random sample of the rows --------------------------------


@dataclass(frozen=True, slots=True)
class SampledSum:
    """What a sample shows of sums of amounts >= 0; arrays of the same shape.

    Attributes
    ----------
    total : array
        Sum of w a over the sampled rows, with a the amount of a row and w = 1 / its probability to be drawn.
    variance : array
        Sum of w (w - 1) a^2: of the total, if rows are drawn independently.
    squares : array
        Sum of w a^2: estimates the sum of the squared amounts of all rows.
    """

    total: Floats
    variance: Floats
    squares: Floats

    @classmethod
    def of(cls, amounts: ArrayLike, weights: ArrayLike, *, spare: float = 1.0) -> "SampledSum":
        """Sum over the last axis: amounts of shape (..., k), weights of shape (k,).

        ``spare`` enlarges the variance, where numbers were fitted to the same sample.
        """
        a, w = np.asarray(amounts, dtype=np.float64), np.asarray(weights, dtype=np.float64)
        squared = a**2
        return cls(a @ w, spare * (squared @ (w * (w - 1))), squared @ w)


def upper_bound(seen: SampledSum, weight: ArrayLike, amount: ArrayLike, tail: ArrayLike) -> Floats:
    """Upper bound of a sum of rare amounts, allowing for those that the sample did not meet.

    Parameters
    ----------
    weight, amount : arrays
        Guard: one row that was not drawn and has an amount >= 0, with the weight >= 1 that it would have been drawn
        with. A weight of 1 is that of rows that are drawn surely: then nothing is unseen.
    tail : float or array in (0, 0.5]
        Error of the bound.

    Returns
    -------
    array
        At least the total.

    Notes
    -----
    Of m rows with an amount, x are drawn, each with probability p: x is binomial, and so is the bound. With y, v, q the
    total, variance and squares, each with the guard's w y + w L, v + w (w - 1) L^2, q + w L^2:

        size = q / y,  p = 1 / (1 + v / (y size)),  a = y p / size,  bound = size (a - 1 + b),  I_p(a, b) = 1 - tail

    with I the regularised incomplete beta function. For equal weights 1/p and equal amounts, a = x + 1 and the bound is
    that of Clopper and Pearson (1934) for m, given x and p. For p -> 0 it is the gamma bound of Fay and Feuer (1997),
    which takes x for a Poisson count: with equal weights that fails up to 20% of the time where 2.5% are allowed.

    Examples
    --------
    No error met where every row was drawn with probability 0.7; three met:

    >>> weights = np.full(3, 1 / 0.7)
    >>> upper_bound(SampledSum.of([[0, 0, 0], [1, 1, 1]], weights), 1 / 0.7, 1.0, 0.025).round(2)
    array([3.06, 9.01])
    """
    from scipy.special import btdtria

    # What is drawn surely leaves nothing unseen.
    weight, amount = np.asarray(weight), np.where(np.asarray(weight) > 1, amount, 0.0)
    y = seen.total + weight * amount
    v = seen.variance + weight * (weight - 1) * amount**2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = (seen.squares + weight * amount**2) / y
        odds = v / (y * size)
        a = y / size / (1 + odds)
        # I_p(a, b) = 1 - tail is I_(1 - p)(b, a) = tail, which keeps small tails; 1 - p = odds / (1 + odds).
        b = btdtria(tail, a, odds / (1 + odds))
        high = size * (a - 1 + b)
    return np.where((amount <= 0) & (seen.variance <= 0), seen.total, np.maximum(high, seen.total))


def lower_bound(seen: SampledSum, tail: ArrayLike) -> Floats:
    """Lower bound of a sum of rare amounts.

    Parameters
    ----------
    tail : float or array in (0, 0.5]
        Error of the bound.

    Returns
    -------
    array
        At most the total. 0 where none was met.

    Notes
    -----
    Source: Fay and Feuer 1997: the quantile of the gamma distribution with mean y and variance v. The sum of the
    amounts met, without weights, is a lower bound too, and a certain one: callers that know it take the larger.

    Examples
    --------
    >>> lower_bound(SampledSum.of([[0, 0, 0], [1, 1, 1]], np.full(3, 2.0)), 0.025).round(2)
    array([0. , 2.2])
    """
    from scipy.special import gammaincinv

    y, v = seen.total, seen.variance
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(y > 0, v / y * gammaincinv(y * y / v, tail), 0.0)
    return np.where(v <= 0, y, low)


# Testing by betting on a finite population drawn without replacement --------------------------------------------------

# The bet in plain words: if the population's sum were at most a threshold, the next draw would on average be at most
# what the threshold leaves for the instances not drawn yet. Betting a share of one's wealth on more than that is then a
# game that is at best fair, so wealth reaches 1 / alpha with probability alpha at most, however long one plays and
# whatever makes one stop (Ville's inequality). Several shares are played side by side, since none is best everywhere;
# the sum of their wealths is the wealth of a fair game too.

#: Shares of the largest stake that cannot be lost whole, played side by side. The money on each is proportional to the
#: share: labels are mostly right, and a bold bet is best where no error turns up.
FRACTIONS: Floats = np.linspace(0.05, 0.95, 19)
_LOG_MONEY: Floats = np.log(FRACTIONS / FRACTIONS.sum())


def largest(holds: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """Return the largest whole numbers at which claims hold, by bisection, place by place.

    Each claim holds up to some number: that is at least ``low``, which is not asked about, and less than ``high``.

    Examples
    --------
    >>> largest(lambda number: number**2 <= np.array([10, 30]), np.array([0, 0]), np.array([9, 9]))
    array([3, 5])
    """
    while np.any(high - low > 1):
        middle = (low + high) // 2
        held = holds(middle)
        low, high = np.where(held, middle, low), np.where(held, high, middle)
    return low


def mixed(paid: Floats) -> Floats:
    """Logarithm of the wealth of all shares together, after each draw: (..., k) to (..., k)."""
    return summed(np.cumsum(np.log1p(paid[..., None] * FRACTIONS), axis=-2))


def summed(logs: Floats) -> Floats:
    """Logarithm of the wealth of all shares together, from that of each: (..., 19) to (...,)."""
    each = logs + _LOG_MONEY
    largest = each.max(axis=-1)
    with np.errstate(under="ignore"):
        return np.asarray(largest + np.log(np.exp(each - largest[..., None]).sum(axis=-1)))


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Scores drawn from one population so far, and what is known of the others before they are drawn.

    Attributes
    ----------
    scores, weights : arrays of shape (k,)
        In the order drawn, without replacement, each with a probability proportional to its weight among those left.
    size : int
        Number of instances of the population.
    total_weight : float
        Their weights' sum.
    loss, gain : float
        Every score of the population lies within [-loss * weight, gain * weight] of its instance.
    """

    scores: Floats
    weights: Floats
    size: int
    total_weight: float
    loss: float
    gain: float

    def mirrored(self) -> "Draws":
        """Return the same draws with the scores' sign changed."""
        return Draws(-self.scores, self.weights, self.size, self.total_weight, self.gain, self.loss)

    def log_wealth(self, threshold: float) -> Floats:
        """Evidence after each draw against "the population sums to at most the threshold": the logarithm of the wealth.

        Under the hypothesis, the probability that it ever reaches ln(1 / alpha) is at most alpha (Ville 1939); infinite
        once the draws alone contradict the hypothesis: the sum would exceed the threshold even if all instances left
        had their least score.

        Notes
        -----
        With S the sum before the draw and W the weight of the instances left, S + r W / w estimates the population's
        sum without bias, given all draws before (Horvitz and Thompson 1952). It is at least S - loss W, so that
        x = (S + r W / w - threshold) / (threshold - S + loss W) >= -1, of mean at most 0 under the hypothesis: what
        the draw pays per unit of the largest stake. Of money m_f on share f: the sum of m_f prod (1 + f x) over f.
        Cost: O(19 k). Source, for equal weights: Waudby-Smith and Ramdas 2020, 2024 (betting without replacement).

        Examples
        --------
        Do one hundred scores sum to -40 or less? Not if the first 32 of them are 0, or so one would bet at 1000 to 1:

        >>> evidence = Draws(np.zeros(40), np.ones(40), 100, 100.0, loss=2.0, gain=2.0).log_wealth(-40)
        >>> int(np.argmax(evidence >= np.log(1000))) + 1
        32
        """
        scores, weights, total, loss = self.scores, self.weights, self.total_weight, self.loss
        after = np.cumsum(scores, axis=-1)
        left = total - (np.cumsum(weights, axis=-1) - weights)
        room = threshold - (after - scores)
        stake = room + loss * left
        # No bet where the hypothesis is sure already (room >= gain left), nor where it allows the least scores only.
        playing = (stake > 0) & (room < self.gain * left)
        paid = np.where(playing, (scores * left / weights - room) / np.where(playing, stake, 1.0), 0.0)
        # Rounding must not look like a contradiction.
        slack = 1e-9 * (1.0 + abs(threshold) + loss * total)
        refuted = np.logical_or.accumulate(threshold - after < -loss * (left - weights) - slack, axis=-1)
        return np.where(refuted, np.inf, mixed(np.where(refuted, 0.0, np.maximum(paid, -1.0))))

    def evidence(self, threshold: float) -> float:
        """Return the largest log wealth so far for "the sum exceeds the threshold"; 0 if the draws now rule that out.

        What was shown by chance is taken back once it is certainly false; that can only lower the error.
        """
        left = max(self.total_weight - float(self.weights.sum()), 0.0)
        if float(self.scores.sum()) + self.gain * left <= threshold + 1e-9 * (1.0 + self.gain * self.total_weight):
            return 0.0
        return float(self.log_wealth(threshold).max(initial=0.0))

    def estimate(self) -> float:
        """Estimate the population's sum: those drawn, and for the others the mean score per weight; 0 before the first.

        Exact once all are drawn, and without bias if the weights are equal.
        """
        if not self.scores.size:
            return 0.0
        left = max(self.total_weight - float(self.weights.sum()), 0.0)
        return float(self.scores.sum() + left * np.mean(self.scores / self.weights))

    def exceeds(self, alpha: float) -> int:
        """Return the largest whole number that the population's sum exceeds, with an error of alpha, at any time.

        The sum must be whole. It is at least this number plus 1 with probability 1 - alpha, whenever one stops. The
        wealth falls as the threshold rises, so bisection finds the number.
        """
        least = math.floor(-self.loss * self.total_weight) - 1
        most = math.ceil(self.gain * self.total_weight) if self.scores.size else least
        return int(largest(lambda sum_: self.evidence(sum_) >= -math.log(alpha), least, most))

    def expected(self, threshold: float, alpha: float) -> float:
        """Labels still needed if the draws so far are repeated to the end of the population.

        With no draw yet, no score but 0 is expected. 0 if the wealth has reached 1 / alpha, infinite if it never would.
        Cost: O(19 size).

        Examples
        --------
        >>> start = Draws(np.zeros(0), np.zeros(0), 100, 100.0, loss=2.0, gain=2.0)
        >>> start.expected(-40, 0.001)
        32.0
        >>> Draws(np.zeros(10), np.ones(10), 100, 100.0, loss=2.0, gain=2.0).expected(-40, 0.001)
        22.0
        >>> Draws(np.zeros(0), np.zeros(0), 0, 0.0, loss=2.0, gain=2.0).expected(-40, 0.001)
        inf
        """
        if not self.size:
            return math.inf
        scores, weights = self.scores, self.weights
        if not scores.size:
            scores, weights = np.zeros(1), np.full(1, self.total_weight / self.size)
        scores, weights = np.resize(scores, self.size), np.resize(weights, self.size)
        room = np.cumsum(weights) <= self.total_weight * (1 + 1e-9)
        path = replace(self, scores=scores[room], weights=weights[room]).log_wealth(threshold)
        reached = np.flatnonzero(path >= -math.log(alpha))
        return max(float(reached[0] + 1 - self.scores.size), 0.0) if reached.size else math.inf


@dataclass(frozen=True, slots=True)
class Stakes:
    """On which instances a claim is tested, and what their scores must exceed.

    The claim holds if the scores of the instances drawn from sum to more than ``threshold``, a whole number;
    ``reduced`` says that those whose given label is with the baseline classifier were left out.
    """

    size: int
    threshold: int
    reduced: bool


def stakes(lost: int, won: int, neither: int, tau: float) -> Stakes:
    """Choose the instances to draw from for "the candidate is right on more than ``tau`` instances more".

    Parameters
    ----------
    lost, won, neither : int
        Instances on which the two disagree: label with the baseline, with the candidate, with neither.
    tau : float
        Gap of right predictions that the candidate must exceed.

    Returns
    -------
    Stakes
        Score of an instance: r = s(true) - s(given), s(l) = [candidate says l] - [baseline says l].

    Notes
    -----
    The candidate's gap on true labels is won - lost + sum of r over all disagreements, a whole number; so the claim is:
    the sum of r is more than -g, with g = won - lost - floor(tau).

    *Why the instances with label = baseline may be left out.* There s(given) = -1, the least that s can be, hence r >=
    0: an error of the label can only help the candidate. The sum over all disagreements is therefore at least the sum
    over those left in. If the former were at most -g, so would be the latter; evidence against "the sum over those left
    in is at most -g" is evidence against "the sum over all is at most -g". The cost is power only: gains that would
    have balanced losses. It pays off when g is large compared with the possible losses, here above 0.2 of the instances
    left in. The choice looks at given labels and predictions, never at the labels drawn.

    Examples
    --------
    >>> stakes(100, 300, 50, tau=40)
    Stakes(size=350, threshold=-160, reduced=True)
    >>> stakes(200, 300, 50, tau=40)
    Stakes(size=550, threshold=-60, reduced=False)
    """
    gap = won - lost - int(np.floor(tau))
    reduced = gap > 0.2 * (won + neither)
    return Stakes(won + neither if reduced else lost + won + neither, -gap, bool(reduced))


def sampling_gap(disagreements: ArrayLike, tail: float) -> Counts:
    """Gap of right predictions that chance shows with probability ``tail`` at most if the candidate is not better.

    Parameters
    ----------
    disagreements : array-like of int
        Number d of instances on which the two classifiers disagree.
    tail : float in (0, 0.5]

    Returns
    -------
    array of int64
        Least t such that a sum of d independent steps of -1, 0 or 1, none with a positive mean, exceeds t with
        probability ``tail`` at most: about z sqrt(d).

    Notes
    -----
    A step with a negative mean is stochastically below one with mean 0, and each step of 0 leaves a sum of fewer steps
    of +-1. Among sums of the same parity more steps reach further (the binomial is unimodal), so the two largest
    numbers of steps, d and d - 1, are the worst; both are computed exactly.

    Examples
    --------
    >>> sampling_gap([0, 5, 1000], 0.025)
    array([ 0,  5, 62])
    """
    from scipy.stats import binom

    d = np.asarray(disagreements, dtype=np.int64)
    reach = [np.where(steps > 0, 2 * binom.isf(tail, np.maximum(steps, 1), 0.5) - steps, 0) for steps in (d, d - 1)]
    return np.maximum(np.maximum(*reach), 0).astype(np.int64)


def unseen_losses(disagreements: ArrayLike, gap: ArrayLike, n: ArrayLike, tail: float) -> Floats:
    """How many more instances like those lost a population may have than a test set shows, scaled to its size.

    Parameters
    ----------
    disagreements : array-like of int
        Number d of the n instances on which the two classifiers disagree.
    gap : array-like
        Right predictions that one of them leads by, in [-d, d]; the other is then right on (d - gap) / 2.
    tail : float in (0, 0.5]

    Returns
    -------
    array
        >= 0. Distance from these (d - gap) / 2 to their upper limit of Clopper and Pearson. With no disagreement it is
        the n (1 - tail^(1 / n)), about 3.7 at a tail of 0.025, that a test set cannot rule out.

    Examples
    --------
    >>> unseen_losses([0, 1, 1], [0, 1, -1], 2000, 0.025).round(2)
    array([3.69, 3.69, 4.57])
    """
    d = np.asarray(disagreements, dtype=np.float64)
    lost = np.clip((d - np.asarray(gap, dtype=np.float64)) / 2, 0, d)
    size = np.asarray(n, dtype=np.float64)
    return np.asarray(size * exact_interval(lost, np.broadcast_to(size, lost.shape), level=1 - 2 * tail)[1] - lost)


# Bounded scores, where all rows have a given score --------------------------------------------------------------------

#: The slope of true on given scores before the first draw, and how many draws it counts as.
FIRST_SLOPE, FIRST_DRAWS = 0.8, 10


def score_wealth(given: Floats, rows: Rows, true: Floats, threshold: float) -> Floats:
    """Evidence, draw after draw, against "the mean true score is at most the threshold".

    Parameters
    ----------
    given : array of shape (n,)
        Given scores of all rows, in [0, 1].
    rows, true : arrays of shape (k,)
        Rows in the order in which they were drawn, uniformly without replacement, and their true scores in [0, 1].
    threshold : float

    Returns
    -------
    array of shape (k,)
        Natural logarithm of the wealth; infinite once the draws alone contradict the hypothesis.

    Notes
    -----
    Draw j pays y = t - l (s - mean s of the rows left), whose mean given the past is that of the true scores left. The
    slope l looks at earlier draws only, so that the bet is fair for any (Ville 1939).

    Examples
    --------
    >>> given = np.ones(100)
    >>> score_wealth(given, np.arange(40), np.ones(40), 0.8)[[9, 39]].round(3)
    array([1.699, 9.76 ])
    """
    n, k = given.size, rows.size
    s = given[rows]
    before = np.arange(k)
    left = n - before
    s_left = (given.sum() - (np.cumsum(s) - s)) / left
    mean = (n * threshold - (np.cumsum(true) - true)) / left
    spread = FIRST_DRAWS * float(given.var())

    def centred(x: Floats, y: Floats) -> Floats:
        """Sum of centred products over the earlier draws."""
        sums = np.cumsum(np.stack([x * y, x, y]), axis=1) - np.stack([x * y, x, y])
        return np.asarray(sums[0] - sums[1] * sums[2] / np.maximum(before, 1))

    size = np.maximum(centred(s, s), 0) + spread
    slope = np.clip((centred(s, true) + spread * FIRST_SLOPE) / np.where(size > 0, size, 1.0), 0, 1)
    stake = mean + slope * (given.max() - s_left)
    playing = (mean < 1) & (stake > 0)
    paid = np.where(playing, (true - slope * (s - s_left) - mean) / np.where(playing, stake, 1.0), 0.0)
    refuted = np.logical_or.accumulate((n * threshold - np.cumsum(true)) < -1e-9 * n)
    return np.where(refuted, np.inf, mixed(np.maximum(paid, -1.0)))


def exact_mean_ends(given: Floats, rows: Rows, true: Floats, tail: float) -> tuple[float, float]:
    """Return the interval of mean true scores that the draws do not refute, each side with an error of ``tail``.

    Examples
    --------
    >>> low, high = exact_mean_ends(np.ones(100), np.arange(40), np.ones(40), 0.025)
    >>> round(low, 3), round(high, 3)
    (0.91, 1.0)
    """
    ends = []
    for s, t in ((given, true), (1 - given, 1 - true)):
        refuted, open_ = -1e-9, 1.0
        for _ in range(50):
            middle = (refuted + open_) / 2
            if score_wealth(s, rows, t, middle).max() >= -math.log(tail):
                refuted = middle
            else:
                open_ = middle
        ends.append(max(refuted, 0.0))
    return ends[0], 1 - ends[1]
