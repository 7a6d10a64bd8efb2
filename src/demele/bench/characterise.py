"""The bench in one call: what metrics do on representations whose properties are known, and which can be believed."""

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.bench.criteria import REVIEW_CRITERIA, Criterion, added_criteria
from demele.bench.curves import Curve
from demele.bench.planning import Seeds, checked_plan, try_functions
from demele.bench.run import Plan, check_record, declined, record_key, run_plan
from demele.bench.scenario import Candidate, Scenario
from demele.bench.verdicts import Verdict, judged
from demele.core.errors import InputError, InputTypeError, UnknownNameError
from demele.core.publish import publish
from demele.core.results import as_json
from demele.core.store import Key, Store, reading_record
from demele.core.version import __version__
from demele.metrics.catalogue import CATALOGUE, suggestion
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.runtime.progress import Report, reporting

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Characterisation", "Row", "characterise", "row_name"]

Metric = str | Callable[..., float] | Candidate


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the verdict table: a metric, or the three scores of one DCI model.

    Attributes
    ----------
    name, title : str
        In code, and in print.
    members : tuple of Candidate
        The scores that share it.
    """

    name: str
    title: str
    members: tuple[Candidate, ...]

    @property
    def own(self) -> bool:
        """Whether the metric is not one of demele's."""
        return self.members[0].function is not None or self.members[0].name not in CATALOGUE


