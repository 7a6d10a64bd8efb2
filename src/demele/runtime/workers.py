"""Processes that work for this one: they end when it ends, and one that is lost is an error that says what to do."""

import multiprocessing
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Any

from demele.core.errors import WorkerError

#: Seconds between two looks whether the parent is there.
_BETWEEN_LOOKS = 1.0

#: What to do, by what started the processes.
_ADVICE = {
    "n_jobs": "give fewer `n_jobs`, or fewer rows",
    "executor": "give the executor fewer processes or more memory, and make a new one",
    "dask": "make partitions smaller, or give the workers more memory",
}

#: Processes of which a thread looks after the parent; a forked one inherits the numbers, but not the threads.
_looking: set[int] = set()


class Watched:
    """A function whose process, if it is one that was started for this work, ends when the process that asked ends.

    Whatever ends it: a process that waits for work, or is at work, would otherwise go on for minutes after a kill.
    Looking begins where the function arrives in the other process, before it is called.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.parent = os.getpid()

    @property
    def __name__(self) -> str:
        """What a dashboard calls this work."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        end_with(self.parent)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the function."""
        return self.function(*arguments, **options)


def end_with(parent: int) -> None:
    """Let this process end soon after the one that started it; nothing happens in any other process."""
    own, known = os.getpid(), multiprocessing.parent_process()
    started_by = os.getppid() if known is None or known.pid is None else known.pid
    if own == parent or started_by != parent or own in _looking:
        return
    _looking.add(own)
    threading.Thread(target=_look, args=(parent,), name="demele-parent", daemon=True).start()


def _look(parent: int) -> None:
    known = multiprocessing.parent_process()
    if os.name == "nt" and known is not None:  # a process keeps the number of its parent there
        known.join()
    else:
        while os.getppid() == parent:
            time.sleep(_BETWEEN_LOOKS)
    os._exit(1)  # nobody waits for anything that could still be tidied up


@contextmanager
def lost_workers_told(started_by: str) -> Iterator[None]:
    """Turn the loss of a process into an error for users.

    Parameters
    ----------
    started_by : {"n_jobs", "executor", "dask"}
        The argument that messages begin with; and with it what can be done.
    """
    try:
        yield
    except Exception as error:
        of_dask = type(error).__name__ == "KilledWorker" and type(error).__module__.partition(".")[0] == "distributed"
        if not of_dask and not isinstance(error, BrokenExecutor):
            raise
        codes = re.search(r"exit codes of the workers are \{([^}]*)\}", str(error))
        ended = f" ({codes[1].strip()})" if codes else ""
        raise WorkerError(
            f"{started_by}: a worker process ended early{ended}, most often "
            f"because memory ran out or it was killed; {_ADVICE[started_by]}. With a store, the "
            "same call continues where it stopped"
        ) from error
