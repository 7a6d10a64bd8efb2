"""Files of predictions, labels, transitions and audits, as the commands about classifiers read and write them."""

import argparse
import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.cli.files import check_writable, read_table, split_name
from demele.cli.output import log
from demele.cli.words import in_options
from demele.core.errors import DemeleError, FormatError, InputError

if TYPE_CHECKING:
    import pandas as pd

    from demele.labels.audit import Audit
    from demele.labels.cleaning import Cleaning
    from demele.labels.transition import TransitionCounts, TransitionMatrix

__all__ = [
    "DRAW",
    "ROW",
    "TRUE",
    "Answers",
    "add_knowledge",
    "answers_text",
    "checked_knowledge",
    "checked_targets",
    "classes_named",
    "column",
    "in_file",
    "in_one_vocabulary",
    "models",
    "name_of",
    "option_words",
    "read_answers",
    "read_audit",
    "read_cleaning",
    "read_transition",
    "suggesting_classes",
    "told_as",
    "warned",
]

Warn = Callable[[str], None]
Words = tuple[Mapping[str, str], Mapping[str, str]]

#: Columns of a file for experts: when the row was drawn (from 1), the row (from 0), its given label, what the expert
#: says, how rows were drawn, and how likely this one was.
DRAW, ROW, GIVEN, TRUE, DESIGN, PROBABILITY = "draw", "row", "given_label", "true_label", "design", "probability"

#: Messages of the library, in the words of the commands: wherever they stand, and where a message begins with them.
_WORDS = {
    r"assess\(predictions, true_labels\)": "demele assess PREDICTIONS TRUE_LABELS",
    r"needs noise=, a rate, a transition matrix or transition counts": "needs --noise-rate R or --transition FILE",
    r"needs difficulty=(?:, [^;]*)?": "needs --difficulty FILE, a number per row, larger is harder",
    r"classes=\[\.\.\.\]": "--classes=A,B,...",
    r"give noise= as well, a rate that bounds these": "give --noise-rate as well, which bounds these",
    r"\(demele\.labels\.draw_audit\)": "(demele audit)",
    r"\(design='selective'\)": "(--audit-design selective)",
    r"ask rows one at a time with SequentialComparison": "ask rows one at a time with --ask",
    r"pass \(probabilities >= 0\.5\)\.astype\(int\)": "write the class, such as 1 where the probability is 0.5 or more",
    r"give of=": "give --of",
    "true_labels=": "--true-labels FILE",
    "audit=": "--audit FILE",
    "cleaning=": "--suspects FILE",
    "reference=": "--reference FILE",
    "noise=": "--noise-rate R",
    r"and labels(?=:)": "and LABELS",
    r"as many as labels": "as many as LABELS",
    r"got TransitionMatrix": "got transition probabilities",
    r"got TransitionCounts": "got transition counts",
    r"leave out noise": "leave out --noise-rate",
    r"leave out audit": "leave out --audit",
    r"give probabilities=": f"give column {PROBABILITY}",
    "prudence=1": "--prudence 1",
    "prudence=0": "--prudence 0",
}
_HEADS = {
    r"predictions and LABELS": "PREDICTIONS and LABELS",
    "true_labels and noise": "--true-labels and --noise-rate",
    "true_labels and audit": "--true-labels and --audit",
    "true_labels": "--true-labels",
    "noise and audit": "--noise-rate and --audit",
    "noise": "--noise-rate",
    r"audit\.labels": f"--audit, column {TRUE}",
    "audit": "--audit",
    r"cleaning\.suggested": "--suspects, second column",
    "cleaning": "--suspects",
    "labels": "LABELS",
    "predictions": "PREDICTIONS",
    **{
        name: f"--{name}"
        for name in (
            *("level", "measure", "of", "target", "classes", "prudence", "method", "correction"),
            *("difficulty", "reference", "names", "size", "seed"),
        )
    },
}
_PROBABILITIES = (
    "of probabilities or scores, write the class of the largest in each row, such as "
    "numpy.save('classes.npy', table.argmax(axis=1))"
)
#: Classes that a message lists for the user to copy.
MOST_SUGGESTED = 12
told_as: Words = (_WORDS, _HEADS)


