"""Metrics that need rows: tasks for scores, repeats, resamples and shuffles, and what is made of their results."""

from demele.core.results import Note
from demele.metrics.data import Data
from demele.metrics.guards import beside_chance, few_rows_notes, moved_by_outliers
from demele.metrics.metric import Metric
from demele.metrics.options import Run
from demele.metrics.present import Outcome
from demele.metrics.request import Request
from demele.metrics.source import Source
from demele.metrics.tasks import Draws, Task, TaskResult, Variant, run_tasks
from demele.runtime.progress import Report

_WORDS = {
    "repeat": "repeats",
    "half": "resamples",
    "permutation": "permutations",
    "winsorised": "checks for outliers",
    "shuffled": "checks against chance",
}


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

    A shuffle beside the score is left out where the score takes long, and the shuffle would as well.
    """
    groups, outlying = planned(requests, source, run, shuffle=shuffle, guards=guards)
    data = source.rows()
    found: dict[str, Outcome | str] = {}
    tasks = [task for _, own in groups for task in own]
    results = iter(run_tasks(tasks, data, n_jobs=run.n_jobs, report=report))
    for members, own in groups:
        finished = [(task, next(results)) for task in own]
        for request in members:
            found[request.name] = _collected(request, finished, outlying, data, guards=guards)
    return found


def planned(
    requests: list[Request], source: Source, run: Run, *, shuffle: bool, guards: bool
) -> tuple[list[tuple[list[Request], list[Task]]], tuple[str, ...]]:
    """Return the requests that share a fit, each with its tasks, and the columns that reach out of theirs."""
    data = source.rows()
    groups: dict[tuple[str, str], list[Request]] = {}
    for request in requests:
        groups.setdefault((request.stream, repr(request.of_fit)), []).append(request)
    can_move = any(item.metric.guards.outliers in ("move it", "of factors move it") for item in requests)
    outlying = data.outlying() if guards and can_move else ()
    groups_of_tasks: list[tuple[list[Request], list[Task]]] = []
    for (stream, _), members in groups.items():
        metric = members[0].metric
        quick = not metric.is_plain and metric.slow < 2
        draws: tuple[tuple[Variant, int], ...] = (
            ("repeat", run.n_repeats if metric.stochastic else 1),
            ("half", run.n_bootstrap),
            ("permutation", run.n_permutations),
            ("winsorised", 1 if _can_move(metric, outlying, data) else 0),
            ("shuffled", 1 if shuffle and quick and not run.n_permutations else 0),
        )
        own = [
            Task(
                stream=stream,
                readings={item.name: item.reading for item in members},
                options={item.name: item.options for item in members},
                side=members[0].side,
                seed=run.seed,
                variant=variant,
                index=index,
            )
            for variant, count in draws
            for index in range(count)
        ]
        groups_of_tasks.append((members, own))
    return groups_of_tasks, outlying


def _can_move(metric: Metric, outlying: tuple[str, ...], data: Data) -> bool:
    if metric.guards.outliers == "of factors move it":
        return any(name in data.factors.names for name in outlying)
    return bool(outlying) and metric.guards.outliers == "move it"


def _collected(
    request: Request, own: list[tuple[Task, TaskResult]], outlying: tuple[str, ...], data: Data, *, guards: bool
) -> Outcome | str:
    name = request.name
    seconds = sum(result.seconds for task, result in own if task.variant == "repeat")

    def draws(variant: str) -> Draws | None:
        asked = [(task.index, result) for task, result in own if task.variant == variant]
        natives = [result.natives[name] for _, result in asked if result.error is None]
        failed = tuple(index for index, result in asked if result.error is not None)
        return Draws.of(natives, failed) if natives and len(natives) >= 0.9 * len(asked) else None

    for task, result in own:
        if task.variant == "repeat" and result.error is not None:
            return str(result.error)
    repeats = draws("repeat")
    if repeats is None:
        return "no run finished"
    first = next(result.natives for task, result in own if task.variant == "repeat")[name]
    native = first if repeats.n == 1 else repeats.mean(first)
    if not guards:
        return Outcome(native=native, resamples=draws("half"), resampling="half-sample", seconds=seconds)
    errors = {task.variant: result.error for task, result in own if result.error is not None}
    notes = request.notes + tuple(
        Note(
            code=f"failed-{variant}",
            message=f"some of the {_WORDS[variant]} could not be computed{_consequence(draws(variant))}: {error}",
            severity="warning",
        )
        for variant, error in errors.items()
    )
    notes += few_rows_notes(request.metric.guards, data.factors, request.options)
    winsorised, shuffled = draws("winsorised"), draws("permutation") or draws("shuffled")
    if winsorised is not None:
        notes += moved_by_outliers(float(native.value), float(winsorised.value[0]), outlying)
    notes += first.chance_notes
    if shuffled is not None:
        notes += beside_chance(native, shuffled.value, data)
    return Outcome(
        native=native,
        repeats=repeats if repeats.n > 1 else None,
        resamples=draws("half"),
        resampling="half-sample",
        halves=draws("half"),
        permutations=draws("permutation"),
        seconds=seconds,
        notes=notes,
    )


def _consequence(left: Draws | None) -> str:
    return ", so that there is no interval or level" if left is None else ""
