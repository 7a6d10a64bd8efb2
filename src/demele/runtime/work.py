"""Independent pieces of work, here, in other processes, on an executor or by Dask; and how far they are."""

import importlib
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from contextvars import ContextVar
from functools import cache, lru_cache
from itertools import islice
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from demele.core.errors import InputError, InputTypeError, WorkerError, quoted
from demele.core.lazy import require
from demele.core.table_columns import check_distinct, other_lengths

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from rich.progress import Progress

# A progress bar that appears only where somebody waits for it --------------------------------------------------------

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
        self._lock = threading.RLock()
        self._state: tuple[float, float, str] = (0.0, 1.0, "")
        self._progress: Progress | None = None
        self._closed = False

    def report(self, done: float, total: float, label: str) -> None:
        with self._lock:
            self._state = (done, total, label)
            if self._progress is not None:
                task = self._progress.task_ids[0]
                self._progress.update(task, completed=done, total=total, description=label)

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
            self.report(*self._state)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._progress is not None:
                self._progress.stop()


def part_of(report: Report | None, index: int, parts: int, prefix: str) -> Report | None:
    """Return what reports one of several pieces of work as its share of all; ``prefix`` names it."""
    if report is None:
        return None

    def scaled(done: float, total: float, label: str) -> None:
        report(index + (done / total if total else 1.0), parts, prefix + label)

    return scaled


# Processes that work for this one -------------------------------------------------------------------------------------

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
        """Call the function; what it prints is no result, and goes to stderr."""
        with redirect_stdout(sys.stderr) if os.getpid() != self.parent else nullcontext():
            return self.function(*arguments, **options)


def end_with(parent: int) -> None:
    """Let this process end soon after the one that started it; nothing happens in any other process."""
    import multiprocessing

    own, known = os.getpid(), multiprocessing.parent_process()
    started_by = os.getppid() if known is None or known.pid is None else known.pid
    if own == parent or started_by != parent or own in _looking:
        return
    _looking.add(own)
    threading.Thread(target=_look, args=(parent,), name="demele-parent", daemon=True).start()


def _look(parent: int) -> None:
    import multiprocessing

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
        from concurrent.futures import BrokenExecutor

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


# Joblib's processes, guarded against two ways in which the thread that looks after them could be lost -----------------

#: Seconds after which nothing is waited for any more; it takes less than a millisecond.
PATIENCE = 1.0


@cache
def settled_backend() -> Any:
    """Return joblib's default backend, whose workers are ended only once they have what was meant for them.

    The thread that hands work to the workers forgets all work when they are ended. It then fails with a ``KeyError`` if
    a piece had just been given to it, and its error is printed over what the program prints: about one time in a
    hundred where results are no longer asked for while there is more to do.
    """
    from joblib.parallel import LokyBackend

    class SettledBackend(LokyBackend):  # type: ignore[misc]
        def abort_everything(self, ensure_ready: bool = True) -> None:
            with self.parallel._lock:  # nobody is between taking a piece and giving it away; joblib takes no more now
                on_their_way = getattr(self._workers, "_work_ids", None)
            deadline = time.monotonic() + PATIENCE
            while on_their_way is not None and not on_their_way.empty() and time.monotonic() < deadline:
                time.sleep(0.001)
            super().abort_everything(ensure_ready=ensure_ready)

    return SettledBackend


def parallel(**options: Any) -> Any:
    """Return ``joblib.Parallel`` of these options; a backend that a user chose stays.

    A worker whose memory has grown is replaced by joblib, which loses nothing and warns in the thread that looks after
    the workers. Where warnings are errors that thread would end, and this process wait for ever: it is not warned.
    """
    from joblib import Parallel
    from joblib.parallel import LokyBackend, get_active_backend

    warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given", category=UserWarning)
    active, _ = get_active_backend()
    return Parallel(**options, backend=settled_backend()() if type(active) is LokyBackend else None)


Item = TypeVar("Item")
Result = TypeVar("Result")

#: Pieces handed to an executor ahead of the results: enough to keep it busy, few enough to hold in memory.
AHEAD = 64


def completed(
    function: Callable[[Item], Result], items: Iterable[Item], *, n_jobs: int = 1, executor: "Executor | None" = None
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


def _executed(function: Callable[[Item], Result], items: Iterator[Item], executor: "Executor") -> Iterator[Result]:
    from concurrent.futures import FIRST_COMPLETED, wait

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


# Dask collections as partitions of rows: work on each, results merged in their order, on any scheduler ---------------
#
# Where there is an active ``dask.distributed`` client, its cluster does the work, be it local or remote.

#: Results merged at a time: a tree of merges, so that no process holds the results of all partitions.
MERGED_AT_ONCE = 8


def is_collection(data: object) -> bool:
    """Return whether data is a Dask collection, such as an array or a data frame; Dask is not imported to find out.

    Examples
    --------
    >>> is_collection([1.0, 2.0])
    False
    """
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(data))


