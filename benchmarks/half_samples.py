"""Whether half-samples that are scored in half the time vary as evaluations of new rows do.

A half-sample has the folds, tuning rows and bins of the whole in proportion, and its forests choose with half of the
trees. Its spread is set beside that of evaluations of as many new rows each as the whole has, which it is to tell, and
beside that of half-samples that are scored as if they were all rows there are.

python -m benchmarks.half_samples     writes results/half_samples.csv
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.cases import write_rows
from demele.core.seeds import rng_for
from demele.metrics.data import Data
from demele.metrics.options import Run
from demele.metrics.pilot import planned_fits
from demele.metrics.source import InMemory, half_of_rows
from demele.metrics.tasks import Task, run_task
from demele.scoring.evaluate import checked_call

FITS = ("dci_forest", "dci_boosting", "dci_lasso")
NAMES = tuple(f"{fit}_{what}" for fit in FITS for what in ("modularity", "compactness", "explicitness"))


def sample(n: int, identity: int) -> InMemory:
    """Draw rows: a factor of 4 classes and a quantity, mixed in 4 codes."""
    rng = rng_for(0, "half-samples", n, identity)
    factors = np.column_stack([rng.integers(0, 4, n) / 3, rng.random(n)])
    mixed = factors @ np.array([[1.0, 0.3, 0.1, 0.5], [0.1, 0.8, 0.4, 0.5]]) + 0.15 * rng.normal(size=(n, 4))
    source = CALL.read(mixed, factors)
    assert isinstance(source, InMemory)
    return source


CALL = checked_call(NAMES, Run.checked(bootstrap=2))


def values(task: Task, data: Data) -> dict[str, float]:
    """Return what one task scores."""
    result = run_task(task, data)
    if result.error is not None:
        raise result.error
    return {name: float(native.value) for name, native in result.natives.items()}


def spreads(n: int, wholes: int, halved: int, draws: int) -> Iterator[dict[str, Any]]:
    """Yield the standard deviations of each metric: over new rows, and over half-samples in both ways."""
    found: dict[str, list[list[dict[str, float]]]] = {"new rows": [[]], "half": [], "half as a whole": []}
    seconds = dict.fromkeys(found, 0.0)
    for identity in range(wholes):
        source = sample(n, identity)
        data = source.data
        scored: dict[str, dict[int, dict[str, float]]] = {key: {} for key in found}
        for tasks in planned_fits(CALL.asked, source, CALL.run):
            whole = tasks[0]
            started = time.process_time()
            scored["new rows"].setdefault(0, {}).update(values(whole, data))
            seconds["new rows"] += time.process_time() - started
            for draw in range(draws if identity < halved else 0):
                half = Task(
                    **{**{key: getattr(whole, key) for key in Task.__slots__}, "variant": "half", "index": draw}
                )
                started = time.process_time()
                scored["half"].setdefault(draw, {}).update(values(half, data))
                between = time.process_time()
                alone = data.take(half_of_rows(n, whole.seed, draw))
                again = values(replace(whole, index=draw), alone)
                scored["half as a whole"].setdefault(draw, {}).update(again)
                seconds["half"] += between - started
                seconds["half as a whole"] += time.process_time() - between
        found["new rows"][0].append(scored["new rows"][0])
        if identity < halved:
            for way in ("half", "half as a whole"):
                found[way].append(list(scored[way].values()))
    runs = {"new rows": wholes, "half": halved * draws, "half as a whole": halved * draws}
    for way, groups in found.items():
        for name in NAMES:
            variances = [np.var([one[name] for one in group], ddof=1) for group in groups]
            yield {
                "rows": n,
                "way": way,
                "metric": name,
                "sd": round(float(np.sqrt(np.mean(variances))), 5),
                "degrees_of_freedom": sum(len(group) - 1 for group in groups),
                "seconds_a_run_of_all": round(seconds[way] / runs[way], 3),
            }


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wholes", type=int, default=60)
    parser.add_argument("--halved", type=int, default=6)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", type=int, nargs="+", default=[4_400])
    asked = parser.parse_args()
    rows = [row for n in asked.rows for row in spreads(n, asked.wholes, asked.halved, asked.draws)]
    write_rows("half_samples", rows)


if __name__ == "__main__":
    main()
