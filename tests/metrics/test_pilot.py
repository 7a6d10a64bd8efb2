"""What an evaluation will cost is told before it starts, from a few rows, and changes no number."""

from collections.abc import Callable

import numpy as np
import pytest

import demele
from demele.metrics import cost, pilot
from demele.metrics.cost import Runs, forecast
from demele.metrics.data import Data
from demele.metrics.options import Run
from demele.metrics.source import InMemory
from demele.runtime.progress import Announcement
from demele.scoring.evaluate import checked_call

RNG = np.random.default_rng(0)
FACTORS = RNG.integers(0, 4, (240, 2))
CODES = FACTORS + RNG.normal(size=(240, 2))
NAMES = ["sap", "explicitness"]


@pytest.fixture
def everything_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a pilot be run, and its forecast told, whatever the size; one second is the time of every run."""
    monkeypatch.setattr(cost, "LONG", 0.0)
    monkeypatch.setattr(pilot, "LONG", 0.0)
    monkeypatch.setattr(pilot, "timed", lambda work, data: 20.0 if work(data) else None)


@pytest.mark.usefixtures("everything_is_long")
def test_the_time_is_told_before_the_first_run_once_and_changes_no_number() -> None:
    heard: list[tuple[float, str]] = []
    said = demele.evaluate(
        CODES, FACTORS, NAMES, bootstrap=4, chance=2, progress=lambda done, total, label: heard.append((done, label))
    )
    silent = demele.evaluate(CODES, FACTORS, NAMES, bootstrap=4, chance=2)
    assert [one.value for one in said] == [one.value for one in silent]
    assert [one.interval for one in said] == [one.interval for one in silent]
    assert isinstance(heard[0][1], Announcement)
    # each: 1 run, 2 permutations, 4 half-samples of half the time, at 20 s a run
    assert heard[0][1].startswith("about 3 min in all: ")
    assert "50%" in heard[0][1]
    assert sum(isinstance(label, Announcement) for _, label in heard) == 1


@pytest.mark.usefixtures("everything_is_long")
def test_several_representations_are_forecast_together_and_timed_once_for_each_shape() -> None:
    heard: list[str] = []
    codes = {"a": CODES, "b": CODES + 1, "wide": np.hstack([CODES, CODES])}
    demele.compare_representations(
        codes, FACTORS, NAMES, bootstrap=4, progress=lambda done, total, label: heard.append(label)
    )
    told = [label for label in heard if isinstance(label, Announcement)]
    assert told == heard[:1]
    assert told[0].startswith("about 6 min in all: ")  # 3 representations, 2 metrics, 3 runs' worth, 20 s each


def test_nothing_is_timed_for_nobody_or_for_what_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    timed: list[int] = []
    monkeypatch.setattr(pilot, "timed", lambda work, data: timed.append(data.n))
    demele.evaluate(CODES, FACTORS, NAMES, bootstrap=4, progress=lambda done, total, label: None)
    monkeypatch.setattr(pilot, "LONG", 0.0)
    demele.evaluate(CODES, FACTORS, NAMES, bootstrap=4)
    assert timed == []


@pytest.mark.usefixtures("everything_is_long")
def test_functions_of_the_user_are_not_called_for_a_forecast() -> None:
    calls: list[int] = []

    def own(codes: np.ndarray, factors: np.ndarray) -> float:
        calls.append(len(codes))
        return 0.5

    demele.evaluate(CODES, FACTORS, ["sap", own], progress=lambda done, total, label: None)
    assert calls == [240]


def test_a_predictor_is_timed_on_one_factor_of_each_kind_and_the_time_scaled_to_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shapes: list[tuple[int, int]] = []

    def timed(work: Callable[[Data], bool], data: Data) -> float:
        shapes.append((data.n, data.factors.m))
        return 0.1 if data.factors.columns[0].categorical else 1.0

    monkeypatch.setattr(pilot, "timed", timed)
    monkeypatch.setattr(pilot, "LONG", 0.0)
    n = 20_000
    factors = np.column_stack([*(RNG.integers(0, 3, n) for _ in range(3)), *(RNG.random(n) for _ in range(2))])
    call = checked_call(["dci_forest_modularity", "sap"], Run.checked(bootstrap=4))
    source = call.read(factors + RNG.normal(size=(n, 5)), factors)
    assert isinstance(source, InMemory)
    forest, sap = pilot.runs_ahead(call.asked, source, call.run)
    assert shapes == [(4_000, 1), (4_000, 1), (4_000, 5)]
    rows = (4 * 5_000 + 16_000) / (4 * 3_200)
    assert (forest.name, forest.halves, forest.wholes) == ("dci_forest", 4, 1)
    assert forest.seconds == pytest.approx((3 * 0.1 + 2 * 1.0) * rows)
    assert (sap.name, sap.halves, sap.wholes) == ("sap", 4, 1)
    assert sap.seconds == pytest.approx(0.1 * 5)


def test_rows_of_forests_are_those_of_their_folds_and_trials() -> None:
    assert pilot._forest_rows(500) == 5 * 4 * 400
    assert pilot._forest_rows(2_000) == 2 * 4 * 1_600
    assert pilot._forest_rows(20_000) == 4 * 5_000 + 16_000
    assert (pilot._boosted_rows(6_000), pilot._boosted_rows(60_000)) == (8_000, 14_000)
    assert pilot._lasso_rows(2_000) == 2 * 10_000


def test_more_processes_are_offered_where_one_does_it_all() -> None:
    told = forecast([Runs("sap", 10.0, 0, 60)], processors=4, begun=False)
    assert told == "about 10 min in all: sap takes 100%. In 4 processes about 150 s"
    shared = forecast([Runs("sap", 10.0, 0, 60)], 4, processors=4, begun=False)
    assert shared == "about 150 s in all: sap takes 100%"
