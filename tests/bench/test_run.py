"""A run: its metrics and keys, the same records wherever it works, reasons where there is no number, what is left."""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demele
from demele.bench.expectations import Candidate, Representation, Scenario
from demele.bench.run import Plan, candidate, chosen_candidates, drawn, measured, record_key
from demele.bench.scenarios import SCENARIOS, scenario
from demele.core.errors import InputError, InputTypeError, UnknownNameError
from demele.core.signature import fingerprint
from demele.core.store import Key, Store
from demele.noise.transition import TransitionMatrix
from demele.runtime.sweep import Sweep
from tests.bench.own import correlation, draw, half, mine, sometimes
from tests.refusals import refuses
from tests.tolerances import assert_exact

IDENTITY: dict[str, str | int] = {"demele": "0.1.0"}
N = 200


def scenario_of(function: Any = draw, **given: Any) -> Scenario:
    return mine(draw=function, **given)


def plan_of(metrics: Any, scenarios: Any, seeds: int = 2, n_samples: int = N) -> Plan:
    return Plan(metrics, scenarios, seeds, seeds, n_samples, "review2022")


def run(plan: Plan, sweep: Sweep | None = None, **given: Any) -> Store:
    """Return the records of a run, or of one more run of a sweep."""
    sweep = sweep or Sweep(IDENTITY, **given)
    sweep.run(measured, plan.tasks(), what="representations to measure")
    return sweep.records


def records_of(plan: Plan, **given: Any) -> dict[Key, dict[str, Any]]:
    """Return the records of a run without their seconds."""
    return without_seconds(run(plan, **given))


def without_seconds(store: Store) -> dict[Key, dict[str, Any]]:
    return {key: {what: value for what, value in store[key].items() if what != "seconds"} for key in sorted(store)}


# The records ----------------------------------------------------------------------------------------------------------


def test_a_group_is_measured_where_one_of_it_is_not_declined() -> None:
    own = scenario_of(declines=lambda item: "not this" if item.name == "mig" else None)
    assert {task.key[3] for task in plan_of(["mig", "dmig"], [own]).tasks()} == {"information"}
    assert not plan_of(["mig"], [own]).tasks()


# Where it works -------------------------------------------------------------------------------------------------------


def grid() -> Plan:
    metrics = ["mig", "rmig", "sap", "z_min_variance", "irs", correlation, sometimes]
    return plan_of(metrics, ["noise", "redundant", scenario_of()], seeds=2)


def test_two_workers_give_the_records_of_one() -> None:
    assert records_of(grid(), n_jobs=2) == records_of(grid())


def test_functions_without_a_module_reach_the_workers() -> None:
    own = scenario_of(lambda rng, severity, n: draw(rng, severity, n))
    plan = plan_of([lambda codes, factors: float(codes.mean())], [own])
    assert records_of(plan, n_jobs=2) == records_of(plan)


# Scenarios that fail --------------------------------------------------------------------------------------------------


def fails_late(rng: np.random.Generator, severity: float, n: int) -> tuple[Any, Any]:
    codes, factors = draw(rng, severity, n)
    if severity == 0.5 and rng.random() < 2:
        raise ZeroDivisionError("by nothing")
    return codes, factors


WHERE = "scenario 'mine', severity 0.5, seed 0: "


def test_a_draw_that_raises_names_its_place_and_keeps_what_is_finished() -> None:
    sweep = Sweep(IDENTITY)
    with pytest.raises(InputError, match=f"^{WHERE}draw raised ZeroDivisionError: by nothing$"):
        run(plan_of(["mig"], ["mixing", scenario_of(fails_late)]), sweep)
    store = sweep.records
    assert {(str(key[0]).partition("@")[0], key[2]) for key in store} == {("mixing", 0), ("mine", 0)}
    assert len(store) == len(scenario("mixing").severities) + 1


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (5, "draw must return .* got int"),
        ((1, 2, 3), "draw must return .* got tuple"),
        ((np.full((20, 2), np.nan), np.ones((20, 2))), "codes: "),
        ((np.array([["a", "b"]] * 20), np.ones((20, 2))), "codes: "),
        ((np.random.default_rng(0).random((20, 2)), np.ones((20, 2))), "factors: every factor is constant"),
        ((np.ones((20, 2)), np.ones((19, 2))), "codes and factors: expected the same number of rows"),
    ],
)
@pytest.mark.parametrize("metric", ["mig", "rmig"])
def test_a_draw_that_cannot_be_used(returned: Any, message: str, metric: str) -> None:
    own = scenario_of(lambda rng, severity, n: returned, severities=(0.5,))
    refuses(InputError, WHERE + message, records_of, plan_of([metric], [own]))


