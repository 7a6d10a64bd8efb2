"""Downstream scores and fairness: worlds whose answers are known, numbers worked by hand, what is refused."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import demele
from demele.metrics.standalone.downstream import ProbedCodes, Prober
from demele.metrics.standalone.fairness import p_value_of_any, total_variation
from tests.tolerances import ROUNDING, assert_close, assert_exact

_RNG = np.random.default_rng(0)
#: Two classes and a quantity, independent of each other.
FACTORS = pd.DataFrame({"kind": _RNG.integers(0, 3, 600), "place": _RNG.integers(0, 4, 600), "size": _RNG.random(600)})
CODES = FACTORS.to_numpy(float) + 0.05 * _RNG.normal(size=(600, 3))
CHEAP: dict[str, Any] = {"probe": "logistic", "n_test": 200}


# Predictors ---------------------------------------------------------------------------------------------------------


def prober(codes: Any, factors: pd.DataFrame, probe: Any) -> Prober:
    return Prober("downstream", codes, factors, probe, 1e6, 0, "raise", {"number": "continuous"})


@pytest.mark.parametrize("probe", ["boosting", "logistic"])
def test_predictors_learn_a_threshold_and_a_line(probe: Any) -> None:
    numbers = np.arange(40.0)
    read = prober(numbers[:, None], pd.DataFrame({"class": numbers < 20, "number": 3.0 - 2.0 * numbers}), probe)
    classes, line = (
        read.score(read.probed, one, np.arange(0, 40, 2), np.arange(1, 40, 2)) for one in read.factors.columns
    )
    assert classes >= 0.95
    assert line > 0.98


def test_without_codes_or_with_one_value_the_commonest_is_said() -> None:
    factors = pd.DataFrame({"class": list("cacba"), "number": [1.0, 2.0, 3.0, 6.0, 0.0]})
    read, none, test = (
        prober(np.arange(5.0)[:, None], factors, "boosting"),
        ProbedCodes(np.empty((5, 0))),
        np.array([4]),
    )
    classes, numbers = read.factors.columns
    assert read.said(none, classes, np.arange(4), test).tolist() == [2]
    assert read.said(none, numbers, np.arange(4), test).tolist() == [3.0]
    assert read.said(read.probed, classes, np.array([0, 2]), test).tolist() == [2]


def test_scores_by_hand() -> None:
    factors = pd.DataFrame({"class": list("abbcb"), "number": [0.0, 2.0, 4.0, 3.0, 3.0]})
    read, test = prober(np.arange(5.0)[:, None], factors, "logistic"), np.arange(4)
    classes, numbers = read.factors.columns
    assert_close(read.score(read.probed, classes, np.array([4]), test), 0.5, ROUNDING)
    assert_close(read.score(read.probed, numbers, np.array([4]), test[:3]), 1 - 11 / 8, ROUNDING)
    assert np.isnan(read.score(read.probed, numbers, np.array([4]), np.array([3, 3])))


# Downstream ---------------------------------------------------------------------------------------------------------


def test_rows_make_predictions_better_and_sizes_are_nested() -> None:
    found = demele.probes.downstream(CODES, FACTORS, sizes=(10, 300), n_repeats=2, **CHEAP)
    assert found.sizes == (10, 300)
    assert found.measures == ("accuracy", "accuracy", "R2")
    assert (found.scores[1] > 0.9).all()
    assert found.means[10] < found.means[300]
    assert_close(found.efficiency[10], found.means[10] / found.means[300], ROUNDING)
    assert_close(found.worst[10], found.scores[0].min(), ROUNDING)
    assert (found.spread[0] > 0).all()
    assert_exact(found.scores, demele.probes.downstream(CODES, FACTORS, sizes=(10, 300), n_repeats=2, **CHEAP).scores)
    assert found.scores[0, 0] != demele.probes.downstream(CODES, FACTORS, sizes=(10, 300), seed=1, **CHEAP).scores[0, 0]
    assert found.sentences[1].startswith("This share of the mean score from 300 rows is reached: ")
    assert json.loads(found.to_json())["sizes"] == [10, 300]


@pytest.mark.parametrize(
    ("options", "sizes", "n_test", "scaled"),
    [
        ({}, (10, 100, 400), 200, False),
        ({"n_test": 100}, (10, 100, 500), 100, False),
        ({"sizes": (50, 450)}, (50, 450), 150, False),
        ({"sizes": (50, 5000)}, (50, 400), 200, True),
        ({"sizes": (50, 800), "n_test": 400}, (50, 400), 200, True),
        ({"n_test": 5000}, (10, 100, 400), 200, True),
    ],
)
def test_rows_that_were_not_asked_for_are_what_is_left(
    options: dict[str, Any], sizes: tuple[int, ...], n_test: int, scaled: bool
) -> None:
    found = demele.probes.downstream(CODES, FACTORS, probe="logistic", **options)
    assert (found.sizes, found.n_test) == (sizes, n_test)
    assert ("scaled-split" in {note.code for note in found.notes}) == scaled
    assert "mixed-measures" in {note.code for note in found.notes}


@pytest.mark.parametrize("by", ["importance", "information"])
def test_the_best_code_alone_knows_a_factor_and_the_others_do_not(by: Any) -> None:
    codes = CODES[:, [2, 0, 1]]
    found = demele.probes.reduced_downstream(codes, FACTORS, by=by, n_train=400, **CHEAP)
    assert found.removed == (("z2",), ("z3",), ("z1",))
    assert (found.alone > 0.9).all()
    assert (found.without < 0.5).all()
    assert_close(found.others, found.others_whole, {"rtol": 0, "atol": 0.05})
    assert (found.others > 0.9).all()


def test_training_rows_have_one_value_and_test_rows_the_others() -> None:
    pair = FACTORS[["kind", "place"]]
    found = demele.probes.strong_downstream(CODES[:, :2], pair, experiments=2, n_train=400, **CHEAP)
    lacking = demele.probes.strong_downstream(
        CODES[:, :2], pair, experiments=2, train_on="others", n_train=400, **CHEAP
    )
    assert len(found.shifts) == 4
    for shift in found.shifts:
        assert shift.n_train < 200 < 2 * shift.n_test
    for shift in lacking.shifts:
        assert shift.n_test < 100 < shift.n_train


# Fairness -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "mean", "largest"),
    [
        ([[3, 0], [1, 4]], 0.375, 0.375),
        ([[1, 2], [1, 2]], 0.0, 0.0),
        ([[2, 0, 0], [0, 6, 0]], (2 * 0.75 + 6 * 0.25) / 8, 0.75),  # a group without rows counts for nothing
    ],
)
def test_total_variation_by_hand(counts: Any, mean: float, largest: float) -> None:
    assert_close(total_variation(np.array(counts, dtype=float)), (mean, largest), ROUNDING)


def test_a_code_of_its_own_is_fair_and_a_mixed_one_is_not() -> None:
    pair = FACTORS[["kind", "place"]]
    fair = demele.probes.fairness(CODES[:, :2], pair, n_train=400, n_permutations=5, **CHEAP)
    assert fair.unfairness < 2 * np.nanmean(fair.chance) + 0.02
    assert "no pair is shown to be above chance" in fair.sentence
    assert fair.document().next == []
    assert "few-shuffles" in {note.code for note in fair.notes}
    mixed = demele.probes.fairness(CODES[:, :2].sum(axis=1, keepdims=True), pair, n_train=400, **CHEAP)
    assert mixed.unfairness > fair.unfairness + 0.1
    assert np.isnan(np.diag(mixed.mean)).all()
    assert (mixed.largest >= mixed.mean)[~np.eye(2, dtype=bool)].all()
    assert len(mixed.to_frame()) == 2
    assert np.isnan(mixed.p_value_of_any)
    assert mixed.document().next[0][1].endswith("--task fairness --permutations 20")


def test_the_p_value_of_several_pairs_by_hand() -> None:
    """Deviations in standard deviations: the first pair's is largest, and one shuffle of the second exceeds it."""
    once = np.array([[1.0, 2.0, 3.0, 4.0]])
    assert p_value_of_any(np.array([5.0]), once) == 1 / 5
    assert p_value_of_any(np.array([5.0, 0.0]), np.concatenate([once, [[0.0, 0.0, 0.0, 9.0]]])) == 2 / 5


