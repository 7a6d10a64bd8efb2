"""What a call asks for by name: metrics, and their options from defaults, protocol and arguments."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.kinds import Kind, names_in
from demele.core.results import Note
from demele.core.sentences import give
from demele.metrics.catalogue import CATALOGUE, names_of_all, resolve
from demele.metrics.metric import Metric, as_metric
from demele.metrics.protocols import PROTOCOLS, Protocol
from demele.metrics.request import Asked, checked

#: A registered name, a metric, or a function ``(codes, factors) -> float``.
Choice = str | Metric | Callable[..., Any]
Metrics = Annotated[Sequence[Choice] | Choice | None, Kind("A,B", names_in)]
#: What is scored where no metric is named: one of each property (modularity, compactness, explicitness) ...
RECOMMENDED = ("mig_sup", "mig", "explicitness")
#: ... with so many resamples and permutations, unless others are asked for.
RECOMMENDED_DRAWS = {"n_bootstrap": 40, "n_permutations": 20}


def are_named(metrics: Sequence[Choice] | Choice | None) -> bool:
    """Return whether a call names its metrics: one that does not apply is then an error."""
    return metrics is not None and not _is_all(metrics)


def _is_all(metrics: object) -> bool:
    return metrics == "all" if isinstance(metrics, str) else isinstance(metrics, list | tuple) and [*metrics] == ["all"]


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
    if _is_all(metrics):
        every = {name: CATALOGUE[name] for name in names_of_all()}
        return {name: metric for name, metric in every.items() if reg_dim is not None or "reg_dim" not in metric.side}
    if isinstance(metrics, str | Metric) or callable(metrics):
        metrics = [metrics]
    if not isinstance(metrics, Sequence):
        raise InputTypeError("metrics", f"expected names or callables, got {type(metrics).__name__}")
    if not metrics:
        raise InputError("metrics", "expected at least one name or callable, got none")
    chosen: dict[str, Metric] = {}
    functions: list[object] = []
    for item in metrics:
        if isinstance(item, str):
            metric: Metric = CATALOGUE[resolve(item)]
        elif isinstance(item, Metric):
            known = CATALOGUE.get(item.name, item)
            metric = known if known.call is item.call else item
        elif callable(item):
            metric = _known(item) or as_metric(item)
        else:
            resolve(item)  # says what was expected
        if any(
            metric is one or (metric.is_plain and metric.call is function)
            for one, function in zip(chosen.values(), functions, strict=True)
        ):
            continue
        registered = metric.name in CATALOGUE and CATALOGUE[metric.name] is metric
        name = metric.name if registered else free_name(metric.name, [*CATALOGUE, *chosen])
        chosen[name] = metric
        functions.append(metric.call)
    return chosen


def unnamed_metrics(protocol: str) -> tuple[Note, ...]:
    """Say, where no metric was named, that a protocol is about metrics that are scored by name only."""
    settings = list(PROTOCOLS[protocol].options)
    if not settings or not all(name in CATALOGUE and not CATALOGUE[name].in_all for name in settings):
        return ()
    message = (
        f"the protocol {protocol} is about {', '.join(settings)} only, which must be named: "
        f"{give(f'metrics={settings}', metrics=','.join(settings))}; what is scored here has its default settings"
    )
    return (Note(code="unnamed-metrics", message=message, severity="warning"),)


def _known(function: Callable[..., Any]) -> Metric | None:
    """Return the registered metric of a function, so that it is run with everything that a name brings."""
    return next((metric for metric in CATALOGUE.known() if metric.call is function), None)


def free_name(metric: object, taken: Sequence[str]) -> str:
    """Return the name of a callable, or a name, numbered where another metric has it."""
    name = metric if isinstance(metric, str) else str(getattr(metric, "__name__", type(metric).__name__))
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def given_options(options: object, chosen: Mapping[str, Metric] | None = None) -> dict[str, Mapping[str, Any]]:
    """Return options by group or name, each of which is known to a metric."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise InputTypeError("options", f"expected a mapping of metric to options, got {type(options).__name__}")
    given: dict[str, Mapping[str, Any]] = {}
    for key, own in options.items():
        if not isinstance(own, Mapping):
            raise InputTypeError("options", f"expected a mapping of options for {key!r}, got {quoted(own)}")
        members = [metric for metric in CATALOGUE.values() if metric.group == key]
        if key in (chosen or {}):
            members = [(chosen or {})[key]]
        name = key if members else resolve(key, argument="options")
        members = members or [CATALOGUE[name]]
        known = {option for metric in members for option in metric.options}
        if any(set(metric.options) != known for metric in members):
            for option in own:
                if option not in known:
                    listed = ", ".join(sorted(known))
                    raise InputError(
                        "options", f"no {members[0].family}-based metric has an option {option!r}; known are {listed}"
                    )
        else:
            checked(members[0], own, name)
        given[name] = own
    return given


def merged_options(
    metric: Metric,
    protocol: Mapping[str, Mapping[str, Any]],
    given: Mapping[str, Mapping[str, Any]],
    bins: object,
    name: str = "",
) -> dict[str, Any]:
    """Options of one metric: defaults of its function, the protocol, what was given; the more special one wins."""
    table = metric.option_table

    def of_group(options: Mapping[str, Any]) -> dict[str, Any]:  # a group's options reach the metrics that have them
        return {key: value for key, value in options.items() if key in table}

    own = of_group(protocol.get(metric.group, {}))
    own |= protocol.get(metric.name, {})
    if bins is not None and metric.discretises:
        own["bins"] = bins
    own |= of_group(given.get(metric.group, {}))
    own |= given.get(name or metric.name, {})
    return checked(metric, own)


def asked_of(
    chosen: Mapping[str, Metric],
    protocol: Protocol,
    given: Mapping[str, Mapping[str, Any]],
    bins: object = None,
    side: Mapping[str, Any] | None = None,
) -> list[Asked]:
    """Return the metrics of a call with all their options, and with side inputs for those that read them."""
    return [
        Asked(metric, name, merged_options(metric, protocol.options, given, bins, name), side or {})
        for name, metric in chosen.items()
    ]
