"""``demele metrics``: what there is."""

import argparse
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from demele.cli.options import command, option
from demele.cli.output import as_text, emit, format_of
from demele.report.terminal.sheet import Sheet, Styled

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


def _run(arguments: argparse.Namespace) -> None:
    import pandas as pd

    import demele

    listed = [demele.describe(name) for name in demele.metric_names()]
    text = as_text(
        format_of(arguments.format, None),
        table=lambda: _table(listed),
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


def _table(specs: Sequence["MetricSpec"]) -> str:
    """Write the catalogue, grouped by family."""
    sheet = Sheet()
    rows: list[Any] = []
    for family in dict.fromkeys(spec.family for spec in specs):
        rows.append(family)
        for spec in (spec for spec in specs if spec.family == family):
            low, high = (f"{end:g}" if math.isfinite(end) else "any" for end in spec.range)
            span = "any" if low == high else f"{low} to {high}"
            measures = "holistic" if len(spec.properties) > 1 else next(iter(spec.properties), "-")
            where, _, _ = spec.source.replace(";", ",").replace(" (", ",").partition(",")
            rows.append([Styled(spec.name, "bold"), measures, spec.native.removeprefix("per "), span, where])
    sheet.table(["metric", "measures", "per", "range", "source"], rows, gap=1)
    sheet.blank()
    for told in (
        "per: the unit of a metric's own values, of which the score is the mean or a weighted mean.",
        "holistic: more than one of modularity, compactness, explicitness.",
        "--format json has definitions and whole references.",
    ):
        sheet.line(told, "dim")
    return sheet.text()
