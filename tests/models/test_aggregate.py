"""Estimates of the aggregate posterior against what is exact."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.distributions import Normal

from demele.core.errors import InputError, UnknownNameError
from demele.models.vae.objectives import (
    ESTIMATORS,
    aggregate_log_densities,
    decomposition,
    log_normal,
    log_weights,
    total_correlation,
)
from tests.models.test_objectives import doubles, drawn
from tests.tolerances import ROUNDING, assert_close, assert_exact


def log_prob(mean: Tensor, logvar: Tensor, codes: Tensor) -> Tensor:
    """Log densities as torch has them."""
    found: Tensor = Normal(mean, (logvar / 2).exp()).log_prob(codes)  # type: ignore[no-untyped-call]
    return found


def corners(means: list[list[float]]) -> tuple[Tensor, Tensor, Tensor]:
    """Codes at the means of posteriors that do not overlap."""
    mean = doubles(means)
    return mean, mean, torch.full_like(mean, 2 * math.log(0.1))


def without_constant(codes: Tensor, mean: Tensor, logvar: Tensor) -> tuple[float, float]:
    """MI and TC with all weights 0, as in code that drops the constant."""
    joint, product = aggregate_log_densities(codes, mean, logvar, torch.zeros(len(codes), len(codes)).double())
    own = log_normal(codes, mean, logvar).sum(dim=1)
    return (own - joint).mean().item(), (joint - product).mean().item()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_three_parts_add_up(estimator: str) -> None:
    mean, logvar, codes = drawn(20, 4)
    found = decomposition(codes, mean, logvar, n=300, estimator=estimator)
    standard = log_prob(doubles(0.0), doubles(0.0), codes)
    whole = (log_prob(mean, logvar, codes) - standard).sum(dim=1).mean()
    assert_close(sum(found), whole, ROUNDING)
    assert_close(total_correlation(codes, mean, logvar, n=300, estimator=estimator), found[1], ROUNDING)


def test_two_images_on_a_diagonal() -> None:
    codes = corners([[5, 5], [-5, -5]])
    log2 = math.log(2)
    assert_close(decomposition(*codes, n=2)[:2], [log2, log2], ROUNDING)
    assert_close(decomposition(*codes, n=2, estimator="mws")[:2], [2 * log2, 2 * log2], ROUNDING)
    assert_close(without_constant(*codes), [0, 0], ROUNDING)


def test_four_images_at_the_corners() -> None:
    codes = corners([[5, 5], [5, -5], [-5, 5], [-5, -5]])
    log4 = math.log(4)
    assert_close(decomposition(*codes, n=4)[:2], [log4, 0], ROUNDING)
    assert_close(decomposition(*codes, n=4, estimator="mws")[:2], [2 * log4, log4], ROUNDING)
    assert_close(without_constant(*codes), [0, -log4], ROUNDING)


def test_a_batch_of_all_images_is_exact() -> None:
    mean, logvar, codes = drawn(30, 3)
    joint, product = aggregate_log_densities(codes, mean, logvar, log_weights(30, 30, "stratified", like=codes))
    for row, code in enumerate(codes):
        densities = log_prob(mean, logvar, code).exp()  # of one sample under each posterior
        assert_close(joint[row], math.log(densities.prod(dim=1).mean()), ROUNDING)
        assert_close(product[row], sum(math.log(one) for one in densities.mean(dim=0)), ROUNDING)


def test_weights_of_the_stratified_estimate_add_up_to_one() -> None:
    weights = log_weights(5, 40, "stratified", like=doubles(0.0)).exp()
    assert_close(weights.sum(dim=1), np.ones(5), ROUNDING)
    assert_close(weights.diagonal(), np.full(5, 1 / 40), ROUNDING)  # the diagonal, not a column


def sampled(d: int, rho: float, std: float, batch: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """A batch whose aggregate posterior is a normal distribution of unit variances with one correlation."""
    rng = np.random.default_rng(seed)
    covariance = np.full((d, d), rho) + (1 - rho) * np.eye(d)
    mean = torch.from_numpy(rng.multivariate_normal(np.zeros(d), covariance - std**2 * np.eye(d), size=batch))
    return mean + std * torch.from_numpy(rng.normal(size=(batch, d))), mean, torch.full_like(mean, 2 * math.log(std))


def test_correlated_codes_have_the_total_correlation_that_is_known() -> None:
    batches = [sampled(2, 0.6, 0.5, 512, seed) for seed in range(12)]
    found = np.array([total_correlation(*batch, n=20_000).item() for batch in batches])
    error = found.std(ddof=1) / math.sqrt(len(found))
    assert abs(found.mean() + math.log(1 - 0.36) / 2) < 5 * error + 1 / 512


def test_weights_in_columns_would_find_correlation_where_there_is_none() -> None:
    """The stratified weights as three published implementations fill them in are more than 2 nats off."""
    n, batch = 20_000, 64
    others = batch - 1
    columns = torch.full((batch, batch), 1 / others, dtype=torch.float64)
    columns.view(-1)[:: others + 1] = 1 / n  # strides over the rows: first column, not diagonal
    columns.view(-1)[1 :: others + 1] = (n - others) / (n * others)
    columns[others - 1, 0] = (n - others) / (n * others)
    wrong, right = [], []
    for seed in range(10):
        codes = sampled(10, 0.0, 0.5, batch, seed)
        joint, product = aggregate_log_densities(*codes, columns.log())
        wrong.append((joint - product).mean().item())
        right.append(total_correlation(*codes, n=n).item())
    assert np.mean(wrong) > 2
    assert -1.6 < np.mean(right) < 0


def test_the_gradient_does_not_depend_on_a_constant_weight() -> None:
    mean, logvar, codes = drawn(12, 3)
    gradients = []
    for weights in (
        log_weights(12, 500, "mws", like=codes),
        log_weights(12, 500, "batch", like=codes),
        0 * mean @ mean.T,
    ):
        leaves = [part.clone().requires_grad_(True) for part in (codes, mean, logvar)]
        joint, product = aggregate_log_densities(leaves[0], leaves[1], leaves[2], weights)
        gradients.append(torch.cat(torch.autograd.grad((joint - product).mean(), leaves)))
    for other in gradients[1:]:
        assert_close(other, gradients[0], ROUNDING)


def test_two_images_are_the_least() -> None:
    with pytest.raises(InputError, match="n: expected a batch of 2 to n images, got a batch of 1"):
        log_weights(1, 10, "stratified")
    with pytest.raises(InputError, match="got a batch of 5 and n=4"):
        log_weights(5, 4, "mws")
    with pytest.raises(UnknownNameError, match="did you mean 'mws'"):
        log_weights(5, 9, "mw")
    assert_exact(log_weights(2, 2, "stratified").exp(), [[0.5, 0.5], [0.5, 0.5]])
