"""Test procedures: the bootstrap and repeated scores against stubs and loops; the t-tests by hand and by simulation."""

import json
import math
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from demele.classifiers.resampled_scores import ResampledScores, bootstrap_632, corrected_t_test, repeated_scores
from demele.core.arrays import rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact


class Stub(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Says class 1 of every row that it was trained on, and class 0 of any other."""

    def fit(self, X: Any, y: Any) -> "Stub":
        self.classes_ = np.unique(y)
        self.seen_ = set(np.asarray(X)[:, 0].tolist())
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        return np.array([int(value in self.seen_) for value in np.asarray(X)[:, 0].tolist()])


class Remembers(Stub):
    """Keeps a list of the rows of each training, in the order in which they came."""

    trainings: list[list[float]] = []  # noqa: RUF012 - shared by clones, on purpose

    def fit(self, X: Any, y: Any) -> "Remembers":
        Remembers.trainings.append(np.asarray(X)[:, 0].tolist())
        super().fit(X, y)
        return self


def blobs(n: int = 60, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.standard_normal((n, 3)) + y[:, None], y


# The bootstrap -----------------------------------------------------------------------------------------------------


def test_bootstrap_by_hand() -> None:
    """Rows trained on are called 1, the others 0: every error follows from which rows were drawn."""
    n, x = 20, np.arange(20.0)[:, None]
    y = (np.arange(n) < 12).astype(int)
    Remembers.trainings = []
    result = bootstrap_632(Remembers(), x, y, n_repeats=8)
    assert len(Remembers.trainings) == 8
    for repeat, rows in enumerate(Remembers.trainings):
        drawn = np.array(rows, dtype=int)
        assert drawn.size == n
        rest = np.setdiff1d(np.arange(n), drawn)
        resubstitution = np.mean(y[drawn] != 1)  # of all draws: a row drawn twice counts twice
        test = np.mean(y[rest] != 0)
        assert_close(result.parts["test"][repeat], test, ROUNDING)
        assert_close(result.parts["resubstitution"][repeat], resubstitution, ROUNDING)
        assert_close(result.scores[repeat], 0.632 * test + 0.368 * resubstitution, ROUNDING)
    distinct = [len(set(rows)) for rows in Remembers.trainings]
    assert_close(result.n_train, np.mean(distinct), ROUNDING)
    assert_close(result.n_test, n - np.mean(distinct), ROUNDING)
    assert_close(result.mean, result.scores.mean(), ROUNDING)
    assert_close(result.std, result.scores.std(ddof=1), ROUNDING)
    assert (result.measure, result.better, result.n) == ("error", "lower", n)


def test_the_interval_of_the_bootstrap_is_that_of_its_repeats() -> None:
    x, y = blobs()
    result = bootstrap_632(NearestCentroid(), x, y, n_repeats=41, level=0.9)
    ordered = np.sort(result.scores)
    assert_close([result.interval.low, result.interval.high], [ordered[2], ordered[38]], ROUNDING)  # 5% and 95% of 40
    assert (result.interval.kind, result.interval.level) == ("resampling", 0.9)
    assert "resampling" in repr(result)
    assert "over 41 trainings" in repr(result)


def test_stratified_bootstrap_keeps_the_number_of_each_class() -> None:
    x = np.arange(30.0)[:, None]
    y = np.repeat(["rare", "common"], [5, 25])
    Remembers.trainings = []

    class Names(Remembers):
        def predict(self, X: Any) -> Any:
            return np.full(len(X), "common")

    bootstrap_632(Names(), x, y, n_repeats=10, stratified=True)
    assert [sum(row < 5 for row in rows) for rows in Remembers.trainings] == [5] * 10


def test_samples_that_teach_nothing_are_drawn_anew_and_noted() -> None:
    x, nearest = np.arange(4.0)[:, None], KNeighborsClassifier(1)
    result = bootstrap_632(nearest, x, [0, 0, 0, 1], n_repeats=30)
    assert result.notes[0].code == "redrawn-samples"
    assert bootstrap_632(nearest, *blobs(), n_repeats=5).notes == ()
    # Of two instances, either none is left or one class is drawn.
    message = r"100 bootstrap samples of 2 instances .*give more instances, or pass strat"
    refuses(NotEnoughData, message, bootstrap_632, nearest, x[:2], [0, 1])


# Repeated scores ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stratified", [True, False])
def test_repeated_scores_are_those_of_scikit_learn(stratified: bool) -> None:
    x, y = blobs()
    model = LogisticRegression()
    result = repeated_scores(model, x, y, folds=4, n_repeats=3, stratified=stratified, scoring="f1", seed=5)
    state = int(rng_for(5, "repeated_scores").integers(2**32))
    kind = RepeatedStratifiedKFold if stratified else RepeatedKFold
    expected = cross_val_score(model, x, y, cv=kind(n_splits=4, n_repeats=3, random_state=state), scoring="f1")
    assert_exact(result.scores, expected)
    assert (result.measure, result.better, result.n_train, result.n_test) == ("f1", "higher", 45, 15)


def test_splits_given_as_indices_keep_groups_together() -> None:
    x, y = blobs()
    splits = list(GroupKFold(5).split(x, y, np.arange(60) // 2))
    model = NearestCentroid()
    assert_exact(repeated_scores(model, x, y, cv=splits).scores, cross_val_score(model, x, y, cv=splits))


def test_the_interval_of_repeated_scores_by_hand() -> None:
    x, y = blobs()
    result = repeated_scores(LogisticRegression(), x, y, folds=5, n_repeats=2, level=0.9)
    deviation = math.sqrt(result.scores.var(ddof=1) * (1 / 10 + 12 / 48))
    half = stats.t.ppf(0.95, 9) * deviation
    mean, interval = result.scores.mean(), result.interval
    assert_close([interval.low, interval.high], [mean - half, mean + half], ROUNDING)


def test_equal_scores_have_no_interval() -> None:
    x = np.array([0.0, 1, 2, 3, 100, 101, 102, 103])[:, None]
    result = repeated_scores(NearestCentroid(), x, x[:, 0] > 50, folds=4, n_repeats=1)
    assert_exact(result.scores, np.ones(4))
    assert math.isnan(result.interval.high)
    assert result.notes[0].code == "constant-scores"


# What they have in common ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("procedure", [bootstrap_632, repeated_scores])
def test_the_same_seed_gives_the_same_scores(procedure: Any) -> None:
    x, y = blobs()
    for model in (
        DecisionTreeClassifier(max_features=1),
        make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=1)),
    ):
        first, again, other = (procedure(model, x, y, n_repeats=3, seed=seed) for seed in (1, 1, 2))
        assert_exact(first.scores, again.scores)
        assert not np.array_equal(first.scores, other.scores)
        assert model.get_params() == type(model).get_params(model)
        assert not hasattr(model, "classes_") or not hasattr(model, "tree_")
    # Processes are scikit-learn's own affair, and seconds to start: threads show that no fit depends on another.
    with joblib.parallel_config("threading"):
        parallel = procedure(model, x, y, n_repeats=3, seed=1, n_jobs=2)
    assert_exact(parallel.scores, first.scores)


X, Y = blobs(12)


def test_mistakes_are_named() -> None:
    turned = {"X": pd.DataFrame(X, index=range(11, -1, -1)), "y": pd.Series(Y)}
    both: list[Any] = [bootstrap_632, repeated_scores]
    cases: list[tuple[list[Any], dict[str, Any], type[Exception], str]] = [
        (both, {"estimator": NearestCentroid}, InputTypeError, r"such as LogisticRegression\(\), got the class Near"),
        (both, {"estimator": "knn"}, InputTypeError, "estimator: expected a classifier .*got str"),
        (both, {"y": Y[:-1]}, InputError, "X and y: expected the same number of rows, got 12 and 11"),
        (both, {"X": None}, InputTypeError, r"X: expected a table of shape \(n, n_features\), got NoneType"),
        (both, {"X": np.array(3.0)}, InputTypeError, "X: expected a table"),
        (both, {"y": [None, *Y[1:]]}, InputError, "y: 1 missing value, first at row 0"),
        (both, {"X": X[:1], "y": Y[:1]}, NotEnoughData, "y: expected at least 2 instances, got 1"),
        (both, {"n_repeats": 0}, InputError, "n_repeats: expected a whole number >= ., got 0"),
        (both, turned, InputError, "X and y: their indexes hold the same labels in another order"),
        (both[1:], {"folds": 1}, InputError, "folds: expected a whole number >= 2, got 1"),
        (both[1:], {"folds": 13}, NotEnoughData, "folds: expected at most 12, the number of instances"),
        (both[1:], {"folds": 7}, NotEnoughData, "y:"),
        (both[1:], {"cv": LeaveOneOut()}, InputError, "cv and n_repeats:"),
        (both[1:], {"cv": "loo", "n_repeats": None}, InputError, "cv: expected a splitter of scikit-learn, got str"),
        (both[1:], {"folds": 3, "scoring": "acc"}, UnknownNameError, "scoring: 'acc' is no scorer of scikit-learn"),
        (both[1:], {"folds": 3, "scoring": ["f1", "recall"]}, InputTypeError, "scoring:"),
    ]
    for procedures, changed, kind, message in cases:
        for procedure in procedures:
            options = {"estimator": NearestCentroid(), "X": X, "y": Y, "n_repeats": 2} | changed
            refuses(kind, message, lambda call=procedure, known=options: call(**known))


# The t-tests -------------------------------------------------------------------------------------------------------


def test_t_values_by_hand() -> None:
    baseline, candidate = [10.0, 20.0, 30.0], [11.0, 22.0, 33.0]
    # Differences 1, 2, 3: mean 2, variance 1. Plain: 2 / sqrt(1/3); with n_test / n_train = 1/9: 2 / sqrt(4/9) = 3.
    plain = corrected_t_test(baseline, candidate, corrected=False)
    assert_close(plain.t, 2 * math.sqrt(3), ROUNDING)
    assert (plain.ratio, plain.corrected, plain.degrees_of_freedom, plain.n_scores) == (0, False, 2, 3)
    found = corrected_t_test(baseline, candidate, test_fraction=0.1)
    assert_close([found.t, found.ratio, found.difference], [3, 1 / 9, 2], ROUNDING)
    # On 2 degrees of freedom, P(|T| > t) = 1 - t / sqrt(2 + t^2); the quantile of 95% is 4.30265.
    assert_close(found.p_value, 1 - 3 / math.sqrt(11), ROUNDING)
    half = math.sqrt(2) * 0.95 / math.sqrt(1 - 0.95**2) * 2 / 3
    # SciPy 1.11 finds quantiles to 1e-10 only
    assert_close([found.interval.low, found.interval.high], [2 - half, 2 + half], SOLVER)
    assert found.corrected
    assert corrected_t_test(baseline, candidate, n_train=90, n_test=10).t == found.t


@pytest.mark.parametrize("seed", range(5))
def test_plain_test_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    baseline, candidate = rng.random((2, 10))
    ours, theirs = corrected_t_test(baseline, candidate, corrected=False), stats.ttest_rel(candidate, baseline)
    assert_close([ours.t, ours.p_value], [theirs.statistic, theirs.pvalue], ROUNDING)
    interval = theirs.confidence_interval(0.95)
    assert_close([ours.interval.low, ours.interval.high], [interval.low, interval.high], ROUNDING)


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_equal_differences_decide_nothing(shift: float) -> None:
    scores = np.array([0.1, 0.7, 0.3])
    test = corrected_t_test(scores, scores + shift, test_fraction=0.1)
    assert test.verdict == "inconclusive"
    assert math.isnan(test.t)
    assert math.isnan(test.interval.low)
    assert test.notes[0].code == "constant-differences"
    assert json.loads(json.dumps(test.to_dict(), allow_nan=False))["t"] is None


def test_results_of_other_splits_are_not_paired() -> None:
    x, y = blobs()
    one: ResampledScores = repeated_scores(NearestCentroid(), x, y, folds=3, n_repeats=2)
    for other in (
        repeated_scores(NearestCentroid(), x, y, folds=3, n_repeats=2, seed=1),
        repeated_scores(NearestCentroid(), x, y, folds=2, n_repeats=3),
        repeated_scores(NearestCentroid(), x, y, cv=ShuffleSplit(6, test_size=1 / 3)),
    ):
        refuses(InputError, "different splits cannot be paired", corrected_t_test, one, other)
    with pytest.raises(InputError, match="scores_candidate: expected accuracy, as the baselines, got f1"):
        corrected_t_test(one, repeated_scores(NearestCentroid(), x, y, folds=3, n_repeats=2, scoring="f1"))


def test_mistakes_of_testing_are_named() -> None:
    share: dict[str, Any] = {"test_fraction": 0.1}
    cases: list[tuple[Any, Any, dict[str, Any], str]] = [
        ([1, 2], [1, 2, 3], share, "expected as many scores of both, got 2 and 3; score r of both"),
        ([1], [2], share, "expected at least 2 scores, got 1"),
        ([1, 2], [1, math.nan], share, "scores_candidate: expected finite numbers, got 1 other, first nan of split 1"),
        ([[1, 2]], [[1, 3]], share, r"scores_baseline: .* one per split, got shape \(1, 2\)"),
        (["a", "b"], [1, 2], share, "scores_baseline: expected numbers"),
        ([1, 2], [1, 3], {}, r"test_fraction: expected the share .*such as 0\.1 for 10 folds"),
        ([1, 2], [1, 3], {"n_test": 3}, "test_fraction: expected the share"),
        ([1, 2], [1, 3], share | {"n_test": 3}, "test_fraction: expected the share .* or else n_train and n_test"),
        ([1, 2], [1, 3], {"test_fraction": 10}, r"test_fraction: expected a number in \(0, 1\)"),
        ([1, 2], [1, 3], {"n_test": 3, "n_train": 0}, "n_train: expected a finite number above 0, got 0"),
    ]
    for first, second, options, message in cases:
        refuses(InputError, message, corrected_t_test, first, second, **options)


# The promise of the test, simulated --------------------------------------------------------------------------------


def test_errors_are_better_when_lower() -> None:
    x, y = blobs()
    rng = np.random.default_rng(0)
    bad, good = (bootstrap_632(NearestCentroid(), rows, y, n_repeats=10) for rows in (rng.standard_normal(x.shape), x))
    test = corrected_t_test(bad, good)
    assert test.difference < 0
    assert test.verdict == "candidate"
    refuses(InputError, "better: higher was given, but of error lower", corrected_t_test, bad, good, better="higher")
