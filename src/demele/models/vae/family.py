"""The objectives by name: the penalty of each with its options, and what else it asks of the training."""

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from demele.core.checked_numbers import checked_count, checked_flag, checked_number
from demele.core.errors import InputError, InputTypeError
from demele.core.extras import require
from demele.core.names import checked_name, suggestion
from demele.models.vae import objectives
from demele.models.vae.aggregate import total_correlation
from demele.models.vae.objectives import Posterior

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    torch = require("torch", purpose="a VAE")
    Tensor = torch.Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What a penalty may look at.

    Attributes
    ----------
    mean, logvar, codes : tensors of shape (B, d)
        Posteriors, and the samples that were drawn from them.
    kl : tensor of shape (d,)
        :func:`demele.models.vae.objectives.kl_per_code` of the posteriors.
    n : int
        Training images.
    step : int
        From 0.
    logits : tensor of shape (B, 2), or None
        Of the discriminator at the samples.
    """

    mean: Tensor
    logvar: Tensor
    codes: Tensor
    kl: Tensor
    n: int
    step: int
    logits: Tensor | None = None


# The penalties: their options are the parameters after the batch -----------------------------------------------------


def autoencoder(batch: Batch) -> Tensor:
    """Nothing: codes are means, and there are no variances."""
    return batch.codes.new_zeros(())


def vae(batch: Batch) -> Tensor:
    """K."""
    return batch.kl.sum()


def beta_vae(batch: Batch, *, beta: float = 4.0) -> Tensor:
    """Return beta K."""
    return beta * batch.kl.sum()


def capacity(batch: Batch, *, c_max: float = 25.0, gamma: float = 100.0, steps: int = 2000) -> Tensor:
    """Return gamma abs(K - C) with the batch mean K; C grows from 0 to ``c_max`` nats within ``steps``.

    The paper uses gamma 1000, and C grows for 100,000 of 300,000 steps. With a few thousand steps that only collapses
    the codes, so the defaults fit short runs.
    """
    return gamma * (batch.kl.sum() - objectives.capacity_at(batch.step, c_max, steps)).abs()


def beta_tcvae(batch: Batch, *, beta: float = 4.0, estimator: Literal["stratified", "mws", "batch"] = "mws") -> Tensor:
    """Return K + (beta - 1) TC, with K in closed form and TC estimated."""
    estimated = total_correlation(batch.codes, batch.mean, batch.logvar, n=batch.n, estimator=estimator)
    return batch.kl.sum() + (beta - 1) * estimated


def factor_vae(batch: Batch, *, gamma: float = 10.0, same_batch: bool = False, width: int = 1000) -> Tensor:
    """Return K + gamma mean[D_0 - D_1].

    The discriminator learns from the joint codes of this batch and permuted codes of a second one; with
    ``same_batch`` from those of this one, as in disentanglement_lib. Its layers are ``width`` wide.
    """
    if batch.logits is None:
        raise InputError("logits", "FactorVAE needs what its discriminator says of the codes")
    return batch.kl.sum() + gamma * objectives.logit_difference(batch.logits)


def dip_vae_i(batch: Batch, *, lambda_od: float = 2.0, lambda_d: float | None = None) -> Tensor:
    """Return K + the distance of Cov(mu) from the identity; lambda_d is 10 lambda_od unless given."""
    covariance = objectives.mean_covariance(batch.mean)
    on = 10 * lambda_od if lambda_d is None else lambda_d
    return batch.kl.sum() + objectives.distance_from_identity(covariance, lambda_od, on)


def dip_vae_ii(batch: Batch, *, lambda_od: float = 2.0, lambda_d: float | None = None) -> Tensor:
    """Return K + the distance of Cov(z) from the identity; lambda_d is lambda_od unless given."""
    covariance = objectives.code_covariance(batch.mean, batch.logvar)
    on = lambda_od if lambda_d is None else lambda_d
    return batch.kl.sum() + objectives.distance_from_identity(covariance, lambda_od, on)


def ada_gvae(batch: Batch, *, beta: float = 1.0, changed: int = 1) -> Tensor:
    """Return beta K of posteriors that were averaged over pairs; in a pair ``changed`` factors differ."""
    return beta * batch.kl.sum()


def ada_mlvae(batch: Batch, *, beta: float = 1.0, changed: int = 1) -> Tensor:
    """Return beta K of posteriors that were multiplied over pairs; in a pair ``changed`` factors differ."""
    return beta * batch.kl.sum()


# The table -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """An objective: loss = R + penalty.

    Attributes
    ----------
    penalty : callable (Batch, *, options) -> scalar tensor
    source : str
        Where it was published.
    draws : bool
        Whether codes are drawn from a posterior; if not, the encoder has no variances.
    merge : callable, optional
        What becomes of the posteriors of codes that a pair of images shares; if given, images come in pairs.
    has_discriminator : bool
        Whether a second network is trained to distinguish codes from permuted ones.
    """

    penalty: Callable[..., Tensor]
    source: str
    draws: bool = True
    merge: Callable[[Posterior, Posterior], Posterior] | None = None
    has_discriminator: bool = False

    @property
    def name(self) -> str:
        """Its name in :data:`OBJECTIVES`."""
        return self.penalty.__name__

    @property
    def options(self) -> dict[str, inspect.Parameter]:
        """The options of the penalty, with their types and defaults."""
        parameters = inspect.signature(self.penalty).parameters.values()
        return {one.name: one for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}

    def posteriors(self, encoded: Posterior) -> Posterior:
        """Return the posteriors that count; of pairs the first images stand in the first half, the second after."""
        if self.merge is None:
            return encoded
        first, second = (Posterior(*halves) for halves in zip(*(part.chunk(2) for part in encoded), strict=True))
        shared, both = objectives.shared_codes(first, second), self.merge(first, second)
        merged = (
            torch.cat([torch.where(shared, common, one), torch.where(shared, common, other)])
            for common, one, other in zip(both, first, second, strict=True)
        )
        return Posterior(*merged)


_KIM = "Kim & Mnih 2018, eq. 2 and algorithm 2"
_KUMAR = "Kumar et al. 2018, eq. 6 and 7"
_LOCATELLO = "Locatello et al. 2020, section 3"
OBJECTIVES: Mapping[str, Objective] = {
    objective.name: objective
    for objective in (
        Objective(penalty=autoencoder, source="Hinton & Salakhutdinov 2006", draws=False),
        Objective(penalty=vae, source="Kingma & Welling 2014"),
        Objective(penalty=beta_vae, source="Higgins et al. 2017, eq. 4"),
        Objective(penalty=capacity, source="Burgess et al. 2018, eq. 8"),
        Objective(penalty=beta_tcvae, source="Chen et al. 2018, eq. 4 with alpha = gamma = 1"),
        Objective(penalty=factor_vae, source=_KIM, has_discriminator=True),
        Objective(penalty=dip_vae_i, source=_KUMAR),
        Objective(penalty=dip_vae_ii, source=_KUMAR),
        Objective(penalty=ada_gvae, source=_LOCATELLO, merge=objectives.averaged),
        Objective(penalty=ada_mlvae, source=_LOCATELLO, merge=objectives.multiplied),
    )
}


# What a user gives ---------------------------------------------------------------------------------------------------


def objective_of(name: object) -> Objective:
    """Return an objective by its name.

    Raises
    ------
    UnknownNameError

    Examples
    --------
    >>> objective_of("beta_vae").source
    'Higgins et al. 2017, eq. 4'
    """
    return OBJECTIVES[checked_name(name, "objective", OBJECTIVES)]


def checked_options(objective: Objective, given: Mapping[str, object]) -> dict[str, Any]:
    """Return all options of an objective as plain values: those given, checked, and the defaults of the others.

    Raises
    ------
    InputError
        For a value that the option cannot have.
    InputTypeError
        For an option that the objective does not have; it names those that have it.

    Examples
    --------
    >>> checked_options(objective_of("beta_tcvae"), {"beta": 6})
    {'beta': 6.0, 'estimator': 'mws'}
    """
    options = objective.options
    for name in given:
        if name not in options:
            raise InputTypeError(name, _not_an_option(name, objective))
    return {
        name: _checked(name, given[name], option.annotation) if name in given else option.default
        for name, option in options.items()
    }


def _not_an_option(name: str, objective: Objective) -> str:
    own = ", ".join(objective.options) or "none"
    others = [other.name for other in OBJECTIVES.values() if name in other.options]
    if others:
        return f"it is an option of {', '.join(others)}, not of {objective.name}, whose options are: {own}"
    return f"no option of {objective.name}, whose options are: {own}" + (
        suggestion(name, objective.options) if objective.options else ""
    )


def _checked(name: str, value: Any, wanted: Any) -> Any:
    if get_origin(wanted) in (Union, types.UnionType):
        return None if value is None else _checked(name, value, get_args(wanted)[0])
    if get_origin(wanted) is Literal:
        return checked_name(value, name, get_args(wanted))
    if wanted is bool:
        checked_flag(value, name)
        return value
    if wanted is int:
        return checked_count(value, name, 1)
    return checked_number(value, name, "a finite number >= 0", inside=lambda number: 0 <= number < float("inf"))
