"""Nearest-neighbour mutual information by looking at every pair of samples, from the definitions."""

import math
from collections.abc import Sequence

EULER = 0.5772156649015328606


def digamma(n: int) -> float:
    """Of a positive integer: the harmonic number of n - 1, minus Euler's constant."""
    return math.fsum(1.0 / i for i in range(1, n)) - EULER


def kth_smallest(distances: list[float], k: int) -> float:
    return sorted(distances)[k - 1]


def closer(distances: list[float], limit: float) -> int:
    """How many lie strictly inside the limit; at a limit of zero, how many lie on the spot."""
    if limit == 0.0:
        return sum(distance == 0.0 for distance in distances)
    return sum(distance < limit for distance in distances)


def ross(code: Sequence[float], labels: Sequence[int], k: int) -> float:
    kept = [i for i, label in enumerate(labels) if sum(label == other for other in labels) > 1]
    if not kept:
        return math.nan
    total = 0.0
    for i in kept:
        alike = [abs(code[j] - code[i]) for j in kept if labels[j] == labels[i] and j != i]
        k_here = min(k, len(alike))
        limit = kth_smallest(alike, k_here)
        m = closer([abs(code[j] - code[i]) for j in kept], limit)
        total += digamma(k_here) - digamma(len(alike) + 1) - digamma(m)
    return digamma(len(kept)) + total / len(kept)


def ksg(x: Sequence[float], y: Sequence[float], k: int) -> float:
    n = len(x)
    total = 0.0
    for i in range(n):
        others = [j for j in range(n) if j != i]
        limit = kth_smallest([max(abs(x[j] - x[i]), abs(y[j] - y[i])) for j in others], k)
        for values in (x, y):
            total += digamma(closer([abs(values[j] - values[i]) for j in range(n)], limit))
    return digamma(n) + digamma(k) - total / n
