"""Several representations side by side: what is paired, what is shown, what is refused."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import demele
from demele.core.errors import DemeleError
from demele.estimation.annotation_errors import BOUNDS, information_bounds
from demele.estimation.differences import run_difference
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
N = 600
RNG = np.random.default_rng(0)
FACTORS = RNG.random((N, 2))
SHARED = RNG.normal(size=(N, 2))


def held(noise: float, seed: int) -> Any:
    """Codes that hold a factor each, with noise that all representations share, and some of their own."""
    return FACTORS + noise * (SHARED + 0.3 * np.random.default_rng(seed).normal(size=(N, 2)))


CODES = {"noisy": held(0.2, 1), "again": held(0.2, 2), "clean": held(0.05, 3)}
TWO = {name: CODES[name] for name in ("noisy", "again")}
METRICS = ["mig", "sap", "irs"]


def compared(codes: Any = None, metrics: Any = METRICS, **options: Any) -> demele.RepresentationComparison:
    """Compare with few half-samples."""
    return demele.compare_representations(CODES if codes is None else codes, FACTORS, metrics, **options)


FOUND = compared(n_bootstrap=12)


def by(found: demele.RepresentationComparison, metric: str, first: str, second: str) -> Any:
    """Return one difference."""
    return next(each for each in found.differences if (each.metric, each.first, each.second) == (metric, first, second))


def test_every_representation_is_scored_as_by_itself() -> None:
    alone = demele.evaluate(demele.Codes(CODES["clean"], name="clean"), FACTORS, METRICS, n_bootstrap=12)
    assert_exact([score.value for score in FOUND["clean"]], [score.value for score in alone])
    assert [str(score.interval) for score in FOUND["clean"]] == [str(score.interval) for score in alone]
    assert FOUND.names == ("noisy", "again", "clean")
    refuses(DemeleError, "'other' is not among the representations: noisy, again", FOUND.__getitem__, "other")


def test_halves_are_of_the_same_rows_for_all() -> None:
    # mig bootstraps, sap takes halves: the difference takes halves of both, and of the same rows
    from demele.metrics.source import half_of_rows

    for metric in ("mig", "sap"):
        halves = FOUND["noisy"][metric].halves
        for index in (0, 7):
            rows = half_of_rows(N, 0, index)
            again = demele.evaluate(CODES["noisy"][rows], FACTORS[rows], [metric])
            assert_close(halves[index], again[metric].value, ROUNDING)


def test_shared_noise_leaves_the_difference() -> None:
    # the difference of two such representations is known better than either score
    single = FOUND["noisy"]["sap"].interval
    paired = by(FOUND, "sap", "noisy", "again").interval
    assert paired.high - paired.low < 0.8 * (single.high - single.low)


RUNS = {"a": ["a0", "a1", "a2"], "b": ["b0", "b1", "b2"]}
OF_RUNS = {run: held({"a": 0.2, "b": 0.05}[model], int(run[1])) for model in RUNS for run in RUNS[model]}


def test_runs_of_models() -> None:
    found = compared(OF_RUNS, ["sap"], runs=RUNS)
    values = {model: np.array([found[run]["sap"].value for run in own]) for model, own in RUNS.items()}
    expected = run_difference(values["a"], values["b"], 0.95)
    (each,) = found.differences
    assert (each.first, each.second, each.better) == ("a", "b", "b")
    assert_close(each.value, expected.value, ROUNDING)
    assert_close([each.interval.low, each.p_value], [expected.low, expected.p_value], ROUNDING)
    (own, _) = found.model_scores
    assert_close([own.mean, own.std], [values["a"].mean(), values["a"].std(ddof=1)], ROUNDING)
    assert own.interval.kind == "training"
    assert any("over training runs" in note.text for note in found.document().notes)
    paired = compared(OF_RUNS, ["sap"], runs=RUNS, paired_runs=True)
    assert "paired by seed" in paired.differences[0].interval.method
    assert list(found.scores_frame()["model"]) == ["a"] * 3 + ["b"] * 3


def test_resamples_widen_intervals_over_runs_by_the_rows() -> None:
    alone, both = (compared(OF_RUNS, ["sap", "irs"], runs=RUNS, n_bootstrap=number) for number in (0, 12))
    sap, irs = both.differences
    rows: Any = [sum(np.asarray(both[run]["sap"].halves) for run in own) / 3 for own in RUNS.values()]
    values = [np.array([both[run]["sap"].value for run in own]) for own in RUNS.values()]
    expected = run_difference(values[0], values[1], 0.95, rows=rows[1] - rows[0])
    assert_close([sap.interval.low, sap.p_value], [expected.low, expected.p_value], ROUNDING)
    assert sap.interval.method == "Welch's t over runs and 12 paired half-samples of the rows"
    narrow, wide = alone.model_scores[0].interval, both.model_scores[0].interval
    assert wide.high - wide.low > narrow.high - narrow.low
    assert irs.interval is None
    assert "extreme values" in irs.reason
    assert any("n_bootstrap=50" in note.text for note in alone.document().notes)
    assert not any("n_bootstrap=50" in note.text for note in both.document().notes)


def test_three_levels_of_significance() -> None:
    alone = compared(TWO, ["sap"], n_bootstrap=12, level=0.5)
    level = 1 - 1.5 * alone.differences[0].p_value
    found = compared(n_bootstrap=12, level=level)
    of = {(each.metric, each.first, each.second): each for each in found.differences}
    assert of["sap", "noisy", "clean"].significance == "together"
    assert of["sap", "noisy", "again"].significance == "alone"
    assert of["irs", "noisy", "again"].significance == "no"
    assert of["sap", "noisy", "again"].ahead in ("noisy", "again")
    assert of["sap", "noisy", "again"].better == ""
    assert "more only without the correction" in found.sentence
    assert list(found.to_frame()["significance"]) == [each.significance for each in found.differences]


def test_only_primary_metrics_share_the_error() -> None:
    found = compared(n_bootstrap=12, primary="sap")
    assert "2 of 3 primary differences are significant (Holm, 95%); 2 more only without" in found.sentence
    assert by(found, "mig", "noisy", "clean").significance == "alone"
    assert [each.exploratory for each in found.differences] == [each.metric != "sap" for each in found.differences]
    # one difference needs no sharing: it is tested at the whole error
    p_value = by(FOUND, "sap", "noisy", "again").p_value
    one = compared(TWO, n_bootstrap=12, level=1 - 1.1 * p_value, primary="sap")
    assert by(one, "sap", "noisy", "again").shown


def noisy_classes() -> tuple[Any, Any, Any]:
    """Classes, their annotations of which a tenth is wrong, and how they are mistaken."""
    true = RNG.integers(0, 3, (2000, 2))
    given = np.where(RNG.random(true.shape) < 0.1, (true + RNG.integers(1, 3, true.shape)) % 3, true)
    return true, given, demele.labels.TransitionMatrix(np.full((3, 3), 0.05) + 0.85 * np.eye(3))


def of_classes(true: Any, factors: Any, spread: tuple[float, float], **keywords: Any) -> Any:
    """Compare two representations of true classes, one of which holds them better."""
    codes = {
        name: true + own * np.random.default_rng(3).normal(size=true.shape)
        for name, own in zip("ab", spread, strict=True)
    }
    known = demele.Factors(factors, kinds="categorical", **keywords)
    return demele.compare_representations(codes, known, ["mig"], n_bootstrap=20)


def test_differences_of_corrected_scores() -> None:
    true, given, transition = noisy_classes()
    wanted, plain = (of_classes(true, own, (0.5, 0.3)).differences[0] for own in (true, given))
    rows = np.arange(0, 2000, 3)
    audits = [demele.labels.Audit(rows, true[rows, place], design="uniform") for place in range(2)]
    for first, second in ((transition, transition), audits):
        found = of_classes(true, given, (0.5, 0.3), noise={"v1": first, "v2": second})
        (each,) = found.differences
        corrected: Any = [found[name]["mig"].corrected for name in "ab"]
        assert_close(each.value, float(corrected[1]) - float(corrected[0]), ROUNDING)
        assert each.interval.low <= wanted.value <= each.interval.high
        assert abs(each.value - wanted.value) < abs(plain.value - wanted.value)
        assert each.better == "b"
        # the same rows move both: the difference is known better than two separate scores
        widths = [one.interval.high - one.interval.low for one in corrected]
        assert each.interval.high - each.interval.low < 0.9 * np.hypot(widths[0], widths[1])


def test_a_rate_of_wrong_annotations_bounds_differences() -> None:
    true, given, _ = noisy_classes()
    (plain,) = of_classes(true, given, (1.5, 0.1)).differences
    for rate, better in ((0.01, "b"), (0.3, "")):
        (each,) = of_classes(true, given, (1.5, 0.1), noise={"v1": rate, "v2": rate}).differences
        assert np.isnan(each.value)
        assert each.better == better
        assert each.interval.low < plain.interval.low
        assert each.interval.high > plain.interval.high
        assert "certified bounds" in each.interval.method
    refuses(DemeleError, "`noise`: unknown factor 'x'", of_classes, true, given, (1.5, 0.1), noise={"x": 0.1})


def test_intervals_over_runs_stay_within_the_range_of_the_metric() -> None:
    factors = np.random.default_rng(3).integers(0, 3, (400, 2)).astype(float)
    noise = (0.0, 0.0, 0.0, 0.7)
    codes = {f"r{k}": factors + own * np.random.default_rng(k).normal(size=(400, 2)) for k, own in enumerate(noise)}
    found = demele.compare_representations(codes, factors, ["modularity"], runs={"a": list(codes)})
    (score,) = found.model_scores
    assert score.mean + 1.6 * score.std > 1.0, "Student's interval of these runs leaves the range"
    assert 0.0 < score.interval.low < score.mean < score.interval.high < 1.0


def test_undefined_scores_are_not_compared() -> None:
    def own(codes: Any, factors: Any) -> float:
        return float("nan") if codes.std() > 0.32 else 1.0

    with pytest.warns(demele.errors.DemeleWarning, match="noisy, again: no score of own"):
        found = compared(metrics=["mig", own], n_bootstrap=5)
    each = by(found, "own", "noisy", "clean")
    assert np.isnan(each.value)
    assert each.reason == "noisy has no score by it"
    assert by(found, "mig", "noisy", "clean").interval is not None


def test_mistakes_are_refused_before_anything_is_scored() -> None:
    codes_cases: Any = [
        ({"a": CODES["noisy"]}, {}, "codes: expected at least 2 representations, got 1; demele.evaluate"),
        (CODES["noisy"], {}, "codes: expected a dict of names and codes, or a list of codes, got ndarray"),
        ({1: CODES["noisy"], "b": CODES["clean"]}, {}, "codes: expected names of representations, got 1"),
        ({"a": CODES["noisy"], "b": CODES["clean"][:-1]}, {}, "b: codes and factors: .* got 599 rows of codes and 600"),
        ({"a": CODES["noisy"], "b": CODES["clean"] * np.nan}, {}, "b: codes: 600 non-finite values"),
        (None, {"runs": {}}, "runs: expected a dict of models"),
        (
            None,
            {"runs": {"m": ["noise"]}},
            r"runs\['m'\]: expected one of noisy, .* did you mean",
        ),
        (None, {"runs": {"m": "noisy"}}, "runs: model 'm': expected a list of names"),
        (None, {"runs": {"m": ["noisy", "noisy"]}}, "runs: 'noisy' is in 'm' twice"),
        (None, {"runs": {"m": ["noisy"], "k": ["noisy"]}}, "runs: 'noisy' is in 'k' and in 'm'"),
        (None, {"runs": {"clean": ["noisy"]}}, "runs: model 'clean' has the name of a representation"),
        (None, {"paired_runs": True}, "paired_runs: pairs the runs of models, and no runs are named"),
        (None, {"runs": {"m": ["noisy", "again"]}, "paired_runs": True}, "paired_runs: expected as many runs"),
        (None, {"against": "cleen"}, "against: expected one of noisy, again, clean, got 'cleen'; did you mean"),
        (None, {"primary": "sap"}, "primary: expected 'mig', got 'sap'"),
        (None, {"n_bootstrap": 1}, "bootstrap: expected 0 or at least 2 resamples"),
    ]
    for codes, options, message in codes_cases:
        refuses(DemeleError, message, compared, codes, ["mig"], **options)
    refuses(DemeleError, "noise_method: needs", demele.Factors, FACTORS, noise_method="audited")


def test_evaluate_leads_to_the_function_for_several() -> None:
    refuses(DemeleError, r"got 3 in a dict; demele\.compare_representations", demele.evaluate, CODES, FACTORS, "all")


def test_codes_without_names() -> None:
    assert compared([CODES["noisy"], CODES["clean"]], ["mig"]).names == ("codes 1", "codes 2")


# How many wrong annotations an order bears ---------------------------------------------------------------------------


Floats = NDArray[np.float64]


@pytest.fixture(autouse=True)
def fewer_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that are a little wider, and rates to a coarser precision, take seconds less."""
    monkeypatch.setattr("demele.estimation.annotation_errors.STEPS", 40)
    monkeypatch.setattr("demele.scoring.several.PRECISION", 0.002)


