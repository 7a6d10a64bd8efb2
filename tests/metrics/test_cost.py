"""What a long evaluation will cost is told early, in words, and changes no number."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import demele
from demele.metrics import cost, tasks
from demele.metrics.cost import Runs, forecast
from demele.runtime.progress import Announcement

DRAWS: list[tuple[tasks.Variant, int]] = [("repeat", 0), ("half", 0), ("half", 1)]


def test_seconds_of_the_first_run_times_runs_to_come_over_processes() -> None:
    one = Runs("dci_forest", 10.0, halves=30, wholes=15)
    assert one.left == 10 * (15 + 0.5 * 30) == 300
    told = forecast([one])
    assert told is not None
    assert told.startswith("about 5 min to go: dci_forest takes 100%")
    shared = forecast([one], n_jobs=2)
    assert shared is not None
    assert shared.startswith("about 150 s to go")
    assert forecast([one], n_jobs=6) is None  # 50 seconds


def test_what_takes_most_is_named_and_what_it_would_take_without() -> None:
    told = forecast([Runs("sap", 1.0, 0, 60), Runs("dci_boosted", 4.0, 0, 60), Runs("explicitness", 5.0, 0, 60)])
    assert told == "about 10 min to go: explicitness takes 50%, dci_boosted 40%. Without explicitness about 5 min"


def test_half_the_half_samples_are_offered_with_their_price_where_they_matter() -> None:
    told = forecast([Runs("explicitness", 10.0, 60, 6)])
    assert told is not None
    assert "Half as many half-samples: about 4 min, and ends of intervals vary 1.4 times" in told
    few = forecast([Runs("explicitness", 10.0, 2, 60)])
    assert few is not None
    assert "half-samples" not in few


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_forecast_comes_after_the_first_runs_and_changes_no_number(
    monkeypatch: pytest.MonkeyPatch, n_jobs: int
) -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (120, 2))
    codes = factors + rng.normal(size=(120, 2))
    call: Callable[..., demele.Evaluation] = lambda **more: demele.evaluate(  # noqa: E731
        codes, factors, ["sap", "explicitness"], bootstrap=3, chance=2, n_jobs=n_jobs, **more
    )
    silent = call()
    monkeypatch.setattr(cost, "LONG", 0.0)
    heard: list[tuple[float, str]] = []
    said = call(progress=lambda done, total, label: heard.append((done, label)))
    assert (
        said.to_frame()
        .drop(columns="seconds", errors="ignore")
        .equals(silent.to_frame().drop(columns="seconds", errors="ignore"))
    )
    (place,) = (at for at, (_, label) in enumerate(heard) if isinstance(label, Announcement))
    done, told = heard[place]
    assert done == 2  # one run of each metric
    assert "to go: " in told
    counts = [step for step, _ in heard]
    assert counts == sorted(counts)
    assert len(set(heard)) == len(heard)


def test_no_forecast_for_what_is_quick() -> None:
    heard: list[str] = []
    factors = np.arange(200).reshape(-1, 1) % 4
    demele.evaluate(factors + 0.0, factors, ["sap"], bootstrap=3, progress=lambda *what: heard.append(what[2]))
    assert heard
    assert not any(isinstance(label, Announcement) for label in heard)


def test_runs_are_counted_by_what_shares_a_fit() -> None:
    def task(stream: str, variant: tasks.Variant, index: int) -> tasks.Task:
        return tasks.Task(stream=stream, readings={stream: None}, options={}, seed=0, variant=variant, index=index)  # type: ignore[dict-item]

    made = [task(s, v, i) for s, (v, i) in itertools.product("ab", DRAWS)]
    first, later = tasks._first_and_later(made)
    assert (first, later) == ([0, 3], [1, 2, 4, 5])
    found = {place: tasks.TaskResult({}, None, 100.0 * (1 + place)) for place in first}
    told = tasks._cost(made, found, 1)
    assert told is not None
    assert told.startswith("about 8 min to go: b takes 80%, a 20%")
