r"""The aggregate posterior q(z), the mean of the posteriors of all n training images, estimated from a batch of B.

Sample b is compared with the posterior of every image m of the batch, each with a weight w_bm:

.. math::
    \log q(z_b) = \log \sum_m \exp( w_{bm} + \sum_j L_{bmj} ), \qquad
    \log \prod_j q(z_{bj}) = \sum_j \log \sum_m \exp( w_{bm} + L_{bmj} )

where L_bmj = log N(z_bj; mu_mj, sigma_mj^2).
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from demele.core.errors import InputError
from demele.core.extras import require
from demele.core.names import checked_name

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    torch = require("torch", purpose="a VAE")
    Tensor = torch.Tensor

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


def log_weights(batch: int, n: int, estimator: str, *, like: Tensor | None = None) -> Tensor:
    """Return the log weights of the posteriors of a batch in the estimate of q(z).

    Parameters
    ----------
    batch : int >= 2
        Images in the batch, B.
    n : int >= batch
        Training images.
    estimator : {"stratified", "mws", "batch"}
        ``"stratified"``: a sample's own posterior has weight 1/n, the others share the rest. It has the expectation of
        the stratified estimator of Chen et al. (2018, appendix C), averaged over which of the others has its odd
        weight, and is exact if the batch is the whole set. ``"mws"``: 1/(B n) for all, which is low by log n where
        posteriors overlap. ``"batch"``: 1/B for all. The gradients of the last two are the same.
    like : tensor, optional
        Of the dtype and device that the weights shall have.

    Returns
    -------
    tensor of shape (batch, batch)
        Row: sample; column: posterior.

    Raises
    ------
    InputError, UnknownNameError

    Examples
    --------
    >>> log_weights(2, 4, "stratified").exp()
    tensor([[0.2500, 0.7500],
            [0.7500, 0.2500]])
    """
    checked_name(estimator, "estimator", ESTIMATORS)
    if not 2 <= batch <= n:
        raise InputError(
            "n", f"expected a batch of 2 to n images, got a batch of {batch} and n={n}; n counts the training images"
        )
    place: dict[str, Any] = {} if like is None else {"dtype": like.dtype, "device": like.device}
    if estimator == "stratified":
        others = math.log(n - 1) - math.log(n) - math.log(batch - 1)
        return torch.full((batch, batch), others, **place).fill_diagonal_(-math.log(n))
    weight = -math.log(batch * n) if estimator == "mws" else -math.log(batch)
    return torch.full((batch, batch), weight, **place)


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


def total_correlation(codes: Tensor, mean: Tensor, logvar: Tensor, *, n: int, estimator: str = "stratified") -> Tensor:
    """Return how far the codes are from independent under q(z), in nats: see :func:`decomposition`."""
    joint, product = aggregate_log_densities(codes, mean, logvar, log_weights(len(codes), n, estimator, like=codes))
    return (joint - product).mean()


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
    joint, product = aggregate_log_densities(codes, mean, logvar, log_weights(len(codes), n, estimator, like=codes))
    own = log_normal(codes, mean, logvar).sum(dim=1)
    prior = log_normal(codes, torch.zeros_like(codes), torch.zeros_like(codes)).sum(dim=1)
    return Decomposition((own - joint).mean(), (joint - product).mean(), (product - prior).mean())
