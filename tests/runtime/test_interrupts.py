"""Ctrl-C is held back where work must end whole, and stays ignored where it was."""

import signal
from collections.abc import Iterator

import pytest

from demele.runtime.work import held_interrupts


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
