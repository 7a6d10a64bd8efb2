"""A progress bar that appears only where somebody waits for it."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from demele.core.checked_numbers import checked_flag

if TYPE_CHECKING:
    from rich.progress import Progress
#: Work done, work in all (any unit), and what is being done.
Report = Callable[[float, float, str], None]


SECONDS_UNTIL_SHOWN = 1.0
_SECONDS_BEFORE_FORECAST = 10.0


@contextmanager
def progress_bar(*, delay: float = SECONDS_UNTIL_SHOWN, even: bool = True) -> Iterator[Report]:
    """Show a progress bar on stderr, if stderr is a terminal, for anything that takes longer than ``delay``.

    Parameters
    ----------
    delay : float, default 1
        Seconds before the bar appears.
    even : bool, default True
        Whether all parts of the work take about as long: from ten seconds on the bar then says how much time is left.

    Yields
    ------
    callable(done, total, label)
        To be called as work proceeds; does nothing where no bar can be shown.

    Examples
    --------
    >>> with progress_bar() as report:
    ...     for done in range(3):
    ...         report(done, 3, "counting")
    """
    if not sys.stderr.isatty():
        yield lambda done, total, label: None
        return
    bar = _Bar()
    # A timer, because the first report may be the last for long: the bar must not wait for a second one.
    timer = threading.Timer(delay, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield with_time_left(bar.report) if even else bar.report
    finally:
        timer.cancel()
        bar.close()


def reporting(progress: bool | Report, *, even: bool = True) -> AbstractContextManager[Report | None]:
    """Return where progress goes, for the argument ``progress`` of long computations.

    Parameters
    ----------
    progress : bool or callable(done, total, label)
        True: a bar. False: nowhere.
    even : bool, default True
        As for :func:`progress_bar`.

    Returns
    -------
    context manager
        That yields what to call, or None.

    Examples
    --------
    >>> with reporting(print) as report:
    ...     report(1, 2, "half")
    1 2 half
    """
    if callable(progress):
        return nullcontext(progress)
    shown = progress is not None and checked_flag(progress, "progress")
    return progress_bar(even=even) if shown else nullcontext(None)


def with_time_left(report: Report) -> Report:
    """Return a report that also forecasts, once there is something to forecast from."""
    started = time.monotonic()

    def told(done: float, total: float, label: str) -> None:
        elapsed = time.monotonic() - started
        forecast = f", {time_left(elapsed * (total - done) / done)} left" if done else ""
        report(done, total, label + (forecast if elapsed > _SECONDS_BEFORE_FORECAST else ""))

    return told


def time_left(seconds: float) -> str:
    """Write a forecast as roughly as it is known."""
    if seconds < 60:
        return "less than a minute"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"


class _Bar:
    """The state of the work; drawn from when it is shown until it is closed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: tuple[float, float, str] = (0.0, 1.0, "")
        self._progress: Progress | None = None
        self._closed = False

    def report(self, done: float, total: float, label: str) -> None:
        with self._lock:
            self._state = (done, total, label)
            self._update()

    def show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._closed:
                return
            columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._progress.add_task("", total=1.0)
            self._progress.start()
            self._update()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._progress is not None:
                self._progress.stop()

    def _update(self) -> None:
        if self._progress is not None:
            done, total, label = self._state
            self._progress.update(self._progress.task_ids[0], completed=done, total=total, description=label)


def part_of(report: Report, index: int, parts: int, prefix: str) -> Report:
    """Return what reports one of several pieces of work as its share of all; ``prefix`` names it."""

    def scaled(done: float, total: float, label: str) -> None:
        report(index + (done / total if total else 1.0), parts, prefix + label)

    return scaled
