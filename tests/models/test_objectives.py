"""Penalties, likelihoods and networks against closed forms: each fails with the mistake that is known for it."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.distributions import MultivariateNormal, Normal, kl_divergence

from demele.core.arrays import rng_for
from demele.core.errors import InputError, InputTypeError, UnknownNameError
from demele.models.results import TrainingSpec
from demele.models.training import initialised
from demele.models.vae import objectives
from demele.models.vae.objectives import Batch, Posterior, decomposition, log_normal, log_weights, objective_of
from demele.models.vae.train import (
    NETWORKS,
    Bernoulli,
    Gaussian,
    Pair,
    Shape,
    check_decoded,
    checked_network,
    discriminator,
    likelihood_of,
    posterior_of,
)
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact, assert_mean


def doubles(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def drawn(rows: int, d: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Random posteriors, and samples of them."""
    rng = np.random.default_rng(seed)
    mean, logvar, noise = (torch.from_numpy(rng.normal(size=(rows, d))) for _ in range(3))
    return mean, logvar, mean + (logvar / 2).exp() * noise


def batch_of(mean: Tensor, logvar: Tensor, codes: Tensor, **more: Any) -> Batch:
    given: dict[str, Any] = {"n": 100, "step": 0, **more}
    return Batch(mean=mean, logvar=logvar, codes=codes, kl=objectives.kl_per_code(mean, logvar), **given)


def penalty(name: str, batch: Batch, **options: Any) -> Tensor:
    objective = objective_of(name)
    return objective.penalty(batch, **objectives.checked_options(objective, options))


# K ------------------------------------------------------------------------------------------------------------------


def test_divergence_from_the_prior() -> None:
    mean, variance = doubles([[1.0, 0.0, 0.0, 2.0, 0.0]]), doubles([[1.0, math.e, 0.25, 0.25, 1.0]])
    expected = [0.5, (math.e - 2) / 2, 0.318147180559945, 2.318147180559945, 0.0]
    assert_close(objectives.kl_per_code(mean, variance.log()), expected, ROUNDING)


def test_divergence_is_summed_over_codes_and_averaged_over_images() -> None:
    mean, logvar = doubles([[1.0, 2.0, 0.0], [3.0, 0.0, 0.0]]), torch.zeros(2, 3, dtype=torch.float64)
    assert_close(objectives.kl_per_code(mean, logvar), [2.5, 1.0, 0.0], ROUNDING)
    assert_close(penalty("vae", batch_of(mean, logvar, mean)), 3.5, ROUNDING)


def test_divergence_between_posteriors_is_that_of_torch() -> None:
    (m1, l1, _), (m2, l2, _) = drawn(5, 3), drawn(5, 3, seed=1)
    expected = kl_divergence(Normal(m1, (l1 / 2).exp()), Normal(m2, (l2 / 2).exp()))
    assert_close(objectives.kl_between(m1, l1, m2, l2), expected, ROUNDING)


# Strengths ----------------------------------------------------------------------------------------------------------


def test_the_loss_changes_with_beta_by_k() -> None:
    batch = batch_of(*drawn(8, 3))
    for name in ("beta_vae", "ada_gvae", "ada_mlvae"):
        assert_close(penalty(name, batch, beta=7) - penalty(name, batch, beta=2), 5 * batch.kl.sum(), ROUNDING)


def test_the_loss_changes_with_beta_by_the_total_correlation() -> None:
    batch = batch_of(*drawn(8, 3))
    for estimator in ("mws", "stratified"):
        tc = decomposition(batch.codes, batch.mean, batch.logvar, n=100, estimator=estimator).total_correlation
        changed = penalty("beta_tcvae", batch, beta=7, estimator=estimator)
        assert_close(changed - penalty("beta_tcvae", batch, beta=2, estimator=estimator), 5 * tc, ROUNDING)


