"""Predictions of several models from files of their own, joined by what identifies their rows, not by their order."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import pd
from demele.core.errors import FormatError, InputError, UnknownNameError, plural, quoted
from demele.core.kinds import checked_name
from demele.core.labelled import shown
from demele.core.reading import path_of, real_path
from demele.core.table_columns import items_of
from demele.files import label_files, model_logs
from demele.files.audit_files import AsKnown
from demele.files.named import read_frame, read_table, split_name
from demele.files.table_files import Warn, check_known, listed, quoted_name

# Logs of several models: found in folders, gathered by model, and read as classes -------------------------------------


def is_log(text: str) -> bool:
    """Whether ``FILE`` or ``FILE::name`` is a log of a language model, with labels of its own, or a folder of logs."""
    return bool(_log_files(split_name(text)[0]))


def _log_files(path: Path) -> list[Path]:
    """Return a log, or the logs of a folder."""
    held = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [one for one in held if model_logs.log_program(one)]


def runs_of(texts: Sequence[str], shared: Sequence[str]) -> list[list[model_logs.ModelLog]]:
    """Return the logs of each model; two logs of one model and the same questions are two runs of it."""
    runs: list[list[model_logs.ModelLog]] = []
    names = dict.fromkeys(shared)
    for text in texts:
        path, picked = split_name(text)
        names |= dict.fromkeys(picked)
        own: dict[str, list[model_logs.ModelLog]] = {}
        for file in _log_files(path):
            log = model_logs.LOG_READERS[model_logs.log_program(file)][0](file, [*picked, *shared])
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


def _same_task(one: model_logs.ModelLog, other: model_logs.ModelLog) -> bool:
    return one.task == other.task or model_logs.questions_of(one.answers) == model_logs.questions_of(other.answers)


_TABLES = (".csv", ".tsv", ".parquet")


def refuse_other_order(texts: Sequence[str]) -> None:
    """Refuse files if one of their unused columns shows that their rows have another order.

    Parameters
    ----------
    texts : sequence of str
        As of :func:`demele.files.named.read_table`. Of tables other columns than those that are picked are looked at:
        whole numbers or texts that differ in every row, and are the same in two files but for their order.

    Raises
    ------
    InputError
        If there is such a column: row r of one file is not row r of the other.
    """
    picked = {name for text in texts for name in split_name(text)[1]}
    paths = dict.fromkeys(path for path, names in map(split_name, texts) if names and path.suffix.lower() in _TABLES)
    read = paths if len(paths) > 1 else ()  # the whole of each file that is a table with more than is asked for, once
    tables: list[tuple[Path, Any]] = [(path, read_table(str(path), warn=lambda _: None)) for path in read]
    for text, table in tables[1:]:
        path, first = tables[0]
        shared = [name for name in first if name in table and name not in picked]
        for name in shared:
            own, other = first[name], table[name]
            named = own.dtype.kind != "f" and other.dtype.kind != "f" and own.is_unique and other.is_unique
            if named and own.tolist() != other.tolist() and set(own) == set(other):
                raise InputError(
                    f"{path} and {text}: column {quoted(str(name))} has the same values in another order, but rows are "
                    f"paired by position; to join them by it, give --id {shlex.quote(str(name))}; if it does not "
                    "identify rows, remove it from the files"
                )


@dataclass(slots=True)
class _Columns:
    """What a table holds: identifiers of its rows (None: they are paired by position), classes by column, scores."""

    ids: tuple[str, ...] | None
    columns: dict[str, Any]
    scores: NDArray[np.float64] | None = None


def _columns(
    text: str, id_column: str | None, warn: Warn, *, labels: str | None = None, classes: Any = None
) -> _Columns:
    """Read the columns of one table: predictions, or scores for each class of the labels, if ``classes`` are these."""
    path = split_name(text)[0]
    if classes is None and id_column is None:
        return _Columns(None, label_files.models(text, warn, labels=labels))
    ids: tuple[str, ...] | None = None
    table: Any
    if id_column is None and path.suffix.lower() in (".npy", ".npz"):
        table = read_table(text, warn=warn)
    else:
        ids, table = _identified(text, id_column, warn, labels)
    if classes is not None:
        held = np.asarray(table)
        if held.ndim != 2 or held.dtype.kind not in "biuf" or held.shape[1] < 2:
            raise InputError(f"{text}: expected numbers for each class, got {held.dtype} of shape {held.shape}")
        scores = held.astype(np.float64)
        odd = np.flatnonzero(np.isnan(scores).any(axis=1))
        if odd.size:
            raise InputError(f"{text}: no number in {plural(odd.size, 'row', 'rows')} of scores, first row {odd[0]}")
        names = list(map(str, range(held.shape[1]) if table is held else table))
        found = np.array(_classes_of(text, names, np.asarray(classes)), dtype=object)
        return _Columns(ids, {path.stem: found[scores.argmax(axis=1)]}, scores)
    if not table.shape[1]:
        raise InputError(f"{text}: expected a column of classes in addition to {id_column}, got none")
    if all(values.dtype.kind == "f" and (values % 1 != 0).any() for _, values in table.items()):
        raise InputError(
            f"{text}: expected a column of classes for each model, got columns of probabilities or scores: "
            "pass `scores=True` if there is one for each class"
        )
    for name in table:
        label_files.refuse_missing(text, table[name])
    return _Columns(ids, {str(name): values.to_numpy() for name, values in table.items()})


def _identified(
    text: str, id_column: str | None, warn: Warn, labels: str | None
) -> tuple[tuple[str, ...] | None, "pd.DataFrame"]:
    """Return what identifies the rows of a table, the same for 7 and 7.0, and its other columns but the labels."""
    path, names = split_name(text)
    whole = text
    if id_column is not None and names and id_column not in names:
        whole = f"{path}::{','.join(quoted_name(name) for name in (id_column, *names))}"
    table = read_frame(whole, warn)
    file, own = split_name(labels) if labels is not None else (path, ())
    if real_path(file) == real_path(path):
        table = table.drop(columns=[name for name in own if name in table and name != id_column])
    if id_column is None:
        return None, table
    if id_column not in table:
        raise UnknownNameError(f"{path}: has no column {quoted(id_column)}; it has {listed([*map(str, table)])}")
    values, what = table.pop(id_column), f"{text}: column {id_column}"
    missing = np.flatnonzero(values.isna())
    if missing.size:
        raise InputError(f"{what}: no identifier in {plural(missing.size, 'row', 'rows')}, first row {missing[0]}")
    with label_files.in_file(what):
        ids = [label_files.class_text(value) for value in values.tolist()]
    first: dict[str, int] = {}
    for row, name in enumerate(ids):
        if first.setdefault(name, row) != row:
            raise InputError(f"{what}: {quoted(name)} identifies rows {first[name]} and {row}; each row needs its own")
    return tuple(ids), table


def _classes_of(text: str, names: Sequence[str], labels: NDArray[Any]) -> list[int | str]:
    """Return the classes that columns are named by, with or without a beginning that all share, such as ``p_``."""
    known = {label_files.class_text(value) for value in labels.tolist()}
    for size in range(min(map(len, names))):  # no class is without a name
        short = [name[size:] for name in names]
        if known <= set(short) and len({name[:size] for name in names}) == 1:
            return label_files.classes_like(short, labels.astype(object) if labels.dtype.kind == "U" else labels)
    lacking = sorted(known - set(names))
    raise InputError(
        f"{text}: expected a column of scores for each class, named by it, got {listed(list(names))}; LABELS also has "
        f"{', '.join(lacking[:6])}"
    )


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
    open : bool
        Whether predictions and labels are answers in words, such as numbers that a model wrote. Any text may be a class
        then, and measures of single classes mean little.
    fields : tuple of mapping of str
        What logs hold of each row, by names such as ``question``, ``doc.passage_id`` and ``metadata.passage``.
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
    open: bool = False
    fields: tuple[Mapping[str, Any], ...] = ()
    left_out: int = 0
    notes: tuple[str, ...] = ()

    @property
    def as_known(self) -> AsKnown | None:
        """What reads an expert's answer to a question of logs: as one that a model or a log gave, or as a choice."""
        classes = self.classes or ()
        if self.open:
            return lambda text: next(
                (one for one in (text, model_logs.plain(text)) if one in classes), model_logs.OTHER_ANSWER
            )
        return (lambda text: model_logs.chosen(text, classes)) if self.fields and classes else None

    def values_of(self, name: str) -> list[Any]:
        """Return what logs hold of each row by one name; None where a row has none.

        Raises
        ------
        UnknownNameError
            If no row has it.
        """
        held = list(dict.fromkeys(name for fields in self.fields for name in fields))
        check_known([name], held, Path("logs"), "field")
        return [fields.get(name) for fields in self.fields]


