"""Files of answers: a long table, or one with a column per annotator; and labels, or features, of the same items."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from demele.core.errors import FormatError, InputError, plural
from demele.core.kinds import ColumnName, Kind
from demele.core.labelled import read_labels
from demele.core.lazy import pd
from demele.core.reading import by_number
from demele.files.label_files import (
    class_text,
    classes_like,
    classes_named,
    column,
    given_elsewhere,
    in_file,
    in_one_vocabulary,
)
from demele.files.named import read_table, split_name
from demele.files.table_files import Warn, listed, picking
from demele.labels.joined.annotations import COLUMN_NAMES, Annotations

_ROLES = {"items": "item", "annotators": "annotator", "answers": "answer"}
#: A column with another value in each of so many rows may hold the names of the items.
_LEAST_NAMES = 10


def read_answers(
    text: str,
    warn: Warn,
    *,
    item: ColumnName = None,
    annotator: ColumnName = None,
    answer: ColumnName = None,
    wide: bool = False,
    no_answer: Annotated[str | None, Kind("VALUE")] = None,
    files: Mapping[str, str] | None = None,
    classes: str | None = None,
) -> tuple[Annotations, dict[str, Any]]:
    """Read the answers of several annotators, and what other files say of the same items.

    Parameters
    ----------
    text : str
        File of answers.
    warn : callable
        Called with one line for anything that was guessed.
    item : str, optional
        Column of items, also with ``wide`` (default: item, task, ...).
    annotator : str, optional
        Column of annotators (default: annotator, worker, ...).
    answer : str, optional
        Column of answers (default: answer, label, ...).
    wide : bool
        The table has a column per annotator, a row per item.
    no_answer : str, optional
        Value that means no answer, with ``wide``.
    files : mapping of str to str, optional
        Files of ``given``, ``gold`` and ``features``.
    classes : str, optional
        All classes, as ``A,B``.

    Returns
    -------
    Annotations, dict of str to object
        And of each of ``files``: a mapping of item to class, or what has the order of the items. All classes are in
        one vocabulary.

    Raises
    ------
    FormatError, InputError, UnknownNameError
    """
    files = files or {}
    others = {name: _by_item(files[name], warn) for name in ("given", "gold") if name in files}
    labels: dict[Any, Any] = {(name,): values for name, (_, values) in others.items()}
    features: Any
    features, named = _features(files["features"], warn) if "features" in files else (None, None)
    if wide:
        table, items = _wide(text, warn, item, {"annotator": annotator, "answer": answer}, files)
        columns = in_one_vocabulary({**table, **labels})
        answers: dict[str, Any] = {name: np.asarray(columns[name]) for name in table}
        like = next(iter(answers.values()), np.empty(0))
        (missing,) = (None,) if no_answer is None else classes_like([no_answer], like)
        if isinstance(missing, str) and like.dtype.kind in "biuf":
            raise InputError("no_answer", f"the answers are numbers, so expected a number, got {no_answer!r}")
        how: dict[str, Any] = {"no_answer": missing, "classes": _classes(classes, like)}
        with in_file(text, items="column of items"):
            found = Annotations.from_matrix(answers, items=items, **how)
    elif no_answer is not None:
        raise InputError("no_answer", "is for `wide`; a long table has no rows where there is no answer")
    else:
        long = _long(text, warn, {"items": item, "annotators": annotator, "answers": answer})
        columns = in_one_vocabulary({"answers": long["answers"], **labels})
        every = None
        if named is not None:  # those that have features but no answer get a label too
            own = read_labels(long["items"], "items")
            more: list[Any] = [name for name in named if name not in {class_text(name) for name in own.tolist()}]
            if own.dtype.kind != "O":
                more = [int(name) for name in more if name.lstrip("-").isdigit()]
            every = [*sorted(set(own.tolist())), *more]
        with in_file(text, **{role: f"column {long[role].name}" for role in _ROLES}):
            known = _classes(classes, columns["answers"])
            found = Annotations(long["items"], long["annotators"], columns["answers"], classes=known, all_items=every)
        alone = [name for name, (names, _) in others.items() if names is None]
        wanted = list(map(class_text, found.items))
        if alone and wanted not in (sorted(wanted, key=by_number), list(map(class_text, long["items"].unique()))):
            path = split_name(files[alone[0]])[0]
            raise InputError(
                f"{path}: labels alone are paired with the items sorted as text, {wanted[0]}, {wanted[1]}, "
                f"{wanted[2]}, ...; pick the column of items too, such as {path}::item,label"
            )
    of: dict[str, Any] = {
        name: columns[name,] if names is None else dict(zip(names, columns[name,], strict=True))
        for name, (names, _) in others.items()
    }
    if named is not None:
        place = {name: row for row, name in enumerate(named)}
        wanted = list(map(class_text, found.items))
        lacking = [name for name in wanted if name not in place]
        if lacking:
            raise InputError(f"{files['features']}: has no features of {len(lacking)} items, first {lacking[0]!r}")
        features = features.iloc[[place[name] for name in wanted]].to_numpy()
    return found, of if features is None else of | {"features": features}


def _long(text: str, warn: Warn, asked: Mapping[str, Any]) -> "dict[str, pd.Series[Any]]":
    """Return the columns of items, annotators and answers of a long table."""
    table: Any = read_table(text, warn=warn)
    if isinstance(table, np.ndarray):
        raise FormatError(f"{text}: expected columns item, annotator and answer; give `wide` for one per annotator")
    table = table.set_axis([str(name) for name in table.columns], axis=1)
    chosen: dict[str, str] = {}
    for role, name in asked.items():
        if name is not None and name not in table:
            raise InputError(_ROLES[role], f"{text} has no column called {name!r}; it has {listed(list(table))}")
        known = [held for held in table if held.casefold() in COLUMN_NAMES[role] and held not in asked.values()]
        if name is None and len(known) != 1:
            what = f"several columns that may be the {role} ({', '.join(known)})" if known else f"no column of {role}"
            raise InputError(
                f"{text}: {what} among {listed(list(table))}; name it with `{_ROLES[role]}`, or give `wide` if "
                "there is a column per annotator"
            )
        chosen[role] = known[0] if name is None else name
    if len(set(chosen.values())) < len(chosen):
        raise InputError(f"{text}: expected three different columns, got {', '.join(chosen.values())}")
    return {role: table[name] for role, name in chosen.items()}


def _wide(
    text: str, warn: Warn, item: Any, long: Mapping[str, Any], files: Mapping[str, str]
) -> tuple[dict[str, Any], Any]:
    """Return the answers of each annotator, and the names of the items if a column holds them."""
    for name, given in long.items():
        if given is not None:
            raise InputError(name, "names a column of a long table, and `wide` has a column per annotator")
    table: Any = read_table(text, warn=warn)
    if isinstance(table, np.ndarray):
        if table.ndim > 2:
            raise InputError(f"{text}: expected a column per annotator, got shape {table.shape}")
        if item is not None:
            raise InputError("item", f"{text} has no names of columns")
        return {f"annotator {index + 1}": table[:, index] for index in range(table.shape[1])}, None
    columns: dict[str, Any] = {str(name): table[name] for name in table}
    path = split_name(text)[0]
    for name in ("given", "gold"):
        own = given_elsewhere(text, files.get(name), columns, warn, of="annotators", called=f"the labels of {name}")
        columns = {key: held for key, held in columns.items() if key != own}
    if item is not None and item not in columns:
        raise InputError("item", f"{path} has no column called {item!r}; it has {listed(list(columns))}")
    named = [item] if item is not None else [name for name in columns if name.casefold() in COLUMN_NAMES["items"]]
    if len(named) > 1:
        raise InputError(f"{text}: several columns may be the items ({', '.join(named)}); name one with `item`")
    if not named:  # a column with another value in each row, where all other columns have half as many values
        values = {name: set(held.dropna()) for name, held in columns.items()}
        named = [
            name
            for name, held in columns.items()
            if len(values[name]) == len(held) >= _LEAST_NAMES
            and 2 * len(set().union(*(values[other] for other in values if other != name))) <= len(held)
        ][:1]
        if named:
            warn(f"{path}: column {named[0]} holds the names of the items: each row has another value")
    return columns, columns.pop(named[0]) if named else None


def _by_item(text: str, warn: Warn) -> tuple[list[str] | None, Any]:
    """Read labels of items: their names and labels, or one column of labels in the order of the items."""
    path, picked = split_name(text)
    table: Any = read_table(text, warn=warn)
    if isinstance(table, np.ndarray) or table.shape[1] == 1:
        return None, column(text, warn)
    table = table.set_axis([str(name) for name in table.columns], axis=1)
    names = list(table)
    items = names[:1] if len(picked) == 2 else [name for name in names if name.casefold() in COLUMN_NAMES["items"]]
    known = (*COLUMN_NAMES["answers"], "gold", "given", "true", "truth")
    labels = [name for name in names if name not in items and (len(names) == 2 or name.casefold() in known)]
    if len(items) != 1 or len(labels) != 1:
        raise InputError(
            f"{text}: expected a column of items and one of labels, got {', '.join(names[:6])}; pick both, such as "
            f"{picking(path, *names[:2])}"
        )
    missing = int(table[items[0]].isna().sum())
    if missing:
        raise InputError(f"{text}: column {items[0]}: {plural(missing, 'item has', 'items have')} no name")
    return _each_once(text, table[items[0]]), table[labels[0]]


def _features(text: str, warn: Warn) -> tuple[Any, list[str] | None]:
    """Return the features, and the names of their items if a column holds them."""
    table: Any = read_table(text, warn=warn)
    named = [] if isinstance(table, np.ndarray) else [n for n in table if str(n).casefold() in COLUMN_NAMES["items"]]
    if len(named) != 1:
        return table, None
    return table.drop(columns=named[0]), _each_once(text, table[named[0]])


def _each_once(text: str, items: "pd.Series[Any]") -> list[str]:
    names = list(map(class_text, items.tolist()))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{text}: expected each item once, got {twice!r} more than once")
    return names


def _classes(classes: str | None, answers: Any) -> list[int | str] | None:
    if classes is None:
        return None
    values = np.asarray(answers)
    words = values.dtype.kind in "OU" and any(isinstance(value, str) for value in values.tolist())
    return classes_named(classes, np.empty(0, dtype=object if words else np.int64))
