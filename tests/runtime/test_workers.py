"""Processes that work for this one: lost ones are told, and none outlives the process that asked, however it ends."""

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import demele
from demele.runtime.work import completed, ordered, settled_backend
from tests.refusals import refuses

#: Seconds after which a test gives up; what it waits for takes two or three.
PATIENCE = 120.0

PROGRAM = """
import os, sys, time
from pathlib import Path

import numpy as np
from sklearn.dummy import DummyClassifier

from demele.classifiers.stats import repeated_scores
from demele.runtime.work import mapped, reduced
from demele.runtime.work import settled_backend
from demele.runtime.work import completed, ordered

what, folder = sys.argv[1], Path(sys.argv[2])

def work(*_):
    (folder / str(os.getpid())).touch()
    if what != "idle":
        time.sleep(1000)
    time.sleep(0.5)

class Slow(DummyClassifier):
    def fit(self, X, y):
        work()

def main():
    if what in ("idle", "completed"):
        list(completed(work, range(4), n_jobs=2))
    elif what == "ordered":
        list(ordered(work, [(1,), (2,)], n_jobs=2))
    elif what == "cross_validate":
        repeated_scores(Slow(), np.zeros((60, 1)), np.arange(60) % 2, folds=2, n_repeats=2, n_jobs=2)
    else:
        import dask
        with dask.config.set(scheduler="processes", num_workers=2):
            reduced(mapped(work, [(i,) for i in range(14)]), list)  # several tasks go to a process at once
    (folder / "idle").touch()
    time.sleep(1000)

if __name__ == "__main__":
    main()
"""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Any]:
    """Start the program; at the end nothing of it runs any more."""
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "pids").mkdir()
    started: list[subprocess.Popen[bytes]] = []

    def start(what: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(tmp_path / "program.py"), what, str(tmp_path / "pids")]
        with (tmp_path / "stderr").open("wb") as told:
            started.append(subprocess.Popen(command, start_new_session=True, stderr=told))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
    for pid in workers_of(tmp_path):
        if runs(pid):
            os.kill(pid, signal.SIGKILL)


def workers_of(folder: Path) -> list[int]:
    return [int(path.name) for path in (folder / "pids").iterdir() if path.name.isdecimal()]


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"  # ended, though nobody has asked how


def wait_until(condition: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.05)


on_linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc which processes there are")


@on_linux
@pytest.mark.parametrize("what", ["completed", "idle", "ordered", "cross_validate", "dask"])
def test_workers_end_when_their_parent_is_killed(program: Any, tmp_path: Path, what: str) -> None:
    parent = program(what)
    if what == "idle":  # all work may have been done by one of them
        wait_until((tmp_path / "pids" / "idle").exists)
    else:
        wait_until(lambda: len(workers_of(tmp_path)) >= 2)
    workers = workers_of(tmp_path)
    assert workers
    assert all(map(runs, workers))
    parent.kill()
    parent.wait()
    wait_until(lambda: not any(map(runs, workers)))


@on_linux
def test_workers_end_when_their_parent_is_interrupted(program: Any, tmp_path: Path) -> None:
    parent = program("completed")
    wait_until(lambda: len(workers_of(tmp_path)) >= 2)
    workers = workers_of(tmp_path)
    parent.send_signal(signal.SIGINT)  # to the parent alone, unlike a terminal
    wait_until(lambda: parent.poll() is not None)
    assert "KeyboardInterrupt" in (tmp_path / "stderr").read_text()
    wait_until(lambda: not any(map(runs, workers)))


# Some that are replaced or ended --------------------------------------------------------------------------------------


def grows(place: int) -> int:
    from joblib.externals.loky import process_executor

    process_executor._MAX_MEMORY_LEAK_SIZE, process_executor._MEMORY_LEAK_CHECK_DELAY = -(10**9), 0.0
    return place


def test_workers_whose_memory_has_grown_are_replaced() -> None:
    pytest.importorskip("psutil")  # without it joblib does not ask how much there is
    # warnings are errors here: joblib's, raised where all results arrive, would let this wait for ever
    assert sorted(completed(grows, range(8), n_jobs=2)) == list(range(8))


def test_workers_are_ended_when_nothing_is_on_its_way_to_them() -> None:
    on_their_way: queue.Queue[int] = queue.Queue()
    on_their_way.put(3)
    left_at_the_end = []

    def terminate(kill_workers: bool) -> None:
        left_at_the_end.append((kill_workers, on_their_way.qsize()))

    backend = settled_backend()()
    backend.parallel = SimpleNamespace(_lock=threading.RLock())
    backend._workers = SimpleNamespace(_work_ids=on_their_way, terminate=terminate)
    taken = threading.Timer(0.05, on_their_way.get)
    taken.start()
    backend.abort_everything(ensure_ready=False)
    taken.join()
    assert left_at_the_end == [(True, 0)]


# One that is lost ----------------------------------------------------------------------------------------------------


def dies(place: int, *_: object) -> int:
    if place == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return place


@pytest.mark.parametrize("how", ["completed", "ordered"])
def test_a_killed_worker_is_told(how: str) -> None:
    calls = [(place,) for place in range(4)]
    results = completed(dies, range(4), n_jobs=2) if how == "completed" else ordered(dies, calls, n_jobs=2)
    refuses(demele.errors.WorkerError, r"^n_jobs: .*SIGKILL.*.*fewer rows\. With a store", list, results)
    assert sorted(completed(abs, [-1, 2, -3], n_jobs=2)) == [1, 2, 3]  # the next call has workers again


def test_a_killed_worker_of_a_metric_is_told() -> None:
    rng = np.random.default_rng(0)
    codes, factors = rng.random((50, 2)), rng.integers(0, 2, (50, 1))

    def metric(codes: Any, factors: Any) -> float:
        os.kill(os.getpid(), signal.SIGKILL)
        return 0.0

    with pytest.raises(demele.errors.WorkerError, match="n_jobs"):
        demele.evaluate(codes, factors, [metric], n_repeats=2, n_permutations=2, n_jobs=2)
