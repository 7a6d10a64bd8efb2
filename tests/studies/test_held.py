"""What codes hold: informations, verdicts, divergences, codes that equal others."""

import math

import numpy as np
import pandas as pd

import demele
from demele.studies.examine import code_facts, divergences, shares_of_entropy, twin_notes, verdict_on
from tests.tolerances import PUBLISHED, assert_close


def test_a_code_that_is_a_factor_tells_it_whole_and_one_of_noise_nothing() -> None:
    levels = np.repeat(np.arange(4), 250)
    factors = pd.DataFrame({"v": pd.Categorical(levels), "half": pd.Categorical(levels // 2)})
    noise = np.random.default_rng(0).random(1000)
    codes = pd.DataFrame({"a": levels.astype(float), "b": levels // 2 * 1.0, "c": noise})
    shares = shares_of_entropy(codes, factors).to_numpy()
    # b tells one of the two bits of v; Miller-Madow: minus (4 cells - 2 - 4 + 1) / 2n.
    assert_close(shares[1, 0], (np.log(2) + 1 / 2000) / (np.log(4) + 3 / 2000), PUBLISHED)
    assert shares[0, 0] > 0.99
    assert shares[0, 1] > 0.99
    assert shares[2, 0] < 0.02


def test_divergences_of_gaussians() -> None:
    mean, variance = np.array([[1.0, 0.0, 0.0, 2.0, 0.0]]), np.array([[1.0, math.e, 0.25, 0.25, 1.0]])
    assert_close(
        divergences(mean, np.sqrt(variance)),
        [0.5, (math.e - 2) / 2, 0.3181471806, 2.3181471806, 0.0],
        {"rtol": 1e-9, "atol": 1e-9},
    )


def test_which_codes_are_in_use() -> None:
    n = 400
    wide = np.linspace(-1, 1, n)
    codes = pd.DataFrame({"used": wide, "still": 0.01 * wide, "prior": 0.1 * wide})
    std = pd.DataFrame({"used": np.full(n, 0.1), "still": np.full(n, 0.1), "prior": np.full(n, 1.0)})
    found = code_facts(codes, std, None)
    assert found["active"].tolist() == [True, False, False]
    assert found["best_factor"].tolist() == ["", "", ""]
    assert code_facts(codes, None, None)["active"].tolist() == [True, False, True]


def test_verdicts_are_those_of_an_evaluation() -> None:
    rng = np.random.default_rng(4)
    factors = pd.DataFrame(rng.random((1000, 3)), columns=["x", "y", "lost"])
    codes = pd.DataFrame({"z1": factors["x"] + factors["y"], "z2": factors["x"] - factors["y"], "z3": 0.0})
    found = verdict_on(codes, factors)
    told = demele.evaluate(codes, factors, ["mig"]).verdict
    assert [row.status for row in found.factors] == ["several codes", "several codes", "no code"]
    assert list(map(repr, found.factors)) == list(map(repr, told.factors))  # as texts: NaN is NaN


def test_codes_that_are_not_in_use_hold_nothing() -> None:
    rng = np.random.default_rng(5)
    factors = pd.DataFrame(rng.random((500, 2)), columns=["v", "w"])
    codes = factors.rename(columns={"v": "z1", "w": "z2"})
    found = verdict_on(codes, factors, active=np.array([True, False]))
    assert [(row.status, row.codes) for row in found.factors] == [("one code", ("z1",)), ("no code", ())]
    nothing = verdict_on(codes, factors, active=np.zeros(2, dtype=bool))
    assert [row.status for row in nothing.factors] == ["no code", "no code"]
    assert nothing.factors[1].words == "w is lost: no code is active"


def test_equal_codes_are_told_whatever_their_sign_and_scale() -> None:
    one, other = np.random.default_rng(1).normal(size=(2, 500))
    codes = pd.DataFrame({"a": one, "b": 3 - 2 * one, "c": other, "d": one + 0.01 * other, "e": 0.0})
    assert [note.subject for note in twin_notes(codes)] == [("a", "b")]
