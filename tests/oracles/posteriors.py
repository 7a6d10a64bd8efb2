"""What stochastic codes tell of their rows, at given draws: densities multiplied and summed one by one."""

from collections.abc import Sequence
from math import exp, log, pi, sqrt

Rows = Sequence[Sequence[float]]


def normal(z: float, mean: float, deviation: float) -> float:
    return exp(-0.5 * ((z - mean) / deviation) ** 2) / (deviation * sqrt(2 * pi))


def density(z: Sequence[float], means: Rows, deviations: Rows, codes: Sequence[int]) -> float:
    """Density of some codes under the mean of the posteriors of all rows."""
    total = 0.0
    for mean, deviation in zip(means, deviations, strict=True):
        product = 1.0
        for j in codes:
            product *= normal(z[j], mean[j], deviation[j])
        total += product
    return total / len(means)


def log_densities(z: Sequence[float], means: Rows, deviations: Rows) -> tuple[float, list[float], list[float]]:
    """Logarithms of the densities of all codes, of each, and of all but each."""
    d = len(z)
    each = [log(density(z, means, deviations, [j])) for j in range(d)]
    others = [log(density(z, means, deviations, [k for k in range(d) if k != j])) for j in range(d)]
    return log(density(z, means, deviations, list(range(d)))), each, others
