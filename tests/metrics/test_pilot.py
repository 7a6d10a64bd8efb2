"""What an evaluation will cost is told before it starts, from a few rows, and changes no number."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import demele
from demele.metrics import cost, pilot
from demele.metrics.cost import Runs, forecast
from demele.runtime.progress import Announcement

RNG = np.random.default_rng(0)
FACTORS = RNG.integers(0, 4, (240, 2))
CODES = FACTORS + RNG.normal(size=(240, 2))
NAMES = ["sap", "explicitness"]


@pytest.fixture
def everything_is_long(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a pilot be run, and its forecast told, whatever the size; one second is the time of every run."""
    monkeypatch.setattr(cost, "LONG", 0.0)
    monkeypatch.setattr(pilot, "LONG", 0.0)
    monkeypatch.setattr(pilot, "_scaled", lambda work, some, fewer, n, seen: 20.0 if work(some) else None)
    return


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
    monkeypatch.setattr(pilot, "_scaled", lambda work, some, fewer, n, seen: timed.append(n))
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


@pytest.mark.parametrize(
    ("time_of", "expected"),
    [
        (lambda n: 2e-3 * n, 200.0),
        (lambda n: 3 + 2e-3 * n, 203.0),
        (lambda n: 1e-6 * n**2, 1e4),
        (lambda n: 5.0, 5.0),
    ],
)
def test_times_of_known_growth_are_extrapolated(time_of: Callable[[float], float], expected: float) -> None:
    found = pilot.extrapolated((500, time_of(500)), (1500, time_of(1500)), 100_000)
    assert found == pytest.approx(expected, rel=1e-9)


def test_rows_of_forests_are_those_of_their_folds_and_trials() -> None:
    assert pilot._forest_rows(500) == 5 * 4 * 400
    assert pilot._forest_rows(2_000) == 2 * 4 * 1_600
    assert pilot._forest_rows(20_000) == 4 * 5_000 + 16_000
    assert (pilot._boosted_rows(6_000), pilot._boosted_rows(60_000)) == (4_000, 10_000)


def test_more_processes_are_offered_where_one_does_it_all() -> None:
    told = forecast([Runs("sap", 10.0, 0, 60)], processors=4, begun=False)
    assert told == "about 10 min in all: sap takes 100%. In 4 processes about 150 s"
    shared = forecast([Runs("sap", 10.0, 0, 60)], 4, processors=4, begun=False)
    assert shared == "about 150 s in all: sap takes 100%"
