"""Groups of samples and what the Z metrics make of them, from their definitions and with loops."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def groups_by_value(bins: Sequence[int]) -> list[list[int]]:
    """Rows that share a value, two or more of them, by increasing value; -1 is no value."""
    found: dict[int, list[int]] = {}
    for row, value in enumerate(bins):
        if value >= 0:
            found.setdefault(int(value), []).append(row)
    return [found[value] for value in sorted(found) if len(found[value]) >= 2]


def groups_by_others(factor_bins: Ints, i: int) -> list[list[int]]:
    """Rows that share the values of all factors but i, two or more of them."""
    found: dict[tuple[int, ...], list[int]] = {}
    for row, values in enumerate(factor_bins):
        others = tuple(int(value) for j, value in enumerate(values) if j != i)
        if all(value >= 0 for value in others):
            found.setdefault(others, []).append(row)
    return [found[others] for others in sorted(found) if len(found[others]) >= 2]


def variance(values: Sequence[float]) -> float:
    """Mean squared distance to the mean."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / len(values)


def relative_variances(codes: Floats, rows: Sequence[int]) -> list[float]:
    """Variance among some rows over variance among all, per code."""
    return [variance([codes[row, j] for row in rows]) / variance(list(codes[:, j])) for j in range(codes.shape[1])]


def pair_probabilities(bins: Sequence[int]) -> dict[tuple[int, int], float]:
    """Chance of each unordered pair: the first uniform among rows in a group, the second among its others."""
    groups = groups_by_value(bins)
    usable = sum(len(group) for group in groups)
    return {
        pair: 2 / (usable * (len(group) - 1)) for group in groups for pair in itertools.combinations(sorted(group), 2)
    }


def expected_difference(codes: Floats, bins: Sequence[int]) -> list[float]:
    """Mean over the pairs of |z_a - z_b| / standard deviation, per code."""
    pairs = pair_probabilities(bins)
    return [
        sum(chance * abs(codes[a, j] - codes[b, j]) for (a, b), chance in pairs.items())
        / math.sqrt(variance(list(codes[:, j])))
        for j in range(codes.shape[1])
    ]


def majority_vote_accuracy(train: Sequence[tuple[int, int]], test: Sequence[tuple[int, int]], M: int) -> float:
    """Each code stands for the factor it was named for most often (the first on ties)."""
    factors = [factor for _, factor in train]
    overall = max(range(M), key=lambda factor: (factors.count(factor), -factor))
    right = 0
    for code, factor in test:
        own = [f for c, f in train if c == code]
        guess = max(range(M), key=lambda f: (own.count(f), -f)) if own else overall
        right += guess == factor
    return right / len(test)
