"""Artificial annotators: eligible, varied, the same whoever computes them, and clear about what cannot be."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from demele.core.error_aims import ErrorAims
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.labels.made.annotators import ArtificialAnnotators, artificial_annotators, candidate_annotator
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_at_most, assert_exact

STEP, TOLERANCE, HIGHEST = 0.05, 0.01, 0.4
AIMS = ErrorAims(HIGHEST, STEP, TOLERANCE)


@cache
def digits() -> tuple[Any, Any]:
    features, y = load_digits(return_X_y=True)
    return features[:600], y[:600]


@cache
def found() -> ArtificialAnnotators:
    return artificial_annotators(*digits(), n_annotators=27)


def blobs(n: int = 90) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + y[:, None], y


def test_every_annotator_is_eligible() -> None:
    errors = found().errors
    assert_exact(errors, (found().predictions != digits()[1]).mean(axis=1))
    assert (errors < HIGHEST).all()
    assert_at_most(np.abs(errors - STEP * np.round(errors / STEP)), TOLERANCE, ROUNDING)
    assert_exact(found().legitimacy, 1 - errors)
    assert_exact(errors, np.sort(errors))


def test_errors_are_spread_evenly_over_the_multiples() -> None:
    near = np.bincount(np.round(found().errors / STEP).astype(int), minlength=9)
    # 27 over nine multiples; few reach the first and the last, whose intervals are half as wide
    assert near.sum() == 27
    assert near[1:8].min() >= 2
    assert near.max() <= 5


def test_they_are_varied() -> None:
    families = {name.rstrip("0123456789").split(":")[0].rsplit(" ", 1)[0] for name in found().names}
    assert len(families) >= 6
    assert len(set(found().names)) == 27
    assert len({row.tobytes() for row in found().predictions}) == 27
    # alike in how often they are wrong, not in where: two of one multiple share few more mistakes than they must
    wrong = found().predictions != digits()[1]
    alike = np.flatnonzero(np.round(found().errors / STEP) == 4)
    shared = (wrong[alike[0]] & wrong[alike[1]]).sum() / wrong[alike[0]].sum()
    assert 0.2 < shared < 0.9


def test_same_bits_whatever_the_number_of_processes() -> None:
    features, y = blobs()
    one, two = (artificial_annotators(features, y, n_annotators=12, seed=3, n_jobs=jobs) for jobs in (1, 2))
    assert_exact(one.predictions, two.predictions)
    assert one.names == two.names
    assert str(one.signature) == str(two.signature)
    other = artificial_annotators(features, y, n_annotators=12, seed=4)
    assert one.names != other.names


def test_a_candidate_is_a_function_of_seed_and_index() -> None:
    features, y = digits()
    name, predictions = candidate_annotator(features, y, 0, AIMS, 7)
    candidate_annotator(features, y, 0, AIMS, 8)
    again = candidate_annotator(features, y, 0, AIMS, 7)
    assert name == again[0]
    assert_exact(predictions, again[1])
    # a kept annotator is the candidate of its number
    position = 13
    index = int(found().names[position].split(":")[0].split()[-1])
    name, predictions = candidate_annotator(features, y, 0, AIMS, index)
    assert name == found().names[position]
    assert_exact(predictions, found().predictions[position])


def test_own_models() -> None:
    features, y = digits()
    model = DecisionTreeClassifier(max_depth=5, random_state=0)
    expected = {"tree": model, "bayes": GaussianNB(), "nearest": KNeighborsClassifier(1)}
    some = artificial_annotators(features, y, models=expected, tolerance=0.025)
    by_error = sorted((np.mean(one.fit(features, y).predict(features) != y), name) for name, one in expected.items())
    assert some.names == tuple(name for _, name in by_error)
    assert_exact(some.errors, [error for error, _ in by_error])
    assert_exact(some.predictions[-1], expected[some.names[-1]].predict(features))
    assert some.notes == ()


def test_models_that_answer_the_same_join_once() -> None:
    features, y = blobs()
    some = artificial_annotators(features, y, models=[GaussianNB(), GaussianNB()], tolerance=0.025)
    assert some.names == ("GaussianNB 0",)
    assert some.notes[0].code == "ineligible-models"
    assert "1 answer all as an earlier one" in some.notes[0].message


def test_too_few_are_returned_with_a_note() -> None:
    # With seven instances, the only multiple of a seventh near a multiple of 5% is 0, and one annotator has no error.
    features, y = blobs(7)
    some = artificial_annotators(features, y, n_annotators=5, tolerance=0.001)
    assert_exact(some.predictions, [y])
    assert some.n_candidates == 50
    assert [note.code for note in some.notes] == ["few-annotators"]
    assert some.notes[0].message.startswith("1 of 5 annotators wanted: of 50 models tried")


def test_no_eligible_model() -> None:
    features, y = blobs()
    refuses(NotEnoughData, r"models: none of 1 models", artificial_annotators, features, y, models=[DummyClassifier()])
    # nothing to learn: what looks the same is called the same
    y = np.random.default_rng(0).integers(2, size=400)
    with pytest.raises(NotEnoughData, match=r"features: none of 10 models has an error under 0.01 .* go from"):
        artificial_annotators(
            np.zeros((400, 1)), y, n_annotators=1, highest_error=0.01, step=0.01, tolerance=0.001, seed=2
        )


def test_bad_input() -> None:
    changed_cases: Any = [
        ({"features": np.zeros((4, 90))}, InputError, r"features and y: .* got 4 and 90; pass features.T"),
        ({"y": np.arange(90) % 2, "features": np.zeros((80, 2))}, InputError, r"got 80 and 90; row r of both"),
        ({"y": np.zeros(90, dtype=int)}, NotEnoughData, r"y: expected at least 2 classes, got only 0"),
        ({"y": np.arange(90)}, NotEnoughData, r"y: expected fewer classes than instances, got 90 of 90"),
        ({"models": []}, NotEnoughData, r"models: expected at least 1 classifier"),
        ({"models": GaussianNB()}, InputTypeError, r"models: expected a sequence .* write \[model\]"),
        ({"models": "trees"}, InputTypeError, r"models: expected a sequence of classifiers"),
        ({"models": [GaussianNB]}, InputTypeError, r"make an instance of it"),
        ({"models": [3]}, InputTypeError, r"models: expected classifiers with fit, predict and get_params, got 3"),
        ({"models": [Ridge()]}, InputError, r"models: Ridge 0 predicts values outside its classes"),
    ]
    for changed, error, message in changed_cases:
        features, y = blobs()
        refuses(error, message, artificial_annotators, **{"features": features, "y": y, **changed})
