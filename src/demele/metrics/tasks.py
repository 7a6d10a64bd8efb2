"""Metrics that need rows: one task for those that share a fit, on each draw of the rows, in this process or others."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from traceback import format_exception_only
from typing import Any, Literal

import numpy as np

from demele.core.arrays import Floats
from demele.core.errors import DemeleError, NotEnoughData, quoted
from demele.core.seeds import rng_for
from demele.core.uncertainty import Note
from demele.metrics.data import Data
from demele.metrics.guards import at_chance_notes, few_rows_notes, moved_by_outliers
from demele.metrics.metric import Draws, Native, Outcome, Streams, applied, takes_rng
from demele.metrics.options import RANDOM, Run
from demele.metrics.request import Request
from demele.metrics.source import Source, half_of_rows
from demele.runtime.progress import Report
from demele.runtime.work import one_thread, ordered

Variant = Literal["repeat", "half", "permutation", "winsorised", "shuffled"]
#: What follows where too few draws are left.
NO_LEVEL = ", so that there is no interval or level"
_WORDS = {
    "repeat": "repeats",
    "half": "resamples",
    "permutation": "permutations",
    "winsorised": "checks for outliers",
    "shuffled": "checks against chance",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Metrics that share a fit, on one draw: its streams come from what it is, not from when or where it runs.

    It carries formulas, not names of metrics, so that any process can run it. ``formulas`` and ``options`` are those of
    each metric, by its name; ``serves`` is the option with whose values of all of them the fit is called.
    """

    stream: str
    formulas: Mapping[str, Callable[..., Any]]
    options: Mapping[str, Mapping[str, Any]]
    fit: Callable[..., Any] | None
    serves: str
    of_arrays: bool
    loads: str
    seed: int
    variant: Variant
    index: int


@dataclass(frozen=True, slots=True)
class TaskResult:
    """Native values by metric, or the reason why there are none."""

    natives: dict[str, Native]
    error: Exception | None
    seconds: float


def fitted(
    requests: list[Request],
    source: Source,
    run: Run,
    report: Report | None,
    *,
    shuffle: bool,
    guards: bool,
) -> dict[str, Outcome | str]:
    """Run the metrics that need rows, one task for those that share a fit and for each draw: outcomes, or reasons.

    The shuffle is left out if the score takes long, because the shuffle would, too.
    """
    data = source.rows()
    groups: dict[tuple[str, str], list[Request]] = {}
    for request in requests:
        of_fit = {name: value for name, value in request.options.items() if name != request.metric.serves}
        groups.setdefault((request.stream, repr(of_fit)), []).append(request)
    can_move = any(item.metric.guards.outliers in ("move it", "of factors move it") for item in requests)
    outlying = data.outlying() if guards and can_move else ()
    movable = {"move it": outlying, "of factors move it": data.factors.names, "leave it": (), "unknown": ()}
    tasks: list[Task] = []
    for (stream, _), members in groups.items():
        metric = members[0].metric
        quick = not metric.is_plain and metric.slow < 2
        draws: dict[Variant, int] = {
            "repeat": run.n_repeats if metric.stochastic else 1,
            "half": run.n_bootstrap,
            "permutation": run.n_permutations,
            "winsorised": int(any(name in movable[metric.guards.outliers] for name in outlying)),
            "shuffled": int(shuffle and quick and not run.n_permutations),
        }
        tasks += [
            Task(
                stream=stream,
                formulas={item.name: item.metric.formula for item in members},
                options={item.name: item.options for item in members},
                fit=metric.fit,
                serves=metric.serves,
                of_arrays=members[0].state == "arrays",
                loads=metric.loads,
                seed=run.seed,
                variant=variant,
                index=index,
            )
            for variant, count in draws.items()
            for index in range(count)
        ]
    n_jobs = 1 if len(tasks) <= 1 else run.n_jobs
    finished: dict[str, dict[Variant, list[TaskResult]]] = {request.name: {} for request in requests}
    results = ordered(run_task, ((task, data) for task in tasks), n_jobs=n_jobs)
    for done, task in enumerate(tasks):
        if report is not None:
            report(done, len(tasks), task.stream)
        result = next(results)
        for name in task.formulas:
            finished[name].setdefault(task.variant, []).append(result)
    if report is not None:
        report(len(tasks), len(tasks), "")
    return {one.name: _collected(one, finished[one.name], outlying, data, guards=guards) for one in requests}


