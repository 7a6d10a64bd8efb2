"""What a log of a language model holds once it is read, whatever program wrote it: an answer to each question."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demele.core.errors import FormatError, InputError, quoted
from demele.core.reading import check_nesting, parsing
from demele.files.table_files import listed

#: What stands for a model that answered nothing, and for what no model and no log says.
NO_ANSWER, OTHER_ANSWER = "no answer", "another answer"
#: Share of the right answers that must be the right text for answers to be compared as texts.
_EXPLAINED = 0.95
_IGNORED = re.compile(r"(?<=\d),(?=\d{3})|\$")


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """One answer.

    Attributes
    ----------
    id : str
        Identifier of the question.
    question : str
        By what the question is recognised in the logs of other models: a digest, or its right answer.
    measure : str
        By which it is right or wrong.
    right : bool
        Whether the log calls the answer right.
    predicted, target : int, str or None
        The choice that was taken, and the right one; None where the log does not say both.
    n_choices : int
    said : str or None
        The answer as text.
    targets : tuple of str
        The texts that are right.
    fields : mapping of str
        What the log holds of the question: ``id``, ``task``, ``question``, ``choices``, ``target``, and ``doc`` or
        ``metadata``.
    """

    id: str
    question: str
    measure: str
    right: bool
    predicted: int | str | None = None
    target: int | str | None = None
    n_choices: int = 0
    said: str | None = None
    targets: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelLog:
    """The answers of one model to the questions of one task.

    Attributes
    ----------
    path : Path
    name : str
    task : str
    answers : sequence of LoggedAnswer
        In the order of their questions.
    held : sequence of str
        Measures, filters, scorers and epochs to choose from.
    unscored : sequence of str
        Questions without a verdict.
    failures : sequence of str
        Why the run, or its first sample without a score, failed.
    """

    path: Path
    name: str
    task: str
    answers: Sequence[LoggedAnswer]
    held: Sequence[str]
    unscored: Sequence[str] = ()
    failures: Sequence[str] = ()


def have_choices(answers: Iterable[LoggedAnswer]) -> bool:
    """Whether answers say which choice was taken, and these choices explain every verdict."""
    return all(answer.target is not None and (answer.predicted == answer.target) == answer.right for answer in answers)


def have_texts(answers: Iterable[LoggedAnswer]) -> bool:
    """Whether answers can be compared as texts: nearly all that the log calls right are the right text."""
    held = list(answers)
    right = [answer for answer in held if answer.right]
    same = [plain(answer.said or "") in map(plain, answer.targets) for answer in right]
    return all(answer.said is not None and answer.targets for answer in held) and sum(same) >= _EXPLAINED * len(right)


def plain(text: str) -> str:
    r"""Write an answer as it is compared: what follows ``####``, without capitals, ``$`` and commas of thousands.

    Examples
    --------
    >>> plain("6 x 203 = 1218\n#### 1,218"), plain("$1218."), plain(" New  York")
    ('1218', '1218', 'new york')
    """
    words = text.rpartition("####")[2].casefold().split()
    return _IGNORED.sub("", " ".join(words)).rstrip(".").strip()


def texts_of(answer: LoggedAnswer) -> tuple[str, str]:
    """Return the answer and the right one as texts that are equal if the log calls the answer right, and only then."""
    right = plain(answer.targets[0])
    said = plain(answer.said or "") or NO_ANSWER
    return (right if answer.right else f"{said} (judged wrong)" if said == right else said), right


def known_answer(text: str, classes: Collection[object]) -> str:
    """Return what an expert wrote as one of the answers that models or logs gave, or that it is none of these."""
    return text if text in classes else plain(text) if plain(text) in classes else OTHER_ANSWER


def chosen(text: str, classes: Collection[object]) -> Any:
    """Return the class of a choice from what an expert wrote: the class, or the letter of its number.

    Examples
    --------
    >>> chosen("c", (0, 1, 2)), chosen("1", (0, 1, 2)), chosen("b", ("A", "B"))
    (2, 1, 'B')

    Raises
    ------
    InputError
    """
    letters = {"abcdefghijklmnopqrstuvwxyz"[one]: one for one in classes if isinstance(one, int) and 0 <= one < 26}
    known = {**letters, **{str(one).casefold(): one for one in classes}}
    if text.casefold() not in known:
        raise InputError(f"expected the number or letter of a choice, got {quoted(text)}")
    return known[text.casefold()]


def flat_fields(fields: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return fields within fields by their whole names.

    Examples
    --------
    >>> flat_fields({"question": "Why?", "doc": {"passage_id": 7}})
    {'question': 'Why?', 'doc.passage_id': 7}
    """
    found: dict[str, Any] = {}
    for name, value in fields.items():
        found |= flat_fields(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value}
    return found


def shown_choices(names: Iterable[object], texts: Iterable[object]) -> str:
    """Write the choices of a question for an expert: a line for each, after what the answer calls it."""
    return "\n".join(f"{name}: {text}" for name, text in zip(names, texts, strict=False))


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
    raise FormatError(
        f"{what}: {quoted(value)} says neither right nor wrong, and scores between are not rounded; pick a measure or "
        "scorer that says right or wrong"
    )


def picked_one(
    path: Path, held: Sequence[str], picked: Sequence[str], what: str, usual: Sequence[str] = (), *, by: str = "filter"
) -> str:
    """Return the one name that was picked, the first usual one, or the only one; ``by``: the argument that picks.

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
            f"{path}: holds {len(held)} {what} ({listed(list(held))}); pick one of all logs, such as `{by}={held[0]!r}`"
        )
    return held[0]


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
