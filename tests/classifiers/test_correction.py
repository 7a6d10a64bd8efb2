"""Corrections: equation 6.30, the union over bounds, the binary closed form, what is refused, coverage."""

import math
import warnings
from typing import Any

import numpy as np
import pytest

from demele.classifiers import assess
from demele.classifiers.measures.bias import binary_correction, worst_case_interval
from demele.core.errors import InputError, InputTypeError, OutOfDomainWarning
from demele.core.proportions import score_interval
from tests.classifiers.test_bias import budget_of, table_of, truths_within
from tests.tolerances import ROUNDING, assert_at_most, assert_close, assert_mean


def test_shifted_by_the_bias_and_no_wider() -> None:
    # 6.30 written out: e = 0.75 of 1000, bias 0.03, z = 1.959964.
    e, n, z, bias = 0.75, 1000, 1.959963984540054, 0.03
    half = z * math.sqrt(e / n - e * e / n + z * z / (4 * n * n)) / (1 + z * z / n)
    centre = -bias + (e + z * z / (2 * n)) / (1 + z * z / n)
    labels = np.arange(n) < 750  # 1 where the label is that of the prediction; 720 of these labels are right
    found = assess(np.ones(n, int), labels.astype(int), true_labels=(np.arange(n) < 720).astype(int))["accuracy"]
    assert found.corrected is not None
    assert_close(found.bias, [bias, bias], ROUNDING)
    assert_close([found.corrected.low, found.corrected.high], [centre - half, centre + half], ROUNDING)


def test_binary_by_hand() -> None:
    # q = 0.9, nu = 0.1: 0.9 * 0.9 + 0.1 * 0.1 = 0.82.
    found = binary_correction(0.82, 0.1)
    assert_close([found.value, float(found), found.bias], [0.9, 0.9, -0.08], ROUNDING)
    assert found.interval is None
    # Above one half agreement means error: q = 0.9, nu = 0.7: 0.9 * 0.3 + 0.1 * 0.7 = 0.34.
    turned = binary_correction(0.34, 0.7, trials=1000)
    assert_close(turned.value, 0.9, ROUNDING)
    assert turned.interval is not None
    assert turned.interval.low < 0.9 < turned.interval.high
    assert "more-wrong-than-right" in {note.code for note in turned.notes}
    assert_close(binary_correction(0.8, 0).value, 0.8, ROUNDING)


def test_binary_undoes_the_bias() -> None:
    for accuracy in [0.0, 0.3, 0.5, 0.97, 1.0]:
        for rate in [0.0, 0.05, 0.3, 0.49, 0.51, 0.9]:
            observed = accuracy + rate * (1 - 2 * accuracy)  # Benjelloun, eq. 6.7
            found = binary_correction(observed, rate, trials=100)
            assert_close(found.value, accuracy, ROUNDING)
            assert found.interval is not None
            low, high = score_interval(observed * 100, 100)
            assert_close(found.interval.high - found.interval.low, (high - low) / abs(1 - 2 * rate), ROUNDING)


def test_outside_the_unit_interval_is_kept_and_said() -> None:
    with pytest.warns(OutOfDomainWarning, match=r"corrected accuracy is 1\.0625, outside \[0, 1\]"):
        found = binary_correction(0.95, 0.1, trials=100)
    assert_close(found.value, 1.0625, ROUNDING)
    assert found.interval is not None
    assert found.interval.high > 1
    assert "out-of-domain" in {note.code for note in found.notes}
    with pytest.warns(OutOfDomainWarning):
        assert binary_correction(0.05, 0.1).value < 0


def test_bad_input() -> None:
    observed_cases: Any = [
        (0.8, 0.5, {}, InputError, "coin flips"),
        (0.8, 1.0, {}, InputError, r"rate: expected a rate of wrong labels in \[0, 1\), got 1.0"),
        (0.8, 5, {}, InputError, "for 5% write 0.05"),
        (0.8, -0.1, {}, InputError, "rate: expected a number"),
        (0.8, math.nan, {}, InputError, "rate: expected a number"),
        (0.8, "0.1", {}, InputTypeError, "rate: .* got '0.1'"),
        (0.8, True, {}, InputTypeError, "rate"),
        (80, 0.1, {}, InputError, "observed: .* for 80% write 0.8"),
        (math.inf, 0.1, {}, InputError, "observed"),
        (None, 0.1, {}, InputTypeError, "observed"),
        (0.8, 0.1, {"trials": 0}, InputError, "trials"),
        (0.8, 0.1, {"trials": 10.5}, InputError, "trials"),
        (0.8, 0.1, {"level": 95}, InputError, "level"),
    ]
    for observed, rate, options, error, message in observed_cases:
        with pytest.raises(error, match=message):
            binary_correction(observed, rate, **options)


