"""Scenarios of sizes and settings: rows, codes, bins, and the option of a metric's own."""

import numpy as np

from demele.bench.scenario import Array, AtMost, Candidate, Holds, Representation, Scenario, own_settings, varies_bins
from demele.bench.scenarios.source import M, noisy
from demele.metrics.catalogue import CATALOGUE

ROWS = (20_000.0, 5_000.0, 2_000.0, 1_000.0, 500.0, 200.0, 100.0)
#: Share of noise in codes that are neither perfect nor useless.
SOME_NOISE = 0.2


def _sample_size(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    # the severity is the number of rows; a run leaves out those beyond its own
    factors = rng.random((int(severity), M))
    return factors, factors


def _chance(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    # as for sample_size, the severity is the number of rows
    factors = rng.random((int(severity), M))
    return rng.random((int(severity), M)), factors


def _bins(rng: np.random.Generator, severity: float, n: int) -> Representation:
    codes, factors = noisy(rng, SOME_NOISE, n)
    binned = {metric.group for metric in CATALOGUE.values() if metric.discretises and not varies_bins(metric.group)}
    options = {group: {"bins": int(severity)} for group in sorted(binned)}
    return Representation(codes=codes, factors=factors, options=options)


def _takes_no_bins(candidate: Candidate) -> str | None:
    if varies_bins(candidate.group):
        return "takes few bins of its own: see the scenario of settings"
    if candidate.function is None and candidate.discretises:
        return None
    return "takes no number of bins"


SAMPLE_SIZE = Scenario(
    name="sample_size",
    title="Sample size",
    question="Does the score of a perfect code stay when there are fewer rows?",
    sweep="rows",
    severities=ROWS,
    draw=_sample_size,
    counts_rows=True,
    wanted={"any": (Holds(0.1),)},
)

CHANCE = Scenario(
    name="chance",
    title="Chance",
    question="Do codes that know nothing of the factors score about 0, with many rows and with few?",
    sweep="rows",
    severities=ROWS,
    draw=_chance,
    counts_rows=True,
    wanted={"any": (AtMost(0.1),)},
)

BINS = Scenario(
    name="bins",
    title="Bins",
    question="Does the score stay when columns are cut into fewer or more bins?",
    sweep="bins",
    severities=(10.0, 5.0, 20.0, 50.0, 100.0),
    draw=_bins,
    wanted={"any": (Holds(0.1),)},
    paired=True,
    declines=_takes_no_bins,
    kind="settings",
)

SIZE_SCENARIOS = (SAMPLE_SIZE, CHANCE, BINS)


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
