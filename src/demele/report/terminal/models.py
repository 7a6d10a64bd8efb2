"""What a training of a model has come to, in a terminal."""

from collections.abc import Mapping
from typing import Any

from demele.report.terminal.sheet import Sheet

__all__ = ["run_table"]


def run_table(run: Mapping[str, Any]) -> str:
    """Write how a training ended, what its images cost, and which codes are in use."""
    sheet = Sheet()
    # The figures of a training that diverged are of the last weights that were finite: no code of them is in use.
    is_diverged = run["status"] == "diverged"
    used = f"{sum(run['active'].values())} of {len(run['active'])} codes in use"
    told = "the figures below are of no trained model" if is_diverged else used
    sheet.wrapped(f"{run['status']} after {run['steps']:,} steps: {told}", "bold")
    for note in run["notes"]:
        sheet.wrapped(note)
    sheet.blank()
    rows = [
        ["reconstruction error R", _nats(run["reconstruction"])],
        ["least that R can be", _nats(run["floor"])],
        ["divergence from the prior K", _nats(_sum(run["kl"]))],
        ["mutual information of images and codes, estimated", _nats(run["mutual_information"])],
        ["total correlation, estimated", _nats(run["total_correlation"])],
    ]
    sheet.table(["nats per image", ""], rows, numbers=1)
    sheet.wrapped("Estimates from batches may leave what is possible: below 0, or above K.", "dim")
    sheet.blank()
    codes = [
        [name, _nats(run["kl"][name]), _nats(run["std"][name]), "yes" if active and not is_diverged else "-"]
        for name, active in run["active"].items()
    ]
    sheet.table(["code", "K", "std of means", "in use"], codes, numbers=2)
    sheet.blank()
    strength = run["beta_normalised"]
    told = "" if strength is None else f", beta normalised {strength:.3g}"
    sheet.wrapped(
        f"of {run['examined']:,} images of {run['pixels']:,} pixels; {run['parameters']:,} parameters; likelihood "
        f"{run['likelihood']}{told}; {run['seconds']:.0f} s",
        "dim",
    )
    return sheet.text()


def _sum(values: Mapping[str, float | None]) -> float | None:
    known = [value for value in values.values() if value is not None]
    return sum(known) if len(known) == len(values) else None


def _nats(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
