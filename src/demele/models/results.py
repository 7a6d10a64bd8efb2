"""Results about trained models: trainings of VAEs and fabrics, and reports of fabrics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from demele.core.arrays import Flags, Floats, pd
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.kinds import Count, checked, checked_rate
from demele.core.proportions import score_interval
from demele.core.reading import check_shape
from demele.core.result import Interval, Note, Result, about
from demele.models.fabric.lattice import FabricCounts, Lattice
from demele.models.specs import Plain
from demele.report.document import Cell, Document, Graph, Line, Lines, Notice, Section, Table
from demele.report.listing import drawn, listed, table_of_frame
from demele.report.words import count, is_missing, joined, name, sentence_of, title_of, written

# What results about trainings have in common: their settings and lines ------------------------------------------------


def settings_table(settings: Mapping[str, Any]) -> Table:
    """Return settings as they were given, a row for each; of long lists the first ones.

    Examples
    --------
    >>> settings_table({"n_images": 20, "sizes": [8, 16]}).rows[0][0]
    'N images'
    """
    rows = [(title_of(key), _words(value)) for key, value in settings.items()]
    return Table("Settings", {"Setting": "text", "Value": "text"}, rows)


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name(key)} {_words(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return joined(map(_words, value), most=6)
    return name(value)


def history_lines(history: pd.DataFrame, along: str, columns: Sequence[tuple[str, str, str]]) -> list[Lines]:
    """Return a figure for each column of a history: its name, its title, its format.

    The first twentieth is left out: it falls from so high that nothing else would be visible.
    """
    late = history.iloc[len(history) // 20 :]
    x = [float(step) for step in late[along]] if along in late else []
    figures = []
    for column, title, form in columns:
        y = [float(value) for value in late[column]] if column in late else []
        if sum(not is_missing(value) for value in y) > 1:
            figures.append(Lines(title, [Line(title, x, y)], (along, "count"), ("", form)))
    return figures


#: How a training has ended, by its status.
_ENDED = {"done": "is done", "running": "is not done", "interrupted": "was interrupted", "diverged": "diverged"}

# What the training of a VAE says: its document ------------------------------------------------------------------------

LINES = [
    ("reconstruction", "Reconstruction error, nats per image", "number"),
    ("kl", "Divergence from the prior, nats per image", "number"),
    ("total_correlation", "Total correlation, nats per image", "number"),
]


def vae_run_document(result: Run) -> Document:
    """Say how the training of a VAE ended, what an image costs, and which codes are active."""
    lines = history_lines(result.history, "step", LINES)
    codes = _codes(result)
    beta = "" if result.beta_normalised is None else f"The normalised beta is {written(result.beta_normalised)}."
    rows = [
        ("Reconstruction error", result.reconstruction),
        ("Least possible reconstruction error", result.floor),
        ("Divergence from the prior", float(result.kl.sum(skipna=False))),
        ("Mutual information of images and codes, estimated", result.mutual_information),
        ("Total correlation, estimated", result.total_correlation),
    ]
    note = f"Over {count(result.examined, 'image')}. Estimates from batches can be below 0 or above the divergence."
    return Document(
        kind="Training of a VAE",
        headline=_run_headline(result),
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
        sections=[
            Section("Measures", [Table("Costs", {"Quantity": "text", "Nats per image": "number"}, rows, note), codes]),
            Section("Training", lines),
        ],
        methods=[
            "A VAE was trained with demele [@demele]. A code is active if the standard deviation of its means is above",
            "0.05 and its divergence above 0.01 nats. Mutual information and total correlation are estimated from",
            "stratified batches.",
        ],
        **about(result),
    )


def _run_headline(run: Run) -> str:
    told = f"The training {_ENDED[run.status]} after {count(run.steps, 'step')}"
    if not run.examined:
        return f"{told}, before anything was measured."
    if run.status == "diverged":
        return f"{told}; its figures are those of the last finite weights."
    used = f"{written(int(run.active.sum()), 'count')} of {count(len(run.active), 'code')}"
    error = written(run.reconstruction, "number.1")
    return f"{told}: {used} are active, and the reconstruction error is {error} nats per image."


def _codes(run: Run) -> Table:
    frame = run.to_frame().assign(active=(run.active & (run.status != "diverged")).to_numpy())
    note = "KL: mean divergence from the prior, in nats. Std: standard deviation of the means of the code."
    return replace(table_of_frame("Codes", frame)[0], note=note)


#: Pixels of an image of 64 x 64 x 3, for which the published strengths were found.
PIXELS_IN_PRINT = 64 * 64 * 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSpec(Plain):
    """All that changes the bits of a training, as values that a file holds and that can be compared.

    Attributes
    ----------
    objective : str
    options : mapping of str to number, str, bool or None
        Options of the objective.
    latents : int
    network : str
        A name of :data:`demele.models.vae.train.NETWORKS`; of a user's own modules, their layers.
    own_networks : bool
    init, likelihood, beta_scale : str
    logvar_bounds : list of two float, or None
    images : str
        Name of the image set.
    digest : str
        Digest of the image set.
    n : int
        Images.
    shape : list of int
        Height, width, channels.
    batch : int
    lr : float
    seed : int
    """

    objective: str
    options: Mapping[str, Any]
    latents: int
    network: str
    own_networks: bool
    init: str
    likelihood: str
    beta_scale: str
    logvar_bounds: list[float] | None
    images: str
    digest: str
    n: int
    shape: list[int]
    batch: int
    lr: float
    seed: int

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Height, width and channels."""
        height, width, channels = self.shape
        return height, width, channels

    @property
    def pixels(self) -> int:
        """Numbers in an image: height x width x channels."""
        return math.prod(self.shape)

    @property
    def scale(self) -> float:
        """Factor of the penalty: pixels divided by the published number, or 1."""
        return self.pixels / PIXELS_IN_PRINT if self.beta_scale == "per_pixel" else 1.0

    @property
    def beta_normalised(self) -> float | None:
        """Weight of K times codes over pixels (Higgins et al. 2017); None where K has no fixed weight."""
        if self.objective in ("autoencoder", "capacity"):
            return None
        beta: float = self.options.get("beta", 1.0)
        return beta * self.scale * self.latents / self.pixels


