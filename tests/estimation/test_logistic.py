"""Linear probes and ROC areas: hand-worked cases, loop-written oracles, scikit-learn, laws."""

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from demele.core.errors import NotConvergedWarning, NotEnoughData
from demele.estimation import logistic as module
from demele.estimation.logistic import explicitness_by_value, multinomial_logistic, one_vs_rest_logistic, rank_auc
from tests.oracles import logistic as oracle
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

Classifier = Literal["one-vs-rest", "multinomial"]
Probabilities = Literal["normalised", "raw"]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def problem(kind: str) -> tuple[Floats, Ints, int]:
    """Small problems of very different difficulty."""
    rng = np.random.default_rng(3)
    X = rng.random((240, 4))
    bins = np.minimum((4 * X[:, 1]).astype(int), 3)
    if kind == "noise":
        return X, rng.integers(4, size=240), 4
    if kind == "range":  # the ends of a range: nearly separable
        return X, bins, 4
    if kind == "dependent columns":
        return np.column_stack([X, X[:, 1], np.zeros(240), 2 * X[:, 0]]), bins, 4
    if kind == "separable":
        labels = np.repeat(np.arange(4), [50, 60, 70, 4])
        return np.eye(4)[labels], labels, 4
    if kind == "heavy tails":
        Z = rng.standard_t(1.5, size=(240, 3))
        return Z, (Z[:, 0] > 0).astype(int) + (Z[:, 1] > 1), 3
    if kind == "two classes":
        return X, (X[:, 0] + 0.5 * X[:, 1] > 1).astype(int), 2
    wide = rng.random((240, 30))  # solved by conjugate gradients
    return wide, np.digitize(wide[:, :5].sum(axis=1), [2.0, 3.0]), 3


KINDS = ("noise", "range", "dependent columns", "separable", "heavy tails", "two classes", "wide")


def test_one_vs_rest_equals_scikit_learn() -> None:
    for kind in KINDS:
        for C in [1e-3, 1.0, 1e3]:
            for balanced in [True, False]:
                X, labels, n_classes = problem(kind)
                coef, intercept = one_vs_rest_logistic(X, labels, n_classes, C=C, balanced=balanced)
                for k in range(n_classes):
                    weight: dict[str, Any] = {"class_weight": "balanced" if balanced else None}
                    reference = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=500, **weight)
                    reference.fit(X, labels == k)
                    assert_close(coef[k], reference.coef_[0], SOLVER)
                    assert_close(intercept[k], reference.intercept_[0], SOLVER)


def test_multinomial_equals_scikit_learn() -> None:
    for kind in [kind for kind in KINDS if kind != "two classes"]:
        for C in [1e-3, 1.0, 1e3]:
            for balanced in [True, False]:
                X, labels, n_classes = problem(kind)
                coef, intercept = multinomial_logistic(X, labels, n_classes, C=C, balanced=balanced)
                weight = "balanced" if balanced else None
                reference = LogisticRegression(C=C, class_weight=weight, solver="newton-cg", tol=1e-9, max_iter=20000)
                reference.fit(X, labels)
                ours = np.exp(X @ coef.T + intercept)
                assert_close(ours / ours.sum(axis=1, keepdims=True), reference.predict_proba(X), SOLVER)


@pytest.mark.parametrize("rows_of_last", [1, 2000])
def test_many_rows_have_the_minimum_of_all_of_them(rows_of_last: int) -> None:
    # 8 rows of a kind in turn: every eighth row knows nothing of the others
    rng = np.random.default_rng(5)
    labels = np.concatenate([np.tile(np.arange(3), 1500), np.full(rows_of_last, 3)])
    X = rng.normal(size=(len(labels), 4)) + np.outer(labels, [1.0, 0.0, -1.0, 0.5])
    X += 3 * (np.arange(len(labels)) % 8 == 0)[:, None]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for balanced in (False, True):
        W, b = multinomial_logistic(X, labels, 4, C=10.0, balanced=balanced)
        weights = len(labels) / (4 * np.bincount(labels)) if balanced else np.ones(4)
        raised = np.exp(X @ W.T + b)
        pull = raised / raised.sum(axis=1, keepdims=True) - np.eye(4)[labels]
        gradient = W / 10.0 + (weights[labels, None] * pull).T @ X
        assert np.abs(gradient).max() < 1e-7 * len(labels)
        assert_close(b.sum(), 0.0, ROUNDING)


def test_absent_class_is_nan_and_leaves_the_others_alone() -> None:
    X, labels, _ = problem("range")
    coef, intercept = one_vs_rest_logistic(X, np.where(labels == 3, 4, labels), 6)
    expected, expected_intercept = one_vs_rest_logistic(X, labels, 4)
    assert_close(coef[[0, 1, 2, 4]], expected, ROUNDING)
    assert_close(intercept[[0, 1, 2, 4]], expected_intercept, ROUNDING)
    assert np.isnan(coef[[3, 5]]).all()
    assert np.isnan(intercept[[3, 5]]).all()
    softmax, _ = multinomial_logistic(X, np.where(labels == 3, 4, labels), 6)
    assert_close(softmax[[0, 1, 2, 4]], multinomial_logistic(X, labels, 4)[0], ROUNDING)
    assert np.isnan(softmax[[3, 5]]).all()