def test_objectives_that_are_the_same_have_the_same_bits_and_gradients() -> None:
    mean, logvar, codes = drawn(16, 4)
    same = {
        "vae": {},
        "beta_vae": {"beta": 1},
        "beta_tcvae": {"beta": 1},
        "dip_vae_i": {"lambda_od": 0},
        "dip_vae_ii": {"lambda_od": 0},
        "factor_vae": {"gamma": 0},
        "ada_gvae": {"beta": 1},
        "capacity": {"c_max": 0, "gamma": 1},
    }
    found = []
    for name, options in same.items():
        leaves = [part.clone().requires_grad_(True) for part in (mean, logvar)]
        value = penalty(name, batch_of(leaves[0], leaves[1], codes, logits=torch.ones(16, 2), step=9), **options)
        found.append([value.detach(), *torch.autograd.grad(value, leaves)])
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            assert_exact(one, two)


# Capacity -----------------------------------------------------------------------------------------------------------


def test_capacity_is_compared_with_the_mean_of_the_batch() -> None:
    mean = doubles([[0.0], [2.0]])  # divergences 0 and 2
    batch = batch_of(mean, torch.zeros_like(mean), mean, step=10)
    assert_exact(penalty("capacity", batch, c_max=1, gamma=1000, steps=10), 0.0)  # image by image it would be 1000
    assert_exact(penalty("capacity", batch, c_max=4, gamma=10, steps=10), 30.0)  # too little costs as too much does
    for step, expected in ((0, 10.0), (5, 10.0), (20, 30.0)):  # C is 0, 2, and stays 4
        later = replace(batch, step=step)
        assert_exact(penalty("capacity", later, c_max=4, gamma=10, steps=10), expected)


# DIP ------------------------------------------------------------------------------------------------------------------

CORNERS = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]


def test_distance_of_the_covariance_from_the_identity() -> None:
    corners = doubles(CORNERS)  # divided by B - 1 it would be 22.2
    for mean, expected in ((corners, 0.0), (2 * corners, 1800.0), (doubles([[1.0, 1.0], [-1.0, -1.0]]), 20.0)):
        batch = batch_of(mean, torch.zeros_like(mean), mean)
        for options in ({"lambda_d": 100}, {}):  # which is the default
            assert_close(penalty("dip_vae_i", batch, lambda_od=10, **options) - batch.kl.sum(), expected, ROUNDING)


def test_variances_count_in_the_second_form() -> None:
    mean = doubles(CORNERS) / math.sqrt(2)
    batch = batch_of(mean, torch.full_like(mean, math.log(0.5)), mean)
    found = penalty("dip_vae_ii", batch, lambda_od=10, lambda_d=100) - batch.kl.sum()
    assert_close(found, 0.0, ROUNDING)
    doubled = batch_of(2 * mean, batch.logvar, mean)
    found = penalty("dip_vae_ii", doubled, lambda_od=3) - doubled.kl.sum()
    assert_close(found, 3 * 2 * 1.5**2, ROUNDING)  # lambda_d is lambda_od


# The discriminator ----------------------------------------------------------------------------------------------------

RHO = 0.6


def correlated(n: int) -> Tensor:
    first, second = np.random.default_rng(0).normal(size=(2, n))
    return torch.from_numpy(np.stack([first, RHO * first + math.sqrt(1 - RHO**2) * second], axis=1))


def best_logits(codes: Tensor) -> Tensor:
    """Logits of the best discriminator of a Gaussian pair from its permutation: log densities."""
    joint = MultivariateNormal(torch.zeros(2).double(), doubles([[1, RHO], [RHO, 1]]))
    product = MultivariateNormal(torch.zeros(2).double(), torch.eye(2).double())
    each = [normal.log_prob(codes) for normal in (joint, product)]  # type: ignore[no-untyped-call]
    return torch.stack(each, dim=1)


def test_the_best_discriminator_estimates_the_total_correlation() -> None:
    codes = correlated(40_000)
    truth = -math.log(1 - RHO**2) / 2
    parts = [codes[row : row + 400] for row in range(0, 40_000, 400)]
    batches = [batch_of(part, torch.zeros_like(part), part, logits=best_logits(part)) for part in parts]
    assert_mean([penalty("factor_vae", one, gamma=1) - one.kl.sum() for one in batches], truth)
    apart = objectives.permuted(codes, rng_for(0, "permutation"))
    logits = best_logits(apart)
    assert_mean((logits[:, 0] - logits[:, 1]).numpy(), truth - RHO**2 / (1 - RHO**2))


