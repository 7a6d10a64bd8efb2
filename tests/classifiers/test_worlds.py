"""The simulated test sets: what they promise, and that the thesis' comparisons err there about as it reports."""

import numpy as np
import pytest

from benchmarks.worlds import Kind, all_pairs, noisy_labels, question, rates, reference, world
from demele.classifiers.comparison.methods import METHODS
from demele.labels.made.noise import add_feature_noise
from tests.tolerances import assert_exact


def test_a_world_is_the_same_each_time_and_another_for_another_seed() -> None:
    first, again, other = world(0, n=500), world(0, n=500), world(1, n=500)
    assert_exact(first.predictions, again.predictions)
    assert (first.predictions != other.predictions).any()


def test_who_is_in_it() -> None:
    one = world(0, n=4000)
    errors = (one.annotations != one.true_labels).mean(axis=1)
    assert errors[0] == 0
    assert 0.38 < errors[-1] < 0.46
    accuracy = (one.predictions == one.true_labels).mean(axis=1)
    assert accuracy.min() > 0.52
    assert accuracy.max() < 0.93


@pytest.mark.parametrize("kind", ["uniform", "class", "feature", "adversarial"])
def test_noise_has_its_rate(kind: Kind) -> None:
    one = world(0, n=2000)
    assert np.count_nonzero(noisy_labels(one, 0.05, kind) != one.true_labels) == 100


def test_kinds_of_noise() -> None:
    one = world(0, n=2000)
    attacked = noisy_labels(one, 0.02, "adversarial", baseline=3, candidate=7)
    wrong = attacked != one.true_labels
    assert (one.predictions[3] == one.true_labels)[wrong].all()
    assert_exact(attacked[wrong], one.predictions[7][wrong])
    assert_exact(noisy_labels(one, 0.1), add_feature_noise(one.true_labels, one.annotations, 0.1).labels)
    classes = noisy_labels(one, 0.1, "class")
    wrong = classes != one.true_labels
    assert_exact(classes[wrong], (one.true_labels[wrong] + 1) % 10)
    assert np.count_nonzero(one.true_labels[wrong] % 2 == 0) > np.count_nonzero(one.true_labels[wrong] % 2) * 2
    with pytest.raises(ValueError, match="kind: expected one of"):
        noisy_labels(one, 0.1, "other")  # type: ignore[arg-type]


def test_rates_by_hand() -> None:
    found = rates(np.array([True, True, False, False, False]), np.array([True, False, True, True, False]))
    assert (found.type_1, found.agreement) == (50, 40)
    assert found.type_2 == pytest.approx(200 / 3)


def test_all_ordered_pairs() -> None:
    assert all_pairs(3).tolist() == [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]


def test_the_comparisons_of_the_thesis_err_as_it_reports() -> None:
    """At 5% noise: overlap 1.62 / 1.58%, worst-case-overlap 0 / 66.82%, hard-rows 0 / 52.61%."""
    one = world(0)
    truth, labels = reference(one), noisy_labels(one, 0.05)
    trust = 1 - (one.annotations != one.true_labels).mean(axis=1)
    hardness = trust @ (one.annotations != one.true_labels)
    classic, first, second = (
        rates(METHODS[name](question(one, labels, **known)).candidate, truth)
        for name, known in (
            ("overlap", {}),
            ("worst-case-overlap", {"noise": 0.05}),
            ("hard-rows", {"difficulty": hardness, "prudence": 0.1}),
        )
    )
    assert 1 < classic.type_1 < 3
    assert 1 < classic.type_2 < 3
    assert first.type_1 == second.type_1 == 0
    assert 60 < first.type_2 < 70
    assert 48 < second.type_2 < 56
