"""One call: what is asked is checked first, every value is kept with its seed, and mistakes are told, never silent."""

import functools
import json
import math
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

import demele
from demele import bench
from demele.bench import AtLeast, Falls, Holds, Keeps
from demele.bench.run import drawn
from demele.core.errors import DemeleWarning, InputError, InputTypeError, UnknownNameError
from tests.bench.own import correlation, half, sometimes
from tests.bench.own import mine as plain
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

Array = NDArray[np.float64]
N = 150


def mine(**given: Any) -> bench.Scenario:
    return plain(**{"wanted": {"any": (bench.Holds(0.1),)}, **given})


def spread(codes: Array, factors: Array) -> float:
    return float(codes.std())


#: First codes of the representations that :func:`counted` was called with.
CALLS: list[float] = []
#: A new function is called twice on one representation, to see whether it can do it again.
TRIALS = 1


def counted(codes: Array, factors: Array) -> float:
    CALLS.append(float(codes[0, 0]))
    return float(codes.mean())


@pytest.fixture
def calls() -> list[float]:
    CALLS.clear()
    return CALLS


def quietly(*args: Any, **given: Any) -> bench.Characterisation:
    """Characterise metrics that may give no value on the first representation, which is told by a warning."""
    with warnings.catch_warnings(action="ignore", category=DemeleWarning):
        return bench.check_metrics(*args, **given)


# Rows, criteria, verdicts ---------------------------------------------------------------------------------------------


@functools.cache
def small() -> bench.Characterisation:
    """Two scores of one model and one that has a row of its own, then two functions."""
    metrics: list[Any] = ["mig", "dci_forest_modularity", "dci_forest_compactness", correlation, half]
    return bench.check_metrics(metrics, mine(), seeds=3, slow_seeds=1, n_rows=N)


@pytest.mark.parametrize(
    ("row", "criterion", "message"),
    [
        ("dci_forest_modularity", "mine", "row: expected one of .*got 'dci_forest_modularity'"),
        ("mig", None, "criterion: expected .mine., got None"),
    ],
)
def test_a_verdict_that_is_not_there_suggests_the_nearest(row: str, criterion: Any, message: str) -> None:
    refuses(UnknownNameError, message, small().verdict, row, criterion)


# Values ---------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
@pytest.mark.parametrize("name", ["mixing", "redundant", "bins"])
def test_values_are_those_of_evaluate_to_the_bit(name: str) -> None:
    # only some metrics take a number of bins
    asked: list[Any] = ["mig", "jemmig", *([] if name == "bins" else ["sap", "z_min_variance", "rmig", correlation])]
    frame = bench.check_metrics(asked, name, seeds=2, n_rows=N).value_frame()
    assert (len(frame), set(frame["scenario"])) == (len(asked) * 2 * len(bench.scenario(name).severities), {name})
    assert frame["reason"].eq("").all()
    groups: Any = frame.groupby(["severity", "seed"])
    for (severity, seed), rows in groups:
        values = dict(zip(rows["metric"], rows["value"], strict=True))
        given = drawn(bench.scenario(name), severity, int(seed), N)
        if name != "bins":
            assert values.pop("correlation") == correlation(given.codes, given.factors)
        codes_std = np.broadcast_to(0.01 * given.codes.std(axis=0), given.codes.shape)
        codes = demele.Codes(given.codes, std=codes_std)
        expected = demele.evaluate(codes, given.factors, list(values), seed=int(seed), options=given.options)
        assert_exact(list(values.values()), [expected[metric].value for metric in values])


def test_points_of_curves_are_means_with_student_intervals() -> None:
    found = quietly([sometimes, spread], "mixing", seeds=6, n_rows=N, level=0.8)
    values, points = found.value_frame(), found.curve_frame()
    assert list(points.columns) == ["scenario", "severity", "label", "metric", "mean", "low", "high", "std", "seeds"]
    assert len(points) == 2 * 6
    counts = set()
    for line in points.to_dict("records"):
        chosen = (values["metric"] == line["metric"]) & (values["severity"] == line["severity"])
        own = values[chosen]["value"].dropna().to_numpy()
        assert (line["scenario"], line["label"]) == ("mixing", f"{line['severity']:g}")
        assert line["seeds"] == len(own)
        counts.add(len(own))
        assert_close(line["mean"], own.mean() if len(own) else math.nan, ROUNDING)
        if len(own) < 2:
            assert_exact([line["low"], line["high"], line["std"]], [math.nan] * 3)
            continue
        low, high = stats.t.interval(0.8, len(own) - 1, loc=own.mean(), scale=stats.sem(own))
        assert_close([line["low"], line["high"], line["std"]], [low, high, stats.tstd(own)], ROUNDING)
    assert len(counts) > 2  # the metric that fails did so here and there


