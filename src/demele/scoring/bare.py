"""Bare numbers of many metrics, without intervals, notes or pictures: for programs that score thousands of draws."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from demele.core.errors import InputError
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.metric import Metric, as_metric
from demele.metrics.options import Run
from demele.metrics.protocols import protocol as protocol_named
from demele.metrics.request import Request, free_name, given_options, merged_options
from demele.metrics.run import bare_values, computed, numbers_or_reasons
from demele.metrics.source import InMemory
from demele.scoring.alignment import with_alignment
from demele.scoring.noisy_factors import checked_noise, corrected

#: Which number of a score: its value, that with right annotations, or that of turned codes.
Which = Literal["value", "corrected", "aligned"]
#: The method of correction: the one that needs no true values.
_METHOD = "transition"


@dataclass(frozen=True, slots=True)
class Bare:
    """Scores by metric, the reasons why others have none, and the seconds that it took."""

    values: dict[str, float]
    reasons: dict[str, str]
    seconds: float


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
) -> Bare:
    """Score what was read with registered metrics, or with one function.

    Every number is the value that :func:`demele.evaluate` gives with the same protocol, seed and options.

    Parameters
    ----------
    source : InMemory
        From :func:`demele.metrics.run.rows_in_memory`.
    metrics : sequence of str, Metric or callable
        Registered names, or one metric or function ``(codes, factors) -> float``.
    protocol, seed, options
        As in :func:`demele.evaluate`.
    reg_dim : sequence of int, optional
        The code meant for each factor, for the metrics that need one (MIG does without).
    which : {"value", "corrected", "aligned"}
        The value of a score; ``score.corrected.value`` by method "transition" and ``factor_noise``; or
        ``score.alignment.aligned``.
    factor_noise : mapping, optional
        As ``noise`` of :class:`demele.Factors`.

    Returns
    -------
    Bare
        Under the registered names, or under the name of the function.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        If what is known of noisy factors does not fit them.
    """
    started = time.perf_counter()
    if isinstance(metrics, Metric) or callable(metrics):
        metric = as_metric(metrics)
        chosen = {free_name(metric.name, ()): metric}
    else:
        chosen = {name: CATALOGUE[name] for name in metrics}
    settings, given = protocol_named(protocol).options, given_options(options, chosen)
    asked = [
        Request(
            metric,
            name,
            merged_options(metric, settings, given, name, reg_dim=reg_dim if metric.needs_order else None),
        )
        for name, metric in chosen.items()
    ]
    if which == "value":
        values, reasons = bare_values(asked, source, seed)
    else:
        values, reasons = _of_scores(asked, source, Run(seed=seed), protocol, which, factor_noise)
    return Bare(values, reasons, time.perf_counter() - started)


def _of_scores(
    asked: Sequence[Request],
    source: InMemory,
    run: Run,
    protocol: str,
    which: Which,
    factor_noise: Mapping[str, Any] | None,
) -> tuple[dict[str, float], dict[str, str]]:
    """Return the corrected or aligned numbers by metric, and the reasons of those that have none."""
    found = computed(asked, source, run, guards=False)
    scores = found.scores(protocol, warn=False)
    given = source.subject("rows").evaluation(scores, protocol, left_out=found.left_out)
    if which == "aligned":
        scored = with_alignment(given, source, asked, run)
        values = {one.metric: one.alignment.aligned for one in scored.scores if one.alignment is not None}
    elif factor_noise is None:
        raise InputError("factor_noise", "expected the noise of at least one factor, got none")
    else:
        scored = corrected(given, asked, source, run, checked_noise(factor_noise, _METHOD, source), _METHOD)
        values = {one.metric: one.corrected.value for one in scored.scores if one.corrected is not None}
    reasons = {item.metric: item.reason for item in found.left_out}
    reasons |= {
        one.metric: next(str(note.message) for note in one.notes if note.code == f"not-{which}")
        for one in scored.scores
        if one.metric not in values
    }
    return numbers_or_reasons(values, reasons)
