"""Harm per class: counted by hand, by a loop, and the promise that a note about harm is rarely wrong."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.labels import Cleaning, clean, cleaning_harm, simulated_cleaning
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_rate_at_most


def codes(harm: Any) -> list[str]:
    return [note.code for note in harm.notes]


def test_by_hand_with_true_labels() -> None:
    # Rows:       0    1    2    3    4    5    6    7
    y = ["a", "a", "a", "a", "b", "b", "b", "c"]
    true = ["a", "a", "b", "a", "b", "b", "c", "c"]
    after = ["a", "b", "b", "a", "b", "a", "a", "c"]
    suspect = [False, True, True, False, False, True, True, False]
    harm = cleaning_harm(Cleaning(suspect, after), y, true)
    a, b, c = harm.given
    assert (a.instances, a.suspected, a.right, a.wrong) == (4, 2, 3, 1)
    assert (a.share, a.false_alarms, a.detected, a.corrected) == (0.5, 1 / 3, 1.0, 0.5)
    assert (b.instances, b.suspected, b.right, b.wrong) == (3, 2, 2, 1)
    assert (b.false_alarms, b.detected, b.corrected) == (0.5, 1.0, 0.0)
    assert (c.suspected, c.false_alarms) == (0, 0.0)
    assert c.detected is not None
    assert c.corrected is not None
    assert math.isnan(c.detected)  # no wrong label
    assert math.isnan(c.corrected)  # no suspect
    # Labels after: a, b, b, a, b, a, a, c.
    assert [one.before for one in harm.given] == [4 / 8, 3 / 8, 1 / 8]
    assert [one.after for one in harm.given] == [4 / 8, 3 / 8, 1 / 8]
    # By true class: a is rows 0, 1, 3; b is 2, 4, 5; c is 6, 7.
    assert [(one.of, one.instances, one.suspected, one.right) for one in harm.true] == [
        ("a", 3, 1, 3),
        ("b", 3, 2, 2),
        ("c", 2, 1, 1),
    ]
    assert [one.after for one in harm.true] == [3 / 8, 3 / 8, 2 / 8]
    assert (harm.overall.suspected, harm.overall.right, harm.overall.false_alarms) == (4, 6, 2 / 6)
    assert (harm.overall.detected, harm.overall.corrected, harm.overall.after) == (1.0, 1 / 4, 1.0)
    # Losses 1/3, 1/2, 0: the rarest, c, loses nothing.
    assert harm.loss == {"a": 1 / 3, "b": 1 / 2, "c": 0.0}
    assert (harm.rarest, harm.ratio) == (("c",), 0.0)


def test_by_hand_when_suspects_are_dropped() -> None:
    harm = cleaning_harm(Cleaning([True, False, False, False, True]), [0, 0, 0, 0, 1], [0, 0, 0, 1, 1])
    zero, one = harm.given
    assert (zero.after, one.after) == (1.0, 0.0)
    assert [line.after for line in harm.true] == [2 / 3, 1 / 3]
    assert one.corrected is not None
    assert math.isnan(one.corrected)
    assert harm.relabels is False
    # Losses 1/3 (of three right ones) and 1: the rarest loses 1 / (2/3).
    assert_close(harm.ratio, 1.5, ROUNDING)
    assert "lost-classes" in codes(harm)


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


def test_a_fair_cleaning_is_rarely_called_harmful() -> None:
    y = np.repeat(np.arange(5), [400, 300, 100, 60, 40])
    said = 0
    for seed in range(400):
        found = simulated_cleaning(y, y, detected=0, false_alarms=0.2, seed=seed)
        said += "minority-harm" in codes(cleaning_harm(found, y, y, level=0.9))
    assert_rate_at_most(said, 400, 0.1)
    assert said > 0  # exact tests are cautious, but not asleep


def test_neighbours_wipe_out_a_minority() -> None:
    # Ten of a rare class lie scattered among the common ones: every one of them is right, and every one is suspected.
    rng = np.random.default_rng(0)
    features = rng.normal(size=(410, 2))
    features[200:400] += 6
    y = np.repeat(["left", "right", "rare"], [200, 200, 10])
    features[400:] = rng.normal(size=(10, 2)) + np.where(rng.random((10, 1)) < 0.5, 0, 6)
    found = clean(y, features, method="knn")
    harm = cleaning_harm(found, y, y)
    rare = next(one for one in harm.given if one.of == "rare")
    assert rare.false_alarms == 1.0
    assert rare.after == 0.0
    assert harm.rarest == ("rare",)
    assert harm.ratio > 2.9
    note = next(note for note in harm.notes if note.code == "minority-harm")
    assert note.subject == ("rare",)
    assert "100.0% of its correct labels are suspected" in note.message
    assert "lost-classes" in codes(harm)
    assert harm.sentences[-1] == "Significantly more correct labels than others lose: rare."
    assert harm.document().tone == "bad"
    # Without the true labels, the same numbers could mean that the rare labels are bad: the note says so.
    blind = next(note for note in cleaning_harm(found, y).notes if note.code == "minority-harm")
    assert "may also be worse" in blind.message


def test_a_class_that_is_really_noisier_is_not_called_harmed() -> None:
    rng = np.random.default_rng(1)
    true = np.repeat([0, 1], [900, 100])
    y = np.where((true == 0) & (rng.random(1000) < 0.1), 1, true)  # half of the rare labels are wrong
    found = simulated_cleaning(y, true, detected=0.9, false_alarms=0.05, seed=1)
    assert "minority-harm" in codes(cleaning_harm(found, y))
    assert "minority-harm" not in codes(cleaning_harm(found, y, true))


def test_intervals_are_wilsons() -> None:
    harm = cleaning_harm(Cleaning([True] * 8 + [False] * 2 + [False]), [0] * 10 + [1], level=0.95)
    interval = harm.given[0].interval
    assert interval is not None
    assert (round(interval.low, 2), round(interval.high, 2)) == (0.49, 0.94)


FLAGS = Cleaning([True, False, False])


def test_refuses() -> None:
    arguments_cases: Any = [
        (([True, False, False], [0, 1, 1]), {}, InputTypeError, r"^cleaning: expected a Cleaning, got list; wrap"),
        ((FLAGS, [0, 1]), {}, InputError, r"^y: expected 3 labels, those that were cleaned, got 2"),
        ((FLAGS, [0, 1, 1], [0, 1]), {}, InputError, r"^y and true_labels: .* got 3 and 2"),
        ((FLAGS, [0, 0, 0]), {}, NotEnoughData, r"^y: expected at least 2 classes, got only 0"),
        ((FLAGS, [0, 1, 1], ["a", "b", "b"]), {}, InputError, r"^true_labels: .* cannot be matched"),
        ((FLAGS, [0, 1, 1]), {"classes": [0, 2]}, InputError, r"^y: 2 of 3 values are not among the 2 classes"),
        ((FLAGS, [0, 1, 1]), {"level": 95}, InputError, r"^level: expected a number between 0 and 1"),
        ((Cleaning([True, False], [7, 7]), [0, 1]), {"classes": [0, 1]}, InputError, r"^cleaning.suggested: 1 of 2"),
    ]
    for arguments, options, error, message in arguments_cases:
        with pytest.raises(error, match=message):
            cleaning_harm(*arguments, **options)


def test_everything_suspected() -> None:
    harm = cleaning_harm(Cleaning([True, True, True]), ["a", "a", "b"])
    assert math.isnan(harm.given[0].after)
    assert json.loads(harm.to_json())["given"][0]["after"] is None
    assert codes(harm) == ["lost-classes"]
