"""Agreement with a reference: the exact paired test, its level under its assumption, and how it fails without it."""

from dataclasses import replace

import numpy as np
from scipy.stats import binomtest

from demele.classifiers import Agreement, compare
from demele.classifiers.comparison.worst_case import agreement
from tests.classifiers.comparison.cases import question, random_question
from tests.tolerances import ROUNDING, assert_close, assert_exact


def test_p_value_is_the_exact_binomial_one() -> None:
    """The candidate alone agrees on 7 rows, the baseline alone on 1: P(Bin(8, 1/2) >= 7) = 9 / 256."""
    reference = np.zeros(12, dtype=np.int32)
    old, new = [0] * 5 + [1] * 7, [0] * 4 + [1] + [0] * 7
    found = agreement(question([1] * 12, [old, new], 2, reference=reference))
    assert_close(found.p_value[0], 9 / 256, ROUNDING)
    assert_close(found.difference[0], 6 / 12, ROUNDING)
    assert_exact(found.details["agrees_with_candidate_only"], [7, 1])


def test_many_pairs_against_scipy() -> None:
    rng = np.random.default_rng(0)
    asked = random_question(rng, n=90, k=3, models=5)
    reference = asked.data.labels.copy()
    reference[::4] = rng.integers(0, 3, reference[::4].size)
    found = agreement(replace(asked, reference=reference))
    for pair in range(asked.n_pairs):
        old, new = (asked.data.predictions[m] == reference for m in (asked.baseline[pair], asked.candidate[pair]))
        won, lost = int((new & ~old).sum()), int((old & ~new).sum())
        assert_close(found.p_value[pair], binomtest(won, won + lost, alternative="greater").pvalue, ROUNDING)


def test_the_given_labels_do_not_matter() -> None:
    asked = random_question(np.random.default_rng(3), n=90, k=3, reference=np.zeros(90, dtype=np.int32))
    other = replace(asked, data=asked.data.relabelled(np.ones(90, dtype=np.int32)))
    assert_exact(agreement(asked).low, agreement(other).low)


def rejections(*, dependent: bool, repeats: int = 400, n: int = 300) -> float:
    """How often "candidate better" is said of two that are right as often (80%), with a reference right at 80%."""
    rng, wrong = np.random.default_rng(12), 0
    for _ in range(repeats):
        truth = rng.integers(0, 4, n)
        errors = rng.random((3, n)) < 0.2
        if dependent:  # the reference errs with the candidate, and in the same way
            errors[2] = errors[1]
        other = (truth + 1) % 4
        old, new, third = (np.where(error, other, truth) for error in errors)
        wrong += compare(old, new, None, method=Agreement(third), level=0.9, classes=range(4)).verdict == "candidate"
    return wrong / repeats


def test_level_holds_if_errors_are_independent() -> None:
    assert rejections(dependent=False) <= 0.05 + 5 * np.sqrt(0.05 * 0.95 / 400)
