"""A run that is killed at any moment and started again gives the file of one that was left alone."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.core.store import Store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed in another way")

#: A run of some seconds. The metric leaves a line for every call: the sum that it saw tells the draw.
SCRIPT = """
import multiprocessing, os, sys, time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from demele.bench.candidates import candidate, chosen_candidates
from demele.bench.run import Plan, run_plan
from demele.bench.scenarios import chosen_scenarios
from demele.core.store import Store

FOLDER = Path(sys.argv[1])


def slow_mean(codes, factors):
    time.sleep({pause})
    with open(FOLDER / "calls", "a") as file:
        file.write(float(codes.sum()).hex() + "\\n")
    return float(codes.mean())


def main(where):
    plan = Plan(
        candidates=chosen_candidates(["mig", "sap", "z_diff", slow_mean]),
        scenarios=chosen_scenarios("source"),
        seeds=lambda candidate, scenario: {seeds},
        n_samples=400,
        protocol="review2022",
    )
    with Store(FOLDER / "rows", {{"n_samples": 400}}) as store:
        (FOLDER / "begun").touch()
        if where == "fork":
            with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
                run_plan(plan, store, executor=pool)
        else:
            run_plan(plan, store, n_jobs=int(where))


if __name__ == "__main__":
    main(sys.argv[2])
"""
SEEDS = 1
#: Representations of one seed of the five scenarios, and records of each.
DRAWS = 11 + 6 + 6 + 4 + 7
GROUPS = 4
KILLS = 10
PAUSE = 0.03
#: What a worker can have measured without having handed it over, each time that it is killed.
IN_FLIGHT = 16


def started(folder: Path, where: str) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    return subprocess.Popen(
        [sys.executable, str(folder / "run.py"), str(folder), where],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,  # a group of its own, to be killed as a whole
    )


def kill_group(run: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):  # it and all its workers have ended
        os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    if run.stderr is not None:
        run.stderr.close()


def finish(folder: Path, where: str) -> None:
    run = started(folder, where)
    _, errors = run.communicate(timeout=120)
    kill_group(run)
    assert run.returncode == 0, errors.decode()


def prepared(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "run.py").write_text(SCRIPT.format(pause=PAUSE, seeds=SEEDS))
    return folder


def wait_until_it_works(folder: Path, run: "subprocess.Popen[bytes]", lines: int) -> None:
    """Wait until a run has stored so many lines, or has ended."""
    rows = folder / "rows"
    deadline = time.monotonic() + 60
    while run.poll() is None and time.monotonic() < deadline:
        if rows.exists() and rows.read_bytes().count(b"\n") >= lines:
            return
        time.sleep(0.005)


def records(folder: Path) -> list[tuple[Any, ...]]:
    """Return the records as they are written, sorted, without seconds; each key must be there once."""
    lines = (folder / "rows").read_text().splitlines()[1:]
    found = [json.loads(line) for line in lines]
    assert max(Counter(str(item["key"]) for item in found).values()) == 1
    assert all(item.pop("seconds") >= 0 for item in found)
    return sorted((item["key"], json.dumps(item)) for item in found)


@pytest.fixture(scope="module")
def left_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = prepared(tmp_path_factory.mktemp("alone"))
    finish(folder, "1")
    return folder


def test_the_run_that_is_left_alone(left_alone: Path) -> None:
    assert len(records(left_alone)) == DRAWS * GROUPS * SEEDS
    assert len((left_alone / "calls").read_text().splitlines()) == DRAWS * SEEDS
    values = [value for _, record in Store.read(left_alone / "rows")[1].items() for value in record["values"].values()]
    assert len(set(values)) > DRAWS * GROUPS * SEEDS / 2


@pytest.mark.parametrize("where", ["1", "2"])
def test_ten_kills_lose_nothing(where: str, left_alone: Path, tmp_path: Path) -> None:
    folder = prepared(tmp_path / "killed")
    moments = np.random.default_rng(1805).uniform(0, 0.12, KILLS)
    hit = before = 0
    for number, moment in enumerate(moments):
        begun = folder / "begun"
        begun.unlink(missing_ok=True)
        before = (folder / "rows").read_bytes().count(b"\n") if (folder / "rows").exists() else 0
        run = started(folder, where)
        while not begun.exists() and run.poll() is None:
            time.sleep(0.002)
        if number % 2:  # some are killed at work, some before they have begun
            wait_until_it_works(folder, run, before + 1)
        time.sleep(moment)
        hit += run.poll() is None
        kill_group(run)
        content = (folder / "rows").read_bytes()
        assert content[: content.rfind(b"\n") + 1].count(b"\n") >= before  # nothing finished was lost
    assert before > 1  # and something was
    assert hit > KILLS / 2
    finish(folder, where)
    assert records(folder) == records(left_alone)
    calls = Counter((folder / "calls").read_text().splitlines())
    assert set(calls) == set((left_alone / "calls").read_text().splitlines())
    if where == "1":  # one piece at a time: at most one was measured and not yet stored at each kill
        assert calls.total() <= DRAWS * SEEDS + KILLS
    else:
        assert calls.total() <= DRAWS * SEEDS + KILLS * IN_FLIGHT


@pytest.mark.parametrize("where", ["2", "fork"])
def test_workers_that_outlive_their_run_do_not_keep_the_file(where: str, left_alone: Path, tmp_path: Path) -> None:
    folder = prepared(tmp_path / "orphaned")
    run = started(folder, where)
    try:
        wait_until_it_works(folder, run, 10)
        assert run.poll() is None
        run.kill()  # it alone: its workers go on
        run.wait()
        os.killpg(run.pid, 0)  # some do: this raises where none is left
        finish(folder, "1")
    finally:
        kill_group(run)
    assert records(folder) == records(left_alone)


def test_two_runs_do_not_write_to_one_file(left_alone: Path, tmp_path: Path) -> None:
    folder = prepared(tmp_path / "both")
    first = started(folder, "1")
    try:
        wait_until_it_works(folder, first, 2)
        second = started(folder, "1")
        _, errors = second.communicate(timeout=60)
        assert second.returncode == 1
        assert "another run is writing to" in errors.decode()
    finally:
        kill_group(first)
    found = records(folder)
    assert [item for item in records(left_alone) if item in found] == found
