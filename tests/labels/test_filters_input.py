"""What cleaning refuses: each with the argument, what was expected, what came, and what to do."""

import sys
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from demele.core.errors import InputError, InputTypeError, MissingExtraError, NotEnoughData, UnknownNameError
from demele.labels import clean

Y, X = [0, 1, 0, 1], [[0.0, 1.0], [1.0, 0.5], [0.3, 0.2], [2.0, 0.1]]
THIRDS = np.full((4, 3), 1 / 3)


def test_refuses() -> None:
    y_cases: Any = [
        (Y, X, {"method": "votes"}, UnknownNameError, r"method: expected one of .* got 'votes'; did you mean 'voting'"),
        (Y, X, {"method": None}, UnknownNameError, r"method: expected one of knn"),
        ([1, 1, 1, 1], X, {}, NotEnoughData, r"^y: expected labels of at least 2 classes, got only 1"),
        (Y[:3], X, {}, InputError, r"same number of rows, got 3 and 4"),
        ([0, None, 1, 1], X, {}, InputError, r"^y: 1 missing value, first at row 1"),
        (Y, [[np.nan], [1], [2], [3]], {}, InputError, r"^features_or_probabilities: .*non-finite"),
        (Y, [1, 2, 3, 4], {}, InputError, r"^features_or_probabilities: expected 2 dimensions"),
        (Y, None, {}, InputTypeError, r"^features_or_probabilities: expected a table"),
        (Y, X, {"method": "knn", "k": 4}, InputError, r"^k: expected fewer neighbours than the 4 instances, got 4"),
        (Y, X, {"method": "knn", "k": 0}, InputError, r"^k: expected a whole number >= 1, got 0"),
        (Y, X, {"method": "knn", "scaling": "robust"}, InputError, r"^scaling: expected 'standard' or 'none'"),
        (Y, X, {"method": "knn", "folds": 3}, InputError, "^folds:"),
        (Y, X, {"method": "voting", "k": 3}, InputError, r"^k: `method='voting'` does not use it, only 'knn'; drop it"),
        (Y, X, {"method": "voting", "folds": 1}, InputError, r"^folds: expected a whole number >= 2, got 1"),
        (Y, X, {"method": "voting", "rule": "all"}, InputError, r"^rule: expected one of 'majority', 'consensus' for"),
        (Y, X, {"method": "partitioning", "rounds": 0}, InputError, r"^rounds: expected a whole number >= 1"),
        (Y, X, {"method": "entropy", "threshold": 0}, InputError, r"^threshold: .* in \(0, 1\], got 0"),
        (Y, X, {"method": "entropy", "kind": "scores"}, InputError, r"^kind: expected 'features' or 'probab"),
        (Y, X, {"seed": -1}, InputError, r"^seed: expected a whole number >= 0, got -1"),
        (Y, X, {"n_jobs": 0}, InputError, r"^n_jobs: expected a number of processes"),
        (Y, X, {"method": "voting", "model": GaussianNB()}, InputTypeError, r"at least 2 .* method='classification'"),
        (Y, X, {"method": "voting", "model": [GaussianNB()]}, InputTypeError, r"at least 2 classifiers .* list of 1"),
        (Y, X, {"method": "voting", "model": [GaussianNB(), 3]}, InputTypeError, r"^model\[1\]: expected a scikit-"),
        (Y, X, {"method": "classification", "model": GaussianNB}, InputTypeError, r"got the class GaussianNB"),
        (
            Y,
            X,
            {"method": "classification", "model": LinearRegression()},
            InputTypeError,
            r"LinearRegression, which is",
        ),
        (Y * 2, X * 2, {"method": "entropy", "model": LinearSVC()}, InputError, r"LinearSVC gives no probabilities"),
        (Y, THIRDS, {"method": "entropy"}, InputError, r"each of the 2 classes 0, 1, got 3 columns; give all classes"),
        (Y, X, {"method": "confident", "kind": "probabilities"}, InputError, "features_or_probabilities:"),
        (Y, THIRDS[:, :2] * 1.5, {"method": "entropy", "folds": 3}, InputError, r"^folds: nothing is trained"),
    ]
    for y, table, options, error, message in y_cases:
        with pytest.raises(error, match=message):
            clean(y, table, **options)


def test_confident_learning_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*sys.modules]:
        if name.partition(".")[0] == "cleanlab":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cleanlab", None)
    with pytest.raises(MissingExtraError, match=r"'confident' .*'knn' needs no extra.*demele\[cleaning\]"):
        clean(Y, X)
    assert clean(Y, X, method="knn", k=1).method == "knn"
