"""Areas under ROC curves: equal to scikit-learn, to all subsets of wrong labels, and to simulated true labels."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.metrics import roc_auc_score

from demele.classifiers import auc
from demele.classifiers.probabilities import audited_areas, contaminations, delong, worst_areas
from demele.core.labelled import Vocabulary
from demele.errors import InputError, NotEnoughData
from demele.labels import Audit, TransitionMatrix
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close

Y = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0], dtype=bool)
A = np.array([0.9, 0.8, 0.7, 0.6, 0.3, 0.65, 0.5, 0.4, 0.3, 0.2, 0.1])
B = np.array([0.7, 0.9, 0.4, 0.8, 0.5, 0.6, 0.55, 0.3, 0.2, 0.45, 0.1])


def test_a_small_pair_is_the_published_one() -> None:
    found = auc({"a": A, "b": B}, Y)
    assert [row.value for row in found.rows] == pytest.approx([0.85, 0.833333, -0.016667], abs=5e-7)
    areas = delong(np.array([A, B]), Y)
    assert areas.covariance.ravel() == pytest.approx([0.016611, 0.006472, 0.006472, 0.017556], abs=5e-7)
    row = found["b - a"]
    assert (row.interval.high - row.interval.low) / 2 == pytest.approx(1.959964 * 0.145678, abs=1e-6)
    assert row.p_value == pytest.approx(2 * 0.4544577, abs=5e-6)  # of z = .114407


def test_areas_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    for n in (20, 300):
        y, s = rng.random(n) < 0.4, np.round(rng.random((3, n)), 1)
        assert_close(delong(s, y).values, [roc_auc_score(y, one) for one in s], ROUNDING)


def test_covariances_are_those_of_all_pairs_of_rows() -> None:
    rng = np.random.default_rng(2)
    y, s = rng.random(60) < 0.4, np.round(rng.random((2, 60)), 1)
    won = (s[:, y][:, :, None] > s[:, ~y][:, None, :]) + 0.5 * (s[:, y][:, :, None] == s[:, ~y][:, None, :])
    expected = np.cov(won.mean(axis=2)) / y.sum() + np.cov(won.mean(axis=1)) / (~y).sum()
    assert_close(delong(s, y).covariance, expected, ROUNDING)


def test_contaminations_shrink_the_area_and_flip_rates_become_contaminations() -> None:
    found = auc({"a": A, "b": B}, Y, contamination=(0.1, 0.05))
    left = 1 - 0.1 - 0.05
    assert found["a"].corrected_value == pytest.approx(0.5 + (0.85 - 0.5) / left)
    assert 0.5 + left * (0.85 - 0.5) == pytest.approx(0.7975)
    assert found["b - a"].corrected_value == pytest.approx(-0.016667 / left, abs=1e-6)
    assert found["b - a"].p_value == pytest.approx(auc({"a": A, "b": B}, Y)["b - a"].p_value)
    rng = np.random.default_rng(3)
    n = 400_000
    y = rng.random(n) < 0.4
    s = rng.standard_normal(n) + 1.2 * y
    given = np.where(rng.random(n) < np.where(y, 0.2, 0.1), ~y, y)
    noise = TransitionMatrix([[0.9, 0.1], [0.2, 0.8]])
    alpha, beta = contaminations(noise, given, (0, 1))
    assert [alpha, beta] == pytest.approx(
        [(~y & given).sum() / given.sum(), (y & ~given).sum() / (~given).sum()], abs=0.003
    )
    found = auc(s, given.astype(int), noise=noise)
    assert found["scores"].value < roc_auc_score(y, s) - 0.05
    assert found["scores"].corrected_value == pytest.approx(roc_auc_score(y, s), abs=0.004)


def _by_all_subsets(s: NDArray[np.float64], y: NDArray[np.bool_], wrong: int) -> tuple[float, float]:
    areas = []
    for m in range(wrong + 1):
        for rows in itertools.combinations(range(y.size), m):
            flipped = y.copy()
            flipped[list(rows)] = ~flipped[list(rows)]
            if 0 < flipped.sum() < y.size:
                areas.append(roc_auc_score(flipped, s))
    return min(areas), max(areas)


def test_bounds_are_those_of_all_subsets_of_wrong_labels() -> None:
    assert [worst_areas(A, Y, m)[0] for m in (1, 2, 3)] == pytest.approx([0.683333, 0.516667, 0.375], abs=5e-7)
    rng = np.random.default_rng(4)
    for case in range(40):
        y = rng.permutation(np.arange(10) < rng.integers(4, 7))
        s = np.round(rng.random(10), 1 if case % 2 else 3)
        for m in (1, 2, 3):
            assert_close(worst_areas(s, y, m), _by_all_subsets(s, y, m), ROUNDING)
    assert worst_areas(A, Y, 5) == (0, 1)


def test_the_worst_case_of_a_difference_holds_for_any_wrong_labels() -> None:
    found = auc({"a": A, "b": B}, Y, noise=0.2)["b - a"]
    for rows in itertools.combinations(range(11), 2):
        flipped = Y.copy()
        flipped[list(rows)] = ~flipped[list(rows)]
        gap = roc_auc_score(flipped, B) - roc_auc_score(flipped, A)
        assert found.corrected.low <= gap <= found.corrected.high
    assert np.isnan(found.p_value)


def _world(rng: np.random.Generator, copied: bool) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    y = rng.random(2000) < 0.4
    s = np.array([1.2 * y, 0.9 * y]) + rng.standard_normal((2, 2000))
    rate = np.where((s[0] > 0.6) != y, 0.4, 0.02) if copied else np.where(y, 0.15, 0.1)
    return s, y, np.where(rng.random(2000) < rate, ~y, y)


def test_audited_areas_of_all_rows_are_the_true_ones() -> None:
    s, y, given = _world(np.random.default_rng(5), True)
    whole = Audit(np.arange(2000), y.astype(int), design="uniform").coded(Vocabulary((0, 1)), 2000)
    areas = audited_areas(s, given, whole)
    # One step from the soft areas: what is left is of second order.
    assert_close(areas.values, [roc_auc_score(y, one) for one in s], {"rtol": 0, "atol": 0.004})


@pytest.mark.long
@pytest.mark.parametrize(("copied", "least"), [(False, 0.95), (True, 0.92)])
@pytest.mark.parametrize("design", ["uniform", "weighted"])
def test_audited_intervals_cover(copied: bool, least: float, design: str) -> None:
    true = ndtr(np.array([1.2, 0.9]) / np.sqrt(2))
    covered, repeats = np.zeros(2), 600
    for seed in range(repeats):
        rng = np.random.default_rng((6, seed))
        s, y, given = _world(rng, copied)
        chances = np.full(2000, 0.15) if design == "uniform" else np.where(given, 0.25, 0.15)
        rows = np.flatnonzero(rng.random(2000) < chances)
        if design == "uniform" or rows.size < 300:
            rows, chances = rng.choice(2000, 300, replace=False), np.full(2000, 0.15)
        audit = Audit(rows, y[rows].astype(int), design="weighted", probabilities=chances[rows])
        found = auc({"a": s[0], "b": s[1]}, given.astype(int), audit=audit)
        for place, (name, value) in enumerate((("a", true[0]), ("b - a", true[1] - true[0]))):
            span = found[name].corrected
            covered[place] += span.low <= value <= span.high
    assert (covered / repeats >= least - 3 * np.sqrt(least * (1 - least) / repeats)).all(), covered / repeats


def test_what_cannot_be_used_is_refused() -> None:
    with pytest.raises(NotEnoughData, match="at least 300 audited rows, got 5"):
        auc(A, Y, audit=Audit([0, 1, 2, 3, 4], [1, 1, 0, 0, 1], design="uniform"))
    refuses(InputError, "two classes, got 3", auc, A, [*range(3)] * 3 + [0, 1])
    refuses(InputError, "one of `noise`", auc, A, Y, noise=0.1, contamination=(0.1, 0.1))
    refuses(InputError, "sum is below 1", auc, A, Y, contamination=(0.6, 0.5))
    refuses(InputError, "contradicts the labels", auc, A, Y, noise=TransitionMatrix([[0.4, 0.6], [0.1, 0.9]]))
    refuses(NotEnoughData, "1 positives", auc, A, [1] + [0] * 10)
    refuses(InputError, "positive", auc, A, Y, positive=3)
    swapped = auc(-A, Y, positive=0)
    assert swapped["scores"].value == pytest.approx(0.85)


def test_the_sentence_says_which_difference_is_tested() -> None:
    assert auc({"a": A, "b": B}, Y).sentence == "AUC: a 0.850 [0.597, 1.000]; b - a: p = 0.91."
