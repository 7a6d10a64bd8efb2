"""How often each comparison errs on simulated test sets, against the comparison on true labels.

``python -m benchmarks.comparison_power`` (about an hour on one core; it goes on where it stopped). Writes
results/comparison_power.csv: per world, noise rate and method, type I and II errors and agreement in percent over all
9 900 ordered pairs of 100 classifiers. ``audit NAME LABELS`` is the audited comparison: all pairs share one audit; a
claim errs in 0.1% at most. ``python -m benchmarks.comparison_power level`` measures how often the audited comparison's
bounds fail, and writes results/audited_level.csv.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.loop import Row, Table, main
from benchmarks.worlds import Kind, World, all_pairs, noisy_labels, question, rates, reference, world
from demele.classifiers.comparison.audit import by_audit
from demele.classifiers.comparison.methods import METHODS
from demele.core.arrays import Flags
from demele.core.labelled import Indices
from demele.labels import estimate_transition, simulated_cleaning
from demele.noise.audit import CodedAudit, disagreement, draw_audit

SEEDS = range(4)
NOISE_RATES = (0.05, 0.01, 0.02, 0.10, 0.20)
AUDIT_SIZES = (250, 500, 1000)
ALPHA = 0.001
#: Cleanings: detected, false alarms, corrected.
CLEANINGS = ((0.75, 0.25, None), (0.6, 0.1, None), (0.6, 0.1, 0.5), (0.6, 0.1, 0.75), (0.9, 0.4, 0.75))
#: Power of the pool's entropy that the inclusion follows (None: uniform), and its floor.
DESIGNS = {
    "uniform": (None, 1.0),
    "entropy": (1.0, 0.4),
    "squared entropy": (2.0, 0.2),
    "squared entropy, floor 0.4": (2.0, 0.4),
    "root of entropy": (0.5, 0.1),
}


def decided(cell: tuple[float, int]) -> Iterator[Row]:
    """Decide all pairs of a world by every method."""
    rate, seed = cell
    test_set = world(seed)
    truth, labels = reference(test_set), noisy_labels(test_set, rate)
    for name, decide in _methods(test_set, labels, rate):
        start = perf_counter()
        chosen, used = decide()
        found = rates(chosen, truth)
        yield {
            "world": seed,
            "noise": f"{rate:g}",
            "method": name,
            "type_1": f"{found.type_1:.3f}",
            "type_2": f"{found.type_2:.2f}",
            "agreement": f"{found.agreement:.2f}",
            "labels": used,
            "seconds": f"{perf_counter() - start:.1f}",
        }


def _methods(test_set: World, labels: Indices, rate: float) -> Iterator[tuple[str, Callable[[], tuple[Flags, str]]]]:
    """Name of each method, and what decides all pairs: candidates chosen, and expert labels used."""

    def by(name: str, **known: Any) -> Callable[[], tuple[Flags, str]]:
        return lambda: (METHODS[name](question(test_set, labels, **known)).candidate, "0")

    trust = 1 - (test_set.annotations != test_set.true_labels).mean(axis=1)
    hardness = trust @ (test_set.annotations != test_set.true_labels)
    yield "overlap", by("overlap")
    yield "worst-case-overlap", by("worst-case-overlap", noise=rate)
    yield "hard-rows, annotators' ranking", by("hard-rows", difficulty=hardness, prudence=0.1)
    yield (
        "hard-rows, models' disagreement",
        by("hard-rows", difficulty=disagreement(test_set.predictions), prudence=0.1),
    )
    for detected, false_alarms, corrected in CLEANINGS:
        found = simulated_cleaning(
            labels,
            test_set.true_labels,
            detected=detected,
            false_alarms=false_alarms,
            corrected=corrected,
            seed=test_set.seed,
        )
        name = f"cleaned s={detected:g} e={false_alarms:g}" + ("" if corrected is None else f" c={corrected:g}")
        yield name, by("cleaned", suspects=found.suspect, suggested=found.suggested)
    known = estimate_transition(test_set.true_labels, labels, sample_of="labels")
    for inference in ("population", "overlap"):
        yield f"worst-case, {inference}", by("worst-case", noise=rate, inference=inference)
        yield f"worst-case, transition known, {inference}", by("worst-case", noise=known, inference=inference)
    yield "agreement", lambda: (_agreement(test_set, labels), "0")
    for design in DESIGNS:
        for size in AUDIT_SIZES:
            yield f"audit {design} {size}", _by_audit(test_set, labels, design, size)
    for cap in (300, 1000):
        yield f"sequential, cap {cap}", _by_sequence(test_set, labels, cap)


def _by_audit(test_set: World, labels: Indices, design: str, size: int) -> Callable[[], tuple[Flags, str]]:
    def decide() -> tuple[Flags, str]:
        audit = shared_audit(test_set, design, size, seed=test_set.seed)
        outcomes = by_audit(question(test_set, labels, audit=audit, inference="overlap"))
        assert outcomes.p_value is not None
        return outcomes.p_value <= ALPHA, str(size)

    return decide


def _by_sequence(test_set: World, labels: Indices, cap: int) -> Callable[[], tuple[Flags, str]]:
    def decide() -> tuple[Flags, str]:
        from demele.classifiers.comparison.sequential_plan import sequential_many

        pairs = all_pairs(len(test_set.predictions))
        certified, used = sequential_many(
            labels, test_set.predictions, pairs, test_set.true_labels, alpha=ALPHA, cap=cap, seed=test_set.seed
        )
        certified_used = np.median(used[certified]) if certified.any() else np.nan
        return certified, f"median {certified_used:.0f} if certified, mean {used.mean():.0f}"

    return decide


def _agreement(test_set: World, labels: Indices) -> Flags:
    """Compare by agreement with a third classifier, the next one in the order of the world."""
    pairs = all_pairs(len(test_set.predictions))
    third = (pairs.max(axis=1) + 1) % len(test_set.predictions)
    third = np.where(third == pairs.min(axis=1), (third + 1) % len(test_set.predictions), third)
    chosen = np.zeros(len(pairs), dtype=bool)
    for model in np.unique(third):
        here = np.flatnonzero(third == model)
        asked = question(test_set, labels, pairs=pairs[here], reference=test_set.predictions[model])
        chosen[here] = METHODS["agreement"](asked).candidate
    return chosen


def shared_audit(test_set: World, design: str, size: int, *, seed: int, pool: Indices | None = None) -> CodedAudit:
    """Draw an audit by one of the designs; the expert knows the true labels."""
    power, floor = DESIGNS[design]
    models = test_set.predictions if pool is None else pool
    # The library's disagreement is the squared entropy.
    doubts = None if power is None else disagreement(models) ** (power / 2)
    plan = draw_audit(test_set.n, size, disagreement=doubts, floor=floor, seed=seed)
    words = test_set.labelled(test_set.true_labels).vocabulary
    return plan.answered(test_set.true_labels[plan.rows]).coded(words, test_set.n)


# --- how often the bounds of the audited comparison fail ------------------------------------------------------------

LEVEL_KINDS: tuple[Kind, ...] = ("adversarial", "feature", "uniform", "class")
LEVEL_RATES = (0.01, 0.05, 0.2, 0.3)
LEVEL_SIZES = ((2000, 100), (2000, 500), (500, 25), (10_000, 500))
TAILS = (0.025, 0.001)


def missed(cell: tuple[int, int, str, Kind, float], repeats: int) -> Row:
    """Count how often the lower bound of a difference exceeds it: each claim at a threshold that it just misses."""
    n, size, design, kind, rate = cell
    # An attack makes one bound at a time.
    found = bound_failures(*cell, repeats=10 * repeats if kind == "adversarial" else repeats)
    row: Row = {"n": n, "labels": size, "design": design, "kind": kind, "noise": f"{rate:g}"}
    row["bounds"] = found[TAILS[0]].size
    return row | {f"missed_at_{tail:g}": f"{found[tail].mean():.5f}" for tail in TAILS}


def bound_failures(
    n: int, size: int, design: str, kind: Kind, rate: float, *, repeats: int, pairs_at_once: int = 20, seed: int = 0
) -> dict[float, Flags]:
    """Whether the bounds of random pairs of similar models miss the true difference, per tail; shape (bounds,).

    The noise is made anew for each tenth of the repetitions. If it is adversarial, only the bound that it attacks
    counts.
    """
    test_set = world(seed, n=n)
    right = test_set.predictions == test_set.true_labels
    accuracy = right.mean(axis=1)
    pairs = all_pairs(len(accuracy))
    pairs = pairs[np.abs(accuracy[pairs[:, 0]] - accuracy[pairs[:, 1]]) < 0.1]
    rng = np.random.default_rng([seed, n, size])
    missed: dict[float, list[Flags]] = {tail: [] for tail in TAILS}
    for repeat in range(repeats):
        if repeat % 10 == 0 or kind == "adversarial":
            chosen = pairs[rng.choice(len(pairs), 1 if kind == "adversarial" else pairs_at_once, replace=False)]
            labels = noisy_labels(
                test_set, rate, kind, baseline=chosen[0, 0], candidate=chosen[0, 1], seed=seed + repeat
            )
        audit = shared_audit(test_set, design, size, seed=seed + repeat)
        truth = accuracy[chosen[:, 1]] - accuracy[chosen[:, 0]]
        asked = question(test_set, labels, pairs=chosen, audit=audit, inference="test_set")
        for tail in TAILS:
            outcomes = by_audit(replace(asked, level=1 - 2 * tail))
            missed[tail].append(outcomes.low > truth + 1e-12)
            if kind != "adversarial":
                missed[tail].append(outcomes.high < truth - 1e-12)
    return {tail: np.concatenate(flags) for tail, flags in missed.items()}


WORLDS = [(rate, seed) for rate in NOISE_RATES for seed in SEEDS]
LEVELS = [
    (n, size, design, kind, rate)
    for n, size in LEVEL_SIZES
    for design in ("uniform", "entropy", "squared entropy")
    for kind in LEVEL_KINDS
    for rate in LEVEL_RATES
]

if __name__ == "__main__":
    main(
        {
            "comparison_power": Table(cells=WORLDS, measured=decided, store=True),
            "audited_level": Table(cells=LEVELS, measured=missed, repeats=100, store=True),
        }
    )
