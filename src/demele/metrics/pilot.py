"""How long an evaluation will take, told before it starts: each fit is run on a few rows, scaled to all."""

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from demele.core.columns import Factor, Factors
from demele.core.errors import DemeleError
from demele.core.seeds import rng_for
from demele.estimation.importance import SCORED_FOLDS, TUNING_ROWS
from demele.metrics.cost import LONG, OF_HALF, Runs, forecast, together
from demele.metrics.data import Data, TableSettings
from demele.metrics.fitted import planned
from demele.metrics.options import Run
from demele.metrics.request import Asked, Request, request_for
from demele.metrics.source import InMemory, Source, Subject
from demele.metrics.tasks import Task, run_task
from demele.runtime.progress import Announcement, Report
from demele.runtime.work import processes_of

#: Seconds of a fit per row, code and factor, within a factor of five: says whether a pilot is worth its time.
_ROUGH = 2e-6
#: A pilot is run if an evaluation may take so much of what is told to be long.
_MAY_BE_LONG = 0.3
#: Rows of a pilot: from here on, predictors score one fold, and their time grows with the rows.
_ROWS = max(SCORED_FOLDS)
#: Fits before which a pilot is run on so few rows only to import what they need.
_WARMING_ROWS = 200


def _forest_rows(n: float) -> float:
    """Rows that forests are grown on: one for each share of codes, and another where tuning did not see all."""
    tuned = min(0.8 * n, TUNING_ROWS)
    return _folds(n) * (4 * tuned + (0.8 * n if tuned < 0.8 * n else 0.0))


def _boosted_rows(n: float) -> float:
    """Rows that trees are grown on, and what bins cost whatever the rows: measured, as much as 4000 of them."""
    fitted = (min(2 * n / 3, 10_000.0), 1) if n >= max(SCORED_FOLDS) else (0.8 * n, _folds(n))
    return (fitted[0] + 4_000) * fitted[1]


def _lasso_rows(n: float) -> float:
    """Rows that are fitted, and what a hundred penalties cost whatever the rows: measured, as much as 8000 of them."""
    return (n + 8_000) * _folds(n)


def _folds(n: float) -> int:
    return next(folds for rows, folds in SCORED_FOLDS.items() if n >= rows)


#: Metrics that fit one predictor for each factor, whose time is told by one factor of each kind; and the rows that
#: their fits go over in all.
_BY_FACTOR: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {"dci_forest": _forest_rows, "dci_boosting": _boosted_rows, "dci_lasso": _lasso_rows}
)
#: Those of them that import nothing of weight.
_WARM = frozenset({"dci_forest", "dci_boosting"})


def announced(asked: Sequence[Asked], source: Source, run: Run, report: Report | None) -> Report | None:
    """Say what an evaluation will take, if it is long, and return where its progress goes from then on.

    Parameters
    ----------
    asked : sequence of Asked
    source : Source
    run : Run
    report : callable or None
        None: nobody listens, and nothing is timed.
    """
    if report is None:
        return None
    return told(runs_ahead(asked, source, run), run.n_jobs, report)


def told(ahead: Sequence[Runs], n_jobs: int, report: Report) -> Report:
    """Announce what runs will take, if it is long, and return a report that does not say so once more."""
    words = forecast(ahead, processes_of(n_jobs), processors=os.cpu_count() or 1, begun=False)
    if words is None:
        return report
    report(0, 1, Announcement(words))

    def silent(done: float, total: float, label: str) -> None:
        if not isinstance(label, Announcement):
            report(done, total, label)

    return silent


def runs_ahead(asked: Sequence[Asked], source: Source, run: Run, *, times: int = 1) -> list[Runs]:
    """Return what the fits of an evaluation will take; none if it is sure to be quick, or rows are not in memory.

    Functions of the user are not called for this, and metrics that cannot be computed on a few rows are left out.
    ``times`` such evaluations are to come, which says only whether a pilot is worth its time.

    Notes
    -----
    Seconds of the processor for a fit on at most 4000 rows, times the rows that the whole fit goes over, as a share of
    those. Predictors of single factors are timed on one factor of each kind.
    """
    if "rows" not in source.states or not source.subject("rows").active:
        return []
    data = source.rows()
    fits = planned_fits(asked, source, run)
    tables = _slow_tables(asked, source, run)
    wide = data.codes.d * sum(max(1.0, len(factor.levels) / 4) for factor in data.factors.columns)
    wholes = sum(_in_wholes(own) for own in fits) + len(tables) * (1 + run.chance + OF_HALF * run.bootstrap)
    if times * wholes * _ROUGH * wide * data.n < _MAY_BE_LONG * LONG:
        return []
    some = data
    if data.n > _ROWS:
        some = data.take(np.sort(rng_for(run.seed, "pilot").permutation(data.n)[:_ROWS]))
    found = [_timed_fit(own, some, data) for own in fits]
    found += [_timed_table(*item, some, data, run) for item in tables]
    return [one for one in found if one is not None]


