"""Scores corrected for noisy factors, in a terminal."""

from collections.abc import Mapping
from typing import Any

from demele.report.corrections import corrections
from demele.report.terminal.sheet import Sheet, Styled, Words


def write_corrected(sheet: Sheet, evaluation: Mapping[str, Any], words: Words = str, *, named: bool = False) -> None:
    """Write a table of values as given beside corrected ones, and what these assume; nothing where nobody asked."""
    found = corrections(evaluation)
    if found is None:
        return
    sheet.blank()
    sheet.line(f"{evaluation['name']}: " * named + "corrected for noisy factors", "bold")
    if found.scores:
        interval = found.interval_head[0].lower() + found.interval_head[1:]
        rows = [_row(score, alone=found.audited) for score in found.scores]
        alone = ["audit alone"] * found.audited
        sheet.table(["metric", "as given", "corrected", interval, *alone, "method"], rows, numbers=3 + found.audited)
    for title, sentences in (
        ("assumes", found.assumptions),
        ("to know", found.notes),
        ("not corrected", found.missing),
    ):
        if sentences:
            sheet.line(title)
        for sentence in sentences:
            sheet.indented(words(sentence))


def _row(score: Mapping[str, Any], *, alone: bool) -> list[Any]:
    own = score["corrected"]
    ends = own["interval"]
    known = ends is not None and ends["low"] is not None and ends["high"] is not None
    interval = f"[{_number(ends['low'])}, {_number(ends['high'])}]" if known else ""
    value = Styled(_number(own["value"]), "bold")
    audited = [_number(own["audited_alone"])] * alone
    return [score["metric"], _number(score["value"]), value, interval, *audited, own["method"]]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
