"""Confusion counts: worked by hand, against scikit-learn, adding up, and never of two meanings."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

from demele.classifiers.measures.confusion import ConfusionCounts, confusion
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

tables = st.integers(2, 6).flatmap(lambda k: arrays(np.int64, (k, k), elements=st.integers(0, 9)))


def table() -> ConfusionCounts:
    """3 classes, 20 instances; the bird is never predicted."""
    return ConfusionCounts([[6, 2, 0], [1, 7, 0], [1, 3, 0]], ["cat", "dog", "bird"])  # type: ignore[arg-type]


# By hand -----------------------------------------------------------------------------------------------------------


def test_measures_by_hand() -> None:
    counts = table()
    assert counts.n == 20
    assert counts.accuracy == 13 / 20
    assert_close(counts.error, 7 / 20, ROUNDING)
    assert_exact(counts.support, [8, 8, 4])
    assert_exact(counts.predicted, [8, 12, 0])
    assert_exact(counts.right, [6, 7, 0])
    assert_exact(counts.precision, [6 / 8, 7 / 12, np.nan])
    assert_exact(counts.recall, [6 / 8, 7 / 8, 0])
    assert_exact(counts.f1, [12 / 16, 14 / 20, 0])


def test_averages_by_hand() -> None:
    counts = table()
    # The bird has no precision, and is left out of its averages; its recall and F1 are 0, and count.
    assert_close(counts.averaged("precision", "macro"), (6 / 8 + 7 / 12) / 2, ROUNDING)
    assert_close(counts.averaged("precision", "weighted"), (8 * 6 / 8 + 8 * 7 / 12) / 16, ROUNDING)
    assert_close(counts.averaged("recall", "macro"), (6 / 8 + 7 / 8) / 3, ROUNDING)
    assert_close(counts.averaged("recall", "weighted"), 13 / 20, ROUNDING)
    assert_close(counts.averaged("f1", "weighted"), (8 * 12 / 16 + 8 * 14 / 20) / 20, ROUNDING)
    for name in ("precision", "recall", "f1"):
        assert counts.averaged(name, "micro") == counts.accuracy
    assert counts.undefined("precision") == ("bird",)
    assert counts.undefined("recall") == ()


# Against scikit-learn ----------------------------------------------------------------------------------------------


@given(tables)
def test_measures_agree_with_scikit_learn(counts: Any) -> None:
    rows, columns = (axis.ravel() for axis in np.indices(counts.shape))
    labels, predicted = np.repeat(rows, counts.ravel()), np.repeat(columns, counts.ravel())
    ours = ConfusionCounts(counts, tuple(range(len(counts))))
    if not labels.size:
        assert np.isnan(ours.accuracy)
        return
    classes = list(range(len(counts)))
    assert_exact(confusion_matrix(labels, predicted, labels=classes), counts)
    assert_close(ours.accuracy, accuracy_score(labels, predicted), ROUNDING)
    theirs = precision_recall_fscore_support(labels, predicted, labels=classes, zero_division=np.nan)
    assert_close(ours.precision, theirs[0], ROUNDING)
    assert_close(ours.recall, theirs[1], ROUNDING)
    assert_close(ours.f1, theirs[2], ROUNDING)
    assert_exact(ours.support, theirs[3])
    for average in ("macro", "weighted", "micro"):
        averaged = np.flatnonzero(ours.support).tolist() if average == "macro" else classes  # those that have a label
        options = {"labels": averaged, "average": average, "zero_division": np.nan}
        values = precision_recall_fscore_support(labels, predicted, **options)
        for name, value in zip(("precision", "recall", "f1"), values, strict=False):
            if average == "weighted" and not ours.support[~np.isnan(ours.measure(name))].any():
                assert np.isnan(ours.averaged(name, average))  # they take the plain mean if all weights are 0
            else:
                assert_close(ours.averaged(name, average), value, ROUNDING)


# Adding up ---------------------------------------------------------------------------------------------------------


@given(st.integers(1, 5).flatmap(lambda k: arrays(np.int64, (3, k, k), elements=st.integers(0, 99))))
def test_merging_is_adding_up(three: Any) -> None:
    names = tuple(range(three.shape[1]))
    a, b, c = (ConfusionCounts(counts, names) for counts in three)
    before = a.counts.copy()
    assert_exact(a.merge(b).counts, b.merge(a).counts)
    assert_exact(a.merge(b).merge(c).counts, a.merge(b.merge(c)).counts)
    assert_exact(a.merge(ConfusionCounts.empty(names)).counts, a.counts)
    assert_exact(a.counts, before)


def test_counts_of_other_meaning_or_classes_do_not_merge() -> None:
    counts = np.eye(2, dtype=int)
    given_labels = ConfusionCounts(counts, ("a", "b"))
    with pytest.raises(InputError, match="rows are true labels, those of the first are given labels"):
        given_labels.merge(ConfusionCounts(counts, ("a", "b"), rows="true"))
    refuses(InputError, "same classes in the same", lambda: given_labels.merge(ConfusionCounts(counts, ("b", "a"))))
    refuses(InputError, "same classes in the same order", given_labels.merge, ConfusionCounts(counts, ("a", "c")))
    refuses(InputTypeError, "expected ConfusionCounts, got ndarray", given_labels.merge, counts)


# Mistakes ----------------------------------------------------------------------------------------------------------

BAD_COUNTS: dict[str, tuple[object, str]] = {
    "shares": ([[0.5, 0.5], [0.1, 0.9]], r"got 0\.5 in row 0, column 0; give counts, not shares"),
    "a negative": ([[1, 2], [-3, 4]], "got -3 in row 1, column 0"),
    "NaN": ([[1, 2], [np.nan, 4]], "got nan in row 1, column 0"),
    "infinite": ([[1, 2], [np.inf, 4]], "got inf"),
    "not square": ([[1, 2, 3], [1, 2, 3]], r"expected a square table .*, got shape \(2, 3\)"),
    "a row": ([1, 2], r"got shape \(2,\)"),
    "nothing": (np.zeros((0, 0)), r"got shape \(0, 0\)"),
    "words": ([["1", "2"], ["3", "4"]], "expected whole numbers, got values of type"),
}


def test_what_is_no_counts_is_refused() -> None:
    for name in BAD_COUNTS:
        values, message = BAD_COUNTS[name]
        refuses(InputError, message, ConfusionCounts, values, ("a", "b"))


def test_names_and_meaning_are_checked() -> None:
    counts = np.eye(2, dtype=int)
    refuses(InputError, "classes: expected 2, one for each row of counts", ConfusionCounts, counts, ("a", "b", "c"))
    refuses(InputError, "'a' more than once", ConfusionCounts, counts, ("a", "a"))
    refuses(InputError, "rows: expected 'label'", ConfusionCounts, counts, ("a", "b"), rows="truth")
    refuses(InputError, "rows: expected 'label'", confusion, [1], [1], rows="x")
    refuses(UnknownNameError, "measure: expected one of precision, recall, f1", table().averaged, "accuracy")
    refuses(UnknownNameError, "average: expected one of macro, micro", table().averaged, "f1", "samples")


def test_inputs_are_checked_at_the_door() -> None:
    refuses(InputError, "predictions and labels: expected the same number of rows, got", confusion, [0, 1], [0, 1, 1])
    refuses(NotEnoughData, "labels", confusion, [], [])
    refuses(InputError, r"expected at most 20,000 classes", lambda: confusion(np.arange(20_001), np.arange(20_001)))


def test_a_single_class_is_a_table_of_one() -> None:
    counts = confusion(pd.Series(["a", "a"]), ["a", "a"])
    assert counts.accuracy == 1
    assert counts.averaged("f1") == 1
    assert ConfusionCounts.empty(["a"]).averaged("f1") != ConfusionCounts.empty(["a"]).averaged("f1")  # NaN
