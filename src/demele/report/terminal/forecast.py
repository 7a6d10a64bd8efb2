"""A forecast of audits in a terminal: the sentence of its page, and the least sizes pair by pair."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demele.report.forecast_drawn import DESIGNS
from demele.report.forecast_view import mean_settled, sizes_needed
from demele.report.terminal.sheet import Sheet, Words, clipped

__all__ = ["forecast_table"]

Content = Mapping[str, Any]

#: Pairs that are listed, the others being in the formats for programs.
_MOST_PAIRS = 12


def forecast_table(content: Content, *, output: Path | None = None, words: Words = str) -> str:
    """Write a forecast: what would settle it, the share of audits that do by size, the least sizes."""
    sheet = Sheet(output)
    sheet.wrapped(content["sentence"], "bold", indent="")
    sheet.blank()
    several = len(content["names"]) > 2
    _shares(sheet, content, several=several)
    sheet.blank()
    if several:
        _pairs(sheet, content)
    what = "mean share of pairs settled" if several else "share of simulated audits that settle it"
    sheet.wrapped(
        f"in percent: {what}, by rows that the expert labels; standard error at most {_error(content)}", "dim"
    )
    sheet.wrapped(f"{content['draws']} draws for each assumption, level {content['level']:g} for each pair", "dim")
    lines = [f"assumes: {words(item)}" for item in content["assumptions"]]
    lines += [f"note: {words(item['message'])}" for item in content["notes"]]
    sheet.blank()
    for line in lines:
        sheet.wrapped(line)
    return sheet.text()


def _shares(sheet: Sheet, content: Content, *, several: bool) -> None:
    """Print what is settled at each size, assumption by assumption; of many pairs, the mean share of them."""
    rows: list[Any] = []
    for world in content["worlds"]:
        rows.append(f"{world['name']}{'' if several else _for_whom(content, world['name'])}")
        for design, told in DESIGNS.items():
            if several and design == "sequential":
                continue
            own = [one for one in content["prospects"] if (one["world"], one["design"]) == (world["name"], design)]
            rows.append([f"  {told}", *(f"{100 * one['settled']:.0f}" for one in mean_settled(own))])
    heads = ["rows", *(f"{size:,}" for size in content["sizes"])]
    sheet.table(heads, rows, numbers=len(content["sizes"]))


def _for_whom(content: Content, world: str) -> str:
    (own,) = (one for one in content["outlooks"] if one["world"] == world)
    settled = own["settled_by_all"] and not own["hopeless"]
    return f": for {own['winner'] or 'one or the other'}" if settled else ""


def _pairs(sheet: Sheet, content: Content) -> None:
    """Print the least sizes of pairs under the assumption that asks for most, the closest first."""
    last = content["worlds"][-1]["name"]
    found = [one for one in sizes_needed(content) if one["world"] == last]
    found.sort(key=lambda one: (one["settled_by_all"], -(one["weighted"] or float("inf"))))
    rows = []
    for one in found[:_MOST_PAIRS]:
        pair = f"{clipped(one['candidate'], 20)} / {clipped(one['baseline'], 20)}"
        rows.append([pair, *(_size(one, design) for design in ("weighted", "uniform"))])
    sheet.table([f"least rows, if {last}", "weighted", "uniform"], rows, numbers=2)
    if len(found) > _MOST_PAIRS:
        sheet.wrapped(f"the {_MOST_PAIRS} hardest pairs, {len(found) - _MOST_PAIRS:,} more with --format csv", "dim")
    sheet.blank()


def _size(one: Content, design: str) -> str:
    if one[design] is None:
        return "never" if one["hopeless"] else "more"
    return f"{one[design]:,}"


def _error(content: Content) -> str:
    return f"{100 * max(one['error'] for one in content['prospects']):.0f}"
