"""The card of a metric: its level by chance, what leaves it alone, what it costs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from demele.bench.criteria import Criterion, Part
from demele.bench.scenario import Candidate, Same, Scenario
from demele.bench.verdicts import Curve, Findings, judged
from demele.core.result import plain

__all__ = ["card_of"]

#: A change that moves a score by less than this leaves it alone; shuffled rows move those of random predictors by more
#: than nothing.
UNMOVED = 0.02


def card_of(found: Findings, item: Candidate) -> dict[str, Any]:
    """Return the card of one metric, as plain lists and numbers."""
    scenarios = {scenario.name: scenario for scenario in found.scenarios}
    curves = {scenario: curve for (metric, scenario), curve in found.curves.items() if metric == item.name}
    card: dict[str, Any] = {
        "chance": _chance(scenarios, curves, found.level),
        "chance_by_size": _by_size(scenarios.get("chance"), curves, found.level),
        "invariances": _invariances(item, scenarios.get("invariances"), curves, found.level),
        "seconds": _seconds(found, item),
        "seconds_rows": found.rows_for(item.name),
        "cost": _cost(found, item, scenarios.get("sample_size")),
    }
    plain_card: dict[str, Any] = plain(card)
    return plain_card


def _chance(scenarios: Mapping[str, Scenario], curves: Mapping[str, Curve], level: float) -> dict[str, Any] | None:
    """Score of codes that are nothing but noise."""
    scenario, curve = scenarios.get("noise"), curves.get("noise")
    if scenario is None or curve is None or curve.declined is not None or 1.0 not in scenario.severities:
        return None
    place = scenario.position(1.0)
    return curve.point(place, level) if curve.n[place] else None


def _by_size(scenario: Scenario | None, curves: Mapping[str, Curve], level: float) -> list[dict[str, Any]]:
    if scenario is None or curves[scenario.name].declined is not None:
        return []
    curve = curves[scenario.name]
    return [
        {"n_samples": int(size), **curve.point(place, level)}
        for place, size in enumerate(scenario.severities)
        if curve.n[place]
    ]


def _invariances(
    item: Candidate, scenario: Scenario | None, curves: Mapping[str, Curve], level: float
) -> list[dict[str, Any]]:
    """Return what each change of the same rows does to a score: the mean difference, and whether it is more than 0."""
    if scenario is None or curves[scenario.name].declined is not None:
        return []
    curve, lines = curves[scenario.name], []
    base = dict(zip(curve.seeds[0].tolist(), curve.values[0].tolist(), strict=True))
    for place, severity in enumerate(scenario.severities[1:], start=1):
        pairs = zip(curve.seeds[place].tolist(), curve.values[place].tolist(), strict=True)
        differences = [abs(value - base[seed]) for seed, value in pairs if seed in base]
        if not differences:
            continue
        same = Same(at=severity, than=scenario.severities[0], within=UNMOVED)
        criterion = Criterion(
            name="unmoved",
            title=scenario.label(place),
            question=scenario.question,
            rule=same.text,
            group="added",
            parts=(Part(scenario=scenario.name, claims=(), expectations=(same,)),),
        )
        found = judged(
            item.name, [item], criterion, {scenario.name: scenario}, {(item.name, scenario.name): curve}, level
        )
        # one draw on which nothing moved, not even by rounding, is not inconclusive
        status = "holds" if max(differences) == 0.0 else found.status
        lines.append({"change": scenario.label(place), "difference": float(np.mean(differences)), "status": status})
    return lines


def _seconds(found: Findings, item: Candidate) -> float | None:
    """Median seconds of a call at the size of the run, with whatever else the machine did."""
    measured: Sequence[Any] = [
        times
        for (group, scenario), by_severity in found.seconds.items()
        if group == item.group and scenario in ("noise", "mixing", "partial")
        for times in by_severity
    ]
    return float(np.median(np.concatenate(measured))) if measured else None


def _cost(found: Findings, item: Candidate, scenario: Scenario | None) -> list[dict[str, Any]]:
    times = None if scenario is None else found.seconds.get((item.group, scenario.name))
    if scenario is None or times is None:
        return []
    sizes = sorted((int(size), float(np.median(own))) for size, own in zip(scenario.severities, times, strict=True))
    return [{"n_samples": size, "seconds": seconds} for size, seconds in sizes]
