"""Agreement between metrics: taus, tests and intervals, matrices, stability, and what was published."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau, norm

from demele import bench
from demele.bench import rank_agreement
from demele.bench.agreement_result import centred_interval, error_without_association, likeness
from demele.bench.rank_agreement import (
    column_pairs,
    counted,
    p_values,
    p_values_within,
    resamples,
    tau_intervals,
    taus,
    untied_rows,
    weighted_taus,
    weighted_taus_within,
)
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

N = 36


def scores_of(seed: int = 0, n: int = N, **noise: float) -> pd.DataFrame:
    """Metrics of one quality, each with a noise of its own."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    return pd.DataFrame({name: quality + sd * rng.normal(size=n) for name, sd in noise.items()})


def tau(one: Any, other: Any) -> float:
    return float(kendalltau(one, other).statistic)


NAMES = ["mig", "sap", "irs", "far"]
SCORES = scores_of(mig=0.2, sap=0.5, irs=1.0, far=50.0)
NAMED = SCORES.assign(name=[f"c{row}" for row in range(N)])


# Matrices ------------------------------------------------------------------------------------------------------------


def test_a_matrix_is_that_of_scipy() -> None:
    table = bench.agreement(SCORES, draws=100).matrix().table()
    for first in NAMES:
        for second in NAMES:
            assert_close(table[[second]].loc[first], tau(SCORES[first], SCORES[second]), ROUNDING)


def test_any_table_and_any_order_of_columns_gives_the_same_bits() -> None:
    expected = bench.agreement(SCORES, draws=100)
    other = bench.agreement({name: SCORES[name].tolist() for name in NAMES}, draws=100)
    array = bench.agreement(SCORES.to_numpy(), draws=100)
    assert_exact(other.matrix().draws, expected.matrix().draws)
    assert_exact(array.matrix().low, expected.matrix().low)
    assert array.metrics == ("metric1", "metric2", "metric3", "metric4")
    turned = bench.agreement(SCORES[["irs", "mig"]], draws=100).pair("irs", "mig")
    again = expected.pair("mig", "irs")
    assert (turned.tau, turned.low, turned.high) == (again.tau, again.low, again.high)


def test_a_metric_that_never_varies_is_undefined_with_a_note() -> None:
    found = bench.agreement(SCORES.assign(flat=0.5), draws=100)
    pair = found.pair("mig", "flat")
    assert pair.verdict == "undefined"
    assert math.isnan(pair.tau)
    assert [note.subject for note in found.notes if note.code == "constant-score"] == [("flat",)]


def test_an_undefined_score_leaves_its_configuration_out_of_its_pairs() -> None:
    scores = SCORES.copy()
    scores.loc[[4, 9], "irs"] = np.nan
    found = bench.agreement(scores, draws=100)
    assert (found.pair("mig", "irs").n, found.pair("mig", "sap").n) == (34, 36)
    whole = scores.dropna()
    assert_close(found.pair("mig", "irs").tau, tau(whole["mig"], whole["irs"]), ROUNDING)
    assert any(note.code == "undefined-scores" and note.subject == ("irs",) for note in found.notes)


def test_seeds_are_averaged_and_an_undefined_one_leaves_its_configuration_out() -> None:
    other = SCORES + np.random.default_rng(5).normal(size=SCORES.shape) / 10
    rows = pd.concat([SCORES, other], keys=[0, 1], names=["seed", "config"]).reset_index()
    rows.loc[rows.index[3], "irs"] = np.nan
    found = bench.agreement(rows, metrics=NAMES, configuration="config", draws=100)
    means = (SCORES + other) / 2
    assert_close(found.pair("mig", "sap").tau, tau(means["mig"], means["sap"]), ROUNDING)
    assert found.pair("mig", "irs").n == 35
    assert len(found.configurations) == N


