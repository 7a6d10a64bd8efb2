"""Independent pieces of work, here, in other processes, or on an executor."""

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from itertools import islice
from typing import Any, TypeVar

from demele.core.errors import InputTypeError
from demele.runtime.processes import parallel
from demele.runtime.workers import Watched, lost_workers_told

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Pieces handed to an executor ahead of the results: enough to keep it busy, few enough to hold in memory.
AHEAD = 64


def completed(
    function: Callable[[Item], Result], items: Iterable[Item], *, n_jobs: int = 1, executor: Executor | None = None
) -> Generator[Result, None, None]:
    """Yield ``function(item)`` for all items, in the order in which they are finished.

    Parameters
    ----------
    function : callable
        Takes one item; its results must not depend on what ran before.
    items : iterable
        The pieces of work.
    n_jobs : int, default 1
        Processes; 1 works in this one, -1 uses all processors.
    executor : concurrent.futures.Executor, optional
        Where to work instead: a pool, or a cluster that has this interface.

    Yields
    ------
    object
        Results, as they come.

    Raises
    ------
    WorkerError
        If a process ends before its work is done. Processes of ours also end when this one does, however it ends; an
        executor's are its owner's.

    Examples
    --------
    >>> sorted(completed(abs, [-2, 1]))
    [1, 2]
    """
    if executor is not None:
        if not callable(getattr(executor, "submit", None)):
            raise InputTypeError("executor", f"expected one with a method submit, got {type(executor).__name__}")
        with lost_workers_told("executor"):
            yield from _executed(function, iter(items), executor)
    elif n_jobs == 1:
        yield from map(function, items)
    else:
        from joblib import delayed

        # one at a time: of a batch, what is finished would be lost with a kill until all of it is
        workers = parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
        watched = delayed(Watched(function))
        yield from _closed(workers(watched(item) for item in items))


def ordered(
    function: Callable[..., Result], calls: Iterable[tuple[Any, ...]], *, n_jobs: int | None = 1
) -> Generator[Result, None, None]:
    """Yield ``function(*arguments)`` for all calls, in their order.

    Parameters
    ----------
    function : callable
        Its results must not depend on what ran before.
    calls : iterable of tuples
        Arguments.
    n_jobs : int or None
        Number of processes; 1 uses this one, -1 all processors, None the setting of joblib.

    Yields
    ------
    object
        Results.

    Raises
    ------
    WorkerError
        If a process ends before its work is done. They also end when this one does, however it ends.

    Examples
    --------
    >>> list(ordered(pow, [(2, 3), (3, 2)]))
    [8, 9]
    """
    if n_jobs == 1:
        for arguments in calls:
            yield function(*arguments)
        return
    from joblib import delayed

    watched = delayed(Watched(function))
    yield from _closed(parallel(n_jobs=n_jobs, return_as="generator")(watched(*arguments) for arguments in calls))


def _closed(results: Generator[Result, None, None]) -> Generator[Result, None, None]:
    """Yield results of processes; what is under way is thrown away if nobody asks for more."""
    try:
        with lost_workers_told("n_jobs"):
            for result in results:  # noqa: UP028 - ``yield from`` would close it before we can
                yield result
    finally:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # that work was thrown away
            results.close()


def _executed(function: Callable[[Item], Result], items: Iterator[Item], executor: Executor) -> Iterator[Result]:
    pending: set[Future[Result]] = set()
    try:
        for item in islice(items, AHEAD):
            pending.add(executor.submit(function, item))
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            if not any(_failed(future) for future in done):
                for item in islice(items, len(done)):
                    pending.add(executor.submit(function, item))
            for future in sorted(done, key=_failed):  # a failure must not lose what is finished
                yield future.result()
    finally:
        for future in pending:
            future.cancel()


def _failed(future: "Future[Any]") -> bool:
    return future.cancelled() or future.exception() is not None
