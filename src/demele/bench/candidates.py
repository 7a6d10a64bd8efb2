"""The metrics of a run: registered names and any function, as candidates."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast, get_args

from demele.bench.scenario import Candidate, Property, group_of, is_model
from demele.core.checked_numbers import checked_flag
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.given_arrays import items_of
from demele.core.names import checked_name
from demele.metrics.catalogue import CATALOGUE, names_of_all, resolve
from demele.metrics.metric import Metric, takes_rng
from demele.metrics.request import free_name


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
        return _registered(resolve(metric))
    if isinstance(metric, Metric):
        return _registered(metric.name) if CATALOGUE.find(metric.name) is metric else of_metric(metric, taken)
    if not callable(metric):
        raise InputTypeError("metrics", f"expected a name or a callable (codes, factors), got {quoted(metric)}")
    for item in taken.values():
        if item.function is metric:
            return item
    name = getattr(metric, "__name__", "")
    if name in CATALOGUE and CATALOGUE[name].call is metric:
        return _registered(name)
    return candidate(metric, name=free_name(metric, [*_taken(), *taken]))


def _registered(name: str) -> Candidate:
    spec = CATALOGUE[name]
    if not spec.is_ours:
        return of_metric(spec, ())
    return Candidate(
        name=name,
        title=spec.title,
        group=group_of(spec),
        claims=cast("Any", spec.properties),
        discretises=spec.discretises,
    )


def of_metric(metric: Metric, taken: Iterable[str]) -> Candidate:
    """Return a metric that is not one of demele's: it travels whole, since other processes need not know its name."""
    own = metric.name if CATALOGUE.find(metric.name) is metric else free_name(metric.name, [*_taken(), *taken])
    return Candidate(
        name=own,
        title=metric.title,
        group=own,
        function=metric,
        claims=_checked_claims(cast("Any", metric.properties) or None),
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