def test_collapsed_configurations_are_shown_apart() -> None:
    collapsed = np.arange(N) < 6
    scores = SCORES.mask(np.tile(collapsed[:, None], 4), 0.0)
    found = bench.agreement(scores.assign(broken=collapsed), collapsed="broken", draws=100)
    kept = SCORES[~collapsed]
    assert_close(found.pair("mig", "far", matrix="without collapsed").tau, tau(kept["mig"], kept["far"]), ROUNDING)
    assert found.matrix("without collapsed").configurations == 30
    assert next(note for note in found.notes if note.code == "collapsed").subject[:2] == ("row 0", "row 1")
    alone = bench.agreement(kept, draws=100).pair("mig", "far")
    assert alone.tau == found.pair("mig", "far", matrix="without collapsed").tau


def test_pairs_that_the_null_explains_are_marked() -> None:
    size = np.repeat([2.0, 4, 8, 16, 32, 64], 6)
    rng = np.random.default_rng(0)
    scores = pd.DataFrame({"a": size + rng.normal(size=N), "b": size + rng.normal(size=N), "c": rng.normal(size=N)})
    null = pd.DataFrame({"a": size + rng.normal(size=N), "b": size + rng.normal(size=N), "c": rng.normal(size=N)})
    found = bench.agreement(scores, null=null)
    assert found.pair("a", "b").within_null
    assert found.pair("a", "b").null_tau > 0.6
    swapped = bench.agreement(scores, null=null.assign(b=rng.normal(size=N)))
    assert not swapped.pair("a", "b").within_null


def test_what_a_group_explains_is_removed() -> None:
    size = np.repeat(np.arange(6), 6)
    rng = np.random.default_rng(0)
    scores = pd.DataFrame({"a": 9 * size + rng.normal(size=N), "b": 9 * size + rng.normal(size=N), "d": size})
    found = bench.agreement(scores, within="d", draws=300)
    assert found.metrics == ("a", "b")
    assert found.pair("a", "b").tau > 0.8
    assert found.pair("a", "b", matrix="within groups").verdict == "not significant"


# Stability -----------------------------------------------------------------------------------------------------------


def stability(found: bench.Agreement, metric: str, between: str) -> bench.Stability:
    return next(one for one in found.stability if (one.metric, one.between) == (metric, between))


def test_stability_is_the_mean_tau_between_seeds_halves_and_checkpoints() -> None:
    rng = np.random.default_rng(0)
    runs = [SCORES + rng.normal(size=SCORES.shape) for _ in range(3)]
    configuration = [*range(N)] * 3
    early, first, second = (pd.concat(runs) + rng.normal(size=(3 * N, 4)) for _ in range(3))
    found = bench.agreement(
        pd.concat(runs), configuration=configuration, halves=(first, second), again={"early": early}, draws=100
    )
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = np.mean([tau(runs[a]["sap"], runs[b]["sap"]) for a, b in pairs])
    assert_close(stability(found, "sap", "seeds").tau, expected, ROUNDING)
    means = [sum(table["sap"].to_numpy()[k * N : (k + 1) * N] for k in range(3)) for table in (first, second, early)]
    assert_close(stability(found, "sap", "halves of the rows").tau, tau(means[0], means[1]), ROUNDING)
    whole = sum(run["sap"].to_numpy() for run in runs)
    assert_close(stability(found, "sap", "early").tau, tau(whole, means[2]), ROUNDING)
    row = stability(found, "sap", "early")
    assert row.low < row.tau < row.high
    assert len(found.stability) == 12
    assert set(found.matrix_stability) == {"seeds", "halves of the rows", "early"}


def test_how_alike_whole_matrices_are_is_the_correlation_of_their_taus() -> None:
    other = SCORES + np.random.default_rng(0).normal(size=SCORES.shape)
    found = bench.agreement(SCORES, again={"other": other}, draws=100)
    first, second = (bench.agreement(table, draws=100).matrix().tau for table in (SCORES, other))
    assert_close(found.matrix_stability["other"], np.corrcoef(first, second)[0, 1], ROUNDING)