def drawn() -> tuple[Floats, Floats, pd.DataFrame]:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, (300, 2))
    factors = pd.DataFrame(values.astype(str), columns=["shape", "scale"])
    better, worse = (values + spread * rng.normal(size=values.shape) for spread in (0.25, 0.5))
    return better, np.column_stack([worse, rng.normal(size=300)]), factors


def test_the_order_lies_between_guarantee_and_attack() -> None:
    better, worse, factors = drawn()
    found = demele.probes.breakdown(worse, better, factors, names=("old", "new"))
    assert (found.metric, found.ahead, found.behind, found.n) == ("mig", "new", "old", 300)
    expected = [demele.metrics.mig(codes, factors).value for codes in (better, worse)]
    assert_close([found.value_ahead, found.value_behind], expected, ROUNDING)
    assert 0.01 < found.guaranteed < found.attained < 0.3

    def bounds(codes: Floats, rate: float) -> tuple[float, float]:
        score = demele.evaluate(codes, demele.Factors(factors, noise={"shape": rate, "scale": rate}), ["mig"])["mig"]
        return score.corrected.interval.low, score.corrected.interval.high

    for rate, kept in ((found.guaranteed, True), (found.guaranteed + 0.002, False)):
        assert (bounds(better, rate)[0] > bounds(worse, rate)[1]) is kept


