"""Joining the answers of annotators with plain loops, from the definitions."""

import math
from collections import Counter
from collections.abc import Sequence

Answer = tuple[int, int, int]
Rows = list[list[float]]


def vote_shares(answers: Sequence[Answer], n_items: int, k: int, weights: Sequence[float] | None = None) -> Rows:
    """Answers are (item, annotator, class)."""
    rows = [[0.0] * k for _ in range(n_items)]
    for i, w, c in answers:
        rows[i][c] += 1.0 if weights is None else weights[w]
    overall = [math.fsum(row[c] for row in rows) for c in range(k)]
    return [
        [value / math.fsum(row) for value in row]
        if math.fsum(row) > 0
        else [value / math.fsum(overall) for value in overall]
        for row in rows
    ]


def log_likelihood(
    answers: Sequence[Answer], n_items: int, proportions: Sequence[float], profiles: dict[tuple[int, int, int], float]
) -> tuple[Rows, float]:
    """Posteriors of the items and log likelihood of the answers; ``profiles`` by (annotator, class, answer)."""
    posterior, total = [], 0.0
    for i in range(n_items):
        weights = list(proportions)
        own = [(w, c) for j, w, c in answers if j == i]
        for k in range(len(weights)):
            for w, c in own:
                weights[k] *= profiles[w, k, c]
        evidence = math.fsum(weights)
        posterior.append([weight / evidence for weight in weights])
        total += math.log(evidence)
    return posterior, total


def shrunken(
    answers: Sequence[Answer], n_items: int, k: int, *, iterations: int, strength: float | None
) -> tuple[Rows, list[float], list[float]]:
    """Posteriors of the last E step, proportions and accuracies after it; without a strength the one-coin model."""
    annotators = sorted({w for _, w, _ in answers})
    answered = sorted({i for i, _, _ in answers})
    used = vote_shares(answers, n_items, k)
    done = 0
    while True:
        right = {w: math.fsum(used[i][c] for i, v, c in answers if v == w) for w in annotators}
        number = {w: sum(1 for _, v, _ in answers if v == w) for w in annotators}
        pooled = (math.fsum(right.values()) + 1) / (sum(number.values()) + 2)
        accuracy = {w: (right[w] + 2 * pooled) / (number[w] + 2) for w in annotators}
        proportions = [(math.fsum(used[i][c] for i in answered) + 1) / (len(answered) + k) for c in range(k)]
        if done == iterations:
            return used, proportions, [accuracy[w] for w in annotators]
        profiles = {}
        for w in annotators:
            for true in range(k):
                coin = [accuracy[w] if c == true else (1 - accuracy[w]) / (k - 1) for c in range(k)]
                if strength is None:
                    row = coin
                else:
                    counts = [math.fsum(used[i][true] for i, v, a in answers if (v, a) == (w, c)) for c in range(k)]
                    total = math.fsum(counts) + strength
                    row = [(count + strength * share) / total for count, share in zip(counts, coin, strict=True)]
                profiles.update({(w, true, c): row[c] for c in range(k)})
        used, _ = log_likelihood(answers, n_items, proportions, profiles)
        done += 1


def dawid_skene(
    answers: Sequence[Answer], n_items: int, k: int, *, iterations: int, smoothing: float = 0.0, least: float = 1e-10
) -> tuple[Rows, list[float], list[float]]:
    """Posteriors of the last E step, proportions after it, and the objective after the start and each iteration."""
    seen = Counter((w, c) for _, w, c in answers)
    annotators = sorted({w for _, w, _ in answers})
    answered = sorted({i for i, _, _ in answers})
    posterior = vote_shares(answers, n_items, k)
    objective = []
    for done in range(iterations + 1):
        used = posterior
        proportions = [math.fsum(used[i][c] for i in answered) / len(answered) for c in range(k)]
        profiles, log_prior = {}, 0.0
        for w in annotators:
            for true in range(k):
                cells = {}
                for c in range(k):
                    if smoothing == 0 and (w, c) not in seen:
                        continue
                    cells[c] = (smoothing or least) + math.fsum(
                        used[i][true] for i, v, a in answers if (v, a) == (w, c)
                    )
                total = math.fsum(cells.values())
                for c, count in cells.items():
                    profiles[w, true, c] = count / total
                    log_prior += (smoothing or least) * math.log(count / total)
        posterior, value = log_likelihood(answers, n_items, proportions, profiles)
        objective.append(value + log_prior)
        if done == iterations:
            return used, proportions, objective
    raise AssertionError