def test_a_single_class_has_nothing_to_tell() -> None:
    coef, intercept = one_vs_rest_logistic(np.ones((5, 2)), np.zeros(5, int), 2)
    assert np.isnan(coef).all()
    assert np.isnan(intercept).all()
    softmax, bias = multinomial_logistic(np.ones((5, 2)), np.zeros(5, int), 1)
    assert_exact(softmax, [[0.0, 0.0]])
    assert_exact(bias, [0.0])


@pytest.mark.parametrize(("fit", "fits"), [(one_vs_rest_logistic, 4), (multinomial_logistic, 1)])
def test_without_a_penalty_separable_rows_have_no_minimum(fit: Any, fits: int) -> None:
    X, labels, n_classes = problem("separable")
    told = f"{fits} of {fits} logistic regressions did not converge in 200 iterations; a smaller C penalises more"
    with pytest.warns(NotConvergedWarning, match=told):
        coef, _ = fit(X, labels, n_classes, C=np.inf)
    assert np.isfinite(coef).all()


@pytest.mark.parametrize(
    "limits", [{"_DIRECT_CODES": 0, "_DIRECT_PARAMETERS": 0}, {"_CHUNK_ROWS": 7, "_KEPT_PRODUCTS": 1000}]
)
@pytest.mark.parametrize("fit", [one_vs_rest_logistic, multinomial_logistic])
def test_ways_of_solving_agree(fit: Any, limits: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = np.column_stack(fit(*problem("range")))
    for name, value in limits.items():
        monkeypatch.setattr(module, name, value)
    assert_close(np.column_stack(fit(*problem("range"))), expected, SOLVER)


def test_auc_of_absent_or_lone_classes_is_nan() -> None:
    scores = np.arange(12.0).reshape(4, 3)
    assert_exact(rank_auc(scores, np.array([0, 0, 2, 2]), 3), [0.0, np.nan, 1.0])
    assert np.isnan(rank_auc(scores, np.zeros(4, int), 3)).all()
    scores[1, 2] = np.nan
    assert_exact(rank_auc(scores, np.array([0, 0, 2, 2]), 3), [0.0, np.nan, np.nan])


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(-3, 3), min_size=4, max_size=4)), min_size=1))
@settings(max_examples=60)
def test_auc_equals_counting_pairs(rows: list[tuple[int, list[int]]]) -> None:
    labels = np.array([label for label, _ in rows])
    scores = np.array([values for _, values in rows], float)
    areas = rank_auc(scores, labels, 4)
    for k in range(4):
        assert_close(areas[k], oracle.auc(scores[:, k].tolist(), (labels == k).tolist()), ROUNDING)
    assert_exact(rank_auc(scores**3 - 7, labels, 4), areas)  # only the order of the scores counts
    assert_close(rank_auc(-scores, labels, 4), 1 - areas, ROUNDING)
    assert_close(rank_auc(scores[::-1], labels[::-1], 4), areas, ROUNDING)


@pytest.mark.parametrize("scaling", ["min-max", "standard"])
def test_numerically_constant_columns_become_zero(scaling: Literal["min-max", "standard"]) -> None:
    column = 1e9 + 1e-5 * np.arange(4)
    tiny = 1e-200 * np.array([1.0, 2, 4, 8])
    codes = np.column_stack([column, tiny, np.zeros(4)])
    train, test = module.scaled_codes(codes[:3], codes[3:] + 5, scaling=scaling)
    assert_exact(train[:, [0, 2]], np.zeros((3, 2)))
    assert_exact(test[:, [0, 2]], np.zeros((1, 2)))
    assert_close(np.ptp(train[:, 1]), 1.0 if scaling == "min-max" else 3 / np.std([1, 2, 4]), ROUNDING)


def test_explicitness_equals_scikit_learn_on_unseen_rows() -> None:
    for scaling in ["min-max", "standard"]:
        for classifier in get_args(Classifier):
            for probabilities in get_args(Probabilities):
                rng = np.random.default_rng(11)
                v = rng.random((600, 3))
                codes = v @ rng.random((3, 5)) + 0.1 * rng.random((600, 5))
                labels = np.minimum((4 * v[:, 0]).astype(int), 3)
                train, test = np.arange(0, 600, 2), np.arange(1, 600, 2)
                options: dict[str, Any] = {"classifier": classifier, "probabilities": probabilities, "scaling": scaling}
                areas = explicitness_by_value(codes, labels, 4, train_rows=train, test_rows=test, C=3.0, **options)

                scaler = (MinMaxScaler() if scaling == "min-max" else StandardScaler()).fit(codes[train])
                solver: dict[str, Any] = {"tol": 1e-10, "max_iter": 20000, "class_weight": "balanced", "C": 3.0}
                base = LogisticRegression(solver="newton-cholesky", **solver)
                model = OneVsRestClassifier(base) if classifier == "one-vs-rest" else LogisticRegression(**solver)
                model.fit(scaler.transform(codes[train]), labels[train])
                judge = model.predict_proba if probabilities == "normalised" else model.decision_function
                scores = judge(scaler.transform(codes[test]))
                assert_close(areas, [roc_auc_score(labels[test] == k, scores[:, k]) for k in range(4)], SOLVER)


def test_a_single_training_value_is_an_error() -> None:
    X, labels, n_classes = problem("range")
    parts = {"train_rows": np.flatnonzero(labels == 2), "test_rows": np.arange(len(labels))}
    words = "at least 2 values of the factor in its training rows, got 1"
    refuses(NotEnoughData, words, explicitness_by_value, X, labels, n_classes, **parts)
