"""One call: what is asked is checked first, every value is kept with its seed, nothing is computed twice."""

import functools
import json
import math
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
