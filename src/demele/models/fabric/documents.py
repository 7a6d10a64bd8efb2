"""What results about fabrics say: their documents."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from demele.core.result import about
from demele.models.documents import history_lines, settings_table
from demele.models.fabric.lattice import Lattice
from demele.report.document import Cell, Document, Graph, Notice, Section, Strips, Table
from demele.report.listing import drawn, listed, table_of_frame
from demele.report.words import count, joined, name, sentence_of, title_of, written

if TYPE_CHECKING:
    from demele.models.fabric.results import FabricReport, FabricRun

_LINES = [("loss", "Loss on the training images", "number"), ("error", "Error on the training images", "percent")]
_ENDED = {"done": "is done", "running": "is not done", "interrupted": "was interrupted", "diverged": "diverged"}


def lattice_graph(
    caption: str, layers: int, scales: int, weights: Mapping[str, float], widths: Mapping[str, int] | None = None
) -> Graph:
    """Return a fabric as a graph: layers to the right, scales downwards; a link without a weight is removed."""
    whole = Lattice.whole(layers, scales)
    nodes = {}
    for node in whole.nodes:
        kind = {whole.start: "input", whole.end: "output"}.get(node, "")
        channels = count(widths[node.name], "channel") if widths and node.name in widths else ""
        nodes[node.name] = (float(node.layer), float(node.scale), ", ".join(filter(None, [kind, channels])))
    links = [(link.source.name, link.target.name, weights.get(link.name)) for link in whole.links]
    return Graph(caption, nodes, links)


# Trainings ------------------------------------------------------------------------------------------------------------


def run_document(result: "FabricRun") -> Document:
    """Say how the training of a fabric ended, and the loss and error of each epoch."""
    figures = history_lines(result.history, "epoch", _LINES)
    table = _epochs(result)
    return Document(
        kind="Training of a fabric",
        headline=run_headline(result),
        tone="bad" if result.status == "diverged" else "",
        sentences=[sentence_of(result.problem)] if result.problem else [],
        figure=figures[-1] if figures else None,
        table=table,
        scope=(f"{written(result.seconds, 'number.0')} seconds",),
        sections=[_training(result)],
        **about(result),
    )


def run_headline(run: "FabricRun") -> str:
    """Say how a training ended."""
    if run.status == "new":
        return "The fabric is not trained."
    told = f"The training {_ENDED[run.status]} after {count(run.epochs, 'epoch')}"
    if run.history.empty:
        return f"{told}."
    error = float(run.history["error"].iloc[-1])
    return f"{told}: the error on the training images is {written(error, 'percent')}."


def _epochs(run: "FabricRun") -> Table:
    columns = {"epoch": "count", "rate": "number", "loss": "number.4", "error": "percent"}
    table, _ = table_of_frame("Last epochs", run.history[list(columns)].tail(10), columns)
    return replace(table, note="Loss and error are on the images of the training, with its labels.")


def _training(run: "FabricRun") -> Section:
    return Section("Training", [*history_lines(run.history, "epoch", _LINES), _epochs(run)])


# Fabrics --------------------------------------------------------------------------------------------------------------


def fabric_document(result: "FabricReport") -> Document:
    """Say how much of a fabric is left, what that gained, and how it was trained."""
    counts = _counts(result)
    title, spec = "Convolutional neural fabric", result.spec
    settings = {"trained_on": result.trained_on, "training": result.training}
    trained = {key: value for key, value in settings.items() if value is not None}
    limits = [(f"pruning {place}", one.get("limit")) for place, one in enumerate(result.prunings, start=1)]
    return Document(
        kind=title,
        title=name(result.name) if result.name else title,
        headline=_headline(result),
        tone="bad" if result.run.status == "diverged" else "",
        sentences=list(_sentences(result)),
        figure=_structure(result),
        table=counts,
        below=[_times(result)],
        scope=(
            *(count(spec[f"{noun}s"], noun) for noun in ("layer", "scale", "channel")),
            count(spec["classes"], "class", "classes"),
            count(result.run.epochs, "epoch"),
        ),
        sections=[
            Section("Measures", [counts, _errors(result), _times(result)]),
            Section("Structure", [_prunings(result)]),
            _training(result.run),
            Section("Data", [settings_table({"images": result.image_shape, **spec, **trained})]),
        ],
        notes=[Notice(limit, "warning", (which,)) for which, limit in limits if limit],
        version=result.version,
    )


def _headline(result: "FabricReport") -> str:
    if not result.prunings or result.run.status == "diverged":
        return run_headline(result.run)
    last, now, whole = result.prunings[-1], result.counts, result.whole
    asked = "" if last["requested"] == last["removed"] else f", of {written(last['requested'], 'count')} requested"
    told = (
        f"Pruning by {name(last['criterion'])} removed {written(last['removed'], 'count')} of "
        f"{count(last['total'], last['level'].rstrip('s'))}{asked}"
    )
    if now.multiply_adds < whole.multiply_adds:
        times = written(whole.multiply_adds / now.multiply_adds, "number.1")
        return f"{told}; the fabric needs {times} times fewer multiplications than the whole one."
    return f"{told}; the number of multiplications stays the same."


def _sentences(result: "FabricReport") -> Iterator[str]:
    now, whole = result.counts, result.whole
    if result.run.problem:
        yield sentence_of(result.run.problem)
    if now.links < whole.links or now.parameters < whole.parameters:
        links = f"{written(now.links, 'count')} of {count(whole.links, 'link')}"
        share = written(now.parameters / whole.parameters, "percent.0")
        yield f"The fabric keeps {links} and {share} of the parameters."
    if now.nonzero < now.weights:
        masked = written(1 - now.nonzero / now.weights, "percent.0")
        yield f"{masked} of the remaining weights are masked, which saves no time."
    if result.errors:
        stages = joined(f"{written(one.error, 'percent')} ({name(one.stage)})" for one in result.errors)
        yield f"Error on held-out images: {stages}."
    same = ("links", "parameters", "nonzero", "multiply_adds")
    own = [one for one in result.benchmark[1:] if all(one[key] == getattr(now, key) for key in same)]
    if own:  # of several with these counts, such as by seed, the last
        gain = written(own[-1]["forward_gain"], "number.1")
        yield f"Compared with {name(result.benchmark[0]['name'])}, a forward pass is {gain} times as fast."


def _counts(result: "FabricReport") -> Table:
    pairs = [(key, getattr(result.whole, key), now) for key, now in asdict(result.counts).items()]
    rows: list[tuple[Cell, ...]] = [
        (title_of(key), all_, now, now / all_ if all_ else None) for key, all_, now in pairs
    ]
    rows += [(f"Error, {name(one.stage)}", None, written(one.error, "percent"), None) for one in result.errors]
    return Table("Counts", {"Quantity": "text", "Whole": "count", "Now": "count", "Left": "percent"}, rows)


def _structure(result: "FabricReport") -> Graph:
    known = [score for score in result.link_scores.values() if math.isfinite(score)] or [0.0]
    low, width = min(known), max(known) - min(known) or 1.0
    weights = {
        link: (score - low) / width if math.isfinite(score) else 0.0 for link, score in result.link_scores.items()
    }
    caption = f"Links by {name(result.scored_by)}: the wider, the higher the score; dashed links are removed"
    return lattice_graph(caption, result.spec["layers"], result.spec["scales"], weights, result.widths)


def _errors(result: "FabricReport") -> Strips:
    columns = [("Stage", "text", "stage"), ("Error", "percent", "error"), ("Interval", "percent", "interval")]
    return drawn(listed("Error on held-out images", result.errors, columns), "Error", axis="error", zero=0.0)


def _times(result: "FabricReport") -> Table:
    import pandas as pd

    measures = {f"{part}_{what}": "number.2" for part in ("forward", "exported", "training") for what in ("ms", "gain")}
    columns = {"name": "text", **measures}
    frame = pd.DataFrame(result.benchmark, columns=list(columns))
    note = "The gain is the time of the first fabric divided by that of the row; exported against a forward pass."
    return replace(table_of_frame("Times of a batch, fabrics in turn", frame, columns)[0], note=note)


def _prunings(result: "FabricReport") -> Table:
    import pandas as pd

    cascaded = [len(one["cascaded"]) for one in result.prunings]
    columns = ["epoch", "level", "criterion", "requested", "removed", "total"]
    frame = pd.DataFrame(result.prunings, columns=columns).assign(in_cascade=cascaded)
    note = "In cascade: links removed because no path from input to output contained them any more."
    return replace(table_of_frame("Prunings", frame, {"epoch": "count"})[0], note=note)
