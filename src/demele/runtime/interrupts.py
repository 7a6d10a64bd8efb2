"""Ctrl-C at a moment when nothing is half done."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def held_interrupts() -> Iterator[Callable[[], bool]]:
    """Hold back the first Ctrl-C within, so that work can end where it is whole; a second one acts at once.

    Yields
    ------
    callable() -> bool
        Whether there was one. A caller that gets True ends the work and raises ``KeyboardInterrupt``; one that nobody
        asked for is raised at the end.

    Examples
    --------
    >>> with held_interrupts() as interrupted:
    ...     interrupted()
    False
    """
    # Ctrl-C reaches the main thread only, and nobody where it is ignored, as in a job of the background.
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield lambda: False
        return
    found = False

    def hold(number: int, frame: FrameType | None) -> None:
        nonlocal found
        if found:
            raise KeyboardInterrupt
        found = True

    before = signal.signal(signal.SIGINT, hold)
    try:
        yield lambda: found
    finally:
        signal.signal(signal.SIGINT, before)
    if found:
        raise KeyboardInterrupt
