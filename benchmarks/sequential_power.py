"""Sequential comparisons on simulated test sets: errors, and labels asked for, under several noises and inferences.

``python -m benchmarks.sequential_power`` (some minutes); writes results/sequential_power.csv. Each row is a mean over
four worlds of 100 classifiers; the median and mean of labels if certified are over all certified pairs of all worlds.
"""

import time
from typing import Any

import numpy as np

from benchmarks.loop import Row, Table, main
from benchmarks.worlds import all_pairs, noisy_labels, rates, reference, world
from demele.classifiers.comparison.sequential_plan import sequential_many
from demele.noise.audit import disagreement

SEEDS = range(4)
ALPHA, CAP = 0.001, 1000
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


def measured(cell: tuple[str, str, float, dict[str, Any]]) -> Row:
    """Compare all pairs of every world, one label at a time."""
    what, noise, rate, options = cell
    start, found, labels_used = time.process_time(), [], []
    inference = options.get("inference", "overlap")
    for seed in SEEDS:
        made = world(seed, kind=options.get("kind", "thesis"))
        labels = noisy_labels(made, rate, noise)  # type: ignore[arg-type]
        known = {"wrong": int(rate * made.n + 1e-9)} | {
            key: options[key] for key in ("wrong", "start") if key in options
        }
        if "disagreement" in options:
            known["disagreement"] = disagreement(made.predictions)
        pairs = all_pairs(len(made.predictions))
        certified, used = sequential_many(
            *(labels, made.predictions, pairs, made.true_labels),
            **{"alpha": ALPHA, "inference": inference, "cap": CAP, "seed": seed, **known},
        )
        right = reference(made)
        if inference != "overlap":
            hits = np.count_nonzero(made.predictions == made.true_labels, axis=1)
            right = hits[pairs[:, 1]] > hits[pairs[:, 0]]
        found.append(rates(certified, right))
        labels_used.append((used, used[certified]))
    each = np.concatenate([used for _, used in labels_used])
    return {
        "what": what,
        "noise": f"{noise} {rate:.0%}",
        "inference": inference,
        "type_1": round(float(np.mean([one.type_1 for one in found])), 4),
        "type_2": round(float(np.mean([one.type_2 for one in found])), 2),
        "median_if_certified": float(np.median(each)) if each.size else float("nan"),
        "mean_if_certified": round(float(each.mean()), 1) if each.size else float("nan"),
        "mean_labels": round(float(np.mean([used.mean() for used, _ in labels_used])), 1),
        "alpha": ALPHA,
        "seconds": round((time.process_time() - start) / len(SEEDS), 1),
    }


if __name__ == "__main__":
    main({"sequential_power": Table(cells=SETTINGS, measured=measured)})
