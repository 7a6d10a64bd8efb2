"""Interventional robustness by the definition: dictionaries, loops over rows, one weight for each row."""

from collections import defaultdict
from collections.abc import Sequence
from math import inf, nan, sqrt

Rows = Sequence[Sequence[float]]
Bins = Sequence[Sequence[int]]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def standard_deviation(values: Sequence[float]) -> float:
    centre = mean(values)
    return sqrt(mean([(value - centre) ** 2 for value in values]))


def quantile(values: Sequence[float], q: float) -> float:
    """Linear interpolation between the two nearest ranks."""
    ordered = sorted(values)
    position = q * (len(ordered) - 1)
    below = min(int(position), len(ordered) - 1)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def distance_quantile(values: Sequence[float], q: float) -> float:
    centre = mean(values)
    return quantile([abs(value - centre) for value in values], q)


def crossed_matrix(codes: Rows, bins: Bins, *, uniform: bool = False, q: float = 1.0) -> list[list[float]]:
    matrix = []
    for j in range(len(codes[0])):
        line = []
        for i in range(len(bins[0])):
            groups: dict[int, list[float]] = defaultdict(list)
            for code, row in zip(codes, bins, strict=True):
                if row[i] != -1:
                    groups[row[i]].append(code[j])
            annotated = [value for group in groups.values() for value in group]
            column = [code[j] for code in codes]
            if not annotated or min(annotated) == max(annotated) or distance_quantile(column, q) == 0:
                line.append(nan)
                continue
            within = 0.0
            for group in groups.values():
                weight = 1 / len(groups) if uniform else len(group) / len(annotated)
                within += weight * distance_quantile(group, q)
            overall = distance_quantile(annotated, q)
            line.append(1 - within / overall if overall > 0 else nan)
        matrix.append(line)
    return matrix


def vector_norm(vector: Sequence[float], order: float) -> float:
    if order == inf:
        return max(abs(x) for x in vector)
    return float(sum(abs(x) ** order for x in vector) ** (1 / order))


def intervened_mean(
    values: Sequence[float],
    situations: Sequence[tuple[int, ...]],
    settings: Sequence[tuple[int, ...]],
    rests: Sequence[tuple[int, ...]],
    situation: tuple[int, ...],
    setting: tuple[int, ...],
) -> tuple[float, float]:
    """E[z | situation, do(setting)] by weighing rows, and the share of p(rest | situation) that is covered."""
    rows = range(len(values))
    same = [n for n in rows if situations[n] == situation]
    cell = [n for n in same if settings[n] == setting]
    numerator = denominator = 0.0
    for n in cell:
        natural = sum(rests[m] == rests[n] for m in same) / len(same)
        observed = sum(rests[m] == rests[n] for m in cell) / len(cell)
        numerator += values[n] * natural / observed
        denominator += natural / observed
    covered = {rests[n] for n in cell}
    return numerator / denominator, sum(rests[m] in covered for m in same) / len(same)


def empida(
    codes: Rows,
    situations: Sequence[tuple[int, ...]],
    settings: Sequence[tuple[int, ...]],
    rests: Sequence[tuple[int, ...]],
    order: float,
) -> float:
    columns = list(zip(*codes, strict=True))
    deviations = [standard_deviation(column) if min(column) < max(column) else 0.0 for column in columns]
    total = 0.0
    for situation in set(situations):
        rows = [n for n in range(len(codes)) if situations[n] == situation]
        worst = 0.0
        for setting in {settings[n] for n in rows}:
            shift = []
            for column, deviation in zip(columns, deviations, strict=True):
                if deviation == 0:
                    shift.append(0.0)
                    continue
                plain = mean([column[n] for n in rows])
                adjusted, _ = intervened_mean(column, situations, settings, rests, situation, setting)
                shift.append((plain - adjusted) / deviation)
            worst = max(worst, vector_norm(shift, order))
        total += len(rows) / len(codes) * worst
    return total


def general_irs(codes: Rows, interest: Bins, nuisance: Bins, rest: Bins, order: float = 2) -> float:
    situations = [tuple(row) for row in interest]
    settings = [tuple(row) for row in nuisance]
    rests = [tuple(row) for row in rest]
    nothing: list[tuple[int, ...]] = [()] * len(codes)
    everything = [a + b + c for a, b, c in zip(situations, settings, rests, strict=True)]
    whole = empida(codes, nothing, everything, nothing, order)
    return 1 - empida(codes, situations, settings, rests, order) / whole if whole > 1e-9 else nan
