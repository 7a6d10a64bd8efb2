"""The public face of the family: a VAE that is fitted to an image set, encodes, decodes, and is read from a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.arrays import rng_for
from demele.core.errors import InputError, NotEnoughData, quoted
from demele.core.kinds import Count, Positive, Seed, checked, checked_pair
from demele.core.lazy import require
from demele.core.reading import parsing, path_of
from demele.core.table_columns import real_numbers, whole_array
from demele.data.images import ImageSet
from demele.data.space import Sample
from demele.models.encode import check_images
from demele.models.vae.run import Run, TrainingSpec, run_of

if TYPE_CHECKING:
    from torch import nn

    from demele.models.vae.nets import Pair


def checked_bounds(bounds: Any) -> list[float] | None:
    """Return the bounds of log-variances, if there are any.

    Raises
    ------
    InputError, InputTypeError
    """
    if bounds is None:
        return None
    finite = "finite numbers, the lower one first"
    low, high = checked_pair(bounds, "logvar_bounds", finite, inside=lambda one: abs(one) < float("inf"))
    if low >= high:
        raise InputError("logvar_bounds", f"expected {finite}, got {quoted(bounds)}")
    return [low, high]


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
        from demele.models.vae.nets import checked_network, likelihood_of
        from demele.models.vae.objectives import checked_options, objective_of

        self._network = checked_network(network)
        own = not isinstance(self._network, str)
        self._model: dict[str, Any] = {
            "objective": objective,
            "options": checked_options(objective_of(objective), options),
            "latents": latents,
            "network": " and ".join(map(repr, self._network)) if own else self._network,
            "own_networks": own,
            "init": init,
            "likelihood": likelihood_of(likelihood).name,
            "beta_scale": beta_scale,
            "logvar_bounds": checked_bounds(logvar_bounds),
        }
        self._pair: Pair | None = None
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
        from demele.models.vae.train import Training

        check_images(images)
        training = Training(
            self._spec(images, batch=batch, lr=lr, seed=seed),
            network=self._network,
            images=images,
            checkpoint=None if checkpoint is None else Path(checkpoint),
            device=device,
            threads=threads,
        )
        content = training.run(steps, on_row=on_event)
        self._take(training.pair, content)
        return cast(Run, self.run)

    def _take(self, pair: Pair, content: Mapping[str, Any]) -> None:
        """Hold trained networks, and what their training has come to."""
        from demele.models.training import parameter_count

        with parsing("checkpoint: its history or figures are not those of a training"):
            self.run = run_of(content, pair.spec, parameter_count(pair.encoder, pair.decoder))
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
        from demele.models.training import write_checkpoint
        from demele.models.vae.train import LAYOUT

        write_checkpoint(file, {**self._content, "model": pair.state()}, LAYOUT)
        return file

    def _spec(self, images: ImageSet, *, batch: int, lr: float, seed: int) -> TrainingSpec:
        n, objective = len(images), self._model["objective"]
        if batch > n:
            problem = f"expected at most as many as there are images, {n}, got {batch}; take a smaller batch"
            raise InputError("batch", problem)
        if batch < 2 and objective in ("beta_tcvae", "factor_vae", "dip_vae_i", "dip_vae_ii"):
            raise InputError("batch", f"expected at least 2 images for {objective}, which compares them, got 1")
        shape = [int(side) for side in images.shape]
        data: dict[str, Any] = {"images": images.name, "digest": images.digest, "n": n, "shape": shape}
        return TrainingSpec(**self._model, **data, batch=batch, lr=lr, seed=seed)

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
        from demele.models.encode import sample_of
        from demele.models.training import computing
        from demele.models.vae.train import posteriors

        pair = self._fitted(images)
        wanted = np.arange(len(images)) if rows is None else whole_array(rows, "rows", dimensions=1)
        if not wanted.size:
            raise NotEnoughData("rows", "expected at least 1 row of the images, got none")
        with computing(threads=None, device=str(pair.device), gradients=False):
            found = posteriors(pair, images, wanted)
        mean, std = found.mean.double().numpy(), None
        if pair.objective.draws:
            std = (found.logvar.double() / 2).exp().numpy()
        if codes == "sampled" and std is not None:
            mean, std = (
                mean + std * rng_for(seed, "sampled codes").standard_normal(mean.shape),
                None,
            )
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

        from demele.models.training import computing
        from demele.models.vae.train import batches

        pair = self._fitted()
        given = real_numbers(codes, "codes").astype(np.float32)
        if given.ndim != 2 or given.shape[1] != pair.spec.latents:
            raise InputError("codes", f"expected shape (n, {pair.spec.latents}), got {given.shape}")
        found = [np.zeros((0, *pair.spec.shape), dtype=np.float32)]
        with computing(threads=None, device=str(pair.device), gradients=False):
            for part in batches(np.arange(len(given))):
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

    def _fitted(self, images: ImageSet | None = None) -> Pair:
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
    from demele.models.vae.train import reopened

    pair, content = reopened(path_of(path), network)
    spec = pair.spec
    with parsing(f"{path}: its spec is not that of a model"):
        vae = VAE(
            spec.objective,
            latents=spec.latents,
            network=(pair.encoder, pair.decoder) if spec.own_networks else spec.network,
            likelihood=spec.likelihood,
            beta_scale=spec.beta_scale,  # type: ignore[arg-type]
            init=spec.init,  # type: ignore[arg-type]
            logvar_bounds=None if spec.logvar_bounds is None else (spec.logvar_bounds[0], spec.logvar_bounds[1]),
            **spec.options,
        )
    vae._take(pair, content)
    return vae
