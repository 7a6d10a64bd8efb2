"""Ranges of ranks, and tiers of systems, from all pairs that differ significantly."""

import itertools
from typing import TypeVar

import numpy as np

from demele.core.arrays import Flags, Rows

T = TypeVar("T")
#: Up to so many models, pages list every pair.
MOST_MODELS = 50


def rank_ranges(better: Flags) -> tuple[Rows, Rows]:
    """Return the best and the worst rank of each model, from who is shown to be better, with what follows from it.

    Parameters
    ----------
    better : array of bool, shape (n_models, n_models)
        ``better[i, j]``: j is shown to be better than i.
    """
    return 1 + better.sum(axis=1), better.shape[0] - better.sum(axis=0)


def tiers(names: tuple[T, ...], better: Flags) -> tuple[tuple[T, ...], ...]:
    """Cut an order into parts: one ends before the first model that is shown to be worse than the part's first."""
    starts = [0]
    for place in range(1, len(names)):
        if better[place, starts[-1]]:
            starts.append(place)
    return tuple(names[start:end] for start, end in itertools.pairwise([*starts, len(names)]))


def implied(better: Flags) -> Flags:
    """Add what claims imply: if j is better than i and k better than j, then k is better than i (Warshall 1962).

    The true order is transitive, so what follows from true claims is true: nothing is paid for it. Claims that
    contradict each other, in a circle, are dropped.
    """
    known = better.copy()
    for middle in range(known.shape[0]):
        known[known[:, middle]] |= known[middle]
    return np.asarray(known & ~known.T)


def rank_text(best: int, worst: int) -> str:
    """Write the ranks that a model may have.

    Examples
    --------
    >>> rank_text(1, 1), rank_text(2, 4)
    ('1', '2-4')
    """
    return str(best) if best == worst else f"{best}-{worst}"
