"""A tiny image set: squares of four sizes at six by six places, and trainings of it that take a moment."""

import functools
from typing import Any

import numpy as np

from demele.data import ArrayImages, FactorSpace, ImageSet
from demele.lab import VAE, Run


@functools.cache
def squares(size: int = 16) -> ImageSet:
    space = FactorSpace({"side": [2.0, 3.0, 4.0, 5.0], "x": np.arange(6.0), "y": np.arange(6.0)})
    pixels = np.zeros((len(space), size, size), dtype=np.uint8)
    for image, (side, x, y) in zip(pixels, space.positions(np.arange(len(space))), strict=True):
        image[2 * y : 2 * y + side + 2, 2 * x : 2 * x + side + 2] = 255
    return ArrayImages(pixels, space=space, name="squares")


def fitted(objective: str = "vae", *, steps: int = 20, fit: Any = None, **given: Any) -> tuple[VAE, Run]:
    """A small model after a few steps; ``fit``: arguments of its training."""
    vae = VAE(objective, **{"latents": 3, "network": "mlp", **given})
    return vae, vae.fit(squares(), steps=steps, **{"batch": 8, **(fit or {})})


def weights(vae: VAE) -> list[Any]:
    """All trained numbers."""
    return [one.detach().numpy().copy() for part in (vae.encoder, vae.decoder) for one in part.parameters()]
