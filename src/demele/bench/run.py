"""Metrics x scenarios x severities x seeds: what a run consists of, and measuring it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.bench.facts import slowness, with_std
from demele.bench.scenario import Candidate, Representation, Scenario, group_of
from demele.bench.scenarios import SCENARIOS
from demele.core.errors import DemeleError, FormatError, InputError, quoted
from demele.core.seeds import rng_for
from demele.core.store import Key
from demele.core.version import __version__
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.source import InMemory
from demele.runtime.sweep import Record, Task
from demele.scoring.bare import bare_scores, bare_source

__all__ = ["Measurement", "Plan", "check_record", "declined", "drawn", "measured", "outcome", "record_key"]

#: Standard deviation of stochastic codes, as a share of the code's own, where a scenario says nothing of them.
CODES_STD = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One group of metrics, to be measured on one representation."""

    scenario: Scenario
    severity: float
    seed: int
    group: Candidate
    n_samples: int
    protocol: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that a run is to measure; the seeds are numbers by scenario."""

    candidates: tuple[Candidate, ...]
    scenarios: tuple[Scenario, ...]
    seeds: Mapping[str, int]
    slow_seeds: Mapping[str, int]
    n_samples: int
    protocol: str

    def tasks(self) -> list[Task[Measurement]]:
        """Return the tasks of the run; those on one representation go together, which is drawn once.

        A record holds all metrics of a group, so one candidate stands for its group.
        """
        groups = {candidate.key: candidate for candidate in reversed(self.candidates)}
        return [
            self.task(scenario, severity, seed, groups[key])
            for scenario in self.scenarios
            for key in dict.fromkeys(candidate.key for candidate in self.candidates)
            if any(item.key == key and declined(item, scenario) is None for item in self.candidates)
            for severity in scenario.severities
            for seed in range(self.number_of_seeds(groups[key], scenario))
        ]

    def number_of_seeds(self, item: Candidate, scenario: Scenario) -> int:
        """Return how often a metric is measured in a scenario."""
        return (self.slow_seeds if item.slow else self.seeds)[scenario.name]

    def task(self, scenario: Scenario, severity: float, seed: int, group: Candidate) -> Task[Measurement]:
        """Return the task of one group on one representation."""
        return Task(
            key=record_key(scenario, severity, seed, group),
            about=Measurement(
                scenario=scenario,
                severity=severity,
                seed=seed,
                group=group,
                n_samples=self.n_samples,
                protocol=self.protocol,
            ),
            seed=seed,
            together=(scenario.name, severity, seed),
            weight=20.0 if slowness(group.group) == 2 else 0.5,
            label=f"{scenario.title}, seed {seed + 1}",
        )

    @property
    def identity(self) -> dict[str, str | int]:
        """What all records of the run have in common: a store of another identity is not of this run."""
        return {"demele": __version__, "protocol": self.protocol, "n_samples": self.n_samples}


def declined(candidate: Candidate, scenario: Scenario) -> str | None:
    """Return why a metric cannot take part in a scenario, if it cannot."""
    return None if scenario.declines is None else scenario.declines(candidate)


def record_key(scenario: Scenario, severity: float, seed: int, candidate: Candidate) -> Key:
    """Return what a record is kept under; that of a user's scenario or metric changes with its code."""
    known = SCENARIOS.get(scenario.name)
    own = known is None or _how(known) != _how(scenario)
    name = f"{scenario.name}@{scenario.draw_fingerprint}" if own else scenario.name
    return (name, repr(float(severity)), seed, candidate.key)


def _how(scenario: Scenario) -> tuple[object, ...]:
    """Return everything but the severity that decides the numbers of a scenario."""
    return scenario.draw, scenario.paired, scenario.score


