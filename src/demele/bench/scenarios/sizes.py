"""The same representations with fewer rows, and in more or fewer bins."""

import numpy as np

from demele.bench.expectations import AtMost, Holds
from demele.bench.facts import varies_bins
from demele.bench.scenario import Array, Candidate, Representation, Scenario
from demele.bench.scenarios.source import M, noisy
from demele.metrics.catalogue import CATALOGUE

__all__ = ["BINS", "CHANCE", "SAMPLE_SIZE", "SIZE_SCENARIOS"]

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
