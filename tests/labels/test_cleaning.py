"""Cleanings: what they are, and simulated ones whose rates are those asked for."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele.classifiers import Cleaned, compare
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.labels import Cleaning, clean, cleaning_harm, estimate_transition, simulated_cleaning
from demele.labels.cleaned.cleaning import label_digest
from demele.report.words import plain
from tests.tolerances import assert_exact, assert_mean

RNG = np.random.default_rng(0)
TRUE = RNG.integers(0, 4, 40_000)
WRONG = RNG.random(TRUE.size) < 0.1
LABELS = np.where(WRONG, (TRUE + RNG.integers(1, 4, TRUE.size)) % 4, TRUE)


def test_detections_and_false_alarms() -> None:
    found = simulated_cleaning(LABELS, TRUE, detected=0.6, false_alarms=0.1, seed=1)
    assert found.suggested is None
    assert_mean(found.suspect[WRONG], 0.6)
    assert_mean(found.suspect[~WRONG], 0.1)


def test_corrections() -> None:
    found = simulated_cleaning(LABELS, TRUE, detected=0.9, false_alarms=0.4, corrected=0.75, seed=2)
    assert found.suggested is not None
    right = found.suggested == TRUE
    for group in (WRONG, ~WRONG):
        assert_mean(right[group & found.suspect], 0.75)
    assert_exact(found.suggested[~found.suspect], LABELS[~found.suspect])
    # A failed correction is one of the three other classes, each as likely.
    failed = found.suspect & ~right
    for shift in (1, 2, 3):
        assert_mean((found.suggested[failed] - TRUE[failed]) % 4 == shift, 1 / 3)


def test_extremes() -> None:
    perfect = simulated_cleaning(LABELS, TRUE, detected=1, false_alarms=0, corrected=1)
    assert_exact(perfect.suspect, WRONG)
    assert_exact(perfect.suggested, TRUE)  # type: ignore[arg-type]
    assert not simulated_cleaning(LABELS, TRUE, detected=0, false_alarms=0).suspect.any()
    worst = simulated_cleaning(LABELS, TRUE, detected=0, false_alarms=1, corrected=0)
    assert worst.suggested is not None
    assert (worst.suggested[~WRONG] != TRUE[~WRONG]).all()


def test_reproducible_and_nested() -> None:
    few, again, many = (simulated_cleaning(LABELS, TRUE, detected=d, false_alarms=0.1, seed=3) for d in (0.4, 0.4, 0.9))
    assert_exact(few.suspect, again.suspect)
    assert (many.suspect >= few.suspect).all()
    assert not np.array_equal(
        few.suspect, simulated_cleaning(LABELS, TRUE, detected=0.4, false_alarms=0.1, seed=4).suspect
    )


def test_refuses() -> None:
    for name in ("detected", "false_alarms", "corrected"):
        rates = {"detected": 0.5, "false_alarms": 0.1, "corrected": 0.5}
        for odd in (-0.1, 1.1, True, "half", float("nan")):
            with pytest.raises(InputError, match=rf"^{name}: expected a share of the rows in \[0, 1\]"):
                simulated_cleaning([0, 1], [0, 1], **(rates | {name: odd}))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"same number of rows, got 2 and 1"):
        simulated_cleaning([0, 1], [0], detected=1, false_alarms=0)
    with pytest.raises(InputError, match=r"seed"):
        simulated_cleaning([0, 1], [0, 1], detected=1, false_alarms=0, seed=-1)
    with pytest.raises(NotEnoughData, match=r"at least 2 classes to choose from"):
        simulated_cleaning([0, 0], [0, 0], detected=1, false_alarms=0, corrected=1)
    with pytest.raises(InputError, match=r"true_labels: .* cannot be matched"):
        simulated_cleaning([0, 1], ["a", "b"], detected=1, false_alarms=0)


def test_a_cleaning() -> None:
    found = Cleaning([True, False], ["a", "b"])
    assert repr(found) == "Cleaning(1 of 2 labels are suspected: 50.0%)"
    with pytest.raises(InputTypeError, match=r"suspect: expected one flag .* of type int64; from row numbers"):
        Cleaning([3, 7])
    with pytest.raises(InputError, match=r"suggested: expected 2 labels, one per flag of suspect, got 1"):
        Cleaning([True, False], ["a"])
    assert Cleaning([True, False]).suggested is None


def test_the_most_suspicious_labels_stand_first() -> None:
    found = Cleaning([True, False, True], ["a", "b", "<b>"], score=[0.2, 0.9, 0.7], method="mine")
    document = found.document()
    assert document.table is not None
    assert list(document.table.columns) == ["Row", "Suggested", "Score"]
    assert [[plain(str(cell)) for cell in row] for row in document.table.rows] == [
        ["2", "<b>", "0.7"],
        ["0", "a", "0.2"],
    ]
    assert [plain(part) for part in document.scope] == ["method mine"]
    assert Cleaning(np.ones(600, dtype=bool)).document().sections[0].blocks[1] == (
        "The 500 most suspicious of 600 are listed."
    )


# To which labels a cleaning belongs -----------------------------------------------------------------------------------

FEATURES = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
GIVEN = [3, 3, 4, 4, 4, 4]


@pytest.mark.parametrize(
    "same", [GIVEN, np.array(GIVEN, dtype=np.int32), np.array(GIVEN, dtype=float), pd.Series(GIVEN, dtype="Int64")]
)
def test_a_cleaning_knows_its_labels(same: Any) -> None:
    found = clean(GIVEN, FEATURES, method="knn", k=2)
    assert found.made_from is not None
    assert found.suspect.tolist() == [False, False, True, False, False, False]
    assert clean(same, FEATURES, method="knn", k=2).made_from == found.made_from
    for one in (found, found.dropping()):
        assert cleaning_harm(one, same).overall.suspected == 1
        assert one.applied(same).labels.size in (5, 6)
        assert compare(GIVEN, GIVEN, same, method=Cleaned(one)).n > 0


@pytest.mark.parametrize("other", [GIVEN[::-1], [3, 3, 3, 4, 4, 4], [4, 4, 3, 3, 3, 3]])
def test_other_labels_are_refused(other: list[int]) -> None:
    message = r"^cleaning: it was made from other labels than {}, or from these in another order"
    found = clean(GIVEN, FEATURES, method="knn", k=2)
    for one in (found, found.dropping()):
        for name, call in (
            ("y", lambda one=one: cleaning_harm(one, other)),
            ("y", lambda one=one: one.applied(other)),
            ("y", lambda one=one: one.kept(other)),
            ("y", lambda one=one: one.to_frame(other)),
            ("labels", lambda one=one: compare(other, GIVEN, other, method=Cleaned(one))),
        ):
            with pytest.raises(InputError, match=message.format(name)):
                call()
    # Made by hand, or of some rows, it knows none.
    assert Cleaning(found.suspect).made_from is None
    assert cleaning_harm(Cleaning(found.suspect), other).overall.suspected == 1
    assert found.take([0, 2]).made_from is None


def test_the_digest_is_of_what_labels_say() -> None:
    text = np.array(["3", "4", "3"], dtype=object)
    assert label_digest(np.array([3, 4, 3])) == label_digest(text)
    others = ([3, 4, 4], [4, 3, 4], [3, 4], [3, 4, 3, 3], [5, 4, 5])
    assert len({label_digest(np.array(other)) for other in ([3, 4, 3], *others)}) == 6


def test_some_rows() -> None:
    found = Cleaning([True, False, True], [1, 0, 0], score=[0.1, 0.2, np.nan], method="mine")
    part = found.take(np.array([False, True, True]))
    assert part.suspect.tolist() == [False, True]
    assert part.suggested is not None
    assert part.suggested.tolist() == [0, 0]
    assert part.method == "mine"
    assert part.score is not None
    assert_exact(part.score, [0.2, np.nan])
    assert found.take([2, 0]).suspect.tolist() == [True, True]
    for odd in ([True, False], [7], ["a"]):
        with pytest.raises(InputError, match=r"^rows: expected 3 flags, or row numbers up to 2"):
            found.take(odd)


def test_minus_1_among_true_labels() -> None:
    true, given = np.array([0, -1, 1, -1]), np.array([0, 0, 1, 1])
    found = Cleaning([False, True, False, True], [0, 1, 1, 0])
    told = r"^true_labels: 2 of 4 values are -1, first at row 1, and -1 is not among the given labels; if it marks .*"
    with pytest.raises(InputError, match=told):
        cleaning_harm(found, given, true)
    with pytest.raises(InputError, match=told):
        estimate_transition(true, given)
    keep = true != -1
    assert cleaning_harm(found.take(keep), given[keep], true[keep]).overall.right == 2
    # As a class, it is counted: where it is said to be one, or where labels have it too.
    assert estimate_transition(true, given, classes=[-1, 0, 1]).counts[0].tolist() == [0, 1, 1]
    assert estimate_transition([-1, 1], [1, -1]).wrong == 2
