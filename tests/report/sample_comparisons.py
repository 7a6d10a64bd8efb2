"""Measurements of comparison methods as the page and the pictures read them: a real one, and crafted ones."""

import copy
from functools import cache
from typing import Any

import numpy as np

from demele.core.seeds import rng_for

#: Methods of the real measurement; the last is a function.
METHODS = ("overlap", "worst-case-overlap", "audit(labels=100)", "cleaned(s=0.75, e=0.25)")


def _house_rule(baseline: np.ndarray, candidate: np.ndarray, labels: np.ndarray) -> str:
    return "candidate" if (candidate == labels).mean() > (baseline == labels).mean() else "baseline"


@cache
def _measured() -> Any:
    from demele import bench

    rng = rng_for(0, "sample of comparisons")
    truth = rng.integers(0, 5, 600)
    shares = (0.60, 0.93, 0.64, 0.72, 0.70, 0.81, 0.78, 0.90)
    models = {
        f"model {place}": np.where(rng.random(600) < share, truth, (truth + rng.integers(1, 5, 600)) % 5)
        for place, share in enumerate(shares)
    }
    favoured = models["model 4"]

    def noise(labels: np.ndarray, rate: float, seed: int) -> np.ndarray:
        """Wrong labels repeat the mistakes of one classifier, so that methods that believe them err."""
        given = labels.copy()
        wrong = np.flatnonzero(favoured != labels)[: round(rate * labels.size)]
        given[wrong] = favoured[wrong]
        return given

    methods = {**{name: name for name in METHODS}, "house rule": _house_rule}
    return bench.compare_methods(
        models, truth, [0.02, 0.05, 0.2], methods, noise=noise, measures=["accuracy", ("recall", 0)]
    )


def measured() -> Any:
    """A real measurement: 8 simulated classifiers, 3 rates, 5 methods, 2 measures."""
    return _measured()


def content() -> dict[str, Any]:
    """Its dictionary, to be changed freely."""
    return copy.deepcopy(_measured().to_dict())


def only(data: dict[str, Any], *, rates: int | None = None, methods: int | None = None) -> dict[str, Any]:
    """Keep the first rates or methods of a dictionary."""
    data = copy.deepcopy(data)
    if rates is not None:
        data["columns"] = data["columns"][:rates]
    if methods is not None:
        data["methods"] = data["methods"][:methods]
    wanted = {column["wanted"] for column in data["columns"]}
    names = {method["name"] for method in data["methods"]}
    for key in ("tallies", "matrices"):
        data[key] = [row for row in data[key] if row["noise"] in wanted and row["method"] in names]
    return data


def renamed(data: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    """Give a method another name everywhere."""
    data = copy.deepcopy(data)
    for method in data["methods"]:
        if method["name"] == old:
            method.update(name=new, title=new, told=new)
    for key in ("tallies", "matrices"):
        for row in data[key]:
            row["method"] = new if row["method"] == old else row["method"]
    return data


def crafted(cells: str, *, m: int, accuracies: list[float], **figures: Any) -> dict[str, Any]:
    """A measurement of one method at one rate with the matrix given."""
    tally = {
        "method": "overlap",
        "measure": "accuracy",
        "noise": 0.1,
        "rate": 0.1,
        **dict.fromkeys(("type_1", "type_2", "agreement", "inconclusive", "labels_asked"), 0.0),
        **dict.fromkeys(("type_1_se", "type_2_se", "agreement_se")),
        **dict.fromkeys(("n_type_1", "n_type_2", "n_kept", "n_taken", "reversed"), 0),
        **figures,
    }
    return {
        "kind": "method comparison",
        "demele": "1.0",
        "title": "Crafted",
        "n": 10,
        "classes": ["a", "b"],
        "level": 0.9,
        "seed": 3,
        "noise": "uniform",
        "names": [f"m{place}" for place in range(m)],
        "accuracies": accuracies,
        "methods": [{"name": "overlap", "title": "overlap", "told": "nothing"}],
        "columns": [{"wanted": 0.1, "rate": 0.1}],
        "measures": ["accuracy"],
        "tallies": [tally],
        "matrices": [{"method": "overlap", "measure": "accuracy", "noise": 0.1, "cells": cells}],
        "published": [],
        "published_source": "",
        "notes": [],
        "details": {},
    }
