"""The training of a VAE: the data of each step, the step, the file, and the figures at the end.

Rows, noise and permutations are functions of the seed, a use and the step, so there is no generator to save: a training
that continues after a kill sees the data that it would have seen.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.core.lazy import require
from demele.core.reading import parsing
from demele.core.seeds import rng_for
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
from demele.models.vae.nets import Pair, check_decoded, check_weights, discriminator
from demele.models.vae.objectives import (
    Batch,
    Posterior,
    decomposition,
    discriminator_error,
    kl_per_code,
    total_correlation,
)
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


class Feed:
    """Rows, noise and pixels of each step.

    Parameters
    ----------
    images : ImageSet
    batch : int
        Rows of a step; of pairs, pairs.
    seed : int
    changed : int, optional
        Draw pairs that differ in so many factors; without it, single images.
    device : str
        Where pixels and noise are wanted.
    """

    def __init__(self, images: ImageSet, *, batch: int, seed: int, changed: int | None, device: str) -> None:
        self._images, self._batch, self._seed, self._changed, self._device = images, batch, seed, changed, device
        self._blocks: dict[str, tuple[int, NDArray[np.int64]]] = {}
        self._held: Tensor | None = None

    def hold(self) -> None:
        """Keep all images in memory if they are few: they are drawn or read once, not at every step."""
        if self._held is None and is_held(self._images):
            self._held = stored(self._images, np.arange(len(self._images)), self._device)

    def rows(self, step: int, use: str = "order") -> NDArray[np.int64]:
        """Return the rows of a step, drawn with replacement; of pairs all first rows, then all second ones."""
        number, place = divmod(step, _BLOCK)
        if self._blocks.get(use, (-1,))[0] != number:
            self._blocks[use] = number, self._drawn_block(use, number)
        return np.asarray(self._blocks[use][1][place])

    def _drawn_block(self, use: str, number: int) -> NDArray[np.int64]:
        rng = rng_for(self._seed, use, number)
        if self._changed is None:
            return rng.integers(0, len(self._images), (_BLOCK, self._batch))
        pairs = self._images.pairs(_BLOCK * self._batch, self._changed, int(rng.integers(2**63)))
        return np.concatenate([rows.reshape(_BLOCK, self._batch) for rows in pairs], axis=1)

    def rng(self, step: int, use: str) -> np.random.Generator:
        """Return the generator of one use in one step."""
        return rng_for(self._seed, use, step)

    def noise(self, step: int, shape: tuple[int, ...], use: str = "noise") -> Tensor:
        """Return standard normal noise of a step."""
        drawn = self.rng(step, use).standard_normal(shape, dtype=np.float32)
        return torch.from_numpy(drawn).to(self._device)

    def pixels(self, rows: NDArray[np.int64]) -> Tensor:
        """Return images as the networks see them: (k, C, H, W), in [0, 1]."""
        if self._held is None:
            return pixels(self._images, rows, self._device)
        return self._held[torch.from_numpy(rows).to(self._device)].float().div_(255)


# Figures of a model ---------------------------------------------------------------------------------------------------


#: Of larger sets so many images are looked at, drawn once.
MOST_EXAMINED = 5000
#: Images that are encoded at once.
BATCH = 256


def batches(rows: NDArray[np.int64], size: int = BATCH) -> Iterator[NDArray[np.int64]]:
    """Yield rows in parts of at most ``size``."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def posteriors(pair: Pair, images: ImageSet, rows: NDArray[np.int64]) -> Posterior:
    """Return mean and log-variance of some images, on the CPU; of an autoencoder the second is empty."""
    device = str(pair.device)
    found = [pair.posterior(pixels(images, part, device)) for part in batches(rows)]
    return Posterior(*(torch.cat(parts).cpu() for parts in zip(*found, strict=True)))


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
    found = Posterior(*(part.double() for part in posteriors(pair, images, rows)))
    noise = torch.from_numpy(rng_for(0, "examined codes").standard_normal(found.mean.shape))
    codes = found.mean + torch.exp(found.logvar / 2) * noise if draws else found.mean
    error, floor = _errors(pair, images, rows, codes.float())
    information, correlation = _parts(codes, found, len(images)) if draws else (math.nan, math.nan)
    return {
        "examined": len(rows),
        "reconstruction": error,
        "floor": floor,
        "kl": kl_per_code(*found).tolist() if draws else [math.nan] * pair.spec.latents,
        "std": found.mean.std(dim=0, unbiased=False).tolist(),
        "mutual_information": information,
        "total_correlation": correlation,
        "largest_logvar": found.logvar.max().item() if draws else math.nan,
    }


