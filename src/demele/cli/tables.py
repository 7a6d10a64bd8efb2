"""Tables for eyes: plain text of a given width, bold and dim where a terminal can show it.

Evaluations are the plain dictionaries of :meth:`demele.core.results.Evaluation.to_dict`.
"""

import io
import math
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from demele.metrics.metric import Metric as MetricSpec

__all__ = [
    "add_group",
    "clipped",
    "console_for",
    "indented",
    "metrics_table",
    "plain_table",
    "scores_table",
    "trimmed",
]

Evaluation = Mapping[str, Any]
_OTHER = "other"


def scores_table(
    evaluations: Sequence[Evaluation],
    families: Mapping[str, str],
    *,
    details: bool = False,
    output: Path | None = None,
    words: Callable[[str], str] = str,
) -> str:
    """Write the scores of one or several representations.

    Parameters
    ----------
    evaluations : sequence of dict
        One column of values for each; a single one has its interval, standard deviation and chance level beside it.
    families : mapping of str to str
        Family of each metric, by which the rows are grouped.
    details : bool
        Whether to write the per-factor and per-code values and the signatures too.
    output : Path, optional
        File that the text is for; a terminal's colours are then left out.
    words : callable, optional
        Says a message in the words of the reader.
    """
    console, text = console_for(output)
    for heading, names in _headings(evaluations).items():
        console.print(f"{', '.join(names)}: {heading}", markup=False)
    table = _single(evaluations[0], families) if len(evaluations) == 1 else None
    for part in [table] if table is not None else _several(evaluations, families, console.width):
        console.print()
        console.print(part)
    _footnotes(console, evaluations, words)
    if details:
        for evaluation in evaluations:
            _details(console, evaluation, named=len(evaluations) > 1)
    return trimmed(text)


def metrics_table(specs: Sequence["MetricSpec"]) -> str:
    """Write the catalogue, grouped by family."""
    console, text = console_for(None)
    table = plain_table("metric", "measures", "per", "range", "source", gap=1)
    for family in dict.fromkeys(spec.family for spec in specs):
        add_group(table, family)
        for spec in (spec for spec in specs if spec.family == family):
            low, high = (f"{end:g}" if math.isfinite(end) else "any" for end in spec.range)
            span = "any" if low == high else f"{low} to {high}"
            measures = "holistic" if len(spec.properties) > 1 else spec.properties[0]
            where, _, _ = spec.source.replace(";", ",").replace(" (", ",").partition(",")
            table.add_row(_bold(spec.name), measures, spec.native.removeprefix("per "), span, where)
    console.print(table)
    console.print()
    console.print(
        "per: the unit of a metric's own values, of which the score is the mean or a weighted mean.", style="dim"
    )
    console.print("holistic: more than one of modularity, compactness, explicitness.", style="dim")
    console.print("--format json has definitions and whole references.", style="dim")
    return trimmed(text)


def console_for(output: Path | None) -> tuple["Console", io.StringIO]:
    """Return a console as wide as the terminal, or 80 columns for a file or a pipe, and the text it prints into."""
    from rich.console import Console

    text = io.StringIO()
    on_terminal = output is None and sys.stdout.isatty()
    width = min(shutil.get_terminal_size((80, 24)).columns, 120) if on_terminal else 80
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8") if output is None else "utf-8"
    console = Console(
        file=text, width=width, force_terminal=on_terminal, highlight=False, safe_box="utf" not in encoding.lower()
    )
    return console, text


def trimmed(text: io.StringIO) -> str:
    """Return what a console printed, without the spaces at the ends of its lines."""
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def _headings(evaluations: Sequence[Evaluation]) -> dict[str, list[str]]:
    """Return what was scored, and the representations of which it is true."""
    headings: dict[str, list[str]] = {}
    for item in evaluations:
        counts = [(item["n"], "row"), (len(item["codes"]), "code"), (len(item["factors"]), "factor")]
        words = ", ".join(f"{number:,} {noun}{'' if number == 1 else 's'}" for number, noun in counts)
        headings.setdefault(f"{words}; protocol {item['protocol']}", []).append(item["name"])
    return headings


