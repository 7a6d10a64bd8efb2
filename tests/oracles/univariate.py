"""Univariate predictors one sample at a time, from the definitions."""

import math
from collections.abc import Callable, Sequence


def squared_correlation(code: Sequence[float], values: Sequence[float]) -> float:
    n = len(code)
    mean_code, mean_value = math.fsum(code) / n, math.fsum(values) / n
    across = math.fsum((z - mean_code) * (v - mean_value) for z, v in zip(code, values, strict=True))
    along_code = math.fsum((z - mean_code) ** 2 for z in code)
    along_value = math.fsum((v - mean_value) ** 2 for v in values)
    return across**2 / (along_code * along_value)


def root(increasing: Callable[[float], float]) -> float:
    """Where an increasing function crosses zero, by bisection."""
    low, high = -1.0, 1.0
    while increasing(low) > 0:
        low *= 2
    while increasing(high) < 0:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        if increasing(middle) > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def svc_line(code: Sequence[float], signs: Sequence[int], costs: Sequence[float]) -> tuple[float, float]:
    """Slope and intercept: the best intercept of each slope inside, the best slope outside."""

    def gradient(slope: float, intercept: float) -> tuple[float, float]:
        by_slope, by_intercept = slope, intercept
        for z, y, cost in zip(code, signs, costs, strict=True):
            short = max(0.0, 1.0 - y * (slope * z + intercept))
            by_slope -= 2 * cost * y * z * short
            by_intercept -= 2 * cost * y * short
        return by_slope, by_intercept

    def best_intercept(slope: float) -> float:
        return root(lambda intercept: gradient(slope, intercept)[1])

    slope = root(lambda w: gradient(w, best_intercept(w))[0])
    return slope, best_intercept(slope)


def svc_lines(
    code: Sequence[float], labels: Sequence[int], *, cost: float, balanced: bool
) -> dict[int, tuple[float, float]]:
    """The line of each class: two classes share one problem, more have one each."""
    classes = sorted(set(labels))
    weight = {c: len(labels) / (len(classes) * list(labels).count(c)) if balanced else 1.0 for c in classes}
    if len(classes) == 2:
        signs = [1 if label == classes[1] else -1 for label in labels]
        return {
            classes[0]: (0.0, 0.0),
            classes[1]: svc_line(code, signs, [cost * weight[label] for label in labels]),
        }
    lines = {}
    for c in classes:
        signs = [1 if label == c else -1 for label in labels]
        lines[c] = svc_line(code, signs, [cost * weight[c] if label == c else cost for label in labels])
    return lines


def accuracy(lines: dict[int, tuple[float, float]], code: Sequence[float], labels: Sequence[int]) -> float:
    right = 0
    for z, label in zip(code, labels, strict=True):
        heights = {c: slope * z + intercept for c, (slope, intercept) in lines.items()}
        best = max(heights.values())
        right += label == min(c for c, height in heights.items() if height == best)
    return right / len(labels)
