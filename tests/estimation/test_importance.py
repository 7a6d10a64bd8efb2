"""Trees, and importances with scores on unseen rows."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData
from demele.estimation import importance as lasso_module
from demele.estimation import tree_importance as forest_module
from demele.estimation import trees as trees_module
from demele.estimation.importance import FittedImportance, lasso_importance, splits
from demele.estimation.tree_importance import boosting_importance, forest_importance
from demele.estimation.trees import Bins, Trees, boosted_stage, descend, grow_trees, presort
from tests.oracles import trees as oracle
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact, assert_mean

Floats = NDArray[np.float64]
Predictor = Callable[..., FittedImportance]
PREDICTORS: list[Predictor] = [lasso_importance, forest_importance, boosting_importance]


def grown(codes: Any, target: Any, **options: Any) -> Trees:
    codes = np.asarray(codes, dtype=np.float64)
    defaults = {
        "members": np.ones((1, len(codes)), dtype=bool),
        "n_classes": None,
        "features_per_split": codes.shape[1],
        "max_depth": 20,
        "rng": np.random.default_rng(0),
    }
    return grow_trees(presort(codes), np.asarray(target), **{**defaults, **options})


# Trees


@given(st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12))
def test_presort_agrees_with_the_oracle(values: list[float]) -> None:
    found = presort(np.array(values)[:, None])
    assert found.rank[0].tolist() == oracle.dense_ranks(values)
    assert np.array(values)[found.order[0]].tolist() == sorted(values)


def test_regression_tree_worked_by_hand() -> None:
    # Target 4 a + 2 b = 0, 2, 4, 6, mean 3, sum of squares 9 + 1 + 1 + 9 = 20.
    # Split on a: 2 * 2 / 4 * (5 - 1)^2 = 16 (on b: 4). Then each half, on b: 1 * 1 / 2 * 2^2 = 2.
    trees = grown([[0, 0], [0, 1], [1, 0], [1, 1]], [0.0, 2.0, 4.0, 6.0])
    assert_close(trees.decrease, [16, 2, 2, 0, 0, 0, 0], ROUNDING)
    assert_close(trees.value[:, 0], [3, 1, 5, 0, 2, 4, 6], ROUNDING)
    assert trees.feature.tolist() == [0, 1, 1, -1, -1, -1, -1]
    assert_close(
        trees_module.importances_by_depth(trees, 2, 1, (0, 1, 2))[:, 0], [[0.0, 0.0], [1.0, 0.0], [0.8, 0.2]], ROUNDING
    )


@st.composite
def tree_cases(draw: st.DrawFn) -> dict[str, Any]:
    n_rows, n_codes, n_trees = draw(st.integers(2, 14)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    cells = st.lists(st.integers(0, draw(st.sampled_from([1, 4, 100]))), min_size=n_codes, max_size=n_codes)
    member = st.lists(st.booleans(), min_size=n_rows, max_size=n_rows).filter(any)
    return {
        "codes": np.array(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)), dtype=np.float64),
        "target": np.array(draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))),
        "members": np.array(draw(st.lists(member, min_size=n_trees, max_size=n_trees))),
        "n_classes": draw(st.sampled_from([None, 4])),
        "features_per_split": draw(st.integers(1, n_codes)),
        "max_depth": draw(st.sampled_from([1, 3, 20])),
        "rng": np.random.default_rng(draw(st.integers(0, 99))),
    }


@settings(max_examples=150)
@given(tree_cases())
def test_every_node_is_what_the_definition_says(case: dict[str, Any]) -> None:
    codes, target, members = case["codes"], case["target"], case["members"]
    classes, all_codes = case["n_classes"] is not None, case["features_per_split"] == codes.shape[1]
    trees = grow_trees(presort(codes), target, **{name: case[name] for name in list(case)[2:]})
    roots, rows = np.nonzero(members)
    paths = descend(trees, presort(codes).rank, roots, rows, range(case["max_depth"] + 2))
    for node, feature in enumerate(trees.feature.tolist()):
        here = rows[(paths == node).any(axis=0)]
        found = target[here].tolist()
        if classes:
            assert_close(trees.value[node], [found.count(c) / len(found) for c in range(4)], ROUNDING)
        else:
            assert_close(trees.value[node], [sum(found) / len(found)], SOLVER)
        bests = [oracle.best_decrease(line, found, classes=classes) for line in codes[here].T.tolist()]
        if feature >= 0:
            best = bests[feature]
            assert best is not None
            assert_close(trees.decrease[node], float(best), SOLVER)
            assert not all_codes or float(best) >= max(float(other) for other in bests if other is not None) - 1e-9
            left = here[(paths == trees.left[node]).any(axis=0)[(paths == node).any(axis=0)]]
            assert codes[left, feature].max() < codes[np.setdiff1d(here, left), feature].min()
        else:
            pure = len(set(found)) == 1
            assert pure or trees.depth[node] == case["max_depth"] or all(best is None for best in bests)


def test_rows_that_a_tree_has_not_seen_go_by_the_middle_of_the_ranks() -> None:
    # Grown on ranks 0 and 5: the threshold is rank 2, whatever the values.
    codes = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [1e9]])
    members = np.array([[True, False, False, False, False, True]])
    trees = grown(codes, [0.0, 9.0, 9.0, 9.0, 9.0, 1.0], members=members)
    nodes = descend(trees, presort(codes).rank, np.zeros(6, dtype=np.intp), np.arange(6), (1,))
    assert_close(trees.value[nodes[0], 0], [0, 0, 0, 1, 1, 1], SOLVER)


@pytest.mark.parametrize("n_classes", [None, 2])
@pytest.mark.parametrize("second", [1.0, -1.0])
def test_codes_that_part_the_rows_alike_are_chosen_alike(second: float, n_classes: int | None) -> None:
    rng = np.random.default_rng(1)
    codes = rng.random((40, 1)) * [1.0, second]
    target = (codes[:, 0] + rng.random(40) > 1).astype(int)
    chosen = [grown(codes, target, n_classes=n_classes, max_depth=1, rng=rng).feature[0] for _ in range(300)]
    assert_mean(chosen, 0.5)


def test_bins_hold_equal_shares() -> None:
    rng = np.random.default_rng(4)
    many, few = rng.random(5000), rng.integers(0, 7, 5000).astype(np.float64)
    bins = Bins(presort(np.column_stack([many, few])))
    counts = np.bincount(bins.binned[0])
    assert len(counts) == trees_module.MAX_BINS
    assert counts.min() >= 5000 // trees_module.MAX_BINS
    assert counts.max() <= 5000 // trees_module.MAX_BINS + 1
    assert_exact(bins.binned[1], few.astype(int))
    assert_exact(bins.counts[1, :7], np.bincount(few.astype(int)))


def test_bins_of_heavily_tied_codes_never_part_a_tie() -> None:
    rng = np.random.default_rng(5)
    code = np.where(rng.random(4000) < 0.7, 0.0, rng.random(4000))
    binned = Bins(presort(code[:, None])).binned[0].astype(int)
    order = np.argsort(code, kind="stable")
    assert (np.diff(binned[order]) >= 0).all()
    assert len(set(binned[code == 0].tolist())) == 1


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.integers(2, 20), st.integers(1, 3), st.integers(1, 3))
def test_boosting_stage_has_the_best_splits(seed: int, n_rows: int, n_codes: int, n_outputs: int) -> None:
    rng = np.random.default_rng(seed)
    codes, target = rng.integers(0, 5, (n_rows, n_codes)).astype(float), rng.integers(-4, 5, (n_outputs, n_rows))
    bins = Bins(presort(codes))
    trees, leaf = boosted_stage(bins, target.astype(float), max_depth=2, rng=rng)
    assert_exact(trees.leaves(bins.binned), leaf)
    for output in range(n_outputs):
        for node, rows in enumerate([np.full(n_rows, True), leaf[output] < 2, leaf[output] >= 2]):
            found = target[output][rows].tolist()
            bests = [oracle.best_decrease(line, found, classes=False) for line in codes[rows].T.tolist()]
            best = max((float(one) for one in bests if one is not None), default=0.0)
            assert_close(trees.decrease[output, node], best, SOLVER)


# Choices of the forest


def test_forest_error_is_that_of_all_trees() -> None:
    # Trees that err by 0.5 + noise of variance 1, independent between trees: ten of them err by 0.25 + 1 / 10.
    rng = np.random.default_rng(6)
    errors = []
    for _ in range(200):
        unseen = rng.random((10, 50)) < 0.368
        predictions = [(np.flatnonzero(row), 0.5 + rng.standard_normal((int(row.sum()), 1))) for row in unseen]
        votes = unseen.sum(axis=0)
        kept = np.flatnonzero(votes >= 2)  # a single vote tells nothing of the spread
        number = np.full(50, -1)
        number[kept] = np.arange(len(kept))
        predictions = [(number[rows][number[rows] >= 0], value[number[rows] >= 0]) for rows, value in predictions]
        errors.append(forest_module._forest_error(np.zeros((len(kept), 1)), 10, predictions))
    assert_mean(errors, 0.35)


# Importances


def run(predictor: Predictor, codes: Floats, values: Any, **options: Any) -> FittedImportance:
    """With a seed, and few boosting stages, unless told otherwise."""
    if predictor is boosting_importance:
        options = {"n_trees": 20, **options}
    return predictor(codes, values, **{"rng": np.random.default_rng(0), **options})


def one_factor(n_rows: int, seed: int, *, categorical: bool) -> tuple[Floats, Any]:
    """The factor is the second of three codes, disturbed."""
    rng = np.random.default_rng(seed)
    codes = rng.random((n_rows, 3))
    values = codes[:, 1] + 0.2 * rng.standard_normal(n_rows)
    return codes, np.digitize(values, [0.3, 0.5, 0.7]) if categorical else values


@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize("predictor", PREDICTORS)
def test_the_code_that_holds_the_factor_is_found(predictor: Predictor, categorical: bool) -> None:
    codes, values = one_factor(600, 0, categorical=categorical)
    fitted = run(predictor, codes, values, categorical=categorical)
    assert fitted.importance.argmax() == 1
    assert (fitted.importance >= 0).all()
    if categorical:
        assert fitted.mse is None
        assert fitted.chance == np.bincount(values).max() / 600  # all rows are scored, in five folds
        assert fitted.chance + 0.1 < fitted.score < 0.8
    else:
        # 1 - 0.04 / (1 / 12 + 0.04) = 0.68 is the best possible.
        assert fitted.chance is None
        assert_close(fitted.score, 1 - fitted.mse / values.var(), ROUNDING)
        assert 0.4 < fitted.score < 0.72
    if categorical or predictor is not lasso_importance:
        assert_close(fitted.importance.sum(), 1, ROUNDING)
    assert all(isinstance(choice, tuple) and len(choice) == 5 for choice in fitted.settings.values())
    assert_exact(pickle.loads(pickle.dumps(fitted)).importance, fitted.importance)


@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize("predictor", PREDICTORS)
def test_many_rows_are_held_out_once_and_the_same_seed_gives_the_same_bits(
    predictor: Predictor, categorical: bool
) -> None:
    codes, values = one_factor(4000, 1, categorical=categorical)
    one, other = (run(predictor, codes, values, categorical=categorical) for _ in "ab")
    assert_exact(one.importance, other.importance)
    assert (one.score, one.mse, one.chance, one.settings) == (other.score, other.mse, other.chance, other.settings)
    assert all(isinstance(choice, tuple) and len(choice) == 1 for choice in one.settings.values())
    assert one.importance.argmax() == 1


@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize("predictor", PREDICTORS)
def test_constant_codes_have_no_importance(predictor: Predictor, categorical: bool) -> None:
    codes, values = one_factor(60, 2, categorical=categorical)
    codes[:, [0, 2]] = 0.1  # has no exact mean in floating point
    fitted = run(predictor, codes, values, categorical=categorical)
    assert_exact(fitted.importance[[0, 2]], [0, 0])
    assert fitted.importance[1] > 0
    codes[:, 1] = 7
    fitted = run(predictor, codes, values, categorical=categorical)
    assert_exact(fitted.importance, [0, 0, 0])
    assert fitted.score <= (fitted.chance or 0.0)


@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize("predictor", PREDICTORS)
def test_constant_factor(predictor: Predictor, categorical: bool) -> None:
    values = np.full(30, 2 if categorical else 0.1)
    codes = np.random.default_rng(0).random((30, 2))
    fitted = run(predictor, codes, values, categorical=categorical)
    assert_exact(fitted.importance, [0, 0])
    assert (fitted.score, fitted.chance) == (1, 1) if categorical else np.isnan(fitted.score)


def test_lasso_coefficient_by_hand() -> None:
    # One standardised code equal to the factor: minimise (1 - w)^2 / 2 + lambda w, so w = 1 - lambda; largest lambda 1.
    codes = np.random.default_rng(0).random((200, 1))
    fitted = run(lasso_importance, codes, 3 - 5 * codes[:, 0], categorical=False)
    penalties: Any = fitted.settings["penalty"]
    assert_close(fitted.importance, [1 - np.mean(penalties)], SOLVER)
    assert fitted.settings["converged"] == (True,) * 5


def test_lasso_keeps_one_of_two_copies() -> None:
    rng = np.random.default_rng(0)
    code = rng.random(4000)
    fitted = lasso_importance(np.column_stack([code, code]), code, categorical=False, rng=rng)
    assert_close(fitted.importance[1], 0, ROUNDING)
    assert fitted.score > 0.9999


def test_logistic_coefficients_agree_with_the_oracle() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((45, 2))
    level = np.digitize(x[:, 0] + 0.5 * rng.standard_normal(45), [-0.6, 0.5])
    share = np.bincount(level) / 45
    largest = np.abs(((level == np.arange(3)[:, None]) - share[:, None]) @ x).max() / 45
    weights, converged = lasso_module._logistic_weights(x, level, 3, 0.1, None)
    slow = oracle.l1_logistic(x.tolist(), level.tolist(), 3, 0.1 * largest, 600)
    assert converged
    found = oracle.logistic_objective(x.tolist(), level.tolist(), weights.tolist(), 0.1 * largest)
    assert_close(found, oracle.logistic_objective(x.tolist(), level.tolist(), slow, 0.1 * largest), SOLVER)
    assert np.abs(weights[:, :-1] - np.array(slow)[:, :-1]).max() < 0.02  # flat near the optimum
    assert np.abs(weights[:, 0]).sum() > 3


def test_boosting_rows() -> None:
    codes, values = one_factor(120, 1, categorical=True)

    def n_train(**asked: Any) -> object:
        fitted = run(boosting_importance, codes, values, categorical=True, n_trees=1, max_depth=1, **asked)
        return fitted.settings["n_train"]

    assert n_train() == (96,) * 5
    assert n_train(n_train=80, n_test=40) == (80,)
    assert n_train(n_train=50) == (50,)
    assert n_train(n_test=50) == (70,)
    for asked in ({"n_train": 100, "n_test": 50}, {"n_train": 120}, {"n_test": 120}):
        refuses(NotEnoughData, r"codes: 120 rows came, \d+ to fit and \d+ to score", n_train, **asked)


def test_boosting_two_stages_by_hand() -> None:
    # Rows to fit: all but the last drawn. Codes 0 or 1, factor 0 or 8: start at the mean m, residuals -m and 8 - m,
    # each stage takes off half of them (learning rate 1/2): after two stages a quarter is left.
    codes = np.repeat([0.0, 1.0], 10)[:, None]
    values = 8 * codes[:, 0]
    rows = np.random.default_rng(4).permutation(20)
    train, test = rows[:12], rows[12:]
    options: Any = {"n_trees": 2, "max_depth": 1, "learning_rate": 0.5, "n_train": 12, "n_test": 8}
    fitted = boosting_importance(codes, values, categorical=False, rng=np.random.default_rng(4), **options)
    mean = values[train].mean()
    assert fitted.mse is not None
    assert_close(fitted.mse, (((values[test] - mean) / 4) ** 2).mean(), ROUNDING)
    assert_exact(fitted.importance, [1])


# A random part is fitted and scored as the whole is, in proportion, so that its spread is that of the whole ----------


@pytest.mark.parametrize(
    ("n_rows", "drawn_from", "folds"), [(520, 0, 5), (520, 1040, 2), (2200, 4400, 1), (2200, 0, 2)]
)
def test_folds_are_those_of_the_whole(n_rows: int, drawn_from: int, folds: int) -> None:
    parted = splits(np.zeros(n_rows), False, np.random.default_rng(0), drawn_from=drawn_from)
    assert len(parted) == folds
    assert all(len(test) == pytest.approx(n_rows / 5, abs=1) for _, test in parted)
