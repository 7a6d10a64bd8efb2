"""The settings that a metric has beside its bins, swept around what the protocol says."""

from collections.abc import Mapping

import numpy as np

from demele.bench.expectations import Holds
from demele.bench.scenario import Candidate, Representation, Scenario
from demele.bench.scenarios.source import noisy

__all__ = ["OWN_SETTINGS", "SETTINGS"]

#: Share of noise in the codes: most settings do not matter to a perfect code.
NOISE_SHARE = 0.6
#: Multiples of the default; the default itself comes first.
MULTIPLES = (1.0, 0.25, 0.5, 2.0, 4.0)
#: Group of metrics, option, and its value at each of the multiples. Two settings cannot be multiplied so. The quantile
#: of IRS, the largest value at 1, can only be lowered; its values go down in the order of the sweep. The bins of Z-max
#: variance, 3, are few whole numbers: they decide how many rows agree on all factors but one.
OWN_SETTINGS: Mapping[str, tuple[str, tuple[int | float, ...]]] = {
    "z_diff": ("batch_size", (200, 50, 100, 400, 800)),
    "z_min_variance": ("batch_size", (200, 50, 100, 400, 800)),
    "z_max_variance": ("bins", (3, 2, 4, 6, 10)),
    "irs": ("quantile", (1.0, 0.99, 0.95, 0.9, 0.8)),
    "dci_forest": ("n_trees", (10, 2, 5, 20, 40)),
    "dci_boosting": ("n_trees", (100, 25, 50, 200, 400)),
    "explicitness": ("penalty", (1.0, 0.25, 0.5, 2.0, 4.0)),
}


def _settings(rng: np.random.Generator, severity: float, n: int) -> Representation:
    codes, factors = noisy(rng, NOISE_SHARE, n)
    place = MULTIPLES.index(severity)
    options = {group: {option: values[place]} for group, (option, values) in OWN_SETTINGS.items()}
    return Representation(codes=codes, factors=factors, options=options)


def _has_none(candidate: Candidate) -> str | None:
    if candidate.function is None and candidate.group in OWN_SETTINGS:
        return None
    return "has no setting of its own"


SETTINGS = Scenario(
    name="settings",
    title="Own settings",
    question="Does the score stay when a metric's own settings, such as its number of trees, are changed?",
    sweep="setting, as a multiple of its default (IRS and Z-max variance: other values)",
    severities=MULTIPLES,
    labels=("default", "a quarter", "half", "twice", "four times"),
    draw=_settings,
    wanted={"any": (Holds(0.1),)},
    paired=True,
    declines=_has_none,
    kind="settings",
)
