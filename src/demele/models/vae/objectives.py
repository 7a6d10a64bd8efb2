r"""The objectives of VAEs: posteriors, penalties, and the table of objectives with their options.

Posteriors are q(z|x) = N(mu, sigma^2), the networks return l = log sigma^2. For all objectives

.. math::
    \text{loss} = R + \text{penalty}, \qquad
    K_j = \frac{1}{B} \sum_b \tfrac{1}{2} (\mu_{bj}^2 + e^{l_{bj}} - 1 - l_{bj}), \qquad K = \sum_j K_j

Errors are summed over pixels and divergences over codes, and both are averaged over the batch: with means instead of
the sums, the same beta has another effect.

The aggregate posterior q(z), the mean of the posteriors of all n training images, is estimated from a batch of B:
sample b is compared with the posterior of every image m of the batch, each with a weight w_bm:

.. math::
    \log q(z_b) = \log \sum_m \exp( w_{bm} + \sum_j L_{bmj} ), \qquad
    \log \prod_j q(z_{bj}) = \sum_j \log \sum_m \exp( w_{bm} + L_{bmj} )

where L_bmj = log N(z_bj; mu_mj, sigma_mj^2).
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from demele.core.errors import InputError, InputTypeError
from demele.core.kinds import Amount, Count, checked_name, kind_of, suggestion
from demele.core.lazy import require

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    torch = require("torch", purpose="a VAE")
    Tensor = torch.Tensor


# The aggregate posterior ----------------------------------------------------------------------------------------------


#: Ways to weigh the posteriors of a batch; :func:`log_weights` says how.
ESTIMATORS = ("stratified", "mws", "batch")


class Decomposition(NamedTuple):
    """The three parts of the mean KL divergence from the prior, in nats (Chen et al. 2018, eq. 2).

    Attributes
    ----------
    mutual_information : scalar tensor
        Of images and codes.
    total_correlation : scalar tensor
        How far the codes are from independent.
    dimension_wise_kl : scalar tensor
        How far each code alone is from the prior, summed over the codes.
    """

    mutual_information: Tensor
    total_correlation: Tensor
    dimension_wise_kl: Tensor


def log_weights(codes: Tensor, n: int, estimator: str) -> Tensor:
    """Return the log weights of the posteriors of a batch in the estimate of q(z).

    Parameters
    ----------
    codes : tensor of shape (B, d)
        Of at least 2 images; the weights have its dtype and device.
    n : int >= B
        Training images.
    estimator : {"stratified", "mws", "batch"}
        ``"stratified"``: a sample's own posterior has weight 1/n, the others share the rest. It has the expectation of
        the stratified estimator of Chen et al. (2018, appendix C), averaged over which of the others has its odd
        weight, and is exact if the batch is the whole set. ``"mws"``: 1/(B n) for all, which is low by log n where
        posteriors overlap. ``"batch"``: 1/B for all. The gradients of the last two are the same.

    Returns
    -------
    tensor of shape (B, B)
        Row: sample; column: posterior.

    Raises
    ------
    InputError, UnknownNameError

    Examples
    --------
    >>> log_weights(torch.zeros(2, 3), 4, "stratified").exp()
    tensor([[0.2500, 0.7500],
            [0.7500, 0.2500]])
    """
    checked_name(estimator, "estimator", ESTIMATORS)
    batch = len(codes)
    if not 2 <= batch <= n:
        raise InputError(
            "n", f"expected a batch of 2 to n images, got a batch of {batch} and n={n}; n counts the training images"
        )
    if estimator == "stratified":
        others = math.log(n - 1) - math.log(n) - math.log(batch - 1)
        return codes.new_full((batch, batch), others).fill_diagonal_(-math.log(n))
    weight = -math.log(batch * n) if estimator == "mws" else -math.log(batch)
    return codes.new_full((batch, batch), weight)


def log_normal(codes: Tensor, mean: Tensor, logvar: Tensor) -> Tensor:
    """Return log N(codes; mean, exp(logvar)), element by element."""
    return -0.5 * ((codes - mean).square() * torch.exp(-logvar) + logvar + math.log(2 * math.pi))


def aggregate_log_densities(codes: Tensor, mean: Tensor, logvar: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return log q(z) and log prod_j q(z_j) at each sample.

    Parameters
    ----------
    codes, mean, logvar : tensors of shape (B, d)
        Samples, and the posteriors that they were drawn from.
    weights : tensor of shape (B, B)
        Log weights; row: sample.

    Returns
    -------
    joint, product : tensors of shape (B,)
    """
    each = log_normal(codes[:, None, :], mean[None, :, :], logvar[None, :, :])
    joint = torch.logsumexp(weights + each.sum(dim=2), dim=1)
    product = torch.logsumexp(weights[:, :, None] + each, dim=1).sum(dim=1)
    return joint, product


