"""Fabrics in a terminal: how they were trained, what was pruned of them, and what that gained."""

from collections.abc import Mapping
from typing import Any

from demele.report.fabric import COUNTED, asked_and_gone, error_interval
from demele.report.terminal.sheet import Sheet
from demele.report.words import percent

__all__ = ["fabric_table", "pruning_table", "training_table"]

Item = Mapping[str, Any]


def training_table(fabric: Item) -> str:
    """Write how a training ended, and the error on images that were held out."""
    sheet, run = Sheet(), fabric["run"]
    sheet.wrapped(f"{run['status']} after {run['epochs']} epochs, {run['seconds']:.0f} s", "bold")
    if run["problem"]:
        sheet.wrapped(run["problem"])
    _structure(sheet, fabric)
    sheet.blank()
    _history(sheet, run["history"])
    _errors(sheet, fabric)
    return sheet.text()


def pruning_table(fabric: Item) -> str:
    """Write what a pruning took, and what it gained."""
    sheet = Sheet()
    sheet.wrapped(asked_and_gone(fabric["pruning"]), "bold")
    sheet.blank()
    _counts(sheet, fabric["before"], fabric["counts"], heads=("before", "after"))
    _errors(sheet, fabric)
    _times(sheet, fabric["benchmark"])
    return sheet.text()


def fabric_table(fabric: Item) -> str:
    """Write what a file holds: counts, prunings, the last epochs."""
    sheet, run = Sheet(), fabric["run"]
    sheet.wrapped(f"a fabric, {run['status']} after {run['epochs']} epochs", "bold")
    _structure(sheet, fabric)
    sheet.blank()
    _counts(sheet, fabric["whole"], fabric["counts"], heads=("whole", "now"))
    if fabric["prunings"]:
        sheet.blank()
    for item in fabric["prunings"]:
        sheet.wrapped(f"after epoch {item['epoch']}, by {item['criterion']}: {asked_and_gone(item)}")
    if run["history"]["epoch"]:
        sheet.blank()
        _history(sheet, run["history"])
    _times(sheet, fabric["benchmark"])
    return sheet.text()


def _structure(sheet: Sheet, fabric: Item) -> None:
    spec, counts = fabric["spec"], fabric["counts"]
    size = f"{spec['layers']} layers, {spec['scales']} scales, {spec['channels']} channels, {spec['classes']} classes"
    links = f"{counts['links']} of {fabric['whole']['links']} links"
    sheet.wrapped(f"{size}: {links}, {counts['parameters']:,} parameters", "dim")


def _history(sheet: Sheet, history: Item) -> None:
    """Write the last epochs."""
    epochs = list(zip(*(history[name] for name in ("epoch", "rate", "loss", "error")), strict=True))
    rows = [[f"{epoch}", f"{rate:g}", f"{loss:.4f}", percent(error, 1)] for epoch, rate, loss, error in epochs[-10:]]
    sheet.table(["epoch", "rate", "loss", "error"], rows, numbers=3)
    sheet.wrapped("loss and error: on what was trained on, with its labels", "dim")


def _counts(sheet: Sheet, before: Item, after: Item, *, heads: tuple[str, str]) -> None:
    rows = [
        [
            title.lower(),
            f"{before[key]:,}",
            f"{after[key]:,}",
            percent(after[key] / before[key], 1) if before[key] else "",
        ]
        for key, title in COUNTED.items()
    ]
    sheet.table(["", *heads, "left"], rows, numbers=3)


def _errors(sheet: Sheet, fabric: Item) -> None:
    if not fabric["errors"]:
        return
    sheet.blank()
    rows = [[item["stage"], percent(item["error"], 2), error_interval(item)] for item in fabric["errors"]]
    sheet.table([f"error on {fabric['held_out']:,} held-out images", "", "95% interval"], rows, numbers=2)


def _times(sheet: Sheet, benchmark: list[Item]) -> None:
    if not benchmark:
        return
    sheet.blank()
    rows = [
        [
            item["name"],
            *(
                text
                for part in ("forward", "exported", "training")
                for text in (f"{item[f'{part}_ms']:.2f}", f"x {item[f'{part}_gain']:.2f}")
            ),
        ]
        for item in benchmark
    ]
    sheet.table(["ms of a batch", "forward", "", "exported", "", "training", ""], rows, numbers=6)
    sheet.wrapped("Measured here and now; masked weights are multiplied like all others.", "dim")