def _collected(
    request: Request, own: dict[Variant, list[TaskResult]], outlying: tuple[str, ...], data: Data, *, guards: bool
) -> Outcome | str:
    """Return the outcome of a metric: the mean of its repeats, its draws and what they say; or why it has none."""
    draws: dict[str, Draws] = {}
    errors = {variant: one.error for variant, results in own.items() for one in results if one.error is not None}
    if "repeat" in errors:
        return str(errors["repeat"])
    for variant, results in own.items():
        natives = [result.natives[request.name] for result in results if result.error is None]
        if natives and len(natives) >= 0.9 * len(results):
            failed = tuple(index for index, result in enumerate(results) if result.error is not None)
            draws[variant] = Draws.of(natives, failed)
    first, repeats = own["repeat"][0].natives[request.name], draws["repeat"]
    native = first if repeats.n == 1 else repeats.mean(first)
    notes = request.notes + tuple(
        Note(
            code=f"failed-{variant}",
            message=f"some of the {_WORDS[variant]} could not be computed{NO_LEVEL * (variant not in draws)}: {error}",
            severity="warning",
        )
        for variant, error in errors.items()
    )
    if guards:
        notes += few_rows_notes(request.metric.guards, data.factors, request.options)
        if "winsorised" in draws:
            notes += moved_by_outliers(float(native.value), float(draws["winsorised"].value[0]), outlying)
        notes += first.chance_notes
        shuffled = draws.get("permutation", draws.get("shuffled"))
        if shuffled is not None:
            notes += at_chance_notes(float(native.value), shuffled.value, data.n, data.codes.d)
    return Outcome(
        native=native,
        repeats=repeats if repeats.n > 1 else None,
        resamples=draws.get("half"),
        resampling="half-sample",
        halves=draws.get("half"),
        permutations=draws.get("permutation"),
        seconds=sum(result.seconds for result in own["repeat"]),
        notes=notes,
    )


def run_task(task: Task, data: Data) -> TaskResult:
    """Run one piece of work on its draw of the data; the result holds an error of ours, if there is one."""
    with one_thread(*([task.loads] if task.loads else ())):
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

    if task.of_arrays:
        return {
            name: _called(formula, name, *data.arrays(), task.options[name], streams)
            for name, formula in task.formulas.items()
        }
    state: Any = data
    if task.fit is not None:
        options = dict(next(iter(task.options.values())))
        if task.serves:
            options[task.serves] = tuple(sorted({own[task.serves] for own in task.options.values()}))
        state = applied(task.fit, data, options, streams)
    return {name: applied(formula, state, task.options[name], streams) for name, formula in task.formulas.items()}


def _called(
    function: Callable[..., Any],
    name: str,
    codes: Floats,
    factors: Floats,
    options: Mapping[str, Any],
    streams: Streams,
) -> Native:
    """Call a metric of plain arrays; a failure of its writer's is a reason why there is no number, not a crash.

    Raises
    ------
    NotEnoughData
        With the error that it raised, or the value that it returned instead of a real number.
    """
    random = {RANDOM: streams()} if takes_rng(function) else {}
    try:
        found = function(codes, factors, **options, **random)
        native = found if isinstance(found, Native) else None
        value = found if native is None else native.value
        # float() would read a text, and drop the imaginary part of a complex number of NumPy
        real = not isinstance(value, str | bytes | complex | np.complexfloating)
        number = float(value) if real else np.nan
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # one that ends the process would end the whole run without a word
        raise NotEnoughData(f"{name} raised {''.join(format_exception_only(error)).strip()}") from error
    if not real:
        raise NotEnoughData(f"{name} returned {quoted(found)}, which is no real number")
    if np.isnan(number):
        raise NotEnoughData(f"{name} returned NaN")
    return Native(value=np.asarray(number)) if native is None else native
