"""A small characterisation, made by hand: three metrics of two rows and one of the user's with a hostile name."""

from typing import Any

__all__ = ["HOSTILE", "minimal_characterisation", "own_characterisation", "sample_characterisation"]

#: Ends scripts, attributes and elements, if it is let.
HOSTILE = "\"'><script>document.title='owned'</script><img src=x onerror=alert(1)> {{data}} Größe & 50%"


def minimal_characterisation() -> dict[str, Any]:
    """One metric, and nothing that is known of it."""
    return {
        "demele": "0.1.0",
        "protocol": "review2022",
        "n_samples": 500,
        "level": 0.95,
        "seeds": 3,
        "slow_seeds": 3,
        "metrics": [
            {
                "name": "mine",
                "title": "mine",
                "row": "mine",
                "own": True,
                "family": None,
                "properties": None,
                "definition": "",
                "source": "",
                "range": None,
                "discretises": None,
                "stochastic": None,
                "card": {"chance": None, "chance_by_size": [], "invariances": [], "seconds": None, "cost": []},
            }
        ],
        "rows": [{"name": "mine", "title": "mine", "metrics": ["mine"], "own": True}],
        "scenarios": [],
        "curves": [],
        "criteria": [],
        "verdicts": [],
        "agreement": None,
        "printed_scores": [],
    }


def sample_characterisation() -> dict[str, Any]:
    """Two registered rows, the user's own metric, three scenarios, every status, both groups of criteria."""
    return {
        **minimal_characterisation(),
        "n_samples": 20_000,
        "seeds": 100,
        "slow_seeds": 20,
        "metrics": [
            _metric("mig", "MIG", "mig", ["compactness"], chance=0.00042, seconds=0.0114),
            _metric("dci_modularity", "DCI modularity", "dci", ["modularity"], chance=0.0213, seconds=2.53),
            _metric("dci_compactness", "DCI compactness", "dci", ["compactness"], chance=0.0317, seconds=2.53),
            {
                **_metric(HOSTILE, HOSTILE, HOSTILE, None, chance=0.4711, seconds=None),
                "own": True,
                "family": None,
                "definition": "",
                "source": "",
                "range": None,
                "discretises": None,
                "stochastic": None,
            },
        ],
        "rows": [
            {"name": "mig", "title": "MIG", "metrics": ["mig"], "own": False},
            {"name": "dci", "title": "DCI", "metrics": ["dci_modularity", "dci_compactness"], "own": False},
            {"name": HOSTILE, "title": HOSTILE, "metrics": [HOSTILE], "own": True},
        ],
        "scenarios": [
            {
                "name": "noise",
                "title": "Noise",
                "question": "Does the score fall as codes turn into noise?",
                "sweep": "share of noise in every code",
                "severities": [0.0, 0.5, 1.0],
                "labels": ["0", "0.5", "1"],
                "source": "the review, section 3.3.1",
                "kind": "source",
                "wanted": [{"property": "explicitness", "text": "falls by at least 0.001 at every step"}],
            },
            {
                "name": "redundant",
                "title": "Redundant <codes>",
                "question": "Is a factor that sits in several codes less compact?",
                "sweep": "codes of each factor",
                "severities": [1.0, 2.0],
                "labels": ["(1) [cos v, sin v]", "(2) [v, v]"],
                "source": "",
                "kind": "added",
                "wanted": [{"property": "any", "text": "stays within 0.05 of its first value"}],
            },
            {
                "name": "one",
                "title": "One step",
                "question": "A scenario of one severity?",
                "sweep": "nothing",
                "severities": [7.0],
                "labels": [],
                "source": "",
                "kind": "settings",
                "wanted": [],
            },
        ],
        "curves": [
            _curve("mig", "noise", [0.9876, 0.3456, 0.0012]),
            _curve("mig", "redundant", [0.6543, 0.0321]),
            _curve("mig", "one", [-0.125]),
            _curve("dci_modularity", "noise", [0.9911, 0.8822, 0.0433]),
            _curve("dci_modularity", "redundant", [1.0, None], reasons=[None, f"no split: {HOSTILE}"]),
            _curve("dci_compactness", "noise", [0.9811, 0.7722, 0.0333]),
            {**_curve("dci_compactness", "redundant", [None, None]), "declined": f"it declines <b>{HOSTILE}"},
            _curve(HOSTILE, "noise", [0.5151, None, 0.5252], reasons=[None, HOSTILE, None]),
            _curve(HOSTILE, "redundant", [0.5353, 0.5454]),
        ],
        "criteria": [
            _criterion("calibrated", "Calibrated", "review", ["noise"]),
            _criterion("multi_code", "Several codes per factor", "review", ["redundant"]),
            _criterion("no_bins", "No discretisation", "review", []),
            _criterion("invariant", "Invariant to scale", "added", ["noise"]),
        ],
        "verdicts": [
            _verdict("mig", "calibrated", "holds", "mig", "noise", printed="y", agrees=True),
            _verdict("mig", "multi_code", "fails", "mig", "redundant", printed="y", agrees=False),
            _verdict("mig", "no_bins", "fails", "mig", None, printed="x*", agrees=True),
            _verdict("mig", "invariant", "holds", "mig", "noise"),
            _verdict("dci", "calibrated", "undecided", "dci_modularity", "noise", printed="", agrees=None),
            _verdict("dci", "multi_code", "not applicable", "dci_modularity", "redundant", printed="-", agrees=None),
            _verdict("dci", "no_bins", "holds", "dci_modularity", None),
            _verdict(HOSTILE, "calibrated", "fails", HOSTILE, "noise"),
            _verdict(HOSTILE, "multi_code", "holds", HOSTILE, "redundant"),
            _verdict(HOSTILE, "no_bins", "not applicable", HOSTILE, None),
            _verdict(HOSTILE, "invariant", "undecided", HOSTILE, "noise"),
        ],
        "agreement": {"cells": 3, "agree": 2, "judged": 2, "judged_agree": 1},
        "printed_scores": [
            _printed("(1) [cos v, sin v]", "mig", 0.7, 0.6543),  # 0.65 to 0.75 rounds to 0.7: the same
            _printed("(2) [v, v]", "mig", 0.4, 0.0321),
            _printed("(2) [v, v]", "dci_modularity", 1.0, 0.9999),
        ],
    }


