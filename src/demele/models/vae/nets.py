"""Encoders and decoders: networks by name, likelihoods, and the pair that a spec describes."""

import copy
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.core.arrays import rng_for
from demele.core.errors import FormatError, InputError, InputTypeError, UnknownNameError, quoted
from demele.core.kinds import checked_name, checked_size, suggestion
from demele.core.lazy import require
from demele.models.training import initialised
from demele.models.vae.objectives import Objective, Posterior, objective_of
from demele.models.vae.run import TrainingSpec

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
else:
    torch = require("torch", purpose="a VAE")
    Tensor, nn = torch.Tensor, torch.nn


# Likelihoods ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bernoulli:
    """Each pixel is a probability; images may be grey. The least that an image can cost is its entropy, not 0.

    Examples
    --------
    >>> grey = torch.full((1, 1, 1, 1), 0.5)
    >>> round(Bernoulli().errors(torch.zeros(1, 1, 1, 1), grey).item(), 4)  # log 2
    0.6931
    """

    @property
    def name(self) -> str:
        """As :func:`likelihood_of` reads it."""
        return "bernoulli"

    def errors(self, logits: Tensor, images: Tensor) -> Tensor:
        """Return -log p(x | z) of each image, in nats, summed over its pixels.

        Parameters
        ----------
        logits : tensor of shape (n, C, H, W)
            What the decoder returns.
        images : tensor of the same shape, in [0, 1]

        Returns
        -------
        tensor of shape (n,)
        """
        entropies = torch.nn.functional.binary_cross_entropy_with_logits(logits, images, reduction="none")
        return entropies.flatten(1).sum(dim=1)

    def floor(self, images: Tensor) -> Tensor:
        """Return the least that each image can cost: that of a decoder that returns the image itself."""
        return -(torch.xlogy(images, images) + torch.xlogy(1 - images, 1 - images)).flatten(1).sum(dim=1)


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Each pixel is the sigmoid of the decoder's output with normal noise of one standard deviation.

    Parameters
    ----------
    std : float > 0
        In units of the pixels, whose range is [0, 1]. The squared error of disentanglement_lib is that of
        std^2 = 1/2, without the constant.

    Raises
    ------
    InputError

    Examples
    --------
    >>> black = torch.zeros(1, 1, 1, 1)
    >>> round(Gaussian(std=0.5).errors(black, black).item(), 4)  # (1/2)^2 / (2 / 4) + log(sqrt(2 pi) / 2)
    0.7258
    """

    std: float

    def __post_init__(self) -> None:
        checked_size(self.std, "std")

    @property
    def name(self) -> str:
        """As :func:`likelihood_of` reads it."""
        return f"gaussian:{self.std!r}"

    def errors(self, logits: Tensor, images: Tensor) -> Tensor:
        """Return -log p(x | z) of each image, in nats, summed over its pixels; see :meth:`Bernoulli.errors`."""
        squares = (images - torch.sigmoid(logits)).square() / (2 * self.std**2)
        return squares.flatten(1).sum(dim=1) + self._constant(images)

    def floor(self, images: Tensor) -> Tensor:
        """Return the least that each image can cost: that of a decoder that returns the image itself."""
        return torch.full((len(images),), self._constant(images), dtype=images.dtype, device=images.device)

    def _constant(self, images: Tensor) -> float:
        return images[0].numel() * math.log(self.std * math.sqrt(2 * math.pi))


Likelihood = Bernoulli | Gaussian


def likelihood_of(given: Any) -> Likelihood:
    """Return the likelihood that was asked for: one of the classes above, or its name.

    Parameters
    ----------
    given : Bernoulli, Gaussian, "bernoulli", or "gaussian:" and a standard deviation

    Raises
    ------
    InputError, InputTypeError, UnknownNameError

    Examples
    --------
    >>> likelihood_of("gaussian:0.1")
    Gaussian(std=0.1)
    """
    if isinstance(given, Bernoulli | Gaussian):
        return given
    if not isinstance(given, str):
        raise InputTypeError("likelihood", f"expected 'bernoulli' or Gaussian(std=...), got {quoted(given)}")
    name, _, std = given.partition(":")
    if name == "bernoulli" and not std:
        return Bernoulli()
    if name != "gaussian":
        known = suggestion(given, ["bernoulli", "gaussian"])
        raise UnknownNameError("likelihood", f"unknown likelihood {quoted(given)}{known}")
    try:
        return Gaussian(float(std))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            "likelihood", f"expected a standard deviation, as in 'gaussian:0.1', got {quoted(given)}"
        ) from error


#: (height, width, channels) of the images.
Shape = tuple[int, int, int]
#: Sides of the images that the networks take.
SIZES = (16, 32, 64)

# Networks by name -----------------------------------------------------------------------------------------------------


def _dense(*widths: int) -> list[nn.Module]:
    """Fully connected layers, each followed by a ReLU."""
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return layers


def _convolutional(shape: Shape, outputs: int, latents: int, *, width: int, dense: int) -> tuple[nn.Module, nn.Module]:
    """Return the layout of Burgess et al. 2018: stride 2 down to 4 x 4, two dense layers; the decoder mirrors it."""
    size, _, channels = shape
    down: list[nn.Module] = []
    up: list[nn.Module] = []
    for number in range(int(math.log2(size)) - 2):
        down += [nn.Conv2d(channels if number == 0 else width, width, 4, stride=2, padding=1), nn.ReLU()]
    encoder = nn.Sequential(*down, nn.Flatten(), *_dense(16 * width, dense, dense), nn.Linear(dense, outputs))
    dense_up = _dense(latents, dense, dense, 16 * width)
    for number in reversed(range(int(math.log2(size)) - 2)):
        up += [nn.ConvTranspose2d(width, channels if number == 0 else width, 4, stride=2, padding=1), nn.ReLU()]
    decoder = nn.Sequential(*dense_up, nn.Unflatten(1, (width, 4, 4)), *up[:-1])  # no activation at the end
    return encoder, decoder


def dlib64(shape: Shape, outputs: int, latents: int) -> tuple[nn.Module, nn.Module]:
    """Return encoder and decoder of the study of Locatello et al. 2019, for images of 64 x 64."""
    channels = shape[2]
    encoder = nn.Sequential(
        *(nn.Conv2d(channels, 32, 4, stride=2, padding=1), nn.ReLU()),
        *(nn.Conv2d(32, 32, 4, stride=2, padding=1), nn.ReLU()),
        *(nn.Conv2d(32, 64, 2, stride=2), nn.ReLU()),
        *(nn.Conv2d(64, 64, 2, stride=2), nn.ReLU()),
        *(nn.Flatten(), *_dense(1024, 256), nn.Linear(256, outputs)),
    )
    decoder = nn.Sequential(
        *(*_dense(latents, 256, 1024), nn.Unflatten(1, (64, 4, 4))),
        *(nn.ConvTranspose2d(64, 64, 4, stride=2, padding=1), nn.ReLU()),
        *(nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1), nn.ReLU()),
        *(nn.ConvTranspose2d(32, 32, 4, stride=2, padding=1), nn.ReLU()),
        nn.ConvTranspose2d(32, channels, 4, stride=2, padding=1),
    )
    return encoder, decoder


def mlp(shape: Shape, outputs: int, latents: int) -> tuple[nn.Module, nn.Module]:
    """Return encoder and decoder with two dense layers of 128 each."""
    height, width, channels = shape
    pixels = math.prod(shape)
    encoder = nn.Sequential(nn.Flatten(), *_dense(pixels, 128, 128), nn.Linear(128, outputs))
    decoder = nn.Sequential(
        *_dense(latents, 128, 128), nn.Linear(128, pixels), nn.Unflatten(1, (channels, height, width))
    )
    return encoder, decoder


#: Each takes the shape of the images, the numbers that the encoder returns per image, and the codes.
NETWORKS: Mapping[str, Callable[[Shape, int, int], tuple[nn.Module, nn.Module]]] = {
    "conv16": partial(_convolutional, width=16, dense=128),
    "burgess32": partial(_convolutional, width=32, dense=256),
    "dlib64": dlib64,
    "mlp": mlp,
}


def discriminator(latents: int, width: int = 1000) -> nn.Module:
    """Return the discriminator of FactorVAE: six dense layers, two logits (Kim & Mnih 2018, appendix D)."""
    layers: list[nn.Module] = []
    for number in range(6):
        layers += [nn.Linear(width if number else latents, width), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers, nn.Linear(width, 2))


# Building -------------------------------------------------------------------------------------------------------------


def checked_network(network: Any) -> Any:
    """Return the name of a network, or a pair of modules, if it is one.

    Raises
    ------
    UnknownNameError, InputTypeError
    """
    if isinstance(network, str):
        checked_name(network, "network", NETWORKS)
        return network
    pair = tuple(network) if isinstance(network, tuple | list) else ()
    if len(pair) != 2 or not all(isinstance(one, nn.Module) for one in pair):
        raise InputTypeError(
            "network", f"expected a name, or (encoder, decoder), two torch.nn.Module, got {quoted(network)}"
        )
    return pair


def check_size(network: str, shape: Shape) -> None:
    """Refuse images that a network does not take.

    Raises
    ------
    InputError
    """
    sizes = (64,) if network == "dlib64" else SIZES
    if shape[0] != shape[1] or shape[0] not in sizes:
        wanted = ", ".join(f"{size} x {size}" for size in sizes)
        raise InputError(
            "images",
            f"network {network!r} takes images of {wanted}, got {shape[0]} x {shape[1]}; make them with "
            f"images.resized({sizes[-1]}), or bring networks of your own: network=(encoder, decoder)",
        )


def built(network: Any, shape: Shape, *, outputs: int, latents: int, rng: np.random.Generator, init: str) -> Any:
    """Return encoder and decoder: networks by name, initialised from ``rng``, or copies of a pair of modules.

    Parameters
    ----------
    network : str or (encoder, decoder)
        As :func:`checked_network` returns it.
    shape : (height, width, channels)
    outputs : int
        Numbers that the encoder returns per image.
    latents : int
    rng : numpy.random.Generator
    init : {"torch", "glorot"}

    Returns
    -------
    encoder, decoder : torch.nn.Module
        On the CPU, in single precision.
    """
    if not isinstance(network, str):
        return tuple(copy.deepcopy(one).cpu().float() for one in network)
    return tuple(initialised(one, rng, init) for one in _empty(network, shape, outputs, latents))


def _empty(network: str, shape: Shape, outputs: int, latents: int) -> tuple[nn.Module, nn.Module]:
    """Return networks by name without weights: what would be drawn for them moves the generator of the process."""
    check_size(network, shape)
    with torch.device("meta"):
        return NETWORKS[network](shape, outputs, latents)


# What encoders and decoders return ------------------------------------------------------------------------------------


def posterior_of(encoded: Any, latents: int, *, draws: bool) -> Posterior:
    """Return mean and log-variance from what an encoder returned.

    Parameters
    ----------
    encoded : tensor of shape (n, 2 latents), or a pair of (n, latents)
        Mean and log-variance; without variances, (n, latents).
    latents : int
    draws : bool
        Whether there are variances; without them the log-variance is empty.

    Raises
    ------
    InputError
        For another shape.
    """
    parts = tuple(encoded) if isinstance(encoded, tuple | list) else (encoded,)
    if draws and len(parts) == 1 and parts[0].ndim == 2 and parts[0].shape[1] == 2 * latents:
        parts = tuple(parts[0].chunk(2, dim=1))
    wanted = 2 if draws else 1
    if len(parts) != wanted or any(part.ndim != 2 or part.shape[1] != latents for part in parts):
        shapes = " and ".join(str(tuple(part.shape)) for part in parts)
        form = f"(n, {2 * latents}) or a pair of (n, {latents})" if draws else f"(n, {latents})"
        raise InputError("network", f"expected the encoder to return {form}, got {shapes}")
    return Posterior(parts[0], parts[1] if draws else torch.empty(0))


def check_decoded(decoded: Tensor, images: Tensor) -> None:
    """Refuse what a decoder returned if it is not of the shape of the images.

    Raises
    ------
    InputError
    """
    if tuple(decoded.shape) != tuple(images.shape):
        raise InputError(
            "network",
            f"expected the decoder to return logits of shape (n, channels, height, width), "
            f"{tuple(images.shape)}, got {tuple(decoded.shape)}",
        )


# The pair of a spec ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """An encoder and a decoder, with what is needed to read what they return.

    Attributes
    ----------
    spec : TrainingSpec
    objective : Objective
    likelihood : Likelihood
    encoder, decoder : torch.nn.Module
    """

    spec: TrainingSpec
    objective: Objective
    likelihood: Likelihood
    encoder: nn.Module
    decoder: nn.Module

    @classmethod
    def made(cls, spec: TrainingSpec, network: Any, device: str) -> "Pair":
        """Return networks with initial weights; ``network``: a name, or a pair of modules, which are copied."""
        objective = objective_of(spec.objective)
        encoder, decoder = built(
            network,
            spec.image_shape,
            outputs=spec.outputs(objective.draws),
            latents=spec.latents,
            rng=rng_for(spec.seed, "weights"),
            init=spec.init,
        )
        return cls(spec, objective, likelihood_of(spec.likelihood), encoder.to(device), decoder.to(device))

    def posterior(self, images: Tensor) -> Posterior:
        """Return the posteriors of images, with log-variances within the bounds of the spec, if it has any."""
        found = posterior_of(self.encoder(images), self.spec.latents, draws=self.objective.draws)
        if self.spec.logvar_bounds is None or not self.objective.draws:
            return found
        low, high = self.spec.logvar_bounds
        return found._replace(logvar=found.logvar.clamp(low, high))

    @property
    def device(self) -> torch.device:
        """Where the encoder is."""
        return next((one.device for one in self.encoder.parameters()), torch.device("cpu"))

    def state(self) -> dict[str, dict[str, Tensor]]:
        """Return the weights."""
        return {"encoder": dict(self.encoder.state_dict()), "decoder": dict(self.decoder.state_dict())}

    def load(self, state: Mapping[str, Mapping[str, Tensor]]) -> None:
        """Take the weights that :meth:`state` returned."""
        self.encoder.load_state_dict(dict(state["encoder"]))
        self.decoder.load_state_dict(dict(state["decoder"]))


def check_weights(spec: TrainingSpec, state: Mapping[str, Mapping[str, Tensor]], what: str) -> None:
    """Refuse a file whose weights are not those of the network that it names: before memory is taken for them.

    Raises
    ------
    FormatError
    """
    if spec.own_networks:
        return
    checked_network(spec.network)
    outputs = spec.outputs(objective_of(spec.objective).draws)
    pair = _empty(spec.network, spec.image_shape, outputs, spec.latents)
    for part, module in zip(("encoder", "decoder"), pair, strict=True):
        wanted = {name: tuple(weights.shape) for name, weights in module.state_dict().items()}
        found = {name: tuple(weights.shape) for name, weights in state[part].items()}
        if wanted != found:
            raise FormatError(what, f"its weights are not those of a {part} {spec.network!r} with {spec.latents} codes")
