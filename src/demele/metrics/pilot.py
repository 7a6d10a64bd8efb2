"""How long an evaluation will take, told before it starts: each fit is run on a few rows, scaled to all."""

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

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
#: A pilot is run if an evaluation may take so much of what is told to be long, and takes itself so many seconds.
_MAY_BE_LONG = 0.2
_PILOT_SECONDS = 2.0
#: A pilot on fewer rows says nothing.
_FEWEST_ROWS = 60


def _forest_rows(n: float) -> float:
    """Rows that forests are grown on: one for each share of codes, and another where tuning did not see all."""
    tuned = min(0.8 * n, TUNING_ROWS)
    return _folds(n) * (4 * tuned + (0.8 * n if tuned < 0.8 * n else 0.0))


def _boosted_rows(n: float) -> float:
    return min(2 * n / 3, 10_000.0) if n >= max(SCORED_FOLDS) else 0.8 * n * _folds(n)


def _folds(n: float) -> int:
    return next(folds for rows, folds in SCORED_FOLDS.items() if n >= rows)


#: Rows that the fits of a metric go over in all, where that is not the number of rows.
_ROWS_SEEN: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {"dci_forest": _forest_rows, "dci_boosting": _boosted_rows, "dci_lasso": lambda n: n * _folds(n)}
)


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
    Each fit is timed on some rows and on a third of them. What does not grow with the rows is told apart so; what grows
    faster than they do is scaled by the power that is seen, at most the square.
    """
    if "rows" not in source.states or not source.subject("rows").active:
        return []
    data = source.rows()
    fits = [own for members, own in _planned(asked, source, run) if not members[0].metric.is_plain]
    tables = _slow_tables(asked, source, run)
    wide = data.codes.d * sum(max(1.0, len(factor.levels) / 4) for factor in data.factors.columns)
    each = _ROUGH * wide * data.n
    guess = times * each * (sum(_in_wholes(own) for own in fits) + sum(wholes for *_, wholes in tables))
    rows = int(min(data.n / 2, data.n * _PILOT_SECONDS / (each * max(1, len(fits) + len(tables)))))
    if guess < _MAY_BE_LONG * LONG or rows < _FEWEST_ROWS:
        return []
    drawn = rng_for(run.seed, "pilot").permutation(data.n)
    some, fewer = (data.take(np.sort(drawn[:size])) for size in (rows, rows // 3))
    found = [_timed(own, some, fewer, data.n) for own in fits]
    found += [_timed_table(*item, some, fewer, data.n, run) for item in tables]
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


def _planned(asked: Iterable[Asked], source: Source, run: Run) -> list[tuple[list[Request], list[Task]]]:
    requests = [item for item in _requests(asked, source, run) if item.reading.state in ("rows", "arrays")]
    return planned(requests, source, run, shuffle=False, guards=True)[0] if requests else []


def _requests(asked: Iterable[Asked], source: Source, run: Run) -> list[Request]:
    """Return what can be asked of a source; the evaluation itself will say why the rest cannot."""
    found = []
    for one in asked:
        try:
            found.append(request_for(one, source, run.seed))
        except DemeleError:
            continue
    return found


def _slow_tables(asked: Iterable[Asked], source: Source, run: Run) -> list[tuple[str, TableSettings, bool, float]]:
    """Return the tables of information that are more than counting: a metric's name, settings, pairs, and runs."""
    found: dict[TableSettings, list[Request]] = {}
    for request in _requests(asked, source, run):
        if request.settings is not None and request.settings.estimator != "histogram":
            found.setdefault(request.settings, []).append(request)
    wholes = 1 + run.chance + OF_HALF * run.bootstrap
    return [(own[0].name, table, any(r.reading.pairs for r in own), wholes) for table, own in found.items()]


def _in_wholes(own: Sequence[Task]) -> float:
    halves = sum(task.variant == "half" for task in own)
    return len(own) - halves + OF_HALF * halves


def _timed(own: Sequence[Task], some: Data, fewer: Data, n: int) -> Runs | None:
    first = own[0]
    halves = sum(task.variant == "half" for task in own)

    def fit(data: Data) -> bool:
        return run_task(first, data).error is None

    seconds = _scaled(fit, some, fewer, n, _ROWS_SEEN.get(first.stream, float))
    return None if seconds is None else Runs(first.stream, seconds, halves, len(own) - halves)


def _timed_table(
    name: str, settings: TableSettings, pairs: bool, _: float, some: Data, fewer: Data, n: int, run: Run
) -> Runs | None:
    def count(data: Data) -> bool:
        subject = Subject(data.codes, data.factors, tuple(range(data.factors.m)), ())
        try:
            InMemory(subject, data.codes_std).table(settings, pairs=pairs)
        except DemeleError:
            return False
        return True

    seconds = _scaled(count, some, fewer, n, float)
    return None if seconds is None else Runs(name, seconds, run.bootstrap, 1 + run.chance)


def _scaled(
    work: Callable[[Data], bool], some: Data, fewer: Data, n: int, seen: Callable[[float], float]
) -> float | None:
    """Return the seconds that work on ``n`` rows will take, from those on a few; None if it fails there."""
    times = []
    for data in (fewer, fewer, some):  # once more, for the first run also imports
        started = time.perf_counter()
        if not work(data):
            return None
        times.append(time.perf_counter() - started)
    return extrapolated((seen(fewer.n), times[1]), (seen(some.n), times[2]), seen(n))


def extrapolated(first: tuple[float, float], second: tuple[float, float], size: float) -> float:
    """Return the seconds of work of a size, from sizes and seconds of two smaller pieces.

    Examples
    --------
    >>> extrapolated((100, 1.5), (300, 2.5), 10_100)  # 1 second, and 5 per 1000
    51.5
    >>> round(extrapolated((100, 1.0), (300, 9.0), 3_000))  # as the square
    900
    """
    (small, little), (large, more) = first, second
    if more * small > little * large and large > small:
        power = min(2.0, float(np.log(more / little) / np.log(large / small)))
        return float(more * (size / large) ** power)
    slope = max(more - little, 0.0) / (large - small) if large > small else 0.0
    return max(more, more + slope * (size - large))
