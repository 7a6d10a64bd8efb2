"""Perturbation tests against labels that may be wrong: bounds by enumeration, and what assess says of the same."""

import itertools
from dataclasses import astuple
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t

from demele.classifiers import assess
from demele.classifiers.explanations.courses import Course, KnownNoise, area_payoffs, bounded_mean
from demele.core.errors import InputError, InputTypeError
from demele.explain import perturbation_test
from demele.labels import Audit, TransitionMatrix
from demele.noise.budget import noise_budget
from tests.tolerances import ROUNDING, assert_at_most, assert_close

Floats = NDArray[np.float64]
K = 3


def predict(images: NDArray[Any]) -> Floats:
    """Three classes: which of three pixels is brightest."""
    return np.asarray(images[:, 0, :3, 0], dtype=np.float64)


def some(n: int, wrong: int, seed: int = 0) -> tuple[Floats, NDArray[np.int64]]:
    """Images, and labels of which so many are wrong."""
    rng = np.random.default_rng(seed)
    images = rng.random((n, 2, 4))
    labels = predict(images[..., None]).argmax(axis=1)
    labels[:wrong] = (labels[:wrong] + 1) % K
    return images, labels


def course_of(seed: int, n: int = 6, steps: int = 4, runs: int = 2) -> tuple[Course, NDArray[np.int32]]:
    rng = np.random.default_rng(seed)
    predicted = rng.integers(0, K, (runs, n, steps + 1)).astype(np.int32)
    predicted[:, :, 0] = predicted[0, :, 0]
    labels = rng.integers(0, K, n).astype(np.int32)
    return Course((predicted == labels[:, None]).astype(float), predicted), labels


def test_payoffs_are_areas_for_every_label() -> None:
    run, labels = course_of(0)
    payoffs = area_payoffs(run, K)
    assert_close(payoffs[np.arange(6), labels], run.areas.mean(axis=0), ROUNDING)
    assert_close(payoffs.sum(axis=1), 0, ROUNDING)  # so that labels wrong at random shrink all areas alike


@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_those_of_every_way_to_be_wrong(seed: int) -> None:
    run, labels = course_of(seed)
    payoffs = area_payoffs(run, K) - area_payoffs(course_of(seed + 10)[0], K)
    known = KnownNoise(labels, K, noise_budget(2 / 6, labels, K, tail=0.05))
    (lowest, highest), (low, high) = bounded_mean(payoffs, known, 0.9)
    means, ends = [], []
    for other in itertools.product(range(K), repeat=6):
        if (np.array(other) != labels).sum() <= 2:
            values = payoffs[np.arange(6), other]
            half = t.ppf(0.95, 5) * values.std(ddof=1) / np.sqrt(6)
            means.append(values.mean())
            ends.append((values.mean() - half, values.mean() + half))
    assert_close([lowest, highest], [min(means), max(means)], ROUNDING)
    assert_at_most(low, np.array(ends)[:, 0], ROUNDING)
    assert_at_most(np.array(ends)[:, 1], high, ROUNDING)


@pytest.mark.parametrize("noise", [0.05, TransitionMatrix(np.full((K, K), 0.02) + 0.94 * np.eye(K))])
def test_points_of_curves_are_corrected_as_assess_does(noise: Any) -> None:
    images, labels = some(200, 6)
    maps = np.broadcast_to(np.arange(8.0)[::-1].reshape(2, 4), images.shape)
    only = perturbation_test(predict, images, maps, labels=labels, noise=noise, destroy=0.0)["map"]
    corrected = only.curves["most"].corrected
    now = images.copy()
    for step in range(4):
        found = assess(predict(now[..., None]).argmax(axis=1), labels, noise=noise, classes=range(K))["accuracy"]
        assert_close(only.curves["most"].low[step], found.interval.low, ROUNDING)
        assert_close(corrected[0][step], found.corrected.low, ROUNDING)
        assert_close(corrected[1][step], found.corrected.high, ROUNDING)
        now[:, 0, step] = 0


def test_wrong_labels_move_the_accuracy_and_the_corrected_interval_holds_the_true_area() -> None:
    images, labels = some(200, 0)
    given = labels.copy()
    given[:10] = (given[:10] + 1) % K
    maps = images * [[1, 1, 1, 0], [0, 0, 0, 0]]
    options: dict[str, Any] = {"destroy": 0.0, "seed": 2}
    true = perturbation_test(predict, images, maps, labels=labels, **options)["map"]
    seen = perturbation_test(predict, images, maps, labels=given, noise=0.05, **options)["map"]
    for order in ("most", "random", "least"):
        bias, corrected = seen.areas[order].bias, seen.areas[order].corrected
        assert seen.areas[order].value != true.areas[order].value
        assert bias[0] <= seen.areas[order].value - true.areas[order].value <= bias[1]
        assert corrected.low <= true.areas[order].value <= corrected.high
    assert seen.verdict == true.verdict == "holds"


def test_the_score_rests_on_no_label() -> None:
    images, labels = some(40, 0)
    maps = images * 1.0
    clean = perturbation_test(predict, images, maps, labels=labels, measure="score")
    noisy = perturbation_test(predict, images, maps, labels=(labels + 1) % K, measure="score")
    assert astuple(clean["map"].difference) == astuple(noisy["map"].difference)  # as tuples: NaN is NaN
    assert noisy["map"].images["label"].tolist() == ((labels + 1) % K).tolist()
    with pytest.raises(InputError, match="do not depend on labels"):
        perturbation_test(predict, images, maps, labels=labels, measure="score", noise=0.1)
    with pytest.raises(InputTypeError, match="an audit cannot be used"):
        perturbation_test(predict, images, maps, labels=labels, noise=Audit([0], [1], design="selective"))  # type: ignore[arg-type]
