"""What a log of a language model holds once it is read, whatever program wrote it: an answer to each question."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demele.core.errors import FormatError, quoted
from demele.core.reading import check_nesting, parsing
from demele.files.table_files import check_known, listed, picking

#: What stands for a model that chose nothing.
NO_ANSWER = "no answer"


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """One answer.

    Attributes
    ----------
    id : str
        Of the question.
    question : str
        By what the question is recognised in the logs of other models: a digest, or its right answer.
    right : bool
        Whether the log calls the answer right.
    predicted, target : int, str or None
        The choice that was taken, and the right one; None where the log does not say both.
    n_choices : int
    """

    id: str
    question: str
    right: bool
    predicted: int | str | None = None
    target: int | str | None = None
    n_choices: int = 0


@dataclass(frozen=True, slots=True)
class ModelLog:
    """The answers of one model.

    Attributes
    ----------
    name : str
    measure : str
        By which an answer is right or wrong.
    answers : sequence of LoggedAnswer
        In the order of their questions.
    unscored : sequence of str
        Questions without a verdict.
    remarks : sequence of str
        What its reader must know.
    """

    name: str
    measure: str
    answers: Sequence[LoggedAnswer]
    unscored: Sequence[str] = ()
    remarks: Sequence[str] = ()

    @property
    def has_choices(self) -> bool:
        """Whether it says which choice was taken, and these choices explain every verdict."""
        return all(
            answer.target is not None and (answer.predicted == answer.target) == answer.right for answer in self.answers
        )


def read_object(what: str, content: bytes) -> dict[str, Any]:
    """Read one object of JSON.

    Raises
    ------
    FormatError
        If it is none, or takes more memory than it may.
    """
    check_nesting(what, content)
    with parsing(f"{what}: not JSON"):
        data = json.loads(content.decode("utf-8-sig"))
    if not isinstance(data, dict):
        raise FormatError(f"{what}: expected an object, got {type(data).__name__}")
    return data


def right_or_wrong(value: object, what: str) -> bool:
    """Read a verdict: C and I, true and false, 1 and 0.

    Raises
    ------
    FormatError
        If it is anything between.
    """
    if isinstance(value, str):
        known = {"C": True, "I": False, "N": False}
        if value in known:
            return known[value]
    elif isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    raise FormatError(f"{what}: {quoted(value)} says neither right nor wrong; only such verdicts are compared")


def picked_one(path: Path, held: Sequence[str], picked: Sequence[str], what: str, usual: Sequence[str] = ()) -> str:
    """Return the one name that was picked, the first usual one, or the only one.

    Raises
    ------
    FormatError
        If there are several, and none was picked.
    """
    chosen = [name for name in picked if name in held] or [name for name in usual if name in held][:1]
    if len(chosen) == 1:
        return chosen[0]
    if len(held) != 1 or chosen:
        raise FormatError(
            f"{path}: holds {len(held)} {what} ({listed(list(held))}); pick one, such as {picking(path, held[0])}"
        )
    return held[0]


def check_picked(path: Path, held: Sequence[str], picked: Sequence[str]) -> None:
    """Refuse names after ``FILE::`` that a log does not know.

    Raises
    ------
    UnknownNameError
    """
    check_known(list(picked), list(held), path, "measure")


def in_order(answers: Sequence[LoggedAnswer], path: Path) -> list[LoggedAnswer]:
    """Return the answers by their questions: numbers in their order, then texts; a question stands once.

    Raises
    ------
    FormatError
    """
    seen: set[str] = set()
    for answer in answers:
        if answer.id in seen:
            raise FormatError(
                f"{path}: question {quoted(answer.id)} is answered twice; one log holds one run of one model"
            )
        seen.add(answer.id)
    return sorted(answers, key=lambda answer: id_order(answer.id))


def id_order(name: str) -> tuple[int, int, str]:
    """Sort key of an identifier: whole numbers before texts."""
    number = name.isascii() and name.isdigit() and len(name) < 19
    return (0, int(name), name) if number else (1, 0, name)