def test_permuting_keeps_each_column_and_moves_it_on_its_own() -> None:
    codes = torch.arange(60.0).reshape(20, 3)
    found = objectives.permuted(codes, rng_for(0, "permutation", 1))
    assert_exact(found.sort(dim=0).values, codes)
    rows = (found - torch.arange(3.0)) / 3  # which row each value came from
    assert not (rows[:, 0] == rows[:, 1]).all()
    assert not (rows[:, 1] == rows[:, 2]).all()


def test_the_loss_of_the_discriminator_does_not_reach_the_encoder() -> None:
    encoder, discriminator = nn.Linear(4, 3), nn.Linear(3, 2)
    codes = encoder(torch.ones(6, 4))
    objectives.discriminator_error(discriminator, codes, codes, rng_for(0, "permutation")).backward()  # type: ignore[no-untyped-call]
    assert encoder.weight.grad is None
    assert discriminator.weight.grad is not None


# Pairs ----------------------------------------------------------------------------------------------------------------


def test_codes_that_a_pair_shares() -> None:
    logvar = doubles([[math.log(0.25)] * 3])
    first, second = Posterior(doubles([[0.0, 0, 0]]), logvar), Posterior(doubles([[0.1, 0.2, 3]]), logvar)
    assert_close(objectives.kl_between(*first, *second), [[0.02, 0.08, 18]], ROUNDING)
    assert_exact(objectives.shared_codes(first, second), [[True, True, False]])


@pytest.mark.parametrize(
    ("merge", "mean", "variance"), [(objectives.averaged, 0.5, 0.625), (objectives.multiplied, 0.8, 0.4)]
)
def test_merged_posteriors(merge: Any, mean: float, variance: float) -> None:
    first, second = (
        Posterior(doubles([[0.0]]), doubles([[0.0]])),
        Posterior(doubles([[1.0]]), doubles([[math.log(0.25)]])),
    )
    for one, two in ((first, second), (second, first)):
        found = merge(one, two)
        assert_close(found.mean, [[mean]], ROUNDING)
        assert_close(found.logvar.exp(), [[variance]], ROUNDING)


def test_only_shared_codes_of_a_pair_are_merged() -> None:
    logvar = doubles([[math.log(0.25)] * 3, [math.log(0.25)] * 3])
    encoded = Posterior(doubles([[0.0, 0, 0], [0.1, 0.2, 3]]), logvar)
    assert_close(objectives.OBJECTIVES["ada_gvae"].posteriors(encoded).mean, [[0.05, 0.1, 0], [0.05, 0.1, 3]], ROUNDING)
    assert_exact(objectives.OBJECTIVES["vae"].posteriors(encoded).mean, encoded.mean)


# Likelihoods --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("likelihood", [Bernoulli(), Gaussian(0.2)])
def test_nothing_costs_less_than_the_floor(likelihood: Bernoulli | Gaussian) -> None:
    images = torch.from_numpy(np.random.default_rng(0).random((4, 1, 5, 5)))
    images[0] = 0.0
    images[1] = 1.0
    logits = torch.from_numpy(np.random.default_rng(1).normal(size=images.shape))
    assert (likelihood.errors(logits, images) > likelihood.floor(images)).all()
    assert_close(likelihood.errors(torch.logit(images[2:]), images[2:]), likelihood.floor(images[2:]), ROUNDING)


# What is refused ----------------------------------------------------------------------------------------------------


def test_options_of_another_objective_are_refused() -> None:
    checked, beta, vae = objectives.checked_options, objective_of("beta_vae"), objective_of("vae")
    refuses(InputTypeError, "of beta_vae, whose options are: beta; did you mean 'beta'", checked, beta, {"bet": 1})
    refuses(InputTypeError, "capacity, factor_vae, not of vae, whose options are: none", checked, vae, {"gamma": 1})


def test_a_normal_likelihood_needs_its_deviation() -> None:
    for given in ("gaussian", "gaussian:", "gaussian:small"):
        refuses(InputError, r"expected a standard deviation, as in 'gaussian:0.1'", likelihood_of, given)
    refuses(InputError, "std: expected a finite number above 0", Gaussian, 0.0)
    refuses(InputTypeError, r"expected 'bernoulli' or Gaussian\(std=...\)", likelihood_of, 0.1)
    assert likelihood_of("gaussian:0.1") == likelihood_of(Gaussian(0.1))
    assert likelihood_of(Gaussian(0.1).name) == Gaussian(0.1)
    assert likelihood_of(Bernoulli().name) == Bernoulli()


