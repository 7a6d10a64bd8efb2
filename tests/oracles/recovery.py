"""Recovery of factors by single codes and by linear maps, from the definitions."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tests.oracles.univariate import squared_correlation

Matrix = list[list[float]]


def rank(values: Sequence[float]) -> list[float]:
    """Mean place of each value among all."""
    return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]


def correlation_ratio(code: Sequence[float], classes: Sequence[object]) -> float:
    mean = math.fsum(code) / len(code)
    between = 0.0
    for one in set(classes):
        own = [z for z, v in zip(code, classes, strict=True) if v == one]
        between += len(own) * (math.fsum(own) / len(own) - mean) ** 2
    return math.sqrt(between / math.fsum((z - mean) ** 2 for z in code))


def mcc(codes: Sequence[Sequence[float]], factors: Sequence[Sequence[object]], *, ranks: bool = False) -> float:
    """All one-to-one pairs of columns are tried; factors of words are categorical."""
    matrix: Matrix = []
    for code in codes:
        z = rank(list(code)) if ranks else list(code)
        row = []
        for factor in factors:
            if isinstance(factor[0], str):
                row.append(correlation_ratio(z, factor))
            else:
                numbers = [float(str(value)) for value in factor]
                row.append(math.sqrt(squared_correlation(z, rank(numbers) if ranks else numbers)))
        matrix.append(row)
    d, m = len(codes), len(factors)
    places = [*range(d), *[-1] * m]  # -1: no code
    best = max(
        math.fsum(matrix[j][i] for i, j in enumerate(pairs) if j >= 0)
        for pairs in set(itertools.permutations(places, m))
    )
    return best / m


def canonical_correlations(first: NDArray[np.float64], second: NDArray[np.float64]) -> list[float]:
    """Roots of the eigenvalues of S11^-1 S12 S22^-1 S21."""
    d = first.shape[1]
    covariance = np.cov(np.hstack([first, second]), rowvar=False)
    own, across, other = covariance[:d, :d], covariance[:d, d:], covariance[d:, d:]
    product = np.linalg.solve(own, across) @ np.linalg.solve(other, across.T)
    found = sorted(np.sqrt(np.maximum(np.linalg.eigvals(product).real, 0.0)), reverse=True)
    return [float(value) for value in found[: min(d, second.shape[1])]]


def explained_share(codes: NDArray[np.float64], values: Sequence[object]) -> float:
    """Least squares of a number, or of the indicators of words."""
    kinds = sorted(set(values), key=str) if isinstance(values[0], str) else []
    wanted = np.array([[value == one for one in kinds] if kinds else [value] for value in values], dtype=float)
    design = np.column_stack([np.ones(len(codes)), codes])
    rest = wanted - design @ np.linalg.lstsq(design, wanted, rcond=None)[0]
    return float(1 - (rest**2).sum() / ((wanted - wanted.mean(axis=0)) ** 2).sum())
