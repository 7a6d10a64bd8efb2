"""Bias by wrong labels: the formulas of the thesis, and bounds and corrected intervals against every assignment."""

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from demele.classifiers import assess
from demele.classifiers.measures.bias import (
    Bias,
    average_bounds,
    bias,
    binary_correction,
    correct_bounds,
    worst_case_interval,
)
from demele.classifiers.measures.confusion import ConfusionCounts
from demele.core.errors import InputError, InputTypeError, OutOfDomainWarning
from demele.core.proportions import score_interval
from demele.noise.budget import NoiseBudget
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_at_most, assert_close, assert_exact

Array = NDArray[Any]


def rows_of(cube: Array) -> tuple[Array, Array, Array]:
    """Predictions, labels and true labels of a cube true x given x predicted."""
    true, given, predicted = (np.repeat(axis.ravel(), cube.ravel()) for axis in np.indices(cube.shape))
    return predicted, given, true


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def counted(cube: Array) -> dict[str, Any]:
    """Observed minus correct, each counted from its own confusion matrix by plain loops."""
    found: dict[str, Any] = {"precision": [], "recall": [], "f1": []}
    given, true = cube.sum(axis=0), cube.sum(axis=1)
    found["accuracy"] = (np.trace(given) - np.trace(true)) / cube.sum()
    for k in range(len(cube)):
        values = []
        for table in (given, true):
            hit, said, there = table[k, k], table[:, k].sum(), table[k].sum()
            values.append((ratio(hit, said), ratio(hit, there), ratio(2 * hit, said + there)))
        for name, first, second in zip(("precision", "recall", "f1"), *values, strict=True):
            found[name].append(first - second)
    return found


def cubes() -> st.SearchStrategy[Array]:
    """Tables of few instances or none, and now and then of many: one byte per cell, which is quick to draw."""
    sizes = np.array((0, 0, 0, 1, 2, 7, 40))
    return st.integers(2, 6).flatmap(
        lambda k: (
            st.binary(min_size=k**3, max_size=k**3)
            .map(lambda cells: sizes[np.frombuffer(cells, np.uint8) % sizes.size].reshape(k, k, k))
            .filter(lambda cube: bool(cube.any()))
        )
    )


# ------------------------------------------------------------------------------------------------------------- exact


def formulas(cube: Array, found: Bias) -> dict[str, Any]:
    """The formulas of the thesis, 6.9, 6.17 and section 6.3.3; an indicator over no instance adds nothing."""
    frame, both = found.per_class, np.einsum("kkp->k", cube)
    f_c, f_n, f_r = (np.nan_to_num(frame[name].to_numpy()) for name in ("F_c", "F_n", "F_r"))
    says, given, true = (frame[name].to_numpy() for name in ("predicted", "labelled", "true"))
    follows, recovers = (given - both) * f_n, (true - both) * f_r
    with np.errstate(invalid="ignore", divide="ignore"):
        recall = (1 - both / given) * f_n - (1 - both / true) * f_r + (both / given - both / true) * f_c
        of_recall = true * follows - given * recovers + (true - given) * both * f_c
        return {
            "accuracy": found.rate * (np.nan_to_num(found.f_n) - np.nan_to_num(found.f_r)),
            "precision": np.where(says > 0, (follows - recovers) / says, np.nan),
            "recall": np.where((given > 0) & (true > 0), recall, np.nan),
            "f1": 2 * (says * (follows - recovers) + of_recall) / ((says + given) * (says + true)),
        }


@given(cubes())
@settings(max_examples=100)
def test_every_formula_is_the_counted_difference(cube: Array) -> None:
    found, expected = bias(*rows_of(cube), classes=range(len(cube))), counted(cube)
    written = formulas(cube, found)
    assert_close(found.rate, 1 - np.einsum("kkp->", cube) / cube.sum(), ROUNDING)
    assert_close([found.accuracy, written["accuracy"]], [expected["accuracy"]] * 2, ROUNDING)
    for name in ("precision", "recall", "f1"):
        assert_close(found.per_class[name], expected[name], ROUNDING)
        assert_close(written[name], expected[name], ROUNDING)


def test_the_two_worked_cases_of_the_thesis() -> None:
    # 1000 instances, 800 well labelled; of the 200 others 50 predicted as truly, 150 as neither: bias -0.05.
    # Then 1000 more, 200 wrong labels, all of them predicted as labelled: 0.2 (0.5 - 0.125) = +0.075.
    first = np.zeros((3, 3, 3), dtype=int)
    first[0, 0, 0], first[0, 0, 2] = 750, 50
    first[0, 1, 0], first[0, 1, 2] = 50, 150
    second = first.copy()
    second[0, 0, 0] += 800
    second[0, 1, 1] += 200
    for cube, rate, f_n, f_r, expected in ((first, 0.2, 0, 0.25, -0.05), (second, 0.2, 0.5, 0.125, 0.075)):
        found = bias(*rows_of(cube), classes=[0, 1, 2])
        assert_close([found.rate, found.f_n, found.f_r, found.accuracy], [rate, f_n, f_r, expected], ROUNDING)


