"""The tasks of the bench, their work, and the settings of a run."""

import inspect
import math
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Annotated, Any, cast, get_args

import numpy as np

from demele.bench.expectations import Candidate, Property, Representation, Scenario, Which, group_of, is_model, slowness
from demele.bench.scenarios import SCENARIOS, chosen_scenarios
from demele.core.arrays import rng_for
from demele.core.errors import DemeleError, DemeleWarning, FormatError, InputError, InputTypeError, quoted, warn_user
from demele.core.given_data import Codes, Factors
from demele.core.kinds import Kind, checked_count, checked_flag, checked_name, pairs_in, suggestion, whole_number
from demele.core.reading import check_shape
from demele.core.results import Score
from demele.core.store import Key
from demele.core.table_columns import items_of
from demele.core.version import __version__
from demele.metrics.catalogue import CATALOGUE, names_of_all, resolve
from demele.metrics.metric import Metric, as_metric, takes_rng
from demele.metrics.options import Run
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.metrics.protocols import protocol as protocol_named
from demele.metrics.request import Request, free_name, given_options, merged_options
from demele.metrics.run import Found, rows_in_memory
from demele.metrics.source import InMemory
from demele.runtime.sweep import Record, Sweep, Task
from demele.scoring.alignment import with_alignment
from demele.scoring.noisy_factors import checked_noise, corrected

# The metrics of a run: registered names and any function, as candidates -----------------------------------------------


def _taken() -> tuple[str, ...]:
    """Names of metrics, and of what tables and times are kept under: a group shares both."""
    return tuple(dict.fromkeys([*CATALOGUE, *map(group_of, CATALOGUE.values())]))


def candidate(
    function: Callable[..., float],
    *,
    name: str | None = None,
    claims: Sequence[Property] | Property | None = None,
    discretises: bool | None = None,
) -> Candidate:
    """Declare the properties of your own metric for the bench.

    Parameters
    ----------
    function : callable
        ``(codes, factors) -> float``: arrays (n_samples, n_codes) and (n_samples, n_factors), classes as level numbers.
        1 for a perfect representation and 0 for an unrelated one, if its scores are to be called calibrated.
    name : str, optional
        What tables call it; the name of the function by default.
    claims : str or sequence of str, optional
        "modularity", "compactness", "explicitness": what it is meant to measure. Without, it is judged on all three.
    discretises : bool, optional
        Whether it cuts continuous columns into bins.

    Returns
    -------
    Candidate

    Raises
    ------
    InputError, InputTypeError
        If the function cannot be called, or a property or name is not one.

    Examples
    --------
    >>> from demele import bench
    >>> bench.candidate(lambda codes, factors: 0.5, name="half", claims="modularity").claims
    ('modularity',)
    """
    if not callable(function):
        raise InputTypeError("function", f"expected a callable (codes, factors) -> float, got {quoted(function)}")
    if (reason := why_not_callable(function)) is not None:
        raise InputTypeError("function", f"{free_name(function, ())} cannot be called with (codes, factors): {reason}")
    own = free_name(function, ()) if name is None else name
    if not isinstance(own, str) or not own.strip():
        raise InputError("name", f"expected a name, got {quoted(own)}")
    if own in _taken():
        kind = "a metric" if own in CATALOGUE else "a group of metrics"
        raise InputError("name", f"{own!r} is {kind} of demele; give yours another name")
    if discretises is not None:
        checked_flag(discretises, "discretises")
    return Candidate(
        name=own, title=own, group=own, function=function, claims=_checked_claims(claims), discretises=discretises
    )


def why_not_callable(function: Callable[..., float]) -> str | None:
    """Return why a function cannot take codes and factors, if it tells what it takes, and cannot."""
    try:
        inspect.signature(function).bind("codes", "factors", **({"rng": None} if takes_rng(function) else {}))
    except TypeError as error:
        return str(error)
    except ValueError:  # a compiled function need not say what it takes
        return None
    return None


