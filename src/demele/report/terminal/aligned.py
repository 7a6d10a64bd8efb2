"""Raw and aligned scores in a terminal, with their gap and what it says."""

from collections.abc import Mapping, Sequence
from typing import Any

from demele.core.alignment import not_aligned, readings_told
from demele.report.terminal.sheet import Sheet, Styled, Words
from demele.report.words import number

__all__ = ["aligned_tables"]


def aligned_tables(sheet: Sheet, evaluations: Sequence[Mapping[str, Any]], words: Words = str) -> None:
    """Print, for each representation that was aligned, a table of raw, aligned and gap, and what the gaps say."""
    for evaluation in evaluations:
        found = [(one["metric"], one["alignment"]) for one in evaluation["scores"] if one.get("alignment") is not None]
        if not found:
            continue
        named = f"{evaluation['name']}: " if len(evaluations) > 1 else ""
        sheet.blank()
        sheet.line(f"{named}codes turned towards the factors, on rows not used to turn them", "bold")
        heads = {
            "interval": "interval of the gap" if any(one["interval"] is not None for _, one in found) else "",
            "chance": "by chance" if any(one["chance"] is not None for _, one in found) else "",
        }
        shown = {key: head for key, head in heads.items() if head}
        rows = [[metric, *_cells(alignment), *(_extra(alignment, key) for key in shown)] for metric, alignment in found]
        sheet.table(["metric", "raw", "aligned", "gap", *shown.values()], rows, numbers=3 + len(shown))
        for sentence, metrics in readings_told(found).items():
            sheet.indented(f"{', '.join(metrics)}: {sentence}")
        for reason, metrics in not_aligned(evaluation).items():
            sheet.indented(f"{', '.join(metrics)}: {words(reason)}")


def _cells(alignment: Mapping[str, Any]) -> list[Any]:
    gap = Styled(number(alignment["gap"]), "bold")
    return [number(alignment["raw"]), number(alignment["aligned"]), gap]


def _extra(alignment: Mapping[str, Any], key: str) -> str:
    found = alignment[key]
    if found is None:
        return ""
    return number(found["mean"]) if key == "chance" else f"[{number(found['low'])}, {number(found['high'])}]"
