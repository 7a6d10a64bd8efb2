"""Fabrics and trainings that go together: for a test, for a study on a laptop, and as published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
        Arguments of :meth:`demele.models.Fabric.fit`.
    """

    name: str
    layers: int
    scales: int
    channels: int
    training: Mapping[str, Any]

    def fabric(self, **options: Any) -> Fabric:
        """Return an untrained fabric; options are those of :class:`demele.models.Fabric`, such as ``seed``."""
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
    >>> from demele.models import fabric_preset
    >>> chosen = fabric_preset("ci")
    >>> chosen.fabric(image_channels=1)
    Fabric(3 layers, 5 scales, 8 channels: 34 of 34 links, 20,586 parameters; new)
    >>> chosen.training["epochs"], chosen.training["milestones"]
    (5, (3, 4))
    """
    return PRESETS[checked_name(name, "name", PRESETS)]
