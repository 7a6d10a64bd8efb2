"""Predictions and labels of the same rows, as every command reads them: logs, tables with ``--id``, or row by row."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from demele.cli.options import flag_of, option
from demele.core.errors import InputError
from demele.files.label_files import column, in_one_vocabulary
from demele.files.log_sets import is_log
from demele.files.prediction_sets import PredictionSet, read_predictions
from demele.files.table_files import Warn

#: Options that name files with the rows of LABELS in their order, which must then be all of them.
_BY_ROW = ("audit", "true_labels", "difficulty", "suspects", "reference", "ask", "groups")
#: Of these, what is checked against the labels of the rows, or may be a field of logs.
_CHECKED = ("audit", "ask", "groups")
#: Options that name a class of each row.
_CLASSES = ("true_labels", "reference")


def add_joining(parser: argparse.ArgumentParser) -> None:
    """Add how rows of several files are joined."""
    group = parser.add_argument_group("how rows are joined")
    option(group, "--id", "--common", "--scores", "--filter")


def read_models(
    arguments: argparse.Namespace, files: Sequence[str], warn: Warn, *, names: Sequence[str] = ()
) -> tuple[PredictionSet, dict[str, Any]]:
    """Read predictions and labels, and what options hold of the same rows, all classes in one vocabulary.

    Parameters
    ----------
    files : sequence of str
        Logs, or tables of which the last holds the labels.
    names : sequence of str
        What to call the models of tables whose rows are paired by position, where each file has one.

    Raises
    ------
    FormatError, InputError, UnknownNameError
    """
    if any(map(is_log, files)):
        found = _of_logs(arguments, files)
    elif arguments.filter is not None:
        raise InputError("--filter: picks what to read of logs, and none is given")
    else:
        found = _of_tables(arguments, files, warn, names)
    for note in found.notes:
        warn(note)
    _check_rows(arguments, found, warn)
    columns: dict[Any, Any] = {("model", name): values for name, values in found.predictions.items()}
    columns["labels"] = found.labels
    beside = [name for name in _CLASSES if getattr(arguments, name, None) is not None]
    columns |= {name: column(getattr(arguments, name), warn) for name in beside}
    columns = in_one_vocabulary(columns)
    predictions = {name: columns["model", name] for name in found.predictions}
    return (
        replace(found, predictions=predictions, labels=columns["labels"]),
        {name: columns[name] for name in beside},
    )


def _of_logs(arguments: argparse.Namespace, files: Sequence[str]) -> PredictionSet:
    for name in ("id", "scores"):
        if getattr(arguments, name, None):
            raise InputError(f"--{name}: is for tables; logs name their questions themselves")
    return read_predictions(files, ids=arguments.common or "same", filter=arguments.filter or ())


def _of_tables(arguments: argparse.Namespace, files: Sequence[str], warn: Warn, names: Sequence[str]) -> PredictionSet:
    if len(files) < 2:
        raise InputError(f"expected PREDICTIONS LABELS, got {files[0]} alone; only logs bring their labels")
    joined = arguments.id is not None or arguments.scores
    how = {"id": arguments.id, "ids": arguments.common or "same", "scores": arguments.scores}
    *models, labels = files
    if joined:
        return read_predictions(models, labels, **how)
    if arguments.common:
        raise InputError("--common: rows are paired by position; give --id C, or logs")
    given = [*files, *(text for text in (getattr(arguments, "true_labels", None),) if text is not None)]
    for text in dict.fromkeys(models):
        if given.count(text) > 1:
            warn(f"{text} is given twice: judged against itself")
    return read_predictions(dict(zip(names, models, strict=True)) if names else models, labels)


def _check_rows(arguments: argparse.Namespace, found: PredictionSet, warn: Warn) -> None:
    """Refuse options whose files have other rows than the predictions, or hold classes where there are none."""
    given = [name for name in _BY_ROW if getattr(arguments, name, None) is not None]
    by_row = [name for name in given if not (found.fields and name in _CHECKED)]
    if found.left_out:
        if by_row:
            raise InputError(f"{flag_of(by_row[0])}: counts the rows of LABELS, of which --common leaves some out")
        rows = f"{found.left_out} row{'' if found.left_out == 1 else 's'}"
        warn(f"{rows} that not all files have left out; {found.labels.size} are compared")
    classes = [name for name in given if name not in ("difficulty", "groups")]
    if found.graded and classes:
        raise InputError(
            f"{flag_of(classes[0])}: holds classes, and the logs say only whether an answer was right, not what it was"
        )
