"""One score of one system on one row, whatever program wrote it, and how values become scores."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from demele.core.errors import FormatError, quoted
from demele.files.table_files import decimal_sign

#: What programs and people write for 1 and 0, and for no score, in any case.
WORDS: Mapping[str, float] = dict.fromkeys(("pass", "yes", "true", "correct", "c", "good"), 1.0) | dict.fromkeys(
    ("fail", "no", "false", "incorrect", "i", "bad"), 0.0
)
_MISSING = ("", "nan", "na", "n/a", "none", "null")


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """A score as a file holds it.

    Attributes
    ----------
    system, id : str
        Which system answered, and which item.
    score : float or None
        None: the row has no score.
    place : str
        What messages call the row.
    task, epoch : str
        The task, and which repeat of the item this is; empty where the file names none.
    human : tuple of float
        Scores that people gave, which the same file holds.
    error : bool
        Whether the score is missing because the system or the judge failed.
    question : str
        By what the item is recognised in files of other systems, if the same program wrote them.
    fields : mapping of str
        What else the file holds of the row.
    program : str
        By which the file was written; empty for a table.
    """

    system: str
    id: str
    score: float | None
    place: str
    task: str = ""
    epoch: str = ""
    human: tuple[float, ...] = ()
    error: bool = False
    question: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    program: str = ""


def score_of(value: object, what: str, words: Mapping[str, float] | None = None) -> float | None:
    """Return a score: a number, true or false, or a word for 1 or 0; None where there is none.

    Parameters
    ----------
    value : object
    what : str
        Where it stands, for the message.
    words : mapping of str to float, optional
        What further words count; they go before the others.

    Raises
    ------
    FormatError
        For anything else.

    Examples
    --------
    >>> score_of("Pass", "row 1"), score_of(" 0.5 ", "row 1"), score_of(float("nan"), "row 1")
    (1.0, 0.5, None)
    >>> score_of("B+", "row 1", {"B+": 0.8})
    0.8
    """
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip()
        word = text.casefold()
        own = {} if words is None else {name.casefold(): counts for name, counts in words.items()}
        if word in own or word in WORDS:
            return own.get(word, WORDS.get(word))
        if word in _MISSING:
            return None
        value = text.replace(",", ".") if decimal_sign() == "," else text
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.inf
    if math.isinf(number):
        hint = f"; say what it counts with `map`, such as {value}=1" if isinstance(value, str) else ""
        raise FormatError(f"{what}: {quoted(value)} is no score: expected a number, or a word such as pass{hint}")
    return None if math.isnan(number) else number
