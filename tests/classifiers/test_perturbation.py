"""The perturbation test of importance maps: areas by hand, chance, what is refused, and labels that may be wrong."""

import itertools
from dataclasses import astuple
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t

from demele.classifiers import assess
from demele.classifiers.explanations.courses import (
    Course,
    KnownNoise,
    area_payoffs,
    bounded_mean,
    destroyed,
    destruction_order,
    fillings,
    region_importance,
    regions,
)
from demele.core.errors import DemeleError, InputError, InputTypeError, UnknownNameError
from demele.explain import PerturbationTest, perturbation_test
from demele.labels import Audit, TransitionMatrix
from demele.noise.budget import noise_budget
from demele.report.document import Pill
from demele.report.words import plain as plain_text
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_at_most, assert_close, assert_exact, assert_mean, assert_rate_at_most

Floats = NDArray[np.float64]
#: What the classifiers here read: all they say comes from these four pixels of 2 x 2 or 4 x 4.
WEIGHTS = np.array([[4.0, 2.0], [1.0, 0.0]])


def scores_of(weights: Floats) -> Any:
    """A classifier of two classes: the weighted sum of pixels, and 0."""

    def predict(images: NDArray[Any]) -> Floats:
        total = (images[..., 0] * weights).sum(axis=(1, 2))
        return np.stack([total, np.zeros(len(images))], axis=1)

    return predict


def four_pixels(n: int = 30, side: int = 4, seed: int = 0) -> tuple[Any, Floats, Floats]:
    """A classifier that reads four pixels, images, and its map: how far each pixel is above its mean, weighted."""
    rng = np.random.default_rng(seed)
    weights = np.zeros((side, side))
    weights.flat[rng.choice(side * side, 4, replace=False)] = [3.0, 2.0, 2.0, 1.0]
    images = rng.random((n, side, side)) + 0.2

    def predict(batch: NDArray[Any]) -> Floats:
        odds = np.exp(np.minimum((batch[..., 0] * weights).sum(axis=(1, 2)), 50))
        shares: Floats = np.stack([odds, np.ones(len(batch))], axis=1) / (1 + odds)[:, None]
        return shares

    return predict, images, images * weights


# By hand --------------------------------------------------------------------------------------------------------------


def test_areas_worked_out_by_hand() -> None:
    # Falls by weight: 0 4 6 7 7, mean 4.8; from below 0 0 1 3 7, mean 2.2; at random 0 7/4 14/4 21/4 7, mean 3.5.
    images = np.ones((50, 2, 2))
    found = perturbation_test(scores_of(WEIGHTS), images, np.tile(WEIGHTS, (50, 1, 1)), destroy=0.0)
    only = found["map"]
    assert_close(only.areas["most"].value, 4.8, ROUNDING)
    assert_close(only.areas["least"].value, 2.2, ROUNDING)
    assert_mean(only.images["area_random"], 3.5)
    assert_close(only.curves["most"].values, [7, 3, 1, 0, 0], ROUNDING)
    assert_close(only.curves["least"].values, [7, 7, 6, 4, 0], ROUNDING)
    assert (found.steps, found.regions, found.measured, only.verdict) == (4, 4, "output", "holds")


def test_the_difference_has_students_interval_over_images() -> None:
    predict, images, maps = four_pixels(12)
    only = perturbation_test(predict, images, maps, destroy=0.0, level=0.9)["map"]
    values = only.images["area_most"] - only.images["area_random"]
    half = 1.7958848187 * values.std() / np.sqrt(12)  # the 95 % quantile of Student's distribution of 11 degrees
    interval = only.difference.interval
    assert_close(only.difference.value, values.mean(), ROUNDING)
    assert abs(interval.low - (values.mean() - half)) < 1e-9
    assert abs(interval.high - (values.mean() + half)) < 1e-9


def test_accuracy_falls_when_the_class_is_lost() -> None:
    # The total is lost with the heaviest pixel: 1 > 0.5 on the whole image, 0.3 after; class 1 is "below 0.5".
    def predict(images: NDArray[Any]) -> NDArray[Any]:
        return np.asarray((images[..., 0] * [[0.7, 0.3], [0, 0]]).sum(axis=(1, 2)) < 0.5, dtype=np.int64)

    maps = np.tile(WEIGHTS, (20, 1, 1))
    labels = [0] * 15 + [1] * 5  # the last five are wrong on the whole image, and right afterwards
    only = perturbation_test(predict, np.ones((20, 2, 2)), maps, labels=labels, destroy=0.0)["map"]
    assert_close(only.curves["most"].values, [0.75, 0.25, 0.25, 0.25, 0.25], ROUNDING)
    assert_close(only.areas["most"].value, 0.8 * 0.5, ROUNDING)
    assert only.images["label"].tolist() == labels
    kept = perturbation_test(predict, np.ones((20, 2, 2)), maps, destroy=0.0)
    assert kept.measured == "prediction kept"
    assert_close(kept["map"].areas["most"].value, 0.8, ROUNDING)


