"""VAEs with the settings of presets, trained and kept in files, and images encoded with them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from demele.core.errors import InputError
from demele.core.kinds import Kind, checked_count, checked_name, number
from demele.core.reading import path_of
from demele.data import room, sprites
from demele.data.images import ImageSet
from demele.data.own_files import DRAWN, named_images
from demele.data.space import Sample
from demele.models.vae.model import VAE, load_vae
from demele.models.vae.run import Run

# Images, network and training that go together ------------------------------------------------------------------------


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


def _bounds(text: str) -> tuple[float, ...]:
    if text.count(",") != 1:
        raise InputError(f"expected LOW,HIGH, such as -10,10, got {text!r}")
    return tuple(map(number, text.split(",")))


def train_vae(
    images: ImageSet | str | Path | None = None,
    *,
    image_size: int | None = None,
    preset: Literal["ci", "embedded", "embedded-room", "print"] = "embedded",
    objective: str = "beta_vae",
    beta: float | None = None,
    latents: int = 10,
    network: str | None = None,
    steps: int | None = None,
    batch: int | None = None,
    lr: float | None = None,
    seed: int = 0,
    device: str = "auto",
    threads: int = 1,
    checkpoint: Annotated[str | Path | None, Kind("FILE", Path)] = None,
    gamma: float | None = None,
    c_max: float | None = None,
    capacity_steps: int | None = None,
    lambda_od: float | None = None,
    lambda_d: float | None = None,
    estimator: str | None = None,
    width: int | None = None,
    same_batch: bool = False,
    changed: int | None = None,
    likelihood: str | None = None,
    beta_scale: Literal["raw", "per_pixel"] | None = None,
    init: Literal["torch", "glorot"] | None = None,
    logvar_bounds: Annotated[tuple[float, float] | None, Kind("LOW,HIGH", _bounds)] = None,
) -> Run:
    """Train a VAE on images, and keep it in a file.

    The same call continues where it was stopped, to the same bits; with more steps it goes on from where it ended.

    Parameters
    ----------
    images : ImageSet, str or Path, optional
        As of :func:`demele.data.own_files.named_images`; by default those of the preset.
    image_size : int, optional
        Height and width (default: 32 where drawn, else as they are).
    preset : {"ci", "embedded", "embedded-room", "print"}
        Images, network and training that go together. ``ci``: 1,000 steps. ``print``: the published training, with
        images of 64 x 64.
    objective : str
        Objective of the training. autoencoder: no penalty. vae: K, the KL divergence from the prior. beta_vae: beta K
        (``beta``). capacity: gamma abs(K - C), C growing from 0 (``c_max``, ``gamma``, ``capacity_steps``).
        beta_tcvae: K + (beta - 1) total correlation (``beta``, ``estimator``). factor_vae: K + gamma total correlation,
        by a discriminator (``gamma``, ``width``, ``same_batch``). dip_vae_i and dip_vae_ii: K + distance of the
        covariance from the identity (``lambda_od``, ``lambda_d``). ada_gvae and ada_mlvae: beta K of pairs of images
        (``beta``, ``changed``).
    beta : float, optional
        Strength of the penalty.
    latents : int
        Number of codes.
    network : str, optional
        Network: conv16, burgess32, dlib64 or mlp (default: by preset).
    steps : int, optional
        Steps in all (default: by preset).
    batch : int, optional
        Images of a step (default: by preset).
    lr : float, optional
        Learning rate of Adam (default: by preset).
    seed : int
        Random seed.
    device : str
        Device: auto, cpu or cuda.
    threads : int
        Threads on the CPU.
    checkpoint : str or Path
        File that keeps the training. If it exists, the training continues.
    gamma : float, optional
        Strength of capacity and factor_vae.
    c_max : float, optional
        Largest capacity, in nats.
    capacity_steps : int, optional
        Steps until the largest capacity is reached.
    lambda_od : float, optional
        Strength of DIP-VAE off the diagonal.
    lambda_d : float, optional
        Strength of DIP-VAE on the diagonal.
    estimator : str, optional
        Estimator of the total correlation: mws, stratified or batch.
    width : int, optional
        Width of the layers of the discriminator.
    same_batch : bool
        Train the discriminator with one batch, not two.
    changed : int, optional
        Factors that differ in a pair (default: 1).
    likelihood : str, optional
        Likelihood of a pixel: bernoulli, or gaussian:STD.
    beta_scale : {"raw", "per_pixel"}, optional
        Scale of the penalty; per_pixel: as at 64 x 64 x 3.
    init : {"torch", "glorot"}, optional
        Initial weights.
    logvar_bounds : (float, float), optional
        Bounds of the log-variances (default: none).

    Returns
    -------
    Run
        :func:`demele.lab.load_vae` reads the model from the file.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError, FormatError, OutputError, MissingExtraError

    Examples
    --------
    >>> import tempfile
    >>> from demele import lab
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = lab.train_vae("squares", image_size=16, preset="ci", steps=2, checkpoint=f"{folder}/run")
    >>> run.sentence.partition(":")[0]
    'The training is done after 2 steps'
    """
    if checkpoint is None:
        raise InputError("checkpoint", "expected the file that keeps the training, such as `run`")
    if capacity_steps is not None:
        checked_count(capacity_steps, "capacity_steps", 1)
    chosen, file = PRESETS[checked_name(preset, "preset", PRESETS)], path_of(checkpoint, "checkpoint")
    options = _given(
        beta=beta, gamma=gamma, c_max=c_max, steps=capacity_steps, lambda_od=lambda_od, lambda_d=lambda_d, width=width,
        estimator=estimator, same_batch=same_batch or None, changed=changed, network=network, likelihood=likelihood,
        beta_scale=beta_scale, init=init, logvar_bounds=logvar_bounds,
    )  # fmt: skip
    vae = chosen.model(objective, latents=latents, **options)
    training = {**chosen.training, **_given(steps=steps, batch=batch, lr=lr)}
    shown = named_images(chosen.images() if images is None else images, image_size)
    return vae.fit(shown, **training, seed=seed, device=device, threads=threads, checkpoint=file)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def encode_images(
    checkpoint: str | Path,
    images: ImageSet | str | Path | None = None,
    *,
    image_size: int | None = None,
    codes: Literal["mean", "sampled"] = "mean",
    seed: int = 0,
) -> Sample:
    """Encode images with a trained VAE.

    Parameters
    ----------
    checkpoint : str or Path
        The file of :func:`train_vae`.
    images : ImageSet, str or Path, optional
        By default those that it was trained on, if a formula draws them.
    image_size : int, optional
        Height and width (default: those of the model).
    codes : {"mean", "sampled"}
        Means of the codes, or draws.
    seed : int
        Random seed of the draws.

    Returns
    -------
    Sample

    Raises
    ------
    InputError, FormatError, MissingExtraError

    Examples
    --------
    >>> import tempfile
    >>> from demele import lab
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = lab.train_vae("squares", image_size=16, preset="ci", steps=2, checkpoint=f"{folder}/run")
    ...     sample = lab.encode_images(f"{folder}/run")
    >>> sample.codes.shape
    (4096, 10)
    """
    vae = load_vae(checkpoint)
    return vae.encode(images_for(vae, images, image_size), codes=codes, seed=seed)


def images_for(vae: VAE, images: ImageSet | str | Path | None, image_size: int | None) -> ImageSet:
    """Return images of the size that a model takes; without any, those of its training, if a formula draws them.

    Raises
    ------
    InputError, FormatError
    """
    spec = vae.spec
    if images is not None:
        drawn = images in DRAWN and image_size is None
        return named_images(images, spec.shape[0] if drawn else image_size)
    known: list[Callable[[], ImageSet]] = [item.images for item in PRESETS.values() if item.name != "print"]
    known += [partial(named_images, name, spec.shape[0]) for name in DRAWN]
    for draw in known:
        with contextlib.suppress(InputError):  # squares and clutter are not drawn in every size
            if (found := draw()).digest == spec.digest:
                return found
    raise InputError(
        "images", f"the model was trained on {spec.images}, which no name stands for; give its file or folder"
    )