def add_knowledge(parser: argparse.ArgumentParser) -> None:
    """Add what may be known of the labels to the options of a command."""
    known = parser.add_argument_group("what is known of the labels")
    known.add_argument(
        "--noise-rate", type=float, metavar="R", help="at most this share of the labels is wrong, in [0, 1)"
    )
    known.add_argument(
        "--transition",
        metavar="FILE",
        help="how classes are mistaken: rows true, columns given; probabilities, or counts of a random sample. A table "
        "may name the given classes in its first line and the true ones in its first column",
    )
    known.add_argument(
        "--audit",
        metavar="FILE",
        help=f"expert labels of some rows: columns {ROW} (from 0) and {TRUE}; demele audit draws them",
    )
    known.add_argument(
        "--audit-design",
        choices=("uniform", "weighted", "selective"),
        help="how those rows were chosen, where the file does not say: at random, in the order of the file; with the "
        "probabilities in the file; or because something looked wrong",
    )
    known.add_argument("--true-labels", metavar="FILE", help="the true labels of all rows, where they are known")
    known.add_argument(
        "--classes",
        metavar="A,B,...",
        help="all classes (default: those of LABELS); if the first begins with -, write --classes=-1,...",
    )


def checked_knowledge(arguments: argparse.Namespace) -> None:
    """Refuse options that contradict each other, and let messages name the option that was given."""
    if arguments.noise_rate is not None and arguments.transition is not None:
        raise InputError("--transition: --noise-rate is given too; one of them")
    if arguments.audit_design is not None and arguments.audit is None:
        raise InputError("--audit-design: says how the rows of --audit were chosen, which is not given")
    if arguments.transition is not None:
        heads = {
            "noise and audit": "--transition and --audit",
            "true_labels and noise": "--true-labels and --transition",
            "noise": "--transition",
        }
        arguments.told_as = ({**_WORDS, "leave out noise": "leave out --transition"}, {**_HEADS, **heads})


def option_words(arguments: argparse.Namespace) -> Callable[[str], str]:
    """Return what says a message of the library in the options of the command."""
    words, heads = arguments.told_as
    return lambda message: in_options(message, words=words, heads=heads)


def warned(quiet: bool) -> Warn:
    """Return what tells of a guess, once each."""
    said: set[str] = set()

    def warn(line: str) -> None:
        if not quiet and line not in said:
            said.add(line)
            log(f"demele: warning: {line}")

    return warn


@contextmanager
def in_file(text: str, **heads: str) -> Iterator[None]:
    """Let messages of the library begin with the file, and with the columns that arguments came from."""
    try:
        yield
    except DemeleError as error:
        raise type(error)(f"{text}: {in_options(str(error), words=_WORDS, heads=heads)}") from error


@contextmanager
def suggesting_classes(columns: Iterable[Any]) -> Iterator[None]:
    """Let the message about a value that is no class spell out the option that would make it one."""
    try:
        yield
    except InputError as error:
        hint = "give all classes with classes=[...]"
        found = sorted({value for values in columns for value in set(np.asarray(values).tolist())}, key=_by_value)
        if hint not in str(error) or len(found) > MOST_SUGGESTED or any("," in str(value) for value in found):
            raise
        listed = ",".join(_written(value) for value in found)
        raise type(error)(str(error).replace(hint, f"give --classes={listed}")) from error


def _by_value(value: object) -> tuple[bool, float, str]:
    number = isinstance(value, int | float)
    return (not number, float(value) if isinstance(value, int | float) else 0.0, str(value))


# Columns of classes ----------------------------------------------------------------------------------------------


def column(text: str, warn: Warn, *, numbers: bool = False) -> Any:
    """Read one column of classes, or of numbers."""
    table = read_table(text, warn=warn)
    if table.ndim > 2:
        raise InputError(f"{text}: expected one class per row, got an array of shape {table.shape}")
    if table.shape[1] > 1:
        raise InputError(f"{text}: {_too_many(text, table)}")
    if isinstance(table, np.ndarray):
        return table[:, 0]
    if not numbers:
        _refuse_missing_words(text, table.iloc[:, 0])
    return table.iloc[:, 0]


