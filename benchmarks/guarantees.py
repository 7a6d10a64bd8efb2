"""How often comparison methods err where they promise not to: a grid of label noises, sizes, accuracies and agreements.

In each cell, test sets are drawn on which the candidate is exactly as good as the baseline classifier in the
population: every "candidate better" is then an error. Rows: cell, method, claims, test sets, exact lower limit.

    python -m benchmarks.guarantees   goes on where it stopped; writes results/guarantees.csv
"""

import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import pairs
from benchmarks.loop import Row, Table, main
from demele.classifiers.comparison.methods import METHODS
from demele.core.arrays import rng_for
from demele.core.labelled import Indices, Vocabulary
from demele.core.proportions import exact_interval
from demele.labels import Audit, TransitionMatrix, draw_audit, estimate_transition

K = 5
#: (accuracy of both, share on which they agree): all feasible corners and the middle.
SHAPES = ((0.5, 0.5), (0.5, 0.9), (0.7, 0.6), (0.8, 0.8), (0.9, 0.85), (0.95, 0.95), (0.99, 0.98), (0.99, 0.99))
SIZES = (50, 200, 1000, 10_000)
RATES = (0.0, 0.05, 0.15, 0.3)
NOISES = ("uniform", "class", "feature", "adversarial")
REPEATS = {50: 500, 200: 400, 1000: 250, 10_000: 80}


@dataclass(frozen=True, slots=True)
class Cell:
    """One point of the grid."""

    noise: str
    rate: float
    n: int
    accuracy: float
    agreement: float

    @property
    def name(self) -> str:
        """Unique name."""
        return f"{self.noise} {self.rate:g} n={self.n} accuracy={self.accuracy:g} agreement={self.agreement:g}"


def cells() -> list[Cell]:
    """All points; without noise, its kind does not matter."""
    grid = itertools.product(NOISES, RATES, SIZES, SHAPES)
    return [Cell(noise, rate, n, *shape) for noise, rate, n, shape in grid if rate > 0 or noise == NOISES[0]]


def drawn(cell: Cell, rng: np.random.Generator) -> tuple[Indices, NDArray[np.int32], NDArray[np.float64]]:
    """Draw true labels, two classifiers that are equally good in the population, and how hard each instance is."""
    n, apart = cell.n, 1 - cell.agreement
    truth = rng.integers(0, K, n).astype(np.int32)
    # Where they disagree, one of them is right as often as the accuracy allows; else both are wrong, differently.
    one_right = min(apart, 2 * (1 - cell.accuracy))
    both_right = cell.accuracy - one_right / 2
    shares = np.cumsum([both_right, one_right / 2, one_right / 2, apart - one_right])
    kind = np.searchsorted(shares, rng.random(n), side="right")
    wrong = ((truth + rng.integers(1, K, n)) % K).astype(np.int32)
    other = ((truth + 1 + (wrong - truth - 1 + rng.integers(1, K - 1, n)) % K % (K - 1)) % K).astype(np.int32)
    other = np.where((other == wrong) | (other == truth), _third(truth, wrong), other)
    first = np.select([kind == 0, kind == 1], [truth, truth], wrong)
    second = np.select([kind == 0, kind == 2, kind == 1, kind == 3], [truth, truth, wrong, other], wrong)
    hard = (kind > 0) + rng.random(n)
    return truth, np.stack([first, second]).astype(np.int32), hard


def _third(truth: Indices, wrong: Indices) -> Indices:
    """Return a class that is neither."""
    candidates = np.stack([np.full_like(truth, k) for k in range(3)])
    free = (candidates != truth) & (candidates != wrong)
    third: Indices = np.argmax(free, axis=0).astype(np.int32)
    return third


def mislabelled(cell: Cell, truth: Indices, models: NDArray[np.int32], hard: Any, rng: np.random.Generator) -> Indices:
    """Give wrong labels to exactly the share of the cell (per class: by independent draws)."""
    n, m = cell.n, int(np.floor(cell.rate * cell.n + 1e-9))
    labels = truth.copy()
    if cell.noise == "uniform":
        rows = rng.permutation(n)[:m]
        labels[rows] = (truth[rows] + rng.integers(1, K, m)) % K
    elif cell.noise == "class":
        given = (rng.random((n, 1)) > np.cumsum(transition(cell.rate)[truth], axis=1)).sum(axis=1)
        labels = np.minimum(given, K - 1).astype(np.int32)
    elif cell.noise == "feature":  # the hardest instances, where the label is what one of the two says, if it is wrong
        rows = np.argsort(-hard, kind="stable")[:m]
        said = models[rng.integers(0, 2, m), rows]
        labels[rows] = np.where(said != truth[rows], said, (truth[rows] + 1) % K)
    else:  # against the baseline: what it has right and the candidate wrong, then what neither has right
        first = np.flatnonzero((models[0] == truth) & (models[1] != truth))
        second = np.flatnonzero((models[0] != truth) & (models[1] != truth) & (models[0] != models[1]))
        rows = np.concatenate([rng.permutation(first), rng.permutation(second)])[:m]
        labels[rows] = models[1, rows]
    return labels.astype(np.int32)


