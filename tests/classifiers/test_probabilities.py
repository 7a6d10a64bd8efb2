"""Losses, calibration errors and areas, against scikit-learn, every flip of few labels, and true labels."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import ttest_rel
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from demele.classifiers import auc, calibration_error, probability_loss
from demele.classifiers.probabilities import Loss, audited_areas, contaminations, delong, losses, worst_areas
from demele.core.labelled import Vocabulary
from demele.errors import InputError, NotEnoughData
from demele.labels import Audit, TransitionMatrix
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close

P, GIVEN = np.array([0.9, 0.8, 0.3, 0.6, 0.05]), np.array([1, 0, 0, 1, 0])
NOISE = TransitionMatrix([[0.95, 0.05], [0.1, 0.9]])
SIX = 6e-7


def flips(y: NDArray[Any], most: int) -> Iterator[NDArray[Any]]:
    """Yield labels of 0 and 1 of which at most so many are changed, in every way."""
    for m in range(most + 1):
        for rows in itertools.combinations(range(y.size), m):
            yield np.where(np.isin(np.arange(y.size), rows), 1 - y.astype(int), y)


def test_losses_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    p, y = rng.random(50), rng.integers(0, 2, 50)
    assert_close(probability_loss(p, y)["probabilities"].value, brier_score_loss(y, p), ROUNDING)
    assert_close(probability_loss(p, y, loss="log")["probabilities"].value, log_loss(y, p), ROUNDING)
    q, z = rng.dirichlet([1, 1, 1], 50), rng.integers(0, 3, 50)
    assert_close(probability_loss(q, z, loss="log")["probabilities"].value, log_loss(z, q), ROUNDING)
    assert_close(probability_loss(q, z)["probabilities"].value, ((np.eye(3)[z] - q) ** 2).sum(axis=1).mean(), ROUNDING)


def test_the_backward_correction_has_the_published_numbers() -> None:
    for loss, value, corrected in (("brier", 0.1805, 0.148735), ("log", 0.526718, 0.437179)):
        row = probability_loss(P, GIVEN, loss=loss, noise=NOISE)["probabilities"]  # type: ignore[arg-type]
        assert [row.value, row.corrected_value] == pytest.approx([value, corrected], abs=SIX)
    rows = losses(P, 5, 2, "brier", None) @ np.linalg.inv(NOISE.probabilities).T
    assert rows[np.arange(5), GIVEN] == pytest.approx([-0.084118, 0.675294, 0.066471, 0.136471, -0.050441], abs=SIX)
    three = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0, 0.2, 0.8]])
    one = np.tile([0.5, 0.3, 0.2], (3, 1))
    found = probability_loss(one, [0, 1, 2], loss="log", noise=TransitionMatrix(three)).rows[0]
    assert found.value == pytest.approx(-np.log([0.5, 0.3, 0.2]).mean())
    assert found.corrected_value == pytest.approx(np.mean([0.607751, 1.215507, 1.707921]), abs=SIX)


def test_corrected_losses_and_differences_are_those_on_true_labels_in_the_mean() -> None:
    rng, n = np.random.default_rng(2), 200_000
    matrix = np.array([[0.85, 0.1, 0.05], [0.1, 0.8, 0.1], [0.02, 0.18, 0.8]])
    y = rng.integers(0, 3, n)
    models = {name: rng.dirichlet([1, 1, 1], n) * (1 + w * np.eye(3)[y]) for name, w in (("a", 2), ("b", 3))}
    models = {name: p / p.sum(axis=1, keepdims=True) for name, p in models.items()}
    given = (rng.random(n)[:, None] > np.cumsum(matrix, axis=1)[y]).sum(axis=1)
    losses_known: tuple[Loss, ...] = ("brier", "log")
    for loss in losses_known:
        true = probability_loss(models, y, loss=loss)
        found = probability_loss(models, given, loss=loss, noise=TransitionMatrix(matrix))
        for one, other in zip(found.rows, true.rows, strict=True):
            width = one.corrected.high - one.corrected.low
            assert abs(one.corrected_value - other.value) < width
            assert abs(one.value - other.value) > 2 * width


def test_a_difference_is_the_paired_one() -> None:
    rng = np.random.default_rng(3)
    y, models = rng.integers(0, 2, 40), {"a": rng.random(40), "b": rng.random(40)}
    row = probability_loss(models, y)["b - a"]
    expected = ttest_rel((models["b"] - y) ** 2, (models["a"] - y) ** 2)
    span = expected.confidence_interval()
    assert_close([row.p_value, row.interval.low, row.interval.high], [expected.pvalue, *span], ROUNDING)


@pytest.mark.parametrize("loss", ["brier", "log"])
def test_the_worst_case_is_that_of_all_flips(loss: str) -> None:
    rng = np.random.default_rng(4)
    y, models = rng.integers(0, 2, 9), {"a": rng.random(9), "b": rng.random(9)}
    most = 2.0 if loss == "log" else None
    found = probability_loss(models, y, loss=loss, noise=0.25, most=most)  # type: ignore[arg-type]
    wrong = [probability_loss(models, one, loss=loss, most=most, classes=[0, 1]) for one in flips(y, 2)]  # type: ignore[arg-type]
    for row in found.rows:
        values = [one[row.name].value for one in wrong]
        assert_close([row.corrected.low, row.corrected.high], [min(values), max(values)], ROUNDING)


def test_what_has_no_bound_or_no_inverse_is_refused() -> None:
    refuses(InputError, "has no bound: give the largest loss", probability_loss, P, GIVEN, loss="log", noise=0.1)
    refuses(InputError, "invertible", probability_loss, P, GIVEN, noise=TransitionMatrix([[0.5, 0.5], [0.5, 0.5]]))
    with pytest.raises(InputError, match="infinite; give `most`"):
        probability_loss([1.0, 0.8, 0.3, 0.6, 0.05], GIVEN, loss="log", noise=NOISE)
    refuses(InputError, "sum to 1", probability_loss, np.full((5, 2), 0.6), GIVEN)
    refuses(InputError, "shape \\(5, 2\\)", probability_loss, np.full((5, 3), 0.6), GIVEN)
    refuses(InputError, "most", probability_loss, P, GIVEN, most=3)


def _binned() -> tuple[np.ndarray, np.ndarray]:
    sizes, hits, sure = (500, 300, 200), (440, 216, 120), (0.95, 0.75, 0.55)
    correct = [np.arange(size) < hit for size, hit in zip(sizes, hits, strict=True)]
    return np.repeat(sure, sizes), np.concatenate(correct)


def test_calibration_errors_have_the_published_numbers() -> None:
    found = calibration_error(*_binned(), flips=(0.1, 0.05))
    assert [found["ECE"].value, found["ECE"].corrected_value] == pytest.approx([0.054, 0.044118], abs=SIX)
    gaps = [row for row in found.rows if row.name.startswith("gap")]
    assert [row.name for row in gaps] == ["gap, 0.5 to 0.6", "gap, 0.7 to 0.8", "gap, 0.9 to 1"]
    assert [row.corrected_value for row in gaps] == pytest.approx(
        [0.55 - 0.647059, 0.75 - 0.788235, 0.95 - 0.976471], abs=SIX
    )
    assert gaps[-1].value > 0 > gaps[-1].corrected_value
    assert found.sentence == "Calibration error: ECE 0.054; on true labels 0.044."
    assert [row.n for row in gaps] == [200, 300, 500]


def test_wrong_labels_change_a_calibration_error_by_their_share_at_most() -> None:
    rng = np.random.default_rng(5)
    p = rng.random(200)
    right = rng.random(200) < p**2
    found = calibration_error(p, right, noise=0.05)["ECE"].corrected
    for _ in range(200):
        flipped = right.copy()
        rows = rng.choice(200, 10, replace=False)
        flipped[rows] = ~flipped[rows]
        assert found.low - 1e-12 <= calibration_error(p, flipped, draws=1)["ECE"].value <= found.high + 1e-12


def test_a_calibrated_classifier_has_an_error_by_chance() -> None:
    inside = 0
    for seed in range(200):
        rng = np.random.default_rng((6, seed))
        p = rng.beta(4, 2, 150)
        found = calibration_error(p, rng.random(150) < p, seed=seed)
        span = found["ECE by chance"].interval
        inside += span.low <= found["ECE"].value <= span.high
    assert abs(inside / 200 - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 200)
    refuses(InputError, "sum is below 1", calibration_error, *_binned(), flips=(0.5, 0.5))
    refuses(InputError, "one of `noise`, `flips`", calibration_error, *_binned(), flips=(0.1, 0.1), noise=0.1)


def test_an_audit_corrects_each_gap() -> None:
    rng, n = np.random.default_rng(7), 40_000
    p = rng.choice([0.95, 0.75, 0.55], n)
    true = rng.random(n) < p
    given = np.where(rng.random(n) < 0.15, ~true, true)
    rows = rng.choice(n, 400, replace=False)
    found = calibration_error(p, given, audit=Audit(rows, true[rows].astype(float), design="uniform"))
    assert found["ECE"].value == pytest.approx(0.075, abs=0.01)  # (0.135 + 0.075 + 0.015) / 3
    assert found["ECE"].corrected_value < 0.05
    for row in found.rows[2:]:
        assert row.corrected.low <= row.corrected_value <= row.corrected.high
        assert row.corrected.low <= 0 <= row.corrected.high
    with pytest.raises(NotEnoughData, match="use fewer `bins`"):
        calibration_error(p, given, audit=Audit(rows[:30], true[rows[:30]].astype(float), design="uniform"))


# Areas under ROC curves: equal to scikit-learn, to all subsets of wrong labels, and to simulated true labels ----------


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


def test_bounds_are_those_of_all_subsets_of_wrong_labels() -> None:
    assert [worst_areas(A, Y, m)[0] for m in (1, 2, 3)] == pytest.approx([0.683333, 0.516667, 0.375], abs=5e-7)
    rng = np.random.default_rng(4)
    for case in range(40):
        y = rng.permutation(np.arange(10) < rng.integers(4, 7))
        s = np.round(rng.random(10), 1 if case % 2 else 3)
        for m in (1, 2, 3):
            areas = [roc_auc_score(one, s) for one in flips(y, m) if 0 < one.sum() < y.size]
            assert_close(worst_areas(s, y, m), [min(areas), max(areas)], ROUNDING)
    assert worst_areas(A, Y, 5) == (0, 1)


def test_the_worst_case_of_a_difference_holds_for_any_wrong_labels() -> None:
    found = auc({"a": A, "b": B}, Y, noise=0.2)["b - a"]
    for flipped in flips(Y, 2):
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
