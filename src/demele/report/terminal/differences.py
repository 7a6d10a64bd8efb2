"""Differences of representations in a terminal; of what ``RepresentationComparison.to_dict()`` returns."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.report.terminal.sheet import Sheet, Styled, Words, clipped
from demele.report.words import brackets, level_text, number, probability

__all__ = ["differences_table"]

Item = Mapping[str, Any]
#: Pairs of which every difference is written without being asked for.
MOST_PAIRS = 6


def differences_table(
    comparison: Item, *, details: bool = False, output: Path | None = None, words: Words = str
) -> str:
    """Write models over their runs, the differences of each pair, and what they show, in sentences.

    Parameters
    ----------
    comparison : dict
    details : bool
        Whether the differences of many pairs are written too.
    output : Path, optional
        File that the text is for; a terminal's colours are then left out.
    words : callable, optional
        Says a message in the words of the reader.
    """
    sheet = Sheet(output)
    _models(sheet, comparison)
    pairs: dict[tuple[str, str], list[Item]] = {}
    for row in comparison["differences"]:
        pairs.setdefault((row["first"], row["second"]), []).append(row)
    level = level_text(comparison["level"])
    intervals = any(row["low"] is not None for row in comparison["differences"])
    written = details or (intervals and len(pairs) <= MOST_PAIRS)  # without intervals the scores say as much
    for (first, second), rows in pairs.items() if written else ():
        lines = [
            [row["metric"], _value(row), brackets((row["low"], row["high"])), probability(row["p_value"]), _said(row)]
            for row in rows
        ]
        sheet.line(f"{second} minus {first}", "bold")
        sheet.table(["metric", "difference", f"{level} interval", "p", "significant"], lines, numbers=3)
        sheet.blank()
    whole, *others = comparison["sentences"]
    sheet.line(words(whole), "bold")
    for sentence in others:
        sheet.indented(words(sentence))
    if not written and pairs:
        sheet.line("--details writes every difference.", "dim")
    return sheet.text()


def _models(sheet: Sheet, comparison: Item) -> None:
    models: Mapping[str, Sequence[str]] = comparison["models"]
    if not models:
        return
    found = {(row["model"], row["metric"]): row for row in comparison["model_scores"]}
    lines: list[Sequence[Any]] = []
    for metric in dict.fromkeys(metric for _, metric in found):
        own = [found.get((model, metric)) for model in models]
        lines.append([metric, *(_mean(row) for row in own)])
        if any(row is not None and row["interval"] for row in own):
            lines.append(["", *(Styled(brackets(row and row["interval"]), "dim") for row in own)])
    sheet.line("mean over runs, and their standard deviation", "bold")
    heads = [f"{clipped(name, 20)} ({len(runs)})" for name, runs in models.items()]
    sheet.table(["metric", *heads], lines, numbers=len(models))
    sheet.blank()


def _mean(row: Item | None) -> str:
    if row is None:
        return "-"
    return number(row["mean"]) + ("" if row["std"] is None else f" ± {number(row['std'])}")


def _value(row: Item) -> tuple[Styled, Styled]:
    mark = Styled("!" if row["fragile"] else " ", "red" if row["fragile"] else "")
    return Styled(number(row["difference"]), "bold" if row["shown"] else ""), mark


def _said(row: Item) -> str:
    if row["reason"]:
        return "not tested"
    better = "" if row["significance"] == "no" else f": {row['ahead']} is better"
    return f"{row['significance']}{better}{' (exploratory)' if row['exploratory'] else ''}"
