"""Trees, forests and boosting against scikit-learn.

Codes are permutations of 0 .. n - 1 where whole trees are compared: then ranks and values agree, and so do the middles
between them, by which rows that a tree has not seen are sent left or right.
"""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import Lasso, LassoCV
from sklearn.model_selection import PredefinedSplit
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from demele.estimation import tree_importance as module
from demele.estimation.importance import lasso_importance, unseen_errors
from demele.estimation.tree_importance import boosting_importance, forest_importance
from demele.estimation.trees import Bins, descend, grow_trees, importances_by_depth, presort
from tests.tolerances import ROUNDING, SOLVER, assert_close

Floats = NDArray[np.float64]

#: What the documentation of `forest_importance` promises.
SCORE_DIFFERENCE = 0.01
INDEX_DIFFERENCE = 0.02


def permutations(n_rows: int, n_codes: int, rng: np.random.Generator) -> Floats:
    return np.argsort(rng.random((n_rows, n_codes)), axis=0).astype(np.float64)


def whole_tree(codes: Floats, target: Any, n_classes: int | None, max_depth: int) -> tuple[Floats, Floats]:
    """Predictions of all rows by a tree grown on the even ones, and its importances."""
    presorted = presort(codes)
    members = (np.arange(len(codes)) % 2 == 0)[None]
    trees = grow_trees(
        presorted,
        target,
        members,
        n_classes=n_classes,
        features_per_split=codes.shape[1],
        max_depth=max_depth,
        rng=np.random.default_rng(0),
    )
    rows = np.arange(len(codes))
    nodes = descend(trees, presorted.rank, np.zeros_like(rows), rows, (max_depth,))[0]
    return trees.value[nodes], importances_by_depth(trees, codes.shape[1], 1, (max_depth,))[0, 0]


@pytest.mark.parametrize(("classes", "n_codes", "max_depth"), [(0, 1, 30), (0, 4, 3), (5, 1, 2), (5, 4, 3)])
def test_a_tree(classes: int, n_codes: int, max_depth: int) -> None:
    rng = np.random.default_rng(1)
    codes = permutations(600, n_codes, rng)
    target: Any = codes[:, 0] / 600 + rng.random(600) / 2
    kind = DecisionTreeRegressor
    if classes:
        kind, target = DecisionTreeClassifier, np.digitize(target, [0.4, 0.6, 0.9, 1.1])
    peer = kind(max_depth=max_depth).fit(codes[::2], target[::2])
    predicted, importance = whole_tree(codes, target, classes or None, max_depth)
    tolerance = ROUNDING if classes else SOLVER
    assert_close(predicted, peer.predict_proba(codes) if classes else peer.predict(codes)[:, None], tolerance)
    assert_close(importance, peer.feature_importances_, tolerance)


