"""What each objective is for, seen in short trainings of the smallest preset; gaps are at least a third of typical."""

import functools
from typing import Any

import numpy as np
import pytest

from demele.data import ImageSet
from demele.lab import VAE, Run, preset
from demele.models.vae.objectives import OBJECTIVES
from tests.models.squares import squares

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


def test_divergence_falls_and_error_grows_with_beta() -> None:
    runs = [trained("beta_vae", beta=beta) for beta in (0.1, 1.0, 4.0)]
    kl, errors = [run.kl.sum() for run in runs], [run.reconstruction for run in runs]
    assert kl[0] > kl[1] + 3
    assert kl[1] > kl[2] + 1
    assert errors[0] < errors[1] - 1
    assert errors[1] < errors[2] - 4


def test_a_beta_that_is_too_large_collapses_every_code() -> None:
    run = trained("beta_vae", beta=100.0)
    assert run.collapsed
    assert run.reconstruction > 0.95 * error_of_the_mean_image(sprites())


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
