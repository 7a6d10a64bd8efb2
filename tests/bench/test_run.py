"""A run: the same records wherever it works, reasons where there is no number, only what is left computed."""

from typing import Any

import numpy as np
import pytest

import demele
from demele.bench.expectations import Representation, Scenario
from demele.bench.run import Plan, candidate, chosen_candidates, drawn, measured, record_key
from demele.bench.scenarios import SCENARIOS, scenario
from demele.core.errors import InputError
from demele.core.store import Key, Store
from demele.noise.transition import TransitionMatrix
from demele.runtime.sweep import Sweep
from tests.bench.own import correlation, draw, mine, sometimes
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
