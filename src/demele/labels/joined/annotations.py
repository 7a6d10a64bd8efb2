"""The door for answers of several annotators, from long and from wide tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.core.arrays import Array, Floats, Rows, pd
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.labelled import Indices, Vocabulary, read_labels, shown, vocabulary
from demele.core.result import Note
from demele.core.table_columns import COLUMN_NAMES, as_column, items_of, split_columns
from demele.noise.transition import changed, set_fields


def _kind(names: tuple[int | str, ...]) -> Any:
    return np.int64 if names and isinstance(names[0], int) else object


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Annotations:
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

    items: tuple[int | str, ...]
    annotators: tuple[int | str, ...]
    classes: tuple[int | str, ...]
    item: Indices
    annotator: Indices
    answer: Indices
    silent: tuple[str, ...]
    named: bool

    def __init__(
        self,
        items: object,
        annotators: object,
        answers: object,
        *,
        classes: Sequence[object] | None = None,
        all_items: Sequence[object] | None = None,
    ) -> None:
        given = {"items": items, "annotators": annotators, "answers": answers}
        columns = {name: read_labels(column, name) for name, column in given.items()}
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
        no_answer: object = None,
        classes: Sequence[object] | None = None,
        annotators: Sequence[object] | None = None,
        items: object = None,
    ) -> "Annotations":
        """Read a table with one row per annotator and one column per item.

        Parameters
        ----------
        matrix : mapping of annotator to array-like of shape (n_items,), data frame, or array of (n_annotators, n_items)
            A mapping and a data frame hold one column per annotator; an array holds one row per annotator, as
            predictions of several models do.
        no_answer : int, str or float, optional
            Value that means "no answer", in addition to NaN and None.
        classes : sequence, optional
            As in :class:`Annotations`.
        annotators : sequence, optional
            Names of the rows; by default those of the mapping or frame, else 0, 1, ... Results keep the order of the
            rows. A row without an answer is left out, and a remark says so.
        items : array-like of shape (n_items,), optional
            Names of the items; by default 0, 1, ...

        Raises
        ------
        InputError, InputTypeError, NotEnoughData

        Examples
        --------
        >>> Annotations.from_matrix([[0, 1, 1], [0, -1, 0]], no_answer=-1)
        Annotations(n_answers=5, n_items=3, n_annotators=2, classes=(0, 1))
        """
        names, rows = _rows_of(matrix)
        if annotators is not None:
            names = items_of(annotators, "annotators", "a name of each annotator")
            if len(names) != len(rows):
                raise InputError("annotators", f"expected {len(rows)} names, one per row, got {len(names)}")
        sizes = sorted({row.size for row in rows})
        if len(sizes) > 1:
            got = f"got from {sizes[0]} to {sizes[-1]}"
            raise InputError("annotations", f"expected as many items of each annotator, {got}")
        places = [_answered(row, no_answer) for row in rows]
        who = np.repeat(np.arange(len(rows)), [place.size for place in places])
        answers = np.concatenate([row[here].astype(object) for row, here in zip(rows, places, strict=True)])
        if answers.size == 0:
            raise NotEnoughData("annotations", "expected at least 1 answer, got none")
        named = np.empty(len(names), dtype=object)
        named[:] = names
        if len(set(names)) < len(names):
            raise InputError("annotators", f"expected each name once, got {shown(names)}")
        called = np.arange(sizes[0]) if items is None else read_labels(items, "items")
        if called.size != sizes[0] or len(set(called.tolist())) < called.size:
            raise InputError("items", f"expected another name for each of {sizes[0]} items, got {shown([*called])}")
        table = cls(called[np.concatenate(places)], named[who], answers, classes=classes, all_items=called.tolist())
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
        notes: list[Note] = []
        numbers = [name for name in self.classes if isinstance(name, int)]
        # Classes -1 and 1 are two plain classes; otherwise -1 may stand for no answer.
        if not self.named and min(numbers, default=0) == -1 and not set(numbers) <= {-1, 1}:
            count = int(np.count_nonzero(self.answer == self.classes.index(-1)))
            message = (
                f"-1 is among the classes: it is {count} of the {self.n_answers} answers. If it stands for no answer, "
                "pass `no_answer=-1` with a table of one column per annotator, or leave these answers out: the results "
                "are of no use with them. If it is a class, `classes=[...]` says so."
            )
            notes.append(Note(code="negative-class", message=message, severity="warning"))
        if self.n_repeats:
            message = f"{self.n_repeats} answers repeat the same annotator on the same item; each counts as an answer."
            notes.append(Note(code="repeated-answers", message=message))
        silent = np.flatnonzero(np.bincount(self.item, minlength=self.n_items) == 0)
        if silent.size:
            message = (
                f"{silent.size} of {self.n_items} items have no answer: only the frequencies of the "
                "classes determine their labels."
            )
            subject = tuple(str(self.items[place]) for place in silent[:6])
            notes.append(Note(code="unanswered-items", message=message, subject=subject, severity="warning"))
        if self.silent:
            everyone = len(self.silent) + self.n_annotators
            message = f"{len(self.silent)} of {everyone} annotators gave no answer, and are left out."
            notes.append(Note(code="silent-annotators", message=message, subject=self.silent[:6]))
        if self.n_annotators > self.n_items and self.n_answers == self.n_annotators * self.n_items:
            message = (
                f"{self.n_annotators} annotators answered about all of {self.n_items} items: an array is of shape "
                "(n_annotators, n_items); if its rows are items, pass its transpose."
            )
            notes.append(Note(code="more-annotators-than-items", message=message, severity="warning"))
        answered = np.bincount(self.annotator, minlength=self.n_annotators)
        used = np.zeros((self.n_annotators, self.k), dtype=bool)
        used[self.annotator, self.answer] = True
        constant = np.flatnonzero((used.sum(axis=1) == 1) & (answered >= 10)) if self.k > 1 else np.empty(0, np.intp)
        if constant.size:
            message = (
                f"{constant.size} of {self.n_annotators} annotators with at least 10 answers always gave the same one."
            )
            subject = tuple(str(self.annotators[place]) for place in constant[:6])
            notes.append(Note(code="constant-annotators", message=message, subject=subject))
        if self.k == 1:
            message = f"Every answer is {self.classes[0]!r}: nothing can be learnt about who errs."
            notes.append(Note(code="one-class", message=message, severity="warning"))
        votes = self.votes()
        sums = votes.sum(axis=1)
        several = sums >= 2
        if self.k > 1 and several.any() and (votes.max(axis=1) == sums)[several].all():
            message = (
                f"All answers agree about each of the {int(several.sum())} items with two answers or more. That they "
                "agree does not say that they are right, and people who answer on their own rarely agree on all: "
                "look whether the answers were given independently, and were not settled or copied."
            )
            notes.append(Note(code="unanimous", message=message, severity="warning"))
        return tuple(notes)

    def __repr__(self) -> str:
        return (
            f"Annotations(n_answers={self.n_answers}, n_items={self.n_items}, n_annotators={self.n_annotators}, "
            f"classes=({shown(self.classes)}))"
        )

    @property
    def n_answers(self) -> int:
        """Number of answers, repeated ones included."""
        return int(self.answer.size)

    @property
    def n_items(self) -> int:
        """Number of items, those without an answer included."""
        return len(self.items)

    @property
    def n_annotators(self) -> int:
        """Number of annotators."""
        return len(self.annotators)

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def n_repeats(self) -> int:
        """Answers that an annotator gave beyond the first about the same item."""
        # Sorting is many times as fast here as numpy.unique, whose hashing meets such regular numbers badly.
        pairs = np.sort(self.item.astype(np.int64) * self.n_annotators + self.annotator)
        return int(np.count_nonzero(pairs[1:] == pairs[:-1]))

    def rows(self, rows: Rows) -> "Annotations":
        """Return some of the answers, with the same items, annotators and classes."""
        return changed(self, item=self.item[rows], annotator=self.annotator[rows], answer=self.answer[rows])

    def votes(self, weights: Floats | None = None) -> Array:
        """Count the answers of each class about each item, or add weights of annotators, shape (n_items, K)."""
        cells = self.item.astype(np.int64) * self.k + self.answer
        of_answers = None if weights is None else weights[self.annotator]
        return np.bincount(cells, of_answers, self.n_items * self.k).reshape(self.n_items, self.k)

    def responses(self) -> tuple[Any, Rows, Rows]:
        """Return sparse counts (n_items, n_columns), who and what: column c is annotator who[c] answering what[c]."""
        from scipy.sparse import csr_array

        pairs, column = np.unique(self.annotator.astype(np.int64) * self.k + self.answer, return_inverse=True)
        ones = np.ones(self.n_answers)
        # Summing duplicates: an annotator who gave the same answer twice counts twice.
        counts = csr_array((ones, (self.item, column)), shape=(self.n_items, pairs.size))
        return counts, (pairs // self.k).astype(np.intp), (pairs % self.k).astype(np.intp)

    def to_frame(self) -> "pd.DataFrame":
        """One row per answer: item, annotator, answer."""
        return pd.DataFrame(
            {
                "item": np.array(self.items, dtype=_kind(self.items))[self.item],
                "annotator": np.array(self.annotators, dtype=_kind(self.annotators))[self.annotator],
                "answer": np.array(self.classes, dtype=_kind(self.classes))[self.answer],
            }
        )


def read_annotations(
    annotations: object, *, classes: Sequence[object] | None = None, no_answer: object = None
) -> Annotations:
    """Return annotations of whatever came in.

    Parameters
    ----------
    annotations : Annotations, data frame with columns item, annotator and answer (or task, worker, label), or what
        :meth:`Annotations.from_matrix` reads
    classes : sequence, optional
        As in :class:`Annotations`.
    no_answer : int, str or float, optional
        What stands for no answer, such as -1. Items of a long table without any other answer stay among the items.
    """
    if isinstance(annotations, Annotations):
        if no_answer is not None:
            remedy = "give it where they are made, as in Annotations.from_matrix(answers, no_answer=...)"
            raise InputError("no_answer", "these annotations are read already", remedy)
        if classes is None or tuple(classes) == annotations.classes:
            return annotations
        raise InputError("classes", "the annotations have their own; give them where the annotations are made")
    if hasattr(annotations, "columns"):
        columns, names = _columns(annotations, "column")
        roles = {
            role: [name for name in names if str(name).casefold() in known] for role, known in COLUMN_NAMES.items()
        }
        if all(len(found) == 1 for found in roles.values()):
            items, annotators, answers = (columns[names.index(name)] for (name,) in roles.values())
            if no_answer is None:
                return Annotations(items, annotators, answers, classes=classes)
            # Rows that hold no answer are left out; their items stay.
            given = {"items": items, "annotators": annotators, "answers": answers}
            read = {name: as_column(column, name) for name, column in given.items()}
            here = _answered(read["answers"], no_answer)
            if not here.size:
                raise NotEnoughData("annotations", f"expected at least 1 answer, got {quoted(no_answer)} only")
            every = vocabulary(read_labels(read["items"], "items")).classes
            return Annotations(*(column[here] for column in read.values()), classes=classes, all_items=every)
        by_hand = "or pass Annotations(items, annotators, answers)"
        for role, rivals in roles.items():
            if len(rivals) > 1:
                problem = f"columns {' and '.join(map(quoted, rivals))} may all be the {role}"
                raise InputError("annotations", problem, f"leave out all but one, {by_hand}")
        if any(roles.values()):
            expected = "expected columns item, annotator and answer (or task, worker, label)"
            raise InputError("annotations", f"{expected}, got {shown(list(names))}", f"name all three, {by_hand}")
    return Annotations.from_matrix(annotations, classes=classes, no_answer=no_answer)


def _columns(table: Any, default: str) -> tuple[list[Any], tuple[str, ...]]:
    columns, names = split_columns(table, "annotations", default)
    return columns if isinstance(columns, list) else list(columns.T), names


def _rows_of(matrix: Any) -> tuple[list[Any], list[Array]]:
    if isinstance(matrix, Mapping):
        given = dict(matrix)
    elif hasattr(matrix, "columns"):
        columns, names = _columns(matrix, "annotator")
        given = dict(zip(names, columns, strict=True))
    else:
        remedy = "pass a data frame with columns item, annotator, answer, or an array of shape (n_annotators, n_items)"
        given = dict(enumerate(items_of(matrix, "annotations", "a table of answers", remedy)))
    rows = {name: as_column(values, f"annotations, annotator {quoted(name)}") for name, values in given.items()}
    if not rows:
        raise NotEnoughData("annotations", "expected at least 1 annotator, got none")
    for name, row in rows.items():
        if row.ndim != 1:
            problem, remedy = f"expected one answer per item, got shape {row.shape}", "(n_annotators, n_items)"
            raise InputError(f"annotations, annotator {quoted(name)}", problem, f"an array is of shape {remedy}")
    return list(rows), list(rows.values())


def _answered(row: Array, no_answer: object) -> Rows:
    """Positions of a row that hold an answer."""
    empty = np.asarray(pd.isna(row))
    if no_answer is not None:
        if not isinstance(no_answer, str | int | float | np.generic):
            raise InputTypeError("no_answer", f"expected one value that stands for no answer, got {quoted(no_answer)}")
        empty = empty | (row == no_answer)
    return np.flatnonzero(~empty)


def _check_listed(items: Array, listed: Vocabulary) -> None:

    if (items.dtype.kind == "i") != isinstance(listed.classes[0], int):
        problem = f"expected some of all_items, {shown(listed.classes)}, got {quoted(items[0])} at row 0"
        raise InputError("items", f"{problem}: one lists numbers, the other names")
    wrong = np.flatnonzero(pd.Index(listed.classes).get_indexer(pd.Index(items)) < 0)
    if wrong.size:
        first = f"{items[wrong[:1]].tolist()[0]!r} at row {wrong[0]}"
        problem = f"{wrong.size} of {items.size} answers are about items that all_items does not list, first {first}"
        raise InputError("items", problem)
