"""Means of areas and of curves over images, with their intervals: on labels believed, and on labels that err."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.labelled import Indices
from demele.core.proportions import score_interval
from demele.evaluation.explanations.courses import Course
from demele.evaluation.measures.bias_bounds import correct_bounds
from demele.evaluation.measures.confusion import confusion_counts
from demele.evaluation.measures.correction import union_interval, worst_case_interval
from demele.noise.budget import NoiseBudget, noise_budget

Floats = NDArray[np.float64]
#: Both ends of an interval, or of many.
Ends = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class KnownNoise:
    """What is known of wrong labels.

    Attributes
    ----------
    labels : array of int32 of shape (n,)
        Given classes.
    k : int
        Number of classes.
    budget : NoiseBudget
        How many may be wrong.
    inner : float
        Level of the sampling intervals: what the budget's own confidence leaves.
    """

    labels: Indices
    k: int
    budget: NoiseBudget
    inner: float

    @classmethod
    def of(cls, noise: Any, labels: Indices, k: int, level: float) -> "KnownNoise":
        """Bound the wrong labels; half the error is spent on that, where they are bounded with some confidence only."""
        tail = (1 - level) / 2
        budget = noise_budget(noise, labels, k, tail=tail)
        return cls(labels, k, budget, level if budget.level is None else 1 - tail)

    def at(self, level: float) -> "KnownNoise":
        """Return the same for intervals at another level, such as that of several which hold together."""
        share = 1 - level
        return KnownNoise(self.labels, self.k, self.budget, 1 - share if self.budget.level is None else 1 - share / 2)


def t_factor(n: int, level: float) -> float:
    """Return the quantile of Student's distribution that an interval at this level is made with."""
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, n - 1))


def mean_interval(values: Floats, level: float) -> tuple[Floats, Ends]:
    """Return means over the first axis, and Student's interval of each.

    Examples
    --------
    >>> mean, (low, high) = mean_interval(np.array([0.0, 1.0, 2.0]), 0.95)
    >>> float(mean), round(float(low), 3), round(float(high), 3)
    (1.0, -1.484, 3.484)
    """
    n = len(values)
    mean = values.mean(axis=0)
    half = t_factor(n, level) * values.std(axis=0, ddof=1) / math.sqrt(n)
    return mean, (mean - half, mean + half)


# On labels that may be wrong -----------------------------------------------------------------------------------------


def area_payoffs(run: Course, k: int) -> Floats:
    """Return the area of each image for every label that it could have: shape (n, k).

    With label y, it is 1 if y is predicted of the whole image, minus the share of steps at which y is predicted.
    """
    return _is_class(run.predicted[0, :, 0], k) - predicted_shares(run, k)


def predicted_shares(run: Course, k: int) -> Floats:
    """Return how often each class is predicted of each image, over steps and runs: shape (n, k)."""
    runs, n, steps = run.predicted.shape
    places = np.arange(n)[:, None] * k + run.predicted.transpose(1, 0, 2).reshape(n, -1)
    shares: Floats = np.bincount(places.ravel(), minlength=n * k).reshape(n, k) / (runs * steps)
    return shares


def _is_class(classes: Indices, k: int) -> Floats:
    return np.asarray(classes[:, None] == np.arange(k), dtype=np.float64)


def bounded_mean(payoffs: Floats, known: KnownNoise) -> tuple[tuple[float, float], tuple[float, float]]:
    """Bound the mean of what depends on the label of each image, where so many labels may be wrong.

    Parameters
    ----------
    payoffs : array of shape (n, k)
        The value of each image, for every label that it could have.
    known : KnownNoise

    Returns
    -------
    mean : (float, float)
        Lowest and highest on these images: the labels that would lower (raise) it most are the wrong ones.
    interval : (float, float)
        Holds Student's interval on any possible true labels: around both means, with the largest possible standard
        deviation. The sum of squared distances to the observed mean bounds the one to any other.
    """
    n = len(payoffs)
    given = payoffs[np.arange(n), known.labels]
    centre = given.mean()

    def farthest(changes: Floats) -> float:
        return float(np.sort(changes)[::-1][: known.budget.wrong].sum())

    lowest = centre - farthest(given - payoffs.min(axis=1)) / n
    highest = centre + farthest(payoffs.max(axis=1) - given) / n
    squares = (payoffs - centre) ** 2
    own = (given - centre) ** 2
    deviation = math.sqrt((own.sum() + farthest(squares.max(axis=1) - own)) / (n - 1))
    half = t_factor(n, known.inner) * deviation / math.sqrt(n)
    return (lowest, highest), (lowest - half, highest + half)


def accuracy_curve(run: Course, labels: Indices, level: float) -> Ends:
    """Return score intervals of the accuracy after each step; those of several runs are averaged."""
    hits = (run.predicted == labels[:, None]).sum(axis=1)
    low, high = score_interval(hits, np.full(hits.shape, len(labels)), level=level)
    return low.mean(axis=0), high.mean(axis=0)


def corrected_curve(run: Course, known: KnownNoise) -> Ends:
    """Return the interval of the correct accuracy after each step, as :func:`demele.evaluation.assess` makes it."""
    runs, _, points = run.predicted.shape
    ends = [
        [_corrected_accuracy(run.predicted[number, :, point], known) for point in range(points)]
        for number in range(runs)
    ]
    low, high = np.moveaxis(np.asarray(ends), 2, 0)
    return low.mean(axis=0), high.mean(axis=0)


def _corrected_accuracy(predicted: Indices, known: KnownNoise) -> tuple[float, float]:
    table = confusion_counts(known.labels, predicted, known.k)
    right, n = float(np.trace(table)), len(predicted)
    lowest, highest = correct_bounds("accuracy", table, known.budget)
    shifted = union_interval(*score_interval(right, n, level=known.inner), right / n - highest, right / n - lowest)
    worst = worst_case_interval("accuracy", table, known.budget, level=known.inner)
    low, high = min(float(shifted[0]), float(worst[0])), max(float(shifted[1]), float(worst[1]))
    return max(low, 0.0), min(high, 1.0)
