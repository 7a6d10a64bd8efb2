"""One training, step by step: what it holds, one step of it, and what is kept of its history."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from demele.core.extras import require
from demele.core.seeds import rng_for
from demele.models.vae.aggregate import total_correlation
from demele.models.vae.family import Batch
from demele.models.vae.feed import Feed
from demele.models.vae.nets import check_decoded, discriminator
from demele.models.vae.objectives import Posterior, discriminator_error, kl_per_code
from demele.models.vae.pair import Pair
from demele.models.vae.spec import TrainingSpec
from demele.models.weights import initialised, restore

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
else:
    torch = require("torch", purpose="a VAE")
    Tensor, nn = torch.Tensor, torch.nn

#: Of Adam, for the networks and for the discriminator; both have the same rate, as in print (Kim & Mnih 2018).
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
    def begin(cls, spec: TrainingSpec, network: Any, device: str) -> "Training":
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
