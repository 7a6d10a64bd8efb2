"""The door for labels and predictions: whatever came in goes out as class indices in one vocabulary, or is refused."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core import table_columns
from demele.core.arrays import pd
from demele.core.errors import InputError, InputTypeError, NotEnoughData, plural, quoted

Indices = NDArray[np.int32]

#: What a method assumes that takes the labels as they are.
ALL_CORRECT = "All given labels are correct."
#: The largest class that is a number.
LARGEST = 2**63 - 1
DECODE = "numpy.char.decode(values, 'utf-8')"


@dataclass(frozen=True)
class Vocabulary:
    """The classes, in the order of every axis of classes: whole numbers or strings, never both."""

    classes: tuple[int | str, ...]

    def __len__(self) -> int:
        return len(self.classes)

    @cached_property
    def _places(self) -> "pd.Index[Any]":

        return pd.Index(self.classes)

    def index(self, name: object, argument: str = "of") -> int:
        """Position of one class.

        Raises
        ------
        InputError
            If there is no such class.
        """
        value = name.item() if isinstance(name, np.generic) else name
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int | str) or value not in self.classes:
            raise InputError(argument, f"expected one of the classes {shown(self.classes)}, got {quoted(name)}")
        return self.classes.index(value)

    def encode(self, values: NDArray[Any], argument: str, *, partly: bool = False) -> Indices:
        """Turn what :func:`read_labels` returned into class indices.

        With ``partly``, values that are no classes become -1 where they look like further classes: others are classes,
        and no slip of the coding explains them.

        Raises
        ------
        InputError
            If a value is no class: how many, the first row, what to do.
        """
        if values.size and (values.dtype.kind == "i") != isinstance(self.classes[0], int):
            kind = "integers" if values.dtype.kind == "i" else "names"
            raise InputError(
                argument,
                f"expected classes among {shown(self.classes)}, got {kind}, first {_item(values, 0)!r} at row 0; "
                "class names and integers cannot be matched: map one to the other, such as "
                "numpy.array(names)[integers]",
            )
        # To compare strings takes long: each class of theirs is looked up once.
        codes, found = (slice(None), values) if values.dtype.kind == "i" else pd.factorize(values)
        index = self._places.get_indexer(pd.Index(found)).astype(np.int32)[codes]
        wrong = np.flatnonzero(index < 0)
        slip = _slip_of_coding(values, self) if wrong.size else None
        if wrong.size and (slip or not partly or wrong.size == values.size):
            unknown = sorted({_item(values, int(row)) for row in wrong})
            raise InputError(
                argument,
                f"{wrong.size} of {values.size} values are not among the {len(self)} classes "
                f"{shown(self.classes)}: {shown(unknown)}, first at row {wrong[0]}; "
                + (slip or "if they are classes, give all classes with `classes=[...]`"),
            )
        return index


@dataclass(frozen=True)
class Labelled:
    """One test set: its given labels and the predictions of one or several classifiers, as class indices.

    ``predictions`` is of shape (n_models, n). What is counted of them is counted once. ``unlabelled`` are the classes
    that were found among the predictions alone, ``truths`` what holds True and False where others hold numbers.
    """

    labels: Indices
    predictions: Indices
    names: tuple[str, ...]
    vocabulary: Vocabulary
    unlabelled: tuple[int | str, ...] = ()
    truths: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of instances."""
        return int(self.labels.size)

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.vocabulary)

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Whether each model predicts the given label, of shape (n_models, n)."""
        return np.asarray(self.predictions == self.labels)

    @cached_property
    def right_alone(self) -> NDArray[np.int64]:
        """On how many instances the model of the row is right and the one of the column is wrong."""
        # Float32 products of zeros and ones are whole numbers, and exact up to 2^24 rows.
        right: NDArray[Any] = self.right.astype(np.float32 if self.n < 1 << 24 else np.float64)
        both = right @ right.T
        return np.asarray(np.diag(both)[:, None] - both, dtype=np.int64)

    @cached_property
    def disagreements(self) -> NDArray[np.int64]:
        """On how many instances two models predict different classes, of shape (n_models, n_models)."""
        smallest = self.predictions.astype(np.min_scalar_type(self.k), copy=False)
        apart = np.zeros(2 * (len(smallest),), dtype=np.int64)
        for i, j in zip(*np.triu_indices_from(apart, k=1), strict=True):
            apart[i, j] = apart[j, i] = np.count_nonzero(smallest[i] != smallest[j])
        return apart

    def relabelled(self, labels: Indices) -> "Labelled":
        """Return the same predictions with other labels."""
        return Labelled(labels, self.predictions, self.names, self.vocabulary)

    def take(self, rows: NDArray[Any]) -> "Labelled":
        """Return some rows (indices or a mask)."""
        return Labelled(self.labels[rows], self.predictions[:, rows], self.names, self.vocabulary)


def read_labelled(
    models: Mapping[str, object], labels: object, *, classes: Sequence[object] | None = None, argument: str = "labels"
) -> Labelled:
    """Validate labels and the predictions of named models together.

    Parameters
    ----------
    models : mapping of str to array-like of shape (n,)
        Predicted classes of each model; the names are used in messages and results.
    labels : array-like of shape (n,)
        Given labels.
    classes : sequence, optional
        All classes, in the order of every result; a prediction outside them is refused. By default the sorted classes
        of the labels and the predictions. Predictions are refused if none is a class of the labels, or if case, blanks
        or a shift of numbers explain the difference.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        Naming the argument, how many values are wrong and the first row.
    """

    def remedy(n: int) -> str:
        if len(models) == n > 2:
            return "are rows and columns exchanged? expected one column, or one entry of a mapping, per model"
        return "row r of both must be the same instance"

    for name, values in models.items():
        if isinstance(values, np.ndarray) and isinstance(labels, np.ndarray) and values.ndim == labels.ndim == 1:
            table_columns.check_rows(
                None, None, (name, argument), (values.size, labels.size), remedy(labels.size)
            )  # before a copy
    given = read_labels(labels, argument)
    words = vocabulary(given, classes=classes)
    coded = words.encode(given, argument)
    read, rows = [], []
    for name, values in models.items():
        predicted = read_labels(values, name)
        table_columns.check_rows(values, labels, (name, argument), (predicted.size, given.size), remedy(given.size))
        if len({type(getattr(one, "index", None)).__name__ for one in (values, labels)}) == 1:
            table_columns.check_same_rows(values, labels, (name, argument))  # a plain range only numbers predictions
        read.append(predicted)
        rows.append(words.encode(predicted, name, partly=classes is None))
    stacked, unlabelled = np.stack(rows), set[int | str]()
    if stacked.min() < 0:
        unlabelled = {_item(read[model], row) for model, row in np.argwhere(stacked < 0)}
        words = Vocabulary(tuple(sorted(unlabelled.union(words.classes))))
        coded, *rows = (words.encode(values, argument) for values in (given, *read))
        stacked = np.stack(rows)
    truths = [name for name, values in [(argument, labels), *models.items()] if table_columns.holds_truths(values)]
    others = () if len(truths) > len(models) or not isinstance(words.classes[0], int) else tuple(truths)
    return Labelled(coded, stacked, tuple(models), words, tuple(sorted(unlabelled)), others)


def read_models(predictions: object, argument: str = "predictions") -> dict[str, object]:
    """Split the predictions of several models: a mapping, a data frame, or an array of shape (n, n_models)."""
    if isinstance(predictions, Mapping):
        models = {str(name): values for name, values in predictions.items()}
        if len(models) < len(predictions):
            raise InputError(argument, f"expected distinct names of models, got {shown(list(predictions))}")
    else:
        columns, names = table_columns.split_columns(predictions, argument, default="model ")
        models = {
            name: columns[:, j] if isinstance(columns, np.ndarray) else columns[j] for j, name in enumerate(names)
        }
    if len(models) < 2:
        raise NotEnoughData(argument, f"expected the predictions of at least 2 models, got {len(models)}")
    return models


def read_labels(values: object, argument: str) -> NDArray[Any]:
    """Return classes as an array of int64 or of str objects of shape (n,).

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        For anything else: probabilities, missing values, real numbers, mixtures, several columns.
    """
    array = table_columns.as_column(values, argument)
    if array.ndim != 1:
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        else:
            table = array.ndim == 2 and array.shape[1] > 1 and array.dtype.kind in "biufO"
            raise InputError(
                argument,
                f"expected one class per instance, shape (n,), got shape {array.shape}"
                + (f"; if these are probabilities or scores, pass {argument}.argmax(axis=1)" if table else ""),
            )
    if array.size == 0:
        raise NotEnoughData(argument, "expected at least 1 instance, got none")
    if array.dtype.kind == "u" and array.max() > LARGEST:
        row = int(array.argmax())
        raise InputError(argument, f"expected whole numbers up to {LARGEST}, got {array[row]} at row {row}")
    if array.dtype.kind in "biu":
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        return _whole(array, argument)
    if array.dtype.kind == "U":
        table_columns.check_texts(argument, array.tolist())
        return array.astype(object)
    if array.dtype.kind in "OT":
        return _objects(array.astype(object, copy=False), argument)
    if array.dtype.kind == "S":
        raise InputTypeError(argument, f"expected whole numbers or strings, got bytes; decode them: {DECODE}")
    raise InputTypeError(argument, f"expected classes (whole numbers or strings), got values of type {array.dtype}")


def vocabulary(labels: NDArray[Any], *, classes: Sequence[object] | None = None) -> Vocabulary:
    """Return the classes given, or those of the labels in sorted order.

    Raises
    ------
    InputError, InputTypeError
        If the classes given are repeated, or no classes.
    """
    if classes is None:
        return Vocabulary(tuple(np.sort(pd.unique(labels)).tolist()))
    if isinstance(classes, str | bytes | set | frozenset | Mapping) or not isinstance(classes, Iterable):
        got = f"{type(classes).__name__} {quoted(classes)}"
        raise InputTypeError("classes", f"expected a sequence of classes, such as ['cat', 'dog'], got {got}")
    read = read_labels(table_columns.items_of(classes, "classes", "a sequence of classes"), "classes")
    items = tuple(_item(read, i) for i in range(read.size))
    table_columns.check_distinct(items, "classes", "each class once")
    return Vocabulary(items)


def common_vocabulary(columns: Sequence[NDArray[Any]], *, classes: Sequence[object] | None = None) -> Vocabulary:
    """Return the classes of columns together; those of the first where one holds numbers and another names."""
    same = all(column.dtype == columns[0].dtype for column in columns)
    return vocabulary(np.concatenate(columns) if same else columns[0], classes=classes)


def shown(items: Sequence[object], at_most: int = 6) -> str:
    """List some items of a sequence for a message."""
    text = ", ".join(quoted(item) for item in items[:at_most])
    return text + (f", ... ({len(items)} in all)" if len(items) > at_most else "")


def refuse_unjudged(
    true: NDArray[Any], given: NDArray[Any], argument: str, *, classes: Sequence[object] | None = None
) -> None:
    """Refuse true labels that hold -1, the usual sign for unlabelled rows, with classes from 0 on.

    Parameters
    ----------
    true, given : arrays of shape (n,)
        As :func:`read_labels` returns them.
    argument : str
        What messages call the true labels.
    classes : sequence, optional
        All classes, if the user gave them: -1 may be one of these.
    """
    if classes is not None or true.dtype.kind != "i" or given.dtype.kind != "i":
        return
    unjudged = np.flatnonzero(true == -1)
    if unjudged.size and true.min() == -1 and given.min() >= 0:
        raise InputError(
            argument,
            f"{unjudged.size} of {true.size} values are -1, first at row {unjudged[0]}, and -1 is not among "
            f"the given labels; if it marks rows without a true label, leave these rows out of everything; if it is "
            "a class, give all classes with `classes=[...]`",
        )


def _slip_of_coding(values: NDArray[Any], words: Vocabulary) -> str | None:
    """Return what would make classes of all values, if it looks as if these were written or counted otherwise."""
    known = set(words.classes)
    distinct = set(pd.unique(values).tolist())
    if values.dtype.kind == "i":
        # One off is what happens most; a larger shift is taken from the smallest values, if these are comparable.
        furthest = min(distinct) - min(int(item) for item in known)
        for shift in (1, -1, furthest) if len(distinct) > 1 else (1, -1):
            if shift and {value - shift for value in distinct} <= known:
                return f"do the two count classes from different numbers (shifted by {shift})?"
    else:
        alike = {str(item).strip().casefold(): item for item in known}
        for value in sorted(distinct - known):
            if value.strip().casefold() in alike:
                other = alike[value.strip().casefold()]
                return f"{value!r} and {other!r} differ by case or blanks only: write both in one way"
    return None


def _item(values: NDArray[Any], row: int) -> int | str:
    value = values[row]
    return str(value) if isinstance(value, str) else int(value)


def _refuse_missing(bad: NDArray[np.bool_], argument: str, which: str) -> None:
    rows = np.flatnonzero(bad)
    if rows.size:
        what = f"{plural(rows.size, f'{which} value', f'{which} values')}, first at row {rows[0]}"
        remedy = "drop those rows, or write a class of its own for them and give `classes=[...]`"
        raise InputError(argument, what, remedy)


def _whole(array: NDArray[Any], argument: str) -> NDArray[Any]:
    _refuse_missing(~np.isfinite(array), argument, "missing or infinite")
    odd = np.flatnonzero(array != np.floor(array))
    if odd.size:
        looks = bool(array.min() >= 0 and array.max() <= 1)
        raise InputError(
            argument,
            f"expected classes, got {plural(odd.size, 'number that is', 'numbers that are')} not whole, first "
            f"{array[odd[0]]} at row {odd[0]}"
            + "; these look like probabilities: write classes, such as 1 where they are 0.5 or more"
            * looks,
        )
    table_columns.refuse_large_floats(array, argument)
    return array.astype(np.int64)


def _objects(array: NDArray[Any], argument: str) -> NDArray[Any]:

    _refuse_missing(pd.isna(array), argument, "missing")
    kinds = [isinstance(value, str) for value in array]
    if all(kinds):
        # Members of an enumeration and NumPy strings are strings, but are shown and sorted in ways of their own.
        texts = [str.__str__(value) for value in array]
        table_columns.check_texts(argument, texts)
        return np.array(texts, dtype=object)
    if any(kinds):
        row = kinds.index(not kinds[0])
        raise InputTypeError(
            argument,
            f"expected whole numbers or strings, got both: {quoted(array[0])} at row 0 and "
            f"{quoted(array[row])} at row {row}",
        )
    if any(isinstance(value, bytes) for value in array):
        raise InputTypeError(argument, f"expected whole numbers or strings, got bytes; decode them: {DECODE}")
    if all(isinstance(value, int | np.integer | np.bool_) for value in array):  # floats would confuse large ones
        try:
            return array.astype(np.int64)
        except OverflowError as error:
            raise InputError(argument, f"expected whole numbers up to {LARGEST}, got larger ones") from error
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(argument, f"expected whole numbers or strings, got {type(array[0]).__name__}") from error
    return _whole(numbers, argument)
