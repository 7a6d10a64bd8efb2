"""The simulated test sets: what they promise, and that the thesis' comparisons err there about as it reports."""

import numpy as np

from benchmarks.worlds import noisy_labels, question, rates, reference, world
from demele.classifiers.comparison.methods import METHODS
from tests.tolerances import assert_exact


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


def test_a_world_is_the_same_each_time_and_its_noise_has_its_rate() -> None:
    one, other = world(0, n=2000), world(1, n=2000)
    assert_exact(one.predictions, world(0, n=2000).predictions)
    assert (one.predictions != other.predictions).any()
    for kind in ("uniform", "class", "feature", "adversarial"):
        assert np.count_nonzero(noisy_labels(one, 0.05, kind) != one.true_labels) == 100
