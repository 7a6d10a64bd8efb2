"""Files of answers: a long table, or one with a column per annotator; and files of aggregated labels."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError
from demele.core.reading import real_path
from demele.core.sentences import plural
from demele.files.column_files import read_frame
from demele.files.label_files import class_text, classes_named, column, in_file, in_one_vocabulary
from demele.files.named import read_table, split_name
from demele.files.table_files import Warn, picking

if TYPE_CHECKING:
    import pandas as pd

    from demele.labels import Annotations, Consensus

_ROLES = {"items": "item", "annotators": "annotator", "answers": "answer"}


@dataclass(frozen=True, slots=True)
class ByItem:
    """Labels of items: of those named, or of all items in their order."""

    text: str
    items: list[str] | None
    labels: Any


@dataclass(frozen=True, slots=True)
class Read:
    """Everything that files say of the items, with all classes in one vocabulary."""

    answers: "Annotations"
    given: ByItem | None
    gold: ByItem | None
    features: Any


def read_answers(arguments: argparse.Namespace, warn: Warn) -> Read:
    """Read the answers, and what else is said of the same items."""
    if arguments.wide:
        wide, names = _wide(arguments, warn)
        columns: dict[Any, Any] = {("answers", name): values for name, values in wide.items()}
        items = None
    else:
        table = _long(arguments, warn)
        items = table["items"]
        columns = {"answers": table["answers"]}
    others = {name: _by_item(getattr(arguments, name), warn) for name in ("given", "gold")}
    columns.update({name: one.labels for name, one in others.items() if one is not None})
    columns = in_one_vocabulary(columns)
    features, all_items = _features(arguments, items, warn)
    if items is None:
        wide = {name[1]: values for name, values in columns.items() if isinstance(name, tuple)}
        annotations = _from_wide(wide, names, arguments)
    else:
        told = {role: f"column {table[role].name}" for role in _ROLES}
        with in_file(arguments.answers, **told):
            annotations = _from_long(items, table["annotators"], columns["answers"], all_items, arguments)
    read = {name: None if one is None else ByItem(one.text, one.items, columns[name]) for name, one in others.items()}
    if features is not None:
        features = _in_order(features, annotations, arguments.features)
    return Read(annotations, read["given"], read["gold"], features)


def aligned(one: ByItem, found: "Consensus", option: str, warn: Warn) -> tuple["Consensus", NDArray[Any]]:
    """Return the answers on the items that have such labels, and these labels in the same order."""
    from demele.core.labelled import read_labels

    with in_file(one.text, labels="column of labels"):
        labels = read_labels(one.labels, "labels")
    if one.items is None:
        if labels.size != len(found.items):
            raise InputError(
                f"{one.text}: expected {len(found.items)} labels, one per item in their order, got {labels.size}; "
                "labels of some items need a column of items"
            )
        return found, labels
    place = {class_text(name): index for index, name in enumerate(found.items)}
    if len(set(one.items)) < len(one.items):
        twice = next(name for name in one.items if one.items.count(name) > 1)
        raise InputError(f"{one.text}: expected each item once, got {twice!r} more than once")
    known = [row for row, name in enumerate(one.items) if name in place]
    if not known:
        raise InputError(
            f"{one.text}: none of its {len(one.items)} items has an answer, first {one.items[0]!r}; items are "
            f"called such as {class_text(found.items[0])!r} in ANSWERS"
        )
    if len(known) < len(one.items):
        warn(f"{option}: {len(one.items) - len(known):,} of {len(one.items):,} items have no answer and are left out")
    rows = np.array([place[one.items[row]] for row in known])
    part = replace(
        found,
        labels=found.labels[rows],
        probabilities=found.probabilities[rows],
        majority=found.majority[rows],
        tied=found.tied[rows],
        items=tuple(found.items[row] for row in rows),
        n_answers=found.n_answers[rows],
    )
    return part, labels[known]


# Reading ---------------------------------------------------------------------------------------------------------


def _long(arguments: argparse.Namespace, warn: Warn) -> "dict[str, pd.Series[Any]]":
    """Return the columns of items, annotators and answers of a long table."""
    from demele.labels.joined.annotations import COLUMN_NAMES

    text = arguments.answers
    table = read_table(text, warn=warn)
    if isinstance(table, np.ndarray):
        raise FormatError(
            f"{text}: expected a table with columns item, annotator and answer, got one without names; if it has a "
            "column per annotator, give --wide"
        )
    names = [str(name) for name in table.columns]
    table = table.set_axis(names, axis=1)
    chosen: dict[str, str] = {}
    asked = {role: getattr(arguments, _ROLES[role]) for role in _ROLES}
    for role, name in asked.items():
        if name is not None and name not in table:
            raise InputError(f"--{_ROLES[role]}: {text} has no column called {name!r}; it has {_listed(table)}")
        taken = [other for other in asked.values() if other is not None]
        known = [held for held in names if held.casefold() in COLUMN_NAMES[role] and held not in taken]
        if name is None and len(known) != 1:
            what = f"several columns that may be the {role} ({', '.join(known)})" if known else f"no column of {role}"
            raise InputError(
                f"{text}: {what} among {_listed(table)}; name it with --{_ROLES[role]}, or give --wide if there is a "
                "column per annotator"
            )
        chosen[role] = known[0] if name is None else name
    if len(set(chosen.values())) < len(chosen):
        raise InputError(f"{text}: expected three different columns, got {', '.join(chosen.values())}")
    return {role: table[name] for role, name in chosen.items()}


def _wide(arguments: argparse.Namespace, warn: Warn) -> tuple[dict[str, Any], Any]:
    """Return the answers of each annotator, and the names of the items if a column holds them."""
    from demele.labels.joined.annotations import COLUMN_NAMES

    for role in ("annotator", "answer"):
        if getattr(arguments, role) is not None:
            raise InputError(f"--{role}: names a column of a long table, and --wide has a column per annotator")
    table = read_table(arguments.answers, warn=warn)
    if isinstance(table, np.ndarray):
        if table.ndim > 2:
            raise InputError(f"{arguments.answers}: expected a column per annotator, got shape {table.shape}")
        columns: dict[str, Any] = {f"annotator {index + 1}": table[:, index] for index in range(table.shape[1])}
    else:
        columns = {str(name): table[name] for name in table}
    path = split_name(arguments.answers)[0]
    for option in ("given", "gold"):  # a column of the same file that is said to be something else is no annotator
        other = getattr(arguments, option)
        file, own = split_name(other) if other is not None else (None, ())
        if file is not None and len(own) == 1 and own[0] in columns and real_path(file) == real_path(path):
            warn(f"{path}: column {own[0]} was left out of the annotators: it is --{option}")
            del columns[own[0]]
    if arguments.item is not None:
        if isinstance(table, np.ndarray) or arguments.item not in columns:
            raise InputError(f"--item: {path} has no column called {arguments.item!r}; it has {_listed(columns)}")
        return columns, columns.pop(arguments.item)
    named = [name for name in columns if name.casefold() in COLUMN_NAMES["items"]]
    if len(named) > 1:
        raise InputError(
            f"{arguments.answers}: several columns may be the items ({', '.join(named)}); name one with --item"
        )
    if not named and not isinstance(table, np.ndarray):
        named = _identifying(columns)[:1]
        if named:
            warn(f"{path}: column {named[0]} holds the names of the items: each row has another value")
    return columns, columns.pop(named[0]) if named else None


def _identifying(columns: "Mapping[str, pd.Series[Any]]") -> list[str]:
    """Columns with another value in each of 10 rows or more, where all other columns have half as many values."""
    values = {name: set(held.dropna()) for name, held in columns.items()}
    return [
        name
        for name, held in columns.items()
        if len(values[name]) == len(held) >= 10
        and 2 * len(set().union(*(values[other] for other in values if other != name))) <= len(held)
    ]


def _by_item(text: str | None, warn: Warn) -> ByItem | None:
    """Read labels of items: a column of items and one of labels, or one column of labels in the order of the items."""
    from demele.labels.joined.annotations import COLUMN_NAMES

    if text is None:
        return None
    path, picked = split_name(text)
    table = read_table(text, warn=warn)
    if isinstance(table, np.ndarray) or table.shape[1] == 1:
        return ByItem(text, None, column(text, warn))
    if len(picked) == 2:
        items, labels = table.columns
    else:
        items, labels = _pair(text, [str(name) for name in table], COLUMN_NAMES, path)
        table = table.set_axis([str(name) for name in table.columns], axis=1)
    missing = int(table[items].isna().sum())
    if missing:
        raise InputError(f"{text}: column {items}: {plural(missing, 'item has', 'items have')} no name")
    return ByItem(text, [class_text(name) for name in table[items].tolist()], table[labels])


def _pair(text: str, names: Sequence[str], known: Mapping[str, Sequence[str]], path: Any) -> tuple[str, str]:
    items = [name for name in names if name.casefold() in known["items"]]
    labels = [name for name in names if name.casefold() in (*known["answers"], "gold", "given", "true", "truth")]
    if len(items) == 1 and len(names) == 2:
        labels = [name for name in names if name not in items]
    if len(items) != 1 or len(labels) != 1:
        raise InputError(
            f"{text}: expected a column of items and one of labels, got {', '.join(names[:6])}; pick both, such as "
            f"{picking(path, *names[:2])}"
        )
    return items[0], labels[0]


def _features(arguments: argparse.Namespace, items: Any, warn: Warn) -> tuple[Any, list[Any] | None]:
    """Return the features, with the names of their items as an index if they have them; and these names."""
    from demele.labels.joined.annotations import COLUMN_NAMES

    text = arguments.features
    if text is None:
        return None, None
    table = read_table(text, warn=warn)
    named = [] if isinstance(table, np.ndarray) else [n for n in table if str(n).casefold() in COLUMN_NAMES["items"]]
    if items is None or len(named) != 1:
        return table, None
    frame = read_frame(text, warn)
    names = [class_text(name) for name in frame[str(named[0])].tolist()]
    if len(set(names)) < len(names):
        raise InputError(f"{text}: column {named[0]}: expected each item once")
    return frame.drop(columns=str(named[0])).set_axis(names, axis=0), names


def _in_order(features: Any, answers: "Annotations", text: str) -> Any:
    """Return the features in the order of the items."""
    if isinstance(features, np.ndarray) or features.index.dtype.kind != "O":
        return features
    wanted = [class_text(name) for name in answers.items]
    lacking = [name for name in wanted if name not in features.index]
    if lacking:
        raise InputError(f"{text}: has no features of {len(lacking)} of {len(wanted)} items, first {lacking[0]!r}")
    return features.loc[wanted].to_numpy()


def _from_long(
    items: Any, annotators: Any, answers: Any, all_items: list[str] | None, arguments: argparse.Namespace
) -> "Annotations":
    from demele.core.labelled import read_labels
    from demele.labels import Annotations

    everything = None
    if all_items is not None:  # items that have features but no answer get a label too
        own = read_labels(items, "items")
        known = {class_text(name) for name in own.tolist()}
        more: list[Any] = [name for name in all_items if name not in known]
        if own.dtype.kind != "O":
            more = [int(name) for name in more if name.lstrip("-").isdigit()]
        everything = [*sorted(set(own.tolist())), *more]
    return Annotations(items, annotators, answers, classes=_classes(arguments, answers), all_items=everything)


def _from_wide(columns: Mapping[str, Any], names: Any, arguments: argparse.Namespace) -> "Annotations":
    from demele.labels import Annotations

    first = next(iter(columns.values()), np.empty(0))
    missing, classes = _missing(arguments, first), _classes(arguments, first)
    with in_file(arguments.answers):
        read = Annotations.from_matrix(
            {name: np.asarray(values) for name, values in columns.items()}, missing=missing, classes=classes
        )
        if names is None:
            return read
        called = names.reset_index(drop=True)
        if called.isna().any() or called.duplicated().any():
            raise InputError(f"column {names.name}: expected the name of another item in each row")
        table = read.to_frame()
        return Annotations(
            called.iloc[table["item"]].to_numpy(),
            table["annotator"],
            table["answer"],
            classes=classes,
            all_items=called.tolist(),
        )


def _missing(arguments: argparse.Namespace, like: Any) -> Any:
    if arguments.no_answer is None:
        return None
    if np.asarray(like).dtype.kind in "biuf":
        try:
            return int(arguments.no_answer)
        except ValueError as error:
            raise InputError(
                f"--no-answer: the answers are numbers, so expected a number, got {arguments.no_answer!r}"
            ) from error
    return arguments.no_answer


def _classes(arguments: argparse.Namespace, answers: Any) -> list[int | str] | None:
    if arguments.classes is None:
        return None
    values = np.asarray(answers)
    words = values.dtype.kind in "OU" and any(isinstance(value, str) for value in values.tolist())
    return classes_named(arguments.classes, np.empty(0, dtype=object if words else np.int64))


def _listed(table: Iterable[object]) -> str:
    names = [str(name) for name in table]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
