"""Univariate predictors: worked by hand, against slow oracles and scikit-learn, and their laws."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from demele.estimation.linear_recovery import Basis, mid_ranks
from demele.estimation.univariate import linear_classifier_accuracy_matrix, squared_correlations, svc_lines
from tests.oracles import univariate as oracle
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

FloatArray = NDArray[np.float64]


def linear_classifier_accuracies(
    codes: FloatArray, labels: Any, test: FloatArray, test_labels: Any, *, n_classes: int, **options: Any
) -> FloatArray:
    """Accuracies of the codes for one factor."""
    found = linear_classifier_accuracy_matrix(codes, [labels], test, [test_labels], n_classes=[n_classes], **options)
    return found[:, 0]


def standardised(codes: FloatArray) -> FloatArray:
    deviations = codes.std(axis=0)
    result: FloatArray = (codes - codes.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)
    return result


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


def test_same_classifier_as_scikit_learn() -> None:
    for n_classes in (2, 3, 8):
        for cost in (0.01, 1.0, 30.0):
            for class_weight in (None, "balanced"):
                rng = np.random.default_rng([n_classes, int(100 * cost)])
                labels = np.minimum(rng.integers(0, n_classes, 300), rng.integers(0, n_classes, 300))
                raw = rng.normal(size=(300, 5)) * [0.1, 0.5, 2.0, 1.0, 1.0]
                raw += labels[:, None] * [1.0, -1.0, 1.0, 0.0, 0.0]
                raw[:, 3] = np.abs(raw[:, 0] - n_classes / 2)
                raw[:, 4] = np.exp(raw[:, 4] + 0.3 * labels)
                codes = standardised(raw)
                train, test = codes[:200], codes[200:]
                how: Any = {"n_classes": n_classes, "C": cost, "class_weight": class_weight}
                lines = svc_lines(train, labels[:200], **how)
                accuracies = linear_classifier_accuracies(train, labels[:200], test, labels[200:], **how)
                fitted = slice(1, None) if n_classes == 2 else slice(None)
                for j in range(codes.shape[1]):
                    theirs = LinearSVC(C=cost, class_weight=class_weight, dual=False, tol=1e-11, max_iter=100_000)
                    theirs.fit(train[:, [j]], labels[:200])
                    assert_close(lines.slopes[j, fitted], theirs.coef_[:, 0], SOLVER)
                    assert_close(lines.intercepts[j, fitted], theirs.intercept_, SOLVER)
                    assert_close(accuracies[j], theirs.score(test[:, [j]], labels[200:]), ROUNDING)


# Ranks of columns, against SciPy's, where values tie, hardly differ, or are of both signs and any size ---------------


DRAWN = np.random.default_rng(0).normal(size=999)
COLUMNS = {
    "both signs": DRAWN,
    "ties": np.round(DRAWN, 1),
    "both zeros": np.where(np.abs(DRAWN) < 0.5, np.copysign(0.0, DRAWN), DRAWN),
    "next floats": np.repeat([1.0, -2.0, 1.5], 333) + np.tile(np.random.default_rng(1).permutation(333), 3) * 2.0**-52,
    "any size": np.sign(DRAWN) * 10.0 ** (100 * DRAWN),
    "integers": np.arange(999)[::-1] + (1 << 53),
    "small floats": DRAWN.astype(np.float32),
    "one row": np.array([3.0]),
}


def test_ranks_are_those_of_scipy() -> None:
    for name in COLUMNS:
        from scipy.stats import rankdata

        column = COLUMNS[name]
        table = np.column_stack([column, column[::-1]])
        assert_exact(mid_ranks(table)[:, 0], rankdata(column))
        assert_exact(mid_ranks(table)[:, 1], rankdata(column[::-1]))


@pytest.mark.parametrize("mixed", [0.5, 1e-3, 1e-7])
def test_a_basis_is_the_same_however_alike_its_columns_are(mixed: float) -> None:
    rng = np.random.default_rng(2)
    columns = rng.normal(size=(400, 1)) + mixed * rng.normal(size=(400, 3))
    basis = Basis.of(columns)
    vectors = basis.unit @ basis.turned
    assert basis.rank == 3
    assert np.abs(vectors.T @ vectors - np.eye(3)).max() < 1e-6 * max(1.0, 1e-3 / mixed)
    assert Basis.of(np.hstack([columns, columns[:, :1]])).rank == 3
