"""How far a long run is: a bar on a terminal, a line now and then elsewhere, with the time that is left."""

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from demele.core.errors import short_words
from demele.runtime.progress import Report, progress

#: Seconds between two lines of progress where no bar can be shown.
_SECONDS_BETWEEN_LINES = 30.0


def log(message: str) -> None:
    """Write one line to stderr."""
    print(short_words(" ".join(message.split())), file=sys.stderr)  # noqa: T201


def shown(quiet: bool) -> AbstractContextManager[None]:
    """Show within a block how far long computations are; with ``quiet`` show nothing."""
    return nullcontext() if quiet else progress(None if sys.stderr.isatty() else _in_lines())


@contextmanager
def resuming(store: Path | None, quiet: bool, *, records: bool) -> Iterator[None]:
    """Say what an earlier run left in a store of records, and at the end, or on Ctrl-C, where the results are kept."""
    if records and store is not None and store.is_file() and store.stat().st_size and not quiet:
        from demele.core.store import Store

        log(f"demele: {store} holds {len(Store.read(store)[1]):,} finished records")
    try:
        yield
    except KeyboardInterrupt:
        if store is not None and store.exists():
            log(f"demele: what was finished is in {store}; the same command continues where it stopped")
        raise
    if store is not None and not quiet:
        log(f"demele: results are kept in {store}; a run that asks for more adds to them")


def _in_lines() -> Report:
    """Write a line now and then: for logs of runs that nobody watches."""
    last = time.monotonic()
    first, of = True, ""

    def report(done: float, total: float, label: str) -> None:
        nonlocal last, first, of
        sized, first = first and label.endswith(" to measure"), False
        if sized:  # the first report may tell the size of the work
            of = f" of {label.removesuffix(' to measure')}"
        elif time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            log(f"demele: {done / total:.0%}{of}, {label}")

    return report