def test_options_of_a_scenario_that_no_metric_has() -> None:
    def with_options(rng: np.random.Generator, severity: float, n: int) -> Representation:
        codes, factors = draw(rng, severity, n)
        return Representation(codes=codes, factors=factors, options={"information": {"bin": 5}})

    with pytest.raises(InputError, match=WHERE + "options: no information-based metric has an option 'bin'"):
        records_of(plan_of(["mig"], [scenario_of(with_options, severities=(0.5,))]))


def test_a_paired_scenario_changes_one_draw() -> None:
    def paired(rng: np.random.Generator, severity: float, n: int) -> tuple[Any, Any]:
        factors = rng.random((n, 2))
        return factors + severity, factors

    one, other = (drawn(scenario_of(paired, paired=True), severity, 3, N).factors for severity in (0.0, 0.5))
    assert_exact(one, other)
    first, second = (drawn(scenario_of(paired), severity, 3, N).factors for severity in (0.0, 0.5))
    assert (first != second).all()


# Only what is left ----------------------------------------------------------------------------------------------------


def test_changed_code_is_computed_again() -> None:
    sweep = Sweep(IDENTITY)

    def rows(constant: float) -> int:
        return len(run(plan_of((candidate(lambda codes, factors: constant, name="own"),), ["mixing"], seeds=1), sweep))

    assert [rows(0.25), rows(0.25), rows(0.5), rows(0.25)] == [6, 6, 12, 12]
    assert (
        sorted(record["values"]["own"] for record in without_seconds(sweep.records).values()) == [0.25] * 6 + [0.5] * 6
    )


# other numbers of a score than its value


def mistaken(rng: np.random.Generator, severity: float, n: int) -> Representation:
    true = rng.integers(0, 3, (n, 2))
    given = np.where(rng.random((n, 2)) < severity, (true + 1) % 3, true)
    known = TransitionMatrix((1 - severity) * np.eye(3) + severity * np.roll(np.eye(3), 1, axis=1))
    return Representation(
        codes=true + rng.normal(0, 0.3, (n, 2)), factors=given, kinds="categorical", factor_noise={"v1": known}
    )


def test_a_corrected_score_is_that_of_evaluate() -> None:
    own = scenario_of(mistaken, severities=(0.2,), score="corrected")
    record = records_of(plan_of(["mig", "mcc"], [own], seeds=1, n_samples=500))
    given = drawn(own, 0.2, 0, 500)
    factors = demele.Factors(given.factors, kinds="categorical", noise=given.factor_noise, noise_method="transition")
    found = demele.evaluate(given.codes, factors, ["mig"])["mig"]
    by_group = {key[-1]: one for key, one in record.items()}
    assert by_group["information"]["values"]["mig"] == found.corrected.value != found.value
    assert by_group["mcc"]["values"] == {}
    assert by_group["mcc"]["reasons"]["mcc"].startswith("not corrected for noisy factors: ")


def test_an_aligned_score_is_that_of_evaluate() -> None:
    own = scenario_of(SCENARIOS["rotation"].draw, severities=(0.5,), score="aligned")
    record = records_of(plan_of(["sap", "modularity", correlation], [own], seeds=1, n_samples=1000))
    given = drawn(own, 0.5, 0, 1000)
    found = demele.evaluate(demele.Codes(given.codes, align="rotation"), given.factors, ["sap"])["sap"]
    by_group = {str(key[-1]).partition("@")[0]: one for key, one in record.items()}
    assert by_group["sap"]["values"]["sap"] == found.alignment.aligned != found.value
    assert by_group["information"]["reasons"]["modularity"].startswith("not aligned: ")
    assert by_group["correlation"]["values"]["correlation"] > 0.5  # a function of one's own is turned too


def test_a_scenario_of_corrected_scores_must_say_what_is_known() -> None:
    own = scenario_of(severities=(0.5,), score="corrected")
    refuses(InputError, "expected the noise of at least one factor", records_of, plan_of(["mig"], [own], seeds=1))