def models(text: str, warn: Warn, *, labels: str | None = None) -> dict[str, Any]:
    """Read the predictions of several models: one column each. ``labels``: where the labels are, which are no model."""
    table = read_table(text, warn=warn)
    if isinstance(table, np.ndarray):
        if table.ndim > 2 or (table.dtype.kind == "f" and _fractions(table)):
            raise InputError(f"{text}: expected a column of classes per model; {_PROBABILITIES}")
        return {f"model {index + 1}": table[:, index] for index in range(table.shape[1])}
    read = {str(name): table[name] for name in table}
    path, picked = split_name(text)
    other, own = split_name(labels) if labels is not None else (None, ())
    if other is not None and len(own) == 1 and own[0] in read and other.resolve() == path.resolve():
        if own[0] in picked:
            raise InputError(f"{text}: {own[0]} is given as a model and as LABELS; it would be compared with itself")
        warn(f"{path}: column {own[0]} was left out of the models: it is LABELS")
        del read[own[0]]
    if all(values.dtype.kind == "f" and _fractions(values.to_numpy()) for values in read.values()):
        raise InputError(f"{text}: expected a column of classes per model; {_PROBABILITIES}")
    for values in read.values():
        _refuse_missing_words(text, values)
    return read


def in_one_vocabulary(columns: Mapping[Any, Any]) -> dict[Any, Any]:
    """Read whole numbers as names where another column holds some of them as names.

    A text file does not say which they are: a column of 1 and 2 is read as numbers, one of 1, 2 and none as names.
    """
    names = {name for values in columns.values() for name in _names_in(values)}
    if not names:
        return dict(columns)
    return {key: _as_names(values, names) for key, values in columns.items()}


def _names_in(values: Any) -> set[str]:
    array = np.asarray(values)
    return set(array.tolist()) if array.dtype.kind == "U" else {v for v in _flat(array) if isinstance(v, str)}


def _flat(array: NDArray[Any]) -> list[Any]:
    return array.tolist() if array.dtype.kind == "O" else []


def _as_names(values: Any, names: set[str]) -> Any:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        return values
    written = array.astype(str)
    return written.astype(object) if names.intersection(written.tolist()) else values


