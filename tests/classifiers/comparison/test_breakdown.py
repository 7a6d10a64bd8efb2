"""The breakdown number: with so many wrong labels the verdict stands on all right labels, with one more it does not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from demele.classifiers.comparison.decision import breakdown
from demele.classifiers.comparison.methods import METHODS
from demele.classifiers.comparison.worst_case import mcnemar_p, worst_case
from demele.classifiers.question import Question
from demele.core.proportions import score_interval
from tests.classifiers.comparison.cases import all_labels, clean_counts, mirror, question, random_question
from tests.tolerances import assert_exact


def stands(asked: Question, pair: int, truths: Any, way: str) -> Any:
    """Whether "candidate better" would be said on each set of right labels."""
    lost, won = list(clean_counts(truths, asked))[pair]
    if way == "test_set":
        return won > lost
    if way == "population":
        return mcnemar_p(lost, won) <= asked.tail
    ends = [
        score_interval((asked.data.predictions[m] == truths).sum(axis=1), np.full(len(truths), 6), level=asked.level)
        for m in (asked.baseline[pair], asked.candidate[pair])
    ]
    return ends[1][0] > ends[0][1]


def test_against_every_set_of_right_labels() -> None:
    for level in [0.1, 0.4]:
        for way in ["population", "test_set", "overlap", "by overlap"]:
            truths, seen = all_labels(6, 3), set()
            for seed in range(15):
                inference = "population" if way == "by overlap" else way
                rng = np.random.default_rng(seed)
                asked = random_question(rng, n=6, k=3, models=3, level=level, inference=inference)
                found = breakdown(asked, METHODS["overlap" if way == "by overlap" else "worst-case"])
                distance = (truths != asked.data.labels).sum(axis=1)
                for pair in range(asked.n_pairs):
                    bears = []
                    for one in (asked, mirror(asked)):
                        ok = stands(one, pair, truths, "overlap" if way == "by overlap" else way)
                        fails = distance[~ok]
                        bears.append(int(fails.min()) - 1 if fails.size else 6)
                    assert found[pair] == max(bears)
                    seen.add(int(found[pair]))
            assert {-1, 0, 1} <= seen


def test_by_hand() -> None:
    """The candidate wins 30, loses 10: the 40 decided need 27 for p <= 0.025 (P(Bin(40, 1/2) >= 27) = 0.0192)."""
    labels = [0] * 100
    old, new = [0] * 70 + [1] * 30, [1] * 10 + [0] * 90
    asked = question(labels, [old, new], 2)
    assert_exact(breakdown(asked, METHODS["worst-case"]), [3, 3])
    # 20 more right: 9 exchanges leave 2, 10 leave 0.
    assert_exact(breakdown(replace(asked, inference="test_set"), METHODS["worst-case"]), [9, 9])


@pytest.mark.parametrize("inference", ["population", "test_set", "overlap"])
def test_it_is_the_largest_rate_under_which_bounded_still_decides(inference: str) -> None:
    asked = random_question(np.random.default_rng(4), n=500, k=4, models=9, inference=inference)
    found = breakdown(asked, METHODS["worst-case"])
    assert ((found >= 0).any() and (found < 0).any()) or inference == "test_set"
    for pair in range(asked.n_pairs):
        one = replace(asked, baseline=asked.baseline[[pair]], candidate=asked.candidate[[pair]])
        most = int(found[pair])
        if most >= 0:
            at = worst_case(replace(one, noise=most / 500))
            assert at.candidate[0] or at.baseline[0]
        beyond = worst_case(replace(one, noise=(most + 1) / 500))
        assert not beyond.candidate[0]
        assert not beyond.baseline[0]


def test_labels_that_the_method_used() -> None:
    rng = np.random.default_rng(5)
    asked = random_question(rng, n=300, k=3, models=5, suspects=rng.random(300) < 0.3)
    truth = rng.integers(0, 3, 300).astype(np.int32)
    kept = replace(asked, data=asked.data.take(~asked.suspects))
    assert_exact(breakdown(asked, METHODS["cleaned"]), breakdown(kept, METHODS["overlap"]))
    true = replace(asked, data=asked.data.relabelled(truth))
    told = breakdown(replace(asked, true_labels=truth), METHODS["true-labels"])
    assert_exact(told, breakdown(true, METHODS["overlap"]))
    assert_exact(breakdown(asked, METHODS["agreement"]), np.full(asked.n_pairs, -1))


@pytest.mark.parametrize("level", [0.9375, 0.75, 0.5])
def test_ties_with_the_level_count_as_rejections(level: float) -> None:
    """A tail of 1/32 is exactly the p-value of 5 wins of 5: the verdict stands, and bears no wrong label."""
    wins = {0.9375: 5, 0.75: 3, 0.5: 2}[level]
    asked = question([0] * 10, [[1] * wins + [0] * (10 - wins), [0] * 10], 2, level=level)
    assert_exact(breakdown(asked, METHODS["worst-case"]), [0, 0])
    assert worst_case(replace(asked, noise=0.0)).candidate[0]
