"""What a reader of any result must know of the answers that it was made from."""

import numpy as np

from demele.core.results import Note
from demele.core.sentences import give, in_code, setting
from demele.labels.joined.answer_table import AnswerTable

_FROM_MATRIX = in_code(
    ", as in Annotations.from_matrix(answers, missing=-1)",
    otherwise=" (of a table with a column per annotator), or leave these rows out",
)


def remarks(table: AnswerTable) -> tuple[Note, ...]:
    """Say what of these answers a reader of any result must know: repeats, silent items, constant annotators."""
    notes: list[Note] = list(_negative_class(table))
    repeats = table.n_repeats
    if repeats:
        notes.append(
            Note(
                code="repeated-answers",
                message=f"{repeats} answers repeat the same annotator on the same item; each counts as an answer.",
            )
        )
    silent = np.flatnonzero(np.bincount(table.item, minlength=table.n_items) == 0)
    if silent.size:
        names = tuple(str(table.items[place]) for place in silent[:6])
        notes.append(
            Note(
                code="unanswered-items",
                message=f"{silent.size} of {table.n_items} items have no answer: what is said of them is only how "
                "frequent the classes are.",
                subject=names,
                severity="warning",
            )
        )
    if table.silent:
        notes.append(
            Note(
                code="silent-annotators",
                message=f"{len(table.silent)} of {len(table.silent) + table.n_annotators} annotators gave no answer, "
                "and are left out.",
                subject=table.silent[:6],
            )
        )
    if table.n_annotators > table.n_items and table.n_answers == table.n_annotators * table.n_items:
        notes.append(
            Note(
                code="more-annotators-than-items",
                message=f"{table.n_annotators} annotators answered about all of {table.n_items} items: an array is "
                "of shape (n_annotators, n_items); if its rows are items, pass its transpose.",
                severity="warning",
            )
        )
    answered = np.bincount(table.annotator, minlength=table.n_annotators)
    used = np.zeros((table.n_annotators, table.k), dtype=bool)
    used[table.annotator, table.answer] = True
    constant = np.flatnonzero((used.sum(axis=1) == 1) & (answered >= 10)) if table.k > 1 else np.empty(0, np.intp)
    if constant.size:
        names = tuple(str(table.annotators[place]) for place in constant[:6])
        notes.append(
            Note(
                code="constant-annotators",
                message=f"{constant.size} of {table.n_annotators} annotators with at least 10 answers always gave "
                "the same one.",
                subject=names,
            )
        )
    if table.k == 1:
        notes.append(
            Note(
                code="one-class",
                message=f"Every answer is {table.classes[0]!r}: nothing can be learnt about who errs.",
                severity="warning",
            )
        )
    return (*notes, *_unanimous(table))


def _negative_class(table: AnswerTable) -> tuple[Note, ...]:
    """Say that -1 was read as a class, where it may stand for no answer; classes -1 and 1 are two plain classes."""
    numbers = [name for name in table.classes if isinstance(name, int)]
    if table.named or min(numbers, default=0) != -1 or set(numbers) <= {-1, 1}:
        return ()
    count = int(np.count_nonzero(table.answer == table.classes.index(-1)))
    return (
        Note(
            code="negative-class",
            message=f"-1 is among the classes: it is {count} of the {table.n_answers} answers. If it stands for no "
            f"answer, {give(missing=-1)}{_FROM_MATRIX}: the results are of no use with it. "
            f"If it is a class, {setting(classes=[...])} says so.",
            severity="warning",
        ),
    )


def _unanimous(table: AnswerTable) -> tuple[Note, ...]:
    """Say that nobody ever disagrees, where somebody could."""
    votes = table.votes()
    sums = votes.sum(axis=1)
    several = sums >= 2
    if table.k < 2 or not several.any() or (votes.max(axis=1) < sums)[several].any():
        return ()
    return (
        Note(
            code="unanimous",
            message=f"All answers agree about each of the {int(several.sum())} items with two answers or more. "
            "That they agree does not say that they are right, and people who answer on their own rarely agree on "
            "everything: look whether the answers were given independently, and were not settled or copied.",
            severity="warning",
        ),
    )
