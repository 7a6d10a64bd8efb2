"""Logs of several models: found in folders, gathered by model, and read as classes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.files.harness_logs import is_harness_log, read_harness_log
from demele.files.inspect_logs import is_inspect_log, read_inspect_log
from demele.files.model_logs import (
    NO_ANSWER,
    OTHER_ANSWER,
    LoggedAnswer,
    ModelLog,
    have_choices,
    have_texts,
    texts_of,
)
from demele.files.named import split_name
from demele.files.table_files import check_known

#: What stands for an answer that a log calls right, or wrong, where it does not say which it is.
RIGHT, WRONG = "right", "wrong"


def is_log(text: str) -> bool:
    """Whether ``FILE`` or ``FILE::name`` is a log of a language model, with labels of its own, or a folder of logs."""
    return bool(_log_files(split_name(text)[0]))


def _log_files(path: Path) -> list[Path]:
    """Return a log, or the logs of a folder."""
    held = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [one for one in held if is_harness_log(one) or is_inspect_log(one)]


def runs_of(texts: Sequence[str], shared: Sequence[str]) -> list[list[ModelLog]]:
    """Return the logs of each model; two logs of one model and the same questions are two runs of it."""
    runs: list[list[ModelLog]] = []
    names = dict.fromkeys(shared)
    for text in texts:
        path, picked = split_name(text)
        names |= dict.fromkeys(picked)
        own: dict[str, list[ModelLog]] = {}
        for file in _log_files(path):
            log = (read_harness_log if is_harness_log(file) else read_inspect_log)(file, [*picked, *shared])
            same = next((other for other in own.setdefault(log.name, []) if _same_task(log, other)), None)
            if same is not None:
                raise InputError(
                    f"{text}: holds two runs of {log.task} by {log.name}: {same.path} and {file}; name the files to "
                    "compare, or take one of them out of the folder"
                )
            own[log.name].append(log)
        for name, logs in own.items():
            same_model = [run for run in runs if run[0].name == name]
            joins = [run for run in same_model if not any(_same_task(a, b) for a in run for b in logs)]
            if joins:
                joins[0] += logs
            else:
                runs.append(logs)
    check_known(list(names), [name for run in runs for log in run for name in log.held], Path(texts[0]), "measure")
    return [sorted(run, key=lambda log: log.task) for run in runs]


def _same_task(one: ModelLog, other: ModelLog) -> bool:
    return one.task == other.task or {(answer.id, answer.question) for answer in one.answers} == {
        (answer.id, answer.question) for answer in other.answers
    }


def as_classes(
    answers: Mapping[str, Sequence[LoggedAnswer]],
) -> tuple[dict[str, NDArray[Any]], NDArray[Any], tuple[int | str, ...], Literal["choices", "open", "graded"]]:
    """Return answers as the choices that were taken, or else as texts, or else as right and wrong; and which it is."""
    first = next(iter(answers.values()))
    if all(map(have_choices, answers.values())):
        made = {name: _plain(np.array([one.predicted for one in held])) for name, held in answers.items()}
        labels = _plain(np.array([one.target for one in first]))
        every = [one for held in answers.values() for one in held]
        most = max(answer.n_choices for answer in every)
        if labels.dtype.kind != "O":
            return made, labels, tuple(range(most)), "choices"
        silent = [NO_ANSWER] if any(answer.predicted == NO_ANSWER for answer in every) else []
        return made, labels, (*(chr(ord("A") + place) for place in range(most)), *silent), "choices"
    if all(map(have_texts, answers.values())):
        made = {name: _objects([texts_of(one)[0] for one in held]) for name, held in answers.items()}
        labels = _objects([texts_of(one)[1] for one in first])
        said = dict.fromkeys(text for held in (labels, *made.values()) for text in held.tolist())
        return made, labels, (*said, OTHER_ANSWER), "open"
    made = {name: _objects([RIGHT if one.right else WRONG for one in held]) for name, held in answers.items()}
    return made, _objects([RIGHT] * len(first)), (RIGHT, WRONG), "graded"


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(object) if values.dtype.kind == "U" else values


def _objects(names: Sequence[str]) -> NDArray[np.object_]:
    return np.array(names, dtype=object)
