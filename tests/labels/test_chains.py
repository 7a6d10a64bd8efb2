"""Convergence of chains: values worked by hand, an oracle in loops, chains of known autocorrelation."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.core.seeds import rng_for
from demele.labels.joined.gibbs import effective_samples, split_r_hat
from tests.tolerances import ROUNDING, SOLVER, assert_at_most, assert_close, assert_exact, assert_mean


def autoregressive(seed: int, rho: float, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Stationary chains whose autocorrelation at lag t is rho^t."""
    noise = rng_for(seed, "autoregressive").normal(size=shape)
    chains = noise.copy()
    for draw in range(1, shape[1]):
        chains[:, draw] = rho * chains[:, draw - 1] + math.sqrt(1 - rho**2) * noise[:, draw]
    return chains


def test_r_hat_by_hand() -> None:
    # Halves (1, 2), (1, 2), (3, 4), (3, 4): within 1/2; means 1.5, 1.5, 3.5, 3.5 of variance 4/3; sqrt(1/2 + 8/3).
    assert_close(split_r_hat(np.array([[1.0, 2, 1, 2], [3, 4, 3, 4]])), math.sqrt(19 / 6), ROUNDING)
    # A chain that wanders is found by its halves alone: (0, 2), (10, 12): within 2, between 50; sqrt(1/2 + 25).
    assert_close(split_r_hat(np.array([[0.0, 2, 10, 12]])), math.sqrt(25.5), ROUNDING)


def test_of_an_odd_number_the_first_draw_is_left_out() -> None:
    chains = autoregressive(0, 0.5, (3, 8))
    odd = np.column_stack([[9.0, 8, 7], chains])
    assert_exact(split_r_hat(odd), split_r_hat(chains))
    assert_exact(effective_samples(odd), effective_samples(chains))


def test_several_quantities_at_once() -> None:
    both = np.stack([autoregressive(1, 0.2, (2, 20)), autoregressive(2, 0.9, (2, 20))], axis=2)
    for function in (split_r_hat, effective_samples):
        assert_close(function(both), [function(both[:, :, 0]), function(both[:, :, 1])], ROUNDING)


def test_what_does_not_vary() -> None:
    assert np.isnan(split_r_hat(np.ones((2, 6))))
    assert np.isnan(effective_samples(np.ones((2, 6))))
    stuck = np.array([[1.0] * 6, [2.0] * 6])
    assert split_r_hat(stuck) == math.inf
    assert 0 < effective_samples(stuck) <= 4


def in_loops(chains: NDArray[np.float64]) -> float:
    """Vehtari et al. (2021), equations 10 to 13, as they stand."""
    n = chains.shape[1] // 2
    halves = [row[start : start + n] for row in chains for start in (0, n)]
    m = len(halves)
    within = sum(float(np.var(half, ddof=1)) for half in halves) / m
    means = [float(np.mean(half)) for half in halves]
    overall = (n - 1) / n * within + float(np.var(means, ddof=1))
    rho = [1.0]
    for lag in range(1, n):
        total = 0.0
        for half, mean in zip(halves, means, strict=True):
            total += sum((half[t] - mean) * (half[t + lag] - mean) for t in range(n - lag)) / (n - 1)
        rho.append(1 - (within - total / m) / overall)
    time, least = -1.0, math.inf
    for pair in range(n // 2):
        value = rho[2 * pair] + rho[2 * pair + 1]
        if value <= 0:
            break
        least = min(least, value)
        time += 2 * least
    return float(m * n) / float(max(time, 1 / math.log10(m * n)))


def test_effective_samples_as_in_loops() -> None:
    for shape in [(1, 12), (3, 50)]:
        for rho in [-0.6, 0.0, 0.5, 0.95]:
            chains = autoregressive(3, rho, shape)
            assert_close(effective_samples(chains), in_loops(chains), SOLVER)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_effective_samples_give_the_error_of_the_mean(rho: float) -> None:
    """Means of independent runs vary as those of so many independent draws: standardised squares have mean 1."""
    runs = [autoregressive(seed, rho, (4, 400)) for seed in range(200)]
    assert_mean([run.mean() ** 2 * effective_samples(run) for run in runs], 1.0)
    assert_at_most(np.mean([split_r_hat(run) for run in runs]), 1.05, ROUNDING)


@pytest.mark.parametrize("shape", [(2, 3), (8,)])
def test_too_few_draws(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"draws: expected .* with at least 4 draws, got shape"):
        split_r_hat(np.ones(shape))
    with pytest.raises(InputError, match="draws: expected"):
        effective_samples(np.ones(shape))
