"""Sentences that name arguments: written once as Python; a program rewrites them with its own options.

A message is written for users of Python. Parts that differ for another reader are marked:

>>> gaps = sentence(f"{arg('codes')}: 2 gaps; drop those rows, or pass {setting(missing='omit')}")
>>> gaps
"codes: 2 gaps; drop those rows, or pass missing='omit'"
>>> rephrased(gaps, lambda it: f"--{it.name} {it.value}" if it.given else "FILE")
'FILE: 2 gaps; drop those rows, or pass --missing omit'

Errors, warnings and notes make sentences of what they are given. Text that goes anywhere else is not to be marked.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Self

#: Around a mark, and between what Python says and what the mark stands for: no text holds these characters, which
#: Unicode keeps for the inside of programs.
_BEGIN, _MIDDLE, _END = "\ufdd0", "\ufdd1", "\ufdd2"

#: Characters of a field, and of a path, that a message repeats.
MOST_REPEATED = 200
MOST_OF_PATH = 1000
_LONG_WORD = re.compile(rf"\S{{{MOST_REPEATED + 1},}}")


class Mention(NamedTuple):
    """An argument that a sentence names: alone, or ``given`` a value (None where any will do)."""

    name: str
    given: bool = False
    value: Any = None


class Words(str):
    """A sentence as Python says it, whose marks are kept."""

    __slots__ = ("marked",)
    marked: str

    def __new__(cls, text: str, marked: str) -> Self:
        """Make the sentence from both forms; see :func:`sentence`."""
        made = super().__new__(cls, text)
        made.marked = marked
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle both forms."""
        return type(self), (str.__str__(self), self.marked)


# In messages ---------------------------------------------------------------------------------------------------------


def arg(name: str, *, code: str | None = None) -> str:
    """Name an argument; ``code`` is what Python says, where it is not the name."""
    return _mark(code or name, [name])


def setting(code: str | None = None, /, **given: Any) -> str:
    """Name an argument with the value to give it; ``...`` and ``[...]`` are any value, and any sequence.

    Examples
    --------
    >>> sentence(f"needs {setting(noise=...)} or {setting(classes=[...])}, not {setting(kind='features')}")
    "needs noise= or classes=[...], not kind='features'"
    """
    ((name, value),) = given.items()
    shown = "" if value is ... else "[...]" if value == [...] else repr(value)
    return _mark(code or f"{name}={shown}", [name, None if value in (..., [...]) else value])


def give(code: str | None = None, /, **given: Any) -> str:
    """Say what to pass in Python, and to give elsewhere; see :func:`setting`.

    Examples
    --------
    >>> rephrased(give(missing="omit"), lambda it: f"--{it.name} {it.value}")
    'give --missing omit'
    """
    return f"{in_code('pass', otherwise='give')} {setting(code, **given)}"


def in_code(text: str, *, otherwise: str) -> str:
    """Say what to write in Python, and ``otherwise`` for who writes none."""
    return _mark(text, otherwise)


def marked(text: str | Exception) -> str:
    """Return the text of a sentence, error or warning with its marks: to be part of another sentence."""
    words = text.args[0] if isinstance(text, Exception) and text.args else text
    return words.marked if isinstance(words, Words) else str(words)


def _mark(python: str, meaning: object) -> str:
    return f"{_BEGIN}{python}{_MIDDLE}{json.dumps(meaning)}{_END}"


# What becomes of messages --------------------------------------------------------------------------------------------


def sentence(text: str) -> str:
    """Return a message as Python says it, with its overlong words cut; if it has marks they are kept, as Words."""
    if isinstance(text, Words):
        return text
    if _BEGIN not in text:
        return short_words(text)
    parts = list(_parts(text))
    kept = [said if meaning is None or short_words(said) != said else _mark(said, meaning) for said, meaning in parts]
    return Words(short_words("".join(said for said, _ in parts)), "".join(kept))


def rephrased(text: str | Exception, say: Callable[[Mention], str | None]) -> str:
    """Return a sentence, or the one of an error or warning, as a program says it.

    Parameters
    ----------
    text : str or Exception
    say : callable
        Returns what to say for an argument; None: as Python does.
    """
    return short_words("".join(_said(part, say) for part in _parts(marked(text))))


def renamed(text: str | Exception, names: Mapping[str, str]) -> str:
    """Return a sentence, marked, in which some arguments are called otherwise, for a reader who writes no code."""
    renamed = ""
    for said, meaning in _parts(marked(text)):
        if isinstance(meaning, str):
            renamed += meaning
        elif _called(meaning) in names:
            renamed += names[_called(meaning)]
        else:
            renamed += said if meaning is None else _mark(said, meaning)
    return renamed


def mentions(text: str | Exception) -> set[str]:
    """Return the names of the arguments that a sentence mentions."""
    return {name for _, meaning in _parts(marked(text)) if (name := _called(meaning))}


def _called(meaning: Any) -> str:
    return str(meaning[0]) if isinstance(meaning, list) else ""


def _said(part: tuple[str, Any], say: Callable[[Mention], str | None]) -> str:
    python, meaning = part
    if meaning is None:
        return python
    if isinstance(meaning, str):
        return meaning
    said = say(Mention(meaning[0], len(meaning) > 1, meaning[-1] if len(meaning) > 1 else None))
    return python if said is None else said


def _parts(text: str) -> Iterator[tuple[str, Any]]:
    """Yield what Python says piece by piece, each with what its mark means; None between marks."""
    before, *pieces = text.split(_BEGIN)
    yield before, None
    for piece in pieces:
        python, _, rest = piece.partition(_MIDDLE)
        written, end, after = rest.partition(_END)
        meaning = _meaning(written) if end else None
        if meaning is None:
            yield _BEGIN + piece, None
        else:
            yield python, meaning
            yield after, None


def _meaning(written: str) -> Any:
    """Return the content of a mark; None if the text only has such characters."""
    try:
        meaning = json.loads(written)
    except ValueError:
        return None
    listed = isinstance(meaning, list) and len(meaning) in (1, 2) and isinstance(meaning[0], str)
    return meaning if listed or isinstance(meaning, str) else None


def plural(how_many: int, one: str, many: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> plural(1, "criterion", "criteria"), plural(1200, "row", "rows")
    ('1 criterion', '1,200 rows')
    """
    return f"{how_many:,} {one if how_many == 1 else many}"


# What messages repeat of data ----------------------------------------------------------------------------------------


def shortened(text: str, most: int = MOST_REPEATED) -> str:
    """Return a text as a message repeats it: not more of it than ``most`` characters.

    Examples
    --------
    >>> shortened("short"), len(shortened("long" * 1000)), shortened("long" * 1000)[-24:]
    ('short', 200, '... (of 4000 characters)')
    """
    if len(text) <= most:
        return text
    tail = f"... (of {len(text)} characters)"
    return text[: most - len(tail)] + tail


def short_words(text: str) -> str:
    """Return a message with its overlong words cut: the last guard against a field that is repeated as a whole.

    Examples
    --------
    >>> short_words("no column called " + "z" * 5000)[-40:]
    'zzzzzzzzzzzzzzzz... (of 5000 characters)'
    """
    if len(text) <= MOST_REPEATED:
        return text
    return _LONG_WORD.sub(_short_word, text)


def _short_word(found: re.Match[str]) -> str:
    return shortened(found[0], MOST_OF_PATH if os.sep in found[0] else MOST_REPEATED)