def chosen_candidates(metrics: Any) -> tuple[Candidate, ...]:
    """Return candidates for names, functions, metrics and candidates, each once; None is every metric by default."""
    if metrics is None:
        metrics = list(names_of_all())
    if isinstance(metrics, str | Metric | Candidate) or callable(metrics):
        metrics = [metrics]
    if isinstance(metrics, Mapping) or not isinstance(metrics, Sequence):
        raise InputTypeError("metrics", f"expected names or callables, got {type(metrics).__name__}")
    chosen: dict[str, Candidate] = {}
    for metric in metrics:
        # the name of a model, a row of the verdict table, stands for its scores
        of_model = isinstance(metric, str) and metric not in CATALOGUE and is_model(metric)
        for one in [name for name, spec in CATALOGUE.items() if spec.group == metric] if of_model else [metric]:
            found = _meant(one, chosen)
            before = chosen.setdefault(found.name, found)
            if before != found and (found.function is not None or before.function is not None):
                raise InputError(
                    "metrics", f"two are called {found.name!r}; give one another name, see bench.candidate"
                )
    if not chosen:
        raise InputError("metrics", "expected at least one name or callable, got none")
    return tuple(chosen.values())


def _meant(metric: object, taken: Mapping[str, Candidate]) -> Candidate:
    if isinstance(metric, Candidate):
        if metric.function is None:
            resolve(metric.name)  # one without a function is a registered one
        return metric
    if isinstance(metric, str):
        return of_metric(CATALOGUE[resolve(metric)], ())
    if isinstance(metric, Metric):
        return of_metric(metric, taken)
    if not callable(metric):
        raise InputTypeError("metrics", f"expected a name or a callable (codes, factors), got {quoted(metric)}")
    for item in taken.values():
        if item.function is metric:
            return item
    name = getattr(metric, "__name__", "")
    if name in CATALOGUE and CATALOGUE[name].call is metric:
        return of_metric(CATALOGUE[name], ())
    return candidate(metric, name=free_name(metric, [*_taken(), *taken]))


def of_metric(metric: Metric, taken: Iterable[str]) -> Candidate:
    """Return a metric; one that is not demele's travels whole, since other processes need not know its name."""
    known, claims = CATALOGUE.find(metric.name) is metric, cast("Any", metric.properties)
    ours, own = known and metric.is_ours, metric.name if known else free_name(metric.name, [*_taken(), *taken])
    return Candidate(
        name=own,
        title=metric.title,
        group=group_of(metric) if ours else own,
        function=None if ours else metric,
        claims=claims if ours else _checked_claims(claims or None),
        discretises=metric.discretises,
    )


def _checked_claims(claims: Sequence[Property] | Property | None) -> tuple[Property, ...] | None:
    if claims is None:
        return None
    known = get_args(Property)
    given = [claims] if isinstance(claims, str) else items_of(claims, "claims", ", ".join(known))
    if not given:
        raise InputError("claims", "expected at least one property, got none; leave it out to be judged on all")
    return tuple(checked_name(item, "claims", known) for item in given)


# Settings -------------------------------------------------------------------------------------------------------------


def seeds_in(word: str) -> int | dict[str, int]:
    """Read a number, or numbers by scenario or kind of scenario.

    Examples
    --------
    >>> seeds_in("20"), seeds_in("source=100,added=20")
    (20, {'source': 100, 'added': 20})
    """
    if "=" not in word:
        return whole_number(word)
    return {name: whole_number(number) for name, number in pairs_in(word, "source=100,added=20").items()}


#: How often: one number, or numbers by scenario or kind of scenario.
Seeds = Annotated[int | Mapping[str, int], Kind("N|SET=N", seeds_in)]

#: A first look: enough to decide most verdicts with about 850 calls of a metric.
QUICK_ROWS = 5_000
QUICK_SEEDS: Mapping[str, int] = {"source": 12, "added": 5}
#: Seeds of a scenario that a mapping leaves out.
USUAL_SEEDS = 100
#: The most seeds of metrics that train predictors, where nothing else is said.
SLOW_SEEDS = 20
#: Fewest rows for which the scenarios are what they are meant to be.
LEAST_ROWS = 100


