"""Independent pieces of work: metrics that share a fit, on one draw of the rows, in this process or in others."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from demele.core.errors import DemeleError, NotEnoughData
from demele.core.seeds import rng_for
from demele.metrics.data import Data
from demele.metrics.metric import Array, Native, Reading
from demele.metrics.plain_function import called
from demele.metrics.request import bound
from demele.metrics.source import half_of_rows
from demele.runtime.progress import Report
from demele.runtime.threads import one_thread
from demele.runtime.work import ordered

Variant = Literal["repeat", "half", "permutation", "winsorised", "shuffled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Metrics that share a fit, on one draw: its streams come from what it is, not from when or where it runs.

    It carries formulas, not names of metrics, so that any process can run it. ``readings`` and ``options`` are those of
    each metric, by its name.
    """

    stream: str
    readings: Mapping[str, Reading]
    options: Mapping[str, Mapping[str, Any]]
    side: Mapping[str, Any] = field(default_factory=dict)
    seed: int
    variant: Variant
    index: int


@dataclass(frozen=True, slots=True)
class TaskResult:
    """Native values by metric, or the reason why there are none."""

    natives: dict[str, Native]
    error: Exception | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Draws:
    """Values of one metric over repeats, resamples or permutations; the first axis is the draw.

    ``failed`` are the numbers, among all that were asked for, of draws that could not be computed and have no value.
    """

    value: Array
    per_factor: Array | None
    per_code: Array | None
    failed: tuple[int, ...] = ()

    @property
    def n(self) -> int:
        """Number of draws."""
        return len(self.value)

    @property
    def numbered(self) -> Array:
        """Values in the places of their draws, NaN where one failed: place k is of the same rows for all codes."""
        if not self.failed:
            return self.value
        whole = np.full(self.n + len(self.failed), np.nan)
        whole[np.setdiff1d(np.arange(whole.size), self.failed)] = self.value
        return whole

    @classmethod
    def of(cls, natives: list[Native], failed: tuple[int, ...] = ()) -> "Draws":
        """Collect natives of single draws, or of blocks of draws."""
        scalar = natives[0].value.ndim == 0

        def joined(arrays: list[Array]) -> Array:
            return np.stack(arrays) if scalar else np.concatenate(arrays)

        def optional(arrays: list[Array | None]) -> Array | None:
            given = [array for array in arrays if array is not None]
            return joined(given) if given else None

        return cls(
            joined([np.asarray(item.value) for item in natives]),
            optional([item.per_factor for item in natives]),
            optional([item.per_code for item in natives]),
            failed,
        )

    def mean(self, first: Native) -> Native:
        """Return the mean over draws, with the matrix, details and notes of the first."""
        return Native(
            value=np.asarray(self.value.mean()),
            per_factor=None if self.per_factor is None else self.per_factor.mean(axis=0),
            per_code=None if self.per_code is None else self.per_code.mean(axis=0),
            matrix=first.matrix,
            matrix_of=first.matrix_of,
            details=first.details,
            notes=first.notes,
        )

    @staticmethod
    def quantiles(values: Array, level: float, bounds: tuple[float, float], centre: float) -> Array:
        """Return the ends of the central range of the values, moved so that their mean is at ``centre``.

        Resamples are biased as samples are: estimated information, for one, is too high by about the same amount
        again in each resample. What they tell is the spread. What leaves the bounds then, which the definition does
        not allow, says nothing about other rows.
        """
        known = values[~np.isnan(values)]
        if not known.size:
            return np.full(2, np.nan)
        shift = centre - float(known.mean())
        found: Array = np.clip(np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) + shift, *bounds)
        return found


def run_tasks(tasks: list[Task], data: Data, *, n_jobs: int, report: Report | None) -> list[TaskResult]:
    """Run all tasks and return their results in the order of the tasks."""
    results = ordered(run_task, ((task, data) for task in tasks), n_jobs=1 if len(tasks) <= 1 else n_jobs)
    if report is None:
        return list(results)
    found: list[TaskResult] = []
    for task in tasks:
        report(len(found), len(tasks), task.stream)
        found.append(next(results))
    if tasks:
        report(len(tasks), len(tasks), "")
    return found


def run_task(task: Task, data: Data) -> TaskResult:
    """Run one piece of work on its draw of the data; the result holds an error of ours, if there is one."""
    with one_thread(*sorted({reading.loads for reading in task.readings.values() if reading.loads})):
        started = time.perf_counter()  # importing is no part of a run
        try:
            natives = _natives(task, _drawn(task, data))
            return TaskResult(natives, None, time.perf_counter() - started)
        except DemeleError as error:
            return TaskResult({}, error, time.perf_counter() - started)


def _drawn(task: Task, data: Data) -> Data:
    if task.variant == "repeat":
        return data
    if task.variant == "winsorised":
        return data.winsorised(data.outlying())
    if task.variant in ("permutation", "shuffled"):
        return data.shuffled(task.seed, task.index)
    half = replace(data.take(half_of_rows(data.n, task.seed, task.index)), drawn_from=data.n)
    constant = [factor.name for factor in half.factors.columns if factor.constant]
    if constant:
        raise NotEnoughData("factors", f"column {constant[0]!r} is constant in half of the rows")
    return half


def _natives(task: Task, data: Data) -> dict[str, Native]:
    def streams(*identity: str | int) -> np.random.Generator:
        # the winsorised run repeats the first one in all but the data
        variant = "repeat" if task.variant == "winsorised" else task.variant
        return rng_for(task.seed, task.stream, variant, task.index, *identity)

    fitted: dict[Any, Any] = {None: data}
    natives = {}
    for name, reading in task.readings.items():
        options = task.options[name]
        if reading.state == "arrays":
            natives[name] = called(reading.formula, name, *data.arrays(), options, streams)
            continue
        if reading.fit not in fitted and reading.fit is not None:
            of_all = {**options, **_served(task, reading)}
            fitted[reading.fit] = reading.fit(data, **bound(reading.fit, of_all, task.side, streams))
        formula = reading.formula
        natives[name] = formula(fitted[reading.fit], **bound(formula, options, task.side, streams))
    return natives


def _served(task: Task, reading: Reading) -> dict[str, Any]:
    """Return the option that a fit serves, with the values that all its metrics ask for."""
    if not reading.serves:
        return {}
    asked = {task.options[name][reading.serves] for name, one in task.readings.items() if one.fit is reading.fit}
    return {reading.serves: tuple(sorted(asked))}
