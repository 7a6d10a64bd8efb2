"""Explicitness by loss and capacity: known curves, known codes, traps."""

import math
from functools import partial

import numpy as np
import pytest

from demele.metrics.predictor.explicitness import area_explicitness, fourier_features, ridge_predictions
from tests.metrics.grid import scored
from tests.oracles import capacity as oracle
from tests.tolerances import ROUNDING, SOLVER, assert_close

pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")


score_of = partial(scored, "capacity_explicitness", kinds=None)


@pytest.mark.worked("capacity_explicitness")
def test_known_curves() -> None:
    curves: dict[tuple[float, ...], float] = {
        (0.5, 0): 0.5,
        (1, 0): 0,
        (0, 0): 1,
        (1, 1, 0): -0.5,
        (1, 0.5, 0): 0,
        (0.6, 0.4, 0.7, 0.1): 1 - 1.7 / 3,
        (0.8, 0.8): 1,  # a useless code: hence the gate of the metric
    }
    for losses, wanted in curves.items():
        assert_close(area_explicitness(range(1, len(losses) + 1), losses), wanted, ROUNDING)
    whole = np.log([1, 2, 4, 8, 16]).tolist()
    assert_close(area_explicitness(whole, (1, 0.5, 0.25, 0.25, 0.25)), 0.6875, ROUNDING)
    assert_close(area_explicitness(whole, (1, 0.9, 0.8, 0.7, 0.6)), 0.6, ROUNDING)
    assert_close(area_explicitness((1, 2), (3.0, 0.25), 0.5), 0.5, ROUNDING)


def test_what_no_predictor_reads_has_no_score() -> None:
    rng = np.random.default_rng(1)
    noise, factors = rng.random((600, 3)), np.column_stack([rng.random(600), rng.integers(0, 3, 600)])
    score = score_of(noise, factors, largest=64)
    assert math.isnan(score.value)
    assert any(note.code == "undefined-value" for note in score.notes)
    assert (score.details["least_loss"] > 0.95 * score.details["worst_loss"]).all()


@pytest.mark.oracle("capacity_explicitness")
def test_the_area_is_that_of_the_losses_by_definition() -> None:
    rng = np.random.default_rng(5)
    factors = np.column_stack([rng.random(400), rng.integers(0, 3, 400)])
    codes = np.column_stack([np.sin(5 * factors[:, 0]), factors[:, 1] == 1]) + 0.1 * rng.standard_normal((400, 2))
    score = score_of(codes, factors, largest=256)
    told = score.details
    wanted = [
        oracle.explicitness(told["capacity"], list(losses), worst)
        for losses, worst in zip(told["losses"], told["worst_loss"], strict=True)
    ]
    assert_close(list(score.native.values()), wanted, ROUNDING)


def test_the_losses_are_those_of_another_librarys_ridge_regression() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(2)
    codes = rng.standard_normal((300, 4))
    targets = codes @ rng.standard_normal((4, 2)) + rng.standard_normal((300, 2))
    train, test = np.arange(200), np.arange(200, 300)
    features = fourier_features(codes, train, 16, np.random.default_rng(0))
    found = ridge_predictions(features, [targets], train, test, [8, 16])
    for size, (predicted,) in zip((8, 16), found, strict=True):
        seen = features[train][:, :size]
        alphas = np.geomspace(1e-8, 1e2, 21) * np.linalg.eigvalsh(seen.T @ seen).mean()
        rest = []
        for alpha in alphas:
            fit = linear.Ridge(alpha=alpha).fit(seen, targets[train])
            freedom = np.trace(np.linalg.solve(seen.T @ seen + alpha * np.eye(size), seen.T @ seen)) + 1
            rest.append(((targets[train] - fit.predict(seen)) ** 2).sum() / (200 - freedom) ** 2)
        best = linear.Ridge(alpha=alphas[int(np.argmin(rest))]).fit(seen, targets[train])
        assert_close(predicted, best.predict(features[test][:, :size]), SOLVER)


def test_classes_are_read_by_the_largest_of_their_indicators() -> None:
    grid = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    score = score_of(grid, grid, kinds="categorical", largest=64)
    assert (score.details["least_loss"] < 0.05).all()
    assert abs(score.details["worst_loss"] - 0.75).max() < 0.05
    assert 0.5 < score.value < 1  # a line does not read the middle classes
    published = score_of(grid, grid, kinds="categorical", baseline="uniform", probe="forest")
    assert_close(published.details["worst_loss"], [0.75, 0.75], ROUNDING)
    assert published.details["capacity"] == [1, 2, 4, 8, 16, 32]