# Metrics that fail, and metrics of one's own --------------------------------------------------------------------------


def raises(codes: object, factors: object) -> float:
    raise ZeroDivisionError("by nothing")


def returns_nan(codes: object, factors: object) -> float:
    return math.nan


@pytest.mark.parametrize(
    ("metric", "reason"),
    [(raises, "raises raised ZeroDivisionError: by nothing"), (returns_nan, "returns_nan returned NaN")],
)
def test_a_metric_that_gives_nothing_is_told_so_and_the_others_go_on(metric: Any, reason: str) -> None:
    with pytest.warns(DemeleWarning, match=f"on scenario 'mine' at 0.5: {reason}; the run continues$"):
        found = bench.check_metrics([metric, half], mine(), seeds=2, n_rows=100)
    curve = found.curves[metric.__name__, "mine"]
    assert (curve.n, curve.failed) == ([0, 0], [2, 2])
    assert curve.reasons == ((reason, reason),) * 2
    verdict = found.verdict(metric.__name__, "mine")
    assert verdict.status == "fails"
    assert verdict.summary == f"no value at 0: {reason}"
    assert found.verdict("half", "mine").status == "holds"
    lines = found.to_dict()["curves"]
    assert [line["mean"] for line in lines] == [[None, None], [0.5, 0.5]]
    assert [line["reasons"] for line in lines] == [[reason, reason], [None, None]]


def test_a_function_that_is_tried_sees_a_representation_of_the_run(calls: list[float]) -> None:
    bench.check_metrics(counted, mine(), seeds=1, n_rows=100)
    expected = [float(drawn(mine(), severity, 0, 100).codes[0, 0]) for severity in (0.0, 0.5, 0.5)]
    assert sorted(calls) == sorted(expected)


# What is asked --------------------------------------------------------------------------------------------------------

WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"seeds": 0}, InputError, "seeds: expected a whole number >= 1, got 0"),
    (
        {"seeds": {"source": 1, "added": True}},
        InputTypeError,
        r"seeds\['added'\]: expected a whole number >= 1, got True",
    ),
    ({"slow_seeds": 0}, InputError, "slow_seeds: expected a whole number >= 1, got 0"),
    ({"executor": 2}, InputTypeError, "executor: expected one with a method submit, got int"),
    ({"protocol": "review2023"}, UnknownNameError, "protocol: unknown protocol 'review2023'.*review2022"),
    ({"metrics": [counted, "migg"]}, UnknownNameError, "migg.*mig"),
    ({"metrics": [counted, 5]}, InputTypeError, "metrics: expected a name or a callable"),
    ({"metrics": lambda codes: 0.5}, InputTypeError, "<lambda> cannot be called with"),
    ({"metrics": []}, InputError, "metrics: expected at least one"),
    ({"scenarios": ["mixing", "nois"]}, UnknownNameError, "scenarios: unknown scenario 'nois'.*noise"),
    ({"scenarios": [5]}, InputTypeError, "scenarios: expected a name or a Scenario, got int"),
]


@pytest.mark.parametrize(("given", "error", "message"), WRONG)
def test_what_cannot_be_is_refused_before_anything_is_computed(
    given: dict[str, Any], error: type[Exception], message: str, calls: list[float], tmp_path: Path
) -> None:
    path = tmp_path / "rows"
    usual: dict[str, Any] = {"metrics": counted, "scenarios": ["mixing", mine()], "seeds": 1, "n_rows": 100}
    with pytest.raises(error, match=f"^{message}" if ":" in message else message) as told:
        bench.check_metrics(**{**usual, **given}, store=path)
    assert type(told.value) is error
    assert calls == []
    assert not path.exists()


def test_seeds_of_each_scenario_and_of_slow_metrics() -> None:
    metrics: list[Any] = ["mig", "explicitness", half]
    own = mine(severities=(0.5,), wanted={})
    given = {"source": 4, "added": 3}
    slow = {"source": 1, "mine": 2}
    found = bench.check_metrics(metrics, ["redundant", own], seeds=given, slow_seeds=slow, n_rows=100)
    assert {key: curve.n for key, curve in found.curves.items()} == {
        ("mig", "redundant"): [4] * 4,
        ("explicitness", "redundant"): [1] * 4,
        ("half", "redundant"): [4] * 4,
        ("mig", "mine"): [3],
        ("explicitness", "mine"): [2],
        ("half", "mine"): [3],
    }
    assert dict(found.seeds) == {"redundant": 4, "mine": 3}
    assert dict(found.slow_seeds) == {"redundant": 1, "mine": 2}


# Where it works, and what is there already ----------------------------------------------------------------------------


