"""The usual comparison against intervals of SciPy, and the laws that all methods without an audit obey."""

from dataclasses import replace

import numpy as np
from scipy.stats import binomtest

from demele.classifiers.comparison.methods import METHODS
from demele.classifiers.comparison.overlap import overlap, true_labels
from demele.classifiers.question import as_value
from tests.classifiers.comparison.cases import question, random_question
from tests.tolerances import ROUNDING, assert_close, assert_exact


def wilson(successes: float, trials: float, level: float) -> tuple[float, float]:
    found = binomtest(int(successes), int(trials)).proportion_ci(level, method="wilson")
    return float(found.low), float(found.high)


def test_overlap_of_two_score_intervals_by_hand() -> None:
    """8 and 80 right of 10 and of 100 (chapter 2 of the source): [0.49, 0.94] and [0.71, 0.87]."""
    labels = [0] * 100
    worse, better = [0] * 60 + [1] * 40, [0] * 80 + [1] * 20
    found = overlap(question(labels, [worse, better], 2))
    assert found.candidate_interval is not None
    assert found.baseline_interval is not None
    assert_close(np.array(found.candidate_interval)[:, 0].round(2), [0.71, 0.87], ROUNDING)
    # [0.502, 0.691] and [0.711, 0.867]: just apart.
    assert_exact(found.candidate, [True, False])
    assert_exact(found.baseline, [False, True])
    nearer = overlap(question(labels, [[0] * 64 + [1] * 36, better], 2))
    assert not nearer.candidate.any()
    assert not nearer.baseline.any()


def test_each_measure_is_compared_by_its_own_proportion() -> None:
    for level in [0.8, 0.95]:
        for measure in ["accuracy", "precision", "recall", "f1"]:
            asked = random_question(np.random.default_rng(1), n=80, k=3, models=4, measure=measure, level=level)
            asked = asked if measure == "accuracy" else replace(asked, of=1)
            found, labels = overlap(asked), asked.data.labels
            for pair, models in enumerate(zip(asked.baseline, asked.candidate, strict=True)):
                ends = []
                for model in models:
                    says = asked.data.predictions[model]
                    if measure == "accuracy":
                        successes, trials = (says == labels).sum(), labels.size
                    else:
                        successes = ((says == 1) & (labels == 1)).sum()
                        trials = {
                            "precision": (says == 1).sum(),
                            "recall": (labels == 1).sum(),
                            "f1": ((says == 1) | (labels == 1)).sum(),
                        }[measure]
                    low, high = (np.array(end) for end in wilson(successes, trials, level))
                    ends.append((float(as_value(low, measure)), float(as_value(high, measure))))
                assert found.candidate[pair] == (ends[1][0] > ends[0][1])
                assert found.baseline[pair] == (ends[0][0] > ends[1][1])
                assert_close(found.low[pair], ends[1][0] - ends[0][1], ROUNDING)
                assert_close(found.high[pair], ends[1][1] - ends[0][0], ROUNDING)


def test_f1_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import f1_score

    asked = random_question(np.random.default_rng(4), n=50, k=3, measure="f1", of=2)
    first, second = (f1_score(asked.data.labels, row, labels=[2], average=None)[0] for row in asked.data.predictions)
    assert_close(overlap(asked).difference, [second - first, first - second], ROUNDING)


def test_reference_is_classic_on_the_true_labels() -> None:
    rng = np.random.default_rng(2)
    asked = random_question(rng, n=200, k=3, models=5)
    truth = np.where(rng.random(200) < 0.3, (asked.data.labels + 1) % 3, asked.data.labels).astype(np.int32)
    found = true_labels(replace(asked, true_labels=truth))
    expected = overlap(replace(asked, data=asked.data.relabelled(truth)))
    assert_exact(found.low, expected.low)
    assert_exact(found.candidate, expected.candidate)
    assert (found.low != overlap(asked).low).any()


WAYS = [
    (name, inference) for name, spec in METHODS.items() for inference in spec.inferences if "audit" not in spec.needs
]
