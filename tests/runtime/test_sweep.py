"""A sweep: every record once and the same bits, wherever it works; failures, progress, and stopping."""

import multiprocessing
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from demele.core.arrays import rng_for
from demele.core.errors import InputError
from demele.runtime.sweep import Record, Sweep, Task
from demele.runtime.work import progress

IDENTITY: dict[str, str | int] = {"demele": "0.1.0", "run": "toy"}
Point = tuple[str, int]


def drawn(points: tuple[Point, ...]) -> list[Record]:
    return [{"value": float(rng_for(seed, "toy", name).random())} for name, seed in points]


def tasks(names: str = "abc", seeds: int = 3, **given: Any) -> list[Task[Point]]:
    return [
        Task(key=(name, seed), about=(name, seed), seed=seed, label=f"{name}{seed}", **given)
        for name in names
        for seed in range(seeds)
    ]


def keys(seed: int) -> list[Point]:
    return [(name, seed) for name in "abc"]


def records(sweep: Sweep) -> dict[Any, Record]:
    return {key: sweep.records[key] for key in sorted(sweep.records)}


@pytest.fixture
def whole() -> dict[Any, Record]:
    with Sweep(IDENTITY) as sweep:
        sweep.run(drawn, tasks())
        return records(sweep)


def test_first_seeds_come_first_and_nothing_twice() -> None:
    calls: list[Point] = []

    def counted(points: tuple[Point, ...]) -> list[Record]:
        calls.extend(points)
        return drawn(points)

    with Sweep(IDENTITY) as sweep:
        assert [task.key for task in sweep.left(tasks(seeds=2))] == keys(0) + keys(1)
        sweep.run(counted, tasks(seeds=2))
        assert calls == keys(0) + keys(1)
        assert list(sweep.records) == calls
        sweep.run(counted, tasks(seeds=3))
        assert calls[6:] == keys(2)
        assert sweep.left(tasks(seeds=3)) == []


def test_tasks_together_are_one_call_of_those_that_are_left() -> None:
    calls: list[tuple[Point, ...]] = []

    def counted(points: tuple[Point, ...]) -> list[Record]:
        calls.append(points)
        return drawn(points)

    given = [
        Task(key=(name, seed), about=(name, seed), seed=seed, together=seed) for name in "abc" for seed in range(2)
    ]
    with Sweep(IDENTITY) as sweep:
        sweep.run(counted, [task for task in given if task.key != ("b", 1)])
        assert calls == [(("a", 0), ("b", 0), ("c", 0)), (("a", 1), ("c", 1))]
        sweep.run(counted, given)
        assert calls[2:] == [(("b", 1),)]
        assert sweep.records["b", 1] == drawn((("b", 1),))[0]


def test_work_that_returns_too_little_is_a_mistake() -> None:
    with Sweep(IDENTITY) as sweep, pytest.raises(ValueError, match="zip"):
        sweep.run(lambda points: [], tasks("a", 1))


# Where it works -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def test_the_records_are_the_same_bits_wherever_it_works(whole: dict[Any, Record], processes: Executor) -> None:
    assert len({record["value"] for record in whole.values()}) == 9
    for sweep in (Sweep(IDENTITY, n_jobs=2), Sweep(IDENTITY, executor=processes)):
        sweep.run(drawn, tasks())
        assert records(sweep) == whole


def test_warnings_of_the_work_are_not_shown_and_filters_stay() -> None:
    def loud(points: tuple[Point, ...]) -> list[Record]:
        warnings.warn("loud", UserWarning, stacklevel=1)
        return drawn(points)

    before = list(warnings.filters)
    with ThreadPoolExecutor(3) as threads:
        for executor in (None, threads):
            with Sweep(IDENTITY, executor=executor) as sweep:
                sweep.run(loud, tasks())
    assert warnings.filters == before


# Failing --------------------------------------------------------------------------------------------------------------


def fails_at_b1(points: tuple[Point, ...]) -> list[Record]:
    if ("b", 1) in points:
        raise InputError("b: too little")
    return drawn(points)


def test_a_task_that_fails_ends_the_run_and_keeps_what_is_finished(tmp_path: Path, whole: dict[Any, Record]) -> None:
    with Sweep(IDENTITY, store=tmp_path / "rows") as sweep, pytest.raises(InputError, match=r"^b: too little$"):
        sweep.run(fails_at_b1, tasks())
    with Sweep(IDENTITY, store=tmp_path / "rows") as sweep:
        assert list(sweep.records) == [("a", 0), ("b", 0), ("c", 0), ("a", 1)]
        sweep.run(drawn, tasks())
        assert records(sweep) == whole


# Progress -------------------------------------------------------------------------------------------------------------


def test_progress_is_by_weight_and_in_shares() -> None:
    told: list[tuple[float, float, str]] = []
    given = [Task(key=(name,), about=(name, 0), weight=weight, label=name) for name, weight in (("a", 3), ("b", 1))]
    with progress(lambda *what: told.append(what)), Sweep(IDENTITY) as sweep:
        sweep.run(drawn, given, what="things to draw")
        assert told == [(0.0, 1.0, "2 things to draw"), (0.75, 1.0, "a"), (1.0, 1.0, "b")]
        sweep.run(drawn, given, what="things to draw")
        assert len(told) == 3
        sweep.run(drawn, tasks("c", 2), share=(0.5, 1.0))
        assert told[3:] == [(0.5, 1.0, "2 tasks to do"), (0.75, 1.0, "c0"), (1.0, 1.0, "c1")]
