"""Differences between ways to prune: paired by seed, worked out by hand and held against SciPy and statsmodels."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from demele import lab
from demele.core.errors import InputError
from demele.report.document import Pill
from demele.studies.pruning.configurations import CLAIMS, Claim, PruningConfiguration, differences, seeds_needed
from tests.refusals import refuses

CLAIM = Claim(name="a-b", title="a minus b", says="a is worse", expected="more", pairs=(("a1", "b1"), ("a2", "b2")))


def frame_of(table: dict[str, dict[str, list[float]]]) -> pd.DataFrame:
    """Turn noise -> configuration -> errors by seed into rows of fabrics."""
    rows = [
        (noise, name, seed, value)
        for noise, own in table.items()
        for name, values in own.items()
        for seed, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["noise", "configuration", "seed", "error"])


def test_a_difference_is_the_mean_over_pairs_of_configurations_of_each_seed() -> None:
    table = {"none": {"a1": [0.30, 0.20, 0.25], "b1": [0.10, 0.10, 0.10], "a2": [0.2, 0.2, 0.3], "b2": [0.2, 0.1, 0.3]}}
    (found,) = differences(frame_of(table), [CLAIM])
    by_seed = np.array([(0.2 + 0.0) / 2, (0.1 + 0.1) / 2, (0.15 + 0.0) / 2])
    test = stats.ttest_1samp(by_seed, 0.0)
    assert (found.seeds, found.pairs, found.noise) == (3, 2, "none")
    assert found.mean == pytest.approx(by_seed.mean())
    assert found.spread == pytest.approx(by_seed.std(ddof=1))
    assert (found.low, found.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert found.p_value == pytest.approx(test.pvalue)
    assert (found.first_lower, found.second_lower, found.ties) == (0, 4, 2)
    assert found.verdict == "more"
    assert found.significant


def test_all_noises_together_are_averaged_within_seeds_which_are_the_units() -> None:
    table = {
        "none": {"a1": [0.2, 0.4], "b1": [0.1, 0.1]},
        "uniform 20%": {"a1": [0.6, 0.6], "b1": [0.5, 0.3]},
    }
    found = {one.noise: one for one in differences(frame_of(table), [CLAIM])}
    assert set(found) == {"none", "uniform 20%", "all"}
    assert found["all"].seeds == 2
    assert found["all"].mean == pytest.approx((0.1 + 0.3 + 0.1 + 0.3) / 4)
    assert found["all"].spread == pytest.approx(np.std([0.1, 0.3], ddof=1))
    assert found["all"].second_lower == 4


def test_what_noise_adds_is_paired_too() -> None:
    claim = Claim(name="n", title="", says="", expected="less", pairs=(("a1", "b1"),), baseline="none")
    table = {
        "none": {"a1": [0.2, 0.4, 0.3], "b1": [0.1, 0.1, 0.1]},
        "uniform 20%": {"a1": [0.6, 0.6, 0.5], "b1": [0.5, 0.4, 0.5]},
    }
    (found,) = differences(frame_of(table), [claim])
    assert found.noise == "uniform 20%"
    assert found.mean == pytest.approx(np.mean([0.1 - 0.1, 0.2 - 0.3, 0.0 - 0.2]))
    assert not differences(frame_of({"uniform 20%": table["uniform 20%"]}), [claim])


def test_seeds_that_lack_a_fabric_and_pairs_that_were_not_asked_for_are_left_out() -> None:
    table = {"none": {"a1": [0.2, math.nan, 0.4], "b1": [0.1, 0.1, 0.1]}}
    (found,) = differences(frame_of(table), [CLAIM])
    assert (found.seeds, found.pairs) == (2, 1)
    assert found.mean == pytest.approx(0.2)
    assert differences(frame_of({"none": {"c": [0.1]}}), [CLAIM]) == ()


def test_one_seed_says_nothing_of_a_spread() -> None:
    table = {"none": {"a1": [0.2], "b1": [0.1]}}
    (found,) = differences(frame_of(table), [CLAIM])
    assert found.mean == pytest.approx(0.1)
    assert math.isnan(found.low)
    assert math.isnan(found.p_value)
    assert (found.verdict, found.significant, found.seeds_needed) == ("inconclusive", False, None)


def test_holm_holds_the_error_over_all_differences() -> None:
    rng = np.random.default_rng(3)
    claims = [Claim(name=f"{i}", title="", says="", expected="", pairs=((f"a{i}", f"b{i}"),)) for i in range(8)]
    any_found = alone = 0
    draws = 150
    for _ in range(draws):
        table = {"none": {f"{letter}{i}": list(rng.normal(size=5)) for letter in "ab" for i in range(8)}}
        found = differences(frame_of(table), claims)
        any_found += any(one.significant for one in found)
        alone += sum(one.verdict != "inconclusive" for one in found)
    assert any_found / draws <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / draws)
    assert abs(alone / draws / 8 - 0.05) <= 3 * math.sqrt(0.05 * 0.95 / draws / 8)


@pytest.mark.parametrize("effect", [0.3, 0.5, 0.8, 1.0, 2.0, 5.0])
def test_the_number_of_seeds_is_that_of_statsmodels(effect: float) -> None:
    from statsmodels.stats.power import TTestPower

    found = seeds_needed(effect, 1.0)
    power = [TTestPower().power(effect, n, 0.05, alternative="two-sided") for n in range(2, 120)]
    assert found == 2 + next(place for place, one in enumerate(power) if one >= 0.8)
    assert found == seeds_needed(-2 * effect, 2.0)


def test_seeds_needed_where_there_is_no_answer() -> None:
    assert seeds_needed(0.0, 1.0) is None
    assert seeds_needed(math.nan, 1.0) is None
    assert seeds_needed(1.0, 0.0) == 2
    assert seeds_needed(0.0, 0.0) is None


@pytest.mark.parametrize(
    "wrong", [{"level": "channels"}, {"fraction": 1.5}, {"fraction": 0.0}, {"fraction": math.nan}, {"strategy": "soon"}]
)
def test_a_way_that_is_none(wrong: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"strategy": "late", "criterion": "magnitude", "fraction": 0.5}
    refuses(InputError, next(iter(wrong)), PruningConfiguration, **{**usual, **wrong})


# The document ---------------------------------------------------------------------------------------------------------


def test_the_headline_counts_claims_after_correction() -> None:
    study = lab.pruning_demo()
    found = study.document()
    assert found.headline == (
        "Of 11 published claims about pruning, 2 are confirmed, 0 contradicted and 9 inconclusive after Holm "
        "correction."
    )
    assert study.sentences[1] == (
        "Confirmed: the error of \u201chalf of the links\u201d is larger than that of \u201cwhole\u201d and the "
        "training cost of \u201cearly\u201d is smaller than that of \u201clate\u201d."
    )
    expected = {claim.title: claim.expected for claim in CLAIMS if claim.expected}
    overall = {one.claim: one for one in study.differences() if one.noise == "all"}
    titles = {claim.title: claim.name for claim in CLAIMS}
    for title, pill, sign, mean, span, p, _ in found.table.rows:
        own = overall[titles[str(title)]]
        assert (mean, span, p) == (own.mean, (own.low, own.high), own.p_value)
        assert sign == {"more": "> 0", "equal": "= 0", "less": "< 0"}[expected[str(title)]]
        assert isinstance(pill, Pill)
        assert (pill.text == "inconclusive") == (not own.significant)
    assert [section.title for section in found.sections] == [
        "Ranking", "Pairwise results", "Label errors", "Published results", "Models", "Structure", "Data",
    ]  # fmt: skip
