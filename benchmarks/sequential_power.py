"""Sequential comparisons: which way to ask and to bet certifies most with fewest labels, and does the level hold?

``python -m benchmarks.sequential_power`` (about ten minutes); writes results/sequential_power.csv.

Rows with ``part`` = "variant": ways to ask and to bet, on the same worlds (4 seeds, 5% feature-dependent noise).
"setting": the way that is built in, under other noises and inferences. "level": how often a claim false by a hair
is made; wrong labels are placed where they help it.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Table, main
from benchmarks.worlds import World, all_pairs, noisy_labels, question, rates, reference, world
from demele.core.labelled import Indices
from demele.core.seeds import rng_for
from demele.evaluation.comparison.betting import FRACTIONS, mixed, ratios
from demele.evaluation.comparison.sequential_plan import sequential_many
from demele.evaluation.intervals import overlap_gap
from demele.evaluation.question import pair_counts
from demele.noise.audit import disagreement as pool_disagreement

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

SEEDS = range(4)
ALPHA, CAP, LEVEL = 0.001, 1000, 0.95


@dataclass(frozen=True)
class Variant:
    """A way to ask and to bet.

    ``weight_lost``: of rows whose label is with the baseline, where they are asked at all; ``capacity``: weights
    2 and 1 for label with the candidate and with neither, else 1 for all. ``money``: exponent of the share in the money
    on it. ``rule``: rows with label = baseline are left out above this. ``floor``: what the disagreement leaves as it
    is; ``close_only``: only where these rows are not left out. ``hindsight``: the best single share for each pair,
    which no method can know: a limit. ``start``: "always"; "open", unless the labels clearly show the contrary;
    "shown", only if the labels, were they right, would show the claim.
    """

    capacity: bool = True
    weight_lost: float = 2.0
    money: float = 1.0
    rule: float = 0.2
    start: Literal["always", "open", "shown"] = "open"
    floor: float = 1.0
    close_only: bool = True
    give_up: float = 20.0
    hindsight: bool = False

    def weights(self, before: NDArray[np.int8], doubts: Floats, reduced: bool) -> Floats:
        """Return the weights of some rows, given s(given) of each."""
        weights = np.ones(before.size)
        if self.capacity:
            weights = np.where(before > 0, 2.0, np.where(before < 0, self.weight_lost, 1.0))
        if self.floor < 1 and not (reduced and self.close_only) and doubts.mean() > 0:
            weights = weights * (self.floor + (1 - self.floor) * doubts / doubts.mean())
        return weights


VARIANTS: dict[str, Variant] = {
    "the study's: uniform, equal money, give up at 20": Variant(capacity=False, money=0, rule=0.3, start="always"),
    "+ money in proportion to the share": Variant(capacity=False, rule=0.3, start="always"),
    "+ weights by what a label can change (2, 1; 1)": Variant(rule=0.3, weight_lost=1, start="always"),
    "+ weights 2, 1; 2 and leave out above 0.2": Variant(start="always"),
    "+ ask nothing if the labels clearly show the contrary (built in)": Variant(),
    "ask only if the labels show the claim (built in, optional)": Variant(start="shown"),
    "+ disagreement of the pool in close pairs, floor 0.7 (built in, optional)": Variant(floor=0.7),
    "disagreement in close pairs, floor 0.5": Variant(floor=0.5),
    "disagreement everywhere, floor 0.7": Variant(floor=0.7, close_only=False),
    "disagreement everywhere, floor 0.3": Variant(floor=0.3, close_only=False),
    "weights 2, 1; 1": Variant(weight_lost=1),
    "weights 2, 1; 0.25": Variant(weight_lost=0.25),
    "leave out above 0.1": Variant(rule=0.1),
    "leave out above 0.5": Variant(rule=0.5),
    "never leave out": Variant(rule=9.0),
    "equal money": Variant(money=0),
    "money on square of the share": Variant(money=2),
    "give up at 5": Variant(give_up=5.0),
    "never give up": Variant(give_up=np.inf),
    "best share in hindsight (no method)": Variant(hindsight=True),
}


def tried(variant: Variant, world: World, labels: Indices, gaps: Floats) -> tuple[Flags, NDArray[np.int64], int]:
    """Simulate a variant on all ordered pairs: certified, labels used, distinct rows asked for all pairs together."""
    pairs = all_pairs(len(world.predictions))
    counts = pair_counts(world.labelled(labels), pairs[:, 0], pairs[:, 1])
    small, given, truth = (values.astype(np.int8) for values in (world.predictions, labels, world.true_labels))
    doubts = pool_disagreement(world.predictions) if variant.floor < 1 else np.ones(world.n)
    clocks = rng_for(world.seed, "sequential", world.n).exponential(size=world.n)
    money = FRACTIONS**variant.money
    money = money / money.sum()
    certified, used, seen = np.zeros(len(pairs), bool), np.zeros(len(pairs), np.int64), np.zeros(world.n, bool)
    for index, (i, j) in enumerate(pairs):
        lost, won, neither = (int(part[index]) for part in (counts.lost, counts.won, counts.neither))
        threshold = -(won - lost - int(np.floor(gaps[index])))
        contrary = lost - won - np.floor(gaps[index]) > variant.rule * (lost + neither)
        if (variant.start == "shown" and threshold >= 0) or (variant.start == "open" and contrary):
            continue
        apart = np.flatnonzero(small[i] != small[j])
        before, after = (
            (small[j, apart] == side[apart]).astype(np.int8) - (small[i, apart] == side[apart])
            for side in (given, truth)
        )
        reduced = -threshold > variant.rule * (won + neither)
        if reduced:
            apart, before, after = (values[before >= 0] for values in (apart, before, after))
        weights = variant.weights(before, doubts[apart], reduced)
        loss = float((np.where(before > 0, 2, before == 0) / weights).max())
        gain = float((np.where(before < 0, 2, before == 0) / weights).max())
        order = np.argsort(clocks[apart] / weights)[:CAP]
        scores, mass, total = (after - before)[order].astype(float), weights[order], float(weights.sum())
        # Most pairs are decided early: the whole path is computed only for the others.
        for read in sorted({min(128, scores.size), scores.size}):
            part, parts = scores[:read], mass[:read]
            paid, refuted = ratios(part, parts, total, threshold, loss=loss, gain=gain)
            each = np.cumsum(np.log1p(paid[:, None] * FRACTIONS), axis=0)
            wealth = each.max(axis=1) if variant.hindsight else np.log(np.exp(np.minimum(each, 600)) @ money)
            against, _ = ratios(-part, parts, total, -threshold, loss=gain, gain=loss)
            shown = np.flatnonzero((wealth >= -np.log(ALPHA)) | refuted)
            ended = np.flatnonzero(mixed(against) >= np.log(variant.give_up))
            first, last = (int(found[0]) + 1 if found.size else CAP + 1 for found in (shown, ended))
            certified[index], used[index] = first <= min(last, scores.size), min(first, last, scores.size)
            if shown.size or ended.size:
                break
        seen[apart[order[: used[index]]]] = True
    return certified, used, int(seen.sum())


def summary(runs: list[tuple[Flags, NDArray[np.int64], int, Flags]]) -> dict[str, object]:
    """Average over worlds; the median over all certified pairs of all worlds."""
    found = [rates(certified, right) for certified, _, _, right in runs]
    each = np.concatenate([used[certified] for certified, used, _, _ in runs])
    return {
        "type_1": round(float(np.mean([rate.type_1 for rate in found])), 4),
        "type_2": round(float(np.mean([rate.type_2 for rate in found])), 2),
        "median_if_certified": float(np.median(each)) if each.size else float("nan"),
        "mean_if_certified": round(float(each.mean()), 1) if each.size else float("nan"),
        "mean_labels": round(float(np.mean([used.mean() for _, used, _, _ in runs])), 1),
        "distinct_labels": round(float(np.mean([distinct for _, _, distinct, _ in runs]))),
    }


def required(world: World, labels: Indices, wrong: int) -> Floats:
    """Return the gap that each pair must show for the overlap of intervals."""
    first, second = question(world, labels).sides()
    return overlap_gap(first.successes, second.successes, world.n, wrong=wrong, level=LEVEL)


@cache
def worlds() -> list[tuple[World, Indices, Flags]]:
    """Return the worlds that all variants are tried on, their labels, and what true labels show."""
    made = [world(seed) for seed in SEEDS]
    return [(one, noisy_labels(one, 0.05), reference(one)) for one in made]


def tried_variant(name: str) -> dict[str, object]:
    """Try a way to ask and to bet."""
    start, variant = time.process_time(), VARIANTS[name]
    runs = [(*tried(variant, made, labels, required(made, labels, 600)), right) for made, labels, right in worlds()]
    seconds = (time.process_time() - start) / len(runs)
    row = {"part": "variant", "what": name, "noise": "feature 5%", "inference": "overlap"}
    return {**row, **summary(runs), "alpha": ALPHA, "seconds": round(seconds, 1)}


def setting(what: str, noise: str, rate: float, options: dict[str, Any]) -> dict[str, object]:
    """Run the built-in way under another noise or inference."""
    start, runs = time.process_time(), []
    inference = options.get("inference", "overlap")
    for seed in SEEDS:
        made = world(seed, kind=options.get("kind", "thesis"))
        labels = noisy_labels(made, rate, noise)  # type: ignore[arg-type]
        known = {"wrong": int(rate * made.n + 1e-9)} | {
            key: options[key] for key in ("wrong", "start") if key in options
        }
        if "disagreement" in options:
            known["disagreement"] = pool_disagreement(made.predictions)
        pairs = all_pairs(len(made.predictions))
        certified, used = sequential_many(
            *(labels, made.predictions, pairs, made.true_labels),
            **{"alpha": ALPHA, "inference": inference, "cap": CAP, "seed": seed, **known},
        )
        right = reference(made)
        if inference != "overlap":
            hits = np.count_nonzero(made.predictions == made.true_labels, axis=1)
            right = hits[pairs[:, 1]] > hits[pairs[:, 0]]
        runs.append((certified, used, -1, right))
    row = {"part": "setting", "what": what, "noise": f"{noise} {rate:.0%}", "inference": inference, **summary(runs)}
    seconds = round((time.process_time() - start) / len(SEEDS), 1)
    return {**row, "distinct_labels": "", "alpha": ALPHA, "seconds": seconds}


#: What is said of a setting, the noise and its rate, and options.
SETTINGS: list[tuple[str, str, float, dict[str, Any]]] = [
    *(("built in", "feature", rate, {}) for rate in (0.01, 0.02, 0.05, 0.10, 0.15, 0.20)),
    ("number of wrong labels not known", "feature", 0.05, {"wrong": None}),
    *(("with the disagreement of the pool", "feature", rate, {"disagreement": True}) for rate in (0.05, 0.20)),
    *(("asked only if the labels show the claim", "feature", rate, {"start": "shown"}) for rate in (0.05, 0.20)),
    *(("built in", noise, 0.05, {}) for noise in ("uniform", "class")),
    *(("built in, world 'hard'", "feature", rate, {"kind": "hard"}) for rate in (0.05, 0.20)),
    *(("built in, reference: the sign", "feature", 0.05, {"inference": one}) for one in ("test_set", "population")),
]

# Populations (score, weight, count) whose sum is the threshold: the claim is false, by a hair.
BOUNDARY: dict[str, list[tuple[float, float, int]]] = {
    "few large losses among 3000": [(-2, 2, 150), (0, 2, 2350), (0, 1, 500)],
    "many small losses among 3000": [(-1, 2, 300), (0, 2, 1700), (-1, 1, 300), (0, 1, 700)],
    "gains against losses among 3000": [(-2, 2, 300), (0, 2, 1200), (2, 2, 250), (0, 2, 1250)],
    "a population of 40": [(-2, 2, 5), (0, 2, 20), (-1, 1, 5), (0, 1, 10)],
    "a population of 12": [(-2, 2, 2), (0, 2, 6), (-1, 1, 1), (0, 1, 3)],
}


def level(groups: list[tuple[float, float, int]], *, uniform: bool, repetitions: int, seed: int) -> Floats:
    """Largest log wealth of each repetition: to stop at the best moment is the most harmful optional stopping."""
    scores, weights = (np.concatenate([np.full(count, part[k]) for *part, count in groups]) for k in (0, 1))
    if uniform:
        weights = np.ones(scores.size)
    bound = 2.0 if uniform else 1.0
    rng, largest = rng_for(seed, "boundary", scores.size), []
    for _ in range(repetitions // 100):
        order = np.argsort(rng.exponential(size=(100, scores.size)) / weights, axis=1)[:, :CAP]
        paid, refuted = ratios(scores[order], weights[order], weights.sum(), scores.sum(), loss=bound, gain=bound)
        largest.append(np.where(refuted.any(axis=1), np.inf, mixed(paid).max(axis=1)))
    return np.concatenate(largest)


def false_claims(name: str, uniform: bool) -> Iterator[dict[str, object]]:
    """Count how often false claims are made."""
    start, groups = time.process_time(), BOUNDARY[name]
    repetitions = 20_000 if sum(count for *_, count in groups) < 100 else 4_000
    largest = level(groups, uniform=uniform, repetitions=repetitions, seed=1)
    for alpha in (0.05, 0.01, 0.001):
        row = {"part": "level", "what": f"{name}, {'uniform' if uniform else 'weighted'}", "alpha": alpha}
        row["rate"] = float(np.mean(largest >= -np.log(alpha)))
        row["standard_error"] = round(float(np.sqrt(alpha * (1 - alpha) / repetitions)), 6)
        yield {**row, "seconds": round(time.process_time() - start, 1)}


CELLS = [
    *((tried_variant, name) for name in VARIANTS),
    *((setting, *one) for one in SETTINGS),
    *((false_claims, name, uniform) for name in BOUNDARY for uniform in (False, True)),
]
COLUMNS = (
    *("part", "what", "noise", "inference", "type_1", "type_2", "median_if_certified", "mean_if_certified"),
    *("mean_labels", "distinct_labels", "alpha", "rate", "standard_error", "seconds"),
)


def rows_of(found: list[tuple[Any, Any]]) -> Iterator[dict[str, object]]:
    """Yield all rows with the same columns."""
    for _, record in found:
        for row in record if isinstance(record, list) else [record]:
            yield {name: row.get(name, "") for name in COLUMNS}


if __name__ == "__main__":
    table = Table(cells=CELLS, measured=lambda cell: cell[0](*cell[1:]), rows=rows_of)
    main({"sequential_power": table})
