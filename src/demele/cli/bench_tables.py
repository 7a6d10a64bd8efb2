"""Verdicts of the bench for eyes: a table of signs, what decided each, and what failed.

Characterisations are the plain dictionaries of :meth:`demele.bench.Characterisation.to_dict`.
"""

import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.cli.tables import _clipped, _console, _group, _table, _trimmed

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["verdict_tables"]

Content = Mapping[str, Any]

_STYLES = {"holds": "green", "fails": "red", "undecided": "yellow", "not applicable": "dim"}
_SIGNS = dict(zip(_STYLES, "✓✗?–", strict=True))
_PLAIN_SIGNS = dict(zip(_STYLES, "+x?-", strict=True))
#: The titles of the review's criteria in narrow columns; others are cut at their words.
_HEADS = {
    "coherent_modularity": "coherent modul- arity",
    "coherent_compactness": "coherent compact- ness",
    "coherent_explicitness": "coherent explicit- ness",
    "calibrated": "cali- brated",
    "non_linear": "non- linear",
    "several_codes": "several codes",
    "robust_to_noise": "robust to noise",
    "unmeasured_factors": "unmeas. factors",
    "stable_settings": "stable settings",
    "no_discretisation": "no bins",
}
_HEAD_WIDTH = 10
_NAME_WIDTH = 24
#: Where the text is not for a terminal, whose width is known.
_WIDTH = 100


def verdict_tables(content: Content, *, output: Path | None = None) -> str:
    """Write the verdicts of a characterisation.

    Parameters
    ----------
    content : mapping
        What ``Characterisation.to_dict()`` returns, perhaps joined with another.
    output : Path, optional
        File that the text is for; a terminal's colours are then left out.
    """
    console, text = _console(output)
    if not console.is_terminal:
        console.width = _WIDTH
    signs = _signs(output)
    console.print(f"{_heading(content)}, level {content['level']:g}", markup=False)
    for group, title in (("review", "Criteria of the review"), ("added", "Beyond the review")):
        criteria = [item for item in content["criteria"] if item["group"] == group]
        if criteria:
            console.print()
            console.print(title, style="bold")
            _tables(console, content, criteria, signs)
    console.print()
    console.print("   ".join(f"{sign} {status}" for status, sign in signs.items()), style="dim", markup=False)
    if content.get("beside"):
        stored = f"stored: the published metrics as they come with demele; {_heading(content['beside'])}"
        console.print(stored, style="dim", markup=False)
    for row in _explained(content):
        _reasons(console, content, row, signs)
    _failures(console, content)
    return _trimmed(text)


def _signs(output: Path | None) -> Mapping[str, str]:
    encoding = "utf-8" if output is not None else getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        "".join(_SIGNS.values()).encode(encoding)
    except UnicodeEncodeError:
        return _PLAIN_SIGNS
    return _SIGNS


def _heading(content: Content) -> str:
    numbers = sorted(set(content["seeds"].values()))
    seeds = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    words = f"{seeds} {'seed' if numbers[-1] == 1 else 'seeds'}"
    return f"{content['n_samples']:,} rows, {words}; protocol {content['protocol']}"


def _tables(console: "Console", content: Content, criteria: Sequence[Content], signs: Mapping[str, str]) -> None:
    """As many criteria side by side as the width holds."""
    from rich.text import Text

    found = {(item["row"], item["criterion"]): item["status"] for item in content["verdicts"]}
    names = {row["name"]: _clipped(row["name"], _NAME_WIDTH) for row in content["rows"]}
    first = max(len("metric"), *map(len, names.values())) + 1
    for number, columns in enumerate(_blocks(criteria, console.width - first)):
        if number:
            console.print()
        table = _table("metric", *("\n".join(_head(item)) for item in columns), gap=1)
        for column in table.columns[1:]:
            column.justify, column.no_wrap = "center", True
        for beside in (False, True):
            rows = [row for row in content["rows"] if bool(row.get("beside")) == beside]
            rows = [row for row in rows if any((row["name"], item["name"]) in found for item in columns)]
            if beside and rows:
                _group(table, "stored")
            for row in rows:
                cells = [found.get((row["name"], item["name"]), "") for item in columns]
                marks = [Text(signs.get(cell, ""), style=_STYLES.get(cell, "")) for cell in cells]
                table.add_row(Text(names[row["name"]], style="bold" if row["own"] else ""), *marks)
        console.print(table)


def _blocks(criteria: Sequence[Content], room: int) -> list[list[Content]]:
    blocks: list[list[Content]] = [[]]
    left = room
    for item in criteria:
        width = max(map(len, _head(item))) + 1
        if blocks[-1] and width > left:
            blocks.append([])
            left = room
        blocks[-1].append(item)
        left -= width
    return blocks


def _head(criterion: Content) -> list[str]:
    short = _HEADS.get(criterion["name"])
    if short is not None:
        return short.split(" ")
    return textwrap.wrap(criterion["title"].lower(), _HEAD_WIDTH)


def _explained(content: Content) -> list[Content]:
    """Return the rows whose every verdict is explained: your own, or the only one that was asked for."""
    asked = [row for row in content["rows"] if not row.get("beside")]
    return [row for row in asked if row["own"] or len(asked) == 1]


def _reasons(console: "Console", content: Content, row: Content, signs: Mapping[str, str]) -> None:
    from rich.table import Table
    from rich.text import Text

    titles = {item["name"]: item["title"] for item in content["criteria"]}
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=3, justify="right", no_wrap=True)
    table.add_column()
    for item in content["verdicts"]:
        if item["row"] == row["name"] and item["criterion"] in titles:
            status = item["status"]
            told = Text(f"{titles[item['criterion']]}: ", style="bold") + Text(
                " ".join(item["summary"].split()), style="not bold"
            )
            table.add_row(Text(signs.get(status, "?"), style=_STYLES.get(status, "")), told)
    console.print()
    console.print(row["name"], style="bold", markup=False)
    silent = any(item["row"] == row["name"] and item["properties"] is None for item in content["metrics"])
    if silent:
        console.print(
            "  What it claims was not said, so it is judged as a measure of modularity, of compactness and of\n"
            "  explicitness at once. NAME = bench.candidate(function, claims=...) in its file says it.",
            markup=False,
            highlight=False,
        )
    console.print(table)


def _failures(console: "Console", content: Content) -> None:
    """Tell of each metric of this run how many calls gave no value, and of the first kind of failure."""
    from rich.padding import Padding
    from rich.text import Text

    beside = {item["name"] for item in content["metrics"] if item.get("beside")}
    labels = {item["name"]: item["labels"] for item in content["scenarios"]}
    lines = []
    for metric in (item["name"] for item in content["metrics"] if item["name"] not in beside):
        curves = [curve for curve in content["curves"] if curve["metric"] == metric and curve["declined"] is None]
        failed = sum(sum(curve["failed"]) for curve in curves)
        calls = failed + sum(sum(curve["n"]) for curve in curves)
        if failed:
            scenario, label, reason = next(
                (curve["scenario"], label, reason)
                for curve in curves
                for label, reason in zip(labels[curve["scenario"]], curve["reasons"], strict=True)
                if reason is not None
            )
            call = "call" if calls == 1 else "calls"
            lines.append(
                f"{metric} gave no value in {failed:,} of {calls:,} {call}: {scenario} at {label}: "
                f"{' '.join(reason.split())}"
            )
    if lines:
        console.print()
        console.print("no value", style="bold")
    for line in lines:
        console.print(Padding(Text(line), (0, 0, 0, 2)))
