"""Errors of judges: equal to statsmodels and to the exact binomial test; odd input is refused."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.api import WLS, add_constant
from statsmodels.stats.multitest import multipletests

from demele.classifiers import NamedEstimates, RowScores, judge_errors, position_bias
from demele.core.proportions import adjusted
from demele.errors import InputError, NotEnoughData
from demele.labels import Audit
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close


def _regressed(given: Any, true: Any, covariates: dict[str, Any], inclusion: Any = None) -> NamedEstimates:
    """Regress the errors of rows of which all were audited, among others that were not."""
    k = len(given)
    rows = np.arange(2 * k)[::-2]  # every second row, from the last
    scores, columns = np.full(2 * k, 0.5), {name: np.repeat(values, 2)[::-1] for name, values in covariates.items()}
    scores[rows] = given
    return judge_errors(
        RowScores(scores),
        Audit(rows, true, design="weighted" if inclusion is not None else "uniform", probabilities=inclusion),
        columns,
    )


def test_p_values_are_adjusted_as_statsmodels_does() -> None:
    rng = np.random.default_rng(1)
    for size in (1, 2, 17):
        p = np.round(rng.random(size) ** 2, 2)
        for ours, theirs in (("holm", "holm"), ("bh", "fdr_bh")):
            assert_close(adjusted(p, ours), multipletests(p, method=theirs)[1], ROUNDING)  # type: ignore[arg-type]
    assert adjusted(np.array([0.01, np.nan])).tolist() == [0.02, 1.0]


@pytest.mark.parametrize("weighted", [False, True])
def test_coefficients_and_standard_errors_are_those_of_statsmodels(weighted: bool) -> None:
    rng, k = np.random.default_rng(2), 90
    length, family = rng.gamma(2, 100, k), np.array(["own", "other", "third"])[rng.integers(3, size=k)]
    given, true = rng.random(k), (rng.random(k) < 0.6).astype(float)
    chances = rng.uniform(0.1, 1, k) if weighted else np.ones(k)
    found = _regressed(given, true, {"length": length, "family": family}, chances if weighted else None)
    dummies = [family == "own", family == "third"]  # the first of the sorted names is the reference
    x = np.column_stack([length, *dummies]).astype(float)
    design = add_constant((x - x.mean(axis=0)) / x.std(axis=0))
    fitted = WLS(given - true, design, weights=1 / chances).fit(cov_type="HC3")
    tight = {"rtol": 1e-10, "atol": 1e-10}
    assert [row.name for row in found.rows] == ["mean error", "length", "family_own", "family_third"]
    assert_close([row.value for row in found.rows], fitted.params, tight)
    assert_close([row.p_value for row in found.rows], fitted.pvalues, tight)
    ends = [[row.interval.low, row.interval.high] for row in found.rows if row.interval]
    assert_close(ends, fitted.conf_int(), tight)
    assert ("weighted" in {note.code for note in found.notes}) is weighted


def test_a_covariate_that_others_determine_is_named() -> None:
    x = np.arange(20.0)
    assert {note.code for note in _regressed(x[:8] % 2, x[:8] % 3 % 2, {"length": x[:8]}).notes} == {"few-rows"}
    for extra in (2 * x + 1, np.ones(20)):
        refuses(InputError, r"'twice'.*leave it out", _regressed, x % 2, x % 3 % 2, {"length": x, "twice": extra})
    with pytest.raises(NotEnoughData, match="row 3 alone"):
        _regressed(x % 2, x % 3 % 2, {"family": ["own" if row == 3 else "other" for row in range(20)]})
    refuses(NotEnoughData, "more audited rows than 2 coefficients", _regressed, [0, 1], [1, 1], {"length": [1, 2]})
    refuses(InputError, "length", _regressed, [0, 1, 1], [1, 1, 0], {"length": [1, np.nan, 3]})


def test_intervals_of_unequal_errors_cover() -> None:
    rng, covered = np.random.default_rng(5), 0
    for _ in range(1000):
        x = rng.standard_normal(60)
        errors = 0.2 * x + rng.standard_normal(60) * (0.2 + np.abs(x))
        audit = Audit(np.arange(60), np.zeros(60), design="uniform")
        row = judge_errors(RowScores(errors, -99, 99), audit, {"x": x})["x"]
        covered += row.interval.low <= 0.2 * x.std() <= row.interval.high
    assert covered / 1000 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 1000)


def _pairs(b: int, c: int, same: int, half: int = 0) -> tuple[list[int], list[int]]:
    return [1] * b + [-1] * c + [1] * same + [0] * half, [-1] * b + [1] * c + [1] * same + [1] * half


def test_position_bias_counts_only_pairs_that_turn_with_the_order() -> None:
    found = position_bias(*_pairs(61, 39, 200))
    row = found["first chosen, of reversed pairs"]
    assert row.p_value == pytest.approx(0.035200, abs=5e-7)
    assert [row.value, row.interval.low, row.interval.high] == pytest.approx([0.61, 0.507314, 0.705990], abs=5e-7)
    assert found["reversed, of all pairs"].value == pytest.approx(1 / 3)
    for b, c in ((0, 7), (12, 3)):
        tested = position_bias(*_pairs(b, c, 5, half=4))
        assert tested["first chosen, of reversed pairs"].p_value == pytest.approx(binomtest(b, b + c).pvalue)
        assert [note.code for note in tested.notes] == ["half-changed"]
    refuses(NotEnoughData, "none of 9", position_bias, *_pairs(0, 0, 9))
    refuses(InputError, "1, -1 or 0", position_bias, [1, 2], [1, 1])


def test_results_are_tables_with_a_headline() -> None:
    found = position_bias(*_pairs(61, 39, 200))
    told = "Position bias: first chosen, of reversed pairs 0.610 [0.507, 0.706]; p = 0.035."
    assert found.sentence == told
    assert found.to_frame()["name"].tolist() == ["first chosen, of reversed pairs", "reversed, of all pairs"]
    assert found.to_dict()["rows"][1]["p_value"] is None