def decomposition(
    codes: Tensor, mean: Tensor, logvar: Tensor, *, n: int, estimator: str = "stratified"
) -> Decomposition:
    """Take the mean KL divergence from the prior apart, as estimated from one batch.

    Parameters
    ----------
    codes, mean, logvar : tensors of shape (B, d)
        Samples, and mean and log-variance of the posteriors that they were drawn from.
    n : int
        Training images. There is no default: without it the numbers mean nothing.
    estimator : {"stratified", "mws", "batch"}
        See :func:`log_weights`.

    Returns
    -------
    Decomposition
        In nats; the three add up to mean[log q(z|x) - log p(z)] whatever the estimator.

    Notes
    -----
    Every estimator fails where the posteriors of a batch do not overlap: the mutual information then saturates at
    log n, and the total correlation takes the rest. Read neither where the former exceeds log n - 1.

    Examples
    --------
    Two images at +-(5, 5): one code already tells them apart, and the other repeats it.

    >>> mean = torch.tensor([[5.0, 5.0], [-5.0, -5.0]])
    >>> found = decomposition(mean, mean, torch.full((2, 2), -4.6), n=2)
    >>> [round(part.item(), 3) for part in found[:2]]  # log 2 each
    [0.693, 0.693]
    """
    joint, product = aggregate_log_densities(codes, mean, logvar, log_weights(codes, n, estimator))
    own = log_normal(codes, mean, logvar).sum(dim=1)
    prior = log_normal(codes, torch.zeros_like(codes), torch.zeros_like(codes)).sum(dim=1)
    return Decomposition((own - joint).mean(), (joint - product).mean(), (product - prior).mean())


# Divergence from the prior ------------------------------------------------------------------------------------------


def kl_per_code(mean: Tensor, logvar: Tensor) -> Tensor:
    """Return the KL divergence of each code from the prior N(0, 1), averaged over the batch.

    Parameters
    ----------
    mean, logvar : tensors of shape (B, d)

    Returns
    -------
    tensor of shape (d,)
        K_j in nats.

    Examples
    --------
    >>> kl_per_code(torch.tensor([[1.0, 2.0]]), torch.tensor([[0.0, 0.0]]))
    tensor([0.5000, 2.0000])
    """
    return 0.5 * (mean.square() + logvar.exp() - 1 - logvar).mean(dim=0)


def kl_between(mean_1: Tensor, logvar_1: Tensor, mean_2: Tensor, logvar_2: Tensor) -> Tensor:
    """Return KL(q_1 || q_2) of each code of each image, in nats; tensors of one shape."""
    ratio = (logvar_1 - logvar_2).exp()
    return 0.5 * (ratio + (mean_1 - mean_2).square() * torch.exp(-logvar_2) - 1 + logvar_2 - logvar_1)


# Covariance of the codes ----------------------------------------------------------------------------------------------


def mean_covariance(mean: Tensor) -> Tensor:
    """Return the covariance of the means over a batch, (d, d), divided by B as the published objective has it."""
    centred = mean - mean.mean(dim=0)
    return centred.T @ centred / len(mean)


