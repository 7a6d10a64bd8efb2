"""Results about fabrics: a training, and a report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from demele.core.arrays import pd
from demele.core.errors import InputError, InputTypeError
from demele.core.kinds import Count, checked, checked_rate
from demele.core.result import Interval, Result, about
from demele.models.fabric.lattice import FabricCounts, Lattice
from demele.models.specs import history_lines, settings_table
from demele.report.document import Cell, Document, Graph, Notice, Section, Table
from demele.report.listing import drawn, listed, table_of_frame
from demele.report.words import count, joined, name, sentence_of, title_of, written

# What results about fabrics say: their documents ----------------------------------------------------------------------

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


def scored_graph(
    caption: str, layers: int, scales: int, scores: Mapping[str, float], widths: Mapping[str, int] | None = None
) -> Graph:
    """Return a fabric as a graph whose links are the wider, the higher their scores; the lowest is drawn thinnest."""
    known = [score for score in scores.values() if math.isfinite(score)] or [0.0]
    low, width = min(known), max(known) - min(known) or 1.0
    shares = {link: (score - low) / width if math.isfinite(score) else 0.0 for link, score in scores.items()}
    return lattice_graph(caption, layers, scales, shares, widths)


# Trainings ------------------------------------------------------------------------------------------------------------


def run_document(result: FabricRun) -> Document:
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


def run_headline(run: FabricRun) -> str:
    """Say how a training ended."""
    if run.status == "new":
        return "The fabric is not trained."
    told = f"The training {_ENDED[run.status]} after {count(run.epochs, 'epoch')}"
    if run.history.empty:
        return f"{told}."
    error = float(run.history["error"].iloc[-1])
    return f"{told}: the error on the training images is {written(error, 'percent')}."


def _epochs(run: FabricRun) -> Table:
    columns = {"epoch": "count", "rate": "number", "loss": "number.4", "error": "percent"}
    table, _ = table_of_frame("Last epochs", run.history[list(columns)].tail(10), columns)
    return replace(table, note="Loss and error are on the images of the training, with its labels.")


def _training(run: FabricRun) -> Section:
    return Section("Training", [*history_lines(run.history, "epoch", _LINES), _epochs(run)])


# Fabrics --------------------------------------------------------------------------------------------------------------


def fabric_document(result: FabricReport) -> Document:
    """Say how much of a fabric is left, what that gained, and how it was trained."""
    counts = _counts(result)
    title, spec = "Convolutional neural fabric", result.spec
    caption = f"Links by {name(result.scored_by)}: the wider, the higher the score; dashed links are removed"
    stages = [("Stage", "text", "stage"), ("Error", "percent", "error"), ("Interval", "percent", "interval")]
    errors = drawn(listed("Error on held-out images", result.errors, stages), "Error", axis="error", zero=0.0)
    settings = {"trained_on": result.trained_on, "training": result.training}
    trained = {key: value for key, value in settings.items() if value is not None}
    limits = [(f"pruning {place}", one.get("limit")) for place, one in enumerate(result.prunings, start=1)]
    return Document(
        kind=title,
        title=name(result.name) if result.name else title,
        headline=_headline(result),
        tone="bad" if result.run.status == "diverged" else "",
        sentences=list(_sentences(result)),
        figure=scored_graph(caption, spec["layers"], spec["scales"], result.link_scores, result.widths),
        table=counts,
        below=[_times(result)],
        scope=(
            *(count(spec[f"{noun}s"], noun) for noun in ("layer", "scale", "channel")),
            count(spec["classes"], "class", "classes"),
            count(result.run.epochs, "epoch"),
        ),
        sections=[
            Section("Measures", [counts, errors, _times(result)]),
            Section("Structure", [_prunings(result)]),
            _training(result.run),
            Section("Data", [settings_table({"images": result.image_shape, **spec, **trained})]),
        ],
        notes=[Notice(limit, "warning", (which,)) for which, limit in limits if limit],
        version=result.version,
    )


def _headline(result: FabricReport) -> str:
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


def _sentences(result: FabricReport) -> Iterator[str]:
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


def _counts(result: FabricReport) -> Table:
    pairs = [(key, getattr(result.whole, key), now) for key, now in asdict(result.counts).items()]
    rows: list[tuple[Cell, ...]] = [
        (title_of(key), all_, now, now / all_ if all_ else None) for key, all_, now in pairs
    ]
    rows += [(f"Error, {name(one.stage)}", None, written(one.error, "percent"), None) for one in result.errors]
    return Table("Counts", {"Quantity": "text", "Whole": "count", "Now": "count", "Left": "percent"}, rows)


def _times(result: FabricReport) -> Table:

    measures = {f"{part}_{what}": "number.2" for part in ("forward", "exported", "training") for what in ("ms", "gain")}
    columns = {"name": "text", **measures}
    frame = pd.DataFrame(result.benchmark, columns=list(columns))
    note = "The gain is the time of the first fabric divided by that of the row; exported against a forward pass."
    return replace(table_of_frame("Times of a batch, fabrics in turn", frame, columns)[0], note=note)


def _prunings(result: FabricReport) -> Table:

    cascaded = [len(one["cascaded"]) for one in result.prunings]
    columns = ["epoch", "level", "criterion", "requested", "removed", "total"]
    frame = pd.DataFrame(result.prunings, columns=columns).assign(in_cascade=cascaded)
    note = "In cascade: links removed because no path from input to output contained them any more."
    return replace(table_of_frame("Prunings", frame, {"epoch": "count"})[0], note=note)


Status = Literal["new", "running", "done", "interrupted", "diverged"]
STATUSES = get_args(Status)
#: Columns of a history.
ROW = ("epoch", "rate", "loss", "error", "images_per_second")


# A frame has no single truth value, so a generated == would fail: runs compare by identity.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FabricRun(Result):
    """A training of a fabric: its end, and the figures of each epoch.

    Attributes
    ----------
    status : {"new", "running", "done", "interrupted", "diverged"}
        "new": nothing was trained. "running": read from the file of a training that was killed, or goes on elsewhere.
    epochs : int
        That the weights have behind them.
    seconds : float
        That they took, over all calls.
    history : DataFrame
        A row for each epoch: ``epoch``, ``rate``, ``loss`` and ``error`` on the images as they were trained on, and
        ``images_per_second``.
    problem : str
        Why it diverged; empty unless it did.
    """

    _kind = "training of a fabric"

    status: Status
    epochs: int
    seconds: float
    history: pd.DataFrame
    problem: str = ""

    document = run_document


def run_of(content: Mapping[str, Any]) -> FabricRun:
    """Return the run that a file, or its content in memory, tells of."""
    return FabricRun(
        status=content["status"],
        epochs=content["epoch"],
        seconds=content["seconds"],
        history=pd.DataFrame(content["history"], columns=list(ROW)),
        problem=content["problem"],
    )


#: Columns of :func:`demele.lab.benchmark` that a report holds.
_TIMES = (
    *("links", "parameters", "nonzero", "multiply_adds", "forward_ms", "exported_ms", "training_ms"),
    *("forward_gain", "exported_gain", "training_gain"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageError:
    """The error of a fabric at a stage.

    Attributes
    ----------
    stage : str
        Such as ``"before"`` or ``"fine-tuned"``.
    error : float
        Share of images that were mistaken.
    images : int or None
        How many were counted.
    interval : Interval or None
        At 95% (Wilson 1927), where the number of images is known.
    """

    stage: str
    error: float
    images: int | None
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FabricReport(Result):
    """A fabric as data, without weights: structure, counts, prunings, training, errors and times.

    Attributes
    ----------
    name : str
    spec : mapping
        Structure of the whole fabric.
    image_shape : tuple of int
    counts, whole : FabricCounts
        Of the fabric, and of the whole one.
    link_scores : mapping of str to float
        By the names of the remaining links.
    scored_by : str
    widths : mapping of str to int
        Channels of each node.
    prunings : tuple of mapping
    run : FabricRun
    training, trained_on : mapping or None
        Settings of the training, and its images.
    errors : tuple of StageError
    benchmark : tuple of mapping
        Rows of :func:`demele.lab.benchmark`.
    version : str
    fabric : Fabric or None
        The fabric itself.
    """

    _kind = "fabric"
    _files: ClassVar[Mapping[str, str]] = {".fabric": "save", ".svg": "to_svg", ".history.csv": "history_frame"}

    name: str
    spec: Mapping[str, Any]
    image_shape: tuple[int, int, int]
    counts: FabricCounts
    whole: FabricCounts
    link_scores: Mapping[str, float]
    scored_by: str
    widths: Mapping[str, int]
    prunings: tuple[Mapping[str, Any], ...]
    run: FabricRun
    training: Mapping[str, Any] | None
    trained_on: Mapping[str, Any] | None
    errors: tuple[StageError, ...]
    benchmark: tuple[Mapping[str, Any], ...]
    version: str
    fabric: Any = field(default=None, metadata={"json": False})

    def history_frame(self) -> pd.DataFrame:
        """Return the course of the training, a row for each epoch."""
        return self.run.history

    def save(self, path: str | Path) -> Path:
        """Write the fabric to a file; see :meth:`Fabric.save`."""
        written: Path = self._held().save(path)
        return written

    def to_svg(self, path: str | Path) -> str:
        """Write the structure as a picture, links as wide as their scores are high."""
        drawn: str = self._held().to_svg(path, scores=self.link_scores)
        return drawn

    def _held(self) -> Any:
        if self.fabric is None:
            raise InputError("fabric", "this report was made without its fabric; use that of Fabric.report()")
        return self.fabric

    document = fabric_document

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each quantity, of the whole fabric and of this one, and one for each error."""
        counts = self.counts.to_frame().rename(columns={"count": "now"}).astype({"now": object})
        counts.insert(1, "whole", self.whole.to_frame()["count"].astype(object))
        errors = [{"quantity": f"error, {one.stage}", "now": one.error} for one in self.errors]
        return pd.concat([counts, pd.DataFrame(errors, columns=counts.columns, dtype=object)], ignore_index=True)


@checked
def stage_error(stage: str, value: Any, images: Count | None) -> StageError:
    """Return the error of a stage, with its interval if the number of images is known.

    Raises
    ------
    InputError
    """
    error = checked_rate(value, "errors", "the images")
    if images is None:
        return StageError(stage=stage, error=error, images=None, interval=None)
    from scipy.stats import binomtest

    found = binomtest(round(error * images), images).proportion_ci(0.95, method="wilson")
    interval = Interval(low=float(found.low), high=float(found.high), level=0.95, method="wilson")
    return StageError(stage=stage, error=error, images=images, interval=interval)


def benchmark_rows(timings: Any) -> tuple[dict[str, Any], ...]:
    """Return the rows of a benchmark, with the names of the fabrics.

    Raises
    ------
    InputTypeError
    """
    if timings is None:
        return ()
    if not hasattr(timings, "columns") or not set(_TIMES) <= set(timings.columns):
        raise InputTypeError("timings", "expected the table of demele.lab.benchmark")
    return tuple({"name": str(name), **{one: row[one] for one in _TIMES}} for name, row in timings.iterrows())
