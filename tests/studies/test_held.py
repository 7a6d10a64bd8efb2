"""What codes hold: informations, verdicts, divergences, codes that equal others."""

import math

import numpy as np
import pandas as pd
import pytest

from demele.studies.held import chance_shares, code_facts, divergences, factor_facts, shares_of_entropy, twin_notes
from tests.tolerances import PUBLISHED, ROUNDING, assert_close


def test_a_code_that_is_a_factor_tells_it_whole_and_one_of_noise_nothing() -> None:
    levels = np.repeat(np.arange(4), 250)
    factors = pd.DataFrame({"v": pd.Categorical(levels), "half": pd.Categorical(levels // 2)})
    noise = np.random.default_rng(0).random(1000)
    codes = pd.DataFrame({"a": levels.astype(float), "b": levels // 2 * 1.0, "c": noise})
    shares = shares_of_entropy(codes, factors).to_numpy()
    # b tells one of the two bits of v; Miller-Madow: minus (20 bins of which 4, 2 are used; 4 values) / 2n.
    assert_close(shares[1, 0], (np.log(2) - 3 * 1 / 2000) / (np.log(4) + 3 / 2000), PUBLISHED)
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


def test_divergences_are_means_over_images() -> None:
    assert_close(divergences(np.array([[0.0], [2.0]]), np.ones((2, 1))), [1.0], ROUNDING)


def test_which_codes_are_in_use() -> None:
    n = 400
    wide = np.linspace(-1, 1, n)
    codes = pd.DataFrame({"used": wide, "still": 0.01 * wide, "prior": 0.1 * wide})
    std = pd.DataFrame({"used": np.full(n, 0.1), "still": np.full(n, 0.1), "prior": np.full(n, 1.0)})
    found = code_facts(codes, std, None)
    assert found["active"].tolist() == [True, False, False]
    assert found["best_factor"].tolist() == ["", "", ""]
    assert code_facts(codes, None, None)["active"].tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("column", "verdict", "words"),
    [
        ([0.8, 0.4], "one code", "v is held by z1: it tells 80% of it, the next 40%"),
        ([0.8, 0.41], "several codes", "v is shared by z1 and z2: the best of them, z1, tells 80%"),
        ([0.1, 0.0], "no code", "v is lost: no code tells more than 10% of it"),
        ([np.nan, np.nan], "no code", "v is lost: no code tells anything of it"),
    ],
)
def test_verdicts_on_factors(column: list[float], verdict: str, words: str) -> None:
    found = factor_facts(pd.DataFrame({"v": column}, index=["z1", "z2"]))
    assert [*found["verdict"], *found["words"]] == [verdict, words]


def test_what_chance_tells_is_no_holding() -> None:
    shares = pd.DataFrame({"v": [0.2, 0.0], "w": [0.0, 0.2]}, index=["z1", "z2"])
    found = factor_facts(shares, np.array([0.3, 0.1]))
    assert found["verdict"].tolist() == ["no code", "one code"]
    assert found["words"].iloc[0] == "v is lost: no code tells more than 20% of it, as chance does (30%)"


def test_a_code_that_holds_several_factors_is_no_code_of_their_own() -> None:
    shares = pd.DataFrame({"hue": [0.9, 0.1], "size": [0.8, 0.0], "x": [0.0, 0.7]}, index=["z1", "z2"])
    found = factor_facts(shares)
    assert found["verdict"].tolist() == ["mixed code", "mixed code", "one code"]
    words = "hue is held by z1, which tells of size as well: it tells 90% of it, the next code 10%"
    assert found["words"].iloc[0] == words
    limit = pd.DataFrame({"hue": [0.8], "size": [0.4]}, index=["z1"])  # half as much is not more than half
    assert factor_facts(limit)["verdict"].tolist() == ["one code", "mixed code"]


def test_codes_that_are_not_in_use_hold_nothing() -> None:
    shares = pd.DataFrame({"v": [0.3, 0.9], "w": [0.6, 0.5]}, index=["z1", "z2"])
    found = factor_facts(shares, active=np.array([True, False]))
    assert found["code"].tolist() == ["z1", "z1"]
    assert_close(found["information"], [0.3, 0.6], ROUNDING)
    assert_close(found["second"], [0.0, 0.0], ROUNDING)
    nothing = factor_facts(shares, active=np.zeros(2, dtype=bool))
    assert nothing["verdict"].tolist() == ["no code", "no code"]
    assert nothing["code"].tolist() == ["", ""]
    assert nothing["words"].iloc[1] == "w is lost: no code is in use"


def test_chance_is_small_for_many_rows_and_large_for_few() -> None:
    rng = np.random.default_rng(0)
    codes, factors = pd.DataFrame({"z": rng.random(3000)}), pd.DataFrame({"v": rng.random(3000)})
    many, few = chance_shares(codes, factors), chance_shares(codes[:40], factors[:40])
    assert many[0] < 0.02 < 0.05 < few[0]


def test_equal_codes_are_told_whatever_their_sign_and_scale() -> None:
    one, other = np.random.default_rng(1).normal(size=(2, 500))
    codes = pd.DataFrame({"a": one, "b": 3 - 2 * one, "c": other, "d": one + 0.01 * other, "e": 0.0})
    assert [note.subject for note in twin_notes(codes)] == [("a", "b")]
