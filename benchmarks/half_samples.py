"""Whether half-samples that are scored in half the time vary as evaluations of new rows do.

A half-sample has the folds, tuning rows and bins of the whole in proportion, and its forests choose with half of the
trees. Its spread is set beside that of evaluations of as many new rows each as the whole has, which it is to tell, and
beside that of half-samples that are scored as if they were all rows there are.

Writes results/half_samples.csv, and results/half_sample_costs.csv: what 50 of them cost, by predictor.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.cases import cpu_seconds, mixing
from benchmarks.loop import Table, main
from demele.core.seeds import rng_for
from demele.metrics.data import Data
from demele.metrics.options import Run
from demele.metrics.request import resolved
from demele.metrics.source import InMemory, half_of_rows
from demele.metrics.tasks import Task, planned, run_task
from demele.scoring.evaluate import Call, checked_call

FITS = ("dci_forest", "dci_boosting", "dci_lasso")
#: One metric of each predictor.
PREDICTORS = ("dci_forest_modularity", "dci_boosting_modularity", "dci_lasso_modularity", "sap", "explicitness")
#: Evaluations of new rows, those of them that are halved, and half-samples of each.
WHOLES, HALVED, DRAWS = 60, 6, 20
#: Half-samples of a bootstrap.
RESAMPLES = 50
NAMES = tuple(f"{fit}_{what}" for fit in FITS for what in ("modularity", "compactness", "explicitness"))


def sample(n: int, identity: int) -> InMemory:
    """Draw rows: a factor of 4 classes and a quantity, mixed in 4 codes."""
    rng = rng_for(0, "half-samples", n, identity)
    factors = np.column_stack([rng.integers(0, 4, n) / 3, rng.random(n)])
    mixed = factors @ np.array([[1.0, 0.3, 0.1, 0.5], [0.1, 0.8, 0.4, 0.5]]) + 0.15 * rng.normal(size=(n, 4))
    source = CALL.read(mixed, factors)
    assert isinstance(source, InMemory)
    return source


CALL = checked_call(NAMES, Run.checked(n_bootstrap=2))


def values(task: Task, data: Data) -> dict[str, float]:
    """Return what one task scores."""
    result = run_task(task, data)
    if result.error is not None:
        raise result.error
    return {name: float(native.value) for name, native in result.natives.items()}


def half_of(whole: Task, draw: int) -> Task:
    """Return the same work on one half-sample."""
    return replace(whole, variant="half", index=draw)


def costs(n: int, n_factors: int, draws: int, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield CPU seconds of each predictor on all rows and on a half-sample, the smallest of some rounds each."""
    call = checked_call(PREDICTORS, Run.checked(n_bootstrap=2))
    codes, factors = mixing(n, 8, 0.2)
    source = call.read(codes, factors[:, :n_factors])
    assert isinstance(source, InMemory)
    data = source.data

    def seconds(task: Task) -> float:
        return cpu_seconds(lambda: values(task, data), rounds)

    whole, half = {}, {}
    for tasks in planned_fits(call, source):
        first = tasks[0]
        values(half_of(first, 0), data)  # imports what it needs
        whole[first.stream] = seconds(first)
        half[first.stream] = float(np.mean([seconds(half_of(first, draw)) for draw in range(draws)]))
    whole["together"], half["together"] = sum(whole.values()), sum(half.values())
    for name, own in whole.items():
        yield {
            "rows": n,
            "factors": n_factors,
            "predictor": name,
            "seconds": round(own, 4),
            "seconds_of_a_half": round(half[name], 4),
            f"{RESAMPLES}_halves_over_one_evaluation": round(RESAMPLES * half[name] / own, 1),
        }


def planned_fits(call: Call, source: InMemory) -> list[list[Task]]:
    """Return the tasks of each fit."""
    requests = [resolved(one, source, call.run.seed) for one in call.asked]
    return [own for _, own in planned(requests, source, call.run, shuffle=False, guards=True)[0]]


def spreads(n: int, wholes: int) -> Iterator[dict[str, Any]]:
    """Yield the standard deviations of each metric: over new rows, and over half-samples in both ways."""
    halved, draws = (HALVED, DRAWS) if wholes == WHOLES else (wholes, 2)
    found: dict[str, list[list[dict[str, float]]]] = {"new rows": [[]], "half": [], "half as a whole": []}
    seconds = dict.fromkeys(found, 0.0)
    for identity in range(wholes):
        source = sample(n, identity)
        data = source.data
        scored: dict[str, dict[int, dict[str, float]]] = {key: {} for key in found}
        for tasks in planned_fits(CALL, source):
            whole = tasks[0]
            started = time.process_time()
            scored["new rows"].setdefault(0, {}).update(values(whole, data))
            seconds["new rows"] += time.process_time() - started
            for draw in range(draws if identity < halved else 0):
                half = half_of(whole, draw)
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


if __name__ == "__main__":
    main(
        {
            "half_samples": Table(cells=(4_400,), measured=spreads, repeats=WHOLES),
            "half_sample_costs": Table(
                cells=(6_000,), measured=lambda n, rounds: costs(n, 6, rounds, rounds), repeats=3
            ),
        }
    )
