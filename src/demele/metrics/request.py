"""What a call asks of metrics: names, options from defaults, protocol and arguments, and the state that is read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from demele.core.columns import refuse_cyclic
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError, quoted
from demele.core.kinds import Kind, names_in, suggestion
from demele.core.result import Note
from demele.estimation.information import InformationTable
from demele.metrics.catalogue import CATALOGUE, names_of_all, resolve
from demele.metrics.data import TableSettings
from demele.metrics.metric import Metric, Native, as_metric
from demele.metrics.options import ReadOption
from demele.metrics.protocols import PROTOCOLS, Protocol
from demele.metrics.source import Source, Subject

#: A registered name, a metric, or a function ``(codes, factors) -> float``.
Choice = str | Metric | Callable[..., Any]
Metrics = Annotated[Sequence[Choice] | Choice | None, Kind("A,B", names_in)]
#: What is scored where no metric is named: one of each property (modularity, compactness, explicitness) ...
RECOMMENDED = ("mig_sup", "mig", "explicitness")
#: ... with so many resamples and permutations, unless others are asked for.
RECOMMENDED_DRAWS = {"n_bootstrap": 20, "n_permutations": 20}
#: Values of options under which metrics read factors as numbers with two ends.
LINES = {"estimator": ("knn", "robust"), "informativeness": ("uniform-6",), "effect": ("published",)}


@dataclass(frozen=True, slots=True)
class Request:
    """A metric, its name in this call and all its options, checked; for one source also what depends on its columns.

    Attributes
    ----------
    metric : Metric
    name : str
    options : mapping
        For one source, those about columns are read for the columns that vary.
    state : str
        What the formula reads of the source.
    settings : TableSettings or None
        Of the table that it reads.
    shown : mapping
        The options as the signature says them.
    notes : tuple of Note
    """

    metric: Metric
    name: str
    options: Mapping[str, Any]
    state: str = ""
    settings: TableSettings | None = None
    shown: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def read(self, table: InformationTable) -> Native:
        """Return the metric of an information table.

        Corrected informations may be slightly negative, which a ratio of two of them would magnify without limit:
        metrics take them as 0. The matrix of the result keeps them.
        """
        between = table.factor_information
        formula: Callable[..., Native] = self.metric.formula
        if (table.information >= 0).all() and (between is None or (between >= 0).all()):
            return formula(table, **self.options)
        usable = replace(
            table,
            information=np.maximum(table.information, 0.0),
            factor_information=None if between is None else np.maximum(between, 0.0),
        )
        return replace(formula(usable, **self.options), matrix=table.information)


# Names ----------------------------------------------------------------------------------------------------------------


def are_named(metrics: Sequence[Choice] | Choice | None) -> bool:
    """Return whether a call names its metrics, not all of them: one that does not apply is then an error."""
    if isinstance(metrics, list | tuple):
        return [*metrics] != ["all"]
    return not (metrics is None or (isinstance(metrics, str) and metrics == "all"))


def draws_of(metrics: object, **given: int | None) -> dict[str, int]:
    """Return the numbers of resamples and permutations: without a number the recommended metrics have some."""
    return {
        name: number if number is not None else RECOMMENDED_DRAWS[name] if metrics is None else 0
        for name, number in given.items()
    }


def chosen_metrics(metrics: Sequence[Choice] | Choice | None, *, reg_dim: object = None) -> dict[str, Metric]:
    """Return metrics, each once, by the names that they have in this call.

    None means the recommended ones, ``"all"`` those of :func:`demele.metrics.catalogue.names_of_all`; of these, metrics
    that need the intended order of the codes only where ``reg_dim`` tells it.
    """
    if metrics is None:
        return {name: CATALOGUE[name] for name in RECOMMENDED}
    if not are_named(metrics):
        every = {name: CATALOGUE[name] for name in names_of_all()}
        return {name: metric for name, metric in every.items() if reg_dim is not None or not metric.needs_order}
    if isinstance(metrics, str | Metric) or callable(metrics):
        metrics = [metrics]
    if not isinstance(metrics, Sequence):
        raise InputTypeError("metrics", f"expected names or callables, got {type(metrics).__name__}")
    if not metrics:
        raise InputError("metrics", "expected at least one name or callable, got none")
    chosen: dict[str, Metric] = {}
    for item in metrics:
        if isinstance(item, str) or not callable(item):
            metric: Metric = CATALOGUE[resolve(item)]  # says what was expected
        else:
            metric = CATALOGUE.of(item) or as_metric(item)
        known = CATALOGUE.get(metric.name)
        metric = known if known is not None and known.call is metric.call else metric
        if not any(metric is one or (metric.is_plain and metric.call is one.call) for one in chosen.values()):
            chosen[metric.name if known is metric else free_name(metric.name, [*CATALOGUE, *chosen])] = metric
    return chosen


def unnamed_metrics(protocol: str) -> tuple[Note, ...]:
    """Say, where no metric was named, that a protocol is about metrics that are scored by name only."""
    settings = list(PROTOCOLS[protocol].options)
    if not settings or not all(name in CATALOGUE and not CATALOGUE[name].in_all for name in settings):
        return ()
    message = (
        f"the protocol {protocol} is about {', '.join(settings)} only, which must be named: "
        f"pass `metrics={settings}`; what is scored here has its default settings"
    )
    return (Note(code="unnamed-metrics", message=message, severity="warning"),)


def free_name(metric: object, taken: Sequence[str]) -> str:
    """Return the name of a callable, or a name, numbered where another metric has it."""
    name = metric if isinstance(metric, str) else str(getattr(metric, "__name__", type(metric).__name__))
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


# Options --------------------------------------------------------------------------------------------------------------


def checked(metric: Metric, given: Mapping[str, Any], name: str = "") -> dict[str, Any]:
    """Fill in the defaults of a metric's options, and check those that were given otherwise.

    ``name`` is what an error calls the metric, such as the name of its group.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
    """
    options = metric.option_table
    for key in given:
        if key not in options:
            raise UnknownNameError("options", f"{name or metric.name} has no option {key!r}{suggestion(key, options)}")
    return {
        key: option.default if given.get(key, option.written) is option.written else option.check(given[key], key)
        for key, option in options.items()
    }


def given_options(options: object, chosen: Mapping[str, Metric] | None = None) -> dict[str, Mapping[str, Any]]:
    """Return options by group or name; each is known to a metric."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise InputTypeError("options", f"expected a mapping of metric to options, got {type(options).__name__}")
    given: dict[str, Mapping[str, Any]] = {}
    for key, own in options.items():
        if not isinstance(own, Mapping):
            raise InputTypeError("options", f"expected a mapping of options for {key!r}, got {quoted(own)}")
        one = (chosen or {}).get(key)
        members = [one] if one is not None else [metric for metric in CATALOGUE.values() if metric.group == key]
        name = key if members else resolve(key, argument="options")
        members = members or [CATALOGUE[name]]
        known = {option for metric in members for option in metric.options}
        if all(set(metric.options) == known for metric in members):
            checked(members[0], own, name)
        elif unknown := [option for option in own if option not in known]:
            problem = f"no {members[0].family}-based metric has an option {unknown[0]!r}"
            raise InputError("options", f"{problem}; known are {', '.join(sorted(known))}")
        given[name] = own
    return given


