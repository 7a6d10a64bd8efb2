"""Testing by betting on a finite population drawn without replacement: evidence that holds whenever one stops.

The bet in plain words: if the population's sum were at most a threshold, the next draw would on average be at most what
the threshold leaves for the instances not drawn yet. Betting a share of one's wealth on more than that is then a game
that is at best fair, so wealth reaches 1 / alpha with probability alpha at most, however long one plays and whatever
makes one stop (Ville's inequality). Several shares are played side by side, since none is best everywhere; the sum of
their wealths is the wealth of a fair game too.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from demele.core.arrays import Counts, Flags, Floats, Rows
from demele.core.proportions import exact_interval

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


def ratios(
    scores: Floats, weights: Floats, total_weight: float, threshold: float, *, loss: float, gain: float
) -> tuple[Floats, Flags]:
    """Return what each draw pays per unit of the largest stake, and whether the draws so far refute the hypothesis.

    Parameters
    ----------
    scores, weights : arrays of shape (..., k)
        Each draw took one of the instances left, with a probability proportional to its weight.
    total_weight : float
        Total weight of the whole population.
    loss, gain : float
        Every score of the population lies within [-loss * weight, gain * weight] of its instance.

    Returns
    -------
    paid : array of shape (..., k)
        At least -1, and on average at most 0 if the population sums to at most the threshold.
    refuted : array of bool
        The sum would exceed the threshold even if all instances left had their least score.

    Notes
    -----
    With S the sum before the draw and W the weight of the instances left, S + r W / w estimates the population's sum
    without bias, given all draws before (Horvitz and Thompson 1952). It is at least S - loss W, so that
    x = (S + r W / w - threshold) / (threshold - S + loss W) >= -1, of mean at most 0 under the hypothesis. Source, for
    equal weights: Waudby-Smith and Ramdas 2020, 2024 (betting without replacement).
    """
    after = np.cumsum(scores, axis=-1)
    left = total_weight - (np.cumsum(weights, axis=-1) - weights)
    room = threshold - (after - scores)
    stake = room + loss * left
    # No bet where the hypothesis is sure already (room >= gain left), nor where it allows the least scores only.
    playing = (stake > 0) & (room < gain * left)
    paid = np.where(playing, (scores * left / weights - room) / np.where(playing, stake, 1.0), 0.0)
    # Rounding must not look like a contradiction.
    slack = 1e-9 * (1.0 + abs(threshold) + loss * total_weight)
    refuted = np.logical_or.accumulate(threshold - after < -loss * (left - weights) - slack, axis=-1)
    return np.where(refuted, 0.0, np.maximum(paid, -1.0)), refuted


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
        once the draws alone contradict the hypothesis. With the money m_f on the share f: sum over f of m_f prod
        (1 + f paid). Cost: O(19 k).

        Examples
        --------
        Do one hundred scores sum to -40 or less? Not if the first 32 of them are 0, or so one would bet at 1000 to 1:

        >>> evidence = Draws(np.zeros(40), np.ones(40), 100, 100.0, loss=2.0, gain=2.0).log_wealth(-40)
        >>> int(np.argmax(evidence >= np.log(1000))) + 1
        32
        """
        paid, refuted = ratios(self.scores, self.weights, self.total_weight, threshold, loss=self.loss, gain=self.gain)
        return np.where(refuted, np.inf, mixed(paid))

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
        least, most = math.floor(-self.loss * self.total_weight) - 1, math.ceil(self.gain * self.total_weight)
        return int(
            largest(lambda sum_: self.evidence(sum_) >= -math.log(alpha), least, most if self.scores.size else least)
        )

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
    found: Floats = size * exact_interval(lost, np.broadcast_to(size, lost.shape), level=1 - 2 * tail)[1] - lost
    return found


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
