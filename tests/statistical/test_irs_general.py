"""Interventional robustness against the truth of simulated worlds, and the public defects that it must not share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.estimation.irs import crossed_deviations, general_irs, irs_score
from tests.tolerances import ROUNDING, assert_close, assert_mean

Array = NDArray[Any]


def confounded_world(seed: int, n: int = 4000) -> tuple[Array, Array, Array]:
    """A is free; B and C follow a hidden cause: p(B = 1) = 0.9 or 0.5, p(C = 1) = 0.9 or 0.3, hence 0.7 and 0.6."""
    rng = np.random.default_rng([11, seed])
    hidden = rng.random(n) < 0.5
    a = rng.integers(0, 2, n)
    b = (rng.random(n) < np.where(hidden, 0.9, 0.5)).astype(int)
    c = (rng.random(n) < np.where(hidden, 0.9, 0.3)).astype(int)
    return a[:, np.newaxis], b[:, np.newaxis], c[:, np.newaxis]


def test_confounded_effect_is_the_interventional_one() -> None:
    # z = B + C. Truth: E[z|a] = 1.3 and do(B = b) gives b + 0.6, so that PIDA is 0.7 at b = 0 and 0.3 at b = 1. The
    # farthest of all cells is (0, 0), at 1.3. IRS = 1 - 0.7/1.3. Plain conditioning on B = 0 would see C move along:
    # p(C = 1 | B = 0) = (0.1 * 0.9 + 0.5 * 0.3)/0.6 = 0.4, hence a disagreement of 0.9 and 1 - 0.9/1.3 = 0.308.
    adjusted, plain = [], []
    for seed in range(40):
        a, b, c = confounded_world(seed)
        code = (b + c).astype(float)
        adjusted.append(general_irs(code, a, b, c).value)
        blind = general_irs(code, a, b, np.zeros((len(a), 0), int))
        plain.append(blind.empida * code.std() / 1.3)
    assert_mean(adjusted, 1 - 0.7 / 1.3)
    assert_mean(plain, 0.9 / 1.3)


def test_nuisance_that_only_comes_along_does_no_harm() -> None:
    # z = A + 2 C + noise does not depend on B: IRS(z | A, B) tends to 1, at the rate of the noise, 1/sqrt(N).
    shortfall = []
    for n in (2000, 200_000):
        losses = []
        for seed in range(5):
            a, b, c = confounded_world(seed, n)
            noise = np.random.default_rng([12, seed]).normal(size=a.shape)
            losses.append(1 - general_irs(a + 2 * c + noise, a, b, c).value)
        shortfall.append(np.mean(losses))
    assert shortfall[1] < 0.01
    assert 4 < shortfall[0] / shortfall[1] < 25  # sqrt(100) = 10


def test_pairs_of_noise() -> None:
    # Uniform noise, values of two rows each: the distance is half of |z - z'|, 1/6 on average. So few rows deviate less
    # than all do, and noise scores 2/3 where it should have 0.
    distances = []
    for seed in range(30):
        rng = np.random.default_rng([14, seed])
        result = crossed_deviations(rng.random((400, 1)), (np.arange(400) // 2)[:, np.newaxis], [200])
        distances.append((1 - result.matrix[0, 0]) * result.max_deviation[0] * result.deviation[0])
    assert_mean(distances, 1 / 6)


def test_noise_tends_to_zero_and_the_copy_of_a_factor_to_nine_tenths() -> None:
    rng = np.random.default_rng(15)
    factor = rng.random((20_000, 1))
    codes = np.hstack([factor, rng.random((20_000, 1))])
    scores = crossed_deviations(codes, (10 * factor).astype(int), [10]).matrix[:, 0]
    assert 0.895 < scores[0] < 0.9005
    assert abs(scores[1]) < 0.015  # the means of the values move by 1/sqrt(24000) = 0.006


def test_a_stretched_useless_code_changes_nothing() -> None:
    # Public code weighs by distances in the codes' own units: 0.45 becomes 0.009 when the noise is multiplied by 100,
    # 0.89 when the good code is. Putting the unit back reproduces that.
    rng = np.random.default_rng(16)
    factor = rng.random((20_000, 1))
    bins = (10 * factor).astype(int)
    codes = np.hstack([factor, rng.random((20_000, 1))])
    plain = crossed_deviations(codes, bins, [10])
    ours = irs_score(plain.matrix, plain.max_deviation)[1]
    assert 0.44 < ours < 0.46
    for scales, low, high in (([1, 100], -0.01, 0.02), ([100, 1], 0.885, 0.895)):
        stretched = crossed_deviations(codes * scales, bins, [10])
        assert_close(irs_score(stretched.matrix, stretched.max_deviation)[1], ours, ROUNDING)
        assert low < irs_score(stretched.matrix, stretched.max_deviation * stretched.deviation)[1] < high
