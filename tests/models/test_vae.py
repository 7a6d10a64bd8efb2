"""A VAE as its user sees it: codes and images in and out, networks of one's own, and what is refused."""

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from demele import errors
from demele.data import ArrayImages, ImageSet
from demele.lab import VAE, Run, load_vae, preset
from demele.models.vae.objectives import OBJECTIVES
from tests.models.squares import fitted, squares, weights
from tests.refusals import refuses
from tests.tolerances import SINGLE, assert_close, assert_exact


def test_codes_come_with_factors_and_deviations() -> None:
    vae, _ = fitted()
    sample = vae.encode(squares())
    assert list(sample.codes) == ["z1", "z2", "z3"]
    assert (sample.codes_std > 0).all(axis=None)
    assert_exact(sample.factors, squares().factors())
    some = vae.encode(squares(), [7, 3, 7])
    assert_close(some.codes, sample.codes.iloc[[7, 3, 7]], SINGLE)
    assert_exact(some.factors, squares().factors([7, 3, 7]))


def test_sampled_codes_are_drawn_from_the_posteriors() -> None:
    vae, _ = fitted()
    means, drawn = vae.encode(squares()), vae.encode(squares(), codes="sampled", seed=1)
    assert drawn.codes_std is None
    noise = ((drawn.codes - means.codes) / means.codes_std).to_numpy()
    assert abs(noise.mean()) < 5 / np.sqrt(noise.size)
    assert abs(noise.std() - 1) < 5 / np.sqrt(2 * noise.size)
    assert_exact(vae.encode(squares(), codes="sampled", seed=1).codes, drawn.codes)


def test_a_model_that_is_saved_is_read_and_trained_on_to_the_same_bits(tmp_path: Path) -> None:
    vae, _ = fitted("factor_vae", width=8)
    read = load_vae(vae.save(tmp_path / "model"))
    assert_exact(read.encode(squares()).codes, vae.encode(squares()).codes)
    assert read.spec == vae.spec
    assert read.run.to_dict() == vae.run.to_dict()
    read.save(tmp_path / "again")
    on, _ = fitted("factor_vae", steps=40, width=8, fit={"checkpoint": tmp_path / "again"})
    whole, _ = fitted("factor_vae", steps=40, width=8)
    for own, other in zip(weights(on), weights(whole), strict=True):
        assert_exact(own, other)


def test_saving_takes_weights_as_they_are_and_refuses_a_model_without_any(tmp_path: Path) -> None:
    vae, _ = fitted()
    with torch.no_grad():
        next(vae.encoder.parameters()).zero_()
    assert not weights(load_vae(vae.save(tmp_path / "model")))[0].any()
    refuses(errors.InputError, "the model is not fitted", VAE("vae", latents=2).save, tmp_path / "other")
    assert not (tmp_path / "other").exists()


# Networks of one's own ------------------------------------------------------------------------------------------------