def own_characterisation() -> dict[str, Any]:
    """The user's own metric, with stored ones beside it: some of these, and one cell, were not run."""
    sample = sample_characterisation()
    beside = {"mig", "dci"}
    verdicts = [item for item in sample["verdicts"] if (item["row"], item["criterion"]) != ("mig", "invariant")]
    not_run = next(item for item in verdicts if (item["row"], item["criterion"]) == ("dci", "calibrated"))
    for part in not_run["parts"]:
        part.update(conditions=[], reason="scenario 'noise' was not run")
    not_run.update(printed="y", agrees=False)
    return {
        **sample,
        "metrics": [
            {**item, "beside": True} if item["row"] in beside else item
            for item in sorted(sample["metrics"], key=lambda item: not item["own"])
        ],
        "rows": [{**item, "beside": True} if item["name"] in beside else item for item in sample["rows"]],
        "verdicts": verdicts,
        "agreement": None,
        "beside": {"n_samples": 20_000, "seeds": {"noise": 100}},
    }


def _metric(
    name: str, title: str, row: str, properties: list[str] | None, *, chance: float, seconds: float | None
) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "row": row,
        "own": False,
        "family": "information",
        "properties": properties,
        "definition": f"{title}: the gap of the two largest, a < b & c.",
        "source": "Chen et al. 2018, eq. 6",
        "range": [-1.0, 1.0],
        "discretises": True,
        "stochastic": False,
        "card": {
            "chance": {"mean": chance, "low": chance - 0.0001, "high": chance + 0.0001, "n": 100},
            "chance_by_size": [{"n_samples": 1000, "mean": 0.1234, "low": 0.1111, "high": 0.1357}],
            "invariances": [
                {"change": "rows permuted", "difference": 0.0, "status": "holds"},
                {"change": f"codes shifted by {name}", "difference": 0.0456, "status": "fails"},
            ],
            "seconds": seconds,
            "cost": [{"n_samples": 1000, "seconds": 0.002}, {"n_samples": 100_000, "seconds": 0.0515}],
        },
    }


def _curve(
    metric: str, scenario: str, mean: list[float | None], *, reasons: list[str | None] | None = None
) -> dict[str, Any]:
    return {
        "metric": metric,
        "scenario": scenario,
        "mean": mean,
        "low": [None if value is None else value - 0.01 for value in mean],
        "high": [None if value is None else value + 0.01 for value in mean],
        "n": [0 if value is None else 100 for value in mean],
        "failed": [100 if value is None else 0 for value in mean],
        "reasons": reasons or [None] * len(mean),
        "declined": None,
    }


def _criterion(name: str, title: str, group: str, scenarios: list[str]) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "question": f"Is it so that {title}?",
        "rule": f"the rule of {name}: at least 0.95 & no less",
        "group": group,
        "scenarios": scenarios,
    }


def _verdict(
    row: str,
    criterion: str,
    status: str,
    metric: str,
    scenario: str | None,
    *,
    printed: str | None = None,
    agrees: bool | None = None,
) -> dict[str, Any]:
    condition = {"text": "fall from 0 to 0.5", "estimate": 0.6421, "low": 0.5432, "high": 0.7654, "bound": 0.001}
    one_sided = {"text": "at 0", "estimate": 0.0004, "low": None, "high": 0.0009, "bound": 0.95}
    conditions = [{**condition, "status": "holds"}, {**one_sided, "status": status}] if scenario else []
    part = {
        "metric": metric,
        "scenario": scenario,
        "status": status,
        "reason": None if scenario else f"declared by {metric}",
        "conditions": conditions,
    }
    summary = f"{metric} {status} on {criterion}: 0.6421 where 0.001 is the least"
    return {
        "row": row,
        "criterion": criterion,
        "status": status,
        "summary": summary,
        "parts": [part],
        "printed": printed,
        "agrees": agrees,
    }


def _printed(scenario_row: str, metric: str, printed: float, ours: float) -> dict[str, Any]:
    return {
        "scenario_row": scenario_row,
        "metric": metric,
        "printed": printed,
        "ours": ours,
        "low": ours - 0.002,
        "high": ours + 0.002,
        "n": 100,
        "difference": ours - printed,
    }
