"""A measurement of comparison methods."""

from functools import cache
from typing import Any

import numpy as np

from demele import bench
from demele.core.arrays import rng_for


def _house_rule(baseline: np.ndarray, candidate: np.ndarray, labels: np.ndarray) -> str:
    return "candidate" if (candidate == labels).mean() > (baseline == labels).mean() else "baseline"


@cache
def measured() -> Any:
    """A real measurement: 8 simulated classifiers, 3 rates, 5 methods, 2 measures."""
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

    names = ("overlap", "worst-case-overlap", "audit(labels=100)", "cleaned(s=0.75, e=0.25)")
    methods = {**{name: name for name in names}, "house rule": _house_rule}
    measures: Any = ["accuracy", ("recall", 0)]
    return bench.check_methods(models, truth, [0.02, 0.05, 0.2], methods, kind=noise, measures=measures)
