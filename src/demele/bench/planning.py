"""What a run is to compute: arguments checked and resolved before anything is measured."""

import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np

from demele.bench.candidates import chosen_candidates
from demele.bench.run import Plan, measured, outcome
from demele.bench.scenario import Candidate, Scenario
from demele.bench.scenarios import chosen_scenarios
from demele.core.checked_numbers import checked_count
from demele.core.errors import DemeleWarning, InputError, InputTypeError, quoted, warn_user
from demele.core.names import suggestion
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.options import checked_jobs
from demele.metrics.protocols import DEFAULT_PROTOCOL, Protocol
from demele.metrics.protocols import protocol as protocol_named
from demele.metrics.request import merged_options
from demele.runtime.sweep import Sweep

__all__ = ["QUICK_SAMPLES", "QUICK_SEEDS", "SLOW_SEEDS", "Seeds", "checked_plan", "try_functions"]

#: How often: one number, or numbers by scenario or kind of scenario.
Seeds = int | Mapping[str, int]

#: What ``quick`` measures: enough to decide most verdicts with about 850 calls of a metric.
QUICK_SAMPLES = 5_000
QUICK_SEEDS: Mapping[str, int] = {"source": 12, "added": 5}
#: The most seeds of metrics that train predictors, where nothing else is said.
SLOW_SEEDS = 20
#: Fewest rows for which the scenarios are what they are meant to be.
LEAST_SAMPLES = 100


def checked_plan(
    metrics: Any,
    scenarios: Any,
    seeds: Seeds,
    slow_seeds: Seeds | None,
    n_samples: int,
    protocol: str,
    level: float,
    n_jobs: int,
    executor: Executor | None,
) -> Plan:
    """Return what :func:`characterise` would compute; errors as there."""
    candidates, chosen = chosen_candidates(metrics), chosen_scenarios(scenarios)
    checked_count(n_samples, "n_samples", LEAST_SAMPLES)
    candidates = tuple(_under(item, protocol_named(protocol)) for item in candidates)
    chosen = _that_fit(chosen, int(n_samples), protocol)
    if isinstance(level, bool) or not isinstance(level, int | float | np.floating) or not 0 < level < 1:
        raise InputError("level", f"expected a number between 0 and 1, got {quoted(level)}")
    checked_jobs(n_jobs)
    if executor is not None and not hasattr(executor, "submit"):
        raise InputTypeError("executor", f"expected a concurrent.futures.Executor, got {type(executor).__name__}")
    usual = _seeds_of("seeds", seeds, chosen)
    slow = {name: min(number, SLOW_SEEDS) for name, number in usual.items()}
    return Plan(
        candidates=candidates,
        scenarios=chosen,
        seeds=usual,
        slow_seeds=slow if slow_seeds is None else _seeds_of("slow_seeds", slow_seeds, chosen),
        n_samples=int(n_samples),
        protocol=protocol,
    )


def try_functions(plan: Plan, sweep: Sweep) -> dict[str, str]:
    """Call each new function twice on one representation, to report errors and unseeded draws before a long run.

    Returns
    -------
    dict
        The different scores of each function that draws without a seed; stored and reported with its rows.
    """
    drifting: dict[str, str] = {}
    rows, tasks = sweep.records, plan.tasks() if any(item.function is not None for item in plan.candidates) else []
    for item in (one for one in plan.candidates if one.function is not None):
        own = [task for task in tasks if task.about.group.name == item.name]
        kept = [str(rows[task.key]["drifts"]) for task in own if task.key in rows and "drifts" in rows[task.key]]
        if kept:
            drifting[item.name] = kept[0]
            warn_user(f"{item.name} {kept[0]}", DemeleWarning)
        if not own or any(task.key in rows for task in own):
            continue
        # half way along a sweep: on a perfect representation, luck has nothing to choose from
        scenario = own[0].about.scenario
        middle = scenario.severities[len(scenario.severities) // 2]
        tried = plan.task(scenario, middle, 0, item)
        where = f"on scenario {scenario.name!r} at {scenario.label(scenario.position(middle))}"
        with warnings.catch_warnings(action="ignore"):
            (record,), (again,) = measured((tried.about,)), measured((tried.about,))
        first, second = outcome(record, item.name), outcome(again, item.name)
        if first != second:
            drifting[item.name] = record["drifts"] = (
                f"gave {first} and then {second} {where}, on the same arrays: its draws have no seed, so its rows "
                "cannot be reproduced"
            )
            warn_user(f"{item.name} {drifting[item.name]}", DemeleWarning)
        elif isinstance(first, str):
            warn_user(f"{item.name} gives no value {where}: {first}; the run continues", DemeleWarning)
        rows.append([(tried.key, record)])
    return drifting


def _under(item: Candidate, protocol: Protocol) -> Candidate:
    """Return a candidate as a protocol measures it: with nearest neighbours, nothing is cut into bins."""
    if item.function is not None or not item.discretises:
        return item
    options = merged_options(CATALOGUE[item.name], protocol.options, {})
    return item if options.get("estimator", "histogram") == "histogram" else replace(item, discretises=False)


def _that_fit(scenarios: Sequence[Scenario], n_samples: int, protocol: str) -> tuple[Scenario, ...]:
    """Return the scenarios without sizes beyond the run's, and without sweeps around another protocol's settings."""
    fitting = []
    for item in scenarios:
        if item.kind == "settings" and protocol != DEFAULT_PROTOCOL:
            warn_user(
                f"scenario {item.name!r} sweeps around the settings of {DEFAULT_PROTOCOL!r} and is left out of a run "
                f"under {protocol!r}",
                DemeleWarning,
            )
        elif item.counts_rows and max(item.severities) > n_samples:
            kept = [place for place, rows in enumerate(item.severities) if rows <= n_samples]
            if not kept:
                raise InputError(
                    "n_samples", f"scenario {item.name!r} has {min(item.severities):g} rows at least, got {n_samples}"
                )
            severities = tuple(item.severities[place] for place in kept)
            labels = tuple(item.labels[place] for place in kept) if item.labels else ()
            fitting.append(replace(item, severities=severities, labels=labels))
        else:
            fitting.append(item)
    if not fitting:
        raise InputError("scenarios", f"none is left under the protocol {protocol!r}; name others")
    return tuple(fitting)


def _seeds_of(argument: str, given: Seeds, scenarios: Sequence[Scenario]) -> dict[str, int]:
    if not isinstance(given, Mapping):
        return dict.fromkeys((item.name for item in scenarios), checked_count(given, argument, 1))
    known = {"source", "added", *(item.name for item in scenarios)}
    for key, number in given.items():
        if key not in known:
            raise InputError(argument, f"this run has no scenario {key!r}{suggestion(str(key), known)}")
        checked_count(number, f"{argument}[{key!r}]", 1)
    found = {}
    for item in scenarios:
        kind = "source" if item.kind == "source" else "added"
        key = item.name if item.name in given else kind
        if key not in given:
            raise InputError(argument, f"expected a number for scenario {item.name!r}, or for {kind!r}, got neither")
        found[item.name] = int(given[key])
    return found