def distance_from_identity(covariance: Tensor, lambda_od: float, lambda_d: float) -> Tensor:
    """Return lambda_od times the squares off the diagonal, and lambda_d times those of the diagonal minus 1.

    Independent N(0, 1) codes do not cost 0 on a batch of B, but
    [lambda_od d (d - 1) (B - 1) + lambda_d d (2 B - 1)] / B^2 on average.
    """
    diagonal = torch.diagonal(covariance)
    off = covariance - torch.diag(diagonal)
    return lambda_od * off.square().sum() + lambda_d * (diagonal - 1).square().sum()


# The discriminator of FactorVAE ---------------------------------------------------------------------------------------


def permuted(codes: Tensor, rng: np.random.Generator) -> Tensor:
    """Return the codes with each column permuted on its own: samples of the product of the codes' distributions.

    Parameters
    ----------
    codes : tensor of shape (B, d)
    rng : numpy.random.Generator
    """
    rows = np.repeat(np.arange(len(codes))[:, None], codes.shape[1], axis=1)
    order = torch.from_numpy(rng.permuted(rows, axis=0)).to(codes.device)
    return torch.gather(codes, 0, order)


def discriminator_error(
    discriminator: Callable[[Tensor], Tensor], joint: Tensor, others: Tensor, rng: np.random.Generator
) -> Tensor:
    """Return the cross-entropy of a discriminator in nats, log 2 if it tells nothing; nothing of it reaches the codes.

    Parameters
    ----------
    discriminator : callable (B, d) -> (B, 2)
    joint : tensor of shape (B, d)
        Codes as they were drawn.
    others : tensor of shape (B, d)
        Codes that are permuted: of a second batch, so that the discriminator cannot learn these by heart.
    rng : numpy.random.Generator
        Of the permutation.

    Returns
    -------
    scalar tensor
    """
    log_shares = [
        torch.log_softmax(discriminator(codes), dim=1) for codes in (joint.detach(), permuted(others.detach(), rng))
    ]
    return -0.5 * (log_shares[0][:, 0].mean() + log_shares[1][:, 1].mean())


# Pairs of images ---------------------------------------------------------------------------------------------------


class Posterior(NamedTuple):
    """Mean and log-variance of the codes of some images, tensors of shape (n, d)."""

    mean: Tensor
    logvar: Tensor


def shared_codes(first: Posterior, second: Posterior) -> Tensor:
    """Return which codes of each pair are taken to be the same factor: those nearer to the least than the largest KL.

    Parameters
    ----------
    first, second : Posterior of shape (n, d)
        Of the two images of each pair.

    Returns
    -------
    tensor of bool of shape (n, d)
        KL(q_1j || q_2j) < (min_j + max_j) / 2; nothing where all are equal.
    """
    delta = kl_between(*first, *second)
    return delta < (delta.amin(dim=1, keepdim=True) + delta.amax(dim=1, keepdim=True)) / 2


def averaged(first: Posterior, second: Posterior) -> Posterior:
    """Return the mean of two posteriors as Ada-GVAE has it: of the means, and of the variances."""
    return Posterior((first.mean + second.mean) / 2, torch.logaddexp(first.logvar, second.logvar) - math.log(2))


def multiplied(first: Posterior, second: Posterior) -> Posterior:
    """Return the mean of two posteriors as Ada-ML-VAE has it: weighted by their precisions."""
    weight = torch.sigmoid(second.logvar - first.logvar)
    logvar = math.log(2) - torch.logaddexp(-first.logvar, -second.logvar)
    return Posterior(weight * first.mean + (1 - weight) * second.mean, logvar)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What a penalty may look at.

    Attributes
    ----------
    mean, logvar, codes : tensors of shape (B, d)
        Posteriors, and the samples that were drawn from them.
    kl : tensor of shape (d,)
        :func:`kl_per_code` of the posteriors.
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