def test_the_best_stays_as_often_as_noise_of_the_rows_lets_it() -> None:
    """Two configurations that matter, of 1 and 0.5; halves differ by 0.8 and 0.6: Phi(0.5 / sqrt(0.4^2 + 0.3^2))."""
    scores = {"a": [1.0, 0.5] + [-9.0] * 6, "b": [0.0] * 8}
    first, second = {**scores, "a": [1.4, 0.8] + [-9.0] * 6}, {**scores, "a": [0.6, 0.2] + [-9.0] * 6}
    found = bench.agreement(scores, halves=(first, second), draws=20_000)
    assert found.best[0].configuration == "row 0"
    assert found.best[0].stays == pytest.approx(norm.cdf(1.0), abs=5 * math.sqrt(0.16 * 0.84 / 20_000))


def test_the_best_stays_as_often_as_other_seeds_let_it() -> None:
    """Seeds (1, 0) against (-0.1, -0.1): means of two drawn seeds are 1, .5, .5, 0, widened by sqrt 2 about .5.

    So it loses where both are 0, which becomes -.21: one time in four.
    """
    rows = {"a": [1.0, 0.0, -0.1, -0.1], "b": [0.0, 1.0, 2.0, 3.0]}
    found = bench.agreement(rows, configuration=["x", "x", "y", "y"], draws=20_000)
    assert found.best[0].configuration == "x"
    assert found.best[0].stays == pytest.approx(0.75, abs=5 * math.sqrt(0.75 * 0.25 / 20_000))


# Bad input -----------------------------------------------------------------------------------------------------------

BAD: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ({"a": [1, 2]}, {}, NotEnoughData, "columns of two or more metrics"),
    ({"a": [1], "b": [2]}, {}, NotEnoughData, "two or more rows"),
    ({"a": [1, 2], "b": [1, 2, 3]}, {}, InputError, "2 in 'a' and 3 in 'b'"),
    ({"a": [1, 2], "b": [1, math.inf]}, {}, InputError, "1 infinite in column 'b', first at row 1"),
    ({"a": [1, 2], "b": ["x", "y"]}, {}, InputTypeError, "column 'b'"),
    (SCORES, {"metrics": ["mig", "sop"]}, UnknownNameError, "'sap'"),
    (SCORES, {"metrics": ["mig", "mig"]}, InputError, "'mig' twice"),
    (SCORES, {"metrics": "mig"}, InputTypeError, "metrics: expected names of columns, got str"),
    (SCORES, {"configuration": "sapp"}, UnknownNameError, "'sap'"),
    (SCORES, {"configuration": [1, 2]}, InputError, "one for each of the 36 rows"),
    (SCORES, {"configuration": [None, *range(35)]}, InputError, "1 missing, first at row 0"),
    (SCORES, {"collapsed": [2] * 36}, InputError, "true or false"),
    (SCORES, {"configuration": [0] * 2 + [*range(34)], "within": [0] + [1] * 35}, InputError, "two for '0'"),
    (SCORES, {"null": SCORES[:5]}, InputError, "the rows of the scores, 36, got 5"),
    (SCORES, {"null": SCORES[["mig"]]}, InputError, "lacks 'sap'"),
    (NAMED, {"configuration": "name", "null": NAMED[::-1]}, InputError, "row 0 is of another configuration"),
    (SCORES, {"halves": SCORES}, InputError, "two tables"),
    (SCORES, {"level": 1.5}, InputError, "0.95"),
    (SCORES, {"draws": 3}, InputError, ">= 100"),
    (None, {}, InputTypeError, "got None"),
    ({"a": [1, 2], "b": 3}, {}, InputTypeError, "a score for each row in 'b', got int"),
]


def test_bad_input_is_refused() -> None:
    for scores, options, error, words in BAD:
        refuses(error, words.replace("(", r"\("), bench.agreement, scores, **options)


def test_names_that_are_not_there_are_told() -> None:
    refuses(UnknownNameError, "'cars3d'", bench.published_agreement, "cars")
    refuses(InputError, "'row' or 'column'", CARS.table, "lower")
    found = bench.agreement(SCORES, draws=100)
    refuses(UnknownNameError, "'sap'", found.pair, "mig", "sopp")
    refuses(UnknownNameError, "all", found.matrix, "al")
    refuses(InputError, "twice", found.pair, "mig", "mig")
    refuses(InputError, "p_value", found.matrix().table, "taus")