@dataclass(frozen=True, kw_only=True, eq=False)
class Characterisation:
    """What metrics did on every scenario: rows, curves, verdicts, a card for each.

    Attributes
    ----------
    candidates : tuple of Candidate
        The metrics.
    scenarios : tuple of Scenario
        Where they were measured.
    protocol, n_samples, level
        How.
    seeds, slow_seeds : mapping of str to int
        Seeds of each scenario, and of the metrics that train predictors.
    curves : mapping of (metric, scenario) to Curve
        The scores of all seeds.
    seconds : mapping of (group, scenario) to arrays
        Seconds of each call, per severity.
    rows_of : mapping of scenario to (least, most)
        Rows of the scenarios that draw another number than ``n_samples``.
    drifting : mapping of metric to text
        What functions that draw without a seed gave, twice, on the same arrays.
    version : str
        The demele that measured.

    Examples
    --------
    >>> from demele import bench
    >>> found = bench.characterise(["mig"], ["mixing"], seeds=3, n_samples=500)
    >>> found.verdict("mig", "coherent_modularity").status
    'not applicable'
    """

    candidates: tuple[Candidate, ...]
    scenarios: tuple[Scenario, ...]
    protocol: str
    n_samples: int
    level: float
    seeds: Mapping[str, int]
    slow_seeds: Mapping[str, int]
    curves: Mapping[tuple[str, str], Curve]
    seconds: Mapping[tuple[str, str], tuple[np.ndarray[Any, np.dtype[np.float64]], ...]]
    rows_of: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    drifting: Mapping[str, str] = field(default_factory=dict)
    version: str = __version__

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Lines of the verdict table, your own metrics first."""
        members: dict[str, list[Candidate]] = {}
        for item in self.candidates:
            members.setdefault(row_name(item), []).append(item)
        rows = [Row(name, _row_title(own), tuple(own)) for name, own in members.items()]
        return tuple(sorted(rows, key=lambda row: not row.own))

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """What the metrics are judged by: those of the review whose scenarios were run, then the further scenarios."""
        run = {item.name for item in self.scenarios}
        asked = [item for item in REVIEW_CRITERIA if any(part.scenario in run for part in item.parts)]
        # what is declared belongs to the review's table, and is no table by itself
        declared = [item for item in REVIEW_CRITERIA if item.declared and asked]
        return (*asked, *declared, *added_criteria(self.scenarios))

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every row judged by every criterion."""
        by_name = {item.name: item for item in self.scenarios}
        return tuple(
            judged(row.name, row.members, criterion, by_name, self.curves, self.level)
            for row in self.rows
            for criterion in self.criteria
        )

    def verdict(self, row: str, criterion: str) -> Verdict:
        """Return one verdict, with its evidence.

        Parameters
        ----------
        row : str
            A metric, or "dci_forest", "dci_lasso", "dci_boosting".
        criterion : str
            Name of a criterion.

        Raises
        ------
        UnknownNameError
            With the nearest names.
        """
        rows, criteria = [item.name for item in self.rows], [item.name for item in self.criteria]
        if row not in rows:
            raise UnknownNameError(f"row: none is called {row!r}{suggestion(str(row), rows)}")
        if criterion not in criteria:
            raise UnknownNameError(f"criterion: none is called {criterion!r}{suggestion(str(criterion), criteria)}")
        return next(item for item in self.verdicts if (item.row, item.criterion) == (row, criterion))

    def table(self, group: str | None = None) -> "pd.DataFrame":
        """Return the verdicts as a table: a row for each metric, a column for each criterion.

        Parameters
        ----------
        group : {"review", "added"}, optional
            Only the criteria of the review, or of the further scenarios.
        """
        import pandas as pd

        names = [item.name for item in self.criteria if group in (None, item.group)]
        if group not in (None, "review", "added"):
            raise InputError(f"group: expected 'review' or 'added', got {group!r}")
        found = {(item.row, item.criterion): item.status for item in self.verdicts}
        return pd.DataFrame(
            [[found[row.name, name] for name in names] for row in self.rows],
            index=pd.Index([row.name for row in self.rows], name="metric"),
            columns=names,
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return one row for each value: scenario, severity, seed, metric, value (NaN with a reason)."""
        import pandas as pd

        lines = []
        for (metric, scenario), curve in self.curves.items():
            if curve.declined is not None:
                continue
            severities = next(item for item in self.scenarios if item.name == scenario).severities
            for severity, seeds, values, missing in zip(
                severities, curve.seeds, curve.values, curve.reasons, strict=True
            ):
                lines += [
                    (scenario, severity, int(seed), metric, float(value), "")
                    for seed, value in zip(seeds, values, strict=True)
                ]
                failed = (seed for seed in itertools.count() if seed not in seeds)
                lines += [(scenario, severity, next(failed), metric, float("nan"), reason) for reason in missing]
        return pd.DataFrame(lines, columns=["scenario", "severity", "seed", "metric", "value", "reason"])

    def curve_frame(self) -> "pd.DataFrame":
        """Return one row for each point of each curve: mean, interval, standard deviation, seeds."""
        import pandas as pd

        lines = []
        for scenario in self.scenarios:
            for item in self.candidates:
                curve = self.curves[item.name, scenario.name]
                if curve.declined is not None:
                    continue
                for place, severity in enumerate(scenario.severities):
                    low, high = curve.interval(place, self.level)
                    values = curve.values[place]
                    spread = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
                    mean, count = float(curve.means[place]), len(values)
                    label = scenario.label(place)
                    lines.append((scenario.name, severity, label, item.name, mean, low, high, spread, count))
        columns = ["scenario", "severity", "label", "metric", "mean", "low", "high", "std", "seeds"]
        return pd.DataFrame(lines, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Return everything that the report shows, as plain lists, texts and numbers."""
        from demele.bench.dictionary import to_dictionary

        return to_dictionary(self)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return (and write) what :meth:`to_dict` holds."""
        return as_json(self.to_dict(), path)

    def to_html(self, path: str | Path, *, title: str | None = None, beside: "Characterisation | None" = None) -> Path:
        """Write one self-contained interactive page.

        Parameters
        ----------
        path : str or Path
            The file; replaced if it exists.
        title : str, optional
            Heading of the page.
        beside : Characterisation, optional
            Another one to show under this one, such as :func:`demele.bench.reference`.
        """
        from demele.bench.dictionary import joined

        shown = self.to_dict() if beside is None else joined(self.to_dict(), beside.to_dict())
        written: Path = publish("characterisation", shown, path, title=title)
        return written

    def save(self, path: str | Path) -> Path:
        """Write every value compactly; :func:`demele.bench.load` reads it."""
        from demele.bench.packed import pack

        return pack(self, Path(path))

    def _repr_html_(self) -> str:
        return str(self.table().to_html())

    def __repr__(self) -> str:
        return (
            f"Characterisation({len(self.candidates)} metrics, {len(self.scenarios)} scenarios, "
            f"n_samples={self.n_samples}, protocol={self.protocol!r})"
        )


def characterise(
    metrics: Sequence[Metric] | Metric | None = None,
    scenarios: Sequence[str | Scenario] | str | Scenario | None = None,
    *,
    seeds: Seeds = 100,
    slow_seeds: Seeds | None = None,
    n_samples: int = 20_000,
    protocol: str = DEFAULT_PROTOCOL,
    level: float = 0.95,
    n_jobs: int = 1,
    executor: Executor | None = None,
    store: str | Path | None = None,
    progress: bool | Report = False,
) -> Characterisation:
    """Measure metrics on representations whose properties are known.

    Parameters
    ----------
    metrics : names, callables, candidates, or None
        Registered names; any function ``(codes, factors) -> float``; or :func:`demele.bench.candidate`, which says
        what a function claims. None: all registered metrics.
    scenarios : names, Scenario objects, or None
        See :func:`demele.bench.scenario_names`; "source" is the five of the review, "added" the others. None: all.
    seeds : int or mapping, default 100
        How often each representation is drawn and measured. A mapping gives numbers by scenario, or by "source" and
        "added".
    slow_seeds : int or mapping, optional
        The same for the metrics that train predictors (DCI, Explicitness); at most 20 of ``seeds`` by default.
    n_samples : int, default 20 000
        Rows of each representation; the most, in the scenarios that sweep the number of rows.
    protocol : str, default "review2022"
        Settings of the metrics, see :func:`demele.protocol_names`.
    level : float in (0, 1), default 0.95
        Confidence of the interval of each point of a curve, and of all conditions together that one criterion asks of
        one metric in one scenario.
    n_jobs : int, default 1
        Processes; -1 for all processors. The rows are the same bits for any number.
    executor : concurrent.futures.Executor, optional
        Where to work instead.
    store : str or Path, optional
        A file that keeps every row as it comes. A run that was killed goes on where it was; a later call with more
        metrics, scenarios or seeds computes only those. Rows of a function of yours are found again by its code; what
        it calls, and global variables, are not looked at: after a change there, use another file.
    progress : bool or callable(done, total, label), default False
        Show a progress bar.

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
    >>> found = bench.characterise(best_correlation, ["noise", "non_linear"], seeds=5, n_samples=1000)
    >>> found.verdict("best_correlation", "non_linear").status
    'fails'
    """
    if store is not None and not isinstance(store, str | os.PathLike):
        raise InputTypeError(f"store: expected the path of a file, got {store!r}")
    plan, told = checked_plan(metrics, scenarios, seeds, slow_seeds, n_samples, protocol, level, n_jobs, executor)
    with (
        Store(None if store is None else Path(store), plan.identity) as rows,
        reporting(progress) as report,
    ):
        drifting = try_functions(plan, rows)
        run_plan(plan, rows, n_jobs=n_jobs, executor=executor, report=report)
        return _characterised(plan, rows, level, *told, drifting)


def _characterised(
    plan: Plan, rows: Store, level: float, seeds: dict[str, int], slow: dict[str, int], drifting: dict[str, str]
) -> Characterisation:
    curves, seconds = {}, {}
    sizes: dict[str, set[int]] = {}
    for scenario in plan.scenarios:
        for item in plan.candidates:
            reason = declined(item, scenario)
            keys = [
                [record_key(scenario, severity, seed, item) for seed in range(plan.seeds(item, scenario))]
                for severity in scenario.severities
            ]
            curves[item.name, scenario.name] = _curve(item, scenario, keys, rows, reason)
            if reason is None:
                found = (rows[key].get("rows", plan.n_samples) for of_severity in keys for key in of_severity)
                sizes.setdefault(scenario.name, set()).update(found)
                seconds[item.group, scenario.name] = tuple(
                    np.array([rows[key]["seconds"] for key in of_severity]) for of_severity in keys
                )
    return Characterisation(
        candidates=plan.candidates,
        scenarios=plan.scenarios,
        protocol=plan.protocol,
        n_samples=plan.n_samples,
        level=float(level),
        seeds=seeds,
        slow_seeds=slow,
        curves=curves,
        seconds=seconds,
        rows_of={name: (min(own), max(own)) for name, own in sizes.items() if own != {plan.n_samples}},
        drifting=drifting,
    )


def _curve(
    item: Candidate, scenario: Scenario, keys: Sequence[Sequence[Key]], rows: Store, reason: str | None
) -> Curve:
    values, numbers, reasons = [], [], []
    for of_severity in keys if reason is None else [() for _ in keys]:
        for key in of_severity:
            with reading_record(key):
                check_record(rows[key])
        found = [(seed, rows[key]["values"].get(item.name)) for seed, key in enumerate(of_severity)]
        known = [(seed, value) for seed, value in found if value is not None]
        numbers.append(np.array([seed for seed, _ in known], dtype=np.intp))
        values.append(np.array([value for _, value in known], dtype=np.float64))
        reasons.append(
            tuple(
                str(rows[of_severity[seed]]["reasons"].get(item.name, "no value was stored"))
                for seed, value in found
                if value is None
            )
        )
    return Curve(
        metric=item.name,
        scenario=scenario.name,
        values=tuple(values),
        seeds=tuple(numbers),
        reasons=tuple(reasons),
        declined=reason,
    )


def row_name(item: Candidate) -> str:
    """Return the row that a metric is shown in: the three scores of one DCI model share one."""
    return item.group if item.function is None and item.group.startswith("dci_") else item.name


def _row_title(members: Sequence[Candidate]) -> str:
    title = members[0].title
    return title.rpartition(" ")[0] if row_name(members[0]) != members[0].name else title
