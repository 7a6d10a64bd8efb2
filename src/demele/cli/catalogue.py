"""``demele metrics``: what there is."""

import argparse
import math
from typing import TYPE_CHECKING, Any

from demele.cli.options import command, option
from demele.cli.output import as_text, emit, format_of

if TYPE_CHECKING:
    from demele.metrics.metric import Metric as MetricSpec


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele metrics`` to the commands."""
    parser = command(
        commands,
        "metrics",
        _run,
        help="list the metrics: what each measures, its range and its source",
        description="List the metrics: what each measures, the unit of its own values, its range and its source.",
    )
    option(parser, "--format")


def specs() -> dict[str, dict[str, Any]]:
    """Return what each metric declares, as plain dictionaries."""
    import demele

    return {name: demele.describe(name).facts() for name in demele.metric_names()}


def _run(arguments: argparse.Namespace) -> None:
    import pandas as pd

    import demele
    from demele.report.terminal.scores import metrics_table

    listed = [demele.describe(name) for name in demele.metric_names()]
    text = as_text(
        format_of(arguments.format, None),
        table=lambda: metrics_table(listed),
        data=lambda: [_plain(spec) for spec in listed],
        frame=lambda: pd.DataFrame([_flat(spec) for spec in listed]),
    )
    emit(text, None)


def _plain(spec: "MetricSpec") -> dict[str, Any]:
    """Everything; an end without a bound is None."""
    return {**spec.facts(), "range": [end if math.isfinite(end) else None for end in spec.range]}


def _flat(spec: "MetricSpec") -> dict[str, Any]:
    low, high = _plain(spec)["range"]
    return {
        "name": spec.name,
        "title": spec.title,
        "family": spec.family,
        "properties": " ".join(spec.properties),
        "native": spec.native,
        "low": low,
        "high": high,
        "best": spec.best,
        "source": spec.source,
        "definition": spec.definition,
    }
