"""Small fabrics and what they are trained on, for the tests of all that is done with them."""

import functools
from typing import Any

import numpy as np
import torch

from demele.data import ImageSet, clutter
from demele.lab import Fabric
from demele.models.fabric.network import Feed

#: A training that takes a moment, on images of 8 x 8.
TRAINED: dict[str, Any] = {"batch": 16, "milestones": (2,)}


@functools.cache
def images(n: int = 60, *, seed: int = 1) -> ImageSet:
    return clutter(n, level=0, seed=seed).resized(8)


def labels(n: int = 60) -> Any:
    return np.arange(n) % 10


def small(**options: Any) -> Fabric:
    """A fabric of two layers, four scales and four channels: 16 links."""
    return Fabric(**{"layers": 2, "scales": 4, "channels": 4, "image_channels": 1, **options})


def trained(epochs: int = 2, *, fit: Any = None, **options: Any) -> Fabric:
    fabric = small(**options)
    fabric.fit(images(), labels(), epochs=epochs, **{**TRAINED, **(fit or {})})
    return fabric


def batches(size: int = 20) -> Any:
    """What criteria are given: images as fabrics see them, and classes."""
    return list(Feed(images(40, seed=2), labels(40), "cpu").batches(size=size))


def weights(fabric: Fabric) -> dict[str, Any]:
    return {name: values.detach().numpy().copy() for name, values in fabric.network.state_dict().items()}


def disturbed(fabric: Fabric) -> Fabric:
    """The same fabric with norms that are not the identity, as after a training."""
    generator = torch.Generator().manual_seed(3)
    lowest = {"weight": 0.5, "bias": -0.5, "running_mean": -0.5, "running_var": 0.5}
    with torch.no_grad():
        for norm in (one for one in fabric.network.modules() if isinstance(one, torch.nn.BatchNorm2d)):
            for name, low in lowest.items():
                values = getattr(norm, name)
                values.copy_(torch.rand(values.shape, generator=generator) + low)
    return fabric
