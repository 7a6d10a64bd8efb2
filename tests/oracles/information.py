"""Information-based metrics in plain loops, written from their definitions. Columns are lists; nats throughout."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence

Column = Sequence[float]
Labels = Sequence[int]
Matrix = list[list[float]]


# Discretising ------------------------------------------------------------------------------------------------------


def equal_width(column: Column, bins: int) -> list[int]:
    """Number of the bin of each value: ``bins`` equal parts of [min, max], the last one closed."""
    low, high = min(column), max(column)
    if low == high:
        return [0] * len(column)
    labels = []
    for value in column:
        label = math.floor((value - low) / (high - low) * bins)
        labels.append(min(label, bins - 1))
    return labels


# Entropy and information -------------------------------------------------------------------------------------------


def entropy(labels: Sequence[object]) -> float:
    """Plug-in entropy."""
    n = len(labels)
    return -sum(count / n * math.log(count / n) for count in Counter(labels).values())


def joint_entropy(a: Labels, b: Labels) -> float:
    """Plug-in entropy of pairs."""
    return entropy(list(zip(a, b, strict=True)))


def conditional_entropy(a: Labels, given: Labels) -> float:
    """H(a | b) = sum over values of b of p(b) H(a | that value)."""
    n = len(a)
    total = 0.0
    for value, count in Counter(given).items():
        total += count / n * entropy([x for x, y in zip(a, given, strict=True) if y == value])
    return total


def mutual_information(a: Labels, b: Labels) -> float:
    """Sum over cells of p(a, b) log [p(a, b) / (p(a) p(b))]."""
    n = len(a)
    of_a, of_b = Counter(a), Counter(b)
    total = 0.0
    for (x, y), count in Counter(zip(a, b, strict=True)).items():
        total += count / n * math.log(count * n / (of_a[x] * of_b[y]))
    return total


def information_matrix(codes: Sequence[Labels], factors: Sequence[Labels]) -> Matrix:
    """Rows: codes; columns: factors."""
    return [[mutual_information(code, factor) for factor in factors] for code in codes]


def entropies(factors: Sequence[Labels]) -> list[float]:
    """Entropy of each factor."""
    return [entropy(factor) for factor in factors]


def miller_madow_information(a: Labels, b: Labels) -> float:
    """Plug-in information minus (occupied cells - rows - columns + 1) / 2n."""
    cells, rows, columns = len(set(zip(a, b, strict=True))), len(set(a)), len(set(b))
    return mutual_information(a, b) - (cells - rows - columns + 1) / (2 * len(a))


def _largest_two(values: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(values, reverse=True)
    return ordered[0], ordered[1] if len(ordered) > 1 else 0.0


def _column(matrix: Matrix, index: int) -> list[float]:
    return [row[index] for row in matrix]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


# Metrics on labels -------------------------------------------------------------------------------------------------


def mig(codes: Sequence[Labels], factors: Sequence[Labels]) -> list[float]:
    """Gap of each factor over its entropy."""
    found = []
    for factor in factors:
        first, second = _largest_two([mutual_information(code, factor) for code in codes])
        found.append((first - second) / entropy(factor))
    return found


def mig_with_reg_dim(codes: Sequence[Labels], factors: Sequence[Labels], reg_dim: Sequence[int]) -> list[float]:
    """Minuend: the factor's own code; subtrahend: the best other code."""
    found = []
    for factor, own in zip(factors, reg_dim, strict=True):
        others = [mutual_information(code, factor) for j, code in enumerate(codes) if j != own]
        best_other = max(others) if others else 0.0
        found.append((mutual_information(codes[own], factor) - best_other) / entropy(factor))
    return found


def mig_sup(codes: Sequence[Labels], factors: Sequence[Labels]) -> list[float]:
    """Gap of each code between factors, on values relative to the factors' entropies."""
    found = []
    for code in codes:
        first, second = _largest_two([mutual_information(code, factor) / entropy(factor) for factor in factors])
        found.append(first - second)
    return found


def modularity_of_matrix(information: Matrix) -> list[float]:
    """1 - squared informations on other factors over (M - 1) times the largest one squared; 0 for a dead code."""
    found = []
    for row in information:
        largest = max(row)
        if largest < 1e-12:
            found.append(0.0)
            continue
        best = row.index(largest)
        others = sum(value**2 for index, value in enumerate(row) if index != best)
        found.append(1 - others / ((len(row) - 1) * largest**2))
    return found


def modularity(codes: Sequence[Labels], factors: Sequence[Labels]) -> list[float]:
    """Modularity score of each code."""
    return modularity_of_matrix(information_matrix(codes, factors))


def dcimig(codes: Sequence[Labels], factors: Sequence[Labels]) -> tuple[float, list[float]]:
    """Value, and for each factor the share of its entropy that one code holds exclusively."""
    held = [0.0] * len(factors)
    for row in information_matrix(codes, factors):
        first, second = _largest_two(row)
        best = row.index(first)
        held[best] = max(held[best], first - second)
    heights = entropies(factors)
    return sum(held) / sum(heights), [gap / height for gap, height in zip(held, heights, strict=True)]