def mixing(share: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    factors = rng.random((5000, 4))
    return factors * (1 - share) + np.roll(factors, 1, axis=1) * share, factors


def circles(rng: np.random.Generator) -> tuple[Floats, Floats]:
    factors = rng.random((5000, 4)) * 2 * np.pi
    return np.column_stack([np.cos(factors), np.sin(factors)]), factors


def compactness(importance: Floats) -> float:
    share = importance[importance > 0] / importance.sum()
    return float(1 + (share * np.log(share)).sum() / np.log(len(importance)))


@pytest.mark.oracle("dci_forest_compactness", "dci_forest_explicitness")
@pytest.mark.parametrize("scenario", ["mixing 0.2", "mixing 0.5", "circles", "copies"])
def test_forest_is_as_good_as_a_tuned_one(scenario: str) -> None:
    rng = np.random.default_rng(2)
    codes, factors = (
        circles(rng) if scenario == "circles" else mixing(float(scenario[-3:]) if "m" in scenario else 0, rng)
    )
    if scenario == "copies":
        codes = np.tile(codes, 2)
    ours, theirs = [], []
    for i in range(2):
        test = np.random.default_rng(i).permutation(5000)[::5]  # the rows that are held out below
        train = np.setdiff1d(np.arange(5000), test)
        fitted = forest_importance(codes, factors[:, i], categorical=False, rng=np.random.default_rng(i))
        ours.append([fitted.score, compactness(fitted.importance)])
        peers = [
            RandomForestRegressor(10, max_depth=depth, max_features=share, random_state=i).fit(
                codes[train], factors[train, i]
            )
            for depth in (8, 16)
            for share in (0.8, 1.0)
        ]
        scores = [peer.score(codes[test], factors[test, i]) for peer in peers]
        best = int(np.argmax(scores))
        theirs.append([scores[best], compactness(peers[best].feature_importances_)])
    difference = np.abs(np.mean(ours, axis=0) - np.mean(theirs, axis=0))
    assert difference[0] < SCORE_DIFFERENCE
    assert difference[1] < INDEX_DIFFERENCE


@pytest.mark.parametrize("n_levels", [None, 2, 4])
def test_boosting(n_levels: int | None) -> None:
    rng = np.random.default_rng(3)
    codes = permutations(300, 1, rng)
    values: Any = codes[:, 0] / 300 + 0.3 * rng.random(300)
    if n_levels is not None:
        values = np.digitize(values, np.linspace(0, 1.3, n_levels + 1)[1:-1])
    rows = np.random.default_rng(7).permutation(300)
    train, test = rows[:200], rows[200:]
    fitted = boosting_importance(
        codes, values, categorical=n_levels is not None, rng=np.random.default_rng(7), n_trees=40, n_train=200
    )
    if n_levels is None:
        peer = GradientBoostingRegressor(n_estimators=40).fit(codes[train], values[train])
        assert_close(fitted.score, peer.score(codes[test], values[test]), SOLVER)
    else:
        peer = GradientBoostingClassifier(n_estimators=40).fit(codes[train], values[train])
        assert fitted.score == peer.score(codes[test], values[test])


@pytest.mark.parametrize("n_levels", [2, 4])
def test_boosting_logits(n_levels: int) -> None:
    rng = np.random.default_rng(6)
    codes = permutations(300, 1, rng)
    level = np.digitize(codes[:, 0] / 300 + rng.random(300), np.linspace(0, 2, n_levels + 1)[1:-1])
    train, test = np.arange(300)[::2], np.arange(300)[1::2]
    presorted = presort(codes)
    bins = Bins(presorted.subset(train))
    unseen = bins.apply(presorted.rank[:, test])
    _, boosted = module._boost(bins, module._loss(level[train], True), 20, 3, 0.1, rng)
    logits = boosted(unseen)
    peer = GradientBoostingClassifier(n_estimators=20).fit(codes[train], level[train])
    expected = peer.decision_function(codes[test]).reshape(len(test), -1).T
    if n_levels > 2:  # a constant may be added to all logits of a row
        logits, expected = logits - logits.mean(axis=0), expected - expected.mean(axis=0)
    assert_close(logits, expected, SOLVER)


@pytest.mark.parametrize("n_levels", [None, 2, 4])
def test_boosting_importances(n_levels: int | None) -> None:
    rng = np.random.default_rng(4)
    codes = rng.random((1500, 4))
    values: Any = codes @ [4.0, 2.0, 1.0, 0.0] + 0.3 * rng.random(1500)
    if n_levels is not None:
        values = np.digitize(values, np.quantile(values, np.linspace(0, 1, n_levels + 1)[1:-1]))
    fitted = boosting_importance(
        codes, values, categorical=n_levels is not None, rng=np.random.default_rng(7), n_trees=30, n_train=1000
    )
    rows = np.random.default_rng(7).permutation(1500)[:1000]
    peer = (GradientBoostingRegressor if n_levels is None else GradientBoostingClassifier)(n_estimators=30)
    peer.fit(codes[rows], values[rows])
    assert np.abs(fitted.importance - peer.feature_importances_).max() < INDEX_DIFFERENCE


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["mixed", "noise", "copies", "more columns than rows"])
def test_penalty_is_that_of_scikit_learn_on_the_same_folds(kind: str) -> None:
    rng = np.random.default_rng(6)
    codes = rng.normal(
        size=(40 if kind == "more columns than rows" else 600, 50 if kind == "more columns than rows" else 5)
    )
    values = rng.normal(size=len(codes)) + (0.0 if kind == "noise" else 2.0) * codes[:, 0]
    if kind == "copies":
        codes = np.hstack([codes, codes[:, :2], -3 * codes[:, :1]])
    x, y = (codes - codes.mean(axis=0)) / codes.std(axis=0), (values - values.mean()) / values.std()
    fold = np.arange(len(x)) % 5
    penalties = np.abs(x.T @ y).max() / len(x) * np.logspace(0, -3, 100)
    peer = LassoCV(alphas=penalties, cv=PredefinedSplit(fold), tol=1e-6, max_iter=1000).fit(x, y)
    errors = unseen_errors(x, y, fold, penalties)
    assert np.abs(errors / peer.mse_path_.mean(axis=1) - 1).max() < 1e-6
    assert penalties[errors.argmin()] == peer.alpha_


def test_lasso_is_the_lasso_of_standardised_columns() -> None:
    rng = np.random.default_rng(5)
    codes = rng.random((5000, 3)) * [1.0, 50.0, 1e-3]
    values = codes @ [1.0, 0.03, 100.0] + 0.2 * rng.random(5000)
    fitted = lasso_importance(codes, values, categorical=False, rng=np.random.default_rng(0))
    penalties: Any = fitted.settings["penalty"]
    # The same fit on all rows differs by the fifth of the rows that was held out.
    x, y = (codes - codes.mean(axis=0)) / codes.std(axis=0), (values - values.mean()) / values.std()
    peer = Lasso(alpha=penalties[0] * np.abs(x.T @ y).max() / 5000).fit(x, y)
    assert np.abs(fitted.importance - np.abs(peer.coef_)).max() < INDEX_DIFFERENCE
    assert abs(fitted.score - peer.score(x, y)) < SCORE_DIFFERENCE
