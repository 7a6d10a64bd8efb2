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
    """Return notes on these answers for any result: repeats, silent items, constant annotators."""
    notes: list[Note] = []
    numbers = [name for name in table.classes if isinstance(name, int)]
    # Classes -1 and 1 are two plain classes; otherwise -1 may stand for no answer.
    if not table.named and min(numbers, default=0) == -1 and not set(numbers) <= {-1, 1}:
        count = int(np.count_nonzero(table.answer == table.classes.index(-1)))
        message = (
            f"-1 is among the classes: it is {count} of the {table.n_answers} answers. If it stands for no answer, "
            f"{give(missing=-1)}{_FROM_MATRIX}: the results are of no use with it. If it is a class, "
            f"{setting(classes=[...])} says so."
        )
        notes.append(Note(code="negative-class", message=message, severity="warning"))
    if table.n_repeats:
        message = f"{table.n_repeats} answers repeat the same annotator on the same item; each counts as an answer."
        notes.append(Note(code="repeated-answers", message=message))
    silent = np.flatnonzero(np.bincount(table.item, minlength=table.n_items) == 0)
    if silent.size:
        message = (
            f"{silent.size} of {table.n_items} items have no answer: only the frequencies of the "
            "classes determine their labels."
        )
        subject = tuple(str(table.items[place]) for place in silent[:6])
        notes.append(Note(code="unanswered-items", message=message, subject=subject, severity="warning"))
    if table.silent:
        everyone = len(table.silent) + table.n_annotators
        message = f"{len(table.silent)} of {everyone} annotators gave no answer, and are left out."
        notes.append(Note(code="silent-annotators", message=message, subject=table.silent[:6]))
    if table.n_annotators > table.n_items and table.n_answers == table.n_annotators * table.n_items:
        message = (
            f"{table.n_annotators} annotators answered about all of {table.n_items} items: an array is of shape "
            "(n_annotators, n_items); if its rows are items, pass its transpose."
        )
        notes.append(Note(code="more-annotators-than-items", message=message, severity="warning"))
    answered = np.bincount(table.annotator, minlength=table.n_annotators)
    used = np.zeros((table.n_annotators, table.k), dtype=bool)
    used[table.annotator, table.answer] = True
    constant = np.flatnonzero((used.sum(axis=1) == 1) & (answered >= 10)) if table.k > 1 else np.empty(0, np.intp)
    if constant.size:
        message = (
            f"{constant.size} of {table.n_annotators} annotators with at least 10 answers always gave the same one."
        )
        subject = tuple(str(table.annotators[place]) for place in constant[:6])
        notes.append(Note(code="constant-annotators", message=message, subject=subject))
    if table.k == 1:
        message = f"Every answer is {table.classes[0]!r}: nothing can be learnt about who errs."
        notes.append(Note(code="one-class", message=message, severity="warning"))
    votes = table.votes()
    sums = votes.sum(axis=1)
    several = sums >= 2
    if table.k > 1 and several.any() and (votes.max(axis=1) == sums)[several].all():
        message = (
            f"All answers agree about each of the {int(several.sum())} items with two answers or more. That they agree "
            "does not say that they are right, and people who answer on their own rarely agree on everything: look "
            "whether the answers were given independently, and were not settled or copied."
        )
        notes.append(Note(code="unanimous", message=message, severity="warning"))
    return tuple(notes)
