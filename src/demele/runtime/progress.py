"""A progress bar that appears only where somebody waits for it."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from demele.core.errors import InputTypeError, quoted

if TYPE_CHECKING:
    from rich.progress import Progress
#: Work done, work in all (any unit), and what is being done.
Report = Callable[[float, float, str], None]
#: Where the next long computation reports; None: nowhere.
_REPORT: ContextVar[Report | None] = ContextVar("report", default=None)

SECONDS_UNTIL_SHOWN = 1.0


@contextmanager
def progress(report: Report | None = None) -> Iterator[None]:
    """Show how far long computations are within a ``with`` block.

    Parameters
    ----------
    report : callable(done, total, label), optional
        Called as work proceeds. By default a progress bar on stderr, if stderr is a terminal, for anything that takes
        longer than a second, with an estimate of the time that is left.

    Returns
    -------
    context manager

    Raises
    ------
    InputTypeError

    Examples
    --------
    >>> import demele
    >>> factors = [[0.1, 1], [0.4, 0], [0.7, 1], [0.9, 0]] * 50
    >>> with demele.progress():
    ...     scores = demele.evaluate(factors, factors, ["mig"])
    """
    if report is not None and not callable(report):
        raise InputTypeError("report", f"expected a callable (done, total, label), got {quoted(report)}")
    if report is not None or not sys.stderr.isatty():
        with reported_to(report):
            yield
        return
    bar = _Bar()
    # A timer, because the first report may be the last for long: the bar must not wait for a second one.
    timer = threading.Timer(SECONDS_UNTIL_SHOWN, bar.show)
    timer.daemon = True
    timer.start()
    try:
        with reported_to(bar.report):
            yield
    finally:
        timer.cancel()
        bar.close()


@contextmanager
def reported_to(report: Report | None) -> Iterator[None]:
    """Let a computation within another one report; None: let it report nothing."""
    outer = _REPORT.get()
    _REPORT.set(report)
    try:
        yield
    finally:
        _REPORT.set(outer)


@contextmanager
def reporting() -> Iterator[Report | None]:
    """Yield where a long computation reports; None if nobody wants to know. What it calls reports nothing.

    Examples
    --------
    >>> with progress(print), reporting() as report:
    ...     report(1, 2, "half")
    1 2 half
    """
    report = _REPORT.get()
    with reported_to(None):
        yield report


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
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        with self._lock:
            if self._closed:
                return
            said = TextColumn("{task.description}", markup=False)
            columns = (said, BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
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


def part_of(report: Report | None, index: int, parts: int, prefix: str) -> Report | None:
    """Return what reports one of several pieces of work as its share of all; ``prefix`` names it."""
    if report is None:
        return None

    def scaled(done: float, total: float, label: str) -> None:
        report(index + (done / total if total else 1.0), parts, prefix + label)

    return scaled
