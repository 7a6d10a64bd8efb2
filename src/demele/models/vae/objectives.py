r"""What the objectives add to the reconstruction error: pure functions of the posteriors of a batch.

Posteriors are q(z|x) = N(mu, sigma^2), the networks return l = log sigma^2. For all objectives

.. math::
    \text{loss} = R + \text{penalty}, \qquad
    K_j = \frac{1}{B} \sum_b \tfrac{1}{2} (\mu_{bj}^2 + e^{l_{bj}} - 1 - l_{bj}), \qquad K = \sum_j K_j

Errors are summed over pixels and divergences over codes, and both are averaged over the batch: with means instead of
the sums, the same beta has another effect.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from demele.core.extras import require

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    torch = require("torch", purpose="a VAE")
    Tensor = torch.Tensor

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


def capacity_at(step: int, c_max: float, steps: int) -> float:
    """Return the capacity C in nats that is allowed at a step, counted from 0: from 0 to ``c_max`` within ``steps``.

    Examples
    --------
    >>> [capacity_at(step, 25.0, 100) for step in (0, 50, 100, 200)]
    [0.0, 12.5, 25.0, 25.0]
    """
    return c_max * min(1.0, step / steps)


# Covariance of the codes ----------------------------------------------------------------------------------------------


def mean_covariance(mean: Tensor) -> Tensor:
    """Return the covariance of the means over a batch, (d, d), divided by B as the published objective has it."""
    centred = mean - mean.mean(dim=0)
    return centred.T @ centred / len(mean)


def code_covariance(mean: Tensor, logvar: Tensor) -> Tensor:
    """Return the covariance of sampled codes over a batch, (d, d): that of the means, and the mean variances."""
    return mean_covariance(mean) + torch.diag(logvar.exp().mean(dim=0))


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


def logit_difference(logits: Tensor) -> Tensor:
    """Return mean[D_0 - D_1], an estimate of the total correlation if D tells joint (0) from permuted (1) codes.

    Parameters
    ----------
    logits : tensor of shape (B, 2)
        Of the discriminator at codes as they were drawn.
    """
    return (logits[:, 0] - logits[:, 1]).mean()


def discriminator_loss(joint: Tensor, permuted: Tensor) -> Tensor:
    """Return the cross-entropy of a discriminator in nats; log 2 if it tells nothing.

    Parameters
    ----------
    joint, permuted : tensors of shape (B, 2)
        Logits at codes as they were drawn, class 0, and at permuted ones, class 1.
    """
    log_shares = torch.log_softmax(joint, dim=1)[:, 0].mean() + torch.log_softmax(permuted, dim=1)[:, 1].mean()
    return -0.5 * log_shares


def discriminator_error(
    discriminator: Callable[[Tensor], Tensor], joint: Tensor, others: Tensor, rng: np.random.Generator
) -> Tensor:
    """Return what a discriminator is trained to make small; nothing of it reaches what made the codes.

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
        :func:`discriminator_loss`
    """
    return discriminator_loss(discriminator(joint.detach()), discriminator(permuted(others.detach(), rng)))


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
