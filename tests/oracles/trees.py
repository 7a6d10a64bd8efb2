"""Splits, impurities and penalised logistic regression by the definition, with loops and exact fractions."""

from collections.abc import Sequence
from fractions import Fraction
from math import exp, log

Numbers = Sequence[Fraction]


def sum_of_squares(values: Numbers) -> Fraction:
    """Number of values times their variance."""
    mean = sum(values, Fraction(0)) / len(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0))


def gini_times_size(classes: Sequence[int]) -> Fraction:
    """Number of rows times the chance that two of them, drawn with replacement, differ in class."""
    different = sum(1 for one in classes for other in classes if one != other)
    return Fraction(different, len(classes))


def impurity(target: Sequence[int], *, classes: bool) -> Fraction:
    return gini_times_size(target) if classes else sum_of_squares([Fraction(value) for value in target])


def decrease(left: Sequence[int], right: Sequence[int], *, classes: bool) -> Fraction:
    whole = [*left, *right]
    return impurity(whole, classes=classes) - impurity(left, classes=classes) - impurity(right, classes=classes)


def best_decrease(code: Sequence[float], target: Sequence[int], *, classes: bool) -> Fraction | None:
    """Largest decrease by a threshold on one code; None if the code is constant."""
    best: Fraction | None = None
    for threshold in sorted(set(code))[:-1]:
        left = [value for place, value in zip(code, target, strict=True) if place <= threshold]
        right = [value for place, value in zip(code, target, strict=True) if place > threshold]
        found = decrease(left, right, classes=classes)
        if best is None or found > best:
            best = found
    return best


def dense_ranks(values: Sequence[float]) -> list[int]:
    return [sum(1 for other in set(values) if other < value) for value in values]


def logistic_objective(
    x: Sequence[Sequence[float]], level: Sequence[int], weights: Sequence[Sequence[float]], penalty: float
) -> float:
    """Mean negative log-likelihood plus an L1 penalty; the last weight of a level is its intercept."""
    total = 0.0
    for row, right in zip(x, level, strict=True):
        logits = [sum(w * z for w, z in zip(line, [*row, 1.0], strict=True)) for line in weights]
        total += log(sum(exp(logit) for logit in logits)) - logits[right]
    return total / len(x) + penalty * sum(abs(w) for line in weights for w in line[:-1])


def l1_logistic(
    x: Sequence[Sequence[float]], level: Sequence[int], n_levels: int, penalty: float, steps: int
) -> list[list[float]]:
    """Proximal gradient descent, one small step after the other."""
    n_weights = len(x[0]) + 1
    weights = [[0.0] * n_weights for _ in range(n_levels)]
    # The curvature is at most half the mean squared length of a row (intercept included).
    rate = 2 / (sum(sum(z * z for z in row) + 1 for row in x) / len(x))
    for _ in range(steps):
        slopes = [[0.0] * n_weights for _ in range(n_levels)]
        for row, right in zip(x, level, strict=True):
            padded = [*row, 1.0]
            odds = [exp(sum(w * z for w, z in zip(line, padded, strict=True))) for line in weights]
            for c in range(n_levels):
                residual = odds[c] / sum(odds) - (1.0 if c == right else 0.0)
                for j, z in enumerate(padded):
                    slopes[c][j] += residual * z / len(x)
        for c in range(n_levels):
            for j in range(n_weights):
                moved = weights[c][j] - rate * slopes[c][j]
                shrink = rate * penalty if j < n_weights - 1 else 0.0
                weights[c][j] = max(abs(moved) - shrink, 0.0) * (1 if moved > 0 else -1)
    return weights
