"""Overlap of intervals against SciPy, after a cleaning, at the largest bias and on hard rows; and agreement."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binomtest

from demele.classifiers import Agreement, compare
from demele.classifiers.comparison.methods import (
    cleaned,
    cleaned_data,
    hard_rows,
    hardest,
    hypothetical,
    overlap,
    true_labels,
    worst_case_overlap,
)
from demele.classifiers.comparison.worst_case import agreement
from demele.classifiers.question import Question, as_value
from demele.core.arrays import Floats
from demele.core.errors import NotEnoughData
from demele.core.labelled import Indices
from demele.core.proportions import proportion, score_interval
from demele.noise.transition import TransitionMatrix
from tests.classifiers.comparison.cases import all_labels, question, random_question
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


def test_agreement_keeps_its_level_if_errors_are_independent() -> None:
    """Two that are right as often (80%), with a reference right at 80%: "candidate better" is said in 5% at most."""
    rng, wrong, repeats, n = np.random.default_rng(12), 0, 400, 300
    for _ in range(repeats):
        truth = rng.integers(0, 4, n)
        errors = rng.random((3, n)) < 0.2
        old, new, third = (np.where(error, (truth + 1) % 4, truth) for error in errors)
        wrong += compare(old, new, None, method=Agreement(third), level=0.9, classes=range(4)).verdict == "candidate"
    assert wrong / repeats <= 0.05 + 5 * np.sqrt(0.05 * 0.95 / repeats)


# The prudent comparisons ----------------------------------------------------------------------------------------------


MEASURES = ["accuracy", "precision", "recall", "f1"]


def asking(measure: str, asked: Question) -> Question:
    return replace(asked, measure=measure, of=None if measure == "accuracy" else 1)  # type: ignore[arg-type]


def values(asked: Question) -> Floats:
    """The measure of every model."""
    return as_value(proportion(*asked.proportions), asked.measure)


def worked_example(noise: float, **options: Any) -> Question:
    """720 and 780 of 1000 right; the printed intervals are those of z = 1.645."""
    rows = [[0] * right + [1] * (1000 - right) for right in (720, 780)]
    return question([0] * 1000, rows, 2, noise=noise, level=float(2 * ndtr(1.645) - 1), **options)


def test_worked_example_of_the_source() -> None:
    plain = overlap(worked_example(0.0))
    assert plain.baseline_interval is not None
    assert plain.candidate_interval is not None
    assert_close(np.array(plain.baseline_interval)[:, 0].round(3), [0.696, 0.743], ROUNDING)
    assert_close(np.array(plain.candidate_interval)[:, 0].round(3), [0.758, 0.801], ROUNDING)
    assert plain.candidate[0]
    found = worst_case_overlap(worked_example(0.05))
    assert_close(found.details["baseline_if_bad_for_candidate"][0].round(3), [0.746, 0.793], ROUNDING)
    assert_close(found.details["candidate_if_bad_for_candidate"][0].round(3), [0.708, 0.751], ROUNDING)
    assert not found.candidate[0]
    assert not found.baseline[0]
    # 0.758 - 0.743 = 0.0147 apart: 0.7% on each side leaves them apart, 0.8% does not.
    assert [worst_case_overlap(worked_example(noise)).candidate[0] for noise in (0.007, 0.008)] == [True, False]


def test_v1_claims_hold_under_the_bias_of_all_right_labels() -> None:
    """Shifted by the bias that any right labels within the noise imply, the intervals stay apart."""
    for noise in ["rate", "matrix"]:
        for measure in MEASURES:
            truths, claims = all_labels(6, 3), 0
            table = TransitionMatrix([[0.98, 0.01, 0.01], [0.01, 0.98, 0.01], [0.01, 0.01, 0.98]])
            for seed in range(25):
                asked = asking(measure, random_question(np.random.default_rng(seed), n=6, k=3, models=3, level=0.02))
                found = worst_case_overlap(replace(asked, noise=1 / 6 if noise == "rate" else table))
                claims += int(found.candidate.sum())
                near = truths[(truths != asked.data.labels).sum(axis=1) <= (noise == "rate")]
                for pair in np.flatnonzero(found.candidate):
                    for truth in near:
                        # With its own exact bias each interval is shifted less far than in the bad case.
                        real = values(replace(asked, data=asked.data.relabelled(truth)))
                        ends = []
                        for model in (asked.baseline[pair], asked.candidate[pair]):
                            one = (part[model] for part in asked.proportions)
                            shift = values(asked)[model] - real[model]
                            ends.append([as_value(end, measure) - shift for end in score_interval(*one, level=0.02)])
                        assert np.isnan(ends).any() or ends[1][0] > ends[0][1]
            assert claims > 0


def hypothesis(asked: Question, pair: int, rows: Any) -> Indices:
    """The labels that hard-rows supposes: the baseline's predictions on hard rows where the two differ."""
    first, second = (asked.data.predictions[m] for m in (asked.baseline[pair], asked.candidate[pair]))
    hard = np.zeros(asked.data.n, dtype=np.bool_)
    hard[rows] = True
    return np.where(hard & (first != second), first, asked.data.labels).astype(np.int32)


def test_v2_is_exact_under_its_hypothesis() -> None:
    for prudence in [0.1, 0.5, 1.0]:
        for measure in MEASURES:
            rng = np.random.default_rng(3)
            known = {"prudence": prudence, "difficulty": rng.random(60)}
            asked = asking(measure, random_question(rng, n=60, k=3, models=4, **known))
            rows, _ = hardest(asked.difficulty, prudence, 60)
            assert rows.size == round(60 * prudence)
            first, second = hypothetical(asked, rows)
            found = hard_rows(asked)
            for pair in range(asked.n_pairs):
                real = values(replace(asked, data=asked.data.relabelled(hypothesis(asked, pair, rows))))
                ends = []
                for own, model in ((first, asked.baseline[pair]), (second, asked.candidate[pair])):
                    assert own[pair] == pytest.approx(real[model], nan_ok=True)
                    one = (part[model] for part in asked.proportions)
                    bias = values(asked)[model] - real[model]
                    ends.append([as_value(end, measure) - bias for end in score_interval(*one, level=asked.level)])
                assert_close(found.details["baseline_if_bad_for_candidate"][pair], ends[0], ROUNDING)
                assert_close(found.details["candidate_if_bad_for_candidate"][pair], ends[1], ROUNDING)
                assert found.candidate[pair] == (ends[1][0] > ends[0][1])


@pytest.mark.parametrize("measure", MEASURES)
def test_prudence_zero_is_classic(measure: str) -> None:
    asked = asking(measure, random_question(np.random.default_rng(1), n=120, k=3, models=5, prudence=0.0))
    here, there = hard_rows(asked), overlap(asked)
    for name in ("candidate", "baseline", "difference", "low", "high"):
        assert_exact(getattr(here, name), getattr(there, name))


def test_the_hardest_are_those_of_largest_difficulty() -> None:
    rows, notes = hardest(np.array([3.0, 9.0, 1.0, 7.0, 5.0]), 0.4, 5)
    assert_exact(rows, [1, 3])
    assert notes == ()
    rows, notes = hardest(np.array([3.0, 9.0, 3.0, 3.0, 5.0]), 0.6, 5)
    assert_exact(rows, [0, 1, 4])
    assert notes[0].code == "difficulty-ties"
    assert "3 instances" in notes[0].message