# Tasks and work -------------------------------------------------------------------------------------------------------


#: Standard deviation of stochastic codes, as a share of the code's own, where a scenario says nothing of them.
CODES_STD = 0.01


@dataclass(frozen=True, slots=True)
class Measurement:
    """One group of metrics, to be measured on one representation."""

    scenario: Scenario
    severity: float
    seed: int
    group: Candidate
    n_samples: int
    protocol: str


class Plan:
    """Everything that a run is to measure; the seeds are numbers by scenario.

    Parameters and errors are those of :func:`demele.bench.check_metrics`.
    """

    def __init__(
        self, metrics: Any, scenarios: Any, seeds: Seeds, slow_seeds: Seeds | None, n_rows: int, protocol: str
    ) -> None:
        self.n_samples, self.protocol, options = n_rows, protocol, protocol_named(protocol).options
        self.candidates = tuple(
            # with nearest neighbours, nothing is cut into bins
            replace(item, discretises=False)
            if item.function is None
            and item.discretises
            and merged_options(CATALOGUE[item.name], options, {}).get("estimator", "histogram") != "histogram"
            else item
            for item in chosen_candidates(metrics)
        )
        self.scenarios = _that_fit(chosen_scenarios(scenarios), n_rows, protocol)
        usual = dict.fromkeys((item.name for item in self.scenarios), USUAL_SEEDS)
        self.seeds = _seeds_of("seeds", seeds, usual, self.scenarios)
        self.slow_seeds = {name: min(number, SLOW_SEEDS) for name, number in self.seeds.items()}
        if slow_seeds is not None:
            self.slow_seeds = _seeds_of("slow_seeds", slow_seeds, self.slow_seeds, self.scenarios)

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
            about=Measurement(scenario, severity, seed, group, self.n_samples, self.protocol),
            seed=seed,
            together=(scenario.name, severity, seed),
            weight=20.0 if slowness(group.group) == 2 else 0.5,
            label=f"{scenario.title}, seed {seed + 1}",
        )

    @property
    def identity(self) -> dict[str, str | int]:
        """What all records of the run have in common: a store of another identity is not of this run."""
        return {"demele": __version__, "protocol": self.protocol, "n_rows": self.n_samples}


def declined(candidate: Candidate, scenario: Scenario) -> str | None:
    """Return why a metric cannot take part in a scenario, if it cannot."""
    return None if scenario.declines is None else scenario.declines(candidate)


def record_key(scenario: Scenario, severity: float, seed: int, candidate: Candidate) -> Key:
    """Return what a record is kept under; that of a user's scenario or metric changes with its code."""
    known = SCENARIOS.get(scenario.name)
    # everything but the severity that decides the numbers
    own = known is None or any(getattr(known, how) != getattr(scenario, how) for how in ("draw", "paired", "score"))
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


def measured(points: tuple[Measurement, ...]) -> list[Record]:
    """Measure groups of metrics on one representation; one that fails leaves a reason, never a number.

    Raises
    ------
    InputError
        If the scenario's function fails, or what it returns cannot be used.
    """
    first = points[0]
    given = drawn(first.scenario, first.severity, first.seed, first.n_samples)
    try:
        names = {point.group.group for point in points}
        source = rows_in_memory(Codes(given.codes, std=given.codes_std), Factors(given.factors, kinds=given.kinds))
        spread = any(item.needs_codes_std and name in names for name, item in CATALOGUE.items())
        if given.codes_std is None and spread:
            codes = np.asarray(given.codes, dtype=float)  # what cannot be read was refused above, with the reason
            source = InMemory(source.subject("rows"), np.broadcast_to(CODES_STD * codes.std(axis=0), codes.shape))
        records = [_scored(source, given, point) for point in points]
    except DemeleError as error:  # not of a metric, but of what the scenario asks of all
        raise InputError(f"{_where(first.scenario, first.severity, first.seed)}: {error}") from error
    if source.data.n != first.n_samples:
        records = [{**record, "rows": source.data.n} for record in records]
    return records


