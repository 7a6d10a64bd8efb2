"""What a fabric is, and what a training of one is: plain values that files hold and that can be compared."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.models.fabric.lattice import Lattice, Link, Node
from demele.models.specs import Plain

NORMALISATIONS = ("link", "node")
ACTIVATIONS = ("relu6", "relu")
#: Scales of images of 1024 pixels a side; larger ones are not for fabrics.
MOST_SCALES = 11
#: Weights of a kernel.
TAPS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricSpec(Plain):
    """The structure of a whole fabric.

    Attributes
    ----------
    layers, scales, channels : int
    image_channels, classes : int
    normalisation : {"link", "node"}
    activation : {"relu6", "relu"}
    """

    layers: int
    scales: int
    channels: int
    image_channels: int
    classes: int
    normalisation: str
    activation: str

    @property
    def image_size(self) -> int:
        """Height and width of the images: the last scale is one pixel."""
        return int(2 ** (self.scales - 1))

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Height, width and channels of the images."""
        return self.image_size, self.image_size, self.image_channels

    def lattice(self) -> Lattice:
        """Return the lattice with all links."""
        return Lattice.whole(self.layers, self.scales)

    def pixels(self, node: Node) -> int:
        """Places at which a node has a value of each channel."""
        return (self.image_size >> node.scale) ** 2

    def reached_taps(self, link: Link) -> NDArray[np.bool_]:
        """Return which weights of a kernel ever meet a pixel, (3, 3): on small maps some only meet the border."""
        side = self.image_size >> link.source.scale
        if link.kind == "up":
            side *= 2
        centres = np.arange(0, side, 2 if link.kind == "down" else 1)
        along = np.array([bool(((centres + tap >= 0) & (centres + tap < side)).any()) for tap in (-1, 0, 1)])
        return np.outer(along, along)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSpec(Plain):
    """All that changes the bits of a training but the number of epochs.

    Attributes
    ----------
    fabric : dict
        Of the :class:`FabricSpec`.
    begins : str
        Digest of the weights that it begins from.
    epoch : int
        Epochs that these have behind them.
    images : str
        Name of the image set.
    digest : str
        Digest of the image set.
    labels : str
        Digest of the labels.
    n : int
        Images.
    batch : int
    rate, momentum, weight_decay : float
    milestones : list of int
        Epochs after which the rate is divided by ten.
    seed : int
    """

    fabric: dict[str, Any]
    begins: str
    epoch: int
    images: str
    digest: str
    labels: str
    n: int
    batch: int
    rate: float
    momentum: float
    weight_decay: float
    milestones: list[int]
    seed: int

    def rate_in(self, epoch: int) -> float:
        """Return the rate of an epoch, counted from 0."""
        return self.rate / 10.0 ** sum(epoch >= one for one in self.milestones)


def check_size(spec: FabricSpec, shape: tuple[int, int, int], argument: str = "images") -> None:
    """Refuse images that a fabric has no place for.

    Raises
    ------
    InputError
    """
    if tuple(shape) != spec.image_shape:
        scales = math.log2(shape[0]) + 1 if shape[0] == shape[1] and shape[0] > 0 else math.nan
        remedy = (
            f"make the fabric with scales={int(scales)}, or give images.resized({spec.image_size})"
            if scales == int(scales or 0)
            else f"images.resized({spec.image_size}) changes height and width"
        )
        if shape[:2] == spec.image_shape[:2]:
            remedy = f"make the fabric with image_channels={shape[2]}"
        wanted, found = (" x ".join(map(str, one)) for one in (spec.image_shape, shape))
        raise InputError(argument, f"a fabric of {spec.scales} scales takes images of {wanted}, got {found}; {remedy}")
