"""Bare numbers of many metrics, without intervals, notes or pictures: for programs that score thousands of draws."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from demele.core.errors import DemeleError
from demele.core.inputs import read_pair
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.information import scores as information_scores
from demele.metrics.information.tables import information_of
from demele.metrics.outcomes import by_table
from demele.metrics.protocols import protocol as protocol_named
from demele.metrics.requests import Request, Subject, free_name, given_options, merged_options, request_for
from demele.metrics.tasks import Task, run_tasks

__all__ = ["Plain", "plain_scores", "plain_subject"]


@dataclass(frozen=True, slots=True)
class Plain:
    """Scores by metric, the reasons why others have none, and the seconds that it took."""

    values: dict[str, float]
    reasons: dict[str, str]
    seconds: float


def plain_subject(codes: object, factors: object, *, kinds: object = None, codes_std: object = None) -> Subject:
    """Read codes and factors once, for any number of :func:`plain_scores`; errors and warnings as in ``evaluate``."""
    read_codes, read_factors = read_pair(codes, factors, kinds=kinds)
    return Subject.of(read_codes, read_factors, codes_std)


def plain_scores(
    subject: Subject,
    metrics: Sequence[str] | Callable[..., float],
    *,
    protocol: str,
    seed: int,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    reg_dim: Sequence[int] | None = None,
) -> Plain:
    """Score what was read with registered metrics, or with one function.

    Every number is the value that :func:`demele.evaluate` gives with the same protocol, seed and options.

    Parameters
    ----------
    subject : Subject
        From :func:`plain_subject`.
    metrics : sequence of str, or callable
        Registered names, or one function ``(codes, factors) -> float``.
    protocol, seed, options
        As in :func:`demele.evaluate`.
    reg_dim : sequence of int, optional
        The code meant for each factor, for the metrics that need one (MIG does without).

    Returns
    -------
    Plain
        Under the registered names, or under the name of the function.
    """
    started = time.perf_counter()
    values: dict[str, float] = {}
    reasons: dict[str, str] = {}
    requests: list[Request] = []
    if callable(metrics):
        requests.append(Request(free_name(metrics, ()), metrics))
    else:
        settings, given = protocol_named(protocol).options, given_options(options)
        for name in metrics:
            spec = CATALOGUE[name]
            try:
                own = merged_options(spec, settings, given, None)
                requests.append(request_for(spec, own, subject, None if name == "mig" else reg_dim))
            except DemeleError as error:
                reasons[name] = str(error)
    for table_settings, group in by_table(requests).items():
        try:
            pairs = information_scores.read_factor_pairs(request.name for request in group)
            table = information_of(subject.data, replace(table_settings, seed=seed), factor_pairs=pairs)
        except DemeleError as error:
            reasons |= {request.name: str(error) for request in group}
            continue
        for request in group:
            try:
                native = information_scores.native_of(request.name, table, request.reg_dim)
            except DemeleError as error:
                reasons[request.name] = str(error)
            else:
                _sort(request.name, float(native.value), values, reasons)
    tasks: dict[tuple[str, str], list[Request]] = {}
    for request in (item for item in requests if item.settings is None):
        group_name = request.name if request.spec is None else request.spec.group
        tasks.setdefault((group_name, repr(request.options)), []).append(request)
    for (group_name, _), members in tasks.items():
        first = members[0]
        task = Task(
            group=group_name,
            options=first.options or {},
            function=first.callable,
            seed=seed,
            variant="repeat",
            index=0,
        )
        (result,) = run_tasks([task], subject.data, n_jobs=1, report=None)
        for request in members:
            if result.error is not None:
                reasons[request.name] = str(result.error)
            else:
                _sort(request.name, float(result.natives[request.name].value), values, reasons)
    return Plain(values, reasons, time.perf_counter() - started)


def _sort(name: str, value: float, values: dict[str, float], reasons: dict[str, str]) -> None:
    """Put a number among the values; what is no finite number is a reason, never a 0."""
    if value - value == 0.0:
        values[name] = value
    else:
        reasons[name] = f"{name} returned {value}"
