"""Cleanings: what they are, simulated ones, and the harm that they do per class."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from demele.classifiers import Cleaned, compare
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.labels import Cleaning, clean, cleaning_harm, estimate_transition, simulated_cleaning
from demele.labels.cleaned.cleaning import label_digest
from demele.report.words import plain
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact, assert_mean

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
    right = found.suggested == TRUE
    for group in (WRONG, ~WRONG):
        assert_mean(right[group & found.suspect], 0.75)
    assert_exact(found.suggested[~found.suspect], LABELS[~found.suspect])
    # A failed correction is one of the three other classes, each as likely.
    failed = found.suspect & ~right
    for shift in (1, 2, 3):
        assert_mean((found.suggested[failed] - TRUE[failed]) % 4 == shift, 1 / 3)


def test_refuses() -> None:
    for name in ("detected", "false_alarms", "corrected"):
        rates = {"detected": 0.5, "false_alarms": 0.1, "corrected": 0.5}
        for odd in (-0.1, 1.1, True, "half", float("nan")):
            with pytest.raises(InputError, match=rf"^{name}: expected a share of the rows in \[0, 1\]"):
                simulated_cleaning([0, 1], [0, 1], **(rates | {name: odd}))  # type: ignore[arg-type]
    refuses(InputError, r"same number of rows, got 2 and", simulated_cleaning, [0, 1], [0], detected=1, false_alarms=0)
    refuses(InputError, r"seed", simulated_cleaning, [0, 1], [0, 1], detected=1, false_alarms=0, seed=-1)
    with pytest.raises(NotEnoughData, match=r"at least 2 classes to choose from"):
        simulated_cleaning([0, 0], [0, 0], detected=1, false_alarms=0, corrected=1)
    with pytest.raises(InputError, match=r"true_labels: .* cannot be matched"):
        simulated_cleaning([0, 1], ["a", "b"], detected=1, false_alarms=0)


def test_a_cleaning() -> None:
    found = Cleaning([True, False], ["a", "b"])
    assert repr(found) == "Cleaning(1 of 2 labels are suspected: 50.0%)"
    refuses(InputTypeError, r"suspect: expected one flag .* of type int64; from row numbers", Cleaning, [3, 7])
    refuses(InputError, r"suggested: expected 2 labels, one per flag of suspect, got 1", Cleaning, [True, False], ["a"])
    assert Cleaning([True, False]).suggested is None


def test_the_most_suspicious_labels_stand_first() -> None:
    found = Cleaning([True, False, True], ["a", "b", "<b>"], score=[0.2, 0.9, 0.7], method="mine")
    document = found.document()
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
            refuses(InputError, message.format(name), call)
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
    assert part.suggested.tolist() == [0, 0]
    assert part.method == "mine"
    assert part.score is not None
    assert_exact(part.score, [0.2, np.nan])
    assert found.take([2, 0]).suspect.tolist() == [True, True]
    for odd in ([True, False], [7], ["a"]):
        refuses(InputError, r"^rows: expected 3 flags, or row numbers up to 2", found.take, odd)


def test_minus_1_among_true_labels() -> None:
    true, given = np.array([0, -1, 1, -1]), np.array([0, 0, 1, 1])
    found = Cleaning([False, True, False, True], [0, 1, 1, 0])
    told = r"^true_labels: 2 of 4 values are -1, first at row 1, and -1 is not among the given labels; if it marks .*"
    refuses(InputError, told, cleaning_harm, found, given, true)
    refuses(InputError, told, estimate_transition, true, given)
    keep = true != -1
    assert cleaning_harm(found.take(keep), given[keep], true[keep]).overall.right == 2
    # As a class, it is counted: where it is said to be one, or where labels have it too.
    assert estimate_transition(true, given, classes=[-1, 0, 1]).counts[0].tolist() == [0, 1, 1]
    assert estimate_transition([-1, 1], [1, -1]).wrong == 2


# Harm per class ------------------------------------------------------------------------------------------------------


def test_by_hand_with_true_labels() -> None:
    # Rows:       0    1    2    3    4    5    6    7
    y = ["a", "a", "a", "a", "b", "b", "b", "c"]
    true = ["a", "a", "b", "a", "b", "b", "c", "c"]
    after = ["a", "b", "b", "a", "b", "a", "a", "c"]
    suspect = [False, True, True, False, False, True, True, False]
    harm = cleaning_harm(Cleaning(suspect, after), y, true)
    assert [one.after for one in harm.true] == [3 / 8, 3 / 8, 2 / 8]
    assert (harm.overall.suspected, harm.overall.right, harm.overall.false_alarms) == (4, 6, 2 / 6)
    assert (harm.overall.detected, harm.overall.corrected, harm.overall.after) == (1.0, 1 / 4, 1.0)
    # Losses 1/3, 1/2, 0: the rarest, c, loses nothing.
    assert harm.loss == {"a": 1 / 3, "b": 1 / 2, "c": 0.0}
    assert (harm.rarest, harm.ratio) == (("c",), 0.0)


def test_without_true_labels() -> None:
    harm = cleaning_harm(Cleaning([True, False, True]), ["x", "x", "y"], classes=["y", "z", "x"])
    assert harm.true == ()
    assert [one.of for one in harm.given] == ["y", "z", "x"]
    assert harm.overall.false_alarms is None
    nobody = harm.given[1]
    assert (nobody.instances, nobody.interval) == (0, None)
    assert math.isnan(nobody.share)
    assert math.isnan(harm.loss["z"])
    assert_close(harm.ratio, 1 / 0.75, ROUNDING)  # z has no label: it is no class that could lose
    frame = harm.to_frame()
    assert frame["class"].tolist() == ["y", "z", "x", None]
    assert frame["false_alarms"].isna().all()


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), k=st.integers(2, 5), relabels=st.booleans())
def test_against_a_loop(seed: int, k: int, relabels: bool) -> None:
    rng = np.random.default_rng(seed)
    n = 60
    y, true, after = rng.integers(0, k, (3, n))
    suspect = rng.random(n) < 0.4
    harm = cleaning_harm(Cleaning(suspect, after if relabels else None), y, true, classes=range(k))
    for by, member in (("given", y), ("true", true)):
        for line in getattr(harm, by):
            rows = [row for row in range(n) if member[row] == line.of]
            right = [row for row in rows if y[row] == true[row]]
            hit = [row for row in rows if suspect[row]]
            assert (line.instances, line.suspected, line.right) == (len(rows), len(hit), len(right))
            alarms = [row for row in right if suspect[row]]
            assert_close(line.false_alarms, len(alarms) / len(right) if right else np.nan, ROUNDING)
            fixed = sum(after[row] == true[row] for row in hit)
            assert_close(line.corrected, fixed / len(hit) if relabels and hit else np.nan, ROUNDING)
            if relabels:
                left = [after[row] if suspect[row] else y[row] for row in range(n)] if by == "given" else member
            else:
                left = [member[row] for row in range(n) if not suspect[row]]
            assert_close(line.after, sum(each == line.of for each in left) / len(left), ROUNDING)
    sums = harm.to_frame()
    assert sums.loc[sums["by"] == "given", "suspected"].sum() == suspect.sum()


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), known=st.booleans())
def test_p_values_are_those_of_fisher(seed: int, known: bool) -> None:
    rng = np.random.default_rng(seed)
    y = rng.choice(4, 80, p=[0.55, 0.25, 0.15, 0.05])
    true = np.where(rng.random(80) < 0.8, y, 0)
    suspect = rng.random(80) < 0.1 + 0.1 * y
    harm = cleaning_harm(Cleaning(suspect), y, true if known else None, classes=range(4))
    at_stake = y == true if known else np.ones(80, dtype=bool)
    for name, p_value in harm.p_values.items():
        own = y == name
        assert own.sum() < 80 / len(np.unique(y))
        table = [
            [(at_stake & own & suspect).sum(), (at_stake & own & ~suspect).sum()],
            [(at_stake & ~own & suspect).sum(), (at_stake & ~own & ~suspect).sum()],
        ]
        assert_close(p_value, fisher_exact(table, alternative="greater").pvalue, SOLVER)


FLAGS = Cleaning([True, False, False])


def test_refuses_of_harm() -> None:
    arguments_cases: Any = [
        (([True, False, False], [0, 1, 1]), {}, InputTypeError, r"^cleaning: expected a Cleaning, got list; wrap"),
        ((FLAGS, [0, 1]), {}, InputError, r"^y: expected 3 labels, those that were cleaned, got 2"),
        ((FLAGS, [0, 1, 1], [0, 1]), {}, InputError, r"^y and true_labels: .* got 3 and 2"),
        ((FLAGS, [0, 0, 0]), {}, NotEnoughData, r"^y: expected at least 2 classes, got only 0"),
        ((FLAGS, [0, 1, 1], ["a", "b", "b"]), {}, InputError, r"^true_labels: .* cannot be matched"),
        ((FLAGS, [0, 1, 1]), {"classes": [0, 2]}, InputError, r"^y: 2 of 3 values are not among the 2 classes"),
        ((Cleaning([True, False], [7, 7]), [0, 1]), {"classes": [0, 1]}, InputError, r"^cleaning.suggested: 1 of 2"),
    ]
    for arguments, options, error, message in arguments_cases:
        refuses(error, message, cleaning_harm, *arguments, **options)