def read_predictions(
    files: Sequence[str] | Mapping[str, str],
    labels: str | None = None,
    *,
    id: str | None = None,  # noqa: A002 - the column is mostly called so
    ids: Ids = "same",
    scores: bool = False,
    filter: Sequence[str] | str = (),  # noqa: A002 - lm-evaluation-harness calls it so
) -> PredictionSet:
    r"""Read the predictions of several models from files, and their labels.

    Parameters
    ----------
    files : sequence of str, or mapping of names of models to str
        ``FILE`` or ``FILE::column``, one for each model: tables, or logs of lm-evaluation-harness
        (``samples_*.jsonl``) and Inspect (``.eval``, ``.json``), or folders of these. Logs of one model and several
        tasks are one model. Names after ``::`` pick a measure, filter, scorer or ``epoch=K`` of this log.
    labels : str, optional
        Where the labels are. Logs bring theirs.
    id : str, optional
        Column that identifies rows, to join tables by (default: by position). It has the same name in all. Logs are
        joined by their questions.
    ids : {"same", "common"}
        Rows that files must share: all of them, or those to compare. ``"same"`` refuses files that have other rows than
        the others; ``"common"`` keeps the rows that all have.
    scores : bool
        Tables hold a column of probabilities per class, named by the class. The prediction is the class of the
        largest.
    filter : str or sequence of str
        Measure, filter, scorer or ``epoch=K`` to read of each log.

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
    given = files.values() if isinstance(files, Mapping) else files
    texts = [str(path_of(text, "files")) for text in items_of(given, "files", "names of files")]
    if not texts or (not isinstance(files, Mapping) and len(set(texts)) < len(texts)):
        raise InputError("files", f"expected files, each once, got {shown(texts)}")
    labels = None if labels is None else str(path_of(labels, "labels"))
    logs = [text for text in texts if is_log(text)]
    if not logs:
        if labels is None:
            raise InputError("labels", "expected where the labels are; only logs bring their own")
        if filter:
            raise InputError("filter", "picks what to read of logs, and none is given")
        if ids == "common" and id is None:
            raise InputError("ids", "rows are paired by position; pass `id=`, or logs")
        return _of_tables(files, texts, labels, id, ids, scores)
    if len(logs) < len(texts) or labels is not None:
        other = next((text for text in texts if text not in logs), labels)
        if not split_name(str(other))[0].exists():
            raise FormatError(f"{other}: there is no such file or folder")
        raise InputError("files", f"{logs[0]} is a log, which brings its own labels, {other} is none; give logs only")
    if id is not None or scores:
        raise InputError("id" if id is not None else "scores", "is for tables; logs name their questions themselves")
    shared = [filter] if isinstance(filter, str) else list(filter)
    runs = runs_of(texts, shared)
    if isinstance(files, Mapping):
        if len(runs) != len(files):
            raise InputError("files", f"expected logs of one model by each name, got logs of {len(runs)} models")
        names = list(files)
    else:
        names = distinct([run[0].name for run in runs], [str(run[0].path) for run in runs])
    return _of_logs(dict(zip(names, runs, strict=True)), ids)


# Logs ------------------------------------------------------------------------------------------------------------


def _of_logs(runs: Mapping[str, Sequence[model_logs.ModelLog]], ids: Ids) -> PredictionSet:
    several = any(len(run) > 1 for run in runs.values())
    read = [
        {f"{log.task}/{answer.id}" if several else answer.id: answer for log in run for answer in log.answers}
        for run in runs.values()
    ]
    logs = [log for run in runs.values() for log in run]
    for log in logs:
        if log.unscored and ids == "same":
            raise InputError(
                f"{log.path}: {plural(len(log.unscored), 'question has', 'questions have')} no score, first "
                f"{quoted(log.unscored[0])}{' and '.join(['', *log.failures])}; to leave them out for all models, "
                "pass `ids='common'`"
            )
    texts = [name if len(run) > 1 else " and ".join([str(run[0].path), *run[0].failures]) for name, run in runs.items()]
    kept, left_out = common([list(held) for held in read], texts, ids)
    for text, held in zip(texts[1:], read[1:], strict=True):
        other = [name for name in kept if held[name].question != read[0][name].question]
        if other:
            raise InputError(
                f"{text}: {len(other)} of {len(kept)} questions are others than in {texts[0]}, first "
                f"{quoted(other[0])}; logs are compared on the same task and version"
            )
    for name in kept:
        measures = list(dict.fromkeys(held[name].measure for held in read))
        if len(measures) > 1:
            raise InputError("filter", f"logs are judged by {', '.join(measures)}; pick one for all")
    fields = tuple(model_logs.flat_fields(read[0][name].fields) for name in kept)
    notes = [f"{log.path}: {failure}" for log in logs for failure in log.failures]
    tasks = {one["task"] for one in fields}
    if len(tasks) > 1:
        notes.append(f"{len(kept):,} questions of {len(tasks)} tasks: each question has the same weight in all tasks")
    answers = {name: [held[row] for row in kept] for name, held in zip(runs, read, strict=True)}
    made, labels, classes, kind = model_logs.as_classes(answers)
    if kind == "graded":
        measure = read[0][kept[0]].measure
        notes.append(f"answers are compared as right or wrong by {measure}: the logs do not say which answer was taken")
    return PredictionSet(
        made,
        labels,
        np.array(kept, dtype=object),
        classes,
        graded=kind == "graded",
        open=kind == "open",
        fields=fields,
        left_out=left_out,
        notes=tuple(notes),
    )


# Tables ----------------------------------------------------------------------------------------------------------


def _of_tables(
    files: Sequence[str] | Mapping[str, str],
    texts: Sequence[str],
    labels: str,
    column: str | None,
    ids: Ids,
    scores: bool,
) -> PredictionSet:
    notes = [f"{text} is given twice: judged against itself" for text in set(texts) if [*texts, labels].count(text) > 1]
    warn: Warn = notes.append
    if column is None:
        gold = _Columns(None, {"labels": label_files.label_column(labels, warn)})
    else:
        gold = _columns(labels, column, warn)
    if len(gold.columns) != 1:
        raise InputError(f"{labels}: holds {len(gold.columns)} columns next to {column}; pick one as {labels}::label")
    if column is None and not scores:
        refuse_other_order([*texts, labels])
    (target,) = gold.columns.values()
    single = isinstance(files, Mapping) and column is None and not scores
    read = [
        _Columns(None, {text: label_files.column(text, warn)})
        if single
        else _columns(text, column, warn, labels=labels, classes=target if scores else None)
        for text in texts
    ]
    kept: list[str] = []
    left_out = 0
    if column is not None:
        kept, left_out = common([list(one.ids or ()) for one in (gold, *read)], [labels, *texts], ids)
        for table in (gold, *read):
            place = {name: row for row, name in enumerate(table.ids or ())}
            rows = [place[name] for name in kept]
            table.columns = {name: np.asarray(values)[rows] for name, values in table.columns.items()}
            table.scores = None if table.scores is None else table.scores[rows]
        (target,) = gold.columns.values()
    called = [label_files.name_of(text) for text in texts]
    if len(set(called)) < len(called):  # a column of the same name in each
        called = [split_name(text)[0].stem for text in texts]
    called = list(files) if isinstance(files, Mapping) else distinct(called, texts)
    found: dict[str, Any] = {}
    tables: dict[str, _Columns] = {}
    for text, alone, one in zip(texts, called, read, strict=True):
        if isinstance(files, Mapping) and len(one.columns) != 1:
            raise InputError(f"{text}: holds {len(one.columns)} columns ({listed(list(one.columns), 6)}); pick one")
        for held, values in one.columns.items():
            name = alone if len(one.columns) == 1 else held
            if name in found:
                raise InputError("files", f"expected distinct names of models, got {shown([*found, name])}")
            found[name], tables[name] = values, one
    of_models = {("model", name): values for name, values in found.items()}
    columns = label_files.in_one_vocabulary({"labels": target, **of_models})
    return PredictionSet(
        predictions={name: np.asarray(columns["model", name]) for name in found},
        labels=np.asarray(columns["labels"]),
        ids=None if column is None else np.array(kept, dtype=object),
        scores={name: one.scores for name, one in tables.items() if one.scores is not None},
        left_out=left_out,
        notes=tuple(notes),
    )


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
            (text, sorted(every - one, key=model_logs.id_order))
            for text, one in zip(texts, sets, strict=True)
            if every - one
        ]
        told = ", ".join(f"{text} lacks {len(names)}, first {quoted(names[0])}" for text, names in lacking[:3])
        raise InputError(
            f"the files have other rows: of {len(every)} in all, {told}; to compare the {len(shared)} that all have, "
            "pass `ids='common'`"
        )
    if not shared:
        raise InputError(f"{texts[-1]}: no row has an identifier that {texts[0]} has as well")
    return [name for name in held[0] if name in shared], left_out


def distinct(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return names that differ: with the first part in which paths differ, where they do not."""
    if len(set(names)) == len(names):
        return list(names)
    paths = [split_name(text)[0].resolve() for text in texts]
    shared = len(Path(os.path.commonpath([path.parent for path in paths])).parts)
    longer = [f"{Path(path.parts[shared]).stem}/{name}" for path, name in zip(paths, names, strict=True)]
    return longer if len(set(longer)) == len(longer) else [f"{name} {place}" for place, name in enumerate(names, 1)]