def classes_named(text: str, given: NDArray[Any], option: str = "--classes") -> list[int | str]:
    """Read a list of classes: as numbers if the labels are numbers and all of the list are."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise InputError(f"{option}: expected classes, such as cat,dog or 0,1,2, got {text!r}")
    return _like(names, given)


def _like(names: Sequence[str], given: NDArray[Any]) -> list[int | str]:
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


def _too_many(text: str, table: Any) -> str:
    values = table if isinstance(table, np.ndarray) else table.to_numpy()
    if values.dtype.kind == "f" and _fractions(values):
        return f"expected one column of classes, got {table.shape[1]} columns of numbers; {_PROBABILITIES}"
    if isinstance(table, np.ndarray):
        pick = f"; pick one, such as {text}::1" if Path(text).suffix.lower() in (".csv", ".tsv", ".txt") else ""
        return f"expected one class per row, got shape {table.shape}{pick or '; write one column to a file of its own'}"
    names = [str(name) for name in table]
    listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    return f"holds {len(names)} columns ({listed}); pick one, such as {split_name(text)[0]}::{names[0]}"


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
        f"{text}: column {values.name}: {missing.size} missing values, first at row {missing[0]}; drop those rows, or "
        "write a class of its own for them; a class called None, NA, nan or null needs another name, since these "
        "words mean a missing value"
    )


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
        classes = _like(names, given)
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
    try:
        return TransitionCounts(table, classes) if whole else TransitionMatrix(table, classes)
    except DemeleError as error:
        message = str(error).removeprefix("probabilities: ").removeprefix("counts: ")
        message = message.replace("pass matrix.T", "transpose the file")
        message = message.replace("pass matrix / matrix.sum(axis=1, keepdims=True)", "divide each row by its sum")
        raise type(error)(f"{text}: {message}") from error


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


# Files for experts -----------------------------------------------------------------------------------------------


class Answers:
    """Rows for experts as a file holds them, in the order in which they were drawn, answered or not."""

    def __init__(self, text: str, given: NDArray[Any], warn: Warn) -> None:
        table = read_table(text, warn=warn)
        if isinstance(table, np.ndarray) or any(name not in table for name in (ROW, TRUE)):
            has = "no names of columns" if isinstance(table, np.ndarray) else ", ".join(str(name) for name in table)
            raise FormatError(f"{text}: expected columns {ROW} (counted from 0) and {TRUE}, got {has}")
        if DRAW in table:
            order = _whole_numbers(text, table, DRAW)
            if np.unique(order).size < order.size:
                raise FormatError(f"{text}: column {DRAW}: expected each number once")
            table = table.iloc[np.argsort(order)]
        self.text, self.table = text, table
        self.rows = _whole_numbers(text, table, ROW)
        self.labels = _answered(text, table, given)
        self.known: NDArray[np.bool_] = self.labels.notna().to_numpy()
        self._check_given(given)

    def _check_given(self, given: NDArray[Any]) -> None:
        """Refuse a file that was made for other labels."""
        inside = (self.rows >= 0) & (self.rows < given.size)
        if GIVEN not in self.table or not inside.all():
            return
        held = [_written(value) for value in self.table[GIVEN]]
        other = [i for i, row in enumerate(self.rows) if held[i] != _written(given[row])]
        if other:
            row = int(self.rows[other[0]])
            raise InputError(
                f"{self.text}: column {GIVEN} is not what LABELS holds in {len(other)} of {len(held)} rows, first row "
                f"{row} ({held[other[0]]}, LABELS has {_written(given[row])}); was it made for other labels?"
            )

    def single(self, name: str) -> str | None:
        """Return what a column says of all rows alike; None if there is none."""
        if name not in self.table:
            return None
        values = [str(value) for value in self.table[name].dropna().unique()]
        if len(values) != 1 or self.table[name].isna().any():
            raise FormatError(f"{self.text}: column {name}: expected the same in all rows, got {values[:3]}")
        return values[0]


def read_answers(text: str, given: NDArray[Any], warn: Warn) -> Answers:
    """Read a file of rows for experts, answered or not; ``given`` is what LABELS holds."""
    return Answers(text, given, warn)


def read_audit(text: str, design: str | None, given: NDArray[Any], warn: Warn) -> "Audit":
    """Read the answers of experts. Of a uniform draw, the first answers are one too; other gaps are refused."""
    from demele.labels import Audit

    answers = read_answers(text, given, warn)
    named = answers.single(DESIGN)
    if named == "sequential":
        raise InputError(
            f"{text}: these rows were asked for one comparison with --ask and are no random sample of all rows; "
            "go on with --ask, or draw a sample with demele audit"
        )
    if named is not None and design is not None and named != design:
        raise InputError(f"--audit-design {design}: column {DESIGN} of {text} says {named}; leave one of them out")
    design = named or design
    if design is None:
        raise InputError(
            f"{text}: how were these rows chosen? --audit-design uniform (at random, in this order), weighted (at "
            f"random, with the probabilities of column {PROBABILITY}) or selective (because something looked wrong)"
        )
    size = _usable(answers, design, warn)
    if design == "weighted" and PROBABILITY not in answers.table:
        raise FormatError(
            f"{text}: a weighted audit needs the column {PROBABILITY}: how likely each row was to be drawn"
        )
    chances = answers.table[PROBABILITY].to_numpy()[:size] if design == "weighted" else None
    columns = {"rows": ROW, "labels": TRUE, "probabilities": PROBABILITY, "design": DESIGN}
    with in_file(text, **{name: f"column {held}" for name, held in columns.items()}):
        return Audit(
            answers.rows[:size],
            answers.labels.iloc[:size],
            design=design,  # type: ignore[arg-type]
            probabilities=chances,
        )


def _usable(answers: Answers, design: str, warn: Warn) -> int:
    """Return how many of the first rows are used; rows without an answer may only come last."""
    missing = np.flatnonzero(~answers.known)
    last = int(np.flatnonzero(answers.known).max(initial=-1))
    if last < 0:
        raise InputError(f"{answers.text}: no row has an answer in column {TRUE}")
    if missing.size and (design == "weighted" or missing[0] < last):
        order = ", in the order drawn" if design == "uniform" else ""
        raise FormatError(
            f"{answers.text}: {missing.size} rows have no {TRUE}, first row {answers.rows[missing[0]]}; what is hard "
            f"to label is not missing at random: fill them in{order}"
        )
    if missing.size:
        warn(f"{answers.text}: the last {missing.size} rows have no answer; the first {last + 1} are used")
    return last + 1


def _whole_numbers(text: str, table: "pd.DataFrame", name: str) -> NDArray[np.int64]:
    values = table[name]
    missing = np.flatnonzero(values.isna())
    if missing.size:
        raise FormatError(f"{text}: column {name}: {missing.size} lines have no number, first line {missing[0] + 2}")
    array = values.to_numpy()
    if array.dtype.kind not in "iuf" or (array != np.floor(array)).any():
        odd = next(value for value in array.tolist() if isinstance(value, str | bool) or value != int(value))
        raise FormatError(f"{text}: column {name}: expected whole numbers, got {odd!r}")
    return array.astype(np.int64)


def _answered(text: str, table: "pd.DataFrame", given: NDArray[Any]) -> "pd.Series[Any]":
    """Return the answers as names or as numbers, as the labels are; missing where there is none."""
    import pandas as pd

    said = [None if pd.isna(value) or not str(value).strip() else _written(value) for value in table[TRUE]]
    known = [value for value in said if value is not None]
    if given.dtype.kind != "O" and known:
        read = _like(known, given)
        odd = [i for i, value in enumerate(said) if value is not None and not _is_whole(value)]
        if odd and isinstance(read[0], str):
            row = table[ROW].iloc[odd[0]]
            raise InputError(
                f"{text}: column {TRUE}: {len(odd)} answers are no numbers, as the classes of LABELS are, first "
                f"{said[odd[0]]!r} for row {row}; write a class, and name it in --classes if LABELS has it nowhere"
            )
        numbers = iter(read)
        return pd.Series([None if value is None else next(numbers) for value in said], dtype=object)
    return pd.Series(said, dtype=object)


def _is_whole(value: str) -> bool:
    return value.lstrip("+-").isdigit()


def _written(value: object) -> str:
    """Write a class as text, and the same for 3, 3.0 and numpy's 3."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def answers_text(
    rows: Sequence[int] | NDArray[Any],
    given: Sequence[object] | NDArray[Any],
    design: str,
    *,
    probabilities: NDArray[np.float64] | None = None,
    first: int = 1,
    more: Mapping[str, str] | None = None,
    head: Sequence[str] | None = None,
    delimiter: str = ",",
) -> str:
    """Write rows for experts, in the order in which they were drawn.

    ``head``: the columns of a file that these rows are added to; None writes the line of names too.
    """
    extra = dict(more or {})
    names = [DRAW, ROW, GIVEN, TRUE, DESIGN, *([PROBABILITY] if probabilities is not None else []), *extra]
    text = io.StringIO()
    writer = csv.DictWriter(
        text, list(head or names), restval="", extrasaction="ignore", lineterminator="\n", delimiter=delimiter
    )
    if head is None:
        writer.writeheader()
    for index, row in enumerate(rows):
        line = {DRAW: first + index, ROW: int(row), GIVEN: given[int(row)], TRUE: "", DESIGN: design, **extra}
        if probabilities is not None:
            line[PROBABILITY] = repr(float(probabilities[index]))
        writer.writerow(line)
    return text.getvalue()


