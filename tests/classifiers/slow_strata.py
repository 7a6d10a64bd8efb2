"""The interval of a mean score from an audit, row by row: slow, and written from the definition alone."""

import math

from scipy.special import betaincinv
from scipy.stats import norm
from scipy.stats import t as student


def stratum_lists(s: list[float], k: int) -> list[list[int]]:
    """Return the rows of each stratum."""
    most = max(3, min(5, k // 15))
    counts: dict[float, int] = {}
    for value in s:
        counts[round(value, 12)] = counts.get(round(value, 12), 0) + 1
    values = sorted(counts)
    if len(values) <= most:
        place = {value: index for index, value in enumerate(values)}
    else:
        heavy = sorted((v for v in values if counts[v] * most >= len(s)), key=lambda v: (-counts[v], v))[: most - 1]
        parts, before = most - len(heavy), 0
        light = sum(counts[v] for v in values if v not in heavy)
        place = {}
        for value in values:
            if value in heavy:
                place[value] = parts + heavy.index(value)
            else:
                place[value] = parts * (2 * before + counts[value]) // (2 * light)
                before += counts[value]
    found: dict[int, list[int]] = {}
    for row, value in enumerate(s):
        found.setdefault(place[round(value, 12)], []).append(row)
    return [found[key] for key in sorted(found)]


def quantile(mean: float, variance: float, p: float) -> float:
    """Quantile of the fitted beta distribution."""
    if variance <= 1e-18:
        return mean
    if mean <= 1e-12:
        return 0.0
    if mean >= 1 - 1e-12:
        return 1.0
    size = mean * (1 - mean) / variance - 1
    if size <= 0:
        return 0.0 if p < 0.5 else 1.0
    return float(betaincinv(mean * size, (1 - mean) * size, p))


def slow_interval(
    s: list[float],
    rows: list[int],
    t: list[float],
    *,
    w: list[float] | None = None,
    level: float = 0.95,
    population: bool = True,
    group: list[int] | None = None,
) -> tuple[float, float, float]:
    """Return the estimate and both ends."""
    n, k, tail = len(s), len(rows), (1 - level) / 2
    w = [1.0] * k if w is None else w
    strata = stratum_lists(s, k)
    of = {row: index for index, part in enumerate(strata) for row in part}
    drawn: list[list[int]] = [[] for _ in strata]
    for place, row in enumerate(rows):
        drawn[of[row]].append(place)
    share = [len(part) / n for part in strata]
    given = [sum(s[row] for row in part) / len(part) for part in strata]

    numerator = denominator = 0.0
    for places in drawn:
        if not places:
            continue
        total = sum(w[i] for i in places)
        f_mean = sum(w[i] * s[rows[i]] for i in places) / total
        t_mean = sum(w[i] * t[i] for i in places) / total
        for i in places:
            numerator += w[i] * (s[rows[i]] - f_mean) * (t[i] - t_mean)
            denominator += w[i] * (s[rows[i]] - f_mean) ** 2
    slope = 0.0 if denominator < 1e-12 else min(max(numerator / denominator, 0.0), 1.0)

    x = [t[i] - slope * (s[rows[i]] - given[of[rows[i]]]) for i in range(k)]
    mean, worth, unseen = [], [], []
    for index, places in enumerate(drawn):
        total = sum(w[i] for i in places)
        mean.append(sum(w[i] * x[i] for i in places) / total if places else given[index])
        unseen.append(sum(w[i] ** 2 for i in places) / total if places else 1.0)
        worth.append(total / unseen[-1] if places else 0.0)
    theta = sum(a * m for a, m in zip(share, mean, strict=True))

    likely = [
        min(max((worth[j] * mean[j] + 0.5) / (worth[j] + 1), 0.0), 1.0) if drawn[j] else 0.5 for j in range(len(strata))
    ]
    all_likely = sum(a * m for a, m in zip(share, likely, strict=True))
    upper = [(all_likely if len(drawn[j]) < 4 else likely[j]) > 0.5 for j in range(len(strata))]

    def sides(up: bool) -> tuple[float, float]:
        """Distances below and above of the sum of one group."""
        members = [j for j in range(len(strata)) if upper[j] == up]
        if not members:
            return 0.0, 0.0
        v = {j: 1 - likely[j] if up else likely[j] for j in members}
        centre = sum(share[j] * (1 - mean[j] if up else mean[j]) for j in members)
        top = sum(share[j] for j in members)
        room = {j: share[j] * (1 - v[j]) for j in members}
        less = {j: share[j] * v[j] for j in members}
        room, less = (part if sum(part.values()) > 0 else {j: share[j] for j in members} for part in (room, less))
        y = {j: [(w[i] / unseen[j], 1 - x[i] if up else x[i]) for i in drawn[j]] for j in members}

        def end(more: float, fewer: float, p: float) -> float:
            whole = spread = 0.0
            for j in members:
                r, q = room[j] / sum(room.values()), less[j] / sum(less.values())
                if y[j]:
                    size = worth[j] + more * r + fewer * q
                    e = (sum(u * one for u, one in y[j]) + more * r) / size
                    total = sum(u**2 * (one - e) ** 2 for u, one in y[j]) + more * r * (1 - e) ** 2 + fewer * q * e**2
                    variance = total / size / (max(size - 1, 1) if len(members) > 1 else size + 1)
                else:
                    e, variance = 0.5, 1 / 12
                if not population:
                    variance *= 1 - len(drawn[j]) / len(strata[j])
                whole += share[j] * e
                spread += share[j] ** 2 * variance
            return top * quantile(whole / top, spread / top**2, p)

        nothing = all(abs(one) <= 1e-12 for j in members for _, one in y[j])
        low = end(0.5, 0.5, tail)
        high = end(1.0, 0.0, 1 - tail) if nothing else end(0.5, 0.5, 1 - tail)
        return max(centre - low, 0.0), max(high - centre, 0.0)

    top_low, top_high = sides(True)
    low, high = sides(False)
    z = norm.isf(tail)
    between = sum(a * (m - theta) ** 2 for a, m in zip(share, mean, strict=True))
    between += slope**2 * (sum(value**2 for value in s) / n - sum(a * f**2 for a, f in zip(share, given, strict=True)))
    sampling = z**2 * between / n if population else 0.0
    wider = student.isf(tail, max(k - len(strata), 1)) / z
    if group is not None:
        error = [mean[of[i]] + slope * (s[i] - given[of[i]]) - theta for i in range(n)]
        for place, row in enumerate(rows):
            j = of[row]
            error[row] += len(strata[j]) / sum(w[i] for i in drawn[j]) * w[place] * (x[place] - mean[j])
        sums: dict[int, float] = {}
        for row in range(n):
            sums[group[row]] = sums.get(group[row], 0.0) + error[row]
        g = len(sums)
        alone = sum(value**2 for value in error)
        effect = g / (g - 1) * sum(value**2 for value in sums.values()) / alone if alone > 0 else 1.0
        wider *= math.sqrt(max(1.0, effect)) * student.isf(tail, g - 1) / z
    below = math.sqrt(top_high**2 + low**2 + sampling) * wider
    above = math.sqrt(top_low**2 + high**2 + sampling) * wider
    return theta, max(theta - below, 0.0), min(theta + above, 1.0)