def beta_vae(batch: Batch, *, beta: Amount = 4.0) -> Tensor:
    """Return beta K."""
    return beta * batch.kl.sum()


def capacity(batch: Batch, *, c_max: Amount = 25.0, gamma: Amount = 100.0, steps: Count = 2000) -> Tensor:
    """Return gamma abs(K - C) with the batch mean K; C grows from 0 to ``c_max`` nats within ``steps``.

    The paper uses gamma 1000, and C grows for 100,000 of 300,000 steps. With a few thousand steps that only collapses
    the codes, so the defaults fit short runs.
    """
    return gamma * (batch.kl.sum() - c_max * min(1.0, batch.step / steps)).abs()


def beta_tcvae(batch: Batch, *, beta: Amount = 4.0, estimator: Literal["stratified", "mws", "batch"] = "mws") -> Tensor:
    """Return K + (beta - 1) TC, with K in closed form and TC estimated."""
    found = decomposition(batch.codes, batch.mean, batch.logvar, n=batch.n, estimator=estimator)
    return batch.kl.sum() + (beta - 1) * found.total_correlation


def factor_vae(batch: Batch, *, gamma: Amount = 10.0, same_batch: bool = False, width: Count = 1000) -> Tensor:
    """Return K + gamma mean[D_0 - D_1], which estimates the total correlation if D separates joint and permuted codes.

    The discriminator learns from the joint codes of this batch and permuted codes of a second one; with
    ``same_batch`` from those of this one, as in disentanglement_lib. Its layers are ``width`` wide.
    """
    if batch.logits is None:
        raise InputError("logits", "FactorVAE needs what its discriminator says of the codes")
    return batch.kl.sum() + gamma * (batch.logits[:, 0] - batch.logits[:, 1]).mean()


def dip_vae_i(batch: Batch, *, lambda_od: Amount = 2.0, lambda_d: Amount | None = None) -> Tensor:
    """Return K + the distance of Cov(mu) from the identity; lambda_d is 10 lambda_od unless given."""
    on = 10 * lambda_od if lambda_d is None else lambda_d
    return batch.kl.sum() + distance_from_identity(mean_covariance(batch.mean), lambda_od, on)


def dip_vae_ii(batch: Batch, *, lambda_od: Amount = 2.0, lambda_d: Amount | None = None) -> Tensor:
    """Return K + the distance of Cov(z) from the identity; lambda_d is lambda_od unless given."""
    covariance = mean_covariance(batch.mean) + torch.diag(batch.logvar.exp().mean(dim=0))
    on = lambda_od if lambda_d is None else lambda_d
    return batch.kl.sum() + distance_from_identity(covariance, lambda_od, on)


def ada_gvae(batch: Batch, *, beta: Amount = 1.0, changed: Count = 1) -> Tensor:
    """Return beta K of posteriors that were averaged over pairs; in a pair ``changed`` factors differ."""
    return beta * batch.kl.sum()


def ada_mlvae(batch: Batch, *, beta: Amount = 1.0, changed: Count = 1) -> Tensor:
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
        shared, both = shared_codes(first, second), self.merge(first, second)
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
        Objective(penalty=ada_gvae, source=_LOCATELLO, merge=averaged),
        Objective(penalty=ada_mlvae, source=_LOCATELLO, merge=multiplied),
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
            own = ", ".join(options) or "none"
            others = ", ".join(other.name for other in OBJECTIVES.values() if name in other.options)
            told, near = f"it is an option of {others}, not", ""
            if not others:
                told, near = "no option", suggestion(name, options) if options else ""
            raise InputTypeError(name, f"{told} of {objective.name}, whose options are: {own}{near}")
    checked = {name: option.default for name, option in options.items()}
    for name, value in given.items():
        kind = kind_of(options[name].annotation)
        checked[name] = kind.check(value, name) if kind and kind.check else value
    return checked
