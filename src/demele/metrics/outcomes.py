"""Computing what was asked for: shared work once, draws for uncertainty and chance, natives by metric."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from demele.core.results import Note
from demele.core.sentences import marked
from demele.estimation.independence import Finding
from demele.estimation.information import InformationTable
from demele.metrics.data import Data
from demele.metrics.fragility import FRAGILE, few_rows_notes, fragility_notes, moved_by_outliers
from demele.metrics.information import scores as information_scores
from demele.metrics.information.tables import TableSettings, information_of, permuted_tables, resampled_tables
from demele.metrics.native import Native
from demele.metrics.noise_notes import at_chance_notes, findings_of, noise_notes, unexplained_notes
from demele.metrics.requests import Request, Run
from demele.metrics.tasks import Draws, Task, TaskResult, Variant, half_of_rows, run_tasks
from demele.runtime.progress import Report

WORDS = {
    "repeat": "repeats",
    "half": "resamples",
    "permutation": "permutations",
    "winsorised": "checks for outliers",
    "shuffled": "checks against chance",
}

__all__ = ["Outcome", "assumed_codes", "by_table", "guarded", "information_outcomes", "task_outcomes"]

#: Groups whose scores an outlier can move. Trees see only the order of the codes, but the values of the factors.
TREES = ("dci_forest", "dci_boosting")
MOVED_BY_OUTLIERS = ("dci_lasso", "explicitness", "sap", "z_diff", "z_min_variance", "z_max_variance", "irs")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What computing gave for one metric: the value, and its draws under repeats, resamples and permutations."""

    native: Native
    repeats: Draws | None = None
    resamples: Draws | None = None
    resampling: str = ""
    permutations: Draws | None = None
    seconds: float = float("nan")
    notes: tuple[Note, ...] = ()


def by_table(requests: list[Request]) -> dict[TableSettings, list[Request]]:
    """Group the requests that are read off one information table."""
    groups: dict[TableSettings, list[Request]] = {}
    for request in requests:
        if request.settings is not None:
            groups.setdefault(request.settings, []).append(request)
    return groups


def information_outcomes(
    settings: TableSettings,
    requests: list[Request],
    data: Data,
    run: Run,
    report: Report | None,
    *,
    shuffle: bool = False,
) -> dict[str, Outcome]:
    """Compute the metrics of one information table, with what was asked of resamples and permutations.

    ``shuffle``: where no permutations were asked for, one is looked at, and scores that it reaches too get a note.
    """
    started = time.perf_counter()
    settings = replace(settings, seed=run.seed)
    natives: dict[str, Native] = {}
    pairs = information_scores.read_factor_pairs(request.name for request in requests)
    table = information_of(data, settings, factor_pairs=pairs)
    for request in requests:
        natives[request.name] = information_scores.native_of(request.name, table, request.reg_dim)
    notes = fragility_notes(data, settings, table, {item.name: (natives[item.name], item.reg_dim) for item in requests})
    seconds = time.perf_counter() - started
    resamples = permutations = None
    if run.bootstrap:
        tables: Iterable[InformationTable] = resampled_tables(
            data, settings, run.bootstrap, run.seed, factor_pairs=pairs
        )
        if not settings.resamples_by_weight:
            tables = (
                information_of(data.take(half_of_rows(data.n, run.seed, index)), settings, factor_pairs=pairs)
                for index in range(run.bootstrap)
            )
        resamples = _drawn(tables, requests, run.bootstrap, "resamples", report)
    if run.chance:
        tables = permuted_tables(data, settings, run.chance, run.seed, factor_pairs=pairs)
        permutations = _drawn(tables, requests, run.chance, "permutations", report)
    shuffled = permutations
    if permutations is None and shuffle:
        tables = permuted_tables(data, settings, 1, run.seed, factor_pairs=pairs)
        shuffled = _drawn(tables, requests, 1, "shuffles", None)
    return {
        request.name: Outcome(
            native=natives[request.name],
            resamples=None if resamples is None else resamples[request.name],
            resampling="bootstrap" if settings.resamples_by_weight else "half-sample",
            permutations=None if permutations is None else permutations[request.name],
            seconds=seconds,
            notes=notes.get(request.name, ())
            + assumed_codes(request, table)
            + _beside_chance(natives[request.name], None if shuffled is None else shuffled[request.name], data),
        )
        for request in requests
    }


def assumed_codes(request: Request, table: InformationTable) -> tuple[Note, ...]:
    """Where code i was taken to regularise factor i, say so, and loudly where the codes say otherwise."""
    if not request.notes or request.reg_dim is None:
        return request.notes
    other = int((table.information.argmax(axis=0) != request.reg_dim).sum())
    if not other:
        return request.notes
    text = (
        f"{marked(request.notes[0].message)}; for {other} of {len(request.reg_dim)} factors another code informs more"
    )
    return tuple(replace(note, message=text, severity="warning") for note in request.notes)


def _drawn(
    tables: Iterable[InformationTable], requests: list[Request], n_draws: int, label: str, report: Report | None
) -> dict[str, Draws]:
    collected: dict[str, list[Native]] = {request.name: [] for request in requests}
    done = 0
    for table in tables:
        if report is not None:  # a table holds one draw, or a block of them
            report(done, n_draws, label)
        done += 1 if table.information.ndim == 2 else len(table.information)
        for request in requests:
            collected[request.name].append(information_scores.native_of(request.name, table, request.reg_dim))
    return {name: Draws.of(natives) for name, natives in collected.items()}


