"""What a training has come to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from demele.core.shown import Worded
from demele.core.written import Written, plain
from demele.models.vae.active import is_active
from demele.models.vae.spec import TrainingSpec

if TYPE_CHECKING:
    import pandas as pd

Status = Literal["done", "running", "interrupted", "diverged"]


# A frame has no single truth value, so a generated == would fail: runs compare by identity.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run(Written, Worded):
    """A training: how it ended, what it passed through, and what the model does on the images.

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
    """

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

    @property
    def collapsed(self) -> bool:
        """Whether no code is in use: scores of such codes are of noise. False of what was not measured yet."""
        return bool(self.examined) and not bool(self.active.any())

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before the figures are read, in sentences."""
        found = [self.problem] if self.problem else []
        if self.collapsed:
            found.append("every code collapsed to the prior: scores of these codes are of noise")
        most = math.log(self.images)
        if self.mutual_information > most - 1:
            found.append(
                f"posteriors hardly overlap: the mutual information is estimated as {self.mutual_information:.3g} "
                f"nats, near the most that {self.images:,} images allow, {most:.3g}, and the total correlation takes "
                "the rest; read neither"
            )
        return tuple(found)

    @property
    def sentence(self) -> str:
        """How the training ended, and what the codes came to."""
        went = {"done": "is done", "running": "is not done", "interrupted": "was interrupted", "diverged": "diverged"}
        told = f"The training {went[self.status]} after {self.steps:,} steps"
        if not self.examined:
            return f"{told}, before anything was measured."
        used = f"{int(self.active.sum())} of {len(self.active)} codes are in use"
        return f"{told}: {used}, and an image costs {self.reconstruction:.4g} nats (at least {self.floor:.4g})."

    def _rows_shown(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame({"nats": self.kl, "deviation of means": self.std, "in use": self.active})

    def __repr__(self) -> str:
        if not self.examined:
            return f"Run({self.status} after {self.steps} steps, before anything was measured)"
        used = f"{int(self.active.sum())} of {len(self.active)} codes in use"
        figures = f"R {self.reconstruction:.4g} (floor {self.floor:.4g}), K {self.kl.sum(skipna=False):.3g} nats"
        return f"Run({self.status} after {self.steps} steps; {figures}, {used})"

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None)."""
        data = {name: getattr(self, name) for name in self.__slots__}
        frames: dict[str, Any] = {name: data[name].to_dict() for name in ("kl", "std", "active")}
        frames["notes"] = self.notes
        found: dict[str, Any] = plain({**data, **frames, "history": self.history.to_dict(orient="list")})
        return found


def run_of(content: Mapping[str, Any], spec: TrainingSpec, parameters: int) -> Run:
    """Return the run that a file of a training, or its content in memory, tells of.

    Parameters
    ----------
    content : mapping
        As a file holds it; of a training that has not ended there are no figures yet, and they are NaN.
    spec : TrainingSpec
    parameters : int
        Of the networks.
    """
    import pandas as pd

    unknown = ("reconstruction", "floor", "mutual_information", "total_correlation", "largest_logvar")
    each = dict.fromkeys(("kl", "std"), [math.nan] * spec.latents)
    figures = dict(content["figures"] or {**dict.fromkeys(unknown, math.nan), **each, "examined": 0})
    names = [f"z{number}" for number in range(1, len(figures["kl"]) + 1)]
    kl, std = np.array(figures.pop("kl")), np.array(figures.pop("std"))
    return Run(
        status=content["status"],
        steps=content["step"],
        seconds=content["seconds"],
        history=pd.DataFrame(content["history"]),
        kl=pd.Series(kl, names, name="kl"),
        std=pd.Series(std, names, name="std"),
        active=pd.Series(is_active(kl, std), names, name="active"),
        problem=content["problem"] or "",
        parameters=parameters,
        images=spec.n,
        pixels=spec.pixels,
        likelihood=spec.likelihood,
        beta_normalised=spec.beta_normalised,
        **figures,
    )
