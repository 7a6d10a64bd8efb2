"""WSEPIN, WINDIN and WSEP: closed forms, densities in loops, the limit of the rows, refusals."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele.metrics.standalone.unsupervised import log_densities
from tests.oracles import posteriors as oracle
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close

Array = NDArray[np.float64]


def independent(n: int, d: int, deviation: float, seed: int = 0) -> tuple[Array, Array]:
    """Codes whose means and noise together have variance 1."""
    means = np.random.default_rng(seed).normal(scale=math.sqrt(1 - deviation**2), size=(n, d))
    return means, np.full((n, d), deviation)


def test_independent_codes_tell_what_single_ones_do() -> None:
    found = demele.metrics.stochastic_scores(*independent(2000, 2, 0.5), n_draws=3000)
    assert abs(found.wsepin - math.log(2)) < 5 * found.error + 0.02
    assert found.windin == found.wsepin
    assert abs(found.wsep) < 0.02
    assert found.notes == ()
    assert_close(found.weights.sum(), 1.0, ROUNDING)


def test_densities_in_loops() -> None:
    rng = np.random.default_rng(1)
    means, deviations, drawn = rng.standard_normal((12, 3)), 0.2 + rng.random((12, 3)), rng.standard_normal((5, 3))
    whole, each, others = log_densities(means, deviations, drawn)
    for row, z in enumerate(drawn.tolist()):
        expected = oracle.log_densities(z, means.tolist(), deviations.tolist())
        assert_close(whole[row], expected[0], ROUNDING)
        assert_close(each[row], expected[1], ROUNDING)
        assert_close(others[row], expected[2], ROUNDING)


@pytest.mark.parametrize(("d", "at_most"), [(4, 1.0), (8, 0.01)])
def test_sharp_codes_on_few_rows_say_that_the_rows_are_the_limit(d: int, at_most: float) -> None:
    """Their WSEPIN is 2.30; the row finds itself among 1000."""
    found = demele.metrics.stochastic_scores(*independent(1000, d, 0.1), n_draws=300)
    assert found.wsepin < at_most
    assert found.total <= math.log(1000)
    (note,) = found.notes
    assert (note.code, note.severity) == ("limit-of-rows", "fragile")


def test_densities_of_many_codes_are_not_floored() -> None:
    """Of 40 codes at once a density is far below 1e-8, which public code takes for all smaller ones."""
    means, deviations = independent(300, 40, 0.98)
    found = demele.metrics.stochastic_scores(means, deviations, n_draws=500)
    assert abs(found.total + 40 * math.log(0.98)) < 0.3


def test_codes_without_noise_and_wrong_shapes_are_refused() -> None:
    means, deviations = independent(20, 2, 0.5)
    sharp = deviations.copy()
    sharp[3, 1] = 0
    refuses(demele.errors.InputError, "row 3 of code 'z2'", demele.metrics.stochastic_scores, means, sharp)
    refuses(demele.errors.InputError, "shape", demele.metrics.stochastic_scores, means, deviations[:, :1])
    with pytest.raises(demele.errors.NotEnoughData):
        demele.metrics.stochastic_scores(means[:1], deviations[:1])
    refuses(demele.DemeleError, "stochastic_scores", demele.evaluate, means, means, ["wsepin"])


def test_noise_tells_nothing_and_dead_codes_weigh_nothing() -> None:
    means, deviations = independent(1500, 2, 0.5)
    with_dead = demele.metrics.stochastic_scores(
        np.column_stack([means, np.zeros(1500)]), np.column_stack([deviations, np.ones(1500)]), n_draws=2000
    )
    assert abs(with_dead.information[2]) < 1e-9
    assert with_dead.weights[2] < 1e-9
    nothing = demele.metrics.stochastic_scores(np.zeros((50, 2)), np.ones((50, 2)))
    assert abs(nothing.total) < 1e-9
