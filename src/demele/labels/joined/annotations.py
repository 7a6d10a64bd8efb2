"""The door for answers of several annotators, from long and from wide tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.given_arrays import items_of
from demele.core.labelled import Vocabulary, plain_text, read_labels, shown, vocabulary
from demele.core.results import Note
from demele.core.table_columns import as_column, split_columns
from demele.labels.joined.answer_remarks import remarks
from demele.labels.joined.answer_table import AnswerTable
from demele.noise.square_tables import set_fields

#: What the columns of a data frame may be called.
COLUMN_NAMES = {
    "items": ("item", "items", "task", "unit", "instance", "question", "example"),
    "annotators": ("annotator", "annotators", "worker", "rater", "performer", "coder", "user"),
    "answers": ("answer", "answers", "label", "labels", "response", "annotation", "rating", "class"),
}


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Annotations(AnswerTable):
    """Answers of annotators on items: one entry per answer.

    Parameters
    ----------
    items, annotators, answers : array-like of shape (n_answers,)
        Which item, who, and what class: whole numbers or strings each.
    classes : sequence, optional
        All classes, in the order of every result; by default the sorted answers. For an ordinal or interval scale, in
        their order.
    all_items : sequence, optional
        All items, in the order of every result, those without an answer included; by default those that were
        answered, sorted.

    Attributes
    ----------
    items, annotators : tuple of int or str
        Names, in the order of every result.
    classes : tuple of int or str
    item, annotator, answer : arrays of int of shape (n_answers,)
        Positions in ``items``, ``annotators`` and ``classes``, in the order that came in.
    silent : tuple of str
        Rows of a matrix without any answer: they are none of the ``annotators``.
    named : bool
        Whether the classes were given, and not read off the answers.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If the columns differ in length, have missing values, or hold items or classes that are not listed.

    Examples
    --------
    >>> table = Annotations(["a", "a", "b"], ["ann", "bob", "ann"], ["cat", "dog", "dog"])
    >>> table.n_items, table.n_annotators, table.classes
    (2, 2, ('cat', 'dog'))
    """

    def __init__(
        self,
        items: object,
        annotators: object,
        answers: object,
        *,
        classes: Sequence[object] | None = None,
        all_items: Sequence[object] | None = None,
    ) -> None:
        columns = {
            name: read_labels(given, name)
            for name, given in (("items", items), ("annotators", annotators), ("answers", answers))
        }
        sizes = {name: column.size for name, column in columns.items()}
        if len(set(sizes.values())) > 1:
            counts = ", ".join(f"{size} {name}" for name, size in sizes.items())
            raise InputError("annotations", f"expected one item, one annotator and one answer per row, got {counts}")
        listed = None if all_items is None else vocabulary(columns["items"], classes=all_items)
        words = {
            "items": listed or vocabulary(columns["items"]),
            "annotators": vocabulary(columns["annotators"]),
            "answers": vocabulary(columns["answers"], classes=classes),
        }
        if listed is not None:
            _check_listed(columns["items"], listed)
        coded = {name: words[name].encode(column, name) for name, column in columns.items()}
        set_fields(
            self,
            items=words["items"].classes,
            annotators=words["annotators"].classes,
            classes=words["answers"].classes,
            item=coded["items"],
            annotator=coded["annotators"],
            answer=coded["answers"],
            silent=(),
            named=classes is not None,
        )

    @classmethod
    def from_matrix(
        cls,
        matrix: object,
        *,
        missing: object = None,
        classes: Sequence[object] | None = None,
        annotators: Sequence[object] | None = None,
    ) -> "Annotations":
        """Read a table with one row per annotator and one column per item.

        Parameters
        ----------
        matrix : mapping of annotator to array-like of shape (n_items,), data frame, or array of (n_annotators, n_items)
            A mapping and a data frame hold one column per annotator; an array holds one row per annotator, as
            predictions of several models do.
        missing : int, str or float, optional
            Value that means "no answer", in addition to NaN and None.
        classes : sequence, optional
            As in :class:`Annotations`.
        annotators : sequence, optional
            Names of the rows; by default those of the mapping or frame, else 0, 1, ... Results keep the order of the
            rows. A row without an answer is left out, and a remark says so.

        Raises
        ------
        InputError, InputTypeError, NotEnoughData

        Examples
        --------
        >>> Annotations.from_matrix([[0, 1, 1], [0, -1, 0]], missing=-1)
        Annotations(n_answers=5, n_items=3, n_annotators=2, classes=(0, 1))
        """
        names, rows = _rows_of(matrix)
        if annotators is not None:
            names = items_of(annotators, "annotators", "a name of each annotator")
            if len(names) != len(rows):
                raise InputError("annotators", f"expected {len(rows)} names, one per row, got {len(names)}")
        sizes = sorted({row.size for row in rows})
        if len(sizes) > 1:
            raise InputError(
                "annotations", f"expected as many items of each annotator, got from {sizes[0]} to {sizes[-1]}"
            )
        places = [_answered(row, missing) for row in rows]
        who = np.repeat(np.arange(len(rows)), [place.size for place in places])
        answers = np.concatenate([row[here].astype(object) for row, here in zip(rows, places, strict=True)])
        if answers.size == 0:
            raise NotEnoughData("annotations", "expected at least 1 answer, got none")
        named = np.empty(len(names), dtype=object)
        named[:] = names
        if len(set(names)) < len(names):
            raise InputError("annotators", f"expected each name once, got {shown(names)}")
        table = cls(np.concatenate(places), named[who], answers, classes=classes, all_items=range(sizes[0]))
        # Names in the order of the rows, not sorted: weights, for one, may come in that order.
        codes, first = np.unique(table.annotator, return_index=True)
        order = codes[np.argsort(first)]
        set_fields(
            table,
            annotators=tuple(table.annotators[code] for code in order),
            annotator=np.argsort(order).astype(np.int32)[table.annotator],
            silent=tuple(str(name) for name, place in zip(names, places, strict=True) if not place.size),
        )
        return table

    def remarks(self) -> tuple[Note, ...]:
        """Say what of these answers a reader of any result must know: repeats, silent items, constant annotators."""
        return remarks(self)


def read_annotations(
    annotations: object, *, classes: Sequence[object] | None = None, missing: object = None
) -> Annotations:
    """Return annotations of whatever came in.

    Parameters
    ----------
    annotations : Annotations, data frame with columns item, annotator and answer (or task, worker, label), or what
        :meth:`Annotations.from_matrix` reads
    classes : sequence, optional
        As in :class:`Annotations`.
    missing : int, str or float, optional
        What stands for no answer, such as -1. Items of a long table without any other answer stay among the items.
    """
    if isinstance(annotations, Annotations):
        if missing is not None:
            raise InputError(
                "missing",
                "these annotations are read already; give it where they are made, as in "
                "Annotations.from_matrix(answers, missing=...)",
            )
        if classes is None or tuple(classes) == annotations.classes:
            return annotations
        raise InputError("classes", "the annotations have their own; give them where the annotations are made")
    if hasattr(annotations, "columns"):
        columns, names = _columns(annotations, "column")
        found = _long_columns(names)
        if found is not None:
            items, annotators, answers = (columns[names.index(name)] for name in found)
            if missing is None:
                return Annotations(items, annotators, answers, classes=classes)
            return _without_missing(items, annotators, answers, missing, classes)
        for role, known in COLUMN_NAMES.items():
            rivals = [name for name in names if str(name).casefold() in known]
            if len(rivals) > 1:
                raise InputError(
                    "annotations",
                    f"columns {' and '.join(map(plain_text, rivals))} may all be the {role}; leave out "
                    "all but one, or pass Annotations(items, annotators, answers)",
                )
        if any(str(name).casefold() in known for name in names for known in COLUMN_NAMES.values()):
            raise InputError(
                "annotations",
                "expected columns item, annotator and answer (or task, worker, label), got "
                f"{shown(list(names))}; name all three, or pass Annotations(items, annotators, answers)",
            )
    return Annotations.from_matrix(annotations, classes=classes, missing=missing)


def _without_missing(
    items: Any, annotators: Any, answers: Any, missing: object, classes: Sequence[object] | None
) -> Annotations:
    """Read a long table without the rows that hold no answer; their items stay."""
    read = {"items": items, "annotators": annotators, "answers": answers}
    columns = {name: as_column(column, name) for name, column in read.items()}
    here = _answered(columns["answers"], missing)
    if not here.size:
        raise NotEnoughData("annotations", f"expected at least 1 answer, got {plain_text(missing)} only")
    return Annotations(
        columns["items"][here],
        columns["annotators"][here],
        columns["answers"][here],
        classes=classes,
        all_items=vocabulary(read_labels(columns["items"], "items")).classes,
    )


def _columns(table: Any, default: str) -> tuple[list[Any], tuple[str, ...]]:
    columns, names = split_columns(table, "annotations", default)
    return columns if isinstance(columns, list) else list(columns.T), names


def _long_columns(names: Sequence[str]) -> list[str] | None:
    """Return the names of the three columns of a long table, if there is one of each."""
    found = []
    for known in COLUMN_NAMES.values():
        here = [name for name in names if str(name).casefold() in known]
        if len(here) != 1:
            return None
        found.append(here[0])
    return found


def _rows_of(matrix: Any) -> tuple[list[Any], list[NDArray[Any]]]:
    if isinstance(matrix, Mapping):
        rows = {
            name: as_column(values, f"annotations, annotator {plain_text(name)}") for name, values in matrix.items()
        }
    elif hasattr(matrix, "columns"):
        columns, names = _columns(matrix, "annotator")
        rows = {
            name: as_column(columns[place], f"annotations, annotator {plain_text(name)}")
            for place, name in enumerate(names)
        }
    else:
        remedy = "pass a data frame with columns item, annotator, answer, or an array of shape (n_annotators, n_items)"
        rows_of = items_of(matrix, "annotations", "a table of answers", remedy)
        rows = {place: as_column(values, f"annotations, annotator {place}") for place, values in enumerate(rows_of)}
    if not rows:
        raise NotEnoughData("annotations", "expected at least 1 annotator, got none")
    for name, row in rows.items():
        if row.ndim != 1:
            raise InputError(
                f"annotations, annotator {plain_text(name)}",
                f"expected one answer per item, got shape {row.shape}; an array is of shape (n_annotators, n_items)",
            )
    return list(rows), list(rows.values())


def _answered(row: NDArray[Any], missing: object) -> NDArray[np.intp]:
    """Positions of a row that hold an answer."""
    import pandas as pd

    empty = np.asarray(pd.isna(row))
    if missing is not None:
        if not isinstance(missing, str | int | float | np.generic):
            raise InputTypeError("missing", f"expected one value that stands for no answer, got {quoted(missing)}")
        empty = empty | (row == missing)
    return np.flatnonzero(~empty)


def _check_listed(items: NDArray[Any], listed: Vocabulary) -> None:
    import pandas as pd

    if (items.dtype.kind == "i") != isinstance(listed.classes[0], int):
        raise InputError(
            "items",
            f"expected some of all_items, {shown(listed.classes)}, got {plain_text(items[0])} at row 0: one "
            "lists numbers, the other names",
        )
    wrong = np.flatnonzero(pd.Index(listed.classes).get_indexer(pd.Index(items)) < 0)
    if wrong.size:
        raise InputError(
            "items",
            f"{wrong.size} of {items.size} answers are about items that all_items does not list, first "
            f"{items[wrong[:1]].tolist()[0]!r} at row {wrong[0]}",
        )
