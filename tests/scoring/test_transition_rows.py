"""Scores of classifiers that are judged by true values, through a transition."""

import numpy as np
import pytest

import demele
from demele import labels
from demele.estimation.known_errors import accuracy_without_errors
from demele.estimation.univariate import linear_classifier_accuracy_matrix, true_accuracies
from demele.scoring.noisy.signed_tables import nearer
from tests.tolerances import ROUNDING, assert_close, assert_exact


@pytest.mark.parametrize("name", ["sap", "explicitness"])
def test_without_errors_nothing_changes(name: str) -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, (400, 2))
    codes = true + rng.normal(0, 0.7, true.shape)
    noise = {"v1": labels.TransitionMatrix(np.eye(3)), "v2": labels.TransitionMatrix(np.eye(3))}
    score = demele.evaluate(codes, true, [name], factor_noise=noise)[name]
    assert score.corrected is not None
    assert_close(score.corrected.value, score.value, ROUNDING)
    assert any("trained on the annotations as given" in one for one in score.corrected.assumptions)
    assert score.corrected.interval is not None


def test_accuracies_are_those_of_the_same_classifier_on_true_classes() -> None:
    rng = np.random.default_rng(1)
    n = 20_000
    true = rng.integers(0, 3, n)
    codes = np.column_stack([true + rng.normal(0, 0.6, n), rng.normal(size=n)])
    transition = np.array([[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.0, 0.15, 0.85]])
    given = (transition.cumsum(axis=1)[true] < rng.random(n)[:, None]).sum(axis=1)
    found, guess = true_accuracies(codes, given, codes, given, transition)
    naive = linear_classifier_accuracy_matrix(codes, [given], codes, [given], n_classes=[3])[:, 0]
    truth = linear_classifier_accuracy_matrix(codes, [given], codes, [true], n_classes=[3])[:, 0]
    assert np.abs(found - truth).max() < 0.012
    assert truth[0] - naive[0] > 0.06
    majority = np.full(n, np.bincount(given).argmax())
    assert_exact(guess, accuracy_without_errors(majority, given, transition))
    unchanged, _ = true_accuracies(codes, given, codes, given, np.eye(3))
    assert_close(unchanged, naive, ROUNDING)


def test_counts_and_audits_correct_scores_of_classifiers() -> None:
    rng = np.random.default_rng(2)
    true = rng.integers(0, 3, 1200)
    codes = np.column_stack([true + rng.normal(0, 0.4, 1200), rng.normal(size=1200)])
    given = np.where(rng.random(1200) < 0.15, (true + 1) % 3, true)
    drawn = labels.draw_audit(1200, 300, seed=0).rows
    counts = labels.TransitionCounts([[85, 15, 0], [0, 85, 15], [15, 0, 85]])
    for noise in (counts, labels.FactorAudit(drawn, true[drawn])):
        score = demele.evaluate(codes, given, ["sap"], factor_noise={"v1": noise}, factor_noise_method="transition")[
            "sap"
        ]
        assert score.corrected is not None
        assert score.corrected.value > score.value + 0.05
        assert score.corrected.interval is not None
        assert score.corrected.interval.low < score.corrected.value < score.corrected.interval.high


def test_what_classifiers_cannot_be_corrected_for() -> None:
    rng = np.random.default_rng(3)
    true = rng.random((300, 1))
    audit = labels.FactorAudit(np.arange(150), true[:150, 0])
    score = demele.evaluate(true, true, ["sap"], factor_noise={"v1": audit}, factor_noise_method="transition")["sap"]
    assert score.corrected is None
    assert "no transition between classes" in score.notes[-1].message


def test_a_bias_that_resamples_exaggerate_raises_no_alarm() -> None:
    assert_exact(nearer(3.0, 2.0), 2.0)
    assert_exact(nearer(-1.0, -4.0), -1.0)
    assert_exact(nearer(0.7, -3.0), 0.0)