def runs_of_several(asked: Sequence[Asked], sources: Collection[object], run: Run) -> list[Runs]:
    """Return what scoring several representations will take; of those in memory that have one shape, one is timed."""
    by_shape: dict[tuple[int, int], list[InMemory]] = {}
    for source in sources:
        if isinstance(source, InMemory):
            by_shape.setdefault((source.data.n, source.data.codes.d), []).append(source)
    by_name: dict[str, list[Runs]] = {}
    for alike in by_shape.values():
        for runs in runs_ahead(asked, alike[0], run, times=len(sources)):
            by_name.setdefault(runs.name, []).extend([runs] * len(alike))
    return [together(own) for own in by_name.values()]


def planned_fits(asked: Iterable[Asked], source: Source, run: Run) -> list[list[Task]]:
    """Return the tasks of each fit of metrics that need rows; without functions of the user."""
    requests = [item for item in _requests(asked, source, run) if item.reading.state in ("rows", "arrays")]
    groups = planned(requests, source, run, shuffle=False, guards=True)[0] if requests else []
    return [own for members, own in groups if not members[0].metric.is_plain]


def _requests(asked: Iterable[Asked], source: Source, run: Run) -> list[Request]:
    """Return what can be asked of a source; the evaluation itself will say why the rest cannot."""
    found = []
    for one in asked:
        try:
            found.append(request_for(one, source, run.seed))
        except DemeleError:
            continue
    return found


def _slow_tables(asked: Iterable[Asked], source: Source, run: Run) -> list[tuple[str, TableSettings, bool]]:
    """Return the tables of information that are more than counting: a metric's name, settings, and whether of pairs."""
    found: dict[TableSettings, list[Request]] = {}
    for request in _requests(asked, source, run):
        if request.settings is not None and request.settings.estimator != "histogram":
            found.setdefault(request.settings, []).append(request)
    return [(own[0].name, table, any(one.reading.pairs for one in own)) for table, own in found.items()]


def _in_wholes(own: Sequence[Task]) -> float:
    halves = sum(task.variant == "half" for task in own)
    return len(own) - halves + OF_HALF * halves


def _timed_fit(own: Sequence[Task], some: Data, data: Data) -> Runs | None:
    first, seen = own[0], _BY_FACTOR.get(own[0].stream, float)
    halves = sum(task.variant == "half" for task in own)

    def fit(data: Data) -> bool:
        return run_task(first, data).error is None

    if first.stream not in _WARM:
        fit(some.take(np.arange(min(some.n, _WARMING_ROWS))))
    kinds = _kinds(data.factors.columns) if first.stream in _BY_FACTOR else [range(data.factors.m)]
    total = 0.0
    for kind in kinds:
        alone = kind[:1] if first.stream in _BY_FACTOR else kind
        seconds = timed(fit, replace(some, factors=Factors(tuple(some.factors.columns[index] for index in alone))))
        if seconds is None:
            return None
        total += seconds * len(kind) / len(alone)
    return Runs(first.stream, total * seen(data.n) / seen(some.n), halves, len(own) - halves)


def _kinds(columns: Sequence[Factor]) -> list[Sequence[int]]:
    """Return the places of continuous factors, and of those with each number of levels."""
    kinds: dict[int, list[int]] = {}
    for index, factor in enumerate(columns):
        kinds.setdefault(len(factor.levels) if factor.categorical else 0, []).append(index)
    return list(kinds.values())


def _timed_table(name: str, settings: TableSettings, pairs: bool, some: Data, data: Data, run: Run) -> Runs | None:
    def count(data: Data) -> bool:
        subject = Subject(data.codes, data.factors, tuple(range(data.factors.m)), ())
        try:
            InMemory(subject, data.codes_std).table(settings, pairs=pairs)
        except DemeleError:
            return False
        return True

    count(some.take(np.arange(min(some.n, _WARMING_ROWS))))
    seconds = timed(count, some)
    return None if seconds is None else Runs(name, seconds * data.n / some.n, run.bootstrap, 1 + run.chance)


def timed(work: Callable[[Data], bool], data: Data) -> float | None:
    """Return the seconds of the processor that work on data takes; None if it fails."""
    started = time.process_time()
    return time.process_time() - started if work(data) else None