CARS, NORB = bench.published_agreement("cars3d"), bench.published_agreement("smallnorb")
UPPER = np.triu_indices(17, 1)


@pytest.mark.parametrize(
    ("printed", "mean", "below", "above", "negative"),
    [(CARS, 0.23, 56, 11, 44), (NORB, 0.27, 52, 22, 48)],
    ids=["cars3d", "smallnorb"],
)
def test_what_is_known_of_the_printed_taus(
    printed: bench.PublishedAgreement, mean: float, below: int, above: int, negative: int
) -> None:
    taus = printed.table().to_numpy()[UPPER]
    assert round(float(np.abs(taus).mean()), 2) == mean
    assert round(100 * float((np.abs(taus) < 0.23).mean())) == below
    assert round(100 * float((np.abs(taus) >= 0.42).mean())) == above
    assert round(100 * float((taus < 0).mean())) == negative


# Likeness ------------------------------------------------------------------------------------------------------------


def test_figures_by_hand() -> None:
    """Ours .1, .5, -.3 beside .3, .4, .5 in print: correlation of (0, .4, -.4) and (-.1, 0, .1)."""
    found = likeness(np.array([0.1, 0.5, -0.3]), np.array([0.3, 0.4, 0.5]), np.empty((0, 3)), level=0.95)
    assert_close(found["r"].value, -0.04 / np.sqrt(0.32 * 0.02), ROUNDING)
    assert_close(found["same_sign"].value, 2 / 3, ROUNDING)
    assert_close(found["difference"].value, (0.2 + 0.1 + 0.8) / 3, ROUNDING)
    assert np.isnan(found["r"].low)


def test_an_interval_lies_about_the_estimate_and_not_about_the_mean_of_resamples() -> None:
    draws = np.tanh(np.linspace(-0.2, 0.2, 2001) + 0.3)  # resamples that are less alike than the sample
    low, high = centred_interval(0.6, draws, level=0.9, scale="z")
    assert_close([low, high], np.tanh(np.arctanh(0.6) + np.array([-0.18, 0.18])), ROUNDING)
    low, high = centred_interval(0.2, np.exp(np.linspace(-0.2, 0.2, 2001) - 1), level=0.9, scale="log")
    assert_close([low, high], 0.2 * np.exp([-0.18, 0.18]), ROUNDING)
    assert centred_interval(1.0, np.linspace(0.8, 1.0, 101), level=0.9, scale="plain")[1] == 1.0


def samples(
    rng: np.random.Generator, n: int
) -> tuple[pd.DataFrame, "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"]:
    """Scores of 17 metrics that three qualities explain, and their true taus."""
    loadings = np.random.default_rng(0).normal(size=(17, 3))
    covariance = loadings @ loadings.T + 2 * np.eye(17)
    spread = np.sqrt(np.diag(covariance))
    truth = 2 / np.pi * np.arcsin((covariance / np.outer(spread, spread))[UPPER])
    scores = rng.multivariate_normal(np.zeros(17), covariance, n)
    return pd.DataFrame(scores, columns=CARS.metrics), truth


def test_a_study_is_held_against_print_with_and_without_what_print_disputes() -> None:
    scores, _ = samples(np.random.default_rng(1), 36)
    found = bench.agreement(scores, collapsed=[False] * 30 + [True] * 6, draws=200)
    table = pd.DataFrame(found.likeness_rows())
    assert list(zip(table["published"], table["pairs"], table["matrix"], strict=True)) == [
        ("cars3d", 136, "all"),
        ("cars3d", 136, "without collapsed"),
        ("cars3d", 127, "all"),
        ("cars3d", 127, "without collapsed"),
        ("smallnorb", 136, "all"),
        ("smallnorb", 136, "without collapsed"),
    ]
    assert (table["r_low"] < table["r"]).all()
    assert (table["r"] < table["r_high"]).all()
    printed = CARS.table().to_numpy()[UPPER]
    assert_close(table["r"][0], np.corrcoef(found.matrix().tau, printed)[0, 1], ROUNDING)