def _single(evaluation: Evaluation, families: Mapping[str, str]) -> "Table":
    scores = evaluation["scores"]
    has = {key: any(score[key] is not None for score in scores) for key in ("interval", "spread", "chance")}
    heads = {"interval": "interval", "spread": "std", "chance": "chance"}
    table = plain_table("metric", "value", *(name for key, name in heads.items() if has[key]), numbers=4)
    for family, group in _by_family([score["metric"] for score in scores], families):
        add_group(table, family)
        for score in (score for score in scores if score["metric"] in group):
            cells = {
                "interval": _interval(score),
                "spread": _number((score["spread"] or {}).get("std")),
                "chance": _number((score["chance"] or {}).get("mean")),
            }
            table.add_row(score["metric"], _value(score), *(cells[key] for key in heads if has[key]))
    return table


def _several(evaluations: Sequence[Evaluation], families: Mapping[str, str], width: int) -> list["Table"]:
    """Tables side by side, as many representations in each as the width holds."""
    metrics = list(dict.fromkeys(score["metric"] for item in evaluations for score in item["scores"]))
    wide = any(score["interval"] is not None for item in evaluations for score in item["scores"])
    room = max(1, (width - 2 - max(map(len, metrics), default=6)) // (15 if wide else 12))
    tables = []
    for start in range(0, len(evaluations), room):
        shown = evaluations[start : start + room]
        table = plain_table(
            "metric", *(clipped(item["name"], 13 if wide else 12) for item in shown), numbers=len(shown)
        )
        for family, group in _by_family(metrics, families):
            add_group(table, family)
            for metric in group:
                scores = [_score(item, metric) for item in shown]
                best = _best([_score(item, metric) for item in evaluations])
                cells = ["-" if score is None else _value(score, bold=score is best) for score in scores]
                table.add_row(metric, *cells)
                if any(score is not None and score["interval"] is not None for score in scores):
                    ranges = ["" if score is None else _interval(score, "{}..{}") for score in scores]
                    table.add_row("", *ranges, style="dim")
        tables.append(table)
    return tables


def _best(scores: Sequence[Mapping[str, Any] | None]) -> Mapping[str, Any] | None:
    """Return the score with the largest value; none where two are equal as shown, or codes were matched by order."""
    known = [score for score in scores if score is not None]
    notes = [note for score in known for note in score["notes"]]
    if any(note["code"] == "assumed-reg-dim" and note["severity"] == "warning" for note in notes):
        return None
    ranked = sorted((score for score in known if score["value"] is not None), key=lambda s: -s["value"])
    if len(ranked) > 1 and _number(ranked[0]["value"]) == _number(ranked[1]["value"]):
        return None
    return ranked[0] if ranked else None


def _footnotes(console: "Console", evaluations: Sequence[Evaluation], words: Callable[[str], str]) -> None:
    several = len(evaluations) > 1
    fragile: dict[str, dict[str, list[str]]] = {}
    missing: dict[str, dict[str, list[str]]] = {}
    notes: dict[str, dict[str, list[str]]] = {}
    for item in evaluations:
        for score in item["scores"]:
            for note in score["notes"]:
                kind = {"fragile": fragile, "warning": notes}.get(note["severity"])
                if score["value"] is None:
                    kind = missing
                if kind is not None:
                    kind.setdefault(note["message"], {}).setdefault(score["metric"], []).append(item["name"])
        for note in item["notes"]:
            notes.setdefault(note["message"], {}).setdefault("", []).append(item["name"])
        for gap in item["left_out"]:
            missing.setdefault(gap["reason"], {}).setdefault(gap["metric"], []).append(item["name"])
    for mark, title, found in (
        ("!", "fragile: another defensible setting moves it much, or noise scores as well", fragile),
        ("-", "no number", missing),
        ("*", "to know", notes),
    ):
        if found:
            console.print()
            console.print(f"{mark} {title}", style="bold", markup=False)
        for message, about in found.items():
            who = list(dict.fromkeys(name for names in about.values() for name in names))
            names = ", ".join(metric for metric in about if metric)
            some = f" ({', '.join(who)})" if several and len(who) < len(evaluations) else ""
            lead = f"{names}{some}: " if names else f"{some.strip()} " if some else ""
            indented(console, lead + words(message))


def _details(console: "Console", evaluation: Evaluation, *, named: bool) -> None:
    """Native values with metrics as rows, in as many tables as the width asks for; then the signatures."""
    title = f"{evaluation['name']}: " if named else ""
    for unit in ("per factor", "per code"):
        scores = [score for score in evaluation["scores"] if score["native_unit"] == unit]
        columns = list(dict.fromkeys(name for score in scores for name in score["native"]))
        first = max((len(score["metric"]) for score in scores), default=0)
        room = max(1, (console.width - first - 2) // 12)
        for start in range(0, len(columns), room):
            shown = columns[start : start + room]
            table = plain_table("metric", *(clipped(name, 10) for name in shown), numbers=len(shown))
            for score in scores:
                table.add_row(score["metric"], *(_number(score["native"].get(name)) for name in shown))
            console.print()
            console.print(f"{title}{unit}", style="bold", markup=False)
            console.print(table)
    console.print()
    console.print(f"{title}signatures", style="bold", markup=False)
    for score in evaluation["scores"]:
        # Unwrapped: a signature is copied.
        console.print(f"  {score['signature']}", markup=False, soft_wrap=True)


def indented(console: "Console", text: str, *, by: int = 2) -> None:
    """Print a text in lines that all begin some spaces from the edge; what looks like markup in it is text."""
    from rich.padding import Padding
    from rich.text import Text

    console.print(Padding(Text(text), (0, 0, 0, by)))


def plain_table(*heads: str, numbers: int = 0, gap: int = 2) -> "Table":
    """Make a table without lines, whose columns after the first hold numbers, as many as said."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="dim")
    for index, head in enumerate(heads):
        number = 0 < index <= numbers
        table.add_column(Text(head), justify="right" if number else "left", no_wrap=index == 0 or number)
    return table


def add_group(table: "Table", title: str) -> None:
    """Begin a group of rows: an empty row if there are others above, then its title."""
    from rich.text import Text

    if table.row_count:
        table.add_row("")
    table.add_row(Text(title, style="italic"))


def _by_family(metrics: Iterable[str], families: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    groups: dict[str, list[str]] = {}
    for metric in metrics:
        groups.setdefault(families.get(metric, _OTHER), []).append(metric)
    return list(groups.items())


def _score(evaluation: Evaluation, metric: str) -> Mapping[str, Any] | None:
    return next((score for score in evaluation["scores"] if score["metric"] == metric), None)


def _value(score: Mapping[str, Any], *, bold: bool = True) -> Any:
    """Write the number, with room for the mark of fragile scores so that the digits stay in line."""
    from rich.text import Text

    return Text(_number(score["value"]), style="bold" if bold else "") + Text("!" if score["fragile"] else " ", "red")


def _bold(text: str) -> Any:
    from rich.text import Text

    return Text(text, style="bold")


def _interval(score: Mapping[str, Any], form: str = "[{}, {}]") -> Any:
    from rich.text import Text

    interval = score["interval"]
    if interval is None or interval["low"] is None or interval["high"] is None:
        return ""
    return Text(form.format(_number(interval["low"]), _number(interval["high"])))


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    text = f"{value:.3f}" if abs(value) < 1e4 else f"{value:.4g}"
    return text.lstrip("-") if float(text) == 0 else text


def clipped(name: str, most: int) -> str:
    """Cut a name to so many characters, the last two of them dots."""
    return name if len(name) <= most else name[: most - 2] + ".."
