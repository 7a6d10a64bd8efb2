"""Verdicts in words: right on representations whose truth is known, silent where rows are too few."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import hadamard

import demele
from benchmarks.verdicts import WORLDS, judged
from demele.core.inputs import read_pair
from demele.core.verdict import RepresentationVerdict
from demele.metrics.data import Data
from demele.metrics.source import Subject
from demele.metrics.verdict import is_echo, joint_label, order_within, told_share, verdict_of
from tests.tolerances import ROUNDING, assert_close

MAIN = ("identity", "permuted", "copied", "mixed", "rotated", "lost", "dead", "noise", "bent")


def test_a_verdict_is_right_where_the_truth_is_known() -> None:
    for kind in tuple(WORLDS):
        for seed in range(2):
            _, wrong, undecided = judged(WORLDS[kind](np.random.default_rng([seed, 77]), 2000))
            assert not wrong
            assert not undecided


def test_of_few_rows_nothing_is_said() -> None:
    for kind in MAIN:
        found, _, _ = judged(WORLDS[kind](np.random.default_rng(3), 50))
        assert {row.status for row in found.factors} == {"inconclusive"}
        assert {code.status for code in found.codes} <= {"inconclusive", "dead"}
        assert found.sentence.startswith("50 rows are too few to decide which code holds which factor")


def verdict_on(codes: object, factors: object, **options: Any) -> RepresentationVerdict:
    subject = Subject.of(*read_pair(codes, factors, **options))
    return verdict_of(Data(subject.codes, subject.varying), subject.factors.names)


@pytest.mark.parametrize("n", [300, 1200])
def test_cosine_and_sine_of_few_rows_are_parts(n: int) -> None:
    for seed in range(5):
        angle = np.random.default_rng([seed, n]).random(n)
        codes = np.column_stack([np.cos(2 * np.pi * angle), np.sin(2 * np.pi * angle)])
        (found,) = verdict_on(codes, pd.DataFrame({"angle": angle})).factors
        assert (found.status, found.sharing) == ("several codes", "parts")
        assert found.together > found.share


def test_units_tails_and_monotone_changes_of_codes_change_no_bit() -> None:
    world = WORLDS["mixed"](np.random.default_rng(5), 1000)
    before, after = (verdict_on(codes, world.factors) for codes in (world.codes, np.exp(3 * world.codes) - 7))
    assert before.to_dict() == after.to_dict()


def test_a_verdict_stands_first_in_an_evaluation_and_in_its_json() -> None:
    rng = np.random.default_rng(0)
    factors = pd.DataFrame({"size": rng.random(600), "hue": rng.integers(0, 3, 600), "same": 1})
    codes = pd.DataFrame({"a": -factors["size"], "b": factors["hue"] + 0.1 * rng.normal(size=600), "c": 0.0})
    with pytest.warns(demele.errors.UndefinedFactorWarning):
        evaluation = demele.evaluate(codes, factors, ["mig", "dci_forest_modularity"])
    found = evaluation.verdict
    assert [row.status for row in found.factors] == ["one code", "one code", "constant"]
    assert [code.status for code in found.codes] == ["one factor", "one factor", "dead"]
    assert found.sentences[:2] == ("2 of 2 factors have a code of their own.", "Of 3 codes 1 is constant (c).")
    assert found.sentence == evaluation.sentence
    assert found.first_look.startswith(
        f"Look first at dci_forest_modularity {evaluation['dci_forest_modularity'].value:.3f}"
    )
    assert evaluation.to_dict()["verdict"]["factors"][0]["codes"] == ["a"]
    frame = found.to_frame()
    assert frame["unit"].tolist() == ["factor"] * 3 + ["code"] * 3
    assert str(frame.loc[1, "words"]).startswith("hue: one code; b alone explains ")


def nearly_half(seed: int, n: int) -> tuple[Any, Any]:
    """A code of a factor, another one that tells a little more than half as much of it, and a factor of its own."""
    rng = np.random.default_rng(seed)
    factors = rng.random((n, 2))
    noise = rng.normal(size=(n, 2)) * [0.1, 0.205]
    return np.column_stack([factors[:, :1] + noise, factors[:, 1]]), factors


def test_what_5000_rows_leave_undecided_is_judged_on_as_many_as_decide() -> None:
    for seed in range(2):
        few, many = (verdict_on(*nearly_half(seed, n)) for n in (5000, 200_000))
        undecided = few.factors[0]
        assert undecided.status == "inconclusive"
        assert undecided.rows_needed > 5000
        assert (
            f"inconclusive, about {undecided.rows_needed:,} rows would decide; z1 alone explains {undecided.share:.0%}"
            in undecided.words
        )
        assert many.factors[0].status == "several codes"
        assert many.n > 5000
        assert many.factors[0].n == many.n
    plain = WORLDS["identity"](np.random.default_rng(0), 20_000)
    assert verdict_on(plain.codes, plain.factors).n == 5000  # where these decide, no more are looked at


def test_of_too_few_rows_a_verdict_says_how_many_would_do() -> None:
    noise = np.random.default_rng(0).random((120, 5))
    found = verdict_on(noise[:, :2], noise[:, 2:])
    rows = [row for row in found.factors if row.status == "inconclusive"]
    assert rows
    for row in rows:
        assert row.rows_needed > 120
        assert f"about {row.rows_needed:,} rows would decide" in row.words
    more = np.random.default_rng(1).random((400, 5))
    assert {row.status for row in verdict_on(more[:, :2], more[:, 2:]).factors} == {"no code"}
    classes = np.arange(110) % 40
    (row,) = verdict_on(np.random.default_rng(2).random((110, 1)), pd.DataFrame({"v": classes.astype(str)})).factors
    assert row.rows_needed == 200


def weak(n: int, noise: float, seed: int = 0) -> tuple[Any, Any]:
    """A code of a factor and noise, a code of another one, and a factor of which no code knows."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, 3))
    return np.column_stack([factors[:, 0] + noise * rng.normal(size=n), factors[:, 1]]), factors