def test_a_class_that_is_named_is_followed() -> None:
    images, maps = np.ones((6, 2, 2)), np.tile(WEIGHTS, (6, 1, 1))
    found = perturbation_test(scores_of(WEIGHTS), images, maps, targets=np.ones(6, dtype=int), destroy=0.0)
    assert found["map"].areas["most"].value == 0  # the other output does not move
    assert found["map"].verdict == "inconclusive"


# A known model --------------------------------------------------------------------------------------------------------


def test_the_map_of_a_known_model_holds_its_reverse_misleads_and_noise_is_inconclusive() -> None:
    predict, images, maps = four_pixels()
    noise = np.random.default_rng(1).random(maps.shape)
    found = perturbation_test(predict, images, {"own": maps, "reverse": -maps, "noise": noise}, destroy=0.0, seed=3)
    assert [one.verdict for one in found] == ["holds", "misleads", "inconclusive"]
    assert [pair.better for pair in found.pairs] == ["own", "own", "noise"]
    shared = [one.difference.interval for one in found]
    assert_close([one.level for one in shared if one is not None], [1 - 0.05 / 3] * 3, ROUNDING)  # three maps share 5 %
    assert found["own"].worse_than_random == 0
    assert found["reverse"].worse_than_random == 1
    assert found.sentences == (
        "1 of 3 maps are significantly better than random order: own.",
        "The test needs no labels.",
    )
    document = found.document()
    rows = [dict(zip(document.table.columns, row, strict=True)) for row in document.table.rows]
    assert [(plain_text(row["Map"]), row["Worse images"], cast(Pill, row["Result"]).text) for row in rows][:2] == [
        ("own", 0.0, "holds"),
        ("reverse", 1.0, "misleads"),
    ]
    titles = [section.title for section in document.sections]
    assert titles == ["Scores", "Pairwise results", "Curves", "Data"]
    assert found.to_frame().loc["own", "difference"] == found["own"].difference.value


def test_a_map_of_noise_is_called_better_or_worse_as_rarely_as_the_level_says() -> None:
    wrong, differences = 0, []
    for trial in range(120):
        predict, images, _ = four_pixels(20, seed=trial)
        noise = np.random.default_rng(trial).random(images.shape)
        found = perturbation_test(predict, images, noise, steps=5, n_repeats=3, seed=trial, worst=0)
        wrong += found["map"].verdict != "inconclusive"
        differences.append(found["map"].difference.value)
    assert_rate_at_most(wrong, 120, 0.05)
    assert wrong > 0  # an interval that never misses is too wide
    assert_mean(differences, 0)


# How regions go -------------------------------------------------------------------------------------------------------


def test_regions_at_the_edge_are_smaller_and_weigh_as_means() -> None:
    where = regions(5, 3, (2, 2))
    assert where.tolist() == [[0, 0, 1], [0, 0, 1], [2, 2, 3], [2, 2, 3], [4, 4, 5]]
    maps = np.arange(15.0).reshape(1, 5, 3)
    assert_close(region_importance(maps, where), [[2, 3.5, 8, 9.5, 12.5, 14]], ROUNDING)


def test_only_regions_that_are_gone_differ() -> None:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (3, 6, 6, 2), dtype=np.uint8)
    where = regions(6, 6, (2, 3))
    order = destruction_order(rng.random((3, 6)), "most", 0, 0)
    filled = fillings(images, np.arange(3), "blur", (0, 255), 0, 0)
    for step, now in enumerate(destroyed(images, filled, order, where, 6), start=1):
        for i in range(3):
            gone = np.isin(where, order[i, :step])
            assert_exact(now[i][gone], filled[i][gone])
            assert_exact(now[i][~gone], images[i][~gone])


@pytest.mark.parametrize("filling", ["uniform", "mean", "blur", 7.0])
def test_what_replaces_a_region_has_the_type_of_the_image(filling: Any) -> None:
    for images in (np.full((2, 6, 6, 3), 200, dtype=np.uint8), np.full((2, 6, 6, 3), 0.5)):
        ends = (0.0, 255.0) if images.dtype == np.uint8 else (0.25, 0.75)
        filled = fillings(images, np.arange(2), filling, ends, 0, 0)
        assert (filled.dtype, filled.shape) == (images.dtype, images.shape)
        if filling in ("mean", "blur"):
            assert_close(filled, images, ROUNDING)
        elif filling == "uniform":
            assert ends[0] <= filled.min() < filled.max() <= ends[1]
            assert (filled[0] != filled[1]).mean() > 0.9  # each image has draws of its own
        else:
            assert (filled == 7).all()