def test_bad_input() -> None:
    for arguments, error, message in [
        (([0, 1], [0, 1, 1], [0, 1, 1]), InputError, "same number of rows, got 2 and 3"),
        (([0, 1, 1], [0, 1, 1], [0, 1]), InputError, "true_labels: expected 3 rows"),
        (([0, 1], [0, 1], [0, 2]), InputError, "true_labels: 1 of 2 values are not among the 2 classes"),
        (([0, 1], [0, 1], ["a", "b"]), InputError, "true_labels: expected classes among"),
        (([0, 1], [0, 1], None), InputTypeError, "true_labels"),
        (([0, 1], pd.Series([0, 1]), pd.Series([0, 1])[::-1]), InputError, "true_labels and labels: .*another order"),
    ]:
        refuses(error, message, bias, *arguments)


# ------------------------------------------------------------------------------------------------------------ bounds


def table_of(labels: Array, predictions: Array, k: int) -> Array:
    table: Array = np.bincount(labels * k + predictions, minlength=k * k).reshape(k, k)
    return table


def budget_of(wrong: int, k: int, *, given: Any = None, true: Any = None, joint: Any = None) -> NoiseBudget:
    return NoiseBudget(
        wrong=wrong,
        wrong_given=np.asarray(np.full(k, wrong) if given is None else given),
        wrong_true=np.asarray(np.full(k, wrong) if true is None else true),
        joint=np.asarray(wrong * (1 - np.eye(k, dtype=int)) if joint is None else joint),
        level=None,
        assumptions=(),
        out_of_domain=False,
    )


def truths_within(budget: NoiseBudget, labels: Array, k: int) -> Array:
    """Every assignment of true labels within a budget, of shape (n_assignments, n)."""
    every = np.array(list(itertools.product(range(k), repeat=labels.size)))
    wrong = every != labels
    good = wrong.sum(axis=1) <= budget.wrong
    for a in range(k):
        good &= (wrong & (labels == a)).sum(axis=1) <= budget.wrong_given[a]
        good &= (wrong & (every == a)).sum(axis=1) <= budget.wrong_true[a]
        for b in range(k):
            if a != b:
                good &= ((every == a) & (labels == b)).sum(axis=1) <= budget.joint[a, b]
    within: Array = every[good]
    return within


def proportion_of(measure: str, of: int, predictions: Any, truths: Any) -> tuple[Any, Any]:
    """Successes and trials under every assignment of true labels."""
    if measure == "accuracy":
        return (truths == predictions).sum(axis=1), np.full(len(truths), predictions.size)
    said, there = predictions == of, truths == of
    trials = {"precision": said & np.ones_like(there), "recall": there, "f1": said | there}[measure]
    return (said & there).sum(axis=1), trials.sum(axis=1)


def measured(measure: str, of: int, predictions: Array, truths: Array) -> Array:
    """The measure under every assignment, NaN where it is not defined."""
    hits, trials = proportion_of(measure, of, predictions, truths)
    share: Array = hits / np.where(trials > 0, trials, np.nan)
    return 2 * share / (1 + share) if measure == "f1" else share


def extremes(values: Array) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    return (float(known.min()), float(known.max())) if known.size else (math.nan, math.nan)


def check_bounds(labels: Array, predictions: Array, k: int, budget: NoiseBudget, *, sharp_accuracy: bool) -> None:
    table, truths = table_of(labels, predictions, k), truths_within(budget, labels, k)
    for measure in ("accuracy", "precision", "recall", "f1"):
        lowest, highest = (np.atleast_1d(end) for end in correct_bounds(measure, table, budget))
        for of in range(1 if measure == "accuracy" else k):
            low, high = extremes(measured(measure, of, predictions, truths))
            if measure == "accuracy" and not sharp_accuracy:
                assert_at_most([lowest[of], high], [low, highest[of]], ROUNDING)
            else:
                assert_close([lowest[of], highest[of]], [low, high], ROUNDING)


@pytest.mark.parametrize(("k", "n"), [(2, 7), (3, 6)])
def test_bounds_of_a_rate_are_attained_and_contain_every_case(k: int, n: int) -> None:
    rng = np.random.default_rng([k, n])
    for _ in range(40):
        labels, predictions = rng.integers(0, k, n), rng.integers(0, k, n)
        predictions = np.where(rng.random(n) < 0.6, labels, predictions)
        check_bounds(labels, predictions, k, budget_of(int(rng.integers(0, n + 1)), k), sharp_accuracy=True)


