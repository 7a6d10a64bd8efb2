"""Annotators held near one number each, their accuracy: the one-coin model, and Dawid and Skene's shrunken to it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demele.labels.joined.answer_counts import AnswerCounts, posterior

Floats = NDArray[np.float64]

#: Pseudo-answers of every annotator at the accuracy that all have together.
POOLED = 2.0


@dataclass(frozen=True, slots=True)
class Shrunken:
    """Where the iterations ended: ``posterior`` (K, n), ``proportions`` (K,), ``accuracies`` (n_annotators,)."""

    posterior: Floats
    proportions: Floats
    accuracies: Floats
    log_likelihood: float
    iterations: int
    change: float
    converged: bool | None


def shrunken_fit(
    answers: AnswerCounts, start: Floats, *, strength: float | None, max_iterations: int, tolerance: float
) -> Shrunken:
    """Iterate from posteriors of shape (K, n) until none moves by more than ``tolerance``.

    Parameters
    ----------
    start : array of shape (K, n)
    strength : float or None
        Pseudo-answers with which each row of an annotator's profile is drawn to the annotator's one coin; None is the
        one-coin model itself, in which nothing but the coin is left.
    tolerance : float
        0 runs all iterations.
    """
    found, converged = start, None if tolerance == 0 else False
    proportions, accuracies, log_profiles = _estimates(answers, found, strength)
    change, done = np.inf, 0
    while converged is not True and done < max_iterations:
        following, _ = posterior(answers, proportions, log_profiles)
        change = float(np.abs(following - found).max())
        found = following
        proportions, accuracies, log_profiles = _estimates(answers, found, strength)
        done += 1
        converged = change <= tolerance if tolerance else None
    _, log_likelihood = posterior(answers, proportions, log_profiles)
    return Shrunken(found, proportions, accuracies, log_likelihood, done, change, converged)


def coins(answers: AnswerCounts, counts: Floats) -> Floats:
    """Return the accuracy of each annotator, drawn to that of all together by two pseudo-answers.

    With r of n answers expected right, P = (sum r + 1) / (sum n + 2): (r + 2P) / (n + 2), strictly between 0 and 1.

    Parameters
    ----------
    counts : array of shape (n_columns, K)
        Expected number of answers of each column about each class.
    """
    if answers.k == 1:  # nothing but right answers
        return np.ones(answers.first.size)
    columns = np.arange(answers.who.size)
    size = answers.first.size
    right = np.bincount(answers.who, weights=counts[columns, answers.what], minlength=size)
    all_answers = np.bincount(answers.who, weights=counts.sum(axis=1), minlength=size)
    pooled = (right.sum() + 1) / (all_answers.sum() + 2)
    return np.asarray((right + POOLED * pooled) / (all_answers + POOLED))


def _estimates(answers: AnswerCounts, found: Floats, strength: float | None) -> tuple[Floats, Floats, Floats]:
    """Return proportions (K,), accuracies (n_annotators,) and log profiles (n_columns, K)."""
    counts = np.asarray(answers.transposed @ found.T)
    k, n = found.shape
    accuracies = coins(answers, counts)
    # Of each column: the coin of its annotator says it of the class that it names, and of any other.
    profiles = np.repeat(((1 - accuracies) / max(k - 1, 1))[answers.who][:, None], k, axis=1)
    profiles[np.arange(answers.who.size), answers.what] = accuracies[answers.who]
    if strength is not None:
        # Answers that an annotator never gave have counts of 0, so that the sum of what was given is that of all.
        sums = np.add.reduceat(counts, answers.first, axis=0)[answers.who] + strength
        profiles = (counts + strength * profiles) / sums
    proportions = (found.sum(axis=1) + 1) / (n + k)
    return proportions, accuracies, np.log(profiles)