def test_draws_do_not_depend_on_the_images_beside() -> None:
    predict, images, maps = four_pixels()
    whole = perturbation_test(predict, images, maps, batch=256)
    parts = perturbation_test(predict, images, maps, batch=7)
    assert_exact(whole["map"].images["area_random"], parts["map"].images["area_random"])
    assert_exact(whole["map"].images["area_most"], parts["map"].images["area_most"])
    other = perturbation_test(predict, images, maps, seed=1)
    assert other["map"].areas["random"].value != whole["map"].areas["random"].value


# What is refused ------------------------------------------------------------------------------------------------------

PREDICT, IMAGES, MAPS = four_pixels(8)
DRAWS = np.random.default_rng(0)


def test_arguments_that_cannot_be_used_are_told() -> None:
    for changed, message in [
        ({"images": IMAGES[:1], "maps": MAPS[:1]}, "at least 2 images"),
        ({"images": IMAGES[0]}, "expected shape"),
        ({"images": np.where(IMAGES > 1, np.nan, IMAGES)}, "not finite, first at row"),
        ({"images": (IMAGES * 1000).astype(int)}, "whole numbers from 0 to 255"),
        ({"maps": MAPS[:7]}, "a map per image"),
        ({"maps": {"a": MAPS, "b": np.full(MAPS.shape, np.inf)}}, r"maps\['b'\]: 8 maps"),
        ({"maps": {}}, "at least 1 map"),
        ({"labels": [0] * 7}, "expected 8 labels"),
        ({"labels": [5] * 8}, "labels:"),
        ({"labels": ["cat"] * 8}, "which class each column is"),
        ({"measure": "accuracy"}, "against labels"),
        ({"measure": "loss"}, "'score' or 'accuracy'"),
        ({"noise": 0.1}, "do not depend on labels"),
        ({"region": 4}, "several regions"),
        ({"region": 0}, "1 pixel or more"),
        ({"region": "big"}, "a side"),
        ({"steps": 17}, "from 1 to 16"),
        ({"destroy": "uniforn"}, "uniform"),
        ({"destroy": np.nan}, "finite"),
        ({"targets": [2] * 8}, "columns from 0 to 1"),
        ({"classes": ["a", "b", "c"]}, "expected 3 columns"),
    ]:
        given: dict[str, Any] = {"images": IMAGES, "maps": MAPS} | changed
        refuses(DemeleError, message, perturbation_test, PREDICT, given.pop("images"), given.pop("maps"), **given)


def test_answers_that_cannot_be_used_are_told() -> None:
    predict_cases: Any = [
        (lambda b: np.zeros((len(b) + 1, 2)), r"shape \(8, n_classes\)"),
        (lambda b: np.zeros((len(b), 2, 2)), r"got \(8, 2, 2\)"),
        (lambda b: np.full((len(b), 2), np.nan), "not finite"),
        (lambda b: np.zeros((len(b), 1)), "2 or more classes"),
        (lambda b: np.full(len(b), 0.3), "a column of"),
        (lambda b: np.array([["a", "b"]] * len(b)), "expected numbers"),
        (lambda b: np.zeros((len(b), 2 + (b[0, 0, 0, 0] != IMAGES[0, 0, 0]))), "as before"),
        (lambda b: DRAWS.random((len(b), 2)), "something is drawn"),
        ("predict", "expected a function"),
    ]
    for predict, message in predict_cases:
        refuses(InputError, message, perturbation_test, predict, IMAGES, MAPS, destroy=0.0)


# The page -------------------------------------------------------------------------------------------------------------


def test_plain_values_and_tables_hold_everything() -> None:
    predict, images, maps = four_pixels()
    found: PerturbationTest = perturbation_test(predict, images, maps, labels=np.zeros(30, dtype=int), steps=4)
    content = found.to_dict()
    assert content["kind"] == "perturbation test"
    assert len(content["maps"][0]["images"]) == 30
    assert "image" not in content["maps"][0]["worst"][0]
    assert [curve.values.size for curve in found["map"].curves.values()] == [5, 5, 5]
    assert found.to_json().startswith("{")
    assert "4 of 16 regions destroyed" in str(found)
    assert str(found.signature).startswith("perturbation_test(measure='accuracy', region=(1, 1), steps=4")


def test_an_unknown_map_is_told() -> None:
    found = perturbation_test(PREDICT, IMAGES, {"gradient": MAPS})
    refuses(UnknownNameError, "did you mean 'gradient'", lambda: found["gradients"])


# Labels that may be wrong: bounds by enumeration, and what assess says of the same ------------------------------------


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
