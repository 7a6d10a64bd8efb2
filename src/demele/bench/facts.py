"""What the bench reads off metrics: which of them it waits for, and which of their options it varies."""

from collections.abc import Mapping
from typing import Any

from demele.metrics.catalogue import CATALOGUE


def slowness(group: str) -> int:
    """Return 0, 1 for predictors on all rows, 2 for a model of each factor: what :class:`demele.Metric` calls slow."""
    return max((metric.slow for metric in CATALOGUE.values() if metric.group == group), default=0)


def own_settings() -> Mapping[str, tuple[str, tuple[Any, ...]]]:
    """Return by group the swept option other than bins, and its values: the default first."""
    return {metric.group: metric.probe for metric in CATALOGUE.values() if metric.probe is not None}


def varies_bins(group: str) -> bool:
    """Whether bins are the option of its own: so few that they decide which rows agree on factors."""
    return own_settings().get(group, ("", ()))[0] == "bins"


def with_std(group: str) -> bool:
    """Whether it needs the standard deviations of stochastic codes."""
    return any(metric.needs_codes_std and metric.name == group for metric in CATALOGUE.values())


def corrected_by(metric: str) -> tuple[str, ...]:
    """Return the methods, other than an audit, that correct a registered metric for noisy factors."""
    known = CATALOGUE.find(metric)
    return () if known is None else tuple(known.corrected_by)


def is_model(group: str) -> bool:
    """Whether its scores are read off one fit: they share a row."""
    return any(metric.fit is not None for metric in CATALOGUE.values() if metric.group == group)