def task_outcomes(
    requests: list[Request], data: Data, run: Run, report: Report | None, *, shuffle: bool = False
) -> dict[str, Outcome | str]:
    """Run the metrics that are not read off an information table: one task per group and draw.

    ``shuffle`` as of :func:`information_outcomes`; not for DCI, where a shuffle would take as long as the score.
    """
    groups: dict[tuple[str, str], list[Request]] = {}
    for request in requests:
        group = request.name if request.spec is None else request.spec.group
        groups.setdefault((group, repr(request.options)), []).append(request)
    tasks: list[Task] = []
    outlying = data.outlying() if any(group in (*MOVED_BY_OUTLIERS, *TREES) for group, _ in groups) else ()
    for (group, _), members in groups.items():
        first = members[0]
        quick = first.spec is not None and not group.startswith("dci_")
        stochastic = first.spec is not None and first.spec.stochastic
        draws: tuple[tuple[Variant, int], ...] = (
            ("repeat", run.repeats if stochastic else 1),
            ("half", run.bootstrap),
            ("permutation", run.chance),
            ("winsorised", 1 if _can_move(group, outlying, data) else 0),
            ("shuffled", 1 if shuffle and quick and not run.chance else 0),
        )
        tasks += [
            Task(
                group=group,
                options=first.options or {},
                function=first.callable,
                seed=run.seed,
                variant=variant,
                index=index,
            )
            for variant, count in draws
            for index in range(count)
        ]
    results = run_tasks(tasks, data, n_jobs=run.n_jobs, report=report)
    outcomes: dict[str, Outcome | str] = {}
    for (group, _), members in groups.items():
        own = [
            (task, result)
            for task, result in zip(tasks, results, strict=True)
            if task.group == group and repr(task.options) == repr(members[0].options or {})
        ]
        for request in members:
            few_rows = few_rows_notes(group, data, members[0].options or {})
            outcomes[request.name] = _collected(request, own, outlying, few_rows, data)
    return outcomes


def _beside_chance(native: Native, shuffled: Draws | None, data: Data) -> tuple[Note, ...]:
    if shuffled is None:
        return ()
    known = [float(one) for one in shuffled.value if one == one]
    return at_chance_notes(float(native.value), known, data.n, data.codes.d)


def guarded(
    outcomes: dict[str, Outcome | str], requests: list[Request], data: Data, finding: Finding | None
) -> dict[str, Outcome | str]:
    """Add a note to scores above 0 of codes that tell nothing; the rows are looked at once, if they were not yet."""
    named = [item.name for item in requests if item.spec is not None]
    high = [name for name in named if isinstance(own := outcomes[name], Outcome) and float(own.native.value) > FRAGILE]
    if not high:
        return outcomes
    finding = finding or findings_of(data)
    found = dict(outcomes)
    for name in high:
        own = found[name]
        if isinstance(own, Outcome):
            found[name] = replace(own, notes=own.notes + noise_notes(float(own.native.value), finding))
    return found


def _collected(
    request: Request,
    own: list[tuple[Task, TaskResult]],
    outlying: tuple[str, ...],
    few_rows: tuple[Note, ...],
    data: Data,
) -> Outcome | str:
    name = request.name
    seconds = sum(result.seconds for task, result in own if task.variant == "repeat")

    def draws(variant: str) -> Draws | None:
        found = [result.natives[name] for task, result in own if task.variant == variant and result.error is None]
        asked = sum(task.variant == variant for task, _ in own)
        return Draws.of(found) if found and len(found) >= 0.9 * asked else None

    for task, result in own:
        if task.variant == "repeat" and result.error is not None:
            return str(result.error)
    repeats = draws("repeat")
    if repeats is None:
        return "no run finished"
    all_first = next(result.natives for task, result in own if task.variant == "repeat")
    first = all_first[name]
    native = first if repeats.n == 1 else repeats.mean(first)
    notes = tuple(
        Note(code=f"failed-{variant}", message=f"{text}: {error}", severity="warning")
        for variant, error in {task.variant: result.error for task, result in own if result.error is not None}.items()
        for text in [f"some of the {WORDS[variant]} could not be computed" + _consequence(draws(variant))]
    )
    return Outcome(
        native=native,
        repeats=repeats if repeats.n > 1 else None,
        resamples=draws("half"),
        resampling="half-sample",
        permutations=draws("permutation"),
        seconds=seconds,
        notes=request.notes
        + notes
        + few_rows
        + _told_outliers(float(native.value), draws("winsorised"), outlying)
        + unexplained_notes(all_first, data.n, data.codes.d).get(name, ())
        + _beside_chance(native, draws("permutation") or draws("shuffled"), data),
    )


def _told_outliers(value: float, winsorised: Draws | None, outlying: tuple[str, ...]) -> tuple[Note, ...]:
    return () if winsorised is None else moved_by_outliers(value, float(winsorised.value[0]), outlying)


def _can_move(group: str, outlying: tuple[str, ...], data: Data) -> bool:
    if group in TREES:
        return any(name in data.factors.names for name in outlying)
    return bool(outlying) and group in MOVED_BY_OUTLIERS


def _consequence(left: Draws | None) -> str:
    return ", so that there is no interval or level" if left is None else ""