def test_rows_of_another_number_of_a_score_are_kept_apart() -> None:
    mig = chosen_candidates(["mig"])[0]
    keys = {record_key(scenario_of(score=which), 0.5, 0, mig) for which in ("value", "corrected", "aligned")}
    assert len(keys) == 3
    refuses(InputError, "score: expected one of value, corrected, aligned, got 'raw'", scenario_of, score="raw")


# Choosing -----------------------------------------------------------------------------------------------------------


def test_names_functions_and_candidates_together() -> None:
    own = candidate(half, name="own", claims=["modularity", "compactness"], discretises=False)
    metrics: list[Any] = ["MIG", half, own, demele.metrics.sap, lambda codes, factors: 1.0]
    found = chosen_candidates(metrics)
    assert [item.name for item in found] == ["mig", "half", "own", "sap", "<lambda>"]
    assert [item.function is None for item in found] == [True, False, False, True, False]
    assert found[2].claims == ("modularity", "compactness")
    assert found[2].may_measure("modularity")
    assert not found[2].may_measure("explicitness")
    assert found[1].may_measure("explicitness")  # it does not say


def test_each_once() -> None:
    own = candidate(half, name="own")
    metrics: list[Any] = ["mig", "mig", demele.metrics.mig, half, half]
    assert len(chosen_candidates(metrics)) == 2
    assert chosen_candidates([own, own]) == (own,)
    assert chosen_candidates([own, half]) == (own,)


def test_functions_of_one_name_are_numbered() -> None:
    first, second = (lambda codes, factors: 1.0), (lambda codes, factors: 2.0)
    found = chosen_candidates([first, second])
    assert [item.name for item in found] == ["<lambda>", "<lambda>-2"]
    assert found[0].key != found[1].key

    def mig(codes: object, factors: object) -> float:
        return 1.0

    assert [item.name for item in chosen_candidates(["mig", mig])] == ["mig", "mig-2"]


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="two are called 'own'"):
        chosen_candidates([candidate(half, name="own"), candidate(lambda codes, factors: 1.0, name="own")])
    ours = Candidate(name="mig", title="Mine", group="mig", function=half)
    orders: list[list[Any]] = [["mig", ours], [ours, "mig"]]
    for both in orders:
        refuses(InputError, "two are called 'mig'", chosen_candidates, both)


@pytest.mark.parametrize(
    ("metrics", "error", "message"),
    [
        ({"mig": half}, InputTypeError, "got dict"),
        (["migg"], UnknownNameError, "mig"),
        ([Candidate(name="migg", title="", group="migg")], UnknownNameError, "mig"),
    ],
)
def test_what_is_no_metric_is_refused(metrics: Any, error: type[InputError], message: str) -> None:
    refuses(error, message, chosen_candidates, metrics)


def test_what_is_said_of_a_function_is_checked() -> None:
    keywords_cases: Any = [
        ({"function": 5}, "function: expected a callable"),
        ({"name": " "}, "name: expected a name"),
        ({"name": 5}, "name: expected a name"),
        ({"name": "mig"}, "is a metric of demele; give yours another name"),
        (
            {"claims": "completeness"},
            "claims: expected one of modularity, .*, got 'completeness'",
        ),
        ({"claims": ["modularity", 5]}, "claims: expected one of modularity, .*, got 5"),
        ({"claims": 5}, "claims: expected modularity, .*, got int"),
        ({"claims": []}, "leave it out to be judged on all"),
        ({"discretises": "no"}, "discretises: expected True or False, got 'no'"),
    ]
    for keywords, message in keywords_cases:
        refuses(InputError, message, candidate, **{"function": half, **keywords})


# Fingerprints -------------------------------------------------------------------------------------------------------


def made(source: str) -> Callable[..., Any]:
    """Return what a script of a user calls ``metric``."""
    names: dict[str, Any] = {"functools": functools, "np": np}
    exec(source, names)
    found: Callable[..., Any] = names["metric"]
    return found