def _errors(pair: Pair, images: ImageSet, rows: NDArray[np.int64], codes: Tensor) -> tuple[float, float]:
    """Return the mean error of reconstructions, and the least that it could be."""
    device, sums = str(pair.device), torch.zeros(2, dtype=torch.float64)
    for place in batches(np.arange(len(rows))):
        given = pixels(images, rows[place], device)
        errors = pair.likelihood.errors(pair.decoder(codes[torch.from_numpy(place)].to(device)), given)
        sums += torch.stack([errors.double().sum(), pair.likelihood.floor(given).double().sum()]).cpu()
    error, floor = (sums / len(rows)).tolist()
    return error, floor


def _parts(codes: Tensor, found: Posterior, n: int) -> tuple[float, float]:
    """Return mutual information and total correlation: means of estimates, each of at most 512 images, at random."""
    order = rng_for(0, "examined order").permutation(len(codes))
    parts = [part for part in batches(order, 512) if len(part) >= min(512, len(codes)) and len(part) >= 2]
    each = [decomposition(codes[part], found.mean[part], found.logvar[part], n=n) for part in parts]
    if not each:
        return math.nan, math.nan
    information, correlation = (sum(one[number].item() for one in each) / len(each) for number in (0, 1))
    return information, correlation


# One step -------------------------------------------------------------------------------------------------------------


#: Of Adam, for the networks and for the discriminator; both have the same rate, as published (Kim & Mnih 2018).
_BETAS, _DISCRIMINATOR_BETAS = (0.9, 0.999), (0.5, 0.9)


class Terms(NamedTuple):
    """What a batch costs.

    Attributes
    ----------
    loss, reconstruction, penalty : scalar tensors
        loss = reconstruction + scale x penalty; nats per image.
    kl : tensor of shape (d,)
        K per code; NaN of an autoencoder.
    posterior : Posterior
    codes : tensor of shape (B, d)
    """

    loss: Tensor
    reconstruction: Tensor
    penalty: Tensor
    kl: Tensor
    posterior: Posterior
    codes: Tensor