def drawn(scenario: Scenario, severity: float, seed: int, n_samples: int) -> Representation:
    """Return the representation of a scenario for one severity and seed: the same for every metric.

    Raises
    ------
    InputError
        If the scenario's function fails, or returns something else.
    """
    identity = ("bench", scenario.name) if scenario.paired else ("bench", scenario.name, repr(float(severity)))
    where = _where(scenario, severity, seed)
    try:
        found: Any = scenario.draw(rng_for(seed, *identity), severity, n_samples)
    except (Exception, SystemExit) as error:
        raise InputError(f"{where}: draw raised {type(error).__name__}: {error}") from error
    if isinstance(found, Representation):
        return found
    if isinstance(found, tuple) and len(found) == 2:
        return Representation(codes=found[0], factors=found[1])
    raise InputError(f"{where}: draw must return (codes, factors) or a Representation, got {type(found).__name__}")


def measured(points: tuple[Measurement, ...]) -> list[Record]:
    """Measure groups of metrics on one representation; one that fails leaves a reason, never a number.

    Raises
    ------
    InputError
        If the scenario's function fails, or what it returns cannot be used.
    """
    first = points[0]
    representation = drawn(first.scenario, first.severity, first.seed, first.n_samples)
    try:
        source = _source(representation, spread=any(with_std(point.group.group) for point in points))
        records = [_scored(source, representation, point) for point in points]
    except DemeleError as error:  # not of a metric, but of what the scenario asks of all
        raise InputError(f"{_where(first.scenario, first.severity, first.seed)}: {error}") from error
    if source.data.n != first.n_samples:
        records = [{**record, "rows": source.data.n} for record in records]
    return records


def _source(given: Representation, *, spread: bool) -> InMemory:
    source = bare_source(given.codes, given.factors, kinds=given.kinds, codes_std=given.codes_std)
    if given.codes_std is not None or not spread:
        return source
    codes = np.asarray(given.codes, dtype=float)  # what cannot be read was refused above, in words that say why
    codes_std = np.broadcast_to(CODES_STD * codes.std(axis=0), codes.shape)
    return InMemory(source.subject("rows"), codes_std)


def _scored(source: InMemory, given: Representation, point: Measurement) -> Record:
    """Return the bare values of a group of metrics, or of one function, under the name that it has here."""
    own = point.group.function
    scored = bare_scores(
        source,
        [item.name for item in CATALOGUE.values() if group_of(item) == point.group.group] if own is None else own,
        protocol=point.protocol,
        seed=point.seed,
        options=given.options,
        reg_dim=given.reg_dim,
        which=point.scenario.score,
        factor_noise=given.factor_noise,
    )
    values, reasons = scored.values, scored.reasons
    if own is not None:  # one value, or one reason
        values = dict.fromkeys([point.group.name] * len(values), next(iter(values.values()), 0.0))
        reasons = dict.fromkeys([point.group.name] * len(reasons), next(iter(reasons.values()), ""))
    return {"values": values, "reasons": reasons, "seconds": round(scored.seconds, 6)}


def outcome(record: Mapping[str, Any], metric: str) -> float | str:
    """Return what a record holds of a metric: its value, or the reason why there is none.

    Raises
    ------
    InputError
        If it holds neither: it was made before the metric was one of its group.
    """
    value, reason = record["values"].get(metric), record["reasons"].get(metric)
    if value is None and reason is None:
        raise InputError("store", f"has rows that were made before {metric} was measured with them; give another file")
    return str(reason) if value is None else float(value)


def check_record(record: Mapping[str, Any]) -> None:
    """Refuse a record that :func:`measured` cannot have made.

    Raises
    ------
    FormatError
        Saying which field is not what it should be.
    """
    values, reasons, rows = record.get("values"), record.get("reasons"), record.get("rows", 1)
    right = {
        "values": isinstance(values, dict) and all(value is None or _finite(value) for value in values.values()),
        "reasons": isinstance(reasons, dict),
        "seconds": _finite(record.get("seconds")),
        "rows": isinstance(rows, int) and 0 < rows < 1 << 62,
    }
    for what, is_right in right.items():
        if not is_right:
            raise FormatError(f"its {what} are {quoted(record.get(what))}")


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _where(scenario: Scenario, severity: float, seed: int) -> str:
    return f"scenario {scenario.name!r}, severity {severity:g}, seed {seed}"