#: A code is in use if its means vary by more than this, and it is further than that from the prior, in nats.
ACTIVE_STD, ACTIVE_KL = 0.05, 0.01


def is_active(kl: Floats, std: Floats) -> Flags:
    """Return which codes are in use; where divergences are NaN, as of an autoencoder, by their spread alone.

    Examples
    --------
    >>> is_active(np.array([1.0, 0.001, np.nan]), np.array([0.9, 0.9, 0.9])).tolist()
    [True, False, True]
    """
    return (std > ACTIVE_STD) & (np.isnan(kl) | (kl > ACTIVE_KL))


# A frame has no single truth value, so a generated == would fail: runs compare by identity.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Run(Result):
    """A training: its end, its course, and the results of the model on the images.

    Attributes
    ----------
    status : {"done", "running", "interrupted", "diverged"}
        "running": read from the file of a training that was killed, or goes on elsewhere.
    steps : int
        Steps that were made.
    seconds : float
        That they took, over all calls.
    history : DataFrame
        About 200 rows: ``step``, ``loss``, ``reconstruction``, ``kl`` and ``kl_z1``, ..., ``total_correlation`` (the
        stratified estimate), ``penalty``, ``images_per_second``. All in nats per image of one batch.
    reconstruction : float
        R, the negative log-likelihood of an image given its code, in nats summed over its pixels: mean over the images
        examined, with codes drawn as in training.
    floor : float
        The least that R can be: the entropy of grey images, where the likelihood is Bernoulli.
    kl : Series of shape (latents,)
        Mean divergence of each code from the prior, in nats; NaN of an autoencoder.
    std : Series of shape (latents,)
        Standard deviation of the means of each code.
    active : Series of bool of shape (latents,)
        Which codes are in use: std above 0.05 and divergence above 0.01 nats.
    mutual_information, total_correlation : float
        Of images and codes, and of the codes, in nats: the stratified estimate; NaN of an autoencoder. ``notes`` says
        where they cannot be read.
    largest_logvar : float
        Largest log-variance that the encoder gave; NaN of an autoencoder.
    examined : int
        Images that these figures are of: all, or 5000 of a larger set.
    parameters : int
        Trained numbers of encoder and decoder.
    images : int
        Images that it was trained on.
    pixels : int
        Numbers in an image.
    likelihood : str
    beta_normalised : float or None
        Weight of the divergence times codes over pixels (Higgins et al. 2017); None where it has no fixed weight.
    problem : str
        Why it diverged; empty unless it did.
    notes : tuple of Note
        What to know before the figures are read.
    """

    _kind = "training of a VAE"
    _files: ClassVar[Mapping[str, str]] = {".history.csv": "history_frame"}

    status: Literal["done", "running", "interrupted", "diverged"]
    steps: int
    seconds: float
    history: pd.DataFrame
    reconstruction: float
    floor: float
    kl: pd.Series[float]
    std: pd.Series[float]
    active: pd.Series[bool]
    mutual_information: float
    total_correlation: float
    largest_logvar: float
    examined: int
    parameters: int
    images: int
    pixels: int
    likelihood: str
    beta_normalised: float | None
    problem: str = ""
    notes: tuple[Note, ...] = ()

    @property
    def collapsed(self) -> bool:
        """Whether no code is in use: scores of such codes are of noise. False of what was not measured yet."""
        return bool(self.examined) and not bool(self.active.any())

    document = vae_run_document

    def history_frame(self) -> pd.DataFrame:
        """Return the course of the training."""
        return self.history

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each code."""
        return pd.DataFrame({"kl": self.kl, "std": self.std, "active": self.active}).rename_axis("code").reset_index()


_NUMBER = (float, int)


def run_of(content: Mapping[str, Any], spec: TrainingSpec, parameters: int) -> Run:
    """Return the run that a file of a training, or its content in memory, tells of.

    Parameters
    ----------
    content : mapping
        As a file holds it; of a training that has not ended there are no figures yet, and they are NaN.
    spec : TrainingSpec
    parameters : int
        Number of parameters of the networks.
    """
    unknown = ("reconstruction", "floor", "mutual_information", "total_correlation", "largest_logvar")
    each = dict.fromkeys(("kl", "std"), [math.nan] * spec.latents)
    figures = dict(content["figures"] or {**dict.fromkeys(unknown, math.nan), **each, "examined": 0})
    if content["status"] not in _ENDED:
        raise ValueError(f"it is {quoted(content['status'])}")
    check_shape(content, {"status": str, "step": int, "seconds": _NUMBER, "problem": (str, type(None))})
    check_shape(figures, {**dict.fromkeys((*unknown, "examined"), _NUMBER), "kl": [_NUMBER], "std": [_NUMBER]})
    check_shape([*content["history"].values()], [[_NUMBER]])
    check_shape(spec.n, int)
    names = [f"z{number}" for number in range(1, len(figures["kl"]) + 1)]
    kl, std = np.array(figures.pop("kl")), np.array(figures.pop("std"))
    active = is_active(kl, std)
    information = figures["mutual_information"]
    return Run(
        status=content["status"],
        steps=content["step"],
        seconds=content["seconds"],
        history=pd.DataFrame(content["history"]),
        kl=pd.Series(kl, names, name="kl"),
        std=pd.Series(std, names, name="std"),
        active=pd.Series(active, names, name="active"),
        problem=content["problem"] or "",
        notes=tuple(
            _notes(content["problem"], spec.n, information, collapsed=bool(figures["examined"]) and not active.any())
        ),
        parameters=parameters,
        images=spec.n,
        pixels=spec.pixels,
        likelihood=spec.likelihood,
        beta_normalised=spec.beta_normalised,
        **figures,
    )


def _notes(problem: str, images: int, information: float, *, collapsed: bool) -> Iterator[Note]:
    """Yield what to know before the figures are read."""
    if problem:
        yield Note(code="diverged", message=problem, severity="warning")
    if collapsed:
        message = "every code collapsed to the prior: scores of these codes are of noise"
        yield Note(code="collapsed", message=message, severity="warning")
    most = math.log(images)
    if information > most - 1:
        message = (
            f"posteriors hardly overlap: the mutual information is estimated as {information:.3g} nats, near the "
            f"maximum of {most:.3g} for {images:,} images, and the total correlation takes the rest; read neither"
        )
        yield Note(code="separate-posteriors", message=message, severity="warning")


# What results about fabrics say: their documents ----------------------------------------------------------------------

_LINES = [("loss", "Loss on the training images", "number"), ("error", "Error on the training images", "percent")]


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
    figures, table = history_lines(result.history, "epoch", _LINES), _epochs(result)
    return Document(
        kind="Training of a fabric",
        headline=run_headline(result),
        tone="bad" if result.status == "diverged" else "",
        sentences=[sentence_of(result.problem)] if result.problem else [],
        figure=figures[-1] if figures else None,
        table=table,
        scope=(f"{written(result.seconds, 'number.0')} seconds",),
        sections=[Section("Training", [*figures, table])],
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


# Fabrics --------------------------------------------------------------------------------------------------------------


def fabric_document(result: FabricReport) -> Document:
    """Say how much of a fabric is left, what that gained, and how it was trained."""
    counts, times = _counts(result), _times(result)
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
        below=[times],
        scope=(
            *(count(spec[f"{noun}s"], noun) for noun in ("layer", "scale", "channel")),
            count(spec["classes"], "class", "classes"),
            count(result.run.epochs, "epoch"),
        ),
        sections=[
            Section("Measures", [counts, errors, times]),
            Section("Structure", [_prunings(result)]),
            Section("Training", [*history_lines(result.run.history, "epoch", _LINES), _epochs(result.run)]),
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


STATUSES = ("new", *_ENDED)
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

    status: Literal["new", "running", "done", "interrupted", "diverged"]
    epochs: int
    seconds: float
    history: pd.DataFrame
    problem: str = ""

    document = run_document


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
        return Path(self._held().save(path))

    def to_svg(self, path: str | Path) -> str:
        """Write the structure as a picture, links as wide as their scores are high."""
        return str(self._held().to_svg(path, scores=self.link_scores))

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
    interval = None
    if images is not None:
        low, high = map(float, score_interval(round(error * images), images))
        interval = Interval(low=low, high=high, level=0.95, method="wilson")
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
