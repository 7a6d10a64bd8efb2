"""Logistic regressions and ROC areas, from their definitions and with loops."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def balanced_weights(labels: Sequence[int]) -> list[float]:
    """n / (number of classes present * size of the own class)."""
    present = sorted(set(labels))
    return [len(labels) / (len(present) * list(labels).count(label)) for label in labels]


def binary_objective(
    w: Sequence[float], b: float, X: Floats, positive: Sequence[bool], s: Sequence[float], C: float
) -> float:
    """0.5 |w|^2 + C sum_i s_i log(1 + exp(-y_i m_i))."""
    total = 0.5 * sum(value * value for value in w)
    for row, is_positive, weight in zip(X, positive, s, strict=True):
        margin = b + sum(value * x for value, x in zip(w, row, strict=True))
        signed = margin if is_positive else -margin
        total += C * weight * (math.log1p(math.exp(-signed)) if signed > 0 else math.log1p(math.exp(signed)) - signed)
    return total


def binary_gradient(
    w: Sequence[float], b: float, X: Floats, positive: Sequence[bool], s: Sequence[float], C: float
) -> list[float]:
    """Derivatives of `binary_objective` by w, then by b."""
    gradient = [*(float(value) for value in w), 0.0]
    for row, is_positive, weight in zip(X, positive, s, strict=True):
        margin = b + sum(value * x for value, x in zip(w, row, strict=True))
        probability = 1 / (1 + math.exp(-margin)) if margin > 0 else math.exp(margin) / (1 + math.exp(margin))
        residual = C * weight * (probability - (1.0 if is_positive else 0.0))
        for j, x in enumerate(row):
            gradient[j] += residual * x
        gradient[-1] += residual
    return gradient


def softmax_gradient(W: Floats, b: Floats, X: Floats, labels: Sequence[int], s: Sequence[float], C: float) -> Floats:
    """Derivatives of 0.5 |W|^2 - C sum_i s_i log softmax(W x_i + b)_{y_i}, by W and in the last column by b."""
    gradient = np.zeros((len(W), W.shape[1] + 1))
    for k in range(len(W)):
        for j in range(W.shape[1]):
            gradient[k, j] = W[k, j]
    for row, label, weight in zip(X, labels, s, strict=True):
        scores = [float(b[k]) + sum(W[k, j] * row[j] for j in range(len(row))) for k in range(len(W))]
        highest = max(scores)
        total = sum(math.exp(score - highest) for score in scores)
        for k, score in enumerate(scores):
            residual = C * weight * (math.exp(score - highest) / total - (1.0 if k == label else 0.0))
            for j, x in enumerate(row):
                gradient[k, j] += residual * x
            gradient[k, -1] += residual
    return gradient


def auc(scores: Sequence[float], positive: Sequence[bool]) -> float:
    """Share of (positive, negative) pairs that the scores order rightly, ties one half; NaN without such a pair."""
    own = [score for score, is_positive in zip(scores, positive, strict=True) if is_positive]
    rest = [score for score, is_positive in zip(scores, positive, strict=True) if not is_positive]
    if not own or not rest:
        return math.nan
    won = sum(1.0 if a > b else 0.5 if a == b else 0.0 for a in own for b in rest)
    return won / (len(own) * len(rest))


def sigmoid_shares(scores: Floats) -> Floats:
    """Per row, sigmoids divided by their sum."""
    shares = np.empty_like(scores)
    for i, row in enumerate(scores):
        sigmoids = [1 / (1 + math.exp(-score)) for score in row]
        for k, value in enumerate(sigmoids):
            shares[i, k] = value / sum(sigmoids)
    return shares
