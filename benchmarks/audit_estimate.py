"""The interval for wrong labels that take no side, against prediction-powered inference and the verdict's interval.

``python -m benchmarks.audit_estimate`` (a few minutes); writes results/audit_estimate.csv. In 21 worlds,
two classifiers are compared by a uniform audit: accuracies of .5, .8 and .94 (the candidate leads by 3 points); 2, 10
and 30% of wrong labels, on rows alike or on hard ones; and 2% that repeat the candidate's errors. Coverage is of the
difference in the population. PPI (Angelopoulos et al. 2023) and PPI++ (Angelopoulos, Duchi and Zrnic 2023) are computed
from the formulas of the papers, with the rows that were not audited as the unlabelled ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Row, Table, main
from benchmarks.pairs import asked
from demele.classifiers.comparison.audit import undirected_interval
from demele.classifiers.comparison.methods import METHODS
from demele.classifiers.comparison.sequential_plan import signs
from demele.core.proportions import normal_quantile
from demele.core.seeds import rng_for
from demele.noise.audit import Audit

Floats = NDArray[np.float64]

#: Test sets per world, by the number of labels: more where the coverage is promised.
REPEATS = {50: 200, 100: 200, 300: 1000, 1000: 1000}
#: Test sets on which the verdict is computed too, which takes longest and is only for its width.
VERDICTS = 40
LEVEL = 0.95
K = 10
LEAD = 0.03
SIZES = ((2000, 50), (5000, 100), (5000, 300), (5000, 1000))
#: How much the difficulty of a row tells of who is right on it.
SLOPE = 4.0


@dataclass(frozen=True, slots=True)
class Place:
    """One world: accuracy of the two on average, share of wrong labels, and where these are."""

    accuracy: float
    noise: float
    kind: str

    @property
    def name(self) -> str:
        """Unique."""
        return f"accuracy {self.accuracy:g}, {100 * self.noise:g}% {self.kind}"


def places() -> list[Place]:
    """All 21."""
    levels = (0.5, 0.8, 0.94)
    found = [Place(a, noise, kind) for a in levels for noise in (0.02, 0.1, 0.3) for kind in ("random", "hard")]
    return found + [Place(a, 0.02, "copies") for a in levels]


def chances(accuracy: float, ease: Floats) -> Floats:
    """Return the probability of being right on rows of this ease in (0, 1), with the mean accuracy wanted."""
    from scipy.optimize import brentq
    from scipy.special import expit

    grid = (np.arange(2000) + 0.5) / 2000
    shift = brentq(lambda c: float(expit(c + SLOPE * (grid - 0.5)).mean()) - accuracy, -20, 20)
    found: Floats = expit(shift + SLOPE * (ease - 0.5))
    return found


def ppi(given: Floats, audited: Floats, truth: Floats, *, level: float, tuned: bool) -> tuple[float, float]:
    """Interval of a mean by prediction-powered inference; ``given``: predictions of the rows without a label.

    Mean: lambda mean(given) + mean(truth - lambda audited). Variance: lambda^2 var(given) / N + var(truth - lambda
    audited) / k. PPI has lambda 1. PPI++ has the one that makes this least: cov(truth, audited) / ((1 + k / N)
    var(audited and given)), within [0, 1].
    """
    k, rest = truth.size, given.size
    scale = 1.0
    if tuned:
        spread = np.concatenate([audited, given]).var(ddof=1)
        together = np.cov(truth, audited, ddof=0)[0, 1]
        scale = float(np.clip(together / ((1 + k / rest) * spread), 0, 1)) if spread > 0 else 0.0
    centre = scale * given.mean() + (truth - scale * audited).mean()
    variance = scale**2 * given.var() / rest + (truth - scale * audited).var() / k
    half = normal_quantile((1 + level) / 2) * np.sqrt(variance)
    return float(centre - half), float(centre + half)


def intervals(
    place: Place, n: int, k: int, rng: np.random.Generator, *, verdict: bool = True
) -> Iterator[tuple[str, float, float]]:
    """Draw one test set and its audit; yield each method's interval, that of the verdict if asked for."""
    ease = rng.random(n)
    truth = rng.integers(0, K, n).astype(np.int32)
    confused = ((truth + rng.integers(1, K, n)) % K).astype(np.int32)  # what a hard row is mistaken for
    models = []
    for lead in (-LEAD / 2, LEAD / 2):
        right = rng.random(n) < chances(place.accuracy + lead, ease)
        other = np.where(rng.random(n) < 0.5, confused, (truth + rng.integers(1, K, n)) % K)
        models.append(np.where(right, truth, other).astype(np.int32))
    labels = truth.copy()
    m = round(place.noise * n)
    if place.kind == "copies":
        rows = rng.permutation(np.flatnonzero(models[1] != truth))[:m]
        labels[rows] = models[1][rows]
    else:
        rows = rng.permutation(n)[:m] if place.kind == "random" else np.argsort(ease + 0.3 * rng.random(n))[:m]
        labels[rows] = (truth[rows] + rng.integers(1, K, m)) % K if place.kind == "random" else confused[rows]
    audit_rows = rng.permutation(n)[:k]
    given = signs(models[0], models[1], labels)
    right_signs = signs(models[0], models[1], truth)[audit_rows]
    yield ("undirected", *undirected_interval(given, given[audit_rows], right_signs, level=LEVEL)[1:])
    rest = np.delete(given, audit_rows).astype(float)
    pair = given[audit_rows].astype(float), right_signs.astype(float)
    for name, tuned in (("PPI", False), ("PPI++", True)):
        yield (name, *ppi(rest, *pair, level=LEVEL, tuned=tuned))
    if not verdict:
        return
    audit = Audit(audit_rows, truth[audit_rows], design="uniform")
    found = METHODS["audit"](asked(labels, models, K, audit=audit))
    yield "verdict", float(found.low[0]), float(found.high[0])