def test_unknown_names_are_refused_with_suggestions() -> None:
    refuses(UnknownNameError, "did you mean 'beta_tcvae'", objective_of, "beta_tc_vae")
    refuses(UnknownNameError, "did you mean 'bernoulli'", likelihood_of, "bernouli")
    with pytest.raises(UnknownNameError, match="did you mean 'stratified'"):
        objectives.checked_options(objective_of("beta_tcvae"), {"estimator": "stratifed"})


# Estimates of the aggregate posterior against what is exact ----------------------------------------------------------


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
    joint, product = objectives.aggregate_log_densities(
        codes, mean, logvar, torch.zeros(len(codes), len(codes)).double()
    )
    own = log_normal(codes, mean, logvar).sum(dim=1)
    return (own - joint).mean().item(), (joint - product).mean().item()


@pytest.mark.parametrize("estimator", objectives.ESTIMATORS)
def test_the_three_parts_add_up(estimator: str) -> None:
    mean, logvar, codes = drawn(20, 4)
    found = decomposition(codes, mean, logvar, n=300, estimator=estimator)
    standard = log_prob(doubles(0.0), doubles(0.0), codes)
    whole = (log_prob(mean, logvar, codes) - standard).sum(dim=1).mean()
    assert_close(sum(found), whole, ROUNDING)


def test_four_images_at_the_corners() -> None:
    codes = corners([[5, 5], [5, -5], [-5, 5], [-5, -5]])
    log4 = math.log(4)
    assert_close(decomposition(*codes, n=4)[:2], [log4, 0], ROUNDING)
    assert_close(decomposition(*codes, n=4, estimator="mws")[:2], [2 * log4, log4], ROUNDING)
    assert_close(without_constant(*codes), [0, -log4], ROUNDING)


def test_a_batch_of_all_images_is_exact() -> None:
    mean, logvar, codes = drawn(30, 3)
    joint, product = objectives.aggregate_log_densities(codes, mean, logvar, log_weights(codes, 30, "stratified"))
    for row, code in enumerate(codes):
        densities = log_prob(mean, logvar, code).exp()  # of one sample under each posterior
        assert_close(joint[row], math.log(densities.prod(dim=1).mean()), ROUNDING)
        assert_close(product[row], sum(math.log(one) for one in densities.mean(dim=0)), ROUNDING)


