"""Predictions that are joined by what identifies their rows: logs of language models, and tables with ``--id``."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from demele.cli.options import flag_of, option
from demele.core.errors import InputError
from demele.files.prediction_sets import is_log, read_predictions
from demele.files.table_files import Warn

if TYPE_CHECKING:
    from demele.files.prediction_sets import PredictionSet

#: Options that name files with the rows of LABELS in their order, which must then be all of them.
_BY_ROW = ("audit", "true_labels", "difficulty", "suspects", "reference", "ask", "groups")


def add_joining(parser: argparse.ArgumentParser) -> None:
    """Add how rows of several files are joined."""
    group = parser.add_argument_group("how rows are joined")
    option(group, "--id", "--common", "--scores")


def is_joined(arguments: argparse.Namespace, files: Sequence[str]) -> bool:
    """Whether files are read together, and not paired by the order of their rows.

    Raises
    ------
    InputError
        If an option says how to join what is not joined.
    """
    joined = arguments.id is not None or arguments.scores or any(map(is_log, files))
    if arguments.common and not joined:
        raise InputError("--common: rows are paired by position; give --id C, or logs")
    return joined


def joined(arguments: argparse.Namespace, files: Sequence[str], warn: Warn) -> "PredictionSet":
    """Read predictions and labels: logs, or tables of which the last holds the labels.

    Raises
    ------
    FormatError, InputError, UnknownNameError
    """
    how: dict[str, Any] = {"id": arguments.id, "ids": arguments.common or "same", "scores": arguments.scores}
    if any(map(is_log, files)):
        if arguments.id is not None or arguments.scores:
            flag = "--id" if arguments.id is not None else "--scores"
            raise InputError(f"{flag}: is for tables; logs name their questions themselves")
        found = read_predictions(files, **how)
    else:
        found = read_predictions(files[:-1], files[-1], **how)
    for note in found.notes:
        warn(note)
    given = [name for name in _BY_ROW if getattr(arguments, name, None) is not None]
    if found.left_out:
        if given:
            raise InputError(f"{flag_of(given[0])}: counts the rows of LABELS, of which --common leaves some out")
        rows = f"{found.left_out} row{'' if found.left_out == 1 else 's'}"
        warn(f"{rows} that not all files have left out; {found.labels.size} are compared")
    classes = [name for name in given if name not in ("difficulty", "groups")]
    if found.graded and classes:
        raise InputError(
            f"{flag_of(classes[0])}: holds classes, and the logs say only whether an answer was right, not what it was"
        )
    return found
