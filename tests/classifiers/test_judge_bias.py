"""Slices, errors of judges, order of answers, learned annotators: equal to statsmodels and to exact tests; refusals."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from statsmodels.api import WLS, add_constant
from statsmodels.stats.multitest import multipletests

from demele.classifiers import NamedEstimates, RowScores, annotator_effect, judge_errors, position_bias, slices
from demele.core.proportions import adjusted
from demele.errors import InputError, NotEnoughData
from demele.labels import Audit
from tests.classifiers.audited import audited_mean
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_rate_at_most


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
    assert found.sentence == "Position bias: first chosen, of reversed pairs 0.610 [0.507, 0.706]; p = 0.035."
    assert found.to_frame()["name"].tolist() == ["first chosen, of reversed pairs", "reversed, of all pairs"]
    assert found.to_dict()["rows"][1]["p_value"] is None


# Slices of judged rows ------------------------------------------------------------------------------------------------


N = 1500


def _world(
    seed: int, shares: tuple[float, float, float], k: int = 240
) -> tuple[RowScores, Audit, NDArray[np.str_], NDArray[np.bool_]]:
    """Three slices with these true shares, whose judge is lenient to the last one."""
    rng = np.random.default_rng(seed)
    place = rng.integers(0, 3, N)
    true = rng.random(N) < np.array(shares)[place]
    passes = np.where(true, 0.97, np.array([0.1, 0.1, 0.5])[place])
    rows = rng.choice(N, k, replace=False)
    given = (rng.random(N) < passes).astype(float)
    audit = Audit(rows, true[rows].astype(float), design="uniform")
    return RowScores(given), audit, np.array(["de", "en", "fr"])[place], true


def test_a_slice_has_the_audited_mean_of_its_rows() -> None:
    scores, audit, column, _ = _world(1, (0.8, 0.8, 0.6))
    found = slices(scores, audit, column)
    true = dict(zip(audit.rows.tolist(), audit.scores[""], strict=True))
    ends = {}
    for name in ("de", "en", "fr"):
        for key, part in ((name, column == name), (f"rest of {name}", column != name)):
            own = np.flatnonzero(part)
            rows = [row for row in audit.rows.tolist() if part[row]]
            alone = Audit(np.searchsorted(own, rows), [true[row] for row in rows], design="uniform")
            ends[key] = audited_mean(scores.take(own), alone)
        row, mean = found[name], ends[name]
        assert_close(
            [row.value, row.corrected_value, row.corrected.low, row.corrected.high],
            [scores.given[column == name].mean(), mean.value, mean.low, mean.high],
            ROUNDING,
        )
        gap, rest = found[f"{name} - rest"], ends[f"rest of {name}"]
        below = np.hypot(mean.value - mean.low, rest.high - rest.value)
        above = np.hypot(mean.high - mean.value, rest.value - rest.low)
        value = mean.value - rest.value
        known = gap.corrected_value, gap.corrected.low, gap.corrected.high
        assert_close(known, [value, value - below, value + above], ROUNDING)


def test_p_values_are_those_of_the_intervals_and_are_adjusted() -> None:
    scores, audit, column, _ = _world(2, (0.8, 0.8, 0.5))
    found, loose = slices(scores, audit, column), slices(scores, audit, column, correction="bh")
    names = [row.name for row in found.rows if "rest" in row.name]
    assert names == [f"{name} - rest" for name in dict.fromkeys(column.tolist())]
    p_holm, p_bh = (np.array([held[name].p_value for name in names]) for held in (found, loose))
    alone = []  # at the level of its p-value, an interval ends at 0
    for name in names:
        low, high = 0.5, 1 - 1e-12
        for _ in range(50):
            level = (low + high) / 2
            span = slices(scores, audit, column, level=level)[name].corrected
            low, high = (level, high) if span.low > 0 or span.high < 0 else (low, level)
        alone.append(1 - low)
    small = np.array(alone) < 0.499  # levels below .5 are refused
    assert small.sum() >= 1
    order = np.argsort(alone)[0]
    assert p_holm[order] == pytest.approx(min(3 * alone[order], 1), rel=1e-6)
    assert (p_bh <= p_holm + 1e-12).all()


def test_thin_slices_have_the_given_mean_alone() -> None:
    scores, audit, column, _ = _world(3, (0.8, 0.8, 0.6), k=60)
    column = np.where(np.arange(N) < 40, "xx", column)
    found = slices(scores, audit, column)
    assert found["xx"].corrected is None
    assert found["xx"].value == pytest.approx(scores.given[:40].mean())
    assert "xx - rest" not in [row.name for row in found.rows]
    (note,) = found.notes
    assert note.code == "slice-thin"
    assert "xx (" in note.message
    refuses(InputError, "column: expected 1500", slices, scores, audit, column[:-1])
    with pytest.raises(InputError, match="correction"):
        slices(scores, audit, column, correction="none")  # type: ignore[arg-type]


@pytest.mark.long
def test_equal_slices_are_rarely_called_different_and_intervals_cover() -> None:
    repeats, claims, covered, trials = 500, 0, 0, 0
    for seed in range(repeats):
        scores, audit, column, _ = _world(1000 + seed, (0.75, 0.75, 0.75))
        found = slices(scores, audit, column)
        claims += any(row.p_value <= 0.05 for row in found.rows)
        for name in ("de", "en", "fr"):
            span = found[name].corrected
            covered, trials = covered + (span.low <= 0.75 <= span.high), trials + 1
    assert claims / repeats <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / repeats)
    assert covered / trials >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / repeats)


# Whether a model learned its annotators -------------------------------------------------------------------------------


def test_habits_that_features_betray_are_learned() -> None:
    """By hand: with its annotator every row is right; without, a tree of unseen columns gives the most common label."""
    who = np.repeat(np.arange(10), 12)
    labels = np.isin(who, (0, 3)).astype(int)
    found = annotator_effect(DecisionTreeClassifier(random_state=0), np.eye(10)[who], labels, who)
    difference = found["difference"]
    assert (found["known"].value, found["unknown"].value) == (1.0, 0.8)
    assert_close(difference.value, 0.2, ROUNDING)
    assert difference.interval is not None
    # two of ten annotators have a mean of 1: sd .4216, over sqrt(10), times t(9) = 2.2622
    assert_close(difference.interval.low, 0.2 - 2.262157 * np.sqrt(0.16 / 9), {"rtol": 1e-6, "atol": 0})
    assert "not shown" in found.notes[0].message
    assert found.to_frame()["value"].tolist() == [difference.value, 1.0, 0.8]


def test_a_model_of_the_task_is_rarely_accused() -> None:
    accused, trials = 0, 40
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        who, x = rng.integers(0, 15, 300), rng.normal(size=(300, 3))
        labels = (x[:, 0] + rng.normal(size=300) > 0).astype(int)
        found = annotator_effect(LogisticRegression(), x, labels, who, level=0.9)["difference"]
        assert found.interval is not None
        accused += found.interval.low > 0
    assert_rate_at_most(accused, trials, 0.05)


def test_too_few_annotators_and_no_classifier_are_refused() -> None:
    with pytest.raises(NotEnoughData, match="one for each of 5 folds"):
        annotator_effect(LogisticRegression(), np.zeros((4, 1)), [0, 1, 0, 1], ["a", "b", "a", "b"])
    with pytest.raises(InputError, match="model"):
        annotator_effect("a model", np.zeros((4, 1)), [0, 1, 0, 1], ["a", "b", "a", "b"], n_folds=2)
