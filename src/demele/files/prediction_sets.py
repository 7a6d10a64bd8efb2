"""Predictions of several models from files of their own, joined by what identifies their rows, not by their order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, quoted
from demele.core.labelled import shown
from demele.core.names import checked_name
from demele.core.sentences import give
from demele.files.harness_logs import is_harness_log, read_harness_log
from demele.files.inspect_logs import is_inspect_log, read_inspect_log
from demele.files.label_files import in_one_vocabulary, name_of
from demele.files.model_logs import NO_ANSWER, ModelLog, id_order
from demele.files.named import split_name
from demele.files.predicted_columns import PredictedColumns, read_columns
from demele.files.table_files import Warn

#: What stands for an answer that a log calls right, or wrong, where it does not say which it is.
RIGHT, WRONG = "right", "wrong"

Ids = Literal["same", "common"]


@dataclass(frozen=True, slots=True)
class PredictionSet:
    """Predictions of several models, and labels, of the same rows.

    Attributes
    ----------
    predictions : dict of str to array of shape (n,)
        By the names of the models.
    labels : array of shape (n,)
    ids : array of str of shape (n,), or None
        What identifies the rows; None where they were paired by position.
    classes : tuple or None
        All classes, where the files say so: choices that are no label of any row can be predicted, too.
    scores : dict of str to array of shape (n, n_classes)
        Probabilities or scores of the classes, of the models that came with them.
    graded : bool
        Whether predictions are only ``"right"`` and ``"wrong"``, and labels all ``"right"``: of answers in words, a log
        says no more. Accuracies and their differences hold as they are; measures of one class mean nothing.
    left_out : int
        Rows that not all files have.
    notes : tuple of str
        What their reader must know.
    """

    predictions: dict[str, NDArray[Any]]
    labels: NDArray[Any]
    ids: NDArray[np.object_] | None = None
    classes: tuple[int | str, ...] | None = None
    scores: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    graded: bool = False
    left_out: int = 0
    notes: tuple[str, ...] = ()


def is_log(text: str) -> bool:
    """Whether a file, given as ``FILE`` or ``FILE::name``, is a log of a language model that holds its own labels."""
    path = split_name(text)[0]
    return is_harness_log(path) or is_inspect_log(path)


def read_predictions(
    files: Sequence[str] | Mapping[str, str],
    labels: str | None = None,
    *,
    id: str | None = None,  # noqa: A002 - the column is mostly called so
    ids: Ids = "same",
    scores: bool = False,
) -> PredictionSet:
    r"""Read the predictions of several models from files, and their labels.

    Parameters
    ----------
    files : sequence of str, or mapping of names of models to str
        ``FILE`` or ``FILE::column``, one for each model: tables, or logs of lm-evaluation-harness
        (``samples_*.jsonl``) and Inspect (``.eval``, ``.json``), whose names after ``::`` pick a measure, filter,
        scorer or ``epoch=K``.
    labels : str, optional
        Where the labels are. Logs bring theirs.
    id : str, optional
        Column that identifies the rows of tables, the same in all. Without it, rows are paired by position. Logs are
        joined by their questions.
    ids : {"same", "common"}
        ``"same"`` refuses files that have other rows than the others; ``"common"`` keeps the rows that all have.
    scores : bool
        Whether tables hold a column of probabilities or scores per class, named by the class: the prediction is the
        class of the largest.

    Returns
    -------
    PredictionSet
        Rows in the order of ``labels``; of logs, in the order of their questions.

    Raises
    ------
    FormatError, InputError, UnknownNameError
        If a file cannot be read, an identifier is missing or repeated, or files differ in rows or questions.
    OSError
        If one cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("id,answer\n7,cat\n8,dog\n")
    >>> _ = (folder / "gold.csv").write_text("id,label\n8,dog\n7,dog\n")
    >>> found = read_predictions([f"{folder}/a.csv"], f"{folder}/gold.csv", id="id")
    >>> found.predictions["a"].tolist(), found.labels.tolist()
    (['dog', 'cat'], ['dog', 'dog'])
    """
    checked_name(ids, "ids", ("same", "common"))
    named = dict(files) if isinstance(files, Mapping) else dict.fromkeys(files)
    texts = list(files.values()) if isinstance(files, Mapping) else list(files)
    if not texts or (not isinstance(files, Mapping) and len(named) < len(texts)):
        raise InputError("files", f"expected files, each once, got {shown(texts)}")
    logs = [text for text in texts if is_log(text)]
    if not logs:
        if labels is None:
            raise InputError("labels", "expected where the labels are; only logs bring their own")
        return _of_tables(files, texts, labels, id, ids, scores)
    if len(logs) < len(texts) or labels is not None:
        other = next((text for text in texts if text not in logs), labels)
        raise InputError("files", f"{logs[0]} is a log, which brings its own labels, {other} is none; give logs only")
    read = [_log(text) for text in texts]
    names = list(files) if isinstance(files, Mapping) else _distinct([log.name for log in read], texts)
    return _of_logs(dict(zip(names, read, strict=True)), texts, ids)


# Logs ------------------------------------------------------------------------------------------------------------


def _log(text: str) -> ModelLog:
    path, picked = split_name(text)
    return read_harness_log(path, picked) if is_harness_log(path) else read_inspect_log(path, picked)


def _of_logs(logs: Mapping[str, ModelLog], texts: Sequence[str], ids: Ids) -> PredictionSet:
    answers = [{answer.id: answer for answer in log.answers} for log in logs.values()]
    for text, log in zip(texts, logs.values(), strict=True):
        if log.unscored and ids == "same":
            raise InputError(
                f"{text}: {len(log.unscored)} questions have no score, first {quoted(log.unscored[0])}; to leave them "
                f"out for all models, {give(ids='common')}"
            )
    kept, left_out = common([list(held) for held in answers], texts, ids)
    kept = sorted(kept, key=id_order)
    for text, held in zip(texts[1:], answers[1:], strict=True):
        other = [name for name in kept if held[name].question != answers[0][name].question]
        if other:
            raise InputError(
                f"{text}: {len(other)} of {len(kept)} questions are others than in {texts[0]}, first "
                f"{quoted(other[0])}; logs are compared on the same task and version"
            )
    notes = [remark for log in logs.values() for remark in log.remarks]
    measures = dict.fromkeys(log.measure for log in logs.values())
    if len(measures) > 1:
        raise InputError(
            f"files: the logs are judged by {', '.join(measures)}; pick one measure for all, as FILE::measure"
        )
    if not all(log.has_choices for log in logs.values()):
        notes.append(
            f"answers are compared as right or wrong by {next(iter(measures))}: the logs do not say which choice "
            "was taken"
        )
        made = {
            name: np.array([RIGHT if held[row].right else WRONG for row in kept], dtype=object)
            for name, held in zip(logs, answers, strict=True)
        }
        labels = np.full(len(kept), RIGHT, dtype=object)
        return PredictionSet(made, labels, _texts(kept), (RIGHT, WRONG), {}, True, left_out, tuple(notes))
    made = {name: np.array([held[row].predicted for row in kept]) for name, held in zip(logs, answers, strict=True)}
    labels = np.array([answers[0][row].target for row in kept])
    made, labels = ({name: _plain(one) for name, one in made.items()}, _plain(labels))
    classes = _choices([held[row] for held in answers for row in kept], labels)
    return PredictionSet(made, labels, _texts(kept), classes, {}, False, left_out, tuple(notes))


def _choices(answers: Sequence[Any], labels: NDArray[Any]) -> tuple[int | str, ...]:
    most = max(answer.n_choices for answer in answers)
    if labels.dtype.kind != "O":
        return tuple(range(most))
    silent = any(answer.predicted == NO_ANSWER for answer in answers)
    return (*(chr(ord("A") + place) for place in range(most)), *([NO_ANSWER] if silent else []))


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(object) if values.dtype.kind == "U" else values


def _texts(names: Sequence[str]) -> NDArray[np.object_]:
    return np.array(names, dtype=object)


# Tables ----------------------------------------------------------------------------------------------------------


def _of_tables(
    files: Sequence[str] | Mapping[str, str],
    texts: Sequence[str],
    labels: str,
    column: str | None,
    ids: Ids,
    scores: bool,
) -> PredictionSet:
    notes: list[str] = []
    warn: Warn = notes.append
    gold = read_columns(labels, column, warn)
    if len(gold.columns) != 1:
        raise InputError(
            f"{labels}: holds {len(gold.columns)} columns beside {column}; pick the labels, such as {labels}::label"
        )
    target = next(iter(gold.columns.values()))
    read = [read_columns(text, column, warn, labels=labels, classes=target if scores else None) for text in texts]
    if isinstance(files, Mapping):
        _check_single(read, texts)
        models = {name: next(iter(one.columns.values())) for name, one in zip(files, read, strict=True)}
        tables = dict(zip(files, read, strict=True))
    else:
        models, tables = _named_models(read, texts)
    kept: list[str] = []
    left_out = 0
    if column is not None:
        every = [gold.ids, *(one.ids for one in read)]
        kept, left_out = common([list(one or ()) for one in every], [labels, *texts], ids)
        target = _at(target, gold, kept)
        models = {name: _at(values, tables[name], kept) for name, values in models.items()}
    held = {name: tables[name].scores for name in models}
    tied = {
        name: value if column is None else _at(value, tables[name], kept)
        for name, value in held.items()
        if value is not None
    }
    columns = in_one_vocabulary({"labels": target, **{("model", name): values for name, values in models.items()}})
    return PredictionSet(
        predictions={name: np.asarray(columns["model", name]) for name in models},
        labels=np.asarray(columns["labels"]),
        ids=None if column is None else _texts(kept),
        scores=tied,
        left_out=left_out,
        notes=tuple(notes),
    )


def _check_single(read: Sequence[PredictedColumns], texts: Sequence[str]) -> None:
    for text, one in zip(texts, read, strict=True):
        if len(one.columns) != 1:
            raise InputError(f"{text}: holds {len(one.columns)} columns ({', '.join(list(one.columns)[:6])}); pick one")


def _named_models(
    read: Sequence[PredictedColumns], texts: Sequence[str]
) -> tuple[dict[str, Any], dict[str, PredictedColumns]]:
    """Return the columns of all files by the names of their models: that of the file, if it holds one."""
    found: list[tuple[str, Any, PredictedColumns]] = []
    called = [name_of(text) for text in texts]
    if len(set(called)) < len(called):  # a column of the same name in each
        called = [split_name(text)[0].stem for text in texts]
    alone = _distinct(called, texts)
    for name, one in zip(alone, read, strict=True):
        single = len(one.columns) == 1 and len(read) > 1
        found += [
            (name if single or one.scores is not None else column, values, one)
            for column, values in one.columns.items()
        ]
    if len(read) == 1 and len(found) == 1:
        found = [(alone[0], *found[0][1:])]
    names = [name for name, _, _ in found]
    if len(set(names)) < len(names):
        raise InputError("files", f"expected distinct names of models, got {shown(names)}")
    return {name: values for name, values, _ in found}, {name: one for name, _, one in found}


def _at(values: Any, table: PredictedColumns, kept: Sequence[str]) -> NDArray[Any]:
    """Return values in the order of some identifiers."""
    place = {name: row for row, name in enumerate(table.ids or ())}
    array: NDArray[Any] = np.asarray(values)[[place[name] for name in kept]]
    return array


# Rows ------------------------------------------------------------------------------------------------------------


def common(held: Sequence[Sequence[str]], texts: Sequence[str], ids: Ids) -> tuple[list[str], int]:
    """Return the identifiers that all files have, in the order of the first, and how many others there are.

    Raises
    ------
    InputError
        If there are others, and they are not to be left out; or if no row is common.
    """
    sets = [set(one) for one in held]
    every, shared = set().union(*sets), set.intersection(*sets)
    left_out = len(every) - len(shared)
    if left_out and ids == "same":
        lacking = [
            (text, sorted(every - one, key=id_order)) for text, one in zip(texts, sets, strict=True) if every - one
        ]
        told = ", ".join(f"{text} lacks {len(names)}, first {quoted(names[0])}" for text, names in lacking[:3])
        raise InputError(
            f"the files have other rows: of {len(every)} in all, {told}; to compare the {len(shared)} that all have, "
            f"{give(ids='common')}"
        )
    if not shared:
        raise InputError(f"{texts[-1]}: no row has an identifier that {texts[0]} has as well")
    return [name for name in held[0] if name in shared], left_out


def _distinct(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return names that differ: with the folder, or numbered, where they do not."""
    if len(set(names)) == len(names):
        return list(names)
    paths = [split_name(text)[0] for text in texts]
    longer = [f"{Path(path).resolve().parent.name}/{name}" for path, name in zip(paths, names, strict=True)]
    return longer if len(set(longer)) == len(longer) else [f"{name} {place}" for place, name in enumerate(names, 1)]
