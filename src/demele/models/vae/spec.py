"""What a training is: everything that its numbers depend on but the number of steps, as plain values."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from demele.models.specs import Plain

#: Pixels of an image of 64 x 64 x 3, for which the strengths in print were found.
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