def test_too_few_common_metrics_are_told() -> None:
    scores = {"mig": range(9), "sap": range(9), "mine": range(9)}
    refuses(NotEnoughData, "three or more pairs", bench.agreement(scores, draws=100).against, "cars3d")
    refuses(InputError, "'keep' or 'omit'", bench.agreement(scores, draws=100).against, "cars3d", disputed="drop")


Matrix = NDArray[np.float64]


def with_ties_and_gaps(rng: np.random.Generator, n: int = 40, columns: int = 6) -> Matrix:
    scores = rng.integers(0, 7, (n, columns)).astype(float)
    scores[:, 0] = rng.normal(size=n)
    scores[3, 1] = scores[5:9, 4] = np.nan
    return scores


def by_scipy(scores: Matrix) -> list[tuple[float, float]]:
    found = []
    for one, other in zip(*column_pairs(scores.shape[1]), strict=True):
        there = np.isfinite(scores[:, one] + scores[:, other])
        result = kendalltau(scores[there, one], scores[there, other])
        found.append((float(result.statistic), float(result.pvalue)))
    return found


def test_tau_b_is_that_of_scipy_with_ties_and_gaps() -> None:
    scores = with_ties_and_gaps(np.random.default_rng(0))
    expected = by_scipy(scores)
    assert_close(taus(scores), [tau for tau, _ in expected], ROUNDING)
    assert_close(p_values(scores), [p for _, p in expected], ROUNDING)


@pytest.mark.parametrize("gaps", [True, False])
def test_a_weight_is_a_repetition(gaps: bool) -> None:
    rng = np.random.default_rng(1)
    scores = with_ties_and_gaps(rng) if gaps else rng.integers(0, 7, (40, 6)).astype(float)
    weights = resamples(rng, 40, 5)
    found = weighted_taus(scores, weights)
    for line, row in zip(weights, found, strict=True):
        repeated = np.repeat(scores, line.astype(int), axis=0)
        assert_close(row, [tau for tau, _ in by_scipy(repeated)], ROUNDING)


