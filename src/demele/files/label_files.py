"""Files of labels: predictions, answers of annotators, transitions and cleanings, as the commands read them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from demele.core.arrays import Array, pd
from demele.core.errors import DemeleError, FormatError, InputError, plural, quoted, shortened
from demele.core.kinds import ColumnName, Kind, listed_items, unquoted
from demele.core.labelled import read_labels
from demele.core.reading import by_number, real_path
from demele.core.table_columns import COLUMN_NAMES, refuse_large_floats
from demele.files.named import read_table, split_name
from demele.files.table_files import Warn, listed, picking

if TYPE_CHECKING:
    from demele.labels.cleaned.cleaning import Cleaning
    from demele.labels.joined.annotations import Annotations
    from demele.noise.transition import TransitionCounts, TransitionMatrix

_PROBABILITIES = (
    "of probabilities or scores, write the class of the largest in each row, such as "
    "numpy.save('classes.npy', table.argmax(axis=1))"
)
#: Classes that a message lists for the user to copy.
_MOST_SUGGESTED = 12


# Columns of classes ----------------------------------------------------------------------------------------------

#: Fewer rows may well be a class each.
_ROWS_OF_TEXT = 20


def column(text: str, warn: Warn, *, numbers: bool = False) -> Any:
    """Read one column of classes, or of numbers."""
    table, path = read_table(text, warn=warn), split_name(text)[0]
    if table.ndim > 2:
        raise InputError(f"{text}: expected one class per row, got an array of shape {table.shape}")
    if table.shape[1] > 1:
        values = np.asarray(table)
        names = ["1"] if isinstance(table, np.ndarray) else list(map(str, table))
        held = f"shape {table.shape}" if isinstance(table, np.ndarray) else f"{len(names)} ({listed(names, 6)})"
        remedy = f"pick one, such as {picking(path, names[0])}"
        if values.dtype.kind == "f" and _fractions(values):
            remedy = _PROBABILITIES
        elif path.suffix.lower() in (".npy", ".npz"):
            remedy = "write one column to a file of its own"
        raise InputError(f"{text}: expected one column of classes, got {held}; {remedy}")
    if isinstance(table, np.ndarray):
        return table[:, 0]
    if not numbers and path.suffix.lower() in (".csv", ".tsv", ".txt"):  # others mark what is missing
        refuse_missing(text, table.iloc[:, 0])
    return table.iloc[:, 0]


def label_column(text: str, warn: Warn) -> Any:
    """Read one column of labels.

    Raises
    ------
    InputError
        If it holds another text in every row, which is what was labelled and not how.
    """
    read = column(text, warn)
    values = np.asarray(read)
    texts = values.dtype.kind in "OU" and all(isinstance(value, str) for value in values.tolist())
    if texts and len(values) >= _ROWS_OF_TEXT and len(set(values.tolist())) == len(values):
        raise InputError(
            f"{text}: each of its {len(values)} rows holds another text, first {shortened(str(values[0]), 40)!r}; "
            "labels are classes, which rows share: name the column that holds them"
        )
    return read


def models(text: str, warn: Warn, *, labels: str | None = None) -> dict[str, Any]:
    """Read the predictions of several models: one column each. ``labels``: where the labels are, which are no model."""
    table = read_table(text, warn=warn)
    if isinstance(table, np.ndarray):
        if table.ndim > 2 or (table.dtype.kind == "f" and _fractions(table)):
            raise InputError(f"{text}: expected a column of classes per model; {_PROBABILITIES}")
        return {f"model {index + 1}": table[:, index] for index in range(table.shape[1])}
    read = {str(name): table[name] for name in table}
    left_out = given_elsewhere(text, labels, read, warn, of="models", called="LABELS")
    read = {name: values for name, values in read.items() if name != left_out}
    if all(values.dtype.kind == "f" and _fractions(values.to_numpy()) for values in read.values()):
        raise InputError(f"{text}: expected a column of classes per model; {_PROBABILITIES}")
    for values in read.values():
        refuse_missing(text, values)
    return read


def given_elsewhere(
    text: str, other: str | None, held: Collection[str], warn: Warn, *, of: str, called: str
) -> str | None:
    """Return the column of a table that another argument, ``FILE::name``, names, and say that it is left out."""
    path, picked = split_name(text)
    file, own = split_name(other) if other is not None else (None, ())
    if file is None or len(own) != 1 or own[0] not in held or real_path(file) != real_path(path):
        return None
    if own[0] in picked:
        raise InputError(f"{text}: {own[0]} is given among the {of} and as {called}; leave it out of them")
    warn(f"{path}: column {own[0]} was left out of the {of}: it is {called}")
    return own[0]


def in_one_vocabulary(columns: Mapping[Any, Any]) -> dict[Any, Any]:
    """Read whole numbers as names where another column holds some of them as names.

    A text file does not say which they are: a column of 1 and 2 is read as numbers, one of 1, 2 and none as names.
    """
    arrays = [array for array in map(np.asarray, columns.values()) if array.dtype.kind in "OU"]
    names = {value for array in arrays for value in array.tolist() if isinstance(value, str)}
    if not names:
        return dict(columns)
    read = dict(columns)
    for key, array in zip(read, map(np.asarray, columns.values()), strict=True):
        if array.dtype.kind in "iu" and names.intersection(array.astype(str).tolist()):
            read[key] = array.astype(str).astype(object)
    return read


def classes_named(text: str, given: Array) -> list[int | str]:
    """Read a list of classes: as numbers if the labels are numbers and all of the list are."""
    names = [unquoted(name) for name in listed_items(text)]
    if not all(names):
        raise InputError(f"--classes: expected classes, such as cat,dog or 0,1,2, got {quoted(text)}")
    return classes_like(names, given)


def classes_like(names: Sequence[str], given: Array) -> list[int | str]:
    """Read classes as the given labels are written: as names, or as numbers if all of them are."""
    if given.dtype.kind == "O":
        return list(names)
    truths = {"True": 1, "False": 0, "true": 1, "false": 0}
    try:
        return [truths[name] if name in truths else int(name) for name in names]
    except ValueError:
        return list(names)


def name_of(text: str) -> str:
    """Return what to call the predictions of a file: its column where one is picked, else the file."""
    path, names = split_name(text)
    return names[0] if len(names) == 1 else path.stem


def _fractions(values: Array) -> bool:
    known = values[np.isfinite(values)]
    return bool((known != np.floor(known)).any())


def refuse_missing(text: str, values: "pd.Series[Any]") -> None:
    """Refuse what tables take for missing but may be a class: a class None would vanish without a word.

    Raises
    ------
    InputError
    """
    missing = np.flatnonzero(values.isna())
    if missing.size:
        raise InputError(
            f"{text}: column {values.name}: {plural(missing.size, 'missing value', 'missing values')}, first at row "
            f"{missing[0]}; drop those rows, or write a class of its own for them; in a file of text, a class called "
            "None, NA, nan or null needs another name, since these words mean a missing value"
        )


def class_text(value: object) -> str:
    """Write a class or an identifier as text, and the same for 3, 3.0 and numpy's 3.

    Raises
    ------
    InputError
        For a float that may stand for several whole numbers.
    """
    if isinstance(value, float) and value.is_integer():
        refuse_large_floats(np.array([value]), "")
        value = int(value)
    return str(value).strip()


def class_texts(values: Iterable[object]) -> list[str]:
    """Write the classes that values name, each once, in order.

    Examples
    --------
    >>> class_texts(["cat", 3, 3.0, "ant"])
    ['3', 'ant', 'cat']
    """
    return sorted({class_text(value) for value in values})


def numbers_of(text: str, warn: Warn, *, labels: str | None = None, others: Sequence[str] = ()) -> Any:
    """Read features or probabilities: a table of numbers. ``labels``: where the labels are, which are none of them.

    ``others``: further columns, given as ``FILE::name``, that are left out if they are in the same table.
    """
    table = read_table(text, warn=warn)
    if isinstance(table, np.ndarray):
        return table
    for other in (labels, *others):
        own = given_elsewhere(text, other, list(map(str, table)), warn, of="features", called=f"given as {other}")
        table = table if own is None else table.drop(columns=own)
    words = [str(name) for name in table if table[name].dtype.kind not in "biuf"]
    if words:
        raise InputError(
            f"{text}: expected columns of numbers, got words in {', '.join(words[:6])}; pick columns, such as "
            f"{split_name(text)[0]}::a,b"
        )
    return table


@contextmanager
def suggesting_classes(columns: Iterable[Any]) -> Iterator[None]:
    """Let the message about a value that is no class spell out the option that would make it one."""

    def by_value(value: object) -> tuple[bool, int | float, str]:
        number = value if isinstance(value, int | float) else None
        return (number is None, number or 0, shortened(str(value)))

    try:
        yield
    except InputError as error:
        held = [value for values in columns for value in np.asarray(values).tolist()]
        lists = any(isinstance(value, list | dict) for value in held)  # of JSON: no classes
        asked = error.argument != "classes" and "`classes=[...]`" in str(error)
        found = sorted(set(held), key=by_value) if asked and not lists else []
        missing = any(value is None or value != value for value in found)
        if not 0 < len(found) <= _MOST_SUGGESTED or missing or any("," in str(value) for value in found):
            raise
        listed = f"`classes={list(map(class_text, found))}`"
        parts = [text and text.replace("`classes=[...]`", listed) for text in (error.problem, error.remedy)]
        raise type(error)(error.argument, *parts) from error


@contextmanager
def in_file(text: str, **columns: str) -> Iterator[None]:
    """Let messages of the library begin with the file, and with the columns that arguments came from."""
    try:
        yield
    except DemeleError as error:
        raise error.within(text, **columns) from error


# Transitions -----------------------------------------------------------------------------------------------------


def read_transition(text: str, given: Array, warn: Warn) -> "TransitionMatrix | TransitionCounts":
    """Read a transition: counts if all numbers are whole and rows sum to more than 1, else probabilities.

    A table may name the true classes in its first column; its other columns are the given classes.
    """
    from demele.labels import TransitionCounts, TransitionMatrix

    table = read_table(text, warn=lambda _: None, row_names=True)
    classes: list[int | str] | None = None
    if not isinstance(table, np.ndarray):
        table, names = _named_rows(text, table)
        classes = classes_like(names, given)
        lacking = sorted({str(label) for label in given.tolist()} - {str(name) for name in classes})
        if lacking and table.shape[0] == table.shape[1]:
            raise InputError(
                f"{text}: its classes {', '.join(names[:6])}{', ...' if len(names) > 6 else ''} lack {len(lacking)} "
                f"that LABELS has: {', '.join(lacking[:6])}"
            )
        table = table.to_numpy()
    elif table.ndim == 2 and table.shape[0] == table.shape[1]:
        warn(f"{text}: names no classes; they are taken in the order of --classes, or else sorted")
    if table.dtype.kind not in "biuf":
        raise FormatError(f"{text}: expected a square table of numbers, rows true, columns given, got other values")
    sums = table.sum(axis=1)
    whole = bool(np.isfinite(table).all() and (table == np.floor(table)).all() and (sums != 1).any())
    if whole and (sums == 100).all():
        warn(f"{text}: was read as counts, 100 of each true class; write percentages as probabilities")
    with in_file(text, probabilities="", counts=""):
        return TransitionCounts(table, classes) if whole else TransitionMatrix(table, classes)


def _named_rows(text: str, table: "pd.DataFrame") -> tuple["pd.DataFrame", list[str]]:
    """Return the table with its rows in the order of its columns, and the names of these."""
    given = [str(name) for name in table]
    if table.shape[1] != len(table) + 1:
        return table, given
    corner, given = given[0], given[1:]
    if corner.strip().casefold() in ("given", "given_label", "label", "labels"):
        raise FormatError(f"{text}: its rows are called {corner!r}; rows must be true classes: transpose the file")
    true = [str(value) for value in table.iloc[:, 0]]
    if sorted(true) != sorted(given) or len(set(true)) < len(true):
        raise FormatError(
            f"{text}: the true classes in its first column ({', '.join(true[:6])}) are not the given classes of its "
            f"first line ({', '.join(given[:6])})"
        )
    return table.iloc[[true.index(name) for name in given], 1:], given


# Cleanings -----------------------------------------------------------------------------------------------------------


def read_cleaning(text: str, given: Array, warn: Warn) -> "Cleaning":
    """Read what a cleaning found: a column of flags, and perhaps one of classes, empty where there is no suspect."""
    from demele.labels import Cleaning

    table = read_table(text, warn=warn)
    if table.ndim > 2 or table.shape[1] > 2:
        raise InputError(f"{text}: expected flags and perhaps a column of right classes, got {table.shape[1]} columns")
    columns = [values for _, values in pd.DataFrame(table).reset_index(drop=True).items()]
    flags = columns[0]
    if not flags.isin([0, 1]).all():
        odd = int(np.flatnonzero(~flags.isin([0, 1]))[0])
        raise InputError(f"{text}: expected flags 0 and 1 in the first column, got {flags[odd]} at row {odd}")
    suspect = flags.astype(bool).to_numpy()
    with in_file(text, suspect="first column", suggested="second column"):
        if len(columns) == 1:
            return Cleaning(suspect)
        if suspect.size != given.size:
            raise InputError(f"expected {given.size} rows, as many as LABELS, got {suspect.size}")
        lacking = np.flatnonzero(columns[1].isna() & suspect)
        if lacking.size:
            raise InputError(
                f"{lacking.size} suspects have no class in the second column, first at row {lacking[0]}; "
                "leave that column out to drop all suspects"
            )
        written = [g if pd.isna(s) else class_text(s) for g, s in zip(given.tolist(), columns[1], strict=True)]
        return Cleaning(suspect, classes_like([str(value) for value in written], given))


# Answers of annotators: a long table, or one with a column per annotator; and what other files say of the items -------

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
) -> "tuple[Annotations, dict[str, Any]]":
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
    from demele.labels.joined.annotations import Annotations

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