def _scored(source: InMemory, given: Representation, point: Measurement) -> Record:
    """Return the bare values of a group of metrics, or of one function, under the name that it has here."""
    own, started = point.group.function, time.perf_counter()
    values, reasons = bare_scores(
        source,
        [item.name for item in CATALOGUE.values() if group_of(item) == point.group.group] if own is None else own,
        protocol=point.protocol,
        seed=point.seed,
        options=given.options,
        reg_dim=given.reg_dim,
        which=point.scenario.score,
        factor_noise=given.factor_noise,
    )
    if own is not None:  # one value, or one reason
        values = dict.fromkeys([point.group.name] * len(values), next(iter(values.values()), 0.0))
        reasons = dict.fromkeys([point.group.name] * len(reasons), next(iter(reasons.values()), ""))
    return {"values": values, "reasons": reasons, "seconds": round(time.perf_counter() - started, 6)}


def bare_scores(
    source: InMemory,
    metrics: Sequence[str] | Metric | Callable[..., float],
    *,
    protocol: str,
    seed: int,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    reg_dim: Sequence[int] | None = None,
    which: Which = "value",
    factor_noise: Mapping[str, Any] | None = None,
) -> tuple[dict[str, float], dict[str, str]]:
    """Return the scores that :func:`demele.evaluate` gives, by metric, and the reasons why others have none.

    Of registered names, or of one metric or function under its name. ``reg_dim`` goes to the metrics that need it (MIG
    does without). "corrected" is ``score.corrected.value`` by the method "transition", which needs no true values, and
    ``factor_noise``; "aligned" is ``score.alignment.aligned``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        If what is known of noisy factors does not fit them.
    """
    if isinstance(metrics, Metric) or callable(metrics):
        metric = as_metric(metrics)
        chosen = {free_name(metric.name, ()): metric}
    else:
        chosen = {name: CATALOGUE[name] for name in metrics}
    settings, given, run = protocol_named(protocol).options, given_options(options, chosen), Run(seed=seed)
    asked = [
        Request(one, name, merged_options(one, settings, given, name, reg_dim=reg_dim if one.needs_order else None))
        for name, one in chosen.items()
    ]
    found = Found(source, run, guards=False).compute(asked)
    reasons = {item.metric: item.reason for item in found.left_out}
    if which == "value":
        values = {name: float(one.native.value) for name, one in found.outcomes.items()}
    else:
        scores: Sequence[Score] = found.scores(protocol, warn=False)
        evaluation = source.subject("rows").evaluation(scores, protocol, left_out=found.left_out)
        if which == "aligned":
            scores = with_alignment(evaluation, source, asked, run).scores
            values = {one.metric: one.alignment.aligned for one in scores if one.alignment is not None}
        elif factor_noise is None:
            raise InputError("factor_noise", "expected the noise of at least one factor, got none")
        else:
            noise = checked_noise(factor_noise, "transition", source)
            scores = corrected(evaluation, asked, source, run, noise, "transition").scores
            values = {one.metric: one.corrected.value for one in scores if one.corrected is not None}
        for one in scores:
            if one.metric not in values:
                reasons[one.metric] = next(str(note.message) for note in one.notes if note.code == f"not-{which}")
    numbers = {name: value for name, value in values.items() if math.isfinite(value)}
    return numbers, reasons | {name: f"{name} returned {one}" for name, one in values.items() if name not in numbers}


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


_NUMBER = (float, int)
_RECORD = {"values": dict, "reasons": dict, "seconds": _NUMBER, "rows": int}


def check_record(record: Mapping[str, Any]) -> None:
    """Refuse a record that :func:`measured` cannot have made, within :func:`demele.core.store.reading_record`.

    Raises
    ------
    TypeError, FormatError
        Saying what it holds.
    """
    held = {"rows": 1, **record}
    check_shape(held, _RECORD)
    values = [value for value in held["values"].values() if value is not None]
    check_shape(values, [_NUMBER])
    if not 0 < held["rows"] < 1 << 62 or not all(abs(one) < 1e300 for one in (*values, held["seconds"])):
        raise FormatError(f"it holds {quoted(held)}")