# The rest --------------------------------------------------------------------------------------------------------


def read_cleaning(text: str, given: NDArray[Any], warn: Warn) -> "Cleaning":
    """Read what a cleaning found: a column of flags, and perhaps one of classes, empty where there is no suspect."""
    import pandas as pd

    from demele.labels import Cleaning

    table = read_table(text, warn=warn)
    if table.ndim > 2 or table.shape[1] > 2:
        raise InputError(
            f"{text}: expected a column of flags and perhaps one of right classes, got {table.shape[1]} columns"
        )
    if isinstance(table, np.ndarray):
        columns = [pd.Series(table[:, j]) for j in range(table.shape[1])]
    else:
        columns = [table.iloc[:, j].reset_index(drop=True) for j in range(table.shape[1])]
    flags = columns[0]
    if not flags.isin([0, 1]).all():
        odd = int(np.flatnonzero(~flags.isin([0, 1]))[0])
        raise InputError(
            f"{text}: expected flags 0 and 1 (or True and False) in the first column, got {flags[odd]} at row {odd}"
        )
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
        written = [g if pd.isna(s) else _written(s) for g, s in zip(given.tolist(), columns[1], strict=True)]
        return Cleaning(suspect, _like([str(value) for value in written], given))


def checked_targets(arguments: argparse.Namespace, inputs: Sequence[Path]) -> None:
    """Refuse files that could not, or should not, be written, before any computing."""
    targets = [path for path in (arguments.report, arguments.output) if path is not None]
    if len(targets) == 2 and targets[0].resolve() == targets[1].resolve():
        raise InputError("--output: the same file as --report; write to another one")
    for path in targets:
        check_writable(path, force=arguments.force, inputs=inputs)