@pytest.mark.parametrize(("k", "n"), [(2, 7), (3, 6)])
def test_bounds_of_limits_by_class_contain_every_case(k: int, n: int) -> None:
    # Precision, recall and f1 stay sharp; accuracy is only safe.
    rng = np.random.default_rng([k, n, 1])
    for _ in range(60):
        labels, predictions = rng.integers(0, k, n), rng.integers(0, k, n)
        predictions = np.where(rng.random(n) < 0.6, labels, predictions)
        budget = budget_of(
            int(rng.integers(0, n + 1)),
            k,
            given=rng.integers(0, 4, k),
            true=rng.integers(0, 4, k),
            joint=rng.integers(0, 3, (k, k)) * (1 - np.eye(k, dtype=int)),
        )
        check_bounds(labels, predictions, k, budget, sharp_accuracy=False)


@pytest.mark.parametrize(
    ("labels", "predictions", "wrong"),
    [
        ([0, 1, 1, 1], [0, 1, 1, 1], 1),  # class 0 can be emptied: recall 1 or nothing
        ([0, 1, 1, 1], [1, 1, 1, 1], 2),  # the same, and never predicted
        ([1, 1, 1, 1], [0, 0, 1, 1], 1),  # no label 0, but predicted: it may exist
        ([1, 1, 1, 1], [1, 1, 1, 1], 2),  # no label 0 and never predicted
        ([0, 0, 1, 1], [1, 1, 0, 0], 4),  # everything wrong
        ([0, 0, 1, 1], [0, 1, 0, 1], 0),  # nothing can be wrong
    ],
)
def test_bounds_where_a_class_may_appear_or_vanish(labels: list[int], predictions: list[int], wrong: int) -> None:
    check_bounds(np.array(labels), np.array(predictions), 2, budget_of(wrong, 2), sharp_accuracy=True)


def test_bounds_by_hand() -> None:
    # 100 instances, 3 classes; class 0: 30 labelled, 25 predicted, 20 both. At most 6 labels wrong.
    table = np.array([[20, 5, 5], [3, 30, 2], [2, 3, 30]])
    budget = budget_of(6, 3)
    low, high = correct_bounds("accuracy", table, budget)
    assert_close([low, high], [0.74, 0.86], ROUNDING)
    low, high = correct_bounds("precision", table, budget)
    assert_close([low[0], high[0]], [14 / 25, 25 / 25], ROUNDING)  # only 5 of those predicted 0 are labelled otherwise
    low, high = correct_bounds("recall", table, budget)
    # Lower: six hits lost, 14/24, or six misses gained, 20/36: the second. Upper: five gained hits and one miss lost,
    # 25/34, or six misses lost, 20/24: the second.
    assert_close([low[0], high[0]], [20 / 36, 20 / 24], ROUNDING)
    low, high = correct_bounds("f1", table, budget)
    # 2 hits / (25 + true): six hits lost, 28/49; misses gained, 40/61. Five hits gained, one miss lost: 50/59.
    assert_close([low[0], high[0]], [28 / 49, 50 / 59], ROUNDING)


def test_only_doubtful_labels_can_be_wrong() -> None:
    # Eight rows, the last three known to be right: every assignment that keeps them.
    rng = np.random.default_rng(4)
    for _ in range(20):
        labels, predictions = rng.integers(0, 3, 8), rng.integers(0, 3, 8)
        budget = budget_of(int(rng.integers(0, 5)), 3)
        table, disagreement = table_of(labels, predictions, 3), table_of(labels[:5], predictions[:5], 3)
        truths = truths_within(budget, labels[:5], 3)
        truths = np.hstack([truths, np.tile(labels[5:], (len(truths), 1))])
        for measure in ("accuracy", "precision", "recall", "f1"):
            found = [np.atleast_1d(end) for end in correct_bounds(measure, table, budget, unsure=disagreement)]
            for of in range(1 if measure == "accuracy" else 3):
                expected = extremes(measured(measure, of, predictions, truths))
                assert_close([found[0][of], found[1][of]], expected, ROUNDING)


def test_all_labels_wrong() -> None:
    found = bias([0, 1], [1, 0], [0, 1])
    assert (found.accuracy, found.rate, found.f_r) == (-1, 1, 1)
    assert math.isnan(found.f_c)
    assert "no-right-label" in {note.code for note in found.notes}


