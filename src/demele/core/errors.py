"""The exceptions and warnings of demele.

Every message says which argument (and column), what was expected, what came (how many, first row), and what to do.
"""

import os
import re
import sys
import warnings

__all__ = [
    "AmbiguousKindWarning",
    "DemeleError",
    "DemeleWarning",
    "FormatError",
    "FragileScoreWarning",
    "IncompatibleState",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "NotConvergedWarning",
    "NotEnoughData",
    "OutOfDomainWarning",
    "OutputError",
    "UndefinedFactorWarning",
    "UnknownNameError",
    "WorkerError",
    "quoted",
    "short_words",
    "shortened",
    "warn_user",
]

#: Characters of a field, and of a path, that a message repeats.
MOST_REPEATED = 200
MOST_OF_PATH = 1000
_LONG_WORD = re.compile(rf"\S{{{MOST_REPEATED + 1},}}")


class DemeleError(Exception):
    """Anything that demele refuses, with a message made for its user.

    Words of more than 200 characters in it, which can only come from data, are cut; paths at 1000.
    """

    def __init__(self, *told: object) -> None:
        super().__init__(*(short_words(text) if isinstance(text, str) else text for text in told))


class InputError(DemeleError, ValueError):
    """A value that cannot be used: wrong shape, length, kind, not finite, out of range."""


class InputTypeError(InputError, TypeError):
    """An argument of a type that cannot be used."""


class UnknownNameError(InputError):
    """A name that is not registered; the message suggests the nearest ones."""


class NotEnoughData(InputError):  # noqa: N818 - the name reads as the sentence that it is
    """Too few samples, groups, classes, codes or factors for what was asked."""


class IncompatibleState(InputError):  # noqa: N818 - the name reads as the sentence that it is
    """Two states do not add up: they count other columns, other bins, or belong to other metrics."""


class FormatError(InputError):
    """A file, or bytes, that are not what they should be, or would take more memory than they may."""


class OutputError(InputError, OSError):
    """A file that cannot be written: no permission, no folder, a full disk. A file that was there is untouched."""


class WorkerError(DemeleError, RuntimeError):
    """A process that worked for this one ended before its work was done: killed, or out of memory."""


class MissingExtraError(DemeleError, ImportError):
    """An optional dependency is not installed; the message names the extra to install."""


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


def quoted(value: object) -> str:
    """Return a value as code shows it, for a message: not more of it than 200 characters.

    Examples
    --------
    >>> quoted("z1"), quoted("z" * 5000)[-27:], quoted(10**5000)
    ("'z1'", "zz'... (of 5000 characters)", 'a whole number of about 5001 digits')
    """
    if isinstance(value, int) and value.bit_length() > 4 * MOST_REPEATED:
        return f"a whole number of about {int(value.bit_length() * 0.30103) + 1} digits"
    if isinstance(value, str) and len(value) > MOST_REPEATED:
        shown = repr(value[: MOST_REPEATED // 2])
        return f"{shown}... (of {len(value)} characters)"
    return shortened(repr(value))


def warn_user(message: str, category: "type[DemeleWarning]") -> None:
    """Warn at the line of the user's code that called demele, however deep inside the reason was found."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "demele":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class DemeleWarning(UserWarning):
    """Base of the warnings of demele."""


class AmbiguousKindWarning(DemeleWarning):
    """Whole numbers could be classes or a quantity; the message says how they were read."""


class UndefinedFactorWarning(DemeleWarning):
    """A factor (or code) for which a metric is not defined was left out; the result carries the same note."""


class NotConvergedWarning(DemeleWarning):
    """An iteration stopped before it converged."""


class FragileScoreWarning(DemeleWarning):
    """A score would change much under another defensible setting, or noise scores as well; the result says so too."""


class OutOfDomainWarning(DemeleWarning):
    """What was supplied and the data contradict each other; the result is as wide as safety needs, and says so."""
