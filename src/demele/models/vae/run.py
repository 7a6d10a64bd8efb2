"""The training of a VAE as values: its settings, how it ended, its history, and its codes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from demele.core.arrays import Flags, Floats, pd
from demele.core.errors import quoted
from demele.core.reading import check_shape
from demele.core.result import Note, Result, about
from demele.models.specs import Plain, history_lines
from demele.report.document import Document, Section, Table
from demele.report.listing import table_of_frame
from demele.report.words import count, name, written

# What the training of a VAE says: its document ------------------------------------------------------------------------

_ENDED = {"done": "is done", "running": "is not done", "interrupted": "was interrupted", "diverged": "diverged"}
LINES = [
    ("reconstruction", "Reconstruction error, nats per image", "number"),
    ("kl", "Divergence from the prior, nats per image", "number"),
    ("total_correlation", "Total correlation, nats per image", "number"),
]


def run_document(result: Run) -> Document:
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


def _headline(run: Run) -> str:
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
        A name of :data:`demele.models.vae.nets.NETWORKS`; of a user's own modules, their layers.
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

    def outputs(self, draws: bool) -> int:
        """Return how many numbers the encoder gives per image: means, and log-variances if codes are drawn."""
        return 2 * self.latents if draws else self.latents

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


Status = Literal["done", "running", "interrupted", "diverged"]


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

    status: Status
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

    document = run_document

    def history_frame(self) -> pd.DataFrame:
        """Return the course of the training."""
        return self.history

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each code."""
        return pd.DataFrame({"kl": self.kl, "std": self.std, "active": self.active}).rename_axis("code").reset_index()


_NUMBER = (float, int)
STATUSES = ("done", "running", "interrupted", "diverged")


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
    if content["status"] not in STATUSES:
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
