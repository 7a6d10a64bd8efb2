"""Networks by name, made without the generator of the process."""

import copy
import itertools
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.extras import require
from demele.core.names import checked_name
from demele.models.vae.objectives import Posterior
from demele.models.weights import initialised

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
else:
    torch = require("torch", purpose="a VAE")
    nn, Tensor = torch.nn, torch.Tensor

#: (height, width, channels) of the images.
Shape = tuple[int, int, int]
#: Sides of the images that the networks take.
SIZES = (16, 32, 64)

# Networks by name -----------------------------------------------------------------------------------------------------


def _halving(channels: int, width: int, size: int) -> list[nn.Module]:
    """Convolutions of stride 2 down to 4 x 4."""
    layers: list[nn.Module] = []
    for number in range(int(math.log2(size)) - 2):
        layers += [nn.Conv2d(channels if number == 0 else width, width, 4, stride=2, padding=1), nn.ReLU()]
    return layers


def _doubling(width: int, channels: int, size: int) -> list[nn.Module]:
    """Transposed convolutions of stride 2 up from 4 x 4; the last has no activation."""
    layers: list[nn.Module] = []
    for number in reversed(range(int(math.log2(size)) - 2)):
        layers += [nn.ConvTranspose2d(width, channels if number == 0 else width, 4, stride=2, padding=1), nn.ReLU()]
    return layers[:-1]


def _dense(*widths: int) -> list[nn.Module]:
    """Fully connected layers, each followed by a ReLU."""
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return layers


def _convolutional(shape: Shape, outputs: int, latents: int, *, width: int, dense: int) -> tuple[nn.Module, nn.Module]:
    """Return the layout of Burgess et al. 2018: stride 2 down to 4 x 4, two dense layers; the decoder mirrors it."""
    size, _, channels = shape
    encoder = nn.Sequential(
        *_halving(channels, width, size), nn.Flatten(), *_dense(16 * width, dense, dense), nn.Linear(dense, outputs)
    )
    decoder = nn.Sequential(
        *_dense(latents, dense, dense, 16 * width), nn.Unflatten(1, (width, 4, 4)), *_doubling(width, channels, size)
    )
    return encoder, decoder


def burgess32(shape: Shape, outputs: int, latents: int) -> tuple[nn.Module, nn.Module]:
    """Return encoder and decoder with 32 channels and dense layers of 256, as of Burgess et al. 2018."""
    return _convolutional(shape, outputs, latents, width=32, dense=256)


def conv16(shape: Shape, outputs: int, latents: int) -> tuple[nn.Module, nn.Module]:
    """Return the layout of :func:`burgess32` with 16 channels and dense layers of 128."""
    return _convolutional(shape, outputs, latents, width=16, dense=128)


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
    "conv16": conv16,
    "burgess32": burgess32,
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
    check_size(network, shape)
    with torch.device("meta"):  # no weights: what would be drawn for them moves the generator of the process
        pair = NETWORKS[network](shape, outputs, latents)
    return tuple(initialised(one, rng, init) for one in pair)


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
