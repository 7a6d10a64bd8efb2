"""``demele metrics``: what there is."""

import argparse
import json
import math
from typing import TYPE_CHECKING, Any

from demele.cli.output import FORMATS, emit, format_of
from demele.files.sheets import csv_text

if TYPE_CHECKING:
    from demele.metrics.metric import Metric as MetricSpec

__all__ = ["add_command", "specs"]


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele metrics`` to the commands."""
    parser = commands.add_parser(
        "metrics",
        help="list the metrics: what each measures, its range and its source",
        description="List the metrics: what each measures, the unit of its own values, its range and its source.",
        allow_abbrev=False,
    )
    parser.add_argument("--format", choices=FORMATS, help="how to print (default: table on a terminal, json otherwise)")
    parser.set_defaults(run=_run)


def specs() -> dict[str, dict[str, Any]]:
    """Return what each metric declares, as plain dictionaries."""
    import demele

    return {name: demele.describe(name).facts() for name in demele.metric_names()}


def _run(arguments: argparse.Namespace) -> None:
    import demele

    listed = [demele.describe(name) for name in demele.metric_names()]
    kind = format_of(arguments.format, None)
    if kind == "table":
        from demele.report.terminal.scores import metrics_table

        emit(metrics_table(listed), None)
    elif kind == "json":
        emit(json.dumps([_plain(spec) for spec in listed], indent=1), None)
    else:
        import pandas as pd

        frame = pd.DataFrame([_flat(spec) for spec in listed])
        emit(csv_text(frame), None)


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
