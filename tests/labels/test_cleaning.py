"""Cleanings: what they are, and simulated ones whose rates are those asked for."""

import numpy as np
import pytest

from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.labels import Cleaning, simulated_cleaning
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


def test_names_stay_names() -> None:
    names = np.array(["ant", "bee", "hornet", "wasp"])
    found = simulated_cleaning(names[LABELS], names[TRUE], detected=1, false_alarms=0, corrected=1)
    assert found.suggested is not None
    assert (found.suggested == names[TRUE]).all()


def test_refuses() -> None:
    for name in ("detected", "false_alarms", "corrected"):
        rates = {"detected": 0.5, "false_alarms": 0.1, "corrected": 0.5}
        for odd in (-0.1, 1.1, True, "half", float("nan")):
            with pytest.raises(InputError, match=rf"^{name}: expected a probability in \[0, 1\]"):
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
    assert repr(found).startswith("Cleaning(n=2, suspects=1, relabels=True, digest='")
    with pytest.raises(InputTypeError, match=r"suspect: expected one flag .* of type int64; from row numbers"):
        Cleaning([3, 7])
    with pytest.raises(InputError, match=r"suggested: expected 2 labels, one per flag of suspect, got 1"):
        Cleaning([True, False], ["a"])
    assert Cleaning([True, False]).suggested is None
