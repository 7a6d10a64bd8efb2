"""A sweep that is killed at any moment and started again gives the file of one that was left alone."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed in another way")

#: A run of some seconds. The work leaves a line for every call; a task that is long goes on from a file of its own.
SCRIPT = """
import contextlib, multiprocessing, sys, time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from demele.core.arrays import rng_for
from demele.runtime.sweep import Sweep, Task

FOLDER = Path(sys.argv[1])


def drawn(name, step):
    time.sleep({pause})
    return float(rng_for(0, name, str(step)).random())


def trained(names):
    with open(FOLDER / "calls", "a") as file:
        file.write(",".join(names) + "\\n")
    records = []
    for name in names:
        half = FOLDER / f"half-{{name}}"
        if not half.exists():
            beside = FOLDER / f"beside-{{name}}"
            beside.write_text(repr(drawn(name, 1)))
            beside.rename(half)
        records.append({{"value": float(half.read_text()) + drawn(name, 2)}})
    return records


def main(where):
    tasks = [
        Task(key=("model", name, seed), about=f"{{name}}-{{seed}}", seed=seed, together=(name // 2, seed))
        for name in range({names})
        for seed in range({seeds})
    ]
    with contextlib.ExitStack() as pools:
        given = {{"n_jobs": int(where)}} if where != "fork" else {{"executor": pools.enter_context(
            ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")))}}
        with Sweep({{"run": "toy"}}, store=FOLDER / "rows", **given) as sweep:
            (FOLDER / "begun").touch()
            sweep.run(trained, tasks)


if __name__ == "__main__":
    main(sys.argv[2])
"""
NAMES, SEEDS, PAUSE = 20, 4, 0.01
#: Two tasks go into one call.
CALLS = NAMES // 2 * SEEDS
KILLS = 10
#: Calls that a worker can have begun without having handed them over, each time that it is killed.
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
    (folder / "run.py").write_text(SCRIPT.format(pause=PAUSE, names=NAMES, seeds=SEEDS))
    return folder


def wait_until_it_works(folder: Path, run: "subprocess.Popen[bytes]", lines: int) -> None:
    """Wait until a run has stored so many lines, or has ended."""
    rows = folder / "rows"
    deadline = time.monotonic() + 60
    while run.poll() is None and time.monotonic() < deadline:
        if rows.exists() and rows.read_bytes().count(b"\n") >= lines:
            return
        time.sleep(0.005)


def lines(folder: Path) -> list[str]:
    """Return the records as they are written, sorted; each key must be there once."""
    found = (folder / "rows").read_text().splitlines()[1:]
    assert max(Counter(str(json.loads(line)["key"]) for line in found).values()) == 1
    return sorted(found)


@pytest.fixture(scope="module")
def left_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = prepared(tmp_path_factory.mktemp("alone"))
    finish(folder, "1")
    return folder


def test_the_run_that_is_left_alone(left_alone: Path) -> None:
    values = {json.loads(line)["value"] for line in lines(left_alone)}
    assert len(values) == NAMES * SEEDS
    assert len((left_alone / "calls").read_text().splitlines()) == CALLS


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
    assert lines(folder) == lines(left_alone)
    calls = Counter((folder / "calls").read_text().splitlines())
    assert set(calls) == set((left_alone / "calls").read_text().splitlines())
    if where == "1":  # one call at a time: at most one was begun and not yet stored at each kill
        assert calls.total() <= CALLS + KILLS
        assert (folder / "rows").read_bytes() == (left_alone / "rows").read_bytes()
    else:
        assert calls.total() <= CALLS + KILLS * IN_FLIGHT
