"""VAEs that are fitted to an image set, encode, decode, and are read from a file; and presets that train them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.arrays import LateModule, rng_for
from demele.core.errors import InputError, NotEnoughData, quoted
from demele.core.kinds import Count, Kind, Positive, Seed, checked, checked_count, checked_name, checked_pair, number
from demele.core.lazy import require
from demele.core.reading import parsing, path_of
from demele.core.table_columns import real_numbers, whole_array
from demele.data import room, sprites
from demele.data.images import ImageSet
from demele.data.own_files import DRAWN, named_images
from demele.data.space import Sample
from demele.models.encode import check_images, sample_of
from demele.models.results import Run, TrainingSpec, run_of

if TYPE_CHECKING:
    from torch import nn

    from demele.models import training
    from demele.models.vae import objectives, train
else:
    training, train = LateModule("demele.models.training"), LateModule("demele.models.vae.train")
    objectives = LateModule("demele.models.vae.objectives")


class VAE:
    """A variational autoencoder, or one of its relatives, that is small enough to train on a CPU.

    Parameters
    ----------
    objective : str, default "beta_vae"
        What is added to the reconstruction error:

        | name | penalty | options |
        |---|---|---|
        | `autoencoder` | none; codes are not drawn | |
        | `vae` | K, the KL divergence from the prior | |
        | `beta_vae` | beta K | `beta=4` |
        | `capacity` | gamma abs(K - C), C growing from 0 | `c_max=25`, `gamma=100`, `steps=2000` |
        | `beta_tcvae` | K + (beta - 1) TC, the total correlation | `beta=4`, `estimator="mws"` |
        | `factor_vae` | K + gamma TC, by a discriminator | `gamma=10`, `width=1000`, `same_batch=False` |
        | `dip_vae_i` | K + distance of Cov(mu) from the identity | `lambda_od=2`, `lambda_d=10 lambda_od` |
        | `dip_vae_ii` | the same of Cov(z) | `lambda_od=2`, `lambda_d=lambda_od` |
        | `ada_gvae`, `ada_mlvae` | beta K of pairs of images, which share codes | `beta=1`, `changed=1` |
    latents : int
        Number of codes.
    network : str or (encoder, decoder), default "conv16"
        ``"conv16"``, ``"burgess32"`` or ``"mlp"`` for images of 16, 32 or 64 pixels, ``"dlib64"`` for 64. Or two
        ``torch.nn.Module``, which are copied: the encoder takes (n, C, H, W) in [0, 1] and returns (n, 2 latents), or
        a pair of mean and log-variance; the decoder takes (n, latents) and returns logits (n, C, H, W).
    likelihood : "bernoulli", "gaussian:STD" or Gaussian, default "bernoulli"
        Of a pixel; ``"gaussian:0.1"`` for squared errors with a standard deviation of 0.1.
    beta_scale : {"raw", "per_pixel"}, default "raw"
        With ``"per_pixel"`` the penalty is multiplied by the number of pixels over 12 288, that of 64 x 64 x 3: an
        option then is as strong as published, for any size of the images.
    init : {"torch", "glorot"}, default "torch"
        Initial weights as PyTorch's layers have them, or TensorFlow's.
    logvar_bounds : (float, float), optional
        Cut log-variances at these values; by default a training that overflows is stopped, and says so.
    **options
        Of the objective, as in the table.

    Attributes
    ----------
    run : Run or None
        What the last training has come to.

    Raises
    ------
    UnknownNameError
        For an objective, network, or other name that is not known.
    InputTypeError
        For an option that the objective does not have; the message says which has it.
    InputError
        For values that cannot be used.
    MissingExtraError
        Without PyTorch (``demele[torch]``).

    Notes
    -----
    Errors are summed over pixels and divergences over codes, as published; both are means over the batch. Adam with
    (0.9, 0.999) and eps 1e-8; images are drawn with replacement.

    Examples
    --------
    >>> import numpy as np
    >>> from demele.data import ArrayImages
    >>> pixels = np.zeros((16, 16, 16), dtype=np.uint8)
    >>> for row in range(16):
    ...     pixels[row, row] = 255  # one white line each
    >>> images = ArrayImages(pixels, factors={"height": np.arange(16) / 16})
    >>> vae = VAE("beta_vae", beta=1, latents=2, network="mlp")
    >>> run = vae.fit(images, steps=20, batch=8, seed=0)
    >>> run.status, vae.encode(images).codes.shape, vae.decode(np.zeros((1, 2))).shape
    ('done', (16, 2), (1, 16, 16, 1))
    """

    @checked
    def __init__(
        self,
        objective: str = "beta_vae",
        *,
        latents: Count,
        network: Any = "conv16",
        likelihood: Any = "bernoulli",
        beta_scale: Literal["raw", "per_pixel"] = "raw",
        init: Literal["torch", "glorot"] = "torch",
        logvar_bounds: tuple[float, float] | None = None,
        **options: Any,
    ) -> None:
        require("torch", purpose="a VAE")
        self._network = train.checked_network(network)
        own = not isinstance(self._network, str)
        if logvar_bounds is not None:
            finite = "finite numbers, the lower one first"
            ends = checked_pair(logvar_bounds, "logvar_bounds", finite, inside=lambda one: abs(one) < float("inf"))
            if ends[0] >= ends[1]:
                raise InputError("logvar_bounds", f"expected {finite}, got {quoted(logvar_bounds)}")
        self._model: dict[str, Any] = {
            "objective": objective,
            "options": objectives.checked_options(objectives.objective_of(objective), options),
            "latents": latents,
            "network": " and ".join(map(repr, self._network)) if own else self._network,
            "own_networks": own,
            "init": init,
            "likelihood": train.likelihood_of(likelihood).name,
            "beta_scale": beta_scale,
            "logvar_bounds": None if logvar_bounds is None else list(map(float, logvar_bounds)),
        }
        self._pair: train.Pair | None = None
        self._content: Mapping[str, Any] = {}
        self.run: Run | None = None

    def __repr__(self) -> str:
        own = self._model
        options = "".join(f", {name}={value!r}" for name, value in own["options"].items())
        state = "not fitted" if self.run is None else f"{self.run.status} after {self.run.steps} steps"
        network = "own networks" if own["own_networks"] else own["network"]
        return f"VAE({own['objective']!r}, latents={own['latents']}, network={network!r}{options}; {state})"

    # Training -------------------------------------------------------------------------------------------------------

    @checked
    def fit(
        self,
        images: ImageSet,
        *,
        steps: Count,
        batch: Count = 32,
        lr: Positive = 1e-3,
        seed: Seed = 0,
        checkpoint: str | Path | None = None,
        device: str = "auto",
        threads: Count | None = 1,
        on_event: Callable[[dict[str, float]], object] | None = None,
    ) -> Run:
        """Train from the beginning, or continue from a file.

        Parameters
        ----------
        images : ImageSet
            Such as ``demele.data.sprites()``; arrays are wrapped with ``demele.data.ArrayImages``.
        steps : int
            Steps in all: a file of a shorter training goes on to as many.
        batch : int, default 32
            Images of a step; for AdaVAE, pairs of images.
        lr : float, default 1e-3
            Of Adam.
        seed : int, default 0
            Of initial weights, order of the images, noise and permutations; the same seed on the same machine and
            threads gives the same bits.
        checkpoint : str or Path, optional
            One file, written every ``min(1000, steps / 5)`` steps, at the end, and on Ctrl-C. If it is there already,
            the training goes on from it to the bits that it would have had without a stop, or returns at once.
        device : str, default "auto"
            "auto" takes CUDA if there is one.
        threads : int or None, default 1
            Of PyTorch on the CPU, restored afterwards; None leaves them as they are. Small networks gain nothing
            from more.
        on_event : callable(dict), optional
            Is given each row of the history as it is made, for loggers such as TensorBoard.

        Returns
        -------
        Run
            Also when the loss overflowed (``status="diverged"``).

        Raises
        ------
        InputError, InputTypeError
            For images without a network of their size, fewer images than a batch, a file of another training, or one
            that another process writes to.
        OutputError
            If the file cannot be written; the one before stays.

        Warns
        -----
        NotConvergedWarning
            If the training diverged.
        """
        check_images(images)
        n, objective = len(images), self._model["objective"]
        if batch > n:
            problem = f"expected at most as many as there are images, {n}, got {batch}; take a smaller batch"
            raise InputError("batch", problem)
        if batch < 2 and objective in ("beta_tcvae", "factor_vae", "dip_vae_i", "dip_vae_ii"):
            raise InputError("batch", f"expected at least 2 images for {objective}, which compares them, got 1")
        shape = [int(side) for side in images.shape]
        data: dict[str, Any] = {"images": images.name, "digest": images.digest, "n": n, "shape": shape}
        fitting = train.Training(
            TrainingSpec(**self._model, **data, batch=batch, lr=lr, seed=seed),
            network=self._network,
            images=images,
            checkpoint=None if checkpoint is None else Path(checkpoint),
            device=device,
            threads=threads,
        )
        self._take(fitting.pair, fitting.run(steps, on_row=on_event))
        return cast(Run, self.run)

    def _take(self, pair: train.Pair, content: Mapping[str, Any]) -> None:
        """Hold trained networks, and what their training has come to."""
        weights = (*pair.encoder.parameters(), *pair.decoder.parameters())
        with parsing("checkpoint: its history or figures are not those of a training"):
            self.run = run_of(content, pair.spec, sum(one.numel() for one in weights))
        self._pair, self._content = pair, content

    def save(self, path: str | Path) -> Path:
        """Write the model with its weights and its training to a file, for :func:`demele.lab.load_vae`.

        The file is like the ``checkpoint`` of :meth:`fit`, which continues from it.

        Raises
        ------
        InputError
            If the model is not fitted.
        OutputError
        """
        pair, file = self._fitted(), path_of(path)
        training.write_checkpoint(file, {**self._content, "model": pair.state()}, train.LAYOUT)
        return file

    # Codes and images ------------------------------------------------------------------------------------------------

    @checked
    def encode(
        self,
        images: ImageSet,
        rows: ArrayLike | None = None,
        codes: Literal["mean", "sampled"] = "mean",
        *,
        seed: Seed = 0,
    ) -> Sample:
        """Return codes and factors of images.

        Parameters
        ----------
        images : ImageSet
        rows : array-like of int, optional
            Which; all by default.
        codes : {"mean", "sampled"}, default "mean"
            Means of the posteriors, or one draw from each.
        seed : int, default 0
            Random seed of the draws.

        Returns
        -------
        Sample
            ``codes`` z1, z2, ...; ``factors``; ``codes_std``, the standard deviations of the posteriors, unless the
            model has none or codes are draws.

        Raises
        ------
        InputError
            If the model is not fitted, images are of another shape, or the encoder gives what is not finite: with the
            first row and its factors.
        """
        pair = self._fitted(images)
        wanted = np.arange(len(images)) if rows is None else whole_array(rows, "rows", dimensions=1)
        if not wanted.size:
            raise NotEnoughData("rows", "expected at least 1 row of the images, got none")
        with training.computing(threads=None, device=str(pair.device), gradients=False):
            found = train.posteriors(pair, images, wanted)
        mean = found.mean.double().numpy()
        std = (found.logvar.double() / 2).exp().numpy() if pair.objective.draws else None
        if codes == "sampled" and std is not None:
            mean, std = mean + std * rng_for(seed, "sampled codes").standard_normal(mean.shape), None
        steps = 0 if self.run is None else self.run.steps
        told = f"{codes.capitalize()} codes of {images.name} by {self._model['objective']}, {steps} steps."
        return sample_of(mean, std, images, wanted, provenance=told)

    def decode(self, codes: ArrayLike) -> NDArray[np.float32]:
        """Return the decoded images of codes.

        Parameters
        ----------
        codes : array-like of shape (n, latents)

        Returns
        -------
        array of float32 of shape (n, height, width, channels)
            Mean pixels, in [0, 1].

        Raises
        ------
        InputError
            If the model is not fitted, or codes are of another shape.
        """
        import torch

        pair = self._fitted()
        given = real_numbers(codes, "codes").astype(np.float32)
        if given.ndim != 2 or given.shape[1] != pair.spec.latents:
            raise InputError("codes", f"expected shape (n, {pair.spec.latents}), got {given.shape}")
        found = [np.zeros((0, *pair.spec.shape), dtype=np.float32)]
        with training.computing(threads=None, device=str(pair.device), gradients=False):
            for part in train.batches(np.arange(len(given))):
                pixels = torch.sigmoid(pair.decoder(torch.from_numpy(given[part]).to(pair.device)))
                found.append(pixels.permute(0, 2, 3, 1).cpu().numpy())
        return np.concatenate(found)

    def reconstruct(self, images: ImageSet, rows: ArrayLike) -> NDArray[np.float32]:
        """Return reconstructions of images: the decoded means of their codes.

        Parameters
        ----------
        images : ImageSet
        rows : array-like of int of shape (k,)

        Returns
        -------
        array of float32 of shape (k, height, width, channels)
            In [0, 1].

        Raises
        ------
        InputError
            As :meth:`encode`.
        """
        return self.decode(self.encode(images, rows).codes.to_numpy())

    @property
    def encoder(self) -> nn.Module:
        """The trained encoder: (n, C, H, W) in [0, 1] to (n, 2 latents), means before log-variances."""
        return self._fitted().encoder

    @property
    def decoder(self) -> nn.Module:
        """The trained decoder: (n, latents) to logits (n, C, H, W)."""
        return self._fitted().decoder

    @property
    def spec(self) -> TrainingSpec:
        """The training: the model, its images and their digest, and its settings."""
        return self._fitted().spec

    def _fitted(self, images: ImageSet | None = None) -> train.Pair:
        if self._pair is None:
            raise InputError("the model is not fitted; call fit first, or read a file with demele.lab.load_vae")
        if images is not None:
            check_images(images)
            wanted = self._pair.spec.image_shape
            if tuple(images.shape) != wanted:
                raise InputError(
                    "images",
                    f"expected {' x '.join(map(str, wanted))}, the size that the model was trained on, got "
                    f"{' x '.join(map(str, images.shape))}; images.resized({wanted[0]}) changes height and width",
                )
        return self._pair


def load_vae(path: str | Path, *, network: Any = None) -> VAE:
    """Return the model that a training left in a file; nothing in the file is run.

    Parameters
    ----------
    path : str or Path
        What :meth:`VAE.save` wrote, or the ``checkpoint`` of :meth:`VAE.fit`; of this or another version of demele.
    network : (encoder, decoder), optional
        Modules of the same layers, if the model was trained with modules of your own: a file holds no classes.

    Returns
    -------
    VAE
        With its ``run``; on the CPU.

    Raises
    ------
    InputError, FormatError
        If there is no such file, it is no training, or modules of your own are missing.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from demele.data import ArrayImages
    >>> images = ArrayImages(np.zeros((8, 16, 16), dtype=np.uint8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     vae = VAE("vae", latents=2, network="mlp")
    ...     run = vae.fit(images, steps=5, batch=4)
    ...     load_vae(vae.save(f"{folder}/run"))
    VAE('vae', latents=2, network='mlp'; done after 5 steps)
    """
    require("torch", purpose="a VAE")
    pair, content = train.reopened(path_of(path), network)
    spec = pair.spec
    with parsing(f"{path}: its spec is not that of a model"):
        names = ("objective", "latents", "likelihood", "beta_scale", "init", "logvar_bounds")
        own: dict[str, Any] = {name: getattr(spec, name) for name in names}
        vae = VAE(network=(pair.encoder, pair.decoder) if spec.own_networks else spec.network, **own, **spec.options)
    vae._take(pair, content)
    return vae


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
        return named_images(images, spec.shape[0] if images in DRAWN and image_size is None else image_size)
    known: list[Callable[[], ImageSet]] = [item.images for item in PRESETS.values() if item.name != "print"]
    known += [partial(named_images, name, spec.shape[0]) for name in DRAWN]
    for draw in known:
        with contextlib.suppress(InputError):  # squares and clutter are not drawn in every size
            if (found := draw()).digest == spec.digest:
                return found
    raise InputError(
        "images", f"the model was trained on {spec.images}, which no name stands for; give its file or folder"
    )
