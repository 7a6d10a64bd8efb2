"""Columns of one table of predictions: what identifies its rows, a class per model, or scores of all classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError, UnknownNameError, quoted
from demele.core.reading import real_path
from demele.core.sentences import give, plural
from demele.files.label_files import class_text, classes_like, in_file, label_column, models
from demele.files.named import read_table, split_name
from demele.files.table_files import Warn, listed, quoted_name

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class PredictedColumns:
    """What a table holds: identifiers of its rows (None: they are paired by position), classes by column, scores."""

    ids: tuple[str, ...] | None
    columns: dict[str, Any]
    scores: NDArray[np.float64] | None = None


def read_columns(
    text: str, id_column: str | None, warn: Warn, *, labels: str | None = None, classes: Any = None
) -> PredictedColumns:
    """Read the columns of one table.

    Parameters
    ----------
    text : str
        ``FILE`` or ``FILE::a,b``.
    id_column : str, optional
        Which column identifies the rows.
    labels : str, optional
        Where the labels are, which are no model.
    classes : array-like, optional
        The labels: the table then holds a column of scores for each of their classes.

    Raises
    ------
    FormatError, InputError, UnknownNameError
    """
    if classes is not None:
        return _scored(text, id_column, warn, classes, labels)
    if id_column is None:
        if labels is None:
            return PredictedColumns(None, {"labels": label_column(text, warn)})
        return PredictedColumns(None, models(text, warn, labels=labels))
    table = _table(text, id_column, warn)
    names = [name for name in table if name != id_column and name not in _labels_in(text, labels)]
    if not names:
        raise InputError(f"{text}: expected a column of classes in addition to {id_column}, got none")
    if all(table[name].dtype.kind == "f" and (table[name] % 1 != 0).any() for name in names):
        raise InputError(
            f"{text}: expected a column of classes for each model, got columns of probabilities or scores: "
            f"{give(scores=True)} if there is one for each class"
        )
    for name in names:
        if table[name].isna().any():
            rows = np.flatnonzero(table[name].isna())
            raise InputError(
                f"{text}: column {name}: {plural(rows.size, 'missing value', 'missing values')}, first at row "
                f"{rows[0]}; drop those rows"
            )
    return PredictedColumns(_ids(text, table[id_column]), {str(name): table[name].to_numpy() for name in names})


def _labels_in(text: str, labels: str | None) -> Sequence[str]:
    path, picked = split_name(labels) if labels is not None else (None, ())
    return picked if path is not None and real_path(path) == real_path(split_name(text)[0]) else ()


def _table(text: str, id_column: str | None, warn: Warn) -> "pd.DataFrame":
    """Read a table with names, and the column of identifiers also where other columns are picked."""
    path, names = split_name(text)
    if id_column is not None and names and id_column not in names:
        text = f"{path}::{','.join(quoted_name(name) for name in (id_column, *names))}"
    table = read_table(text, warn=warn)
    if isinstance(table, np.ndarray):
        raise FormatError(f"{path}: expected a table with names of columns, got one without")
    table = table.set_axis([str(name) for name in table.columns], axis=1)
    if id_column is not None and id_column not in table:
        raise UnknownNameError(
            f"{path}: holds no column called {quoted(id_column)}; it holds {listed(list(table.columns))}"
        )
    return table


def _ids(text: str, values: "pd.Series[Any]") -> tuple[str, ...]:
    """Return what identifies each row, as text: the same for 7 and 7.0."""
    missing = np.flatnonzero(values.isna())
    if missing.size:
        raise InputError(
            f"{text}: column {values.name}: {plural(missing.size, 'row has', 'rows have')} no identifier, first "
            f"row {missing[0]}"
        )
    with in_file(f"{text}: column {values.name}"):
        names = [class_text(value) for value in values.tolist()]
    first: dict[str, int] = {}
    for row, name in enumerate(names):
        if first.setdefault(name, row) != row:
            raise InputError(
                f"{text}: column {values.name}: {len(names) - len(set(names))} identifiers stand more than once, first "
                f"{quoted(name)} in rows {first[name]} and {row}"
            )
    return tuple(names)


# Scores ----------------------------------------------------------------------------------------------------------


def _scored(text: str, id_column: str | None, warn: Warn, labels: Any, where: str | None) -> PredictedColumns:
    """Read a column of scores per class, and take the class of the largest."""
    known = np.asarray(labels)
    path = split_name(text)[0]
    table, ids, names = None, None, None
    if id_column is None and path.suffix.lower() in (".npy", ".npz"):
        held = read_table(text, warn=warn)
        table = held if isinstance(held, np.ndarray) else held.to_numpy()
        names = [str(place) for place in range(table.shape[1])] if table.ndim == 2 else []
    else:
        frame = _table(text, id_column, warn)
        ids = None if id_column is None else _ids(text, frame[id_column])
        frame = frame.drop(columns=[name for name in (id_column, *_labels_in(text, where)) if name in frame])
        names, table = list(frame.columns), frame.to_numpy()
    if table.ndim != 2 or table.dtype.kind not in "biuf" or table.shape[1] < 2:
        raise InputError(
            f"{text}: expected a column of numbers for each class, got {table.dtype} of shape {table.shape}"
        )
    odd = np.flatnonzero(np.isnan(table.astype(np.float64)).any(axis=1))
    if odd.size:
        raise InputError(
            f"{text}: {plural(odd.size, 'row has', 'rows have')} scores that are no number, first row {odd[0]}"
        )
    classes = _classes_of(text, names, known)
    scores = table.astype(np.float64)
    tied = int(((scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1).sum())
    if tied:
        warn(f"{text}: {tied} of {len(scores)} rows have the largest score twice; the first of these classes is taken")
    return PredictedColumns(ids, {path.stem: np.array(classes, dtype=object)[scores.argmax(axis=1)]}, scores)


def _classes_of(text: str, names: Sequence[str], labels: NDArray[Any]) -> list[int | str]:
    """Return the classes that columns are named by, with or without a beginning that all share, such as ``p_``."""
    known = {class_text(value) for value in labels.tolist()}
    shared = next((size for size in range(min(map(len, names))) if len({name[: size + 1] for name in names}) > 1), 0)
    for size in dict.fromkeys((0, *range(shared + 1))):
        short = [name[size:] for name in names]
        if known <= set(short):
            return classes_like(short, labels.astype(object) if labels.dtype.kind == "U" else labels)
    lacking = sorted(known - set(names))
    raise InputError(
        f"{text}: expected a column of scores for each class, named by it, got {listed(list(names))}; LABELS also has "
        f"{', '.join(lacking[:6])}"
    )
