"""Pooled strata and PPI++: check values, a slow second implementation, laws, and a published package."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demele.classifiers.pooled_strata import pooled_strata, prediction_powered, smallest_tail, strata_of
from tests.classifiers.slow_strata import slow_interval

#: Rows with score 1 and 0; audited with 1: right, wrong; with 0: truly 1, truly 0. Then estimate and ends, and PPI++.
COUNTS = [
    ((1900, 100, 47, 0, 0, 3), (0.95, 0.904617, 0.977538), (0.950256, 0.940607, 0.959906)),
    ((1900, 100, 46, 1, 0, 3), (0.929787, 0.864090, 0.969450), (0.930256, 0.890269, 0.970244)),
    ((1800, 200, 84, 6, 4, 6), (0.88, 0.814841, 0.926612), (0.88, 0.824122, 0.935878)),
    ((1200, 800, 50, 10, 14, 26), (0.64, 0.553994, 0.718932), (0.64, 0.557510, 0.722490)),
    ((1960, 40, 29, 0, 0, 1), (0.98, 0.900804, 0.999014), (0.980203, 0.974052, 0.986354)),
    ((1600, 400, 24, 0, 6, 0), (1.0, 0.873663, 1.0), (1.0, 1.0, 1.0)),
]


def counted(n1: int, n0: int, right: int, wrong: int, truly: int, not_: int) -> tuple[Any, Any, Any]:
    """Return given scores, audited rows and their true scores."""
    scores = np.repeat([1.0, 0.0], [n1, n0])
    rows = np.r_[np.arange(right + wrong), n1 + np.arange(truly + not_)]
    return scores, rows, np.repeat([1.0, 0, 1, 0], [right, wrong, truly, not_])


def binary(seed: int) -> tuple[Any, Any, Any]:
    """Return a judge of 2,000 rows: the generator, true and given scores."""
    rng = np.random.default_rng(seed)
    true, u = rng.random(2000) < 0.9, rng.random(2000)
    return rng, true.astype(float), np.where(true, u < 0.97, u > 0.6).astype(float)


@pytest.mark.parametrize(("counts", "ours", "reference"), COUNTS)
def test_counts_give_the_check_values(counts: Any, ours: Any, reference: Any) -> None:
    scores, rows, true = counted(*counts)
    fit = pooled_strata(scores, rows, true)
    assert (float(fit.value), *map(float, fit.ends(0.025))) == pytest.approx(ours, abs=1e-6)
    assert prediction_powered(scores, rows, true) == pytest.approx(reference, abs=1e-6)


def test_other_levels_and_the_p_value() -> None:
    fit = pooled_strata(*counted(1800, 200, 84, 6, 4, 6))
    assert fit.ends(0.05) == pytest.approx((0.826295, 0.920125), abs=1e-6)
    p = float(smallest_tail(lambda tail: fit.distance(tail, below=True), fit.value - 0.8))
    assert p == pytest.approx(0.009399, abs=1e-6)
    assert fit.ends(p)[0] == pytest.approx(0.8, abs=1e-9)
    assert smallest_tail(lambda tail: fit.distance(tail, below=True), fit.value - 0.881) == 1


def partial_credit() -> tuple[Any, Any, Any]:
    """Return scores with many values, two of them heavy."""
    rng = np.random.default_rng(3)
    true = np.where(rng.random(1000) < 0.3, 1, np.where(rng.random(1000) < 0.1, 0, rng.beta(4, 2, 1000)))
    scores = np.round(np.clip(true + 0.1 * rng.standard_normal(1000), 0, 1), 2)
    rows = rng.permutation(1000)[:60]
    return scores, rows, true[rows]


def test_ppi_py_agrees() -> None:
    """``ppi_mean_pointestimate`` and ``ppi_mean_ci`` of ppi_python 0.2.3, with ``lam=None``, on the same arrays."""
    rng = np.random.default_rng(20261124)
    true = (rng.random(500) < 0.8).astype(float)
    scores = np.where(rng.random(500) < 0.9, true, 1 - true)
    rows = rng.choice(500, 60, replace=False)
    assert prediction_powered(scores, rows, true[rows]) == pytest.approx((PPI_BINARY), abs=1e-12)
    assert prediction_powered(*partial_credit()) == pytest.approx((PPI_PARTIAL), abs=1e-12)
    fit = pooled_strata(scores, rows, true[rows])
    assert (float(fit.value), *fit.ends(0.025)) == pytest.approx((0.813895, 0.729555, 0.881653), abs=1e-6)
    fit = pooled_strata(*partial_credit())
    assert (float(fit.value), *fit.ends(0.025)) == pytest.approx((0.721099, 0.675864, 0.758261), abs=1e-6)


PPI_BINARY = (0.816663578625895, 0.745067591881062, 0.888259565370728)
PPI_PARTIAL = (0.7170349124359758, 0.6862115894881109, 0.7478582353838408)


def made(seed: int) -> tuple[Any, Any, Any, Any, Any]:
    """Return scores of a random kind, audited rows, their true scores, weights and groups."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(40, 300)), int(rng.integers(3, 40))
    levels = int(rng.choice([2, 3, 5, 7, 1000]))
    true = np.round(rng.beta(rng.uniform(0.3, 4), 0.5, n) * (levels - 1)) / (levels - 1)
    wrong = rng.random(n) < rng.uniform(0, 0.5)
    scores = np.where(wrong, np.round(rng.random(n) * (levels - 1)) / (levels - 1), true)
    rows = rng.permutation(n)[:k]
    return scores, rows, true[rows], rng.uniform(0.05, 1, k), np.unique(rng.integers(0, 12, n), return_inverse=True)[1]


