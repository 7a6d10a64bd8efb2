"""Overlap of intervals against SciPy, the same after a cleaning, and agreement with a reference: its exact test."""

from dataclasses import replace

import numpy as np
from scipy.stats import binomtest

from demele.classifiers import Agreement, compare
from demele.classifiers.comparison.methods import cleaned, cleaned_data, overlap, true_labels
from demele.classifiers.comparison.worst_case import agreement
from demele.classifiers.question import as_value
from demele.core.errors import NotEnoughData
from tests.classifiers.comparison.cases import question, random_question
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact


def wilson(successes: float, trials: float, level: float) -> tuple[float, float]:
    found = binomtest(int(successes), int(trials)).proportion_ci(level, method="wilson")
    return float(found.low), float(found.high)


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


# After a cleaning ----------------------------------------------------------------------------------------------------


def test_dropping_leaves_the_other_rows() -> None:
    asked = random_question(np.random.default_rng(0), n=100, k=3, models=4)
    suspects = np.arange(100) % 3 == 0
    found = cleaned(replace(asked, suspects=suspects))
    rest = overlap(replace(asked, data=asked.data.take(np.flatnonzero(~suspects))))
    assert_exact(found.low, rest.low)
    assert_exact(found.difference, rest.difference)
    assert found.details == {"suspected": 34, "used": 66, "cleaning": "left out"}


def test_relabelling_changes_suspects_only() -> None:
    """By hand: of two suspects the suggestion is taken, of the others not."""
    asked = question([0, 0, 1, 1], [[0, 0, 1, 1], [1, 1, 0, 1]], 2)
    suspects = np.array([True, False, True, False])
    suggested = np.array([1, 1, 0, 0], dtype=np.int32)
    changed = replace(asked, suspects=suspects, suggested=suggested)
    assert_exact(cleaned_data(changed).labels, [1, 0, 0, 1])
    assert_exact(cleaned(changed).difference, [(3 - 2) / 4, (2 - 3) / 4])
    assert cleaned(changed).details["cleaning"] == "relabelled"


def test_no_row_left_is_refused() -> None:
    asked = random_question(np.random.default_rng(0), n=20, k=3)
    refuses(NotEnoughData, "cleaning: all 20 labels", cleaned, replace(asked, suspects=np.ones(20, dtype=np.bool_)))


# Agreement with a reference -----------------------------------------------------------------------------------------


def test_agreement_of_many_pairs_against_scipy() -> None:
    rng = np.random.default_rng(0)
    asked = random_question(rng, n=90, k=3, models=5)
    reference = asked.data.labels.copy()
    reference[::4] = rng.integers(0, 3, reference[::4].size)
    found = agreement(replace(asked, reference=reference))
    for pair in range(asked.n_pairs):
        old, new = (asked.data.predictions[m] == reference for m in (asked.baseline[pair], asked.candidate[pair]))
        won, lost = int((new & ~old).sum()), int((old & ~new).sum())
        assert_close(found.p_value[pair], binomtest(won, won + lost, alternative="greater").pvalue, ROUNDING)
        assert_close(found.difference[pair], (won - lost) / 90, ROUNDING)
        assert found.details["agrees_with_candidate_only"][pair] == won


def test_agreement_ignores_the_given_labels() -> None:
    asked = random_question(np.random.default_rng(3), n=90, k=3, reference=np.zeros(90, dtype=np.int32))
    other = replace(asked, data=asked.data.relabelled(np.ones(90, dtype=np.int32)))
    assert_exact(agreement(asked).low, agreement(other).low)


def test_agreement_keeps_its_level_if_errors_are_independent() -> None:
    """Two that are right as often (80%), with a reference right at 80%: "candidate better" is said in 5% at most."""
    rng, wrong, repeats, n = np.random.default_rng(12), 0, 400, 300
    for _ in range(repeats):
        truth = rng.integers(0, 4, n)
        errors = rng.random((3, n)) < 0.2
        old, new, third = (np.where(error, (truth + 1) % 4, truth) for error in errors)
        wrong += compare(old, new, None, method=Agreement(third), level=0.9, classes=range(4)).verdict == "candidate"
    assert wrong / repeats <= 0.05 + 5 * np.sqrt(0.05 * 0.95 / repeats)
