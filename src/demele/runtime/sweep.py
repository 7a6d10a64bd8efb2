"""A long run of independent tasks: planned, executed here or elsewhere, stored, stopped, resumed."""

import contextlib
import threading
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from demele.core.errors import InputTypeError
from demele.core.kinds import checked_whole
from demele.core.reading import path_of
from demele.core.store import Key, Store
from demele.runtime.work import Report, completed, reporting

#: What is kept of a task: numbers, text, None, and lists and dictionaries of such.
Record = dict[str, Any]
About = TypeVar("About")
#: Takes what one call's tasks are about, and returns their records in the same order. Other processes must be able to
#: call it, and what it returns must not depend on what ran before.
Work = Callable[[tuple[About, ...]], Sequence[Record]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Generic[About]):
    """One piece of a sweep, which leaves one record.

    Attributes
    ----------
    key : tuple of str and int
        Key of its record: everything that the record depends on, except the identity of the sweep.
    about : object
        What the work is given; it travels to other processes.
    seed : int
        All tasks of one seed are begun before those of the next, so that a run that is stopped is of use.
    together : hashable, optional
        Tasks that share it are given to one call of the work: what they have in common is made once.
    weight : float
        About how long it takes, in any unit.
    label : str
        What progress says when it is done.
    """

    key: Key
    about: About
    seed: int = 0
    together: Hashable = None
    weight: float = 1.0
    label: str = ""


class Sweep:
    """Tasks, the store of their records, and the processes that work them off.

    What the store holds is not computed again. A record is written as soon as its call of the work ends, whole or not
    at all, so that a run may be killed at any moment, or stopped with Ctrl-C, and continues where it was. The records
    are the same bits for any number of processes and any order; in the file they stand as they came.

    A task that was killed is given to the work again, as it was: work that takes long may leave files of its own where
    its task says, such as a model in training, and go on from them. What needs the results of other tasks is run by a
    later call of :meth:`run`.

    Parameters
    ----------
    identity : mapping of str to str or int
        What all records have in common: version, settings. A store of another identity is refused.
    store : str or Path, optional
        File that keeps the records; without one they are kept in memory.
    n_jobs : int, default 1
        Processes; -1 for all processors.
    executor : concurrent.futures.Executor, optional
        Where to work instead.

    Raises
    ------
    OutputError, InputError, FormatError
        If the store cannot be used: see :class:`demele.core.store.Store`.

    Examples
    --------
    >>> def halves(numbers):
    ...     return [{"half": number / 2} for number in numbers]
    >>> with Sweep({"demele": "0.1.0"}) as sweep:
    ...     sweep.run(halves, [Task(key=("half", number), about=number) for number in (3, 5)])
    ...     sweep.records["half", 5]
    {'half': 2.5}
    """

    def __init__(
        self,
        identity: Mapping[str, str | int],
        *,
        store: str | Path | None = None,
        n_jobs: int = 1,
        executor: Executor | None = None,
    ) -> None:
        self.n_jobs = checked_whole(n_jobs, "n_jobs", "a number of processes, or -1 for all", inside=bool)
        self.executor = executor
        if executor is not None and not callable(getattr(executor, "submit", None)):
            raise InputTypeError("executor", f"expected one with a method submit, got {type(executor).__name__}")
        with contextlib.ExitStack() as opened:
            file = None if store is None else path_of(store, "store")
            self.records = opened.enter_context(Store(file, identity))
            self._report = opened.enter_context(reporting())
            self._ending = opened.pop_all()

    def __enter__(self) -> "Sweep":
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.close()

    def left(self, tasks: Iterable[Task[About]]) -> list[Task[About]]:
        """Return the tasks without a record, in the order in which they are begun."""
        return sorted((task for task in tasks if task.key not in self.records), key=lambda task: task.seed)

    def run(
        self,
        work: Work[About],
        tasks: Iterable[Task[About]],
        *,
        what: str = "tasks to do",
        share: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        """Work off the tasks that have no record yet; an exception of the work ends it, and what was finished is kept.

        Parameters
        ----------
        work : callable
            ``(abouts) -> records``; see :data:`Work`. Its warnings are not shown: thousands of calls would drown all
            else, and what matters belongs into the records.
        tasks : iterable of Task
            With keys that differ.
        what : str
            What progress calls the tasks that are left, together with their number.
        share : (low, high), default (0, 1)
            Which part of the whole progress this is, where a sweep consists of several calls.

        Raises
        ------
        WorkerError
            If a process ends before its work is done.
        """
        calls: dict[Hashable, list[Task[About]]] = {}
        for task in self.left(tasks):
            calls.setdefault((task.key, None) if task.together is None else (None, task.together), []).append(task)
        batches = list(calls.values())
        report = self.reporter(share)
        done, total = 0.0, sum(task.weight for batch in batches for task in batch)
        if batches:
            report(done, total, f"{len(batches):,} {what}")
        items = ((number, tuple(task.about for task in batch)) for number, batch in enumerate(batches))
        finished = completed(partial(_worked, work), items, n_jobs=self.n_jobs, executor=self.executor)
        # filters belong to a whole process: threads cannot set them each for itself
        quiet = contextlib.nullcontext() if self.executor is None else warnings.catch_warnings(action="ignore")
        with quiet, contextlib.closing(finished):
            for number, records in finished:
                batch = batches[number]
                self.records.append(zip((task.key for task in batch), records, strict=True))
                done += sum(task.weight for task in batch)
                report(done, total, batch[-1].label)

    def reporter(self, share: tuple[float, float] = (0.0, 1.0)) -> Report:
        """Return where a part of the work reports to: its share of the whole."""
        (low, high), report = share, self._report
        if report is None:
            return lambda *_: None
        return lambda done, total, label: report(low + (high - low) * done / max(total, 1e-9), 1.0, label)


def _worked(work: Work[About], item: tuple[int, tuple[About, ...]]) -> tuple[int, Sequence[Record]]:
    """Call the work in any process; results are found by the number of the call."""
    number, abouts = item
    alone = threading.current_thread() is threading.main_thread()
    with warnings.catch_warnings(action="ignore") if alone else contextlib.nullcontext():
        return number, work(abouts)