def test_a_store_goes_on_with_more_seeds_metrics_and_scenarios(calls: list[float], tmp_path: Path) -> None:
    path, own = tmp_path / "rows", mine()

    def again(metrics: Any, scenarios: Any, seeds: int) -> tuple[int, pd.DataFrame]:
        calls.clear()
        found = bench.check_metrics(metrics, scenarios, seeds=seeds, n_rows=N, store=path)
        return len(calls), found.value_frame()

    assert again(counted, own, 2)[0] == 2 * 2 + TRIALS
    assert again(counted, own, 2)[0] == 0
    assert again(counted, own, 3)[0] == 2
    assert again([counted, "mig"], own, 3)[0] == 0
    number, found = again(["mig", counted], [own, "mixing"], 3)
    assert number == 6 * 3
    metrics: list[Any] = ["mig", counted]
    fresh = bench.check_metrics(metrics, [own, "mixing"], seeds=3, n_rows=N).value_frame()
    pd.testing.assert_frame_equal(found, fresh, check_exact=True)
    number, fewer = again(counted, own, 1)
    assert number == 0
    assert list(fewer["seed"]) == [0, 0]


def test_rows_from_before_a_metric_joined_its_group_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    bench.check_metrics("mig", mine(), seeds=1, n_rows=N, store=path)
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    for record in records:
        del record["values"]["dmig"]
    path.write_text("\n".join([first, *map(json.dumps, records)]) + "\n", encoding="utf-8")
    assert bench.check_metrics("mig", mine(), seeds=1, n_rows=N, store=path).curves["mig", "mine"].n == [1, 1]
    with pytest.raises(InputError, match=r"^store: has rows that were made before dmig was measured with them"):
        bench.check_metrics("dmig", mine(), seeds=1, n_rows=N, store=path)


def test_the_table_holds_all_groups_and_no_other_is_known() -> None:
    found = bench.check_metrics(half, ["mixing", mine()], seeds=1, n_rows=100)
    assert (
        list(found.table()) == [*found.table("review"), *found.table("added")] == [item.name for item in found.criteria]
    )
    refuses(InputError, "group: expected 'review' or 'added', got 'source'", small().table, "source")


#: Most metrics here give no value, and a warning says so before the run.
pytestmark = pytest.mark.filterwarnings("ignore:.* has no value on scenario:demele.core.errors.DemeleWarning")

SMALL: dict[str, Any] = {"seeds": 1, "n_rows": 100}


def mine_of_three(**given: Any) -> bench.Scenario:
    return plain(**{"severities": (0.0, 0.5, 1.0), **given})


def reason_of(returned: Any) -> str:
    found = bench.check_metrics(lambda codes, factors: returned(), ["mixing"], **SMALL)
    (curve,) = found.curves.values()
    assert curve.n == [0] * 6
    return curve.reasons[0][0]


# Metrics


@pytest.mark.parametrize("returned", ["0.5", b"0.5", 1j, np.complex128(1 + 1j), np.complex64(1)])
def test_what_float_would_take_but_is_no_real_number_is_no_value(returned: Any) -> None:
    assert "which is no real number" in reason_of(lambda: returned)


def test_a_metric_that_ends_the_process_does_not_end_the_run() -> None:
    assert reason_of(lambda: sys.exit(0)) == "<lambda> raised SystemExit: 0"