def sampled(d: int, rho: float, std: float, batch: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """A batch whose aggregate posterior is a normal distribution of unit variances with one correlation."""
    rng = np.random.default_rng(seed)
    covariance = np.full((d, d), rho) + (1 - rho) * np.eye(d)
    mean = torch.from_numpy(rng.multivariate_normal(np.zeros(d), covariance - std**2 * np.eye(d), size=batch))
    return mean + std * torch.from_numpy(rng.normal(size=(batch, d))), mean, torch.full_like(mean, 2 * math.log(std))


def test_correlated_codes_have_the_total_correlation_that_is_known() -> None:
    batches = [sampled(2, 0.6, 0.5, 512, seed) for seed in range(12)]
    found = np.array([decomposition(*batch, n=20_000).total_correlation.item() for batch in batches])
    error = found.std(ddof=1) / math.sqrt(len(found))
    assert abs(found.mean() + math.log(1 - 0.36) / 2) < 5 * error + 1 / 512


def test_two_images_are_the_least() -> None:
    one, two, five = (torch.zeros(size, 3) for size in (1, 2, 5))
    refuses(InputError, "n: expected a batch of 2 to n images, got a batch of 1", log_weights, one, 10, "stratified")
    refuses(InputError, "got a batch of 5 and n=4", log_weights, five, 4, "mws")
    refuses(UnknownNameError, "did you mean 'mws'", log_weights, five, 9, "mw")
    assert_exact(log_weights(two, 2, "stratified").exp(), [[0.5, 0.5], [0.5, 0.5]])


# Networks -------------------------------------------------------------------------------------------------------------


def pair(network: str, shape: Shape, seed: int = 0) -> Any:
    usual: dict[str, Any] = {"objective": "vae", "options": {}, "init": "torch", "likelihood": "bernoulli"}
    usual |= {"own_networks": False, "beta_scale": "raw", "logvar_bounds": None, "images": "", "digest": "", "n": 1}
    own = TrainingSpec(**usual, latents=10, network=network, shape=list(shape), batch=1, lr=1.0, seed=seed)
    made = Pair.made(own, network, "cpu")
    return made.encoder, made.decoder


def size_of(network: torch.nn.Module) -> int:
    return sum(one.numel() for one in network.parameters())


@pytest.mark.parametrize(
    ("network", "shape", "latents", "expected"),
    [
        ("dlib64", (64, 64, 1), 10, 309_204 + 381_313),
        ("dlib64", (64, 64, 3), 10, 692_567),
        ("dlib64", (64, 64, 3), 64, 734_147),
        ("burgess32", (32, 32, 1), 10, 469_173),
        ("burgess32", (64, 64, 3), 10, 504_055),
        ("conv16", (16, 16, 1), 10, 111_685),
        ("conv16", (32, 32, 3), 10, 120_935),
        ("mlp", (16, 16, 1), 10, 102_932),
    ],
)
def test_numbers_of_parameters(network: str, shape: Shape, latents: int, expected: int) -> None:
    with torch.device("meta"):
        assert sum(map(size_of, NETWORKS[network](shape, 2 * latents, latents))) == expected


def test_parameters_of_the_discriminator() -> None:
    with torch.device("meta"):
        assert size_of(discriminator(10)) == 5_018_002
        assert size_of(discriminator(10, width=128)) == 11 * 128 + 5 * 129 * 128 + 129 * 2


def test_initial_weights_come_from_the_generator_alone() -> None:
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    first, second = pair("conv16", (16, 16, 1)), pair("conv16", (16, 16, 1))
    assert_exact(torch.random.get_rng_state(), before)
    other = pair("conv16", (16, 16, 1), seed=1)
    for one, two, three in zip(*(network.parameters() for network, _ in (first, second, other)), strict=True):
        assert_exact(one.detach(), two.detach())
        assert not torch.equal(one, three)


@pytest.mark.parametrize(
    "layer",
    [nn.Linear(300, 200), nn.Conv2d(30, 20, 4), nn.ConvTranspose2d(30, 20, 4)],
    ids=lambda one: type(one).__name__,
)
def test_initial_weights_are_spread_as_those_of_torch(layer: Any) -> None:
    theirs = layer.weight.abs().max().item(), layer.weight.std().item(), layer.bias.abs().max().item()
    ours = initialised(layer, rng_for(0, "init"))
    found = ours.weight.abs().max().item(), ours.weight.std().item(), ours.bias.abs().max().item()  # type: ignore[operator]
    np.testing.assert_allclose(found, theirs, rtol=0.2)


# What is refused ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("network", "shape"),
    [("conv16", (28, 28, 1)), ("conv16", (32, 16, 1)), ("dlib64", (32, 32, 1)), ("mlp", (8, 8, 1))],
)
def test_images_of_a_size_without_network_are_refused(network: str, shape: Shape) -> None:
    refuses(InputError, r"images\.resized\(64\)", pair, network, shape)


def test_networks_that_are_none_are_refused() -> None:
    refuses(UnknownNameError, "did you mean 'conv16'", checked_network, "conv-16")
    refuses(InputTypeError, "expected a name, or", checked_network, nn.Linear(2, 2))
    refuses(InputTypeError, "expected a name, or", checked_network, (nn.Linear(2, 2), "conv16"))


def test_what_encoders_return_is_checked() -> None:
    mean, logvar = torch.zeros(3, 2), torch.ones(3, 2)
    assert_exact(posterior_of((mean, logvar), 2, draws=True).logvar, logvar)
    assert_exact(posterior_of(torch.cat([mean, logvar], dim=1), 2, draws=True).logvar, logvar)
    refuses(InputError, r"return \(n, 4\) or a pair of \(n, 2\), got \(3, 2\)", posterior_of, mean, 2, draws=True)
    refuses(InputError, r"return \(n, 2\), got \(3, 4\)", posterior_of, torch.zeros(3, 4), 2, draws=False)
    refuses(InputError, r"logits of shape .* \(3", lambda: check_decoded(torch.zeros(3, 16), torch.zeros(3, 1, 4, 4)))