def transition(rate: float) -> NDArray[np.float64]:
    """Return unequal mistakes: the last class is wrong four times as often as the first, mostly for one other."""
    spread = rate * np.linspace(0.4, 1.6, K)
    matrix = np.diag(1 - spread)
    for j in range(K):
        matrix[j, (j + 1) % K] += 0.7 * spread[j]
        for k in range(K):
            if k not in (j, (j + 1) % K):
                matrix[j, k] += 0.3 * spread[j] / (K - 2)
    return matrix


def knowledge(cell: Cell, truth: Indices, labels: Indices, seed: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield what each method is told: (name of the row, method, what is known)."""
    n, words = cell.n, Vocabulary(tuple(range(K)))
    rate = np.count_nonzero(truth != labels) / n
    yield "overlap", "overlap", {}
    if rate < 1:
        yield "worst-case-overlap", "worst-case-overlap", {"noise": rate}
        yield "worst-case, rate", "worst-case", {"noise": rate}
        if cell.rate > 0:
            yield "worst-case, half the rate", "worst-case", {"noise": rate / 2}
            yield "worst-case-overlap, half the rate", "worst-case-overlap", {"noise": rate / 2}
    if cell.noise == "class":
        yield "worst-case, matrix", "worst-case", {"noise": TransitionMatrix(transition(cell.rate))}
    for size in (20, 50, 200, 1000):
        if size > n // 2 and size != 20:
            continue
        rows = draw_audit(n, size, seed=seed).rows
        audit = Audit(rows, truth[rows], design="uniform").coded(words, n)
        yield f"audit, {size} uniform", "audit", {"audit": audit}
        yield f"sequential, {size}", "sequential", {"audit": audit}
        if size >= 50:
            counts = estimate_transition(truth[rows], labels[rows], classes=list(range(K)))
            yield f"worst-case, counts of {size}", "worst-case", {"noise": counts}


def measured(cell: Cell, repeats: int) -> dict[str, Any]:
    """Count the errors of every method on the test sets of a cell."""
    claims: dict[str, int] = {}
    for repeat in range(repeats):
        rng = rng_for(0, "guarantees", cell.name, repeat)
        truth, models, hard = drawn(cell, rng)
        labels = mislabelled(cell, truth, models, hard, rng)
        question = pairs.asked(labels, models, K, difficulty=hard, prudence=0.1)
        asked = list(knowledge(cell, truth, labels, repeat))
        weights = np.where(models[0] != models[1], 1.0, 0.0)
        if weights.any() and cell.n >= 200:
            plan = draw_audit(cell.n, 50, disagreement=weights, seed=repeat)
            audit = plan.answered(truth[plan.rows]).coded(question.data.vocabulary, cell.n)
            asked.append(("audit, 50 weighted", "audit", {"audit": audit}))
        for row, method, told in asked:
            claims[row] = claims.get(row, 0) + int(METHODS[method](replace(question, **told)).candidate[0])
    return {"repeats": repeats, "claims": claims}


def rows_of(found: list[tuple[Cell, dict[str, Any]]]) -> list[Row]:
    """Return one row per method and noise: the worst cell, and all of them together."""
    import pandas as pd

    frame = pd.DataFrame(
        {**asdict(cell), "method": method, "claims": count, "test_sets": record["repeats"]}
        for cell, record in found
        for method, count in record["claims"].items()
    )
    keys = ["method", "noise", "rate"]
    frame["rate_of_error"] = frame["claims"] / frame["test_sets"]
    frame["low"], _ = exact_interval(frame["claims"], frame["test_sets"], level=0.99)
    worst = frame.sort_values("rate_of_error", ascending=False).groupby(keys, sort=True).head(1)
    sums = frame.groupby(keys)[["claims", "test_sets"]].sum().reset_index()
    worst = worst.merge(sums, on=keys, suffixes=("", "_all")).sort_values(keys)
    worst["mean_rate_of_error"] = worst["claims_all"] / worst["test_sets_all"]
    return [
        {str(name): f"{one:.5f}" if isinstance(one, float) else one for name, one in row.items()}
        for row in worst.to_dict("records")
    ]


if __name__ == "__main__":
    table = Table(
        cells=cells, measured=measured, repeats=lambda cell: REPEATS[cell.n], rows=rows_of, store=True, jobs=2
    )
    main({"guarantees": table})
