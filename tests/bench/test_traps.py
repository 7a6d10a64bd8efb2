"""Mistakes that users make with metrics, scenarios and files of their own: told in words, or a reason, never silent."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele import bench
from demele.bench import AtLeast, Falls, Holds, Keeps
from demele.core.errors import DemeleWarning, InputError, InputTypeError
from tests.bench.own import half
from tests.bench.own import mine as plain
from tests.refusals import refuses

#: Most metrics here give no value, and a warning says so before the run.
pytestmark = pytest.mark.filterwarnings("ignore:.* has no value on scenario:demele.core.errors.DemeleWarning")

SMALL: dict[str, Any] = {"seeds": 1, "n_rows": 100}


def mine(**given: Any) -> bench.Scenario:
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

    found = bench.check_metrics([dci_lasso, "dci_lasso_modularity"], [mine()], **SMALL)  # of two factors: quick to fit
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
        refuses(InputError, f"^scenario 'mine': .*{message}", mine, **given)


def test_a_fall_without_steps_or_total_is_refused() -> None:
    refuses(InputError, "give the least fall in all as total", Falls, every_step=False)


def test_a_draw_that_ends_the_process_is_told() -> None:
    with pytest.raises(InputError, match=r"scenario 'mine', severity 0\.5, seed 0: draw raised SystemExit: 0"):
        bench.check_metrics(half, mine(draw=lambda rng, severity, n: sys.exit(0)), **SMALL)


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


def test_a_function_that_takes_something_else_is_refused_at_once() -> None:
    refuses(InputTypeError, r"only_codes cannot be called with", bench.check_metrics, only_codes, "mixing", **SMALL)


def only_codes(codes: object) -> float:
    return 0.5


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
    found = bench.check_metrics(["dci_lasso", "dci_lasso_modularity"], [mine()], **SMALL)
    assert [item.name for item in found.candidates] == [
        f"dci_lasso_{name}" for name in ("modularity", "compactness", "explicitness")
    ]
