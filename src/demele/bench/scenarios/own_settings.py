"""Settings of a metric other than its bins, swept around the values of the protocol."""

import numpy as np

from demele.bench.expectations import Holds
from demele.bench.facts import own_settings
from demele.bench.scenario import Candidate, Representation, Scenario
from demele.bench.scenarios.source import noisy

__all__ = ["SETTINGS"]

#: Share of noise in the codes: most settings do not matter to a perfect code.
NOISE_SHARE = 0.6
#: Multiples of the default; the default itself comes first.
MULTIPLES = (1.0, 0.25, 0.5, 2.0, 4.0)


def _settings(rng: np.random.Generator, severity: float, n: int) -> Representation:
    codes, factors = noisy(rng, NOISE_SHARE, n)
    place = MULTIPLES.index(severity)
    options = {group: {option: values[place]} for group, (option, values) in own_settings().items()}
    return Representation(codes=codes, factors=factors, options=options)


def _has_none(candidate: Candidate) -> str | None:
    if candidate.function is None and candidate.group in own_settings():
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