DEFINED = "def metric(codes, factors{more}):\n    {body}\n"
ENCLOSED = (
    "def outer(weight):\n    def metric(codes, factors):\n        return weight\n    return metric\nmetric = outer({})"
)
OBJECT = (
    "class Metric:\n    def __init__(self, weight):\n        self.weight = weight\n"
    "    def __call__(self, codes, factors):\n        return {code}\n"
    "    def other(self, codes, factors):\n        return self.weight\n"
)
SLOTS = (
    "class Metric:\n    __slots__ = ('weight',)\n"
    "    def __call__(self, codes, factors):\n        return self.weight\nmetric = Metric()\nmetric.weight = {}"
)
WRAPPED = "@functools.lru_cache\ndef metric(codes, factors):\n    return {}"
PAIRS = [
    (DEFINED.format(more="", body="return 1.0"), DEFINED.format(more="", body="return 2.0")),
    (DEFINED.format(more="", body="return 1"), DEFINED.format(more="", body="return True")),
    (DEFINED.format(more="", body="return 0.0"), DEFINED.format(more="", body="return -0.0")),
    (DEFINED.format(more=", a=1", body="return a"), DEFINED.format(more=", a=2", body="return a")),
    (
        DEFINED.format(more="", body="return sum(item for item in (1, 2))"),
        DEFINED.format(more="", body="return sum(item for item in (1, 3))"),
    ),
    ("metric = functools.partial(lambda a, c, f: a, 1)", "metric = functools.partial(lambda a, c, f: a, 2)"),
    ("metric = functools.partial(lambda c, f, a: a, a=1)", "metric = functools.partial(lambda c, f, a: a, a=2)"),
    (ENCLOSED.format(1), ENCLOSED.format(2)),
    (ENCLOSED.format("lambda: 1"), ENCLOSED.format("lambda: 2")),
    (ENCLOSED.format("{'a': [1, 2]}"), ENCLOSED.format("{'a': [1, 3]}")),
    (ENCLOSED.format("np.arange(5000)"), ENCLOSED.format("np.arange(5000) + (np.arange(5000) == 2500)")),
    (OBJECT.format(code="1") + "metric = Metric(0)", OBJECT.format(code="2") + "metric = Metric(0)"),
    (OBJECT.format(code="1") + "metric = Metric(0)", OBJECT.format(code="1") + "metric = Metric(1)"),
    (OBJECT.format(code="1") + "metric = Metric(0).other", OBJECT.format(code="1") + "metric = Metric(1).other"),
    (SLOTS.format(1), SLOTS.format(2)),
    (WRAPPED.format(1.5), WRAPPED.format(2.5)),
]


def test_a_change_is_seen_and_the_same_again_is_the_same() -> None:
    for before, after in PAIRS:
        assert fingerprint(made(before)) == fingerprint(made(before))
        assert fingerprint(made(before)) != fingerprint(made(after))


def test_what_holds_itself_is_told() -> None:
    source = (
        "def outer():\n    def metric(codes, factors):\n        return metric(codes, factors) if {} else 0.0\n"
        "    return metric\nmetric = outer()"
    )
    assert fingerprint(made(source.format(1))) != fingerprint(made(source.format("codes")))
    late = (
        "def outer():\n    def metric(c, f):\n        return later\n    return metric\n    later = 1\nmetric = outer()"
    )
    assert fingerprint(made(late)) == fingerprint(made(late))


def test_every_process_tells_the_same(tmp_path: Path) -> None:
    sources = [
        *(source for pair in PAIRS for source in pair),
        DEFINED.format(more="", body="return codes in {'a', 'b', 'c', 'd', 'e'}"),
        ENCLOSED.format("{'a', 'b', 'c', 'd', 'e', 1}"),
        ENCLOSED.format("object()"),
        ENCLOSED.format("__import__('threading').Lock()"),
        ENCLOSED.format("np.random.default_rng(3)"),
        DEFINED.format(more=", a=lambda: 1", body="return a"),
    ]
    script = tmp_path / "told.py"
    script.write_text(
        "import json, sys, functools, numpy as np\n"
        "from demele.core.signature import fingerprint\n"
        "def told(source):\n"
        "    names = {'functools': functools, 'np': np}\n"
        "    exec(source, names)\n"
        "    return fingerprint(names['metric'])\n"
        "print(json.dumps([told(source) for source in json.load(sys.stdin)]))\n"
    )

    def told(seed: str) -> Any:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        finished = subprocess.run(
            [sys.executable, script], input=json.dumps(sources), env=environment, capture_output=True, text=True
        )
        assert finished.returncode == 0, finished.stderr
        return json.loads(finished.stdout)

    assert told("1") == told("2")


def test_the_key_follows_the_function_and_the_name() -> None:
    first = candidate(half)
    assert first.key == f"half@{fingerprint(half)}"
    assert replace(first, title="Other").key == first.key
    assert replace(first, function=lambda codes, factors: 1.0).key != first.key
