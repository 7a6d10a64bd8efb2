"""The answers as EM counts them: a sparse table of items by what annotators answered; and the posterior."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.labels.joined.annotations import Annotations

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """The answers about the items that have any.

    ``responses`` (n, n_columns) and ``transposed`` (n_columns, n) count answers, both by rows; column c is annotator
    ``who[c]`` answering ``what[c]``. The columns of annotator w are those from ``first[w]`` on, and ``n_own[w]`` is how
    many they are. ``answered`` holds the places of the n items among all.
    """

    answered: NDArray[np.intp]
    responses: Any
    transposed: Any
    who: NDArray[np.intp]
    what: NDArray[np.intp]
    first: NDArray[np.intp]
    n_own: Floats
    k: int


def answer_counts(table: Annotations) -> AnswerCounts:
    """Count the answers of a table."""
    found = table.responses()
    answered = np.unique(table.item).astype(np.intp)
    kept = found.counts if answered.size == table.n_items else found.counts[answered]
    # Columns come sorted by annotator, and everybody has at least one.
    first = np.searchsorted(found.who, np.arange(table.n_annotators))
    n_own = np.bincount(found.who, minlength=table.n_annotators).astype(np.float64)
    return AnswerCounts(
        answered, kept.tocsr(), kept.T.tocsr(), found.who, found.what, first.astype(np.intp), n_own, table.k
    )


def posterior(answers: AnswerCounts, proportions: Floats, log_profiles: Floats) -> tuple[Floats, float]:
    """Return the posterior of the classes (K, n) and the log likelihood.

    Parameters
    ----------
    proportions : array of shape (K,)
    log_profiles : array of shape (n_columns, K)
        Log probability of the answer of each column about an item of class k: finite. Only a class without a vote may
        have a proportion of 0, and a score of -inf; at least one class of each item has a finite score.
    """
    scores = np.ascontiguousarray((answers.responses @ log_profiles).T)
    with np.errstate(divide="ignore"):
        scores += np.log(proportions)[:, None]
    top = scores.max(axis=0)
    scores -= top
    np.exp(scores, out=scores)
    sums = scores.sum(axis=0)
    scores /= sums
    return scores, float((top + np.log(sums)).sum())
