"""Pages of the site that are read off the library: metrics and protocols, the command line."""

import math
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from demele.cli.main import COMMANDS
from demele.core.bibliography import Entry, referenced
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.metric import Metric
from demele.metrics.options import as_binning
from demele.metrics.protocols import DEFAULT_PROTOCOL, PROTOCOLS
from tools import docs_tables
from tools.docs_tables import said

FAMILIES = {
    "information": "Information: how much a code tells about a factor, in nats",
    "predictor": "Predictors: how well, and from which codes, a factor can be predicted",
    "intervention": "Interventions: what changes in the codes when a factor is held fixed",
}


# Metrics ------------------------------------------------------------------------------------------------------------


def metrics_page() -> str:
    """Return the page of all metrics and protocols."""
    parts = [
        said("metrics", "head"),
        overview(),
    ]
    for family, title in FAMILIES.items():
        parts.append(f"## {title}\n")
        parts += [entry(spec) for spec in CATALOGUE.values() if spec.family == family]
    parts.append(protocols())
    return "\n".join(parts)


def overview() -> str:
    """Return the table of all metrics."""
    rows = [
        (
            f"[`{spec.name}`](#{spec.name})",
            ", ".join(spec.properties),
            spec.native,
            interval(spec),
            "yes" if spec.stochastic else "no",
            "yes" if spec.discretises else "no",
        )
        for spec in CATALOGUE.values()
    ]
    return table(("metric", "claims to measure", "native values", "range", "seed matters", "cuts into bins"), rows)


def entry(spec: Metric) -> str:
    """Return the section of one metric."""
    function = "dci" if spec.group.startswith("dci_") else spec.name
    facts = [
        ("claims to measure", ", ".join(spec.properties) + (" (holistic)" if len(spec.properties) > 1 else "")),
        ("range", f"{interval(spec)}, best {number(spec.best)}"),
        ("native values", spec.native if spec.native != "whole" else "none: one number for the whole"),
        ("needs", needs(spec)),
        ("seed", "changes the number: use `repeats`" if spec.stochastic else "does not change the number"),
        ("source", spec.source),
        *(("reference", reference(entry)) for entry in referenced(spec.references)),
        ("in Python", f"[`demele.{function}`][demele.{function}]"),
    ]
    if spec.aliases:
        facts.append(("also accepted as", ", ".join(f"`{alias}`" for alias in spec.aliases)))
    listed = "\n".join(f"- {name}: {value}" for name, value in facts)
    title = f"### {spec.title} {{#{spec.name}}}"
    return f"{title}\n\n`{spec.name}`: {escaped(spec.definition)}.\n\n{listed}\n\n{options(spec)}\n"


def reference(entry: Entry) -> str:
    """Return a work of the bibliography as a line, with its key, and a link where there is one."""
    text = escaped(entry.text.removesuffix(f" {entry.link}"))
    found = f" [{entry.link.removeprefix('https://')}]({entry.link})" if entry.link else ""
    return f"{text}{found} (`{entry.key}`)"


def options(spec: Metric) -> str:
    """Return the table of a metric's options and defaults, as its function's signature has them."""
    rows = [(f"`{name}`", f"`{option.default!r}`") for name, option in spec.option_table.items()]
    return table(("option", "default"), rows) if rows else "No options of its own.\n"


def needs(spec: Metric) -> str:
    """Return what a metric cannot do without."""
    varying = "factors that vary" if spec.needs_factors > 1 else "factor that varies"
    parts = [f"{spec.needs_codes} code" + "s" * (spec.needs_codes > 1), f"{spec.needs_factors} {varying}"]
    if spec.needs_codes_std:
        parts.append("the standard deviations of the codes")
    return ", ".join(parts)


def interval(spec: Metric) -> str:
    """Return the range of a metric."""
    low, high = (number(bound) for bound in spec.range)
    return f"{low} to {high}" if spec.range != (-math.inf, math.inf) else "any number"


def number(value: float) -> str:
    """Return a number without needless zeros."""
    return f"{value:g}"


# Protocols ----------------------------------------------------------------------------------------------------------


def protocols() -> str:
    """Return the sections of all protocols."""
    parts = [
        said("metrics", "protocols"),
    ]
    for item in PROTOCOLS.values():
        default = " (default)" if item.name == DEFAULT_PROTOCOL else ""
        parts.append(
            f"### {item.name}{default} {{#protocol-{item.name}}}\n\n{item.summary[0].upper()}{item.summary[1:]}.\n"
        )
        parts.append(f"Source: {item.source}.\n")
        parts.append("".join(f"- {reference(entry)}\n" for entry in referenced(item.references)))
        parts.append(settings(item.options) if item.options else "All settings are the defaults.\n")
    return "\n".join(parts)


def shown(name: str, value: object) -> str:
    """Return an option's value as signatures print it."""
    return repr(as_binning(value)) if name == "bins" else repr(value)


def settings(groups: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of a protocol's settings."""
    rows = [
        (f"`{group}`" + (" metrics" if group == "information" else ""), f"`{name}`", f"`{shown(name, value)}`")
        for group, own in groups.items()
        for name, value in own.items()
    ]
    return table(("of", "option", "value"), rows)


# Command line -------------------------------------------------------------------------------------------------------


def command_line_page() -> str:
    """Return the page of the command line, from its own help texts."""
    parts = [
        said("metrics", "command-line"),
        _help_block(),
    ]
    parts += [f"## demele {command}\n\n{_help_block(*command.split())}" for command in COMMANDS]
    return "\n".join(parts)


def _help_block(*command: str) -> str:
    return f"```text\n$ {' '.join(('demele', *command))} --help\n{help_of(*command)}\n```\n"


@cache
def help_of(*command: str) -> str:
    """Return what ``demele COMMAND --help`` prints on 100 columns."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    run = subprocess.run(
        [sys.executable, "-c", "import sys; from demele.cli.main import main; sys.exit(main())", *command, "--help"],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return "\n".join(line.rstrip() for line in run.stdout.rstrip().splitlines())


# Tables -------------------------------------------------------------------------------------------------------------


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table of cells that hold code."""
    return docs_tables.table(header, ([escaped(cell) for cell in row] for row in rows), plain=False)


def escaped(text: str) -> str:
    """Return text in which Markdown reads no bars and no stars; code keeps its underlines."""
    return text.replace("|", "\\|").replace("*", "\\*")
