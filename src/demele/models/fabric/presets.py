"""Fabrics and trainings that go together: for a test, for a study on a laptop, as published, and for annotators."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.core.checked_numbers import checked_count, is_number
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.names import checked_name
from demele.models.fabric.model import Fabric


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricPreset:
    """A structure and its training.

    Attributes
    ----------
    name : str
    layers, scales, channels : int
    training : mapping of str to value
        Arguments of :meth:`demele.lab.Fabric.fit`.
    """

    name: str
    layers: int
    scales: int
    channels: int
    training: Mapping[str, Any]

    def fabric(self, **options: Any) -> Fabric:
        """Return an untrained fabric; options are those of :class:`demele.lab.Fabric`, such as ``seed``."""
        own = {"layers": self.layers, "scales": self.scales, "channels": self.channels}
        return Fabric(**{**own, **options})


def _training(epochs: int, first: int, second: int) -> dict[str, Any]:
    """Return a training with a rate of 0.1 that is divided by ten twice, in batches of 64."""
    own = {"batch": 64, "rate": 0.1, "momentum": 0.9, "weight_decay": 5e-4}
    return {"epochs": epochs, "milestones": (first, second), **own}


PRESETS: Mapping[str, FabricPreset] = {
    one.name: one
    for one in (
        FabricPreset(name="ci", layers=3, scales=5, channels=8, training=_training(5, 3, 4)),
        FabricPreset(name="embedded", layers=4, scales=5, channels=16, training=_training(10, 6, 8)),
        FabricPreset(name="print", layers=8, scales=6, channels=64, training=_training(200, 80, 120)),
        FabricPreset(name="annotator", layers=8, scales=6, channels=64, training=_training(200, 50, 80)),
    )
}


def fabric_preset(name: str) -> FabricPreset:
    """Return a structure and a training that go together.

    Parameters
    ----------
    name : {"ci", "embedded", "print", "annotator"}
        ``"ci"``: 34 links of 8 channels for 16 x 16, five epochs, seconds. ``"embedded"``: 47 links of 16 channels for
        16 x 16, ten epochs, about a minute for 8000 images on a CPU. ``"print"``: the published fabric for 32 x 32, 200
        epochs, and a GPU. ``"annotator"``: the same with the earlier steps of fabrics that replace human annotators.

    Returns
    -------
    FabricPreset

    Raises
    ------
    UnknownNameError

    Examples
    --------
    >>> from demele.lab import fabric_preset
    >>> chosen = fabric_preset("ci")
    >>> chosen.fabric(image_channels=1)
    Fabric(3 layers, 5 scales, 8 channels: 34 of 34 links, 20,586 parameters; new)
    >>> chosen.training["epochs"], chosen.training["milestones"]
    (5, (3, 4))
    """
    return PRESETS[checked_name(name, "name", PRESETS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorRecipe:
    """Distribution of random fabrics, their training, and the epochs at which they are examined.

    Attributes
    ----------
    layers : (int, int)
        Fewest and most layers, from 2; each number between is as likely.
    channels : tuple of int
        One of them.
    pruned : (float, float)
        Share of the links that goes at random before the training, uniform, in [0, 1).
    rate : (float, float)
        Learning rate, its logarithm uniform.
    epochs : int
        At most.
    milestones : tuple of int
        Epochs after which the rate is divided by ten.
    batch : int
        Images at a time.
    momentum, weight_decay : float
    first_epoch : int
        Epochs before the first look.
    every : int or None
        Steps between two looks; None looks at the end of each epoch.

    Raises
    ------
    InputError, InputTypeError

    Examples
    --------
    >>> from dataclasses import replace
    >>> replace(annotator_recipe(), epochs=12, every=4).rate
    (0.02, 0.1)
    """

    layers: tuple[int, int]
    channels: tuple[int, ...]
    pruned: tuple[float, float]
    rate: tuple[float, float]
    epochs: int
    milestones: tuple[int, ...]
    batch: int
    momentum: float
    weight_decay: float
    first_epoch: int
    every: int | None

    def __post_init__(self) -> None:
        _check_range(self.layers, "layers", "from 2", lambda one: isinstance(one, int) and one >= 2)
        _check_range(self.pruned, "pruned", "in [0, 1)", lambda one: 0 <= one < 1)
        _check_range(self.rate, "rate", "above 0", lambda one: 0 < one < math.inf)
        if not isinstance(self.channels, tuple) or not self.channels:
            raise InputError("channels", f"expected a tuple of numbers of channels, got {quoted(self.channels)}")
        for one in (*self.channels, self.epochs, *([] if self.every is None else [self.every])):
            checked_count(one, "channels, epochs and every", 1)
        checked_count(self.batch, "batch", 2)
        for one in (self.first_epoch, *self.milestones):
            checked_count(one, "first_epoch and milestones", 0)
        if self.first_epoch >= self.epochs:
            raise InputError("first_epoch", f"expected fewer than the {self.epochs} epochs, got {self.first_epoch}")

    def draw(self, rng: np.random.Generator) -> dict[str, Any]:
        """Return layers, channels, share of links to prune, rate and seed of one fabric, by name."""
        low, high = map(math.log10, self.rate)
        return {
            "layers": int(rng.integers(self.layers[0], self.layers[1] + 1)),
            "channels": int(self.channels[int(rng.integers(len(self.channels)))]),
            "pruned": float(rng.uniform(*self.pruned)),
            "rate": float(10 ** rng.uniform(low, high)),
            "seed": int(rng.integers(2**31)),
        }

    def rate_in(self, epoch: int, rate: float) -> float:
        """Return the rate of an epoch, counted from 0, of a fabric that began with a rate."""
        return rate / 10.0 ** sum(epoch >= one for one in self.milestones)


def _check_range(given: Any, argument: str, which: str, inside: Callable[[Any], bool]) -> None:
    if not isinstance(given, tuple) or len(given) != 2 or not all(is_number(one) and inside(one) for one in given):
        raise InputError(argument, f"expected (low, high), both {which}, got {quoted(given)}")
    if given[0] > given[1]:
        raise InputError(argument, f"expected the lower end first, got {quoted(given)}")


_PRINT = PRESETS["annotator"].training
RECIPES: Mapping[str, AnnotatorRecipe] = {
    "embedded": AnnotatorRecipe(
        layers=(2, 6),
        channels=(8, 16, 32),
        pruned=(0.0, 0.9),
        rate=(0.02, 0.1),
        epochs=8,
        milestones=(),
        batch=64,
        momentum=0.9,
        weight_decay=5e-4,
        first_epoch=0,
        every=4,
    ),
    "print": AnnotatorRecipe(
        layers=(4, 16),
        channels=(8, 16, 32, 64, 128),
        pruned=(0.0, 0.9),
        rate=(0.1, 0.1),
        first_epoch=10,
        every=None,
        **{name: _PRINT[name] for name in ("epochs", "milestones", "batch", "momentum", "weight_decay")},
    ),
}


def annotator_recipe(name: str = "embedded") -> AnnotatorRecipe:
    """Return a recipe for random fabrics and their training; ``dataclasses.replace`` changes a part.

    Parameters
    ----------
    name : {"embedded", "print"}
        ``"embedded"``: 2 to 6 layers of 8 to 32 channels, looked at every few steps of a few epochs: for 1000 to 2000
        images of 8 or 16 pixels, which fabrics learn within the first epochs. ``"print"``: 4 to 16 layers of 8 to 128
        channels, 200 epochs, looked at after each from the tenth on: for a GPU, and images on which errors stay for so
        long.

    Returns
    -------
    AnnotatorRecipe

    Raises
    ------
    UnknownNameError

    Notes
    -----
    Source: Benjelloun, section 6.5.2; the embedded sizes are ours.

    Examples
    --------
    >>> annotator_recipe("print").channels
    (8, 16, 32, 64, 128)
    """
    return RECIPES[checked_name(name, "recipe", RECIPES)]


def checked_recipe(given: Any) -> AnnotatorRecipe:
    """Return a recipe, by name or as it is.

    Raises
    ------
    UnknownNameError, InputTypeError
    """
    if isinstance(given, AnnotatorRecipe):
        return given
    if not isinstance(given, str):
        raise InputTypeError(
            "recipe", f"expected a name or an AnnotatorRecipe, got {type(given).__name__}; see annotator_recipe"
        )
    return annotator_recipe(given)
