"""The level of chance: p-values, and the place of a score between chance and the best value."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele.core.errors import FragileScoreWarning
from demele.core.results import Chance
from tests.tolerances import ROUNDING, assert_close, assert_exact

NAN = math.nan


def test_half_way_between_chance_and_the_best_value() -> None:
    above = Chance((0.1, 0.3), 0.6).above()
    assert_close(above.value, 0.5, ROUNDING)
    # (1 - 0.6) / (1 - 0.2)^2 times the standard error of the mean of 0.1 and 0.3, which is 0.1
    assert_close(above.std_error, 0.0625, ROUNDING)
    assert above.reason == ""


def test_worse_than_chance_is_negative_and_a_score_of_which_0_is_best_counts_down() -> None:
    assert_close(Chance((0.4, 0.6), 0.25).above().value, -0.5, ROUNDING)
    down = Chance((4.0, 6.0), 1.0, higher_is_better=False, best=0.0).above()
    assert_close([down.value, down.std_error], [0.8, 1.0 / 25], ROUNDING)


def test_each_native_value_has_a_chance_level_of_its_own() -> None:
    chance = Chance((0.1, 0.3), 0.6, native=np.array([[0.0, 0.5, NAN], [0.0, 0.7, 0.2]]))
    above = chance.above(("a", "b", "c"), np.array([0.5, 0.8, 0.5]))
    assert_close(list(above.native.values()), [0.5, 0.5, NAN], ROUNDING)
    assert_close(list(above.native_std_error.values()), [0.0, 0.2 / 0.16 * 0.1, NAN], ROUNDING)


def test_a_score_below_its_chance_level_is_marked_wherever_it_is_shown() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (300, 3)).astype(float)
    codes = factors.sum(axis=1)[:, None] + rng.normal(size=(300, 4))  # every code mixes all factors alike
    with pytest.warns(FragileScoreWarning, match="worse than its chance level"):
        found = demele.evaluate(codes, factors, ["modularity", "sap"], n_permutations=20)
    worse = found["modularity"]
    assert worse.value < worse.chance.mean
    assert worse.fragile
    assert "below-chance" in {note.code for note in worse.notes}
    for shown in (repr(worse), found.to_latex(), found.to_markdown(), worse.sentence):
        assert "orse than" in shown
    better = demele.metrics.mig(factors, demele.Factors(factors, kinds="categorical"), n_permutations=20)
    assert not better.fragile
    assert "worse than" not in repr(better)


def test_of_a_score_of_which_0_is_best_chance_is_better_where_it_is_smaller() -> None:
    assert Chance((1.0, 1.0), 2.0, higher_is_better=False, best=0.0).beats_score
    assert not Chance((1.0, 1.0), 2.0).beats_score
    assert not Chance((NAN, NAN), 0.0).beats_score


@pytest.mark.parametrize(
    ("chance", "reason"),
    [
        (Chance((1.0, 1.0), 1.0), "chance alone gives the best value, 1"),
        (Chance((0.1,) * 8 + (NAN, NAN), 0.5), "2 of 10 permutations have no score"),
        (Chance((0.1,) * 8, 0.5, failed=2), "2 of 10 permutations have no score"),
        (Chance((0.1, 0.2), NAN), "the score is not defined"),
    ],
)
def test_where_there_is_none_the_reason_is_said(chance: Chance, reason: str) -> None:
    above = chance.above()
    assert math.isnan(above.value)
    assert math.isnan(above.std_error)
    assert above.reason == reason


def test_one_undefined_permutation_in_ten_is_left_out_and_counts_as_at_least_as_good() -> None:
    chance = Chance((0.1, 0.3) * 5 + (NAN,), 0.6)
    assert_close(chance.above().value, 0.5, ROUNDING)
    assert_close(chance.p_value, 2 / 12, ROUNDING)
    assert_close(Chance((0.1, 0.3) * 5, 0.6, failed=1).p_value, 2 / 12, ROUNDING)


def test_level_and_deviation_are_of_the_shuffles_with_a_score() -> None:
    for chance in (Chance((0.1, 0.3) * 5 + (NAN,), 0.6), Chance((0.1, 0.3) * 5, 0.6, failed=1)):
        assert_close([chance.mean, chance.std], [0.2, math.sqrt(10 * 0.01 / 9)], ROUNDING)
    assert_close(Chance((0.1, 0.3) * 5 + (NAN,), 0.25).p_value, (1 + 5 + 1) / 12, ROUNDING)


@pytest.mark.parametrize(
    "chance", [Chance((0.1,) * 8 + (NAN, NAN), 0.5), Chance((0.1,) * 8, 0.5, failed=2), Chance((), 0.5, failed=3)]
)
def test_over_a_tenth_without_a_score_leaves_no_level(chance: Chance) -> None:
    assert math.isnan(chance.mean)
    assert math.isnan(chance.std)
    assert math.isnan(chance.p_value)


def test_a_shuffle_without_a_score_leaves_a_level_and_is_told() -> None:
    codes = np.random.default_rng(0).random((300, 2))
    first = codes[0, 0]

    def odd(codes: NDArray[np.float64], factors: NDArray[np.float64]) -> float:
        """Return the correlation of the first columns; undefined for one shuffle in 30 or so."""
        same = abs(float(np.corrcoef(codes[:, 0], factors[:, 0])[0, 1]))
        return NAN if factors[0, 0] != first and np.argsort(factors[:, 0])[0] % 30 == 0 else same

    score = demele.evaluate(codes, codes, [odd], n_permutations=60).scores[0]
    without = int(np.isnan(score.chance.values).sum()) + score.chance.failed
    assert 0 < without <= 6
    assert 0 < score.chance.mean < 0.1
    (told,) = (note.message for note in score.notes if note.code == "undefined-shuffles")
    assert told.startswith(f"{without} of 60 shuffles ha")


def test_p_values() -> None:
    assert Chance((0.1, 0.2, 0.3), 0.2).p_value == 3 / 4
    assert Chance((0.1, 0.2, 0.3), 0.2, higher_is_better=False).p_value == 3 / 4
    assert Chance((0.1, 0.2, 0.3), 0.9).p_value == 1 / 4
    assert math.isnan(Chance((0.1, 0.2, 0.3), NAN).p_value)
    assert math.isnan(Chance((0.1, NAN, NAN), 0.9).p_value)


@pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
def test_an_evaluation_has_a_table_of_it() -> None:
    rng = np.random.default_rng(0)
    factors = np.column_stack([rng.random((300, 3)), np.ones(300)])
    codes = factors[:, :3] + 0.2 * rng.random((300, 3))
    with pytest.warns(demele.errors.UndefinedFactorWarning):
        found = demele.evaluate(codes, factors, ["mig", "mig_sup"], n_permutations=12)
    mig = found["mig"]
    expected = (mig.value - mig.chance.mean) / (1 - mig.chance.mean)
    table = found.above_chance()
    assert_close(table["above_chance"][0], expected, ROUNDING)
    assert_exact(table["p_value"], [1 / 13, 1 / 13])
    assert_exact(found.to_frame()["p_value"], [1 / 13, 1 / 13])
    native = list(mig.above_chance.native.values())
    assert math.isnan(native[3])
    assert abs(float(np.mean(native[:3])) - expected) < 0.01  # shares of rooms that differ a little
    assert demele.evaluate(codes, factors[:, :3], ["mig"])["mig"].above_chance is None