@pytest.mark.parametrize("name", ["information", "dci_forest", "dci_lasso", "dci_boosting"])
def test_names_of_groups_are_not_shared_with_a_function(name: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' is a group of metrics of demele; give yours another name"):
        bench.candidate(half, name=name)


def test_a_function_called_like_a_row_gets_a_row_of_its_own() -> None:
    def dci_lasso(codes: object, factors: object) -> float:
        return 0.5

    # of two factors: quick to fit
    found = bench.check_metrics([dci_lasso, "dci_lasso_modularity"], [mine_of_three()], **SMALL)
    assert [row.name for row in found.rows] == ["dci_lasso-2", "dci_lasso"]
    own = [item["printed"] for item in found.to_dict()["verdicts"] if item["row"] == "dci_lasso-2"]
    assert own == [None] * len(found.criteria)


# Scenarios


def test_scenarios_that_cannot_be_asked_are_refused_at_once() -> None:
    given_cases: Any = [
        ({"wanted": {"any": Holds()}}, r"wanted\['any'\]: expected a tuple of expectations"),
        ({"wanted": {"any": ("falls",)}}, r"wanted\['any'\]: expected a tuple of expectations, .*falls"),
        ({"wanted": (Holds(),)}, "wanted: expected a mapping"),
        ({"wanted": {"any": (Holds(start=1.0, stop=0.0),)}}, "start: 1 comes after 0 in the sweep"),
        ({"wanted": {"any": (Falls(0.2, start=1.0, stop=0.0),)}}, "start: 1 comes after 0 in the sweep"),
        ({"wanted": {"any": (Keeps(stop=0.0),)}}, "asks nothing of"),
        ({"wanted": {"any": (AtLeast(float("nan")),)}}, "expected finite numbers"),
        ({"wanted": {"any": (AtLeast("high"),)}}, "expected finite numbers"),  # type: ignore[arg-type]
        ({"wanted": {"any": (Holds("near"),)}}, "expected numbers"),  # type: ignore[arg-type]
        ({"labels": (1, 2, 3)}, "expected labels that are text"),
        ({"labels": "abc"}, "expected labels that are text"),
        ({"severities": "123"}, "expected at least one severity"),
        ({"kind": "own"}, "kind: expected one of source, added, settings, got 'own'"),
        ({"declines": "no"}, "declines is not a function"),
    ]
    for given, message in given_cases:
        refuses(InputError, f"^scenario 'mine': .*{message}", mine_of_three, **given)


def test_a_fall_without_steps_or_total_is_refused() -> None:
    refuses(InputError, "give the least fall in all as total", Falls, every_step=False)


def test_a_draw_that_ends_the_process_is_told() -> None:
    with pytest.raises(InputError, match=r"scenario 'mine', severity 0\.5, seed 0: draw raised SystemExit: 0"):
        bench.check_metrics(half, mine_of_three(draw=lambda rng, severity, n: sys.exit(0)), **SMALL)


# Files


def test_what_is_no_path_is_refused_before_anything_is_computed() -> None:
    store: Any = 5
    refuses(InputTypeError, "store: expected the path of a", bench.check_metrics, half, "mixing", store=store, **SMALL)
    refuses(InputError, r"store: .*null (byte|character)", bench.check_metrics, half, "mixing", store="a\0b", **SMALL)


# Protocols, sizes, signatures


def test_sweeps_around_other_settings_are_left_out() -> None:
    with pytest.warns(DemeleWarning, match="'settings' sweeps around the settings of 'review2022'"):
        found = bench.check_metrics("irs", ["mixing", "settings"], seeds=1, n_rows=200, protocol="dlib2019")
    assert [item.name for item in found.scenarios] == ["mixing"]
    with (
        pytest.warns(DemeleWarning, match="left out"),
        pytest.raises(InputError, match="scenarios: none is left under the protocol 'robust'"),
    ):
        bench.check_metrics("irs", "settings", seeds=1, n_rows=200, protocol="robust")


def test_no_metric_gets_more_rows_than_the_run_has() -> None:
    seen = []

    def counting(codes: np.ndarray[Any, Any], factors: object) -> float:
        seen.append(len(codes))
        return 0.5

    found = bench.check_metrics(counting, ["sample_size", "chance"], seeds=1, n_rows=500)
    assert sorted(set(seen)) == [100, 200, 500]
    assert [item.severities for item in found.scenarios] == [(500.0, 200.0, 100.0)] * 2


def test_a_function_that_draws_without_a_seed_is_told_before_the_run() -> None:
    calls = []

    def drifting(codes: object, factors: object) -> float:
        calls.append(1)
        return float(len(calls))

    with pytest.warns(DemeleWarning, match="drifting gave 1.0 and then 2.0 on scenario 'mixing' at 0.3, on the same"):
        found = bench.check_metrics(drifting, "mixing", **SMALL)
    assert sum(curve.n[0] for curve in found.curves.values()) == 1
    assert len(calls) == 6 + 1  # one for each severity, and the second look at the first


def test_what_drifts_is_told_wherever_its_rows_are_shown(tmp_path: Path) -> None:
    runs = []
    for _ in range(2):  # as its rows are made, and as they are found again
        with pytest.warns(DemeleWarning, match=r"unseeded gave .* on the same arrays"):
            runs.append(bench.check_metrics(unseeded, "mixing", store=tmp_path / "rows", **SMALL))
    found = runs[-1]
    runs.append(bench.load(found.save(tmp_path / "a.json.gz")))
    for one in runs:
        assert one.drifting == runs[0].drifting
        (metric,) = one.to_dict()["metrics"]
        assert metric["stochastic"] is True
        assert metric["drifts"] == runs[0].drifting["unseeded"]
    page = found.to_html(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "raws without a seed" in page


def unseeded(codes: object, factors: object) -> float:
    return float(np.random.default_rng().random())


def test_a_model_stands_for_its_three_scores() -> None:
    found = bench.check_metrics(["dci_lasso", "dci_lasso_modularity"], [mine_of_three()], **SMALL)
    assert [item.name for item in found.candidates] == [
        f"dci_lasso_{name}" for name in ("modularity", "compactness", "explicitness")
    ]
