"""Metrics x scenarios x severities x seeds: what is left to compute, computing it, and keeping every row."""

import contextlib
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.bench.facts import WITH_MODELS
from demele.bench.scenario import Candidate, Representation, Scenario, group_of
from demele.core.errors import DemeleError, FormatError, InputError, quoted
from demele.core.seeds import rng_for
from demele.core.store import Key, Store
from demele.core.version import __version__
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.plain import plain_scores, plain_subject
from demele.metrics.requests import Subject
from demele.runtime.progress import Report
from demele.runtime.work import completed

__all__ = ["Plan", "drawn", "measured", "record_key", "run_plan"]

#: Standard deviation of stochastic codes, as a share of the code's own, where a scenario says nothing of them.
CODES_STD = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One drawn representation and the groups of metrics to measure on it.

    ``keys`` are those of the groups' records: what the parent process looks for, whatever a worker would make of
    its copies.
    """

    scenario: Scenario
    severity: float
    seed: int
    groups: tuple[Candidate, ...]
    keys: tuple[Key, ...]
    n_samples: int
    protocol: str

    @property
    def weight(self) -> float:
        """About how long it takes, in tenths of a second."""
        return sum(20.0 if item.group in WITH_MODELS else 0.5 for item in self.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that a run is to compute.

    ``seeds`` is the number of seeds of a metric in a scenario: ``seeds(candidate, scenario)``.
    """

    candidates: tuple[Candidate, ...]
    scenarios: tuple[Scenario, ...]
    seeds: Callable[[Candidate, Scenario], int]
    n_samples: int
    protocol: str

    def keys(self) -> dict[Key, tuple[Scenario, float, int, Candidate]]:
        """Return what every record of the run is about, all first seeds before all second ones.

        A record holds all metrics of a group, so one candidate stands for its group.
        """
        groups = {candidate.key: candidate for candidate in reversed(self.candidates)}
        wanted = [
            (seed, (scenario, severity, seed, groups[key]))
            for scenario in self.scenarios
            for key in dict.fromkeys(candidate.key for candidate in self.candidates)
            if any(item.key == key and declined(item, scenario) is None for item in self.candidates)
            for severity in scenario.severities
            for seed in range(self.seeds(groups[key], scenario))
        ]
        wanted.sort(key=lambda item: item[0])
        return {record_key(*about): about for _, about in wanted}

    def jobs(self, stored: Store) -> list[Job]:
        """Return the work that is left: one job for each representation, with the groups that have no record of it."""
        scenarios = {scenario.name: scenario for scenario in self.scenarios}
        left: dict[tuple[str, float, int], dict[Key, Candidate]] = {}
        for key, (scenario, severity, seed, group) in self.keys().items():
            if key not in stored:
                left.setdefault((scenario.name, severity, seed), {})[key] = group
        return [self.job(scenarios[name], severity, seed, groups) for (name, severity, seed), groups in left.items()]

    def job(self, scenario: Scenario, severity: float, seed: int, groups: Mapping[Key, Candidate]) -> Job:
        """Return the work on one representation, for groups by the keys of their records."""
        return Job(
            scenario=scenario,
            severity=severity,
            seed=seed,
            groups=tuple(groups.values()),
            keys=tuple(groups),
            n_samples=self.n_samples,
            protocol=self.protocol,
        )

    @property
    def identity(self) -> dict[str, str | int]:
        """What all records of the run have in common: a store of another identity is not of this run."""
        return {"demele": __version__, "protocol": self.protocol, "n_samples": self.n_samples}


def run_plan(
    plan: Plan, store: Store, *, n_jobs: int = 1, executor: Executor | None = None, report: Report | None = None
) -> None:
    """Compute what the store does not hold yet; every job is stored as it finishes.

    Raises
    ------
    InputError
        If a scenario's function fails. What was finished is stored.
    """
    jobs = plan.jobs(store)
    total = sum(job.weight for job in jobs)
    done = 0.0
    if report is not None and jobs:
        report(0.0, total, f"{len(jobs):,} representations to measure")
    finished = completed(_finished, jobs, n_jobs=n_jobs, executor=executor)
    # filters belong to a whole process: threads cannot set them each for itself
    quiet = contextlib.nullcontext() if executor is None else warnings.catch_warnings(action="ignore")
    with quiet, contextlib.closing(finished):
        for label, weight, records in finished:
            store.append(records.items())
            done += weight
            if report is not None:
                report(done, total, label)