@pytest.mark.parametrize(("rate", "accuracy"), [(0.05, 0.9), (0.3, 0.7), (0.7, 0.8)])
def test_binary_covers_at_its_level_under_independence(rate: float, accuracy: float) -> None:
    # Truth, noise and prediction drawn independently; 4000 test sets of 200, exact up to their Monte-Carlo error.
    rng = np.random.default_rng([int(rate * 100), int(accuracy * 100)])
    right = rng.random((4000, 200)) < accuracy
    wrong_label = rng.random((4000, 200)) < rate
    observed = (right ^ wrong_label).mean(axis=1)
    found = {value: apparent_to_interval(value, rate) for value in np.unique(observed)}
    covered = np.array([found[value][0] <= accuracy <= found[value][1] for value in observed])
    # The score interval's own coverage at these n and p, computed exactly.
    from scipy.stats import binom

    p = accuracy + rate * (1 - 2 * accuracy)
    counts = np.arange(201)
    low, high = score_interval(counts, np.full(201, 200))
    exact = float(binom.pmf(counts, 200, p)[(low <= p) & (p <= high)].sum())
    assert 0.93 < exact < 0.97
    assert_mean(covered, exact)


def apparent_to_interval(value: float, rate: float) -> tuple[float, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfDomainWarning)  # some small test sets contradict the rate by chance
        interval = binary_correction(float(value), rate, trials=200).interval
    assert interval is not None
    return interval.low, interval.high


# --------------------------------------------------------------------------------------------------------- worst case


def proportion_of(measure: str, of: int, predictions: Any, truths: Any) -> tuple[Any, Any]:
    """Successes and trials under every assignment of true labels."""
    if measure == "accuracy":
        return (truths == predictions).sum(axis=1), np.full(len(truths), predictions.size)
    said, there = predictions == of, truths == of
    trials = {"precision": said & np.ones_like(there), "recall": there, "f1": said | there}[measure]
    return (said & there).sum(axis=1), trials.sum(axis=1)


@pytest.mark.parametrize("limited", [False, True])
def test_the_worst_case_is_the_union_over_every_assignment(limited: bool) -> None:
    rng = np.random.default_rng(int(limited))
    for _ in range(50):
        k = int(rng.integers(2, 4))
        labels = rng.integers(0, k, 6)
        predictions = np.where(rng.random(6) < 0.6, labels, rng.integers(0, k, 6))
        limits = rng.integers(0, 3, (k, k)) * (1 - np.eye(k, dtype=int))
        budget = budget_of(int(rng.integers(0, 5)), k, joint=limits if limited else None)
        truths = truths_within(budget, labels, k)
        for measure in ("accuracy", "precision", "recall", "f1"):
            low, high = (
                np.atleast_1d(end)
                for end in worst_case_interval(measure, table_of(labels, predictions, k), budget, level=0.9)
            )
            for of in range(1 if measure == "accuracy" else k):
                lows, highs = score_interval(*proportion_of(measure, of, predictions, truths), level=0.9)
                if np.isnan(low[of]):  # no label, or no prediction, of the class
                    continue
                lows, highs = np.nan_to_num(lows, nan=0.0), np.nan_to_num(highs, nan=1.0)
                if measure == "f1":
                    lows, highs = 2 * lows / (1 + lows), 2 * highs / (1 + highs)
                if measure == "accuracy" and limited:
                    assert_at_most([low[of], highs.max()], [lows.min(), high[of]], ROUNDING)
                else:
                    assert_close([low[of], high[of]], [lows.min(), highs.max()], ROUNDING)


def test_the_worst_recall_of_many_mixtures_is_safe_and_near() -> None:
    # Class 0: 3000 hits, 1000 misses; 1500 wrong labels. All mixtures of lost hits and gained misses, one by one.
    table = np.array([[3000, 1000], [800, 5200]])
    low, high = worst_case_interval("recall", table, budget_of(1500, 2), level=0.95)
    lost = np.arange(1501)
    lows = score_interval(3000 - lost, 3000 - lost + 1000 + (1500 - lost))[0]
    assert low[0] <= lows.min()
    assert low[0] > lows.min() - 0.003
    gained = np.arange(500, 801)
    highs = score_interval(3000 + gained, 3000 + gained + 1000 - (1500 - gained))[1]
    assert high[0] >= highs.max()
    assert high[0] < highs.max() + 0.003
