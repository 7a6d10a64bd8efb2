"""The training of a VAE: the data of each step, the step, the file, and the figures at the end.

Rows, noise and permutations are functions of the seed, a use and the step, so there is no generator to save: a training
that continues after a kill sees the data that it would have seen.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from demele.core.arrays import Counts, rng_for
from demele.core.errors import InputError
from demele.core.lazy import require
from demele.core.reading import parsing
from demele.data.images import ImageSet
from demele.models.training import (
    DivergedError,
    KeptTraining,
    Layout,
    Row,
    computing,
    initialised,
    is_held,
    pixels,
    read_checkpoint,
    restore,
    stored,
)
from demele.models.vae import objectives
from demele.models.vae.nets import Pair, check_decoded, check_weights, discriminator
from demele.models.vae.run import TrainingSpec

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
else:
    torch = require("torch", purpose="a VAE")
    Tensor, nn = torch.Tensor, torch.nn


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
            return pixels(self.images, rows, self.device)
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
    found = [pair.posterior(pixels(images, part, device)) for part in batches(rows)]
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
    error, floor = _errors(pair, images, rows, codes.float())
    information, correlation = _parts(codes, found, len(images)) if draws else (math.nan, math.nan)
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


def _errors(pair: Pair, images: ImageSet, rows: Counts, codes: Tensor) -> tuple[float, float]:
    """Return the mean error of reconstructions, and the least that it could be."""
    device, sums = str(pair.device), torch.zeros(2, dtype=torch.float64)
    for place in batches(np.arange(len(rows))):
        given = pixels(images, rows[place], device)
        errors = pair.likelihood.errors(pair.decoder(codes[torch.from_numpy(place)].to(device)), given)
        sums += torch.stack([errors.double().sum(), pair.likelihood.floor(given).double().sum()]).cpu()
    error, floor = (sums / len(rows)).tolist()
    return error, floor


def _parts(codes: Tensor, found: objectives.Posterior, n: int) -> tuple[float, float]:
    """Return mutual information and total correlation: means of estimates, each of at most 512 images, at random."""
    order = rng_for(0, "examined order").permutation(len(codes))
    parts = [part for part in batches(order, 512) if len(part) >= min(512, len(codes)) and len(part) >= 2]
    each = [objectives.decomposition(codes[part], found.mean[part], found.logvar[part], n=n) for part in parts]
    if not each:
        return math.nan, math.nan
    information, correlation = (sum(one[number].item() for one in each) / len(each) for number in (0, 1))
    return information, correlation


# One step -------------------------------------------------------------------------------------------------------------


#: Of Adam, for the networks and for the discriminator; both have the same rate, as published (Kim & Mnih 2018).
_BETAS, _DISCRIMINATOR_BETAS = (0.9, 0.999), (0.5, 0.9)
#: What a file of the training of a VAE holds.
LAYOUT = Layout(
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


class Training(KeptTraining):
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
            made = initialised(empty, rng_for(spec.seed, "discriminator"), spec.init).to(self._device)
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
                found = objectives.total_correlation(codes, terms.batch.mean, terms.batch.logvar, n=self.spec.n)
            correlation = found.item()
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
        if (until - self.done) * self.spec.batch >= len(images) and is_held(images):
            self.feed.held = stored(images, np.arange(len(images)), self._device)
        self._looked = self.done - 1, time.monotonic()  # at which step the speed was measured last, and when

    def _advance(self, until: int, interrupted: Callable[[], bool]) -> tuple[int, Row, str] | None:
        step = self.done
        terms, finite = self.advance()
        if not finite:
            logvar = terms.batch.logvar
            raise DivergedError(
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
        restore(self._optimiser, state["optimiser"])
        if self.discriminator is not None:
            self.discriminator[0].load_state_dict(state["discriminator"]["model"])
            restore(self.discriminator[1], state["discriminator"]["optimiser"])
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
    content = read_checkpoint(path, LAYOUT)
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
    with parsing(what), computing(threads=None, device="cpu", gradients=False):
        pair = Pair.made(spec, network if spec.own_networks else spec.network, "cpu")
        pair.load(content["model"])
    return pair, content