@pytest.mark.parametrize(("noise", "status"), [(0.5, "one code"), (3.0, "weak"), (4.0, "weak")])
def test_a_tenth_of_the_entropy_divides_what_is_held_from_what_is_weak(noise: float, status: str) -> None:
    found = verdict_on(*weak(5000, noise))
    assert [row.status for row in found.factors] == [status, "one code", "no code"]
    share, held = found.factors[0].share, status != "weak"
    assert (share >= 0.1) == held
    assert found.codes[0].status == ("one factor" if held else "weak")
    assert ("1 is only weakly in the codes; 1 is lost" in found.sentence) != held
    assert ("1 is weak (z1)" in " ".join(found.sentences)) != held
    assert found.to_dict()["factors"][0]["status"] == status


def test_many_codes_that_tell_a_little_each_hold_a_factor_together() -> None:
    factors = np.random.default_rng(0).normal(size=(3000, 8))
    turned = factors @ hadamard(8) / np.sqrt(8)
    for row in verdict_on(turned, factors).factors:
        assert (row.status, row.sharing) == ("several codes", "spread")
        assert row.share < 0.1 < row.together
    alone = verdict_on(factors.sum(axis=1, keepdims=True), factors)
    assert {row.status for row in alone.factors} == {"weak"}
    assert alone.codes[0].status == "weak"


# The numbers behind, by hand ------------------------------------------------------------------------------------------


def test_what_two_codes_add_to_each_other() -> None:
    a, b = np.tile([0, 1], 200), np.repeat([0, 1], 200)
    both = 2 * a + b  # each tells one of two bits; Miller-Madow: cells - rows - columns + 1
    assert_close(told_share(a, both), (np.log(2) - (4 - 2 - 4 + 1) / 800) / np.log(4), ROUNDING)
    assert_close(told_share(joint_label(a, b), both), 1.0, ROUNDING)
    assert told_share(a, a) == 1.0


def test_an_echo_is_told_from_a_mixture() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 5, 3000)
    b = np.where(rng.random(3000) < 0.6, a, rng.integers(0, 5, 3000))
    order = order_within(a, np.random.default_rng(1))
    assert (a[order] == a).all()
    assert sorted(order) == list(range(3000))
    assert is_echo(a, b, a, a, order)
    assert not is_echo((a + b) // 2, b, a, a, order)
