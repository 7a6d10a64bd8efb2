"""Corrections: equation 6.30, the union over bounds, the binary closed form, what is refused, coverage."""

import math
from typing import Any

import numpy as np
import pytest

from demele.classifiers import assess
from demele.classifiers.measures.bias import binary_correction, worst_case_interval
from demele.core.errors import InputError, InputTypeError, OutOfDomainWarning
from demele.core.proportions import score_interval
from tests.classifiers.test_bias import budget_of, table_of, truths_within
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_at_most, assert_close


def test_shifted_by_the_bias_and_no_wider() -> None:
    # 6.30 written out: e = 0.75 of 1000, bias 0.03, z = 1.959964.
    e, n, z, bias = 0.75, 1000, 1.959963984540054, 0.03
    half = z * math.sqrt(e / n - e * e / n + z * z / (4 * n * n)) / (1 + z * z / n)
    centre = -bias + (e + z * z / (2 * n)) / (1 + z * z / n)
    labels = np.arange(n) < 750  # 1 where the label is that of the prediction; 720 of these labels are right
    found = assess(np.ones(n, int), labels.astype(int), true_labels=(np.arange(n) < 720).astype(int))["accuracy"]
    assert_close(found.bias, [bias, bias], ROUNDING)
    assert_close([found.corrected.low, found.corrected.high], [centre - half, centre + half], ROUNDING)


def test_binary_by_hand() -> None:
    # q = 0.9, nu = 0.1: 0.9 * 0.9 + 0.1 * 0.1 = 0.82.
    (found,) = binary_correction(0.82, 0.1).rows
    assert_close([found.corrected_value, found.value - found.corrected_value], [0.9, -0.08], ROUNDING)
    assert found.corrected is None
    # Above one half agreement means error: q = 0.9, nu = 0.7: 0.9 * 0.3 + 0.1 * 0.7 = 0.34.
    result = binary_correction(0.34, 0.7, trials=1000)
    turned = result["accuracy"]
    assert_close(turned.corrected_value, 0.9, ROUNDING)
    assert turned.corrected is not None
    assert turned.corrected.low < 0.9 < turned.corrected.high
    assert "more-wrong-than-right" in {note.code for note in result.notes}
    assert_close(binary_correction(0.8, 0)["accuracy"].corrected_value, 0.8, ROUNDING)


def test_binary_undoes_the_bias() -> None:
    for accuracy in [0.0, 0.3, 0.5, 0.97, 1.0]:
        for rate in [0.0, 0.05, 0.3, 0.49, 0.51, 0.9]:
            observed = accuracy + rate * (1 - 2 * accuracy)  # Benjelloun, eq. 6.7
            found = binary_correction(observed, rate, trials=100)["accuracy"]
            assert_close(found.corrected_value, accuracy, ROUNDING)
            low, high = score_interval(observed * 100, 100)
            assert_close(found.corrected.high - found.corrected.low, (high - low) / abs(1 - 2 * rate), ROUNDING)


def test_outside_the_unit_interval_is_kept_and_said() -> None:
    with pytest.warns(OutOfDomainWarning, match=r"corrected accuracy is 1\.0625, outside \[0, 1\]"):
        found = binary_correction(0.95, 0.1, trials=100)
    assert_close(found["accuracy"].corrected_value, 1.0625, ROUNDING)
    assert found["accuracy"].corrected.high > 1
    assert "out-of-domain" in {note.code for note in found.notes}
    with pytest.warns(OutOfDomainWarning):
        assert binary_correction(0.05, 0.1)["accuracy"].corrected_value < 0


def test_bad_input() -> None:
    observed_cases: Any = [
        (0.8, 0.5, {}, InputError, "coin flips"),
        (0.8, 1.0, {}, InputError, r"rate: expected a rate of wrong labels in \[0, 1\), got 1.0"),
        (0.8, 5, {}, InputError, "for 5% write 0.05"),
        (0.8, -0.1, {}, InputError, "rate: expected a share"),
        (0.8, "0.1", {}, InputTypeError, "rate: .* got '0.1'"),
        (80, 0.1, {}, InputError, "observed: .* for 80% write 0.8"),
        (0.8, 0.1, {"trials": 0}, InputError, "trials"),
    ]
    for observed, rate, options, error, message in observed_cases:
        refuses(error, message, binary_correction, observed, rate, **options)


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
            ends = worst_case_interval(measure, table_of(labels, predictions, k), budget, level=0.9)
            low, high = map(np.atleast_1d, ends)
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
