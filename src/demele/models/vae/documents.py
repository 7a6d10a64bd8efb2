"""What the training of a VAE says: its document."""

from dataclasses import replace
from typing import TYPE_CHECKING

from demele.core.result import about
from demele.models.documents import history_lines
from demele.report.document import Document, Section, Table
from demele.report.listing import table_of_frame
from demele.report.words import count, name, written

if TYPE_CHECKING:
    from demele.models.vae.run import Run

_ENDED = {"done": "is done", "running": "is not done", "interrupted": "was interrupted", "diverged": "diverged"}
LINES = [
    ("reconstruction", "Reconstruction error, nats per image", "number"),
    ("kl", "Divergence from the prior, nats per image", "number"),
    ("total_correlation", "Total correlation, nats per image", "number"),
]


def run_document(result: "Run") -> Document:
    """Say how the training of a VAE ended, what an image costs, and which codes are active."""
    lines = history_lines(result.history, "step", LINES)
    codes = _codes(result)
    beta = "" if result.beta_normalised is None else f"The normalised beta is {written(result.beta_normalised)}."
    return Document(
        kind="Training of a VAE",
        headline=_headline(result),
        tone="bad" if result.status == "diverged" or result.collapsed else "",
        sentences=[beta],
        figure=lines[0] if lines else None,
        table=codes,
        scope=(
            count(result.images, "image"),
            count(result.pixels, "pixel"),
            count(result.parameters, "parameter"),
            f"{name(result.likelihood)} likelihood",
            f"{written(result.seconds, 'number.0')} seconds",
        ),
        sections=[Section("Measures", [_costs(result), codes]), Section("Training", lines)],
        methods=[
            "A VAE was trained with demele [@demele]. A code is active if the standard deviation of its means is above",
            "0.05 and its divergence above 0.01 nats. Mutual information and total correlation are estimated from",
            "stratified batches.",
        ],
        **about(result),
    )


def _headline(run: "Run") -> str:
    told = f"The training {_ENDED[run.status]} after {count(run.steps, 'step')}"
    if not run.examined:
        return f"{told}, before anything was measured."
    if run.status == "diverged":
        return f"{told}; its figures are those of the last finite weights."
    used = f"{written(int(run.active.sum()), 'count')} of {count(len(run.active), 'code')}"
    error = written(run.reconstruction, "number.1")
    return f"{told}: {used} are active, and the reconstruction error is {error} nats per image."


def _codes(run: "Run") -> Table:
    frame = run.to_frame().assign(active=(run.active & (run.status != "diverged")).to_numpy())
    note = "KL: mean divergence from the prior, in nats. Std: standard deviation of the means of the code."
    return replace(table_of_frame("Codes", frame)[0], note=note)


def _costs(run: "Run") -> Table:
    rows = [
        ("Reconstruction error", run.reconstruction),
        ("Least possible reconstruction error", run.floor),
        ("Divergence from the prior", float(run.kl.sum(skipna=False))),
        ("Mutual information of images and codes, estimated", run.mutual_information),
        ("Total correlation, estimated", run.total_correlation),
    ]
    note = f"Over {count(run.examined, 'image')}. Estimates from batches can be below 0 or above the divergence."
    return Table("Costs", {"Quantity": "text", "Nats per image": "number"}, rows, note)