def merged_options(
    metric: Metric,
    protocol: Mapping[str, Mapping[str, Any]],
    given: Mapping[str, Mapping[str, Any]],
    name: str = "",
    **shared: object,
) -> dict[str, Any]:
    """Return the options of one metric: defaults, the protocol, what was given; the more special one wins.

    ``shared`` are arguments of a call that are options of every metric that has them, such as ``bins``; None is none.
    """
    of_call = {key: value for key, value in shared.items() if value is not None}
    of_metric, own = protocol.get(metric.name, {}), given.get(name or metric.name, {})
    # options of a group and of the call reach the metrics that have them
    layers = {**protocol.get(metric.group, {}), **of_metric, **of_call, **given.get(metric.group, {})}
    kept = {key: value for key, value in layers.items() if key in metric.option_table or key in of_metric}
    return checked(metric, {**kept, **own})


def requests_of(
    chosen: Mapping[str, Metric],
    protocol: Protocol,
    given: Mapping[str, Mapping[str, Any]],
    **shared: object,
) -> list[Request]:
    """Return the metrics of a call with all their options."""
    return [
        Request(metric, name, merged_options(metric, protocol.options, given, name, **shared))
        for name, metric in chosen.items()
    ]


# One source -----------------------------------------------------------------------------------------------------------


def resolved(request: Request, source: Source, seed: int = 0) -> Request:
    """Check that a metric applies to a source's representation, and find what depends on its columns.

    Raises
    ------
    NotEnoughData
        If it does not apply.
    """
    metric, options = request.metric, dict(request.options)
    state = source.state_for(metric, options)
    if state is None:
        raise source.no_state_for(metric, options)
    if options.get("gate") and options.get("correction") == "none":
        options["correction"] = "adjusted"  # a ratio of informations that are not is far from that of many rows
    settings = None
    if state == "table":
        of_table = {name: options[name] for name in ("estimator", "correction", "n_neighbors") if name in options}
        one_by_one = metric.one_by_one and options.get("estimator") == "knn"
        settings = TableSettings(options["bins"], **of_table, seed=seed, soft=metric.soft, one_by_one=one_by_one)
    has_std = metric.soft and source.rows().codes_std is not None
    read = applies(request, source.subject(state, options), has_std=has_std)
    return replace(
        request,
        options=options | {name: one.value for name, one in read.items()},
        state=state,
        settings=settings,
        shown=options | {name: one.shown for name, one in read.items()},
        notes=tuple(note for one in read.values() for note in one.notes),
    )


def applies(request: Request, subject: Subject, *, has_std: bool = False) -> dict[str, ReadOption]:
    """Return the options about columns of a metric that applies to a representation, read for it.

    Raises
    ------
    NotEnoughData
        If it does not apply.
    """
    metric, d, m = request.metric, subject.codes.d, len(subject.active)
    if d < metric.needs_codes:
        raise NotEnoughData("codes", f"{metric.name} needs at least {metric.needs_codes} codes, got {d}")
    if m < metric.needs_factors:
        needed = f"{metric.name} needs at least {metric.needs_factors} factors that vary"
        raise NotEnoughData("factors", f"{needed}, got {m}")
    if metric.soft and not has_std:
        raise NotEnoughData("std", f"{metric.name} needs the standard deviations of the codes; pass `Codes(std=)`")
    lines = {name: request.options[name] for name in LINES if request.options.get(name) in LINES[name]}
    if lines or not (metric.on_circles or metric.discretises or metric.is_plain):
        under = "".join(f" under `{name}={value!r}`" for name, value in lines.items())
        refuse_cyclic(subject.varying.columns, metric.name + under)
    found = {}
    for name, option in metric.option_table.items():
        given = request.options[name]
        value = option.default if given is None else given
        if option.read is not None and value is not None:
            found[name] = option.read(value, subject)
    return found