@pytest.mark.parametrize("at_once", [1, 45, 10**6])
def test_how_many_pairs_are_held_at_a_time_changes_no_bit(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    scores, weights = with_ties_and_gaps(rng), resamples(rng, 40, 50)
    groups = np.arange(40) % 5
    expected = weighted_taus(scores, weights), weighted_taus_within(scores, groups, weights)
    monkeypatch.setattr(rank_agreement, "_PAIRS_AT_ONCE", at_once)
    assert_exact(weighted_taus(scores, weights), expected[0])
    assert_exact(weighted_taus_within(scores, groups, weights), expected[1])


# Within groups -------------------------------------------------------------------------------------------------------


def test_what_only_a_group_explains_is_removed() -> None:
    """Two groups far apart; within them the columns are opposed: ranks 1 2 / 3 4 against 2 1 / 4 3."""
    scores = np.array([[1.0, 2.0], [2.0, 1.0], [11.0, 12.0], [12.0, 11.0]])
    groups = np.array([0, 0, 1, 1])
    assert_close(taus(scores), [2 / 6], ROUNDING)
    assert_close(weighted_taus_within(scores, groups, np.ones((1, 4)))[0], [-1.0], ROUNDING)


def test_residual_ranks_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(3)
    scores, groups = with_ties_and_gaps(rng), rng.integers(0, 4, 40)
    weights = resamples(rng, 40, 3)
    found = weighted_taus_within(scores, groups, weights)
    for line, row in zip(weights, found, strict=True):
        times = line.astype(int)
        repeated, of = np.repeat(scores, times, axis=0), np.repeat(groups, times)
        assert_close(row, [tau for tau, _ in by_scipy(np.column_stack([left(c, of) for c in repeated.T]))], ROUNDING)


def left(column: Matrix, groups: NDArray[np.intp]) -> Matrix:
    """Mid-ranks less their mean in the group, slowly."""
    found = np.full(len(column), np.nan)
    there = np.flatnonzero(np.isfinite(column))
    ranks = {row: sum((column[o] < column[row]) + 0.5 * (column[o] == column[row]) for o in there) for row in there}
    for row in there:
        own = [ranks[other] for other in there if groups[other] == groups[row]]
        found[row] = round(ranks[row] - sum(own) / len(own), 6)
    return found


# Without association -------------------------------------------------------------------------------------------------


def test_p_values_within_groups_count_fewer_rows() -> None:
    """31 rows in all but name: 36 less one for each of 6 groups but the first."""
    found = p_values_within(np.array([2 * error_without_association(31)]), np.array([36]), 6)
    assert_close(found, [0.04550026389635839], ROUNDING)  # two standard errors


# Intervals -----------------------------------------------------------------------------------------------------------


def test_intervals_are_percentiles_of_what_is_defined() -> None:
    draws = np.column_stack([np.linspace(-1, 1, 201), np.where(np.arange(201) % 2, np.nan, np.linspace(0, 1, 201))])
    low, high = tau_intervals(np.array([0.0, 0.5]), draws, np.array([36, 36]), level=0.9)
    assert_close(low, [-0.9, 0.05], ROUNDING)
    assert_close(high, [0.9, 0.95], ROUNDING)


def test_of_equal_orders_the_limit_is_what_could_have_been_missed() -> None:
    low, high = tau_intervals(np.array([1.0, -1.0]), np.tile([1.0, -1.0], (100, 1)), np.array([12, 12]), level=0.95)
    assert_close([low[0], high[0]], [0.025 ** (1 / 6), 1], ROUNDING)
    assert_close([low[1], high[1]], [-1, -(0.025 ** (1 / 6))], ROUNDING)


def test_where_many_rows_tie_the_limit_is_what_could_have_been_missed() -> None:
    """Of 36 rows 8 tie: 29 if they count as one. Of 36 with 7 that tie, less than a fifth do."""
    draws = np.tile(np.linspace(0.75, 0.85, 101)[:, None], (1, 3))
    n = np.array([36, 36, 36])
    low, high = tau_intervals(np.full(3, 0.8), draws, n, level=0.9, untied=np.array([36, 30, 29]))
    assert_close(low, [0.755, 0.755, 0.8 * 0.05 ** (2 / 29)], ROUNDING)
    assert_close(high, [0.845] * 3, ROUNDING)
    low, high = tau_intervals(np.full(3, -0.8), -draws, n, level=0.9, untied=np.array([36, 30, 29]))
    assert_close(high, [-0.755, -0.755, -0.8 * 0.05 ** (2 / 29)], ROUNDING)
    assert np.isnan(tau_intervals(np.full(3, 0.8), draws, n, level=0.9, untied=np.array([7, 8, 8]))[0][0])


def test_ties_are_counted_among_the_rows_that_both_columns_have() -> None:
    scores = np.array([[0.0, 1.0, 5.0], [0.0, 2.0, 5.0], [0.0, np.nan, 5.0], [1.0, 4.0, np.nan], [2.0, 4.0, 6.0]])
    assert_exact(untied_rows(scores), [3, 2, 2])


def pair_of(rng: np.random.Generator, tau: float, n: int, tied: float) -> Matrix:
    """Two normal columns of a given tau; a share of the rows is tied in the middle of both, which keeps tau-b."""
    rho = np.sin(np.pi * tau / 2)
    first = rng.normal(size=n)
    pair = np.column_stack([first, rho * first + np.sqrt(1 - rho**2) * rng.normal(size=n)])
    pair[rng.random(n) < tied] = 0
    return pair


@pytest.mark.parametrize("tied", [0, 1 / 6], ids=["untied", "tied"])
@pytest.mark.parametrize("tau", [0, 0.6])
def test_intervals_hold_the_truth_as_often_as_they_say(tau: float, tied: float) -> None:
    rng = np.random.default_rng([36, int(10 * tau), int(10 * tied)])
    inside = []
    for _ in range(400):
        scores = pair_of(rng, tau, 36, tied)
        draws = weighted_taus(scores, resamples(rng, 36, 300))
        low, high = tau_intervals(taus(scores), draws, counted(scores), level=0.95)
        inside.append(low[0] <= tau <= high[0])
    assert 0.925 <= np.mean(inside) <= 0.985