def test_no_wrong_label_means_no_bias() -> None:
    found = bias([0, 1, 1, 0], [0, 1, 0, 0], [0, 1, 0, 0])
    assert (found.rate, found.accuracy) == (0, 0)
    assert math.isnan(found.f_n)
    assert math.isnan(found.f_r)
    assert_exact(found.per_class[["precision", "recall", "f1"]], np.zeros((2, 3)))
    assert "no-wrong-label" in {note.code for note in found.notes}


def test_undefined_is_nan_with_a_reason() -> None:
    # Class 2 is never predicted and no label says 2, but one instance is truly 2.
    found = bias([0, 1, 0], [0, 1, 0], [0, 1, 2], classes=[0, 1, 2])
    assert_exact(np.isnan(found.per_class.loc[2, ["precision", "recall", "f1"]].astype(float)), [True, True, True])
    reasons = {note.message for note in found.notes if "2" in note.subject}
    assert any("the bias of recall is not defined for 1 of 3 classes" in text for text in reasons)
    assert any("the bias of precision" in text and "never predicted" in text for text in reasons)
    assert math.isnan(found.per_class.loc[2, "F_c"])  # type: ignore[arg-type]
    # Labelled and true but never predicted: F1 is 0 on both, precision is nothing.
    never = bias([0, 0, 0, 0], [1, 0, 0, 1], [1, 1, 0, 0])
    assert never.per_class.loc[1, "f1"] == 0
    assert math.isnan(never.per_class.loc[1, "precision"])  # type: ignore[arg-type]


# Averages over classes: every assignment of true labels to small sets lies within -------------------------------------


MEASURES, AVERAGES = ("precision", "recall", "f1"), ("macro", "weighted", "micro")


def averages(measure: str, average: Any, predictions: Array, truths: Array, k: int, labels: Array) -> Array:
    """Of true labels; a macro average is over the classes that a given label has."""
    tables = [ConfusionCounts(table_of(truth, predictions, k), tuple(range(k)), "true") for truth in truths]
    if average != "macro":
        return np.array([table.averaged(measure, average) for table in tables])
    values = np.array([table.measure(measure) for table in tables])[:, np.unique(labels)]
    known = np.isfinite(values)
    found: Array = np.where(known, values, 0).sum(axis=1) / np.where(known.any(axis=1), known.sum(axis=1), np.nan)
    return found


def check(labels: Array, predictions: Array, k: int, budget: Any, *, rate: bool) -> None:
    table = table_of(labels, predictions, k)
    truths = truths_within(budget, labels, k)
    truths = truths[np.random.default_rng(0).permutation(len(truths))[:400]] if not rate else truths
    for measure in MEASURES:
        for average in AVERAGES:
            values = averages(measure, average, predictions, truths, k, labels)
            known = values[~np.isnan(values)]
            low, high = average_bounds(measure, average, table, budget)
            if known.size:
                assert_at_most([0, low, known.max(), high], [low, known.min(), high, 1], ROUNDING)
            if rate and (average == "micro" or (measure, average) in (("recall", "weighted"), ("precision", "macro"))):
                assert_close([low, high], [known.min(), known.max()], ROUNDING)


@pytest.mark.parametrize(("k", "n", "times"), [(2, 6, 25), (3, 5, 25)])
def test_a_rate_shared_by_all_classes(k: int, n: int, times: int) -> None:
    rng = np.random.default_rng([k, n])
    for _ in range(times):
        labels = rng.integers(0, k, n)
        predictions = np.where(rng.random(n) < 0.6, labels, rng.integers(0, k, n))
        check(labels, predictions, k, budget_of(int(rng.integers(0, 4)), k), rate=True)


def test_limits_by_class() -> None:
    rng = np.random.default_rng(5)
    for _ in range(25):
        labels, predictions = rng.integers(0, 3, 7), rng.integers(0, 3, 7)
        limits = rng.integers(0, 3, (3, 3)) * (1 - np.eye(3, dtype=int))
        wrong, sides = int(rng.integers(0, 5)), {name: rng.integers(0, 3, 3) for name in ("given", "true")}
        budget = budget_of(wrong, 3, **sides, joint=limits)
        check(labels, predictions, 3, budget, rate=False)


def test_nothing_to_average() -> None:
    table = np.array([[0, 5, 0], [0, 5, 0], [0, 0, 0]])
    low, high = average_bounds("precision", "macro", table, budget_of(0, 3))
    assert_close([low, high], [0.5, 0.5], ROUNDING)  # only class 1 is predicted
    assert np.isnan(average_bounds("recall", "macro", np.zeros((2, 2), dtype=int), budget_of(0, 2))).all()


# Corrections: equation 6.30, the union over bounds, the binary closed form --------------------------------------------


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


def test_what_the_binary_correction_refuses() -> None:
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
