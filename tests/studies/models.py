"""A set of squares at all places, and a perfect model of it: codes are the places, the decoder draws there."""

import functools
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from demele import lab
from demele.data import ArrayImages, FactorSpace, ImageSet, Sample

PLACES = 6
QUICK: dict[str, Any] = {"metrics": ["mig", "modularity"], "n_bootstrap": 5, "n_permutations": 2, "forest": 2}


@functools.cache
def squares(channels: int = 1) -> ImageSet:
    space = FactorSpace({"x": np.arange(PLACES) / 1.0, "y": np.arange(PLACES) / 1.0, "shade": 3})
    positions = space.positions(np.arange(len(space)))
    codes = np.column_stack([positions[:, 0], positions[:, 1], positions[:, 2]]) / 1.0
    return ArrayImages(np.rint(drawn(codes, channels) * 255).astype(np.uint8), space=space, name="squares")


def drawn(codes: NDArray[Any], channels: int = 1) -> NDArray[np.float64]:
    """Draw a square of 2 pixels; codes: x, y in places, shade from 0 to 2; further codes do nothing."""
    across, down = (np.clip(np.rint(codes[:, axis]).astype(int), 0, PLACES - 1) for axis in (0, 1))
    images = np.zeros((len(codes), 8, 8, channels))
    for image, x, y, shade in zip(images, across, down, np.clip(codes[:, 2], 0, 2), strict=True):
        image[y : y + 2, x : x + 2] = (1 + shade) / 3
    return images


def perfect_sample(*, extra: int = 1, n: int | None = None) -> Sample:
    """Codes x, y and shade, and one of noise that the decoder does not look at."""
    images = squares()
    positions = images.positions()[:n].astype(float)
    noise = np.random.default_rng(0).normal(scale=0.01, size=(len(positions), extra))
    codes = pd.DataFrame(np.column_stack([positions, noise]), columns=[f"z{j + 1}" for j in range(3 + extra)])
    std = pd.DataFrame(np.where(np.arange(3 + extra) < 3, 0.1, 1.0) * np.ones_like(codes), columns=codes.columns)
    return Sample(codes, images.factors(np.arange(len(codes))), "Places of squares.", codes_std=std)


def examined(**changed: Any) -> lab.Examination:
    return lab.examine(perfect_sample(), squares(), **{"decode": drawn, **QUICK, **changed})
