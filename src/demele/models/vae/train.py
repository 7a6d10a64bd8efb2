"""Networks of VAEs, their likelihoods, and their training: the data of each step, the step, the file, the figures.

Rows, noise and permutations are functions of the seed, a use and the step, so there is no generator to save: a training
that continues after a kill sees the data that it would have seen.
"""

from __future__ import annotations

import copy
import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from demele.core.arrays import Counts, rng_for
from demele.core.errors import FormatError, InputError, InputTypeError, UnknownNameError, quoted
from demele.core.kinds import checked_name, checked_size, suggestion
from demele.core.lazy import require
from demele.core.reading import parsing
from demele.data.images import ImageSet
from demele.models import training
from demele.models.results import TrainingSpec
from demele.models.vae import objectives

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


def _empty(spec: TrainingSpec) -> tuple[nn.Module, nn.Module]:
    """Return networks by name without weights: what would be drawn for them moves the generator of the process."""
    check_size(spec.network, spec.image_shape)
    # means, and log-variances
    outputs = 2 * spec.latents if objectives.objective_of(spec.objective).draws else spec.latents
    with torch.device("meta"):
        return NETWORKS[spec.network](spec.image_shape, outputs, spec.latents)


# What encoders and decoders return ------------------------------------------------------------------------------------


def posterior_of(encoded: Any, latents: int, *, draws: bool) -> objectives.Posterior:
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
    return objectives.Posterior(parts[0], parts[1] if draws else torch.empty(0))


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
    objective: objectives.Objective
    likelihood: Likelihood
    encoder: nn.Module
    decoder: nn.Module

    @classmethod
    def made(cls, spec: TrainingSpec, network: Any, device: str) -> Pair:
        """Return networks with initial weights; ``network``: a name, or a pair of modules, which are copied."""
        if isinstance(network, str):
            rng = rng_for(spec.seed, "weights")
            pair = [training.initialised(one, rng, spec.init) for one in _empty(spec)]
        else:
            pair = [copy.deepcopy(one).cpu().float() for one in network]
        encoder, decoder = (one.to(device) for one in pair)
        return cls(spec, objectives.objective_of(spec.objective), likelihood_of(spec.likelihood), encoder, decoder)

    def posterior(self, images: Tensor) -> objectives.Posterior:
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
    for part, module in zip(("encoder", "decoder"), _empty(spec), strict=True):
        wanted = {name: tuple(weights.shape) for name, weights in module.state_dict().items()}
        found = {name: tuple(weights.shape) for name, weights in state[part].items()}
        if wanted != found:
            raise FormatError(what, f"its weights are not those of a {part} {spec.network!r} with {spec.latents} codes")


# The data of a step ---------------------------------------------------------------------------------------------------


#: Steps whose rows are drawn at once.
_BLOCK = 1024


@dataclass(slots=True, kw_only=True)
class Feed:
    """Rows, noise and pixels of each step.

    Attributes
    ----------
    images : ImageSet
    batch : int
        Rows of a step; of pairs, pairs.
    seed : int
    changed : int or None
        Draw pairs that differ in so many factors; without it, single images.
    device : str
        Where pixels and noise are wanted.
    held : tensor or None
        All images, if they are few: they are drawn or read once, not at every step.
    """

    images: ImageSet
    batch: int
    seed: int
    changed: int | None
    device: str
    held: Tensor | None = None
    _blocks: dict[str, tuple[int, Counts]] = field(default_factory=dict)

    def rows(self, step: int, use: str = "order") -> Counts:
        """Return the rows of a step, drawn with replacement; of pairs all first rows, then all second ones."""
        number, place = divmod(step, _BLOCK)
        if self._blocks.get(use, (-1,))[0] != number:
            rng = rng_for(self.seed, use, number)
            if self.changed is None:
                block = rng.integers(0, len(self.images), (_BLOCK, self.batch))
            else:
                pairs = self.images.pairs(_BLOCK * self.batch, self.changed, int(rng.integers(2**63)))
                block = np.concatenate([rows.reshape(_BLOCK, self.batch) for rows in pairs], axis=1)
            self._blocks[use] = number, block
        return np.asarray(self._blocks[use][1][place])

    def noise(self, step: int, shape: tuple[int, ...], use: str = "noise") -> Tensor:
        """Return standard normal noise of a step."""
        drawn = rng_for(self.seed, use, step).standard_normal(shape, dtype=np.float32)
        return torch.from_numpy(drawn).to(self.device)

    def pixels(self, rows: Counts) -> Tensor:
        """Return images as the networks see them: (k, C, H, W), in [0, 1]."""
        if self.held is None:
            return training.pixels(self.images, rows, self.device)
        return self.held[torch.from_numpy(rows).to(self.device)].float().div_(255)


