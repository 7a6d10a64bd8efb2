"""Agreement between metrics: matrices, what is said of pairs, stability, and what cannot be read."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, norm

from demele import bench
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

N = 36


def scores_of(seed: int = 0, n: int = N, **noise: float) -> pd.DataFrame:
    """Metrics of one quality, each with a noise of its own."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    return pd.DataFrame({name: quality + sd * rng.normal(size=n) for name, sd in noise.items()})


NAMES = ["mig", "sap", "irs", "far"]
SCORES = scores_of(mig=0.2, sap=0.5, irs=1.0, far=50.0)


# Matrices ------------------------------------------------------------------------------------------------------------


def test_a_matrix_is_that_of_scipy() -> None:
    table = bench.agreement(SCORES, draws=100).matrix().table()
    for first in NAMES:
        for second in NAMES:
            assert_close(table[[second]].loc[first], kendalltau(SCORES[first], SCORES[second]).statistic, ROUNDING)


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
    assert_close(found.pair("mig", "irs").tau, kendalltau(whole["mig"], whole["irs"]).statistic, ROUNDING)
    assert any(note.code == "undefined-scores" and note.subject == ("irs",) for note in found.notes)


def test_seeds_are_averaged_and_an_undefined_one_leaves_its_configuration_out() -> None:
    other = SCORES + np.random.default_rng(5).normal(size=SCORES.shape) / 10
    rows = pd.concat([SCORES, other], keys=[0, 1], names=["seed", "config"]).reset_index()
    rows.loc[rows.index[3], "irs"] = np.nan
    found = bench.agreement(rows, metrics=NAMES, configuration="config", draws=100)
    means = (SCORES + other) / 2
    assert_close(found.pair("mig", "sap").tau, kendalltau(means["mig"], means["sap"]).statistic, ROUNDING)
    assert found.pair("mig", "irs").n == 35
    assert len(found.configurations) == N


def test_collapsed_configurations_are_shown_apart() -> None:
    collapsed = np.arange(N) < 6
    scores = SCORES.mask(np.tile(collapsed[:, None], 4), 0.0)
    found = bench.agreement(scores.assign(broken=collapsed), collapsed="broken", draws=100)
    kept = SCORES[~collapsed]
    assert_close(
        found.pair("mig", "far", matrix="without collapsed").tau,
        kendalltau(kept["mig"], kept["far"]).statistic,
        ROUNDING,
    )
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
    expected = np.mean([kendalltau(runs[a]["sap"], runs[b]["sap"]).statistic for a, b in pairs])
    assert_close(stability(found, "sap", "seeds").tau, expected, ROUNDING)
    means = [sum(table["sap"].to_numpy()[k * N : (k + 1) * N] for k in range(3)) for table in (first, second, early)]
    assert_close(stability(found, "sap", "halves of the rows").tau, kendalltau(means[0], means[1]).statistic, ROUNDING)
    whole = sum(run["sap"].to_numpy() for run in runs)
    assert_close(stability(found, "sap", "early").tau, kendalltau(whole, means[2]).statistic, ROUNDING)
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
    (SCORES, {"halves": SCORES}, InputError, "two tables"),
    (SCORES, {"level": 1.5}, InputError, "0.95"),
    (SCORES, {"draws": 3}, InputError, ">= 100"),
    (None, {}, InputTypeError, "got None"),
    ({"a": [1, 2], "b": 3}, {}, InputTypeError, "a score for each row in 'b', got int"),
]


def test_bad_input_is_refused() -> None:
    for scores, options, error, words in BAD:
        refuses(error, words.replace("(", r"\("), bench.agreement, scores, **options)


def test_rows_in_another_order_are_refused() -> None:
    rows = SCORES.assign(name=[f"c{row}" for row in range(N)])
    with pytest.raises(InputError, match="row 0 is of another configuration"):
        bench.agreement(rows, configuration="name", null=rows[::-1])


def test_names_that_are_not_there_are_told() -> None:
    found = bench.agreement(SCORES, draws=100)
    refuses(UnknownNameError, "'sap'", found.pair, "mig", "sopp")
    refuses(UnknownNameError, "all", found.matrix, "al")
    refuses(InputError, "twice", found.pair, "mig", "mig")
    refuses(InputError, "p_value", found.matrix().table, "taus")