def jemmig(
    codes: Sequence[Labels], factors: Sequence[Labels], code_bins: Sequence[int]
) -> tuple[list[float], list[float]]:
    """Recalibrated scores, and raw brackets in nats. Distinct informations are supposed."""
    scores, raws = [], []
    for factor in factors:
        information = [mutual_information(code, factor) for code in codes]
        first, second = _largest_two(information)
        best = information.index(first)
        raw = joint_entropy(codes[best], factor) - first + second
        raws.append(raw)
        scores.append(1 - raw / (entropy(factor) + math.log(code_bins[best])))
    return scores, raws


def dmig(codes: Sequence[Labels], factors: Sequence[Labels], reg_dim: Sequence[int]) -> list[float]:
    """Gap to the best other code, over the entropy that its factor leaves. Each code names one factor at most."""
    found = []
    for factor, own in zip(factors, reg_dim, strict=True):
        information = [mutual_information(code, factor) for code in codes]
        others = [j for j in range(len(codes)) if j != own]
        rival = max(others, key=lambda j: information[j]) if others else None
        subtrahend = 0.0 if rival is None else information[rival]
        height = entropy(factor)
        if rival is not None and rival in reg_dim:
            height = conditional_entropy(factor, factors[list(reg_dim).index(rival)])
        found.append((information[own] - subtrahend) / height)
    return found


def xmig(codes: Sequence[Labels], factors: Sequence[Labels], reg_dim: Sequence[int]) -> list[float]:
    """Gap to the best code that regularises no factor."""
    found = []
    for factor, own in zip(factors, reg_dim, strict=True):
        free = [mutual_information(code, factor) for j, code in enumerate(codes) if j not in reg_dim]
        found.append((mutual_information(codes[own], factor) - max(free)) / entropy(factor))
    return found


def dlig(codes: Sequence[Labels], factors: Sequence[Labels], reg_dim: Sequence[int]) -> list[float]:
    """For each factor's code, the gap to the best other factor, over the entropy that this factor leaves."""
    found = []
    for index, own in enumerate(reg_dim):
        information = [mutual_information(codes[own], factor) for factor in factors]
        others = [k for k in range(len(factors)) if k != index]
        rival = max(others, key=lambda k: information[k])
        height = conditional_entropy(factors[index], factors[rival])
        found.append((information[index] - information[rival]) / height)
    return found


# Stochastic codes --------------------------------------------------------------------------------------------------


def gaussian_below(x: float, mean: float, std: float) -> float:
    """P(z < x), by the error function."""
    return 0.5 * (1 + math.erf((x - mean) / (std * math.sqrt(2))))


def soft_masses(mean: float, std: float, edges: Sequence[float]) -> list[float]:
    """Weight of one sample in each bin; the outermost bins take the tails. ``std`` > 0."""
    below = [gaussian_below(edge, mean, std) for edge in edges]
    below[0], below[-1] = 0.0, 1.0
    return [high - low for low, high in itertools.pairwise(below)]


def soft_information(means: Column, stds: Column, factor: Labels, edges: Sequence[float]) -> float:
    """Information of a factor and a code of which every sample is spread over the bins."""
    n = len(means)
    joint: dict[tuple[int, int], float] = {}
    for mean, std, label in zip(means, stds, factor, strict=True):
        for index, mass in enumerate(soft_masses(mean, std, edges)):
            joint[index, label] = joint.get((index, label), 0.0) + mass / n
    of_code: dict[int, float] = {}
    of_factor: dict[int, float] = {}
    for (index, label), p in joint.items():
        of_code[index] = of_code.get(index, 0.0) + p
        of_factor[label] = of_factor.get(label, 0.0) + p
    return sum(p * math.log(p / (of_code[i] * of_factor[k])) for (i, k), p in joint.items() if p > 0)


def rmig(codes: Sequence[Column], stds: Sequence[Column], factors: Sequence[Labels], bins: int) -> list[float]:
    """MIG of soft tables; edges are equal parts of the range of the means."""
    found = []
    for factor in factors:
        information = []
        for means, spread in zip(codes, stds, strict=True):
            low, high = min(means), max(means)
            edges = [low + (high - low) * k / bins for k in range(bins + 1)]
            information.append(soft_information(means, spread, factor, edges))
        first, second = _largest_two(information)
        found.append((first - second) / entropy(factor))
    return found


# Importances -------------------------------------------------------------------------------------------------------


def _concentration(shares: Sequence[float]) -> float:
    if len(shares) == 1:
        return 1.0
    return 1 + sum(p * math.log(p) / math.log(len(shares)) for p in shares if p > 0)


def dci_modularity(importance: Matrix) -> float:
    """Mean over codes of 1 - normalised entropy over factors, weighted by the codes' importance; 0 if there is none."""
    grand = sum(sum(row) for row in importance)
    if grand == 0:
        return 0.0
    total = 0.0
    for row in importance:
        weight = sum(row)
        if weight > 0:
            total += weight / grand * _concentration([value / weight for value in row])
    return total


def dci_compactness(importance: Matrix) -> float:
    """Mean over factors of 1 - normalised entropy over codes; 0 for a factor without importance."""
    found = []
    for index in range(len(importance[0])):
        column = _column(importance, index)
        total = sum(column)
        found.append(_concentration([value / total for value in column]) if total > 0 else 0.0)
    return _mean(found)