def declined(candidate: Candidate, scenario: Scenario) -> str | None:
    """Return why a metric cannot take part in a scenario, if it cannot."""
    return None if scenario.declines is None else scenario.declines(candidate)


def record_key(scenario: Scenario, severity: float, seed: int, candidate: Candidate) -> Key:
    """Return what a record is kept under; that of a user's scenario or metric changes with its code."""
    from demele.bench.scenarios import SCENARIOS

    known = SCENARIOS.get(scenario.name)
    own = known is None or (known.draw, known.paired) != (scenario.draw, scenario.paired)
    name = f"{scenario.name}@{scenario.draw_fingerprint}" if own else scenario.name
    return (name, repr(float(severity)), seed, candidate.key)


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


def _finished(job: Job) -> tuple[str, float, dict[Key, dict[str, Any]]]:
    """Return what a run that waits for a job is told of it, and its records."""
    return f"{job.scenario.title}, seed {job.seed + 1}", job.weight, measured(job)


def measured(job: Job) -> dict[Key, dict[str, Any]]:
    """Measure one representation; a metric that fails leaves a reason, never a number."""
    alone = threading.current_thread() is threading.main_thread()
    # thousands of calls: what matters is in the records
    with warnings.catch_warnings(action="ignore") if alone else contextlib.nullcontext():
        representation = drawn(job.scenario, job.severity, job.seed, job.n_samples)
        subject = _subject(job, representation)
        records = {}
        for key, group in zip(job.keys, job.groups, strict=True):
            registered = [item.name for item in CATALOGUE.values() if group_of(item) == group.group]
            try:
                scored = plain_scores(
                    subject,
                    registered if group.function is None else group.function,
                    protocol=job.protocol,
                    seed=job.seed,
                    options=representation.options,
                    reg_dim=representation.reg_dim,
                )
            except DemeleError as error:  # not of a metric, but of what the scenario asks of all
                raise InputError(f"{_where(job.scenario, job.severity, job.seed)}: {error}") from error
            values, reasons = scored.values, scored.reasons
            if group.function is not None:
                values = dict.fromkeys([group.name] * len(values), next(iter(values.values()), 0.0))
                reasons = dict.fromkeys([group.name] * len(reasons), next(iter(reasons.values()), ""))
            record = {"values": values, "reasons": reasons, "seconds": round(scored.seconds, 6)}
            if subject.codes.n != job.n_samples:
                record["rows"] = subject.codes.n
            records[key] = record
    return records


def check_record(record: Mapping[str, Any]) -> None:
    """Refuse a record that :func:`measured` cannot have made.

    Raises
    ------
    FormatError
        Saying which field is not what it should be.
    """
    values, reasons, seconds, rows = (record.get(name) for name in ("values", "reasons", "seconds", "rows"))
    if not isinstance(values, dict) or not all(value is None or _finite(value) for value in values.values()):
        raise FormatError(f"its values are {quoted(values)}")
    if not isinstance(reasons, dict):
        raise FormatError(f"its reasons are {quoted(reasons)}")
    if not _finite(seconds):
        raise FormatError(f"its seconds are {quoted(seconds)}")
    if rows is not None and (not isinstance(rows, int) or not 0 < rows < 1 << 62):
        raise FormatError(f"its rows are {quoted(rows)}")


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _subject(job: Job, representation: Representation) -> Subject:
    given = representation
    try:
        subject = plain_subject(given.codes, given.factors, kinds=given.kinds, codes_std=given.codes_std)
        if given.codes_std is None and any(item.name == "rmig" for item in job.groups):
            # only now: what cannot be read was refused above, in words that say why
            codes = np.asarray(given.codes, dtype=float)
            codes_std = np.broadcast_to(CODES_STD * codes.std(axis=0), codes.shape)
            subject = Subject.of(subject.codes, subject.factors, codes_std)
    except DemeleError as error:
        raise InputError(f"{_where(job.scenario, job.severity, job.seed)}: {error}") from error
    return subject


def _where(scenario: Scenario, severity: float, seed: int) -> str:
    return f"scenario {scenario.name!r}, severity {severity:g}, seed {seed}"
