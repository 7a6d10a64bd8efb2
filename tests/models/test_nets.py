"""Networks: exact numbers of parameters, shapes, and initial weights that leave no trace."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from demele.core.arrays import rng_for
from demele.core.errors import InputError, InputTypeError, UnknownNameError
from demele.models.results import TrainingSpec
from demele.models.training import initialised
from demele.models.vae.train import NETWORKS, Pair, Shape, check_decoded, checked_network, discriminator, posterior_of
from tests.refusals import refuses
from tests.tolerances import assert_exact


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
