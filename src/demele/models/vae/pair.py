"""Encoder and decoder of a spec: made, read, and applied."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demele.core.errors import FormatError
from demele.core.extras import require
from demele.core.seeds import rng_for
from demele.models.vae.family import Objective, objective_of
from demele.models.vae.likelihoods import Likelihood, likelihood_of
from demele.models.vae.nets import NETWORKS, built, check_size, checked_network, posterior_of
from demele.models.vae.objectives import Posterior
from demele.models.vae.spec import TrainingSpec

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
else:
    torch = require("torch", purpose="a VAE")
    Tensor, nn = torch.Tensor, torch.nn


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
    check_size(spec.network, spec.image_shape)
    outputs = spec.outputs(objective_of(spec.objective).draws)
    with torch.device("meta"):
        pair = NETWORKS[spec.network](spec.image_shape, outputs, spec.latents)
    for part, module in zip(("encoder", "decoder"), pair, strict=True):
        wanted = {name: tuple(weights.shape) for name, weights in module.state_dict().items()}
        found = {name: tuple(weights.shape) for name, weights in state[part].items()}
        if wanted != found:
            raise FormatError(what, f"its weights are not those of a {part} {spec.network!r} with {spec.latents} codes")