def paired_partitions(
    codes: object, factors: object
) -> tuple[list[tuple[Any, Any]], tuple[tuple[str, ...] | int, tuple[str, ...] | int]]:
    """Split two collections into partitions of rows that belong together.

    Arrays of known chunks are cut in the same way. The sizes of partitions of data frames are not known before they are
    computed: the reader must check that both hold the same number of rows.

    Parameters
    ----------
    codes, factors : Dask array or data frame

    Returns
    -------
    partitions : list of pairs
        Delayed arrays or frames.
    columns : pair
        Names of the columns, or the number of them where they have no names.

    Raises
    ------
    InputError, InputTypeError
        If one is not a collection, has no columns that are known, or another number of partitions.
    """
    first, columns = _table(codes, "codes")
    second, others = _table(factors, "factors")
    if all(hasattr(data, "chunks") and _known(data.chunks[0]) for data in (first, second)):
        if len(first) != len(second):
            raise other_lengths(first.shape, second.shape)
        second = second.rechunk({0: first.chunks[0]})
    parts = [
        [part[0] for part in data.to_delayed()] if hasattr(data, "chunks") else list(data.to_delayed())
        for data in (first, second)
    ]
    if len(parts[0]) != len(parts[1]):
        raise InputError(
            ("codes", "factors"),
            f"expected partitions that belong together, got {len(parts[0])} of codes and {len(parts[1])} of factors; "
            "repartition one as the other",
        )
    return list(zip(*parts, strict=True)), (columns, others)


def mapped(function: Callable[..., Result], groups: Sequence[tuple[Any, ...]], *shared: Any) -> list[Any]:
    """Return ``function(*group, *shared)`` of each group, not computed yet.

    Parameters
    ----------
    groups : sequence of tuples
        Delayed partitions, and whatever else belongs to one of them.
    shared : object
        What all get.

    Returns
    -------
    list of delayed results
    """
    dask = require("dask", purpose="Dask collections")
    common = [dask.delayed(item, traverse=False) for item in shared]
    watched = dask.delayed(Watched(function))
    return [watched(*group, *common) for group in groups]


def reduced(results: Sequence[Any], merge: Callable[[list[Any]], Result]) -> Result:
    """Compute delayed results and merge them, neighbours first, so that their order is kept.

    Parameters
    ----------
    results : sequence of delayed results
        From :func:`mapped`, at least one.
    merge : callable
        Takes a list of results in order, and returns their merge.

    Raises
    ------
    WorkerError
        If a process of the scheduler ends before its work is done.
    """
    dask = require("dask", purpose="Dask collections")
    level = list(results)
    while True:
        groups = [level[start : start + MERGED_AT_ONCE] for start in range(0, len(level), MERGED_AT_ONCE)]
        level = [dask.delayed(merge)(group) for group in groups]
        if len(level) == 1:
            with lost_workers_told("dask"):
                return dask.compute(level[0])[0]  # type: ignore[no-any-return]


def _table(data: Any, argument: str) -> tuple[Any, Any]:
    """Return a collection of two dimensions whose partitions hold whole rows, and its columns."""
    table = hasattr(data, "chunks") or hasattr(data, "columns") or type(data).__name__ == "Series"
    # a Delayed says that it has whatever it is asked for
    if not is_collection(data) or type(data).__module__ == "dask.delayed" or not table:
        what = f"expected a Dask array or data frame, as codes and factors must both be, got {type(data).__name__}"
        raise InputTypeError(argument, what, "make one with dask.array.from_array or dask.dataframe.from_pandas")
    if hasattr(data, "chunks"):
        if data.ndim == 1 and argument == "factors":
            data = data[:, None]
        if data.ndim != 2:
            raise InputError(
                argument,
                f"expected 2 dimensions (n_samples, n_columns), got {data.ndim}"
                + ("; reshape one column with [:, None]" if data.ndim == 1 else ""),
            )
        if not _known(data.chunks[1]):
            raise InputError(argument, "the number of columns of the Dask array is not known; compute_chunk_sizes()")
        return data.rechunk({1: -1}) if len(data.chunks[1]) > 1 else data, int(data.shape[1])
    data = data.to_frame() if getattr(data, "ndim", 2) == 1 else data
    names = tuple(str(name) for name in data.columns)
    check_distinct(names, argument, "distinct column names", "rename")
    return data, names


def _known(sizes: Sequence[float]) -> bool:
    return all(size == size for size in sizes)  # an unknown size is NaN


# One thread for what is computed --------------------------------------------------------------------------------------


def one_thread(*modules: str) -> AbstractContextManager[Any]:
    """Return a context in which linear algebra and scikit-learn use one thread.

    Parameters
    ----------
    *modules
        Those that bring thread pools of their own. They are imported first: a pool that is loaded within the context
        would not be limited, and its threads would fight for busy cores.
    """
    for name in modules:
        importlib.import_module(name)
    limit: AbstractContextManager[Any] = _pools(len(sys.modules)).limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _pools(n_modules: int) -> Any:
    """Find the thread pools; looked for again when modules, and so perhaps pools, were loaded."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


# Ctrl-C at a moment when nothing is half done -------------------------------------------------------------------------


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
