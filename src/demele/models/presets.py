"""Images, network and training that go together: for a test, for a study on a laptop, and as published."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from demele.core.errors import InputError
from demele.core.names import checked_name
from demele.data import room, sprites
from demele.data.images import ImageSet
from demele.models.vae.model import VAE


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Images, a network, and the length of its training.

    Attributes
    ----------
    name : str
    network, init : str
        As of :class:`demele.lab.VAE`.
    batch, steps : int
    lr : float
    options : mapping of objective to options
        Where an option's default is that of a training of another length.
    """

    name: str
    network: str
    init: str = "torch"
    batch: int
    steps: int
    lr: float
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    _images: Callable[[], ImageSet] | None = None

    def images(self) -> ImageSet:
        """Return the images.

        Raises
        ------
        InputError
            If they are in a file, which nobody downloads.
        """
        if self._images is None:
            raise InputError(
                "preset",
                f"preset {self.name!r} is for images in files, such as those of Cars3D; read them with "
                "demele.data.load, at size=64",
            )
        return self._images()

    @property
    def is_drawn(self) -> bool:
        """Whether a formula draws the images."""
        return self._images is not None

    @property
    def training(self) -> dict[str, Any]:
        """Arguments of :meth:`demele.lab.VAE.fit`: ``steps``, ``batch``, ``lr``."""
        return {"steps": self.steps, "batch": self.batch, "lr": self.lr}

    def model(self, objective: str = "beta_vae", *, latents: int, **options: Any) -> VAE:
        """Return a model with the network of the preset, and its options of the objective unless they are given."""
        own = {"network": self.network, "init": self.init, **self.options.get(objective, {})}
        return VAE(objective, latents=latents, **{**own, **options})


def _scaled(steps: int, *, gamma: float, width: int) -> dict[str, dict[str, Any]]:
    """Options that depend on the length of a training: the capacity grows for a third of it, as published."""
    return {"capacity": {"gamma": gamma, "steps": steps // 3}, "factor_vae": {"width": width}}


_EMBEDDED: dict[str, Any] = {
    "network": "conv16",
    "batch": 32,
    "steps": 5000,
    "lr": 1e-3,
    "options": _scaled(5000, gamma=100, width=128),
}
PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            name="ci",
            network="mlp",
            batch=32,
            steps=1000,
            lr=1e-3,
            options=_scaled(1000, gamma=10, width=128),
            _images=lambda: sprites(16, (3, 3, 4, 6, 6)),
        ),
        Preset(name="embedded", **_EMBEDDED, _images=lambda: sprites(32)),
        Preset(name="embedded-room", **_EMBEDDED, _images=lambda: room(32)),
        Preset(
            name="print",
            network="dlib64",
            init="glorot",
            batch=64,
            steps=300_000,
            lr=1e-4,
            options=_scaled(300_000, gamma=1000, width=1000),
        ),
    )
}


def preset(name: str) -> Preset:
    """Return images, network and training that go together.

    Parameters
    ----------
    name : {"ci", "embedded", "embedded-room", "print"}
        ``"ci"``: 1296 sprites of 16 x 16, seconds. ``"embedded"``, ``"embedded-room"``: 20 736 images of 32 x 32, less
        than a minute of a CPU. ``"print"``: network and training of Locatello et al. 2019, for images of 64 x 64 that
        you bring, and a GPU.

    Returns
    -------
    Preset

    Raises
    ------
    UnknownNameError

    Examples
    --------
    >>> small = preset("ci")
    >>> small.model("capacity", latents=6)
    VAE('capacity', latents=6, network='mlp', c_max=25.0, gamma=10.0, steps=333; not fitted)
    >>> small.images(), small.training["steps"]
    (ImageSet(sprites: 1296 images of 16 x 16 x 1; 3 shape × 3 scale × 4 orientation × 6 x × 6 y), 1000)
    """
    return PRESETS[checked_name(name, "preset", PRESETS)]
