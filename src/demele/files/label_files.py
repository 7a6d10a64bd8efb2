"""Files of predictions, labels, transitions and cleanings, as the commands about classifiers read them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import DemeleError, FormatError, InputError, plural, quoted, shortened
from demele.core.kinds import listed_items, unquoted
from demele.core.lazy import pd
from demele.core.reading import real_path
from demele.core.table_columns import refuse_large_floats
from demele.files.named import read_table, split_name
from demele.files.table_files import Warn, listed, picking

if TYPE_CHECKING:
    from demele.labels.cleaned.cleaning import Cleaning
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
    table = read_table(text, warn=warn)
    if table.ndim > 2:
        raise InputError(f"{text}: expected one class per row, got an array of shape {table.shape}")
    if table.shape[1] > 1:
        values, path = np.asarray(table), split_name(text)[0]
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
    if not numbers:
        _refuse_missing_words(text, table.iloc[:, 0])
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
        _refuse_missing_words(text, values)
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


def classes_named(text: str, given: NDArray[Any]) -> list[int | str]:
    """Read a list of classes: as numbers if the labels are numbers and all of the list are."""
    names = [unquoted(name) for name in listed_items(text)]
    if not all(names):
        raise InputError(f"--classes: expected classes, such as cat,dog or 0,1,2, got {quoted(text)}")
    return classes_like(names, given)


def classes_like(names: Sequence[str], given: NDArray[Any]) -> list[int | str]:
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


def _fractions(values: NDArray[Any]) -> bool:
    known = values[np.isfinite(values)]
    return bool((known != np.floor(known)).any())


def _refuse_missing_words(text: str, values: "pd.Series[Any]") -> None:
    """Refuse what tables take for missing but may be a class: a class None would vanish without a word."""
    path = split_name(text)[0]
    if path.suffix.lower() not in (".csv", ".tsv", ".txt") or not values.isna().any():
        return
    missing = np.flatnonzero(values.isna())
    raise InputError(
        f"{text}: column {values.name}: {plural(missing.size, 'missing value', 'missing values')}, first at row "
        f"{missing[0]}; drop those rows, or "
        "write a class of its own for them; a class called None, NA, nan or null needs another name, since these "
        "words mean a missing value"
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


def read_transition(text: str, given: NDArray[Any], warn: Warn) -> "TransitionMatrix | TransitionCounts":
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


def read_cleaning(text: str, given: NDArray[Any], warn: Warn) -> "Cleaning":
    """Read what a cleaning found: a column of flags, and perhaps one of classes, empty where there is no suspect."""
    from demele.labels import Cleaning

    table = read_table(text, warn=warn)
    if table.ndim > 2 or table.shape[1] > 2:
        raise InputError(f"{text}: expected flags and perhaps a column of right classes, got {table.shape[1]} columns")
    if isinstance(table, np.ndarray):
        columns = [pd.Series(table[:, j]) for j in range(table.shape[1])]
    else:
        columns = [table.iloc[:, j].reset_index(drop=True) for j in range(table.shape[1])]
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