@pytest.mark.parametrize("seed", range(60))
def test_a_slow_implementation_agrees(seed: int) -> None:
    scores, rows, true, chance, group = made(seed)
    weighted, grouped, population = seed % 2 == 0, seed % 3 == 0, seed % 5 != 0
    fit = pooled_strata(
        scores,
        rows,
        true,
        inclusion=chance if weighted else None,
        population=population,
        groups=group if grouped else None,
    )
    slow = slow_interval(
        scores.tolist(),
        rows.tolist(),
        true.tolist(),
        w=(1 / chance).tolist() if weighted else None,
        population=population,
        group=group.tolist() if grouped and population else None,
        level=0.9,
    )
    assert (float(fit.value), *map(float, fit.ends(0.05))) == pytest.approx(slow, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_order_of_rows_and_side_of_the_scale_are_irrelevant(seed: int) -> None:
    scores, rows, true, chance, _ = made(seed)
    fit = pooled_strata(scores, rows, true, inclusion=chance)
    ends, likely = np.array(fit.ends(0.025)), (fit.effective * fit.mean + 0.5) / (fit.effective + 1)
    rng = np.random.default_rng(seed)
    order, shuffled = rng.permutation(rows.size), rng.permutation(scores.size)
    place = np.empty_like(shuffled)
    place[shuffled] = np.arange(scores.size)
    again = pooled_strata(scores[shuffled], place[rows[order]], true[order], inclusion=chance[order]).ends(0.025)
    np.testing.assert_allclose(again, ends, atol=1e-12)
    if np.unique(scores).size <= 3 and fit.audited.all() and not np.isclose(likely, 0.5).any():
        mirrored = pooled_strata(1 - scores, rows, 1 - true, inclusion=chance).ends(0.025)
        np.testing.assert_allclose(1 - np.array(mirrored)[::-1], ends, atol=1e-9)


def test_strata_hold_equal_counts_and_heavy_values_apart() -> None:
    scores = np.r_[np.ones(400), np.linspace(0, 0.9, 600)]
    assert np.bincount(strata_of(scores, 60)).tolist() == [200, 200, 200, 400]
    assert np.bincount(strata_of(np.array([0, 0.5, 1] * 10), 5)).tolist() == [10, 10, 10]
