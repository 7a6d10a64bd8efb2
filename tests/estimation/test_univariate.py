"""Univariate predictors: worked by hand, against slow oracles and scikit-learn, and their laws."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from demele.estimation.one_code_classifiers import svc_lines
from demele.estimation.univariate import (
    linear_classifier_accuracy_matrix,
    squared_correlations,
)
from tests.oracles import univariate as oracle
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

FloatArray = NDArray[np.float64]


def linear_classifier_accuracies(
    codes: FloatArray,
    labels: NDArray[Any],
    test: FloatArray,
    test_labels: NDArray[Any],
    *,
    n_classes: int,
    **options: Any,
) -> FloatArray:
    """Accuracies of the codes for one factor."""
    found = linear_classifier_accuracy_matrix(codes, [labels], test, [test_labels], n_classes=[n_classes], **options)
    return found[:, 0]


def standardised(codes: FloatArray) -> FloatArray:
    deviations = codes.std(axis=0)
    result: FloatArray = (codes - codes.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)
    return result


def test_squared_correlation_by_hand() -> None:
    # z - 7/4 = (-7, -3, 1, 9) / 4, v - 3/2 = (-1, -3, 1, 3) / 2: products 44/8, squares 140/16 and 20/4.
    # R^2 = 5.5^2 / (8.75 * 5) = 121 / 175.
    codes = np.array([[0.0], [1.0], [2.0], [4.0]])
    assert_close(squared_correlations(codes, np.array([1.0, 0.0, 2.0, 3.0])), [121 / 175], ROUNDING)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=3, max_size=30))
def test_squared_correlations_agree_with_the_oracle(rows: list[tuple[int, int]]) -> None:
    data = np.array([[0, 0], [3, 1], *rows], float)
    actual = squared_correlations(data[:, :1], data[:, 1])
    assert_close(actual, [oracle.squared_correlation(data[:, 0].tolist(), data[:, 1].tolist())], ROUNDING)


def test_squared_correlations_of_constants() -> None:
    values = np.arange(30.0)
    rounding = np.where(np.arange(30) < 10, 0.1 + 0.2, 0.3)  # differ in the last bit
    codes = np.column_stack([np.zeros(30), np.full(30, 1e12), rounding, values])
    assert_close(squared_correlations(codes, values), [0.0, 0.0, 0.0, 1.0], ROUNDING)
    assert np.isnan(squared_correlations(codes, rounding)).all()
    # The threshold is a share of the mean square: variance 1 at mean 1e3.
    wide = np.column_stack([np.where(values % 2, 1e3 + 1, 1e3 - 1)])
    assert_exact(squared_correlations(wide, values, threshold=1e-5), [0.0])
    assert squared_correlations(wide, values, threshold=1e-7)[0] > 0


def test_line_by_hand() -> None:
    # Class 0 at -1, -1, class 1 at 1, 2; C = 1. If all but 2 are inside the margin, the gradient vanishes where
    # 3.5 w - b = 3 and -w + 3.5 b = -1: w = 38/45, b = -2/45. Margins: w - b = 8/9, w + b = 4/5, 2 w + b = 74/45 > 1.
    codes = np.array([[2.0], [-1.0], [1.0], [-1.0]])
    lines = svc_lines(codes, np.array([1, 0, 1, 0]), n_classes=2)
    assert_close(lines.slopes, [[0.0, 38 / 45]], ROUNDING)
    assert_close(lines.intercepts, [[0.0, -2 / 45]], ROUNDING)


def test_accuracy_by_hand() -> None:
    # The line above is zero at z = 1/19: of the test samples, the second and the last are on the wrong side.
    train = np.array([[2.0], [-1.0], [1.0], [-1.0]])
    test = np.array([[0.06], [0.05], [-3.0], [0.0], [0.04]])
    accuracies = linear_classifier_accuracies(
        train, np.array([1, 0, 1, 0]), test, np.array([1, 1, 0, 0, 1]), n_classes=2
    )
    assert_close(accuracies, [0.6], ROUNDING)


def test_flat_lines_choose_the_most_frequent_and_then_the_first_class() -> None:
    train = np.zeros((5, 1))
    test = np.array([[0.0], [0.0], [5.0], [-5.0]])
    often = linear_classifier_accuracies(train, np.array([2, 1, 1, 0, 1]), test, np.array([1, 0, 1, 1]), n_classes=3)
    assert_exact(often, [0.75])
    tied = linear_classifier_accuracies(train, np.array([2, 1, 1, 0, 0]), test, np.array([0, 1, 1, 1]), n_classes=3)
    assert_exact(tied, [0.25])
    two = linear_classifier_accuracies(train[:4], np.array([1, 1, 0, 0]), test, np.array([0, 1, 1, 1]), n_classes=2)
    assert_exact(two, [0.25])


def test_classes_not_seen_in_training_are_never_predicted() -> None:
    rng = np.random.default_rng(1)
    codes = standardised(rng.normal(size=(60, 2)))
    labels = np.where(codes[:, 0] > 0, 3, 1)
    lines = svc_lines(codes, labels, n_classes=5)
    assert_exact(np.isfinite(lines.intercepts), np.tile([False, True, False, True, False], (2, 1)))
    test_labels = labels.copy()
    test_labels[:15] = 4
    accuracies = linear_classifier_accuracies(codes, labels, codes, test_labels, n_classes=5)
    expected = LinearSVC(dual=False, tol=1e-10).fit(codes[:, :1], labels).score(codes[:, :1], test_labels)
    assert_close(accuracies[0], expected, ROUNDING)
    assert accuracies[0] <= 0.75


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 3)), min_size=2, max_size=12),
    st.sampled_from([0.01, 1.0, 50.0]),
    st.booleans(),
)
def test_lines_agree_with_the_oracle(rows: list[tuple[int, int]], cost: float, balanced: bool) -> None:
    data = np.array([(-7, 0), (2, 1), *rows], float)
    codes, labels = standardised(data[:, :1]), data[:, 1].astype(int)
    expected = oracle.svc_lines(codes[:, 0].tolist(), labels.tolist(), cost=cost, balanced=balanced)
    lines = svc_lines(codes, labels, n_classes=4, C=cost, class_weight="balanced" if balanced else None)
    for k, line in expected.items():
        assert_close([lines.slopes[0, k], lines.intercepts[0, k]], line, SOLVER)


def gradient_share(code: FloatArray, signs: FloatArray, cost: float, slope: float, intercept: float) -> float:
    """Largest derivative of the objective, relative to the most that the samples could contribute."""
    short = np.maximum(0.0, 1.0 - signs * (slope * code + intercept))
    by_slope = slope - 2 * cost * np.sum(signs * code * short)
    by_intercept = intercept - 2 * cost * np.sum(signs * short)
    return float(max(abs(by_slope), abs(by_intercept)) / (1 + 2 * cost * len(code)))


@settings(max_examples=150)
@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(-6, 6), st.sampled_from(["normal", "cauchy", "levels"]))
def test_lines_are_minima(seed: int, n_classes: int, exponent: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, rng.integers(1, 200))])
    spread = rng.choice([0.01, 0.5, 5.0])
    codes = labels[:, None] + spread * rng.normal(size=(len(labels), 1))
    if kind == "cauchy":
        codes = rng.standard_cauchy((len(labels), 1)) ** 3
    if kind == "levels":
        codes = np.round(codes)
    codes = standardised(codes)
    cost = 10.0**exponent
    lines = svc_lines(codes, labels, n_classes=n_classes, C=cost)  # a warning would be an error
    for k in range(1 if n_classes == 2 else 0, n_classes):
        signs = np.where(labels == k, 1.0, -1.0)
        share = gradient_share(codes[:, 0], signs, cost, lines.slopes[0, k], lines.intercepts[0, k])
        assert_close(share, 0.0, SOLVER)
        assert share < 1e-8


def test_same_classifier_as_scikit_learn() -> None:
    n_classes_cases: Any = [2, 3, 8]
    cost_cases: Any = [0.01, 1.0, 30.0]
    class_weight_cases: Any = [None, "balanced"]
    for n_classes in n_classes_cases:
        for cost in cost_cases:
            for class_weight in class_weight_cases:
                rng = np.random.default_rng([n_classes, int(100 * cost)])
                labels = np.minimum(rng.integers(0, n_classes, 300), rng.integers(0, n_classes, 300))
                raw = rng.normal(size=(300, 5)) * [0.1, 0.5, 2.0, 1.0, 1.0] + labels[:, None] * [
                    1.0,
                    -1.0,
                    1.0,
                    0.0,
                    0.0,
                ]
                raw[:, 3] = np.abs(raw[:, 0] - n_classes / 2)
                raw[:, 4] = np.exp(raw[:, 4] + 0.3 * labels)
                codes = standardised(raw)
                train, test = codes[:200], codes[200:]
                lines = svc_lines(train, labels[:200], n_classes=n_classes, C=cost, class_weight=class_weight)
                accuracies = linear_classifier_accuracies(
                    train, labels[:200], test, labels[200:], n_classes=n_classes, C=cost, class_weight=class_weight
                )
                fitted = slice(1, None) if n_classes == 2 else slice(None)
                for j in range(codes.shape[1]):
                    theirs = LinearSVC(C=cost, class_weight=class_weight, dual=False, tol=1e-11, max_iter=100_000)
                    theirs.fit(train[:, [j]], labels[:200])
                    assert_close(lines.slopes[j, fitted], theirs.coef_[:, 0], SOLVER)
                    assert_close(lines.intercepts[j, fitted], theirs.intercept_, SOLVER)
                    assert_close(accuracies[j], theirs.score(test[:, [j]], labels[200:]), ROUNDING)