def covered(size: tuple[int, int], repeats: int) -> dict[str, list[tuple[str, float, float, float, int]]]:
    """Return coverage, width and the share that excludes 0, of every method in every world."""
    n, k = size
    found: dict[str, list[tuple[str, float, float, float, int]]] = {}
    for place in places():
        ends: dict[str, list[tuple[float, float]]] = {}
        for repeat in range(repeats):
            rng = rng_for(0, "audit estimate", place.name, n, k, repeat)
            for name, low, high in intervals(place, n, k, rng, verdict=repeat < VERDICTS):
                ends.setdefault(name, []).append((low, high))
        for name, pairs in ends.items():
            low, high = np.array(pairs).T
            inside, outside = float(np.mean((low <= LEAD) & (high >= LEAD))), float(np.mean((low > 0) | (high < 0)))
            found.setdefault(name, []).append((place.name, inside, float(np.mean(high - low)), outside, low.size))
    return found


def rows_of(
    found: list[tuple[tuple[int, int], dict[str, list[tuple[str, float, float, float, int]]]]],
) -> Iterator[Row]:
    """Yield a row for each size and method, over the worlds."""
    for (n, k), by_method in found:
        for name, values in by_method.items():
            worst = min(values, key=lambda one: one[1])
            widths, of_ppi = (np.array([one[2] for one in by_method[method]]) for method in (name, "PPI++"))
            yield {
                "n": n,
                "labels": k,
                "interval": name,
                "coverage_mean": f"{100 * np.mean([one[1] for one in values]):.1f}",
                "coverage_least": f"{100 * worst[1]:.1f}",
                "standard_error_of_least": f"{100 * np.sqrt(worst[1] * (1 - worst[1]) / worst[4]):.1f}",
                "worlds_below_94": sum(one[1] < 0.94 for one in values),
                "least_in": worst[0],
                "width_points": f"{100 * widths.mean():.1f}",
                "ratio_to_ppi++": f"{widths.mean() / of_ppi.mean():.2f}",
                "mean_of_ratios": f"{np.mean(widths / of_ppi):.2f}",
                "excludes_0_percent": f"{100 * np.mean([one[3] for one in values]):.0f}",
                "test_sets_per_world": worst[4],
            }


if __name__ == "__main__":
    main({"audit_estimate": Table(cells=SIZES, measured=covered, repeats=lambda size: REPEATS[size[1]], rows=rows_of)})
