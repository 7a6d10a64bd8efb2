"""Independent pieces of work: the same results wherever they are done, on one thread, and whole after Ctrl-C."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest

from demele.runtime.work import AHEAD, completed, held_interrupts
from tests.refusals import refuses

ITEMS = range(-7, 160)


def square(item: int) -> int:
    return item * item


def refuse_three(item: int) -> int:
    if item == 3:
        raise KeyError("three")
    return item


class Promised(Executor):
    """Finishes what it is given at once, or never; keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[Future[int]] = []

    def submit(self, function, /, *arguments, **keywords):  # type: ignore[no-untyped-def]
        future: Future[int] = Future()
        self.given.append(future)
        try:
            future.set_result(function(*arguments, **keywords))
        except TimeoutError:
            pass  # goes on for ever
        except KeyError as error:
            future.set_exception(error)
        return future


def test_here_the_results_come_in_order() -> None:
    assert list(completed(square, ITEMS)) == [item * item for item in ITEMS]


def test_no_items() -> None:
    assert list(completed(square, [])) == []
    assert list(completed(square, [], executor=Promised())) == []
    assert list(completed(square, [], n_jobs=2)) == []


def test_a_slow_piece_does_not_hold_up_the_others() -> None:
    release = threading.Event()

    def wait_for(item: int) -> int:
        if item == 0:
            release.wait(30)
        return item

    with ThreadPoolExecutor(2) as pool:
        results = completed(wait_for, range(20), executor=pool)
        first = [next(results) for _ in range(19)]
        release.set()
        assert sorted(first) == list(range(1, 20))
        assert list(results) == [0]


def test_an_exception_passes_through() -> None:
    results = completed(refuse_three, range(6))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    refuses(KeyError, "three", next, results)


def test_an_exception_does_not_lose_what_is_finished() -> None:
    executor = Promised()
    results = completed(refuse_three, range(200), executor=executor)
    found = [next(results) for _ in range(AHEAD - 1)]
    refuses(KeyError, "three", next, results)
    assert sorted(found) == [item for item in range(AHEAD) if item != 3]
    assert len(executor.given) == AHEAD  # and nothing more was begun


def test_few_pieces_are_handed_over_ahead_of_their_results() -> None:
    executor, taken = Promised(), []

    def items() -> Iterator[int]:
        for item in range(1000):
            taken.append(item)
            yield item

    results = completed(square, items(), executor=executor)
    next(results)
    assert len(taken) <= 2 * AHEAD
    results.close()
    assert len(taken) <= 2 * AHEAD


def test_an_early_close_cancels_what_has_not_begun() -> None:
    def for_ever(item: int) -> int:
        if item:
            raise TimeoutError
        return item

    executor = Promised()
    results = completed(for_ever, range(500), executor=executor)
    assert next(results) == 0
    results.close()
    assert all(future.cancelled() for future in executor.given[1:])
    assert len(executor.given) <= AHEAD + 1


# One thread -----------------------------------------------------------------------------------------------------------


PROGRAM = """
import numpy as np
from threadpoolctl import threadpool_info

import demele
from demele.metrics import code_groups

seen = []

def recorded(*given):
    losses = held_out_losses(*given)
    seen.append([pool["num_threads"] for pool in threadpool_info()])
    return losses

held_out_losses, code_groups.held_out_losses = code_groups.held_out_losses, recorded
rng = np.random.default_rng(0)
factors = rng.integers(0, 3, (60, 2))
codes = np.repeat(factors, 3, axis=1) + 0.3 * rng.normal(size=(60, 6))
demele.metrics.mig(demele.Codes(codes, groups=[0, 0, 0, 1, 1, 1]), factors)
print(len(seen), max(map(max, seen)))
"""


def test_one_thread_where_trees_bound_what_groups_tell() -> None:
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, check=True)
    fits, threads = map(int, found.stdout.split())
    assert fits > 0
    assert threads == 1


# Ctrl-C ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def ignored() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted_times(times: int) -> list[bool]:
    """Interrupt held work so often; what it was told after each, up to the one that acts."""
    told: list[bool] = []
    with pytest.raises(KeyboardInterrupt):
        _work(times, told)
    return told


def _work(times: int, told: list[bool]) -> None:
    with held_interrupts() as interrupted:
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
            told.append(interrupted())


def test_the_first_is_held_and_the_second_acts_at_once() -> None:
    assert interrupted_times(1) == [True]
    assert interrupted_times(2) == [True]


@pytest.mark.usefixtures("ignored")
def test_one_that_is_ignored_stays_so() -> None:
    with held_interrupts() as interrupted:
        signal.raise_signal(signal.SIGINT)
        assert not interrupted()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