@dataclass(slots=True)
class Training:
    """Networks in training: made from a spec, moved on by :meth:`advance`.

    Attributes
    ----------
    pair : Pair
    optimiser : torch.optim.Adam
    discriminator : torch.nn.Module, optional
        Where the objective has one, with an optimiser of its own.
    discriminator_optimiser : torch.optim.Adam, optional
    step : int
        Steps that were made.
    """

    pair: Pair
    optimiser: torch.optim.Optimizer
    discriminator: nn.Module | None = None
    discriminator_optimiser: torch.optim.Optimizer | None = None
    step: int = 0

    @property
    def spec(self) -> TrainingSpec:
        """What the training is."""
        return self.pair.spec

    @classmethod
    def begin(cls, spec: TrainingSpec, network: Any, device: str) -> Training:
        """Return a training at step 0; ``network``: a name, or a pair of modules, which are copied."""
        pair = Pair.made(spec, network, device)
        made = cls(pair, _adam([*pair.encoder.parameters(), *pair.decoder.parameters()], spec.lr, _BETAS))
        if pair.objective.has_discriminator:
            with torch.device("meta"):
                empty = discriminator(spec.latents, spec.options["width"])
            made.discriminator = initialised(empty, rng_for(spec.seed, "discriminator"), spec.init).to(device)
            own = list(made.discriminator.parameters())
            made.discriminator_optimiser = _adam(own, spec.lr, _DISCRIMINATOR_BETAS)
        return made

    def terms(self, images: Tensor, feed: Feed) -> Terms:
        """Return what a batch costs at the step that comes, with the noise of that step."""
        objective = self.pair.objective
        posterior = objective.posteriors(self.pair.posterior(images))
        codes, kl = posterior.mean, torch.full_like(posterior.mean[0], math.nan)
        if objective.draws:
            noise = feed.noise(self.step, tuple(posterior.mean.shape))
            codes = posterior.mean + torch.exp(posterior.logvar / 2) * noise
            kl = kl_per_code(*posterior)
        decoded = self.pair.decoder(codes)
        check_decoded(decoded, images)
        reconstruction = self.pair.likelihood.errors(decoded, images).mean()
        logits = None if self.discriminator is None else self.discriminator(codes)
        batch = Batch(
            mean=posterior.mean,
            logvar=posterior.logvar,
            codes=codes,
            kl=kl,
            n=self.spec.n,
            step=self.step,
            logits=logits,
        )
        penalty = objective.penalty(batch, **self.spec.options)
        return Terms(reconstruction + self.spec.scale * penalty, reconstruction, penalty, kl, posterior, codes)

    def advance(self, feed: Feed) -> tuple[Terms, bool]:
        """Make one step, unless the loss or its gradient is not finite: then nothing changes.

        Returns
        -------
        terms : Terms
            Before the step.
        finite : bool
        """
        terms = self.terms(feed.pixels(feed.rows(self.step)), feed)
        self.optimiser.zero_grad(set_to_none=True)
        terms.loss.backward()  # type: ignore[no-untyped-call]
        if not _finite(terms.loss, self.optimiser):
            return terms, False
        self.optimiser.step()
        if self.discriminator is not None:
            self._teach(terms.codes, feed)
        self.step += 1
        return terms, True

    def _teach(self, joint: Tensor, feed: Feed) -> None:
        """Make one step of the discriminator: codes of this batch against permuted ones of a second."""
        if self.discriminator is None or self.discriminator_optimiser is None:
            return
        others = joint
        if not self.spec.options["same_batch"]:
            with torch.no_grad():
                mean, logvar = self.pair.posterior(feed.pixels(feed.rows(self.step, "second order")))
                others = mean + torch.exp(logvar / 2) * feed.noise(self.step, tuple(mean.shape), "second noise")
        self.discriminator_optimiser.zero_grad(set_to_none=True)  # the step before has left gradients in it
        error = discriminator_error(self.discriminator, joint, others, feed.rng(self.step, "permutation"))
        error.backward()  # type: ignore[no-untyped-call]
        self.discriminator_optimiser.step()

    # What a file holds ------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return networks and optimisers as tensors and plain values."""
        own = self.discriminator, self.discriminator_optimiser
        return {
            "step": self.step,
            "model": self.pair.state(),
            "optimiser": self.optimiser.state_dict(),
            "discriminator": None
            if own[0] is None or own[1] is None
            else {"model": dict(own[0].state_dict()), "optimiser": own[1].state_dict()},
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take networks and optimisers from what :meth:`state` returned."""
        self.pair.load(state["model"])
        restore(self.optimiser, state["optimiser"])
        if self.discriminator is not None and self.discriminator_optimiser is not None:
            self.discriminator.load_state_dict(state["discriminator"]["model"])
            restore(self.discriminator_optimiser, state["discriminator"]["optimiser"])
        self.step = int(state["step"])


def _adam(parameters: Sequence[Tensor], lr: float, betas: tuple[float, float]) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, lr=lr, betas=betas, eps=1e-8, fused=True)


def _finite(loss: Tensor, optimiser: torch.optim.Optimizer) -> bool:
    gradients = [one.grad for group in optimiser.param_groups for one in group["params"] if one.grad is not None]
    sums = torch.stack([loss.detach(), *(one.sum() for one in gradients)])
    return bool(torch.isfinite(sums).all())


# The history ----------------------------------------------------------------------------------------------------------


def history_row(training: Training, terms: Terms, *, step: int, images_per_second: float) -> dict[str, float]:
    """Return what is kept of a step, as plain numbers by name.

    The total correlation is the stratified estimate whatever the loss is made of; other estimates mean nothing alone.
    """
    codes, (mean, logvar) = terms.codes.detach(), terms.posterior
    correlation = math.nan
    if training.pair.objective.draws and 2 <= len(codes) <= training.spec.n:
        with torch.no_grad():
            correlation = total_correlation(codes, mean, logvar, n=training.spec.n).item()
    each = {f"kl_z{number}": value for number, value in enumerate(terms.kl.tolist(), start=1)}
    return {
        "step": step,
        "loss": terms.loss.item(),
        "reconstruction": terms.reconstruction.item(),
        "kl": sum(each.values()),
        **each,
        "total_correlation": correlation,
        "penalty": terms.penalty.item(),
        "images_per_second": images_per_second,
    }


# The whole training ---------------------------------------------------------------------------------------------------


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


class Fitting(KeptTraining):
    """The training of a VAE with its file.

    Parameters
    ----------
    spec : TrainingSpec
    network : str or (encoder, decoder)
    images : ImageSet
    **where
        Of :class:`KeptTraining`.
    """

    _training: Training
    _feed: Feed
    _looked: tuple[int, float]  # at which step the speed was measured last, and when

    def __init__(self, spec: TrainingSpec, *, network: Any, images: ImageSet, **where: Any) -> None:
        super().__init__(spec, LAYOUT, **where)
        self._spec, self._network, self._images = spec, network, images
        self._kept: dict[str, Any] | None = None
        self._last = math.nan
        self.remedy = "; lower `lr`, or bound the log-variances, such as with `logvar_bounds=(-10, 10)`"

    @property
    def pair(self) -> Pair:
        """The networks."""
        return self._training.pair

    @property
    def done(self) -> int:
        """Steps that were made."""
        return self._training.step

    def _settings_in(self, content: Mapping[str, Any], what: str) -> dict[str, Any]:
        return TrainingSpec.from_dict(content["spec"], what).to_dict()

    def _open(self, content: Mapping[str, Any] | None, until: int) -> None:
        spec = self._spec
        self._training = Training.begin(spec, self._network, self._device)
        if content is not None:
            with parsing(f"{self._path}: its networks are not those of its spec"):
                self._training.load(content)
                self._history = {name: list(values) for name, values in content["history"].items()}
                self._seconds = float(content["seconds"])
        changed = spec.options.get("changed")
        self._feed = Feed(self._images, batch=spec.batch, seed=spec.seed, changed=changed, device=self._device)
        if (until - self.done) * spec.batch >= len(self._images):
            self._feed.hold()
        self._looked = self.done - 1, time.monotonic()

    def _advance(self, until: int, interrupted: Callable[[], bool]) -> tuple[int, Row, str] | None:
        step = self.done
        terms, finite = self._training.advance(self._feed)
        if not finite:
            largest = terms.posterior.logvar.max().item() if terms.posterior.logvar.numel() else math.nan
            raise DivergedError(
                f"the loss or its gradient was not finite at step {step:,}; the last loss before was {self._last:.6g}, "
                f"the largest log-variance {largest:.6g}"
            )
        self._last = terms.loss.item()
        if step % max(1, until // _ROWS) and self.done < until:
            return None
        (before, then), self._looked = self._looked, (step, time.monotonic())
        rate = (step - before) / max(self._looked[1] - then, 1e-9)
        row = history_row(self._training, terms, step=step, images_per_second=rate * self._spec.batch)
        return step, row, f"step {step:,}, loss {self._last:.4g}"

    def _is_due(self, until: int) -> bool:
        return self.done % min(_MOST_UNSAVED, math.ceil(until / 5)) == 0 and self.done < until

    def _state(self) -> dict[str, Any]:
        self._kept = copy.deepcopy(self._training.state())
        return {"spec": self._settings, **self._kept, "figures": None}

    def _end(self, problem: str) -> dict[str, Any]:
        """Measure the model, and write the file for the last time."""
        weights = (one for part in self.pair.state().values() for one in part.values())
        if problem and not all(bool(torch.isfinite(one).all()) for one in weights):
            self._training.load(self._kept or Training.begin(self._spec, self._network, self._device).state())
        self._save("running", problem)  # measuring takes a while, and may be killed
        with torch.no_grad():
            figures = measured(self.pair, self._images)
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