def _where(scenario: Scenario, severity: float, seed: int) -> str:
    return f"scenario {scenario.name!r}, severity {severity:g}, seed {seed}"


def try_functions(plan: Plan, sweep: Sweep) -> dict[str, str]:
    """Call each new function twice on one representation, to report errors and unseeded draws before a long run.

    Returns
    -------
    dict
        The different scores of each function that draws without a seed; stored and reported with its rows.
    """
    drifting: dict[str, str] = {}
    rows, tasks = sweep.records, plan.tasks() if any(item.function is not None for item in plan.candidates) else []
    for item in (one for one in plan.candidates if one.function is not None):
        own = [task for task in tasks if task.about.group.name == item.name]
        kept = [str(rows[task.key]["drifts"]) for task in own if task.key in rows and "drifts" in rows[task.key]]
        if kept:
            drifting[item.name] = kept[0]
            warn_user(f"{item.name} {kept[0]}", DemeleWarning)
        if not own or any(task.key in rows for task in own):
            continue
        # half way along a sweep: on a perfect representation, luck has nothing to choose from
        scenario = own[0].about.scenario
        middle = len(scenario.severities) // 2
        tried = plan.task(scenario, scenario.severities[middle], 0, item)
        where = f"on scenario {scenario.name!r} at {scenario.label(middle)}"
        with warnings.catch_warnings(action="ignore"):
            (record,), (again,) = measured((tried.about,)), measured((tried.about,))
        first, second = outcome(record, item.name), outcome(again, item.name)
        if first != second:
            drifting[item.name] = record["drifts"] = (
                f"gave {first} and then {second} {where}, on the same arrays: its draws have no seed, so its rows "
                "cannot be reproduced"
            )
            warn_user(f"{item.name} {drifting[item.name]}", DemeleWarning)
        elif isinstance(first, str):
            warn_user(f"metric {quoted(item.name)} has no value {where}: {first}; the run continues", DemeleWarning)
        rows.append([(tried.key, record)])
    return drifting


def _that_fit(scenarios: Sequence[Scenario], n_rows: int, protocol: str) -> tuple[Scenario, ...]:
    """Return the scenarios without sizes beyond the run's, and without sweeps around another protocol's settings."""
    fitting = []
    for item in scenarios:
        if item.kind == "settings" and protocol != DEFAULT_PROTOCOL:
            warn_user(
                f"scenario {item.name!r} sweeps around the settings of {DEFAULT_PROTOCOL!r} and is left out of a run "
                f"under {protocol!r}",
                DemeleWarning,
            )
        elif item.counts_rows and max(item.severities) > n_rows:
            kept = [rows <= n_rows for rows in item.severities]
            if not any(kept):
                least = min(item.severities)
                raise InputError("n_rows", f"scenario {item.name!r} has {least:g} rows at least, got {n_rows}")
            severities, labels = tuple(compress(item.severities, kept)), tuple(compress(item.labels, kept))
            fitting.append(replace(item, severities=severities, labels=labels))
        else:
            fitting.append(item)
    if not fitting:
        raise InputError("scenarios", f"none is left under the protocol {protocol!r}; name others")
    return tuple(fitting)


def _seeds_of(argument: str, given: Seeds, usual: Mapping[str, int], scenarios: Sequence[Scenario]) -> dict[str, int]:
    """Return the seeds of each scenario: its own, those of its kind, or the usual number."""
    if not isinstance(given, Mapping):
        return dict.fromkeys((item.name for item in scenarios), checked_count(given, argument, 1))
    known = {"source", "added", *(item.name for item in scenarios)}
    for key, number in given.items():
        if key not in known:
            raise InputError(argument, f"this run has no scenario {key!r}{suggestion(str(key), known)}")
        checked_count(number, f"{argument}[{key!r}]", 1)
    kinds = {item.name: "source" if item.kind == "source" else "added" for item in scenarios}
    return {name: int(given.get(name, given.get(kinds[name], number))) for name, number in usual.items()}
