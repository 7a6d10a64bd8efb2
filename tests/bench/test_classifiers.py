"""Classifiers to compare: honest out of fold, varied, and chosen by a rule that loops can check."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from demele.bench.comparisons import contenders
from demele.bench.comparisons.contenders import candidate_classifier, indicators, select_varied
from demele.classifiers.stats import bias
from demele.core.errors import NotEnoughData
from tests.refusals import refuses
from tests.tolerances import assert_close, assert_exact, assert_mean

Table = list[list[float]]


def blobs(n: int = 120) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + y[:, None], y, rng.permutation(n) % 4


# Training -----------------------------------------------------------------------------------------------------------


def test_wrong_labels_change_no_draw() -> None:
    features, y, folds = blobs()
    assert candidate_classifier(features, y, folds, 0, 5)[0] == candidate_classifier(features, y[::-1], folds, 0, 5)[0]


def test_one_nearest_neighbour_is_at_chance_out_of_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    # It is right about every instance that it has learned from: the surest sign of a leak.
    one = ("nearest neighbours", KNeighborsClassifier(1))
    monkeypatch.setattr(contenders, "draw_model", lambda *arguments: one)
    features, _, folds = blobs(400)
    rates = []
    for index in range(30):
        y = np.random.default_rng(index).integers(4, size=400)
        rates.append(np.mean(candidate_classifier(features, y, folds, 0, index)[1] == y))
    assert_mean(rates, expected=0.25)


def test_the_label_of_a_fold_has_no_part_in_its_predictions() -> None:
    features, y, folds = blobs()
    for index in range(12):
        changed = np.where(folds == 2, (y + 1) % 3, y)
        before, after = (candidate_classifier(features, labels, folds, 0, index)[1] for labels in (y, changed))
        assert_exact(before[folds == 2], after[folds == 2])


def test_the_features_of_a_fold_do_not_scale_the_others() -> None:
    features, y, folds = blobs()
    larger = np.where((folds == 2)[:, None] & (np.arange(120) == np.flatnonzero(folds == 2)[0])[:, None], 1e3, features)
    for index in range(12):
        before, after = (candidate_classifier(table, y, folds, 0, index)[1] for table in (features, larger))
        rest = (folds == 2) & (larger == features).all(axis=1)
        assert_exact(before[rest], after[rest])


def test_training_parts_that_teach_nothing_are_refused() -> None:
    changed_cases: Any = [
        (
            {"labels": np.arange(120) // 60, "folds": np.arange(120) // 60},
            NotEnoughData,
            r"folds: without fold 0 there are 1 classes .*stratify",
        ),
        ({"labels": np.arange(120)}, NotEnoughData, r"without fold 0 there are 90 classes among 90 instances"),
    ]
    for changed, error, message in changed_cases:
        features, y, _ = blobs()
        given: dict[str, Any] = {"table": features, "labels": y, "folds": np.arange(120) % 4, "seed": 0, "index": 0}
        refuses(error, message, candidate_classifier, **{**given, **changed})


def test_features_that_say_nothing_are_answered_by_the_commonest_class() -> None:
    y, folds = np.arange(40) % 5 // 2, np.arange(40) // 10
    found = [candidate_classifier(np.zeros((40, 3)), y, folds, 0, index) for index in range(24)]
    blind = [predictions for name, predictions in found if "blur" not in name]
    assert len(blind) > 4
    assert_exact(blind, np.zeros((len(blind), 40)))


# Indicators ---------------------------------------------------------------------------------------------------------


def test_indicators_are_those_of_the_bias() -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(4, size=300)
    labels = np.where(rng.random(300) < 0.2, rng.integers(4, size=300), true)
    predictions = rng.integers(4, size=(6, 300))
    table = indicators(predictions, labels, true, 4)
    assert table.shape == (6, 12)
    for row, own in zip(predictions, table, strict=True):
        frame = bias(row, labels, true).per_class
        assert_exact(own, np.concatenate([frame["F_c"], frame["F_n"], frame["F_r"]]))


# Choice -------------------------------------------------------------------------------------------------------------


def nanmean(values: list[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known))


def spreads(table: Table, rows: list[int]) -> tuple[float, float]:
    """Mean variance of the values, and of the gaps between sorted values, over the indicators."""
    of_values, of_gaps = [], []
    for column in range(len(table[0])):
        values = sorted(table[row][column] for row in rows if not np.isnan(table[row][column]))
        gaps = [b - a for a, b in itertools.pairwise(values)]
        of_values.append(float(np.var(values)) if len(values) > 1 else 0.0)
        of_gaps.append(float(np.var(gaps)) if len(gaps) > 1 else 0.0)
    return nanmean(of_values), nanmean(of_gaps)


def scaled(values: list[float]) -> list[float]:
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high - low > 1e-12 * high else 0.0 for value in values]


def assert_each_choice_is_the_best(table: Table, chosen: list[int], kept: list[int]) -> None:
    for size in range(1, len(chosen)):
        left = [row for row in kept if row not in chosen[:size]]
        both = [spreads(table, [*chosen[:size], row]) for row in left]
        score = scaled([one for one, _ in both]) if size > 1 else [one for one, _ in both]
        if size > 1:
            score = [one - gap for one, gap in zip(score, scaled([gap for _, gap in both]), strict=True)]
        assert_close(score[left.index(chosen[size])], max(score), {"rtol": 1e-9, "atol": 1e-9})


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_each_choice_is_the_best_of_its_step(missing: float) -> None:
    rng = np.random.default_rng(0)
    table = rng.random((14, 5))
    table[rng.random(table.shape) < missing] = np.nan
    table[:, 3] = np.nan  # as where no label of a class is wrong
    for seed in range(4):
        chosen = select_varied(table, 10, seed=seed, threshold=0).tolist()
        assert len(set(chosen)) == 10
        assert_each_choice_is_the_best(np.delete(table, 3, axis=1).tolist(), chosen, list(range(14)))


def test_near_candidates_are_dropped() -> None:
    # Mean squared distances to the first: 0.5e-4 (dropped), exactly 2e-4 / 2 but not below it (kept), far (kept).
    table = np.array([[0.5, 0.5], [0.5, 0.51], [0.25, 0.5], [0.5, 0.75]])
    assert sorted(select_varied(table, 3).tolist()) == [0, 2, 3]
    assert sorted(select_varied(table, 4).tolist()) == [0, 2, 3]
    assert sorted(select_varied(table, 4, threshold=0).tolist()) == [0, 1, 2, 3]


def loop_filter(table: Table, threshold: float) -> list[int]:
    kept: list[int] = []
    for row in range(len(table)):
        near = False
        for other in kept:
            squares = [
                (a - b) ** 2 for a, b in zip(table[row], table[other], strict=True) if not (np.isnan(a) or np.isnan(b))
            ]
            near = near or (len(squares) > 0 and sum(squares) < threshold * len(squares))
        if not near:
            kept.append(row)
    return kept


@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, np.nan]), min_size=3, max_size=3), min_size=1, max_size=12),
    st.sampled_from([0.0, 1 / 64, 0.1, 0.5]),
)
def test_filter_like_loops(table: Table, threshold: float) -> None:
    if np.isnan(table).all():
        return
    kept = loop_filter(table, threshold)
    for n in (len(kept), len(kept) + 1):
        assert sorted(select_varied(np.array(table), n, threshold=threshold).tolist()) == kept
