"""A characterisation as plain lists, texts and numbers: what JSON, the report and the command line show."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from demele.bench.scenario import Candidate, Same, Scenario
from demele.bench.scenarios import SCENARIOS
from demele.bench.verdicts import REVIEW_CRITERIA, Curve, Findings, Part, Status, Verdict, judged_part, row_name
from demele.core.errors import plural
from demele.core.result import plain
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.metric import Metric

# What the review printed ----------------------------------------------------------------------------------------------

PRINTED_VERDICTS_SOURCE = "Boilard's review, table 3.2"
PRINTED_SCORES_SOURCE = "Boilard's review, table 3.1 (means of 100 seeds, one decimal); Carbonneau et al. 2022"

# y: has the property; x: has it not; x*: has it not because it discretises; -: does not measure it; n/a: left out.
# The first cell of MIG is blank in print.
_VERDICTS = {
    "z_diff": "x - - y x* y y y x x",
    "z_min_variance": "x - - y x* y y y x x",
    "z_max_variance": "x - - x x* y x x x x",
    "irs": "y - y x x* n/a n/a x y x",
    "dci_lasso": "y x y x x y y y y y",
    "dci_forest": "y y y y y y y y y y",
    "explicitness": "- - y x x y n/a y y x",
    "sap": "- y - y x x n/a y y y",
    "mig": "blank y - y x* x x y y x",
    "mig_sup": "y - - y x* x x x y x",
    "jemmig": "y y y y x* x x y y x",
    "modularity": "x - - x x* x y x y x",
    "dcimig": "y x y y x* x x y y x",
}

#: Printed cell by row and criterion.
PRINTED_VERDICTS: Mapping[str, Mapping[str, str]] = {
    row: dict(zip([one.name for one in REVIEW_CRITERIA], cells.replace("blank", "").split(" "), strict=True))
    for row, cells in _VERDICTS.items()
}

_METRICS = (
    *("z_diff", "z_min_variance", "z_max_variance", "irs"),
    *("dci_lasso_modularity", "dci_lasso_compactness", "dci_lasso_explicitness"),
    *("dci_forest_modularity", "dci_forest_compactness", "dci_forest_explicitness"),
    *("explicitness", "sap", "mig", "mig_sup", "jemmig", "modularity", "dcimig"),
)
_SCORES = {
    1.0: (1.0, 1.0, 1.0, 0.8, 0.8, 1.0, 0.6, 1.0, 0.7, 1.0, 1.0, 0.6, 0.0, 0.7, 0.4, 1.0, 0.6),
    2.0: (1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0, 0.7, 1.0, 1.0, 0.0, 0.0, 1.0, 0.5, 1.0, 1.0),
    3.0: (1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0, 0.4, 1.0, 1.0, 0.0, 0.0, 1.0, 0.5, 1.0, 1.0),
}

#: Printed score by severity of the scenario "redundant" and metric.
PRINTED_SCORES: Mapping[float, Mapping[str, float]] = {
    severity: dict(zip(_METRICS, scores, strict=True)) for severity, scores in _SCORES.items()
}
#: What a status is in print; what else is printed is not applicable.
_STATUS = {"y": "holds", "x": "fails", "x*": "fails"}


def printed_verdict(row: str, criterion: str) -> str | None:
    """Return the printed cell of a row and criterion; None where the review has none.

    Examples
    --------
    >>> from demele.bench.dictionary import printed_verdict
    >>> printed_verdict("irs", "non_linear"), printed_verdict("dlig", "non_linear")
    ('x*', None)
    """
    return PRINTED_VERDICTS.get(row, {}).get(criterion)


def agrees(printed: str, status: Status) -> bool:
    """Whether a printed cell and a computed status say the same; nothing agrees with "inconclusive".

    Examples
    --------
    >>> from demele.bench.dictionary import agrees
    >>> agrees("y", "holds"), agrees("x*", "fails"), agrees("-", "not applicable"), agrees("y", "inconclusive")
    (True, True, True, False)
    """
    return status == _STATUS.get(printed, "not applicable")


def agreement(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Count how many verdicts say what the review printed; what was not run is left out.

    Returns
    -------
    dict
        ``cells``: verdicts with a printed cell; ``agree``: those that say the same; ``judged``: cells that the review
        printed as had or not had, and that apply here too; ``judged_agree``: those of them that say the same.
    """
    counts = Counter(cells=0, agree=0, judged=0, judged_agree=0)
    for verdict in verdicts:
        printed = printed_verdict(verdict.row, verdict.criterion)
        if printed is not None and verdict.was_run:
            same, both = agrees(printed, verdict.status), printed in _STATUS and verdict.status != "not applicable"
            counts.update(cells=1, agree=same, judged=both, judged_agree=same and both)
    return dict(counts)


# The card of a metric: its level by chance, what leaves it alone, what it costs ---------------------------------------

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