# Figures of a model ---------------------------------------------------------------------------------------------------


#: Of larger sets so many images are looked at, drawn once.
MOST_EXAMINED = 5000
#: Images that are encoded at once.
BATCH = 256


def batches(rows: Counts, size: int = BATCH) -> Iterator[Counts]:
    """Yield rows in parts of at most ``size``."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def posteriors(pair: Pair, images: ImageSet, rows: Counts) -> objectives.Posterior:
    """Return mean and log-variance of some images, on the CPU; of an autoencoder the second is empty."""
    device = str(pair.device)
    found = [pair.posterior(training.pixels(images, part, device)) for part in batches(rows)]
    return objectives.Posterior(*(torch.cat(parts).cpu() for parts in zip(*found, strict=True)))


def measured(pair: Pair, images: ImageSet) -> dict[str, Any]:
    """Return the figures of a model, as plain numbers.

    Returns
    -------
    dict
        ``examined``, the number of images; ``reconstruction``, R with codes drawn as in training, and ``floor``, the
        least it can be, in nats per image; ``kl`` (NaN of an autoencoder) and ``std`` of the means by code;
        ``mutual_information`` and ``total_correlation``, stratified; ``largest_logvar``.
    """
    rows, draws = np.arange(len(images)), pair.objective.draws
    if len(images) > MOST_EXAMINED:
        rows = np.sort(rng_for(0, "examined images", len(images)).choice(len(images), MOST_EXAMINED, replace=False))
    found = objectives.Posterior(*(part.double() for part in posteriors(pair, images, rows)))
    noise = torch.from_numpy(rng_for(0, "examined codes").standard_normal(found.mean.shape))
    codes = found.mean + torch.exp(found.logvar / 2) * noise if draws else found.mean
    device, sums = str(pair.device), torch.zeros(2, dtype=torch.float64)
    for place in batches(np.arange(len(rows))):
        given = training.pixels(images, rows[place], device)
        errors = pair.likelihood.errors(pair.decoder(codes[torch.from_numpy(place)].float().to(device)), given)
        sums += torch.stack([errors.double().sum(), pair.likelihood.floor(given).double().sum()]).cpu()
    error, floor = (sums / len(rows)).tolist()
    # means of estimates, each of at most 512 images, at random
    order = rng_for(0, "examined order").permutation(len(codes)) if draws else rows[:0]
    parts = [part for part in batches(order, 512) if len(part) >= min(512, len(codes)) and len(part) >= 2]
    each = [
        objectives.decomposition(codes[part], found.mean[part], found.logvar[part], n=len(images)) for part in parts
    ]
    information, correlation = (
        sum(one[number].item() for one in each) / len(each) if each else math.nan for number in (0, 1)
    )
    return {
        "examined": len(rows),
        "reconstruction": error,
        "floor": floor,
        "kl": objectives.kl_per_code(*found).tolist() if draws else [math.nan] * pair.spec.latents,
        "std": found.mean.std(dim=0, unbiased=False).tolist(),
        "mutual_information": information,
        "total_correlation": correlation,
        "largest_logvar": found.logvar.max().item() if draws else math.nan,
    }


# One step -------------------------------------------------------------------------------------------------------------


#: Of Adam, for the networks and for the discriminator; both have the same rate, as published (Kim & Mnih 2018).
_BETAS, _DISCRIMINATOR_BETAS = (0.9, 0.999), (0.5, 0.9)
#: What a file of the training of a VAE holds.
LAYOUT = training.Layout(
    name="demele-training",
    version=1,
    keys=(
        *("spec", "status", "step", "model", "optimiser", "discriminator"),
        *("history", "seconds", "problem", "figures"),
    ),
    what="a training of demele",
    reader="load it with demele.lab.load_vae",
)
#: Rows of the history, and the most steps between two writings of the file.
_ROWS, _MOST_UNSAVED = 200, 1000


class Terms(NamedTuple):
    """What a batch costs.

    Attributes
    ----------
    loss, reconstruction, penalty : scalar tensors
        loss = reconstruction + scale x penalty; nats per image.
    batch : Batch
        What the penalty looked at; the divergences of an autoencoder are NaN.
    """

    loss: Tensor
    reconstruction: Tensor
    penalty: Tensor
    batch: objectives.Batch


class Training(training.KeptTraining):
    """The training of a VAE with its file: networks that are made from a spec, and moved on by :meth:`advance`.

    Parameters
    ----------
    spec : TrainingSpec
    network : str or (encoder, decoder)
        A name, or a pair of modules, which are copied.
    images : ImageSet
    **where
        Of :class:`KeptTraining`.

    Attributes
    ----------
    pair : Pair
    discriminator : (torch.nn.Module, torch.optim.Adam) or None
        Where the objective has one.
    feed : Feed
    """

    layout, key = LAYOUT, "spec"
    remedy = "; lower `lr`, or bound the log-variances, such as with `logvar_bounds=(-10, 10)`"

    def __init__(self, spec: TrainingSpec, *, network: Any, images: ImageSet, **where: Any) -> None:
        super().__init__(spec, **where)
        self.spec, self.pair, self._last = spec, Pair.made(spec, network, self._device), math.nan
        weights = [*self.pair.encoder.parameters(), *self.pair.decoder.parameters()]
        self._optimiser: torch.optim.Optimizer = torch.optim.Adam(weights, lr=spec.lr, betas=_BETAS, fused=True)
        self.discriminator: tuple[nn.Module, torch.optim.Optimizer] | None = None
        if self.pair.objective.has_discriminator:
            with torch.device("meta"):
                empty = discriminator(spec.latents, spec.options["width"])
            made = training.initialised(empty, rng_for(spec.seed, "discriminator"), spec.init).to(self._device)
            own = torch.optim.Adam(made.parameters(), lr=spec.lr, betas=_DISCRIMINATOR_BETAS, fused=True)
            self.discriminator = made, own
        changed = spec.options.get("changed")
        self.feed = Feed(images=images, batch=spec.batch, seed=spec.seed, changed=changed, device=self._device)

    def terms(self, images: Tensor) -> Terms:
        """Return what a batch costs at the step that comes, with the noise of that step."""
        objective, spec = self.pair.objective, self.spec
        mean, logvar = objective.posteriors(self.pair.posterior(images))
        codes, kl = mean, torch.full_like(mean[0], math.nan)
        if objective.draws:
            codes = mean + torch.exp(logvar / 2) * self.feed.noise(self.done, tuple(mean.shape))
            kl = objectives.kl_per_code(mean, logvar)
        decoded = self.pair.decoder(codes)
        check_decoded(decoded, images)
        reconstruction = self.pair.likelihood.errors(decoded, images).mean()
        logits = None if self.discriminator is None else self.discriminator[0](codes)
        batch = objectives.Batch(mean=mean, logvar=logvar, codes=codes, kl=kl, n=spec.n, step=self.done, logits=logits)
        penalty = objective.penalty(batch, **spec.options)
        return Terms(reconstruction + spec.scale * penalty, reconstruction, penalty, batch)

    def advance(self) -> tuple[Terms, bool]:
        """Make one step, unless the loss or its gradient is not finite: then nothing changes.

        Returns
        -------
        terms : Terms
            Before the step.
        finite : bool
        """
        terms = self.terms(self.feed.pixels(self.feed.rows(self.done)))
        self._optimiser.zero_grad(set_to_none=True)
        terms.loss.backward()  # type: ignore[no-untyped-call]
        gradients = [one.grad for group in self._optimiser.param_groups for one in group["params"]]
        sums = torch.stack([terms.loss.detach(), *(one.sum() for one in gradients if one is not None)])
        if not bool(torch.isfinite(sums).all()):
            return terms, False
        self._optimiser.step()
        if self.discriminator is not None:
            self._teach(*self.discriminator, terms.batch.codes)
        self.done += 1
        return terms, True

    def _teach(self, network: nn.Module, optimiser: torch.optim.Optimizer, joint: Tensor) -> None:
        """Make one step of the discriminator: codes of this batch against permuted ones of a second."""
        others, feed = joint, self.feed
        if not self.spec.options["same_batch"]:
            with torch.no_grad():
                mean, logvar = self.pair.posterior(feed.pixels(feed.rows(self.done, "second order")))
                others = mean + torch.exp(logvar / 2) * feed.noise(self.done, tuple(mean.shape), "second noise")
        optimiser.zero_grad(set_to_none=True)  # the step before has left gradients in it
        error = objectives.discriminator_error(network, joint, others, rng_for(feed.seed, "permutation", self.done))
        error.backward()  # type: ignore[no-untyped-call]
        optimiser.step()

    def row(self, terms: Terms, images_per_second: float) -> dict[str, float]:
        """Return what is kept of the step before this one, as plain numbers by name.

        The total correlation is the stratified estimate whatever the loss is made of; other estimates mean nothing
        alone.
        """
        codes, correlation = terms.batch.codes.detach(), math.nan
        if self.pair.objective.draws and 2 <= len(codes) <= self.spec.n:
            with torch.no_grad():
                found = objectives.decomposition(codes, terms.batch.mean, terms.batch.logvar, n=self.spec.n)
            correlation = found.total_correlation.item()
        each = {f"kl_z{number}": value for number, value in enumerate(terms.batch.kl.tolist(), start=1)}
        return {
            "step": self.done - 1,
            "loss": terms.loss.item(),
            "reconstruction": terms.reconstruction.item(),
            "kl": sum(each.values()),
            **each,
            "total_correlation": correlation,
            "penalty": terms.penalty.item(),
            "images_per_second": images_per_second,
        }

    # The whole training -----------------------------------------------------------------------------------------------

    def _open(self, content: Mapping[str, Any] | None, until: int) -> None:
        if content is not None:
            with parsing(f"{self._path}: its networks are not those of its spec"):
                self._load(content)
        self._kept, images = self._state(), self.feed.images
        if (until - self.done) * self.spec.batch >= len(images) and training.is_held(images):
            self.feed.held = training.stored(images, np.arange(len(images)), self._device)
        self._looked = self.done - 1, time.monotonic()  # at which step the speed was measured last, and when

    def _advance(self, until: int, interrupted: Callable[[], bool]) -> tuple[int, training.Row, str] | None:
        step = self.done
        terms, finite = self.advance()
        if not finite:
            logvar = terms.batch.logvar
            raise training.DivergedError(
                f"the loss or its gradient was not finite at step {step:,}; the last loss before was {self._last:.6g}, "
                f"the largest log-variance {logvar.max().item() if logvar.numel() else math.nan:.6g}"
            )
        self._last = terms.loss.item()
        if step % max(1, until // _ROWS) and self.done < until:
            return None
        (before, then), self._looked = self._looked, (step, time.monotonic())
        rate = (step - before) / max(self._looked[1] - then, 1e-9)
        return step, self.row(terms, rate * self.spec.batch), f"step {step:,}, loss {self._last:.4g}"

    def _is_due(self, until: int) -> bool:
        return self.done % min(_MOST_UNSAVED, math.ceil(until / 5)) == 0 and self.done < until

    def _state(self) -> dict[str, Any]:
        state = {"step": self.done, "model": self.pair.state(), "optimiser": self._optimiser.state_dict()}
        other = None
        if self.discriminator is not None:
            network, optimiser = self.discriminator
            other = {"model": dict(network.state_dict()), "optimiser": optimiser.state_dict()}
        self._kept = copy.deepcopy({**state, "discriminator": other, "figures": None})
        return self._kept

    def _load(self, state: Mapping[str, Any]) -> None:
        self.pair.load(state["model"])
        training.restore(self._optimiser, state["optimiser"])
        if self.discriminator is not None:
            self.discriminator[0].load_state_dict(state["discriminator"]["model"])
            training.restore(self.discriminator[1], state["discriminator"]["optimiser"])
        self.done = int(state["step"])

    def _end(self, problem: str) -> dict[str, Any]:
        """Measure the model, and write the file for the last time."""
        weights = (one for part in self.pair.state().values() for one in part.values())
        if problem and not all(bool(torch.isfinite(one).all()) for one in weights):
            self._load(self._kept)
        self._save("running", problem)  # measuring takes a while, and may be killed
        with torch.no_grad():
            figures = measured(self.pair, self.feed.images)
        return self._save("diverged" if problem else "done", problem, figures=figures)


# Reading ------------------------------------------------------------------------------------------------------------


def reopened(path: Path, network: Any) -> tuple[Pair, dict[str, Any]]:
    """Return the networks of a file, on the CPU, and what else it holds.

    Raises
    ------
    InputError, FormatError
    """
    content = training.read_checkpoint(path, LAYOUT)
    with parsing(f"{path}: not {LAYOUT.what}"):
        spec = TrainingSpec.from_dict(content["spec"], f"{path}: not {LAYOUT.what}")
    what = f"{path}: its networks are not those of its spec"
    with parsing(what):
        check_weights(spec, content["model"], what)
    if spec.own_networks and network is None:
        raise InputError(
            "network",
            f"{path} was trained with networks of its user's own, and a file holds no classes; pass "
            "network=(encoder, decoder), modules of the same layers",
        )
    with parsing(what), training.computing(threads=None, device="cpu", gradients=False):
        pair = Pair.made(spec, network if spec.own_networks else spec.network, "cpu")
        pair.load(content["model"])
    return pair, content
