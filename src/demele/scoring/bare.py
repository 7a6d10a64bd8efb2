"""Bare numbers of many metrics, without intervals, notes or pictures: for programs that score thousands of draws."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demele.core.inputs import read_pair
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.chosen import free_name, given_options, merged_options
from demele.metrics.metric import Metric, as_metric
from demele.metrics.protocols import protocol as protocol_named
from demele.metrics.request import Asked
from demele.metrics.run import bare_values
from demele.metrics.source import InMemory, Subject


@dataclass(frozen=True, slots=True)
class Bare:
    """Scores by metric, the reasons why others have none, and the seconds that it took."""

    values: dict[str, float]
    reasons: dict[str, str]
    seconds: float


def bare_source(codes: object, factors: object, *, kinds: object = None, codes_std: object = None) -> InMemory:
    """Read codes and factors once, for any number of :func:`bare_scores`; errors and warnings as in ``evaluate``."""
    return InMemory(Subject.of(*read_pair(codes, factors, kinds=kinds)), codes_std)


def bare_scores(
    source: InMemory,
    metrics: Sequence[str] | Metric | Callable[..., float],
    *,
    protocol: str,
    seed: int,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    reg_dim: Sequence[int] | None = None,
) -> Bare:
    """Score what was read with registered metrics, or with one function.

    Every number is the value that :func:`demele.evaluate` gives with the same protocol, seed and options.

    Parameters
    ----------
    source : InMemory
        From :func:`bare_source`.
    metrics : sequence of str, Metric or callable
        Registered names, or one metric or function ``(codes, factors) -> float``.
    protocol, seed, options
        As in :func:`demele.evaluate`.
    reg_dim : sequence of int, optional
        The code meant for each factor, for the metrics that need one (MIG does without).

    Returns
    -------
    Bare
        Under the registered names, or under the name of the function.
    """
    started = time.perf_counter()
    if isinstance(metrics, Metric) or callable(metrics):
        metric = as_metric(metrics)
        chosen = {free_name(metric.name, ()): metric}
    else:
        chosen = {name: CATALOGUE[name] for name in metrics}
    settings, given = protocol_named(protocol).options, given_options(options, chosen)
    asked = [
        Asked(
            metric,
            name,
            merged_options(metric, settings, given, None, name),
            {"reg_dim": reg_dim} if "reg_dim" in metric.side else {},
        )
        for name, metric in chosen.items()
    ]
    values, reasons = bare_values(asked, source, seed)
    return Bare(values, reasons, time.perf_counter() - started)
