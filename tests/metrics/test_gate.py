"""Modularity with a gate: codes that tell nothing have no part in it."""

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from tests.tolerances import ROUNDING, assert_close, assert_exact, assert_rate_at_most

Array = NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")


def noisy(seed: int, n: int) -> tuple[Array, Array]:
    """Ten codes, of which eight hold a factor with 30 % noise and two hold nothing."""
    rng = np.random.default_rng(seed)
    factors, noise = rng.random((n, 8)), rng.random((n, 10))
    return np.column_stack([0.7 * factors + 0.3 * noise[:, :8], noise[:, 8:]]), factors


def test_the_gated_score_is_the_mean_over_codes_that_are_alive() -> None:
    codes, factors = noisy(0, 300)
    gated = demele.metrics.modularity(codes, factors, gate=True)
    every = demele.metrics.modularity(codes, factors, correction="adjusted")
    assert gated.per_code is not None
    assert_exact(np.isnan(gated.per_code), [False] * 8 + [True] * 2)
    assert_close(gated.value, every.per_code[:8].mean(), ROUNDING)
    assert gated.matrix_values is not None
    assert every.matrix_values is not None
    assert_exact(gated.matrix_values, every.matrix_values)
    assert {note.subject for note in gated.notes if note.code == "undefined-value"} == {("z9", "z10")}


# Codes that pass by little --------------------------------------------------------------------------------------------


def two_by_two(agree: int) -> tuple[Array, Array]:
    """One binary code of 100 rows, 50 of each value, that agrees with the first of two factors on so many of each."""
    first = np.repeat([0.0, 1.0, 1.0, 0.0], [agree, 50 - agree, agree, 50 - agree])
    return np.repeat([0.0, 1.0], 50)[:, None], np.column_stack([first, np.arange(100) % 2])


def test_a_code_that_passes_at_the_level_of_the_gate_alone_is_noted() -> None:
    """2 n I = 4 (33 log 1.32 + 17 log 0.68) = 10.4 has p = 0.0012, times two pairs 0.0025; that of 40 of 50 is 38.5."""
    names = ["infom", "med_modularity", "modularity"]
    for agree, noted in ((33, True), (40, False)):
        codes, factors = two_by_two(agree)
        found = demele.evaluate(
            codes, demele.Factors(factors, kinds="categorical"), names, options={"modularity": {"gate": True}}
        )
        for name in names:
            assert found[name].value == found[name].value
            assert ("barely-beyond-chance" in {note.code for note in found[name].notes}) is noted
    published = demele.metrics.infom(codes, demele.Factors(factors, kinds="categorical"), active="range")
    assert "barely-beyond-chance" not in {note.code for note in published.notes}


@pytest.mark.parametrize("n", [300, 1_000])
def test_noise_passes_the_gate_as_often_as_its_level_says_and_is_noted(n: int) -> None:
    passed = unnoted = 0
    for seed in range(150):
        rng = np.random.default_rng([n, seed])
        codes, factors = rng.integers(0, 4, (n, 3)).astype(float), rng.integers(0, 4, (n, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = demele.metrics.infom(codes, demele.Factors(factors, kinds="categorical"))
        if found.value == found.value:
            passed += 1
            unnoted += "barely-beyond-chance" not in {note.code for note in found.notes}
    assert passed > 0
    assert_rate_at_most(passed, 150, 0.05)
    assert_rate_at_most(unnoted, 150, 0.001)