def to_dictionary(found: Findings) -> dict[str, Any]:
    """Return everything that is shown of a characterisation."""
    complete = found.protocol == "review2022"  # the printed tables were made with these settings
    content: dict[str, Any] = {
        "kind": "characterisation",
        "demele": found.version,
        "protocol": found.protocol,
        "n_samples": found.n_samples,
        "level": found.level,
        "seeds": dict(found.seeds),
        "slow_seeds": dict(found.slow_seeds),
        "metrics": [_metric(found, item, row_name(item)) for item in found.candidates],
        "rows": [
            {"name": row.name, "title": row.title, "metrics": [item.name for item in row.members], "own": row.own}
            for row in found.rows
        ],
        "scenarios": [_scenario(item, found.rows_of.get(item.name)) for item in found.scenarios],
        "curves": [
            _curve(found, found.curves[item.name, scenario.name])
            for scenario in found.scenarios
            for item in found.candidates
        ],
        "criteria": [
            {
                **{what: getattr(item, what) for what in ("name", "title", "question", "rule", "group")},
                "scenarios": list(dict.fromkeys(part.scenario for part in item.parts)),
            }
            for item in found.criteria
        ],
        "verdicts": [_verdict(item, complete) for item in found.verdicts],
        "agreement": agreement(found.verdicts) if complete else None,
        "printed_scores": printed_scores(found) if complete else [],
    }
    plain_content: dict[str, Any] = plain(content)
    return plain_content


def _metric(found: Findings, item: Candidate, row: str) -> dict[str, Any]:
    spec = item.function if isinstance(item.function, Metric) else None
    spec = CATALOGUE.get(item.name) if item.function is None else spec
    fewer = found.fewer(item.name)
    said = None if fewer is None else f"{plural(fewer[0], 'seed', 'seeds')} of {fewer[1]:,} rows"
    return {
        "name": item.name,
        "title": item.title,
        "row": row,
        "own": item.function is not None,
        "family": None if spec is None else spec.family,
        "properties": item.claims,
        "definition": "" if spec is None else spec.definition,
        "source": "" if spec is None else spec.source,
        "range": None if spec is None else spec.range,
        "discretises": item.discretises,
        "stochastic": (True if item.name in found.drifting else None) if spec is None else spec.stochastic,
        "drifts": found.drifting.get(item.name),
        "fewer": None if fewer is None else {"seeds": fewer[0], "n_samples": fewer[1], "text": said},
        "characterised": all(found.curves[item.name, scenario.name].characterised for scenario in found.scenarios),
        "card": card_of(found, item),
    }


def _scenario(item: Scenario, rows: tuple[int, int] | None) -> dict[str, Any]:
    return {
        **{name: getattr(item, name) for name in ("name", "title", "question", "sweep", "severities")},
        "labels": [item.label(place) for place in range(len(item.severities))],
        "source": item.source,
        "kind": item.kind,
        "own": item.name not in SCENARIOS,
        "rows": rows,
        "wanted": [{"property": key, "text": each.text} for key in item.wanted for each in item.wanted[key]],
    }


def _curve(found: Findings, curve: Curve) -> dict[str, Any]:
    points = [] if curve.declined else [curve.point(place, found.level) for place in range(len(curve.outcomes))]
    return {
        "metric": curve.metric,
        "scenario": curve.scenario,
        **{what: [point[what] for point in points] for what in ("mean", "low", "high", "n")},
        "failed": curve.failed[: len(points)],
        "reasons": [next(iter(own), None) for own in curve.reasons[: len(points)]],
        "declined": curve.declined,
    }


def _verdict(item: Verdict, complete: bool) -> dict[str, Any]:
    printed = printed_verdict(item.row, item.criterion) if complete else None
    parts = [{what: getattr(part, what) for what in ("metric", "scenario", "status", "reason")} for part in item.parts]
    agreed = agrees(printed, item.status) if printed is not None and item.was_run else None
    told = {what: getattr(item, what) for what in ("row", "criterion", "status", "summary", "was_run")}
    return {**told, "parts": parts, "printed": printed, "agrees": agreed}


def printed_scores(found: Findings) -> list[dict[str, Any]]:
    """Return the published table of the redundant scenario, with our scores."""
    lines = []
    for scenario in (item for item in found.scenarios if item.name == "redundant"):
        for severity in (one for one in PRINTED_SCORES if one in scenario.severities):
            place = scenario.position(severity)
            for name, printed in PRINTED_SCORES[severity].items():
                curve = found.curves.get((name, scenario.name))
                if curve is not None and curve.n[place]:
                    point = curve.point(place, found.level)
                    ours = point.pop("mean")
                    about = {"scenario_row": scenario.label(place), "severity": severity, "metric": name}
                    shown = {"printed": printed, "ours": ours, **point, "difference": ours - printed}
                    lines.append({**about, **shown})
    return lines
