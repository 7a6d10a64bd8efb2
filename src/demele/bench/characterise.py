"""The bench in one call: what metrics do on representations whose properties are known, and which can be believed."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Annotated

import numpy as np

from demele.bench.expectations import Candidate, Scenario
from demele.bench.metric_documents import Characterisation
from demele.bench.run import (
    LEAST_ROWS,
    USUAL_SEEDS,
    Plan,
    Seeds,
    check_record,
    checked_plan,
    declined,
    measured,
    outcome,
    record_key,
    try_functions,
)
from demele.bench.verdicts import Curve
from demele.core.kinds import Jobs, Kind, Level, StorePath, at_least, checked, names_in
from demele.core.store import Key, Store, reading_record
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.runtime.sweep import Record, Sweep

Metric = str | Callable[..., float] | Candidate
_LIST = Kind("A,B", names_in)


@checked
def check_metrics(
    metrics: Annotated[Sequence[Metric] | Metric | None, _LIST] = None,
    scenarios: Annotated[Sequence[str | Scenario] | str | Scenario | None, _LIST] = None,
    *,
    seeds: Seeds = USUAL_SEEDS,
    slow_seeds: Seeds | None = None,
    n_rows: Annotated[int, at_least(LEAST_ROWS)] = 20_000,
    protocol: str = DEFAULT_PROTOCOL,
    level: Level = 0.95,
    n_jobs: Jobs = 1,
    executor: Executor | None = None,
    store: StorePath = None,
) -> Characterisation:
    """Measure metrics on representations whose properties are known.

    Parameters
    ----------
    metrics : names, callables, candidates, or None
        Metrics to measure (default: all registered ones). Names; any function ``(codes, factors) -> float``; or
        :func:`demele.bench.candidate`, which says what a function claims.
    scenarios : names, Scenario objects, or None
        Where they are measured (default: all). See :func:`demele.bench.scenario_names`; "source" is the five of the
        review, "added" the others.
    seeds : int or mapping, default 100
        Draws of each representation, or draws by scenario. A mapping gives numbers by scenario, or by "source" and
        "added"; of the others there are 100.
    slow_seeds : int or mapping, optional
        The same for metrics that train predictors (default: at most 20). These are DCI and Explicitness.
    n_rows : int, default 20 000
        Rows of each representation. The most, in the scenarios that sweep the number of rows.
    protocol : str, default "review2022"
        Named settings of the metrics. See :func:`demele.list_protocols`.
    level : float in (0, 1), default 0.95
        Confidence of the intervals. Of each point of a curve, and of all conditions together that one criterion asks
        of one metric in one scenario.
    n_jobs : int, default 1
        Processes, -1 for all processors. The rows are the same bits for any number.
    executor : concurrent.futures.Executor, optional
        Where to work instead.
    store : str or Path, optional
        File that keeps every row; the same run continues there. A run that was killed continues where it was; a later
        call with more metrics, scenarios or seeds computes only those. Rows of a function of yours are found again by
        its code; what it calls, and global variables, are not looked at: after a change there, use another file.

    Returns
    -------
    Characterisation

    Raises
    ------
    UnknownNameError
        If a metric, scenario or protocol is not known; with the nearest names.
    InputError, InputTypeError
        If a number is out of range, or the store cannot be used: before anything is computed.

    Warns
    -----
    DemeleWarning
        If a scenario sweeps around the settings of another protocol, and is left out.

    Notes
    -----
    A metric that raises, or returns no finite number, is recorded with the reason, never as 0, and the run goes on.
    A function of yours gets no seed: one that draws makes a generator of its own, with a seed of its own, inside.
    After Boilard's review and Carbonneau, Zaidi, Boilard & Gagnon (2022), section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from demele import bench
    >>> def best_correlation(codes, factors):
    ...     found = np.corrcoef(codes, factors, rowvar=False)[: codes.shape[1], codes.shape[1] :]
    ...     return float(np.abs(found).max(axis=0).mean())
    >>> found = bench.check_metrics(best_correlation, ["noise", "non_linear"], seeds=5, n_rows=1000)
    >>> found.verdict("best_correlation", "non_linear").status
    'fails'
    """
    plan = checked_plan(metrics, scenarios, seeds, slow_seeds, n_rows, protocol)
    with Sweep(plan.identity, store=store, n_jobs=n_jobs, executor=executor) as sweep:
        drifting = try_functions(plan, sweep)
        sweep.run(measured, plan.tasks(), what="representations to measure")
        return _characterised(plan, sweep.records, level, drifting)


def _characterised(plan: Plan, rows: Store, level: float, drifting: dict[str, str]) -> Characterisation:
    curves, seconds = {}, {}
    sizes: dict[str, set[int]] = {}
    for scenario in plan.scenarios:
        for item in plan.candidates:
            reason, seeds = declined(item, scenario), range(plan.number_of_seeds(item, scenario))
            records = [
                [_checked(rows, record_key(scenario, severity, seed, item)) for seed in seeds if reason is None]
                for severity in scenario.severities
            ]
            outcomes = [[outcome(record, item.name) for record in of_seeds] for of_seeds in records]
            curves[item.name, scenario.name] = Curve(item.name, scenario.name, outcomes, reason)
            if reason is None:
                found = (record.get("rows", plan.n_samples) for of_seeds in records for record in of_seeds)
                sizes.setdefault(scenario.name, set()).update(found)
                seconds[item.group, scenario.name] = tuple(
                    np.array([record["seconds"] for record in of_seeds]) for of_seeds in records
                )
    return Characterisation(
        candidates=plan.candidates,
        scenarios=plan.scenarios,
        protocol=plan.protocol,
        n_samples=plan.n_samples,
        level=level,
        seeds=plan.seeds,
        slow_seeds=plan.slow_seeds,
        curves=curves,
        seconds=seconds,
        rows_of={name: (min(own), max(own)) for name, own in sizes.items() if own != {plan.n_samples}},
        drifting=drifting,
    )


def _checked(rows: Store, key: Key) -> Record:
    with reading_record(key):
        check_record(rows[key])
    return rows[key]