class TwoHeads(nn.Module):
    """Returns mean and log-variance apart, as many encoders do."""

    def __init__(self) -> None:
        super().__init__()
        self.mean, self.logvar = nn.Linear(256, 3), nn.Linear(256, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.mean(x.flatten(1)), self.logvar(x.flatten(1))


def own_networks(seed: int = 0) -> tuple[nn.Module, nn.Module]:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return TwoHeads(), nn.Sequential(nn.Linear(3, 256), nn.Unflatten(1, (1, 16, 16)))


def test_networks_of_ones_own_are_trained_and_read(tmp_path: Path) -> None:
    own = own_networks()
    vae, run = fitted(network=own, fit={"checkpoint": tmp_path / "run"})
    assert run.parameters == 257 * 6 + 4 * 256
    assert not np.array_equal(weights(vae)[0], own[0].mean.weight.detach().numpy())  # type: ignore[union-attr,operator]
    read = load_vae(tmp_path / "run", network=own_networks(seed=1))
    assert_exact(read.encode(squares()).codes, vae.encode(squares()).codes)
    refuses(errors.InputError, r"a file holds no classes; pass network=\(encoder", load_vae, tmp_path / "run")
    with pytest.raises(errors.FormatError, match="its networks are not those of its spec"):
        load_vae(tmp_path / "run", network=(nn.Linear(2, 2), nn.Linear(2, 2)))
    assert_exact(weights(fitted(network=own)[0])[0], weights(vae)[0])  # the modules that were given are as they were


def test_networks_that_do_not_fit_are_refused() -> None:
    encoder, decoder = own_networks()
    refuses(errors.InputError, r"expected the encoder to return", fitted, network=(encoder, decoder), latents=4)
    refuses(errors.InputError, r"expected the decoder to", lambda: fitted(network=(encoder, nn.Linear(3, 256))))


# What is refused ----------------------------------------------------------------------------------------------------


def test_models_and_trainings_that_cannot_be_made() -> None:
    refuses(errors.UnknownNameError, "expected 'raw' or 'per_pixel', got 'pixel'", fitted, beta_scale="pixel")
    refuses(errors.UnknownNameError, "init: expected 'torch' or 'glorot'", fitted, init="normal")
    refuses(errors.InputError, "logvar_bounds: expected", fitted, logvar_bounds=(1, -1))
    refuses(errors.InputError, "as there are images, 144, got 145; take a smaller batch", fitted, fit={"batch": 145})
    refuses(errors.InputError, "device: expected 'auto', 'cpu' or 'cuda', got", fitted, fit={"device": "abacus"})
    refuses(errors.InputError, "at least 2 images for dip_vae_i", fitted, "dip_vae_i", fit={"batch": 1})


def test_images_and_codes_that_cannot_be_used() -> None:
    vae, pairs = (VAE(name, latents=3, network="mlp") for name in ("vae", "ada_gvae"))
    large, flat = (ArrayImages(np.zeros((40, side, side), np.uint8)) for side in (20, 16))
    refuses(errors.InputTypeError, "an image set, got ndarray; wrap an array", vae.fit, np.zeros((4, 16, 16)), steps=1)
    refuses(errors.InputError, "takes images of 16 x 16, 32 x 32, 64 x 64, got 20 x 20", vae.fit, large, steps=1)
    refuses(errors.InputError, "not a grid", pairs.fit, flat, steps=1)
    fit, _ = fitted(steps=1)
    refuses(errors.InputError, r"expected 16 x 16 x 1, .* got 32 x 32 x 1", fit.encode, squares(32))
    refuses(errors.InputError, r"codes: expected shape \(n, 3\), got \(2, 4\)", fit.decode, np.zeros((2, 4)))


# What each objective is for, seen in short trainings of the smallest preset; gaps are at least a third of typical ----


CI = preset("ci")
QUICK = {"steps": 250, "lr": 3e-3}
#: A capacity that a short training reaches without giving up the images for it.
GENTLE = {"c_max": 6.0, "gamma": 3.0, "steps": 100}


@functools.cache
def sprites() -> ImageSet:
    return CI.images()


@functools.cache
def trained(objective: str, **options: Any) -> Run:
    """A quarter of the preset's training, at a higher rate."""
    return CI.model(objective, latents=6, **options).fit(sprites(), **{**CI.training, **QUICK})


def error_of_the_mean_image(images: ImageSet) -> float:
    """R of a decoder that returns the mean image whatever the code."""
    pixels = images.images(np.arange(len(images))) / 255
    mean = pixels.mean(axis=0).clip(1e-12, 1 - 1e-12)
    return float(-(mean * np.log(mean) + (1 - mean) * np.log(1 - mean)).sum())


@pytest.mark.parametrize("objective", sorted(set(OBJECTIVES) - {"beta_vae"}))
def test_every_objective_beats_the_mean_image(objective: str) -> None:
    run = trained(objective, **{"beta_tcvae": {"beta": 2.0}, "capacity": GENTLE}.get(objective, {}))
    assert run.floor < run.reconstruction < 0.85 * error_of_the_mean_image(sprites())
    assert not run.collapsed


# Factors that depend on each other ------------------------------------------------------------------------------------


@functools.cache
def on_a_diagonal(objective: str, **options: float) -> tuple[VAE, Run]:
    """A model of squares whose two coordinates go together."""
    positions = squares().positions()
    images = squares().subset(np.flatnonzero(np.abs(positions[:, 1] - positions[:, 2]) <= 1))
    vae = CI.model(objective, latents=4, **options)
    return vae, vae.fit(images, steps=400, lr=3e-3)


@pytest.mark.parametrize(("objective", "options"), [("beta_tcvae", {"beta": 6.0}), ("factor_vae", {"gamma": 30.0})])
def test_a_penalty_on_total_correlation_lowers_it(objective: str, options: dict[str, float]) -> None:
    assert on_a_diagonal(objective, **options)[1].total_correlation < on_a_diagonal("vae")[1].total_correlation - 0.5


def test_dip_makes_codes_uncorrelated() -> None:
    def off_diagonal(vae: VAE) -> float:
        covariance = np.cov(vae.encode(squares()).codes.to_numpy().T, bias=True)
        return float(np.square(covariance - np.diag(np.diag(covariance))).sum())

    plain = off_diagonal(on_a_diagonal("vae")[0])
    assert off_diagonal(on_a_diagonal("dip_vae_i", lambda_od=10.0, lambda_d=10.0)[0]) < 0.5 * plain


def test_images_come_back() -> None:
    vae, _ = fitted("autoencoder", steps=400, latents=4, fit={"batch": 32, "lr": 0.004})
    found = vae.reconstruct(squares(), np.arange(144))
    assert found.shape == (144, 16, 16, 1)
    assert ((found >= 0) & (found <= 1)).all()
    given = squares().images(np.arange(144)) / 255
    assert np.abs(found - given).mean() < 0.5 * np.abs(given.mean(axis=0) - given).mean()
    assert vae.decode(np.zeros((0, 4))).shape == (0, 16, 16, 1)