def test_pairs_that_say_the_same_do_not_make_a_p_value_small() -> None:
    """Two factors whose pairs are one: under independence, at most one in twenty is beyond chance."""
    rng = np.random.default_rng(3)
    same, shuffled = rng.normal(size=2000), rng.normal(size=(2000, 2, 19))
    share = np.mean([p_value_of_any(np.full(2, one), drawn) <= 0.05 for one, drawn in zip(same, shuffled, strict=True)])
    assert share < 0.05 + 5 * np.sqrt(0.05 * 0.95 / 2000)


# What is refused ----------------------------------------------------------------------------------------------------


def test_what_cannot_be_asked_is_refused() -> None:
    cases: Any = [
        ("downstream", {"probe": "svm"}, "probe: expected 'boosting' or 'logistic', got 'svm'"),
        ("downstream", {"sizes": ()}, "sizes: expected numbers of training rows"),
        ("downstream", {"sizes": (1,)}, "sizes: expected a whole number >= 2, got 1"),
        ("reduced_downstream", {"remove": 3}, r"fewer than there are codes \(3\)"),
        ("reduced_downstream", {"by": "chance"}, "by: expected 'importance' or 'information'"),
        ("strong_downstream", {"train_on": "two"}, "train_on: expected 'one' or 'others'"),
        ("strong_downstream", {"codes": CODES[:40], "factors": FACTORS[:40]}, "no value of a factor has 20 rows"),
        ("strong_downstream", {"factors": FACTORS[["kind"]]}, "at least 2 factors that vary, got 1"),
        ("fairness", {"factors": FACTORS[["kind"]]}, "at least 2 factors that vary, got 1"),
    ]
    for name, options, message in cases:
        with pytest.raises(demele.errors.InputError, match=message):
            getattr(demele.probes, name)(**{"codes": CODES, "factors": FACTORS, **options})
