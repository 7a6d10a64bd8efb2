"""Effects of factors on codes by the definitions: dictionaries, and loops over rows and pairs of rows."""

from collections import defaultdict
from collections.abc import Sequence
from math import fsum, sqrt

Rows = Sequence[Sequence[float]]
Levels = Sequence[Sequence[int]]


def mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def variance(values: Sequence[float], divisor: float | None = None) -> float:
    centre = mean(values)
    return fsum((value - centre) ** 2 for value in values) / (len(values) if divisor is None else divisor)


def cells_of_others(levels: Levels, factor: int) -> list[list[int]]:
    """Rows that agree on all factors but one, where there are two or more."""
    found: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row, own in enumerate(levels):
        found[tuple(level for index, level in enumerate(own) if index != factor)].append(row)
    return [rows for rows in found.values() if len(rows) > 1]


def total_effects(codes: Rows, levels: Levels, *, unbiased: bool) -> list[list[float]]:
    """Pooled variance within the cells of the other factors, over the variance of all rows; (codes, factors)."""
    matrix = []
    for j in range(len(codes[0])):
        line = []
        for i in range(len(levels[0])):
            cells = cells_of_others(levels, i)
            within = fsum(variance([codes[row][j] for row in rows], 1) for rows in cells)
            freedom = sum(len(rows) - unbiased for rows in cells)
            line.append(within / freedom / variance([code[j] for code in codes]))
        matrix.append(line)
    return matrix


def correlation_effects(codes: Rows, levels: Levels) -> list[list[float]]:
    """1 - |correlation| over all ordered pairs of rows that differ in one factor alone; (codes, factors)."""
    matrix = []
    for j in range(len(codes[0])):
        line = []
        for i in range(len(levels[0])):
            pairs = [
                (codes[a][j], codes[b][j])
                for rows in cells_of_others(levels, i)
                for a in rows
                for b in rows
                if levels[a][i] != levels[b][i]
            ]
            first, second = ([pair[side] for pair in pairs] for side in (0, 1))
            centre, other = mean(first), mean(second)
            product = mean([(x - centre) * (y - other) for x, y in pairs])
            line.append(1 - abs(product) / sqrt(variance(first) * variance(second)))
        matrix.append(line)
    return matrix


def omes(effect: Rows, alpha: float, *, largest: bool) -> list[float]:
    """Score of each factor from effects (codes, factors), as the paper's two penalties have it."""
    d, m = len(effect), len(effect[0])
    scores = []
    for i in range(m):
        overlap = [1 - mean([abs((k == i) - effect[j][k]) for k in range(m)]) for j in range(d)]
        encoding = [1 - mean([abs((other == j) - effect[other][i]) for other in range(d)]) for j in range(d)]
        parts = []
        for quality in (overlap, encoding):
            products = [quality[j] * effect[j][i] for j in range(d)]
            weight = fsum(effect[j][i] for j in range(d))
            weighted = fsum(products[j] * effect[j][i] for j in range(d)) / weight
            parts.append(max(products) if largest else weighted)
        scores.append(alpha * parts[0] + (1 - alpha) * parts[1])
    return scores
