"""The card of a metric: its level by chance, what leaves it alone, what it costs."""

from typing import Any

import numpy as np

from demele.bench.criteria import Part
from demele.bench.scenario import Candidate, Same
from demele.bench.scenarios import SCENARIOS
from demele.bench.verdicts import Findings, judged_part
from demele.core.result import plain

#: A change that moves a score by less than this leaves it alone; shuffled rows move those of random predictors by more
#: than nothing.
UNMOVED = 0.02


def card_of(found: Findings, item: Candidate) -> dict[str, Any]:
    """Return the card of one metric, as plain lists and numbers."""
    scenarios = {scenario.name: scenario for scenario in found.scenarios}
    curves = {name: curve for name in scenarios if (curve := found.curves[item.name, name]).declined is None}

    def points(name: str) -> dict[float, dict[str, Any]]:
        """Return mean scores on a scenario by severity, where the metric has values."""
        places = enumerate(scenarios[name].severities if name in curves else ())
        return {severity: curves[name].point(place, found.level) for place, severity in places if curves[name].n[place]}

    # with whatever else the machine did
    usual = [own for name in ("noise", "mixing", "partial") for own in found.seconds.get((item.group, name), ())]
    sizes = scenarios["sample_size"].severities if "sample_size" in scenarios else ()
    cost = zip(map(int, sizes), map(np.median, found.seconds.get((item.group, "sample_size"), ())), strict=False)
    card = {
        "chance": points("noise").get(1.0),
        "chance_by_size": [{"n_samples": int(size), **point} for size, point in points("chance").items()],
        "invariances": _invariances(found, item) if "invariances" in curves else [],
        "seconds": float(np.median(np.concatenate(usual))) if usual else None,
        "seconds_rows": found.rows_for(item.name),
        "cost": [{"n_samples": size, "seconds": float(own)} for size, own in sorted(cost)],
    }
    plain_card: dict[str, Any] = plain(card)
    return plain_card


def _invariances(found: Findings, item: Candidate) -> list[dict[str, Any]]:
    """Return what each change of the same rows does to a score: the mean difference, and whether it is more than 0."""
    scenario, lines = SCENARIOS["invariances"], []
    curve = found.curves[item.name, scenario.name]
    for place, severity in enumerate(scenario.severities[1:], start=1):
        base, moved = curve.by_seed[0], curve.by_seed[place]
        differences = [abs(moved[seed] - base[seed]) for seed in moved if seed in base]
        if differences:
            same = Same(at=severity, than=scenario.severities[0], within=UNMOVED)
            part = Part(scenario=scenario.name, claims=(), expectations=(same,))
            status = judged_part(item, part, {scenario.name: scenario}, found.curves, found.level).status
            # one draw on which nothing moved, not even by rounding, is not inconclusive
            status = "holds" if max(differences) == 0.0 else status
            lines.append({"change": scenario.label(place), "difference": float(np.mean(differences)), "status": status})
    return lines