def test_equal_representations_have_no_order_to_lose() -> None:
    better, _, factors = drawn()
    found = demele.probes.breakdown(better, better, factors)
    assert (found.guaranteed, found.attained) == (0.0, 0.0)
    assert "score the same" in found.sentence


def missing_some() -> tuple[Floats, Floats, pd.DataFrame]:
    """A tenth of the shapes and a third of the scales are not annotated; the codes know nothing of which."""
    better, worse, factors = drawn()
    rows = np.random.default_rng(1).permutation(len(factors))
    factors.loc[rows[:30], "shape"] = None
    factors.loc[rows[20:120], "scale"] = None
    return better, worse, factors


@pytest.mark.parametrize("metric", ["mig", "mig_sup", "dcimig"])
def test_factors_are_taken_on_the_rows_annotated_for_them(metric: str) -> None:
    better, worse, factors = missing_some()
    found = demele.probes.breakdown(better, worse, factors, metric, missing="omit")
    known = demele.Factors(factors, missing="omit")
    whole = [demele.evaluate(codes, known, [metric])[metric].value for codes in (better, worse)]
    assert_close([found.value_ahead, found.value_behind], whole, ROUNDING)
    assert 0 < found.guaranteed < found.attained < 0.3
    assert found.n == 270


def test_an_evaluation_has_bounds_of_gaps_and_says_why_others_have_none() -> None:
    better, _, factors = drawn()
    found = demele.evaluate(better, demele.Factors(factors, noise={"shape": 0.02}), ["mig", "mig_sup", "jemmig"])
    score = found["mig"]
    assert math.isnan(score.corrected.value)
    assert score.corrected.interval.low < score.value < score.corrected.interval.high
    assert score.corrected.interval.kind == "bounds"
    assert "At most 2% of the annotations of 'shape' are wrong." in score.corrected.assumptions
    assert "The annotations of 'scale' are right." in score.corrected.assumptions
    jemmig = found["jemmig"]
    assert jemmig.corrected is None
    assert any("not of JEMMIG" in note.message for note in jemmig.notes if note.code == "not-corrected")


def test_bounds_are_of_plain_histograms() -> None:
    better, _, factors = drawn()
    noisy = demele.Factors(factors, noise={"shape": 0.05})
    for options in ({"correction": "miller-madow"}, {"estimator": "knn"}):
        found = demele.evaluate(better, noisy, ["mig"], options={"mig": options})
        assert found["mig"].corrected is None
    low, high = BOUNDS["mig"](information_bounds([np.full((2, 3, 3), 5.0)], [0.0]))
    assert_close([low, high], [0.0, 0.0], {"rtol": 0, "atol": 1e-4})
