"""Ranks of the same models on several tasks: their mean, and the rank on a task to come."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from demele.classifiers.comparison.compare import Ranking
from demele.classifiers.judge import Judgement
from demele.core.arrays import Rows
from demele.core.errors import InputError, InputTypeError
from demele.core.kinds import Confidence, checked
from demele.core.result import TableResult
from demele.core.signature import Signature
from demele.core.uncertainty import Interval, Note
from demele.report.words import count, name, written


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRank:
    """One model over all tasks.

    Attributes
    ----------
    model : str
    mean_rank : Interval
        Of the mean of its true ranks on these tasks.
    new_task : Interval
        Of its true rank on a task to come.
    first : int
        Tasks on which it is shown to be the best.
    """

    model: str
    mean_rank: Interval
    new_task: Interval
    first: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TaskRanks(TableResult):
    """Ranks of models over tasks.

    Attributes
    ----------
    models : tuple of TaskRank
        Sorted by the middle of the mean rank, best first.
    tasks : tuple of str
    best_rank, worst_rank : array of int of shape (n_tasks, n_models)
        Between them lies the rank of each model on each task, in the order of ``models``.
    level : float
        Of the rank on a new task.
    """

    _kind, _rows = "ranking over tasks", "models"
    _forms: ClassVar[Mapping[str, str]] = {"mean_rank_low": "number.2", "new_task_low": "count"}

    models: tuple[TaskRank, ...]
    tasks: tuple[str, ...]
    best_rank: Rows
    worst_rank: Rows
    level: float
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature

    def headline(self) -> str:
        """Return the model with the best mean rank, and its rank on a new task."""
        best = self.models[0]
        ends = f"{written(best.mean_rank.low, 'number.2')} to {written(best.mean_rank.high, 'number.2')}"
        new = f"{best.new_task.low:.0f} to {best.new_task.high:.0f}"
        return (
            f"{name(best.model)} has mean rank {ends} over {count(len(self.tasks), 'task')}; on a new task, rank {new}."
        )


@checked
def task_ranks(rankings: Mapping[str, Ranking | Judgement], *, level: Confidence = 0.9) -> TaskRanks:
    """Put rankings of the same models on several tasks together.

    Parameters
    ----------
    rankings : mapping of str to Ranking or Judgement
        By the name of the task.
    level : float in [0.5, 1)
        Of the rank on a new task, for each model by itself.

    Returns
    -------
    TaskRanks

    Raises
    ------
    InputError
        For no task, or other models in one of them.

    Notes
    -----
    The mean rank lies between the means of the ends of the sets of ranks: tasks are not resampled. It holds if the
    sets of all tasks do, so rank each of T tasks at level 1 - 0.05 / T for 95%.

    On a new task, with q = ceil((T + 1) (1 - (1 - level) / 2)): from the q-th largest best rank to the q-th smallest
    worst rank; every rank is possible if q > T. Tasks must be exchangeable, as if all were drawn from one source.

    Examples
    --------
    >>> import numpy as np
    >>> from demele import classifiers
    >>> rng = np.random.default_rng(0)
    >>> rankings = {}
    >>> for task in ["a", "b", "c"]:
    ...     labels = rng.integers(0, 10, 2000)
    ...     models = {one: np.where(rng.random(2000) < p, labels, 10) for one, p in (("x", 0.9), ("y", 0.8))}
    ...     rankings[task] = classifiers.rank(models, labels, noise=0.01)
    >>> classifiers.task_ranks(rankings).sentence
    'x has mean rank 1.00 to 1.00 over 3 tasks; on a new task, rank 1 to 2.'
    """
    if not isinstance(rankings, Mapping) or not all(isinstance(one, Ranking | Judgement) for one in rankings.values()):
        raise InputTypeError("rankings", f"expected rankings by the names of tasks, got {type(rankings).__name__}")
    if not rankings:
        raise InputError("rankings", "expected at least one task, got none")
    tasks, held = tuple(map(str, rankings)), list(rankings.values())
    names = sorted(held[0].names)
    for task, ranking in zip(tasks, held, strict=True):
        if sorted(ranking.names) != names:
            raise InputError("rankings", f"task {task!r} has other models than task {tasks[0]!r}")
    order = [np.argsort(ranking.names) for ranking in held]
    best, worst = (
        np.array([np.take(getattr(ranking, key), places) for ranking, places in zip(held, order, strict=True)])
        for key in ("best_rank", "worst_rank")
    )
    first, last = new_task_ranks(best, worst, level)
    ends = np.stack([best.mean(axis=0), worst.mean(axis=0)])
    rows = [
        TaskRank(
            model=one,
            mean_rank=Interval(
                low=float(low), high=float(high), level=held[0].level, method="ends of sets", kind="sets"
            ),
            new_task=Interval(low=float(a), high=float(b), level=level, method="order statistics", kind="prediction"),
            first=int(best_here),
        )
        for one, (low, high), a, b, best_here in zip(names, ends.T, first, last, (worst == 1).sum(axis=0), strict=True)
    ]
    sorting = np.lexsort((ends[0], ends.sum(axis=0)))
    needed = math.ceil(2 / (1 - level) - 1 - 1e-9)
    few = f"{len(tasks)} tasks leave every rank possible on a new task; {needed} tasks are needed at level {level:g}"
    return TaskRanks(
        models=tuple(rows[place] for place in sorting),
        tasks=tasks,
        best_rank=best[:, sorting],
        worst_rank=worst[:, sorting],
        level=level,
        assumptions=(
            "Tasks are exchangeable with the task to come; those of one suite rarely are.",
            "The sets of ranks hold on each task.",
        ),
        notes=(Note(code="few-tasks", message=few, severity="warning"),) if len(tasks) < needed else (),
        signature=Signature.of("task_ranks", {"level": level}, tasks=len(tasks), models=len(names)),
    )


def new_task_ranks(best: Rows, worst: Rows, level: float) -> tuple[Rows, Rows]:
    """Return the ends of each model's rank on a new task, from ranks of shape (n_tasks, n_models)."""
    tasks, models = best.shape
    q = math.ceil((tasks + 1) * (1 + level) / 2 - 1e-9)
    if q > tasks:
        return np.ones(models, np.intp), np.full(models, models, np.intp)
    return np.sort(best, axis=0)[tasks - q], np.sort(worst, axis=0)[q - 1]
